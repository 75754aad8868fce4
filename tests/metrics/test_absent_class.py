"""A class that is scored but not among the labels makes undefined only what divides by its count."""

import math

import numpy as np
import pytest

import tercet as tc

SHARES = np.array([[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.5, 0.4, 0.1], [0.1, 0.2, 0.7]])
TRIALS = tc.Trials.of_posteriors(SHARES, [0, 1, 1, 0], trained_prior=[1 / 3] * 3)


def at_own_prior():
    moved = SHARES * [0.5, 0.5, 0.0]
    return moved / moved.sum(axis=1, keepdims=True)


def test_accuracy_log_loss_brier_and_top_k_are_given():
    own, rows = at_own_prior(), (range(4), [0, 1, 1, 0])
    assert tc.log_loss(TRIALS) == pytest.approx(-np.log2(own[rows]).mean())
    truth = np.eye(3)[[0, 1, 1, 0]]
    assert tc.brier(TRIALS) == pytest.approx(((own - truth) ** 2).sum(axis=1).mean())
    assert tc.top_k_accuracy(TRIALS, 1) == 0.5
    assert tc.top_k_accuracy(TRIALS, 2) == 1.0
    assert tc.perplexity(TRIALS) == pytest.approx(2.0 ** tc.log_loss(TRIALS))
    found = tc.evaluate(TRIALS, [tc.Application.multiclass([0.2, 0.3, 0.5])])
    assert (found.accuracy, found.log_loss, found.brier) == (0.5, tc.log_loss(TRIALS), tc.brier(TRIALS))
    assert found.normalised_cross_entropy == pytest.approx(tc.log_loss(TRIALS))  # the entropy of (1/2, 1/2) is 1 bit
    assert found.applications[0].risk is None
    assert "no trials" in found.applications[0].reasons["risk"]


def test_what_divides_by_the_absent_class_is_undefined():
    with pytest.raises(tc.UndefinedError, match="no trials of class '2'"):
        tc.log_loss(TRIALS, [0.2, 0.3, 0.5])


def test_a_row_that_rules_out_every_class_that_occurs_is_named():
    shares = np.vstack((SHARES, [0.0, 0.0, 1.0]))
    trials = tc.Trials.of_posteriors(shares, [0, 1, 1, 0, 1], trained_prior=[1 / 3] * 3)
    with pytest.raises(tc.UndefinedError, match="Row 4"):
        tc.log_loss(trials)
    assert math.isfinite(tc.log_loss(TRIALS))


def test_labels_of_one_class_alone_leave_no_prior():
    with pytest.raises(tc.UndefinedError, match="own prior"):
        tc.log_loss(tc.Trials.of_posteriors(SHARES, [0, 0, 0, 0], trained_prior=[1 / 3] * 3))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_the_accuracy_is_that_of_the_decisions_at_the_datas_own_frequencies(seed, weighted):
    rng = np.random.default_rng(seed)
    labels = np.append(rng.integers(0, 4, 300), np.arange(4))
    weights = rng.integers(0, 5, len(labels)) / 4.0 if weighted else None
    if weighted:
        weights[-4:] = 1.0
    rows = rng.integers(0, 3, (len(labels), 4)) * 1.0  # with many ties, of which the first class wins
    trials = tc.Trials.of_log_likelihoods(rows, labels, weights=weights, orientation="samples x classes")
    share = np.bincount(labels, weights) / (len(labels) if weights is None else weights.sum())
    decided = tc.confusion_of(trials, tc.Application.multiclass(share))
    assert tc.evaluate(trials).accuracy == decided.accuracy
