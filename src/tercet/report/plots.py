"""Static figures: each function draws one result on given axes, and only draws. Matplotlib, never pyplot."""

from __future__ import annotations

import math
import os
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from tercet._typing import Floats
from tercet.application import sigmoid
from tercet.errors import InputError
from tercet.evaluation import Evaluation, MulticlassEvaluation
from tercet.metrics.binomial import Box, sigma_box
from tercet.metrics.costs import empirical_cross_entropy, min_cross_entropy
from tercet.metrics.curve_summary import llrs_of
from tercet.metrics.curves import Curve
from tercet.metrics.tally import Tally
from tercet.report.text import harmless
from tercet.uncertainty.bands import Bands

TARGET, NONTARGET = "#D55E00", "#0072B2"
SYSTEMS = ("#000000", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#0072B2")
_SOFT = "#555555"
_MOST = 4000  # points of a line that a figure can show
FORMATS = ("png", "svg", "pdf")


def label(name: object) -> str:
    """A name as a figure may show it: text, cut to 64 characters, and no mathtext even where it is parsed."""
    return harmless("this system" if name is None else name).replace("$", r"\$")


def _thin(*columns: Floats) -> list[Floats]:
    """Columns of the same length at no more places than a figure can show, both ends kept."""
    if len(columns[0]) <= _MOST:
        return list(columns)
    places = np.unique(np.linspace(0, len(columns[0]) - 1, _MOST).astype(np.intp))
    return [column[places] for column in columns]


def _words(axes: Any, across: str, up: str, title: str = "") -> None:
    axes.set_xlabel(across)
    axes.set_ylabel(up)
    if title:
        axes.set_title(title, loc="left")
    axes.spines[["top", "right"]].set_visible(False)
    for text in (axes.xaxis.label, axes.yaxis.label, axes.title):
        text.set_parse_math(False)


def _legend(axes: Any, **where: Any) -> None:
    box = axes.legend(frameon=False, **where)
    for text in box.get_texts():
        text.set_parse_math(False)
        text.set_text(text.get_text().replace(r"\$", "$"))


def _line(axes: Any, x: Any, y: Any, name: str | None = None, **style: Any) -> Any:
    """A line under a name, whatever the name begins with."""
    (drawn,) = axes.plot(x, y, **style)
    if name is not None:
        drawn.set_label(" " + name if name.startswith("_") else name)
    return drawn


def _fill(axes: Any, x: Any, low: Any, high: Any, colour: str, *, step: bool = False) -> None:
    """A band: a light fill with fine edges, so that it is seen in grey and over another."""
    axes.fill_between(x, low, high, facecolor=colour, alpha=0.16, linewidth=0, step="post" if step else None)
    _edges(axes, x, low, high, colour, drawstyle="steps-post" if step else "default")


def _edges(axes: Any, x: Any, low: Any, high: Any, colour: str, **style: Any) -> None:
    for edge in (low, high):
        _line(axes, x, edge, None, color=colour, linewidth=0.6, alpha=0.7, **style)


def _beside(title: str, bands: Bands | None, sigma: float | None = None) -> str:
    """A title that also says what is drawn around the curve."""
    around = [] if bands is None else [f"band: {100 * bands.level:g} % at each point"]
    around += [] if sigma is None else [f"boxes: {sigma:g} sigma"]
    return title + ("\n" + "; ".join(around) if around else "")


def _boxes(axes: Any, result: Evaluation, sigma: float, colour: str, corner: Callable[[Box], Any]) -> None:
    """k-sigma boxes around the evaluated decisions; `corner` gives both spans on the axes."""
    from matplotlib.patches import Rectangle

    for row in result.applications:
        if row.confusion is None:
            continue
        (left, right), (low, high) = corner(sigma_box(row.table, sigma))
        box = Rectangle((left, low), right - left, high - low, fill=False, edgecolor=colour, linewidth=1.1, zorder=3)
        axes.add_patch(box)


def roc(axes: Any, result: Evaluation, *, bands: Bands | None = None, sigma: float | None = None, **style: Any) -> None:
    """Detection rate against false-alarm rate: the curve, its convex hull, chance, and the evaluated decisions.

    `bands` adds a pointwise band, `sigma` boxes of so many standard deviations around the decisions.
    """
    fpr, tpr = _thin(*_rates(result.curve))
    style = {"color": SYSTEMS[0], "linewidth": 1.6, **style}
    if bands is not None:
        _fill(axes, bands.roc.fpr, 1.0 - bands.roc.high, 1.0 - bands.roc.low, style["color"], step=True)
    _line(axes, fpr, tpr, label(result.name), **style)
    hull = result.curve.hull
    _line(axes, hull.fpr, 1.0 - hull.fnr, None, **(style | {"linestyle": (0, (4, 3)), "linewidth": 0.9}))
    _line(axes, [0, 1], [0, 1], None, color=_SOFT, linestyle=":", linewidth=1)
    _decisions(axes, result, style["color"], lambda fpr, fnr: (fpr, 1.0 - fnr))
    if sigma is not None:
        _boxes(axes, result, sigma, style["color"], lambda box: (box.fpr[:2], (1.0 - box.fnr.high, 1.0 - box.fnr.low)))
    axes.set(xlim=(-0.005, 1.005), ylim=(-0.005, 1.005), aspect="equal")
    _words(axes, "false alarms", "targets found", _beside("ROC; dashed: convex hull", bands, sigma))


def _decisions(axes: Any, result: Evaluation, colour: str, placed: Callable[[float, float], Any]) -> None:
    """A dot for each evaluated decision."""
    for row in result.applications:
        if row.fpr is not None and row.fnr is not None:
            x, y = placed(row.fpr, row.fnr)
            _line(axes, [x], [y], None, color=colour, marker="o", markerfacecolor="white", clip_on=False, zorder=4)


def _rates(curve: Curve) -> tuple[Floats, Floats]:
    """(FPR, TPR) of enough thresholds to draw: of a long curve its quantiles and its hull."""
    tally = curve.tally
    if len(tally) <= _MOST:
        return curve.fpr, curve.tpr
    thresholds = _quantiles(curve)
    misses, alarms = tally.at(thresholds)
    fpr, tpr = alarms / curve.nontargets, (curve.targets - misses) / curve.targets
    return np.append(1.0, fpr), np.append(1.0, tpr)


def _quantiles(curve: Curve) -> Floats:
    sides = (curve.tally.targets.scores, curve.tally.nontargets.scores)
    kept = [side[np.linspace(0, len(side) - 1, 1000).astype(np.intp)] for side in sides]
    return np.unique(np.concatenate((*kept, sides[0][:300], sides[1][-300:], curve.hull.thresholds[1:])))


def det(axes: Any, result: Evaluation, *, bands: Bands | None = None, sigma: float | None = None, **style: Any) -> None:
    """Misses against false alarms on probit axes; rates of 0 and 1 lie on the frame, marked."""
    from scipy.special import ndtri

    fpr, tpr = _thin(*_rates(result.curve))
    fnr = 1.0 - tpr
    low = float(ndtri(max(0.4 / max(result.curve.targets, result.curve.nontargets), 1e-6)))
    high = float(ndtri(0.8))
    style = {"color": SYSTEMS[0], "linewidth": 1.6, **style}

    def placed(rate: Any) -> Floats:
        return np.asarray(np.clip(ndtri(rate), low, high))

    x, y = placed(fpr), placed(fnr)
    if bands is not None:
        sides = (placed(bands.roc.fpr), placed(bands.roc.low), placed(bands.roc.high))
        _fill(axes, *sides, style["color"], step=True)
    if sigma is not None:
        _boxes(axes, result, sigma, style["color"], lambda box: (placed(box.fpr[:2]), placed(box.fnr[:2])))
    _line(axes, x, y, label(result.name), **style)
    _decisions(axes, result, style["color"], lambda fpr, fnr: (placed(fpr), placed(fnr)))
    edge = (fpr <= 0.0) | (fnr <= 0.0)
    inside = edge & (x < high) & (y < high)
    axes.plot(x[inside], y[inside], linestyle="", marker="|", color=style["color"], markersize=5, clip_on=False)
    _line(axes, [low, high], [low, high], None, color=_SOFT, linestyle=":", linewidth=1)
    ticks = [p for p in (1e-5, 1e-4, 1e-3, 1e-2, 0.05, 0.2, 0.5) if ndtri(p) > low + 0.1]
    for axis, few in ((axes.xaxis, ticks[:: 2 if len(ticks) > 5 else 1]), (axes.yaxis, ticks)):
        axis.set_ticks(ndtri(few), [f"{100 * p:g} %" for p in few])
    axes.set(xlim=(low, high), ylim=(low, high), aspect="equal")
    _words(axes, "false alarms", "misses", _beside("DET; rates of 0 on the frame", bands, sigma))


def precision_recall(axes: Any, result: Evaluation, **style: Any) -> None:
    """Precision against recall at the data's own prevalence, which is the line of accepting everything."""
    fpr, tpr = _rates(result.curve)
    share = result.curve.targets / (result.curve.targets + result.curve.nontargets)
    hits, alarms = share * tpr, (1.0 - share) * fpr
    some = hits + alarms > 0.0
    recall, precision = _thin(tpr[some], hits[some] / (hits[some] + alarms[some]))
    _line(axes, recall, precision, label(result.name), **({"color": SYSTEMS[0], "linewidth": 1.6} | style))
    axes.axhline(share, color=_SOFT, linestyle=":", linewidth=1)
    if not axes.texts:  # of several systems the first one's line is named
        axes.text(0.01, share, "prevalence", va="bottom", color=_SOFT)
    axes.set(xlim=(-0.005, 1.005), ylim=(-0.005, 1.02))
    _words(axes, "targets found (recall)", "right when accepting (precision)", "Precision and recall")


def errors(axes: Any, result: Evaluation, **style: Any) -> None:
    """Misses and false alarms against the threshold, and where they are equal."""
    curve = result.curve
    thresholds = _within(result, _quantiles(curve) if len(curve.tally) > _MOST else curve.thresholds[1:])
    misses, alarms = curve.tally.at(thresholds)
    style = {"linewidth": 1.6, "drawstyle": "steps-post"} | style
    _line(axes, thresholds, misses / curve.targets, "misses", **(style | {"color": TARGET}))
    dashed = style | {"color": NONTARGET, "linestyle": "--"}
    _line(axes, thresholds, alarms / curve.nontargets, "false alarms", **dashed)
    axes.axhline(result.eer.value, color=_SOFT, linestyle=":", linewidth=1)
    axes.text(0.99, result.eer.value, f"EER {100 * result.eer.value:.3g} %", va="bottom", ha="right", color=_SOFT,
              transform=axes.get_yaxis_transform())  # fmt: skip
    axes.set(ylim=(-0.01, 1.02))
    _legend(axes, loc="center right")
    _words(axes, "threshold", "error rate", "Errors at every threshold")


def _within(result: Evaluation, thresholds: Floats) -> Floats:
    """Finite thresholds where the scores are: over the histogram's range."""
    edges = result.histogram["edges"]
    if not edges:
        return np.array([0.0])
    kept = thresholds[(thresholds >= edges[0]) & (thresholds <= edges[-1])]
    return kept if len(kept) else np.array([edges[0]])


def histogram(axes: Any, result: Evaluation, **style: Any) -> None:
    """Scores by class, each in parts of its own class, with the evaluated Bayes thresholds."""
    found = result.histogram
    edges = np.array(found["edges"])
    if len(edges) < 2 or edges[0] == edges[-1]:
        edges, join = np.array([0.0, 1.0]), 1
        counts = {key: np.array([1.0]) for key in ("targets", "nontargets")}
    else:
        few = min(result.input["targets"], result.input["nontargets"])
        join = next(k for k in (20, 10, 8, 5, 4, 2, 1) if 200 // k >= min(3.0 * np.cbrt(few), 100.0) or k == 1)
        edges = edges[::join]
        counts = {
            key: np.array(found[key]["bins"], float).reshape(-1, join).sum(axis=1) for key in ("targets", "nontargets")
        }
    for key, name, colour, dash in (
        ("nontargets", "non-targets", NONTARGET, "--"),
        ("targets", "targets", TARGET, "-"),
    ):
        share = counts[key] / max(float(result.input[key]), 1e-300)
        look = {"color": colour, "linestyle": dash, "linewidth": 1.6} | style
        axes.stairs(share, edges, label=name, **look)
        axes.stairs(share, edges, fill=True, color=look["color"], alpha=0.15)
    for row in result.applications:
        if result.meaning == "llr" and edges[0] <= row.threshold <= edges[-1]:
            axes.axvline(row.threshold, color="black", linewidth=0.9)
    _legend(axes)
    _words(axes, "score", "part of the class", "Scores by class; lines: Bayes thresholds")


def bayes_error(axes: Any, result: Evaluation, *, bands: Bands | None = None, **style: Any) -> None:
    """Actual (solid) and minimum (dashed) normalised cost along the prior log-odds; deciding blindly is 1."""
    plot = result.bayes_plot
    name = label(result.name)
    style = {"color": SYSTEMS[0], "linewidth": 1.6, **style}
    if bands is not None:
        grid, used, best = bands.bayes_plot
        if used is not None:
            _fill(axes, grid, used.low, used.high, style["color"])
        _edges(axes, grid, best.low, best.high, style["color"], linestyle=(0, (5, 3)))
    if plot.dcf is not None:
        _line(axes, plot.log_odds, plot.dcf, f"{name}: as used", **style)
    _line(axes, plot.log_odds, plot.min_dcf, f"{name}: at best", **(style | {"linestyle": "--"}))
    axes.axhline(1.0, color=_SOFT, linestyle=":", linewidth=1)
    axes.set(xlim=(plot.log_odds[0], plot.log_odds[-1]), ylim=(0.0, 1.1))
    _words(
        axes,
        "log-odds of the effective prior",
        "normalised cost, deciding blindly = 1",
        _beside("Bayes error plot", bands),
    )
    _legend(axes, fontsize="small")


def cost_by_threshold(axes: Any, result: Evaluation, **style: Any) -> None:
    """Normalised cost against the threshold for each evaluated application; dots: the least cost."""
    from tercet.application import normalised_dcf, tau

    curve = result.curve
    thresholds = _within(result, _quantiles(curve) if len(curve.tally) > _MOST else curve.thresholds[1:])
    misses, alarms = curve.tally.at(thresholds)
    fnr, fpr = misses / curve.targets, alarms / curve.nontargets
    rows = [row for row in result.applications if row.cost_fn > 0 and row.cost_fp > 0][: len(SYSTEMS)]
    for place, row in enumerate(rows):
        look = {
            "color": SYSTEMS[place],
            "linestyle": ("-", "--", "-.", ":")[place % 4],
            "drawstyle": "steps-post",
        } | style
        cost = normalised_dcf(tau(row.prior, row.cost_fn, row.cost_fp), fnr, fpr)
        _line(axes, thresholds, cost, f"prior {row.prior:g}, {row.cost_fn:g} : {row.cost_fp:g}", **look)
        if row.min_dcf is not None and thresholds[0] <= row.min_threshold <= thresholds[-1]:
            _line(
                axes, [row.min_threshold], [row.min_dcf], None, color=look["color"], marker="o", markerfacecolor="white"
            )
    axes.axhline(1.0, color=_SOFT, linestyle=":", linewidth=1)
    axes.set(ylim=(0.0, 2.0))
    _words(axes, "threshold", "normalised cost, deciding blindly = 1", "Cost at every threshold; circles: the least")
    if rows:
        _legend(axes, fontsize="small")


def reliability(axes: Any, result: Evaluation, *, bands: Bands | None = None, **style: Any) -> None:
    """How often it was a target (isotonic) against the stated chance, at the data's own prevalence.

    `bands` adds bins of the stated chance with their intervals, all at the prior of the bands.
    """
    curve = result.curve
    odds = math.log(curve.targets) - math.log(curve.nontargets)
    bins = None if bands is None else bands.reliability
    if bins is not None:
        odds = math.log(bins.prior) - math.log1p(-bins.prior)
    low, high, worth = _segments(result)
    stated = np.column_stack((_chance(low + odds), _chance(high + odds))).ravel()
    style = {"color": SYSTEMS[0], "linewidth": 1.6, **style}
    _line(axes, stated, np.repeat(_chance(worth + odds), 2), label(result.name), **style)
    if bins is not None:
        known = ~np.isnan(bins.low)
        x, y = bins.forecast[known], bins.observed[known]
        reach = np.maximum((y - bins.low[known], bins.high[known] - y), 0.0)
        axes.errorbar(x, y, reach, fmt="o", markersize=4.5, capsize=3, color=style["color"], markerfacecolor="white",
                      elinewidth=1.1, zorder=4)  # fmt: skip
    _line(axes, [0, 1], [0, 1], None, color=_SOFT, linestyle=":", linewidth=1)
    axes.set(xlim=(-0.005, 1.005), ylim=(-0.005, 1.005), aspect="equal")
    where = f"\nat a prior of {sigmoid(odds):.3g}"
    around = "" if bands is None or bins is None else f"; bars: {100 * bands.level:g} % in each bin"
    _words(axes, "stated chance of a target", "how often it was one", f"Reliability; dotted: calibrated{where}{around}")


def _segments(result: Evaluation) -> tuple[Floats, Floats, Floats]:
    """The isotonic blocks: from which score to which, as llrs, and what they are worth."""
    hull, tally = result.curve.hull, result.curve.tally
    llrs = llrs_of(tally, hull.thresholds)
    return llrs[:-1], llrs[1:], hull.llrs


def _chance(log_odds: Floats) -> Floats:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * log_odds)))


