"""Bootstrap intervals for every number of an Evaluation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import Counts
from tercet._numeric.plain import plain
from tercet._numeric.validation import frozen, numbers, shown
from tercet._typing import Floats
from tercet.application import Application, listed
from tercet.errors import InputError, UndefinedError
from tercet.metrics.confusion import as_matrix
from tercet.metrics.costs import log_odds_grid
from tercet.metrics.curves import EER_DEFINITIONS
from tercet.metrics.tally import Tally
from tercet.trials import Trials
from tercet.uncertainty._kernel.classes import ManyClasses
from tercet.uncertainty._kernel.draws import LARGE, Design
from tercet.uncertainty._kernel.ends import Bound, Reading, accelerations, bound, tail_of
from tercet.uncertainty._kernel.engine import Progress, Settings, System, replicates
from tercet.uncertainty._kernel.equalised import Equalised, by_cell
from tercet.uncertainty._kernel.guards import (
    Guard,
    many_class_guards,
    many_class_limits,
    two_class_guards,
    two_class_limits,
)
from tercet.uncertainty._kernel.rates import Rated, defined
from tercet.uncertainty._kernel.refit import Asked, Refitted, TwoSets, refitted
from tercet.uncertainty._kernel.runs import Runs
from tercet.uncertainty._kernel.student import scale_of, shrinks
from tercet.uncertainty._kernel.two import Plan, TwoClass
from tercet.uncertainty._rows import class_rows, grouping, one_column, ranked_rows, several

Places = NDArray[np.intp]

QUANTITIES = (
    "eer", "auc", "cllr", "min_cllr", "fnr", "fpr", "dcf_u", "dcf", "min_dcf", "min_dcf_u", "calibration_loss",
    "bayes_plot", "accuracy", "log_loss", "normalised_cross_entropy", "brier", "risk", "contributions",
)  # fmt: skip
_MINIMA = {"min_dcf", "min_dcf_u", "calibration_loss", "bayes_plot"}
_HARDLY_GROUPS = 3  # Student's t reaches 4.3 standard errors with three, 12.7 with two
_FEW_GROUPS = 20  # below this the spread between groups is itself badly known


@dataclass(frozen=True, eq=False, repr=False)
class Intervals(Mapping[str, Bound]):
    """Intervals under the names of the JSON: "auc", "eer", "applications.0.dcf", "bayes_plot.min_dcf", ...

    `samples` holds each number's value in every resample; `redrawn` counts resamples thrown away for lack of a class.
    """

    bounds: Mapping[str, Bound]
    samples: Mapping[str, Floats]
    level: float
    resamples: int
    seed: int
    by: tuple[str, ...]
    redrawn: int
    tail: float  # the share of resamples beyond each end, before BCa moves it
    notes: tuple[str, ...] = ()

    def __getitem__(self, name: str) -> Bound:
        if name not in self.bounds:
            raise InputError(f"There is no interval for {shown(name)}; there are: {', '.join(self.bounds)}.")
        return self.bounds[name]

    def __contains__(self, name: object) -> bool:
        return name in self.bounds

    def __iter__(self) -> Iterator[str]:
        return iter(self.bounds)

    def __len__(self) -> int:
        return len(self.bounds)

    def __repr__(self) -> str:
        rows = [
            f"  {name}: {bound.value:.4f} ({bound.low:.4f} to {bound.high:.4f}, {bound.method})"
            for name, bound in self.bounds.items()
            if np.ndim(bound.value) == 0
        ]
        drawn = f"whole groups ({' x '.join(self.by)})" if self.by else "trials within class"
        head = f"Intervals: {100 * self.level:g} %, {self.resamples} resamples of {drawn}, {self.redrawn} redrawn"
        return "\n".join([head, *rows, *(f"  note: {note}" for note in self.notes)])


def bootstrap(
    trials: Trials | Tally,
    applications: Iterable[object] = (),
    *,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    by: str | tuple[str, str] | None = None,
    method: str | None = None,
    quantities: Iterable[str] | None = None,
    bayes_plot: tuple[float, float, int] | None = (-3.0, 3.0, 21),
    eer: str = "rocch",
    roc: object = None,
    bins: object = None,
    rates: Iterable[str] = (),
    calibrate: Any = None,
    calibration_trials: Trials | None = None,
    prior: object = None,
    extra: Mapping[str, Callable[[Trials], float]] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Intervals:
    """Intervals for every number of evaluate(trials, applications), by resampling.

    Trials are drawn with replacement within their class, or whole groups of the column(s) `by`. The method is "bca" for
    trials and "student" for groups unless named; "percentile" is cheaper, and too low for minima, the EER and small
    sets (docs/uncertainty.md). A calibrator is
    fitted anew on each resample and applied to it, or on each resample of `calibration_trials`, which are drawn along.
    `rates` asks for rates of the decisions by name ("precision"; of K classes also "macro f1"). `roc` (false-alarm
    rates) and `bins` (inner llr edges) add bands.

    >>> trials = Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> bound = bootstrap(trials, [(0.5, 1, 1)], resamples=200, method="percentile")["applications.0.fnr"]
    >>> round(bound.value, 3), bound.low, bound.high, bound.method
    (0.333, 0.0, 1.0, 'percentile')
    """
    settings = _settings(level, resamples, seed, by, method, threads)
    apps, wanted = listed(applications), wanted_of(quantities)
    asked = _names(rates, "rates")
    if extra is not None and not isinstance(extra, Mapping):
        raise InputError(f"extra must be {{name: function of the trials}}, not {shown(extra)}.")
    system: System
    if calibrate is not None or calibration_trials is not None or extra:
        if asked:
            raise InputError(
                "rates cannot be asked while calibrating inside the resample: ask by extra={name: function}."
            )
        bands = (band_points(roc, "roc"), band_points(bins, "bins"))
        whole = Asked(apps, bayes_plot, eer, *bands, extra or {})
        design, system = refitted(trials, settings.by, calibrate, calibration_trials, prior, whole)
    elif isinstance(trials, Trials) and several(trials, apps):
        design, system = _many_classes(trials, apps, settings.by)
    else:
        plan = planned([Application.of(app) for app in apps], wanted, bayes_plot, eer, roc, bins)
        design, system = _two_classes(trials, plan, settings.by)
    if asked:
        system = _rated(trials, apps, asked, settings.by, system)
    raw, redrawn = replicates([design], [system], settings, progress)
    return summed_up(design, system, raw[0], redrawn, settings, wanted | frozenset(asked))


def equalised(
    trials: Trials, column: str, applications: Iterable[object] = (), *, level: float = 0.95, resamples: int = 1000,
    seed: int = 0, by: str | tuple[str, str] | None = None, method: str | None = None,
    bayes_plot: tuple[float, float, int] | None = None, eer: str = "rocch", threads: int | None = None,
    progress: Progress | None = None,
) -> Intervals:  # fmt: skip
    """Intervals of the costs in which every value of a group column weighs the same, drawn within class and value."""
    settings = _settings(level, resamples, seed, by, method, threads)
    apps, wanted = listed(applications), wanted_of(None)
    flat = trials if several(trials, apps) else one_column(trials)
    rows = class_rows(flat, settings.by)
    design, cells = by_cell(flat, rows, column, settings.by)
    inner: System
    if several(flat, apps):
        share = [1.0 / len(rows)] * len(rows)
        inner = ManyClasses.of(flat, rows, [as_matrix(app) for app in apps], share)
    else:
        plan = planned([Application.of(app) for app in apps], wanted, bayes_plot, eer)
        inner = TwoClass.of(flat, rows, plan)
    system = Equalised(inner, cells)
    raw, redrawn = replicates([design], [system], settings, progress)
    return summed_up(design, system, raw[0], redrawn, settings, wanted)


def _settings(level: Any, resamples: Any, seed: Any, by: Any, method: str | None, threads: Any) -> Settings:
    """Checked; the method is Student's for groups and BCa for trials unless named."""
    return Settings.of(level, resamples, seed, by, method or ("student" if grouping(by) else "bca"), threads)


