"""Costs per case: intervals, paired comparisons of systems, and what calibration out of fold would save."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import UNIT, ratio
from tercet._numeric.records import Record, checked_tuple
from tercet._numeric.validation import frozen, id_words
from tercet._typing import Array, Floats
from tercet.application import Application
from tercet.calibration.two_class import Logistic
from tercet.errors import CalibrationError, InputError, UndefinedError
from tercet.metrics._case_split import Flags, Side, Split
from tercet.metrics.binomial import FEW
from tercet.metrics.case_costs import (
    CaseCostColumns,
    CaseCostEvaluation,
    CaseCosts,
    HasCaseParts,
    Parts,
    case_costs_of_parts,
    checked_cases,
    evaluated,
    split_by_class,
)
from tercet.metrics.mover import MeanLoss, Sum, excluding
from tercet.trials import Trials, probability
from tercet.uncertainty._clusters import SampledRows, group_codes, grouping, needs_level
from tercet.uncertainty._limits import smallest_p
from tercet.uncertainty._out_of_fold import PENALTY, deal_groups, deal_rows

_REACH, _POINTS = 8.0, 321  # llrs to either side, and shifts, of a curve
_TOO_FEW = "An interval needs at least two cases (or groups) of each class."
_LIMITS = MeanLoss.how
_VARIABLE = math.e - 1.0  # variance of costs, in squared means: that of a log-normal whose log has a deviation of 1
_FREQUENT = 1.0 / 3.0  # share of cases that cost something from which on their number is no longer what varies most
_LARGEST = 1e70  # costs whose fourth powers are doubles: variances of variances need them


@overload
def evaluate_case_costs(
    trials: Trials, costs: CaseCosts, *, ci: float | None = None, by: str | tuple[str, str] | None = None
) -> CaseCostEvaluation: ...
@overload
def evaluate_case_costs(
    trials: HasCaseParts, costs: CaseCostColumns, *, ci: float | None = None
) -> CaseCostEvaluation: ...
def evaluate_case_costs(
    trials: Trials | HasCaseParts,
    costs: CaseCosts | CaseCostColumns,
    *,
    ci: float | None = None,
    by: str | tuple[str, str] | None = None,
) -> CaseCostEvaluation:
    """What Bayes decisions cost when every case has its own costs.

    risk = prior x mean over targets of (C_fn,i if missed, C_tp,i if hit)
    + (1 - prior) x mean over non-targets of (C_fp,i if accepted).

    A scan gives the same result, to the bit, as its rows in memory. Its files are read four times: for the sums, for
    the costs by bin of margins, for the cases in the few bins in which the lowest cost may lie, and for the cost there.
    Only one part of the rows and the cases in these bins, at 24 bytes each, are in memory.

    Parameters
    ----------
    trials : Trials or Scan
        Labelled two-class trials that are not raw scores, in the order of the costs; or files of them, without weights.
    costs : CaseCosts or CaseCostColumns
        Prior and costs: arrays or numbers for trials, names of columns or numbers for a scan. Costs that are the same
        in every case give the bits of the ordinary application.
    ci : float, optional
        Level of the intervals, 0.95: MOVER over the mean cost of each class, whose limits (Tiwari, Clegg and Zou 2006)
        leave room for errors that were not seen; integer weights count cases. The interval of the minimum extends from
        the lower end of the apparent minimum to the upper end of the cost of shifts chosen out of fold. A scan has no
        interval of the minimum; it is read once more for the other intervals.
    by : str or tuple of two str, optional
        One or two columns of groups; groups, not cases, are then the independent units. Not for a scan.

    Returns
    -------
    CaseCostEvaluation
        The cost per case, the minimum over a common shift, two costs without scores, and the savings.

    Examples
    --------
    The miss of 90 happens and the false alarm of 10, at prior 1/2: (90 + 0)/2 x 1/2 + (10 + 0)/2 x 1/2:

    >>> trials = Trials.of_llr([-3.0, 4.0, 2.0, -2.0], [1, 1, 0, 0])
    >>> found = evaluate_case_costs(trials, CaseCosts(0.5, cost_fn=[90, 50, 90, 50], cost_fp=10))
    >>> found.cost, found.per(1000), found.constant_action, found.constant_cost
    (25.0, 25000.0, 'accept', 5.0)

    The same from a file:

    >>> import tempfile, pathlib, tercet as tc
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "cases.csv"
    >>> _ = file.write_text("score,label,amount\\n-3,1,90\\n4,1,50\\n2,0,90\\n-2,0,50\\n")
    >>> evaluate_case_costs(tc.scan(file), CaseCostColumns(0.5, cost_fn="amount", cost_fp=10)).cost
    25.0
    """
    if isinstance(trials, Trials) or not isinstance(trials, HasCaseParts):
        if isinstance(costs, CaseCostColumns):
            raise InputError(
                "costs by column belong to a scan: give trials in memory CaseCosts with the columns themselves."
            )
        needs_level(ci, {"by": by})
        found = evaluated(trials, costs)
        return found if ci is None else _in_memory(found, _Cases.of(trials, costs, by), probability(ci, "ci"))
    if not isinstance(costs, CaseCostColumns):
        raise InputError(
            "costs of a scan must be CaseCostColumns(prior, cost_fn=..., cost_fp=...): its columns by name."
        )
    if by is not None:
        raise InputError("by= needs trials in memory: read them (tercet.read), or leave it out of a scan.")
    parts, level = trials._case_parts(costs), None if ci is None else probability(ci, "ci")
    found = case_costs_of_parts(parts, costs.prior)
    return found if level is None else _over_parts(found, parts, costs.prior, level)


class Moments(NamedTuple):
    """How many cases there are, their mean, and the sums of squared and cubed distances from it."""

    size: float
    mean: float
    squares: float
    cubes: float

    @classmethod
    def of(cls, values: Floats, weights: Floats | float = 1.0) -> Moments:
        """Of at least one case."""
        heavy = np.broadcast_to(weights, values.shape)
        size = float(heavy.sum())
        mean = float((heavy * values).sum()) / size
        squares = heavy * (values - mean) ** 2
        return cls(size, mean, float(squares.sum()), float((squares * (values - mean)).sum()))

    def plus(self, other: Moments) -> Moments:
        """Of both sets of cases (Chan, Golub and LeVeque 1983)."""
        size, gap = self.size + other.size, other.mean - self.mean
        share, rest = self.size / size, other.size / size
        between = gap * gap * self.size * rest
        crossed = gap * (between * (share - rest) + 3.0 * (share * other.squares - rest * self.squares))
        squares, cubes = self.squares + other.squares + between, self.cubes + other.cubes + crossed
        return Moments(size, self.mean + gap * rest, squares, cubes)

    @property
    def variance(self) -> float:
        """The mean squared distance."""
        return self.squares / self.size

    @property
    def skewness(self) -> float:
        """The mean cubed distance, in standard deviations; 0 of equal values."""
        return self.cubes / self.size / self.variance**1.5 if self.variance > 0.0 else 0.0


class CostSums(NamedTuple):
    """What the costs of one class's cases add up to, and what an error in each of them would cost."""

    paid: Moments
    errors: Moments
    most: float
    costly: float  # how many cases cost something

    @classmethod
    def of(cls, paid: Floats, errors: Floats | float, weights: Floats | float = 1.0) -> CostSums:
        """Of at least one case."""
        errors = np.broadcast_to(errors, paid.shape)
        costly = float(np.broadcast_to(weights, paid.shape)[paid > 0.0].sum())
        most = float(max(paid.max(), errors.max()))
        return cls(Moments.of(paid, weights), Moments.of(errors, weights), most, costly)

    def plus(self, other: CostSums) -> CostSums:
        """Of both sets of cases."""
        most, costly = max(self.most, other.most), self.costly + other.costly
        return CostSums(self.paid.plus(other.paid), self.errors.plus(other.errors), most, costly)

    def mean(self, size: float | None = None, freedom: float = math.inf) -> MeanLoss:
        """The mean cost; `size` is the effective number of cases where they are not independent.

        An error that was not seen costs the mean over all cases (Tiwari, Clegg and Zou), but the most if costs vary
        much or many cases cost something (Fay and Feuer). Where most cases cost something, the mean of n costs of
        skewness G has an upper limit if n > 25 G^2 (Cochran 1977).
        """
        error, count = (self.errors.mean, self.errors.variance + self.errors.mean**2), size or self.paid.size
        how = _LIMITS
        if self.errors.variance > _VARIABLE * self.errors.mean**2 or self.costly > _FREQUENT * self.paid.size:
            how, error = "Fay-Feuer", (self.most, self.most**2)
        skewed = 2.0 * self.costly > self.paid.size and 25.0 * max(self.paid.skewness, 0.0) ** 2 >= count
        how += (", no upper limit: skewed costs" if skewed else "") + ("" if size is None else " by group")
        return MeanLoss(self.paid.mean, self.paid.variance, count, self.most, error, freedom, how, not skewed)


