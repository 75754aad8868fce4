"""ThresholdClassifier: any two-class classifier with a threshold chosen by a rule of tercet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import _safe_indexing, indexable
from sklearn.utils.validation import check_is_fitted

from tercet._numeric.validation import chosen
from tercet._typing import Array, Floats
from tercet.deployment.rules import CRITERIA, Rule
from tercet.errors import InputError
from tercet.sklearn._common import (
    Labels,
    Wrapper,
    base_of,
    check_two,
    checked_labels,
    folds_of,
    held_out,
    keep_features,
    routed,
    target_place,
    target_scores,
    trained,
    trained_on,
    weights_of,
)
from tercet.trials import Trials

if TYPE_CHECKING:
    from sklearn.utils import Tags

_BEST = ("youden", "corner", "eer")


class ThresholdClassifier(Wrapper):
    """A classifier that decides by a threshold on its scores, chosen by a named criterion.

    The threshold is chosen on scores that estimators gave to samples they did not see (k folds), and the final
    estimator is trained on all samples. A promise (`confidence`) holds for the scores of one estimator: then the last
    fold is held out, the estimator is trained on the others only, and the threshold is chosen on the held-out samples.
    With `cv="prefit"` the estimator is trained already, and fit takes samples that it did not see.

    Parameters
    ----------
    estimator : classifier, optional
        Any classifier with decision_function or predict_proba; a logistic regression unless given.
    criterion : str, default "least_cost"
        A criterion of `tercet.Rule.fit`: "fpr_at_most", "fnr_at_most", "recall_at_least", "specificity_at_least",
        "precision_at_least", "alarms_at_most", "least_cost", "f_beta", "youden", "corner" or "eer".
    value : optional
        What the criterion takes: a bound, a beta, an operating point (prior, cost_fn, cost_fp) or its name. Without
        effect for "youden", "corner" and "eer".
    confidence : float, optional
        Makes a bound on false alarms or misses a promise for new samples.
    cases_per_day, prevalence : float, optional
        Of "alarms_at_most".
    cv : int, splitter, iterable or "prefit", default 5
        Folds; every sample is held out once.
    response : {"auto", "decision_function", "log_odds", "predict_proba"}, default "auto"
        The scores: decision_function where there is one, else the log-odds of predict_proba.
    target : optional
        The label of the target where the classes are called by text.

    Attributes
    ----------
    rule_ : Rule
        The threshold with the rates it reached, to be saved and judged.
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
        labels = checked_labels(y)
        weights = weights_of(sample_weight, labels)
        self.classes_ = np.unique(labels)
        check_two(self.classes_, "a threshold")
        self._place = target_place(self.classes_, self.target)
        chosen(self.criterion, "criterion", (*CRITERIA, *_BEST))
        base, rows = base_of(self.estimator), np.arange(len(labels))
        if isinstance(self.cv, str):
            self.estimator_ = self._prefit()
            scores = self._scores(self.estimator_, X)
        elif self.confidence is not None:
            rows, scores = self._one_fold(base, X, labels, routed(self, base, sample_weight, params))
        else:
            scores = self._all_folds(base, X, labels, routed(self, base, sample_weight, params))
        keep_features(self, self.estimator_)
        heavy = None if weights is None else weights[rows]
        self.rule_ = self._chosen(Trials.of_scores(scores, labels[rows] == self.classes_[self._place], weights=heavy))
        return self

    def _one_fold(self, base: object, X: object, y: Labels, metadata: object) -> tuple[Any, Floats]:
        """The rows of the last fold, and their scores by the estimator that the others trained."""
        X = indexable(X)[0]
        train, test = folds_of(self.cv, X, y, metadata)[-1]
        self.estimator_ = trained_on(base, X, y, train, metadata)
        return test, self._scores(self.estimator_, _safe_indexing(X, test))

    def _all_folds(self, base: object, X: object, y: Labels, metadata: object) -> Floats:
        self.estimator_ = trained(base, X, y, metadata)
        scores = np.empty(len(y))
        for model, rows, samples in held_out(base, X, y, self.cv, metadata):
            scores[rows] = self._scores(model, samples)
        return scores

    def _scores(self, estimator: object, X: object) -> Floats:
        return target_scores(estimator, X, self.response, self._place)

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
