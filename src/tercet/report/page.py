"""The page: one self-contained HTML file in which anyone moves the prior and the costs."""

from __future__ import annotations

import base64
import hashlib
import html
import json
import os
import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib.resources import files
from itertools import pairwise
from pathlib import Path
from typing import Any

from tercet._numeric.validation import flag, instance, listed, shown, whole
from tercet._numeric.validation import path as checked_path
from tercet._numeric.validation import text as checked_text
from tercet.application import Application
from tercet.errors import InputError
from tercet.metrics.curve_summary import STAYS
from tercet.report import sections
from tercet.report.markup import Facts, text
from tercet.report.packing import packed
from tercet.report.schema import faults, schema

_SLOT = re.compile(r"\{\{(\w+)\}\}")
_ESCAPES = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_KEPT = ("schema_version", "tercet", "command", "conditions", "default_applications")
_SCRIPTS = ("numbers", "words", "systems", "chart", "figures", "tables", "entries", "classes", "saving", "page")


def page(document: Facts, title: str | None = None) -> str:
    """The page of a result: the document that `tercet evaluate --json` prints."""
    systems = _flat(document)
    style, script = _part("page.css"), _script(any("posteriors" in system for system in systems))
    two = [system for system in systems if "curve" in system]
    made = datetime.now(UTC)
    own = any("within" not in system for system in two)  # else each class against the rest, after the whole
    slots = {
        "title": text(title or sections.title(systems), 120),
        "what": sections.what(systems),
        "version": text(document.get("tercet", "")),
        "style": style,
        "script": script,
        "style_hash": _hash(style),
        "script_hash": _hash(script),
        "verdicts": sections.verdicts(systems),
        "comparison": sections.comparison(two),
        "figures": sections.figures(two),
        "classes_first": "" if own else sections.classes(systems) + sections.against_rest(two),
        "classes": sections.classes(systems) if own else "",
        "applications": sections.applications(systems) + sections.conditions(document),
        "quality": sections.quality(systems),
        "glossary": sections.glossary(two),
        "when": f"{made:%Y-%m-%d}",
        "origin": sections.origin(document, systems, made),
        "data": _data(document, systems),
    }
    return _SLOT.sub(lambda slot: slots[slot[1]], _part("page.html"))


def report(
    evaluations: Any,
    path: str | os.PathLike[str],
    title: str | None = None,
    *,
    posteriors: Any = None,
    private: bool = False,
) -> Path:
    """Writes the page of one evaluation or several; the file is whole or is not there.

    posteriors: the trials of a several-class evaluation, or {name: trials}, of which rows are put into the page so
    that its priors and costs can be edited there. Otherwise no row is in it.
    private: a coarser curve, from which no score can be read back.
    """
    from tercet.io import write_text_atomically

    path = checked_path(path, "path")
    if title is not None:
        checked_text(title, "title")
    document = document_of(evaluations, posteriors)
    if flag(private, "private"):
        from tercet.report.privacy import private as coarser

        document = coarser(document)
    write_text_atomically(path, page(document, title))
    return Path(path)


def iframe(evaluations: Any, height: int = 900) -> str:
    """The page inside a frame, for notebooks: its style and script touch nothing around it.

    A div around it, because IPython's HTML() warns of whatever is a bare frame.
    """
    inside, pixels = html.escape(page(document_of(evaluations))), whole(height, "height", 1, 100_000)
    return (
        f'<div><iframe srcdoc="{inside}" sandbox="allow-scripts allow-downloads allow-modals" width="100%" '
        f'height="{pixels}" frameborder="0"></iframe></div>'
    )


def document_of(evaluations: Any, posteriors: Any = None) -> Facts:
    """The JSON document of evaluations, with rows of some where asked for."""
    from tercet import __version__
    from tercet.evaluation import Evaluation, MulticlassEvaluation

    kinds = (Evaluation, MulticlassEvaluation, dict)
    given = [evaluations] if isinstance(evaluations, kinds) else listed(evaluations, "evaluations")
    if not given:
        raise InputError("evaluations must hold at least one evaluation.")
    systems = [_checked(one) if isinstance(one, dict) else _facts(instance(one, kinds, "evaluations")) for one in given]
    if posteriors is not None:
        systems = _with_posteriors(systems, posteriors)
    return {"schema_version": 1, "tercet": __version__, "systems": systems}


def _facts(evaluation: Any) -> Facts:
    found: Facts = evaluation.to_dict()
    return found


def _checked(system: Facts) -> Facts:
    """One entry of "systems" in the JSON, refused where it breaks the schema."""
    for place, problem in faults({"schema_version": 1, "tercet": "", "systems": [system]}, schema("result")):
        raise InputError(f"evaluations hold a dict that is not one of tercet's results: {place} {problem}.")
    return system


