"""The rows of one request by number, whatever holds them: a table in the database, arrays in files, separate labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.validation import shown
from tercet._typing import Array
from tercet.errors import InputError
from tercet.io._column_roles import ColumnRoles, WantedColumns, label_column, score_roles, trial_columns
from tercet.io._limits import check_size
from tercet.io._plain_files import PlainFile
from tercet.io._request import Request
from tercet.io._trial_columns import TrialColumns, decisions_of, id_column, label_array, words_of
from tercet.io.columns import LabelColumn, Labels, Store, Table, column_source
from tercet.io.formats.npy import ArrayFile, Npz, npy_file
from tercet.io.formats.text import first_lines, missing_column
from tercet.io.formats.trial_lists import LISTS, Hints
from tercet.io.join import Join


@dataclass(frozen=True, slots=True)
class RowRanges:
    """Columns of one system that can be read in any range of rows."""

    called: str  # the name of the file in messages
    starts: tuple[int, ...]  # row numbers at which reading is cheap to begin, from 0 to the number of rows

    @property
    def rows(self) -> int:
        """How many rows there are."""
        return self.starts[-1]

    def columns(self, start: int, stop: int) -> TrialColumns:
        """The checked columns of the rows start..stop-1."""
        raise NotImplementedError

    def labels(self, start: int, stop: int) -> LabelColumn | None:
        """Their labels alone."""
        raise NotImplementedError


def score_ranges(
    store: Store, file: PlainFile, key_file: PlainFile | None, request: Request
) -> tuple[RowRanges, str | None]:
    """The columns of the file, joined with the key where there is one, and the format's usual target."""
    wanted = request.wanted
    if file.kind in ("npy", "npz") and key_file is None:
        return _array_ranges(store.stack, file, wanted, store.limit), None
    source = column_source(store, file, request.hints)
    if key_file is None:
        roles = score_roles(source, wanted)
        table = source.load(roles.columns, () if wanted.decided else roles.only_numbers)
        return TableRanges.of(table, roles, wanted), source.layout.target
    key_hints = Hints(request.hints.format if request.hints.format in LISTS else None, expected=wanted.label)
    key = column_source(store, key_file, key_hints, key=True, number=1)
    join = Join.of(source, key, wanted)
    partners = join.partners()
    if partners is not None:
        return WithKey.of(join, partners), key.layout.target
    table, roles = join.table(request.missing, request.meaning, request.notes)
    return TableRanges.of(table, roles, wanted), key.layout.target


@dataclass(frozen=True, slots=True)
class TableRanges(RowRanges):
    """Rows of a table behind duckdb."""

    table: Table
    roles: ColumnRoles
    wanted: WantedColumns

    @classmethod
    def of(cls, table: Table, roles: ColumnRoles, wanted: WantedColumns) -> TableRanges:
        """The table with the labels of all its rows known."""
        labels = [*([roles.label] if roles.label else []), *(roles.scores if wanted.decided else ())]
        starts = table.starts or (0, table.rows)
        return cls(table.called, starts, table.with_label_names(labels), roles, wanted)

    def columns(self, start: int, stop: int) -> TrialColumns:
        """The checked columns of the rows start..stop-1."""
        return trial_columns(self.table.between(start, stop), self.roles, self.wanted, ids=self.wanted.keep_ids)

    def labels(self, start: int, stop: int) -> LabelColumn | None:
        """Their labels alone."""
        return label_column(self.table.between(start, stop), self.roles)

    def distinct_labels(self) -> Array | None:
        """The distinct labels, ascending; None where a pass over the rows has something to report."""
        return None if self.roles.label is None else self.table.distinct(self.roles.label)


