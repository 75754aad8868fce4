"""From binned counts to exact results: which bins can hide a vertex of the hull, and what their rows make of it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property, partial
from typing import Any, NamedTuple, NoReturn

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import UNIT, Counts, quotients, ratio
from tercet._numeric.parallel import together
from tercet._numeric.validation import frozen
from tercet._typing import Floats
from tercet.application import Application, normalised_dcf
from tercet.errors import InputError
from tercet.evaluation import Evaluation, log_odds_grid, results_at
from tercet.metrics.costs import bayes_error, min_cllr
from tercet.metrics.curve_summary import thinned
from tercet.metrics.curves import Curve, convex_vertices
from tercet.metrics.tally import Ranked, Tally
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
from tercet.trials import NO_LLR

_SLICE = 1 << 18  # targets whose points are made at a time
_HISTOGRAM = np.linspace(0.0, 1.0, 201)


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


class Exact(NamedTuple):
    """Points that hold every vertex of the hull, and twice the pairs won, from at least to at most."""

    misses: Counts
    rejected: Counts
    top: Floats
    next: Floats
    wins: tuple[int, int]


def resolved(points: Points, ranges: Ranges, rows: Rows, dense: int | None = None) -> Exact:
    """The points of a state with those that the rows of the chosen bins add; all of them in the bin `dense`.

    A vertex rejects exactly what is below some target, so one candidate per distinct target score is enough.
    """
    sides = [rows.targets, rows.nontargets]
    targets, nontargets = together([partial(np.sort, side) for side in sides], sum(map(len, sides)))
    bins = ranges.bins
    t, n = np.diff(points.misses)[bins], np.diff(points.rejected)[bins]
    for side, held in ((targets, t), (nontargets, n)):
        if not np.array_equal(np.searchsorted(side, ranges.high, "right"), np.cumsum(held)):
            raise InputError(CHANGED)
    offset = points.misses[bins] - (np.cumsum(t) - t), points.rejected[bins] - (np.cumsum(n) - n)
    last = np.cumsum(t)

    def stretch(start: int) -> tuple[int, tuple[Any, ...]]:
        inside = np.arange(start, min(start + _SLICE, len(targets)))
        where = np.searchsorted(last, inside, "right")
        low = np.searchsorted(nontargets, targets[inside])
        won = 2 * int((low + offset[1][where]).sum()) + _ties(targets[inside], nontargets, low)
        return won, _candidates(points, bins[where], inside, low, offset, where, targets, nontargets)

    stretches = together([partial(stretch, start) for start in range(0, len(targets), _SLICE)], len(targets))
    found, won = [_at_points(points), *(one[1] for one in stretches)], sum(one[0] for one in stretches)
    if dense is not None and dense in bins:
        found.append(_every(points, dense, targets, nontargets))
    misses, rejected, top, following = (np.concatenate(column) for column in zip(*found, strict=True))
    _, first = np.unique(misses + rejected, return_index=True)  # both ascend, so their sum tells points apart
    least, most = _wins(points, bins)
    return Exact(misses[first], rejected[first], top[first], following[first], (least + won, most + won))


def _ties(targets: Floats, nontargets: Floats, low: Any) -> int:
    """The pairs of equal scores, from where each target would stand among the sorted non-targets."""
    if len(nontargets) == 0:
        return 0
    tied = np.flatnonzero(nontargets.take(low, mode="clip") == targets)
    return int((np.searchsorted(nontargets, targets[tied], "right") - low[tied]).sum())


def _at_points(points: Points) -> tuple[Any, ...]:
    return points.misses, points.rejected, points.top, points.next


def _candidates(
    points: Points, bins: Any, inside: Any, low: Any, offset: Any, where: Any, targets: Floats, nontargets: Floats
) -> tuple[Any, ...]:
    """Points just below a target, without those that lie above the hull of their neighbours."""
    new = np.flatnonzero((inside == 0) | (targets[inside] != targets[inside - 1]))
    if len(new) == 0:
        return tuple(column[:0] for column in _at_points(points))
    misses, rejected = (offset[0][where] + inside)[new], (offset[1][where] + low)[new]
    kept = convex_vertices(rejected, misses, points.targets * points.nontargets)
    misses, rejected, place, bins, low = (
        misses[kept],
        rejected[kept],
        inside[new][kept],
        bins[new][kept],
        low[new][kept],
    )
    top = points.top[bins]
    for side, at, before in (
        (targets, place, misses - points.misses[bins]),
        (nontargets, low, rejected - points.rejected[bins]),
    ):
        if len(side):
            top = np.where(before > 0, np.maximum(top, side[np.maximum(at, 1) - 1]), top)
    return misses, rejected, top, targets[place]


def _every(points: Points, bin_: int, targets: Floats, nontargets: Floats) -> tuple[Any, ...]:
    """One point per distinct score of a bin."""
    low, high = points.top[bin_], points.top[bin_ + 1]
    sides = []
    for side in (targets, nontargets):
        start = int(np.searchsorted(side, low, "right")) if points.misses[bin_] + points.rejected[bin_] else 0
        sides.append(side[start : int(np.searchsorted(side, high, "right"))])
    scores = np.unique(np.concatenate(sides))
    misses = points.misses[bin_] + np.searchsorted(sides[0], scores, "right")
    rejected = points.rejected[bin_] + np.searchsorted(sides[1], scores, "right")
    return misses, rejected, scores, np.concatenate((scores[1:], points.next[[bin_ + 1]]))


def _wins(points: Points, known: Any) -> tuple[int, int]:
    """Twice the pairs won by targets outside the bins whose rows are known, from at least to at most."""
    x, y = points._wide
    t, n = np.diff(y), np.diff(x)
    outside = np.ones(len(t), np.bool_)
    outside[known] = False
    mixed = points.mixed()
    below = 2 * int((t * x[:-1])[outside].sum())
    tied = int((t * n)[outside & ~mixed].sum())  # one value: every pair is a tie; one class: no pair
    return below + tied, below + tied + 2 * int((t * n)[outside & mixed].sum())


@dataclass(frozen=True, slots=True, eq=False)
class PointTally(Tally):
    """A tally that knows exact points only: all rows of a stretch between two are kept at its upper end."""

    next: Floats = field(default_factory=lambda: np.full(1, math.inf))  # the lowest score accepted at each point

    @classmethod
    def of_points(cls, exact: Exact, meaning: str, trained_prior: float | None) -> PointTally:
        """The tally whose points these are."""
        sides = []
        for counts in (exact.misses, exact.rejected):
            rises = np.flatnonzero(np.diff(counts)) + 1
            sides.append(Ranked(frozen(exact.top[rises]), frozen(np.concatenate((counts[:1], counts[rises])))))
        return cls(sides[0], sides[1], meaning, trained_prior, 0, frozen(exact.next))

    def at(self, thresholds: Any) -> tuple[Any, Any]:
        """The exact (misses, false alarms) at a threshold that no stretch straddles; others are refused."""
        asked = np.asarray(thresholds, np.float64)
        tops = np.union1d(self.targets.scores, self.nontargets.scores)
        unknown = ~(asked < self.next[np.searchsorted(tops, asked, "right")]) & (asked < math.inf)
        if np.any(unknown):
            raise InputError(
                f"The errors at threshold {float(asked[unknown].flat[0])} were not counted: name it among the "
                f"applications, or evaluate in memory."
            )
        return self.targets.upto(asked), self.nontargets.total - self.nontargets.upto(asked)

    def as_llr(self) -> Tally:
        """Refused: Cllr and actual costs were counted apart, from every row."""
        raise InputError(
            "This tally keeps exact points of the curve, not every score: Cllr and the actual costs of the asked "
            "applications stand in the Evaluation; for others evaluate again, or in memory."
        )


@dataclass(frozen=True, slots=True, eq=False)
class Counted(Tally):
    """The llrs of a state as far as they were asked about: exact errors at the counted thresholds."""

    state: Binned = field(default_factory=Binned.empty)

    @classmethod
    def of_state(cls, state: Binned, tally: Tally) -> Counted:
        """The counted thresholds of a state, beside the tally of its points."""
        return cls(tally.targets, tally.nontargets, "llr", None, 0, state)

    def at(self, thresholds: Any) -> tuple[Any, Any]:
        """(misses, false alarms) at thresholds that were counted."""
        places = np.searchsorted(self.state.thresholds, thresholds)
        return self.state.missed[places], self.nontargets.total - self.state.rejected[places]


@dataclass(frozen=True, eq=False, repr=False)
class PointCurve(Curve):
    """A curve of exact points that hold all of the hull; areas that need every score are refused or bracketed."""

    wins: tuple[int, int] = (0, 0)

    @property
    def auc_bracket(self) -> tuple[float, float]:
        """The Mann-Whitney statistic, from at least to at most."""
        pairs = 2 * self.targets * self.nontargets
        return ratio(self.wins[0], pairs), ratio(self.wins[1], pairs)

    @property
    def auc(self) -> float:
        """The Mann-Whitney statistic where it is known to the bit."""
        low, high = self.auc_bracket
        if low < high:
            raise InputError(f"The AUC is known to lie between {low!r} and {high!r} only: raise memory_limit.")
        return low

    @property
    def average_precision(self) -> float:
        """Refused: it needs every score."""
        return self._refuse("The average precision")

    def partial_auc(self, **_: Any) -> float:
        """Refused: it needs every score."""
        return self._refuse("A partial AUC")

    def precision_at_recalled(self, k: float) -> float:
        """Refused: it needs every score."""
        return self._refuse("A precision at a rank")

    def _top(self, k: float) -> tuple[int, int]:
        return self._refuse("A precision or recall at a rank")

    def _refuse(self, what: str) -> NoReturn:
        raise InputError(f"{what} needs every score, and this curve keeps exact points only: evaluate in memory.")


@dataclass(frozen=True, eq=False, repr=False)
class BoundedEvaluation(Evaluation):
    """An Evaluation of a source of any size; `brackets` holds both ends of what is not known to the bit."""

    brackets: dict[str, tuple[float, float]] = field(default_factory=dict)
    revisited: int = 0  # rows read again one by one
    passes: int = 1

    @classmethod
    def of(cls, exact: Evaluation) -> BoundedEvaluation:
        """What was evaluated at once, with every score."""
        return cls(**{one.name: getattr(exact, one.name) for one in fields(Evaluation)})

    def to_dict(self) -> dict[str, Any]:
        """One entry of "systems" in the JSON; "brackets" only where there are any."""
        result = super().to_dict()
        return result if self.brackets else {key: value for key, value in result.items() if key != "brackets"}

    def _headline(self) -> str:
        line = super()._headline()
        for name, (low, high) in self.brackets.items():
            line += f" ({name.upper()} between {low!r} and {high!r})"
        return line


@dataclass(frozen=True, eq=False, repr=False)
class PointEvaluation(BoundedEvaluation):
    """An Evaluation of exact points of the curve: all that needs every score is bracketed or left out."""

    @cached_property
    def histogram(self) -> dict[str, Any]:
        """Scores by class in up to 200 bins over their middle 99.9 %, cut where counts are exact."""
        return _histogram(self.curve.tally)

    def _curve_points(self) -> dict[str, Any]:
        return _thinned(self.curve)


def evaluation(
    state: Binned,
    exact: Exact,
    apps: Sequence[Application],
    plot: tuple[float, float, int],
    eer: str = "rocch",
    name: str | None = None,
) -> PointEvaluation:
    """The evaluation of a state whose hull has been resolved, through the functions of the one in memory."""
    tally = PointTally.of_points(exact, state.meaning, state.trained_prior)
    Curve.of(tally)  # refuses a class without trials
    curve = PointCurve(tally, exact.wins)
    raw = state.meaning == "raw"
    known = None if raw else Counted.of_state(state, tally)
    low, high = curve.auc_bracket
    reasons = {"cllr": NO_LLR, "bayes_plot.dcf": NO_LLR} if raw else {}
    return PointEvaluation(
        name=name,
        meaning=state.meaning,
        input={"trials": state.rows, "targets": curve.targets, "nontargets": curve.nontargets},
        eer=curve.eer(eer),
        auc=low if low == high else (low + high) / 2.0,
        cllr=None if raw else _cllr(state, curve),
        min_cllr=min_cllr(curve),
        applications=results_at(curve, known, apps),
        bayes_plot=bayes_error(curve, log_odds_grid(plot), known),
        curve=curve,
        reasons=reasons,
        brackets={} if low == high else {"auc": (low, high)},
    )


def asked_thresholds(apps: Sequence[Application], plot: tuple[float, float, int]) -> Floats:
    """The llr thresholds of the applications and of the Bayes error plot, ascending."""
    return np.unique(0.0 - np.concatenate((np.array([app.log_odds for app in apps], np.float64), log_odds_grid(plot))))


def _cllr(state: Binned, curve: Curve) -> float:
    """(mean_T log2(1 + e^-llr) + mean_F log2(1 + e^llr)) / 2 from the exact sums."""
    target, nontarget = (
        math.inf if certain else ratio(total, count, UNIT)
        for total, certain, count in zip(state.sums, state.certain, (curve.targets, curve.nontargets), strict=True)
    )
    return (0.5 * target + (1.0 - 0.5) * nontarget) / math.log(2.0)


def _thinned(curve: Curve) -> dict[str, Any]:
    """The curve's points as the JSON holds them, those alone that are exact."""
    tally = curve.tally
    plain = Tally(tally.targets, tally.nontargets, tally.meaning, tally.trained_prior)
    result = thinned(Curve(plain), rounded=False) | {"complete": False}
    result.pop("path", None)  # rows lie anywhere between two exact points
    known = np.union1d(tally.targets.scores, tally.nontargets.scores)
    kept = np.flatnonzero(np.isin([float(value) for value in result["thresholds"][1:]], known)) + 1
    for key in {"thresholds", "misses", "false_alarms", "llrs"} & set(result):
        result[key] = [result[key][0], *(result[key][place] for place in kept.tolist())]
    return result


