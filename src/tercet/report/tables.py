"""Results as tables of words, and those tables as Markdown, LaTeX and TSV; tercet.report.terminal lays them out.

Every table is made from the facts of the JSON, so that all formats agree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from html import escape
from typing import Literal

from tercet._typing import JSON, Value
from tercet.report.numbers import NO_EVIDENCE, percent
from tercet.report.quantities import Quantity, is_larger_better, value_of
from tercet.report.text import count, frequency, harmless, number, short, verdict

Facts = JSON
MOST_MATRICES = 8  # confusion matrices that a table on a terminal shows; more would hide the costs
MOST_CLASSES = 12

_TSV = (
    "prior", "cost_fn", "cost_fp", "effective_prior", "threshold", "threshold_score", "fnr", "fpr", "dcf_u", "dcf",
    "min_dcf_u", "min_dcf", "min_threshold", "min_threshold_llr", "calibration_loss",
)  # fmt: skip
_TSV_SYSTEM = ("auc", "cllr", "min_cllr")
_TSV_CLASSES = ("risk", "dcf", "dummy_cost", "dummy_action")
_TSV_CLASSES_SYSTEM = ("accuracy", "log_loss", "normalised_cross_entropy", "brier")


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell of a table: words, the interval beside them, and whether it is the best of its column."""

    words: str
    interval: str = ""
    mark: Literal["", "best", "tied"] = ""  # tied: its interval contains the best value

    def __str__(self) -> str:
        return self.written(self.words + {"best": "*", "tied": "†"}.get(self.mark, ""))

    def written(self, words: str) -> str:
        """These words with the interval after them."""
        return f"{words} ({self.interval})" if self.interval else words


@dataclass(frozen=True, slots=True)
class Table:
    """A head and rows of cells; the first `left` columns and the last one (remarks) are words, the others numbers."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    title: str = ""
    left: int = 1
    remarks: bool = False  # the last column holds remarks
    settings: tuple[int, ...] = ()  # columns that a narrow layout may say once, where they hold one value


def of_words(head: Sequence[str], rows: Iterable[Sequence[Cell | str]], title: str = "", **more: Value) -> Table:
    """A table of words; a cell with an interval is a Cell."""
    cells = tuple(tuple(one if isinstance(one, Cell) else Cell(one) for one in row) for row in rows)
    return Table(tuple(head), cells, title, **more)


def _with_remarks(head: Sequence[str], rows: Sequence[Sequence[Cell | str]], title: str = "", **more: Value) -> Table:
    """A table whose rows end with a remark; without that column where there is nothing to remark."""
    if any(row[-1] for row in rows):
        return of_words([*head, "remark"], rows, title, remarks=True, **more)
    return of_words(head, [row[:-1] for row in rows], title, **more)


def name_of(system: Facts) -> str:
    """A system's name as a terminal may show it."""
    return harmless(system.get("name") or "system")


def is_multiclass(systems: Sequence[Facts]) -> bool:
    """Whether these are results of several classes, or of decided labels."""
    return any("classes" in system for system in systems)


# Costs


def costs(systems: Sequence[Facts]) -> Table:
    """One row per system and operating point: thresholds and costs."""
    if is_multiclass(systems):
        return _class_costs(systems)
    scale = _other_scale(systems)
    head = ["system", "prior", "cost of a miss", "cost of a false alarm", "llr threshold"]
    head += [] if scale is None else [f"{scale} threshold"]
    head += ["actual DCF", "minimum DCF", "calibration loss"]
    rows: list[list[Cell | str]] = []
    for system in systems:
        for app in system["applications"]:
            own = [] if scale is None else [_threshold(app.get("threshold_score"), 0.0)]
            rows.append([
                name_of(system), frequency(app["prior"]), number(app["cost_fn"]), number(app["cost_fp"]),
                _threshold(None if system["meaning"] == "raw" else app["threshold"]), *own,
                *(_between(app, key) for key in ("dcf", "min_dcf", "calibration_loss")), _remark(app),
            ])  # fmt: skip
    return _with_remarks(head, rows, settings=(2, 3))


# Quantities by name


