"""Cards for notebooks: an object in a sentence, a small table and a small picture; no script, any theme.

Colours of text and axes are the notebook's own; every text is escaped.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, cast

import numpy as np

from tercet._numeric.validation import whole
from tercet._typing import JSON, Floats
from tercet.report import tables, verdict
from tercet.report.markup import tag, text
from tercet.report.numbers import llr_shown, percent
from tercet.report.numbers import short as number
from tercet.report.text import count, frequency

if TYPE_CHECKING:
    from tercet._numeric.serialization import Model
    from tercet.application import Application, MulticlassApplication
    from tercet.calibration.two_class import Calibrator
    from tercet.deployment.rules import Rule
    from tercet.evaluation import Evaluation, MulticlassEvaluation, MulticlassResult, Result
    from tercet.metrics.confusion import Confusion
    from tercet.metrics.net_benefit import DecisionCurve
    from tercet.trials import Trials
    from tercet.uncertainty.comparison import Comparison
    from tercet.uncertainty.intervals import Intervals

_WIDE, _HIGH, _EDGE = 220.0, 96.0, 4.0
_TARGET, _NONTARGET = "#C0621A", "#2A86BC"  # 3 : 1 on white and on black
_MOST_ROWS = 8
_MOST_SCORES = 20_000  # scores that a small histogram uses
_REACH = 6.0  # llrs up to which a calibration map is drawn
Line = tuple[Sequence[float] | Floats, Sequence[float] | Floats, str]


class Card(NamedTuple):
    """A card: a sentence (markup), the head and rows of a table, and a picture."""

    sentence: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    picture: str = ""


class Page:
    """The interactive page about evaluations; a notebook shows it in a frame.

    Parameters
    ----------
    evaluations : Evaluation or list of Evaluation
        What the page is about.
    height : int
        Of the frame, in pixels.
    """

    def __init__(self, evaluations: object, height: int = 900) -> None:
        self.evaluations, self.height = evaluations, whole(height, "height", 1, 100_000)

    def _repr_html_(self) -> str:
        from tercet.report.page import iframe

        return iframe(self.evaluations, self.height)

    def __repr__(self) -> str:
        return "Page: shown in a notebook; .save(path) writes it"

    def save(self, path: str | PathLike[str]) -> Path:
        """Write the page to a file.

        Parameters
        ----------
        path : path
            Where to.

        Returns
        -------
        Path
            Where it was written.
        """
        from tercet.report import report

        return report(self.evaluations, path)


def card(thing: object) -> str:
    """The card of an object as HTML."""
    make = next(_CARDS[kind.__name__] for kind in type(thing).__mro__ if kind.__name__ in _CARDS)
    found = make(thing)
    body = tag("p", found.sentence, style="margin:0 0 6px;max-width:46em")
    if found.rows:
        body += _table(found.head, found.rows[:_MOST_ROWS])
    if len(found.rows) > _MOST_ROWS:
        body += tag("small", f"… and {len(found.rows) - _MOST_ROWS} more")
    return tag("div", body + found.picture, style="font-family:system-ui,sans-serif;font-size:13px;margin:4px 0")


def _table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table of texts; the first column is words, the others numbers."""
    titles = "".join(tag("th", text(cell), style=_style(place)) for place, cell in enumerate(head))
    lines = ["".join(tag("td", text(cell, 80), style=_style(k)) for k, cell in enumerate(row)) for row in rows]
    body = "".join(tag("tr", line) for line in lines)
    return tag(
        "table",
        (tag("tr", titles) if any(head) else "") + body,
        style="border-collapse:collapse;color:inherit;font-size:inherit",
    )


def _style(place: int) -> str:
    side = "left" if place == 0 else "right"
    return f"text-align:{side};padding:1px 10px 1px 0;color:inherit;background:none;white-space:nowrap"


# Pictures


def _svg(parts: str, label: str, high: float = _HIGH, wide: float = _WIDE) -> str:
    return (
        f'<svg width="{wide:g}" height="{high:g}" viewBox="0 0 {wide:g} {high:g}" role="img" '
        f'aria-label="{text(label, 200)}" style="display:block;margin-top:6px">{parts}</svg>'
    )


