"""Costs that differ by case: decisions, what they cost in the user's currency, and what could be had at best."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tercet._numeric.exact import UNIT, as_integers, exact_dot, exact_sum, ratio
from tercet._numeric.parallel import over_parts
from tercet._numeric.validation import column, frozen, group_name, names, number, numbers, row_numbers, shown, whole
from tercet._typing import Array, Counts, Floats, Reals
from tercet.application import Application
from tercet.errors import InputError, UndefinedError
from tercet.metrics.binomial import clopper_pearson
from tercet.metrics.curves import Curve
from tercet.metrics.tally import two_columns
from tercet.trials import Trials, as_trials, logit, probability, to_llr

Flags = NDArray[np.bool_]
_Groups = tuple[Array, Array] | None  # the groups of the targets and of the non-targets
_GRID_BITS = 52  # of the sum of all costs on the grid that finds the best shift
_BUCKETS = 1 << 14
_BLOCK = 1 << 14  # rows at a time, so that they stay in the cache
_SAMPLE = 1 << 10  # margins per class that tell the range of the buckets
_ALL = slice(None)
_LARGEST = float(np.finfo(np.float64).max)
_ONE_COST = "{} must be one number, or one per case, not an array of shape {}."


@dataclass(frozen=True, slots=True, eq=False)
class CaseCosts:
    """An application whose costs differ by case: the amount at stake, the fee of a check.

    Case i is accepted if and only if llr_i > -logit(prior) - ln(C_fn,i - C_tp,i) + ln C_fp,i, and rejected where a hit
    costs no less than a miss. The rule is Bayes only if the llr already accounts for what the costs say about the
    class: where large amounts are more often fraud, the recogniser must have seen the amount.

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
        for name in ("cost_fn", "cost_fp", "cost_tp"):
            object.__setattr__(self, name, _costs(getattr(self, name), name))
        sizes = {len(one) for one in (self.cost_fn, self.cost_fp, self.cost_tp) if isinstance(one, np.ndarray)}
        if len(sizes) > 1:
            raise InputError(f"cost_fn, cost_fp and cost_tp must be as long as each other, not {sorted(sizes)}.")
        if not (np.any(self.cost_fn) or np.any(self.cost_fp)):
            raise InputError("cost_fn and cost_fp are all 0: then every decision is free and none is better.")

    @classmethod
    def _part(cls, prior: float, **costs: Reals) -> CaseCosts:
        """The costs of a part of the cases, which may all be 0 there."""
        made = object.__new__(cls)
        object.__setattr__(made, "prior", prior)
        for name, cost in costs.items():
            object.__setattr__(made, name, _costs(cost, name))
        return made

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
            for rows in _blocks(part):
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
        llr, same = _one_column(trials).llr, self.common()
        self._check_size(len(llr))
        return np.asarray(llr > (self.thresholds(len(llr)) if same is None else same.threshold))

    def common(self) -> Application | None:
        """The ordinary application that these costs are, where they are the same in every case and hits are free.

        Returns
        -------
        Application or None
            The application; None where costs differ or a hit costs something.

        Examples
        --------
        >>> CaseCosts(0.5, [2.0, 2.0], [1.0, 1.0]).common()
        Application(prior=0.5, cost_fn=2.0, cost_fp=1.0, name=None)
        """
        if np.any(self.cost_tp):
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

        return CaseCosts(self.prior, of(self.cost_fn), of(self.cost_fp), of(self.cost_tp))

    def _net_miss(self) -> Floats:
        return np.asarray(self.cost_fn) - self.cost_tp if np.any(self.cost_tp) else np.asarray(self.cost_fn)

    def _check_size(self, cases: int) -> None:
        for name in ("cost_fn", "cost_fp", "cost_tp"):
            cost = getattr(self, name)
            if isinstance(cost, np.ndarray) and len(cost) != cases:
                raise InputError(f"{name} has {len(cost)} entries for {cases} cases.")


