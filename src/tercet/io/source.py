"""A source of trials: one file, or a file with its labels or key, whose checked columns come in ranges of rows.

Everything that reads files uses `open_source`: `read` takes all rows at once, `read_chunks` some at a time, and
a scan any range, possibly from several threads. Whatever the format, the columns of a range are the same bits
as those rows of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path as FilePath
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.validation import flag
from tercet._typing import Array
from tercet.errors import InputError
from tercet.io._limits import MOST_LABELS
from tercet.io._plain_files import called_as, plain_file
from tercet.io._request import Path, ReadOptions, Request
from tercet.io._row_ranges import RowRanges, TableRanges, WithLabels, label_ranges, score_ranges
from tercet.io._trial_columns import TrialColumns, coded, trials_of, word
from tercet.io.columns import Labels, Store
from tercet.io.formats.trial_lists import check_hints
from tercet.trials import Trials

_ANY_SIZE = 1 << 62  # bytes: what is read in ranges is not held
_ROWS = 1 << 20  # rows read at a time where only their labels are looked at


@dataclass(frozen=True, slots=True)
class Batch:
    """Checked columns of consecutive rows.

    Attributes
    ----------
    start : int
        The number of the first row, counting from 0 in its source.
    scores : ndarray of shape (n,) or (n, classes)
        Numbers as the file holds them (float32 stays float32), never NaN.
    labels : ndarray of int or None
        Positions in `TrialSource.label_names`.
    weights, ids : ndarray or None
        Where they were asked for.
    groups : dict of ndarray
        By the name of their column.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import tercet as tc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "scores.csv").write_text("score,label\\n1.5,1\\n-0.5,0\\n0.25,1\\n")
    ...     with tc.io.open_source(Path(folder, "scores.csv")) as source:
    ...         batches = list(source.batches(2))
    >>> [(batch.start, batch.scores.tolist()) for batch in batches]
    [(0, [1.5, -0.5]), (2, [0.25])]
    """

    start: int
    scores: Array
    labels: NDArray[np.intp] | None
    weights: Array | None
    ids: Array | None
    groups: dict[str, Array]


@dataclass(slots=True)
class TrialSource:
    """The trials of one request, to be read in ranges of rows and as often as needed.

    Attributes
    ----------
    request : Request
        What was asked for.
    ranges : RowRanges
        The rows, readable in ranges.
    target : str or None
        The label that is the target by the format's own convention (ASVspoof: bonafide).
    stem : str
        The name of the file without folders and suffixes.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import tercet as tc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "scores.csv").write_text("score,label\\n1.5,1\\n-0.5,0\\n0.25,1\\n")
    ...     with tc.io.open_source(Path(folder, "scores.csv")) as source:
    ...         rows, names, last = source.rows, source.label_names, source.trials(2, 3)
    >>> rows, names, last.scores.tolist()
    (3, ('0', '1'), [0.25])
    """

    request: Request
    ranges: RowRanges
    target: str | None
    stem: str
    _labels: Labels | None = None

    @property
    def called(self) -> str:
        """The name of the file in messages."""
        return self.ranges.called

    @property
    def rows(self) -> int:
        """How many trials there are."""
        return self.ranges.rows

    @property
    def starts(self) -> tuple[int, ...]:
        """Row numbers at which reading is cheap to begin."""
        return self.ranges.starts

    @property
    def label_names(self) -> tuple[str, ...] | None:
        """The distinct labels of all rows as text, sorted; None where there are no labels. Found once, by a pass."""
        found = self._distinct()
        return None if found is None else found.names

    def batches(self, rows: int, start: int = 0, stop: int | None = None) -> Iterator[Batch]:
        """Read a range of rows, a number of rows at a time; may be called from several threads.

        Parameters
        ----------
        rows : int
            The most rows per batch.
        start : int, default 0
            The first row.
        stop : int, optional
            The row after the last; by default the end.

        Yields
        ------
        Batch
            Checked rows.
        """
        end = self.rows if stop is None else stop
        for low in range(start, end, max(rows, 1)):
            got = self.columns(low, min(low + rows, end))
            codes = got.labels.codes if isinstance(got.labels, Labels) else None
            yield Batch(low, got.scores, codes, got.weights, got.ids, dict(got.groups))

    def columns(self, start: int, stop: int) -> TrialColumns:
        """The checked columns of a range of rows, labels as positions in `label_names`.

        Parameters
        ----------
        start : int
            The first row.
        stop : int
            The row after the last.

        Returns
        -------
        TrialColumns
            The columns.
        """
        with faults_named(self.request.path):
            known, got = self._distinct(), self.ranges.columns(start, stop)
        if known is None or got.labels is None or isinstance(got.labels, Labels):
            return got
        return replace(got, labels=Labels(np.searchsorted(known.codes, got.labels), known.names))

    def all_columns(self) -> TrialColumns:
        """The checked columns of all rows; labels that are numbers stay numbers.

        Returns
        -------
        TrialColumns
            The columns.
        """
        with faults_named(self.request.path):
            got = self.ranges.columns(0, self.rows)
        if got.labels is None or isinstance(got.labels, Labels) or got.labels.dtype.kind not in "US":
            return got
        return replace(got, labels=coded(got.labels))

    def trials(self, start: int = 0, stop: int | None = None) -> Trials:
        """The trials of a range of rows; of all rows without one.

        Parameters
        ----------
        start : int, default 0
            The first row.
        stop : int, optional
            The row after the last; by default the end.

        Returns
        -------
        Trials
            The trials.
        """
        end = self.rows if stop is None else stop
        got = self.all_columns() if (start, end) == (0, self.rows) else self.columns(start, end)
        ask = self.request
        target = self.target if ask.target is None else ask.target
        return trials_of(got, ask.meaning, target, ask.trained_prior, ask.name or self.stem)

    def _distinct(self) -> Labels | None:
        """The distinct labels in their order (of arrays: as `codes`), and what they are called."""
        if self._labels is None:
            self._labels = _distinct_labels(self.ranges)
        return self._labels if self._labels.names else None


def _distinct_labels(ranges: RowRanges) -> Labels:
    """The distinct labels of all rows; those of a text column are known by its table."""
    first = ranges.labels(0, min(ranges.rows, 1))
    if first is None or isinstance(first, Labels):
        return Labels(np.zeros(0), () if first is None else first.names)
    if first.dtype.kind == "b":
        return Labels(np.array([False, True]), ("false", "true"))
    known = ranges.distinct_labels() if isinstance(ranges, TableRanges) and first.dtype.kind in "iu" else None
    found = first[:0] if known is None else known
    for start in range(0, ranges.rows if known is None else 0, _ROWS):
        part = ranges.labels(start, min(start + _ROWS, ranges.rows))
        found = np.union1d(found, np.asarray(part))
        if len(found) > MOST_LABELS:
            raise InputError(f"{ranges.called} holds more than {MOST_LABELS} different labels. Is it the label?")
    return Labels(found, tuple(word(value) for value in found.tolist()))


@contextmanager
def open_source(path: Path, *, one_thread: bool = False, **options: Unpack[ReadOptions]) -> Iterator[TrialSource]:
    """The trials of a file of any size, read in ranges of rows while the context is open.

    Parameters
    ----------
    path : path
        Any file that `tercet.read` takes. Packed text and standard input wait in a temporary file.
    one_thread : bool, default False
        Read with one thread per range and write nothing to disk: for callers that read several ranges at a time.
    **options
        Those of `tercet.read`; ids are read with `keep_ids=True` only. `memory` bounds what the database holds before
        it spills to the temporary folder.

    Returns
    -------
    TrialSource
        A context manager that gives one.

    Yields
    ------
    TrialSource
        The rows, in ranges, while the context is open.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import tercet as tc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "scores.csv").write_text("score,label\\n1.5,1\\n-0.5,0\\n0.25,1\\n")
    ...     with tc.io.open_source(Path(folder, "scores.csv")) as source:
    ...         second = source.trials(1, 2)
    >>> second.scores.tolist()
    [-0.5]
    """
    options.setdefault("keep_ids", False)
    flag(one_thread, "one_thread")
    with opened_request(Request.of(path, **options), held=False, one_thread=one_thread) as source:
        yield source


@contextmanager
def opened_request(request: Request, *, held: bool, one_thread: bool = False) -> Iterator[TrialSource]:
    """The source of a request; `held` says that all rows will be in memory at once, so that their size is limited."""
    with ExitStack() as stack:
        with faults_named(request.path):
            source = _set_up(stack, request, held, one_thread)
        yield source


def _set_up(stack: ExitStack, request: Request, held: bool, one_thread: bool) -> TrialSource:
    limit = request.limit if held else _ANY_SIZE
    given = [request.path, *(one for one in (request.key, request.labels) if one is not None)]
    files = [stack.enter_context(plain_file(one, request.limit, request.progress)) for one in given]
    file, *others = files
    check_hints(file, request.hints)
    store = Store(stack, request.limit, limit, request.progress, files, one_thread)
    ranges, target = score_ranges(store, file, others[0] if request.key is not None else None, request)
    if request.labels is not None:
        ranges = WithLabels.of(ranges, label_ranges(store, others[0], request.wanted.label, limit))
    return TrialSource(request, ranges, target, file.stem)


@contextmanager
def faults_named(path: Path) -> Iterator[None]:
    """Reports operating system errors while files are read (a full temporary folder, a failing disk) in a sentence."""
    try:
        yield
    except OSError as error:
        called = called_as(FilePath(path))
        raise InputError(f"{called} cannot be read: {error.strerror or error}.") from error
