"""Pieces of HTML and SVG for the page, as they stand without JavaScript; every text goes through `text`."""

from __future__ import annotations

import html
import math
from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from tercet._typing import JSON
from tercet.report.text import harmless

if TYPE_CHECKING:
    from tercet.report.language import Words

Facts = JSON
Points = Iterable[tuple[float, float]]
_WIDTH, _HEIGHT = 420.0, 280.0
_LEFT, _TOP, _RIGHT, _BOTTOM = 46.0, 24.0, 20.0, 38.0
COLOURS = 8  # of systems, in the page's style


class Ready(str):
    """Markup that is finished: a table puts it into a cell as it is."""


def text(value: object, most: int = 64) -> str:
    """A text node: nothing in it can start an element or change the direction of the line."""
    return html.escape(harmless(value, most))


def tag(name: str, content: str, kind: str = "", **attributes: str) -> str:
    """An element around ready markup; attributes are our own words."""
    extra = "".join(f' {key.rstrip("_").replace("_", "-")}="{text(value, 400)}"' for key, value in attributes.items())
    return f"<{name}{f' class={chr(34)}{kind}{chr(34)}' if kind else ''}{extra}>{content}</{name}>"


def table(head: Sequence[str], rows: Iterable[Sequence[str]], caption: str = "", kind: str = "plain") -> str:
    """A table of texts (or of finished markup), the first cell of each row its title."""
    titles = "".join(tag("th", text(cell), scope="col") for cell in head)
    body = "".join(
        tag("tr", tag("th", _cell(row[0]), scope="row") + "".join(tag("td", _cell(cell)) for cell in row[1:]))
        for row in rows
    )
    told = tag("caption", text(caption, 400)) if caption else ""
    inside = tag("table", f"{told}<thead>{tag('tr', titles)}</thead><tbody>{body}</tbody>", kind)
    return wide(inside, caption or " ".join(head[:3]))


def wide(inside: str, label: str) -> str:
    """A box that scrolls sideways where a table is wider than the page, by keyboard too."""
    return tag("div", inside, "wide", tabindex="0", role="group", aria_label=label)


def _cell(cell: str) -> str:
    return cell if isinstance(cell, Ready) else text(cell)


def figure(title: str, words: str, drawing: str) -> str:
    """A figure with its heading and one line of explanation."""
    caption = tag("h3", text(title)) + tag("p", text(words, 300))
    return tag("figure", tag("figcaption", caption) + drawing)


