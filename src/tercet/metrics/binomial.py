"""Intervals and tests in closed form: proportions, boxes around operating points, areas under the ROC, decisions."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.records import checked_tuple
from tercet._numeric.validation import (
    chosen,
    flag,
    instance,
    mapping,
    names,
    number,
    positive,
    same_index,
    same_kind,
    shown,
    whole,
)
from tercet._typing import Array, Floats, Reals
from tercet.application import sigmoid
from tercet.errors import InputError, UndefinedError
from tercet.metrics.confusion import Confusion
from tercet.metrics.pairing import PairBy, paired
from tercet.metrics.tally import Ranked, Tally
from tercet.trials import Trials, probability, two_class

FEW = 13
# Below so many errors limits are exact up to this level. An interval of 80, 90, 95 or 99 % then covers no more than 2
# points less than its level, whatever the size and the rate; 12, 42 and 149 errors are too few for that.
_EXACT = ((FEW, 1.0), (44, 0.9), (150, 0.8))
_NESTED = 0.95  # from this level on Wilson's interval contains the exact one of 90 %


@checked_tuple
class Interval(NamedTuple):
    """Both ends, and the method that was actually used.

    Attributes
    ----------
    low : float
        Lower end.
    high : float
        Upper end.
    method : str
        The method that was used; it differs from the requested one where that does not apply.

    Examples
    --------
    >>> import tercet as tc
    >>> found = tc.wilson(10, 200)
    >>> round(found.low, 4), round(found.high, 4), found.method
    (0.0274, 0.0896, 'wilson')
    """

    low: float
    high: float
    method: str


def k_sigma(count: int, out_of: int, k: float = 2.0) -> Interval:
    """p +- k sqrt(p (1 - p) / n); with no errors, or only errors, a Clopper-Pearson interval of the same level.

    Parameters
    ----------
    count : int
        How often it happened.
    out_of : int
        Out of how many; at least 1.
    k : float, default 2.0
        Number of standard errors on either side.

    Returns
    -------
    Interval
        Both ends; `method` names Clopper-Pearson where that was used.

    Examples
    --------
    >>> k_sigma(50, 100, 1)
    Interval(low=0.45, high=0.55, method='k-sigma')
    """
    count, out_of = _counts(count, out_of)
    k = positive(k, "k")
    if count in (0, out_of):
        return _beta_ends(count, out_of, math.erfc(k / math.sqrt(2.0)) / 2.0)
    p = count / out_of
    half = k * math.sqrt(p * (1.0 - p) / out_of)
    return Interval(max(p - half, 0.0), min(p + half, 1.0), "k-sigma")


def wilson(count: int, out_of: int, level: float = 0.95, *, z: float | None = None) -> Interval:
    """Wilson's score interval: the p that lie within z standard errors of count / out_of.

    Parameters
    ----------
    count : int
        How often it happened.
    out_of : int
        Out of how many; at least 1.
    level : float, default 0.95
        Confidence level, between 0 and 1.
    z : float, optional
        Number of standard errors, instead of the level.

    Returns
    -------
    Interval
        Both ends.

    References
    ----------
    .. [1] E. B. Wilson, "Probable inference, the law of succession, and statistical inference", Journal of the
       American Statistical Association 22, 1927, 209-212, doi:10.1080/01621459.1927.10502953.

    Examples
    --------
    >>> [round(end, 7) for end in wilson(28, 51, z=1.96)[:2]]
    [0.4138447, 0.6773269]
    """
    count, out_of = _counts(count, out_of)
    quantile = _quantile(level)
    z = quantile if z is None else positive(z, "z")
    if z * z / out_of == math.inf:
        return Interval(0.0, 1.0, "wilson")  # where both ends tend to
    low, high = wilson_limits(count, out_of, z)
    return Interval(float(low), float(high), "wilson")


def clopper_pearson(count: int, out_of: int, level: float = 0.95) -> Interval:
    """The exact binomial interval: its coverage is at least its level for every p.

    Parameters
    ----------
    count : int
        How often it happened.
    out_of : int
        Out of how many; at least 1.
    level : float, default 0.95
        Confidence level, between 0 and 1.

    Returns
    -------
    Interval
        Both ends.

    References
    ----------
    .. [1] C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the case of the
       binomial", Biometrika 26, 1934, 404-413, doi:10.1093/biomet/26.4.404.

    Examples
    --------
    >>> round(clopper_pearson(0, 300).high, 4)
    0.0122
    """
    count, out_of = _counts(count, out_of)
    return _beta_ends(count, out_of, (1.0 - _level(level)) / 2.0)


def rate_interval(count: int, out_of: int, level: float = 0.95) -> Interval:
    """The interval of a rate as evaluations give it: Clopper-Pearson below 13 errors (or right decisions), else Wilson.

    Intervals of 90 % and less need more errors for Wilson's limits: 44 up to 90 %, 150 up to 80 %.

    Parameters
    ----------
    count : int
        How often it happened.
    out_of : int
        Out of how many; at least 1.
    level : float, default 0.95
        Confidence level, between 0 and 1.

    Returns
    -------
    Interval
        Both ends, and the method that was used.

    Examples
    --------
    >>> rate_interval(0, 300).method, rate_interval(28, 51).method
    ('clopper-pearson', 'wilson')
    """
    count, out_of = _counts(count, out_of)
    few = min(count, out_of - count) < few_errors(_level(level))
    if few:
        check_exact(out_of)
    low, high = proportion_limits(count, out_of, level)
    return Interval(float(low), float(high), "clopper-pearson" if few else "wilson")


def _beta_ends(count: int, out_of: int, tail: float) -> Interval:
    check_exact(out_of)
    low, high = beta_limits(count, out_of, tail)
    return Interval(float(low), float(high), "clopper-pearson")


def check_exact(out_of: int) -> None:
    """Raise an error if there are too many trials for quantiles of the beta distribution."""
    if out_of > _MOST_EXACT:
        raise InputError(
            f"out_of must be at most {_MOST_EXACT:.0e} for Clopper-Pearson (its quantiles lose digits beyond), "
            f"not {out_of}. Use wilson."
        )


def interval(confusion: Confusion, rate: str, method: str = "wilson", level: float = 0.95, k: float = 2.0) -> Interval:
    """The interval of a rate of a confusion table.

    Parameters
    ----------
    confusion : Confusion
        Whole counts.
    rate : str
        A rate, by any of its names.
    method : {"wilson", "clopper-pearson", "k-sigma"}, default "wilson"
        The interval.
    level : float, default 0.95
        Confidence level of "wilson" and "clopper-pearson".
    k : float, default 2.0
        Number of standard errors of "k-sigma".

    Returns
    -------
    Interval
        Both ends.

    Examples
    --------
    >>> found = interval(Confusion([[2680, 23], [72, 28]]), "sensitivity", "clopper-pearson")    # of 28 / 51
    >>> round(found.low, 4), round(found.high, 4)
    (0.4034, 0.6887)
    """
    chosen(method, "method", ("k-sigma", "wilson", "clopper-pearson"))
    k, level = positive(k, "k"), _level(level)
    count, out_of = instance(confusion, Confusion, "confusion").proportion(rate)
    if out_of == 0:
        raise UndefinedError(f"{rate} is undefined, and so is its interval: it is a proportion out of 0.")
    if method == "k-sigma":
        return k_sigma(count, out_of, k)
    if method == "wilson":
        return wilson(count, out_of, level)
    return clopper_pearson(count, out_of, level)


_MOST_EXACT = 10**16  # scipy's beta quantiles lose digits above 1e17
ENOUGH = 30  # errors
_ROUNDING = 1e-12  # standard errors below this are those of sums


def enough_errors(count: float) -> bool:
    """The rule of 30: with 30 errors the true rate lies within 30 % of the measured one, at 90 % confidence.

    Parameters
    ----------
    count : int or float
        The number of errors.

    Returns
    -------
    bool
        Whether there are at least 30.

    References
    ----------
    .. [1] G. R. Doddington, M. A. Przybocki, A. F. Martin and D. A. Reynolds, "The NIST speaker recognition
       evaluation: overview, methodology, systems, results, perspective", Speech Communication 31, 2000, 225-254,
       doi:10.1016/S0167-6393(99)00080-1.

    Examples
    --------
    >>> [count for count in (10, 29, 30, 100) if enough_errors(count)]
    [30, 100]
    """
    return number(count, "count") >= ENOUGH


class Box(NamedTuple):
    """The rectangle of k standard deviations around an operating point of the ROC."""

    fpr: Interval
    fnr: Interval


def sigma_box(confusion: Confusion, k: float = 2.0) -> Box:
    """k-sigma intervals of both error rates of a decision: the box around its point on a ROC or DET plot.

    >>> sigma_box(Confusion([[50, 10], [50, 90]]), 1).fpr
    Interval(low=0.45, high=0.55, method='k-sigma')
    """
    return Box(interval(confusion, "fpr", "k-sigma", k=k), interval(confusion, "fnr", "k-sigma", k=k))


class AucInterval(NamedTuple):
    """An area under the ROC with DeLong's variance; the interval is symmetric in the log-odds of the area.

    Attributes
    ----------
    value : float
        The area.
    variance : float
        DeLong's variance.
    low : float
        Lower end.
    high : float
        Upper end.
    method : str
        The method that was used.

    Examples
    --------
    >>> import tercet as tc
    >>> found = tc.delong(tc.Tally.of(tc.Trials.of_llr([3.0, 1.0, 0.0, -2.0], [1, 0, 1, 0])))
    >>> found.value, found.variance
    (0.75, 0.125)
    """

    value: float
    variance: float
    low: float
    high: float
    method: str


def delong(tally: Tally, level: float = 0.95) -> AucInterval:
    """DeLong's interval of the AUC.

    The variance is var(shares of non-targets below each target) / T + var(shares of targets above each non-target) /
    N; the ends are taken on the logit scale. A sample without variance, such as classes that do not overlap, gets an
    interval from the Clopper-Pearson bound for 0 events of n in each class.

    Parameters
    ----------
    tally : Tally
        Scores of both classes, with whole counts.
    level : float, default 0.95
        Confidence level, between 0 and 1.

    Returns
    -------
    AucInterval
        The AUC, its variance, both ends and the method.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or more correlated
       receiver operating characteristic curves: a nonparametric approach", Biometrics 44, 1988, 837-845,
       doi:10.2307/2531595.

    Examples
    --------
    >>> delong(Tally.of(Trials.of_llr([3.0, 1.0, 0.0, -2.0], [1, 0, 1, 0]))).variance
    0.125
    """
    if not isinstance(tally, Tally):
        raise InputError(f"delong takes a Tally, as Tally.of(trials) makes it, not {shown(type(tally).__name__)}.")
    if tally.unit < 0:
        raise InputError("DeLong's variance needs integer counts: fractional weights have no sampling distribution.")
    targets, nontargets = tally.targets, tally.nontargets
    _both(targets.total, nontargets.total)
    above = _placements(targets.scores, nontargets)
    below = 1.0 - _placements(nontargets.scores, targets)
    sizes = (targets.total << tally.unit, nontargets.total << tally.unit)
    variance = _variance(above, targets, sizes[0]) + _variance(below, nontargets, sizes[1])
    value = float(np.average(above, weights=_row_weights(targets)))
    if variance == 0.0 or value in (0.0, 1.0):
        share = math.prod(1.0 - clopper_pearson(0, size, level).high for size in sizes)
        ends = (value * share, 1.0 - (1.0 - value) * share)
        return AucInterval(value, 0.0, *ends, "clopper-pearson (no variance in the sample)")
    half = _quantile(level) * math.sqrt(variance) / (value * (1.0 - value))
    odds = math.log(value) - math.log1p(-value)
    return AucInterval(value, variance, sigmoid(odds - half), sigmoid(odds + half), "delong")


class PairedAuc(NamedTuple):
    """The difference of two areas on the same trials: first minus second.

    Attributes
    ----------
    difference : float
        First minus second.
    standard_error : float
        Its standard error.
    low : float
        Lower end.
    high : float
        Upper end.
    p_value : float
        Two-sided p-value.
    paired_by : {"id", "position"} or None
        How trials were matched; None for independent sets.

    Examples
    --------
    >>> import tercet as tc
    >>> first = tc.Trials.of_llr([3.0, 1.0, 0.0, -2.0], [1, 0, 1, 0])
    >>> second = tc.Trials.of_llr([3.0, 1.0, 2.0, -2.0], [1, 0, 1, 0])
    >>> tc.delong_test(first, second).difference    # 3 of 4 pairs in order, and 4 of 4
    -0.25
    """

    difference: float
    standard_error: float
    low: float
    high: float
    p_value: float
    paired_by: PairBy | None


def delong_test(
    first: Trials, second: Trials, level: float = 0.95, *, pair_by: PairBy | None = None, unpaired: bool = False
) -> PairedAuc:
    """DeLong's test for the difference between the AUCs of two systems, on the same trials or on independent ones.

    If there is no variance, for example because all trials differ in the same way, the interval allows for pairs that
    could exist although none of n was seen. The p-value is one minus the largest level at which the interval excludes
    0.

    Parameters
    ----------
    first : Trials
        The first system, labelled, without weights.
    second : Trials
        The second system, on the same trials unless `unpaired`.
    level : float, default 0.95
        Confidence level, between 0 and 1.
    pair_by : {"id", "position"}, optional
        How trials are matched; by id where they have ids, else by position if labels agree.
    unpaired : bool, default False
        Whether the systems were tried on independent sets of trials, so that their variances add.

    Returns
    -------
    PairedAuc
        The difference first - second, its standard error, both ends and the p-value, which is never below the
        probability that as many trials all fall on one side by chance.

    References
    ----------
    .. [1] E. R. DeLong, D. M. DeLong and D. L. Clarke-Pearson, "Comparing the areas under two or more correlated
       receiver operating characteristic curves: a nonparametric approach", Biometrics 44, 1988, 837-845,
       doi:10.2307/2531595.

    Examples
    --------
    >>> a = Trials.of_llr([3.0, 1.0, 0.0, -2.0], [1, 0, 1, 0])
    >>> delong_test(a, a).p_value
    1.0
    """
    if flag(unpaired, "unpaired"):
        if pair_by is not None:
            raise InputError("pair_by matches trials, and unpaired=True says that there is nothing to match.")
        return _unpaired_delong(two_class(first, "first"), two_class(second, "second"), level)
    (first, second), by = paired([two_class(first, "first"), two_class(second, "second")], by=pair_by)
    labels = first.known_labels().astype(np.bool_)
    second.known_labels()
    if first.weights is not None or second.weights is not None:
        raise InputError("delong_test takes trials without weights: repeat rows instead.")
    _both(int(labels.sum()), int((~labels).sum()))
    gaps = [_row_placements(first, labels, own) - _row_placements(second, labels, own) for own in (True, False)]
    difference = float(gaps[0].mean())
    error = math.sqrt(sum(_variance(gap, None, len(gap)) for gap in gaps))
    if error <= _ROUNDING:
        return _without_variance(difference, len(gaps[0]), len(gaps[1]), level, by)
    return _normal_difference(difference, error, min(len(gaps[0]), len(gaps[1])), level, by)


def _unpaired_delong(first: Trials, second: Trials, level: float) -> PairedAuc:
    """Two systems on independent trials: DeLong's variances add."""
    tallies = [Tally.of(trials) for trials in (first, second)]
    one, other = (delong(tally, level) for tally in tallies)
    difference, error = one.value - other.value, math.sqrt(one.variance + other.variance)
    sizes = [count for trials in (first, second) for count in np.bincount(trials.known_labels().astype(int)).tolist()]
    if min(one.variance, other.variance) > 0.0:
        return _normal_difference(difference, error, min(sizes), level, None)
    low, high = _mover_difference(one, other)
    below, above = 0.0, 1.0  # the p-value is one minus the largest level whose interval excludes 0
    for _ in range(30):
        middle = (below + above) / 2.0
        ends = _mover_difference(*(delong(tally, 1.0 - middle) for tally in tallies))
        below, above = (below, middle) if ends[0] > 0.0 or ends[1] < 0.0 else (middle, above)
    return PairedAuc(difference, error, low, high, max(above, _least_p(min(sizes))), None)