def _histogram(tally: Tally) -> dict[str, Any]:
    sides = {"targets": tally.targets, "nontargets": tally.nontargets}
    known = np.union1d(tally.targets.scores, tally.nontargets.scores)
    known = known[np.isfinite(known)]
    if len(known) == 0:
        return {"edges": [], **{key: {"below": side.total, "bins": [], "above": 0} for key, side in sides.items()}}
    ends = [side.scores[_rank(side, share)] for side in sides.values() for share in (0.0005, 0.9995)]
    low, high = max(min(ends), float(known[0])), min(max(ends), float(known[-1]))
    ideal = low * (1.0 - _HISTOGRAM) + high * _HISTOGRAM
    tops = known[np.unique(np.clip(np.searchsorted(known, ideal), 0, len(known) - 1))]
    # Just above a known point: what is below that edge is what the point rejects.
    result: dict[str, Any] = {"edges": [*np.nextafter(tops[:-1], math.inf).tolist(), float(tops[-1])]}
    if len(tops) == 1:
        result["edges"] = [float(tops[0])] * 2
        tops = np.array([np.nextafter(tops[0], -math.inf), tops[0]])
    for key, side in sides.items():
        counts = side.upto(tops)
        result[key] = {
            "below": int(counts[0]), "bins": np.diff(counts).tolist(), "above": side.total - int(counts[-1]),
        }  # fmt: skip
    return result


