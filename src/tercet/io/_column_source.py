"""One file of columns, whatever its format: the names it has, what they are, and how to load some of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from tercet._numeric.validation import shown
from tercet.errors import InputError
from tercet.io._limits import check_size
from tercet.io._plain_files import PlainFile
from tercet.io.columns import Store, Table, parquet_table, text_table
from tercet.io.formats.jsonlines import as_table, line_of_object
from tercet.io.formats.parquet import Footer
from tercet.io.formats.text import Dialect, check_text, first_lines
from tercet.io.formats.trial_lists import Hints, Layout, key_layout, score_layout

_JSON_SUFFIXES = (".jsonl", ".ndjson", ".json")
Load = Callable[[Sequence[str]], Table]


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
            lambda wanted: _checked(table.only(wanted), footer, store.limit),
        )
    if file.kind != "text":
        raise InputError(
            f"{file.called} is {file.kind}, which has no trial ids to join by. Give labels by position: labels=."
        )
    check_text(file)
    if hints.format == "jsonl" or (hints.format is None and _looks_like_json(file)):
        return _json_source(store, file, number)
    layout = (key_layout if key else score_layout)(file, hints)
    return ColumnSource(
        file.called,
        layout.dialect.names,
        layout,
        lambda wanted: _not_empty(text_table(store, file, layout.dialect, wanted, number), layout.dialect.header),
    )


def _looks_like_json(file: PlainFile) -> bool:
    return file.suffix in _JSON_SUFFIXES or first_lines(file, 1)[0].lstrip().startswith("{")


def _json_source(store: Store, file: PlainFile, number: int) -> ColumnSource:
    rewritten, dialect = store.stack.enter_context(as_table(file))

    def load(wanted: Sequence[str]) -> Table:
        table = text_table(store, rewritten, dialect, wanted, number)

        def place(row: int, name: str) -> tuple[str, str | None]:
            return f"line {line_of_object(file, row)}", table.place(row, name)[1]

        return replace(table, place=place)

    return ColumnSource(file.called, dialect.names, Layout(dialect), load)


def _checked(table: Table, footer: Footer, limit: int) -> Table:
    check_size(table.called, footer.rows, len(table.columns), limit)
    return _not_empty(table)


def _not_empty(table: Table, header: bool = False) -> Table:
    if table.rows == 0:
        raise InputError(f"{table.called} holds {'a header and ' if header else ''}no rows of data.")
    return table


def check_hints(file: PlainFile, hints: Hints, formats: Sequence[str]) -> None:
    """Refuses a format nobody knows, and one the bytes contradict."""
    name = hints.format
    if name is not None and name not in formats:
        raise InputError(f"format={shown(name)} is none of {', '.join(formats)}.")
    binary = ("parquet", "npy", "npz")
    if name is not None and (name in binary or file.kind in binary) and name != file.kind:
        raise InputError(f"{file.called} is not {name}: it holds {file.kind}.")
