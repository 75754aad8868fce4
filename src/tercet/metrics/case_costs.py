"""Costs that differ by case: decisions, what they cost in the user's currency, and the least that they could cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from tercet._numeric.exact import UNIT, ratio
from tercet._numeric.parallel import over_parts
from tercet._numeric.plain import plain
from tercet._numeric.records import Record, computed
from tercet._numeric.validation import (
    column,
    frozen,
    not_negative,
    numbers,
    positive,
    row_numbers,
    same_index,
    shown,
    text,
    whole,
)
from tercet._typing import Array, Floats, Reals
from tercet.application import Application
from tercet.errors import InputError, UndefinedError
from tercet.metrics._case_split import Flags, Side, Split, Splits, best_shift, blocks, bucket_scale
from tercet.metrics.curves import Curve
from tercet.trials import Trials, logit, probability, to_llr, two_class

_ONE_COST = "{} must be one number, or one per case, not an array of shape {}."


@dataclass(frozen=True, slots=True, eq=False)
class CaseCosts:
    """An application whose costs differ from case to case: the amount at stake, the fee of a check.

    Case i is accepted if and only if llr_i > -logit(prior) - ln(C_fn,i - C_tp,i) + ln C_fp,i, and rejected if a hit
    costs no less than a miss. The rule is Bayes-optimal only if the llr already accounts for what the costs say about
    the class: if large amounts are fraudulent more often, the recogniser must have seen the amount.

    Attributes
    ----------
    prior : float
        Prior probability of the target.
    cost_fn : float or ndarray
        Cost of a miss, one number or one per case.
    cost_fp : float or ndarray
        Cost of a false alarm.
    cost_tp : float or ndarray
        Cost of a hit, such as a fee paid on every alarm; 0 unless given.

    Examples
    --------
    An amount of 100 at a fee of 5 is worth checking from llr > logit(0.99) - ln 20 = 1.5994 on:

    >>> costs = CaseCosts(0.01, cost_fn=[100.0, 5.0], cost_fp=5.0)
    >>> costs.thresholds(2).round(4).tolist()
    [1.5994, 4.5951]
    """

    prior: float
    cost_fn: Reals
    cost_fp: Reals
    cost_tp: Reals = field(default=0.0)

    if TYPE_CHECKING:  # the costs may be any array-like; what is kept is a number or an array

        def __init__(self, prior: float, cost_fn: ArrayLike, cost_fp: ArrayLike, cost_tp: ArrayLike = 0.0) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", probability(self.prior, "prior"))
        same_index({name: getattr(self, name) for name in ("cost_fn", "cost_fp", "cost_tp")})
        for name in ("cost_fn", "cost_fp", "cost_tp"):
            object.__setattr__(self, name, _costs(getattr(self, name), name))
        sizes = {len(one) for one in (self.cost_fn, self.cost_fp, self.cost_tp) if isinstance(one, np.ndarray)}
        if len(sizes) > 1:
            raise InputError(f"cost_fn, cost_fp and cost_tp must have the same length, not {sorted(sizes)}.")
        if not (np.any(self.cost_fn) or np.any(self.cost_fp)):
            raise InputError("cost_fn and cost_fp are all 0: then every decision is free and none is better.")

    @classmethod
    def _part(cls, prior: float, **costs: Reals) -> CaseCosts:
        """The costs of a part of the cases, which may all be 0 there."""
        return computed(cls, prior=prior, **{name: _costs(cost, name) for name, cost in costs.items()})

    def thresholds(self, cases: int) -> Floats:
        """The llr above which each case is accepted; inf where it is always rejected.

        Parameters
        ----------
        cases : int
            The number of cases, which arrays of costs must have.

        Returns
        -------
        ndarray
            One threshold per case.
        """
        cases = whole(cases, "cases", 0, 10**9)
        self._check_size(cases)
        limits, found = self._limits(), np.empty(cases)

        def fill(part: slice) -> None:
            for rows in blocks(part):
                found[rows] = limits(rows)

        over_parts(fill, cases)
        return frozen(found)

    def _limits(self) -> Callable[[slice], Any]:
        """The function that gives the thresholds of some rows; one number where no cost differs."""
        start, miss, alarm = logit(self.prior), self._net_miss(), np.asarray(self.cost_fp)

        def of(rows: slice) -> Any:
            own, other = (cost[rows] if cost.ndim else cost for cost in (miss, alarm))
            with np.errstate(divide="ignore", invalid="ignore"):
                tau = start + (np.log(own) - np.log(other))
            return np.where(own > 0.0, 0.0 - tau, math.inf)

        return of

    def accepted(self, trials: Trials) -> Flags:
        """Which cases are accepted; `decide(trials, costs)` gives the same as 0 and 1.

        Parameters
        ----------
        trials : Trials
            Two-class trials that are not raw scores, in the order of the costs.

        Returns
        -------
        ndarray of bool
            One entry per case.
        """
        llr, same = two_class(trials).llr, self.common()
        self._check_size(len(llr))
        return np.asarray(llr > (self.thresholds(len(llr)) if same is None else same.threshold))

    def common(self) -> Application | None:
        """The equivalent ordinary application, if the costs are the same in every case and hits are free.

        Returns
        -------
        Application or None
            The application; None if costs differ, all of them are 0, or a hit has a cost.

        Examples
        --------
        >>> CaseCosts(0.5, [2.0, 2.0], [1.0, 1.0]).common()
        Application(prior=0.5, cost_fn=2.0, cost_fp=1.0, name=None)
        """
        if np.any(self.cost_tp) or not (np.any(self.cost_fn) or np.any(self.cost_fp)):
            return None
        for cost in (self.cost_fn, self.cost_fp):
            if isinstance(cost, np.ndarray) and (len(cost) == 0 or (cost != cost[0]).any()):
                return None
        return Application(self.prior, float(np.ravel(self.cost_fn)[0]), float(np.ravel(self.cost_fp)[0]))

    def select(self, rows: Array) -> CaseCosts:
        """The costs of a mask or of row numbers.

        Parameters
        ----------
        rows : numpy.ndarray
            A mask, or row numbers.

        Returns
        -------
        CaseCosts
            The costs of these rows.

        Examples
        --------
        >>> CaseCosts(0.5, [2.0, 3.0], [1.0, 1.0]).select(np.array([1])).cost_fn.tolist()
        [3.0]
        """

        def of(cost: Reals) -> Reals:
            found = cost[row_numbers(rows, len(cost))] if isinstance(cost, np.ndarray) else cost
            if np.size(found) == 0:
                raise InputError("rows must select at least one case.")
            return found

        return self._part(self.prior, cost_fn=of(self.cost_fn), cost_fp=of(self.cost_fp), cost_tp=of(self.cost_tp))

    def _net_miss(self) -> Floats:
        return np.asarray(self.cost_fn) - self.cost_tp if np.any(self.cost_tp) else np.asarray(self.cost_fn)

    def _check_size(self, cases: int) -> None:
        for name in ("cost_fn", "cost_fp", "cost_tp"):
            cost = getattr(self, name)
            if isinstance(cost, np.ndarray) and len(cost) != cases:
                raise InputError(f"{name} has {len(cost)} entries for {cases} cases.")


@dataclass(frozen=True, slots=True)
class CaseCostColumns:
    """The costs per case of a scan: columns of its files, or numbers that hold for every case.

    Attributes
    ----------
    prior : float
        Prior probability of the target.
    cost_fn : str or float
        Cost of a miss: the name of a column, or one number.
    cost_fp : str or float
        Cost of a false alarm.
    cost_tp : str or float
        Cost of a hit; 0 unless given. At least one of the three is a column.

    Examples
    --------
    >>> CaseCostColumns(0.02, cost_fn="amount", cost_fp=5)
    CaseCostColumns(prior=0.02, cost_fn='amount', cost_fp=5.0, cost_tp=0.0)
    """

    prior: float
    cost_fn: str | float
    cost_fp: str | float
    cost_tp: str | float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "prior", probability(self.prior, "prior"))
        for name, cost in self.costs.items():
            object.__setattr__(self, name, text(cost, name) if isinstance(cost, str) else not_negative(cost, name))
        if not self.columns:
            raise InputError(
                "cost_fn, cost_fp and cost_tp are all numbers: evaluate the scan at an Application instead."
            )

    @property
    def costs(self) -> dict[str, str | float]:
        """The three costs by name."""
        return {"cost_fn": self.cost_fn, "cost_fp": self.cost_fp, "cost_tp": self.cost_tp}

    @property
    def columns(self) -> list[str]:
        """The columns to read, each once."""
        return list(dict.fromkeys(one for one in self.costs.values() if isinstance(one, str)))


@dataclass(frozen=True, slots=True)
class CaseCostEvaluation(Record):
    """Costs of decisions when costs differ from case to case, compared with no scores and with the best shift.

    All costs are means per case in the user's currency: prior x mean over targets + (1 - prior) x mean over
    non-targets.

    Attributes
    ----------
    cost : float
        Of the decisions llr > threshold of the case.
    min_cost : float
        The lowest cost that a common shift of all thresholds reaches on the same trials (apparent); accepting
        everything and rejecting everything are included.
    min_shift : float
        The llr to add to every threshold to reach that minimum; inf rejects everything and -inf accepts everything.
    actual_minus_minimum : float
        What a common shift would save on these trials.
    constant_cost, constant_action : float and str
        The better of accepting and of rejecting every case.
    own_cost : float
        Cost of taking, for each case, the best action given its own costs and the prior, without its score.
    dummy_cost : float
        The lower of the two costs without scores.
    savings : float
        dummy_cost - cost: what the scores save per case; negative where they do harm.
    relative_savings : float or None
        savings / dummy_cost; None where the dummy costs nothing.
    targets, nontargets, hits, false_alarms : int or float
        Cases, or their weights.
    cost_ci, savings_ci, min_cost_ci : tuple of float or None
        Intervals, if `ci` was given: of the cost, of the savings compared with `dummy_cost` on the same cases, and of
        the lowest cost that a common shift reaches in the population.
    level, method : float, str or None
        Level and method of the intervals.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([-3.0, 4.0, 2.0, -2.0], [1, 1, 0, 0])
    >>> found = tc.evaluate_case_costs(trials, tc.CaseCosts(0.5, cost_fn=[90, 50, 90, 50], cost_fp=10))
    >>> found.cost, found.min_cost, found.dummy_cost
    (25.0, 5.0, 5.0)
    """

    cost: float
    min_cost: float
    min_shift: float
    constant_cost: float
    constant_action: str
    own_cost: float
    targets: int | float
    nontargets: int | float
    hits: int | float
    false_alarms: int | float
    cost_ci: tuple[float, float] | None = None
    savings_ci: tuple[float, float] | None = None
    min_cost_ci: tuple[float, float] | None = None
    level: float | None = None
    method: str | None = None

    @property
    def actual_minus_minimum(self) -> float:
        """What a common shift of all thresholds would save on the same trials, per case."""
        return max(self.cost - self.min_cost, 0.0)

    @property
    def dummy_cost(self) -> float:
        """The lower of the two costs without scores."""
        return min(self.constant_cost, self.own_cost)

    @property
    def savings(self) -> float:
        """What the scores save per case against the better action without them."""
        return self.dummy_cost - self.cost

    @property
    def relative_savings(self) -> float | None:
        """The savings as a share of the dummy's cost; None where that is 0."""
        return self.savings / self.dummy_cost if self.dummy_cost > 0.0 else None

    def per(self, cases: float = 1000.0) -> float:
        """The cost of this many cases.

        Parameters
        ----------
        cases : float, default 1000
            How many cases.

        Returns
        -------
        float
            cost x cases.
        """
        return self.cost * positive(cases, "cases")

    def to_dict(self) -> dict[str, object]:
        """The entry "case_costs" in the JSON; infinities as text.

        Returns
        -------
        dict
            Plain values; infinities as text.
        """
        keys = (
            "cost", "min_cost", "min_shift", "actual_minus_minimum", "constant_cost", "constant_action", "own_cost",
            "dummy_cost", "savings", "relative_savings", "targets", "nontargets", "hits", "false_alarms",
        )  # fmt: skip
        facts: dict[str, object] = {key: getattr(self, key) for key in keys}
        facts["min_shift"] = self.min_shift if math.isfinite(self.min_shift) else str(self.min_shift)
        facts["cost_per_1000"] = self.per(1000)
        ends = {"cost_ci": self.cost_ci, "savings_ci": self.savings_ci, "min_cost_ci": self.min_cost_ci}
        known = {key: plain(pair) for key, pair in ends.items() if pair is not None}
        facts |= known | {"level": self.level, "method": self.method} if known else {}
        return facts


