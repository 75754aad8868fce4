"""Reading the parts of a plan, through `tercet.io`: in this process, or in a worker that was sent the plan.

Parquet and npy are read in place. All other formats of `tercet.read` (text, packed files, JSON lines, trial lists,
keys) are read and checked once, and kept as plain columns in the temporary folder until the scan is done.
"""

from __future__ import annotations

import math
import re
import shutil
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import pairwise
from operator import add as plus
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.matrices import prior_vector
from tercet._numeric.meanings import RANGES
from tercet._numeric.sorting import sort
from tercet._numeric.validation import class_codes, frozen, is_target, some
from tercet._typing import Array, Facts
from tercet.decision import ClassRows
from tercet.errors import InputError
from tercet.io._limits import in_words
from tercet.io._plain_files import called_as
from tercet.io._row_ranges import RowRanges, TableRanges
from tercet.io._trial_columns import TARGET_OF_TWO, TrialColumns, trials_of, word
from tercet.io.columns import REJECTION, LabelColumn, Labels
from tercet.io.formats.parquet import plain_columns, release_memory
from tercet.io.source import TrialSource, faults_named, open_source
from tercet.metrics.posteriors import Likelihoods
from tercet.metrics.tally import Ranked, Tally
from tercet.outofcore.files import FileStamp, Plan, cut_into_parts, listed_files, pieces_of
from tercet.outofcore.plain_data import Plain
from tercet.trials import MATRIX_MEANINGS, Trials

_STACKED = 1 << 16  # rows of several scores that are put together at a time, and stay in the cache
_JUDGED = 1 << 17  # rows of several classes that are summed up at a time, on one core
_JOINED = 1 << 18  # rows of smaller row groups that are read together, so that columns need not be joined
_SPLIT = 1 << 18  # rows that are split into classes at a time
_PIECE = 1 << 20  # rows that are read at a time
_SMALL = 32 << 20  # bytes of a row group for which the memory of every part suffices
_SPOOLED = 1 << 18  # rows that go into the temporary folder at a time
_FAST = 1 << 22  # with this many rows, loading a second library pays
_OPEN = 16  # files that stay open between parts
_ADDITIVE = ("logits", "log-likelihoods")  # scores to which a constant per row may be added
_IN_PLACE = (b"PAR1", b"\x93NUM")
Sides = tuple[Array, Array]  # some scores of targets and of non-targets
Marked = tuple[int, object, NDArray[np.bool_]]  # the first row of a piece, its scores, which of them are targets
_NO_LABELS = "{} has no labels: they come from a column (label_column), from labels= or from key=."


# The plan


@contextmanager
def planned(paths: object, options: Facts, part_rows: int, *, workers_elsewhere: bool = False) -> Iterator[Plan]:
    """The plan of some files, all read with the same options; what had to be unpacked is removed at the end.

    A part has at most `part_rows` rows, or twice as many of float32 scores, which take half the memory.
    `workers_elsewhere`: other processes read too, so every file must have a format that is read in place.
    """
    named = listed_files(paths)
    apart = [Path(options[key]).absolute() for key in ("labels", "key") if options.get(key) is not None]
    if apart and len(named) > 1:
        raise InputError(f"labels= and key= are for one file of scores, not for {len(named)}.")
    # Before anything is read: a file that is replaced later is noticed, whatever was read of it.
    stamps = [_stamp(path) for path in (*named, *(one for one in apart if one.exists()))]
    with ExitStack() as stack:
        files = [
            _described(stack, path, stamp, options, bool(apart), workers_elsewhere)
            for path, stamp in zip(named, stamps, strict=False)
        ]
        for file in files:
            file["alone"] = len(files) == 1
        matrix = options.get("meaning", "llr") in MATRIX_MEANINGS
        _judge_labels(files, options.get("target"), matrix)
        parts = [
            {"number": 0, "file": place, "start": start, "stop": stop}
            for place, file in enumerate(files)
            for start, stop in cut_into_parts(file["starts"], part_rows * (2 if file["narrow"] else 1))
        ]
        parts = [part | {"number": number} for number, part in enumerate(parts)]
        group = max(file["group_bytes"] for file in files)
        rows = sum(file["rows"] for file in files)
        yield Plan(tuple(files), tuple(parts), tuple(stamps), rows, matrix, group if group > _SMALL else 0)


