"""Two classes: every number of an Evaluation from the weights of the sorted rows, without sorting again.

The rows are ranked once. A resample gives each row a weight; running totals of the weights are all counts at all
thresholds, and the thresholds' places never change.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tercet._numeric.exact import running_total
from tercet._typing import Array, Counts, EerDefinition, Floats, Reals
from tercet.application import Application, normalised_dcf
from tercet.metrics.costs import softplus
from tercet.metrics.curves import Curve, convex_vertices
from tercet.metrics.tally import Ranked, Tally
from tercet.trials import Trials, to_llr
from tercet.uncertainty._kernel.drawn_runs import Drawn, RunCounts, Spots
from tercet.uncertainty._kernel.score_steps import GROUP, Places, Steps, Totals

_BESIDE_EER = 4  # corners of the hull that are tried first, two on either side of the EER
_SMALLEST = 1e-290  # relative weight of the cheaper error; products with counts stay above the denormals


class Plan(NamedTuple):
    """What is asked: applications, a grid of log-odds, ranks; for bands false-alarm rates and inner llr edges."""

    applications: tuple[Application, ...]
    grid: Floats
    wants: frozenset[str]
    eer: EerDefinition = "rocch"
    fpr: Floats = np.empty(0)
    bins: Floats = np.empty(0)

    @property
    def log_odds(self) -> Floats:
        """Every tau: the applications' first."""
        return np.concatenate((np.array([app.log_odds for app in self.applications]), self.grid))


