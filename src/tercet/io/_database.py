"""duckdb as the engine behind text, Parquet and joins: nothing sniffed, nothing guessed, nothing fetched."""

from __future__ import annotations

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from tercet.io._plain_files import Progress

_EVERY = 0.1  # seconds between two reports of progress


@contextmanager
def connected(limit: int | None = None, *, spill: bool = True) -> Iterator[DuckDBPyConnection]:
    """A private database in memory: no extension is loaded or installed, whatever is spilled goes at the end.

    Without `spill` nothing is written anywhere, so a process that is killed leaves nothing behind.
    """
    import duckdb

    with tempfile.TemporaryDirectory(prefix="tercet-spill-") if spill else nullcontext("") as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "temp_directory": folder,
            "python_enable_replacements": "false",
        }
        if limit is not None:
            settings["memory_limit"] = f"{max(limit, 256 << 20)}B"
        con = duckdb.connect(":memory:", config=settings)
        try:
            con.execute("SET preserve_insertion_order = true")
            yield con
        except RuntimeError as error:
            if "Query interrupted" not in str(error):
                raise
            raise KeyboardInterrupt from None  # which duckdb takes for itself while a query runs
        finally:
            con.close()


@contextmanager
def watched(con: DuckDBPyConnection, size: int, progress: Progress | None) -> Iterator[None]:
    """Reports how far the running query is, in bytes of the file it reads."""
    if progress is None:
        yield
        return
    done = threading.Event()
    con.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")

    def report() -> None:
        while not done.wait(_EVERY):
            percent = con.query_progress()
            if percent > 0:
                progress(int(size * percent / 100), size)

    watcher = threading.Thread(target=report, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        done.set()
        watcher.join()
    progress(size, size)


@contextmanager
def unglobbed(path: Path) -> Iterator[Path]:
    """The path, or a link to it whose name holds no pattern: duckdb reads *, ? and [ as wildcards."""
    if not set("*?[{\\") & set(str(path)):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="tercet-link-") as folder:
        link = Path(folder) / "file"
        link.symlink_to(path)
        yield link


def quoted(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
