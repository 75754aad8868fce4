"""What a result keeps of millions of scores: a curve of a few thousand points, and histograms.

Every kept point is exact. Between two of them the counts of a class either stay until the upper one or follow the
line that joins them, as "path" says, and the points are chosen so that every normalised cost FNR + e^-tau FPR
(tau <= 0) or FPR + e^tau FNR of the Bayes decisions with tau in -9..9 is then off by at most 1e-4, or by 1e-4 of
itself where it is above 1.

Why that holds: the trials that are rejected grow with the threshold, and so does what is read off between two kept
points. In each class enough scores are examined for little to lie between neighbours x < x'. If c are rejected at x,
c' just below x', and the reading runs from r to r' meanwhile, it is off by at most max(r' - c, c' - r): the distance of
the two middles plus half of both rises. That times the highest price of an error between x and x', for both classes
together, is held below the least tolerance there, for all neighbours between two kept points. A kept point may lie
after its score, before the next one: until there the reading lags by what it rises meanwhile, held below as well.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.order import sorted_ranks
from tercet._typing import JSON, Counts, Floats
from tercet.metrics.curves import Curve
from tercet.metrics.tally import Ranked, Tally
from tercet.trials import to_llr

Flags = NDArray[np.bool_]
Places = NDArray[np.intp]
REACH = 9.0  # the log-odds up to which the bound on costs holds
_TOLERANCE = 0.999e-4  # of a normalised cost, a little kept for rounding
_FINE = 0.4  # of the tolerance: the errors of either class that may lie between two examined scores
_EDGES = np.linspace(-REACH, REACH, 257)  # of the cells in which equally many scores are examined
_FEW = 50.0  # fewer where few errors are allowed: there chance determines the points
_ALL = 1000  # this many scores are kept whole
_GRID = 200  # quantiles of each class, for drawing
_EXTREMES = 300  # the worst errors of each side, kept one by one
_LENGTH = 0.05  # of a line, in llr, to begin with
_CHANCE = 1.5  # variance that a line bears, in squared tolerances, to begin with
_JOININGS = 3
_POWERS = 10.0 ** np.arange(16)
_STEPS = np.linspace(0.0, 1.0, 201)  # the edges of 200 bins
_PATHS = "lmfs"  # both classes on lines; misses stay; false alarms stay; both stay
STAYS = {"misses": "ms", "false_alarms": "fs"}


class _Kept(NamedTuple):
    """Thresholds to keep, ascending, and the llrs they stand for.

    For both classes, how many scores each rejects, and whether the count of errors stays until it.
    """

    thresholds: Floats
    llrs: Floats
    ranks: Places
    stays: Flags


class _Points(NamedTuple):
    """Points as the JSON holds them; the first accepts everything."""

    thresholds: list[float | str]
    misses: list[int]
    false_alarms: list[int]
    llrs: list[float | str] | None = None
    path: str | None = None


def thinned(curve: Curve, rounded: bool = True) -> JSON:
    """The curve's points as the JSON holds them: the hull whole, the worst errors one by one, a few between.

    A threshold may be any number from its score up to the next one; it is the shortest unless rounded is false.
    """
    tally, hull = curve.tally, curve.hull
    complete = (len(tally) <= _ALL or _huge(curve)) and tally.gaps is None
    points = _every_point(curve) if complete else _some_points(curve, rounded and tally.gaps is None)
    result = {
        "targets": curve.targets,
        "nontargets": curve.nontargets,
        "unit": tally.unit,
        "complete": complete,
        "thresholds": points.thresholds,
        "misses": points.misses,
        "false_alarms": points.false_alarms,
        "hull": {
            "thresholds": _listed(hull.thresholds),
            "misses": hull.misses.tolist(),
            "false_alarms": hull.false_alarms.tolist(),
        },
    }
    if points.path is not None:
        result["path"] = points.path
    if points.llrs is not None:
        result["llrs"] = points.llrs
    return result


def _huge(curve: Curve) -> bool:
    """Whether no double holds the sums of the weights."""
    return max(curve.targets, curve.nontargets).bit_length() > 1000


def _every_point(curve: Curve) -> _Points:
    llrs = None
    if curve.tally.meaning not in ("llr", "raw"):
        llrs = ["-inf", *_listed(_ascending_llrs(curve.tally, curve.thresholds[1:]))]
    return _Points(_listed(curve.thresholds), curve.misses.tolist(), curve.false_alarms.tolist(), llrs)


def _some_points(curve: Curve, rounded: bool) -> _Points:
    tally, path = curve.tally, None
    kept = _plain(curve) if tally.meaning == "raw" or _huge(curve) else _chosen(curve, rounded)
    misses, rejected = (
        side.weight_of_lowest(ranks) for side, ranks in zip((tally.targets, tally.nontargets), kept.ranks, strict=True)
    )
    if tally.gaps is None:  # else rows lie anywhere between two known points
        codes = kept.stays[0] + 2 * kept.stays[1].astype(np.uint8)
        path = "s" + np.frombuffer(_PATHS.encode(), np.uint8)[codes].tobytes().decode()
    return _Points(
        ["-inf", *_listed(kept.thresholds)],
        [0, *misses.tolist()],
        [curve.nontargets, *(curve.nontargets - rejected).tolist()],
        None if tally.meaning in ("llr", "raw") else ["-inf", *_listed(kept.llrs)],
        path,
    )


def interpolated(kept: JSON, key: str, llrs: Floats) -> Floats:
    """The "misses" or "false_alarms" at any llr thresholds, from the points that the JSON holds.

    From the last kept threshold <= llr on, the count stays as it is or follows the line to the next one.
    """
    x = np.array([float(value) for value in (kept["llrs"] if "llrs" in kept else kept["thresholds"])])
    counts, stays = (
        np.array(kept[key], np.float64),
        [kind in STAYS[key] for kind in str(kept.get("path", "s" * len(x)))],
    )
    place = np.searchsorted(x, llrs, "right") - 1
    after = np.minimum(place + 1, len(x) - 1)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        line = counts[place] + (counts[after] - counts[place]) * ((llrs - x[place]) / (x[after] - x[place]))
    return np.where(np.array(stays)[after] | (after == place), counts[place], line)


def count_at(kept: JSON, key: str, llr: float) -> float:
    """One such count; as it is at the last kept point where counts are too large for a line between them."""
    try:
        return float(interpolated(kept, key, np.array([llr]))[0])
    except OverflowError:
        x = np.array([float(value) for value in (kept["llrs"] if "llrs" in kept else kept["thresholds"])])
        count: float = kept[key][max(int(np.searchsorted(x, llr, "right")) - 1, 0)]
        return count


def llrs_of(tally: Tally, scores: Floats) -> Floats:
    """What some of a tally's scores are as log-likelihood ratios."""
    return to_llr(scores, tally.meaning, tally.trained_prior)


