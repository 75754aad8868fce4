"""Sorting in parts and by cells gives what numpy's sort gives."""

import numpy as np
import pytest

from tercet._numeric import parallel, sorting
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


def source(values, marks):
    def fetch(rows, out):
        return np.compress(marks[rows], values[rows], out=out[: marks[rows].sum()])

    return Source(values.dtype.type, lambda rows: int(marks[rows].sum()), fetch)


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
        source(values, marks),
        source(values, ~marks),
    )
    np.testing.assert_array_equal(marked, np.sort(values[marks]))
    np.testing.assert_array_equal(others, np.sort(values[~marks]))


@pytest.mark.parametrize("most", [50_000.0, 20_000.0, 5000.0])
def test_parts_are_halved_until_none_is_too_long(most):
    column = numbers("random", 40_000)
    expected = np.sort(column)
    parts = sorting._halved([column], most, COUNT)
    assert max(map(len, parts)) <= most
    for part in parts:
        part.sort()  # parts are views
    np.testing.assert_array_equal(column, expected)


@pytest.mark.parametrize("cores", [2, 3, 8])
@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 1.0])
def test_any_number_of_cores_sorts_alike(monkeypatch, cores, share):
    monkeypatch.setattr(sorting, "CORES", cores)
    monkeypatch.setattr(parallel, "CORES", cores)
    monkeypatch.setattr(sorting, "_sort_is_slow", lambda: False)
    values, marks = numbers("random", COUNT), np.random.default_rng(6).random(COUNT) < share
    columns = [source(values, own) for own in (marks, ~marks)]
    for found, own in zip(ascending(COUNT, *columns), (marks, ~marks), strict=True):
        np.testing.assert_array_equal(found, np.sort(values[own]))


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
