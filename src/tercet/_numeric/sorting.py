"""Sorting many numbers on all cores, and by counting where numpy's sort is slow.

Columns are fetched on all cores, halved by numpy's partition until there is a part for each core, and the parts are
sorted at the same time.

numpy sorts with AVX-512 instructions that some processors (AMD Zen 4) carry out slowly: there its sort takes ten times
as long as sorting rows of 256 numbers. On these, columns are dealt to parts that stay in the cache, and each part is
put in the order of 65,536 cells by numpy's radix sort of 16-bit numbers. After that hardly any number is more than 127
places from where it belongs, and two rounds of sorting rows of 256, the second shifted by half a row, complete the
order. Both ways give the same result.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.parallel import CORES, many, together

_BLOCK = 1 << 16  # rows fetched at a time
_PART = 1 << 18  # numbers that are sorted at a time, and fewer as long as there are few parts
_FEW_PARTS, _MOST_PARTS = 16, 255
_MOST_OF_A_SHARE = 1.25  # that one core sorts by itself: a column that is a little longer is not worth halving
_SAMPLE = 1 << 13  # rows sampled to find the bounds of the parts
_MOST_CELLS = 1 << 16
_COARSE_CELLS = 1 << 12  # that parts are made of: a table of them stays in the innermost cache
_FEW_BOUNDS = 8  # to compare with all of them is faster than to find the cell
_ROW = 256  # numbers that numpy sorts without splitting them
_WORTHWHILE = 1 << 13  # numbers that cells are made for
T = TypeVar("T", np.float64, np.float32, np.int64)
Fetch = Callable[[slice, NDArray[T]], NDArray[T]]


class Source(NamedTuple, Generic[T]):
    """Where a column comes from: how many values a slice of rows has, and what writes them to the start of an array.

    Memory that is asked for block by block would be given back, and fetched anew, with every block.
    """

    dtype: type[T]
    count: Callable[[slice], int]
    fetch: Fetch[T]  # returns what it wrote


def ascending(rows: int, *columns: Source[T]) -> list[NDArray[T]]:
    """Columns sorted.

    >>> odd = column_of(np.array([3.0, 1.0, 2.0]))
    >>> ascending(3, odd)[0].tolist()
    [1.0, 2.0, 3.0]
    """
    if rows < _PART or not (many(rows) or _sort_is_slow()):
        every = slice(0, rows, 1)
        found = [column.fetch(every, np.empty(column.count(every), column.dtype)) for column in columns]
        for values in found:
            sort(values)
        return found
    edges = np.linspace(0, rows, CORES + 1).astype(np.intp).tolist()
    spans = [range(low, high, _BLOCK) for low, high in pairwise(edges)]
    if not _sort_is_slow():
        return _sorted_at_once(rows, spans, columns)
    found, parts = _dealt(rows, spans, columns)
    together([partial(sort, part) for part in sorted(parts, key=len, reverse=True)], rows)
    return found


def in_order(values: NDArray[T]) -> NDArray[T]:
    """The values sorted."""
    return ascending(len(values), column_of(values))[0]


def column_of(values: NDArray[T]) -> Source[T]:
    """All values of an array."""

    def fetch(rows: slice, out: NDArray[T]) -> NDArray[T]:
        some = out[: length(rows)]
        some[:] = values[rows]
        return some

    return Source(values.dtype.type, length, fetch)


def length(rows: slice) -> int:
    """How many rows a slice takes."""
    return len(range(rows.start, rows.stop, rows.step))


def _sorted_at_once(rows: int, spans: Sequence[range], columns: Sequence[Source[T]]) -> list[NDArray[T]]:
    """Every core fetches its rows; a column longer than the share of a core is halved, the others are sorted whole."""
    counts = [[column.count(slice(span.start, span.stop, 1)) for span in spans] for column in columns]
    found = [np.empty(sum(own), column.dtype) for own, column in zip(counts, columns, strict=True)]
    starts = zip(*(accumulate(own[:-1], initial=0) for own in counts), strict=True)
    together([partial(_copy, found, columns, *job) for job in zip(spans, starts, strict=True)], rows)
    most = _MOST_OF_A_SHARE * sum(map(len, found)) / CORES
    long, short = ([part for part in found if (len(part) > most) is above] for above in (True, False))
    halvings: list[Callable[[], None]] = [partial(part.partition, len(part) // 2) for part in long]
    together(halvings + [partial(sort, part) for part in short], rows)
    parts = _halved([half for part in long for half in _halves(part)], most, rows)
    together([partial(sort, part) for part in parts], rows)
    return found


def _copy(found: Sequence[NDArray[T]], columns: Sequence[Source[T]], span: range, starts: Sequence[int]) -> None:
    """Writes the values that a span of rows has in each column from these places on, a block at a time."""
    at = list(starts)
    for start in span:
        rows = slice(start, min(start + _BLOCK, span.stop), 1)
        for place, (column, values) in enumerate(zip(columns, found, strict=True)):
            at[place] += len(column.fetch(rows, values[at[place] :]))


def _halves(part: NDArray[T]) -> tuple[NDArray[T], NDArray[T]]:
    return part[: len(part) // 2], part[len(part) // 2 :]


def _halved(parts: list[NDArray[T]], most: float, rows: int) -> list[NDArray[T]]:
    """Parts that can be sorted by themselves, none longer than this."""
    while long := [part for part in parts if len(part) > most]:
        together([partial(part.partition, len(part) // 2) for part in long], rows)
        parts = [part for part in parts if len(part) <= most] + [half for part in long for half in _halves(part)]
    return parts


def _dealt(
    rows: int, spans: Sequence[range], columns: Sequence[Source[T]]
) -> tuple[list[NDArray[T]], list[NDArray[T]]]:
    """The values of the columns, dealt to parts that can be sorted by themselves and stay in the cache."""
    found, dealt = [], []
    for column in columns:
        size = column.count(slice(0, rows, 1))
        some = slice(0, rows, max(rows // _SAMPLE, 1))
        bounds = _bounds(column.fetch(some, np.empty(column.count(some), column.dtype)), size)
        counted = together([partial(_counted, column.fetch, span, bounds) for span in spans], rows)
        counts = np.array([one.counts for one in counted])
        starts = np.concatenate(([0], np.cumsum(counts.T.ravel()))).astype(np.intp)
        values = np.empty(size, bounds.dtype)
        places = starts[:-1].reshape(-1, len(spans)).T
        together([partial(_fill, values, column.fetch, *job) for job in zip(spans, counted, places, strict=True)], rows)
        ends = starts[:: len(spans)].tolist()
        dealt += [values[low:high] for low, high in pairwise(ends)]
        found.append(values)
    return found, dealt


def _bounds(sample: NDArray[T], size: int) -> NDArray[T]:
    """The least value of every part but the first."""
    parts = min(max(size // _PART, min(size // (_PART // 4) + 1, _FEW_PARTS)), _MOST_PARTS)
    sample.sort()
    return sample[np.arange(1, parts) * len(sample) // parts] if len(sample) else sample


class _Cells(NamedTuple):
    """Equally wide cells from a number on; the first and the last also hold what lies beyond them."""

    low: np.float32 | np.float64
    scale: np.float32 | np.float64
    last: int

    @classmethod
    def between(cls, low: float, high: float, count: int, dtype: np.dtype[Any]) -> _Cells | None:
        """So many cells, unless the numbers are too close or too far apart for that."""
        kind = np.float32 if dtype == np.float32 else np.float64
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            scale = kind((count - 1) / np.float64(high - low))
        return cls(kind(low), scale, count - 1) if 0.0 < scale < np.inf else None

    def of(self, values: NDArray[T]) -> NDArray[np.uint16]:
        """The number of each value's cell; larger values are in no earlier cell, however the places are rounded."""
        with np.errstate(over="ignore"):
            place = np.subtract(values, self.low, dtype=type(self.low))
            place *= self.scale
        return place.clip(0, self.last, out=place).astype(np.uint16)


