"""The bootstrap by name: percentile and BCa, with calibration inside the resample and functions of the user."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Literal, TypedDict

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.records import ReadOnly
from tercet._numeric.validation import callback, chosen, frozen, numbers, shown
from tercet._typing import Array, Counts, EerDefinition, Floats, Reals
from tercet.application import Application, listed
from tercet.decision import decide
from tercet.errors import InputError, UndefinedError
from tercet.metrics.confusion import Confusion, as_matrix
from tercet.metrics.costs import log_odds_grid
from tercet.metrics.curves import EER_DEFINITIONS
from tercet.metrics.tally import Ranked, Tally
from tercet.trials import Trials, as_trials
from tercet.uncertainty._clusters import class_rows, flattened, grouping, several
from tercet.uncertainty._kernel.classes import ManyClasses
from tercet.uncertainty._kernel.drawn_runs import AllRuns, RunCounts
from tercet.uncertainty._kernel.draws import LARGE, Design, row_weights
from tercet.uncertainty._kernel.engine import Progress, Settings, System, named, replicates
from tercet.uncertainty._kernel.percentiles import accelerations, bound, tail_of
from tercet.uncertainty._kernel.refit import Extra, Fit, Measure, TwoSets, refitted
from tercet.uncertainty._kernel.two_class import Plan, TwoClass
from tercet.uncertainty._out_of_fold import PENALTY
from tercet.uncertainty.intervals import QUANTITIES, Intervals, Sampling, is_asked, names_of, wanted_of

Places = NDArray[np.intp]
Method = Literal["percentile", "bca"]

_MINIMA = {"min_dcf", "min_dcf_u", "actual_minus_min", "bayes_plot"}
_BY_RATES = frozenset({"ppv", "f1"})  # resampled only with rates=, and kept under those names
_RESAMPLED = tuple(name for name in QUANTITIES if name not in _BY_RATES)
_AVERAGES = ("macro", "micro", "weighted")
_OF_ALL = ("accuracy", "error_rate", "kappa", "mcc", "balanced_accuracy")  # one number for all classes
_FEW_GROUPS = 20  # below this the spread between groups is itself uncertain


class DrawOptions(TypedDict, total=False):
    """The options of `bootstrap` that functions with a prior of their own hand on."""

    ci: float
    resamples: int
    seed: int
    by: str | tuple[str, str] | None
    method: Method | None
    sampling: Sampling
    eer: EerDefinition
    rates: Iterable[str]
    calibrate: object
    calibration_trials: Trials | None
    extra: Mapping[str, Callable[[Trials], float]] | None
    threads: int | None
    progress: Progress | None


class BootstrapOptions(DrawOptions, total=False):
    """The options of `bootstrap` that other functions hand on."""

    prior: object


def bootstrap(
    trials: Trials | Tally,
    applications: Iterable[object] = (),
    *,
    ci: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    by: str | tuple[str, str] | None = None,
    method: Method | None = None,
    sampling: Sampling = "stratified",
    quantities: Iterable[str] | None = None,
    bayes_plot: tuple[float, float, int] | None = (-3.0, 3.0, 21),
    eer: EerDefinition = "rocch",
    roc: object = None,
    bins: object = None,
    rates: Iterable[str] = (),
    calibrate: object = None,
    calibration_trials: Trials | None = None,
    prior: object = None,
    extra: Mapping[str, Callable[[Trials], float]] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Intervals:
    """Intervals for every number of evaluate(trials, applications), by resampling.

    The intervals that evaluate(..., ci=0.95) gives by default are closed forms, which remain valid with few errors;
    resampling is for bands, for calibration inside the resample and for functions of your own.

    Parameters
    ----------
    trials : Trials or Tally
        Labelled trials.
    applications : iterable
        Operating points, as evaluate takes them.
    ci : float, default 0.95
        Level of the intervals.
    resamples, seed : int
        How many resamples are drawn, and the seed of the draws: the same seed gives the same bits for any number of
        threads.
    by : str or tuple of two str, optional
        Group column whose groups are drawn as a whole, or two crossed ones.
    method : {"percentile", "bca"}, optional
        "bca" (Efron 1987) for trials and "percentile" for groups unless named.
    sampling : {"stratified", "natural"}, default "stratified"
        Whether class counts stay fixed in every resample or vary as those of a random sample.
    quantities : iterable of str, optional
        Names of the numbers to compute; all unless given.
    bayes_plot : tuple (low, high, points) or None
        Log-odds of the Bayes error plot.
    eer : {"rocch", "interpolated", "nearest"}
        Definition of the EER.
    roc, bins : array_like, optional
        False-alarm rates, and inner llr edges, at which bands are taken.
    rates : iterable of str
        Rates of the decisions by name ("precision"; of K classes also "macro f1").
    calibrate, calibration_trials, prior : optional
        A calibrator that is fitted anew on each resample, or on each resample of calibration_trials, at this prior. If
        a resample is separable, it is fitted with penalty=0.001, and a note says how often.
    extra : mapping of str to function, optional
        Functions of the resampled trials, which hold repeated rows instead of weights.
    threads : int, optional
        Number of threads; the result does not depend on it. Unless given, all cores where that is likely to be faster.
    progress : callable, optional
        Called with (resamples done, all resamples).

    Returns
    -------
    Intervals
        By the names of the JSON; `samples` holds the value in each resample.

    References
    ----------
    Efron (1987), Better bootstrap confidence intervals, doi:10.1080/01621459.1987.10478410.

    Examples
    --------
    >>> trials = Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> bound = bootstrap(trials, [(0.5, 1, 1)], resamples=200, method="percentile")["applications.0.fnr"]
    >>> round(bound.value, 3), bound.low, bound.high, bound.method
    (0.333, 0.0, 1.0, 'percentile bootstrap')
    """
    settings = Settings.of(ci, resamples, seed, by, method, threads)
    callback(progress, "progress")
    _check_arguments(bayes_plot, calibration_trials, prior, calibrate, extra)
    given = trials if isinstance(trials, Tally) else _with_moderate_weights(as_trials(trials))
    apps, asked = listed(applications), names_of(rates, "rates")
    wanted = wanted_of(quantities, _RESAMPLED) | _BY_RATES
    many = isinstance(given, Trials) and several(given, apps)
    plan = None if many else planned([Application.of(app) for app in apps], wanted, bayes_plot, eer, roc, bins)
    fit = None if calibrate is None else Fit(calibrate, prior)
    design, system = _prepared(given, apps, asked, plan, fit, calibration_trials, extra or {}, settings.by, sampling)
    raw, redrawn = replicates([design], [system], settings, progress)
    found = summed_up(design, system, raw[0], redrawn, settings, wanted | frozenset(asked))
    notes = () if fit is None else _penalty_notes(fit)
    return replace(found, sampling=sampling, notes=(*found.notes, *notes))


def _prepared(
    trials: Trials | Tally, apps: Sequence[object], rates: Sequence[str], plan: Plan | None, fit: Fit | None,
    calibration: Trials | None, extra: Extra, by: tuple[str, ...], sampling: str,
) -> tuple[Design, System]:  # fmt: skip
    """What is drawn, and the system that is measured on each draw."""
    system: System
    if fit is not None or calibration is not None or extra:
        if rates:
            raise InputError(
                "rates cannot be combined with calibrating inside the resample: use extra={name: function}."
            )
        design, system = refitted(trials, by, apps, calibration, fit, _measure(plan, apps), extra)
    else:
        design, system = _single(trials, apps, plan, by, sampling)
    if rates:
        system = _rated(trials, apps, rates, by, system)
    return _sampled(design, sampling), system


def _check_arguments(
    bayes_plot: tuple[float, float, int] | None,
    calibration_trials: object,
    prior: object,
    calibrate: object,
    extra: object,
) -> None:
    """Validates grids, sets and functions."""
    if bayes_plot is not None:
        log_odds_grid(bayes_plot)
    if calibration_trials is not None:
        as_trials(calibration_trials, "calibration_trials")
    if prior is not None and calibrate is None:
        raise InputError("prior= is the prior that calibrate= trains for: give both or none.")
    if extra is not None and not isinstance(extra, Mapping):
        raise InputError(f"extra must be {{name: function of the trials}}, not {shown(extra)}.")


_TOO_FAR = "weights must lie within 150 orders of magnitude of each other to be resampled."
_APART = 500  # bits between weights whose products a double still holds
_MODERATE = 400  # bits of weights that are resampled as they are


def _with_moderate_weights(trials: Trials) -> Trials:
    """The same trials with weights whose sums and products a double holds: only their ratios matter."""
    if trials.weights is None or not np.any(trials.weights > 0.0):
        return trials
    largest, least = float(trials.weights.max()), float(trials.weights[trials.weights > 0.0].min())
    if largest / 2.0**_APART > least:
        raise InputError(_TOO_FAR)
    if least > 2.0**-_MODERATE and largest < 2.0**_MODERATE:
        return trials
    return replace(trials, weights=frozen(np.ldexp(trials.weights, -math.frexp(largest)[1])))


def _tally_weights(sides: Sequence[Ranked], unit: int) -> list[Counts | None]:
    """The same for the scores of a tally: whole numbers where the trials' weights were whole, else real ones."""
    weights = [None if side.running is None else np.diff(side.running) for side in sides]
    known = [own for own in weights if own is not None and len(own)]
    if not known:
        return weights
    if unit >= 0 and sum(side.total for side in sides) << unit < 2**53:
        return [None if own is None else own.astype(np.int64) << unit for own in weights]
    most, least = max(int(own.max()) for own in known), min(int(own.min()) for own in known)
    if most >> _APART > least:
        raise InputError(_TOO_FAR)
    moderate = least.bit_length() + unit > 1 - _MODERATE and most.bit_length() + unit <= _MODERATE
    shift = unit if moderate else -most.bit_length()
    return [None if own is None else np.ldexp(own.astype(np.float64), shift) for own in weights]


