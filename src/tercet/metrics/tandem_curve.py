"""Detection costs of three classes along a threshold, which `tercet.spoofing` makes for figures."""

from __future__ import annotations

from dataclasses import dataclass

from tercet._numeric.records import Record
from tercet._typing import Floats
from tercet.metrics.binomial import Interval


@dataclass(frozen=True, slots=True, eq=False)
class TandemCurve(Record):
    """The normalised t-DCF at every threshold of a countermeasure, with its minimum and the threshold in use.

    Attributes
    ----------
    threshold : ndarray
        Thresholds of the countermeasure, ascending.
    cost : ndarray
        The normalised t-DCF at each.
    minimum, min_threshold : float
        The least cost, and where it is reached.
    actual, actual_threshold : float or None
        The cost at the threshold in use, where there is one.
    minimum_interval, actual_interval : Interval or None
        Their intervals, where there are any.
    floor : float
        The cost of a perfect countermeasure: c0 over the normaliser, 0 in the form of 2019.
    name : str or None
        The system's name.

    Examples
    --------
    >>> import tercet as tc
    >>> countermeasure = tc.Trials.of_scores([3.0, 1.0, 2.0, 0.0], [1, 1, 0, 0])
    >>> found = tc.spoofing.t_dcf(countermeasure, tc.spoofing.AsvRates(0.0, 0.0, 1.0), (0.5, 0.25, 0.25, 1, 1, 2))
    >>> tc.spoofing.t_dcf_curve(countermeasure, found).cost.tolist()    # accepting above 0, 1, 2 and 3
    [0.5, 1.0, 0.5, 1.0]
    """

    threshold: Floats
    cost: Floats
    minimum: float
    min_threshold: float
    actual: float | None
    actual_threshold: float | None
    minimum_interval: Interval | None
    actual_interval: Interval | None
    floor: float
    name: str | None = None


@dataclass(frozen=True, slots=True, eq=False)
class AgnosticCurve(Record):
    """The normalised a-DCF at every threshold of one score, with its minimum and the threshold in use.

    Attributes
    ----------
    threshold : ndarray
        Thresholds of the score, ascending.
    cost : ndarray
        The normalised a-DCF at each.
    minimum, min_threshold : float
        The least cost, and where it is reached.
    actual, actual_threshold : float or None
        The cost at the threshold in use, where there is one.
    minimum_interval, actual_interval : Interval or None
        Their intervals, where there are any.
    name : str or None
        The system's name.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.spoofing.of_key([3.0, 1.0, 2.0], ["target", "nontarget", "spoof"])
    >>> found = tc.spoofing.a_dcf(trials, (0.5, 0.25, 0.25, 1, 1, 1))
    >>> tc.spoofing.a_dcf_curve(trials, found).cost.tolist()    # above 1 is the spoof, above 2 the target alone
    [0.5, 0.0, 1.0]
    """

    threshold: Floats
    cost: Floats
    minimum: float
    min_threshold: float
    actual: float | None
    actual_threshold: float | None
    minimum_interval: Interval | None
    actual_interval: Interval | None
    name: str | None = None
