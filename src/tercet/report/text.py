"""Results as text: a table for a person, TSV for a pipe, Markdown for a page. All read the same JSON facts."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

from tercet.application import sigmoid

Facts = dict[str, Any]

_TSV = (
    "prior", "cost_fn", "cost_fp", "effective_prior", "threshold", "fnr", "fpr", "dcf_u", "dcf", "min_dcf_u", "min_dcf",
    "min_threshold", "calibration_loss",
)  # fmt: skip
_TSV_SYSTEM = ("auc", "cllr", "min_cllr")
_TSV_CLASSES = ("risk", "dcf", "dummy_cost", "dummy_action")
_TSV_CLASSES_SYSTEM = ("accuracy", "log_loss", "normalised_cross_entropy", "brier")
_HEIGHT = 8
_EIGHTHS = " ▁▂▃▄▅▆▇█"


def harmless(text: object, most: int = 64) -> str:
    """A name as a terminal may show it: no control, bidi or other invisible characters, and not endless."""
    clean = "".join(c if c.isprintable() else f"\\u{ord(c):04x}" for c in str(text))
    return clean if len(clean) <= most else clean[: most - 1] + "…"


def harmless_lines(words: str) -> str:
    """Several lines, each as a terminal may show it."""
    return "\n".join(harmless(line, 400) for line in words.split("\n"))


def tsv(systems: Sequence[Facts]) -> str:
    """One line per system and application, every digit there; undefined numbers are empty."""
    several = any("classes" in system for system in systems)
    own, shared = (_TSV_CLASSES, _TSV_CLASSES_SYSTEM) if several else (_TSV, _TSV_SYSTEM)
    lines = ["\t".join(["system", "application", *own, *([] if several else ["eer"]), *shared])]
    for system in systems:
        for number, app in enumerate(system["applications"] or [{}]):
            eer = [] if several else [system["eer"]["value"]]
            cells = [app.get(key) for key in own] + eer + [system.get(key) for key in shared]
            name = _tabless(system.get("name", ""))
            lines.append("\t".join([name, str(number), *("" if cell is None else _tabless(cell) for cell in cells)]))
    return "\n".join(lines)


def _tabless(value: object) -> str:
    return value.replace("\t", "\\t").replace("\n", "\\n") if isinstance(value, str) else repr(value)


def markdown(systems: Sequence[Facts]) -> str:
    """A table for a page or a pull request."""
    head, rows = table_cells(systems)
    escape = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    lines = [head, ["---"] * len(head), *escape]
    return "\n".join(["| " + " | ".join(line) + " |" for line in lines] + ["", *summaries(systems)])


def table_cells(systems: Sequence[Facts]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the costs table, as words."""
    if any("classes" in system for system in systems):
        head = ["system", "application", "risk", "blind", "DCF", ""]
        rows = [
            [harmless(s.get("name", "")), _priors(a), short(a["risk"]), short(a["dummy_cost"]), short(a["dcf"]),
             verdict(a["dcf"])]
            for s in systems for a in s["applications"]
        ]  # fmt: skip
        return head, rows
    head = ["system", "prior", "miss", "false alarm", "threshold", "DCF", "min DCF", "lost", ""]
    rows = [
        [harmless(s.get("name", "")), frequency(a["prior"]), number(a["cost_fn"]), number(a["cost_fp"]),
         number(a["threshold"]), _between(a, "dcf"), _between(a, "min_dcf"), short(a["calibration_loss"]),
         verdict(a["dcf"])]
        for s in systems for a in s["applications"]
    ]  # fmt: skip
    return head, rows


def _between(app: Facts, key: str) -> str:
    """A cost, with its interval where there is one."""
    ends = app.get(f"{key}_ci")
    return short(app[key]) + ("" if ends is None else f" ({short(ends[0])} to {short(ends[1])})")


def _priors(app: Facts) -> str:
    shown = [number(prior) for prior in app["priors"][:6]]
    return ", ".join(shown + (["…"] if len(app["priors"]) > 6 else []))


def summaries(systems: Iterable[Facts]) -> list[str]:
    """One line a system: what was evaluated, and the numbers that no application changes."""
    return [_summary(system) for system in systems]


def _summary(system: Facts) -> str:
    name = harmless(system.get("name") or "system")
    facts = system["input"]
    if "classes" in system:
        return (
            f"{name}: {facts['trials']} trials of {len(system['classes'])} classes; accuracy "
            f"{short(system['accuracy'])}, log-loss {short(system['log_loss'])} bits "
            f"({short(system['normalised_cross_entropy'])} of the prior's)"
        )
    eer = system["eer"]
    return (
        f"{name}: {facts['targets']} targets, {facts['nontargets']} non-targets; EER {percent(eer['value'])} "
        f"({eer['definition']}), AUC {_auc(system)}, Cllr {short(system['cllr'])} bits, "
        f"at best {short(system['min_cllr'])}"
    )


