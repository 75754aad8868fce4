"""Figures along one score: the map of a calibrator, posteriors with decision regions, risk along a class's prior."""

from __future__ import annotations

import numpy as np

from tercet._numeric.validation import whole
from tercet._typing import Array, Floats
from tercet.application import Application
from tercet.calibration.two_class import Calibrator
from tercet.decision import decide
from tercet.errors import InputError
from tercet.evaluation import Evaluation, RiskCurve
from tercet.metrics.confusion import as_matrix
from tercet.metrics.posteriors import posteriors as class_posteriors
from tercet.recognizers.gaussian import GaussianRecognizer
from tercet.report.cards import calibration_line
from tercet.report.plots._canvas import Canvas
from tercet.report.plots._style import NONTARGET, TARGET, class_words, look_of, name_of

_STEPS = 601


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
