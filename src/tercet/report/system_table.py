"""tc.table: systems in rows, chosen quantities in columns; and results as data frames."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal, TypeAlias, get_args

from tercet._numeric.validation import chosen, instance, listed, text
from tercet._typing import JSON, Value
from tercet.errors import InputError
from tercet.evaluation import Evaluation, MulticlassEvaluation
from tercet.report import tables
from tercet.report.quantities import DEFAULT, Facts, asked, facts_of, is_held
from tercet.report.terminal import text_of, width
from tercet.report.text import harmless

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

Format: TypeAlias = Literal["text", "markdown", "latex", "html", "tsv"]
Library: TypeAlias = Literal["pandas", "polars", "pyarrow"]
AnyEvaluation: TypeAlias = Evaluation | MulticlassEvaluation


class TableText(str):
    """A table as text: print it, or let a notebook show it.

    Examples
    --------
    >>> import tercet as tc
    >>> ev = tc.evaluate(tc.Trials.of_llr([2.0, 1.0, -1.0, -2.0], [1, 1, 0, 0]), [(0.5, 1, 1)])
    >>> print(tc.table({"good": ev}, "markdown", metrics=["auc"]))
    | system | operating point | AUC |
    | --- | --- | --- |
    | good | 1 in 2, costs 1 : 1 | 1.000 |
    """

    __slots__ = ("html",)
    html: str

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self.html


def table(
    evaluations: AnyEvaluation | Sequence[AnyEvaluation] | Mapping[str, AnyEvaluation],
    format: Format = "text",
    *,
    metrics: Sequence[str] | None = None,
    title: str | None = None,
) -> TableText:
    """A table of systems: one row per system, one column per quantity.

    Parameters
    ----------
    evaluations : Evaluation, list of Evaluation, or dict
        What `tercet.evaluate` returns; a dict names the systems. Evaluated with `ci`, the numbers have intervals.
    format : {"text", "markdown", "latex", "html", "tsv"}, default "text"
        LaTeX is a tabular for the package booktabs; names in other alphabets need XeLaTeX or LuaLaTeX. TSV holds every
        digit.
    metrics : list of str, optional
        Quantities as `tercet metrics` lists them. By default EER, minimum DCF, actual DCF and Cllr; of several classes
        accuracy, log-loss, risk and DCF.
    title : str, optional
        Above the table.

    Returns
    -------
    TableText
        A string that a notebook shows as a table. Among several systems at the same operating points the best of each
        column is marked (bold, * in text), and a dagger marks those whose interval contains the best value.

    Examples
    --------
    >>> import tercet as tc
    >>> good = tc.evaluate(tc.Trials.of_llr([2.0, 1.0, -1.0, -2.0], [1, 1, 0, 0]), [(0.5, 1, 1)])
    >>> poor = tc.evaluate(tc.Trials.of_llr([2.0, -1.0, 1.0, -2.0], [1, 1, 0, 0]), [(0.5, 1, 1)])
    >>> tc.table({"good": good, "poor": poor}, metrics=["auc", "dcf"])
                    actual
    system     AUC     DCF
    good    1.000*  0.000*
    poor     0.750   1.000
    *: the best of the column.
    """
    chosen(format, "format", get_args(Format))
    systems = _systems(evaluations)
    several = any(isinstance(one, MulticlassEvaluation) for one in systems.values())
    wanted = asked(metrics, ("accuracy", "log_loss", "risk", "dcf") if several else DEFAULT)
    held = [{**facts_of(one, wanted), "name": name} for name, one in systems.items()]
    if metrics is None:  # without operating points there are no costs
        wanted = tuple(one for one in wanted if is_held(held, one.name))
    for one in wanted:
        if not is_held(held, one.name):
            raise InputError(
                f"metrics: {one.name} does not exist for these evaluations (did evaluate have applications?)."
            )
    heading = None if title is None else text(title, "title")
    found = tables.metrics(held, wanted)
    note = tables.marks_note(found, "*" if format == "text" else "bold")
    html = _html(found, heading, tables.marks_note(found, "bold"))
    if format == "tsv":
        words = tables.tsv(held, (), wanted)
    elif format == "markdown":
        words = tables.markdown(held, (), heading, wanted)
    elif format == "latex":
        words = tables.latex(held, (), heading, wanted)
    else:
        above = "" if heading is None else f"{harmless(heading, 200)}\n"
        words = html if format == "html" else above + text_of(found, note, width())
    made = TableText(words)
    made.html = html
    return made


def _html(found: tables.Table, heading: str | None, note: str) -> str:
    above = "" if heading is None else f"<p>{escape(harmless(heading, 200))}</p>"
    return above + tables.html_table(found) + (f"<p>{escape(note)}</p>" if note else "")


def _systems(given: object) -> dict[str, AnyEvaluation]:
    """The evaluations by name; those without a name are numbered where there are several."""
    if isinstance(given, Mapping):
        pairs = [(text(name, "evaluations"), one) for name, one in given.items()]
    else:
        several = [given] if isinstance(given, Evaluation | MulticlassEvaluation) else listed(given, "evaluations")
        pairs = [
            (getattr(one, "name", None) or (f"system {place + 1}" if len(several) > 1 else "system"), one)
            for place, one in enumerate(several)
        ]
    if not pairs:
        raise InputError("evaluations must hold at least one evaluation.")
    for _, one in pairs:
        if not isinstance(one, Evaluation | MulticlassEvaluation):
            instance(one, Evaluation, "evaluations", "table([evaluate(trials, applications)]).")
    found: JSON = {}
    for place, (name, one) in enumerate(pairs):
        found[name if name not in found else f"{name} ({place + 1})"] = one
    return found


# Data frames


def frame(systems: Sequence[Facts], library: Library | None) -> pandas.DataFrame | polars.DataFrame | pyarrow.Table:
    """A data frame with one row per system and operating point, under the names of the JSON."""
    called = _library() if library is None else chosen(library, "library", get_args(Library))
    columns = {key: [_entry(key, value) for value in column] for key, column in tables.columns(systems).items()}
    try:
        made = import_module(called)
    except ImportError:
        raise InputError(f"library={called!r} is not installed: pip install {called}.") from None
    return made.table(columns) if called == "pyarrow" else made.DataFrame(columns)


def _entry(key: str, value: Value) -> Value:
    """A cell of a data frame: names as they are, numbers as floats, undefined ones missing."""
    return value if value is None or key in ("system", "meaning", "application", "dummy_action") else float(value)


def _library() -> Library:
    """pandas, else polars, else pyarrow, whose table every library reads by the Arrow PyCapsule interface."""
    for name in get_args(Library):
        if find_spec(name) is not None:
            return name  # type: ignore[no-any-return]
    raise InputError("to_frame needs pandas, polars or pyarrow: pip install pandas.")
