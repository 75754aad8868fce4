"""The parts of two-class fits: ends, exact moments, standard scores, and the sums that Newton's steps need.

Sums come in two kinds. In memory, sorted rows are added block by block. For parts of trials that arrive in any order
and number, every term is rounded to a grid that all parts share and added as whole numbers, so that no bit depends on
how the rows were cut.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from tercet._numeric.exact import GRID, UNIT, exact_dot, exact_square_sum, exact_sum, grid_sum, ratio
from tercet._numeric.newton import Terms, in_blocks
from tercet._numeric.parallel import over_parts
from tercet._typing import Array, Counts, Floats
from tercet.errors import CalibrationError
from tercet.metrics.tally import Ranked, Tally

_SAFE = 400  # exponents of scores whose squares and products surely stay within the doubles
LARGEST = 2.0**_SAFE
_BLOCK = 1 << 13  # rows at a time: they stay in the cache
_LEVELS = (1, 2, 2, 1, 1, 1)  # levels of the grids of the six terms: the gradient's are as fine as the terms themselves


class Ends(NamedTuple):
    """The lowest and the highest score of each class."""

    target_low: float
    target_high: float
    nontarget_low: float
    nontarget_high: float

    @classmethod
    def of(cls, tally: Tally) -> Ends:
        """The ends of two classes that are not empty."""
        return cls(*(float(side.scores[place]) for side in (tally.targets, tally.nontargets) for place in (0, -1)))

    @property
    def factor(self) -> float:
        """A power of two that brings the largest score near 1 where squares would leave the doubles."""
        exponent = math.frexp(max(map(abs, self)))[1]
        return 1.0 if abs(exponent) < _SAFE else math.ldexp(1.0, min(-exponent, 1000))


class Moments(NamedTuple):
    """Exact sums over scores x times a factor: of weights, of weight x score and of weight x score^2.

    The last two are in units of 2**-1074.
    """

    weight: int
    first: int
    second: int

    @classmethod
    def of(cls, side: Ranked, factor: float = 1.0) -> Moments:
        """The moments of one class whose scores times the factor have squares that are doubles."""
        weights = None if side.running is None else np.diff(side.running)

        def part(rows: slice) -> Moments:
            x = side.scores[rows] if factor == 1.0 else side.scores[rows] * factor
            return cls.of_rows(x, None if weights is None else weights[rows])

        return cls.sum(over_parts(part, len(side.scores)))

    @classmethod
    def of_rows(cls, x: Floats, weights: Counts | None = None) -> Moments:
        """The moments of numbers no larger than LARGEST, with whole weights."""
        if weights is None:
            return cls(len(x), exact_sum(x), exact_square_sum(x))
        return cls(int(weights.sum()), exact_dot(x, weights), exact_square_sum(x, weights))

    @classmethod
    def sum(cls, several: Iterable[Moments]) -> Moments:
        """The moments of all rows together."""
        return cls(*map(sum, zip((0, 0, 0), *several, strict=True)))

    @property
    def mean(self) -> float:
        """The mean, rounded once."""
        return ratio(self.first, self.weight, UNIT)

    @property
    def variance(self) -> float:
        """The mean square less the square of the mean, rounded once: 0 only where all scores are equal."""
        return ratio((self.weight * self.second << UNIT) - self.first**2, self.weight**2, 2 * UNIT)


class Standard(NamedTuple):
    """x = (factor s - centre) / deviation has mean 0 and variance 1; factor is a power of two against overflow."""

    factor: float
    centre: float
    deviation: float

    @classmethod
    def of(cls, both: Moments, factor: float) -> Standard:
        """The standard scores of both classes together."""
        deviation = math.sqrt(both.variance)
        if not deviation > 0.0:
            raise CalibrationError("There is nothing to calibrate: all scores are equal (zero variance).")
        return cls(factor, both.mean, deviation)

    def scaled(self, scores: Floats) -> Floats:
        """The standard scores of these."""
        x: Floats = (scores if self.factor == 1.0 else scores * self.factor) - self.centre
        x /= self.deviation
        return x

    def back(self, slope: float, offset: float) -> tuple[float, float]:
        """Slope and offset for the scores as they are."""
        steep = slope / self.deviation
        result = steep * self.factor, offset - steep * self.centre
        if not np.isfinite(result).all() or (slope != 0.0 and result[0] == 0.0):
            raise CalibrationError(
                f"The slope for scores of deviation {self.deviation} x {1.0 / self.factor} is not a double: rescale "
                f"the scores to ordinary numbers first."
            )
        return float(result[0]), float(result[1])


class Side(NamedTuple):
    """One class's scores, ascending, with weights that sum to one (None: equal ones), standardised as they are read."""

    scores: Floats
    weights: Floats | None
    standard: Standard

    @classmethod
    def of(cls, side: Ranked, standard: Standard) -> Side:
        """One class, each row with its part of the class's weight."""
        shares = None if side.running is None else np.asarray(np.diff(side.running) / side.total, np.float64)
        return cls(side.scores, shares, standard)

    def sample(self, count: int) -> Side:
        """This many quantiles of equal weight."""
        if len(self.scores) <= count:
            return self
        middles = (np.arange(count) + 0.5) / count
        if self.weights is None:
            return self._replace(scores=self.scores[(middles * len(self.scores)).astype(np.intp)])
        places = np.searchsorted(np.cumsum(self.weights), middles)
        return self._replace(scores=self.scores[np.minimum(places, len(self.scores) - 1)], weights=None)

    def sums(self, slope: float, offset: float) -> Floats:
        """Weighted means of u = slope x + offset: ln(1 + e^u), p, p x, h, h x, h x^2; p = sigmoid(u), h = p (1 - p)."""

        def block(rows: slice) -> Floats:
            x = self.standard.scaled(self.scores[rows])
            u = x * slope
            u += offset
            low, high = (u[0], u[-1]) if slope >= 0.0 else (u[-1], u[0])
            if low < 0.0 < high:  # u ascends or descends: each sign is one run
                turn = int(np.count_nonzero((u < 0.0) == (u[0] < 0.0)))
                return block(slice(rows.start, rows.start + turn)) + block(slice(rows.start + turn, rows.stop))
            return _block_sums(x, u, high > 0.0, None if self.weights is None else self.weights[rows])

        sums = in_blocks(block, len(self.scores))
        return sums / len(self.scores) if self.weights is None else sums