def _mover_difference(one: AucInterval, other: AucInterval) -> tuple[float, float]:
    """MOVER, where a set has no variance of its own."""
    difference = one.value - other.value
    down = math.hypot(one.value - one.low, other.high - other.value)
    return difference - down, difference + math.hypot(one.high - one.value, other.value - other.low)


def _normal_difference(difference: float, error: float, units: int, level: float, by: PairBy | None) -> PairedAuc:
    from scipy.special import ndtr

    half = _quantile(level) * error
    p = max(2.0 * float(ndtr(-abs(difference) / error)), _least_p(units))
    return PairedAuc(difference, error, difference - half, difference + half, p, by)


def _least_p(units: int) -> float:
    """The probability that this many fair coins all fall on one side."""
    return 2.0 ** (1 - min(units, 1000))


def _without_variance(difference: float, targets: int, nontargets: int, level: float, by: PairBy) -> PairedAuc:
    """The paired test where all trials differ alike: pairs with an unseen trial may differ by anything from -1 to 1.

    Seen pairs are at least the share s = (tail)^(1/T + 1/N), so that 0 is left out where s (1 + |difference|) > 1.
    """
    share = math.prod(1.0 - clopper_pearson(0, size, level).high for size in (targets, nontargets))
    low, high = difference * share - (1.0 - share), difference * share + (1.0 - share)
    p = 2.0 * (1.0 + abs(difference)) ** -(targets * nontargets / (targets + nontargets))
    return PairedAuc(difference, 0.0, low, high, min(1.0, p), by)


