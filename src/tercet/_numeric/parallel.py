"""Threads where they pay: numpy's sort, search and exp release the lock, so several cores can work."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import partial
from itertools import pairwise
from typing import TypeVar

T = TypeVar("T")
_WORTHWHILE = 1 << 18  # below this many rows a thread costs more than it saves

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def many(rows: int) -> bool:
    """Whether this many rows are worth a second core, and there is one."""
    return rows >= _WORTHWHILE and CORES > 1


def together(jobs: Sequence[Callable[[], T]], rows: int) -> list[T]:
    """The results of the jobs in their order, run at the same time when there are many rows."""
    if len(jobs) == 1 or not many(rows):
        return [job() for job in jobs]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(CORES, len(jobs))) as pool:
        return [future.result() for future in [pool.submit(job) for job in jobs]]


def over_parts(function: Callable[[slice], T], rows: int) -> list[T]:
    """The function of one slice per core, in order; of all rows at once where there are few."""
    if not many(rows):
        return [function(slice(0, rows))]
    edges = pairwise(rows * piece // CORES for piece in range(CORES + 1))
    return together([partial(function, slice(low, high)) for low, high in edges], rows)
