"""Figures along a threshold or a prior: ROC, DET, precision-recall, errors, Bayes error and costs."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import ArrayLike

from tercet._typing import Floats
from tercet.application import normalised_dcf, sigmoid, tau
from tercet.errors import InputError
from tercet.evaluation import Evaluation
from tercet.metrics.binomial import Box, sigma_box
from tercet.metrics.costs import BayesPlot, brier_parts
from tercet.metrics.costs import bayes_error as costs_along
from tercet.metrics.curves import Curve
from tercet.metrics.tally import Tally
from tercet.report.numbers import percent
from tercet.report.plots._canvas import MOST_POINTS, NONTARGET, TARGET, Canvas, look_of, thinned

if TYPE_CHECKING:
    from tercet.uncertainty.bands import Bands, RocBand

# The rates that public evaluations print on the axes of a DET plot.
_DET_TICKS = (1e-5, 1e-4, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
_RATES = ("False positive rate", "False negative rate")
_POINTS = 200  # steps of the Bayes error plot
_RULE_OF_30 = 30  # errors for a rate known within 30 % at 90 % confidence (Doddington 2000)


def roc(
    canvas: Canvas, result: Evaluation, *, bands: Bands | RocBand | None = None, sigma: float | None = None,
    log: bool = False,
) -> None:  # fmt: skip
    """True positive rate against false positive rate: the curve, its hull, chance and the evaluated decisions.

    With `log` the false positive rate has a logarithmic axis, which starts below one error.
    """
    low = _least_rate(canvas, result) if log else 0.0

    def placed(fpr: ArrayLike) -> Floats:
        return np.asarray(np.clip(fpr, low, 1.0))

    fpr, tpr = thinned(*roc_rates(result.curve))
    if bands is not None:
        around = roc_of(bands)
        canvas.band(around.fpr, 1.0 - around.high, 1.0 - around.low, "band", step=True)
    canvas.line(placed(fpr), tpr, "ROC", named=f"{canvas.system} (AUC {_with_interval(result, 'auc', result.auc)})")
    if not log:
        _hull(canvas, result.curve.hull.fpr, 1.0 - result.curve.hull.fnr)
    chance = np.geomspace(low, 1.0, 50) if log else np.array([0.0, 1.0])
    canvas.guide(chance, chance)
    _decisions(canvas, result, lambda fpr, fnr: (float(placed(fpr)), 1.0 - fnr))
    if sigma is not None:
        _boxes(canvas, result, sigma, lambda box: (box.fpr[:2], (1.0 - box.fnr.high, 1.0 - box.fnr.low)))
    if log:
        canvas.axes.set(xscale="log", xlim=(low, 1.0), ylim=(-0.005, 1.005))
    else:
        canvas.square()
    canvas.words("False positive rate", "True positive rate")


def roc_of(bands: Bands | RocBand) -> RocBand:
    """The band of the ROC: alone, or among bands of every curve."""
    return cast("RocBand", getattr(bands, "roc", bands))


def _least_rate(canvas: Canvas, result: Evaluation) -> float:
    """Where a logarithmic axis of rates begins: below one error of the larger class, for all systems drawn."""
    low = max(0.4 / max(result.curve.targets, result.curve.nontargets), 1e-7)
    return min(low, canvas.axes.get_xlim()[0]) if canvas.axes.lines else min(low, 0.1)


def _with_interval(result: Evaluation, name: str, value: float, factor: float = 1.0, digits: str = ".3f") -> str:
    """A number for the legend, with its interval where the evaluation has one."""
    if result.intervals is None or name not in result.intervals:
        return f"{factor * value:{digits}}"
    one = result.intervals[name]
    return f"{factor * value:{digits}}, {factor * one.low:{digits}} to {factor * one.high:{digits}}"


def _hull(canvas: Canvas, x: Floats, y: Floats) -> None:
    """The convex hull as a thin line of the system's colour."""
    canvas.axes.plot(x, y, color=canvas.look.color, linewidth=0.7, alpha=0.8, label="_")
    canvas.key("thin: convex hull")
    canvas.record("hull", x, y)


