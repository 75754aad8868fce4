"""Whole numbers that do not fit into 64 bits, as two columns of int64, and exact sums of products of them.

Weights that are doubles are whole multiples of a power of two; their running totals need 53 bits, the bits between the
largest and the smallest weight, and those of the number of rows. Two limbs hold 39 + 62 bits, which is exact for ten
million full-length doubles whose sizes differ by up to 2**24; Python's integers take over beyond.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.parallel import over_parts
from tercet._typing import Array, Counts, Floats

LIMB = 39  # bits of the lower limb: two of them still add within two pieces of 20 bits
INT64_BITS = 62
EXACT_BITS = 40  # of two factors together: 2**13 such products add exactly in a double, 53 bits
PIECE = 20  # bits of a factor
BLOCK = 1 << 16  # rows at a time; short blocks would make threads wait for each other
_ADDED = 1 << 13  # rows that one matrix product adds; OpenBLAS starts no threads for so few
ROUNDED_ONCE = LIMB + 53  # totals of this many bits have an upper limb that is a double
_MASK = (1 << LIMB) - 1
_SCALES = 900  # powers of two up to here, and those of one more limb, are doubles that multiply without rounding
Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Wide:
    """A column of whole numbers, high x 2**LIMB + low. Running totals have 0 <= low < 2**LIMB.

    >>> column = Wide.of([2**70, 3])
    >>> column[0] == 2**70, column.objects().tolist() == [2**70, 3]
    (True, True)
    """

    high: Integers
    low: Integers

    @classmethod
    def of(cls, values: object) -> Wide:
        """Whole numbers below 2**(LIMB + 62) as two limbs."""
        column = np.asarray(values)
        return cls((column >> LIMB).astype(np.int64), (column & _MASK).astype(np.int64))

    @classmethod
    def floor(cls, values: Floats) -> Wide:
        """Doubles >= 0, below 2**(LIMB + 62), rounded down."""
        high = np.floor(values * 2.0**-LIMB)
        return cls(high.astype(np.int64), (values - high * 2.0**LIMB).astype(np.int64))

    def __len__(self) -> int:
        return len(self.high)

    @overload
    def __getitem__(self, places: Array | slice) -> Counts: ...
    @overload
    def __getitem__(self, places: int) -> int: ...
    def __getitem__(self, places: Array | slice | int) -> Counts | int:
        """The values at these places: Python's integers, one or an array of them."""
        high, low = self.high[places], self.low[places]
        if isinstance(high, np.ndarray):
            return np.asarray((high.astype(np.object_) << LIMB) + low.astype(np.object_))
        return (int(high) << LIMB) + int(low)

    def objects(self) -> Counts:
        """All values as an array of Python's integers."""
        return np.asarray(self[:])

    def take(self, places: Array | slice) -> Wide:
        """The values at these places, still as limbs."""
        return Wide(self.high[places], self.low[places])

    def floats(self) -> Floats:
        """The values as doubles: rounded once below 2**(LIMB + 53), else off by at most 2**-52 of themselves."""
        return np.asarray(self.high * 2.0**LIMB + self.low)

    def steps(self) -> Wide:
        """The differences of neighbours in an ascending column."""
        high, low = np.diff(self.high), np.diff(self.low)
        high += low >> LIMB
        low &= _MASK
        return Wide(high, low)

    def __lshift__(self, by: int) -> Wide:
        """Each value times 2**by."""
        high, low = self.high, self.low
        while by:
            step = min(by, INT64_BITS - LIMB)
            low, by = low << step, by - step
            high, low = (high << step) + (low >> LIMB), low & _MASK
        return Wide(high, low)

    def searchsorted(self, values: Wide, side: Literal["left", "right"] = "left") -> NDArray[np.intp]:
        """Where each value would go in an ascending column, as numpy has it."""
        first = np.searchsorted(self.high, values.high)
        last = np.searchsorted(self.high, values.high, "right")
        while (inside := first < last).any():  # halving among the entries with the same upper limb
            middle = (first + last) // 2
            low = self.low[np.minimum(middle, len(self) - 1)]
            below = inside & ((low < values.low) if side == "left" else (low <= values.low))
            first, last = np.where(below, middle + 1, first), np.where(inside & ~below, middle, last)
        return first


def smallest_bit(weights: Floats) -> int:
    """The exponent of the largest power of two of which all these positive doubles are whole multiples.

    >>> smallest_bit(np.array([0.5, 3.0])), smallest_bit(np.array([8.0, 24.0]))
    (-1, 3)
    """

    def lowest(part: slice) -> float:
        room = np.empty((2, min(BLOCK, part.stop - part.start)), np.int64)
        return min(_lowest_bit(weights[rows], *room[:, : rows.stop - rows.start]) for rows in _blocks(part))

    return math.frexp(min(over_parts(lowest, len(weights))))[1] - 1


