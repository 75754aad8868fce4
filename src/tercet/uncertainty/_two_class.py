"""Two classes: the estimate behind each number of an Evaluation, without resampling."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import as_integers, quotients, running_total
from tercet._numeric.validation import chosen, id_words
from tercet._typing import Counts, EerDefinition, Floats, Reals
from tercet.application import Application
from tercet.calibration.two_class import Isotonic
from tercet.errors import CalibrationError, UndefinedError
from tercet.metrics.binomial import ENOUGH, FEW, delong, normal_quantile
from tercet.metrics.costs import softplus
from tercet.metrics.curves import EER_DEFINITIONS, Curve, Hull
from tercet.metrics.mover import Proportion, Sum, excluding
from tercet.metrics.tally import Ranked, Tally
from tercet.trials import NO_LLR, Trials, logit, to_llr, two_class
from tercet.uncertainty._clusters import (
    ONE_GROUP,
    Clusters,
    Moments,
    Places,
    Way,
    class_rows,
    is_fractional,
    numbered_groups,
)
from tercet.uncertainty._limits import Derived, Estimate, Mean, bracket, effective_size, mapped, named, wider
from tercet.uncertainty._out_of_fold import FoldNumbers, Folds, deal_groups, deal_rows

_TOO_MANY = "Integer weights count trials, and 2**63 or more trials have no interval: divide the weights."
_TOO_LARGE = "Weights that add up to more than the largest double have no interval: divide the weights."
LEAST_FOR_CLLR = 250  # trials of each class; with fewer, unseen tails dominate, and Cllr has no upper bound
_TINY = 1e-12
_ONE = "not estimable: a class has only one trial or one group, which cannot be held out"
JACKKNIFE = "delete-one-group jackknife, Student's t"
_EXPANDED = 1 << 22  # repeated rows up to this many are dealt to folds one by one


class NotEstimable(NamedTuple):
    """Why a number has no interval."""

    reason: str


Found = dict[str, Estimate | NotEstimable]


class RatePair(NamedTuple):
    """Both error rates at one or more thresholds, and their correlation where groups hold both classes."""

    fnr: Proportion
    fpr: Proportion
    correlation: Reals | None

    @classmethod
    def counted(cls, curve: Curve, misses: object, alarms: object) -> RatePair:
        """Rates of independent trials from error counts in the tally's unit."""
        fnr, fpr = (
            Proportion(quotients(np.asarray(errors), total), float(curve.tally.weight(total)))
            for errors, total in ((misses, curve.targets), (alarms, curve.nontargets))
        )
        return cls(fnr, fpr, None)

    def cost(self, miss: Reals, alarm: Reals) -> Sum:
        """miss x FNR + alarm x FPR."""
        table = None if self.correlation is None else [[1.0, self.correlation], [self.correlation, 1.0]]
        return Sum((self.fnr, self.fpr), (miss, alarm), table, (0.0, math.inf))


