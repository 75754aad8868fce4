"""Interval ends from the numbers of many resamples: percentile, BCa and Student's."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from tercet._typing import Floats
from tercet.uncertainty._kernel.draws import Design
from tercet.uncertainty._kernel.engine import Settings, System
from tercet.uncertainty._kernel.guards import Guard
from tercet.uncertainty._kernel.student import evaluated, student_ends

_ROUNDING = 1e-12  # sums in another order differ by less, of the number itself


class Bound(NamedTuple):
    """A number with its interval, the method that really made it, its standard error and bias in the resamples.

    The bias is the resamples' mean minus the number: a minimum over thresholds has one, because it is taken anew in
    each resample. Numbers along a curve are arrays.
    """

    value: Any
    low: Any
    high: Any
    method: str
    standard_error: Any
    bias: Any


class Reading(NamedTuple):
    """How the resamples of one number are read: BCa's acceleration, Student's scale and shrinkage, a guard, limits."""

    push: Any = 0.0
    scale: str = ""
    shrink: Any = 1.0
    span: float = 1.0  # what the number is a share of, on the scale of odds
    guard: Guard | None = None
    least: Any = -math.inf  # what the number can be at all
    most: Any = math.inf

    def inside(self, low: Any, high: Any, value: Any) -> tuple[Any, Any]:
        """Both ends, no further out than the number can be; they always hold the number itself."""
        return np.maximum(low, np.fmin(self.least, value)), np.minimum(high, np.fmax(self.most, value))


_PLAIN = Reading()


def bound(value: Any, samples: Floats, settings: Settings, tail: float, reading: Reading = _PLAIN) -> Bound:
    """The interval of one number (or of each number along a curve) from its values in the resamples."""
    if np.isnan(samples).any():
        return _where_defined(value, samples, settings, tail, reading)
    samples = np.sort(samples, axis=0)
    low, high, method = _ends(value, samples, settings.method, tail, reading)
    with np.errstate(invalid="ignore", over="ignore"):
        spread, bias = samples.std(axis=0, ddof=1), samples.mean(axis=0) - value
    if reading.guard is not None:
        low, high, method = reading.guard.applied(low, high, method)
    low, high = reading.inside(low, high, value)
    if np.ndim(value) == 0:
        if all(math.isclose(*ends, rel_tol=_ROUNDING) for ends in ((samples[0], samples[-1]), (low, high))):
            low, high = reading.inside(-math.inf, math.inf, value)
            method = "all resamples are equal and tell no interval: the whole range of the number"
        return Bound(float(value), float(low), float(high), method, float(spread), float(bias))
    return Bound(value, low, high, method, spread, bias)


def _ends(value: Any, ordered: Floats, method: str, tail: float, reading: Reading) -> tuple[Any, Any, str]:
    """Both ends and the method that made them: what has no scale, no spread or no end is read by BCa."""
    tails, called = (tail, 1.0 - tail), "percentile"
    if method != "percentile":
        tails, called = bca_tails(value, ordered, reading.push, tail), "bca"
    low, high = order_statistic(ordered, tails[0], down=True), order_statistic(ordered, tails[1], down=False)
    if method == "student" and reading.scale and np.isfinite(ordered).all():
        span = reading.span
        ends = [span * end for end in student_ends(value / span, ordered / span, tail, reading.scale, reading.shrink)]
        called = method if np.isfinite(ends[0]).any() else called
        low, high = (np.where(np.isnan(own), other, own) for own, other in zip(ends, (low, high), strict=True))
    return low, high, called


def _where_defined(value: Any, samples: Floats, settings: Settings, tail: float, reading: Reading) -> Bound:
    """Numbers that some resamples leave undefined (nan): from the others, if they are more than half; else nan."""
    columns = samples.reshape(len(samples), -1).T
    count = (len(columns),)
    values = np.atleast_1d(value)
    pushes, shrinks = np.broadcast_to(reading.push, count), np.broadcast_to(reading.shrink, count)
    nothing = Bound(math.nan, math.nan, math.nan, "", math.nan, math.nan)
    rows = []
    for one, column, push, shrink in zip(values.tolist(), columns, pushes, shrinks, strict=True):
        there = column[~np.isnan(column)]
        known = 2 * len(there) > len(column) and not math.isnan(one)
        own = Reading(push, reading.scale, shrink, reading.span)
        rows.append(bound(one, there, settings, tail, own) if known else nothing._replace(value=one))
    value, low, high, _, spread, bias = (np.array(part) for part in zip(*rows, strict=True))
    method = f"{settings.method} over the resamples in which it exists"
    if reading.guard is not None:
        undefined = np.isnan(low)
        low, high, method = reading.guard.applied(low, high, method)
        low, high = (np.where(undefined, math.nan, end) for end in (low, high))
    low, high = reading.inside(low, high, value)
    if samples.ndim == 1:
        return Bound(float(value[0]), float(low[0]), float(high[0]), method, float(spread[0]), float(bias[0]))
    return Bound(value, low, high, method, spread, bias)


def tail_of(design: Design, level: float) -> float:
    """How many resamples lie beyond each end: (1 - level) / 2, fewer where few groups are resampled.

    Resamples of n things spread too little by sqrt((n - 1) / n), and a spread known from n things only asks for
    Student's t: Phi(-sqrt(n / (n - 1)) t) (Hesterberg's expanded percentiles).

    >>> from tercet.uncertainty._kernel.draws import Design
    >>> tail_of(Design((50, 50), (None, None)), 0.95) == (1.0 - 0.95) / 2.0
    True
    """
    tail = (1.0 - level) / 2.0
    if not design.groups:
        return tail
    from scipy.special import ndtr, stdtrit

    count = min(design.units())
    return float(ndtr(math.sqrt(count / (count - 1.0)) * stdtrit(count - 1, tail)))


def p_of(share: float, design: Design) -> float:
    """The p-value of a share of resamples on one side: twice it, and by the same Student's t more where groups are few.

    >>> from tercet.uncertainty._kernel.draws import Design
    >>> p_of(0.02, Design((50, 50), (None, None)))
    0.04
    """
    if not design.groups:
        return min(1.0, 2.0 * share)
    from scipy.special import ndtri, stdtr

    count = min(design.units())
    return min(1.0, 2.0 * float(stdtr(count - 1, ndtri(min(share, 0.5)) / math.sqrt(count / (count - 1.0)))))


def order_statistic(ordered: Floats, share: Any, *, down: bool) -> Any:
    """The value with this share of the resamples below it, the next one outwards where it falls between two.

    >>> float(order_statistic(np.arange(1.0, 40.0), 0.025, down=True))
    1.0
    """
    place = np.asarray(share) * (len(ordered) + 1)
    place = np.floor(place + 1e-9) if down else np.ceil(place - 1e-9)
    place = np.clip(place, 1, len(ordered)).astype(np.intp) - 1
    if ordered.ndim == 1:
        return ordered[place]
    return np.take_along_axis(ordered, np.broadcast_to(place, ordered.shape[1:])[None], axis=0)[0]


def bca_tails(value: Any, ordered: Floats, push: Any, tail: float) -> tuple[Any, Any]:
    """Which percentiles to take: corrected for bias (z0) and for a spread that grows with the number (a).

    Phi(z0 + (z0 + z) / (1 - a (z0 + z))), z0 the quantile of the share of resamples below the number.
    """
    from scipy.special import ndtr, ndtri

    count = len(ordered)
    below = ((ordered < value).sum(axis=0) + (ordered == value).sum(axis=0) / 2.0) / count
    z0 = ndtri(np.clip(below, 1.0 / (count + 1), count / (count + 1.0)))
    ends = []
    for z in (ndtri(tail), -ndtri(tail)):
        ends.append(ndtr(z0 + (z0 + z) / np.maximum(1.0 - push * (z0 + z), 1e-3)))
    return ends[0], ends[1]


def accelerations(design: Design, system: System, settings: Settings) -> dict[str, Floats]:
    """a = sum u^3 / (6 (sum u^2)^1.5), u how much a number falls when one part of the sample is left out."""
    squares: dict[str, Any] = {}
    cubes: dict[str, Any] = {}
    for parts in design.left_out(settings.seed):
        kept = [row for row in (evaluated(system, weights) for weights in parts) if row is not None]
        if len(kept) < 2:
            continue
        for name, values in system.named(np.array(kept)).items():
            with np.errstate(invalid="ignore", over="ignore"):
                u = (values.mean(axis=0) - values) * ((len(kept) - 1) / len(kept))
                u = np.where(np.isfinite(u), u, 0.0)
                squares[name] = squares.get(name, 0.0) + (u**2).sum(axis=0)
                cubes[name] = cubes.get(name, 0.0) + (u**3).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        return {
            name: np.nan_to_num(cubes[name] / (6.0 * squares[name] ** 1.5), nan=0.0, posinf=0.0, neginf=0.0)
            for name in squares
        }
