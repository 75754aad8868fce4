"""Threads where they pay: numpy's sort, search and exp release the lock, so several cores can work."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, partial
from itertools import pairwise
from typing import Any, Generic, TypeVar

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

    The calling thread takes jobs too: starting one thread fewer is most of what a pool would cost. Jobs may give jobs
    of their own, which the same threads take.
    """
    if len(jobs) == 1 or not many(rows):
        return [job() for job in jobs]
    keep_freed_memory()
    crew: _Crew | None = getattr(_here, "crew", None)
    if crew is not None:
        return crew.results(jobs)
    _here.crew = crew = _Crew()
    try:
        return crew.results(jobs)
    finally:
        _here.crew = None
        crew.dismiss()


@cache
def keep_freed_memory() -> None:
    """Lets arrays of up to 32 MB be made of memory that was freed before, instead of fresh pages.

    glibc gives larger arrays than 128 kB back to the system at once when they are freed, and fetching fresh pages takes
    as long as most of the work that is done in them. It raises this limit to the size of what is freed, up to 32 MB.
    """
    np.empty((32 << 20) - 8192, np.uint8)


_here = threading.local()  # its crew, in a thread that runs jobs


@dataclass(eq=False)
class _Batch(Generic[T]):
    waiting: deque[tuple[int, Callable[[], T]]]
    running: int = 0
    found: dict[int, T] = field(default_factory=dict)
    errors: dict[int, BaseException] = field(default_factory=dict)

    def run(self, place: int, job: Callable[[], T]) -> None:
        try:
            self.found[place] = job()
        except BaseException as error:  # an interrupt too: it is raised again where the jobs were given
            self.errors[place] = error
            self.waiting.clear()  # no other thread begins a job of these


class _Crew:
    """The threads that run the jobs of one call, and the jobs of those."""

    def __init__(self) -> None:
        self.batches: list[_Batch[Any]] = []
        self.threads: list[threading.Thread] = []
        self.news = threading.Condition()
        self.dismissed = False

    def results(self, jobs: Sequence[Callable[[], T]]) -> list[T]:
        """What jobs return, the calling thread taking part."""
        batch = _Batch(deque(enumerate(jobs)))
        first = not self.batches  # not inside a job
        with self.news:
            self.batches.append(batch)
            self.news.notify_all()
        try:
            self._hire(len(jobs) - 1)
            # A thread that is inside a job takes no job of others: two threads could otherwise wait for each other.
            while self._work(batch, helping=first):
                pass
        finally:
            with self.news:
                batch.waiting.clear()  # after an interrupt no thread begins another job
                self.batches.remove(batch)
        if batch.errors:
            raise batch.errors[min(batch.errors)]
        return [batch.found[place] for place in range(len(jobs))]

    def dismiss(self) -> None:
        """Lets the threads end, and waits for them."""
        with self.news:
            self.dismissed = True
            self.news.notify_all()
        for thread in self.threads:
            if thread.is_alive():  # else an interrupt came while it was started: it finds no job, and ends
                thread.join()

    def _hire(self, count: int) -> None:
        for _ in range(min(count, CORES - 1 - len(self.threads))):
            self.threads.append(threading.Thread(target=self._help))
            try:
                self.threads[-1].start()
            except RuntimeError:  # the system gives no more threads: those that there are do the work
                return

    def _help(self) -> None:
        _here.crew = self
        while self._work():
            pass

    def _work(self, own: _Batch[Any] | None = None, helping: bool = True) -> bool:
        """Runs a job of those that were given first, or of its own; False when there is nothing left to wait for.

        After an interrupt nobody waits for what runs: the interrupted thread may have left a job that it had taken.
        """
        with self.news:
            while (batch := self._next(own, helping)) is None:
                if self.dismissed or (own is not None and not own.running):
                    return False
                self.news.wait()
            place, job = batch.waiting.popleft()
            batch.running += 1
        try:
            batch.run(place, job)
        finally:
            with self.news:
                batch.running -= 1
                if not batch.running:
                    self.news.notify_all()
        return True

    def _next(self, own: _Batch[Any] | None, helping: bool) -> _Batch[Any] | None:
        among = self.batches if own is None or helping else [own]
        return next((batch for batch in among if batch.waiting), None)


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
