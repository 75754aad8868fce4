"""JSON lines as a table: one object a line, its numbers kept as the text they are."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any

from tercet._numeric.validation import shown
from tercet.errors import InputError
from tercet.io._limits import MOST_COLUMNS
from tercet.io._plain_files import PlainFile, temporary
from tercet.io.formats.text import Dialect

_EXACT = json.JSONDecoder(parse_float=str, parse_int=str, parse_constant=str)


@contextmanager
def as_table(file: PlainFile) -> Iterator[tuple[PlainFile, Dialect]]:
    """The file rewritten as a table whose columns are the keys of the first object."""
    objects = _objects(file)
    _, first = next(objects, (0, {}))
    if not first:
        raise InputError(f'{file.called}: its first line must be a JSON object such as {{"score": 1.5, "label": 1}}.')
    if len(first) > MOST_COLUMNS:
        raise InputError(f"{file.called} has {len(first)} keys; more than {MOST_COLUMNS} are not read.")
    with temporary() as path:
        with path.open("w", encoding="utf-8", newline="") as out:
            rows = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
            rows.writerow(first)
            rows.writerows([_cell(row.get(key)) for key in first] for _, row in _objects(file))
        yield replace(file, path=path), Dialect(",", tuple(first), True)


def line_of_object(file: PlainFile, row: int) -> int:
    """The line an object stands on."""
    return next(islice(_objects(file), row, None))[0]


def _objects(file: PlainFile) -> Iterator[tuple[int, dict[str, Any]]]:
    with file.path.open("rb") as lines:
        for number, raw in enumerate(lines, 1):
            if raw.strip():
                yield number, _object(raw, number, file)


def _object(raw: bytes, line: int, file: PlainFile) -> dict[str, Any]:
    try:
        text = raw.decode("utf-8-sig" if line == 1 else "utf-8").strip()
        value = _EXACT.decode(text)
    except UnicodeDecodeError:
        raise InputError(f"{file.called}: line {line} is not UTF-8 text. Convert it with iconv.") from None
    except json.JSONDecodeError as error:
        raise InputError(f"{file.called}: line {line}, character {error.colno} is not JSON: {error.msg}.") from None
    except RecursionError:
        raise InputError(f"{file.called}: line {line} is nested too deeply.") from None
    if not isinstance(value, dict):
        raise InputError(f"{file.called}: line {line} is not a JSON object but {shown(type(value).__name__)}.")
    return value


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else value if isinstance(value, str) else json.dumps(value)