def _stamp(path: Path) -> FileStamp:
    try:
        return FileStamp.of(path)
    except OSError as error:
        raise InputError(f"{called_as(path)} cannot be read: {error.strerror}.") from None


def _described(
    stack: ExitStack, path: Path, stamp: FileStamp, options: Facts, apart: bool, workers_elsewhere: bool
) -> Plain:
    """What a file holds, and how to read it again."""
    called = called_as(path)
    known = {key: value for key, value in options.items() if value is not None and key not in ("target", "name")}
    with open_source(path, **known) as source:
        in_place = not apart and _head(path, called) in _IN_PLACE
        if not in_place and workers_elsewhere:
            raise InputError(
                f"{called} is neither Parquet nor npy, and other engines than 'local' read only these: write it as "
                f"Parquet first (duckdb: COPY ... TO), or leave engine out."
            )
        names = source.label_names
        if names is None:
            raise InputError(_NO_LABELS.format(called))
        with faults_named(path):
            first = source.ranges.columns(0, min(source.rows, 1))
        width = 1 if first.scores.ndim == 1 else first.scores.shape[1]
        largest = max(high - low for low, high in pairwise(source.starts))
        plain = _plain_options(known) if in_place else {}
        return {
            "path": str(path), "key": f"{stamp} {plain}", "called": called, "options": plain,
            "rows": source.rows, "starts": list(source.starts), "narrow": first.scores.dtype == np.float32,
            "label_names": list(names), "label_codes": _codes_of(source), "usual_target": source.target,
            "label_rows": source.ranges.label_rows() if isinstance(source.ranges, TableRanges) else None,
            "classes": None if first.classes is None else list(first.classes), "stem": source.stem,
            "width": width, "weighted": first.weights is not None,
            "group_bytes": 8 * largest * (width + 1) if in_place else 0,
            "spool": None if in_place else _spooled(stack, source),
            "fast": _fast_names(source.ranges, first) if in_place and source.rows >= _FAST else None,
        }  # fmt: skip


def _fast_names(ranges: RowRanges, first: TrialColumns) -> list[str] | None:
    """The columns of scores and labels, if both can be read through pyarrow, as the first row shows."""
    if not isinstance(ranges, TableRanges):
        return None
    roles, matrix = ranges.roles, first.scores.ndim > 1
    kind = getattr(getattr(first.labels, "dtype", None), "kind", "")
    known = isinstance(first.labels, Labels) if matrix else kind in ("b", "i", "u")
    if not known or first.weights is not None or roles.label is None:
        return None
    return [*roles.scores, roles.label]


def _head(path: Path, called: str) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(4)
    except OSError as error:
        raise InputError(f"{called} cannot be read: {error.strerror}.") from None


def _plain_options(options: Facts) -> Plain:
    kept = {key: value for key, value in options.items() if key not in ("progress", "notes", "memory")}
    return {key: list(value) if isinstance(value, tuple | np.ndarray) else value for key, value in kept.items()}


def _codes_of(source: TrialSource) -> list[int] | None:
    """The distinct labels of an array, so that other readers need not search for them again."""
    known = source._distinct()
    return None if known is None else known.codes.tolist()


def _judge_labels(files: Sequence[Plain], target: object, matrix: bool) -> None:
    """Decides for every file which of its label names are targets, as if all were one file."""
    if matrix:
        if target is not None:
            raise InputError(TARGET_OF_TWO)
        for file in files[1:]:
            if file["classes"] != files[0]["classes"]:
                raise InputError(
                    f"{file['called']} has the classes {some(file['classes'] or (), 4)}, but {files[0]['called']} "
                    f"{some(files[0]['classes'] or (), 4)}. Write all files with the same columns."
                )
        return
    names = list(dict.fromkeys(name for file in files for name in file["label_names"]))
    asked = target if target is not None else next((file["usual_target"] for file in files), None)
    try:
        marks, _ = is_target(np.array(names, np.object_), None if asked is None else word(asked))
    except InputError as error:
        odd = next((file for file in files if file["label_names"] != files[0]["label_names"]), None)
        if target is not None or odd is None:
            raise InputError(f"{files[0]['called']}: {error}") from None
        raise InputError(
            f"{odd['called']}: labels are {some(odd['label_names'], 4)}, but {some(files[0]['label_names'], 4)} in "
            f"{files[0]['called']}. Write all files with the same labels, or name the target (target=)."
        ) from None
    known = dict(zip(names, marks.tolist(), strict=True))
    for file in files:
        file["targets"] = [known[name] for name in file["label_names"]]


