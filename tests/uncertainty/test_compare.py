"""Comparison of systems: what is paired, what is concluded, and what is refused."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tercet as tc
from tercet.uncertainty import compare, drawn, holm
from tercet.uncertainty._kernel.differences import beyond
from tercet.uncertainty._kernel.draws import Design
from tercet.uncertainty._kernel.ends import p_of, tail_of

from .helpers import same, three_classes

APPS = [(0.5, 1, 1), (0.1, 1, 1)]


def systems(noises=(0.1, 1.5), count=300, seed=0, ids=True, speakers=15):
    """The same trials seen through more or less noise."""
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 2
    base = 2.0 * (labels - 0.5) + rng.normal(size=count)
    groups = {"speaker": rng.integers(0, speakers, count)}
    return [
        tc.Trials.of_llr(
            base + rng.normal(0, noise, count),
            labels,
            name="abcdef"[k],
            groups=groups,
            ids=np.arange(count) if ids else None,
        )
        for k, noise in enumerate(noises)
    ]


def test_a_better_system_is_found_better():
    found = compare(*systems(), APPS, resamples=199)
    one = found.of("applications.0.dcf")[0]
    assert (one.first, one.second) == ("a", "b")
    assert one.high < 0.0
    assert one.p_value < 0.05
    assert [(row.rank, row.system, row.tied) for row in found.ranks()] == [(1, "a", False), (2, "b", False)]
    assert "a is better" in found.sentence
    assert found.of("auc")[0].low > 0.0
    assert [row.system for row in found.ranks("auc")] == ["a", "b"]


def test_equal_systems_are_tied_and_the_sentence_says_so():
    a, _ = systems()
    found = compare(a, a, APPS, resamples=99)
    assert found.names == ("a (1)", "a (2)")
    assert [row.rank for row in found.ranks()] == [1, 1]
    assert all(row.tied for row in found.ranks())
    assert "no difference" in found.sentence
    for one in found.differences:
        assert (one.value, one.p_value) == (0.0, 1.0)
    dcf = found.of("applications.0.dcf")[0]
    assert dcf.low < 0.0 < dcf.high  # not told apart by so many trials is not the same
    assert "clopper-pearson" in dcf.method


def test_differences_are_those_of_the_evaluations():
    a, b = systems()
    found, (ev, other) = compare(a, b, APPS, resamples=39), (tc.evaluate(t, APPS) for t in (a, b))
    assert same(found.of("auc")[0].value, ev.auc - other.auc)
    assert same(found.of("applications.1.min_dcf")[0].value, ev.applications[1].min_dcf - other.applications[1].min_dcf)


def test_pairing_is_sharper_than_two_independent_sets():
    a, b = systems((0.3, 0.5))
    paired, apart = (compare(a, b, APPS, resamples=199, unpaired=u).of("auc")[0] for u in (False, True))
    assert paired.high - paired.low < apart.high - apart.low


def test_swapping_the_systems_swaps_the_signs_and_nothing_else():
    a, b = systems()
    one, other = (compare(x, y, APPS, resamples=99).of("cllr")[0] for x, y in ((a, b), (b, a)))
    assert one.value == -other.value
    assert one.p_value == pytest.approx(other.p_value, abs=0.05)


def test_trials_are_matched_by_id_whatever_their_order():
    a, b = systems()
    turned = b.select(np.random.default_rng(1).permutation(len(b)))
    for by in (None, "speaker"):
        one, other = (compare(a, t, APPS, resamples=39, by=by) for t in (b, turned))
        assert one.differences == other.differences


def test_without_ids_trials_are_matched_by_position_when_labels_agree():
    with_ids, without = systems(), systems(ids=False)
    assert compare(*with_ids, APPS, resamples=39).differences == compare(*without, APPS, resamples=39).differences


def test_threads_do_not_matter():
    for by in (None, "speaker"):
        one, many = (compare(*systems(), APPS, resamples=40, by=by, threads=n) for n in (1, 3))
        assert one.differences == many.differences


@pytest.mark.parametrize("by", [None, "speaker"])
def test_many_systems_are_compared_pair_by_pair_with_holms_correction(by):
    found = compare(*systems((0.1, 0.12, 1.5, 3.0)), applications=APPS, resamples=199, by=by)
    pairs = found.of("applications.0.dcf")
    assert [(one.first, one.second) for one in pairs] == list(itertools.combinations("abcd", 2))
    assert [one.adjusted for one in pairs] == holm([one.p_value for one in pairs])
    ranks = {row.system: row for row in found.ranks()}
    assert ranks["a"].rank == ranks["b"].rank == 1
    assert ranks["a"].tied
    assert ranks["c"].rank == ranks["d"].rank == 3  # both worse than two, and not told apart
    assert "cannot be told apart at the top" in found.sentence


def test_three_classes_are_compared_too():
    found = compare(
        three_classes(300, noise=1.0, name="good"),
        three_classes(300, noise=2.5, name="bad"),
        [tc.Application.multiclass([0.3, 0.3, 0.4])],
        resamples=99,
    )
    assert found.of("applications.0.risk")[0].high < 0.0
    assert found.of("accuracy")[0].low > 0.0
    assert "good is better" in found.sentence
    assert [test.test for test in found.tests] == ["McNemar"]


def test_exact_tests_stand_beside_the_bootstrap():
    a, b = systems()
    tests = {(one.test, one.quantity): one.p_value for one in compare(a, b, APPS, resamples=39).tests}
    assert tests["DeLong", "auc"] == tc.delong_test(a, b).p_value
    decisions = [tc.decide(t, APPS[0]) for t in (a, b)]
    expected = tc.mcnemar(*decisions, a.labels.astype(np.int8)).p_value
    assert tests["McNemar", "applications.0.confusion"] == expected
    assert compare(a, b, APPS, resamples=39, by="speaker").tests == ()  # they take trials to be independent


def test_raw_scores_are_compared_by_what_they_have():
    a, b = (tc.Trials.of_scores(t.scores, t.labels, name=t.name) for t in systems())
    found = compare(a, b, APPS, resamples=39)
    assert "applications.0.min_dcf" in found.quantities
    assert "applications.0.dcf" not in found.quantities


def test_a_comparison_is_strict_json():
    json.dumps(compare(*systems(), APPS, resamples=39).to_dict(), allow_nan=False)
    endless = [tc.Trials.of_llr([np.inf, 0.5, 1.0, -np.inf], [0, 1, 1, 0], name=n) for n in "ab"]
    found = compare(*endless, APPS, resamples=39)
    json.dumps(found.to_dict(), allow_nan=False)
    assert repr(found)


# Refused


def test_different_trials_are_refused_unless_asked():
    a, b = systems()
    fewer = b.select(np.arange(len(b)) != 7)
    with pytest.raises(tc.InputError, match=r"1 missing, 0 extra \(7\)"):
        compare(a, fewer, APPS)
    assert not compare(a, fewer, APPS, resamples=39, unpaired=True).paired
    a, b = systems(ids=False)
    with pytest.raises(tc.InputError, match="'b' has 299 trials and 'a' has 300"):
        compare(a, b.select(np.arange(len(b)) != 7), APPS)


def test_labels_that_disagree_are_refused():
    a, b = systems(ids=False)
    with pytest.raises(tc.InputError, match=r"differ .* for 300 trials"):
        compare(a, tc.Trials.of_llr(b.scores, ~b.labels), APPS)


def test_ids_on_one_side_only_or_twice_are_refused():
    (a, _), (_, b) = systems(), systems(ids=False)
    with pytest.raises(tc.InputError, match="has no ids"):
        compare(a, b, APPS)
    twice = tc.Trials.of_llr(a.scores, a.labels, ids=np.zeros(len(a), int))
    with pytest.raises(tc.InputError, match="not distinct"):
        compare(a, twice, APPS)


def test_what_is_no_system_or_too_few_is_refused():
    a, b = systems()
    with pytest.raises(tc.InputError, match="at least two"):
        compare(a, APPS)
    with pytest.raises(tc.InputError, match="takes Trials"):
        compare(a, [1.0, 2.0], applications=APPS)
    with pytest.raises(tc.InputError, match="distinct"):
        compare(a, b, APPS, names=["x", "x"])
    with pytest.raises(tc.InputError, match="not compared"):
        compare(a, b, APPS, resamples=39).of("f1")
    with pytest.raises(tc.InputError, match="other classes"):
        compare(tc.Trials.of_llr(a.scores, a.labels), three_classes(300), APPS)


def test_weights_that_differ_are_refused():
    a, b = systems(ids=False)
    heavy = tc.Trials.of_llr(b.scores, b.labels, weights=np.full(len(b), 2.0))
    with pytest.raises(tc.InputError, match="weights"):
        compare(a, heavy, APPS)


# p-values


@given(st.lists(st.floats(0, 1), min_size=1, max_size=6))
def test_holm_never_lowers_a_p_value_and_keeps_their_order(p):
    corrected = holm(p)
    assert all(0.0 <= a <= b <= 1.0 for a, b in zip(p, corrected, strict=True))
    assert [corrected[i] for i in np.argsort(p, kind="stable")] == sorted(corrected)
    assert min(corrected) == min(1.0, len(p) * min(p))


def test_a_p_value_is_never_zero_and_one_without_difference():
    assert beyond(np.ones(999)) == 0.001
    assert p_of(beyond(np.zeros(99)), TRIALS) == 1.0
    assert 0.0 < beyond(np.linspace(5, 6, 99)) < 1e-6
    assert p_of(beyond(np.r_[np.ones(50), -np.ones(49)]), TRIALS) == 1.0


def test_p_values_are_uniform_enough_when_systems_are_alike():
    """Under no difference about one comparison in ten has p < 0.1; at most 22 of 100 here (1 in 10,000 by chance)."""
    small = [
        compare(*systems((0.5, 0.5), 120, seed), APPS[:1], resamples=99, quantities=["auc"]) for seed in range(100)
    ]
    below = sum(one.of("auc")[0].p_value < 0.1 for one in small)
    assert 2 <= below <= 22


def test_the_draws_are_the_same_for_all_systems():
    a, _ = systems()
    found = compare(a, tc.Trials.of_llr(2.0 * a.scores, a.labels, ids=a.ids), APPS, resamples=39)
    auc = found.of("auc")[0]
    assert (auc.value, auc.p_value) == (0.0, 1.0)
    assert "all resamples equal" in auc.method
    assert drawn(a, 0).sum() == len(a)


def groups_of(count):
    return Design((count, count), (None, None), ((np.arange(count), np.arange(count)),), (count,))


TRIALS = Design((50, 50), (None, None))


@pytest.mark.parametrize("count", [5, 20, 100])
def test_a_p_value_from_groups_falls_below_the_level_exactly_where_the_interval_ends(count):
    """The tail of an interval and the p-value are one law, read in both directions."""
    tail = tail_of(groups_of(count), 0.95)
    assert abs(p_of(tail, groups_of(count)) - 0.05) < 1e-12
    assert p_of(0.001, groups_of(count)) > p_of(0.001, TRIALS) == 0.002


def test_the_words_name_the_working_point_and_every_pair_stands_in_the_table():
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 2
    systems = [
        tc.Trials.of_llr((labels - 0.5) * d + rng.normal(size=400), labels, name=f"s{d}") for d in (4.0, 1.5, 1.4)
    ]
    found = compare(*systems, [(0.1, 5, 1)], resamples=99)
    assert "prior 0.1, costs 5 : 1" in found.sentence
    assert "s4.0" in found.sentence.split("is best")[0]
    told = repr(found)
    for pair in ("s4.0 - s1.5", "s4.0 - s1.4", "s1.5 - s1.4"):
        assert told.count(pair) == 5  # DCF, minimum DCF, EER, AUC and Cllr
    assert found.to_dict()["points"] == ["prior 0.1, costs 5 : 1"]
