"""tc.plot: one figure of one system or of several, on the user's axes or on its own."""

from __future__ import annotations

import difflib
import math
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.validation import flag, listed, number, shown
from tercet._numeric.validation import path as checked_path
from tercet.calibration.assessment import CorpDiagram
from tercet.deployment.abstention import RiskCoverage
from tercet.deployment.sweeping import Sweep
from tercet.errors import InputError
from tercet.evaluation import Evaluation, MulticlassEvaluation
from tercet.metrics.net_benefit import DecisionCurve
from tercet.report.plots import _curves, _decisions, _net_benefit, _scores, _sweep, _tables
from tercet.report.plots._canvas import Canvas
from tercet.report.plots._style import MOST_SYSTEMS, Size, inches, look_of, name_of, settings, short_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from tercet.uncertainty.bands import Bands

Drawable: TypeAlias = Evaluation | MulticlassEvaluation | DecisionCurve | RiskCoverage | CorpDiagram | Sweep
FORMATS = ("png", "svg", "pdf")
_DATE = {"svg": "Date", "pdf": "CreationDate"}
_LEGEND_LINE = 0.18  # inches of height for each further line of the legend
_LEGEND_OUTSIDE = 4  # systems from which on the legend of a user's axes is put beside them


class Kind(NamedTuple):
    """A kind of figure: its title, how it is drawn, what it can overlay, and which options it has."""

    title: str
    draw: Callable[..., None]
    overlaid: bool = False
    needs_llr: bool = False
    options: tuple[str, ...] = ()
    of: type | tuple[type, ...] = Evaluation


KINDS: dict[str, Kind] = {
    "roc": Kind("ROC", _curves.roc, overlaid=True, options=("bands", "sigma")),
    "det": Kind("DET", _curves.det, overlaid=True, options=("bands", "sigma")),
    "precision-recall": Kind("Precision and recall", _curves.precision_recall, overlaid=True),
    "errors": Kind("Errors at every threshold", _curves.errors),
    "histogram": Kind("Scores by class", _scores.histogram, options=("log",)),
    "bayes-error": Kind("Bayes error plot", _curves.bayes_error, overlaid=True, options=("bands", "parts")),
    "cost-by-threshold": Kind("Cost at every threshold", _curves.cost_by_threshold),
    "cost-curve": Kind("Cost curve", _curves.cost_curve, overlaid=True),
    "reliability": Kind("Reliability", _scores.reliability, overlaid=True, needs_llr=True, options=("bands",)),
    "calibration-map": Kind("Calibration map", _scores.calibration_map, overlaid=True),
    "tippett": Kind("Tippett plot", _scores.tippett, needs_llr=True),
    "cross-entropy": Kind("Empirical cross-entropy", _scores.cross_entropy, needs_llr=True),
    "confusion": Kind(
        "Decisions by class", _tables.confusion, needs_llr=True, options=("application", "normalise"),
        of=(Evaluation, MulticlassEvaluation),
    ),
    "decision-curve": Kind("Decision curve", _net_benefit.decision_curve, overlaid=True, of=DecisionCurve),
    "risk-coverage": Kind("Risk and coverage", _decisions.risk_coverage, overlaid=True, of=RiskCoverage),
    "corp": Kind("Reliability (CORP)", _decisions.corp, of=CorpDiagram),
    "sweep": Kind("Costs over a grid of models", _sweep.sweep, options=("x",), of=Sweep),
}  # fmt: skip
_NEED_APPLICATIONS = ("confusion", "cost-by-threshold")