def _rank(side: Ranked, share: float) -> int:
    """The place of the score that a share of a class does not exceed."""
    _, running = side.distinct()
    return min(int(np.searchsorted(running[1:], share * side.total)), len(side.scores) - 1)


def brackets(state: Binned, applications: Sequence[object] = ()) -> dict[str, Any]:
    """Certified ends (low, high) of every quantity from the counts alone, without another look at the rows.

    Each bin at its best (all non-targets below all targets) and at its worst. "dcf" and "min_dcf" hold one pair an
    application; a pair of equal ends is exact.
    """
    points = Points.of(state)
    best, middle, worst = (_arranged(points, state.meaning, how) for how in ("best", "tied", "worst"))
    apps = [Application.of(app) for app in applications]
    least = [[curve.min_dcf(app).dcf for app in apps] for curve in (best, middle)]
    low, high = _nudged(min_cllr(best), -math.inf), _nudged(min_cllr(middle), math.inf)
    cllr = None if state.meaning == "raw" else _cllr(state, middle)
    return {
        "eer": (best.eer().value, middle.eer().value),
        "auc": (worst.auc, best.auc),
        "cllr": None if cllr is None else (cllr, cllr),
        "min_cllr": (max(low, 0.0), high),
        "dcf": None if cllr is None else [_actual(state, points, app) for app in apps],
        "min_dcf": list(zip(*least, strict=True)),
    }


