"""How scores become the features of a regression: one weight per system, with or without offsets, or a full matrix.

A recipe and a design are plain values, and the features of a row depend on that row alone. So trials in memory and the
parts of a scan have the same features.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.meanings import check_range
from tercet._typing import Floats
from tercet.errors import CalibrationError, InputError
from tercet.metrics.posteriors import likelihoods_of
from tercet.trials import Trials, log_odds

MOST_PARAMETERS = 600
_NOTHING = 1e-13  # a deviation so small, relative to the largest score, is rounding
TOO_LARGE = "The scores are so large that their squares are not doubles: rescale them to ordinary numbers first."
_BETA = {"beta": (0, 1), "beta a": (0,), "beta b": (1,)}  # which of the columns of `beta_columns`
# The weighted mean of each system's flat scores or, given their centres, of the squared distances from them; and the
# largest absolute score of each system.
Means: TypeAlias = Callable[[Floats | None], tuple[list[Floats], list[float]]]


class Recipe(NamedTuple):
    """Which scores of the trials a regression takes, which features it makes of them, and the prior of the classes."""

    scores: str  # "likelihoods"; "posteriors": log-likelihoods + ln prior; "beta", "beta a" or "beta b"
    design: str  # "weights", "offsets" or "matrix"
    prior: tuple[float, ...]

    @property
    def log_prior(self) -> Floats:
        """What is added to the class scores, where the prior is not part of what is scaled."""
        return np.zeros(len(self.prior)) if self.scores == "posteriors" else np.log(self.prior)

    def check_size(self, way_out: str) -> None:
        """Refuses problems whose Hessian would be too large."""
        classes = len(self.prior)
        more = {"weights": 0, "offsets": classes - 1, "matrix": classes * (classes - 1) - 1}[self.design]
        check_size(self.system_count + more, way_out)

    @property
    def system_count(self) -> int:
        """How many systems there are."""
        return len(_BETA.get(self.scores, (0,)))

    def systems(self, trials: Trials) -> list[Floats]:
        """The scores of each system, rows x classes."""
        if self.scores in _BETA:
            columns = beta_columns(trials.scores, trials.meaning)
            return [both_sides(columns[place]) for place in _BETA[self.scores]]
        likelihoods = likelihoods_of(trials)
        return [likelihoods + np.log(self.prior) if self.scores == "posteriors" else likelihoods]


@dataclass(frozen=True, eq=False)
class Columns:
    """One weight per system (and an offset per class), each system's scores standardised."""

    centres: Floats  # systems x classes
    scales: Floats
    offsets: bool = True

    @staticmethod
    def flat(scores: Floats) -> Floats:
        """Class-centred scores."""
        return np.asarray(scores - scores.mean(axis=-1, keepdims=True))

    @staticmethod
    def squares(flat: Floats) -> Floats:
        """Squared distances, all classes together."""
        return np.asarray((flat * flat).sum(axis=1))

    @property
    def scored(self) -> NDArray[np.bool_]:
        """Which parameters multiply scores: the systems' weights come first, then the offsets."""
        count = self.centres.shape[1] - 1 if self.offsets else 0
        return np.arange(len(self.scales) + count) < len(self.scales)

    def features(self, standard: Sequence[Floats]) -> Floats:
        """(rows, classes, systems + classes - 1), from the standardised scores of some rows."""
        scores = np.stack(standard, axis=2)
        if not self.offsets:
            return scores
        basis = contrasts(scores.shape[1])
        return np.concatenate((scores, np.broadcast_to(basis, (len(scores), *basis.shape))), axis=2)

    def back(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Weights and offsets for the scores as they are."""
        weights = parameters[: len(self.scales)] / self.scales
        offsets = np.zeros(self.centres.shape[1])
        if self.offsets:
            offsets = contrasts(len(offsets)) @ parameters[len(self.scales) :] - weights @ self.centres
        return weights, offsets


@dataclass(frozen=True, eq=False)
class Matrix:
    """Features of a full matrix: every contrast of classes times every standardised contrast of scores, and 1."""

    centres: Floats  # 1 x contrasts
    scales: Floats
    offsets: ClassVar = True

    @staticmethod
    def flat(scores: Floats) -> Floats:
        """Contrasts of scores."""
        return np.asarray(scores @ contrasts(scores.shape[-1]))

    @staticmethod
    def squares(flat: Floats) -> Floats:
        """Squared distances, contrast by contrast."""
        return np.asarray(flat * flat)

    @property
    def scored(self) -> NDArray[np.bool_]:
        """All but the offsets."""
        count = self.scales.shape[1] + 1
        return np.tile(np.arange(count) < count - 1, count - 1)

    def features(self, standard: Sequence[Floats]) -> Floats:
        """(rows, classes, contrasts x columns), from the standardised contrasts of some rows."""
        block = np.column_stack((standard[0], np.ones(len(standard[0]))))
        basis = contrasts(block.shape[1])
        return np.asarray(
            (basis[None, :, :, None] * block[:, None, None, :]).reshape(len(block), len(basis), -1), np.float64
        )

    def back(self, parameters: Floats) -> tuple[Floats, Floats]:
        """Matrix and offsets for the scores as they are."""
        basis = contrasts(self.scales.shape[1] + 1)
        inner = parameters.reshape(basis.shape[1], -1)
        steep = inner[:, :-1] / self.scales
        return basis @ steep @ basis.T, basis @ (inner[:, -1] - steep @ self.centres[0])


Design: TypeAlias = Columns | Matrix
DESIGNS: dict[str, type[Columns] | type[Matrix]] = {"weights": Columns, "offsets": Columns, "matrix": Matrix}


def design_of(kind: str, means: Means, systems: int, classes: int) -> Design:
    """The design whose features have mean 0, where there are offsets, and variance 1."""
    centres = np.zeros((systems, classes)) if kind == "weights" else np.stack(means(None)[0])
    squares, largest = means(centres)
    scales = np.sqrt(np.stack(squares))
    if not np.isfinite(scales).all():
        raise CalibrationError(TOO_LARGE)
    if kind == "matrix":
        still = scales <= _NOTHING * largest[0]
        if still.all():
            raise CalibrationError("There is nothing to calibrate: all rows of scores are equal (zero variance).")
        return made_design(kind, centres, np.where(still, np.inf, scales))  # rounding is not blown up to a feature
    for place, scale in enumerate(scales):
        if not scale > _NOTHING * largest[place]:
            raise CalibrationError(
                f"There is nothing to calibrate: the scores of system {place} (counting from 0) are the same for "
                f"every trial (zero variance). Leave it out."
            )
    return made_design(kind, centres, scales)


def made_design(kind: str, centres: Floats, scales: Floats) -> Design:
    """A design of known centres and scales."""
    return Matrix(centres, scales) if kind == "matrix" else Columns(centres, scales, kind == "offsets")


def standardised(design: Design, systems: Sequence[Floats]) -> list[Floats]:
    """Every system's scores with mean 0 and variance 1."""
    every = zip(systems, design.centres, design.scales, strict=True)
    return [np.asarray((design.flat(scores) - centre) / scale) for scores, centre, scale in every]


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


def both_sides(scores: Floats) -> Floats:
    """A two-class score as (-s / 2, s / 2)."""
    return np.stack((-0.5 * scores, 0.5 * scores), axis=1)


def beta_columns(scores: Floats, meaning: str) -> tuple[Floats, Floats]:
    """ln p and -ln(1 - p), from log-odds so that nothing is lost near 1; raw scores are probabilities."""
    odds = log_odds_of(scores, "posterior" if meaning == "raw" else meaning)
    return -np.logaddexp(0.0, -odds), np.logaddexp(0.0, odds)


def log_odds_of(scores: Floats, meaning: str) -> Floats:
    """The scores on the logarithmic scale of their meaning; posteriors and ratios outside their range are refused."""
    check_range(scores, meaning)
    return log_odds(scores, meaning)
