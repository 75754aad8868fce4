"""Labels as places among known values, by a table where they are whole numbers of a small range."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.validation import distinct
from tercet._typing import Array


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
