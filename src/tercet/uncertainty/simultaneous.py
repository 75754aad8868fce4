"""Bands that hold along a whole curve at once: ROC, DET, decision curves, and the difference of two systems' costs.

Also percentile intervals of numbers that rest on several sets of trials, all of them resampled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tercet._numeric.plain import plain
from tercet._numeric.validation import probability, shown
from tercet._typing import JSON, Array, Floats
from tercet.application import sigmoid
from tercet.errors import InputError, UndefinedError
from tercet.metrics.binomial import Interval
from tercet.metrics.costs import log_odds_grid
from tercet.metrics.curves import Curve
from tercet.metrics.net_benefit import DecisionCurve, net_benefits
from tercet.metrics.pairing import PairBy, paired
from tercet.trials import Trials, two_class
from tercet.uncertainty._clusters import group_codes, grouping
from tercet.uncertainty._differences import Losses, PairedTrials
from tercet.uncertainty._kernel.engine import Settings
from tercet.uncertainty._two_class import Points

_DRAWS = 20_000  # of the largest of several correlated normal variables
_SEED = 20130
_MOST_POINTS = 2001


class Reach(NamedTuple):
    """How far the error rates of both classes may be off at all thresholds at once."""

    fnr: float
    fpr: float


def kolmogorov_reach(curve: Curve, level: float) -> Reach:
    """Massart's bound for both classes' scores together: sqrt(ln(2 / (1 - sqrt(level))) / (2 n)) each."""
    tail = -math.expm1(0.5 * math.log(level))  # 1 - sqrt(level): both classes are independent
    sizes = [float(curve.tally.weight(count)) for count in (curve.targets, curve.nontargets)]
    if curve.tally.unit < 0:
        raise InputError("trials must have integer weights: fractional ones have no sampling distribution.")
    if min(sizes) == 0.0:
        raise UndefinedError("A band needs trials of both classes.")
    return Reach(*(min(1.0, math.sqrt(math.log(2.0 / tail) / (2.0 * size))) for size in sizes))


def simultaneous_miss_rates(curve: Curve, rates: Floats, level: float) -> tuple[Floats, Floats, Floats]:
    """Value, low and high of the miss rate at each false-alarm rate, for all of them at once."""
    reach = kolmogorov_reach(curve, level)
    value = _lowest_misses(curve, rates)
    low = np.maximum(_lowest_misses(curve, np.minimum(rates + reach.fpr, 1.0)) - reach.fnr, 0.0)
    high = np.minimum(_lowest_misses(curve, rates - reach.fpr) + reach.fnr, 1.0)
    certain = rates >= 1.0  # accepting everything misses nothing
    return value, np.where(certain, 0.0, low), np.where(certain, 0.0, high)


def _lowest_misses(curve: Curve, rates: Floats) -> Floats:
    """The lowest miss rate among thresholds whose false-alarm rate is at most each; 1 where there is none."""
    alarms, misses = curve.fpr[::-1], curve.fnr[::-1]  # ascending false-alarm rates, descending miss rates
    place = np.searchsorted(alarms, rates, "right") - 1
    return np.where(place < 0, 1.0, misses[np.maximum(place, 0)])


class NetBenefitBand(NamedTuple):
    """A decision curve with a band that holds at all threshold probabilities at once.

    Attributes
    ----------
    curve : DecisionCurve
        The curve itself.
    low, high : numpy.ndarray of float
        Both ends of the net benefit at each threshold probability.
    level : float
        Level of the whole band.
    method : str
        The method of the interval.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_posteriors([0.9, 0.4, 0.6, 0.1] * 50, [1, 1, 0, 0] * 50, trained_prior=0.5)
    >>> found = tc.net_benefit_band(trials, [0.2])
    >>> found.low.round(3).tolist(), found.high.round(3).tolist()
    ([0.345], [0.456])
    """

    curve: DecisionCurve
    low: Floats
    high: Floats
    level: float
    method: str


def net_benefit_band(
    trials: Trials, thresholds: ArrayLike | None = None, *, prevalence: float | None = None, level: float = 0.95
) -> NetBenefitBand:
    """A simultaneous band around a decision curve, at a prevalence that is taken as known.

    The error rates at all thresholds lie within Massart's bound (1990) of the measured ones, so the net benefit TPR x
    prevalence - FPR x (1 - prevalence) x t / (1 - t) is bounded at all threshold probabilities t simultaneously.

    Parameters
    ----------
    trials : Trials
        Labelled two-class trials that are not raw scores.
    thresholds : array_like, optional
        Threshold probabilities; as `decision_curve` has them unless given.
    prevalence : float, optional
        The share of targets that the net benefit refers to; that of the trials unless given.
    level : float, default 0.95
        Level of the whole band.

    Returns
    -------
    NetBenefitBand
        The curve and both ends.

    References
    ----------
    Massart (1990), The tight constant in the Dvoretzky-Kiefer-Wolfowitz inequality, doi:10.1214/aop/1176990746.

    Examples
    --------
    >>> trials = Trials.of_posteriors([0.9, 0.4, 0.6, 0.1] * 50, [1, 1, 0, 0] * 50, trained_prior=0.5)
    >>> found = net_benefit_band(trials, [0.2])
    >>> round(float(found.curve.net_benefit[0]), 3), found.low.round(3).tolist(), found.high.round(3).tolist()
    (0.438, [0.345], [0.456])
    """
    share = probability(level, "level")
    found, _ = net_benefits(trials, thresholds, prevalence)
    reach = kolmogorov_reach(Curve.of(two_class(trials)), share)
    odds = (1.0 - found.prevalence) * found.threshold / (1.0 - found.threshold)
    low = found.prevalence * np.maximum(found.tpr - reach.fnr, 0.0) - odds * np.minimum(found.fpr + reach.fpr, 1.0)
    high = found.prevalence * np.minimum(found.tpr + reach.fnr, 1.0) - odds * np.maximum(found.fpr - reach.fpr, 0.0)
    return NetBenefitBand(found, low, high, share, "Kolmogorov-Smirnov (Massart), both classes")


@dataclass(frozen=True, slots=True, eq=False)
class DifferenceBand:
    """The difference of two systems' actual costs over a range of priors, with a band that holds everywhere at once.

    Attributes
    ----------
    first, second : str
        Names of the systems.
    log_odds : numpy.ndarray of float
        Prior log-odds.
    value, low, high : numpy.ndarray of float
        First minus second, in normalised DCF at equal costs, and both ends.
    level : float
        Level of the whole band.
    critical : float
        How many standard errors the band reaches; 1.96 would be pointwise at 95 %.
    paired_by : str
        How the trials were matched.

    Examples
    --------
    >>> import tercet as tc
    >>> a = tc.Trials.of_llr([3.0, 2.0, 1.0, -1.0, -2.0, -0.5] * 40, [1, 1, 1, 0, 0, 0] * 40)
    >>> b = tc.Trials.of_llr([3.0, -2.0, 1.0, -1.0, 2.0, -0.5] * 40, [1, 1, 1, 0, 0, 0] * 40)
    >>> found = tc.difference_band(a, b, (-0.4, 0.4, 3))
    >>> found.value.round(3).tolist(), found.first_is_better
    ([-0.831, -0.667, -0.831], True)
    """

    first: str
    second: str
    log_odds: Floats
    value: Floats
    low: Floats
    high: Floats
    level: float
    critical: float
    paired_by: str

    @property
    def first_is_better(self) -> bool:
        """Whether the first system is shown to be cheaper at every prior of the range."""
        return bool((self.high < 0.0).all())

    @property
    def sentence(self) -> str:
        """The priors at which each system is shown to be cheaper, in words."""
        parts = []
        for name, where in ((self.first, self.high < 0.0), (self.second, self.low > 0.0)):
            if where.any():
                parts.append(f"{name} is cheaper at priors {_ranges(self.log_odds, where)}")
        told = "; ".join(parts) if parts else f"no difference between {self.first} and {self.second} can be shown"
        ends = f"{sigmoid(float(self.log_odds[0])):.3g} to {sigmoid(float(self.log_odds[-1])):.3g}"
        return f"Over priors {ends} at equal costs ({100 * self.level:g} %, simultaneously), {told}."

    def to_dict(self) -> JSON:
        """Plain values for JSON.

        Returns
        -------
        dict
            Plain values.
        """
        found: JSON = plain(self)
        return found | {"sentence": self.sentence}


def _ranges(log_odds: Floats, where: Array) -> str:
    """Runs of a grid in words: "0.01 to 0.2, 0.6"."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], where, [False])).astype(np.int8)))
    words = []
    for start, stop in zip(edges[::2].tolist(), (edges[1::2] - 1).tolist(), strict=True):
        ends = dict.fromkeys(f"{sigmoid(float(log_odds[place])):.3g}" for place in (start, stop))
        words.append(" to ".join(ends))
    return ", ".join(words)


