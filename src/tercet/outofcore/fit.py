"""Training data that is scanned: ends, exact moments and Newton's sums over parts, on one machine or many.

An isotonic map is the hull, which bounded-memory evaluation finds exactly. A Gaussian map takes one pass. A logistic
map starts from counts by the leading bits of the scores, and takes one pass over all rows for every Newton step. An
offset is found the same way, from log-odds.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import UNIT, exact_dot, ratio, shifted
from tercet._numeric.newton import GRADIENT_BOUND, ONCE_MORE, Optimum, Terms, minimise
from tercet._typing import JSON, Counts, Facts, Floats
from tercet.calibration._designs import Recipe
from tercet.calibration._logistic_sums import (
    LARGEST,
    Ends,
    Grid,
    Moments,
    Side,
    Standard,
    combined,
    row_terms,
    terms_of,
)
from tercet.calibration.training import best_offset, check_both, facts_of, on_log_odds, unscaled
from tercet.errors import CalibrationError, InputError, UndefinedError
from tercet.metrics.curves import Hull
from tercet.metrics.tally import Ranked, Tally
from tercet.outofcore.bins import keys_of, scores_of
from tercet.outofcore.plain_data import Plain, PlainState
from tercet.outofcore.refinement import two_class_summary
from tercet.outofcore.regression import ScannedRows
from tercet.outofcore.runner import CHANGED, Passes

if TYPE_CHECKING:
    from tercet.outofcore.runner import Part

_LEADING = 20  # bits of a score's pattern that name its bin: sign, exponent and 8 of the mantissa
_REST = 64 - _LEADING
_BELOW = np.int64(-(1 << _LEADING))  # below every pattern of leading bits
_BLOCK = 1 << 16  # rows at a time: their intermediate results are small compared with the part
_LIMITED = ("lr", "posterior")  # meanings whose scores must lie in a range
_NOTHING = "There is nothing to calibrate: there are no targets among the trials."


class OneClass(NamedTuple):
    """One class of some parts: exact moments, ends (inf and -inf of nothing), and weights by leading bits."""

    moments: tuple[int, int, int]
    ends: tuple[float, float]
    codes: NDArray[np.int64]
    weights: Counts

    @classmethod
    def of(cls, side: Ranked, factor: float) -> OneClass:
        """The facts of sorted scores; moments of scores too large for the factor are left for another pass."""
        if len(side.scores) == 0:
            return cls((0, 0, 0), (math.inf, -math.inf), np.zeros(0, np.int64), np.zeros(0, np.int64))
        low, high = float(side.scores[0]), float(side.scores[-1])
        safe = max(-low, high) * factor <= LARGEST
        moments, codes, weights = [], [], []
        for start in range(0, len(side.scores), _BLOCK):
            x, heavy = _block(side, start)
            here = keys_of(x) >> _REST
            firsts = np.flatnonzero(np.diff(here, prepend=_BELOW))
            codes.append(here[firsts])
            rows = np.diff(firsts, append=len(x)) if heavy is None else np.add.reduceat(heavy, firsts)
            weights.append(rows)
            nothing = Moments(len(x) if heavy is None else int(heavy.sum()), 0, 0)
            moments.append(Moments.of_rows(x if factor == 1.0 else x * factor, heavy) if safe else nothing)
        weight, first, second = Moments.sum(moments)
        return cls((weight, first, second), (low, high), *_pooled(codes, weights))

    def added(self, other: OneClass, by: int, other_by: int) -> OneClass:
        """Both together, after this one's weights have been multiplied by 2**by and the other's by 2**other_by."""
        a, b, c = ((x << by) + (y << other_by) for x, y in zip(self.moments, other.moments, strict=True))
        ends = min(self.ends[0], other.ends[0]), max(self.ends[1], other.ends[1])
        heavy = [shifted(self.weights, by), shifted(other.weights, other_by)]
        return OneClass((a, b, c), ends, *_pooled([self.codes, other.codes], heavy))

    def middles(self) -> Floats:
        """One score for each pattern, in the middle of its range, between the ends of the class."""
        return np.clip(scores_of((self.codes << _REST) + (1 << (_REST - 1))), *self.ends)


def _block(side: Ranked, start: int) -> tuple[Floats, Counts | None]:
    """Some scores as doubles, and their weights."""
    x = side.scores[start : start + _BLOCK].astype(np.float64, copy=False)
    return x, None if side.running is None else np.diff(side.running[start : start + len(x) + 1])


def _pooled(codes: Iterable[NDArray[np.int64]], weights: Iterable[Counts]) -> tuple[NDArray[np.int64], Counts]:
    """The weights of equal patterns added up, patterns ascending."""
    every, heavy = np.concatenate([*codes]), np.concatenate([*weights])
    order = np.argsort(every, kind="stable")
    every = every[order]
    starts = np.flatnonzero(np.diff(every, prepend=_BELOW))
    return every[starts], shifted(np.add.reduceat(heavy[order], starts), 0) if len(starts) else heavy


@dataclass(frozen=True, slots=True, eq=False)
class ClassMoments(PlainState):
    """What a fit needs to know about both classes of some parts before its first step; adds exactly with +."""

    targets: OneClass
    nontargets: OneClass
    unit: int

    @classmethod
    def of_part(cls, part: Part, job: Plain) -> ClassMoments:
        """The moments of one part."""
        tally = _tally(part, job)
        targets, nontargets = (OneClass.of(side, job["factor"]) for side in (tally.targets, tally.nontargets))
        return cls(targets, nontargets, tally.unit)

    def __add__(self, other: ClassMoments) -> ClassMoments:
        unit = min(self.unit, other.unit)
        by = self.unit - unit, other.unit - unit
        targets, nontargets = self.targets.added(other.targets, *by), self.nontargets.added(other.nontargets, *by)
        return ClassMoments(targets, nontargets, unit)

    @classmethod
    def of_plain(cls, plain: Facts) -> ClassMoments:
        """The moments that to_plain took apart."""
        found = super(ClassMoments, cls).of_plain(plain)
        return cls(OneClass(*found.targets), OneClass(*found.nontargets), found.unit)

    @property
    def sizes(self) -> tuple[int, int]:
        """The weights of targets and non-targets."""
        return self.targets.moments[0], self.nontargets.moments[0]

    def sides(self, standard: Standard) -> tuple[Side, Side]:
        """Both classes with every score in the middle of its bin."""
        targets, nontargets = (
            Side(one.middles(), np.asarray(one.weights / one.moments[0], np.float64), standard)
            for one in (self.targets, self.nontargets)
        )
        return targets, nontargets


@dataclass(frozen=True, slots=True, eq=False)
class NewtonSums(PlainState):
    """The sums that one Newton step needs, over some parts, as whole numbers; adds exactly with +."""

    targets: tuple[int, ...]
    nontargets: tuple[int, ...]
    sizes: tuple[int, int]
    unit: int

    @classmethod
    def of_part(cls, part: Part, job: Plain) -> NewtonSums:
        """The sums of one part at a point (slope, offset) on standard scores."""
        tally = _tally(part, job)
        grid, standard, (a, b) = Grid(tuple(job["exponents"])), Standard(*job["standard"]), job["point"]
        targets = _newton_sums(tally.targets, grid, standard, -a, -b)
        nontargets = _newton_sums(tally.nontargets, grid, standard, a, b)
        return cls(targets, nontargets, (tally.targets.total, tally.nontargets.total), tally.unit)

    def __add__(self, other: NewtonSums) -> NewtonSums:
        unit = min(self.unit, other.unit)
        targets, nontargets, sizes = (
            tuple(
                (x << self.unit - unit) + (y << other.unit - unit)
                for x, y in zip(getattr(self, name), getattr(other, name), strict=True)
            )
            for name in ("targets", "nontargets", "sizes")
        )
        return NewtonSums(targets, nontargets, (sizes[0], sizes[1]), unit)


def _tally(part: Part, job: Plain) -> Tally:
    """The scores of a part as they are, or as log-odds."""
    return on_log_odds(part.tally()) if job["log_odds"] else part.tally()


def _newton_sums(side: Ranked, grid: Grid, standard: Standard, slope: float, offset: float) -> tuple[int, ...]:
    """The six sums of a class in units of 2**-1074: of terms rounded to a shared grid, or exact for weighted rows."""
    if side.running is None:
        return grid.sums(side.scores, standard, slope, offset)
    totals = [0] * len(grid.exponents)
    for start in range(0, len(side.scores), _BLOCK):
        x, heavy = _block(side, start)
        assert heavy is not None
        for place, values in enumerate(row_terms(standard.scaled(x), slope, offset)):
            totals[place] += exact_dot(values, heavy)
    return tuple(totals)


@dataclass(slots=True)
class ScannedTraining:
    """The training data of a scan: what a fit needs is found by passes, each done once."""

    passes: Passes
    meaning: str
    trained_prior: float | None
    log_odds: bool = False  # what the scores stand for, instead of the scores
    _summaries: dict[float, ClassMoments] = field(default_factory=dict)
    _facts: JSON = field(default_factory=dict)

    @property
    def facts(self) -> JSON:
        """What a saved model records about its trials; known after the first pass."""
        return self._facts

    def _summary(self, factor: float = 1.0) -> ClassMoments:
        if factor not in self._summaries:
            found = self.passes.total(ClassMoments, factor=factor, log_odds=self.log_odds)
            if found is None:
                raise CalibrationError(_NOTHING)
            check_both(*found.sizes)
            if self._summaries and found.sizes != next(iter(self._summaries.values())).sizes:
                raise InputError(CHANGED)
            self._summaries[factor] = found
            targets, nontargets = found.sizes
            self._facts = self._known(targets, nontargets, found.unit)
        return self._summaries[factor]

    def _known(self, targets: int, nontargets: int, unit: int) -> JSON:
        weight = Tally(Ranked(np.empty(0)), Ranked(np.empty(0)), "raw", None, unit).weight
        return facts_of(self.passes.row_count, weight(targets), weight(nontargets), self.meaning, self.trained_prior)

    @property
    def ends(self) -> Ends:
        """The ends of both classes."""
        found = self._summary()
        return Ends(*found.targets.ends, *found.nontargets.ends)

    def moments(self) -> tuple[Moments, Moments]:
        """Exact moments of both classes."""
        found = self._summary(self.ends.factor)
        return Moments(*found.targets.moments), Moments(*found.nontargets.moments)

    def hull(self) -> tuple[Hull, int]:
        """The hull; scores without limits are ranked as raw ones, which need no sums."""
        ranked, prior = (self.meaning, self.trained_prior) if self.meaning in _LIMITED else ("raw", None)
        try:
            summary, _ = two_class_summary(self.passes, np.empty(0), "rocch", ranked, prior)
        except UndefinedError as error:
            why = str(error).partition(": ")[2]  # which class is missing
            raise CalibrationError(f"There is nothing to calibrate: {why}") from None
        tally = summary.curve.tally
        self._facts = self._known(tally.targets.total, tally.nontargets.total, tally.unit)
        return summary.curve.hull, tally.unit

    def logistic_optimum(self, standard: Standard, prior: float, penalty: float) -> Optimum:
        """Newton's steps, one pass over all rows each, from a fit on the leading bits of the scores."""
        start = _start(self._summary(self.ends.factor).sides(standard), prior, penalty)
        return minimise(self._terms(standard, prior, penalty), start, still=ONCE_MORE)

    def best_offset(self, prior: float) -> float:
        """The same for the offset alone, on log-odds."""
        odds = ScannedTraining(self.passes, self.meaning, self.trained_prior, log_odds=True)
        ends, standard = odds.ends, unscaled(odds.ends)
        self._facts = odds.facts
        near = best_offset(terms_of(odds._summary().sides(standard), prior, 0.0), ends, prior)
        return best_offset(odds._terms(standard, prior, 0.0), ends, prior, near)

    def regression(self, recipe: Recipe, what: str) -> ScannedRows:
        """Rows that are read again for every sum."""
        summary = self._summary()
        return ScannedRows.of(self.passes, recipe, summary.sizes[::-1], summary.unit, what)

    def _terms(self, standard: Standard, prior: float, penalty: float) -> Terms:
        """The cross-entropy as a function of (slope, offset), one pass over all rows for each point."""
        sizes = self._summary().sizes

        def terms(point: Floats) -> tuple[float, Floats, Floats]:
            a, b = (float(value) for value in point)
            grid = Grid.of(self.ends, standard, a, b)
            job = {"standard": list(standard), "point": [a, b], "exponents": list(grid.exponents)}
            sums = self.passes.total(NewtonSums, **job, log_odds=self.log_odds)
            if sums is None or sums.sizes != sizes:
                raise InputError(CHANGED)
            pairs = (sums.targets, sums.sizes[0]), (sums.nontargets, sums.sizes[1])
            means = [np.array([ratio(total, weight, UNIT) for total in totals]) for totals, weight in pairs]
            return combined(means[0], means[1], point, prior, penalty)

        return terms


def _start(sides: tuple[Side, Side], share: float, ridge: float) -> Floats:
    """The fit on the middles of the leading bits' ranges, if it has a solution; otherwise zero."""
    targets, nontargets = (side.scores for side in sides)
    if nontargets[-1] <= targets[0] or targets[-1] <= nontargets[0]:
        return np.zeros(2)
    best = minimise(terms_of(sides, share, ridge), np.zeros(2))
    return best.point if best.gradient_norm < GRADIENT_BOUND else np.zeros(2)
