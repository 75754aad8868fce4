"""The page's sections in plain words and tables, as they stand without JavaScript."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any

from tercet.report import markup, privacy
from tercet.report.markup import Facts, table, tag, text
from tercet.report.numbers import percent as _percent
from tercet.report.numbers import short as number

_HEAT = 30  # classes that a heat map can show
_ENOUGH = 30  # errors below which a rate is known only roughly

GLOSSARY = (
    ("prior", "Prior", "How many cases are targets where the decisions are used, not in this data.", "π"),
    ("miss", "Miss", "A target that is rejected. The miss rate counts them among targets.", "FNR = misses / targets"),
    ("alarm", "False alarm", "A non-target that is accepted.", "FPR = false alarms / non-targets"),
    ("rule", "Threshold rule", "Bayes: the threshold that prior and costs ask for, if the scores are log-likelihood "
     "ratios. Least cost: the best threshold in hindsight, on this very data. By hand: yours. False alarms at most: "
     "the lowest threshold within the bound.", "accept exactly the scores > t"),
    ("threshold", "Threshold", "Scores above it are accepted; a score exactly on it is rejected. It is "
     "on the scale of the scores; the llr that it stands for is beside it where the scores are not llrs themselves.",
     "llr of t = −(ln(π / (1 − π)) + ln C_miss − ln C_false alarm)"),
    ("effective", "Effective prior", "The prior that, with equal costs, asks for the same decisions.",
     "π C_miss / (π C_miss + (1 − π) C_false alarm)"),
    ("dcfu", "Cost per case (DCF_u)", "What a case costs on average, in the unit of your costs.",
     "π C_miss FNR + (1 − π) C_false alarm FPR"),
    ("dcf", "DCF", "The same, divided by what the better of always accepting and always rejecting "
     "costs. Above 1 the system does harm.", "DCF_u / min(π C_miss, (1 − π) C_false alarm)"),
    ("blind", "Deciding without the scores", "Always accepting or always rejecting, whichever is cheaper.",
     "min(π C_miss, (1 − π) C_false alarm)"),
    ("min", "Minimum DCF", "The cost with the best of all thresholds, chosen on this very data.",
     "min over t of DCF(t)"),
    ("loss", "DCF − minimum", "What the best threshold in hindsight would save. It was chosen on the same trials, so a "
     "part of it is luck, even for perfectly calibrated scores. The calibration loss is judged out of fold.",
     "DCF − minimum DCF"),
    ("calibration", "Calibration", "Scores are calibrated if they mean what they say: among cases with an 80 % chance "
     "of a target, 80 % are targets. The line is the best monotone correction (isotonic regression).", ""),
    ("ppv", "Right when accepting (PPV)", "How many of the accepted cases are targets, at your prior. Also precision.",
     "π (1 − FNR) / (π (1 − FNR) + (1 − π) FPR)"),
    ("eer", "EER", "The error rate at which misses and false alarms are equally frequent: ",
     "FNR = FPR"),
    ("auc", "AUC", "How often a target scores above a non-target, ties counting one half.", ""),
    ("cllr", "Cllr, min Cllr", "What the scores cost as statements of evidence, over all priors and costs at once, in "
     "bits; 1 is saying nothing. The minimum is after the best monotone correction.",
     "½ mean_T log2(1 + e^−llr) + ½ mean_N log2(1 + e^llr)"),
    ("interval", "Intervals, bands", "How far a number might move on other trials of the same kind, found by drawing "
     "trials again: in 95 of 100 such studies an interval of 95 % holds the true number. A band is one interval at "
     "each point.", ""),
    ("roc", "ROC, DET, precision-recall", "One point per threshold: targets found against false alarms; misses against "
     "false alarms on normal-quantile axes; precision against targets found.", ""),
)  # fmt: skip

EER = {
    "rocch": "where the ROC's convex hull meets equal rates",
    "interpolated": "where the lines between the ROC's points meet equal rates",
    "nearest": "the mean of both at the threshold where they are nearest to each other",
}


def title(systems: Sequence[Facts]) -> str:
    """What the page is called unless it is told."""
    names = [system.get("name") for system in _own(systems)]
    return str(names[0]) if len(names) == 1 and names[0] else f"{_counted(len(names), 'system')} evaluated"


def _counted(count: int, one: str, several: str = "") -> str:
    """A whole number with its noun."""
    return f"{count:,} {one if count == 1 else several or one + 's'}"


def _own(systems: Sequence[Facts]) -> list[Facts]:
    """The systems that were evaluated, without the classes of one against its rest."""
    return [system for system in systems if "within" not in system]


def what(systems: Sequence[Facts]) -> str:
    """How many trials of which class, told once if all systems share them."""
    found = _own(systems)
    told = {_sizes(system) for system in found}
    if len(told) > 1:
        return text(f"{len(found)} systems, on different trials: see below", 200)
    return text(("" if len(found) == 1 else f"{len(found)} systems; ") + told.pop(), 300)


def _sizes(system: Facts) -> str:
    facts = system["input"]
    whole = (
        f"weighted trials, {number(facts['trials'])} in all"
        if _weighted(system)
        else _counted(facts["trials"], "trial")
    )
    if "targets" in facts:
        return f"{whole}: {_size(facts['targets'])} target, {_size(facts['nontargets'])} non-target"
    shown = [f"{_size(count)} of {name}" for name, count in list(facts["classes"].items())[:6]]
    return f"{whole}: {', '.join(shown)}" + (" …" if len(facts["classes"]) > 6 else "")


def _size(count: float) -> str:
    """A count in full; a sum of weights shortly."""
    return f"{int(count):,}" if float(count).is_integer() else number(count)


def _weighted(system: Facts) -> bool:
    """Whether sizes are sums of weights: unweighted trials are counted in ones."""
    odd = not float(system["input"].get("trials", 0)).is_integer()
    return odd or system.get("curve", {}).get("unit", 0) != 0


def verdicts(systems: Sequence[Facts]) -> str:
    """One sentence a system at its first application."""
    first = _own(systems)[:6]
    kinds = (
        (" more" if place else "") + (" several" if "classes" in system else "") for place, system in enumerate(first)
    )
    told = [tag("p", sentence(system), kind.strip()) for system, kind in zip(first, kinds, strict=True)]
    return "".join(told + [tag("p", text(words, 400), "more unpriced") for words in _unpriced(first)])


def _unpriced(systems: Sequence[Facts]) -> list[str]:
    """Applications at which an error costs nothing, so that there is no cost to compare with."""
    apps = [app for system in systems if "classes" not in system for app in system["applications"]]
    free = dict.fromkeys(_point(app) for app in apps if not app["cost_fn"] or not app["cost_fp"])
    if not free:
        return []
    begins = (
        "" if len(free) < len({_point(app) for app in apps}) else " The live view begins at 1 case in 2, equal costs."
    )
    return [
        f"At {'; '.join(free)} (prior, costs) deciding without the scores costs nothing: no cost can be relative to "
        f"it.{begins}"
    ]


def sentence(system: Facts) -> str:
    """What a system's decisions cost, in plain words."""
    name = tag("b", text(system.get("name") or "this system"))
    app = next((app for app in system["applications"] if app.get("dcf") is not None), None)
    if app is None:
        return f"{name}: {_no_cost(system)}"
    told = _told(app["dcf"])
    if "classes" in system:
        known = system["accuracy"]
        named = "" if known is None else f" It names {_percent(known)} of the trials right."
        return f"At the first application evaluated, {name} costs {told}{named}"
    opening = f"If {_cases(app['prior'])}, and {_costs(app['cost_fn'], app['cost_fp'])}, "
    best = tag("b", number(app["min_dcf"]))
    hindsight = f"The best threshold in hindsight, on these very trials, would give {best}."
    return f"{opening}{name} costs {told} {hindsight} {_lost(app)}"


