"""Cells: ranges of scores whose ends are exact, counted and read without sorting."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tercet as tc
from tercet.outofcore import refinement, scan
from tercet.outofcore.bins import BinCounts
from tercet.outofcore.cells import CellCounts, CellRows, Cells
from tercet.outofcore.chunks import ChunkPasses
from tercet.outofcore.limits import Budget
from tercet.outofcore.refinement import Points

from .helpers import APPS, Pieces, assert_same_bits, evaluated, hard_sets, in_memory

CELLS = [Cells(0.0, 1.0, 8), Cells(-2.5, 3.0, 1 << 12), Cells(1000.0, 2.0**-20, 64), Cells(1e30, 1e25, 1 << 18)]
FLOATS = st.floats(allow_nan=False) | st.floats(-10.0, 10.0)


class Rows:
    """A part that holds its rows in memory, in pieces."""

    def __init__(self, *pieces):
        self.pieces = [(scores[labels], scores[~labels]) for scores, labels in pieces]

    def class_scores(self):
        return self.pieces


def rows(number, size=200, kind=np.float64):
    rng = np.random.default_rng(number)
    return (rng.normal(size=size) * 3.0).astype(kind), rng.random(size) < 0.4


def job(cells, **more):
    return {"cells": list(cells), "costs": True, **more}


@given(st.lists(FLOATS, min_size=2, max_size=50), st.sampled_from(CELLS), st.booleans())
def test_numbers_never_descend(values, cells, narrow):
    with np.errstate(over="ignore"):
        scores = np.sort(np.array(values, np.float32 if narrow else np.float64))
    numbers = cells.numbers(scores)
    assert (np.diff(numbers) >= 0).all()
    assert numbers.min() >= 0
    assert numbers.max() <= cells.size


@pytest.mark.parametrize("cells", CELLS)
def test_an_edge_is_the_highest_double_in_its_cell_or_below(cells):
    edges, places = cells.edges(), np.arange(cells.size)
    assert (np.diff(edges) >= 0).all()
    assert (cells.numbers(edges) <= places).all()
    assert (cells.numbers(np.nextafter(edges, np.inf)) > places).all()


def test_half_of_the_cells_lie_within_a_width_of_the_middle():
    cells = Cells(2.0, 0.5, 64)
    assert cells.numbers(np.array([1.5, 2.0, 2.5])).tolist() == [16, 32, 48]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("cells", CELLS)
def test_counts_are_those_of_the_numbers(kind, cells):
    pieces = [rows(0, 500, kind), rows(1, 3, kind), rows(2, 0, kind), rows(3, 300_000, kind)]
    found = CellCounts.of_part(Rows(*pieces), job(cells))
    for side, wanted in ((found.targets, True), (found.nontargets, False)):
        every = np.concatenate([scores[labels == wanted] for scores, labels in pieces])
        assert np.array_equal(side, np.bincount(cells.numbers(every), minlength=cells.size + 1))


def test_adding_parts_equals_counting_all_at_once():
    cells, (one, two, three) = CELLS[1], (rows(number) for number in range(3))
    one[0][:2] = -np.inf, np.inf
    one[1][:2] = True, False
    parts = [CellCounts.of_part(Rows(piece), job(cells)) for piece in (one, two, three)]
    whole = CellCounts.of_part(Rows(one, two, three), job(cells))
    for total in ((parts[0] + parts[1]) + parts[2], parts[2] + (parts[1] + parts[0])):
        assert np.array_equal(total.targets, whole.targets)
        assert np.array_equal(total.nontargets, whole.nontargets)
        assert total.costs == whole.costs
    assert [infinite for _, infinite in whole.costs] == [1, 1]
    assert CellCounts.of_plain(whole.to_plain()).costs == whole.costs


def test_sums_of_costs_are_those_of_sorted_scores():
    pieces = [rows(0), rows(1, kind=np.float32)]
    every = tc.Tally.of(tc.Trials.of_llr(*(np.concatenate(column) for column in zip(*pieces, strict=True))))
    sums = BinCounts.of_tally(every, np.array([0.0])).costs
    assert CellCounts.of_part(Rows(*pieces), job(CELLS[0])).costs == sums
    assert CellCounts.of_part(Rows(*pieces), job(CELLS[0], costs=False)).costs == ((0, 0), (0, 0))


def test_parts_of_different_cells_do_not_add():
    one, other = (CellCounts.of_part(Rows(rows(0)), job(cells)) for cells in CELLS[:2])
    with pytest.raises(tc.InputError, match="different cells"):
        one + other


@pytest.mark.parametrize("cells", CELLS)
def test_the_rows_of_chosen_cells_are_found(cells):
    pieces = [rows(0, 500), rows(1, 70, np.float32)]
    chosen = np.random.default_rng(5).random(cells.size + 1) < 0.3
    found = CellRows.of_part(Rows(*pieces), job(cells, chosen=chosen))
    for side, wanted in ((found.targets, True), (found.nontargets, False)):
        every = np.concatenate([scores[labels == wanted] for scores, labels in pieces])
        assert np.array_equal(np.sort(side), np.sort(every[chosen[cells.numbers(every)]]))


# Which cells


def test_cells_are_narrow_where_the_classes_overlap():
    rng = np.random.default_rng(0)
    found = Cells.of(rng.normal(4.0, 1.0, 20_000), rng.normal(0.0, 1.0, 20_000), 1000)
    assert found.size == 512
    assert 1.8 < found.middle < 2.2
    assert 0.7 < found.width < 1.5


@pytest.mark.parametrize(
    "scores",
    [
        np.round(np.random.default_rng(0).normal(size=10_000), 2),  # ties
        np.where(np.arange(10_000) % 3 == 0, 0.5, np.random.default_rng(0).normal(size=10_000)),  # a pile
        1e9 + np.random.default_rng(0).normal(size=10_000),  # alike in single precision
        np.random.default_rng(0).normal(size=10_000) * 1e-80,
        np.random.default_rng(0).normal(size=10_000) * 1e80,
        np.full(100, np.inf),
        np.empty(0),
    ],
)
def test_scores_that_cells_would_not_separate_get_none(scores):
    assert Cells.of(scores[::2], scores[1::2], 1 << 12) is None


# Evaluation by cells


@pytest.fixture
def always(monkeypatch):
    """Cells for every set, however unsuitable, and few rows that may be kept."""
    monkeypatch.setattr(scan, "ChunkPasses", partial(ChunkPasses, plain=True))
    monkeypatch.setattr(Cells, "of", lambda *_: Cells(1.0, 2.0, 64))


@pytest.mark.parametrize("few", [1, 1 << 20])
@pytest.mark.parametrize("kept", [40, 10_000])
@pytest.mark.parametrize("eer", ["rocch", "interpolated", "nearest"])
def test_cells_give_the_same_bits_as_memory(always, monkeypatch, eer, kept, few):
    monkeypatch.setattr(refinement, "_FEW_ROWS", few)
    monkeypatch.setattr(refinement, "_MORE_POINTS", 32)
    budget = Budget(kept=kept, edges=16, part=64, at_once=0)

    @given(hard_sets(), st.lists(st.integers(0, 200), max_size=3))
    @settings(max_examples=40, deadline=None)
    def check(trials, cuts):
        found = evaluated(Pieces(*trials, sorted(cuts)), APPS, eer=eer, budget=budget)
        assert_same_bits(found, in_memory(*trials, eer=eer))
        low, high = getattr(found, "brackets", {}).get("auc", (found.auc, found.auc))
        assert low <= in_memory(*trials).auc <= high

    check()


@pytest.mark.parametrize("few", [10, 1 << 20])
def test_many_continuous_scores_take_two_passes_and_the_same_bits(always, monkeypatch, few):
    monkeypatch.setattr(refinement, "_FEW_ROWS", few)
    monkeypatch.setattr(refinement, "_MORE_POINTS", 256)
    monkeypatch.setattr(Cells, "of", lambda *_: Cells(1.0, 2.0, 1024))
    rng = np.random.default_rng(1)
    labels = rng.random(20_000) < 0.3
    scores = rng.normal(size=20_000) * 2.0 + np.where(labels, 3.0, -1.0)
    scores[:3] = np.inf, -np.inf, 1e300
    budget = Budget(kept=12_000, edges=16, part=64, at_once=0)
    found = evaluated(Pieces(scores, labels, [5000, 5001]), APPS, budget=budget)
    assert_same_bits(found, in_memory(scores, labels))
    assert found.input["passes"] == 2
    assert 0 < found.input["revisited"] < 12_000
    low, high = found.brackets["auc"]
    assert low < in_memory(scores, labels).auc < high


@given(hard_sets(), st.integers(0, 2**32 - 1))
@settings(max_examples=60, deadline=None)
def test_points_among_known_rows_are_those_of_counting_there(trials, seed):
    scores, labels = np.asarray(trials[0], np.float64) + 0.0, trials[1]
    rng = np.random.default_rng(seed)
    tally = tc.Tally.of(tc.Trials.of_llr(scores, labels))
    points = Points.of(BinCounts.of_tally(tally, np.unique(rng.choice(scores[np.isfinite(scores)], 5))))
    full = np.diff(points.rows) > 0
    ranges = points.ranges(full & (rng.random(len(full)) < 0.5))
    inside = np.zeros(len(scores), np.bool_)
    for low, high in zip(ranges.low, ranges.high, strict=True):
        inside |= (np.isnan(low) | (scores > low)) & (scores <= high)
    if not inside.any():
        return
    edges = np.unique(rng.choice(scores[inside], 7))
    seen = tc.Tally.of(tc.Trials.of_llr(scores[inside], labels[inside]))
    found = points.refined(ranges, seen, edges)
    for key, *counts, top, following, known in zip(
        *(getattr(found, name) for name in refinement._COLUMNS), strict=True
    ):
        end = refinement.scores_of(np.array([key]))[0]
        below = np.zeros(len(scores), np.bool_) if np.isnan(end) else scores <= end
        assert counts[:2] == [np.count_nonzero(below & labels), np.count_nonzero(below & ~labels)]
        assert top == scores[below].max(initial=-np.inf)
        assert following == scores[~below].min(initial=np.inf)
        assert known


@pytest.mark.parametrize("meaning", ["llr", "lr", "posterior", "weighted"])
def test_rows_of_sorted_parts_are_reduced_without_asking_for_thresholds_again(monkeypatch, meaning):
    monkeypatch.setattr(refinement, "_FEW_ROWS", 500)
    monkeypatch.setattr(refinement, "_MORE_POINTS", 256)
    rng = np.random.default_rng(0)
    labels = rng.random(20_000) < 0.3
    llr = rng.normal(size=20_000) + 2.0 * labels
    make = {
        "lr": lambda: tc.Trials.of_lr(np.exp(llr), labels),
        "posterior": lambda: tc.Trials.of_posteriors(1.0 / (1.0 + np.exp(-llr)), labels, trained_prior=0.5),
        "weighted": lambda: tc.Trials.of_llr(llr, labels, weights=rng.integers(1, 4, 20_000) / 2.0),
    }
    trials = make.get(meaning, lambda: tc.Trials.of_llr(llr, labels))()

    class Whole:
        def chunks(self):
            return iter([trials])

    options = {"meaning": trials.meaning, "trained_prior": trials.trained_prior}
    budget = Budget(kept=5000, edges=256, part=10**5, at_once=0)
    found = evaluated(Whole(), APPS, budget=budget, **options)
    assert found.input["revisited"] > 1000
    assert_same_bits(found, tc.evaluate(trials, APPS))


@pytest.mark.parametrize("definition", ["interpolated", "nearest"])
def test_another_eer_of_a_scanned_curve_is_that_of_memory_or_refused(always, monkeypatch, definition):
    answers = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        labels = rng.random(300) < 0.3
        labels[:2] = True, False
        scores = rng.normal(size=300) * 10.0 + rng.choice([10.0, 30.0, 60.0]) * labels
        monkeypatch.setattr(Cells, "of", lambda *_: Cells(20.0, 15.0, 256))
        budget = Budget(kept=10_000, edges=1 << 16, part=10**6, at_once=0)
        found = evaluated(Pieces(scores, labels), meaning="raw", budget=budget)
        try:
            eer = found.curve.eer(definition)
        except tc.InputError:
            continue
        answers += 1
        assert eer == tc.Curve.of(tc.Trials.of_scores(scores, labels)).eer(definition)
    assert answers > 5
