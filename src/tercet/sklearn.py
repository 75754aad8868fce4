"""scikit-learn estimators: calibrators of one column of scores, cost-optimal decisions, and a cost to score by.

The only module that imports scikit-learn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.utils import check_consistent_length, column_or_1d, get_tags
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from tercet._numeric.validation import shown
from tercet._typing import Floats
from tercet.application import Application, MulticlassApplication
from tercet.calibration.two_class import Gaussian, Isotonic, Logistic
from tercet.decision import decide
from tercet.errors import InputError
from tercet.metrics.confusion import Confusion, as_matrix
from tercet.trials import Trials, logit, probability

__all__ = ["BayesClassifier", "GaussianCalibrator", "IsotonicCalibrator", "LogisticCalibrator", "cost_scorer"]


class _Calibrator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A two-class calibrator of one column: decision_function gives llrs, predict_proba posteriors at the prior.

    The scores are the last column unless `column` says otherwise: the target's in what predict_proba gives.
    """

    prior: float
    column: int

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Trains on the column of scores; the second of the sorted labels is the target."""
        _check_target(y)
        X, y = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(y)
        self.classes_ = unique_labels(y)
        weights = None if sample_weight is None else column_or_1d(sample_weight, dtype=np.float64)
        check_consistent_length(X, weights)
        _check_two(self.classes_)
        if weights is not None:
            if not weights.any():
                raise InputError("Sample weights must contain at least one non-zero number.")
            _check_two(np.unique(y[weights > 0.0]))
        trials = Trials.of_scores(self._scores(X), y == self.classes_[1], weights=weights)
        self.calibrator_ = self._trained(trials)
        return self

    def _trained(self, trials: Trials) -> Any:
        raise NotImplementedError

    def _scores(self, X: Floats) -> Floats:
        if not -X.shape[1] <= self.column < X.shape[1]:
            raise InputError(f"column={self.column} does not exist: X has {X.shape[1]} columns.")
        return np.ascontiguousarray(X[:, self.column])

    def decision_function(self, X: Any) -> Floats:
        """Log-likelihood ratios of the second class."""
        check_is_fitted(self)
        llr: Floats = self.calibrator_(self._scores(validate_data(self, X, dtype=np.float64, reset=False)))
        return llr

    def predict_proba(self, X: Any) -> Floats:
        """Posteriors at the stated prior, one column a class."""
        odds = self.decision_function(X) + logit(probability(self.prior, "prior"))
        small = np.exp(-np.abs(odds))
        likely, unlikely = 1.0 / (1.0 + small), small / (1.0 + small)
        target = np.where(odds >= 0.0, likely, unlikely)
        return np.stack((np.where(odds >= 0.0, unlikely, likely), target), axis=1)

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of larger posterior at the stated prior; a tie goes to the first."""
        accepted = self.decision_function(X) > 0.0 - logit(probability(self.prior, "prior"))
        return np.asarray(self.classes_[accepted.astype(np.intp)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _check_target(y: Any) -> None:
    if y is None:
        raise InputError("This classifier requires y to be passed, but the target y is None.")


def _check_two(classes: NDArray[Any]) -> None:
    if len(classes) != 2:
        raise InputError(
            f"Only binary classification is supported: the labels hold {len(classes)} "
            f"class{'es' if len(classes) != 1 else ''}, and a calibrator of one column needs two classes."
        )


class LogisticCalibrator(_Calibrator):
    """Prior-weighted logistic calibration of one column; see tercet.Logistic."""

    def __init__(self, prior: float = 0.5, penalty: float = 0.0, column: int = -1) -> None:
        self.prior = prior
        self.column = column
        self.penalty = penalty

    def _trained(self, trials: Trials) -> Any:
        return Logistic.fit(trials, self.prior, penalty=self.penalty)


class IsotonicCalibrator(_Calibrator):
    """Isotonic calibration of one column; see tercet.Isotonic."""

    def __init__(self, prior: float = 0.5, raw: bool = False, column: int = -1) -> None:
        self.prior = prior
        self.column = column
        self.raw = raw

    def _trained(self, trials: Trials) -> Any:
        return Isotonic.fit(trials, self.prior, raw=self.raw)


class GaussianCalibrator(_Calibrator):
    """Gaussian calibration of one column; see tercet.Gaussian."""

    def __init__(self, prior: float = 0.5, shared_variance: bool = True, column: int = -1) -> None:
        self.prior = prior
        self.column = column
        self.shared_variance = shared_variance

    def _trained(self, trials: Trials) -> Any:
        return Gaussian.fit(trials, self.prior, shared_variance=self.shared_variance)


class BayesClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Cost-optimal decisions on another classifier's posteriors, for any cost matrix and deployment prior.

    The estimator's predict_proba is taken as posteriors at the class frequencies it was trained with (or at
    trained_prior), and moved to the application's prior. predict gives class labels, or action names where the
    application has actions of its own such as "abstain".
    """

    def __init__(self, estimator: Any = None, application: Any = (0.5, 1.0, 1.0), trained_prior: Any = None) -> None:
        self.estimator = estimator
        self.application = application
        self.trained_prior = trained_prior

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Any:
        """Trains the estimator and notes the frequencies of its classes."""
        _check_target(y)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        self.classes_, counts = np.unique(y, return_counts=True)
        self.app_ = self._application(len(self.classes_))
        self.prior_ = (
            counts / counts.sum() if self.trained_prior is None else np.asarray(self.trained_prior, np.float64)
        )
        self.estimator_ = clone(self._base()).fit(X, y, **fit_params)
        if hasattr(self.estimator_, "n_features_in_"):
            self.n_features_in_ = self.estimator_.n_features_in_
        if hasattr(self.estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.estimator_.feature_names_in_
        return self

    def _base(self) -> Any:
        if self.estimator is not None:
            return self.estimator
        from sklearn.linear_model import LogisticRegression

        return LogisticRegression()

    def _application(self, classes: int) -> MulticlassApplication:
        app = (
            self.application
            if isinstance(self.application, MulticlassApplication)
            else Application.of(self.application)
        )
        matrix = as_matrix(app)
        if len(matrix.classes) != classes:
            raise InputError(
                f"The application has {len(matrix.classes)} classes and y holds {classes} class"
                f"{'es' if classes != 1 else ''}. Only binary classification is supported by a two-class application."
            )
        return matrix

    def predict(self, X: Any) -> NDArray[Any]:
        """The action of least expected cost, the lowest on ties: a class label, or an action's name."""
        actions = decide(self._trials(X), self.app_)
        if len(self.app_.actions) == len(self.classes_):
            return np.asarray(self.classes_[actions])
        called = [*self.classes_.tolist(), *self.app_.actions[len(self.classes_) :]]
        return np.asarray(np.array(called, object)[actions])

    def predict_proba(self, X: Any) -> Floats:
        """Posteriors at the application's prior, one column a class."""
        from tercet.metrics.posteriors import posteriors

        return posteriors(self._trials(X), self.app_.prior)

    def _trials(self, X: Any) -> Trials:
        check_is_fitted(self)
        given = np.asarray(self.estimator_.predict_proba(X), np.float64)
        given = given / given.sum(axis=1, keepdims=True)
        return Trials.of_posteriors(given, trained_prior=self.prior_, orientation="samples x classes")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        multiclass = isinstance(self.application, MulticlassApplication) and len(self.application.classes) > 2
        tags.classifier_tags.multi_class = multiclass
        tags.input_tags.sparse = get_tags(self._base()).input_tags.sparse
        return tags


def cost_scorer(application: Any, *, normalised: bool = True) -> Callable[[Any, Any, Any], float]:
    """A scorer for cross_val_score and GridSearchCV: minus the cost of the estimator's decisions.

    The cost weighs the classes by the application's prior, not by their frequencies: higher (nearer 0) is better, and
    -1 is the best dummy when normalised.
    """
    matrix = as_matrix(application if isinstance(application, MulticlassApplication) else Application.of(application))

    def scorer(estimator: Any, X: Any, y: Any) -> float:
        decided = np.asarray(estimator.predict(X))
        classes = getattr(estimator, "classes_", np.unique(y)).tolist()
        if len(classes) != len(matrix.classes):
            raise InputError(f"The application has {len(matrix.classes)} classes, the estimator {len(classes)}.")
        codes = {value: code for code, value in enumerate([*classes, *matrix.actions[len(classes) :]])}
        unknown = [value for value in [*decided.tolist(), *np.asarray(y).tolist()] if value not in codes]
        if unknown:
            raise InputError(f"{shown(unknown[0])} is neither a class of the estimator nor an action.")
        rows = np.fromiter((codes[value] for value in decided.tolist()), np.intp, len(decided))
        true = np.fromiter((codes[value] for value in np.asarray(y).tolist()), np.intp, len(decided))
        table = Confusion.counted(rows, true, matrix.classes, matrix.actions, None, None)
        return -(table.normalised_risk(matrix) if normalised else table.risk(matrix))

    return scorer
