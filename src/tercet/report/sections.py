"""The page's tables and drawings, as they stand without JavaScript."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from tercet._typing import Value
from tercet.report import markup
from tercet.report.fitting import is_coarse
from tercet.report.language import Words
from tercet.report.markup import Facts, Ready, table, tag, text
from tercet.report.numbers import llr_shown
from tercet.report.verdict import known_ends, point_words, real

_HEAT = 30  # classes that a heat map can show
_FEW_SYSTEMS, _MOST_DIFFERENCES = 3, 60
_NAMES = {"eer": "EER", "auc": "AUC", "cllr": "Cllr"}
_COMPARED = ("dcf", "min_dcf", "fnr", "fpr")  # quantities whose paired differences are shown, beside EER, AUC and Cllr


def comparison(systems: Sequence[Facts], words: Words) -> str:
    """The numbers that do not depend on the operating point, one row per two-class system."""
    if not systems:
        return tag("section", tag("h2", text(words("compare_title"))), id="compare")
    names = [words.called(system) for system in systems]
    rates = [{**s, "eer": s["eer"]["value"]} for s in systems]
    columns = [
        _column(rates, "eer", words.percent, words),
        [_bracketed(s, cell) for s, cell in zip(systems, _column(systems, "auc", words.number, words), strict=True)],
        *(_column(systems, key, words.number, words) for key in ("cllr", "min_cllr")),
    ]
    head = [words("system"), "EER", "AUC", words("cllr_bits"), words("min_cllr")]
    inside = tag("h3", text(words("systems_compared"))) + table(
        head, zip(names, *columns, strict=True), _level(systems, words)
    )
    return tag("section", tag("h2", text(words("compare_title"))) + inside, id="compare")


def _several_compared(systems: Sequence[Facts], words: Words) -> str:
    """The same of systems of several classes."""
    names = [words.called(system) for system in systems]
    firsts = [{"dcf": None, **(system["applications"] or [{}])[0]} for system in systems]
    columns = [
        _column(firsts, "dcf", words.number, words),
        _column(systems, "accuracy", words.percent, words),
        *(
            _column([{key: None, **s} for s in systems], key, words.number, words)
            for key in ("log_loss", "normalised_cross_entropy", "brier")
        ),
    ]
    keys = ("system", "first_dcf", "accuracy", "log_loss_bits", "of_frequencies", "brier")
    return _headed(words("several_compared"), table([words(key) for key in keys], zip(names, *columns, strict=True)))


def _headed(title: str, inside: str, **attributes: str) -> str:
    """A section under its heading."""
    return tag("section", tag("h3", text(title)) + inside, **attributes)


def _bracketed(system: Facts, cell: str) -> str:
    """The AUC, or both ends of what bounded memory leaves open."""
    low, high = system.get("brackets", {}).get("auc", (None, None))
    return cell if low is None else f"{low:.9g} to {high:.9g}"


def _column(rows: Sequence[Facts], key: str, said: Callable[[Value], str], words: Words) -> list[str]:
    """One number of each row in words, with its interval below where there is one."""
    return [_cell(row[key], known_ends(row, key), said, words) for row in rows]


def _cell(value: object, ends: Sequence[Value] | None, said: Callable[[Value], str], words: Words) -> str:
    if ends is None or value is None:
        return said(value)
    return Ready(text(said(value)) + tag("small", text(words.to(ends, said))))


def _starred(apps: Sequence[Facts], cells: Sequence[str]) -> list[str]:
    """Costs, marked where they rest on few errors."""
    pairs = zip(apps, cells, strict=True)
    return [type(cell)(f"* {cell}") if app.get("warnings") else cell for app, cell in pairs]


def _notes(reasons: set[str], apps: Sequence[Facts], words: Words) -> str:
    few = {words("star")} if any(app.get("warnings") for app in apps) else set()
    return "".join(tag("p", text(reason, 300), "note") for reason in sorted(reasons | few))


def _level(systems: Sequence[Facts], words: Words) -> str:
    """What the small numbers are, where there are any."""
    levels = sorted({system["intervals"]["level"] for system in systems if "intervals" in system})
    return words("level_note", level=words("and").join(words.percent(level) for level in levels)) if levels else ""


def differences(document: Facts, words: Words) -> str:
    """Paired differences between systems with intervals and corrected p-values, where they were computed."""
    found = document.get("comparison")
    if not found or not found.get("differences"):
        return ""
    shown = found["differences"]
    if len(found["names"]) > _FEW_SYSTEMS:  # otherwise the table would hide the rest
        shown = [one for one in shown if str(one["quantity"]).endswith(".dcf")][:_MOST_DIFFERENCES]
    rows = [row for one in shown if (row := _difference(one, found, words)) is not None]
    keys = ("d.quantity", "d.first", "d.second", "d.difference", "d.adjusted", "d.method")
    how = "d.unpaired" if not found.get("paired", True) else f"d.paired_{found.get('paired_by') or 'position'}"
    caption = f"{words('level_note', level=words.percent(found['level']))} {words(how)}"
    head, methods = [words(key) for key in keys], {row[-1] for row in rows}
    if len(methods) == 1:  # said once
        caption += f" {head.pop().capitalize()}: {methods.pop()}."
        rows = [row[:-1] for row in rows]
    return _headed(words("differences_title"), table(head, rows, caption, "plain roomy"))


def _difference(one: Facts, found: Facts, words: Words) -> list[str] | None:
    first, _, last = str(one["quantity"]).rpartition(".")
    if first and last not in _COMPARED:
        return None
    place = int(first.split(".")[1]) if first else 0
    points = found.get("points", ())
    point = words.core(str(points[place])) if place < len(points) else str(place + 1)
    key = "d.at" if last == "dcf" else f"d.{last}_at"
    named = words(key, point=point) if first else _NAMES.get(last) or words(last)
    said = words.percent if last in ("eer", "fnr", "fpr") else words.number
    cell = _cell(real(one["value"]), known_ends(one, "value"), said, words)
    p = float(one["adjusted"])
    return [
        named,
        one["first"],
        one["second"],
        cell,
        "< " + words.number(0.001) if p < 0.001 else words.number(p),
        words.method(one.get("method", "")),
    ]


def figures(systems: Sequence[Facts], words: Words) -> str:
    """Static drawings for readers without JavaScript, which replaces them with interactive ones."""
    if not systems:
        return ""
    shown = systems[:4]
    parts = [markup.figure("ROC", words("static.roc"), markup.roc_drawing(shown, words))]
    if all(system["bayes_plot"]["log_odds"] for system in shown):
        drawing = markup.bayes_drawing(shown, words)
        parts.insert(0, markup.figure(words("cost_at_every_prior"), words("static.bayes"), drawing))
    for system in systems[:2]:
        drawing = markup.histogram_drawing(system, words)
        if drawing:
            called = words("static.scores", name=words.called(system))
            parts.append(markup.figure(called, words("static.dashed"), drawing))
    return "".join(parts)


def applications(systems: Sequence[Facts], words: Words) -> str:
    """Every evaluated application with its numbers, rounded; the saved JSON has all digits."""
    evaluated = [(s, a) for s in systems if "classes" not in s for a in s["applications"]]
    if not evaluated:
        return ""
    apps = [a for _, a in evaluated]
    counted = [
        {} if s.get("curve", {}).get("unit") else a for s, a in evaluated
    ]  # the rule of 30 is about trials, not about weights
    columns = [
        [words.called(s) for s, _ in evaluated],
        [a.get("name") or "" for a in apps],
        *(_column(apps, key, words.number, words) for key in ("prior", "cost_fn", "cost_fp")),
        [_threshold(s, a, words) for s, a in evaluated],
        *(_column(apps, key, words.percent, words) for key in ("fnr", "fpr")),
        _column(apps, "dcf_u", words.number, words),
        _starred(counted, _column(apps, "dcf", words.number, words)),
        _column(apps, "min_dcf", words.number, words),
        [words.number(_gap(a)) for a in apps],
    ]
    keys = ("system", "p.named", "prior", "p.miss", "p.alarm", "p.threshold", "misses", "false_alarms", "cost_per_case",
            "", "minimum_dcf", "gap")  # fmt: skip
    reasons = {
        words.core(reason)
        for a in apps for name, reason in a.get("reasons", {}).items() if name != "calibration_loss"
    }  # fmt: skip
    head = [words(key) if key else "DCF" for key in keys]
    if not any(columns[1]):  # no operating point has a name
        del head[1], columns[1]
    body = table(head, zip(*columns, strict=True), _level(systems, words))
    return _headed(words("points_title"), body + _notes(reasons, counted, words))


def _threshold(system: Facts, app: Facts, words: Words) -> str:
    """On the scale of the scores, the llr beside it where that is another."""
    score, llr = app.get("threshold_score", app["threshold"]), words.number(llr_shown(real(app["threshold"])))
    if system["meaning"] in ("llr", "raw") or score is None:
        return llr
    return Ready(text(words.number(real(score))) + tag("small", text(f"llr {llr}")))


def _gap(app: Facts) -> float | None:
    """Actual minus minimum DCF; a difference due to rounding counts as 0."""
    if app["dcf"] is None or app["min_dcf"] is None:
        return None
    cost, least = float(app["dcf"]), float(app["min_dcf"])
    return 0.0 if math.isfinite(cost) and cost - least <= 1e-12 * cost else cost - least


def conditions(document: Facts, words: Words) -> str:
    """Results by condition (site, device, language ...): a table for each system and column that was split by."""
    return "".join(_condition(one, place, words) for place, one in enumerate(document.get("conditions", ())))


def _condition(facts: Facts, place: int, words: Words) -> str:
    """One system split by one column; conditions without a result keep their row, with the reason."""
    whole = (("pooled", "all_together"), ("equalised", "each_equally"))
    rows = [
        *facts["rows"],
        *({**facts[key], "value": words(name)} for key, name in whole if facts.get(key) is not None),
    ]
    asked = max((row.get("applications") or [] for row in rows), key=len)[:4]
    several = any("classes" in row["input"] for row in rows)
    columns: list[list[str]] = [[str(row["value"]) for row in rows]]
    head = [str(facts["column"])]
    for side in ("trials",) if several else ("targets", "nontargets"):
        head.append(words(f"condition.{side}"))
        columns.append([words.number(row["input"].get(side)) for row in rows])
    if not several:
        rates = [{"eer": (row.get("eer") or {}).get("value"), "eer_ci": row.get("eer_ci")} for row in rows]
        columns.append(_column(rates, "eer", words.percent, words))
        head.append("EER")
    for number, app in enumerate(asked):
        kept = [
            {"dcf": None, "min_dcf": None, **(row.get("applications") or [{}] * len(asked))[number]} for row in rows
        ]
        columns.append(_starred(kept, _column(kept, "dcf", words.number, words)))
        head.append(words("cost_at", point=point_words(app, words)))
        if not several:
            columns.append(_column(kept, "min_dcf", words.number, words))
            head.append(words("minimum_dcf"))
    reasons = {f"{row['value']}: {words.core(why)}" for row in rows for why in row.get("reasons", {}).values()}
    notes = _notes(reasons, [app for row in rows for app in row.get("applications") or ()], words)
    called = words("by_condition", system=words.named(facts.get("system")), column=facts["column"])
    title = tag("figcaption", tag("h3", text(called)))
    drawn = "" if several else tag("figure", title, "condition", id=f"f-condition-{place}", hidden="")
    return _headed(called, drawn + table(head, zip(*columns, strict=True), _level(rows, words)) + notes)


def classes(systems: Sequence[Facts], words: Words) -> str:
    """Systems of several classes: a heat map, rates and risk contributions for each application evaluated."""
    found = [(system, place) for place, system in enumerate(systems) if "classes" in system and "accuracy" in system]
    compared = _several_compared([system for system, _ in found], words) if len(found) > 1 else ""
    return compared + "".join(_class_section(system, place, words) for system, place in found)


def against_rest(parts: Sequence[Facts], words: Words) -> str:
    """What is shown above the interactive view of one class of a system of several classes."""
    return tag("h2", text(words("one_against_rest")), "parts") if parts else ""


def _class_section(system: Facts, place: int, words: Words) -> str:
    facts = [
        words("c.accuracy", n=_said(system, "accuracy", words.percent, words)),
        words("c.log_loss", n=_said(system, "log_loss", words.number, words)),
        words("c.nce", n=_said(system, "normalised_cross_entropy", words.number, words)),
    ]
    parts = [_class_application(system, app, count, words) for count, app in enumerate(system["applications"])]
    kept = tag("p", text(_kept(system["posteriors"], words), 300), "note kept") if "posteriors" in system else ""
    name = system.get("name") or words("several_classes")
    inside = tag("h2", text(name)) + tag("p", text("; ".join(facts), 300)) + kept + "".join(parts)
    return tag("section", inside, "several", id=f"several-{place}")


def _said(facts: Facts, key: str, said: Callable[[Value], str], words: Words) -> str:
    """A number with its interval in words."""
    return said(facts.get(key)) + words.brackets(known_ends(facts, key), said)


def _kept(rows: Facts, words: Words) -> str:
    """Of how many rows what is edited here is counted."""
    slots = {"of": words.whole(rows["of"]), "kept": words.whole(rows["kept"]), "seed": rows["seed"]}
    if rows["kept"] == rows["of"]:
        return words("c.kept_16" if is_coarse(rows) else "c.kept_all", **slots)
    return words("c.kept_some", **slots)


def _class_application(system: Facts, app: Facts, place: int, words: Words) -> str:
    told = words(
        "c.application", n=place + 1, risk=_said(app, "risk", words.number, words),
        dcf=_said(app, "dcf", words.number, words), action=str(app["dummy_action"])[:64],
        dummy=words.number(app["dummy_cost"]),
    )  # fmt: skip
    heat = _heat(app["confusion"], app["actions"], system["classes"], words)
    body = tag("div", heat + _class_rates(system, app, words), "pairs")
    shown = {"open": ""} if place == 0 and "posteriors" not in system else {}  # an editor begins at the first
    return tag("details", tag("summary", text(told, 400)) + body, "app", **shown)


def _heat(matrix: Sequence[Sequence[float]], actions: Sequence[str], names: Sequence[str], words: Words) -> str:
    """The confusion matrix, darker where more of a class's trials are."""
    if len(names) > _HEAT or len(actions) > _HEAT:
        return _most_confused(matrix, actions, names, words)
    totals = [sum(row[j] for row in matrix) or 1 for j in range(len(names))]
    head = "<td></td>" + "".join(tag("th", text(name), scope="col") for name in names)
    rows = "".join(
        tag("tr", tag("th", text(action), scope="row")
            + "".join(tag("td", text(words.number(n)), f"h{min(int(6 * n / total), 5) if n else 0}")
                      for n, total in zip(row, totals, strict=True)))
        for action, row in zip(actions, matrix, strict=True)
    )  # fmt: skip
    caption = tag("caption", text(words("k.heat"), 200))
    inside = tag("table", f"{caption}<thead>{tag('tr', head)}</thead><tbody>{rows}</tbody>", "heat")
    return markup.wide(inside, words("k.heat"))