def _with_posteriors(systems: Sequence[Facts], posteriors: Any) -> list[Facts]:
    """The systems, those that were named with rows of their trials."""
    from tercet.report.embedded_rows import with_rows

    names = [system.get("name") for system in systems if "log_loss" in system]
    if not isinstance(posteriors, Mapping):
        if len(names) != 1:
            raise InputError(f"posteriors must be {{name: trials}}: {len(names)} systems have several classes.")
        posteriors = {names[0]: posteriors}
    for name in posteriors:
        if names.count(name) != 1:
            raise InputError(f"posteriors names {shown(name)}: {names.count(name)} systems of several classes have it.")
    return [
        with_rows(system, posteriors[system.get("name")])
        if "log_loss" in system and system.get("name") in posteriors
        else system
        for system in systems
    ]


def _part(name: str) -> str:
    """A file of the page without indentation and lines of comment, which are for who reads the file itself."""
    lines = (files("tercet.report") / "page" / name).read_text(encoding="utf-8").split("\n")
    return "\n".join(line.strip() for line in lines if line.strip() and not line.lstrip().startswith("//"))


def _script(with_rows: bool) -> str:
    """All scripts as one, which leaves no name behind in the window; editing several classes needs rows."""
    parts = (_part(f"{name}.js") for name in _SCRIPTS if with_rows or name != "classes")
    return "\n".join(['"use strict";', "(() => {", *parts, "})();"])


def _hash(inline: str) -> str:
    """What the Content-Security-Policy knows an inline part by."""
    return "sha256-" + base64.b64encode(hashlib.sha256(inline.encode("utf-8")).digest()).decode("ascii")


def _flat(document: Facts) -> list[Facts]:
    """All systems, each class of a several-class one against the rest as a system of its own.

    "within" then says of which, and what it was called there.
    """
    found: list[Facts] = []
    several = sum("versus" in system for system in document["systems"]) > 1
    for system in document["systems"]:
        found.append({key: value for key, value in system.items() if key != "versus"})
        whole = len(found) - 1
        for part in system.get("versus", ()):
            own = part.get("name") or "a class"
            called = f"{system.get('name') or 'system'}: {own}" if several else own
            found.append({**part, "name": called, "within": [whole, part.get("name")]})
    if not found:
        raise InputError("The result holds no system.")
    return found


def _data(document: Facts, systems: Sequence[Facts]) -> str:
    """The document as JSON that no parser of HTML can mistake for markup."""
    plain = {key: document[key] for key in _KEPT if key in document}
    plain["systems"] = [_packed(system) for system in systems]
    plain["points"] = _points()
    dumped = json.dumps(plain, allow_nan=False, separators=(",", ":"), ensure_ascii=False)
    return re.sub("[<>&\u2028\u2029]", lambda found: _ESCAPES[found[0]], dumped)


def _points() -> list[Facts]:
    """Operating points that everyone may choose: the common ones first, then those of public evaluations."""
    common = [Application(prior) for prior in (0.5, 0.1, 0.01, 0.001)]
    named = [Application.named(name) for name in Application.names()]
    labels = [f"1 in {round(1 / app.prior)}, equal costs" for app in common] + [str(app.name) for app in named]
    return [
        {"prior": app.prior, "cost_fn": app.cost_fn, "cost_fp": app.cost_fp, "label": label}
        for app, label in zip([*common, *named], labels, strict=True)
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
    rows = [value for row in kept["log_likelihoods"] for value in row]
    return {
        **kept,
        "log_likelihoods": _doubles(rows),
        "weights": None if kept["weights"] is None else _doubles(kept["weights"]),
    }


def _doubles(values: Iterable[Any]) -> str:
    """Numbers as the bytes of doubles, in base64; infinities may be texts."""
    plain = [float(value) for value in values]
    return base64.b64encode(struct.pack(f"<{len(plain)}d", *plain)).decode("ascii")


def _packed_points(points: Facts) -> Facts:
    """Points in few bytes; false alarms, which fall, with their sign turned."""
    columns: Facts = {key: packed(points[key]) for key in ("thresholds", "llrs", "misses") if key in points}
    columns["false_alarms"] = packed(-count for count in points["false_alarms"])
    if "path" in points:
        columns["path"] = [packed(_turns(points["path"], kinds)) for kinds in (STAYS["misses"], STAYS["false_alarms"])]
    return {**points, **columns}


def _countable(curve: Facts) -> Facts:
    """The curve with counts that a double can hold: weights of all sizes may count in too small a unit for that."""
    extra = max(curve["targets"], curve["nontargets"]).bit_length() - 1000
    if extra <= 0:
        return curve
    larger = {key: curve[key] >> extra for key in ("targets", "nontargets")}
    columns, hull = ({key: [n >> extra for n in part[key]] for key in STAYS} for part in (curve, curve["hull"]))
    return {**curve, **larger, **columns, "unit": curve["unit"] + extra, "hull": {**curve["hull"], **hull}}


def _turns(path: str, kinds: str) -> list[int]:
    """Where the path begins or ceases to be of these kinds."""
    among = [False, *(kind in kinds for kind in path)]
    return [place for place, (before, now) in enumerate(pairwise(among)) if before != now]