@dataclass(frozen=True, eq=False, repr=False)
class Plot:
    """A figure that was drawn; in a notebook it shows itself.

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
    """

    ax_: Axes
    figure_: Figure
    kind: str
    data: dict[str, NDArray[Any]]

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
    **options: object,
) -> Plot:
    """Draw one figure of one system, or of several systems in one figure.

    Parameters
    ----------
    evaluations : Evaluation, list of Evaluation, or dict
        What to draw. A dict names the systems. Decision curves for the kind "decision-curve", what
        `risk_coverage` and `corp_diagram` give for "risk-coverage" and "corp", evaluations of several classes for
        "confusion".
    kind : str
        One of "roc", "det", "precision-recall", "errors", "histogram", "bayes-error", "cost-by-threshold",
        "cost-curve", "reliability", "calibration-map", "tippett", "cross-entropy", "confusion", "decision-curve",
        "risk-coverage", "corp", "sweep".
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
    **options
        bands : what `tercet.uncertainty.bands` gives, one per system ("roc", "det", "bayes-error", "reliability").
        sigma : boxes of so many standard deviations around the decisions ("roc", "det").
        parts : the share of misses and false alarms in the cost ("bayes-error").
        log : logarithmic density ("histogram").
        application, normalise : which operating point, and counts as shares of the "class", the "decision" or "all"
        ("confusion").
        x : the parameter of the grid along the axis ("sweep").

    Returns
    -------
    Plot
        With `ax_`, `figure_` and the drawn numbers in `data`; it shows itself in a notebook.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> roc = tc.plot(tc.evaluate(trials), "roc")
    >>> roc.ax_.get_ylabel()
    'True positive rate'
    """
    flag(legend, "legend")
    if path is not None:
        checked_path(path, "path")
    given, names = _systems(evaluations, labels)
    how = _kind(kind, given)
    each = _options(kind, how, options, len(given))
    _check_colours(colors, len(given))
    with _style(size):
        axes = _new_axes(size, _room(kind, given)) if ax is None else _checked_axes(ax)
        canvas = Canvas(axes, systems=len(given))
        for place, one in enumerate(given):
            canvas.system, canvas.look = names[place], look_of(place, colors)
            how.draw(canvas, one, **each[place])
        _finish(axes, how, title, (xlim, ylim), own=ax is None, small=size == "column")
        if legend:
            _legend(axes, len(given), own=ax is None)
    drawn = Plot(axes, _figure_of(axes), kind, {key: np.array(column) for key, column in canvas.columns.items()})
    if path is not None:
        drawn.save(path)
    return drawn


def _systems(given: object, labels: Sequence[str] | None) -> tuple[list[Any], list[str]]:
    """What to draw, and the name of each."""
    if isinstance(given, Mapping):
        systems, names = list(given.values()), [name_of(name) for name in given]
    else:
        systems = list(given) if isinstance(given, list | tuple) else [given]
        names = [name_of(getattr(one, "name", None)) for one in systems]
        names = short_names(names)
    if not systems:
        raise InputError("evaluations must hold at least one evaluation.")
    for one in systems:
        if not isinstance(one, Evaluation | MulticlassEvaluation | DecisionCurve | RiskCoverage | CorpDiagram | Sweep):
            raise InputError(
                f"evaluations must be what tercet.evaluate or tercet.decision_curve returns, not "
                f"{type(one).__name__}: plot(evaluate(trials), kind)."
            )
    if len(systems) > MOST_SYSTEMS:
        raise InputError(f"A figure tells at most {MOST_SYSTEMS} systems apart, not {len(systems)}: draw some of them.")
    if labels is not None:
        if not _listed(labels, len(systems)):
            raise InputError(f"labels must be a list of {len(systems)} names, not {shown(labels)}.")
        names = [name_of(name) for name in labels]
    return systems, names


def _kind(kind: object, given: Sequence[Drawable]) -> Kind:
    if not isinstance(kind, str) or kind not in KINDS:
        near = difflib.get_close_matches(str(kind), KINDS, 1)
        hint = f" Did you mean {near[0]!r}?" if near else ""
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
    """The figures that a result has: raw scores have none that needs llrs, several classes the confusion matrix."""
    raw = getattr(evaluation, "meaning", None) == "raw"
    without = not getattr(evaluation, "applications", ())
    return [
        name
        for name, kind in KINDS.items()
        if isinstance(evaluation, kind.of)
        and not (raw and kind.needs_llr)
        and not (without and name in _NEED_APPLICATIONS)
    ]


def _options(kind: str, how: Kind, options: Mapping[str, object], count: int) -> list[dict[str, object]]:
    """The options of each system's drawing; one that the figure does not have is refused, with the list."""
    known = {name for one in KINDS.values() for name in one.options}
    for name, value in options.items():
        if name not in known:
            near = difflib.get_close_matches(name, [*known, *_KEYWORDS], 1)
            hint = f" Did you mean {near[0]!r}?" if near else ""
            raise InputError(f"plot has no keyword {name!r}: it has {', '.join((*_KEYWORDS, *sorted(known)))}.{hint}")
        if value is not None and name not in how.options:
            having = ", ".join(other for other, one in KINDS.items() if name in one.options)
            raise InputError(f"{name}= goes with {having}, not with {kind}.")
    each = [{name: value for name, value in options.items() if name != "bands" and value is not None}] * count
    _check_options(each[0])
    bands = options.get("bands")
    return (
        each if bands is None else [own | {"bands": one} for own, one in zip(each, _bands(bands, count), strict=True)]
    )


_KEYWORDS = ("ax", "labels", "colors", "size", "title", "xlim", "ylim", "legend", "path")