def _numbering(bounds: NDArray[T]) -> Callable[[NDArray[T]], NDArray[np.uint8]]:
    """What finds the part of each value: parts begin at the bounds, or behind the cells in which the bounds are."""

    def compared(values: NDArray[T]) -> NDArray[np.uint8]:
        parts = np.zeros(len(values), np.uint8)
        for bound in bounds:
            parts += values >= bound
        return parts

    if len(bounds) <= _FEW_BOUNDS:
        return compared
    low, high = float(bounds[0]), float(bounds[-1])
    cells = _Cells.between(low, high + 2.0 * (high - low) / _COARSE_CELLS, _COARSE_CELLS, bounds.dtype)
    if cells is None or not (np.diff(codes := cells.of(bounds)) > 0).all():
        return compared
    parts = codes.searchsorted(np.arange(_COARSE_CELLS)).astype(np.uint8)
    return lambda values: parts.take(cells.of(values), mode="clip")


class _Counted(NamedTuple):
    blocks: list[tuple[NDArray[np.uint8], NDArray[np.intp]]]  # the part of each row, and the rows of each part
    counts: NDArray[np.intp]  # rows of each part in all blocks


def _counted(fetch: Fetch[T], span: range, bounds: NDArray[T]) -> _Counted:
    """To which part each value belongs."""
    blocks, counts, parts_of = [], np.zeros(len(bounds) + 1, np.intp), _numbering(bounds)
    block = np.empty(_BLOCK, bounds.dtype)
    for start in span:
        parts = parts_of(fetch(slice(start, min(start + _BLOCK, span.stop), 1), block))
        blocks.append((parts, np.bincount(parts, minlength=len(counts))))
        counts += blocks[-1][1]
    return _Counted(blocks, counts)


