"""Output: an evaluation's facts in; text, figures or a page out. Nothing here computes a result, and only the page that
is asked to by name passes trials on."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # loading pathlib would be a good part of loading tercet
    from os import PathLike
    from pathlib import Path


def report(
    evaluations: Any,
    path: str | PathLike[str],
    title: str | None = None,
    *,
    posteriors: Any = None,
    private: bool = False,
) -> Path:
    """Writes one self-contained HTML page about one evaluation or several.

    posteriors: the trials of a several-class evaluation, or {name: trials}, if their rows may be in the page, at most
    2,000 of each system. Then priors and costs of several classes can be edited there.
    private: a coarser curve, from which no score can be read back; the page says how far it is off. Otherwise scores
    with their labels can be read back from the page.
    """
    from tercet.report.page import report as write

    return write(evaluations, path, title, posteriors=posteriors, private=private)


class _Report(ModuleType):
    """The package itself can be called, because `tercet.report` names both the function and the package."""

    __call__ = staticmethod(report)


sys.modules[__name__].__class__ = _Report
