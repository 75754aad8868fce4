"""Columns of a data frame by name: pandas, polars, Arrow tables, duckdb relations and mappings, none of them imported.

Each hands out a column by its own conversion to numpy, without a copy where it keeps one block of memory; a layer such
as narwhals takes 5 to 30 times as long for the same two columns and is one more dependency (docs/files.md).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from tercet._numeric.coded import Coded, few_values
from tercet._numeric.validation import column, listed, shown, text
from tercet._typing import JSON, Array
from tercet.errors import InputError

_TEXT = ("str", "string", "object", "category", "String", "Categorical", "Enum", "large_string", "dictionary")
DUCKDB_NUMBERS = {
    "TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "FLOAT", "DOUBLE",
}  # fmt: skip
_SAME_IN_ARROW = DUCKDB_NUMBERS | {"BOOLEAN", "VARCHAR", "ENUM"}


def is_frame(value: object) -> bool:
    """Whether a value is a table of named columns."""
    if isinstance(value, str | bytes | os.PathLike | type):
        return False
    return (
        _is_lazy(value)
        or isinstance(value, Mapping)
        or _names(value) is not None
        or hasattr(value, "__arrow_c_stream__")
    )


def frame_names(frame: object) -> list[object]:
    """The names of a frame's columns; anything that is not a frame is refused."""
    if _is_lazy(frame):
        raise InputError("frame is lazy: collect it first (.collect()).")
    names = list(frame) if isinstance(frame, Mapping) else _names(frame)
    if names is None:
        raise InputError(
            f"frame must be a pandas or polars data frame, an Arrow table, a duckdb relation or a mapping of names to "
            f"columns, not {shown(type(frame).__name__)}."
        )
    return names


def columns_of(frame: Any, wanted: Sequence[str], label: str | None = None) -> JSON:
    """The columns of these names, as arrays or objects that convert to arrays; unknown and repeated names are refused.

    If the `label` column is text with few distinct values, it is returned coded.
    """
    _check_names(frame_names(frame), wanted)
    if hasattr(frame, "fetchnumpy"):
        frame = _fetched(frame, wanted)
    if isinstance(frame, Mapping):
        return {name: frame[name] for name in wanted}
    found = {name: frame[name] for name in wanted}
    return {name: _array(column, coded=name == label) for name, column in found.items()}


def _fetched(relation: Any, wanted: Sequence[str]) -> Any:
    """These columns of a duckdb relation: as an Arrow table, whose text needs no Python objects, else as arrays."""
    quoted = ", ".join('"' + name.replace('"', '""') + '"' for name in dict.fromkeys(wanted))
    asked = relation.project(quoted)
    plain = {str(kind).partition("(")[0] for kind in asked.types} <= _SAME_IN_ARROW
    if plain and find_spec("pyarrow") is not None:
        return asked.to_arrow_table()
    return dict(asked.fetchnumpy())


def _is_lazy(frame: object) -> bool:
    """Whether a frame is a lazy polars query, not data."""
    return hasattr(frame, "collect") and hasattr(frame, "collect_schema") and not hasattr(frame, "to_numpy")


def _names(frame: object) -> list[object] | None:
    """The names of a frame's columns; None if it has none."""
    found = getattr(frame, "column_names", None)  # Arrow, whose `columns` are the data
    if found is None and (hasattr(frame, "__getitem__") or hasattr(frame, "fetchnumpy")):
        found = getattr(frame, "columns", None)
    if found is None or callable(found) or isinstance(found, str):
        return None
    try:
        return list(found)
    except TypeError:
        return None


def _check_names(names: Sequence[object], wanted: Sequence[str]) -> None:
    counts = Counter(name for name in names if isinstance(name, str))
    for name in wanted:
        if counts[name] > 1:
            raise InputError(f"frame has {counts[name]} columns called {shown(name)}: rename all but one of them.")
        if not counts[name]:
            near = get_close_matches(name, list(counts), 3, 0.5) or list(counts)[:6]
            hint = f" It has {', '.join(map(shown, near))}." if near else ""
            raise InputError(f"frame has no column called {shown(name)}.{hint}")


