"""The JSON that tercet writes, described once by schemas.json, and the validation of files that are read.

`result` is what `tercet evaluate --json` prints, `comparison` what `tercet compare --json` prints, `model` the frame of
every saved model; what other commands print goes by their names (`select`, `rule-fit`): the fields that are always
there. The schemas are open: a later tercet may add fields without a new `schema_version`, and a reader ignores unknown
fields. A field that is described keeps its name and type until `schema_version` changes. "x-equal-lengths" names lists
that must be of one length, an extension that other validators ignore.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path

from tercet._numeric.plain import strict_json
from tercet._numeric.validation import shown, shown_path
from tercet._typing import JSON, Value
from tercet.errors import InputError

Schema = JSON
VERSION = 1
_LARGEST = 1 << 30  # bytes; results are thinned to a few megabytes


@cache
def published() -> dict[str, Schema]:
    """The schemas by name, from the one file of the package that describes them."""
    found: dict[str, Schema] = json.loads((files("tercet.report") / "schemas.json").read_text(encoding="utf-8"))
    return found


def schema(name: str) -> Schema:
    """The JSON Schema of this name: "result", "comparison", "model", or that of a command.

    >>> schema("result")["properties"]["schema_version"]
    {'enum': [1]}
    """
    if name not in published():
        raise InputError(f"there is a schema for {', '.join(published())}, none for {shown(name)}.")
    return published()[name]


def read_result(path: str) -> Schema:
    """A saved result of `tercet evaluate --json`, checked against its schema; "-" is standard input.

    Raises
    ------
    InputError
        The file cannot be read, is not JSON, or breaks the schema: the message names the place.
    """
    return _sound(*_read(path), "result")


def read_document(path: str) -> Schema:
    """A saved result of `tercet evaluate --json` or of `tercet compare --json`, checked; "-" is standard input."""
    return sound_document(*_read(path))


def sound_document(found: object, called: str) -> Schema:
    """A valid result or comparison; anything else is refused."""
    return _sound(found, called, "comparison" if isinstance(found, dict) and "differences" in found else "result")


_COMMANDS = {"result": "tercet evaluate --json", "comparison": "tercet compare --json"}


def _sound(found: object, called: str, kind: str) -> Schema:
    """A valid document of this kind; anything else is refused."""
    needed = ("systems", "schema_version") if kind == "result" else ("differences",)
    if not isinstance(found, dict) or not all(name in found for name in needed):
        raise InputError(f"{called} is not a result of `{_COMMANDS[kind]}` (schema version {VERSION}).")
    _check_version(found, called)
    for place, problem in faults(found, schema(kind), place=f"the {kind}"):
        raise InputError(f"{called} is not a valid result of `{_COMMANDS[kind]}`: {place} {problem}.")
    return found


def read_comparison(path: str) -> Schema:
    """A saved result of `tercet compare --json`, checked against its schema.

    Raises
    ------
    InputError
        The file cannot be read, is not JSON, or breaks the schema: the message names the place.
    """
    return _sound(*_read(path), "comparison")


def _check_version(found: Schema, called: str) -> None:
    version = found.get("schema_version", VERSION)
    if version != VERSION or isinstance(version, bool):
        writer = found.get("tercet")
        by = f" (written by tercet {shown(writer)[1:-1]})" if isinstance(writer, str) else ""
        raise InputError(
            f"{called} has schema version {shown(version)}{by}; this tercet reads version {VERSION}. "
            f"Evaluate again with this version."
        )


def _read(path: str) -> tuple[Value, str]:
    """What a file of JSON holds, and what to call the file; "-" is standard input."""
    called = shown_path(path)[1:-1]
    try:
        if path == "-":
            content = sys.stdin.buffer.read(_LARGEST)
        elif Path(path).stat().st_size > _LARGEST:
            raise InputError(f"{called} is larger than any result that tercet writes (1 GB).")
        else:
            content = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise InputError(f"{called} cannot be read: {getattr(error, 'strerror', None) or error}.") from None
    try:
        found = strict_json(content.decode("utf-8-sig"))
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{called} is not a result of `tercet evaluate --json`: {_short(error)}.") from None
    return found, called


def _short(error: BaseException) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not text in UTF-8"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return shown(str(error))[1:-1]


def faults(
    value: object, wanted: Schema, root: Schema | None = None, place: str = "the result"
) -> Iterator[tuple[str, str]]:
    """Every place where a value breaks the schema, and how; the part of JSON Schema that tercet's own schemas use."""
    root = wanted if root is None else root
    if "$ref" in wanted:
        wanted = root["$defs"][wanted["$ref"].rpartition("/")[2]]
    if "if" in wanted:
        branch = wanted["then"] if isinstance(value, dict) and "classes" in value else wanted["else"]
        yield from faults(value, branch, root, place)
        return
    if "anyOf" in wanted:
        if all(any(True for _ in faults(value, one, root, place)) for one in wanted["anyOf"]):
            yield place, f"must not be {shown(value)}"
        return
    if problem := _plain_fault(value, wanted):
        yield place, problem
        return
    if isinstance(value, dict):
        yield from _object_faults(value, wanted, root, place)
    elif isinstance(value, list) and "items" in wanted:
        for number, one in enumerate(value):
            yield from faults(one, wanted["items"], root, f"{place}[{number}]")


_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "number": (int, float), "integer": (int,),
    "boolean": (bool,), "null": (type(None),),
}  # fmt: skip


def _plain_fault(value: object, wanted: Schema) -> str | None:
    """What is wrong with a value itself: its type, its range, its length."""
    if "enum" in wanted:
        known = any(type(value) is type(one) and value == one for one in wanted["enum"])
        return None if known else f"must be one of {wanted['enum']}, not {shown(value)}"
    kinds = wanted.get("type", [])
    kinds = [kinds] if isinstance(kinds, str) else kinds
    if kinds and not any(_is(value, kind) for kind in kinds):
        return f"must be {' or '.join(kinds)}, not {shown(value)}"
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not -math.inf < value < math.inf or abs(value) > sys.float_info.max:
            return "must be a finite number"
        if not wanted.get("minimum", -math.inf) <= value <= wanted.get("maximum", math.inf):
            return f"is out of range: {shown(value)}"
    if isinstance(value, list) and not wanted.get("minItems", 0) <= len(value) <= wanted.get("maxItems", math.inf):
        return f"has {len(value)} entries, which cannot be"
    return None


def _is(value: object, kind: str) -> bool:
    return isinstance(value, _TYPES[kind]) and (kind == "boolean" or not isinstance(value, bool))


def _object_faults(value: JSON, wanted: Schema, root: Schema, place: str) -> Iterator[tuple[str, str]]:
    for name in wanted.get("required", ()):
        if name not in value:
            yield place, f"lacks {shown(name)}"
            return
    known, other = wanted.get("properties", {}), wanted.get("additionalProperties")
    for name, one in value.items():
        rule = known.get(name, other)
        if rule is not None:
            yield from faults(one, rule, root, f"{place}.{shown(name)[1:-1]}")
    lengths = {len(value[name]) for name in wanted.get("x-equal-lengths", ()) if isinstance(value.get(name), list)}
    if len(lengths) > 1:
        yield place, f"has lists of different lengths: {', '.join(wanted['x-equal-lengths'])}"
