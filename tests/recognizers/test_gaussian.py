"""Gaussian recognisers: the course's matrices, scikit-learn's numbers, and what they refuse."""

import json
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tercet as tc
from tercet.datasets import iris, screening
from tercet.recognizers import COVARIANCES, GaussianRecognizer, gaussian, split_2_to_1
from tercet.recognizers import _classes as classes

UNIFORM = tc.Application.multiclass([1 / 3, 1 / 3, 1 / 3])
IRIS = {"full": [[19, 0, 0], [0, 15, 0], [0, 2, 14]], "tied": [[19, 0, 0], [0, 16, 0], [0, 1, 14]]}
LOG_2_PI = np.log(2 * np.pi)


def some_samples(n=300, features=4, classes=3, seed=0):
    random = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    mixing = np.eye(features) + random.standard_normal((classes, features, features)) / 3
    samples = np.einsum("ni,nij->nj", random.standard_normal((n, features)), mixing[labels]) + 2 * labels[:, None]
    return samples, labels


def by_definition(samples, labels, kind):
    """Means, covariances and log-densities, sample by sample and class by class."""
    classes = np.unique(labels)
    means = np.array([samples[labels == k].mean(axis=0) for k in classes])
    spreads = np.array([np.atleast_2d(np.cov(samples[labels == k].T, bias=True)) for k in classes])
    if kind.startswith("tied"):
        spreads[:] = np.average(spreads, axis=0, weights=[np.sum(labels == k) for k in classes])
    if kind.endswith("diagonal"):
        spreads *= np.eye(samples.shape[1])
    result = np.empty((len(samples), len(classes)))
    for i, x in enumerate(samples):
        for k, (mean, spread) in enumerate(zip(means, spreads, strict=True)):
            distance = (x - mean) @ np.linalg.solve(spread, x - mean)
            result[i, k] = -0.5 * (len(x) * LOG_2_PI + np.linalg.slogdet(spread)[1] + distance)
    return result


@pytest.mark.parametrize("kind", IRIS)
def test_iris_gives_the_courses_confusion_matrices(kind):
    table, (train, test) = iris(), split_2_to_1(150, 0)
    model = GaussianRecognizer.fit(table.samples[train], table.labels[train], kind)
    trials = model.trials(table.samples[test], table.labels[test])
    assert tc.confusion_of(trials, UNIFORM).matrix == IRIS[kind]


@pytest.mark.parametrize("kind", COVARIANCES)
def test_every_kind_follows_its_definition(kind):
    samples, labels = some_samples()
    found = GaussianRecognizer.fit(samples, labels, kind).log_likelihoods(samples)
    np.testing.assert_allclose(found, by_definition(samples, labels, kind), rtol=1e-11)


@given(st.integers(0, 10_000), st.integers(1, 6), st.integers(2, 5), st.sampled_from(COVARIANCES))
def test_every_kind_follows_its_definition_on_any_data(seed, features, classes, kind):
    random = np.random.default_rng(seed)
    labels = np.arange(classes * (features + 4)) % classes
    samples = random.standard_normal((len(labels), features)) * 10.0 ** random.integers(-6, 7, features)
    found = GaussianRecognizer.fit(samples, labels, kind).log_likelihoods(samples)
    np.testing.assert_allclose(found, by_definition(samples, labels, kind), rtol=1e-7, atol=1e-7)


def posteriors(log_likelihoods, prior):
    joint = log_likelihoods + np.log(prior)
    return joint - np.logaddexp.reduce(joint, axis=1, keepdims=True)


def test_full_is_quadratic_discriminant_analysis_but_for_the_divisor():
    from sklearn.discriminant_analysis import QuadraticDiscriminantAnalysis

    samples, labels = some_samples()
    theirs = QuadraticDiscriminantAnalysis(store_covariance=True).fit(samples, labels)
    ours = GaussianRecognizer.fit(samples, labels)
    np.testing.assert_allclose(ours.means, theirs.means_, atol=1e-12)
    # scikit-learn's versions divide by n or by n - 1: with their divisor everything is the same.
    factor = theirs.covariance_[0][0, 0] / ours.covariances[0, 0, 0]
    assert min(abs(factor - 1), abs(factor - 100 / 99)) < 1e-10
    np.testing.assert_allclose(ours.covariances * factor, theirs.covariance_, rtol=1e-9)
    same = GaussianRecognizer(ours.classes, "full", ours.means, ours.covariances * factor, 0.0, {"samples": [100] * 3})
    found = posteriors(same.log_likelihoods(samples), np.full(3, 1 / 3))
    np.testing.assert_allclose(found, theirs.predict_log_proba(samples), atol=1e-8)


