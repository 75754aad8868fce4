"""Logistic regression on samples: the log-likelihood ratio of two classes as a linear or quadratic function of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from tercet._numeric import serialization as saved
from tercet._numeric.newton import Optimum, check_converged, divisible, has_optimum, in_blocks, minimise
from tercet._numeric.serialization import Model
from tercet._numeric.validation import chosen, not_negative, same_index, whole
from tercet._typing import Array, Facts, Floats
from tercet.errors import CalibrationError, InputError
from tercet.recognizers._classes import check_classes, check_size, coded, labelled, refuse_infinite, sample_table
from tercet.trials import Trials, logit, probability

EXPANSIONS = ("linear", "quadratic")
_MOST = 600  # parameters: their Hessian is dense
_DEPENDENT = 1e-12  # relative singular value below which standardised features count as linearly dependent


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LogisticRecognizer(Model):
    """Prior-weighted logistic regression of two classes: llr = w . phi(x) + b.

    Minimises penalty / 2 w . w + sum_i xi_i ln(1 + e^(-z_i (w . phi(x_i) + b))), xi = prior / targets or (1 - prior) /
    non-targets, z = +-1, and subtracts logit(prior) from b, so that the scores are log-likelihood ratios. The linear
    expansion has phi(x) = x, the quadratic one phi(x) = (x_i x_j for all i <= j, x); both classes' Gaussians with
    covariances of their own have a log-likelihood ratio of the latter form.

    Attributes
    ----------
    classes : tuple of str
        Non-target and target.
    expansion : str
        "linear" or "quadratic".
    weights : ndarray
        One for each entry of phi.
    offset : float
        b, without the training prior.
    training : mapping
        samples, prior, penalty, gradient_norm, iterations.

    Examples
    --------
    >>> samples = [[0.], [0.], [0.], [0.], [1.], [1.], [1.], [1.]]
    >>> model = LogisticRecognizer.fit(samples, [0, 0, 0, 1, 0, 1, 1, 1])
    >>> model.llr([[0.], [1.]]).round(4).tolist()    # three of four are right: -ln 3 and ln 3
    [-1.0986, 1.0986]
    """

    method = "logistic-recognizer"
    _parameters: ClassVar = {
        "classes": saved.words,
        "expansion": saved.word,
        "weights": saved.reals,
        "offset": saved.finite,
    }
    _facts = ("samples", "features", "prior", "penalty", "gradient_norm", "iterations")

    classes: tuple[str, ...]
    expansion: str
    weights: Floats
    offset: float
    training: Facts

    def _check(self) -> None:
        chosen(self.expansion, "expansion", EXPANSIONS)
        check_classes(self.classes, 2)
        features = whole(self._known_training()["features"], "features of training", 1)
        if len(self.weights) != _width(features, self.expansion):
            raise saved.damaged(f"{len(self.weights)} weights do not fit {features} features")

    @classmethod
    def fit(
        cls,
        samples: object,
        labels: object,
        *,
        prior: float = 0.5,
        penalty: float = 0.0,
        expansion: str = "linear",
        classes: Sequence[object] | None = None,
    ) -> LogisticRecognizer:
        """Trains on labelled samples of two classes; separable ones have no finite solution without a penalty.

        Nor have samples that a plane divides but for those of either class that lie on it: CalibrationError.

        Parameters
        ----------
        samples : array_like of shape (n, features)
            One row per sample.
        labels : array_like of shape (n,)
            The class of each sample.
        prior : float, optional
            The prior of the target to train for; classes weigh by it, whatever their sizes.
        penalty : float, optional
            Lambda: it shrinks the weights, not the offset, on the features as they are.
        expansion : {"linear", "quadratic"}, optional
            Which functions of the features are weighted.
        classes : sequence of two values, optional
            Non-target and target; sorted otherwise, the last being the target.

        Returns
        -------
        LogisticRecognizer
        """
        share, ridge = probability(prior, "prior"), not_negative(penalty, "penalty")
        kind = chosen(expansion, "expansion", EXPANSIONS)
        same_index({"samples": samples, "labels": labels})
        table = sample_table(samples)
        refuse_infinite(table)
        named, codes, sizes = labelled(len(table), labels, classes)
        if len(named) != 2:
            raise InputError(f"Logistic regression separates two classes, not {len(named)}: leave the others out.")
        check_size(_width(table.shape[1], kind), "the weights")
        phi = expanded(table, kind)
        if phi.shape[1] + 1 > _MOST:
            raise InputError(f"{phi.shape[1] + 1} parameters are more than {_MOST}: take fewer features, or linear.")
        weights = np.where(codes == 1, share / sizes[1], (1.0 - share) / sizes[0])
        found = _solved(phi, codes == 1, weights, ridge)
        facts = {
            "samples": sizes.tolist(), "features": table.shape[1], "prior": share, "penalty": ridge,
            "gradient_norm": found[2], "iterations": found[3],
        }  # fmt: skip
        return cls(named, kind, found[0], found[1] - logit(share), facts)

    def __repr__(self) -> str:
        return f"LogisticRecognizer: {self.expansion}, {self.training['features']} features, penalty {self.penalty:g}"

    @property
    def penalty(self) -> float:
        """The penalty that it was trained with."""
        return float(self.training["penalty"])

    def llr(self, samples: object) -> Floats:
        """Log-likelihood ratios of samples.

        Parameters
        ----------
        samples : array_like of shape (n, features)
            One row per sample.

        Returns
        -------
        numpy.ndarray of shape (n,)
            One llr per sample.
        """
        table = sample_table(samples, self.training["features"])
        refuse_infinite(table)
        result = expanded(table, self.expansion) @ self.weights + self.offset
        if not np.isfinite(result).all():
            raise InputError("samples are too large: their llrs overflow.")
        return np.asarray(result)

    def trials(self, samples: object, labels: object = None) -> Trials:
        """The llrs as Trials, with labels where they are known.

        Parameters
        ----------
        samples : array_like of shape (n, features)
            One row per sample.
        labels : array_like of shape (n,), optional
            The class of each sample.

        Returns
        -------
        Trials
            Two-class trials of llrs.
        """
        same_index({"samples": samples, "labels": labels})
        truth = None if labels is None else coded(labels, self.classes)[1]
        return replace(Trials.of_llr(self.llr(samples), truth), classes=(self.classes[0], self.classes[1]))


def expanded(table: Floats, expansion: str) -> Floats:
    """The functions of the features that are weighted, one column each.

    >>> expanded(np.array([[2.0, 3.0]]), "quadratic").tolist()    # x0 x0, x0 x1, x1 x1, x0, x1
    [[4.0, 6.0, 9.0, 2.0, 3.0]]
    """
    if expansion == "linear":
        return table
    rows, columns = np.triu_indices(table.shape[1])
    with np.errstate(over="ignore"):
        return np.concatenate((table[:, rows] * table[:, columns], table), axis=1)


def _width(features: int, expansion: str) -> int:
    return features if expansion == "linear" else features * (features + 1) // 2 + features


def _solved(phi: Floats, target: Array, xi: Floats, ridge: float) -> tuple[Floats, float, float, int]:
    """Weights, offset, gradient norm and steps of the optimum, found on standardised features."""
    with np.errstate(over="ignore", invalid="ignore"):
        centre, scale = phi.mean(axis=0), phi.std(axis=0)
        scale = np.where(scale > 0.0, scale, 1.0)
        x = (phi - centre) / scale
    if not np.isfinite(x).all():
        raise InputError("samples are too large: their products overflow. Divide the features by their usual size.")
    sign = np.where(target, 1.0, -1.0)
    shrink = np.append(ridge / (scale * scale), 0.0)  # |w|^2 on the features as they are

    def terms(point: Floats) -> tuple[float, Floats, Floats]:
        def block(rows: slice) -> Floats:
            ones = np.ones((len(x[rows]), 1))
            design = np.concatenate((x[rows], ones), axis=1)
            margin = sign[rows] * (design @ point)
            miss = np.exp(-np.logaddexp(0.0, margin))  # the posterior of the wrong class
            value = float(xi[rows] @ np.logaddexp(0.0, -margin))
            gradient = design.T @ (-sign[rows] * xi[rows] * miss)
            heavy = design * np.sqrt(xi[rows] * miss * (1.0 - miss))[:, None]
            return np.concatenate(([value], gradient, (heavy.T @ heavy).ravel()))

        sums, size = in_blocks(block, len(x)), len(point)
        hessian = sums[1 + size :].reshape(size, size) + np.diag(shrink)
        value = float(sums[0]) + 0.5 * float(shrink @ (point * point))
        return value, sums[1 : 1 + size] + shrink * point, hessian

    best = minimise(terms, np.zeros(x.shape[1] + 1))
    if ridge == 0.0:
        _check_finite(x, sign, best)
    check_converged(best, "Logistic regression")
    weights = best.point[:-1] / scale
    return weights, float(best.point[-1] - centre @ weights), best.gradient_norm, best.iterations


def _check_finite(x: Floats, sign: Floats, best: Optimum) -> None:
    """Refuses samples without a finite optimum: some weighting puts none of them on the other class's side."""
    design = np.concatenate((x, np.ones((len(x), 1))), axis=1)
    _, sizes, directions = np.linalg.svd(np.linalg.qr(design, mode="r"))
    basis = directions[: len(sizes)][sizes > _DEPENDENT * sizes[0]].T  # along the others nothing changes
    design = design @ basis
    within = best._replace(gradient=basis.T @ best.gradient, hessian=basis.T @ best.hessian @ basis)
    separated = _separates(x, sign, best.point)
    if not separated and has_optimum(within, lambda root: float(np.linalg.norm(design @ root, axis=1).max())):
        return
    if separated or divisible(design * sign[:, None]):
        raise CalibrationError(
            "Logistic regression has no finite solution: some weighting of the features separates the classes, so the "
            "weights would grow without bound. Give a penalty (penalty=1e-3), or use more samples."
        )
    check_converged(best, "Logistic regression")
    raise CalibrationError(
        "Logistic regression did not converge: the classes are so nearly separable, or the features so nearly "
        "dependent, that double precision cannot find a finite solution. Give a penalty (penalty=1e-3)."
    )


def _separates(x: Floats, sign: Floats, point: Floats) -> bool:
    """Whether these weights put every sample on its own side."""
    return bool(((x @ point[:-1] + point[-1]) * sign > 0.0).all())
