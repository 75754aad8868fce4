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

from tercet._numeric.validation import flag, same_label, shown
from tercet._typing import Array, Floats
from tercet.application import Application, MulticlassApplication
from tercet.calibration.two_class import Gaussian, Isotonic, Logistic
from tercet.decision import decide
from tercet.errors import InputError
from tercet.metrics.case_costs import CaseCosts
from tercet.metrics.confusion import Confusion, as_matrix
from tercet.trials import Trials, logit, probability

__all__ = ["BayesClassifier", "GaussianCalibrator", "IsotonicCalibrator", "LogisticCalibrator", "cost_scorer"]


class _Calibrator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A two-class calibrator of one column: decision_function gives llrs, predict_proba posteriors at the prior.

    The scores are the last column unless `column` says otherwise: the target's in what predict_proba gives.
    """

    prior: float
    column: int
    target: object

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        """Trains on the column of scores; the target is the label that `target` names, or the larger of two numbers.

        Parameters
        ----------
        X : array_like of shape (n, columns)
            Scores, in the column that `column` says.
        y : array_like of shape (n,)
            Labels of two classes.
        sample_weight : array_like of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        object
            The estimator itself, trained.
        """
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
        self.target_ = self.classes_[target_place(self.classes_, self.target)]
        trials = Trials.of_scores(self._scores(X), y == self.target_, weights=weights)
        self.calibrator_ = self._trained(trials)
        return self

    def _trained(self, trials: Trials) -> Any:
        raise NotImplementedError

    def _scores(self, X: Floats) -> Floats:
        if not -X.shape[1] <= self.column < X.shape[1]:
            raise InputError(f"column={self.column} does not exist: X has {X.shape[1]} columns.")
        return np.ascontiguousarray(X[:, self.column])

    def decision_function(self, X: Any) -> Floats:
        """Log-likelihood ratios of the second of `classes_`, as scikit-learn has it: of the target, or minus those.

        Parameters
        ----------
        X : array_like of shape (n, columns)
            Scores.

        Returns
        -------
        ndarray of shape (n,)
            Natural-log likelihood ratios.
        """
        llr = self._llr(X)
        return llr if self.target_ == self.classes_[1] else -llr

    def _llr(self, X: Any) -> Floats:
        check_is_fitted(self)
        llr: Floats = self.calibrator_(self._scores(validate_data(self, X, dtype=np.float64, reset=False)))
        return llr

    def predict_proba(self, X: Any) -> Floats:
        """Posteriors at the stated prior of the target, one column per class in the order of `classes_`.

        Parameters
        ----------
        X : array_like of shape (n, columns)
            Scores.

        Returns
        -------
        ndarray of shape (n, 2)
            Posterior probabilities.
        """
        odds = self._llr(X) + logit(probability(self.prior, "prior"))
        small = np.exp(-np.abs(odds))
        likely, unlikely = 1.0 / (1.0 + small), small / (1.0 + small)
        target = np.where(odds >= 0.0, likely, unlikely)
        both = np.stack((np.where(odds >= 0.0, unlikely, likely), target), axis=1)
        return both if self.target_ == self.classes_[1] else both[:, ::-1]

    def predict(self, X: Any) -> Array:
        """The class of larger posterior at the stated prior; a tie goes to the non-target.

        Parameters
        ----------
        X : array_like of shape (n, columns)
            Scores.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        accepted = self._llr(X) > 0.0 - logit(probability(self.prior, "prior"))
        place = int(self.target_ == self.classes_[1])
        return np.asarray(self.classes_[np.where(accepted, place, 1 - place)])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _check_target(y: Any) -> None:
    if y is None:
        raise InputError("This classifier requires y to be passed, but the target y is None.")


def target_place(classes: Array, target: object) -> int:
    """Where the target stands among two sorted labels: where it is named, else 1 for numbers, truth values or names."""
    if target is not None:
        places = [place for place, label in enumerate(classes.tolist()) if same_label(label, target)]
        if not places:
            raise InputError(
                f"target={shown(target)} is not among the labels {', '.join(map(shown, classes.tolist()))}."
            )
        return places[0]
    if classes.dtype.kind in "biuf":
        return 1  # scikit-learn's own rule: the larger label is the positive one
    words = [str(label).lower() for label in classes.tolist()]
    if words in (["nontarget", "target"], ["false", "true"], ["0", "1"]):
        return 1
    raise InputError(
        f"labels hold {', '.join(map(shown, classes.tolist()[:4]))}: name the one that is the target (target=...). Its "
        f"prior and costs are the application's."
    )