def _names(values: Any, name: str) -> list[str]:
    """A name or several of them."""
    found = list(values) if isinstance(values, Iterable) and not isinstance(values, str) else [values]
    if not all(isinstance(one, str) for one in found):
        raise InputError(f"{name} must be names, not {shown(values)}.")
    return found


def planned(
    apps: Sequence[Application],
    wanted: frozenset[str],
    bayes_plot: tuple[float, float, int] | None,
    eer: str = "rocch",
    roc: object = None,
    bins: object = None,
) -> Plan:
    """What each resample has to compute for the quantities asked."""
    if eer not in EER_DEFINITIONS:
        raise InputError(f"An EER is {', '.join(EER_DEFINITIONS)}, not {shown(eer)}.")
    grid = np.empty(0)
    if bayes_plot is not None and "bayes_plot" in wanted:
        grid = log_odds_grid(bayes_plot)
    wants = set(wanted & {"eer", "auc", "cllr", "min_cllr"})
    if wanted & _MINIMA and (apps or len(grid)):
        wants.add("minimum")
    return Plan(tuple(apps), grid, frozenset(wants), eer, band_points(roc, "roc"), band_points(bins, "bins"))


def band_points(values: object, name: str) -> Floats:
    """The false-alarm rates or the inner edges at which a band is asked for."""
    points = np.empty(0) if values is None else numbers(values, name)
    if name == "roc" and not ((points >= 0.0) & (points <= 1.0)).all():
        raise InputError("roc must be false-alarm rates between 0 and 1.")
    if name == "bins" and (np.diff(points) <= 0.0).any():
        raise InputError("bins must be inner edges in ascending order.")
    return points