def _array(column: object, *, coded: bool) -> object:
    """A pandas column as numpy keeps it, so that nullable numbers without gaps are plain ones; bits as booleans."""
    found = _coded_text(column) if coded else None
    if found is not None:
        return found
    if hasattr(column, "iloc") and hasattr(column, "to_numpy"):
        return column.to_numpy()
    bits = _booleans(column)
    if bits is None:
        return column
    return Coded(bits, [False, True]) if coded else bits


def _coded_text(column: Any) -> Coded | None:
    """A column of text with few values, compared by its own library; None for any other column."""
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).partition("(")[0].partition("<")[0]
    if kind not in _TEXT or not len(column):
        return None
    try:
        if hasattr(column, "dictionary_encode"):
            return None if column.null_count else _of_dictionary(column) if kind == "dictionary" else _of_text(column)
        at = (lambda row: column.iloc[row]) if hasattr(column, "iloc") else column.__getitem__
        return few_values(len(column), at, lambda value: (column == value).to_numpy()) if _is_text(at(0)) else None
    except Exception:  # third-party comparisons may raise anything: the column is then read row by row
        return None


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _of_text(column: Any) -> Coded | None:
    """Codes and values of an Arrow column of text without missing values."""
    equal = import_module("pyarrow.compute").equal

    def same(value: object) -> Array:
        found = _booleans(equal(column, value))
        assert found is not None
        return found

    return few_values(len(column), lambda row: column[row].as_py(), same)


def _of_dictionary(column: Any) -> Coded | None:
    """Codes and values of an Arrow column of categories without missing values."""
    if hasattr(column, "unify_dictionaries"):
        column = column.unify_dictionaries().combine_chunks()
    values = column.dictionary.to_pylist()
    return Coded(np.asarray(column.indices), values) if all(map(_is_text, values)) else None


def _booleans(column: Any) -> Array | None:
    """Booleans that Arrow and polars keep as bits, unpacked by numpy, which is quicker than they are; else None."""
    if str(getattr(column, "dtype", "")) == "Boolean" and hasattr(column, "to_arrow"):
        try:
            column = column.to_arrow()
        except ImportError:  # polars needs pyarrow for it
            return None
    if str(getattr(column, "type", "")) != "bool" or column.null_count:
        return None
    parts = [_unpacked(one) for one in getattr(column, "chunks", [column]) if len(one)]
    return np.concatenate(parts) if len(parts) > 1 else parts[0] if parts else np.zeros(0, np.bool_)


def _unpacked(array: Any) -> Array:
    bits = np.frombuffer(array.buffers()[1], np.uint8)
    return np.unpackbits(bits, bitorder="little", count=array.offset + len(array))[array.offset :].view(np.bool_)


def column_names(given: object, name: str) -> tuple[str, ...]:
    """Names of columns: none, one or several."""
    if given is None:
        return ()
    if isinstance(given, set | frozenset):
        raise InputError(f"{name} must have an order: give a list, not a set.")
    return tuple([text(one, name) for one in ([given] if isinstance(given, str) else listed(given, name))])


def id_columns(ids: Array | None, called: Sequence[str]) -> dict[str, Array]:
    """Ids as columns: one, or one per part."""
    if ids is None:
        return {}
    first = ids[0] if len(ids) else None
    if not isinstance(first, tuple):
        if len(called) != 1:
            raise InputError(f"id_column must be one name, not {len(called)}: the ids have one part.")
        return {called[0]: np.asarray(ids)}
    parts = [np.array(part) for part in zip(*ids.tolist(), strict=True)]
    names = called if len(called) > 1 else [f"{called[0]}_{place + 1}" for place in range(len(parts))]
    if len(names) != len(parts):
        raise InputError(f"id_column must be {len(parts)} names, not {len(names)}: the ids have {len(parts)} parts.")
    return dict(zip(names, parts, strict=True))


def joined_ids(columns: Sequence[object]) -> object:
    """One column of ids as it is; of several, one tuple per row."""
    if len(columns) < 2:
        return columns[0] if columns else None
    return list(zip(*(column(one, "ids").tolist() for one in columns), strict=True))
