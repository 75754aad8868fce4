"""Passes over the parts of files: where they run, what they may hold, how far they are, and what is kept of them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.parallel import CORES
from tercet._numeric.validation import (
    column,
    equal_to,
    is_target,
    names,
    numbers,
    same_index,
    same_length,
    shown,
    whole,
)
from tercet.errors import InputError, TercetError
from tercet.io._limits import in_words
from tercet.outofcore.counts import (
    Classes,
    Parts,
    RowError,
    digest,
    gathered_classes,
    load_plain,
    missing_parts,
    save_plain,
)
from tercet.outofcore.executors import threads
from tercet.outofcore.parts import Plan, located, planned, read_pieces, reading
from tercet.outofcore.refinement import CHANGED

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Plain = dict[str, Any]  # text, numbers, lists and arrays: what travels between machines and into files
Progress = Callable[[int, int], None]
Run = Callable[[Plain], Iterator[Plain]]  # one pass: a job in, plain results of all parts out
ENGINES = ("local", "dask")

_PROCESS = 220 << 20  # Python, numpy and duckdb before any row is read
_ROW = 24  # bytes a row of a part takes while its pieces are read, split and sorted
_KEPT = 26  # bytes a collected row takes until the hull is made
_IN_MEMORY = 60  # bytes a row takes when all of them are evaluated at once
_BIN = 200  # bytes a bin takes in states, sums and points
_MOST_EDGES, _LEAST_EDGES = 1 << 18, 1 << 12
_MOST_PART, _LEAST_PART = 1 << 22, 1 << 16
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

    def beside(self, size: int, what: str) -> Budget:
        """What is left of it beside so many bytes of something else."""
        if size > max(self.kept * _KEPT, self.spare):
            more = in_words(size - max(self.kept * _KEPT, self.spare))
            raise InputError(f"{what} take {in_words(size)}, and memory_limit is {more} too small for that.")
        kept, at_once = self.kept - size // _KEPT, self.at_once - size // _IN_MEMORY
        return self._replace(kept=max(kept, 1), at_once=max(at_once, 0), spare=max(self.spare - size, 0))


def budget_of(memory_limit: int, workers: int = CORES, processes: int = 1) -> Budget:
    """What fits under a limit in bytes for the whole process tree."""
    limit = whole(memory_limit, "memory_limit", 1)
    least = processes * _PROCESS + workers * _LEAST_PART * _ROW + _LEAST_EDGES * _BIN + (16 << 20)
    if limit < least:
        raise InputError(
            f"memory_limit of {in_words(limit)} is too small to work with: {in_words(least)} are needed "
            f"for {workers} worker{'s' if workers > 1 else ''} in {processes} process{'es' if processes > 1 else ''}."
        )
    free = limit - processes * _PROCESS
    part = min(max(free // (4 * workers * _ROW), _LEAST_PART), _MOST_PART)
    edges = min(max(free // (8 * _BIN), _LEAST_EDGES), _MOST_EDGES)
    rest = free - workers * part * _ROW - edges * _BIN
    spare = rest if processes == 1 else 0
    return Budget(max(rest // _KEPT, 1 << 16), edges, part, max(rest // _IN_MEMORY, 0), spare)


@dataclass(frozen=True, slots=True)
class Where:
    """Where parts are read: by threads of this process, or by the workers of a dask cluster."""

    engine: str
    scheduler: str | None
    workers: int

    @classmethod
    def of(cls, engine: str, scheduler: str | None, workers: int | None) -> Where:
        """The place, judged before anything is read."""
        if engine not in ENGINES:
            raise InputError(f"engine is one of {', '.join(ENGINES)}, not {shown(engine)}.")
        if scheduler is not None and engine != "dask":
            raise InputError("scheduler goes with engine='dask' only.")
        return cls(engine, scheduler, CORES if workers is None else whole(workers, "workers", 1))

    @property
    def processes(self) -> int:
        """Processes on this machine that the limit of memory is for."""
        return 1 + self.workers if self.engine == "dask" and self.scheduler is None else 1


class Waiting:
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


class Held(NamedTuple):
    """What a process keeps between parts: a connection to read by, and parts that wait."""

    con: DuckDBPyConnection
    waiting: Waiting


Make = Callable[[Plain, Sequence[Plain], Held], Plain]  # what a batch of parts leaves behind for a job


def elsewhere(make: Make, job: Plain, batch: Sequence[Plain]) -> Plain:
    """make(job, batch, held) in a process that keeps nothing between batches: what a worker of a cluster runs."""
    with reading() as con:
        return make(job, batch, Held(con, Waiting(0)))


def classes_of(held: Held, job: Mapping[str, Any], part: Plain) -> Classes:
    """One part's sorted classes: those that wait in memory, else from its file."""
    classes = held.waiting.get(part["number"])
    if classes is None:
        pieces = ((scores, targets) for _, scores, targets in read_pieces(held.con, part, job["columns"]))
        try:
            classes = gathered_classes(pieces, part["stop"] - part["start"], job["meaning"])
        except RowError as error:
            raise located(part, error) from None
        held.waiting.put(part["number"], classes)
    return classes


