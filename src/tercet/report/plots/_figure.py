"""tc.plot: one figure of one system or of several, on the user's axes or on its own."""

from __future__ import annotations

import math
import os
import re
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, cast, get_args

import numpy as np

from tercet._numeric.records import Record
from tercet._numeric.validation import chosen, flag, label_list, listed, number, positive, shown
from tercet._numeric.validation import path as checked_path
from tercet._typing import JSON, Array
from tercet.calibration.assessment import CorpDiagram
from tercet.calibration.two_class import Calibrator
from tercet.conditions import Conditions
from tercet.deployment.abstention import RiskCoverage
from tercet.deployment.gaps import GroupGaps
from tercet.deployment.prevalence import Prevalence
from tercet.deployment.rules import Rule
from tercet.deployment.sweeping import Sweep
from tercet.errors import InputError, did_you_mean
from tercet.evaluation import Evaluation, MulticlassEvaluation, RiskCurve
from tercet.io.write import whole_file
from tercet.metrics.counting import CountReport
from tercet.metrics.net_benefit import DecisionCurve
from tercet.metrics.spoofing_curve import SpoofingCurve, TandemEerCurve
from tercet.recognizers.gaussian import GaussianRecognizer
from tercet.report.plots import _curves, _decisions, _scores
from tercet.report.plots._canvas import MOST_SYSTEMS, Canvas, Size, inches, look_of, name_of, settings, short_names
from tercet.uncertainty.case_costs import CaseCostCurve
from tercet.uncertainty.comparison import Comparison
from tercet.uncertainty.simultaneous import DifferenceBand, NetBenefitBand

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

    from tercet.uncertainty.bands import Bands, RocBand

Band: TypeAlias = "Bands | RocBand | NetBenefitBand"
Drawable: TypeAlias = (
    Evaluation | MulticlassEvaluation | DecisionCurve | RiskCoverage | CorpDiagram | Sweep | Comparison | Conditions
    | Calibrator | GaussianRecognizer | RiskCurve | GroupGaps | Prevalence | CountReport | CaseCostCurve
    | DifferenceBand | SpoofingCurve | TandemEerCurve
)  # fmt: skip
FORMATS = ("png", "svg", "pdf")
_DATE = {"svg": "Date", "pdf": "CreationDate"}
_PANEL = 1.5  # inches that a panel needs for its ticks
_LETTERS = 11  # of a panel's title per inch
_LEGEND_LINE = 0.18  # inches of height for each further line of the legend
_LEGEND_OUTSIDE = 4  # with this many systems the legend of a user's axes is put beside them


class Kind(NamedTuple):
    """A kind of figure: its title, how it is drawn, what it can overlay, and which options it has."""

    title: str
    draw: Callable[..., None]
    overlaid: bool = False
    needs_llr: bool = False
    options: tuple[str, ...] = ()
    of: type | tuple[type, ...] = Evaluation