@dataclass(frozen=True, slots=True)
class WithKey(RowRanges):
    """Scores with a key that holds the same trials in its own order."""

    scores: RowRanges
    key: TrialColumns
    partners: NDArray[np.int64]

    @classmethod
    def of(cls, join: Join, partners: NDArray[np.int64]) -> WithKey:
        """The columns of the key, and the scores to be read in ranges."""
        unlabelled = replace(join.wanted, keep_ids=False, matrix=False, classes=None, decided=False)
        key = TableRanges.of(join.key.table, join.theirs, unlabelled)
        scores = TableRanges.of(join.scores.table, join.ours, join.wanted)
        return cls(scores.called, scores.starts, scores, key.columns(0, key.rows), partners)

    def columns(self, start: int, stop: int) -> TrialColumns:
        """The checked columns of the rows start..stop-1."""
        got, key, rows = self.scores.columns(start, stop), self.key, self.partners[start:stop]
        groups = {**got.groups, **{name: values[rows] for name, values in key.groups.items()}}
        weights = got.weights if key.weights is None else key.weights[rows]
        return replace(got, labels=self.labels(start, stop), weights=weights, groups=groups)

    def labels(self, start: int, stop: int) -> LabelColumn | None:
        """Their labels alone."""
        labels, rows = self.key.labels, self.partners[start:stop]
        if isinstance(labels, Labels):
            return Labels(labels.codes[rows], labels.names)
        return None if labels is None else labels[rows]


def _array_ranges(stack: ExitStack, file: PlainFile, wanted: WantedColumns, limit: int) -> RowRanges:
    """The arrays of an npy or npz file by their roles."""
    names, take = _arrays(stack, file, limit)
    if not names and (wanted.weight or wanted.groups or wanted.ids or wanted.labelled):
        raise InputError(
            f"{file.called} is a single array: labels come from labels=; weights, groups and ids from npz."
        )
    labelled = wanted.labelled or (wanted.labelled is None and (wanted.label in names or wanted.label != "label"))
    columns = {name: take(name) for name in (wanted.weight, *wanted.groups) if name}
    columns |= {name: take(name) for name in wanted.ids if wanted.keep_ids}
    if names and labelled:
        columns[wanted.label] = take(wanted.label)
    scores = take(wanted.score)
    for one in (scores, *columns.values()):
        check_size(one.called, math.ceil(one.size / 8), 1, limit)
    return ArrayRanges.of(file.called, scores, columns, wanted)


def _arrays(stack: ExitStack, file: PlainFile, limit: int) -> tuple[tuple[str, ...], Callable[[str], ArrayFile]]:
    """The names of a file's arrays, and the array of a name; a single array has no name and takes any role."""
    if file.kind == "npz":
        packed = Npz.of(file, stack, limit)
        return tuple(packed.members), packed.array
    found = npy_file(file)
    if isinstance(found, ArrayFile):
        return (), lambda _: found

    def take(name: str) -> ArrayFile:
        if name not in found:
            raise InputError(missing_column(file.called, name, list(found)))
        return found[name]

    return tuple(found), take


@dataclass(frozen=True, slots=True)
class ArrayRanges(RowRanges):
    """Rows of arrays in numpy's format, matched by position."""

    scores: ArrayFile
    others: Mapping[str, ArrayFile]  # labels, weights, groups and ids by name
    wanted: WantedColumns
    axis: int | None  # of the scores, along which the samples lie; None for a square, where only values decide

    @classmethod
    def of(cls, called: str, scores: ArrayFile, others: Mapping[str, ArrayFile], wanted: WantedColumns) -> ArrayRanges:
        """The arrays, all of one length."""
        for name, one in others.items():
            if len(one.shape) != 1:
                raise InputError(f"{called}: {name} must be one-dimensional, not an array of shape {one.shape}.")
        axis = _sample_axis(scores.shape, None, wanted.classes)
        made = cls(called, (0, scores.shape[axis or 0]), scores, others, wanted, axis)
        for name, one in others.items():
            made = made.of_length(one.shape[0], f"{called}: {shown(name)} has {one.shape[0]} values")
        return made

    def of_length(self, rows: int, said: str) -> ArrayRanges:
        """The same, turned so that there are this many samples, or refused with a description of both."""
        if rows not in self.scores.shape:
            shape = " x ".join(map(str, self.scores.shape))
            raise InputError(f"{said}, and {self.scores.called} {shape} scores: they are matched by position.")
        axis = _sample_axis(self.scores.shape, rows, self.wanted.classes)
        return replace(self, starts=(0, self.scores.shape[axis or 0]), axis=axis)

    def columns(self, start: int, stop: int) -> TrialColumns:
        """The checked columns of the rows start..stop-1."""
        wanted = self.wanted
        if self.axis is None and (start, stop) != (0, self.rows):
            raise InputError(f"{self.called} has as many rows as columns: read it whole.")
        ids = [words_of(self.others[name].rows(start, stop)) for name in wanted.ids if wanted.keep_ids]
        got = TrialColumns(
            self.called,
            self.scores.rows(start, stop, self.axis or 0),
            self.labels(start, stop),
            self.others[wanted.weight].rows(start, stop) if wanted.weight else None,
            id_column(ids),
            {name: words_of(self.others[name].rows(start, stop)) for name in wanted.groups},
            wanted.classes,
            len(self.scores.shape) == 2 and self.axis is not None,
        )
        return decisions_of(got, label_array(got.scores, self.called)) if wanted.decided else got

    def labels(self, start: int, stop: int) -> Array | None:
        """Their labels alone."""
        label = self.others.get(self.wanted.label)
        return None if label is None else label_array(label.rows(start, stop), self.called, start)