def calibration_map(axes: Any, result: Evaluation, **style: Any) -> None:
    """What scores are worth as log-likelihood ratios after isotonic regression; dotted: worth what they say."""
    hull = result.curve.hull
    ends = np.array(result.histogram["edges"] or [-1.0, 1.0])[[0, -1]]
    low, high = np.clip(hull.thresholds[:-1], *ends), np.clip(hull.thresholds[1:], *ends)
    worth = np.clip(hull.llrs, -12.0, 12.0)
    points = np.column_stack((low, high)).ravel()
    _line(axes, points, np.repeat(worth, 2), label(result.name), **({"color": SYSTEMS[0], "linewidth": 1.6} | style))
    if result.meaning == "llr":
        both = (max(ends[0], -12.0), min(ends[1], 12.0))
        _line(axes, both, both, None, color=_SOFT, linestyle=":", linewidth=1)
    _words(axes, "score", "log-likelihood ratio it is worth", "Calibration map; infinite values at ±12")


def tippett(axes: Any, result: Evaluation, **style: Any) -> None:
    """How much of each class has an llr above a value: targets solid, non-targets dashed."""
    llr = result.curve.tally.as_llr()
    reach = max(8.0, *(abs(float(end)) for end in _ends(llr)))
    grid = np.linspace(-reach, reach, 1601)
    style = {"linewidth": 1.6} | style
    for side, name, colour, dash in (
        (llr.targets, "targets", TARGET, "-"),
        (llr.nontargets, "non-targets", NONTARGET, "--"),
    ):
        above = (side.total - side.upto(grid)) / side.total
        _line(axes, grid / math.log(10.0), above, name, **(style | {"color": colour, "linestyle": dash}))
    axes.axvline(0.0, color=_SOFT, linestyle=":", linewidth=1)
    axes.set(ylim=(-0.01, 1.02))
    _legend(axes)
    _words(axes, "log10 of the likelihood ratio", "part of the class above it", "Tippett plot")


