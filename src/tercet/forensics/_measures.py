"""What a set of validation likelihood ratios shows: calibration, misleading evidence, cross-entropy, supported LRs."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tercet._numeric.records import PlainRecord, checked_tuple
from tercet._numeric.validation import chosen, frozen, function, mapping, numbers, shown, whole
from tercet._typing import JSON, Floats
from tercet.application import sigmoid
from tercet.biometrics import Rate, grouped_rates, rate_of
from tercet.calibration.two_class import Bounded, Calibrator, Logistic, next_above
from tercet.errors import InputError, UndefinedError
from tercet.metrics.binomial import Interval
from tercet.metrics.costs import cllr, empirical_cross_entropy, min_cllr, min_cross_entropy
from tercet.metrics.curves import Curve
from tercet.metrics.tally import Ranked, Tally
from tercet.trials import Trials, as_trials, probability, two_class
from tercet.uncertainty.bootstrap import bootstrap

_TEN = math.log(10.0)


@checked_tuple
class DevPav(NamedTuple):
    """devPAV and the range of log10 LRs that it covers.

    Attributes
    ----------
    value : float
        Mean distance between the PAV-transformed and the given log10 LRs; infinite where an LR of 0 or infinity has a
        finite PAV value.
    low, high : float
        The range of log10 LRs whose PAV value is finite.
    left_out_below, left_out_above : float
        How many trials (or their weight) have a PAV value of 0 and of infinity: beyond the range
        only one class occurs.

    Examples
    --------
    >>> import tercet as tc
    >>> found = tc.forensics.dev_pav(tc.Trials.of_lr([2.0, 2.0, 2.0, 2.0], [1, 1, 0, 0]))
    >>> round(found.value, 5)    # log10 2: LRs of 2 that are worth 1
    0.30103
    """

    value: float
    low: float
    high: float
    left_out_below: float
    left_out_above: float


def dev_pav(trials: Trials) -> DevPav:
    """devPAV: how far the PAV-transformed LRs lie from the given ones, on average, in log10.

    Pool-adjacent-violators gives each LR the LR that it is worth in these data. The points (log10 LR, log10 PAV LR) are
    joined by straight lines; devPAV is the area between them and the identity, divided by the width of the range.
    Points with a PAV value of 0 or infinity are left out and counted. If the range is a single point, devPAV is the
    distance of that point from the identity.

    Parameters
    ----------
    trials : Trials
        Labelled trials that are likelihood ratios: same source = target.

    Returns
    -------
    DevPav
        The deviation, the range it was measured on, and the trials outside it.

    Raises
    ------
    UndefinedError
        If every PAV value is 0 or infinite: the classes do not overlap.

    References
    ----------
    Vergeer, van Schaik and Sjerps (2021), "Measuring calibration of likelihood-ratio systems: a comparison of four
    metrics, including a new metric devPAV", Forensic Science International 321, as the LiR toolkit of the Netherlands
    Forensic Institute implements it.

    Examples
    --------
    >>> round(dev_pav(Trials.of_lr([2., 2., 2., 2.], [1, 1, 0, 0])).value, 6)    # log10 2: worth 1, said to be 2
    0.30103
    """
    tally = Tally.of(as_trials(trials)).as_llr()
    hull = Curve.of(tally).hull
    x, y, finite = pav_points(tally)
    rejected = hull.misses + (hull.nontargets - hull.false_alarms)
    outside = (int(rejected[finite[0]]), int(rejected[-1] - rejected[finite[-1] + 1]))
    return DevPav(_mean_distance(x, y), float(x[0]), float(x[-1]), *(tally.weight(count) for count in outside))


def pav_points(tally: Tally) -> tuple[Floats, Floats, NDArray[np.intp]]:
    """The points (log10 LR, log10 PAV LR) that straight lines join, two for each finite block, and those blocks."""
    low, high, worth = pav_blocks(tally)
    finite = np.flatnonzero(np.isfinite(worth))
    if len(finite) == 0:
        raise UndefinedError(
            "devPAV is undefined: PAV gives every LR the value 0 or infinity, because the classes do not overlap."
        )
    return np.column_stack((low, high))[finite].ravel(), np.repeat(worth[finite], 2), finite


def pav_blocks(tally: Tally) -> tuple[Floats, Floats, Floats]:
    """Where each PAV block of llrs begins and ends, and what it is worth, as log10 LRs."""
    hull = Curve.of(tally).hull
    sides = tally.targets.scores, tally.nontargets.scores
    first = np.minimum(*(next_above(scores, hull.thresholds[:-1]) for scores in sides))
    first[0] = min(scores[0] for scores in sides)  # -inf too
    return first / _TEN, hull.thresholds[1:] / _TEN, hull.llrs / _TEN


def _mean_distance(x: Floats, y: Floats) -> float:
    """The area between a piecewise linear curve and the identity over its width; of no width, the mean distance."""
    if not np.isfinite(x).all():
        return math.inf
    apart = y - x
    if x[0] == x[-1]:
        return float(np.abs(apart).mean())
    left, right, width = apart[:-1], apart[1:], np.diff(x)
    total = np.abs(left) + np.abs(right)
    crossing = left * right < 0.0
    square = np.where(crossing, (left * left + right * right) / np.where(total > 0.0, total, 1.0), total)
    return math.fsum(width * square / 2.0) / float(x[-1] - x[0])


def cllr_cal(trials: Trials) -> float:
    """Cllr minus min Cllr, in bits: what miscalibration costs.

    Parameters
    ----------
    trials : Trials
        Labelled trials that are likelihood ratios.

    Returns
    -------
    float
        Cllr - min Cllr, in bits.

    Examples
    --------
    >>> round(cllr_cal(Trials.of_lr([2., 2.], [1, 0])), 4)    # (log2 1.5 + log2 3) / 2 - 1
    0.085
    """
    curve = Curve.of(as_trials(trials))
    return cllr(curve.tally) - min_cllr(curve)


@checked_tuple
class Misleading(NamedTuple):
    """How often evidence of at least some strength points the wrong way.

    Attributes
    ----------
    strength : float
        An LR, at least 1.
    targets : Rate
        Same-source trials with an LR below 1 / strength.
    nontargets : Rate
        Different-source trials with an LR above strength.

    Examples
    --------
    >>> import tercet as tc
    >>> found = tc.forensics.misleading_evidence(tc.Trials.of_lr([20.0, 0.5, 0.2, 30.0], [1, 1, 0, 0]), [10])
    >>> row = found.rows[0]
    >>> row.strength, row.targets.value, row.nontargets.value
    (10.0, 0.0, 0.5)
    """

    strength: float
    targets: Rate
    nontargets: Rate


@dataclass(frozen=True, slots=True)
class MisleadingEvidence(PlainRecord):
    """Rates of misleading evidence by strength, and the strongest of it.

    Attributes
    ----------
    rows : tuple of Misleading
        One for each strength.
    lowest_target_lr, highest_nontarget_lr : float
        The most misleading LR of each class.

    Examples
    --------
    >>> import tercet as tc
    >>> found = tc.forensics.misleading_evidence(tc.Trials.of_lr([20.0, 0.5, 0.2, 30.0], [1, 1, 0, 0]), [1, 10])
    >>> round(found.lowest_target_lr, 6), round(found.highest_nontarget_lr, 6)
    (0.5, 30.0)
    """

    rows: tuple[Misleading, ...]
    lowest_target_lr: float
    highest_nontarget_lr: float


def misleading_evidence(
    trials: Trials,
    strengths: ArrayLike = (1.0, 10.0, 100.0, 1000.0),
    *,
    ci: float = 0.95,
    by: str | tuple[str, str] | None = None,
) -> MisleadingEvidence:
    """How often LRs point the wrong way, by strength.

    Parameters
    ----------
    trials : Trials
        Labelled trials that are likelihood ratios: same source = target.
    strengths : array_like of float, optional
        LRs of at least 1; 1 counts all misleading evidence. An LR of exactly 1 misleads nobody.
    ci : float, optional
        Level of the intervals, Clopper-Pearson's of independent trials.
    by : str or tuple of two str, optional
        Group columns (source) that are the unit of the intervals.

    Returns
    -------
    MisleadingEvidence
        Rates with intervals by strength, and the most misleading LR of each class.

    Examples
    --------
    >>> found = misleading_evidence(Trials.of_lr([20., 0.5, 0.2, 30.], [1, 1, 0, 0]), [1, 10])
    >>> [(row.targets.value, row.nontargets.value) for row in found.rows]
    [(0.5, 0.5), (0.0, 0.5)]
    """
    level = probability(ci, "ci")
    asked = numbers(strengths, "strengths")
    if not ((asked >= 1.0) & (asked < math.inf)).all():
        raise InputError(f"strengths must be finite LRs of at least 1, not {shown(asked.tolist())}.")
    tally = Tally.of(as_trials(trials))
    scaled, scale = _scale(tally)
    Curve.of(scaled)  # both classes must be there
    flat = two_class(trials)
    scores = flat.scores if scaled.meaning == flat.meaning else flat.llr
    labels = flat.known_labels().astype(np.bool_)
    rows = []
    for strength in asked.tolist():
        low, high = scale(1.0 / strength), scale(strength)
        wrong = int(scaled.targets.below(low)), scaled.nontargets.total - int(scaled.nontargets.upto(high))
        same, different = (
            rate_of(errors, side.total, scaled, level, "clopper-pearson")
            for errors, side in zip(wrong, (scaled.targets, scaled.nontargets), strict=True)
        )
        if by is not None:
            misled = np.where(labels, scores < low, scores > high)
            other, own = grouped_rates(flat, misled, level, by, (different, same))
            assert own is not None
            assert other is not None
            same, different = own, other
        rows.append(Misleading(strength, same, different))
    ends = (float(scaled.targets.scores[0]), float(scaled.nontargets.scores[-1]))
    return MisleadingEvidence(tuple(rows), *(_as_lr(end, scaled.meaning) for end in ends))


def _scale(tally: Tally) -> tuple[Tally, Callable[[float], float]]:
    """The tally on a scale where LRs are compared without rounding, and an LR on that scale."""
    if tally.meaning == "lr":
        return tally, float
    if tally.meaning == "log10-llr":
        return tally, math.log10
    return tally.as_llr(), math.log


def _exponential(value: float) -> float:
    with np.errstate(over="ignore"):
        return float(np.exp(value))


def _as_lr(value: float, meaning: str) -> float:
    """A score on the scale of a tally as a likelihood ratio."""
    if meaning == "lr":
        return value
    with np.errstate(over="ignore"):
        return float(np.power(10.0, value)) if meaning == "log10-llr" else _exponential(value)


@checked_tuple
class GeometricMeans(NamedTuple):
    """Geometric means of the likelihood ratios of both classes.

    Attributes
    ----------
    targets, nontargets : float
        e to the mean llr of same-source and of different-source trials.

    Examples
    --------
    >>> import tercet as tc
    >>> means = tc.forensics.geometric_mean_lr(tc.Trials.of_lr([4.0, 16.0, 0.5, 0.125], [1, 1, 0, 0]))
    >>> round(means.targets, 6), round(means.nontargets, 6)
    (8.0, 0.25)
    """

    targets: float
    nontargets: float


def geometric_mean_lr(trials: Trials) -> GeometricMeans:
    """Geometric means of the LRs of both classes; LRs of 0 or infinity have none.

    Parameters
    ----------
    trials : Trials
        Labelled trials that are likelihood ratios.

    Returns
    -------
    GeometricMeans
        The geometric mean of each class.

    Raises
    ------
    InputError
        If an LR is 0 or infinite, with how many there are.

    Examples
    --------
    >>> [round(value, 9) for value in geometric_mean_lr(Trials.of_lr([4., 16., 0.5, 0.125], [1, 1, 0, 0]))]
    [8.0, 0.25]
    """
    tally = Tally.of(as_trials(trials)).as_llr()
    Curve.of(tally)
    return GeometricMeans(_mean_lr(tally.targets, "same-source"), _mean_lr(tally.nontargets, "different-source"))


def _mean_lr(side: Ranked, name: str) -> float:
    weights = np.ones(len(side.scores)) if side.running is None else np.diff(side.running).astype(np.float64)
    bad = ~np.isfinite(side.scores)
    if bad.any():
        kind = "0" if side.scores[bad][0] == -math.inf else "infinity"
        raise InputError(
            f"A geometric mean needs LRs above 0 and below infinity: {weights[bad].sum():g} of {weights.sum():g} "
            f"{name} LRs are not, the first is {kind}. Bound the LRs first, with forensics.bounded or forensics.elub."
        )
    return _exponential(math.fsum(side.scores * weights) / math.fsum(weights))


@checked_tuple
class Ece(NamedTuple):
    """Empirical cross-entropy along the prior, with ranges.

    Attributes
    ----------
    log10_odds : ndarray
        Prior log-odds, base 10.
    actual : ndarray
        Bits needed when the LRs are believed.
    minimum : ndarray
        After the best monotone recalibration (PAV) on the same data.
    neutral : ndarray
        When every LR is 1.
    low, high : ndarray or None
        Ends of the pointwise range of `actual`, where a level was asked for.

    Examples
    --------
    >>> import tercet as tc
    >>> found = tc.forensics.ece(tc.Trials.of_lr([1.0, 1.0], [1, 0]), [0.0])
    >>> found.actual.tolist(), found.neutral.tolist()
    ([1.0], [1.0])
    """

    log10_odds: Floats
    actual: Floats
    minimum: Floats
    neutral: Floats
    low: Floats | None
    high: Floats | None


def ece(
    trials: Trials,
    log10_odds: ArrayLike | None = None,
    *,
    ci: float | None = None,
    by: str | None = None,
    resamples: int = 200,
    seed: int = 0,
) -> Ece:
    """Empirical cross-entropy (ECE) along prior log-odds, with a pointwise range by resampling.

    Parameters
    ----------
    trials : Trials
        Labelled trials that are likelihood ratios.
    log10_odds : array_like, optional
        Prior log-odds, base 10; 41 points from -2 to 2 by default.
    ci : float, optional
        Level of the range; none without it.
    by : str, optional
        Name of the group column that is resampled as a whole.
    resamples : int, optional
        How many resamples.
    seed : int, optional
        Seed of the resampling.

    Returns
    -------
    Ece
        Empirical cross-entropy of the LRs, after isotonic calibration, and of LR = 1, at each prior.

    Examples
    --------
    >>> found = ece(Trials.of_lr([1., 1.], [1, 0]), [0.0])
    >>> found.actual.tolist(), found.neutral.tolist()
    ([1.0], [1.0])
    """
    grid = np.linspace(-2.0, 2.0, 41) if log10_odds is None else numbers(log10_odds, "log10_odds")
    if np.any(np.abs(grid) > 15.0):
        raise InputError("log10_odds must lie in -15..15: beyond, a prior is 0 or 1 in 64-bit floating point.")
    priors = [sigmoid(odds * _TEN) for odds in grid.tolist()]
    curve = Curve.of(as_trials(trials))
    actual = np.array([empirical_cross_entropy(curve.tally, prior) for prior in priors])
    minimum = np.array([min_cross_entropy(curve, prior) for prior in priors])
    neutral = np.array([-(p * math.log2(p) + (1.0 - p) * math.log2(1.0 - p)) for p in priors])
    ends = None if ci is None else _range(trials, priors, probability(ci, "ci"), by, resamples, seed)
    columns = (np.array(grid), actual, minimum, neutral, *(ends or (None, None)))
    return Ece(*(None if column is None else frozen(column) for column in columns))  # type: ignore[arg-type]


def _range(
    trials: Trials, priors: Sequence[float], level: float, by: str | None, resamples: int, seed: int
) -> tuple[Floats, Floats]:
    asked = {f"ece.{place}": partial(empirical_cross_entropy, prior=prior) for place, prior in enumerate(priors)}
    found = bootstrap(
        trials, ci=level, by=by, resamples=resamples, seed=seed, quantities=(), bayes_plot=None, extra=asked,
        method="percentile",
    )  # fmt: skip
    ends = [found[name] for name in asked]
    return np.array([end.low for end in ends]), np.array([end.high for end in ends])


@checked_tuple
class LrInterval(NamedTuple):
    """One calibrated likelihood ratio with its interval.

    Attributes
    ----------
    score : float
        The score.
    lr : float
        The LR that the calibrator, trained on all trials, gives it.
    interval : Interval
        How far this LR moves when the training trials are drawn anew.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_scores([0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0, 1.0], [0, 0, 0, 1, 0, 1, 1, 1])
    >>> found = tc.forensics.lr_interval([1.0], trials, resamples=50, options={"penalty": 0.01})[0]
    >>> round(found.lr, 1)    # (3/4) / (1/4), drawn towards 1 by the penalty
    2.8
    """

    score: float
    lr: float
    interval: Interval


def lr_interval(
    scores: ArrayLike,
    trials: Trials,
    *,
    calibrator: object = Logistic,
    prior: float = 0.5,
    ci: float = 0.95,
    by: str | None = None,
    resamples: int = 500,
    seed: int = 0,
    options: Mapping[str, object] | None = None,
) -> tuple[LrInterval, ...]:
    """Calibrated LRs of single scores with intervals, by training the calibrator again on each resample.

    Parameters
    ----------
    scores : array_like of shape (n,)
        Scores of the case.
    trials : Trials
        Labelled training trials of the calibrator.
    calibrator : class with `fit`, optional
        Logistic by default.
    prior : float, optional
        The prior to train for.
    ci : float, optional
        Level of the intervals.
    by : str, optional
        Name of the group column that is resampled as a whole.
    resamples : int, optional
        How many resamples.
    seed : int, optional
        Seed of the resampling.
    options : mapping, optional
        Further options of the calibrator's fit.

    Returns
    -------
    tuple of LrInterval
        The LR of each score with its interval.

    Examples
    --------
    >>> trials = Trials.of_scores([0., 0., 0., 0., 1., 1., 1., 1.], [0, 0, 0, 1, 0, 1, 1, 1])
    >>> found = lr_interval([1.0], trials, resamples=50, options={"penalty": 0.01})[0]
    >>> round(found.lr, 1), found.interval.low <= found.lr <= found.interval.high
    (2.8, True)
    """
    wanted = numbers(scores, "scores")
    fit, more = _checked_fit(calibrator, trials, prior, options)
    known: list[tuple[Trials, Floats]] = []  # the last resample and its llrs, because each score asks for the same map

    def llrs(drawn: Trials) -> Floats:
        if not known or known[0][0] is not drawn:
            known[:] = [(drawn, function(fit(drawn, prior=prior, **more), "what calibrator fits")(wanted))]
        return known[0][1]

    asked = {f"llr.{place}": (lambda drawn, place=place: float(llrs(drawn)[place])) for place in range(len(wanted))}
    found = bootstrap(
        as_trials(trials), ci=probability(ci, "ci"), by=by, resamples=resamples, seed=seed, quantities=(),
        bayes_plot=None, extra=asked, method="percentile", threads=1,
    )  # fmt: skip
    values = llrs(trials).tolist()
    rows = zip(wanted.tolist(), values, (found[name] for name in asked), strict=True)
    return tuple(
        LrInterval(
            score, _exponential(llr),
            Interval(_exponential(float(ends.low)), _exponential(float(ends.high)), ends.method),
        )
        for score, llr, ends in rows
    )  # fmt: skip


def _checked_fit(
    calibrator: object, trials: Trials, prior: float, options: Mapping[str, object] | None
) -> tuple[Callable[..., object], JSON]:
    """The calibrator's fit, and options that it knows."""
    fit = getattr(calibrator, "fit", calibrator)
    if not callable(fit):
        raise InputError(f"calibrator must be a calibrator class, such as Logistic, not {shown(calibrator)}.")
    given = {} if options is None else mapping(options, "options")
    more: JSON = {str(key): value for key, value in given.items()}
    try:
        inspect.signature(fit).bind(trials, prior=prior, **more)
    except (TypeError, ValueError) as error:
        raise InputError(f"options={shown(options)} must name arguments of the calibrator's fit: {error}.") from None
    return fit, more


