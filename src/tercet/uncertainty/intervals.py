"""Intervals for every number of an evaluation: closed forms by default, the bootstrap by name."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal, NamedTuple

import numpy as np

from tercet._numeric.plain import plain
from tercet._numeric.records import ReadOnly
from tercet._numeric.validation import chosen, listed, probability, seed_number, shown
from tercet._typing import JSON, EerDefinition, Facts, Floats, Reals
from tercet._views import Shown
from tercet.application import Application
from tercet.errors import InputError, UndefinedError
from tercet.metrics.confusion import as_matrix
from tercet.metrics.costs import log_odds_grid
from tercet.metrics.curves import Curve
from tercet.metrics.summary import Summary
from tercet.metrics.tally import Tally
from tercet.trials import Trials
from tercet.uncertainty._clusters import SampledRows, grouping, needs_level, several
from tercet.uncertainty._limits import Estimate, mapped
from tercet.uncertainty._multiclass import many_class_estimates
from tercet.uncertainty._two_class import (
    Found,
    NotEstimable,
    Points,
    RatePair,
    TwoClassSample,
    area,
    calibration_loss,
    equal_error,
    log_costs,
    min_log_costs,
    minimum_cost,
    precision_and_f1,
    single,
)

Sampling = Literal["stratified", "natural"]
QUANTITIES = (
    "eer", "auc", "cllr", "min_cllr", "fnr", "fpr", "dcf_u", "dcf", "min_dcf", "min_dcf_u", "cross_fitted_min_dcf",
    "calibration_loss", "actual_minus_min", "bayes_plot", "accuracy", "log_loss", "normalised_cross_entropy", "brier",
    "risk", "contributions", "ppv", "f1",
)  # fmt: skip
_MINIMA = frozenset({"min_dcf", "min_dcf_u", "cross_fitted_min_dcf"})
_ROUNDING = 1e-6  # of degrees of freedom
_FEW_GROUPS = 20  # below this many groups the coverage study has no figures


class Bound(NamedTuple):
    """A number with its interval and the method that made it; numbers along a curve are arrays.

    Attributes
    ----------
    value : float
        The number itself.
    low, high : float
        Both ends of the interval.
    method : str
        The method by its name in the literature.
    standard_error, bias : float
        Of the resamples, where the interval is a bootstrap's; nan otherwise.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> bound = tc.evaluate(trials, [(0.5, 1, 1)], ci=0.95).intervals["applications.0.fnr"]
    >>> round(bound.value, 3), round(bound.low, 3), round(bound.high, 3)    # Clopper-Pearson of 1 in 3
    (0.333, 0.008, 0.906)
    """

    value: Reals
    low: Reals
    high: Reals
    method: str
    standard_error: Reals = math.nan
    bias: Reals = math.nan


@dataclass(frozen=True, eq=False, repr=False)
class Intervals(Shown, Mapping[str, Bound]):
    """Intervals under the names of the JSON: "auc", "eer", "applications.0.dcf", "bayes_plot.min_dcf", ...

    Attributes
    ----------
    bounds : mapping of str to Bound
        The intervals.
    level : float
        Their level: 0.95.
    by : tuple of str
        The group columns whose groups vary as a whole.
    sampling : str
        "stratified" or "natural": class counts fixed or random, for the numbers where it matters.
    missing : mapping of str to str
        The numbers that have no interval, with the reason.
    notes : tuple of str
        What a reader of the intervals must know.
    resamples, seed, redrawn : int
        Of the bootstrap; 0 where the intervals are closed forms.
    samples : mapping of str to ndarray
        Each number's value in every resample of a bootstrap.
    tail : float
        The share of the resamples beyond each end of a percentile interval.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> found = tc.evaluate(trials, [(0.5, 1, 1)], ci=0.95).intervals
    >>> found.level, round(found["applications.0.fnr"].high, 3)
    (0.95, 0.906)
    """

    bounds: Mapping[str, Bound]
    level: float
    by: tuple[str, ...] = ()
    sampling: str = "natural"
    missing: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    resamples: int = 0
    seed: int = 0
    redrawn: int = 0
    samples: Mapping[str, Floats] = field(default_factory=dict)
    tail: float = math.nan

    def __getitem__(self, name: str) -> Bound:
        if name in self.missing:
            raise InputError(f"There is no interval for {shown(name)}: {self.missing[name]}.")
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
        rows += [f"  {name}: {reason}" for name, reason in self.missing.items()]
        units = f"whole groups ({' x '.join(self.by)})" if self.by else "independent trials"
        how = f", {self.resamples} resamples, {self.redrawn} redrawn" if self.resamples else ""
        head = f"Intervals: {100 * self.level:g} %, {units}{how}"
        return "\n".join([head, *rows, *(f"  note: {note}" for note in self.notes)])

    def facts(self) -> JSON:
        """The entry "intervals" in the JSON: level, methods, and what has no interval and why.

        Returns
        -------
        dict
            Plain values.
        """
        found: JSON = {
            "level": self.level, "by": list(self.by), "sampling": self.sampling,
            "methods": {name: one.method for name, one in self.bounds.items()}, "notes": list(self.notes),
        }  # fmt: skip
        if self.missing:
            found["missing"] = dict(self.missing)
        if self.resamples:
            found |= {"resamples": self.resamples, "seed": self.seed, "redrawn": self.redrawn}
        return found


@dataclass(frozen=True, eq=False)
class CalibrationLosses:
    """Cross-fitted calibration losses of two-class trials, each computed when it is first asked for."""

    source: Trials | Tally
    by: tuple[str, ...] = ()
    curve: Curve | None = None  # of the source, where it has been made already
    known: dict[tuple[float, float, float], Estimate | NotEstimable] = field(default_factory=dict)

    @cached_property
    def sample(self) -> TwoClassSample:
        """The trials, ranked and dealt to folds."""
        if self.by and not isinstance(self.source, Trials):
            raise InputError("Only Trials have groups, their counts do not: give the Trials.")
        return TwoClassSample.of(self.source, self.by, self.curve)

    def at(self, app: Application) -> Estimate | NotEstimable:
        """The loss at one operating point, or why there is none."""
        key = (app.prior, app.cost_fn, app.cost_fp)
        if key not in self.known:
            self.known[key] = _or_reason(lambda: calibration_loss(self.sample, app))
        return self.known[key]


def closed_form_intervals(
    source: Trials | Tally | CalibrationLosses,
    apps: Sequence[object],
    *,
    level: float,
    by: object = None,
    sampling: Sampling | None = None,
    grid: Floats | None = None,
    eer: EerDefinition = "rocch",
    wanted: frozenset[str] = frozenset(QUANTITIES),
) -> Intervals:
    """Intervals in closed form, as evaluate(..., ci=level) carries them."""
    names = grouping(by)
    if sampling not in (None, "stratified", "natural"):
        raise InputError(f"sampling is 'stratified' or 'natural', not {shown(sampling)}.")
    if names and sampling == "stratified":
        raise InputError("Whole groups have no stratified sampling: their class counts vary with them.")
    if isinstance(source, Trials) and several(source, apps):
        rows = SampledRows.of(source, names)
        found = many_class_estimates(source, rows, names, [as_matrix(app) for app in apps], sampling or "natural")
        notes = group_notes(names, rows.clusters.freedoms, rows.clusters.groups)
    else:
        losses = source if isinstance(source, CalibrationLosses) else CalibrationLosses(source, names)
        points = [Application.of(app) for app in apps]
        found = two_class_estimates(losses, points, grid, eer, wanted, sampling or "natural")
        clusters = losses.sample.clusters
        notes = () if clusters is None else group_notes(names, clusters.freedoms, clusters.groups)
    return bounded(found, level, wanted, names, sampling or "natural", notes)


_ROWS = "it needs the trials in memory (tercet.read)"
_REAL_WEIGHTS = f"the weights are not whole, so {_ROWS}"


def counted_intervals(summary: Summary, apps: Sequence[Application], grid: Floats, level: float) -> Intervals:
    """The intervals that counts alone give, of independent trials: rates and costs of the decisions."""
    whole, points = summary.curve.tally.unit == 0, Points.along(grid)
    reason = NotEstimable(_ROWS if whole else _REAL_WEIGHTS)
    found: Found = dict.fromkeys(("eer", "auc", "cllr", "min_cllr", "bayes_plot.min_dcf"), reason)

    def rates(points: Points) -> RatePair | None:
        return RatePair.counted(summary.curve, *summary.errors(0.0 - points.log_odds)) if summary.means_llr else None

    for k, app in enumerate(apps):
        minima = _MINIMA if _has_minimum(app) else ()
        own: Found = dict.fromkeys((*sorted(minima), "calibration_loss"), reason)
        if not whole:
            own |= dict.fromkeys(("dcf", "dcf_u", "f1", "fnr", "fpr", "ppv"), reason)
        elif (pair := rates(Points.of([app]))) is not None:
            own |= _decided(pair, app) | precision_and_f1(pair, "natural")
        found |= {f"applications.{k}.{name}": one for name, one in own.items()}
    if whole and len(grid) and (pair := rates(points)) is not None:
        found["bayes_plot.dcf"] = pair.cost(points.miss, points.alarm)
    return bounded(found, level, frozenset(QUANTITIES))


def bounded(
    found: Found, level: float, wanted: frozenset[str], by: tuple[str, ...] = (), sampling: str = "natural",
    notes: tuple[str, ...] = (),
) -> Intervals:  # fmt: skip
    """The intervals of estimates at a level."""
    bounds: dict[str, Bound] = {}
    missing: dict[str, str] = {}
    for name, one in found.items():
        if not is_asked(name, wanted):
            continue
        if isinstance(one, NotEstimable):
            missing[name] = one.reason
            continue
        low, high = one.limits(level)
        value = one.value
        if np.ndim(value) == 0:
            value, low, high = float(value), float(low), float(high)
        bounds[name] = Bound(value, low, high, one.method(level))
    return Intervals(ReadOnly(bounds), level, by, sampling, ReadOnly(missing), notes)


def is_asked(name: str, wanted: frozenset[str]) -> bool:
    """Whether a number is among the quantities; names of the caller's own always are."""
    first, *_, last = name.split(".") * 2
    own = last if first == "applications" else first
    return own in wanted or own not in QUANTITIES


