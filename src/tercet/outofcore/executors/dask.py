"""A dask cluster: an existing one by its scheduler's address, or a temporary one on this machine."""

from __future__ import annotations

import asyncio
import logging
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from functools import partial as bound
from importlib import import_module
from multiprocessing import resource_tracker
from tempfile import TemporaryDirectory
from types import ModuleType
from typing import TYPE_CHECKING
from uuid import uuid4

from tercet.errors import InputError, TercetError
from tercet.outofcore.executors import Add, Partial, Plain

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

log = logging.getLogger("tercet.outofcore.executors.dask")
_PATIENCE = 5  # seconds after which a scheduler that does not answer, or has no workers, is an error
_CLOSING = 20  # seconds that a cluster started here may take to end: it kills a busy worker after 4, and waits 5 more
_LOOK = 2  # seconds between two checks of the workers while no result arrives
_LONGEST = 30  # seconds without any worker after which the scan fails
_RETRIES = 3  # workers that may die over one batch


@contextmanager
def connected(scheduler: str | None = None, workers: int = 2) -> Iterator[Client]:
    """A client of the scheduler at an address, or of a cluster of processes started here."""
    try:
        distributed = import_module("distributed")
    except ImportError:
        raise InputError("engine='dask' needs dask.distributed: pip install 'tercet[dask]'.") from None
    with ExitStack() as stack:
        if scheduler is None:
            folder = TemporaryDirectory(prefix="tercet-dask-", ignore_cleanup_errors=True)
            cluster = _started(distributed, workers, stack.enter_context(folder))
            stack.callback(_closed, cluster)
            yield stack.enter_context(distributed.Client(cluster))
            return
        try:
            _check_scheduler(distributed, scheduler)
            client = stack.enter_context(distributed.Client(scheduler, timeout=_PATIENCE))
            client.wait_for_workers(1, timeout=_PATIENCE)
        except (OSError, TimeoutError, ValueError) as error:
            what = "it has no workers" if "workers" in str(error) else "no scheduler answers there"
            raise InputError(
                f"scheduler={scheduler!r} cannot be used: {what}. Start it (dask scheduler, dask worker), or "
                f"leave scheduler out to work on this machine."
            ) from None
        yield client


def _started(distributed: ModuleType, workers: int, folder: str) -> LocalCluster:
    """A cluster on this machine, started by a thread: an interrupt waits for the thread, and ends what it started.

    A terminal sends Ctrl-C to the workers too. They inherit from the thread that they do not listen to it.
    """
    start = bound(
        distributed.LocalCluster, n_workers=workers, threads_per_worker=1, processes=True, memory_limit=0,
        dashboard_address=":0", silence_logs=logging.CRITICAL, local_directory=folder,
        scheduler_kwargs={"local_directory": folder},
    )  # fmt: skip
    with ThreadPoolExecutor(1, initializer=_deaf) as pool:
        starting = pool.submit(start)
        try:
            return starting.result()
        except KeyboardInterrupt:
            with suppress(RuntimeError):
                _closed(starting.result())
            raise
        except RuntimeError as error:  # each worker imports the script that started it
            raise TercetError(
                f"the workers of engine='dask' did not start ({error}). In a script, call tercet under "
                f"`if __name__ == '__main__':`, or use engine='local'."
            ) from error


def _deaf() -> None:
    """Blocks Ctrl-C for this thread, for those that it starts, and for their processes, where the system can."""
    if hasattr(signal, "pthread_sigmask"):
        resource_tracker.ensure_running()  # when it starts, it unblocks
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


@contextmanager
def _quiet() -> Iterator[None]:
    """Keeps failed heartbeats out of the log after all results have arrived and the cluster is closed."""
    logger = logging.getLogger("distributed")
    before = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        logger.setLevel(before)


def _closed(cluster: LocalCluster) -> None:
    with _quiet(), suppress(TimeoutError):  # which would hide what ended the scan, such as an interrupt
        cluster.close(timeout=_CLOSING)


def _check_scheduler(distributed: ModuleType, address: str) -> None:
    """Refuses within seconds an address where something else listens: a client would wait for ever."""
    if not isinstance(address, str):
        raise ValueError(address)
    if address.startswith("inproc:"):
        return  # a scheduler of this process: nothing else has such an address

    async def ask() -> str:
        how = distributed.Security().get_connection_args("client")
        async with asyncio.timeout(_PATIENCE), distributed.rpc(address, connection_args=how) as there:
            return str((await there.identity())["type"])

    with ThreadPoolExecutor(1) as pool:  # the caller's thread may have a loop of its own, as in a notebook
        try:
            found = pool.submit(asyncio.run, ask()).result()
        except MemoryError:  # the first bytes of another protocol, read as a length
            found = "unknown"
    if found != "Scheduler":
        raise ValueError(found)


