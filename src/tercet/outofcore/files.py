"""The files of a scan: which ones, as they were when they were named, and their rows cut into numbered parts."""

from __future__ import annotations

import glob
import hashlib
import json
import os
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from tercet import __version__
from tercet._numeric.validation import listed, shown, shown_path
from tercet.errors import InputError
from tercet.io._plain_files import called_as
from tercet.outofcore.plain_data import Plain

RULES = 3  # increased whenever the same rows would give other sums: saved parts of older versions are not used
_SAMPLE, _SAMPLES = 1 << 16, 16  # bytes, and places of a file, that its digest looks at


class FileStamp(NamedTuple):
    """A file as it was when it was planned."""

    path: str
    bytes: int
    modified: int  # when its bytes were, in nanoseconds
    changed: int  # when its bytes, name or times were: programs cannot reset this
    place: tuple[int, int]  # device and inode: another file under the same name has others
    digest: str  # of samples of its bytes

    @classmethod
    def of(cls, path: str | os.PathLike[str]) -> FileStamp:
        """The file as it is now."""
        now = os.stat(path)
        times = (now.st_size, now.st_mtime_ns, now.st_ctime_ns)
        return cls(str(path), *times, (now.st_dev, now.st_ino), _sampled_digest(str(path), *times))

    def check(self, *, elsewhere: bool = False) -> None:
        """Refuses a file that is not the one that was planned; on another machine only its bytes and times count."""
        called = called_as(Path(self.path))
        try:
            now = FileStamp.of(self.path)
        except OSError as error:
            raise InputError(f"{called} cannot be read on the worker: {error.strerror}.") from None
        if elsewhere and (now.bytes, now.digest) != (self.bytes, self.digest):
            raise InputError(
                f"{called} is a different file on the worker than on the machine that started the scan: "
                f"{shown_path(self.path)} must be the same file everywhere."
            )
        if not elsewhere and now != self:
            raise InputError(f"{called} was written to while it was read. Evaluate again when it is complete.")


@lru_cache(maxsize=4096)
def _sampled_digest(path: str, size: int, modified: int, changed: int) -> str:
    """SHA-256 of a file's size and of samples of its bytes, the first and the last among them."""
    found = hashlib.sha256(str(size).encode())
    with open(path, "rb") as file:
        for sample in range(_SAMPLES):
            file.seek(max(size - _SAMPLE, 0) * sample // (_SAMPLES - 1))
            found.update(file.read(_SAMPLE))
    return found.hexdigest()


def listed_files(paths: object) -> list[Path]:
    """The files that paths and patterns name, in a fixed order, each once."""
    alone = isinstance(paths, str | bytes | os.PathLike) or not isinstance(paths, Iterable)
    given = [paths] if alone else listed(paths, "paths")
    found: list[Path] = []
    for one in given:
        if not isinstance(one, str | os.PathLike) or isinstance(os.fspath(one), bytes):
            raise InputError(f"paths must be names of files (text or paths), not {shown(one)}.")
        text = os.fspath(one)
        taken = os.path.lexists(text) or not glob.has_magic(text)
        matches = [text] if taken else sorted(glob.glob(text, recursive=True))
        if not matches:
            raise InputError(f"{shown(text)} matches no file.")
        found.extend(Path(match) for match in matches)
    if not found:
        raise InputError("paths names no file.")
    seen: set[tuple[int, int]] = set()
    for path in found:
        seen.add(_place_of(path, seen))
    return [path.absolute() for path in found]


def _place_of(path: Path, seen: set[tuple[int, int]]) -> tuple[int, int]:
    """Device and inode of a file that was not named before."""
    try:
        now = path.stat()
    except (OSError, ValueError):
        raise InputError(f"{called_as(path)}: there is no such file in {shown_path(path.absolute().parent)}.") from None
    if path.is_dir():
        raise InputError(f"{called_as(path)} is a folder: name its files, as in {shown_path(path / '*.parquet')}.")
    if (place := (now.st_dev, now.st_ino)) in seen:
        raise InputError(
            f"{called_as(path)} is named twice, perhaps by a link, and would be counted twice. Name it once."
        )
    return place


@dataclass(frozen=True, slots=True)
class Plan:
    """The numbered parts of some files, and all that is needed to read them elsewhere, as plain data.

    Attributes
    ----------
    files : tuple of dict
        Each with its path, reading options, rows, label names and which of them are targets.
    parts : tuple of dict
        Each with its number, the place of its file, its first row and the row after its last.
    stamps : tuple of FileStamp
        The files that were named, keys and files of labels included, as they were.
    rows : int
        Of all files.
    matrix : bool
        Whether there is one column of scores per class.
    group : int
        Bytes of the largest row group that is read at once; 0 where that is little.
    """

    files: tuple[Plain, ...]
    parts: tuple[Plain, ...]
    stamps: tuple[FileStamp, ...]
    rows: int
    matrix: bool
    group: int = 0

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return sum(stamp.bytes for stamp in self.stamps)

    @property
    def name(self) -> str:
        """A fingerprint of files, reading options, parts, rules and version; saved parts with another are not used."""
        files = [{key: value for key, value in file.items() if key != "spool"} for file in self.files]
        parts = [(part["file"], part["start"], part["stop"]) for part in self.parts]
        text = json.dumps([__version__, RULES, self.stamps, files, parts], sort_keys=True, default=str)
        return hashlib.sha256(text.encode()).hexdigest()[:32]

    def check_unchanged(self) -> None:
        """Refuses the result if a file was changed after it was planned."""
        for stamp in self.stamps:
            stamp.check()


def cut_into_parts(starts: Sequence[int], rows: int) -> Iterator[tuple[int, int]]:
    """Ranges of at most this many rows, none empty: whole row groups together, a larger row group cut evenly."""
    first, last = 0, len(starts) - 1
    while first < last:
        end = max(bisect_right(starts, starts[first] + rows) - 1, first + 1)
        low, high = starts[first], starts[end]
        count = -(-(high - low) // rows)
        yield from pairwise(low + (high - low) * k // max(count, 1) for k in range(count + 1))
        first = end


def pieces_of(starts: Sequence[int], low: int, high: int, rows: int) -> Iterator[tuple[int, int]]:
    """The rows low..high-1 in pieces that are read one after the other: whole row groups where they are small."""
    inside = [low, *(start for start in starts[bisect_right(starts, low) :] if start < high), high]
    return cut_into_parts(inside, rows)
