"""Figures of counts: confusion matrices, and the decision regions of several classes along one score."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from tercet._numeric.validation import whole
from tercet._typing import Floats
from tercet.evaluation import Evaluation, MulticlassEvaluation, MulticlassResult, Result
from tercet.metrics.counting import CountReport
from tercet.report.plots._canvas import Canvas
from tercet.report.plots._style import class_words, name_of

if TYPE_CHECKING:
    from matplotlib.axis import Axis

Normalise = Literal["class", "decision", "all"]


def confusion(
    canvas: Canvas,
    result: Evaluation | MulticlassEvaluation,
    *,
    application: int = 0,
    normalise: Normalise | None = None,
) -> None:
    """A confusion matrix as a heat map: rows are decisions, columns true classes.

    Cells show counts, or shares of the class, of the decision or of all trials.
    """
    row = result.applications[whole(application, "application", 0, len(result.applications) - 1)]
    _heat_map(canvas, *_matrix(result, row), normalise)
    if canvas.panels == 1:  # else it is the title of the panel
        canvas.words(f"True class\n{application_name(row)}", "Decision")


def count(canvas: Canvas, report: CountReport, *, normalise: Normalise | None = None) -> None:
    """The matrix of a count report as a heat map: rows are decisions, columns true classes."""
    table = report.confusion
    names = [list(map(name_of, own)) for own in (table.actions, table.classes)]
    _heat_map(canvas, np.array(table.matrix, float), names[0], names[1], normalise)


def _heat_map(
    canvas: Canvas, counts: Floats, rows: Sequence[str], columns: Sequence[str], normalise: Normalise | None
) -> None:
    share = _shares(counts, normalise or "class")
    canvas.axes.imshow(share, cmap="Blues", vmin=0.0, vmax=1.4, aspect="auto")
    if counts.size <= 400:
        for i, j in np.ndindex(*counts.shape):
            text = f"{counts[i, j]:,g}" if normalise is None else f"{share[i, j]:.3f}"
            canvas.axes.text(j, i, text, ha="center", va="center", fontsize="small")
    for i, j in np.ndindex(*counts.shape):
        canvas.record(f"decided {rows[i]}, true {columns[j]}", [counts[i, j]], [share[i, j]])
    narrow = 0.09 * max(map(len, columns)) * len(columns) > 0.8 * canvas.inches()
    _ticks(canvas.axes.xaxis, columns, rotation=60 if narrow else 0)
    _ticks(canvas.axes.yaxis, rows, rotation=0)
    canvas.words("True class", "Decision")
    canvas.axes.spines[:].set_visible(False)


def _matrix(
    result: Evaluation | MulticlassEvaluation, row: Result | MulticlassResult
) -> tuple[Floats, list[str], list[str]]:
    """Counts, names of the rows and names of the columns."""
    if isinstance(row, Result):
        assert isinstance(result, Evaluation)
        names = list(class_words(result.class_names))
        return np.array(row.table.matrix, float), names, names
    assert isinstance(result, MulticlassEvaluation)
    return np.array(row.confusion, float), list(map(name_of, row.actions)), list(map(name_of, result.classes))


def _shares(counts: Floats, by: Normalise) -> Floats:
    if by == "all":
        return np.asarray(counts / max(counts.sum(), 1e-300))
    axis = 0 if by == "class" else 1
    return np.asarray(counts / np.maximum(counts.sum(axis=axis, keepdims=True), 1e-300))


def application_name(row: Result | MulticlassResult) -> str:
    """An operating point in a few words."""
    if isinstance(row, Result):
        return f"{row.name or 'prior ' + format(row.prior, 'g')}, costs {row.cost_fn:g} : {row.cost_fp:g}"
    return "priors " + ", ".join(f"{prior:.3g}" for prior in row.priors[:6]) + (" ..." if len(row.priors) > 6 else "")


def _ticks(axis: Axis, names: Sequence[str], rotation: int) -> None:
    every = max(1, len(names) // 30)
    places = list(range(0, len(names), every))
    axis.set_ticks(places, [names[place] for place in places], rotation=rotation, parse_math=False)