def _sampled(design: Design, sampling: str) -> Design:
    """The design with class counts that vary, where that is asked for."""
    chosen(sampling, "sampling", ("stratified", "natural"))
    if sampling == "stratified" or design.groups:
        return design
    return replace(design, runs=None, natural=True)


def _penalty_notes(fit: Fit) -> tuple[str, ...]:
    count = len(fit.penalised)
    return (f"{count} fits had no finite solution and were made with penalty={PENALTY:g}",) if count else ()


def _measure(plan: Plan | None, apps: Sequence[object]) -> Measure:
    """The numbers of weighted trials, by name, as of one resample."""

    def measure(trials: Trials) -> dict[str, Reals]:
        heavy, rows = row_weights(trials), class_rows(trials)
        system: System
        if plan is None:
            system = ManyClasses.of(trials, rows, [as_matrix(app) for app in apps], None)
        else:
            system = TwoClass.of(trials, rows, plan, ranked=True)
        weights = [np.ones(len(own), np.int64) if heavy is None else heavy[own] for own in rows]
        return {name: values[0] for name, values in named(system, [system.statistics(weights)]).items()}

    return measure


def planned(
    apps: Sequence[Application],
    wanted: frozenset[str],
    bayes_plot: tuple[float, float, int] | None,
    eer: EerDefinition = "rocch",
    roc: object = None,
    bins: object = None,
) -> Plan:
    """What each resample has to compute for the quantities asked."""
    chosen(eer, "eer", EER_DEFINITIONS)
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
) -> _Rated:
    """The system with rates by name beside its own numbers."""
    if isinstance(trials, Tally):
        raise InputError("rates need the Trials, not a Tally.")
    flat = flattened(trials, apps)
    return _Rated(system, [flat.select(places) for places in class_rows(flat, by)], apps, names)


