"""Bootstrap intervals for every number of an Evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tercet.application import Application, MulticlassApplication
from tercet.arrays import frozen, numbers, shown
from tercet.confusion import as_matrix
from tercet.curves import EER_DEFINITIONS
from tercet.errors import InputError, UndefinedError
from tercet.evaluate import evaluate, listed, log_odds_grid, plain
from tercet.exact import Counts
from tercet.resample.classes import ManyClasses
from tercet.resample.draws import LARGE, Design, group_codes, grouping
from tercet.resample.ends import Bound, accelerations, bound, tail_of
from tercet.resample.engine import Progress, Settings, System, replicates
from tercet.resample.guards import Guard, many_class_guards, two_class_guards
from tercet.resample.runs import Runs
from tercet.resample.two import Plan, TwoClass
from tercet.tally import Tally
from tercet.trials import Trials

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

QUANTITIES = (
    "eer", "auc", "cllr", "min_cllr", "fnr", "fpr", "dcf_u", "dcf", "min_dcf", "min_dcf_u", "calibration_loss",
    "bayes_plot", "accuracy", "log_loss", "normalised_cross_entropy", "brier", "risk", "contributions",
)  # fmt: skip
_MINIMA = {"min_dcf", "min_dcf_u", "calibration_loss", "bayes_plot"}
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
    method: str = "bca",
    quantities: Iterable[str] | None = None,
    bayes_plot: tuple[float, float, int] | None = (-3.0, 3.0, 21),
    eer: str = "rocch",
    roc: object = None,
    bins: object = None,
    calibrate: Any = None,
    prior: float = 0.5,
    extra: Mapping[str, Callable[[Trials], float]] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Intervals:
    """Intervals for every number of evaluate(trials, applications), by resampling.

    Trials are drawn with replacement within their class, or whole groups of the column(s) `by`. BCa ends by default:
    percentile ones are cheaper, and too low for minima, the EER and small sets (docs/uncertainty.md). A calibrator is
    fitted anew on each resample and applied to it. `roc` (false-alarm rates) and `bins` (inner llr edges) add bands.

    >>> trials = Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> bound = bootstrap(trials, [(0.5, 1, 1)], resamples=200, method="percentile")["applications.0.fnr"]
    >>> round(bound.value, 3), bound.low, bound.high, bound.method
    (0.333, 0.0, 1.0, 'percentile')
    """
    settings = Settings.of(level, resamples, seed, by, method, threads)
    apps, wanted = listed(applications), wanted_of(quantities)
    system: System
    if calibrate is not None or extra:
        design, system = _refitted(trials, apps, settings.by, bayes_plot, eer, calibrate, prior, extra or {})
    elif isinstance(trials, Trials) and several(trials, apps):
        design, system = _many_classes(trials, apps, settings.by)
    else:
        plan = planned([Application.of(app) for app in apps], wanted, bayes_plot, eer, roc, bins)
        design, system = _two_classes(trials, plan, settings.by)
    raw, redrawn = replicates([design], [system], settings, progress)
    return _summed_up(design, system, raw[0], redrawn, settings, wanted)


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
    rates = np.empty(0) if roc is None else numbers(roc, "roc")
    if not ((rates >= 0.0) & (rates <= 1.0)).all():
        raise InputError("roc must be false-alarm rates between 0 and 1.")
    edges = np.empty(0) if bins is None else numbers(bins, "bins")
    return Plan(tuple(apps), grid, frozenset(wants), eer, rates, edges)


def _two_classes(trials: Trials | Tally, plan: Plan, by: tuple[str, ...]) -> tuple[Design, TwoClass]:
    if isinstance(trials, Tally) or (trials.weights is None and not by):
        return _from_tally(trials if isinstance(trials, Tally) else Tally.of(trials), plan, by)
    two = _one_column(trials)
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


def ranked_rows(trials: Trials, by: Sequence[str]) -> tuple[Places, Places]:
    """The row numbers of non-targets and of targets, by ascending score; rows of weight 0 are left out."""
    labels = trials.known_labels()
    kept = np.ones(len(labels), np.bool_) if trials.weights is None else trials.weights > 0.0
    rows = []
    for own, called in ((~labels.astype(np.bool_), "non-targets"), (labels.astype(np.bool_), "targets")):
        places = np.flatnonzero(own & kept)
        if len(places) == 0:
            raise UndefinedError(f"There is no interval: there are no {called} among the trials.")
        rows.append(canonical(trials.scores, trials, places, by))
    return rows[0], rows[1]


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
        rows = ranked_rows(_one_column(trials), names)
        design, _ = _two_classes(trials, Plan((), np.empty(0), frozenset()), names)
    weights = design.draw(seed, number).rows()
    heavy = np.zeros(len(trials), np.float64 if any(w.dtype.kind == "f" for w in weights) else np.int64)
    for places, own in zip(rows, weights, strict=True):
        heavy[places] = own
    return heavy


def _one_column(trials: Trials) -> Trials:
    """Two-class trials as one column of scores."""
    return trials.versus(trials.classes[1], trials.classes[0]) if trials.is_matrix else trials


def _many_classes(trials: Trials, apps: Sequence[object], by: tuple[str, ...]) -> tuple[Design, ManyClasses]:
    rows = class_rows(trials, by)
    design = Design.of(trials, rows, by)
    real = any(own is not None and own.dtype.kind == "f" for own in design.weights)
    sizes = None if by or real else [float(weights.sum()) for weights in design.base()]
    return design, ManyClasses.of(trials, rows, [as_matrix(app) for app in apps], sizes)


def class_rows(trials: Trials, by: Sequence[str]) -> tuple[Places, ...]:
    """The row numbers of each class, in an order that depends on the scores alone; weight 0 is left out."""
    labels = trials.known_labels().astype(np.intp)
    kept = np.ones(len(labels), np.bool_) if trials.weights is None else trials.weights > 0.0
    rows = []
    for j, called in enumerate(trials.classes):
        places = np.flatnonzero((labels == j) & kept)
        if len(places) == 0:
            raise UndefinedError(f"There is no interval: there are no trials of class {shown(called)}.")
        rows.append(canonical(trials.scores, trials, places, by))
    return tuple(rows)


def canonical(scores: Floats, trials: Trials, places: Places, by: Sequence[str]) -> Places:
    """These rows by ascending scores, then group and weight, so that only rows alike in all could change places."""
    columns: list[NDArray[Any]] = list(scores[places].reshape(len(places), -1).T)
    columns += [group_codes(trials, name)[places] for name in by]
    columns += [] if trials.weights is None else [trials.weights[places]]
    return places[np.argsort(columns[0], kind="stable") if len(columns) == 1 else np.lexsort(columns[::-1])]


class _Refitted:
    """A system that is calibrated on each resample, or asked by functions of the caller: evaluated as a whole."""

    def __init__(
        self, trials: Trials, rows: Sequence[Places], apps: Sequence[object], plot: Any, eer: str, fit: Any, extra: Any
    ) -> None:
        self.trials, self.rows, self.apps, self.plot, self.eer = trials, rows, apps, plot, eer
        self.fit, self.extra, self.names = fit, extra, dict[str, int]()

    def statistics(self, weights: Sequence[Counts]) -> Floats:
        """Gives the trials the weights, calibrates, evaluates."""
        heavy = np.zeros(len(self.trials))
        for places, rows in zip(self.rows, weights, strict=True):
            heavy[places] = rows
        trials = replace(self.trials, weights=frozen(heavy))
        if self.fit is not None:
            trials = self.fit(trials)(trials)
        found = _numbers(evaluate(trials, self.apps, bayes_plot=self.plot or (-1.0, 1.0, 2), eer=self.eer))
        if self.plot is None:
            found = {name: values for name, values in found.items() if not name.startswith("bayes_plot")}
        found |= {name: np.atleast_1d(np.float64(function(trials))) for name, function in self.extra.items()}
        self.names = {name: len(values) for name, values in found.items()}
        return np.concatenate(list(found.values()))

    def named(self, raw: Floats) -> dict[str, Floats]:
        """The columns by the names of the Evaluation, the caller's own last."""
        found, used = {}, 0
        for name, count in self.names.items():
            columns = raw[:, used : used + count]
            is_curve = name.startswith("bayes_plot") or name.endswith("contributions")
            found[name] = columns if is_curve else columns[:, 0]
            used += count
        return found