def _mean_cost(prior: float, classes: Sequence[MeanLoss], linked: Floats | None = None) -> Sum:
    """prior x the mean of targets + (1 - prior) x that of non-targets."""
    return Sum(classes, (prior, 1.0 - prior), linked, (0.0, math.inf))


def _mean_difference(prior: float, parts: Sequence[MeanLoss], linked: Floats | None = None) -> Sum:
    """The same of what cases cost more and of what they cost less, which no case does both, of both classes."""
    factors = (prior, -prior, 1.0 - prior, prior - 1.0)
    return Sum(parts, factors, excluding(parts, (1, 1, 0, 0)) if linked is None else linked)


def _more_and_less(gaps: Floats) -> tuple[Floats, Floats]:
    """What differences are above 0, and what they are below."""
    return np.maximum(gaps, 0.0), np.maximum(0.0 - gaps, 0.0)


class _Column(NamedTuple):
    """What the cases of one class cost, what errors in them would, and how many are not free."""

    place: int  # 1: targets
    paid: Floats
    errors: Floats | float
    seen: int


def _cost_columns(split: Split, paid: tuple[Floats, Floats]) -> list[_Column]:
    """What targets and non-targets cost."""
    return [
        _Column(place, own, np.maximum(side.accept, side.reject), int((own > 0.0).sum()))
        for place, side, own in zip((1, 0), split.sides, paid, strict=True)
    ]


