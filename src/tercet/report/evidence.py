"""What was done, in words: sizes, calibration, intervals, data quality, method, origin, and the glossary."""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from datetime import datetime

from tercet import __version__
from tercet.report import privacy
from tercet.report.language import Words
from tercet.report.markup import Facts, tag, text
from tercet.report.verdict import groups_of, level_of, own, point_words

_ENOUGH = 30  # errors below which a rate is known only roughly
_COUNTED = 2**53  # the whole numbers that a double counts to
_MEASURED = {  # quantities with intervals, as the page calls them
    "fnr": "misses", "fpr": "false_alarms", "dcf": "DCF", "min_dcf": "minimum_dcf",
    "calibration_loss": "calibration_loss", "eer": "EER", "auc": "AUC", "cllr": "Cllr", "min_cllr": "min_cllr",
    "accuracy": "accuracy", "log_loss": "log-loss", "brier": "Brier",
}  # fmt: skip
_TERMS = (
    "prior", "cost", "miss", "alarm", "rule", "threshold", "llr", "effective", "dcfu", "dcf", "blind", "min", "loss",
    "calibration", "ppv", "eer", "auc", "cllr", "benefit", "interval", "roc",
)  # fmt: skip


def title(systems: Sequence[Facts], words: Words) -> str:
    """The title of the page if none is given."""
    names = [system.get("name") for system in own(systems)]
    if len(names) == 1:
        return str(names[0]) if names[0] else words("one_system", n=1)
    return words("n_systems", n=words.whole(len(names)))


def what(systems: Sequence[Facts], made: datetime, words: Words, titled: bool = True) -> str:
    """Data, what was done, and when, in one line; how many systems, unless the title says so."""
    found = own(systems)
    sizes, done = ({one(system, words) for system in found} for one in (sizes_of, done_to))
    parts = [words("what.systems", n=len(found)) if len(found) > 1 and titled else ""]
    if len(sizes) > 1:
        parts = [words("what.different", n=len(found))]
    else:
        parts[0] += sizes.pop()
    parts.append(done.pop() if len(done) == 1 else words("done.differently"))
    parts.append(f"{made:%Y-%m-%d}")
    return text("; ".join(parts), 400)


def sizes_of(system: Facts, words: Words) -> str:
    """How many trials of which class."""
    facts = system["input"]
    if weighted(system):
        whole = words("trials.weighted", n=_size(facts["trials"], words))
    else:
        count = int(facts["trials"])
        whole = words("trials.one" if count == 1 else "trials.n", n=words.whole(count))
    if "targets" in facts:
        sides = {"targets": _size(facts["targets"], words), "others": _size(facts["nontargets"], words)}
        return words("sizes.two", whole=whole, **sides)
    classes = facts.get("classes", {})
    shown = [words("sizes.of", n=_size(count, words), name=str(name)[:64]) for name, count in [*classes.items()][:6]]
    return f"{whole}: {', '.join(shown)}" + (" …" if len(classes) > 6 else "") if shown else whole


def _size(count: float, words: Words) -> str:
    """A count in full; a sum of weights that is not whole, or too large for a double to count, with few digits."""
    whole = float(count).is_integer() and count <= _COUNTED
    return words.whole(int(count)) if whole else words.number(count)


def weighted(system: Facts) -> bool:
    """Whether sizes are sums of weights: unweighted trials are counted in ones."""
    odd = not float(system["input"].get("trials", 0)).is_integer()
    return odd or system.get("curve", {}).get("unit", 0) != 0


def done_to(system: Facts, words: Words) -> str:
    """How the scores were calibrated and on what, and what the intervals are."""
    calibrated = system.get("calibration")
    if calibrated is not None:
        names = ", ".join(base_name(str(file.get("name", ""))) for file in calibrated.get("files", ())[:2])
        on = words("done.other_trials", n=words.whole(int(calibrated["trials"]))) if "trials" in calibrated else names
        told = words("done.calibrated", method=calibrated["method"], on=on)
    else:
        key = f"meaning.{system['meaning']}"
        meaning = words(key) if key in words.strings else str(system["meaning"])
        told = words("done.not", meaning=meaning)
    return f"{told}; {_ends_words(system, words)}"


def _ends_words(system: Facts, words: Words) -> str:
    if "intervals" not in system:
        return words("done.no_ends")
    by = " × ".join(groups_of(system))
    return words("done.ends", level=words.percent(level_of(system))) + (words("done.by", by=by) if by else "")


def method(document: Facts, systems: Sequence[Facts], words: Words) -> str:
    """How the numbers were obtained, a paragraph each."""
    return "".join(tag("p", text(line, 1000)) for line in method_lines(document, systems, words))