@contextmanager
def over_files(
    paths: Any,
    columns: tuple[str, str, object],
    make: Make,
    where: Where,
    budget: Budget,
    *,
    add: Callable[[Sequence[Plain]], Plain] | None = None,
    progress: Progress | None = None,
    resume: str | os.PathLike[str] | None = None,
) -> Iterator[tuple[Plan, Run, Budget]]:
    """A plan of files (columns: score, label, target), passes over its parts, and the budget that its reading leaves.

    make(job, batch, held) is a function of a module.
    `add` adds up results that hold as much as one of them does: a cluster may then send one for many.
    """
    with ExitStack() as stack:
        plan = stack.enter_context(planned(paths, *columns, budget.part, shared=where.scheduler is not None))
        groups = f"Row groups that {where.workers} workers read at once (smaller ones, or fewer workers, take less)"
        left = budget.beside(where.workers * plan.group, groups)
        collect = stack.enter_context(_collector(make, where, left.spare, where.workers * plan.group))
        size = max(-(-len(plan.parts) // (_BATCHES * where.workers)), 1)
        batches = [list(plan.parts[start : start + size]) for start in range(0, len(plan.parts), size)]
        reported = _Reported(plan.size, max(plan.rows, 1), progress)

        def run(job: Plain) -> Iterator[Plain]:
            asked = job | {"columns": plan.columns}
            reported.start(last=job["kind"] == "rows")
            saved = _Saved.of(resume, asked)
            missing = []
            for number, batch in enumerate(batches):
                if (plain := saved.load(number, batch)) is None:
                    missing.append(number)
                    continue
                reported.add(batch)
                yield plain
            several = None if resume is not None or job["kind"] == "rows" else add
            for place, result in collect(asked, [batches[number] for number in missing], several):
                if result is not None:
                    saved.save(missing[place], result)
                reported.add(batches[missing[place]])
                if result is not None:
                    yield result

        yield plan, partial(_of_same_files, plan, run), left
        plan.check_unchanged()


def _of_same_files(plan: Plan, run: Run, job: Plain) -> Iterator[Plain]:
    """A pass that ends, or fails, with a look at the files: before anything is made of what it counted."""
    try:
        yield from run(job)
    except TercetError:
        plan.check_unchanged()  # says more than an error that comes of it
        raise
    plan.check_unchanged()


Collect = Callable[[Plain, Sequence[Any], Any], Iterator[tuple[int, Plain | None]]]


@contextmanager
def _collector(make: Make, where: Where, spare: int, more: int) -> Iterator[Collect]:
    """The engine's collect(make, job, batches), open for all passes."""
    if where.engine == "local":
        waiting = Waiting(spare)
        with reading(more) as con:  # opened once: that takes longer than reading a small part

            def here(job: Plain, batch: Sequence[Plain]) -> Plain:
                return make(job, batch, Held(con.cursor(), waiting))

            def collect(job: Plain, batches: Sequence[Any], _: Any) -> Iterator[tuple[int, Plain | None]]:
                waiting.leave(job.get("expected", 0) * _KEPT)
                return threads.collect(here, job, batches, workers=where.workers)

            yield collect
        return
    from tercet.outofcore.executors import dask

    with dask.connected(where.scheduler, where.workers) as client:
        yield lambda job, batches, add: dask.collect(partial(elsewhere, make), job, batches, client=client, add=add)


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
        rows = whole(self.rows, "rows", 1)
        for start in range(0, len(self.scores), rows):
            yield self.scores[start : start + rows], self.labels[start : start + rows]


def marked_chunks(source: Chunks, target: object) -> Iterator[tuple[NDArray[Any], NDArray[np.bool_]]]:
    """(scores, which are targets) of every chunk of a source; what arrays in memory may not be is refused here too."""
    if not callable(getattr(source, "chunks", None)):
        raise InputError(
            f"A source has a method chunks() that yields pairs (scores, labels), and {shown(type(source).__name__)} "
            f"has none: tercet.outofcore.scan.Arrays(scores, labels) makes one of two columns."
        )
    for number, chunk in enumerate(source.chunks()):
        if not isinstance(chunk, tuple) or len(chunk) != 2:
            raise InputError(
                f"Chunk {number} must be a pair (scores, labels). Trials with weights are evaluated in memory only."
            )
        try:
            marked = _marked(*chunk, target)
        except InputError as error:
            raise InputError(f"Chunk {number}: {error}") from None
        yield marked


def _marked(scores: object, labels: object, target: object) -> tuple[NDArray[Any], NDArray[np.bool_]]:
    """One chunk through the door for arrays; doubles and float32 stay what they are, and are judged when counted."""
    same_index({"scores": scores, "labels": labels})
    values = column(scores, "scores")
    if values.ndim != 1 or values.dtype not in (np.float32, np.float64):
        values = numbers(values, "scores")
    # A chunk may have no target: whether there are any is asked of the whole.
    marks = is_target(labels, None)[0] if target is None else equal_to(names(labels, "labels"), target)
    same_length(len(values), {"labels": marks})
    return values, marks


def over_chunks(source: Chunks, target: object, of: Callable[[Plain, int, Any, Any], Plain]) -> Run:
    """Passes over a source of chunks: each gives of(job, its number, scores, which are targets)."""

    def run(job: Plain) -> Iterator[Plain]:
        for number, (scores, targets) in enumerate(marked_chunks(source, target)):
            try:
                yield of(job, number, scores, targets)
            except RowError as error:
                raise InputError(f"Chunk {number}, row {error.row} (counting from 0): {error}") from None

    return run


def check_parts(parts: Parts, count: int | None) -> None:
    """Refuses a sum in which a part is missing; without a count, every number up to the highest must be there."""
    if count is None:
        count = parts[-1][1] if parts else 0
    if missing := missing_parts(parts, count):
        raise InputError(f"Part {missing[0]} of {count} was not counted: evaluate again. {CHANGED}")
    if parts and parts[-1][1] > count:
        raise InputError(CHANGED)


class _Reported:
    """Progress in bytes: two passes are expected, and the total grows where more are needed."""

    def __init__(self, size: int, rows: int, progress: Progress | None) -> None:
        self._size, self._rows, self._progress = size, rows, progress
        self._total, self._passes, self._done = 0, 0, 0

    def start(self, *, last: bool) -> None:
        """A pass over all rows begins."""
        self._passes, self._done = self._passes + 1, 0
        self._total = self._size * (self._passes if last else max(self._passes + 1, 2))

    def add(self, batch: Sequence[Plain]) -> None:
        """So many parts more are done."""
        self._done += sum(part["stop"] - part["start"] for part in batch)
        if self._progress is not None:
            done = self._size * (self._passes - 1) + self._size * self._done // self._rows
            self._progress(done, self._total)


@dataclass(frozen=True, slots=True)
class _Saved:
    """Finished batches in a folder, named by what was asked: another question finds nothing."""

    folder: Path | None
    key: str

    @classmethod
    def of(cls, folder: str | os.PathLike[str] | None, job: Plain) -> _Saved:
        """The saved batches of a job; the folder is made where it is not there."""
        if folder is None:
            return cls(None, "")
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(f"resume={shown(str(folder))} cannot be made a folder: {error.strerror}.") from None
        return cls(Path(folder), digest(job)[:24])

    def load(self, number: int, batch: Sequence[Plain]) -> Plain | None:
        """A batch that was saved, or None; a damaged one, or one of other parts, is counted again."""
        if self.folder is None or not (path := self.folder / f"{self.key}-{number}.npz").exists():
            return None
        try:
            plain = load_plain(path)
        except InputError:
            return None
        return plain if plain.get("parts") == [[batch[0]["number"], batch[-1]["number"] + 1]] else None

    def save(self, number: int, plain: Plain) -> None:
        """Keeps a batch, whole or not at all."""
        if self.folder is not None:
            save_plain(plain, self.folder / f"{self.key}-{number}.npz")
