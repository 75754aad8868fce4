"""Bands: pointwise intervals along the ROC, DET, Bayes error and reliability curves."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Unpack

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.plain import plain
from tercet._numeric.validation import flag, numbers, whole
from tercet._typing import JSON, Array, Floats
from tercet.errors import InputError
from tercet.metrics.binomial import clopper_pearson
from tercet.metrics.costs import class_prior, log_odds_grid
from tercet.metrics.curves import Curve
from tercet.metrics.posteriors import posteriors
from tercet.trials import NO_LLR, Trials, logit, probability, two_class
from tercet.uncertainty._clusters import group_codes
from tercet.uncertainty._kernel.draws import Design, row_weights
from tercet.uncertainty._kernel.percentiles import order_statistic
from tercet.uncertainty._kernel.refit import Fit
from tercet.uncertainty.bootstrap import BootstrapOptions, DrawOptions, band_points, bootstrap
from tercet.uncertainty.intervals import Bound, Intervals, closed_form_intervals
from tercet.uncertainty.simultaneous import simultaneous_miss_rates

_EACH = "take trials.versus(class) for each class"  # of several


class RocBand(NamedTuple):
    """For each false-alarm rate the lowest miss rate that keeps it, with its interval.

    Attributes
    ----------
    fpr : numpy.ndarray of float
        False-alarm rates.
    fnr : numpy.ndarray of float
        The lowest miss rate that keeps each.
    low : numpy.ndarray of float
        Lower ends.
    high : numpy.ndarray of float
        Upper ends.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> band = tc.uncertainty.roc_band(trials, [0.0, 0.5], resamples=99)
    >>> band.fpr.tolist(), band.fnr.round(3).tolist()
    ([0.0, 0.5], [0.333, 0.0])
    """

    fpr: Floats
    fnr: Floats
    low: Floats
    high: Floats

    def det(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The same on the axes of a DET plot: probits of (FPR, FNR, low, high).

        Returns
        -------
        tuple of numpy.ndarray
            Probits of FPR, FNR, low and high.
        """
        from scipy.special import ndtri

        return ndtri(self.fpr), ndtri(self.fnr), ndtri(self.low), ndtri(self.high)


class Reliability(NamedTuple):
    """Bins of the posterior at one prior: mean forecast, share of targets at that prior, interval, rows.

    A bin without rows, or that most resamples leave empty, is nan: undefined.

    Attributes
    ----------
    edges : numpy.ndarray of float
        Edges of the bins.
    forecast : numpy.ndarray of float
        Mean posterior of each bin.
    observed : numpy.ndarray of float
        Share of targets of each bin at the prior.
    low : numpy.ndarray of float
        Lower ends.
    high : numpy.ndarray of float
        Upper ends.
    rows : numpy.ndarray of int
        Trials of each bin.
    prior : float
        The prior that posteriors and shares are at.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0], [0, 0, 1, 0, 1, 1])
    >>> found = tc.uncertainty.reliability(trials, bins=2, resamples=99)
    >>> found.forecast.round(3).tolist(), found.observed.round(3).tolist()    # 1 / (1 + e) claimed, 1/3 seen
    ([0.269, 0.731], [0.333, 0.667])
    """

    edges: Floats
    forecast: Floats
    observed: Floats
    low: Floats
    high: Floats
    rows: NDArray[np.intp]
    prior: float


class CostBand(NamedTuple):
    """Costs along the prior log-odds of a Bayes error plot with their intervals; `actual` is None of raw scores."""

    log_odds: Floats
    actual: Bound | None
    least: Bound


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Bands:
    """What figures draw around a system's curves, and the intervals that came out of the same resamples.

    Attributes
    ----------
    intervals : Intervals
        The intervals of the same resamples.
    roc : RocBand
        Band of the ROC.
    bayes_plot : CostBand
        Bands of the Bayes error plot: those of evaluate(..., ci=), or resampled if `method` or `calibrate` was given.
    reliability : Reliability or None
        The reliability diagram; None for raw scores.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> found = tc.uncertainty.bands(trials, fpr=[0.0, 0.5], resamples=99)
    >>> found.roc.fnr.round(3).tolist(), found.level
    ([0.333, 0.0], 0.95)
    """

    intervals: Intervals
    roc: RocBand
    bayes_plot: CostBand
    reliability: Reliability | None  # raw scores state no probabilities

    @property
    def level(self) -> float:
        """Of the intervals: 0.95."""
        return self.intervals.level

    def to_dict(self) -> JSON:
        """The entry "bands" in the JSON; those of the Bayes error plot stand beside its costs.

        Returns
        -------
        dict
            Plain values.
        """
        found: JSON = {"level": self.level, "roc": plain(self.roc)}
        return found if self.reliability is None else found | {"reliability": plain(self.reliability)}

    def __repr__(self) -> str:
        kinds = "ROC, DET, Bayes error" + ("" if self.reliability is None else ", reliability")
        return f"Bands: {kinds}; pointwise, {100 * self.level:g} %, {self.intervals.resamples} resamples"


