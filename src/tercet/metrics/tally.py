"""Tally: what two classes' scores leave behind, enough for every curve and cost; adds with +."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from tercet._numeric.exact import Counts, as_integers, running_total, shifted
from tercet._numeric.parallel import many, together
from tercet._numeric.validation import frozen
from tercet._typing import Floats
from tercet.errors import InputError
from tercet.trials import Trials, as_trials, to_llr

_TWO = "Two-class quantities need two classes, not {}: cut out two with versus(), or use a multiclass application."


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """One class's scores in ascending order.

    Without weights every row counts one. With weights the scores are distinct and `running` holds 0 and the
    running total of the weights, as integers.
    """

    scores: Floats
    running: Counts | None = None

    @property
    def total(self) -> int:
        """The weight of all scores."""
        return len(self.scores) if self.running is None else int(self.running[-1])

    def upto(self, thresholds: Any) -> Any:
        """The weight of the scores <= threshold."""
        return self._weight(np.searchsorted(self.scores, thresholds, "right"))

    def below(self, thresholds: Any) -> Any:
        """The weight of the scores < threshold."""
        return self._weight(np.searchsorted(self.scores, thresholds, "left"))

    def _weight(self, places: Any) -> Any:
        return places if self.running is None else self.running[places]

    def highest(self, weight: Counts) -> Floats:
        """The highest of the lowest scores that weigh this much together; -inf for none."""
        places = weight if self.running is None else np.searchsorted(self.running, weight)
        if len(self.scores) == 0:
            return np.full(len(places), -math.inf)
        return np.where(places > 0, self.scores[np.maximum(places, 1) - 1], -math.inf)

    def distinct(self) -> tuple[Floats, Counts]:
        """The distinct scores, and the running total of their weights with 0 in front."""
        if self.running is not None:
            return self.scores, self.running
        new = np.flatnonzero(self.scores[1:] != self.scores[:-1]) + 1
        if len(new) + 1 >= len(self.scores):
            return self.scores, np.arange(len(self.scores) + 1)
        edges = np.concatenate(([0], new, [len(self.scores)]))
        return self.scores[edges[:-1]], edges

    def __add__(self, other: Ranked) -> Ranked:
        if self.running is None and other.running is None:
            both = np.concatenate((self.scores, other.scores))
            _sort(both)
            return Ranked(frozen(both))
        mine, others = self.distinct(), other.distinct()
        weights = np.concatenate((np.diff(mine[1]), np.diff(others[1])))
        return _grouped(np.concatenate((mine[0], others[0])), shifted(weights, 0))

    def scaled(self, by: int) -> Ranked:
        """The same scores with every weight times 2**by."""
        if by == 0 or len(self.scores) == 0:
            return self
        scores, running = self.distinct()
        return Ranked(scores, frozen(running_total(shifted(np.diff(running), by))))


class Gaps(NamedTuple):
    """What a tally counted in bounded memory does not know: the rows between two known points, beside their number.

    All of them are kept at the upper point, so that the errors at every kept score are exact.
    """

    next: Floats  # the lowest score accepted by accepting everything, and at each distinct score that is kept
    pairs: int  # pairs of a target and a non-target whose order is not known


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """The sorted scores of targets and non-targets, weights counted in units of 2**unit.

    >>> tally = Tally.of(Trials.of_llr([3., 1., 0., -2.], [1, 0, 1, 0]))
    >>> misses, false_alarms = tally.at([-5.0, 0.0])    # when exactly the scores > threshold are accepted
    >>> misses.tolist(), false_alarms.tolist()
    ([0, 1], [2, 1])
    """

    targets: Ranked
    nontargets: Ranked
    meaning: str
    trained_prior: float | tuple[float, ...] | None = None
    unit: int = 0
    gaps: Gaps | None = None

    @classmethod
    def empty(cls, meaning: str = "llr") -> Tally:
        """The tally of no trials: added to any other it changes nothing."""
        none = Ranked(frozen(np.empty(0)))
        return cls(none, none, meaning)

    @classmethod
    def of(cls, trials: Trials | Tally) -> Tally:
        """Sorts each class of labelled two-class trials; rows of weight 0 are dropped."""
        if isinstance(trials, Tally):
            return trials
        labels = as_trials(trials).known_labels()
        if trials.is_matrix:
            return cls.of(two_columns(trials))
        if trials.weights is None:
            sides = together([lambda: trials.scores[labels], lambda: trials.scores[~labels]], len(labels))
            _sort(*sides)
            targets, nontargets = (Ranked(frozen(side)) for side in sides)
            return cls(targets, nontargets, trials.meaning, trials.trained_prior)
        kept = trials.weights > 0.0
        scores, labels = trials.scores[kept], labels[kept]
        weights, unit = as_integers(trials.weights[kept])
        return cls(
            _grouped(scores[labels], weights[labels]),
            _grouped(scores[~labels], weights[~labels]),
            trials.meaning,
            trials.trained_prior,
            unit,
        )

    def __add__(self, other: Tally) -> Tally:
        for one, another in ((self, other), (other, self)):
            if len(one) == 0:
                return another
            one.need_every_score("The sum of two tallies")
        if (self.meaning, self.trained_prior) != (other.meaning, other.trained_prior):
            raise InputError(
                f"Tallies of different meanings do not add: {self.meaning} (prior {self.trained_prior}) and "
                f"{other.meaning} (prior {other.trained_prior})."
            )
        unit = min(self.unit, other.unit)
        mine, others = self.unit - unit, other.unit - unit
        return replace(
            self,
            unit=unit,
            targets=self.targets.scaled(mine) + other.targets.scaled(others),
            nontargets=self.nontargets.scaled(mine) + other.nontargets.scaled(others),
        )

    def __len__(self) -> int:
        """How many scores it keeps."""
        return len(self.targets.scores) + len(self.nontargets.scores)

    def at(self, thresholds: Any) -> tuple[Any, Any]:
        """The weights (misses, false alarms) when exactly the scores > threshold are accepted."""
        if np.isnan(thresholds).any():
            raise InputError("A threshold must not be NaN.")
        if self.gaps is not None:
            self._check_known(np.asarray(thresholds, np.float64), self.gaps)
        return self.targets.upto(thresholds), self.nontargets.total - self.nontargets.upto(thresholds)

    def as_llr(self) -> Tally:
        """The tally of the log-likelihood ratios that these scores stand for."""
        self.need_every_score("Cllr, or the actual cost of an operating point that was not asked for,")
        if self.meaning == "llr":
            return self

        def converted(side: Ranked) -> Ranked:
            # Conversion can merge neighbours, and its rounding may even swap them: rank again.
            llr = to_llr(side.scores, self.meaning, self.trained_prior)
            return Ranked(frozen(np.sort(llr))) if side.running is None else _grouped(llr, np.diff(side.running))

        return Tally(converted(self.targets), converted(self.nontargets), "llr", None, self.unit)

    def need_every_score(self, what: str) -> None:
        """Refuses what cannot be known from the points that a scan in bounded memory keeps."""
        if self.gaps is not None:
            raise InputError(
                f"{what} needs every score, and a scan in bounded memory keeps exact points of the curve only: ask for "
                f"it in evaluate(scan, applications), or read the trials into memory (tercet.read)."
            )

    def _check_known(self, thresholds: Floats, gaps: Gaps) -> None:
        kept = np.union1d(self.targets.scores, self.nontargets.scores)
        unknown = ~(thresholds < gaps.next[np.searchsorted(kept, thresholds, "right")]) & (thresholds < math.inf)
        if np.any(unknown):
            raise InputError(
                f"The errors at threshold {float(thresholds[unknown].flat[0])} were not counted: name it among the "
                f"applications, or evaluate in memory."
            )

    def weight(self, count: Any) -> Any:
        """An internal count as the caller's weight: a whole number where it is one."""
        if self.unit >= 0:
            return int(count) << self.unit
        whole, rest = divmod(int(count), 1 << -self.unit)
        return whole if rest == 0 else int(count) / (1 << -self.unit)


