"""What a result keeps of millions of scores: a curve of a few thousand points, and histograms.

Every kept point is exact. Between two of them the counts are read off the line that joins them (off the lower
point where they differ by one count at most, or where a score is infinite), and the points are chosen so that
every normalised cost FNR + e^-tau FPR (tau <= 0) or FPR + e^tau FNR of the Bayes decisions with tau in -9..9 is
then off by at most 1e-4, or by 1e-4 of itself where it is above 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet.curves import Curve
from tercet.exact import Counts
from tercet.tally import Ranked, Tally
from tercet.threads import together
from tercet.trials import to_llr

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
_Cut = Callable[[Floats], Floats]
REACH = 9.0  # the log-odds up to which costs are promised
_TOLERANCE = 0.98e-4  # of a normalised cost, a little kept for rounding
_FINE = 0.3  # of the tolerance: what of either class may hide between two scores that are looked at
_ALL = 1000  # so many scores are kept whole
_GRID = 200  # quantiles of each class, for drawing
_EXTREMES = 300  # the worst errors of each side, kept one by one
_BLOCKS = (256, 64, 16, 8, 4, 2)  # how many scores one line may stand for
_PASSES = (0, 1, 0)
_STEPS = np.linspace(0.0, 1.0, 201)  # the edges of 200 bins


def thinned(curve: Curve) -> dict[str, Any]:
    """The curve's points as the JSON holds them: the hull whole, the worst errors one by one, a few between."""
    tally, hull = curve.tally, curve.hull
    complete = len(tally) <= _ALL
    thresholds = _every(tally) if complete else _chosen(curve)
    misses, alarms = tally.at(thresholds)
    result = {
        "targets": curve.targets,
        "nontargets": curve.nontargets,
        "unit": tally.unit,
        "complete": complete,
        "thresholds": ["-inf", *_listed(thresholds)],
        "misses": [0, *misses.tolist()],
        "false_alarms": [curve.nontargets, *alarms.tolist()],
        "hull": {
            "thresholds": _listed(hull.thresholds),
            "misses": hull.misses.tolist(),
            "false_alarms": hull.false_alarms.tolist(),
        },
    }
    if tally.meaning not in ("llr", "raw"):
        llrs = llrs_of(tally, thresholds)
        result["llrs"] = ["-inf", *_listed(np.maximum.accumulate(llrs))]
    return result


def llrs_of(tally: Tally, scores: Floats) -> Floats:
    """What some of a tally's scores are as log-likelihood ratios."""
    return to_llr(scores, tally.meaning, tally.trained_prior)


def _listed(values: Floats) -> list[Any]:
    """Numbers as JSON has them, infinities as text."""
    plain: list[Any] = values.tolist()
    if len(plain) and math.isfinite(plain[0]) and math.isfinite(plain[-1]):  # ascending: infinities are at the ends
        return plain
    return [value if math.isfinite(value) else "inf" if value > 0.0 else "-inf" for value in plain]


def _every(tally: Tally) -> Floats:
    return np.unique(np.concatenate((tally.targets.scores, tally.nontargets.scores)))


def _chosen(curve: Curve) -> Floats:
    """Thresholds to keep of a long curve, ascending."""
    tally = curve.tally
    sides = (tally.targets.scores, tally.nontargets.scores)
    quantiles = [side[np.linspace(0, len(side) - 1, _GRID).astype(np.intp)] for side in sides]
    kept = _distinct(*quantiles, sides[0][:_EXTREMES], sides[1][-_EXTREMES:])
    if tally.meaning == "raw":
        return _distinct(kept, curve.hull.thresholds[1:])
    looked = _Looked.over(tally)
    x = llrs_of(tally, kept)
    ends = looked.x[[0, -1]] if len(looked.x) else np.array([math.inf, -math.inf])
    return _distinct(kept[(x < ends[0]) | (x > ends[1])], looked.needed())  # another point would bend a line


