"""Threads of this machine: numpy's sorting and duckdb's reading release the lock, so every core works."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass

from tercet._numeric.parallel import CORES, keep_freed_memory
from tercet.outofcore.executors import Add, Partial, Plain


@dataclass(frozen=True, slots=True)
class Threads:
    """An executor of this many threads, with no more than two batches per thread under way."""

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
