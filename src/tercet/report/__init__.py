"""Output: an evaluation's facts in; text, figures or a page out. Nothing here computes a result, and only a page that
is explicitly asked to contains trials."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # importing pathlib would take a large part of the time of importing tercet
    from os import PathLike
    from pathlib import Path


def report(
    evaluations: object,
    path: str | PathLike[str],
    title: str | None = None,
    *,
    posteriors: object = None,
    private: bool = False,
    comparison: object = None,
    language: str = "en",
) -> Path:
    """Writes one self-contained HTML page about one evaluation or several.

    Parameters
    ----------
    evaluations : Evaluation, MulticlassEvaluation, their to_dict(), or an iterable of them
        What the page is about.
    path : path-like
        Where the page goes; it is written whole or not at all.
    title : str, optional
        Title of the page.
    posteriors : Trials or {name: Trials}, optional
        The trials of several-class evaluations whose rows may be in the page, at most 2,000 of each system. Then
        priors and costs of several classes can be edited there.
    private : bool, default False
        A coarser curve, from which no score can be read back; the page says how far it is off. Otherwise scores with
        their labels can be read back from the page.
    comparison : Comparison, optional
        What `tercet.compare` found for the same systems: paired differences with intervals.
    language : {"en", "it"}, default "en"
        Of the page's words and numbers.

    Returns
    -------
    Path
        The path.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import tercet as tc
    >>> ev = tc.evaluate(tc.Trials.of_llr([2.0, 1.0, -1.0, -2.0], [1, 1, 0, 0]), [(0.5, 1, 1)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = tc.report(ev, pathlib.Path(folder, "page.html"), title="One example")
    ...     text = page.read_text(encoding="utf-8")
    >>> page.name, text.count("<html"), text.count("https://")    # one page that loads nothing
    ('page.html', 1, 0)
    """
    from pathlib import Path

    from tercet._numeric import validation
    from tercet.io import write_text_atomically
    from tercet.report.page import document_of, page
    from tercet.report.privacy import private as coarser

    target, words = validation.path(path, "path"), validation.text(language, "language")
    if title is not None:
        validation.text(title, "title")
    document = document_of(evaluations, posteriors, comparison)
    if validation.flag(private, "private"):
        document = coarser(document)
    write_text_atomically(target, page(document, title, words))
    return Path(target)


class _Report(ModuleType):
    """The package itself can be called, because `tercet.report` names both the function and the package."""

    __call__ = staticmethod(report)


sys.modules[__name__].__class__ = _Report
