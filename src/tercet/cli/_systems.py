"""One record per system, from its file to its facts; files that are the parts of one system are scanned."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import click
import numpy as np

import tercet
from tercet._numeric.plain import plain
from tercet._typing import Array, Value
from tercet.cli._output import Bar, Facts, log, printable, say
from tercet.cli._values import points_of, read_options, size_in_bytes, with_columns
from tercet.errors import InputError
from tercet.io._limits import in_words
from tercet.metrics.confusion import Confusion
from tercet.metrics.net_benefit import DecisionCurve
from tercet.outofcore.limits import PROCESS
from tercet.outofcore.scan import Scan
from tercet.report.quantities import is_larger_better, value_of
from tercet.report.quantities import named as quantity_named
from tercet.trials import Trials
from tercet.uncertainty.bands import Bands

_HELD = "tercet.held"  # in the context's meta: bytes that the trials read so far take


@dataclass(frozen=True, slots=True)
class Calibration:
    """How a system is calibrated first: by which method, on the trials of which files."""

    method: str
    fit: Callable[..., Any]
    prior: Facts  # as `fit` takes it
    files: Sequence[str]
    trials: Trials

    def __call__(self, trials: Trials) -> Trials:
        calibrated: Trials = self.fit(self.trials, **self.prior)(trials)
        return calibrated

    def to_dict(self) -> Facts:
        """The entry "calibration" of a system in the JSON."""
        from tercet.io import fingerprint

        files = [fingerprint(file) for file in self.files]
        return {"method": self.method, "files": files, "trials": len(self.trials)}


@dataclass(frozen=True, slots=True)
class System:
    """A system on its way through a command: its file, the trials as read and as used, and what was found."""

    path: str
    name: str
    read: Trials | None = None  # None where the trials were not read into memory
    trials: Trials | Scan | None = None  # as read, or calibrated
    calibration: Calibration | None = None
    evaluation: Any = None
    facts: Facts = field(default_factory=dict)
    bands: Bands | None = None
    curve: DecisionCurve | None = None

    def with_facts(self, **more: object) -> System:
        """The system with more facts."""
        return replace(self, facts=self.facts | more)

    def source(self) -> Trials | Scan:
        """The trials as they are used, in memory or not."""
        assert self.trials is not None
        return self.trials

    def used(self) -> Trials:
        """The trials as they are used, in memory."""
        assert isinstance(self.trials, Trials)
        return self.trials


def check_order(quantity: str | None, systems: int) -> None:
    """Refuses to sort by an unknown quantity, or to sort a single system."""
    if quantity is not None:
        quantity_named(quantity, "--sort")
        if systems < 2:
            raise click.UsageError("--sort has no effect on one system.")


def arranged(systems: Sequence[System], quantity: str | None) -> list[System]:
    """The systems in the order given, or by a quantity, the best first and undefined ones last."""
    if quantity is None:
        return list(systems)
    values = [_first(one.facts, quantity) for one in systems]
    if all(value is None for value in values):
        raise InputError(f"--sort: no system has a number called {quantity}; --metrics {quantity} computes it.")
    sign = -1.0 if is_larger_better(quantity) else 1.0
    order = sorted(range(len(systems)), key=lambda k: math.inf if (v := values[k]) is None else sign * v)
    return [systems[place] for place in order]


def _first(facts: Facts, quantity: str) -> float | None:
    """A quantity of a system, or of its first operating point."""
    first = (facts["applications"] or [{}])[0]
    return value_of(first if quantity in first else facts, quantity)


@contextmanager
def local_files(paths: Sequence[str]) -> Iterator[list[str]]:
    """The paths, standard input spilled to a file that can be read and then hashed."""
    from tercet.io import stdin_file

    with ExitStack() as stack:
        yield [str(stack.enter_context(stdin_file())) if path == "-" else path for path in paths]


def read_trials(path: str, source: Facts) -> Trials:
    """The trials of one file, if they fit under --memory-limit with those that were read before."""
    from tercet.io import read

    _keep_to_limit(path, source)
    with Bar(path) as bar:
        return with_maps(read(path, progress=bar, notes=say, **read_options(source)), source)


def _keep_to_limit(path: str, source: Facts) -> None:
    """Refuses a file that would not fit; commands with --engine choose by size before they read."""
    from tercet.outofcore.limits import PROCESS
    from tercet.outofcore.scan import memory_needed

    context = click.get_current_context()
    words = None if "engine" in context.params else context.params.get("memory_limit")
    if words is None or not Path(path).is_file():
        return
    needed = context.meta.get(_HELD, PROCESS) + memory_needed(path, read_options(source)) - PROCESS
    if needed > size_in_bytes(words, "--memory-limit"):
        raise InputError(
            f"The trials up to {printable(path)} would take about {in_words(needed)} of memory, and --memory-limit is "
            f"{words}: raise it, or take fewer trials."
        )
    context.meta[_HELD] = needed


def read_pieces(path: str, source: Facts) -> Iterator[Trials]:
    """The trials of one file, some rows at a time."""
    from tercet.io import read_chunks

    with Bar(path) as bar:
        for piece in read_chunks(path, progress=bar, notes=say, **read_options(source)):
            yield with_maps(piece, source)


def with_maps(trials: Trials, source: Facts) -> Trials:
    """The trials with the groups of --group-map and --enrolment-map."""
    from tercet.io.score_sets import read_group_map, with_group_map

    for name, path, place in source.get("group_maps", ()):
        trials = with_group_map(trials, read_group_map(path), name, field=place)
    return trials


def read_systems(paths: Sequence[str], source: Facts, names: Sequence[str] = ()) -> list[System]:
    """One system per file."""
    found = []
    for path, name in zip(paths, names or distinct_names(paths), strict=True):
        trials = read_trials(path, source)
        found.append(System(path, name, trials, trials))
    return found


def decided_systems(paths: Sequence[str], names: Sequence[str], apps: Sequence[object], source: Facts) -> list[System]:
    """Decided labels instead of scores: counted against the true ones, and priced for every application."""
    from tercet.io import read_decisions

    wanted = {key: value for key, value in source.items() if key not in ("meaning", "score_column", "class_columns")}
    found = []
    for path, name in zip(paths, names or distinct_names(paths), strict=True):
        table = read_decisions(path, classes=source.get("class_columns"), **wanted)
        facts: Facts = {
            "name": name,
            "meaning": "decisions",
            "input": {"trials": sum(map(sum, table.matrix))},
            "classes": list(table.classes),
            "actions": list(table.actions),
            "confusion": table.matrix,
            "accuracy": plain(table.accuracy),
            "applications": [_priced(table, app) for app in points_of(apps)],
        }
        found.append(System(path, name, facts=with_files(facts, path, source)))
    return found


def _priced(table: Confusion, app: object) -> Facts:
    laid = table.matched(app)
    return {
        "priors": laid.prior.tolist(),
        "costs": laid.costs.tolist(),
        "actions": list(table.actions),
        "confusion": table.matrix,
        "risk": plain(table.risk(laid)),
        "dcf": plain(table.normalised_risk(laid)),
        "dummy_cost": laid.dummy_cost,
        "dummy_action": laid.renamed(table.classes).dummy_action,
    }


def named(paths: Sequence[str], names: Sequence[str], *, together: bool = False) -> list[str]:
    """The names of --name, as many as there are systems; none where none was given."""
    count = 1 if together else len(paths)
    if names and len(names) != count:
        raise click.UsageError(f"--name gives {len(names)} of {count} names: name every system, or none.")
    if len(set(names)) < len(names):
        raise click.UsageError("--name: two systems have the same name.")
    return list(names)


def distinct_names(paths: Sequence[str]) -> list[str]:
    """The files' names without ending; the whole paths where two would be the same."""
    names = [name_of(path) for path in paths]
    return names if len(set(names)) == len(names) else [printable(path) for path in paths]


