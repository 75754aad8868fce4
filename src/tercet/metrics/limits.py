"""Limits of a proportion, for numbers and arrays alike: Wilson's, and Clopper and Pearson's where errors are few."""

from __future__ import annotations

import numpy as np

from tercet._typing import Floats, Reals

FEW = 13
# Below so many errors limits are exact up to this level. An interval of 80, 90, 95 or 99 % then covers no more than 2
# points less than its level, whatever the size and the rate; 12, 42 and 149 errors are too few for that.
_EXACT = ((FEW, 1.0), (44, 0.9), (150, 0.8))
_NESTED = 0.95  # from this level on Wilson's interval contains the exact one of 90 %


def few_errors(level: float) -> int:
    """The number of errors (or of right decisions) below which limits of this level are Clopper and Pearson's.

    >>> few_errors(0.95), few_errors(0.9), few_errors(0.8)
    (13, 44, 150)
    """
    return max(below for below, upto in _EXACT if level <= upto)


def normal_quantile(level: float) -> float:
    """How many standard errors a two-sided normal interval of this level reaches."""
    from scipy.special import ndtri

    return -float(ndtri((1.0 - level) / 2.0))


def student_quantile(level: float, freedom: Reals) -> Floats:
    """The same by Student's t."""
    from scipy.special import stdtrit

    return np.where(np.isinf(freedom), normal_quantile(level), -stdtrit(freedom, (1.0 - level) / 2.0))


def wilson_limits(errors: Reals, size: Reals, z: float) -> tuple[Floats, Floats]:
    """Wilson's score limits of a proportion (1927) at z standard errors; effective counts may have a fraction."""
    p, square = errors / size, z * z / size
    centre, half = p + square / 2.0, np.sqrt(square) * np.sqrt(p * (1.0 - p) + square / 4.0)
    low, high = (centre - half) / (1.0 + square), (centre + half) / (1.0 + square)
    return np.where(errors <= 0.0, 0.0, low), np.where(errors >= size, 1.0, high)


def beta_limits(errors: Reals, size: Reals, tail: float) -> tuple[Floats, Floats]:
    """Clopper and Pearson's limits of a proportion (1934), by quantiles of the beta distribution.

    The p at which this many or more, or this many or fewer, have the probability of one tail.
    """
    from scipy.special import betainccinv, betaincinv

    right = size - errors
    low = betaincinv(np.where(errors > 0.0, errors, 1.0), right + 1.0, tail)
    high = betainccinv(errors + 1.0, np.where(right > 0.0, right, 1.0), tail)
    return np.where(errors <= 0.0, 0.0, low), np.where(right <= 0.0, 1.0, high)


def proportion_limits(errors: Reals, size: Reals, level: float) -> tuple[Floats, Floats]:
    """Clopper-Pearson below 13 errors (or 13 right decisions), Wilson from there on; up to 90 % below 44, to 80 % 150.

    Up to a level of 99 % the upper limit never falls when an error is added. Between these levels Wilson's interval
    includes the exact one of the lower level, so that a higher level never has a shorter interval.

    >>> low, high = proportion_limits(np.array([0.0, 50.0]), np.array([300.0, 100.0]), 0.95)
    >>> high.round(4).tolist()
    [0.0122, 0.5962]
    """
    errors, size = np.broadcast_arrays(np.asarray(errors, np.float64), np.asarray(size, np.float64))
    low, high = wilson_limits(errors, size, normal_quantile(level))
    rarer, least = np.minimum(errors, size - errors), 0
    for below, upto in _EXACT:
        some = (rarer >= least) & (rarer < below) if level <= upto or level < _NESTED else np.False_
        least = below
        if some.any():
            ends = beta_limits(errors[some], size[some], (1.0 - min(level, upto)) / 2.0)
            if level > upto:
                ends = np.minimum(low[some], ends[0]), np.maximum(high[some], ends[1])
            low[some], high[some] = ends
    return low, high
