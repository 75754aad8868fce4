"""Writes reference/api.md from the package's own list of public names, so that no name can be missing."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

from public import is_member, listed, public_objects

import tercet
from tercet.report.schema import published

HEAD = """# Python interface

Names in the first sections are available as `tercet.NAME` after `import tercet`; those of a module, such as
`tercet.datasets.detection`, through the module.
"""
RESULTS = "Classes that the functions above return; they are not made by hand.\n"
SCHEMA_HEAD = """# JSON

Every JSON that tercet writes begins with `schema_version` and `tercet`, the version that wrote it. The JSON Schemas are
part of the package, by name in `tercet/report/schemas.json`; this page is made from them. A field that is described
here keeps its name and type until `schema_version` changes. Fields may be added without a new version, so readers
should ignore unknown fields. A result of another `schema_version` is refused in a sentence that names both versions.
"""
# Packages whose public names are names of `tercet` itself, in the order of the page.
PACKAGES = {
    "trials": "Trials",
    "application": "Operating points",
    "decision": "Decisions",
    "evaluation": "Evaluation",
    "conditions": "Results by condition",
    "metrics": "Counts, curves and costs",
    "uncertainty": "Intervals and comparisons",
    "calibration": "Calibration and fusion",
    "deployment": "Rules, abstaining, prevalence, gaps between groups, grids of models",
    "report": "Tables, figures and the page",
    "io": "Reading files",
    "outofcore": "More trials than memory",
    "errors": "Errors",
}
# Modules whose public names are reached through the module itself, in the order of the page.
MODULES = ("uncertainty", "io", "io.score_sets", "datasets", "recognizers", "sklearn", "outofcore", "testing")


def _summary(module: str, names: list[str]) -> str:
    lines = "\n".join(f"   {name}" for name in names)
    return f"```{{eval-rst}}\n.. currentmodule:: {module}\n\n.. autosummary::\n   :toctree: generated\n\n{lines}\n```\n"


def _sections() -> list[str]:
    sections, shown = [HEAD], set(map(id, map(tercet.__getattr__, tercet._MODULE_OF)))
    for package, title in PACKAGES.items():
        names = sorted(name for name, module in tercet._MODULE_OF.items() if module.split(".")[0] == package)
        if package == "report":
            names.append("report.report")
        sections.append(f"## {title}\n\n{_summary('tercet', names)}")
    for module in (*MODULES, *(name for name in tercet._MODULES if name not in (*MODULES, "report"))):
        loaded = import_module(f"tercet.{module}")
        names = [name for name in loaded.__all__ if id(getattr(loaded, name)) not in shown]
        sections.append(f"## `tercet.{module}`\n\n{_summary(f'tercet.{module}', names)}")
    sections.append(f"## Results\n\n{RESULTS}\n{_summary('tercet', _results())}")
    return sections


def _results() -> list[str]:
    """Paths of the classes that only functions and methods make."""
    known = listed()
    return sorted(
        path.removeprefix("tercet.")
        for value, path in public_objects().items()
        if value not in known and not is_member(path)
    )


def _kind(field: dict[str, Any]) -> str:
    """The type of a field in words; parts that are described apart are links to their headings."""
    place = field.get("$ref", "").rpartition("/")[2]
    if place:
        return f"[{place}](#{place.replace('_', '-')})"
    if "then" in field:  # a class list makes it one of several classes
        return f"{_kind(field['then'])} or {_kind(field['else'])}"
    for several in ("anyOf", "oneOf"):
        if several in field:
            return " or ".join(filter(None, map(_kind, field[several])))
    if isinstance(field.get("items"), dict):
        return f"array of {_kind(field['items']) or 'anything'}"
    if "enum" in field:
        return "one of " + ", ".join(map(str, field["enum"]))
    kind = field.get("type", "")
    return " or ".join(kind) if isinstance(kind, list) else str(kind)


def _fields(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, str, str]]:
    """(path, type, remark) of each field that a JSON Schema describes, in its order."""
    for name, field in schema.get("properties", {}).items():
        yield f"{path}{name}", _kind(field), "always" if name in schema.get("required", []) else ""
        yield from _fields(field, f"{path}{name}.")


def _part(name: str, schema: dict[str, Any]) -> str:
    """One described part: its heading and its fields, or what it is if it has none."""
    rows = "".join(f"| `{path}` | {kind} | {remark} |\n" for path, kind, remark in _fields(schema))
    body = f"| field | type | |\n|---|---|---|\n{rows}" if rows else f"{_kind(schema) or 'anything'}\n"
    return f"### {name}\n\n{body}" if name else body


def schema_page() -> str:
    """The fields of every JSON that tercet writes, read off the schemas in the package."""
    parts = [SCHEMA_HEAD]
    for called, schema in published().items():
        parts.append(f"## `{called}`: {schema['title'][0].lower()}{schema['title'][1:]}\n")
        parts += [_part(name, part) for name, part in (("", schema), *schema.get("$defs", {}).items())]
    return "\n".join(parts)


def write(page: Path) -> None:
    """Writes the page and schema.md beside it, unless they are there already as they should be."""
    for place, text in ((page, "\n".join(_sections())), (page.with_name("schema.md"), schema_page())):
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            place.write_text(text, encoding="utf-8")
