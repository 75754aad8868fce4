"""BinCounts: the counts of a part of very many two-class trials, in bounded memory; adds exactly with +.

Scores are counted per class in bins whose edges are bit patterns of doubles. A count at an edge is exact, so
every bin is a segment between two exact points of the curve, however many rows it holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import running_total, shifted
from tercet._numeric.order import sorted_ranks
from tercet._numeric.sorting import in_order
from tercet._numeric.validation import frozen
from tercet._typing import JSON, Array, Counts, Floats
from tercet.errors import InputError
from tercet.metrics.costs import softplus_sum
from tercet.metrics.tally import Ranked, Tally
from tercet.outofcore.plain_data import PlainState

if TYPE_CHECKING:
    from tercet.outofcore.runner import Part

Integers = NDArray[np.int64]
Costs = tuple[tuple[int, int], tuple[int, int]]

LOWEST_KEY = -(1 << 63)  # below the key of every score; as a double it is a NaN
_CELLS = 4096  # cells of a sample, to find where the classes lie
_EVEN = 0.25  # the share of edges spread evenly over the rows; the others follow the overlap of the classes


def keys_of(scores: Floats) -> Integers:
    """The order-preserving pattern: doubles compare as these integers do (-0.0 must be 0.0 already).

    >>> keys_of(np.array([-2.0, -1.0, 0.0, 1.0])).argsort().tolist()
    [0, 1, 2, 3]
    """
    bits = np.ascontiguousarray(scores, np.float64).view(np.int64)
    return bits ^ ((bits >> 63) & np.int64(0x7FFFFFFFFFFFFFFF))


def scores_of(keys: Integers) -> Floats:
    """The doubles of order-preserving patterns."""
    return (keys ^ ((keys >> 63) & np.int64(0x7FFFFFFFFFFFFFFF))).view(np.float64)


def edges_of(targets: Floats, nontargets: Floats, count: int) -> Floats:
    """Edges chosen from a sample: fine where the classes overlap, with a bin of its own for a score that piles up.

    A cell between two quantiles of the sample gets edges in proportion to sqrt(targets x non-targets) in it,
    because a vertex of the hull hides in a bin by the product of both; a quarter of all goes by rows alone.
    """
    sides = [np.sort(np.asarray(side, np.float64)) for side in (targets, nontargets)]
    pooled = np.sort(np.concatenate(sides))
    if len(pooled) == 0 or count < 2:
        return frozen(np.empty(0))
    cells = min(_CELLS, count, max(len(pooled) // 64, 1))
    quantiles = pooled[np.linspace(0, len(pooled) - 1, cells + 1).astype(np.intp)]
    piles = quantiles[1:][quantiles[1:] == quantiles[:-1]]
    borders = np.unique(np.concatenate((keys_of(quantiles), keys_of(piles) - 1)))
    borders = borders[~np.isnan(scores_of(borders))]
    inside = [np.diff(np.searchsorted(side, scores_of(borders), "right")) + 0.5 for side in sides]
    overlap = np.sqrt(inside[0] * inside[1])
    rows = inside[0] + inside[1]
    share = (1.0 - _EVEN) * overlap / overlap.sum() + _EVEN * rows / rows.sum() if len(rows) else rows
    return distinct_edges(borders, between(borders[:-1], borders[1:], np.rint(count * share)))


def distinct_edges(*keys: Integers) -> Floats:
    """The edges of some patterns, ascending, each once; the pattern below -inf is none."""
    pooled = np.sort(np.concatenate(keys))  # a tenth of the time of np.unique, which hashes
    edges = scores_of(pooled[np.diff(pooled, prepend=LOWEST_KEY) != 0])
    return frozen(edges[~np.isnan(edges)])


def between(low: Integers, high: Integers, pieces: Array) -> Integers:
    """Patterns that cut every range low..high into this many even pieces (fewer where it is too narrow)."""
    first = low.astype(np.uint64)
    span = high.astype(np.uint64) - first  # modulo 2**64: right even where the difference leaves int64
    steps = np.maximum(span // np.maximum(pieces, 1).astype(np.uint64), np.uint64(1))
    inner = (span - np.minimum(span, np.uint64(1))) // steps
    which = np.repeat(np.arange(len(low)), inner.astype(np.intp))
    place = np.arange(1, len(which) + 1) - np.concatenate(([0], np.cumsum(inner.astype(np.intp))))[which]
    return np.asarray(first[which] + steps[which] * place.astype(np.uint64), np.uint64).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False)
class BinCounts(PlainState):
    """Exact counts per class and bin, exact counts at llr thresholds, and the exact sums that Cllr needs.

    Bin k holds the scores with edges[k-1] < score <= edges[k]; the last one all above. Counts are weights in units
    of 2**unit.

    >>> from tercet import Trials
    >>> one = BinCounts.of_tally(Tally.of(Trials.of_llr([2.0, -1.0], [1, 0])), np.array([0.0]))
    >>> two = one + BinCounts.of_tally(Tally.of(Trials.of_llr([0.5], [0])), np.array([0.0]))
    >>> two.targets.tolist(), two.nontargets.tolist()
    ([0, 1], [1, 1])
    """

    edges: Floats
    targets: Counts
    nontargets: Counts
    rows: Integers  # scores in each bin, whatever they weigh
    lowest: Floats  # of each bin, inf where it is empty
    highest: Floats  # of each bin, -inf where it is empty
    thresholds: Floats  # of llrs, ascending
    missed: Counts  # targets with llr <= threshold
    rejected: Counts  # non-targets with llr <= threshold
    costs: Costs  # of ln(1 + e^-llr) over targets and ln(1 + e^llr) over non-targets, as softplus_sum gives them
    unit: int

    @classmethod
    def of_part(cls, part: Part, job: JSON) -> BinCounts:
        """The counts of one part of a scan."""
        return cls.of_tally(part.tally(), job["edges"], job["thresholds"], costs=job["costs"])

    @classmethod
    def of_tally(
        cls, tally: Tally, edges: Floats, thresholds: Floats | Sequence[float] = (), *, costs: bool = True
    ) -> BinCounts:
        """Counts the scores of a tally; edges and llr thresholds ascend."""
        sides, asked = (tally.targets, tally.nontargets), frozen(np.array(thresholds, np.float64))
        upto = [places_upto(side.scores, edges) for side in sides]
        starts, ends = [np.append(0, one) for one in upto], [
            np.append(one, len(side.scores)) for one, side in zip(upto, sides, strict=True)
        ]  # fmt: skip
        counts = [frozen(np.diff(weight_of(side, np.append(0, end)))) for side, end in zip(sides, ends, strict=True)]
        rows = frozen(ends[0] - starts[0] + ends[1] - starts[1])
        lowest, highest = _extremes(sides, starts, ends)
        llrs = sides
        if tally.meaning not in ("llr", "raw") and (costs or len(asked)):
            llr = tally.as_llr()
            llrs = (llr.targets, llr.nontargets)
        below = [frozen(weight_of(side, places_upto(side.scores, asked))) for side in llrs]
        known = costs and tally.meaning != "raw"
        sums = (softplus_sum(llrs[0], -1.0), softplus_sum(llrs[1], 1.0)) if known else ((0, 0), (0, 0))
        edges = frozen(np.array(edges, np.float64))
        return cls(
            edges, counts[0], counts[1], rows, lowest, highest, asked, below[0], below[1], sums, tally.unit
        )  # fmt: skip

    def __add__(self, other: BinCounts) -> BinCounts:
        for what in ("edges", "thresholds"):
            if not np.array_equal(getattr(self, what), getattr(other, what)):
                raise InputError(f"Parts counted with different {what} cannot be added: count all of them alike.")
        unit = min(self.unit, other.unit)
        mine, others = self.unit - unit, other.unit - unit
        targets, nontargets, missed, rejected = (
            frozen(_added(getattr(self, name), mine, getattr(other, name), others))
            for name in ("targets", "nontargets", "missed", "rejected")
        )
        target, nontarget = (
            ((a[0] << mine) + (b[0] << others), (a[1] << mine) + (b[1] << others))
            for a, b in zip(self.costs, other.costs, strict=True)
        )
        return BinCounts(
            self.edges, targets, nontargets, frozen(self.rows + other.rows),
            frozen(np.minimum(self.lowest, other.lowest)), frozen(np.maximum(self.highest, other.highest)),
            self.thresholds, missed, rejected, (target, nontarget), unit,
        )  # fmt: skip


def places_upto(scores: Array, ends: Floats) -> NDArray[np.intp]:
    """How many of ascending scores are at or below each of ascending ends.

    Ends are rounded down to float32 for scores of float32: one of those is at or below either or neither.
    """
    near = ends
    if scores.dtype != np.float64:
        with np.errstate(over="ignore"):
            near = ends.astype(scores.dtype)
        near = np.where(near > ends, np.nextafter(near, scores.dtype.type(-math.inf)), near)
    return sorted_ranks(scores, near, "right")


def weight_of(side: Ranked, places: NDArray[np.intp]) -> Counts:
    """The weight of this many of the lowest scores."""
    return places if side.running is None else side.running[places]


def _extremes(
    sides: tuple[Ranked, Ranked], starts: Sequence[NDArray[np.intp]], ends: Sequence[NDArray[np.intp]]
) -> tuple[Floats, Floats]:
    """The lowest and the highest score of every bin."""
    low, high = np.array(math.inf), np.array(-math.inf)
    for side, start, end in zip(sides, starts, ends, strict=True):
        held, scores = end > start, side.scores
        first, last = (scores.take(at, mode="clip") if len(scores) else math.inf for at in (start, end - 1))
        low = np.minimum(low, np.where(held, first, math.inf))
        high = np.maximum(high, np.where(held, last, -math.inf))
    return frozen(low.astype(np.float64)), frozen(high.astype(np.float64))


def _added(one: Counts, by: int, other: Counts, other_by: int) -> Counts:
    """one * 2**by + other * 2**other_by, in int64 while every sum of the counts fits, else as Python's integers."""
    if by == other_by == 0 and one.dtype == other.dtype != np.object_:
        return shifted(one + other, 0)
    return shifted(shifted(one, by).astype(np.object_) + shifted(other, other_by).astype(np.object_), 0)