# Columns kept in the temporary folder


def _spooled(stack: ExitStack, source: TrialSource) -> Plain:
    """The columns of a source written as plain arrays into the temporary folder, and where they are."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="tercet-scan-")))
    first = source.columns(0, min(source.rows, 1))
    width = 1 if first.scores.ndim == 1 else first.scores.shape[1]
    size = source.rows * (8 * width + 4 + 8 * (first.weights is not None))
    if size > shutil.disk_usage(folder).free // 2:
        raise InputError(
            f"{source.called} ({in_words(size)} of numbers) would fill the temporary folder {folder.parent}: set "
            f"TMPDIR to another, or write the file as Parquet."
        )
    names = ["scores", "labels", *(["weights"] if first.weights is not None else [])]
    try:
        with ExitStack() as files:
            out = {name: files.enter_context((folder / name).open("wb")) for name in names}
            for batch in source.batches(_SPOOLED):
                out["scores"].write(np.ascontiguousarray(batch.scores, np.float64).data)
                out["labels"].write(np.ascontiguousarray(batch.labels, np.int32).data)
                if batch.weights is not None:
                    out["weights"].write(np.ascontiguousarray(batch.weights, np.float64).data)
    except OSError as error:
        raise InputError(
            f"{source.called} cannot be unpacked into the temporary folder {folder.parent}: {error.strerror or error}. "
            f"If that is full, set TMPDIR to another, or write the file as Parquet."
        ) from None
    return {"folder": str(folder), "names": names, "width": 0 if first.scores.ndim == 1 else width}


def _from_spool(file: Plain, start: int, stop: int) -> TrialColumns:
    spool, rows = file["spool"], stop - start

    def column(name: str, kind: type, width: int = 1) -> Array:
        size = np.dtype(kind).itemsize * width
        return np.fromfile(Path(spool["folder"]) / name, kind, rows * width, offset=start * size)

    scores = column("scores", np.float64, spool["width"] or 1)
    matrix = spool["width"] > 0
    return TrialColumns(
        file["called"], scores.reshape(rows, -1) if matrix else scores,
        Labels(column("labels", np.int32), tuple(file["label_names"])),
        column("weights", np.float64) if "weights" in spool["names"] else None,
        classes=file["classes"], upright=matrix,
    )  # fmt: skip


# The reader


def _fast_pieces(file: Plain, start: int, stop: int) -> Iterator[TrialColumns] | None:
    """Unweighted rows that pyarrow can read, where there is nothing to report; several scores in small pieces."""
    if (names := file["fast"]) is None:
        return None
    path, starts, width = Path(file["path"]), file["starts"], len(names) - 1
    texts = tuple(file["label_names"]) if width > 1 else ()
    columns = plain_columns(path, names, starts, start, stop, texts)
    if columns is None or (width > 1 and columns[-1].dtype.kind != "i"):
        return None
    if width == 1:
        return iter([TrialColumns(file["called"], columns[0], columns[1])])
    return (
        _upright(file, [column[first : first + _STACKED] for column in columns])
        for first in range(0, stop - start, _STACKED)
    )


def _class_columns(
    file: Plain, start: int, stop: int, meaning: str, trained_prior: object
) -> Iterator[ClassRows] | None:
    """Unweighted rows of several classes that pyarrow can read, where there is nothing to report or to convert."""
    names, classes = file["fast"], file["classes"]
    if names is None or meaning not in _ADDITIVE:
        return None
    columns = plain_columns(Path(file["path"]), names, file["starts"], start, stop, tuple(file["label_names"]))
    if columns is None or columns[-1].dtype.kind != "i":
        return None
    *scores, codes = columns
    if not all(np.isfinite(one.min()) and np.isfinite(one.max()) for one in scores if len(one)):
        return None
    try:
        numbers = class_codes(np.array(file["label_names"], np.object_), tuple(classes), classes)
    except InputError:
        return None
    prior = None if trained_prior is None else np.log(prior_vector(trained_prior, len(classes), "trained_prior"))
    labels = numbers[codes]
    parts = (slice(first, first + _JUDGED) for first in range(0, stop - start, _JUDGED))
    return (
        ClassRows(Likelihoods([one[rows] for one in scores], prior), labels[rows], tuple(classes)) for rows in parts
    )


def _upright(file: Plain, columns: list[Array]) -> TrialColumns:
    """Columns of several scores, the last being labels, as one table, of which each column stays a run in memory."""
    labels = Labels(columns[-1], tuple(file["label_names"]))
    scores = np.array(columns[:-1], np.float64).T
    return TrialColumns(file["called"], scores, labels, classes=file["classes"], upright=True)


class Reader:
    """The rows of a plan's parts in one process: files stay open between parts, sorted parts are kept if they fit."""

    def __init__(self, room: int = 0) -> None:
        self._room, self._used = room, 0
        self._kept: dict[int, Tally | list[Sides]] = {}
        self._idle: list[tuple[str, ExitStack, TrialSource]] = []
        self._lock = threading.Lock()

    def __enter__(self) -> Reader:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave_all()
        while self._idle:
            self._idle.pop()[1].close()

    def pieces(self, file: Plain, start: int, stop: int) -> Iterator[TrialColumns]:
        """The checked columns of a range of rows of a file, piece by piece."""
        if file["spool"] is not None:
            yield _from_spool(file, start, stop)
        elif (found := _fast_pieces(file, start, stop)) is not None:
            yield from found
        else:
            with self._source(file) as source:
                yield source.ranges.columns(start, stop)

    def labels(self, file: Plain, start: int, stop: int) -> Array:
        """The labels of a range of rows alone, as positions among the file's label names."""
        names = file["fast"]
        if file["spool"] is not None:
            found: LabelColumn | None = _from_spool(file, start, stop).labels
        elif names is not None and (
            codes := plain_columns(Path(file["path"]), names[-1:], file["starts"], start, stop, file["label_names"])
        ):
            found = Labels(codes[0], tuple(file["label_names"]))
        else:
            with self._source(file) as source:
                found = source.ranges.labels(start, stop)
        return np.asarray(found.codes) if isinstance(found, Labels) else _positions(file, found)

    @contextmanager
    def _source(self, file: Plain) -> Iterator[TrialSource]:
        """An open file that no other thread is reading."""
        with self._lock:
            place = next((k for k, (key, *_) in enumerate(self._idle) if key == file["key"]), None)
            held = None if place is None else self._idle.pop(place)
        if held is None:
            stack = ExitStack()
            source = stack.enter_context(open_source(file["path"], one_thread=True, **file["options"]))
            held = file["key"], stack, source
        try:
            yield held[2]
        finally:
            with self._lock:
                self._idle.append(held)
                surplus = self._idle.pop(0) if len(self._idle) > _OPEN else None
            if surplus is not None:
                surplus[1].close()

    def kept(self, number: int) -> Tally | list[Sides] | None:
        """A part's classes, sorted or not, if they are still here."""
        return self._kept.get(number)

    def keep(self, number: int, part: Tally | list[Sides]) -> None:
        """Keeps a part for the next pass if there is room."""
        with self._lock:
            if self._used + _size(part) <= self._room:
                self._kept[number] = part
                self._used += _size(part)

    def forget(self, number: int) -> None:
        """Keeps this part no longer."""
        with self._lock:
            self._used -= _size(self._kept.pop(number, ()))

    def leave_all(self) -> None:
        """Keeps no part any longer."""
        release_memory()
        self._kept.clear()
        self._used = 0

    def leave(self, size: int) -> None:
        """Makes room for this many bytes of something else."""
        while self._kept and self._used + size > self._room:
            self._used -= _size(self._kept.popitem()[1])


