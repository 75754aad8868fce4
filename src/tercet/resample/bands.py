"""Bands: pointwise intervals along the ROC, DET and reliability curves."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet.arrays import numbers
from tercet.errors import InputError
from tercet.intervals import clopper_pearson
from tercet.posteriors import posteriors
from tercet.resample.bootstrap import bootstrap
from tercet.resample.ends import order_statistic
from tercet.trials import Trials, logit, probability

Floats = NDArray[np.float64]


class RocBand(NamedTuple):
    """For each false-alarm rate the lowest miss rate that keeps it, with its interval: pointwise, not joint."""

    fpr: Floats
    fnr: Floats
    low: Floats
    high: Floats

    def det(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The same on the axes of a DET plot: probits of (FPR, FNR, low, high)."""
        from scipy.special import ndtri

        return ndtri(self.fpr), ndtri(self.fnr), ndtri(self.low), ndtri(self.high)


def roc_band(trials: Trials, fpr: object = None, **options: Any) -> RocBand:
    """A band around the ROC or DET curve; options are those of bootstrap (level, resamples, seed, by, ...).

    >>> trials = Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> roc_band(trials, [0.0, 0.5], resamples=99).fnr.round(3).tolist()
    [0.333, 0.0]
    """
    rates = np.concatenate(([0.0], np.logspace(-4, 0, 81))) if fpr is None else numbers(fpr, "fpr")
    found = bootstrap(trials, roc=rates, quantities=(), bayes_plot=None, **options)["roc.fnr"]
    return RocBand(rates, found.value, found.low, found.high)


class Reliability(NamedTuple):
    """Bins of the posterior at one prior: mean forecast, share of targets at that prior, interval, rows.

    A bin without rows, or that most resamples leave empty, is nan: undefined.
    """

    edges: Floats
    forecast: Floats
    observed: Floats
    low: Floats
    high: Floats
    rows: NDArray[np.intp]


def reliability(trials: Trials, prior: float = 0.5, bins: int = 10, **options: Any) -> Reliability:
    """A reliability diagram with a pointwise band; options are those of bootstrap.

    observed = pi t / (pi t + (1 - pi) n), t and n the shares of all targets and non-targets that fall into the bin.
    """
    share = probability(prior, "prior")
    if int(bins) != bins or bins < 2:
        raise InputError(f"bins must be a whole number, at least 2, not {bins}.")
    edges = np.linspace(0.0, 1.0, int(bins) + 1)
    inner = np.array([logit(edge) for edge in edges[1:-1]]) - logit(share)
    found = bootstrap(trials, bins=inner, quantities=(), bayes_plot=None, **options)
    level = found.level
    observed = _shares(found["bins.targets"].value, found["bins.nontargets"].value, share)
    samples = np.sort(_shares(found.samples["bins.targets"], found.samples["bins.nontargets"], share), axis=0)
    low, high = _ends(samples, (1.0 - level) / 2.0)
    place = np.searchsorted(inner, trials.llr)
    rows = np.bincount(place, minlength=int(bins))
    labels = trials.known_labels().astype(np.bool_)
    for k in np.flatnonzero((observed == 0.0) | (observed == 1.0)).tolist():
        low[k], high[k] = _one_sided(labels, place == k, share, level, bool(observed[k]))
    return Reliability(edges, _forecasts(trials, share, place, labels, int(bins)), observed, low, high, rows)


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
    labels: NDArray[np.bool_], inside: NDArray[np.bool_], prior: float, level: float, all_targets: bool
) -> tuple[float, float]:
    """A bin of one class only: Clopper-Pearson of none of the other, carried over to the prior."""
    hidden = clopper_pearson(0, int(inside.sum()), level).high
    scale = (prior / labels.sum()) / ((1.0 - prior) / (~labels).sum())
    if all_targets:
        scale = 1.0 / scale
    share = scale * hidden / (scale * hidden + 1.0 - hidden)
    return (1.0 - share, 1.0) if all_targets else (0.0, share)


def _forecasts(trials: Trials, prior: float, place: NDArray[Any], labels: NDArray[np.bool_], bins: int) -> Floats:
    """The mean posterior in each bin, classes weighing as in the prior."""
    own = np.ones(len(trials)) if trials.weights is None else trials.weights
    weights = own * np.where(labels, prior / own[labels].sum(), (1.0 - prior) / own[~labels].sum())
    forecast = posteriors(trials, prior)[:, 1]
    with np.errstate(invalid="ignore"):
        return np.asarray(np.bincount(place, weights * forecast, bins) / np.bincount(place, weights, bins))
