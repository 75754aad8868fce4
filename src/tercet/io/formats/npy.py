"""numpy's own files: pickles are refused, and a header is checked against the size of the file."""

from __future__ import annotations

import math
import shutil
import struct
import warnings
import zipfile
import zlib
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import IO

import numpy as np

from tercet._numeric.validation import shown
from tercet._typing import Array
from tercet.errors import InputError
from tercet.io._limits import check_size, in_words
from tercet.io._plain_files import PlainFile, temporary
from tercet.io.formats.text import missing_column

_IN_MEMORY = 64 << 20  # bytes of an array out of a zip file that are not spilled to a temporary file
_CHUNK = 1 << 20
_KINDS = "biufUS"
_ZIP_ERRORS = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    RuntimeError,
    NotImplementedError,
    ValueError,
    struct.error,
)
_READ_HEADER = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


@dataclass(frozen=True, slots=True)
class ArrayFile:
    """One array in numpy's format whose header agrees with the size of the file; rows are read on demand."""

    called: str
    source: bytes | Path  # the values themselves, or a file that holds them
    offset: int  # of the first value in the file
    shape: tuple[int, ...]
    fortran: bool
    dtype: np.dtype[np.void]
    field: str | None = None  # of a structured array

    def rows(self, start: int, stop: int, axis: int = 0) -> Array:
        """The entries start..stop-1 along an axis, which comes first in the result."""
        if len(self.shape) == 1:
            values = self._run(start, stop - start)
            return values if self.field is None else np.ascontiguousarray(values[self.field])
        stored = self.shape[::-1] if self.fortran else self.shape
        if (len(stored) - 1 - axis if self.fortran else axis) == 0:  # as the bytes lie
            width = math.prod(stored[1:])
            return self._run(start * width, (stop - start) * width).reshape(-1, *stored[1:])
        lines = [self._run(line * stored[1] + start, stop - start) for line in range(stored[0])]
        return np.stack(lines, axis=1) if lines else np.empty((stop - start, 0), self.dtype)

    def _run(self, first: int, count: int) -> Array:
        at = self.offset + first * self.dtype.itemsize
        if isinstance(self.source, bytes):
            return np.frombuffer(self.source, self.dtype, count, at)
        values = np.fromfile(self.source, self.dtype, count, offset=at)
        if len(values) != count:
            raise InputError(f"{self.called} became shorter while it was read. Read it again when it is complete.")
        return values

    @property
    def size(self) -> int:
        """Bytes of all its values."""
        return math.prod(self.shape) * self.dtype.itemsize


def npy_file(file: PlainFile) -> ArrayFile | dict[str, ArrayFile]:
    """The array of an .npy file, or the columns of one with named fields."""
    with file.path.open("rb") as data:
        array = _checked_header(data, file.size, file.called, file.path)
    names = array.dtype.names
    if names is None:
        return array
    if len(array.shape) != 1:
        raise InputError(f"{file.called} holds named fields in shape {array.shape}: one row per trial is read.")
    return {name: replace(array, field=name) for name in names}


@dataclass(frozen=True, slots=True)
class Npz:
    """The arrays of an .npz file by name, each checked before it is unpacked."""

    called: str
    members: Mapping[str, zipfile.ZipInfo]
    packed: zipfile.ZipFile
    stack: ExitStack  # removes what is spilled to temporary files
    limit: int

    @classmethod
    def of(cls, file: PlainFile, stack: ExitStack, limit: int) -> Npz:
        """The arrays of a file; two of one name are refused."""
        try:
            packed = stack.enter_context(zipfile.ZipFile(file.path))
            infos = packed.infolist()
        except _ZIP_ERRORS as error:
            raise InputError(f"{file.called} is not a complete npz file: {shown(str(error))}. Copy it again.") from None
        found = [(info.filename.removesuffix(".npy"), info) for info in infos if info.filename.endswith(".npy")]
        names = [name for name, _ in found]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise InputError(f"{file.called} holds the array {shown(twice)} twice. Save it again with np.savez.")
        if not found:
            raise InputError(f"{file.called} is a zip file without numpy arrays in it. Save it with np.savez.")
        return cls(file.called, dict(found), packed, stack, limit)

    def array(self, name: str) -> ArrayFile:
        """One array; a small one is held in memory, a large one in a temporary file."""
        if name not in self.members:
            raise InputError(missing_column(self.called, name, list(self.members)).replace("column", "array"))
        member, called = self.members[name], f"{self.called}, array {shown(name)}"
        try:
            with self.packed.open(member) as data:
                found = _checked_header(data, member.file_size, called, b"")
                if found.dtype.names is not None:
                    raise InputError(f"{called} holds named fields; save each as an array of its own.")
                check_size(called, math.ceil(member.file_size / 8), 1, self.limit)
                return replace(found, source=self._unpacked(data, member.file_size - found.offset), offset=0)
        except InputError:
            raise
        except _ZIP_ERRORS as error:
            raise InputError(
                f"{called} cannot be unpacked: {shown(str(error))}. Save it again with np.savez."
            ) from None

    def _unpacked(self, data: IO[bytes], size: int) -> bytes | Path:
        """The bytes to the end of a member, which zipfile compares with their checksum there."""
        if size <= _IN_MEMORY:
            return data.read()
        path = self.stack.enter_context(temporary())
        with path.open("wb") as out:
            shutil.copyfileobj(data, out, _CHUNK)
        return path


def _checked_header(data: IO[bytes], size: int, called: str, source: bytes | Path) -> ArrayFile:
    """The header, compared with the number of bytes in the file."""
    shape, fortran, dtype = _header(data, called)
    if dtype.hasobject:
        raise InputError(
            f"{called} holds Python objects, so it is pickled, and pickles are never loaded. Save numbers or text."
        )
    kinds = [dtype] if dtype.names is None else [dtype[name] for name in dtype.names]
    if any(kind.kind not in _KINDS or kind.itemsize == 0 for kind in kinds):
        raise InputError(f"{called} holds values of type {shown(str(dtype))}; numbers, true/false or text are read.")
    promised, there = math.prod(shape) * dtype.itemsize, size - data.tell()
    if promised != there:
        raise InputError(
            f"{called} says it holds {in_words(promised)} of data (shape {shown(shape)}), and there are "
            f"{in_words(there)}: it is damaged or cut off. Save it again."
        )
    if not 1 <= len(shape) <= 2:
        raise InputError(f"{called} has shape {shown(shape)}; arrays of one or two dimensions are read.")
    return ArrayFile(called, source, data.tell(), shape, fortran, dtype)


def _header(data: IO[bytes], called: str) -> tuple[tuple[int, ...], bool, np.dtype[np.void]]:
    """The header, read by numpy; any error means damage."""
    damaged = f"{called} has a damaged npy header. Save it again with np.save."
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            version = np.lib.format.read_magic(data)
            if version not in _READ_HEADER:
                raise InputError(f"{called} is npy of version {version}, which is not read. Save it with np.save.")
            shape, fortran, dtype = _READ_HEADER[version](data)
    except (InputError, zipfile.BadZipFile, zlib.error):
        raise
    except Exception:  # numpy evaluates the header as a Python literal: any error that this can raise
        raise InputError(damaged) from None
    if any(type(side) is not int or side < 0 for side in shape):
        raise InputError(damaged)
    return shape, fortran, dtype