def group_notes(by: Sequence[str], freedoms: Sequence[float], counts: Sequence[int]) -> tuple[str, ...]:
    """Notes on small numbers of groups, and on groups of very different sizes."""
    count, equal = min(counts), min(freedoms) + 1.0
    if not by or equal >= _FEW_GROUPS - _ROUNDING:
        return ()
    if count < _FEW_GROUPS:
        return (f"only {count} groups contain one of the classes: intervals from so few may be too narrow",)
    return (f"the groups of a class differ so much in size that {count} count as {equal:.1f}: intervals are wide",)


def two_class_estimates(
    losses: CalibrationLosses,
    apps: Sequence[Application],
    grid: Floats | None = None,
    eer: EerDefinition = "rocch",
    wanted: frozenset[str] = frozenset(QUANTITIES),
    sampling: Sampling = "natural",
) -> Found:
    """Every number of an Evaluation with its estimate, or why it has none."""
    found: Found = {}
    sample = losses.sample
    if "eer" in wanted:
        found["eer"] = equal_error(sample, eer)
    for name, make in (("auc", area), ("cllr", log_costs), ("min_cllr", min_log_costs)):
        if name in wanted:
            found[name] = _or_reason(make, sample)
    for k, app in enumerate(apps):
        pair = sample.actual_rates(Points.of([app]))
        own = {} if pair is None else _decided(pair, app)
        if wanted & _MINIMA and _has_minimum(app):
            own |= _minima(sample, app)
        if "calibration_loss" in wanted:
            own["calibration_loss"] = losses.at(app)
        if wanted & {"ppv", "f1"} and pair is not None:
            own |= precision_and_f1(pair, sampling)
        found |= {f"applications.{k}.{name}": one for name, one in own.items()}
    if grid is not None and len(grid) and "bayes_plot" in wanted:
        points = Points.along(grid)
        pair = sample.actual_rates(points)
        if pair is not None:
            found["bayes_plot.dcf"] = pair.cost(points.miss, points.alarm)
        found["bayes_plot.min_dcf"] = minimum_cost(sample, points)[0]
    return found