def _row_placements(trials: Trials, labels: NDArray[np.bool_], own: bool) -> Floats:
    """For each target the share of non-targets below it, or for each non-target that of targets above it."""
    shares = _placements(trials.scores[labels == own], Ranked(np.sort(trials.scores[labels != own])))
    return shares if own else 1.0 - shares


def _placements(scores: Floats, others: Ranked) -> Floats:
    """The share of the other class below each score, ties counting half: mid-ranks."""
    return np.asarray((others.below(scores) + others.upto(scores)) / (2.0 * others.total), np.float64)


def _row_weights(side: Ranked | None) -> Array | None:
    return None if side is None or side.running is None else np.diff(side.running)


def _variance(values: Floats, side: Ranked | None, size: int) -> float:
    """The variance of a mean: sum of squared deviations / ((n - 1) n)."""
    if size < 2:
        raise UndefinedError("DeLong's variance needs at least two trials of each class.")
    mean = np.average(values, weights=_row_weights(side))
    return float(np.average((values - mean) ** 2, weights=_row_weights(side))) / (size - 1)


def _both(targets: int, nontargets: int) -> None:
    for count, called in ((targets, "targets"), (nontargets, "non-targets")):
        if count == 0:
            raise UndefinedError(f"The AUC is undefined, and so is its interval: there are no {called}.")


