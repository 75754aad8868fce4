"""Parquet with page checksums: written here because duckdb writes none, and checked here because it checks none."""

from __future__ import annotations

import struct
import sys
import zlib
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from importlib import import_module
from itertools import accumulate
from pathlib import Path
from typing import IO, TYPE_CHECKING, NamedTuple

import numpy as np

from tercet._numeric.validation import shown
from tercet._typing import Array, Value
from tercet.errors import InputError
from tercet.io._plain_files import PlainFile

if TYPE_CHECKING:
    from pyarrow import ChunkedArray

_MAGIC = b"PAR1"
_BOOLEAN, _INT64, _DOUBLE, _BYTES = 0, 2, 5, 6  # Parquet's physical types
_PLAIN, _RLE, _UTF8 = 0, 3, 0
_GROUP_ROWS = 1 << 17
_LONGEST_HEADER = 1 << 16
_FOOTERS = 16  # that pyarrow has parsed, kept for the next part
_SIGNED, _DIGITS = b"tercet, footer crc32 ", 8  # how a footer of tercet ends; the sum is of a footer with zeros for it


def write_parquet(out: IO[bytes], tables: Iterable[Mapping[str, Array]]) -> None:
    """Tables of the same columns (numbers, true/false or text) as one, plain, not packed, a CRC-32 on every page."""
    at = out.write(_MAGIC)
    first: Mapping[str, Array] = {}
    groups: list[list[Field]] = []
    total = 0
    for columns in tables:
        first = first or columns
        rows = len(next(iter(columns.values()), ()))
        for start in range(0, rows, _GROUP_ROWS):
            part = {name: values[start : start + _GROUP_ROWS] for name, values in columns.items()}
            group, size = _write_group(out, part, at)
            groups.append(group)
            at += size
        total += rows
    footer = _footer(first, total, groups)
    out.write(footer + struct.pack("<I", len(footer)) + _MAGIC)


def _write_group(out: IO[bytes], columns: Mapping[str, Array], at: int) -> tuple[list[Field], int]:
    """Writes one row group at the current position; returns its entry in the footer and its size."""
    chunks, size, rows = [], 0, 0
    for name, values in columns.items():
        rows = len(values)
        page = _page(_plain(values), rows)
        out.write(page)
        chunks.append(_chunk(name, values, rows, len(page), at + size))
        size += len(page)
    return [(1, LIST, (STRUCT, chunks)), (2, I64, size), (3, I64, rows)], size


def _page(body: bytes, rows: int) -> bytes:
    return _header(len(body), rows, struct.unpack("<i", struct.pack("<I", zlib.crc32(body)))[0]) + body


def _header(size: int, rows: int, crc: int) -> bytes:
    values: list[Field] = [(1, I32, rows), (2, I32, _PLAIN), (3, I32, _RLE), (4, I32, _RLE)]
    return written([(1, I32, 0), (2, I32, size), (3, I32, size), (4, I32, crc), (5, STRUCT, values)])


def _chunk(name: str, values: Array, rows: int, size: int, at: int) -> list[Field]:
    described: list[Field] = [
        (1, I32, _physical(values)),
        (2, LIST, (I32, [_PLAIN, _RLE])),
        (3, LIST, (BINARY, [name.encode()])),
        (4, I32, 0),
        (5, I64, rows),
        (6, I64, size),
        (7, I64, size),
        (9, I64, at),
    ]
    return [(2, I64, at), (3, STRUCT, described)]


def _footer(columns: Mapping[str, Array], rows: int, groups: list[list[Field]]) -> bytes:
    schema: list[list[Field]] = [[(4, BINARY, b"schema"), (5, I32, len(columns))]]
    for name, values in columns.items():
        field: list[Field] = [(1, I32, _physical(values)), (3, I32, 0), (4, BINARY, name.encode())]
        schema.append([*field, (6, I32, _UTF8)] if _physical(values) == _BYTES else field)
    return _signed(
        written(
            [
                (1, I32, 1),
                (2, LIST, (STRUCT, schema)),
                (3, I64, rows),
                (4, LIST, (STRUCT, groups)),
                (6, BINARY, _SIGNED + b"0" * _DIGITS),
            ]
        )
    )


def _signed(footer: bytes) -> bytes:
    """A footer of tercet with its checksum, which stands before the byte that ends it."""
    before, after = footer[: -_DIGITS - 1], footer[-1:]
    return before + b"%08x" % zlib.crc32(before + b"0" * _DIGITS + after) + after


def _physical(values: Array) -> int:
    return {"b": _BOOLEAN, "i": _INT64, "u": _INT64, "f": _DOUBLE}.get(values.dtype.kind, _BYTES)


