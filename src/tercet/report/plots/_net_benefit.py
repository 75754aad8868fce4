"""Decision curves: net benefit against the threshold probability."""

from __future__ import annotations

from tercet.metrics.net_benefit import DecisionCurve
from tercet.report.plots._canvas import Canvas
from tercet.report.plots._style import SOFT


def decision_curve(canvas: Canvas, curve: DecisionCurve) -> None:
    """Net benefit of the model, of treating everyone and of treating no one; thin: the best achievable, apparent."""
    x = curve.threshold
    if curve.low is not None and curve.high is not None:
        canvas.band(x, curve.low, curve.high, "band")
    canvas.line(x, curve.net_benefit, "net benefit", named=canvas.system)
    canvas.axes.plot(x, curve.best_apparent, color=canvas.look.color, linewidth=0.7, alpha=0.8, label="_")
    canvas.record("best achievable (apparent)", x, curve.best_apparent)
    if canvas.axes.get_label() != "with references":
        canvas.axes.plot(x, curve.treat_all, color=SOFT, linestyle="--", linewidth=1.0, label="treat all")
        canvas.axes.plot(x, curve.treat_none, color=SOFT, linestyle=":", linewidth=1.0, label="treat none")
        canvas.axes.set_label("with references")
    canvas.record("treat all", x, curve.treat_all)
    top = 1.15 * max(float(curve.best_apparent.max()), curve.prevalence)
    canvas.axes.set(xlim=(0.0, float(x.max())), ylim=(-0.1 * top, top))
    canvas.words("Threshold probability", f"Net benefit (prevalence {curve.prevalence:.3g})")
