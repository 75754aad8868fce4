"""Corners of a curve: areas, minima, equal errors and hulls from the running totals of two classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from tercet._typing import Array, Counts, Floats
from tercet.metrics.costs import softplus
from tercet.metrics.curves import convex_vertices
from tercet.uncertainty._kernel.score_steps import GROUP, Places, Totals

_SLACK = 1.0 + 1e-12  # bounds and costs are rounded


class Corners(NamedTuple):
    """At the end of each step n.at(step) non-targets and t.at(step) targets are rejected."""

    n: Totals
    t: Totals

    def errors(self, steps: Counts) -> tuple[Counts, Counts]:
        """Misses and false alarms at these corners."""
        return self.t.at(steps), self.n.whole - self.n.at(steps)

    def rates(self, steps: Places) -> list[Floats]:
        """FNR and FPR at these corners."""
        misses, alarms = self.errors(steps)
        return [misses / self.t.whole, alarms / self.n.whole]

    def auc(self, tied: Places) -> float:
        """Mann-Whitney: pairs in which the target is higher, tied ones half, over all pairs."""
        n, t = self.n, self.t
        pairs = float(t.whole) * float(n.whole)
        each, inside = (own.astype(np.promote_types(own.dtype, np.float32), copy=False) for own in (n.each, t.inside))
        lost = np.einsum("ij,ij->j", each, inside).sum(dtype=np.float64)
        lost += (t.before[:-1] * n.inside[-1].astype(np.float64)).sum()
        if len(tied):
            block, step = np.divmod(tied, len(n.each))
            lost -= 0.5 * (each[step, block] * t.each[step, block]).sum(dtype=np.float64)
        return float((pairs - lost) / pairs)

    def eer(self, known: Sequence[int]) -> float:
        """The equal error rate on the hull; `known` corners of the hull make it faster to find."""
        left, right = self._crossing(known)
        if left.step == right.step:
            return float(left.misses / self.t.whole)
        mixed = left.misses * right.gap - right.misses * left.gap
        return float(mixed / ((right.gap - left.gap) * self.t.whole))

    def level(self) -> float:
        """The p at which p FNR + (1 - p) FPR is the same all along the hull's edge through FNR = FPR."""
        left, right = self._crossing([])
        return self._level(left, right) if left.step < right.step else 0.5

    def _crossing(self, known: Sequence[int]) -> tuple[_Corner, _Corner]:
        """The corners of the hull on either side of FNR = FPR, or twice the one that lies on it.

        While a third corner lies below the line through two, it takes the place of one.
        """
        targets, nontargets = self.t.whole, self.n.whole
        left = _Corner(0, 0, nontargets, -targets * nontargets)
        right = _Corner(self.t.each.size - 1, targets, 0, targets * nontargets)
        for step in known:
            if left.step < step < right.step:
                left, right = self._corner(step).beside(left, right)
        first, last = left.step // len(self.t.each), right.step // len(self.t.each) + 1
        within = [side.before[first:last] * 1.0 + side.inside[:, first:last] for side in (self.t, self.n)]
        while left.step < right.step:
            one = self._below(left, right, first, within)
            if not one.is_below(left, right):
                break
            left, right = one.beside(left, right)
        return left, right

    def _corner(self, step: int) -> _Corner:
        targets, nontargets = self.t.whole, self.n.whole
        misses, alarms = self.t.at_one(step), nontargets - self.n.at_one(step)
        return _Corner(step, misses, alarms, misses * nontargets - alarms * targets)

    def _level(self, left: _Corner, right: _Corner) -> float:
        """The p at which p FNR + (1 - p) FPR is the same at two corners."""
        wide, high = (left.alarms - right.alarms) / self.n.whole, (right.misses - left.misses) / self.t.whole
        return float(wide / (wide + high))

    def _below(self, left: _Corner, right: _Corner, origin: int, within: list[Floats]) -> _Corner:
        """The corner farthest below the line through two; `within` holds both totals from the block `origin` on."""
        depth, share = len(self.t.each), self._level(left, right)
        first, last = left.step // depth, right.step // depth + 1
        misses, rejected = (totals[:, first - origin : last - origin] for totals in within)
        costs = share / self.t.whole * misses
        costs -= (1.0 - share) / self.n.whole * rejected
        step, block = divmod(int(costs.argmin()), last - first)
        return self._corner((first + block) * depth + step)

    def hull(self) -> tuple[Counts, Counts]:
        """Misses and rejected non-targets at the vertices of the convex hull."""
        misses, rejected = self.t.flat(), self.n.flat()
        kept = convex_vertices(rejected, misses, int(self.t.whole) * int(self.n.whole))
        return misses[kept], rejected[kept]

    def min_cllr(self) -> float:
        """Cllr after isotonic recalibration."""
        misses, rejected = self.hull()
        t, n = np.diff(misses) / self.t.whole, np.diff(rejected) / self.n.whole
        mixed = (t > 0.0) & (n > 0.0)
        llr = np.log(t[mixed] / n[mixed])
        return float((t[mixed] * softplus(-llr) + n[mixed] * softplus(llr)).sum()) / (2.0 * math.log(2.0))

    def miss_rates(self, fpr: Floats) -> Floats:
        """The lowest miss rate whose false-alarm rate is at most each bound."""
        needed = self.n.whole - fpr * (1.0 + 1e-12) * self.n.whole
        return np.asarray(self.t.flat()[np.searchsorted(self.n.flat(), needed)] / self.t.whole, np.float64)


