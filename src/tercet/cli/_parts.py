"""Files that are the parts of one system, read in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import tercet
from tercet.cli._output import Bar, Facts, log, say
from tercet.cli._values import size_in_bytes
from tercet.errors import InputError


def limits_of(options: Facts) -> Facts:
    """Where the parts are read, how much memory that may take, and where finished ones are kept."""
    limits = {name: options.pop(name) for name in ("engine", "scheduler", "memory_limit", "resume")}
    log(f"reading in bounded memory: engine {limits['engine']}, memory limit {limits['memory_limit']}.")
    return limits | {"memory_limit": size_in_bytes(limits["memory_limit"])}


def evaluate_parts(
    paths: Sequence[str], asked: Sequence[Any], source: Facts, *, bayes_plot: Any, eer: Any, **limits: Any
) -> Any:
    """The evaluation of all files as parts of one system."""
    with Bar(" ".join(paths)) as bar:
        trials = tercet.scan(list(paths), progress=bar, notes=say, **_columns(source), **limits)
        return tercet.evaluate(trials, asked, bayes_plot=bayes_plot, eer=eer)


def fit_parts(maker: Any, paths: Sequence[str], prior: Any, settings: Facts, source: Facts, **limits: Any) -> Any:
    """A calibrator trained on all files as parts of one system."""
    at = {} if prior is None else {"prior": prior}
    with Bar(" ".join(paths)) as bar:
        return maker.fit(
            tercet.scan(list(paths), progress=bar, notes=say, **_columns(source), **limits), **at, **settings
        )


def _columns(source: Facts) -> Facts:
    """The reading options of files that are parts of one system; others are refused."""
    if source.get("group_columns"):
        raise InputError("--engine does not go with --group-column: leave one of them out.")
    return source
