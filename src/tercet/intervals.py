"""Intervals for proportions, in closed form."""

from __future__ import annotations

import math
from typing import NamedTuple

from tercet.arrays import shown
from tercet.confusion import Confusion
from tercet.errors import InputError, UndefinedError


class Interval(NamedTuple):
    """Both ends, and the method that really made them."""

    low: float
    high: float
    method: str


def k_sigma(count: int, out_of: int, k: float = 2.0) -> Interval:
    """p +- k sqrt(p (1 - p) / n); with no errors or only errors Clopper-Pearson of the same level, and it says so.

    >>> k_sigma(50, 100, 1)
    Interval(low=0.45, high=0.55, method='k-sigma')
    """
    _check(count, out_of)
    if not 0.0 < k < math.inf:
        raise InputError(f"k must be positive, not {k}.")
    if count in (0, out_of):
        return clopper_pearson(count, out_of, math.erf(k / math.sqrt(2.0)))
    p = count / out_of
    half = k * math.sqrt(p * (1.0 - p) / out_of)
    return Interval(max(p - half, 0.0), min(p + half, 1.0), "k-sigma")


def wilson(count: int, out_of: int, level: float = 0.95, *, z: float | None = None) -> Interval:
    """Wilson's score interval: the p that lie within z standard errors of count / out_of.

    >>> [round(end, 7) for end in wilson(28, 51, z=1.96)[:2]]
    [0.4138447, 0.6773269]
    """
    _check(count, out_of)
    z = _quantile(level) if z is None else z
    if not 0.0 < z < math.inf:
        raise InputError(f"z must be positive, not {z}.")
    p, square = count / out_of, z * z / out_of
    centre, half = p + square / 2.0, z * math.sqrt(p * (1.0 - p) / out_of + square / (4.0 * out_of))
    low = 0.0 if count == 0 else (centre - half) / (1.0 + square)
    high = 1.0 if count == out_of else (centre + half) / (1.0 + square)
    return Interval(low, high, "wilson")


def clopper_pearson(count: int, out_of: int, level: float = 0.95) -> Interval:
    """The exact interval: covers at least its level for every p.

    >>> round(clopper_pearson(0, 300).high, 4)
    0.0122
    """
    from scipy.special import betaincinv

    _check(count, out_of)
    tail = (1.0 - _level(level)) / 2.0
    low = 0.0 if count == 0 else float(betaincinv(count, out_of - count + 1, tail))
    high = 1.0 if count == out_of else float(betaincinv(count + 1, out_of - count, 1.0 - tail))
    return Interval(low, high, "clopper-pearson")


def interval(confusion: Confusion, rate: str, method: str = "wilson", level: float = 0.95, k: float = 2.0) -> Interval:
    """The interval of a confusion table's rate, by any of the rate's names.

    >>> interval(Confusion([[2680, 23], [72, 28]]), "sensitivity", "clopper-pearson").method
    'clopper-pearson'
    """
    count, out_of = confusion.proportion(rate)
    if confusion.unit < 0:
        raise InputError(f"An interval for {rate} needs whole counts: fractional weights have no binomial law.")
    count, out_of = count << confusion.unit, out_of << confusion.unit
    if out_of == 0:
        raise UndefinedError(f"{rate} is undefined, and so is its interval: it is a proportion of nothing.")
    if method == "k-sigma":
        return k_sigma(count, out_of, k)
    if method == "wilson":
        return wilson(count, out_of, level)
    if method == "clopper-pearson":
        return clopper_pearson(count, out_of, level)
    raise InputError(f"An interval is k-sigma, wilson or clopper-pearson, not {shown(method)}.")


def enough_errors(count: int) -> bool:
    """The rule of 30: with 30 errors the true rate lies within 30 % of the measured one, at 90 % confidence.

    >>> enough_errors(29), enough_errors(30)
    (False, True)
    """
    return count >= 30


def _check(count: int, out_of: int) -> None:
    if out_of == 0:
        raise UndefinedError("A proportion of nothing has no interval.")
    if not (math.isfinite(count) and math.isfinite(out_of)):
        raise InputError(f"A proportion needs whole numbers, not {count} of {out_of}.")
    if count != int(count) or out_of != int(out_of) or not 0 <= count <= out_of:
        raise InputError(f"A proportion needs whole numbers with 0 <= count <= out_of, not {count} of {out_of}.")


def _level(level: float) -> float:
    if not 0.0 < level < 1.0:
        raise InputError(f"level must lie strictly between 0 and 1, not {level}.")
    return level


def _quantile(level: float) -> float:
    from scipy.special import ndtri

    return float(ndtri((1.0 + _level(level)) / 2.0))