def _block_sums(x: Floats, u: Floats, positive: bool, weights: Floats | None) -> Floats:
    """The sums of Side over values u of one sign, so that e^-|u| needs no case distinction."""
    z = np.exp(-u if positive else u)
    q = z + 1.0
    p = np.reciprocal(q) if positive else z / q
    h = (z * p if positive else p) / q
    if weights is None:
        cost = _log_product(q) + (float(u.sum()) if positive else 0.0)
    else:
        cost = float(np.log(q) @ weights) + (float(u @ weights) if positive else 0.0)
        p *= weights
        h *= weights
    hx = h * x
    return np.array([cost, p.sum(), p @ x, h.sum(), hx.sum(), hx @ x])


def _log_product(q: Floats) -> float:
    """The sum of ln q for q in 1..2: few logarithms, of products that cannot overflow."""
    whole = len(q) // 512 * 512
    products = np.multiply.reduce(q[:whole].reshape(-1, 512), axis=1)
    return float(np.log(products).sum() + np.log(q[whole:]).sum())


def combined(t: Floats, f: Floats, point: Floats, share: float, penalty: float) -> tuple[float, Floats, Floats]:
    """Value, gradient and Hessian of the prior-weighted cross-entropy from both classes' means (see Side.sums)."""
    a = float(point[0])
    t, f = share * t, (1.0 - share) * f
    h = t + f
    gradient = np.array([f[2] - t[2] + penalty * a, f[1] - t[1]])
    return float(h[0]) + 0.5 * penalty * a * a, gradient, np.array([[h[5] + penalty, h[4]], [h[4], h[3]]])


def terms_of(sides: tuple[Side, Side], share: float, penalty: float) -> Terms:
    """The cross-entropy of targets and non-targets as a function of (slope, offset)."""

    def terms(point: Floats) -> tuple[float, Floats, Floats]:
        a, b = (float(value) for value in point)
        return combined(sides[0].sums(-a, -b), sides[1].sums(a, b), point, share, penalty)

    return terms


class Grid(NamedTuple):
    """For one point, the exponents of two that bound the six terms of Side.sums: every part rounds to the same grid."""

    exponents: tuple[int, ...]

    @classmethod
    def of(cls, ends: Ends, standard: Standard, slope: float, offset: float) -> Grid:
        """The bounds that hold for all scores between the ends."""
        largest = float(np.abs(standard.scaled(np.array(ends))).max())
        bounds = (1.0 + abs(slope) * largest + abs(offset), 1.0, largest, 0.25, 0.25 * largest, 0.25 * largest**2)
        return cls(tuple(math.frexp(bound)[1] for bound in bounds))

    def sums(self, scores: Array, standard: Standard, slope: float, offset: float) -> tuple[int, ...]:
        """The six sums of Side over equal weights, in units of 2**-1074: they add, in any order, without rounding."""
        totals = [0] * len(self.exponents)
        for start in range(0, len(scores), _BLOCK):
            x = standard.scaled(scores[start : start + _BLOCK].astype(np.float64, copy=False))
            for place, values in enumerate(row_terms(x, slope, offset)):
                totals[place] += grid_sum(values, self.exponents[place], _LEVELS[place])
        known = zip(totals, self.exponents, _LEVELS, strict=True)
        return tuple(total << (UNIT + exponent - level * GRID) for total, exponent, level in known)


def row_terms(x: Floats, slope: float, offset: float) -> tuple[Floats, ...]:
    """The six terms of Side.sums, row by row; none depends on its neighbours."""
    u = x * slope
    u += offset
    z = np.exp(-np.abs(u))
    q = z + 1.0
    p = np.where(u > 0.0, 1.0, z)
    p /= q
    z /= q
    z /= q
    hx = z * x
    return np.log(q) + np.maximum(u, 0.0), p, p * x, z, hx, hx * x


__all__ = ["LARGEST", "Ends", "Grid", "Moments", "Side", "Standard", "combined", "row_terms", "terms_of"]
