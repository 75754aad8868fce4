"""Interval limits in closed form: proportions, sums of proportions (MOVER) and means on a transformed scale.

Each class below is an estimate: it has a `value` and gives its `limits` at any level, so that an interval and a p-value
(one minus the largest level whose interval leaves out the null value) come from one construction.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Protocol

import numpy as np

from tercet._typing import Floats, Reals
from tercet.metrics.binomial import FEW
from tercet.metrics.mover import recovered

_SMALLEST_P = 1e-15  # levels nearer to 1 than this are rounded away
_HALVINGS = 40


class Estimate(Protocol):
    """A number that has limits at every level."""

    @property
    def value(self) -> Reals:
        """The estimate."""

    @property
    def method(self) -> str:
        """The method by its name in the literature."""

    def limits(self, level: float) -> tuple[Reals, Reals]:
        """The lower and the upper limit."""


def normal_quantile(level: float) -> float:
    """How many standard errors a two-sided normal interval of this level reaches."""
    from scipy.special import ndtri

    return -float(ndtri((1.0 - level) / 2.0))


def student_quantile(level: float, freedom: Reals) -> Floats:
    """The same by Student's t."""
    from scipy.special import stdtrit

    return np.where(np.isinf(freedom), normal_quantile(level), -stdtrit(freedom, (1.0 - level) / 2.0))


def wilson_limits(errors: Reals, size: Reals, level: float) -> tuple[Floats, Floats]:
    """Wilson's score limits of a proportion (1927); counts may be effective ones, with a fraction."""
    p, square = errors / size, normal_quantile(level) ** 2 / size
    half = np.sqrt(square * (p * (1.0 - p) + square / 4.0))
    return (p + square / 2.0 - half) / (1.0 + square), (p + square / 2.0 + half) / (1.0 + square)


def beta_limits(errors: Reals, size: Reals, level: float) -> tuple[Floats, Floats]:
    """Clopper and Pearson's limits of a proportion (1934), by quantiles of the beta distribution."""
    from scipy.special import betainccinv, betaincinv

    tail, right = (1.0 - level) / 2.0, size - errors
    low = betaincinv(np.where(errors > 0.0, errors, 1.0), right + 1.0, tail)
    high = betainccinv(errors + 1.0, np.where(right > 0.0, right, 1.0), tail)
    return low, high


def proportion_limits(errors: Reals, size: Reals, level: float) -> tuple[Floats, Floats]:
    """Clopper-Pearson below 13 errors (or 13 right decisions), Wilson from there on.

    Up to a level of 99 % the upper limit never falls when an error is added.

    >>> low, high = proportion_limits(np.array([0.0, 50.0]), np.array([300.0, 100.0]), 0.95)
    >>> high.round(4).tolist()
    [0.0122, 0.5962]
    """
    errors, size = np.broadcast_arrays(np.asarray(errors, np.float64), np.asarray(size, np.float64))
    low, high = (np.array(end) for end in wilson_limits(errors, size, level))
    few = np.minimum(errors, size - errors) < FEW
    if few.any():
        low[few], high[few] = beta_limits(errors[few], size[few], level)
    return np.where(errors <= 0.0, 0.0, low), np.where(errors >= size, 1.0, high)


@dataclass(frozen=True, eq=False)
class Proportion:
    """A rate: errors of an effective number of independent trials, known with these degrees of freedom.

    Of independent trials the effective number is the number itself. Of whole groups it is p (1 - p) / variance, further
    reduced by (z / t)^2 for the degrees of freedom: Korn and Graubard (1998).
    """

    value: Reals
    size: Reals
    freedom: Reals = math.inf
    grouped: bool = False

    @property
    def method(self) -> str:
        """Which of the two limits was used."""
        errors = np.minimum(self.value, 1.0 - self.value) * self.size
        if self.grouped:
            return self.family
        return "Clopper-Pearson" if np.all(errors < FEW) else "Wilson" if np.all(errors >= FEW) else _BOTH

    @property
    def spread(self) -> Reals:
        """The variance of a single error."""
        return self.value * (1.0 - self.value)

    @property
    def family(self) -> str:
        """What the limits are called whatever the number of errors."""
        return "Korn-Graubard" if self.grouped else _BOTH

    def limits(self, level: float) -> tuple[Reals, Reals]:
        """Clopper-Pearson's or Wilson's, of the effective counts."""
        reach = (
            1.0 if np.all(np.isinf(self.freedom)) else normal_quantile(level) / student_quantile(level, self.freedom)
        )
        size = self.size * reach**2
        return proportion_limits(self.value * size, size, level)