def _size(part: Tally | Sequence[Sides]) -> int:
    if not isinstance(part, Tally):
        return sum(side.nbytes for sides in part for side in sides)
    sides = (part.targets, part.nontargets)
    return sum(side.scores.nbytes + (0 if side.running is None else side.running.nbytes) for side in sides)


@dataclass(frozen=True, slots=True)
class PartRows:
    """One part of a plan: its rows as a tally, or as trials piece by piece."""

    reader: Reader
    file: Plain
    part: Plain
    how: Plain = field(default_factory=dict)  # meaning and trained_prior

    def tally(self) -> Tally:
        """The part's two classes, sorted."""
        number = self.part["number"]
        found = self.reader.kept(number)
        if not isinstance(found, Tally):
            self.reader.forget(number)
            found = self._tally() if found is None else _sorted(found, **self.how)
            self.reader.keep(number, found)
        return found

    def class_scores(self) -> list[Sides]:
        """The scores of the part's targets and non-targets, in any order and in pieces; there are no weights."""
        found = self.reader.kept(self.part["number"])
        if isinstance(found, Tally):
            return [(found.targets.scores, found.nontargets.scores)]
        if found is None:
            found = split_classes(self._marked(self._columns()), self.file["called"], self.how["meaning"])
            self.reader.keep(self.part["number"], found)
        return found

    def _tally(self) -> Tally:
        pieces = self._columns()
        first = next(pieces, None)
        if first is None:
            return _sorted([], **self.how)
        if first[1].weights is None and first[1].scores.ndim == 1:
            return sorted_classes(self._marked(_chained(first, pieces)), self.file["called"], **self.how)
        return reduce(plus, map(Tally.of, self._trials(_chained(first, pieces))))

    def trials(self) -> Iterator[Trials]:
        """The part's trials, some rows at a time."""
        return self._trials(self._columns())

    def class_sizes(self) -> tuple[list[int], tuple[str, ...]] | None:
        """How many rows each class has and its name, from the labels alone; None where weights are to be added."""
        file = self.file
        if file["weighted"] or file["width"] < 2:
            return None
        counts = np.zeros(len(file["label_names"]), np.int64)
        for start, stop in self._pieces():
            counts += np.bincount(self.reader.labels(file, start, stop), minlength=len(counts))
        return sizes_of(file, counts, **self.how)

    def _trials(self, pieces: Iterable[tuple[int, TrialColumns]]) -> Iterator[Trials]:
        for start, got in pieces:
            labels = got.labels
            if got.scores.ndim == 2 and not isinstance(labels, Labels):
                labels = Labels(_positions(self.file, labels), tuple(self.file["label_names"]))
            elif got.scores.ndim == 1:
                labels = _marks(self.file, labels)
            try:
                yield trials_of(replace(got, labels=labels), self.how["meaning"], None, self.how["trained_prior"], None)
            except InputError as error:
                raise InputError(_renumbered(str(error), f"{got.called}: ", start)) from None

    def _marked(self, pieces: Iterable[tuple[int, TrialColumns]]) -> Iterator[Marked]:
        """The first row of each piece, its scores, and which of them are targets."""
        return ((start, got.scores, _marks(self.file, got.labels)) for start, got in pieces)

    def class_rows(self) -> Iterator[ClassRows]:
        """The part's rows of several classes, some at a time; columns of numbers as they are in the file."""
        called = "" if self.file["alone"] else f"{self.file['called']}: "
        for start, stop in self._small_pieces():
            first, found = start, _class_columns(self.file, start, stop, **self.how)
            if found is None:
                found = map(ClassRows.of, self._trials(self._columns_of(start, stop)))
            for rows in found:
                yield rows.within(self.part["file"], start, called)
                start += len(rows.labels)
            self._release(stop - first)

    def _columns(self) -> Iterator[tuple[int, TrialColumns]]:
        for start, stop in self._pieces():
            yield from self._columns_of(start, stop)
            self._release(stop - start)

    def _columns_of(self, start: int, stop: int) -> Iterator[tuple[int, TrialColumns]]:
        """The columns of a piece, some rows at a time, after the number of the first of them."""
        for got in self.reader.pieces(self.file, start, stop):
            yield start, got
            start += len(got.scores)

    def _release(self, rows: int) -> None:
        """Gives back the memory of a large piece; that of small ones is soon used again, and fresh pages take time."""
        if 8 * rows * (self.file["width"] + 1) > _SMALL:
            release_memory()

    def _pieces(self) -> Iterator[tuple[int, int]]:
        """Ranges of rows to read one after the other."""
        return pieces_of(self.file["starts"], self.part["start"], self.part["stop"], _PIECE)

    def _small_pieces(self) -> Iterator[tuple[int, int]]:
        """The same, of as few row groups as are worth reading together."""
        starts = self.file["starts"]
        largest = max(high - low for low, high in pairwise(starts))
        return pieces_of(starts, self.part["start"], self.part["stop"], min(max(largest, _JOINED), _PIECE))