@dataclass(frozen=True, slots=True, eq=False)
class TwoClass:
    """A two-class system, ranked once; `statistics` answers for any weights of its rows."""

    plan: Plan
    taus: Floats
    orders: tuple[Places | None, Places | None]  # from the order in which weights come to ascending scores
    scores: tuple[Floats, Floats]  # of non-targets and targets, ascending
    steps: Steps
    places: tuple[Places, Places]  # rows at or below each actual threshold and each edge of a bin; raw scores have none
    spots: tuple[Spots, Spots]  # the places, among the runs
    costs: tuple[Floats, Floats] | None  # what each row adds to the mean cost of its class, for Cllr
    factors: tuple[Floats, Floats]  # of misses and false alarms: minima at each tau, then some around the EER

    @classmethod
    def of(cls, trials: Trials, rows: Sequence[Places], plan: Plan, ranked: bool = False) -> TwoClass:
        """Ranks the rows of (non-targets, targets); `ranked` says that they come in ascending order."""
        orders: list[Places | None] = [None, None]
        if not ranked:
            orders = [np.argsort(trials.scores[places], kind="stable") for places in rows]
        scores = [
            trials.scores[places if order is None else places[order]]
            for places, order in zip(rows, orders, strict=True)
        ]
        return cls.ranked((scores[0], scores[1]), (orders[0], orders[1]), trials.meaning, trials.trained_prior, plan)

    @classmethod
    def ranked(
        cls,
        scores: tuple[Floats, Floats],
        orders: tuple[Array | None, Array | None],
        meaning: str,
        trained_prior: float | tuple[float, ...] | None,
        plan: Plan,
    ) -> TwoClass:
        """A system from the ascending scores of (non-targets, targets)."""
        steps, taus, costs = Steps.of(*scores), plan.log_odds, None
        places = [np.empty(0, np.intp)] * 2
        if meaning != "raw":
            llr = [np.maximum.accumulate(to_llr(side, meaning, trained_prior)) for side in scores]
            places = [_places(side, 0.0 - taus, plan.bins) for side in llr]
            costs = _costs(llr[0], 0.0 - llr[1]) if "cllr" in plan.wants else None
        spots = [Spots.of(rows, bounds) for rows, bounds in zip(places, steps.bounds, strict=True)]
        factors = _factors(plan, steps)
        return cls(plan, taus, orders, scores, steps, (places[0], places[1]), (spots[0], spots[1]), costs, factors)

    @property
    def has_llr(self) -> bool:
        """Whether there are actual thresholds; raw scores have none."""
        return len(self.places[0]) > 0

    def statistics(self, weights: Sequence[Counts | RunCounts]) -> dict[str, Reals]:
        """The numbers of one resample, given the weights of its (non-targets, targets), by rows or by runs."""
        return self.several([weights])[0]

    def several(self, resamples: Sequence[Sequence[Counts | RunCounts]]) -> list[dict[str, Reals]]:
        """The numbers of several resamples: in short steps numpy takes hardly longer for all than for one."""
        nontargets, targets = (self._counted(side, [weights[side] for weights in resamples]) for side in (0, 1))
        curves = [Corners(n, t) for (n, _), (t, _) in zip(nontargets, targets, strict=True)]
        at = [(n, t) for (_, n), (_, t) in zip(nontargets, targets, strict=True)]
        return list(map(self._numbers, resamples, curves, at, self._minima(curves)))

    def _minima(self, curves: Sequence[Corners]) -> Sequence[Places]:
        """The step of each minimum in each resample."""
        if len(self.factors[0]) == 0:
            return [np.empty(0, np.intp)] * len(curves)
        miss = self.factors[0] / np.array([[curve.t.whole] for curve in curves], np.float64)
        alarm = self.factors[1] / np.array([[curve.n.whole] for curve in curves], np.float64)
        return list(lowest(curves, miss, alarm))

    def _numbers(
        self, weights: Sequence[Counts | RunCounts], corners: Corners, at: tuple[Counts, Counts], minima: Places
    ) -> dict[str, Reals]:
        """The numbers of one resample, given its corners, its counts at the places and the steps of its minima."""
        plan, wants, count = self.plan, self.plan.wants, len(self.taus)
        (n, t), (n_at, t_at) = corners, at
        found: dict[str, Reals] = {}
        if self.has_llr:
            found["actual"] = np.array([t_at[:count] / t.whole, (n.whole - n_at[:count]) / n.whole])
        if "min_cllr" in wants:
            found["min_cllr"] = corners.min_cllr()
        if "minimum" in wants:
            found["least"] = np.array(corners.rates(minima[:count]))
        if "eer" in wants:
            beside = minima[-_BESIDE_EER:].tolist()
            found["eer"] = corners.eer(beside) if plan.eer == "rocch" else self._other_eer(weights)
        if "auc" in wants:
            found["auc"] = corners.auc(self.steps.tied)
        if self.costs is not None:
            found["cllr"] = self._cllr(weights, (n.whole, t.whole))
        if len(plan.fpr):
            found["roc.fnr"] = corners.miss_rates(plan.fpr)
        if len(plan.bins) and self.has_llr:
            found["bins.targets"] = np.diff(t_at[count:]) / t.whole
            found["bins.nontargets"] = np.diff(n_at[count:]) / n.whole
        return found

    def _counted(self, side: int, resamples: Sequence[Counts | RunCounts]) -> list[tuple[Totals, Counts]]:
        """The totals of one class along the steps, and at its places, in each resample."""
        drawn = [one for one in resamples if isinstance(one, Drawn)]
        if len(drawn) == len(resamples):
            return list(zip([one.totals for one in drawn], Drawn.all_at(drawn, self.spots[side]), strict=True))
        return [self._counted_alone(side, one) for one in resamples]

    def _counted_alone(self, side: int, weights: Counts | RunCounts) -> tuple[Totals, Counts]:
        if isinstance(weights, RunCounts):
            return weights.totals, weights.at(self.spots[side])
        running = _running(self._by_row(side, weights))
        return Totals.between(running.take(self.steps.bounds[side])), running.take(self.places[side])

    def _by_row(self, side: int, weights: Counts | RunCounts) -> Counts:
        """The weights of one class row by row, ascending in score."""
        if isinstance(weights, RunCounts):
            return weights.rows()
        order = self.orders[side]
        return np.asarray(weights if order is None else weights[order])

    def named(self, stacked: dict[str, Floats]) -> dict[str, Floats]:
        """The numbers of many resamples under the names of the Evaluation."""
        found = dict(stacked)
        actual, least = (found.pop(name, None) for name in ("actual", "least"))
        return found | _priced(self.plan, actual, least)

    def _cllr(self, weights: Sequence[Counts | RunCounts], totals: tuple[int, int]) -> float:
        means = list[float]()
        for side, (own, cost, total) in enumerate(zip(weights, self.costs or (), totals, strict=True)):
            if isinstance(own, RunCounts):
                means.append(own.sum(cost) * float(len(cost) / total))
                continue
            share = self._by_row(side, own) / (total / len(cost))
            used = share > 0.0
            means.append(float((share * cost if used.all() else share[used] * cost[used]).sum()))
        return (0.5 * means[0] + 0.5 * means[1]) / math.log(2.0)

    def _other_eer(self, weights: Sequence[Counts | RunCounts]) -> float:
        """An EER of another definition, by the curve of the weighted rows."""
        sides = [_weighted(self.scores[side], self._by_row(side, own)) for side, own in enumerate(weights)]
        return Curve.of(Tally(sides[1], sides[0], "raw")).eer(self.plan.eer).value