@dataclass(frozen=True, eq=False)
class TwoClassSample:
    """Labelled two-class trials as intervals need them."""

    curve: Curve
    folds: Folds
    clusters: Clusters | None  # groups or real weights; None: independent trials, counted

    @classmethod
    def of(cls, source: Trials | Tally | Curve, by: tuple[str, ...] = (), curve: Curve | None = None) -> TwoClassSample:
        """From trials, or from their summary if there are no groups; `curve` is theirs if known."""
        if isinstance(source, Trials):
            flat = two_class(source)
            fractional = flat.weights is not None and is_fractional(flat.weights)
            if by or fractional or flat.ids is not None:
                return cls._of_rows(flat, by, fractional, curve)
            source = curve or Tally.of(flat)
        known = Curve.of(source)
        most = max(known.targets, known.nontargets)
        if max(most, known.tally.weight(most)) >= 1 << 63:
            raise UndefinedError(_TOO_MANY)
        return cls(known, _tally_folds(known), None)

    @classmethod
    def _of_rows(cls, trials: Trials, by: tuple[str, ...], fractional: bool, known: Curve | None) -> TwoClassSample:
        curve, (alarms, hits) = known or Curve.of(trials), class_rows(trials)
        if curve.tally.weight(max(curve.targets, curve.nontargets)) > sys.float_info.max:
            raise UndefinedError(_TOO_LARGE)
        rows = (alarms, hits)
        scores = (trials.scores[rows[0]], trials.scores[rows[1]])
        unit = curve.tally.unit
        heavy: Sequence[Counts | None] = [None, None]
        if trials.weights is not None:
            whole_weights, unit = _fold_weights(trials.weights[np.concatenate(rows)], fractional, unit)
            heavy = np.split(whole_weights, [len(rows[0])])
        codes, dyadic = numbered_groups(trials, by, rows, trials.classes)
        dealt, count = deal_groups(codes[0]) if by else _by_id(trials, rows)
        folds = Folds(scores, (heavy[0], heavy[1]), dealt, count, unit)
        if not by and not fractional:
            return cls(curve, folds, None)
        ones = [np.ones(len(own)) if trials.weights is None else trials.weights[own] for own in rows]
        return cls(curve, folds, Clusters.of(codes, ones, dyadic))

    @property
    def sizes(self) -> tuple[float, float]:
        """Non-targets and targets, as counted."""
        weight = self.curve.tally.weight
        return float(weight(self.curve.nontargets)), float(weight(self.curve.targets))

    @cached_property
    def llrs(self) -> tuple[Floats, Floats] | None:
        """The ascending llrs of the rows of (non-targets, targets); raw scores have none."""
        tally = self.curve.tally
        if tally.meaning == "raw":
            return None
        sides = [np.maximum.accumulate(to_llr(own, tally.meaning, tally.trained_prior)) for own in self.folds.scores]
        return sides[0], sides[1]

    def actual_rates(self, points: Points) -> RatePair | None:
        """Rates of the Bayes decisions; None for raw scores."""
        return None if self.llrs is None else self.rates_at(self.llrs, 0.0 - points.log_odds)

    def rates_at(self, sides: tuple[Floats, Floats], thresholds: Floats) -> RatePair:
        """Rates when exactly the rows above each threshold are accepted, -inf accepting everything."""
        places = [np.where(thresholds == -np.inf, 0, np.searchsorted(own, thresholds, "right")) for own in sides]
        if self.clusters is None:
            weighted = zip(places, self.folds.weights, strict=True)
            rejected = [own if heavy is None else running_total(heavy)[own] for own, heavy in weighted]
            return RatePair.counted(self.curve, rejected[1], self.curve.nontargets - rejected[0])
        order = np.argsort(thresholds, kind="stable")
        found = list(self.clusters.below([own[order] for own in places]))
        means, variances, linked = _aligned([found[place] for place in np.argsort(order)])
        fpr, fnr = self._proportion(0, 1.0 - means[0], variances[0]), self._proportion(1, means[1], variances[1])
        return RatePair(fnr, fpr, -linked)

    def rates_of(self, losses: Sequence[tuple[Floats, Floats]]) -> RatePair:
        """Rates from the losses of (targets, non-targets): 1 for an error, shares where two thresholds are mixed."""
        assert self.clusters is not None
        found = [self.clusters.means([(1, missed), (0, accepted)]) for missed, accepted in losses]
        means, variances, linked = _aligned(found)
        fnr, fpr = (self._proportion(side, means[k], variances[k]) for k, side in enumerate((1, 0)))
        return RatePair(fnr, fpr, linked)

    def _proportion(self, side: int, value: Reals, variance: Reals) -> Proportion:
        assert self.clusters is not None
        own, rows = self.clusters, self.clusters.rows[side]
        size = effective_size(value, variance, rows, rows)
        few = np.minimum(value, 1.0 - np.asarray(value)) * rows < FEW
        size = np.where(few, np.minimum(size, self._sizes_from_few[side]), size)
        return Proportion(value, size, own.freedoms[side], True)

    @cached_property
    def _sizes_from_few(self) -> tuple[float, float]:
        """The effective sizes of the classes at the threshold that 13 trials fail: fewer errors show no clustering.

        Classes of fewer than 26 rows count as their groups.
        """
        assert self.clusters is not None
        own, few = self.clusters, int(FEW)
        lengths = [len(scores) for scores in self.folds.scores]
        if min(lengths) < 2 * few:
            return own.units[0], own.units[1]
        found = next(own.below([np.array([lengths[0] - few]), np.array([few])]))
        sizes = [
            float(effective_size(found.means[k], found.covariance[k, k], own.units[k], own.rows[k])) for k in range(2)
        ]
        return sizes[0], sizes[1]

    def proportions(self, columns: Sequence[tuple[int, NDArray[np.bool_]]]) -> tuple[list[Proportion], Floats]:
        """The rates of marked rows of each class, with their correlations; two columns of a class share no row."""
        if self.clusters is not None:
            found = self.clusters.means([(side, marked.astype(np.float64)) for side, marked in columns])
            parts = [
                self._proportion(side, found.means[k], found.covariance[k, k]) for k, (side, _) in enumerate(columns)
            ]
            return parts, found.correlations()
        parts = []
        for side, marked in columns:
            own = self.folds.weights[side]
            count = int(marked.sum()) if own is None else int(own[marked].sum())
            parts.append(Proportion(count / (self.curve.nontargets, self.curve.targets)[side], self.sizes[side]))
        return parts, excluding(parts, [side for side, _ in columns])