def sizes_of(file: Plain, counts: Array, meaning: str, trained_prior: object) -> tuple[list[int], tuple[str, ...]]:
    """How many rows each class has and its name, from the rows of each label: one row per label shows its class."""
    names = tuple(file["label_names"])
    scores = np.full((len(names), file["width"]), 1.0 / file["width"])
    labels = Labels(np.arange(len(names)), names)
    every = TrialColumns(file["called"], scores, labels, classes=file["classes"], upright=True)
    trials = trials_of(every, meaning, None, trained_prior, None)
    return [int(counts[trials.known_labels() == code].sum()) for code in range(len(trials.classes))], trials.classes


Item = TypeVar("Item")


def _chained(first: Item, rest: Iterator[Item]) -> Iterator[Item]:
    yield first
    yield from rest


def _renumbered(said: str, name: str, start: int) -> str:
    """What is said of some rows of a file with the row number of the file, and without their number among these."""
    said = said.removeprefix(name)
    said = re.sub(r"\b\d+ of \d+ rows, the first (is|in) (?=row \d)", "", said)
    return name + re.sub(r"\brow (\d+)(?= \(counting| holds)", lambda found: f"row {int(found[1]) + start}", said)


def _positions(file: Plain, labels: Array | None) -> NDArray[np.intp]:
    """Labels as positions among the file's label names."""
    assert labels is not None
    known = np.asarray(file["label_codes"])
    places = np.searchsorted(known, labels)
    return np.asarray(np.minimum(places, len(known) - 1), np.intp)


