"""What a command says and writes: notes and progress on stderr, results on stdout, the page, the saved result."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

import tercet
from tercet.cli._command import VERBOSITY
from tercet.errors import InputError
from tercet.report import text
from tercet.report.terminal import print_table

Facts = dict[str, Any]
_PATIENCE = 2.0  # seconds before a progress bar appears


def verbosity() -> int:
    """-1 with --quiet, 1 with --verbose."""
    context = click.get_current_context(silent=True)
    return 0 if context is None else context.meta.get(VERBOSITY, 0)


def say(words: str) -> None:
    """A note on stderr, unless --quiet."""
    if verbosity() >= 0:
        print(f"tercet: {words}", file=sys.stderr)


def log(words: str) -> None:
    """A note on stderr, with --verbose only."""
    if verbosity() > 0:
        print(f"tercet: {words}", file=sys.stderr)


def chosen_format(as_json: bool, output: str | None) -> str:
    """The format asked for: else a table on a terminal and TSV in a pipe."""
    return "json" if as_json else output or ("table" if sys.stdout.isatty() else "tsv")


def show(systems: list[Facts], output: str, conditions: Sequence[Facts] = ()) -> None:
    """Prints results in the format asked for."""
    if output == "json":
        print(json.dumps(document(systems, conditions), allow_nan=False))
    elif output == "tsv":
        print(text.tsv(systems, conditions))
    elif output == "md":
        print(text.markdown(systems, conditions))
    else:
        print_table(systems, conditions)


def document(systems: list[Facts], conditions: Sequence[Facts] = ()) -> Facts:
    """The result as it is saved: everything that `check` and `report` need."""
    facts = {"schema_version": 1, "tercet": tercet.__version__, "command": sys.argv[1:], "systems": systems}
    return facts | ({"conditions": list(conditions)} if conditions else {})


def saved_document(path: str) -> Facts:
    """A result of `tercet evaluate --json`, refused if it is anything else."""
    words = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
    try:
        result = json.loads(words)
        sound = result["schema_version"] == 1 and all(isinstance(one["input"], dict) for one in result["systems"])
    except (ValueError, KeyError, TypeError):
        sound = False
    if not sound:
        raise InputError(f"{path} is not a result of `tercet evaluate --json` (schema version 1).")
    return dict(result)


def write_page(result: Facts, path: str, title: str | None, open_page: bool) -> None:
    """Writes the page, and opens it in a browser if asked to."""
    from tercet.io import write_text_atomically
    from tercet.report.page import page

    write_text_atomically(path, page(result, title))
    say(f"the page is in {path}.")
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