class _Rated:
    """A system with rates by name beside its own numbers; decisions are taken once.

    Two classes: the target's rate. K classes: each class's rate against the rest, or "macro f1", "micro precision",
    "weighted recall". A rate that a resample leaves undefined is nan there.
    """

    def __init__(self, system: System, parts: Sequence[Trials], apps: Sequence[object], names: Sequence[str]) -> None:
        self.system, self.names, self.classes = system, tuple(names), parts[0].classes
        self.decided = [
            (tuple(as_matrix(app).renamed(self.classes).actions), [decide(part, app) for part in parts]) for app in apps
        ]
        anything = self._table(np.eye(len(self.classes)) + 1.0)
        for name in self.names:
            self._of(anything, name)  # refuses an unknown name before any resample is drawn

    def statistics(self, weights: Sequence[Counts | RunCounts]) -> dict[str, Reals]:
        """The system's own numbers, and the rates: "applications.0.precision", "applications.0.macro f1"."""
        rows = [one.rows() if isinstance(one, RunCounts) else one for one in weights]
        found = self.system.statistics(weights)
        for k, (actions, decisions) in enumerate(self.decided):
            counts = [np.bincount(own, weight, len(actions)) for own, weight in zip(decisions, rows, strict=True)]
            table = self._table(np.array(counts).T, actions)
            found |= {f"applications.{k}.{name}": self._of(table, name) for name in self.names}
        return found

    def named(self, stacked: dict[str, Floats]) -> dict[str, Floats]:
        """The system's own numbers first."""
        own = [f"applications.{k}.{name}" for k in range(len(self.decided)) for name in self.names]
        found = self.system.named({name: values for name, values in stacked.items() if name not in own})
        return found | {name: stacked[name] for name in own}

    def _table(self, counts: Array, actions: tuple[str, ...] | None = None) -> Confusion:
        target = self.classes[1] if len(self.classes) == 2 else None
        return Confusion(counts, classes=self.classes, actions=actions, target=target)

    def _of(self, table: Confusion, name: str) -> Reals:
        how, _, rest = name.partition(" ")
        try:
            if how in _AVERAGES and rest:
                return table.average(rest, how)
            if len(self.classes) > 2 and name not in _OF_ALL:
                values = table.per_class(name).values()
                return np.array([np.nan if value is None else value for value in values])
            if name.startswith("_") or not isinstance(value := getattr(table, name, None), float):
                raise InputError(f"rates holds {shown(name)}, which is not a rate of a confusion matrix.")
            return value
        except UndefinedError:
            return np.nan


