"""What calibrators need to know about their training trials, for trials in memory and for scans."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.newton import ONCE_MORE, STILL, Optimum, Terms, minimise
from tercet._typing import JSON, Floats
from tercet.calibration._designs import Recipe, log_odds_of
from tercet.calibration._linear import HeldRows, Rows
from tercet.calibration._logistic_sums import Ends, Moments, Side, Standard, terms_of
from tercet.errors import CalibrationError
from tercet.metrics.curves import Curve, Hull
from tercet.metrics.tally import Ranked, Tally
from tercet.trials import Trials, as_trials, logit, probability, two_class

FACTS = ("trials", "targets", "nontargets", "meaning", "trained_prior")
_SAMPLE = 1 << 17  # quantiles per class that give the first Newton point of a long fit
_HALVINGS = 5000  # more than it takes to halve the range of all doubles down to one


class TrainingData(Protocol):
    """Labelled two-class trials that hold both classes, reduced to what a fit needs."""

    @property
    def facts(self) -> JSON:
        """What a saved model records about its trials."""

    @property
    def ends(self) -> Ends:
        """The lowest and the highest score of each class."""

    def moments(self) -> tuple[Moments, Moments]:
        """Exact moments of targets and non-targets, of scores times `ends.factor`."""

    def hull(self) -> tuple[Hull, int]:
        """The hull of the curve, and the power of two that its counts are multiples of."""

    def logistic_optimum(self, standard: Standard, prior: float, penalty: float) -> Optimum:
        """Slope and offset on standard scores that minimise the prior-weighted cross-entropy."""

    def best_offset(self, prior: float) -> float:
        """What minimises the prior-weighted cross-entropy when it is added to the log-odds of the scores."""

    def regression(self, recipe: Recipe, what: str) -> Rows:
        """The trials as rows of a regression."""


class ClassData(NamedTuple):
    """Labelled trials of any number of classes, as a regression reads them."""

    classes: tuple[str, ...]
    trained_prior: float | tuple[float, ...] | None
    trials: int  # how many there are
    regression: Callable[[Recipe, str], Rows]  # the trials as its rows; every class must be there


@runtime_checkable
class HasTrainingData(Protocol):
    """A source of trials that is not in memory."""

    def _training_data(self) -> AbstractContextManager[TrainingData]:
        """The trials as a two-class fit asks about them, for as long as it takes."""

    def _class_data(self) -> AbstractContextManager[ClassData]:
        """The trials as a fit of any number of classes asks about them, for as long as it takes."""


@contextmanager
def training_data(trials: Trials | HasTrainingData) -> Iterator[TrainingData]:
    """The training data of trials in memory, or of a source that brings its own."""
    if isinstance(trials, HasTrainingData):
        with trials._training_data() as found:
            yield found
    else:
        yield _InMemory.of(as_trials(trials))


def training_prior(trials: object, prior: object) -> float:
    """The prior to train for. Arrays in the place of the trials are refused first: their labels stand for the prior."""
    if not isinstance(trials, HasTrainingData):
        as_trials(trials)
    return probability(prior, "prior")


@contextmanager
def class_data(trials: Trials | HasTrainingData) -> Iterator[ClassData]:
    """The same for any number of classes."""
    if isinstance(trials, HasTrainingData):
        with trials._class_data() as found:
            yield found
    else:
        held = as_trials(trials)
        yield ClassData(held.classes, held.trained_prior, len(held), partial(HeldRows.of_trials, held))


@dataclass(frozen=True, slots=True)
class _InMemory:
    """Sorted trials."""

    trials: Trials
    tally: Tally
    facts: JSON

    @classmethod
    def of(cls, trials: Trials) -> _InMemory:
        tally = two_classes(trials)
        return cls(trials, tally, training_facts(trials, tally))

    @property
    def ends(self) -> Ends:
        return Ends.of(self.tally)

    def moments(self) -> tuple[Moments, Moments]:
        factor = self.ends.factor
        return Moments.of(self.tally.targets, factor), Moments.of(self.tally.nontargets, factor)

    def hull(self) -> tuple[Hull, int]:
        return Curve.of(self.tally).hull, self.tally.unit

    def logistic_optimum(self, standard: Standard, prior: float, penalty: float) -> Optimum:
        return _minimised(self.tally, standard, prior, penalty, quantiles=False)

    def best_offset(self, prior: float) -> float:
        odds = on_log_odds(self.tally)
        standard = unscaled(ends := Ends.of(odds))
        sides = Side.of(odds.targets, standard), Side.of(odds.nontargets, standard)
        return best_offset(terms_of(sides, prior, 0.0), ends, prior)

    def regression(self, recipe: Recipe, what: str) -> Rows:
        return HeldRows.of_trials(_ordered(one_column(self.trials)), recipe, what)


def _ordered(trials: Trials) -> Trials:
    """The trials in a canonical order, so that the order of the rows changes no bit of the fit."""
    weights = np.zeros(len(trials)) if trials.weights is None else trials.weights
    return trials.select(np.lexsort((weights, trials.known_labels(), trials.scores)))


def on_log_odds(tally: Tally) -> Tally:
    """The tally with every score as the log-odds that it stands for."""
    sides = [
        Ranked(log_odds_of(side.scores, tally.meaning), side.cumulative) for side in (tally.targets, tally.nontargets)
    ]
    return replace(tally, targets=sides[0], nontargets=sides[1])


def unscaled(ends: Ends) -> Standard:
    """The scores as they are, but for a power of two, which the slope 1 / factor takes back."""
    check_finite(ends, "Offset")
    return Standard(ends.factor, 0.0, 1.0)


def best_offset(terms: Terms, ends: Ends, prior: float, near: float | None = None) -> float:
    """Where the derivative of the cross-entropy changes its sign, for terms of `unscaled` scores.

    From a point near it by Newton's steps, if they stay short; else between one score beyond the ends on either side.
    """
    from scipy.optimize import brentq

    def derivatives(b: float) -> tuple[float, float]:
        _, gradient, hessian = terms(np.array([1.0 / ends.factor, b]))
        return float(gradient[1]), float(hessian[1, 1])

    while near is not None:
        first, second = derivatives(near)
        if not abs(first) < 0.5 * second:
            break
        step = first / second
        near -= step
        if abs(step) <= ONCE_MORE * (1.0 + abs(near)):
            return near
    low, high = -max(ends) - abs(logit(prior)) - 1.0, -min(ends) + abs(logit(prior)) + 1.0
    if not math.isfinite(high - low):
        raise CalibrationError(
            "The scores are so far apart that their differences are not doubles: rescale them first."
        )
    return float(brentq(lambda b: derivatives(b)[0], low, high, xtol=1e-15, maxiter=_HALVINGS))


def logistic_optimum(
    tally: Tally, prior: float, penalty: float, quantiles: bool = False, start: Floats | None = None
) -> tuple[Optimum, Standard]:
    """Slope and offset on standardised scores; `quantiles` trains large classes on 131,072 quantiles of them alone.

    `start` is a point near the answer, such as that of nearly the same trials.
    """
    ends = Ends.of(tally)
    check_finite(ends, "Logistic")
    classes = (tally.targets, tally.nontargets)
    standard = Standard.of(Moments.sum(Moments.of(side, ends.factor) for side in classes), ends.factor)
    if penalty == 0.0:
        check_overlap(ends)
    return _minimised(tally, standard, prior, penalty, quantiles, start), standard


def _minimised(
    tally: Tally, standard: Standard, prior: float, penalty: float, quantiles: bool, near: Floats | None = None
) -> Optimum:
    sides = Side.of(tally.targets, standard), Side.of(tally.nontargets, standard)
    start, still = np.zeros(2) if near is None else near, STILL
    if max(len(side.scores) for side in sides) > 4 * _SAMPLE or quantiles:
        few = sides[0].sample(_SAMPLE), sides[1].sample(_SAMPLE)
        first = minimise(terms_of(few, prior, penalty), start)
        if quantiles:
            return first
        start, still = first.point, ONCE_MORE  # saves a pass over many rows
    return minimise(terms_of(sides, prior, penalty), start, still=still)


def one_column(trials: Trials) -> Trials:
    """The scores that a two-class calibrator takes, one per trial."""
    return two_class(trials, way_out="select two with versus(), or calibrate all of them with Affine")


def two_classes(trials: Trials) -> Tally:
    """The tally of labelled trials that hold both classes."""
    tally = Tally.of(one_column(trials))
    check_both(tally.targets.total, tally.nontargets.total)
    return tally


def check_both(targets: int, nontargets: int) -> None:
    """Refuses trials of one class only."""
    for count, called in ((targets, "targets"), (nontargets, "non-targets")):
        if count == 0:
            raise CalibrationError(f"There is nothing to calibrate: there are no {called} among the trials.")


def training_facts(trials: Trials, tally: Tally) -> JSON:
    """What a saved model records about its trials."""
    source = one_column(trials)
    sizes = tally.weight(tally.targets.total), tally.weight(tally.nontargets.total)
    return facts_of(len(trials), *sizes, source.meaning, source.trained_prior)


def facts_of(trials: int, targets: object, nontargets: object, meaning: str, trained_prior: object) -> JSON:
    """The facts that every saved model has, by their names."""
    return dict(zip(FACTS, (trials, targets, nontargets, meaning, trained_prior), strict=True))


def check_finite(ends: Ends, method: str) -> None:
    """Refuses infinite scores in a fit that takes their mean."""
    if not np.isfinite(ends).all():
        raise CalibrationError(
            f"{method} calibration needs finite scores to train on: leave the infinite ones out (applied to them, the "
            f"map keeps them infinite), or use Isotonic, which takes them as the lowest and the highest score."
        )


def check_overlap(ends: Ends, method: str = "Logistic") -> None:
    """Refuses classes that one threshold separates, ties on it included: the slope would grow without end."""
    if ends.nontarget_high <= ends.target_low or ends.target_high <= ends.nontarget_low:
        raise CalibrationError(
            f"{method} calibration has no finite solution: the classes are separable, a threshold divides the "
            "targets from the non-targets, so the slope would grow without bound. Give a penalty (penalty=1e-3: a "
            "ridge on the slope of the standardised scores), use more data, or use Isotonic."
        )


def balanced_folds(counts: Floats, folds: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Groups to folds, large ones first, each where the classes stay most even."""
    shares = counts / np.maximum(counts.sum(axis=0), 1.0)
    order = rng.permutation(len(counts))
    order = order[np.argsort(-shares[order].sum(axis=1), kind="stable")]
    filled, chosen = np.zeros((folds, counts.shape[1])), np.empty(len(counts), np.intp)
    for group in order.tolist():
        after = ((filled + shares[group]) ** 2).sum(axis=1) - (filled**2).sum(axis=1)
        chosen[group] = int(after.argmin())
        filled[chosen[group]] += shares[group]
    return chosen
