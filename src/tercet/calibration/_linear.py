"""Class scores that are linear in a few parameters, trained by prior-weighted multinomial logistic regression.

Behind beta calibration, multiclass calibration and every fusion: class j of row i scores phi_ij . theta + ln prior_j.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.newton import STILL, check_converged, divisible, has_optimum, in_blocks, minimise
from tercet._typing import Array, Floats
from tercet.calibration._designs import DESIGNS, Design, Recipe, design_of, standardised
from tercet.errors import CalibrationError
from tercet.metrics.posteriors import class_weights
from tercet.trials import Trials

_CELLS = 1 << 19  # numbers of a block's features
_DEPENDENT = 1e-12  # relative eigenvalue below which standardised columns count as linearly dependent
_STEPS = 100


class Fitted(NamedTuple):
    """The parameters, in the order of the features, and how well they were found."""

    parameters: Floats
    gradient_norm: float
    iterations: int


class Rows(Protocol):
    """Labelled rows with their features phi, (rows, classes, parameters), in memory or scanned."""

    still: ClassVar[float]  # a step this short ends the search

    @property
    def design(self) -> Design:
        """How scores become features."""

    def gram(self) -> Floats:
        """sum_i xi_i sum_j phi_ij phi_ij', phi less its mean over the classes."""

    def sums(self, theta: Floats) -> tuple[Floats, float]:
        """Cost, gradient and Hessian at a point, one after the other; and the least margin there, -inf if not known."""

    def widest(self, spread: Floats) -> float:
        """The largest sum over the classes of |phi_ij spread|^2."""

    def margins(self, direction: Floats) -> tuple[float, float]:
        """The lowest and the highest of (phi_iy - phi_ij) . direction."""

    def divisible(self, basis: Floats, point: Floats) -> bool:
        """Whether some direction in the basis ranks every true class first; point is where a search for it ended."""


@dataclass(frozen=True, eq=False)
class Regression:
    """The convex problem: minimise sum_i xi_i (ln sum_j e^eta_ij - eta_iy), eta = phi theta + ln prior.

    xi is prior_y x weight / weight of the class y. The penalty shrinks the parameters that multiply scores.
    """

    rows: Rows
    penalty: float
    what: str

    def solve(self) -> Fitted:
        """The optimum of least norm, or an error that says why there is none."""
        free, basis = self.penalty == 0.0, self._basis
        if free and basis.shape[1] == 1:  # a single parameter, as temperature has it, may rank every true class first
            low, high = self.rows.margins(basis[:, 0])
            if low >= 0.0 or high <= 0.0:
                raise separable(self.what)
        best = minimise(self._terms, np.zeros(basis.shape[1]), steps=_STEPS, still=self.rows.still)
        if free and not has_optimum(best, lambda root: 2.0 * math.sqrt(self.rows.widest(basis @ root))):
            raise separable(self.what) if self.rows.divisible(basis, best.point) else self._undecided()
        check_converged(best, self.what)
        return Fitted(basis @ best.point, best.gradient_norm, best.iterations)

    @cached_property
    def _basis(self) -> Floats:
        """Directions that make the features uncorrelated; those along which nothing changes are left out."""
        sizes, directions = np.linalg.eigh(self.rows.gram())
        kept = sizes > _DEPENDENT * sizes[-1]
        return np.asarray(directions[:, kept] / np.sqrt(sizes[kept]))

    def _terms(self, point: Floats) -> tuple[float, Floats, Floats]:
        basis, scored = self._basis, self.rows.design.scored
        theta, size = basis @ point, len(scored)
        sums, least = self.rows.sums(theta)
        if self.penalty == 0.0 and least > 0.0:
            raise separable(self.what)
        shrink = self.penalty * scored
        value = float(sums[0]) + 0.5 * float(shrink @ (theta * theta))
        hessian = sums[1 + size :].reshape(size, size) + np.diag(shrink)
        return value, basis.T @ (sums[1 : 1 + size] + shrink * theta), basis.T @ hessian @ basis

    def _undecided(self) -> CalibrationError:
        return CalibrationError(
            f"{self.what} did not converge: the data are so nearly separable that double precision "
            f"cannot find a finite solution. Give a penalty (penalty=1e-3: a ridge on the standardised weights)."
        )


