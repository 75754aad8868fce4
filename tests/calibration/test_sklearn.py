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
    [(LogisticCalibrator(0.2), Logistic), (IsotonicCalibrator(0.2), Isotonic), (GaussianCalibrator(0.2), Gaussian)],
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
    first = LogisticCalibrator(column=0).fit(both, y)
    assert np.array_equal(first.decision_function(both), LogisticCalibrator().fit(X, y).decision_function(X))
    with pytest.raises(InputError, match="column=5"):
        LogisticCalibrator(column=5).fit(both, y)


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
