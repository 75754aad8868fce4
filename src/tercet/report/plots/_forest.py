"""Forest plots: one line per comparison or condition, its value and its interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from tercet._numeric.validation import shown
from tercet.conditions import Conditions
from tercet.deployment.gaps import QUANTITIES as GROUP_QUANTITIES
from tercet.deployment.gaps import GroupGaps
from tercet.errors import InputError
from tercet.report.cards import Span
from tercet.report.plots._canvas import Canvas
from tercet.report.plots._style import SOFT, name_of
from tercet.report.plots._tables import application_name
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
