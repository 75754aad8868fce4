"""How every file is opened: the content of a path becomes plain bytes on disk, or is refused.

Standard input, pipes, gzip and zstd are first spilled to a temporary file, so that everything after this
can read twice and knows the real size, whatever a compressed file claims.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from io import BufferedIOBase
from pathlib import Path
from typing import BinaryIO

from tercet._numeric.validation import path as checked_path
from tercet._numeric.validation import shown, shown_path
from tercet.errors import InputError
from tercet.io._limits import in_words

Progress = Callable[[int, int], None]

_CHUNK = 1 << 20
_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
_MAGIC = {b"PAR1": "parquet", b"\x93NUM": "npy", b"PK\x03\x04": "npz", b"PK\x05\x06": "npz"}
_STDIN_PREFIX = "tercet-stdin-"
LONGEST_LINE = 2_000_000  # bytes; the longest that duckdb accepts


@dataclass(frozen=True, slots=True)
class PlainFile:
    """Plain bytes on disk, the name errors call them by, and what kind of bytes they are."""

    path: Path
    called: str
    kind: str  # "parquet", "npy", "npz" or "text"
    suffix: str  # of the name, without .gz or .zst: ".csv"
    stem: str

    @property
    def size(self) -> int:
        """Bytes on disk."""
        return self.path.stat().st_size


@contextmanager
def plain_file(path: str | os.PathLike[str], limit: int, progress: Progress | None = None) -> Iterator[PlainFile]:
    """The file as plain bytes; whatever was spilled is removed at the end."""
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise InputError(f"path must be the name of a file (text or a path), not {shown(path)}.")
    with stdin_file() if str(path) == "-" else _existing(Path(path)) as source:
        called = called_as(source if str(path) == "-" else Path(path))
        stem, suffix, packing = _name_parts(called if called == "stdin" else Path(path).name)
        head = _head(source, called)
        packed = {_GZIP: "gzip", _ZSTD: "zstd"}.get(head[:2] if head[:2] == _GZIP else head[:4])
        if packing and not packed:
            raise InputError(
                f"{called} is called {packing} but does not hold {packing} data. Rename it, or pack it again."
            )
        if packed is None:
            yield _recognised(source, called, suffix, stem, head)
            return
        with temporary() as plain:
            _unpack(source, plain, packed, called, limit, progress)
            file = _recognised(plain, called, suffix, stem, _head(plain, called))
            if file.kind != "text":
                raise InputError(
                    f"{called} is a compressed {file.kind} file; only text may be compressed. Decompress it first."
                )
            yield file


@contextmanager
def stdin_file() -> Iterator[Path]:
    """Standard input copied to a temporary file, for callers that read it more than once.

    Yields
    ------
    pathlib.Path
        The temporary file, while the context is open.

    Examples
    --------
    >>> import io, sys, tercet as tc
    >>> typed = sys.stdin
    >>> sys.stdin = io.TextIOWrapper(io.BytesIO(b"score,label\\n1.5,1\\n-0.5,0\\n"))    # stands for a pipe
    >>> with tc.io.stdin_file() as path:
    ...     size = path.stat().st_size
    >>> sys.stdin = typed
    >>> size
    25
    """
    with temporary(_STDIN_PREFIX) as path:
        _spill(sys.stdin.buffer, path, "stdin")
        yield path


@contextmanager
def _existing(path: Path) -> Iterator[Path]:
    """A path to read: itself, or a temporary copy of what a pipe gives or of what has no name in UTF-8."""
    called = called_as(path)
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        raise InputError(f"{called}: there is no such file in {shown_path(path.absolute().parent)}.") from None
    except (OSError, ValueError) as error:
        raise InputError(f"{called} cannot be opened: {getattr(error, 'strerror', None) or error}.") from None
    if stat.S_ISDIR(mode):
        raise InputError(f"{called} is a folder: name a file in it.")
    if not os.access(path, os.R_OK):
        raise InputError(f"{called} cannot be read: permission denied. Change its permissions (chmod u+r).")
    if stat.S_ISREG(mode) and _is_utf8(str(path.absolute())):
        yield path.absolute()
        return
    with temporary() as copy:
        with path.open("rb") as pipe:
            _spill(pipe, copy, called)
        yield copy


def _is_utf8(text: str) -> bool:
    return text.encode("utf-8", "replace").decode() == text


@contextmanager
def temporary(prefix: str = "tercet-", folder: Path | None = None) -> Iterator[Path]:
    """An empty file in the temporary folder, or in another, removed at the end."""
    handle, name = tempfile.mkstemp(prefix=prefix, dir=folder)
    os.close(handle)
    try:
        yield Path(name)
    finally:
        Path(name).unlink(missing_ok=True)


def called_as(path: Path) -> str:
    """The name errors use: the file's own, harmless in a terminal, without its folders."""
    if path.name.startswith(_STDIN_PREFIX):
        return "stdin"
    text = path.name or str(path)
    return text if text.isprintable() and len(text) <= 128 else shown(text)


