"""MOVER: limits of rates and of mean costs, and the interval of a weighted sum of them made of their own limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np

from tercet._typing import Array, Floats, Reals
from tercet.metrics.binomial import (
    Interval,
    check_exact,
    few_errors,
    normal_quantile,
    proportion_limits,
    student_quantile,
)


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
        if min(share.counted, share.out_of - share.counted) < few_errors(level):
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

    def method(self, level: float) -> str:
        """Which of the two limits are used."""
        if self.grouped:
            return self.family(level)
        errors, few = _counted(self.value, self.size), few_errors(level)
        exact = np.minimum(errors, self.size - errors) < few
        return "Clopper-Pearson" if np.all(exact) else self.family(level) if np.any(exact) else "Wilson"

    @property
    def spread(self) -> Reals:
        """The variance of a single error."""
        return self.value * (1.0 - self.value)

    def family(self, level: float) -> str:
        """What the limits are called whatever the number of errors."""
        return "Korn-Graubard" if self.grouped else f"Wilson, Clopper-Pearson below {few_errors(level)} errors"

    def limits(self, level: float) -> tuple[Reals, Reals]:
        """Clopper-Pearson's or Wilson's, of the effective counts."""
        return proportion_limits(*self._counts(level), level)

    def rare(self, level: float) -> tuple[Reals, Reals]:
        """Mean and variance of the beta distribution that has Clopper-Pearson's lower limit; 0 if errors are many."""
        errors, size = self._counts(level)
        mean = np.where(errors < few_errors(level), errors / (size + 1.0), 0.0)
        return mean, mean * (1.0 - mean) / (size + 2.0)

    def _counts(self, level: float) -> tuple[Reals, Reals]:
        """Errors and trials, as many as are effective with these degrees of freedom."""
        known = np.all(np.isinf(self.freedom))
        reach = 1.0 if known else normal_quantile(level) / student_quantile(level, self.freedom)
        size = self.size * reach**2
        return _counted(self.value, size), size


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
    and Feuer 1997). Costs of 0 and 1 have Clopper and Pearson's limits, and groups count as in `Proportion`. Costs that
    are too skewed have no `upper` limit.
    """

    value: float
    spread: float  # the variance of a single cost
    size: float
    most: float
    error: tuple[float, float]  # what an error costs: the mean, and the mean of the squares
    freedom: float = math.inf
    how: str = "Tiwari-Clegg-Zou"
    upper: bool = True

    def method(self, level: float) -> str:
        """The same for every cost and level."""
        return self.how

    family = method

    def limits(self, level: float) -> tuple[float, float]:
        """Both limits, each from the costs with one trial more."""
        if self.most == 0.0:
            return 0.0, 0.0
        mean = self.value / self.most
        low, high = (_beta_quantile(*self._with_one_more(level, upper), level, upper) for upper in (False, True))
        return self.most * min(low, mean), self.most * max(high, mean) if self.upper else math.inf

    def rare(self, level: float) -> tuple[float, float]:
        """Mean and variance of the beta distribution that has the lower limit; 0 if errors are many."""
        mean, variance = self._with_one_more(level, upper=False) if self.value > 0.0 else (0.0, 0.0)
        if mean * mean >= few_errors(level) * variance:
            return 0.0, 0.0
        return self.most * mean, self.most**2 * variance

    def _with_one_more(self, level: float, upper: bool) -> tuple[float, float]:
        """Mean and variance of the mean of costs, as parts of the highest, with one trial more: free, or an error."""
        size = self.size * (normal_quantile(level) / float(student_quantile(level, self.freedom))) ** 2
        total, squares = size * self.value / self.most, size * (self.spread + self.value**2) / self.most**2
        if upper:
            total, squares = total + self.error[0] / self.most, squares + self.error[1] / self.most**2
        mean = total / (size + 1.0)
        return mean, (squares / (size + 1.0) - mean * mean) / (size + 2.0)


def _beta_quantile(mean: float, variance: float, level: float, upper: bool) -> float:
    """The limit of a mean of numbers between 0 and 1 by the beta distribution with its mean and variance."""
    from scipy.special import betainccinv, betaincinv

    tail = (1.0 - level) / 2.0
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

    L = sum - sqrt(d' R d), d_i the distance from each term to its own limit on that side, R the correlations. No rate
    is farther from its lower limit than from 0, so that a few errors of each of several kinds would leave a cost a
    lower limit that is too high. It is then that of all these errors together: Fay and Feuer (1997).
    """

    parts: Sequence[Proportion | MeanLoss]
    factors: tuple[Reals, ...]
    correlations: Sequence[Sequence[Reals]] | Floats | None = None  # [part, part, ...]; None: independent
    bounds: tuple[float, float] = (-math.inf, math.inf)

    @property
    def value(self) -> Reals:
        """The sum."""
        return sum(factor * part.value for factor, part in zip(self.factors, self.parts, strict=True))

    def method(self, level: float) -> str:
        """MOVER, from the limits of its rates."""
        return f"MOVER ({' / '.join(dict.fromkeys(part.family(level) for part in self.parts))})"

    def limits(self, level: float) -> tuple[Reals, Reals]:
        """The sum minus and plus the root of the summed squared distances."""
        downs, ups, signs = [], [], []
        for factor, part in zip(self.factors, self.parts, strict=True):
            one, other = (factor * (end - part.value) for end in part.limits(level))
            downs.append(np.abs(np.minimum(one, other)))
            ups.append(np.abs(np.maximum(one, other)))
            signs.append(np.sign(factor))
        value = self.value
        down, up = (recovered(own, signs, self.correlations) for own in (downs, ups))
        if all(np.all(sign >= 0.0) for sign in signs):
            down = np.hypot(down, self._of_few_together(downs, level))
        return np.maximum(value - down, self.bounds[0]), np.minimum(value + up, self.bounds[1])

    def _of_few_together(self, downs: Sequence[Reals], level: float) -> Floats:
        """What distances of few errors lack, in squares, to that of their sum, which is nearly gamma distributed."""
        from scipy.special import gammaincinv

        rare = [part.rare(level) for part in self.parts]
        kept = [np.where((own[0] > 0.0) & np.isfinite(f), f, 0.0) for own, f in zip(rare, self.factors, strict=True)]
        most = np.max(np.broadcast_arrays(*kept), axis=0)
        unit = np.where(most > 0.0, most, 1.0)  # so that squares are numbers
        kinds, value, mean, variance, apart = (np.zeros(unit.shape) for _ in range(5))
        for factor, part, (own, spread), down in zip(kept, self.parts, rare, downs, strict=True):
            share = factor / unit
            kinds = kinds + (share > 0.0)
            value, mean, variance = value + share * part.value, mean + share * own, variance + share * share * spread
            apart = apart + (np.where(share > 0.0, down, 0.0) / unit) ** 2
        # Effective numbers from five or more groups are conservative enough for two kinds of errors, not for many.
        enough = any(
            isinstance(part, Proportion) and part.grouped and np.all(part.freedom >= 4.0) for part in self.parts
        )
        several = kinds > (2 if enough else 1)
        shape = np.where(several, mean, 1.0) ** 2 / np.where(several, variance, 1.0)
        lowest = mean * gammaincinv(shape, (1.0 - level) / 2.0) / shape
        return np.where(several, np.sqrt(np.maximum((value - lowest) ** 2 - apart, 0.0)), 0.0) * unit


def recovered(
    distances: Sequence[Reals], signs: Sequence[Reals], correlations: Sequence[Sequence[Reals]] | Array | None = None
) -> Floats:
    """MOVER's distance from a sum to its limit: sqrt(d' R d), d the distances of its terms, R their correlations.

    The one place where variances are recovered, for numbers and arrays alike.
    """
    total: Reals = sum(distance * distance for distance in distances)
    if correlations is not None and not np.any(np.isinf(total)):
        for i in range(len(distances)):
            for j in range(i):
                share = signs[i] * signs[j] * correlations[i][j]
                total = total + 2.0 * share * distances[i] * distances[j]
    return np.sqrt(np.maximum(total, 0.0))