def unshifted_llrs(scores: Floats, meaning: str) -> Floats:
    """Scores as log-likelihood ratios but for a constant, where the prior that they were made with is not known."""
    return to_llr(scores, meaning, 0.5)


def _listed(values: Floats) -> list[float | str]:
    """Numbers as JSON has them, infinities as text."""
    found: list[float | str] = values.tolist()
    for place in np.isinf(values).nonzero()[0].tolist():
        found[place] = "inf" if values[place] > 0.0 else "-inf"
    return found


def _distinct(*parts: Floats) -> Floats:
    """The values of all parts, ascending, each once."""
    values: Floats = np.sort(np.concatenate(parts))
    new: Floats = values[np.append(True, values[1:] != values[:-1])]
    return new


def _steps(tally: Tally, scores: Floats) -> _Kept:
    """Scores at which both counts step."""
    ranks = np.stack([side.scores.searchsorted(scores, "right") for side in (tally.targets, tally.nontargets)])
    return _Kept(scores, _ascending_llrs(tally, scores), ranks, np.ones(ranks.shape, np.bool_))


def _ascending_llrs(tally: Tally, scores: Floats) -> Floats:
    """The llrs of ascending scores, which ascend although conversion rounds; raw scores as they are."""
    return scores if tally.meaning == "raw" else np.maximum.accumulate(llrs_of(tally, scores))


def _plain(curve: Curve) -> _Kept:
    """Raw scores have no costs to bound: the hull, and what drawing needs."""
    return _steps(curve.tally, _distinct(_drawn(curve.tally), curve.hull.thresholds[1:]))


def _drawn(tally: Tally) -> Floats:
    """Quantiles of each class, and the worst errors of both."""
    sides = (tally.targets.scores, tally.nontargets.scores)
    quantiles = [side[np.linspace(0, len(side) - 1, _GRID).astype(np.intp)] for side in sides]
    return _distinct(*quantiles, sides[0][:_EXTREMES], sides[1][-_EXTREMES:])