def evaluated(trials: Trials, costs: CaseCosts) -> CaseCostEvaluation:
    """What Bayes decisions cost when every case brings its own costs; equal costs are evaluated as usual."""
    own, same = checked_cases(trials, costs), costs.common()
    if same is not None:
        return _ordinary(own, same)
    split = Split.of(own, costs)
    return _of_splits(lambda: (split,), costs.prior)


def split_by_class(trials: Trials, costs: CaseCosts) -> Split:
    """The cases by class, for what else is computed of them."""
    return Split.of(checked_cases(trials, costs), costs, costs.common())


def case_costs_of_parts(parts: Parts, prior: float) -> CaseCostEvaluation:
    """The evaluation of cases that come in parts, the same to the bit as that of all of them together.

    Four passes: sums; costs by bucket of margins; the cases of the few buckets in which the least cost may lie; the
    cost there. Held are one part, 2 x 16,384 sums, and the cases of these buckets (24 bytes each).
    """

    def splits() -> Iterable[Split]:
        for trials, costs in parts():
            own = checked_cases(trials, costs)
            if own.weights is not None:
                raise InputError("Costs per case of a scan take cases without weights: repeat rows, or read them.")
            if len(own):
                yield Split.of(own, costs)

    return _of_splits(splits, prior)


Parts = Callable[[], Iterable[tuple[Trials, CaseCosts]]]


