"""Class scores that are linear in a few parameters, trained by prior-weighted multinomial logistic regression.

Behind multiclass calibration and every fusion: class j of row i scores phi_ij . theta + ln prior_j.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.newton import check_converged, divisible, has_optimum, in_blocks, minimise
from tercet._typing import Array, Floats
from tercet.errors import CalibrationError, InputError

MOST_PARAMETERS = 600
_CELLS = 1 << 19  # numbers of a block's features
_DEPENDENT = 1e-12  # relative eigenvalue below which standardised columns count as linearly dependent
_STEPS = 100


class Fitted(NamedTuple):
    """The parameters, in the order of the features, and how well they were found."""

    parameters: Floats
    gradient_norm: float
    iterations: int


@dataclass(frozen=True, eq=False)
class Regression:
    """The convex problem: minimise sum_i xi_i (ln sum_j e^eta_ij - eta_iy), eta = phi theta + ln prior.

    features(rows) gives phi, (rows, classes, parameters), roughly standardised; `scored` marks the parameters that
    multiply scores, which a penalty shrinks.
    """

    features: Callable[[slice], Floats]
    labels: NDArray[np.intp]
    weights: Floats  # xi: prior_y x weight / weight of its class
    log_prior: Floats
    scored: NDArray[np.bool_]
    penalty: float

    def solve(self, what: str) -> Fitted:
        """The optimum of least norm, or an error that says why there is none."""
        if self.penalty == 0.0 and self._separable_by_one():
            raise separable(what)
        best = minimise(self._terms, np.zeros(self._basis.shape[1]), steps=_STEPS)
        if self.penalty == 0.0 and not has_optimum(best, self._widest):
            raise separable(what) if divisible(self._margins()) else self._undecided(what)
        check_converged(best, what)
        return Fitted(self._basis @ best.point, best.gradient_norm, best.iterations)

    @property
    def _block(self) -> int:
        return max(_CELLS // (len(self.log_prior) * len(self.scored)), 1)

    @cached_property
    def _basis(self) -> Floats:
        """Directions that make the features uncorrelated; those along which nothing changes are left out."""

        def gram(rows: slice) -> Floats:
            phi = self._centred(rows) * np.sqrt(self.weights[rows])[:, None, None]
            flat = phi.reshape(-1, phi.shape[2])
            return np.asarray(flat.T @ flat)

        sizes, directions = np.linalg.eigh(in_blocks(gram, len(self.labels), self._block))
        kept = sizes > _DEPENDENT * sizes[-1]
        return np.asarray(directions[:, kept] / np.sqrt(sizes[kept]))

    def _centred(self, rows: slice) -> Floats:
        """Features less their mean over the classes, which changes no posterior."""
        phi = self.features(rows)
        return np.asarray(phi - phi.mean(axis=1, keepdims=True))

    def _terms(self, point: Floats) -> tuple[float, Floats, Floats]:
        theta, size = self._basis @ point, len(self.scored)

        def block(rows: slice) -> Floats:
            phi, xi, labels = self._centred(rows), self.weights[rows], self.labels[rows]
            eta = phi @ theta + self.log_prior
            eta -= eta.max(axis=1, keepdims=True)
            p = np.exp(eta)
            sums = p.sum(axis=1)
            p /= sums[:, None]
            own = np.arange(len(labels))
            value = float(xi @ (np.log(sums) - eta[own, labels]))
            mean = (p[:, None, :] @ phi)[:, 0, :]
            gradient = xi @ (mean - phi[own, labels])
            heavy = (phi * np.sqrt(p * xi[:, None])[:, :, None]).reshape(-1, size)
            mean *= np.sqrt(xi)[:, None]
            return np.concatenate(([value], gradient, (heavy.T @ heavy - mean.T @ mean).ravel()))

        sums = in_blocks(block, len(self.labels), self._block)
        shrink = self.penalty * self.scored
        value = float(sums[0]) + 0.5 * float(shrink @ (theta * theta))
        hessian = sums[1 + size :].reshape(size, size) + np.diag(shrink)
        basis = self._basis
        return value, basis.T @ (sums[1 : 1 + size] + shrink * theta), basis.T @ hessian @ basis

    def _widest(self, root: Floats) -> float:
        """The largest range of a row's etas after a step root @ u, |u| = 1, or a bound of it."""
        spread = self._basis @ root

        def largest(rows: slice) -> float:
            scaled = self._centred(rows) @ spread
            return float((scaled * scaled).sum(axis=2).max())

        rows = range(0, len(self.labels), self._block)
        return 2.0 * math.sqrt(max(largest(slice(start, start + self._block)) for start in rows))

    def _separable_by_one(self) -> bool:
        """Whether a single parameter, as temperature has it, already ranks every true class first (or last)."""
        if self._basis.shape[1] != 1:
            return False
        margins = self._margins()[:, 0]
        return bool(margins.min() >= 0.0 or margins.max() <= 0.0)

    def _margins(self) -> Floats:
        """phi_iy - phi_ij for the other classes j, along the basis."""
        phi = self._centred(slice(0, len(self.labels))) @ self._basis
        own = phi[np.arange(len(phi)), self.labels]
        others = np.ones(phi.shape[:2], np.bool_)
        others[np.arange(len(phi)), self.labels] = False
        return np.asarray((own[:, None, :] - phi)[others])

    def _undecided(self, what: str) -> CalibrationError:
        return CalibrationError(
            f"{what} did not converge: the data are so nearly separable that double precision "
            f"cannot find a finite solution. Give a penalty (penalty=1e-3: a ridge on the standardised weights)."
        )


def separable(what: str) -> CalibrationError:
    """The error for data without a finite optimum."""
    return CalibrationError(
        f"{what} has no finite solution: the classes are separable, some weighting of the scores ranks the true class "
        f"first for every trial, so the weights would grow without bound. Give a penalty (penalty=1e-3: a ridge on the "
        f"standardised weights), or use more data."
    )


def contrasts(classes: int) -> Floats:
    """An orthonormal basis of the offsets that sum to zero, one column each.

    >>> contrasts(2).round(3).tolist()
    [[-0.707], [0.707]]
    """
    basis = np.zeros((classes, classes - 1))
    for k in range(1, classes):
        basis[:k, k - 1] = -1.0
        basis[k, k - 1] = k
    return np.asarray(basis / np.linalg.norm(basis, axis=0))


def check_size(parameters: int, way_out: str) -> None:
    """Refuses problems whose Hessian would be too large."""
    if parameters > MOST_PARAMETERS:
        raise InputError(f"This map would have {parameters} parameters, more than {MOST_PARAMETERS}: {way_out}.")


def check_finite_matrix(likelihoods: Floats, what: str) -> None:
    """Refuses -inf in a fit."""
    bad: Array = np.flatnonzero(~np.isfinite(likelihoods).all(axis=1))
    if len(bad):
        raise CalibrationError(
            f"{what} needs finite scores to train on: {len(bad)} of {len(likelihoods)} rows hold -inf (a class ruled "
            f"out), the first is row {bad[0]}. Leave these rows out, or smooth the recogniser so that it rules out "
            f"nothing."
        )