def method_lines(document: Facts, systems: Sequence[Facts], words: Words) -> list[str]:
    """How the numbers were obtained, in sentences."""
    lines = []
    for system in own(systems):
        name = words.called(system)
        lines.append(words("m.scores", name=name, sizes=sizes_of(system, words), done=done_to(system, words)))
    lines += dict.fromkeys(_interval_method(s, words) for s in own(systems) if "intervals" in s)
    two = [system for system in systems if "curve" in system]
    lines += dict.fromkeys(page_method(system, words) for system in two)
    if two:
        lines += [
            words("m.ties"),
            *(words("m.eer", words=words(f"eer.{name}")) for name in _eers(two)),
            words("m.loss"),
        ]
    lines += _thinned([system for system in two if not system["curve"].get("complete")], words)
    lines += [words("m.reduced")] if document.get("reduced") else []
    lines += [words("m.default")] if document.get("default_applications") and two else []
    return lines


def _thinned(systems: Sequence[Facts], words: Words) -> list[str]:
    """How far costs of thinned curves may be off, in one sentence for each range in which that is stated."""
    told: dict[int, list[str]] = {}
    for system in systems:
        within = _within(system["curve"])
        named = f"{words.called(system)} {words.number(within)}"
        told.setdefault(9 if within == 1e-4 else 3, []).append(named)
    return [words("m.thin", reach=reach, told=", ".join(named)) for reach, named in told.items()]


def _within(curve: Facts) -> float:
    """How far a cost that is read off a curve may be off."""
    return float(curve.get("within") or curve.get("private", {}).get("cost_error") or 1e-4)


def _interval_method(system: Facts, words: Words) -> str:
    facts, by = system["intervals"], " × ".join(groups_of(system))
    slots = {
        "level": words.percent(facts["level"]), "by": words("done.by", by=by) if by else "",
        "methods": _by_quantity(facts.get("methods", {}), words) or "…",
        "sampling": words(f"m.{facts.get('sampling', 'stratified')}"),
    }  # fmt: skip
    count = facts.get("resamples") or 0
    if not count:
        return words("m.ends_closed", **slots)
    return words(
        "m.ends", resamples=words("m.resamples", n=words.whole(int(count))), seed=facts.get("seed", 0), **slots
    )


def _by_quantity(methods: Facts, words: Words) -> str:
    """Which quantities have an interval by which method."""
    told: dict[str, dict[str, None]] = {}
    for key, how in methods.items():
        name = str(key).rpartition(".")[2]
        if name in _MEASURED:
            called = words(_MEASURED[name]) if _MEASURED[name] in words.strings else _MEASURED[name]
            told.setdefault(words.method(str(how)).replace(": ", ", "), {})[called] = None
    return "; ".join(f"{', '.join(names)}: {how}" for how, names in told.items())


def page_method(system: Facts, words: Words) -> str:
    """How the page finds intervals at operating points that were not evaluated."""
    by = " × ".join(groups_of(system))
    return words("m.page_between", by=by) if by else words("m.page_ends")


def _eers(systems: Sequence[Facts]) -> list[str]:
    return list(dict.fromkeys(s["eer"]["definition"] for s in systems if s.get("eer"))) or ["rocch"]


def quality(document: Facts, systems: Sequence[Facts], words: Words) -> str:
    """Warnings about the data, as a list of sentences."""
    found = [
        tag("li", f"{tag('b', text(words.called(system)))}: {text(warning, 400)}")
        for system in systems for warning in warnings(system, words)
    ]  # fmt: skip
    found += [tag("li", text(line, 400)) for line in _by_condition(document, words)]
    version = str(document.get("tercet", __version__))
    if version != __version__:
        found.append(tag("li", text(words("q.version", version=version, own=__version__), 300)))
    return tag("ul", "".join(found)) if found else tag("p", text(words("q.fine"), 300))


def _by_condition(document: Facts, words: Words) -> list[str]:
    """The conditions whose costs rest on few errors, and those without a cost."""
    lines = []
    for entry in document.get("conditions", ()):
        apps = {str(row["value"])[:40]: row.get("applications") or [] for row in entry["rows"]}
        none = [value for value, own in apps.items() if all(app.get("dcf") is None for app in own)]
        few = [value for value, own in apps.items() if value not in none and any(app.get("warnings") for app in own)]
        for key, values in (("q.condition_few", few), ("q.condition_none", none)):
            if values:
                shown = ", ".join(values[:12]) + (" …" if len(values) > 12 else "")
                name = words.named(entry.get("system"))
                lines.append(f"{name}: {words(key, column=entry['column'], values=shown)}")
    return lines


