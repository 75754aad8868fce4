"""How many trials are needed for an interval of a given width."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from tercet._numeric.validation import number
from tercet.application import Application, normalised_dcf
from tercet.errors import InputError
from tercet.metrics.binomial import ENOUGH
from tercet.uncertainty._limits import Proportion, Sum

_UNCOUNTABLE = 2.0**53  # numbers of trials from here on are not all whole in floating point
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

    Targets and non-targets are in the proportion that needs the fewest trials, A : B, the standard deviations that one
    target and one non-target bring into the cost. Their number is the least at which the longer arm of the default
    interval (MOVER) is short enough even when the cost comes out as high as its `assurance` quantile; and by the rule
    of 30 at least 30 errors of each kind are expected.

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
        How many times the variance of independent trials groups cause; numbers of trials are multiplied by it.

    Returns
    -------
    SampleSize
        Targets, non-targets, and what asked for each of them.

    Examples
    --------
    >>> sample_size(0.1, 0.1, (0.5, 1, 1), 0.02, assurance=0.5)[:2]
    (1943, 1943)
    """
    app = Application.of(application)
    app.check_normaliser()
    rates = [_inside(value, name) for name, value in (("fnr", fnr), ("fpr", fpr))]
    width, chance = number(half_width, "half_width"), number(assurance, "assurance")
    effect = number(design_effect, "design_effect")
    if not 0.0 < width < math.inf or not 0.0 < number(level, "level") < 1.0:
        raise InputError(f"half_width must be positive and level between 0 and 1, not {half_width} and {level}.")
    if not 0.0 < chance < 1.0 or not 1.0 <= effect < math.inf:
        raise InputError(f"assurance must lie between 0 and 1 and design_effect be 1 or more, not {chance}, {effect}.")
    spread = [math.sqrt(rate * (1.0 - rate)) for rate in rates]
    a, b = float(normalised_dcf(app.log_odds, spread[0], 0.0)), float(normalised_dcf(app.log_odds, 0.0, spread[1]))
    reach = _quantile((1.0 + level) / 2.0) / width
    normal = [part * (a + b) * reach * reach for part in (a, b)]
    least = [ENOUGH / rate for rate in rates]
    if not max(*normal, *least) * effect < _UNCOUNTABLE / _MOST_FACTOR:
        raise InputError(
            f"A half-width of {width:g} at rates of {fnr:g} and {fpr:g} asks for more trials than can be counted: ask "
            f"for a wider interval."
        )
    factor = _factor(app, rates, normal, width, level, _quantile(chance))
    sizes = [
        (math.ceil(factor * wide * effect), math.ceil(rule * effect)) for wide, rule in zip(normal, least, strict=True)
    ]
    words = ["half-width" if wide >= rule else "rule of 30" for wide, rule in sizes]
    return SampleSize(max(sizes[0]), max(sizes[1]), words[0], words[1])


def _factor(
    app: Application, rates: list[float], sizes: list[float], width: float, level: float, quantile: float
) -> float:
    """How many times the normal approximation's trials make the longer arm short enough, by halving."""
    factors = [float(normalised_dcf(app.log_odds, *pair)) for pair in ((1.0, 0.0), (0.0, 1.0))]

    def fits(scale: float) -> bool:
        counts = [max(scale * size, 1.0) for size in sizes]
        errors = [math.sqrt(rate * (1.0 - rate) / count) for rate, count in zip(rates, counts, strict=True)]
        whole = math.hypot(*(factor * error for factor, error in zip(factors, errors, strict=True)))
        high = [
            min(rate + quantile * factor * error * error / whole, 0.5 if rate < 0.5 else rate)
            for rate, factor, error in zip(rates, factors, errors, strict=True)
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
    return rate


def _quantile(share: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(share))
