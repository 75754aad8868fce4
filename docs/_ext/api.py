"""Writes reference/api.md from the package's own list of public names, so that no name can be missing."""

from __future__ import annotations

from importlib import import_module
from itertools import groupby
from pathlib import Path

import tercet

HEAD = """# Python interface

Every name below is available as `tercet.NAME` after `import tercet`.
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


def write(page: Path) -> None:
    """Writes the page, unless it is there already as it should be."""
    text = "\n".join(_sections())
    if not page.exists() or page.read_text(encoding="utf-8") != text:
        page.write_text(text, encoding="utf-8")
