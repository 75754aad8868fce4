"""The order of scores that carries row numbers along, at little more than the price of sorting the scores.

numpy sorts 64-bit numbers several times faster than it finds their order. So the row number is put into the low bits
of a 64-bit key whose high bits ascend with the score, and the keys are sorted. The key keeps as many bits of the
score as the row number leaves; the few neighbours that differ only in what was cut off are put right afterwards.
"""

from __future__ import annotations

from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.parallel import many, over_parts, together
from tercet._typing import Array, Floats

_BLOCK = 1 << 14
_AT_A_TIME = 1 << 12
_SIGN = -(1 << 63)
_BELOW_SIGN = (1 << 63) - 1
Keys = NDArray[np.int64]


class RowKeys:
    """The keys of some scores. Those of rows that are marked lie above all others, so one sort parts two classes.

    >>> order = RowKeys(np.array([0.5, -1.0, 0.25]))
    >>> ranking = order.ranked(np.sort(order.keys))
    >>> ranking.rows.tolist(), ranking.scores.tolist()
    ([1, 2, 0], [-1.0, 0.25, 0.5])
    """

    def __init__(self, scores: Floats, carried: Floats | None = None, marks: NDArray[np.bool_] | None = None) -> None:
        self.scores, self.carried = scores, carried
        count = len(scores)
        ends = [scores.min(), scores.max()] if count else [0.0, 0.0]
        low, high = _as_ordered(np.array(ends)).tolist()
        self.row_bits = max(count - 1, 0).bit_length()
        self.cut = max((high - low).bit_length() + self.row_bits + (marks is not None) - 64, 0)
        self.keys: Keys = np.empty(count, np.int64)

        def fill(part: slice) -> None:
            for start in range(part.start, part.stop, _BLOCK):
                rows = slice(start, min(start + _BLOCK, part.stop))
                keys = _as_ordered(scores[rows])
                keys -= low  # as numbers without sign, wrapped round
                unsigned = keys.view(np.uint64)
                unsigned >>= self.cut
                unsigned <<= self.row_bits
                keys |= np.arange(rows.start, rows.stop)
                if marks is not None:
                    keys |= np.left_shift(marks[rows], 63, dtype=np.int64)
                keys ^= _SIGN
                self.keys[rows] = keys

        over_parts(fill, count)

    def ranked(self, keys: Keys, *, numbered: bool = True) -> Ranking:
        """The rows of keys that have been sorted, by ascending score, and their numbers unless nobody needs them."""
        carries = self.carried is not None
        sizes = (len(keys) if numbered else 0, len(keys), len(keys) + 1 if carries else 0)
        found = Ranking(np.empty(sizes[0], np.int64), np.empty(sizes[1]), np.empty(sizes[2]))

        def fill(part: slice) -> None:
            for start in range(part.start, part.stop, _BLOCK):
                own = slice(start, min(start + _BLOCK, part.stop))
                rows = keys[own] & ((1 << self.row_bits) - 1)
                self.scores.take(rows, out=found.scores[own], mode="clip")  # to clip is quicker than to check
                if self.carried is not None:
                    self.carried.take(rows, out=found.carried[1:][own], mode="clip")
                if numbered:
                    found.rows[own] = rows

        over_parts(fill, len(keys))
        if self.cut:
            self._mend(keys, found)
        return found

    def _mend(self, keys: Keys, found: Ranking) -> None:
        """Orders by their scores the runs of rows that share their high bits and do not ascend."""
        descents = np.flatnonzero(found.scores[1:] < found.scores[:-1])
        if len(descents) == 0:
            return
        heads = np.unique(keys[descents] >> self.row_bits) << self.row_bits
        first = np.searchsorted(keys, heads)
        last = np.searchsorted(keys, heads + ((1 << self.row_bits) - 1), "right")
        sizes = last - first
        places = np.repeat(first - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
        right = places[np.lexsort((found.scores[places], np.repeat(first, sizes)))]
        for column in (found.rows, found.scores, found.carried[1:]):
            if len(column):
                column[places] = column[right]


class Ranking(NamedTuple):
    """Rows by ascending score: their numbers, their scores and what was carried along."""

    rows: Keys  # empty where nobody needs them
    scores: Floats
    carried: Floats  # after a place that is free for a total; empty where nothing was


def _as_ordered(scores: Floats) -> Keys:
    """Whole numbers that ascend as doubles do (without NaN and -0.0)."""
    bits = scores.view(np.int64)
    flipped = bits >> 63
    flipped &= _BELOW_SIGN
    flipped ^= bits
    return flipped


def sorted_ranks(among: Array, values: Array, side: Literal["left", "right"] = "left") -> NDArray[np.intp]:
    """np.searchsorted(among, values) where both ascend: a few values at a time find their places within the cache."""
    if len(values) <= _AT_A_TIME:
        return among.searchsorted(values, side)
    found = np.empty(len(values), np.intp)

    def fill(part: slice) -> None:
        for start in range(part.start, part.stop, _AT_A_TIME):
            own = slice(start, min(start + _AT_A_TIME, part.stop))
            low, high = among.searchsorted(values[start]), among.searchsorted(values[own.stop - 1], "right")
            np.add(among[low:high].searchsorted(values[own], side), low, out=found[own])

    over_parts(fill, len(values))
    return found


def sort_in_place(*arrays: NDArray[np.float64] | Keys) -> None:
    """Sorts on two cores or more: the halves around a median are independent."""
    rows = sum(map(len, arrays))
    middles = [len(values) // 2 if many(len(values)) else 0 for values in arrays]
    halved = [partial(values.partition, middle) for values, middle in zip(arrays, middles, strict=True) if middle]
    if halved:
        together(halved, rows)
        arrays = tuple(
            half for values, middle in zip(arrays, middles, strict=True) for half in (values[:middle], values[middle:])
        )
    together([values.sort for values in arrays], rows)
