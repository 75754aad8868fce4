"""Tally: the sorted scores of two classes, enough for every curve and cost; adds with +."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import as_integers
from tercet._numeric.meanings import TWO_CLASS_MEANINGS, check_meaning
from tercet._numeric.order import Keys, RowKeys
from tercet._numeric.parallel import extremes, over_parts
from tercet._numeric.records import check_fields, computed
from tercet._numeric.sorting import Source, ascending, in_order
from tercet._numeric.validation import column, frozen, number, numbers
from tercet._numeric.wide import (
    INT64_BITS,
    ROUNDED_ONCE,
    Column,
    Wide,
    fits_limbs,
    joined,
    recast,
    running_doubles,
    running_totals,
    smallest_bit,
    steps_of,
    take,
)
from tercet._typing import Counts, Floats, Reals
from tercet.application import sigmoid
from tercet.errors import InputError
from tercet.trials import Trials, as_trials, logit, to_llr, two_class


@dataclass(frozen=True, slots=True, eq=False)
class Ranked:
    """One class's scores in ascending order.

    Without weights every row counts one. With weights the scores are distinct and `cumulative` holds 0 and the
    running total of the weights, as whole numbers.
    """

    scores: Floats
    cumulative: Column | None = None

    @property
    def running(self) -> Counts | None:
        """The running totals as an array; Python's integers where they do not fit into 64 bits."""
        return self.cumulative.objects() if isinstance(self.cumulative, Wide) else self.cumulative

    @property
    def total(self) -> int:
        """The weight of all scores."""
        return len(self.scores) if self.cumulative is None else int(self.cumulative[-1])

    @overload
    def upto(self, thresholds: Floats) -> Counts: ...
    @overload
    def upto(self, thresholds: float) -> int: ...
    def upto(self, thresholds: Reals) -> Counts | int:
        """The weight of the scores <= threshold."""
        return self.weight_of_lowest(self.scores.searchsorted(thresholds, "right"))

    @overload
    def below(self, thresholds: Floats) -> Counts: ...
    @overload
    def below(self, thresholds: float) -> int: ...
    def below(self, thresholds: Reals) -> Counts | int:
        """The weight of the scores < threshold."""
        return self.weight_of_lowest(self.scores.searchsorted(thresholds, "left"))

    @overload
    def weight_of_lowest(self, counts: Counts) -> Counts: ...
    @overload
    def weight_of_lowest(self, counts: int) -> int: ...
    def weight_of_lowest(self, counts: Counts | int) -> Counts | int:
        """The weight of this many of the lowest scores."""
        return counts if self.cumulative is None else self.cumulative[counts]

    def float_weight(self, counts: NDArray[np.intp]) -> Floats:
        """The same as doubles, rounded once."""
        if isinstance(self.cumulative, Wide) and self.total.bit_length() <= ROUNDED_ONCE:
            return self.cumulative.take(counts).floats()
        return np.asarray(self.weight_of_lowest(counts), np.float64)

    def places_within(self, weights: Floats) -> NDArray[np.intp]:
        """How many of the lowest scores weigh no more than each weight, rounded down."""
        if self.cumulative is None:
            return np.floor(weights).astype(np.intp)
        if isinstance(self.cumulative, Wide):
            return self.cumulative.searchsorted(Wide.floor(weights), "right") - 1
        return np.searchsorted(self.cumulative, weights.astype(self.cumulative.dtype), "right") - 1

    def highest(self, weight: Counts) -> Floats:
        """The highest of the lowest scores that weigh this much together; -inf for none."""
        if len(self.scores) == 0:
            return np.full(len(weight), -math.inf)
        places = weight
        if isinstance(self.cumulative, Wide):
            places = self.cumulative.searchsorted(Wide.of(weight))
        elif self.cumulative is not None:
            places = np.searchsorted(self.cumulative, weight)
        found = self.scores.take(places - 1, mode="clip")
        found[places == 0] = -math.inf
        return found

    def distinct(self) -> tuple[Floats, Counts]:
        """The distinct scores, and the running total of their weights with 0 in front."""
        scores, running = self.groups()
        return scores, running.objects() if isinstance(running, Wide) else running

    def groups(self) -> tuple[Floats, Column]:
        """The same, the running totals in the form in which they are kept."""
        if self.cumulative is not None:
            return self.scores, self.cumulative
        scores, totals = self.enclosed_groups()
        return scores, take(totals, slice(1, -1))

    def enclosed_groups(self) -> tuple[Floats, Column]:
        """The distinct scores and the running totals of their weights, with 0 twice in front and the last twice."""
        if self.cumulative is not None:
            return self.scores, _enclosed(self.cumulative, self.total)
        if not _has_ties(self.scores):
            scores, totals = self.scores, np.arange(-1, len(self.scores) + 2)
        else:
            differ = np.flatnonzero(self.scores[1:] != self.scores[:-1])
            totals = np.concatenate(([0, 0], differ + 1, [len(self.scores)] * 2))
            scores = self.scores[totals[1:-2]]
        totals[0], totals[-1] = 0, len(self.scores)
        return scores, totals

    def __add__(self, other: Ranked) -> Ranked:
        if self.cumulative is None and other.cumulative is None:
            return Ranked(frozen(in_order(np.concatenate((self.scores, other.scores)))))
        bits = (self.total + other.total).bit_length()
        sides = [side.groups() for side in (self, other)]
        weights = joined(*(steps_of(recast(running, bits)) for _, running in sides))
        return _grouped(np.concatenate([scores for scores, _ in sides]), weights)

    def scaled(self, by: int) -> Ranked:
        """The same scores with every weight times 2**by."""
        if by == 0 or len(self.scores) == 0:
            return self
        scores, running = self.groups()
        return Ranked(scores, _frozen(recast(running, self.total.bit_length() + by) << by))


