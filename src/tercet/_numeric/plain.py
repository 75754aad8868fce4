"""Results as JSON knows them."""

from __future__ import annotations

import math
from dataclasses import fields
from typing import Any

import numpy as np


def plain(value: Any, leave_out: tuple[str, ...] = ()) -> Any:
    """Facts as JSON knows them: infinities as text, nan (undefined) as null, what is empty left out."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None if math.isnan(value) else ("inf" if value > 0.0 else "-inf")
    if isinstance(value, np.ndarray):
        return value.tolist() if value.size == 0 or np.isfinite(value).all() else [plain(v) for v in value.tolist()]
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if hasattr(value, "_asdict"):
        return _facts(value._asdict())
    if hasattr(value, "__dataclass_fields__"):
        names = [f.name for f in fields(value) if f.name not in leave_out and not f.name.startswith("_")]
        return _facts({name: getattr(value, name) for name in names})
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return value


def _facts(items: dict[str, Any]) -> dict[str, Any]:
    return {
        key: plain(item)
        for key, item in items.items()
        if not (key in ("reasons", "warnings", "brackets") and not item) and not (key == "name" and item is None)
    }
