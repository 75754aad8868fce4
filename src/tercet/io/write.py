"""Files are written whole or not at all. An existing file stays until the new one is complete on disk."""

from __future__ import annotations

import gzip
import os
import stat
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from tercet._numeric.frames import column_names
from tercet._numeric.validation import chosen, column, mapping, shown, shown_path, whole
from tercet._numeric.validation import path as checked_path
from tercet._numeric.validation import text as checked_text
from tercet._typing import Array, Facts
from tercet.errors import InputError
from tercet.io.formats.parquet import write_parquet
from tercet.io.formats.text import is_number
from tercet.trials import Trials, as_trials

_FORMULA = ("=", "+", "-", "@", "\t", "\r")  # a spreadsheet runs a cell that begins with one of these
_ROWS = 1 << 16


def write_text_atomically(path: str | os.PathLike[str], text: str) -> None:
    """Write UTF-8 text whole or not at all.

    Parameters
    ----------
    path : path
        The file; "-" is standard output.
    text : str
        What to write.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "note.txt")
    ...     write_text_atomically(path, "EER 0.079")
    ...     path.read_text()
    'EER 0.079'
    """
    data = checked_text(text, "text").encode("utf-8", "backslashreplace")
    with whole_file(path) as out:
        out.write(data)


def write_table(path: str | os.PathLike[str], columns: Mapping[str, object], *, format: str | None = None) -> None:
    """Write columns as CSV or TSV (.gz: packed) or as Parquet with page checksums, whole or not at all.

    Text cells of CSV and TSV that a spreadsheet would run as a formula (they begin with = + - @, a tab or a carriage
    return, and are not a number) get an apostrophe before them.

    Parameters
    ----------
    path : path
        The file; "-" is standard output, as CSV.
    columns : mapping of str to array_like
        Columns of the same length by name.
    format : {"csv", "tsv", "parquet"}, optional
        The format where the file's name does not tell.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "table.csv")
    ...     write_table(path, {"id": ["a", "b"], "score": [1.5, -0.5]})
    ...     path.read_text().split()
    ['id,score', 'a,1.5', 'b,-0.5']
    """
    write_tables(path, [mapping(columns, "columns")], format=format)


def columns_like(
    trials: Trials,
    *,
    id_column: str | Sequence[str] | None = None,
    weight_column: str | None = None,
    label_column: str | None = "label",
    first: int = 0,
) -> dict[str, Array]:
    """The ids, groups, weights and labels of trials under the names they were read by, to be written back.

    Parameters
    ----------
    trials : Trials
        What `tercet.read` gave, or trials made of it.
    id_column : str or sequence of str, optional
        The names of the ids' columns, as `tercet.read` took them. Without: "trial", or "enrol" and "test".
    weight_column : str, optional
        The name of the weights' column; by default "weight".
    label_column : str or None
        The name of the labels' column; None leaves them out.
    first : int
        The number of the first trial, where trials without ids are numbered.

    Returns
    -------
    dict of ndarray
        Columns for `write_table`, one per id field, in the order ids, groups, weights, labels.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([2.0, -1.0], [1, 0], ids=[("a1", "x1"), ("a1", "x2")])
    >>> {name: values.tolist() for name, values in columns_like(trials).items()}
    {'enrol': ['a1', 'a1'], 'test': ['x1', 'x2'], 'label': ['target', 'nontarget']}
    """
    columns = _id_columns(as_trials(trials), id_column, whole(first, "first", 0, 2**62))
    columns |= {name: np.asarray(values) for name, values in trials.groups.items()}
    for option, given in (("weight_column", weight_column), ("label_column", label_column)):
        if given is not None:
            checked_text(given, option)
    if trials.weights is not None:
        columns[weight_column or "weight"] = trials.weights
    if trials.labels is not None and label_column is not None:
        columns[label_column] = np.array(trials.classes, np.object_)[trials.labels.astype(np.intp)]
    return columns


def _id_columns(trials: Trials, id_column: str | Sequence[str] | None, first: int) -> dict[str, Array]:
    """One column per field of the ids; the numbers of the trials where they have no ids."""
    given = column_names(id_column, "id_column")
    if trials.ids is None:
        return {"trial": np.arange(first, first + len(trials))}
    if len(trials) == 0:
        return dict.fromkeys(given or ("trial",), trials.ids)
    fields = list(zip(*trials.ids.tolist(), strict=True)) if isinstance(trials.ids[0], tuple) else [trials.ids]
    usual = {1: ("trial",), 2: ("enrol", "test")}.get(len(fields), tuple(f"id_{k + 1}" for k in range(len(fields))))
    names = given if len(given) == len(fields) else usual
    return {name: np.array(values, np.object_) for name, values in zip(names, fields, strict=True)}


