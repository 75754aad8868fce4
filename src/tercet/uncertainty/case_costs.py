"""Costs per case: intervals, paired comparisons of systems, and what calibration out of fold would save."""

from __future__ import annotations

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
from tercet.metrics.binomial import clopper_pearson
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
from tercet.trials import Trials, probability
from tercet.uncertainty._clusters import Clusters
from tercet.uncertainty._limits import Mean
from tercet.uncertainty._out_of_fold import PENALTY, deal_groups, deal_rows
from tercet.uncertainty._rows import group_codes, grouping, needs_level, numbered_groups

_REACH, _POINTS = 8.0, 321  # llrs to either side, and shifts, of a curve
_FEW = "An interval needs at least two cases (or groups) of each class."
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
    """What Bayes decisions cost when every case brings its own costs.

    risk = prior x mean over targets of (C_fn,i if missed, C_tp,i if hit)
    + (1 - prior) x mean over non-targets of (C_fp,i if accepted).

    A scan gives the same to the bit as its rows in memory. Its files are read four times: for the sums, for the costs
    by bucket of margins, for the cases of the few buckets in which the least cost may lie, and for the cost there. Held
    are one part of the rows and the cases of these buckets, 24 bytes each.

    Parameters
    ----------
    trials : Trials or Scan
        Labelled two-class trials that are not raw scores, in the order of the costs; or files of them, without weights.
    costs : CaseCosts or CaseCostColumns
        Prior and costs: arrays or numbers for trials, names of columns or numbers for a scan. Costs that are the same
        in every case give the bits of the ordinary application.
    ci : float, optional
        Level of the intervals, 0.95: Welch's for the two classes' mean costs; whole weights count cases. Where no
        target was missed, or no non-target accepted, the upper end allows for unseen errors (none among n) at
        the mean cost. The minimum's interval begins at the lower end of the apparent minimum and ends at the upper
        end of the cost of shifts chosen out of fold, so a scan, which is read once more for the others, has none.
    by : str or tuple of two str, optional
        One or two columns of groups; then groups, not cases, are independent, and their sums vary. Not of a scan.

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
    """How many cases there are, their mean, and the sum of squared distances from it."""

    size: float
    mean: float
    squares: float

    @classmethod
    def of(cls, values: Floats, weights: Floats | float = 1.0) -> Moments:
        """Of at least one case."""
        heavy = np.broadcast_to(weights, values.shape)
        size = float(heavy.sum())
        mean = float((heavy * values).sum()) / size
        return cls(size, mean, float((heavy * (values - mean) ** 2).sum()))

    def plus(self, other: Moments) -> Moments:
        """Of both sets of cases (Chan, Golub and LeVeque 1983)."""
        size, gap = self.size + other.size, other.mean - self.mean
        between = gap * gap * self.size * other.size / size
        return Moments(size, self.mean + gap * other.size / size, self.squares + other.squares + between)


def _welch(prior: float, classes: Sequence[Moments], how: str) -> Mean:
    """prior x the mean of targets + (1 - prior) x that of non-targets, with the degrees of freedom of Welch."""
    shares = (prior, 1.0 - prior)
    parts = [s**2 * own.squares / (own.size * (own.size - 1.0)) for s, own in zip(shares, classes, strict=True)]
    terms = sum(part**2 / (own.size - 1.0) for part, own in zip(parts, classes, strict=True))
    total, value = sum(parts), sum(s * own.mean for s, own in zip(shares, classes, strict=True))
    return Mean(value, total**0.5, freedom=total**2 / terms if terms > 0.0 else 1.0, how=how)


class _Cases(NamedTuple):
    """Cases in a canonical order, by class, and how their costs vary."""

    trials: Trials
    costs: CaseCosts
    by: tuple[str, ...]
    split: Split
    weights: tuple[Floats, Floats]  # of targets and non-targets
    clusters: Clusters | None  # groups or fractional weights; None: independent cases, counted

    @classmethod
    def of(cls, trials: Trials, costs: CaseCosts, by: object = None) -> _Cases:
        """Cases of weight 0 are left out; the rest are ordered by id, else by score, costs and groups."""
        own, names = checked_cases(trials, costs), grouping(by)
        order = _own_order(own, costs, names)
        own, costs = own.select(order), costs.select(order)
        heavy = np.ones(len(own)) if own.weights is None else own.weights
        labels = own.known_labels().astype(np.bool_)
        split = split_by_class(own, costs)
        _check_prices(split)
        weights = heavy[labels], heavy[~labels]
        if min(map(len, weights)) < 2:
            raise UndefinedError(_FEW)
        if not names and not (heavy != np.floor(heavy)).any():
            return cls(own, costs, names, split, weights, None)
        rows = np.flatnonzero(labels), np.flatnonzero(~labels)
        codes, dyadic = numbered_groups(own, names, rows, own.classes[::-1])
        return cls(own, costs, names, split, weights, Clusters.of(codes, weights, dyadic))

    @property
    def how(self) -> str:
        """The method by its name."""
        return "welch over groups" if self.by else "welch"

    def mean(self, paid: tuple[Floats, Floats]) -> Mean:
        """prior x mean over targets + (1 - prior) x mean over non-targets of what each case costs."""
        shares = np.array([self.costs.prior, 1.0 - self.costs.prior])
        if self.clusters is not None:
            found = self.clusters.means(list(enumerate(paid)))
            variance, freedom = float(shares @ found.covariance @ shares), min(self.clusters.freedoms)
            return Mean(float(shares @ found.means), max(variance, 0.0) ** 0.5, freedom=freedom, how=self.how)
        moments = [Moments.of(own, heavy) for own, heavy in zip(paid, self.weights, strict=True)]
        return _welch(self.costs.prior, moments, self.how)

    def folds(self) -> tuple[NDArray[np.intp], int]:
        """The fold of each case, dealt by group, else in the order of the cases within the class."""
        labels = self.trials.known_labels().astype(np.bool_)
        sides = [np.flatnonzero(~labels), np.flatnonzero(labels)]
        if self.by:
            codes = group_codes(self.trials, self.by[0])
            numbers, count = deal_groups([codes[rows] for rows in sides])
        else:
            numbers, count = deal_rows((len(sides[0]), len(sides[1])))
        folds = np.empty(len(labels), np.intp)
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
    accepted = split.accepted()
    paid, dummy = split.paid(accepted), split.paid(_best_dummy(found, split))
    errors = [
        (int(wrong.sum()), len(wrong), float(np.mean(np.abs(np.asarray(side.reject) - side.accept))))
        for side, wrong in zip(split.sides, (~accepted[0], accepted[1]), strict=True)
    ]
    room = _hidden_errors(split.prior, errors, level)
    below = cases.mean(split.paid(split.accepted(found.min_shift))).limits(level)[0]
    above = cases.mean(cases.paid_out_of_fold()).limits(level)[1] + room
    least = min(max(below, 0.0), found.min_cost), max(above, found.min_cost)
    saved = cases.mean((dummy[0] - paid[0], dummy[1] - paid[1]))
    return _limited(replace(found, min_cost_ci=least), cases.mean(paid), saved, room, level)


class _Class(NamedTuple):
    """What one class's cases add up to."""

    paid: Moments
    saved: Moments
    wrong: int = 0
    price: float = 0.0  # the sum of what an error costs

    def plus(self, side: Side, paid: Floats, dummy: Floats, wrong: int) -> _Class:
        """With the cases of one more part."""
        if len(paid) == 0:
            return self
        price = float(np.sum(np.broadcast_to(np.abs(np.asarray(side.reject) - side.accept), paid.shape)))
        saved = self.saved.plus(Moments.of(dummy - paid))
        return _Class(self.paid.plus(Moments.of(paid)), saved, self.wrong + wrong, self.price + price)


