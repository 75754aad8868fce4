"""Beta calibration, a map of probabilities with two slopes, one for each end of the scale; and offsets alone."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from tercet._numeric.meanings import check_range
from tercet._numeric.serialization import damaged, finite
from tercet._typing import Facts, Floats
from tercet.calibration._designs import Recipe, beta_columns, log_odds_of
from tercet.calibration._linear import Regression
from tercet.calibration.training import (
    FACTS,
    HasTrainingData,
    TrainingData,
    check_finite,
    check_overlap,
    training_data,
    training_prior,
)
from tercet.calibration.two_class import Calibrator, non_negative
from tercet.errors import CalibrationError, InputError
from tercet.trials import Trials, logit


@dataclass(frozen=True, slots=True)
class Beta(Calibrator):
    """Beta calibration: llr = a ln p - b ln(1 - p) + c for scores that are probabilities p, with a, b >= 0.

    This is the right map if p follows a beta distribution in each class; a = b = 1, c = 0 is the identity (apart from
    the prior), and a = b is logistic calibration of the log-odds. It is trained like `Logistic`, at a prior, on the two
    columns ln p and -ln(1 - p). If the best slope of a column is negative, it is set to 0, so that the map never
    decreases.

    Attributes
    ----------
    a, b : float
        Slopes of ln p and of -ln(1 - p), not negative.
    c : float
        The offset.
    training : mapping
        What it was trained on.

    References
    ----------
    M. Kull, T. M. Silva Filho and P. Flach (2017), Beyond sigmoids: how to obtain well-calibrated probabilities from
    binary classifiers with beta calibration, Electronic Journal of Statistics 11(2), doi:10.1214/17-EJS1338SI.

    Examples
    --------
    >>> made = Beta(2.0, 1.0, 0.0, dict.fromkeys(("trials", "targets", "nontargets"), 1) | {"meaning": "posterior",
    ...     "trained_prior": 0.5, "prior": 0.5, "penalty": 0.0})
    >>> made([0.5]).round(4).tolist()    # 2 ln 0.5 - ln 0.5
    [-0.6931]
    >>> forecasts, labels = [0.2, 0.2, 0.2, 0.2, 0.8, 0.8, 0.8, 0.8], [0, 0, 0, 1, 0, 1, 1, 1]
    >>> trials = Trials.of_posteriors(forecasts, labels, trained_prior=0.5)
    >>> Beta.fit(trials)([0.2, 0.8]).round(4).tolist()    # three of four are right: -ln 3 and ln 3
    [-1.0986, 1.0986]
    """

    method = "beta"
    _parameters: ClassVar = {"a": finite, "b": finite, "c": finite}
    _facts = (*FACTS, "prior", "penalty")

    a: float
    b: float
    c: float
    training: Facts = field(repr=False, hash=False)

    def _check(self) -> None:
        if not (self.a >= 0.0 and self.b >= 0.0):
            raise damaged("the slopes a and b of beta calibration must not be negative")

    @classmethod
    def fit(cls, trials: Trials | HasTrainingData, prior: float = 0.5, *, penalty: float = 0.0) -> Beta:
        """Trains on labelled two-class trials; separable ones have no finite solution without a penalty.

        Parameters
        ----------
        trials : Trials or Scan
            Labelled scores of two classes. Posteriors are used as they are, llrs are converted to posteriors at the
            prior 0.5, log-odds to the posteriors they represent; raw scores must be probabilities. Probabilities of 0
            and 1 are an error.
        prior : float, optional
            The prior of the targets at which the cross-entropy is minimised.
        penalty : float, optional
            Ridge on the slopes of the standardised columns.

        Returns
        -------
        Beta
            The trained map.
        """
        share, ridge = training_prior(trials, prior), non_negative(penalty, "penalty")
        with training_data(trials) as data:
            ends, meaning = data.ends, data.facts["meaning"]
            if meaning == "raw" and not (min(ends) >= 0.0 and max(ends) <= 1.0):
                if isinstance(trials, Trials):
                    check_range(trials.scores, "posterior")  # names the row
                raise InputError(
                    f"Raw scores must be probabilities for beta calibration, in 0..1: they go from {min(ends)} to "
                    f"{max(ends)}. Say what they mean (meaning=), or use Logistic."
                )
            check_finite(ends, "Beta")
            if not np.isfinite(beta_columns(np.array(ends), meaning)).all():
                raise CalibrationError(
                    "Beta calibration needs probabilities above 0 and below 1 to train on: leave the others out "
                    "(applied to them, the map gives infinite llrs), or use Isotonic."
                )
            if ridge == 0.0:
                check_overlap(ends, "Beta")
            return cls(*_trained(data, share, ridge), {**data.facts, "prior": share, "penalty": ridge})

    def _llr(self, scores: Floats) -> Floats:
        low, high = beta_columns(scores, self.training["meaning"])
        result = np.full(len(scores), self.c)
        for slope, column in ((self.a, low), (self.b, high)):
            if slope != 0.0:
                result += slope * column
        return result


def _trained(data: TrainingData, share: float, ridge: float) -> tuple[float, float, float]:
    """The slopes and the offset: both slopes free, or else the better fit with one or both held at 0."""
    try:
        (a, b), c, _ = _regression(data, "beta", share, ridge)
        if a >= 0.0 and b >= 0.0:
            return a, b, c
    except CalibrationError:  # a map that is not monotone may separate the classes; one that never falls does not
        pass
    (a,), low, cost_of_a = _regression(data, "beta a", share, ridge)
    (b,), high, cost_of_b = _regression(data, "beta b", share, ridge)
    if max(a, b) <= 0.0:
        return 0.0, 0.0, 0.0
    return (a, 0.0, low) if b <= 0.0 or (a > 0.0 and cost_of_a() <= cost_of_b()) else (0.0, b, high)


def _regression(
    data: TrainingData, columns: str, share: float, ridge: float
) -> tuple[list[float], float, Callable[[], float]]:
    """The slope of each column, the offset, and a function that gives the cross-entropy."""
    rows = data.regression(Recipe(columns, "offsets", (1.0 - share, share)), "Beta calibration")
    found = Regression(rows, ridge, "Beta calibration").solve().parameters
    slopes, offsets = rows.design.back(found)
    return slopes.tolist(), float(offsets[1] - offsets[0]), lambda: float(rows.sums(found)[0][0])


@dataclass(frozen=True, slots=True)
class Offset(Calibrator):
    """Prior-weighted logistic regression with the slope held at 1: llr = log-odds of the score + offset.

    For scores that are llrs up to a constant, such as log-odds whose prior is unknown or has changed. Minimises sum_i
    xi_i ln(1 + e^(-z_i (s_i + b))), with xi and z as in `Logistic`, and subtracts logit(prior) from b. A finite optimum
    always exists, even for separable classes.

    Attributes
    ----------
    offset : float
        What is added to the log-odds of the scores.
    training : mapping
        What it was trained on.

    Examples
    --------
    >>> trials = Trials.of_scores([4.0, 6.0, 4.0, 6.0], [0, 0, 1, 1])    # the classes score alike, around 5
    >>> round(Offset.fit(trials).offset, 6)
    -5.0
    """

    method = "offset"
    _parameters: ClassVar = {"offset": finite}
    _facts = (*FACTS, "prior")

    offset: float
    training: Facts = field(repr=False, hash=False)

    @classmethod
    def fit(cls, trials: Trials | HasTrainingData, prior: float = 0.5) -> Offset:
        """Trains on labelled two-class trials with finite scores.

        Parameters
        ----------
        trials : Trials or Scan
            Labelled scores of two classes. Likelihood ratios and posteriors are converted to log-odds; raw scores are
            used as they are.
        prior : float, optional
            The prior of the targets at which the cross-entropy is minimised.

        Returns
        -------
        Offset
            The trained map.
        """
        share = training_prior(trials, prior)
        with training_data(trials) as data:
            best = data.best_offset(share)
            facts = data.facts
        return cls(best - logit(share), {**facts, "prior": share})

    def _llr(self, scores: Floats) -> Floats:
        return np.asarray(log_odds_of(scores, self.training["meaning"]) + self.offset)


__all__ = ["Beta", "Offset"]
