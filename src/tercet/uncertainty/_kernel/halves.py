"""Halves: the draws of a run shared out among its rows, by splitting it into halves until every row stands alone.

Of the draws of a part, those of its first half are binomial. Which number they are is decided by random bits that
belong to the part, made from the resample's key and the part's number alone: so some runs can be shared out without
the others, and always in the same way.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._typing import Array, Floats
from tercet.uncertainty._kernel.score_steps import LONGEST, depth_of

Places = NDArray[np.intp]
Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]

MOST = 120  # draws of one run that a table can hold; more have a probability below 1e-30
_SHAPES = LONGEST // 2  # parts with equal halves, then parts of 3, 5, 7, ... rows
_IN_DOUBT = 128
_SURELY_NONE = 128  # the first of MOST laws that give 0
_LOWEST, _SECOND = (0, 1) if sys.byteorder == "little" else (7, 6)
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
        for law, behind, share in zip(self.laws, self.second, exact.transpose(1, 0, 2), strict=True):
            first = (sums.take(law + counts, axis=0) <= share[..., None]).sum(axis=2)
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
