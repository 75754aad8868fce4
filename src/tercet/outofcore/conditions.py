"""The rows of a scan by the value of a column: those of a value are stored in their own files and form a new scan."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from tercet._numeric.records import ReadOnly
from tercet._numeric.validation import frozen, shown
from tercet._typing import Array, Counts, Floats
from tercet.errors import InputError
from tercet.io.source import open_source
from tercet.outofcore.chunks import Chunks
from tercet.outofcore.files import FileStamp, listed_files
from tercet.outofcore.scan import Scan
from tercet.trials import Trials

_ROWS = 1 << 18  # rows that are read at a time
_MOST = 4096  # values, each with files of its own


@dataclass(frozen=True, slots=True, eq=False)
class _StoredRows:
    """Rows in the temporary folder as a source of chunks; `factors` scale the weights by folder and class."""

    folders: tuple[Path, ...]
    like: Trials  # what the rows are trials of
    factors: tuple[Floats, ...] | None = None
    grid: float = 1.0  # the scaled weights are whole multiples of 1 / grid

    def chunks(self) -> Iterator[Trials]:
        """The trials of one folder after the other."""
        for place, folder in enumerate(self.folders):
            rows = (folder / "labels").stat().st_size // self.like.known_labels().itemsize
            for start in range(0, rows, _ROWS):
                yield self._piece(place, start, min(_ROWS, rows - start))

    def _piece(self, place: int, start: int, rows: int) -> Trials:
        def column(name: str, like: Array) -> Array:
            width = like.shape[1] if like.ndim == 2 else 1
            path, offset = self.folders[place] / name, start * width * like.itemsize
            found = np.fromfile(path, like.dtype, rows * width, offset=offset)
            return found.reshape(rows, width) if like.ndim == 2 else found

        like, labels = self.like, column("labels", self.like.known_labels())
        weights = None if like.weights is None else column("weights", like.weights)
        if self.factors is not None:
            own = np.ones(rows) if weights is None else weights
            weights = np.rint(own * self.factors[place][labels.astype(np.intp)] * self.grid) / self.grid
        weights = None if weights is None else frozen(weights)
        return replace(like, scores=frozen(column("scores", like.scores)), labels=frozen(labels), weights=weights)


@dataclass(slots=True, eq=False)
class PartedScan:
    """The values of a column in a scan, how many rows of each class they have, and their rows as scans."""

    scan: Scan
    folder: Path
    like: Trials | None = None
    counts: dict[str, Counts] = field(default_factory=dict)  # rows by class
    sums: dict[str, Floats] = field(default_factory=dict)  # weights by class
    _folders: dict[str, Path] = field(default_factory=dict)

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes."""
        return () if self.like is None else self.like.classes

    def pieces(self, name: str) -> Iterator[Trials]:
        """The trials of one value, some rows at a time."""
        assert self.like is not None
        return _StoredRows((self._folders[name],), self.like).chunks()

    def rows_of(self, names: Sequence[str]) -> Scan:
        """The rows of some values."""
        return self._scan(names, None, 1.0)

    def weighted(self, factors: Mapping[str, Floats], grid: float) -> Scan:
        """The rows of some values, their weights times a factor of their value and class, as multiples of 1 / grid."""
        return self._scan(list(factors), tuple(factors.values()), grid)

    def _scan(self, names: Sequence[str], factors: tuple[Floats, ...] | None, grid: float) -> Scan:
        assert self.like is not None
        rows = _StoredRows(tuple(self._folders[name] for name in names), self.like, factors, grid)
        options = {"meaning": self.scan.meaning, "trained_prior": self.scan.options["trained_prior"], "target": None}
        return replace(self.scan, source=rows, options=ReadOnly(options), resume=None, progress=None)

    def add(self, piece: Trials, column: str) -> None:
        """Stores the rows of a piece by their values."""
        if column not in piece.groups:
            raise InputError(f"column={shown(column)} is not a group of the chunks: yield Trials with groups=.")
        labels, values = piece.known_labels(), piece.groups[column].astype(str)
        if self.like is None:
            self.like = replace(piece.select(slice(0, 0)), ids=None, groups=ReadOnly({}))
        if (piece.classes, piece.weights is None) != (self.like.classes, self.like.weights is None):
            raise InputError(f"The rows differ: classes {piece.classes} and {self.like.classes}, or weights in some.")
        names, codes = np.unique(values, return_inverse=True)
        order = np.argsort(codes, kind="stable")
        for name, rows in zip(names.tolist(), np.split(order, np.cumsum(np.bincount(codes))[:-1]), strict=True):
            folder = self._folder_of(name)
            weights = np.ones(len(rows)) if piece.weights is None else piece.weights[rows]
            self.counts[name] += np.bincount(labels[rows], minlength=len(self.classes))
            np.add.at(self.sums[name], labels[rows].astype(np.intp), weights)
            for key in ("scores", "labels", *(() if piece.weights is None else ("weights",))):
                with (folder / key).open("ab") as file:
                    file.write(np.ascontiguousarray(getattr(piece, key)[rows]).data)

    def _folder_of(self, name: str) -> Path:
        if name not in self._folders:
            if len(self._folders) == _MOST:
                raise InputError(f"The column has more than {_MOST:,} values: read the trials (tercet.read) instead.")
            self._folders[name] = self.folder / str(len(self._folders))
            self._folders[name].mkdir()
            self.counts[name], self.sums[name] = np.zeros(len(self.classes), np.int64), np.zeros(len(self.classes))
        return self._folders[name]


@contextmanager
def parted(scan: Scan, column: str) -> Iterator[PartedScan]:
    """The rows of a scan by the values of a column, stored in the temporary folder while the context is open."""
    if scan.where.engine != "local":
        raise InputError(f"Rows are split by {shown(column)} on this machine: leave engine= out.")
    with tempfile.TemporaryDirectory(prefix="tercet-conditions-") as folder:
        found = PartedScan(scan, Path(folder))
        try:
            for piece in _pieces(scan, column, Path(folder)):
                found.add(piece, column)
        except OSError as error:
            raise InputError(
                f"The rows cannot be stored in the temporary folder {Path(folder).parent}: {error.strerror or error}. "
                f"If that is full, set TMPDIR to another."
            ) from None
        yield found


def _pieces(scan: Scan, column: str, folder: Path) -> Iterator[Trials]:
    """The trials of a scan with the column among their groups, some rows at a time."""
    if isinstance(scan.source, Chunks):
        for chunk in scan.source.chunks():
            if not isinstance(chunk, Trials):
                raise InputError(f"column={shown(column)}: chunks must be Trials with this group, made with groups=.")
            yield chunk
        return
    known = {key: value for key, value in scan.options.items() if value is not None}
    for path in listed_files(scan.source):
        stamp = FileStamp.of(path)
        with open_source(path, **known, group_columns=(column,), memory=scan.memory_limit // 4) as source:
            if source.rows * 8 > shutil.disk_usage(folder).free:
                raise InputError(
                    f"{source.called} would fill the temporary folder {folder.parent}: set TMPDIR to another."
                )
            for start in range(0, source.rows, _ROWS):
                yield source.trials(start, min(start + _ROWS, source.rows))
        stamp.check()
