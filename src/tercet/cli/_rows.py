"""Rows of named values, printed in any of the formats."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import click

from tercet.cli._command import option, options
from tercet.report.text import harmless

Row = dict[str, Any]
FORMATS = ("table", "tsv", "json", "md", "latex")
rows_options = options(
    option("--json", "as_json", is_flag=True, excludes=("output",), help="The same as --format json."),
    option("--format", "output", type=click.Choice(FORMATS), help="[default: table, tsv in a pipe]"),
)
_LATEX = str.maketrans(
    {char: f"\\{char}" for char in "&%$#_{}"} | {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
)


def print_rows(rows: Sequence[Row], output: str, facts: object = None) -> None:
    """Prints rows as an aligned table, TSV, Markdown or LaTeX; JSON prints the facts behind them, or the rows."""
    if output == "json":
        print(json.dumps(rows if facts is None else facts, allow_nan=False))
        return
    names = list(dict.fromkeys(name for row in rows for name in row))
    cells = [[_cell(row.get(name), output) for name in names] for row in rows]
    if output == "tsv":
        print("\n".join("\t".join(line) for line in [names, *cells]))
    elif output == "md":
        print("\n".join(f"| {' | '.join(line)} |" for line in [names, ["---"] * len(names), *cells]))
    elif output == "latex":
        body = [
            " & ".join(word.replace("\\", "/").translate(_LATEX) for word in line) + r" \\" for line in [names, *cells]
        ]
        print("\n".join([rf"\begin{{tabular}}{{{'l' * len(names)}}}", body[0], r"\hline", *body[1:], r"\end{tabular}"]))
    else:
        widths = [max(len(line[place]) for line in [names, *cells]) for place in range(len(names))]
        for line in [names, *cells]:
            print("  ".join(word.ljust(width) for word, width in zip(line, widths, strict=True)).rstrip())


def _cell(value: object, output: str) -> str:
    if value is None:
        return "-"
    if isinstance(value, float):
        return repr(value) if output == "tsv" else f"{value:.4g}"
    return harmless(str(value), 200)
