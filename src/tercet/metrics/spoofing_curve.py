"""Costs and error rates of three classes along a threshold, which `tercet.spoofing` makes for figures."""

from __future__ import annotations

from dataclasses import dataclass

from tercet._numeric.records import Record
from tercet._typing import Floats
from tercet.metrics.binomial import Interval


@dataclass(frozen=True, slots=True, eq=False)
class SpoofingCurve(Record):
    """The normalised a-DCF or t-DCF at every threshold of a score, with its minimum and the threshold in use.

    Attributes
    ----------
    measure : str
        "a-DCF" of one score, or "t-DCF" of a countermeasure.
    threshold : ndarray
        Thresholds of the score, ascending.
    cost : ndarray
        The normalised cost at each.
    minimum, min_threshold : float
        The least cost, and where it is reached.
    actual, actual_threshold : float or None
        The cost at the threshold in use, where there is one.
    minimum_interval, actual_interval : Interval or None
        Their intervals, where there are any.
    floor : float
        The t-DCF of a perfect countermeasure: c0 over the normaliser, 0 in the form of 2019; 0 for the a-DCF.
    name : str or None
        The system's name.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.spoofing.of_key([3.0, 1.0, 2.0], ["target", "nontarget", "spoof"])
    >>> curve = tc.spoofing.a_dcf_curve(trials, tc.spoofing.a_dcf(trials, (0.5, 0.25, 0.25, 1, 1, 1)))
    >>> curve.measure, curve.cost.tolist()    # above 1 are the spoof and the target, above 2 the target alone
    ('a-DCF', [0.5, 0.0, 1.0])
    """

    measure: str
    threshold: Floats
    cost: Floats
    minimum: float
    min_threshold: float
    actual: float | None
    actual_threshold: float | None
    minimum_interval: Interval | None
    actual_interval: Interval | None
    floor: float = 0.0
    name: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class TandemEerCurve(Record):
    """Tandem equal error rates along the verification threshold, one line per share of spoofs.

    Attributes
    ----------
    threshold : ndarray of shape (n,)
        Thresholds of the verification system, ascending.
    prevalence : ndarray of shape (k,)
        Shares of spoofs among impostors: 0, 1/2 and 1, or the one that was asked for.
    rate : ndarray of shape (k, n)
        The equal error rate that the countermeasure's threshold reaches at each. Where the lines of all shares meet is
        the concurrent t-EER.
    value, asv_threshold : float
        The t-EER, and the verification threshold where it is reached.
    interval : Interval or None
        Its interval, where there is one.
    concurrent : bool
        Whether it is the concurrent t-EER; else the lowest at the given prevalence.
    name : str or None
        The verification system's name.

    Examples
    --------
    >>> import tercet as tc
    >>> asv = tc.spoofing.of_key([3.0, 2.0, 1.0, 0.0, 3.0], ["target", "target", "nontarget", "nontarget", "spoof"])
    >>> front = tc.Trials.of_scores([3.0, 2.0, 1.0], [1, 1, 0])
    >>> curve = tc.spoofing.t_eer_curve(asv, front, tc.spoofing.t_eer(asv, front))
    >>> curve.threshold.tolist(), curve.rate[0].tolist()    # no spoofs; above 0: misses 1/2, alarms 1/4
    ([0.0, 1.0, 2.0, 3.0], [0.375, 0.0, 0.25, 0.5])
    """

    threshold: Floats
    prevalence: Floats
    rate: Floats
    value: float
    asv_threshold: float
    interval: Interval | None
    concurrent: bool
    name: str | None = None