def _told(dcf: float | str) -> str:
    """A cost, where deciding without the scores costs 1, in words."""
    if isinstance(dcf, str):
        return f"{tag('b', 'infinitely more')} than deciding without the scores: it does harm here."
    if dcf == 1.0:
        return "just what deciding without the scores would cost."
    cost = tag("b", number(dcf))
    return (
        f"{cost} times what deciding without the scores costs: it does harm here."
        if dcf > 1.0
        else f"{cost} of what deciding without the scores would cost."
    )


def _no_cost(system: Facts) -> str:
    if "classes" in system:
        known = system.get("accuracy")
        return "no application was evaluated." if known is None else f"names {_percent(known)} of the trials right."
    return f"equal error rate {_percent(system['eer']['value'])}, AUC {number(system['auc'])}."


def _cases(prior: float) -> str:
    most = prior > 0.99
    among = 1.0 / (1.0 - prior if most else prior)
    near = abs(among - round(among)) < 1e-6 * among
    if not most and (prior > 0.5 or (among < 9.5 and not near)):
        return f"{100 * prior:.3g} cases in 100 are targets"
    share = f"{'' if near else 'about '}1 case in {f'{round(among):,}' if among < 1e7 else number(among)}"
    return f"all but {share} are targets" if most else f"{share} is a target"


