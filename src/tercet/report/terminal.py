"""The costs table as a person likes to read it in a terminal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

from tercet.report import text


def print_table(systems: list[dict[str, Any]], conditions: Sequence[dict[str, Any]] = ()) -> None:
    """Prints a line a system, a row for each of its applications, and a table for each column of conditions."""
    from rich.console import Console
    from rich.text import Text

    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    for line in text.summaries(systems):
        console.print(Text(line))
    head, rows = text.table_cells(systems)
    if rows:
        console.print()
        console.print(_table(head, rows))
    for line in text.notes(systems):
        console.print(Text(line))
    for entry in conditions:
        console.print()
        console.print(Text(text.condition_title(entry), style="bold"))
        console.print(_table(*text.condition_cells(entry)))
        for line in text.reasons(entry):
            console.print(Text(line))


def _table(head: list[str], rows: list[list[str]]) -> Any:
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, title in enumerate(head):
        table.add_column(title, justify="left" if place in (0, len(head) - 1) else "right", overflow="fold")
    for row in rows:
        style = "red" if row[-1].startswith("harmful") else ""
        table.add_row(*(Text(cell, style=style if place == len(row) - 1 else "") for place, cell in enumerate(row)))
    return table