def warnings(system: Facts, words: Words) -> list[str]:
    """Ties, infinities, few errors, scores that look sign-flipped or overconfident; notes on intervals."""
    found = [words.core(str(note)) for note in system.get("intervals", {}).get("notes", ())]
    if system.get("lacking"):
        found.append(words("q.lacking", keys=", ".join(system["lacking"])))
    if "curve" not in system:
        apps = enumerate(system["applications"], 1)
        return found + [
            words("q.application", n=place, words=words.core(one))
            for place, app in apps
            for one in app.get("warnings", ())
        ]
    curve = system["curve"]
    if system["auc"] is not None and system["auc"] < 0.5:
        found.append(words("q.flipped"))
    if system["auc"] == 1.0:
        found.append(words("q.separated"))
    if isinstance(system["cllr"], str) or (system["cllr"] is not None and system["cllr"] > 1.0):
        found.append(words("q.cllr"))
    if curve["thresholds"][1:2] == ["-inf"] or curve["thresholds"][-1] == "inf":  # the first is accepting everything
        found.append(words("q.infinite"))
    distinct, trials = len(curve["thresholds"]) - 1, system["input"]["trials"]
    if curve.get("complete") and curve["unit"] == 0 and distinct < 0.9 * trials:
        found.append(words("q.tied", n=words.whole(int(trials - distinct)), all=words.whole(int(trials))))
    return found + _few(system, words)


def _few(system: Facts, words: Words) -> list[str]:
    """Applications at which fewer errors were counted than the rule of 30 asks for, in one sentence."""
    if weighted(system):
        return [words("q.weighted")]
    found = []
    for app in system["applications"]:
        if app["confusion"] is None or not app["cost_fn"] or not app["cost_fp"]:
            continue
        (_, misses), (alarms, _) = app["confusion"]
        few = [
            words(key + ("_one" if count == 1 else ""), n=words.number(count))
            for count, key in ((misses, "n_misses"), (alarms, "n_alarms")) if count < _ENOUGH
        ]  # fmt: skip
        if few:
            found.append(words("q.at", told=words("and").join(few), point=point_words(app, words)))
    more = [words("q.more", n=len(found) - 3)] if len(found) > 3 else []
    return [words("q.few", told="; ".join(found[:3] + more))] if found else []


def glossary(systems: Sequence[Facts], words: Words) -> str:
    """Every term with its meaning and its formula; of several definitions, the one that was used."""
    more = {"eer": words("and").join(words(f"eer.{name}") for name in _eers(systems)) + "."}
    entries = []
    for key in _TERMS:
        formula = words(f"g.{key}.formula")
        meaning = text(words(f"g.{key}.words") + more.get(key, ""), 600) + (
            tag("code", text(formula, 200)) if formula else ""
        )
        entries.append(tag("div", tag("dt", text(words(f"g.{key}.term"))) + tag("dd", meaning), id=f"g-{key}"))
    return tag("dl", "".join(entries))


def base_name(word: str) -> str:
    """A path, or an option with one, without its folders.

    >>> base_name("/home/x/scores.csv"), base_name("--report=out/page.html"), base_name("0.01,10,1")
    ('scores.csv', '--report=page.html', '0.01,10,1')
    """
    option, equals, value = word.partition("=") if word.startswith("-") else ("", "", word)
    return option + equals + (re.split(r"[\\/]", value.rstrip("\\/"))[-1] if re.search(r"[\\/]", value) else value)


def origin(document: Facts, systems: Sequence[Facts], made: datetime, words: Words) -> str:
    """Inputs with their hashes, the command line, version and time; and which data the page contains."""
    lines = [*origin_lines(document, systems, made, words), _inside(systems, words)]
    return "".join(tag("p", text(line, 500)) for line in lines)


def origin_lines(document: Facts, systems: Sequence[Facts], made: datetime, words: Words) -> list[str]:
    """Inputs with their hashes, the command line, version and time."""
    lines = [words("o.made", version=document.get("tercet", ""), when=f"{made:%Y-%m-%d %H:%M}")]
    if document.get("command"):
        lines.append(words("o.command", command=shlex.join(base_name(str(word)) for word in document["command"])))
    for system in own(systems):
        lines.append(f"{words.called(system)}: {sizes_of(system, words)}")
        files = [("o.file", file) for file in system["input"].get("files", ())]
        files += [("o.calibration_file", file) for file in system.get("calibration", {}).get("files", ())]
        lines += [words(key, name=base_name(str(one.get("name", ""))), sha=one.get("sha256", "")) for key, one in files]
    return lines


def _inside(systems: Sequence[Facts], words: Words) -> str:
    """What of the data this file holds, so that readers know before they share it."""
    curves = [system["curve"] for system in systems if "curve" in system]
    parts = ["o.no_ids"]
    if any(curve.get("complete") for curve in curves):
        parts.append("o.every")
    elif not all("private" in curve for curve in curves):
        parts.append("o.some")
    if any("posteriors" in system for system in systems):
        parts.append("o.rows")
    told = words("o.inside", parts="; ".join(words(part) for part in parts))
    return f"{told} {privacy.sentence(curves, words)}" if curves else told