def _aligned(found: Sequence[Moments]) -> tuple[Floats, Floats, Floats]:
    """Means and variances of two columns at several thresholds, and the correlations of both."""
    means = np.array([one.means for one in found]).T
    variances = np.array([np.diag(one.covariance) for one in found]).T
    return means, variances, np.array([one.correlations()[0, 1] for one in found])


def _fold_weights(weights: Floats, fractional: bool, tallied: int) -> tuple[NDArray[np.int64], int]:
    """Weights as whole multiples of 2**unit, and the unit: exact where they fit 64 bits.

    Real weights that do not fit are rounded to a grid on which all of them together stay below 2**53: the folds only
    choose thresholds and calibrations, and the rates of these are computed from the weights themselves.
    """
    exact, unit = as_integers(weights)
    if exact.dtype.kind != "O" and (fractional or unit == tallied):
        return exact, unit
    if not fractional:
        raise UndefinedError(_TOO_MANY)
    unit = math.frexp(float(weights.max()))[1] + len(weights).bit_length() - 53
    return np.maximum(np.rint(np.ldexp(weights, -unit)), 1.0).astype(np.int64), unit


def _tally_folds(curve: Curve) -> Folds:
    """Rows dealt by the rank of their score; whole weights are repeated rows."""
    tally = curve.tally
    sides, heavy = (tally.nontargets, tally.targets), []
    scores = []
    expand = tally.unit == 0 and tally.targets.total + tally.nontargets.total <= _EXPANDED
    for side in sides:
        own = None if side.running is None else np.diff(side.running).astype(np.int64)
        scores.append(side.scores if own is None or not expand else np.repeat(side.scores, own))
        heavy.append(None if expand else own)
    numbers, count = deal_rows((len(scores[0]), len(scores[1])))
    alone = all(side.running is None for side in sides)
    return Folds((scores[0], scores[1]), (heavy[0], heavy[1]), numbers, count, tally.unit, curve if alone else None)


