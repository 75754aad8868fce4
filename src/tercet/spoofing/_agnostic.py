"""a-DCF: the cost of one score that must separate targets from nontargets and from spoofs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.records import PlainRecord, ReadOnly
from tercet._numeric.validation import frozen, instance
from tercet._typing import JSON
from tercet.errors import UndefinedError
from tercet.metrics.binomial import Interval
from tercet.metrics.curves import Curve, Minimum
from tercet.metrics.spoofing_curve import SpoofingCurve
from tercet.metrics.tally import Tally
from tercet.spoofing._classes import (
    SpoofingPoint,
    attack_rows,
    finite_thresholds,
    normalised_cost,
    rates_of_three,
    three_classes,
    threshold_in_use,
)
from tercet.trials import Trials
from tercet.uncertainty.simultaneous import Least, percentile_intervals

_NO_THRESHOLD = (
    "The actual a-DCF needs the threshold in use, or scores that are llrs of the target against the mixture of "
    'nontargets and spoofs (threshold="bayes").'
)


@dataclass(frozen=True, slots=True)
class ADcf(PlainRecord):
    """The architecture-agnostic detection cost of one score.

    Attributes
    ----------
    point : SpoofingPoint
        Priors and costs.
    trials : mapping of str to int
        How many targets, nontargets and spoofs.
    minimum : float
        The least normalised cost over all thresholds.
    min_threshold : float
        Where it is reached, the lowest on ties.
    actual : float or None
        The normalised cost at the threshold in use.
    threshold : float or None
        That threshold.
    miss, nontarget, spoof : float or None
        Targets rejected, nontargets and spoofs accepted at that threshold.
    minimum_interval, actual_interval : Interval or None
        By resampling, where a level was given.
    reason : str or None
        Why the actual cost is None.

    Examples
    --------
    >>> import tercet as tc
    >>> key = ["target", "target", "target", "nontarget", "spoof", "spoof"]
    >>> trials = tc.spoofing.of_key([4.0, 3.0, 1.0, 0.0, 2.0, -1.0], key)
    >>> round(tc.spoofing.a_dcf(trials, (0.9, 0.05, 0.05, 1, 10, 20)).minimum, 4)    # one target of three is missed
    0.3333
    """

    point: SpoofingPoint
    trials: Mapping[str, int]
    minimum: float
    min_threshold: float
    actual: float | None
    threshold: float | None
    miss: float | None
    nontarget: float | None
    spoof: float | None
    minimum_interval: Interval | None = None
    actual_interval: Interval | None = None
    reason: str | None = None


def a_dcf(
    trials: Trials,
    point: object = "asvspoof5",
    *,
    threshold: float | Literal["bayes"] | None = None,
    key: str = "class",
    ci: float | None = None,
    by: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> ADcf:
    """Architecture-agnostic detection cost (a-DCF), minimum and actual.

    (prior_target C_miss P_miss + prior_nontarget C_nontarget P_fa,nontarget + prior_spoof C_spoof P_fa,spoof) / the
    cost of the better of accepting and rejecting everything.

    Parameters
    ----------
    trials : Trials
        Two-class trials whose group `key` tells target, nontarget and spoof apart, as `of_key` makes them.
    point : SpoofingPoint, str or sequence, optional
        Priors and costs; "asvspoof5" by default.
    threshold : float or "bayes", optional
        The threshold in use; "bayes" if the scores are llrs of the target against the mixture of nontargets and spoofs
        at this point. Without it there is no actual cost.
    key : str, optional
        Name of the group column with the classes.
    ci : float, optional
        Level of intervals by resampling; none without it.
    by : str, optional
        Name of the group column that is resampled as a whole.
    resamples : int, optional
        How many resamples.
    seed : int, optional
        Seed of the resampling.

    Returns
    -------
    ADcf
        Minimum and actual cost, thresholds and error rates, with intervals where asked for.

    Raises
    ------
    UndefinedError
        If a class is missing from the key.

    Examples
    --------
    >>> from tercet.spoofing import of_key
    >>> trials = of_key([4., 3., 1., 0., 2., -1.], ["target", "target", "target", "nontarget", "spoof", "spoof"])
    >>> found = a_dcf(trials, (0.9, 0.05, 0.05, 1, 10, 20), threshold=0.5)
    >>> round(found.actual, 4), round(found.minimum, 4)    # (0.05 x 20 x 1/2) / 0.9 and (0.9 x 1/3) / 0.9
    (0.5556, 0.3333)
    """
    at = SpoofingPoint.of(point)
    sides = three_classes(trials, key)
    least = _minimum(trials, sides, at)
    cut = threshold_in_use(trials, threshold, lambda: at.threshold)
    miss = nontarget = spoof = actual = None
    if cut is not None:
        miss, nontarget, spoof = rates_of_three(trials, sides, cut)
        actual = at.cost(miss, nontarget, spoof)
    draws: JSON = {"ci": ci, "by": by, "resamples": resamples, "seed": seed}
    low, used = (None, None) if ci is None else _intervals(trials, at, cut, least.threshold, key, draws)
    counts = ReadOnly({name: int(rows.sum()) for name, rows in sides.items()})
    return ADcf(
        at, counts, least.dcf, least.threshold, actual, cut, miss, nontarget, spoof, low, used,
        _NO_THRESHOLD if cut is None else None,
    )  # fmt: skip


def a_dcf_by_attack(
    trials: Trials,
    point: object = "asvspoof5",
    *,
    threshold: float | Literal["bayes"] | None = None,
    key: str = "class",
    attack: str = "attack",
    ci: float | None = None,
    by: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Mapping[str, ADcf]:
    """a-DCF with the spoofs of one attack at a time, all targets and nontargets staying.

    Parameters
    ----------
    trials : Trials
        As for `a_dcf`, with a group column that names each spoof's attack.
    point : SpoofingPoint, str or sequence, optional
        Priors and costs.
    threshold : float or "bayes", optional
        The threshold in use, the same for every attack.
    key : str, optional
        Name of the group column with the classes.
    attack : str, optional
        Name of the group column with the attacks.
    ci : float, optional
        Level of intervals of each attack by resampling, as for `a_dcf`; they do not hold for all attacks together.
    by : str, optional
        Name of the group column that is resampled as a whole.
    resamples, seed : int, optional
        Number of resamples, and the seed of the draws.

    Returns
    -------
    mapping of str to ADcf
        By the name of the attack.

    Examples
    --------
    >>> from tercet.spoofing import of_key
    >>> kinds = ["", "", "", "tts", "vc"]
    >>> trials = of_key([3., 2., 0., 1., 4.], ["target", "target", "nontarget", "spoof", "spoof"], attacks=kinds)
    >>> {name: round(one.minimum, 3) for name, one in a_dcf_by_attack(trials).items()}
    {'tts': 0.0, 'vc': 1.0}
    """
    rows = attack_rows(trials, three_classes(trials, key)["spoof"], attack)
    draws: JSON = {"ci": ci, "by": by, "resamples": resamples, "seed": seed}
    return ReadOnly({
        name: a_dcf(trials.select(kept), point, threshold=threshold, key=key, **draws) for name, kept in rows.items()
    })  # fmt: skip


def a_dcf_curve(trials: Trials, found: ADcf, *, key: str = "class") -> SpoofingCurve:
    """The normalised a-DCF at every threshold of a score, for `tercet.plot(curve, "a-dcf")`.

    Parameters
    ----------
    trials : Trials
        The trials that `found` was computed of.
    found : ADcf
        What `a_dcf` gave: its point prices the error rates, its minimum and actual cost are marked.
    key : str, optional
        Name of the group column with the classes.

    Returns
    -------
    SpoofingCurve
        Thresholds and costs.

    Examples
    --------
    >>> from tercet.spoofing import of_key
    >>> trials = of_key([3., 1., 2.], ["target", "nontarget", "spoof"])
    >>> curve = a_dcf_curve(trials, a_dcf(trials, (0.5, 0.25, 0.25, 1, 1, 1)))
    >>> curve.threshold.tolist(), curve.cost.tolist()    # above 1 is the spoof, above 2 the target alone
    ([1.0, 2.0, 3.0], [0.5, 0.0, 1.0])
    """
    given, sides = instance(found, ADcf, "found", "See a_dcf."), three_classes(trials, key)
    every = Curve.of(trials).thresholds
    cuts = every[finite_thresholds(every)]
    tallies = [Tally.of(trials.select(sides["target"] | sides[other])) for other in ("nontarget", "spoof")]
    miss = tallies[0].at(cuts)[0] / tallies[0].targets.total
    alarms = [tally.at(cuts)[1] / tally.nontargets.total for tally in tallies]
    cost = np.asarray(normalised_cost(given.point, miss, *alarms), np.float64)
    return SpoofingCurve(
        "a-DCF", frozen(cuts), frozen(cost), given.minimum, given.min_threshold, given.actual, given.threshold,
        given.minimum_interval, given.actual_interval, name=trials.name,
    )  # fmt: skip


def _minimum(trials: Trials, sides: Mapping[str, NDArray[np.bool_]], point: SpoofingPoint) -> Minimum:
    """The two-class minimum with weights prior x cost / class size on the negatives."""
    own = np.ones(len(trials)) if trials.weights is None else trials.weights
    sizes = {name: Fraction(math.fsum(own[rows])) for name, rows in sides.items()}
    heavy = Fraction(point.prior_nontarget) * Fraction(point.cost_nontarget) * sizes["spoof"]
    other = Fraction(point.prior_spoof) * Fraction(point.cost_spoof) * sizes["nontarget"]
    first, second = _small(heavy, other)
    weights = own * np.where(sides["nontarget"], first, np.where(sides["spoof"], second, 1.0))
    return Curve.of(replace(trials, weights=frozen(weights))).min_dcf(point.application)


def _small(first: Fraction, second: Fraction) -> tuple[float, float]:
    """Two weights in the proportion of two fractions: whole numbers where they are small, else at most 1."""
    if second == 0 or first == 0:
        raise UndefinedError("A class has no weight.")
    share = first / second
    if max(share.numerator, share.denominator) < 2**40:
        return float(share.numerator), float(share.denominator)
    return (1.0, float(1 / share)) if share > 1 else (float(share), 1.0)


def _intervals(
    trials: Trials, point: SpoofingPoint, threshold: float | None, best: float, key: str, draws: JSON
) -> tuple[Interval, Interval | None]:
    """Intervals of minimum and actual cost by resampling; `best` is the threshold of the minimum."""
    sides = three_classes(trials, key)

    def cost(drawn: Trials, own: Mapping[str, NDArray[np.bool_]], cut: float) -> float:
        return point.cost(*rates_of_three(drawn, own, cut))

    def statistics(sets: Sequence[Trials]) -> dict[str, float | Least]:
        (drawn,) = sets
        own = three_classes(drawn, key)
        least = _minimum(drawn, own, point)
        found = Least(float(least.dcf), cost(drawn, own, best), cost(trials, sides, least.threshold))
        return {"minimum": found} | ({} if threshold is None else {"actual": cost(drawn, own, threshold)})

    strata = sides["target"] + 2 * sides["spoof"].astype(np.intp)
    ends = percentile_intervals(statistics, [trials], [strata], **draws)
    return ends["minimum"], ends.get("actual")