def metrics(systems: Sequence[Facts], wanted: Sequence[Quantity]) -> Table:
    """The quantities that were asked for: one row per operating point of a system, or one row per system of several.

    Among several systems the best of each column is marked, and those whose interval contains the best value.
    """
    if len(systems) != 1 and len({tuple(map(point, system["applications"])) for system in systems}) == 1:
        return _of_systems(systems, wanted)
    head = ["system", "operating point", *(_heading(one.name) for one in wanted)]
    rows: list[list[Cell | str]] = [
        [
            name_of(system),
            point(app) if app else "",
            *(_quantity_cell(app if one.name in app else system, one.name) for one in wanted),
        ]
        for system in systems
        for app in system["applications"] or [{}]
    ]
    return of_words(head, rows, left=2)


def _of_systems(systems: Sequence[Facts], wanted: Sequence[Quantity]) -> Table:
    """One row per system; a quantity of an operating point has a column for each of them."""
    points = [point(app) for app in systems[0]["applications"]]
    head, columns = ["system"], [[Cell(name_of(system)) for system in systems]]
    for one in wanted:
        at_points = any(one.name in app for app in systems[0]["applications"])
        rows = zip(*(system["applications"] for system in systems), strict=True) if at_points else [systems]
        for place, apps in enumerate(rows):
            held = [app if one.name in app else system for system, app in zip(systems, apps, strict=True)]
            where = f", {points[place]}" if at_points and len(points) > 1 else ""
            head.append(_heading(one.name) + where.replace(" : ", ":"))
            columns.append(_marked([_quantity_cell(facts, one.name) for facts in held], held, one.name))
    return of_words(head, zip(*columns, strict=True))


def _quantity_cell(facts: Facts, name: str) -> Cell:
    if name != "eer":
        return _between(facts, name)
    value, ends = value_of(facts, name), facts.get("eer_ci")
    words = "undefined" if value is None else f"{100.0 * value:.2f}"
    return Cell(words, "" if ends is None else " to ".join(f"{100.0 * float(end):.2f}" for end in ends))


_HEADINGS = {
    "eer": "EER (%)", "auc": "AUC", "cllr": "Cllr", "min_cllr": "minimum Cllr", "dcf": "actual DCF",
    "min_dcf": "minimum DCF", "calibration_loss": "calibration loss",
}  # fmt: skip
_NO_DIRECTION = ("prevalence",)


def _heading(name: str) -> str:
    return _HEADINGS.get(name, name)


def _marked(cells: list[Cell], held: Sequence[Facts], name: str) -> list[Cell]:
    """The cells of a column, the best marked, and those whose interval contains the best value."""
    values = [value_of(facts, name) for facts in held]
    known = [value for value in values if value is not None]
    if len(known) < 2 or name in _NO_DIRECTION:
        return cells
    best = max(known) if is_larger_better(name) else min(known)
    found = []
    for cell, value, facts in zip(cells, values, held, strict=True):
        ends = facts.get(f"{name}_ci")
        tied = ends is not None and value is not None and float(ends[0]) <= best <= float(ends[1])
        found.append(replace(cell, mark="best" if value == best else "tied" if tied else ""))
    return found


def marks_note(table: Table, best: str) -> str:
    """What the marks in a table mean; nothing where there are none."""
    marks = {cell.mark for row in table.rows for cell in row}
    told = [f"{best}: the best of the column"] if "best" in marks else []
    told += ["†: the interval contains the best value"] if "tied" in marks else []
    return "; ".join(told) + ("." if told else "")


def _other_scale(systems: Sequence[Facts]) -> str | None:
    """The scale of the scores, where it is not the llr."""
    meanings = {system["meaning"] for system in systems} - {"llr", "raw"}
    return None if not meanings else meanings.pop() if len(meanings) == 1 else "score"


def _threshold(value: float | str | None, least: float = NO_EVIDENCE) -> str:
    return "none" if value is None else number(0.0 if isinstance(value, float) and abs(value) < least else value)


def _class_costs(systems: Sequence[Facts]) -> Table:
    head = ["system", "priors", "risk", "dummy's risk", "actual DCF"]
    rows: list[list[Cell | str]] = [
        [name_of(system), _priors(app), _between(app, "risk"), short(app["dummy_cost"]), _between(app, "dcf"),
         _remark(app)]
        for system in systems
        for app in system["applications"]
    ]  # fmt: skip
    return _with_remarks(head, rows)