def _lowest_bit(weights: Floats, spare: Integers, last: Integers) -> float:
    """The least value of a last bit that is set in these doubles (overwrites what follows them)."""
    if float(weights.max()) < 2.0**52 and float(weights[0]).is_integer():
        np.copyto(spare, weights, casting="unsafe")
        if np.array_equal(spare, weights):
            together = int(np.bitwise_or.reduce(spare))
            return float(together & -together)
    bits = weights.view(np.int64)
    np.subtract(bits, 1, out=spare)
    spare &= bits  # without its last bit, unless that stands in the exponent: then the double is a power of two
    bit = np.subtract(weights, spare.view(np.float64), out=last.view(np.float64))
    np.copyto(bit, weights, where=np.bitwise_and(bits, (1 << 52) - 1, out=spare) == 0)
    return float(bit.min())


def fits_limbs(bits: int, unit: int) -> bool:
    """Whether totals of this many bits, in units of 2**unit, can be held as limbs that are made of doubles."""
    return bits <= INT64_BITS + LIMB and abs(unit) < _SCALES


Column: TypeAlias = Counts | Wide  # int64, two limbs, or Python's integers
Fetch: TypeAlias = Callable[[slice], tuple[Integers, Integers]]


def recast(column: Column, bits: int) -> Column:
    """A column of whole numbers >= 0 in a form that holds this many bits, int64 or limbs where they do."""
    if isinstance(column, Wide):
        return column if bits <= INT64_BITS + LIMB else column.objects()
    if bits <= INT64_BITS:
        return column.astype(np.int64, copy=False)
    return Wide.of(column) if bits <= INT64_BITS + LIMB else column.astype(np.object_)


def steps_of(running: Column) -> Column:
    """What running totals grow by from each to the next."""
    return running.steps() if isinstance(running, Wide) else running[1:] - running[:-1]


def joined(*columns: Column) -> Column:
    """Columns one after the other, in the widest of their forms."""
    if any(isinstance(column, Wide) for column in columns):
        wide = [column if isinstance(column, Wide) else Wide.of(column) for column in columns]
        return Wide(np.concatenate([one.high for one in wide]), np.concatenate([one.low for one in wide]))
    return np.concatenate([column for column in columns if not isinstance(column, Wide)])


def take(column: Column, places: Array | slice) -> Column:
    """Some entries of a column, in its own form."""
    return column.take(places) if isinstance(column, Wide) else np.asarray(column[places])


def running_totals(weights: Column, rows: Integers) -> Column:
    """0, then the running totals of weights that are taken in the order of these rows."""
    if isinstance(weights, Wide):
        return _running_limbs(len(rows), lambda part: (weights.high[rows[part]], weights.low[rows[part]]))
    total: Counts = np.zeros(len(rows) + 1, weights.dtype)
    np.cumsum(weights[rows], out=total[1:])
    return total


def running_doubles(weights: Floats, unit: int, bits: int) -> Column:
    """The same for positive doubles that are multiples of 2**unit, of which all totals need at most this many bits.

    The weights stand after a free place, and their memory becomes the totals': fresh pages cost more than the sums.
    """
    total = weights.view(np.int64)
    total[:1] = 0
    count = len(weights) - 1
    if bits <= INT64_BITS:

        def fill(part: slice) -> slice:
            before, room = 0, np.empty(min(BLOCK, part.stop - part.start), np.int64)
            for rows in _blocks(part):
                after, steps = slice(rows.start + 1, rows.stop + 1), room[: rows.stop - rows.start]
                np.copyto(steps, _multiples(weights[after], unit), casting="unsafe")
                steps[0] += before
                before = int(np.cumsum(steps, out=total[after])[-1])
            return part

        for part in over_parts(fill, count)[1:]:
            total[part.start + 1 : part.stop + 1] += total[part.start]
        return total

    def fetch(rows: slice) -> tuple[Integers, Integers]:
        some = weights[rows.start + 1 : rows.stop + 1]
        top = np.floor(some * 2.0 ** -(unit + LIMB))
        rest = some - top * 2.0 ** (unit + LIMB)
        rest *= 2.0**-unit
        return top.astype(np.int64), rest.astype(np.int64)

    return _running_limbs(count, fetch, total)


def _multiples(weights: Floats, unit: int) -> Floats:
    return weights * 2.0**-unit if abs(unit) < _SCALES else np.ldexp(weights, -unit)


