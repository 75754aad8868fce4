"""Sums and weights as integers, so that no result depends on the order or the grouping of the rows.

Every double is a whole multiple of 2**-1074. A sum of doubles is therefore kept as one Python integer in
that unit: it adds exactly, whatever the chunks, and is rounded once, when it is read.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.wide import (
    BLOCK,
    EXACT_BITS,
    INT64_BITS,
    Column,
    Pieces,
    smallest_bit,
    weighted_products,
)
from tercet._typing import Counts, Floats
from tercet.errors import UndefinedError

Term = Callable[[Floats, Floats, Floats], Floats]  # of values, with two arrays of their length to write to
Ratio = tuple[int, int]  # above, below: rounded once, when it is read
_MOST_SLICES = 2 + (1074 + 1024) // 21  # pieces for doubles of all sizes, at 20 bits and a sign each
UNIT = 1074  # sums are in units of 2**-UNIT, the smallest double
_BITS = 16  # of the rows in a block: it stays in the cache, and 2**16 terms of 36 bits add exactly in a double
_BLOCK = 1 << _BITS
_ALIKE = 53 - 2 * _BITS  # bits between values of which 2**16 remainders of up to 37 bits still fit into a double
_HUGE = 2.0**980  # above this the extraction constant would overflow
GRID = 49  # bits below the bound that grid_sum keeps: with 13 for the rows and a sign they fit into 64


def exact_sum(values: Floats, term: Term | None = None) -> int:
    """Sum of finite doubles, or of a term of each, in units of 2**-1074, without any rounding.

    The memory that blocks need is asked for once: fresh pages would cost as much as the work done in them.

    >>> exact_sum(np.array([1e300, 1.0, -1e300])) == 1 << 1074
    True
    """
    total, buffers = 0, np.empty((2, min(_BLOCK, len(values))))
    for start in range(0, len(values), _BLOCK):
        block = values[start : start + _BLOCK]
        out, spare = buffers[:, : len(block)]
        total += _sum_block(np.positive(block, out=out) if term is None else term(block, out, spare), spare)
    return total


def _sum_block(rest: Floats, slice_: Floats) -> int:
    """Takes 36 bits off every value at a time: each slice adds exactly in floating point (overwrites both)."""
    total = 0
    low, top = float(np.minimum.reduce(rest)), float(np.maximum.reduce(rest))
    alike = low > 0.0 and math.frexp(top)[1] - math.frexp(low)[1] <= _ALIKE and top < _HUGE
    top = max(top, -low)
    if top >= _HUGE:
        huge = np.abs(rest) >= _HUGE
        total += sum(int(value) for value in rest[huge]) << UNIT
        rest[huge] = 0.0
        top = _HUGE
    exponent = math.frexp(top)[1] + _BITS  # every value is below 2**(exponent - _BITS)
    rounds = 0
    while rounds < 2 or rest.any():  # two rounds take 72 bits: enough for 53-bit values of like size
        # The ulp of this constant is the grid that the slice is rounded to; half a grid is what is left at most.
        exponent = max(exponent, -1022)
        constant = math.ldexp(1.5, exponent)
        np.add(rest, constant, out=slice_)
        slice_ -= constant
        rest -= slice_
        grid = exponent - 52
        total += int(math.ldexp(float(np.add.reduce(slice_)), -grid)) << (grid + UNIT)
        if alike:
            # What is left is below 2**(grid - 1) and a multiple of the smallest value's ulp: it adds exactly too.
            unit = max(math.frexp(low)[1] - 53, -UNIT)
            return total + (int(math.ldexp(float(np.add.reduce(rest)), -unit)) << UNIT + unit)
        exponent = grid + _BITS - 1
        rounds += 1
    return total


def exact_dot(values: Floats, weights: Column, term: Term | None = None) -> int:
    """Sum of weight x value, or of weight x term of the value, in units of 2**-1074; weights are whole, values finite.

    >>> exact_dot(np.array([0.1, 0.2]), np.array([3, 1])) == exact_sum(np.array([0.1, 0.1, 0.1, 0.2]))
    True
    """
    return _dot(values, term, Pieces.of(weights))


def exact_dot_steps(values: Floats, running: Column, term: Term) -> int:
    """The same for weights that are given by their running totals, 0 in front.

    >>> exact_dot_steps(np.array([0.1, 0.2]), np.array([0, 3, 4]), lambda x, out, spare: np.sqrt(x, out=out)) == (
    ...     exact_dot(np.sqrt(np.array([0.1, 0.2])), np.array([3, 1])))
    True
    """
    return _dot(values, term, Pieces.of(running, steps=True))


def _dot(values: Floats, term: Term | None, weights: Pieces) -> int:
    total = 0
    out, spare, *_ = slices = np.empty((2 + _MOST_SLICES, min(BLOCK, len(values))))
    for start in range(0, len(values), BLOCK):
        rows = slice(start, min(start + BLOCK, len(values)))
        size = rows.stop - start
        block, into = values[rows], out[:size]
        terms = np.positive(block, out=into) if term is None else term(block, into, spare[:size])
        total += _dot_block(terms, *weights.of_rows(rows), slices[2:, :size])
    return total


def _dot_block(rest: Floats, shifts: list[int], weights: Floats, size: int, slices: Floats) -> int:
    """Sum of products of slices of the values and pieces of the weights, which are of `size` bits (overwrites rest)."""
    low, top = float(rest.min()), float(rest.max())
    total = 0
    if max(top, -low) >= _HUGE:
        total = _dot_of_huge(rest, shifts, weights)
        low, top = float(rest.min()), float(rest.max())
    bits = EXACT_BITS - size  # of a slice: 2**13 products of it and a piece add exactly in a double
    last = max(math.frexp(low)[1] - 53, -UNIT) if low > 0.0 else None  # all are multiples of 2**last
    exponent, count, grids = math.frexp(max(top, -low))[1], 0, []
    while True:  # what is left is at most 2**exponent
        if last is not None and exponent - last <= bits:
            slices[count] = rest
            grids.append(last)
            break
        # The ulp of this constant is the grid that the slice is rounded to; half a grid is what is left at most.
        grid = max(exponent - bits, -UNIT)
        constant = math.ldexp(1.5, grid + 52)
        np.add(rest, constant, out=slices[count])
        slices[count] -= constant
        rest -= slices[count]
        grids.append(grid)
        count, exponent = count + 1, grid - 1
        if last is None and not rest.any():
            break
    powers = [grid + UNIT for grid in grids]
    return total + weighted_products(slices[: len(grids)], weights, grids, powers, shifts)


def _dot_of_huge(values: Floats, shifts: list[int], weights: Floats) -> int:
    """The part of values so large that cutting them would overflow; they become 0."""
    total = 0
    for row in np.flatnonzero(np.abs(values) >= _HUGE).tolist():
        weight = sum(int(piece) << shift for shift, piece in zip(shifts, weights[:, row].tolist(), strict=True))
        total += (int(values[row]) << UNIT) * weight
        values[row] = 0.0
    return total


def exact_square_sum(values: Floats, weights: Counts | None = None) -> int:
    """Sum of value^2, or of weight x value^2, in units of 2**-1074; the squares must be doubles.

    >>> exact_square_sum(np.array([3.0, 2.0**-30])) == (9 << 1074) + (1 << 1014)
    True
    """
    total = 0
    for start in range(0, len(values), _BLOCK):
        rows = slice(start, start + _BLOCK)
        x = values[rows]
        high = _upper_half(x)
        low = x - high
        square = x * x
        # What the product lost (Dekker): every step of this is exact.
        lost = ((high * high - square) + 2.0 * (high * low)) + low * low
        for part in (square, lost) if lost.any() else (square,):
            total += exact_sum(part) if weights is None else exact_dot(part, weights[rows])
    return total


def grid_sum(values: Floats, exponent: int, levels: int = 1) -> int:
    """Sum of up to 2**13 values within +-2**exponent, each rounded to a multiple of 2**(exponent - levels x GRID).

    The result counts these multiples. One addition brings a multiple into the last bits of a double, where whole
    numbers add: a fraction of the work of an exact sum, and as free of order and grouping.

    >>> grid_sum(np.array([0.5, 2.0**-60]), 0) == 1 << (GRID - 1)
    True
    """
    total = 0
    for level in range(levels):
        constant = np.float64(math.ldexp(1.5, exponent + 52 - GRID))
        raised = values + constant
        counted = int(raised.view(np.int64).sum()) - len(values) * int(constant.view(np.int64))
        counted = (counted + (1 << 63)) % (1 << 64) - (1 << 63)  # numpy's sum may have wrapped around
        total = (total << GRID) + counted
        if level + 1 < levels:
            raised -= constant
            values, exponent = values - raised, exponent - GRID
    return total


def exact_gram(rows: Floats) -> Counts:
    """rows' rows, for up to 2**12 rows of numbers within +-1, in units of 2**-100, as Python's integers.

    Every number is cut into three pieces of 20 bits, whose products a matrix product adds without rounding: the result
    knows no order and no grouping. A product is off by less than 2**-59 times the larger factor.

    >>> exact_gram(np.array([[0.5, 1.0], [0.25, 0.0]])).tolist() == [[5 << 96, 1 << 99], [1 << 99, 1 << 100]]
    True
    """
    high, rest = _cut(rows)
    middle, rest = _cut(rest)
    low, _ = _cut(rest)
    crossed, finer, finest = high.T @ middle, high.T @ low, middle.T @ low
    fine = finer + finer.T + middle.T @ middle
    sums = (high.T @ high, 60), (crossed + crossed.T, 40), (fine, 20), (finest + finest.T, 0)
    total: Counts = sum(found.astype(np.int64).astype(np.object_) << shift for found, shift in sums)
    return total


def _cut(values: Floats) -> tuple[Floats, Floats]:
    """Values times 2**20 as whole numbers, and what is left of them."""
    scaled = values * 1048576.0
    whole = np.rint(scaled)
    return whole, scaled - whole


def _upper_half(values: Floats) -> Floats:
    """The leading 26 bits of each value (Veltkamp's splitting)."""
    scaled = values * 134217729.0
    upper: Floats = scaled - (scaled - values)
    return upper


def ratio(numerator: int, denominator: int, unit: int = 0) -> float:
    """numerator / denominator * 2**-unit, rounded once.

    >>> ratio(1, 3)
    0.3333333333333333
    """
    return numerator / (denominator << unit)


def sum_of_ratios(ratios: Sequence[Ratio]) -> Ratio:
    """The exact sum of fractions (above, below): in halves, so that the long integers are few.

    >>> sum_of_ratios([(1, 2), (1, 3)])
    (5, 6)
    """
    if len(ratios) == 1:
        return ratios[0]
    middle = len(ratios) // 2
    (a, b), (c, d) = sum_of_ratios(ratios[:middle]), sum_of_ratios(ratios[middle:])
    return (a + c, b) if b == d else (a * d + c * b, b * d)


def divided(name: str, above: Ratio, below: Ratio, undefined: str = "0 / 0") -> Ratio:
    """One fraction over another, without rounding; 0 / 0 is undefined, for the reason given."""
    found = above[0] * below[1], above[1] * below[0]
    if found == (0, 0):
        raise UndefinedError(f"{name} is undefined: {undefined}.")
    return found


def quotient(ratio: Ratio) -> float:
    """The fraction rounded once; infinite over 0 and beyond the largest double."""
    try:
        return ratio[0] / ratio[1]
    except (ZeroDivisionError, OverflowError):
        return math.inf


_ROOT_BITS = 64  # more than the 54 that decide how a double is rounded


def over_root(above: int, square: int) -> float:
    """above / sqrt(square), rounded once, for integers of any size.

    >>> over_root(3, 9), over_root(-1, 2)
    (1.0, -0.7071067811865476)
    """
    shift = max(0, 2 * _ROOT_BITS + square.bit_length() - 2 * above.bit_length() + 1)
    shift += shift % 2
    whole, rest = divmod(above * above << shift, square)
    root = math.isqrt(whole)
    beyond = rest > 0 or root * root < whole  # a last bit that says on which side of a tie the root is
    size = (2 * root + beyond) / (1 << shift // 2 + 1)
    return -size if above < 0 else size


def quotients(above: Counts, below: Counts | int) -> Floats:
    """above / below, each rounded once: beyond 2**53 numpy would round the integers first.

    >>> quotients(np.array([1, 2]), 3).tolist()
    [0.3333333333333333, 0.6666666666666666]
    """
    if (below if isinstance(below, int) else np.max(below, initial=0)) > 2**53:
        above = above.astype(np.object_)
    return np.asarray(above / below, np.float64)


def as_integers(weights: Floats) -> tuple[Counts, int]:
    """Positive finite weights as whole multiples of a power of two: weights = integers * 2**unit, exactly.

    >>> as_integers(np.array([0.5, 3.0]))
    (array([1, 6]), -1)
    """
    if len(weights) == 0:
        return np.zeros(0, np.int64), 0
    unit = smallest_bit(weights)
    if math.frexp(float(weights.max()))[1] - unit + len(weights).bit_length() <= INT64_BITS:
        return np.ldexp(weights, -unit).astype(np.int64), unit
    fractions, exponents = np.frexp(weights)
    mantissas = np.ldexp(fractions, 53).astype(np.int64)
    trailing = np.frexp((mantissas & -mantissas).astype(np.float64))[1] - 1
    return shifted(mantissas >> trailing, exponents - 53 + trailing - unit), unit


def shifted(integers: Counts, by: NDArray[np.int32] | int) -> Counts:
    """integers * 2**by, in int64 when every sum of them fits, else as Python's integers."""
    if len(integers) == 0:
        return integers
    if integers.dtype == np.object_:
        sizes = np.array([int(value).bit_length() for value in integers])
    else:
        sizes = np.frexp(integers.astype(np.float64))[1]
    bits = int(np.max(sizes + by)) + len(integers).bit_length()
    if bits <= INT64_BITS and integers.dtype != np.object_:
        return integers << by
    wide: NDArray[np.object_] = integers.astype(np.object_) << np.asarray(by).astype(np.object_)
    return wide.astype(np.int64) if bits <= INT64_BITS else wide


def running_total(integers: Counts) -> Counts:
    """0, then the running sums: one longer than its input."""
    sums: Counts = np.zeros(len(integers) + 1, integers.dtype)
    np.cumsum(integers, out=sums[1:])
    return sums


def log_ratio(above: int, below: int) -> float:
    """ln(above / below) for whole numbers >= 0, not both 0.

    >>> log_ratio(1, 0), log_ratio(3, 3)
    (inf, 0.0)
    """
    if above == 0 or below == 0:
        return math.inf if above else -math.inf
    try:
        quotient = above / below
    except OverflowError:
        quotient = 0.0
    return math.log(quotient) if quotient > 0.0 else math.log(above) - math.log(below)
