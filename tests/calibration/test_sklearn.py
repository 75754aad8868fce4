"""The estimators follow scikit-learn's rules and give tercet's numbers."""

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn")

from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, cross_val_predict, cross_val_score
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from tercet import Application, Trials, decide
from tercet.calibration.two_class import Gaussian, Isotonic, Logistic
from tercet.errors import CalibrationError, InputError
from tercet.sklearn import BayesClassifier, GaussianCalibrator, IsotonicCalibrator, LogisticCalibrator, cost_scorer

SEPARABLE = "the check's data are separable, which is refused without a penalty"
NAMELESS = "the check's labels are text, and the target must be named"
CONSTANT = "the check's scores are equal within each class, which leaves no variance"
FALLING = "the check's column falls with the target, and an isotonic map can only rise"
EXPECTED = {
    "LogisticCalibrator": dict.fromkeys(
        [
            "check_positive_only_tag_during_fit",
            "check_sample_weights_shape",
            "check_sample_weights_not_overwritten",
            "check_sample_weight_equivalence_on_dense_data",
            "check_pipeline_consistency",
            "check_estimators_pickle",
            "check_classifiers_classes",
            "check_fit2d_1feature",
        ],
        SEPARABLE,
    ),
    "LogisticCalibrator with a penalty": {},
    "IsotonicCalibrator": {"check_classifiers_train": FALLING},
    "GaussianCalibrator": dict.fromkeys(
        ["check_sample_weights_shape", "check_sample_weights_not_overwritten"], CONSTANT
    ),
    "BayesClassifier": {},
}
ESTIMATORS = {
    "LogisticCalibrator": LogisticCalibrator(),
    "LogisticCalibrator with a penalty": LogisticCalibrator(penalty=1e-3),
    "IsotonicCalibrator": IsotonicCalibrator(),
    "GaussianCalibrator": GaussianCalibrator(),
    "BayesClassifier": BayesClassifier(),
}


for expected in EXPECTED.values():
    for check in ("check_classifiers_classes", "check_classifiers_train", "check_dict_unchanged"):
        expected.setdefault(check, NAMELESS)


@pytest.mark.parametrize("name", ESTIMATORS)
def test_scikit_learns_own_checks(name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the checks themselves warn
        results = check_estimator(ESTIMATORS[name], expected_failed_checks=EXPECTED[name], on_fail=None, on_skip=None)
    assert len(results) > 50
    assert [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"] == []
    assert {r["check_name"] for r in results if r["status"] == "xfail"} <= set(EXPECTED[name])


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
