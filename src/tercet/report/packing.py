"""Ascending numbers in few bytes, for the page: `numbers` in systems.js reads them back, to the bit.

They are bits, 32 in five digits of base 85. First the number of groups (32 bits). A group has the numbers with as many
decimals, so that steps are small; the reader sorts what it has read. It begins with how many numbers there are (32
bits), their decimals (4 bits; 15 for doubles) and the first of its whole numbers (64 bits), which are 2^63 +
10^decimals x the number, or the bits of a double made to ascend. Then comes what each next one adds, in blocks of 64: a
width (6 bits), and for each as many ones as it holds 2^width, a zero, and the rest in `width` bits.
"""

from __future__ import annotations

import base64
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

Wholes = NDArray[np.uint64]
_BLOCK = 64
_DOUBLE = 15
_LONGEST = 10  # decimals, beyond which a double takes fewer bits
_WIDEST = 52  # what a double holds without rounding, so that the reader can take it at once
_TOP = np.uint64(1 << 63)
_SAFE = str.maketrans("&<>", ",./")  # digits of base 85 that HTML knows, and what stands for them


def packed(values: Iterable[float | str]) -> str:
    """Ascending numbers, infinities as texts or not, as text."""
    numbers = np.array([float(value) for value in values])
    digits = _decimals(numbers)
    groups = [_group(numbers[digits == code], code) for code in np.unique(digits).tolist()]
    bits = f"{len(groups):032b}" + "".join(groups)
    size = -(-len(bits) // 32)
    whole = int(bits.ljust(32 * size, "0"), 2).to_bytes(4 * size, "big")
    return base64.b85encode(whole).decode("ascii").translate(_SAFE)


def _decimals(numbers: NDArray[np.float64]) -> NDArray[np.intp]:
    """With how many decimals each number can be written; 15 where too many are needed."""
    found = np.full(len(numbers), _DOUBLE)
    for digits in range(_LONGEST, -1, -1):
        with np.errstate(over="ignore", invalid="ignore"):
            wholes = np.rint(numbers * 10.0**digits)
            same = (np.abs(wholes) < 2.0**53) & (wholes / 10.0**digits == numbers)
        found[same] = digits
    return found


def _group(numbers: NDArray[np.float64], code: int) -> str:
    wholes = _ascending(numbers) if code == _DOUBLE else _scaled(numbers, code)
    steps = np.diff(wholes)
    blocks = [_block(steps[start : start + _BLOCK]) for start in range(0, len(steps), _BLOCK)]
    return f"{len(wholes):032b}{code:04b}{int(wholes[0]):064b}" + "".join(blocks)


def _ascending(numbers: NDArray[np.float64]) -> Wholes:
    """The bits of doubles as whole numbers in the same order."""
    bits = numbers.view(np.uint64)
    return np.where(bits >= _TOP, ~bits, bits | _TOP)


def _scaled(numbers: NDArray[np.float64], digits: int) -> Wholes:
    return np.rint(numbers * 10.0**digits).astype(np.int64).view(np.uint64) ^ _TOP


def _block(steps: Wholes) -> str:
    width = _width(steps)
    return f"{width:06b}" + "".join(_step(step, width) for step in steps.tolist())


def _step(step: int, width: int) -> str:
    rest = f"{step & ((1 << width) - 1):0{width}b}" if width else ""
    return "1" * (step >> width) + "0" + rest


def _width(steps: Wholes) -> int:
    """The width with which steps take the fewest bits."""
    near = int(steps.astype(np.float64).mean()).bit_length()
    widths: Sequence[int] = range(max(min(near, _WIDEST) - 2, 0), min(near, _WIDEST) + 1)
    return min(widths, key=lambda width: len(steps) * width + int((steps >> np.uint64(width)).sum()))