@checked_tuple
class Tippett(NamedTuple):
    """A Tippett plot's lines.

    Attributes
    ----------
    log10_lr : ndarray
        Where the lines are read, base 10.
    targets, nontargets : ndarray
        Shares of same-source and of different-source trials.
    kind : str
        "survival": both are the shares above; "crossing": same source below, different source above.

    Examples
    --------
    >>> import tercet as tc
    >>> found = tc.forensics.tippett(tc.Trials.of_log10_llr([1.0, -1.0], [1, 0]), points=3)
    >>> found.targets.tolist(), found.nontargets.tolist()
    ([1.0, 1.0, 0.0], [0.0, 0.0, 0.0])
    """

    log10_lr: Floats
    targets: Floats
    nontargets: Floats
    kind: str


def tippett(trials: Trials, *, kind: str = "survival", points: int = 401) -> Tippett:
    """The lines of a Tippett plot of either kind.

    "survival": the share of each class with an LR above a value. "crossing": the share of same-source trials at or
    below it, and of different-source trials above it; the lines cross near the equal error rate.

    Parameters
    ----------
    trials : Trials
        Labelled trials that are likelihood ratios.
    kind : {"survival", "crossing"}, optional
        Which plot.
    points : int, optional
        How many values, evenly spaced over the finite LRs.

    Returns
    -------
    Tippett
        The values on the log10 scale and the shares of both classes.

    Examples
    --------
    >>> found = tippett(Trials.of_log10_llr([1., -1.], [1, 0]), points=3)
    >>> found.log10_lr.round(6).tolist(), found.targets.tolist(), found.nontargets.tolist()
    ([-1.0, 0.0, 1.0], [1.0, 1.0, 0.0], [0.0, 0.0, 0.0])
    """
    chosen(kind, "kind", ("survival", "crossing"))
    tally = Tally.of(as_trials(trials)).as_llr()
    Curve.of(tally)
    scores = np.concatenate((tally.targets.scores, tally.nontargets.scores))
    finite = scores[np.isfinite(scores)]
    low, high = (float(finite.min()), float(finite.max())) if len(finite) else (-1.0, 1.0)
    grid = np.linspace(low, high, whole(points, "points", 2, 1_000_000))
    missed, alarms = tally.at(grid)
    below = missed / tally.targets.total
    above = (tally.targets.total - missed) / tally.targets.total
    shares = (grid / _TEN, below if kind == "crossing" else above, alarms / tally.nontargets.total)
    log10_lr, targets, nontargets = (frozen(np.asarray(share, np.float64)) for share in shares)
    return Tippett(log10_lr, targets, nontargets, kind)