def _by_id(trials: Trials, rows: tuple[Places, Places]) -> tuple[tuple[FoldNumbers, FoldNumbers], int]:
    """Rows dealt in the order of their ids, or of their scores where they have none."""
    numbers, count = deal_rows((len(rows[0]), len(rows[1])))
    if trials.ids is None:
        return numbers, count
    found = []
    for own, number in zip(rows, numbers, strict=True):
        dealt = np.empty_like(number)
        dealt[np.argsort(id_words(trials.ids[own]), kind="stable")] = number
        found.append(dealt)
    return (found[0], found[1]), count


class Points(NamedTuple):
    """Operating points as arrays, and what a rate of misses and one of false alarms add to the normalised DCF."""

    log_odds: Floats
    miss: Floats
    alarm: Floats

    @classmethod
    def of(cls, apps: Sequence[Application]) -> Points:
        """The points of applications."""
        log_odds = np.array([app.log_odds for app in apps], np.float64)
        return cls.along(log_odds, np.array([app.factor for app in apps], np.float64))

    @classmethod
    def along(cls, log_odds: Floats, factors: Floats | None = None) -> Points:
        """The points of a grid of log-odds; e^|log-odds| is known more exactly of applications."""
        with np.errstate(over="ignore"):
            costly = np.exp(np.abs(log_odds)) if factors is None else factors
        return cls(log_odds, np.where(log_odds <= 0.0, 1.0, costly), np.where(log_odds <= 0.0, costly, 1.0))


def single(estimate: Estimate) -> Derived:
    """An estimate at one operating point as a number instead of an array of one."""
    return mapped(estimate, _first)


def _first(values: Reals) -> float:
    return float(np.ravel(values)[0])


def _f1_of_jaccard(index: Reals) -> Reals:
    return 2.0 * index / (1.0 + index)


def precision_and_f1(pair: RatePair, sampling: str) -> Found:
    """Shares of the hits, at the data's own class frequencies: binomial given the number of trials that count.

    Precision is the share of hits among the accepted trials. F1 = 2 q / (1 + q), q the share of hits among hits, misses
    and false alarms (Jaccard's index).
    """
    if pair.fnr.grouped or sampling == "stratified":
        why = "not in closed form for groups or at fixed class counts: ask for a bootstrap (rates=)"
        return {"ppv": NotEstimable(why), "f1": NotEstimable(why)}
    t, n = float(pair.fnr.size), float(pair.fpr.size)
    hits = t - round(float(np.ravel(pair.fnr.value)[0]) * t)
    alarms = round(float(np.ravel(pair.fpr.value)[0]) * n)
    index = Proportion(hits / (t + alarms), t + alarms)
    found: Found = {"f1": mapped(index, _f1_of_jaccard)}
    if hits + alarms > 0.0:
        return found | {"ppv": Proportion(hits / (hits + alarms), hits + alarms)}
    return found | {"ppv": NotEstimable("undefined: nothing is accepted")}


def minimum_cost(sample: TwoClassSample, points: Points) -> tuple[Derived, Sum | NotEstimable]:
    """The population minimum, and the cost of a threshold chosen in this way, evaluated out of fold."""
    ratio = np.maximum(points.miss, points.alarm)
    _, thresholds, misses, alarms = sample.curve.hull.minimum(points.log_odds, ratio)
    if sample.clusters is None:
        apparent = RatePair.counted(sample.curve, misses, alarms)
    else:
        apparent = sample.rates_at(sample.folds.scores, thresholds)
    cost = apparent.cost(points.miss, points.alarm)
    if sample.folds.count < 2:
        return bracket(cost.value, cost, None, 1.0), NotEstimable(_ONE)
    chosen = out_of_fold_rates(sample, points.log_odds, ratio).cost(points.miss, points.alarm)
    return bracket(cost.value, cost, chosen, 1.0), chosen