def _remark(app: Facts) -> str:
    """A word beside a cost: whether it does harm, and whether it is unreliable."""
    few = "few errors" if app.get("warnings") else ""
    known = [key for key in ("fnr", "fpr") if app.get(key) is not None]
    alone = f"{known[0].upper()} {short(app[known[0]])}" if app["dcf"] is None and len(known) == 1 else ""
    return ", ".join(word for word in (verdict(app["dcf"]), few, alone) if word)


def _between(app: Facts, key: str) -> Cell:
    """A cost, with its interval where there is one."""
    ends = app.get(f"{key}_ci")
    return Cell(short(app.get(key)), "" if ends is None else f"{short(ends[0])} to {short(ends[1])}")


def _bits(system: Facts, key: str) -> str:
    """An amount of information with its unit, or the word that says that there is none."""
    return f"{_between(system, key)} bits" if system.get(key) is not None else short(None)


def _priors(app: Facts) -> str:
    shown = [number(prior) for prior in app["priors"][:6]]
    return ", ".join(shown + (["…"] if len(app["priors"]) > 6 else []))


def point(app: Facts) -> str:
    """An operating point in words."""
    if app.get("name"):
        return harmless(app["name"])
    if "priors" in app:
        return f"priors {_priors(app)}"
    return f"{frequency(app['prior'])}, costs {number(app['cost_fn'])} : {number(app['cost_fp'])}"


# Confusion matrices


def confusions(systems: Sequence[Facts]) -> list[Table]:
    """The confusion matrix of every operating point; none where they would be too many or too large to read."""
    found = []
    for system in systems:
        names = [harmless(name, 24) for name in system.get("classes") or system.get("class_names") or _USUAL]
        for app in system["applications"]:
            matrix = app.get("confusion")
            if matrix is None or len(names) > MOST_CLASSES or len(matrix) > MOST_CLASSES:
                continue
            actions = [harmless(name, 24) for name in app.get("actions") or system.get("actions") or names]
            title = f"{name_of(system)}, {point(app)}: counts by decision (rows) and true class (columns)"
            rows = [[action, *map(count, row)] for action, row in zip(actions, matrix, strict=True)]
            found.append(of_words(["decision", *names], rows, title))
    return found if len(found) <= MOST_MATRICES else []


_USUAL = ("nontarget", "target")


# Conditions


def condition_title(entry: Facts) -> str:
    """What a table of conditions is about."""
    return f"{harmless(entry['system'] or 'system')} by {harmless(entry['column'])}"


def conditions(entry: Facts) -> Table:
    """Each value of a column, pooled and equalised, at each operating point."""
    rows = condition_rows(entry)
    several = any("classes" in row["input"] for row, *_ in rows)
    keys = ("risk", "dcf") if several else ("dcf", "min_dcf")
    sizes = ["trials"] if several else ["targets", "nontargets"]
    words = {"nontargets": "non-targets", "dcf": "actual DCF", "min_dcf": "minimum DCF"}
    head = [harmless(entry["column"]), *(words.get(key, key) for key in sizes), "priors" if several else "prior"]
    head += [words.get(key, key) for key in keys]
    found = []
    for row, _, value in rows:
        for app in row["applications"] or [None]:
            cells: list[Cell | str] = [harmless(value), *(count(row["input"][key]) for key in sizes)]
            if app is None:
                cells += ["", "undefined", "undefined", ""]
            else:
                where = _priors(app) if several else frequency(app["prior"])
                cells += [where, *(_between(app, key) for key in keys), _remark(app)]
            found.append(cells)
    return _with_remarks(head, found, condition_title(entry))


def condition_rows(entry: Facts) -> list[tuple[Facts, str, str]]:
    """The facts of each condition, pooled and equalised, with the names of the column and of the condition."""
    rows = [(row, entry["column"], str(row["value"])) for row in entry["rows"]]
    rows += [(entry[key], entry["column"], f"({key})") for key in ("pooled", "equalised") if entry[key] is not None]
    return [({**row, "name": entry["system"]}, column, value) for row, column, value in rows]


def reasons(entry: Facts) -> list[str]:
    """Why a condition is undefined, or has no interval."""
    return [
        f"{harmless(value)}: {harmless(why, 400)}"
        for row, _, value in condition_rows(entry)
        for key, why in row.get("reasons", {}).items()
        if key in ("applications", "intervals")
    ]