def _places(side: Floats, thresholds: Floats, inner: Floats) -> Places:
    """The rows at or below each threshold, then at or below each edge of bins, if any, that take in everything."""
    below, edges = (np.searchsorted(side, values, "right") for values in (thresholds, inner))
    if len(inner):
        edges = np.concatenate(([0], edges, [len(side)]))
    return np.concatenate((below, edges))


def _factors(plan: Plan, steps: Steps) -> tuple[Floats, Floats]:
    """The costs of misses and false alarms for every minimum to be found."""
    taus = plan.log_odds if "minimum" in plan.wants else np.empty(0)
    miss = np.maximum(np.exp(np.minimum(taus, 0.0)), _SMALLEST)
    alarm = np.maximum(np.exp(-np.maximum(taus, 0.0)), _SMALLEST)
    if "eer" in plan.wants and plan.eer == "rocch":
        share = min(max(Corners(*map(Totals.between, steps.bounds)).level(), _SMALLEST), 1.0 - 1e-9)
        aside = 1.0 + 10.0 / math.cbrt(min(bounds[-1] for bounds in steps.bounds))  # slopes of hulls vary so much
        near = math.sqrt(math.sqrt(aside))
        miss = np.concatenate((miss, share * np.array([aside, near, 1.0 / near, 1.0 / aside])))
        alarm = np.concatenate((alarm, [1.0 - share] * _BESIDE_EER))
    return miss, alarm


def _priced(plan: Plan, actual: Floats | None, least: Floats | None) -> dict[str, Floats]:
    """Costs at every application and along the grid, from [resample, (FNR, FPR), operating point]."""
    found: dict[str, Floats] = {}
    rates = {name: own for name, own in (("dcf", actual), ("min_dcf", least)) if own is not None}
    costs = {name: normalised_dcf(plan.log_odds, own[:, 0], own[:, 1]) for name, own in rates.items()}
    both = {} if actual is None else {"fnr": actual[:, 0], "fpr": actual[:, 1]}
    for k, app in enumerate(plan.applications):
        prices = app.prior * app.cost_fn, (1.0 - app.prior) * app.cost_fp
        here = {name: own[:, k] for name, own in both.items()}
        here |= {f"{name}_u": prices[0] * own[:, 0, k] + prices[1] * own[:, 1, k] for name, own in rates.items()}
        if not app.dummy_is_free:
            here |= {name: cost[:, k] for name, cost in costs.items()}
            if len(costs) == 2:
                here["actual_minus_min"] = np.maximum(costs["dcf"][:, k] - costs["min_dcf"][:, k], 0.0)
        found |= {f"applications.{k}.{name}": column for name, column in here.items()}
    if len(plan.grid):
        count = len(plan.applications)
        found |= {f"bayes_plot.{name}": columns[:, count:] for name, columns in (costs | both).items()}
    return found


