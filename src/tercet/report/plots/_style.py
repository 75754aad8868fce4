"""How figures look: colours, dashes and markers per system, sizes, and names as a figure may show them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple, TypeAlias

from tercet._numeric.validation import listed, number, shown
from tercet.errors import InputError
from tercet.evaluation import USUAL_NAMES
from tercet.report.text import harmless

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
