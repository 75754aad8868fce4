"""Cases by class: how far each llr is above its threshold, what both decisions cost, and the best common shift."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import exact_dot, exact_sum
from tercet._numeric.matrices import whole_weights
from tercet._numeric.parallel import over_parts
from tercet._typing import Counts, Floats
from tercet.application import Application
from tercet.trials import Trials

if TYPE_CHECKING:
    from tercet.metrics.case_costs import CaseCosts

Flags = NDArray[np.bool_]
BLOCK = 1 << 14  # rows at a time, so that they stay in the cache
ALL = slice(None)


class Side(NamedTuple):
    """One class's cases: how far the llr is above its threshold, costs of both decisions, weights as whole numbers."""

    margins: Floats  # llr - threshold: its sign is that of the comparison
    blind: Flags  # accepted without the score
    open: Flags | bool  # can be accepted at all
    accept: Floats | float
    reject: Floats | float
    weights: Counts | None
    size: int

    @classmethod
    def of(cls, columns: list[Any]) -> Side:
        """The cases of these columns, in the order of the fields."""
        margins, blind, can, accept, reject, weights = columns
        size = len(margins) if weights is None else int(weights.sum())
        return cls(margins, blind, can, accept, reject, weights, size)

    def paid(self, accepted: Flags) -> int:
        """What decisions cost in all, in units of 2**-1074."""
        return self.total(self.accept, accepted) + self.total(self.reject, ~accepted)

    def total(self, costs: Floats | float, rows: Flags | slice = ALL) -> int:
        """The exact sum of a cost over some cases."""
        if isinstance(costs, float):
            if costs == 0.0:
                return 0
            some = self.size if isinstance(rows, slice) else int(rows.sum())
            count = some if self.weights is None else int(self.weights[rows].sum())
            return count * exact_sum(np.array([costs]))
        places = rows if isinstance(rows, slice) else np.flatnonzero(rows)
        return exact_sum(costs[places]) if self.weights is None else exact_dot(costs[places], self.weights[places])

    def accepted_by_all(self) -> Flags:
        """Accepting every case that can be accepted."""
        return np.broadcast_to(np.asarray(self.open), self.margins.shape)

    def prices(self, rows: slice = ALL) -> Floats:
        """What an error costs more than the right decision; 0 where there is no choice."""
        accept, reject = (one[rows] if isinstance(one, np.ndarray) else one for one in (self.accept, self.reject))
        free = isinstance(reject, float) and reject == 0.0
        price = np.broadcast_to(accept if free else np.abs(np.asarray(reject) - accept), self.margins[rows].shape)
        if self.open is not True:
            price = np.where(self.open[rows] if isinstance(self.open, np.ndarray) else self.open, price, 0.0)
        return np.asarray(price)

    def total_price(self) -> int:
        """The sum of all prices, in units of 2**-1074."""
        free = any(isinstance(cost, float) and cost == 0.0 for cost in (self.accept, self.reject))
        if self.open is True and free:
            return self.total(self.accept) + self.total(self.reject)
        return self.total(self.prices())


class Split(NamedTuple):
    """Cases by class, and the prior that joins the classes' means."""

    targets: Side
    nontargets: Side
    prior: float
    unit: int

    @classmethod
    def of(cls, trials: Trials, costs: CaseCosts, same: Application | None = None) -> Split:
        """The cases by class; `same` is the ordinary application that the costs of all cases are, if they are one."""
        labels, llr = trials.known_labels().astype(np.bool_, copy=False), trials.llr
        weights, unit = (None, 0) if trials.weights is None else whole_weights(trials.weights)
        limits = costs._limits() if same is None else lambda rows: np.float64(same.threshold)
        all_open = same is not None or bool(np.all(costs._net_miss() > 0.0))

        def own(values: object, rows: slice) -> Any:
            return values[rows] if isinstance(values, np.ndarray) else values

        def columns(rows: slice) -> list[list[Any]]:
            limit = np.broadcast_to(limits(rows), llr[rows].shape)
            judged = [_margins(llr[rows], limit), limit < 0.0, all_open or limit < math.inf]
            accept_reject = ((costs.cost_tp, costs.cost_fn), (costs.cost_fp, 0.0))
            return [[*judged, *(own(values, rows) for values in (*pair, weights))] for pair in accept_reject]

        targets, nontargets = (Side.of(one) for one in _parted(labels, columns))
        return cls(targets, nontargets, costs.prior, unit)

    @property
    def sides(self) -> tuple[Side, Side]:
        """Targets and non-targets."""
        return self.targets, self.nontargets

    def accepted(self, shift: float = 0.0) -> tuple[Flags, Flags]:
        """Decisions when every threshold is shifted; -inf accepts all that can be accepted."""
        if shift == -math.inf:
            return self.targets.accepted_by_all(), self.nontargets.accepted_by_all()
        return self.targets.margins > shift, self.nontargets.margins > shift

    def paid(self, accepted: tuple[Flags, Flags]) -> tuple[Floats, Floats]:
        """What decisions on each case cost."""
        target, nontarget = (
            np.where(mask, side.accept, side.reject) for side, mask in zip(self.sides, accepted, strict=True)
        )
        return target, nontarget