@dataclass(frozen=True, eq=False)
class HeldRows:
    """Rows in memory."""

    still: ClassVar = STILL

    design: Design
    standard: list[Floats]  # the standardised scores of each system
    labels: NDArray[np.intp]
    weights: Floats  # xi
    log_prior: Floats

    @classmethod
    def of(cls, systems: list[Floats], kind: str, labels: NDArray[np.intp], xi: Floats, log_prior: Floats) -> HeldRows:
        """Finite scores, rows x classes for each system."""
        made = DESIGNS[kind]

        def means(centres: Floats | None) -> tuple[list[Floats], list[float]]:
            if centres is None:
                return [np.asarray(xi @ made.flat(scores)) for scores in systems], []
            with np.errstate(over="ignore"):
                every = zip(systems, centres, strict=True)
                squares = [np.asarray(xi @ made.squares(made.flat(scores) - centre)) for scores, centre in every]
            return squares, [float(np.abs(scores).max(initial=0.0)) for scores in systems]

        design = design_of(kind, means, len(systems), len(log_prior))
        return cls(design, standardised(design, systems), labels, xi, log_prior)

    @classmethod
    def of_trials(cls, trials: Trials, recipe: Recipe, what: str) -> HeldRows:
        """The rows of trials that hold every class."""
        systems = recipe.systems(trials)
        for scores in systems:
            check_finite_matrix(scores, what)
        labels, xi = class_weights(trials, np.array(recipe.prior))
        return cls.of(systems, recipe.design, labels, xi, recipe.log_prior)

    @property
    def _block(self) -> int:
        return max(_CELLS // (len(self.log_prior) * len(self.design.scored)), 1)

    def _centred(self, rows: slice) -> Floats:
        return centred_features(self.design, [scores[rows] for scores in self.standard])

    def gram(self) -> Floats:
        """Block by block."""

        def block(rows: slice) -> Floats:
            phi = self._centred(rows) * np.sqrt(self.weights[rows])[:, None, None]
            flat = phi.reshape(-1, phi.shape[2])
            return np.asarray(flat.T @ flat)

        return in_blocks(block, len(self.labels), self._block)

    def sums(self, theta: Floats) -> tuple[Floats, float]:
        """Block by block."""

        def block(rows: slice) -> Floats:
            xi = self.weights[rows]
            row = row_terms(self._centred(rows), self.labels[rows], xi, theta, self.log_prior)
            hessian = row.deviations.T @ row.deviations - row.means.T @ row.means
            return np.concatenate(([float(xi @ row.costs)], xi @ row.gradients, hessian.ravel()))

        return in_blocks(block, len(self.labels), self._block), -math.inf

    def widest(self, spread: Floats) -> float:
        """Block by block."""
        rows = range(0, len(self.labels), self._block)
        return max(largest_square(self._centred(slice(start, start + self._block)), spread) for start in rows)

    def margins(self, direction: Floats) -> tuple[float, float]:
        """Of all rows at once."""
        found = self._margins(direction[:, None])
        return float(found.min()), float(found.max())

    def divisible(self, basis: Floats, point: Floats) -> bool:
        """By linear programme."""
        return divisible(self._margins(basis))

    def _margins(self, basis: Floats) -> Floats:
        held = slice(0, len(self.labels))
        phi = self._centred(held) @ basis
        return margins(phi, self.labels)[self.weights > 0.0].reshape(-1, basis.shape[1])


class RowTerms(NamedTuple):
    """What every row adds to cost, gradient and Hessian, which is sum deviations' deviations - sum means' means."""

    costs: Floats  # without the weight xi, like the gradients
    gradients: Floats  # rows x parameters
    deviations: Floats  # (rows x classes) x parameters: sqrt(xi p) phi
    means: Floats  # rows x parameters: sqrt(xi) sum_j p_j phi_j
    etas: Floats  # without the prior


def row_terms(phi: Floats, labels: NDArray[np.intp], xi: Floats, theta: Floats, log_prior: Floats) -> RowTerms:
    """The terms of some rows; none depends on its neighbours."""
    etas = phi @ theta
    eta = etas + log_prior
    eta -= eta.max(axis=1, keepdims=True)
    p = np.exp(eta)
    sums = p.sum(axis=1)
    p /= sums[:, None]
    own = np.arange(len(labels))
    mean = (p[:, None, :] @ phi)[:, 0, :]
    deviations = (phi * np.sqrt(p * xi[:, None])[:, :, None]).reshape(-1, phi.shape[2])
    gradients = mean - phi[own, labels]
    return RowTerms(np.log(sums) - eta[own, labels], gradients, deviations, mean * np.sqrt(xi)[:, None], etas)


def centred_features(design: Design, standard: Sequence[Floats]) -> Floats:
    """Features less their mean over the classes, which changes no posterior."""
    phi = design.features(standard)
    return np.asarray(phi - phi.mean(axis=1, keepdims=True))


def largest_square(phi: Floats, spread: Floats) -> float:
    """The largest sum over the classes of |phi_ij spread|^2."""
    scaled = phi @ spread
    return float((scaled * scaled).sum(axis=2).max())


def margins(phi: Floats, labels: NDArray[np.intp]) -> Floats:
    """phi_iy - phi_ij for the other classes j: (rows, classes - 1, columns)."""
    own = phi[np.arange(len(phi)), labels]
    others = np.ones(phi.shape[:2], np.bool_)
    others[np.arange(len(phi)), labels] = False
    return np.asarray((own[:, None, :] - phi)[others].reshape(len(phi), -1, phi.shape[2]))


def separable(what: str) -> CalibrationError:
    """The error for data without a finite optimum."""
    return CalibrationError(
        f"{what} has no finite solution: the classes are separable, some weighting of the scores ranks the true class "
        f"first for every trial, so the weights would grow without bound. Give a penalty (penalty=1e-3: a ridge on the "
        f"standardised weights), or use more data."
    )


def check_finite_matrix(likelihoods: Floats, what: str) -> None:
    """Refuses -inf in a fit."""
    bad: Array = np.flatnonzero(~np.isfinite(likelihoods).all(axis=1))
    if len(bad):
        raise infinite_scores(what, len(bad), len(likelihoods), f", the first is row {bad[0]}")


def infinite_scores(what: str, bad: int, rows: int, first: str = "") -> CalibrationError:
    """The error for rows that rule out a class."""
    return CalibrationError(
        f"{what} needs finite scores to train on: {bad} of {rows} rows hold -inf (a class ruled out){first}. Leave "
        f"these rows out, or smooth the recogniser so that it rules out nothing."
    )