def _check_options(options: Mapping[str, object]) -> None:
    if "sigma" in options and not number(options["sigma"], "sigma") > 0.0:
        raise InputError(f"sigma must be positive, not {shown(options['sigma'])}.")
    if "normalise" in options and options["normalise"] not in ("class", "decision", "all"):
        raise InputError(f'normalise must be "class", "decision" or "all", not {shown(options["normalise"])}.')


def _bands(bands: object, count: int) -> list[Bands]:
    from tercet.uncertainty.bands import Bands

    every = list(bands) if isinstance(bands, list | tuple) else [bands]
    if len(every) != count:
        raise InputError(f"bands must be one for each of the {count} evaluations, not {len(every)}.")
    found = [one for one in every if isinstance(one, Bands)]
    if len(found) != count:
        raise InputError("bands= takes what tercet.uncertainty.bands(trials) gives.")
    return found


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
    return isinstance(values, list | tuple) and len(values) == count


def _matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError("Figures need matplotlib: pip install 'tercet[plot]'.") from None


def _style(size: object) -> Any:
    """matplotlib's settings while a figure is drawn."""
    _matplotlib()
    from matplotlib import rc_context

    return rc_context(settings(inches(size)))  # type: ignore[arg-type]


def _new_axes(size: object, room: float) -> Axes:
    from matplotlib.figure import Figure

    wide, high = inches(size)
    return Figure(figsize=(wide + room, high + room), layout="constrained").add_subplot()


def _room(kind: str, given: Sequence[Drawable]) -> float:
    """Inches that long class names need beside a confusion matrix."""
    if kind != "confusion":
        return 0.0
    longest = max((len(name_of(name)) for name in getattr(given[0], "classes", ())), default=0)
    return 0.1 * max(longest - 12, 0)


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


def _finish(
    axes: Axes, how: Kind, title: str | bool | None, limits: tuple[object, object], *, own: bool, small: bool
) -> None:
    """Title and limits."""
    shown_title = title if isinstance(title, str) else how.title
    if title is True or isinstance(title, str) or (title is None and own and not small):
        words = axes.set_title(name_of(shown_title), loc="left")
        words.set_parse_math(False)
    for name, limit, put in (("xlim", limits[0], axes.set_xlim), ("ylim", limits[1], axes.set_ylim)):
        if limit is None:
            continue
        ends = [number(end, name) for end in listed(limit, name)]
        if len(ends) != 2 or ends[0] == ends[1] or not all(map(math.isfinite, ends)):
            raise InputError(f"{name} must be two different finite ends (low, high), not {shown(limit)}.")
        put(*ends)


def _legend(axes: Axes, systems: int, *, own: bool) -> None:
    """The legend: outside the axes in a figure of ours, and beside a user's axes from four systems on."""
    handles, names = axes.get_legend_handles_labels()
    if not handles:
        return
    if own:
        wide = _figure_of(axes).get_figwidth()
        longest = max(map(len, names))
        columns = max(1, min(len(names), int(wide * 11 / (longest + 6))))
        lines = -(-len(names) // columns)
        _figure_of(axes).set_figheight(_figure_of(axes).get_figheight() + _LEGEND_LINE * (lines - 1))
        box = _figure_of(axes).legend(handles, names, loc="outside lower center", ncols=columns, frameon=False)
    elif systems >= _LEGEND_OUTSIDE:
        box = axes.legend(handles, names, loc="upper left", bbox_to_anchor=(1.02, 1.0), frameon=False)
    else:
        box = axes.legend(handles, names, loc="best", frameon=False)
    for text in box.get_texts():
        text.set_parse_math(False)
        text.set_text(text.get_text().replace(r"\$", "$"))


def save(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Write a figure whole or not at all; the ending names the format, and the same figure gives the same bytes."""
    target = Path(checked_path(path, "path"))
    ending = target.suffix[1:].lower()
    if ending not in FORMATS:
        raise InputError(f"path must end in {', '.join('.' + one for one in FORMATS)}, not {name_of(target.name)!r}.")
    from matplotlib import rc_context

    temporary = target.with_name(f".{target.name[:80]}.{os.getpid()}")
    metadata = None if ending == "png" else {_DATE[ending]: None}
    try:
        with rc_context(settings((figure.get_figwidth(), figure.get_figheight()))):  # type: ignore[arg-type]
            figure.savefig(temporary, format=ending, dpi=300 if ending == "png" else 100, metadata=metadata)
        os.replace(temporary, target)
    finally:
        temporary.unlink(missing_ok=True)
    return target
