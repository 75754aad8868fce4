"""The estimators follow scikit-learn's rules and give tercet's numbers."""

import subprocess
import sys
import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

import sklearn
from sklearn.base import clone
from sklearn.datasets import load_iris, make_blobs, make_classification
from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    GroupKFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
    cross_validate,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import LinearSVC
from sklearn.utils import get_tags
from sklearn.utils.estimator_checks import check_classifiers_predictions, check_estimator

import tercet as tc
from tercet import Application, Trials, decide
from tercet.calibration.two_class import Gaussian, Isotonic, Logistic
from tercet.errors import CalibrationError, InputError, UndefinedError
from tercet.sklearn import (
    BayesClassifier,
    CalibratedClassifier,
    GaussianCalibrator,
    IsotonicCalibrator,
    LogisticCalibrator,
    ThresholdClassifier,
    cost_scorer,
    scorer,
)

NAMELESS = {"check_classifiers_classes": "the check's labels are text, and the target must be named"}
ESTIMATORS = {
    "LogisticCalibrator with a penalty": LogisticCalibrator(penalty=1e-3),
    "IsotonicCalibrator": IsotonicCalibrator(),
    "GaussianCalibrator": GaussianCalibrator(column=0),  # the last column of two checks is constant within a class
    "BayesClassifier": BayesClassifier(),
    "CalibratedClassifier, logistic": CalibratedClassifier(penalty=1e-3, cv=3),
    "CalibratedClassifier, isotonic": CalibratedClassifier(method="isotonic", cv=3),
    "CalibratedClassifier, affine": CalibratedClassifier(method="affine", penalty=1e-3, cv=3),
    "ThresholdClassifier": ThresholdClassifier(cv=3),
}


