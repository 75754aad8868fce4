"""Summary: all that an evaluation of two classes is built from, whether the trials were in memory or scanned."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Protocol, runtime_checkable

import numpy as np

from tercet._numeric.exact import UNIT, ratio
from tercet._numeric.parallel import together
from tercet._typing import JSON, Counts, EerDefinition, Floats
from tercet.application import MulticlassApplication
from tercet.metrics.class_summary import ClassSummary
from tercet.metrics.costs import softplus_sum
from tercet.metrics.curves import Curve
from tercet.metrics.tally import Tally


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