def _fill(found: NDArray[T], fetch: Fetch[T], span: range, counted: _Counted, places: NDArray[np.intp]) -> None:
    """Writes the values of every part, part by part, from these places on, and frees what was counted."""
    at: list[int] = places.tolist()
    counted.blocks.reverse()
    block = np.empty(_BLOCK, found.dtype)
    for start in span:
        parts, counts = counted.blocks.pop()
        some = fetch(slice(start, min(start + _BLOCK, span.stop), 1), block)
        values = some.take(np.argsort(parts, kind="stable"))
        done = 0
        for part, count in enumerate(counts.tolist()):
            found[at[part] : at[part] + count] = values[done : done + count]
            at[part] += count
            done += count


def sort(values: NDArray[T]) -> None:
    """Sorts in place, on one core; there is no NaN.

    >>> values = np.array([3.0, -np.inf, 2.0])
    >>> sort(values)
    >>> values.tolist()
    [-inf, 2.0, 3.0]
    """
    if len(values) < _WORTHWHILE or not _sort_is_slow():
        values.sort()
    elif len(values) > _PART:
        span, fetch = range(0, len(values), _BLOCK), column_of(values).fetch
        bounds = _bounds(values[:: len(values) // _SAMPLE].copy(), len(values))
        counted = _counted(fetch, span, bounds)
        ends, grouped = np.cumsum(counted.counts), np.empty_like(values)
        _fill(grouped, fetch, span, counted, ends - counted.counts)
        values[:] = grouped
        del grouped
        for part in np.split(values, ends[:-1]):
            _sort_part(part)
    else:
        _sort_part(values)


def _sort_part(values: NDArray[T]) -> None:
    if len(values) < _WORTHWHILE or not _sorted_by_cells(values):
        values.sort()


def _sorted_by_cells(values: NDArray[T]) -> bool:
    """Sorts in place unless too many values share a cell."""
    sample, count = np.sort(values[:: len(values) // 500]), min(1 << (len(values) // 8).bit_length(), _MOST_CELLS)
    cells = _Cells.between(float(sample[2]), float(sample[-3]), count, values.dtype)
    if cells is None:
        return False
    codes = cells.of(values)
    order = np.argsort(codes, kind="stable")
    codes = codes.take(order)
    crowded = codes[_ROW // 2 :][codes[_ROW // 2 :] == codes[: -_ROW // 2]]
    if len(crowded) > len(values) // 4:
        return False
    values[:] = values.take(order)
    for code in np.unique(crowded):
        start, end = codes.searchsorted(code), codes.searchsorted(code, "right")
        values[start:end].sort()
    _sort_rows(values)
    _sort_rows(values[_ROW // 2 :])
    return True


def _sort_rows(values: NDArray[T]) -> None:
    whole = len(values) // _ROW * _ROW
    values[:whole].reshape(-1, _ROW).sort(axis=1)
    values[whole:].sort()


@lru_cache(maxsize=1)
def _sort_is_slow() -> bool:
    """Whether numpy's sort takes several times as long as its radix sort of 16-bit numbers."""
    values = np.random.default_rng(0).random(_WORTHWHILE)
    codes = (values * _MOST_CELLS).astype(np.uint16)
    return _least_time(lambda: np.sort(values)) > 3.0 * _least_time(lambda: np.argsort(codes, kind="stable"))


def _least_time(work: Callable[[], object]) -> float:
    times = []
    for _ in range(5):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return min(times)
