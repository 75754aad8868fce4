"""Side by side when it pays: numpy's sort, search and exp release the lock, so two cores can work."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
_WORTHWHILE = 1 << 18  # below this many rows a thread costs more than it saves

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def together(jobs: Sequence[Callable[[], T]], rows: int) -> list[T]:
    """The results of the jobs in their order, run at the same time when there are many rows."""
    if rows < _WORTHWHILE or CORES == 1 or len(jobs) == 1:
        return [job() for job in jobs]
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(min(CORES, len(jobs))) as pool:
        return [future.result() for future in [pool.submit(job) for job in jobs]]


def parts(length: int) -> list[slice]:
    """A range cut into one piece a core, or left whole when it is short."""
    pieces = CORES if length >= _WORTHWHILE else 1
    edges = [length * i // pieces for i in range(pieces + 1)]
    return [slice(low, high) for low, high in itertools.pairwise(edges)]