def _auc(system: Facts) -> str:
    """The AUC, or both ends of what bounded memory leaves open."""
    low, high = system.get("brackets", {}).get("auc", (None, None))
    return short(system["auc"]) if low is None else f"between {low:.9g} and {high:.9g}"


def verdict(dcf: float | str | None) -> str:
    """What a normalised cost means, in a word; 1 is what deciding blindly costs."""
    if dcf is None or isinstance(dcf, str):
        return "" if dcf is None else "harmful"
    return "harmful" if dcf > 1.0 else "no better than blind" if dcf == 1.0 else ""


def short(value: float | str | None) -> str:
    """A cost or rate with three decimals."""
    return "undefined" if value is None else value if isinstance(value, str) else f"{value:.3f}"


def number(value: float | str | None) -> str:
    """A number with four significant digits."""
    return "undefined" if value is None else value if isinstance(value, str) else f"{value:.4g}"


def percent(value: float) -> str:
    """A rate in per cent, three significant digits.

    >>> percent(0.2542), percent(1.0)
    ('25.4 %', '100 %')
    """
    return f"{100.0 * value:.3g} %"


def frequency(prior: float) -> str:
    """A prior as people say it.

    >>> frequency(0.01), frequency(0.5), frequency(0.8)
    ('1 in 100', '1 in 2', '80 %')
    """
    if prior <= 0.5 and abs(1.0 / prior - round(1.0 / prior)) < 1e-6 / prior:
        return f"1 in {round(1.0 / prior)}"
    return percent(prior)


def block_plot(plot: Facts) -> list[str]:
    """The Bayes error plot in block characters: solid up to the minimum, shaded up to the actual cost."""
    actual = [_capped(value) for value in plot["dcf"] or plot["min_dcf"]]
    least = [_capped(value) for value in plot["min_dcf"]]
    lines = []
    for level in range(_HEIGHT, -1, -1):  # eight rows up to the cost 1, and one above it
        label = "1 ┤" if level == _HEIGHT else "0 ┤" if level == 0 else "  │"
        cells = (_cell(low, high, level) * 3 for low, high in zip(least, actual, strict=True))
        lines.append(f" {label}{''.join(cells)}")
    grid = plot["log_odds"]
    left, middle, right = (_odds(grid[i]) for i in (0, len(grid) // 2, -1))
    width = 3 * len(grid)
    gap = width // 2 - len(left) - len(middle) // 2
    lines.append("    " + (left + " " * gap + middle).ljust(width - len(right)) + right)
    lines.append("    how many cases are targets (equal costs);  █ best threshold  ░ lost to calibration  1 = blind")
    return lines


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


def _odds(log_odds: float) -> str:
    return percent(sigmoid(log_odds))


def worth_sentence(spans: Sequence[Sequence[float]]) -> str:
    """Where the system beats deciding blindly, the widest ranges first, as a sentence about frequencies.

    >>> worth_sentence([(-1.0986122886681098, 1.0986122886681098)])
    'At equal costs, worth using when 25 % to 75 % of cases are targets.'
    """
    if not spans:
        return "At equal costs there is no prior at which these decisions beat deciding blindly."
    widest = sorted(spans, key=_minus_width)
    wide = [span for span in widest if _minus_width(span) < -0.005][:3] or widest[:1]
    told = " or ".join(f"{share(low)} to {share(high)}" for low, high in sorted(wide, key=lambda span: span[0]))
    more = len(spans) - len(wide)
    others = "" if more < 1 else f" (and in {more} narrower range{'s' if more > 1 else ''})"
    return f"At equal costs, worth using when {told} of cases are targets{others}."


def _minus_width(span: Sequence[float]) -> float:
    return sigmoid(span[0]) - sigmoid(span[1])


def share(log_odds: float) -> str:
    """A probability given by its log-odds: per cent, or one in so many near the ends.

    >>> share(0.0), share(-math.log(99_999)), share(math.log(99_999)), share(math.inf)
    ('50 %', '1 in 100,000', 'all but 1 in 100,000', 'all')
    """
    if math.isinf(log_odds):
        return "all" if log_odds > 0.0 else "none"
    rare = sigmoid(-abs(log_odds))
    if rare >= 0.001:
        return percent(rare if log_odds < 0.0 else 1.0 - rare)
    return f"{'all but ' if log_odds > 0.0 else ''}1 in {float(f'{1.0 / rare:.3g}'):,.0f}"