def bands(
    trials: Trials,
    applications: Iterable[object] = (),
    *,
    fpr: object = None,
    reliability_prior: float | None = None,
    bins: int = 10,
    bayes_plot: tuple[float, float, int] = (-3.0, 3.0, 21),
    quantities: Iterable[str] | None = ("bayes_plot",),
    **options: Unpack[BootstrapOptions],
) -> Bands:
    """Pointwise bands for figures: tc.plot(evaluation, "roc", bands=bands(trials)).

    Parameters
    ----------
    trials : Trials
        Labelled two-class trials.
    applications : iterable, default ()
        Operating points whose intervals are computed too.
    fpr : array_like of float, optional
        False-alarm rates of the ROC band; by default a grid.
    reliability_prior : float, optional
        The prior of the reliability diagram; by default the data's share of targets.
    bins : int, default 10
        Bins of the reliability diagram.
    bayes_plot : tuple, default (-3.0, 3.0, 21)
        Lowest and highest log-odds and number of points of the Bayes error plot.
    quantities : iterable of str, optional
        What gets intervals, as `bootstrap` takes it.
    **options
        Further options of `bootstrap`: ci, resamples, seed, by, ...

    Returns
    -------
    Bands
        The bands.

    Examples
    --------
    >>> trials = Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> bands(trials, fpr=[0.0, 0.5], resamples=99).roc.fnr.round(3).tolist()
    [0.333, 0.0]
    """
    flat = two_class(trials, way_out=_EACH)
    rates = false_alarm_grid(flat) if fpr is None else numbers(fpr, "fpr")
    share = float(class_prior(flat)[1])
    if reliability_prior is not None:
        share = probability(reliability_prior, "reliability_prior")
    edges = None if flat.meaning == "raw" and options.get("calibrate") is None else inner_edges(share, bins)
    named = None if quantities is None else {*quantities, "bayes_plot"}
    found = bootstrap(
        flat, applications, roc=rates, bins=edges, quantities=named, bayes_plot=bayes_plot, **options
    )  # fmt: skip
    grid = log_odds_grid(bayes_plot)
    costs = _cost_band(flat, grid, found, resampled=not {"method", "calibrate"}.isdisjoint(_given(options)))
    used = _calibrated(flat, **options)
    diagram = None if edges is None else _diagram(used, found, share, edges)
    return Bands(found, _roc(rates, found, _targets(flat)), costs, diagram)


def roc_band(
    trials: Trials, fpr: object = None, *, simultaneous: bool = False, **options: Unpack[BootstrapOptions]
) -> RocBand:
    """A band around the ROC or DET curve: pointwise, or one that holds everywhere at once.

    Parameters
    ----------
    trials : Trials
        Labelled two-class trials.
    fpr : array_like of float, optional
        False-alarm rates; by default a grid.
    simultaneous : bool, default False
        Whether the band holds at all rates at once, without resampling: the rates of both classes are within Massart's
        bound of the measured ones at every threshold (simultaneous joint region, Campbell 1994). It is wide where
        errors are few, and takes no option but `ci`.
    **options
        Options of `bootstrap`: ci, resamples, seed, by, ...

    Returns
    -------
    RocBand
        The band.

    References
    ----------
    Campbell (1994), Advances in statistical methodology for the evaluation of diagnostic and laboratory tests,
    Statistics in Medicine 13, 499-508. Massart (1990), doi:10.1214/aop/1176990746.

    Examples
    --------
    >>> trials = Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> roc_band(trials, [0.0, 0.5], resamples=99).fnr.round(3).tolist()
    [0.333, 0.0]
    """
    flat = two_class(trials, way_out=_EACH)
    rates = false_alarm_grid(flat) if fpr is None else numbers(fpr, "fpr")
    if flag(simultaneous, "simultaneous"):
        if set(options) - {"ci"}:
            raise InputError(f"A simultaneous band takes ci= only, not {', '.join(sorted(set(options) - {'ci'}))}.")
        points = band_points(rates, "roc")
        level = probability(options.get("ci", 0.95), "ci")
        return RocBand(points, *simultaneous_miss_rates(Curve.of(flat), points, level))
    found = bootstrap(flat, roc=rates, quantities=(), bayes_plot=None, **options)
    return _roc(rates, found, _targets(flat))