@dataclass(frozen=True, slots=True)
class CaseCostEvaluation:
    """What decisions cost per case when costs differ by case, beside doing without scores and the best shift.

    All costs are means per case in the user's currency: prior x mean over targets + (1 - prior) x mean over
    non-targets.

    Attributes
    ----------
    cost : float
        Of the decisions llr > threshold of the case.
    min_cost : float
        The least over a common shift of all thresholds on these very trials (apparent), accepting or rejecting
        everything included.
    min_shift : float
        The llr to add to every threshold to reach it; inf rejects and -inf accepts everything.
    actual_minus_minimum : float
        What a common shift would save on these trials.
    constant_cost, constant_action : float and str
        The better of accepting and of rejecting every case.
    own_cost : float
        Of each case's best action by its own costs and the prior, without its score.
    dummy_cost : float
        The lower of the two costs without scores.
    savings : float
        dummy_cost - cost: what the scores save per case; negative where they do harm.
    relative_savings : float or None
        savings / dummy_cost; None where the dummy costs nothing.
    targets, nontargets, hits, false_alarms : int or float
        Cases, or their weights.
    cost_ci, savings_ci : tuple of float or None
        Interval of the cost, where `ci` was given, and of the savings against `dummy_cost` on the same cases.
    level, method : float, str or None
        Of the intervals.

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
    level: float | None = None
    method: str | None = None

    @property
    def actual_minus_minimum(self) -> float:
        """What a common shift of all thresholds would save on these very trials, per case."""
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
        """The cost of so many cases.

        Parameters
        ----------
        cases : float, default 1000
            How many cases.

        Returns
        -------
        float
            cost x cases.
        """
        count = number(cases, "cases")
        if not 0.0 < count < math.inf:
            raise InputError(f"cases must be a positive number, not {count}.")
        return self.cost * count

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
        if self.cost_ci is not None and self.savings_ci is not None:
            facts |= {"cost_ci": list(self.cost_ci), "savings_ci": list(self.savings_ci)}
            facts |= {"level": self.level, "method": self.method}
        return facts


def evaluate_case_costs(
    trials: Trials, costs: CaseCosts, *, ci: float | None = None, by: str | None = None
) -> CaseCostEvaluation:
    """What Bayes decisions cost when every case brings its own costs.

    risk = prior x mean over targets of (C_fn,i if missed, C_tp,i if hit)
    + (1 - prior) x mean over non-targets of (C_fp,i if accepted).

    Parameters
    ----------
    trials : Trials
        Labelled two-class trials that are not raw scores, in the order of the costs.
    costs : CaseCosts
        Prior and costs. Costs that are the same in every case give the bits of the ordinary application.
    ci : float, optional
        Level of the intervals, 0.95: Welch's for the two classes' mean costs. Where no target was missed, or no
        non-target accepted, the upper end makes room for what may hide behind none of n at the mean cost.
    by : str, optional
        A column of groups; then groups, not cases, are independent, and their sums vary.

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
    """
    own = _one_column(trials)
    if not isinstance(costs, CaseCosts):
        raise InputError(
            f"costs must be CaseCosts(prior, cost_fn=..., cost_fp=...), not {shown(type(costs).__name__)}."
        )
    costs._check_size(len(own))
    split = _Split.of(own, costs)
    same = costs.common()
    found = _differing(split) if same is None else _ordinary(own, same)
    return found if ci is None else _with_interval(found, split, probability(ci, "ci"), _group_codes(own, by))


def split_by_class(trials: Trials, costs: CaseCosts) -> _Split:
    """The cases by class, for what else is computed of them."""
    own = _one_column(trials)
    costs._check_size(len(own))
    return _Split.of(own, costs)


class _Side(NamedTuple):
    """One class's cases: how far the llr is above its threshold, costs of both decisions, weights as whole numbers."""

    margins: Floats  # llr - threshold: its sign is that of the comparison
    blind: Flags  # accepted without the score
    open: Flags | bool  # can be accepted at all
    accept: Floats | float
    reject: Floats | float
    weights: Counts | None
    size: int

    @classmethod
    def of(cls, columns: list[Any]) -> _Side:
        """The cases of these columns, in the order of the fields."""
        margins, blind, can, accept, reject, weights = columns
        size = len(margins) if weights is None else int(weights.sum())
        return cls(margins, blind, can, accept, reject, weights, size)

    def mean(self, accepted: Flags) -> float:
        """The mean cost of decisions, exact but for one rounding."""
        total = self._sum(self.accept, accepted) + self._sum(self.reject, ~accepted)
        return ratio(total, self.size, UNIT)

    def _sum(self, costs: Floats | float, rows: Flags | slice) -> int:
        """The exact sum of a cost over some cases."""
        if isinstance(costs, float):
            if costs == 0.0:
                return 0
            some = self.size if isinstance(rows, slice) else int(rows.sum())
            count = some if self.weights is None else int(self.weights[rows].sum())
            return count * exact_sum(np.array([costs]))
        places = rows if isinstance(rows, slice) else np.flatnonzero(rows)
        return exact_sum(costs[places]) if self.weights is None else exact_dot(costs[places], self.weights[places])

    def constant(self, accept: bool) -> float:
        """The mean cost of one decision for all."""
        return ratio(self._sum(self.accept if accept else self.reject, slice(None)), self.size, UNIT)

    def prices(self, rows: slice = _ALL) -> Floats:
        """What an error costs more than the right decision, times the weight; nothing where no decision is open."""
        accept, reject = (one[rows] if isinstance(one, np.ndarray) else one for one in (self.accept, self.reject))
        free = isinstance(reject, float) and reject == 0.0
        price = np.broadcast_to(accept if free else np.abs(np.asarray(reject) - accept), self.margins[rows].shape)
        if self.open is not True:
            price = np.where(self.open[rows] if isinstance(self.open, np.ndarray) else self.open, price, 0.0)
        return np.asarray(price if self.weights is None else price * self.weights[rows].astype(np.float64))


