"""Files that are the parts of one system, read in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tercet.cli._output import Bar, Facts, log
from tercet.cli._values import size_in_bytes
from tercet.errors import InputError

_KNOWN = ("score_column", "label_column", "target", "meaning", "trained_prior")


def limits_of(options: Facts) -> Facts:
    """Where the parts are read, how much memory that may take, and where finished ones are kept."""
    limits = {name: options.pop(name) for name in ("engine", "scheduler", "memory_limit", "resume")}
    log(f"reading in bounded memory: engine {limits['engine']}, memory limit {limits['memory_limit']}.")
    return limits | {"memory_limit": size_in_bytes(limits["memory_limit"])}


def evaluate_parts(paths: Sequence[str], asked: Sequence[Any], source: Facts, **limits: Any) -> Any:
    """The evaluation of all files as parts of one system."""
    from tercet.outofcore.scan import evaluate_files

    with Bar(" ".join(paths)) as bar:
        return evaluate_files(list(paths), asked, progress=bar, **_columns(source), **limits)


def fit_parts(maker: Any, paths: Sequence[str], prior: Any, settings: Facts, source: Facts, **limits: Any) -> Any:
    """A calibrator trained on all files as parts of one system."""
    from tercet.outofcore.fit import fit_files

    at = {} if prior is None else {"prior": prior}
    with Bar(" ".join(paths)) as bar:
        return fit_files(maker, list(paths), progress=bar, **at, **settings, **_columns(source), **limits)


def _columns(source: Facts) -> Facts:
    """The reading options of files that are parts of one system; others are refused."""
    others = sorted(set(source) - {*_KNOWN, "missing"})
    if others:
        raise InputError(f"--engine does not go with --{others[0].replace('_', '-')}: leave one of them out.")
    return {key: value for key, value in source.items() if key in _KNOWN}
