"""Who belongs to whom, by hash: settles two files that hold the same trials, and leaves every other case to exact SQL.

If both files hold the same ids and no hash is there twice, equal hashes are equal ids. If they do not, all that
do not match would have to collide in pairs for the match to look perfect: once in 2^64 for a single one.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
Rows = NDArray[np.int64]


def perfect_match(left: Hashes, right: Hashes) -> Rows | None:
    """For every row of the left the row of the right with its hash; None unless each has exactly one partner."""
    if len(left) != len(right) or len(left) == 0:
        return None
    (ours, some), (theirs, _) = _by_hash(left), _by_hash(right)
    if len(some) and len(np.unique(left[ours[some]])) < len(some):
        return None  # a hash twice
    off = np.flatnonzero(left[ours] != right[theirs])
    if len(off):  # rows whose hashes share their leading bits may stand in another order
        ours[off] = ours[off][np.argsort(left[ours[off]])]
        theirs[off] = theirs[off][np.argsort(right[theirs[off]])]
        if np.any(left[ours[off]] != right[theirs[off]]):
            return None
    partner = np.empty(len(left), np.int64)
    partner[ours] = theirs
    return partner


def _by_hash(hashes: Hashes) -> tuple[Rows, Rows]:
    """The rows in the order of their hashes' leading bits, and the places where neighbours share these.

    The row number takes the place of the trailing bits, so that one np.sort does what argsort needs ten times as
    long for.
    """
    low = np.uint64((1 << len(hashes).bit_length()) - 1)
    packed = np.sort((hashes & ~low) | np.arange(len(hashes), dtype=np.uint64))
    same = (packed[1:] & ~low) == (packed[:-1] & ~low)
    some = np.flatnonzero(np.append(same, False) | np.append(False, same)) if same.any() else np.zeros(0, np.int64)
    return (packed & low).astype(np.int64), some
