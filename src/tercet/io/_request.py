"""One read request: which files, how they are described, and which columns are wanted."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypedDict, TypeVar, Unpack

from tercet._numeric.frames import column_names
from tercet._numeric.meanings import MEANINGS, check_meaning
from tercet._numeric.validation import callback, chosen, flag, text
from tercet._numeric.validation import path as path_text
from tercet.errors import InputError
from tercet.io._limits import memory_limit
from tercet.io._plain_files import Progress
from tercet.io._trial_columns import WantedColumns
from tercet.io.formats.trial_lists import Hints
from tercet.trials import MATRIX_MEANINGS

Path = str | os.PathLike[str]
Notes = Callable[[str], None]
MISSING = ("error", "drop", "reject")


class FileOptions(TypedDict, total=False):
    """The options of `tercet.read` that describe the file, for functions that hand them on."""

    labels: Path | None
    key: Path | None
    format: str | None
    separator: str | None
    columns: Sequence[str] | None
    header: bool | None
    score_column: str
    label_column: str
    weight_column: str | None
    group_columns: Sequence[str]
    id_column: str | Sequence[str] | None
    keep_ids: bool | None
    target: object
    meaning: str
    trained_prior: object
    class_columns: Sequence[str] | None
    missing: str
    labelled: bool | None
    name: str | None
    memory: int | None


class ReadOptions(FileOptions, total=False):
    """All options of `tercet.read`."""

    progress: Progress | None
    notes: Notes | None


@dataclass(frozen=True, slots=True)
class Request:
    """One reading: which files, how they are described, and what is wanted of them."""

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
    target: object = None
    trained_prior: object = None
    name: str | None = None

    def __post_init__(self) -> None:
        for name in ("path", "labels", "key"):
            _optional(path_text, getattr(self, name), name)
        if self.labels is not None and self.key is not None:
            raise InputError("labels come from labels= (by position) or from key= (by trial id), not from both.")
        if sum(str(one) == "-" for one in (self.path, self.labels, self.key)) > 1:
            raise InputError("only one of the files can be standard input (-).")
        chosen(self.missing, "missing", MISSING)
        for name in ("progress", "notes"):
            callback(getattr(self, name), name)
        _optional(text, self.name, "name")
        for name in ("format", "separator"):
            _optional(text, getattr(self.hints, name), name)
        _optional(flag, self.hints.header, "header")
        for name in ("score", "label", "weight"):
            _optional(text, getattr(self.wanted, name), f"{name}_column")

    @classmethod
    def of(cls, path: Path, **options: Unpack[ReadOptions]) -> Request:
        """The request that the options of `tercet.read` make."""
        meaning, trained_prior = text(options.get("meaning", "llr"), "meaning"), options.get("trained_prior")
        check_meaning(meaning, MEANINGS, trained_prior)
        labels, key, classes = options.get("labels"), options.get("key"), options.get("class_columns")
        keep, labelled = (_optional(flag, options.get(name), name) for name in ("keep_ids", "labelled"))
        score = options.get("score_column", "score")
        wanted = WantedColumns(
            score,
            options.get("label_column", "label"),
            options.get("weight_column"),
            column_names(options.get("group_columns"), "group_columns"),
            column_names(options.get("id_column"), "id_column"),
            None if classes is None else column_names(classes, "class_columns"),
            meaning in MATRIX_MEANINGS,
            False if labels is not None else labelled,
            keep is None or keep,
        )
        columns = options.get("columns")
        hints = Hints(
            options.get("format"),
            options.get("separator"),
            None if columns is None else column_names(columns, "columns"),
            options.get("header"),
            score,
        )
        return cls(
            path, labels, key, hints, wanted, options.get("missing", "error"), meaning,
            memory_limit(options.get("memory")), options.get("progress"), options.get("notes"),
            options.get("target"), trained_prior, options.get("name"),
        )  # fmt: skip


Checked = TypeVar("Checked")


def _optional(check: Callable[[object, str], Checked], value: object, name: str) -> Checked | None:
    return None if value is None else check(value, name)