def _decisions(canvas: Canvas, result: Evaluation, placed: Callable[[float, float], tuple[float, float]]) -> None:
    """An open marker at each actual decision, a filled one at the decision of minimum cost."""
    for row in result.applications:
        if row.fpr is not None and row.fnr is not None:
            canvas.point(*placed(row.fpr, row.fnr), "actual decision")
            canvas.key("open: actual")
        fnr, fpr = (float(rates[0]) for rates in _rates_at(result.curve.tally, np.array([row.min_threshold])))
        if row.min_threshold == -math.inf:
            fnr, fpr = 0.0, 1.0  # accepting everything also accepts scores of -inf
        canvas.point(*placed(fpr, fnr), "minimum-cost decision", filled=True)
        canvas.key("filled: minimum cost")


def _boxes(
    canvas: Canvas, result: Evaluation, sigma: float, corner: Callable[[Box], tuple[ArrayLike, ArrayLike]]
) -> None:
    """k-sigma boxes around the actual decisions; `corner` gives both spans on the axes."""
    from matplotlib.patches import Rectangle

    for row in result.applications:
        if row.confusion is None:
            continue
        (left, right), (low, high) = (np.asarray(span).tolist() for span in corner(sigma_box(row.table, sigma)))
        box = Rectangle((left, low), right - left, high - low, fill=False, edgecolor=canvas.look.color, linewidth=1.1)
        canvas.axes.add_patch(box)
        canvas.record(f"{sigma:g} sigma box", [left, right], [low, high])


def roc_rates(curve: Curve) -> tuple[Floats, Floats]:
    """(FPR, TPR) of enough thresholds to draw: of a long curve its quantiles and its hull."""
    tally = curve.tally
    if len(tally) <= MOST_POINTS:
        return curve.fpr, curve.tpr
    misses, alarms = tally.at(quantiles(curve))
    fpr, tpr = alarms / curve.nontargets, (curve.targets - misses) / curve.targets
    return np.append(1.0, fpr), np.append(1.0, tpr)


def quantiles(curve: Curve) -> Floats:
    """Thresholds at which a long curve is drawn: quantiles of both classes, the extreme scores and the hull."""
    sides = (curve.tally.targets.scores, curve.tally.nontargets.scores)
    kept = [side[np.linspace(0, len(side) - 1, 1000).astype(np.intp)] for side in sides]
    return np.unique(np.concatenate((*kept, sides[0][:300], sides[1][-300:], curve.hull.thresholds[1:])))


def det(
    canvas: Canvas, result: Evaluation, *, bands: Bands | RocBand | None = None, sigma: float | None = None,
    log: bool = False, rates: tuple[str, str] = _RATES,
) -> None:  # fmt: skip
    """Miss rate against false-alarm rate on normal-deviate or logarithmic axes, with the lines of 30 errors."""
    from scipy.special import ndtri

    fpr, tpr = thinned(*roc_rates(result.curve))
    if log:
        scale, low, high, beyond = np.asarray, _least_rate(canvas, result), 1.0, 1.0
    else:
        scale, high, beyond = ndtri, float(ndtri(0.6)), 3.0  # a line that leaves the frame ends beyond
        low = float(ndtri(max(0.4 / max(result.curve.targets, result.curve.nontargets), 1e-6)))
        low = min(low, canvas.axes.get_xlim()[0] if canvas.axes.lines else low)

    def placed(rate: ArrayLike, most: float = high) -> Floats:
        return np.asarray(np.clip(scale(rate), low, most))

    if bands is not None:
        around = roc_of(bands)
        canvas.band(placed(around.fpr), placed(around.low), placed(around.high), "band", step=True)
    if sigma is not None:
        _boxes(canvas, result, sigma, lambda box: (placed(box.fpr[:2]), placed(box.fnr[:2])))
    eer = _with_interval(result, "eer", result.eer.value, 100.0, ".3g")
    canvas.line(placed(fpr, beyond), placed(1.0 - tpr, beyond), "DET", named=f"{canvas.system} (EER {eer} %)")
    if not log:
        along = np.linspace(0.0, 1.0, 21)
        steps = [_between(side, along) for side in (result.curve.hull.fpr, result.curve.hull.fnr)]
        _hull(canvas, placed(steps[0], beyond), placed(steps[1], beyond))
    _decisions(canvas, result, lambda fpr, fnr: (float(placed(fpr)), float(placed(fnr))))
    canvas.guide([low, high], [low, high])
    if log:
        canvas.axes.set(xscale="log", yscale="log")
    else:
        _thirty(canvas, result, placed)
        _deviate_ticks(canvas, low, high)
    canvas.axes.set(xlim=(low, high), ylim=(low, high), aspect="equal")
    canvas.words(*(rates if log else (f"{name} (%)" for name in rates)))