# The lowest and the highest likelihood ratio that the data support


METHODS = ("elub", "iv")


@checked_tuple
class LrBounds(NamedTuple):
    """Bounds of the likelihood ratios (not of their logarithms) that the data support.

    Attributes
    ----------
    lower : float
        At most 1; 1 says that no LR below 1 is supported.
    upper : float
        At least 1; 1 says that no LR above 1 is supported.
    method : str
        "elub" or "iv".

    Examples
    --------
    >>> import tercet as tc
    >>> lrs = tc.Trials.of_lr([100.0, 100.0, 100.0, 0.01, 0.01, 0.01], [1, 1, 1, 0, 0, 0])
    >>> tc.forensics.elub(lrs).upper    # (3/4) / (1/4)
    3.0
    """

    lower: float
    upper: float
    method: str


def elub(trials: Trials, *, misleading: int = 1) -> LrBounds:
    """Empirical lower and upper bounds (ELUB) of the likelihood ratios that these data support.

    `misleading` hypothetical LRs of the most misleading kind are added to each class. An LR threshold t is supported if
    decisions at it then cost no more than those of a system that always says LR = 1: FNR + t FPR <= min(1, t). The
    upper bound is where, going up from 1, this first fails; the lower bound where it first fails going down. Here the
    bounds are exact; other tools search a grid of thresholds.

    Parameters
    ----------
    trials : Trials
        Labelled trials that are likelihood ratios: same source = target. LRs of 0 and infinity are allowed.
    misleading : int, optional
        How many misleading LRs are imagined in each class, 1 by default.

    Returns
    -------
    LrBounds
        Lower and upper bound.

    References
    ----------
    Vergeer, van Es, de Jongh, Alberink and Stoel (2016), "Numerical likelihood ratios outputted by LR systems are often
    based on extrapolation: When to stop extrapolating?", Science and Justice 56, 482-491.

    Examples
    --------
    >>> elub(Trials.of_lr([100., 100., 100., 0.01, 0.01, 0.01], [1, 1, 1, 0, 0, 0]))    # (3/4) / (1/4) and its inverse
    LrBounds(lower=0.3333333333333333, upper=3.0, method='elub')
    """
    added = whole(misleading, "misleading", 0)
    steps = _Steps.of(trials)
    targets, nontargets = steps.targets + added, steps.nontargets + added
    # TPR / FPR and FNR / TNR with one rounding, so that a ratio that equals an LR is seen to.
    top = _ratio((steps.targets - steps.misses) * nontargets, (steps.alarms + added) * targets, math.inf)
    bottom = _ratio((steps.misses + added) * nontargets, (steps.nontargets - steps.alarms) * targets, 0.0)
    above, below = np.maximum(np.maximum(steps.starts, top), 1.0), np.minimum(np.minimum(steps.ends, bottom), 1.0)
    upper = above[above < steps.ends].min(initial=max(steps.starts[-1], 1.0))
    lower = below[below > steps.starts].max(initial=min(steps.ends[0], 1.0))
    return LrBounds(float(lower), float(upper), "elub")


