"""Every figure of every system, into a folder."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from tercet.evaluation import Evaluation, MulticlassEvaluation
from tercet.report.plots._figure import KINDS, kinds_of, plot, save

if TYPE_CHECKING:
    from tercet.uncertainty.bands import Bands


def save_all(
    evaluations: Evaluation | MulticlassEvaluation | Sequence[Evaluation | MulticlassEvaluation],
    folder: str | os.PathLike[str],
    formats: Iterable[str] = ("png",),
    *,
    bands: Bands | Sequence[Bands | None] | None = None,
    sigma: float | None = None,
) -> list[Path]:
    """Write every figure of every evaluation into a folder, and those of all two-class systems together.

    Parameters
    ----------
    evaluations : Evaluation or list of Evaluation
        What to draw.
    folder : path
        Where to; made if it is not there.
    formats : iterable of str
        "png", "svg", "pdf".
    bands : Bands or list of Bands, optional
        Bands of each evaluation, drawn where a figure can show them.
    sigma : float, optional
        Boxes of this many standard deviations on ROC and DET.

    Returns
    -------
    list of Path
        The files.
    """
    given = list(evaluations) if isinstance(evaluations, list | tuple) else [evaluations]
    around = list(bands) if isinstance(bands, list | tuple) else [bands] * len(given)
    into = Path(folder)
    into.mkdir(parents=True, exist_ok=True)
    endings, made = list(formats), []
    for prefix, results, own in _jobs(given, around):
        for kind in _kinds(results):
            options = {"bands": own, "sigma": sigma} if all(one is not None for one in own) else {"sigma": sigma}
            kept = {name: value for name, value in options.items() if name in KINDS[kind].options}
            figure = plot(results, kind, **kept).figure_  # type: ignore[arg-type]
            made += [save(figure, into / f"{prefix}{kind}.{ending}") for ending in endings]
    return made


def _jobs(given: list[object], around: list[object]) -> list[tuple[str, list[object], list[object]]]:
    """Each system alone, then all two-class systems together."""
    jobs = [
        (f"{_file_name(getattr(one, 'name', None), place)}-", [one], [around[place]]) for place, one in enumerate(given)
    ]
    two = [place for place, one in enumerate(given) if isinstance(one, Evaluation)]
    if len(two) > 1:
        jobs.append(("all-", [given[place] for place in two], [around[place] for place in two]))
    return jobs


def _kinds(results: list[object]) -> list[str]:
    shared = [kind for kind in KINDS if all(kind in kinds_of(one) for one in results)]
    return shared if len(results) == 1 else [kind for kind in shared if KINDS[kind].overlaid]


def _file_name(name: str | None, place: int) -> str:
    """A name that every file system accepts; the number distinguishes systems."""
    plain = re.sub(r"[^A-Za-z0-9_-]+", "-", name or "system").strip("-")[:40]
    return f"{place + 1}-{plain or 'system'}"