def _over_parts(found: CaseCostEvaluation, parts: Parts, prior: float, level: float) -> CaseCostEvaluation:
    """Intervals of the cost and of the savings, from one more pass over cases that come in parts."""
    empty = Moments(0.0, 0.0, 0.0)
    sums = [_Class(empty, empty), _Class(empty, empty)]
    for own, costs in parts():
        split = Split.of(own, costs)
        _check_prices(split)
        accepted = split.accepted()
        wrong = (int((~accepted[0]).sum()), int(accepted[1].sum()))
        columns = zip(split.sides, split.paid(accepted), split.paid(_best_dummy(found, split)), wrong, strict=True)
        sums = [one.plus(*column) for one, column in zip(sums, columns, strict=True)]
    if min(one.paid.size for one in sums) < 2.0:
        raise UndefinedError(_FEW)
    paid, saved = (_welch(prior, [getattr(one, name) for one in sums], "welch") for name in ("paid", "saved"))
    errors = [(one.wrong, int(one.paid.size), one.price / one.paid.size) for one in sums]
    return _limited(found, paid, saved, _hidden_errors(prior, errors, level), level)


def _limited(found: CaseCostEvaluation, paid: Mean, saved: Mean, room: float, level: float) -> CaseCostEvaluation:
    """With the intervals of the cost and of the savings; `room` is for errors that were not seen."""
    (low, high), (least, most) = paid.limits(level), saved.limits(level)
    unseen = ", allowing for unseen errors where there were none (clopper-pearson x mean cost)" if room > 0.0 else ""
    return replace(
        found, cost_ci=(max(low, 0.0), high + room), savings_ci=(least - room, most), level=level,
        method=f"{paid.method}{unseen}",
    )  # fmt: skip


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


