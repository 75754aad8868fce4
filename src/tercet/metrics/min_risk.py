"""The multiclass minimum cost: what the scores would cost with the best offset for every class."""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.validation import frozen, seed_number
from tercet._typing import Floats
from tercet.application import MulticlassApplication, tau
from tercet.errors import UndefinedError
from tercet.metrics.confusion import FREE_DUMMY, matrix_for
from tercet.metrics.curves import Curve
from tercet.metrics.posteriors import class_weights, likelihoods_of
from tercet.metrics.tally import Tally
from tercet.trials import Trials, to_llr

_TIED = 1e-12  # breakpoints this close, relative to their size, count as one
_TINY = 14  # this many distinct rows are enumerated
_STARTS = 48  # random starts of the search for few rows; for many rows fewer, to bound the work
_NODES = 20_000
_BOXES = 3000
_WORK = 100_000_000  # about a second of comparing actions in boxes


class LeastRisk(NamedTuple):
    """The least Bayes risk over per-class offsets, or of always taking one action.

    No offsets reach less than `lower_bound`; where it equals the risk, the minimum is proved.

    Attributes
    ----------
    risk : float
        The least risk found.
    normalised : float or None
        The risk divided by the cost of the best action without the scores; None where that action costs 0.
    offsets : numpy.ndarray or None
        Added to the log-likelihoods; None where `always` costs least, and for raw scores.
    always : str or None
        The action that is always taken, where that costs least.
    lower_bound : float
        No offsets reach less.
    exact : bool
        Whether the minimum is proved.

    Examples
    --------
    >>> import tercet as tc
    >>> rows = [[2.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 1.0, 3.0], [0.0, 0.0, 4.0]]
    >>> found = tc.min_risk(tc.Trials.of_log_likelihoods(rows, [0, 0, 1, 2]), tc.Application.multiclass([1 / 3] * 3))
    >>> found.risk, found.exact
    (0.0, True)
    """

    risk: float
    normalised: float | None
    offsets: Floats | None
    always: str | None
    lower_bound: float
    exact: bool


def min_risk(trials: Trials, application: object, *, seed: int = 0) -> LeastRisk:
    """The risk with the best per-class offsets: for two classes the minimum DCF times the dummy's cost.

    Two classes and up to 14 distinct rows are solved exactly. Otherwise each offset in turn is moved to its best place
    (exactly: the risk is a step function of it) from several starts until none improves, and boxes of offsets are
    searched as long as this is worthwhile; the lower bound shows how much could still be gained.

    Parameters
    ----------
    trials : Trials
        Labelled trials.
    application : Application, MulticlassApplication, tuple, float or str
        Priors and costs.
    seed : int, default 0
        Seed of the starts.

    Returns
    -------
    LeastRisk
        The risk, its lower bound, the offsets, and whether it is exact.

    Examples
    --------
    >>> rows = Trials.of_log_likelihoods([[2., 0., 0.], [3., 0., 0.], [0., 1., 3.], [0., 0., 4.]], [0, 0, 1, 2])
    >>> from tercet.application import Application
    >>> least = min_risk(rows, Application.multiclass([1/3, 1/3, 1/3]))  # class 1 needs an offset
    >>> least.risk, least.exact
    (0.0, True)
    """
    drawn = seed_number(seed)
    app = matrix_for(trials, application)
    if trials.is_matrix and len(trials.classes) == 2:
        trials = trials.versus(trials.classes[1], trials.classes[0])
    if not trials.is_matrix and app.costs.shape == (2, 2) and not np.diag(app.costs).any() and app.dummy_cost > 0.0:
        return _two_classes(trials, app)
    return _Search.of(trials, app).least(drawn)


def min_normalised_risk(trials: Trials, application: object) -> float:
    """The least risk divided by the dummy's cost; undefined where that is 0."""
    found = min_risk(trials, application).normalised
    if found is None:
        raise UndefinedError(FREE_DUMMY)
    return found