KINDS: dict[str, Kind] = {
    "roc": Kind("ROC", _curves.roc, overlaid=True, options=("bands", "sigma", "log")),
    "det": Kind("DET", _curves.det, overlaid=True, options=("bands", "sigma", "log", "rates")),
    "precision-recall": Kind("Precision and recall", _curves.precision_recall, overlaid=True),
    "errors": Kind("Errors at every threshold", _curves.errors),
    "histogram": Kind("Scores by class", _scores.histogram, options=("log", "density", "rule")),
    "bayes-error": Kind("Bayes error plot", _curves.bayes_error, overlaid=True, options=("bands", "parts")),
    "cost-by-threshold": Kind("Cost at every threshold", _curves.cost_by_threshold),
    "cost-curve": Kind("Cost curve", _curves.cost_curve, overlaid=True),
    "reliability": Kind("Reliability", _scores.reliability, overlaid=True, needs_llr=True, options=("bands",)),
    "calibration-map": Kind("Calibration map", _scores.calibration_map, overlaid=True),
    "tippett": Kind("Tippett plot", _scores.tippett, overlaid=True, needs_llr=True),
    "cross-entropy": Kind("Empirical cross-entropy", _scores.cross_entropy, overlaid=True, needs_llr=True),
    "confusion": Kind(
        "Decisions by class", _decisions.confusion, needs_llr=True, options=("application", "normalise"),
        of=(Evaluation, MulticlassEvaluation),
    ),
    "decision-curve": Kind(
        "Decision curve", _decisions.decision_curve, overlaid=True, options=("bands",), of=DecisionCurve
    ),
    "case-costs": Kind("Costs per case", _decisions.case_costs, overlaid=True, of=CaseCostCurve),
    "cost-difference": Kind("Difference in cost", _decisions.cost_difference, overlaid=True, of=DifferenceBand),
    "risk-coverage": Kind("Risk and coverage", _decisions.risk_coverage, overlaid=True, of=RiskCoverage),
    "corp": Kind("Reliability (CORP)", _decisions.corp, of=CorpDiagram),
    "brier-curve": Kind("Brier curve", _curves.brier_curve, overlaid=True, needs_llr=True),
    "posteriors": Kind(
        "Posteriors and decisions", _scores.posteriors, needs_llr=True, options=("application",),
        of=(Evaluation, GaussianRecognizer),
    ),
    "score-to-llr": Kind("Calibration map", _scores.score_to_llr, overlaid=True, of=Calibrator),
    "risk-curve": Kind("Risk along a prior", _scores.risk_curve, overlaid=True, of=RiskCurve),
    "forest": Kind("Intervals", _decisions.forest, options=("quantity",), of=(Comparison, Conditions, GroupGaps)),
    "prevalence": Kind("Share of targets", _decisions.prevalence, overlaid=True, of=Prevalence),
    "count": Kind("Decisions by class", _decisions.count, options=("normalise",), of=CountReport),
    "t-dcf": Kind("Tandem detection cost", _decisions.t_dcf, overlaid=True, of=SpoofingCurve),
    "a-dcf": Kind("Detection cost of three classes", _decisions.a_dcf, overlaid=True, of=SpoofingCurve),
    "t-eer": Kind("Tandem equal error rate", _decisions.t_eer, of=TandemEerCurve),
    "sweep": Kind("Costs over a grid of models", _decisions.sweep, options=("x",), of=Sweep),
}  # fmt: skip
_NEED_APPLICATIONS = ("confusion", "cost-by-threshold", "posteriors")
_MOST_PANELS = 16


def _types(kind: Kind) -> tuple[type, ...]:
    return kind.of if isinstance(kind.of, tuple) else (kind.of,)


_DRAWN = tuple(dict.fromkeys(one for kind in KINDS.values() for one in _types(kind)))


