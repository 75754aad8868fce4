"""Summaries: all that an evaluation is built from, whether the trials were in memory or scanned."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, Self, runtime_checkable

import numpy as np

from tercet._numeric.exact import UNIT, ratio, shifted
from tercet._numeric.parallel import together
from tercet._typing import JSON, Counts, EerDefinition, Floats, Value
from tercet.application import MulticlassApplication
from tercet.errors import UndefinedError
from tercet.metrics.confusion import Confusion
from tercet.metrics.costs import softplus_sum
from tercet.metrics.curves import Curve
from tercet.metrics.tally import Tally

Sums = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class ClassSummary:
    """Sizes, decision counts and sums of costs of K classes, all whole numbers; adds exactly with +.

    Attributes
    ----------
    sizes : tuple of int
        The weight of each class, in units of 2**unit, like all weights here.
    tables : tuple of tuple of int
        For each application the counts of (action, class), row by row.
    hits : int
        Right decisions at the data's own class frequencies with 0-1 costs.
    log_loss, brier : tuple of (int, int)
        For each class the sum of the cost where it is finite, in units of 2**-1074, and the weight where it is not.
    problem : str
        Why accuracy, log-loss and Brier score are undefined; empty where they are not.
    classes : tuple of str
        The names of the classes.
    problem_at : tuple of (int, int)
        The numbers of the file and of the row that the problem is about: the first of several problems is told.
    """

    sizes: tuple[int, ...]
    unit: int
    tables: tuple[tuple[int, ...], ...]
    hits: int
    log_loss: Sums
    brier: Sums
    problem: str
    classes: tuple[str, ...]
    problem_at: tuple[int, int] = (0, 0)

    def __add__(self, other: ClassSummary) -> Self:
        unit = min(self.unit, other.unit)
        mine, others = self.unit - unit, other.unit - unit

        def added(one: Value, another: Value) -> Value:
            if isinstance(one, tuple):
                return tuple(added(a, b) for a, b in zip(one, another, strict=True))
            return (one << mine) + (another << others)

        names = ("tables", "hits", "log_loss", "brier")
        tables, hits, log_loss, brier = (added(getattr(self, name), getattr(other, name)) for name in names)
        sizes = added(self.sizes, other.sizes)
        problems = [(one.problem_at, one.problem) for one in (self, other) if one.problem]
        at, problem = min(problems, default=((0, 0), ""))
        return type(self)(sizes, unit, tables, hits, log_loss, brier, problem, self.classes, at)

    def share(self) -> Floats:
        """The data's own class frequencies."""
        total = sum(self.sizes)
        return np.array([size / total for size in self.sizes])

    def accuracy(self) -> float:
        """How often the largest posterior at the data's own frequencies is the true class."""
        self._check()
        return self.hits / sum(self.sizes)

    def mean_log_loss(self) -> float:
        """Mean of -ln p(class | trial) at the data's own frequencies."""
        self._check()
        return self._mean(self.log_loss)

    def mean_brier(self) -> float:
        """Mean squared distance between posteriors and truth at the data's own frequencies."""
        self._check()
        return self._mean(self.brier)

    def _check(self) -> None:
        if self.problem:
            raise UndefinedError(self.problem)

    def _mean(self, sums: Sums) -> float:
        means = [
            math.inf if infinite else ratio(total, size, UNIT) if size else 0.0
            for (total, infinite), size in zip(sums, self.sizes, strict=True)
        ]
        return math.fsum(pi * mean for pi, mean in zip(self.share().tolist(), means, strict=True) if pi > 0.0)

    def table(self, place: int, actions: tuple[str, ...]) -> Confusion:
        """The confusion matrix of one application."""
        counts = shifted(np.array(self.tables[place], np.object_), 0).reshape(len(actions), -1)
        target = self.classes[1] if len(self.classes) == 2 else None
        return Confusion._made(counts, self.classes, actions, target, self.unit)


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """Totals, hull, the errors at asked llr thresholds and the sums of Cllr, all exact.

    Attributes
    ----------
    curve : Curve
        Its points, hull and areas. After a scan in bounded memory it may hold some points only.
    thresholds : ndarray of float
        Llr thresholds, ascending; empty for raw scores, which have no llr.
    missed, rejected : ndarray of int
        Weight of the targets and of the non-targets with llr <= threshold, in the tally's unit.
    costs : pair of (int, int)
        For targets ln(1 + e^-llr), for non-targets ln(1 + e^llr): the sum of what is finite in units of 2**-1074,
        and the weight of what is infinite.

    Examples
    --------
    >>> from tercet import Trials
    >>> summary = Summary.of(Tally.of(Trials.of_llr([3., 1., 0., -2.], [1, 0, 1, 0])), np.array([0.0]))
    >>> summary.errors(np.array([0.0]))[0].tolist(), summary.curve.auc
    ([1], 0.75)
    """

    curve: Curve
    thresholds: Floats
    missed: Counts
    rejected: Counts
    costs: tuple[tuple[int, int], tuple[int, int]]

    @classmethod
    def of(cls, tally: Tally, thresholds: Floats) -> Summary:
        """The summary of trials in memory, for some llr thresholds in any order.

        Parameters
        ----------
        tally : Tally
            The sorted scores of both classes.
        thresholds : ndarray of float
            Where errors will be asked for; ignored for raw scores.
        """
        curve = Curve.of(tally)
        if tally.meaning == "raw":
            none = np.zeros(0, np.int64)
            return cls(curve, np.empty(0), none, none, ((0, 0), (0, 0)))
        llr, asked = tally.as_llr(), thresholds.copy()
        asked.sort()
        missed, rejected = llr.targets.upto(asked), llr.nontargets.upto(asked)

        # One core finds the hull, which the curve keeps, while the others add.
        jobs: list[Callable[[], tuple[int, int]]] = [lambda: (len(curve.hull.thresholds), 0)]
        sides = ((llr.targets, -1.0), (llr.nontargets, 1.0))
        jobs += [partial(softplus_sum, *side) for side in sides]
        _, *costs = together(jobs, sum(len(side.scores) for side, _ in sides))
        return cls(curve, asked, missed, rejected, (costs[0], costs[1]))

    @property
    def means_llr(self) -> bool:
        """Whether the scores are, or stand for, llrs."""
        return self.curve.tally.meaning != "raw"

    def errors(self, thresholds: Floats) -> tuple[Counts, Counts]:
        """(misses, false alarms) at llr thresholds that were counted."""
        places = self.thresholds.searchsorted(thresholds)
        return self.missed[places], self.curve.nontargets - self.rejected[places]

    @property
    def cllr(self) -> float:
        """(mean_T log2(1 + e^-llr) + mean_F log2(1 + e^llr)) / 2, one division per sum."""
        target, nontarget = (
            math.inf if infinite else ratio(total, weight, UNIT)
            for (total, infinite), weight in zip(self.costs, (self.curve.targets, self.curve.nontargets), strict=True)
        )
        return (0.5 * target + (1.0 - 0.5) * nontarget) / math.log(2.0)


@runtime_checkable
class HasSummary(Protocol):
    """A source of trials that is not in memory, such as a Scan."""

    @property
    def name(self) -> str | None:
        """The name of the system."""

    @property
    def meaning(self) -> str:
        """What the scores mean."""

    @property
    def several(self) -> bool:
        """Whether there is one column of scores per class."""

    def _class_summary(self, applications: Sequence[MulticlassApplication]) -> tuple[ClassSummary, JSON]:
        """The summary of K classes, and facts about where it came from."""

    def _summary(self, thresholds: Floats, eer: EerDefinition) -> tuple[Summary, JSON]:
        """The summary of two-class trials, exact at the EER of this definition, and facts about where it came from."""
