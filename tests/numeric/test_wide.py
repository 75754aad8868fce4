"""Whole numbers as two limbs: every operation against Python's integers."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tercet._numeric.exact import UNIT, as_integers, exact_dot, exact_dot_steps
from tercet._numeric.wide import (
    BLOCK,
    LIMB,
    Wide,
    fits_limbs,
    joined,
    recast,
    running_doubles,
    running_totals,
    smallest_bit,
    steps_of,
    whole_dot,
)  # fmt: skip

MOST = 2 ** (LIMB + 62) - 1
COLUMNS = st.lists(st.one_of(st.integers(0, MOST), st.integers(0, 9), st.integers(2**39 - 2, 2**39 + 2)), min_size=1)
WEIGHTS = st.floats(min_value=5e-324, max_value=1e308, allow_nan=False)


def objects(values):
    return np.array(values, np.object_)


@given(COLUMNS)
def test_limbs_hold_what_they_are_given(values):
    column = Wide.of(objects(values))
    assert column.objects().tolist() == values
    assert [column[place] for place in range(len(values))] == values
    np.testing.assert_allclose(column.floats(), [float(value) for value in values], rtol=2.0**-51)


@given(COLUMNS, COLUMNS)
def test_searching_limbs_is_searching_the_numbers(values, wanted):
    ascending = sorted(values)
    column = Wide.of(objects(ascending))
    for side in ("left", "right"):
        expected = np.searchsorted(objects(ascending), objects(wanted), side)
        np.testing.assert_array_equal(column.searchsorted(Wide.of(objects(wanted)), side), expected)


@given(COLUMNS)
def test_steps_shifts_and_joins_are_those_of_the_numbers(values):
    ascending = sorted(value >> 2 for value in values)
    column = Wide.of(objects(ascending))
    assert steps_of(column).objects().tolist() == np.diff(objects(ascending)).tolist()
    assert (column << 2).objects().tolist() == [value << 2 for value in ascending]
    assert joined(np.zeros(1, np.int64), column)[:].tolist() == [0, *ascending]


@given(st.lists(st.integers(0, 2**90), min_size=1))
def test_the_form_of_a_column_does_not_change_its_products(values):
    total = sum(values)
    expected = sum(value * value for value in values)
    for bits in (total.bit_length(), 101, 999):
        column = recast(objects(values), bits)
        assert whole_dot(column, column) == whole_dot(column, objects(values)) == expected


def test_products_that_fill_every_bit_of_a_block_add_exactly():
    largest = np.full(2 * BLOCK, 2**62 - 1)
    assert whole_dot(largest, largest) == 2 * BLOCK * (2**62 - 1) ** 2
    wide = Wide.of(np.full(BLOCK, MOST, np.object_))
    assert whole_dot(wide, wide) == BLOCK * MOST**2


@given(st.lists(WEIGHTS, min_size=1, max_size=30))
def test_all_weights_are_multiples_of_the_smallest_bit_and_not_all_of_its_double(weights):
    unit = Fraction(2) ** smallest_bit(np.array(weights))
    assert all((Fraction(weight) / unit).denominator == 1 for weight in weights)
    assert any((Fraction(weight) / unit).numerator % 2 for weight in weights)


@pytest.mark.parametrize("spread", [0, 20, 60, 600])
@pytest.mark.parametrize("count", [1, 50, BLOCK + 3, 300_000])
def test_running_totals_of_doubles_are_those_of_their_integers(spread, count):
    rng = np.random.default_rng(count + spread)
    weights = rng.random(count) * 2.0 ** rng.integers(-spread, 1, count)
    rows = rng.permutation(count)
    integers, unit = as_integers(weights)
    assert unit == smallest_bit(weights)
    expected = np.cumsum(integers.astype(np.object_)[rows])
    bits = int(expected[-1]).bit_length()
    found = [running_totals(recast(integers, bits), rows)]
    if fits_limbs(bits, unit):
        found.append(running_doubles(np.append(0.0, weights[rows]), unit, bits))
    for running in found:
        assert running[0] == 0
        assert (running[1:] == expected).all()


@given(st.lists(st.tuples(st.floats(allow_nan=False, allow_infinity=False), st.integers(0, 2**90)), min_size=1))
def test_a_weighted_sum_of_doubles_has_no_rounding_at_all(rows):
    values, weights = np.array([value for value, _ in rows]), objects([weight for _, weight in rows])
    expected = sum(Fraction(value) * weight for value, weight in rows)
    total = int(weights.sum())
    running = recast(np.concatenate(([0], np.cumsum(weights))), total.bit_length())
    for column in (weights, recast(weights, total.bit_length())):
        assert Fraction(exact_dot(values, column), 1 << UNIT) == expected
    assert Fraction(exact_dot_steps(values, running, lambda some, *_: some.copy()), 1 << UNIT) == expected
