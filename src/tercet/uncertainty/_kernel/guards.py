"""Where resampling cannot see: a kind of error that never happened. Then exact binomial bounds widen the interval.

With no errors every resample has none, and the bootstrap would say [0, 0]. Clopper-Pearson bounds the rate that can
hide behind none of n; n counts independent things: trials, or groups where whole groups are resampled.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._typing import Floats
from tercet.application import Application, MulticlassApplication, normalised_dcf
from tercet.metrics.binomial import clopper_pearson


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
    points: Mapping[str, Floats],
    units: Sequence[Sequence[int]],
    level: float,
    apps: Sequence[Application],
    grid: Floats,
    conditions: Sequence[Mapping[str, Floats]] = (),
) -> dict[str, Guard]:
    """Guards for the numbers of a two-class system; units are the independent (non-targets, targets) by condition.

    `conditions` holds the points of each one where the rates are means over conditions; else there is but one.
    """
    parts = conditions or (points,)

    def unseen(name: str, end: float) -> Any:
        side = units[0] if name.endswith("fpr") else units[1]
        return hidden(np.array([part[name][0] for part in parts]) == end, side, level)

    found: dict[str, Guard] = {}
    for k, app in enumerate(apps):
        prefix = f"applications.{k}."
        if f"{prefix}fnr" in points:
            where = " in some condition" if conditions else ""
            found |= {prefix + name: g for name, g in _rate_guards(prefix, app, unseen, where).items()}
    if "auc" in points and points["auc"][0] in (0.0, 1.0):
        alarm, miss = (clopper_pearson(0, len(side) * min(side), level).high for side in units)
        found |= _separable(points["auc"][0] == 1.0, miss, alarm, apps, grid)
    if "bayes_plot.fnr" in points:
        found |= _plot_guard(grid, unseen)
    if "roc.fnr" in points:
        own = Guard(unseen("roc.fnr", 1.0), unseen("roc.fnr", 0.0), most=1.0, why="none or only misses")
        found |= {"roc.fnr": own} if np.any(own.down) or np.any(own.up) else {}
    return {name: guard for name, guard in found.items() if name in points}


def hidden(none: NDArray[np.bool_], units: Sequence[int], level: float) -> Any:
    """What may hide behind the conditions in which something never happened, in a mean over all conditions.

    m conditions of n things each without an event are m n things without one, and make up m of all conditions; n is
    that of the smallest of them. One condition: the Clopper-Pearson bound of none of n.

    >>> [round(hidden(np.array(none), [4, 9][: len(none)], 0.95), 3) for none in ([True], [True, False])]
    [0.602, 0.301]
    """
    flags = none.reshape(len(none), -1)
    found = np.zeros(flags.shape[1])
    for place in np.flatnonzero(flags.any(axis=0)).tolist():
        empty = [n for n, there in zip(units, flags[:, place].tolist(), strict=True) if there]
        found[place] = len(empty) / len(none) * clopper_pearson(0, len(empty) * min(empty), level).high
    return found if none.ndim > 1 else float(found[0])


def _rate_guards(prefix: str, app: Application, unseen: Callable[[str, float], Any], where: str) -> dict[str, Guard]:
    up, down = ([unseen(prefix + name, end) for name in ("fnr", "fpr")] for end in (0.0, 1.0))
    kinds = ("no misses", "no false alarms", "only misses", "only false alarms")
    words = ", ".join(kind for kind, there in zip(kinds, (*up, *down), strict=True) if there) + where
    found = {
        "dcf_u": Guard(app.dcf_u(fnr=down[0], fpr=down[1]), app.dcf_u(fnr=up[0], fpr=up[1]), why=words),
        "fnr": Guard(down[0], up[0], most=1.0, why=words),
        "fpr": Guard(down[1], up[1], most=1.0, why=words),
    }
    if not app.dummy_is_free:
        moves = (float(normalised_dcf(app.log_odds, *down)), float(normalised_dcf(app.log_odds, *up)))
        found |= dict.fromkeys(("dcf", "calibration_loss"), Guard(*moves, why=words))
    return {name: guard for name, guard in found.items() if guard.down or guard.up}


def _plot_guard(grid: Floats, unseen: Callable[[str, float], Any]) -> dict[str, Guard]:
    """The actual costs along the Bayes error plot, where a kind of error never or always happens."""
    down, up = ([unseen(f"bayes_plot.{name}", end) for name in ("fnr", "fpr")] for end in (1.0, 0.0))
    why = "where a kind of error never or always happened"
    found = {
        "bayes_plot.dcf": Guard(normalised_dcf(grid, *down), normalised_dcf(grid, *up), why=why),
        "bayes_plot.fnr": Guard(down[0], up[0], most=1.0, why=why),
        "bayes_plot.fpr": Guard(down[1], up[1], most=1.0, why=why),
    }
    return {name: guard for name, guard in found.items() if np.any(guard.down) or np.any(guard.up)}


def _separable(upright: bool, miss: float, alarm: float, apps: Sequence[Application], grid: Floats) -> dict[str, Guard]:
    """A threshold between the classes has errors of at most (miss, alarm): what that leaves of the ranks."""
    why = "the classes do not overlap"
    area = (1.0 - miss) * (1.0 - alarm)
    if not upright:
        return _inverted(area, apps, why)
    found = {
        "auc": Guard(low=area, most=1.0, why=why),
        "eer": Guard(high=max(miss, alarm), most=1.0, why=why),
        "min_cllr": Guard(high=two_block_cllr(miss, alarm), most=1.0, why=why),
        "bayes_plot.min_dcf": Guard(high=np.minimum(normalised_dcf(grid, miss, alarm), 1.0), most=1.0, why=why),
    }
    for k, app in enumerate(apps):
        found[f"applications.{k}.min_dcf_u"] = Guard(high=app.dcf_u(fnr=miss, fpr=alarm), most=app.dummy_cost, why=why)
        if not app.dummy_is_free:
            high = float(normalised_dcf(app.log_odds, miss, alarm))
            found[f"applications.{k}.min_dcf"] = Guard(high=high, most=1.0, why=why)
    return found


def _inverted(area: float, apps: Sequence[Application], why: str) -> dict[str, Guard]:
    """Every target below every non-target: the area above the ROC is at least `area`, A = 1 - area that below it.

    TPR (1 - FPR) <= A at every threshold, whose hull has the corners (0, A) and (1 - A, 1): there no normalised cost
    and no Cllr is below 1 - A, and no EER below half of it.
    """
    found = {
        "auc": Guard(high=1.0 - area, most=1.0, why=why),
        "eer": Guard(low=area / 2.0, why=why),
        "min_cllr": Guard(low=area, why=why),
        "bayes_plot.min_dcf": Guard(low=area, why=why),
    }
    for k, app in enumerate(apps):
        found[f"applications.{k}.min_dcf_u"] = Guard(low=area * app.dummy_cost, why=why)
        found[f"applications.{k}.min_dcf"] = Guard(low=area, why=why)
    return found


def two_block_cllr(fnr: float, fpr: float) -> float:
    """Cllr of two llrs, ln(FNR / TNR) and ln(TPR / FPR): what a system of one threshold is worth at best.

    Where FNR + FPR >= 1 the threshold is worse than none, and a system that says nothing costs one bit.

    >>> two_block_cllr(0.5, 0.5), two_block_cllr(0.9, 0.8)
    (1.0, 1.0)
    """
    if fnr + fpr >= 1.0:
        return 1.0

    def bits(t: float, n: float) -> float:
        return t * math.log2(1.0 + n / t) + n * math.log2(1.0 + t / n)

    return (bits(fnr, 1.0 - fpr) + bits(1.0 - fnr, fpr)) / 2.0


def many_class_guards(
    points: Mapping[str, Floats],
    units: Sequence[Sequence[int]],
    level: float,
    apps: Sequence[MulticlassApplication],
    conditions: Sequence[Mapping[str, Floats]] = (),
) -> dict[str, Guard]:
    """Guards for K classes: what the dearest error of a class without errors (in a condition) may still cost."""
    found: dict[str, Guard] = {}
    parts = conditions or (points,)
    if points["accuracy"][0] == 1.0:
        count = sum(len(side) * min(side) for side in units)
        found["accuracy"] = Guard(low=1.0 - clopper_pearson(0, count, level).high, most=1.0, why="no errors")
    for k, app in enumerate(apps):
        free = np.array([part[f"applications.{k}.contributions"][0] == 0.0 for part in parts])
        share = np.array([hidden(free[:, j], side, level) for j, side in enumerate(units)])
        up = app.prior * app.costs.max(axis=0) * share
        if up.any():
            found[f"applications.{k}.contributions"] = Guard(up=up, why="classes without errors")
            found[f"applications.{k}.risk"] = Guard(up=float(up.sum()), why="classes without errors")
            if app.dummy_cost > 0.0:
                found[f"applications.{k}.dcf"] = Guard(
                    up=float(up.sum()) / app.dummy_cost, why="classes without errors"
                )
    return found


def two_class_limits(apps: Sequence[Application], grid: Floats, eer: str) -> dict[str, tuple[Any, Any]]:
    """The least and the most that each number of any two-class system can be: no end lies beyond."""
    shares = ("auc", "min_cllr", "bayes_plot.min_dcf", "bayes_plot.fnr", "bayes_plot.fpr", "roc.fnr")
    found: dict[str, tuple[Any, Any]] = dict.fromkeys(shares, (0.0, 1.0))
    found["cllr"] = (0.0, math.inf)
    found["eer"] = (0.0, 0.5 if eer == "rocch" else 1.0)  # a hull never lies below the diagonal
    found["bayes_plot.dcf"] = (0.0, np.asarray(normalised_dcf(grid, 1.0, 1.0)))
    for k, app in enumerate(apps):
        worst = {"fnr": 1.0, "fpr": 1.0, "dcf_u": app.dcf_u(fnr=1.0, fpr=1.0), "min_dcf_u": app.dummy_cost}
        if not app.dummy_is_free:
            all_wrong = app.dcf(fnr=1.0, fpr=1.0)
            worst |= {"dcf": all_wrong, "min_dcf": 1.0, "calibration_loss": all_wrong}
        found |= {f"applications.{k}.{name}": (0.0, most) for name, most in worst.items()}
    return found


def many_class_limits(apps: Sequence[MulticlassApplication], matrix: bool) -> dict[str, tuple[Any, Any]]:
    """The least and the most that each number of any K-class system can be."""
    found: dict[str, tuple[Any, Any]] = {"accuracy": (0.0, 1.0), "brier": (0.0, 2.0 if matrix else 1.0)}
    found |= dict.fromkeys(("log_loss", "normalised_cross_entropy"), (0.0, math.inf))
    for k, app in enumerate(apps):
        parts = [app.prior * ends for ends in (app.costs.min(axis=0), app.costs.max(axis=0))]
        sums = [float(part.sum()) for part in parts]
        found |= {f"applications.{k}.contributions": (parts[0], parts[1]), f"applications.{k}.risk": (sums[0], sums[1])}
        if app.dummy_cost > 0.0:
            found[f"applications.{k}.dcf"] = (sums[0] / app.dummy_cost, sums[1] / app.dummy_cost)
    return found
