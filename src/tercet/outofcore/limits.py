"""What a scan may hold at a time: a limit in bytes for the whole process tree, divided among its uses."""

from __future__ import annotations

from typing import NamedTuple

from tercet._numeric.parallel import CORES
from tercet._numeric.validation import whole
from tercet.errors import InputError
from tercet.io._limits import in_words

PROCESS = 220 << 20  # bytes of Python, numpy and duckdb before any row is read
PICKED_ROW = 12  # bytes a row takes from when it is picked from its part until the rows of all parts are joined
KEPT_ROW = 72  # bytes a collected row takes until the hull is made
IN_MEMORY_ROW = 60  # bytes a row takes when all of them are evaluated at once
TEXT_ROW = 120  # bytes that a group column adds to a row in memory: its text, codes, and rows selected by it
_PART_ROW = 24  # bytes a row of a part takes while it is read, split and sorted
_BIN = 220  # bytes a bin takes in counts, sums and points
_MOST_EDGES, _LEAST_EDGES = 1 << 18, 1 << 12
_MOST_PART, _LEAST_PART = 1 << 22, 1 << 16


class Budget(NamedTuple):
    """How much may be held at a time.

    Attributes
    ----------
    kept : int
        Rows collected one by one.
    edges : int
        Edges of bins.
    part : int
        Rows of a part.
    at_once : int
        Rows that are evaluated in memory.
    spare : int
        Bytes for keeping sorted parts between passes, as far as collected rows leave them free.
    """

    kept: int
    edges: int
    part: int
    at_once: int
    spare: int = 0

    @classmethod
    def of(cls, memory_limit: object, workers: int = CORES, processes: int = 1, columns: int = 1) -> Budget:
        """What fits under a limit in bytes, with this many numbers in each row."""
        limit = whole(memory_limit, "memory_limit", 1)
        row = _PART_ROW if columns == 1 else 40 * columns
        least = processes * PROCESS + workers * _LEAST_PART * row + _LEAST_EDGES * _BIN + (16 << 20)
        if limit < least:
            raise InputError(
                f"memory_limit of {in_words(limit)} is too small to work with: {in_words(least)} are needed for "
                f"{workers} worker{'s' if workers > 1 else ''} in {processes} process{'es' if processes > 1 else ''}."
            )
        free = limit - processes * PROCESS
        shares = 4 if columns == 1 else 2  # of several classes no rows are collected
        part = min(max(free // (shares * workers * row), _LEAST_PART), _MOST_PART)
        edges = min(max(free // (8 * _BIN), _LEAST_EDGES), _MOST_EDGES)
        rest = free - workers * part * row - edges * _BIN
        spare = rest - rest // 8 if processes == 1 else 0  # not all that is freed goes back to the system at once
        return cls(max(rest // KEPT_ROW, 1 << 16), edges, part, max(rest // IN_MEMORY_ROW, 0), spare)

    def beside(self, size: int, what: str) -> Budget:
        """What is left of it after this many bytes are used for something else."""
        most = max(self.kept * KEPT_ROW, self.spare)
        if size > most:
            more = in_words(size - most)
            raise InputError(f"{what} take {in_words(size)}, and memory_limit is {more} too small for that.")
        kept, at_once = self.kept - size // KEPT_ROW, self.at_once - size // IN_MEMORY_ROW
        return self._replace(kept=max(kept, 1), at_once=max(at_once, 0), spare=max(self.spare - size, 0))
