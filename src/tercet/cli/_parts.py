"""Files that are the parts of one system, read in bounded memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import click

import tercet
from tercet._typing import Value
from tercet.cli._output import Bar, Facts, log, say
from tercet.cli._values import read_options, with_columns
from tercet.errors import InputError
from tercet.io._limits import in_words
from tercet.outofcore.limits import PROCESS
from tercet.outofcore.scan import Scan

_NEED_ROWS = {
    "ci": "--ci", "calibrate_on": "--calibrate-on", "with_posteriors": "--with-posteriors",
    "group_columns": "--group-column", "one_vs_rest": "--one-vs-rest",
    "min_risk": "--min-risk", "folds": "--folds", "by": "--by", "out_of_fold": "--out-of-fold", "apps": "--app",
}  # fmt: skip


def limits_of(options: Facts) -> Facts:
    """Where the parts are read, how much memory that may take, and where finished ones are kept."""
    limits = {name: options[name] for name in ("engine", "scheduler", "memory_limit", "resume")}
    log(f"reading in bounded memory: engine {limits['engine']}, memory limit {in_words(limits['memory_limit'])}.")
    return limits


def choose_road(paths: Sequence[str], source: Facts, options: Facts, columns: Sequence[str] = ()) -> None:
    """Switches to a scan if the files exceed --memory-limit, and refuses options that need every row in memory.

    All files are held in memory at once. `columns` are read along with the scores.
    """
    from tercet.outofcore.scan import memory_needed

    limit = options["memory_limit"]
    if options["engine"] is not None:
        return
    wanted = with_columns(read_options(source), columns)
    held = [path for path in (*paths, *options.get("calibrate_on", ())) if Path(path).is_file()]
    needed = PROCESS + sum(memory_needed(path, wanted) - PROCESS for path in held)
    if needed <= limit:
        log(f"reading into memory: about {in_words(needed)}, memory limit {in_words(limit)}.")
        return
    asked = next((words for name, words in _NEED_ROWS.items() if options.get(name) or source.get(name)), None)
    if asked is not None or len(paths) > 1:
        what = asked or "Several systems at a time"
        way_out = f"leave {asked} out" if asked else "take one file at a time"
        if asked == "--ci" and len(paths) == 1:
            way_out += ", or use --engine local, which has the intervals of rates and actual costs"
        typed = click.get_current_context().params["memory_limit"]
        raise InputError(
            f"{what} would take about {in_words(needed)} of memory, and --memory-limit is {typed}: "
            f"raise it, or {way_out}."
        )
    options["engine"] = "local"


@contextmanager
def scanned(paths: Sequence[str], source: Facts, **limits: Value) -> Iterator[Scan]:
    """All files as the parts of one system, with a progress bar."""
    if source.get("group_columns"):
        raise InputError("--engine cannot be combined with --group-column and --group-map: leave one of them out.")
    with Bar(" ".join(paths)) as bar:
        yield tercet.scan(list(paths), progress=bar, notes=say, **source, **limits)
