"""t-EER: where misses and false alarms of countermeasure and verification system in tandem are equal."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.records import PlainRecord
from tercet._numeric.validation import frozen, instance, number
from tercet._typing import Floats
from tercet.errors import InputError
from tercet.metrics.binomial import Interval
from tercet.metrics.curves import Curve
from tercet.metrics.spoofing_curve import TandemEerCurve
from tercet.metrics.tally import Tally
from tercet.spoofing._classes import finite_thresholds, three_classes
from tercet.trials import Trials, as_trials
from tercet.uncertainty.simultaneous import percentile_intervals

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
    """Tandem equal error rate of a countermeasure followed by a verification system.

    A trial is accepted if both systems accept it; the two are assumed to be independent within each class. With P for
    the rates of the countermeasure and p for those of the verification system: miss = P_miss + (1 - P_miss) p_miss,
    nontarget = (1 - P_miss) p_fa, spoof = P_fa p_fa,spoof. For each verification threshold the two countermeasure
    thresholds around miss = (1 - prevalence) nontarget + prevalence spoof are considered. At a given prevalence, the
    t-EER is the lowest equal error rate along this path. Without one it is the concurrent t-EER: on the path at
    prevalence 1/2, the pair of thresholds whose three rates lie closest together.

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
        Number of resamples, and the seed of the draws.

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


def t_eer_curve(asv: Trials, countermeasure: Trials, found: TEer, *, key: str = "class") -> TandemEerCurve:
    """The tandem equal error rate along the verification threshold, for `tercet.plot(curve, "t-eer")`.

    Parameters
    ----------
    asv : Trials
        The verification scores that `found` was computed of.
    countermeasure : Trials
        The countermeasure scores that it was computed of.
    found : TEer
        What `t_eer` gave; it is marked. The concurrent t-EER has lines for shares of spoofs of 0, 1/2 and 1, which meet
        there; one at a given prevalence has the line of that prevalence.
    key : str, optional
        Name of the group column with the classes of `asv`.

    Returns
    -------
    TandemEerCurve
        Thresholds and rates.

    Examples
    --------
    >>> from tercet.spoofing import of_key
    >>> asv = of_key([3., 2., 1., 0., 3.], ["target", "target", "nontarget", "nontarget", "spoof"])
    >>> front = Trials.of_scores([3., 2., 1.], [1, 1, 0])
    >>> t_eer_curve(asv, front, t_eer(asv, front, prevalence=0.0)).rate.tolist()    # accepting above 0, 1, 2 and 3
    [[0.375, 0.0, 0.25, 0.5]]
    """
    given = instance(found, TEer, "found", "See t_eer.")
    rates = _Tandem.of(as_trials(asv, "asv"), as_trials(countermeasure, "countermeasure"), key)
    finite = finite_thresholds(rates.threshold)
    shares = np.array([0.0, 0.5, 1.0] if given.prevalence is None else [given.prevalence])
    lines = np.stack([_equal_rates(rates, share)[finite] for share in shares.tolist()])
    return TandemEerCurve(
        frozen(rates.threshold[finite]), frozen(shares), frozen(lines), given.value, given.asv_threshold,
        given.interval, given.prevalence is None, asv.name,
    )  # fmt: skip


def _found(asv: Trials, countermeasure: Trials, share: float, prevalence: float | None, key: str) -> TEer:
    """The tandem equal error rate of these trials."""
    rates = _Tandem.of(asv, countermeasure, key)
    cm, row = _path(rates, share)
    values = rates.at(cm, row)
    if prevalence is None:
        best = _first_least(values.max(axis=0) - values.min(axis=0), row)
        value = float(values[:, best].max() + values[:, best].min()) / 2.0
    else:
        nearer, mean = _nearer(values, share)
        best = int(nearer[_first_least(mean[nearer], nearer)])
        value = float(mean[best])
    miss, nontarget, spoof = values[:, best].tolist()
    cuts = float(rates.threshold[row[best]]), float(rates.cm_threshold[cm[best]])
    return TEer(value, miss, nontarget, spoof, *cuts, prevalence)


class _Tandem(NamedTuple):
    """Rates of the countermeasure at its thresholds, and of the verification system at its own."""

    cm_threshold: Floats
    cm_miss: Floats
    cm_alarm: Floats
    threshold: Floats
    miss: Floats
    nontarget: Floats
    spoof: Floats

    @classmethod
    def of(cls, asv: Trials, countermeasure: Trials, key: str) -> _Tandem:
        """The rates of these trials."""
        sides, front = three_classes(asv, key), Curve.of(countermeasure)
        behind = [Tally.of(asv.select(sides["target"] | sides[other])) for other in ("nontarget", "spoof")]
        scores = np.unique(np.concatenate((behind[0].targets.scores, *(tally.nontargets.scores for tally in behind))))
        cuts = np.concatenate(([-math.inf], scores))  # first everything is accepted, scores of -inf too
        miss = np.concatenate(([0.0], behind[0].at(scores)[0] / behind[0].targets.total))
        alarms = [np.concatenate(([1.0], tally.at(scores)[1] / tally.nontargets.total)) for tally in behind]
        return cls(front.thresholds, front.fnr, front.fpr, cuts, miss, *alarms)

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


def _equal_rates(rates: _Tandem, share: float) -> Floats:
    """The equal error rate at each verification threshold."""
    nearer, mean = _nearer(rates.at(*_path(rates, share)), share)
    return mean[nearer]


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


def _nearer(values: Floats, share: float) -> tuple[NDArray[np.intp], Floats]:
    """The nearer to equality of each verification threshold's two pairs, and the mean of both rates of every pair."""
    totals = (1.0 - share) * values[1] + share * values[2]
    gaps, half = np.abs(values[0] - totals), len(totals) // 2
    nearer = np.where(gaps[:half] <= gaps[half:] + _ROUNDING, np.arange(half), np.arange(half) + half)
    return nearer, (values[0] + totals) / 2.0


def _first_least(values: Floats, row: NDArray[np.intp]) -> int:
    """The place of the least value; of values equal but for rounding, that of the lowest threshold."""
    least = np.flatnonzero(values <= values.min() + _ROUNDING)
    return int(least[row[least].argmin()])
