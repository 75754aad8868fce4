"""The course's splits."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tercet as tc
from tercet.recognizers import every_nth, k_folds, split_2_to_1


def test_the_2_to_1_split_is_numpys_seeded_permutation():
    state = np.random.RandomState(0)
    order = state.permutation(150)
    train, test = split_2_to_1(150, 0)
    assert train.tolist() == order[:100].tolist()
    assert test.tolist() == order[100:].tolist()
    assert (len(train), len(test)) == (100, 50)


def test_the_global_generator_is_left_alone():
    before = np.random.get_state()[1].tolist()  # noqa: NPY002
    split_2_to_1(10, 3)
    k_folds(10, 2, 3)
    assert np.random.get_state()[1].tolist() == before  # noqa: NPY002


@given(st.integers(2, 200), st.data())
def test_every_split_uses_every_row_once(n, data):
    k = data.draw(st.integers(2, n))
    seed = data.draw(st.none() | st.integers(0, 2**32 - 1))
    splits = [split_2_to_1(n, seed or 0), every_nth(n, k), every_nth(n, k, k - 1), *k_folds(n, k, seed)]
    for split in splits:
        assert sorted([*split.train, *split.test]) == list(range(n))
    folds = k_folds(n, k, seed)
    assert sorted(np.concatenate([fold.test for fold in folds])) == list(range(n))
    sizes = [len(fold.test) for fold in folds]
    assert max(sizes) - min(sizes) <= 1


def test_every_fourth_row_from_the_first_is_for_testing():
    assert every_nth(9, 4).test.tolist() == [0, 4, 8]
    assert every_nth(9, 4, 3).test.tolist() == [3, 7]


@pytest.mark.parametrize(
    "call",
    [
        lambda: split_2_to_1(1),
        lambda: split_2_to_1(10.0),
        lambda: split_2_to_1(True),
        lambda: split_2_to_1(10, -1),
        lambda: split_2_to_1(10, 2**32),
        lambda: split_2_to_1(10, None),
        lambda: every_nth(10, 1),
        lambda: every_nth(10, 4, 4),
        lambda: every_nth(2, 4, 2),
        lambda: k_folds(10, 11),
        lambda: k_folds(10, 1),
    ],
)
def test_impossible_splits_are_refused(call):
    with pytest.raises(tc.InputError):
        call()
