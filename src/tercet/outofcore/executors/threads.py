"""Threads of this machine: numpy's sorting and duckdb's reading release the lock, so every core works."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any

from tercet._numeric.parallel import CORES

Make = Callable[[dict[str, Any], Any], dict[str, Any]]


def collect(
    make: Make, job: dict[str, Any], batches: Sequence[Any], *, workers: int = CORES
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(number of the batch, make(job, batch)) as they are ready, with no more than two a worker under way."""
    waiting = iter(enumerate(batches))
    running: dict[Future[dict[str, Any]], int] = {}
    with ThreadPoolExecutor(workers, thread_name_prefix="tercet") as pool:
        try:
            while True:
                while len(running) < 2 * workers and (following := next(waiting, None)) is not None:
                    running[pool.submit(make, job, following[1])] = following[0]
                if not running:
                    return
                for done in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(done), done.result()
        finally:
            for future in running:
                future.cancel()
