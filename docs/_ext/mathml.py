"""Formulas as MathML: every browser of today renders it, so the site needs neither a network nor a script."""

from __future__ import annotations

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx
from sphinx.errors import ExtensionError
from sphinx.writers.html5 import HTML5Translator

# TeX puts a thin space between a function and what stands beside it, but not before a bracket.
_FUNCTION = re.compile(r"(?P<before>[\w})]\s*)?(?P<name>\\(?:ln|log)(?![a-z])(?:_\w)?)\s*(?P<bracket>\(|\\left)?")


def _spaced(found: re.Match[str]) -> str:
    before = rf"{found['before']}\," if found["before"] else ""
    return before + found["name"] + (found["bracket"] or r"\, ")


def rendered(formula: str, display: str = "inline") -> str:
    """The MathML of a LaTeX formula; a command that the converter does not know is an error."""
    written = convert(_FUNCTION.sub(_spaced, formula), display=display)
    unknown = re.search(r">(\\[a-zA-Z]+)", written)
    if unknown:
        raise ExtensionError(f"{unknown[1]} in the formula {formula!r} cannot be rendered")
    return written


def _inline(writer: HTML5Translator, node: nodes.math) -> None:
    writer.body.append(rendered(node.astext()))
    raise nodes.SkipNode


def _block(writer: HTML5Translator, node: nodes.math_block) -> None:
    writer.body.append(f'<div class="math-block">{rendered(node.astext(), "block")}</div>')
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, bool]:
    """Registers the renderer."""
    app.add_html_math_renderer("mathml", inline_renderers=(_inline, None), block_renderers=(_block, None))
    app.config.html_math_renderer = "mathml"
    return {"parallel_read_safe": True, "parallel_write_safe": True}