def _rated(
    trials: Trials | Tally, apps: Sequence[object], names: Sequence[str], by: Sequence[str], system: System
) -> Rated:
    """The system with rates by name beside its own numbers."""
    if isinstance(trials, Tally):
        raise InputError("rates need the Trials, not a Tally.")
    flat = trials if several(trials, apps) else one_column(trials)
    rows = class_rows(flat, by) if several(trials, apps) else ranked_rows(flat, by)
    return Rated(system, [flat.select(places) for places in rows], apps, names)


def _two_classes(trials: Trials | Tally, plan: Plan, by: tuple[str, ...]) -> tuple[Design, TwoClass]:
    if isinstance(trials, Tally) or (trials.weights is None and not by):
        return _from_tally(trials if isinstance(trials, Tally) else Tally.of(trials), plan, by)
    two = one_column(trials)
    rows = ranked_rows(two, by)
    return Design.of(two, rows, by), TwoClass.of(two, rows, plan, ranked=True)


def _from_tally(tally: Tally, plan: Plan, by: tuple[str, ...]) -> tuple[Design, TwoClass]:
    if by:
        raise InputError("A Tally has forgotten the groups: bootstrap the Trials themselves.")
    sides = (tally.nontargets, tally.targets)
    for side, called in zip(sides, ("non-targets", "targets"), strict=True):
        if side.total == 0:
            raise UndefinedError(f"There is no interval: there are no {called} among the trials.")
    weights = [None if side.running is None else np.diff(side.running) for side in sides]
    if tally.unit != 0:
        weights = [None if own is None else own.astype(np.float64) * 2.0**tally.unit for own in weights]
    scores = (sides[0].scores, sides[1].scores)
    system = TwoClass.ranked(scores, (None, None), tally.meaning, tally.trained_prior, plan)
    return Design((len(scores[0]), len(scores[1])), tuple(weights), runs=_runs(system, weights)), system


def _runs(system: TwoClass, weights: Sequence[Counts | None]) -> tuple[Runs, ...]:
    """The runs to draw of a large set without weights; of a small one rows are drawn."""
    if min(len(side) for side in system.scores) == 0 or any(own is not None for own in weights):
        return ()
    return tuple(Runs.of(bounds) for bounds in system.runs) if sum(map(len, system.scores)) >= LARGE else ()


