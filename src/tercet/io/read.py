"""read: a file of scores, with its labels beside it, in another file or in a key, becomes Trials."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.validation import shown
from tercet.errors import InputError
from tercet.io._column_roles import WantedColumns, score_roles, trial_columns
from tercet.io._column_source import check_hints, column_source
from tercet.io._database import connected
from tercet.io._limits import memory_limit
from tercet.io._plain_files import PlainFile, Progress, plain_file
from tercet.io._trial_columns import (
    TrialColumns,
    check_meaning,
    confusion_of_words,
    decisions_of,
    is_matrix,
    trials_of,
)
from tercet.io.columns import Labels, Store
from tercet.io.formats.npy import Npz, npy_array
from tercet.io.formats.text import check_text, first_lines, missing_column
from tercet.io.formats.trial_lists import FORMATS, LISTS, Hints
from tercet.io.join import Notes, joined
from tercet.metrics.confusion import Confusion
from tercet.trials import Trials

Path = str | os.PathLike[str]
MISSING = ("error", "drop", "reject")
_ANY_SIZE = 1 << 62  # bytes: what is read in pieces is not held


def read(
    path: Path,
    *,
    labels: Path | None = None,
    key: Path | None = None,
    format: str | None = None,
    separator: str | None = None,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    score_column: str = "score",
    label_column: str = "label",
    weight_column: str | None = None,
    group_columns: Sequence[str] = (),
    id_column: str | Sequence[str] | None = None,
    keep_ids: bool | None = None,
    target: object = None,
    meaning: str = "llr",
    trained_prior: object = None,
    class_columns: Sequence[str] | None = None,
    missing: str = "error",
    labelled: bool | None = None,
    name: str | None = None,
    memory: int | None = None,
    progress: Progress | None = None,
    notes: Notes | None = None,
) -> Trials:
    """The trials in a file, in the order of its rows; formats, joins and what is refused: docs/files.md.

    `keep_ids=None` keeps trial ids when `id_column` names them and no key is joined; `labelled=True` refuses
    a file without labels, `False` leaves them unread; `memory` is the most bytes the columns may take.
    """
    return next(_trials(None, **locals()))


def read_chunks(path: Path, rows: int = 1 << 20, **options: Any) -> Iterator[Trials]:
    """The trials of a table of any length, so many rows at a time; options are those of read.

    Arrays (npy, npz) and files that are joined with a key or with labels of their own come as one piece.
    """
    usual = {name: one.default for name, one in signature(read).parameters.items() if name != "path"}
    if unknown := sorted(set(options) - set(usual)):
        raise TypeError(f"read_chunks() got an unexpected keyword argument {unknown[0]!r}")
    return _trials(rows, path=path, **(usual | options))


def _trials(
    rows: int | None,
    *,
    path: Path,
    meaning: str,
    trained_prior: object,
    target: object,
    name: str | None,
    **given: Any,
) -> Iterator[Trials]:
    """The trials of a file, in pieces of so many rows where that is said; the rest of the options as read has them."""
    check_meaning(meaning, trained_prior)
    ids, classes = _tuple(given["id_column"]), given["class_columns"]
    wanted = WantedColumns(
        given["score_column"],
        given["label_column"],
        given["weight_column"],
        _tuple(given["group_columns"]),
        ids,
        None if classes is None else _tuple(classes),
        is_matrix(meaning),
        False if given["labels"] is not None else given["labelled"],
        (bool(ids) and given["key"] is None) if given["keep_ids"] is None else given["keep_ids"],
    )
    columns = None if given["columns"] is None else tuple(given["columns"])
    hints = Hints(given["format"], given["separator"], columns, given["header"], given["score_column"])
    limit, watch = memory_limit(given["memory"]), (given["progress"], given["notes"])
    request = Request(path, given["labels"], given["key"], hints, wanted, given["missing"], meaning, limit, *watch)
    for got, usual, stem in _collected(request, rows):
        yield trials_of(got, meaning, usual if target is None else target, trained_prior, name or stem)


def read_decisions(
    path: Path,
    *,
    decision_column: str = "decision",
    labels: Path | None = None,
    key: Path | None = None,
    format: str | None = None,
    separator: str | None = None,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    label_column: str = "label",
    weight_column: str | None = None,
    id_column: str | Sequence[str] | None = None,
    target: object = None,
    classes: Sequence[object] | None = None,
    actions: Sequence[object] | None = None,
    missing: str = "error",
    memory: int | None = None,
    progress: Progress | None = None,
    notes: Notes | None = None,
) -> Confusion:
    """Decided labels of a column counted against the true ones; both speak of classes by the same words."""
    if missing == "reject":
        raise InputError("missing='reject' is for scores: a trial without a decision is left out (drop) or refused.")
    wanted = WantedColumns(
        decision_column,
        label_column,
        weight_column,
        ids=_tuple(id_column),
        labelled=labels is None,
        decided=True,
    )
    hints = Hints(format, separator, None if columns is None else tuple(columns), header, decision_column)
    got, _, _ = collected(
        Request(path, labels, key, hints, wanted, missing, "decisions", memory_limit(memory), progress, notes)
    )
    return confusion_of_words(got, target, classes, actions)


@dataclass(frozen=True, slots=True)
class Request:
    """One reading: which files, what is said about them, and what is wanted of them."""

    path: Path
    labels: Path | None
    key: Path | None
    hints: Hints
    wanted: WantedColumns
    missing: str
    meaning: str
    limit: int
    progress: Progress | None
    notes: Notes | None


def collected(request: Request) -> tuple[TrialColumns, str | None, str]:
    """The columns that were asked for, the format's usual target, and the name of the file without its suffix."""
    return next(_collected(request, None))


