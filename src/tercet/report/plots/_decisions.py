"""Figures of decisions and their costs: net benefit, costs per case, coverage, prevalence, spoofing, CORP, sweeps.

Also forest plots, one line per value with its interval, confusion matrices and decision regions of several classes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from tercet._numeric.validation import shown, whole
from tercet._typing import Floats
from tercet.calibration.assessment import CorpDiagram
from tercet.conditions import Conditions
from tercet.deployment.abstention import RiskCoverage
from tercet.deployment.gaps import QUANTITIES as GROUP_QUANTITIES
from tercet.deployment.gaps import GroupGaps
from tercet.deployment.prevalence import Prevalence
from tercet.deployment.sweeping import Sweep, SweepRow
from tercet.errors import InputError
from tercet.evaluation import Evaluation, MulticlassEvaluation, MulticlassResult, Result
from tercet.metrics.counting import CountReport
from tercet.metrics.net_benefit import DecisionCurve
from tercet.metrics.spoofing_curve import SpoofingCurve, TandemEerCurve
from tercet.report.cards import Span
from tercet.report.numbers import percent
from tercet.report.plots._canvas import COLOURS, SOFT, Canvas, class_words, look_of, name_of, thinned
from tercet.uncertainty.case_costs import CaseCostCurve
from tercet.uncertainty.comparison import Comparison, Difference
from tercet.uncertainty.simultaneous import DifferenceBand, NetBenefitBand

if TYPE_CHECKING:
    from matplotlib.axis import Axis

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


# Forest plots, confusion matrices and decision regions of several classes


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
