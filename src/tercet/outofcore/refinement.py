"""From counts in bins to exact results: which bins can contain a vertex of the hull, and the result from their rows."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import running_total
from tercet._numeric.order import sorted_ranks
from tercet._numeric.validation import frozen
from tercet._typing import Counts, EerDefinition, Floats
from tercet.errors import InputError
from tercet.metrics.curves import Curve, convex_vertices
from tercet.metrics.summary import Summary
from tercet.metrics.tally import Gaps, Ranked, Tally
from tercet.outofcore.bins import (
    LOWEST_KEY,
    BinCounts,
    Integers,
    RangeRows,
    between,
    distinct_edges,
    edges_of,
    keys_of,
    places_upto,
    scores_of,
    weight_of,
)
from tercet.outofcore.cells import CellCounts, CellRows, Cells
from tercet.outofcore.runner import CHANGED, Passes

Needed = Callable[["Points"], NDArray[np.bool_]]  # the bins whose rows must be read
_FEW_ROWS = 1 << 20  # rows that are kept one by one without looking for points among them
_MORE_POINTS = 1 << 18  # that are looked for at a time


class Ranges(NamedTuple):
    """Disjoint ascending ranges low < score <= high, and the rows that are known to lie in them."""

    bins: NDArray[np.intp]
    low: Floats
    high: Floats
    rows: int


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Exact points of the curve where scores <= a pattern are rejected, ascending; the first rejects nothing.

    Between two neighbours lies a bin. `rows` counts the scores rejected, whatever they weigh; `top` is the highest
    score rejected, `next` the lowest accepted. Where that is not known, they are the highest double that could be
    rejected and the lowest that could be accepted.
    """

    keys: Integers
    misses: Counts
    rejected: Counts
    rows: Integers
    top: Floats
    next: Floats
    known: NDArray[np.bool_]

    @classmethod
    def of(cls, counts: BinCounts) -> Points:
        """The points at the edges of some bins, both ends included."""
        ends = np.array([math.inf])
        return cls(
            np.concatenate(([LOWEST_KEY], keys_of(np.concatenate((counts.edges, ends))))),
            running_total(counts.targets),
            running_total(counts.nontargets),
            running_total(counts.rows),
            np.concatenate((-ends, np.maximum.accumulate(counts.highest))),
            np.concatenate((np.minimum.accumulate(counts.lowest[::-1])[::-1], ends)),
            np.ones(len(counts.rows) + 1, np.bool_),
        )._distinct()

    @classmethod
    def of_cells(cls, counts: CellCounts) -> Points:
        """The points at the ends of cells, whose rows were counted only."""
        edges, counted = Cells(*counts.cells).edges(), counts.targets + counts.nontargets
        held = np.flatnonzero(counted)  # ends without rows between them are one point
        least, most = np.append(-math.inf, np.nextafter(edges, math.inf)), np.append(edges, math.inf)
        misses, rejected, rows = (
            frozen(running_total(column[held])) for column in (counts.targets, counts.nontargets, counted)
        )
        top, following = np.append(-math.inf, most[held]), np.append(least[held], math.inf)
        keys, known = np.append(LOWEST_KEY, keys_of(most[held])), np.zeros(len(held) + 1, np.bool_)
        return cls(keys, misses, rejected, rows, top, following, known)

    def _distinct(self) -> Points:
        _, first = np.unique(self.keys, return_index=True)
        return self._at(first)

    def _at(self, places: NDArray[np.intp]) -> Points:
        return Points(*(frozen(getattr(self, name)[places]) for name in _COLUMNS))

    def __or__(self, other: Points) -> Points:
        """The points of two passes over the same rows."""
        if (self.targets, self.nontargets) != (other.targets, other.nontargets):
            raise InputError(CHANGED)
        both = Points(*(np.concatenate((getattr(other, name), getattr(self, name))) for name in _COLUMNS))._distinct()
        if np.any(np.diff(both.misses) < 0) or np.any(np.diff(both.rejected) < 0):
            raise InputError(CHANGED)
        return both

    @property
    def targets(self) -> int:
        """All targets."""
        return int(self.misses[-1])

    @property
    def nontargets(self) -> int:
        """All non-targets."""
        return int(self.rejected[-1])

    @property
    def _wide(self) -> tuple[Counts, Counts]:
        """(rejected, misses), as Python's integers where a product could leave 64 bits."""
        if 2 * self.targets * self.nontargets < 2**62:
            return self.rejected, self.misses
        return self.rejected.astype(object), self.misses.astype(object)

    def mixed(self) -> NDArray[np.bool_]:
        """The bins with scores of both classes and more than one value."""
        both = (np.diff(self.misses) > 0) & (np.diff(self.rejected) > 0)
        return np.asarray(both & (self.next[:-1] < self.top[1:]))

    def must_be_seen(self, eer: EerDefinition, thresholds: Floats) -> NDArray[np.bool_]:
        """The bins whose rows must be read, for the hull, for an EER of this definition and for some thresholds."""
        hull = convex_vertices(self.rejected, self.misses, self.targets * self.nontargets)
        chosen = self._hiding(hull) | self._below(hull) | self._around(thresholds)
        place = self._before_crossing()
        chosen |= self._below(np.array([place]))  # so that every EER that the result can give has a score as threshold
        if eer != "rocch":
            chosen[place] |= self.next[place] < self.top[place + 1]
        return chosen

    def _hiding(self, hull: NDArray[np.intp]) -> NDArray[np.bool_]:
        """The bins that can contain a vertex of the hull, given that of the points.

        All non-targets of a bin below all its targets is the best it can hold: the corner (rejected after it,
        misses before it). If that lies on or above the hull of the points, so does all that is in the bin.
        """
        x, y = self._wide
        right, low = x[1:], y[:-1]
        end = np.clip(np.searchsorted(self.rejected[hull], self.rejected[1:]), 1, len(hull) - 1)
        (x0, y0), (x1, y1) = (x[hull[end - 1]], y[hull[end - 1]]), (x[hull[end]], y[hull[end]])
        below = (low - y0) * (x1 - x0) < (y1 - y0) * (right - x0)
        return np.asarray(self.mixed() & below.astype(np.bool_))

    def _below(self, places: NDArray[np.intp]) -> NDArray[np.bool_]:
        """The bins that end at these points, if their highest score is not known."""
        chosen = np.zeros(len(self.keys) - 1, np.bool_)
        chosen[places[places > 0] - 1] = True
        return chosen & ~self.known[1:] & (self.next[:-1] < self.top[1:])

    def _around(self, thresholds: Floats) -> NDArray[np.bool_]:
        """The bins with scores on both sides of a threshold."""
        chosen = np.zeros(len(self.keys) - 1, np.bool_)
        bins = self.keys.searchsorted(keys_of(thresholds + 0.0)) - 1
        inside = bins < len(chosen)
        bins, thresholds = bins[inside], thresholds[inside]
        chosen[bins[(self.next[bins] <= thresholds) & (thresholds < self.top[bins + 1])]] = True
        return chosen

    def _before_crossing(self) -> int:
        """The last point at which the miss rate is below the false-alarm rate."""
        x, y = self._wide
        gap = y * self.nontargets - (self.nontargets - x) * self.targets
        return max(int(np.searchsorted(gap, 0)) - 1, 0)

    def refined(self, ranges: Ranges, seen: Tally, edges: Floats) -> Points:
        """These points and those at more edges inside some bins whose rows are known."""
        chosen = self.chosen(ranges)
        keys = np.sort(np.append(self.keys, keys_of(edges)), kind="stable")  # merges them
        keys = keys[np.append(True, keys[1:] != keys[:-1])]
        sides, after = (seen.targets, seen.nontargets), self.keys.searchsorted(keys, "right") - 1
        upto = [np.append(0, places_upto(side.scores, scores_of(keys[1:]))) for side in sides]
        weights = [weight_of(side, places) for side, places in zip(sides, upto, strict=True)]
        misses, rejected, rows = (
            frozen(running_total(np.where(chosen, 0, np.diff(column)))[after] + held)
            for column, held in zip((self.misses, self.rejected, self.rows), (*weights, sum(upto)), strict=True)
        )
        highest = np.max([_score_at(side, places - 1, -math.inf) for side, places in zip(sides, upto, strict=True)], 0)
        lowest = np.min([_score_at(side, places, math.inf) for side, places in zip(sides, upto, strict=True)], 0)
        # What other bins reject and accept: those below a point, and those from it on or, if it lies in a bin whose
        # rows are known, from the end of that bin on.
        tops = np.where(np.append(True, chosen), -math.inf, self.top)[after]
        nexts = np.where(np.append(chosen, False), math.inf, self.next)[after + np.append(chosen, False)[after]]
        return Points(
            keys, misses, rejected, rows, frozen(np.maximum(highest, tops)), frozen(np.minimum(lowest, nexts)),
            frozen((highest > tops) | self.known[after]),
        )  # fmt: skip

    def chosen(self, ranges: Ranges) -> NDArray[np.bool_]:
        """Which bins some ranges are."""
        found = np.zeros(len(self.keys) - 1, np.bool_)
        found[ranges.bins] = True
        return found

    def ranges(self, chosen: NDArray[np.bool_]) -> Ranges:
        """The ranges of chosen bins."""
        bins = np.flatnonzero(chosen)
        rows = int(np.diff(self.rows)[bins].sum())
        return Ranges(bins, scores_of(self.keys[bins]), scores_of(self.keys[bins + 1]), rows)

    def split(self, chosen: NDArray[np.bool_], count: int) -> Floats:
        """About this many new edges inside chosen bins, shared by their rows, even in the bit pattern."""
        bins = np.flatnonzero(chosen)
        rows = np.diff(self.rows)[bins]
        low, high = keys_of(self.next[bins]), keys_of(self.top[bins + 1])
        inner = between(low - 1, high, np.maximum(np.ceil(rows * (count / rows.sum())), 2))
        return distinct_edges(low - 1, low, high - 1, inner)


