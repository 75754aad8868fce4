"""Figures of decisions and their costs: net benefit, costs per case, coverage, prevalence, spoofing, CORP, sweeps."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from tercet.calibration.assessment import CorpDiagram
from tercet.deployment.abstention import RiskCoverage
from tercet.deployment.prevalence import Prevalence
from tercet.deployment.sweeping import Sweep, SweepRow
from tercet.errors import InputError
from tercet.metrics.net_benefit import DecisionCurve
from tercet.metrics.spoofing_curve import SpoofingCurve, TandemEerCurve
from tercet.report.numbers import percent
from tercet.report.plots._canvas import Canvas, thinned
from tercet.report.plots._style import COLOURS, look_of, name_of
from tercet.uncertainty.case_costs import CaseCostCurve
from tercet.uncertainty.simultaneous import DifferenceBand, NetBenefitBand

_OUT_OF_SIGHT = 0.02  # of the prevalence: smaller net benefits are not shown
_DECADES = 100.0  # numbers spread further than this stand on a logarithmic axis


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


def sweep(canvas: Canvas, found: Sweep, *, x: str | None = None) -> None:
    """Actual (solid) and minimum (dashed) cost against one parameter, a colour per combination of the others.

    The chosen model is marked; its held-out cost, where there is one, by a filled marker.
    """
    names = list(found.rows[0].parameters)
    along = names[0] if x is None else x
    if along not in names:
        raise InputError(f"x={name_of(along)!r} is not a parameter of this grid ({', '.join(map(name_of, names))}).")
    lines: dict[str, list[SweepRow]] = {}
    for row in found.rows:
        others = ", ".join(name_of(str(row.parameters[name])) for name in names if name != along)
        lines.setdefault(others, []).append(row)
    place = _places(canvas, [row.parameters[along] for row in found.rows])
    for number, (words, rows) in enumerate(lines.items()):
        for key, dash, called in (("dcf", "-", "actual"), ("min_dcf", "--", "minimum")):
            known = [(place(row.parameters[along]), getattr(row, key)) for row in rows]
            known = [(at, cost) for at, cost in known if cost is not None]
            if known:
                label = f"{called}, {words}" if words else called
                style = {"color": COLOURS[number % len(COLOURS)], "linestyle": dash, "marker": "."}
                across, up = [at for at, _ in known], [cost for _, cost in known]
                canvas.line(across, up, label, named=label, **style)
    _mark_choice(canvas, found, place(found.chosen.parameters[along]))
    canvas.level(1.0)
    canvas.axes.set_ylim(bottom=-0.02)
    canvas.words(name_of(along), "Normalised cost")


def _places(canvas: Canvas, values: list[object]) -> Callable[[object], float]:
    """Where values stand: numbers on their own scale, logarithmic over two decades, words side by side."""
    numbers = [float(value) for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    if len(numbers) < len(values):
        words = list(dict.fromkeys(map(str, values)))
        canvas.axes.set_xticks(range(len(words)), [name_of(word)[:12] for word in words])
        return lambda value: float(words.index(str(value)))
    above = [value for value in numbers if value > 0.0]
    if above and max(above) / min(above) >= _DECADES:
        canvas.axes.set_xscale("symlog", linthresh=min(above))
    return lambda value: float(str(value))


def _mark_choice(canvas: Canvas, found: Sweep, at: float) -> None:
    """The chosen model's cost and held-out cost, with their intervals where there are some."""
    key = "dcf" if found.criterion == "cllr" else found.criterion
    marks = ((key, "chosen", "open: chosen"), (f"held_out_{key}", "chosen, held out", "filled: held out"))
    for name, series, words in marks:
        cost, ends = getattr(found.chosen, name), found.chosen.intervals.get(name)
        if cost is None:
            continue
        if ends is not None:
            canvas.line([at, at], [ends.low, ends.high], f"{series}, interval", linestyle="-", linewidth=1.0)
            canvas.key("bars: intervals")
        canvas.point(at, cost, series, filled=name != key)
        canvas.key(words)