def _single(
    trials: Trials | Tally, apps: Sequence[object], plan: Plan | None, by: tuple[str, ...], sampling: str = "stratified"
) -> tuple[Design, System]:
    """One system and its design; two-class trials without weights and groups are drawn from their counts."""
    if isinstance(trials, Tally) or (plan is not None and trials.weights is None and not by):
        assert plan is not None
        return _from_tally(trials if isinstance(trials, Tally) else Tally.of(trials), plan, by)
    design, (system,) = on_same_rows([flattened(trials, apps)], apps, plan, by, sampling)
    return design, system


def on_same_rows(
    systems: Sequence[Trials], apps: Sequence[object], plan: Plan | None, by: tuple[str, ...],
    sampling: str = "stratified",
) -> tuple[Design, list[System]]:  # fmt: skip
    """One design for systems on the same trials, and the systems to be resampled; K classes have no plan."""
    table = None
    if len(systems) > 1:
        table = np.concatenate([one.scores.reshape(len(one), -1) for one in systems], axis=1)
    rows = class_rows(systems[0], by, table)
    design = _sampled(Design.of(systems[0], rows, by), sampling)
    if plan is not None:
        return design, [TwoClass.of(one, rows, plan, ranked=len(systems) == 1) for one in systems]
    matrices = [as_matrix(app) for app in apps]
    return design, [ManyClasses.of(one, rows, matrices, design.fixed_sizes()) for one in systems]