@runtime_checkable
class HasCaseParts(Protocol):
    """Cases that are read in parts, such as a scan: `evaluate_case_costs` takes anything that has this."""

    def _case_parts(self, costs: CaseCostColumns) -> Parts:
        """The cases with their costs, as often as they are asked for."""


class _Totals(NamedTuple):
    """Exact sums of costs of one class: they add over parts of the cases, in any order."""

    size: int
    counted: int  # cases accepted
    actual: int
    accept: int
    reject: int
    own: int
    open: int  # all that can be accepted are
    price: int

    @classmethod
    def of(cls, side: Side) -> _Totals:
        accepted = side.margins > 0.0
        counted = accepted.sum() if side.weights is None else side.weights[accepted].sum()
        accept = side.total(side.accept)
        every = accept if side.open is True else side.paid(side.accepted_by_all())
        return cls(
            side.size, int(counted), side.paid(accepted), accept, side.total(side.reject), side.paid(side.blind),
            every, side.total_price(),
        )  # fmt: skip

    def plus(self, other: _Totals) -> _Totals:
        """The totals of both parts."""
        return _Totals(*(one + two for one, two in zip(self, other, strict=True)))


def _of_splits(splits: Splits, prior: float) -> CaseCostEvaluation:
    """The evaluation where costs differ: sums of costs in place of counts of errors."""
    totals = [_Totals(*[0] * 8)] * 2
    scale, unit = None, 0
    for split in splits():
        totals = [one.plus(_Totals.of(side)) for one, side in zip(totals, split.sides, strict=True)]
        scale, unit = scale or bucket_scale([side.margins for side in split.sides]), split.unit
    t, f = totals
    if scale is None or t.size == 0 or f.size == 0:
        called = "targets" if t.size == 0 else "non-targets"
        raise UndefinedError(f"This cost is undefined: there are no {called} among the trials.")

    def joined(name: str) -> float:
        means = (ratio(getattr(one, name), one.size, UNIT) for one in totals)
        return sum(share * mean for share, mean in zip((prior, 1.0 - prior), means, strict=True))

    constants = {"reject": joined("reject"), "accept": joined("accept")}
    action = min(constants, key=lambda name: constants[name])
    candidates = {0.0: joined("actual"), math.inf: constants["reject"], -math.inf: joined("open")}
    found = best_shift(splits, (prior / t.size, (1.0 - prior) / f.size), joined("price"), scale)
    if found is not None and found not in candidates:
        candidates[found] = _cost_at(splits, found, (t.size, f.size), prior)
    best = min(candidates.values())
    shift = min(at for at, cost in candidates.items() if cost == best)
    targets, nontargets, hits, alarms = (_weight(count, unit) for count in (t.size, f.size, t.counted, f.counted))
    return CaseCostEvaluation(
        candidates[0.0], best, shift, constants[action], action, joined("own"), targets, nontargets, hits, alarms
    )


