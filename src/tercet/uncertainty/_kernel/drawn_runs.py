"""Runs: neighbouring rows of one class with no score of the other class between them are drawn as one.

How often a run is drawn is all that ranks, areas, hulls and minima need. Which of its rows they were is decided by the
resample's key, so that any run can be split later, alone, and always in the same way: at an actual threshold that
falls into it, or row by row.
"""

from __future__ import annotations

import math
import sys
import threading
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import running_total
from tercet._typing import Counts, Floats
from tercet.uncertainty._kernel.halves import MOST, Halves, Ways
from tercet.uncertainty._kernel.score_steps import LONGEST, Totals, depth_of

Places = NDArray[np.intp]
Cells = NDArray[np.uint16]

_MARGIN = 3.0  # standard deviations by which the Poisson counts stay below the number of rows, on average
_DOUBTFUL = 255
_LOWEST = 0 if sys.byteorder == "little" else 7


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of one class, one in each step: their ends among its ranked rows, 0 first, and what drawing needs.

    All but the ends are in the order of the totals: the first run of every block, then the second of every block.
    """

    bounds: Places
    depth: int
    tables: NDArray[np.int32]  # where each run's table begins
    long: Places  # runs beyond the tables: rows with one score that the other class has too
    means: Floats  # of their Poisson counts
    run_of: NDArray[np.int32]  # the run of each row
    laws: tuple[float, ...]  # the means of the Poisson counts of runs of 0, 1, 2, ... rows
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
            bounds, depth, tables, long, rate * sizes[long], np.repeat(place, np.diff(bounds)),
            tuple(rate * size for size in range(LONGEST + 1)), threading.local(),
        )  # fmt: skip

    def draw(self, rng: np.random.Generator) -> Drawn:
        """An exact multinomial: as many draws as rows, a run as likely as it is long.

        Independent Poisson counts are multinomial given their sum, whatever it is; their rate is just below one per
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

    @cached_property
    def halves(self) -> Halves:
        """How the runs are split, but for the long ones."""
        return Halves.of(self.bounds)

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """The first row of each long run, and the first behind it."""
        step, block = np.divmod(self.long, len(self.tables) // self.depth)
        runs = block * self.depth + step
        return list(zip(self.bounds[runs].tolist(), self.bounds[runs + 1].tolist(), strict=True))

    def without(self, out: Places) -> Kept:
        """The sample without these rows, given in ascending order."""
        counts = np.diff(self.bounds).reshape(-1, self.depth).T.ravel()
        counts -= np.bincount(self.run_of.take(out), minlength=len(counts))
        dtype = np.float64 if len(self.long) else np.float32
        return Kept(self, Totals.of(counts.astype(dtype).reshape(self.depth, -1)), out)

    def _short(self, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Poisson counts of the runs that have a table: from 8 bits, or from 16 or all where these do not decide."""
        coarse, fine, sums = poisson_tables(self.laws)
        cells = random_cells(rng, len(self.tables))
        counts: NDArray[np.uint8] = coarse.take(self._places(cells.view(np.uint8)[1::2]), mode="clip")
        doubtful = np.flatnonzero(counts == _DOUBTFUL)
        counts[doubtful] = looked_up(rng, cells.take(doubtful), self.tables.take(doubtful), fine, sums)
        return counts

    def _places(self, upper: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Places in the coarse tables: the cells' upper bytes in the lowest bytes of an array of this thread's own."""
        if not hasattr(self.scratch, "places"):
            self.scratch.places = self.tables.astype(np.int64) >> 8
        places: NDArray[np.int64] = self.scratch.places
        places.view(np.uint8)[_LOWEST::8] = upper
        return places


def random_cells(rng: np.random.Generator, count: int) -> Cells:
    """Random numbers of 16 bits."""
    words = rng.integers(0, 2**64 - 1, (count + 3) // 4, np.uint64, endpoint=True)
    return words.astype("<u8", copy=False).view("<u2")[:count]


def looked_up(
    rng: np.random.Generator, cells: Cells, starts: NDArray[np.int32] | int, table: NDArray[np.uint8], sums: Floats
) -> NDArray[np.uint8]:
    """Poisson counts from 16 bits, or from all where these do not decide; a number's own table begins at `starts`."""
    counts = table.take(starts + cells, mode="clip")
    doubtful = np.flatnonzero(counts == _DOUBTFUL)
    exact = (cells[doubtful] + rng.random(len(doubtful))) / 65536.0
    laws = np.broadcast_to(starts, cells.shape)[doubtful] >> 16
    counts[doubtful] = (sums[laws] <= exact[:, None]).sum(axis=1)
    return counts


@lru_cache(maxsize=16)
def poisson_tables(means: tuple[float, ...]) -> tuple[NDArray[np.uint8], NDArray[np.uint8], Floats]:
    """For each mean the Poisson count of each 8-bit and 16-bit number, marked where more must decide.

    The coarse ones stay in the fastest cache. Beside the tables, the distribution functions.
    """
    sums = np.array([_distribution(mean) for mean in means])
    tables = []
    for count in (256, 65536):
        edges = count * sums
        cells = edges.astype(np.intp)
        table = np.array([np.repeat(np.arange(MOST), np.diff(row, prepend=0)) for row in cells], np.uint8)
        row, level = np.nonzero(cells != edges)
        table[row, cells[row, level]] = _DOUBTFUL
        tables.append(table.ravel())
    return tables[0], tables[1], sums


def _distribution(mean: float) -> Floats:
    """P(count <= k) of a Poisson law, k = 0, 1, ..."""
    terms = [math.exp(k * math.log(mean) - mean - math.lgamma(k + 1.0)) if mean else 1.0 for k in range(MOST)]
    sums = np.minimum(np.cumsum(terms), 1.0)
    sums[-1] = 1.0
    return np.asarray(sums)


class Spots(NamedTuple):
    """Numbers of rows, to look up totals at, and the runs that begin there or hold them."""

    places: Places
    runs: Places
    inside: Places  # which of them fall into a run
    ways: Ways  # down to these
    long: bool  # whether a place falls into a run that is not halved

    @classmethod
    def of(cls, places: Places, bounds: Places) -> Spots:
        """Finds the runs that these places fall into."""
        runs = np.searchsorted(bounds, places, "right") - 1
        inside = np.flatnonzero(bounds[runs] != places)
        if (bounds[runs[inside] + 1] - bounds[runs[inside]] > LONGEST).any():
            nothing = np.empty(0, np.intp)
            return cls(places, runs, inside, Ways.of(nothing, nothing, bounds), True)
        return cls(places, runs, inside, Ways.of(places[inside], runs[inside], bounds), False)


@dataclass(frozen=True, slots=True, eq=False)
class _Counted:
    """How often each run is in a set made from the rows of a class, and from that each row."""

    runs: Runs
    totals: Totals

    def any(self) -> bool:
        """Whether the set holds anything."""
        return bool(self.totals.whole > 0)


@dataclass(frozen=True, slots=True, eq=False)
class Drawn(_Counted):
    """A resample; its key says which rows of a run were drawn."""

    key: np.uint64

    def at(self, spots: Spots) -> Counts:
        """How many draws fall before each place."""
        if spots.long:
            return running_total(self.rows())[spots.places]
        found = np.where(spots.runs > 0, self.totals.at(spots.runs - 1), 0)
        if len(spots.inside):
            found[spots.inside] += spots.ways.before(self.totals.each, self.key)
        return found

    def rows(self) -> Counts:
        """How often each row was drawn."""
        runs = self.runs
        rows = np.empty(int(runs.bounds[-1]), np.int64)
        rows[runs.halves.rows] = runs.halves.shared(self.totals.each, self.key)
        rng = np.random.Generator(np.random.SFC64(int(self.key)))
        for count, (start, end) in zip(self._long(), runs.spans, strict=True):
            rows[start:end] = np.bincount(rng.integers(0, end - start, int(count)), minlength=end - start)
        return rows

    def sum(self, values: Floats) -> float:
        """The sum of the drawn rows' values; rows with the same score have the same value."""
        long = (count * values[start] for count, (start, _) in zip(self._long(), self.runs.spans, strict=True) if count)
        return self.runs.halves.sum(self.totals.each, self.key, values) + float(sum(long))

    def _long(self) -> list[float]:
        """How often each long run was drawn."""
        counts: list[float] = self.totals.each.ravel().take(self.runs.long).tolist()
        return counts


@dataclass(frozen=True, slots=True, eq=False)
class Kept(_Counted):
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


RunCounts = Drawn | Kept
