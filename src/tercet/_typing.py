"""Names for the types that signatures use everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["JSON", "Array", "Counts", "EerDefinition", "Facts", "Floats"]

Floats: TypeAlias = NDArray[np.float64]
Array: TypeAlias = NDArray[Any]  # of any kind of value: labels, ids, group columns
Counts: TypeAlias = Array  # int64, or Python's integers where a sum could leave 64 bits
JSON: TypeAlias = dict[str, Any]  # an object as Python's json reads and writes it
Facts: TypeAlias = Mapping[str, Any]  # the same, only to be read
EerDefinition: TypeAlias = Literal["rocch", "interpolated", "nearest"]