# Sentences around the tables


def summaries(systems: Iterable[Facts]) -> list[str]:
    """One line per system: what was evaluated, and the numbers that do not depend on the application."""
    return [_summary(system) for system in systems]


def _summary(system: Facts) -> str:
    name, facts = name_of(system), system["input"]
    if system["meaning"] == "decisions":
        return (
            f"{name}: {count(facts['trials'])} decided labels of {len(system['classes'])} classes; accuracy "
            f"{_between(system, 'accuracy')}"
        )
    if "classes" in system:
        return (
            f"{name}: {count(facts['trials'])} trials of {len(system['classes'])} classes, scores taken as "
            f"{system['meaning']}; accuracy {_between(system, 'accuracy')}, log-loss {_bits(system, 'log_loss')} "
            f"({short(system.get('normalised_cross_entropy'))} of the prior's)"
        )
    eer = system["eer"]
    return (
        f"{name}: {count(facts['targets'])} targets, {count(facts['nontargets'])} non-targets, scores taken as "
        f"{system['meaning']}; EER {percent(eer['value'])}{_percents(system.get('eer_ci'))} ({eer['definition']}), "
        f"AUC {_auc(system)}, Cllr {_bits(system, 'cllr')}, minimum Cllr {_between(system, 'min_cllr')}"
    )


def _auc(system: Facts) -> str:
    """The AUC, or both ends of what bounded memory leaves open."""
    low, high = system.get("brackets", {}).get("auc", (None, None))
    return str(_between(system, "auc")) if low is None else f"between {low:.9g} and {high:.9g}"


def _percents(ends: Sequence[float] | None) -> str:
    return "" if ends is None else f" ({percent(ends[0])} to {percent(ends[1])})"


def notes(systems: Sequence[Facts]) -> list[str]:
    """Notes below the table: which costs are unreliable, and where resampling failed."""
    found = []
    apps = [app for system in systems for app in system["applications"]]
    if any(verdict(app["dcf"]).startswith("harmful") for app in apps):
        found.append("harmful: these decisions cost more than deciding without the scores (DCF above 1).")
    if any(app.get("warnings") for app in apps):
        found.append("few errors: unreliable, fewer than 30 of a kind; the number may be off by more than 30 %.")
    known = [system["intervals"] for system in systems if "level" in system.get("intervals", {})]
    if known:
        units = " and ".join(map(harmless, known[0].get("by") or ()))
        found.append(f"beside a number: its {100 * known[0]['level']:g} % interval{units and f', by {units}'}.")
    for system in systems:
        found += [f"{name_of(system)}: {harmless(note, 400)}." for note in system.get("intervals", {}).get("notes", ())]
    return found


# Comparisons


def comparison(facts: Facts, spoken: Callable[[str], str]) -> Table:
    """The differences between systems; a p-value is never shown below what the resamples can show."""
    from tercet.uncertainty.comparison import TOLD

    rows: list[list[Cell | str]] = [
        [spoken(one["quantity"]), harmless(f"{one['first']} - {one['second']}"),
         Cell(signed(one["value"]), f"{signed(one['value_ci'][0])} to {signed(one['value_ci'][1])}"),
         p_value(one["p_value"], facts["resamples"]), p_value(one["adjusted"], facts["resamples"])]
        for one in facts["differences"]
        if one["quantity"].split(".")[-1] in TOLD
    ]  # fmt: skip
    return of_words(
        ["difference in", "of", f"value ({100 * facts['level']:g} % interval)", "p", "p (Holm)"], rows, left=2
    )


def ranks(facts: Facts, quantity: str, spoken: str) -> Table:
    """The systems of a comparison from best to worst; those that cannot be distinguished share a place."""
    rows: list[list[Cell | str]] = [
        [f"{row['rank']}{'=' if row['tied'] else ''}", harmless(row["system"]),
         Cell(short(row["value"]), f"{short(row['value_ci'][0])} to {short(row['value_ci'][1])}")]
        for row in facts["ranks"][quantity]
    ]  # fmt: skip
    return of_words(["rank", "system", spoken], rows, left=2)


def signed(value: float | str | None) -> str:
    """A difference with its sign and four decimals."""
    return "undefined" if value is None else value if isinstance(value, str) else f"{value:+.4f}"


