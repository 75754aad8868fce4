"""Writes reference/api.md from the package's own list of public names, so that no name can be missing."""

from __future__ import annotations

import json
from collections.abc import Iterator
from importlib import import_module
from importlib.resources import files
from itertools import groupby
from pathlib import Path
from typing import Any

import tercet

HEAD = """# Python interface

Every name below is available as `tercet.NAME` after `import tercet`.
"""
SCHEMA_HEAD = """# JSON

Every JSON that tercet writes begins with `schema_version` and `tercet`, the version that wrote it. The JSON Schemas are
part of the package, in `tercet/report/schema`; this page is made from them. A field that is described here keeps its
name and type until `schema_version` changes. Fields may be added without a new version, so readers should ignore what
they do not know. A result of another `schema_version` is refused in a sentence that names both versions.
"""
# Modules whose public names are reached through the module itself.
MODULES = ("datasets", "recognizers", "sklearn", "testing")


def _summary(module: str, names: list[str]) -> str:
    lines = "\n".join(f"   {name}" for name in names)
    return f"```{{eval-rst}}\n.. currentmodule:: {module}\n\n.. autosummary::\n   :toctree: generated\n\n{lines}\n```\n"


def _title(module: str) -> str:
    doc = import_module(module).__doc__ or module
    return doc.strip().splitlines()[0].rstrip(".")


def _sections() -> list[str]:
    sections = [HEAD]
    for package, entries in groupby(tercet._PUBLIC.items(), key=lambda entry: entry[0].split(".")[0]):
        names = sorted(name for _, listed in entries for name in listed)
        sections.append(f"## {_title(f'tercet.{package}')}\n\n{_summary('tercet', names)}")
    for module in (*MODULES, *(name for name in tercet._MODULES if name not in (*MODULES, "io", "report"))):
        names = list(import_module(f"tercet.{module}").__all__)
        sections.append(f"## `tercet.{module}`\n\n{_summary(f'tercet.{module}', names)}")
    return sections


def _fields(schema: dict[str, Any], path: str = "") -> Iterator[tuple[str, str, str]]:
    """(path, type, remark) of each field that a JSON Schema describes, in its order."""
    required = schema.get("required", [])
    for name, field in schema.get("properties", {}).items():
        kind = field.get("type", "one of " + ", ".join(map(str, field["enum"])) if "enum" in field else "")
        kind = " or ".join(kind) if isinstance(kind, list) else kind
        items = field.get("items", {}) if isinstance(field.get("items"), dict) else {}
        place = (field.get("$ref") or items.get("$ref") or "").rpartition("/")[2]
        kind = f"{'array of ' if items else ''}[{place}](#{place.replace('_', '-')})" if place else kind
        yield f"{path}{name}", kind, "always" if name in required else ""
        yield from _fields(field, f"{path}{name}.")


def schema_page() -> str:
    """The fields of every JSON that tercet writes, read off the schemas in the package."""
    parts = [SCHEMA_HEAD]
    for file in sorted((files("tercet") / "report" / "schema").iterdir(), key=lambda file: file.name):
        if not file.name.endswith(".json"):
            continue
        schema = json.loads(file.read_text(encoding="utf-8"))
        parts.append(f"## `{file.name}`: {schema['title'][0].lower()}{schema['title'][1:]}\n")
        for name, part in (("", schema), *schema.get("$defs", {}).items()):
            rows = "".join(f"| `{path}` | {kind} | {remark} |\n" for path, kind, remark in _fields(part))
            title = f"### {name}\n\n" if name else ""
            if rows:
                parts.append(f"{title}| field | type | |\n|---|---|---|\n{rows}")
    return "\n".join(parts)


def write(page: Path) -> None:
    """Writes the page and schema.md beside it, unless they are there already as they should be."""
    for place, text in ((page, "\n".join(_sections())), (page.with_name("schema.md"), schema_page())):
        if not place.exists() or place.read_text(encoding="utf-8") != text:
            place.write_text(text, encoding="utf-8")