def _plain(values: Array) -> bytes:
    kind = _physical(values)
    if kind == _BOOLEAN:
        return np.packbits(values, bitorder="little").tobytes()
    if kind != _BYTES:
        return values.astype("<i8" if kind == _INT64 else "<f8").tobytes()
    texts = [str(value).encode() for value in values.tolist()]
    return b"".join(struct.pack("<I", len(text)) + text for text in texts)


@dataclass(frozen=True, slots=True)
class Footer:
    """The content of a Parquet footer: rows, columns, and where the pages of each column are."""

    rows: int
    names: tuple[str, ...]
    groups: tuple[RowGroup, ...]

    @property
    def starts(self) -> tuple[int, ...]:
        """The number of the first row of each row group, and the number of rows."""
        return tuple(accumulate((group.rows for group in self.groups), initial=0))


class RowGroup(NamedTuple):
    """The rows of one row group, and where the pages of each column lie: first byte and size."""

    rows: int
    chunks: dict[bytes, tuple[int, int]]


def footer_of(file: PlainFile) -> Footer:
    """Reads the footer before duckdb does, which trusts any length in it."""
    with file.path.open("rb") as data:
        data.seek(max(0, file.size - 8))
        tail = data.read()
        length = struct.unpack("<I", tail[:4])[0] if len(tail) == 8 else 0
        if file.size < 12 or tail[4:] != _MAGIC or length > file.size - 12:
            raise InputError(f"{file.called} is not a complete Parquet file: its end is missing. Copy it again.")
        data.seek(file.size - 8 - length)
        raw = data.read(length)
        try:
            told = Reader(raw).struct()
            footer = _footer_struct(told, file)
            if told.get(6, b"").startswith(_SIGNED):
                _check_own(data, raw, footer)
        except (DamagedError, KeyError, IndexError, TypeError, AttributeError, UnicodeDecodeError):
            raise InputError(
                f"{file.called} is not a complete Parquet file: its footer is damaged. Copy it again."
            ) from None
    return footer


def _check_own(data: IO[bytes], raw: bytes, footer: Footer) -> None:
    """Refuses a file written by tercet whose footer or page headers were changed.

    The checksum of a page covers its values alone: a flipped bit before them could change how they are read.
    """
    if _signed(raw) != raw:
        raise DamagedError("the checksum of the footer does not match")
    for group in footer.groups:
        for start, size in group.chunks.values():
            header, length = _page_header(data, start)
            data.seek(start)
            if data.read(length) != _header(size - length, group.rows, header[4]):
                raise DamagedError("a page header is not as it was written")


def _footer_struct(told: Struct, file: PlainFile) -> Footer:
    """The footer's struct as values; field numbers are those of Parquet's own definition."""
    names = tuple(column[4].decode() for column in told[2][1:])
    if told[2][0].get(5) == len(names):  # a flat schema: names inside structs may repeat
        _refuse_doubled(names, file)
    groups = tuple(RowGroup(group[3], _chunks_of(group)) for group in told.get(4, []))
    if any(group.rows < 0 for group in groups) or told[3] != sum(group.rows for group in groups):
        raise DamagedError("the row groups do not have the rows of the file")
    places = [place for group in groups for place in group.chunks.values()]
    if any(size and not (len(_MAGIC) <= start <= file.size - size and size > 0) for start, size in places):
        raise DamagedError("pages outside the file")
    return Footer(told[3], names, groups)


def _refuse_doubled(names: Sequence[str], file: PlainFile) -> None:
    """Refuses two columns of one name, or of names that duckdb does not tell apart: it ignores upper and lower case."""
    seen: dict[str, str] = {}
    for name in names:
        before = seen.setdefault(name.lower(), name)
        if before is not name:
            what = f"the column {shown(name)} twice" if before == name else f"both {shown(before)} and {shown(name)}"
            raise InputError(f"{file.called} has {what}: it is unclear which is meant. Rename one of them.")


def _chunks_of(group: Struct) -> dict[bytes, tuple[int, int]]:
    found = [chunk[3] for chunk in group.get(1, []) if 3 in chunk]
    first = [min((place for place in (one[9], one.get(11)) if place), default=0) for one in found]  # 0: there is none
    return {one[3][0]: (start, one[7]) for one, start in zip(found, first, strict=True)}


@dataclass(frozen=True, slots=True)
class PageChecks:
    """The checksums of a file's pages, each compared once, when rows in its row group are first read."""

    file: PlainFile
    footer: Footer
    done: set[tuple[int, str]] = field(default_factory=set)

    def __call__(self, names: Iterable[str], start: int, stop: int) -> None:
        """Refuses a file in which a page of these columns and rows does not have the checksum it was written with.

        Pages without a checksum pass: nothing is known about them.
        """
        starts = self.footer.starts
        first, last = bisect_right(starts, start) - 1, bisect_left(starts, stop)
        missing = [(g, name) for g in range(first, last) for name in names if (g, name) not in self.done]
        if not missing:
            return
        with self.file.path.open("rb") as data:
            for number, name in missing:
                chunk = self.footer.groups[number].chunks.get(name.encode())
                if chunk is not None:
                    _check_chunk(data, self.file, name.encode(), *chunk)
                self.done.add((number, name))


