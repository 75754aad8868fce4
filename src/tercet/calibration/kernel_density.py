"""Calibration by kernel densities: one smooth density per class, and the logarithm of their ratio."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from tercet._numeric.serialization import damaged, finite, reals
from tercet._numeric.validation import frozen, positive
from tercet._typing import Facts, Floats
from tercet.calibration._logistic_sums import Ends, Moments
from tercet.calibration.training import (
    FACTS,
    HasTrainingData,
    check_finite,
    training_facts,
    training_prior,
    two_classes,
)
from tercet.calibration.two_class import Calibrator
from tercet.errors import CalibrationError, InputError
from tercet.metrics.tally import Ranked
from tercet.trials import Trials, as_trials

RULE = "normal reference"
MOST_SCORES = 20_000  # distinct ones per class: a saved map holds them, and each new score is compared with all
_CELLS = 1 << 20  # of the table of one block of new scores against the training scores


@dataclass(frozen=True, slots=True, eq=False)
class KernelDensity(Calibrator):
    """One Gaussian kernel density per class: llr = ln f_T(s) - ln f_F(s), f(s) = sum_i w_i N(s; x_i, bandwidth^2).

    The map may rise and fall. Outside the range of the training scores it is constant, because there the ratio of two
    kernel densities says more about the kernels than about the data.

    Attributes
    ----------
    target_scores, nontarget_scores : ndarray
        The distinct training scores of each class, ascending.
    target_weights, nontarget_weights : ndarray
        Their shares of the class, which sum to one.
    target_bandwidth, nontarget_bandwidth : float
        Standard deviations of the kernels.
    training : mapping
        What it was trained on.

    References
    ----------
    B. W. Silverman (1986), Density estimation for statistics and data analysis, Chapman and Hall: the normal reference
    rule, equation 3.28.

    Examples
    --------
    >>> trials = Trials.of_scores([0.0, 2.0], [0, 1])
    >>> KernelDensity.fit(trials, bandwidth=1.0)([1.0, 2.0, 9.0]).tolist()    # (s^2 - (s - 2)^2) / 2, held at 2
    [0.0, 2.0, 2.0]
    """

    method = "kernel-density"
    _parameters: ClassVar = {
        "target_scores": reals,
        "target_weights": reals,
        "target_bandwidth": finite,
        "nontarget_scores": reals,
        "nontarget_weights": reals,
        "nontarget_bandwidth": finite,
    }
    _facts = (*FACTS, "bandwidth")

    target_scores: Floats
    target_weights: Floats
    target_bandwidth: float
    nontarget_scores: Floats
    nontarget_weights: Floats
    nontarget_bandwidth: float
    training: Facts = field(repr=False, hash=False)

    def _check(self) -> None:
        for kind, (scores, weights, bandwidth) in zip(("target", "nontarget"), self._classes, strict=True):
            if len(scores) != len(weights) or len(scores) == 0:
                raise damaged(f"{kind}_scores and {kind}_weights must be of one length, at least 1")
            if not (np.isfinite(scores).all() and (weights > 0.0).all() and bandwidth > 0.0):
                raise damaged(f"{kind}_scores must be finite, {kind}_weights and {kind}_bandwidth positive")

    @property
    def _classes(self) -> tuple[tuple[Floats, Floats, float], tuple[Floats, Floats, float]]:
        return (
            (self.target_scores, self.target_weights, self.target_bandwidth),
            (self.nontarget_scores, self.nontarget_weights, self.nontarget_bandwidth),
        )

    @classmethod
    def fit(cls, trials: Trials, prior: float = 0.5, *, bandwidth: float | None = None) -> KernelDensity:
        """Trains on labelled two-class trials with finite scores; the map is the same for every prior.

        Parameters
        ----------
        trials : Trials
            Labelled scores of two classes, of any meaning, finite; at most 20,000 distinct scores per class.
        prior : float, optional
            Validated, but without effect on the map.
        bandwidth : float, optional
            Standard deviation of the kernels, on the scores' scale. By default each class has its own, by the normal
            reference rule (4/3)^(1/5) x deviation x n^(-1/5).

        Returns
        -------
        KernelDensity
            The trained map.
        """
        training_prior(trials, prior)
        width = None if bandwidth is None else positive(bandwidth, "bandwidth")
        if isinstance(trials, HasTrainingData):
            raise InputError(
                f"Kernel densities cannot be trained on a scan: the map keeps every distinct score of its trials, at "
                f"most {MOST_SCORES} per class. Train on a sample that is read into memory, or use Isotonic."
            )
        tally = two_classes(as_trials(trials))
        ends = Ends.of(tally)
        check_finite(ends, "Kernel density")
        facts = training_facts(trials, tally) | {"bandwidth": RULE if width is None else width}
        sides = tally.targets, tally.nontargets
        totals = tally.weight(tally.targets.total), tally.weight(tally.nontargets.total)
        found = [_density(side, float(total), ends.factor, width) for side, total in zip(sides, totals, strict=True)]
        return cls(*found[0], *found[1], facts)

    def _llr(self, scores: Floats) -> Floats:
        low = min(self.target_scores[0], self.nontarget_scores[0])
        high = max(self.target_scores[-1], self.nontarget_scores[-1])
        held, result = np.clip(scores, low, high), np.empty(len(scores))
        rows = max(_CELLS // max(len(self.target_scores), len(self.nontarget_scores)), 1)
        for start in range(0, len(held), rows):
            part = held[start : start + rows]
            target, nontarget = (_log_density(part, *one) for one in self._classes)
            result[start : start + rows] = target - nontarget
        return result


def _density(side: Ranked, total: float, factor: float, width: float | None) -> tuple[Floats, Floats, float]:
    """The distinct scores of one class, their shares, and the bandwidth."""
    scores, running = side.distinct()
    if len(scores) > MOST_SCORES:
        raise InputError(
            f"A class has {len(scores)} distinct scores, and kernel densities take at most {MOST_SCORES}: train on a "
            f"sample of the trials, or use Isotonic."
        )
    shares = np.asarray(np.diff(running) / running[-1], np.float64)
    if width is None:
        width = (4.0 / 3.0) ** 0.2 * math.sqrt(Moments.of(side, factor).variance) / factor * total**-0.2
        if not 0.0 < width < math.inf:
            raise CalibrationError(
                "Kernel densities need scores that differ within each class (zero variance found): give a bandwidth."
            )
    return frozen(scores.copy()), frozen(shares), width


def _log_density(s: Floats, scores: Floats, weights: Floats, bandwidth: float) -> Floats:
    """ln f at each s, without underflow: the largest exponent is taken out of the sum."""
    with np.errstate(over="ignore"):
        exponents = -0.5 * ((s[:, None] - scores) / bandwidth) ** 2 + np.log(weights)
    top = exponents.max(axis=1)
    return np.asarray(top + np.log(np.exp(exponents - top[:, None]).sum(axis=1)) - math.log(bandwidth))


__all__ = ["KernelDensity"]
