"""Forest plots, one line per value with its interval; confusion matrices and decision regions of several classes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from tercet._numeric.validation import shown, whole
from tercet._typing import Floats
from tercet.conditions import Conditions
from tercet.deployment.gaps import QUANTITIES as GROUP_QUANTITIES
from tercet.deployment.gaps import GroupGaps
from tercet.errors import InputError
from tercet.evaluation import Evaluation, MulticlassEvaluation, MulticlassResult, Result
from tercet.metrics.counting import CountReport
from tercet.report.cards import Span
from tercet.report.plots._canvas import Canvas
from tercet.report.plots._style import SOFT, class_words, name_of
from tercet.uncertainty.comparison import Comparison, Difference

if TYPE_CHECKING:
    from tercet.evaluation import Evaluation, MulticlassEvaluation

MOST_ROWS = 40
_LONGEST = 28  # letters of a row's name
_MOST_TICKS = 5  # steps of the axis: beside long names, more numbers such as -0.004 run into each other
_WORDS = {
    "dcf": "Actual DCF", "min_dcf": "Minimum DCF", "risk": "Risk", "eer": "EER", "auc": "AUC", "cllr": "Cllr",
    "fnr": "False negative rate", "fpr": "False positive rate", "acceptance_rate": "Share accepted",
    "dcf_u": "DCF, not normalised", "cost": "Cost per case",
    "accuracy": "Accuracy", "log_loss": "Log-loss (bits)",
}  # fmt: skip


def forest(canvas: Canvas, found: Comparison | Conditions | GroupGaps, *, quantity: str | None = None) -> None:
    """Differences between systems, or one quantity by condition or group, with intervals; the first row is on top."""
    rows = _rows_of(found, quantity)
    if len(rows) > MOST_ROWS:
        raise InputError(f"A forest plot shows at most {MOST_ROWS} rows, not {len(rows)}.")
    places = list(range(len(rows), 0, -1))
    for y, row in zip(places, rows, strict=True):
        if math.isfinite(row.low) and math.isfinite(row.high):
            canvas.axes.plot([row.low, row.high], [y, y], color=canvas.look.color, linewidth=1.4, label="_")
        canvas.point(row.value, float(y), row.name, filled=True)
        canvas.record(f"{row.name} interval", [row.low, row.high], [y, y])
    canvas.axes.set_yticks(places, [_cut(row.name) for row in rows], parse_math=False)
    canvas.axes.set_ylim(0.4, len(rows) + 0.6)
    canvas.axes.locator_params(axis="x", nbins=_MOST_TICKS)
    canvas.axes.tick_params(axis="y", length=0)
    canvas.axes.spines["left"].set_visible(False)
    _words(canvas, found, quantity)


def _rows_of(found: Comparison | Conditions | GroupGaps, quantity: str | None) -> list[Span]:
    if isinstance(found, GroupGaps):
        return _groups(found, quantity or "dcf_u")
    return _differences(found, quantity) if isinstance(found, Comparison) else _conditions(found, quantity)


def _groups(found: GroupGaps, quantity: str) -> list[Span]:
    """The groups from worst to best in one quantity; groups without it are left out."""
    if quantity not in GROUP_QUANTITIES:
        raise InputError(f"quantity must be one of {', '.join(GROUP_QUANTITIES)}, not {shown(quantity)}.")
    known = [
        Span(name_of(one.group), value, one.intervals[quantity].low, one.intervals[quantity].high)
        for one in found.groups
        if (value := one.values[quantity]) is not None
    ]
    if not known:
        raise InputError(f"quantity={shown(quantity)} is undefined in every group.")
    return sorted(known, key=lambda row: -row.value)


def _words(canvas: Canvas, found: Comparison | Conditions | GroupGaps, quantity: str | None) -> None:
    if isinstance(found, GroupGaps):
        app = found.application
        where = f"prior {app.prior:g}, costs {app.cost_fn:g} : {app.cost_fp:g}"
        named = quantity or "dcf_u"
        canvas.words(f"{_WORDS.get(named, named)}\n{app.name or where}", name_of(found.column))
        return
    if isinstance(found, Comparison):
        canvas.axes.axvline(0.0, color=SOFT, linestyle=":", linewidth=1.0)
        if quantity is None and _is_net_benefit(found):
            canvas.words(
                f"Difference in net benefit\n{found.points[0].split(', ')[1]}", "Systems, threshold probability"
            )
            return
        name = quantity or found.headline
        canvas.words(f"Difference in {found.spoken(name)}".replace(" at ", "\n"), "Systems")
        return
    last = (quantity or _first(found)).split(".")[-1]
    at = found.pooled.applications[0] if (quantity or _first(found)).startswith("applications") else None
    canvas.words(_WORDS.get(last, last) + ("" if at is None else f"\n{application_name(at)}"), name_of(found.column))


def _differences(found: Comparison, quantity: str | None) -> list[Span]:
    if quantity is None and _is_net_benefit(found):
        return [Span(f"{_cut(one.first, 8)} − {_cut(one.second, 8)}, {_threshold(found, one)}", *one[3:6])
                for one in found.differences]  # fmt: skip
    named = found.headline if quantity is None else quantity
    return [Span(f"{_cut(one.first, 13)} − {_cut(one.second, 13)}", one.value, one.low, one.high)
            for one in found.of(named)]  # fmt: skip


def _is_net_benefit(found: Comparison) -> bool:
    return found.headline.endswith("net_benefit")


def _threshold(found: Comparison, one: Difference) -> str:
    """Where a net benefit was compared, without the prevalence, which is the same everywhere."""
    return found.points[int(one.quantity.split(".")[1])].split(",")[0].replace("threshold", "t =")


def _first(found: Conditions) -> str:
    """What is shown unless it is named: the cost at the first operating point, else the AUC or the accuracy."""
    if found.pooled.applications:
        return "applications.0.dcf"
    return "auc" if hasattr(found.pooled, "auc") else "accuracy"


def _conditions(found: Conditions, quantity: str | None) -> list[Span]:
    """The conditions from worst to best, then all trials pooled and equalised."""
    name = quantity or _first(found)
    rows = [_row(value, one, name) for value, one in found.results.items()]
    rows.sort(key=lambda row: row.value, reverse=name.split(".")[-1] not in ("auc", "accuracy"))
    rows += [_row(called, one, name) for called, one in (("pooled", found.pooled), ("equalised", found.equalised))
             if one is not None]  # fmt: skip
    known = [row for row in rows if math.isfinite(row.value)]
    if not known:
        raise InputError(f"quantity={shown(name)} is undefined in every condition.")
    return known


def _row(called: str, one: Evaluation | MulticlassEvaluation, name: str) -> Span:
    facts = one.to_dict(curves=False)
    first, *rest = name.split(".")
    if first == "applications":
        known = len(rest) == 2 and rest[0].isdigit() and int(rest[0]) < len(facts["applications"])
        facts, first = (facts["applications"][int(rest[0])], rest[1]) if known else ({}, name)
    value = facts.get(first, "")
    value = value.get("value") if isinstance(value, dict) else value
    if value == "" or isinstance(value, list):
        raise InputError(f"quantity={shown(name)} is not a number of these evaluations, such as 'applications.0.dcf'.")
    low, high = facts.get(f"{first}_ci") or (math.nan, math.nan)
    return Span(name_of(called), math.nan if value is None else float(value), float(low), float(high))


def _cut(name: str, most: int = _LONGEST) -> str:
    shorter = name_of(name)
    return shorter if len(shorter) <= most else shorter[: most - 1] + "…"


# TYPE_CHECKING FROM report/plots/_tables.py
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