def _difference_columns(gaps: tuple[Floats, Floats], rooms: Sequence[tuple[Floats, Floats]]) -> list[_Column]:
    """What targets and non-targets cost more and less; `rooms` are what they could, by class."""
    return [
        _Column(place, own, room, int((gap != 0.0).sum()))
        for place, gap, both in zip((1, 0), gaps, rooms, strict=True)
        for own, room in zip(_more_and_less(gap), both, strict=True)
    ]


class _Cases(NamedTuple):
    """Cases in a canonical order, by class, and how their costs vary."""

    trials: Trials
    costs: CaseCosts
    by: tuple[str, ...]
    split: Split
    rows: SampledRows

    @classmethod
    def of(cls, trials: Trials, costs: CaseCosts, by: object = None) -> _Cases:
        """Cases of weight 0 are left out; the rest are ordered by id, else by score, costs and groups."""
        own, names = checked_cases(trials, costs), grouping(by)
        order = _own_order(own, costs, names)
        own, costs = own.select(order), costs.select(order)
        split = split_by_class(own, costs)
        _check_prices(split)
        if min(np.bincount(own.known_labels(), minlength=2)) < 2:
            raise UndefinedError(_TOO_FEW)
        return cls(own, costs, names, split, SampledRows.of(own, names))

    def cost(self, paid: tuple[Floats, Floats]) -> Sum:
        """prior x mean over targets + (1 - prior) x mean over non-targets of what each case costs."""
        return _mean_cost(self.costs.prior, *self._means(_cost_columns(self.split, paid)))

    def difference(self, gaps: tuple[Floats, Floats], rooms: Sequence[tuple[Floats, Floats]]) -> Sum:
        """The same of what each case costs more or less."""
        return _mean_difference(self.costs.prior, *self._means(_difference_columns(gaps, rooms)))

    def _means(self, columns: Sequence[_Column]) -> tuple[list[MeanLoss], Floats | None]:
        """The mean of each column, and their correlations where cases vary together."""
        clusters, weights = self.rows.clusters, self.rows.weights
        sums = [CostSums.of(one.paid, one.errors, weights[one.place]) for one in columns]
        if not self.rows.grouped:
            return [one.mean() for one in sums], None
        found = self.rows.moments([(one.place, one.paid) for one in columns])
        parts = []
        for own, one, variance in zip(columns, sums, np.diag(found.covariance), strict=True):
            size = clusters.units[own.place]
            if own.seen >= FEW and variance > 0.0:  # fewer do not show how alike a group's cases are
                size = min(one.paid.variance / float(variance), clusters.rows[own.place])
            parts.append(one.mean(size, clusters.freedoms[own.place]))
        return parts, found.correlations()

    def prices(self) -> list[tuple[Floats, Floats]]:
        """What a case of each class can cost more, and less, under another decision."""
        return [(side.prices(), side.prices()) for side in self.split.sides]

    def least_p(self, gaps: tuple[Floats, Floats]) -> float:
        """The smallest p-value that these cases, or groups, can show: all that differ fall on one side by chance."""
        if not self.rows.grouped:
            return smallest_p(sum(int((own != 0.0).sum()) for own in gaps))
        shares, (nontargets, targets) = (self.costs.prior, 1.0 - self.costs.prior), self.rows.weights
        hits, alarms = (
            share * heavy * own / heavy.sum()
            for share, heavy, own in zip(shares, (targets, nontargets), gaps, strict=True)
        )
        ways = [way for way in self.rows.clusters.ways if way.sign > 0.0]
        return smallest_p(min(int((way.sums(1, hits) + way.sums(0, alarms) != 0.0).sum()) for way in ways))

    def folds(self) -> tuple[NDArray[np.intp], int]:
        """The fold of each case, dealt by group, else in the order of the cases within the class."""
        sides = self.rows.rows
        if self.by:
            codes = group_codes(self.trials, self.by[0])
            numbers, count = deal_groups([codes[rows] for rows in sides])
        else:
            numbers, count = deal_rows((len(sides[0]), len(sides[1])))
        folds = np.empty(len(self.trials), np.intp)
        for rows, own in zip(sides, numbers, strict=True):
            folds[rows] = own
        return folds, count

    def paid_out_of_fold(self) -> tuple[Floats, Floats]:
        """What each case costs when all thresholds are shifted as is best on the other folds."""
        labels, (folds, count) = self.trials.known_labels().astype(np.bool_), self.folds()
        paid = np.empty(len(labels))
        for fold in range(count):
            mine = folds == fold
            shift = evaluated(self.trials.select(~mine), self.costs.select(~mine)).min_shift
            held = Split.of(self.trials.select(mine), self.costs.select(mine))
            for label, own in zip((True, False), held.paid(held.accepted(shift)), strict=True):
                paid[mine & (labels == label)] = own
        return paid[labels], paid[~labels]