def out_of_fold_rates(sample: TwoClassSample, log_odds: Floats, ratio: Floats | None) -> RatePair:
    """Rates at the thresholds that were best on the other folds."""
    folds = sample.folds
    thresholds = folds.best_thresholds(log_odds, ratio)
    if sample.clusters is None:
        below = [folds.counts(side, thresholds) for side in range(2)]
        return RatePair.counted(sample.curve, below[1], sample.curve.nontargets - below[0])
    return sample.rates_of([
        (folds.rejected(1, own).astype(np.float64), (~folds.rejected(0, own)).astype(np.float64))
        for own in thresholds.T
    ])  # fmt: skip


def least_favourable(hull: Hull) -> tuple[float, float, Callable[[Floats], Floats]]:
    """The EER, the prior at which it is the minimum cost, and the share of each score that is rejected there.

    Both thresholds of the hull's edge are mixed so that the error rates are equal.
    """
    right = int(np.argmax(hull.fnr >= hull.fpr))
    left = max(right - 1, 0)
    rise, fall = hull.fnr[right] - hull.fnr[left], hull.fpr[left] - hull.fpr[right]
    part = (hull.fpr[left] - hull.fnr[left]) / (rise + fall)

    def rejected(scores: Floats) -> Floats:
        total = np.zeros(len(scores))
        for mix, threshold in ((1.0 - part, hull.thresholds[left]), (part, hull.thresholds[right])):
            total += mix * ((scores <= threshold) & (threshold > -np.inf))
        return total

    return float(hull.fnr[left] + part * rise), float(fall / (rise + fall)), rejected


def equal_error(sample: TwoClassSample, definition: EerDefinition) -> Derived:
    """The EER as the minimum cost at the least favourable prior p: p FNR + (1 - p) FPR, the same along the hull's edge.

    EER = max over p of min over thresholds, so to first order it varies as this cost does at a fixed p. All definitions
    estimate one number: the interval is the same around the value of each.
    """
    chosen(definition, "eer", EER_DEFINITIONS)
    value, share, rejected = least_favourable(sample.curve.hull)
    n, t = sample.sizes
    pair = RatePair(Proportion(value, t), Proportion(value, n), None)
    if sample.clusters is not None:
        pair = sample.rates_of([(rejected(sample.folds.scores[1]), 1.0 - rejected(sample.folds.scores[0]))])
    inside = min(max(float(share), 1e-12), 1.0 - 1e-12)
    above = None
    if sample.folds.count >= 2:
        held = out_of_fold_rates(sample, np.array([math.log(inside) - math.log1p(-inside)]), None)
        above = single(held.cost(share, 1.0 - share))
    return bracket(sample.curve.eer(definition).value, single(pair.cost(share, 1.0 - share)), above, 0.5)


def area(sample: TwoClassSample) -> Estimate:
    """The AUC on the logit scale, and Newcombe's interval where the rarer class has few errors.

    Independent trials have DeLong's variance, groups that of the jackknife of the logit.
    """
    value, clusters = sample.curve.auc, sample.clusters
    sizes = sample.sizes if clusters is None else clusters.units
    by_value = newcombe(value, sizes[1], sizes[0])
    if value in (0.0, 1.0):
        return by_value
    if clusters is None:
        variance = _delong_variance(sample.curve)
        if variance <= 0.0:
            return by_value
        found = Mean(value, math.sqrt(variance), "logit", math.inf, "DeLong")
        few = min(sample.sizes) * sample.curve.eer().value < ENOUGH
        return wider(found, by_value) if few else found
    parts = [_jackknifed_logit(sample, way) for way in clusters.ways]
    total = sum(way.sign * part for way, part in zip(clusters.ways, parts, strict=True))
    kept = [part for way, part in zip(clusters.ways, parts, strict=True) if way.sign > 0.0]
    variance = max(total, *kept)  # differences of variances can fall below the larger of them
    if not 0.0 < variance < math.inf:  # one group alone has all pairs in the wrong order, or all in the right one
        return by_value
    error = math.sqrt(variance) * value * (1.0 - value)
    return Mean(value, error, "logit", min(clusters.freedoms), JACKKNIFE)


