"""numpy's own files: pickles are refused, and a header is believed only as far as the file is large."""

from __future__ import annotations

import math
import zipfile
import zlib
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.validation import shown
from tercet.errors import InputError
from tercet.io._limits import check_size, in_words
from tercet.io._plain_files import PlainFile
from tercet.io.formats.text import missing_column


def npy_array(file: PlainFile, limit: int) -> NDArray[Any]:
    """The array of an .npy file."""
    with file.path.open("rb") as data:
        return _array(data, file.size, file.called, limit)


class Npz:
    """The arrays of an .npz file by name, each judged before it is unpacked."""

    def __init__(self, file: PlainFile, limit: int) -> None:
        self.called, self._limit = file.called, limit
        try:
            self._zip = zipfile.ZipFile(file.path)
        except (zipfile.BadZipFile, OSError) as error:
            raise InputError(f"{file.called} is not a whole npz file: {error}. Copy it again.") from None
        self._members = {
            m.filename.removesuffix(".npy"): m for m in self._zip.infolist() if m.filename.endswith(".npy")
        }
        if not self._members:
            self._zip.close()
            raise InputError(f"{file.called} is a zip file without numpy arrays in it. Save it with np.savez.")

    def __enter__(self) -> Npz:
        return self

    def __exit__(self, *reason: object) -> None:
        self._zip.close()

    def __contains__(self, name: str) -> bool:
        return name in self._members

    @property
    def names(self) -> list[str]:
        """The arrays there are."""
        return list(self._members)

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._members:
            raise InputError(missing_column(self.called, name, self.names).replace("column", "array"))
        member, called = self._members[name], f"{self.called}, array {shown(name)}"
        try:
            with self._zip.open(member) as data:
                return _array(data, member.file_size, called, self._limit)
        except (zipfile.BadZipFile, zlib.error, EOFError, RuntimeError, NotImplementedError) as error:
            raise InputError(f"{called} cannot be unpacked: {error}. Save it again with np.savez.") from None


def _array(data: IO[bytes], size: int, called: str, limit: int) -> NDArray[Any]:
    """Reads the header, compares what it promises with the bytes there are and with the limit, then reads."""
    shape, fortran, dtype, header = _header(data, called)
    if dtype.hasobject:
        raise InputError(
            f"{called} holds Python objects, so it is pickled, and pickles are never loaded. Save numbers or text."
        )
    if dtype.names is not None or dtype.kind not in "biufUS":
        raise InputError(f"{called} holds values of type {shown(str(dtype))}; numbers, true/false or text are read.")
    promised, there = math.prod(shape) * dtype.itemsize, size - header
    if promised != there:
        raise InputError(
            f"{called} says it holds {in_words(promised)} of data (shape {shown(shape)}), and there are "
            f"{in_words(there)}: it is damaged or cut off. Save it again."
        )
    check_size(called, math.ceil(promised / 8), 1, limit)
    raw = data.read(promised)
    if len(raw) != promised:
        raise InputError(f"{called} ends after {len(raw)} of {promised} bytes of data. Save it again.")
    values = np.frombuffer(raw, dtype)
    return values.reshape(shape[::-1]).T if fortran else values.reshape(shape)


def _header(data: IO[bytes], called: str) -> tuple[tuple[int, ...], bool, np.dtype[Any], int]:
    read_header = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    try:
        version = np.lib.format.read_magic(data)
        if version not in read_header:
            raise InputError(f"{called} is npy of version {version}, which only structured arrays need: not read.")
        shape, fortran, dtype = read_header[version](data)
    except (ValueError, EOFError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{called} has a damaged npy header. Save it again with np.save.") from None
    if any(side < 0 for side in shape):
        raise InputError(f"{called} has a damaged npy header: shape {shown(shape)}.")
    return shape, fortran, dtype, data.tell()