@dataclass(frozen=True, eq=False, repr=False)
class Plot(Record):
    """A figure that was drawn; a notebook displays it.

    Attributes
    ----------
    ax_ : matplotlib.axes.Axes
        The axes that were drawn on.
    figure_ : matplotlib.figure.Figure
        Their figure.
    kind : str
        The kind of figure.
    data : dict of ndarray
        The drawn numbers as columns "system", "series", "x" and "y", one row per point; `pandas.DataFrame(plot.data)`
        makes a data frame of them.

    Examples
    --------
    >>> import tercet as tc
    >>> drawn = tc.plot(tc.evaluate(tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3], [1, 1, 0, 0]), [(0.5, 1, 1)]), "roc")
    >>> drawn.kind, len(drawn.figure_.axes)
    ('roc', 1)
    """

    ax_: Axes
    figure_: Figure
    kind: str
    data: dict[str, Array]

    def __repr__(self) -> str:
        systems = len(set(self.data["system"].tolist()))
        return f"Plot: {self.kind} of {systems} system{'s' if systems != 1 else ''}, {len(self.data['x'])} points"

    def _repr_html_(self) -> str:
        from base64 import b64encode
        from io import BytesIO

        buffer = BytesIO()
        self.figure_.savefig(buffer, format="png", dpi=160)
        width = round(96 * self.figure_.get_figwidth())
        return (
            f'<img width="{width}" alt="{KINDS[self.kind].title}" '
            f'src="data:image/png;base64,{b64encode(buffer.getvalue()).decode()}">'
        )

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the figure to a file, whole or not at all.

        Parameters
        ----------
        path : path
            Its ending names the format: .png, .svg or .pdf.

        Returns
        -------
        Path
            Where it was written.
        """
        return save(self.figure_, path)


def plot(
    evaluations: Drawable | Sequence[Drawable] | Mapping[str, Drawable],
    kind: str,
    *,
    ax: Axes | None = None,
    labels: Sequence[str] | None = None,
    colors: Sequence[str] | None = None,
    size: Size | None = None,
    title: str | bool | None = None,
    xlim: tuple[float, float] | None = None,
    ylim: tuple[float, float] | None = None,
    legend: bool = True,
    path: str | os.PathLike[str] | None = None,
    bands: Band | Sequence[Band] | None = None,
    sigma: float | None = None,
    parts: bool | None = None,
    log: bool | None = None,
    density: _scores.Density | None = None,
    rule: Rule | None = None,
    application: object = None,
    normalise: _decisions.Normalise | None = None,
    quantity: str | None = None,
    x: str | None = None,
    rates: tuple[str, str] | None = None,
    **unknown: object,
) -> Plot:
    """Draw one figure of one system, or of several systems in one figure.

    Parameters
    ----------
    evaluations : Evaluation, list of Evaluation, or dict
        What to draw. A dict names the systems. An evaluation of several classes with one_vs_rest=True is drawn class by
        class. Other kinds draw other results: "decision-curve", "risk-coverage", "corp", "risk-curve" and "sweep" what
        the functions of these names give, "forest" what `compare`, `by_condition` and `group_gaps` give, "prevalence"
        what `estimate_prevalence` gives, "count" what `count_report` gives, "case-costs" what `case_cost_curve` gives,
        "cost-difference" what `difference_band` gives, "t-dcf", "a-dcf" and "t-eer" what
        `t_dcf_curve`, `a_dcf_curve` and `t_eer_curve` of `tercet.spoofing` give, "score-to-llr" calibrators.
    kind : str
        One of "roc", "det", "precision-recall", "errors", "histogram", "bayes-error", "cost-by-threshold",
        "cost-curve", "brier-curve", "reliability", "calibration-map", "tippett", "cross-entropy", "confusion",
        "posteriors", "decision-curve", "risk-coverage", "corp", "score-to-llr", "risk-curve", "forest",
        "prevalence", "count", "sweep", "case-costs", "cost-difference", "t-dcf", "a-dcf", "t-eer".
    ax : matplotlib Axes, optional
        Axes to draw on; by default a new figure is made.
    labels : list of str, optional
        Names of the systems in the legend, instead of their own.
    colors : list of str, optional
        One colour per system.
    size : "column", "page" or (width, height), optional
        Size of a new figure: a journal's column (3.3 inches wide), its page (6.9), or inches.
    title : str or bool, optional
        A title, True for the name of the kind, False for none. By default the name of the kind, and none in a column
        or on axes of yours.
    xlim, ylim : (float, float), optional
        Ends of the axes.
    legend : bool, default True
        Whether systems are named.
    path : path, optional
        Also write the figure there (.png, .svg, .pdf).
    bands : Bands, RocBand, NetBenefitBand or list, optional
        What `tercet.uncertainty.bands` gives, one per system ("roc", "det", "bayes-error", "reliability"); for a band
        that holds at all points at once what `roc_band(trials, simultaneous=True)` gives ("roc", "det") or
        `net_benefit_band` ("decision-curve").
    sigma : float, optional
        Boxes of this many standard deviations around the decisions ("roc", "det").
    parts : bool, optional
        The share of misses and false alarms in the cost ("bayes-error").
    log : bool, optional
        Logarithmic scale: of the density ("histogram"), the false positive rate ("roc"), both rates ("det").
    density : {"kernel", "gaussian"}, optional
        A density over the bars ("histogram").
    rule : Rule, optional
        Drawn at its threshold ("histogram").
    application : int or "all", optional
        The number of the operating point ("confusion", "posteriors"), "all" for one matrix each ("confusion"); the
        application itself for a recognizer ("posteriors").
    normalise : {"class", "decision", "all"}, optional
        Counts as shares of the class, of the decision or of all ("confusion", "count").
    quantity : str, optional
        Such as "applications.0.dcf" or "auc"; "fnr", "fpr", "acceptance_rate" or "dcf_u" of group gaps ("forest").
    x : str, optional
        The parameter of the grid along the axis ("sweep").
    rates : pair of str, optional
        What to call the false positive and the false negative rate, such as ("APCER", "BPCER") ("det").
    **unknown
        Refused, with the list of keywords.

    Returns
    -------
    Plot
        With `ax_`, `figure_` and the drawn numbers in `data`; a notebook displays it.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> roc = tc.plot(tc.evaluate(trials), "roc")
    >>> roc.ax_.get_ylabel(), [round(float(end), 2) for end in roc.figure_.get_size_inches()]
    ('True positive rate', [5.6, 4.6])
    """
    if path is not None:
        checked_path(path, "path")
    given, names = _systems(evaluations, labels)
    how = _kind(kind, given)
    options = {
        "bands": bands, "sigma": sigma, "parts": parts, "log": log, "density": density, "rule": rule,
        "application": application, "normalise": normalise, "quantity": quantity, "x": x, "rates": rates,
    }  # fmt: skip
    panels = _panels(kind, how, given, names, _options(kind, how, options | unknown, len(given)))
    frame = _Frame(ax, size, title, (xlim, ylim), colors, legend).checked(kind, panels)
    drawn = frame.draw(kind, how, panels, _room(kind, given))
    if path is not None:
        drawn.save(path)
    return drawn


class _Part(NamedTuple):
    """One system on one axes."""

    name: str
    result: Drawable
    options: dict[str, object]
    title: str = ""


class _Frame(NamedTuple):
    """What stands around the drawing: axes, size, title, ends of the axes, colours and legend."""

    ax: Axes | None
    size: Size | None
    title: str | bool | None
    ends: tuple[tuple[float, float] | None, tuple[float, float] | None]
    colors: Sequence[str] | None
    legend: bool

    def checked(self, kind: str, panels: Sequence[Sequence[_Part]]) -> _Frame:
        """Validates the arguments."""
        if self.title is not None and not isinstance(self.title, str | bool):
            raise InputError(f"title must be text, True, False or None, not {shown(self.title)}.")
        flag(self.legend, "legend")
        _check_colours(self.colors, max(map(len, panels)))
        if self.ax is not None and len(panels) > 1:
            raise InputError(f"{kind} has {len(panels)} panels here, which need a figure of their own: leave ax out.")
        return self

    def draw(self, kind: str, how: Kind, panels: Sequence[Sequence[_Part]], room: tuple[float, float]) -> Plot:
        """Every system on the axes of its panel, then titles and the legend."""
        own = self.ax is None
        with _style(self.size):
            every = _new_axes(self.size, room, len(panels)) if self.ax is None else [_checked_axes(self.ax)]
            canvas = Canvas(every[0], panels=len(panels))
            for axes, systems in zip(every, panels, strict=True):
                canvas.axes, canvas.systems = axes, len(systems)
                for place, part in enumerate(systems):
                    canvas.system, canvas.look = part.name, look_of(place, self.colors)
                    how.draw(canvas, part.result, **part.options)
                _limit(axes, *self.ends)
                if len(panels) > 1:
                    _name(axes, fill(name_of(part.title), max(round(_LETTERS * canvas.inches()), 10)), "small")
            if len(every) > 1:
                _share_words(every)
            _head(every, self.title, how.title, by_default=len(panels) == 1 and own and self.size != "column")
            if self.legend:
                _legend(every[0], canvas.keys, len(panels[0]), own=own)
        data = {key: np.array(column) for key, column in canvas.columns.items()}
        return Plot(every[0], _figure_of(every[0]), kind, data)


def _panels(
    kind: str, how: Kind, given: list[Drawable], names: list[str], each: list[dict[str, object]]
) -> list[list[_Part]]:
    """What is drawn on each axes: usually all systems on one; small multiples of applications or classes."""
    first = given[0]
    if kind == "confusion" and each[0].get("application") == "all":
        titles = [
            _decisions.application_name(row) for row in cast("Evaluation | MulticlassEvaluation", first).applications
        ]
        found = [[_Part(f"{names[0]}, {title}", first, {**each[0], "application": place}, title)]
                 for place, title in enumerate(titles)]  # fmt: skip
    elif isinstance(first, MulticlassEvaluation) and MulticlassEvaluation not in _types(how):
        labels = [name_of(label) for label in first.classes]
        named = ("other classes", "this class")  # in a legend that holds for every class
        alike = [replace(one, class_names=named) for one in first.versus]
        parts = [_Part(label, one, each[0], label) for label, one in zip(labels, alike, strict=True)]
        found = [parts] if how.overlaid else [[part] for part in parts]
    else:
        return [[_Part(*one) for one in zip(names, given, each, strict=True)]]
    if len(found) > _MOST_PANELS or len(found[0]) > MOST_SYSTEMS:
        raise InputError(f"{kind} would have {max(len(found), len(found[0]))} panels or lines: draw fewer.")
    return found


def _systems(given: object, labels: Sequence[str] | None) -> tuple[list[Drawable], list[str]]:
    """What to draw, and the name of each."""
    systems: list[Drawable]
    if isinstance(given, _DRAWN):
        systems, names = [cast("Drawable", given)], [name_of(_own_name(given))]
    elif isinstance(given, Mapping):
        systems, names = list(given.values()), [name_of(name) for name in given]
    else:
        systems = list(given) if isinstance(given, list | tuple) else [cast("Drawable", given)]
        names = short_names(_told_apart([_own_name(one) for one in systems]))
    if not systems:
        raise InputError("evaluations must hold at least one evaluation.")
    for one in systems:
        if not isinstance(one, _DRAWN):
            raise InputError(
                f"evaluations must be what tercet.evaluate or tercet.decision_curve returns, not "
                f"{type(one).__name__}: plot(evaluate(trials), kind)."
            )
    if len(systems) > MOST_SYSTEMS:
        raise InputError(f"A figure shows at most {MOST_SYSTEMS} systems, not {len(systems)}: draw some of them.")
    if labels is not None:
        if not _listed(labels, len(systems)):
            raise InputError(f"labels must be a list of {len(systems)} names, not {shown(labels)}.")
        names = [name_of(name) for name in label_list(labels, "labels")]
    return systems, names


def _told_apart(names: list[str | None]) -> list[str]:
    """Names of systems in a list: those without one are numbered, and so are those that share one."""
    if len(names) == 1:
        return [name_of(names[0])]
    called = [f"system {place}" if name is None else name_of(name) for place, name in enumerate(names, 1)]
    return [f"{name} ({place})" if name in called[: place - 1] else name for place, name in enumerate(called, 1)]


def _own_name(one: object) -> str | None:
    """The name of a result; calibrators are called by their kind."""
    if isinstance(one, DifferenceBand):
        return f"{one.first} − {one.second}"
    return type(one).__name__ if isinstance(one, Calibrator) else getattr(one, "name", None)


def _kind(kind: object, given: Sequence[Drawable]) -> Kind:
    if not isinstance(kind, str) or kind not in KINDS:
        hint = did_you_mean(kind, KINDS, 1) if isinstance(kind, str) else ""
        raise InputError(f"kind must be one of {', '.join(KINDS)}, not {shown(kind)}.{hint}")
    how = KINDS[kind]
    if len(given) > 1 and not how.overlaid:
        several = ", ".join(name for name, one in KINDS.items() if one.overlaid)
        raise InputError(f"{kind} shows one system; several can be drawn as {several}.")
    for one in given:
        if kind not in kinds_of(one):
            raise InputError(f"{kind} cannot be drawn of this result, which has {', '.join(kinds_of(one)) or 'none'}.")
    return how


def kinds_of(evaluation: object) -> list[str]:
    """The figures that a result has: raw scores have none that needs llrs.

    Several classes have the confusion matrix, and with one_vs_rest=True those of each class against the rest.

    Parameters
    ----------
    evaluation : Evaluation, MulticlassEvaluation, or another result that `tercet.plot` takes
        What is to be drawn.

    Returns
    -------
    list of str
        The kinds that `tercet.plot` takes.
    """
    raw = getattr(evaluation, "meaning", None) == "raw"
    without = hasattr(evaluation, "applications") and not evaluation.applications
    own = [
        name
        for name, kind in KINDS.items()
        if isinstance(evaluation, kind.of)
        and not (raw and kind.needs_llr)
        and not (without and name in _NEED_APPLICATIONS)
    ]
    versus = evaluation.versus if isinstance(evaluation, MulticlassEvaluation) else ()
    return own + (kinds_of(versus[0]) if versus else [])


def _options(kind: str, how: Kind, options: Mapping[str, object], count: int) -> list[dict[str, object]]:
    """The options of each system's drawing; one that the figure does not have is refused, with the list."""
    known = {name for one in KINDS.values() for name in one.options}
    for name, value in options.items():
        if name not in known:
            hint = did_you_mean(name, [*known, *_KEYWORDS], 1)
            raise InputError(f"plot has no keyword {name!r}: it has {', '.join((*_KEYWORDS, *sorted(known)))}.{hint}")
        if value is not None and name not in how.options:
            having = ", ".join(other for other, one in KINDS.items() if name in one.options)
            raise InputError(f"{name}= goes with {having}, not with {kind}.")
    each = [_checked({name: value for name, value in options.items() if name != "bands" and value is not None})] * count
    for name in ("bands", "sigma"):
        if options.get("log") and options.get(name) is not None:
            raise InputError(f"{name}= cannot be combined with log=True: leave one of them out.")
    if options.get("bands") is None:
        return each
    every = _bands(kind, options["bands"], count)
    return [own | {"bands": one} for own, one in zip(each, every, strict=True)]


