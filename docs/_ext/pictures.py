"""Draws the pictures of the theory pages and the gallery with tercet itself, while the site is built."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

# A block of code, and the picture that follows it: what its last line draws.
_BLOCK = re.compile(r"^```python\n(.*?)^```$(?:\n\n!\[[^\]]*\]\(_static/drawn/([\w-]+\.svg)\))?", re.S | re.M)


def _draw(app: Sphinx) -> None:
    from draw import PICTURES

    folder = Path(app.srcdir) / "_static" / "drawn"
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        draw(folder / f"{name}.svg")
    draw_gallery((Path(app.srcdir) / "gallery.md").read_text(encoding="utf-8"), folder)


def draw_gallery(page: str, folder: Path) -> list[str]:
    """Runs the code of the gallery page and saves the pictures that it shows; returns their names."""
    names: dict[str, Any] = {}
    drawn = []
    for code, picture in _BLOCK.findall(page):
        body = ast.parse(code).body
        last = ast.Expression(body.pop().value) if picture else None  # type: ignore[attr-defined]
        exec(compile(ast.Module(body, []), "gallery.md", "exec"), names)
        if last is not None:
            eval(compile(last, "gallery.md", "eval"), names).save(folder / picture)
            drawn.append(picture)
    return drawn


def setup(app: Sphinx) -> dict[str, bool]:
    """Draws once, before the pages are read."""
    app.connect("builder-inited", _draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