def _cost_at(splits: Splits, shift: float, sizes: tuple[int, int], prior: float) -> float:
    """The cost of all thresholds shifted alike."""
    paid = [0, 0]
    for split in splits():
        for place, (side, mask) in enumerate(zip(split.sides, split.accepted(shift), strict=True)):
            paid[place] += side.paid(mask)
    means = [ratio(total, size, UNIT) for total, size in zip(paid, sizes, strict=True)]
    return prior * means[0] + (1.0 - prior) * means[1]


def _weight(count: int, unit: int) -> int | float:
    """A count of whole multiples of 2**unit in the caller's unit."""
    return count << unit if unit >= 0 else ratio(count, 1, -unit)


def _ordinary(trials: Trials, app: Application) -> CaseCostEvaluation:
    """The evaluation of equal costs, by the functions of the ordinary application."""
    curve = Curve.of(trials)
    tally, weight = curve.tally.as_llr(), curve.tally.weight
    misses, alarms = (int(count) for count in tally.at(app.threshold))
    cost = app.dcf_u(fnr=misses / curve.targets, fpr=alarms / curve.nontargets)
    found = curve.hull.minimum(np.array([app.log_odds]), np.array([app.factor]))
    _, at, fewest, least = (value.item() for value in found)
    shift = float(to_llr(np.array([at]), trials.meaning, trials.trained_prior)[0]) - app.threshold
    reject, accept = app.dcf_u(fnr=1.0, fpr=0.0), app.dcf_u(fnr=0.0, fpr=1.0)
    action, constant = ("reject", reject) if reject <= accept else ("accept", accept)
    return CaseCostEvaluation(
        cost, app.dcf_u(fnr=fewest / curve.targets, fpr=least / curve.nontargets),
        shift if not math.isnan(shift) else 0.0, constant, action, constant, weight(curve.targets),
        weight(curve.nontargets), weight(curve.targets - misses), weight(alarms),
    )  # fmt: skip