def _from_tally(tally: Tally, plan: Plan, by: tuple[str, ...]) -> tuple[Design, TwoClass]:
    if by:
        raise InputError("A Tally has no groups: bootstrap the Trials themselves.")
    sides = (tally.nontargets, tally.targets)
    for side, called in zip(sides, ("non-targets", "targets"), strict=True):
        if side.total == 0:
            raise UndefinedError(f"There is no interval: there are no {called} among the trials.")
    weights = _tally_weights(sides, tally.unit)
    scores = (sides[0].scores, sides[1].scores)
    system = TwoClass.ranked(scores, (None, None), tally.meaning, tally.trained_prior, plan)
    return Design((len(scores[0]), len(scores[1])), tuple(weights), runs=_runs(system, weights)), system


def _runs(system: TwoClass, weights: Sequence[Counts | None]) -> AllRuns | None:
    """The runs of a large set without weights; in a small set single rows are drawn."""
    if min(len(side) for side in system.scores) == 0 or any(own is not None for own in weights):
        return None
    return AllRuns.of(system.steps.bounds) if sum(map(len, system.scores)) >= LARGE else None


def drawn(trials: Trials, number: int, *, seed: int = 0, by: str | tuple[str, str] | None = None) -> Counts:
    """The weight of each trial in one resample of `bootstrap`.

    Parameters
    ----------
    trials : Trials
        The trials, as given to `bootstrap`.
    number : int
        The resample's number, from 0.
    seed : int, default 0
        Seed of the resampling.
    by : str or tuple of str, optional
        The group column, or two, resampled as a whole.

    Returns
    -------
    numpy.ndarray of int
        One weight per trial.

    Examples
    --------
    >>> trials = Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> weights = drawn(trials, 0)
    >>> weights[:3].sum().item(), weights[3:].sum().item()
    (3, 3)
    """
    names, rows = grouping(by), class_rows(flattened(trials, ()), grouping(by))
    if several(trials, ()):
        design = Design.of(trials, rows, names)
    else:
        design, _ = _single(trials, (), Plan((), np.empty(0), frozenset()), names)
    weights = design.draw(seed, number).rows()
    heavy = np.zeros(len(trials), np.float64 if any(w.dtype.kind == "f" for w in weights) else np.int64)
    for places, own in zip(rows, weights, strict=True):
        heavy[places] = own
    return heavy


def summed_up(
    design: Design, system: System, columns: dict[str, Floats], redrawn: int, settings: Settings, wanted: frozenset[str]
) -> Intervals:
    """Intervals from the numbers of all resamples; a number that the sample itself leaves undefined has none."""
    points = named(system, [system.statistics(design.base())])
    undefined = [name for name, own in points.items() if own.ndim == 1 and np.isnan(own).any()]
    asked = [name for name in columns if is_asked(name, wanted) and name not in undefined]
    pushes = accelerations(design, system, settings) if settings.method == "bca" else {}
    tail = tail_of(design, settings.level)
    bounds = {name: bound(points[name][0], columns[name], settings, tail, pushes.get(name, 0.0)) for name in asked}
    samples = {name: frozen(np.array(columns[name])) for name in asked}
    missing = {name: "it is undefined on these trials" for name in undefined if is_asked(name, wanted)}
    return Intervals(
        ReadOnly(bounds), settings.level, settings.by, "stratified", ReadOnly(missing),
        _notes(design, settings, redrawn), settings.resamples, settings.seed, redrawn, ReadOnly(samples), tail,
    )  # fmt: skip


def _notes(design: Design, settings: Settings, redrawn: int) -> tuple[str, ...]:
    """Notes on the intervals."""
    notes = []
    for place, (name, count) in enumerate(zip(settings.by, design.counts, strict=True)):
        other = isinstance(design, TwoSets) and design.parts[0].counts[place] > count
        where = f"{shown(name)} of the calibration set" if other else shown(name)
        if count < _FEW_GROUPS:
            notes.append(f"only {count} groups in {where}: intervals from so few tend to be too narrow")
    if redrawn:
        notes.append(f"{redrawn} resamples lacked a class or could not be evaluated, and were drawn again")
    return tuple(notes)
