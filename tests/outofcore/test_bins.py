"""The state that adds: exact, in any order, and never twice."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tercet as tc
from tercet.outofcore.bins import BinCounts, RangeRows, between, edges_of, keys_of, scores_of
from tercet.outofcore.plain_data import load_plain, save_plain
from tercet.outofcore.reading import sorted_classes
from tercet.outofcore.runner import Counted, joined_parts, missing_parts

from .helpers import hard_sets

EDGES = np.array([-2.0, 0.0, 0.5, 2.0])


def same(one, other):
    mine, others = one.to_plain(), other.to_plain()
    return all(np.array_equal(mine[key], others[key]) for key in mine)


def tally(scores, labels, weights=None):
    return tc.Tally.of(tc.Trials.of_llr(scores, labels, weights=weights))


def counts(number, size=50, weighted=False, thresholds=(-1.0, 0.0), edges=EDGES):
    rng = np.random.default_rng(number)
    weights = rng.integers(0, 9, size) / 4.0 if weighted else None
    return BinCounts.of_tally(tally(rng.normal(size=size), rng.random(size) < 0.5, weights), edges, thresholds)


def part(number, plan="", **more):
    return Counted(counts(number, **more), ((number, number + 1),), plan)


@given(st.lists(st.floats(allow_nan=False), min_size=2))
def test_patterns_order_as_the_scores_do(values):
    scores = np.array(values) + 0.0
    assert np.array_equal(np.argsort(keys_of(scores), kind="stable"), np.argsort(scores, kind="stable"))
    assert np.array_equal(scores_of(keys_of(scores)), scores)


def test_patterns_between_two_are_inside_and_even():
    keys = between(np.array([-10, 100]), np.array([-1, 102]), np.array([3, 50]))
    assert keys.tolist() == [-7, -4, 101]
    ends = np.array([keys_of(np.array([-np.inf]))[0]]), np.array([keys_of(np.array([np.inf]))[0]])
    wide = scores_of(between(*ends, np.array([4])))
    assert np.all(np.diff(wide) > 0)
    assert np.all(np.isfinite(wide))


def test_a_score_that_piles_up_gets_a_bin_of_its_own():
    rng = np.random.default_rng(0)
    scores = np.concatenate((np.full(9000, 0.25), rng.normal(size=1000)))
    labels = rng.random(10_000) < 0.5
    state = BinCounts.of_tally(tally(scores, labels), edges_of(scores[labels], scores[~labels], 100))
    heavy = int((state.targets + state.nontargets).argmax())
    assert state.lowest[heavy] == state.highest[heavy] == 0.25


@pytest.mark.parametrize("scale", [1.0, 1e-12, 1e200])
def test_narrow_and_wide_ranges_resolve_alike(scale):
    rng = np.random.default_rng(0)
    scores = 1.0 + scale * rng.random(100_000) if scale < 1 else scale * rng.normal(size=100_000)
    labels = rng.random(100_000) < 0.5
    edges = edges_of(scores[labels], scores[~labels], 1000)
    state = BinCounts.of_tally(tally(scores, labels), edges)
    assert (state.targets + state.nontargets).max() < 3000


# Law 7: adding


@pytest.mark.parametrize("weighted", [False, True])
def test_adding_is_commutative_and_associative_and_nothing_changes_nothing(weighted):
    one, two, three = (counts(number, weighted=weighted) for number in range(3))
    assert same((one + two) + three, one + (two + three))
    assert same(one + two, two + one)
    nothing = BinCounts.of_tally(tc.Tally.empty(), EDGES, (-1.0, 0.0))
    assert same(one + nothing, one)
    assert same(nothing + one, one)


@given(hard_sets(), st.lists(st.integers(0, 200), max_size=6), st.booleans())
@settings(max_examples=40, deadline=None)
def test_adding_parts_equals_counting_all_at_once(trials, cuts, weighted):
    scores, labels = trials
    weights = np.random.default_rng(0).random(len(scores)) if weighted else np.ones(len(scores))
    pieces = zip(*(np.split(column, sorted(cuts)) for column in (scores, labels, weights)), strict=True)
    total = None
    for some, marks, heavy in pieces:
        one = BinCounts.of_tally(tally(some, marks, heavy if weighted else None), EDGES, (-1.0, 0.0))
        total = one if total is None else total + one
    whole = BinCounts.of_tally(tally(scores, labels, weights if weighted else None), EDGES, (-1.0, 0.0))
    assert [int(n) << total.unit + 1100 for n in total.targets] == [int(n) << whole.unit + 1100 for n in whole.targets]
    mine, others = whole.to_plain(), total.to_plain()
    if not weighted:
        assert all(np.array_equal(mine[key], others[key]) for key in mine)


def test_weights_too_far_apart_for_64_bits_stay_exact():
    one = BinCounts.of_tally(tally([1.0, -1.0], [1, 0], [2.0**-80, 1.0]), np.array([0.0]))
    two = BinCounts.of_tally(tally([1.0, -1.0], [1, 0], [2.0**80, 1.0]), np.array([0.0]))
    both = one + two
    assert both.unit == -80
    assert both.targets.tolist() == [0, 1 + (1 << 160)]
    assert same(BinCounts.of_plain(both.to_plain()), both)


def test_an_empty_part_still_counts_as_a_part():
    nothing = Counted(BinCounts.of_tally(tc.Tally.empty(), EDGES, (-1.0, 0.0)), ((3, 4),), "")
    assert (part(0) + nothing).parts == ((0, 1), (3, 4))


# Law 46: a part counted twice is found


def test_a_part_counted_twice_is_an_error():
    with pytest.raises(tc.InputError, match="Part 1 was counted twice"):
        part(0) + part(1) + part(1)
    with pytest.raises(tc.InputError, match="Part 0 was counted twice"):
        (part(0) + part(2)) + (part(0) + part(1))


@given(st.lists(st.integers(0, 12), unique=True))
def test_missing_parts_are_named(numbers):
    parts = ()
    for number in numbers:
        parts = joined_parts(parts, ((number, number + 1),))
    assert missing_parts(parts, 13) == [n for n in range(13) if n not in numbers][:4]


@pytest.mark.parametrize(
    ("other", "says"),
    [
        (lambda: part(1, plan="another"), "different plans"),
        (lambda: part(1, edges=np.array([0.0])), "different edges"),
        (lambda: part(1, thresholds=()), "different thresholds"),
    ],
)
def test_parts_that_do_not_belong_together_do_not_add(other, says):
    with pytest.raises(tc.InputError, match=says):
        part(0) + other()


# Saved and loaded


@pytest.mark.parametrize("weighted", [False, True])
def test_counts_are_saved_and_loaded_to_the_bit(tmp_path, weighted):
    state = part(0, weighted=weighted) + part(1, size=1000, weighted=weighted)
    save_plain(state.to_plain(), tmp_path / "state.npz")
    found = Counted.of_plain("BinCounts", load_plain(tmp_path / "state.npz"))
    assert same(found.state, state.state)
    assert found.parts == state.parts
    assert [path.name for path in tmp_path.iterdir()] == ["state.npz"]


def test_a_changed_byte_is_found(tmp_path):
    path = tmp_path / "state.npz"
    save_plain(part(0).to_plain(), path)
    good = path.read_bytes()
    found = 0
    for place in range(0, len(good), 97):
        path.write_bytes(good[:place] + bytes([good[place] ^ 1]) + good[place + 1 :])
        try:  # a byte that means nothing, such as a date in the archive
            assert same(Counted.of_plain("BinCounts", load_plain(path)).state, counts(0))
        except tc.InputError:
            found += 1
    assert found > 10


@pytest.mark.parametrize("content", [b"", b"no npz", b"PK\x03\x04 broken"])
def test_what_is_not_a_saved_part_is_refused(tmp_path, content):
    (tmp_path / "bad.npz").write_bytes(content)
    with pytest.raises(tc.InputError, match=r"bad\.npz"):
        load_plain(tmp_path / "bad.npz")
    with pytest.raises(tc.InputError, match="no such file"):
        load_plain(tmp_path / "none.npz")


def test_pickles_are_never_loaded(tmp_path):
    np.savez(tmp_path / "evil.npz", edges=np.array([{"a": 1}], dtype=object))
    with pytest.raises(tc.InputError, match=r"evil\.npz"):
        load_plain(tmp_path / "evil.npz")


def test_a_full_folder_leaves_nothing_half_written(tmp_path, monkeypatch):
    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full)
    with pytest.raises(tc.InputError, match="No space left on device"):
        save_plain(part(0).to_plain(), tmp_path / "state.npz")
    assert list(tmp_path.iterdir()) == []


def test_a_state_saved_below_a_file_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(tc.InputError, match="cannot be written"):
        save_plain(part(0).to_plain(), tmp_path / "file" / "a.npz")


# The rows in chosen ranges


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("spread", [1e-300, 1e-9, 1.0, 1e300])
def test_the_rows_in_ranges_are_found_as_by_comparing(kind, spread):
    rng = np.random.default_rng(0)
    with np.errstate(over="ignore", under="ignore"):
        scores = (rng.normal(size=20_000) * spread).astype(kind)
    scores[:4] = np.inf, -np.inf, 0.0, np.finfo(kind).max
    labels = rng.random(20_000) < 0.4
    rows = sorted_classes([(0, scores, labels)], "here", "llr", None)
    ends = np.unique(np.concatenate((rng.choice(scores[4:], 40), rng.normal(size=20) * spread)).astype(np.float64))
    ends = ends[: len(ends) // 2 * 2]
    for low, high in ((ends[::2], ends[1::2]), (np.r_[np.nan, ends[1:-1:2]], np.r_[ends[:-2:2], np.inf])):
        found = RangeRows.of_tally(rows, low, high)
        wide = scores.astype(np.float64)
        inside = np.zeros(len(wide), bool)
        for start, end in zip(low, high, strict=True):
            inside |= (np.isnan(start) | (wide > start)) & (wide <= end)
        assert np.array_equal(np.sort(found.targets), np.sort(wide[inside & labels]))
        assert np.array_equal(np.sort(found.nontargets), np.sort(wide[inside & ~labels]))


# Bad scores


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_a_nan_is_refused_with_its_row(kind):
    scores = np.zeros(10, kind)
    scores[7] = np.nan
    with pytest.raises(tc.InputError, match=r"there: row 107 .*NaN"):
        sorted_classes([(100, scores, np.arange(10) % 2 == 0)], "there", "llr", None)


def test_scores_outside_their_meaning_are_refused():
    with pytest.raises(tc.InputError, match=r"row 1 .*must lie in 0\.\.1, not 1\.5"):
        sorted_classes([(0, np.array([0.5, 1.5]), np.array([True, False]))], "there", "posterior", 0.5)


def test_the_callers_arrays_are_left_alone():
    scores, labels = np.array([3.0, -0.0, 1.0]), np.array([True, False, True])
    sorted_classes([(0, scores, labels)], "there", "llr", None)
    assert scores.tolist() == [3.0, 0.0, 1.0]
    assert np.signbit(scores[1])
    assert scores.flags.writeable
