"""Calibrators of one column of scores, for pipelines whose last step has scores for its input."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from tercet._typing import Array, Floats
from tercet.calibration.two_class import Gaussian, Isotonic, Logistic
from tercet.errors import InputError
from tercet.sklearn._common import check_two, checked_labels, target_place, weights_of
from tercet.trials import Trials, logit, probability

if TYPE_CHECKING:
    from sklearn.utils import Tags

    from tercet.calibration.two_class import Calibrator


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