def _chosen(curve: Curve, rounded: bool) -> _Kept:
    """Points of a long curve of llrs: those that the bound needs, and beyond its range those for drawing."""
    tally = curve.tally
    drawn = _drawn(tally)
    x = llrs_of(tally, drawn)
    looked = _Looked.over(curve, drawn[np.isfinite(x) & (np.abs(x) > REACH)])
    if len(looked.x) < 2:
        return _steps(tally, _distinct(drawn, looked.scores))
    with np.errstate(over="ignore", invalid="ignore"):  # on lines of a denormal width, or almost as wide as the doubles
        needed = looked.needed(rounded)
    parts = (_steps(tally, drawn[x == -math.inf]), needed, _steps(tally, drawn[x == math.inf]))
    kept = _Kept(*(np.concatenate(column, axis=-1) for column in zip(*parts, strict=True)))
    kept.stays[:, np.count_nonzero(x == -math.inf)] = True  # nothing lies on a line from -inf
    return kept


class _Side(NamedTuple):
    """One class at the scores looked at."""

    ranks: Places  # number of its scores <= each
    at: Floats  # and their weight
    under: Floats  # and < each
    middle: Floats  # of the weights between each score and the next
    costly: Floats  # the highest price of one count there, in normalised cost

    @classmethod
    def of(cls, side: Ranked, ranks: tuple[Places, Places], lowest: Places, highest: Places, factors: Floats) -> _Side:
        """From the ranks in a class; lowest and highest are the places of the scores that are the same llr."""
        below, upto = ranks[0][lowest], ranks[1][highest]
        under, at = side.float_weight(below), side.float_weight(upto)
        return cls(upto, at, under, (at[:-1] + under[1:]) / 2.0, factors / float(side.total))


