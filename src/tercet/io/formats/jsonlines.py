"""JSON lines as a table: one object per line, with numbers kept as text."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path

from tercet._numeric.validation import shown
from tercet._typing import JSON
from tercet.errors import InputError
from tercet.io._limits import MOST_COLUMNS
from tercet.io._plain_files import PlainFile, temporary
from tercet.io.formats.text import Dialect


def _without_doubles(pairs: list[tuple[str, object]]) -> JSON:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise _RefusedError(f"has the key {shown(twice)} twice. Keep one of them")
    return found


class _RefusedError(Exception):
    """An object that JSON allows and a table does not."""


_EXACT = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str, object_pairs_hook=_without_doubles)


def keys_of_first(file: PlainFile) -> tuple[str, ...]:
    """The keys of the first object, which are the columns."""
    _, first = next(_objects(file), (0, {}))
    if not first:
        raise InputError(f'{file.called}: its first line must be a JSON object such as {{"score": 1.5, "label": 1}}.')
    if len(first) > MOST_COLUMNS:
        raise InputError(f"{file.called} has {len(first)} keys; more than {MOST_COLUMNS} are not read.")
    return tuple(first)


@contextmanager
def as_table(file: PlainFile, names: Sequence[str], folder: Path) -> Iterator[tuple[PlainFile, Dialect]]:
    """The file rewritten as a table with these columns."""
    with temporary(folder=folder) as path:
        with path.open("w", encoding="utf-8", newline="") as out:
            rows = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
            rows.writerow(names)
            rows.writerows([_cell(row.get(key)) for key in names] for _, row in _objects(file))
        yield replace(file, path=path), Dialect(",", tuple(names), True)


def json_place(file: PlainFile, row: int, name: str) -> tuple[str, str | None]:
    """Where a row stands, and the text of one of its values."""
    line, found = next(islice(_objects(file), row, None))
    return f"line {line}", None if found.get(name) is None else _cell(found[name])


def _objects(file: PlainFile) -> Iterator[tuple[int, JSON]]:
    with file.path.open("rb") as lines:
        for number, raw in enumerate(lines, 1):
            if raw.strip():
                yield number, _object(raw, number, file)


def _object(raw: bytes, line: int, file: PlainFile) -> JSON:
    where = f"{file.called}: line {line}"
    try:
        text = raw.decode("utf-8-sig" if line == 1 else "utf-8").strip()
        value = _EXACT.decode(text)
    except UnicodeDecodeError:
        raise InputError(f"{where} is not UTF-8 text. Convert it with iconv.") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{where}, character {error.colno} is not JSON: {error.msg}.") from None
    except _RefusedError as error:
        raise InputError(f"{where} {error}.") from None
    except RecursionError:
        raise InputError(f"{where} is nested too deeply.") from None
    if not isinstance(value, dict):
        raise InputError(f"{where} is not a JSON object but {shown(type(value).__name__)}.")
    if "\\u" in text and not _is_text(value):
        raise InputError(f"{where} holds \\u0000 or half of a surrogate pair, which is not text. Drop it.")
    return value


def _is_text(value: JSON) -> bool:
    """Whether the keys and values can be written as UTF-8 without NUL."""
    try:
        return b"\\u0000" not in json.dumps(value, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)
