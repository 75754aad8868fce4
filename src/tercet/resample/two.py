"""Two classes: every number of an Evaluation from the weights of the sorted rows, without sorting again.

The rows are ranked once. A resample gives each row a weight; running totals of the weights are all counts at all
thresholds, and the thresholds' places never change.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet.application import Application, normalised_dcf
from tercet.costs import softplus
from tercet.curves import Curve, convex_vertices
from tercet.exact import Counts, running_total
from tercet.resample.runs import RunCounts, Spots
from tercet.tally import Ranked, Tally
from tercet.trials import Trials, to_llr

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

_FEW = 2048  # so many corners are looked at one by one
_LONG = 16  # rows from one bound to the next, on average, that make summing run by run pay
_STEP = 64  # points of the curve from one bound to the next when a minimum is searched
_SMALLEST = 1e-290  # relative weight of the cheaper error; products with counts stay above the denormals


class Plan(NamedTuple):
    """What is asked: applications, a grid of log-odds, ranks; for bands false-alarm rates and inner llr edges."""

    applications: tuple[Application, ...]
    grid: Floats
    wants: frozenset[str]
    eer: str = "rocch"
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
    runs: tuple[Places, Places]  # where the other class parts the rows
    bounds: tuple[Places, Places]  # numbers of rows whose running totals are needed; all other places count in these
    spots: tuple[Spots, Spots]  # the bounds, among the runs
    accept: tuple[Places, Places] | None  # what is rejected at each actual threshold; raw scores have none
    bins: tuple[Places, Places] | None
    costs: tuple[Floats, Floats] | None  # softplus of each row, for Cllr
    meets: Meets
    start: float  # weight of misses that the search for the EER begins with

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
        cls, scores: tuple[Floats, Floats], orders: tuple[Any, Any], meaning: str, trained_prior: Any, plan: Plan
    ) -> TwoClass:
        """A system from the ascending scores of (non-targets, targets)."""
        meets = Meets.of(scores[1], scores[0])
        bounds = runs = meets.bounds()
        taus = plan.log_odds
        accept = bins = costs = None
        if meaning != "raw":
            llr = [np.maximum.accumulate(to_llr(side, meaning, trained_prior)) for side in scores]
            accept = _places(llr, 0.0 - taus)
            bins = _binned(llr, plan.bins) if len(plan.bins) else None
            costs = (softplus(llr[0]), softplus(0.0 - llr[1])) if "cllr" in plan.wants else None
            bounds = _joined(bounds, accept, bins)
            accept = _among(bounds, accept)
            bins = None if bins is None else _among(bounds, bins)
        curve = Curve.of(Tally(Ranked(scores[1]), Ranked(scores[0]), "raw")) if "eer" in plan.wants else None
        start = 0.5 if curve is None else _eer_weight(curve)
        spots = (Spots.of(bounds[0], runs[0]), Spots.of(bounds[1], runs[1]))
        return cls(plan, taus, orders, scores, runs, bounds, spots, accept, bins, costs, meets.among(bounds), start)

    def statistics(self, weights: Sequence[Any]) -> Floats:
        """The numbers of one resample, given the weights of its (non-targets, targets), by rows or by runs."""
        if isinstance(weights[0], RunCounts):
            n, t = (one.at(spots) for one, spots in zip(weights, self.spots, strict=True))
            by_row = self.costs is not None or ("eer" in self.plan.wants and self.plan.eer != "rocch")
            heavy = [one.rows() for one in weights] if by_row else []
        else:
            heavy = [rows if order is None else rows[order] for rows, order in zip(weights, self.orders, strict=True)]
            n, t = (_totals(rows, bounds) for rows, bounds in zip(heavy, self.bounds, strict=True))
        wants, parts = self.plan.wants, []
        if self.accept is not None:
            parts += [t[self.accept[1]] / t[-1], (n[-1] - n[self.accept[0]]) / n[-1]]
        points = Points(t, n, self.meets.misses, self.meets.rejected)
        if "min_cllr" in wants:
            points = points.hull()
            parts.append([points.min_cllr()])
        search = points.search() if {"minimum", "eer"} & wants else None
        if search is not None and "minimum" in wants:
            parts += points.minima(search, self.taus)
        if search is not None and "eer" in wants:
            parts.append([points.eer(search, self.start) if self.plan.eer == "rocch" else self._other_eer(heavy)])
        if "auc" in wants:
            parts.append([self.meets.auc(t, n)])
        if self.costs is not None:
            parts.append([_cllr(heavy, self.costs, t[-1], n[-1])])
        if len(self.plan.fpr):
            parts.append(self.meets.miss_rates(t, n, self.plan.fpr))
        if self.bins is not None:
            parts += [np.diff(t[self.bins[1]]) / t[-1], np.diff(n[self.bins[0]]) / n[-1]]
        return np.concatenate([np.asarray(part, np.float64) for part in parts])

    def named(self, raw: Floats) -> dict[str, Floats]:
        """The columns of many resamples under the names of the Evaluation."""
        take = _Columns(raw)
        taus, wants, found = self.taus, self.plan.wants, {}
        actual = (take(len(taus)), take(len(taus))) if self.accept is not None else None
        if "min_cllr" in wants:
            found["min_cllr"] = take.one()
        least = (take(len(taus)), take(len(taus))) if "minimum" in wants else None
        for name, wanted in (("eer", "eer" in wants), ("auc", "auc" in wants), ("cllr", self.costs is not None)):
            if wanted:
                found[name] = take.one()
        if len(self.plan.fpr):
            found["roc.fnr"] = take(len(self.plan.fpr))
        if self.bins is not None:
            found["bins.targets"], found["bins.nontargets"] = (take(len(self.plan.bins) + 1) for _ in range(2))
        return found | _priced(self.plan, actual, least)

    def _other_eer(self, heavy: Sequence[Counts]) -> float:
        """An EER of another definition, by the curve of the weighted rows."""
        sides = [_weighted(scores, rows) for scores, rows in zip(self.scores, heavy, strict=True)]
        return Curve.of(Tally(sides[1], sides[0], "raw")).eer(self.plan.eer).value


def _places(sides: Sequence[Floats], thresholds: Floats) -> tuple[Places, Places]:
    """How many rows of (non-targets, targets) lie at or below each threshold."""
    below, above = (np.searchsorted(side, thresholds, "right") for side in sides)
    return below, above


def _joined(bounds: tuple[Places, Places], *more: tuple[Places, Places] | None) -> tuple[Places, Places]:
    """Bounds that hold further places too."""
    below, above = (
        np.unique(np.concatenate((bounds[side], *(places[side] for places in more if places is not None))))
        for side in (0, 1)
    )
    return below, above


def _among(bounds: tuple[Places, Places], places: tuple[Places, Places]) -> tuple[Places, Places]:
    """Places as numbers of bounds."""
    return np.searchsorted(bounds[0], places[0]), np.searchsorted(bounds[1], places[1])


def _binned(sides: Sequence[Floats], inner: Floats) -> tuple[Places, Places]:
    """The rows at or below each edge of bins that take in everything."""
    below, above = (np.concatenate(([0], np.searchsorted(side, inner, "right"), [len(side)])) for side in sides)
    return below, above


class Meets(NamedTuple):
    """Where two classes' ranked rows meet: places in the running totals that stand for the corners of the curve."""

    of_targets: bool  # whether the class with fewer rows is the targets
    first: Places  # rows of the smaller class before each run of its scores
    last: Places  # and up to its end
    low: Places  # rows of the larger class below the scores of the run
    high: Places  # and up to them
    misses: Places  # corners of the curve: targets rejected
    rejected: Places  # and non-targets rejected, both ends included

    @classmethod
    def of(cls, targets: Floats, nontargets: Floats) -> Meets:
        """Finds the places, once for all resamples; neighbours that no score of the other class parts are one."""
        of_targets = len(targets) <= len(nontargets)
        few, many = (targets, nontargets) if of_targets else (nontargets, targets)
        low, high = np.searchsorted(many, few), np.searchsorted(many, few, "right")
        first = np.flatnonzero(np.concatenate(([True], (low[1:] != low[:-1]) | (high[1:] != high[:-1]))))
        last = np.append(first[1:], len(few))
        low, high = low[first], high[first]
        inner = (first, low) if of_targets else (high, last)
        ends = (len(targets), len(nontargets))
        corners = [np.concatenate(([0], column, [end])) for column, end in zip(inner, ends, strict=True)]
        return cls(of_targets, first, last, low, high, corners[0], corners[1])

    def bounds(self) -> tuple[Places, Places]:
        """All places of (non-targets, targets) that are ever looked up, ascending."""
        few, many = np.append(self.first, self.last[-1]), np.union1d(self.low, self.high)
        sides = (many, few) if self.of_targets else (few, many)
        return np.union1d(sides[0], self.rejected[[0, -1]]), np.union1d(sides[1], self.misses[[0, -1]])

    def among(self, bounds: tuple[Places, Places]) -> Meets:
        """The same places as numbers of bounds."""
        n, t = bounds
        few, many = (t, n) if self.of_targets else (n, t)
        low, high = np.searchsorted(many, self.low), np.searchsorted(many, self.high)
        return Meets(
            self.of_targets,
            np.searchsorted(few, self.first),
            np.searchsorted(few, self.last),
            low,
            low if np.array_equal(low, high) else high,
            np.searchsorted(t, self.misses),
            np.searchsorted(n, self.rejected),
        )

    def auc(self, t: Counts, n: Counts) -> float:
        """Mann-Whitney: pairs in which the target is higher, tied ones half, over all pairs."""
        few, many = (t, n) if self.of_targets else (n, t)
        real = t.dtype.kind == "f"
        pairs = 2 * t[-1].item() * n[-1].item()
        own = np.diff(few.take(self.first), append=few[self.last[-1]])  # a run ends where the next begins
        sides = [self.low] if self.high is self.low else [self.low, self.high]
        wins: Any = 0
        for places in sides:
            below = many.take(places)
            if real or pairs >= 2**62:
                wins += float((own * below.astype(np.float64)).sum()) * (2 / len(sides))
            else:
                wins += int(np.dot(own, below)) * (2 // len(sides))
        return float((wins if self.of_targets else pairs - wins) / pairs)

    def miss_rates(self, t: Counts, n: Counts, fpr: Floats) -> Floats:
        """The lowest miss rate whose false-alarm rate is at most each bound."""
        needed = n[-1] - np.floor(fpr * (1.0 + 1e-12) * n[-1])
        corner = np.searchsorted(self.rejected, np.searchsorted(n, needed))
        return np.asarray(t[self.misses[corner]] / t[-1], np.float64)


class Points(NamedTuple):
    """Corners of a curve: t[misses] targets are rejected, and n[rejected] non-targets."""

    t: Counts
    n: Counts
    misses: Places
    rejected: Places

    def hull(self) -> Points:
        """Only the vertices of the convex hull."""
        x, y = self.n.take(self.rejected), self.t.take(self.misses)
        kept = convex_vertices(x, y, int(self.t[-1]) * int(self.n[-1]))
        return self._replace(misses=self.misses[kept], rejected=self.rejected[kept])

    def errors(self, places: Any) -> tuple[Any, Any]:
        """Misses and false alarms at these corners."""
        return self.t.take(self.misses[places]), self.n[-1] - self.n.take(self.rejected[places])

    def search(self) -> Search:
        """A search for cheapest corners, with the bounds it needs."""
        last = len(self.misses) - 1
        edges = np.arange(last + 1) if last < _FEW else np.concatenate((np.arange(0, last, _STEP), [last]))
        return Search(self, edges, *self.errors(edges))

    def minima(self, search: Search, log_odds: Floats) -> list[Floats]:
        """FNR and FPR where the normalised cost is least, for each tau."""
        miss = np.maximum(np.exp(np.minimum(log_odds, 0.0)), _SMALLEST)
        alarm = np.maximum(np.exp(-np.maximum(log_odds, 0.0)), _SMALLEST)
        m, f = self.errors(search.lowest(miss / self.t[-1], alarm / self.n[-1]))
        return [m / self.t[-1], f / self.n[-1]]

    def eer(self, search: Search, start: float) -> float:
        """The equal error rate on the hull: max over p of min over corners of p FNR + (1 - p) FPR.

        Two corners on either side of FNR = FPR; while a third lies below the line through them it takes the place of
        one. `start` is the first p to look at.
        """
        total_t, total_n = self.t[-1].item(), self.n[-1].item()
        left, right = (0, total_n), (total_t, 0)  # (misses, false alarms)
        share, guess = start, True
        while True:
            place = search.lowest(np.array([share / total_t]), np.array([(1.0 - share) / total_n]))[0]
            m, f = self.t[self.misses[place]].item(), total_n - self.n[self.rejected[place]].item()
            gap = m * total_n - f * total_t
            if gap == 0:  # a corner that minimises some mixture lies on the hull
                return float(m / total_t)
            if _is_below((m, f), left, right):
                left, right = ((m, f), right) if gap < 0 else (left, (m, f))
            elif not guess:
                return _mixed(left, right, total_t, total_n)
            wide, high = (left[1] - right[1]) / total_n, (right[0] - left[0]) / total_t
            share, guess = wide / (wide + high), False

    def min_cllr(self) -> float:
        """Cllr after isotonic recalibration, of the hull's own vertices."""
        t, n = np.diff(self.t[self.misses]) / self.t[-1], np.diff(self.n[self.rejected]) / self.n[-1]
        mixed = (t > 0.0) & (n > 0.0)
        llr = np.log(t[mixed] / n[mixed])
        return float((t[mixed] * softplus(-llr) + n[mixed] * softplus(llr)).sum()) / (2.0 * math.log(2.0))


class Search(NamedTuple):
    """Finds the first corner of least cost, looking only where it can lie.

    From one bound to the next a cost is at least miss x (misses at the lower end) + alarm x (false alarms at the upper
    end). Only where that is not above the best cost at a bound can the minimum lie; there every corner is looked at.
    """

    points: Points
    edges: Places
    misses: Counts
    alarms: Counts

    def lowest(self, miss: Floats, alarm: Floats) -> Places:
        """For each pair of factors the first corner where miss x misses + alarm x false alarms is least."""
        upfront, behind = miss[:, None] * self.misses, alarm[:, None] * self.alarms
        costs = upfront + behind
        if len(self.edges) == len(self.points.misses):
            return np.asarray(costs.argmin(axis=1))
        can = upfront[:, :-1] + behind[:, 1:] <= costs.min(axis=1, keepdims=True) * (1.0 + 1e-12)
        begin, end = can.argmax(axis=1), can.shape[1] - can[:, ::-1].argmax(axis=1)
        found = np.empty(len(miss), np.intp)
        for k, (low, high) in enumerate(zip(self.edges[begin].tolist(), self.edges[end].tolist(), strict=True)):
            m, f = self.points.errors(slice(low, high + 1))
            found[k] = low + (miss[k] * m + alarm[k] * f).argmin()
        return found


class _Columns:
    """Hands out the columns of a table from left to right."""

    def __init__(self, table: Floats) -> None:
        self.table, self.used = table, 0

    def __call__(self, count: int) -> Floats:
        self.used += count
        return self.table[:, self.used - count : self.used]

    def one(self) -> Floats:
        return self(1)[:, 0]


def _priced(plan: Plan, actual: Any, least: Any) -> dict[str, Floats]:
    """Costs at every application and along the grid, from the error rates."""
    found: dict[str, Floats] = {}
    taus, count = plan.log_odds, len(plan.applications)
    costs = {
        name: np.asarray(normalised_dcf(taus, *rates))
        for name, rates in (("dcf", actual), ("min_dcf", least))
        if rates is not None
    }
    for k, app in enumerate(plan.applications):
        here = (
            {} if actual is None else {"fnr": actual[0][:, k], "fpr": actual[1][:, k], "dcf_u": _dcf_u(app, actual, k)}
        )
        here |= {} if least is None else {"min_dcf_u": _dcf_u(app, least, k)}
        if not app.dummy_is_free:
            here |= {name: cost[:, k] for name, cost in costs.items()}
            if len(costs) == 2:
                here["calibration_loss"] = np.maximum(costs["dcf"][:, k] - costs["min_dcf"][:, k], 0.0)
        found |= {f"applications.{k}.{name}": column for name, column in here.items()}
    if len(plan.grid):
        rates = {} if actual is None else {"fnr": actual[0], "fpr": actual[1]}
        found |= {f"bayes_plot.{name}": columns[:, count:] for name, columns in (costs | rates).items()}
    return found


def _dcf_u(app: Application, rates: tuple[Floats, Floats], k: int) -> Floats:
    return app.prior * app.cost_fn * rates[0][:, k] + (1.0 - app.prior) * app.cost_fp * rates[1][:, k]


def _totals(weights: Counts, bounds: Places) -> Counts:
    """The weight of the rows before each bound, in 64 bits."""
    dtype = np.dtype(np.float64 if weights.dtype.kind == "f" else np.int64)
    if len(weights) >= _LONG * len(bounds):  # long runs add up faster than every row's running total
        sums = np.zeros(len(bounds), dtype)
        np.cumsum(np.add.reduceat(weights, bounds[:-1], dtype=dtype), out=sums[1:])
        return sums
    running = scratch("running", len(weights) + 1, dtype)
    running[0] = 0
    np.cumsum(weights, dtype=dtype, out=running[1:])
    return np.asarray(running.take(bounds))


_buffers = threading.local()


def scratch(name: str, size: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """An array of this thread's own, used again and again: fresh pages cost more than the sums written to them."""
    held: NDArray[Any] | None = getattr(_buffers, name, None)
    if held is None or len(held) < size or held.dtype != dtype:
        held = np.empty(size, dtype)
        setattr(_buffers, name, held)
    return held[:size]


def _cllr(heavy: Sequence[Counts], costs: tuple[Floats, Floats], targets: Any, nontargets: Any) -> float:
    means = []
    for rows, cost, total in zip(heavy, costs, (nontargets, targets), strict=True):
        endless = cost == math.inf
        if rows[endless].any():
            return math.inf
        means.append(float((rows / total * np.where(endless, 0.0, cost)).sum()))  # shares first: sums could overflow
    return (0.5 * means[1] + 0.5 * means[0]) / math.log(2.0)


def _weighted(scores: Floats, rows: Counts) -> Ranked:
    """Ascending scores with weights as a Ranked: ties added up, weight 0 dropped."""
    starts = np.flatnonzero(np.concatenate(([True], scores[1:] != scores[:-1])))
    sums = np.add.reduceat(np.asarray(rows, np.int64 if rows.dtype.kind != "f" else np.float64), starts)
    if sums.dtype.kind == "f":  # weights that are no whole numbers, on a grid fine enough for 12 digits
        sums = np.rint(sums * (2.0**50 / sums.sum())).astype(np.int64)
    kept = sums > 0
    return Ranked(scores[starts][kept], running_total(sums[kept]))


def _eer_weight(curve: Curve) -> float:
    """The p at which p FNR + (1 - p) FPR is level along the hull's segment that holds the EER."""
    fnr, fpr = curve.hull.fnr, curve.hull.fpr
    place = min(max(int(np.searchsorted(fnr - fpr, 0.0)), 1), len(fnr) - 1)
    wide, high = fpr[place - 1] - fpr[place], fnr[place] - fnr[place - 1]
    return float(wide / (wide + high))


def _is_below(point: tuple[Any, Any], left: tuple[Any, Any], right: tuple[Any, Any]) -> bool:
    """Whether a corner lies strictly below the line through two others."""
    first = (left[1] - right[1]) * (point[0] - left[0])
    second = (right[0] - left[0]) * (left[1] - point[1])
    close = 1e-12 * (abs(first) + abs(second)) if isinstance(first, float) or isinstance(second, float) else 0
    return bool(first < second - close)


def _mixed(left: tuple[Any, Any], right: tuple[Any, Any], targets: Any, nontargets: Any) -> float:
    """The miss rate where the line through two corners meets FNR = FPR."""
    below = left[1] * targets - left[0] * nontargets
    above = right[0] * nontargets - right[1] * targets
    return float((left[0] * above + right[0] * below) / ((below + above) * targets))
