"""More trials than memory: exact evaluation in bounded memory, by passes over parts, on one machine or many."""

from __future__ import annotations

import math
import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial as partial_of
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tercet.application import Application
from tercet.arrays import is_target, shown
from tercet.binned import (
    Binned,
    Classes,
    Floats,
    RowError,
    Rows,
    digest,
    edges_of,
    gathered_classes,
    load_plain,
    missing_parts,
    save_plain,
    sorted_classes,
)
from tercet.curves import EER_DEFINITIONS
from tercet.engines import local
from tercet.errors import InputError
from tercet.evaluate import Evaluation, evaluate, listed
from tercet.parts import Plan, located, planned, read_part, read_pieces, reading
from tercet.refine import CHANGED, Points, asked_thresholds, evaluation, resolved
from tercet.sources.limits import in_words
from tercet.tally import Ranked, Tally
from tercet.threads import CORES, together
from tercet.trials import NEEDS_PRIOR, TWO_CLASS_MEANINGS, probability

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Progress = Callable[[int, int], None]
ENGINES = ("local", "dask")

_PROCESS = 200 << 20  # Python, numpy and duckdb before any row is read
_ROW = 24  # bytes a row of a part takes while its pieces are read, split and sorted
_KEPT = 26  # bytes a collected row takes until the hull is made
_IN_MEMORY = 60  # bytes a row takes when all of them are evaluated at once
_BIN = 200  # bytes a bin takes in states, sums and points
_MOST_EDGES, _LEAST_EDGES = 1 << 18, 1 << 12
_MOST_PART, _LEAST_PART = 1 << 22, 1 << 16
_SAMPLED_PARTS, _SAMPLED_ROWS = 16, 1 << 16
_BATCHES = 32  # saved or sent states a worker makes at most, so that many parts stay few results


class Budget(NamedTuple):
    """How much may be held at a time: rows kept one by one, bins, rows of a part, rows evaluated at once.

    `spare` are bytes in which sorted parts may wait for the next pass, so far as kept rows leave them free.
    """

    kept: int
    edges: int
    part: int
    at_once: int
    spare: int = 0


