"""One file of columns, whatever its format: the names it has, what they are, and how to load some of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from tercet._numeric.validation import shown
from tercet.errors import InputError
from tercet.io._limits import check_size
from tercet.io._plain_files import PlainFile
from tercet.io.columns import Store, Table, json_table, parquet_table, text_table
from tercet.io.formats.jsonlines import as_table, json_place, keys_of_first
from tercet.io.formats.parquet import Footer
from tercet.io.formats.text import Dialect, TextFacts, check_ended, check_text, first_lines
from tercet.io.formats.trial_lists import Hints, Layout, key_layout, score_layout

_JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
Load = Callable[[Sequence[str], Sequence[str]], Table]  # all wanted columns, and those that are needed only as numbers


@dataclass(frozen=True, slots=True)
class ColumnSource:
    """A file whose columns are known by name and not yet read."""

    called: str
    names: tuple[str, ...]
    layout: Layout
    load: Load

    def has(self, name: str | None) -> bool:
        """Whether a column of this name is there."""
        return name is not None and name in self.names


def column_source(store: Store, file: PlainFile, hints: Hints, *, key: bool = False, number: int = 0) -> ColumnSource:
    """The columns of a Parquet, JSON-lines or delimited file, or of a trial list."""
    if file.kind == "parquet":
        table, footer = parquet_table(store, file)
        names = tuple(table.columns)
        return ColumnSource(
            file.called,
            names,
            Layout(Dialect("", names, True)),
            lambda wanted, _: _checked(table.only(wanted), footer, store.limit),
        )
    if file.kind != "text":
        raise InputError(
            f"{file.called} is {file.kind}, which has no trial ids to join by. Give labels by position: labels=."
        )
    facts = check_text(file)
    is_json = hints.format == "jsonl"
    if hints.format is None:
        is_json = file.suffix in _JSON_SUFFIXES or first_lines(file, 1)[0].lstrip().startswith("{")
    if is_json:
        return _json_source(store, file, facts, number)
    layout = (key_layout if key else score_layout)(file, hints)
    dialect = layout.dialect

    def load(wanted: Sequence[str], numbers: Sequence[str]) -> Table:
        table = _not_empty(text_table(store, file, facts, dialect, wanted, numbers, number), dialect.header)
        check_ended(file, facts)
        return table

    return ColumnSource(file.called, dialect.names, layout, load)


def _json_source(store: Store, file: PlainFile, facts: TextFacts, number: int) -> ColumnSource:
    names = keys_of_first(file)

    def load(wanted: Sequence[str], _: Sequence[str]) -> Table:
        table = json_table(store, file, facts, wanted, number)
        return _not_empty(table if table is not None else _rewritten_json(store, file, names, wanted, number))

    return ColumnSource(file.called, names, Layout(Dialect(",", names, True)), load)


def _rewritten_json(store: Store, file: PlainFile, names: Sequence[str], wanted: Sequence[str], number: int) -> Table:
    """The table by way of a CSV that Python's JSON parser gives: slow, but its errors name the exact place."""
    rewritten, dialect = store.stack.enter_context(as_table(file, names, store.folder))
    table = text_table(store, rewritten, check_text(rewritten), dialect, wanted, (), number)
    return replace(table, place=partial(json_place, file))


def _checked(table: Table, footer: Footer, limit: int) -> Table:
    check_size(table.called, footer.rows, len(table.columns), limit)
    return _not_empty(table)


def _not_empty(table: Table, header: bool = False) -> Table:
    if table.rows == 0:
        raise InputError(f"{table.called} holds {'a header and ' if header else ''}no rows of data.")
    return table


def check_hints(file: PlainFile, hints: Hints, formats: Sequence[str]) -> None:
    """Refuses an unknown format, and one that the bytes contradict."""
    name = hints.format
    if name is not None and name not in formats:
        raise InputError(f"format={shown(name)} is not one of {', '.join(formats)}.")
    binary = ("parquet", "npy", "npz")
    if name is not None and (name in binary or file.kind in binary) and name != file.kind:
        raise InputError(f"{file.called} is not {name}: it holds {file.kind}.")