def _costs(miss: float, alarm: float) -> str:
    if miss == alarm:
        return "a miss and a false alarm cost the same"
    if alarm == 0 or miss == 0:
        return "a false alarm costs nothing" if alarm == 0 else "a miss costs nothing"
    if miss > alarm:
        return f"a miss costs {number(miss / alarm)} times a false alarm"
    return f"a false alarm costs {number(alarm / miss)} times a miss"


def _lost(app: Facts) -> str:
    """What poor calibration costs, said only where the interval of the cross-fitted loss lies above 0."""
    ends = _known(app.get("calibration_loss_ci"))
    if ends is None or app.get("calibration_loss") is None or not float(ends[0]) > 0.0:
        return ""
    low, high = number(ends[0]), number(ends[1])
    return f"Poor calibration costs {number(app['calibration_loss'])} ({low} to {high}) of it: calibrate the scores."


def comparison(systems: Sequence[Facts]) -> str:
    """The numbers that no operating point changes, one row per two-class system."""
    if not systems:
        return ""
    names = [_keyed(s, place) for place, s in enumerate(systems)]
    columns = [
        _column([{**s, "eer": s["eer"]["value"]} for s in systems], "eer", _percent, (0.0, 0.5)),
        [_bracketed(s, cell) for s, cell in zip(systems, _column(systems, "auc", number, (0.5, 1.0)), strict=True)],
        _column(systems, "cllr", number, (0.0, 1.0)),
        _column(systems, "min_cllr", number, (0.0, 1.0)),
    ]
    head = ["system", "EER", "AUC", "Cllr, bits", "min Cllr"]
    return _headed("Systems compared", table(head, zip(names, *columns, strict=True), _level(systems)), id="compare")


def _several_compared(systems: Sequence[Facts]) -> str:
    """The same of systems of several classes."""
    names = [system.get("name") or "this system" for system in systems]
    firsts = [(system["applications"] or [{}])[0] for system in systems]
    columns = [
        _column([{"dcf": None, **app} for app in firsts], "dcf", number),
        _column(systems, "accuracy", _percent, (0.0, 1.0)),
        *(
            _column([{key: None, **s} for s in systems], key, number, (0.0, 1.0))
            for key in ("log_loss", "normalised_cross_entropy", "brier")
        ),
    ]
    head = ["system", "DCF at the first application", "accuracy", "log-loss, bits",
            "of what knowing only the class frequencies costs", "Brier"]  # fmt: skip
    return _headed("Systems of several classes compared", table(head, zip(names, *columns, strict=True)))


def _headed(title: str, inside: str, **attributes: str) -> str:
    """A section under its heading."""
    return tag("section", tag("h2", text(title)) + inside, **attributes)


def _keyed(system: Facts, place: int) -> str:
    """The name beside the colour of its curves."""
    return markup.Ready(tag("span", "", f"key k{place % markup.COLOURS}") + text(system.get("name") or "this system"))


def _bracketed(system: Facts, cell: str) -> str:
    """The AUC, or both ends of what bounded memory leaves open."""
    low, high = system.get("brackets", {}).get("auc", (None, None))
    return cell if low is None else f"{low:.9g} to {high:.9g}"


