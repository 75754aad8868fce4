"""A dask cluster: an existing one by its scheduler's address, or one on this machine for as long as the work takes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any
from uuid import uuid4

from tercet.errors import InputError, TercetError

log = logging.getLogger("tercet.engines.dask")
Make = Callable[[dict[str, Any], Any], dict[str, Any]]
Add = Callable[[Sequence[dict[str, Any]]], dict[str, Any]]
_PATIENCE = 5  # seconds until a scheduler that does not answer, or has no workers, is given up
_RETRIES = 3  # workers that may die over one batch


@contextmanager
def connected(scheduler: str | None = None, workers: int = 2) -> Iterator[Any]:
    """A client of the scheduler at an address, or of a cluster of processes started here."""
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise InputError("engine='dask' needs dask.distributed: pip install 'tercet[dask]'.") from None
    with ExitStack() as stack:
        if scheduler is None:
            cluster = distributed.LocalCluster(
                n_workers=workers, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0
            )
            stack.callback(cluster.close, timeout=_PATIENCE)
            yield stack.enter_context(distributed.Client(cluster))
            return
        try:
            client = stack.enter_context(distributed.Client(scheduler, timeout=_PATIENCE))
            client.wait_for_workers(1, timeout=_PATIENCE)
        except (OSError, TimeoutError, ValueError) as error:
            what = "it has no workers" if "workers" in str(error) else "nobody answers there"
            raise InputError(
                f"scheduler={scheduler!r} cannot be used: {what}. Start it (dask scheduler, dask worker), or leave "
                f"scheduler out to work on this machine."
            ) from None
        yield client


def collect(
    make: Make, job: dict[str, Any], batches: Sequence[Any], *, client: Any, add: Add | None = None
) -> Iterator[tuple[int, dict[str, Any] | None]]:
    """(number of the batch, make(job, batch)) as they are ready; a batch whose worker dies is given to another.

    With `add` the workers add up the results, two by two: only the last batch comes with one, the sum of all.
    """
    distributed, delayed = import_module("distributed"), import_module("dask").delayed
    name = f"tercet-{uuid4().hex}"
    # One graph: what a worker takes to its grave is made again from it, the job too, which is sent once.
    shared = delayed(dict)(delayed(job, name=f"{name}-job", traverse=False))
    tasks = [
        delayed(make)(shared, delayed(batch, traverse=False), dask_key_name=f"{name}-{number}")
        for number, batch in enumerate(batches)
    ]
    whole = [] if add is None or not tasks else [_sum_of(delayed(add), tasks)]
    futures = client.compute([*whole, *tasks], optimize_graph=False, retries=0)
    known, left = set(client.nthreads()), set(futures)
    try:
        for done, future in enumerate(distributed.as_completed(futures[len(whole) :]), 1):
            known = _watch(client, known)
            number = int(future.key.rpartition("-")[2])
            result = None
            if not whole or future.status == "error":
                result = _result(future, f"Batch {number}")
            elif done == len(tasks):
                result = _result(futures[0], "The sum of all batches")
            yield number, result
            left.remove(future)
            future.release()
    finally:
        client.cancel([*left])


def _sum_of(add: Any, tasks: Sequence[Any]) -> Any:
    """The sum of all results, two by two."""
    while len(tasks) > 1:
        tasks = [add(tasks[place : place + 2]) for place in range(0, len(tasks), 2)]
    return tasks[0]


def _result(future: Any, called: str) -> Any:
    """What a task made, once it has; the ends of dask in the words of tercet."""
    distributed: Any = import_module("distributed")
    try:
        return future.result()
    except distributed.KilledWorker as error:
        raise TercetError(
            f"{called} was given up: {_RETRIES} or more dask workers died over it ({error}). "
            f"Give the workers more memory, or lower memory_limit."
        ) from None
    except ModuleNotFoundError as error:
        raise InputError(f"The dask workers cannot load {error.name}: install tercet on all of them.") from None


def _watch(client: Any, known: set[str]) -> set[str]:
    """Logs the workers that came and went."""
    now = set(client.nthreads())
    for gone in known - now:
        log.warning("dask worker %s is gone: what it had not returned is done again by others", gone)
    return known | now if not known - now else now
