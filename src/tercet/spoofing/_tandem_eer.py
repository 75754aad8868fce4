"""t-EER: where misses and false alarms of countermeasure and verification system in tandem are equal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.records import PlainRecord
from tercet._numeric.validation import number
from tercet._typing import Floats
from tercet.errors import InputError
from tercet.metrics.binomial import Interval
from tercet.metrics.curves import Curve
from tercet.metrics.tally import Tally
from tercet.spoofing._classes import three_classes
from tercet.trials import Trials, as_trials
from tercet.uncertainty.several_sets import percentile_intervals

_ROUNDING = 1e-12  # rates closer than this are taken as equal


@dataclass(frozen=True, slots=True)
class TEer(PlainRecord):
    """A tandem equal error rate.

    Attributes
    ----------
    value : float
        Half-way between the largest and the smallest of the rates that should be equal.
    miss : float
        Tandem miss rate.
    nontarget, spoof : float
        Tandem false-alarm rates of nontargets and of spoofs.
    asv_threshold, cm_threshold : float
        Where they are reached.
    prevalence : float or None
        The share of spoofs among impostors; None for the concurrent t-EER, which is the same for every share.
    interval : Interval or None
        Of the value, by resampling, where a level was given.

    Examples
    --------
    >>> import tercet as tc
    >>> asv = tc.spoofing.of_key([3.0, 2.0, 1.0, 0.0, 3.0], ["target", "target", "nontarget", "nontarget", "spoof"])
    >>> tc.spoofing.t_eer(asv, tc.Trials.of_scores([3.0, 2.0, 1.0], [1, 1, 0])).value
    0.0
    """

    value: float
    miss: float
    nontarget: float
    spoof: float
    asv_threshold: float
    cm_threshold: float
    prevalence: float | None
    interval: Interval | None = None


def t_eer(
    asv: Trials,
    countermeasure: Trials,
    *,
    prevalence: float | None = None,
    key: str = "class",
    ci: float | None = None,
    by: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> TEer:
    """Tandem equal error rate of a verification system behind a countermeasure.

    A trial is accepted if both accept it; the two are taken as independent within each class. With P for the
    countermeasure's rates and p for the verification system's: miss = P_miss + (1 - P_miss) p_miss, nontarget =
    (1 - P_miss) p_fa, spoof = P_fa p_fa,spoof. For each verification threshold the two countermeasure thresholds around
    miss = (1 - prevalence) nontarget + prevalence spoof are looked at. At a given prevalence the lowest equal error
    rate along this path is taken; without one the concurrent t-EER: of the path at prevalence 1/2, the pair of
    thresholds whose three rates lie closest together.

    Parameters
    ----------
    asv : Trials
        Verification scores with three classes, as `of_key` makes them.
    countermeasure : Trials
        Countermeasure scores, bona fide = target.
    prevalence : float, optional
        The share of spoofs among impostors, 0 to 1; the concurrent t-EER without it.
    key : str, optional
        Name of the group column with the classes of `asv`.
    ci : float, optional
        Level of a percentile interval; both sets of trials are resampled within their classes.
    by : str, optional
        Group column, in both sets, whose groups are drawn as a whole.
    resamples, seed : int, optional
        Of the resampling.

    Returns
    -------
    TEer
        The equal error rate, its three error rates and both thresholds.

    Examples
    --------
    >>> from tercet.spoofing import of_key
    >>> asv = of_key([3., 2., 1., 0., 3.], ["target", "target", "nontarget", "nontarget", "spoof"])
    >>> t_eer(asv, Trials.of_scores([3., 2., 1.], [1, 1, 0])).value
    0.0
    """
    share = 0.5 if prevalence is None else number(prevalence, "prevalence")
    if not 0.0 <= share <= 1.0:
        raise InputError(f"prevalence must be a share between 0 and 1, not {share}.")
    found = _found(as_trials(asv, "asv"), as_trials(countermeasure, "countermeasure"), share, prevalence, key)
    if ci is None:
        return found
    sides = three_classes(asv, key)
    strata = [
        sides["target"] + 2 * sides["spoof"].astype(np.intp),
        countermeasure.known_labels().astype(np.intp),
    ]

    def drawn(sets: Sequence[Trials]) -> dict[str, float]:
        return {"value": _found(sets[0], sets[1], share, prevalence, key).value}

    ends = percentile_intervals(
        drawn, [asv, countermeasure], strata, ci=ci, by=by, resamples=resamples, seed=seed
    )  # fmt: skip
    return replace(found, interval=ends["value"])


def _found(asv: Trials, countermeasure: Trials, share: float, prevalence: float | None, key: str) -> TEer:
    """The tandem equal error rate of these trials."""
    sides = three_classes(asv, key)
    behind = [Tally.of(asv.select(sides["target"] | sides[other])) for other in ("nontarget", "spoof")]
    scores = np.unique(np.concatenate((behind[0].targets.scores, *(tally.nontargets.scores for tally in behind))))
    cuts = np.concatenate(([-math.inf], scores))  # first everything is accepted, scores of -inf too
    miss = np.concatenate(([0.0], behind[0].at(scores)[0] / behind[0].targets.total))
    alarms = [np.concatenate(([1.0], tally.at(scores)[1] / tally.nontargets.total)) for tally in behind]
    front = Curve.of(countermeasure)
    rates = _Tandem(front.fnr, front.fpr, miss, *alarms)
    cm, row = _path(rates, share)
    values = rates.at(cm, row)
    totals = (1.0 - share) * values[1] + share * values[2]
    if prevalence is None:
        gaps = values.max(axis=0) - values.min(axis=0)
        best = _first_least(gaps, row)
        value = float(values[:, best].max() + values[:, best].min()) / 2.0
    else:
        mean = (values[0] + totals) / 2.0
        best = _nearest_first(np.abs(values[0] - totals), mean, row)
        value = float(mean[best])
    miss_rate, nontarget, spoof = values[:, best].tolist()
    return TEer(
        value, miss_rate, nontarget, spoof, float(cuts[row[best]]), float(front.thresholds[cm[best]]), prevalence
    )


class _Tandem(NamedTuple):
    """Rates of the countermeasure at its thresholds, and of the verification system at its own."""

    cm_miss: Floats
    cm_alarm: Floats
    miss: Floats
    nontarget: Floats
    spoof: Floats

    def at(self, cm: NDArray[np.intp], row: NDArray[np.intp]) -> Floats:
        """Tandem rates (miss, nontarget, spoof) of pairs of thresholds."""
        blocked = self.cm_miss[cm]
        return np.stack(
            (
                blocked + (1.0 - blocked) * self.miss[row],
                (1.0 - blocked) * self.nontarget[row],
                self.cm_alarm[cm] * self.spoof[row],
            )
        )


def _path(rates: _Tandem, share: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each verification threshold the countermeasure thresholds just below and at the crossing, by bisection.

    miss - false alarms never falls as the countermeasure's threshold rises.
    """
    rows = np.arange(len(rates.miss))
    low, high = np.zeros(len(rows), np.intp), np.full(len(rows), len(rates.cm_miss) - 1)
    while (low < high).any():
        middle = (low + high) // 2
        miss, nontarget, spoof = rates.at(middle, rows)
        above = miss >= (1.0 - share) * nontarget + share * spoof - _ROUNDING
        low, high = np.where(above, low, np.minimum(middle + 1, high)), np.where(above, middle, high)
    return np.concatenate((np.maximum(high - 1, 0), high)), np.concatenate((rows, rows))


def _nearest_first(gaps: Floats, means: Floats, row: NDArray[np.intp]) -> int:
    """Of each verification threshold's two pairs the nearer to equality; of these the lowest mean."""
    half = len(row) // 2
    nearer = np.where(gaps[:half] <= gaps[half:] + _ROUNDING, np.arange(half), np.arange(half) + half)
    return int(nearer[_first_least(means[nearer], nearer)])


def _first_least(values: Floats, row: NDArray[np.intp]) -> int:
    """The place of the least value; of values equal but for rounding, that of the lowest threshold."""
    least = np.flatnonzero(values <= values.min() + _ROUNDING)
    return int(least[row[least].argmin()])