def name_of(path: str) -> str:
    """A file's name without folder and ending."""
    name = Path(path).name
    return "stdin" if path == "-" or name.startswith("tercet-stdin-") else printable(name.split(".")[0])


def with_files(facts: Facts, path: str, source: Facts) -> Facts:
    """The facts with the files that they came from, by name and hash."""
    from tercet.io import fingerprint

    files = [path, *(source[key] for key in ("labels", "key") if key in source)]
    return facts | {"input": {"files": [fingerprint(file) for file in files], **facts["input"]}}


def names_in(source: Facts) -> Facts:
    """The names by which columns were read, so that they are written back under them."""
    return {name: source[name] for name in ("id_column", "weight_column", "label_column") if name in source}


def write_decided(out: str, trials: Trials, found: Facts, layout: Value, source: Facts) -> None:
    """Decisions, and what is known of each, as a table or in the layout of the scores."""
    from tercet.io import write_like
    from tercet.io.score_sets import write_decisions

    if layout == "table":
        write_like(out, [(trials, found)], **names_in(source) | {"label_column": None})
    else:
        write_decisions(out, trials, found["decision"], layout)


def names_of(codes: Array, names: Sequence[str]) -> Array:
    """Classes or actions by name."""
    return np.array(names, np.object_)[codes.astype(np.intp)]


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
