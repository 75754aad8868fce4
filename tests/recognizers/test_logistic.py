"""Logistic regression on samples: against its definition, Gaussian classes, and bad input."""

import math

import numpy as np
import pytest

import tercet as tc
from tercet.recognizers import LogisticRecognizer


def objective(model, samples, labels, prior, penalty):
    """The minimised function, written from its definition."""
    phi = [
        ([a * b for i, a in enumerate(x) for b in x[i:]] if model.expansion == "quadratic" else []) + list(x)
        for x in samples.tolist()
    ]
    offset = model.offset + math.log(prior / (1 - prior))
    total = penalty / 2 * math.fsum(w * w for w in model.weights)
    sizes = {1: labels.sum(), 0: (1 - labels).sum()}
    for row, label in zip(phi, labels.tolist(), strict=True):
        margin = (1 if label else -1) * (math.fsum(w * v for w, v in zip(model.weights, row, strict=True)) + offset)
        total += (prior if label else 1 - prior) / sizes[label] * (math.log1p(math.exp(-abs(margin))) + max(-margin, 0))
    return total


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    labels = np.arange(300) % 2
    return rng.normal(size=(300, 2)) * np.where(labels, 2.0, 1.0)[:, None] + labels[:, None], labels


@pytest.mark.parametrize("expansion", ["linear", "quadratic"])
@pytest.mark.parametrize(("prior", "penalty"), [(0.5, 0.0), (0.1, 0.01), (0.9, 1.0)])
def test_no_other_weights_cost_less(data, expansion, prior, penalty):
    from dataclasses import replace

    samples, labels = data
    model = LogisticRecognizer.fit(samples, labels, prior=prior, penalty=penalty, expansion=expansion)
    least = objective(model, samples, labels, prior, penalty)
    rng = np.random.default_rng(1)
    for _ in range(20):
        moved = replace(model, weights=model.weights + rng.normal(size=len(model.weights)) * 0.01,
                        offset=model.offset + rng.normal() * 0.01)  # fmt: skip
        assert objective(moved, samples, labels, prior, penalty) > least
    assert model.training["gradient_norm"] < 1e-9


def test_the_training_prior_is_taken_off(data):
    samples, labels = data
    scores = [LogisticRecognizer.fit(samples, labels, prior=prior).llr(samples) for prior in (0.3, 0.7)]
    assert abs(np.mean(scores[0] - scores[1])) < 0.3  # not logit(0.7) - logit(0.3) = 1.7


def test_the_quadratic_expansion_finds_the_llr_of_two_gaussians():
    rng = np.random.default_rng(2)
    labels = np.arange(40_000) % 2
    samples = rng.normal(size=(40_000, 1)) * np.where(labels, 2.0, 1.0)[:, None] + labels[:, None]
    model = LogisticRecognizer.fit(samples, labels, expansion="quadratic")
    # ln N(x; 1, 4) - ln N(x; 0, 1) = 3/8 x^2 + x/4 - 1/8 - ln 2
    assert [*model.weights, model.offset] == pytest.approx([0.375, 0.25, -0.125 - math.log(2)], abs=0.05)


def test_a_calibrator_of_one_feature_is_the_same_map(data):
    samples, labels = data
    model = LogisticRecognizer.fit(samples[:, :1], labels, prior=0.2)
    calibrator = tc.Logistic.fit(tc.Trials.of_scores(samples[:, 0], labels), prior=0.2)
    assert (model.weights[0], model.offset) == pytest.approx((calibrator.slope, calibrator.offset), rel=1e-9)


def test_it_gives_trials_that_mean_llr(data):
    samples, labels = data
    named = np.where(labels, "yes", "no")
    model = LogisticRecognizer.fit(samples, named, classes=["yes", "no"])  # the last is the target
    trials = model.trials(samples, named)
    assert (trials.meaning, trials.classes) == ("llr", ("yes", "no"))
    assert trials.labels.tolist() == (named == "no").tolist()
    assert tc.evaluate(trials, [(0.5, 1, 1)]).applications[0].dcf < 1.0


def test_it_can_be_saved(data):
    model = LogisticRecognizer.fit(*data, penalty=0.1, expansion="quadratic")
    again = LogisticRecognizer.from_json(model.to_json())
    assert again.llr(data[0]).tolist() == model.llr(data[0]).tolist()
    with pytest.raises(tc.InputError, match="do not fit"):
        LogisticRecognizer.from_json(model.to_json().replace('"features": 2', '"features": 3'))