def test_tied_is_linear_discriminant_analysis_by_least_squares():
    from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

    samples, labels = some_samples()
    theirs = LinearDiscriminantAnalysis(solver="lsqr", priors=np.full(3, 1 / 3)).fit(samples, labels)
    ours = GaussianRecognizer.fit(samples, labels, "tied")
    np.testing.assert_allclose(ours.covariances, theirs.covariance_, rtol=1e-10)
    found = posteriors(ours.log_likelihoods(samples), np.full(3, 1 / 3))
    np.testing.assert_allclose(found, theirs.predict_log_proba(samples), atol=1e-8)


def test_shrinkage_is_that_of_linear_discriminant_analysis():
    from sklearn.covariance import shrunk_covariance

    samples, labels = some_samples()
    plain, shrunk = (GaussianRecognizer.fit(samples, labels, shrinkage=s) for s in (0.0, 0.3))
    np.testing.assert_allclose(shrunk.covariances, shrunk_covariance(plain.covariances, 0.3), rtol=1e-12)
    narrow, even = (GaussianRecognizer.fit(samples, labels, "diagonal", shrinkage=s) for s in (0.0, 1.0))
    np.testing.assert_allclose(even.covariances, narrow.covariances.mean(axis=1, keepdims=True) * np.ones(4))


def test_diagonal_is_gaussian_naive_bayes():
    from sklearn.naive_bayes import GaussianNB

    samples, labels = some_samples()
    theirs = GaussianNB(var_smoothing=0.0, priors=np.full(3, 1 / 3)).fit(samples, labels)
    ours = GaussianRecognizer.fit(samples, labels, "diagonal")
    np.testing.assert_allclose(ours.covariances, theirs.var_, rtol=1e-10)
    np.testing.assert_allclose(
        ours.log_likelihoods(samples) + np.log(1 / 3), theirs.predict_joint_log_proba(samples), rtol=1e-10
    )


@pytest.mark.parametrize("kind", COVARIANCES)
def test_a_stored_model_gives_the_same_bits(kind):
    samples, labels = some_samples()
    model = GaussianRecognizer.fit(samples, labels, kind, classes=[2, 0, 1], shrinkage=0.1)
    again = GaussianRecognizer.from_json(model.to_json())
    assert again.to_json() == model.to_json()
    assert (again.classes, again.covariance, again.shrinkage) == (("2", "0", "1"), kind, 0.1)
    assert again.log_likelihoods(samples).tobytes() == model.log_likelihoods(samples).tobytes()


@pytest.mark.parametrize("kind", COVARIANCES)
def test_many_rows_on_several_cores_give_the_bits_of_one_core(kind, monkeypatch):
    samples, labels = some_samples(300_000, 5)
    model = GaussianRecognizer.fit(samples, labels, kind)
    scores = model.log_likelihoods(samples)
    monkeypatch.setattr("tercet._numeric.parallel.CORES", 1)
    alone = GaussianRecognizer.fit(samples, labels, kind)
    assert alone.to_json() == model.to_json()
    assert alone.log_likelihoods(samples).tobytes() == scores.tobytes()


@pytest.mark.parametrize("kind", COVARIANCES)
@pytest.mark.parametrize("features", [1, 2, 7, 20])
def test_a_samples_score_does_not_depend_on_its_neighbours(kind, features):
    samples, labels = some_samples(20_000, features)
    model = GaussianRecognizer.fit(samples, labels, kind)
    scores = model.log_likelihoods(samples)
    for rows in (slice(0, 1), slice(5, 8), slice(11, 5000), slice(19_990, 20_000), slice(None, None, -3)):
        assert model.log_likelihoods(samples[rows]).tobytes() == scores[rows].tobytes()


@pytest.mark.parametrize("kind", COVARIANCES)
def test_pieces_are_merged_as_if_summed_at_once(kind, monkeypatch):
    samples, labels = some_samples(500)
    whole = GaussianRecognizer.fit(samples + 1e6, labels, kind)
    monkeypatch.setattr(gaussian, "_GATHERED", 1)
    pieces = GaussianRecognizer.fit(samples + 1e6, labels, kind)
    np.testing.assert_allclose(pieces.means, whole.means, rtol=1e-15)
    np.testing.assert_allclose(pieces.covariances, whole.covariances, rtol=1e-8, atol=1e-10)


def test_another_order_of_the_rows_changes_no_more_than_rounding():
    samples, labels = some_samples()
    order = np.random.default_rng(1).permutation(len(samples))
    one, other = GaussianRecognizer.fit(samples, labels), GaussianRecognizer.fit(samples[order], labels[order])
    np.testing.assert_allclose(one.covariances, other.covariances, rtol=1e-12, atol=1e-14)