def _or_reason(make: Callable[..., Estimate | NotEstimable], *arguments: object) -> Estimate | NotEstimable:
    """The estimate, or the reason why it is undefined."""
    try:
        return make(*arguments)
    except UndefinedError as error:
        return NotEstimable(str(error))


def _decided(pair: RatePair, app: Application) -> Found:
    """Rates and costs of the decisions at one operating point."""
    points = Points.of([app])
    prices = (app.prior * app.cost_fn, (1.0 - app.prior) * app.cost_fp)
    found: Found = {"fnr": single(pair.fnr), "fpr": single(pair.fpr), "dcf_u": single(pair.cost(*prices))}
    return found if app.dummy_is_free else found | {"dcf": single(pair.cost(points.miss, points.alarm))}


def _has_minimum(app: Application) -> bool:
    return not app.dummy_is_free and math.isfinite(app.factor)


def _minima(sample: TwoClassSample, app: Application) -> Found:
    """The minimum at one operating point; the un-normalised one is the same interval times the dummy's cost."""
    least, held_out = minimum_cost(sample, Points.of([app]))
    return {
        "min_dcf": single(least),
        "cross_fitted_min_dcf": held_out if isinstance(held_out, NotEstimable) else single(held_out),
        "min_dcf_u": single(mapped(least, partial(operator.mul, app.dummy_cost))),
    }