class McNemar(NamedTuple):
    """Trials that only the first, and only the second of two deciders got wrong, and the exact p-value.

    Attributes
    ----------
    first_only : int
        Trials that only the first got wrong.
    second_only : int
        Trials that only the second got wrong.
    p_value : float
        Exact two-sided p-value.
    paired_by : {"position", "id"}
        How the decisions were matched with the labels.

    Examples
    --------
    >>> import tercet as tc
    >>> tc.mcnemar([1, 1, 1, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0]).p_value    # 2 x (1/2)^3
    0.25
    """

    first_only: int
    second_only: int
    p_value: float
    paired_by: str = "position"


def mcnemar(first: object, second: object, labels: object) -> McNemar:
    """McNemar's exact test of two systems' decisions on the same trials.

    Under the null hypothesis, each trial that exactly one system got wrong is an error of the first with probability
    1/2. Three mappings {trial id: value} are matched by id, three columns by position; `paired_by` says which.

    Parameters
    ----------
    first : array_like of shape (n,) or mapping
        The first system's decisions.
    second : array_like of shape (n,) or mapping
        The second system's decisions.
    labels : array_like of shape (n,) or mapping
        The true classes.

    Returns
    -------
    McNemar
        The errors that only the first and only the second made, and the two-sided p-value.

    References
    ----------
    .. [1] Q. McNemar, "Note on the sampling error of the difference between correlated proportions or percentages",
       Psychometrika 12, 1947, 153-157, doi:10.1007/BF02295996.

    Examples
    --------
    >>> mcnemar([1, 1, 1, 0, 0], [0, 0, 0, 0, 0], [0, 0, 0, 0, 0])
    McNemar(first_only=3, second_only=0, p_value=0.25, paired_by='position')
    >>> mcnemar({"b": 0, "a": 1}, {"a": 1, "b": 1}, {"a": 1, "b": 0}).second_only
    1
    """
    given = {"first": first, "second": second, "labels": labels}
    by_id = any(isinstance(one, Mapping) for one in given.values())
    if by_id:
        first, second, labels = _by_id(given)
    same_index({"first": first, "second": second, "labels": labels})
    decided, other, true = names(first, "first"), names(second, "second"), names(labels, "labels")
    for values, called in ((decided, "first"), (other, "second")):
        if len(values) != len(true):
            raise InputError(f"{called} has {len(values)} decisions for {len(true)} labels.")
        same_kind(values, called, true, "labels")
    wrong, also = np.asarray(decided != true), np.asarray(other != true)
    only, lone = int((wrong & ~also).sum()), int((also & ~wrong).sum())
    return McNemar(only, lone, sign_test(only, lone), "id" if by_id else "position")


