"""Sorting in parts and by cells gives what numpy's sort gives."""

import numpy as np
import pytest

from tercet._numeric import sorting
from tercet._numeric.sorting import Source, ascending, sort

COUNT = 300_001
KINDS = [
    "random", "few values", "one value", "infinite", "sorted", "one in 10^5", "none", "huge", "tiny", "one far away",
    "two heaps", "keys", "single precision",
]  # fmt: skip


def numbers(kind, count):
    values = np.random.default_rng(5).normal(size=count)
    if kind == "keys":
        return values.view(np.int64)
    if kind == "single precision":
        return values.astype(np.float32)
    return {
        "few values": np.round(values), "one value": np.zeros(count), "sorted": np.sort(values),
        "infinite": np.where(values > -0.5, np.inf, values), "huge": 1e308 * values.clip(-1.7, 1.7),
        "tiny": values * 5e-324, "one far away": np.append(values[1:], 1e300),
        "two heaps": np.where(values > 0, values * 1e-9, 1.0 + values * 1e-9),
    }.get(kind, values)  # fmt: skip


@pytest.fixture(params=[True, False], ids=["by cells", "by numpy"])
def either_way(request, monkeypatch):
    monkeypatch.setattr(sorting, "_sort_is_slow", lambda: request.param)


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("kind", KINDS)
def test_many_rows_are_sorted_in_parts(kind):
    values = numbers(kind, COUNT)
    marks = np.random.default_rng(6).random(COUNT) < {"one in 10^5": 1e-5, "none": 0.0}.get(kind, 0.3)
    marked, others = ascending(
        COUNT,
        Source(lambda rows: int(marks[rows].sum()), lambda rows: values[rows][marks[rows]]),
        Source(lambda rows: int((~marks[rows]).sum()), lambda rows: values[rows][~marks[rows]]),
    )
    np.testing.assert_array_equal(marked, np.sort(values[marks]))
    np.testing.assert_array_equal(others, np.sort(values[~marks]))


@pytest.mark.parametrize("cores", [1, 2, 3, 8])
def test_no_part_is_much_larger_than_the_share_of_a_core(monkeypatch, cores):
    monkeypatch.setattr(sorting, "CORES", cores)
    columns = [numbers("random", 40_000), numbers("random", 3000)]
    expected = [np.sort(column) for column in columns]
    parts = sorting._halved(columns, COUNT)
    assert max(map(len, parts)) <= 1.5 * 43_000 / cores
    for part in parts:
        part.sort()  # parts are views
    for column, right in zip(columns, expected, strict=True):
        np.testing.assert_array_equal(column, right)


@pytest.mark.usefixtures("either_way")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("count", [0, 1, 8192, 8193, 20_000, 300_003])
def test_one_part_is_sorted_in_place(kind, count):
    values = numbers(kind, max(count, 1))[:count].copy()
    expected = np.sort(values)
    sort(values)
    np.testing.assert_array_equal(values, expected)


def test_cells_are_left_alone_where_too_many_values_share_one():
    for kind, taken in (("random", True), ("few values", False), ("one value", False)):
        assert sorting._sorted_by_cells(numbers(kind, 50_000)) == taken


def test_full_cells_are_sorted_by_themselves():
    values = np.random.default_rng(7).random(60_000)
    values[:900] = 0.3 + 1e-9 * values[:900]
    expected = np.sort(values)
    assert sorting._sorted_by_cells(values)
    np.testing.assert_array_equal(values, expected)
