"""Classifiers around another one, for Bayes decisions, probabilities and thresholds; calibrators of one column."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import check_is_fitted, validate_data

from tercet._numeric.validation import chosen, some
from tercet._typing import Array, Floats
from tercet.application import Application, MulticlassApplication
from tercet.calibration.methods import CLASS_METHODS, METHODS, PENALISED, method_of
from tercet.calibration.two_class import Gaussian, Isotonic, Logistic
from tercet.decision import decide
from tercet.deployment.rules import CRITERIA, Rule
from tercet.errors import CalibrationError, InputError
from tercet.metrics.case_costs import CaseCosts
from tercet.metrics.confusion import as_matrix
from tercet.metrics.posteriors import posteriors
from tercet.sklearn import _common
from tercet.sklearn._common import Labels, Wrapper, check_two, checked_labels, target_place, weights_of
from tercet.trials import Trials, logit, probability

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from tercet.calibration.two_class import Calibrator

Given = Application | MulticlassApplication


def application_of(application: object) -> Given:
    """An application: as it is, or from a triple, a prior or a name."""
    return application if isinstance(application, MulticlassApplication) else Application.of(application)


def class_order(app: Given, classes: Labels, target: object) -> list[int]:
    """For each class of the application its place among the sorted labels: by target, by names, or by number."""
    known = ("nontarget", "target") if isinstance(app, Application) else app.classes
    if len(known) != len(classes):
        raise InputError(
            f"application has {len(known)} classes and y holds {len(classes)} class"
            f"{'es' if len(classes) != 1 else ''}. Only binary classification is supported by a two-class application."
        )
    labels = [str(label) for label in classes.tolist()]
    if isinstance(app, Application):
        return [0, 1] if _common.target_place(classes, target) == 1 else [1, 0]
    if target is not None:
        raise InputError("target belongs to a two-class application (prior, cost_fn, cost_fp): leave it out here.")
    if sorted(labels) == sorted(app.classes):
        return [labels.index(name) for name in app.classes]
    if classes.dtype.kind in "biuf" and app.classes == tuple(map(str, range(len(labels)))):
        return list(range(len(labels)))
    raise InputError(
        f"application has the classes {some(app.classes, 4)}, and y has "
        f"{some(labels, 4)}: name them in the order of its priors, "
        f"Application.multiclass(prior, costs, classes=[...])."
    )


def action_labels(app: Given, classes: Labels, order: list[int]) -> Labels:
    """What predict gives for each action: labels of y where every action is a class, else names, all of them text."""
    ordered = classes[order]
    if isinstance(app, Application) or app.actions == app.classes:
        return np.asarray(ordered)
    labels = dict(zip(app.classes, ordered.tolist(), strict=True))
    if all(action in labels for action in app.actions):
        return np.asarray(ordered[[app.classes.index(action) for action in app.actions]])
    names = {name: str(label) for name, label in labels.items()}
    return np.array([names.get(action, action) for action in app.actions])


class BayesClassifier(Wrapper):
    """Cost-optimal decisions on another classifier's posteriors, for any cost matrix and deployment prior.

    The probabilities of the estimator are treated as posteriors at the prior it was trained with, and converted to the
    prior of the application. Decisions are those of `tercet.decide`.

    Parameters
    ----------
    estimator : classifier, optional
        Any classifier with predict_proba; a logistic regression unless given.
    application : Application, triple, name or MulticlassApplication
        Prior and costs where the model will be used. Its classes are matched by name, by number, or by `target`.
    trained_prior : float, array_like or "balanced", optional
        The prior that is in the estimator's probabilities: the target's, or one number per class in the order of the
        application's classes; "balanced" after class_weight="balanced", which makes the classes equal. The shares of
        the classes in y (by `sample_weight`, where the estimator takes it) unless given.
    target : optional
        The label of the target, for a two-class application if class labels are text.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    estimator_ : object
        The trained estimator.
    trained_prior_, prior_ : ndarray
        The prior taken out of its probabilities, and the application's, in the order of `classes_`.

    Examples
    --------
    Missing a target costs 9 times a false alarm, so a case is accepted from a probability of 1 in 10 on:

    >>> import numpy as np
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 4), np.array([0, 0, 1, 1] * 2 + [0, 1, 0, 1] * 2)
    >>> model = BayesClassifier(application=(0.5, 9, 1)).fit(X, y)
    >>> model.predict([[1.0], [2.0]]).tolist(), bool(model.predict_proba([[1.0]])[0, 1] < 0.5)
    ([1, 1], True)
    """

    def __init__(
        self,
        estimator: object = None,
        application: object = (0.5, 1.0, 1.0),
        trained_prior: object = None,
        target: object = None,
    ) -> None:
        self.estimator = estimator
        self.application = application
        self.trained_prior = trained_prior
        self.target = target

    def fit(self, X: object, y: object, sample_weight: object = None, **params: object) -> BayesClassifier:
        """Trains the estimator and notes the prior of its probabilities.

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, features)
            Samples.
        y : array_like of shape (n,)
            Labels.
        sample_weight : array_like of shape (n,), optional
            Weights, for an estimator that takes them.
        **params
            Further metadata for the estimator's fit.

        Returns
        -------
        BayesClassifier
            The estimator itself, trained.
        """
        labels = _common.checked_labels(y)
        weights = _common.weights_of(sample_weight, labels)
        self.classes_ = np.unique(labels)
        self.app_ = application_of(self.application)
        self._order = class_order(self.app_, self.classes_, self.target)
        metadata = _common.routed(self, _common.base_of(self.estimator), sample_weight, params)
        counted = weights if "sample_weight" in metadata.estimator.fit else None
        shares = _common.shares_of(labels, counted)
        self.trained_prior_ = _common.prior_in_order(self.trained_prior, shares, self._order, "trained_prior")
        self.prior_ = np.empty(len(self.classes_))
        self.prior_[self._order] = as_matrix(self.app_).prior
        self.estimator_ = _common.trained(_common.base_of(self.estimator), X, labels, metadata)
        _common.keep_features(self, self.estimator_)
        return self

    def predict(self, X: object, cost_fn: ArrayLike | None = None, cost_fp: ArrayLike | None = None) -> Array:
        """The action of least expected cost: a label of y, or a name where the application has further actions.

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, features)
            Samples.
        cost_fn, cost_fp : array_like of shape (n,), optional
            Each sample's own cost of a miss and of a false alarm, for two classes; the application's where not given.

        Returns
        -------
        ndarray of shape (n,)
            One decision per sample; text, all of them, where the application has actions that are not classes.
        """
        actions = decide(self._trials(X), self._costs(cost_fn, cost_fp))
        return np.asarray(action_labels(self.app_, self.classes_, self._order)[actions])

    def _costs(self, cost_fn: ArrayLike | None, cost_fp: ArrayLike | None) -> Given | CaseCosts:
        """The application, with costs of each sample where they are given."""
        check_is_fitted(self)
        if cost_fn is None and cost_fp is None:
            return self.app_
        app = as_matrix(self.app_)
        if app.costs.shape != (2, 2) or np.diag(app.costs).any():
            raise InputError("cost_fn and cost_fp per sample need two classes and no further action.")
        own = (app.costs[0, 1] if cost_fn is None else cost_fn, app.costs[1, 0] if cost_fp is None else cost_fp)
        return CaseCosts(float(app.prior[1]), *own)

    def predict_proba(self, X: object) -> Floats:
        """Posteriors at the application's prior, one column per class in the order of `classes_`.

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, features)
            Samples.

        Returns
        -------
        ndarray of shape (n, classes)
            Posterior probabilities.
        """
        found = posteriors(self._trials(X), self.prior_[self._order])
        ordered = np.empty(found.shape)
        ordered[:, self._order] = found
        return ordered

    def _trials(self, X: object) -> Trials:
        """The probabilities as trials, with classes in the order of the application."""
        check_is_fitted(self)
        given = _common.posteriors_of(self.estimator_, X)[:, self._order]
        prior = self.trained_prior_[self._order]
        return Trials.of_posteriors(given, trained_prior=prior, orientation="samples x classes")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        multiclass = isinstance(self.application, MulticlassApplication) and len(self.application.classes) > 2
        tags.classifier_tags.multi_class = multiclass
        return tags


_SEVERAL = ("logistic", *CLASS_METHODS)  # methods that take more than two classes


class CalibratedClassifier(Wrapper):
    """A classifier whose probabilities are calibrated by a map of tercet.

    Each sample is scored by a clone of the estimator that was trained without it; the calibrator is trained on these
    pooled scores, and the final estimator on all samples. With `cv="prefit"`, the estimator has already been trained,
    and fit takes samples that it has not seen.

    Parameters
    ----------
    estimator : classifier, optional
        Any classifier with decision_function or predict_proba; a logistic regression unless given.
    method : str, default "logistic"
        "logistic", "isotonic", "isotonic-linear", "gaussian", "gaussian-own-variances", "beta", "offset" and
        "kernel-density" for two classes; "affine", "temperature", "scale" and "matrix" for any number. "logistic" with
        more than two classes is "affine", of which it is a special case.
    prior : float, array_like or "balanced", optional
        The class prior at which the map is trained and the probabilities are given: the target's, or one number per
        class in sorted order. That of y unless given, as in scikit-learn.
    penalty : float, default 0
        Penalty of the maps that are regressions. If the scores separate the classes, there is no finite optimum without
        one.
    cv : int, splitter, iterable or "prefit", default 5
        Folds; every sample is held out once.
    response : {"auto", "decision_function", "log_odds", "predict_proba"}, default "auto"
        What is calibrated. "auto" for two classes: decision_function, else the log-odds of predict_proba; for more:
        predict_proba, else decision_function.
    target : optional
        The label of the target, if there are two classes with text labels.

    Attributes
    ----------
    classes_ : ndarray
        The labels, sorted.
    estimator_, calibrator_ : object
        The final estimator and the map.
    prior_ : ndarray
        The prior of predict_proba, in the order of `classes_`.
    scores_ : Trials
        The scores that the calibrator was trained on, in the order of the samples.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import GaussianNB
    >>> X, y = np.array([[0.0], [1.0], [2.0], [3.0]] * 10), np.array([0, 0, 1, 0] * 5 + [0, 1, 1, 1] * 5)
    >>> model = CalibratedClassifier(GaussianNB(), method="isotonic", cv=2).fit(X, y)
    >>> model.prior_.tolist()
    [0.5, 0.5]
    """

    def __init__(
        self,
        estimator: object = None,
        method: str = "logistic",
        prior: object = None,
        penalty: float = 0.0,
        cv: object = 5,
        response: str = "auto",
        target: object = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.prior = prior
        self.penalty = penalty
        self.cv = cv
        self.response = response
        self.target = target

    def fit(self, X: object, y: object, sample_weight: object = None, **params: object) -> CalibratedClassifier:
        """Trains the estimator and the map of its scores.

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, features)
            Samples.
        y : array_like of shape (n,)
            Labels.
        sample_weight : array_like of shape (n,), optional
            Weights: of the samples in the calibration, and in the estimator if it takes them.
        **params
            Further metadata for the estimator's fit and, as `groups`, for the splitter.

        Returns
        -------
        CalibratedClassifier
            The estimator itself, trained.
        """
        labels = _common.checked_labels(y)
        weights = _common.weights_of(sample_weight, labels)
        method_of(self.method)
        self.classes_ = np.unique(labels)
        self._prepare(_common.shares_of(labels, weights))
        if isinstance(self.cv, str):
            self.estimator_ = self._prefit()
            if not np.array_equal(self.estimator_.classes_, self.classes_):
                raise InputError("y must hold the classes that the estimator was trained on, all of them.")
            scores = self._scores(self.estimator_, X).scores
        else:
            metadata = _common.routed(self, _common.base_of(self.estimator), sample_weight, params)
            scores = self._out_of_fold(X, labels, metadata, lambda model, rows: self._scores(model, rows).scores)
        _common.keep_features(self, self.estimator_)
        self.scores_ = self._trials(scores, labels, weights)
        self.calibrator_ = self._trained(self.scores_)
        return self

    def _prepare(self, shares: Floats) -> None:
        """Which class is the target, and the priors."""
        if len(self.classes_) < 2:
            raise InputError("Calibration needs at least two classes, and y holds 1 class.")
        two = len(self.classes_) == 2
        if not two and self.method not in _SEVERAL:
            raise InputError(
                f"Only binary classification is supported by method={self.method!a}, and y holds {len(self.classes_)} "
                f"classes: use one of {', '.join(_SEVERAL)}."
            )
        self._place = _common.target_place(self.classes_, self.target) if two else None
        if not two and self.target is not None:
            raise InputError("target is for two classes: leave it out.")
        order = [1, 0] if self._place == 0 else list(range(len(self.classes_)))
        self._shares = shares
        self.prior_ = _common.prior_in_order(self.prior, shares, order, "prior")

    @property
    def _by_class(self) -> bool:
        """Whether scores have one column per class."""
        return self._place is None or self.method in CLASS_METHODS

    def _scores(self, estimator: object, X: object) -> Trials:
        if self._by_class:
            return _common.class_scores(estimator, X, self.response, self._shares)
        return self._of_target(_common.target_scores(estimator, X, self.response, int(self._place == 1)))

    def _of_target(self, scores: Floats, labels: Any = None, weights: Any = None) -> Trials:
        """One score per sample; for a beta map they are marked as probabilities or log-odds."""
        if self.method != "beta":
            return Trials.of_scores(scores, labels, weights=weights)
        make: Any = Trials.of_posteriors if self.response == "predict_proba" else Trials.of_log_odds
        found: Trials = make(scores, labels, trained_prior=float(self._shares[int(self._place == 1)]), weights=weights)
        return found

    def _trials(self, scores: Floats, y: Labels, weights: Floats | None) -> Trials:
        if not self._by_class:
            assert self._place is not None
            return self._of_target(scores, y == self.classes_[self._place], weights)
        names = [str(label) for label in self.classes_.tolist()]
        more: Any = {"classes": names, "trained_prior": self._shares, "orientation": "samples x classes"}
        make = Trials.of_logits if self._logits() else Trials.of_posteriors
        return make(scores, [str(label) for label in y.tolist()], weights=weights, **more)

    def _logits(self) -> bool:
        has = hasattr(self.estimator_, "predict_proba")
        return self.response == "decision_function" or (self.response == "auto" and not has)

    def _trained(self, trials: Trials) -> Any:
        name = "affine" if self._place is None and self.method == "logistic" else self.method
        maker, settings = method_of(name, CLASS_METHODS if self._place is None else METHODS)
        if name in PENALISED:
            settings["penalty"] = self.penalty
        prior = self.prior_ if self._by_class else float(self.prior_[self._place])
        try:
            return maker.fit(trials, prior, **settings)
        except CalibrationError as error:
            raise CalibrationError(f"{error} (method={self.method!a} of CalibratedClassifier)") from error

    def _calibrated(self, X: object) -> Trials:
        check_is_fitted(self)
        found: Trials = self.calibrator_(self._scores(self.estimator_, X))
        return found

    def predict_proba(self, X: object) -> Floats:
        """Calibrated probabilities at the prior, one column per class in the order of `classes_`.

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, features)
            Samples.

        Returns
        -------
        ndarray of shape (n, classes)
            Posterior probabilities.
        """
        found = self._calibrated(X)
        if self._place == 0 and not found.is_matrix:
            return posteriors(found, self.prior_[::-1])[:, ::-1]
        return posteriors(found, self.prior_)

    def decision_function(self, X: object) -> Floats:
        """Posterior log-odds of the second class, or log-posteriors up to a constant for more than two.

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, features)
            Samples.

        Returns
        -------
        ndarray of shape (n,) or (n, classes)
            Above 0, or largest, where the class is predicted.
        """
        found = self._calibrated(X)
        logs = np.log(self.prior_)
        if not found.is_matrix:
            llr = found.llr if self._place == 1 else 0.0 - found.llr
            return np.asarray(llr + (logs[1] - logs[0]))
        joint = found.log_likelihoods + logs
        return np.asarray(joint[:, 1] - joint[:, 0] if joint.shape[1] == 2 else joint)

    def predict(self, X: object) -> Array:
        """The class of the largest probability; of two equal ones the non-target, else the first.

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, features)
            Samples.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        odds = self.decision_function(X)
        if odds.ndim == 2:
            return np.asarray(self.classes_[odds.argmax(axis=1)])
        second = odds > 0.0 if self._place == 1 else odds >= 0.0
        return np.asarray(self.classes_[second.astype(np.intp)])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = self.method in _SEVERAL
        return tags