def test_separable_samples_need_a_penalty():
    samples, labels = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]
    with pytest.raises(tc.CalibrationError, match="penalty"):
        LogisticRecognizer.fit(samples, labels)
    assert LogisticRecognizer.fit(samples, labels, penalty=0.1).llr([[0.0], [3.0]])[1] > 0.0


@pytest.mark.parametrize(
    ("samples", "labels"),
    [
        ([[0.0], [1.0], [1.0], [2.0]], [0, 0, 1, 1]),
        ([[0.0, 5.0], [1.0, 5.0], [1.0, 5.0], [2.0, 5.0]], [0, 0, 1, 1]),  # a constant feature
        ([[0.0, 0.0], [1.0, 2.0], [1.0, 2.0], [2.0, 4.0]], [0, 0, 1, 1]),  # dependent features
        ([[0.3, 0.3], [0.1, 0.1], [0.2, 0.2], [0.7, 0.7], [0.1, 0.9], [0.9, 0.2]], [0, 1, 0, 1, 0, 1]),  # on a plane
        ([[1.0], [1.0], [1.0], [1.0], [2.0]], [0, 1, 0, 1, 1]),
    ],
)
def test_samples_that_a_plane_divides_but_for_those_on_it_need_a_penalty(samples, labels):
    with pytest.raises(tc.CalibrationError, match=r"no finite solution.*penalty"):
        LogisticRecognizer.fit(samples, labels)
    assert np.isfinite(LogisticRecognizer.fit(samples, labels, penalty=0.1).weights).all()


def test_nearly_separable_samples_and_dependent_features_have_a_finite_solution():
    steep = LogisticRecognizer.fit([[0.0], [1.0 + 1e-3], [1.0], [2.0]], [0, 0, 1, 1])
    assert steep.weights[0] > 1.0
    samples = np.random.default_rng(0).normal(size=(200, 2))
    labels = (samples[:, 0] + np.random.default_rng(1).normal(size=200) > 0).astype(int)
    alone = LogisticRecognizer.fit(samples, labels)
    twice = LogisticRecognizer.fit(np.c_[samples, samples.sum(axis=1), np.full(200, 3.0)], labels)
    assert np.allclose(twice.llr(np.c_[samples, samples.sum(axis=1), np.full(200, 3.0)]), alone.llr(samples), atol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"samples": [[1.0], [math.inf]], "labels": [0, 1]}, "finite"),
        ({"samples": [[1.0], [2.0], [3.0]], "labels": [0, 1, 2]}, "two classes"),
        ({"samples": [[1.0], [2.0]], "labels": [0, 1], "penalty": -1.0}, "penalty"),
        ({"samples": [[1.0], [2.0]], "labels": [0, 1], "prior": 1.0}, "prior"),
        ({"samples": [[1.0], [2.0]], "labels": [0, 1], "expansion": "cubic"}, "expansion"),
        ({"samples": [1.0, 2.0], "labels": [0, 1]}, "must be a matrix"),
        ({"samples": [[1.0], [2.0]], "labels": [0]}, "labels"),
        ({"samples": [[1e200, 1.0], [-1e200, 2.0]], "labels": [0, 1], "expansion": "quadratic"}, "too large"),
    ],
)
def test_bad_input_is_refused_in_words(arguments, words):
    with pytest.raises(tc.TercetError, match=words):
        LogisticRecognizer.fit(**arguments)


def test_samples_of_another_width_are_refused(data):
    with pytest.raises(tc.InputError, match="features"):
        LogisticRecognizer.fit(*data).llr([[1.0]])


@pytest.mark.parametrize("step", [1.0, 1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1e-10])
def test_a_plane_along_nearly_dependent_features_divides_samples_however_near_they_are(step):
    rng = np.random.default_rng(0)
    labels, x, on = rng.integers(0, 2, 200), rng.standard_normal(200), rng.random(200) < 0.5
    samples = np.stack((x, x + step * np.where(on, 0, 2 * labels - 1)), axis=1)
    with pytest.raises(tc.CalibrationError):
        LogisticRecognizer.fit(samples, labels)