def iv_bounds(trials: Trials) -> LrBounds:
    """Bounds by invariance verification: "the LR of the LR is the LR", checked on the tails.

    The share of same-source LRs at or above t should be at least t times that of different-source LRs, and the share of
    same-source LRs below t at most t times that of different-source LRs; shares are (count + 1/2) / (n + 1). The upper
    bound is where, going up from 1, the first fails; the lower bound where the second first fails going down. Where
    nothing fails, the highest same-source and the lowest different-source LR are the bounds.

    Parameters
    ----------
    trials : Trials
        Labelled trials that are likelihood ratios: same source = target.

    Returns
    -------
    LrBounds
        Lower and upper bound.

    References
    ----------
    Alberink, Leegwater, Malmborg, Nordgaard, Sjerps and van der Ham, "A transparent method to determine limit values
    for Likelihood Ratio systems" (submitted 2025), as the LiR toolkit of the Netherlands Forensic Institute implements
    it.

    Examples
    --------
    >>> iv_bounds(Trials.of_lr([100., 100., 100., 0.01, 0.01, 0.01], [1, 1, 1, 0, 0, 0])).upper    # (3.5/4) / (0.5/4)
    7.0
    """
    steps = _Steps.of(trials)
    targets, nontargets = steps.targets + 1.0, steps.nontargets + 1.0
    top = ((steps.targets - steps.misses + 0.5) * nontargets) / ((steps.alarms + 0.5) * targets)
    bottom = ((steps.misses + 0.5) * nontargets) / ((steps.nontargets - steps.alarms + 0.5) * targets)
    above = np.maximum(np.maximum(steps.starts, top), 1.0)[:-1]  # thresholds above all LRs say nothing
    fails = above[above < steps.ends[:-1]]
    upper = fails.min() if len(fails) else max(steps.highest_target, 1.0)
    below = np.minimum(np.minimum(steps.ends, bottom), 1.0)
    held = below > steps.starts
    held[0] = bottom[0] > steps.ends[0]  # of the thresholds below all LRs only the lowest LR itself
    below[0] = min(steps.ends[0], 1.0)
    lower = below[held].max() if held.any() else min(steps.lowest_nontarget, 1.0)
    return LrBounds(float(lower), float(upper), "iv")