def test_a_far_origin_does_not_spoil_the_covariances():
    samples, labels = some_samples()
    near, far = GaussianRecognizer.fit(samples, labels), GaussianRecognizer.fit(samples + 2.0**30, labels)
    np.testing.assert_allclose(far.covariances, near.covariances, rtol=1e-5)
    found = far.log_likelihoods(samples + 2.0**30)
    np.testing.assert_allclose(found, near.log_likelihoods(samples), rtol=1e-4)


def test_labels_may_be_numbers_names_or_truth_values():
    samples, labels = some_samples()
    named = np.array(["x", "y", "z"])[labels]
    assert GaussianRecognizer.fit(samples, labels.astype(float)).classes == ("0", "1", "2")
    assert GaussianRecognizer.fit(samples, labels * 10**9).classes == ("0", "1000000000", "2000000000")
    assert GaussianRecognizer.fit(samples, named).classes == ("x", "y", "z")
    assert GaussianRecognizer.fit(samples, named.astype(object), classes=["z", "x", "y"]).classes == ("z", "x", "y")
    assert GaussianRecognizer.fit(samples, labels > 0).classes == ("False", "True")
    assert GaussianRecognizer.fit(samples, (labels - 1).astype(np.int8)).classes == ("-1", "0", "1")
    wide = np.array([-128, 0, 127], np.int8)[labels]
    assert GaussianRecognizer.fit(samples, wide).classes == ("-128", "0", "127")
    assert GaussianRecognizer.fit(samples, labels.astype(np.uint64) + np.uint64(2**63)).classes[0] == str(2**63)
    assert GaussianRecognizer.fit(samples, labels.astype(np.uint8) + np.uint8(253)).classes == ("253", "254", "255")


def test_trials_carry_class_names_and_go_on_to_decisions():
    table = iris()
    model = GaussianRecognizer.fit(table.samples, np.array(table.classes)[table.labels])
    trials = model.trials(table.samples, np.array(table.classes)[table.labels])
    assert trials.classes == table.classes
    assert trials.labels.tolist() == table.labels.tolist()
    assert model.trials(table.samples).labels is None
    assert tc.Curve.of(tc.Tally.of(trials.versus("setosa"))).auc == 1.0
    one = model.trials(table.samples[:3], ["virginica"] * 3)  # as many rows as classes
    assert one.labels.tolist() == [2, 2, 2]


def test_lists_single_precision_and_frames_are_taken():
    import pandas as pd

    samples, labels = some_samples()
    model = GaussianRecognizer.fit(samples, labels)
    frame = pd.DataFrame(samples)
    assert GaussianRecognizer.fit(frame, pd.Series(labels)).to_json() == model.to_json()
    assert GaussianRecognizer.fit(samples.tolist(), labels.tolist()).to_json() == model.to_json()
    assert GaussianRecognizer.fit(np.asfortranarray(samples), labels).to_json() == model.to_json()
    single = model.log_likelihoods(samples.astype(np.float32))
    np.testing.assert_allclose(single, model.log_likelihoods(samples), rtol=1e-3, atol=1e-3)
    assert model.log_likelihoods(np.zeros((0, 4))).shape == (0, 3)
    with pytest.raises(tc.InputError, match="different indexes"):
        GaussianRecognizer.fit(frame, pd.Series(labels, index=frame.index + 1))


def test_the_callers_arrays_are_left_alone_and_the_models_cannot_be_changed():
    samples, labels = some_samples()
    before = samples.copy()
    model = GaussianRecognizer.fit(samples, labels)
    model.log_likelihoods(samples)
    assert np.array_equal(samples, before)
    assert samples.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        model.means[0, 0] = 1.0


def refused(match, *args, **kwargs):
    with pytest.raises(tc.InputError, match=match):
        GaussianRecognizer.fit(*args, **kwargs)


def test_a_class_with_too_few_samples_is_refused_with_the_way_out():
    samples, labels = some_samples(12)
    refused("class '0' is singular: it has 4 samples for 4 features.*at least 5.*shrinkage", samples, labels)
    assert GaussianRecognizer.fit(samples, labels, "diagonal").covariances.shape == (3, 4)
    assert GaussianRecognizer.fit(samples, labels, "tied").covariances.shape == (4, 4)
    assert GaussianRecognizer.fit(samples, labels, shrinkage=0.1).shrinkage == 0.1
    refused(
        "tied covariance is singular: 6 samples of 3 classes for 4 features; 7 needed", samples[:6], labels[:6], "tied"
    )
    refused("feature 0 is constant .the class has a single sample.", samples[:5], [0, 1, 1, 1, 1], "diagonal")