def budget_of(memory_limit: int, workers: int = CORES, processes: int = 1) -> Budget:
    """What fits under a limit in bytes for the whole process tree."""
    least = processes * _PROCESS + workers * _LEAST_PART * _ROW + _LEAST_EDGES * _BIN + (16 << 20)
    if memory_limit < least:
        raise InputError(
            f"memory_limit of {in_words(int(memory_limit))} is too small to work with: {in_words(least)} are needed "
            f"for {workers} workers in {processes} process{'es' if processes > 1 else ''}."
        )
    free = int(memory_limit) - processes * _PROCESS
    part = min(max(free // (4 * workers * _ROW), _LEAST_PART), _MOST_PART)
    edges = min(max(free // (8 * _BIN), _LEAST_EDGES), _MOST_EDGES)
    rest = free - workers * part * _ROW - edges * _BIN
    spare = rest if processes == 1 else 0
    return Budget(max(rest // _KEPT, 1 << 16), edges, part, max(rest // _IN_MEMORY, 0), spare)


class Chunks(Protocol):
    """A source that can be read again and again: pairs (scores, labels) that fit in memory one at a time."""

    def chunks(self) -> Iterable[tuple[Any, Any]]:
        """The same rows at every call."""


@dataclass(frozen=True, slots=True, eq=False)
class Arrays:
    """Two columns that numpy can slice, such as memory-mapped files, as a source of chunks."""

    scores: Any
    labels: Any
    rows: int = 1 << 20

    def chunks(self) -> Iterator[tuple[Any, Any]]:
        """Slices of so many rows."""
        if len(self.scores) != len(self.labels):
            raise InputError(f"labels has {len(self.labels)} entries for {len(self.scores)} rows of scores.")
        for start in range(0, len(self.scores), self.rows):
            yield np.array(self.scores[start : start + self.rows]), np.array(self.labels[start : start + self.rows])


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
        cls, applications: Any, plot: tuple[float, float, int], eer: str, meaning: str, prior: object, name: str | None
    ) -> Question:
        """The question, judged before anything is read."""
        if meaning not in TWO_CLASS_MEANINGS:
            raise InputError(f"meaning is one of {', '.join(TWO_CLASS_MEANINGS)}, not {shown(meaning)}.")
        if eer not in EER_DEFINITIONS:
            raise InputError(f"An EER is {', '.join(EER_DEFINITIONS)}, not {shown(eer)}.")
        if meaning in ("log-odds", "posterior") and prior is None:
            raise InputError(NEEDS_PRIOR.format(meaning))
        apps = tuple(Application.of(app) for app in listed(applications))
        asked_thresholds(apps, plot)
        known = None if prior is None else probability(prior, "trained_prior")
        return cls(apps, plot, eer, meaning, known, name)


Run = Callable[[dict[str, Any]], Iterator[dict[str, Any]]]  # one pass: a job in, plain results of all parts out


def evaluate_files(
    paths: Any,
    applications: Iterable[object] = (),
    *,
    score_column: str = "score",
    label_column: str = "label",
    target: object = None,
    meaning: str = "llr",
    trained_prior: float | None = None,
    bayes_plot: tuple[float, float, int] = (-3.0, 3.0, 21),
    eer: str = "rocch",
    name: str | None = None,
    engine: str = "local",
    scheduler: str | None = None,
    workers: int | None = None,
    memory_limit: int = 10**9,
    progress: Progress | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> Evaluation:
    """Evaluates the trials of any number of files exactly, within a limit of memory.

    `paths` are names or patterns of Parquet files (or npy with named fields, csv, tsv). `resume` names a folder in
    which finished parts are kept, so that an interrupted run goes on from there.
    """
    question = Question.of(applications, bayes_plot, eer, meaning, trained_prior, name)
    if engine not in ENGINES:
        raise InputError(f"engine is one of {', '.join(ENGINES)}, not {shown(engine)}.")
    if scheduler is not None and engine != "dask":
        raise InputError("scheduler goes with engine='dask' only.")
    count = workers or CORES
    processes = 1 + count if engine == "dask" and scheduler is None else 1
    budget = budget_of(memory_limit, count, processes)
    with (
        planned(paths, score_column, label_column, target, budget.part, shared=scheduler is not None) as plan,
        _collector(engine, scheduler, count, budget.spare) as collect,
    ):
        run = _run_over(plan, collect, count, _Reported(plan.size, progress), resume)
        ev = _passes(run, _sampled(plan), plan.rows, len(plan.parts), plan.name, question, budget)
    files = [{"name": Path(file).name, "bytes": Path(file).stat().st_size} for file in plan.files]
    return replace(ev, input={**ev.input, "files": files})


def evaluate_chunks(
    source: Chunks,
    applications: Iterable[object] = (),
    *,
    target: object = None,
    meaning: str = "llr",
    trained_prior: float | None = None,
    bayes_plot: tuple[float, float, int] = (-3.0, 3.0, 21),
    eer: str = "rocch",
    name: str | None = None,
    memory_limit: int = 10**9,
    budget: Budget | None = None,
) -> Evaluation:
    """Evaluates a source exactly whose chunks() yields pairs (scores, labels), the same at every call."""
    question = Question.of(applications, bayes_plot, eer, meaning, trained_prior, name)
    allowed = budget or budget_of(memory_limit, 1)

    def chunks() -> Iterator[tuple[int, Any, NDArray[np.bool_]]]:
        for number, (scores, labels) in enumerate(source.chunks()):
            marks = np.asarray(labels)
            yield number, scores, marks if marks.dtype == np.bool_ and target is None else is_target(labels, target)[0]

    def run(job: dict[str, Any]) -> Iterator[dict[str, Any]]:
        for number, scores, marks in chunks():
            try:
                yield counted(job, number, scores, marks).to_plain()
            except RowError as error:
                raise InputError(f"Chunk {number}, row {error.row} (counting from 0): {error}") from None

    first = next(chunks(), None)
    sample = (np.empty(0), np.zeros(0, np.bool_)) if first is None else _thin(np.asarray(first[1]), first[2])
    return _passes(run, sample, None, None, "", question, allowed)


def counted(job: dict[str, Any], number: int, scores: Any, targets: Any) -> Binned | Rows:
    """What one part leaves behind for a job: its counts, or its rows in the ranges asked for."""
    if job["kind"] == "rows":
        return _rows_in(job, number, scores, targets)
    return counted_sorted(job, number, sorted_classes(scores, targets, job["meaning"]))


def _rows_in(job: dict[str, Any], number: int | None, scores: Any, targets: Any) -> Rows:
    return Rows.of(scores, targets, job["low"], job["high"], meaning=job["meaning"], part=number, plan=job["plan"])


def counted_sorted(job: dict[str, Any], number: int, classes: Classes) -> Binned | Rows:
    """The same of a part whose classes are sorted already."""
    if job["kind"] == "rows":
        return Rows.of_sorted(classes, job["low"], job["high"], part=number, plan=job["plan"])
    return Binned.of_sorted(
        classes, job["edges"], thresholds=job["thresholds"], meaning=job["meaning"],
        trained_prior=job["trained_prior"], part=number, plan=job["plan"], sums=job["sums"],
    )  # fmt: skip


def partial(job: dict[str, Any], batch: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """What a batch of parts of files leaves behind, as plain data: the one function that engines run."""
    with reading() as con:
        return _partial(con, job, batch)


def _partial(
    con: DuckDBPyConnection, job: dict[str, Any], batch: Sequence[dict[str, Any]], waiting: _Waiting | None = None
) -> dict[str, Any]:
    found: list[Any] = []
    for part in batch:
        found.append(_of_part(con, job, part, waiting))
        if job["kind"] == "count" and len(found) == 2:
            found = [found[0] + found[1]]
    whole: Binned | Rows = Rows.joined(found) if job["kind"] == "rows" else found[0]
    return whole.to_plain()


def _of_part(
    con: DuckDBPyConnection, job: dict[str, Any], part: dict[str, Any], waiting: _Waiting | None
) -> Binned | Rows:
    """One part's contribution: from its sorted classes where they wait in memory, else from its file."""
    classes = None if waiting is None else waiting.get(part["number"])
    if classes is None and job["kind"] == "rows":
        return Rows.joined(_rows_of_pieces(con, job, part))
    if classes is None:
        pieces = ((scores, targets) for _, scores, targets in read_pieces(con, part, job["columns"]))
        try:
            classes = gathered_classes(pieces, part["stop"] - part["start"], job["meaning"])
        except RowError as error:
            raise located(part, error) from None
        if waiting is not None:
            waiting.put(part["number"], classes)
    return counted_sorted(job, part["number"], classes)


def _rows_of_pieces(con: DuckDBPyConnection, job: dict[str, Any], part: dict[str, Any]) -> Iterator[Rows]:
    """The rows of a part in the ranges asked for; the first piece carries the part's number."""
    number = part["number"]
    for piece, scores, targets in read_pieces(con, part, job["columns"]):
        try:
            yield _rows_in(job, number, scores, targets)
        except RowError as error:
            raise located(piece, error) from None
        number = None


class _Waiting:
    """Sorted parts that stay in memory between passes, as many as there is room for."""

    def __init__(self, room: int) -> None:
        self._room, self._held, self._used = room, dict[int, Classes](), 0
        self._lock = threading.Lock()

    def get(self, number: int) -> Classes | None:
        """A part's sorted classes, if they are here."""
        return self._held.get(number)

    def put(self, number: int, classes: Classes) -> None:
        """Keeps a part if there is room."""
        size = sum(side.nbytes for side in classes)
        with self._lock:
            if self._used + size <= self._room:
                self._held[number] = classes
                self._used += size

    def leave(self, size: int) -> None:
        """Makes room for so many bytes of something else."""
        while self._held and self._used + size > self._room:
            self._used -= sum(side.nbytes for side in self._held.popitem()[1])


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
    thresholds = asked_thresholds(question.apps, question.plot)
    state = _counts(run, job, edges, thresholds, parts, sums=True)
    count, passes = _number_of_parts(state), 1
    points = Points.of(state)
    dense, chosen = _chosen(points, question.eer)
    while (ranges := points.ranges(chosen)).rows > budget.kept:
        finer = _counts(run, job, points.split(chosen, budget.edges), thresholds[:0], count, sums=False)
        points, passes = points | Points.of(finer), passes + 1
        dense, chosen = _chosen(points, question.eer)
    everything = points.ranges(chosen | points.mixed())
    if everything.rows <= budget.kept:
        ranges = everything  # all that the AUC needs can be afforded too
    found = Rows.empty()
    if ranges.rows:
        found, passes = _rows(run, job, ranges.low, ranges.high, ranges.rows, count), passes + 1
    exact = resolved(points, ranges, found, dense)
    ev = evaluation(state, exact, question.apps, question.plot, question.eer, question.name)
    return replace(ev, revisited=ranges.rows, passes=passes)


def _chosen(points: Points, eer: str) -> tuple[int | None, NDArray[np.bool_]]:
    """The bins whose rows must be looked at, and the one in which every score matters."""
    hiding = points.hiding()
    crossing = points.crossing() if eer != "rocch" else np.zeros(len(hiding), np.bool_)
    return (int(crossing.argmax()) if crossing.any() else None), hiding | crossing


def _at_once(rows: Rows, question: Question) -> Evaluation:
    """Few enough rows are evaluated as if they had come in memory."""
    sides = [Ranked(np.sort(side)) for side in (rows.targets, rows.nontargets)]
    tally = Tally(sides[0], sides[1], question.meaning, question.trained_prior)
    found: Evaluation = evaluate(
        tally, question.apps, bayes_plot=question.plot, eer=question.eer, name=question.name
    )  # fmt: skip
    return found


def _counts(
    run: Run, job: dict[str, Any], edges: Floats, thresholds: Floats, parts: int | None, *, sums: bool
) -> Binned:
    asked = job | {"kind": "count", "edges": edges, "thresholds": thresholds, "sums": sums}
    state = Binned.empty()
    for plain in run(asked):
        state = state + Binned.of_plain(plain)
    _check_parts(state.parts, parts)
    return state


def _rows(run: Run, job: dict[str, Any], low: Floats, high: Floats, expected: int, parts: int | None) -> Rows:
    asked = job | {"kind": "rows", "low": low, "high": high, "expected": expected}
    found = Rows.joined(Rows.of_plain(plain) for plain in run(asked))
    _check_parts(found.parts, parts)
    return found


def _number_of_parts(state: Binned) -> int:
    return state.parts[-1][1] if state.parts else 0


def _check_parts(parts: tuple[tuple[int, int], ...], count: int | None) -> None:
    if count is None:
        count = parts[-1][1] if parts else 0
    if missing := missing_parts(parts, count):
        raise InputError(f"Part {missing[0]} of {count} was not counted: evaluate again. {CHANGED}")
    if parts and parts[-1][1] > count:
        raise InputError(CHANGED)


def _run_over(
    plan: Plan, collect: Any, workers: int, reported: _Reported, resume: str | os.PathLike[str] | None
) -> Run:
    """One pass over the files of a plan through an engine, with what was saved before taken as it is."""
    size = max(-(-len(plan.parts) // (_BATCHES * workers)), 1)
    batches = [list(plan.parts[start : start + size]) for start in range(0, len(plan.parts), size)]

    def run(job: dict[str, Any]) -> Iterator[dict[str, Any]]:
        asked = job | {"columns": plan.columns}
        reported.start(job["kind"], plan.rows)
        saved = _Saved.of(resume, asked)
        left = []
        for number, batch in enumerate(batches):
            if (plain := saved.load(number)) is None:
                left.append(number)
                continue
            reported.add(batch)
            yield plain
        for place, plain in collect(partial, asked, [batches[number] for number in left]):
            saved.save(left[place], plain)
            reported.add(batches[left[place]])
            yield plain

    return run


@contextmanager
def _collector(engine: str, scheduler: str | None, workers: int, spare: int) -> Iterator[Any]:
    """The engine's collect(make, job, batches), open for all passes."""
    if engine == "local":
        waiting = _Waiting(spare)
        with reading() as con:  # opened once: that takes longer than reading a small part

            def make(job: dict[str, Any], batch: Sequence[dict[str, Any]]) -> dict[str, Any]:
                return _partial(con.cursor(), job, batch, waiting)

            def collect(_: Any, job: dict[str, Any], batches: Sequence[Any]) -> Iterator[tuple[int, dict[str, Any]]]:
                waiting.leave(job.get("expected", 0) * _KEPT)
                return local.collect(make, job, batches, workers=workers)

            yield collect
        return
    from tercet.engines import dask

    with dask.connected(scheduler, workers) as client:
        yield lambda make, job, batches: dask.collect(make, job, batches, client=client)


class _Reported:
    """Progress in bytes: two passes are expected, and the total grows where more are needed."""

    def __init__(self, size: int, progress: Progress | None) -> None:
        self._size, self._progress = size, progress
        self._rows, self._passes, self._done = 1, 0, 0

    def start(self, kind: str, rows: int) -> None:
        """A pass over all rows begins; the one that collects rows is the last."""
        self._rows, self._passes, self._done = max(rows, 1), self._passes + 1, 0
        self._total = self._size * (self._passes if kind == "rows" else max(self._passes + 1, 2))

    def add(self, batch: Sequence[dict[str, Any]]) -> None:
        """So many parts more are done."""
        self._done += sum(part["stop"] - part["start"] for part in batch)
        if self._progress is not None:
            done = self._size * (self._passes - 1) + self._size * self._done // self._rows
            self._progress(done, self._total)


class _Saved:
    """Finished batches in a folder, named by what was asked: another question finds nothing."""

    def __init__(self, folder: Path | None, key: str) -> None:
        self._folder, self._key = folder, key

    @classmethod
    def of(cls, folder: str | os.PathLike[str] | None, job: dict[str, Any]) -> _Saved:
        """The saved batches of a job; the folder is made where it is not there."""
        if folder is None:
            return cls(None, "")
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"resume={shown(str(folder))} cannot be made a folder: {error.strerror}.") from None
        return cls(Path(folder), digest(job)[:24])

    def _path(self, number: int) -> Path:
        assert self._folder is not None
        return self._folder / f"{self._key}-{number}.npz"

    def load(self, number: int) -> dict[str, Any] | None:
        """A batch that was saved, or None; a damaged one is counted again."""
        if self._folder is None or not self._path(number).exists():
            return None
        try:
            return load_plain(self._path(number))
        except InputError:
            return None

    def save(self, number: int, plain: dict[str, Any]) -> None:
        """Keeps a batch, whole or not at all."""
        if self._folder is not None:
            save_plain(plain, self._path(number))


def _sampled(plan: Plan) -> tuple[Floats, NDArray[np.bool_]]:
    """Some rows of parts spread over all files: the same for the same files."""
    if not plan.parts:
        return np.empty(0), np.zeros(0, np.bool_)
    chosen = sorted({len(plan.parts) * k // _SAMPLED_PARTS for k in range(_SAMPLED_PARTS)})
    heads = [
        plan.parts[place] | {"stop": min(plan.parts[place]["stop"], plan.parts[place]["start"] + _SAMPLED_ROWS)}
        for place in chosen
    ]
    with reading() as con:
        jobs = [partial_of(read_part, con.cursor(), head, plan.columns) for head in heads]
        found = together(jobs, plan.rows)
    return _thin(np.concatenate([one[0] for one in found]), np.concatenate([one[1] for one in found]))


def _thin(scores: NDArray[Any], targets: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.bool_]]:
    """At most a million rows, evenly spread, without NaN (which the first pass refuses by place)."""
    step = -(-len(scores) // (_SAMPLED_PARTS * _SAMPLED_ROWS)) or 1
    values = np.asarray(scores[::step], np.float64) + 0.0
    held = ~np.isnan(values)
    return values[held], np.asarray(targets[::step])[held]
