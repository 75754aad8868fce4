"""Scores and key joined by trial id: every trial once, or a refusal that counts what does not match."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tercet.errors import InputError
from tercet.io._column_roles import ColumnRoles, WantedColumns, key_roles, score_roles, trial_columns
from tercet.io._column_source import ColumnSource
from tercet.io._id_matching import Hashes, perfect_match
from tercet.io._trial_columns import TrialColumns
from tercet.io.columns import Labels, Table

Notes = Callable[[str], None]
_REJECTED = {"posterior": 0.0, "lr": 0.0}  # the score of a trial that is not accepted at any threshold


@dataclass(frozen=True, slots=True)
class Side:
    """One file of the join: its table in rows, and the columns that make a trial's id."""

    table: Table
    ids: tuple[str, ...]

    def sql(self, prefix: str = "") -> list[str]:
        """The id columns as SQL."""
        return [prefix + self.table.column(name).sql for name in self.ids]

    def hashes(self) -> Hashes | None:
        """A hash of every trial's id, or None where an id is missing."""
        ids = self.sql()
        none = " OR ".join(f"{one} IS NULL" for one in ids)
        found = self.table.arrays(
            f"SELECT CASE WHEN {none} THEN NULL ELSE hash({', '.join(ids)}) END AS h FROM {self.table.sql}"
        )["h"]
        return None if np.ma.isMaskedArray(found) and np.ma.getmaskarray(found).any() else np.asarray(found)


def joined(
    scores: ColumnSource, key: ColumnSource, wanted: WantedColumns, missing: str, meaning: str, notes: Notes | None
) -> TrialColumns:
    """The trials of the scores in their order, with the key's labels; see `missing` for those without a partner."""
    score_side = replace_wanted(wanted, scores, key)
    ours, theirs = score_roles(scores, score_side), key_roles(key, wanted, scores)
    ours, theirs = _same_ids(scores, key, ours, theirs)
    left = Side(scores.load(ours.columns).stored("js"), ours.ids)
    right = Side(key.load(theirs.columns).stored("jk"), theirs.ids)
    partner = _partners(left, right, missing, notes)
    unscored = np.ones(right.table.rows, np.bool_)
    unscored[partner[partner >= 0]] = False
    got = trial_columns(left.table, ours, score_side, ids=wanted.keep_ids)
    told = trial_columns(
        right.table, theirs, replace(wanted, matrix=False, classes=None, decided=False), ids=wanted.keep_ids
    )
    return _merged(got, told, partner, np.flatnonzero(unscored) if missing == "reject" else None, meaning)


def replace_wanted(wanted: WantedColumns, scores: ColumnSource, key: ColumnSource) -> WantedColumns:
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


def _partners(left: Side, right: Side, missing: str, notes: Notes | None) -> NDArray[np.int64]:
    """For every row of the scores the row of the key with the same id, or -1."""
    ours, theirs = left.hashes(), right.hashes()
    partner = None if ours is None or theirs is None else perfect_match(ours, theirs)
    return _by_sql(left, right, missing, notes) if partner is None else partner


def _by_sql(left: Side, right: Side, missing: str, notes: Notes | None) -> NDArray[np.int64]:
    """The partners by an exact join, where something is missing, extra or there twice."""
    for side in (left, right):
        _refuse_missing_ids(side)
        _refuse_duplicates(side)
    on = " AND ".join(f"{a} = {b}" for a, b in zip(left.sql("s."), right.sql("k."), strict=True))
    pairs = left.table.arrays(
        f"SELECT s.rowid AS s, k.rowid AS k FROM {left.table.sql} s JOIN {right.table.sql} k ON {on}"
    )
    partner = np.full(left.table.rows, -1, np.int64)
    partner[pairs["s"]] = pairs["k"]
    hit = np.zeros(right.table.rows, np.bool_)
    hit[pairs["k"]] = True
    if np.any(partner < 0) or not hit.all():
        _settle(left, right, partner, hit, missing, notes)
    return partner


