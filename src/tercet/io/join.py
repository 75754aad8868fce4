"""Scores and key joined by trial id: every trial once, or an error that counts what does not match."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from tercet.errors import InputError
from tercet.io._column_roles import ColumnRoles, WantedColumns, key_roles, score_roles
from tercet.io._request import Notes
from tercet.io.columns import Column, ColumnSource, Table

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