def _column(
    rows: Sequence[Facts], key: str, said: Callable[[Any], str], natural: tuple[float, float] | None = None
) -> list[str]:
    """One number of each row in words, with its interval as a bar where there is one.

    All bars of a column share a scale: from 0, or, where a natural range is given, that range for a single row, and
    for several the range from the lowest to the highest end.
    """
    ends = [_known(row.get(f"{key}_ci")) for row in rows]
    all_ends = [float(end) for pair in ends if pair is not None for end in pair]
    known = [end for end in all_ends if math.isfinite(end)]
    low, high = (0.0, max(known, default=1.0) or 1.0) if natural is None else _range(known, natural, len(rows))
    pairs = zip(rows, ends, strict=True)
    return [markup.with_interval(said(row[key]), row[key], pair, said, (low, high)) for row, pair in pairs]


def _starred(apps: Sequence[Facts], cells: Sequence[str]) -> list[str]:
    """Costs, marked where they rest on few errors."""
    pairs = zip(apps, cells, strict=True)
    return [type(cell)(f"* {cell}") if app.get("warnings") else cell for app, cell in pairs]


def _star(apps: Sequence[Facts]) -> set[str]:
    few = any(app.get("warnings") for app in apps)
    return {"* unreliable: fewer than 30 misses or false alarms"} if few else set()


def _known(ends: Sequence[Any] | None) -> Sequence[Any] | None:
    """Both ends of an interval, or None where one does not exist."""
    return None if ends is None or None in ends else ends


def _range(known: Sequence[float], natural: tuple[float, float], rows: int) -> tuple[float, float]:
    if rows == 1 or not known:
        return min((natural[0], *known)), max((natural[1], *known))
    pad = 0.06 * (max(known) - min(known)) or 0.5
    return min(known) - pad, max(known) + pad


def _level(systems: Sequence[Facts]) -> str:
    """What the bars are, where there are any."""
    levels = sorted({system["intervals"]["level"] for system in systems if "intervals" in system})
    told = " and ".join(_percent(level) for level in levels)
    return f"Bars: intervals of {told}, each column on a scale of its own." if levels else ""


def figures(systems: Sequence[Facts]) -> str:
    """Static drawings for readers without JavaScript; with it they give way to the live ones."""
    if not systems:
        return ""
    parts = [
        markup.figure("Cost at every prior", "Solid: actual DCF. Dashed: minimum DCF.",
                      markup.bayes_drawing(systems)),
        markup.figure("ROC", "True positive rate against false positive rate; dotted: chance.",
                      markup.roc_drawing(systems)),
    ]  # fmt: skip
    for system in systems[:3]:
        drawing = markup.histogram_drawing(system)
        if drawing:
            called = f"Scores of {system.get('name') or 'this system'}"
            parts.append(markup.figure(called, "Non-targets dashed.", drawing))
    return "".join(parts)


def applications(systems: Sequence[Facts]) -> str:
    """Every evaluated application with its numbers, every digit of them in the saved JSON."""
    evaluated = [(s, a) for s in systems if "curve" in s for a in s["applications"]]
    if not evaluated:
        return ""
    names = [s.get("name") or "this system" for s, _ in evaluated]
    apps = [a for _, a in evaluated]
    counted = [{} if _weighted(s) else a for s, a in evaluated]  # the rule of 30 is about trials, not about weights
    columns = [
        [a.get("name") or "" for a in apps],
        *(_column(apps, key, number) for key in ("prior", "cost_fn", "cost_fp", "threshold")),
        *(_column(apps, key, _percent) for key in ("fnr", "fpr")),
        _column(apps, "dcf_u", number),
        _starred(counted, _column(apps, "dcf", number)),
        _column(apps, "min_dcf", number),
        _column([{"gap": _gap(a)} for a in apps], "gap", number),
    ]
    head = ["system", "named", "prior", "miss", "false alarm", "Bayes threshold, llr", "misses", "false alarms",
            "cost per case", "DCF", "minimum DCF", "DCF − minimum"]  # fmt: skip
    reasons = {reason for a in apps for reason in a.get("reasons", {}).values()} | _star(counted)
    body = table(head, zip(names, *columns, strict=True), _level(systems))
    notes = "".join(tag("p", text(reason, 300), "note") for reason in sorted(reasons))
    return _headed("Operating points evaluated", body + notes)


