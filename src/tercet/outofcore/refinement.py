"""From counts in bins to exact results: which bins can hide a vertex of the hull, and what their rows make of it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import Counts, running_total
from tercet._numeric.validation import frozen
from tercet._typing import Floats
from tercet.errors import InputError
from tercet.metrics.curves import Curve, convex_vertices
from tercet.metrics.summary import Summary
from tercet.metrics.tally import Gaps, Ranked, Tally
from tercet.outofcore.counts import (
    LOWEST_KEY,
    Binned,
    Integers,
    Rows,
    between,
    distinct_edges,
    keys_of,
    scores_of,
)


class Ranges(NamedTuple):
    """Disjoint ascending ranges low < score <= high, and the rows that are known to lie in them."""

    bins: NDArray[np.intp]
    low: Floats
    high: Floats
    rows: int


@dataclass(frozen=True, slots=True, eq=False)
class Points:
    """Exact points of the curve where scores <= a pattern are rejected, ascending; the first rejects nothing.

    Between two neighbours lies a bin. `top` is the highest score rejected, `next` the lowest accepted.
    """

    keys: Integers
    misses: Integers
    rejected: Integers
    top: Floats
    next: Floats

    @classmethod
    def of(cls, state: Binned) -> Points:
        """The points at the edges of a state, both ends included."""
        ends = np.array([math.inf])
        return cls(
            np.concatenate(([LOWEST_KEY], keys_of(np.concatenate((state.edges, ends))))),
            np.concatenate(([0], np.cumsum(state.targets))),
            np.concatenate(([0], np.cumsum(state.nontargets))),
            np.concatenate((-ends, np.maximum.accumulate(state.highest))),
            np.concatenate((np.minimum.accumulate(state.lowest[::-1])[::-1], ends)),
        )._distinct()

    def _distinct(self) -> Points:
        _, first = np.unique(self.keys, return_index=True)
        columns = (self.keys, self.misses, self.rejected, self.top, self.next)
        return Points(*(frozen(column[first]) for column in columns))

    def __or__(self, other: Points) -> Points:
        """The points of two passes over the same rows."""
        if (self.targets, self.nontargets) != (other.targets, other.nontargets):
            raise InputError(CHANGED)
        names = ("keys", "misses", "rejected", "top", "next")
        both = Points(*(np.concatenate((getattr(self, name), getattr(other, name))) for name in names))._distinct()
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
        """The bins that can hide a vertex of the hull.

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
        rows = int((np.diff(self.misses)[bins] + np.diff(self.rejected)[bins]).sum())
        return Ranges(bins, scores_of(self.keys[bins]), scores_of(self.keys[bins + 1]), rows)

    def split(self, chosen: NDArray[np.bool_], count: int) -> Floats:
        """About so many new edges inside chosen bins, shared by their rows, even in the bit pattern."""
        bins = np.flatnonzero(chosen)
        rows = (np.diff(self.misses) + np.diff(self.rejected))[bins]
        low, high = keys_of(self.next[bins]), keys_of(self.top[bins + 1])
        inner = between(low - 1, high, np.maximum(np.ceil(rows * (count / rows.sum())), 2))
        return distinct_edges(low - 1, low, high - 1, inner)


CHANGED = "The trials changed while they were read: two passes counted different rows. Evaluate again."


def resolved(points: Points, ranges: Ranges, rows: Rows, meaning: str, trained_prior: float | None) -> Tally:
    """The tally of all exact points: the rows of the chosen bins as they are, those of every other bin at its top."""
    bins, others = ranges.bins, np.ones(len(points.keys) - 1, np.bool_)
    others[bins] = False
    sides, t, n = [], np.diff(points.misses), np.diff(points.rejected)
    for scores, held in ((rows.targets, t), (rows.nontargets, n)):
        ranked = np.sort(scores)
        if not np.array_equal(np.searchsorted(ranked, ranges.high, "right"), np.cumsum(held[bins])):
            raise InputError(CHANGED)
        sides.append(_merged(Ranked(ranked), points.top[1:][others & (held > 0)], held[others & (held > 0)]))
    hidden = others & (t + n > 0)
    kept = np.union1d(sides[0].scores, sides[1].scores)
    following = np.append(kept, math.inf)
    following[np.searchsorted(kept, points.top[1:][hidden])] = points.next[:-1][hidden]
    x, y = points._wide
    pairs = int((np.diff(y) * np.diff(x))[others & points.mixed()].sum())
    return Tally(sides[0], sides[1], meaning, trained_prior, 0, Gaps(frozen(following), pairs))


def _merged(rows: Ranked, tops: Floats, weights: Counts) -> Ranked:
    """One class: its known rows and, at the top of each other bin, all that the bin holds of it."""
    scores, running = rows.distinct()
    every, heavy = np.concatenate((scores, tops)), np.concatenate((np.diff(running), weights))
    order = np.argsort(every, kind="stable")  # two ascending runs: merged, not sorted
    return Ranked(frozen(every[order]), frozen(running_total(heavy[order])))


def summarised(state: Binned, tally: Tally) -> Summary:
    """The summary of a state, with the tally of its exact points."""
    curve = Curve.of(tally)
    (t, f), (t_inf, f_inf) = state.sums, state.certain
    return Summary(curve, state.thresholds, state.missed, state.rejected, ((t, t_inf), (f, f_inf)))