@dataclass(frozen=True, slots=True, eq=False)
class RangeRows(PlainState):
    """The scores of some parts that lie in chosen ranges low < score <= high, with their weights."""

    targets: Floats
    nontargets: Floats
    target_weights: Counts | None
    nontarget_weights: Counts | None
    unit: int

    @classmethod
    def of_part(cls, part: Part, job: JSON) -> Self:
        """The rows of one part of a scan."""
        return cls.of_tally(part.tally(), job["low"], job["high"])

    @classmethod
    def of_tally(cls, tally: Tally, low: Floats, high: Floats) -> Self:
        """The scores of a tally in disjoint ascending ranges; a NaN for `low` is below everything."""
        (targets, heavy), (nontargets, others) = (
            _picked(side, low, high) for side in (tally.targets, tally.nontargets)
        )
        return cls(targets, nontargets, heavy, others, tally.unit)

    @classmethod
    def sum(cls, several: Sequence[RangeRows]) -> Self:
        """All of them together, each class copied only once."""
        unit = min((one.unit for one in several), default=0)
        columns: list[Any] = []
        for scores, weights in (("targets", "target_weights"), ("nontargets", "nontarget_weights")):
            columns.append(np.concatenate([np.empty(0), *(getattr(one, scores) for one in several)]))
            weighted = any(getattr(one, weights) is not None for one in several)
            heavy = [
                shifted(_heavy(getattr(one, weights), getattr(one, scores)), one.unit - unit)
                for one in several
                if weighted
            ]
            columns.append(shifted(np.concatenate(heavy), 0) if weighted else None)
        return cls(columns[0], columns[2], columns[1], columns[3], unit)

    def __add__(self, other: RangeRows) -> Self:
        return self.sum((self, other))

    def tally(self, meaning: str, trained_prior: float | tuple[float, ...] | None, unit: int | None = None) -> Tally:
        """The rows as a tally, in units of 2**unit where that is given."""
        sides = []
        for scores, weights in ((self.targets, self.target_weights), (self.nontargets, self.nontarget_weights)):
            if weights is None:
                sides.append(Ranked(frozen(in_order(scores))))
            else:
                order = np.argsort(scores, kind="stable")
                sides.append(_grouped(scores[order], weights[order]))
        by = 0 if unit is None else self.unit - unit
        return Tally(sides[0].scaled(by), sides[1].scaled(by), meaning, trained_prior, self.unit - by)


def _heavy(weights: Counts | None, scores: Floats) -> Counts:
    """The weights of some scores; a chunk without weights may follow one with weights."""
    return np.ones(len(scores), np.int64) if weights is None else weights


def _grouped(scores: Floats, weights: Counts) -> Ranked:
    """Ascending scores as distinct ones with the running total of their weights."""
    starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1])[: len(scores)])
    sums = np.add.reduceat(weights, starts) if len(starts) else weights
    return Ranked(frozen(scores[starts]), frozen(running_total(sums)))


def _picked(side: Ranked, low: Floats, high: Floats) -> tuple[Floats, Counts | None]:
    """The scores in the ranges low < score <= high, and their weights."""
    everything = np.isnan(low)
    starts = np.where(everything, 0, places_upto(side.scores, np.where(everything, -math.inf, low)))
    lengths = places_upto(side.scores, high) - starts
    before = np.cumsum(lengths) - lengths
    places = np.repeat(starts - before, lengths) + np.arange(int(lengths.sum()))
    weights = None if side.running is None else frozen(np.diff(side.running)[places])
    return frozen(side.scores[places].astype(np.float64, copy=False)), weights