_BEST = ("youden", "corner", "eer")


class ThresholdClassifier(Wrapper):
    """A classifier that decides by a threshold on its scores, chosen by a named criterion.

    The threshold is chosen on out-of-fold scores (k folds), and the final estimator is trained on all samples. A
    guarantee (`confidence`) holds for the scores of a single estimator: the last fold is then held out, the estimator
    is trained on the others only, and the threshold is chosen on the held-out samples. With `cv="prefit"`, the
    estimator has already been trained, and fit takes samples that it has not seen.

    Parameters
    ----------
    estimator : classifier, optional
        Any classifier with decision_function or predict_proba; a logistic regression unless given.
    criterion : str, default "least_cost"
        A criterion of `tercet.Rule.fit`: "fpr_at_most", "fnr_at_most", "recall_at_least", "specificity_at_least",
        "precision_at_least", "alarms_at_most", "least_cost", "f_beta", "youden", "corner" or "eer".
    value : optional
        The value that the criterion takes: a bound, a beta, an operating point (prior, cost_fn, cost_fp) or its name.
        It has no effect for "youden", "corner" and "eer".
    confidence : float, optional
        Makes a bound on false alarms or misses a guarantee for new samples.
    cases_per_day, prevalence : float, optional
        For "alarms_at_most": how many cases come in per day, and the share of targets among them.
    cv : int, splitter, iterable or "prefit", default 5
        Folds; every sample is held out once.
    response : {"auto", "decision_function", "log_odds", "predict_proba"}, default "auto"
        The scores: decision_function where there is one, else the log-odds of predict_proba.
    target : optional
        The label of the target, if the class labels are text.

    Attributes
    ----------
    rule_ : Rule
        The threshold with the rates that it reached, which can be saved and evaluated.
    estimator_ : object
        The estimator that scores new samples.
    classes_ : ndarray
        The labels, sorted.

    Examples
    --------
    At most one false alarm in four, on scores that rise with the label:

    >>> import numpy as np
    >>> X, y = np.arange(40.0)[:, None], np.arange(40) >= 20
    >>> model = ThresholdClassifier(criterion="fpr_at_most", value=0.25).fit(X, y)
    >>> model.rule_.training["false_alarms"]
    5
    """

    def __init__(
        self,
        estimator: object = None,
        criterion: str = "least_cost",
        value: object = (0.5, 1.0, 1.0),
        confidence: float | None = None,
        cases_per_day: float | None = None,
        prevalence: float | None = None,
        cv: object = 5,
        response: str = "auto",
        target: object = None,
    ) -> None:
        self.estimator = estimator
        self.criterion = criterion
        self.value = value
        self.confidence = confidence
        self.cases_per_day = cases_per_day
        self.prevalence = prevalence
        self.cv = cv
        self.response = response
        self.target = target

    def fit(self, X: object, y: object, sample_weight: object = None, **params: object) -> ThresholdClassifier:
        """Trains the estimator and chooses the threshold.

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, features)
            Samples.
        y : array_like of shape (n,)
            Labels of two classes.
        sample_weight : array_like of shape (n,), optional
            Weights: of the samples in choosing the threshold, and in the estimator if it takes them.
        **params
            Further metadata for the estimator's fit and, as `groups`, for the splitter.

        Returns
        -------
        ThresholdClassifier
            The estimator itself, trained.
        """
        labels = _common.checked_labels(y)
        weights = _common.weights_of(sample_weight, labels)
        self.classes_ = np.unique(labels)
        _common.check_two(self.classes_, "a threshold")
        self._place = _common.target_place(self.classes_, self.target)
        chosen(self.criterion, "criterion", (*CRITERIA, *_BEST))
        base, rows = _common.base_of(self.estimator), np.arange(len(labels))
        if isinstance(self.cv, str):
            self.estimator_ = self._prefit()
            scores = self._scores(self.estimator_, X)
        elif self.confidence is not None:
            rows, scores = self._one_fold(base, X, labels, _common.routed(self, base, sample_weight, params))
        else:
            scores = self._out_of_fold(X, labels, _common.routed(self, base, sample_weight, params), self._scores)
        _common.keep_features(self, self.estimator_)
        heavy = None if weights is None else weights[rows]
        self.rule_ = self._chosen(Trials.of_scores(scores, labels[rows] == self.classes_[self._place], weights=heavy))
        return self

    def _one_fold(self, base: object, X: object, y: Labels, metadata: object) -> tuple[Any, Floats]:
        """The rows of the last fold, and their scores by the estimator that the others trained."""
        X = indexable(X)[0]
        train, test = _common.folds_of(self.cv, X, y, metadata)[-1]
        self.estimator_ = _common.trained_on(base, X, y, train, metadata)
        return test, self._scores(self.estimator_, _safe_indexing(X, test))

    def _scores(self, estimator: object, X: object) -> Floats:
        return _common.target_scores(estimator, X, self.response, self._place)

    def _chosen(self, trials: Trials) -> Rule:
        asked = {"best": self.criterion} if self.criterion in _BEST else {self.criterion: self.value}
        if self.criterion not in _BEST and self.value is None:
            raise InputError(f"value= is needed with criterion={self.criterion!a}.")
        more: Any = {"cases_per_day": self.cases_per_day, "prevalence": self.prevalence}
        return Rule.fit(trials, confidence=self.confidence, **asked, **more)

    def decision_function(self, X: object) -> Floats:
        """The score minus the threshold for the second of `classes_`, by scikit-learn's rule.

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, features)
            Samples.

        Returns
        -------
        ndarray of shape (n,)
            Above 0 where the target is decided, if the target is the second class; else below.
        """
        check_is_fitted(self)
        scores, rule = self._scores(self.estimator_, X), self.rule_
        if rule.accept_all:
            found = np.full(len(scores), np.inf)
        else:
            with np.errstate(invalid="ignore"):
                found = np.where(scores == rule.threshold, 0.0, scores - rule.threshold)
        return found if self._place == 1 else 0.0 - found

    def predict(self, X: object) -> Array:
        """The target where the score is above the threshold, else the other label.

        Parameters
        ----------
        X : array_like or sparse matrix of shape (n, features)
            Samples.

        Returns
        -------
        ndarray of shape (n,)
            Labels.
        """
        check_is_fitted(self)
        accepted = self.rule_(self._scores(self.estimator_, X)).astype(np.bool_)
        return np.asarray(self.classes_[np.where(accepted, self._place, 1 - self._place)])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


