"""The rows of one request by number: of a table in the database, arrays in files, separate labels, or joined by id."""

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
from tercet.io._limits import check_size
from tercet.io._plain_files import PlainFile
from tercet.io._request import Notes, Request
from tercet.io._trial_columns import (
    ColumnRoles,
    TrialColumns,
    WantedColumns,
    decisions_of,
    id_column,
    key_roles,
    label_array,
    label_column,
    score_roles,
    trial_columns,
    words_of,
)
from tercet.io.columns import Column, ColumnSource, LabelColumn, Labels, Store, Table, column_source
from tercet.io.formats.npy import ArrayFile, Npz, npy_file
from tercet.io.formats.text import first_lines, missing_column
from tercet.io.formats.trial_lists import LISTS, Hints


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

    def label_rows(self) -> tuple[int, ...] | None:
        """How many rows each label of a column of texts has; None where that is not known, or where one is missing."""
        known = self.table.names.get(self.roles.label or "")
        return known.rows if known is not None and sum(known.rows) == self.rows else None

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


# Scores and key joined by trial id: every trial once, or an error that counts what does not match


_OF_KEY = " (key)"
_IN_MEMORY = 1 << 24  # rows whose partners are held as numbers; more are joined in the database, which can spill
_REJECTED = {"posterior": "0", "lr": "0"}  # the score of a trial that is not accepted at any threshold


@dataclass(frozen=True, slots=True)
class Side:
    """One file of the join: its table in rows, and the columns that make a trial's id."""

    table: Table
    ids: tuple[str, ...]

    def sql(self, prefix: str = "") -> list[str]:
        """The id columns as SQL."""
        return [f"CAST({prefix}{self.table.column(name).sql} AS VARCHAR)" for name in self.ids]


@dataclass(frozen=True, slots=True)
class Join:
    """Scores and key in the database, with the columns that are wanted of each."""

    scores: Side
    key: Side
    ours: ColumnRoles
    theirs: ColumnRoles
    wanted: WantedColumns

    @classmethod
    def of(cls, scores: ColumnSource, key: ColumnSource, wanted: WantedColumns) -> Join:
        """Both files loaded; their ids must have as many fields."""
        ours, theirs = score_roles(scores, _asked_of_scores(wanted, scores, key)), key_roles(key, wanted, scores)
        ours, theirs = _same_ids(scores, key, ours, theirs)
        left = Side(scores.load(ours.columns, ()).stored("join_scores"), ours.ids)
        right = Side(key.load(theirs.columns, ()).stored("join_key"), theirs.ids)
        return cls(left, right, ours, theirs, wanted)

    def pairs(self, columns: str = "") -> str:
        """SQL for the rows with the same id: their numbers and some columns.

        The ids themselves are compared, never their hashes alone. Without duplicates there are at most as many pairs
        as rows in the smaller file: one more proves a duplicate, so that repeated ids do not multiply the pairs.
        """
        ids = zip(self.scores.sql("s."), self.key.sql("k."), strict=True)
        return (
            f"SELECT s.rowid AS s, k.rowid AS k{columns} FROM {self.scores.table.sql} s JOIN {self.key.table.sql} k "
            f"ON {' AND '.join(f'{a} = {b}' for a, b in ids)} LIMIT {self.fewer + 1}"
        )

    @property
    def fewer(self) -> int:
        """The rows of the smaller file."""
        return min(self.scores.table.rows, self.key.table.rows)

    def partners(self) -> NDArray[np.int64] | None:
        """For every row of the scores the row of the key with its id; None unless each has exactly one partner."""
        rows = self.scores.table.rows
        if rows != self.key.table.rows or rows > _IN_MEMORY:
            return None
        found = self.scores.table.arrays(self.pairs())
        partner = np.full(rows, -1, np.int64)
        partner[found["s"]] = found["k"]
        hit = np.zeros(rows, np.bool_)
        hit[found["k"]] = True
        return partner if len(found["s"]) == rows and hit.all() and partner.min() >= 0 else None

    def table(self, missing: str, meaning: str, notes: Notes | None) -> tuple[Table, ColumnRoles]:
        """The trials of the scores in their order beside the columns of the key, as one table and its roles.

        `missing` says how rows without a partner are treated.
        """
        if missing == "reject":
            _check_rejection(self.scores, self.key, self.ours, self.wanted)
        both = _both_sides(self)
        _match(both, missing, notes)
        return _trials_table(both, _REJECTED.get(meaning, "-inf") if missing == "reject" else None)