def _check_chunk(data: IO[bytes], file: PlainFile, column: bytes, start: int, size: int) -> None:
    at, checked = start, False
    while at < start + size:
        try:
            header, length = _page_header(data, at)
            body_size, crc = header[3], header.get(4)
            damaged = not (isinstance(body_size, int) and 0 <= body_size <= file.size - at - length)
            damaged = damaged or not isinstance(crc, int | None)
        except (DamagedError, KeyError, TypeError):
            damaged, crc, length, body_size = True, None, 0, 0
        if damaged and not checked:
            return  # no checksum seen so far: left to duckdb
        data.seek(at + length)
        if damaged or (crc is not None and zlib.crc32(data.read(body_size)) != crc & 0xFFFFFFFF):
            raise InputError(
                f"{file.called} is damaged: a page of column {shown(column.decode('utf-8', 'replace'))}, at byte {at}, "
                f"does not have the checksum it was written with. Copy it again."
            )
        checked = checked or crc is not None
        if not checked:
            return
        at += length + body_size


def _page_header(data: IO[bytes], at: int) -> tuple[Struct, int]:
    data.seek(at)
    reader = Reader(data.read(_LONGEST_HEADER))
    return reader.struct(), reader.at


_WHOLE: dict[str, type[np.generic]] = {
    f"{sign}int{bits}": np.dtype(f"{sign}int{bits}").type for sign in ("", "u") for bits in (8, 16, 32, 64)
}
_KINDS: dict[str, type[np.generic]] = {"float": np.float32, "double": np.float64, "bool": np.bool_, **_WHOLE}
_CODED = "dictionary<values=string, indices=int32, ordered=0>"


def release_memory() -> None:
    """Gives back what pyarrow keeps for the next read: many reads share it, but nothing else can use it."""
    if (arrow := sys.modules.get("pyarrow")) is not None:
        arrow.default_memory_pool().release_unused()


def plain_columns(
    path: Path, names: Sequence[str], starts: Sequence[int], start: int, stop: int, texts: Sequence[str] = ()
) -> list[Array] | None:
    """The columns of the rows start..stop-1, page checksums compared; None where there is anything to report.

    That is: no pyarrow, a small part of a row group, of which pyarrow reads all, columns that are not float, double or
    boolean (the last may also hold whole numbers), a null, a NaN or a damaged page. Then the rows are read again
    through duckdb, which raises the usual error. The last column may be one of `texts`, and is then given by their
    numbers.
    """
    first, last = bisect_right(starts, start) - 1, bisect_left(starts, stop)
    rows, inside = starts[last] - starts[first], slice(start - starts[first], stop - starts[first])
    if rows > 2 * (stop - start):
        return None
    try:
        parquet = import_module("pyarrow.parquet")
        coded = {"read_dictionary": names[-1:]} if texts else {}
        now = path.stat()
        footer = _arrow_footer(path, (now.st_dev, now.st_ino, now.st_size, now.st_mtime_ns, now.st_ctime_ns))
        with parquet.ParquetFile(path, metadata=footer, page_checksum_verification=True, **coded) as file:
            kinds = [str(file.schema_arrow.field(name).type) for name in names]
            texts = texts if kinds[-1] == _CODED else ()
            if not _read_plainly(kinds[:-1], None if texts else kinds[-1]) or len({*names}) < len(names):
                return None
            table = file.read_row_groups([*range(first, last)], columns=list(names), use_threads=False)
    except (ImportError, OSError, ValueError, KeyError, LookupError):  # pyarrow's own errors are ValueErrors
        return None
    if table.num_rows != rows or any(table.column(name).null_count for name in names):
        return None
    columns = [
        _array(table.column(name), _KINDS[kind]) for name, kind in zip(names, kinds, strict=True) if kind in _KINDS
    ]
    if texts:
        columns.append(_numbered(table.column(names[-1]), texts))
        if (columns[-1] < 0).any():
            return None
    columns = [one[inside] for one in columns]
    if any(one.dtype.kind == "f" and np.isnan(np.min(one, initial=0.0)) for one in columns):
        return None
    return columns


@lru_cache(maxsize=_FOOTERS)
def _arrow_footer(path: Path, _: tuple[int, ...]) -> Value:
    """The footer of a file of this device, inode, size and times: parsing it for every part would be quadratic work."""
    return import_module("pyarrow.parquet").read_metadata(path)