def _distinct(*parts: Floats) -> Floats:
    """The values of all parts, ascending, each once."""
    values: Floats = np.sort(np.concatenate(parts))
    new: Floats = values[np.append(True, values[1:] != values[:-1])]
    return new


class _Side(NamedTuple):
    """One class's errors at the scores looked at, accepting scores > this one (`at`) and scores >= it (`under`)."""

    at: Floats
    under: Floats
    price: Floats  # of one count, in normalised cost at the log-odds whose threshold this is
    cost: Floats  # of the errors at
    jump: Floats  # what those on the score itself add

    @classmethod
    def of(cls, side: Ranked, scores: Floats, x: Floats, of_targets: bool) -> _Side:
        upto, below = _around(side, scores)
        total = float(side.total)
        price: Floats = np.exp(np.clip(-x if of_targets else x, 0.0, REACH + 1.0)) / total
        at, under = (upto, below) if of_targets else (total - upto, total - below)
        return cls(at, under, price, price * at, price * (at - under))

    def hidden(self) -> Floats:
        """What the errors between two neighbours add at most, wherever between them they lie."""
        cost: Floats = np.abs(self.under[1:] - self.at[:-1]) * np.maximum(self.price[1:], self.price[:-1])
        return cost

    def rise(self, low: Places, high: Places, steep: NDArray[np.bool_]) -> Floats:
        """By how much the line from low to high rises; not at all for a single count, which is a step."""
        rise: Floats = np.where(steep[high], self.under[high], self.at[high]) - self.at[low]
        rise[np.abs(rise) <= 1.0] = 0.0
        return rise


