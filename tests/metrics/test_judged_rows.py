"""Costs of single rows of several classes: against more digits, and whatever rows stand beside them."""

import numpy as np
import pytest

import tercet as tc
from tercet.metrics.costs import JudgedRows, right, squared_distance, surprise
from tercet.metrics.posteriors import Likelihoods, joint, least_cost_actions

ROUNDING = 2.0**-52


def likelihoods(scores):
    return Likelihoods.of(tc.Trials.of_log_likelihoods(scores, orientation="samples x classes"))


def judged(scores, labels, prior):
    block = likelihoods(scores).block(slice(None))
    return JudgedRows.of(joint(block, np.log(prior)), labels)


@pytest.mark.parametrize("spread", [1e-9, 0.1, 3.0, 40.0, 700.0])
@pytest.mark.parametrize("classes", [2, 3, 10, 40])
def test_costs_of_rows_agree_with_more_digits(spread, classes):
    rng = np.random.default_rng(classes)
    scores, labels = rng.normal(0.0, spread, (2000, classes)), rng.integers(0, classes, 2000)
    prior = rng.random(classes) + 0.01
    prior /= prior.sum()
    found = judged(scores, labels, prior)

    rows = np.arange(2000)
    logs = np.longdouble(1) * (scores - scores.max(axis=1, keepdims=True)) + np.log(prior)
    logs -= logs[rows, labels][:, None]  # relative to the true class
    others = np.exp(logs)
    others[rows, labels] = 0
    rest = others.sum(axis=1)
    near = {"rtol": ROUNDING * (classes + 10 * max(spread, 1.0)), "atol": 1e-300}  # a log of size x rounds e^x by x
    assert np.allclose(surprise(found), np.log1p(rest).astype(np.float64), **near)
    squares = (rest**2 + (others**2).sum(axis=1)) / (1 + rest) ** 2
    assert np.allclose(squared_distance(found), squares.astype(np.float64), **near)
    assert np.array_equal(right(found), logs.argmax(axis=1) == labels)


def test_ties_and_classes_that_are_ruled_out():
    never = -np.inf
    scores = np.array([[0.0, 0.0, never], [0.0, 0.0, never], [5.0, never, never], [never, 5.0, never], [1.0, 1.0, 1.0]])
    found = judged(scores, np.array([0, 1, 0, 0, 2]), np.full(3, 1 / 3))
    assert right(found).tolist() == [True, False, True, False, False]  # the first of those that tie
    assert surprise(found).tolist() == [np.log(2), np.log(2), 0.0, np.inf, np.log(3)]
    assert squared_distance(found).tolist() == pytest.approx([0.5, 0.5, 0.0, 2.0, 2 / 3])


@pytest.mark.parametrize("classes", [2, 7, 130])
def test_no_row_depends_on_those_beside_it(classes):
    rng = np.random.default_rng(classes)
    scores, labels = rng.normal(0.0, 2.0, (300, classes)), rng.integers(0, classes, 300)
    prior = np.arange(1.0, classes + 1.0) / (classes * (classes + 1) / 2)
    apps = [
        tc.Application.multiclass(prior),
        tc.Application.multiclass(np.full(classes, 1 / classes)),
        tc.Application.multiclass(prior, rng.random((classes, classes)) * (1 - np.eye(classes))),
    ]
    together = judged(scores, labels, prior)
    every = likelihoods(scores)
    actions = [least_cost_actions(app, every) for app in apps]
    for start, stop in [(0, 1), (1, 2), (2, 4), (4, 11), (11, 300)]:
        some = judged(scores[start:stop], labels[start:stop], prior)
        for cost in (right, surprise, squared_distance):
            assert np.array_equal(cost(some), cost(together)[start:stop])
        part = likelihoods(scores[start:stop])
        for app, chosen in zip(apps, actions, strict=True):
            assert np.array_equal(least_cost_actions(app, part), chosen[start:stop])


def test_blocks_are_those_of_the_log_likelihoods():
    rng = np.random.default_rng(5)
    posteriors = rng.dirichlet(np.ones(4), 50)
    prior = (0.1, 0.2, 0.3, 0.4)
    for trials in (tc.Trials.of_posteriors(posteriors, trained_prior=prior), tc.Trials.of_log_likelihoods(posteriors)):
        logs = trials.log_likelihoods.T.copy()
        found = Likelihoods.of(trials)
        assert np.array_equal(found.block(slice(None)), logs - logs.max(axis=0))
        assert np.array_equal(found.block(slice(7, 9)), (logs - logs.max(axis=0))[:, 7:9])
    columns = Likelihoods([*posteriors.astype(np.float32).T], np.log(prior))
    logits = tc.Trials.of_logits(posteriors.astype(np.float32), trained_prior=prior)
    assert np.array_equal(columns.block(slice(None)), Likelihoods.of(logits).block(slice(None)))