def drawn(trials: Trials, number: int, *, seed: int = 0, by: str | tuple[str, str] | None = None) -> Counts:
    """The weight of each trial in one resample of bootstrap(trials, ..., seed=seed, by=by), row by row.

    >>> trials = Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> weights = drawn(trials, 0)
    >>> weights[:3].sum().item(), weights[3:].sum().item()
    (3, 3)
    """
    names = grouping(by)
    if len(trials.classes) > 2:
        rows: tuple[Places, ...] = class_rows(trials, names)
        design = Design.of(trials, rows, names)
    else:
        rows = ranked_rows(one_column(trials), names)
        design, _ = _two_classes(trials, Plan((), np.empty(0), frozenset()), names)
    weights = design.draw(seed, number).rows()
    heavy = np.zeros(len(trials), np.float64 if any(w.dtype.kind == "f" for w in weights) else np.int64)
    for places, own in zip(rows, weights, strict=True):
        heavy[places] = own
    return heavy


def _many_classes(trials: Trials, apps: Sequence[object], by: tuple[str, ...]) -> tuple[Design, ManyClasses]:
    rows = class_rows(trials, by)
    design = Design.of(trials, rows, by)
    real = any(own is not None and own.dtype.kind == "f" for own in design.weights)
    sizes = None if by or real else [float(weights.sum()) for weights in design.base()]
    return design, ManyClasses.of(trials, rows, [as_matrix(app) for app in apps], sizes)


def summed_up(
    design: Design, system: System, raw: Floats, redrawn: int, settings: Settings, wanted: frozenset[str]
) -> Intervals:
    """Intervals from the numbers of all resamples."""
    points, columns = system.named(system.statistics(design.base())[None]), system.named(raw)
    asked, missing = defined({name: columns[name] for name in columns if _is_asked(name, wanted)}, points)
    pushes = {} if settings.method == "percentile" else accelerations(design, system, settings)
    narrower = shrinks(design, system, settings) if settings.method == "student" else {}
    guards = guards_of(system, points, design.base(), design.units(), settings.level)
    limits = limits_of(system)
    tail = tail_of(design, settings.level)
    bounds = {}
    for name in asked:
        least, most = limits.get(name, (-math.inf, math.inf))
        span = most if name.endswith("min_dcf_u") and most > 0.0 else 1.0
        reading = Reading(
            pushes.get(name, 0.0), scale_of(name), narrower.get(name, 1.0), span, guards.get(name), least, most
        )
        bounds[name] = bound(points[name][0], columns[name], settings, tail, reading)
    samples = {name: frozen(np.array(columns[name])) for name in asked}
    return Intervals(
        MappingProxyType(bounds), MappingProxyType(samples), settings.level, settings.resamples, settings.seed,
        settings.by, redrawn, tail, _notes(design, settings, redrawn, missing),
    )  # fmt: skip


def _is_asked(name: str, wanted: frozenset[str]) -> bool:
    """Whether a column is among the quantities; bands, rates by name and the caller's own always are."""
    first, *_, last = name.split(".") * 2
    if first == "applications":
        return last in wanted or last not in QUANTITIES
    return first in wanted or first not in QUANTITIES


def guards_of(
    system: System, points: Mapping[str, Floats], base: Sequence[Counts], units: Sequence[int], level: float
) -> dict[str, Guard]:
    """The guards of a system's numbers at a level, by name."""
    if isinstance(system, Rated):
        return guards_of(system.system, points, base, units, level) | system.guards(base, units, level)
    conditions: list[dict[str, Floats]] = []
    sides = [[count] for count in units]
    if isinstance(system, Equalised):
        conditions, sides, system = system.conditions(base), system.units(units), system.system
    if isinstance(system, ManyClasses):
        return many_class_guards(points, sides, level, system.applications, conditions)
    if "auc" not in points and not isinstance(system, TwoClass):
        return {}
    apps, grid, _ = _two_class_plan(system)
    return two_class_guards(points, sides[:2], level, apps, grid, conditions)  # a calibration set's classes follow


def limits_of(system: System) -> dict[str, tuple[Any, Any]]:
    """The least and the most that the system's numbers can be."""
    if isinstance(system, Equalised):
        return limits_of(system.system)
    if isinstance(system, Rated):
        names = [f"applications.{k}.{name}" for k in range(len(system.decided)) for name in system.names]
        shares: dict[str, tuple[Any, Any]] = {name: (0.0, 1.0) for name in names if scale_of(name) == "odds"}
        signed = dict.fromkeys([name for name in names if name.endswith(("kappa", "mcc"))], (-1.0, 1.0))
        return limits_of(system.system) | shares | signed
    if isinstance(system, ManyClasses):
        return many_class_limits(system.applications, system.parts[0].is_matrix)
    if isinstance(system, Refitted) and several(system.rows.trials, system.asked.apps):
        return many_class_limits([as_matrix(app) for app in system.asked.apps], system.rows.trials.is_matrix)
    return two_class_limits(*_two_class_plan(system))


