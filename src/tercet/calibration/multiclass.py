"""Affine: calibration of K-class log-likelihoods, from one temperature to a full matrix."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, overload

import numpy as np
from numpy.typing import ArrayLike

from tercet._numeric.serialization import Model, damaged, matrix, reals, word, words
from tercet._numeric.validation import chosen, frozen, numbers
from tercet._typing import Facts, Floats
from tercet.calibration._designs import Recipe
from tercet.calibration._linear import Regression
from tercet.calibration.training import ClassData, HasTrainingData, class_data
from tercet.calibration.two_class import non_negative
from tercet.errors import CalibrationError, InputError
from tercet.metrics.posteriors import likelihoods_of, prior_of
from tercet.trials import Trials

# The scores that a map takes, and the features it makes of them: (l + ln prior) / T scales the prior too.
_RECIPES = {
    "temperature": ("posteriors", "weights"),
    "scale": ("likelihoods", "weights"),
    "offsets": ("likelihoods", "offsets"),
    "matrix": ("likelihoods", "matrix"),
}
KINDS = tuple(_RECIPES)


@dataclass(frozen=True, slots=True, eq=False)
class Affine(Model):
    """Log-likelihoods x -> W x + offsets, up to a constant per row, trained for any class prior.

    kind "temperature": temperature scaling. The log-posteriors at the prior they were made with are divided by T > 0,
    so that decisions by the largest posterior at that prior do not change (Guo et al. 2017); "scale": log-likelihoods
    times one number, no offsets; "offsets": one number and an offset per class; "matrix": a full W. Minimises the
    cross-entropy of the posteriors at the prior, with the classes weighted by it. Logits and posteriors are first
    converted to log-likelihoods by removing the prior that they were trained with.

    Attributes
    ----------
    kind : {"temperature", "scale", "offsets", "matrix"}
        Which map it is.
    classes : tuple of str
        Class names.
    weights : numpy.ndarray of float
        W: 1 x 1, or K x K for "matrix".
    offsets : numpy.ndarray of shape (K,)
        One offset per class.
    training : mapping
        What it was trained on: trials, prior, penalty, gradient norm, iterations.

    References
    ----------
    .. [1] C. Guo, G. Pleiss, Y. Sun and K. Q. Weinberger, "On calibration of modern neural networks", Proc. ICML,
       2017, 1321-1330.

    Examples
    --------
    >>> rows = Trials.of_log_likelihoods([[0., 1.]] * 4 + [[1., 0.]] * 4, [1, 1, 1, 0, 1, 0, 0, 0])
    >>> Affine.fit(rows, kind="scale").weights.round(4).tolist()    # ln 3: right in 3 of 4
    [[1.0986]]
    """

    method = "affine"
    _parameters: ClassVar = {"kind": word, "classes": words, "weights": matrix, "offsets": reals}
    _facts = ("trials", "prior", "penalty", "gradient_norm", "iterations")

    kind: str
    classes: tuple[str, ...]
    weights: Floats
    offsets: Floats
    training: Facts = field(repr=False, hash=False)

    def _check(self) -> None:
        count = len(self.classes)
        wanted = (count, count) if self.kind == "matrix" else (1, 1)
        if self.kind not in KINDS or count < 2 or self.weights.shape != wanted or self.offsets.shape != (count,):
            raise damaged("kind, classes, weights and offsets of an affine map do not fit each other")
        if not np.isfinite(self.offsets).all():
            raise damaged("offsets must be finite")

    @classmethod
    def fit(
        cls, trials: Trials | HasTrainingData, prior: object = None, *, kind: str = "offsets", penalty: float = 0.0
    ) -> Affine:
        """Train on labelled trials of K classes.

        Parameters
        ----------
        trials : Trials or Scan
            Labelled trials.
        prior : array_like of shape (K,), optional
            The prior of the posteriors whose cross-entropy is minimised, and the weights of the classes in it. Uniform
            by default; for "temperature", the prior that the scores were made with, if they have one.
        kind : {"temperature", "scale", "offsets", "matrix"}
            Which map.
        penalty : float
            Weight of the squared parameters that multiply (standardised) scores.

        Returns
        -------
        Affine
            The trained map.

        Examples
        --------
        >>> rows = Trials.of_log_likelihoods([[0., 1.]] * 4 + [[1., 0.]] * 4, [1, 1, 1, 0, 1, 0, 0, 0])
        >>> Affine.fit(rows, kind="temperature").weights.round(4).tolist()    # 1 / T = ln 3
        [[1.0986]]
        """
        chosen(kind, "kind", KINDS)
        ridge, what = non_negative(penalty, "penalty"), f"Affine calibration ({kind})"
        with class_data(trials) as data:
            share = _prior_for(data, prior, kind)
            recipe = Recipe(*_RECIPES[kind], tuple(share.tolist()))
            recipe.check_size("use kind='offsets' or 'temperature'")
            rows = data.regression(recipe, "Affine calibration")
            found, classes, count = Regression(rows, ridge, what).solve(), data.classes, data.trials
        weights, offsets = rows.design.back(found.parameters)
        if kind == "temperature":
            if not weights[0] > 0.0:
                raise CalibrationError(
                    "Temperature scaling needs scores that are higher for the true class: no T > 0 is best here."
                )
            offsets = (weights[0] - 1.0) * np.log(share)
        facts = {
            "trials": count,
            "prior": share.tolist(),
            "penalty": ridge,
            "gradient_norm": found.gradient_norm,
            "iterations": found.iterations,
        }
        return cls(kind, classes, frozen(np.atleast_2d(weights)), frozen(offsets), facts)

    @overload
    def __call__(self, scores: Trials) -> Trials: ...
    @overload
    def __call__(self, scores: ArrayLike) -> Floats: ...
    def __call__(self, scores: Trials | ArrayLike) -> Trials | Floats:
        """Calibrated log-likelihoods: Trials give Trials, an array of log-likelihoods an array.

        Parameters
        ----------
        scores : Trials or array_like of shape (n, K)
            Scores of the kind that the map was trained on.

        Returns
        -------
        Trials or ndarray
            Log-likelihoods.
        """
        if not isinstance(scores, Trials):
            return self._mapped(numbers(scores, "scores", ndim=2))
        if len(scores.classes) != len(self.classes):
            raise InputError(
                f"The map was trained for {len(self.classes)} classes, the trials have {len(scores.classes)}."
            )
        result = frozen(self._mapped(likelihoods_of(scores)))
        if not scores.is_matrix:  # (0, llr) and (-llr, 0) stand for one number: give one back
            return replace(scores, scores=frozen(result[:, 1] - result[:, 0]), meaning="llr", trained_prior=None)
        return replace(scores, scores=result, meaning="log-likelihoods", trained_prior=None)

    def _mapped(self, likelihoods: Floats) -> Floats:
        if likelihoods.shape[1] != len(self.classes):
            raise InputError(
                f"The map was trained for {len(self.classes)} classes, the scores have {likelihoods.shape[1]} columns."
            )
        scale = float(self.weights[0, 0])
        if self.kind == "matrix" or scale <= 0.0:
            bad = np.flatnonzero(~np.isfinite(likelihoods).all(axis=1))
            if len(bad):
                raise InputError(f"This map mixes or turns the scores, so it cannot take -inf: row {bad[0]} holds it.")
        if self.kind != "matrix":
            return np.asarray(likelihoods * scale + self.offsets)
        return np.asarray((likelihoods - likelihoods.mean(axis=1, keepdims=True)) @ self.weights.T + self.offsets)


def _prior_for(data: ClassData, prior: object, kind: str) -> Floats:
    if prior is None and kind == "temperature" and data.trained_prior is not None:
        prior = data.trained_prior
    count = len(data.classes)
    return prior_of(np.full(count, 1.0 / count) if prior is None else prior, count)


__all__ = ["Affine"]