def two_columns(trials: Trials, otherwise: str = _TWO) -> Trials:
    """A matrix of two columns as the llr of its second class; other numbers of classes are refused in these words."""
    if len(trials.classes) != 2:
        raise InputError(otherwise.format(len(trials.classes)))
    return trials.versus(trials.classes[1], trials.classes[0])


def _sort(*arrays: Floats) -> None:
    """Sorts in place, on two cores or more: the halves around a median are independent."""
    rows = sum(map(len, arrays))
    middles = [len(values) // 2 if many(len(values)) else 0 for values in arrays]
    halved = [partial(values.partition, middle) for values, middle in zip(arrays, middles, strict=True) if middle]
    if halved:
        together(halved, rows)
        arrays = tuple(
            half for values, middle in zip(arrays, middles, strict=True) for half in (values[:middle], values[middle:])
        )
    together([values.sort for values in arrays], rows)


def _grouped(scores: Floats, weights: Counts) -> Ranked:
    """Distinct scores with the running total of their weights."""
    if len(scores) == 0:
        return Ranked(frozen(np.empty(0)), running_total(np.zeros(0, np.int64)))
    order = np.argsort(scores)  # equal scores are added up, so their order does not matter
    ranked = scores[order]
    starts = np.flatnonzero(np.concatenate(([True], ranked[1:] != ranked[:-1])))
    sums: Counts = np.add.reduceat(weights[order], starts)
    return Ranked(frozen(ranked[starts]), frozen(running_total(sums)))