def _lines(lines: Sequence[Line], label: str, *, low: float | None = None, high: float | None = None) -> str:
    """Lines in one small frame; what lies beyond the ends given is cut off at them."""
    across = np.concatenate([np.asarray(x, float) for x, _, _ in lines])
    up = np.concatenate([np.asarray(y, float) for _, y, _ in lines])
    up = up[np.isfinite(up)]
    left, right = float(across.min()), float(across.max())
    bottom = float(up.min()) if low is None else low
    top = float(up.max()) if high is None else high
    parts = ""
    for x, y, style in lines:
        inside = np.clip(np.nan_to_num(np.asarray(y, float), posinf=top, neginf=bottom), bottom, top)
        places = _placed(np.asarray(x, float), left, right, _WIDE), _HIGH - _placed(inside, bottom, top, _HIGH)
        points = " ".join(f"{a:.1f},{b:.1f}" for a, b in zip(*places, strict=True))
        parts += f'<polyline points="{points}" fill="none" {style}/>'
    return _svg(parts, label)


def _placed(values: Floats, low: float, high: float, size: float) -> Floats:
    return _EDGE + (size - 2 * _EDGE) * (values - low) / ((high - low) or 1.0)


def _stroke(colour: str = "currentColor", width: float = 1.6, dash: str = "", opacity: float = 1.0) -> str:
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return f'stroke="{colour}" stroke-width="{width:g}" stroke-opacity="{opacity:g}"{dashes}'


_GUIDE = _stroke(width=1.0, dash="2 3", opacity=0.6)


class Span(NamedTuple):
    """An interval of a small forest plot."""

    name: str
    value: float
    low: float
    high: float


def _forest(spans: Sequence[Span], label: str, zero: float | None = None) -> str:
    """One line per interval with its value and name, on a common scale."""
    known = [one for one in spans[:_MOST_ROWS] if all(map(math.isfinite, one[1:]))]
    if not known:
        return ""
    ends = [end for one in known for end in one[1:]] + ([] if zero is None else [zero])
    low, high, size = min(ends), max(ends), 14.0 * len(known) + 4.0
    parts = ""
    for place, one in enumerate(known):
        y, (at, start, stop) = 14 * place + 9, _placed(np.array(one[1:]), low, high, _WIDE).tolist()
        parts += f'<path d="M{start:.1f} {y}H{stop:.1f}" {_stroke()}/>'
        parts += f'<circle cx="{at:.1f}" cy="{y}" r="3" fill="{_NONTARGET}"/>'
        parts += f'<text x="{_WIDE + 6:g}" y="{y + 4}" font-size="11" fill="currentColor">{text(one.name, 36)}</text>'
    if zero is not None:
        (x,) = _placed(np.array([zero]), low, high, _WIDE).tolist()
        parts += f'<path d="M{x:.1f} 0V{size:g}" {_GUIDE}/>'
    return _svg(parts, label, size, 2.0 * _WIDE)


def _heat(matrix: Floats, label: str) -> str:
    """A matrix as squares, dark where the share of the column is large."""
    if max(matrix.shape) > 30:
        return ""
    side = min(24.0, _WIDE / matrix.shape[1])
    shares = matrix / np.maximum(matrix.sum(axis=0, keepdims=True), 1e-300)
    parts = "".join(
        f'<rect x="{side * j:.1f}" y="{side * i:.1f}" width="{side - 1:.1f}" height="{side - 1:.1f}" '
        f'fill="{_NONTARGET}" fill-opacity="{0.06 + 0.9 * shares[i, j]:.2f}"/>'
        for i, j in np.ndindex(*matrix.shape)
    )
    return _svg(parts, label, side * len(matrix))


# The card of each object


def _trials(trials: Trials) -> Card:
    rows = [["meaning", trials.meaning], ["classes", ", ".join(trials.classes[:8])]]
    if trials.labels is not None:
        sizes = np.bincount(trials.labels.astype(np.intp), minlength=len(trials.classes)).tolist()
        rows += [[f"trials of {name}", f"{size:,}"] for name, size in zip(trials.classes, sizes, strict=True)]
    present = [name for name in ("weights", "ids") if getattr(trials, name) is not None]
    rows += [["with", ", ".join([*present, *(f"group {name}" for name in trials.groups)])]]
    return Card(text(repr(trials), 300), ("", ""), [row for row in rows if row[1]], _score_picture(trials))


