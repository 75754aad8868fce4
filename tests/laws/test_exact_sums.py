"""Exact sums against fractions: every kind of double, and blocks filled to their last bit."""

import math
from fractions import Fraction

import numpy as np
import pytest

from tercet._numeric.exact import UNIT, exact_sum

KINDS = {
    "alike": lambda rng, n: rng.random(n) + 0.5,
    "21 bits apart": lambda rng, n: np.nextafter(2.0 ** rng.integers(0, 22, n), 0.0),
    "22 bits apart": lambda rng, n: np.nextafter(2.0 ** rng.integers(0, 23, n), 0.0),
    "any positive": lambda rng, n: rng.random(n) * 2.0 ** rng.integers(-60, 60, n),
    "both signs": lambda rng, n: rng.normal(size=n) * 2.0 ** rng.integers(-20, 20, n),
    "subnormal": lambda rng, n: rng.random(n) * 2.0**-1060 + 2.0**-1050,
    "smallest": lambda rng, n: 5e-324 * rng.integers(1, 9, n),
    "largest": lambda rng, n: 2.0**1000 * (1.0 + rng.random(n)),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [1, 2, 1000, 1 << 16, (1 << 16) + 5])
def test_a_sum_has_no_rounding_at_all(kind, count):
    values = KINDS[kind](np.random.default_rng(count), count)
    assert Fraction(exact_sum(values), 1 << UNIT) == sum(map(Fraction, values.tolist()))


@pytest.mark.parametrize("count", [1 << 16, 3 << 16])
def test_full_blocks_of_the_longest_mantissas_add_exactly(count):
    values = np.full(count, np.nextafter(2.0**21, 0.0))
    values[0] = np.nextafter(1.0, 2.0)
    assert exact_sum(values) / (1 << UNIT) == math.fsum(values)
    assert Fraction(exact_sum(values), 1 << UNIT) == (count - 1) * Fraction(values[1]) + Fraction(values[0])
