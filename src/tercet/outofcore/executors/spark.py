"""A Spark session that is running: batches and results travel through mapInArrow, as bytes of plain data only."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial as bound
from importlib import import_module
from typing import TYPE_CHECKING

from tercet import errors
from tercet._numeric.validation import whole
from tercet.errors import InputError, TercetError
from tercet.outofcore.executors import Add, Partial, Plain
from tercet.outofcore.plain_data import of_bytes, to_bytes

if TYPE_CHECKING:
    from pyarrow import RecordBatch
    from pyspark.sql import DataFrame, Row, SparkSession

_ROW = "number int, content binary"
_START = "start one (SparkSession.builder.getOrCreate())"
_TASKS = 2  # tasks per worker, so that a slow one does not keep the others waiting for long


def active_session() -> SparkSession:
    """The session of this process."""
    try:
        found = import_module("pyspark.sql").SparkSession.getActiveSession()
    except ImportError:
        raise InputError("engine='spark' needs pyspark: pip install 'tercet[spark]'.") from None
    if found is None:
        raise InputError(
            f"engine='spark' works on a Spark session that is running, and there is none: {_START}, or use "
            f"engine='local'."
        )
    return found


@dataclass(frozen=True, slots=True)
class Spark:
    """An executor on the workers of a Spark session.

    Attributes
    ----------
    session : pyspark.sql.SparkSession
        A running session, whose workers have tercet installed and see the files under the same names.
    workers : int, default 2
        How many of them are given work at a time.
    """

    session: SparkSession
    workers: int = 2

    def __post_init__(self) -> None:
        whole(self.workers, "workers", 1)

    def collect(
        self, partial: Partial, job: Plain, batches: Sequence[object], add: Add | None = None
    ) -> Iterator[tuple[int, Plain | None]]:
        """Yields (number of the batch, its result); with `add` each task adds up the results of its batches."""
        if not batches:
            return
        rows = [(number, to_bytes({"batch": batch})) for number, batch in enumerate(batches)]
        tasks = min(len(rows), _TASKS * self.workers)
        work = bound(_worked, to_bytes({"partial": _named(partial), "add": _named(add), "job": to_bytes(job).hex()}))
        try:
            frame = self.session.createDataFrame(rows, _ROW).repartition(tasks)
            found = _collected(self.session, frame.mapInArrow(work, _ROW))
        except AttributeError as error:  # Spark has taken the session apart
            raise InputError(f"The Spark session is not running: {_START}.") from error
        except Exception as error:  # errors of the session or its machines; those of tercet arrive as results
            raise _failure(_last_line(error)) from error
        for number, content in found:
            yield number, _result(bytes(content))


def _collected(session: SparkSession, frame: DataFrame) -> list[Row]:
    """The rows of a frame, by a thread: only where the main thread is free can Spark cancel the job at an interrupt."""
    pyspark, collect = import_module("pyspark"), frame.collect
    inherit = pyspark.inheritable_thread_target  # the thread is to have the caller's pool, job group and tags
    tagged = not pyspark.__version__.startswith("3.") or import_module("pyspark.sql.utils").is_remote()
    with ThreadPoolExecutor(1, thread_name_prefix="tercet") as pool:
        found: list[Row] = pool.submit(inherit(session)(collect) if tagged else inherit(collect)).result()
        return found


def _named(function: Callable[..., object] | None) -> Plain | None:
    """The name of a module-level function, possibly with plain arguments bound to it."""
    if function is None:
        return None
    inner, arguments = (function.func, list(function.args)) if isinstance(function, bound) else (function, [])
    return {"module": inner.__module__, "name": inner.__qualname__, "arguments": arguments}


def _found(named: Plain) -> Callable[..., Plain]:
    return bound(getattr(import_module(named["module"]), named["name"]), *named["arguments"])


def _worked(asked: bytes, tables: Iterable[RecordBatch]) -> Iterator[RecordBatch]:
    """On a worker: the results of its batches; all but the last are empty where they can be added."""
    arrow, plain = import_module("pyarrow"), of_bytes(asked)
    job, run = of_bytes(bytes.fromhex(plain["job"])), _found(plain["partial"])
    add = None if plain["add"] is None else _found(plain["add"])
    total: Plain | None = None
    rows = [row for table in tables for row in table.to_pylist()]
    for place, row in enumerate(rows):
        try:
            result = run(job, of_bytes(row["content"])["batch"])
            total = result if add is None or total is None else add([total, result])
            content = b"" if add is not None and place + 1 < len(rows) else to_bytes(total)
        except TercetError as error:
            content = to_bytes({"error": type(error).__name__, "says": str(error)})
        yield arrow.RecordBatch.from_pydict(
            {"number": arrow.array([row["number"]], arrow.int32()), "content": arrow.array([content], arrow.binary())}
        )


def _result(content: bytes) -> Plain | None:
    """What a worker sent: nothing, a result, or an error, which is raised again."""
    if not content:
        return None
    plain = of_bytes(content)
    if "error" in plain:
        raise getattr(errors, plain["error"], TercetError)(plain["says"])
    return plain


def _failure(line: str) -> TercetError:
    if "No module named" in line:
        return InputError(f"The Spark workers cannot run: {line}. pip install 'tercet[spark]' on all workers.")
    return TercetError(f"The Spark job failed: {line}")


def _last_line(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    told = [line for line in lines if "Error:" in line or "Exception:" in line]
    return (told or lines or [type(error).__name__])[-1]
