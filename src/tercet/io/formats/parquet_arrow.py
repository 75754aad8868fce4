"""Row groups of numbers, true/false and text through pyarrow, where it is installed: half the time of duckdb."""

from __future__ import annotations

import sys
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tercet._typing import Array

if TYPE_CHECKING:
    from pyarrow import ChunkedArray

_WHOLE: dict[str, type[np.generic]] = {
    f"{sign}int{bits}": np.dtype(f"{sign}int{bits}").type for sign in ("", "u") for bits in (8, 16, 32, 64)
}
_KINDS: dict[str, type[np.generic]] = {"float": np.float32, "double": np.float64, "bool": np.bool_, **_WHOLE}
_CODED = "dictionary<values=string, indices=int32, ordered=0>"


def release_memory() -> None:
    """Gives back what pyarrow keeps for the next read: many reads share it, but nothing else can use it."""
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.default_memory_pool().release_unused()


def plain_columns(
    path: Path, names: Sequence[str], starts: Sequence[int], start: int, stop: int, texts: Sequence[str] = ()
) -> list[Array] | None:
    """The columns of the rows start..stop-1, page checksums compared; None where there is anything to report.

    That is: no pyarrow, a small part of a row group, of which pyarrow reads all, columns that are not float, double or
    boolean (the last may also hold whole numbers), a null, a NaN or a damaged page. Then the rows are read again
    through duckdb, which raises the usual error. The last column may be one of `texts`, and is then given by their
    numbers.
    """
    first, last = bisect_right(starts, start) - 1, bisect_left(starts, stop)
    rows, inside = starts[last] - starts[first], slice(start - starts[first], stop - starts[first])
    if rows > 2 * (stop - start):
        return None
    try:
        parquet = import_module("pyarrow.parquet")
        # import_module("pyarrow").default_memory_pool().release_unused()  # it would keep what earlier calls have freed
        coded = {"read_dictionary": names[-1:]} if texts else {}
        with parquet.ParquetFile(path, page_checksum_verification=True, **coded) as file:
            kinds = [str(file.schema_arrow.field(name).type) for name in names]
            texts = texts if kinds[-1] == _CODED else ()
            if not _read_plainly(kinds[:-1], None if texts else kinds[-1]) or len({*names}) < len(names):
                return None
            table = file.read_row_groups([*range(first, last)], columns=list(names), use_threads=False)
    except (ImportError, OSError, ValueError, KeyError, LookupError):  # pyarrow's own errors are ValueErrors
        return None
    if table.num_rows != rows or any(table.column(name).null_count for name in names):
        return None
    columns = [
        _array(table.column(name), _KINDS[kind]) for name, kind in zip(names, kinds, strict=True) if kind in _KINDS
    ]
    if texts:
        columns.append(_numbered(table.column(names[-1]), texts))
        if (columns[-1] < 0).any():
            return None
    columns = [one[inside] for one in columns]
    if any(one.dtype.kind == "f" and np.isnan(np.min(one, initial=0.0)) for one in columns):
        return None
    return columns


def _read_plainly(scores: Sequence[str], label: str | None) -> bool:
    return _WHOLE.keys().isdisjoint(scores) and _KINDS.keys() >= {*scores, *([] if label is None else [label])}


def _numbered(column: ChunkedArray, texts: Sequence[str]) -> Array:
    """The number of each row's text among the texts, -1 for any other."""
    numbers, found = {text: number for number, text in enumerate(texts)}, [np.empty(0, np.int32)]
    for chunk in filter(len, column.chunks):
        own = np.array([numbers.get(text, -1) for text in chunk.dictionary.to_pylist()], np.int32)
        rows = slice(chunk.offset, chunk.offset + len(chunk))
        found.append(own.take(np.frombuffer(chunk.indices.buffers()[1], np.int32, rows.stop)[rows]))
    return np.concatenate(found)


def _array(column: ChunkedArray, kind: type[np.generic]) -> Array:
    """A column without nulls; pyarrow's own to_numpy would import pandas, which takes longer than most reading."""
    found: list[Array] = [np.empty(0, kind)]
    for chunk in filter(len, column.chunks):
        content, rows = chunk.buffers()[1], slice(chunk.offset, chunk.offset + len(chunk))
        if kind is np.bool_:
            found.append(np.unpackbits(np.frombuffer(content, np.uint8), count=rows.stop, bitorder="little")[rows])
        else:
            found.append(np.frombuffer(content, kind, rows.stop)[rows])
    return (found[1] if len(found) == 2 else np.concatenate(found)).view(kind)
