"""The page: one self-contained HTML file in which the reader can change the prior and the costs.

What the page needs and a result of another version lacks is computed or left unknown, and named.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
import math
import re
import struct
import sys
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Any

from tercet._numeric.validation import instance, listed, shown, whole
from tercet.application import Application
from tercet.errors import InputError
from tercet.metrics.curve_summary import STAYS, count_at
from tercet.report import evidence, sections, verdict
from tercet.report.fitting import fitted, is_coarse
from tercet.report.language import Words
from tercet.report.markup import Facts, text
from tercet.report.packing import packed
from tercet.report.schema import faults, schema

_SLOT = re.compile(r"\{\{(t\.)?(\w+)\}\}")
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_KEPT = ("schema_version", "tercet", "title", "conditions", "default_applications", "comparison", "reduced")
_SCRIPTS = ("numbers", "words", "systems", "classes", "figures", "compare", "verdict", "page")
_KEPT_TOGETHER = re.compile(r"(?<=\d) (?=%|: \d)|(?<=\d :) (?=\d)|(?<=[●○✕·]) ")  # non-breaking spaces
_CODES = 65534  # steps of 16 bits, one code standing for minus infinity
_LITERAL = re.compile(  # a string, or a regular expression where no division is possible
    r'"(?:\\.|[^"\\\n])*"|(?:(?<![\w)\] ])|(?<=[=&|?:] ))/(?! )(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\\\n])+/'
)
_SPACED = re.compile(
    r" ?(?:=>|[=!]==|[<>]=|&&|\|\||\?\?|[=?:,;<>*({]) ?| ?[)}]"
)  # what follows } may be text of a template
_WORDS = re.compile(r"(?:\\.|\$(?!\{)|[^`$\\])+|\$\{", re.DOTALL)


def page(document: Facts, title: str | None = None, language: str = "en") -> str:
    """The page of a result: the document that `tercet evaluate --json` prints."""
    words = Words(language)
    systems = flat(document, words)
    if any(system.get("input", {}).get("trials", 0) > sys.float_info.max for system in systems):
        raise InputError("The weights add up to more than the largest double, which no page can show: divide them.")
    return fitted(document, systems, lambda facts, systems: _written(facts, systems, title, words))


def _written(document: Facts, systems: Sequence[Facts], title: str | None, words: Words) -> str:
    """The page that holds all of this."""
    style, script = _part("page.css"), _script(any("posteriors" in system for system in systems))
    two = [system for system in systems if "curve" in system]
    made = datetime.now(UTC)
    own = any("within" not in system for system in two)  # else each class against the rest, after the whole
    classes = sections.classes(systems, words)
    slots = {
        "title": text(title or document.get("title") or evidence.title(systems, words), 120),
        "language": words.language,
        "what": evidence.what(systems, made, words, bool(title or document.get("title"))),
        "version": text(document.get("tercet", "")),
        "style": style,
        "script": script,
        "style_hash": _hash(style),
        "script_hash": _hash(script),
        "verdicts": verdict.verdicts(document, systems, words),
        "comparison": sections.comparison(two, words),
        "differences": sections.differences(document, words),
        "conditions": sections.conditions(document, words),
        "figures": sections.figures(two, words),
        "classes_first": "" if own else classes + sections.against_rest(two, words),
        "classes": classes if own else "",
        "method": evidence.method(document, systems, words),
        "applications": sections.applications(systems, words),
        "quality": evidence.quality(document, systems, words),
        "glossary": evidence.glossary(two, words),
        "origin": evidence.origin(document, systems, made, words),
        "data": _data(document, systems, words.for_scripts(script)),
    }
    return _SLOT.sub(lambda slot: _slot(slot, slots, words), _part("page.html"))


def _slot(slot: re.Match[str], slots: Mapping[str, str], words: Words) -> str:
    """What stands in a slot of the page; a sign stays on the line of its number or word."""
    filled = text(words(slot[2]), 2000) if slot[1] else slots[slot[2]]
    return filled if slot[2] in ("data", "script", "style") else _KEPT_TOGETHER.sub("\u00a0", filled)


def iframe(evaluations: object, height: int = 900) -> str:
    """The page inside a frame, for notebooks: its style and script touch nothing around it.

    It is wrapped in a div, because IPython's HTML() warns about a bare frame.
    """
    inside, pixels = html.escape(page(document_of(evaluations))), whole(height, "height", 1, 100_000)
    return (
        f'<div><iframe srcdoc="{inside}" sandbox="allow-scripts allow-downloads allow-modals" width="100%" '
        f'height="{pixels}" frameborder="0"></iframe></div>'
    )


def document_of(evaluations: object, posteriors: object = None, comparison: object = None) -> Facts:
    """The JSON document of evaluations, with rows of some and paired differences where asked for."""
    from tercet import __version__
    from tercet.evaluation import Evaluation, MulticlassEvaluation
    from tercet.uncertainty import Comparison

    kinds: Any = (Evaluation, MulticlassEvaluation, dict)
    if (kind := type(evaluations).__name__) in ("Trials", "Scan"):
        raise InputError(
            f"evaluations must be what tercet.evaluate returns, not {kind}: report(evaluate(trials), path)."
        )
    given = [evaluations] if isinstance(evaluations, kinds) else listed(evaluations, "evaluations")
    if not given:
        raise InputError("evaluations must hold at least one evaluation.")
    systems: list[Facts] = [
        _checked(one) if isinstance(one, dict) else instance(one, kinds, "evaluations").to_dict() for one in given
    ]
    if posteriors is not None:
        systems = _with_posteriors(systems, posteriors)
    found: Facts = {"schema_version": 1, "tercet": __version__, "systems": systems}
    if comparison is not None:
        found["comparison"] = instance(comparison, Comparison, "comparison").to_dict()
    return found


def _checked(system: Facts) -> Facts:
    """One entry of "systems" in the JSON, refused where it breaks the schema."""
    for place, problem in faults({"schema_version": 1, "tercet": "", "systems": [system]}, schema("result")):
        raise InputError(f"evaluations hold a dict that is not one of tercet's results: {place} {problem}.")
    return system


def _with_posteriors(systems: Sequence[Facts], posteriors: object) -> list[Facts]:
    """The systems, those that were named with rows of their trials."""
    from tercet.report.packing import with_rows

    names = [system.get("name") for system in systems if "log_loss" in system]
    if isinstance(posteriors, Mapping):
        rows = posteriors
    else:
        if len(names) != 1:
            raise InputError(f"posteriors must be {{name: trials}}: {len(names)} systems have several classes.")
        rows = {names[0]: posteriors}
    for name in rows:
        if names.count(name) != 1:
            raise InputError(f"posteriors names {shown(name)}: {names.count(name)} systems of several classes have it.")
    return [
        with_rows(system, rows[system.get("name")]) if "log_loss" in system and system.get("name") in rows else system
        for system in systems
    ]


@cache
def _part(name: str) -> str:
    """A file of the page without indentation and comments, which are for readers of the source."""
    whole = (files("tercet.report") / "page" / name).read_text(encoding="utf-8")
    lines = (line.strip() for line in re.sub(r"(^|  )// .*$", "", whole, flags=re.MULTILINE).split("\n"))
    return "\n".join(line for line in lines if line)


@cache
def _script(with_rows: bool) -> str:
    """All scripts as one, which defines no global names; editing several classes needs rows."""
    parts = (_part(f"{name}.js") for name in _SCRIPTS if with_rows or name != "classes")
    return squeezed("\n".join(['"use strict";', "(() => {", *parts, "})();"]))


def _hash(inline: str) -> str:
    """The hash by which the Content-Security-Policy identifies an inline part."""
    return "sha256-" + base64.b64encode(hashlib.sha256(inline.encode("utf-8")).digest()).decode("ascii")


def flat(document: Facts, words: Words) -> list[Facts]:
    """All systems, each class of a several-class one against the rest as a system of its own.

    "within" then says of which, and what it was called there.
    """
    found: list[Facts] = []
    several = sum("versus" in system for system in document["systems"]) > 1
    for system in document["systems"]:
        found.append(completed({key: value for key, value in system.items() if key != "versus"}))
        whole = len(found) - 1
        for part in system.get("versus", ()):
            own = words.core(part.get("name") or "a class")
            called = f"{system.get('name') or 'system'}: {own}" if several else own
            found.append(completed({**part, "name": called, "within": [whole, part.get("name")]}))
    if not found:
        raise InputError("The result holds no system.")
    return found


def _data(document: Facts, systems: Sequence[Facts], strings: dict[str, str]) -> str:
    """The document as JSON that no parser of HTML can mistake for markup; of paths it holds base names only."""
    plain = {key: document[key] for key in _KEPT if key in document}
    if "command" in document:
        plain["command"] = [evidence.base_name(str(word)) for word in document["command"]]
    if "comparison" in document:
        plain["comparison"] = _of_costs(document["comparison"])
    plain["words"] = strings
    kept = [_without_methods(system) for system in systems] if document.get("reduced") else systems
    plain["systems"] = [_packed(system) for system in kept]
    plain["points"] = _points()
    dumped = json.dumps(plain, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    return re.sub("[<>&\u2028\u2029]", lambda found: _ESCAPES[found[0]], dumped)


def _without_methods(system: Facts) -> Facts:
    """A system without what the page says of its intervals in words."""
    told = {key: one for key, one in system.get("intervals", {}).items() if key not in ("methods", "missing")}
    return {**system, "intervals": told} if told else system


def _of_costs(comparison: Facts) -> Facts:
    """What the page draws of a comparison: differences in DCF, one row each, under the keys that words.js uses."""
    kept = ("names", "level", "paired", "paired_by", "points", "notes", "seed")
    costs = [one for one in comparison.get("differences", ()) if str(one["quantity"]).endswith(".dcf")]
    keys = ("value", "value_ci", "p_value", "adjusted")
    names = comparison["names"]
    rows = [
        [int(str(one["quantity"]).split(".")[1]), *(names.index(one[side]) for side in ("first", "second")),
         *(one.get(key) for key in keys)]
        for one in costs
    ]  # fmt: skip
    return {key: comparison[key] for key in kept if key in comparison} | {"differences": rows}


def _points() -> list[Facts]:
    """Operating points to choose from: the common ones first, then those of public evaluations."""
    common = [Application(prior) for prior in (0.5, 0.1, 0.01, 0.001)]
    named = [Application.named(name) for name in Application.names()]
    return [
        {"prior": app.prior, "cost_fn": app.cost_fn, "cost_fp": app.cost_fp}
        | ({} if app.name is None else {"label": app.name})
        for app in [*common, *named]
    ]


def _packed(system: Facts) -> Facts:
    """A system with its curve in few bytes."""
    if "posteriors" in system:
        return {**system, "posteriors": _packed_rows(system["posteriors"])}
    if "curve" not in system:
        return system
    curve, histogram = _countable(system["curve"]), system["histogram"]
    edges = histogram["edges"]
    return {
        **system,
        "curve": {**_packed_points(curve), "hull": _packed_points(curve["hull"])},
        "histogram": {
            "low": edges[0] if edges else 0,
            "high": edges[-1] if edges else 0,
            **{key: histogram[key] for key in ("targets", "nontargets")},
        },
    }


def _packed_rows(kept: Facts) -> Facts:
    """Rows as doubles where they are few, else as steps below the largest in 16 bits."""
    rows = [float(value) for row in kept["log_likelihoods"] for value in row]
    packed_weights = {"weights": _packed_weights(kept)}
    if not is_coarse(kept):
        return {**kept, **packed_weights, "log_likelihoods": _doubles(rows)}
    step = max(-min((value for value in rows if value > -math.inf), default=0.0) / _CODES, 1e-12)
    codes = [_CODES + 1 if value == -math.inf else min(max(round(-value / step), 0), _CODES) for value in rows]
    words = base64.b64encode(struct.pack(f"<{len(codes)}H", *codes)).decode("ascii")
    return {**kept, **packed_weights, "log_likelihoods": words, "step": step}


def _packed_weights(kept: Facts) -> str | list[float] | None:
    """Weights of rows as doubles; where all rows of a class weigh the same, one for each class."""
    if kept["weights"] is None:
        return None
    pairs = set(zip(kept["labels"], kept["weights"], strict=True))
    found = dict(pairs)
    if len(found) < len(pairs):
        return _doubles(kept["weights"])
    return [found.get(code, 0.0) for code in range(len(kept["log_likelihoods"][0]))]


def _doubles(values: Iterable[float | str]) -> str:
    """Numbers as the bytes of doubles, in base64; infinities may be texts."""
    plain = [float(value) for value in values]
    return base64.b64encode(struct.pack(f"<{len(plain)}d", *plain)).decode("ascii")


def _packed_points(points: Facts) -> Facts:
    """Points in few bytes; false alarms, which fall, with a changed sign."""
    columns: Facts = {key: packed(points[key]) for key in ("thresholds", "llrs", "misses") if key in points}
    columns["false_alarms"] = packed(-count for count in points["false_alarms"])
    if "path" in points:
        columns["path"] = [packed(_turns(points["path"], kinds)) for kinds in (STAYS["misses"], STAYS["false_alarms"])]
    return {**points, **columns}


def _countable(curve: Facts) -> Facts:
    """The curve with counts that a double can hold: the unit of very unequal weights may be too small for that."""
    extra = max(curve["targets"], curve["nontargets"]).bit_length() - 1000
    if extra <= 0:
        return curve
    larger = {key: curve[key] >> extra for key in ("targets", "nontargets")}
    columns, hull = ({key: [n >> extra for n in part[key]] for key in STAYS} for part in (curve, curve["hull"]))
    return {**curve, **larger, **columns, "unit": curve["unit"] + extra, "hull": {**curve["hull"], **hull}}


def _turns(path: str, kinds: str) -> list[int]:
    """Where the path starts or stops being of these kinds."""
    among = [False, *(kind in kinds for kind in path)]
    return [place for place, (before, now) in enumerate(pairwise(among)) if before != now]


def squeezed(script: str) -> str:
    """JavaScript without the spaces around signs; strings, regular expressions and text of templates are kept.

    >>> squeezed('f(a, b) || `${a ? ` (${b})` : ""} , c`;')
    'f(a,b)||`${a?` (${b})`:""} , c`;'
    """
    parts: list[str] = []
    inside, at, in_words = list[int](), 0, False  # inside: the braces open in each ${ of a template
    while at < len(script):
        found = _WORDS.match(script, at) if in_words else _LITERAL.match(script, at) or _SPACED.match(script, at)
        piece = found[0] if found else script[at]
        sign = piece.strip(" ") if found and found.re is _SPACED else piece
        if sign == "`":
            in_words = not in_words
        elif in_words and sign == "${":
            in_words = False
            inside.append(0)
        elif inside and sign == "}" and inside[-1] == 0:
            in_words = True
            inside.pop()
        elif inside and sign in "{}":
            inside[-1] += 1 if sign == "{" else -1
        parts.append(sign)
        at += len(piece)
    return "".join(parts)


_SIDE: Facts = {"bins": [], "below": 0, "above": 0}
_UNKNOWN: Facts = {
    "auc": None, "cllr": None, "min_cllr": None, "bayes_plot": {"log_odds": [], "dcf": None, "min_dcf": []},
    "histogram": {"edges": [], "targets": _SIDE, "nontargets": _SIDE},
}  # fmt: skip
_OF_POINTS = ("confusion", "fnr", "fpr", "dcf_u")


def completed(system: Facts) -> Facts:
    """A system with everything that the page reads; "lacking" names what was not in the result."""
    return _of_classes(system) if "classes" in system else _of_two(system)


def _of_classes(system: Facts) -> Facts:
    names = [str(name) for name in system["classes"]]
    apps = [
        {"actions": names if len(app["costs"]) == len(names) else [str(row) for row, _ in enumerate(app["costs"], 1)],
         "contributions": None, **app}
        for app in system["applications"]
    ]  # fmt: skip
    found = {**system, "applications": apps}
    lacking = {key for app, whole in zip(system["applications"], apps, strict=True) for key in whole if key not in app}
    if "posteriors" in system:
        count = len(system["posteriors"]["labels"])
        found["posteriors"] = {"weights": None, "kept": count, "of": count, "seed": None, **system["posteriors"]}
    return {**found, "lacking": sorted(lacking)} if lacking else found


def _of_two(system: Facts) -> Facts:
    lacking = [key for key in ("curve", *_UNKNOWN) if key not in system]
    lacking += [key for key in _OF_POINTS if any(key not in app for app in system["applications"])]
    if not lacking and "unit" in system["curve"] and "targets" in system["input"]:
        return system
    found = {**_UNKNOWN, **system, "lacking": lacking}
    if "curve" in system:
        curve = found["curve"] = {"unit": 0, **system["curve"]}
        sizes = {side: curve[side] * 2.0 ** curve["unit"] for side in ("targets", "nontargets")}
        found["input"] = {**sizes, **system["input"]}
    found["applications"] = [_completed_point(app, found.get("curve")) for app in system["applications"]]
    return found


def _completed_point(app: Facts, curve: Facts | None) -> Facts:
    """An operating point with its rates and its cost per case, read off the curve where they are not in the result."""
    found = {**dict.fromkeys(_OF_POINTS), **app}
    if curve is not None and app["dcf"] is not None:
        read = {key: count_at(curve, key, float(app["threshold"])) for key in ("misses", "false_alarms")}
        rates = {"fnr": read["misses"] / curve["targets"], "fpr": read["false_alarms"] / curve["nontargets"]}
        found |= {key: rate for key, rate in rates.items() if found[key] is None}
    if found["fnr"] is not None and found["dcf_u"] is None:
        prior = app["prior"]
        found["dcf_u"] = prior * app["cost_fn"] * found["fnr"] + (1.0 - prior) * app["cost_fp"] * found["fpr"]
    return found
