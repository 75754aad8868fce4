"""Steps: the ranked rows of two classes as one walk up the scores, and running totals along it, in blocks.

A step is a run of targets and then the run of non-targets above it, or a score that rows of both classes have. The
first has no targets. Where each step ends lies a corner of the curve; no threshold is cheaper than all corners.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._typing import Array, Counts, Floats

Places = NDArray[np.intp]

LONGEST = 32  # rows of a run: longer ones are cut, so that tables can hold how often they are drawn
DEPTH = 16  # steps of a block: its totals are exact in two bytes, and their products in a float of four
GROUP = 16  # blocks that are examined together first in the search for a minimum
_FEW = 2048  # steps that need no blocks


class Steps(NamedTuple):
    """How many rows of (non-targets, targets) lie before each step and before the end, and which steps are ties."""

    bounds: tuple[Places, Places]
    tied: Places

    @classmethod
    def of(cls, nontargets: Floats, targets: Floats) -> Steps:
        """The walk up two classes' ascending scores, in whole groups of blocks where steps are many."""
        low, high = np.searchsorted(nontargets, targets), np.searchsorted(nontargets, targets, "right")
        first = np.flatnonzero(np.concatenate(([True], (low[1:] != low[:-1]) | (high[1:] != high[:-1]))))
        low, high, last = low[first], high[first], np.append(first[1:], len(targets))
        tied = high > low
        own = np.cumsum(1 + tied)  # the step in which the non-targets above each run of targets lie
        t = np.concatenate(([0, 0], np.repeat(last, 1 + tied)))
        n = np.concatenate(([0], low[:1], np.empty(own[-1], np.intp)))
        n[own + 1], n[own[tied]] = np.append(low[1:], len(nontargets)), high[tied]
        return cls((n, t), own[tied] - 1)._cut()._filled()

    def _cut(self) -> Steps:
        """Long runs as several steps; ties cannot be cut."""
        whole = np.zeros(len(self.bounds[0]) - 1, np.bool_)
        whole[self.tied] = True
        sizes = [np.diff(bounds) for bounds in self.bounds]
        n, t = (np.where(whole, 1, np.maximum(-(-size // LONGEST), 1)) for size in sizes)
        pieces = n + t - 1
        step = np.repeat(np.arange(len(pieces)), pieces)
        piece = np.arange(len(step)) - np.repeat(np.cumsum(pieces) - pieces, pieces)
        ends = []
        for bounds, size, number in zip(self.bounds, sizes, (piece - t[step] + 2, piece + 1), strict=True):
            rows = np.where(whole[step], size[step], np.clip(number * LONGEST, 0, size[step]))
            ends.append(np.concatenate(([0], bounds[step] + rows)))
        return Steps((ends[0], ends[1]), np.flatnonzero(whole[step]))

    def _filled(self) -> Steps:
        """Empty steps at the end until the blocks are full."""
        count = len(self.bounds[0]) - 1
        more = 0 if count < _FEW else -count % (DEPTH * GROUP)
        n, t = (np.concatenate((bounds, np.repeat(bounds[-1:], more))) for bounds in self.bounds)
        return Steps((n, t), self.tied)


def depth_of(steps: int) -> int:
    """How many of this many steps make a block."""
    return 1 if steps < _FEW else DEPTH


class Totals(NamedTuple):
    """Running totals of one class's weights; step i of block j is step j x depth + i.

    Adding whole rows of [i, j] is many times faster than one step after the other.
    """

    each: Array  # [i, j]: the weight of step i of block j
    inside: Array  # and of the block's steps before it
    before: Counts  # the weight before each block, and the whole

    @classmethod
    def several(cls, each: Array) -> list[Totals]:
        """From the whole weight of each [class, i, j]."""
        inside = np.empty_like(each)
        inside[:, 0] = each[:, 0]
        for row in range(1, each.shape[1]):
            np.add(inside[:, row - 1], each[:, row], out=inside[:, row])
        before = np.zeros((len(each), each.shape[2] + 1), np.int64)
        np.cumsum(inside[:, -1].astype(np.int64), axis=1, out=before[:, 1:])
        return list(map(cls, each, inside, before))

    @classmethod
    def of(cls, each: Array) -> Totals:
        """From the whole weight of each [i, j]."""
        return cls.several(each[None])[0]

    @classmethod
    def between(cls, running: Counts) -> Totals:
        """From the total before each step and before the end."""
        depth = depth_of(len(running) - 1)
        before = running[::depth]
        after = running[1:].reshape(-1, depth) - before[:-1, None]
        steps = running[1:] - running[:-1]
        return cls(steps.astype(np.float64).reshape(-1, depth).T, after.astype(np.float64).T, before)

    @property
    def whole(self) -> int:
        """The weight of everything, as Python's number."""
        whole: int = self.before[-1].item()
        return whole

    def at(self, steps: Counts) -> Counts:
        """The total at the end of each step."""
        block, step = np.divmod(steps, len(self.each))
        return np.asarray(self.before[block] + self.inside[step, block].astype(self.before.dtype))

    def at_one(self, step: int) -> int:
        """The total at the end of one step, as Python's number."""
        block, row = divmod(step, len(self.each))
        before: int = self.before[block].item()
        return before + type(before)(self.inside[row, block])

    def flat(self) -> Counts:
        """0 and the total at the end of every step, one after the other."""
        ends = self.before[:-1] + self.inside.astype(self.before.dtype)
        return np.concatenate((np.zeros(1, ends.dtype), ends.T.ravel()))
