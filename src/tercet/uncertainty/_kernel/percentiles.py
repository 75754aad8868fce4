"""Interval ends from the numbers of many resamples: percentile and BCa (Efron 1987)."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tercet._typing import JSON, Counts, Floats, Reals
from tercet.errors import CalibrationError, UndefinedError
from tercet.uncertainty._kernel.drawn_runs import RunCounts
from tercet.uncertainty._kernel.draws import Design
from tercet.uncertainty._kernel.engine import Settings, System, named
from tercet.uncertainty.intervals import Bound


def bound(value: Reals, samples: Floats, settings: Settings, tail: float, push: Reals = 0.0) -> Bound:
    """The interval of one number (or of each number along a curve) from its values in the resamples."""
    if np.isnan(samples).any():
        return _where_defined(value, samples, settings, tail, push)
    samples = np.sort(samples, axis=0)
    shares: tuple[Reals, Reals] = (tail, 1.0 - tail)
    if settings.method == "bca":
        shares = bca_tails(value, samples, push, tail)
    low = np.minimum(order_statistic(samples, shares[0], down=True), value)
    high = np.maximum(order_statistic(samples, shares[1], down=False), value)
    with np.errstate(invalid="ignore", over="ignore"):
        spread, bias = samples.std(axis=0, ddof=1), samples.mean(axis=0) - value
    return _bound(samples.ndim == 1, _NAMES[settings.method], value, low, high, spread, bias)


def _bound(single: bool, method: str, *numbers: Reals) -> Bound:
    """The bound of one number, or of the numbers along a curve."""
    value, low, high, spread, bias = (float(one) if single else one for one in numbers)
    return Bound(value, low, high, method, spread, bias)


_NAMES = {"percentile": "percentile bootstrap", "bca": "BCa bootstrap"}


def _where_defined(value: Reals, samples: Floats, settings: Settings, tail: float, push: Reals) -> Bound:
    """Numbers that some resamples leave undefined (nan): from the others, if they are more than half; else nan."""
    columns = samples.reshape(len(samples), -1).T
    pushes = np.broadcast_to(push, (len(columns),))
    rows = []
    for one, column, own in zip(np.atleast_1d(value).tolist(), columns, pushes, strict=True):
        there = column[~np.isnan(column)]
        known = 2 * len(there) > len(column) and not math.isnan(one)
        rows.append(bound(one, there, settings, tail, own) if known else Bound(one, math.nan, math.nan, ""))
    method = f"{_NAMES[settings.method]} over the resamples in which it exists"
    values, low, high, _, spread, bias = (np.array(column) for column in zip(*rows, strict=True))
    parts = (values, low, high, spread, bias)
    return _bound(samples.ndim == 1, method, *(part[0] if samples.ndim == 1 else part for part in parts))


def tail_of(design: Design, level: float) -> float:
    """How many resamples lie beyond each end: (1 - level) / 2, fewer where few groups are resampled.

    Resamples of n units spread too little by sqrt((n - 1) / n), and a spread estimated from only n units requires
    Student's t: Phi(-sqrt(n / (n - 1)) t), the expanded percentiles of Hesterberg (2015).

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


def order_statistic(ordered: Floats, share: Reals, *, down: bool) -> Reals:
    """The value with this share of the resamples below it, the next one outwards where it falls between two.

    >>> float(order_statistic(np.arange(1.0, 40.0), 0.025, down=True))
    1.0
    """
    place = np.asarray(share) * (len(ordered) + 1)
    place = np.floor(place + 1e-9) if down else np.ceil(place - 1e-9)
    place = np.clip(place, 1, len(ordered)).astype(np.intp) - 1
    if ordered.ndim == 1:
        one: Floats = ordered[place]
        return one
    rows: Floats = np.take_along_axis(ordered, np.broadcast_to(place, ordered.shape[1:])[None], axis=0)
    first: Floats = rows[0]
    return first


def bca_tails(value: Reals, ordered: Floats, push: Reals, tail: float) -> tuple[Reals, Reals]:
    """Which percentiles to take: corrected for bias (z0) and for a spread that grows with the number (a).

    Phi(z0 + (z0 + z) / (1 - a (z0 + z))), z0 the quantile of the share of resamples below the number. Values that
    differ by rounding alone count as equal.
    """
    from scipy.special import ndtr, ndtri

    count = len(ordered)
    with np.errstate(invalid="ignore"):  # of two infinite numbers
        near = (ordered == value) | (np.abs(ordered - value) <= _ROUNDING * np.abs(value))
    below = (((ordered < value) & ~near).sum(axis=0) + near.sum(axis=0) / 2.0) / count
    z0 = ndtri(np.clip(below, 1.0 / (count + 1), count / (count + 1.0)))
    ends = []
    for z in (ndtri(tail), -ndtri(tail)):
        ends.append(ndtr(z0 + (z0 + z) / np.maximum(1.0 - push * (z0 + z), 1e-3)))
    return ends[0], ends[1]


_ROUNDING = 1e-12  # sums in another order differ by less, of the number itself


def accelerations(design: Design, system: System, settings: Settings) -> dict[str, Floats]:
    """a = sum u^3 / (6 (sum u^2)^1.5), u how much a number falls when one part of the sample is left out."""
    squares: JSON = {}
    cubes: JSON = {}
    for parts in design.left_out(settings.seed):
        kept = [row for row in (_evaluated(system, weights) for weights in parts) if row is not None]
        if len(kept) < 2:
            continue
        for name, values in named(system, kept).items():
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


def _evaluated(system: System, weights: Sequence[Counts | RunCounts]) -> dict[str, Reals] | None:
    """The numbers without one part; None where that leaves a class empty or cannot be calibrated."""
    try:
        return system.statistics(weights) if all(rows.any() for rows in weights) else None
    except (CalibrationError, UndefinedError):
        return None
