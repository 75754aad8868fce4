"""Data frames, read with the options of files: pandas, polars, Arrow, duckdb, and any exporter of Arrow streams."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tercet._numeric.frames import frame_names
from tercet._numeric.validation import shown
from tercet._typing import JSON
from tercet.errors import InputError
from tercet.io._request import tuple_of
from tercet.trials import Trials

SHORT = {
    "score": "score_column", "label": "label_column", "weight": "weight_column", "groups": "group_columns",
    "ids": "id_column",
}  # fmt: skip
_USUAL: JSON = {"score_column": "score", "label_column": "label", "missing": "error", "group_columns": ()}
_OF_FILES = (
    "labels", "key", "format", "separator", "columns", "header", "missing", "memory", "progress", "notes",
)  # fmt: skip


def in_full(short: JSON, options: JSON) -> JSON:
    """The options with the short names spelled out; one that is given both ways is refused."""
    found = dict(options)
    for name, value in short.items():
        if value is None:
            continue
        long = "class_columns" if name == "score" and not isinstance(value, str) else SHORT[name]
        if found[long] != _USUAL.get(long):
            raise InputError(f"{name}= and {long}= are the same: give one of them.")
        found[long] = (value,) if name == "groups" and isinstance(value, str) else value
    return found


def trials_of_frame(frame: object, options: JSON) -> Trials:
    """The trials in a data frame, by the options of `tercet.read`; those of files are refused."""
    for name in _OF_FILES:
        if options[name] not in (None, _USUAL.get(name)):
            raise InputError(f"{name}= is for files: a frame has its columns already.")
    known = (
        frame
        if hasattr(frame, "collect") or hasattr(frame, "__getitem__") or hasattr(frame, "fetchnumpy")
        else _from_arrow(frame)
    )
    names = frame_names(known)
    label = options["label_column"]
    if options["labelled"] is False or (label == "label" and label not in names and not options["labelled"]):
        label, known = None, _without_label(known, names)
    ids = None if options["keep_ids"] is False else tuple_of(options["id_column"], "id_column") or None
    classes = options["class_columns"]
    return Trials.from_frame(
        known,
        score=options["score_column"] if classes is None else tuple_of(classes, "class_columns"),
        label=label,
        weight=options["weight_column"],
        groups=tuple_of(options["group_columns"], "group_columns"),
        ids=ids[0] if ids is not None and len(ids) == 1 else ids,
        meaning=options["meaning"],
        target=options["target"],
        trained_prior=options["trained_prior"],
        name=options["name"],
    )


def _without_label(frame: Any, names: Sequence[object]) -> Any:
    """The frame without the column that from_frame would take for labels."""
    if "label" not in names:
        return frame
    keep = [name for name in names if name != "label"]
    return frame.select(keep) if hasattr(frame, "select") else {name: frame[name] for name in keep}


def _from_arrow(frame: object) -> JSON:
    """The columns of an object that exports an Arrow stream (the PyCapsule interface), through duckdb."""
    import duckdb

    try:
        with duckdb.connect(":memory:") as con:
            return dict(con.from_arrow(frame).fetchnumpy())
    except duckdb.Error as error:
        raise InputError(f"frame cannot be read as an Arrow stream: {shown(str(error))}.") from None