def _running(weights: Counts) -> Counts:
    """0 and the running totals, in 64 bits, in this thread's own array: to be read before the next call."""
    running = scratch("running", len(weights) + 1, np.dtype(np.float64 if weights.dtype.kind == "f" else np.int64))
    running[0] = 0
    np.cumsum(weights, dtype=running.dtype, out=running[1:])
    return running


_buffers = threading.local()


def scratch(name: str, size: int, dtype: np.dtype[np.generic]) -> Array:
    """A reused array of this thread: fresh memory costs more than the sums written to it."""
    held: Array | None = getattr(_buffers, name, None)
    if held is None or len(held) < size or held.dtype != dtype:
        held = np.empty(size, dtype)
        setattr(_buffers, name, held)
    return held[:size]


def _costs(nontargets: Floats, targets: Floats) -> tuple[Floats, Floats]:
    """softplus(+-llr) of each row over the number of rows, which no sum can make overflow."""
    return softplus(nontargets) / len(nontargets), softplus(targets) / len(targets)


def _weighted(scores: Floats, rows: Counts) -> Ranked:
    """Ascending scores with weights as a Ranked: ties added up, weight 0 dropped."""
    starts = np.flatnonzero(np.concatenate(([True], scores[1:] != scores[:-1])))
    sums = np.add.reduceat(np.asarray(rows, np.int64 if rows.dtype.kind != "f" else np.float64), starts)
    if sums.dtype.kind == "f":  # weights that are not whole numbers, on a grid fine enough for 12 digits
        sums = np.rint(sums * (2.0**50 / sums.sum())).astype(np.int64)
    kept = sums > 0
    return Ranked(scores[starts][kept], running_total(sums[kept]))


# Corners of a curve: areas, minima, equal errors and hulls from the running totals of two classes


_SLACK = 1.0 + 1e-12  # bounds and costs are rounded


