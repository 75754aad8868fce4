"""Where the parts of a scan are processed. The interface is small, so that another engine is one short module.

Every pass over the rows has four steps, whose meaning an executor need not know:

1. *plan*: `tercet.outofcore.reading.planned` cuts the files into numbered parts and groups them into batches.
2. *partial*: ``partial(job, batch)`` reads a batch and returns its result.
3. *add*: ``add(results)`` returns the sum of several results. It is associative and commutative.
4. *finish*: `tercet.outofcore.runner` checks that every part was counted exactly once and goes on from the sum.

Both are module-level functions (`add` with its first argument bound by functools.partial) and may run in any process.
Jobs, batches and results are plain data: text, numbers, lists, dictionaries and arrays. `Executor` is all that an
engine has to provide; an object with its method may be given as ``tercet.scan(..., engine=...)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

from tercet._numeric.parallel import CORES, keep_freed_memory
from tercet._typing import JSON, Value

Plain = JSON
Partial = Callable[[Plain, Value], Plain]
Add = Callable[[Sequence[Plain]], Plain]


@runtime_checkable
class Executor(Protocol):
    """Something that applies a function to batches, anywhere and in any order.

    It may run a batch again after a failure. It must deliver each batch's result once, or raise; errors of `partial`
    should come as they are. It need not be trusted: what it delivers is checked by the numbers of the parts.
    """

    def collect(
        self, partial: Partial, job: Plain, batches: Sequence[object], add: Add | None
    ) -> Iterator[tuple[int, Plain | None]]:
        """Yields (number of the batch, its result) as they are ready; called once per pass, and closed early on errors.

        Parameters
        ----------
        partial : callable
            ``partial(job, batch)``.
        job : dict
            What is asked, the same for all batches.
        batches : sequence
            Plain data.
        add : callable or None
            If given, lists of results may be added where they are computed, and None then stands for a result that
            a later one includes.
        """


@dataclass(frozen=True, slots=True)
class Threads:
    """An executor of this many threads of this machine, with no more than two batches per thread under way.

    numpy's sorting and duckdb's reading release the lock, so every core works.
    """

    workers: int = CORES

    def collect(
        self, partial: Partial, job: Plain, batches: Sequence[object], add: Add | None = None
    ) -> Iterator[tuple[int, Plain | None]]:
        """Yields (number of the batch, its result) as they are ready; nothing is added on the way."""
        keep_freed_memory()
        waiting = iter(enumerate(batches))
        running: dict[Future[Plain], int] = {}
        with ThreadPoolExecutor(self.workers, thread_name_prefix="tercet") as pool:
            try:
                while True:
                    while len(running) < 2 * self.workers and (following := next(waiting, None)) is not None:
                        running[pool.submit(partial, job, following[1])] = following[0]
                    if not running:
                        return
                    for done in wait(running, return_when=FIRST_COMPLETED).done:
                        yield running.pop(done), done.result()
            finally:
                for future in running:
                    future.cancel()


__all__ = ["Add", "Executor", "Partial", "Plain"]
