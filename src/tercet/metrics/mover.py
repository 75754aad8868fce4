"""MOVER: limits of rates and of mean costs, and the interval of a weighted sum of them made of their own limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from tercet._typing import Array, Floats, Reals
from tercet.metrics.binomial import Interval, check_exact
from tercet.metrics.limits import FEW, normal_quantile, proportion_limits, student_quantile


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
    shares = [share for own in samples for share in own]
    places = [place for place, own in enumerate(samples) for _ in own]
    for share in shares:
        if min(share.counted, share.out_of - share.counted) < FEW:
            check_exact(share.out_of)
    parts = [Proportion(share.counted / share.out_of, float(share.out_of)) for share in shares]
    found = Sum(parts, tuple(share.coefficient for share in shares), excluding(parts, places))
    low, high = found.limits(level)
    return Interval(float(low), float(high), "mover")


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
        if self.grouped:
            return self.family
        errors = _counted(self.value, self.size)
        errors = np.minimum(errors, self.size - errors)
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
        return proportion_limits(_counted(self.value, size), size, level)


_BOTH = f"Wilson, Clopper-Pearson below {FEW:g} errors"


def _counted(value: Reals, size: Reals) -> Reals:
    """The number of errors, whole where it is so but for rounding: 13 / 45 x 45 is below 13."""
    errors = value * size
    near = np.rint(errors)
    return np.where(np.abs(errors - near) <= np.finfo(np.float64).eps * size, near, errors)


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


def cost_scale(costs: Floats) -> tuple[list[float], list[bool]]:
    """The highest cost of each class (column), and whether each of its decisions costs this or nothing."""
    most = [float(column.max()) for column in costs.T]
    return most, [bool(np.isin(column, (0.0, top)).all()) for column, top in zip(costs.T, most, strict=True)]


def mean_loss(mean: float, spread: float, size: float, counted: bool) -> Proportion | MeanLoss:
    """The mean of losses between 0 and 1 with this variance; `counted`: no loss is anything else than 0 or 1."""
    return Proportion(mean, size) if counted else MeanLoss(mean, spread, size, 1.0, (1.0, 1.0))


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
