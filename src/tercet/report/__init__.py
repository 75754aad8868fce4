"""Output: an evaluation's facts in; text, figures or a page out. Nothing here computes a result or sees a trial."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any


def report(evaluations: Any, path: str | PathLike[str], title: str | None = None) -> Path:
    """Writes one self-contained HTML page about one evaluation or several."""
    from tercet.report.page import report as write

    return write(evaluations, path, title)


def plot(evaluation: Any, kind: str, path: str | PathLike[str] | None = None, **style: Any) -> Any:
    """Draws one figure of an evaluation with matplotlib: "roc", "det", "bayes-error" and so on."""
    from tercet.report.plots import plot as draw

    return draw(evaluation, kind, path, **style)