def _own_order(trials: Trials, costs: CaseCosts, by: Sequence[str]) -> NDArray[np.intp]:
    """A canonical order of the cases of positive weight: by id, else by all their columns."""
    rows = np.arange(len(trials)) if trials.weights is None else np.flatnonzero(trials.weights > 0.0)
    if trials.ids is not None:
        return rows[np.argsort(id_words(trials.ids[rows]), kind="stable")]
    columns: list[Array] = [] if trials.weights is None else [trials.weights[rows]]
    columns += [np.broadcast_to(cost, len(trials))[rows] for cost in (costs.cost_tp, costs.cost_fp, costs.cost_fn)]
    columns += [group_codes(trials, name)[rows] for name in by]
    return rows[np.lexsort((*columns, trials.scores[rows]))]


def _in_memory(found: CaseCostEvaluation, cases: _Cases, level: float) -> CaseCostEvaluation:
    """The intervals of cases in memory, that of the minimum among them."""
    split = cases.split
    paid, gaps, rooms = _against_dummy(found, split)
    cost, saved = cases.cost(paid), cases.difference(gaps, rooms)
    below = cases.cost(split.paid(split.accepted(found.min_shift))).limits(level)[0]
    above = cases.cost(cases.paid_out_of_fold()).limits(level)[1]
    return replace(
        found, cost_ci=ends(cost, level), savings_ci=ends(saved, level), level=level, method=cost.method(level),
        min_cost_ci=(min(float(below), found.min_cost), max(float(above), found.min_cost)),
    )  # fmt: skip


