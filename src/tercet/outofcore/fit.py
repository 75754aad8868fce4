"""Calibrators from more trials than memory: ends, exact moments and Newton's sums over parts, on one machine or many.

An isotonic map is the hull, which bounded-memory evaluation finds exactly. A Gaussian map takes one pass. A logistic
map starts from counts by the leading bits of the scores, and takes one pass over all rows for every Newton step.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.newton import GRADIENT_BOUND, ONCE_MORE, minimise
from tercet._numeric.validation import shown
from tercet._typing import Floats
from tercet.calibration._logistic_sums import LARGEST, Ends, Grid, Moments, Side, Standard, combined, terms_of
from tercet.calibration.two_class import (
    Calibrator,
    Gaussian,
    Isotonic,
    Logistic,
    check_both,
    check_finite,
    check_overlap,
    facts_of,
    non_negative,
)
from tercet.errors import CalibrationError, InputError, UndefinedError
from tercet.metrics.curves import Curve
from tercet.outofcore.counts import (
    Classes,
    Integers,
    Parts,
    joined_parts,
    keys_of,
    scores_of,
    sorted_classes,
)
from tercet.outofcore.refinement import CHANGED
from tercet.outofcore.runner import (
    Budget,
    Chunks,
    Held,
    Progress,
    Run,
    Where,
    budget_of,
    check_parts,
    classes_of,
    over_chunks,
    over_files,
)
from tercet.outofcore.scan import Question, evaluate_chunks, evaluate_files
from tercet.trials import probability

_LEADING = 20  # bits of a score's pattern that name its bin: sign, exponent and 8 of the mantissa
_REST = 64 - _LEADING
_BELOW = np.int64(-(1 << _LEADING))  # below every pattern of leading bits
_BLOCK = 1 << 16  # rows at a time: what is made of them takes little beside the part
_PLOT = (-3.0, 3.0, 21)
_LIMITED = ("lr", "posterior")  # meanings whose scores must lie in a range
_SETTINGS: dict[type[Calibrator], dict[str, Any]] = {
    Logistic: {"penalty": 0.0},
    Isotonic: {"raw": False},
    Gaussian: {"shared_variance": True},
}


# What parts leave behind


class Counted(NamedTuple):
    """How many scores share each pattern of leading bits, ascending."""

    codes: Integers
    counts: Integers

    @classmethod
    def of(cls, scores: Floats) -> Counted:
        """The counts of sorted scores."""
        codes = keys_of(scores) >> _REST
        starts = np.flatnonzero(np.diff(codes, prepend=_BELOW))
        return cls(codes[starts], np.diff(starts, append=len(codes)))

    @classmethod
    def sum(cls, several: Iterable[Counted]) -> Counted:
        """The counts of all together."""
        columns = list(zip(*several, strict=True))
        codes, counts = (np.concatenate(column) for column in columns) if columns else np.zeros((2, 0), np.int64)
        order = np.argsort(codes, kind="stable")
        codes = codes[order]
        starts = np.flatnonzero(np.diff(codes, prepend=_BELOW))
        return cls(codes[starts], np.add.reduceat(counts[order], starts) if len(starts) else counts)

    def middles(self, low: float, high: float) -> Floats:
        """One score for each pattern, in the middle of its range, between the ends of the class."""
        return np.clip(scores_of((self.codes << _REST) + (1 << (_REST - 1))), low, high)


class OneClass(NamedTuple):
    """One class of a part: its exact moments, its ends (inf and -inf of nothing), and its counts by leading bits."""

    moments: Moments
    low: float
    high: float
    counted: Counted

    @classmethod
    def of(cls, side: NDArray[Any], factor: float) -> OneClass:
        """The facts of sorted scores; moments of scores too large for the factor are left for another pass."""
        if len(side) == 0:
            return cls(Moments(0, 0, 0), math.inf, -math.inf, Counted.sum(()))
        low, high = float(side[0]), float(side[-1])
        safe = max(-low, high) * factor <= LARGEST
        starts = range(0, len(side), _BLOCK)
        blocks = [_of_block(side[start : start + _BLOCK], factor, safe) for start in starts]
        moments, counted = zip(*blocks, strict=True)
        return cls(Moments.sum(moments), low, high, Counted.sum(counted))

    def __or__(self, other: OneClass) -> OneClass:
        ends, moments = (min(self.low, other.low), max(self.high, other.high)), (self.moments, other.moments)
        return OneClass(Moments.sum(moments), *ends, Counted.sum((self.counted, other.counted)))

    def to_plain(self, name: str) -> dict[str, Any]:
        """Arrays and lists of numbers only, called by the class's name."""
        return {
            f"{name}_moments": list(self.moments),
            f"{name}_ends": np.array([self.low, self.high]),
            f"{name}_codes": self.counted.codes,
            f"{name}_counts": self.counted.counts,
        }

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any], name: str) -> OneClass:
        """The class of that name that to_plain took apart."""
        low, high = plain[f"{name}_ends"].tolist()
        counted = Counted(plain[f"{name}_codes"], plain[f"{name}_counts"])
        return cls(Moments(*plain[f"{name}_moments"]), low, high, counted)


