"""Passes over all rows of a scan: where they run, what is saved, progress, and the check that nothing is missing."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import cache, partial, reduce
from operator import add as plus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from tercet import __version__
from tercet._numeric.parallel import CORES, together
from tercet._numeric.validation import shown, shown_path, whole
from tercet._typing import Array, Facts, Floats, Value
from tercet.errors import InputError, TercetError
from tercet.outofcore.executors import Executor, Threads
from tercet.outofcore.files import RULES, FileStamp, Plan
from tercet.outofcore.limits import PICKED_ROW, Budget
from tercet.outofcore.plain_data import Plain, digest, load_plain, save_plain
from tercet.outofcore.reading import PartRows, Reader, _marks, planned, sizes_of

if TYPE_CHECKING:
    from tercet.decision import ClassRows
    from tercet.metrics.tally import Tally
    from tercet.trials import Trials

Progress = Callable[[int, int], None]
Ranges = tuple[tuple[int, int], ...]  # numbers of parts
ENGINES = ("local", "dask", "spark")
CHANGED = "The trials changed while they were read: two passes counted different rows. Evaluate again."

_BATCHES = 32  # the most results per worker and pass, so that many parts give few results
_SAMPLED_PARTS, _SAMPLED_ROWS = 16, 1 << 16


class Part(Protocol):
    """Rows of a scan, as a pass reads them."""

    def tally(self) -> Tally:
        """The two classes, sorted."""

    def class_scores(self) -> Sequence[tuple[Array, Array]]:
        """The scores of targets and of non-targets, in any order and in pieces; for rows without weights."""

    def trials(self) -> Iterator[Trials]:
        """The trials, some rows at a time."""

    def class_rows(self) -> Iterator[ClassRows]:
        """The rows of several classes, some at a time."""

    def class_sizes(self) -> tuple[list[int], tuple[str, ...]] | None:
        """How many rows each class has and its name, where labels can be read alone."""


class State(Protocol):
    """The result of some parts: computed per part, added with +, sent and saved as plain data."""

    @classmethod
    def of_part(cls, part: Part, job: Plain) -> Self:
        """Of one part."""

    def __add__(self, other: Self) -> Self: ...

    def to_plain(self) -> Plain:
        """Arrays, whole numbers, texts and lists."""

    @classmethod
    def of_plain(cls, plain: Facts) -> Self:
        """The state that to_plain took apart."""


def state_types() -> dict[str, type[State]]:
    """The kinds of passes by name: only the name is sent to the workers."""
    from tercet.outofcore.bins import BinCounts, RangeRows
    from tercet.outofcore.cells import CellCounts, CellRows
    from tercet.outofcore.classes import ClassTotals
    from tercet.outofcore.fit import ClassMoments, NewtonSums
    from tercet.outofcore.regression import RegressionSums

    kinds = (BinCounts, RangeRows, CellCounts, CellRows, ClassMoments, NewtonSums, RegressionSums, ClassTotals)
    return {kind.__name__: kind for kind in kinds}


@dataclass(frozen=True, slots=True)
class Counted:
    """A state with the numbers of the parts that it was made of, and the name of their plan."""

    state: State
    parts: Ranges
    plan: str

    def __add__(self, other: Counted) -> Counted:
        if self.plan != other.plan:
            raise InputError("Parts of different plans cannot be added: they come from different files or settings.")
        return Counted(self.state + other.state, joined_parts(self.parts, other.parts), self.plan)

    def to_plain(self) -> Plain:
        """The envelope beside the state's own plain data."""
        envelope = {"parts": [list(ends) for ends in self.parts], "plan": self.plan}
        return {**self.state.to_plain(), **{f"_{key}": value for key, value in envelope.items()}}

    @classmethod
    def of_plain(cls, kind: str, plain: Facts) -> Counted:
        """What to_plain took apart."""
        parts = tuple((int(low), int(high)) for low, high in plain["_parts"])
        return cls(state_types()[kind].of_plain(plain), parts, plain["_plan"])


def joined_parts(one: Iterable[tuple[int, int]], other: Iterable[tuple[int, int]]) -> Ranges:
    """Both sets of part numbers as ranges, touching ones made one; a part in both was counted twice."""
    joined: list[tuple[int, int]] = []
    for low, high in sorted((*one, *other)):
        if joined and low < joined[-1][1]:
            raise InputError(f"Part {low} was counted twice. Add every part once.")
        if joined and low == joined[-1][1]:
            joined[-1] = (joined[-1][0], high)
        else:
            joined.append((low, high))
    return tuple(joined)