_KEYWORDS = ("ax", "labels", "colors", "size", "title", "xlim", "ylim", "legend", "path")


def _checked(options: JSON) -> JSON:
    """The options of a figure, the number among them as a float."""
    for name in ("log", "parts"):
        flag(options.get(name, False), name)
    if "sigma" in options:
        options["sigma"] = positive(options["sigma"], "sigma")
    chosen(options.get("normalise", "all"), "normalise", get_args(_decisions.Normalise))
    chosen(options.get("density", "kernel"), "density", get_args(_scores.Density))
    if len(label_list(options.get("rates", ("", "")), "rates")) != 2:
        raise InputError(f"rates must be two names, not {shown(options['rates'])}.")
    return options


def _bands(kind: str, bands: object, count: int) -> list[Band]:
    """One band per system, of a type that the figure draws."""
    from tercet.uncertainty.bands import Bands, RocBand

    taken: tuple[tuple[type, ...], str] = ((Bands,), "tercet.uncertainty.bands(trials)")
    if kind in ("roc", "det"):
        taken = ((Bands, RocBand), "tercet.uncertainty.bands(trials) or roc_band(trials)")
    elif kind == "decision-curve":
        taken = ((NetBenefitBand,), "tercet.net_benefit_band(trials)")
    every: list[object] = list(bands) if isinstance(bands, list) or type(bands) is tuple else [bands]
    if len(every) != count:
        raise InputError(f"bands must be one for each of the {count} evaluations, not {len(every)}.")
    if not all(isinstance(one, taken[0]) for one in every):
        raise InputError(f"bands= of {kind} takes what {taken[1]} gives.")
    return cast("list[Band]", every)


