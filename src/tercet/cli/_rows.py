"""Rows of named values, printed in any of the formats."""

from __future__ import annotations

import json
from collections.abc import Sequence

from tercet._numeric.plain import plain
from tercet._typing import JSON
from tercet.cli._options import format_options
from tercet.cli._output import out, stamp
from tercet.report import tables
from tercet.report.terminal import print_one, width
from tercet.report.text import harmless, number

Row = JSON
rows_options = format_options


def print_rows(rows: Sequence[Row], output: str, facts: object = None) -> None:
    """Prints rows as a table, TSV, Markdown or LaTeX; JSON prints the facts behind them, or the rows."""
    if output == "json":
        found = facts if isinstance(facts, dict) else {"rows": list(rows) if facts is None else facts}
        print(json.dumps(stamp() | dict(plain(found)), allow_nan=False))
        return
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_cell(row.get(name), output) for name in names] for row in rows]
    table = tables.of_words(names, cells)
    if output == "tsv":
        out("\n".join("\t".join(line) for line in [names, *cells]))
    elif output == "md":
        out(tables.markdown_table(table))
    elif output == "latex":
        out(tables.latex_table(table))
    else:
        print_one(table, width())


def _cell(value: object, output: str) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return repr(value) if output == "tsv" else number(value)
    return harmless(str(value), 200)