def bounded(calibrator: Calibrator, trials: Trials, *, method: Literal["elub", "iv"] = "elub") -> Bounded:
    """A calibrator whose likelihood ratios stay within the bounds that validation data support.

    Parameters
    ----------
    calibrator : Calibrator
        A trained map from scores to llrs.
    trials : Trials
        Labelled trials of the scores that the calibrator takes, not those that it was trained on.
    method : {"elub", "iv"}, optional
        How the bounds are found.

    Returns
    -------
    Bounded
        Called like the calibrator; it can be saved and loaded.

    Examples
    --------
    >>> from tercet.calibration.two_class import Gaussian
    >>> calibrator = Gaussian.fit(Trials.of_scores([-2., 0., 0., 2.], [0, 0, 1, 1]))    # llr = 2 s
    >>> held = Trials.of_scores([-3., -3., -3., 3., 3., 3.], [0, 0, 0, 1, 1, 1])
    >>> safe = bounded(calibrator, held)
    >>> safe([-9.0, 0.0, 9.0]).round(4).tolist()    # no LR beyond 3 or 1/3
    [-1.0986, 0.0, 1.0986]
    """
    if not isinstance(calibrator, Calibrator):
        raise InputError(f"calibrator must be a trained calibrator, not {shown(type(calibrator).__name__)}.")
    find = {"elub": elub, "iv": iv_bounds}[chosen(method, "method", METHODS)]
    found = find(calibrator(as_trials(trials)))
    return Bounded.of(calibrator, found.lower, found.upper, method)