def _refitted(
    trials: Trials | Tally, apps: Sequence[object], by: tuple[str, ...], plot: Any, eer: str,
    calibrator: Any, prior: float, extra: Mapping[str, Callable[[Trials], float]],
) -> tuple[Design, _Refitted]:  # fmt: skip
    if isinstance(trials, Tally):
        raise InputError("Calibrating inside the resample needs the Trials, not a Tally.")
    two = trials if several(trials, apps) else _one_column(trials)
    rows = class_rows(two, by)
    fit = None if calibrator is None else lambda resample: calibrator.fit(resample, prior=prior)
    return Design.of(two, rows, by), _Refitted(two, rows, apps, plot, eer, fit, extra)


def _numbers(evaluation: Any) -> dict[str, Floats]:
    """Every number of an evaluation that exists, by its name in the JSON."""
    tops = ("auc", "cllr", "min_cllr", "accuracy", "log_loss", "normalised_cross_entropy", "brier")
    found: dict[str, Any] = {name: getattr(evaluation, name, None) for name in tops}
    if hasattr(evaluation, "eer"):
        found |= {"eer": evaluation.eer.value}
        found |= {f"bayes_plot.{name}": getattr(evaluation.bayes_plot, name) for name in ("dcf", "min_dcf")}
    inner = ("fnr", "fpr", "dcf_u", "dcf", "min_dcf", "min_dcf_u", "calibration_loss", "risk", "contributions")
    for k, row in enumerate(evaluation.applications):
        found |= {f"applications.{k}.{name}": getattr(row, name, None) for name in inner}
    return {name: np.atleast_1d(np.asarray(v, np.float64)) for name, v in found.items() if v is not None}