def _given(options: Mapping[str, object]) -> set[str]:
    return {name for name, value in options.items() if value is not None}


def _cost_band(trials: Trials, grid: Floats, found: Intervals, *, resampled: bool) -> CostBand:
    """The costs with the intervals that evaluate(..., ci=) gives, or the resampled ones where those were asked for.

    Resamples contain no error where none was seen, so a resampled interval is far too short there.
    """
    bounds = dict(found.bounds)
    if not resampled:
        wanted = frozenset({"bayes_plot"})
        bounds |= closed_form_intervals(trials, (), level=found.level, by=found.by, grid=grid, wanted=wanted).bounds
    return CostBand(grid, bounds.get("bayes_plot.dcf"), bounds["bayes_plot.min_dcf"])


def _targets(trials: Trials) -> int:
    return int((trials.known_labels() == 1).sum())


def false_alarm_grid(trials: Trials) -> Floats:
    """False-alarm rates that show a curve on straight and on probit axes: none, then from half a trial on."""
    count = int((trials.known_labels() == 0).sum())
    least = min(max(0.5 / max(count, 1), 1e-6), 0.05)
    return np.concatenate(([0.0], np.geomspace(least, 0.1, 50), np.linspace(0.1, 1.0, 46)[1:]))


def _roc(rates: Floats, found: Intervals, targets: int) -> RocBand:
    """The band; where no resample has a miss, the upper end is Clopper-Pearson's for no errors."""
    band = found["roc.fnr"]
    certain = rates >= 1.0  # accepting everything misses nothing, whatever the trials
    hidden = clopper_pearson(0, targets, found.level).high
    low, high = (
        np.where(certain, 0.0, band.low),
        np.where(certain, 0.0, np.maximum(band.high, hidden * (band.high == 0))),
    )
    order = np.argsort(rates, kind="stable")  # misses fall as false alarms rise: widened until the ends do too
    low[order] = np.minimum.accumulate(low[order])
    high[order] = np.maximum.accumulate(high[order][::-1])[::-1]
    return RocBand(rates, np.asarray(band.value), low, high)


def reliability(trials: Trials, prior: float = 0.5, bins: int = 10, **options: Unpack[DrawOptions]) -> Reliability:
    """A reliability diagram with a pointwise band.

    observed = pi t / (pi t + (1 - pi) n), t and n the shares of all targets and non-targets that fall into the bin.

    Parameters
    ----------
    trials : Trials
        Labelled two-class trials that are not raw scores.
    prior : float, default 0.5
        The prior that posteriors and shares are at.
    bins : int, default 10
        Number of bins.
    **options
        Options of `bootstrap`: ci, resamples, seed, by, ...

    Returns
    -------
    Reliability
        The diagram.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([-1.0, -1.0, -1.0, 1.0, 1.0, 1.0], [0, 0, 1, 0, 1, 1])
    >>> tc.uncertainty.reliability(trials, bins=2, resamples=99).observed.round(3).tolist()
    [0.333, 0.667]
    """
    share, flat = probability(prior, "prior"), two_class(trials, way_out=_EACH)
    if flat.meaning == "raw" and options.get("calibrate") is None:
        raise InputError(NO_LLR)
    inner = inner_edges(share, bins)
    found = bootstrap(flat, bins=inner, quantities=(), bayes_plot=None, **options)
    return _diagram(_calibrated(flat, **options), found, share, inner)


