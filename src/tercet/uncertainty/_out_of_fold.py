"""Out of fold: thresholds and calibrations that are judged only on trials they were not chosen on.

Folds are dealt by group, else by id, else by the rank of the score within the class; always through a shuffle with a
fixed seed, so that neither the order of the rows nor a pattern in the names decides.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import running_total
from tercet._typing import Floats
from tercet.application import Application
from tercet.calibration.training import logistic_optimum
from tercet.errors import CalibrationError
from tercet.metrics.curves import Curve, Hull
from tercet.metrics.tally import Ranked, Tally
from tercet.trials import logit

Places = NDArray[np.intp]

FOLDS = 5
PENALTY = 1e-3  # ridge on the standardised slope where the other folds are separable; named in the method
_SEED = 20130


def deal_groups(labels: Sequence[Places]) -> tuple[tuple[Places, Places], int]:
    """Folds of each class's rows from the labels of what must stay together (groups), and their number.

    Groups are dealt in a shuffled order, each to the fold whose classes it keeps most even.
    """
    count = 1 + max(int(own.max()) for own in labels)
    shares = np.stack([np.bincount(own, minlength=count) / len(own) for own in labels], axis=1)
    folds = min(FOLDS, *(int((shares[:, side] > 0.0).sum()) for side in range(2)))
    order = np.random.default_rng(_SEED).permutation(count)
    order = order[np.argsort(-shares[order].sum(axis=1), kind="stable")]
    filled, chosen = np.zeros((folds, 2)), np.empty(count, np.intp)
    for group in order.tolist():
        chosen[group] = int((((filled + shares[group]) ** 2).sum(axis=1) - (filled**2).sum(axis=1)).argmin())
        filled[chosen[group]] += shares[group]
    return (chosen[labels[0]], chosen[labels[1]]), folds


def deal_rows(sizes: tuple[int, int]) -> tuple[tuple[Places, Places], int]:
    """Folds of rows that stand in an order of their own (by score or id), shuffled and dealt within the class."""
    folds = min(FOLDS, *sizes)
    rng = np.random.default_rng(_SEED)
    found = []
    for size in sizes:
        fold = np.empty(size, np.intp)
        fold[rng.permutation(size)] = np.arange(size) % folds
        found.append(fold)
    return (found[0], found[1]), folds


class Line(NamedTuple):
    """A logistic calibration: llr = slope x score + offset."""

    slope: float
    offset: float

    def accepts(self, scores: Floats, threshold: float) -> NDArray[np.bool_]:
        """Whether the calibrated llr lies above the threshold; a slope of 0 says the same of every score."""
        if self.slope == 0.0:
            return np.full(len(scores), self.offset > threshold)
        with np.errstate(over="ignore"):
            return np.asarray(self.slope * scores + self.offset > threshold)


@dataclass(frozen=True, eq=False)
class Folds:
    """The ascending scores of (non-targets, targets) with the weight and the fold of each row."""

    scores: tuple[Floats, Floats]
    weights: tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]
    numbers: tuple[Places, Places]
    count: int
    unit: int = 0

    def training(self, fold: int) -> Tally:
        """The trials of the other folds."""
        sides = []
        for scores, weights, numbers in zip(self.scores, self.weights, self.numbers, strict=True):
            kept = numbers != fold
            sides.append(Ranked(scores[kept]) if weights is None else _merged(scores[kept], weights[kept]))
        return Tally(sides[1], sides[0], "raw", None, self.unit)

    @cached_property
    def tallies(self) -> list[Tally]:
        """The training part of each fold."""
        return [self.training(fold) for fold in range(self.count)]

    @cached_property
    def hulls(self) -> list[Hull]:
        """The hull of each training part."""
        return [Curve.of(tally).hull for tally in self.tallies]

    def best_thresholds(self, log_odds: Floats, factors: Floats | None = None) -> Floats:
        """[fold, operating point]: the threshold of least cost on the other folds."""
        return np.array([hull.minimum(log_odds, factors)[1] for hull in self.hulls])

    def rejected(self, side: int, thresholds: Floats) -> NDArray[np.bool_]:
        """Which rows of a class their fold's threshold rejects; accepting everything is written -inf."""
        own = thresholds[self.numbers[side]]
        return np.asarray((self.scores[side] <= own) & (own > -np.inf))

    def counts(self, side: int, thresholds: Floats) -> NDArray[np.int64]:
        """For each operating point the weight of the rows of a class that are rejected out of fold."""
        total = np.zeros(thresholds.shape[1], np.int64)
        for fold in range(self.count):
            mine = self.numbers[side] == fold
            places = np.searchsorted(self.scores[side][mine], thresholds[fold], "right")
            places = np.where(thresholds[fold] == -np.inf, 0, places)
            own = self.weights[side]
            total += places if own is None else running_total(own[mine])[places]
        return total

    def lines(self, app: Application) -> list[Line]:
        """The logistic calibration of each training part at the application's effective prior."""
        return [_fitted(tally, app.effective_prior) for tally in self.tallies]

    def accepted(self, side: int, lines: Sequence[Line], threshold: float) -> NDArray[np.bool_]:
        """Which rows of a class are accepted after calibration out of fold."""
        found = np.empty(len(self.scores[side]), np.bool_)
        for fold, line in enumerate(lines):
            mine = self.numbers[side] == fold
            found[mine] = line.accepts(self.scores[side][mine], threshold)
        return found


def _merged(scores: Floats, weights: NDArray[np.int64]) -> Ranked:
    """Ascending scores with equal ones added up."""
    starts = np.flatnonzero(np.concatenate(([True], scores[1:] != scores[:-1])))
    return Ranked(scores[starts], running_total(np.add.reduceat(weights, starts)))


def _fitted(tally: Tally, prior: float) -> Line:
    """Without a penalty where a finite answer exists; infinite scores are left out of the fit."""
    finite = _finite(tally)
    if min(finite.targets.total, finite.nontargets.total) == 0:
        raise CalibrationError("a class has no finite scores to calibrate on")
    for penalty in (0.0, PENALTY):
        try:
            best, standard = logistic_optimum(finite, prior, penalty, quantiles=True)
            slope, offset = standard.back(*best.point)
            return Line(slope, offset - logit(prior))
        except CalibrationError as error:
            reason = error
    raise reason


def _finite(tally: Tally) -> Tally:
    sides = []
    for side in (tally.targets, tally.nontargets):
        first, last = np.searchsorted(side.scores, -np.inf, "right"), np.searchsorted(side.scores, np.inf)
        running = None if side.running is None else side.running[first : last + 1] - side.running[first]
        sides.append(Ranked(side.scores[first:last], running))
    return Tally(sides[0], sides[1], tally.meaning, tally.trained_prior, tally.unit)