def _check_colours(colors: Sequence[str] | None, count: int) -> None:
    if colors is None:
        return
    if not _listed(colors, count):
        raise InputError(f"colors must be a list of {count} colours, one per system, not {shown(colors)}.")
    _matplotlib()
    from matplotlib.colors import is_color_like

    for one in colors:
        if not is_color_like(one):
            raise InputError(f"colors must be colours that matplotlib knows, such as '#0072B2', not {shown(one)}.")


def _listed(values: object, count: int) -> bool:
    """Whether this is a list with one entry per system."""
    row = getattr(values, "ndim", 0) == 1  # an array or a series
    return (row or isinstance(values, list | tuple)) and len(values) == count  # type: ignore[arg-type]


def _matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError("Figures need matplotlib: pip install 'tercet[plot]'.") from None


def _style(size: object) -> AbstractContextManager[None]:
    """matplotlib's settings while a figure is drawn."""
    _matplotlib()
    from matplotlib import rc_context

    return rc_context(settings(inches(size)))  # type: ignore[arg-type]


def _new_axes(size: object, room: tuple[float, float], panels: int) -> list[Axes]:
    """Axes of a new figure: one, or a grid of small ones; those of the grid that are not needed are left out."""
    from matplotlib.figure import Figure

    wide, high = inches(size)
    across = max(min(math.ceil(math.sqrt(panels)), int(wide / _PANEL)), 1)
    down = -(-panels // across)
    figure = Figure(figsize=(wide + room[0], high * max(down / across, 0.6) + room[1]), layout="constrained")
    return [figure.add_subplot(down, across, place + 1) for place in range(panels)]


def _room(kind: str, given: Sequence[Drawable]) -> tuple[float, float]:
    """Inches that long class names need beside a confusion matrix, and many rows in a forest plot."""
    first = given[0]
    if isinstance(first, Comparison | Conditions):
        rows = len(first.of(first.headline)) if isinstance(first, Comparison) else len(first.results) + 2
        return 0.0, 0.2 * max(rows - 8, 0)
    if kind != "confusion":
        return 0.0, 0.0
    longest = max((len(name_of(name)) for name in getattr(first, "classes", ())), default=0)
    return 0.1 * max(longest - 12, 0), 0.1 * max(longest - 12, 0)


def _checked_axes(ax: object) -> Axes:
    from matplotlib.axes import Axes

    if not isinstance(ax, Axes):
        raise InputError(f"ax must be matplotlib axes, such as plt.subplots()[1], not {type(ax).__name__}.")
    if ax.name != "rectilinear":
        raise InputError(f"ax must have straight axes, not the projection {ax.name!r}.")
    return ax


def _figure_of(axes: Axes) -> Figure:
    figure = axes.get_figure()
    assert figure is not None
    return figure  # type: ignore[return-value]


def _head(every: list[Axes], title: str | bool | None, usual: str, *, by_default: bool) -> None:
    """The title of a figure: above its only axes, or above all of its panels."""
    words = title if isinstance(title, str) else usual if title is True or (title is None and by_default) else ""
    if words and len(every) > 1:
        _figure_of(every[0]).suptitle(name_of(words), parse_math=False)
    elif words:
        _name(every[0], name_of(words))


def _name(axes: Axes, title: str, fontsize: str | None = None) -> None:
    axes.set_title(title, loc="left", fontsize=fontsize).set_parse_math(False)


def _share_words(every: list[Axes]) -> None:
    """Panels name their axes once: below the lowest of each column, and beside the first of each row."""
    for place, axes in enumerate(every):
        spec = axes.get_subplotspec()
        if spec is not None and place + spec.get_gridspec().ncols < len(every):
            axes.set_xlabel("")
        if spec is not None and not spec.is_first_col():
            axes.set_ylabel("")


def _limit(axes: Axes, xlim: object, ylim: object) -> None:
    """Ends of the axes, where they were asked for."""
    for name, limit, put in (("xlim", xlim, axes.set_xlim), ("ylim", ylim, axes.set_ylim)):
        if limit is None:
            continue
        ends = [number(end, name) for end in listed(limit, name)]
        if len(ends) != 2 or ends[0] == ends[1] or not all(map(math.isfinite, ends)):
            raise InputError(f"{name} must be two different finite ends (low, high), not {shown(limit)}.")
        put(*ends)


def _legend(axes: Axes, keys: Mapping[str, Line2D], systems: int, *, own: bool) -> None:
    """The legend: outside the axes in a new figure, and beside a user's axes from four systems on."""
    handles, names = axes.get_legend_handles_labels()
    handles, names = [*handles, *keys.values()], [*names, *keys]
    if not handles:
        return
    if own:
        columns = _legend_columns(names, _figure_of(axes).get_figwidth())
        lines = -(-len(names) // columns)
        _figure_of(axes).set_figheight(_figure_of(axes).get_figheight() + _LEGEND_LINE * (lines - 1))
        box = _figure_of(axes).legend(handles, names, loc="outside lower center", ncols=columns, frameon=False)
    elif systems >= _LEGEND_OUTSIDE:
        box = axes.legend(handles, names, loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False)
    else:
        box = axes.legend(handles, names, loc="best", framealpha=0.85, edgecolor="none")  # lines do not cross the words
    for text in box.get_texts():
        text.set_parse_math(False)
        text.set_text(text.get_text().replace(r"\$", "$"))


def _legend_columns(names: Sequence[str], wide: float) -> int:
    """How many columns of a legend fit into this many inches."""
    from matplotlib import rcParams
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=rcParams["legend.fontsize"])
    em = font.get_size_in_points()
    width = text_to_path.get_text_width_height_descent
    wants = [max(width(line, font, ismath=False)[0] for line in name.split("\n")) for name in names]
    beside = em * (rcParams["legend.handlelength"] + rcParams["legend.handletextpad"])
    between = em * rcParams["legend.columnspacing"]
    border = 2.0 * em * (rcParams["legend.borderpad"] + rcParams["legend.borderaxespad"])
    for columns in range(len(names), 1, -1):
        taken = sum(float(column.max()) + beside + between for column in np.array_split(wants, columns))
        if taken - between + border <= 72.0 * wide:
            return columns
    return 1


def save(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write a figure whole or not at all; the ending names the format, and the same figure gives the same bytes.

    Parameters
    ----------
    figure : matplotlib Figure
        What is written.
    path : path
        Where it goes; it ends in .png, .svg or .pdf.

    Returns
    -------
    Path
        The path.
    """
    target = Path(checked_path(path, "path"))
    ending = target.suffix[1:].lower()
    if ending not in FORMATS:
        endings = ", ".join(f".{one}" for one in FORMATS)
        raise InputError(f"The file of a figure must end in {endings}, not {name_of(target.name)!r}.")
    from matplotlib import rc_context

    metadata = None if ending == "png" else {_DATE[ending]: None}
    with (
        whole_file(target) as out,
        warnings.catch_warnings(),
        rc_context(settings((figure.get_figwidth(), figure.get_figheight()))),  # type: ignore[arg-type]
    ):
        warnings.filterwarnings("ignore", "constrained_layout not applied")  # limits far from every curve
        figure.savefig(out, format=ending, dpi=300 if ending == "png" else 100, metadata=metadata)
    return target


def save_all(
    evaluations: Evaluation | MulticlassEvaluation | Sequence[Evaluation | MulticlassEvaluation],
    folder: str | os.PathLike[str],
    formats: Iterable[str] = ("png",),
    *,
    bands: Bands | Sequence[Bands | None] | None = None,
    sigma: float | None = None,
) -> list[Path]:
    """Write every figure of every evaluation into a folder, and those of all two-class systems together.

    Parameters
    ----------
    evaluations : Evaluation or list of Evaluation
        What to draw.
    folder : path
        Where to; made if it is not there.
    formats : iterable of str
        "png", "svg", "pdf".
    bands : Bands or list of Bands, optional
        Bands of each evaluation, drawn where a figure can show them.
    sigma : float, optional
        Boxes of this many standard deviations on ROC and DET.

    Returns
    -------
    list of Path
        The files.
    """
    given = list(evaluations) if isinstance(evaluations, list | tuple) else [evaluations]
    around = list(bands) if isinstance(bands, list | tuple) else [bands] * len(given)
    into = Path(folder)
    into.mkdir(parents=True, exist_ok=True)
    endings, made = list(formats), []
    for prefix, results, own in _jobs(given, around):
        for kind in _kinds(results):
            options = {"bands": own, "sigma": sigma} if all(one is not None for one in own) else {"sigma": sigma}
            kept = {name: value for name, value in options.items() if name in KINDS[kind].options}
            figure = plot(results, kind, **kept).figure_  # type: ignore[arg-type]
            made += [save(figure, into / f"{prefix}{kind}.{ending}") for ending in endings]
    return made


def _jobs(given: list[object], around: list[object]) -> list[tuple[str, list[object], list[object]]]:
    """Each system alone, then all two-class systems together."""
    jobs = [
        (f"{_file_name(getattr(one, 'name', None), place)}-", [one], [around[place]]) for place, one in enumerate(given)
    ]
    two = [place for place, one in enumerate(given) if isinstance(one, Evaluation)]
    if len(two) > 1:
        jobs.append(("all-", [given[place] for place in two], [around[place] for place in two]))
    return jobs


def _kinds(results: list[object]) -> list[str]:
    shared = [kind for kind in KINDS if all(kind in kinds_of(one) for one in results)]
    return shared if len(results) == 1 else [kind for kind in shared if KINDS[kind].overlaid]


def _file_name(name: str | None, place: int) -> str:
    """A name that every file system accepts; the number distinguishes systems."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", name or "system").strip("-")[:40]
    return f"{place + 1}-{plain or 'system'}"
