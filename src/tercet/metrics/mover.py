"""MOVER: the interval of a weighted sum of rates, made of the intervals of the rates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from tercet._typing import Array, Floats, Reals
from tercet.metrics.binomial import Interval, rate_interval


class Share(NamedTuple):
    """One term of a weighted sum of rates: coefficient x counted / out_of."""

    coefficient: float
    counted: int
    out_of: int


def mover(samples: Sequence[Sequence[Share]], level: float = 0.95) -> Interval:
    """The interval of a weighted sum of rates, by the method of variance estimates recovery.

    The distance from the estimate to each end of a rate's interval stands for its standard error on that side;
    the distances of all terms are added in squares, with the correlation of shares that exclude each other.

    Parameters
    ----------
    samples : sequence of sequences of Share
        One inner sequence per independent sample. The shares of one sample exclude each other (true positives and
        false positives among all trials) and are out of the same number.
    level : float, default 0.95
        Level of the two-sided interval.

    Returns
    -------
    Interval
        Low and high end, method "mover".

    References
    ----------
    Zou and Donner (2008), Construction of confidence limits about effect measures: a general approach,
    doi:10.1002/sim.3095. Newcombe (1998), doi:10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I.

    Examples
    --------
    The difference of 56 of 70 and 48 of 80, Newcombe's method 10 (his example a):

    >>> found = mover([[Share(1.0, 56, 70)], [Share(-1.0, 48, 80)]])
    >>> round(found.low, 4), round(found.high, 4)
    (0.0524, 0.3339)
    """
    value = math.fsum(share.coefficient * (share.counted / share.out_of) for part in samples for share in part)
    down, up = [], []
    for part in samples:
        spans = [_spans(share, level) for share in part]
        signs, table = [math.copysign(1.0, share.coefficient) for share in part], _correlation(part)
        down.append(float(recovered([low for low, _ in spans], signs, table)))
        up.append(float(recovered([high for _, high in spans], signs, table)))
    return Interval(value - math.hypot(*down), value + math.hypot(*up), "mover")


def recovered(
    distances: Sequence[Reals], signs: Sequence[Reals], correlations: Sequence[Sequence[Reals]] | Array | None = None
) -> Floats:
    """MOVER's distance from a sum to its limit: sqrt(d' R d), d the distances of its terms, R their correlations.

    The one place where variances are recovered, for numbers and arrays alike.
    """
    total: Reals = sum(distance * distance for distance in distances)
    if correlations is not None:
        for i in range(len(distances)):
            for j in range(i):
                share = signs[i] * signs[j] * correlations[i][j]
                total = total + 2.0 * share * distances[i] * distances[j]
    return np.sqrt(np.maximum(total, 0.0))


def _spans(share: Share, level: float) -> tuple[float, float]:
    """The distances from the term to its lower and upper limit."""
    rate, found = share.counted / share.out_of, rate_interval(share.counted, share.out_of, level)
    ends = [share.coefficient * (rate - found.low), share.coefficient * (found.high - rate)]
    return (ends[0], ends[1]) if share.coefficient >= 0.0 else (-ends[1], -ends[0])


def _correlation(part: Sequence[Share]) -> Floats:
    """Correlation of shares that exclude each other: -sqrt(p q / ((1 - p)(1 - q)))."""
    rates = np.array([share.counted / share.out_of for share in part])
    with np.errstate(divide="ignore"):
        odds = np.sqrt(rates / (1.0 - rates))
    odds = np.where(np.isfinite(odds), odds, 0.0)  # a share of everything has no variance
    found = -np.outer(odds, odds)
    np.fill_diagonal(found, 1.0)
    return found