def _margins(llr: Floats, limits: Floats) -> Floats:
    """llr - threshold; a case that is always rejected, or where both are infinite alike, has none: -inf."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = llr - limits
    lost = np.isnan(found)
    if lost.any():
        found[lost] = -math.inf
    return found


def blocks(part: slice, size: int = BLOCK) -> Iterator[slice]:
    """Blocks of rows, small enough for their results to stay in the cache."""
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
        for rows in blocks(part):
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


# --- The common shift of all thresholds at which cases cost least ---

Splits = Callable[[], Iterable[Split]]  # the cases, in one part or in several, as often as they are asked for
_GRID_BITS = 52  # of the sum of all costs on the grid that finds the best shift
_BUCKETS = 1 << 14
_SAMPLE = 1 << 10  # margins sampled per class to choose the range of the buckets
_LARGEST = float(np.finfo(np.float64).max)


def best_shift(splits: Splits, shares: tuple[float, float], total: float, scale: tuple[float, float]) -> float | None:
    """The shift of least cost; None where every decision is free.

    Errors weigh what they cost, as whole numbers whose every sum is an exact double. Cases are counted into buckets of
    margins first. Within a bucket the cost cannot fall by more than its non-targets cost, which leaves few buckets
    whose cases must be looked at one by one.
    """
    grid = _grid_scale(total)
    if grid is None:
        return None

    def binned(split: Split) -> list[_Binned]:
        return [_Binned(side, share * grid, *scale) for side, share in zip(split.sides, shares, strict=True)]

    sums = np.zeros((2, _BUCKETS))
    for split in splits():
        sums += [one.sums() for one in binned(split)]
    kept, before = _worth_looking(*sums)
    found = [one.rows(kept, sign) for split in splits() for sign, one in zip((1.0, -1.0), binned(split), strict=True)]
    margins, moves, places = (np.concatenate(columns) for columns in zip(*found, strict=True))
    return _first_least(margins, moves, places, before)


def _worth_looking(miss: Floats, alarm: Floats) -> tuple[Flags, Floats]:
    """The buckets that may hold the least cost, and the extra cost of rejecting all cases before each."""
    after = np.cumsum(miss - alarm)
    before = after - (miss - alarm)
    return before - alarm <= after.min(initial=0.0), before


class _Binned(NamedTuple):
    """One class's cases by bucket of margins; errors weigh what they cost on a grid of whole numbers."""

    side: Side
    factor: float
    low: float
    rise: float

    def whole(self, rows: slice) -> Floats:
        """What errors cost, on a grid so fine that all of them together are an exact double."""
        price, heavy = self.side.prices(rows) * self.factor, self.side.weights
        return np.rint(price if heavy is None else price * heavy[rows].astype(np.float64))

    def sums(self) -> Floats:
        """What errors cost in each bucket."""

        def of(part: slice) -> Floats:
            total = np.zeros(_BUCKETS)
            for rows in blocks(part, 4 * BLOCK):
                places = _bucketed(self.side.margins[rows], self.low, self.rise)
                total += np.bincount(places, self.whole(rows), _BUCKETS)
            return total

        return np.asarray(np.sum(over_parts(of, len(self.side.margins)), axis=0))

    def rows(self, kept: Flags, sign: float) -> tuple[Floats, Floats, NDArray[np.intp]]:
        """Margins, signed costs and buckets of the cases in the buckets kept."""

        def of(part: slice) -> list[tuple[Floats, Floats, NDArray[np.intp]]]:
            found = []
            for rows in blocks(part):
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


def bucket_scale(margins: list[Floats]) -> tuple[float, float]:
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