def write_like(
    path: str | os.PathLike[str],
    pieces: Iterable[tuple[Trials, Mapping[str, object]]],
    *,
    id_column: str | Sequence[str] | None = None,
    weight_column: str | None = None,
    label_column: str | None = "label",
    format: str | None = None,
) -> None:
    """Writes columns that were computed for trials beside the trials' own ids, groups, weights and labels.

    For `tercet calibrate apply`, `fuse` and `decide`: what came in as `enrol, test, score` goes out as `enrol, test`
    and the new columns, so that it can be read again with the same options.

    Parameters
    ----------
    path : str or path-like
        Where to write: .csv, .tsv (also .gz) or .parquet; "-" is standard output.
    pieces : iterable of (Trials, mapping of columns)
        Consecutive trials and their new columns, such as {"score": ...} or {"decision": ...}.
    id_column, weight_column, label_column : str, optional
        The names by which the trials were read; without labels where `label_column` is None.
    format : str, optional
        "csv", "tsv" or "parquet" where the name does not say it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([1.5, -0.5], [1, 0], ids=["a", "b"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tc.io.write_like(Path(folder, "out.csv"), [(trials, {"decision": [1, 0]})], id_column="trial")
    ...     text = Path(folder, "out.csv").read_text()
    >>> text.splitlines()
    ['trial,decision,label', 'a,1,target', 'b,0,nontarget']
    """
    names = {"id_column": id_column, "weight_column": weight_column, "label_column": label_column}
    write_tables(path, _with_own_columns(pieces, names), format=format)


def _with_own_columns(
    pieces: Iterable[tuple[Trials, Mapping[str, object]]], names: Facts
) -> Iterator[Mapping[str, object]]:
    """The new columns between the ids and what else is written back; a new column takes the place of an old one."""
    first = 0
    for trials, found in _iterated(pieces, "pieces", pair=True):
        own = columns_like(trials, first=first, **names)
        ids = _id_columns(trials, names["id_column"], first)
        yield {**ids, **found, **{name: values for name, values in own.items() if name not in {*ids, *found}}}
        first += len(trials)


def write_tables(
    path: str | os.PathLike[str], tables: Iterable[Mapping[str, object]], *, format: str | None = None
) -> None:
    """Write tables of the same columns one after the other into one file, one held at a time.

    Parameters
    ----------
    path : path
        The file; "-" is standard output, as CSV.
    tables : iterable of mapping
        Tables as `write_table` takes them.
    format : {"csv", "tsv", "parquet"}, optional
        The format where the file's name does not tell.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "table.csv")
    ...     write_tables(path, ({"score": [float(k)]} for k in range(2)))
    ...     path.read_text().split()
    ['score', '0.0', '1.0']
    """
    kind, packed = _kind(path, format)
    arrays = _alike(tables)
    with whole_file(path) as out:
        if kind == "parquet":
            write_parquet(out, arrays)
        elif packed:
            with gzip.GzipFile(filename="", mode="wb", fileobj=out, mtime=0) as squeezed:
                _write_csv(cast(IO[bytes], squeezed), arrays, kind)
        else:
            _write_csv(out, arrays, kind)


def _alike(tables: Iterable[Mapping[str, object]]) -> Iterator[dict[str, Array]]:
    """Each table's columns as arrays of one length, named and typed as those of the first."""
    before: dict[str, str] | None = None
    for columns in _iterated(tables, "tables"):
        columns = mapping(columns, "tables (each)")
        arrays = {str(name): column(values, str(name)) for name, values in columns.items()}
        flat = next((name for name, values in arrays.items() if values.ndim != 1), None)
        if flat is not None:
            raise InputError(f"columns[{shown(flat)}] must be one-dimensional.")
        if len({len(values) for values in arrays.values()}) > 1:
            raise InputError(f"columns of different lengths: {', '.join(f'{k} {len(v)}' for k, v in arrays.items())}.")
        kinds: dict[str, str] = {name: values.dtype.kind for name, values in arrays.items()}
        if before is not None and kinds != before:
            raise InputError("tables that go into one file must have the same columns, of the same kinds.")
        before = kinds
        yield arrays


