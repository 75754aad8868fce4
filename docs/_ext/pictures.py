"""Draws the pictures of the theory pages and the gallery with tercet itself, while the site is built."""

from __future__ import annotations

from pathlib import Path

from sphinx.application import Sphinx


def _draw(app: Sphinx) -> None:
    from draw import PICTURES

    folder = Path(app.srcdir) / "_static" / "drawn"
    folder.mkdir(parents=True, exist_ok=True)
    for name, draw in PICTURES.items():
        draw(folder / f"{name}.svg")


def setup(app: Sphinx) -> dict[str, bool]:
    """Draws once, before the pages are read."""
    app.connect("builder-inited", _draw)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