def _of_block(side: NDArray[Any], factor: float, safe: bool) -> tuple[Moments, Counted]:
    scores = side.astype(np.float64, copy=False)
    x = scores if factor == 1.0 else scores * factor
    return Moments.of_rows(x) if safe else Moments(len(scores), 0, 0), Counted.of(scores)


@dataclass(frozen=True, slots=True, eq=False)
class Summary:
    """Both classes of some parts, as far as a fit must know them before its first step; adds exactly with +."""

    targets: OneClass
    nontargets: OneClass
    parts: Parts

    @classmethod
    def of(cls, classes: Classes, job: Mapping[str, Any], part: int) -> Summary:
        """What one part of sorted classes leaves behind."""
        targets, nontargets = (OneClass.of(side, job["factor"]) for side in classes)
        return cls(targets, nontargets, ((part, part + 1),))

    def __add__(self, other: Summary) -> Summary:
        parts = joined_parts(self.parts, other.parts)
        return Summary(self.targets | other.targets, self.nontargets | other.nontargets, parts)

    @property
    def ends(self) -> Ends:
        """The ends of both classes."""
        return Ends(self.targets.low, self.targets.high, self.nontargets.low, self.nontargets.high)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many targets and non-targets there are."""
        return self.targets.moments.weight, self.nontargets.moments.weight

    def to_plain(self) -> dict[str, Any]:
        """Arrays, numbers and lists only."""
        sides = self.targets.to_plain("targets") | self.nontargets.to_plain("nontargets")
        return sides | {"parts": [list(ends) for ends in self.parts]}

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any]) -> Summary:
        """The summary that to_plain took apart."""
        targets, nontargets = (OneClass.of_plain(plain, name) for name in ("targets", "nontargets"))
        return cls(targets, nontargets, _ranges(plain["parts"]))


@dataclass(frozen=True, slots=True, eq=False)
class Sums:
    """The sums that one Newton step needs, over some parts, as whole numbers of a shared grid; adds exactly with +."""

    targets: tuple[int, ...]
    nontargets: tuple[int, ...]
    sizes: tuple[int, int]
    parts: Parts

    @classmethod
    def of(cls, classes: Classes, job: Mapping[str, Any], part: int) -> Sums:
        """What one part of sorted classes leaves behind for a point (slope, offset) on standard scores."""
        grid, standard, (a, b) = Grid(tuple(job["exponents"])), Standard(*job["standard"]), job["point"]
        targets = grid.sums(classes[0], standard, -a, -b)
        nontargets = grid.sums(classes[1], standard, a, b)
        return cls(targets, nontargets, (len(classes[0]), len(classes[1])), ((part, part + 1),))

    def __add__(self, other: Sums) -> Sums:
        pairs = ((self.targets, other.targets), (self.nontargets, other.nontargets), (self.sizes, other.sizes))
        targets, nontargets, sizes = (tuple(map(add, *pair)) for pair in pairs)
        return Sums(targets, nontargets, (sizes[0], sizes[1]), joined_parts(self.parts, other.parts))

    def to_plain(self) -> dict[str, Any]:
        """Lists of whole numbers only."""
        columns = {"targets": self.targets, "nontargets": self.nontargets, "sizes": self.sizes}
        return {name: list(values) for name, values in columns.items()} | {"parts": [list(one) for one in self.parts]}

    @classmethod
    def of_plain(cls, plain: Mapping[str, Any]) -> Sums:
        """The sums that to_plain took apart."""
        sizes = plain["sizes"][0], plain["sizes"][1]
        return cls(tuple(plain["targets"]), tuple(plain["nontargets"]), sizes, _ranges(plain["parts"]))


def _ranges(parts: Iterable[Sequence[int]]) -> Parts:
    return tuple((low, high) for low, high in parts)


_KINDS: dict[str, type[Summary] | type[Sums]] = {"summary": Summary, "sums": Sums}


def partial(job: dict[str, Any], batch: Sequence[dict[str, Any]], held: Held) -> dict[str, Any]:
    """What a batch of parts of files leaves behind, as plain data: the one function that engines run."""
    found: Any = (_KINDS[job["kind"]].of(classes_of(held, job, part), job, part["number"]) for part in batch)
    return dict(reduce(add, found).to_plain())


# The fits


def fit_files(
    method: type[Calibrator],
    paths: Any,
    prior: float = 0.5,
    *,
    score_column: str = "score",
    label_column: str = "label",
    target: object = None,
    meaning: str = "raw",
    trained_prior: float | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    workers: int | None = None,
    memory_limit: int = 10**9,
    progress: Progress | None = None,
    resume: str | os.PathLike[str] | None = None,
    **settings: Any,
) -> Any:
    """Trains Logistic, Isotonic or Gaussian on the trials of any number of files, within a limit of memory.

    `settings` are those of the method's fit (penalty, raw, shared_variance), the others those of evaluate_files.
    """
    fit = _Fit.of(method, prior, meaning, trained_prior, settings)
    columns: dict[str, Any] = {"score_column": score_column, "label_column": label_column, "target": target}
    where: dict[str, Any] = {"engine": engine, "scheduler": scheduler, "workers": workers}
    limits: dict[str, Any] = {"memory_limit": memory_limit, "progress": progress, "resume": resume}
    if method is Isotonic:
        return fit.isotonic(lambda how: evaluate_files(paths, (), **columns, **where, **limits, **how).curve)
    place = Where.of(engine, scheduler, workers)
    budget = budget_of(memory_limit, place.workers, place.processes)
    named = (score_column, label_column, target)
    with over_files(paths, named, partial, place, budget, progress=progress, resume=resume) as (plan, run, _):
        return fit.by_sums(lambda job: run(job | {"plan": plan.name}))


def fit_chunks(
    method: type[Calibrator],
    source: Chunks,
    prior: float = 0.5,
    *,
    target: object = None,
    meaning: str = "raw",
    trained_prior: float | None = None,
    memory_limit: int = 10**9,
    budget: Budget | None = None,
    **settings: Any,
) -> Any:
    """Trains as fit_files does on a source whose chunks() yields pairs (scores, labels), the same at every call."""
    fit = _Fit.of(method, prior, meaning, trained_prior, settings)
    if method is Isotonic:
        limits: dict[str, Any] = {"target": target, "memory_limit": memory_limit, "budget": budget}
        return fit.isotonic(lambda how: evaluate_chunks(source, (), **limits, **how).curve)

    def of(job: dict[str, Any], number: int, scores: Any, marks: Any) -> dict[str, Any]:
        return _KINDS[job["kind"]].of(sorted_classes(scores, marks, job["meaning"]), job, number).to_plain()

    return fit.by_sums(over_chunks(source, target, of))


@dataclass(frozen=True, slots=True)
class _Fit:
    """What is to be trained, judged before anything is read."""

    method: type[Calibrator]
    prior: float
    meaning: str
    trained_prior: float | None
    settings: Mapping[str, Any]

    @classmethod
    def of(
        cls, method: type[Calibrator], prior: object, meaning: str, trained_prior: object, settings: dict[str, Any]
    ) -> _Fit:
        if method not in _SETTINGS:
            name = getattr(method, "__name__", method)
            raise InputError(f"Bounded memory trains Logistic, Isotonic and Gaussian, not {shown(name)}: use its fit.")
        known = _SETTINGS[method]
        if unknown := sorted(set(settings) - set(known)):
            own = ", ".join(known)
            raise InputError(f"{method.__name__} has no setting {shown(unknown[0])} in bounded memory: it has {own}.")
        question = Question.of((), _PLOT, "rocch", meaning, trained_prior, None)
        bound = question.trained_prior if meaning in ("log-odds", "posterior") else None
        asked = known | settings
        if method is Logistic:
            asked["penalty"] = non_negative(asked["penalty"], "penalty")
        return cls(method, probability(prior, "prior"), meaning, bound, asked)

    def facts(self, targets: int, nontargets: int) -> dict[str, Any]:
        return facts_of(targets + nontargets, targets, nontargets, self.meaning, self.trained_prior)

    def isotonic(self, curve_of: Callable[[dict[str, Any]], Curve]) -> Isotonic:
        """The map of the hull of a curve; scores without limits are ranked as raw ones, which need no sums."""
        how = {"meaning": self.meaning if self.meaning in _LIMITED else "raw", "trained_prior": self.trained_prior}
        try:
            curve = curve_of(how)
        except UndefinedError as error:
            why = str(error).partition(": ")[2]  # which class is missing
            raise CalibrationError(f"There is nothing to calibrate: {why}") from None
        return Isotonic.of_hull(curve.hull, self.facts(curve.targets, curve.nontargets), **self.settings)

    def by_sums(self, run: Run) -> Calibrator:
        """The map that passes over all rows lead to."""
        meaning = self.meaning
        summary = _pass(run, Summary, {"kind": "summary", "meaning": meaning, "factor": 1.0})
        check_both(*summary.sizes)
        check_finite(summary.ends, self.method.__name__)
        factor = summary.ends.factor
        if factor != 1.0:
            summary = _pass(run, Summary, {"kind": "summary", "meaning": meaning, "factor": factor}, summary)
        facts, pair = self.facts(*summary.sizes), (summary.targets.moments, summary.nontargets.moments)
        if self.method is Gaussian:
            return Gaussian.of_moments(pair, factor, facts, **self.settings)
        return self._logistic(run, summary, Standard.of(Moments.sum(pair), factor), facts)

    def _logistic(self, run: Run, summary: Summary, standard: Standard, facts: Mapping[str, Any]) -> Logistic:
        ridge: float = self.settings["penalty"]
        if ridge == 0.0:
            check_overlap(summary.ends)

        def terms(point: Floats) -> tuple[float, Floats, Floats]:
            a, b = (float(value) for value in point)
            grid = Grid.of(summary.ends, standard, a, b)
            job = {"kind": "sums", "meaning": self.meaning, "standard": list(standard), "point": [a, b]}
            sums = _pass(run, Sums, job | {"exponents": list(grid.exponents)}, summary)
            targets, nontargets = grid.means(sums.targets, sums.sizes[0]), grid.means(sums.nontargets, sums.sizes[1])
            return combined(targets, nontargets, point, self.prior, ridge)

        best = minimise(terms, _start(summary, standard, self.prior, ridge), still=ONCE_MORE)
        return Logistic.of_optimum(best, standard, self.prior, ridge, facts)


def _pass(run: Run, kind: Any, job: dict[str, Any], before: Summary | None = None) -> Any:
    """One pass over all parts, none missing or doubled, and the same rows as in the pass before."""
    found = None
    for plain in run(job | {"plan": ""}):
        part = kind.of_plain(plain)
        found = part if found is None else found + part
    if found is None:
        raise CalibrationError("There is nothing to calibrate: there are no targets among the trials.")
    check_parts(found.parts, None if before is None else before.parts[-1][1])
    if before is not None and found.sizes != before.sizes:
        raise InputError(CHANGED)
    return found


def _start(summary: Summary, standard: Standard, share: float, ridge: float) -> Floats:
    """The fit on the middles of the leading bits' ranges, where it has an answer; else nothing is presumed."""
    sides = []
    for one in (summary.targets, summary.nontargets):
        shares = one.counted.counts / one.moments.weight
        sides.append(Side(one.counted.middles(one.low, one.high), shares, standard))
    targets, nontargets = (side.scores for side in sides)
    if nontargets[-1] <= targets[0] or targets[-1] <= nontargets[0]:
        return np.zeros(2)
    best = minimise(terms_of((sides[0], sides[1]), share, ridge), np.zeros(2))
    return best.point if best.gradient_norm < GRADIENT_BOUND else np.zeros(2)


__all__ = ["fit_chunks", "fit_files"]