def _settle(
    left: Side, right: Side, partner: NDArray[np.int64], hit: NDArray[np.bool_], missing: str, notes: Notes | None
) -> None:
    """Refuses trials without a partner, or says how many were settled the way the caller named."""
    parts, alone, unscored = [], partner < 0, ~hit
    if unscored.any():
        where = right.table.place(int(unscored.argmax()), right.ids[0])[0]
        parts.append(
            f"{unscored.sum()} of {len(hit)} trials of {right.table.called} have no score (the first: {where})"
        )
    if alone.any():
        where = left.table.place(int(alone.argmax()), left.ids[0])[0]
        parts.append(
            f"{alone.sum()} of {len(alone)} scores of {left.table.called} are not in the key (the first: {where})"
        )
    said = " and ".join(parts)
    if missing == "error" or (missing == "reject" and alone.any()):
        drop = "missing='drop' leaves them out"
        reject = "; missing='reject' counts a trial without score as rejected (-inf)" if unscored.any() else ""
        raise InputError(f"The trials do not match: {said}. Complete the files, or say what to do: {drop}{reject}.")
    if notes is not None and said:
        notes(f"{said}: {'left out' if missing == 'drop' else 'counted as rejected'}.")


def _refuse_missing_ids(side: Side) -> None:
    for name in side.ids:
        sql = side.table.column(name).sql
        ((row,),) = side.table.run(f"SELECT min(rowid) FROM {side.table.sql} WHERE {sql} IS NULL")
        if row is not None:
            raise side.table.refuse(int(row), name, "the id is missing. Complete or drop the row.", show=False)


def _refuse_duplicates(side: Side) -> None:
    """Refuses a trial that is there twice."""
    table, ids = side.table, ", ".join(side.sql())
    counted = f"SELECT rowid AS r, row_number() OVER (PARTITION BY {ids} ORDER BY rowid) AS n FROM {table.sql}"
    ((count, row),) = table.run(f"SELECT count(*), min(r) FROM ({counted}) WHERE n > 1")
    if count:
        where = table.place(int(row), side.ids[0])[0]
        raise InputError(
            f"{table.called} holds {count} duplicate trial{'s' * (count > 1)} (the first again at {where}): every "
            f"trial id ({', '.join(side.ids)}) must be there once. Drop the duplicates."
        )


def _merged(
    got: TrialColumns, told: TrialColumns, partner: NDArray[np.int64], unscored: NDArray[Any] | None, meaning: str
) -> TrialColumns:
    """The scores' columns and, by partner, the key's; trials without a score at the end."""
    kept = np.flatnonzero(partner >= 0)
    rows = partner[kept]
    if unscored is not None and len(unscored):
        if got.scores.ndim == 2:
            raise InputError(
                "missing='reject' is for two classes: with one column a class no row of scores says reject."
            )
        rows = np.concatenate([rows, unscored])
    whole = len(kept) == len(partner) and len(rows) == len(kept)

    def ours(values: NDArray[Any] | None, filler: NDArray[Any] | None) -> NDArray[Any] | None:
        if values is None or whole:
            return values
        return np.concatenate([values[kept], filler]) if filler is not None and len(filler) else values[kept]

    tail = rows[len(kept) :]
    fill = np.full(len(tail), _REJECTED.get(meaning, -np.inf))
    if len(tail) and (got.weights is not None or got.groups):
        raise InputError("missing='reject' needs the weights and groups in the key: a trial without a score has none.")
    scores = ours(got.scores, fill)
    assert scores is not None
    return TrialColumns(
        got.called,
        scores,
        _picked(told.labels, rows),
        ours(got.weights, None) if told.weights is None else told.weights[rows],
        ours(got.ids, None if told.ids is None else told.ids[tail]),
        {
            **{name: values if whole else values[kept] for name, values in got.groups.items()},
            **{name: values[rows] for name, values in told.groups.items()},
        },
        got.classes,
        got.upright,
        got.decided,
    )


def _picked(labels: Labels | NDArray[Any] | None, rows: NDArray[Any]) -> Labels | NDArray[Any] | None:
    if isinstance(labels, Labels):
        return Labels(labels.codes[rows], labels.names)
    return None if labels is None else labels[rows]
