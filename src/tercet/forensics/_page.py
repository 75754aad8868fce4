"""The forensic validation sheet as one self-contained page: what was counted, measured and drawn, ready to be filed."""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from tercet import __version__
from tercet._numeric.validation import text as checked_text
from tercet.report.plots._canvas import COLOURS, NONTARGET, TARGET
from tercet.report.text import harmless

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from tercet.biometrics import Rate
    from tercet.forensics._sheet import Validation

_SOFT = "#555555"
_STYLE = """body{font:15px/1.45 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;color:#111}
table{border-collapse:collapse;margin:.6rem 0 1.4rem}
td,th{border-bottom:1px solid #bbb;padding:.25rem .8rem;text-align:left}
td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}figure{display:inline-block;margin:.4rem}
figure svg{width:27rem;max-width:100%;height:auto}@media print{body{max-width:none;margin:0}}"""


def sheet(validation: Validation, title: str | None = None) -> str:
    """The page of a validation: tables of numbers, then figures; nothing is loaded from elsewhere."""
    name = escape(harmless(f"Validation of {validation.name}" if title is None else checked_text(title, "title")))
    figures = "".join(f"<figure>{_svg(draw, validation)}</figure>" for draw in FIGURES.values())
    parts = [_counts(validation), _measures(validation), _misleading(validation), _bounds(validation)]
    parts.append(_made(validation))
    return (
        f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{name}</title>'
        f"<style>{_STYLE}</style></head>"
        f"<body><h1>{name}</h1>{''.join(parts)}<h2>Figures</h2>{figures}</body></html>\n"
    )


def _table(title: str, head: list[str], rows: list[list[str]], words: tuple[str, ...] = ()) -> str:
    """A table whose first column and those named in `words` hold text, the others numbers."""
    text = [place == 0 or name in words for place, name in enumerate(head)]
    titles = "".join(f"<th>{escape(cell)}</th>" for cell in head)
    body = "".join(
        "<tr>"
        + "".join(
            f"<td{'' if plain else ' class=n'}>{escape(cell)}</td>" for plain, cell in zip(text, row, strict=True)
        )
        + "</tr>"
        for row in rows
    )
    return f"<h2>{escape(title)}</h2><table><tr>{titles}</tr>{body}</table>"


def _counts(validation: Validation) -> str:
    rows = [[key.replace("_", "-"), f"{count:g}"] for key, count in validation.counts.items()]
    return _table("Trials", ["class", "trials"], rows)


def _measures(validation: Validation) -> str:
    rows = []
    for one in validation.measures:
        ends = "" if one.interval is None else f"{one.interval.low:.4f} to {one.interval.high:.4f}"
        method = "" if one.interval is None else one.interval.method
        rows.append(
            [one.name, "undefined" if one.value is None else f"{one.value:.4f}", ends, method, harmless(one.note, 600)]
        )
    level = f"{100 * validation.level:g} % interval"
    return _table(
        "Performance and calibration", ["measure", "value", level, "method", "note"], rows, ("method", "note")
    )


def _misleading(validation: Validation) -> str:
    rows = [
        [f"LR {row.strength:g}", *(_rate(rate) for rate in (row.targets, row.nontargets))]
        for row in validation.misleading.rows
    ]
    found = validation.misleading
    lowest, highest = found.lowest_target_lr, found.highest_nontarget_lr
    strongest = [f"{lowest:.3g}" if lowest < 1.0 else "none", f"{highest:.3g}" if highest > 1.0 else "none"]
    rows.append(["strongest misleading LR", *strongest])
    level = f"({100 * validation.level:g} %)"
    head = ["stronger than", f"same source: below 1 / LR {level}", f"different source: above LR {level}"]
    return _table("Misleading evidence", head, rows)


def _rate(rate: Rate) -> str:
    ends = "" if rate.interval is None else f" ({100 * rate.interval.low:.2f} to {100 * rate.interval.high:.2f})"
    return f"{rate.errors:g} of {rate.trials:g} = {100 * rate.value:.2f} %{ends}"


def _bounds(validation: Validation) -> str:
    names = {"elub": "ELUB", "iv": "invariance verification"}
    rows = []
    for one in validation.bounds:
        ends = [validation.bound_intervals.get(f"{one.method} {side}") for side in ("lower", "upper")]
        spans = ["" if own is None else f"{own.low:.3g} to {own.high:.3g}" for own in ends]
        none = "no LR other than 1 is supported" if one.lower == one.upper == 1.0 else ""
        rows.append([names[one.method], f"{one.lower:.3g}", spans[0], f"{one.upper:.3g}", spans[1], none])
    level = f"{100 * validation.level:g} % interval"
    head = ["method", "lowest LR", level, "highest LR", level, ""]
    return _table("Likelihood ratios that the data support", head, rows)