def _over_parts(found: CaseCostEvaluation, parts: Parts, prior: float, level: float) -> CaseCostEvaluation:
    """Intervals of the cost and of the savings, from one more pass over cases that come in parts."""
    sums: dict[int, CostSums] = {}
    for own, costs in parts():
        split = Split.of(own, costs)
        _check_prices(split)
        paid, gaps, rooms = _against_dummy(found, split)
        for place, column in enumerate((*_cost_columns(split, paid), *_difference_columns(gaps, rooms))):
            if len(column.paid):
                more = CostSums.of(column.paid, column.errors)
                sums[place] = sums[place].plus(more) if place in sums else more
    if len(sums) < 6 or min(one.paid.size for one in sums.values()) < 2.0:
        raise UndefinedError(_TOO_FEW)
    means = [sums[place].mean() for place in range(6)]
    cost, saved = _mean_cost(prior, means[:2]), _mean_difference(prior, means[2:])
    return replace(
        found, cost_ci=ends(cost, level), savings_ci=ends(saved, level), level=level, method=cost.method(level)
    )  # fmt: skip


def _against_dummy(
    found: CaseCostEvaluation, split: Split
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats], list[tuple[Floats, Floats]]]:
    """What cases cost, what they save against the better dummy, and what they could save or lose, by class."""
    paid, dummy = split.paid(split.accepted()), split.paid(_best_dummy(found, split))
    rooms = [_savable(*one) for one in zip(split.sides, dummy, strict=True)]
    return paid, (dummy[0] - paid[0], dummy[1] - paid[1]), rooms


def ends(estimate: Sum, level: float) -> tuple[float, float]:
    """Both limits as numbers."""
    low, high = estimate.limits(level)
    return float(low), float(high)


def _savable(side: Side, dummy: Floats) -> tuple[Floats, Floats]:
    """What each case can save against the dummy's cost of it, and what it can cost more."""
    other = np.asarray(side.accept) + side.reject - dummy
    return _more_and_less(np.where(side.prices() > 0.0, dummy - other, 0.0))


def _check_prices(split: Split) -> None:
    """Refuses costs that are too large for an interval."""
    targets, nontargets = split.sides
    priced = {"cost_fn": targets.reject, "cost_tp": targets.accept, "cost_fp": nontargets.accept}
    for name, cost in priced.items():
        most = float(np.max(cost, initial=0.0))
        if most > _LARGEST:
            raise InputError(
                f"{name} holds {most:g}, and costs above {_LARGEST:g} have no interval: give costs in a larger unit."
            )


def _best_dummy(found: CaseCostEvaluation, split: Split) -> tuple[Flags, Flags]:
    """Decisions of the better dummy on both classes."""
    if found.own_cost < found.constant_cost:
        return split.targets.blind, split.nontargets.blind
    accept = found.constant_action == "accept"
    return np.full(len(split.targets.margins), accept), np.full(len(split.nontargets.margins), accept)


@dataclass(frozen=True, slots=True, eq=False)
class CaseCostCurve(Record):
    """The cost per case when all thresholds are shifted by the same llr.

    Attributes
    ----------
    shift : numpy.ndarray of float
        The llr added to every threshold; 0 is the Bayes decision.
    cost : numpy.ndarray of float
        The mean cost per case at each shift.
    evaluation : CaseCostEvaluation
        The cost at shift 0, the minimum and the costs without scores.
    name : str or None
        The system's name.

    Examples
    --------
    >>> trials = Trials.of_llr([-3.0, 4.0, 2.0, -2.0], [1, 1, 0, 0])
    >>> found = case_cost_curve(trials, CaseCosts(0.5, cost_fn=[90, 50, 90, 50], cost_fp=10))
    >>> float(found.shift[160]), float(found.cost[160]), found.evaluation.min_cost
    (0.0, 25.0, 5.0)
    """

    shift: Floats
    cost: Floats
    evaluation: CaseCostEvaluation
    name: str | None = None