def _between(vertices: Floats, parts: Floats) -> Floats:
    """Points along the edges of a hull, which are straight in rates and bent on normal-deviate axes."""
    if len(vertices) > MOST_POINTS // len(parts):
        return vertices
    return np.asarray(vertices[:-1, None] + np.diff(vertices)[:, None] * parts).ravel()


def _deviate_ticks(canvas: Canvas, low: float, high: float) -> None:
    """Rates printed on the axes of a DET plot: the usual ones, as many as stand apart, from the largest down."""
    from scipy.special import ndtri

    kept: list[float] = []
    for rate in reversed(_DET_TICKS):
        place = float(ndtri(rate))
        if place > low + 0.05 and (not kept or float(ndtri(kept[0])) - place > 0.125 * (high - low)):
            kept.insert(0, rate)
    for axis in (canvas.axes.xaxis, canvas.axes.yaxis):
        axis.set_ticks(ndtri(kept), [f"{100 * rate:g}" for rate in kept])


def _thirty(canvas: Canvas, result: Evaluation, placed: Callable[[ArrayLike], Floats]) -> None:
    """Where 30 errors of a kind have happened: rates beyond these lines are unreliable."""
    for total, draw in (
        (result.curve.nontargets, canvas.axes.axvline),
        (result.curve.targets, canvas.axes.axhline),
    ):
        if result.curve.tally.weight(total) > _RULE_OF_30:
            draw(float(placed(_RULE_OF_30 / float(result.curve.tally.weight(total)))), color=canvas.look.color,
                 linestyle=(0, (1, 3)), linewidth=0.8)  # fmt: skip
            canvas.key("dotted: 30 errors")


def precision_recall(canvas: Canvas, result: Evaluation) -> None:
    """Precision against recall at the data's own prevalence, which is the precision of accepting everything."""
    fpr, tpr = roc_rates(result.curve)
    share = result.curve.targets / (result.curve.targets + result.curve.nontargets)
    hits, alarms = share * tpr, (1.0 - share) * fpr
    some = hits + alarms > 0.0
    recall, precision = thinned(tpr[some], hits[some] / (hits[some] + alarms[some]))
    area = f"{result.curve.average_precision:.3f}"
    canvas.line(recall, precision, "precision-recall", named=f"{canvas.system} (AP {area})")
    canvas.level(share)
    canvas.axes.set(xlim=(-0.005, 1.005), ylim=(-0.005, 1.02))
    canvas.words("Recall (true positive rate)", f"Precision (prevalence {share:.3g})")


def errors(canvas: Canvas, result: Evaluation) -> None:
    """Both error rates against the threshold, and where they are equal."""
    thresholds, fnr, fpr = _along_thresholds(result)
    step = {"drawstyle": "steps-post"}
    canvas.line(thresholds, fnr, "FNR", named="False negative rate", color=TARGET, linestyle="-", **step)
    canvas.line(thresholds, fpr, "FPR", named="False positive rate", color=NONTARGET, linestyle="--", **step)
    canvas.level(result.eer.value)
    own = f" {percent(result.eer.value)}" if canvas.panels == 1 else ""  # one legend for all panels
    canvas.key(f"dotted: EER{own} ({result.eer.definition})")
    canvas.axes.set(ylim=(-0.01, 1.02))
    canvas.words(_threshold_name(result), "Error rate")


