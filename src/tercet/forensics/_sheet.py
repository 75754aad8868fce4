"""One validation sheet: the numbers that a laboratory files about a set of likelihood ratios, and its figures' data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tercet._numeric.plain import plain
from tercet._numeric.records import ReadOnly, Record
from tercet._numeric.validation import shown, text, whole
from tercet._typing import JSON, Floats
from tercet.calibration.cross_fit import cross_fit
from tercet.calibration.two_class import Isotonic
from tercet.errors import CalibrationError, InputError, UndefinedError
from tercet.evaluation import evaluate
from tercet.forensics._measures import (
    DevPav,
    Ece,
    LrBounds,
    MisleadingEvidence,
    Tippett,
    cllr_cal,
    dev_pav,
    ece,
    elub,
    iv_bounds,
    misleading_evidence,
    pav_blocks,
    pav_points,
    tippett,
)
from tercet.metrics.binomial import Interval
from tercet.metrics.costs import cllr, min_cllr
from tercet.metrics.curves import Curve
from tercet.metrics.tally import Tally
from tercet.trials import Trials, as_trials, probability
from tercet.uncertainty.bootstrap import bootstrap
from tercet.uncertainty.compare import compare
from tercet.uncertainty.comparison import Difference
from tercet.uncertainty.intervals import Intervals

_GRID = 201  # log10 LRs at which two PAV maps are compared
# PAV of a resample lies nearer to the sample's than the sample's lies to the true map: in simulations of 60 to 1,000
# calibrated LRs per class by a tenth to a fifth.
_PAV_MARGIN = 1.25


@dataclass(frozen=True, slots=True)
class Measure(Record):
    """One number of the sheet.

    Attributes
    ----------
    name : str
        Its name, with the unit.
    value : float or None
        The number; None where it does not exist.
    interval : Interval or None
        Its interval, where one exists.
    note : str
        Why something is missing, or what was left out.

    Examples
    --------
    >>> import tercet as tc
    >>> lrs = tc.Trials.of_lr([30.0, 8.0, 5.0, 0.5, 0.04, 0.1, 0.3, 2.0], [1, 1, 1, 1, 0, 0, 0, 0])
    >>> row = tc.forensics.validation(lrs, resamples=50).measures[0]
    >>> row.name, round(row.value, 3)
    ('Cllr (bits)', 0.528)
    """

    name: str
    value: float | None
    interval: Interval | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Validation(Record):
    """A validation sheet's numbers and the data of its figures.

    Attributes
    ----------
    name : str
        The system.
    counts : mapping of str to float
        Same-source and different-source trials.
    level : float
        Level of all intervals.
    measures : tuple of Measure
        Cllr, its minimum and difference, EER, devPAV.
    misleading : MisleadingEvidence
        By strength.
    bounds : tuple of LrBounds
        ELUB and invariance verification.
    bound_intervals : mapping of str to Interval
        Percentile intervals of "elub lower", "elub upper", "iv lower" and "iv upper": how far the bounds move when the
        trials are drawn anew; empty where they cannot be drawn.
    ece : Ece
        Empirical cross-entropy with its range.
    tippett : tuple of Tippett
        Both kinds.
    pav : tuple of three ndarrays
        Where each PAV block begins and ends, and what it is worth, as log10 LRs.
    log10_lrs : mapping of str to ndarray
        The finite log10 LRs of both classes.
    by : str or None
        The group column whose whole groups are the unit of the intervals; None for independent trials.
    resamples, seed : int
        Number of resamples, and the seed of the draws.

    Examples
    --------
    >>> import tercet as tc
    >>> lrs = tc.Trials.of_lr([30.0, 8.0, 5.0, 0.5, 0.04, 0.1, 0.3, 2.0], [1, 1, 1, 1, 0, 0, 0, 0])
    >>> tc.forensics.validation(lrs, resamples=50).misleading.rows[0].targets.value    # one of four is below 1
    0.25
    """

    name: str
    counts: Mapping[str, float]
    level: float
    measures: tuple[Measure, ...]
    misleading: MisleadingEvidence
    bounds: tuple[LrBounds, ...]
    ece: Ece
    tippett: tuple[Tippett, ...]
    pav: tuple[Floats, Floats, Floats]
    log10_lrs: Mapping[str, Floats]
    bound_intervals: Mapping[str, Interval] = field(default_factory=dict)
    by: str | None = None
    resamples: int = 0
    seed: int = 0

    def __repr__(self) -> str:
        counts = ", ".join(f"{count:g} {name.replace('_', '-')}" for name, count in self.counts.items())
        rows = [
            f"  {one.name}: {'undefined' if one.value is None else f'{one.value:.4f}'}"
            + (f" ({one.interval.low:.4f} to {one.interval.high:.4f})" if one.interval is not None else "")
            for one in self.measures
        ]
        return "\n".join([f"Validation: {shown(self.name)}, {counts} trials, {100 * self.level:g} % intervals", *rows])

    def to_dict(self) -> JSON:
        """The numbers as plain values and text, without the figures' data.

        Returns
        -------
        dict
            Plain values.
        """
        kept = {"name": self.name, "counts": self.counts, "level": self.level, "measures": self.measures}
        kept |= {"misleading": self.misleading, "bounds": self.bounds, "bound_intervals": self.bound_intervals}
        kept |= {"by": self.by, "resamples": self.resamples, "seed": self.seed}
        return dict(plain(kept))

    def to_html(self, title: str | None = None) -> str:
        """The sheet as one self-contained page: table and figures.

        Parameters
        ----------
        title : str, optional
            The page's title.

        Returns
        -------
        str
            The page's HTML.
        """
        from tercet.forensics._page import sheet

        return sheet(self, title)


def validation(
    trials: Trials,
    *,
    name: str | None = None,
    ci: float = 0.95,
    by: str | None = None,
    resamples: int = 500,
    seed: int = 0,
) -> Validation:
    """Everything that a validation sheet shows about a set of likelihood ratios.

    Parameters
    ----------
    trials : Trials
        Labelled trials that are likelihood ratios: same source = target.
    name : str, optional
        The system's name; else that of the trials.
    ci : float, optional
        Level of all intervals.
    by : str, optional
        Name of the group column (source, person) that is resampled as a whole.
    resamples : int, optional
        How many resamples.
    seed : int, optional
        Seed of the resampling.

    Returns
    -------
    Validation
        Measures with intervals, misleading evidence, bounds, and the figures' data.

    Examples
    --------
    >>> lrs = [30., 8., 5., 0.5, 0.04, 0.1, 0.3, 2.]
    >>> sheet = validation(Trials.of_lr(lrs, [1, 1, 1, 1, 0, 0, 0, 0]), resamples=50)
    >>> [row.name for row in sheet.measures][:2], sheet.misleading.rows[0].targets.value
    (['Cllr (bits)', 'min Cllr (bits)'], 0.25)
    """
    level = probability(ci, "ci")
    tally = Tally.of(as_trials(trials)).as_llr()
    curve = Curve.of(tally)
    resamples = whole(resamples, "resamples", 1)
    called = trials.name or "system" if name is None else text(name, "name")
    draws: JSON = {"ci": level, "by": by, "resamples": resamples, "seed": seed, "bayes_plot": None}
    counts = {"same_source": tally.weight(curve.targets), "different_source": tally.weight(curve.nontargets)}
    low, high, worth = pav_blocks(tally)
    finite = {
        key: side.scores[np.isfinite(side.scores)] / np.log(10.0)
        for key, side in (("same_source", tally.targets), ("different_source", tally.nontargets))
    }
    return Validation(
        called, ReadOnly(counts), level, _measures(trials, curve, draws),
        misleading_evidence(trials, ci=level, by=by), (elub(trials), iv_bounds(trials)),
        ece(trials, np.linspace(-2.0, 2.0, 21), ci=level, by=by, resamples=min(resamples, 200), seed=seed),
        (tippett(trials), tippett(trials, kind="crossing")), (low, high, worth), ReadOnly(finite),
        ReadOnly(bound_intervals(trials, draws)), by, resamples, seed,
    )  # fmt: skip


def bound_intervals(trials: Trials, draws: JSON) -> dict[str, Interval]:
    """Percentile intervals of the bounds, on the log scale, where trials can be drawn anew."""
    asked = {
        f"{method} {side}": (lambda drawn, find=find, side=side: float(np.log(getattr(find(drawn), side))))
        for method, find in (("elub", elub), ("iv", iv_bounds))
        for side in ("lower", "upper")
    }
    try:
        found = bootstrap(trials, quantities=(), extra=asked, method="percentile", **draws)
    except (InputError, UndefinedError):
        return {}
    ends = {name: (math.exp(float(found[name].low)), math.exp(float(found[name].high))) for name in asked}
    return {name: Interval(low, high, found[name].method) for name, (low, high) in ends.items()}


def _measures(trials: Trials, curve: Curve, draws: JSON) -> tuple[Measure, ...]:
    known = evaluate(trials, [], ci=draws["ci"], by=draws["by"]).intervals
    assert known is not None
    return (
        _measure("Cllr (bits)", cllr(curve.tally), "cllr", known),
        _measure("min Cllr (bits)", min_cllr(curve), "min_cllr", known),
        _cllr_cal(trials, draws, known),
        _measure("EER (rocch)", curve.eer().value, "eer", known),
        _dev_pav(trials, curve.tally, draws),
    )


def _measure(name: str, value: float, key: str, known: Intervals) -> Measure:
    """A number with the interval that `evaluate` gives it, or the reason for having none."""
    if key not in known:
        return Measure(name, value, None, f"no interval: {known.missing[key]}")
    ends = known[key]
    return Measure(name, value, Interval(float(ends.low), float(ends.high), ends.method))


def _cllr_cal(trials: Trials, draws: JSON, known: Intervals) -> Measure:
    """Cllr cal with an interval from paired differences.

    PAV on the trials that it is judged on does too well, and PAV out of fold too badly: the former has the upper end,
    the latter the lower one.
    """
    name, value = "Cllr cal (bits)", cllr_cal(trials)
    if "cllr" not in known:
        return Measure(name, value, None, f"no interval: {known.missing['cllr']}")
    try:
        held_out = cross_fit(Isotonic, trials, by=draws["by"]).scores
        low = _difference(trials, held_out, draws).low
        high = _difference(trials, Isotonic.fit(trials, raw=True)(trials), draws).high
    except (CalibrationError, InputError, UndefinedError) as error:
        return Measure(name, value, None, f"no interval: {error}")
    method = "paired differences: lower end from PAV out of fold, upper end from PAV on the same trials"
    return Measure(name, value, Interval(min(max(low, 0.0), value), max(high, value), method))


def _difference(first: Trials, second: Trials, draws: JSON) -> Difference:
    """The difference in Cllr of the same trials with two sets of llrs."""
    names = ("given", "calibrated")
    found = compare(first, second, applications=[], names=names, ci=draws["ci"], by=draws["by"], quantities=("cllr",))
    return found.of("cllr")[0]


def _dev_pav(trials: Trials, tally: Tally, draws: JSON) -> Measure:
    """devPAV plus and minus how far PAV moves when the trials are drawn anew.

    The mean distance of the LRs from the true map and from its estimate differ by at most the mean distance of the two
    maps. devPAV itself is no guide to that: of calibrated LRs it is above 0 in every sample, and larger in resamples.
    """
    try:
        found = dev_pav(trials)
    except UndefinedError as error:
        return Measure("devPAV", None, None, str(error))
    left_out = found.left_out_below + found.left_out_above
    notes = [f"{left_out:g} trials beyond the range {found.low:.2f} to {found.high:.2f} left out"] if left_out else []
    try:
        ends = _dev_pav_interval(trials, tally, found, draws)
    except (InputError, UndefinedError) as error:
        ends, notes = None, [*notes, f"no interval: {error}"]
    return Measure("devPAV", found.value, ends, "; ".join(notes))


def _dev_pav_interval(trials: Trials, tally: Tally, found: DevPav, draws: JSON) -> Interval:
    if not math.isfinite(found.value):
        raise UndefinedError("an LR of 0 or infinity has a finite PAV value.")
    grid = np.linspace(found.low, found.high, _GRID)
    own = np.interp(grid, *pav_points(tally)[:2])

    def moved(drawn: Trials) -> float:
        x, y, _ = pav_points(Tally.of(drawn).as_llr())
        inside = (grid >= x[0]) & (grid <= x[-1])
        if not inside.any():
            raise UndefinedError("the range of finite PAV values lies elsewhere.")
        return float(np.abs(np.interp(grid[inside], x, y) - own[inside]).mean())

    drawn = bootstrap(trials, quantities=(), extra={"moved": moved}, method="percentile", **draws)
    margin = _PAV_MARGIN * float(np.quantile(drawn.samples["moved"], draws["ci"]))
    method = "bootstrap of the distance between PAV maps"
    return Interval(max(found.value - margin, 0.0), found.value + margin, method)