def _jackknifed_logit(sample: TwoClassSample, way: Way) -> float:
    """The variance of the AUC's logit by leaving out each group in turn; infinite where that separates the classes.

    Without group g: (S - pairs with a target of g - those with a non-target of g + those with both) / (T_g N_g), S the
    weight of the pairs in order, T_g and N_g that of the targets and non-targets that are left.
    """
    assert sample.clusters is not None
    (n, t), scores, tally = sample.clusters.weights, sample.folds.scores, sample.curve.tally
    targets, nontargets = float(t.sum()), float(n.sum())
    above = t * placed(tally.nontargets, scores[1])
    under = n * (1.0 - placed(tally.targets, scores[0]))
    pairs = nontargets * (float(above.sum()) - way.sums(1, above)) - targets * way.sums(0, under)
    left = (targets - way.sums(1, t)) * (nontargets - way.sums(0, n))
    if (left <= 0.0).any():
        raise UndefinedError(ONE_GROUP)
    areas = (pairs + _pairs_within(scores, (n, t), way)) / left
    if (np.minimum(areas, 1.0 - areas) < _TINY).any():
        return math.inf
    gaps = np.log(areas) - np.log1p(-areas) - logit(sample.curve.auc)
    return float((way.groups - 1.0) / way.groups * (gaps * gaps).sum())