@dataclass(frozen=True, slots=True)
class Dask:
    """An executor on the workers of a dask client."""

    client: Client

    def collect(
        self, partial: Partial, job: Plain, batches: Sequence[object], add: Add | None = None
    ) -> Iterator[tuple[int, Plain | None]]:
        """Yields (number of the batch, its result) as they are ready; a batch whose worker dies is given to another.

        With `add` the workers add up the results, two by two: only the last batch comes with a result, the sum of all.
        """
        return _collect(self.client, partial, job, batches, add)


def _collect(
    client: Client, partial: Partial, job: Plain, batches: Sequence[object], add: Add | None
) -> Iterator[tuple[int, Plain | None]]:
    delayed = import_module("dask").delayed
    name = f"tercet-{uuid4().hex}"
    # One graph: what a dead worker held is computed again from it, and the job is sent only once.
    shared = delayed(dict)(delayed(job, name=f"{name}-job", traverse=False))
    tasks = [
        delayed(partial)(shared, delayed(batch, traverse=False), dask_key_name=f"{name}-{number}")
        for number, batch in enumerate(batches)
    ]
    whole = [] if add is None or not tasks else [_sum_of(delayed(add), tasks)]
    futures = client.compute([*whole, *tasks], optimize_graph=False, retries=0)
    left = set(futures)
    try:
        for done, future in enumerate(_completed(client, futures[len(whole) :]), 1):
            number = int(future.key.rpartition("-")[2])
            result = None
            if not whole or future.status == "error":
                result = _result(future, f"Batch {number}")
            elif done == len(tasks):
                result = _result(futures[0], "The sum of all batches")
            yield number, result
            left.remove(future)
            future.release()
    except (OSError, CancelledError) as error:
        raise TercetError(
            f"The dask scheduler has gone away ({str(error)!r}): start it and evaluate again, with resume=FOLDER to "
            f"keep what is done."
        ) from None
    finally:
        for future in left:  # nobody else wants them; to cancel some that others of them need is an error of dask
            future.release()


def _completed(client: Client, futures: Sequence[Future]) -> Iterator[Future]:
    """The futures as they complete; the workers are checked in between, or a scan without any would wait for ever."""
    distributed = import_module("distributed")
    known, waiting, seen = set(client.nthreads()), set(futures), time.monotonic()
    while waiting:
        try:
            done = distributed.wait(waiting, timeout=_LOOK, return_when="FIRST_COMPLETED").done
        except TimeoutError:
            done = set()
        known = _watch(client, known)
        if known or done:
            seen = time.monotonic()
        elif time.monotonic() - seen > _LONGEST:
            raise TercetError(
                f"The dask cluster has had no workers for {_LONGEST} seconds: start some and evaluate again, with "
                f"resume=FOLDER to keep what is done."
            )
        waiting -= done
        yield from done


def _sum_of(add: Callable[[Sequence[object]], object], tasks: Sequence[object]) -> object:
    """The sum of all results, two by two."""
    while len(tasks) > 1:
        tasks = [add(tasks[place : place + 2]) for place in range(0, len(tasks), 2)]
    return tasks[0]


def _result(future: Future, called: str) -> Plain:
    """The result of a task; errors of dask become errors of tercet."""
    distributed = import_module("distributed")
    try:
        found: Plain = future.result()
        return found
    except distributed.KilledWorker as error:
        raise TercetError(
            f"{called} failed: {_RETRIES} or more dask workers died while computing it ({error}). "
            f"Give the workers more memory, or lower memory_limit."
        ) from None
    except (OSError, MemoryError) as error:
        if future.status != "error":  # not of the worker, but of the connection
            raise
        raise TercetError(f"{called} failed on a dask worker: {type(error).__name__}: {error}.") from None
    except ModuleNotFoundError as error:
        raise InputError(f"The dask workers cannot load {error.name}: install tercet on all of them.") from None


def _watch(client: Client, known: set[str]) -> set[str]:
    """Logs the workers that joined and left."""
    now = set(client.nthreads())
    for gone in known - now:
        log.warning("dask worker %s is gone: what it had not returned is done again by others", gone)
    return known | now if not known - now else now