@pytest.mark.parametrize("kind", COVARIANCES)
@pytest.mark.parametrize("value", [0.0, 0.1, 1e9, -3e-7])
def test_a_constant_feature_is_refused_by_its_number(kind, value):
    samples, labels = some_samples()
    samples[:, 2] = value
    refused("singular: feature 2 is constant", samples, labels, kind)
    assert np.isfinite(GaussianRecognizer.fit(samples, labels, kind, shrinkage=0.01).log_likelihoods(samples)).all()


@pytest.mark.parametrize("kind", ["full", "tied"])
def test_a_feature_that_repeats_others_is_refused(kind):
    samples, labels = some_samples()
    refused("linear combination", np.c_[samples, samples[:, 0]], labels, kind)
    refused("linear combination", np.c_[samples, samples @ [1.0, -2.0, 0.5, 3.0] + 7.0], labels, kind)
    refused("linear combination", np.c_[samples[:, 0] * 1e-9, samples[:, 0] * 1e9], labels, kind)


def test_scales_alone_make_nothing_singular():
    samples, labels = some_samples()
    scale = np.array([1e-100, 1e100, 1.0, 1e-3])
    plain, scaled = GaussianRecognizer.fit(samples, labels), GaussianRecognizer.fit(samples * scale, labels)
    found = scaled.log_likelihoods(samples * scale) + np.log(scale).sum()
    np.testing.assert_allclose(found, plain.log_likelihoods(samples), rtol=1e-9, atol=1e-9)


def test_shrinkage_cannot_help_where_nothing_varies():
    refused("variance 0.0", [[1.0, 2.0]] * 4, [0, 0, 1, 1], shrinkage=0.5)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("kind", COVARIANCES)
def test_nan_and_infinity_are_refused_by_place(bad, kind):
    samples, labels = some_samples()
    model = GaussianRecognizer.fit(samples, labels, kind)
    samples[17, 3] = bad
    refused("1 of 300 rows.*row 17, feature 3", samples, labels, kind)
    with pytest.raises(tc.InputError, match="row 17, feature 3"):
        model.log_likelihoods(samples)
    with pytest.raises(tc.InputError, match="samples must"):
        model.log_likelihoods(samples.astype(np.float32))


def test_samples_too_large_to_square_are_refused_in_training_and_infinitely_unlikely_in_use():
    samples, labels = some_samples()
    refused("overflow", samples * 1e200, labels)
    model = GaussianRecognizer.fit(samples, labels)
    assert (model.log_likelihoods(np.full((2, 4), 1e300)) == -np.inf).all()


def test_another_width_than_in_training_is_refused():
    samples, labels = some_samples()
    with pytest.raises(tc.InputError, match="3 features, the training samples had 4"):
        GaussianRecognizer.fit(samples, labels).log_likelihoods(samples[:, :3])


@pytest.mark.parametrize(
    ("match", "change"),
    [
        ("must be a matrix", {"samples": [1.0, 2.0]}),
        ("must be a matrix", {"samples": np.zeros((4, 0))}),
        ("must be numbers", {"samples": [["a", "b"]] * 4}),
        ("must be numbers", {"samples": [[True, False]] * 4}),
        ("cannot be read|must be", {"samples": [[1.0], [1.0, 2.0]]}),
        ("labels has 3 entries|3 entries", {"labels": [0, 1, 1]}),
        ("at least two classes", {"labels": [0, 0, 0, 0]}),
        ("at least two classes", {"samples": np.zeros((0, 2)), "labels": []}),
        ("missing", {"labels": [0, 1, None, 1]}),
        ("missing", {"labels": [0, 1, np.nan, 1]}),
        ("bytes", {"labels": np.array([b"a", b"b", b"a", b"b"])}),
        ("distinct", {"labels": np.array([1, "1", 1, "1"], object)}),
        ("not among the classes", {"classes": [0, 2]}),
        ("no training samples", {"classes": [0, 1, 2]}),
        ("distinct", {"classes": [0, 0]}),
        ("one of 'full', 'tied'", {"covariance": "spherical"}),
        ("one of 'full', 'tied'", {"covariance": None}),
        ("shrinkage must be a rate", {"shrinkage": -0.1}),
        ("shrinkage must be a number", {"shrinkage": np.nan}),
        ("shrinkage must be a number", {"shrinkage": True}),
        ("shrinkage must be a number", {"shrinkage": "auto"}),
    ],
)
def test_what_cannot_be_trained_on_is_refused(match, change):
    usual = {"samples": [[0.0, 1.0], [2.0, 3.0], [1.0, 5.0], [4.0, 4.0]], "labels": [0, 1, 0, 1]}
    refused(match, **{**usual, "covariance": "tied-diagonal", **change})