def _pairs_within(scores: tuple[Floats, Floats], weights: tuple[Floats, Floats], way: Way) -> Floats:
    """The weight of the pairs of each group whose target is above its non-target, tied ones half."""
    ranks = np.unique(np.concatenate(scores), return_inverse=True)[1]
    sides = np.split(ranks, [len(scores[0])])
    width = len(ranks) + 1
    keys, heavy = (
        [np.concatenate([make(k, side) for k in way.codes[side]]) for side in range(2)]
        for make in (lambda codes, side: codes * width + sides[side], lambda codes, side: weights[side])
    )
    order = np.argsort(keys[0], kind="stable")
    known, running = keys[0][order], np.concatenate(([0.0], np.cumsum(heavy[0][order])))
    start = running[np.searchsorted(known, keys[1] // width * width)]
    below, upto = (running[np.searchsorted(known, keys[1], side)] for side in ("left", "right"))
    found = np.bincount(keys[1] // width, heavy[1] * (0.5 * (below + upto) - start), way.groups)
    return np.asarray(found[: way.groups])


def placed(side: Ranked, scores: Floats) -> Floats:
    """The share of a class below each score, tied ones half."""
    return 0.5 * (quotients(side.below(scores), side.total) + quotients(side.upto(scores), side.total))


def _delong_variance(curve: Curve) -> float:
    """DeLong's variance; without weights and ties from the ranks that the curve has found already."""
    meeting = curve._meeting
    few, many = (curve.targets, curve.nontargets) if meeting.of_targets else (curve.nontargets, curve.targets)
    plain = curve.tally.targets.running is None and curve.tally.nontargets.running is None
    if not plain or meeting.tied or len(meeting.low) != few or few < 2:
        return delong(curve.tally).variance
    below = np.cumsum(np.bincount(meeting.low, minlength=many + 1)[:many])  # of the smaller class, by row of the larger
    return float(meeting.low.var(ddof=1)) / many**2 / few + float(below.var(ddof=1)) / few**2 / many


def newcombe(value: float, targets: float, nontargets: float) -> Derived:
    """The interval of an AUC from its value alone: Newcombe (2006), method 5, also valid for separable classes.

    (A - a)^2 = z^2 a (1 - a) (1 + m ((1 - a) / (2 - a) + a / (1 + a))) / (T N), with m = (T + N) / 2 - 1.
    """
    return Derived(value, named("Newcombe"), partial(_newcombe_limits, value, targets, nontargets))


def _newcombe_limits(value: float, targets: float, nontargets: float, level: float) -> tuple[float, float]:
    """Where the squared distance is the squared reach, by halving on both sides of the value."""
    square = normal_quantile(level) ** 2 / (targets * nontargets)
    mean = (targets + nontargets) / 2.0 - 1.0

    def inside(a: float) -> bool:
        spread = a * (1.0 - a) * (1.0 + mean * ((1.0 - a) / (2.0 - a) + a / (1.0 + a)))
        return (value - a) ** 2 <= square * spread

    return _edge(value, 0.0, inside), _edge(value, 1.0, inside)


def _edge(value: float, outside: float, inside: Callable[[float], bool]) -> float:
    """The last value inside on the way to 0 or 1."""
    near, far = min(max(value, _TINY), 1.0 - _TINY), outside
    if near == far or not inside(near):
        return value
    for _ in range(60):
        middle = (near + far) / 2.0
        near, far = (middle, far) if inside(middle) else (near, middle)
    return near if abs(near - outside) > _TINY else outside


def log_costs(sample: TwoClassSample) -> Estimate | NotEstimable:
    """Cllr: a mean of losses in each class, on the log scale."""
    if sample.llrs is None:
        return NotEstimable(NO_LLR)
    if (few := _few(sample)) is not None:
        return few
    losses = softplus(sample.llrs[0]), softplus(0.0 - sample.llrs[1])
    return _mean_of_losses(sample, losses) or NotEstimable("not estimable: Cllr is infinite or 0")


def _few(sample: TwoClassSample) -> NotEstimable | None:
    least = min(sample.sizes)
    if least >= LEAST_FOR_CLLR:
        return None
    few = "1 trial" if least == 1 else f"{least:g} trials"
    return NotEstimable(
        f"not estimable from {few} of a class: fewer than {LEAST_FOR_CLLR} do not show the rare large losses, and "
        f"Cllr has no upper bound"
    )


def _mean_of_losses(
    sample: TwoClassSample, losses: tuple[Floats, Floats], weights: tuple[Floats, Floats] | None = None
) -> Mean | None:
    """Half the mean loss of each class, in bits, with its standard error; None where it is 0 or infinite.

    `weights` are those of the losses, unless each loss belongs to one row.
    """
    bits = 0.5 / math.log(2.0)
    if not all(np.isfinite(own).all() for own in losses):
        return None
    if sample.clusters is not None:
        found = sample.clusters.means([(0, losses[0]), (1, losses[1])])
        value, variance = bits * found.means.sum(), bits**2 * found.variance_of_sum()
        how, freedom = JACKKNIFE, min(sample.clusters.freedoms)
    else:
        value = variance = third = 0.0
        for own, heavy, size in zip(losses, weights or sample.folds.weights, sample.sizes, strict=True):
            total = float(len(own) if heavy is None else heavy.sum())
            mean = float(own.sum() if heavy is None else (own * heavy).sum()) / total
            gaps = own - mean
            squares = gaps * gaps if heavy is None else gaps * gaps * heavy
            value += bits * mean
            variance += bits**2 * float(squares.sum()) / total / (size - 1.0)
            third += bits**3 * float((squares * gaps).sum()) / total / size**2
        if variance > 0.0:
            return Mean(value, math.sqrt(variance), "", math.inf, "Hall's transformation", third / variance**1.5)
    if value <= 0.0 or variance <= 0.0:
        return None
    return Mean(float(value), math.sqrt(variance), "log", freedom, how)


def min_log_costs(sample: TwoClassSample) -> Estimate | NotEstimable:
    """The population minimum of Cllr: lower end of the apparent one, upper end of Cllr after isotonic out of fold."""
    if (few := _few(sample)) is not None:
        return few
    best = Isotonic._of_hull(sample.curve.hull, {}, raw=True)
    if sample.clusters is None:
        below, above = (
            _mean_of_losses(sample, *_block_losses(sample, maps)) for maps in ([best], _held_out_maps(sample))
        )
    else:
        scores = sample.folds.scores
        apparent = _isotonic_losses(scores, [best], [np.zeros(len(own), np.intp) for own in scores])
        below, above = (_mean_of_losses(sample, own) for own in (apparent, held_out_isotonic_losses(sample)))
    if below is None or above is None:
        return NotEstimable("not estimable: the classes separate")
    return bracket(below.value, below, above, 1.0)


def _held_out_maps(sample: TwoClassSample) -> list[Isotonic]:
    """The isotonic map of each training part."""
    return [Isotonic._of_hull(hull, {}, unit=sample.folds.unit) for hull in sample.folds.hulls]


def _block_losses(
    sample: TwoClassSample, maps: Sequence[Isotonic]
) -> tuple[tuple[Floats, Floats], tuple[Floats, Floats]]:
    """Losses and how many rows have each: a map is constant on its blocks. One map for all rows, or one per fold."""
    folds, losses, counts = sample.folds, [], []
    for side, sign in ((0, 1.0), (1, -1.0)):
        scores, values, heavy = folds.scores[side], [], []
        for fold, one in enumerate(maps):
            places = np.r_[0, np.searchsorted(scores, one.thresholds, "right"), len(scores)]
            if len(maps) > 1:
                upto = folds.among_first(side, fold, places)
            else:
                own = folds.weights[side]
                upto = places if own is None else running_total(own)[places]
            here = np.diff(upto) > 0
            values.append(softplus(sign * one.llrs[here]))
            heavy.append(np.diff(upto)[here].astype(np.float64))
        losses.append(np.concatenate(values))
        counts.append(np.concatenate(heavy))
    return (losses[0], losses[1]), (counts[0], counts[1])


def held_out_isotonic_losses(sample: TwoClassSample) -> tuple[Floats, Floats]:
    """The logarithmic loss of each ascending score under isotonic calibration on the other folds, by class."""
    found: tuple[Floats, Floats] = _isotonic_losses(sample.folds.scores, _held_out_maps(sample), sample.folds.numbers)
    return found


def _isotonic_losses(
    scores: tuple[Floats, Floats], maps: Sequence[Isotonic], folds: Sequence[FoldNumbers]
) -> tuple[Floats, Floats]:
    losses = []
    for sign, own, numbers in zip((1.0, -1.0), scores, folds, strict=True):
        llr = np.empty(len(own))
        for fold, one in enumerate(maps):
            llr[numbers == fold] = one(own[numbers == fold])
        losses.append(softplus(sign * llr))
    return losses[0], losses[1]


def calibration_loss(sample: TwoClassSample, app: Application) -> Estimate | NotEstimable:
    """Actual cost minus the cost after logistic calibration out of fold, from the trials decided differently."""
    if sample.llrs is None:
        return NotEstimable(NO_LLR)
    if app.dummy_is_free or not math.isfinite(app.factor):
        return NotEstimable("a normalised cost does not exist: one kind of error is free")
    if sample.folds.count < 2:
        return NotEstimable(_ONE)
    try:
        lines = sample.folds.lines(app)
    except (CalibrationError, UndefinedError) as error:
        return NotEstimable(f"the other folds cannot be calibrated: {error}")
    columns = []
    for side in (1, 0):
        before = sample.llrs[side] > app.threshold
        after = sample.folds.accepted(side, lines, app.threshold)
        only_actual, only_calibrated = (
            (before & ~after, after & ~before) if side == 0 else (after & ~before, before & ~after)
        )
        columns += [(side, only_actual), (side, only_calibrated)]
    parts, linked = sample.proportions(columns)
    points = Points.of([app])
    miss, alarm = float(points.miss[0]), float(points.alarm[0])
    return Sum(tuple(parts), (miss, -miss, alarm, -alarm), linked)