def _most_confused(
    matrix: Sequence[Sequence[float]], actions: Sequence[str], names: Sequence[str], words: Words
) -> str:
    """The errors that happen most, where a heat map would be too large."""
    wrong = [
        (count, actions[i], names[j])
        for i, row in enumerate(matrix) for j, count in enumerate(row) if count and actions[i] != names[j]
    ]  # fmt: skip
    worst = sorted(wrong, key=lambda one: -one[0])[:20]
    rows = [[decided, true, words.number(count)] for count, decided, true in worst]
    head = [words(key) for key in ("c.decided", "c.truly", "c.trials")]
    return table(head, rows, words("c.most", n=words.whole(len(wrong))))


def _class_rates(system: Facts, app: Facts, words: Words) -> str:
    """Per class: how many were found, how often the decision was right, and its part of the risk."""
    names, matrix, actions = system["classes"], app["confusion"], list(app["actions"])
    parts = app["contributions"] or [None] * len(names)
    rows = []
    for j, name in list(enumerate(names))[:_HEAT]:
        own = matrix[actions.index(name)] if name in actions else None
        total, decided = sum(row[j] for row in matrix), 0 if own is None else sum(own)
        found, right = ("" if own is None else _share(own[j], size, words) for size in (total, decided))
        rows.append([name, words.number(app["priors"][j]), found, right, words.number(parts[j])])
    return table([words(key) for key in ("k.class", "prior", "k.found", "k.right", "k.part")], rows)


def _share(count: float, size: float, words: Words) -> str:
    """A share of trials with its 95 % interval where they were counted."""
    if not size:
        return words.percent(None)
    ends = None
    if float(count).is_integer() and float(size).is_integer():
        from tercet.metrics.binomial import proportion_limits

        low, high = proportion_limits(float(count), float(size), 0.95)
        ends = float(low), float(high)
    return _cell(count / size, ends, words.percent, words)
