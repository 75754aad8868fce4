"""Tables for a terminal: with 60 columns or more no word or number is split."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from contextlib import redirect_stdout
from dataclasses import dataclass, replace
from io import StringIO
from typing import TYPE_CHECKING

from tercet._typing import JSON
from tercet.report import tables
from tercet.report.quantities import Quantity
from tercet.report.tables import Cell, Table
from tercet.report.text import harmless, showable

if TYPE_CHECKING:
    from rich.table import Table as RichTable

Facts = JSON
WIDTH_IN_A_PIPE = 120
_NARROWEST = 60
_FOLD = 20  # columns that a column of many words needs at least
_MARKS = {"harmful": "!", "few errors": "*", "no better than the dummy": "="}


def width() -> int:
    """How many columns there are: COLUMNS if it is set, else those of the terminal, else 120."""
    fallback = shutil.get_terminal_size().columns if sys.stdout.isatty() else WIDTH_IN_A_PIPE
    asked = os.environ.get("COLUMNS", "")
    return max(int(asked) if asked.isdecimal() and len(asked) < 6 else fallback, _NARROWEST)


def print_table(
    systems: Sequence[Facts],
    conditions: Sequence[Facts] = (),
    title: str | None = None,
    wanted: Sequence[Quantity] = (),
) -> None:
    """Prints a line per system, a row for each operating point, its confusion matrix, and tables by condition.

    Where quantities are wanted by name, a table of these instead.
    """
    wide = width()
    keys = _keys(systems, wide)
    shown = [{**system, "name": keys.get(tables.name_of(system), system.get("name"))} for system in systems]
    entries = [{**entry, "system": keys.get(harmless(entry["system"]), entry["system"])} for entry in conditions]
    if title is not None:
        print_lines([harmless(title, 200)], wide)
    for name, key in keys.items():
        print_lines([f"{key} = {_cut(name, wide - 6)}"], wide)
    if wanted:
        found = tables.metrics(shown, wanted)
        print_one(found, wide)
        print_lines(filter(None, [tables.marks_note(found, "*")]), wide)
        return
    print_lines(tables.summaries(shown), wide)
    costs = tables.costs(shown)
    if costs.rows:
        print_lines([""], wide)
        print_one(costs, wide)
    print_lines(tables.notes(shown), wide)
    for one in [*tables.confusions(shown), *map(tables.conditions, entries)]:
        print_lines(["", one.title], wide)
        print_one(one, wide)
    print_lines([line for entry in entries for line in tables.reasons(entry)], wide)


def text_of(table: Table, note: str, wide: int) -> str:
    """A table as text, laid out like on a terminal of this width, with a note below."""
    with redirect_stdout(StringIO()) as kept:
        print_one(table, wide)
        print_lines(filter(None, [note]), wide)
    return "\n".join(line.rstrip() for line in kept.getvalue().splitlines())


def print_lines(lines: Iterable[str], wide: int, indent: str = "  ") -> None:
    """Prints sentences, broken between words; a sentence goes on below its first line with the indent."""
    for line in lines:
        for part in _wrapped(line, wide, indent) or [""]:
            print(showable(part, sys.stdout.encoding))


def print_command(words: str, wide: int) -> None:
    """Prints a command to paste, with a backslash at the end of each line but the last."""
    print(showable(" \\\n".join(_wrapped(words, wide - 2)), sys.stdout.encoding))


def _wrapped(line: str, wide: int, indent: str = "  ") -> list[str]:
    """A line broken between words; a number stays with its unit."""
    kept = line.replace(" %", "\xa0%")
    parts = textwrap.wrap(kept, wide, break_long_words=False, break_on_hyphens=False, subsequent_indent=indent)
    return [part.replace("\xa0", " ") for part in parts]


def print_one(table: Table, wide: int) -> None:
    """Prints a table in the first layout that fits; where none does, one block of lines per row."""
    narrow, settings = _without_settings(table)
    for one in (table, narrow):
        for layout in _LAYOUTS:
            laid = _Laid.of(one, layout)
            if laid.total <= wide:
                print_lines([] if one is table else settings, wide)
                _print_rich(laid, wide)
                return
    folded = _folded(_Laid.of(table, _LAYOUTS[0]), wide)
    if folded is None:
        _print_records(table, wide)
    else:
        _print_rich(folded, wide)


def _folded(laid: _Laid, wide: int) -> _Laid | None:
    """The table with its columns of many words broken over lines, or None if that leaves them too narrow."""
    long = [place for place, own in enumerate(laid.widths) if own > _FOLD and place > 0]
    rest = sum(own for place, own in enumerate(laid.widths) if place not in long)
    room = (wide - rest - laid.gap * (len(laid.widths) - 1)) // max(len(long), 1)
    if not long or laid.table.remarks or room < _FOLD:
        return None
    cells = [
        ["\n".join(_wrapped(cell, room, "")) if place in long else cell for place, cell in enumerate(row)]
        for row in laid.cells
    ]
    widths = list(laid.widths)
    for place in long:
        widths[place] = max(_longest(row[place], "\n") for row in cells)
    fits = all(widths[place] <= room for place in long)
    return replace(laid, cells=cells, widths=widths, folded=tuple(long)) if fits else None


def _without_settings(table: Table) -> tuple[Table, list[str]]:
    """The table without the settings that are the same in every row, and these as a sentence."""
    once = [place for place in table.settings if len({row[place] for row in table.rows}) == 1]
    kept = [place for place in range(len(table.head)) if place not in once]
    rows = tuple(tuple(row[place] for place in kept) for row in table.rows)
    words = ", ".join(f"{table.head[place]} {table.rows[0][place]}" for place in once)
    return replace(table, head=tuple(table.head[place] for place in kept), rows=rows), [words] if once else []


@dataclass(frozen=True, slots=True)
class _Layout:
    """How cells are written: intervals over this many lines more, remarks as words or marks."""

    interval_lines: int
    marks: bool
    gap: int = 2


_LAYOUTS = (
    *(_Layout(lines, marks) for marks in (False, True) for lines in (0, 1, 2)),
    _Layout(1, True, 1),
    _Layout(2, True, 1),
)


@dataclass(frozen=True, slots=True)
class _Laid:
    """A table whose cells are lines of text, with the width of each column."""

    table: Table
    cells: list[list[str]]
    widths: list[int]
    gap: int
    folded: tuple[int, ...] = ()  # columns of words that are broken over lines

    @classmethod
    def of(cls, table: Table, layout: _Layout) -> _Laid:
        cells = [
            [
                _remark(cell.words, layout) if table.remarks and place == len(row) - 1 else _written(cell, layout)
                for place, cell in enumerate(row)
            ]
            for row in table.rows
        ]
        if table.remarks and layout.marks:  # the marks are explained below the table
            table = replace(table, head=(*table.head[:-1], ""))
        columns = list(zip(*cells, strict=True)) if cells else [()] * len(table.head)
        widths = [
            max([_longest(head, " "), *(_longest(cell, "\n") for cell in column)])
            for head, column in zip(table.head, columns, strict=True)
        ]
        return cls(table, cells, widths, layout.gap)

    @property
    def total(self) -> int:
        return sum(self.widths) + self.gap * (len(self.widths) - 1)


def _written(cell: Cell, layout: _Layout) -> str:
    if not cell.interval or layout.interval_lines == 0:
        return str(cell)
    low, _, high = cell.interval.partition(" to ")
    words = str(replace(cell, interval=""))
    return f"{words}\n{low} to{' ' if layout.interval_lines == 1 else chr(10)}{high}"


def _remark(words: str, layout: _Layout) -> str:
    if not layout.marks or not words:
        return words
    parts = words.split(", ")
    marks = "".join(_MARKS.get(part, "") for part in parts)
    return " ".join(filter(None, [marks, *(part for part in parts if part not in _MARKS)]))


def _longest(words: str, between: str) -> int:
    """The width of the longest word or line."""
    return max(map(_cells, words.split(between)))


def _cells(words: str) -> int:
    """How many columns a terminal needs for these letters."""
    from rich.cells import cell_len

    return cell_len(words)


def _print_rich(laid: _Laid, wide: int) -> None:
    from rich.console import Console

    console = Console(highlight=False, width=wide, emoji=False, markup=False)
    console.print(_rich(laid, sys.stdout.encoding))
    if laid.table.remarks and not laid.table.head[-1]:
        used = "".join(row[-1] for row in laid.cells)
        told = ", ".join(f"{mark} {words}" for words, mark in _MARKS.items() if mark in used)
        print_lines(filter(None, [told]), wide)


def _rich(laid: _Laid, encoding: str | None) -> RichTable:
    from rich.table import Table as RichTable
    from rich.text import Text

    found = RichTable(
        box=None, pad_edge=False, padding=(0, laid.gap, 0, 0), header_style="bold", collapse_padding=False
    )
    last = len(laid.widths) - 1
    for place, (head, wide) in enumerate(zip(laid.table.head, laid.widths, strict=True)):
        left = place < laid.table.left or place in laid.folded or (laid.table.remarks and place == last)
        found.add_column(Text(head), justify="left" if left else "right", width=wide, vertical="top")
    for row in laid.cells:
        harm = laid.table.remarks and row[-1].startswith(("harmful", "!"))
        found.add_row(*(
            Text(showable(cell, encoding), style="red" if harm and place == last else "")
            for place, cell in enumerate(row)
        ))  # fmt: skip
    return found


def _print_records(table: Table, wide: int) -> None:
    """One block per row: the first cell, then a line for each column."""
    label = max(_cells(head) for head in table.head) + 2
    for row in table.rows:
        number = row[0].words[:1].isdigit()  # says nothing without its name
        print_lines([_cut(f"{table.head[0]} {row[0].words}" if number else row[0].words, wide)], wide)
        for head, cell in zip(table.head[1:], row[1:], strict=True):
            if str(cell):
                print_lines([f"  {head}{' ' * (label - _cells(head))}{cell}"], wide, " " * min(label + 2, wide // 2))


def _keys(systems: Sequence[Facts], wide: int) -> dict[str, str]:
    """Letters for the names of systems, where the names are too long for the table; else none."""
    names = list(dict.fromkeys(tables.name_of(system) for system in systems))
    costs = tables.costs(systems)
    costs, _ = _without_settings(costs)
    short = replace(costs, rows=tuple((Cell("A"), *row[1:]) for row in costs.rows))
    fits = [_Laid.of(one, _LAYOUTS[-1]).total <= wide for one in (costs, short)]
    if max(map(_cells, names), default=0) <= wide // 2 and fits[0] >= fits[1]:
        return {}
    return {name: _letters(place) for place, name in enumerate(names)}


def _letters(place: int) -> str:
    """A, B, ... Z, AA, AB ..."""
    return (_letters(place // 26 - 1) if place >= 26 else "") + chr(ord("A") + place % 26)


def _cut(words: str, most: int) -> str:
    return words if _cells(words) <= most else words[: most - 1] + "…"