def _marks(file: Plain, labels: Array | Labels | None) -> NDArray[np.bool_]:
    """Which labels are targets."""
    assert labels is not None
    targets = np.array(file["targets"], np.bool_)
    if isinstance(labels, Labels):
        return np.asarray(targets[labels.codes])
    if labels.dtype == np.bool_ and targets[0] != targets[1]:
        return np.asarray(labels if targets[1] else ~labels)
    if targets.sum() == 1:
        return np.asarray(labels == file["label_codes"][int(targets.argmax())])
    return np.asarray(targets[_positions(file, labels)])


def sorted_classes(pieces: Iterable[Marked], called: str, meaning: str, trained_prior: float | None) -> Tally:
    """The tally of unweighted rows that come in pieces."""
    return _sorted(split_classes(pieces, called, meaning), meaning, trained_prior)


def _sorted(pieces: list[Sides], meaning: str, trained_prior: float | None) -> Tally:
    """The tally of scores that are split by class; the pieces are used up."""
    targets, nontargets = [one for one, _ in pieces], [other for _, other in pieces]
    pieces.clear()
    sides = []
    for columns in (targets, nontargets):
        side = np.concatenate(columns) if columns else np.empty(0)
        columns.clear()
        sort(side)
        sides.append(Ranked(frozen(side)))
    return Tally(sides[0], sides[1], meaning, trained_prior)


def split_classes(pieces: Iterable[Marked], called: str, meaning: str) -> list[Sides]:
    """The scores of targets and non-targets among rows that come in pieces, as a list of smaller pieces.

    float32 stays what it is where no conversion to llrs is needed, and takes half the time. Arrays of a few megabytes
    are cheaper to fill than large ones where the system has to fetch huge pages of memory.
    """
    found: list[Sides] = []
    for start, scores, mask in pieces:
        values = _judged(np.asarray(scores), meaning, called, start)
        for begin in range(0, len(values), _SPLIT):
            block, marks = values[begin : begin + _SPLIT], mask[begin : begin + _SPLIT]
            sides = block.compress(marks), block.compress(~marks)  # far quicker than block[marks]
            for side in sides:
                side += 0.0  # -0.0 becomes 0.0
            found.append(sides)
    return found


def _judged(values: Array, meaning: str, called: str, start: int) -> Array:
    """Scores as doubles or float32, checked against the range of their meaning."""
    if values.dtype != np.float64 and (values.dtype != np.float32 or meaning not in ("llr", "raw")):
        if values.dtype.kind in "iu" and len(values) and max(abs(int(values.min())), abs(int(values.max()))) >= 2**53:
            raise InputError(f"{called}: whole scores of 2**53 and more would merge neighbours. Rescale them.")
        values = values.astype(np.float64)
    low, high = RANGES.get(meaning, (-math.inf, math.inf))
    with np.errstate(invalid="ignore"):
        if len(values) and not (values.min() >= low and values.max() <= high):  # a NaN makes both a NaN
            row = int(np.flatnonzero(~((values >= low) & (values <= high)))[0])
            raise InputError(f"{called}: row {start + row} (counting from 0): {_why(values[row], meaning, low, high)}")
    return values


def _why(value: float, meaning: str, low: float, high: float) -> str:
    if np.isnan(value):
        return f"scores must not contain NaN. {REJECTION}"
    return f"scores that are {meaning} must lie in {low:g}..{high:g}, not {float(value)}."
