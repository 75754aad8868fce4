"""The order of scores with their row numbers, against numpy's own."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tercet._numeric import order
from tercet._numeric.order import RowKeys

SCORES = st.one_of(
    st.floats(allow_nan=False),
    st.integers(-3, 3).map(float),
    st.integers(0, 9).map(lambda step: 1.0 + step * 2.0**-52),
)


def ordered(scores):
    keys = RowKeys(scores)
    found = keys.ranked(keys.keys)
    return keys, found.rows, found.scores


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
    keys, rows, ranked = ordered(scores)
    assert keys.cut > 0
    np.testing.assert_array_equal(ranked, np.sort(scores))
    np.testing.assert_array_equal(scores[rows], ranked)


def test_scores_in_a_narrow_range_are_ordered_by_the_keys_alone():
    scores = 1.0 + np.random.default_rng(0).permutation(1 << 12) * 2.0**-52
    assert ordered(scores)[0].cut == 0


def test_what_is_carried_along_stays_with_its_score():
    rng = np.random.default_rng(1)
    scores = np.append(1.0 + rng.integers(0, 99, 5000) * 2.0**-52, [-1e300, 1e300])
    carried = np.arange(5002.0)
    keys = RowKeys(scores, carried)
    found = keys.ranked(keys.keys)
    np.testing.assert_array_equal(found.carried[1:], carried[found.rows])
    np.testing.assert_array_equal(found.scores, scores[found.rows])


@pytest.mark.parametrize("run", [2, 3, 9, 40])
def test_runs_of_any_length_are_found_from_within(run):
    keys = np.sort(np.concatenate([np.arange(run) + (7 << 10), [0, (1 << 63) - 1], np.arange(run) + (9 << 10)]))
    for inside in range(run - 1):
        first, sizes = order._runs(keys, np.array([1 + inside, 1 + run + inside]), 10)
        assert (first.tolist(), sizes.tolist()) == ([1, 1 + run], [run, run])


def test_a_run_at_either_end_is_found():
    keys = np.array([*range(-(1 << 63), 20 - (1 << 63)), *range((1 << 63) - 20, 1 << 63)])
    first, sizes = order._runs(keys, np.array([0, 18, 20, 38]), 6)
    assert (first.tolist(), sizes.tolist()) == ([0, 20], [20, 20])
