"""Slow exact references written straight from the definitions, and Hypothesis strategies to feed them.

The references take plain sequences: scores (floats, may be infinite, not NaN), labels (truthy = target)
and optional weights, which are taken exactly; a row of weight 0 is dropped. They return exact fractions, or
floats rounded once from 50 digits where roots or logarithms enter. A rate of a class without weight raises
ZeroDivisionError.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from itertools import pairwise
from numbers import Integral
from typing import TYPE_CHECKING, Literal, TypeAlias

if TYPE_CHECKING:
    from hypothesis.strategies import DrawFn, SearchStrategy

__all__ = [
    "auc",
    "average_precision",
    "bayes_decision",
    "bayes_risk",
    "brier",
    "cllr",
    "clopper_pearson",
    "confusion",
    "cost_matrices",
    "dcf",
    "dcf_u",
    "dummy_risk",
    "eer",
    "empirical_cross_entropy",
    "hull",
    "hull_auc",
    "hull_lrs",
    "labelled_scores",
    "log_loss",
    "min_cllr",
    "min_dcf",
    "neyman_pearson",
    "operating_points",
    "partial_auc",
    "pav",
    "points",
    "precision_at",
    "precision_at_recalled",
    "priors",
    "rates_at",
    "recall_at",
    "score_matrices",
    "weights_for",
    "wilson",
]

Number: TypeAlias = float | Fraction
Weights: TypeAlias = Sequence[Number] | None
Point: TypeAlias = tuple[float, Fraction, Fraction]  # threshold, misses, false alarms
Block: TypeAlias = tuple[float, float, Fraction, Fraction]  # lowest, highest score, targets, non-targets


# --- The curve ---


def points(scores: Sequence[float], labels: Sequence[object], weights: Weights = None) -> list[Point]:
    """(threshold, misses, false alarms): accept-all at -inf, then "accept scores > v" for each distinct v.

    Parameters
    ----------
    scores : sequence of float
        One score per trial; higher for targets.
    labels : sequence
        1 (or True) for a target, 0 for a non-target; class numbers for posteriors and decisions.
    weights : sequence of float, optional
        Weight of each trial; by default 1.

    Returns
    -------
    list of tuple
        (threshold, misses, false alarms) of each point.

    Examples
    --------
    >>> [(t, int(m), int(f)) for t, m, f in points([1, 2, 2], [0, 1, 0])]
    [(-inf, 0, 2), (1.0, 0, 1), (2.0, 1, 0)]
    """
    rows = _rows(scores, labels, weights)
    curve = [(-math.inf, Fraction(0), sum((w for _, y, w in rows if not y), Fraction(0)))]
    for v in sorted({s for s, _, _ in rows}):
        misses = sum((w for s, y, w in rows if y and s <= v), Fraction(0))
        alarms = sum((w for s, y, w in rows if not y and s > v), Fraction(0))
        curve.append((v, misses, alarms))
    return curve


def rates_at(
    scores: Sequence[float], labels: Sequence[object], threshold: float, weights: Weights = None
) -> tuple[Fraction, Fraction]:
    """(FNR, FPR) when exactly the scores > threshold are accepted.

    Parameters
    ----------
    scores : sequence of float
        One score per trial; higher for targets.
    labels : sequence
        1 (or True) for a target, 0 for a non-target; class numbers for posteriors and decisions.
    threshold : float
        Scores above it are accepted.
    weights : sequence of float, optional
        Weight of each trial; by default 1.

    Returns
    -------
    tuple of Fraction
        FNR and FPR.

    Examples
    --------
    >>> rates_at([1, 2, 2], [0, 1, 0], 1)
    (Fraction(0, 1), Fraction(1, 2))
    """
    rows = _rows(scores, labels, weights)
    targets, others = _totals(rows)
    misses = sum((w for s, y, w in rows if y and not s > threshold), Fraction(0))
    alarms = sum((w for s, y, w in rows if not y and s > threshold), Fraction(0))
    return misses / targets, alarms / others


def hull(scores: Sequence[float], labels: Sequence[object], weights: Weights = None) -> list[Point]:
    """Strict vertices of the ROC convex hull: every chord into one is flatter than every chord out of it.

    The slope of a chord is the misses it adds over the false alarms it saves.

    Parameters
    ----------
    scores : sequence of float
        One score per trial; higher for targets.
    labels : sequence
        1 (or True) for a target, 0 for a non-target; class numbers for posteriors and decisions.
    weights : sequence of float, optional
        Weight of each trial; by default 1.

    Returns
    -------
    list of tuple
        (threshold, misses, false alarms) of each vertex.

    Examples
    --------
    >>> [t for t, _, _ in hull([1, 2, 3, 4], [0, 1, 0, 1])]
    [-inf, 1.0, 3.0, 4.0]
    """
    curve = points(scores, labels, weights)
    vertices = []
    for j, point in enumerate(curve):
        into = [_slope(earlier, point) for earlier in curve[:j]]
        out = [_slope(point, later) for later in curve[j + 1 :]]
        if not into or not out or max(into) < min(out):
            vertices.append(point)
    return vertices


def hull_lrs(scores: Sequence[float], labels: Sequence[object], weights: Weights = None) -> list[Fraction | float]:
    """Likelihood ratio (not its log) of each hull segment: (targets / T) / (non-targets / N), maybe inf.

    Parameters
    ----------
    scores : sequence of float
        One score per trial; higher for targets.
    labels : sequence
        1 (or True) for a target, 0 for a non-target; class numbers for posteriors and decisions.
    weights : sequence of float, optional
        Weight of each trial; by default 1.

    Returns
    -------
    list
        One likelihood ratio per segment.

    Examples
    --------
    >>> hull_lrs([1, 2, 3, 4], [0, 1, 0, 1])
    [Fraction(0, 1), Fraction(1, 1), inf]
    """
    return [_slope(a, b) for a, b in pairwise(_rates(hull(scores, labels, weights)))]


def pav(scores: Sequence[float], labels: Sequence[object], weights: Weights = None) -> list[Block]:
    """Blocks of the isotonic regression: pool neighbours while the share of targets does not strictly rise.

    Parameters
    ----------
    scores : sequence of float
        One score per trial; higher for targets.
    labels : sequence
        1 (or True) for a target, 0 for a non-target; class numbers for posteriors and decisions.
    weights : sequence of float, optional
        Weight of each trial; by default 1.

    Returns
    -------
    list of tuple
        (lowest score, highest score, targets, non-targets) of each block.

    Examples
    --------
    >>> [(low, high, int(t), int(n)) for low, high, t, n in pav([1, 2, 3, 4], [0, 1, 0, 1])]
    [(1.0, 1.0, 0, 1), (2.0, 3.0, 1, 1), (4.0, 4.0, 1, 0)]
    """
    blocks: list[Block] = []
    for v, t, n in _groups(_rows(scores, labels, weights)):
        low = v
        while blocks and blocks[-1][2] / (blocks[-1][2] + blocks[-1][3]) >= t / (t + n):
            low, _, pooled_t, pooled_n = blocks.pop()
            t, n = t + pooled_t, n + pooled_n
        blocks.append((low, v, t, n))
    return blocks


def eer(
    scores: Sequence[float],
    labels: Sequence[object],
    definition: Literal["rocch", "interpolated", "nearest"] = "rocch",
    weights: Weights = None,
) -> tuple[Fraction, float]:
    """(EER, threshold): FNR = FPR on the hull or on the curve's segments, or their mean where nearest.

    The threshold of a crossing is the lower end of its segment; a point that lies on FNR = FPR is its own.

    Parameters
    ----------
    scores : sequence of float
        One score per trial; higher for targets.
    labels : sequence
        1 (or True) for a target, 0 for a non-target; class numbers for posteriors and decisions.
    definition : {"rocch", "interpolated", "nearest"}, default "rocch"
        Which equal error rate.
    weights : sequence of float, optional
        Weight of each trial; by default 1.

    Returns
    -------
    tuple
        The EER as a fraction, and its threshold.

    Examples
    --------
    >>> eer([1, 2, 3, 4], [0, 1, 0, 1])
    (Fraction(1, 4), 1.0)
    """
    if definition not in ("rocch", "interpolated", "nearest"):
        raise ValueError(f"definition must be 'rocch', 'interpolated' or 'nearest', not {definition!r}")
    curve = _rates((hull if definition == "rocch" else points)(scores, labels, weights))
    if definition == "nearest":
        threshold, fnr, fpr = min(curve, key=lambda point: abs(point[1] - point[2]))
        return (fnr + fpr) / 2, threshold
    last = max(i for i, (_, fnr, fpr) in enumerate(curve) if fnr <= fpr)
    (threshold, fnr, fpr), (_, next_fnr, next_fpr) = curve[last], curve[last + 1]
    share = (fpr - fnr) / ((fpr - fnr) + (next_fnr - next_fpr))
    return fnr + share * (next_fnr - fnr), threshold


# --- Costs at an operating point ---


def dcf_u(fnr: Number, fpr: Number, prior: Number, cost_fn: Number = 1, cost_fp: Number = 1) -> Fraction:
    """DCF_u = prior cost_fn FNR + (1 - prior) cost_fp FPR, every float taken exactly.

    Parameters
    ----------
    fnr : number
        Miss rate.
    fpr : number
        False-alarm rate.
    prior : number
        Probability of the target.
    cost_fn : number, default 1
        Cost of a miss.
    cost_fp : number, default 1
        Cost of a false alarm.

    Returns
    -------
    fractions.Fraction
        The cost, exactly.

    Examples
    --------
    >>> dcf_u(Fraction(1, 4), Fraction(1, 2), Fraction(1, 3), 2, 1)
    Fraction(1, 2)
    """
    p = _exact(prior)
    return p * _exact(cost_fn) * _exact(fnr) + (1 - p) * _exact(cost_fp) * _exact(fpr)


def dcf(fnr: Number, fpr: Number, prior: Number, cost_fn: Number = 1, cost_fp: Number = 1) -> Fraction:
    """DCF = DCF_u / min(prior cost_fn, (1 - prior) cost_fp): the cost divided by the better dummy's.

    Parameters
    ----------
    fnr : number
        Miss rate.
    fpr : number
        False-alarm rate.
    prior : number
        Probability of the target.
    cost_fn : number, default 1
        Cost of a miss.
    cost_fp : number, default 1
        Cost of a false alarm.

    Returns
    -------
    fractions.Fraction
        The normalised cost, exactly.

    Examples
    --------
    >>> dcf(Fraction(1, 4), Fraction(1, 2), Fraction(1, 3), 2, 1)
    Fraction(3, 4)
    """
    reject_all = dcf_u(1, 0, prior, cost_fn, cost_fp)
    accept_all = dcf_u(0, 1, prior, cost_fn, cost_fp)
    return dcf_u(fnr, fpr, prior, cost_fn, cost_fp) / min(reject_all, accept_all)


def min_dcf(
    scores: Sequence[float],
    labels: Sequence[object],
    prior: Number,
    cost_fn: Number = 1,
    cost_fp: Number = 1,
    weights: Weights = None,
) -> tuple[Fraction, float]:
    """(least normalised DCF over all curve points, the lowest threshold that reaches it).

    Parameters
    ----------
    scores : sequence of float
        One score per trial; higher for targets.
    labels : sequence
        1 (or True) for a target, 0 for a non-target; class numbers for posteriors and decisions.
    prior : number
        Probability of the target.
    cost_fn : number, default 1
        Cost of a miss.
    cost_fp : number, default 1
        Cost of a false alarm.
    weights : sequence of float, optional
        Weight of each trial; by default 1.

    Returns
    -------
    tuple
        The minimum DCF as a fraction, and its threshold.

    Examples
    --------
    >>> min_dcf([1, 2, 3, 4], [0, 1, 0, 1], 0.5)
    (Fraction(1, 2), 1.0)
    """
    curve = _rates(points(scores, labels, weights))
    costs = [(dcf(fnr, fpr, prior, cost_fn, cost_fp), threshold) for threshold, fnr, fpr in curve]
    return min(costs)


def neyman_pearson(
    scores: Sequence[float], labels: Sequence[object], alpha: Number, weights: Weights = None
) -> tuple[float, Fraction, Fraction]:
    """(t, gamma, TPR): the largest TPR with FPR <= alpha, accepting s > t surely and s = t with chance gamma.

    Of equal TPRs the one with the least FPR; gamma < 1 except in accept-all, which is (-inf, 1, 1).

    Parameters
    ----------
    scores : sequence of float
        One score per trial; higher for targets.
    labels : sequence
        1 (or True) for a target, 0 for a non-target; class numbers for posteriors and decisions.
    alpha : number
        The largest false-alarm rate allowed.
    weights : sequence of float, optional
        Weight of each trial; by default 1.

    Returns
    -------
    tuple
        (t, gamma, TPR).

    Examples
    --------
    >>> neyman_pearson([1, 2, 2, 3], [0, 1, 0, 1], Fraction(1, 4))
    (2.0, Fraction(1, 2), Fraction(3, 4))
    """
    level = _exact(alpha)
    curve = _rates(points(scores, labels, weights))
    rules = [(Fraction(1), -curve[0][2], curve[0][0], Fraction(1))] if level >= 1 else []
    for (_, fnr_with, fpr_with), (threshold, fnr, fpr) in pairwise(curve):
        if fpr > level:
            continue
        rules.append((1 - fnr, -fpr, threshold, Fraction(0)))
        if fpr_with > level:  # else accepting the tie surely is the curve point before
            gamma = (level - fpr) / (fpr_with - fpr)
            rules.append((1 - fnr + gamma * (fnr - fnr_with), -level, threshold, gamma))
    tpr, _, threshold, gamma = max(rules, key=lambda rule: rule[:2])
    return threshold, gamma, tpr


# --- Areas and ranks ---


def auc(scores: Sequence[float], labels: Sequence[object], weights: Weights = None) -> Fraction:
    """AUC = P(target score > non-target score) + P(equal) / 2, over all pairs.

    Parameters
    ----------
    scores : sequence of float
        One score per trial; higher for targets.
    labels : sequence
        1 (or True) for a target, 0 for a non-target; class numbers for posteriors and decisions.
    weights : sequence of float, optional
        Weight of each trial; by default 1.

    Returns
    -------
    fractions.Fraction
        The AUC, exactly.

    Examples
    --------
    >>> auc([1, 2, 2], [0, 1, 0])
    Fraction(3, 4)
    """
    rows = _rows(scores, labels, weights)
    targets, others = _totals(rows)
    nontargets = [(s, w) for s, y, w in rows if not y]
    wins = Fraction(0)
    for score, target, weight in rows:
        if target:
            wins += weight * sum((w for s, w in nontargets if score > s), Fraction(0))
            wins += weight * sum((w for s, w in nontargets if score == s), Fraction(0)) / 2
    return wins / (targets * others)


def hull_auc(scores: Sequence[float], labels: Sequence[object], weights: Weights = None) -> Fraction:
    """Area under the ROC convex hull: sum of (FPR_i - FPR_i+1) (TPR_i + TPR_i+1) / 2 over its segments.

    Parameters
    ----------
    scores : sequence of float
        One score per trial; higher for targets.
    labels : sequence
        1 (or True) for a target, 0 for a non-target; class numbers for posteriors and decisions.
    weights : sequence of float, optional
        Weight of each trial; by default 1.

    Returns
    -------
    fractions.Fraction
        The area, exactly.

    Examples
    --------
    >>> hull_auc([1, 2, 3, 4], [0, 1, 0, 1])
    Fraction(7, 8)
    """
    curve = _rates(hull(scores, labels, weights))
    doubled = sum(((a[2] - b[2]) * (2 - a[1] - b[1]) for a, b in pairwise(curve)), Fraction(0))
    return doubled / 2


def partial_auc(
    scores: Sequence[float],
    labels: Sequence[object],
    low: Number,
    high: Number,
    axis: Literal["fpr", "tpr"] = "fpr",
    weights: Weights = None,
) -> Fraction:
    """Integral of TPR dFPR over low <= FPR <= high, or of (1 - FPR) dTPR over low <= TPR <= high.

    The ROC is piecewise linear; nothing is normalised; over the whole range 0..1 both are the AUC.

    Parameters
    ----------
    scores : sequence of float
        One score per trial; higher for targets.
    labels : sequence
        1 (or True) for a target, 0 for a non-target; class numbers for posteriors and decisions.
    low : number
        Lower end of the range.
    high : number
        Upper end of the range.
    axis : {"fpr", "tpr"}, default "fpr"
        The axis that the range is on.
    weights : sequence of float, optional
        Weight of each trial; by default 1.

    Returns
    -------
    fractions.Fraction
        The area, exactly.

    Examples
    --------
    >>> partial_auc([1, 2], [0, 1], 0, 0.25), partial_auc([1, 2], [1, 0], 0, 0.25, axis="tpr")
    (Fraction(1, 4), Fraction(0, 1))
    """
    if axis not in ("fpr", "tpr"):
        raise ValueError(f"axis must be 'fpr' or 'tpr', not {axis!r}")
    path = [(fpr, 1 - fnr) for _, fnr, fpr in reversed(_rates(points(scores, labels, weights)))]
    if axis == "tpr":
        path = [(tpr, 1 - fpr) for fpr, tpr in path]
    bounds = _exact(low), _exact(high)
    return sum((_clipped_trapezoid(a, b, *bounds) for a, b in pairwise(path)), Fraction(0))


def average_precision(scores: Sequence[float], labels: Sequence[object], weights: Weights = None) -> Fraction:
    """AP = sum of (recall_k - recall_k-1) precision_k over the curve points from the top, ties pooled.

    Parameters
    ----------
    scores : sequence of float
        One score per trial; higher for targets.
    labels : sequence
        1 (or True) for a target, 0 for a non-target; class numbers for posteriors and decisions.
    weights : sequence of float, optional
        Weight of each trial; by default 1.

    Returns
    -------
    fractions.Fraction
        The average precision, exactly.

    Examples
    --------
    >>> average_precision([1, 2, 3], [1, 0, 1])
    Fraction(5, 6)
    """
    curve = points(scores, labels, weights)
    targets = curve[-1][1]
    total = Fraction(0)
    for (_, misses, alarms), (_, misses_above, _) in pairwise(curve):
        found = targets - misses
        total += (misses_above - misses) * found / (found + alarms)
    return total / targets


def precision_at_recalled(
    scores: Sequence[float], labels: Sequence[object], k: Number, weights: Weights = None
) -> Fraction:
    """TP / (TP + FP) at the first curve point from the top with TP >= k, ties pooled.

    Parameters
    ----------
    scores : sequence of float
        One score per trial; higher for targets.
    labels : sequence
        1 (or True) for a target, 0 for a non-target; class numbers for posteriors and decisions.
    k : int
        How many: the rank, or the number of events.
    weights : sequence of float, optional
        Weight of each trial; by default 1.

    Returns
    -------
    fractions.Fraction
        The precision, exactly.

    Examples
    --------
    >>> precision_at_recalled([1, 2, 3], [1, 0, 1], 2)
    Fraction(2, 3)
    """
    curve = points(scores, labels, weights)
    targets, wanted = curve[-1][1], _exact(k)
    if not 0 < wanted <= targets:
        raise ValueError(f"k must lie in 1..{targets}, the number of targets, not {k}")
    _, misses, alarms = next(point for point in reversed(curve) if targets - point[1] >= wanted)
    return (targets - misses) / (targets - misses + alarms)


def precision_at(scores: Sequence[float], labels: Sequence[object], k: Number, weights: Weights = None) -> Fraction:
    """Expected targets among the top k rows / k, over all orders of tied rows.

    Parameters
    ----------
    scores : sequence of float
        One score per trial; higher for targets.
    labels : sequence
        1 (or True) for a target, 0 for a non-target; class numbers for posteriors and decisions.
    k : int
        How many: the rank, or the number of events.
    weights : sequence of float, optional
        Weight of each trial; by default 1.

    Returns
    -------
    fractions.Fraction
        The precision, exactly.

    Examples
    --------
    >>> precision_at([2, 2, 1], [1, 0, 1], 1)
    Fraction(1, 2)
    """
    return _expected_in_top(scores, labels, k, weights) / _exact(k)


def recall_at(scores: Sequence[float], labels: Sequence[object], k: Number, weights: Weights = None) -> Fraction:
    """Expected targets among the top k rows / all targets, over all orders of tied rows.

    Parameters
    ----------
    scores : sequence of float
        One score per trial; higher for targets.
    labels : sequence
        1 (or True) for a target, 0 for a non-target; class numbers for posteriors and decisions.
    k : int
        How many: the rank, or the number of events.
    weights : sequence of float, optional
        Weight of each trial; by default 1.

    Returns
    -------
    fractions.Fraction
        The recall, exactly.

    Examples
    --------
    >>> recall_at([2, 2, 1], [1, 0, 1], 1)
    Fraction(1, 4)
    """
    targets = points(scores, labels, weights)[-1][1]
    return _expected_in_top(scores, labels, k, weights) / targets


# --- Cross-entropies ---


def cllr(llrs: Sequence[float], labels: Sequence[object], weights: Weights = None) -> float:
    """Cllr = (mean over targets of log2(1 + e^-x) + mean over non-targets of log2(1 + e^x)) / 2.

    Parameters
    ----------
    llrs : sequence of float
        Natural-log likelihood ratios.
    labels : sequence
        1 (or True) for a target, 0 for a non-target; class numbers for posteriors and decisions.
    weights : sequence of float, optional
        Weight of each trial; by default 1.

    Returns
    -------
    float
        Cllr in bits.

    Examples
    --------
    >>> cllr([0, 0, 0], [0, 1, 1])
    1.0
    """
    return empirical_cross_entropy(llrs, labels, Fraction(1, 2), weights)


def empirical_cross_entropy(
    llrs: Sequence[float], labels: Sequence[object], prior: Number, weights: Weights = None
) -> float:
    """Bits: p mean_T log2(1 + e^-(x + logit p)) + (1 - p) mean_N log2(1 + e^(x + logit p)).

    Parameters
    ----------
    llrs : sequence of float
        Natural-log likelihood ratios.
    labels : sequence
        1 (or True) for a target, 0 for a non-target; class numbers for posteriors and decisions.
    prior : number
        Probability of the target.
    weights : sequence of float, optional
        Weight of each trial; by default 1.

    Returns
    -------
    float
        Bits.

    Examples
    --------
    >>> round(empirical_cross_entropy([0, 0], [0, 1], 0.25), 4)    # 2 - 3/4 log2(3)
    0.8113
    """
    rows = _rows(llrs, labels, weights)
    targets, others = _totals(rows)
    p = _exact(prior)
    per_target, per_other = p / targets, (1 - p) / others
    with localcontext(_PRECISE):
        offset = _decimal(p / (1 - p)).ln()
        total = Decimal(0)
        for x, target, w in rows:
            log_odds = Decimal(x) + offset
            if target:
                total += _decimal(per_target * w) * _softplus(-log_odds)
            else:
                total += _decimal(per_other * w) * _softplus(log_odds)
        return float(total / Decimal(2).ln())


def min_cllr(scores: Sequence[float], labels: Sequence[object], weights: Weights = None) -> float:
    """Cllr of the PAV blocks' likelihood ratios r: (sum t/T log2(1 + 1/r) + sum n/N log2(1 + r)) / 2.

    Parameters
    ----------
    scores : sequence of float
        One score per trial; higher for targets.
    labels : sequence
        1 (or True) for a target, 0 for a non-target; class numbers for posteriors and decisions.
    weights : sequence of float, optional
        Weight of each trial; by default 1.

    Returns
    -------
    float
        Minimum Cllr in bits.

    Examples
    --------
    >>> min_cllr([1, 1], [0, 1]), min_cllr([1, 2], [0, 1])
    (1.0, 0.0)
    """
    targets, others = _totals(_rows(scores, labels, weights))
    per_target, per_other = 1 / targets, 1 / others
    with localcontext(_PRECISE):
        total = Decimal(0)
        for _, _, block_t, block_n in pav(scores, labels, weights):
            t, n = block_t * per_target, block_n * per_other
            if t and n:  # a pure block has an infinite, right llr: it costs nothing
                total += _decimal(t) * _log1p(_decimal(n / t)) + _decimal(n) * _log1p(_decimal(t / n))
        return float(total / (2 * Decimal(2).ln()))


# --- Many classes ---


def confusion(
    decisions: Sequence[int],
    labels: Sequence[int],
    n_decisions: int,
    n_classes: int,
    weights: Weights = None,
) -> list[list[Fraction]]:
    """M[i][j] = weight of the rows with decision i and true class j.

    Parameters
    ----------
    decisions : sequence of int
        Action numbers.
    labels : sequence of int
        The true class numbers.
    n_decisions : int
        Number of actions.
    n_classes : int
        Number of classes.
    weights : sequence of float, optional
        Weight of each trial; by default 1.

    Returns
    -------
    list of lists of Fraction
        The table.

    Examples
    --------
    >>> [[int(m) for m in row] for row in confusion([0, 1, 1], [0, 0, 1], 2, 2)]
    [[1, 0], [1, 1]]
    """
    rows = list(zip(decisions, labels, _exact_weights(weights, len(labels)), strict=True))
    for i, j, _ in rows:
        if not (0 <= i < n_decisions and 0 <= j < n_classes):
            raise ValueError(f"decision {i} of class {j} lies outside {n_decisions} x {n_classes}")
    return [
        [sum((w for d, y, w in rows if d == i and y == j), Fraction(0)) for j in range(n_classes)]
        for i in range(n_decisions)
    ]


def bayes_risk(
    matrix: Sequence[Sequence[Number]], prior: Sequence[Number], costs: Sequence[Sequence[Number]]
) -> Fraction:
    """Risk = sum_j prior_j sum_i R_ij C_ij, R = M with every column divided by its sum.

    Parameters
    ----------
    matrix : sequence of sequences
        Counts: rows = decision, columns = true class.
    prior : sequence of number
        Probability of each class.
    costs : sequence of sequences
        Cost of each action (row) when each class (column) is true.

    Returns
    -------
    fractions.Fraction
        The risk, exactly.

    Examples
    --------
    >>> bayes_risk([[1, 0], [1, 1]], [0.5, 0.5], [[0, 1], [1, 0]])
    Fraction(1, 4)
    """
    risk = Fraction(0)
    for j, p in enumerate(prior):
        column = [_exact(row[j]) for row in matrix]
        cost = [_exact(row[j]) for row in costs]
        risk += _exact(p) * sum(m * c for m, c in zip(column, cost, strict=True)) / sum(column, Fraction(0))
    return risk


def dummy_risk(prior: Sequence[Number], costs: Sequence[Sequence[Number]]) -> Fraction:
    """min_i sum_j C_ij prior_j: the risk of the best fixed action, by which a risk is normalised.

    Parameters
    ----------
    prior : sequence of number
        Probability of each class.
    costs : sequence of sequences
        Cost of each action (row) when each class (column) is true.

    Returns
    -------
    fractions.Fraction
        The risk, exactly.

    Examples
    --------
    >>> dummy_risk([0.25, 0.75], [[0, 1], [2, 0]])
    Fraction(1, 2)
    """
    return min(_expected_costs(prior, costs))


def bayes_decision(posteriors: Sequence[Number], costs: Sequence[Sequence[Number]]) -> int:
    """argmin_i sum_j C_ij P(j), the lowest index on exact ties.

    Parameters
    ----------
    posteriors : sequence
        P(class): one row per trial; for a single decision one number per class.
    costs : sequence of sequences
        Cost of each action (row) when each class (column) is true.

    Returns
    -------
    int
        The action's number.

    Examples
    --------
    >>> bayes_decision([0.5, 0.5], [[0, 1], [1, 0]])
    0
    """
    expected = _expected_costs(posteriors, costs)
    return expected.index(min(expected))


def log_loss(
    posteriors: Sequence[Sequence[Number]],
    labels: Sequence[int],
    weights: Weights = None,
    base: Number = 2,
) -> float:
    """Mean of -log_base P(true class); inf where a true class was given no chance.

    Parameters
    ----------
    posteriors : sequence
        P(class): one row per trial; for a single decision one number per class.
    labels : sequence of int
        The true class numbers.
    weights : sequence of float, optional
        Weight of each trial; by default 1.
    base : number, default 2
        Base of the logarithm.

    Returns
    -------
    float
        The log-loss.

    Examples
    --------
    >>> log_loss([[0.25, 0.75], [0.5, 0.5]], [0, 1])
    1.5
    """
    exact = _exact_weights(weights, len(labels))
    scale = 1 / sum(exact, Fraction(0))
    with localcontext(_PRECISE):
        total = Decimal(0)
        for row, y, w in zip(posteriors, labels, exact, strict=True):
            if w:
                total -= _decimal(w * scale) * _decimal(_exact(row[y])).ln()
        return float(total / _decimal(_exact(base)).ln())


def brier(posteriors: Sequence[Sequence[Number]], labels: Sequence[int], weights: Weights = None) -> Fraction:
    """Mean of sum_j (P(j) - [j = true class])^2, in 0..2: for two classes twice (p - y)^2.

    Parameters
    ----------
    posteriors : sequence
        P(class): one row per trial; for a single decision one number per class.
    labels : sequence of int
        The true class numbers.
    weights : sequence of float, optional
        Weight of each trial; by default 1.

    Returns
    -------
    fractions.Fraction
        The Brier score, exactly.

    Examples
    --------
    >>> brier([[0.5, 0.5]], [0])
    Fraction(1, 2)
    """
    exact = _exact_weights(weights, len(labels))
    total = Fraction(0)
    for row, y, w in zip(posteriors, labels, exact, strict=True):
        total += w * sum((_exact(p) - (j == y)) ** 2 for j, p in enumerate(row))
    return total / sum(exact, Fraction(0))


# --- Intervals ---


def clopper_pearson(k: int, n: int, level: Number = 0.95) -> tuple[float, float]:
    """(p, q) with P(X >= k | p) = P(X <= k | q) = (1 - level) / 2, X binomial; 0 and 1 where k is 0 or n.

    Parameters
    ----------
    k : int
        How many: the rank, or the number of events.
    n : int
        Out of how many.
    level : number, default 0.95
        Confidence level.

    Returns
    -------
    tuple of float
        Both ends.

    Examples
    --------
    >>> clopper_pearson(0, 1, 0.5)
    (0.0, 0.75)
    """
    if not 0 <= k <= n or n == 0:
        raise ValueError(f"k must lie in 0..n and n be positive, not {k} of {n}")
    tail = (1 - _exact(level)) / 2
    with localcontext(_PRECISE):
        lower = _where_tail_is(k, n, _decimal(tail))
        upper = 1 - _where_tail_is(n - k, n, _decimal(tail))
        return float(lower), float(upper)


def wilson(k: int, n: int, z: Number) -> tuple[float, float]:
    """The two p with (k/n - p)^2 = z^2 p (1 - p) / n.

    Parameters
    ----------
    k : int
        How many: the rank, or the number of events.
    n : int
        Out of how many.
    z : number
        Number of standard errors.

    Returns
    -------
    tuple of float
        Both ends.

    Examples
    --------
    >>> wilson(0, 3, 1)
    (0.0, 0.25)
    """
    if not 0 <= k <= n or n == 0:
        raise ValueError(f"k must lie in 0..n and n be positive, not {k} of {n}")
    with localcontext(_PRECISE):
        lower, upper = _wilson_lower(k, n, _exact(z) ** 2), 1 - _wilson_lower(n - k, n, _exact(z) ** 2)
        return float(lower), float(upper)


# --- Hypothesis strategies ---


def labelled_scores(
    min_each: int = 1, max_size: int = 40, ties: bool = True, infinities: bool = True
) -> SearchStrategy[tuple[list[float], list[int]]]:
    """(scores, labels): at least min_each rows of class 1 and of class 0, in any order; no NaN.

    Scores are few-valued, ordinary, or of any size from denormal to huge, with both zeros and infinities.

    Parameters
    ----------
    min_each : int, default 1
        Fewest rows of each class.
    max_size : int, default 40
        Most rows.
    ties : bool, default True
        Whether scores may be equal.
    infinities : bool, default True
        Whether scores may be infinite.

    Returns
    -------
    SearchStrategy
        A Hypothesis strategy.

    Examples
    --------
    >>> from hypothesis import find
    >>> from tercet.testing import labelled_scores
    >>> scores, labels = find(labelled_scores(), lambda row: len(row[0]) >= 2)
    >>> len(scores) - len(labels)
    0
    """
    from hypothesis import strategies as st

    scores = _score_kinds(ties, infinities)

    @st.composite
    def rows(draw: DrawFn) -> tuple[list[float], list[int]]:
        more = draw(st.lists(st.integers(0, 1), max_size=max_size - 2 * min_each))
        labels = draw(st.permutations([1] * min_each + [0] * min_each + more))
        n = len(labels)
        kinds = [st.lists(kind, min_size=n, max_size=n, unique=not ties) for kind in scores]
        return draw(st.one_of(kinds)), list(labels)

    return rows()


def weights_for(
    n: int, kind: Literal["integer", "fractional"] = "integer", zeros: bool = False
) -> SearchStrategy[list[float]]:
    """n positive weights: small integers, or fractions some of which no float adds exactly.

    With zeros some may be 0, even all of a class: assume() what the test needs.

    Parameters
    ----------
    n : int
        How many.
    kind : {"integer", "fractional"}, default "integer"
        Which weights.
    zeros : bool, default False
        Whether a weight may be 0.

    Returns
    -------
    SearchStrategy
        A Hypothesis strategy.

    Examples
    --------
    >>> from hypothesis import find
    >>> from tercet.testing import weights_for
    >>> len(find(weights_for(3), lambda weights: True))
    3
    """
    from hypothesis import strategies as st

    one: SearchStrategy[float]
    if kind == "integer":
        one = st.one_of(st.integers(1, 4), st.integers(1, 1_000_000))
    elif kind == "fractional":
        eighths = st.integers(1, 32).map(lambda i: i / 8)
        tenths = st.integers(1, 30).map(lambda i: i / 10)
        one = st.one_of(eighths, tenths, st.floats(1e-3, 1e3))
    else:
        raise ValueError(f"kind must be 'integer' or 'fractional', not {kind!r}")
    zero = 0 if kind == "integer" else 0.0
    return st.lists(st.one_of(st.just(zero), one) if zeros else one, min_size=n, max_size=n)


def operating_points() -> SearchStrategy[tuple[float, float, float]]:
    """(prior, cost_fn, cost_fp), everyday or extreme: priors 1e-9 .. 1 - 1e-9, costs 1e-6 .. 1e6.

    Returns
    -------
    SearchStrategy
        A Hypothesis strategy.

    Examples
    --------
    >>> from hypothesis import find
    >>> from tercet.testing import operating_points
    >>> len(find(operating_points(), lambda point: True))    # prior, cost of a miss, cost of a false alarm
    3
    """
    from hypothesis import strategies as st

    small = st.floats(-9, math.log10(0.5)).map(lambda x: max(10.0**x, 1e-9))
    everyday = st.sampled_from([0.5, 0.1, 0.9, 0.01, 0.99, 0.001, 1e-9, 1 - 1e-9])
    prior = st.one_of(everyday, st.floats(0.01, 0.99), small, small.map(lambda p: 1 - p))
    any_cost = st.floats(-6, 6).map(lambda x: min(max(10.0**x, 1e-6), 1e6))
    cost = st.one_of(st.sampled_from([1.0, 10.0, 0.5, 50.0, 1e-6, 1e6]), any_cost)
    return st.tuples(prior, cost, cost)


def score_matrices(
    n_classes: int = 3, min_each: int = 1, max_size: int = 20, infinities: bool = True
) -> SearchStrategy[tuple[list[list[float]], list[int]]]:
    """(n x K log-likelihoods, labels): at least min_each rows of each class; no row is -inf throughout.

    Parameters
    ----------
    n_classes : int, default 3
        Number of classes.
    min_each : int, default 1
        Fewest rows of each class.
    max_size : int, default 20
        Most rows.
    infinities : bool, default True
        Whether scores may be infinite.

    Returns
    -------
    SearchStrategy
        A Hypothesis strategy.

    Examples
    --------
    >>> from hypothesis import find
    >>> from tercet.testing import score_matrices
    >>> rows, labels = find(score_matrices(3), lambda drawn: True)
    >>> len(rows) - len(labels), len(rows[0])
    (0, 3)
    """
    from hypothesis import strategies as st

    few = st.integers(-3, 3).map(float)
    finite = st.one_of(few, st.floats(-50, 5), st.floats(-1e5, -1e2))
    value = st.one_of(finite, st.just(-math.inf)) if infinities else finite
    row = st.lists(value, min_size=n_classes, max_size=n_classes).filter(lambda r: max(r) > -math.inf)

    @st.composite
    def rows(draw: DrawFn) -> tuple[list[list[float]], list[int]]:
        first = list(range(n_classes)) * min_each
        spare = max(max_size - len(first), 0)
        more = draw(st.lists(st.integers(0, n_classes - 1), min_size=0 if first else 1, max_size=spare))
        labels = draw(st.permutations(first + more))
        return draw(st.lists(row, min_size=len(labels), max_size=len(labels))), list(labels)

    return rows()


def cost_matrices(n_classes: int, n_actions: int | None = None) -> SearchStrategy[list[list[float]]]:
    """Actions x classes (square unless told), costs >= 0, every action costs something for some class.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    n_actions : int, optional
        Number of actions; by default that of the classes.

    Returns
    -------
    SearchStrategy
        A Hypothesis strategy.

    Examples
    --------
    >>> from hypothesis import find
    >>> from tercet.testing import cost_matrices
    >>> costs = find(cost_matrices(3, n_actions=4), lambda drawn: True)
    >>> len(costs), len(costs[0])
    (4, 3)
    """
    from hypothesis import strategies as st

    actions = n_classes if n_actions is None else n_actions
    entry = st.one_of(st.integers(0, 3).map(float), st.floats(0.01, 100), st.sampled_from([1e-6, 1e6]))
    row = st.lists(entry, min_size=n_classes, max_size=n_classes).filter(any)
    free = st.lists(row, min_size=actions, max_size=actions)
    if n_classes < 2 or actions > n_classes:
        return free
    zero_one = [[float(i != j) for j in range(n_classes)] for i in range(actions)]
    return st.one_of(st.builds(lambda: [list(costs) for costs in zero_one]), free)


def priors(n_classes: int) -> SearchStrategy[list[float]]:
    """Positive class priors that sum to 1 within rounding: even, uneven, or down to about 1e-9.

    Parameters
    ----------
    n_classes : int
        Number of classes.

    Returns
    -------
    SearchStrategy
        A Hypothesis strategy.

    Examples
    --------
    >>> from hypothesis import find
    >>> from tercet.testing import priors
    >>> round(sum(find(priors(3), lambda drawn: True)), 12)
    1.0
    """
    from hypothesis import strategies as st

    even = st.just([1.0] * n_classes)
    kinds = [st.integers(1, 10).map(float), st.floats(-9, 0).map(lambda x: 10.0**x)]
    uneven = [st.lists(kind, min_size=n_classes, max_size=n_classes) for kind in kinds]
    return st.one_of(even, *uneven).map(lambda shares: [s / math.fsum(shares) for s in shares])


def _score_kinds(ties: bool, infinities: bool) -> list[SearchStrategy[float]]:
    from hypothesis import strategies as st

    ordinary = st.floats(-20, 20)
    smallest, normal, largest = 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308
    sizes = [smallest, normal, 1e-160, 1.0, 800.0, 1e160, largest]
    edges = st.sampled_from([0.0, -0.0, *sizes, *[-size for size in sizes]])
    ends = [st.sampled_from([-math.inf, math.inf])] if infinities else []
    wild = st.one_of(ordinary, edges, st.floats(allow_nan=False, allow_infinity=False), *ends)
    if not ties:
        return [st.integers(-1000, 1000).map(float), ordinary, wild]
    few = st.integers(-2, 2).map(float)
    return [few, st.one_of(few, st.just(-0.0), *ends), ordinary, edges, st.one_of(few, wild)]


# --- Helpers ---

_PRECISE = Context(prec=50, Emax=MAX_EMAX, Emin=MIN_EMIN)
_HALVINGS = 200  # 2^-200 is below the last of 50 digits of any bound we meet

_Row: TypeAlias = tuple[float, bool, Fraction]


def _exact(x: Number) -> Fraction:
    """The value without rounding; numpy's integers are made Python's first, because theirs overflow."""
    if isinstance(x, Fraction):
        return x
    return Fraction(int(x)) if isinstance(x, Integral) else Fraction(float(x))


def _exact_weights(weights: Weights, n: int) -> list[Fraction]:
    exact = [Fraction(1)] * n if weights is None else [_exact(w) for w in weights]
    if any(w < 0 for w in exact):
        raise ValueError("weights must not be negative")
    return exact


def _rows(scores: Sequence[float], labels: Sequence[object], weights: Weights) -> list[_Row]:
    exact = _exact_weights(weights, len(labels))
    # Adding 0.0 makes -0.0 the one zero.
    rows = [(float(s) + 0.0, bool(y), w) for s, y, w in zip(scores, labels, exact, strict=True) if w]
    if any(math.isnan(s) for s, _, _ in rows):
        raise ValueError("scores must not contain NaN")
    return rows


def _totals(rows: list[_Row]) -> tuple[Fraction, Fraction]:
    targets = sum((w for _, y, w in rows if y), Fraction(0))
    return targets, sum((w for _, y, w in rows if not y), Fraction(0))


def _groups(rows: list[_Row]) -> list[tuple[float, Fraction, Fraction]]:
    """Each distinct score, ascending, with the targets and non-targets that share it."""
    return [(v, *_totals([row for row in rows if row[0] == v])) for v in sorted({s for s, _, _ in rows})]


def _rates(curve: list[Point]) -> list[Point]:
    """(threshold, FNR, FPR): accept-all has every false alarm, reject-all every miss."""
    targets, others = curve[-1][1], curve[0][2]
    return [(threshold, misses / targets, alarms / others) for threshold, misses, alarms in curve]


def _slope(a: Point, b: Point) -> Fraction | float:
    misses, saved = b[1] - a[1], a[2] - b[2]
    return misses / saved if saved else math.inf


def _clipped_trapezoid(
    a: tuple[Fraction, Fraction], b: tuple[Fraction, Fraction], low: Fraction, high: Fraction
) -> Fraction:
    """Area under the line from a to b over the part of low..high that it covers."""
    (x0, y0), (x1, y1) = a, b
    left, right = max(low, x0), min(high, x1)
    if right <= left:
        return Fraction(0)
    slope = (y1 - y0) / (x1 - x0)
    return (right - left) * (2 * y0 + slope * (left - x0 + right - x0)) / 2


def _expected_in_top(scores: Sequence[float], labels: Sequence[object], k: Number, weights: Weights) -> Fraction:
    """Every tied row is equally likely to be among those of its group that are counted."""
    groups = _groups(_rows(scores, labels, weights))
    room, found = _exact(k), Fraction(0)
    if not 0 < room <= sum(t + n for _, t, n in groups):
        raise ValueError(f"k must lie in 1..the number of rows, not {k}")
    for _, t, n in reversed(groups):
        taken = min(room, t + n)
        found += taken * t / (t + n)
        room -= taken
    return found


def _expected_costs(prior: Sequence[Number], costs: Sequence[Sequence[Number]]) -> list[Fraction]:
    p = [_exact(x) for x in prior]
    return [sum((_exact(c) * x for c, x in zip(row, p, strict=True)), Fraction(0)) for row in costs]


def _decimal(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


def _log1p(y: Decimal) -> Decimal:
    """ln(1 + y), y >= 0, to at least 30 digits of its own size."""
    if y < Decimal("1e-17"):
        return y - y * y / 2 + y * y * y / 3
    return (1 + y).ln()


def _softplus(x: Decimal) -> Decimal:
    """ln(1 + e^x) without overflow; infinities included."""
    return max(x, Decimal(0)) + _log1p((-abs(x)).exp())


def _where_tail_is(k: int, n: int, tail: Decimal) -> Decimal:
    """The p with P(X >= k | n, p) = tail, by bisection; 0 for k = 0."""
    if k == 0:
        return Decimal(0)
    low, high = Decimal(0), Decimal(1)
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if not low < middle < high:
            break
        if _upper_tail(k, n, middle) < tail:
            low = middle
        else:
            high = middle
    return high


def _upper_tail(k: int, n: int, p: Decimal) -> Decimal:
    """sum_{i >= k} C(n, i) p^i (1 - p)^(n - i), each term from the one before it."""
    term = Decimal(math.comb(n, k)) * p**k * (1 - p) ** (n - k)
    total = term
    for i in range(k, n):
        term *= (n - i) * p / ((i + 1) * (1 - p))
        total += term
    return total


def _wilson_lower(k: int, n: int, zz: Fraction) -> Decimal:
    """Smaller root of (n + zz) p^2 - (2 k + zz) p + k^2 / n, in the form that does not cancel."""
    root = _decimal(zz * zz + 4 * zz * k * Fraction(n - k, n)).sqrt()
    return _decimal(Fraction(2 * k * k, n)) / (_decimal(2 * k + zz) + root)