def _two_classes(trials: Trials, app: MulticlassApplication) -> LeastRisk:
    curve = Curve.of(Tally.of(trials))
    best = curve.min_dcf((app.prior[1], app.costs[0, 1], app.costs[1, 0]))
    risk = best.dcf * app.dummy_cost
    targets, nontargets = curve.tally.weight(curve.targets), curve.tally.weight(curve.nontargets)
    everything, nothing = ((best.misses, best.false_alarms) == ends for ends in ((0, nontargets), (targets, 0)))
    if everything or nothing:
        return LeastRisk(risk, best.dcf, None, app.actions[int(everything)], risk, True)
    if trials.meaning == "raw":
        return LeastRisk(risk, best.dcf, None, None, risk, True)
    place = int(np.searchsorted(curve.thresholds[1:], best.threshold))
    ends = to_llr(curve.thresholds[1:][place : place + 2], trials.meaning, trials.trained_prior)
    middle = _between(*ends.tolist())  # between the highest llr rejected and the lowest accepted: neither is a tie
    offset = -tau(float(app.prior[1]), float(app.costs[0, 1]), float(app.costs[1, 0])) - middle
    return LeastRisk(risk, best.dcf, frozen(np.array([0.0, offset])), None, risk, True)


@dataclass(frozen=True, eq=False)
class _Search:
    """Distinct rows with what each action would add to the risk there."""

    rows: Floats  # log-likelihoods + log prior, the largest of a row 0
    prices: Floats  # rows x actions
    app: MulticlassApplication
    zero_one: bool  # wrong decisions about a class cost the same, right ones nothing
    truth: Floats  # rows x classes: the weight of each class there

    @classmethod
    def of(cls, trials: Trials, app: MulticlassApplication) -> _Search:
        labels, xi = class_weights(trials, app.prior)
        joint = likelihoods_of(trials) + np.log(app.prior)
        joint = joint - joint.max(axis=1, keepdims=True)
        rows, place = np.unique(joint, axis=0, return_inverse=True)
        truth = np.zeros(rows.shape)
        np.add.at(truth, (place.ravel(), labels), xi)
        return cls(rows, truth @ app.costs.T, app, app.largest_decides, truth)

    def least(self, seed: int) -> LeastRisk:
        """The best that sweeps (and, for few rows, enumeration) find, with its lower bound."""
        fixed = self.prices.sum(axis=0)
        always = int(fixed.argmin())
        risk, offsets = math.fsum(self.prices[:, always]), None
        for start in self._starts(seed):
            found, at = self._descend(start)
            if found < risk:
                risk, offsets = found, at
        bound = 0.0
        if len(self.rows) <= _TINY:
            risk, offsets, bound = self._enumerate(risk, offsets)
        elif self.rows.shape[1] == 2:
            bound = risk  # one offset: its sweep saw every cell
        else:
            if self.zero_one:
                bound = self._pairwise_bound(np.zeros(self.rows.shape[1]) if offsets is None else offsets)
            risk, offsets, bound = self._boxes(risk, offsets, bound)
        exact = bound >= risk * (1.0 - 1e-12)
        dummy = self.app.dummy_cost
        name = self.app.actions[always] if offsets is None else None
        kept = None if offsets is None else frozen(offsets)
        return LeastRisk(risk, risk / dummy if dummy > 0.0 else None, kept, name, bound, exact)

    def _starts(self, seed: int) -> list[Floats]:
        rng, count = np.random.default_rng(seed), self.rows.shape[1]
        finite = self.rows[np.isfinite(self.rows)]
        spread = float(np.std(finite)) or 1.0
        many = (
            _STARTS if len(self.rows) <= _TINY else max(1, min(6, _WORK // (32 * self.rows.size * len(self.app.costs))))
        )
        random = rng.normal(scale=spread, size=(many, count))
        return [np.zeros(count), *random]

    def risk(self, offsets: Floats) -> float:
        """What the Bayes decisions cost with these offsets."""
        moved = self.rows + offsets
        if self.zero_one:
            actions = moved.argmax(axis=1)
        else:
            moved -= moved.max(axis=1, keepdims=True)
            actions = (np.exp(moved) @ self.app.costs.T).argmin(axis=1)
        return math.fsum(self.prices[np.arange(len(actions)), actions])

    def _descend(self, offsets: Floats) -> tuple[float, Floats]:
        """Each offset in turn at its best place, until a round gives no improvement."""
        best = self.risk(offsets)
        improved = True
        while improved:
            improved = False
            for j in range(len(offsets)):
                trial = offsets.copy()
                trial[j] = self._best_offset(j, offsets)
                risk = self.risk(trial)
                if risk < best * (1.0 - 1e-12) - 1e-300:
                    best, offsets, improved = risk, trial, True
        return best, offsets - offsets[0]

    def _best_offset(self, j: int, offsets: Floats) -> float:
        """The middle of the cheapest cell along one offset, all its breakpoints sorted."""
        at, change, risk = self._breakpoints(j, offsets)
        if len(at) == 0:
            return float(offsets[j])
        order = np.argsort(at)
        at, risks = at[order], risk + np.concatenate(([0.0], np.cumsum(change[order])))
        apart = np.diff(at) > _TIED * np.maximum(np.abs(at[1:]), 1.0)
        cells = np.concatenate(([0], np.flatnonzero(apart) + 1, [len(at)]))
        cell = int(cells[risks[cells].argmin()])
        if cell in (0, len(at)):
            return float(at[0] - 1.0 if cell == 0 else at[-1] + 1.0)
        return float(0.5 * (at[cell - 1] + at[cell]))

    def _breakpoints(self, j: int, offsets: Floats) -> tuple[Floats, Floats, float]:
        """Where each row's action changes as offset j rises from -inf, what that adds to the risk, and the risk there.

        In x = e^(row_j + offset_j) the expected costs are lines rest + C_j x; actions follow their lower envelope.
        """
        others = self.rows + offsets
        others[:, j] = -math.inf
        top = others.max(axis=1)
        if self.zero_one:
            return self._takes_over(j, others.argmax(axis=1), top)
        top = np.where(np.isfinite(top), top, 0.0)
        rest, steep = np.exp(others - top[:, None]) @ self.app.costs.T, self.app.costs[:, j]
        # At x = 0 equal costs go to the flatter line.
        action = np.array(np.lexsort((np.broadcast_to(steep, rest.shape), rest), axis=1)[:, 0])
        risk = math.fsum(self.prices[np.arange(len(rest)), action])
        at, change = [], []
        active = np.flatnonzero(np.isfinite(self.rows[:, j]))
        while len(active):
            now = action[active]
            drop = steep[now][:, None] - steep[None, :]
            with np.errstate(divide="ignore", invalid="ignore"):
                x = np.where(drop > 0.0, (rest[active] - rest[active, now][:, None]) / drop, math.inf)
            first = x.min(axis=1)
            goes = np.isfinite(first)
            active, x, first, now = active[goes], x[goes], first[goes], now[goes]
            after = np.where(x == first[:, None], steep[None, :], math.inf).argmin(axis=1)
            with np.errstate(divide="ignore"):
                at.append(np.log(np.maximum(first, 0.0)) + top[active] - self.rows[active, j])
            change.append(self.prices[active, after] - self.prices[active, now])
            action[active] = after
        places, changes = np.concatenate(at), np.concatenate(change)
        early = places == -math.inf
        return places[~early], changes[~early], risk + math.fsum(changes[early])

    def _takes_over(self, j: int, before: NDArray[np.intp], top: Floats) -> tuple[Floats, Floats, float]:
        """The breakpoints where the largest posterior decides: class j takes over from the best of the others."""
        own = self.prices[np.arange(len(before)), before]
        change = self.prices[:, j] - own
        never, surely = np.isneginf(self.rows[:, j]), np.isneginf(top)
        between = ~never & ~surely
        return (
            top[between] - self.rows[between, j],
            change[between],
            math.fsum(own) + math.fsum(change[surely & ~never]),
        )

    def _pairwise_bound(self, offsets: Floats) -> float:
        """A lower bound for 0-1 costs: each row need only beat its strongest rival, pair by pair, by a free threshold.

        A row of class j is wrong at least when that rival k outscores it, and o_k - o_j is one number for the pair;
        letting every pair choose its own can only lower the sum.
        """
        total, wrong = 0.0, float(self.app.costs.max())
        count = self.rows.shape[1]
        moved = self.rows + offsets
        rivals = [np.where(np.arange(count) == j, -math.inf, moved).argmax(axis=1) for j in range(count)]
        for j, k in itertools.combinations(range(count), 2):
            mine, others = (self.truth[:, j] > 0.0) & (rivals[j] == k), (self.truth[:, k] > 0.0) & (rivals[k] == j)
            with np.errstate(invalid="ignore"):
                gap = np.concatenate((self._gap(j, k, mine), self._gap(j, k, others)))
            price = np.concatenate((wrong * self.truth[mine, j], -wrong * self.truth[others, k]))
            # j's rows are wrong once the threshold reaches their gap, k's rows are wrong before.
            order = np.argsort(gap)
            gap, price = gap[order], price[order]
            start = wrong * math.fsum(self.truth[others, k])
            sums = start + np.concatenate(([0.0], np.cumsum(price)))
            ends = np.concatenate(([True], gap[1:] != gap[:-1], [True])) if len(gap) else np.array([True])
            total += max(float(sums[ends].min()), 0.0)
        return total

    def _gap(self, j: int, k: int, rows: NDArray[np.bool_]) -> Floats:
        """row_j - row_k; a class that is ruled out loses to any offset."""
        mine, others = self.rows[rows, j], self.rows[rows, k]
        both = np.isneginf(mine) & np.isneginf(others)
        return np.where(both, -math.inf, mine - np.where(both, 0.0, others))

    def _boxes(self, risk: float, offsets: Floats | None, bound: float) -> tuple[float, Floats | None, float]:
        """A lower bound over boxes of offsets, the most promising box halved again and again while the budget lasts.

        Within a box an action is out of the question for a row where another is cheaper in every corner.
        """
        count, actions = self.rows.shape[1], len(self.app.costs)
        budget = min(_BOXES, _WORK // (len(self.rows) * actions**2 * count))
        reach = self._reach() * (count - 1)
        low = np.append(0.0, np.full(count - 1, -reach))
        heap: list[tuple[float, int, Floats, Floats]] = [(self._box_bound(low, -low), 0, low, -low)]
        number = 0
        while heap and number < budget and max(heap[0][0], bound) < risk * (1.0 - 1e-12):
            _, _, low, high = heapq.heappop(heap)
            middle, side = 0.5 * (low + high), int((high - low).argmax())
            here = self.risk(middle)
            if here < risk:
                risk, offsets = here, middle
            for left in (True, False):
                ends = [low.copy(), high.copy()]
                ends[left][side] = middle[side]
                number += 1
                least = self._box_bound(*ends)
                if least < risk * (1.0 - 1e-12):
                    heapq.heappush(heap, (least, number, ends[0], ends[1]))
        boxed = heap[0][0] if heap else risk
        return risk, offsets, min(max(boxed, bound), risk)

    def _reach(self) -> float:
        """Offsets further apart than this leave one class to decide a row alone."""
        gaps = np.where(np.isfinite(self.rows), -self.rows, 0.0).max()
        different = np.abs(self.app.costs[:, None, :] - self.app.costs[None, :, :])
        return float(gaps + math.log(different.max() / different[different > 0.0].min() * len(self.app.prior)) + 1.0)

    def _box_bound(self, low: Floats, high: Floats) -> float:
        """The sum over rows of the least price among the actions that some point of the box might choose."""
        costs = self.app.costs
        apart = (costs[:, None, :] - costs[None, :, :]).reshape(-1, costs.shape[1])  # action a less action b
        top = (self.rows + high).max(axis=1, keepdims=True)
        least, most = np.exp(self.rows + low - top), np.exp(self.rows + high - top)
        worst = most @ np.maximum(apart, 0.0).T + least @ np.minimum(apart, 0.0).T
        beaten = (worst < 0.0).reshape(-1, len(costs), len(costs)).any(axis=1)
        return math.fsum(np.where(beaten, math.inf, self.prices).min(axis=1))

    def _enumerate(self, risk: float, offsets: Floats | None) -> tuple[float, Floats | None, float]:
        """Every cell of offsets that could still cost less, row by row; cells without an inner point are dropped."""
        order = np.argsort(self.prices.min(axis=1) - self.prices.max(axis=1))  # rows with most at stake first
        least = np.append(np.cumsum(self.prices[order].min(axis=1)[::-1])[::-1], 0.0)
        region: _Differences | _Cone = (_Differences if self.zero_one else _Cone).all(self.rows.shape[1])
        stack, nodes, open_bound = [(0, 0.0, region)], 0, risk
        while stack:
            depth, cost, region = stack.pop()
            if cost + least[depth] >= risk * (1.0 - 1e-12):
                continue
            if depth == len(order):
                risk, offsets = cost, region.inner()
                continue
            nodes += 1
            if nodes > _NODES:
                open_bound = min(open_bound, cost + least[depth])
                continue
            row = int(order[depth])
            for action in np.argsort(-self.prices[row]):  # the cheapest last, so that it is taken first
                smaller = region.within(self.rows[row], int(action), self.app.costs)
                if smaller is not None:
                    stack.append((depth + 1, cost + float(self.prices[row, action]), smaller))
        return risk, offsets, min(open_bound, risk)


class _Differences(NamedTuple):
    """Offsets with o_k - o_j < bounds[j][k], every bound as tight as the others make it."""

    bounds: tuple[tuple[float, ...], ...]

    @classmethod
    def all(cls, classes: int) -> _Differences:
        return cls(tuple(tuple(0.0 if j == k else math.inf for k in range(classes)) for j in range(classes)))

    def within(self, row: Floats, action: int, costs: Floats) -> _Differences | None:
        """The part where this row takes the action for good; None where it is empty."""
        if row[action] == -math.inf:
            return None
        bounds = [list(line) for line in self.bounds]
        size = range(len(bounds))
        for k in size:
            if k != action and row[k] > -math.inf:
                bounds[action][k] = min(bounds[action][k], float(row[action] - row[k]))
        for via, j, k in itertools.product(size, size, size):
            if j != k:
                bounds[j][k] = min(bounds[j][k], bounds[j][via] + bounds[via][k])
        widths = [bounds[j][k] + bounds[k][j] for j, k in itertools.combinations(size, 2)]
        return _Differences(tuple(map(tuple, bounds))) if min(widths) > _TIED else None

    def inner(self) -> Floats:
        """A point well inside."""
        offsets = [0.0]
        for k in range(1, len(self.bounds)):
            low = max(offsets[j] - self.bounds[k][j] for j in range(k))
            high = min(offsets[j] + self.bounds[j][k] for j in range(k))
            offsets.append(_between(low, high))
        return np.array(offsets)


def _between(low: float, high: float) -> float:
    if math.isinf(low) or math.isinf(high):
        return 0.0 if low == -math.inf and high == math.inf else (low + 1.0 if high == math.inf else high - 1.0)
    return 0.5 * (low + high)


class _Cone(NamedTuple):
    """Factors v = e^offset > 0 with constraints @ v < 0: an action is best where its expected cost is least."""

    constraints: tuple[tuple[float, ...], ...]
    point: tuple[float, ...]

    @classmethod
    def all(cls, classes: int) -> _Cone:
        return cls((), (1.0 / classes,) * classes)

    def within(self, row: Floats, action: int, costs: Floats) -> _Cone | None:
        """The part where this row takes the action for good; None where it has no inner point."""
        lines = (costs[action] - np.delete(costs, action, axis=0)) * np.exp(row)
        lines = lines[np.any(lines != 0.0, axis=1)]
        if len(lines) < len(costs) - 1 and action > 0:
            return None  # another action always costs the same: ties go to the lowest
        lines = lines / np.abs(lines).max(axis=1, keepdims=True)
        constraints = (*self.constraints, *map(tuple, lines.tolist()))
        if np.all(lines @ np.array(self.point) < -1e-9):
            return _Cone(constraints, self.point)
        return self._inside(constraints)

    def _inside(self, constraints: tuple[tuple[float, ...], ...]) -> _Cone | None:
        """The point furthest inside, by linear programme over v that sum to one."""
        from scipy.optimize import linprog

        count = len(self.point)
        matrix = np.vstack((np.array(constraints).reshape(-1, count), -np.eye(count)))
        matrix = np.column_stack((matrix, np.ones(len(matrix))))
        total = np.append(np.ones(count), 0.0)[None, :]
        bounds = [(0.0, 1.0)] * (count + 1)
        found = linprog(-np.eye(count + 1)[-1], matrix, np.zeros(len(matrix)), total, [1.0], bounds, method="highs")
        if found.status != 0 or found.x[-1] < 1e-9:
            return None
        point = found.x[:-1]
        if not (np.all(point > 0.0) and np.all(np.array(constraints) @ point < 0.0)):
            return None  # the programme lets constraints be broken by 1e-7: what lies within that has no inside
        return _Cone(constraints, tuple(point.tolist()))

    def inner(self) -> Floats:
        """The offsets of its point."""
        logs = np.log(np.array(self.point))
        return np.asarray(logs - logs[0])
