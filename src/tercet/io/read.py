"""read: a file of scores, with its labels beside it, in another file or in a key, becomes Trials."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Unpack

from tercet._numeric.validation import whole
from tercet.errors import InputError
from tercet.io._column_roles import WantedColumns
from tercet.io._limits import memory_limit
from tercet.io._plain_files import Progress
from tercet.io._request import Notes, Path, ReadOptions, Request, tuple_of
from tercet.io._trial_columns import confusion_of_words
from tercet.io.formats.trial_lists import Hints
from tercet.io.source import opened_request
from tercet.metrics.confusion import Confusion
from tercet.trials import Trials


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
    options = dict(locals())
    with opened_request(Request.of(**options), held=True) as source:
        return source.trials()


def read_chunks(path: Path, rows: int = 1 << 20, **options: Unpack[ReadOptions]) -> Iterator[Trials]:
    """The trials of a file of any length, so many rows at a time; options are those of read."""
    if unknown := sorted(set(options) - set(ReadOptions.__annotations__)):
        raise TypeError(f"read_chunks() got an unexpected keyword argument {unknown[0]!r}")
    return _chunks(Request.of(path, **options), whole(rows, "rows", 1))


def _chunks(request: Request, rows: int) -> Iterator[Trials]:
    with opened_request(request, held=False) as source:
        for start in range(0, source.rows, rows):
            yield source.trials(start, min(start + rows, source.rows))


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
        ids=tuple_of(id_column, "id_column"),
        labelled=labels is None,
        decided=True,
    )
    hints = Hints(format, separator, None if columns is None else tuple_of(columns, "columns"), header, decision_column)
    limits = (memory_limit(memory), progress, notes)
    with opened_request(Request(path, labels, key, hints, wanted, missing, "decisions", *limits), held=True) as source:
        return confusion_of_words(source.all_columns(), target, classes, actions)
