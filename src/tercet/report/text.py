"""Words for results: names that are safe to show, numbers, sentences, and the Bayes error plot in block characters."""

from __future__ import annotations

import math
from collections.abc import Sequence

from tercet._typing import JSON
from tercet.application import sigmoid
from tercet.errors import visible
from tercet.report.numbers import percent

Facts = JSON

_HEIGHT, _COLUMNS = 8, 21
_EIGHTHS = " ▁▂▃▄▅▆▇█"
_ASCII = str.maketrans("▁▂▃▄▅▆▇█░▲┤│…−", "..:::###-^||~-")


def harmless(text: object, most: int = 64) -> str:
    """A name as a terminal may show it: without control, bidi or other invisible characters, and not too long."""
    clean = visible(str(text))
    return clean if len(clean) <= most else clean[: most - 1] + "…"


def showable(words: str, encoding: str | None) -> str:
    """Words as a terminal of this encoding can show them: block characters become ASCII where it has none."""
    try:
        words.encode(encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return words.translate(_ASCII)
    return words


def verdict(dcf: float | str | None) -> str:
    """What a normalised cost means, in a word; 1 is what the dummy costs, which decides without the scores."""
    if dcf is None or isinstance(dcf, str):
        return "" if dcf is None else "harmful"
    return "harmful" if dcf > 1.0 else "no better than the dummy" if dcf == 1.0 else ""


def short(value: float | str | None) -> str:
    """A cost or rate with three decimals."""
    return "undefined" if value is None else value if isinstance(value, str) else f"{value:z.3f}"


def number(value: float | str | None) -> str:
    """A number with four significant digits, thousands separated.

    >>> number(0.123456), number(20000), number(1e-7)
    ('0.1235', '20,000', '1e-07')
    """
    if value is None or isinstance(value, str):
        return "undefined" if value is None else value
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e15 else f"{value:.4g}"


def count(value: float) -> str:
    """A count, thousands separated; weights may add up to a fraction.

    >>> count(22300), count(12.5)
    ('22,300', '12.5')
    """
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.10g}"


def frequency(prior: float) -> str:
    """A prior in everyday words.

    >>> frequency(0.01), frequency(0.5), frequency(0.8)
    ('1 in 100', '1 in 2', '80 %')
    """
    if prior <= 0.5 and abs(1.0 / prior - round(1.0 / prior)) < 1e-6 / prior:
        return f"1 in {round(1.0 / prior):,}"
    return percent(prior)


def block_plot(plot: Facts, wide: int = 120) -> list[str]:
    """The Bayes error plot in block characters: solid up to the minimum, shaded up to the actual cost."""
    grid = plot["log_odds"]
    columns = min(len(grid), _COLUMNS)
    places = [round(column * (len(grid) - 1) / max(columns - 1, 1)) for column in range(columns)]
    letters = 3 if 3 * columns + 6 <= wide else 2
    costs = plot["dcf"] or plot["min_dcf"]
    pairs = [(_capped(plot["min_dcf"][place]), _capped(costs[place])) for place in places]
    lines = []
    for level in range(_HEIGHT, -1, -1):  # eight rows up to the cost 1, and one above it
        label = "1 ┤" if level == _HEIGHT else "0 ┤" if level == 0 else "  │"
        lines.append(f" {label}{''.join(_cell(low, high, level) * letters for low, high in pairs)}")
    left, middle, right = (percent(sigmoid(grid[place])) for place in (0, len(grid) // 2, -1))
    width = letters * columns
    gap = width // 2 - len(left) - len(middle) // 2
    lines.append("    " + (left + " " * gap + middle).ljust(width - len(right)) + right)
    return [*lines, "    share of targets (equal costs); 1 = dummy,", "    █ minimum DCF, ░ actual - minimum"]


def _capped(value: float | str) -> float:
    return 9.9 if isinstance(value, str) else value


def _cell(least: float, actual: float, level: int) -> str:
    """The character of one column in the row that spans the costs level / 8 to (level + 1) / 8."""
    filled = least * _HEIGHT - level
    if filled > 0.0:
        return _EIGHTHS[min(8, math.ceil(filled * 8))]
    if level == _HEIGHT and actual * _HEIGHT > level + 1:
        return "▲"
    return "░" if actual * _HEIGHT - level >= 0.5 else " "


def worth_sentence(spans: Sequence[Sequence[float]]) -> str:
    """Where the system beats deciding without the scores, the widest ranges first, as a sentence about frequencies.

    >>> worth_sentence([(-1.0986122886681098, 1.0986122886681098)])
    'At equal costs, worth using when 25 % to 75 % of cases are targets.'
    """
    if not spans:
        return "At equal costs there is no prior at which these decisions beat deciding without the scores."
    widest = sorted(spans, key=_minus_width)
    wide = [span for span in widest if _minus_width(span) < -0.005][:3] or widest[:1]
    told = " or ".join(f"{share(low)} to {share(high)}" for low, high in sorted(wide, key=lambda span: span[0]))
    more = len(spans) - len(wide)
    others = "" if more < 1 else f" (and in {more} narrower range{'s' if more > 1 else ''})"
    return f"At equal costs, worth using when {told} of cases are targets{others}."


def _minus_width(span: Sequence[float]) -> float:
    return sigmoid(span[0]) - sigmoid(span[1])


def share(log_odds: float) -> str:
    """A probability given by its log-odds: per cent, or one in a number near the ends.

    >>> share(0.0), share(-math.log(99_999)), share(math.log(99_999)), share(math.inf)
    ('50 %', '1 in 100,000', 'all but 1 in 100,000', 'all')
    """
    if math.isinf(log_odds):
        return "all" if log_odds > 0.0 else "none"
    rare = sigmoid(-abs(log_odds))
    if rare >= 0.001:
        return percent(rare if log_odds < 0.0 else 1.0 - rare)
    return f"{'all but ' if log_odds > 0.0 else ''}1 in {float(f'{1.0 / rare:.3g}'):,.0f}"