_BOTH = f"Wilson, Clopper-Pearson below {FEW:g} errors"


def effective_size(value: Reals, variance: Reals, units: Reals, most: Reals) -> Floats:
    """The number of independent trials that would have this variance; without errors, the independent units."""
    spread = value * (1.0 - value)
    with np.errstate(divide="ignore", invalid="ignore"):
        size = np.where((spread > 0.0) & (variance > 0.0), spread / variance, units)
    return np.minimum(size, most)


@dataclass(frozen=True, eq=False)
class MeanLoss:
    """The mean of costs from 0 to `most`: beta limits of a weighted count, Tiwari, Clegg and Zou (2006).

    A limit is the quantile of the beta distribution that has the mean and the variance of the costs with one trial
    more: a free one for the lower limit, an error for the upper one, so that there is room for errors not seen (Fay
    and Feuer 1997). Costs of 0 and 1 have Clopper and Pearson's limits, and groups count as in `Proportion`.
    """

    value: float
    spread: float  # the variance of a single cost
    size: float
    most: float
    error: tuple[float, float]  # what an error costs: the mean, and the mean of the squares
    freedom: float = math.inf
    family: str = "Tiwari-Clegg-Zou"

    @property
    def method(self) -> str:
        """The same for every cost."""
        return self.family

    def limits(self, level: float) -> tuple[float, float]:
        """Both limits, each from the costs with one trial more."""
        if self.most == 0.0:
            return 0.0, 0.0
        size = self.size * (normal_quantile(level) / float(student_quantile(level, self.freedom))) ** 2
        mean, square = self.value / self.most, (self.spread + self.value**2) / self.most**2
        more, squared = self.error[0] / self.most, self.error[1] / self.most**2
        low = _beta_quantile(size * mean, size * square, size + 1.0, level, upper=False)
        high = _beta_quantile(size * mean + more, size * square + squared, size + 1.0, level, upper=True)
        return self.most * min(low, mean), self.most * max(high, mean)


def _beta_quantile(total: float, squares: float, size: float, level: float, upper: bool) -> float:
    """The limit of a mean of numbers between 0 and 1 by the beta distribution with its mean and variance."""
    from scipy.special import betainccinv, betaincinv

    mean, tail = total / size, (1.0 - level) / 2.0
    variance = (squares / size - mean * mean) / (size + 1.0)
    if variance <= 0.0 or not 0.0 < mean < 1.0:
        return min(max(mean, 0.0), 1.0)
    both = max(mean * (1.0 - mean) / variance - 1.0, 0.0)
    quantile = betainccinv if upper else betaincinv
    return float(quantile(mean * both, (1.0 - mean) * both, tail))


def excluding(parts: Sequence[Proportion | MeanLoss], samples: Sequence[int]) -> Floats:
    """Correlations of means that exclude each other within the same sample; those of rates are a multinomial's."""
    found = np.eye(len(parts))
    for k, j in combinations(range(len(parts)), 2):
        p, q = parts[k], parts[j]
        spread = math.sqrt(float(p.spread)) * math.sqrt(float(q.spread))
        if samples[k] == samples[j] and spread > 0.0:
            found[k, j] = found[j, k] = -min(float(p.value) * float(q.value) / spread, 1.0)
    return found


