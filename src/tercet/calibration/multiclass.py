"""Affine: calibration of K-class log-likelihoods, from one temperature to a full matrix."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tercet._numeric.serialization import Model, damaged, matrix, reals, word, words
from tercet._numeric.validation import chosen, frozen, numbers
from tercet._typing import Facts, Floats
from tercet.calibration._linear import Regression, check_finite_matrix, check_size, contrasts
from tercet.calibration.two_class import non_negative
from tercet.errors import CalibrationError, InputError
from tercet.metrics.posteriors import class_weights, likelihoods_of, prior_of
from tercet.trials import Trials, as_trials

_NOTHING = 1e-13  # a deviation so small, relative to the largest score, is rounding
KINDS = ("temperature", "scale", "offsets", "matrix")


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
    def fit(cls, trials: Trials, prior: object = None, *, kind: str = "offsets", penalty: float = 0.0) -> Affine:
        """Train on labelled trials of K classes.

        Parameters
        ----------
        trials : Trials
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
        count = len(as_trials(trials).classes)
        share = _prior_for(trials, prior, kind, count)
        likelihoods = likelihoods_of(trials)
        check_finite_matrix(likelihoods, "Affine calibration")
        labels, xi = class_weights(trials, share)
        logs = np.log(share)
        if kind == "temperature":  # (l + ln prior) / T: the prior is part of what is scaled
            likelihoods, base = likelihoods + logs, np.zeros(count)
        else:
            base = logs
        design = _Matrix.of(likelihoods, xi) if kind == "matrix" else Columns.of([likelihoods], xi, kind == "offsets")
        check_size(len(design.scored), "use kind='offsets' or 'temperature'")
        ridge = non_negative(penalty, "penalty")
        problem = Regression(design.features, labels, xi, base, design.scored, ridge)
        found = problem.solve(f"Affine calibration ({kind})")
        weights, offsets = design.back(found.parameters)
        if kind == "temperature":
            if not weights[0] > 0.0:
                raise CalibrationError(
                    "Temperature scaling needs scores that are higher for the true class: no T > 0 is best here."
                )
            offsets = (weights[0] - 1.0) * logs
        facts = {
            "trials": len(trials),
            "prior": share.tolist(),
            "penalty": ridge,
            "gradient_norm": found.gradient_norm,
            "iterations": found.iterations,
        }
        return cls(kind, trials.classes, frozen(np.atleast_2d(weights)), frozen(offsets), facts)

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


def _prior_for(trials: Trials, prior: object, kind: str, count: int) -> Floats:
    if prior is None and kind == "temperature" and trials.trained_prior is not None:
        prior = trials.trained_prior
    return prior_of(np.full(count, 1.0 / count) if prior is None else prior, count)


@dataclass(frozen=True, eq=False)
class Columns:
    """Features of one weight per system (and an offset per class), each system's scores standardised."""

    systems: list[Floats]  # samples x classes, centred and scaled
    centres: Floats  # systems x classes
    scales: Floats
    offsets: bool

    @classmethod
    def of(cls, systems: list[Floats], xi: Floats, offsets: bool) -> Columns:
        """Class-centred scores; where there are offsets, each class's mean is taken off too."""
        flat = [scores - scores.mean(axis=1, keepdims=True) for scores in systems]
        centres = np.stack([xi @ scores if offsets else np.zeros(scores.shape[1]) for scores in flat])
        flat = [scores - centre for scores, centre in zip(flat, centres, strict=True)]
        scales = np.array([np.sqrt(float(xi @ (scores * scores).sum(axis=1))) for scores in flat])
        for place, scale in enumerate(scales):
            if not scale > _NOTHING * np.abs(systems[place]).max(initial=0.0):
                raise CalibrationError(
                    f"There is nothing to calibrate: the scores of system {place} (counting from 0) are the same for "
                    f"every trial (zero variance). Leave it out."
                )
        return cls([scores / scale for scores, scale in zip(flat, scales, strict=True)], centres, scales, offsets)

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Which parameters multiply scores: the systems' weights come first, then the offsets."""
        count = self.centres.shape[1] - 1 if self.offsets else 0
        return np.arange(len(self.systems) + count) < len(self.systems)

    def features(self, rows: slice) -> Floats:
        """(rows, classes, systems + classes - 1)."""
        scores = np.stack([system[rows] for system in self.systems], axis=2)
        if not self.offsets:
            return scores
        basis = contrasts(scores.shape[1])
        return np.concatenate((scores, np.broadcast_to(basis, (len(scores), *basis.shape))), axis=2)

    def back(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Weights and offsets for the scores as they are."""
        weights = parameters[: len(self.systems)] / self.scales
        offsets = np.zeros(self.centres.shape[1])
        if self.offsets:
            offsets = contrasts(len(offsets)) @ parameters[len(self.systems) :] - weights @ self.centres
        return weights, offsets


@dataclass(frozen=True, eq=False)
class _Matrix:
    """Features of a full matrix: every contrast of classes times every standardised contrast of scores, and 1."""

    columns: Floats  # samples x classes, the last column 1
    centre: Floats
    scales: Floats

    @classmethod
    def of(cls, likelihoods: Floats, xi: Floats) -> _Matrix:
        flat = likelihoods @ contrasts(likelihoods.shape[1])
        centre = xi @ flat
        flat = flat - centre
        scales = np.sqrt(xi @ (flat * flat))
        still = scales <= _NOTHING * np.abs(likelihoods).max(initial=0.0)
        if still.all():
            raise CalibrationError("There is nothing to calibrate: all rows of scores are equal (zero variance).")
        flat[:, still], scales[still] = 0.0, 1.0  # rounding must not be blown up to a feature
        return cls(np.column_stack((flat / scales, np.ones(len(flat)))), centre, scales)

    @property
    def scored(self) -> NDArray[np.bool_]:
        """All but the offsets."""
        count = self.columns.shape[1]
        return np.tile(np.arange(count) < count - 1, count - 1)

    def features(self, rows: slice) -> Floats:
        """(rows, classes, contrasts x columns)."""
        block = self.columns[rows]
        basis = contrasts(block.shape[1])
        return np.asarray(
            (basis[None, :, :, None] * block[:, None, None, :]).reshape(len(block), len(basis), -1), np.float64
        )

    def back(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Matrix and offsets for the scores as they are."""
        basis = contrasts(self.columns.shape[1])
        inner = parameters.reshape(basis.shape[1], -1)
        steep = inner[:, :-1] / self.scales
        return basis @ steep @ basis.T, basis @ (inner[:, -1] - steep @ self.centre)
