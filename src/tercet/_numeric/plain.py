"""Results as JSON knows them."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import fields
from functools import cache
from typing import cast

import numpy as np

from tercet._typing import JSON, Value

_AS_THEY_ARE = (str, int, bool)


def plain(value: object, leave_out: tuple[str, ...] = ()) -> Value:
    """Facts as JSON knows them: infinities as text, nan (undefined) as null, what is empty left out."""
    if value is None or type(value) in _AS_THEY_ARE:
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None if math.isnan(value) else ("inf" if value > 0.0 else "-inf")
    if isinstance(value, np.ndarray):
        return value.tolist() if value.size == 0 or np.isfinite(value).all() else [plain(v) for v in value.tolist()]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if hasattr(value, "_asdict"):
        return _facts(value._asdict())
    if hasattr(value, "__dataclass_fields__"):
        return _facts({name: getattr(value, name) for name in _names(cast("Hashable", type(value)), leave_out)})
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


@cache
def _names(kind: Hashable, leave_out: tuple[str, ...]) -> list[str]:
    found = fields(kind)  # type: ignore[arg-type]
    return [one.name for one in found if one.name not in leave_out and not one.name.startswith("_")]


def _facts(items: JSON) -> JSON:
    return {
        key: plain(item)
        for key, item in items.items()
        if not (key in ("reasons", "warnings", "brackets") and not item) and not (key == "name" and item is None)
    }
