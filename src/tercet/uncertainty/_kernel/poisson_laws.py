"""Poisson laws as mixtures of two: one that a random byte decides, and a rare rest.

A byte has 256 equal cells, each of which holds a number. The cells' law, scaled down a little, lies below the Poisson
law; what is left of that is the rest. Which counts come from the rest is not looked for among all: their places are
drawn, as many as a Poisson process has, so that every count is hit with the rest's share, independently of the others.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._typing import Array, Floats
from tercet.uncertainty._kernel.halves import MOST

Places = NDArray[np.intp]
Bytes = NDArray[np.uint8]

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