def wanted_of(quantities: Iterable[str] | None, known: Sequence[str] = QUANTITIES) -> frozenset[str]:
    """The quantities asked for; all of them by default."""
    asked = frozenset(known if quantities is None else names_of(quantities, "quantities"))
    unknown = sorted(asked - set(known))
    if unknown:
        way_out = f": ask for rates=[{shown(unknown[0])}]" if unknown[0] in QUANTITIES else ""
        raise InputError(f"quantities holds {shown(unknown[0])}, which is not among {', '.join(known)}{way_out}.")
    return asked


def names_of(values: object, name: str) -> list[str]:
    """A name or several of them."""
    found = [values] if isinstance(values, str) else listed(values, name)
    if not all(isinstance(one, str) for one in found):
        raise InputError(f"{name} must be names, not {shown(values)}.")
    return [str(one) for one in found]


def beside(facts: Facts, intervals: Intervals) -> JSON:
    """The facts of a system with "n_ci": [low, high] beside each number n, and how the intervals were made."""
    found: JSON = dict(facts)
    if "bayes_plot" in found:
        found["bayes_plot"] = dict(found["bayes_plot"])
    found["applications"] = [dict(row) for row in found.get("applications", [])]
    for name, one in intervals.items():
        place, last = _place(found, name)
        if place is None:
            continue
        if place.get(last) is None and np.ndim(one.value) == 0 and last not in place:
            place[last] = plain(one.value)
        if place.get(last) is not None:
            place[f"{last}_ci"] = [plain(one.low), plain(one.high)]
    return found | {"intervals": plain(intervals.facts())}


def _place(facts: JSON, name: str) -> tuple[JSON | None, str]:
    """The object that holds a number, and its key there."""
    first, *rest = name.split(".")
    if first == "applications":
        return facts["applications"][int(rest[0])], rest[1]
    return (facts.get(first), rest[0]) if rest else (facts, first)


@dataclass(frozen=True, slots=True)
class AskedIntervals:
    """Which intervals an evaluation carries."""

    level: float
    options: JSON
    drawn: JSON | None  # of a bootstrap; None: closed forms
    grid: tuple[float, float, int]

    @classmethod
    def of(
        cls, ci: float | None, by: object, method: str | None, resamples: int | None, seed: int, sampling: object,
        grid: tuple[float, float, int], eer: EerDefinition,
    ) -> AskedIntervals | None:  # fmt: skip
        """None without a level, which every other option needs."""
        given = {"by": by, "method": method, "resamples": resamples, "sampling": sampling}
        needs_level(ci, given)
        if ci is None:
            return None
        drawn = None
        if method is not None:
            chosen(method, "method", ("percentile", "bca", "jeffreys", "uniform"))
        if sampling is not None:
            chosen(sampling, "sampling", ("stratified", "natural"))
        if method in ("jeffreys", "uniform"):
            if resamples is not None or sampling is not None:
                raise InputError(f"method={shown(method)} takes neither resamples= nor sampling=.")
            drawn = {"prior": method, "seed": seed_number(seed)}
        elif method is not None or resamples is not None:
            count = 1000 if resamples is None else resamples
            drawn = {"method": method or "percentile", "resamples": count, "seed": seed}
        return cls(probability(ci, "ci"), {"by": by, "sampling": sampling, "eer": eer}, drawn, grid)

    def intervals(
        self, trials: Trials | Tally, apps: Sequence[object], source: Trials | Tally | CalibrationLosses
    ) -> Intervals:
        """The intervals of the numbers of these trials."""
        if self.drawn is None:
            grid = log_odds_grid(self.grid)
            return closed_form_intervals(source, apps, level=self.level, grid=grid, **self.options)
        if "prior" in self.drawn:
            from tercet.uncertainty.bayes import posterior_intervals

            return posterior_intervals(trials, apps, level=self.level, by=self.options["by"], **self.drawn)
        from tercet.uncertainty.bootstrap import bootstrap

        more = self.options | {"sampling": self.options["sampling"] or "stratified"}
        return bootstrap(trials, apps, ci=self.level, bayes_plot=self.grid, **self.drawn, **more)