def _gap(app: Facts) -> float | None:
    """Actual minus minimum DCF; what rounding leaves is no difference."""
    if app["dcf"] is None or app["min_dcf"] is None:
        return None
    cost, least = float(app["dcf"]), float(app["min_dcf"])
    return 0.0 if math.isfinite(cost) and cost - least <= 1e-12 * cost else cost - least


def conditions(document: Facts) -> str:
    """Results by condition (site, device, language ...): a table for each system and column that was split by."""
    return "".join(_condition(one) for one in document.get("conditions", ()))


def _condition(facts: Facts) -> str:
    """One system split by one column; conditions without a result keep their row, and the reason is told."""
    whole = (("pooled", "all together"), ("equalised", "each condition equally"))
    rows = [*facts["rows"], *({**facts[key], "value": words} for key, words in whole if facts.get(key) is not None)]
    asked = max((row.get("applications") or [] for row in rows), key=len)[:4]
    several = any("classes" in row["input"] for row in rows)
    columns: list[list[str]] = [[str(row["value"]) for row in rows]]
    head = [str(facts["column"])]
    for side in ("trials",) if several else ("targets", "nontargets"):
        head.append(side.replace("nont", "non-t"))
        columns.append([number(row["input"].get(side)) for row in rows])
    if not several:
        rates = [{"eer": (row.get("eer") or {}).get("value"), "eer_ci": row.get("eer_ci")} for row in rows]
        columns.append(_column(rates, "eer", _percent))
        head.append("EER")
    for place, app in enumerate(asked):
        kept = [{"dcf": None, "min_dcf": None, **(row.get("applications") or [{}] * len(asked))[place]} for row in rows]
        columns.append(_starred(kept, _column(kept, "dcf", number)))
        head.append(f"cost at {_point(app)}")
        if not several:
            columns.append(_column(kept, "min_dcf", number))
            head.append("minimum DCF")
    reasons = {f"{row['value']}: {why}" for row in rows for why in row.get("reasons", {}).values()}
    reasons |= _star([app for row in rows for app in row.get("applications") or ()])
    notes = "".join(tag("p", text(reason, 300), "note") for reason in sorted(reasons))
    called = f"{facts.get('system') or 'This system'} by {facts['column']}"
    return _headed(called, table(head, zip(*columns, strict=True), _level(rows)) + notes)


def _point(app: Facts) -> str:
    """An operating point in few words."""
    if "priors" in app:
        return ", ".join(number(prior) for prior in app["priors"][:4]) + (" …" if len(app["priors"]) > 4 else "")
    return f"{number(app['prior'])}, {number(app['cost_fn'])} : {number(app['cost_fp'])}"


def classes(systems: Sequence[Facts]) -> str:
    """Systems of several classes: a heat map, rates and risk contributions for each application evaluated."""
    found = [(system, place) for place, system in enumerate(systems) if "classes" in system and "accuracy" in system]
    compared = _several_compared([system for system, _ in found]) if len(found) > 1 else ""
    return compared + "".join(_class_section(system, place) for system, place in found)


def against_rest(parts: Sequence[Facts]) -> str:
    """What stands above the live view where it is about parts of a system of several classes."""
    return tag("h2", "One class against the rest", "parts") if parts else ""


def _class_section(system: Facts, place: int) -> str:
    name = system.get("name") or "Several classes"
    facts = [
        f"accuracy {_said(system, 'accuracy', _percent)}",
        f"log-loss {_said(system, 'log_loss')} bits",
        f"{_said(system, 'normalised_cross_entropy')} of what knowing only the class frequencies costs",
    ]
    parts = [_class_application(system, app, count) for count, app in enumerate(system["applications"])]
    kept = tag("p", text(_kept(system["posteriors"]), 200), "note kept") if "posteriors" in system else ""
    inside = tag("h2", text(name)) + tag("p", text("; ".join(facts), 300)) + kept + "".join(parts)
    return tag("section", inside, "several", id=f"several-{place}")


def _said(facts: Facts, key: str, said: Callable[[Any], str] = number) -> str:
    """A number with its interval in words."""
    ends = _known(facts.get(f"{key}_ci"))
    return said(facts.get(key)) + ("" if ends is None else f" ({said(ends[0])} to {said(ends[1])})")