def _threshold_name(result: Evaluation) -> str:
    return "Threshold (llr)" if result.meaning == "llr" else f"Threshold ({result.meaning} score)"


def _along_thresholds(result: Evaluation) -> tuple[Floats, Floats, Floats]:
    """Thresholds over the histogram's range, with FNR and FPR there."""
    curve = result.curve
    every = quantiles(curve) if len(curve.tally) > MOST_POINTS else curve.thresholds[1:]
    thresholds = within(result, every)
    return thresholds, *_rates_at(curve.tally, thresholds)


def _rates_at(tally: Tally, thresholds: Floats) -> tuple[Floats, Floats]:
    """FNR and FPR of these thresholds."""
    misses, alarms = tally.at(thresholds)
    return np.asarray(misses / tally.targets.total, float), np.asarray(alarms / tally.nontargets.total, float)


def within(result: Evaluation, thresholds: Floats) -> Floats:
    """Finite thresholds where the scores are: over the histogram's range."""
    edges = result.histogram["edges"]
    if not edges:
        return np.array([0.0])
    kept = thresholds[(thresholds >= edges[0]) & (thresholds <= edges[-1])]
    return kept if len(kept) else np.array([edges[0]])


def _dense(result: Evaluation) -> BayesPlot:
    """The Bayes error plot on at least 201 points; of a scan in bounded memory on those that were asked for."""
    plot = result.bayes_plot
    inside = len(plot.log_odds) - 1
    if inside < 1 or inside >= _POINTS or result.brackets:
        return plot
    fine = np.linspace(plot.log_odds[0], plot.log_odds[-1], inside * -(-_POINTS // inside) + 1)
    try:
        return costs_along(result.curve, fine)
    except InputError:  # a scan keeps the counts at the points that were asked for
        return plot


def bayes_error(canvas: Canvas, result: Evaluation, *, bands: Bands | None = None, parts: bool = False) -> None:
    """Actual and minimum DCF against the prior log-odds; deciding without the scores costs 1."""
    plot = _dense(result)
    if bands is not None:
        grid, actual, least = bands.bayes_plot
        if actual is not None:
            canvas.band(grid, actual.low, actual.high, "DCF band")
        canvas.edges(grid, least.low, least.high, linestyle=(0, (5, 3)))
        canvas.record("minimum DCF band low", grid, least.low)
        canvas.record("minimum DCF band high", grid, least.high)
    actual_name, least_name = cost_names(canvas, "DCF", "minimum DCF")
    dash = canvas.look.dash if canvas.systems > 1 else "-"
    if plot.dcf is not None:
        canvas.line(plot.log_odds, plot.dcf, "DCF", named=actual_name, linestyle=dash)
        if parts:
            _parts(canvas, result, plot.log_odds)
    canvas.line(plot.log_odds, plot.min_dcf, "minimum DCF", named=least_name, linestyle=dash, linewidth=0.9,
                marker=canvas.look.marker, markevery=max(1, len(plot.log_odds) // 7), markersize=3.5)  # fmt: skip
    if least_name is None:
        canvas.key("thin: minimum DCF")
    canvas.level(1.0)
    canvas.axes.set(xlim=(plot.log_odds[0], plot.log_odds[-1]), ylim=(0.0, 1.1))
    canvas.words("Prior log-odds", "DCF")


def cost_names(canvas: Canvas, actual: str, least: str) -> tuple[str, str | None]:
    """Names of a system's two lines in the legend; of more than two systems the second has none, and needs a key."""
    if canvas.systems == 1:
        return actual, least
    if canvas.systems == 2:
        return f"{canvas.system}: {actual}", f"{canvas.system}: {least}"
    return canvas.system, None


def _parts(canvas: Canvas, result: Evaluation, grid: Floats) -> None:
    """What misses and false alarms each add to the actual DCF."""
    fnr, fpr = _rates_at(result.curve.tally.as_llr(), 0.0 - grid)
    zero = np.zeros(len(grid))
    canvas.line(grid, normalised_dcf(grid, fnr, zero), "misses", named="part of misses", color=TARGET, linestyle=":")
    canvas.line(grid, normalised_dcf(grid, zero, fpr), "false alarms", named="part of false alarms", color=NONTARGET,
                linestyle=":")  # fmt: skip


def cost_by_threshold(canvas: Canvas, result: Evaluation) -> None:
    """DCF against the threshold for each evaluated operating point; markers: the minimum."""
    thresholds, fnr, fpr = _along_thresholds(result)
    rows = [row for row in result.applications if row.cost_fn > 0 and row.cost_fp > 0]
    for place, row in enumerate(rows):
        canvas.look = look_of(place)
        cost = normalised_dcf(tau(row.prior, row.cost_fn, row.cost_fp), fnr, fpr)
        named = f"prior {row.prior:g}, costs {row.cost_fn:g} : {row.cost_fp:g}"
        canvas.line(thresholds, cost, named, named=named, drawstyle="steps-post")
        if row.min_dcf is not None and thresholds[0] <= row.min_threshold <= thresholds[-1]:
            canvas.point(row.min_threshold, row.min_dcf, f"minimum, {named}")
            canvas.key("open: minimum")
    canvas.level(1.0)
    canvas.axes.set(ylim=(0.0, 2.0))
    canvas.words(_threshold_name(result), "DCF")


def cost_curve(canvas: Canvas, result: Evaluation) -> None:
    """Drummond and Holte's cost curve: normalised expected cost against the probability-cost function.

    References
    ----------
    Drummond and Holte (2006), Cost curves: an improved method for visualizing classifier performance, Machine Learning
    65, 95-130, doi:10.1007/s10994-006-8199-5.
    """
    plot = _dense(result)
    share = np.array([sigmoid(x) for x in plot.log_odds.tolist()])
    scale = np.minimum(share, 1.0 - share)  # from the normalised DCF to the expected cost
    actual_name, least_name = cost_names(canvas, "actual", "minimum")
    if plot.dcf is not None:
        canvas.line(share, plot.dcf * scale, "actual", named=actual_name)
    canvas.line(share, plot.min_dcf * scale, "minimum", named=least_name, linewidth=0.7)
    if least_name is None:
        canvas.key("thin: minimum")
    canvas.guide([0.0, 0.5, 1.0], [0.0, 0.5, 0.0])
    canvas.key("without the scores")
    canvas.axes.set(xlim=(0.0, 1.0), ylim=(0.0, 0.55))
    canvas.words("Probability cost PC(+), the effective prior", "Normalised expected cost")


def brier_curve(canvas: Canvas, result: Evaluation) -> None:
    """Loss 2 ((1 - c) pi FNR + c (1 - pi) FPR) against the cost proportion c of a false alarm; pi: the prevalence.

    Posteriors above c are accepted; the area under the curve is the Brier score (Hernández-Orallo, Flach and Ferri
    2011). Thin: the loss of the best threshold for each c.
    """
    curve = result.curve
    share = float(curve.targets / (curve.targets + curve.nontargets))
    cost = np.linspace(0.0, 1.0, _POINTS + 3)[1:-1]
    odds = math.log(share) - math.log1p(-share) + np.log1p(-cost) - np.log(cost)
    fnr, fpr = _rates_at(curve.tally.as_llr(), 0.0 - odds)
    actual = 2.0 * ((1.0 - cost) * share * fnr + cost * (1.0 - share) * fpr)
    dummy = 2.0 * np.minimum((1.0 - cost) * share, cost * (1.0 - share))
    named = f"{canvas.system} (Brier {brier_parts(curve).score:.3f})"
    canvas.line(cost, actual, "loss", named=named)
    canvas.line(cost, dummy * curve.hull.minimum(odds)[0], "least loss", linewidth=0.7)
    canvas.key("thin: best threshold")
    canvas.guide(cost, dummy)
    canvas.key("without the scores")
    top = max(float(canvas.axes.get_ylim()[1]), 1.1 * float(actual.max()), 0.1)
    canvas.axes.set(xlim=(0.0, 1.0), ylim=(0.0, top))
    canvas.words("Cost proportion of a false alarm", "Loss (area: Brier score)")
