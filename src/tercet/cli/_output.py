"""What a command says and writes: notes and progress on stderr, results on stdout, the page, the saved result."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

import tercet
from tercet._numeric.plain import plain
from tercet._numeric.validation import shown, shown_path
from tercet._typing import JSON, Value
from tercet.cli._command import VERBOSITY
from tercet.errors import InputError, TercetError, visible
from tercet.report import tables, text
from tercet.report.quantities import Quantity
from tercet.report.schema import VERSION, read_result
from tercet.report.terminal import print_one, print_table, width

Facts = JSON
Row = JSON
_PATIENCE = 2.0  # seconds before a progress bar appears
_LONGEST = 1000  # characters of a cell: notes are shown whole, an endless name is not


def verbosity() -> int:
    """-1 with --quiet, 1 with --verbose."""
    context = click.get_current_context(silent=True)
    return 0 if context is None else context.meta.get(VERBOSITY, 0)


def say(words: str) -> None:
    """A note on stderr, unless --quiet."""
    if verbosity() >= 0:
        complain(words)


def complain(words: str) -> None:
    """A line on stderr that --quiet does not silence; names in it cannot control the terminal."""
    print(f"tercet: {visible(words)}", file=sys.stderr)


def log(words: str) -> None:
    """A note on stderr, with --verbose only."""
    if verbosity() > 0:
        complain(words)


def out(words: str = "") -> None:
    """A line of the result, as the terminal can show it."""
    print(text.showable(words, sys.stdout.encoding))


@dataclass(frozen=True, slots=True)
class Style:
    """How a result is shown: the format, a title, and the quantities that were asked for by name."""

    output: str
    title: str | None
    wanted: tuple[Quantity, ...]
    by_default: bool  # no operating point was asked for


def show(systems: Sequence[Facts], style: Style, conditions: Sequence[Facts] = ()) -> None:
    """Prints results in the format asked for."""
    if style.output == "json":
        whole = document(systems, conditions, style.title, by_default=style.by_default)
        print(json.dumps(whole, allow_nan=False))
    elif style.output == "tsv":
        print(tables.tsv(systems, conditions, style.wanted))
    elif style.output == "md":
        out(tables.markdown(systems, conditions, style.title, style.wanted))
    elif style.output == "latex":
        out(tables.latex(systems, conditions, style.title, style.wanted))
    else:
        print_table(systems, conditions, style.title, style.wanted)


def print_rows(rows: Sequence[Row], output: str, facts: object = None) -> None:
    """Prints rows as a table, TSV, Markdown or LaTeX; JSON prints the facts behind them, or the rows."""
    if output == "json":
        print_json(facts if isinstance(facts, dict) else {"rows": list(rows) if facts is None else facts})
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
        return repr(value) if output == "tsv" else text.number(value)
    return text.harmless(str(value), _LONGEST)


def print_json(facts: Facts) -> None:
    """Prints facts behind the versions that every JSON begins with."""
    print(json.dumps(stamp() | dict(plain(facts)), allow_nan=False))


def ends(interval: Value, name: str = "") -> Row:
    """The ends of an interval as columns, after the name of what it is about; no columns without one."""
    return {} if interval is None else both_ends(interval, name)


def both_ends(interval: Value, name: str = "") -> Row:
    """The ends of an interval as columns; empty ones keep the columns in order where there is none."""
    before = f"{name}_" if name else ""
    return {f"{before}{end}": None if interval is None else getattr(interval, end) for end in ("low", "high")}


def draw(path: str | None, drawn: Value, kind: str, **settings: Value) -> None:
    """Draws the figure that was asked for, if one was, and says where it is."""
    if path is not None:
        from tercet.report.plots import plot

        plot(drawn, kind, path=path, **settings)
        say(f"the figure is in {text.harmless(path, 400)}.")


def save(path: str, content: str, words: str) -> None:
    """Writes a file whole or not at all, and says where it is; `words` name it."""
    from tercet.io import write_text_atomically

    write_text_atomically(path, content)
    say(f"{words} is in {text.harmless(path, 400)}.")


def document(
    systems: Sequence[Facts], conditions: Sequence[Facts] = (), title: str | None = None, *, by_default: bool = False
) -> Facts:
    """The result as it is saved: everything that `check` and `report` need.

    by_default: no operating point was asked for, so that the applications are the usual ones.
    """
    facts = stamp() | ({} if title is None else {"title": title})
    facts |= {"command": [printable(word) for word in sys.argv[1:]], "systems": list(systems)}
    facts |= {"default_applications": True} if by_default else {}
    return facts | ({"conditions": list(conditions)} if conditions else {})


def stamp() -> Facts:
    """What every JSON begins with: the version of its schema, and of tercet."""
    return {"schema_version": VERSION, "tercet": tercet.__version__}


def printable(word: str) -> str:
    """A word of the command line as text: bytes that are not UTF-8 are escaped."""
    return os.fsencode(word).decode("utf-8", "backslashreplace")


def write_page(result: Facts, path: str, title: str | None, open_page: bool, language: str = "en") -> None:
    """Writes the page, and opens it in a browser if asked to."""
    from tercet.report.page import page

    save(path, page(result, title, language), "the page")
    if open_page:
        import webbrowser

        webbrowser.open(Path(path).absolute().as_uri())


_DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)  # numbers that contradict each other


@contextmanager
def saved_result(path: str, what: str) -> Iterator[Facts]:
    """A saved result of scores, of which a page or card is made here; what fails on the way is the result's fault."""
    facts = read_result(path)
    if any(system["meaning"] == "decisions" for system in facts["systems"]):
        raise InputError(f"no {what} can be made from decided labels: it is about scores and their thresholds.")
    try:
        yield facts
    except (TercetError, OSError):
        raise
    except _DAMAGE as error:
        told = f"{shown_path(path)[1:-1]} is damaged: no {what} can be made of it ({shown(str(error))})."
        raise InputError(told) from error


class Bar:
    """A progress bar on a terminal's stderr, with rate and time left, for what takes more than two seconds."""

    def __init__(self, path: str) -> None:
        self.label, self.started = text.harmless(path), time.monotonic()
        self.bar: Any = None
        self.task: Any = None

    def __enter__(self) -> Bar:
        return self

    def __call__(self, done: int, total: int) -> None:
        if self.bar is None:
            if not sys.stderr.isatty() or verbosity() < 0 or done >= total:
                return
            if time.monotonic() - self.started < _PATIENCE:
                return
            self._begin(total)
        self.bar.update(self.task, completed=done, total=total)

    def _begin(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TimeRemainingColumn
        from rich.progress import TransferSpeedColumn as Speed

        columns = (TextColumn("{task.description}", markup=False), BarColumn(), DownloadColumn(), Speed())
        self.bar = Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True), transient=True)
        self.bar.start()
        self.task = self.bar.add_task(self.label, total=total)

    def __exit__(self, *_: object) -> None:
        if self.bar is not None:
            self.bar.stop()


@contextmanager
def working(words: str) -> Iterator[None]:
    """A spinner with these words on a terminal's stderr, while what takes more than two seconds is computed."""
    if not sys.stderr.isatty() or verbosity() < 0:
        yield
        return
    from rich.console import Console

    status = Console(stderr=True).status(text.harmless(words))
    timer = threading.Timer(_PATIENCE, status.start)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        timer.join()
        status.stop()