# --- Input ---


def checked_cases(trials: Trials, costs: CaseCosts) -> Trials:
    """The trials as one column of scores, if they are as many as their costs."""
    own = two_class(trials)
    if not isinstance(costs, CaseCosts):
        raise InputError(
            f"costs must be CaseCosts(prior, cost_fn=..., cost_fp=...), not {shown(type(costs).__name__)}."
        )
    costs._check_size(len(own))
    return own


def _costs(value: ArrayLike, name: str) -> Reals:
    """One cost, or one per case: finite and not negative."""
    if isinstance(value, str):
        raise InputError(
            f"{name} must be one number, or one per case, not {shown(value)}. Pass the column itself; CaseCostColumns "
            f"names the columns of a scan."
        )
    array = column(value, name)
    if array.ndim > 1:
        raise InputError(_ONE_COST.format(name, array.shape))
    if array.ndim == 0:
        return not_negative(value, name)
    costs = numbers(value, name)
    if len(costs) and not (costs.min() >= 0.0 and costs.max() < math.inf):
        bad = np.flatnonzero(~((costs >= 0.0) & (costs < math.inf)))
        raise InputError(
            f"{name} must be finite and not negative: {len(bad)} of {len(costs)} rows, the first in row {bad[0]} "
            f"(counting from 0) holds {costs[bad[0]]}. A gain is a cost that the other decision has."
        )
    return costs


__all__ = ["CaseCostColumns", "CaseCostEvaluation", "CaseCosts"]
