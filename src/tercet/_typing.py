"""Names for the types that signatures use everywhere."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

__all__ = ["Counts", "Floats"]

Floats: TypeAlias = NDArray[np.float64]
Counts: TypeAlias = NDArray[Any]  # int64, or Python's integers where a sum could leave 64 bits
