"""Risk against coverage, shares of targets, costs and errors of three classes, and the isotonic reliability diagram."""

from __future__ import annotations

import math

import numpy as np

from tercet.calibration.assessment import CorpDiagram
from tercet.deployment.abstention import RiskCoverage
from tercet.deployment.prevalence import Prevalence
from tercet.errors import InputError
from tercet.metrics.spoofing_curve import SpoofingCurve, TandemEerCurve
from tercet.report.numbers import percent
from tercet.report.plots._canvas import Canvas, thinned
from tercet.report.plots._style import look_of


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


def t_dcf(canvas: Canvas, curve: SpoofingCurve) -> None:
    """Normalised t-DCF against the countermeasure's threshold; dashed: the cost of a perfect countermeasure."""
    _cost_along(canvas, curve, "t-DCF")
    if curve.floor > 0.0:
        ends = curve.threshold[[0, -1]]
        canvas.line(ends, [curve.floor, curve.floor], "perfect countermeasure", linestyle="--", linewidth=1.0)
        canvas.key("dashed: perfect countermeasure")
    canvas.words("Threshold of the countermeasure", "Normalised t-DCF")


def a_dcf(canvas: Canvas, curve: SpoofingCurve) -> None:
    """Normalised a-DCF against the threshold of the score."""
    _cost_along(canvas, curve, "a-DCF")
    canvas.words("Threshold", "Normalised a-DCF")


def _cost_along(canvas: Canvas, curve: SpoofingCurve, name: str) -> None:
    """A normalised cost along a threshold; open: the threshold in use, filled: the minimum, bars: their intervals."""
    if curve.measure != name:
        raise InputError(f'This curve is an {curve.measure}: draw it as "{curve.measure.lower()}".')
    first, xlim = canvas.is_empty, canvas.axes.get_xlim()
    x, y = thinned(curve.threshold, curve.cost)
    canvas.line(x, y, name, named=canvas.system)
    marks = (
        (curve.min_threshold, curve.minimum, curve.minimum_interval, "minimum"),
        (curve.actual_threshold, curve.actual, curve.actual_interval, "actual"),
    )
    for at, value, ends, kind in marks:
        if at is None or value is None or not math.isfinite(at):
            continue
        if ends is not None:
            canvas.line([at, at], [ends.low, ends.high], f"{kind} interval", linestyle="-", linewidth=1.0)
            canvas.key("bars: intervals")
        canvas.point(at, value, kind, filled=kind == "minimum")
        canvas.key("filled: minimum" if kind == "minimum" else "open: actual")
    canvas.level(1.0)
    before = 0.0 if first else float(canvas.axes.get_ylim()[1])
    worst = [own.high for own in (curve.minimum_interval, curve.actual_interval) if own is not None]
    top = max(before, 1.5, *(1.1 * value for value in (curve.minimum, curve.actual or 0.0, *worst)))
    top = min(top, max(before, 1.1 * float(curve.cost.max()), 1.1))
    low = x[y <= top] if (y <= top).any() else x
    seen = np.append(low, [at for at, value, *_ in marks if value is not None and math.isfinite(at or 0.0)])
    across = (seen.min(), seen.max()) if first else (min(seen.min(), xlim[0]), max(seen.max(), xlim[1]))
    if across[0] == across[1]:
        across = (across[0] - 0.5, across[1] + 0.5)
    canvas.axes.set(xlim=across, ylim=(0.0, top))


def t_eer(canvas: Canvas, curve: TandemEerCurve) -> None:
    """Tandem equal error rates against the verification threshold, one line per share of spoofs among impostors."""
    for place, (share, rate) in enumerate(zip(curve.prevalence.tolist(), curve.rate, strict=True)):
        x, y = thinned(curve.threshold, rate)
        look = look_of(place)
        canvas.line(x, y, f"{share:g}", named=f"{100 * share:g} % spoofs", color=look.color, linestyle=look.dash)
    if math.isfinite(curve.asv_threshold):
        if curve.interval is not None:
            ends = [curve.interval.low, curve.interval.high]
            canvas.line([curve.asv_threshold] * 2, ends, "interval", linestyle="-", linewidth=1.0)
            canvas.key("bar: interval")
        canvas.point(curve.asv_threshold, curve.value, "t-EER", filled=True)
        canvas.key(f"marked: {'concurrent' if curve.concurrent else 'lowest'} t-EER")
    canvas.axes.set_ylim(0.0, 1.1 * max(float(curve.rate.max()), curve.value) or 1.0)
    canvas.words("Threshold of the verification system", f"Tandem error rate (t-EER {percent(curve.value)})")


def corp(canvas: Canvas, diagram: CorpDiagram) -> None:
    """Observed share by isotonic regression against the forecast; the band is where calibrated forecasts lie."""
    canvas.band(diagram.forecast, diagram.low, diagram.high, "consistency band")
    canvas.line(diagram.forecast, diagram.recalibrated, "observed share", named=canvas.system)
    canvas.guide([0.0, 1.0], [0.0, 1.0])
    canvas.axes.set(xlim=(0.0, 1.0), ylim=(0.0, 1.0))
    canvas.words("Forecast probability", "Observed share")
