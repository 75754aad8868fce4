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
from tercet._typing import JSON
from tercet.cli._command import VERBOSITY
from tercet.errors import visible
from tercet.report import tables, text
from tercet.report.quantities import Quantity, chosen
from tercet.report.schema import VERSION
from tercet.report.terminal import print_table

Facts = JSON
_PATIENCE = 2.0  # seconds before a progress bar appears


def verbosity() -> int:
    """-1 with --quiet, 1 with --verbose."""
    context = click.get_current_context(silent=True)
    return 0 if context is None else context.meta.get(VERBOSITY, 0)


def say(words: str) -> None:
    """A note on stderr, unless --quiet."""
    if verbosity() >= 0:
        complain(words)


def complain(words: str) -> None:
    """A line on stderr that --quiet does not silence; names in it cannot steer the terminal."""
    print(f"tercet: {visible(words)}", file=sys.stderr)


def log(words: str) -> None:
    """A note on stderr, with --verbose only."""
    if verbosity() > 0:
        complain(words)


def out(words: str = "") -> None:
    """A line of the result, as the terminal can show it."""
    print(text.showable(words, sys.stdout.encoding))


def chosen_format(as_json: bool, output: str | None) -> str:
    """The format asked for: else a table on a terminal and TSV in a pipe."""
    return "json" if as_json else output or ("table" if sys.stdout.isatty() else "tsv")


@dataclass(frozen=True, slots=True)
class Style:
    """How a result is shown: the format, a title, and the quantities that were asked for by name."""

    output: str
    title: str | None = None
    wanted: tuple[Quantity, ...] = ()
    by_default: bool = False  # no operating point was asked for

    @classmethod
    def of(cls, options: Facts, *, by_default: bool = False) -> Style:
        """What --format, --json, --title and --metrics ask for."""
        output, wanted = chosen_format(options["as_json"], options["output"]), chosen(options["metrics"])
        return cls(output, options["title"], wanted, by_default)


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
    from tercet.io import write_text_atomically
    from tercet.report.page import page

    write_text_atomically(path, page(result, title, language))
    say(f"the page is in {text.harmless(path, 400)}.")
    if open_page:
        import webbrowser

        webbrowser.open(Path(path).absolute().as_uri())


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