class Corners(NamedTuple):
    """At the end of each step n.at(step) non-targets and t.at(step) targets are rejected."""

    n: Totals
    t: Totals

    def errors(self, steps: Counts) -> tuple[Counts, Counts]:
        """Misses and false alarms at these corners."""
        return self.t.at(steps), self.n.whole - self.n.at(steps)

    def rates(self, steps: Places) -> list[Floats]:
        """FNR and FPR at these corners."""
        misses, alarms = self.errors(steps)
        return [misses / self.t.whole, alarms / self.n.whole]

    def auc(self, tied: Places) -> float:
        """Mann-Whitney: pairs in which the target is higher, tied ones half, over all pairs."""
        n, t = self.n, self.t
        pairs = float(t.whole) * float(n.whole)
        each, inside = (own.astype(np.promote_types(own.dtype, np.float32), copy=False) for own in (n.each, t.inside))
        lost = np.einsum("ij,ij->j", each, inside).sum(dtype=np.float64)
        lost += (t.before[:-1] * n.inside[-1].astype(np.float64)).sum()
        if len(tied):
            block, step = np.divmod(tied, len(n.each))
            lost -= 0.5 * (each[step, block] * t.each[step, block]).sum(dtype=np.float64)
        return float((pairs - lost) / pairs)

    def eer(self, known: Sequence[int]) -> float:
        """The equal error rate on the hull; `known` corners of the hull make it faster to find."""
        left, right = self._crossing(known)
        if left.step == right.step:
            return float(left.misses / self.t.whole)
        mixed = left.misses * right.gap - right.misses * left.gap
        return float(mixed / ((right.gap - left.gap) * self.t.whole))

    def level(self) -> float:
        """The p at which p FNR + (1 - p) FPR is the same all along the hull's edge through FNR = FPR."""
        left, right = self._crossing([])
        return self._level(left, right) if left.step < right.step else 0.5

    def _crossing(self, known: Sequence[int]) -> tuple[_Corner, _Corner]:
        """The corners of the hull on either side of FNR = FPR, or twice the one that lies on it.

        While a third corner lies below the line through two, it takes the place of one.
        """
        targets, nontargets = self.t.whole, self.n.whole
        left = _Corner(0, 0, nontargets, -targets * nontargets)
        right = _Corner(self.t.each.size - 1, targets, 0, targets * nontargets)
        for step in known:
            if left.step < step < right.step:
                left, right = self._corner(step, targets, nontargets).beside(left, right)
        first, last = left.step // len(self.t.each), right.step // len(self.t.each) + 1
        within = [side.before[first:last] * 1.0 + side.inside[:, first:last] for side in (self.t, self.n)]
        while left.step < right.step:
            one = self._corner(self._below(left, right, first, within), targets, nontargets)
            if not one.is_below(left, right):
                break
            left, right = one.beside(left, right)
        return left, right

    def _corner(self, step: int, targets: int, nontargets: int) -> _Corner:
        """The corner at this step, given the weights of both classes."""
        misses, alarms = self.t.at_one(step), nontargets - self.n.at_one(step)
        return _Corner(step, misses, alarms, misses * nontargets - alarms * targets)

    def _level(self, left: _Corner, right: _Corner) -> float:
        """The p at which p FNR + (1 - p) FPR is the same at two corners."""
        wide, high = (left.alarms - right.alarms) / self.n.whole, (right.misses - left.misses) / self.t.whole
        return float(wide / (wide + high))

    def _below(self, left: _Corner, right: _Corner, origin: int, within: list[Floats]) -> int:
        """The step of the corner farthest below the line through two; `within`: both totals from block `origin` on."""
        depth, high, wide = len(self.t.each), right.misses - left.misses, left.alarms - right.alarms
        first, last = left.step // depth, right.step // depth + 1
        misses, rejected = within[0][:, first - origin : last - origin], within[1][:, first - origin : last - origin]
        costs = misses * float(wide)
        costs -= rejected * float(high)
        step, block = divmod(int(costs.argmin()), last - first)
        return (first + block) * depth + step

    def hull(self) -> tuple[Counts, Counts]:
        """Misses and rejected non-targets at the vertices of the convex hull."""
        misses, rejected = self.t.flat(), self.n.flat()
        kept = convex_vertices(rejected, misses, int(self.t.whole) * int(self.n.whole))
        return misses[kept], rejected[kept]

    def min_cllr(self) -> float:
        """Cllr after isotonic recalibration."""
        misses, rejected = self.hull()
        t, n = np.diff(misses) / self.t.whole, np.diff(rejected) / self.n.whole
        mixed = (t > 0.0) & (n > 0.0)
        llr = np.log(t[mixed] / n[mixed])
        return float((t[mixed] * softplus(-llr) + n[mixed] * softplus(llr)).sum()) / (2.0 * math.log(2.0))

    def miss_rates(self, fpr: Floats) -> Floats:
        """The lowest miss rate whose false-alarm rate is at most each bound."""
        needed = self.n.whole - fpr * (1.0 + 1e-12) * self.n.whole
        return np.asarray(self.t.flat()[np.searchsorted(self.n.flat(), needed)] / self.t.whole, np.float64)


