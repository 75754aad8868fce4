"""Differences of two systems: interval and p-value from one law, with room for what resamples cannot show.

A system without errors of a kind has no spread of its own, and two systems that no trial told apart have none between
them. There the ends move outwards by what Clopper-Pearson leaves behind none of n; the p-value is one minus the largest
level whose interval leaves out 0, so that both always say the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from tercet._typing import Floats
from tercet.application import normalised_dcf
from tercet.metrics.binomial import clopper_pearson
from tercet.uncertainty._kernel.draws import Design
from tercet.uncertainty._kernel.ends import order_statistic, p_of, tail_of
from tercet.uncertainty._kernel.engine import System
from tercet.uncertainty._kernel.guards import Guard
from tercet.uncertainty._kernel.two import TwoClass
from tercet.uncertainty.bootstrap import guards_of, limits_of

_LEAST_P = 1e-12  # levels nearer to 1 are rounded away in exact bounds
_ROUNDING = 1e-12  # spread below this share of the numbers themselves is that of sums in another order
_COSTS = ("fnr", "fpr", "dcf", "dcf_u", "calibration_loss")


class Known(NamedTuple):
    """What the resamples and exact bounds tell of one difference."""

    value: float
    low: float
    high: float
    p_value: float
    method: str


class Moves(NamedTuple):
    """How far the two ends of a difference move outwards at a level."""

    down: float
    up: float


@dataclass(frozen=True, eq=False)
class Measured:
    """One system of a comparison: its design, its numbers and those of its resamples by name."""

    design: Design
    system: System
    points: Mapping[str, Floats]
    columns: Mapping[str, Floats]
    _guards: dict[float, dict[str, Guard]] = field(default_factory=dict)  # by level: looked up many times

    def value(self, name: str) -> float:
        """A number of the sample."""
        return float(self.points[name][0])

    def moves(self, name: str, level: float) -> Moves:
        """How far the number itself may lie from the sample's though no resample shows it."""
        if level not in self._guards:
            design = self.design
            self._guards[level] = guards_of(self.system, self.points, design.base(), design.units(), level)
        guard = self._guards[level].get(name)
        if guard is None or math.isinf(self.value(name)):
            return Moves(0.0, 0.0)
        low, high, _ = guard.applied(self.value(name), self.value(name), "")
        return Moves(self.value(name) - float(low), float(high) - self.value(name))


def difference(name: str, first: Measured, second: Measured, level: float) -> Known:
    """First minus second in one number."""
    with np.errstate(invalid="ignore"):
        value, samples = first.value(name) - second.value(name), first.columns[name] - second.columns[name]
    ordered = np.sort(samples)
    if np.isnan(ordered).any():  # inf - inf: both certain and wrong
        return Known(math.nan, math.nan, math.nan, 1.0, "undefined")
    few = min((first.design, second.design), key=lambda design: min(design.units()))
    size = max(abs(first.value(name)), abs(second.value(name)))
    still = _still(ordered, size)
    if still:  # without what rounding adds
        ordered = np.full_like(ordered, value)

    def moves(at: float) -> Moves:
        own = _own(name, first, second, at)
        room = _untold(name, first, second, at)
        if max(*own, room) == 0.0 and size < math.inf:
            room = _turned(few, at, abs(value) or size) if still else _unseen(name, first, second, at, size)
        return Moves(max(own.down, room), max(own.up, room))

    limit = _limit(name, first.system)

    def ends(at: float) -> tuple[float, float]:
        low, high = reach(ordered, tail_of(few, at))
        down, up = moves(at)
        return max(low - down, -limit), min(high + up, limit)

    guarded = max(moves(level)) > 0.0
    p = _p_value(ends) if guarded else p_of(beyond(ordered), few)
    return Known(value, *ends(level), p, _method(still, guarded))


def _still(ordered: Floats, size: float) -> bool:
    """Whether all resamples are equal, up to rounding."""
    return bool(ordered[0] == ordered[-1] or (size < math.inf and ordered[-1] - ordered[0] <= _ROUNDING * size))


def _method(still: bool, guarded: bool) -> str:
    words = "percentile"
    if guarded:
        words += " with clopper-pearson (" + ("all resamples equal)" if still else "a kind of error without spread)")
        return words
    return f"{words} (all resamples equal)" if still else words