def _hidden_errors(prior: float, classes: Sequence[tuple[int, int, float]], level: float) -> float:
    """The possible cost of errors of a class that had none: the upper bound of their rate times their mean cost.

    From (errors, cases, mean price) of targets and non-targets.
    """
    room = 0.0
    for (wrong, cases, price), share in zip(classes, (prior, 1.0 - prior), strict=True):
        if wrong == 0:
            room += share * price * clopper_pearson(0, cases, level).high
    return room


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
    """The cost per case along a common shift of all thresholds, from llr -8 to 8.

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
    """What calibration would save per case: the actual cost minus that after calibrating out of fold.

    Attributes
    ----------
    value : float
        The loss, in the currency of the costs per case; negative where calibration does harm.
    low, high : float
        Its interval.
    actual, calibrated : float
        Cost per case of the llrs as they are, and after logistic calibration by models that did not see the case.
    level : float
        Of the interval.
    method : str
        How it was made.

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
    """The calibration loss where every case brings its own costs, cross-fitted.

    Logistic calibration at the effective prior of the mean costs, in 5 folds dealt by group, else by id, else by the
    rank of the score within the class; the loss is the paired difference of what each case costs.

    Parameters
    ----------
    trials : Trials
        Labelled two-class trials that are not raw scores, in the order of the costs.
    costs : CaseCosts
        Prior and costs.
    ci : float, default 0.95
        Level of Welch's interval of the paired difference.
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
    found = before.mean((paid[0][0] - paid[1][0], paid[0][1] - paid[1][1]))
    method = f"welch, paired{' over groups' if before.by else ''}; logistic, 5 folds"
    actual, calibrated = (before.mean(one).value for one in paid)
    return CaseCostLoss(found.value, *found.limits(level), actual, calibrated, level, method)


class CaseEstimates(NamedTuple):
    """Costs per case of several systems, and their paired differences.

    Attributes
    ----------
    alone : dict
        By the name of the number, one estimate per system.
    differences : dict
        By the name of the number and the places of two systems, the estimate of their difference.
    """

    alone: dict[str, list[Mean]]
    differences: dict[tuple[str, int, int], Mean]


def case_cost_estimates(systems: Sequence[Trials], every: Sequence[CaseCosts], by: tuple[str, ...]) -> CaseEstimates:
    """The cost per case of each system under each set of costs, and the differences on the same cases."""
    alone: dict[str, list[Mean]] = {}
    differences: dict[tuple[str, int, int], Mean] = {}
    for place, costs in enumerate(every):
        name = f"applications.{place}.cost"
        cases = _Cases.of(systems[0], costs, by)
        order = _own_order(systems[0], costs, by)
        splits = [split_by_class(one.select(order), cases.costs) for one in systems]
        paid = [split.paid(split.accepted()) for split in splits]
        alone[name] = [cases.mean(one) for one in paid]
        for i, j in combinations(range(len(paid)), 2):
            found = cases.mean((paid[i][0] - paid[j][0], paid[i][1] - paid[j][1]))
            differences[name, i, j] = replace(found, how=f"{found.how}, paired by case")
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
        raise UndefinedError("Calibration out of fold needs misses and false alarms that cost something on average.")
    return Application(costs.prior, miss, alarm)


def _calibrated(training: Trials, prior: float) -> Logistic:
    """A logistic calibration, with a small penalty where the classes are separable."""
    try:
        return Logistic.fit(training, prior)
    except CalibrationError:
        return Logistic.fit(training, prior, penalty=PENALTY)