def lowest(curves: Sequence[Corners], miss: Floats, alarm: Floats) -> Places:
    """For each curve's pairs of factors the first corner where miss x misses + alarm x false alarms is least.

    Between two corners a cost is at least miss x (misses at the lower) + alarm x (false alarms at the upper). Only
    where that is not above the best cost known can the minimum lie: groups of blocks are examined first, then the
    blocks of those that are left, then the steps of the blocks that are left.
    """
    misses = np.array([curve.t.before for curve in curves], np.float64)
    alarms = np.array([curve.n.whole - curve.n.before for curve in curves], np.float64)
    shape, depth = miss.shape, len(curves[0].t.each)
    if depth == 1:
        costs = miss[..., None] * misses[:, None, 1:] + alarm[..., None] * alarms[:, None, 1:]
        return np.asarray(costs.argmin(axis=2))
    ends = misses[:, None, ::GROUP].copy(), alarms[:, None, ::GROUP].copy()  # read once for each pair of factors
    upfront, behind = miss[..., None] * ends[0], alarm[..., None] * ends[1]
    best = (upfront + behind).min(axis=2, keepdims=True) * _SLACK
    possible = upfront[..., :-1] + behind[..., 1:] <= best
    factor, group = _nonzero(possible.reshape(miss.size, -1))
    miss, alarm, first = miss.ravel(), alarm.ravel(), factor // shape[1] * misses.shape[1]
    places = np.arange(GROUP + 1)[:, None] + (GROUP * group + first)
    upfront, behind = miss[factor] * misses.take(places), alarm[factor] * alarms.take(places)
    best = _least((upfront + behind).min(axis=0), factor) * _SLACK
    inner, place = _nonzero(upfront[:-1] + behind[1:] <= best)
    order = np.argsort(place, kind="stable")
    inner, place = inner[order], place[order]
    factor, at, block = factor[place], places[inner, place], places[inner, place] - first[place]
    curve = factor // shape[1]
    costs = miss[factor] * (misses.take(at) + _taken([one.t for one in curves], curve, block))
    costs += alarm[factor] * (alarms.take(at) - _taken([one.n for one in curves], curve, block))
    least = costs.min(axis=0)
    chosen = np.flatnonzero(least == _least(least, factor))
    chosen = chosen[np.searchsorted(factor[chosen], np.arange(len(miss)))]
    return np.asarray(block[chosen] * depth + costs[:, chosen].argmin(axis=0)).reshape(shape)


def _nonzero(table: Array) -> tuple[Places, Places]:
    """Rows and columns, which numpy finds many times faster in a flat table."""
    row, column = np.divmod(np.flatnonzero(table), table.shape[1])
    return row, column


def _taken(totals: Sequence[Totals], numbers: Places, blocks: Places) -> Array:
    """[i, j]: the totals inside these blocks of the totals with these numbers, in ascending order."""
    ends = np.searchsorted(numbers, np.arange(len(totals) + 1)).tolist()
    parts = zip(totals, pairwise(ends), strict=True)
    return np.concatenate([own.inside.take(blocks[start:end], axis=1) for own, (start, end) in parts], axis=1)


def _least(values: Floats, kinds: Places) -> Floats:
    """For each value the least of its kind; kinds are 0, 1, ... in ascending order, none left out."""
    starts = np.searchsorted(kinds, np.arange(kinds[-1] + 1))
    return np.asarray(np.minimum.reduceat(values, starts)[kinds])


class _Corner(NamedTuple):
    step: int
    misses: int
    alarms: int
    gap: int  # (FNR - FPR) x targets x non-targets

    def beside(self, left: _Corner, right: _Corner) -> tuple[_Corner, _Corner]:
        """The corners on either side of FNR = FPR when this one takes the place of one of two."""
        if self.gap == 0:
            return self, self
        return (self, right) if self.gap < 0 else (left, self)

    def is_below(self, left: _Corner, right: _Corner) -> bool:
        """Whether this corner lies strictly below the line through two others."""
        first = (left.alarms - right.alarms) * (self.misses - left.misses)
        second = (right.misses - left.misses) * (left.alarms - self.alarms)
        close = 1e-12 * (abs(first) + abs(second)) if isinstance(first, float) or isinstance(second, float) else 0
        return bool(first < second - close)