def _made(validation: Validation) -> str:
    """What is needed to make the sheet again."""
    unit = "one trial" if validation.by is None else f"all trials of one {harmless(validation.by)}"
    rows = [["unit of the intervals", unit], ["resamples", f"{validation.resamples:,}"]]
    rows += [["seed of the resampling", f"{validation.seed}"], ["tercet", __version__]]
    return _table("How the intervals were made", ["setting", "value"], rows, ("value",))


_TIPPETT = {
    "survival": ("share above", "Tippett plot"),
    "crossing": ("same source below, different source above", "Tippett plot, crossing"),
}


def tippett(axes: Axes, validation: Validation, kind: str) -> None:
    """The share of each class with an LR above a value; crossing: of the same source below it."""
    lines = next(one for one in validation.tippett if one.kind == kind)
    up, title = _TIPPETT[kind]
    axes.plot(lines.log10_lr, lines.targets, color=TARGET, label="same source")
    axes.plot(lines.log10_lr, lines.nontargets, color=NONTARGET, linestyle="--", label="different source")
    axes.axvline(0.0, color=_SOFT, linestyle=":", linewidth=1)
    axes.set(xlabel="log10 LR", ylabel=up, title=title, ylim=(-0.02, 1.02))
    axes.legend(frameon=False)


def cross_entropy(axes: Axes, validation: Validation) -> None:
    """Empirical cross-entropy along the prior, with its range."""
    found = validation.ece
    if found.low is not None and found.high is not None:
        axes.fill_between(found.log10_odds, found.low, found.high, color=COLOURS[0], alpha=0.15, linewidth=0,
                          label=f"{100 * validation.level:g} % range, at each prior")  # fmt: skip
    given = "LRs as given" if np.isfinite(found.actual).any() else "LRs as given: infinite"
    axes.plot(found.log10_odds, found.actual, color=COLOURS[0], label=given)
    axes.plot(found.log10_odds, found.minimum, color=COLOURS[0], linestyle="--", label="after PAV")
    axes.plot(found.log10_odds, found.neutral, color=_SOFT, linestyle=":", label="LR = 1")
    top = max(1.4, min(3.0, 1.05 * float(np.nanmax(found.actual[np.isfinite(found.actual)], initial=1.0))))
    axes.set(xlabel="prior log10 odds", ylabel="cross-entropy (bits)", title="Empirical cross-entropy", ylim=(0.0, top))
    axes.legend(frameon=False, ncol=2, loc="upper center")


def pav_plot(axes: Axes, validation: Validation) -> None:
    """PAV-calibrated LRs against the given LRs."""
    ends = np.concatenate((*validation.log10_lrs.values(), np.zeros(1)))
    low, high, worth = validation.pav
    low, high = np.maximum(low, ends.min()), np.minimum(high, ends.max())  # a block may begin at an LR of 0
    drawn = (low <= high) & np.isfinite(worth)
    x = np.column_stack((low[drawn], high[drawn])).ravel()
    label = "PAV" if drawn.any() else "PAV: 0 or infinite everywhere"
    axes.plot(x, np.repeat(worth[drawn], 2), color=COLOURS[0], label=label)
    axes.plot([ends.min(), ends.max()], [ends.min(), ends.max()], color=_SOFT, linestyle=":", label="identity")
    axes.set(xlabel="log10 LR", ylabel="log10 of the PAV-calibrated LR", title="PAV plot")
    axes.legend(frameon=False)


def histogram(axes: Axes, validation: Validation) -> None:
    """The log10 LRs of both classes."""
    every = np.concatenate(list(validation.log10_lrs.values()))
    edges = (
        np.linspace(every.min(), every.max(), 31) if len(every) and every.min() < every.max() else np.array([-1.0, 1.0])
    )
    looks = {"same_source": (TARGET, "-"), "different_source": (NONTARGET, "--")}
    highest = 0.0
    for key, values in validation.log10_lrs.items():
        counts = np.histogram(values, edges)[0] / max(len(values), 1)
        axes.stairs(counts, edges, color=looks[key][0], linestyle=looks[key][1], label=key.replace("_", " "))
        highest = max(highest, float(counts.max(initial=0.0)))
    axes.set(xlabel="log10 LR", ylabel="part of the finite LRs of the class", title="Likelihood ratios by class")
    axes.set_ylim(0.0, 1.2 * highest or 1.0)  # room for the legend
    axes.legend(frameon=False, ncol=2, loc="upper center")


FIGURES: dict[str, Callable[[Axes, Validation], None]] = {
    "tippett": partial(tippett, kind="survival"),
    "tippett-crossing": partial(tippett, kind="crossing"),
    "cross-entropy": cross_entropy,
    "pav": pav_plot,
    "histogram": histogram,
}


def _svg(draw: Callable[[Axes, Validation], None], validation: Validation) -> str:
    """A figure as SVG text, the same for the same numbers."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.6, 4.2), layout="constrained")
    draw(figure.add_subplot(), validation)
    out = io.StringIO()
    with rc_context({"svg.hashsalt": "tercet"}):
        figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]
