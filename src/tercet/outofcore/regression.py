"""Regressions on scanned rows: what every row adds to cost, gradient and Hessian, summed without rounding.

The terms of a row depend on that row alone. They are rounded to a grid that all parts share and added as whole numbers,
so that no bit depends on how the rows were cut. Standardised features keep every sqrt(xi) phi within +-1, because the
sum of their squares is 1: the grids need no pass of their own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import GRID, UNIT, exact_gram, exact_sum, grid_sum, ratio
from tercet._numeric.newton import ONCE_MORE
from tercet._typing import Floats, Value
from tercet.calibration._designs import DESIGNS, TOO_LARGE, Design, Recipe, design_of, made_design, standardised
from tercet.calibration._linear import centred_features, infinite_scores, largest_square, margins, row_terms
from tercet.calibration.training import ClassData
from tercet.errors import CalibrationError, InputError
from tercet.metrics.posteriors import check_every_class
from tercet.outofcore.classes import ClassTotals
from tercet.outofcore.plain_data import Plain, PlainState
from tercet.outofcore.runner import CHANGED, Passes
from tercet.trials import Trials

if TYPE_CHECKING:
    from tercet.outofcore.runner import Part

_PIECE = 1 << 13  # rows that are converted at a time
_BLOCK = 1 << 12  # rows x classes whose products are added at a time
_GRAM = 100  # sums of products are in units of 2**-100


class _Rows(NamedTuple):
    """Some rows of positive weight and finite scores."""

    systems: list[Floats]
    labels: NDArray[np.intp]
    xi: Floats


@dataclass(frozen=True, slots=True, eq=False)
class RegressionSums(PlainState):
    """What some parts answer to one question about a regression; adds exactly with +."""

    weights: tuple[int, ...]  # of each class, in units of 2**-1074
    infinite: int = 0  # rows that hold -inf
    sums: tuple[int, ...] = ()
    gram: NDArray[np.object_] = field(default_factory=lambda: np.zeros(0, np.object_))
    highest: tuple[float, ...] = ()  # the largest value of something

    @classmethod
    def of_part(cls, part: Part, job: Plain) -> RegressionSums:
        """The answer of one part."""
        found = cls((0,) * len(job["factors"]))
        for trials in part.trials():
            for start in range(0, len(trials), _PIECE):
                found = found + cls._of_trials(trials.select(slice(start, start + _PIECE)), job)
        return found

    @classmethod
    def _of_trials(cls, trials: Trials, job: Plain) -> RegressionSums:
        labels = trials.known_labels().astype(np.intp)
        heavy, classes = trials.weights, len(job["factors"])
        if heavy is None:
            heavy = np.ones(len(labels))
            weights = [count << UNIT for count in np.bincount(labels, minlength=classes).tolist()]
        else:
            weights = [exact_sum(heavy[labels == code]) for code in range(classes)]
        systems = [np.ascontiguousarray(scores) for scores in _recipe(job).systems(trials)]
        finite = np.logical_and.reduce([np.isfinite(scores).all(axis=1) for scores in systems])
        kept = finite & (heavy > 0.0)
        xi = np.array(job["factors"])[labels[kept]] * heavy[kept]
        rows = _Rows([scores[kept] for scores in systems], labels[kept], xi)
        found = _QUESTIONS[job["ask"]](rows, job) if len(xi) else {}
        return cls(tuple(weights), int(np.count_nonzero(~finite)), **found)

    def __add__(self, other: RegressionSums) -> RegressionSums:
        weights = tuple(a + b for a, b in zip(self.weights, other.weights, strict=True))
        infinite = self.infinite + other.infinite
        if not (self.highest and other.highest):  # one of them has no rows that count
            one = self if self.highest else other
            return RegressionSums(weights, infinite, one.sums, one.gram, one.highest)
        sums = tuple(a + b for a, b in zip(self.sums, other.sums, strict=True))
        highest = tuple(map(max, self.highest, other.highest))
        return RegressionSums(weights, infinite, sums, self.gram + other.gram, highest)


def _recipe(job: Plain) -> Recipe:
    scores, design, prior = job["recipe"]
    return Recipe(scores, design, tuple(prior))


def _means(rows: _Rows, job: Plain) -> Plain:
    """The sums of flat scores, or of squared distances from their centres; and the largest score of each system."""
    made, sums = DESIGNS[_recipe(job).design], []
    for place, scores in enumerate(rows.systems):
        with np.errstate(over="ignore"):
            flat = _row_by_row(made.flat, scores)
            columns = flat if job["centres"] is None else made.squares(flat - np.array(job["centres"][place]))
        if not np.isfinite(columns).all():
            raise CalibrationError(TOO_LARGE)
        sums += [exact_sum(rows.xi * column) for column in np.atleast_2d(columns.T)]
    return {"sums": tuple(sums), "highest": tuple(float(np.abs(scores).max()) for scores in rows.systems)}


def _row_by_row(function: Callable[[Floats], Floats], scores: Floats) -> Floats:
    """A function of rows x classes for every row apart: a product of all rows would round by their number."""
    return np.asarray(function(scores[:, None, :])[:, 0, :])


def _terms(rows: _Rows, job: Plain) -> Plain:
    """Cost, gradient and Hessian at a point, and the lowest margin there with its sign changed."""
    theta, log_prior = np.array(job["theta"]), np.array(job["log_prior"])
    size = len(theta)
    sums, gram, highest = [0] * (1 + size), np.zeros(size * size, np.object_), -math.inf
    for phi, labels, xi in _features(rows, job):
        row = row_terms(phi, labels, xi, theta, log_prior)
        columns = np.column_stack((row.costs, row.gradients)).T * xi
        for place, column in enumerate(columns):
            sums[place] += grid_sum(column, job["exponents"][place > 0], 2)
        gram += (exact_gram(row.deviations) - exact_gram(row.means)).ravel()
        highest = max(highest, -float(margins(row.etas[:, :, None], labels).min()))
    return {"sums": tuple(sums), "gram": gram, "highest": (highest,)}


def _extremes(rows: _Rows, job: Plain) -> Plain:
    """The lowest margin along the first column with its sign changed, the highest, and the largest square."""
    spread, found = np.array(job["spread"]), [-math.inf] * 3
    for phi, labels, _ in _features(rows, job):
        along = margins(phi @ spread[:, :1], labels)
        found = [*map(max, found, (-float(along.min()), float(along.max()), largest_square(phi, spread)))]
    return {"highest": tuple(found)}


def _features(rows: _Rows, job: Plain) -> Iterator[tuple[Floats, NDArray[np.intp], Floats]]:
    """The centred features of some rows at a time, with labels and weights."""
    design = made_design(_recipe(job).design, np.array(job["centres"]), np.array(job["scales"]))
    systems = [scores[:, None, :] for scores in rows.systems]
    standard = [scores[:, 0, :] for scores in standardised(design, systems)]
    size = max(_BLOCK // len(job["factors"]), 1)
    for start in range(0, len(rows.xi), size):
        some = slice(start, start + size)
        yield centred_features(design, [scores[some] for scores in standard]), rows.labels[some], rows.xi[some]


_QUESTIONS: dict[str, Callable[[_Rows, Plain], Plain]] = {"means": _means, "terms": _terms, "extremes": _extremes}


@dataclass(slots=True, eq=False)
class ScannedRows:
    """The rows of a scan as a regression asks about them, one pass for each answer."""

    still: ClassVar = ONCE_MORE

    passes: Passes
    recipe: Recipe
    weights: tuple[int, ...]  # of each class, in units of 2**-1074
    what: str
    _design: Design | None = None
    _last: tuple[bytes, tuple[Floats, float]] | None = None

    @classmethod
    def of(cls, passes: Passes, recipe: Recipe, sizes: Sequence[int], unit: int, what: str) -> ScannedRows:
        """Rows whose classes have these weights, in units of 2**unit."""
        found = cls(passes, recipe, tuple(size << UNIT + unit for size in sizes), what)
        found._design = design_of(recipe.design, found._mean, recipe.system_count, len(sizes))
        return found

    @property
    def design(self) -> Design:
        """How scores become features."""
        assert self._design is not None
        return self._design

    def _mean(self, centres: Floats | None) -> tuple[list[Floats], list[float]]:
        found = self._total("means", centres=None if centres is None else centres.tolist())
        sums = np.array([ratio(total, 1, UNIT) for total in found.sums])
        parts = np.split(sums, self.recipe.system_count)
        single = centres is not None and self.recipe.design != "matrix"  # one square for all classes
        return [part[0] if single else part for part in parts], list(found.highest)

    def gram(self) -> Floats:
        """The Hessian of equal posteriors, which is the mean over the classes."""
        size, classes = len(self.design.scored), len(self.weights)
        found, _ = self._terms(np.zeros(size), np.zeros(classes))
        return np.asarray(classes * found[1 + size :].reshape(size, size))

    def sums(self, theta: Floats) -> tuple[Floats, float]:
        """In one pass."""
        logs = self.recipe.log_prior
        return self._terms(theta, logs - logs.max())

    def _terms(self, theta: Floats, log_prior: Floats) -> tuple[Floats, float]:
        key = theta.tobytes() + log_prior.tobytes()
        if self._last is None or self._last[0] != key:  # where the prior is uniform, the search begins with the Gram
            most = 2.0 * np.abs(theta).sum() + np.ptp(log_prior) + math.log(len(log_prior)) + 1.0
            exponents = [math.frexp(most)[1], 2]
            found = self._total(
                "terms", **self._plain_design(), theta=theta.tolist(), log_prior=log_prior.tolist(), exponents=exponents
            )
            sums = [math.ldexp(total, exponents[place > 0] - 2 * GRID) for place, total in enumerate(found.sums)]
            products = [ratio(int(total), 1, _GRAM) for total in found.gram]
            self._last = key, (np.array(sums + products), -found.highest[0])
        return self._last[1]

    def widest(self, spread: Floats) -> float:
        """In one pass."""
        return self._extremes(spread)[2]

    def margins(self, direction: Floats) -> tuple[float, float]:
        """In one pass."""
        lowest, highest, _ = self._extremes(direction[:, None])
        return -lowest, highest

    def divisible(self, basis: Floats, point: Floats) -> bool:
        """Whether the search ended in a direction that ranks every true class first; others are not looked for."""
        return self.margins(basis @ point)[0] >= 0.0

    def _extremes(self, spread: Floats) -> tuple[float, float, float]:
        found = self._total("extremes", **self._plain_design(), spread=spread.tolist()).highest
        return found[0], found[1], found[2]

    def _plain_design(self) -> Plain:
        return {"centres": self.design.centres.tolist(), "scales": self.design.scales.tolist()}

    def _total(self, ask: str, **job: Value) -> RegressionSums:
        """The answer of all rows."""
        known = zip(self.recipe.prior, self.weights, strict=True)
        factors = [prior / ratio(weight, 1, UNIT) for prior, weight in known]
        recipe = [self.recipe.scores, self.recipe.design, list(self.recipe.prior)]
        found: RegressionSums | None = self.passes.total(RegressionSums, ask=ask, recipe=recipe, factors=factors, **job)
        if found is None or found.weights != self.weights:
            raise InputError(CHANGED)
        if found.infinite:
            raise infinite_scores(self.what, found.infinite, self.passes.row_count)
        return found


def scanned_class_data(passes: Passes, trained_prior: float | tuple[float, ...] | None) -> ClassData:
    """The training data of a scan of any number of classes, whose sizes take one pass."""
    totals: ClassTotals | None = passes.total(ClassTotals, share=None, applications=[], why="", labels_only=True)
    if totals is None:
        raise CalibrationError("There is nothing to calibrate: there are no trials.")

    def regression(recipe: Recipe, what: str) -> ScannedRows:
        check_every_class(totals.sizes, totals.classes)
        return ScannedRows.of(passes, recipe, totals.sizes, totals.unit, what)

    return ClassData(totals.classes, trained_prior, passes.row_count, regression)