def _asked_of_scores(wanted: WantedColumns, scores: ColumnSource, key: ColumnSource) -> WantedColumns:
    """What to ask of the scores when the key has the labels, and perhaps the weights and groups."""
    weight = wanted.weight if scores.has(wanted.weight) or not key.has(wanted.weight) else None
    groups = tuple(name for name in wanted.groups if scores.has(name) or not key.has(name))
    return replace(wanted, labelled=False, weight=weight, groups=groups)


def _same_ids(
    scores: ColumnSource, key: ColumnSource, ours: ColumnRoles, theirs: ColumnRoles
) -> tuple[ColumnRoles, ColumnRoles]:
    """Both ids of as many fields; an SRE side that only one of the two files has is left out."""
    if len(ours.ids) != len(theirs.ids) and "side" in (*ours.ids, *theirs.ids):
        ours, theirs = (replace(one, ids=tuple(name for name in one.ids if name != "side")) for one in (ours, theirs))
    if not ours.ids or not theirs.ids:
        bare = scores if not ours.ids else key
        raise InputError(f"{bare.called}: which columns make the trial's id is not known. Name them: id_column=.")
    if len(ours.ids) != len(theirs.ids):
        raise InputError(
            f"{scores.called} has {len(ours.ids)} id columns and {key.called} has {len(theirs.ids)}: "
            f"name those to join by (id_column=)."
        )
    return ours, theirs


@dataclass(frozen=True, slots=True)
class BothSides:
    """What the joined table holds: its columns by name, from which side each comes, and their roles."""

    join: Join
    from_scores: dict[str, Column]  # as they stand in the scores
    from_key: dict[str, Column]  # likewise; a name that the scores have too is followed by (key)
    roles: ColumnRoles

    def picked(self, scores: str = "s", rejected: str | None = None) -> str:
        """The columns as SQL, c0, c1, ...; a rejected trial has the score that it is given in their place."""
        found = []
        for name, column in self.from_scores.items():
            literal = f"'{rejected}'" if column.kind == "text" else f"'{rejected}'::DOUBLE"
            found.append(literal if rejected is not None and name in self.roles.scores else f"{scores}.{column.sql}")
        found += [f"k.{column.sql}" for column in self.from_key.values()]
        return ", ".join(f"{sql} AS c{place}" for place, sql in enumerate(found))


def _both_sides(join: Join) -> BothSides:
    ours, theirs, keep_ids = join.ours, join.theirs, join.wanted.keep_ids
    needed = replace(theirs, ids=theirs.ids if keep_ids else ()).columns
    from_scores = {name: join.scores.table.column(name) for name in replace(ours, ids=()).columns}
    called = {name: f"{name}{_OF_KEY}" if name in from_scores else name for name in needed}
    roles = ColumnRoles(
        ours.scores,
        None if theirs.label is None else called[theirs.label],
        None,
        theirs.weight or ours.weight,
        (*ours.groups, *theirs.groups),
        tuple(called[name] for name in theirs.ids) if keep_ids else (),
    )
    return BothSides(join, from_scores, {called[name]: join.key.table.column(name) for name in needed}, roles)


def _match(both: BothSides, missing: str, notes: Notes | None) -> None:
    """Joins each row with its partner (table `pairs`), and refuses duplicates and what has no partner."""
    left, right = both.join.scores, both.join.key
    left.table.run(f"CREATE TABLE pairs AS {both.join.pairs(', ' + both.picked())}")
    ((pairs, ours, theirs),) = left.table.run("SELECT count(*), count(DISTINCT s), count(DISTINCT k) FROM pairs")
    if pairs == ours == theirs == left.table.rows == right.table.rows:
        return
    for side in (left, right):
        _refuse_missing_ids(side)
        _refuse_duplicates(side)
    _settle(left, right, pairs, missing, notes)


