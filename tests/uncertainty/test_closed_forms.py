"""DeLong, McNemar and boxes, against brute force and by hand."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tercet as tc
from tercet.metrics.binomial import delong, delong_test, mcnemar, sigma_box, sign_test
from tercet.testing import labelled_scores

from .helpers import same


def brute_placements(scores, labels):
    targets = [s for s, y in zip(scores, labels, strict=True) if y]
    others = [s for s, y in zip(scores, labels, strict=True) if not y]
    kernel = np.array([[(t > n) + 0.5 * (t == n) for n in others] for t in targets])
    return kernel.mean(axis=1), kernel.mean(axis=0)


def brute_variance(rows):
    return sum(np.var(row, ddof=1) / len(row) for row in rows)


@given(labelled_scores(min_each=2, max_size=24))
def test_delongs_variance_equals_brute_force(rows):
    found = delong(tc.Tally.of(tc.Trials.of_llr(*rows)))
    assert same(found.variance, brute_variance(brute_placements(*rows)))
    assert same(found.value, tc.evaluate(tc.Trials.of_llr(*rows)).auc)
    assert 0.0 <= found.low <= found.value <= found.high <= 1.0
    assert found.low < found.high


@given(labelled_scores(min_each=2, max_size=12), st.integers(0, 9))
@settings(max_examples=40)
def test_delongs_paired_test_equals_brute_force(rows, seed):
    scores, labels = rows
    other = np.random.default_rng(seed).integers(-2, 3, len(scores)).astype(float)
    found = delong_test(tc.Trials.of_llr(scores, labels), tc.Trials.of_llr(other, labels))
    gaps = [a - b for a, b in zip(brute_placements(scores, labels), brute_placements(other, labels), strict=True)]
    assert same(found.standard_error**2, brute_variance(gaps))
    assert same(found.difference, float(gaps[0].mean()))


@given(labelled_scores(min_each=2, max_size=10))
def test_whole_weights_are_repeated_rows_to_delong(rows):
    scores, labels = rows
    weights = 1 + np.arange(len(scores)) % 3
    heavy = tc.Trials.of_llr(scores, labels, weights=weights)
    repeated = tc.Trials.of_llr(np.repeat(scores, weights), np.repeat(labels, weights))
    assert same(delong(tc.Tally.of(heavy)).variance, delong(tc.Tally.of(repeated)).variance)


def test_separable_classes_have_a_lower_bound_not_a_point():
    trials = tc.Trials.of_llr([2.0, 3.0, 4.0, -1.0, -2.0, -3.0], [1, 1, 1, 0, 0, 0])
    found = delong(tc.Tally.of(trials))
    assert (found.value, found.high) == (1.0, 1.0)
    assert 0.0 < found.low < 0.2
    assert "clopper-pearson" in found.method
    turned = delong(tc.Tally.of(tc.Trials.of_llr(-trials.scores, trials.labels)))
    assert turned.low == 0.0
    assert turned.high == pytest.approx(1.0 - found.low)


def test_delong_refuses_what_has_no_variance():
    with pytest.raises(tc.UndefinedError):
        delong(tc.Tally.of(tc.Trials.of_llr([1.0, 0.0], [1, 0])))
    with pytest.raises(tc.UndefinedError):
        delong(tc.Tally.of(tc.Trials.of_llr([1.0, 0.0], [1, 1])))
    with pytest.raises(tc.InputError, match="fractional"):
        delong(tc.Tally.of(tc.Trials.of_llr([1.0, 0.0], [1, 0], weights=[0.5, 1])))
    a, b = tc.Trials.of_llr([1.0, 0.0], [1, 0]), tc.Trials.of_llr([1.0, 0.0], [0, 1])
    with pytest.raises(tc.InputError, match="same trials"):
        delong_test(a, b)


@given(st.integers(0, 12), st.integers(0, 12))
def test_mcnemar_is_the_exact_sign_test(one, other):
    total = one + other
    tail = sum(math.comb(total, k) for k in range(min(one, other) + 1)) / 2**total
    assert same(sign_test(one, other), min(1.0, 2.0 * tail))


def test_mcnemar_counts_lone_errors():
    truth = [1, 1, 0, 0, 1, 0]
    found = mcnemar([1, 0, 0, 1, 1, 1], [1, 0, 1, 0, 1, 0], truth)
    assert (found.first_only, found.second_only) == (2, 1)
    assert mcnemar(truth, truth, truth).p_value == 1.0
    with pytest.raises(tc.InputError, match="second has 1"):
        mcnemar([1, 0], [1], [1, 0])


def test_a_sigma_box_is_two_k_sigma_intervals():
    box = sigma_box(tc.Confusion([[90, 20], [10, 80]]), 2)
    assert box.fpr[:2] == pytest.approx((0.1 - 0.06, 0.1 + 0.06))
    assert box.fnr[:2] == pytest.approx((0.2 - 0.08, 0.2 + 0.08))
    assert sigma_box(tc.Confusion([[90, 0], [10, 100]]), 2).fnr.method == "clopper-pearson"


def test_delong_and_bootstrap_agree_on_enough_trials():
    from tercet.uncertainty import bootstrap

    from .helpers import gaussian

    trials = gaussian(400, 600)
    exact, drawn = delong(tc.Tally.of(trials)), bootstrap(trials, resamples=400, quantities=["auc"])["auc"]
    assert math.sqrt(exact.variance) == pytest.approx(drawn.standard_error, rel=0.15)
    assert (exact.low, exact.high) == pytest.approx((drawn.low, drawn.high), abs=0.01)
    assert len(list(itertools.chain(exact))) == 5