class Drawing:
    """A small static chart in SVG: scales, a few ticks in words, lines."""

    def __init__(self, x: tuple[float, float], y: tuple[float, float], right: float = _RIGHT) -> None:
        self.x, self.y = x, y
        self.right = _WIDTH - right
        self.parts: list[str] = []

    def at(self, x: float, y: float) -> tuple[float, float]:
        """A point's place in the drawing; what lies outside the frame is moved onto it."""
        across, up = _part(x, *self.x), _part(y, *self.y)
        return _LEFT + across * (self.right - _LEFT), _HEIGHT - _BOTTOM - up * (_HEIGHT - _TOP - _BOTTOM)

    def ticks(self, across: dict[float, str], up: dict[float, str], words: tuple[str, str]) -> None:
        """Ticks with their labels, and what the axes mean."""
        for value, label in up.items():
            y = self.at(self.x[0], value)[1]
            self.parts.append(f'<path class="grid" d="M{_LEFT:g} {y:.1f}H{self.right:g}"/>')
            self.write(_LEFT - 6, y + 4, label, "soft end")
        for value, label in across.items():
            self.write(self.at(value, 0.0)[0], _HEIGHT - _BOTTOM + 17, label, "soft mid")
        self.write(0.0, _TOP - 10, words[1], "soft")
        self.write(self.right, _HEIGHT - 3, words[0], "soft end")

    def names(self, ends: Iterable[tuple[float, str, str]]) -> None:
        """Names where curves end on the right, pushed apart where they would touch."""
        last = _TOP - 15
        for y, name, kind in sorted((self.at(self.x[1], value)[1], name, kind) for value, name, kind in ends):
            last = max(y, last + 15)
            self.parts.append(f'<path class="{kind}" d="M{self.right + 6:g} {last:.1f}h10"/>')
            self.write(self.right + 20, last + 4, name if len(name) <= 12 else f"{name[:4]}…{name[-7:]}", "")

    def write(self, x: float, y: float, words: str, kind: str) -> None:
        """A word at a place in the drawing."""
        self.parts.append(tag("text", text(words), kind, x=f"{x:.1f}", y=f"{y:.1f}"))

    def line(self, points: Points, kind: str) -> None:
        """A line through points; those that a screen cannot tell apart are left out."""
        kept: list[tuple[float, float]] = []
        placed = [self.at(x, y) for x, y in points]
        for place, point in enumerate(placed):
            far = not kept or abs(point[0] - kept[-1][0]) + abs(point[1] - kept[-1][1]) >= 4.0
            if far or place == len(placed) - 1:
                kept.append(point)
        if kept:
            self.parts.append(f'<path class="{kind}" d="M{"L".join(f"{x:.0f} {y:.0f}" for x, y in kept)}"/>')

    def band(self, across: Sequence[float], edges: Iterable[Sequence[float | None]], kind: str) -> None:
        """What lies between two lines, in a light tint."""
        ends = [pair for pair in zip(across, *edges, strict=True) if None not in pair]
        there, back = ([self.at(row[0], float(row[side])) for row in ends] for side in (1, 2))
        outline = "L".join(f"{x:.0f} {y:.0f}" for x, y in [*there, *reversed(back)])
        self.parts.append(f'<path class="band {kind}" d="M{outline}Z"/>')

    def svg(self, label: str) -> str:
        """The finished drawing, with what it shows as its name."""
        box = f"0 0 {_WIDTH:g} {_HEIGHT:g}"
        return f'<svg viewBox="{box}" role="img" aria-label="{html.escape(label)}">{"".join(self.parts)}</svg>'


_HIGHEST = 1.2  # cost of the Bayes error plot: what lies above is cut off at the frame
_BANDED = 2  # systems; the bands of more ROC curves cover one another
_QUARTERS = {0.0: "0", 0.25: "25 %", 0.5: "50 %", 0.75: "75 %", 1.0: "100 %"}


def bayes_drawing(systems: Sequence[Facts], words: Words) -> str:
    """Actual (solid) and least (dashed) cost along the prior log-odds; deciding without the scores is 1."""
    grids = [system["bayes_plot"]["log_odds"] for system in systems]
    low, high = min(grid[0] for grid in grids), max(grid[-1] for grid in grids)
    shown = systems[:COLOURS]
    drawing = Drawing((low, high), (0.0, _HIGHEST), 100.0 if len(shown) > 1 else _RIGHT)
    across = {value: words.number(value) for value in (low, (low + high) / 2, high)}
    drawing.ticks(across, {0.0: "0", 0.5: words.number(0.5), 1.0: "1"}, (words("static.log_odds"), "DCF"))
    for place, system in enumerate(shown):
        plot = system["bayes_plot"]
        if plot.get("dcf_ci") is not None:
            drawing.band(plot["log_odds"], plot["dcf_ci"], f"c{place}")
        if plot["dcf"] is not None:
            for stretch in stretches_below(zip(plot["log_odds"], map(float, plot["dcf"]), strict=True), _HIGHEST):
                drawing.line(stretch, f"curve c{place}")
        drawing.line(zip(plot["log_odds"], map(float, plot["min_dcf"]), strict=True), f"curve dash c{place}")
    drawing.line([(low, 1.0), (high, 1.0)], "blind dot")
    if len(shown) > 1:
        ends = ((float(s["bayes_plot"]["min_dcf"][-1]), words.called(s)) for s in shown)
        drawing.names((value, name, f"curve c{place}") for place, (value, name) in enumerate(ends))
    return drawing.svg(words("cost_at_every_prior"))