def _own(name: str, first: Measured, second: Measured, level: float) -> Moves:
    """The room that each system needs for itself: the second's counts the other way."""
    one, other = first.moves(name, level), second.moves(name, level)
    return Moves(one.down + other.up, one.up + other.down)


def _untold(name: str, first: Measured, second: Measured, level: float) -> float:
    """How far rates and costs may lie apart where no trial of the same set told the systems apart."""
    system, last = first.system, name.split(".")[-1]
    if not isinstance(system, TwoClass) or first.design is not second.design or last not in _COSTS:
        return 0.0
    place = int(name.split(".")[1])
    miss, alarm = (
        clopper_pearson(0, count, level).high if _same(f"applications.{place}.{kind}", first, second) else 0.0
        for kind, count in zip(("fnr", "fpr"), reversed(first.design.units()), strict=True)
    )
    app = system.plan.applications[place]
    if last == "dcf_u":
        return app.dcf_u(fnr=miss, fpr=alarm)
    rates = {"fnr": miss, "fpr": alarm}
    return rates[last] if last in rates else float(normalised_dcf(app.log_odds, miss, alarm))


def _same(name: str, first: Measured, second: Measured) -> bool:
    gap = first.columns[name] - second.columns[name]
    return bool((np.abs(gap - gap[0]) <= _ROUNDING).all())


def _turned(design: Design, level: float, size: float) -> float:
    """Room for trials that differ the other way, where all n independent things of the smallest class differ alike.

    The share of such trials may be Clopper-Pearson's for none of n: the difference is then shown exactly when a sign
    test of n to none shows it.
    """
    return 2.0 * size * clopper_pearson(0, min(design.units()), level).high


def _unseen(name: str, first: Measured, second: Measured, level: float, size: float) -> float:
    """The same room for each system whose own number is equal in all resamples, beside one whose number is not."""
    quiet = [one for one in (first, second) if _still(np.sort(one.columns[name]), size)]
    return sum(_turned(one.design, level, size) for one in quiet)


def _limit(name: str, system: System) -> float:
    """The largest difference that there can be."""
    least, most = limits_of(system).get(name, (-math.inf, math.inf))
    return float(most - least)


def reach(ordered: Floats, tail: float) -> tuple[float, float]:
    """Both ends with this share of sorted resamples beyond each.

    A share too small for the number of resamples is that of a normal distribution, and the ends hold all resamples.

    >>> reach(np.arange(1.0, 40.0), 0.025)
    (1.0, 39.0)
    """
    from scipy.special import ndtri

    if tail * (len(ordered) + 1) >= 1.0 - 1e-9:
        return float(order_statistic(ordered, tail, down=True)), float(order_statistic(ordered, 1.0 - tail, down=False))
    if not np.isfinite(ordered).all():
        return -math.inf, math.inf
    centre, far = float(ordered.mean()), -float(ndtri(tail)) * float(ordered.std(ddof=1))
    return min(float(ordered[0]), centre - far), max(float(ordered[-1]), centre + far)


def beyond(differences: Floats) -> float:
    """The smaller share of resamples at or beyond no difference, the sample itself counted in.

    Where no resample reaches it, the normal tail with the resamples' mean and standard error says how far off it is:
    1 / (resamples + 1) alone could not be small enough for many pairs.

    >>> beyond(np.array([1.0] * 99))
    0.01
    """
    from scipy.special import ndtr

    least = min(int((differences <= 0.0).sum()), int((differences >= 0.0).sum()))
    share = (1 + least) / (len(differences) + 1)
    spread = float(differences.std(ddof=1)) if least == 0 and np.isfinite(differences).all() else 0.0
    return min(share, float(ndtr(-abs(float(differences.mean())) / spread))) if spread > 0.0 else share


def _p_value(ends: Callable[[float], tuple[float, float]]) -> float:
    """One minus the largest level whose interval leaves out 0, found by halving its logarithm; 1 where none does."""

    def shown(p: float) -> bool:
        low, high = ends(1.0 - p)
        return low > 0.0 or high < 0.0

    inside, outside = math.log(_LEAST_P), 0.0
    if shown(_LEAST_P):
        return _LEAST_P
    if not shown(1.0 - _LEAST_P):
        return 1.0
    while outside - inside > 1e-9:
        middle = (inside + outside) / 2.0
        inside, outside = (inside, middle) if shown(math.exp(middle)) else (middle, outside)
    return math.exp(outside)
