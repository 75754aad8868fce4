"""A column of few distinct values as small whole numbers, so that each distinct value is examined only once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tercet._typing import Array

_FEW = 8  # more distinct values than this are looked up instead of compared
_FIRST_ROWS = 65_536  # among these almost every value of a column with few values occurs


@dataclass(frozen=True, slots=True)
class Coded:
    """Codes from 0 on, and the value of each code. The codes are not shared, so they need no copy."""

    codes: Array
    values: list[Any]

    def __len__(self) -> int:
        return len(self.codes)

    def occurring(self) -> list[int]:
        """The codes that occur in some row; a category without rows does not count."""
        for rows in (self.codes[:_FIRST_ROWS], self.codes):
            found = np.flatnonzero(np.bincount(rows, minlength=len(self.values)))
            if len(found) == len(self.values):
                break
        return [int(code) for code in found]

    def spelled_out(self) -> Array:
        """The column itself."""
        values = np.empty(len(self.values), np.object_)
        values[:] = self.values
        return np.asarray(values[self.codes])

    def where(self, wanted: list[int]) -> Array:
        """Which rows have one of these codes."""
        if len(wanted) == 1:
            return np.asarray(self.codes == wanted[0])
        table = np.zeros(len(self.values), np.bool_)
        table[wanted] = True
        return table[self.codes]


def few_values(count: int, at: Callable[[int], Any], equal: Callable[[Any], Array]) -> Coded | None:
    """A column coded in order of appearance, by comparing all rows with each value; None where there are many values.

    Parameters are the number of rows, the value in a row, and which rows are equal to a value.
    """
    codes, values = np.zeros(count, np.uint8), list[Any]()
    rest = np.ones(count, np.bool_)
    while count and rest[(row := int(rest.argmax()))]:
        if len(values) == _FEW:
            return None
        found = equal(at(row))
        codes += np.uint8(len(values)) * found
        rest &= ~found
        values.append(at(row))
    return Coded(codes, values)


def coded(values: Array) -> Coded | None:
    """A one-dimensional array of few values."""
    return few_values(len(values), lambda row: values[row].item(), lambda value: np.asarray(values == value))


def distinct(values: Array) -> list[Hashable]:
    """The distinct values in order of appearance, as Python objects."""
    few = coded(values) if values.ndim == 1 and values.dtype.kind in "biuU" else None
    return list(dict.fromkeys(values.tolist())) if few is None else few.values


def occurring(values: Array) -> list[Hashable]:
    """The distinct values, as Python objects.

    >>> occurring(np.array([3, 1, 3]))
    [1, 3]
    """
    span = _narrow_range(values)
    if span is None:
        return distinct(values)
    return [span.start + place for place in np.flatnonzero(np.bincount(_offsets(values, span))).tolist()]


def codes_among(values: Array, known: Sequence[Hashable]) -> NDArray[np.intp]:
    """The place of each value among the known ones; a KeyError names the first that is not there.

    >>> codes_among(np.array([7, 5, 7]), [5, 7]).tolist()
    [1, 0, 1]
    """
    codes = {value: code for code, value in enumerate(known)}
    if values.dtype == np.bool_:
        values = values.view(np.uint8)
    span = _narrow_range(values)
    if span is None:
        return np.fromiter((codes[value] for value in values.tolist()), np.intp, len(values))
    table = [codes.get(value, -1) for value in span]
    places = _offsets(values, span)
    found = places if table == list(range(len(table))) else np.array(table, np.intp)[places]
    if -1 in table and found.min() < 0:
        raise KeyError(values[found.argmin()].item())
    return found


def _narrow_range(values: Array) -> range | None:
    """The range of whole numbers, if it is small enough for a table to be faster than looking up each value."""
    if values.dtype.kind not in "iu" or len(values) == 0:
        return None
    low, high = int(values.min()), int(values.max())
    return range(low, high + 1) if high - low < len(values) + 256 and high < 2**62 else None


def _offsets(values: Array, span: range) -> NDArray[np.intp]:
    """Values as places in their range."""
    places: NDArray[np.intp] = values.astype(np.intp, copy=False)
    return places - span.start if span.start else places
