"""Cross-fitting, splits, the two-step procedure and the choice of a method."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tercet import Application, Curve, Tally, Trials, cllr
from tercet.calibration.cross_fit import (
    SCHEMES,
    cross_fit,
    fit_recognizer_and_calibrator,
    fold_numbers,
    select_calibrator,
    split,
)
from tercet.calibration.fusion import Fusion
from tercet.calibration.multiclass import Affine
from tercet.calibration.two_class import Gaussian, Isotonic, Logistic, Threshold
from tercet.errors import CalibrationError, InputError


def trials_of(n=60, seed=0, **more):
    rng = np.random.default_rng(seed)
    target = rng.permutation(n) % 3 == 0
    return Trials.of_scores(3 * (rng.normal(size=n) + target) + 1, target, **more)


@given(st.integers(30, 60), st.integers(2, 4), st.sampled_from(SCHEMES), st.integers(0, 99))
def test_every_fold_is_scored_by_a_model_of_the_others(n, folds, scheme, seed):
    trials = trials_of(n, seed)
    result = cross_fit(Gaussian, trials, folds=folds, scheme=scheme, seed=seed)
    for fold in range(folds):
        held = result.folds == fold
        assert held.any()
        model = Gaussian.fit(trials.select(~held))
        assert np.array_equal(result.scores.scores[held], model(trials.scores[held]))
    assert result.model.to_json() == Gaussian.fit(trials).to_json()
    assert result.scores.labels.tolist() == trials.labels.tolist()


def test_interleaved_folds_are_row_numbers_modulo_k():
    assert fold_numbers(trials_of(20), 5, scheme="interleaved").tolist() == [k % 5 for k in range(20)]


def test_stratified_folds_hold_each_class_evenly():
    trials = trials_of(61)
    numbers = fold_numbers(trials, 4)
    for own in (trials.labels, ~trials.labels):
        sizes = np.bincount(numbers[own], minlength=4)
        assert sizes.max() - sizes.min() <= 1
    assert not np.array_equal(numbers, fold_numbers(trials, 4, seed=1))
    assert np.array_equal(numbers, fold_numbers(trials, 4, seed=0))


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_group_is_never_on_both_sides(scheme):
    speakers = np.random.default_rng(1).integers(0, 12, 200)
    trials = trials_of(200, groups={"speaker": speakers})
    numbers = cross_fit(Logistic, trials, folds=4, by="speaker", scheme=scheme).folds
    for speaker in range(12):
        assert len(set(numbers[speakers == speaker].tolist())) == 1


def test_a_score_that_leaks_the_group_stays_useless_under_folds_by_group():
    rng = np.random.default_rng(0)
    speakers = np.repeat(np.arange(100), 12)
    of_speaker = rng.permutation(100) % 2 == 1
    leak = rng.permutation(100).astype(float)  # says who it is, nothing more
    samples, labels = leak[speakers], of_speaker[speakers]

    def recall(seen, truth):
        known = dict(zip(seen.tolist(), truth.tolist(), strict=True))
        return lambda new: (
            np.array([3.0 * (2 * known[s] - 1) if s in known else 0.0 for s in new.tolist()]) + (0.5 * np.sin(7 * new))
        )

    rows = fit_recognizer_and_calibrator(recall, Isotonic, samples, labels)
    groups = fit_recognizer_and_calibrator(recall, Isotonic, samples, labels, groups=speakers)
    auc = [Curve.of(Tally.of(step.scores)).auc for step in (rows, groups)]
    assert auc[0] == 1.0
    assert abs(auc[1] - 0.5) < 0.15
    trials = Trials.of_scores(samples, labels, groups={"speaker": speakers})
    honest = cross_fit(Isotonic, trials, by="speaker").scores
    assert cllr(Tally.of(honest)) > 0.9


def test_systems_and_quality_are_folded_together():
    rng = np.random.default_rng(2)
    target = np.arange(80) % 2 == 1
    a, b, q = (rng.normal(size=80) + target for _ in range(3))
    systems = [Trials.of_scores(s, target) for s in (a, b)]
    result = cross_fit(Fusion, systems, 0.3, folds=4, scheme="interleaved", quality=q)
    held = np.arange(80) % 4 == 1
    model = Fusion.fit([s.select(~held) for s in systems], 0.3, quality=q[~held])
    assert np.array_equal(result.scores.scores[held], model([a[held], b[held]], quality=q[held]))


def test_classes_and_options_are_passed_on():
    rng = np.random.default_rng(3)
    labels = np.arange(90) % 3
    trials = Trials.of_log_likelihoods(rng.normal(size=(90, 3)) + np.eye(3)[labels], labels)
    result = cross_fit(Affine, trials, [0.2, 0.3, 0.5], kind="temperature", scheme="plain")
    assert result.model.kind == "temperature"
    assert result.scores.meaning == "log-likelihoods"
    assert result.scores.scores.shape == (90, 3)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda t: cross_fit(Logistic, t.select(slice(0, 4)), folds=5), InputError, "4 trials for 5 folds"),
        (lambda t: cross_fit(Logistic, t.select(t.labels), folds=2), CalibrationError, "there are no trials of class"),
        (lambda t: cross_fit(Logistic, t, folds=1), InputError, "folds must be"),
        (lambda t: cross_fit(Logistic, t, folds=2.5), InputError, "folds must be"),
        (lambda t: cross_fit(Logistic, t, scheme="random"), InputError, "scheme must be"),
        (lambda t: cross_fit(Logistic, t, by="speaker"), InputError, "groups"),
        (lambda t: cross_fit(3, t), InputError, "calibrator class"),
        (lambda t: cross_fit(Threshold, t, application=0.5), InputError, "select_calibrator"),
        (lambda t: cross_fit(Logistic, Trials.of_scores([1.0, 2.0])), InputError, "no labels"),
        (lambda t: split(t, (1,)), InputError, "shares"),
        (lambda t: split(t, (0.5, 0.5)), InputError, "shares"),
    ],
)
def test_impossible_folds_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call(trials_of())


def test_a_training_part_without_a_class_is_refused():
    rare = Trials.of_scores([0.0, 1.0, 2.0, 3.0, 4.0, 5.0], [0, 0, 1, 0, 0, 0])
    with pytest.raises(CalibrationError, match=r"no trials of class 'target' to train on.*fewer"):
        cross_fit(Gaussian, rare, folds=3)
    grouped = Trials.of_scores([0.0, 1.0, 2.0, 3.0], [0, 0, 1, 1], groups={"g": ["a", "a", "b", "b"]})
    with pytest.raises(CalibrationError, match="to train on"):
        cross_fit(Gaussian, grouped, folds=2, by="g")
    with pytest.raises(InputError, match="2 groups 'g' for 3 folds"):
        cross_fit(Gaussian, grouped, folds=3, by="g")


def test_splits_use_every_trial_once():
    trials = trials_of(60, ids=[str(k) for k in range(60)])
    for shares in ((2, 1), (2, 1, 1), (1, 3)):
        parts = split(trials, shares)
        assert sorted(i for part in parts for i in part.ids.tolist()) == sorted(trials.ids.tolist())
        assert [len(part) for part in parts] == pytest.approx([60 * s / sum(shares) for s in shares], abs=2)
    test, train = split(trials, (1, 3), scheme="interleaved")
    assert test.ids.tolist() == [str(k) for k in range(0, 60, 4)]
    assert len(train) == 45


def test_the_two_step_procedure_calibrates_scores_that_were_not_flattered():
    rng = np.random.default_rng(4)
    labels = np.arange(120) % 2
    samples = rng.normal(size=(120, 30)) + 0.3 * labels[:, None]

    def train(x, y):
        weights = np.linalg.lstsq(np.column_stack((x, np.ones(len(x)))), 2.0 * y - 1, rcond=None)[0]
        return lambda new: np.column_stack((new, np.ones(len(new)))) @ weights

    done = fit_recognizer_and_calibrator(train, Logistic, samples, labels, 0.5, folds=4)
    flattered = Logistic.fit(Trials.of_scores(train(samples, labels)(samples), labels))
    assert done.calibrator.slope < flattered.slope
    new, truth = rng.normal(size=(2000, 30)), np.arange(2000) % 2
    scores = Trials.of_scores(done.recogniser(new + 0.3 * truth[:, None]), truth)
    assert cllr(Tally.of(done.calibrator(scores))) < cllr(Tally.of(flattered(scores)))


def test_the_two_step_procedure_takes_class_log_likelihoods():
    rng = np.random.default_rng(5)
    labels = np.arange(90) % 3
    samples = rng.normal(size=(90, 2)) + np.array([[0, 0], [1, 0], [0, 1]])[labels]

    def train(x, y):
        means = np.stack([x[y == k].mean(axis=0) for k in range(3)])
        return lambda new: -0.5 * ((new[:, None] - means) ** 2).sum(axis=2)

    done = fit_recognizer_and_calibrator(train, Affine, samples, labels, kind="offsets")
    assert done.scores.scores.shape == (90, 3)
    assert done.calibrator.training["gradient_norm"] < 1e-9


def test_choosing_ranks_by_actual_cost_and_lists_what_failed():
    trials = trials_of(300)
    ranking = select_calibrator([Logistic, Isotonic, Gaussian, Threshold], [0.1, 0.5], trials, (0.1, 1, 1))
    assert [row.dcf for row in ranking.rows] == sorted(row.dcf for row in ranking.rows)
    assert sorted(row.method for row in ranking.rows) == ["gaussian", "isotonic", "logistic", "logistic", "threshold"]
    assert ranking.best == ranking.rows[0]
    assert ranking.min_dcf <= min(row.dcf for row in ranking.rows) + 0.2
    assert "threshold" in str(ranking)
    apart = Trials.of_llr([-3, -2, -1, -4, 1, 2, 3, 4], [0] * 4 + [1] * 4)
    refused = select_calibrator([Logistic], [0.5], apart, 0.5, folds=2)
    assert [row.method for row in refused.rows] == ["as given", "logistic"]
    assert refused.rows[1].dcf is None
    assert "no finite solution" in refused.rows[1].reason


def test_the_nested_cost_of_one_method_is_its_held_out_cost():
    trials = trials_of(300)
    raw = Trials.of_scores(trials.scores, trials.known_labels())
    found = select_calibrator([Logistic], [0.1], raw, (0.1, 1, 1))
    assert found.nested_dcf == found.best.dcf
    assert select_calibrator([Logistic], [0.1], raw, (0.1, 1, 1), nested=False).nested_dcf is None


def test_choosing_among_many_noisy_rules_is_judged_by_nested_folds():
    rng = np.random.default_rng(2)
    raw = Trials.of_scores(rng.normal(size=120), np.arange(120) % 2)

    def constant(shift):
        return lambda trials, prior: lambda held: Trials.of_llr(held.scores + shift, held.known_labels())

    methods = {str(k): constant(shift) for k, shift in enumerate(np.linspace(-2, 2, 15))}
    found = select_calibrator(methods, [0.5], raw, 0.5)
    assert found.nested_dcf > found.best.dcf


def test_parts_too_small_for_nested_folds_say_so():
    tiny = Trials.of_scores([2.0, 0.5, 1.0, 0.0], [1, 1, 0, 0])
    found = select_calibrator([Gaussian], [0.5], tiny, 0.5, folds=2)
    assert found.nested_dcf is None
    assert found.nested_reason


def test_choosing_works_for_many_classes():
    rng = np.random.default_rng(6)
    labels = np.arange(150) % 3
    trials = Trials.of_log_likelihoods(5 * (rng.normal(size=(150, 3)) + np.eye(3)[labels]), labels)
    methods = {
        kind: (lambda t, prior, kind=kind: Affine.fit(t, prior, kind=kind)) for kind in ("temperature", "matrix")
    }
    app = Application.multiclass([0.2, 0.3, 0.5], "ordinal")
    ranking = select_calibrator(methods, [app.prior, [1 / 3] * 3], trials, app)
    assert len(ranking.rows) == 5
    assert [row.dcf for row in ranking.rows] == sorted(row.dcf for row in ranking.rows)
    assert {row.method for row in ranking.rows} == {"as given", "temperature", "matrix"}
