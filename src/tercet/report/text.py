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


def tsv(systems: Sequence[Facts], conditions: Sequence[Facts] = ()) -> str:
    """One line per system and application, every digit there; undefined numbers are empty.

    Results by condition follow, under the same columns and two more that name the condition.
    """
    several = any("classes" in system for system in systems)
    rows = [(system, "", "") for system in systems]
    rows += [row for entry in conditions for row in _condition_rows(entry)]
    every = [row for row, *_ in rows]
    own = _with_ends(_TSV_CLASSES if several else _TSV, [app for row in every for app in row["applications"]])
    shared = _with_ends(_TSV_CLASSES_SYSTEM if several else _TSV_SYSTEM, every)
    eer = [] if several else _with_ends(("eer",), every)
    named = ["condition_column", "condition"] if conditions else []
    lines = ["\t".join(["system", "application", *own, *eer, *shared, *named])]
    for row, column, value in rows:
        for number, app in enumerate(row["applications"] or [{}]):
            cells = [_cell_of(app, key) for key in own] + [_cell_of(row, key) for key in (*eer, *shared)]
            told = ["" if cell is None else _tabless(cell) for cell in cells]
            place = [_tabless(column), _tabless(value)] if conditions else []
            lines.append("\t".join([_tabless(row.get("name", "")), str(number), *told, *place]))
    return "\n".join(lines)


def _with_ends(keys: Sequence[str], held: Sequence[Facts]) -> list[str]:
    """The keys, each followed by both ends of its interval where any of the facts has one."""
    found = []
    for key in keys:
        found.append(key)
        if any(f"{key}_ci" in facts for facts in held):
            found += [f"{key}_low", f"{key}_high"]
    return found


def _cell_of(facts: Facts, key: str) -> Any:
    """A number of the facts, or an end of its interval; of the EER its value."""
    name, _, end = key.rpartition("_")
    if end in ("low", "high") and f"{name}_ci" in facts:
        return facts[f"{name}_ci"][end == "high"]
    value = facts.get(key)
    return value.get("value") if isinstance(value, dict) else value


def _condition_rows(entry: Facts) -> list[tuple[Facts, str, str]]:
    """The facts of each condition, pooled and equalised, with the names of the column and of the condition."""
    rows = [(row, entry["column"], str(row["value"])) for row in entry["rows"]]
    rows += [(entry[key], entry["column"], f"({key})") for key in ("pooled", "equalised") if entry[key] is not None]
    return [({**row, "name": entry["system"]}, column, value) for row, column, value in rows]


def _tabless(value: object) -> str:
    return value.replace("\t", "\\t").replace("\n", "\\n") if isinstance(value, str) else repr(value)


def markdown(systems: Sequence[Facts], conditions: Sequence[Facts] = ()) -> str:
    """Tables for a page or a pull request."""
    parts = [_markdown_table(*table_cells(systems)), "", *summaries(systems), *notes(systems)]
    for entry in conditions:
        parts += ["", f"**{condition_title(entry)}**", "", _markdown_table(*condition_cells(entry)), *reasons(entry)]
    return "\n".join(parts)


def _markdown_table(head: list[str], rows: list[list[str]]) -> str:
    escaped = [[cell.replace("|", "\\|") for cell in row] for row in rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in [head, ["---"] * len(head), *escaped])


def table_cells(systems: Sequence[Facts]) -> tuple[list[str], list[list[str]]]:
    """Head and rows of the costs table, as words."""
    rows = [(s, a) for s in systems for a in s["applications"]]
    level = _level(systems)
    if any("classes" in system for system in systems):
        head = ["system", "application", f"risk{level}", "blind", f"DCF{level}", ""]
        return head, [
            [harmless(s.get("name", "")), _priors(a), _between(a, "risk"), short(a["dummy_cost"]), _between(a, "dcf"),
             _remark(a)]
            for s, a in rows
        ]  # fmt: skip
    head = ["system", "prior", "miss", "false alarm", "threshold", f"DCF{level}", f"min DCF{level}", "lost", ""]
    return head, [
        [harmless(s.get("name", "")), frequency(a["prior"]), number(a["cost_fn"]), number(a["cost_fp"]),
         number(a["threshold"]), _between(a, "dcf"), _between(a, "min_dcf"), short(a["calibration_loss"]), _remark(a)]
        for s, a in rows
    ]  # fmt: skip