def _collected(request: Request, rows: int | None) -> Iterator[tuple[TrialColumns, str | None, str]]:
    """The same, in pieces of so many rows where that is said and the file is a table that is not joined."""
    _check_choices(request)
    with ExitStack() as stack:
        file = stack.enter_context(plain_file(request.path, request.limit, request.progress))
        check_hints(file, request.hints, FORMATS)
        if rows is not None and request.labels is None and request.key is None and file.kind not in ("npy", "npz"):
            for got, usual in _in_pieces(stack, file, request, rows):
                yield got, usual, file.stem
            return
        got, usual = _gather(stack, file, request)
        if request.labels is not None:
            got = _with_labels(got, request.labels, request.wanted.label, request.limit)
        yield got, usual, file.stem


def _in_pieces(
    stack: ExitStack, file: PlainFile, request: Request, rows: int
) -> Iterator[tuple[TrialColumns, str | None]]:
    """The columns of a table, some rows at a time: their number is no matter, and duckdb spills what it must hold."""
    store = Store(stack.enter_context(connected(request.limit)), stack, _ANY_SIZE, request.progress)
    source = column_source(store, file, request.hints)
    roles = score_roles(source, request.wanted)
    labels = [roles.label] if roles.label else []
    for table in source.load(roles.columns).pieces(rows, labels):
        yield trial_columns(table, roles, request.wanted, ids=request.wanted.keep_ids), source.layout.target


def _tuple(names: str | Sequence[str] | None) -> tuple[str, ...]:
    return () if names is None else (names,) if isinstance(names, str) else tuple(names)


def _check_choices(request: Request) -> None:
    if request.labels is not None and request.key is not None:
        raise InputError("labels come from labels= (by position) or from key= (by trial id), not from both.")
    if sum(str(one) == "-" for one in (request.path, request.labels, request.key)) > 1:
        raise InputError("only one of the files can be standard input (-).")
    if request.missing not in MISSING:
        raise InputError(f"missing={shown(request.missing)} is none of {', '.join(MISSING)}.")


def _gather(stack: ExitStack, file: PlainFile, request: Request) -> tuple[TrialColumns, str | None]:
    """The columns of the file, joined with the key where there is one, and the format's usual target."""
    wanted, hints, limit = request.wanted, request.hints, request.limit
    if file.kind in ("npy", "npz") and request.key is None:
        return (_from_npy if file.kind == "npy" else _from_npz)(file, wanted, limit), None
    store = Store(stack.enter_context(connected(limit)), stack, limit, request.progress)
    source = column_source(store, file, hints)
    if request.key is None:
        roles = score_roles(source, wanted)
        return trial_columns(source.load(roles.columns), roles, wanted, ids=wanted.keep_ids), source.layout.target
    key_file = stack.enter_context(plain_file(request.key, limit, request.progress))
    key_hints = Hints(hints.format if hints.format in LISTS else None, expected=wanted.label)
    key_source = column_source(store, key_file, key_hints, key=True, number=1)
    got = joined(source, key_source, wanted, request.missing, request.meaning, request.notes)
    return got, key_source.layout.target