def _two_class_plan(system: System) -> tuple[Sequence[Application], Floats, str]:
    """Applications, the grid of the Bayes error plot and the kind of EER."""
    if isinstance(system, TwoClass):
        return system.plan.applications, system.plan.grid, system.plan.eer
    assert isinstance(system, Refitted)
    asked = system.asked
    grid = np.empty(0) if asked.plot is None else log_odds_grid(asked.plot)
    return [Application.of(app) for app in asked.apps], grid, asked.eer


def _notes(design: Design, settings: Settings, redrawn: int, missing: Sequence[str]) -> tuple[str, ...]:
    """What a reader of the intervals must know."""
    notes = [f"{name} is undefined on these trials, and so is its interval" for name in missing]
    for place, (name, count) in enumerate(zip(settings.by, design.counts, strict=True)):
        of_other = isinstance(design, TwoSets) and design.parts[0].counts[place] > count
        where = f"{shown(name)} of the calibration set" if of_other else shown(name)
        if count <= _HARDLY_GROUPS:
            notes.append(
                f"only {count} groups in {where}: so few cannot tell how groups vary, and these intervals say "
                f"hardly anything"
            )
        elif count < _FEW_GROUPS:
            notes.append(f"only {count} groups in {where}: intervals from so few tend to be too short")
    if redrawn:
        notes.append(
            f"{redrawn} resamples were redrawn, for they lacked a class or could not be calibrated: intervals are a "
            f"little too narrow"
        )
    return tuple(notes)


def wanted_of(quantities: Iterable[str] | None) -> frozenset[str]:
    """The quantities asked for, all unless named."""
    asked = frozenset(QUANTITIES if quantities is None else _names(quantities, "quantities"))
    unknown = sorted(asked - set(QUANTITIES))
    if unknown:
        raise InputError(f"quantities holds {shown(unknown[0])}, which is not among {', '.join(QUANTITIES)}.")
    return asked


def with_intervals(system: Mapping[str, Any], intervals: Intervals) -> dict[str, Any]:
    """One entry of "systems" in the JSON with "n_ci": [low, high] beside each number n; "eer_ci" beside "eer".

    >>> from tercet.evaluation import evaluate
    >>> trials = Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> facts = with_intervals(evaluate(trials).to_dict(), bootstrap(trials, resamples=99))
    >>> sorted(key for key in facts if key.endswith("_ci"))
    ['auc_ci', 'cllr_ci', 'eer_ci', 'min_cllr_ci']
    """
    found: dict[str, Any] = dict(system)
    if "bayes_plot" in found:
        found["bayes_plot"] = dict(found["bayes_plot"])
    found["applications"] = [dict(row) for row in found.get("applications", [])]
    for name, one in intervals.items():
        place, last = _place(found, name)
        if place is not None and place.get(last) is not None:
            place[f"{last}_ci"] = [plain(one.low), plain(one.high)]
    found["intervals"] = {
        "level": intervals.level, "resamples": intervals.resamples, "seed": intervals.seed, "by": list(intervals.by),
        "redrawn": intervals.redrawn, "methods": {name: one.method for name, one in intervals.items()},
        "notes": list(intervals.notes),
    }  # fmt: skip
    return found


def _place(facts: dict[str, Any], name: str) -> tuple[dict[str, Any] | None, str]:
    """The object that holds a number, and its key there."""
    first, *rest = name.split(".")
    if first == "applications":
        place, rows = int(rest[0]), facts["applications"]
        if place >= len(rows):
            raise InputError(
                f"The intervals are of application {place}, and this system has {len(rows)}: not the same."
            )
        return rows[place], rest[1]
    return (facts.get(first), rest[0]) if rest else (facts, first)
