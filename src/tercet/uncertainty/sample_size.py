"""How many trials are needed for an interval of a given width."""

from __future__ import annotations

import math
from typing import NamedTuple

from tercet._numeric.validation import number
from tercet.application import Application, normalised_dcf
from tercet.errors import InputError
from tercet.metrics.binomial import ENOUGH

_UNCOUNTABLE = 2.0**53  # numbers of trials from here on are not all whole in floating point


class SampleSize(NamedTuple):
    """Trials of each class, and which rule asked for them: the half-width or at least 30 expected errors."""

    targets: int
    nontargets: int
    targets_for: str
    nontargets_for: str


def sample_size(fnr: float, fpr: float, application: object, half_width: float, level: float = 0.95) -> SampleSize:
    """How many independent trials give the normalised DCF an interval of +- half_width, at the least total.

    n_T = A (A + B) (z / h)^2 and n_F = B (A + B) (z / h)^2, A and B the standard deviations that one target and one
    non-target bring into the cost; and by the rule of 30 at least 30 expected errors of each kind.

    >>> sample_size(0.1, 0.1, (0.5, 1, 1), 0.02)[:2]
    (1729, 1729)
    """
    from scipy.special import ndtri

    app = Application.of(application)
    app.check_normaliser()
    fnr, fpr, width = number(fnr, "fnr"), number(fpr, "fpr"), number(half_width, "half_width")
    for name, rate in (("fnr", fnr), ("fpr", fpr)):
        if not 0.0 < rate < 1.0:
            raise InputError(f"{name} must be the error rate you expect, strictly between 0 and 1, not {rate}.")
    if not 0.0 < width < math.inf or not 0.0 < number(level, "level") < 1.0:
        raise InputError(f"half_width must be positive and level between 0 and 1, not {half_width} and {level}.")
    spread = (math.sqrt(fnr * (1.0 - fnr)), math.sqrt(fpr * (1.0 - fpr)))
    a, b = float(normalised_dcf(app.log_odds, spread[0], 0.0)), float(normalised_dcf(app.log_odds, 0.0, spread[1]))
    reach = float(ndtri((1.0 + level) / 2.0)) / width
    counts = [(part * (a + b) * reach * reach, ENOUGH / rate) for part, rate in ((a, fnr), (b, fpr))]
    if not max(map(max, counts)) < _UNCOUNTABLE:
        raise InputError(
            f"A half-width of {width:g} at rates of {fnr:g} and {fpr:g} asks for more trials than can be counted: ask "
            f"for a wider interval."
        )
    sizes = [(math.ceil(width), math.ceil(rule)) for width, rule in counts]
    words = ["half-width" if width >= rule else "rule of 30" for width, rule in sizes]
    return SampleSize(max(sizes[0]), max(sizes[1]), words[0], words[1])
