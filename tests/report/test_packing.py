"""Numbers of the page in few bytes: what is read back is what was written, to the bit."""

import base64
import struct

import numpy as np
from hypothesis import example, given
from hypothesis import strategies as st

from tercet.report.packing import packed


def unpacked(text):
    """The format as packing.py words it, read bit by bit."""
    whole = base64.b85decode(text.translate(str.maketrans(",./", "&<>")))
    bits, at = "".join(f"{byte:08b}" for byte in whole), 0

    def take(count):
        nonlocal at
        at += count
        return int(bits[at - count : at] or "0", 2)

    found = []
    for _ in range(take(32)):
        count, digits, key, width = take(32), take(4), take(64), 0
        for place in range(count):
            if place % 64 == 1:
                width = take(6)
            if place:
                ones = 0
                while take(1):
                    ones += 1
                key += (ones << width) + take(width)
            if digits < 15:
                found.append((key - 2**63) / 10.0**digits)
            else:
                found.append(
                    struct.unpack("<d", struct.pack("<Q", key ^ 2**63 if key >> 63 else ~key & (2**64 - 1)))[0]
                )
    return sorted(found)


numbers = st.one_of(
    st.floats(allow_nan=False),
    st.integers(-(2**53) + 1, 2**53 - 1).map(float),
    st.decimals(-100, 100, places=4, allow_nan=False).map(float),
).map(lambda value: value + 0.0)


@given(st.lists(numbers, max_size=300).map(sorted))
@example([])
@example([-np.inf, -np.inf, 0.0, 5e-324, np.inf])
def test_numbers_come_back_to_the_bit(values):
    assert unpacked(packed(values)) == values


def test_long_columns_come_back_too():
    rng = np.random.default_rng(0)
    for values in (np.sort(rng.normal(size=3000)), np.sort(np.round(rng.normal(size=3000), 5)), np.arange(5000.0) ** 2):
        assert unpacked(packed(values)) == values.tolist()
    assert unpacked(packed(["-inf", 1, 2.5, "inf"])) == [-np.inf, 1.0, 2.5, np.inf]


def test_few_bits_are_enough():
    rng = np.random.default_rng(1)
    doubles, steps = np.sort(rng.uniform(-9, 9, 10_000)), np.arange(10_000)
    assert len(packed(doubles)) < 0.7 * len(base64.b64encode(doubles.tobytes()))
    assert len(packed(steps)) < 0.5 * len(steps)
    assert len(packed(np.round(doubles, 5))) < 2.5 * len(doubles)
    assert not set("<>&\\\"'\u2028\u2029") & set(packed(doubles))