def stored(**changes):
    document = json.loads(GaussianRecognizer.fit([[0.0], [2.0], [5.0], [6.0]], ["a", "a", "b", "b"]).to_json())
    for name, value in changes.items():
        (document["parameters"] if name in document["parameters"] else document)[name] = value
    return json.dumps(document)


def without(name):
    document = json.loads(stored())
    del document["parameters"][name]
    return json.dumps(document)


def test_the_untouched_file_is_read():
    assert GaussianRecognizer.from_json(stored()).means.tolist() == [[1.0], [5.5]]
    assert GaussianRecognizer.from_json(stored().encode()).training == {"samples": [2, 2]}


@pytest.mark.parametrize(
    ("match", "text"),
    [
        ("unknown field.*extra", stored(extra=1)),
        ("lacks the field.*means", without("means")),
        ("not 'gaussian-recognizer'", stored(method="text-recognizer")),
        ("not a tercet model file", "[]"),
        ("not a tercet model file", "{"),
        ("not a tercet model file", "[" * 100_000),
        ("schema_version", stored(schema_version=2)),
        ("schema_version", stored(schema_version=True)),
        ("not a tercet model file", stored(means=[[float("nan")], [1.0]])),
        ("not a tercet model file", stored(covariances=[[[float("inf")]], [[1.0]]])),
        ("damaged", stored(means=[[1.0], [2.0]]).replace("2.0]", "1e999]")),
        ("damaged", stored(covariances=[[[1.0]], [[2.0]]]).replace("2.0]", "1e999]")),
        ("shape", stored(covariances=[[[1.0]]])),
        ("shape", stored(means=[[], []])),
        ("singular", stored(covariances=[[[1.0]], [[-1.0]]])),
        ("singular", stored(covariances=[[[1.0]], [[0.0]]])),
        ("symmetric", stored(means=[[0, 0], [1, 1]], covariances=[[[1, 0.5], [0, 1]], [[1, 0], [0, 1]]])),
        ("classes", stored(classes=["a"])),
        ("two classes", stored(classes=["a"], means=[[1.0]], covariances=[[[1.0]]])),
        ("must be text", stored(classes=[1, 2])),
        ("distinct", stored(classes=["a", "a"])),
        ("classes", stored(classes=["a", "b", "c"])),
        ("must be a list", stored(means="many")),
        ("must be a number", stored(means=[["a"], ["b"]])),
        ("must be", stored(covariances="many")),
        ("must be numbers", stored(covariances=[[["1"]], [["2"]]])),
        ("one of", stored(covariance="round")),
        ("shrinkage", stored(shrinkage=7)),
        ("twice", stored()[:-1] + ', "method": "gaussian-recognizer"}'),
    ],
)
def test_a_stored_model_that_breaks_the_schema_is_refused(match, text):
    with pytest.raises(tc.InputError, match=match):
        GaussianRecognizer.from_json(text)


def test_a_model_can_be_sent_to_another_process():
    samples, labels = some_samples()
    model = GaussianRecognizer.fit(samples, labels, "tied")
    again = pickle.loads(pickle.dumps(model))
    assert again.log_likelihoods(samples).tobytes() == model.log_likelihoods(samples).tobytes()


def test_a_model_too_large_to_hold_is_refused_by_a_stated_cap(monkeypatch):
    samples, labels = some_samples()
    monkeypatch.setattr(classes, "_CAP", 47)
    refused(r"48 numbers .*above the cap of 47", samples, labels)
    assert GaussianRecognizer.fit(samples, labels, "tied").means.shape == (3, 4)


def test_unknown_labels_at_evaluation_are_refused():
    samples, labels = some_samples()
    with pytest.raises(tc.InputError, match="'7', which is not among the classes"):
        GaussianRecognizer.fit(samples, labels).trials(samples[:2], [0, 7])


def test_importing_the_recognisers_loads_no_heavy_library():
    code = (
        "import sys, tercet.recognizers, tercet.datasets; sys.exit(any(m in sys.modules for m in ('scipy', 'sklearn')))"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_the_screening_table_can_be_told_apart():
    table, (train, test) = screening(), split_2_to_1(569, 0)
    model = GaussianRecognizer.fit(table.samples[train], table.labels[train], "tied")
    trials = model.trials(table.samples[test], table.labels[test])
    assert tc.Curve.of(tc.Tally.of(trials.versus("1", "0"))).auc > 0.98
