"""The JSON that tercet writes, described once: the published JSON Schemas, and the check of what is read back.

`result` is what `tercet evaluate --json` prints, `comparison` what `tercet compare --json` prints, `model` the frame of
every saved model; what other commands print goes by their names (`select`, `rule-fit`). The schemas are open: a later
tercet may add fields without a new `schema_version`, and a reader ignores what it does not know. A field that is
described here keeps its name and type until `schema_version` changes.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import NoReturn

from tercet._numeric.validation import shown, shown_path
from tercet._typing import JSON, Value
from tercet.errors import InputError
from tercet.report.command_schemas import FIELDS

Schema = JSON
VERSION = 1
NAMES = ("result", "comparison", "model", *FIELDS)
_LARGEST = 1 << 30  # bytes; results are thinned to a few megabytes
_DIALECT = "https://json-schema.org/draft/2020-12/schema"

_TEXT: Schema = {"type": "string"}
_COUNT: Schema = {"type": "number", "minimum": 0}  # weights may be fractions
_RATE: Schema = {"type": ["number", "null"], "minimum": 0, "maximum": 1}
_FINITE: Schema = {"type": "number"}
_NUMBER: Schema = {"anyOf": [{"type": ["number", "null"]}, {"enum": ["inf", "-inf"]}]}  # null: undefined, see reasons
_TEXTS: Schema = {"type": "object", "additionalProperties": _TEXT}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _list(of: Schema, **more: int) -> Schema:
    return {"type": "array", "items": of, **more}


def _object(required: Schema, optional: Schema | None = None, *, equal: tuple[str, ...] = ()) -> Schema:
    """An object; `equal` are lists that must be of one length (a keyword of ours, which other validators ignore)."""
    found: Schema = {"type": "object", "properties": required | (optional or {}), "required": sorted(required)}
    return found | ({"x-equal-lengths": list(equal)} if equal else {})


_ENDS = _list(_NUMBER, minItems=2, maxItems=2)
_MATRIX = _list(_list(_NUMBER, minItems=1), minItems=1)
_PAIR = _list(_COUNT, minItems=2, maxItems=2)
_COUNTS = _list(_list(_COUNT, minItems=1), minItems=1)


def _with_ends(numbers: Schema) -> Schema:
    """The numbers, and beside each the ends of its interval."""
    return numbers | {f"{name}_ci": _ENDS for name in numbers}


_TWO_CLASS_NUMBERS = {"auc": _NUMBER, "cllr": _NUMBER, "min_cllr": _NUMBER}
_RESULT_NUMBERS: Schema = {"fnr": _RATE, "fpr": _RATE} | dict.fromkeys(
    ("dcf_u", "dcf", "min_dcf", "min_dcf_u", "calibration_loss"), _NUMBER
)
_CLASS_NUMBERS = dict.fromkeys(("accuracy", "log_loss", "normalised_cross_entropy", "brier"), _NUMBER)
_SIDE = _object({"below": _COUNT, "bins": _list(_COUNT), "above": _COUNT})
_POINTS = {"thresholds": _list(_NUMBER, minItems=1), "misses": _list(_COUNT), "false_alarms": _list(_COUNT)}
_ROC = ("fpr", "fnr", "low", "high")
_RELIABILITY = ("forecast", "observed", "low", "high")
_RESAMPLING: Schema = {
    "methods": {"type": "object", "additionalProperties": _TEXT},
    "notes": _list(_TEXT),
    "by": {"type": ["array", "string", "null"]},
}

_DEFINITIONS: dict[str, Schema] = {
    "file": _object({"name": _TEXT, "sha256": _TEXT}),
    "input": _object(
        {"trials": _COUNT},
        {
            "files": _list(_ref("file")),
            "targets": _COUNT,
            "nontargets": _COUNT,
            "classes": {"type": "object", "additionalProperties": _COUNT},
        },
    ),
    "application": _object(
        {
            "prior": {"type": "number", "minimum": 0, "maximum": 1},
            "cost_fn": _COUNT,
            "cost_fp": _COUNT,
            "threshold": _NUMBER,
            "min_threshold": _NUMBER,
            "dcf": _NUMBER,
            "min_dcf": _NUMBER,
        },
        _with_ends(_RESULT_NUMBERS)
        | {
            "name": {"type": ["string", "null"]},
            "effective_prior": {"type": "number", "minimum": 0, "maximum": 1},
            "threshold_score": _NUMBER,
            "min_threshold_llr": _NUMBER,
            "confusion": {"anyOf": [_list(_PAIR, minItems=2, maxItems=2), {"type": "null"}]},
            "reasons": _TEXTS,
            "warnings": _list(_TEXT),
        },
    ),
    "class_application": _object(
        {
            "priors": _list({"type": "number", "minimum": 0, "maximum": 1}, minItems=1),
            "costs": _MATRIX,
            "confusion": _COUNTS,
            "risk": _NUMBER,
            "dcf": _NUMBER,
            "dummy_cost": _COUNT,
            "dummy_action": _TEXT,
        },
        {
            "name": {"type": ["string", "null"]},
            "actions": _list(_TEXT, minItems=1),
            "contributions": {"anyOf": [_list(_NUMBER), {"type": "null"}]},
            "contributions_ci": {"type": "array"},
            "risk_ci": _ENDS,
            "dcf_ci": _ENDS,
            "min_risk": _NUMBER,
            "min_dcf": _NUMBER,
            "min_risk_bound": _NUMBER,
            "reasons": _TEXTS,
            "warnings": _list(_TEXT),
        },
        equal=("actions", "costs", "confusion"),
    ),
    "intervals": _object({"level": {"type": "number", "minimum": 0, "maximum": 1}}, _RESAMPLING),
    "bayes_plot": _object(
        {"log_odds": _list(_FINITE, minItems=1), "min_dcf": _list(_NUMBER)},
        {
            "dcf": {"anyOf": [_list(_NUMBER), {"type": "null"}]},
            "dcf_ci": _list(_list(_NUMBER), minItems=2, maxItems=2),
            "min_dcf_ci": _list(_list(_NUMBER), minItems=2, maxItems=2),
        },
        equal=("log_odds", "min_dcf", "dcf"),
    ),
    "curve": _object(
        {
            "targets": {"type": "number", "minimum": 0},
            "nontargets": {"type": "number", "minimum": 0},
            **_POINTS,
            "hull": _object(_POINTS, equal=tuple(_POINTS)),
        },
        {
            "unit": {"type": "number"},
            "complete": {"type": "boolean"},
            "private": _object({"least": _FINITE, "rate_error": _FINITE}, {"cost_error": _FINITE}),
        },
        equal=tuple(_POINTS),
    ),
    "histogram": _object({"edges": _list(_FINITE, minItems=2), "targets": _SIDE, "nontargets": _SIDE}),
    "two_class_system": _object(
        {
            "meaning": _TEXT,
            "input": _ref("input"),
            "eer": _object({"value": _RATE, "definition": _TEXT}, {"threshold": _NUMBER, "randomisation": _NUMBER}),
            "applications": _list(_ref("application")),
        },
        _with_ends(_TWO_CLASS_NUMBERS)
        | {
            "name": {"type": ["string", "null"]},
            "class_names": _list(_TEXT, minItems=2, maxItems=2),
            "eer_ci": _ENDS,
            "bayes_plot": _ref("bayes_plot"),
            "curve": _ref("curve"),
            "histogram": _ref("histogram"),
            "intervals": _ref("intervals"),
            "bands": _ref("bands"),
            "calibration": _object({"method": _TEXT, "files": _list(_ref("file"))}, {"trials": _COUNT}),
            "reasons": _TEXTS,
            "brackets": {"type": "object", "additionalProperties": _ENDS},
        },
    ),
    "multiclass_system": _object(
        {
            "meaning": _TEXT,
            "input": _ref("input"),
            "classes": _list(_TEXT, minItems=1),
            "accuracy": _NUMBER,
            "applications": _list(_ref("class_application")),
        },
        _with_ends(_CLASS_NUMBERS)
        | {
            "name": {"type": ["string", "null"]},
            "actions": _list(_TEXT, minItems=1),
            "confusion": _COUNTS,
            "versus": _list(_ref("two_class_system")),
            "intervals": _ref("intervals"),
            "reasons": _TEXTS,
            "posteriors": _object(
                {"labels": _list({"type": "integer", "minimum": 0}), "log_likelihoods": _MATRIX},
                {"weights": {"anyOf": [_list(_COUNT), {"type": "null"}]}},
                equal=("labels", "log_likelihoods"),
            ),
        },
    ),
    "system": {"if": {"required": ["classes"]}, "then": _ref("multiclass_system"), "else": _ref("two_class_system")},
    "condition_row": _object(
        {"input": _ref("input"), "applications": _list({"anyOf": [_ref("application"), _ref("class_application")]})},
        _with_ends(_TWO_CLASS_NUMBERS | _CLASS_NUMBERS)
        | {"value": {"type": ["string", "number", "null"]}, "name": {"type": ["string", "null"]}}
        | {"intervals": _ref("intervals"), "reasons": _TEXTS},
    ),
    "condition": _object(
        {"system": {"type": ["string", "null"]}, "column": _TEXT, "rows": _list(_ref("condition_row"))},
        {name: {"anyOf": [_ref("condition_row"), {"type": "null"}]} for name in ("pooled", "equalised")},
    ),
    "bands": _object(
        {"level": {"type": "number", "minimum": 0, "maximum": 1}},
        {
            "roc": _object({name: _list(_NUMBER) for name in _ROC}, equal=_ROC),
            "reliability": _object(
                {"edges": _list(_NUMBER), **{name: _list(_NUMBER) for name in _RELIABILITY}}, equal=_RELIABILITY
            ),
        },
    ),
}


def _document(title: str, required: Schema, optional: Schema, definitions: dict[str, Schema]) -> Schema:
    frame: Schema = {"schema_version": {"enum": [VERSION]}, "tercet": _TEXT}
    found = {"$schema": _DIALECT, "title": title, **_object(frame | required, optional)}
    return found | ({"$defs": definitions} if definitions else {})


@cache
def schema(name: str) -> Schema:
    """The JSON Schema of this name: "result", "comparison" or "model".

    >>> schema("result")["properties"]["schema_version"]
    {'enum': [1]}
    """
    if name == "result":
        required: Schema = {"systems": _list(_ref("system"), minItems=1)}
        optional = {"command": _list(_TEXT), "title": _TEXT, "conditions": _list(_ref("condition"))}
        optional |= {"default_applications": {"type": "boolean"}, "comparison": {"type": "object"}}
        return _document("A result of tercet evaluate --json", required, optional, _DEFINITIONS)
    if name == "comparison":
        return _comparison()
    if name == "model":
        required = {"method": _TEXT, "parameters": {"type": "object"}, "training": {"type": "object"}}
        return _document("A saved model of tercet", required, {}, {})
    if name in FIELDS:
        words = name if name == "sample-size" else name.replace("-", " ", 1)
        return _document(f"What tercet {words} --json prints", FIELDS[name], {}, {})
    raise InputError(f"there is a schema for {', '.join(NAMES)}, none for {shown(name)}.")


def _comparison() -> Schema:
    entry: Schema = {"type": "object"}
    found = _object(
        {"names": _list(_TEXT, minItems=2), "level": _FINITE, "differences": _list(entry)},
        {
            "ranks": entry,
            "values": entry,
            "tests": _list(entry),
            "schema_version": {"enum": [VERSION]},
            "tercet": _TEXT,
        },
    )
    return {"$schema": _DIALECT, "title": "A result of tercet compare --json", **found}


def published(name: str) -> Schema:
    """The schema of this name as it is shipped with the package."""
    words = (files("tercet.report") / "schema" / f"{name}.json").read_text(encoding="utf-8")
    found: Schema = json.loads(words)
    return found


def read_result(path: str) -> Schema:
    """A saved result of `tercet evaluate --json`, checked against its schema; "-" is standard input.

    Raises
    ------
    InputError
        The file cannot be read, is not JSON, or breaks the schema: the message names the place.
    """
    return _sound_result(
        _parsed(_content(path, shown_path(path)[1:-1]), shown_path(path)[1:-1]), shown_path(path)[1:-1]
    )


def read_document(path: str) -> Schema:
    """A saved result of `tercet evaluate --json` or of `tercet compare --json`, checked; "-" is standard input."""
    called = shown_path(path)[1:-1]
    return sound_document(_parsed(_content(path, called), called), called)


def sound_document(found: object, called: str) -> Schema:
    """A result or a comparison that is sound; anything else is refused."""
    if not isinstance(found, dict) or "differences" not in found:
        return _sound_result(found, called)
    _check_version(found, called)
    for place, problem in faults(found, schema("comparison"), place="the comparison"):
        raise InputError(f"{called} is not a sound result of `tercet compare --json`: {place} {problem}.")
    return found


def _sound_result(found: object, called: str) -> Schema:
    if not isinstance(found, dict) or "systems" not in found or "schema_version" not in found:
        raise InputError(f"{called} is not a result of `tercet evaluate --json` (schema version {VERSION}).")
    _check_version(found, called)
    for place, problem in faults(found, schema("result")):
        raise InputError(f"{called} is not a sound result of `tercet evaluate --json`: {place} {problem}.")
    return found


def read_comparison(path: str) -> Schema:
    """A saved result of `tercet compare --json`, checked against its schema.

    Raises
    ------
    InputError
        The file cannot be read, is not JSON, or breaks the schema: the message names the place.
    """
    called = shown_path(path)[1:-1]
    found = _parsed(_content(path, called), called)
    for place, problem in faults(found, schema("comparison")):
        raise InputError(f"{called} is not a result of `tercet compare --json`: {place} {problem}.")
    checked: Schema = found
    return checked


def _check_version(found: Schema, called: str) -> None:
    version = found.get("schema_version", VERSION)
    if version != VERSION or isinstance(version, bool):
        writer = found.get("tercet")
        by = f" (written by tercet {shown(writer)[1:-1]})" if isinstance(writer, str) else ""
        raise InputError(
            f"{called} has schema version {shown(version)}{by}; this tercet reads version {VERSION}. "
            f"Evaluate again with this version."
        )


def _content(path: str, called: str) -> bytes:
    if path == "-":
        return sys.stdin.buffer.read(_LARGEST)
    try:
        if Path(path).stat().st_size > _LARGEST:
            raise InputError(f"{called} is larger than any result that tercet writes (1 GB).")
        return Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise InputError(f"{called} cannot be read: {getattr(error, 'strerror', None) or error}.") from None


def _parsed(content: bytes, called: str) -> Value:
    try:
        return json.loads(content.decode("utf-8-sig"), parse_constant=_not_json, object_pairs_hook=_once)
    except (ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{called} is not a result of `tercet evaluate --json`: {_short(error)}.") from None


def _short(error: BaseException) -> str:
    if isinstance(error, UnicodeDecodeError):
        return "it is not text in UTF-8"
    if isinstance(error, RecursionError):
        return "it is nested too deeply"
    return shown(str(error))[1:-1]


def _not_json(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _once(pairs: list[tuple[str, object]]) -> JSON:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a field occurs twice")
    return found


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
