"""Files as numbered parts of bounded size: what is where, and one part's scores and labels at a time."""

from __future__ import annotations

import csv
import glob
import hashlib
import json
import math
import os
import shutil
import sys
import tempfile
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from decimal import Decimal
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.validation import shown
from tercet.errors import InputError
from tercet.io._database import connected, identifier, quoted, unglobbed
from tercet.io._limits import in_words
from tercet.io._plain_files import called_as
from tercet.outofcore.counts import RowError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

_FLOATS = ("FLOAT", "DOUBLE")
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_PAIRS = (("0", "1"), ("false", "true"), ("nontarget", "target"))
_READING = 400 << 20  # bytes duckdb may take for a piece
_PIECE = 1 << 20  # rows of whole row groups that are read at a time
_CUT = 1 << 21  # rows of a larger row group: each cut reads over all that is before it, so there should be few
_SMALL = 32 << 20  # bytes of a row group that the reading of any part has room for
_LARGE = 1 << 25  # rows from which on loading a second library pays
_DAMAGED = "Write the file again, or leave it out."


class Stamp(NamedTuple):
    """A file as it was when it was planned."""

    path: str
    bytes: int
    changed: int  # when, in nanoseconds
    place: tuple[int, int]  # device and inode: another file under the same name has others

    @classmethod
    def of(cls, path: Path) -> Stamp:
        """The file as it is now."""
        now = path.stat()
        return cls(str(path), now.st_size, now.st_mtime_ns, (now.st_dev, now.st_ino))