class _Looked(NamedTuple):
    """The examined scores, x being their llrs: between two of them there is almost no weight."""

    tally: Tally
    scores: Floats
    x: Floats
    sides: tuple[_Side, _Side]
    allowed: Floats  # how far the cost may be off from each up to the next
    room: Floats  # what is left of that beside the errors that hide there
    step: Flags  # whether it would be further off on the line from each to the next
    half: Floats  # of the way to the next

    @classmethod
    def over(cls, curve: Curve, more: Floats) -> _Looked:
        tally = curve.tally
        scores, ranks = _ranked(curve, _sampled(tally, more))
        x = np.maximum.accumulate(llrs_of(tally, scores))
        finite = np.flatnonzero(np.isfinite(x))
        new = x[finite[1:]] != x[finite[:-1]]  # conversion may merge neighbours
        lowest, highest = (finite[np.append(*ends)[: len(finite)]] for ends in ((True, new), (new, True)))
        scores, x = scores[highest], x[highest]
        factors = [np.exp(np.clip(sign * x, 0.0, REACH)) for sign in (-1.0, 1.0)]  # in either class's price
        one = _Side.of(tally.targets, ranks[0], lowest, highest, factors[0][:-1])
        other = _Side.of(tally.nontargets, ranks[1], lowest, highest, factors[1][1:])
        misses, alarms = one.at[:-1] / tally.targets.total, 1.0 - other.under[1:] / tally.nontargets.total
        least = factors[0][1:] * misses + factors[1][:-1] * alarms
        allowed = _TOLERANCE * np.maximum(least, 1.0)
        allowed[(x[1:] <= -REACH) | (x[:-1] >= REACH)] = math.inf
        hidden = one.costly * (one.middle - one.at[:-1]) + other.costly * (other.middle - other.at[:-1])
        line = one.costly * np.diff(one.at) + other.costly * np.diff(other.at)
        return cls(tally, scores, x, (one, other), allowed, allowed - hidden, line > allowed, np.diff(x) / 2.0)

    def needed(self, rounded: bool) -> _Kept:
        """Points between which the bound holds: a guess, refined where it is too coarse, thinned where too fine."""
        kept, marks = self._guess(), self.x.copy()
        places = np.flatnonzero(kept)
        low, high = places[:-1], places[1:]
        while True:
            if rounded:
                self._round(marks, places)
            low, high = low[high - low > 1], high[high - low > 1]  # from one to the next it holds: little lies between
            if len(low) == 0:
                break
            wrong = ~self._holds(marks, low, high)
            low, high = low[wrong], high[wrong]
            places = (low + high) // 2
            kept[places] = True
            low, high = np.stack((low, places), 1).ravel(), np.stack((places, high), 1).ravel()
        for first in range(_JOININGS):
            self._join(marks, kept, first % 2)
        return self._points(marks, np.flatnonzero(kept), rounded)

    def _guess(self) -> Flags:
        """Points between which chance moves the cost by about the tolerance; all beyond the reach, and both ends."""
        pieces = self.half * (2.0 / _LENGTH)
        for side in self.sides:
            one = np.max(side.at - side.under)  # what a score weighs, at most
            pieces += one * np.diff(side.at) * (side.costly / self.allowed) ** 2 / _CHANCE
        kept = np.abs(self.x) >= REACH
        kept[[0, -1]] = True
        kept[1:] |= np.diff(np.floor(np.cumsum(np.minimum(pieces, 1.0))), prepend=0.0) > 0.0
        return kept

    def _join(self, marks: Floats, kept: Flags, first: int) -> None:
        """Drops every other point where the bound holds without it, starting with the first or the second."""
        places = np.flatnonzero(kept)[first:]
        places = places[: len(places) - 1 + len(places) % 2]
        if len(places) > 2:
            middle = places[1::2]
            kept[middle[self._holds(marks, places[:-2:2], places[2::2]) & (np.abs(self.x[middle]) < REACH)]] = False

    def _holds(self, marks: Floats, low: Places, high: Places) -> Flags:
        """Whether the bound holds from each point of low to its counterpart in high, at these marks."""
        sizes = high - low
        firsts = np.cumsum(sizes) - sizes
        inner: slice | Places = slice(int(low[0]), int(high[-1]))
        if (low[1:] != high[:-1]).any():
            inner = np.repeat(low - firsts, sizes) + np.arange(sizes.sum())
        half = self.half[inner].copy()
        half[firsts] = (self.x[low + 1] - marks[low]) / 2.0
        centre = self.x[1:][inner] - np.repeat(marks[low], sizes)
        centre -= half
        off, last = np.zeros(len(half)), np.zeros(len(low))
        beyond, late = np.minimum(high, len(self.room) - 1), marks[high] - self.x[high]
        for side in self.sides:
            stays, rise = self._stays(side, low, high), side.at[high] - side.at[low]
            slope = np.where(stays, 0.0, rise / (marks[high] - marks[low]))
            steep = np.repeat(slope, sizes)
            reading = steep * centre
            reading += np.repeat(side.at[low], sizes)
            reading -= side.middle[inner]
            np.abs(reading, out=reading)
            steep *= half
            reading += steep
            reading *= side.costly[inner]
            off += reading
            last += side.costly[beyond] * np.where(stays, rise * (late > 0.0), slope * late)
        good: Flags = np.logical_and.reduceat(off <= self.room[inner], firsts)
        return good & (last <= np.minimum(self.allowed[high - 1], self.allowed[beyond]))

    def _stays(self, side: _Side, low: Places, high: Places) -> Flags:
        """Whether a count stays from low to high: a step, or most of what comes up to high is on it."""
        hidden, jump = side.under[high] - side.at[low], side.at[high] - side.under[high]
        return np.where(high - low == 1, self.step[low], hidden < jump)

    def _round(self, marks: Floats, places: Places) -> None:
        """Moves points to the shortest number before the next score, where a line from the last score would do."""
        places = places[(places > 0) & (places < len(self.room))]
        cost = sum(side.costly[places] * (side.at[places] - side.at[places - 1]) for side in self.sides)
        places = places[cost <= np.minimum(self.allowed[places - 1], self.allowed[places])]
        marks[places] = shortest(self.x[places], llrs_of(self.tally, self._follow(places)))

    def _follow(self, places: Places) -> Floats:
        """The next score of either class; the score itself where there is none."""
        follow = np.full(len(places), math.inf)
        for every, side in zip((self.tally.targets.scores, self.tally.nontargets.scores), self.sides, strict=True):
            after = side.ranks[places]
            np.minimum(follow, every.take(after, mode="clip"), out=follow, where=after < len(every))
        return np.where(np.isfinite(follow), follow, self.scores[places])

    def _points(self, marks: Floats, places: Places, rounded: bool) -> _Kept:
        thresholds = marks[places] if self.tally.meaning == "llr" else self.scores[places]
        if rounded and self.tally.meaning != "llr":
            thresholds = shortest(thresholds, self._follow(places))
        stays = [np.append(True, self._stays(side, places[:-1], places[1:])) for side in self.sides]
        return _Kept(thresholds, marks[places], np.stack([side.ranks[places] for side in self.sides]), np.stack(stays))