def _score_at(side: Ranked, places: NDArray[np.intp], beyond: float) -> Floats:
    """The scores at some places, and another number where there is none."""
    if len(side.scores) == 0:
        return np.full(len(places), beyond)
    found = side.scores.take(places, mode="clip")
    return np.where((places >= 0) & (places < len(side.scores)), found, beyond)


_COLUMNS = ("keys", "misses", "rejected", "rows", "top", "next", "known")


def two_class_summary(
    passes: Passes, thresholds: Floats, eer: EerDefinition, meaning: str, trained_prior: float | None
) -> tuple[Summary, dict[str, int]]:
    """The summary of all rows by passes over them, and how many passes and how many single rows that took.

    Count in bins; split the bins that can contain a vertex of the hull while they hold too many rows; then read
    their rows. A small number of rows is evaluated in memory.
    """
    budget, asked = passes.budget, np.unique(thresholds) if meaning != "raw" else np.empty(0)
    if passes.rows is not None and passes.rows <= budget.at_once:
        every = Ranges(np.zeros(1, np.intp), np.array([math.nan]), np.array([math.inf]), passes.rows)
        rows = _rows(passes, every, None)
        return Summary.of(rows.tally(meaning, trained_prior), asked), {"passes": 1, "revisited": 0}
    wanted = budget.edges if passes.rows is None else max(min(budget.edges, passes.rows // 256), 64)
    scores, targets = passes.sample()
    sides, raw = (scores[targets], scores[~targets]), meaning == "raw"
    cells = Cells.of(*sides, wanted) if passes.plain and meaning in ("llr", "raw") else None
    counts: CellCounts | BinCounts | None
    if cells is None:
        counts = passes.total(BinCounts, edges=edges_of(*sides, wanted), thresholds=asked, costs=True)
    else:
        counts = passes.total(CellCounts, cells=list(cells), costs=not raw)
    if counts is None:
        return Summary.of(Tally.empty(), asked), {"passes": 1, "revisited": 0}
    tally, took = _refined(passes, counts, eer, asked, meaning, trained_prior)
    if isinstance(counts, BinCounts):
        missed, rejected = counts.missed, counts.rejected
    else:
        missed, rejected = tally.targets.upto(asked), tally.nontargets.upto(asked)
    return Summary(Curve.of(tally), frozen(asked), missed, rejected, counts.costs), took


def _refined(
    passes: Passes,
    counts: CellCounts | BinCounts,
    eer: EerDefinition,
    asked: Floats,
    meaning: str,
    trained_prior: float | None,
) -> tuple[Tally, dict[str, int]]:
    """The tally of all points that are known after counting and further passes, and what those took."""
    counted = isinstance(counts, BinCounts)  # then errors at thresholds are known already
    needed = partial(Points.must_be_seen, eer=eer, thresholds=np.empty(0) if counted else asked)
    if isinstance(counts, BinCounts):
        points, unit, cells = Points.of(counts), counts.unit, None
    else:
        points, unit, cells = Points.of_cells(counts), 0, Cells(*counts.cells)
    points, ranges, took = _narrowed(passes, points, needed)
    cells = cells if took == 0 else None
    rows = _rows(passes, ranges, cells) if ranges.rows else RangeRows.sum(())
    seen, facts = rows.tally(meaning, trained_prior, unit), {"passes": 1 + took + (ranges.rows > 0)}
    facts["revisited"] = ranges.rows
    if (points.mixed() & ~points.chosen(ranges)).any():  # else the AUC is exact
        points, ranges, seen = _reduced(points, ranges, seen, needed, min(_MORE_POINTS, passes.budget.edges))
    return resolved(points, ranges, seen), facts


def _reduced(points: Points, ranges: Ranges, seen: Tally, needed: Needed, count: int) -> tuple[Points, Ranges, Tally]:
    """More points, found among rows that were read, and fewer of these rows: long columns take longer than a search."""
    while len(seen) > _FEW_ROWS:
        _check_rows(points, ranges, seen)
        finer = points.refined(ranges, seen, points.split(points.chosen(ranges), count))
        fewer = finer.ranges(needed(finer))
        if fewer.rows > ranges.rows // 2:
            break
        kept = RangeRows.of_tally(seen, fewer.low, fewer.high)
        points, ranges, seen = finer, fewer, kept.tally(seen.meaning, seen.trained_prior, seen.unit)
    return points, ranges, seen


def _narrowed(passes: Passes, points: Points, needed: Needed) -> tuple[Points, Ranges, int]:
    """The points after as many splits as it takes, the ranges whose rows must be read, and the passes taken."""
    budget, took = passes.budget, 0
    chosen = needed(points)
    while (ranges := points.ranges(chosen)).rows > budget.kept:
        edges = points.split(chosen, budget.edges)
        points |= Points.of(passes.total(BinCounts, edges=edges, thresholds=np.empty(0), costs=False))
        chosen, took = needed(points), took + 1
    everything = points.ranges(chosen | points.mixed())
    return points, everything if everything.rows <= budget.kept else ranges, took  # the AUC is exact where it can be


def _rows(passes: Passes, ranges: Ranges, cells: Cells | None) -> RangeRows:
    """The rows in some ranges; where these are cells, they are found without sorting."""
    if cells is None:
        found = passes.total(RangeRows, low=ranges.low, high=ranges.high, expected=ranges.rows)
    else:
        chosen = np.zeros(cells.size + 1, np.bool_)
        chosen[cells.numbers(ranges.high)] = True
        found = passes.total(CellRows, cells=list(cells), chosen=chosen, expected=ranges.rows)
    return found or RangeRows.sum(())


def _check_rows(points: Points, ranges: Ranges, seen: Tally) -> None:
    """Refuses rows that are not those that were counted."""
    for side, column in ((seen.targets, points.misses), (seen.nontargets, points.rejected)):
        counted = np.cumsum(np.diff(column)[ranges.bins])
        if not np.array_equal(weight_of(side, places_upto(side.scores, ranges.high)), counted):
            raise InputError(CHANGED)


def resolved(points: Points, ranges: Ranges, seen: Tally) -> Tally:
    """The tally of all exact points: the rows of the chosen bins as they are, those of every other bin at its top."""
    _check_rows(points, ranges, seen)
    others = ~points.chosen(ranges)
    sides, t, n = [], np.diff(points.misses), np.diff(points.rejected)
    for side, held in ((seen.targets, t), (seen.nontargets, n)):
        rest = others & (held > 0)
        sides.append(_merged(side, points.top[1:][rest], held[rest]))
    hidden = others & (np.diff(points.rows) > 0)
    few, many = sorted((side.scores for side in sides), key=len)
    kept = np.insert(many, sorted_ranks(many, few), few)
    kept = kept[np.append(True, kept[1:] != kept[:-1])[: len(kept)]]
    following = np.append(kept, math.inf)
    following[sorted_ranks(kept, points.top[1:][hidden])] = points.next[:-1][hidden]
    x, y = points._wide
    pairs = int((np.diff(y) * np.diff(x))[others & points.mixed()].sum())
    return replace(seen, targets=sides[0], nontargets=sides[1], gaps=Gaps(frozen(following), pairs))


def _merged(rows: Ranked, tops: Floats, weights: Counts) -> Ranked:
    """One class: its known rows and, at the top of each other bin, all that the bin holds of it."""
    scores, running = rows.distinct()
    places = sorted_ranks(scores, tops)
    steps = np.diff(running).astype(np.result_type(running, weights), copy=False)
    heavy = np.insert(steps, places, weights)
    return Ranked(frozen(np.insert(scores, places, tops)), frozen(running_total(heavy)))
