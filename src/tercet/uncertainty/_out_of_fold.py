"""Out of fold: thresholds and calibrations that are evaluated only on trials that were not used to choose them.

Folds are dealt by group, else by id, else by the rank of the score within the class; always through a shuffle with a
fixed seed, so that neither the order of the rows nor a pattern in the names matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import running_total
from tercet._typing import Floats
from tercet.application import Application
from tercet.calibration.training import balanced_folds, logistic_optimum
from tercet.errors import CalibrationError
from tercet.metrics.curves import Curve, Hull, convex_vertices
from tercet.metrics.tally import Ranked, Tally
from tercet.trials import logit

Places = NDArray[np.intp]
FoldNumbers = NDArray[np.int8] | Places

FOLDS = 5
PENALTY = 1e-3  # ridge on the standardised slope where the other folds are separable; named in the method
_SEED = 20130


def deal_groups(labels: Sequence[Places]) -> tuple[tuple[FoldNumbers, FoldNumbers], int]:
    """Folds of each class's rows from the names of the groups that must stay together, and their number.

    Groups are dealt in a shuffled order, each to the fold whose classes it keeps most even.
    """
    count = 1 + max(int(own.max()) for own in labels)
    rows = np.stack([np.bincount(own, minlength=count) for own in labels], axis=1).astype(np.float64)
    folds = min(FOLDS, *(rows > 0.0).sum(axis=0).tolist())
    chosen = balanced_folds(rows, folds, np.random.default_rng(_SEED))
    return (chosen[labels[0]], chosen[labels[1]]), folds


def deal_rows(sizes: tuple[int, int]) -> tuple[tuple[FoldNumbers, FoldNumbers], int]:
    """Folds of rows in a canonical order (by score or id), shuffled and dealt within the class."""
    folds = min(FOLDS, *sizes)
    rng = np.random.default_rng(_SEED)
    found = []
    for size in sizes:
        fold = np.empty(size, np.int8)
        fold[rng.permutation(size)] = np.arange(size) % folds
        found.append(fold)
    return (found[0], found[1]), folds


class Line(NamedTuple):
    """A logistic calibration: llr = slope x score + offset."""

    slope: float
    offset: float


@dataclass(frozen=True, eq=False)
class Folds:
    """The ascending scores of (non-targets, targets) with the weight and the fold of each row."""

    scores: tuple[Floats, Floats]
    weights: tuple[NDArray[np.int64] | None, NDArray[np.int64] | None]
    numbers: tuple[FoldNumbers, FoldNumbers]
    count: int
    unit: int = 0
    curve: Curve | None = None  # of all rows, where each row is a score of its own: folds then share its ranks
    _fits: dict[float, list[Line]] = field(default_factory=dict)  # by effective prior

    @cached_property
    def _before(self) -> list[list[NDArray[np.int32]]]:
        """[side][fold]: how many of the first rows of a class are in the fold, for every number of first rows."""
        found = []
        for numbers in self.numbers:
            found.append([np.zeros(len(numbers) + 1, np.int32) for _ in range(self.count)])
            for fold, total in enumerate(found[-1]):
                np.cumsum(numbers == fold, out=total[1:])
        return found

    def among_first(self, side: int, fold: int, places: Places) -> NDArray[np.int64]:
        """The weight of a fold's rows among the first rows of a class."""
        heavy = self.weights[side]
        if heavy is None:
            return self._before[side][fold][places].astype(np.int64)
        return np.asarray(running_total(np.where(self.numbers[side] == fold, heavy, 0))[places], np.int64)

    @cached_property
    def tallies(self) -> list[Tally]:
        """The training part of each fold: the trials of the others."""
        found = []
        for fold in range(self.count):
            sides = []
            for scores, weights, numbers in zip(self.scores, self.weights, self.numbers, strict=True):
                kept = numbers != fold
                sides.append(Ranked(scores[kept]) if weights is None else _merged(scores[kept], weights[kept]))
            found.append(Tally(sides[1], sides[0], "raw", None, self.unit))
        return found

    @cached_property
    def hulls(self) -> list[Hull]:
        """The hull of each training part."""
        meeting = None if self.curve is None else self.curve._meeting
        smallest = min(len(own) for own in self.scores)
        if meeting is None or meeting.tied or len(meeting.low) != smallest:  # tied rows
            return [Curve.of(tally).hull for tally in self.tallies]
        return [self._hull(fold) for fold in range(self.count)]

    def _hull(self, fold: int) -> Hull:
        """The hull without a fold, from the ranks of all rows; no two rows are tied."""
        assert self.curve is not None
        meeting = self.curve._meeting
        few = 1 if meeting.of_targets else 0  # the smaller class: its rows are placed among those of the larger one
        kept = np.flatnonzero(self.numbers[few] != fold)
        gone = self._before[1 - few][fold]
        low = meeting.low[kept]
        low -= gone[low]
        moves = low[1:] != low[:-1]
        if meeting.of_targets:  # a vertex lies below the first target of a run
            places = np.flatnonzero(np.concatenate(([True], moves)))
            misses, rejected = places, low[places]
        else:  # and above the last non-target of one
            places = np.flatnonzero(np.concatenate((moves, [True])))
            misses, rejected = low[places], places + 1
        sizes = (len(kept), len(self.scores[1 - few]) - int(gone[-1]))
        targets, nontargets = sizes if few == 1 else sizes[::-1]
        misses, rejected = np.r_[0, misses, targets], np.r_[0, rejected, nontargets]
        best = convex_vertices(rejected, misses, targets * nontargets)
        misses, rejected = misses[best], rejected[best]
        counts = (misses, rejected) if few == 1 else (rejected, misses)
        left = np.arange(len(gone)) - gone  # rows of the larger class that stay, among its first
        rows = (kept[np.maximum(counts[0] - 1, 0)], np.maximum(np.searchsorted(left, counts[1]) - 1, 0))
        highest = [
            np.where(count > 0, self.scores[side][row], -np.inf)
            for count, side, row in zip(counts, (few, 1 - few), rows, strict=True)
        ]
        return Hull(np.maximum(*highest), misses, nontargets - rejected, targets, nontargets)

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
            places = np.searchsorted(self.scores[side], thresholds[fold], "right")
            total += self.among_first(side, fold, np.where(thresholds[fold] == -np.inf, 0, places))
        return total

    def lines(self, app: Application) -> list[Line]:
        """The logistic calibration of each training part at the application's effective prior."""
        prior = app.effective_prior
        if prior not in self._fits:
            found, near = [], None
            for tally in self._finite:
                line, near = _fitted(tally, prior, near)
                found.append(line)
            self._fits[prior] = found
        return self._fits[prior]

    @cached_property
    def _finite(self) -> list[Tally]:
        """The training parts without infinite scores, which are left out of a fit."""
        return [_finite(tally) for tally in self.tallies]

    def accepted(self, side: int, lines: Sequence[Line], threshold: float) -> NDArray[np.bool_]:
        """Which rows of a class are accepted after calibration out of fold."""
        scores, numbers = self.scores[side], self.numbers[side]
        slopes, offsets = np.array(lines).T
        with np.errstate(over="ignore", invalid="ignore"):
            found = slopes[numbers] * scores + offsets[numbers] > threshold
        for fold in np.flatnonzero(slopes == 0.0).tolist():  # the same for every score, infinite ones too
            found[numbers == fold] = offsets[fold] > threshold
        return np.asarray(found)


def _merged(scores: Floats, weights: NDArray[np.int64]) -> Ranked:
    """Ascending scores with equal ones added up."""
    starts = np.flatnonzero(np.concatenate(([True], scores[1:] != scores[:-1])))
    return Ranked(scores[starts], running_total(np.add.reduceat(weights, starts)))


def _fitted(finite: Tally, prior: float, near: Floats | None) -> tuple[Line, Floats]:
    """The fit without a penalty if it has a finite solution, which is also the starting point of the next fold."""
    if min(finite.targets.total, finite.nontargets.total) == 0:
        raise CalibrationError("a class has no finite scores to calibrate on")
    for penalty in (0.0, PENALTY):
        try:
            best, standard = logistic_optimum(finite, prior, penalty, quantiles=True, start=near)
            slope, offset = standard.back(*best.point)
            return Line(slope, offset - logit(prior)), best.point
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