def difference_band(
    first: Trials,
    second: Trials,
    log_odds: tuple[float, float, int] = (-3.0, 3.0, 41),
    *,
    level: float = 0.95,
    by: str | tuple[str, str] | None = None,
    pair_by: PairBy | None = None,
    names: tuple[str, str] | None = None,
) -> DifferenceBand:
    """A simultaneous band for the difference between the costs of two systems over a whole range of priors.

    Each point has the interval of `compare` (MOVER over the trials that only one system decides wrongly), widened from
    the normal quantile to the `level` quantile of the largest absolute z over all points, whose correlations come from
    the trials: the sup-t band.

    Parameters
    ----------
    first, second : Trials
        Two systems on the same labelled trials, as llrs.
    log_odds : tuple (low, high, points), default (-3, 3, 41)
        Prior log-odds at equal costs.
    level : float, default 0.95
        Level of the whole band.
    by : str or tuple of two str, optional
        Group column(s) whose groups vary as a whole.
    pair_by : {"id", "position"}, optional
        How trials are matched; by id whenever there are ids.
    names : pair of str, optional
        What to call the systems.

    Returns
    -------
    DifferenceBand
        First minus second.

    References
    ----------
    Montiel Olea and Plagborg-Moller (2019), Simultaneous confidence bands, doi:10.1002/jae.2656.

    Examples
    --------
    >>> a = Trials.of_llr([3.0, 2.0, 1.0, -1.0, -2.0, -0.5] * 40, [1, 1, 1, 0, 0, 0] * 40)
    >>> b = Trials.of_llr([3.0, -2.0, 1.0, -1.0, 2.0, -0.5] * 40, [1, 1, 1, 0, 0, 0] * 40)
    >>> found = difference_band(a, b, (-0.4, 0.4, 3), names=("a", "b"))
    >>> found.value.round(3).tolist(), found.first_is_better
    ([-0.831, -0.667, -0.831], True)
    """
    share, groups = probability(level, "level"), grouping(by)
    grid = log_odds_grid(log_odds)
    if len(grid) > _MOST_POINTS:
        raise InputError(f"log_odds must have at most {_MOST_POINTS} points, not {len(grid)}.")
    called = _called(first, second, names)
    (one, other), matched = paired([two_class(first, "first"), two_class(second, "second")], by=pair_by)
    if "raw" in (one.meaning, other.meaning):
        raise InputError("first and second must be llrs, not raw scores: calibrate first.")
    knowing = other if groups and all(name in other.groups for name in groups) else one
    rows = PairedTrials.of(knowing, groups)
    costs = [[_losses(system, rows, points) for system in (one, other)] for points in _single_points(grid)]
    critical = _critical(rows, costs, share)
    each = _level_of(critical)
    estimates = [rows.difference(*pair) for pair in costs]
    ends = np.array([[float(end) for end in estimate.limits(each)] for estimate in estimates])
    value = np.array([float(estimate.value) for estimate in estimates])
    return DifferenceBand(*called, grid, value, ends[:, 0], ends[:, 1], share, critical, matched)