def _read_plainly(scores: Sequence[str], label: str | None) -> bool:
    return _WHOLE.keys().isdisjoint(scores) and _KINDS.keys() >= {*scores, *([] if label is None else [label])}


def _numbered(column: ChunkedArray, texts: Sequence[str]) -> Array:
    """The number of each row's text among the texts, -1 for any other."""
    numbers, found = {text: number for number, text in enumerate(texts)}, [np.empty(0, np.int32)]
    for chunk in filter(len, column.chunks):
        own = np.array([numbers.get(text, -1) for text in chunk.dictionary.to_pylist()], np.int32)
        rows = slice(chunk.offset, chunk.offset + len(chunk))
        found.append(own.take(np.frombuffer(chunk.indices.buffers()[1], np.int32, rows.stop)[rows]))
    return np.concatenate(found)


def _array(column: ChunkedArray, kind: type[np.generic]) -> Array:
    """A column without nulls; pyarrow's own to_numpy would import pandas, which takes longer than most reading."""
    found: list[Array] = [np.empty(0, kind)]
    for chunk in filter(len, column.chunks):
        content, rows = chunk.buffers()[1], slice(chunk.offset, chunk.offset + len(chunk))
        if kind is np.bool_:
            found.append(np.unpackbits(np.frombuffer(content, np.uint8), count=rows.stop, bitorder="little")[rows])
        else:
            found.append(np.frombuffer(content, kind, rows.stop)[rows])
    return (found[1] if len(found) == 2 else np.concatenate(found)).view(kind)


# The part of Thrift's compact protocol that footers and page headers use


TRUE, FALSE, BYTE, I16, I32, I64, DOUBLE, BINARY, LIST, SET, MAP, STRUCT = range(1, 13)
Struct = dict[int, Value]
Field = tuple[int, int, Value]  # number, type, value; a list's value is (type, items)
_DEEPEST = 16


class DamagedError(ValueError):
    """The bytes violate the protocol."""


@dataclass(slots=True)
class Reader:
    """Reads structs from bytes, never past their end."""

    data: bytes
    at: int = 0

    def struct(self, depth: int = 0) -> Struct:
        """A struct as {field number: value}."""
        if depth > _DEEPEST:
            raise DamagedError("nested too deeply")
        found: Struct = {}
        number = 0
        while head := self._byte():
            number = number + (head >> 4) if head >> 4 else _unzigzag(self._varint())
            found[number] = self._value(head & 15, depth)
        return found

    def _value(self, kind: int, depth: int) -> Value:
        if kind in (TRUE, FALSE):
            return kind == TRUE
        if kind in (BYTE, I16, I32, I64):
            return self._byte() if kind == BYTE else _unzigzag(self._varint())
        if kind == DOUBLE:
            return struct.unpack("<d", self._take(8))[0]
        if kind == BINARY:
            return self._take(self._varint())
        if kind in (LIST, SET):
            return self._list(depth)
        if kind == STRUCT:
            return self.struct(depth + 1)
        raise DamagedError(f"unknown type {kind}")

    def _list(self, depth: int) -> list[Value]:
        head = self._byte()
        count = head >> 4 if head >> 4 < 15 else self._varint()
        if count > len(self.data) - self.at:
            raise DamagedError("a list longer than its bytes")
        kind = BYTE if head & 15 in (TRUE, FALSE) else head & 15
        return [self._value(kind, depth + 1) for _ in range(count)]

    def _byte(self) -> int:
        return self._take(1)[0]

    def _take(self, count: int) -> bytes:
        if count > len(self.data) - self.at:
            raise DamagedError("the bytes end too early")
        self.at += count
        return self.data[self.at - count : self.at]

    def _varint(self) -> int:
        value = 0
        for shift in range(0, 70, 7):
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
        raise DamagedError("a number without end")


def written(fields: Sequence[Field]) -> bytes:
    """A struct of (number, type, value) in rising order of number."""
    out, last = bytearray(), 0
    for number, kind, value in fields:
        out.append((number - last) << 4 | kind)
        out += _written_value(kind, value)
        last = number
    return bytes(out) + b"\0"


def _written_value(kind: int, value: Value) -> bytes:
    if kind in (I32, I64):
        return _varint_bytes((value << 1) ^ (value >> 63))
    if kind == BINARY:
        return _varint_bytes(len(value)) + bytes(value)
    if kind == STRUCT:
        return written(value)
    item, items = value
    head = bytes([len(items) << 4 | item]) if len(items) < 15 else bytes([0xF0 | item]) + _varint_bytes(len(items))
    return head + b"".join(_written_value(item, one) for one in items)


def _varint_bytes(value: int) -> bytes:
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def _unzigzag(value: int) -> int:
    return (value >> 1) ^ -(value & 1)
