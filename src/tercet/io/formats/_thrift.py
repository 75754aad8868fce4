"""The part of Thrift's compact protocol that Parquet's footers and page headers use."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from tercet._typing import Value

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
