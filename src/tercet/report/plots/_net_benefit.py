"""Decision curves, costs per case, and the difference of two systems' costs: along a threshold or a prior."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from tercet.metrics.net_benefit import DecisionCurve
from tercet.report.plots._canvas import Canvas
from tercet.uncertainty.case_costs import CaseCostCurve
from tercet.uncertainty.simultaneous import DifferenceBand

if TYPE_CHECKING:
    from tercet.uncertainty.simultaneous import NetBenefitBand

_OUT_OF_SIGHT = 0.02  # of the prevalence: smaller net benefits are not shown


def decision_curve(canvas: Canvas, curve: DecisionCurve, *, bands: NetBenefitBand | None = None) -> None:
    """Net benefit of the model, of treating everyone and of treating no one; thin: the best achievable, apparent.

    The axis ends where neither the model nor treating everyone has any net benefit.
    """
    x, first = curve.threshold, canvas.is_empty
    if bands is not None:
        canvas.band(bands.curve.threshold, bands.low, bands.high, "band")
    elif curve.low is not None and curve.high is not None:
        canvas.band(x, curve.low, curve.high, "band")
    canvas.line(x, curve.net_benefit, "net benefit", named=canvas.system)
    canvas.axes.plot(x, curve.best_apparent, color=canvas.look.color, linewidth=0.7, alpha=0.8, label="_")
    canvas.key("thin: best threshold (apparent)")
    canvas.record("best achievable (apparent)", x, curve.best_apparent)
    used = np.flatnonzero(np.maximum(curve.best_apparent, curve.treat_all) > _OUT_OF_SIGHT * curve.prevalence)
    last = float(x[min(used[-1] + 1, len(x) - 1)]) if len(used) else float(x.max())
    if first:
        canvas.guide(x, curve.treat_all, linestyle="--")
        canvas.key("treat all")
        canvas.guide(x, curve.treat_none)
        canvas.key("treat none")
    else:
        last = max(last, float(canvas.axes.get_xlim()[1]))
    canvas.record("treat all", x, curve.treat_all)
    top = 1.15 * max(float(curve.best_apparent.max()), curve.prevalence)
    canvas.axes.set(xlim=(0.0, last), ylim=(-0.1 * top, top))
    canvas.words("Threshold probability", f"Net benefit (prevalence {curve.prevalence:.3g})")


def case_costs(canvas: Canvas, curve: CaseCostCurve) -> None:
    """Cost per case against a common shift of all thresholds; open: the actual decisions, filled: the minimum."""
    found = curve.evaluation
    first = canvas.is_empty
    canvas.line(curve.shift, curve.cost, "cost", named=canvas.system)
    if first:
        canvas.guide(curve.shift, np.full(len(curve.shift), found.dummy_cost))
        canvas.key("without the scores")
        canvas.record("without the scores", curve.shift[[0, -1]], [found.dummy_cost] * 2)
    if found.cost_ci is not None:
        canvas.line([0.0, 0.0], found.cost_ci, "interval", linestyle="-", linewidth=1.0)
    canvas.point(0.0, found.cost, "actual decisions")
    canvas.key("open: actual decisions")
    at = min(max(found.min_shift, float(curve.shift[0])), float(curve.shift[-1]))
    canvas.point(at, found.min_cost, "minimum", filled=True)
    canvas.key("filled: minimum (apparent)")
    before = 0.0 if first else float(canvas.axes.get_ylim()[1])
    highest = max(found.cost, *(found.cost_ci or ()), found.dummy_cost, found.min_cost)
    top = max(before, min(3.0 * highest, 1.1 * max(float(curve.cost.max()), highest)))
    canvas.axes.set(xlim=(float(curve.shift[0]), float(curve.shift[-1])), ylim=(0.0, top if top > 0.0 else 1.0))
    canvas.words("Shift of all thresholds (llr)", "Cost per case")


def cost_difference(canvas: Canvas, found: DifferenceBand) -> None:
    """Difference of two systems' actual DCF against the prior log-odds, with a simultaneous band."""
    canvas.band(found.log_odds, found.low, found.high, "band")
    canvas.line(found.log_odds, found.value, "difference", named=f"{canvas.system} ({100 * found.level:g} %)")
    canvas.level(0.0)
    ends = [float(end) for end in (found.low.min(), found.high.max()) if math.isfinite(end)]
    reach = max([0.01, *map(abs, ends)])
    before = float(canvas.axes.get_ylim()[1]) if len(set(canvas.columns["system"])) > 1 else 0.0
    reach = max(1.1 * reach, before)
    canvas.axes.set(xlim=(float(found.log_odds[0]), float(found.log_odds[-1])), ylim=(-reach, reach))
    canvas.words("Prior log-odds", "Difference in DCF")
