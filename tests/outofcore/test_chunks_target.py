"""Chunks in which the named target is absent: only the whole must hold it."""

import numpy as np
import pytest

import tercet as tc

from .helpers import evaluated


class Chunked:
    def __init__(self, *chunks):
        self.parts = chunks

    def chunks(self):
        return iter(self.parts)


def test_a_chunk_may_hold_no_target_when_another_does():
    first = np.array([1.0, 2.0, -1.0]), np.array(["a", "b", "a"])
    second = np.array([-3.0, -2.0]), np.array(["a", "a"], object)
    scores, labels = np.concatenate((first[0], second[0])), [*first[1], *second[1]]
    found = evaluated(Chunked(first, second), [(0.5, 1, 1)], target="b")
    whole = tc.evaluate(tc.Trials.of_llr(scores, labels, target="b"), [(0.5, 1, 1)])
    assert found.applications == whole.applications
    assert found.cllr == whole.cllr


def test_a_target_that_no_chunk_holds_is_said():
    chunk = np.array([1.0, 2.0]), np.array(["a", "b"])
    with pytest.raises(tc.UndefinedError, match="no targets"):
        evaluated(Chunked(chunk), target="c")


def test_labels_of_different_chunks_are_judged_together():
    chunks = [(np.array([1.0, -1.0]), np.array(["yes", "no"])), (np.array([2.0]), np.array(["Yes"]))]
    with pytest.raises(tc.InputError, match="'yes', the target, and 'Yes'"):
        evaluated(Chunked(*chunks), [(0.5, 1, 1)], target="yes")