def roc_drawing(systems: Sequence[Facts], words: Words) -> str:
    """True positive rate against false positive rate."""
    drawing = Drawing((0.0, 1.0), (0.0, 1.0))
    drawing.ticks(_QUARTERS, _QUARTERS, (words("axis.fpr"), words("axis.tpr")))
    for place, system in enumerate(systems[:COLOURS]):
        curve, band = system["curve"], system.get("bands", {}).get("roc")
        if band is not None and len(systems) <= _BANDED:
            found = ([None if fnr is None else 1.0 - float(fnr) for fnr in band[side]] for side in ("low", "high"))
            drawing.band([float(fpr) for fpr in band["fpr"]], found, f"c{place}")
        pairs = zip(curve["misses"], curve["false_alarms"], strict=True)
        points = [(f / curve["nontargets"], 1.0 - m / curve["targets"]) for m, f in pairs]
        drawing.line(reversed(points), f"curve c{place}")
    drawing.line([(0.0, 0.0), (1.0, 1.0)], "blind dot")
    return drawing.svg("ROC")


def histogram_drawing(system: Facts, words: Words) -> str:
    """The scores of both classes, each in parts of its own class."""
    found, edges = system["histogram"], system["histogram"]["edges"]
    if len(edges) < 2 or edges[0] == edges[-1]:
        return ""
    count = len(edges) - 1
    ends = [*range(0, count, max(1, count // 50)), count]
    sides = {key: [sum(found[key]["bins"][i:j]) for i, j in pairwise(ends)] for key in ("targets", "nontargets")}
    shares = {key: [count / (sum(bins) or 1) for count in bins] for key, bins in sides.items()}
    drawing = Drawing((edges[0], edges[-1]), (0.0, max(map(max, shares.values())) or 1.0))  # a private one may be empty
    labels = {value: words.number(value) for value in _round_numbers(edges[0], edges[-1])}
    drawing.ticks(labels, {}, (words("axis.score"), words("static.how_many")))
    for key, kind in (("nontargets", "outline non"), ("targets", "outline target")):
        steps = [(edges[edge], share) for pair, share in zip(pairwise(ends), shares[key], strict=True) for edge in pair]
        drawing.line(steps, kind)
    return drawing.svg(words("scores_by_class"))


def stretches_below(points: Points, top: float) -> list[list[tuple[float, float]]]:
    """The stretches of a line that lie at or below a height, cut where it crosses.

    >>> stretches_below([(0, 1.0), (2, 3.0), (3, float("inf")), (4, 1.0)], 2.0)
    [[(0, 1.0), (1.0, 2.0)], [(4.0, 2.0), (4, 1.0)]]
    """
    stretches: list[list[tuple[float, float]]] = []
    before: tuple[float, float] | None = None
    for point in points:
        inside = point[1] <= top
        if before is not None and inside != (before[1] <= top):
            (x, y), (far_x, far_y) = (point, before) if inside else (before, point)
            crossing = (x + (top - y) / (far_y - y) * (far_x - x), top)
            stretches.append([crossing]) if inside else stretches[-1].append(crossing)
        elif inside and before is None:
            stretches.append([])
        if inside:
            stretches[-1].append(point)
        before = point
    return stretches


def _part(value: float, low: float, high: float) -> float:
    """Where a value lies from low (0) to high (1); in halves, because scores may span all doubles."""
    inside = min(max(value, low), high)
    return (inside / 2 - low / 2) / (high / 2 - low / 2)


def _round_numbers(low: float, high: float) -> list[float]:
    """Four numbers or so to write along an axis, multiples of 1, 2 or 5."""
    rough = high / 4 - low / 4
    unit = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * unit for factor in (1, 2, 5, 10) if factor * unit >= rough)
    return [step * place for place in range(math.ceil(low / step), math.floor(high / step) + 1)]
