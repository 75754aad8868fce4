"""Hulls without a fold, from the ranks of all rows, are those of the rows that are left."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tercet as tc
from tercet.metrics.binomial import delong
from tercet.uncertainty._two_class import TwoClassSample, _delong_variance


@given(st.integers(0, 2**32), st.integers(2, 60), st.integers(2, 60), st.booleans())
def test_fold_hulls_from_shared_ranks_equal_hulls_of_the_training_parts(seed, targets, nontargets, tied):
    rng = np.random.default_rng(seed)
    labels = np.repeat([1, 0], [targets, nontargets])
    scores = rng.normal(size=len(labels)) + labels
    sample = TwoClassSample.of(tc.Trials.of_llr(scores.round(1) if tied else scores, labels))
    for hull, tally in zip(sample.folds.hulls, sample.folds.tallies, strict=True):
        known = tc.Curve.of(tally).hull
        assert hull.thresholds.tolist() == known.thresholds.tolist()
        assert hull.misses.tolist() == known.misses.tolist()
        assert hull.false_alarms.tolist() == known.false_alarms.tolist()
        assert (hull.targets, hull.nontargets) == (known.targets, known.nontargets)


@given(st.integers(0, 2**32), st.integers(2, 40), st.integers(2, 40), st.booleans())
def test_the_variance_from_ranks_is_delongs(seed, targets, nontargets, tied):
    rng = np.random.default_rng(seed)
    labels = np.repeat([1, 0], [targets, nontargets])
    scores = rng.normal(size=len(labels)) + labels
    curve = tc.Curve.of(tc.Trials.of_llr(scores.round(1) if tied else scores, labels))
    assert _delong_variance(curve) == pytest.approx(delong(curve.tally).variance, abs=1e-12)


def test_counts_out_of_fold_are_those_of_the_rows():
    rng = np.random.default_rng(1)
    labels = np.repeat([1, 0], [70, 90])
    for weights in (None, rng.integers(1, 4, 160)):
        trials = tc.Trials.of_llr(
            rng.normal(size=160) + labels, labels, weights=weights, ids=[str(k) for k in range(160)]
        )
        folds = TwoClassSample.of(trials).folds
        thresholds = rng.normal(size=(folds.count, 3))
        for side in (0, 1):
            heavy = np.ones(len(folds.scores[side])) if folds.weights[side] is None else folds.weights[side]
            own = thresholds[folds.numbers[side]]
            expected = [heavy[folds.scores[side] <= own[:, k]].sum() for k in range(3)]
            assert folds.counts(side, thresholds).tolist() == expected