def _called(first: object, second: object, names: object) -> tuple[str, str]:
    if names is None:
        return getattr(first, "name", None) or "first", getattr(second, "name", None) or "second"
    if not isinstance(names, tuple | list) or len(names) != 2 or not all(isinstance(one, str) for one in names):
        raise InputError(f"names must be two texts, not {shown(names)}.")
    return names[0], names[1]


def _single_points(grid: Floats) -> list[tuple[float, float, float]]:
    points = Points.along(grid)
    return list(zip(points.log_odds.tolist(), points.miss.tolist(), points.alarm.tolist(), strict=True))


def _losses(trials: Trials, rows: PairedTrials, point: tuple[float, float, float]) -> Losses:
    """Misses and false alarms of the Bayes decisions at one prior."""
    threshold = 0.0 - point[0]
    nontargets, targets = (trials.llr[own] for own in rows.rows)
    errors = ((targets <= threshold).astype(np.float64), (nontargets > threshold).astype(np.float64))
    return Losses((1, 0), point[1:], errors, is_rate=True)


def _critical(rows: PairedTrials, costs: list[list[Losses]], level: float) -> float:
    """The quantile of the largest |z| over all points, z normal with the correlations of the differences."""
    from scipy.special import ndtri

    influence = np.array([rows.influence(*pair) for pair in costs])
    spread = np.sqrt((influence * influence).sum(axis=1))
    known = influence[spread > 0.0] / spread[spread > 0.0, None]
    pointwise = -float(ndtri((1.0 - level) / 2.0))
    if len(known) < 2:
        return pointwise
    values, vectors = np.linalg.eigh(known @ known.T)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    draws = np.random.default_rng(_SEED).standard_normal((_DRAWS, len(known)))
    return max(pointwise, float(np.quantile(np.abs(draws @ root.T).max(axis=1), level)))


def _level_of(critical: float) -> float:
    """The two-sided level whose normal quantile this is."""
    return min(math.erf(critical / math.sqrt(2.0)), 1.0 - 1e-12)


Rows = NDArray[np.intp]
_MOST_UNDEFINED = 0.05  # of the resamples that may be left out


