"""Runs: neighbouring rows of one class that no score of the other class parts are drawn as one.

How often a run is drawn is all that ranks, areas, hulls and minima need. Which of its rows they were is decided by a
number for each draw, made from the resample's key and the draw's place, so that any run can be parted later, alone, and
always in the same way: at an actual threshold that falls into it, or row by row.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet.exact import Counts

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

_CAP = 24  # runs of up to so many rows are drawn by table
_DOUBTFUL = 255
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # the constants of SplitMix64
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The runs of one class: their ends among its ranked rows, 0 first, and what drawing them needs."""

    bounds: Places
    sizes: Places
    table_rows: Places  # where each run's table begins
    large: Places  # runs beyond the tables
    rate: float

    @classmethod
    def of(cls, bounds: Places) -> Runs:
        """Runs between these bounds."""
        sizes = np.diff(bounds)
        rate = 1.0 - 4.0 / math.sqrt(bounds[-1])
        return cls(bounds, sizes, (np.minimum(sizes, _CAP) - 1) * 65536, np.flatnonzero(sizes > _CAP), rate)

    def draw(self, rng: np.random.Generator) -> RunCounts:
        """An exact multinomial: as many draws as rows, a run as likely as it is long.

        Independent Poisson counts are multinomial given their sum, whatever it is; their rate lies just below one a
        row, and the few draws that are missing to the number of rows are drawn one by one.
        """
        key = rng.integers(0, 2**64 - 1, dtype=np.uint64, endpoint=True)
        total, missing = int(self.bounds[-1]), -1
        while missing < 0:
            counts = self._poisson(rng)
            missing = total - int(counts.sum())
        rows = np.sort(rng.integers(0, total, missing))  # ascending ones are found faster
        np.add.at(counts, np.searchsorted(self.bounds, rows, "right") - 1, 1)
        return RunCounts.of(self, counts, key)

    def _poisson(self, rng: np.random.Generator) -> Counts:
        table, sums = _tables(self.rate)
        words = rng.integers(0, 2**64 - 1, (len(self.sizes) + 3) // 4, np.uint64, endpoint=True)
        cells = words.astype("<u8", copy=False).view("<u2")[: len(self.sizes)]
        looked_up = table.take(self.table_rows + cells, mode="clip")
        counts: Counts = looked_up.astype(np.int64)
        doubtful = np.flatnonzero(looked_up == _DOUBTFUL)
        exact = (cells[doubtful] + rng.random(len(doubtful))) / 65536.0
        counts[doubtful] = (sums[self.table_rows[doubtful] >> 16] <= exact[:, None]).sum(axis=1)
        counts[self.large] = rng.poisson(self.rate * self.sizes[self.large])
        return counts


@lru_cache(maxsize=16)
def _tables(rate: float) -> tuple[NDArray[np.uint8], Floats]:
    """For runs of 1, 2, ... rows the Poisson count of each 16-bit number, marked where more bits must decide."""
    sums = np.array([_distribution(rate * size) for size in range(1, _CAP + 1)])
    edges = np.arange(65537) / 65536.0
    table = np.empty((_CAP, 65536), np.uint8)
    for row, one in zip(table, sums, strict=True):
        low, high = np.searchsorted(one, edges[:-1], "right"), np.searchsorted(one, edges[1:], "left")
        row[:] = np.where(low == high, low, _DOUBTFUL)
    return table.ravel(), sums


def _distribution(mean: float) -> Floats:
    """P(count <= k) of a Poisson law, k = 0..119."""
    logs = [k * math.log(mean) - mean - math.lgamma(k + 1.0) for k in range(120)]
    sums = np.cumsum(np.exp(logs))
    sums[-1] = 1.0
    return np.asarray(np.minimum(sums, 1.0))


class Spots(NamedTuple):
    """Numbers of rows as (run, rows into it), to look up totals at."""

    runs: Places
    inside: Places  # which of them fall into a run
    rows: Places  # these, as numbers of rows
    parted: Places  # the runs that they part, each once

    @classmethod
    def of(cls, places: Places, bounds: Places) -> Spots:
        """Finds the runs that these ascending places fall into."""
        runs = np.searchsorted(bounds, places, "right") - 1
        inside = np.flatnonzero(bounds[runs] != places)
        return cls(runs, inside, places[inside], np.unique(runs[inside]))


@dataclass(frozen=True, slots=True, eq=False)
class RunCounts:
    """How often each run is in a resample."""

    runs: Runs
    counts: Counts
    totals: Counts  # 0 and the running totals
    key: np.uint64

    @classmethod
    def of(cls, runs: Runs, counts: Counts, key: np.uint64) -> RunCounts:
        """Adds the running totals."""
        totals = np.zeros(len(counts) + 1, np.int64)
        np.cumsum(counts, out=totals[1:])
        return cls(runs, counts, totals, key)

    def at(self, spots: Spots) -> Counts:
        """How many draws fall before each place."""
        found = self.totals.take(spots.runs)
        if len(spots.inside):
            rows = np.sort(self._rows_of(spots.parted))
            starts = self.runs.bounds[spots.runs[spots.inside]]
            found[spots.inside] += np.searchsorted(rows, spots.rows) - np.searchsorted(rows, starts)
        return found

    def rows(self) -> Counts:
        """How often each row is in the resample."""
        several = np.flatnonzero(self.runs.sizes > 1)
        counts = np.bincount(self._rows_of(several), minlength=int(self.runs.bounds[-1]))
        single = np.flatnonzero(self.runs.sizes == 1)
        counts[self.runs.bounds[single]] = self.counts[single]
        return counts

    def _rows_of(self, chosen: Places) -> Places:
        """The row of each draw of these runs."""
        counts = self.counts[chosen]
        run = np.repeat(chosen, counts)
        before = np.cumsum(counts) - counts
        draw = np.arange(len(run)) + np.repeat(self.totals[chosen] - before, counts)
        size = self.runs.sizes[run]
        into = (_uniform(self.key, draw) * size).astype(np.intp)
        return self.runs.bounds[run] + np.minimum(into, size - 1)


def _uniform(key: np.uint64, draw: Places) -> Floats:
    """A number in [0, 1) for each draw: SplitMix64's output number `draw` from the state `key`."""
    state = key + (draw.astype(np.uint64) + np.uint64(1)) * _GOLDEN
    state = (state ^ (state >> np.uint64(30))) * _MIX[0]
    state = (state ^ (state >> np.uint64(27))) * _MIX[1]
    state ^= state >> np.uint64(31)
    return np.asarray((state >> np.uint64(11)) * 2.0**-53, np.float64)