def _running_limbs(count: int, fetch: Fetch, low: Integers | None = None) -> Wide:
    """0, then the running totals of the limbs that fetch gives for a block of rows; `low` may hold the lower ones."""
    total = Wide(np.empty(count + 1, np.int64), np.empty(count + 1, np.int64) if low is None else low)
    total.high[0] = total.low[0] = 0

    def fill(part: slice) -> slice:
        above = below = 0
        for rows in _blocks(part):
            high, low = fetch(rows)
            high[0] += above
            low[0] += below
            np.cumsum(low, out=low)  # 2**16 limbs of 39 bits stay within 64
            np.cumsum(high, out=high)
            _set(total, rows, high, low)
            above, below = int(total.high[rows.stop]), int(total.low[rows.stop])
        return part

    for part in over_parts(fill, count)[1:]:
        above, below = total.high[part.start], total.low[part.start]
        for rows in _blocks(part):
            own = slice(rows.start + 1, rows.stop + 1)
            _set(total, rows, total.high[own] + above, total.low[own] + below)
    return total


def _set(total: Wide, rows: slice, high: Integers, low: Integers) -> None:
    """Writes totals one place after their rows, the lower limb's excess carried into the upper one."""
    after = slice(rows.start + 1, rows.stop + 1)
    np.add(high, low >> LIMB, out=total.high[after])
    np.bitwise_and(low, _MASK, out=total.low[after])


def whole_dot(left: Column, right: Column) -> int:
    """Sum of left x right, exactly, for columns of whole numbers of any size.

    Each factor is cut into pieces of 20 bits. A matrix product adds 2**13 products of pieces: every partial sum is a
    whole number below 2**53, so that no order of the additions rounds.

    >>> whole_dot(np.array([2**60, 3]), Wide.of([2**70, 5])) == 2**130 + 15
    True
    """
    lefts, rights = Pieces.of(left), Pieces.of(right)

    def part_sum(part: slice) -> int:
        return sum(_product_sum(lefts.of_rows(rows), rights.of_rows(rows)) for rows in _blocks(part))

    return sum(over_parts(part_sum, len(left)))


def _product_sum(left: Cut, right: Cut) -> int:
    return weighted_products(left[1], right[1], [0] * len(left[0]), left[0], right[0])


def weighted_products(left: Floats, right: Floats, grids: list[int], rows: list[int], columns: list[int]) -> int:
    """Sum of (left @ right.T)[i, j] x 2**(rows[i] + columns[j] - grids[i]), exactly.

    Each row of the left table holds whole multiples of 2**grid and the right one whole numbers, of which two together
    have at most EXACT_BITS bits.
    """
    count = left.shape[1] // _ADDED
    whole = count * _ADDED
    groups = [table[:, :whole].reshape(len(table), count, _ADDED).transpose(1, 0, 2) for table in (left, right)]
    sums = np.matmul(groups[0], groups[1].transpose(0, 2, 1))
    sums = np.concatenate((sums, [left[:, whole:] @ right[:, whole:].T]))
    counts = np.ldexp(sums, -np.array(grids, np.intp)[:, np.newaxis]).astype(np.int64).sum(axis=0)
    return sum(
        count << (up + across)
        for up, row in zip(rows, counts.tolist(), strict=True)
        for across, count in zip(columns, row, strict=True)
    )


Cut: TypeAlias = tuple[list[int], Floats, int]  # the power of two of each piece, the pieces as rows, their bits at most


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """A column as a few columns of int64, of which blocks are cut into pieces of at most 2**20 in size."""

    limbs: list[tuple[int, Integers]]  # the column is the sum of limb x 2**shift
    steps: bool = False  # whether the column's differences are meant

    @classmethod
    def of(cls, values: Column, steps: bool = False) -> Pieces:
        """A column, or the differences of its neighbours."""
        if isinstance(values, Wide):
            return cls([(0, values.low), (LIMB, values.high)], steps)
        if values.dtype != np.object_:
            return cls([(0, values)], steps)
        found: list[tuple[int, Integers]] = []
        while not found or any(values):
            found.append((LIMB * len(found), (values & _MASK).astype(np.int64)))
            values = values >> LIMB
        return cls(found, steps)

    def of_rows(self, rows: slice) -> Cut:
        """The pieces of some rows as doubles, negative ones where differences carry from limb to limb."""
        shifts: list[int] = []
        found: list[Integers] = []
        most = 0
        for shift, limb in self.limbs:
            values = limb[rows] if not self.steps else np.diff(limb[rows.start : rows.stop + 1])
            size = max(int(values.max()), -int(values.min())).bit_length()
            while size > PIECE:
                shifts.append(shift)
                found.append(values & ((1 << PIECE) - 1))
                values, shift, size, most = values >> PIECE, shift + PIECE, size - PIECE, PIECE
            if size:
                shifts.append(shift)
                found.append(values)
                most = max(most, size)
        cut = np.empty((len(found), rows.stop - rows.start))
        for place, values in enumerate(found):
            cut[place] = values
        return shifts, cut, most


def _blocks(part: slice) -> list[slice]:
    return [slice(start, min(start + BLOCK, part.stop)) for start in range(part.start, part.stop, BLOCK)]
