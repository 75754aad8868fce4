"""Names for the types that signatures use everywhere."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["JSON", "Array", "Counts", "EerDefinition", "Facts", "Floats", "Reals", "Value"]

Floats: TypeAlias = NDArray[np.float64]
Reals: TypeAlias = float | Floats  # one number, or one for each point of a curve
Array: TypeAlias = NDArray[Any]  # of any kind of value: labels, ids, group columns
Counts: TypeAlias = Array  # int64, or Python's integers where a sum could leave 64 bits
Value: TypeAlias = Any  # what JSON or an option of the command line holds; not a union: see docs/architecture.md
JSON: TypeAlias = dict[str, Value]  # an object as Python's json reads and writes it
Facts: TypeAlias = Mapping[str, Value]  # the same, read-only
EerDefinition: TypeAlias = Literal["rocch", "interpolated", "nearest"]
