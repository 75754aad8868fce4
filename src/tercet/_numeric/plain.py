"""Results as values that JSON can hold."""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping
from dataclasses import fields
from functools import cache
from typing import NoReturn, cast

import numpy as np

from tercet._typing import JSON, Value

_AS_THEY_ARE = frozenset((str, int, bool, type(None)))
_LEFT_OUT_IF_EMPTY = frozenset(("reasons", "warnings", "brackets"))


def plain(value: object, leave_out: tuple[str, ...] = ()) -> Value:
    """Facts as values for JSON: infinities as text, nan (undefined) as null, empty entries left out."""
    if type(value) in _AS_THEY_ARE or (type(value) is float and math.isfinite(value)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None if math.isnan(value) else ("inf" if value > 0.0 else "-inf")
    if isinstance(value, np.ndarray):
        return value.tolist() if value.size == 0 or np.isfinite(value).all() else [plain(v) for v in value.tolist()]
    if hasattr(value, "_asdict"):
        return _facts(value._asdict())
    if hasattr(value, "__dataclass_fields__"):
        return _facts({name: getattr(value, name) for name in _names(cast("Hashable", type(value)), leave_out)})
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return value


def strict_json(text: str | bytes) -> Value:
    """What a JSON text holds; NaN, infinities and fields that occur twice, which Python reads, are ValueErrors."""
    return json.loads(text, parse_constant=_not_json, object_pairs_hook=_once)


def _not_json(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _once(pairs: list[tuple[str, object]]) -> JSON:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a field occurs twice")
    return found


@cache
def _names(kind: Hashable, leave_out: tuple[str, ...]) -> list[str]:
    found = fields(kind)  # type: ignore[arg-type]
    return [one.name for one in found if one.name not in leave_out and not one.name.startswith("_")]


def _facts(items: JSON) -> JSON:
    return {
        key: plain(item)
        for key, item in items.items()
        if not (key in _LEFT_OUT_IF_EMPTY and not item) and not (key == "name" and item is None)
    }
