"""Threads where they pay: numpy's sort, search and exp release the lock, so several cores can work."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from itertools import pairwise
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

T = TypeVar("T")
_WORTHWHILE = 1 << 18  # below this many rows a thread costs more than it saves

CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def many(rows: int) -> bool:
    """Whether this many rows are worth a second core, and there is one."""
    return rows >= _WORTHWHILE and CORES > 1


def together(jobs: Sequence[Callable[[], T]], rows: int) -> list[T]:
    """The results of the jobs in their order, run at the same time when there are many rows.

    The calling thread takes jobs too: starting one thread fewer is most of what a pool would cost.
    """
    if len(jobs) == 1 or not many(rows):
        return [job() for job in jobs]
    from threading import Thread

    found: dict[int, T] = {}
    errors: dict[int, BaseException] = {}
    waiting = deque(enumerate(jobs))

    def work() -> None:
        while waiting and not errors:
            with suppress(IndexError):  # another thread took the last one
                place, job = waiting.popleft()
                _run(job, place, found, errors)

    threads = [Thread(target=work) for _ in range(min(CORES, len(jobs)) - 1)]
    for thread in threads:
        thread.start()
    try:
        work()
        for thread in threads:
            thread.join()
    finally:
        waiting.clear()  # after an interrupt no thread begins another job
    if errors:
        raise errors[min(errors)]
    return [found[place] for place in range(len(jobs))]


def _run(job: Callable[[], T], place: int, found: dict[int, T], errors: dict[int, BaseException]) -> None:
    try:
        found[place] = job()
    except BaseException as error:  # an interrupt too: it is raised again where the jobs were given
        errors[place] = error


def over_parts(function: Callable[[slice], T], rows: int, steps: int = 1, pieces: int = 1) -> list[T]:
    """The function of one slice per core, in order; of all rows at once where there are few.

    `steps` says how many times as long as a simple operation a row takes, `pieces` how many slices each core gets where
    some take longer than others.
    """
    if not many(rows * steps):
        return [function(slice(0, rows))]
    count = CORES * pieces
    edges = pairwise(rows * piece // count for piece in range(count + 1))
    return together([partial(function, slice(low, high)) for low, high in edges], rows * steps)


def extremes(values: NDArray[np.float64]) -> tuple[float, float]:
    """The least and the largest of a column; inf and -inf of none.

    >>> extremes(np.array([2.0, -1.0]))
    (-1.0, 2.0)
    """
    ends = over_parts(
        lambda part: (values[part].min(initial=np.inf), values[part].max(initial=-np.inf)), len(values), 2
    )
    return float(min(low for low, _ in ends)), float(max(high for _, high in ends))