class _Steps(NamedTuple):
    """Counts between one LR and the next: from `starts` to `ends` both error counts stay the same."""

    starts: Floats
    ends: Floats
    misses: Floats
    alarms: Floats
    targets: float
    nontargets: float
    highest_target: float
    lowest_nontarget: float

    @classmethod
    def of(cls, trials: Trials) -> _Steps:
        tally = Tally.of(as_trials(trials))
        tally = tally if tally.meaning == "lr" else tally.as_llr()
        curve, scale = Curve.of(tally), 2.0**tally.unit
        misses, alarms = (np.asarray(counts, np.float64) * scale for counts in (curve.misses, curve.false_alarms))
        ends = np.array([tally.targets.scores[-1], tally.nontargets.scores[0]])
        lrs = curve.thresholds[1:]
        if tally.meaning == "llr":
            with np.errstate(over="ignore"):
                lrs, ends = np.exp(lrs), np.exp(ends)
        return cls(
            np.concatenate(([0.0], lrs)), np.concatenate((lrs, [math.inf])), misses, alarms, curve.targets * scale,
            curve.nontargets * scale, *ends.tolist(),
        )  # fmt: skip


def _ratio(above: Floats, below: Floats, neither: float) -> Floats:
    """above / below; infinite where only below is 0, `neither` where both are."""
    nothing = np.where(above > 0.0, math.inf, neither)
    return np.asarray(np.where(below > 0.0, above / np.where(below > 0.0, below, 1.0), nothing))