def _check_two(classes: Array) -> None:
    if len(classes) != 2:
        raise InputError(
            f"Only binary classification is supported: the labels hold {len(classes)} "
            f"class{'es' if len(classes) != 1 else ''}, and a calibrator of one column needs two classes."
        )


class LogisticCalibrator(_Calibrator):
    """Prior-weighted logistic calibration of one column; see tercet.Logistic."""

    def __init__(self, prior: float = 0.5, penalty: float = 0.0, column: int = -1, target: object = None) -> None:
        self.prior = prior
        self.column = column
        self.target = target
        self.penalty = penalty

    def _trained(self, trials: Trials) -> Any:
        return Logistic.fit(trials, self.prior, penalty=self.penalty)


class IsotonicCalibrator(_Calibrator):
    """Isotonic calibration of one column; see tercet.Isotonic."""

    def __init__(self, prior: float = 0.5, raw: bool = False, column: int = -1, target: object = None) -> None:
        self.prior = prior
        self.column = column
        self.target = target
        self.raw = raw

    def _trained(self, trials: Trials) -> Any:
        return Isotonic.fit(trials, self.prior, raw=self.raw)


class GaussianCalibrator(_Calibrator):
    """Gaussian calibration of one column; see tercet.Gaussian."""

    def __init__(
        self, prior: float = 0.5, shared_variance: bool = True, column: int = -1, target: object = None
    ) -> None:
        self.prior = prior
        self.column = column
        self.target = target
        self.shared_variance = shared_variance

    def _trained(self, trials: Trials) -> Any:
        return Gaussian.fit(trials, self.prior, shared_variance=self.shared_variance)


def application_for(application: Any, classes: Array, target: object) -> MulticlassApplication:
    """An application in the order of an estimator's sorted labels: by target, by class names, or by number."""
    given = application if isinstance(application, MulticlassApplication) else Application.of(application)
    matrix = as_matrix(given)
    if len(matrix.classes) != len(classes):
        raise InputError(
            f"application has {len(matrix.classes)} classes and y holds {len(classes)} class"
            f"{'es' if len(classes) != 1 else ''}. Only binary classification is supported by a two-class application."
        )
    labels = [str(label) for label in classes.tolist()]
    if isinstance(given, Application):
        order = [0, 1] if target_place(classes, target) == 1 else [1, 0]
    elif target is not None:
        raise InputError("target belongs to a two-class application (prior, cost_fn, cost_fp): leave it out here.")
    elif sorted(labels) == sorted(matrix.classes):
        order = [matrix.classes.index(label) for label in labels]
    elif classes.dtype.kind in "biuf" and matrix.classes == tuple(map(str, range(len(labels)))):
        order = list(range(len(labels)))
    else:
        raise InputError(
            f"application speaks of the classes {', '.join(map(shown, matrix.classes[:4]))}, and y of "
            f"{', '.join(map(shown, labels[:4]))}: name them in the order of its priors, "
            f"Application.multiclass(prior, costs, classes=[...])."
        )
    return _in_order(matrix, order, tuple(labels))


def _in_order(app: MulticlassApplication, order: list[int], labels: tuple[str, ...]) -> MulticlassApplication:
    """The same application with classes, and the actions called like them, in another order and with these names."""
    same = app.actions[: len(order)] == app.classes
    rows = [*order, *range(len(order), len(app.actions))] if same else list(range(len(app.actions)))
    actions = (*labels, *app.actions[len(order) :]) if same else app.actions
    return Application.multiclass(app.prior[order], app.costs[np.ix_(rows, order)], classes=labels, actions=actions)


class BayesClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """Cost-optimal decisions on another classifier's posteriors, for any cost matrix and deployment prior.

    The estimator's predict_proba is taken as posteriors at the class frequencies it was trained with (or at
    trained_prior), and moved to the application's prior. predict gives class labels, or action names where the
    application has actions of its own such as "abstain".
    """

    def __init__(
        self,
        estimator: Any = None,
        application: Any = (0.5, 1.0, 1.0),
        trained_prior: Any = None,
        target: object = None,
    ) -> None:
        self.estimator = estimator
        self.application = application
        self.trained_prior = trained_prior
        self.target = target

    def fit(self, X: Any, y: Any, **fit_params: Any) -> Any:
        """Train the estimator and keep the frequencies of its classes.

        Parameters
        ----------
        X : array_like of shape (n, features)
            Samples.
        y : array_like of shape (n,)
            Classes.
        **fit_params
            Passed to the estimator's fit.

        Returns
        -------
        BayesClassifier
            The fitted classifier.
        """
        _check_target(y)
        y = column_or_1d(y, warn=True)
        check_classification_targets(y)
        self.classes_, counts = np.unique(y, return_counts=True)
        self.app_ = application_for(self.application, self.classes_, self.target)
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

    def predict(self, X: Any, cost_fn: Any = None, cost_fp: Any = None) -> Array:
        """The action of least expected cost, the lowest on ties: a class label, or an action's name.

        Parameters
        ----------
        X : array_like of shape (n, features)
            Samples.
        cost_fn, cost_fp : array_like of shape (n,), optional
            Each sample's own cost of a miss and of a false alarm, for two classes; the application's where not given.

        Returns
        -------
        ndarray
            One decision per sample.
        """
        actions = decide(self._trials(X), self._costs(cost_fn, cost_fp))
        if self.app_.actions == self.app_.classes:
            return np.asarray(self.classes_[actions])
        labels = dict(zip(self.app_.classes, self.classes_.tolist(), strict=True))
        called = [labels.get(action, action) for action in self.app_.actions]
        return np.asarray(np.array(called, object)[actions])

    def _costs(self, cost_fn: Any, cost_fp: Any) -> Any:
        """The application, with costs of each sample where they are given."""
        check_is_fitted(self)
        if cost_fn is None and cost_fp is None:
            return self.app_
        if self.app_.costs.shape != (2, 2):
            raise InputError("Costs per sample need two classes and no further action.")
        own = (
            self.app_.costs[0, 1] if cost_fn is None else cost_fn,
            self.app_.costs[1, 0] if cost_fp is None else cost_fp,
        )
        return CaseCosts(float(self.app_.prior[1]), *own)

    def predict_proba(self, X: Any) -> Floats:
        """Posteriors at the application's prior.

        Parameters
        ----------
        X : array_like of shape (n, features)
            Samples.

        Returns
        -------
        numpy.ndarray of shape (n, K)
            One column per class.
        """
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


def cost_scorer(
    application: Any, *, target: object = None, normalised: bool = True
) -> Callable[[Any, Any, Any], float]:
    """A scorer for cross_val_score and GridSearchCV: minus the cost of the estimator's decisions.

    The cost weighs the classes by the application's prior, not by their frequencies. Higher (nearer 0) is better;
    normalised, -1 is the cost of the best decision without scores.

    Parameters
    ----------
    application : Application, MulticlassApplication, tuple, float or str
        Priors and costs.
    target : object, optional
        The label of the target, for two classes.
    normalised : bool, default True
        Divide by the cost of the best decision without scores.

    Returns
    -------
    callable
        ``scorer(estimator, X, y)``, as scikit-learn calls it.

    Examples
    --------
    >>> from sklearn.dummy import DummyClassifier
    >>> always = DummyClassifier(strategy="constant", constant=0).fit([[0], [1]], [0, 1])
    >>> cost_scorer(0.5)(always, [[0], [1]], [0, 1])
    -1.0
    """
    relative = flag(normalised, "normalised")
    if not isinstance(application, MulticlassApplication):
        Application.of(application)

    def scorer(estimator: Any, X: Any, y: Any) -> float:
        decided = np.asarray(estimator.predict(X))
        sorted_labels = np.asarray(getattr(estimator, "classes_", np.unique(y)))
        matrix = application_for(application, sorted_labels, target)
        classes = sorted_labels.tolist()
        labels = dict(zip(matrix.classes, classes, strict=True))
        codes = {labels.get(action, action): code for code, action in enumerate(matrix.actions)}
        columns = {label: code for code, label in enumerate(classes)}
        rows = _coded(decided.tolist(), codes, "an action")
        true = _coded(np.asarray(y).tolist(), columns, "a class of the estimator")
        table = Confusion._counted(rows, true, matrix.classes, matrix.actions, None, None)
        return -(table.normalised_risk(matrix) if relative else table.risk(matrix))

    return scorer


def _coded(values: list[Any], codes: dict[Any, int], what: str) -> NDArray[np.intp]:
    unknown = [value for value in values if value not in codes]
    if unknown:
        raise InputError(f"{shown(unknown[0])} is not {what}: {', '.join(map(shown, list(codes)[:6]))}.")
    return np.array([codes[value] for value in values], np.intp)
