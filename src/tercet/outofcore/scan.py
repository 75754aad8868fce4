"""More trials than memory: exact evaluation in bounded memory, by passes over parts, on one machine or many."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial as partial_of
from functools import reduce
from operator import add
from pathlib import Path
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.parallel import CORES, together
from tercet._numeric.validation import shown
from tercet._typing import Floats
from tercet.application import Application, listed
from tercet.errors import InputError
from tercet.evaluation import Evaluation, asked_thresholds, evaluate, evaluation_of
from tercet.io._digests import fingerprint
from tercet.io._plain_files import called_as
from tercet.metrics.costs import log_odds_grid
from tercet.metrics.curves import EER_DEFINITIONS
from tercet.metrics.summary import Summary
from tercet.metrics.tally import Ranked, Tally
from tercet.outofcore.counts import Binned, Classes, RowError, Rows, edges_of, sorted_classes
from tercet.outofcore.parts import Plan, Stamp, located, read_part, read_pieces, reading
from tercet.outofcore.refinement import Points, resolved, summarised
from tercet.outofcore.runner import (
    Arrays,
    Budget,
    Chunks,
    Held,
    Plain,
    Progress,
    Run,
    Where,
    budget_of,
    check_parts,
    classes_of,
    marked_chunks,
    over_chunks,
    over_files,
)
from tercet.trials import NEEDS_PRIOR, TWO_CLASS_MEANINGS, probability

__all__ = ["Arrays", "Asked", "Budget", "Chunks", "Question", "budget_of", "evaluate_chunks", "evaluate_files"]

_SAMPLED_PARTS, _SAMPLED_ROWS = 16, 1 << 16


class Asked(TypedDict, total=False):
    """What may be asked beside applications: as tercet.evaluate takes it."""

    meaning: str
    trained_prior: float | None
    bayes_plot: tuple[float, float, int]
    eer: str
    name: str | None


@dataclass(frozen=True, slots=True, eq=False)
class Question:
    """What is asked of the trials, and what their scores mean."""

    apps: tuple[Application, ...]
    plot: tuple[float, float, int]
    eer: str
    meaning: str
    trained_prior: float | None
    name: str | None

    @classmethod
    def of(
        cls,
        applications: Any = (),
        bayes_plot: tuple[float, float, int] = (-3.0, 3.0, 21),
        eer: str = "rocch",
        meaning: str = "llr",
        trained_prior: object = None,
        name: str | None = None,
    ) -> Question:
        """The question, judged before anything is read."""
        if meaning not in TWO_CLASS_MEANINGS:
            raise InputError(f"meaning is one of {', '.join(TWO_CLASS_MEANINGS)}, not {shown(meaning)}.")
        if eer not in EER_DEFINITIONS:
            raise InputError(f"An EER is {', '.join(EER_DEFINITIONS)}, not {shown(eer)}.")
        if meaning in ("log-odds", "posterior") and trained_prior is None:
            raise InputError(NEEDS_PRIOR.format(meaning))
        apps = tuple(Application.of(app) for app in listed(applications))
        log_odds_grid(bayes_plot)
        known = None if trained_prior is None else probability(trained_prior, "trained_prior")
        return cls(apps, bayes_plot, eer, meaning, known, name)


def evaluate_files(
    paths: Any,
    applications: Iterable[object] = (),
    *,
    score_column: str = "score",
    label_column: str = "label",
    target: object = None,
    engine: str = "local",
    scheduler: str | None = None,
    workers: int | None = None,
    memory_limit: int = 10**9,
    progress: Progress | None = None,
    resume: str | os.PathLike[str] | None = None,
    hashes: bool = False,
    **asked: Unpack[Asked],
) -> Evaluation:
    """Evaluates the trials of any number of files exactly, within a limit of memory.

    `paths` are names or patterns of Parquet files (or npy with named fields, csv, tsv). `resume` names a folder in
    which finished parts are kept, so that an interrupted run goes on from there. `hashes` reads all bytes once more,
    for the SHA-256 of every file. `asked` are meaning, trained_prior, bayes_plot, eer and name, as in tercet.evaluate.
    """
    question = Question.of(applications, **asked)
    where = Where.of(engine, scheduler, workers)
    budget = budget_of(memory_limit, where.workers, where.processes)
    columns = (score_column, label_column, target)
    passes = over_files(paths, columns, partial, where, budget, add=added, progress=progress, resume=resume)
    with passes as (plan, run, left):
        ev = _passes(run, _sampled(plan), plan.rows, len(plan.parts), plan.name, question, left)
        files = together([partial_of(_file, file, hashes) for file in plan.files], plan.rows)
    return replace(ev, input={**ev.input, "files": files})


def _file(file: Stamp, hashed: bool) -> dict[str, Any]:
    """A file as the JSON names it; its hash is null where it was not asked for, because that reads all bytes."""
    named = fingerprint(file.path) if hashed else {"name": called_as(Path(file.path)), "sha256": None}
    return {**named, "bytes": file.bytes}


def evaluate_chunks(
    source: Chunks,
    applications: Iterable[object] = (),
    *,
    target: object = None,
    memory_limit: int = 10**9,
    budget: Budget | None = None,
    **asked: Unpack[Asked],
) -> Evaluation:
    """Evaluates a source exactly whose chunks() yields pairs (scores, labels), the same at every call."""
    question = Question.of(applications, **asked)
    allowed = budget or budget_of(memory_limit, 1)
    run = over_chunks(source, target, lambda *given: counted(*given).to_plain())
    first = next(marked_chunks(source, target), (np.empty(0), np.zeros(0, np.bool_)))
    return _passes(run, _thin(*first), None, None, "", question, allowed)


def counted(job: Plain, number: int, scores: Any, targets: Any) -> Binned | Rows:
    """What one part leaves behind for a job: its counts, or its rows in the ranges asked for."""
    if job["kind"] == "rows":
        return _rows_in(job, number, scores, targets)
    return _count_of(job, number, sorted_classes(scores, targets, job["meaning"]))


def _count_of(job: Plain, number: int, classes: Classes) -> Binned:
    return Binned.of_sorted(
        classes, job["edges"], thresholds=job["thresholds"], meaning=job["meaning"],
        trained_prior=job["trained_prior"], part=number, plan=job["plan"], sums=job["sums"],
    )  # fmt: skip


def _rows_in(job: Plain, number: int | None, scores: Any, targets: Any) -> Rows:
    return Rows.of(scores, targets, job["low"], job["high"], meaning=job["meaning"], part=number, plan=job["plan"])


def partial(job: Plain, batch: Sequence[Plain], held: Held) -> Plain:
    """What a batch of parts of files leaves behind, as plain data: the one function that engines run."""
    if job["kind"] == "rows":
        return Rows.joined(one for part in batch for one in _rows_of(held, job, part)).to_plain()
    return reduce(add, (_count_of(job, part["number"], classes_of(held, job, part)) for part in batch)).to_plain()


def added(plains: Sequence[Plain]) -> Plain:
    """The sum of several batches' counts, as plain data: what a cluster sends in their place."""
    return reduce(add, (Binned.of_plain(plain) for plain in plains)).to_plain()


