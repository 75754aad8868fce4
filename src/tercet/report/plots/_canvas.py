"""How figures look, and a canvas: axes to draw on, and the numbers that were drawn, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from tercet._numeric.validation import listed, number, shown
from tercet._typing import JSON, Floats, Value
from tercet.errors import InputError
from tercet.evaluation import USUAL_NAMES
from tercet.report.text import harmless

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

Size: TypeAlias = Literal["column", "page"] | tuple[float, float]

TARGET, NONTARGET = "#C04F00", "#0072B2"
SOFT = "#5A5A5A"
# Okabe and Ito's colours, darkened until each has a contrast of at least 3 : 1 on white.
COLOURS = ("#000000", "#0072B2", "#C04F00", "#007F5C", "#A8568A", "#8A6A00", "#2A86BC", "#6E6E6E")
DASHES: tuple[str | tuple[int, tuple[int, ...]], ...] = ("-", (0, (6, 2)), (0, (2, 1)), (0, (7, 2, 1, 2)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "*")
MOST_SYSTEMS = 24
SIZES = {"column": (3.3, 3.0), "page": (6.9, 4.6)}
DEFAULT_SIZE = (5.6, 4.6)
_SMALL = 4.2  # inches: below, type and lines are those of a journal's column


class Look(NamedTuple):
    """A system's line: colour, dash and marker, so that it can be distinguished from the others in grey too."""

    color: str
    dash: str | tuple[int, tuple[int, ...]]
    marker: str


def look_of(place: int, colours: Sequence[str] | None = None) -> Look:
    """The look of the system in this place."""
    colour = COLOURS[place % len(COLOURS)] if colours is None else colours[place]
    return Look(colour, DASHES[(place + place // len(COLOURS)) % len(DASHES)], MARKERS[place % len(MARKERS)])


def inches(size: object) -> tuple[float, float]:
    """A size in inches: "column", "page" or (width, height)."""
    if size is None:
        return DEFAULT_SIZE
    if isinstance(size, str) and size in SIZES:
        return SIZES[size]
    if isinstance(size, str):
        raise InputError(f'size must be "column", "page" or (width, height) in inches, not {shown(size)}.')
    ends = [number(value, "size") for value in listed(size, "size")]
    if len(ends) != 2:
        raise InputError(f'size must be "column", "page" or (width, height) in inches, not {shown(size)}.')
    wide, high = ends
    if not (0.5 <= wide <= 100.0 and 0.5 <= high <= 100.0):
        raise InputError(f"size must lie between 0.5 and 100 inches, not {shown(size)}.")
    return wide, high


def settings(size: tuple[float, float]) -> dict[str, object]:
    """matplotlib's settings for a figure of this size: type of 8 points in a column, 10 elsewhere; fonts embedded."""
    small = size[0] < _SMALL
    return {
        "font.size": 8 if small else 10,
        "axes.labelsize": "medium",
        "axes.titlesize": "medium",
        "legend.fontsize": "small",
        "lines.linewidth": 1.2 if small else 1.6,
        "lines.markersize": 4 if small else 5.5,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "pdf.fonttype": 42,
        "ps.fonttype": 42,
        "svg.hashsalt": "tercet",
    }


def name_of(name: object) -> str:
    """A name as a figure shows it: plain text of at most 64 characters."""
    return harmless("this system" if name is None else name)


def class_words(names: Sequence[str], many: str = "") -> tuple[str, str]:
    """What a legend calls the two classes: as the labels do; non-target(s) and target(s) where they have no names."""
    if tuple(names) == USUAL_NAMES:
        return f"non-target{many}", f"target{many}"
    return name_of(names[0]), name_of(names[1])


def short_names(names: Sequence[str]) -> list[str]:
    """Names without the beginning that all share, where at least three letters of each remain."""
    if len(names) < 2:
        return list(names)
    first, last = min(names), max(names)  # the prefix of these two is common to all
    same = next((k for k, (a, b) in enumerate(zip(first, last, strict=False)) if a != b), min(len(first), len(last)))
    shared = first[:same]
    cut = max((shared.rfind(mark) + 1 for mark in "-_/. "), default=0)
    if cut < 3 or min(len(name) - cut for name in names) < 3:
        return list(names)
    return [name[cut:] for name in names]


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
