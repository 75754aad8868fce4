"""A column of few distinct values as small whole numbers, so that each distinct value is examined only once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

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