def _ends(llr: Tally) -> Floats:
    """Between which llrs nearly all of both classes lies: 1 in 100 may be beyond, and infinite ones."""
    scores = [side.scores[np.isfinite(side.scores)] for side in (llr.targets, llr.nontargets)]
    return np.concatenate([np.quantile(side, (0.01, 0.99)) for side in scores if len(side)] or [np.zeros(1)])


def cross_entropy(axes: Any, result: Evaluation, **style: Any) -> None:
    """Empirical cross-entropy along the prior log-odds: as used, after isotonic correction, and saying nothing."""
    grid = np.linspace(-5.0, 5.0, 41)
    priors = _chance(grid)
    style = {"color": SYSTEMS[0], "linewidth": 1.6, **style}
    llr = result.curve.tally.as_llr()
    used = np.array([empirical_cross_entropy(llr, prior) for prior in priors.tolist()])
    best = np.array([min_cross_entropy(result.curve, prior) for prior in priors.tolist()])
    nothing = -(priors * np.log2(priors) + (1.0 - priors) * np.log2(1.0 - priors))
    _line(axes, grid, used, "as used", **style)
    _line(axes, grid, best, "after the best correction", **(style | {"linestyle": "--"}))
    _line(axes, grid, nothing, "saying nothing", color=_SOFT, linestyle=":", linewidth=1.2)
    top = min(max(1.2, 1.05 * float(used.max())), 3.0)
    axes.set(ylim=(0.0, top))
    _legend(axes, fontsize="small")
    harm = "" if used.max() <= top else f"\nas used, it reaches {used.max():.3g}, above this frame"
    _words(axes, "log-odds of the prior", "cross-entropy, bits", f"Empirical cross-entropy{harm}")


