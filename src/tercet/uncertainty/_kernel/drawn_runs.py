"""Runs: neighbouring rows of one class that no score of the other class parts are drawn as one.

How often a run is drawn is all that ranks, areas, hulls and minima need. Which of its rows they were is decided by a
number for each draw, made from the resample's key and the draw's place, so that any run can be parted later, alone, and
always in the same way: at an actual threshold that falls into it, or row by row.
"""

from __future__ import annotations

import math
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._typing import Counts, Floats
from tercet.uncertainty._kernel.score_steps import LONGEST, Totals, depth_of

Places = NDArray[np.intp]

_MARGIN = 3.0  # standard deviations by which the Poisson counts stay below the number of rows, on average
_MOST = 120  # draws of one run that a table can hold; more have a probability below 1e-30
_DOUBTFUL = 255
_PIECE = 1 << 12  # runs parted at a time, so that their draws need not leave the cache
_LOWEST = 0 if sys.byteorder == "little" else 7
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # the constants of SplitMix64
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))


@dataclass(frozen=True, slots=True, eq=False)
class Runs:
    """The runs of one class, one in each step: their ends among its ranked rows, 0 first, and what drawing needs.

    All but the ends are in the order of the totals: the first run of every block, then the second of every block.
    """

    bounds: Places
    depth: int
    tables: NDArray[np.int32]  # where each run's table begins
    long: Places  # runs beyond the tables
    means: Floats  # of their Poisson counts
    run_of: NDArray[np.int32]  # the run of each row
    rate: float
    scratch: threading.local

    @classmethod
    def of(cls, bounds: Places) -> Runs:
        """Runs between these bounds."""
        total, depth = int(bounds[-1]), depth_of(len(bounds) - 1)
        rate = 1.0 - min(_MARGIN / math.sqrt(total), 0.5)
        order = np.arange(len(bounds) - 1).reshape(-1, depth).T.ravel()
        sizes, place = np.diff(bounds)[order], np.empty(len(order), np.int32)
        place[order] = np.arange(len(order))
        long = np.flatnonzero(sizes > LONGEST)
        tables = (np.where(sizes > LONGEST, 0, sizes) << 16).astype(np.int32)
        return cls(
            bounds, depth, tables, long, rate * sizes[long], np.repeat(place, np.diff(bounds)), rate, threading.local()
        )

    def draw(self, rng: np.random.Generator) -> Drawn:
        """An exact multinomial: as many draws as rows, a run as likely as it is long.

        Independent Poisson counts are multinomial given their sum, whatever it is; their rate lies just below one a
        row, and the few draws that are missing to the number of rows are drawn one by one.
        """
        key = rng.integers(0, 2**64 - 1, dtype=np.uint64, endpoint=True)
        missing = -1
        while missing < 0:
            short, long = self._short(rng), rng.poisson(self.means)
            missing = len(self.run_of) - int(short.sum(dtype=np.uint32)) - int(long.sum())
        counts = short.astype(np.float64 if len(long) else np.float32)
        counts[self.long] = long
        rows = rng.integers(0, len(self.run_of), missing)
        np.add.at(counts, self.run_of.take(rows), counts.dtype.type(1))
        return Drawn(self, Totals.of(counts.reshape(self.depth, -1)), key)

    def without(self, out: Places) -> Kept:
        """The sample without these rows, given in ascending order."""
        counts = np.diff(self.bounds).reshape(-1, self.depth).T.ravel()
        counts -= np.bincount(self.run_of.take(out), minlength=len(counts))
        dtype = np.float64 if len(self.long) else np.float32
        return Kept(self, Totals.of(counts.astype(dtype).reshape(self.depth, -1)), out)

    def _short(self, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Poisson counts of the runs that have a table: from 8 bits, where they leave doubt from 16, or from all."""
        coarse, fine, sums = _tables(self.rate)
        words = rng.integers(0, 2**64 - 1, (len(self.tables) + 3) // 4, np.uint64, endpoint=True)
        cells = words.astype("<u8", copy=False).view("<u2")[: len(self.tables)]
        counts: NDArray[np.uint8] = coarse.take(self._places(cells.view(np.uint8)[1::2]), mode="clip")
        doubtful = np.flatnonzero(counts == _DOUBTFUL)
        tables, cells = self.tables.take(doubtful), cells.take(doubtful)
        counts[doubtful] = looked_up = fine.take(tables + cells)
        still = np.flatnonzero(looked_up == _DOUBTFUL)
        exact = (cells[still] + rng.random(len(still))) / 65536.0
        counts[doubtful[still]] = (sums[tables[still] >> 16] <= exact[:, None]).sum(axis=1)
        return counts

    def _places(self, upper: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Places in the coarse tables: the cells' upper bytes in the lowest bytes of an array of this thread's own."""
        if not hasattr(self.scratch, "places"):
            self.scratch.places = self.tables.astype(np.int64) >> 8
        places: NDArray[np.int64] = self.scratch.places
        places.view(np.uint8)[_LOWEST::8] = upper
        return places


@lru_cache(maxsize=4)
def _tables(rate: float) -> tuple[NDArray[np.uint8], NDArray[np.uint8], Floats]:
    """For runs of 0, 1, 2, ... rows the Poisson count of each 8-bit and 16-bit number, marked where more must decide.

    The coarse ones stay in the fastest cache.
    """
    sums = np.array([_distribution(rate * size) for size in range(LONGEST + 1)])
    tables = []
    for count in (256, 65536):
        edges = count * sums
        cells = edges.astype(np.intp)
        table = np.array([np.repeat(np.arange(_MOST), np.diff(row, prepend=0)) for row in cells], np.uint8)
        row, level = np.nonzero(cells != edges)
        table[row, cells[row, level]] = _DOUBTFUL
        tables.append(table.ravel())
    return tables[0], tables[1], sums


def _distribution(mean: float) -> Floats:
    """P(count <= k) of a Poisson law, k = 0, 1, ..."""
    terms = [math.exp(k * math.log(mean) - mean - math.lgamma(k + 1.0)) if mean else 1.0 for k in range(_MOST)]
    sums = np.minimum(np.cumsum(terms), 1.0)
    sums[-1] = 1.0
    return np.asarray(sums)


class Spots(NamedTuple):
    """Numbers of rows, to look up totals at, and the runs that begin there or hold them."""

    places: Places
    runs: Places
    inside: Places  # which of them fall into a run
    parted: Places  # the runs that they part, each once

    @classmethod
    def of(cls, places: Places, bounds: Places) -> Spots:
        """Finds the runs that these places fall into."""
        runs = np.searchsorted(bounds, places, "right") - 1
        inside = np.flatnonzero(bounds[runs] != places)
        return cls(places, runs, inside, np.unique(runs[inside]))


@dataclass(frozen=True, slots=True, eq=False)
class RunCounts(ABC):
    """How often each run is in a set made from the rows of a class, and from that each row."""

    runs: Runs
    totals: Totals

    def any(self) -> bool:
        """Whether the set holds anything."""
        return bool(self.totals.whole > 0)

    @abstractmethod
    def at(self, spots: Spots) -> Counts:
        """How many rows of the set fall before each place."""

    @abstractmethod
    def rows(self) -> Counts:
        """How often each row is in the set."""

    @abstractmethod
    def sum(self, values: Floats) -> float:
        """The sum of the rows' values over the set."""


@dataclass(frozen=True, slots=True, eq=False)
class Drawn(RunCounts):
    """A resample; its key says which rows of a run were drawn."""

    key: np.uint64

    def at(self, spots: Spots) -> Counts:
        """How many draws fall before each place."""
        found = np.where(spots.runs > 0, self.totals.at(spots.runs - 1), 0)
        if len(spots.inside):
            rows = np.sort(self._rows_of(spots.parted))
            starts = self.runs.bounds[spots.runs[spots.inside]]
            found[spots.inside] += np.searchsorted(rows, spots.places[spots.inside]) - np.searchsorted(rows, starts)
        return found

    def rows(self) -> Counts:
        """How often each row was drawn."""
        return np.concatenate([np.bincount(rows - start, minlength=end - start) for start, end, rows in self._pieces()])

    def sum(self, values: Floats) -> float:
        """The sum of the drawn rows' values."""
        return math.fsum(float(values.take(rows).sum()) for _, _, rows in self._pieces())

    def _pieces(self) -> Iterator[tuple[int, int, Places]]:
        """The first row, the last and the row of each draw, for some runs at a time."""
        bounds = self.runs.bounds
        for start in range(0, len(bounds) - 1, _PIECE):
            chosen = np.arange(start, min(start + _PIECE, len(bounds) - 1))
            yield int(bounds[start]), int(bounds[chosen[-1] + 1]), self._rows_of(chosen)

    def _rows_of(self, chosen: Places) -> Places:
        """The row of each draw of these runs."""
        block, step = np.divmod(chosen, self.runs.depth)
        counts = self.totals.each[step, block].astype(np.intp)
        first, size = self.runs.bounds[chosen], self.runs.bounds[chosen + 1] - self.runs.bounds[chosen]
        draw = np.arange(int(counts.sum())) - np.repeat(np.cumsum(counts) - counts, counts)
        many = np.repeat(size, counts)
        into = (_uniform(self.key, np.repeat(chosen, counts), draw) * many).astype(np.intp)
        return np.asarray(np.repeat(first, counts) + np.minimum(into, many - 1))


@dataclass(frozen=True, slots=True, eq=False)
class Kept(RunCounts):
    """The sample without some rows."""

    out: Places  # ascending

    def at(self, spots: Spots) -> Counts:
        """How many rows are left before each place."""
        return np.asarray(spots.places - np.searchsorted(self.out, spots.places))

    def rows(self) -> Counts:
        """0 for the rows that are out, 1 for the others."""
        rows = np.ones(int(self.runs.bounds[-1]), np.int64)
        rows[self.out] = 0
        return rows

    def sum(self, values: Floats) -> float:
        """The sum of the values of the rows that are left."""
        return float(np.delete(values, self.out).sum())


def _uniform(key: np.uint64, run: Places, draw: Places) -> Floats:
    """A number in [0, 1) for each draw of each run: one output of SplitMix64 from the state `key`."""
    state = key + ((run.astype(np.uint64) << np.uint64(32)) + draw.astype(np.uint64) + np.uint64(1)) * _GOLDEN
    state = (state ^ (state >> np.uint64(30))) * _MIX[0]
    state = (state ^ (state >> np.uint64(27))) * _MIX[1]
    state ^= state >> np.uint64(31)
    return np.asarray((state >> np.uint64(11)) * 2.0**-53, np.float64)
