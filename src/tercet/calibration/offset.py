"""Calibration by an offset alone: the scores are llrs but for a constant."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from tercet._numeric.serialization import finite
from tercet._typing import Facts, Floats
from tercet.calibration._designs import log_odds_of
from tercet.calibration.training import FACTS, HasTrainingData, training_data
from tercet.calibration.two_class import Calibrator
from tercet.trials import Trials, logit, probability


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
        share = probability(prior, "prior")
        with training_data(trials) as data:
            best = data.best_offset(share)
            facts = data.facts
        return cls(best - logit(share), {**facts, "prior": share})

    def _llr(self, scores: Floats) -> Floats:
        return np.asarray(log_odds_of(scores, self.training["meaning"]) + self.offset)


__all__ = ["Offset"]