class _Split(NamedTuple):
    """Cases by class, and the prior that joins the classes' means."""

    targets: _Side
    nontargets: _Side
    prior: float
    unit: int

    @classmethod
    def of(cls, trials: Trials, costs: CaseCosts, *, part: bool = False) -> _Split:
        """The cases by class; `part` of more cases may lack a class, and its costs differ from those of others."""
        labels, llr = trials.known_labels().astype(np.bool_, copy=False), trials.llr
        weights, unit = _row_weights(trials)
        same = None if part else costs.common()
        limits = costs._limits() if same is None else lambda rows: np.float64(same.threshold)
        all_open = same is not None or bool(np.all(costs._net_miss() > 0.0))

        def own(values: object, rows: slice) -> Any:
            return values[rows] if isinstance(values, np.ndarray) else values

        def columns(rows: slice) -> list[list[Any]]:
            limit = np.broadcast_to(limits(rows), llr[rows].shape)
            judged = [_margins(llr[rows], limit), limit < 0.0, all_open or limit < math.inf]
            accept_reject = ((costs.cost_tp, costs.cost_fn), (costs.cost_fp, 0.0))
            return [[*judged, *(own(values, rows) for values in (*pair, weights))] for pair in accept_reject]

        sides = [_Side.of(one) for one in _parted(labels, columns)]
        for one, called in zip(sides, ("targets", "non-targets"), strict=True):
            if one.size == 0 and not part:
                raise UndefinedError(f"This cost is undefined: there are no {called} among the trials.")
        return cls(sides[0], sides[1], costs.prior, unit)

    @property
    def sides(self) -> tuple[_Side, _Side]:
        """Targets and non-targets."""
        return self.targets, self.nontargets

    def cost(self, target: Flags, nontarget: Flags) -> float:
        """The mean cost per case of decisions on both classes."""
        return self.joined(self.targets.mean(target), self.nontargets.mean(nontarget))

    def joined(self, target: float, nontarget: float) -> float:
        """prior x the targets' mean + (1 - prior) x the non-targets'."""
        return self.prior * target + (1.0 - self.prior) * nontarget

    def constant(self, accept: bool) -> float:
        """The mean cost per case of one decision for all."""
        return self.joined(self.targets.constant(accept), self.nontargets.constant(accept))

    def accepted(self, shift: float = 0.0) -> tuple[Flags, Flags]:
        """Decisions when every threshold is shifted; -inf accepts all that can be accepted."""
        if shift == -math.inf:
            return tuple(np.broadcast_to(one.open, one.margins.shape) for one in self.sides)  # type: ignore[return-value]
        return self.targets.margins > shift, self.nontargets.margins > shift


