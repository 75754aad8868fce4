"""Constructors of records: what is built by hand is checked as what the functions build."""

import copy
import pickle
from dataclasses import replace

import numpy as np
import pytest

import tercet as tc
from tercet.outofcore import Arrays

LLR = tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
THREE = tc.Trials.of_posteriors([[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]], [2, 0], trained_prior=[0.2, 0.3, 0.5])
APP = tc.Application.multiclass([0.2, 0.3, 0.5])


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"prior": [0.2, 0.9, 0.1]}, "prior must sum to 1"),
        ({"prior": [0.5, 0.5]}, "costs must have one column"),
        ({"costs": -np.ones((3, 3))}, "costs must be finite and not negative"),
        ({"costs": np.zeros((3, 3))}, "costs are all 0"),
        ({"classes": ("a", "b")}, "classes has 2 names"),
        ({"actions": ("a", "a", "b")}, "actions must be distinct"),
        ({"actions": "abc"}, "actions must be a list"),
    ],
)
def test_a_multiclass_application_is_checked_whoever_builds_it(changed, named):
    with pytest.raises(tc.InputError, match=named):
        replace(APP, **changed)


def test_the_priors_of_an_application_keep_their_bits():
    for seed in range(200):
        prior = np.random.default_rng(seed).dirichlet(np.ones(5))
        app = tc.Application.multiclass(prior)
        assert replace(app).prior.tobytes() == app.prior.tobytes()


@pytest.mark.parametrize(
    ("trials", "changed", "named"),
    [
        (LLR, {"meaning": "llrs"}, "meaning must be one of"),
        (LLR, {"meaning": "posterior"}, "trained_prior is needed"),
        (LLR, {"meaning": "posterior", "trained_prior": 0.5}, "scores that are posterior must lie in 0..1"),
        (LLR, {"meaning": "logits", "trained_prior": (0.5, 0.5)}, "scores that are logits need one column per class"),
        (LLR, {"trained_prior": 0.5}, "trained_prior cannot be combined with"),
        (LLR, {"labels": [0, 1]}, "labels has 2 entries for 6 rows"),
        (LLR, {"labels": [0, 1, 2, 3, 4, 5]}, "labels"),
        (LLR, {"scores": [1.0, np.nan]}, "scores must not contain NaN"),
        (LLR, {"scores": np.zeros((2, 2, 2))}, "scores that are llr need one number per trial"),
        (LLR, {"weights": [1.0, 1.0, 1.0, 1.0, 1.0, -1.0]}, "weights must be finite and not negative"),
        (LLR, {"weights": np.ones((6, 1))}, "weights must be one-dimensional"),
        (LLR, {"groups": {"a": [1]}}, r"groups\['a'\] has 1 entries"),
        (LLR, {"groups": ["a"]}, "groups must be a mapping"),
        (LLR, {"name": 3}, "name must be text"),
        (LLR, {"classes": ("a", "b", "c")}, "classes has 3 names"),
        (THREE, {"scores": [[0.2, 0.3, 0.6], [0.6, 0.3, 0.1]]}, "posteriors must sum to one"),
        (THREE, {"labels": [3, 0]}, "labels must lie in 0..2"),
        (THREE, {"trained_prior": (0.2, 0.3, 0.6)}, "trained_prior must sum to 1"),
        (THREE, {"trained_prior": "x"}, "trained_prior must be a number"),
    ],
)
def test_trials_are_checked_whoever_builds_them(trials, changed, named):
    with pytest.raises(tc.InputError, match=named):
        replace(trials, **changed)


def test_trials_built_by_hand_convert_and_do_not_share_their_columns():
    scores, groups = np.array([1.0, -1.0]), {"speaker": np.array(["a", "b"])}
    trials = tc.Trials(scores, "llr", [1, 0], ["no", "yes"], None, [1, 2], None, groups, None)
    scores[0] = groups["speaker"][0] = 9
    assert trials.scores.tolist() == [1.0, -1.0]
    assert trials.groups["speaker"].tolist() == ["a", "b"]
    assert trials.labels.dtype == np.bool_
    assert trials.classes == ("no", "yes")
    assert not trials.weights.flags.writeable


@pytest.mark.parametrize(
    ("build", "named"),
    [
        (lambda: tc.Tally(LLR, LLR, "llr"), "targets must be of the class Ranked"),
        (lambda: replace(tc.Tally.of(LLR), meaning="x"), "meaning must be one of"),
        (lambda: tc.Curve(LLR), "tally must be of the class Tally"),
        (lambda: tc.Logistic(1.0, np.inf, {}), "offset must be finite"),
        (lambda: tc.Logistic(1.0, 0.0, "facts"), "training must be a mapping"),
        (lambda: tc.Logistic(1.0, 0.0, {}).to_json(), "training must say trials"),
        (lambda: tc.Isotonic([[0.0]], [0.0, 1.0], [], {}), "thresholds must be 1-dimensional"),
        (lambda: tc.Fusion(("a", "b"), [1.0], [0.0], {}), "training must say"),
        (lambda: tc.RandomisedRule(None, 0.0, 1.5, 0.1, 0.1), "probability must be a rate"),
        (lambda: tc.BetaPosterior(-1.0, 1.0, "jeffreys"), "a must be positive"),
        (lambda: tc.Interval("0.1", 0.2, "wilson"), "low must be a number"),
        (lambda: tc.Interval(0.1, np.nan, "wilson"), "high must be a number, not NaN"),
        (lambda: replace(tc.evaluate(LLR, [0.5]), auc="high"), "auc must be a number"),
        (lambda: replace(tc.evaluate(LLR, [0.5]), applications=[1]), r"applications\[0\] must be of the class Result"),
        (lambda: replace(tc.evaluate(LLR, [0.5]), eer=0.1), "eer must be of the class Eer"),
        (lambda: Arrays([1.0], [1, 0]), "labels has 2 entries"),
        (lambda: tc.datasets.Table([[1.0]], [0], ("a", "b"), ("x", "y")), "samples must have a column"),
    ],
)
def test_a_wrong_field_is_named(build, named):
    with pytest.raises(tc.InputError, match=named):
        build()


def test_fields_are_converted_to_what_their_annotations_say():
    found = tc.Interval(np.float32(0.5), 1, "wilson")
    assert [type(value) for value in found] == [float, float, str]
    mean = tc.Application.mean([0.5, 0.1])
    assert isinstance(replace(mean, applications=list(mean.applications)).applications, tuple)


@pytest.mark.parametrize("value", [tc.Interval(0.1, 0.2, "wilson"), LLR, THREE, tc.Logistic.fit(LLR), APP])
def test_records_survive_pickle_and_copy(value):
    for other in (pickle.loads(pickle.dumps(value)), copy.deepcopy(value), copy.copy(value)):
        assert type(other) is type(value)
        assert repr(other) == repr(value)
