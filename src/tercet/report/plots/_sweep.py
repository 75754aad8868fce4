"""The costs of a grid of models along one of its parameters."""

from __future__ import annotations

from collections.abc import Callable

from tercet.deployment.sweeping import Sweep, SweepRow
from tercet.errors import InputError
from tercet.report.plots._canvas import Canvas
from tercet.report.plots._style import COLOURS, name_of

_DECADES = 100.0  # numbers spread further than this stand on a logarithmic axis


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