def case_cost_curve(
    trials: Trials, costs: CaseCosts, *, ci: float | None = None, by: str | tuple[str, str] | None = None
) -> CaseCostCurve:
    """The cost per case against a common shift of all thresholds, from an llr of -8 to 8.

    Parameters
    ----------
    trials : Trials
        Labelled two-class trials that are not raw scores, in the order of the costs.
    costs : CaseCosts
        Prior and costs.
    ci : float, optional
        Level of the interval of the cost at shift 0.
    by : str or tuple of two str, optional
        Columns of groups, as for `evaluate_case_costs`.

    Returns
    -------
    CaseCostCurve
        What `tercet.plot(curve, "case-costs")` draws.

    Examples
    --------
    >>> trials = Trials.of_llr([-3.0, 4.0, 2.0, -2.0], [1, 1, 0, 0])
    >>> found = case_cost_curve(trials, CaseCosts(0.5, cost_fn=[90, 50, 90, 50], cost_fp=10))
    >>> float(found.cost[160]), found.evaluation.cost
    (25.0, 25.0)
    """
    found = evaluate_case_costs(trials, costs, ci=ci, by=by)
    split = split_by_class(trials, costs)
    shift = np.linspace(-_REACH, _REACH, _POINTS)
    cost = np.zeros(_POINTS)
    for side, share, sign in ((split.targets, split.prior, 1.0), (split.nontargets, 1.0 - split.prior, -1.0)):
        first = np.searchsorted(shift, side.margins, "left")  # from this shift on the case is rejected
        prices = side.prices() if side.weights is None else side.prices() * side.weights.astype(np.float64)
        rejected = np.bincount(first, prices, _POINTS + 1).cumsum()[:_POINTS]
        cost += share * (ratio(side.paid(side.accepted_by_all()), side.size, UNIT) + sign * rejected / side.size)
    return CaseCostCurve(frozen(shift), frozen(cost), found, trials.name)


@checked_tuple
class CaseCostLoss(NamedTuple):
    """What calibration would save per case: the actual cost minus the cost after out-of-fold calibration.

    Attributes
    ----------
    value : float
        The loss per case, in the currency of the costs; negative if calibration does harm.
    low, high : float
        Its interval.
    actual, calibrated : float
        Cost per case of the llrs as they are, and after logistic calibration by models that did not see the case.
    level : float
        Level of the interval.
    method : str
        The method of the interval.

    Examples
    --------
    >>> import numpy as np, tercet as tc
    >>> shape = np.tile([-1.5, -0.5, 0.5, 1.5], 10)
    >>> trials = tc.Trials.of_llr(np.r_[shape + 1.0, shape - 1.0] + 3.0, np.repeat([1, 0], 40))    # llrs 3 too high
    >>> tc.case_cost_calibration_loss(trials, tc.CaseCosts(0.5, np.tile([1.0, 3.0], 40), 2.0)).actual
    0.75
    """

    value: float
    low: float
    high: float
    actual: float
    calibrated: float
    level: float
    method: str


