"""A dask cluster: an existing one by its scheduler's address, or one on this machine for as long as the work takes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib import import_module
from typing import Any

from tercet.errors import InputError, TercetError

log = logging.getLogger("tercet.engines.dask")
Make = Callable[[dict[str, Any], Any], dict[str, Any]]
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
    make: Make, job: dict[str, Any], batches: Sequence[Any], *, client: Any
) -> Iterator[tuple[int, dict[str, Any]]]:
    """(number of the batch, make(job, batch)) as they are ready; a batch whose worker dies is given to another."""
    distributed: Any = import_module("distributed")
    # The job is a task of its own: sent once, and made again from the graph where a worker takes it to its grave.
    shared = client.submit(dict, job, pure=False)
    futures = {
        client.submit(
            make, shared, batch, pure=False, retries=0, key=f"tercet-{str(shared.key)[-12:]}-{number}"
        ): number
        for number, batch in enumerate(batches)
    }
    known = set(client.nthreads())
    try:
        for future in distributed.as_completed(futures):
            known = _watch(client, known)
            try:
                result = future.result()
            except distributed.KilledWorker as error:
                raise TercetError(
                    f"Batch {futures[future]} was given up: {_RETRIES} or more dask workers died over it ({error}). "
                    f"Give the workers more memory, or lower memory_limit."
                ) from None
            except ModuleNotFoundError as error:
                raise InputError(f"The dask workers cannot load {error.name}: install tercet on all of them.") from None
            yield futures[future], result
            future.release()
    finally:
        client.cancel([*futures, shared])


def _watch(client: Any, known: set[str]) -> set[str]:
    """Logs the workers that came and went."""
    now = set(client.nthreads())
    for gone in known - now:
        log.warning("dask worker %s is gone: what it had not returned is done again by others", gone)
    return known | now if not known - now else now