def _rows_of(held: Held, job: Plain, part: Plain) -> Iterator[Rows]:
    """A part's rows in the ranges asked for: of its sorted classes where they wait in memory, else piece by piece."""
    number = part["number"]
    if (classes := held.waiting.get(number)) is not None:
        yield Rows.of_sorted(classes, job["low"], job["high"], part=number, plan=job["plan"])
        return
    for piece, scores, targets in read_pieces(held.con, part, job["columns"]):
        try:
            yield _rows_in(job, number, scores, targets)
        except RowError as error:
            raise located(piece, error) from None
        number = None  # the first piece has carried it


def _passes(
    run: Run,
    sample: tuple[Floats, NDArray[np.bool_]],
    rows: int | None,
    parts: int | None,
    plan: str,
    question: Question,
    budget: Budget,
) -> Evaluation:
    """Count in bins, split the bins that can hide a vertex while they hold too many rows, then look at their rows."""
    job = {"plan": plan, "meaning": question.meaning, "trained_prior": question.trained_prior}
    if rows is not None and rows <= budget.at_once:
        return _at_once(_rows(run, job, np.array([math.nan]), np.array([math.inf]), rows, parts), question)
    wanted = budget.edges if rows is None else max(min(budget.edges, rows // 256), 64)
    edges = edges_of(sample[0][sample[1]], sample[0][~sample[1]], wanted)
    thresholds = np.unique(asked_thresholds(question.apps, log_odds_grid(question.plot)))
    state = _counts(run, job, edges, thresholds, parts, sums=True)
    count, passes = state.parts[-1][1] if state.parts else 0, 1
    points = Points.of(state)
    chosen = _chosen(points, question.eer)
    while (ranges := points.ranges(chosen)).rows > budget.kept:
        finer = _counts(run, job, points.split(chosen, budget.edges), thresholds[:0], count, sums=False)
        points, passes = points | Points.of(finer), passes + 1
        chosen = _chosen(points, question.eer)
    everything = points.ranges(chosen | points.mixed())
    if everything.rows <= budget.kept:
        ranges = everything  # all that the AUC needs can be afforded too
    found = Rows.empty()
    if ranges.rows:
        found, passes = _rows(run, job, ranges.low, ranges.high, ranges.rows, count), passes + 1
    exact = resolved(points, ranges, found, question.meaning, question.trained_prior)
    return _answered(summarised(state, exact), question, ranges.rows, passes)


def _chosen(points: Points, eer: str) -> NDArray[np.bool_]:
    """The bins whose rows must be looked at."""
    return points.hiding() if eer == "rocch" else points.hiding() | points.crossing()


def _at_once(rows: Rows, question: Question) -> Evaluation:
    """Few enough rows are evaluated as if they had come in memory."""
    sides = [Ranked(np.sort(side)) for side in (rows.targets, rows.nontargets)]
    tally = Tally(sides[0], sides[1], question.meaning, question.trained_prior)
    found: Evaluation = evaluate(
        tally, question.apps, bayes_plot=question.plot, eer=question.eer, name=question.name
    )  # fmt: skip
    return replace(found, input={**found.input, "passes": 1, "revisited": 0})


def _answered(summary: Summary, question: Question, revisited: int, passes: int) -> Evaluation:
    ev = evaluation_of(summary, question.apps, log_odds_grid(question.plot), question.eer, question.name)
    return replace(ev, input={**ev.input, "passes": passes, "revisited": revisited})


def _counts(run: Run, job: Plain, edges: Floats, thresholds: Floats, parts: int | None, *, sums: bool) -> Binned:
    asked = job | {"kind": "count", "edges": edges, "thresholds": thresholds, "sums": sums}
    state = Binned.empty()
    for plain in run(asked):
        state = state + Binned.of_plain(plain)
    check_parts(state.parts, parts)
    return state


def _rows(run: Run, job: Plain, low: Floats, high: Floats, expected: int, parts: int | None) -> Rows:
    asked = job | {"kind": "rows", "low": low, "high": high, "expected": expected}
    found = Rows.joined(Rows.of_plain(plain) for plain in run(asked))
    check_parts(found.parts, parts)
    return found


def _sampled(plan: Plan) -> tuple[Floats, NDArray[np.bool_]]:
    """Some rows of parts spread over all files: the same for the same files."""
    if not plan.parts:
        return np.empty(0), np.zeros(0, np.bool_)
    chosen = sorted({len(plan.parts) * k // _SAMPLED_PARTS for k in range(_SAMPLED_PARTS)})
    heads = [
        plan.parts[place] | {"stop": min(plan.parts[place]["stop"], plan.parts[place]["start"] + _SAMPLED_ROWS)}
        for place in chosen
    ]
    with reading(CORES * plan.group) as con:
        jobs = [partial_of(read_part, con.cursor(), head, plan.columns) for head in heads]
        found = together(jobs, plan.rows)
    return _thin(np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found]))


def _thin(scores: NDArray[Any], targets: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.bool_]]:
    """At most a million rows, evenly spread, without NaN (which the first pass refuses by place)."""
    step = -(-len(scores) // (_SAMPLED_PARTS * _SAMPLED_ROWS)) or 1
    values = np.asarray(scores[::step], np.float64) + 0.0
    held = ~np.isnan(values)
    return values[held], np.asarray(targets[::step])[held]
