"""Interval limits in closed form: means on a transformed scale, brackets, and p-values from limits.

Estimates, those of metrics/mover.py too, have a `value` and give their `limits` at any level, so that an interval and a
p-value (one minus the largest level whose interval leaves out the null value) come from one construction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np

from tercet._typing import Floats, Reals
from tercet.application import sigmoid
from tercet.metrics.binomial import student_quantile

_SMALLEST_P = 1e-15  # levels nearer to 1 than this are rounded away
_HALVINGS = 40


class Estimate(Protocol):
    """A number that has limits at every level."""

    @property
    def value(self) -> Reals:
        """The estimate."""

    def method(self, level: float) -> str:
        """The method by its name in the literature."""

    def limits(self, level: float) -> tuple[Reals, Reals]:
        """The lower and the upper limit."""


def effective_size(value: Reals, variance: Reals, units: Reals, most: Reals) -> Floats:
    """The number of independent trials that would have this variance; without errors, the independent units."""
    spread = np.asarray(value * (1.0 - value))  # an array: a variance of 0 is no error
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where((spread > 0.0) & (variance > 0.0), spread / variance, units)
    return np.minimum(size, most)


@dataclass(frozen=True, eq=False)
class Mean:
    """A number with a standard error, and Student's t on a scale on which it is nearly normal."""

    value: float
    error: float
    scale: str = ""  # "log", "logit" or none
    freedom: float = math.inf
    how: str = "Student's t"
    skewness: float = 0.0  # of the mean; other than 0, it is removed by Hall's transformation (1992)

    def method(self, level: float) -> str:
        """How the standard error was found, and on which scale."""
        return f"{self.how}{f' on the {self.scale} scale' if self.scale else ''}"

    def limits(self, level: float) -> tuple[float, float]:
        """f(value) -+ t f'(value) x standard error, taken back from the scale."""
        reach, x = float(student_quantile(level, self.freedom)), self.value
        half = reach * self.error
        if self.skewness:
            return x - self._back(reach) * self.error, x - self._back(-reach) * self.error
        if self.scale == "log":
            return x * math.exp(-half / x), x * math.exp(half / x)
        if self.scale == "logit":
            odds, step = math.log(x) - math.log1p(-x), half / (x * (1.0 - x))
            return sigmoid(odds - step), sigmoid(odds + step)
        return x - half, x + half

    def _back(self, reach: float) -> float:
        """The x at which x + k x^2 / 3 + k^2 x^3 / 27 + k / 6 has this value, k the skewness."""
        k = self.skewness
        return 3.0 / k * (math.cbrt(1.0 + k * (reach - k / 6.0)) - 1.0)


class Derived(NamedTuple):
    """An estimate whose limits are a function of the level.

    Functions are partials of a module's own: comparisons keep their estimates, and closures cannot be pickled.
    """

    value: Reals
    method: Callable[[float], str]
    limits: Callable[[float], tuple[Reals, Reals]]


def named(pattern: str, *parts: Estimate) -> Callable[[float], str]:
    """A method's name, which may hold those of other estimates: named("MOVER ({})", first)."""
    return partial(_named, pattern, parts)


def _named(pattern: str, parts: Sequence[Estimate], level: float) -> str:
    return pattern.format(*(one.method(level) for one in parts))


def bracket(value: Reals, below: Estimate, above: Estimate | None, most: float) -> Derived:
    """A population minimum: lower limit of the apparent minimum, upper limit of a cost that is never below it.

    The apparent minimum underestimates the population's; the cost of thresholds chosen out of fold is in expectation
    above it. No interval for a minimum over thresholds is published that we know of; this one is conservative. Without
    a cost from above, the minimum can be anything up to the most.
    """
    how = named("{}: lower end of the apparent minimum, upper end of the out-of-fold cost", below)
    return Derived(value, how, partial(_bracketed, value, below, above, most))


def _bracketed(value: Reals, below: Estimate, above: Estimate | None, most: float, level: float) -> tuple[Reals, Reals]:
    """From below and from above, cut to the possible range and including the apparent value."""
    high = most if above is None else np.minimum(above.limits(level)[1], most)
    return np.clip(below.limits(level)[0], 0.0, value), np.maximum(high, value)


def wider(one: Estimate, other: Estimate) -> Derived:
    """The wider of two intervals for one number, where neither is sufficient alone."""
    return Derived(one.value, named("the wider of {} and {}", one, other), partial(_outer, one, other))


def _outer(one: Estimate, other: Estimate, level: float) -> tuple[Reals, Reals]:
    """The lower of both lower limits, the higher of both upper ones."""
    (low, high), (less, more) = one.limits(level), other.limits(level)
    return np.minimum(low, less), np.maximum(high, more)


def mapped(inner: Estimate, function: Callable[[Reals], Reals]) -> Derived:
    """A monotone function of another estimate: F1 = 2 q / (1 + q), q the share of hits among hits and errors."""
    return Derived(function(inner.value), inner.method, partial(_both_mapped, inner, function))


def _both_mapped(inner: Estimate, function: Callable[[Reals], Reals], level: float) -> tuple[Reals, Reals]:
    low, high = inner.limits(level)
    return function(low), function(high)


def smallest_p(differing: int) -> float:
    """The probability that so many differing units all fall on one side by chance, two-sided.

    >>> smallest_p(5)
    0.0625
    """
    return 2.0 ** (1 - min(max(differing, 1), 1000))


def p_value(estimate: Estimate, null: float = 0.0, side: str = "two-sided") -> float:
    """One minus the largest level whose interval leaves out the null value; half of it, or its rest, for one side.

    "greater" asks whether the number is above the null value.

    >>> round(p_value(Mean(1.96, 1.0)), 3), round(p_value(Mean(1.96, 1.0), side="greater"), 3)
    (0.05, 0.025)
    """
    value = float(estimate.value)
    if value == null:
        two_sided = 1.0
    else:
        low, high = _SMALLEST_P, 1.0
        for _ in range(_HALVINGS):
            middle = math.sqrt(low * high)
            ends = estimate.limits(1.0 - middle)
            left_out = ends[0] > null if value > null else ends[1] < null
            low, high = (low, middle) if left_out else (middle, high)
        two_sided = high
    if side == "two-sided":
        return two_sided
    half = two_sided / 2.0
    return half if (value > null) == (side == "greater") and value != null else 1.0 - half