def _summed_up(
    design: Design, system: System, raw: Floats, redrawn: int, settings: Settings, wanted: frozenset[str]
) -> Intervals:
    """Intervals from the numbers of all resamples."""
    points, columns = system.named(system.statistics(design.base())[None]), system.named(raw)
    asked = [name for name in columns if _is_asked(name, wanted)]
    pushes = accelerations(design, system, settings) if settings.method == "bca" else {}
    guards = _guards(system, points, design, settings.level)
    tail = tail_of(design, settings.level)
    bounds = {
        name: bound(points[name][0], columns[name], pushes.get(name, 0.0), settings, guards.get(name), tail)
        for name in asked
    }
    samples = {name: frozen(np.array(columns[name])) for name in asked}
    return Intervals(
        MappingProxyType(bounds), MappingProxyType(samples), settings.level, settings.resamples, settings.seed,
        settings.by, redrawn, _notes(design, settings, redrawn),
    )  # fmt: skip


def _is_asked(name: str, wanted: frozenset[str]) -> bool:
    """Whether a column is among the quantities; bands and the caller's own always are."""
    first, *_, last = name.split(".") * 2
    if first == "applications":
        return last in wanted
    return first in wanted or first not in QUANTITIES


def _guards(system: System, points: Mapping[str, Floats], design: Design, level: float) -> dict[str, Guard]:
    if isinstance(system, TwoClass):
        return two_class_guards(points, design.units(), level, system.plan.applications, system.plan.grid)
    if isinstance(system, ManyClasses):
        dearest = [(app.prior * app.costs.max(axis=0), app.dummy_cost) for app in system.applications]
        return many_class_guards(points, design.units(), level, dearest)
    if "auc" not in points or not isinstance(system, _Refitted):
        return {}
    apps = [Application.of(app) for app in system.apps]
    grid = np.empty(0) if system.plot is None else log_odds_grid(system.plot)
    return two_class_guards(points, design.units(), level, apps, grid)


def _notes(design: Design, settings: Settings, redrawn: int) -> tuple[str, ...]:
    """What a reader of the intervals must know."""
    notes = []
    for name, count in zip(settings.by, design.counts, strict=True):
        if count < _FEW_GROUPS:
            notes.append(f"only {count} groups in {shown(name)}: intervals from so few tend to be too short")
    if redrawn:
        notes.append(f"{redrawn} resamples were redrawn: they lacked a class or could not be calibrated")
    return tuple(notes)


def wanted_of(quantities: Iterable[str] | None) -> frozenset[str]:
    """The quantities asked for, all unless named."""
    asked = frozenset(QUANTITIES if quantities is None else [quantities] if isinstance(quantities, str) else quantities)
    unknown = sorted(asked - set(QUANTITIES))
    if unknown:
        raise InputError(f"quantities holds {shown(unknown[0])}, which is not among {', '.join(QUANTITIES)}.")
    return asked


def several(trials: Trials | Tally, apps: Sequence[object]) -> bool:
    """Whether the question is about K classes."""
    if isinstance(trials, Tally):
        return False
    return len(trials.classes) > 2 or any(isinstance(app, MulticlassApplication) for app in apps)


def with_intervals(system: Mapping[str, Any], intervals: Intervals) -> dict[str, Any]:
    """One entry of "systems" in the JSON with "n_ci": [low, high] beside each number n.

    >>> trials = Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> facts = with_intervals(evaluate(trials).to_dict(), bootstrap(trials, resamples=99))
    >>> sorted(key for key in facts if key.endswith("_ci"))
    ['auc_ci', 'cllr_ci', 'eer_ci', 'min_cllr_ci']
    """
    found: dict[str, Any] = dict(system)
    for key in ("eer", "bayes_plot"):
        if key in found:
            found[key] = dict(found[key])
    found["applications"] = [dict(row) for row in found.get("applications", [])]
    for name, one in intervals.items():
        place, last = _place(found, name)
        if place is not None and place.get(last) is not None:
            place[f"{last}_ci"] = [plain(one.low), plain(one.high)]
            if name == "eer":
                found["eer_ci"] = place["value_ci"]
    found["intervals"] = {
        "level": intervals.level, "resamples": intervals.resamples, "seed": intervals.seed, "by": list(intervals.by),
        "redrawn": intervals.redrawn, "methods": {name: one.method for name, one in intervals.items()},
        "notes": list(intervals.notes),
    }  # fmt: skip
    return found


def _place(facts: dict[str, Any], name: str) -> tuple[dict[str, Any] | None, str]:
    """The object that holds a number, and its key there."""
    first, *rest = name.split(".")
    if first == "eer":
        return facts.get("eer"), "value"
    if first == "applications":
        return facts["applications"][int(rest[0])], rest[1]
    return (facts.get(first), rest[0]) if rest else (facts, first)