class Least(NamedTuple):
    """The least normalised cost over all thresholds in one resample, and what tells its optimism.

    Attributes
    ----------
    minimum : float
        The cost in the resample at the threshold that is best there.
    kept : float
        The cost in the resample at the threshold that is best in the sample.
    moved : float
        The cost in the sample at the threshold that is best in the resample.

    Examples
    --------
    >>> Least(0.2, 0.25, 0.3).moved
    0.3
    """

    minimum: float
    kept: float
    moved: float


def percentile_intervals(
    statistics: Callable[[Sequence[Trials]], Mapping[str, float | Least]],
    sets: Sequence[Trials],
    strata: Sequence[NDArray[np.int_]],
    *,
    ci: float,
    by: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> dict[str, Interval]:
    """Percentile intervals of the statistics of resampled sets.

    Parameters
    ----------
    statistics : callable
        From resampled sets to numbers by name; UndefinedError leaves a resample out. A `Least` gives an interval of
        the population's minimum: a minimum is chosen on the same trials and so lies too low, more so in resamples. Its
        upper end is the percentile of the cost at the sample's own best threshold, raised by the bootstrap estimate of
        the optimism (the mean of moved - minimum), at most 1; its lower end is the percentile of the minima.
    sets : sequence of Trials
        What is resampled: rows within their strata, or whole groups, which are the same in every set.
    strata : sequence of ndarray of int
        The stratum of each row of each set: its class, for instance.
    ci : float
        Level of the intervals.
    by : str, optional
        Group column, in every set, whose groups are drawn as a whole; strata are then without effect.
    resamples, seed : int, optional
        How many, and the seed.

    Returns
    -------
    dict of str to Interval
        One per number.

    Raises
    ------
    UndefinedError
        If the numbers are undefined in more than 5 % of the resamples.

    References
    ----------
    Efron (1983), Estimating the error rate of a prediction rule, Journal of the American Statistical Association 78.

    Examples
    --------
    >>> trials = Trials.of_llr([1.0, 1.0, 1.0, 1.0], [0, 0, 1, 1])
    >>> mean = lambda drawn: {"mean": float(drawn[0].scores.mean())}
    >>> percentile_intervals(mean, [trials], [trials.known_labels()], ci=0.9, resamples=40)["mean"][:2]
    (1.0, 1.0)
    """
    settings = Settings.of(ci, resamples, seed, by, "percentile")
    draw = _by_stratum(strata) if by is None else _by_group(sets, by)
    rng, drawn, undefined = np.random.default_rng(settings.seed), list[Mapping[str, float | Least]](), 0
    for _ in range(settings.resamples):
        try:
            drawn.append(statistics([one.select(rows) for one, rows in zip(sets, draw(rng), strict=True)]))
        except (UndefinedError, InputError):
            undefined += 1
    if undefined > _MOST_UNDEFINED * settings.resamples:
        raise UndefinedError(
            f"The numbers are undefined in {undefined} of {settings.resamples} resamples, too many for an interval: "
            f"a class, or the errors of a class, are too few."
        )
    method = "percentile" if not undefined else f"percentile, without {undefined} undefined resamples"
    tail = (1.0 - settings.level) / 2.0
    return {name: _interval(np.array([one[name] for one in drawn]), tail, method) for name in drawn[0]}


def _interval(values: Floats, tail: float, method: str) -> Interval:
    """The interval of a number, or of a Least, which has three columns."""
    if values.ndim == 1:
        low, high = np.quantile(values, (tail, 1.0 - tail)).tolist()
        return Interval(low, high, method)
    minimum, kept, moved = values.T
    low, high = np.quantile(minimum, (tail, 1.0 - tail)).tolist()
    raised = float(np.quantile(kept, 1.0 - tail)) + max(float((moved - minimum).mean()), 0.0)
    return Interval(low, max(high, min(raised, 1.0)), f"{method}, upper end raised by the optimism")


def _by_stratum(strata: Sequence[NDArray[np.int_]]) -> Callable[[np.random.Generator], list[Rows]]:
    """Rows drawn with replacement within each stratum of each set."""
    parts = [[np.flatnonzero(codes == code) for code in np.unique(codes)] for codes in strata]

    def draw(rng: np.random.Generator) -> list[Rows]:
        return [np.concatenate([rng.choice(rows, len(rows)) for rows in own]) for own in parts]

    return draw


def _by_group(sets: Sequence[Trials], by: str) -> Callable[[np.random.Generator], list[Rows]]:
    """Whole groups drawn with replacement; a group that is in several sets is drawn in all of them."""
    for one in sets:
        group_codes(one, by)  # refuses a column that is not there
    every = np.unique(np.concatenate([one.groups[by].astype(str) for one in sets]))
    rows = [[np.flatnonzero(one.groups[by].astype(str) == name) for name in every] for one in sets]

    def draw(rng: np.random.Generator) -> list[Rows]:
        chosen = rng.integers(0, len(every), len(every))
        return [np.concatenate([own[place] for place in chosen]) for own in rows]

    return draw