class _Looked(NamedTuple):
    """Scores that are looked at, x being their llrs: between two of them next to nothing hides."""

    scores: Floats
    x: Floats
    sides: tuple[_Side, _Side]
    allowed: Floats  # how far the cost may be off here, with what hides beside taken off
    sway: Floats  # how much prices change up to the next score
    steep: NDArray[np.bool_]  # so many are tied here that the threshold just below is needed too

    @classmethod
    def over(cls, tally: Tally) -> _Looked:
        scores = _distinct(*(_sampled(tally, of_targets) for of_targets in (True, False)))
        x = llrs_of(tally, scores)
        scores, x = scores[np.isfinite(x)], x[np.isfinite(x)]
        one, other = together(
            [
                lambda: _Side.of(tally.targets, scores, x, True),
                lambda: _Side.of(tally.nontargets, scores, x, False),
            ],
            len(tally),
        )
        cost = one.cost + other.cost
        least = np.minimum(cost, cost - one.jump - other.jump)
        allowed = _TOLERANCE * np.maximum(least, 1.0) - _beside(one.hidden() + other.hidden())
        sway = _beside(np.expm1(np.minimum(np.diff(x), REACH)))
        several = np.maximum(np.abs(one.at - one.under), np.abs(other.at - other.under)) > 1.0
        jump = (np.abs(one.jump) + np.abs(other.jump)) * (1.0 + sway)
        return cls(scores, x, (one, other), allowed, sway, several & (jump > allowed))

    def needed(self) -> Floats:
        """The scores between which lines do, and a threshold just below each where many scores are tied."""
        kept = np.ones(len(self.x), np.bool_)
        for size in _BLOCKS:
            self._join(kept, size)
        for first in _PASSES:
            self._pair(kept, first)
        return np.concatenate((self.scores[kept], np.nextafter(self.scores[kept & self.steep], -math.inf)))

    def _join(self, kept: NDArray[np.bool_], size: int) -> None:
        """Drops what lies inside blocks of that size whose ends' lines pass close to every score inside."""
        count = max(len(kept) - 1, 0) // size
        blocks = np.flatnonzero(kept[size // 2 :: size][:count])
        if len(blocks) == 0:
            return
        low = blocks * size

        def inner(column: Floats) -> Floats:
            rows: Floats = column[1 : count * size + 1].reshape(count, size)
            return rows if len(blocks) == count else rows[blocks]

        good = self._near(inner, lambda column: column[:, None], low, low + size)
        joined = blocks[good.all(axis=1)]
        kept[1 : count * size + 1].reshape(count, size)[joined, :-1] = False

    def _pair(self, kept: NDArray[np.bool_], first: int) -> None:
        """Drops every other kept score where the line past it does, beginning with the first or the second."""
        ends = np.flatnonzero(kept)[first::2]
        if len(ends) < 2:
            return
        lengths, inner = np.diff(ends), slice(int(ends[0]) + 1, int(ends[-1]) + 1)
        near = self._near(lambda column: column[inner], lambda column: np.repeat(column, lengths), ends[:-1], ends[1:])
        good = np.logical_and.reduceat(near, ends[:-1] - ends[0])
        inside = np.repeat(good, lengths)
        inside[ends[1:] - ends[0] - 1] = False  # the far end itself stays
        kept[inner][inside] = False

    def _near(self, inner: _Cut, spread: _Cut, low: Places, high: Places) -> NDArray[np.bool_]:
        """Whether costs read off the lines from low to high are near enough at and just below each score up to high.

        `inner` cuts these scores out of a column, `spread` lays one number a line beside its scores.
        """
        x0, x1 = self.x[low], self.x[high]
        with np.errstate(divide="ignore", invalid="ignore"):
            part = (inner(self.x) - spread(x0)) * spread(1.0 / (x1 - x0))
        at, under, moved = 0.0, 0.0, 0.0
        for side in self.sides:
            off = spread(side.rise(low, high, self.steep)) * part
            off += spread(side.at[low])
            off *= inner(side.price)
            off -= inner(side.cost)
            step = inner(side.jump)
            at, under, moved = at + off, under + (off + step), moved + (np.abs(off) + np.abs(step))  # type: ignore[assignment]
        allowed = inner(self.allowed) - inner(self.sway) * moved
        place = inner(np.arange(float(len(self.x))))
        end = place == spread(high.astype(np.float64))
        near: NDArray[np.bool_] = ((np.abs(at) <= allowed) | end) & (np.abs(under) <= allowed)
        return near


def _beside(gaps: Floats) -> Floats:
    """The larger of the two gaps beside each point."""
    larger: Floats = np.maximum(np.append(gaps, 0.0), np.append(0.0, gaps))
    return larger


def interpolated(x: Floats, counts: Counts, at: Floats) -> Floats:
    """Counts at any threshold from those at the kept ones, by the rule of this module; x ascends."""
    finite = slice(int(np.searchsorted(x, -math.inf, "right")), int(np.searchsorted(x, math.inf)))
    if finite.start == finite.stop:
        return np.full(len(at), float(counts[0]))
    first = float(counts[max(finite.start - 1, 0)])
    x, y = x[finite], counts[finite].astype(np.float64)
    level = np.flatnonzero(np.abs(np.diff(y)) <= 1.0)
    x, y = np.insert(x, level + 1, np.nextafter(x[level + 1], -math.inf)), np.insert(y, level + 1, y[level])
    return np.interp(at, x, y, left=first)


def _sampled(tally: Tally, of_targets: bool) -> Floats:
    """One class's scores to look at: so close that the weight between two is a small part of the tolerance."""
    side, sign = (tally.targets, 1.0) if of_targets else (tally.nontargets, -1.0)
    view = side.scores[:: int(sign)]  # from the worst error on: x, the llr or its negative, ascends
    running = None if side.running is None else _from_the_worst(side.running, of_targets)

    def x_at(places: Places) -> Floats:
        return sign * llrs_of(tally, view[places])

    edges = np.append(np.linspace(-REACH, 0.0, 14), REACH)
    ends = np.minimum(_bisected(x_at, len(view), edges), len(view) - 1)
    ends[0] = max(ends[0] - 1, 0)  # the last score before the first edge too
    weights = (ends.astype(np.float64) if running is None else running[ends]).tolist()
    marks = [_marks(*band, float(side.total)) for band in zip(edges.tolist(), weights, weights[1:], strict=False)]
    weight = np.concatenate((*marks, weights[-1:]))
    places = weight.astype(np.intp) if running is None else np.searchsorted(running, weight, "right") - 1
    return view[np.minimum(places, len(view) - 1)]


def _from_the_worst(running: Counts, of_targets: bool) -> Floats:
    """Running weights counted from the worst error, 0 in front."""
    return np.asarray(running if of_targets else (running[-1] - running)[::-1], np.float64)


def _marks(low: float, start: float, end: float, total: float) -> Floats:
    """Weights from start to end, the band of x that begins at low, in steps of a part of the tolerance there."""
    part = _TOLERANCE * _FINE
    scale = max(total * math.exp(low), start) if low < 0.0 else total
    middle = min(scale, end) if low < 0.0 else end
    marks = np.arange(start, middle, max(math.floor(part * scale), 1.0))
    first = max(middle, 1.0)
    if first >= end:
        return marks
    # Beyond it the cost is above 1, and the tolerance grows with it.
    count = math.ceil(math.log(end / first) / math.log1p(part))
    wide = first * np.exp(math.log1p(part) * np.arange(count)) if count < end - first else np.arange(middle, end)
    return np.concatenate((marks, wide))


def _bisected(x_at: Callable[[Places], Floats], count: int, edges: Floats) -> Places:
    """How many scores have x below each edge, by halving: only a few scores are converted."""
    low, high = np.zeros(len(edges), np.intp), np.full(len(edges), count, np.intp)
    while (low < high).any():
        middle = (low + high) // 2
        below = (x_at(np.minimum(middle, count - 1)) < edges) & (low < high)
        low, high = np.where(below, middle + 1, low), np.where(below | (low >= high), high, middle)
    return low


def _around(side: Ranked, scores: Floats) -> tuple[Floats, Floats]:
    """The weights of the scores <= and < each of these; the second search is for tied ones only."""
    upto = np.searchsorted(side.scores, scores, "right")
    own = (upto > 0) & (side.scores[upto - 1] == scores)
    below = upto - own
    tied = np.flatnonzero(own & (below > 0) & (side.scores[below - 1] == scores))
    below[tied] = np.searchsorted(side.scores, scores[tied])
    if side.running is not None:
        upto, below = side.running[upto], side.running[below]
    return upto.astype(np.float64), below.astype(np.float64)


def histogram(tally: Tally) -> dict[str, Any]:
    """Scores by class in 200 equal bins over their middle 99.9 %, the rest counted beside."""
    sides = {"targets": tally.targets, "nontargets": tally.nontargets}
    finite = [
        side.scores[np.searchsorted(side.scores, -math.inf, "right") : np.searchsorted(side.scores, math.inf)]
        for side in sides.values()
    ]
    ends = [side[[int(0.0005 * (len(side) - 1)), -1 - int(0.0005 * (len(side) - 1))]] for side in finite if len(side)]
    if not ends:
        return {"edges": [], **{key: {"below": side.total, "bins": [], "above": 0} for key, side in sides.items()}}
    low, high = float(np.min(ends)), float(np.max(ends))
    edges = low * (1.0 - _STEPS) + high * _STEPS if high > low else np.array([low, low])
    result: dict[str, Any] = {"edges": edges.tolist()}
    for key, side in sides.items():
        result[key] = _binned(side, edges, tally)
    return result


def _binned(side: Ranked, edges: Floats, tally: Tally) -> dict[str, Any]:
    counts = side.below(edges)
    counts[-1] = side.upto(edges[-1])
    bins = np.diff(counts)
    return {
        "below": tally.weight(int(counts[0])),
        "bins": bins.tolist() if tally.unit == 0 else [tally.weight(count) for count in bins.tolist()],
        "above": tally.weight(side.total - int(counts[-1])),
    }