def _name_parts(file_name: str) -> tuple[str, str, str]:
    """Stem, suffix and packing of a name: scores.csv.gz -> scores, .csv, gzip."""
    name = Path(file_name)
    packing = {".gz": "gzip", ".zst": "zstd", ".zstd": "zstd"}.get(name.suffix.lower(), "")
    inner = Path(name.stem) if packing else name
    return os.fsencode(inner.stem).decode("utf-8", "replace"), inner.suffix.lower(), packing


def _head(path: Path, called: str) -> bytes:
    try:
        with path.open("rb") as file:
            head = file.read(8)
    except OSError as error:
        raise InputError(f"{called} cannot be read: {error.strerror}.") from None
    if not head:
        raise InputError(f"{called} is empty (0 bytes).")
    return head


def _recognised(path: Path, called: str, suffix: str, stem: str, head: bytes) -> PlainFile:
    kind = _MAGIC.get(head[:4], "text")
    if head[:1] == b"\x80" and head[1:2] in b"\x02\x03\x04\x05" and len(head) > 1:
        raise InputError(f"{called} is a Python pickle: pickles are never loaded. Save it as npy, csv or parquet.")
    claimed = suffix.lstrip(".")
    if claimed in ("parquet", "npy", "npz") and claimed != kind:
        held = "text or something else" if kind == "text" else kind
        raise InputError(f"{called} is called {claimed} but is not a {claimed} file (it holds {held}).")
    return PlainFile(path, called, kind, suffix, stem)


def _spill(source: BinaryIO, path: Path, called: str) -> None:
    """Copies a stream to disk, leaving half of the free space there."""
    room = shutil.disk_usage(path.parent).free // 2
    with path.open("wb") as out:
        while chunk := source.read(_CHUNK):
            room -= len(chunk)
            if room < 0:
                raise InputError(
                    f"{called} does not fit into the temporary folder {path.parent}: set TMPDIR to another."
                )
            out.write(chunk)


def _unpack(source: Path, plain: Path, packing: str, called: str, limit: int, progress: Progress | None) -> None:
    """Decompresses to disk, refusing as soon as what comes out cannot be a table under the limit."""
    most = min(limit, shutil.disk_usage(plain.parent).free // 2)
    written = line = 0
    with plain.open("wb") as out, closing(_unpacked(source, packing, called, progress)) as chunks:
        for chunk in chunks:
            written += len(chunk)
            last = chunk.rfind(b"\n")
            line = line + len(chunk) if last < 0 else len(chunk) - last
            if written > most:
                raise InputError(
                    f"{called} unpacks to more than {in_words(most)} of text from {in_words(source.stat().st_size)}. "
                    f"Unpack it yourself if it is meant to be that large, or raise the limit (memory=)."
                )
            if line > LONGEST_LINE:
                raise InputError(f"{called} unpacks to a line of more than {LONGEST_LINE} bytes: it is not a table.")
            out.write(chunk)
    if not written:
        raise InputError(f"{called} unpacks to nothing.")


def _unpacked(source: Path, packing: str, called: str, progress: Progress | None) -> Generator[bytes]:
    """The content of a packed file in chunks; progress is in bytes of the packed file."""
    opened, damage = _packing(packing)
    total = source.stat().st_size
    with source.open("rb") as raw, opened(raw) as file:
        while True:
            try:
                chunk = file.read(_CHUNK)
            except damage as error:
                raise InputError(f"{called} is damaged {packing} data ({error}): copy or download it again.") from None
            if not chunk:
                return
            if progress is not None:
                progress(min(raw.tell(), total), total)
            yield chunk


def _packing(name: str) -> tuple[Callable[[BinaryIO], BufferedIOBase], tuple[type[Exception], ...]]:
    """What opens packed data, and the errors by which it reports damage."""
    if name == "gzip":
        import gzip
        import zlib

        return lambda raw: gzip.GzipFile(fileobj=raw), (OSError, EOFError, zlib.error)
    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd

    return zstd.ZstdFile, (OSError, EOFError, MemoryError, zstd.ZstdError)


def fingerprint(path: str | os.PathLike[str]) -> dict[str, str]:
    """The name and SHA-256 of a file, read in pieces.

    Parameters
    ----------
    path : path
        The file.

    Returns
    -------
    dict of str to str
        "name": the file's name; "sha256": the hash of its bytes as they are on disk.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "empty.csv")
    ...     _ = path.write_bytes(b"")
    ...     found = fingerprint(path)
    >>> found["name"], found["sha256"][:8]
    ('empty.csv', 'e3b0c442')
    """
    source = Path(checked_path(path, "path"))
    try:
        with source.open("rb") as file:
            return {"name": called_as(source), "sha256": hashlib.file_digest(file, "sha256").hexdigest()}
    except OSError as error:
        raise InputError(f"{called_as(source)} cannot be read: {error.strerror}.") from None