def _margins(llr: Floats, limits: Floats) -> Floats:
    """llr - threshold; a case that is always rejected, or where both are infinite alike, has none: -inf."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = llr - limits
    lost = np.isnan(found)
    if lost.any():
        found[lost] = -math.inf
    return found


def _blocks(part: slice, size: int = _BLOCK) -> Iterator[slice]:
    """So few rows at a time that what is computed from them stays in the cache."""
    for first in range(part.start, part.stop, size):
        yield slice(first, min(first + size, part.stop))


def _parted(labels: Flags, columns: Callable[[slice], list[list[Any]]]) -> list[list[Any]]:
    """The columns of targets and of non-targets, made from blocks of rows; what is not an array stays as it is."""
    count = int(labels.sum())
    made = [
        [np.empty(size, one.dtype) if isinstance(one, np.ndarray) else one for one in of]
        for size, of in zip((count, len(labels) - count), columns(slice(0, 0)), strict=True)
    ]

    def fill(part: slice) -> None:
        before = int(labels[: part.start].sum())
        ends = [before, part.start - before]
        for rows in _blocks(part):
            mask = labels[rows]
            for place, (chosen, of) in enumerate(zip((mask, ~mask), columns(rows), strict=True)):
                found = np.flatnonzero(chosen)
                into = slice(ends[place], ends[place] + len(found))
                for room, values in zip(made[place], of, strict=True):
                    if isinstance(room, np.ndarray):
                        room[into] = values[found]
                ends[place] = into.stop

    over_parts(fill, len(labels))
    return made


def _row_weights(trials: Trials) -> tuple[Counts | None, int]:
    """Weights as whole multiples of 2**unit, rows of weight 0 included."""
    if trials.weights is None:
        return None, 0
    kept = trials.weights > 0.0
    integers, unit = as_integers(trials.weights[kept])
    rows: Counts = np.zeros(len(kept), integers.dtype)
    rows[kept] = integers
    return rows, unit


def _differing(split: _Split) -> CaseCostEvaluation:
    """The evaluation where costs differ: sums of costs in place of counts of errors."""
    target, nontarget = split.accepted()
    actual = split.cost(target, nontarget)
    constants = {"reject": split.constant(False), "accept": split.constant(True)}
    action = min(constants, key=lambda name: constants[name])
    own = split.cost(split.targets.blind, split.nontargets.blind)
    least, shift = _least(split, {0.0: actual, math.inf: constants["reject"]}, constants["accept"])
    counted = [_weight(split.targets, split.unit, target), _weight(split.nontargets, split.unit, nontarget)]
    sizes = [_weight(side, split.unit, None) for side in split.sides]
    return CaseCostEvaluation(
        actual, least, shift, constants[action], action, own, sizes[0], sizes[1], counted[0], counted[1]
    )


def _least(split: _Split, candidates: dict[float, float], accept_all: float) -> tuple[float, float]:
    """The least cost over a common shift and the shift: found on a grid of whole costs, priced exactly."""
    all_open = all(side.open is True for side in split.sides)
    candidates[-math.inf] = accept_all if all_open else split.cost(*split.accepted(-math.inf))
    found = _best_shift(split)
    if found is not None and found not in candidates:
        candidates[found] = split.cost(*split.accepted(found))
    best = min(candidates.values())
    return best, min(shift for shift, cost in candidates.items() if cost == best)


def _best_shift(split: _Split) -> float | None:
    """The shift of least cost: errors weigh what they cost, as whole numbers whose every sum is an exact double.

    Cases are counted into buckets of margins first. Within a bucket the cost cannot fall by more than its non-targets
    cost, which leaves few buckets whose cases must be looked at one by one.
    """
    shares = (split.prior / split.targets.size, (1.0 - split.prior) / split.nontargets.size)
    grid = _grid_scale(math.fsum(_price_sum(*own) for own in zip(split.sides, shares, strict=True)))
    if grid is None:
        return None
    scale = _bucket_scale([side.margins for side in split.sides])
    binned = [_Binned(side, share * grid, *scale) for side, share in zip(split.sides, shares, strict=True)]
    kept, before = _worth_looking(*(one.sums() for one in binned))
    found = [one.rows(kept, sign) for sign, one in zip((1.0, -1.0), binned, strict=True)]
    margins, moves, places = (np.concatenate(columns) for columns in zip(*found, strict=True))
    return _first_least(margins, moves, places, before)


def _worth_looking(miss: Floats, alarm: Floats) -> tuple[Flags, Floats]:
    """The buckets in which the least cost may lie, and what rejecting all before each costs more than accepting all."""
    after = np.cumsum(miss - alarm)
    before = after - (miss - alarm)
    return before - alarm <= after.min(initial=0.0), before


def _price_sum(side: _Side, share: float) -> float:
    """What all errors of a class would cost, as a share of the cost per case."""
    return math.fsum(float((side.prices(rows) * share).sum()) for rows in _blocks(slice(0, len(side.margins))))


class _Binned(NamedTuple):
    """One class's cases by bucket of margins; errors weigh what they cost on a grid of whole numbers."""

    side: _Side
    factor: float
    low: float
    rise: float

    def whole(self, rows: slice) -> Floats:
        """What errors cost, on a grid so fine that all of them together are an exact double."""
        return np.rint(self.side.prices(rows) * self.factor)

    def sums(self) -> Floats:
        """What errors cost in each bucket."""

        def of(part: slice) -> Floats:
            total = np.zeros(_BUCKETS)
            for rows in _blocks(part, 4 * _BLOCK):
                places = _bucketed(self.side.margins[rows], self.low, self.rise)
                total += np.bincount(places, self.whole(rows), _BUCKETS)
            return total

        return np.asarray(np.sum(over_parts(of, len(self.side.margins)), axis=0))

    def rows(self, kept: Flags, sign: float) -> tuple[Floats, Floats, NDArray[np.intp]]:
        """Margins, signed costs and buckets of the cases in the buckets kept."""

        def of(part: slice) -> list[tuple[Floats, Floats, NDArray[np.intp]]]:
            found = []
            for rows in _blocks(part):
                places = _bucketed(self.side.margins[rows], self.low, self.rise)
                mine = np.flatnonzero(kept[places])
                if len(mine):
                    found.append((self.side.margins[rows][mine], sign * self.whole(rows)[mine], places[mine]))
            return found

        parts = [(np.empty(0), np.empty(0), np.empty(0, np.intp))]
        for own in over_parts(of, len(self.side.margins)):
            parts += own
        margins, moves, places = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        return margins, moves, places


