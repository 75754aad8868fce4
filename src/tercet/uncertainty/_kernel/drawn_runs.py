"""Runs: neighbouring rows of one class with no score of the other class between them are drawn as one.

How often a run is drawn is all that ranks, areas, hulls and minima need. Which of its rows they were is decided by the
resample's key, so that any run can be split later, alone, and always in the same way: at an actual threshold that
falls into it, or row by row.
"""

from __future__ import annotations

import math
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import running_total
from tercet._typing import Array, Counts, Floats
from tercet.uncertainty._kernel.score_steps import LONGEST, Totals, depth_of

Places = NDArray[np.intp]
Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]

_MARGIN = 3.0  # standard deviations by which the Poisson counts stay below the number of rows, on average
_LOWEST, _SECOND = (0, 1) if sys.byteorder == "little" else (7, 6)


@dataclass(frozen=True, eq=False)
class Runs:
    """The runs of one class, one in each step: their ends among its ranked rows, 0 first, and what drawing needs.

    All but the ends are in the order of the totals: the first run of every block, then the second of every block.
    """

    bounds: Places
    depth: int
    sizes: Places
    long: Places  # runs beyond the tables: rows with one score that the other class has too
    run_of: NDArray[np.int32]  # the run of each row
    rate: float  # the mean of a row's Poisson count

    @classmethod
    def of(cls, bounds: Places) -> Runs:
        """Runs between these bounds."""
        total, depth = int(bounds[-1]), depth_of(len(bounds) - 1)
        order = np.arange(len(bounds) - 1).reshape(-1, depth).T.ravel()
        sizes, place = np.diff(bounds)[order], np.empty(len(order), np.int32)
        place[order] = np.arange(len(order))
        rate = 1.0 - min(_MARGIN / math.sqrt(total), 0.5)
        return cls(bounds, depth, sizes, np.flatnonzero(sizes > LONGEST), np.repeat(place, np.diff(bounds)), rate)

    @cached_property
    def halves(self) -> Halves:
        """How the runs are split, but for the long ones."""
        return Halves.of(self.bounds)

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """The first row of each long run, and the first behind it."""
        step, block = np.divmod(self.long, len(self.sizes) // self.depth)
        runs = block * self.depth + step
        return list(zip(self.bounds[runs].tolist(), self.bounds[runs + 1].tolist(), strict=True))

    def without(self, out: Places) -> Kept:
        """The sample without these rows, given in ascending order."""
        counts = self.sizes - np.bincount(self.run_of.take(out), minlength=len(self.sizes))
        dtype = np.float64 if len(self.long) else np.uint16
        return Kept(self, Totals.of(counts.astype(dtype).reshape(self.depth, -1)), out)


@dataclass(frozen=True, eq=False)
class AllRuns:
    """The runs of all classes, as many in each, drawn together: long calls of numpy cost less than many short ones."""

    classes: tuple[Runs, ...]
    laws: PoissonLaws  # of runs of 0, 1, 2, ... rows of the first class, then of the others
    kinds: Kinds
    scratch: threading.local

    @classmethod
    def of(cls, bounds: Sequence[Places]) -> AllRuns:
        """Runs between these bounds in each class."""
        classes = tuple(Runs.of(own) for own in bounds)
        laws = poisson_laws(tuple(runs.rate * size for runs in classes for size in range(LONGEST + 1)))
        return cls(classes, laws, Kinds.of(_laws(classes), len(laws.hits)), threading.local())

    def draw(self, rng: np.random.Generator) -> tuple[Drawn, ...]:
        """An exact multinomial in each class: as many draws as rows, a run as likely as it is long.

        Independent Poisson counts are multinomial given their sum, whatever it is; their rate is just below one per
        row, and the few draws that are missing to the number of rows are drawn one by one.
        """
        keys = rng.bit_generator.random_raw(len(self.classes))
        missing = [-1]
        while min(missing) < 0:
            counts = self._poisson(rng)
            sums = counts.sum(axis=1, dtype=counts.dtype).sum(axis=1, dtype=np.float64).tolist()
            missing = [len(runs.run_of) - int(drawn) for runs, drawn in zip(self.classes, sums, strict=True)]
        for runs, own, more in zip(self.classes, counts, missing, strict=True):
            np.add.at(own.reshape(-1), runs.run_of.take(rng.integers(0, len(runs.run_of), more)), own.dtype.type(1))
        return tuple(map(Drawn, self.classes, Totals.several(counts), keys))

    def _poisson(self, rng: np.random.Generator) -> Array:
        """[class, i, j]: Poisson counts."""
        places = self._places()
        places.view(np.uint8)[_LOWEST::8] = random_bytes(rng, len(places))
        short = self.laws.cells.take(places, mode="clip")
        self.laws.hit(rng, short, self.kinds)
        counts = short.reshape(len(self.classes), self.classes[0].depth, -1)
        if not any(len(runs.long) for runs in self.classes):
            return counts.astype(np.uint16)
        counts = counts.astype(np.float64)
        for runs, own in zip(self.classes, counts, strict=True):
            own.reshape(-1)[runs.long] = rng.poisson(runs.rate * runs.sizes[runs.long])
        return counts

    def _places(self) -> NDArray[np.int64]:
        """Where each run's table begins, in this thread's own array: the lowest bytes are set in each resample."""
        if not hasattr(self.scratch, "places"):
            self.scratch.places = 256 * _laws(self.classes)
        places: NDArray[np.int64] = self.scratch.places
        return places


def _laws(classes: Sequence[Runs]) -> Places:
    """The law of each run; long ones count as empty."""
    sizes = [np.where(runs.sizes > LONGEST, 0, runs.sizes) + k * (LONGEST + 1) for k, runs in enumerate(classes)]
    return np.concatenate(sizes)


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

    @classmethod
    def all_at(cls, drawn: Sequence[Drawn], spots: Spots) -> list[Counts]:
        """How many draws of each resample fall before each place."""
        if spots.long:
            return [running_total(one.rows())[spots.places] for one in drawn]
        found = np.array([np.where(spots.runs > 0, one.totals.at(spots.runs - 1), 0) for one in drawn])
        if len(spots.inside):
            keys = np.array([one.key for one in drawn])
            found[:, spots.inside] += spots.ways.before([one.totals.each for one in drawn], keys)
        return list(found)

    def at(self, spots: Spots) -> Counts:
        """How many draws fall before each place."""
        return self.all_at([self], spots)[0]

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


# Poisson laws as mixtures of two: one that a random byte decides, and a rare rest.
#
# A byte has 256 equal cells, each of which holds a number. The cells' law, scaled down a little, lies below the
# Poisson law; what is left of that is the rest. Which counts come from the rest is not looked for among all: their
# places are drawn, as many as a Poisson process has, so that every count is hit with the rest's share, independently
# of the others.

_COLUMNS = 128  # of the tables of the rest, at least MOST


class PoissonLaws(NamedTuple):
    """Tables of several laws."""

    cells: Bytes  # at 256 x law + byte
    hits: Floats  # the mean number of times that each count comes from the rest
    kept: Floats  # at 128 x law + column: Walker's alias tables of the rest, the share of a column that is its own
    other: Bytes  # and whose the others are

    def hit(self, rng: np.random.Generator, counts: Bytes, kinds: Kinds) -> None:
        """Draws the counts that come from the rest."""
        hits = rng.poisson(self.hits * kinds.sizes)
        laws = np.repeat(np.arange(len(hits)), hits)
        place, share = rng.random((2, len(laws)))
        at = kinds.starts.take(laws) + (place * kinds.sizes.take(laws)).astype(np.intp)
        share *= _COLUMNS
        column = share.astype(np.intp)
        cell = laws * _COLUMNS + column
        own = share - column < self.kept.take(cell)
        counts[kinds.members.take(at)] = np.where(own, column.astype(np.uint8), self.other.take(cell))


class Kinds(NamedTuple):
    """Which counts have which law."""

    members: Array  # their places, those of the first law first
    starts: Places  # where each law's begin
    sizes: Places  # how many have each law

    @classmethod
    def of(cls, laws: Places, count: int) -> Kinds:
        """From the law of each."""
        sizes = np.bincount(laws, minlength=count)
        members = np.argsort(laws.astype(np.uint8), kind="stable").astype(np.int32)
        return cls(members, np.cumsum(sizes) - sizes, sizes)

    @classmethod
    def alike(cls, count: int) -> Kinds:
        """All of one law."""
        return cls(np.arange(count, dtype=np.int32), np.zeros(1, np.intp), np.array([count]))


def random_bytes(rng: np.random.Generator, count: int) -> Bytes:
    """Random numbers of 8 bits."""
    words = rng.bit_generator.random_raw((count + 7) // 8)
    return words.astype("<u8", copy=False).view(np.uint8)[:count]


@lru_cache(maxsize=16)
def poisson_laws(means: tuple[float, ...]) -> PoissonLaws:
    """The laws of these means."""
    laws = np.array([_law(mean) for mean in means])
    numbers = _apportioned(laws)
    shares = np.divide(laws, numbers, out=np.ones_like(laws), where=numbers > 0).min(axis=1)
    cells = np.array([np.repeat(np.arange(MOST), own) for own in numbers], np.uint8)
    rest = np.maximum(laws - shares[:, None] * numbers, 0.0)
    tables = [_alias((own * (_COLUMNS / max(own.sum(), 1e-300))).tolist()) for own in rest]
    kept, other = (np.array(columns) for columns in zip(*tables, strict=True))
    hits = -np.log(np.minimum(256.0 * shares, 1.0))
    return PoissonLaws(cells.ravel(), hits, kept.ravel(), other.astype(np.uint8).ravel())


def _law(mean: float) -> list[float]:
    """P(0), P(1), ... of a Poisson law."""
    return [math.exp(k * math.log(mean) - mean - math.lgamma(k + 1.0)) if mean else float(k == 0) for k in range(MOST)]


def _apportioned(laws: Floats) -> Places:
    """How many of 256 cells each number has, so that the least ratio of its probability to them is largest.

    Highest averages: each cell goes where the ratio is largest with it. Nobody gets less than the quota rounded down.
    """
    numbers, rows = np.floor(256.0 * laws).astype(np.intp), np.arange(len(laws))
    while (left := 256 - numbers.sum(axis=1)).any():
        numbers[rows, (laws / (numbers + 1)).argmax(axis=1)] += left > 0
    return numbers


def _alias(shares: Sequence[float]) -> tuple[list[float], list[int]]:
    """Columns of height 1 from shares that add up to their number: each holds a part of its own and of one other."""
    heights = [*shares, *[0.0] * (_COLUMNS - len(shares))]
    others = list(range(_COLUMNS))
    low, high = ([k for k, share in enumerate(heights) if (share < 1.0) == is_low] for is_low in (True, False))
    while low and high:
        one, giver = low.pop(), high[-1]
        others[one] = giver
        heights[giver] -= 1.0 - heights[one]
        if heights[giver] < 1.0:
            low.append(high.pop())
    for one in low + high:  # 1 but for rounding
        heights[one] = 1.0
    return heights, others


# Halves: the draws of a run shared out among its rows, by splitting it into halves until every row stands alone.
#
# Of the draws of a part, those of its first half are binomial. Which number they are is decided by random bits that
# belong to the part, made from the resample's key and the part's number alone: so some runs can be shared out without
# the others, and always in the same way.


MOST = 120  # draws of one run that a table can hold; more have a probability below 1e-30
_SHAPES = LONGEST // 2  # parts with equal halves, then parts of 3, 5, 7, ... rows
_IN_DOUBT = 128
_SURELY_NONE = 128  # the first of MOST laws that give 0
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)  # the constants of SplitMix64
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_OTHER = np.uint64(0xA5A5A5A5A5A5A5A5)  # makes the key of the bits that resolve a doubt


class _Level(NamedTuple):
    """Parts of two rows or more, the smallest first, and of which halves the next level consists."""

    parts: slice  # among those of all levels
    sizes: Places  # how many parts have 0, 1, 2, ... rows
    halves: tuple[tuple[int, slice], ...]  # 0 for first halves, 1 for second ones, and those of which parts

    @property
    def single(self) -> tuple[int, int]:
        """How many first and second halves, from the smallest part on, are single rows."""
        return int(self.sizes[2]), int(self.sizes[2] + self.sizes[3])

    def moved(self) -> Places:
        """How far the halves of each kind move to their places in the next level."""
        lengths = [parts.stop - parts.start for _, parts in self.halves]
        return np.asarray(np.cumsum([0, *lengths[:-1]]) - [parts.start for _, parts in self.halves])

    def next(self, first: Array, second: Array) -> Array:
        """What belongs to each part of the next level, from what belongs to the halves."""
        return np.concatenate([(first, second)[which][parts] for which, parts in self.halves])


def _levels(sizes: Places) -> tuple[_Level, ...]:
    """How runs are split, from how many of them have 0, 1, 2, ... rows."""
    levels, done = list[_Level](), 0
    while (count := int(sizes[2:].sum())) > 0:
        starts = np.concatenate(([0, 0, 0], np.cumsum(sizes[2:]), [count, count])).tolist()
        halves = []
        for half in range(2, LONGEST // 2 + 1):  # first halves of 2 h - 1 and 2 h rows, second ones of 2 h and 2 h + 1
            halves += [(0, slice(starts[2 * half - 1], starts[2 * half + 1]))]
            halves += [(1, slice(starts[2 * half], starts[2 * half + 2]))]
        levels.append(_Level(slice(done, done + count), sizes, tuple(halves)))
        done += count
        lengths = [parts.stop - parts.start for _, parts in halves]
        sizes = np.zeros_like(sizes)
        sizes[2 : LONGEST // 2 + 1] = np.add(lengths[::2], lengths[1::2])
    return tuple(levels)


@dataclass(slots=True, eq=False)
class Halves:
    """Runs of at most LONGEST rows and how they are split; rows come in the order in which they are left alone."""

    places: Places  # the runs among the totals of all, the smallest first
    single: int  # runs of one row
    levels: tuple[_Level, ...]
    rows: Places  # the row of each count
    words: Words  # the counters of the random words, a byte of which belongs to each part
    scratch: threading.local = field(default_factory=threading.local)
    held: tuple[Floats, Floats, Places] | None = None  # values last added up, in the order of the rows

    @classmethod
    def of(cls, bounds: Places) -> Halves:
        """The runs between the bounds."""
        runs, sizes = _by_size(bounds)
        levels = _levels(np.bincount(sizes, minlength=LONGEST + 1))
        single = int((sizes == 1).sum())
        rows = _rows(bounds[runs[:single]], bounds[runs[single:]], levels)
        count = levels[-1].parts.stop if levels else 0
        return cls(places_of(runs, bounds), single, levels, rows, _counters(np.arange((count + 7) // 8)))

    def shared(self, each: Array, key: np.uint64) -> Bytes:
        """How often each row is drawn, given how often each run is."""
        counts = each.ravel().take(self.places).astype(np.uint8)
        bits = _mixed(key + self.words).astype("<u8", copy=False).view(np.uint8)
        found, parts = [counts[: self.single]], counts[self.single :]
        for level, places in zip(self.levels, self._places(), strict=True):
            one = self._first_halves(level, places, parts, bits, key)
            other = parts - one
            found += [one[: level.single[0]], other[: level.single[1]]]
            parts = level.next(one, other)
        return np.concatenate(found)

    def _first_halves(
        self, level: _Level, places: NDArray[np.int64], parts: Bytes, bits: Bytes, key: np.uint64
    ) -> Bytes:
        """Binomial counts: from 8 bits, where they leave doubt from 52."""
        coarse, sums = _tables()
        cells = places.view(np.uint8)
        cells[_LOWEST::8], cells[_SECOND::8] = bits[level.parts], parts
        found: Bytes = coarse.take(places, mode="clip")
        doubtful = np.flatnonzero(found >= _IN_DOUBT)
        if len(doubtful):
            more = _mixed((key ^ _OTHER) + _counters(doubtful + level.parts.start))
            exact = _uniform(bits[level.parts].take(doubtful), more)
            least = found.take(doubtful).astype(np.intp) - _IN_DOUBT
            found[doubtful] = _counted(sums.ravel(), (places.take(doubtful) >> 8) * MOST, least, exact)
        return found

    def _places(self) -> list[NDArray[np.int64]]:
        """Places in the tables, in arrays of this thread's own: the two lowest bytes are set in each resample."""
        if not hasattr(self.scratch, "places"):
            laws = _shape(np.arange(LONGEST + 1)).astype(np.int64) << 16
            self.scratch.places = [np.repeat(laws[2:], level.sizes[2:]) for level in self.levels]
        places: list[NDArray[np.int64]] = self.scratch.places
        return places

    def sum(self, each: Array, key: np.uint64, values: Floats) -> float:
        """The sum of the drawn rows' values."""
        if self.held is None or self.held[0] is not values:
            ordered = values.take(self.rows)
            endless = np.flatnonzero(np.isinf(ordered))
            ordered[endless] = 0.0
            self.held = values, ordered, endless
        _, ordered, endless = self.held
        shared = self.shared(each, key)
        return np.inf if shared[endless].any() else float(np.einsum("i,i->", shared, ordered))


class Ways(NamedTuple):
    """The way from a run down to a place inside it, part by part, for several places."""

    places: Places  # of their runs among the totals of all
    laws: Places  # [level, way]: the first law of the part
    second: NDArray[np.bool_]  # [level, way]: whether the place lies in the part's second half, or where that begins
    words: Words  # the counters of the random words that hold the 8 bits of each part
    bits: Places  # which of their bytes
    more: Words  # the counters of the words for the other bits

    @classmethod
    def of(cls, rows: Places, runs: Places, bounds: Places) -> Ways:
        """From these runs to these rows inside them."""
        known, sizes = _by_size(bounds)
        order = np.zeros(len(bounds), np.intp)
        order[known] = np.arange(len(known))
        at = order[runs] - int((sizes == 1).sum())
        start, size = bounds[runs], bounds[runs + 1] - bounds[runs]
        laws, second, numbers = (list[Array]() for _ in range(3))
        for level in _levels(np.bincount(sizes, minlength=LONGEST + 1)):
            on = size > 1
            if not on.any():
                break
            half = (size + 1) // 2
            behind = on & (rows >= start + half)
            laws.append(np.where(on, 256 * _shape(size), _SURELY_NONE))
            second.append(behind)
            numbers.append(np.where(on, level.parts.start + at, 0))
            start, size = np.where(behind, start + half, start), np.where(behind, size - half, half)
            size = np.where(on & (rows > start), size, 1)  # the others have arrived
            at = at + level.moved().take(2 * np.maximum(size - 2, 0) + behind)
        number, shape = np.array(numbers, np.intp).ravel(), (len(laws), len(rows))
        bits = 8 * np.arange(len(number)) + (number & 7)
        return cls(
            places_of(runs, bounds), np.array(laws, np.intp).reshape(shape), np.array(second, np.bool_).reshape(shape),
            _counters(number >> 3), bits, _counters(number),
        )  # fmt: skip

    def before(self, each: Sequence[Array], keys: Words) -> Places:
        """[resample, place]: how many draws of the run fall before each place, given how often the runs are drawn."""
        counts = np.array([own.ravel().take(self.places) for own in each]).astype(np.intp)
        total, sums, keys = np.zeros_like(counts), _tables()[1], keys[:, None]
        words = _mixed(np.concatenate((keys + self.words, (keys ^ _OTHER) + self.more), axis=1))
        split = len(self.bits)
        bits = words[:, :split].astype("<u8").view(np.uint8).take(self.bits, axis=1)
        exact = _uniform(bits, words[:, split:]).reshape(len(keys), *self.laws.shape)
        sums = sums[:, : int(counts.max(initial=1))]  # no half has more draws than the run, so no later sum is reached
        for law, behind, share in zip(self.laws, self.second, exact.transpose(1, 0, 2), strict=True):
            first = (sums[law + counts] <= share[..., None]).sum(axis=2)
            total += first * behind
            counts = np.where(behind, counts - first, first)
        return total


def places_of(runs: Places, bounds: Places) -> Places:
    """Where runs stand among the totals."""
    count, depth = len(bounds) - 1, depth_of(len(bounds) - 1)
    return runs % depth * (count // depth) + runs // depth


def _by_size(bounds: Places) -> tuple[Places, Places]:
    """The runs that are split or of one row, the smallest first, and their sizes."""
    sizes = np.diff(bounds)
    runs = np.flatnonzero((sizes > 0) & (sizes <= LONGEST))
    runs = runs[np.argsort(sizes[runs].astype(np.uint8), kind="stable")]
    return runs, sizes[runs]


def _shape(sizes: Places) -> Places:
    """0 for parts whose halves are equal, 1, 2, ... for parts of 3, 5, ... rows."""
    return np.where(sizes % 2, sizes // 2, 0)


def _rows(single: Places, first: Places, levels: tuple[_Level, ...]) -> Places:
    """The rows in the order in which they are left alone, from the first rows of the runs."""
    found = [single]
    for level in levels:
        second = first + np.repeat((np.arange(LONGEST + 1)[2:] + 1) // 2, level.sizes[2:])
        found += [first[: level.single[0]], second[: level.single[1]]]
        first = level.next(first, second)
    return np.concatenate(found)


def _counted(sums: Floats, laws: Places, least: Places, exact: Floats) -> Places:
    """How many values of each distribution function are at most `exact`, known to be at least `least`."""
    left = np.arange(len(laws))
    while len(left):
        left = left[sums.take(laws[left] + least[left]) <= exact[left]]
        least[left] += 1
    return least


@lru_cache(maxsize=1)
def _tables() -> tuple[Bytes, Floats]:
    """For shapes f of parts drawn c times, at f x 256 + c: the first half's draws by 8 bits, and P(at most k draws).

    Where 8 bits leave doubt the least number that they allow is marked.
    """
    sums = np.ones((_SHAPES, 256, MOST))
    for shape in range(_SHAPES):
        share = (shape + 1.0) / (2.0 * shape + 1.0) if shape else 0.5
        law = np.eye(1, MOST)[0]
        for drawn in range(MOST):
            sums[shape, drawn, :drawn] = np.minimum(np.cumsum(law[:drawn]), 1.0)
            law = (1.0 - share) * law + share * np.concatenate(([0.0], law[:-1]))
    edges = 256.0 * sums.reshape(-1, MOST)
    cells = np.ceil(edges).astype(np.intp)
    coarse = np.array([np.repeat(np.arange(MOST), np.diff(row, prepend=0)) for row in cells], np.uint8)
    row, level = np.nonzero(cells != edges)
    coarse[row, cells[row, level] - 1] |= _IN_DOUBT
    return coarse.ravel(), sums.reshape(-1, MOST)


def _uniform(bits: Bytes, more: Words) -> Floats:
    """Numbers in [0, 1) with these 8 highest bits and 44 others."""
    return np.asarray((bits + (more >> np.uint64(20)) * 2.0**-44) / 256.0)


def _counters(numbers: Places) -> Words:
    return np.asarray((numbers.astype(np.uint64) + np.uint64(1)) * _GOLDEN)


def _mixed(state: Words) -> Words:
    """Outputs of SplitMix64 from these states."""
    state = (state ^ (state >> np.uint64(30))) * _MIX[0]
    state = (state ^ (state >> np.uint64(27))) * _MIX[1]
    return np.asarray(state ^ (state >> np.uint64(31)))