def _iterated(values: object, name: str, pair: bool = False) -> Iterator[Any]:
    """The entries of an iterable, one after the other; pairs where that is asked for."""
    if isinstance(values, str | bytes | Mapping) or not isinstance(values, Iterable):
        raise InputError(f"{name} must be an iterable of {'pairs' if pair else 'tables'}, not {shown(values)}.")
    try:
        found = iter(values)
    except Exception as error:  # third-party iterators may raise anything
        raise InputError(f"{name} cannot be read one after the other: {error}.") from error
    for one in found:
        if pair and not (isinstance(one, tuple) and len(one) == 2 and isinstance(one[1], Mapping)):
            raise InputError(f"{name} must hold pairs (trials, mapping of columns), not {shown(one)}.")
        yield one


def _kind(path: str | os.PathLike[str], format: str | None) -> tuple[str, bool]:
    name = Path(checked_path(path, "path")).name.lower()
    if format is not None:
        chosen(format, "format", ("csv", "tsv", "parquet"))
    packed = name.endswith(".gz")
    kind = format or (Path(name.removesuffix(".gz")).suffix.lstrip(".") if str(path) != "-" else "csv")
    if kind not in ("csv", "tsv", "parquet") or (kind == "parquet" and packed):
        raise InputError(f"{shown(name)}: tables are written as .csv, .tsv (or .csv.gz, .tsv.gz) and .parquet.")
    return kind, packed


def _write_csv(out: IO[bytes], tables: Iterable[Mapping[str, Array]], kind: str) -> None:
    separator = "," if kind == "csv" else "\t"
    for number, columns in enumerate(tables):
        if number == 0:
            out.write(
                (separator.join(_cell(name, separator) for name in columns) + "\n").encode("utf-8", "backslashreplace")
            )
        length = len(next(iter(columns.values()), ()))
        for start in range(0, length, _ROWS):
            cells = [_cells(values[start : start + _ROWS], separator) for values in columns.values()]
            out.write(
                "".join(separator.join(row) + "\n" for row in zip(*cells, strict=True)).encode(
                    "utf-8", "backslashreplace"
                )
            )


def _cells(values: Array, separator: str) -> list[str]:
    if values.dtype.kind in "fiu":
        return [repr(value) for value in values.tolist()]
    return [_cell(value, separator) for value in values.tolist()]


def _cell(value: object, separator: str) -> str:
    """One cell: numbers so that they come back bit for bit, text guarded, and in quotes where it must be."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float | int):
        return repr(value)
    text = guarded(str(value))
    special = separator in text or '"' in text or "\n" in text or "\r" in text
    return '"' + text.replace('"', '""') + '"' if special else text


def guarded(text: str) -> str:
    """Text that no spreadsheet runs as a formula: an apostrophe goes before what would begin one."""
    return f"'{text}" if text.startswith(_FORMULA) and not is_number(text) else text


@contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[IO[bytes]]:
    """A file to write to that takes the place of the old one only when it is complete and on disk."""
    if isinstance(path, str | os.PathLike) and str(path) == "-":
        sys.stdout.flush()
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
        return
    target = Path(os.path.realpath(checked_path(path, "path")))
    try:
        with _direct(target) if _is_device(target) else _beside(target) as out:
            yield out
    except OSError as error:
        why = error.strerror or str(error)
        remedy = "Free space there" if target.parent.is_dir() else "Make this folder first"
        raise InputError(
            f"{target.name} cannot be written into {shown_path(target.parent)}: {why}. {remedy}, or name another "
            f"folder."
        ) from error


def _is_device(target: Path) -> bool:
    return target.exists() and not target.is_file() and not target.is_dir()


@contextmanager
def _direct(target: Path) -> Iterator[IO[bytes]]:
    with target.open("wb") as out:
        yield out


@contextmanager
def _beside(target: Path) -> Iterator[IO[bytes]]:
    """Writes a temporary file in the same folder, flushes it to disk, and renames it in one step."""
    if target.is_dir():
        raise InputError(f"{target.name} is a folder: name a file in it.")
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name[:64]}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        os.chmod(name, _mode(target))
        os.replace(name, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise
    _sync_folder(target.parent)


def _mode(target: Path) -> int:
    """The permissions of the file that is replaced, or those of any new file."""
    if target.exists():
        return stat.S_IMODE(target.stat().st_mode)
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _sync_folder(folder: Path) -> None:
    with suppress(OSError, AttributeError):
        handle = os.open(folder, os.O_RDONLY | getattr(os, "O_DIRECTORY", 0))
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