def p_value(value: float | None, resamples: int) -> str:
    """A p-value, not below what this number of resamples can show.

    >>> p_value(0.0312, 999), p_value(0.002, 999), p_value(0.0, 999)
    ('0.031', '< 0.002', '< 0.002')
    """
    if value is None or not resamples:  # closed forms have no least p-value
        return "undefined" if value is None else "< 0.0001" if value < 1e-4 else f"{value:.2g}"
    least = 2.0 / (resamples + 1)
    return f"< {least:.2g}" if value <= least * (1.0 + 1e-9) else f"{value:.2g}"


# Markdown, LaTeX, TSV


def markdown(
    systems: Sequence[Facts],
    by_condition: Sequence[Facts] = (),
    title: str | None = None,
    wanted: Sequence[Quantity] = (),
) -> str:
    """Tables for a page or a pull request."""
    parts = [] if title is None else [f"# {harmless(title, 200)}", ""]
    if wanted:
        found = metrics(systems, wanted)
        note = marks_note(found, "bold")
        return "\n".join([*parts, markdown_table(found), *(["", note] if note else [])])
    parts += [markdown_table(costs(systems)), "", *summaries(systems), *notes(systems)]
    for one in confusions(systems):
        parts += ["", one.title, "", markdown_table(one)]
    for entry in by_condition:
        parts += ["", f"**{condition_title(entry)}**", "", markdown_table(conditions(entry)), *reasons(entry)]
    return "\n".join(parts)


def markdown_table(table: Table) -> str:
    """One table in GitHub's Markdown."""
    rows = [[cell.written(_MARKDOWN_MARKS[cell.mark].format(cell.words)) for cell in row] for row in table.rows]
    lines = [table.head, ["---"] * len(table.head), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


_MARKDOWN_MARKS = {"": "{}", "best": "**{}**", "tied": "{}†"}


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "…": r"\ldots{}", "†": r"\dag{}", "−": "$-$", "∞": r"$\infty$",
}  # fmt: skip


def latex(
    systems: Sequence[Facts],
    by_condition: Sequence[Facts] = (),
    title: str | None = None,
    wanted: Sequence[Quantity] = (),
) -> str:
    """Tables for a paper: booktabs, one tabular per table."""
    parts = ["% \\usepackage{booktabs}"] + ([] if title is None else [f"% {latex_text(harmless(title, 200))}"])
    if wanted:
        found = metrics(systems, wanted)
        note = latex_text(marks_note(found, "bold"))
        return "\n".join([*parts, *([f"% {note}"] if note else []), latex_table(found)])
    parts += [f"% {latex_text(line)}" for line in summaries(systems)]
    parts.append(latex_table(costs(systems)))
    parts += [f"% {latex_text(line)}" for line in notes(systems)]
    for one in [*confusions(systems), *map(conditions, by_condition)]:
        parts += [f"% {latex_text(one.title)}", latex_table(one)]
    return "\n".join(parts)


def latex_table(table: Table) -> str:
    """One table as a tabular of booktabs."""
    numbers = len(table.head) - table.left - table.remarks
    head = _after_command(" & ".join(map(_latex_heading, table.head))) + r" \\"
    rows = [_after_command(" & ".join(map(_latex_cell, row))) + r" \\" for row in table.rows]
    columns = "l" * table.left + "r" * numbers + "l" * table.remarks
    return "\n".join([rf"\begin{{tabular}}{{{columns}}}", r"\toprule", head, r"\midrule", *rows, r"\bottomrule",
                      r"\end{tabular}"])  # fmt: skip


def _after_command(words: str) -> str:
    r"""Words as they may follow \\ or \midrule, which would take a following bracket or star as an argument."""
    return "{}" + words if words.startswith(("[", "*")) else words


def _latex_heading(words: str) -> str:
    """A heading, what follows its first comma in a line below."""
    first, _, rest = words.partition(", ")
    below = _after_command(latex_text(rest))
    return rf"\shortstack{{{latex_text(first)}\\ {below}}}" if rest else latex_text(first)


def _latex_cell(cell: Cell) -> str:
    words = _latex_number(cell.words)
    words = {"": words, "best": rf"\textbf{{{words}}}", "tied": rf"{words}\textsuperscript{{\dag}}"}[cell.mark]
    return words + (f" ({' to '.join(map(_latex_number, cell.interval.split(' to ')))})" if cell.interval else "")