# Calibrators of one column of scores, for pipelines whose last step has scores for its input


class _Calibrator(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A two-class calibrator of one column: decision_function gives llrs, predict_proba posteriors at the prior.

    The scores are the last column unless `column` says otherwise: the target's in what predict_proba gives.
    """

    prior: float
    column: int
    target: object

    def fit(self, X: object, y: object, sample_weight: object = None) -> Self:
        """Trains on the column of scores; the target is the label that `target` names, or the larger of two numbers.

        Parameters
        ----------
        X : array_like of shape (n, columns)
            Scores, in the column that `column` names.
        y : array_like of shape (n,)
            Labels of two classes.
        sample_weight : array_like of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        object
            The estimator itself, trained.
        """
        if y is None:
            checked_labels(y)
        values, y = validate_data(self, X, y, dtype=np.float64)
        labels = checked_labels(y)
        self.classes_ = np.unique(labels)
        weights = weights_of(sample_weight, labels)
        check_two(self.classes_, "a calibrator of one column")
        self.target_ = self.classes_[target_place(self.classes_, self.target)]
        trials = Trials.of_scores(self._scores(values), labels == self.target_, weights=weights)
        self.calibrator_ = self._trained(trials)
        return self

    def _trained(self, trials: Trials) -> Calibrator:
        raise NotImplementedError

    def _scores(self, X: Floats) -> Floats:
        if not -X.shape[1] <= self.column < X.shape[1]:
            raise InputError(f"column={self.column} does not exist: X has {X.shape[1]} columns.")
        return np.ascontiguousarray(X[:, self.column])

    def decision_function(self, X: object) -> Floats:
        """Log-likelihood ratios of the second of `classes_`, by scikit-learn's rule: of the target, or minus those.

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

    def _llr(self, X: object) -> Floats:
        check_is_fitted(self)
        llr: Floats = self.calibrator_(self._scores(validate_data(self, X, dtype=np.float64, reset=False)))
        return llr

    def predict_proba(self, X: object) -> Floats:
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

    def predict(self, X: object) -> Array:
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

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.poor_score = True  # one column of features is not a score: it may fall with the target
        return tags


class LogisticCalibrator(_Calibrator):
    """Prior-weighted logistic calibration of one column; see tercet.Logistic.

    Examples
    --------
    >>> from tercet.sklearn import LogisticCalibrator
    >>> scores, labels = [[-1.0], [-1.0], [-1.0], [1.0], [1.0], [1.0]], [0, 0, 1, 0, 1, 1]
    >>> LogisticCalibrator(prior=0.5).fit(scores, labels).decision_function([[1.0]]).round(4).tolist()    # ln 2
    [0.6931]
    """

    def __init__(self, prior: float = 0.5, penalty: float = 0.0, column: int = -1, target: object = None) -> None:
        self.prior = prior
        self.column = column
        self.target = target
        self.penalty = penalty

    def _trained(self, trials: Trials) -> Calibrator:
        return Logistic.fit(trials, self.prior, penalty=self.penalty)


class IsotonicCalibrator(_Calibrator):
    """Isotonic calibration of one column; see tercet.Isotonic.

    Examples
    --------
    >>> from tercet.sklearn import IsotonicCalibrator
    >>> scores, labels = [[-1.0], [-1.0], [-1.0], [1.0], [1.0], [1.0]], [0, 0, 1, 0, 1, 1]
    >>> IsotonicCalibrator(prior=0.5, raw=True).fit(scores, labels).predict_proba([[1.0]]).round(4).tolist()
    [[0.3333, 0.6667]]
    """

    def __init__(self, prior: float = 0.5, raw: bool = False, column: int = -1, target: object = None) -> None:
        self.prior = prior
        self.column = column
        self.target = target
        self.raw = raw

    def _trained(self, trials: Trials) -> Calibrator:
        return Isotonic.fit(trials, self.prior, raw=self.raw)


class GaussianCalibrator(_Calibrator):
    """Gaussian calibration of one column; see tercet.Gaussian.

    Examples
    --------
    >>> from tercet.sklearn import GaussianCalibrator
    >>> scores, labels = [[-2.0], [-2.0], [0.0], [0.0], [0.0], [0.0], [2.0], [2.0]], [0, 0, 0, 0, 1, 1, 1, 1]
    >>> GaussianCalibrator(prior=0.5).fit(scores, labels).decision_function([[1.0]]).round(4).tolist()    # llr = 2 s
    [2.0]
    """

    def __init__(
        self, prior: float = 0.5, shared_variance: bool = True, column: int = -1, target: object = None
    ) -> None:
        self.prior = prior
        self.column = column
        self.target = target
        self.shared_variance = shared_variance

    def _trained(self, trials: Trials) -> Calibrator:
        return Gaussian.fit(trials, self.prior, shared_variance=self.shared_variance)