def _settle(left: Side, right: Side, pairs: int, missing: str, notes: Notes | None) -> None:
    """Refuses trials without a partner, or reports how many were treated as the caller asked."""
    parts = []
    if pairs < right.table.rows:
        parts.append(
            f"{right.table.rows - pairs} of {right.table.rows} trials of {right.table.called} have no score "
            f"(the first: {_first_alone(right, 'k')})"
        )
    if pairs < left.table.rows:
        parts.append(
            f"{left.table.rows - pairs} of {left.table.rows} scores of {left.table.called} are not in the key "
            f"(the first: {_first_alone(left, 's')})"
        )
    said = " and ".join(parts)
    if missing == "error" or (missing == "reject" and pairs < left.table.rows):
        drop = "missing='drop' leaves them out"
        rejected = "; missing='reject' counts a trial without score as rejected (-inf)"
        reject = rejected if pairs < right.table.rows else ""
        raise InputError(f"The trials do not match: {said}. Complete the files, or say what to do: {drop}{reject}.")
    if notes is not None:
        notes(f"{said}: {'left out' if missing == 'drop' else 'counted as rejected'}.")


def _first_alone(side: Side, column: str) -> str:
    """The place of the first row without a partner."""
    ((row,),) = side.table.run(
        f"SELECT min(t.rowid) FROM {side.table.sql} t ANTI JOIN pairs ON t.rowid = pairs.{column}"
    )
    return side.table.place(int(row), side.ids[0])[0]


def _refuse_missing_ids(side: Side) -> None:
    for name in side.ids:
        sql = side.table.column(name).sql
        ((row,),) = side.table.run(f"SELECT min(rowid) FROM {side.table.sql} WHERE {sql} IS NULL")
        if row is not None:
            raise side.table.refuse(int(row), name, "the id is missing. Complete or drop the row.", show=False)


def _refuse_duplicates(side: Side) -> None:
    """Refuses a trial that occurs twice."""
    table, ids = side.table, ", ".join(side.sql())
    counted = f"SELECT rowid AS r, row_number() OVER (PARTITION BY {ids} ORDER BY rowid) AS n FROM {table.sql}"
    ((count, row),) = table.run(f"SELECT count(*), min(r) FROM ({counted}) WHERE n > 1")
    if count:
        where = table.place(int(row), side.ids[0])[0]
        raise InputError(
            f"{table.called} holds {count} duplicate trial{'s' * (count > 1)} (the first again at {where}): every "
            f"trial id ({', '.join(side.ids)}) must be there once. Drop the duplicates."
        )


def _check_rejection(left: Side, right: Side, ours: ColumnRoles, wanted: WantedColumns) -> None:
    """Refuses `missing="reject"` if a trial without a score lacks a column that it would need."""
    if left.table.rows >= right.table.rows:
        return
    if wanted.matrix or wanted.classes:
        raise InputError("missing='reject' is for two classes: with one column per class no row of scores says reject.")
    if ours.weight or ours.groups:
        raise InputError("missing='reject' needs the weights and groups in the key: a trial without a score has none.")


def _trials_table(both: BothSides, rejected: str | None) -> tuple[Table, ColumnRoles]:
    """The matched rows in the order of the scores; trials that get the rejected score come last."""
    scores, key = both.join.scores.table, both.join.key.table
    alone = (
        ""
        if rejected is None
        else f"UNION ALL SELECT NULL, k.rowid, {both.picked(rejected=rejected)} FROM {key.sql} k "
        f"ANTI JOIN pairs ON k.rowid = pairs.k"
    )
    scores.run(f"CREATE TABLE trials AS SELECT * FROM (FROM pairs {alone}) ORDER BY s NULLS LAST, k")
    ((count,),) = scores.run("SELECT count(*) FROM trials")
    if not count:
        raise InputError(f"{scores.called} and {key.called} have no trial in common.")
    named = {**both.from_scores, **both.from_key}
    columns = {name: Column(f"c{place}", column.kind) for place, (name, column) in enumerate(named.items())}

    def place(row: int, name: str) -> tuple[str, str | None]:
        ((ours, theirs),) = scores.run(f"SELECT s, k FROM trials WHERE rowid = {row}")
        if name in both.from_scores:
            return scores.place(ours, name)
        where, value = key.place(theirs, name.removesuffix(_OF_KEY))
        return f"{where} of {key.called}", value

    table = replace(scores, sql="trials", columns=columns, rows=count, place=place, numbered=("trials", "rowid"))
    return table, both.roles
