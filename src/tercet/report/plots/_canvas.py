"""A canvas: axes to draw on, and the numbers that were drawn, as a table."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from tercet._typing import JSON, Floats, Value
from tercet.report.plots._style import SOFT, Look, look_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

MOST_POINTS = 4000  # the most points that a line of a figure can show
_EDGE = (0, (1.0, 2.0))  # fine dots


@dataclass(eq=False)
class Canvas:
    """Axes, the system that is drawn now, and what has been drawn so far."""

    axes: Axes
    systems: int = 1
    panels: int = 1
    system: str = ""
    look: Look = field(default_factory=lambda: look_of(0))
    columns: dict[str, list[float | str]] = field(
        default_factory=lambda: {"system": [], "series": [], "x": [], "y": []}
    )  # one entry per drawn point
    keys: dict[str, Line2D] = field(default_factory=dict)  # what the legend explains after the systems
    _guides: list[object] = field(default_factory=list)  # those drawn, each once

    @property
    def is_empty(self) -> bool:
        """Whether nothing has been drawn yet."""
        return not self.columns["x"]

    def line(self, x: ArrayLike, y: ArrayLike, series: str, *, named: str | None = None, **style: Value) -> None:
        """A line of the system's look, recorded under the name of its series, in the legend if `named`."""
        look: JSON = {"color": self.look.color, "linestyle": self.look.dash} | style
        (drawn,) = self.axes.plot(x, y, **look)
        drawn.set_label(in_legend(named))
        self.record(series, x, y)

    def key(self, name: str) -> None:
        """Explains the last line or marker at the end of the legend, once for all systems."""
        self.keys.setdefault(name, self.axes.lines[-1])

    def guide(self, x: ArrayLike, y: ArrayLike, **style: Value) -> None:
        """A thin grey line to read by; it is not data."""
        look: JSON = {"color": SOFT, "linestyle": ":", "linewidth": 1.0, "label": "_"} | style
        if self._is_new((self.axes, np.asarray(x, float).tobytes(), np.asarray(y, float).tobytes())):
            self.axes.plot(x, y, **look)

    def level(self, y: float) -> None:
        """A horizontal line to read by."""
        if self._is_new((self.axes, y)):
            self.axes.axhline(y, color=SOFT, linestyle=":", linewidth=1.0)

    def _is_new(self, guide: object) -> bool:
        """Whether no system before drew this guide: drawn again, its dots would become a solid line."""
        if guide in self._guides:
            return False
        self._guides.append(guide)
        return True

    def point(self, x: float, y: float, series: str, *, filled: bool = False) -> None:
        """One marked point."""
        face = self.look.color if filled else "white"
        self.axes.plot(
            [x], [y], linestyle="", marker=self.look.marker, color=self.look.color, markerfacecolor=face,
            clip_on=False, zorder=4, label="_",
        )  # fmt: skip
        self.record(series, [x], [y])

    def band(self, x: ArrayLike, low: ArrayLike, high: ArrayLike, series: str, *, step: bool = False) -> None:
        """A light band with finely dotted edges, so that it shows in grey and over another."""
        colour, how = self.look.color, "post" if step else None
        self.axes.fill_between(x, low, high, facecolor=colour, alpha=0.16, linewidth=0, step=how)  # type: ignore[arg-type]
        self.edges(x, low, high, drawstyle="steps-post" if step else "default")
        self.record(f"{series} low", x, low)
        self.record(f"{series} high", x, high)

    def edges(self, x: ArrayLike, low: ArrayLike, high: ArrayLike, **style: Value) -> None:
        """Both edges of a band as fine lines; a solid one would look like the thin lines that are curves."""
        look: JSON = {"linestyle": _EDGE, "linewidth": 0.6, "alpha": 0.7, "label": "_"} | style
        for edge in (low, high):
            self.axes.plot(x, edge, color=self.look.color, **look)

    def record(self, series: str, x: ArrayLike, y: ArrayLike) -> None:
        """Keeps the drawn numbers."""
        points = np.broadcast_arrays(np.asarray(x, float), np.asarray(y, float))
        self.columns["x"].extend(points[0].ravel().tolist())
        self.columns["y"].extend(points[1].ravel().tolist())
        self.columns["system"].extend([self.system] * points[0].size)
        self.columns["series"].extend([series] * points[0].size)

    def square(self) -> None:
        """Axes from 0 to 1 of the same length, with the same ticks."""
        places = np.linspace(0.0, 1.0, 6).round(1)
        self.axes.set(xlim=(-0.005, 1.005), ylim=(-0.005, 1.005), aspect="equal", xticks=places, yticks=places)

    def inches(self) -> float:
        """About how wide the axes are."""
        figure = self.axes.get_figure()
        assert figure is not None
        return float(self.axes.get_position().width * figure.bbox.width / figure.dpi)

    def words(self, across: str, up: str) -> None:
        """Names of the axes, as plain text."""
        self.axes.set_xlabel(_for_all(self.axes.get_xlabel(), across))
        self.axes.set_ylabel(_for_all(self.axes.get_ylabel(), up))
        for text in (self.axes.xaxis.label, self.axes.yaxis.label):
            text.set_parse_math(False)


def _for_all(before: str, words: str) -> str:
    """The name of an axis that several systems share, without a number in brackets that is not the same for all."""
    named, bracket, inside = words.rpartition(" (")
    what = inside.rpartition(" ")[0]
    if before == words or not what or not before.startswith(f"{named}{bracket}{what} "):
        return words
    return f"{named} ({what} of each)"


def in_legend(name: str | None) -> str:
    """matplotlib leaves out names that begin with an underscore, and reads $ as mathematics."""
    if name is None:
        return "_"
    return (" " + name if name.startswith("_") else name).replace("$", r"\$")


def thinned(*columns: Floats) -> list[Floats]:
    """Columns of the same length at no more places than a figure can show, both ends kept."""
    if len(columns[0]) <= MOST_POINTS:
        return list(columns)
    places = np.unique(np.linspace(0, len(columns[0]) - 1, MOST_POINTS).astype(np.intp))
    return [column[places] for column in columns]