def _grid_scale(total: float) -> float | None:
    """The factor that makes costs of this sum whole numbers of 52 bits together; None where all are free."""
    return math.ldexp(1.0, min(_GRID_BITS - math.frexp(total)[1], 1000)) if 0.0 < total < math.inf else None


def _bucket_scale(margins: list[Floats]) -> tuple[float, float]:
    """Where the buckets begin, and how many there are per unit of margin, from a sample."""
    sample = np.sort(np.concatenate([one[:: len(one) // _SAMPLE + 1] for one in margins]))
    sample = sample[np.isfinite(sample)]
    low, high = (float(sample[place]) for place in (0, -1)) if len(sample) else (0.0, 0.0)
    rise = (_BUCKETS - 1) / (high - low) if high > low else 1.0
    return low, rise if math.isfinite(rise) else 1.0


def _bucketed(values: Floats, low: float, rise: float) -> NDArray[np.intp]:
    """A number from 0 to _BUCKETS - 1 for each margin, never falling as the margin rises."""
    with np.errstate(over="ignore"):
        scaled = values - low
        scaled *= rise
    return np.clip(scaled, 0.0, _BUCKETS - 1.0, out=scaled).astype(np.intp)


def _first_least(margins: Floats, moves: Floats, places: NDArray[np.intp], before: Floats) -> float:
    """The lowest margin after which the cost is least; -inf where accepting everything costs no more."""
    order = np.argsort(margins)
    margins, moves, places = margins[order], moves[order], places[order]
    running = np.cumsum(moves)
    first = np.searchsorted(places, places)  # where each row's bucket begins
    cost = running + (before[places] - (running - moves)[first])
    ends = np.append(margins[1:] != margins[:-1], True)
    cost, margins = cost[ends], margins[ends]
    place = int(cost.argmin()) if len(cost) else 0
    if len(cost) == 0 or not cost[place] < 0.0:
        return -math.inf
    return float(margins[place]) if margins[place] > -math.inf else -_LARGEST


def _weight(side: _Side, unit: int, mask: Flags | None) -> int | float:
    """How many cases, or their weight, in the caller's unit."""
    if side.weights is None:
        return len(side.margins) if mask is None else int(mask.sum())
    count = int(side.weights.sum() if mask is None else side.weights[mask].sum())
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


# --- In parts ---

Parts = Callable[[], Iterable[tuple[Trials, CaseCosts]]]


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
    def of(cls, side: _Side) -> _Totals:
        accepted = side.margins > 0.0

        def paid(rows: Flags) -> int:
            return side._sum(side.accept, rows) + side._sum(side.reject, ~rows)

        every = np.broadcast_to(side.open, side.margins.shape)
        return cls(
            side.size, int(accepted.sum()), paid(accepted), side._sum(side.accept, slice(None)),
            side._sum(side.reject, slice(None)), paid(side.blind), paid(every), side._sum(side.prices(), slice(None)),
        )  # fmt: skip

    def plus(self, other: _Totals) -> _Totals:
        """The totals of both parts."""
        return _Totals(
            self.size + other.size, self.counted + other.counted, self.actual + other.actual,
            self.accept + other.accept, self.reject + other.reject, self.own + other.own, self.open + other.open,
            self.price + other.price,
        )  # fmt: skip


def case_costs_of_parts(parts: Parts, prior: float) -> CaseCostEvaluation:
    """The evaluation of cases that come in parts, the same to the bit as that of all of them together.

    Four passes: sums; costs by bucket of margins; the cases of the few buckets in which the least cost may lie; the
    cost there. Held are one part, 2 x 16,384 sums, and the cases of these buckets (24 bytes each).
    """
    totals: list[_Totals] | None = None
    scale: tuple[float, float] | None = None
    for split in _splits(parts):
        own = [_Totals.of(side) for side in split.sides]
        totals = own if totals is None else [one.plus(two) for one, two in zip(totals, own, strict=True)]
        scale = _bucket_scale([side.margins for side in split.sides]) if scale is None else scale
    if totals is None or scale is None or min(one.size for one in totals) == 0:
        called = "targets" if totals is None or totals[0].size == 0 else "non-targets"
        raise UndefinedError(f"This cost is undefined: there are no {called} among the trials.")
    t, f = totals

    def joined(name: str) -> float:
        means = (ratio(getattr(one, name), one.size, UNIT) for one in totals)
        return sum(share * mean for share, mean in zip((prior, 1.0 - prior), means, strict=True))

    constants = {"reject": joined("reject"), "accept": joined("accept")}
    action = min(constants, key=lambda name: constants[name])
    candidates = {0.0: joined("actual"), math.inf: constants["reject"], -math.inf: joined("open")}
    found = _best_shift_of_parts(parts, totals, prior, scale)
    if found is not None and found not in candidates:
        candidates[found] = _cost_at(parts, found, (t.size, f.size), prior)
    best = min(candidates.values())
    shift = min(at for at, cost in candidates.items() if cost == best)
    return CaseCostEvaluation(
        candidates[0.0], best, shift, constants[action], action, joined("own"), t.size, f.size, t.counted, f.counted
    )


def _splits(parts: Parts) -> Iterator[_Split]:
    for trials, costs in parts():
        own = _one_column(trials)
        if own.weights is not None:
            raise InputError("Costs per case of a scan take cases without weights: repeat rows, or read them.")
        costs._check_size(len(own))
        if len(own):
            yield _Split.of(own, costs, part=True)


def _best_shift_of_parts(parts: Parts, totals: list[_Totals], prior: float, scale: tuple[float, float]) -> float | None:
    """The shift of least cost, as `_best_shift` finds it, from sums by bucket and the cases of the buckets left."""
    shares = (prior / totals[0].size, (1.0 - prior) / totals[1].size)
    means = [ratio(one.price, one.size, UNIT) for one in totals]
    grid = _grid_scale(math.fsum(share * mean for share, mean in zip((prior, 1.0 - prior), means, strict=True)))
    if grid is None:
        return None

    def binned(split: _Split) -> list[_Binned]:
        return [_Binned(side, share * grid, *scale) for side, share in zip(split.sides, shares, strict=True)]

    sums = np.zeros((2, _BUCKETS))
    for split in _splits(parts):
        sums += [one.sums() for one in binned(split)]
    kept, before = _worth_looking(*sums)
    found = [
        one.rows(kept, sign) for split in _splits(parts) for sign, one in zip((1.0, -1.0), binned(split), strict=True)
    ]
    margins, moves, places = (np.concatenate(columns) for columns in zip(*found, strict=True))
    return _first_least(margins, moves, places, before)


def _cost_at(parts: Parts, shift: float, sizes: tuple[int, int], prior: float) -> float:
    """The cost of all thresholds shifted alike."""
    paid = [0, 0]
    for split in _splits(parts):
        for place, (side, mask) in enumerate(zip(split.sides, split.accepted(shift), strict=True)):
            paid[place] += side._sum(side.accept, mask) + side._sum(side.reject, ~mask)
    means = [ratio(total, size, UNIT) for total, size in zip(paid, sizes, strict=True)]
    return prior * means[0] + (1.0 - prior) * means[1]


# --- Intervals ---


class Payments(NamedTuple):
    """What each case costs, by class, and what the interval of their mean needs.

    Attributes
    ----------
    paid : tuple of ndarray
        What each target and each non-target costs; of a difference, one system minus the other.
    split : object
        Weights and prior of the cases.
    groups : object
        The groups whose sums vary together, or None.
    """

    paid: tuple[Floats, Floats]
    split: _Split
    groups: _Groups

    def minus(self, other: Payments) -> Payments:
        """The same cases decided otherwise: what each of them costs more."""
        first, second = (one - two for one, two in zip(self.paid, other.paid, strict=True))
        return self._replace(paid=(first, second))

    def mean(self) -> tuple[float, float, float]:
        """The mean cost per case, its standard error and the degrees of freedom of Student's t."""
        return _moments(self.split, list(self.paid), self.groups)


def payments(trials: Trials, costs: CaseCosts, by: str | None = None) -> Payments:
    """What the decisions on each case cost; for paired differences on the same cases."""
    own = _one_column(trials)
    costs._check_size(len(own))
    split = _Split.of(own, costs)
    if split.unit < 0:
        raise InputError("An interval needs whole weights: fractional ones follow no sampling law.")
    first, second = _paid(split, split.accepted())
    return Payments((first, second), split, _group_codes(own, by))


def _with_interval(found: CaseCostEvaluation, split: _Split, level: float, groups: _Groups) -> CaseCostEvaluation:
    if split.unit < 0:
        raise InputError("An interval needs whole weights: fractional ones follow no sampling law.")
    accepted = split.accepted()
    paid, blind = _paid(split, accepted), _paid(split, _blind(found, split))
    low, high = _welch(split, paid, level, groups)
    room = _hidden(split, accepted, level)
    saved = [without - with_ for without, with_ in zip(blind, paid, strict=True)]
    least, most = _welch(split, saved, level, groups)
    method = "welch" if groups is None else "welch over groups"
    if room > 0.0:
        method += ", with room for errors that may hide behind none (clopper-pearson x mean cost)"
    return replace(
        found, cost_ci=(max(low, 0.0), high + room), savings_ci=(least - room, most), level=level, method=method
    )


def _paid(split: _Split, accepted: tuple[Flags, Flags]) -> list[Floats]:
    """What each case costs, by class."""
    return [np.where(mask, side.accept, side.reject) for side, mask in zip(split.sides, accepted, strict=True)]


def _blind(found: CaseCostEvaluation, split: _Split) -> tuple[Flags, Flags]:
    """Decisions of the better dummy on both classes."""
    if found.own_cost < found.constant_cost:
        return split.targets.blind, split.nontargets.blind
    accept = found.constant_action == "accept"
    return tuple(np.full(len(side.margins), accept) for side in split.sides)  # type: ignore[return-value]


def _hidden(split: _Split, accepted: tuple[Flags, Flags], level: float) -> float:
    """What errors of a class that had none may cost: the upper bound of their rate at their mean cost."""
    room = 0.0
    errors = (~accepted[0], accepted[1])
    for side, wrong, share in zip(split.sides, errors, (split.prior, 1.0 - split.prior), strict=True):
        if not wrong.any() and len(wrong):
            price = float(np.mean(np.maximum(np.abs(np.asarray(side.reject) - side.accept), 0.0)))
            room += share * price * clopper_pearson(0, len(wrong), level).high
    return room


def _welch(split: _Split, values: list[Floats], level: float, groups: _Groups) -> tuple[float, float]:
    """Welch's interval of prior x mean over targets + (1 - prior) x mean over non-targets, or that over groups."""
    from scipy.special import stdtrit

    mean, error, freedom = _moments(split, values, groups)
    half = float(stdtrit(freedom, (1.0 + level) / 2.0)) * error if error > 0.0 else 0.0
    return mean - half, mean + half


def _moments(split: _Split, values: list[Floats], groups: _Groups) -> tuple[float, float, float]:
    """The mean per case, its standard error and Welch's degrees of freedom."""
    shares = (split.prior, 1.0 - split.prior)
    spread, mean = [], 0.0
    for place, (own, share, side) in enumerate(zip(values, shares, split.sides, strict=True)):
        heavy = np.ones(len(own)) if side.weights is None else side.weights.astype(np.float64)
        centre = float(np.average(own, weights=heavy))
        mean += share * centre
        spread.append((share * heavy * (own - centre) / heavy.sum(), None if groups is None else groups[place]))
    if groups is None:
        parts = [_variance(moves, codes) for moves, codes in spread]
    else:
        moves, codes = (np.concatenate([one[k] for one in spread]) for k in (0, 1))
        parts = [_variance(moves, codes)]
    variance = math.fsum(part for part, _ in parts)
    if variance == 0.0:
        return mean, 0.0, math.inf
    freedom = variance**2 / math.fsum(part**2 / (count - 1) for part, count in parts if part > 0.0)
    return mean, math.sqrt(variance), freedom


def _variance(moves: Floats, codes: Array | None) -> tuple[float, int]:
    """The variance of a sum of independent rows (or groups of rows), and their number."""
    if codes is not None:
        moves = np.asarray(np.bincount(np.unique(codes, return_inverse=True)[1], moves), np.float64)
    count = len(moves)
    if count < 2:
        raise UndefinedError("An interval needs at least two cases (or groups) of each class.")
    return float((moves**2).sum()) * count / (count - 1), count


def _group_codes(trials: Trials, by: str | None) -> _Groups:
    """The groups of the targets and of the non-targets, as numbers."""
    if by is None:
        return None
    by = group_name(by, trials.groups, "by")
    codes = np.unique(names(trials.groups[by], "by"), return_inverse=True)[1]
    labels = trials.known_labels().astype(np.bool_)
    return codes[labels], codes[~labels]


# --- Input ---


def _one_column(trials: Trials) -> Trials:
    own = as_trials(trials)
    return two_columns(own) if own.is_matrix else own


def _costs(value: ArrayLike, name: str) -> Reals:
    """One cost, or one per case: finite and not negative."""
    array = column(value, name)
    if array.ndim > 1:
        raise InputError(_ONE_COST.format(name, array.shape))
    if array.ndim == 0:
        cost = number(value, name)
        if not 0.0 <= cost < math.inf:
            raise InputError(f"{name} must be finite and not negative, not {cost}.")
        return cost
    costs = numbers(value, name)
    if len(costs) and not (costs.min() >= 0.0 and costs.max() < math.inf):
        bad = np.flatnonzero(~((costs >= 0.0) & (costs < math.inf)))
        raise InputError(
            f"{name} must be finite and not negative: {len(bad)} of {len(costs)} rows, the first in row {bad[0]} "
            f"(counting from 0) holds {costs[bad[0]]}. A gain is a cost that the other decision has."
        )
    return costs


__all__ = ["CaseCostEvaluation", "CaseCosts", "evaluate_case_costs"]
