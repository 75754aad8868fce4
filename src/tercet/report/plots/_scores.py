"""Figures of and along the scores: histograms, reliability, calibration maps, Tippett, cross-entropy, posteriors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Literal

import numpy as np

from tercet._numeric.validation import instance, whole
from tercet._typing import Array, Floats, Value
from tercet.application import Application, sigmoid
from tercet.calibration.two_class import Calibrator
from tercet.decision import decide
from tercet.deployment.rules import Rule
from tercet.errors import InputError
from tercet.evaluation import Evaluation, RiskCurve
from tercet.metrics.confusion import as_matrix
from tercet.metrics.costs import empirical_cross_entropy, min_cross_entropy
from tercet.metrics.curve_summary import llrs_of
from tercet.metrics.posteriors import posteriors as class_posteriors
from tercet.metrics.tally import Ranked, Tally
from tercet.recognizers.gaussian import GaussianRecognizer
from tercet.report.cards import calibration_line
from tercet.report.plots._canvas import NONTARGET, TARGET, Canvas, class_words, in_legend, look_of, name_of
from tercet.report.plots._curves import cost_names

if TYPE_CHECKING:
    from tercet.uncertainty.bands import Bands

_QUANTILES = 10_000
_STEPS = 601  # along one score
_INFINITE = 12.0  # where an infinite llr is drawn

Density = Literal["kernel", "gaussian"]


def histogram(
    canvas: Canvas,
    result: Evaluation,
    *,
    log: bool = False,
    density: Density | None = None,
    rule: Rule | None = None,
) -> None:
    """Density of the scores of each class, with the evaluated Bayes thresholds and densities over it if asked for.

    A rule is drawn at its threshold, with what it was chosen by and what it guarantees in the legend.
    """
    edges, counts = _bins(result)
    widths = np.diff(edges)
    names = class_words(result.class_names, "s")
    for key, name, colour, dash in (("nontargets", names[0], NONTARGET, "--"), ("targets", names[1], TARGET, "-")):
        heights = counts[key] / max(float(result.input[key]), 1e-300) / widths
        canvas.axes.stairs(heights, edges, label=in_legend(name), color=colour, linestyle=dash)
        canvas.axes.stairs(heights, edges, fill=True, color=colour, alpha=0.15)
        canvas.record(name, 0.5 * (edges[:-1] + edges[1:]), heights)
        if density is not None:
            x, y = _smooth(result, key, density)
            canvas.line(x, y, f"{density} density of {name}", color=colour, linestyle="-", linewidth=1.0)
    for row in result.applications:
        if result.meaning == "llr" and edges[0] <= row.threshold <= edges[-1]:
            canvas.axes.axvline(row.threshold, color="black", linewidth=0.9)
            canvas.key("Bayes threshold")
    if rule is not None:
        _ruled(canvas, instance(rule, Rule, "rule"), float(edges[0]), float(edges[-1]))
    if log:
        canvas.axes.set_yscale("log")
    canvas.words("Score" if result.meaning == "raw" else f"Score ({result.meaning})", "Density")


def _ruled(canvas: Canvas, rule: Rule, low: float, high: float) -> None:
    """The threshold of a rule, and its entry in the legend; a threshold outside the figure is drawn at the edge."""
    confidence = rule.training["confidence"]
    words = rule.criterion if confidence is None else f"{rule.criterion}\n({100.0 * confidence:g} % confidence)"
    at = min(max(rule.threshold, low), high)
    canvas.axes.axvline(at, color="black", linestyle="-.", linewidth=1.2, label=words)
    canvas.record("rule", [rule.threshold], [0.0])


def _smooth(result: Evaluation, key: str, density: Density) -> tuple[Floats, Floats]:
    """A density through the bins of the evaluation's histogram: a Gaussian, or Gaussian kernels (Silverman's width)."""
    found = result.histogram
    edges, counts = np.array(found["edges"]), np.array(found[key]["bins"], float)
    total = counts.sum()
    if len(edges) < 2 or edges[0] == edges[-1] or total == 0.0:
        return np.zeros(0), np.zeros(0)
    middles, grid = 0.5 * (edges[:-1] + edges[1:]), np.linspace(edges[0], edges[-1], 201)
    mean = float(counts @ middles / total)
    spread = math.sqrt(max(float(counts @ (middles - mean) ** 2 / total), float(edges[1] - edges[0]) ** 2))
    share = float(total) / max(float(result.input[key]), 1e-300)
    if density == "gaussian":
        return grid, share * np.exp(-0.5 * ((grid - mean) / spread) ** 2) / (spread * math.sqrt(2.0 * math.pi))
    width = max(0.9 * spread * float(total) ** -0.2, float(edges[1] - edges[0]))
    kernels = np.exp(-0.5 * ((grid[:, None] - middles) / width) ** 2) / (width * math.sqrt(2.0 * math.pi))
    return grid, np.asarray(share * (kernels @ (counts / total)))


def _bins(result: Evaluation) -> tuple[Floats, dict[str, Floats]]:
    """Edges and counts of the evaluation's histogram, joined to as many bins as the smaller class can fill."""
    found = result.histogram
    edges = np.array(found["edges"])
    if len(edges) < 2 or edges[0] == edges[-1]:
        middle = float(edges[0]) if len(edges) else 0.0
        return np.array([middle - 0.5, middle + 0.5]), {key: np.array([1.0]) for key in ("targets", "nontargets")}
    few = min(result.input["targets"], result.input["nontargets"])
    bins = len(edges) - 1
    joins = [k for k in (20, 10, 8, 5, 4, 2, 1) if bins % k == 0]
    join = next(k for k in joins if bins // k >= min(3.0 * np.cbrt(few), 100.0) or k == 1)
    counts = {
        key: np.array(found[key]["bins"], float).reshape(-1, join).sum(axis=1) for key in ("targets", "nontargets")
    }
    return edges[::join], counts


def reliability(canvas: Canvas, result: Evaluation, *, bands: Bands | None = None) -> None:
    """Observed frequency of targets (isotonic) against the forecast probability, at the data's own prevalence.

    `bands` adds bins of the forecast with their intervals, all at the prior of the bands.
    """
    curve = result.curve
    odds = math.log(curve.targets) - math.log(curve.nontargets)
    bins = None if bands is None else bands.reliability
    if bins is not None:
        odds = math.log(bins.prior) - math.log1p(-bins.prior)
    low, high, worth = _blocks(result)
    forecast = np.column_stack((_chance(low + odds), _chance(high + odds))).ravel()
    canvas.line(forecast, np.repeat(_chance(worth + odds), 2), "isotonic", named=canvas.system)
    if bins is not None:
        known = ~np.isnan(bins.low)
        x, y = bins.forecast[known], bins.observed[known]
        reach = np.maximum((y - bins.low[known], bins.high[known] - y), 0.0)
        canvas.axes.errorbar(x, y, reach, fmt=canvas.look.marker, markersize=4.5, capsize=3, color=canvas.look.color,
                             markerfacecolor="white", elinewidth=1.1, zorder=4)  # fmt: skip
        canvas.record("bins", x, y)
    canvas.guide([0, 1], [0, 1])
    canvas.square()
    canvas.words(f"Forecast probability (prior {sigmoid(odds):.3g})", "Observed frequency")


def _blocks(result: Evaluation) -> tuple[Floats, Floats, Floats]:
    """The isotonic blocks: from which score to which, as llrs, and the llr of each."""
    hull, tally = result.curve.hull, result.curve.tally
    llrs = np.append(-math.inf, llrs_of(tally, hull.thresholds[1:]))  # -inf is neither a ratio nor a posterior
    return llrs[:-1], llrs[1:], hull.llrs


def _chance(log_odds: Floats) -> Floats:
    return np.asarray(0.5 * (1.0 + np.tanh(0.5 * log_odds)))


def calibration_map(canvas: Canvas, result: Evaluation) -> None:
    """The llr of each score after isotonic regression (PAV); the diagonal is perfect calibration."""
    hull = result.curve.hull
    ends = np.array(result.histogram["edges"] or [-1.0, 1.0])[[0, -1]]
    low, high = np.clip(hull.thresholds[:-1], *ends), np.clip(hull.thresholds[1:], *ends)
    worth = np.clip(hull.llrs, -_INFINITE, _INFINITE)
    points = np.column_stack((low, high)).ravel()
    canvas.line(points, np.repeat(worth, 2), "PAV", named=canvas.system)
    if result.meaning == "llr":
        both = (max(ends[0], -_INFINITE), min(ends[1], _INFINITE))
        canvas.guide(both, both)
    across = "Score" if result.meaning == "raw" else f"Score ({result.meaning})"
    canvas.words(across, f"PAV llr (infinite values at ±{_INFINITE:g})")


def tippett(canvas: Canvas, result: Evaluation) -> None:
    """Proportion of each class with a likelihood ratio above a value; of several systems each has its look.

    Of several systems the lines of the targets have the system's dash, and those of the non-targets are thin.
    """
    llr = result.curve.tally.as_llr()
    reach = max(8.0, *(abs(float(end)) for end in _ends(llr)))
    grid = np.linspace(-reach, reach, 1601)
    words = class_words(result.class_names, "s")
    for side, name, colour, dash in ((llr.targets, words[1], TARGET, "-"), (llr.nontargets, words[0], NONTARGET, "--")):
        above = np.asarray((side.total - side.upto(grid)) / side.total, float)
        if canvas.systems == 1:
            style: dict[str, Value] = {"named": name, "color": colour, "linestyle": dash}
        elif side is llr.targets:
            style = {"named": canvas.system}
        else:
            style = {"linewidth": 0.7}
        canvas.line(grid / math.log(10.0), above, name, **style)
        if "named" not in style:
            canvas.key(f"thin: {name}")
    canvas.axes.axvline(0.0, color="#5A5A5A", linestyle=":", linewidth=1)
    canvas.axes.set(ylim=(-0.01, 1.02))
    canvas.words("log10 likelihood ratio", "Proportion above")


def _ends(llr: Tally) -> Floats:
    """Between which llrs nearly all of both classes lies: 1 in 100 may be beyond, and infinite ones."""
    found = [np.zeros(1)]
    for scores in (llr.targets.scores, llr.nontargets.scores):  # ascending
        first, after = np.searchsorted(scores, -math.inf, "right"), np.searchsorted(scores, math.inf, "left")
        if after > first:
            found.append(scores[(first + (after - first - 1) * np.array((0.01, 0.99))).astype(np.intp)])
    return np.concatenate(found)


def _quantile_tally(llr: Tally) -> Tally:
    """This many quantiles of each class in place of very many finite trials: their mean is right to 0.1 %."""
    sides = (llr.targets, llr.nontargets)
    if any(side.running is not None or not np.isfinite(side.scores[[0, -1]]).all() for side in sides):
        return llr
    kept = [side if len(side.scores) <= 2 * _QUANTILES else _quantiles(side) for side in sides]
    return Tally(kept[0], kept[1], "llr")


def _quantiles(side: Ranked) -> Ranked:
    middles = (np.arange(_QUANTILES) + 0.5) * (len(side.scores) / _QUANTILES)
    return Ranked(side.scores[middles.astype(np.intp)])


def cross_entropy(canvas: Canvas, result: Evaluation) -> None:
    """Empirical cross-entropy against the prior log-odds: actual, after PAV, and without the scores."""
    grid = np.linspace(-5.0, 5.0, 41)
    priors = _chance(grid)
    llr = result.curve.tally.as_llr()
    drawn = _quantile_tally(llr)
    actual = np.array([empirical_cross_entropy(drawn, prior) for prior in priors.tolist()])
    least = np.array([min_cross_entropy(result.curve, prior) for prior in priors.tolist()])
    reference = -(priors * np.log2(priors) + (1.0 - priors) * np.log2(1.0 - priors))
    first = canvas.is_empty
    actual_name, least_name = cost_names(canvas, "actual", "after PAV")
    alone = canvas.systems == 1
    canvas.line(grid, actual, "actual", named=actual_name, **({"linestyle": "-"} if alone else {}))
    canvas.line(grid, least, "after PAV", named=least_name, **({"linestyle": "--"} if alone else {"linewidth": 0.7}))
    if least_name is None:
        canvas.key("thin: after PAV")
    if first:
        canvas.guide(grid, reference, linewidth=1.2)
        canvas.key("without the scores")
        canvas.record("without the scores", grid, reference)
    highest = max(float(np.max(np.asarray(line.get_ydata(), float))) for line in canvas.axes.lines)
    top = min(max(1.2, 1.05 * highest), 3.0)
    canvas.axes.set(ylim=(0.0, top))
    beyond = "" if highest <= top else f"\nmaximum {highest:.3g}, above the frame"
    canvas.words("Prior log-odds", f"Empirical cross-entropy (bits){beyond}")


def score_to_llr(canvas: Canvas, model: Calibrator) -> None:
    """The llr that a calibrator gives to each score."""
    grid, llrs = calibration_line(model)
    canvas.line(grid, llrs, "llr", named=canvas.system)
    canvas.level(0.0)
    canvas.words("Score", "llr")


def posteriors(canvas: Canvas, result: Evaluation | GaussianRecognizer, *, application: object = None) -> None:
    """Posterior of each class along one score, and above it which decision is taken where."""
    if isinstance(result, GaussianRecognizer):
        _of_recognizer(canvas, result, application)
    else:
        _of_llrs(canvas, result, application)


def _of_llrs(canvas: Canvas, result: Evaluation, application: object) -> None:
    """Two classes: the posterior at the operating point's prior against the llr."""
    place = 0 if application is None else whole(application, "application", 0, len(result.applications) - 1)
    row = result.applications[place]
    grid = np.linspace(min(-8.0, row.threshold - 3.0), max(8.0, row.threshold + 3.0), _STEPS)
    target = 0.5 * (1.0 + np.tanh(0.5 * (grid + np.log(row.prior) - np.log1p(-row.prior))))
    names = class_words(result.class_names)
    for name, chance, colour, dash in ((names[0], 1.0 - target, NONTARGET, "--"), (names[1], target, TARGET, "-")):
        canvas.line(grid, chance, f"posterior of {name}", named=name, color=colour, linestyle=dash)
    decisions = (grid > row.threshold).astype(np.intp)
    _regions(canvas, grid, decisions, ["reject", "accept"], [NONTARGET, TARGET])
    canvas.words("llr", f"Posterior (prior {row.prior:g}, costs {row.cost_fn:g} : {row.cost_fp:g})")


def _of_recognizer(canvas: Canvas, model: GaussianRecognizer, application: object) -> None:
    """Several classes: posteriors against the only feature of a Gaussian recognizer."""
    if model.means.shape[1] != 1:
        raise InputError(f"posteriors are drawn along one feature, and this recognizer has {model.means.shape[1]}.")
    count = len(model.classes)
    app = as_matrix(Application.multiclass([1.0 / count] * count) if application is None else application)
    means, spread = model.means[:, 0], np.sqrt(np.max(np.asarray(model.covariances)))
    grid = np.linspace(means.min() - 3.0 * spread, means.max() + 3.0 * spread, _STEPS)
    trials = model.trials(grid[:, None])
    shares = class_posteriors(trials, app.prior)
    names = [name_of(name) for name in model.classes]
    for place, name in enumerate(names):
        canvas.look = look_of(place)
        canvas.line(grid, shares[:, place], f"posterior of {name}", named=name)
    actions = [name_of(name) for name in app.renamed(model.classes).actions]
    colours = [look_of(place).color for place in range(len(actions))]
    _regions(canvas, grid, np.asarray(decide(trials, app), np.intp), actions, colours)
    canvas.words("Feature", "Posterior")


def _regions(canvas: Canvas, grid: Floats, decided: Array, actions: list[str], colours: list[str]) -> None:
    """A strip above the curves that shows which decision is taken where, each named inside where it is wide enough."""
    turns = np.flatnonzero(np.diff(decided)) + 1
    starts, ends = np.concatenate(([0], turns)), np.concatenate((turns, [len(grid) - 1]))
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        action = int(decided[start])
        left, right = float(grid[start]), float(grid[end])
        canvas.axes.fill_between([left, right], 1.03, 1.13, color=colours[action], alpha=0.25, linewidth=0)
        canvas.record(f"decide {actions[action]}", [left, right], [1.08, 1.08])
        if (right - left) / (grid[-1] - grid[0]) > 0.035 * max(len(actions[action]), 3):
            canvas.axes.text(0.5 * (left + right), 1.08, actions[action], ha="center", va="center", fontsize="small",
                             parse_math=False)  # fmt: skip
        if end < len(grid) - 1:
            canvas.axes.axvline(right, color="black", linewidth=0.8, linestyle=":")
    canvas.axes.set(xlim=(float(grid[0]), float(grid[-1])), ylim=(-0.01, 1.14))


def risk_curve(canvas: Canvas, curve: RiskCurve) -> None:
    """Normalised risk of several classes along the log-odds of one class's prior; the best dummy costs 1."""
    canvas.line(curve.log_odds, curve.dcf, "normalised risk", named=canvas.system)
    canvas.level(1.0)
    top = max(float(canvas.axes.get_ylim()[1]), 1.1, 1.05 * float(curve.dcf.max()))
    canvas.axes.set(xlim=(float(curve.log_odds[0]), float(curve.log_odds[-1])), ylim=(-0.02, min(top, 3.0)))
    canvas.words("Log-odds of the class's prior", "Normalised risk")