@pytest.mark.parametrize("name", ESTIMATORS)
def test_scikit_learns_own_checks(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks themselves warn
        results = check_estimator(ESTIMATORS[name], expected_failed_checks=NAMELESS, on_fail=None, on_skip=None)
    assert len(results) > 50
    assert [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"] == []
    assert {r["check_name"] for r in results if r["status"] == "xfail"} <= set(NAMELESS)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_the_check_that_fits_text_labels_passes_once_the_target_is_named(name):
    X, y = make_blobs(30, random_state=0, cluster_std=0.1)
    X = StandardScaler().fit_transform(X)
    if get_tags(ESTIMATORS[name]).classifier_tags.multi_class:
        check_classifiers_predictions(X, np.take(["one", "two", "three"], y), name, ESTIMATORS[name])
    X, y = X[y != 2], y[y != 2]
    named = clone(ESTIMATORS[name])
    for target in ("one", "two"):
        for labels in (np.take(["one", "two"], y), np.take(["one", "two"], y).astype("O")):
            check_classifiers_predictions(X, labels, name, named.set_params(target=target))
    check_classifiers_predictions(X, np.take([-1, 1], y), name, ESTIMATORS[name])


def scores_of(n=400, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.3
    return (2 * rng.normal(size=n) + 2 * y)[:, None], np.where(y, "yes", "no")


@pytest.mark.parametrize(
    ("estimator", "method"),
    [
        (LogisticCalibrator(0.2, target="yes"), Logistic),
        (IsotonicCalibrator(0.2, target="yes"), Isotonic),
        (GaussianCalibrator(0.2, target="yes"), Gaussian),
    ],
)
def test_decision_function_is_the_llr_and_predict_proba_its_posterior(estimator, method):
    X, y = scores_of()
    fitted = clone(estimator).fit(X, y)
    llr = method.fit(Trials.of_scores(X[:, 0], y == "yes"), 0.2)(X[:, 0])
    assert np.array_equal(fitted.decision_function(X), llr)
    odds = llr + np.log(0.2 / 0.8)
    assert np.allclose(fitted.predict_proba(X)[:, 1], 1 / (1 + np.exp(-odds)))
    assert np.array_equal(fitted.predict(X), np.where(odds > 0, "yes", "no"))
    weighted = clone(estimator).fit(X, y, sample_weight=np.arange(len(y)) % 3)
    assert not np.array_equal(weighted.decision_function(X), llr)


def test_they_work_in_pipelines_searches_and_cross_validation():
    X, y = make_classification(400, n_informative=4, flip_y=0.1, random_state=0)
    scores = cross_val_predict(LogisticRegression(), X, y, method="decision_function")[:, None]
    pipe = make_pipeline(StandardScaler(), LogisticCalibrator())
    assert cross_val_score(pipe, scores, y, scoring="neg_log_loss").mean() > -0.69
    search = GridSearchCV(pipe, {"logisticcalibrator__prior": [0.1, 0.5]}, scoring=cost_scorer((0.5, 1, 1)))
    assert search.fit(scores, y).best_score_ > -1
    chain = make_pipeline(FunctionTransformer(lambda X: X[:, [0]]), IsotonicCalibrator())
    assert cross_val_score(chain, X, y).shape == (5,)


def test_the_column_of_scores_can_be_chosen():
    X, y = scores_of()
    both = np.hstack((X, np.random.default_rng(1).normal(size=X.shape)))
    first = LogisticCalibrator(column=0, target="yes").fit(both, y)
    alone = LogisticCalibrator(target="yes")
    assert np.array_equal(first.decision_function(both), alone.fit(X, y).decision_function(X))
    with pytest.raises(InputError, match="column=5"):
        LogisticCalibrator(column=5, target="yes").fit(both, y)


def test_scores_without_variance_within_their_classes_have_no_gaussian_model():
    with pytest.raises(CalibrationError, match="zero variance"):
        GaussianCalibrator().fit([[3.0], [3.0], [1.0], [1.0]], [0, 0, 1, 1])


def test_separable_scores_are_refused_here_too():
    with pytest.raises(CalibrationError, match="separable"):
        LogisticCalibrator().fit([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])


def test_bayes_decisions_for_any_costs_and_deployment_prior():
    data = load_iris()
    X, y = data.data[:, :2], data.target
    app = Application.multiclass([0.1, 0.6, 0.3], [[0, 1, 5], [1, 0, 1], [9, 1, 0]])
    model = BayesClassifier(GaussianNB(), app).fit(X, y)
    given = GaussianNB().fit(X, y).predict_proba(X)
    trials = Trials.of_posteriors(given, trained_prior=[1 / 3] * 3)
    assert np.array_equal(model.predict(X), decide(trials, app))
    moved = given * app.prior
    assert np.allclose(model.predict_proba(X), moved / moved.sum(axis=1, keepdims=True))
    plain = cost_scorer(app)(GaussianNB().fit(X, y), X, y)
    assert cost_scorer(app)(model, X, y) >= plain
    assert cross_val_score(BayesClassifier(GaussianNB(), app), X, y, scoring=cost_scorer(app)).mean() > -1


def test_abstaining_is_an_action_of_its_own():
    X, y = scores_of()
    app = Application.multiclass(
        [0.5, 0.5], [[0, 1], [1, 0], [0.1, 0.1]], classes=["no", "yes"], actions=["no", "yes", "ask"]
    )
    model = BayesClassifier(LogisticRegression(), app).fit(X, y)
    assert set(model.predict(X)) == {"no", "yes", "ask"}
    assert -1 < cost_scorer(app, normalised=False)(model, X, y) < 0


def test_the_wrong_number_of_classes_is_refused():
    data = load_iris()
    with pytest.raises(InputError, match="3 classes"):
        BayesClassifier(GaussianNB(), (0.5, 1, 1)).fit(data.data, data.target)
    with pytest.raises(InputError, match="3 classes"):
        IsotonicCalibrator().fit(data.data[:, :1], data.target)
    with pytest.raises(InputError, match="2 classes"):
        cost_scorer((0.5, 1, 1))(GaussianNB().fit(data.data, data.target), data.data, data.target)


# The target is named, whatever the alphabet says


def fraud(n=600, seed=3):
    rng = np.random.default_rng(seed)
    y = rng.random(n) < 0.2
    return (rng.normal(size=n) + 2 * y)[:, None], y


@pytest.mark.parametrize(("target", "other"), [("fraud", "ok"), ("zzz", "ok"), ("1", "0"), (1, 0)])
def test_renaming_the_labels_with_the_target_named_changes_nothing_but_names(target, other):
    X, y = fraud()
    named = np.where(y, target, other)
    app = (0.02, 50, 1)
    plain = BayesClassifier(GaussianNB(), app).fit(X, y.astype(int))
    model = BayesClassifier(GaussianNB(), app, target=target).fit(X, named)
    assert np.array_equal(model.predict(X) == target, plain.predict(X) == 1)
    place = model.classes_.tolist().index(target)
    assert np.allclose(model.predict_proba(X)[:, place], plain.predict_proba(X)[:, 1])
    one = cost_scorer(app)(plain, X, y.astype(int))
    assert cost_scorer(app, target=target)(model, X, named) == pytest.approx(one)
    calibrated = LogisticCalibrator(0.02, target=target).fit(X, named)
    as_numbers = LogisticCalibrator(0.02).fit(X, y.astype(int))
    assert np.allclose(calibrated.predict_proba(X)[:, place], as_numbers.predict_proba(X)[:, 1])
    assert np.array_equal(calibrated.predict(X) == target, as_numbers.predict(X) == 1)
    sign = 1 if calibrated.classes_[1] == target else -1
    assert np.allclose(calibrated.decision_function(X), sign * as_numbers.decision_function(X))


def test_text_labels_are_refused_until_the_target_is_named():
    X, y = fraud()
    named = np.where(y, "fraud", "ok")
    for estimator in (BayesClassifier(GaussianNB(), (0.02, 50, 1)), LogisticCalibrator(0.02)):
        with pytest.raises(InputError, match="target="):
            estimator.fit(X, named)
    model = BayesClassifier(GaussianNB(), (0.02, 50, 1), target="fraud").fit(X, named)
    with pytest.raises(InputError, match="target="):
        cost_scorer((0.02, 50, 1))(model, X, named)
    with pytest.raises(InputError, match="'theft' is not among"):
        LogisticCalibrator(target="theft").fit(X, named)


def test_priors_and_costs_follow_the_classes_that_the_user_named():
    data = load_iris()
    X, y = data.data[:, :2], data.target_names[data.target]
    costs = np.array([[0, 1, 5], [1, 0, 1], [9, 1, 0]])
    order = [2, 0, 1]
    given = Application.multiclass([0.1, 0.6, 0.3], costs, classes=data.target_names)
    turned = Application.multiclass(given.prior[order], costs[np.ix_(order, order)], classes=data.target_names[order])
    one, other = (BayesClassifier(GaussianNB(), app).fit(X, y) for app in (given, turned))
    assert np.array_equal(one.predict(X), other.predict(X))
    assert cost_scorer(given)(one, X, y) == pytest.approx(cost_scorer(turned)(one, X, y))
    with pytest.raises(InputError, match="classes="):
        BayesClassifier(GaussianNB(), Application.multiclass([0.1, 0.6, 0.3], costs)).fit(X, y)


# CalibratedClassifier


def binary(n=400, seed=0):
    return make_classification(n, n_informative=4, flip_y=0.1, weights=[0.8], random_state=seed)


def test_the_map_is_trained_on_scores_out_of_fold_and_the_estimator_on_everything():
    X, y = binary()
    model = CalibratedClassifier(LogisticRegression(), prior=0.1, cv=StratifiedKFold(4)).fit(X, y)
    scores = cross_val_predict(LogisticRegression(), X, y, cv=StratifiedKFold(4), method="decision_function")
    assert np.array_equal(model.scores_.scores, scores)
    own = Logistic.fit(Trials.of_scores(scores, y), 0.1)
    llr = own(LogisticRegression().fit(X, y).decision_function(X))
    assert np.allclose(model.decision_function(X), llr + np.log(0.1 / 0.9), rtol=0, atol=1e-12)
    assert np.array_equal(model.predict(X) == 1, llr > -np.log(0.1 / 0.9))
    assert model.prior_.tolist() == [0.9, 0.1]


@pytest.mark.parametrize("method", ["logistic", "isotonic", "beta", "temperature", "affine"])
def test_calibration_brings_the_log_loss_of_overconfident_scores_down_in_a_pipeline(method):
    X, y = binary(800)
    X = np.hstack((X, X))  # every feature twice: naive Bayes counts its evidence twice
    both = (GaussianNB(), CalibratedClassifier(GaussianNB(), method))
    plain, chain = (make_pipeline(StandardScaler(), one) for one in both)
    before, after = (cross_val_score(one, X, y, cv=3, scoring="neg_log_loss").mean() for one in (plain, chain))
    assert after > before


def test_a_booster_is_calibrated_in_a_pipeline():
    X, y = binary()
    booster = HistGradientBoostingClassifier(max_iter=5, random_state=0)
    model = make_pipeline(StandardScaler(), CalibratedClassifier(booster, "isotonic", cv=2)).fit(X, y)
    assert model.score(X, y) > 0.8


def test_a_trained_estimator_is_calibrated_on_samples_it_did_not_see():
    X, y = binary(800)
    forest = RandomForestClassifier(20, random_state=0).fit(X[:400], y[:400])
    model = CalibratedClassifier(forest, "isotonic", cv="prefit").fit(X[400:], y[400:])
    assert model.estimator_ is forest
    with np.errstate(divide="ignore"):
        odds = np.log(forest.predict_proba(X[400:])[:, 1]) - np.log(forest.predict_proba(X[400:])[:, 0])
    assert np.array_equal(model.scores_.scores, odds)
    with pytest.raises(CalibrationError, match="finite"):
        CalibratedClassifier(forest, cv="prefit").fit(X[400:], y[400:])
    CalibratedClassifier(forest, cv="prefit", response="predict_proba").fit(X[400:], y[400:])
    with pytest.raises(InputError, match="prefit"):
        CalibratedClassifier(cv="prefit").fit(X, y)
    with pytest.raises(InputError, match="cv"):
        CalibratedClassifier(cv="fit").fit(X, y)


@pytest.mark.parametrize("method", ["logistic", "temperature", "affine", "scale", "matrix"])
def test_several_classes_are_calibrated_with_or_without_predict_proba(method):
    data = load_iris()
    X, y = data.data[:, :2], data.target_names[data.target]
    for base in (GaussianNB(), LinearSVC()):
        model = CalibratedClassifier(base, method, penalty=1e-3).fit(X, y)
        shares = model.predict_proba(X)
        assert shares.shape == (150, 3)
        assert np.array_equal(model.classes_[shares.argmax(axis=1)], model.predict(X))
        assert (model.predict(X) == y).mean() > 0.7
    with pytest.raises(InputError, match="binary"):
        CalibratedClassifier(method="isotonic").fit(X, y)


@pytest.mark.parametrize("method", ["logistic", "isotonic", "gaussian", "temperature"])
@pytest.mark.parametrize("kind", [CalibratedClassifier, ThresholdClassifier])
def test_fraud_and_ok_named_either_way_get_the_same_decisions(method, kind):
    X, y = fraud()
    folds = StratifiedKFold(4, shuffle=True, random_state=0)
    more = {"method": method, "prior": 0.02} if kind is CalibratedClassifier else {"value": (0.02, 50, 1)}
    found = []
    for target, other in (("fraud", "ok"), ("zzz", "ok"), ("b", "c")):
        labels = np.where(y, target, other)
        cv = list(folds.split(X, y))
        model = kind(GaussianNB(), target=target, cv=cv, **more).fit(X, labels)
        found.append(model.predict(X) == target)
        if kind is CalibratedClassifier:
            place = model.classes_.tolist().index(target)
            assert model.prior_[place] == pytest.approx(0.02)
    assert all(np.array_equal(found[0], one) for one in found)
    assert 0 < found[0].sum() < len(y)


# ThresholdClassifier


def test_the_threshold_is_that_of_the_rule_on_scores_out_of_fold():
    X, y = binary()
    model = ThresholdClassifier(GaussianNB(), "fpr_at_most", 0.1, cv=4).fit(X, y)
    shares = cross_val_predict(GaussianNB(), X, y, cv=4, method="predict_proba")
    with np.errstate(divide="ignore"):
        rule = tc.Rule.fit(Trials.of_scores(np.log(shares[:, 1]) - np.log(shares[:, 0]), y), fpr_at_most=0.1)
    assert model.rule_.threshold == rule.threshold
    assert np.array_equal(model.predict(X) == 1, model.decision_function(X) > 0)
    for criterion, value in (("youden", None), ("eer", None), ("f_beta", 1), ("recall_at_least", 0.9)):
        ThresholdClassifier(criterion=criterion, value=value).fit(X, y)
    ThresholdClassifier(criterion="alarms_at_most", value=5, cases_per_day=100).fit(X, y)
    with pytest.raises(InputError, match="criterion"):
        ThresholdClassifier(criterion="accuracy").fit(X, y)
    with pytest.raises(InputError, match="value"):
        ThresholdClassifier(criterion="f_beta", value=None).fit(X, y)


def test_a_promise_is_made_on_one_held_out_fold_that_the_estimator_did_not_see():
    X, y = binary(1500)
    model = ThresholdClassifier(LogisticRegression(), "fpr_at_most", 0.1, confidence=0.95).fit(X, y)
    assert "95 %" in model.rule_.guarantee
    train, test = list(StratifiedKFold(5).split(X, y))[-1]
    alone = LogisticRegression().fit(X[train], y[train])
    assert np.array_equal(model.estimator_.coef_, alone.coef_)
    assert model.rule_.training["trials"] == len(test)
    seen = LogisticRegression().fit(X[:750], y[:750])
    prefit = ThresholdClassifier(seen, "fpr_at_most", 0.1, confidence=0.95, cv="prefit").fit(X[750:], y[750:])
    assert prefit.rule_.training["trials"] == 750


# Decisions are those of tercet


def test_predictions_are_those_of_decide_bit_by_bit_whatever_the_order_of_the_labels():
    X, y = fraud()
    for target, other in (("fraud", "ok"), ("zzz", "ok")):
        labels = np.where(y, target, other)
        model = BayesClassifier(GaussianNB(), (0.02, 50, 1), target=target).fit(X, labels)
        base = GaussianNB().fit(X, labels)
        share = float(np.mean(y))
        trials = Trials.of_estimator(base, X, target=target, trained_prior=[1 - share, share])
        assert np.array_equal(model.predict(X) == target, decide(trials, (0.02, 50, 1)) == 1)
        own = np.arange(1.0, len(y) + 1)
        costs = tc.CaseCosts(0.02, own, 5.0)
        assert np.array_equal(model.predict(X, cost_fn=own, cost_fp=5.0) == target, decide(trials, costs) == 1)


def test_the_prior_of_the_probabilities_is_a_number_a_vector_or_balanced():
    X, y = fraud()
    labels = np.where(y, "fraud", "ok")
    share = float(np.mean(y))
    base = {"estimator": GaussianNB(), "application": (0.02, 50, 1), "target": "fraud"}
    usual = BayesClassifier(**base).fit(X, labels)
    stated = BayesClassifier(**base, trained_prior=share).fit(X, labels)
    assert np.array_equal(usual.predict(X), stated.predict(X))
    balanced = BayesClassifier(LogisticRegression(class_weight="balanced"), (0.02, 50, 1), "balanced", "fraud")
    assert balanced.fit(X, labels).trained_prior_.tolist() == [0.5, 0.5]
    with pytest.raises(InputError, match="one number"):
        BayesClassifier(**base, trained_prior=[1 - share, share]).fit(X, labels)
    with pytest.raises(InputError, match="trained_prior"):
        BayesClassifier(**base, trained_prior="equal").fit(X, labels)
    data = load_iris()
    app = Application.multiclass([0.1, 0.6, 0.3], classes=data.target_names[[2, 0, 1]])
    model = BayesClassifier(GaussianNB(), app, [0.5, 0.3, 0.2]).fit(data.data, data.target_names[data.target])
    assert dict(zip(model.classes_, model.trained_prior_.tolist(), strict=True)) == {
        data.target_names[2]: 0.5, data.target_names[0]: 0.3, data.target_names[1]: 0.2
    }  # fmt: skip


def test_weights_that_the_estimator_takes_change_the_prior_of_its_probabilities():
    X, y = fraud()
    heavy = np.where(y, 4.0, 1.0)
    model = BayesClassifier(GaussianNB(), (0.02, 50, 1)).fit(X, y.astype(int), sample_weight=heavy)
    assert model.trained_prior_[1] == pytest.approx(4 * y.sum() / heavy.sum())


def test_decisions_have_one_type_text_where_there_are_further_actions():
    X, y = fraud()
    app = Application.multiclass([0.5, 0.5], [[0, 1], [1, 0], [0.2, 0.2]], actions=["0", "1", "ask"])
    model = BayesClassifier(GaussianNB(), app).fit(X, y.astype(int))
    assert model.predict(X).dtype.kind == "U"
    assert set(model.predict(X)) == {"0", "1", "ask"}
    assert -1 < scorer("risk", application=app)(model, X, y.astype(int)) < 0
    assert BayesClassifier(GaussianNB()).fit(X, y.astype(int)).predict(X).dtype.kind == "i"


# Scorers


def test_scorers_give_the_numbers_of_tercet():
    X, y = fraud()
    labels = np.where(y, "fraud", "ok")
    app, share = (0.02, 50, 1), float(np.mean(y))
    model = GaussianNB().fit(X, labels)
    trials = Trials.of_estimator(model, X, labels, target="fraud", trained_prior=share)
    ev = tc.evaluate(trials, [app])
    named = {"target": "fraud"}
    assert scorer("dcf", application=app, trained_prior=share, **named)(model, X, labels) == pytest.approx(
        -ev.applications[0].dcf, abs=1e-12
    )
    assert scorer("min_dcf", application=app, **named)(model, X, labels) == pytest.approx(-ev.applications[0].min_dcf)
    assert scorer("eer", **named)(model, X, labels) == pytest.approx(-ev.eer.value)
    assert scorer("auc", **named)(model, X, labels) == pytest.approx(ev.auc)
    assert scorer("cllr", trained_prior=share, **named)(model, X, labels) == pytest.approx(-ev.cllr)
    assert scorer("net_benefit", threshold=0.1, trained_prior=share, **named)(model, X, labels) == pytest.approx(
        tc.net_benefit(trials, 0.1)
    )
    bayes = BayesClassifier(GaussianNB(), app, target="fraud").fit(X, labels)
    assert scorer("normalised_risk", application=app, **named)(bayes, X, labels) == pytest.approx(
        -ev.applications[0].dcf
    )
    assert scorer("dcf", application=app, **named)(bayes, X, labels) == pytest.approx(-ev.applications[0].dcf)


def test_scorers_that_need_only_ranks_take_estimators_without_probabilities():
    X, y = binary()
    svm = LinearSVC().fit(X, y)
    assert scorer("min_dcf", application=(0.1, 1, 1))(svm, X, y) == pytest.approx(
        -tc.Curve.of(Trials.of_scores(svm.decision_function(X), y)).min_dcf(Application(0.1)).dcf
    )
    with pytest.raises(InputError, match="predict_proba"):
        scorer("cllr", trained_prior=0.2)(svm, X, y)


@pytest.mark.parametrize(
    ("metric", "more", "word"),
    [
        ("dcf", {}, "application"),
        ("eer", {"application": (0.5, 1, 1)}, "application"),
        ("net_benefit", {}, "threshold"),
        ("auc", {"threshold": 0.1}, "threshold"),
        ("auc", {"trained_prior": 0.1}, "trained_prior"),
        ("accuracy", {}, "metric"),
    ],
)
def test_a_scorer_takes_what_its_metric_needs_and_nothing_else(metric, more, word):
    with pytest.raises(InputError, match=word):
        scorer(metric, **more)


def test_scorers_work_in_grid_search_and_cross_validation():
    X, y = binary()
    app = (0.05, 10, 1)
    many = {"min": scorer("min_dcf", application=app), "dcf": scorer("dcf", application=app), "eer": scorer("eer")}
    model = BayesClassifier(CalibratedClassifier(LogisticRegression(), cv=3), app)
    found = cross_validate(model, X, y, cv=3, scoring=many)
    assert (found["test_dcf"] <= found["test_min"] + 1e-12).all()
    grid = {"estimator__estimator__C": [0.01, 1.0], "estimator__method": ["logistic", "isotonic"]}
    search = GridSearchCV(model, grid, scoring=many["dcf"], cv=3).fit(X, y)
    assert -1 < search.best_score_ < 0
    trials = Trials.of_estimator(search, X, y)
    assert trials.trained_prior == pytest.approx((0.95, 0.05))


def test_several_classes_are_scored_in_the_order_of_the_application():
    data = load_iris()
    X, y = data.data[:, :2], data.target_names[data.target]
    model = GaussianNB().fit(X, y)
    order = [2, 0, 1]
    names = data.target_names[order]
    app = Application.multiclass([0.1, 0.6, 0.3], [[0, 1, 5], [1, 0, 1], [9, 1, 0]], classes=names)
    trials = Trials.of_estimator(model, X, y, classes=names, trained_prior="balanced")
    assert scorer("dcf", application=app, trained_prior="balanced")(model, X, y) == pytest.approx(
        -tc.evaluate(trials, [app]).applications[0].dcf
    )
    assert scorer("log_loss", trained_prior="balanced")(model, X, y) == pytest.approx(-tc.log_loss(trials))


def test_the_minimum_cost_of_several_classes_needs_no_prior_of_the_probabilities():
    X, y = load_iris(return_X_y=True)
    few = np.flatnonzero((y > 0) | (np.arange(len(y)) < 10))  # a prior that is not uniform
    model = GaussianNB().fit(X[few, :2], y[few])
    app = Application.multiclass([0.1, 0.6, 0.3])
    own = Trials.of_estimator(model, X[:, :2], y, trained_prior=model.class_prior_)
    found = scorer("min_dcf", application=app)(model, X[:, :2], y)
    assert found == pytest.approx(-tc.min_risk(own, app).normalised)


def test_the_minimum_cost_is_undefined_where_the_dummy_costs_nothing():
    X, y = load_iris(return_X_y=True)
    costs = [[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 0]]
    free = Application.multiclass([1 / 3] * 3, costs, actions=["0", "1", "2", "wait"])
    with pytest.raises(UndefinedError, match="the best dummy costs 0"):
        scorer("min_dcf", application=free)(GaussianNB().fit(X, y), X, y)


@pytest.mark.parametrize("metric", ["dcf", "min_dcf", "risk", "normalised_risk"])
def test_two_classes_are_scored_the_same_in_either_order_of_the_application(metric):
    X, y = binary()
    model = LogisticRegression().fit(X, y)
    one = Application.multiclass([0.9, 0.1], [[0, 1], [5, 0]], classes=[0, 1])
    other = Application.multiclass([0.1, 0.9], [[0, 5], [1, 0]], classes=[1, 0])
    more = {"trained_prior": "balanced"} if metric == "dcf" else {}
    found = [scorer(metric, application=app, **more)(model, X, y) for app in ((0.1, 1, 5), one, other)]
    assert found == pytest.approx(found[:1] * 3, rel=1e-12)


@pytest.mark.parametrize("labels", [[0, 1, 2], ["0", "1", "1"]], ids=["a third class", "text"])
@pytest.mark.parametrize("metric", ["auc", "eer", "min_cllr"])
def test_a_label_that_the_estimator_does_not_know_is_refused(metric, labels):
    X, y = binary()
    model = LogisticRegression().fit(X, y)
    with pytest.raises(InputError, match="not a class of the estimator"):
        scorer(metric)(model, X[:3], labels)


def test_a_scorer_of_decisions_refuses_weights_that_are_none():
    X, y = binary()
    model = LogisticRegression().fit(X, y)
    with pytest.raises(InputError, match="weights"):
        scorer("risk", application=(0.5, 1, 1))(model, X, y, sample_weight=np.where(np.arange(len(y)) == 0, -1.0, 1.0))


# Metadata


@pytest.fixture
def routing():
    sklearn.set_config(enable_metadata_routing=True)
    yield
    sklearn.set_config(enable_metadata_routing=False)


@pytest.mark.parametrize("kind", [BayesClassifier, CalibratedClassifier, ThresholdClassifier])
def test_weights_are_routed_to_the_estimator_and_to_the_scorer(kind, routing):
    X, y = binary()
    weights = np.where(y == 1, 3.0, 1.0)
    base = LogisticRegression().set_fit_request(sample_weight=True)
    model = kind(base).set_fit_request(sample_weight=True)
    direct = model.fit(X, y, sample_weight=weights)
    assert np.array_equal(direct.estimator_.coef_, LogisticRegression().fit(X, y, sample_weight=weights).coef_)
    asked = scorer("eer").set_score_request(sample_weight=True)
    found = cross_validate(model, X, y, cv=3, params={"sample_weight": weights}, scoring=asked)
    assert np.isfinite(found["test_score"]).all()
    search = GridSearchCV(model, {"estimator__C": [0.1, 1.0]}, scoring=asked, cv=3)
    assert search.fit(X, y, sample_weight=weights).best_score_ < 0


def test_groups_are_routed_to_the_splitter(routing):
    X, y = binary()
    groups = np.arange(len(y)) % 40
    cv = GroupKFold(4)
    model = CalibratedClassifier(LogisticRegression(), cv=cv).fit(X, y, groups=groups)
    expected = cross_val_predict(
        LogisticRegression(), X, y, cv=cv, params={"groups": groups}, method="decision_function"
    )
    assert np.array_equal(model.scores_.scores, expected)


def test_a_scorer_weighs_samples_as_repeated_rows():
    X, y = binary()
    model = LogisticRegression().fit(X, y)
    weights = 1 + np.arange(len(y)) % 3
    for one in (
        scorer("cllr", trained_prior=0.2),
        scorer("min_dcf", application=(0.1, 1, 1)),
        cost_scorer((0.1, 1, 1)),
    ):
        repeated = one(model, np.repeat(X, weights, axis=0), np.repeat(y, weights))
        assert one(model, X, y, sample_weight=weights) == pytest.approx(repeated, abs=1e-12)


# Trials.of_estimator


def test_trials_of_an_estimator_have_the_target_last_and_keep_ids_and_groups():
    X, y = fraud()
    labels = np.where(y, "fraud", "ok")
    model = GaussianNB().fit(X, labels)
    trials = Trials.of_estimator(
        model, X, labels, target="fraud", trained_prior=0.2, ids=np.arange(len(y)), groups={"row": np.arange(len(y))}
    )
    assert trials.classes == ("ok", "fraud")
    assert np.array_equal(trials.scores[:, 1], model.predict_proba(X)[:, 0])
    assert list(trials.groups) == ["row"]
    assert trials.ids is not None
    raw = Trials.of_estimator(LinearSVC().fit(X, labels), X, labels, target="fraud")
    assert raw.meaning == "raw"
    assert tc.Curve.of(raw).auc > 0.5
    with pytest.raises(InputError, match="target"):
        Trials.of_estimator(model, X, labels, trained_prior=0.2)
    with pytest.raises(InputError, match="trained_prior is needed"):
        Trials.of_estimator(model, X, labels, target="fraud")
    with pytest.raises(InputError, match="classes_"):
        Trials.of_estimator(object(), X, labels)


def test_without_scikit_learn_the_extra_is_named():
    code = "import sys; sys.modules['sklearn'] = None; import tercet.sklearn"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "pip install 'tercet[sklearn]'" in found.stderr.splitlines()[-1]
