"""From counts in bins to exact results: which bins can contain a vertex of the hull, and the result from their rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
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
from tercet.outofcore.runner import CHANGED, Passes


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
    score rejected, `next` the lowest accepted.
    """

    keys: Integers
    misses: Counts
    rejected: Counts
    rows: Integers
    top: Floats
    next: Floats

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
        )._distinct()

    def _distinct(self) -> Points:
        _, first = np.unique(self.keys, return_index=True)
        return Points(*(frozen(getattr(self, name)[first]) for name in _COLUMNS))

    def __or__(self, other: Points) -> Points:
        """The points of two passes over the same rows."""
        if (self.targets, self.nontargets) != (other.targets, other.nontargets):
            raise InputError(CHANGED)
        both = Points(*(np.concatenate((getattr(self, name), getattr(other, name))) for name in _COLUMNS))._distinct()
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

    def hiding(self) -> NDArray[np.bool_]:
        """The bins that can contain a vertex of the hull.

        All non-targets of a bin below all its targets is the best it can hold: the corner (rejected after it,
        misses before it). If that lies on or above the hull of the points, so does all that is in the bin.
        """
        x, y = self._wide
        hull = convex_vertices(self.rejected, self.misses, self.targets * self.nontargets)
        right, low = x[1:], y[:-1]
        end = np.clip(np.searchsorted(self.rejected[hull], self.rejected[1:]), 1, len(hull) - 1)
        (x0, y0), (x1, y1) = (x[hull[end - 1]], y[hull[end - 1]]), (x[hull[end]], y[hull[end]])
        below = (low - y0) * (x1 - x0) < (y1 - y0) * (right - x0)
        return np.asarray(self.mixed() & below.astype(np.bool_))

    def crossing(self) -> NDArray[np.bool_]:
        """The bin in which the miss rate passes the false-alarm rate, unless it holds one value."""
        x, y = self._wide
        gap = y * self.nontargets - (self.nontargets - x) * self.targets
        crossed = np.zeros(len(x) - 1, np.bool_)
        crossed[max(int(np.searchsorted(gap, 0)) - 1, 0)] = True
        return crossed & (self.next[:-1] < self.top[1:])

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


_COLUMNS = ("keys", "misses", "rejected", "rows", "top", "next")


def two_class_summary(
    passes: Passes, thresholds: Floats, eer: EerDefinition, meaning: str, trained_prior: float | None
) -> tuple[Summary, dict[str, int]]:
    """The summary of all rows by passes over them, and how many passes and how many single rows that took.

    Count in bins; split the bins that can contain a vertex of the hull while they hold too many rows; then read
    their rows. A small number of rows is evaluated in memory.
    """
    budget, asked = passes.budget, np.unique(thresholds) if meaning != "raw" else np.empty(0)
    if passes.rows is not None and passes.rows <= budget.at_once:
        rows = _rows(passes, np.array([math.nan]), np.array([math.inf]), passes.rows)
        return Summary.of(rows.tally(meaning, trained_prior), asked), {"passes": 1, "revisited": 0}
    wanted = budget.edges if passes.rows is None else max(min(budget.edges, passes.rows // 256), 64)
    scores, targets = passes.sample()
    edges = edges_of(scores[targets], scores[~targets], wanted)
    counts = passes.total(BinCounts, edges=edges, thresholds=asked, costs=True)
    if counts is None:
        return Summary.of(Tally.empty(meaning), asked), {"passes": 1, "revisited": 0}
    points, ranges, took = _narrowed(passes, Points.of(counts), eer)
    rows = _rows(passes, ranges.low, ranges.high, ranges.rows) if ranges.rows else RangeRows.sum(())
    tally = resolved(points, ranges, rows, meaning, trained_prior, counts.unit)
    found = Summary(Curve.of(tally), counts.thresholds, counts.missed, counts.rejected, counts.costs)
    return found, {"passes": 1 + took + (ranges.rows > 0), "revisited": ranges.rows}


def _narrowed(passes: Passes, points: Points, eer: EerDefinition) -> tuple[Points, Ranges, int]:
    """The points after as many splits as it takes, the ranges whose rows must be read, and the passes taken."""
    budget, took = passes.budget, 0
    chosen = _must_be_seen(points, eer)
    while (ranges := points.ranges(chosen)).rows > budget.kept:
        edges = points.split(chosen, budget.edges)
        points |= Points.of(passes.total(BinCounts, edges=edges, thresholds=np.empty(0), costs=False))
        chosen, took = _must_be_seen(points, eer), took + 1
    everything = points.ranges(chosen | points.mixed())
    return points, everything if everything.rows <= budget.kept else ranges, took  # the AUC is exact where it can be


def _must_be_seen(points: Points, eer: EerDefinition) -> NDArray[np.bool_]:
    """The bins whose rows must be read."""
    return points.hiding() if eer == "rocch" else points.hiding() | points.crossing()


def _rows(passes: Passes, low: Floats, high: Floats, expected: int) -> RangeRows:
    return passes.total(RangeRows, low=low, high=high, expected=expected) or RangeRows.sum(())


def resolved(
    points: Points, ranges: Ranges, rows: RangeRows, meaning: str, trained_prior: float | None, unit: int = 0
) -> Tally:
    """The tally of all exact points: the rows of the chosen bins as they are, those of every other bin at its top."""
    bins, others = ranges.bins, np.ones(len(points.keys) - 1, np.bool_)
    others[bins] = False
    seen = rows.tally(meaning, trained_prior, unit)
    sides, t, n = [], np.diff(points.misses), np.diff(points.rejected)
    for side, held in ((seen.targets, t), (seen.nontargets, n)):
        if not np.array_equal(weight_of(side, places_upto(side.scores, ranges.high)), np.cumsum(held[bins])):
            raise InputError(CHANGED)
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
    return Tally(sides[0], sides[1], meaning, trained_prior, unit, Gaps(frozen(following), pairs))


def _merged(rows: Ranked, tops: Floats, weights: Counts) -> Ranked:
    """One class: its known rows and, at the top of each other bin, all that the bin holds of it."""
    scores, running = rows.distinct()
    places = sorted_ranks(scores, tops)
    steps = np.diff(running).astype(np.result_type(running, weights), copy=False)
    heavy = np.insert(steps, places, weights)
    return Ranked(frozen(np.insert(scores, places, tops)), frozen(running_total(heavy)))
