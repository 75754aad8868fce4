"""The order of scores with their row numbers, in little more time than sorting the scores takes.

numpy sorts 64-bit numbers several times faster than it finds their order. So the row number is put into the low bits
of a 64-bit key whose high bits ascend with the score, and the keys are sorted. The key keeps as many bits of the
score as the row number leaves; the few neighbours that differ only in what was cut off are sorted afterwards.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.parallel import extremes, over_parts
from tercet._numeric.sorting import Source, ascending, length
from tercet._typing import Array, Floats

_BLOCK = 1 << 15
_AT_A_TIME = 1 << 13
_PIECES = 4  # slices per core: searching where the other class is dense takes longer
_STEPS = 8  # along a run before it is searched for
_SEARCH = 8  # a search takes as long as this many simple operations
_SIGN = -(1 << 63)
_BELOW_SIGN = (1 << 63) - 1
Keys = NDArray[np.int64]
Places = NDArray[np.intp]


class RowKeys:
    """The sorted keys of some scores. Those of rows that are marked lie above all others, which parts two classes.

    >>> order = RowKeys(np.array([0.5, -1.0, 0.25]))
    >>> ranking = order.ranked(order.keys)
    >>> ranking.rows.tolist(), ranking.scores.tolist()
    ([1, 2, 0], [-1.0, 0.25, 0.5])
    """

    def __init__(self, scores: Floats, carried: Floats | None = None, marks: NDArray[np.bool_] | None = None) -> None:
        self.scores, self.carried = scores, carried
        self.rows = scores if carried is None else _pairs(scores, carried)
        count = len(scores)
        low, high = _as_ordered(np.array(extremes(scores) if count else (0.0, 0.0))).tolist()
        self.row_bits = max(count - 1, 0).bit_length()
        self.cut = max((high - low).bit_length() + self.row_bits + (marks is not None) - 64, 0)

        def block(rows: slice, out: Keys) -> Keys:
            keys = _as_ordered(scores[rows], out[: length(rows)])
            keys -= low  # as unsigned numbers, wrapped around
            unsigned = keys.view(np.uint64)
            unsigned >>= self.cut
            unsigned <<= self.row_bits
            keys |= np.arange(rows.start, rows.stop, rows.step)
            if marks is not None:
                keys |= np.left_shift(marks[rows], 63, dtype=np.int64)
            keys ^= _SIGN
            return keys

        (self.keys,) = ascending(count, Source(np.int64, length, block))  # no two are equal: one sort orders the rows

    def ranked(self, keys: Keys, *, numbered: bool = True) -> Ranking:
        """The rows of some of the keys, by ascending score, and their row numbers if they are needed."""
        sizes = (len(keys) if numbered else 0, len(keys), 0 if self.carried is None else len(keys) + 1)
        found = Ranking(np.empty(sizes[0], np.int64), np.empty(sizes[1]), np.empty(sizes[2]))

        def fill(part: slice) -> list[Places]:
            descents, room = [], min(_BLOCK, part.stop - part.start)
            all_rows, fetched = np.empty(room, np.int64), np.empty(room, self.rows.dtype)
            for start in range(part.start, part.stop, _BLOCK):
                own = slice(start, min(start + _BLOCK, part.stop))
                rows = np.bitwise_and(keys[own], (1 << self.row_bits) - 1, out=all_rows[: own.stop - start])
                some = self.rows.take(rows, mode="clip", out=fetched[: len(rows)])  # clipping is faster than checking
                found.scores[own] = some.real
                if self.carried is not None:
                    found.carried[1:][own] = some.imag
                if numbered:
                    found.rows[own] = rows
                if self.cut:  # looked for while the scores are in the cache, from the last one of the part before
                    seen = found.scores[max(start - 1, part.start) : own.stop]
                    descents.append(np.flatnonzero(seen[1:] < seen[:-1]) + max(start - 1, part.start))
            return descents

        parts = over_parts(fill, len(keys))
        if self.cut and len(keys):
            between = np.array([len(keys) * part // len(parts) - 1 for part in range(1, len(parts))], np.intp)
            between = between[found.scores[between + 1] < found.scores[between]]
            self._mend(keys, found, np.sort(np.concatenate([*itertools.chain(*parts), between])))
        return found

    def _mend(self, keys: Keys, found: Ranking, descents: Places) -> None:
        """Orders by their scores the runs of rows that share their high bits and do not ascend."""
        if len(descents) == 0:
            return
        first, sizes = _runs(keys, descents, self.row_bits)
        places = np.repeat(first - (np.cumsum(sizes) - sizes), sizes) + np.arange(sizes.sum())
        right = places[np.lexsort((found.scores[places], np.repeat(first, sizes)))]
        for column in (found.rows, found.scores, found.carried[1:]):
            if len(column):
                column[places] = column[right]


def _runs(keys: Keys, places: Places, low_bits: int) -> tuple[Places, Places]:
    """Where the runs of keys that hold these places and share all but their low bits begin, and their lengths.

    Nearly all runs are short, so they are walked along; the rest are searched for.

    >>> first, sizes = _runs(np.array([1, 4, 5, 6, 9]), np.array([2]), 2)
    >>> first.tolist(), sizes.tolist()
    ([1], [3])
    """
    heads = keys[places] >> low_bits
    new = np.append(True, heads[1:] != heads[:-1])
    heads, first, last = heads[new], places[new].copy(), places[new].copy()
    for ends, step, least in ((first, -1, 0), (last, 1, len(keys) - 1)):
        walking = np.arange(len(heads))
        for _ in range(_STEPS):
            near = ends[walking] + step
            inside = (ends[walking] != least) & (keys.take(near, mode="clip") >> low_bits == heads[walking])
            walking = walking[inside]
            ends[walking] += step
        far = heads[walking] << low_bits
        left = step < 0
        ends[walking] = keys.searchsorted(far) if left else keys.searchsorted(far + ((1 << low_bits) - 1), "right") - 1
    return first, last - first + 1


class Ranking(NamedTuple):
    """Rows by ascending score: their numbers, their scores and what was carried along."""

    rows: Keys  # empty if not needed
    scores: Floats
    carried: Floats  # after a place that is free for a total; empty where nothing was


def _pairs(scores: Floats, carried: Floats) -> NDArray[np.complex128]:
    """A score and what it carries side by side: rows in random order are then fetched from memory once, not twice."""
    pairs = np.empty(len(scores), np.complex128)

    def fill(part: slice) -> None:
        pairs.real[part], pairs.imag[part] = scores[part], carried[part]

    over_parts(fill, len(scores))
    return pairs


def _as_ordered(scores: Floats, out: Keys | None = None) -> Keys:
    """Whole numbers that ascend as doubles do (without NaN and -0.0)."""
    bits = scores.view(np.int64)
    flipped: Keys = np.right_shift(bits, 63, out=out)
    flipped &= _BELOW_SIGN
    flipped ^= bits
    return flipped


def sorted_ranks(among: Array, values: Array, side: Literal["left", "right"] = "left") -> NDArray[np.intp]:
    """np.searchsorted(among, values) where both ascend: a few values at a time find their places within the cache."""
    found = np.empty(len(values), np.intp)

    def place(own: slice, low: int, span: Array) -> None:
        np.add(span.searchsorted(values[own], side), low, out=found[own])

    _over_spans(among, values, place)
    return found


def ranks_and_ties(among: Array, values: Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """The same on the left side between 0 and the number of the others, and the places of values found among them.

    >>> [column.tolist() for column in ranks_and_ties(np.array([1.0, 2.0]), np.array([0.0, 2.0, 3.0]))]
    [[0, 0, 1, 2, 2], [1]]
    """
    ranks, tied = np.zeros(len(values) + 2, np.intp), np.zeros(len(values), np.bool_)
    found, ranks[-1] = ranks[1:-1], len(among)

    def place(own: slice, low: int, span: Array) -> None:
        places = span.searchsorted(values[own])
        np.add(places, low, out=found[own])
        if len(span):
            np.equal(span.take(places, mode="clip"), values[own], out=tied[own])

    _over_spans(among, values, place)
    return ranks, tied.nonzero()[0]


def _over_spans(among: Array, values: Array, place: Callable[[slice, int, Array], None]) -> None:
    """Calls place with a few values at a time, the rank of the first of them and the span that holds their places."""

    def walk(part: slice) -> None:
        for start in range(part.start, part.stop, _AT_A_TIME):
            own = slice(start, min(start + _AT_A_TIME, part.stop))
            low, high = among.searchsorted(values[start]), among.searchsorted(values[own.stop - 1], "right")
            place(own, low, among[low:high])

    if len(values) <= _AT_A_TIME:
        place(slice(0, len(values)), 0, among)
    else:
        over_parts(walk, len(values), _SEARCH, _PIECES)
