"""The common shift of all thresholds at which cases cost least."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.parallel import over_parts
from tercet._typing import Floats
from tercet.metrics._case_split import BLOCK, Flags, Side, Split, blocks

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