def _enclosed(column: Column, total: int) -> Column:
    """0, the column and the total, which a column of this form can hold."""
    if isinstance(column, Wide):
        return joined(np.zeros(1, np.int64), column, recast(np.array([total], np.object_), total.bit_length()))
    found = np.zeros(len(column) + 2, np.promote_types(column.dtype, np.int64))
    found[1:-1], found[-1] = column, total
    return found


class Gaps(NamedTuple):
    """What a tally counted in bounded memory does not know: the rows between two known points, beside their number.

    All of them are kept at the upper point, which may lie between two scores, so that the errors at every point that is
    kept are exact.
    """

    next: Floats  # the lowest score accepted by accepting everything, and at each distinct score that is kept
    pairs: int  # pairs of a target and a non-target whose order is not known


@dataclass(frozen=True, slots=True, eq=False)
class Tally:
    """The sorted scores of targets and non-targets, weights counted in units of 2**unit.

    Tallies add with `+`: the sum of the tallies of two parts is, to the bit, the tally of all their trials.

    Attributes
    ----------
    targets, nontargets : Ranked
        The scores of each class in ascending order, with running totals of weights where there are weights.
    meaning : str
        What the scores are: "llr", "lr", "log10-llr", "log-odds", "posterior" or "raw".
    trained_prior : float or None
        The prior that log-odds or posteriors were made with.
    unit : int
        Weights are whole multiples of 2**unit.
    gaps : Gaps or None
        What a scan in bounded memory does not know.

    Examples
    --------
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

    def __post_init__(self) -> None:
        check_fields(self)
        check_meaning(self.meaning, TWO_CLASS_MEANINGS, self.trained_prior)

    @classmethod
    def empty(cls, meaning: str = "llr") -> Tally:
        """The tally of no trials: added to any other it changes nothing.

        Parameters
        ----------
        meaning : str, default "llr"
            What the scores mean.

        Returns
        -------
        Tally
            A tally without scores.

        Examples
        --------
        >>> Tally.empty().targets.total
        0
        """
        none = Ranked(frozen(np.empty(0)))
        return cls(none, none, meaning)

    @classmethod
    def of(cls, trials: Trials | Tally) -> Tally:
        """Sorts each class of labelled two-class trials; rows of weight 0 are dropped.

        Parameters
        ----------
        trials : Trials or Tally
            Labelled two-class trials, or a matrix of two columns; a tally is returned as it is.

        Returns
        -------
        Tally
            One or both classes may be empty.
        """
        if isinstance(trials, Tally):
            return trials
        labels = as_trials(trials).known_labels()
        if trials.is_matrix:
            return cls.of(two_class(trials, way_out="select two with versus(), or use a multiclass application"))
        if trials.weights is None:
            sides = ascending(len(labels), *(_of_class(trials.scores, labels, target) for target in (True, False)))
            targets, nontargets = (Ranked(frozen(side)) for side in sides)
            return _known(trials, targets, nontargets)
        scores, weights = trials.scores, trials.weights
        least, most = extremes(weights)
        if least <= 0.0:
            kept = weights > 0.0
            scores, labels, weights = scores[kept], labels[kept], weights[kept]
        return _known(trials, *_weighted(scores, labels, weights, most))

    def __add__(self, other: Tally) -> Tally:
        for one, another in ((self, other), (other, self)):
            if len(one) == 0:
                return another
            one._need_every_score("The sum of two tallies")
        if (self.meaning, self.trained_prior) != (other.meaning, other.trained_prior):
            raise InputError(
                f"Tallies of different meanings cannot be added: {self.meaning} (prior {self.trained_prior}) and "
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

    @overload
    def at(self, thresholds: Floats) -> tuple[Counts, Counts]: ...
    @overload
    def at(self, thresholds: float) -> tuple[int, int]: ...
    @overload
    def at(self, thresholds: object) -> tuple[Counts | int, Counts | int]: ...
    def at(self, thresholds: object) -> tuple[Counts | int, Counts | int]:
        """The errors when exactly the scores > threshold are accepted.

        Parameters
        ----------
        thresholds : float or array_like of float
            On the scale of the scores.

        Returns
        -------
        misses, false_alarms : int or ndarray
            In units of 2**unit.
        """
        if type(thresholds) is not np.ndarray or thresholds.dtype != np.float64:
            one = np.ndim(column(thresholds, "thresholds")) == 0
            thresholds = np.float64(number(thresholds, "thresholds")) if one else numbers(thresholds, "thresholds")
        elif np.isnan(thresholds).any():
            raise InputError("thresholds must not contain NaN.")
        if self.gaps is not None:
            self._check_known(np.asarray(thresholds, np.float64), self.gaps)
        return self.targets.upto(thresholds), self.nontargets.total - self.nontargets.upto(thresholds)

    def as_llr(self) -> Tally:
        """The tally of the log-likelihood ratios that these scores stand for.

        Returns
        -------
        Tally
            The tally of llrs; itself if its scores are llrs.

        Examples
        --------
        >>> Tally.of(Trials.of_lr([1.0, 2.0], [0, 1])).as_llr().nontargets.scores.tolist()
        [0.0]
        """
        self._need_every_score("Cllr, or the actual cost of an operating point that was not asked for,")
        if self.meaning == "llr":
            return self

        def converted(side: Ranked) -> Ranked:
            # Conversion can merge neighbours, and its rounding may even swap them: rank again.
            llr = to_llr(side.scores, self.meaning, self.trained_prior)
            if side.cumulative is None:
                return Ranked(frozen(np.sort(llr)))
            return _grouped(llr, steps_of(side.cumulative))

        return Tally(converted(self.targets), converted(self.nontargets), "llr", None, self.unit)

    def _need_every_score(self, what: str) -> None:
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

    def weight(self, count: int) -> int | float:
        """A count of this tally as the caller's weight: a whole number where it is one.

        Parameters
        ----------
        count : int
            A count in units of 2**unit.

        Returns
        -------
        int or float
            count x 2**unit.

        Examples
        --------
        >>> Tally.of(Trials.of_llr([1.0, 2.0], [0, 1], weights=[1, 0.5])).weight(1)
        0.5
        """
        if self.unit >= 0:
            return int(count) << self.unit
        whole, rest = divmod(int(count), 1 << -self.unit)
        if rest == 0 or whole >> 1023:  # near the largest double and beyond, where no double has a fraction
            return whole
        return int(count) / (1 << -self.unit)


def _known(trials: Trials, targets: Ranked, nontargets: Ranked, unit: int = 0) -> Tally:
    """The tally of trials, which were checked when they were made."""
    return computed(
        Tally, targets=targets, nontargets=nontargets, meaning=trials.meaning, trained_prior=trials.trained_prior,
        unit=unit, gaps=None,
    )  # fmt: skip


def _of_class(scores: Floats, labels: NDArray[np.bool_], target: bool) -> Source[np.float64]:
    """The scores of one class."""

    def fetch(rows: slice, out: Floats) -> Floats:
        own = (labels[rows] if target else ~labels[rows]).nonzero()[0]
        return scores[rows].take(own, mode="clip", out=out[: len(own)])

    return Source(np.float64, lambda rows: int(np.count_nonzero(labels[rows] == target)), fetch)


def _weighted(scores: Floats, labels: NDArray[np.bool_], weights: Floats, most: float) -> tuple[Ranked, Ranked, int]:
    """Targets and non-targets with positive weights up to the most, and the unit in which these are whole numbers."""
    if len(weights) == 0:
        none = Ranked(frozen(np.empty(0)), frozen(np.zeros(1, np.int64)))
        return none, none, 0
    unit = smallest_bit(weights)
    bits = math.frexp(most)[1] - unit + len(weights).bit_length()
    integers = None if bits <= INT64_BITS or fits_limbs(bits, unit) else as_integers(weights)[0]
    order = RowKeys(scores, weights, labels)
    others = len(labels) - int(np.count_nonzero(labels))

    def ranked(keys: Keys) -> Ranked:
        found = order.ranked(keys, numbered=integers is not None)
        if integers is not None:
            return _merged(found.scores, running_totals(integers, found.rows))
        return _merged(found.scores, running_doubles(found.carried, unit, bits))

    targets, nontargets = ranked(order.keys[others:]), ranked(order.keys[:others])
    return targets, nontargets, unit


def _grouped(scores: Floats, weights: Column) -> Ranked:
    """Distinct scores with the running total of their weights."""
    order = RowKeys(scores)
    found = order.ranked(order.keys)
    return _merged(found.scores, running_totals(weights, found.rows))


def _has_ties(ascending: Floats) -> bool:
    """Whether neighbours are equal."""
    lower, upper = ascending[:-1], ascending[1:]
    return any(over_parts(lambda rows: bool((lower[rows] == upper[rows]).any()), len(lower)))


def _merged(ascending: Floats, running: Column) -> Ranked:
    """Equal scores made one: the running total at the last of them counts them all."""
    if _has_ties(ascending):
        last = np.append(np.flatnonzero(ascending[1:] != ascending[:-1]), len(ascending) - 1)
        ascending, running = ascending[last], take(running, np.append(0, last + 1))
    return Ranked(frozen(ascending), _frozen(running))


def _frozen(column: Column) -> Column:
    for part in (column.high, column.low) if isinstance(column, Wide) else (column,):
        frozen(part)
    return column


_MAX_EXP = 709.0  # the exponential of more is infinite


def on_score_scale(llr: float, tally: Tally) -> float | None:
    """An llr on the scale of the scores, rounded as exp and log round; raw scores have no such scale."""
    if tally.meaning == "raw":
        return None
    if tally.meaning == "llr":
        return llr
    if tally.meaning == "log10-llr":
        return llr / math.log(10.0)
    if tally.meaning == "lr":
        return math.exp(llr) if llr < _MAX_EXP else math.inf
    assert isinstance(tally.trained_prior, float)
    odds = llr + logit(tally.trained_prior)
    return odds if tally.meaning == "log-odds" else sigmoid(odds)


def as_llr(threshold: float, tally: Tally) -> float | None:
    """A threshold on the scores as an llr; raw scores have none."""
    if tally.meaning == "raw":
        return None
    if tally.meaning == "llr" or math.isinf(threshold):
        return threshold
    return float(to_llr(np.array([threshold]), tally.meaning, tally.trained_prior)[0])