def shortest(low: Floats, high: Floats) -> Floats:
    """A decimal number with few digits in low <= number < high; low where none is found."""
    with np.errstate(over="ignore", invalid="ignore"):
        digits = np.ceil(-np.log10(np.clip(high - low, 1e-15, 1.0))).astype(np.intp)
        short = np.ceil(low * _POWERS[digits]) / _POWERS[digits] + 0.0  # never -0.0
    return np.where((short >= low) & (short < high), short, low)


def _sampled(tally: Tally, more: Floats) -> list[Places]:
    """Places of each class to examine: enough for little weight to lie between two; those of some scores, too."""
    sides = (tally.targets, tally.nontargets)
    places = [_cells(tally, side) for side in sides]
    weights = [side.float_weight(cells) for side, cells in zip(sides, places, strict=True)]
    factors = [np.exp(np.maximum(sign * _EDGES, 0.0)) for sign in (-1.0, 1.0)]
    misses, alarms = weights[0] / sides[0].total, 1.0 - weights[1] / sides[1].total
    tolerance = _TOLERANCE * np.maximum(misses[:-1] * factors[0][1:] + alarms[1:] * factors[1][:-1], 1.0)
    found = []
    for side, cells, weight, factor in zip(sides, places, weights, factors, strict=True):
        bearable = tolerance * (float(side.total) / np.maximum(factor[1:], factor[:-1]))
        every = bearable * np.minimum(_FINE, bearable / _FEW)
        also = side.scores.searchsorted(more)
        also = also[side.scores.take(also, mode="clip") == more]
        found.append(np.sort(np.concatenate((_marks(side, cells, weight, every), also))))
    return found


def _ranked(curve: Curve, places: list[Places]) -> tuple[Floats, list[tuple[Places, Places]]]:
    """The scores at these places of both classes, ascending, and how many of each class are < and <= each of them."""
    meeting, sides, columns = curve._meeting, (curve.tally.targets, curve.tally.nontargets), []
    for side, other, own in zip(sides, sides[::-1], places, strict=True):
        scores = side.scores[own]
        if meeting.of_targets == (side is sides[0]):
            known = own if len(meeting.scores) == len(side.scores) else meeting.scores.searchsorted(scores)
            others = (meeting.low[known], meeting.highs[1:-1][known])
        else:
            others = _below_and_upto(other.scores, scores, sorted_ranks(other.scores, scores))
        ranks = [_below_and_upto(side.scores, scores, own), others]
        columns.append((scores, *itertools.chain(*(ranks if side is sides[0] else ranks[::-1]))))
    scores, *found = map(np.concatenate, zip(*columns, strict=True))
    order = scores.argsort(kind="stable")
    order = order[np.append(True, scores[order[1:]] != scores[order[:-1]])]
    found = [rank[order] for rank in found]
    return scores[order], [(found[0], found[1]), (found[2], found[3])]


def _below_and_upto(scores: Floats, values: Floats, places: Places) -> tuple[Places, Places]:
    """How many scores are < and <= each value: nearly all have no equal but for the score at their place."""
    below, upto = places.copy(), places + (scores.take(places, mode="clip") == values)
    tied = np.flatnonzero((scores[below - 1] == values) | (scores.take(upto, mode="clip") == values))
    below[tied], upto[tied] = (scores.searchsorted(values[tied], side) for side in ("left", "right"))
    return below, upto


def _marks(side: Ranked, places: Places, weights: Floats, every: Floats) -> Places:
    """Places in each cell with less than `every` between two, the last of each cell, and one beyond either end."""
    sizes = np.diff(places)
    steps = np.maximum(np.floor(every), 1.0) if side.cumulative is None else every
    counts = np.minimum(np.ceil(np.diff(weights) / steps), sizes).astype(np.intp)
    cell = np.repeat(np.arange(len(sizes)), counts)
    number = np.arange(len(cell)) - np.repeat(np.cumsum(counts) - counts, counts)
    found = places[cell] + number
    if side.cumulative is None:
        found += number * (steps[cell] - 1.0).astype(np.intp)
    else:
        sparse = np.flatnonzero((counts < sizes)[cell])
        asked = weights[cell[sparse]] + number[sparse] * steps[cell[sparse]]
        found[sparse] = side.places_within(asked)
    ends = np.concatenate((places[:1] - 1, places[1:] - 1, places[-1:]))
    return np.concatenate((found, ends[(ends >= 0) & (ends < len(side.scores))]))


