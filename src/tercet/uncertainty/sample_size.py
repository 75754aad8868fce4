"""How many trials are needed: for an interval of a given width, or to show a difference."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tercet._numeric.validation import number, positive, shown
from tercet._typing import Floats
from tercet.application import Application, normalised_dcf
from tercet.errors import InputError
from tercet.metrics.binomial import ENOUGH
from tercet.metrics.mover import Proportion, Sum
from tercet.metrics.pairing import PairBy, paired
from tercet.trials import Trials, probability, two_class
from tercet.uncertainty._clusters import grouping
from tercet.uncertainty._differences import PairedTrials, two_class_losses
from tercet.uncertainty._two_class import newcombe

_UNCOUNTABLE = 2.0**53  # numbers of trials from here on are not all whole in floating point
_WINDOW = 9.0  # standard deviations beyond which a binomial count is left out
_MANY = 100.0  # standard deviation of the number of errors from which on it is practically normal
_MOST_FACTOR = 64.0  # how much more than the normal approximation the search allows


class SampleSize(NamedTuple):
    """Trials of each class, and which rule asked for them: the half-width or at least 30 expected errors.

    Attributes
    ----------
    targets : int
        Targets needed.
    nontargets : int
        Non-targets needed.
    targets_for : str
        The rule that asked for the targets.
    nontargets_for : str
        The rule that asked for the non-targets.

    Examples
    --------
    >>> import tercet as tc
    >>> found = tc.sample_size(0.1, 0.1, (0.5, 1, 1), 0.02, assurance=0.5)
    >>> found.targets, found.nontargets
    (1943, 1943)
    """

    targets: int
    nontargets: int
    targets_for: str
    nontargets_for: str


def sample_size(
    fnr: float,
    fpr: float,
    application: object,
    half_width: float,
    level: float = 0.95,
    *,
    assurance: float = 0.8,
    design_effect: float = 1.0,
) -> SampleSize:
    """How many trials give the normalised DCF an interval whose longer arm is at most half_width.

    Targets and non-targets are in the proportion that needs the fewest trials, A : B, where A and B are the standard
    deviations that one target and one non-target contribute to the cost. Their number is the smallest at which the
    longer arm of the default interval (MOVER) is short enough with probability `assurance`, and at which at least 30
    errors of each kind are expected (the rule of 30).

    Parameters
    ----------
    fnr, fpr : float
        Error rates that you expect, from a pilot for instance.
    application : Application, triple, prior or name
        The operating point.
    half_width : float
        The longest arm that the interval of the normalised DCF may have.
    level : float, default 0.95
        Level of the interval.
    assurance : float, default 0.8
        How likely the arm is to be short enough.
    design_effect : float, default 1.0
        Factor by which groups increase the variance of independent trials; numbers of trials are multiplied by it.

    Returns
    -------
    SampleSize
        The numbers of targets and of non-targets, and which requirement determined each of them.

    Examples
    --------
    >>> sample_size(0.1, 0.1, (0.5, 1, 1), 0.02, assurance=0.5)[:2]
    (1943, 1943)
    """
    app = Application.of(application)
    app.check_normaliser()
    rates = [_inside(value, name) for name, value in (("fnr", fnr), ("fpr", fpr))]
    plan = _Plan.of(half_width, level, assurance, design_effect)
    spread = [math.sqrt(rate * (1.0 - rate)) for rate in rates]
    a, b = float(normalised_dcf(app.log_odds, spread[0], 0.0)), float(normalised_dcf(app.log_odds, 0.0, spread[1]))
    reach = _quantile((1.0 + plan.level) / 2.0) / plan.width
    normal = [part * (a + b) * reach * reach for part in (a, b)]
    least = [ENOUGH / rate for rate in rates]
    plan.check(max(*normal, *least))
    factor = _factor(app, rates, normal, plan.width, plan.level, _quantile(plan.assurance))
    sizes = [
        (math.ceil(factor * wide * plan.effect), math.ceil(rule * plan.effect))
        for wide, rule in zip(normal, least, strict=True)
    ]
    words = ["half-width" if wide >= rule else "rule of 30" for wide, rule in sizes]
    return SampleSize(max(sizes[0]), max(sizes[1]), words[0], words[1])


class _Plan(NamedTuple):
    """The requirements on an interval."""

    width: float
    level: float
    assurance: float
    effect: float

    @classmethod
    def of(cls, half_width: object, level: object, assurance: object, design_effect: object) -> _Plan:
        found = cls(
            positive(half_width, "half_width"), probability(level, "level"), probability(assurance, "assurance"),
            number(design_effect, "design_effect"),
        )  # fmt: skip
        if not 1.0 <= found.effect < math.inf:
            raise InputError(f"design_effect must be 1 or more and finite, not {found.effect}.")
        return found

    def check(self, trials: float) -> None:
        if not trials * self.effect < _UNCOUNTABLE / _MOST_FACTOR:
            raise InputError(
                f"half_width={self.width:g} with design_effect={self.effect:g} asks for too many trials to count: "
                f"ask for a wider interval."
            )

    def least(self, fits: Callable[[float], bool], start: float) -> int:
        """The least number of trials that fits, by halving between 1/64 and 64 times the start."""
        below, above = start / _MOST_FACTOR, start * _MOST_FACTOR
        self.check(above)
        for _ in range(60):
            middle = math.sqrt(below * above)
            below, above = (below, middle) if fits(middle) else (middle, above)
        return math.ceil(above * self.effect)


def sample_size_for_rate(
    rate: float, half_width: float, level: float = 0.95, *, assurance: float = 0.8, design_effect: float = 1.0
) -> int:
    """How many trials of a class give its error rate an interval whose longer arm is at most half_width.

    The interval is that of `evaluate`: Clopper-Pearson with fewer than 13 errors, otherwise Wilson.

    Parameters
    ----------
    rate : float
        The rate that you expect, strictly between 0 and 1.
    half_width : float
        The longest arm that the interval may have.
    level : float, default 0.95
        Level of the interval.
    assurance : float, default 0.8
        How likely the arm is to be short enough.
    design_effect : float, default 1.0
        Factor by which groups increase the variance of independent trials.

    Returns
    -------
    int
        Trials.

    Examples
    --------
    >>> sample_size_for_rate(0.1, 0.02, assurance=0.5)
    1013
    """
    plan = _Plan.of(probability(half_width, "half_width"), level, assurance, design_effect)
    p = _inside(rate, "rate")

    def fits(size: float) -> bool:
        count, spread = math.ceil(size), math.sqrt(p * (1.0 - p) / math.ceil(size))
        if count * spread < _MANY:
            return _short_enough(p, count, plan) >= plan.assurance
        seen = min(p + _quantile(plan.assurance) * spread, max(p, 0.5))
        low, high = Proportion(seen, float(count)).limits(plan.level)
        return bool(np.maximum(high - seen, seen - low) <= plan.width)

    return plan.least(fits, max(p * (1.0 - p) * (_quantile((1.0 + plan.level) / 2.0) / plan.width) ** 2, 1.0))


def _short_enough(rate: float, size: int, plan: _Plan) -> float:
    """The probability that both arms of the interval are short enough: a sum of binomials."""
    from scipy.special import bdtr

    reach = _WINDOW * (math.sqrt(size * rate * (1.0 - rate)) + 1.0)
    first, last = max(math.floor(size * rate - reach), 0), min(math.ceil(size * rate + reach), size)
    errors = np.arange(first, last + 1.0)
    low, high = Proportion(errors / size, float(size)).limits(plan.level)
    fine = np.maximum(high - errors / size, errors / size - low) <= plan.width
    upto = bdtr(np.arange(first - 1.0, last + 1.0), size, rate)
    upto[0] = 0.0  # nothing, or almost nothing, is below
    return float(np.diff(upto)[fine].sum())


def sample_size_for_auc(
    auc: float,
    half_width: float,
    level: float = 0.95,
    *,
    targets_share: float = 0.5,
    assurance: float = 0.8,
    design_effect: float = 1.0,
) -> SampleSize:
    """How many trials give the AUC an interval whose longer arm is at most half_width.

    By Newcombe's method 5 (2006), which needs no score distributions; its variance is Hanley and McNeil's (1982).

    Parameters
    ----------
    auc : float
        The area that you expect, strictly between 0.5 and 1.
    half_width : float
        The longest arm that the interval may have.
    level : float, default 0.95
        Level of the interval.
    targets_share : float, default 0.5
        Share of targets among the trials.
    assurance : float, default 0.8
        How likely the arm is to be short enough.
    design_effect : float, default 1.0
        Factor by which groups increase the variance of independent trials.

    Returns
    -------
    SampleSize
        Targets and non-targets.

    References
    ----------
    Newcombe (2006), doi:10.1002/sim.2324. Hanley and McNeil (1982), doi:10.1148/radiology.143.1.7063747.

    Examples
    --------
    >>> sample_size_for_auc(0.9, 0.05)[:2]
    (129, 129)
    """
    area, share = number(auc, "auc"), probability(targets_share, "targets_share")
    if not 0.5 < area < 1.0:
        raise InputError(f"auc must be the area you expect, strictly between 0.5 and 1, not {area}.")
    plan = _Plan.of(probability(half_width, "half_width"), level, assurance, design_effect)
    quantile = _quantile(plan.assurance)

    def fits(size: float) -> bool:
        t, n = max(share * size, 1.0), max((1.0 - share) * size, 1.0)
        mean = (t + n) / 2.0 - 1.0
        spread = area * (1.0 - area) * (1.0 + mean * ((1.0 - area) / (2.0 - area) + area / (1.0 + area))) / (t * n)
        seen = max(area - quantile * math.sqrt(spread), 0.5)
        low, high = map(float, newcombe(seen, t, n).limits(plan.level))
        return max(high - seen, seen - low) <= plan.width

    start = area * (1.0 - area) * (_quantile((1.0 + plan.level) / 2.0) / plan.width) ** 2
    total = plan.least(fits, max(start, 4.0))
    return SampleSize(math.ceil(share * total), math.ceil((1.0 - share) * total), "half-width", "half-width")


def sample_size_for_difference(
    first: Trials,
    second: Trials,
    application: object,
    difference: float,
    level: float = 0.95,
    *,
    power: float = 0.8,
    by: str | tuple[str, str] | None = None,
    pair_by: PairBy | None = None,
) -> SampleSize:
    """How many trials show a difference between the normalised DCFs of two systems, from pilot trials of both.

    n = (z + z_power)^2 (A + B) A / difference^2 targets and the same with B non-targets, where A and B are the standard
    deviations that one target and one non-target contribute to the paired difference of the costs. If no trial of a
    class differs in the pilot, one trial is assumed to differ. With `by`, both numbers are multiplied by the design
    effect of the pilot.

    Parameters
    ----------
    first, second : Trials
        Pilot trials: both systems on the same labelled trials, as llrs.
    application : Application, triple, prior or name
        The operating point.
    difference : float
        The difference of the normalised DCF that is to be shown.
    level : float, default 0.95
        One minus the error rate of the two-sided test.
    power : float, default 0.8
        How likely the difference is to be shown if it is there.
    by : str or tuple of two str, optional
        Group column(s) of the first system whose groups vary as a whole.
    pair_by : {"id", "position"}, optional
        How trials are matched; by id whenever there are ids.

    Returns
    -------
    SampleSize
        Targets and non-targets.

    Examples
    --------
    >>> a = Trials.of_llr([3.0, 2.0, 1.0, -1.0, -2.0, -0.5] * 40, [1, 1, 1, 0, 0, 0] * 40)
    >>> b = Trials.of_llr([3.0, -2.0, 1.0, -1.0, 2.0, -0.5] * 40, [1, 1, 1, 0, 0, 0] * 40)
    >>> sample_size_for_difference(a, b, 0.5, 0.1)[:2]
    (349, 349)
    """
    app, gap = Application.of(application), abs(number(difference, "difference"))
    app.check_normaliser()
    share, chance = probability(level, "level"), probability(power, "power")
    if not math.isfinite(app.factor):
        raise InputError(f"application has costs too unequal for a normalised cost: {shown(application)}.")
    if not 0.0 < gap < math.inf:
        raise InputError(f"difference must be finite and not 0, not {shown(difference)}.")
    (one, other), _ = paired([two_class(first, "first"), two_class(second, "second")], by=pair_by)
    if "raw" in (one.meaning, other.meaning):
        raise InputError("first and second must be llrs, not raw scores: calibrate first.")
    alone, grouped = PairedTrials.of(one, ()), PairedTrials.of(one, grouping(by))
    losses = [two_class_losses(system, alone.rows, [app])["applications.0.dcf"] for system in (one, other)]
    spread = [_spread(*columns) for columns in zip(*(own.columns for own in losses), losses[0].factors, strict=True)]
    influence = [rows.influence(*losses) for rows in (grouped, alone)]
    squares = [float((own * own).sum()) for own in influence]
    effect = max(1.0, squares[0] / squares[1]) if squares[1] > 0.0 else 1.0
    reach = (_quantile((1.0 + share) / 2.0) + _quantile(chance)) / gap
    sizes = [part * sum(spread) * reach * reach * effect for part in spread]
    if not max(sizes) < _UNCOUNTABLE:
        raise InputError(f"difference={gap:g} asks for more trials than can be counted: ask for a larger one.")
    targets, nontargets = (max(math.ceil(size), 1) for size in sizes)
    return SampleSize(targets, nontargets, "power", "power")


def _spread(one: Floats, other: Floats, factor: float) -> float:
    """The standard deviation that one trial of a class brings into the difference of the costs."""
    gap = one - other
    return factor * math.sqrt(max(float(gap.var()), 1.0 / len(gap)))


def _factor(
    app: Application, rates: list[float], sizes: list[float], width: float, level: float, quantile: float
) -> float:
    """How many times the normal approximation's trials make the longer arm short enough, by halving."""
    factors = [float(normalised_dcf(app.log_odds, *pair)) for pair in ((1.0, 0.0), (0.0, 1.0))]

    def fits(scale: float) -> bool:
        counts = [max(scale * size, 1.0) for size in sizes]
        errors = [math.sqrt(rate * (1.0 - rate) / count) for rate, count in zip(rates, counts, strict=True)]
        # The squared arm is about the sum of factor^2 rate (1 - rate) / count: how fast it grows with each rate.
        slopes = [
            factor**2 * (1.0 - 2.0 * rate) / count for factor, rate, count in zip(factors, rates, counts, strict=True)
        ]
        whole = math.hypot(*(slope * error for slope, error in zip(slopes, errors, strict=True))) or 1.0
        high = [
            min(rate + quantile * slope * error * error / whole, 0.5 if rate < 0.5 else rate)
            for rate, slope, error in zip(rates, slopes, errors, strict=True)
        ]
        cost = Sum(tuple(Proportion(rate, count) for rate, count in zip(high, counts, strict=True)), tuple(factors))
        low, up = cost.limits(level)
        return bool(np.maximum(up - cost.value, cost.value - low) <= width)

    below, above = 0.25, _MOST_FACTOR
    for _ in range(40):
        middle = math.sqrt(below * above)
        below, above = (below, middle) if fits(middle) else (middle, above)
    return above


def _inside(value: float, name: str) -> float:
    rate = number(value, name)
    if not 0.0 < rate < 1.0:
        raise InputError(f"{name} must be the error rate you expect, strictly between 0 and 1, not {rate}.")
    return probability(rate, name)


def _quantile(share: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(share))
