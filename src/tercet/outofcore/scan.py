"""Scan: any number of trials, left where they are; evaluated and fitted by passes over them, in bounded memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tercet._numeric.frames import column_names
from tercet._numeric.meanings import MEANINGS, check_meaning
from tercet._numeric.parallel import together
from tercet._numeric.records import ReadOnly, Record
from tercet._numeric.validation import callback, flag, shown, shown_path
from tercet._numeric.validation import path as checked_path
from tercet._typing import JSON, EerDefinition, Facts, Floats
from tercet.application import MulticlassApplication
from tercet.calibration.training import ClassData
from tercet.errors import InputError
from tercet.io._limits import in_words
from tercet.io._plain_files import called_as, fingerprint, plain_file
from tercet.io._request import Request
from tercet.io._trial_columns import group_numbers
from tercet.io.formats.parquet import footer_of
from tercet.io.read import read, read_chunks
from tercet.metrics.case_costs import CaseCostColumns, CaseCosts, Parts
from tercet.metrics.summary import ClassSummary, Summary
from tercet.outofcore.chunks import Arrays, ChunkPasses, Chunks
from tercet.outofcore.classes import scanned_classes
from tercet.outofcore.executors import Executor
from tercet.outofcore.files import FileStamp, listed_files
from tercet.outofcore.fit import ScannedTraining
from tercet.outofcore.limits import IN_MEMORY_ROW, PROCESS, TEXT_ROW, Budget
from tercet.outofcore.refinement import two_class_summary
from tercet.outofcore.regression import scanned_class_data
from tercet.outofcore.runner import FilePasses, Passes, Progress, Where, file_passes
from tercet.trials import MATRIX_MEANINGS, TWO_CLASS_MEANINGS, Trials, probability

Engine = Literal["local", "dask", "spark"] | Executor
StrPath = str | os.PathLike[str]
_TEXT_BYTES = 8  # that a row takes in a text file at least, where only the size of the file is known
_ARRAY_BYTES = 4  # of a number in an array, at least
_NO_OPTIONS: Facts = ReadOnly({})


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scan(Record):
    """Labelled trials that are read in passes and never held in memory at once, made by `tercet.scan`.

    Attributes
    ----------
    source : path, list of paths, or Chunks
        Where the rows are.
    options : mapping
        How they are read, as `tercet.read` takes it.
    where : Where
        On which engine, with how many workers.
    memory_limit : int
        Bytes for the whole process tree.
    resume : path or None
        A folder in which finished parts are kept.
    progress : callable or None
        Called as ``progress(done, total)`` in bytes.
    hashes : bool
        Whether the SHA-256 of every file is computed.
    budget : Budget or None
        What the passes may keep in memory, instead of what `memory_limit` allows.

    Examples
    --------
    >>> import numpy as np, tercet as tc
    >>> from tercet.outofcore import Arrays
    >>> scan = tc.scan(Arrays(np.array([2.0, 1.0, -0.5, 0.3, -1.0]), np.array([1, 1, 1, 0, 0])))
    >>> round(tc.evaluate(scan, [(0.5, 1, 1)]).applications[0].fnr, 4)
    0.3333
    """

    source: Chunks | Sequence[StrPath] | StrPath
    options: Facts
    where: Where
    memory_limit: int
    resume: StrPath | None = None
    progress: Progress | None = None
    hashes: bool = False
    budget: Budget | None = None  # overrides what memory_limit allows

    @property
    def meaning(self) -> str:
        """What the scores mean."""
        return str(self.options["meaning"])

    @property
    def name(self) -> str | None:
        """The name of the system: the one given, else that of a single file."""
        if self.options.get("name") is not None or isinstance(self.source, Chunks):
            return self.options.get("name")
        files = listed_files(self.source)
        return files[0].name.split(".")[0] if len(files) == 1 else None

    def __repr__(self) -> str:
        what = "chunks" if isinstance(self.source, Chunks) else shown(self.source)
        return f"Scan of {what}, meaning {self.meaning}, within {in_words(self.memory_limit)}"

    def read(self) -> Trials:
        """Read all trials of a single file into memory, if they fit.

        Returns
        -------
        Trials
            The trials.
        """
        files = listed_files(self.source)
        if len(files) != 1:
            raise InputError(f"{len(files)} files cannot be read as one: evaluate the scan, or join them first.")
        return read(files[0], **self.options)

    def _summary(self, thresholds: Floats, eer: EerDefinition) -> tuple[Summary, JSON]:
        """The summary that a two-class evaluation is built from.

        Parameters
        ----------
        thresholds : numpy.ndarray of float
            Where errors are counted.
        eer : str
            The definition of the EER.

        Returns
        -------
        tuple
            The summary, and what the scan took: passes, rows read again, files.
        """
        with self._passes() as passes:
            found, took = two_class_summary(passes, thresholds, eer, self.meaning, self._trained_prior)
            return found, took | self._files(passes)

    @property
    def several(self) -> bool:
        """Whether there is one column of scores per class."""
        return self.meaning in MATRIX_MEANINGS

    def _class_summary(self, applications: Sequence[MulticlassApplication]) -> tuple[ClassSummary, JSON]:
        """The summary that an evaluation of K classes is built from.

        Parameters
        ----------
        applications : sequence of MulticlassApplication
            Priors and costs to count decisions for.

        Returns
        -------
        tuple
            The summary, and what the scan took: passes and files.
        """
        with self._passes() as passes:
            found, count = scanned_classes(passes, applications)
            return found, {"passes": count} | self._files(passes)

    def _case_parts(self, costs: CaseCostColumns) -> Parts:
        """The cases with costs of their own, in parts.

        Parameters
        ----------
        costs : CaseCostColumns
            The columns that hold the costs.

        Returns
        -------
        callable
            Gives trials and costs of one part after the other, as often as it is called.
        """
        if isinstance(self.source, Chunks) or self.several:
            raise InputError("Costs per case are read from columns of files of two classes.")
        return case_parts(listed_files(self.source), self.options, self.memory_limit, costs)

    @contextmanager
    def _training_data(self) -> Iterator[ScannedTraining]:
        """The trials as a two-class calibrator reads them.

        Yields
        ------
        ScannedTraining
            Sums and ordered passes, while the context is open.
        """
        if self.several:
            raise InputError("A scan of several classes cannot train a two-class calibrator: read the trials instead.")
        with self._passes() as passes:
            yield ScannedTraining(passes, self.meaning, self._trained_prior)

    @contextmanager
    def _class_data(self) -> Iterator[ClassData]:
        """The trials as a calibrator of any number of classes reads them.

        Yields
        ------
        ClassData
            The classes, and the rows of a regression, while the context is open.
        """
        with self._passes(halves=True) as passes:
            yield scanned_class_data(passes, self._trained_prior)

    @property
    def _trained_prior(self) -> Any:
        given = self.options["trained_prior"]
        if self.meaning in ("log-odds", "posterior"):
            return probability(given, "trained_prior")
        return None if self.meaning in TWO_CLASS_MEANINGS or given is None else np.asarray(given).tolist()

    @contextmanager
    def _passes(self, *, halves: bool = False) -> Iterator[Passes]:
        """The rows, open for as many passes as a question takes.

        Parameters
        ----------
        halves : bool, default False
            Whether parts are half as large, where a question computes with many numbers per row.

        Yields
        ------
        Passes
            The passes, while the context is open.
        """
        columns = len(self.options.get("class_columns") or ()) or (8 if self.meaning in MATRIX_MEANINGS else 1)
        budget = self.budget or Budget.of(self.memory_limit, self.where.workers, self.where.processes, columns)
        budget = budget._replace(part=max(budget.part // 2, 1)) if halves else budget
        if isinstance(self.source, Chunks):
            how = {"meaning": self.meaning, "trained_prior": self._trained_prior}
            yield ChunkPasses(self.source, self.options["target"], how, budget)
            return
        reading = {**self.options, "memory": self.memory_limit // 4}
        more: JSON = {"progress": self.progress, "resume": self.resume}
        with file_passes(
            self.source, reading, self.where, budget, trained_prior=self._trained_prior, **more
        ) as found:  # fmt: skip
            yield found

    def _files(self, passes: Passes) -> JSON:
        if not isinstance(passes, FilePasses):
            return {}
        stamps = passes.plan.stamps
        return {"files": together([partial(_named, stamp, self.hashes) for stamp in stamps], passes.plan.rows)}


def _named(stamp: FileStamp, hashed: bool) -> JSON:
    """A file as the JSON names it; its hash is null where it was not asked for, because that reads all bytes."""
    named = fingerprint(stamp.path) if hashed else {"name": called_as(Path(stamp.path)), "sha256": None}
    return {**named, "bytes": stamp.bytes}


def scan(
    source: StrPath | Sequence[StrPath] | Chunks,
    *,
    labels: StrPath | None = None,
    key: StrPath | None = None,
    format: str | None = None,
    separator: str | None = None,
    columns: Sequence[str] | None = None,
    header: bool | None = None,
    score_column: str = "score",
    label_column: str = "label",
    weight_column: str | None = None,
    id_column: str | Sequence[str] | None = None,
    target: object = None,
    meaning: str = "llr",
    trained_prior: object = None,
    class_columns: Sequence[str] | None = None,
    missing: str = "error",
    name: str | None = None,
    memory_limit: int = 10**9,
    engine: Engine = "local",
    scheduler: str | None = None,
    workers: int | None = None,
    resume: StrPath | None = None,
    hashes: bool = False,
    progress: Progress | None = None,
    notes: Callable[[str], None] | None = None,
) -> Scan:
    """Any number of trials within a memory limit, for `tercet.evaluate` and for the `fit` of calibrators.

    Nothing is read until something is computed. Every result is identical, to the bit, to that of `tercet.read`, or
    else an error that says what to do instead; only the AUC may be known just between two bounds
    (`Evaluation.brackets`).

    Parameters
    ----------
    source : path, list of paths, or object with a method chunks()
        Files or patterns (``"scores/*.parquet"``) that are the parts of one system; or anything whose `chunks` yields
        Trials, (scores, labels) or (scores, labels, weights), the same at every call.
    labels : path, optional
        A file of labels, one per score, matched by position, for a single file of scores.
    key : path, optional
        A file of trial ids with labels, matched by id, for a single file of scores.
    format : str, optional
        The format where the file's name and first bytes do not tell: csv, tsv, parquet, npy, jsonl, kaldi, voxceleb,
        sre, asvspoof, bosaris or bob.
    separator : str, optional
        What stands between the columns of a text file.
    columns : sequence of str, optional
        Column names of a text file without a header.
    header : bool, optional
        Whether the first line of a text file has the column names; detected by default.
    score_column : str, default "score"
        The column of scores.
    label_column : str, default "label"
        The column of labels.
    weight_column : str, optional
        The column of weights.
    id_column : str or sequence of str, optional
        The column, or columns, of trial ids.
    target : object, optional
        The label of the target, where labels are not 0/1, False/True or nontarget/target.
    meaning : str, default "llr"
        What the scores mean: llr, lr, log10-llr, log-odds, posterior, raw; log-likelihoods, logits or posteriors for
        one column per class.
    trained_prior : float or array_like, optional
        The prior that log-odds, logits or posteriors were made with.
    class_columns : sequence of str, optional
        The columns of scores, one per class.
    missing : {"error", "drop", "reject"}, default "error"
        Trials of the key without a score: refused, left out, or given the lowest score.
    name : str, optional
        The system's name; by default the file's.
    memory_limit : int, default 1000000000
        Bytes that the whole process tree may take.
    engine : {"local", "dask", "spark"} or Executor, default "local"
        Threads of this process, a dask cluster, the Spark session that is running, or an engine of your own.
    scheduler : str, optional
        The address of a running dask scheduler; without one dask starts workers on this machine.
    workers : int, optional
        Threads or dask workers; as many as there are cores by default.
    resume : path, optional
        A folder in which finished parts are saved, so that an interrupted run can continue from there.
    hashes : bool, default False
        Whether to compute the SHA-256 of every file, which means reading all bytes once more.
    progress : callable, optional
        Called as ``progress(done, total)`` in bytes.
    notes : callable, optional
        Called with one sentence on what was left out or rejected.

    Returns
    -------
    Scan
        A lazy source that can be read again and again.

    Examples
    --------
    >>> import numpy as np, tercet as tc
    >>> source = tc.scan(Arrays(np.array([2.0, 1.0, -0.5, 0.3, -1.0]), np.array([1, 1, 1, 0, 0])))
    >>> tc.evaluate(source, [(0.5, 1, 1)]).applications[0].fnr
    0.3333333333333333
    """
    check_meaning(meaning, MEANINGS, trained_prior)
    class_columns = None if class_columns is None else column_names(class_columns, "class_columns")
    options = {
        key_: value for key_, value in locals().items()
        if key_ not in ("source", "memory_limit", "engine", "scheduler", "workers", "resume", "hashes", "progress")
    }  # fmt: skip
    where = Where.of(engine, scheduler, workers)
    hashes = flag(hashes, "hashes")
    callback(progress, "progress")
    _check_reading(source, options, resume, progress, hashes)
    Budget.of(memory_limit, where.workers, where.processes)
    return Scan(source, options, where, memory_limit, resume, progress, hashes)


def _check_reading(
    source: StrPath | Sequence[StrPath] | Chunks, options: JSON, resume: StrPath | None,
    progress: Progress | None, hashes: bool,
) -> None:  # fmt: skip
    """Refuses options that these files, or chunks, cannot be read with, and what is no folder."""
    if resume is not None:
        checked_path(resume, "resume")
    if isinstance(source, Chunks):
        return _refuse_reading_options({**options, "resume": resume, "progress": progress, "hashes": hashes or None})
    for one in source if isinstance(source, list | tuple) else [source]:
        Request.of(checked_path(one, "source"), **options)
    return None


def memory_needed(path: StrPath, options: Facts = _NO_OPTIONS) -> int:
    """About how many bytes it takes to read and evaluate a file in memory, from its size or from its footer."""
    columns = len(column_names(options.get("class_columns"), "class_columns")) or (
        8 if options.get("meaning") in MATRIX_MEANINGS else 1
    )
    row = IN_MEMORY_ROW * columns + TEXT_ROW * len(column_names(options.get("group_columns"), "group_columns"))
    with open(path, "rb") as data:
        head = data.read(4)
    if head != b"PAR1":
        return PROCESS + os.stat(path).st_size // (_ARRAY_BYTES if head == b"\x93NUM" else _TEXT_BYTES) * row
    with plain_file(path, 10**9) as file:
        return PROCESS + footer_of(file).rows * row


def _refuse_reading_options(options: Facts) -> None:
    """Refuses options of files where chunks come from Python."""
    usual = {"score_column": "score", "label_column": "label", "missing": "error"}
    known = ("target", "meaning", "trained_prior", "name", "notes")
    for key, value in options.items():
        if key not in known and value != usual.get(key):
            raise InputError(f"{key}= is for files, and this scan reads chunks of rows from Python: leave it out.")


_CASE_ROW = 512  # bytes that a row may take while its part is read and split by class
_MOST_CASES = 1 << 20  # at a time


def case_parts(files: Sequence[Path], options: Facts, memory: int, costs: CaseCostColumns) -> Parts:
    """The cases of files with their costs, part by part as often as they are asked for."""
    asked, columns = costs.costs, costs.columns
    rows = max(min(memory // _CASE_ROW, _MOST_CASES), 1)

    def parts() -> Iterator[tuple[Trials, CaseCosts]]:
        for file in files:
            first = 0
            for part in _naming_argument(read_chunks(file, rows, **{**options, "group_columns": columns}), asked):
                yield part, _costs_of(part, costs, file, first)
                first += len(part)

    return parts


def _costs_of(part: Trials, costs: CaseCostColumns, file: object, first: int) -> CaseCosts:
    """The costs of some rows of a file; invalid ones are refused with the number of the first of these rows."""
    try:
        own = {
            name: group_numbers(part, one, "costs") if isinstance(one, str) else one
            for name, one in costs.costs.items()
        }
        return CaseCosts._part(costs.prior, **own)
    except InputError as error:
        raise InputError(f"{shown_path(file)}, rows from {first} on: {error}") from None


def _naming_argument(parts: Iterator[Trials], asked: Mapping[str, str | float]) -> Iterator[Trials]:
    """The parts; for a missing column the error names the argument."""
    try:
        yield from parts
    except InputError as error:
        for name, column in asked.items():
            if isinstance(column, str) and f"no column {shown(column)[:8]}" in str(error):
                raise InputError(f"{name}={shown(column)} must be a column or a number: {error}") from None
        raise


__all__ = ["Arrays", "Chunks", "Scan", "scan"]