@dataclass(frozen=True, eq=False)
class Sum:
    """A weighted sum of rates: method of variance estimates recovery, MOVER (Zou and Donner 2008).

    L = sum - sqrt(d' R d), d_i the distance from each term to its own limit on that side, R the correlations.
    """

    parts: Sequence[Proportion | MeanLoss]
    factors: tuple[Reals, ...]
    correlations: Sequence[Sequence[Reals]] | Floats | None = None  # [part, part, ...]; None: independent
    bounds: tuple[float, float] = (-math.inf, math.inf)

    @property
    def value(self) -> Reals:
        """The sum."""
        return sum(factor * part.value for factor, part in zip(self.factors, self.parts, strict=True))

    @property
    def method(self) -> str:
        """MOVER, from the limits of its rates."""
        return f"MOVER ({' / '.join(dict.fromkeys(part.family for part in self.parts))})"

    def limits(self, level: float) -> tuple[Reals, Reals]:
        """The sum minus and plus the root of the summed squared distances."""
        downs, ups, signs = [], [], []
        for factor, part in zip(self.factors, self.parts, strict=True):
            one, other = (factor * (end - part.value) for end in part.limits(level))
            downs.append(np.abs(np.minimum(one, other)))
            ups.append(np.abs(np.maximum(one, other)))
            signs.append(np.sign(factor))
        value = self.value
        low, high = (
            value + side * recovered(own, signs, self.correlations) for side, own in ((-1.0, downs), (1.0, ups))
        )
        return np.maximum(low, self.bounds[0]), np.minimum(high, self.bounds[1])


@dataclass(frozen=True, eq=False)
class Mean:
    """A number with a standard error, and Student's t on a scale on which it is nearly normal."""

    value: float
    error: float
    scale: str = ""  # "log", "logit" or none
    freedom: float = math.inf
    how: str = "Student's t"
    skewness: float = 0.0  # of the mean; other than 0, it is removed by Hall's transformation (1992)

    @property
    def method(self) -> str:
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
            return expit(odds - step), expit(odds + step)
        return x - half, x + half

    def _back(self, reach: float) -> float:
        """The x at which x + k x^2 / 3 + k^2 x^3 / 27 + k / 6 has this value, k the skewness."""
        k = self.skewness
        return 3.0 / k * (math.cbrt(1.0 + k * (reach - k / 6.0)) - 1.0)


def expit(odds: float) -> float:
    """1 / (1 + e^-x), without overflow."""
    small = math.exp(-abs(odds))
    return (1.0 if odds >= 0.0 else small) / (1.0 + small)


@dataclass(frozen=True, eq=False)
class Bracket:
    """A population minimum: lower limit of the apparent minimum, upper limit of a cost that is never below it.

    The apparent minimum underestimates the population's; the cost of thresholds chosen out of fold is in expectation
    above it. No interval for a minimum over thresholds is published that we know of; this one is conservative.
    """

    value: Reals
    below: Estimate
    above: Estimate
    most: Reals
    least: Reals = 0.0
    how: str = "lower end of the apparent minimum, upper end of the out-of-fold cost"

    @property
    def method(self) -> str:
        """Both constructions."""
        return f"{self.below.method}: {self.how}"

    def limits(self, level: float) -> tuple[Reals, Reals]:
        """From below and from above, cut to the possible range and including the apparent value."""
        low, high = self.below.limits(level)[0], self.above.limits(level)[1]
        low = np.clip(low, self.least, self.value)
        return low, np.maximum(np.minimum(high, self.most), self.value)


class Unknown:
    """A number that the trials do not bound."""

    value, method = math.nan, "not estimable"

    def limits(self, level: float) -> tuple[float, float]:
        """Everything."""
        return -math.inf, math.inf


@dataclass(frozen=True, eq=False)
class Wider:
    """The wider of two intervals for one number, where neither is sufficient alone."""

    one: Estimate
    other: Estimate

    @property
    def value(self) -> Reals:
        """The number."""
        return self.one.value

    @property
    def method(self) -> str:
        """Both methods."""
        return f"the wider of {self.one.method} and {self.other.method}"

    def limits(self, level: float) -> tuple[Reals, Reals]:
        """The lower of both lower limits, the higher of both upper ones."""
        (low, high), (less, more) = self.one.limits(level), self.other.limits(level)
        return np.minimum(low, less), np.maximum(high, more)


@dataclass(frozen=True, eq=False)
class Mapped:
    """A monotone function of another estimate: F1 = 2 q / (1 + q), q the share of hits among hits and errors."""

    inner: Estimate
    function: Callable[[Reals], Reals] = field(repr=False)

    @property
    def value(self) -> Reals:
        """The function's value."""
        return self.function(self.inner.value)

    @property
    def method(self) -> str:
        """The inner estimate's."""
        return self.inner.method

    def limits(self, level: float) -> tuple[Reals, Reals]:
        """The function of both limits."""
        low, high = self.inner.limits(level)
        return self.function(low), self.function(high)


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
