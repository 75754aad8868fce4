"""CalibratedClassifier: any classifier with calibrated probabilities, learnt on scores that it gave out of fold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from tercet._typing import Array, Floats
from tercet.calibration.methods import CLASS_METHODS, METHODS, PENALISED, method_of
from tercet.errors import CalibrationError, InputError
from tercet.metrics.posteriors import posteriors
from tercet.sklearn._common import (
    Labels,
    Wrapper,
    base_of,
    checked_labels,
    class_scores,
    held_out,
    keep_features,
    prior_in_order,
    routed,
    shares_of,
    target_place,
    target_scores,
    trained,
    weights_of,
)
from tercet.trials import Trials

if TYPE_CHECKING:
    from sklearn.utils import Tags

_SEVERAL = ("logistic", *CLASS_METHODS)  # methods that take more than two classes


class CalibratedClassifier(Wrapper):
    """A classifier whose probabilities are calibrated by a map of tercet.

    Each sample is scored by a clone of the estimator that did not see it; the calibrator is trained on these pooled
    scores, and the final estimator on all samples. With `cv="prefit"` the estimator is trained already, and fit takes
    samples that it did not see.

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
        class in sorted order. That of y unless given, as scikit-learn has it.
    penalty : float, default 0
        Of the maps that are regressions. Scores that separate the classes have no finite optimum without one.
    cv : int, splitter, iterable or "prefit", default 5
        Folds; every sample is held out once.
    response : {"auto", "decision_function", "log_odds", "predict_proba"}, default "auto"
        What is calibrated. "auto" for two classes: decision_function, else the log-odds of predict_proba; for more:
        predict_proba, else decision_function.
    target : optional
        The label of the target where two classes are called by text.

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
        labels = checked_labels(y)
        weights = weights_of(sample_weight, labels)
        method_of(self.method)
        self.classes_ = np.unique(labels)
        self._prepare(shares_of(labels, weights))
        if isinstance(self.cv, str):
            self.estimator_ = self._prefit()
            if not np.array_equal(self.estimator_.classes_, self.classes_):
                raise InputError("y must hold the classes that the estimator was trained on, all of them.")
            scores = self._scores(self.estimator_, X).scores
        else:
            scores = self._out_of_fold(X, labels, routed(self, base_of(self.estimator), sample_weight, params))
        keep_features(self, self.estimator_)
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
        self._place = target_place(self.classes_, self.target) if two else None
        if not two and self.target is not None:
            raise InputError("target is for two classes: leave it out.")
        order = [1, 0] if self._place == 0 else list(range(len(self.classes_)))
        self._shares = shares
        self.prior_ = prior_in_order(self.prior, shares, order, "prior")

    @property
    def _by_class(self) -> bool:
        """Whether scores have one column per class."""
        return self._place is None or self.method in CLASS_METHODS

    def _scores(self, estimator: object, X: object) -> Trials:
        if self._by_class:
            return class_scores(estimator, X, self.response, self._shares)
        return self._of_target(target_scores(estimator, X, self.response, int(self._place == 1)))

    def _of_target(self, scores: Floats, labels: Any = None, weights: Any = None) -> Trials:
        """One score per sample; a beta map is told that they are probabilities or their log-odds."""
        if self.method != "beta":
            return Trials.of_scores(scores, labels, weights=weights)
        make: Any = Trials.of_posteriors if self.response == "predict_proba" else Trials.of_log_odds
        found: Trials = make(scores, labels, trained_prior=float(self._shares[int(self._place == 1)]), weights=weights)
        return found

    def _out_of_fold(self, X: object, y: Labels, metadata: object) -> Floats:
        base = base_of(self.estimator)
        self.estimator_ = trained(base, X, y, metadata)
        found: Floats | None = None
        for model, rows, samples in held_out(base, X, y, self.cv, metadata):
            part = self._scores(model, samples).scores
            found = np.empty((len(y), *part.shape[1:])) if found is None else found
            found[rows] = part
        assert found is not None
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
