"""Files that are the parts of one system, read in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tercet
from tercet._typing import Value
from tercet.cli._output import Bar, Facts, log, say
from tercet.cli._values import read_options, size_in_bytes
from tercet.errors import InputError
from tercet.io._limits import in_words
from tercet.metrics.case_costs import CaseCostEvaluation
from tercet.metrics.net_benefit import DecisionCurve

_NEED_ROWS = {
    "ci": "--ci", "condition_columns": "--condition-column", "calibrate_on": "--calibrate-on",
    "with_posteriors": "--with-posteriors", "group_columns": "--group-column",
    "one_vs_rest": "--one-vs-rest",
}  # fmt: skip


def limits_of(options: Facts) -> Facts:
    """Where the parts are read, how much memory that may take, and where finished ones are kept."""
    limits = {name: options.pop(name) for name in ("engine", "scheduler", "memory_limit", "resume")}
    log(f"reading in bounded memory: engine {limits['engine']}, memory limit {limits['memory_limit']}.")
    return limits | {"memory_limit": size_in_bytes(limits["memory_limit"])}


def choose_road(paths: Sequence[str], source: Facts, options: Facts) -> None:
    """Scans by itself what does not fit under --memory-limit, and refuses what would need every row of it."""
    limit = size_in_bytes(options["memory_limit"])
    files = [path for path in paths if path != "-" and Path(path).is_file()]
    if options["engine"] is not None or not files:
        return
    from tercet.outofcore.scan import memory_needed

    needed = max(memory_needed(path, read_options(source)) for path in files)
    if needed <= limit:
        log(f"reading into memory: about {in_words(needed)}, memory limit {options['memory_limit']}.")
        return
    asked = next((words for name, words in _NEED_ROWS.items() if options.get(name)), None)
    if asked is not None or len(paths) > 1:
        what, way_out = (
            asked or "Several systems at a time",
            f"leave {asked} out" if asked else "take one file at a time",
        )
        raise InputError(
            f"{what} would take about {in_words(needed)} of memory, and --memory-limit is {options['memory_limit']}: "
            f"raise it, or {way_out}."
        )
    options["engine"] = "local"


def evaluate_parts(
    paths: Sequence[str],
    asked: Sequence[Value],
    source: Facts,
    costs: dict[str, str],
    curve: Facts | None,
    *,
    bayes_plot: Any,
    eer: Any,
    **limits: Value,
) -> tuple[Any, list[CaseCostEvaluation], DecisionCurve | None]:
    """All files as parts of one system: their evaluation, costs by the columns `costs`, and the decision curve."""
    if costs and limits["engine"] == "dask":
        raise InputError("Costs per case are read on this machine: take --engine local.")
    with Bar(" ".join(paths)) as bar:
        trials = tercet.scan(list(paths), progress=bar, notes=say, **_columns(source), **limits)
        found = tercet.evaluate(trials, asked, bayes_plot=bayes_plot, eer=eer)
        given = [{"cost_fn": app.cost_fn, "cost_fp": app.cost_fp} | costs for app in asked] if costs else []
        rows = [tercet.scan_case_costs(trials, app.prior, **one) for app, one in zip(asked, given, strict=False)]
        drawn = None if curve is None else tercet.decision_curve(trials, **curve)
    return found, rows, drawn


def fit_parts(maker: Any, paths: Sequence[str], prior: object, settings: Facts, source: Facts, **limits: Value) -> Any:
    """A calibrator trained on all files as parts of one system."""
    at = {} if prior is None else {"prior": prior}
    with Bar(" ".join(paths)) as bar:
        return maker.fit(
            tercet.scan(list(paths), progress=bar, notes=say, **_columns(source), **limits), **at, **settings
        )


def _columns(source: Facts) -> Facts:
    """The reading options of files that are parts of one system; others are refused."""
    if source.get("group_columns"):
        raise InputError("--engine does not go with --group-column and --group-map: leave one of them out.")
    return source