def _by_id(given: Mapping[str, object]) -> list[list[object]]:
    """Columns that are given as {trial id: value}, in the order of the labels' ids."""
    if not all(isinstance(one, Mapping) for one in given.values()):
        raise InputError("first, second and labels must all be mappings {trial id: value}, or none of them.")
    columns = {name: mapping(one, name) for name, one in given.items()}
    ids = list(columns["labels"])
    for name, one in columns.items():
        odd = next((key for key in {*one} ^ {*ids}), None)
        if odd is not None:
            raise InputError(f"{name} and labels have different trial ids: {shown(odd)} is in one of them only.")
    return [[one[key] for key in ids] for one in columns.values()]


def sign_test(one: int, other: int) -> float:
    """Two-sided p-value of this many heads and tails under a fair coin, exact; 1 when there were none.

    >>> sign_test(5, 0)
    0.0625
    """
    from scipy.special import bdtr

    return min(1.0, 2.0 * float(bdtr(min(one, other), one + other, 0.5))) if one + other else 1.0


def _counts(count: object, out_of: object) -> tuple[int, int]:
    """Both counts as whole numbers of Python, whatever type they came in."""
    some, every = whole(count, "count", 0), whole(out_of, "out_of", 0)
    if every == 0:
        raise UndefinedError("A proportion out of 0 has no interval.")
    if some > every:
        raise InputError(f"count must not be above out_of, not {shown(some)} of {shown(every)}.")
    return some, every


