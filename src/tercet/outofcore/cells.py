"""Cells: scores in any order are counted in ranges whose ends are exact, in far less time than sorting takes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.sorting import in_order
from tercet._numeric.validation import frozen
from tercet._typing import JSON, Array, Counts, Floats
from tercet.errors import InputError
from tercet.metrics.costs import softplus_total
from tercet.outofcore.bins import Costs, RangeRows
from tercet.outofcore.plain_data import PlainState

if TYPE_CHECKING:
    from tercet.outofcore.runner import Part

_BLOCK = 1 << 18  # rows numbered at a time: clearing the counts of a block takes less time than counting it
_QUANTILES, _ROWS = 256, 64  # of the sample, and rows between two: enough of them to see both classes
_DISTINCT = 0.5  # share of a sample's scores that must differ: tied scores share a cell, however narrow it is
_CROWDED = 100  # times the average, which no cell of the sample may hold
_ALLOWED = 64  # rows that a cell of any sample may hold
_NEAR = 2.0**-20  # of the way from the first cell to the last: more than single precision rounds off
_LARGE = 2.0**100  # single precision has no room for what is much larger or smaller
_SIGN = np.int32(-(1 << 31))
_BELOW_SIGN = np.int32((1 << 31) - 1)
_OVERFLOW = 2.0**128  # what follows the highest single
Numbers = NDArray[np.intp]


class Cells(NamedTuple):
    """A map from scores to the numbers 0..size that never descends, so that each number stands for a range.

    With u = (score - middle) / width, the number is the share (1 + sign(u) (1 - 1 / (1 + |u|))) / 2 of the size: half
    of the cells lie within a width of the middle. Every step is one operation in single precision, and such an
    operation never reverses an order: rounding moves the ends of the ranges, but keeps the scores in order.

    >>> cells = Cells(0.0, 1.0, 8)
    >>> cells.numbers(np.array([-np.inf, -1.0, 0.0, 0.5, 3.0, np.inf])).tolist()
    [0, 2, 4, 5, 7, 8]
    """

    middle: float
    width: float
    size: int

    @classmethod
    def of(cls, targets: Floats, nontargets: Floats, count: int) -> Cells | None:
        """At most this many cells, narrow where the classes of a sample overlap; None where bins of another kind pay.

        A vertex of the hull hides in a cell by the product of both classes, so the root of the product is the weight by
        which the middle is a median, and the width is 1.5 median distances from it.
        """
        count, sample = 1 << (count.bit_length() - 1), np.concatenate((targets, nontargets))
        pooled = in_order(sample[np.isfinite(sample)])
        if len(pooled) < 2 or np.count_nonzero(pooled[1:] != pooled[:-1]) < _DISTINCT * len(pooled):
            return None
        quantiles = pooled[np.linspace(0, len(pooled) - 1, min(len(pooled) // _ROWS + 2, _QUANTILES)).astype(np.intp)]
        inside = [np.diff(in_order(side).searchsorted(quantiles)) for side in (targets, nontargets)]
        centres, weights = quantiles[:-1] / 2.0 + quantiles[1:] / 2.0, np.sqrt(inside[0] * inside[1])
        weights = weights if weights.any() else np.ones(len(weights))
        middle = _median(centres, weights)
        with np.errstate(over="ignore"):
            width = 1.5 * _median(np.abs(centres - middle), weights)
        if abs(middle) > _LARGE or not 1.0 / _LARGE < width < _LARGE:
            return None
        found = cls(float(np.float32(middle)), float(np.float32(width)), count)
        most = np.bincount(found.numbers(pooled)).max()
        return found if most <= max(_CROWDED * len(pooled) / count, _ALLOWED) else None

    def numbers(self, scores: Array) -> Numbers:
        """The number of the cell of each score."""
        found = np.empty(len(scores), np.intp)
        for rows, numbers in self.blocks(scores):
            found[rows] = numbers
        return found

    def counts(self, columns: Iterable[Array]) -> Counts:
        """How many scores of some columns each cell holds."""
        found = np.zeros(self.size + 1, np.int64)
        for column in _joined(columns):
            for _, numbers in self.blocks(column):
                found += np.bincount(numbers, minlength=len(found))
        return found

    def blocks(self, scores: Array) -> Iterator[tuple[slice, Numbers]]:
        """Slices of the rows and the numbers of their cells, in an array that the next slice overwrites."""
        size = min(_BLOCK, len(scores))
        shares, inverses, numbers = np.empty(size, np.float32), np.empty(size, np.float32), np.empty(size, np.intp)
        for start in range(0, len(scores), _BLOCK):
            rows = slice(start, min(start + _BLOCK, len(scores)))
            own = slice(0, rows.stop - start)
            self._number(scores[rows], shares[own], inverses[own], numbers[own])
            yield rows, numbers[own]

    def _number(self, scores: Array, u: NDArray[np.float32], y: NDArray[np.float32], found: Numbers) -> None:
        """Writes the numbers of the cells; u and y are overwritten. In place, because fresh memory takes longer.

        A change of these steps must increase RULES (outofcore/files.py): saved parts would not go together.
        """
        one = np.float32(1.0)
        with np.errstate(over="ignore", under="ignore"):
            np.copyto(u, scores, casting="same_kind")
            u -= np.float32(self.middle)
            u *= np.float32(1.0 / self.width)
            np.abs(u, out=y)
            y += one
            np.divide(one, y, out=y)
            np.subtract(one, y, out=y)
            # The sign of u for y, in a quarter of the time of np.copysign.
            np.bitwise_and(u.view(np.int32), _SIGN, out=u.view(np.int32))
            np.bitwise_or(y.view(np.int32), u.view(np.int32), out=y.view(np.int32))
            y += one
            y *= np.float32(self.size / 2)
        np.copyto(found, y, casting="unsafe")

    def edges(self) -> Floats:
        """For each cell but the last the highest double that lies in it or in a lower one: by halving."""
        low, high = (self._near(sign) for sign in (-_NEAR, _NEAR))
        cells = np.arange(self.size)
        for ends, beyond, wrong in ((low, -np.inf, np.greater), (high, np.inf, np.less_equal)):
            far = wrong(self.numbers(_singles(ends)), cells)
            ends[far] = _patterns(np.array([beyond], np.float32))[0]
        open_ = np.flatnonzero(high - low > 1)
        while len(open_):
            middle = low[open_] + (high[open_] - low[open_]) // 2
            inside = self.numbers(_singles(middle)) <= cells[open_]
            low[open_[inside]], high[open_[~inside]] = middle[inside], middle[~inside]
            open_ = open_[high[open_] - low[open_] > 1]
        return _highest_rounded_to(_singles(low))

    def _near(self, off: float) -> NDArray[np.int64]:
        """Patterns of scores about where the cells end, this share of all cells off."""
        y = np.clip(np.arange(1, self.size + 1) * (2.0 / self.size) - 1.0 + off, -1.0, 1.0)
        with np.errstate(divide="ignore", over="ignore"):
            u = np.copysign(1.0 / (1.0 - np.abs(y)) - 1.0, y)
            return _patterns((self.middle + self.width * u).astype(np.float32) + np.float32(0.0))


def _joined(columns: Iterable[Array]) -> Iterator[Array]:
    """The same rows in columns that are long enough for the counts of a block to pay."""
    waiting: list[Array] = []
    for column in columns:
        waiting.append(column)
        if sum(map(len, waiting)) >= _BLOCK:
            yield np.concatenate(waiting) if len(waiting) > 1 else column
            waiting = []
    if waiting:
        yield np.concatenate(waiting)


def _median(values: Floats, weights: Floats) -> float:
    order = np.argsort(values)
    running = np.cumsum(weights[order])
    return float(values[order[np.searchsorted(running, running[-1] / 2.0)]])


def _patterns(singles: NDArray[np.float32]) -> NDArray[np.int64]:
    """Whole numbers that ascend as singles do."""
    bits = singles.view(np.int32)
    return (bits ^ ((bits >> 31) & _BELOW_SIGN)).astype(np.int64)


def _singles(patterns: NDArray[np.int64]) -> NDArray[np.float32]:
    """The singles of these patterns."""
    bits = patterns.astype(np.int32)
    return (bits ^ ((bits >> 31) & _BELOW_SIGN)).view(np.float32)


def _highest_rounded_to(singles: NDArray[np.float32]) -> Floats:
    """The highest double that rounds to each single."""
    following = np.nextafter(singles, np.float32(np.inf)).astype(np.float64)
    with np.errstate(over="ignore"):
        halfway = (np.maximum(singles.astype(np.float64), -_OVERFLOW) + np.minimum(following, _OVERFLOW)) / 2.0
        return np.where(halfway.astype(np.float32) == singles, halfway, np.nextafter(halfway, -np.inf))


@dataclass(frozen=True, slots=True, eq=False)
class CellCounts(PlainState):
    """Exact counts of unweighted scores per class and cell, and the exact sums that Cllr needs."""

    cells: tuple[float, float, int]
    targets: Counts
    nontargets: Counts
    costs: Costs

    @classmethod
    def of_part(cls, part: Part, job: JSON) -> CellCounts:
        """The counts of one part of a scan."""
        cells, pieces = Cells(*job["cells"]), part.class_scores()
        sides = [piece[0] for piece in pieces], [piece[1] for piece in pieces]
        counts = [frozen(cells.counts(side)) for side in sides]
        known = sides if job["costs"] else ([], [])
        costs = [softplus_total(side, sign) for side, sign in zip(known, (-1.0, 1.0), strict=True)]
        return cls(tuple(job["cells"]), counts[0], counts[1], (costs[0], costs[1]))

    def __add__(self, other: CellCounts) -> CellCounts:
        if self.cells != other.cells:
            raise InputError("Parts counted with different cells cannot be added: count all of them alike.")
        costs = [(a[0] + b[0], a[1] + b[1]) for a, b in zip(self.costs, other.costs, strict=True)]
        targets, nontargets = frozen(self.targets + other.targets), frozen(self.nontargets + other.nontargets)
        return CellCounts(self.cells, targets, nontargets, (costs[0], costs[1]))


class CellRows(RangeRows):
    """The scores of some parts that lie in chosen cells."""

    __slots__ = ()

    @classmethod
    def of_part(cls, part: Part, job: JSON) -> Self:
        """The rows of one part of a scan."""
        cells, chosen = Cells(*job["cells"]), np.asarray(job["chosen"], np.bool_)
        found: tuple[list[Array], list[Array]] = ([np.empty(0)], [np.empty(0)])
        for piece in part.class_scores():
            for side, held in zip(piece, found, strict=True):
                held += [side[rows].compress(chosen.take(numbers)) for rows, numbers in cells.blocks(side)]
        targets, nontargets = (frozen(np.concatenate(held)) for held in found)
        return cls(targets, nontargets, None, None, 0)
