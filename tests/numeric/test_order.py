"""The order of scores with their row numbers, against numpy's own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tercet._numeric.order import RowKeys

SCORES = st.one_of(
    st.floats(allow_nan=False),
    st.integers(-3, 3).map(float),
    st.integers(0, 9).map(lambda step: 1.0 + step * 2.0**-52),
)


def ordered(scores):
    order = RowKeys(scores)
    found = order.ranked(order.keys)
    return order, found.rows, found.scores


@given(arrays(np.float64, st.integers(0, 40), elements=SCORES).map(lambda values: values + 0.0))
def test_rows_come_by_ascending_score_each_once(scores):
    _, rows, ranked = ordered(scores)
    np.testing.assert_array_equal(ranked, np.sort(scores))
    np.testing.assert_array_equal(scores[rows], ranked)
    np.testing.assert_array_equal(np.sort(rows), np.arange(len(scores)))


@pytest.mark.parametrize("count", [70_000, 300_000])
def test_neighbours_that_differ_in_their_last_bits_only_are_put_in_order(count):
    rng = np.random.default_rng(count)
    scores = 1.0 + rng.integers(0, 1 << 20, count) * 2.0**-52  # apart by less than the key keeps of 1e300
    scores[:2] = [-1e300, 1e300]
    order, rows, ranked = ordered(scores)
    assert order.cut > 0
    np.testing.assert_array_equal(ranked, np.sort(scores))
    np.testing.assert_array_equal(scores[rows], ranked)


def test_scores_in_a_narrow_range_are_ordered_by_the_keys_alone():
    scores = 1.0 + np.random.default_rng(0).permutation(1 << 12) * 2.0**-52
    assert ordered(scores)[0].cut == 0


def test_what_is_carried_along_stays_with_its_score():
    rng = np.random.default_rng(1)
    scores = np.append(1.0 + rng.integers(0, 99, 5000) * 2.0**-52, [-1e300, 1e300])
    carried = np.arange(5002.0)
    order = RowKeys(scores, carried)
    found = order.ranked(order.keys)
    np.testing.assert_array_equal(found.carried[1:], carried[found.rows])
    np.testing.assert_array_equal(found.scores, scores[found.rows])