def _level(level: float) -> float:
    return probability(level, "level")


def _quantile(level: float) -> float:
    return normal_quantile(_level(level))


def few_errors(level: float) -> int:
    """The number of errors (or of right decisions) below which limits of this level are Clopper and Pearson's.

    >>> few_errors(0.95), few_errors(0.9), few_errors(0.8)
    (13, 44, 150)
    """
    return max(below for below, upto in _EXACT if level <= upto)


def normal_quantile(level: float) -> float:
    """How many standard errors a two-sided normal interval of this level reaches."""
    from scipy.special import ndtri

    return -float(ndtri((1.0 - level) / 2.0))


def student_quantile(level: float, freedom: Reals) -> Floats:
    """The same by Student's t."""
    from scipy.special import stdtrit

    return np.where(np.isinf(freedom), normal_quantile(level), -stdtrit(freedom, (1.0 - level) / 2.0))


def wilson_limits(errors: Reals, size: Reals, z: float) -> tuple[Floats, Floats]:
    """Wilson's score limits of a proportion (1927) at z standard errors; effective counts may have a fraction."""
    p, square = errors / size, z * z / size
    centre, half = p + square / 2.0, np.sqrt(square) * np.sqrt(p * (1.0 - p) + square / 4.0)
    low, high = (centre - half) / (1.0 + square), (centre + half) / (1.0 + square)
    return np.where(errors <= 0.0, 0.0, low), np.where(errors >= size, 1.0, high)


def beta_limits(errors: Reals, size: Reals, tail: float) -> tuple[Floats, Floats]:
    """Clopper and Pearson's limits of a proportion (1934), by quantiles of the beta distribution.

    The p at which this many or more, or this many or fewer, have the probability of one tail.
    """
    from scipy.special import betainccinv, betaincinv

    right = size - errors
    low = betaincinv(np.where(errors > 0.0, errors, 1.0), right + 1.0, tail)
    high = betainccinv(errors + 1.0, np.where(right > 0.0, right, 1.0), tail)
    return np.where(errors <= 0.0, 0.0, low), np.where(right <= 0.0, 1.0, high)


def proportion_limits(errors: Reals, size: Reals, level: float) -> tuple[Floats, Floats]:
    """Clopper-Pearson below 13 errors (or 13 right decisions), Wilson from there on; up to 90 % below 44, to 80 % 150.

    Up to a level of 99 % the upper limit never falls when an error is added. Between these levels Wilson's interval
    includes the exact one of the lower level, so that a higher level never has a shorter interval.

    >>> low, high = proportion_limits(np.array([0.0, 50.0]), np.array([300.0, 100.0]), 0.95)
    >>> high.round(4).tolist()
    [0.0122, 0.5962]
    """
    errors, size = np.broadcast_arrays(np.asarray(errors, np.float64), np.asarray(size, np.float64))
    low, high = wilson_limits(errors, size, normal_quantile(level))
    rarer, least = np.minimum(errors, size - errors), 0
    for below, upto in _EXACT:
        some = (rarer >= least) & (rarer < below) if level <= upto or level < _NESTED else np.False_
        least = below
        if some.any():
            ends = beta_limits(errors[some], size[some], (1.0 - min(level, upto)) / 2.0)
            if level > upto:
                ends = np.minimum(low[some], ends[0]), np.maximum(high[some], ends[1])
            low[some], high[some] = ends
    return low, high
