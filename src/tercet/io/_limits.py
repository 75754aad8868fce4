"""How much may be read: sizes are compared with a limit before anything is allocated."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tercet._numeric.validation import whole
from tercet.errors import InputError

MOST_COLUMNS = 16_384
MOST_LABELS = 100_000
_FALLBACK = 4 << 30  # where the machine does not report its memory


def machine_memory() -> int:
    """Bytes of memory available to this process: the machine's, or its container's where that is less."""
    try:
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        memory = _FALLBACK
    with suppress(OSError, ValueError):
        memory = min(memory, int(Path("/sys/fs/cgroup/memory.max").read_text()))
    return memory


def memory_limit(given: int | None) -> int:
    """The limit in bytes: the one given, else half of the machine's memory."""
    return machine_memory() // 2 if given is None else whole(given, "memory", 0)


def check_size(what: str, rows: int, columns: int, limit: int) -> None:
    """Refuses rows x columns numbers of eight bytes that would not fit under the limit."""
    needed = 8 * rows * columns
    if needed > limit:
        raise InputError(
            f"{what} would take {in_words(needed)} ({rows} rows x {columns} columns x 8 bytes), more than the limit of "
            f"{in_words(limit)}. Split the file, or raise the limit (memory=) if it is meant to be that large."
        )


def in_words(size: int) -> str:
    """A number of bytes in readable units."""
    value = float(size)
    for unit in ("bytes", "kB", "MB", "GB"):
        if value < 1000:
            return f"{value:.3g} {unit}" if unit != "bytes" else f"{size} bytes"
        value /= 1000
    return f"{value:.3g} TB"
