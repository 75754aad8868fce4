"""Risk against coverage, and the isotonic reliability diagram with its consistency band."""

from __future__ import annotations

import numpy as np

from tercet.calibration.assessment import CorpDiagram
from tercet.deployment.abstention import RiskCoverage
from tercet.deployment.prevalence import Prevalence
from tercet.report.plots._canvas import Canvas


def risk_coverage(canvas: Canvas, curve: RiskCoverage) -> None:
    """Mean cost of the cases answered against the share answered, from the surest cases to all of them."""
    places = np.unique(np.linspace(0, len(curve.coverage) - 1, min(len(curve.coverage), 2000)).astype(np.intp))
    canvas.line(curve.coverage[places], curve.cost[places], "cost", named=canvas.system)
    top = max(float(canvas.axes.get_ylim()[1]), 1.1 * float(curve.cost.max()))
    top = top if top > 0.0 else 1.0
    canvas.axes.set(xlim=(0.0, 1.0), ylim=(-0.02 * top, top))
    canvas.words("Coverage", "Mean cost of the cases answered")


def prevalence(canvas: Canvas, found: Prevalence) -> None:
    """The estimated share of targets with its interval, one row per estimate."""
    names = list(dict.fromkeys([*canvas.columns["system"], canvas.system]))
    y = -float(names.index(canvas.system))
    canvas.line([found.low, found.high], [y, y], "interval", named=canvas.system, linestyle="-")
    canvas.point(found.value, y, "estimate", filled=True)
    canvas.axes.set_yticks([])
    canvas.axes.set_ylim(-len(names) + 0.4, 0.6)
    before = float(canvas.axes.get_xlim()[1]) if len(names) > 1 else 0.01
    canvas.axes.set_xlim(0.0, min(max(1.15 * found.high, before), 1.0))
    canvas.words("Share of targets", "Estimates")


def corp(canvas: Canvas, diagram: CorpDiagram) -> None:
    """Observed share by isotonic regression against the forecast; the band is where calibrated forecasts lie."""
    canvas.band(diagram.forecast, diagram.low, diagram.high, "consistency band")
    canvas.line(diagram.forecast, diagram.recalibrated, "observed share", named=canvas.system)
    canvas.guide([0.0, 1.0], [0.0, 1.0])
    canvas.axes.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))
    canvas.words("Forecast probability", "Observed share")
