"""Where resampling cannot see: a kind of error that never happened. Then exact binomial bounds widen the interval.

With no errors every resample has none, and the bootstrap would say [0, 0]. Clopper-Pearson bounds the rate that can
hide behind none of n; n counts independent things: trials, or groups where whole groups are resampled.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet.application import Application, normalised_dcf
from tercet.intervals import clopper_pearson

Floats = NDArray[np.float64]


class Guard(NamedTuple):
    """How far the ends must move outwards, or where they must be at least, and why."""

    down: Any = 0.0  # taken off the low end
    up: Any = 0.0  # added to the high end
    low: Any = math.inf  # the low end is at most this
    high: Any = -math.inf  # the high end is at least this
    most: float = math.inf  # the quantity's own limits
    least: float = 0.0
    why: str = ""

    def applied(self, low: Any, high: Any, method: str) -> tuple[Any, Any, str]:
        """Both ends, guarded, and the words for what was done."""
        lower = np.maximum(np.fmin(low - self.down, self.low), self.least)
        upper = np.minimum(np.fmax(high + self.up, self.high), self.most)
        return lower, upper, f"{method} with clopper-pearson ({self.why})"


def two_class_guards(
    points: Mapping[str, Floats], units: Sequence[int], level: float, apps: Sequence[Application], grid: Floats
) -> dict[str, Guard]:
    """Guards for the numbers of a two-class system; units are independent (non-targets, targets)."""
    alarm, miss = (clopper_pearson(0, n, level).high for n in units)
    found: dict[str, Guard] = {}
    for k, app in enumerate(apps):
        prefix = f"applications.{k}."
        if f"{prefix}fnr" in points:
            found |= {prefix + name: g for name, g in _rate_guards(points, prefix, app, miss, alarm).items()}
    if "auc" in points and points["auc"][0] in (0.0, 1.0):
        found |= _separable(points["auc"][0] == 1.0, miss, alarm, apps, grid)
    if "bayes_plot.fnr" in points:
        found |= _plot_guard(points, miss, alarm, grid)
    if "roc.fnr" in points and np.isin(points["roc.fnr"][0], (0.0, 1.0)).any():
        fnr = points["roc.fnr"][0]
        found["roc.fnr"] = Guard(miss * (fnr == 1.0), miss * (fnr == 0.0), most=1.0, why="none or only misses")
    return {name: guard for name, guard in found.items() if name in points}


def _rate_guards(
    points: Mapping[str, Floats], prefix: str, app: Application, miss: float, alarm: float
) -> dict[str, Guard]:
    fnr, fpr = float(points[prefix + "fnr"][0]), float(points[prefix + "fpr"][0])
    seen = {"no misses": fnr == 0.0, "only misses": fnr == 1.0}
    seen |= {"no false alarms": fpr == 0.0, "only false alarms": fpr == 1.0}
    why = [words for words, there in seen.items() if there]
    if not why:
        return {}
    words = ", ".join(why)
    up, down = (miss * (fnr == 0.0), alarm * (fpr == 0.0)), (miss * (fnr == 1.0), alarm * (fpr == 1.0))
    found = {
        "dcf_u": Guard(app.dcf_u(fnr=down[0], fpr=down[1]), app.dcf_u(fnr=up[0], fpr=up[1]), why=words),
        "fnr": Guard(down[0], up[0], most=1.0, why=words),
        "fpr": Guard(down[1], up[1], most=1.0, why=words),
    }
    if not app.dummy_is_free:
        moves = (float(normalised_dcf(app.log_odds, *down)), float(normalised_dcf(app.log_odds, *up)))
        found |= dict.fromkeys(("dcf", "calibration_loss"), Guard(*moves, why=words))
    return {name: guard for name, guard in found.items() if np.any(guard.down) or np.any(guard.up)}


def _plot_guard(points: Mapping[str, Floats], miss: float, alarm: float, grid: Floats) -> dict[str, Guard]:
    """The actual costs along the Bayes error plot, where a kind of error never or always happens."""
    fnr, fpr = points["bayes_plot.fnr"][0], points["bayes_plot.fpr"][0]
    down, up = (np.asarray(normalised_dcf(grid, miss * (fnr == end), alarm * (fpr == end))) for end in (1.0, 0.0))
    why = "where a kind of error never or always happened"
    found = {
        "bayes_plot.dcf": Guard(down, up, why=why),
        "bayes_plot.fnr": Guard(miss * (fnr == 1.0), miss * (fnr == 0.0), most=1.0, why=why),
        "bayes_plot.fpr": Guard(alarm * (fpr == 1.0), alarm * (fpr == 0.0), most=1.0, why=why),
    }
    return {name: guard for name, guard in found.items() if np.any(guard.down) or np.any(guard.up)}


def _separable(upright: bool, miss: float, alarm: float, apps: Sequence[Application], grid: Floats) -> dict[str, Guard]:
    """A threshold between the classes has errors of at most (miss, alarm): what that leaves of the ranks."""
    why = "the classes do not overlap"
    area = (1.0 - miss) * (1.0 - alarm)
    if not upright:
        return {"auc": Guard(high=1.0 - area, most=1.0, why=why)}
    found = {
        "auc": Guard(low=area, most=1.0, why=why),
        "eer": Guard(high=max(miss, alarm), most=0.5, why=why),
        "min_cllr": Guard(high=two_block_cllr(miss, alarm), most=1.0, why=why),
        "bayes_plot.min_dcf": Guard(high=np.minimum(normalised_dcf(grid, miss, alarm), 1.0), most=1.0, why=why),
    }
    for k, app in enumerate(apps):
        found[f"applications.{k}.min_dcf_u"] = Guard(high=app.dcf_u(fnr=miss, fpr=alarm), why=why)
        if not app.dummy_is_free:
            high = float(normalised_dcf(app.log_odds, miss, alarm))
            found[f"applications.{k}.min_dcf"] = Guard(high=high, most=1.0, why=why)
    return found


def two_block_cllr(fnr: float, fpr: float) -> float:
    """Cllr of two llrs, ln(FNR / TNR) and ln(TPR / FPR): what a system of one threshold is worth at best.

    >>> two_block_cllr(0.5, 0.5)
    1.0
    """

    def bits(t: float, n: float) -> float:
        return t * math.log2(1.0 + n / t) + n * math.log2(1.0 + t / n)

    return (bits(fnr, 1.0 - fpr) + bits(1.0 - fnr, fpr)) / 2.0


def many_class_guards(
    points: Mapping[str, Floats], units: Sequence[int], level: float, dearest: Sequence[tuple[Floats, float]]
) -> dict[str, Guard]:
    """Guards for K classes: each application's dearest error by class (times its prior), and its dummy's cost."""
    found: dict[str, Guard] = {}
    hidden = np.array([clopper_pearson(0, n, level).high for n in units])
    if points["accuracy"][0] == 1.0:
        found["accuracy"] = Guard(low=1.0 - clopper_pearson(0, sum(units), level).high, most=1.0, why="no errors")
    for k, (worst, dummy) in enumerate(dearest):
        up = np.where(points[f"applications.{k}.contributions"][0] == 0.0, worst * hidden, 0.0)
        if up.any():
            found[f"applications.{k}.contributions"] = Guard(up=up, why="classes without errors")
            found[f"applications.{k}.risk"] = Guard(up=float(up.sum()), why="classes without errors")
            if dummy > 0.0:
                found[f"applications.{k}.dcf"] = Guard(up=float(up.sum()) / dummy, why="classes without errors")
    return found