def _score_picture(trials: Trials) -> str:
    if trials.scores.ndim == 2 or trials.labels is None or len(trials.scores) == 0:
        return ""
    step = -(-len(trials.scores) // _MOST_SCORES)
    scores, labels = trials.scores[::step], trials.labels[::step].astype(bool)
    known = scores[np.isfinite(scores)]
    if len(known) == 0 or known.min() == known.max():
        return ""
    low, high = np.quantile(known, (0.001, 0.999)).tolist()
    edges = np.linspace(low, high, 41) if low < high else np.array([known.min(), known.max()])
    lines = []
    for side, colour in ((~labels, _NONTARGET), (labels, _TARGET)):
        counts = np.histogram(scores[side], edges)[0] / max(int(side.sum()), 1)
        lines.append((np.repeat(edges, 2)[1:-1], np.repeat(counts, 2), _stroke(colour)))
    return _lines(lines, f"scores of {trials.classes[0]} and {trials.classes[1]}", low=0.0)


def _application(app: Application) -> Card:
    rows = [
        ["prior of the target", frequency(app.prior)], ["cost of a miss", number(app.cost_fn)],
        ["cost of a false alarm", number(app.cost_fp)], ["effective prior", number(app.effective_prior)],
        ["cost of deciding without the scores", number(app.dummy_cost)],
    ]  # fmt: skip
    cost_ratio = app.cost_fp / (app.cost_fn + app.cost_fp)
    told = f"Accept where the llr is above {number(llr_shown(app.threshold))}: where a target is more probable than "
    named = f"{app.name}: " if app.name else ""
    return Card(text(f"{named}{told}{percent(cost_ratio)}.", 300), ("", ""), rows)


def _multiclass_application(app: MulticlassApplication) -> Card:
    words = f"Without the scores the best action is {app.dummy_action}, at a cost of {number(app.dummy_cost)}."
    head = ["cost of deciding", *(f"{name} ({number(p)})" for name, p in zip(app.classes, app.prior, strict=True))]
    rows = [[action, *map(number, row)] for action, row in zip(app.actions, app.costs.tolist(), strict=True)]
    return Card(text(words, 300), head[:13], [row[:13] for row in rows])


def _confusion(table: Confusion) -> Card:
    matrix = table.matrix
    total = sum(map(sum, matrix))
    rows = [[name, *map(count, row)] for name, row in zip(table.actions, matrix, strict=True)]
    words = f"{count(total)} decisions: rows are decisions, columns true classes."
    head = ["decision", *table.classes]
    return Card(text(words, 300), head[:13], [row[:13] for row in rows], _heat(np.array(matrix, float), words))


def _result(row: Result) -> Card:
    facts = row.to_dict()
    rows = [
        ["llr threshold", number(llr_shown(facts["threshold"]))],
        *([name, number(facts[key])] for key, name in _RESULT_WORDS.items() if facts.get(key) is not None),
    ]
    costs = [key for key in ("dcf", "min_dcf") if isinstance(facts.get(key), float)]
    spans = [Span(_RESULT_WORDS[key], facts[key], 0.0, facts[key]) for key in costs]
    dcf = facts["dcf"]
    told = "The actual DCF is undefined." if dcf is None else f"Actual DCF {number(dcf)}; {_judged(float(dcf))}"
    spans.append(Span("deciding without the scores", 1.0, 0.0, 1.0))
    picture = _forest(spans, "actual and minimum DCF, and 1: deciding without the scores")
    return Card(text(f"{tables.point(facts)}: {told}", 300), ("", ""), rows, picture)


def _multiclass_result(row: MulticlassResult) -> Card:
    told = "Its risk is undefined." if row.dcf is None else f"Risk {number(row.risk)}; {_judged(float(row.dcf))}"
    rows = [[action, *map(count, counts)] for action, counts in zip(row.actions, row.confusion, strict=True)]
    named = row.actions if len(row.actions) == len(row.priors) else ["prior"] * len(row.priors)
    head = ["decision", *(f"{name} {number(prior)}" for name, prior in zip(named, row.priors, strict=True))]
    matrix = np.array(row.confusion, float)
    return Card(text(told, 300), head[:13], [one[:13] for one in rows], _heat(matrix, "confusion matrix"))


_RESULT_WORDS = {
    "fnr": "false negative rate", "fpr": "false positive rate", "dcf": "actual DCF", "min_dcf": "minimum DCF",
    "calibration_loss": "calibration loss",
}  # fmt: skip


def _judged(dcf: float) -> str:
    if dcf == 1.0:
        return "no better than deciding without the scores."
    less = abs(1.0 - dcf)
    return (
        f"{percent(less) if less < 10 else 'far'} {'less' if dcf < 1.0 else 'more'} than deciding without the scores."
    )


def _evaluation(evaluation: Evaluation | MulticlassEvaluation) -> Card:
    facts = evaluation.to_dict(curves=False)
    costs = tables.costs([facts])
    kept = [place for place, head in enumerate(costs.head) if place and head != "calibration loss"]
    rows = [[str(row[place]) for place in kept] for row in costs.rows]
    summary = tag("small", text(tables.summaries([facts])[0], 500))
    head = [costs.head[place] for place in kept]
    return Card(f"{verdict.brief(facts)}<br>{summary}", head, rows, _evaluation_picture(facts))


def _evaluation_picture(facts: JSON) -> str:
    if "bayes_plot" not in facts:
        first = (facts["applications"] or [{}])[0].get("confusion")
        return "" if first is None else _heat(np.array(first, float), "confusion matrix")
    plot = facts["bayes_plot"]
    grid = plot["log_odds"]
    lines: list[Line] = [(grid, [1.0] * len(grid), _GUIDE)]
    if plot["dcf"] is not None:
        lines.append((grid, list(map(float, plot["dcf"])), _stroke(_NONTARGET)))
    lines.append((grid, list(map(float, plot["min_dcf"])), _stroke(_NONTARGET, dash="5 3")))
    return _lines(lines, "Bayes error plot: actual DCF, dashed the minimum, dotted deciding without the scores",
                  low=0.0, high=1.1)  # fmt: skip


def _intervals(found: Intervals) -> Card:
    known = [(name, one) for name, one in found.items() if np.ndim(one.value) == 0]
    rows = [[name, number(one.value), f"{number(one.low)} to {number(one.high)}"] for name, one in known]
    head = ("quantity", "value", f"{100 * found.level:g} % interval")
    spans = [Span(name, float(one.value), float(one.low), float(one.high)) for name, one in known]
    return Card(text(repr(found).partition("\n")[0], 300), head, rows, _forest(spans, "intervals"))


def _comparison(found: Comparison) -> Card:
    rows = [[f"{row.rank}{'=' if row.tied else ''} {row.system}", number(row.value),
             f"{number(row.low)} to {number(row.high)}"] for row in found.ranks()]  # fmt: skip
    differences = found.of(found.headline)
    spans = [Span(f"{one.first} − {one.second}", one.value, one.low, one.high) for one in differences]
    picture = _forest(spans, "differences with their intervals", 0.0)
    return Card(text(found.sentence, 600), ("rank", "value", "interval"), rows, picture)


def _rule(rule: Rule) -> Card:
    what = "Accept everything" if rule.accept_all else f"Accept the scores above {number(rule.threshold)}"
    guarantee = rule.guarantee
    told = f"{what}: {rule.criterion if guarantee is None else guarantee}"
    return _model(rule)._replace(sentence=text(f"{told}.", 400), picture="")


def _model(model: Model) -> Card:
    training = [[name.replace("_", " "), _said(value)] for name, value in model.training.items()]
    parameters = [[name, _said(getattr(model, name))] for name in model._parameters]
    short_rows = [row for row in (*parameters, *training) if 0 < len(row[1]) <= 40]
    first_sentence = (type(model).__doc__ or "").partition("\n")[0]
    return Card(text(f"{type(model).__name__}: {first_sentence}", 300), ("", ""), short_rows, _map(model))


def _said(value: object) -> str:
    if value is None:
        return ""
    if isinstance(value, float | int) and not isinstance(value, bool):
        return number(value)
    if isinstance(value, np.ndarray):
        return f"{value.size} numbers" if value.size > 4 else ", ".join(map(number, value.ravel().tolist()))
    return str(value)


def _map(model: Model) -> str:
    """The llr of each score, over the range of scores that the model covers."""
    try:
        grid, llrs = calibration_line(cast("Calibrator", model), 81)
    except Exception:  # not a map of one score: a fusion, a rule, several classes
        return ""
    if not np.isfinite(llrs).any():
        return ""
    return _lines([(grid, llrs, _stroke(_NONTARGET)), (grid, np.zeros(len(grid)), _GUIDE)], "llr of each score")


def calibration_line(model: Calibrator, count: int = 401) -> tuple[Floats, Floats]:
    """Scores within the range of a calibrator's parameters, or where its llrs stay within 6, and their llrs."""
    from tercet.calibration.kernel_density import KernelDensity
    from tercet.calibration.two_class import Gaussian

    if hasattr(model, "thresholds") and len(model.thresholds):
        known = model.thresholds[np.isfinite(model.thresholds)]
        margin = 0.1 * float(np.ptp(known)) or 1.0
        ends = float(known.min()) - margin, float(known.max()) + margin
    elif isinstance(model, Gaussian):
        reach = 3.0 * max(model.target_deviation, model.nontarget_deviation)
        ends = (
            min(model.target_mean, model.nontarget_mean) - reach,
            max(model.target_mean, model.nontarget_mean) + reach,
        )
    elif isinstance(model, KernelDensity):
        both = np.concatenate((model.target_scores, model.nontarget_scores))
        ends = float(both.min()), float(both.max())
    elif model.method == "beta":
        ends = 0.001, 0.999
    else:
        ends = _end(model, -1.0), _end(model, 1.0)
    grid = np.linspace(*ends, count)
    return grid, np.asarray(model(grid), float)


def _end(model: Calibrator, side: float) -> float:
    """How far to go on one side until the llr is large, or no longer moves."""
    at = side
    while abs(at) < 2.0**40:
        here, further = np.asarray(model(np.array([at, 2.0 * at])), float).tolist()
        if abs(here) >= _REACH or here == further:
            return at
        at *= 2.0
    return at


def _decision_curve(curve: DecisionCurve) -> Card:
    best = np.maximum(curve.treat_all, curve.treat_none)
    better = curve.threshold[curve.net_benefit > best]
    told = "At no threshold probability are the scores worth more than treating all or none."
    if len(better):
        told = (
            f"Worth more than treating all or none at {len(better)} of {len(curve.threshold)} threshold probabilities, "
            f"between {number(better.min())} and {number(better.max())}."
        )
    places = np.unique(np.linspace(0, len(curve.threshold) - 1, 6).astype(np.intp)).tolist()
    columns = (curve.threshold, curve.net_benefit, curve.treat_all)
    rows = [[number(float(column[place])) for column in columns] for place in places]
    x = curve.threshold
    top = 1.15 * max(float(curve.best_apparent.max()), curve.prevalence)
    lines = [(x, curve.treat_all, _GUIDE), (x, curve.treat_none, _GUIDE), (x, curve.net_benefit, _stroke(_NONTARGET))]
    picture = _lines(lines, "net benefit; dotted treating all and none", low=-0.1 * top, high=top)
    return Card(text(told, 300), ("threshold probability", "net benefit", "treat all"), rows, picture)


_CARDS: dict[str, Callable[..., Card]] = {
    "Trials": _trials, "Application": _application, "MulticlassApplication": _multiclass_application,
    "Confusion": _confusion, "Result": _result, "MulticlassResult": _multiclass_result, "Evaluation": _evaluation,
    "MulticlassEvaluation": _evaluation, "Intervals": _intervals, "Comparison": _comparison, "Model": _model,
    "Rule": _rule, "DecisionCurve": _decision_curve,
}  # fmt: skip
