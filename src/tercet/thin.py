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
from tercet.trials import to_llr

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
REACH = 9.0  # the log-odds up to which costs are promised
_TOLERANCE = 0.98e-4  # of a normalised cost, a little kept for rounding
_FINE = 0.3  # of the tolerance: what of either class may hide between two scores that are looked at
_ALL = 1000  # so many scores are kept whole
_GRID = 200  # quantiles of each class, for drawing
_EXTREMES = 300  # the worst errors of each side, kept one by one
_BLOCKS = (1024, 256, 64, 32, 16, 8, 4, 2)  # how many scores one line may stand for
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
        llrs = to_llr(thresholds, tally.meaning, tally.trained_prior)  # type: ignore[arg-type]
        result["llrs"] = ["-inf", *_listed(np.maximum.accumulate(llrs))]
    return result


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
    x = to_llr(kept, tally.meaning, tally.trained_prior)  # type: ignore[arg-type]
    ends = looked.x[[0, -1]] if len(looked.x) else np.array([math.inf, -math.inf])
    return _distinct(kept[(x < ends[0]) | (x > ends[1])], looked.needed())  # another point would bend a line


def _distinct(*parts: Floats) -> Floats:
    """The values of all parts, ascending, each once."""
    values = np.sort(np.concatenate(parts))
    return values[np.append(True, values[1:] != values[:-1])]


class _Side(NamedTuple):
    """One class's counts at the scores looked at, accepting scores > this one and scores >= this one."""

    at: Floats
    under: Floats
    price: Floats  # of one count, in normalised cost at the log-odds whose threshold this is

    @classmethod
    def of(cls, side: Ranked, scores: Floats, x: Floats, of_targets: bool) -> _Side:
        upto, below = _around(side, scores)
        total = float(side.total)
        price = np.exp(np.clip(-x if of_targets else x, 0.0, REACH + 1.0)) / total
        return cls(upto, below, price) if of_targets else cls(total - upto, total - below, price)

    def line(self, rows: Places, size: int, part: Floats) -> Floats:
        """The counts read off between the ends of blocks, `part` of the way along."""
        low, high = self.at[rows, None], self.at[rows + size, None]
        return np.where(np.abs(high - low) <= 1.0, low, low + (high - low) * part)


class _Looked(NamedTuple):
    """Scores that are looked at, x being their llrs: between two of them next to nothing hides."""

    scores: Floats
    x: Floats
    sides: tuple[_Side, _Side]
    allowed: Floats  # how far the cost may be off here, with what hides beside taken off

    @classmethod
    def over(cls, tally: Tally) -> _Looked:
        scores = _distinct(*(_sampled(tally, of_targets) for of_targets in (True, False)))
        x = to_llr(scores, tally.meaning, tally.trained_prior)  # type: ignore[arg-type]
        scores, x = scores[np.isfinite(x)], x[np.isfinite(x)]
        sides = _Side.of(tally.targets, scores, x, True), _Side.of(tally.nontargets, scores, x, False)
        cost = sum(side.price * side.at for side in sides)
        hidden = sum(np.abs(s.under[1:] - s.at[:-1]) * np.maximum(s.price[1:], s.price[:-1]) for s in sides)
        beside = np.concatenate(([0.0], np.maximum(hidden[1:], hidden[:-1]), [0.0])) if len(x) > 1 else np.zeros(len(x))
        return cls(scores, x, sides, _TOLERANCE * np.maximum(cost, 1.0) - beside)

    def needed(self) -> Floats:
        """The scores between which lines do, and a threshold just below each where many scores are tied."""
        kept = np.ones(len(self.x), np.bool_)
        for size in _BLOCKS:
            self._join(kept, size)
        steep = kept & np.logical_or(*(np.abs(side.at - side.under) > 1.0 for side in self.sides))
        jump = sum(np.abs(side.at - side.under) * side.price for side in self.sides)
        steep &= jump > self.allowed
        return np.concatenate((self.scores[kept], np.nextafter(self.scores[steep], -math.inf)))

    def _join(self, kept: NDArray[np.bool_], size: int) -> None:
        """Drops what lies inside blocks of that size whose ends' lines pass close to every score inside."""
        count = max(len(kept) - 1, 0) // size
        rows = np.flatnonzero(kept[size // 2 :: size][:count]) * size
        if len(rows) == 0:
            return
        inner = rows[:, None] + np.arange(1, size + 1)
        x, start = self.x[inner], self.x[rows, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            part = (x - start) / (x[:, -1:] - start)
        targets, nontargets = self.sides
        lines = [(side, side.line(rows, size, part), side.price[inner]) for side in self.sides]
        at = sum(price * (line - side.at[inner]) for side, line, price in lines)
        under = sum(price * (line - side.under[inner]) for side, line, price in lines)
        worst = np.abs(under)
        np.maximum(worst[:, :-1], np.abs(at[:, :-1]), out=worst[:, :-1])
        joined = (worst <= self.allowed[inner]).all(axis=1)
        kept[inner[joined, :-1]] = False


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
        return sign * to_llr(view[places], tally.meaning, tally.trained_prior)  # type: ignore[arg-type]

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
