"""Whole row groups of numbers and true/false through pyarrow, where it is installed: half the time of duckdb."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tercet._typing import Array

if TYPE_CHECKING:
    from pyarrow import ChunkedArray

_KINDS = {"float": np.float32, "double": np.float64, "bool": np.bool_}


def plain_columns(path: Path, names: Sequence[str], starts: Sequence[int], start: int, stop: int) -> list[Array] | None:
    """The columns of the rows start..stop-1, page checksums compared; None where there is anything to refuse or say.

    That is: no pyarrow, a range that is not of whole row groups, columns that are not float, double or boolean, a null,
    a NaN or a damaged page. Then the ordinary way reads the rows again and says it in its own words.
    """
    if start not in starts or stop not in starts:
        return None
    groups = list(range(starts.index(start), starts.index(stop)))
    try:
        parquet = import_module("pyarrow.parquet")
        with parquet.ParquetFile(path, page_checksum_verification=True) as file:
            found = [file.schema_arrow.field(name) for name in names]
            if any(str(one.type) not in _KINDS for one in found) or len({*names}) < len(names):
                return None
            table = file.read_row_groups(groups, columns=list(names), use_threads=False)
    except (ImportError, OSError, ValueError, KeyError, LookupError):  # pyarrow's own errors are ValueErrors
        return None
    if table.num_rows != stop - start or any(table.column(name).null_count for name in names):
        return None
    columns = [_array(table.column(name), _KINDS[str(one.type)]) for name, one in zip(names, found, strict=True)]
    if any(one.dtype.kind == "f" and np.isnan(np.min(one, initial=0.0)) for one in columns):
        return None
    return columns


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