def _nudged(value: float, towards: float) -> float:
    """Four ulp further out, for the rounding of its sum of logs."""
    for _ in range(4):
        value = float(np.nextafter(value, towards))
    return value


def _arranged(points: Points, meaning: str, how: str) -> Curve:
    """The curve if the rows of each bin stood at its best, at its worst, or all at its upper end."""
    t, n = np.diff(points.misses), np.diff(points.rejected)
    low, high = points.next[:-1], points.top[1:]
    apart = points.mixed()
    of_targets = np.where(apart, low, high) if how == "worst" else high
    of_nontargets = np.where(apart, low, high) if how == "best" else high
    sides = [
        Ranked(frozen(scores[held > 0]), frozen(np.concatenate(([0], np.cumsum(held[held > 0])))))
        for scores, held in ((of_targets, t), (of_nontargets, n))
    ]
    return Curve.of(Tally(sides[0], sides[1], meaning))


def _actual(state: Binned, points: Points, app: Application) -> tuple[float, float]:
    """The normalised cost of the Bayes decisions: exact at a counted threshold, else between two points."""
    threshold = 0.0 - app.log_odds
    place = int(np.searchsorted(state.thresholds, threshold))
    if place < len(state.thresholds) and state.thresholds[place] == threshold:
        missed = [int(state.missed[place])] * 2
        rejected = [int(state.rejected[place])] * 2
    elif state.meaning == "llr":
        before = int(np.searchsorted(points.keys, keys_of(np.array([threshold]))[0], "right")) - 1
        after = min(before + (threshold >= points.next[before]), len(points.keys) - 1)
        missed = [int(points.misses[place]) for place in (before, after)]
        rejected = [int(points.rejected[place]) for place in (after, before)]
    else:
        missed, rejected = [0, points.targets], [points.nontargets, 0]
    fnr = quotients(np.array(missed), points.targets)
    fpr = quotients(points.nontargets - np.array(rejected), points.nontargets)
    low, high = normalised_dcf(np.full(2, app.log_odds), fnr, fpr, app.factor).tolist()
    return low, high