def condition_title(entry: Facts) -> str:
    """What a table of conditions is about."""
    return f"{harmless(entry['system'] or 'system')} by {harmless(entry['column'])}"


def condition_cells(entry: Facts) -> tuple[list[str], list[list[str]]]:
    """Head and rows of a table of conditions: each value, pooled and equalised, for each application."""
    rows = _condition_rows(entry)
    several = any("classes" in row["input"] for row, *_ in rows)
    level = _level([row for row, *_ in rows])
    costs = ("risk", "dcf") if several else ("dcf", "min_dcf")
    sizes = ["trials"] if several else ["targets", "nontargets"]
    found = []
    for row, _, value in rows:
        for app in row["applications"] or [None]:
            cells = [harmless(value), *(number(row["input"][key]) for key in sizes)]
            if app is None:
                cells += ["", "undefined", "undefined", ""]
            else:
                point = _priors(app) if several else frequency(app["prior"])
                cells += [point, *(_between(app, key) for key in costs), _remark(app)]
            found.append(cells)
    words = {"nontargets": "non-targets", "dcf": f"DCF{level}", "min_dcf": f"min DCF{level}", "risk": f"risk{level}"}
    head = [harmless(entry["column"]), *(words.get(key, key) for key in sizes), "application" if several else "prior"]
    return [*head, *(words[key] for key in costs), ""], found


def reasons(entry: Facts) -> list[str]:
    """Why a condition is undefined, or has no interval."""
    return [
        f"{harmless(value)}: {harmless(why, 400)}"
        for row, _, value in _condition_rows(entry)
        for key, why in row.get("reasons", {}).items()
        if key in ("applications", "intervals")
    ]


def notes(systems: Sequence[Facts]) -> list[str]:
    """What a reader of the table must know: which costs rest on few errors, and what the resamples could not do."""
    found = []
    if any(app.get("warnings") for system in systems for app in system["applications"]):
        found.append("few errors: fewer than 30 of a kind, so that the number may be off by more than 30 %.")
    for system in systems:
        name = harmless(system.get("name") or "system")
        found += [f"{name}: {harmless(note, 400)}." for note in system.get("intervals", {}).get("notes", ())]
    return found


def _level(systems: Sequence[Facts]) -> str:
    levels = [system["intervals"]["level"] for system in systems if "intervals" in system]
    return f" ({100 * levels[0]:g} %)" if levels else ""


def _remark(app: Facts) -> str:
    """A word beside a cost: whether it does harm, and whether it rests on few errors."""
    return ", ".join(word for word in (verdict(app["dcf"]), "few errors" if app.get("warnings") else "") if word)


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
            f"{_between(system, 'accuracy')}, log-loss {_between(system, 'log_loss')} bits "
            f"({short(system['normalised_cross_entropy'])} of the prior's)"
        )
    eer = system["eer"]
    return (
        f"{name}: {facts['targets']} targets, {facts['nontargets']} non-targets; EER {percent(eer['value'])}"
        f"{_percents(system.get('eer_ci'))} ({eer['definition']}), AUC {_auc(system)}, "
        f"Cllr {_between(system, 'cllr')} bits, at best {_between(system, 'min_cllr')}"
    )


def _auc(system: Facts) -> str:
    """The AUC, or both ends of what bounded memory leaves open."""
    low, high = system.get("brackets", {}).get("auc", (None, None))
    return _between(system, "auc") if low is None else f"between {low:.9g} and {high:.9g}"


def _percents(ends: Sequence[float] | None) -> str:
    return "" if ends is None else f" ({percent(ends[0])} to {percent(ends[1])})"


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