def _latex_number(words: str) -> str:
    """Words of a cell; a negative number with a minus sign rather than a hyphen."""
    return "$-$" + words[1:] if re.fullmatch(r"-[\d.,]+", words) else latex_text(words)


def latex_text(words: str) -> str:
    r"""Words as LaTeX prints them.

    >>> latex_text("50 % of a_b")
    '50 \\% of a\\_b'
    """
    return "".join(_LATEX.get(letter, letter) for letter in words)


def html_table(table: Table) -> str:
    """One table as HTML, all words escaped."""
    marks = {"": "{}", "best": "<b>{}</b>", "tied": "{}<sup>†</sup>"}
    head = "".join(f"<th>{escape(words)}</th>" for words in table.head)

    def cell_of(place: int, cell: Cell) -> str:
        words = cell.written(marks[cell.mark].format(escape(cell.words)))
        return f"<td{'' if place < table.left else _NUMBERS}>{words}</td>"

    body = ["".join(cell_of(place, cell) for place, cell in enumerate(row)) for row in table.rows]
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(f'<tr>{row}</tr>' for row in body)}</tbody></table>"


_NUMBERS = ' style="text-align:right"'


def tsv(systems: Sequence[Facts], by_condition: Sequence[Facts] = (), wanted: Sequence[Quantity] = ()) -> str:
    """One line per system and application, with all digits; undefined numbers are empty."""
    held = columns(systems, by_condition, wanted)
    rows = zip(*held.values(), strict=True)
    lines = ["\t".join("" if cell is None else _tabless(cell) for cell in row) for row in rows]
    return "\n".join(["\t".join(held), *lines])


def columns(
    systems: Sequence[Facts], by_condition: Sequence[Facts] = (), wanted: Sequence[Quantity] = ()
) -> dict[str, list[Value]]:
    """The numbers as columns, one row per system and application; undefined ones are None.

    `threshold` is an llr and `threshold_score` the same on the scores' own scale; `min_threshold` is on the scores'
    scale and `min_threshold_llr` the same as an llr. Results by condition follow, under the same columns and two more
    that name the condition.
    """
    several = is_multiclass(systems)
    rows = [(system, "", "") for system in systems]
    rows += [row for entry in by_condition for row in condition_rows(entry)]
    every = [row for row, *_ in rows]
    apps = [app for row in every for app in row["applications"]]
    own = _with_ends(_TSV_CLASSES if several else _TSV, apps)
    shared = _with_ends(_TSV_CLASSES_SYSTEM if several else ("eer", *_TSV_SYSTEM), every)
    if wanted:
        names = [one.name for one in wanted]
        own = _with_ends([name for name in names if any(name in app for app in apps)], apps)
        shared = _with_ends([name for name in names if name not in own], every)
    named = ["condition_column", "condition"] if by_condition else []
    held: dict[str, list[Value]] = {key: [] for key in ("system", "meaning", "application", *own, *shared, *named)}
    for row, column, value in rows:
        for place, app in enumerate(row["applications"] or [{}]):
            cells = [row.get("name") or "", str(row.get("meaning", "")), place, *(_cell_of(app, key) for key in own)]
            cells += [_cell_of(row, key) for key in shared] + ([column, value] if by_condition else [])
            for column_cells, cell in zip(held.values(), cells, strict=True):
                column_cells.append(cell)
    return held


def _with_ends(keys: Sequence[str], held: Sequence[Facts]) -> list[str]:
    """The keys, each followed by both ends of its interval where any of the facts has one."""
    found = []
    for key in keys:
        found.append(key)
        if any(f"{key}_ci" in facts for facts in held):
            found += [f"{key}_low", f"{key}_high"]
    return found


def _cell_of(facts: Facts, key: str) -> Value:
    """A number of the facts, or an end of its interval; of the EER its value."""
    name, _, end = key.rpartition("_")
    if end in ("low", "high") and f"{name}_ci" in facts:
        return facts[f"{name}_ci"][end == "high"]
    value = facts.get(key)
    return value.get("value") if isinstance(value, dict) else value


def _tabless(value: object) -> str:
    if not isinstance(value, str):
        return repr(value)
    return harmless(value.replace("\t", "\\t").replace("\n", "\\n"), most=len(value) * 6)
