"""The role of each column: the names that the caller gave, matched with the columns of a source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tercet._typing import Array
from tercet.errors import InputError
from tercet.io._trial_columns import TrialColumns, decisions_of, id_column
from tercet.io.columns import Column, ColumnSource, LabelColumn, Table
from tercet.io.formats.text import missing_column

_EQUAL = "claimed = real"
_ROWS = 1 << 12


@dataclass(frozen=True, slots=True)
class WantedColumns:
    """The columns asked for, by name."""

    score: str = "score"
    label: str = "label"
    weight: str | None = None
    groups: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()
    classes: tuple[str, ...] | None = None
    matrix: bool = False
    labelled: bool | None = None  # None: if the column is there
    keep_ids: bool = False
    decided: bool = False  # the scores are decided labels


@dataclass(frozen=True, slots=True)
class ColumnRoles:
    """The columns of one source by their roles."""

    scores: tuple[str, ...] = ()
    label: str | None = None
    equal: tuple[str, str] | None = None
    weight: str | None = None
    groups: tuple[str, ...] = ()
    ids: tuple[str, ...] = ()

    @property
    def columns(self) -> list[str]:
        """Every column to load."""
        optional = [name for name in (self.label, self.weight, *(self.equal or ())) if name is not None]
        return list(dict.fromkeys([*self.scores, *optional, *self.groups, *self.ids]))

    @property
    def only_numbers(self) -> list[str]:
        """The columns that are numbers and nothing else."""
        otherwise = {self.label, *(self.equal or ()), *self.groups, *self.ids}
        return [name for name in (*self.scores, self.weight) if name is not None and name not in otherwise]


def score_roles(source: ColumnSource, wanted: WantedColumns) -> ColumnRoles:
    """The roles in a file of scores."""
    ids = wanted.ids or source.layout.ids
    label = _label(source, wanted)
    groups = wanted.groups
    if wanted.matrix or wanted.classes:
        taken = {label or wanted.label, wanted.weight, *ids, *groups}
        scores = wanted.classes or tuple(name for name in source.names if name not in taken)
    else:
        score = wanted.score if source.has(wanted.score) or source.layout.score is None else source.layout.score
        scores = (score,)
        if not source.has(score):
            hint = _hint(source) or " Name the column of scores with score_column=."
            raise InputError(missing_column(source.called, score, source.names, hint))
    _check(source, [*scores, *groups, *ids, *([wanted.weight] if wanted.weight else [])])
    equal = None if wanted.labelled is False or label is not None else source.layout.equal
    return ColumnRoles(scores, label, equal, wanted.weight, groups, ids)


def key_roles(source: ColumnSource, wanted: WantedColumns, scores: ColumnSource) -> ColumnRoles:
    """The roles in a key: its labels and ids, and the weights and groups the scores lack."""
    label = wanted.label if source.has(wanted.label) or source.layout.label is None else source.layout.label
    ids = wanted.ids if all(map(source.has, wanted.ids)) and wanted.ids else source.layout.ids or wanted.ids
    weight = None if scores.has(wanted.weight) else wanted.weight
    groups = tuple(name for name in wanted.groups if not scores.has(name))
    _check(source, [label, *ids, *groups, *([weight] if weight else [])])
    return ColumnRoles((), label, None, weight, groups, ids)


def _label(source: ColumnSource, wanted: WantedColumns) -> str | None:
    if wanted.labelled is False:
        return None
    label = wanted.label if source.has(wanted.label) or source.layout.label is None else source.layout.label
    if source.has(label):
        return label
    if (wanted.labelled or wanted.label != "label") and source.layout.equal is None:
        hint = _hint(source) or " Labels may also come from labels= or key=."
        raise InputError(missing_column(source.called, label, source.names, hint))
    return None


def _check(source: ColumnSource, names: list[str]) -> None:
    for name in names:
        if not source.has(name):
            raise InputError(missing_column(source.called, name, source.names, _hint(source)))


def _hint(source: ColumnSource) -> str:
    return source.layout.dialect.hint() if source.layout.dialect.separator else ""


def trial_columns(table: Table, roles: ColumnRoles, wanted: WantedColumns, *, ids: bool) -> TrialColumns:
    """The columns of one table, in the order of its rows."""
    table = with_roles(table, roles)
    label = _EQUAL if roles.equal else roles.label
    weights = [roles.weight] if roles.weight else []
    decisions = roles.scores if wanted.decided else ()
    scores = () if wanted.decided else roles.scores
    texts = [*roles.groups, *(roles.ids if ids else ())]
    got = table.fetch([*scores, *weights], texts, [*([label] if label else []), *decisions])
    matrix = bool(wanted.matrix or wanted.classes)
    result = TrialColumns(
        table.called,
        stacked(got.numbers[: len(scores)]) if matrix else got.numbers[0] if scores else np.zeros(0),
        got.labels[0] if label else None,
        got.numbers[len(scores)] if weights else None,
        id_column(got.texts[len(roles.groups) :]),
        dict(zip(roles.groups, got.texts, strict=False)),
        roles.scores if matrix else None,
        matrix,
    )
    return decisions_of(result, got.labels[-1]) if decisions else result


def label_column(table: Table, roles: ColumnRoles) -> LabelColumn | None:
    """The labels of one table alone."""
    label = _EQUAL if roles.equal else roles.label
    return None if label is None else with_roles(table, roles).fetch(labels=[label]).labels[0]


def stacked(columns: Sequence[Array]) -> Array:
    """One row per row of the columns, made a few rows at a time, so that they stay in the cache."""
    found = np.empty((len(columns[0]), len(columns)))
    for start in range(0, len(found), _ROWS):
        for place, column in enumerate(columns):
            found[start : start + _ROWS, place] = column[start : start + _ROWS]
    return found


def with_roles(table: Table, roles: ColumnRoles) -> Table:
    """The table with a label column where two id columns decide the label."""
    more: dict[str, Column] = {}
    if roles.equal:
        one, other = (table.column(name).sql for name in roles.equal)
        more[_EQUAL] = Column(f"{one} = {other}", "boolean")
    return replace(table, columns={**table.columns, **more})