def inner_edges(prior: float, bins: int) -> Floats:
    """The llrs between bins of equal width in the posterior."""
    count = whole(bins, "bins", 2)
    return np.array([logit(edge) for edge in _edges(count)[1:-1].tolist()]) - logit(prior)


def _edges(bins: int) -> Floats:
    return np.linspace(0.0, 1.0, bins + 1)


def _calibrated(
    trials: Trials,
    calibrate: object = None,
    calibration_trials: Trials | None = None,
    prior: object = None,
    **_: object,
) -> Trials:
    """The trials, calibrated as in the bootstrap."""
    if calibrate is None:
        return trials
    model = Fit(calibrate, prior)(trials if calibration_trials is None else two_class(calibration_trials))
    scored: Trials = model(trials)
    return scored


def _diagram(trials: Trials, found: Intervals, share: float, inner: Floats) -> Reliability:
    bins = len(inner) + 1
    targets, nontargets = (np.asarray(found[f"bins.{name}"].value) for name in ("targets", "nontargets"))
    observed = _shares(targets, nontargets, share)
    samples = np.sort(_shares(found.samples["bins.targets"], found.samples["bins.nontargets"], share), axis=0)
    low, high = _ends(samples, found.tail)
    place = np.searchsorted(inner, trials.llr)
    rows = np.bincount(place, minlength=bins)
    labels = trials.known_labels().astype(np.bool_)
    for k in np.flatnonzero((observed == 0.0) | (observed == 1.0)).tolist():
        low[k], high[k] = _one_sided(trials, found.by, place == k, share, found.level)
    return Reliability(_edges(bins), _forecasts(trials, share, place, labels, bins), observed, low, high, rows, share)


def _shares(targets: Floats, nontargets: Floats, prior: float) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(prior * targets / (prior * targets + (1.0 - prior) * nontargets))


def _ends(ordered: Floats, tail: float) -> tuple[Floats, Floats]:
    """Both ends of each column, over the resamples in which the bin has rows: at least half of them."""
    low, high = np.full(ordered.shape[1], np.nan), np.full(ordered.shape[1], np.nan)
    for k, column in enumerate(ordered.T):
        there = column[~np.isnan(column)]
        if 2 * len(there) > len(column):
            low[k] = order_statistic(there, tail, down=True)
            high[k] = order_statistic(there, 1.0 - tail, down=False)
    return low, high


def _one_sided(
    trials: Trials, by: Sequence[str], inside: NDArray[np.bool_], prior: float, level: float
) -> tuple[float, float]:
    """A bin of one class only: Clopper-Pearson of none of the other, carried over to the prior.

    Counted as they are drawn: rows (whole weights are repeated rows), or the groups that they belong to.
    """
    labels, own = trials.known_labels().astype(np.bool_), row_weights(trials)
    there = inside if own is None else inside & (own > 0)
    groups = tuple((group_codes(trials, name)[there],) for name in by)
    counted = Design((int(there.sum()),), (None if own is None else own[there],), groups)
    hidden = clopper_pearson(0, counted.units()[0], level).high
    heavy = np.ones(len(labels)) if own is None or own.dtype.kind == "f" else own  # a real weight is one row's
    scale = (prior / heavy[labels].sum()) / ((1.0 - prior) / heavy[~labels].sum())
    all_targets = bool(labels[there].all())
    if all_targets:
        scale = 1.0 / scale
    share = scale * hidden / (scale * hidden + 1.0 - hidden)
    return (1.0 - share, 1.0) if all_targets else (0.0, share)


def _forecasts(trials: Trials, prior: float, place: Array, labels: NDArray[np.bool_], bins: int) -> Floats:
    """The mean posterior in each bin, classes weighing as in the prior."""
    own = np.ones(len(trials)) if trials.weights is None else trials.weights
    weights = own * np.where(labels, prior / own[labels].sum(), (1.0 - prior) / own[~labels].sum())
    forecast = posteriors(trials, prior)[:, 1]
    with np.errstate(invalid="ignore"):
        return np.asarray(np.bincount(place, weights * forecast, bins) / np.bincount(place, weights, bins))