def _kept(rows: Facts) -> str:
    """Of how many rows what is edited here is counted."""
    if rows["kept"] == rows["of"]:
        return f"Edited priors and costs are counted on all {rows['of']:,} rows: exact."
    return (
        f"Edited priors and costs are counted on {rows['kept']:,} of {rows['of']:,} rows, drawn from each class "
        f"(seed {rows['seed']}) and weighted: approximate."
    )


def _class_application(system: Facts, app: Facts, place: int) -> str:
    blind = f"always deciding {app['dummy_action']} costs {number(app['dummy_cost'])}"
    relative = f"{_said(app, 'dcf')} of deciding without the scores ({blind})"
    told = f"Application {place + 1}: risk {_said(app, 'risk')}, {relative}"
    body = tag("div", _heat(app["confusion"], app["actions"], system["classes"]) + _class_rates(system, app), "pairs")
    shown = {"open": ""} if place == 0 and "posteriors" not in system else {}  # an editor begins at the first
    return tag("details", tag("summary", text(told, 400)) + body, "app", **shown)


def _heat(matrix: Sequence[Sequence[Any]], actions: Sequence[str], names: Sequence[str]) -> str:
    """The confusion matrix, darker where more of a class's trials are."""
    if len(names) > _HEAT or len(actions) > _HEAT:
        return _most_confused(matrix, actions, names)
    totals = [sum(row[j] for row in matrix) or 1 for j in range(len(names))]
    head = "<td></td>" + "".join(tag("th", text(name), scope="col") for name in names)
    rows = "".join(
        tag("tr", tag("th", text(action), scope="row")
            + "".join(tag("td", text(number(n)), f"h{min(int(6 * n / total), 5) if n else 0}")
                      for n, total in zip(row, totals, strict=True)))
        for action, row in zip(actions, matrix, strict=True)
    )  # fmt: skip
    caption = tag("caption", "rows: decision, columns: true class; darker: more of the class")
    return tag("div", tag("table", f"{caption}<thead>{tag('tr', head)}</thead><tbody>{rows}</tbody>", "heat"), "wide")


def _most_confused(matrix: Sequence[Sequence[Any]], actions: Sequence[str], names: Sequence[str]) -> str:
    """The errors that happen most, where a heat map would be too large."""
    wrong = [
        (count, actions[i], names[j])
        for i, row in enumerate(matrix) for j, count in enumerate(row) if count and actions[i] != names[j]
    ]  # fmt: skip
    worst = sorted(wrong, key=lambda one: -one[0])[:20]
    rows = [[decided, true, number(count)] for count, decided, true in worst]
    return table(["decided", "truly", "trials"], rows, f"the most frequent of {len(wrong)} kinds of error")


def _class_rates(system: Facts, app: Facts) -> str:
    """Per class: how many were found, how often the decision was right, and its part of the risk."""
    names, matrix, actions = system["classes"], app["confusion"], list(app["actions"])
    parts = app["contributions"] or [None] * len(names)
    rows = []
    for j, name in list(enumerate(names))[:_HEAT]:
        own = matrix[actions.index(name)] if name in actions else None
        total, decided = sum(row[j] for row in matrix), 0 if own is None else sum(own)
        found = None if own is None or not total else own[j] / total
        right = None if own is None or not decided else own[j] / decided
        rows.append([name, number(app["priors"][j]), _percent(found), _percent(right), number(parts[j])])
    return table(["class", "prior", "found", "right when decided", "part of the risk"], rows)


def quality(systems: Sequence[Facts]) -> str:
    """What in the data calls for care, as a list of sentences."""
    found = [
        tag("li", f"{tag('b', text(system.get('name') or 'this system'))}: {text(warning, 400)}")
        for system in systems for warning in warnings(system)
    ]  # fmt: skip
    if not found:
        return tag("p", "Nothing stands out: no infinite scores, few ties, enough errors, scores the right way round.")
    return tag("ul", "".join(found))