def lowest(curves: Sequence[Corners], miss: Floats, alarm: Floats) -> Places:
    """For each curve's pairs of factors the first corner where miss x misses + alarm x false alarms is least.

    Between two corners a cost is at least miss x (misses at the lower) + alarm x (false alarms at the upper). Only
    where that is not above the best cost known can the minimum lie: groups of blocks are examined first, then the
    blocks of those that are left, then the steps of the blocks that are left.
    """
    misses = np.array([curve.t.before for curve in curves], np.float64)
    alarms = np.array([curve.n.whole - curve.n.before for curve in curves], np.float64)
    shape, depth = miss.shape, len(curves[0].t.each)
    if depth == 1 or miss.size == 0:
        costs = miss[..., None] * misses[:, None, 1:] + alarm[..., None] * alarms[:, None, 1:]
        return np.asarray(costs.argmin(axis=2))
    ends = misses[:, None, ::GROUP].copy(), alarms[:, None, ::GROUP].copy()  # read once for each pair of factors
    upfront, behind = miss[..., None] * ends[0], alarm[..., None] * ends[1]
    best = (upfront + behind).min(axis=2, keepdims=True) * _SLACK
    possible = upfront[..., :-1] + behind[..., 1:] <= best
    factor, group = _nonzero(possible.reshape(miss.size, -1))
    miss, alarm, first = miss.ravel(), alarm.ravel(), factor // shape[1] * misses.shape[1]
    places = np.arange(GROUP + 1)[:, None] + (GROUP * group + first)
    upfront, behind = miss[factor] * misses.take(places), alarm[factor] * alarms.take(places)
    best = _least((upfront + behind).min(axis=0), factor) * _SLACK
    inner, place = _nonzero(upfront[:-1] + behind[1:] <= best)
    order = np.argsort(place, kind="stable")
    inner, place = inner[order], place[order]
    factor, at, block = factor[place], places[inner, place], places[inner, place] - first[place]
    curve = factor // shape[1]
    costs = miss[factor] * (misses.take(at) + _taken([one.t for one in curves], curve, block))
    costs += alarm[factor] * (alarms.take(at) - _taken([one.n for one in curves], curve, block))
    least = costs.min(axis=0)
    chosen = np.flatnonzero(least == _least(least, factor))
    chosen = chosen[np.searchsorted(factor[chosen], np.arange(len(miss)))]
    return np.asarray(block[chosen] * depth + costs[:, chosen].argmin(axis=0)).reshape(shape)


def _nonzero(table: Array) -> tuple[Places, Places]:
    """Rows and columns, which numpy finds many times faster in a flat table."""
    row, column = np.divmod(np.flatnonzero(table), table.shape[1])
    return row, column


def _taken(totals: Sequence[Totals], numbers: Places, blocks: Places) -> Array:
    """[i, j]: the totals inside these blocks of the totals with these numbers, in ascending order."""
    ends = np.searchsorted(numbers, np.arange(len(totals) + 1)).tolist()
    parts = zip(totals, pairwise(ends), strict=True)
    return np.concatenate([own.inside.take(blocks[start:end], axis=1) for own, (start, end) in parts], axis=1)


def _least(values: Floats, kinds: Places) -> Floats:
    """For each value the least of its kind; kinds are 0, 1, ... in ascending order, none left out."""
    starts = np.searchsorted(kinds, np.arange(kinds[-1] + 1))
    return np.asarray(np.minimum.reduceat(values, starts)[kinds])


class _Corner(NamedTuple):
    step: int
    misses: int
    alarms: int
    gap: int  # (FNR - FPR) x targets x non-targets

    def beside(self, left: _Corner, right: _Corner) -> tuple[_Corner, _Corner]:
        """The corners on either side of FNR = FPR when this one takes the place of one of two."""
        if self.gap == 0:
            return self, self
        return (self, right) if self.gap < 0 else (left, self)

    def is_below(self, left: _Corner, right: _Corner) -> bool:
        """Whether this corner lies strictly below the line through two others."""
        first = (left.alarms - right.alarms) * (self.misses - left.misses)
        second = (right.misses - left.misses) * (left.alarms - self.alarms)
        close = 1e-12 * (abs(first) + abs(second)) if isinstance(first, float) or isinstance(second, float) else 0
        return bool(first < second - close)