@dataclass(frozen=True, slots=True)
class Plan:
    """The numbered parts of some files, how their labels are read, and a name for all of it."""

    parts: tuple[dict[str, Any], ...]
    columns: dict[str, Any]
    rows: int
    files: tuple[Stamp, ...]
    group: int = 0  # bytes of the largest row group's two columns, which are read at once; 0 where that is little

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(file.bytes for file in self.files)

    @property
    def name(self) -> str:
        """A fingerprint: files that have not been written to since, with the same columns and labels, give the same."""
        parts = [{key: value for key, value in part.items() if key != "path"} for part in self.parts]
        text = json.dumps([self.files, parts, self.columns], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def check_unchanged(self) -> None:
        """Refuses what was read from a file that has been written to since it was planned."""
        for file in self.files:
            if not Path(file.path).exists() or Stamp.of(Path(file.path)) != file:
                called = called_as(Path(file.path))
                raise InputError(f"{called} was written to while it was read. Evaluate again when it is whole.")


def listed(paths: Any) -> list[Path]:
    """The files that paths and patterns name, in a fixed order, each once."""
    given = [paths] if isinstance(paths, str | bytes | os.PathLike) or not isinstance(paths, Iterable) else list(paths)
    found: list[Path] = []
    for one in given:
        if not isinstance(one, str | os.PathLike) or isinstance(os.fspath(one), bytes):
            raise InputError(f"Files are named by text or paths, not {shown(one)}.")
        text = os.fspath(one)
        matches = (
            [text] if os.path.lexists(text) or not glob.has_magic(text) else sorted(glob.glob(text, recursive=True))
        )
        if not matches:
            raise InputError(f"{shown(text)} matches no file.")
        found.extend(Path(match) for match in matches)
    if not found:
        raise InputError("No file was named.")
    seen: set[tuple[int, int]] = set()
    for path in found:
        if not path.exists():
            raise InputError(f"{called_as(path)}: there is no such file in {shown(str(path.absolute().parent))}.")
        if path.is_dir():
            raise InputError(f"{called_as(path)} is a folder: name its files, as in {shown(str(path / '*.parquet'))}.")
        if (place := Stamp.of(path).place) in seen:
            raise InputError(
                f"{called_as(path)} is named twice, perhaps by a link, and would be counted twice. Name it once."
            )
        seen.add(place)
    return found


@contextmanager
def planned(
    paths: Any, score: str, label: str, target: object, part_rows: int, *, shared: bool = False
) -> Iterator[Plan]:
    """The plan for some files; text is first turned into Parquet in the temporary folder, for as long as it takes.

    A part has at most `part_rows` rows, or twice as many of float32 scores, which take half the memory.
    `shared` says that others must see the files too, so nothing may be kept in a temporary folder here.
    """
    files = listed(paths)
    with ExitStack() as stack:
        con = stack.enter_context(reading())
        described = [_described(con, stack, path.absolute(), (score, label), shared) for path in files]
        kinds = {(one["label_type"] in _WHOLE + _FLOATS) or one["label_type"] for one in described}
        if len(kinds) > 1:
            odd = next(one for one in described if one["label_type"] != described[0]["label_type"])
            raise InputError(
                f"{odd['called']}: column {shown(label)} is {odd['label_type']}, but {described[0]['label_type']} in "
                f"{described[0]['called']}. Write all parts with the same type of label."
            )
        parts = [part for one in described for part in _parts(one, part_rows * (2 if one["narrow"] else 1))]
        for number, part in enumerate(parts):
            part["number"] = number
        rows = sum(one["rows"] for one in described)
        columns = {"score": score, "label": label, "labels": {"how": "unknown"}, "large": rows >= _LARGE}
        if parts:
            columns["labels"] = _label_rule(con, described, parts, label, target)
        group = max(one["group_bytes"] for one in described)
        files_now = tuple(one["stamp"] for one in described)
        yield Plan(tuple(parts), columns, rows, files_now, group if group > _SMALL else 0)


def _described(
    con: DuckDBPyConnection, stack: ExitStack, path: Path, columns: tuple[str, str], shared: bool
) -> dict[str, Any]:
    """What a file holds: kind, rows, where its row groups start, and the type of its labels."""
    called = called_as(path)
    try:
        with path.open("rb") as file:
            head = file.read(6)
    except OSError as error:
        raise InputError(f"{called} cannot be read: {error.strerror}.") from None
    if not head:
        raise InputError(f"{called} is empty (0 bytes): write it again, or leave it out.")
    found = {"path": str(path), "called": called, "stamp": Stamp.of(path)}
    if head == b"\x93NUMPY":
        return found | _described_npy(path, called, columns)
    if head[:4] == b"PAR1":
        return found | _described_parquet(con, path, called, columns)
    if path.suffix.lower() not in (".csv", ".tsv", ".txt"):
        raise InputError(f"{called} is neither Parquet nor npy, and its name does not end in .csv or .tsv.")
    if shared:
        raise InputError(f"{called} is text: a cluster reads Parquet. Write it as Parquet first (duckdb: COPY ... TO).")
    plain = _as_parquet(con, stack, path, called, columns)
    return found | {"path": str(plain)} | _described_parquet(con, plain, called, columns)


def _described_parquet(con: DuckDBPyConnection, path: Path, called: str, columns: tuple[str, str]) -> dict[str, Any]:
    import duckdb

    try:
        with unglobbed(path) as plain:
            source = quoted(str(plain))
            types = {str(row[0]): str(row[1]) for row in con.execute(f"DESCRIBE FROM {_table(plain)}").fetchall()}
            sizes = con.execute(
                f"SELECT row_group_id, any_value(row_group_num_rows), sum(total_compressed_size) "
                f"FILTER (path_in_schema IN ({quoted(columns[0])}, {quoted(columns[1])})) "
                f"FROM parquet_metadata({source}) GROUP BY 1 ORDER BY 1"
            ).fetchall()
    except duckdb.Error as error:
        raise InputError(f"{called} cannot be read as Parquet: {_first_line(error)}. {_DAMAGED}") from None
    _check_columns(called, columns, types)
    starts = [0]
    for _, rows, _ in sizes:
        starts.append(starts[-1] + int(rows))
    return {
        "kind": "parquet", "rows": starts[-1], "starts": starts, "label_type": types[columns[1]].split("(")[0],
        "narrow": types[columns[0]] == "FLOAT", "group_bytes": max((int(size or 0) for *_, size in sizes), default=0),
    }  # fmt: skip


def _check_columns(called: str, columns: tuple[str, str], types: dict[str, str]) -> None:
    for name, option in zip(columns, ("score_column", "label_column"), strict=True):
        if name not in types:
            there = ", ".join(shown(column) for column in list(types)[:8])
            raise InputError(f"{called} has no column {shown(name)}: it has {there}. Name it with {option}.")
    if types[columns[0]] not in _FLOATS + _WHOLE:
        raise InputError(f"{called}: column {shown(columns[0])} must hold numbers, not {types[columns[0]]}.")
    if types[columns[1]] not in (*_FLOATS, *_WHOLE, "BOOLEAN", "VARCHAR") and not types[columns[1]].startswith("ENUM"):
        raise InputError(f"{called}: column {shown(columns[1])} cannot hold labels, being {types[columns[1]]}.")


def _described_npy(path: Path, called: str, columns: tuple[str, str]) -> dict[str, Any]:
    try:
        array = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise InputError(f"{called} cannot be read as npy: {shown(str(error))}. {_DAMAGED}") from None
    if array.dtype.names is None or array.ndim != 1:
        raise InputError(
            f"{called} holds one array without named fields: for scores and labels apart use tercet."
            f"outofcore.scan.evaluate_chunks(Arrays(scores, labels)) with arrays from np.load(..., mmap_mode='r')."
        )
    names = {"f": "DOUBLE", "i": "BIGINT", "u": "UBIGINT", "b": "BOOLEAN", "U": "VARCHAR"}
    types = {name: names.get(array.dtype[name].kind, str(array.dtype[name])) for name in array.dtype.names}
    _check_columns(called, columns, types)
    ends = [0, len(array)]
    return {
        "kind": "npy",
        "rows": ends[-1],
        "starts": ends,
        "label_type": types[columns[1]],
        "narrow": False,
        "group_bytes": 0,
    }


def _as_parquet(con: DuckDBPyConnection, stack: ExitStack, path: Path, called: str, columns: tuple[str, str]) -> Path:
    """A text table's two columns as Parquet in the temporary folder."""
    import duckdb

    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tercet-scale-")))
    if path.stat().st_size > shutil.disk_usage(folder).free // 2:
        raise InputError(
            f"{called} ({in_words(path.stat().st_size)} of text) would fill the temporary folder {folder.parent}: set "
            f"TMPDIR to another, or write the file as Parquet."
        )
    delimiter = "\t" if path.suffix.lower() == ".tsv" else ","
    with path.open(encoding="utf-8-sig", newline="", errors="replace") as file:
        names = next(csv.reader(file, delimiter=delimiter), [])
    _check_columns(called, columns, {name: "VARCHAR" if name == columns[1] else "DOUBLE" for name in names})
    held = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in names)
    score, label = (identifier(name) for name in columns)
    plain = folder / "table.parquet"
    try:
        with unglobbed(path) as source:
            con.execute(
                f"COPY (SELECT CASE WHEN contains({score}, '_') THEN error('a score with an underscore') "
                f"ELSE {score}::DOUBLE END AS {score}, {label} FROM read_csv({quoted(str(source))}, header=true, "
                f"auto_detect=false, columns={{{held}}}, delim={quoted(delimiter)}, quote='\"', escape='\"', "
                f"nullstr='')) TO {quoted(str(plain))} (FORMAT parquet)"
            )
    except duckdb.IOException as error:
        raise InputError(
            f"{called} cannot be turned into Parquet in the temporary folder {folder.parent}: {_first_line(error)}. "
            f"If that is full, set TMPDIR to another, or write the file as Parquet."
        ) from None
    except duckdb.Error as error:
        raise InputError(f"{called} cannot be read as a table: {_first_line(error)}.") from None
    return plain


