"""Student's interval on a scale of its own: for numbers from groups, whose spread few groups tell badly.

Costs are taken to logarithms, shares to log-odds; there the resamples' middle (16 to 84 %) gives the standard error,
their median the bias, and Student's t the reach. Twenty groups show too little of a long tail for BCa to see it; on
these scales the tail is built in (docs/uncertainty.md has both, simulated).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tercet._numeric.exact import Counts
from tercet._typing import Floats
from tercet.errors import CalibrationError, UndefinedError
from tercet.metrics.confusion import RATES
from tercet.uncertainty._kernel.draws import Design
from tercet.uncertainty._kernel.engine import Settings, System

_SHARES = {"eer", "auc", "min_dcf", "min_dcf_u", "min_cllr", "f1", *RATES}
_COSTS = {
    "dcf", "dcf_u", "cllr", "log_loss", "normalised_cross_entropy", "brier", "risk", "contributions",
}  # fmt: skip
_SIGMA = 0.15865525393145707  # of a normal distribution lies below its mean minus one standard deviation


def scale_of(name: str) -> str:
    """The scale of a number by its name: "odds" for shares of 1 (or of the dummy's cost), "log" for costs, else none.

    >>> scale_of("applications.0.min_dcf"), scale_of("cllr"), scale_of("applications.0.calibration_loss")
    ('odds', 'log', '')
    """
    last = name.split(".")[-1].split(" ")[-1]
    return "odds" if last in _SHARES else "log" if last in _COSTS else ""


def student_ends(value: Any, ordered: Floats, tail: float, scale: str, shrink: Any) -> tuple[Any, Any]:
    """Both ends from sorted resamples: f(x) - bias +- z s, back from the scale; they always hold the number itself.

    Nothing lies at 0 or 1 on these scales: there half of the nearest other resample stands in. Where the middle of the
    resamples is a single number there is no standard error, and the ends are nan.

    >>> low, high = student_ends(0.1, np.linspace(0.05, 0.15, 99), 0.025, "log", 1.0)
    >>> round(float(low), 3), round(float(high), 3)
    (0.049, 0.203)
    """
    from scipy.special import ndtri

    floor = _half_least(ordered)
    ceiling = _half_least(1.0 - ordered) if scale == "odds" else 1.0

    def taken(x: Any) -> Any:
        below = np.log(np.maximum(x, floor))
        return below - np.log(np.maximum(1.0 - x, ceiling)) if scale == "odds" else below

    there, count = taken(ordered), len(ordered)
    places = [min(max(round(share * (count + 1)), 1), count) - 1 for share in (_SIGMA, 0.5, 1.0 - _SIGMA)]
    low, middle, high = (there[place] for place in places)
    centre = taken(value) - (middle - taken(value)) * shrink**2
    reach = -float(ndtri(tail)) * (high - low) / 2.0 * shrink
    low, high = (np.where(reach > 0.0, _back(end, scale), np.nan) for end in (centre - reach, centre + reach))
    return np.minimum(low, value), np.maximum(high, value)


def _half_least(values: Floats) -> Any:
    """Half of the least positive value of each column; 1 where there is none."""
    least = np.where(values > 0.0, values, np.inf).min(axis=0) / 2.0
    return np.where(np.isfinite(least), least, 1.0)


def _back(x: Any, scale: str) -> Any:
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(-x)) if scale == "odds" else np.exp(x)


def shrinks(design: Design, system: System, settings: Settings) -> dict[str, Any]:
    """How much too wide the resamples of two crossed groupings are, for each number; nothing for one grouping.

    A trial's own noise is drawn with both of its groups, and so counts three times: V1 + V2 + V12 instead of
    V1 + V2 - V12, V1 and V2 the variances by each grouping alone and V12 that by trial, all by the jackknife.
    """
    if len(design.groups) < 2:
        return {}
    by_group = [jackknife(system, parts) for parts in design.left_out(settings.seed)]
    by_trial = [jackknife(system, parts) for parts in Design(design.sizes, design.weights).left_out(settings.seed)]
    found = {}
    for name in by_group[0]:
        one, other, trials = by_group[0][name], by_group[1][name], sum(part[name] for part in by_trial)
        wide = one + other + trials
        right = np.maximum(np.maximum(one, other), one + other - trials)
        found[name] = np.sqrt(np.divide(right, wide, out=np.ones_like(right), where=wide > 0.0))
    return found


def jackknife(system: System, parts: Any) -> dict[str, Any]:
    """Every number's variance by leaving out one part of the sample after the other: (m - 1) / m sum u^2."""
    kept = [row for row in (evaluated(system, weights) for weights in parts) if row is not None]
    if len(kept) < 2:
        raise UndefinedError("Leaving out groups in turn leaves no class whole: there is no spread to be known.")
    found = {}
    for name, values in system.named(np.array(kept)).items():
        with np.errstate(invalid="ignore", over="ignore"):
            u = values - values.mean(axis=0)
            found[name] = (len(kept) - 1) / len(kept) * (np.where(np.isfinite(u), u, 0.0) ** 2).sum(axis=0)
    return found


def evaluated(system: System, weights: Sequence[Counts]) -> Floats | None:
    """The numbers of a part of the sample, unless it lacks a class or cannot be calibrated."""
    try:
        return system.statistics(weights) if all(rows.any() for rows in weights) else None
    except (CalibrationError, UndefinedError):
        return None