def confusion(axes: Any, result: Any, application: int = 0, **style: Any) -> None:
    """The confusion matrix as a heat map: rows are decisions, columns classes, darker is more of the class."""
    row = result.applications[application]
    several = isinstance(result, MulticlassEvaluation)
    if not several:
        row.table  # refuses with the reason where there is none  # noqa: B018
    columns = list(result.classes) if several else ["non-target", "target"]
    rows = list(row.actions) if several else columns
    counts = np.array(row.confusion, float)
    share = counts / np.maximum(counts.sum(axis=0), 1e-300)
    axes.imshow(share, **({"cmap": "Blues", "vmin": 0.0, "vmax": 1.4, "aspect": "auto"} | style))
    if counts.size <= 400:
        for i, j in np.ndindex(*counts.shape):
            axes.text(j, i, f"{counts[i, j]:g}", ha="center", va="center", fontsize="small")
    _class_ticks(axes.xaxis, columns, rotation=0 if len(columns) < 5 and max(map(len, columns)) < 14 else 60)
    _class_ticks(axes.yaxis, rows, rotation=0)
    _words(axes, "true class", "decision", "Decisions by class")
    axes.spines[:].set_visible(False)


def _class_ticks(axis: Any, names: Sequence[str], rotation: int) -> None:
    every = max(1, len(names) // 30)
    places = list(range(0, len(names), every))
    axis.set_ticks(places, [harmless(names[place]) for place in places], rotation=rotation, parse_math=False)


KINDS: dict[str, Callable[..., None]] = {
    "roc": roc,
    "det": det,
    "precision-recall": precision_recall,
    "errors": errors,
    "histogram": histogram,
    "bayes-error": bayes_error,
    "cost-by-threshold": cost_by_threshold,
    "reliability": reliability,
    "calibration-map": calibration_map,
    "tippett": tippett,
    "cross-entropy": cross_entropy,
    "confusion": confusion,
}
_OVERLAID = ("roc", "det", "precision-recall", "bayes-error", "reliability", "calibration-map")
_NEED_LLR = ("reliability", "tippett", "cross-entropy", "confusion")
BANDED = ("roc", "det", "bayes-error", "reliability")  # figures that can show intervals along the curve
BOXED = ("roc", "det")  # and boxes around the decisions


def plot(
    evaluation: Any,
    kind: str,
    path: str | os.PathLike[str] | None = None,
    *,
    bands: Any = None,
    sigma: float | None = None,
    **style: Any,
) -> Any:
    """A figure of one evaluation, or of several overlaid; written to path (PNG, SVG or PDF) if one is given.

    `bands` (from tercet.uncertainty.bands, one per evaluation) and `sigma` (boxes of so many standard deviations around
    the decisions) show how sure the curve is.
    """
    given = list(evaluation) if isinstance(evaluation, list | tuple) else [evaluation]
    draw = _drawer(kind, given)
    around = _around(kind, bands, sigma, len(given))
    figure = _figure(_longest(given[0]) if kind == "confusion" else 0)
    axes = figure.add_subplot()
    for place, one in enumerate(given):
        colour = {"color": SYSTEMS[place % len(SYSTEMS)]} if len(given) > 1 else {}
        draw(axes, one, **(colour | around[place] | style))
    if len(given) > 1 and kind != "bayes-error":
        _legend(axes, fontsize="small")
    if path is not None:
        save(figure, path)
    return figure


def _around(kind: str, bands: Any, sigma: float | None, count: int) -> list[dict[str, Any]]:
    """What each system's drawing is told of bands and boxes; refused where the figure has none."""
    every = list(bands) if isinstance(bands, list | tuple) else [bands] * (1 if bands is not None else count)
    if len(every) != count:
        raise InputError(f"bands must be one for each of the {count} evaluations, not {len(every)}.")
    for name, value, kinds in (("bands", bands, BANDED), ("sigma", sigma, BOXED)):
        if value is not None and kind not in kinds:
            raise InputError(f"{name}= goes with {', '.join(kinds)}, not with {kind}.")
    if not all(one is None or isinstance(one, Bands) for one in every):
        raise InputError("bands= takes what tercet.uncertainty.bands(trials) gives.")
    more = {} if sigma is None else {"sigma": sigma}
    return [({} if one is None else {"bands": one}) | more for one in every]


def _drawer(kind: str, given: Sequence[Any]) -> Callable[..., None]:
    if kind not in KINDS:
        raise InputError(f"A figure is one of {', '.join(KINDS)}, not {harmless(kind)!r}.")
    if not given:
        raise InputError("A figure needs an evaluation.")
    if len(given) > 1 and kind not in _OVERLAID:
        raise InputError(f"{kind} shows one system; overlaid can be {', '.join(_OVERLAID)}.")
    for one in given:
        if kind not in kinds_of(one):
            raise InputError(f"{kind} cannot be drawn of this result, which has {', '.join(kinds_of(one)) or 'none'}.")
    return KINDS[kind]


def kinds_of(evaluation: Any) -> list[str]:
    """The figures that an evaluation has: several classes have the confusion matrix, raw scores nothing absolute."""
    if not isinstance(evaluation, Evaluation):
        return ["confusion"] if evaluation.applications else []
    left_out = set(_NEED_LLR) if evaluation.meaning == "raw" else set()
    if not evaluation.applications:
        left_out |= {"confusion", "cost-by-threshold"}
    return [kind for kind in KINDS if kind not in left_out]


def _figure(letters: int = 0) -> Any:
    """An empty figure, larger where long names stand along both axes."""
    from matplotlib.figure import Figure

    more = 0.1 * max(letters - 12, 0)
    return Figure(figsize=(5.6 + more, 4.4 + more), layout="constrained")


def _longest(result: Any) -> int:
    """The letters of the longest class name that is drawn."""
    return max((len(harmless(name)) for name in getattr(result, "classes", ())), default=0)


def save(figure: Any, path: str | os.PathLike[str]) -> Path:
    """Writes a figure whole or not at all; the ending names the format."""
    target = Path(path)
    ending = target.suffix[1:].lower()
    if ending not in FORMATS:
        raise InputError(f"A figure is saved as {', '.join(FORMATS)}, not as {harmless(target.name)!r}.")
    from matplotlib import rc_context

    temporary = target.with_name(f".{target.name}.{os.getpid()}")
    try:
        with rc_context({"svg.hashsalt": "tercet"}):  # the same result gives the same file
            figure.savefig(
                temporary, format=ending, dpi=160, metadata=None if ending == "png" else {_DATE[ending]: None}
            )
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    return target


_DATE = {"svg": "Date", "pdf": "CreationDate"}


def save_all(
    evaluations: Any,
    folder: str | os.PathLike[str],
    formats: Iterable[str] = ("png",),
    *,
    bands: Any = None,
    sigma: float | None = None,
) -> list[Path]:
    """Every figure of every evaluation into a folder, and the overlaid ones of all two-class systems."""
    given = list(evaluations) if isinstance(evaluations, list | tuple) else [evaluations]
    sure = list(bands) if isinstance(bands, list | tuple) else [bands] * len(given)
    into = Path(folder)
    into.mkdir(parents=True, exist_ok=True)
    jobs: list[tuple[str, Any, str, Any]] = [
        (f"{_file_name(one.name, place)}-", one, kind, sure[place])
        for place, one in enumerate(given)
        for kind in kinds_of(one)
    ]
    two = [(one, own) for one, own in zip(given, sure, strict=True) if isinstance(one, Evaluation)][: len(SYSTEMS)]
    if len(two) > 1:
        results, around = [one for one, _ in two], [own for _, own in two]
        shared = [kind for kind in _OVERLAID if all(kind in kinds_of(one) for one in results)]
        jobs += [("all-", results, kind, around) for kind in shared]
    endings = list(formats)
    made = []
    for prefix, result, kind, own in jobs:
        boxes = sigma if kind in BOXED else None
        figure = plot(result, kind, bands=own if kind in BANDED else None, sigma=boxes)
        made += [save(figure, into / f"{prefix}{kind}.{ending}") for ending in endings]
    return made


def _file_name(name: str | None, place: int) -> str:
    """A name that no file system minds; the number keeps two systems apart."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", name or "system").strip("-")[:40]
    return f"{place + 1}-{plain or 'system'}"