def missing_parts(parts: Iterable[tuple[int, int]], count: int) -> list[int]:
    """The first few of the parts 0..count-1 that were not counted."""
    missing: list[int] = []
    after = 0
    for low, high in (*parts, (count, count)):
        missing.extend(range(after, min(low, after + 4)))
        after = high
    return missing[:4]


def check_parts(parts: Ranges, count: int) -> None:
    """Refuses a sum in which a part is missing."""
    if missing := missing_parts(parts, count):
        raise InputError(f"Part {missing[0]} of {count} was not counted: evaluate again. {CHANGED}")
    if parts and parts[-1][1] > count:
        raise InputError(CHANGED)


# The functions that executors run


def count_batch(job: Plain, batch: Sequence[Plain], reader: Reader | None = None) -> Plain:
    """The result of a batch of parts, as plain data.

    Without a reader the function runs in a worker, which keeps only open files between batches: there the version of
    tercet and the bytes of the files are compared with those of the process that asked.
    """
    if reader is None:
        _check_worker(job)
        return _counted(job, batch, _worker_reader(), elsewhere=True).to_plain()
    return _counted(job, batch, reader, elsewhere=False).to_plain()


@cache
def _worker_reader() -> Reader:
    """The reader of this process, where it is a worker: it writes nothing, so a worker may be killed."""
    return Reader()


def add_results(kind: str, plains: Sequence[Plain]) -> Plain:
    """The sum of several batches' results, as plain data: a cluster sends it in their place."""
    return reduce(plus, (Counted.of_plain(kind, plain) for plain in plains)).to_plain()


def _counted(job: Plain, batch: Sequence[Plain], reader: Reader, *, elsewhere: bool) -> Counted:
    for place in sorted({part["file"] for part in batch}):
        FileStamp(*job["stamps"][place]).check(elsewhere=elsewhere)
    kind = state_types()[job["kind"]]
    how = {"meaning": job["meaning"], "trained_prior": job["trained_prior"]}
    found = []
    for part in batch:
        file = job["files"][part["file"]]
        with _naming(file):
            state = kind.of_part(PartRows(reader, file, part, how), job)
        found.append(Counted(state, ((part["number"], part["number"] + 1),), job["plan"]))
    return reduce(plus, found)


@contextmanager
def _naming(file: Plain) -> Iterator[None]:
    """Names the file that the operating system does not read."""
    try:
        yield
    except OSError as error:
        raise InputError(f"{file['called']} cannot be read: {error.strerror or error}.") from None


def _check_worker(job: Plain) -> None:
    if (job["version"], job["rules"]) != (__version__, RULES):
        raise InputError(
            f"A worker runs tercet {__version__} (rules {RULES}), and the scan was started by tercet "
            f"{job['version']} (rules {job['rules']}): install the same version on all machines."
        )


# Where passes run


@dataclass(frozen=True, slots=True)
class Where:
    """Where parts are read: by threads of this process, by dask, by Spark, or by the caller's executor."""

    engine: str | Executor
    scheduler: str | None
    workers: int

    @classmethod
    def of(cls, engine: object, scheduler: str | None, workers: object) -> Where:
        """The place, validated before anything is read."""
        if not isinstance(engine, str | type) and isinstance(engine, Executor):
            return cls(engine, None, CORES if workers is None else whole(workers, "workers", 1))
        if not isinstance(engine, str) or engine not in ENGINES:
            raise InputError(f"engine is one of {', '.join(ENGINES)}, or an Executor, not {shown(engine)}.")
        if scheduler is not None and engine != "dask":
            raise InputError("scheduler is for engine='dask' only.")
        return cls(engine, scheduler, CORES if workers is None else whole(workers, "workers", 1))

    @property
    def processes(self) -> int:
        """The number of processes on this machine that share the memory limit."""
        return 1 + self.workers if self.engine == "dask" and self.scheduler is None else 1

    @contextmanager
    def executor(self) -> Iterator[Executor]:
        """The executor, open for all passes."""
        if self.engine == "local":
            yield Threads(self.workers)
        elif self.engine == "dask":
            from tercet.outofcore.executors import dask

            with dask.connected(self.scheduler, self.workers) as client:
                yield dask.Dask(client)
        elif self.engine == "spark":
            from tercet.outofcore.executors import spark

            yield spark.Spark(spark.active_session(), self.workers)
        else:
            assert not isinstance(self.engine, str)
            yield self.engine


