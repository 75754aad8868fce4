"""Whether a zstd file is whole: duckdb unpacks it, and takes one that was cut off for a shorter one."""

from __future__ import annotations

from pathlib import Path
from typing import IO

_MAGIC, _SKIPPABLE = 0xFD2FB528, range(0x184D2A50, 0x184D2A60)
_RLE, _RESERVED = 1, 3


def is_whole(path: Path) -> bool:
    """Walks the frames and blocks to the end of the file, without unpacking them."""
    size = path.stat().st_size
    with path.open("rb") as data:
        while data.tell() < size:
            magic = _number(data, 4)
            if magic in _SKIPPABLE:
                data.seek(_number(data, 4), 1)
            elif magic != _MAGIC or not _frame(data):
                return False
        return data.tell() == size


def _frame(data: IO[bytes]) -> bool:
    """Moves past one frame: its header, its blocks, its checksum."""
    descriptor = _number(data, 1)
    single, content = descriptor >> 5 & 1, descriptor >> 6
    data.seek((0 if single else 1) + (0, 1, 2, 4)[descriptor & 3] + ((single, 2, 4, 8)[content]), 1)
    while True:
        raw = data.read(3)
        block = int.from_bytes(raw, "little")
        kind = block >> 1 & 3
        if len(raw) < 3 or kind == _RESERVED:
            return False
        data.seek(1 if kind == _RLE else block >> 3, 1)
        if block & 1:
            data.seek(4 * (descriptor >> 2 & 1), 1)
            return True


def _number(data: IO[bytes], size: int) -> int:
    return int.from_bytes(data.read(size), "little")
