"""duckdb as the engine behind text, Parquet and joins: nothing sniffed, nothing guessed, nothing fetched."""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

    from tercet.io._plain_files import Progress

_EVERY = 0.1  # seconds between two reports of progress


@contextmanager
def connected(
    limit: int | None = None,
    *,
    spill: bool = True,
    only: Sequence[Path] | None = None,
    more: Mapping[str, str | int] | None = None,
) -> Iterator[DuckDBPyConnection]:
    """A private database in memory: no extension is loaded or installed, spilled data are removed at the end.

    Without `spill` nothing is written anywhere, so a process that is killed leaves nothing behind. With `only` no other
    files and folders can be reached, and no setting can be changed any more. `more` are further settings.
    """
    import duckdb

    with tempfile.TemporaryDirectory(prefix="tercet-spill-") if spill else nullcontext("") as folder:
        settings: dict[str, str | bool | int | float | list[str]] = {
            "autoinstall_known_extensions": "false",
            "autoload_known_extensions": "false",
            "allow_community_extensions": "false",
            "temp_directory": folder,
            "python_enable_replacements": "false",
            **(more or {}),
        }
        if limit is not None:
            settings["memory_limit"] = f"{max(limit, 256 << 20)}B"
        con = duckdb.connect(":memory:", config=settings)
        try:
            con.execute("SET preserve_insertion_order = true")
            if only is not None:
                _restrict(con, only)
            yield con
        except RuntimeError as error:
            if "Query interrupted" not in str(error):
                raise
            raise KeyboardInterrupt from None  # which duckdb takes for itself while a query runs
        finally:
            con.close()


def _restrict(con: DuckDBPyConnection, only: Sequence[Path]) -> None:
    """Restricts the database to these files and folders, and locks its settings."""
    folders = ", ".join(quoted(str(path)) for path in only if path.is_dir())
    files = ", ".join(quoted(os.path.realpath(path)) for path in only if not path.is_dir())
    con.execute("SET enable_progress_bar = true; SET enable_progress_bar_print = false")
    con.execute(f"SET allowed_directories = [{folders}]; SET allowed_paths = [{files}]")
    con.execute("SET enable_external_access = false; SET lock_configuration = true")


@contextmanager
def watched(con: DuckDBPyConnection, size: int, progress: Progress | None) -> Iterator[None]:
    """Reports how far the running query is, in bytes of the file it reads."""
    if progress is None:
        yield
        return
    done = threading.Event()

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


def is_pattern(path: Path) -> bool:
    """Whether duckdb would interpret the name as a pattern."""
    return bool(set("*?[{\\") & set(str(path)))


def link_in(folder: Path, path: Path) -> Path:
    """A link to a file, in a folder, under a plain name."""
    link = Path(tempfile.mktemp(prefix="file-", dir=folder))
    link.symlink_to(path)
    return link


def quoted(text: str) -> str:
    """A text as an SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def identifier(name: str) -> str:
    """A name as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'