def _from_npy(file: PlainFile, wanted: WantedColumns, limit: int) -> TrialColumns:
    if wanted.weight or wanted.groups or wanted.ids or wanted.labelled:
        raise InputError(
            f"{file.called} is a single array: labels come from labels=; weights, groups and ids from npz."
        )
    array = npy_array(file, limit)
    if wanted.decided:
        return decisions_of(TrialColumns(file.called, np.zeros(0)), label_array(array, file.called))
    return TrialColumns(file.called, array, classes=wanted.classes)


def _from_npz(file: PlainFile, wanted: WantedColumns, limit: int) -> TrialColumns:
    with Npz(file, limit) as arrays:
        labelled = wanted.labelled or (wanted.labelled is None and (wanted.label in arrays or wanted.label != "label"))
        ids = [_words(arrays[name]) for name in wanted.ids] if wanted.keep_ids else []
        got = TrialColumns(
            file.called,
            arrays[wanted.score],
            label_array(arrays[wanted.label], file.called) if labelled else None,
            arrays[wanted.weight] if wanted.weight else None,
            _joined_words(ids) if ids else None,
            {name: _words(arrays[name]) for name in wanted.groups},
            wanted.classes,
        )
    return decisions_of(got, label_array(got.scores, file.called)) if wanted.decided else got


def label_array(values: NDArray[Any], called: str) -> Labels | NDArray[Any]:
    """Labels out of an array: numbers and true/false as they are, text as codes of distinct names."""
    if values.dtype.kind == "f" and np.isnan(values).any():
        row = int(np.isnan(values).argmax())
        raise InputError(f"{called}: labels must not hold NaN: row {row} (counting from 0). Drop the row.")
    if values.dtype.kind not in "US" or values.ndim != 1:
        return values
    distinct, codes = np.unique(values, return_inverse=True)
    return Labels(codes, tuple(_words(distinct).tolist()))


def _words(values: NDArray[Any]) -> NDArray[Any]:
    if values.dtype.kind == "S":
        values = np.char.decode(values, "utf-8")
    return values.astype(np.str_).astype(np.object_)


def _joined_words(columns: list[NDArray[Any]]) -> NDArray[Any]:
    result = columns[0]
    for column in columns[1:]:
        result = result + " " + column
    return result


def _with_labels(got: TrialColumns, path: Path, column: str, limit: int) -> TrialColumns:
    """The scores with labels from a file of their own, matched by position."""
    found, called = read_labels(path, column, limit)
    count = len(found.codes) if isinstance(found, Labels) else len(found)
    if count not in got.scores.shape:
        rows = len(got.scores) if got.scores.ndim == 1 else f"{got.scores.shape[0]} x {got.scores.shape[1]}"
        raise InputError(
            f"{called} holds {count} labels, and {got.called} {rows} scores: labels= are matched by position."
        )
    return replace(got, labels=found)


def read_labels(path: Path, column: str, limit: int) -> tuple[Labels | NDArray[Any], str]:
    """One column of labels: an npy or npz array, or a column of a table; a table of one column needs no header."""
    with ExitStack() as stack:
        file = stack.enter_context(plain_file(path, limit))
        if file.kind == "npy":
            array = npy_array(file, limit)
            if array.ndim != 1:
                raise InputError(f"{file.called}: labels must be one-dimensional, not an array of shape {array.shape}.")
            return label_array(array, file.called), file.called
        if file.kind == "npz":
            with Npz(file, limit) as arrays:
                return label_array(arrays[column], file.called), file.called
        store = Store(stack.enter_context(connected(limit)), stack, limit, None)
        source = column_source(store, file, _label_hints(file, column))
        if not source.has(column):
            raise InputError(missing_column(file.called, column, source.names))
        return source.load([column]).fetch(labels=[column]).labels[0], file.called


def _label_hints(file: PlainFile, column: str) -> Hints:
    """A table of one column: its first line is a header if it is the column's name, and a label otherwise."""
    if file.kind == "parquet":
        return Hints(expected=column)
    check_text(file)
    first = first_lines(file, 1)[0].strip().strip('"')
    if any(mark in first for mark in ",\t;{"):
        return Hints(expected=column)
    return Hints(separator=",", columns=(column,), header=first == column, expected=column)
