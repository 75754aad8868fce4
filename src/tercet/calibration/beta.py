"""Beta calibration: a map of probabilities with two slopes, one for each end of the scale."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from tercet._numeric.serialization import damaged, finite
from tercet._typing import Facts, Floats
from tercet.calibration._logistic_sums import Ends
from tercet.calibration.fusion import Fusion
from tercet.calibration.training import (
    FACTS,
    check_finite,
    check_overlap,
    log_odds_of,
    one_column,
    training_facts,
    two_classes,
)
from tercet.calibration.two_class import Calibrator, non_negative
from tercet.errors import CalibrationError
from tercet.metrics.costs import empirical_cross_entropy
from tercet.metrics.tally import Tally
from tercet.trials import Trials, as_trials, probability


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
    def fit(cls, trials: Trials, prior: float = 0.5, *, penalty: float = 0.0) -> Beta:
        """Trains on labelled two-class trials; separable ones have no finite solution without a penalty.

        Parameters
        ----------
        trials : Trials
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
        share, ridge, given = probability(prior, "prior"), non_negative(penalty, "penalty"), as_trials(trials)
        facts = training_facts(given, two_classes(given)) | {"prior": share, "penalty": ridge}
        rows = _ordered(one_column(given))
        columns = _columns(rows.scores, facts["meaning"])
        if not np.isfinite(columns).all():
            raise CalibrationError(
                "Beta calibration needs probabilities above 0 and below 1 to train on: leave the others out (applied "
                "to them, the map gives infinite llrs), or use Isotonic."
            )
        ends = Ends.of(two_classes(rows))
        check_finite(ends, "Beta")
        if ridge == 0.0:
            check_overlap(ends, "Beta")
        return cls(*_trained(rows, columns, share, ridge), facts)

    def _llr(self, scores: Floats) -> Floats:
        low, high = _columns(scores, self.training["meaning"])
        result = np.full(len(scores), self.c)
        for slope, column in ((self.a, low), (self.b, high)):
            if slope != 0.0:
                result += slope * column
        return result


def _ordered(trials: Trials) -> Trials:
    """The trials in a canonical order, so that the order of the rows changes no bit of the fit."""
    weights = np.zeros(len(trials)) if trials.weights is None else trials.weights
    return trials.select(np.lexsort((weights, trials.known_labels(), trials.scores)))


def _columns(scores: Floats, meaning: str) -> tuple[Floats, Floats]:
    """ln p and -ln(1 - p), from log-odds so that nothing is lost near 1."""
    odds = log_odds_of(scores, "posterior" if meaning == "raw" else meaning)
    return -np.logaddexp(0.0, -odds), np.logaddexp(0.0, odds)


def _trained(rows: Trials, columns: Sequence[Floats], share: float, ridge: float) -> tuple[float, float, float]:
    """The slopes and the offset: both slopes free, or else the better fit with one or both held at 0."""
    try:
        a, b, c = _fused(rows, columns, share, ridge)
        if a >= 0.0 and b >= 0.0:
            return a, b, c
    except CalibrationError:  # a map that is not monotone may separate the classes; one that never falls does not
        pass
    fits = [(0.0, 0.0, 0.0)]
    slope, offset = _fused(rows, columns[:1], share, ridge)
    fits += [(slope, 0.0, offset)] if slope > 0.0 else []
    slope, offset = _fused(rows, columns[1:], share, ridge)
    fits += [(0.0, slope, offset)] if slope > 0.0 else []
    return min(fits, key=lambda one: _cross_entropy(rows, one[0] * columns[0] + one[1] * columns[1] + one[2], share))


def _fused(rows: Trials, columns: Sequence[Floats], share: float, ridge: float) -> tuple[float, ...]:
    """The slope of each column, then the offset."""
    systems = [_with_llrs(rows, column) for column in columns]
    found = Fusion.fit(systems, [1.0 - share, share], penalty=ridge, pair_by="position")
    return (*found.weights.tolist(), float(found.offsets[0]))


def _cross_entropy(rows: Trials, llrs: Floats, share: float) -> float:
    return empirical_cross_entropy(Tally.of(_with_llrs(rows, llrs)), share)


def _with_llrs(rows: Trials, llrs: Floats) -> Trials:
    return Trials.of_llr(llrs, rows.known_labels(), weights=rows.weights)


__all__ = ["Beta"]