def _sample_axis(shape: tuple[int, ...], rows: int | None, classes: Sequence[str] | None) -> int | None:
    """The axis along which the samples lie, if the number of labels or classes determines it; otherwise the first."""
    if len(shape) == 1:
        return 0
    if shape[0] == shape[1] and shape[0] > 1:
        return None
    count = None if classes is None else len(classes)
    fits = [rows in (None, shape[axis]) and count in (None, shape[1 - axis]) for axis in (0, 1)]
    return 1 if fits == [False, True] else 0


@dataclass(frozen=True, slots=True)
class WithLabels(RowRanges):
    """Scores with labels from a file of their own, matched by position."""

    scores: RowRanges
    label_file: RowRanges

    @classmethod
    def of(cls, scores: RowRanges, labels: RowRanges) -> WithLabels:
        """Both, of one length."""
        said = f"{labels.called} holds {labels.rows} labels"
        if isinstance(scores, ArrayRanges):
            scores = scores.of_length(labels.rows, said)
        if scores.rows != labels.rows:
            raise InputError(f"{said}, and {scores.called} {scores.rows} scores: labels= are matched by position.")
        return cls(scores.called, scores.starts, scores, labels)

    def columns(self, start: int, stop: int) -> TrialColumns:
        """The checked columns of the rows start..stop-1."""
        return replace(self.scores.columns(start, stop), labels=self.labels(start, stop))

    def labels(self, start: int, stop: int) -> LabelColumn | None:
        """Their labels alone."""
        return self.label_file.labels(start, stop)


def label_ranges(store: Store, file: PlainFile, column: str, limit: int) -> RowRanges:
    """One column of labels: an npy or npz array, or a column of a table; a table of one column needs no header."""
    if file.kind in ("npy", "npz"):
        _, take = _arrays(store.stack, file, limit)
        array = take(column)
        if len(array.shape) != 1:
            raise InputError(f"{file.called}: labels must be one-dimensional, not an array of shape {array.shape}.")
        check_size(array.called, math.ceil(array.size / 8), 1, limit)
        return ArrayRanges(file.called, (0, array.shape[0]), array, {column: array}, WantedColumns(label=column), 0)
    source = column_source(store, file, _label_hints(file, column), number=2)
    if not source.has(column):
        raise InputError(missing_column(file.called, column, source.names))
    wanted = WantedColumns(label=column)
    return TableRanges.of(source.load([column], ()), ColumnRoles(label=column), wanted)


def _label_hints(file: PlainFile, column: str) -> Hints:
    """A table of one column: its first line is a header if it is the column's name, and a label otherwise."""
    if file.kind == "parquet":
        return Hints(expected=column)
    first = first_lines(file, 1)[0].strip().strip('"')
    if any(mark in first for mark in ",\t;{"):
        return Hints(expected=column)
    return Hints(separator=",", columns=(column,), header=first == column, expected=column)