def _parts(file: dict[str, Any], part_rows: int) -> Iterator[dict[str, Any]]:
    """Whole row groups together up to a number of rows; a larger row group is cut."""
    starts, common = file["starts"], {key: file[key] for key in ("path", "called", "kind", "label_type")}
    for first, end in _groups(starts, part_rows):
        for low, high in _even(starts[first], starts[end], part_rows):
            yield common | {"start": low, "stop": high, "group": first, "starts": starts[first : end + 1]}


def _groups(starts: Sequence[int], rows: int) -> Iterator[tuple[int, int]]:
    """Row groups first..end-1 that together have at most so many rows; one alone may have more."""
    first, last = 0, len(starts) - 1
    while first < last:
        end = max(bisect_right(starts, starts[first] + rows) - 1, first + 1)
        yield first, end
        first = end


def _even(start: int, stop: int, rows: int) -> Iterator[tuple[int, int]]:
    """start..stop as ranges of like length, none above so many rows; one at least."""
    count = max(-(-(stop - start) // rows), 1)
    return pairwise(start + (stop - start) * k // count for k in range(count + 1))


def pieces_of(part: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A part of many rows as smaller ones that are read one after the other: whole row groups where they are small."""
    for first, end in _groups(part["starts"], _PIECE):
        starts = part["starts"][first : end + 1]
        for low, high in _even(max(starts[0], part["start"]), min(starts[-1], part["stop"]), _CUT):
            yield part | {"start": low, "stop": high, "group": part["group"] + first, "starts": starts}


def _label_rule(
    con: DuckDBPyConnection,
    files: Sequence[dict[str, Any]],
    parts: Sequence[dict[str, Any]],
    label: str,
    target: object,
) -> dict[str, Any]:
    """How a label says that it is the target: fixed once, for all parts alike."""
    kind = files[0]["label_type"]
    if kind == "BOOLEAN":
        if target is not None and str(target).lower() not in ("true", "false"):
            raise InputError(f"target={shown(target)} is not among the labels, which are true and false.")
        return {"how": "boolean", "target": target is None or str(target).lower() == "true"}
    if kind in _FLOATS + _WHOLE:
        return {"how": "number", "target": None if target is None else _number(target)}
    if target is not None:
        return {"how": "text", "target": str(target), "pair": None}
    # A part without rows or with nulls alone tells nothing.
    found = next((words for part in parts if (words := _distinct_labels(con, part, label))), [])
    pair = next((pair for pair in _PAIRS if {text.lower() for text in found} <= set(pair)), None)
    if pair is None:
        raise InputError(
            f"labels hold {', '.join(shown(text) for text in found[:4])}{', ...' if len(found) > 4 else ''}: name the "
            f"one that is the target (target=...); only 0/1, false/true and nontarget/target go without."
        )
    return {"how": "text", "target": pair[1], "pair": list(pair)}


def _number(target: object) -> int | float:
    """The number that a target names: whole ones to the last digit, where a double would take neighbours for it."""
    try:
        named = Decimal(str(target))
        if named.is_finite():
            return int(named) if named == named.to_integral_value() else float(named)
    except (ArithmeticError, ValueError):
        pass
    raise InputError(f"target={shown(target)} is not among the labels, which are numbers.")


def _as_held(target: int | float | None, label_type: str) -> int | float | None:
    """The target as a column of this type holds it, or None where it cannot: then no label is equal to it."""
    if target is None:
        return 1
    if label_type in _WHOLE:
        return target if isinstance(target, int) and -(2**63) <= target < 2**64 else None
    held = float(target) if abs(target) <= sys.float_info.max else math.inf
    return held if held == target else None


def _distinct_labels(con: DuckDBPyConnection, part: dict[str, Any], label: str) -> list[str]:
    if part["kind"] == "npy":
        return [str(value) for value in np.unique(np.load(part["path"], mmap_mode="r")[label][: part["stop"]])]
    with unglobbed(Path(part["path"])) as path:
        rows = con.execute(
            f"SELECT DISTINCT {identifier(label)}::VARCHAR FROM {_scan(path, part)} "
            f"WHERE {identifier(label)} IS NOT NULL ORDER BY 1 LIMIT 8"
        ).fetchall()
    return [str(row[0]) for row in rows]


def _table(path: Path, more: str = "") -> str:
    """A Parquet file as SQL: its own columns, whatever the folders above it are called."""
    return f"read_parquet({quoted(str(path))}, hive_partitioning = false{more})"


def _scan(path: Path, part: dict[str, Any]) -> str:
    low, high = part["start"], part["stop"] - 1
    return f"(FROM {_table(path, ', file_row_number = true')} WHERE file_row_number BETWEEN {low} AND {high})"


@contextmanager
def reading(more: int = 0) -> Iterator[DuckDBPyConnection]:
    """A connection for parts: one thread a query and nothing cached, because the caller has threads of its own.

    `more` are bytes that row groups take beside what reading takes anyway.
    """
    import duckdb

    with connected(_READING + more, spill=False) as con:
        con.execute("SET threads = 1")
        with suppress(duckdb.Error):  # older versions cache no files
            con.execute("SET enable_external_file_cache = false")
        yield con


def read_pieces(
    con: DuckDBPyConnection, part: dict[str, Any], columns: dict[str, Any]
) -> Iterator[tuple[dict[str, Any], NDArray[Any], NDArray[np.bool_]]]:
    """(piece, scores, which are targets) of one part, some row groups at a time."""
    for piece in pieces_of(part):
        yield piece, *read_part(con, piece, columns)


def read_part(
    con: DuckDBPyConnection, part: dict[str, Any], columns: dict[str, Any]
) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """One part's scores, and which of them are targets; what cannot be read is refused by file and row group."""
    import duckdb

    try:
        if part["kind"] != "parquet":
            scores, codes = _from_npy(part, columns)
        elif (held := _from_arrow(part, columns)) is not None:
            scores, codes = held
        else:
            with unglobbed(Path(part["path"])) as path:
                asked = f"{identifier(columns['score'])} AS s, {_label_sql(part, columns)} AS l"
                table = con.execute(f"SELECT {asked} FROM {_scan(path, part)}").fetchnumpy()
            scores, codes = table["s"], table["l"]
    except duckdb.OutOfMemoryException:
        raise InputError(
            f"{place_of(part)} is too large to be read: write the file in row groups of a million rows or so."
        ) from None
    except (duckdb.Error, OSError, ValueError) as error:
        raise InputError(f"{place_of(part)} cannot be read: {_first_line(error)}. {_DAMAGED}") from None
    if len(scores) != part["stop"] - part["start"]:
        raise InputError(
            f"{place_of(part)} holds {len(scores)} rows, not {part['stop'] - part['start']}: it has changed."
        )
    return _judged_scores(part, scores), _judged_labels(part, columns, codes)


def _judged_scores(part: dict[str, Any], scores: Any) -> NDArray[Any]:
    if isinstance(scores, np.ma.MaskedArray):
        missing = np.flatnonzero(np.ma.getmaskarray(scores))
        if len(missing):
            raise InputError(f"{place_of(part, missing[0])}: the score is missing (null). Drop such rows.")
        scores = scores.data
    if scores.dtype.kind in "iu" and len(scores) and max(abs(int(scores.min())), abs(int(scores.max()))) >= 2**53:
        raise InputError(f"{place_of(part)}: whole scores of 2**53 and more would merge neighbours. Rescale them.")
    return np.asarray(scores)


def _judged_labels(part: dict[str, Any], columns: dict[str, Any], codes: Any) -> NDArray[np.bool_]:
    bad = np.ma.getmaskarray(codes) if isinstance(codes, np.ma.MaskedArray) else None
    values = np.asarray(codes.data if bad is not None else codes)
    if bad is None and values.dtype != np.bool_:
        bad = values > 1
    if bad is not None and bad.any():
        row = int(np.flatnonzero(bad)[0])
        rule = columns["labels"]
        allowed = "0 and 1" if rule["how"] == "number" else " and ".join(rule.get("pair") or ("true", "false"))
        raise InputError(
            f"{place_of(part, row)}: the label is missing, or another than {allowed} as in the parts before. Name the "
            f"target (target=...), or drop such rows."
        )
    return values.astype(np.bool_, copy=False)


def _label_sql(part: dict[str, Any], columns: dict[str, Any]) -> str:
    """The label as true/false, or as 1 for a target, 0 for another and 2 for what is refused."""
    rule, label = columns["labels"], identifier(columns["label"])
    if rule["how"] == "boolean":
        return label if rule["target"] else f"NOT {label}"
    if rule["how"] == "number":
        target = _as_held(rule["target"], part["label_type"])
        same = "FALSE" if target is None else f"{label} = {target!r}"
        other = f"{label} = 0" if rule["target"] is None else f"NOT isnan({label}::DOUBLE)"
        return f"(CASE WHEN {same} THEN 1 WHEN {other} THEN 0 ELSE 2 END)::TINYINT"
    if rule["pair"] is None:
        return (
            f"(CASE WHEN {label} = {quoted(rule['target'])} THEN 1 WHEN {label} IS NOT NULL THEN 0 ELSE 2 END)::TINYINT"
        )
    text, (no, yes) = f"lower({label})", map(quoted, rule["pair"])
    return f"(CASE WHEN {text} = {yes} THEN 1 WHEN {text} = {no} THEN 0 ELSE 2 END)::TINYINT"


def _from_arrow(part: dict[str, Any], columns: dict[str, Any]) -> tuple[NDArray[Any], NDArray[Any]] | None:
    """Whole row groups of numbers and true/false through pyarrow where it is installed: half the time of duckdb.

    It checks page checksums too. None where there is something to it that duckdb tells better, such as nulls.
    """
    whole = part["start"] == part["starts"][0] and part["stop"] == part["starts"][-1]
    if not columns["large"] or not whole or columns["labels"]["how"] != "boolean":
        return None
    try:
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError:
        return None
    asked = [columns["score"], columns["label"]]
    with parquet.ParquetFile(part["path"], page_checksum_verification=True) as file:
        groups = list(range(part["group"], part["group"] + len(part["starts"]) - 1))
        table = file.read_row_groups(groups, columns=asked, use_threads=False)
    if sorted(table.column_names) != sorted(asked) or any(table.column(name).null_count for name in asked):
        return None
    scores, marks = (table.column(name).to_numpy() for name in asked)
    return scores, marks if columns["labels"]["target"] else ~marks


def _from_npy(part: dict[str, Any], columns: dict[str, Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    rows = np.load(part["path"], mmap_mode="r", allow_pickle=False)[part["start"] : part["stop"]]
    rule, label = columns["labels"], np.array(rows[columns["label"]])
    if rule["how"] == "boolean":
        return np.array(rows[columns["score"]]), label == rule["target"]
    if rule["how"] == "text":
        label = label if rule["pair"] is None else np.char.lower(label)
    target = _as_held(rule["target"], part["label_type"]) if rule["how"] == "number" else rule["target"]
    yes = np.zeros(len(label), np.bool_) if target is None else label == target
    no = {"number": label == label if rule["target"] is not None else label == 0}.get(rule["how"])
    if no is None:
        no = np.ones(len(label), np.bool_) if rule["pair"] is None else label == rule["pair"][0]
    return np.array(rows[columns["score"]]), np.where(yes, 1, np.where(no, 0, 2)).astype(np.int8)


def place_of(part: dict[str, Any], row: int | None = None) -> str:
    """A part as an error names it: the file, the row group and, where one is meant, the row."""
    group = part["group"]
    if row is None:
        last = group + len(part["starts"]) - 2
        groups = f"row group {group}" if last == group else f"row groups {group} to {last}"
        return f"{part['called']}, {groups}"
    place = part["start"] + int(row)
    return (
        f"{part['called']}, row group {group + bisect_right(part['starts'], place) - 1}, row {place} (counting from 0)"
    )


def located(part: dict[str, Any], error: RowError) -> InputError:
    """The error of a row with its file and row group."""
    return InputError(f"{place_of(part, error.row)}: {error}")


def _first_line(error: Exception) -> str:
    return shown((str(error).strip() or type(error).__name__).splitlines()[0])[1:-1].rstrip(".")