def _cells(tally: Tally, side: Ranked) -> Places:
    """How many scores of a class have an llr below each edge, by halving: only a few scores are converted."""
    count = len(side.scores)
    low, high = np.zeros(len(_EDGES), np.intp), np.full(len(_EDGES), count, np.intp)
    while (low < high).any():
        middle = (low + high) // 2
        below = (llrs_of(tally, side.scores[np.minimum(middle, count - 1)]) < _EDGES) & (low < high)
        low, high = np.where(below, middle + 1, low), np.where(below | (low >= high), high, middle)
    return low


def histogram(tally: Tally) -> JSON:
    """Scores by class in 200 equal bins over their middle 99.9 %, the rest counted beside."""
    if tally.gaps is not None:
        return _histogram_of_points(tally)
    sides = {"targets": tally.targets, "nontargets": tally.nontargets}
    finite = [
        side.scores[side.scores.searchsorted(-math.inf, "right") : side.scores.searchsorted(math.inf)]
        for side in sides.values()
    ]
    cut = [(side, int(0.0005 * (len(side) - 1))) for side in finite if len(side)]
    if not cut:
        return {"edges": [], **{key: {"below": side.total, "bins": [], "above": 0} for key, side in sides.items()}}
    low, high = (pick(float(side[place]) for side, out in cut for place in (out, -1 - out)) for pick in (min, max))
    edges = low * (1.0 - _STEPS) + high * _STEPS if high > low else np.array([low, low])
    result: JSON = {"edges": edges.tolist()}
    for key, side in sides.items():
        result[key] = _binned(side, edges, tally)
    return result


def _histogram_of_points(tally: Tally) -> JSON:
    """The same with every edge moved to the next known point, where counts are exact."""
    sides = {"targets": tally.targets, "nontargets": tally.nontargets}
    known = np.union1d(tally.targets.scores, tally.nontargets.scores)
    known = known[np.isfinite(known)]
    if len(known) == 0:
        nothing: JSON = {
            key: {"below": tally.weight(side.total), "bins": [], "above": 0} for key, side in sides.items()
        }
        return {"edges": [], **nothing}
    ends = [side.scores[_rank(side, share)] for side in sides.values() for share in (0.0005, 0.9995)]
    low, high = max(min(ends), float(known[0])), min(max(ends), float(known[-1]))
    ideal = low * (1.0 - _STEPS) + high * _STEPS
    tops = known[np.unique(np.clip(np.searchsorted(known, ideal), 0, len(known) - 1))]
    # Just above a known point: what is below that edge is what the point rejects.
    edges = [*np.nextafter(tops[:-1], math.inf).tolist(), float(tops[-1])]
    if len(tops) == 1:
        edges, tops = edges * 2, np.array([np.nextafter(tops[0], -math.inf), tops[0]])
    return {"edges": edges, **{key: _between(side, side.upto(tops), tally) for key, side in sides.items()}}


def _rank(side: Ranked, share: float) -> int:
    """The place of the score that a share of a class does not exceed."""
    _, running = side.distinct()
    excess = max(side.total.bit_length() - 1000, 0)  # beyond the range of doubles
    least = math.ceil(share * (side.total >> excess)) << excess
    return min(int(np.searchsorted(running[1:], least)), len(side.scores) - 1)


def _binned(side: Ranked, edges: Floats, tally: Tally) -> JSON:
    counts = side.below(edges)
    counts[-1] = side.upto(edges[-1])
    return _between(side, counts, tally)


def _between(side: Ranked, counts: Counts, tally: Tally) -> JSON:
    """A class in bins, from its running counts at their edges."""
    bins = counts[1:] - counts[:-1]
    return {
        "below": tally.weight(int(counts[0])),
        "bins": bins.tolist() if tally.unit == 0 else [tally.weight(count) for count in bins.tolist()],
        "above": tally.weight(side.total - int(counts[-1])),
    }