class Passes(Protocol):
    """A source of rows, open for as many passes as one question takes."""

    @property
    def budget(self) -> Budget:
        """What may be held at a time."""

    @property
    def rows(self) -> int | None:
        """How many rows there are; None if only a pass can count them."""

    @property
    def row_count(self) -> int:
        """How many rows there are; known after the first pass."""

    @property
    def matrix(self) -> bool:
        """Whether there is one column of scores per class."""

    @property
    def plain(self) -> bool:
        """Whether it is known that rows are one score and a label, without weights."""

    def class_sizes(self) -> tuple[list[int], tuple[str, ...]] | None:
        """How many rows each class has and its name, where that is known without a pass."""

    def total(self, kind: type[State], **job: Value) -> Any:
        """The state of all rows: one pass over them."""

    def sample(self) -> tuple[Floats, NDArray[np.bool_]]:
        """Some scores, and which of them are targets: the same at every call."""


@dataclass(slots=True)
class FilePasses:
    """Passes over the parts of files."""

    plan: Plan
    budget: Budget
    executor: Executor
    reader: Reader | None
    job: Plain
    workers: int
    resume: str | os.PathLike[str] | None
    progress: _Progress

    @property
    def rows(self) -> int:
        """Of all files."""
        return self.plan.rows

    row_count = rows

    @property
    def matrix(self) -> bool:
        """Whether there is one column of scores per class."""
        return self.plan.matrix

    @property
    def plain(self) -> bool:
        """Whether rows are one score and a label, without weights."""
        return not any(file["weighted"] or file["width"] > 1 for file in self.plan.files)

    def class_sizes(self) -> tuple[list[int], tuple[str, ...]] | None:
        """How many rows each class has and its name, where the plan counted the labels of rows without weights."""
        files = self.plan.files
        if not self.matrix or any(file["weighted"] or file["label_rows"] is None for file in files):
            return None
        how = {name: self.job[name] for name in ("meaning", "trained_prior")}
        found = [sizes_of(file, np.array(file["label_rows"], np.int64), **how) for file in files]
        return [sum(sizes) for sizes in zip(*(sizes for sizes, _ in found), strict=True)], found[0][1]

    def total(self, kind: type[State], **job: Value) -> Any:
        """The state of all rows; every part was counted once, and the files are still the ones that were planned."""
        asked = {**self.job, **job, "kind": kind.__name__}
        if self.reader is not None:
            self.reader.leave(job.get("expected", 0) * PICKED_ROW)
        self.progress.start(last="expected" in job or job.get("labels_only") is False)
        try:
            found = self._sum(kind, self._results(asked, "expected" not in job))
        except TercetError:
            self.plan.check_unchanged()  # more informative than an error that follows from it
            raise
        self.plan.check_unchanged()
        return found

    def _sum(self, kind: type[State], plains: Iterator[Plain]) -> Any:
        """Adds results as they come; rows are collected and joined once."""
        parts: Ranges = ()
        states: list[State] = []
        for plain in plains:
            one = Counted.of_plain(kind.__name__, plain)
            parts = joined_parts(parts, one.parts)
            states = [*states, one.state] if hasattr(kind, "sum") else [reduce(plus, [*states, one.state])]
        check_parts(parts, len(self.plan.parts))
        if not hasattr(kind, "sum"):
            return states[0] if states else None
        if self.reader is not None:
            self.reader.leave_all()  # single rows are what the last pass collects, and joining them takes more memory
        return kind.sum(states)

    def _results(self, job: Plain, small: bool) -> Iterator[Plain]:
        size = max(-(-len(self.plan.parts) // (_BATCHES * self.workers)), 1)
        batches = [list(self.plan.parts[start : start + size]) for start in range(0, len(self.plan.parts), size)]
        saved = _Saved.of(self.resume, job)
        missing = []
        for number, batch in enumerate(batches):
            if (plain := saved.load(number, batch)) is None:
                missing.append(number)
                continue
            self.progress.add(batch)
            yield plain
        run = count_batch if self.reader is None else partial(count_batch, reader=self.reader)
        several = partial(add_results, job["kind"]) if small and self.resume is None else None
        for place, result in self.executor.collect(run, job, [batches[number] for number in missing], several):
            if result is not None:
                saved.save(missing[place], result)
            self.progress.add(batches[missing[place]])
            if result is not None:
                yield result

    def sample(self) -> tuple[Floats, NDArray[np.bool_]]:
        """Some rows of parts spread over all files."""
        parts = self.plan.parts
        chosen = sorted({len(parts) * k // _SAMPLED_PARTS for k in range(_SAMPLED_PARTS)}) if parts else []
        with Reader() as reader:
            found = together([partial(self._head, reader, parts[place]) for place in chosen], self.plan.rows)
        scores = [one[0] for one in found]
        return thinned_sample(
            np.concatenate([np.empty(0), *scores]), np.concatenate([np.zeros(0, np.bool_), *(one[1] for one in found)])
        )

    def _head(self, reader: Reader, part: Plain) -> tuple[Floats, NDArray[np.bool_]]:
        file, stop = self.plan.files[part["file"]], min(part["stop"], part["start"] + _SAMPLED_ROWS)
        with _naming(file):
            got = next(reader.pieces(file, part["start"], stop))
        return np.asarray(got.scores, np.float64), _marks(file, got.labels)


def thinned_sample(scores: Array, targets: NDArray[np.bool_]) -> tuple[Floats, NDArray[np.bool_]]:
    """At most a million rows, evenly spread, without NaN (which the first pass refuses by place)."""
    step = -(-len(scores) // (_SAMPLED_PARTS * _SAMPLED_ROWS)) or 1
    values = np.asarray(scores[::step], np.float64) + 0.0
    held = ~np.isnan(values)
    return values[held], np.asarray(targets[::step])[held]


@contextmanager
def file_passes(
    paths: object,
    options: Facts,
    where: Where,
    budget: Budget,
    *,
    trained_prior: object,
    progress: Progress | None,
    resume: str | os.PathLike[str] | None,
) -> Iterator[FilePasses]:
    """Passes over files, with the budget that their reading leaves."""
    with ExitStack() as stack:
        local = where.engine == "local"
        plan = stack.enter_context(planned(paths, options, budget.part, workers_elsewhere=not local))
        groups = f"Row groups that {where.workers} workers read at once (smaller ones, or fewer workers, take less)"
        left = budget.beside(where.workers * plan.group, groups)
        job = {
            "plan": plan.name, "files": list(plan.files), "stamps": [list(stamp) for stamp in plan.stamps],
            "version": __version__, "rules": RULES, "meaning": options.get("meaning", "llr"),
            "trained_prior": trained_prior,
        }  # fmt: skip
        reader = stack.enter_context(Reader(left.spare)) if local else None
        executor = stack.enter_context(where.executor())
        told = _Progress(plan.size, max(plan.rows, 1), progress)
        yield FilePasses(plan, left, executor, reader, job, where.workers, resume, told)
        plan.check_unchanged()


class _Progress:
    """Progress in bytes: two passes are expected, and the total grows where more are needed."""

    def __init__(self, size: int, rows: int, progress: Progress | None) -> None:
        self._size, self._rows, self._progress = size, rows, progress
        self._total, self._passes, self._done = 0, 0, 0

    def start(self, *, last: bool) -> None:
        """A pass over all rows begins."""
        self._passes, self._done = self._passes + 1, 0
        self._total = self._size * (self._passes if last else max(self._passes + 1, 2))

    def add(self, batch: Sequence[Plain]) -> None:
        """Adds this many finished parts."""
        self._done += sum(part["stop"] - part["start"] for part in batch)
        if self._progress is not None:
            done = self._size * (self._passes - 1) + self._size * self._done // self._rows
            self._progress(done, self._total)


@dataclass(frozen=True, slots=True)
class _Saved:
    """Finished batches in a folder, named after the question and the files: another question finds none."""

    folder: Path | None
    key: str
    plan: str

    @classmethod
    def of(cls, folder: str | os.PathLike[str] | None, job: Plain) -> _Saved:
        """The saved batches of a job; the folder is created if needed."""
        if folder is None:
            return cls(None, "", "")
        try:
            Path(folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            if Path(folder).is_file():
                raise InputError(f"resume={shown_path(folder)} is a file: name a folder.") from None
            raise InputError(f"resume={shown_path(folder)} cannot be made a folder: {error.strerror}.") from None
        asked = {key: value for key, value in job.items() if key != "files"}  # included in the plan's name
        return cls(Path(folder), digest(asked)[:24], job["plan"])

    def load(self, number: int, batch: Sequence[Plain]) -> Plain | None:
        """A batch that was saved, or None; a damaged one, or one of other parts, is counted again."""
        if self.folder is None or not (path := self.folder / f"{self.key}-{number}.npz").exists():
            return None
        try:
            plain = load_plain(path)
        except InputError:
            return None
        expected = [[batch[0]["number"], batch[-1]["number"] + 1]], self.plan
        return plain if (plain.get("_parts"), plain.get("_plan")) == expected else None

    def save(self, number: int, plain: Plain) -> None:
        """Keeps a batch, whole or not at all."""
        if self.folder is not None:
            save_plain(plain, self.folder / f"{self.key}-{number}.npz")