def warnings(system: Facts) -> list[str]:
    """Ties, infinities, few errors, scores that look sign-flipped or say more than they know; notes on intervals."""
    found = [str(note) for note in system.get("intervals", {}).get("notes", ())]
    if "curve" not in system:
        apps = enumerate(system["applications"], 1)
        return found + [f"application {place}: {words}." for place, app in apps for words in app.get("warnings", ())]
    curve = system["curve"]
    if system["auc"] < 0.5:
        found.append("non-targets score higher than targets (AUC below one half): the scores' sign looks flipped.")
    if isinstance(system["cllr"], str) or (system["cllr"] is not None and system["cllr"] > 1.0):
        found.append("as evidence the scores cost more than saying nothing (Cllr above 1): calibrate them.")
    if curve["thresholds"][1] == "-inf" or curve["thresholds"][-1] == "inf":  # the first is accepting everything
        found.append("some scores are infinite: a certain wrong answer costs without bound (Cllr).")
    distinct, trials = len(curve["thresholds"]) - 1, system["input"]["trials"]
    if curve.get("complete") and curve["unit"] == 0 and distinct < 0.9 * trials:
        found.append(
            f"{trials - distinct:,} of {trials:,} scores are tied with another: they are one point of the curve."
        )
    return found + _few(system)


def _few(system: Facts) -> list[str]:
    """Applications at which fewer errors were counted than the rule of 30 asks for, in one sentence."""
    if _weighted(system):
        return ["trials are weighted: sizes are sums of weights, and how many errors were counted is not known here."]
    found = []
    for app in system["applications"]:
        if app["confusion"] is None or not app["cost_fn"] or not app["cost_fp"]:
            continue
        (_, misses), (alarms, _) = app["confusion"]
        kinds = ((misses, "miss", "misses"), (alarms, "false alarm", "false alarms"))
        few = [_counted(n, one, more) for n, one, more in kinds if n < _ENOUGH]
        if few:
            found.append(f"{' and '.join(few)} at {_point(app)}")
    more = [f"few at {len(found) - 3} more applications"] if len(found) > 3 else []
    told = "; ".join(found[:3] + more)
    return [f"only {told} were counted; with fewer than 30 errors a rate is unreliable."] if found else []


def glossary(systems: Sequence[Facts]) -> str:
    """Every term with its meaning and its formula; of several definitions, the one that was used."""
    used = dict.fromkeys(system["eer"]["definition"] for system in systems if system.get("eer"))
    more = {"eer": " and ".join(f"{EER[name]} ({name})" for name in used or ("rocch",)) + "."}
    entries = [
        tag("div", tag("dt", text(term)) + tag("dd", text(words, 600) + _formula(formula)), id=f"g-{key}")
        for key, term, words, formula in ((one[0], one[1], one[2] + more.get(one[0], ""), one[3]) for one in GLOSSARY)
    ]  # fmt: skip
    return tag("dl", "".join(entries))


def _formula(formula: str) -> str:
    return tag("code", text(formula, 200)) if formula else ""


def origin(document: Facts, systems: Sequence[Facts], made: datetime) -> str:
    """Inputs with their hashes, the command line, version and time."""
    lines = [f"Made by tercet {document.get('tercet', '')} on {made:%Y-%m-%d %H:%M} UTC."]
    if document.get("command"):
        lines.append("Command: tercet " + shlex.join(map(str, document["command"])))
    for system in systems:
        lines.append(f"{system.get('name') or 'this system'} ({system['meaning']}): {_sizes(system)}")
        for file in system["input"].get("files", ()):
            lines.append(f"{file.get('name', '')}  sha256 {file.get('sha256', '')}")
    lines.append(_inside(systems))
    return "".join(tag("p", text(line, 500)) for line in lines)


def _inside(systems: Sequence[Facts]) -> str:
    """What of the data this file holds, so that whoever passes it on knows."""
    curves = [system["curve"] for system in systems if "curve" in system]
    parts = ["no trial ids"]
    if any(curve.get("complete") for curve in curves):
        parts.append("every score with the counts of its class (there are few scores)")
    elif not all("private" in curve for curve in curves):
        parts.append("counts along the curve at some of the scores")
    if any("posteriors" in system for system in systems):
        parts.append("rows of log-likelihoods with their classes, as asked for")
    return (
        f"Inside this file: {'; '.join(parts)}; names of systems, classes, files and conditions, and the command line. "
        f"{privacy.sentence(curves)}"
    )
