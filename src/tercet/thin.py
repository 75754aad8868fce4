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
_FINE = 0.4  # of the tolerance: what may hide between two scores that are looked at
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
    kept = [*quantiles, sides[0][:_EXTREMES], sides[1][-_EXTREMES:], curve.hull.thresholds[1:]]
    if tally.meaning == "raw":
        return _distinct(*kept)
    looks = [_Look.along(tally, of_targets) for of_targets in (True, False)]
    thresholds = _distinct(*kept, *(look.needed() for look in looks))
    while True:  # a point of the other class splits a line and may bend it away: what is then off is kept too
        x = to_llr(thresholds, tally.meaning, tally.trained_prior)  # type: ignore[arg-type]
        missing = [look.off(x, counts) for look, counts in zip(looks, tally.at(thresholds), strict=True)]
        if not sum(map(len, missing)):
            return thresholds
        thresholds = _distinct(thresholds, *missing)


def _distinct(*parts: Floats) -> Floats:
    """The values of all parts, ascending, each once."""
    values = np.sort(np.concatenate(parts))
    return values[np.append(True, values[1:] != values[:-1])]


class _Look(NamedTuple):
    """One class's scores that are looked at, from its worst error on: between two of them next to nothing hides.

    x is the llr, its sign turned for non-targets: errors are rare and dear where it is low. Weights are counted from
    the worst error: `before` without the scores equal to this one, `after` with them.
    """

    scores: Floats
    x: Floats
    before: Floats
    after: Floats
    allowed: Floats  # how far a count may be off here, with what hides taken off
    of_targets: bool

    @classmethod
    def along(cls, tally: Tally, of_targets: bool) -> _Look:
        side = tally.targets if of_targets else tally.nontargets
        sign = 1.0 if of_targets else -1.0
        view = side.scores[:: int(sign)]
        running = None if side.running is None else _from_the_worst(side.running, of_targets)

        def x_at(places: Places) -> Floats:
            return sign * to_llr(view[places], tally.meaning, tally.trained_prior)  # type: ignore[arg-type]

        other = tally.nontargets if of_targets else tally.targets
        total, odds = float(side.total), side.total / other.total
        places = _places(x_at, len(view), running, total, odds)
        places = places[np.append(True, view[places[1:]] != view[places[:-1]])]
        places = places[np.isfinite(x_at(places))]
        x = x_at(places)
        before, after = _around(side, view, places, running, of_targets)
        allowed = _share(x, odds) * np.maximum(total * np.exp(np.minimum(x, 0.0)), np.where(x < 0.0, before, 0.0))
        hidden = np.concatenate(([0.0], before[1:] - after[:-1], [0.0]))
        return cls(view[places], x, before, after, allowed - np.maximum(hidden[1:], hidden[:-1]), of_targets)

    def needed(self) -> Floats:
        """The scores between which lines do, and a threshold just below each where many scores are tied."""
        kept = np.ones(len(self.x), np.bool_)
        for size in _BLOCKS:
            self._join(kept, size)
        steep = kept & (self.after - self.before > np.maximum(self.allowed, 1.0))
        return np.concatenate((self.scores[kept], np.nextafter(self.scores[steep], -math.inf)))

    def _join(self, kept: NDArray[np.bool_], size: int) -> None:
        """Drops what lies inside blocks of that size whose ends' line passes close to every score inside."""
        count = (len(kept) - 1) // size
        rows = np.flatnonzero(kept[size // 2 :: size][:count])
        if len(rows) == 0:
            return
        x, before, after, allowed = (
            column[: count * size].reshape(count, size)[rows]
            for column in (self.x, self.before, self.after, self.allowed)
        )
        y0, run = after[:, :1], self.x[(rows + 1) * size, None] - x[:, :1]
        with np.errstate(divide="ignore", invalid="ignore"):
            line = y0 + (x - x[:, :1]) * ((self.before[(rows + 1) * size, None] - y0) / run)
        near = (line >= after - allowed) & (line <= before + allowed) & (allowed >= 1.0)
        near[:, 0] = True
        joined = rows[near.all(axis=1)]
        kept[: count * size].reshape(count, size)[joined, 1:] = False

    def off(self, x: Floats, counts: Counts) -> Floats:
        """The scores looked at where the counts read off the kept thresholds are too far off."""
        turn = 1 if self.of_targets else -1
        at, allowed = turn * self.x[::turn], np.maximum(self.allowed, 0.5)[::turn]
        here, below = (self.after, self.before)[::turn]
        wrong = np.abs(interpolated(x, counts, at) - here[::turn]) > allowed
        wrong |= np.abs(interpolated(x, counts, np.nextafter(at, -math.inf)) - below[::turn]) > allowed
        return self.scores[::turn][wrong]


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


def _from_the_worst(running: Counts, of_targets: bool) -> Floats:
    """Running weights counted from the worst error, 0 in front."""
    return np.asarray(running if of_targets else (running[-1] - running)[::-1], np.float64)


def _share(x: Floats, odds: float) -> Floats:
    """This class's part of the tolerance at x; the other has the rest.

    Points are needed in proportion to the class's density over the square of its part. Of calibrated scores that
    makes e^x n / o of the other's number, n and o being the totals; the sum is least at the ratio's cube root.
    """
    return _TOLERANCE / (1.0 + np.cbrt(np.exp(x) * odds))


def _places(
    x_at: Callable[[Places], Floats], count: int, running: Floats | None, total: float, odds: float
) -> Places:
    """Places along x to look at: so close that the weight between two is a small part of the tolerance."""
    edges = np.linspace(-REACH, REACH, 27)
    ends = np.minimum(_bisected(x_at, count, edges), count - 1)
    ends[0] = max(ends[0] - 1, 0)  # the last score before the first edge too
    weights = ends.astype(np.float64) if running is None else running[ends]
    parts = _FINE * _share(edges[1:], odds)
    bands = zip(edges.tolist(), parts.tolist(), weights.tolist(), weights[1:].tolist(), strict=False)
    marks = [_marks(start, end, part, total * math.exp(min(low, 0.0)), low < 0.0) for low, part, start, end in bands]
    weight = np.concatenate((*marks, weights[-1:]))
    places = weight.astype(np.intp) if running is None else np.searchsorted(running, weight, "right") - 1
    places = np.minimum(places, count - 1)
    return places[np.append(True, places[1:] != places[:-1])]


def _marks(start: float, end: float, part: float, scale: float, dear: bool) -> Floats:
    """Weights from start to end in steps of that part of the scale, or of the weight where it is larger and dear."""
    middle = min(max(start, scale), end) if dear else end
    marks = np.arange(start, middle, max(math.floor(part * scale), 1.0))
    first = max(middle, 1.0)
    if first >= end:
        return marks
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


def _around(
    side: Ranked, view: Floats, places: Places, running: Floats | None, of_targets: bool
) -> tuple[Floats, Floats]:
    """The weight before and after each score, tied ones on neither side; only tied ones are searched for."""
    if running is not None:
        return running[places], running[places + 1]
    before, after = places.astype(np.float64), places + 1.0
    scores = view[places]
    last = len(view) - 1
    tied = np.flatnonzero(
        ((view[np.maximum(places - 1, 0)] == scores) & (places > 0))
        | ((view[np.minimum(places + 1, last)] == scores) & (places < last))
    )
    if len(tied):
        below, upto = side.below(scores[tied]), side.upto(scores[tied])
        before[tied], after[tied] = (below, upto) if of_targets else (len(view) - upto, len(view) - below)
    return before, after


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