def case_cost_calibration_loss(
    trials: Trials, costs: CaseCosts, *, ci: float = 0.95, by: str | tuple[str, str] | None = None
) -> CaseCostLoss:
    """The cross-fitted calibration loss when every case has its own costs.

    Logistic calibration at the effective prior of the mean costs, in 5 folds assigned by group, else by id, else by the
    rank of the score within the class; the loss is the paired difference of what each case costs.

    Parameters
    ----------
    trials : Trials
        Labelled two-class trials that are not raw scores, in the order of the costs.
    costs : CaseCosts
        Prior and costs.
    ci : float, default 0.95
        Level of the interval of the paired difference.
    by : str or tuple of two str, optional
        Columns of groups, which vary as a whole; those of the first are never on both sides of a fold.

    Returns
    -------
    CaseCostLoss
        The loss with its interval, and both costs.

    Examples
    --------
    Every llr is too high by 3, so that three of four non-targets are accepted at a cost of 2, 3/4 per case:

    >>> shape = np.tile([-1.5, -0.5, 0.5, 1.5], 10)
    >>> trials = Trials.of_llr(np.r_[shape + 1.0, shape - 1.0] + 3.0, np.repeat([1, 0], 40))
    >>> found = case_cost_calibration_loss(trials, CaseCosts(0.5, np.tile([1.0, 3.0], 40), 2.0))
    >>> found.actual, round(found.value, 2) > 0.3
    (0.75, True)
    """
    level, before = probability(ci, "ci"), _Cases.of(trials, costs, by)
    after = before._replace(split=split_by_class(_calibrated_trials(before), before.costs))
    paid = [one.split.paid(one.split.accepted()) for one in (before, after)]
    found = before.difference((paid[0][0] - paid[1][0], paid[0][1] - paid[1][1]), before.prices())
    actual, calibrated = (float(before.cost(one).value) for one in paid)
    method = f"{found.method(level)}, paired; logistic, 5 folds"
    return CaseCostLoss(float(found.value), *ends(found, level), actual, calibrated, level, method)


class CaseEstimates(NamedTuple):
    """Costs per case of several systems, and their paired differences.

    Attributes
    ----------
    alone : dict
        By the name of the number, one estimate per system.
    differences : dict
        By the name of the number and the places of two systems, the estimate of their difference and the smallest
        p-value that it can have.
    """

    alone: dict[str, list[Sum]]
    differences: dict[tuple[str, int, int], tuple[Sum, float]]


def case_cost_estimates(systems: Sequence[Trials], every: Sequence[CaseCosts], by: tuple[str, ...]) -> CaseEstimates:
    """The cost per case of each system under each set of costs, and the differences on the same cases."""
    alone: dict[str, list[Sum]] = {}
    differences: dict[tuple[str, int, int], tuple[Sum, float]] = {}
    for place, costs in enumerate(every):
        name = f"applications.{place}.cost"
        cases = _Cases.of(systems[0], costs, by)
        order = _own_order(systems[0], costs, by)
        splits = [split_by_class(one.select(order), cases.costs) for one in systems]
        paid = [split.paid(split.accepted()) for split in splits]
        alone[name] = [cases.cost(one) for one in paid]
        for i, j in combinations(range(len(paid)), 2):
            gaps = paid[i][0] - paid[j][0], paid[i][1] - paid[j][1]
            differences[name, i, j] = cases.difference(gaps, cases.prices()), cases.least_p(gaps)
    return CaseEstimates(alone, differences)


def _calibrated_trials(cases: _Cases) -> Trials:
    """The trials with llrs of logistic calibrations that did not see them."""
    trials, (folds, count) = cases.trials, cases.folds()
    prior, llrs = _mean_application(cases.costs).effective_prior, np.empty(len(trials))
    for fold in range(count):
        mine = folds == fold
        llrs[mine] = _calibrated(trials.select(~mine), prior)(trials.scores[mine])
    return Trials.of_llr(llrs, trials.known_labels().astype(np.bool_), weights=trials.weights)


def _mean_application(costs: CaseCosts) -> Application:
    """The ordinary application of the mean costs."""
    miss = float(np.mean(np.maximum(np.asarray(costs.cost_fn) - costs.cost_tp, 0.0)))
    alarm = float(np.mean(costs.cost_fp))
    if not (miss > 0.0 and alarm > 0.0):
        raise UndefinedError("Out-of-fold calibration needs misses and false alarms with positive costs on average.")
    return Application(costs.prior, miss, alarm)


def _calibrated(training: Trials, prior: float) -> Logistic:
    """A logistic calibration, with a small penalty where the classes are separable."""
    try:
        return Logistic.fit(training, prior)
    except CalibrationError:
        return Logistic.fit(training, prior, penalty=PENALTY)
