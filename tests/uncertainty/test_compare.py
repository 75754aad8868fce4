"""Comparison of systems: what is paired, what is concluded, and what is refused."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tercet as tc
from tercet.uncertainty import compare, holm

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
    found = compare(*systems(), APPS)
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
    found = compare(a, a, APPS)
    assert found.names == ("a (1)", "a (2)")
    assert [row.rank for row in found.ranks()] == [1, 1]
    assert all(row.tied for row in found.ranks())
    assert "no difference" in found.sentence
    for one in found.differences:
        assert (one.value, one.p_value) == (0.0, 1.0)
    dcf = found.of("applications.0.dcf")[0]
    assert dcf.low < 0.0 < dcf.high  # not told apart by this many trials is not the same
    assert "Clopper-Pearson" in dcf.method


def test_differences_are_those_of_the_evaluations():
    a, b = systems()
    found, (ev, other) = compare(a, b, APPS), (tc.evaluate(t, APPS) for t in (a, b))
    assert same(found.of("auc")[0].value, ev.auc - other.auc)
    assert same(found.of("applications.1.min_dcf")[0].value, ev.applications[1].min_dcf - other.applications[1].min_dcf)


def test_pairing_is_sharper_than_two_independent_sets():
    a, b = systems((0.3, 0.5))
    paired, apart = (compare(a, b, APPS, unpaired=u).of("auc")[0] for u in (False, True))
    assert paired.high - paired.low < apart.high - apart.low


def test_swapping_the_systems_swaps_the_signs_and_nothing_else():
    a, b = systems()
    one, other = (compare(x, y, APPS).of("auc")[0] for x, y in ((a, b), (b, a)))
    assert one.value == -other.value
    assert one.p_value == pytest.approx(other.p_value, abs=0.05)


def test_trials_are_matched_by_id_whatever_their_order():
    a, b = systems()
    turned = b.select(np.random.default_rng(1).permutation(len(b)))
    for by in (None, "speaker"):
        one, other = (compare(a, t, APPS, by=by) for t in (b, turned))
        assert one.differences == other.differences


def test_without_ids_trials_are_matched_by_position_when_labels_agree():
    with_ids, without = systems(), systems(ids=False)
    assert compare(*with_ids, APPS).differences == compare(*without, APPS).differences


def test_threads_of_a_bootstrap_do_not_matter():
    for by in (None, "speaker"):
        one, many = (compare(*systems(), APPS, resamples=40, by=by, threads=n) for n in (1, 3))
        assert one.differences == many.differences


@pytest.mark.parametrize("by", [None, "speaker"])
def test_many_systems_are_compared_pair_by_pair_with_holms_correction(by):
    found = compare(*systems((0.1, 0.12, 1.5, 3.0)), applications=APPS, by=by)
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
    assert [test.test for test in found.tests] == ["McNemar", "sign-flip"]


def test_exact_tests_stand_beside_the_bootstrap():
    a, b = systems()
    tests = {(one.test, one.quantity): one.p_value for one in compare(a, b, APPS).tests}
    assert tests["DeLong", "auc"] == tc.delong_test(a, b).p_value
    decisions = [tc.decide(t, APPS[0]) for t in (a, b)]
    expected = tc.mcnemar(*decisions, a.labels.astype(np.int8)).p_value
    assert tests["McNemar", "applications.0.confusion"] == expected
    grouped = compare(a, b, APPS, by="speaker").tests  # the others take trials to be independent
    assert {one.test for one in grouped} == {"sign-flip"}


def test_raw_scores_are_compared_by_what_they_have():
    a, b = (tc.Trials.of_scores(t.scores, t.labels, name=t.name) for t in systems())
    found = compare(a, b, APPS)
    assert "applications.0.min_dcf" in found.quantities
    assert "applications.0.dcf" not in found.quantities


def test_a_comparison_is_strict_json():
    json.dumps(compare(*systems(), APPS).to_dict(), allow_nan=False)
    endless = [tc.Trials.of_llr([np.inf, 0.5, 1.0, -np.inf], [0, 1, 1, 0], name=n) for n in "ab"]
    found = compare(*endless, APPS)
    json.dumps(found.to_dict(), allow_nan=False)
    assert repr(found)


# Refused


def test_different_trials_are_refused_unless_asked():
    a, b = systems()
    fewer = b.select(np.arange(len(b)) != 7)
    with pytest.raises(tc.InputError, match=r"1 missing, 0 extra \(7\)"):
        compare(a, fewer, APPS)
    assert not compare(a, fewer, APPS, unpaired=True).paired
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
    with pytest.raises(tc.InputError, match="must be Trials"):
        compare(a, [1.0, 2.0], applications=APPS)
    with pytest.raises(tc.InputError, match="distinct"):
        compare(a, b, APPS, names=["x", "x"])
    with pytest.raises(tc.InputError, match="not compared"):
        compare(a, b, APPS).of("f1")
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


def test_p_values_are_uniform_enough_when_systems_are_alike():
    """Under no difference about one comparison in ten has p < 0.1; at most 22 of 100 here (1 in 10,000 by chance)."""
    small = [compare(*systems((0.5, 0.5), 120, seed), APPS[:1], quantities=["auc"]) for seed in range(100)]
    below = sum(one.of("auc")[0].p_value < 0.1 for one in small)
    assert 2 <= below <= 22


def test_the_words_name_the_working_point_and_every_pair_stands_in_the_table():
    rng = np.random.default_rng(0)
    labels = np.arange(400) % 2
    systems = [
        tc.Trials.of_llr((labels - 0.5) * d + rng.normal(size=400), labels, name=f"s{d}") for d in (4.0, 1.5, 1.4)
    ]
    found = compare(*systems, [(0.1, 5, 1)])
    assert "prior 0.1, costs 5 : 1" in found.sentence
    assert "s4.0" in found.sentence.split("is best")[0]
    told = repr(found)
    for pair in ("s4.0 - s1.5", "s4.0 - s1.4", "s1.5 - s1.4"):
        assert told.count(pair) == 4  # DCF, minimum DCF, EER and AUC
    assert found.to_dict()["points"] == ["prior 0.1, costs 5 : 1"]


@pytest.mark.parametrize("by", [None, "speaker"])
@pytest.mark.parametrize("resamples", [None, 59])
def test_a_comparison_and_an_evaluation_give_one_system_the_same_interval(by, resamples):
    a, b = systems()
    found = compare(a, b, APPS, by=by, resamples=resamples, seed=3)
    alone = tc.evaluate(a, APPS, ci=0.95, by=by, resamples=resamples, seed=3).intervals
    for name in ("auc", "eer", "cllr", "applications.0.dcf", "applications.1.min_dcf"):
        if name in found.values:
            assert found.values[name][0][:4] == alone[name][:4]


def test_interval_and_p_value_say_the_same():
    for one in compare(*systems((0.3, 0.5, 1.0)), APPS).differences:
        assert (one.p_value < 0.05) == (not one.low <= 0.0 <= one.high), one


def test_margins_turn_a_difference_into_equivalence_and_non_inferiority():
    a, b = systems((0.3, 0.35))
    found = compare(a, b, APPS)
    name = "applications.0.dcf"
    one = found.of(name)[0]
    edge = max(abs(one.low), abs(one.high))
    assert found.equivalent(name, "a", "b", 1.01 * edge).shown
    assert not found.equivalent(name, "a", "b", 0.5 * edge).shown
    assert found.non_inferior(name, "a", "b", 1.01 * one.high).shown
    assert found.non_inferior(name, "b", "a", -1.01 * one.low).shown
    assert found.equivalent(name, "a", "b", edge).p_value == found.equivalent(name, "b", "a", edge).p_value
    with pytest.raises(tc.InputError, match="margin"):
        found.equivalent(name, "a", "b", -1.0)


def test_a_sign_flip_test_of_few_trials_tries_every_flip():
    """Five trials that only the second gets wrong: the p-value of five heads in a row, both ways."""
    llr = np.r_[np.ones(20), -np.ones(20)]
    worse = llr.copy()
    worse[:5] = -1.0
    labels = np.repeat([1, 0], 20)
    a, b = (tc.Trials.of_llr(own, labels) for own in (llr, worse))
    tests = {one.test: one.p_value for one in compare(a, b, [0.5]).tests if one.quantity != "auc"}
    assert tests == {"McNemar": 0.0625, "sign-flip": 0.0625}


def test_a_correction_over_all_numbers_is_never_milder():
    pairs, everything = (compare(*systems((0.3, 0.5)), APPS, correction=how) for how in ("pairs", "all"))
    for one, other in zip(pairs.differences, everything.differences, strict=True):
        assert one.adjusted <= other.adjusted


@pytest.mark.parametrize("share", [0.05, 0.3])
def test_errors_that_only_one_system_makes_exclude_each_other(share):
    """The difference of two shares of one sample varies by (p + q - (p - q)^2) / n, however many trials differ."""
    count = 20000
    only = round(share * count)
    labels = np.r_[np.ones(count, int), np.zeros(100, int)]
    right = np.where(labels == 1, 3.0, -3.0)
    one, other = right.copy(), right.copy()
    one[:only], other[only : 2 * only] = -3.0, -3.0
    systems = [tc.Trials.of_llr(llr, labels) for llr in (one, other)]
    found = tc.compare(*systems, [0.5], names=["a", "b"], quantities=["fnr"]).differences[0]
    expected = 1.959964 * np.sqrt(2.0 * share / count)
    assert found.high == pytest.approx(expected, rel=0.01)
    assert found.low == pytest.approx(-expected, rel=0.01)


def test_errors_of_one_system_alone_tell_how_alike_the_trials_of_a_speaker_are():
    """Eight false alarms of eight speakers, none of the other system's: trials of a speaker do not look alike."""
    labels = np.arange(2000) % 10 == 0
    speakers = [f"s{k % 30}" for k in range(2000)]
    right = np.where(labels, 6.0, -6.0)
    worse = right.copy()
    worse[np.flatnonzero(~labels)[:8]] = 6.0
    a, b = (tc.Trials.of_llr(llr, labels, groups={"speaker": speakers}) for llr in (worse, right))
    alone, grouped = (compare(a, b, [0.01], by=by).of("applications.0.fpr")[0] for by in (None, "speaker"))
    assert grouped.p_value < 0.05
    assert grouped.high - grouped.low == pytest.approx(alone.high - alone.low, rel=0.25)


def test_equal_systems_whose_errors_cluster_strongly_are_seldom_told_apart():
    """20 speakers of very different sizes, about 60 differing trials, each speaker with a preference of their own."""
    rng = np.random.default_rng(4)
    told_apart = 0
    for _ in range(120):
        sizes = np.maximum(rng.poisson(rng.gamma(1.0, 60.0, 20)), 1)
        errors = [rng.binomial(size, min(0.05 * rng.gamma(0.5, 2.0), 0.9)) for size in sizes]
        own = [rng.binomial(count, rng.beta(0.25, 0.25)) for count in errors]
        first, second = (np.concatenate(parts) for parts in zip(*map(_discordant, sizes, errors, own), strict=True))
        speakers = np.repeat(np.arange(20), sizes)
        labels = np.r_[np.zeros(len(first)), np.ones(40)]
        groups = {"speaker": np.r_[speakers, np.arange(40) % 20]}
        systems = [tc.Trials.of_llr(np.r_[llr, np.full(40, 6.0)], labels, groups=groups) for llr in (first, second)]
        found = compare(*systems, [0.01], by="speaker", quantities=["fpr"]).of("applications.0.fpr")[0]
        told_apart += found.p_value <= 0.05
    assert told_apart <= 10  # 6 are expected at 5 %; the limits of the discordant errors alone tell 15 apart


def _discordant(size, errors, own):
    """The llrs of one speaker's non-targets: `own` errors of the first system alone, the others of the second."""
    place = np.arange(size)
    return np.where(place < own, 9.0, -9.0), np.where((place >= own) & (place < errors), 9.0, -9.0)


def test_crossed_groupings_have_no_sign_flip_test_and_the_least_p_value_of_the_fewer_groups():
    """Flipping whole enrolment speakers would take the three test speakers, which decide, as independent."""
    rng = np.random.default_rng(3)
    labels = np.arange(240) % 2
    groups = {"enrol": np.char.add("e", (np.arange(240) // 2 % 40).astype(str)),
              "test": np.char.add("t", (np.arange(240) // 2 % 3).astype(str))}  # fmt: skip
    systems = [
        tc.Trials.of_llr(2.0 * labels - 1.0 + rng.normal(size=240) + shift, labels, groups=groups, name=name)
        for name, shift in (("a", 0.0), ("b", 1.0))
    ]
    found = tc.compare(*systems, [(0.5, 1, 1)], by=("enrol", "test"))
    assert found.tests == ()
    assert {one.least_p for one in found.differences if one.quantity.endswith("fpr")} == {0.25}
    assert min(one.p_value for one in found.differences) >= 0.25
    assert {one.test for one in tc.compare(*systems, [(0.5, 1, 1)], by="test").tests} == {"sign-flip"}


def test_independent_sets_have_no_p_value_below_that_of_exchanging_their_trials():
    """5 + 5 trials of each system can be exchanged in 252 ways within a class; MOVER gave the cost p = 2e-6."""
    labels = np.repeat([1, 0], 5)
    systems = [tc.Trials.of_llr(np.where(labels == 1, sign, -sign), labels, name=f"{sign:g}") for sign in (5.0, -5.0)]
    found = tc.compare(*systems, [(0.5, 1, 1)], unpaired=True)
    least = {"fnr": 2 / 252, "fpr": 2 / 252, "dcf": 2 / 252**2, "auc": 2 / 252**2}
    for one in found.differences:
        name = one.quantity.split(".")[-1]
        if name in least:
            assert one.least_p == pytest.approx(least[name])
            assert one.p_value >= one.least_p


def test_groups_are_what_independent_sets_exchange():
    labels, groups = np.tile([1, 0], 20), {"speaker": np.arange(40) // 2 % 4}
    systems = [tc.Trials.of_llr(np.where(labels == 1, sign, -sign), labels, groups=groups) for sign in (5.0, -5.0)]
    found = tc.compare(*systems, [(0.5, 1, 1)], unpaired=True, by="speaker").of("applications.0.fnr")[0]
    assert found.least_p == pytest.approx(2 / 70)
    assert found.p_value >= found.least_p


@pytest.mark.parametrize("groups", [2, 3])
def test_no_difference_reaches_beyond_what_the_numbers_can_differ_by(groups):
    """Student's t of two groups bounded a difference of miss rates by 2.9."""
    rng = np.random.default_rng(1)
    labels, names = np.tile([1, 0], 30), {"speaker": np.arange(60) // 2 % groups}
    systems = [tc.Trials.of_llr(3.0 * labels - 1.5 + rng.normal(size=60), labels, groups=names) for _ in range(2)]
    for one in tc.compare(*systems, [(0.5, 1, 1)], by="speaker").differences:
        most = {"eer": 0.5, "dcf": 2.0}.get(one.quantity.split(".")[-1], 1.0)
        assert one.quantity.endswith("cllr") or -most <= one.low <= one.high <= most


@pytest.mark.parametrize("most", [2, 9])
def test_whole_weights_are_repeated_rows_to_every_p_value(most):
    rng = np.random.default_rng(4)
    labels, weights = np.arange(40) % 2, rng.integers(1, most, 40)
    scores = [np.round(2.0 * labels - 1.0 + rng.normal(size=40), 1) for _ in range(2)]
    weighted = [tc.Trials.of_llr(one, labels, weights=weights.astype(float)) for one in scores]
    repeated = [tc.Trials.of_llr(np.repeat(one, weights), np.repeat(labels, weights)) for one in scores]
    one, other = (tc.compare(*own, [(0.5, 1, 1), (0.05, 1, 1)], names=["a", "b"]) for own in (weighted, repeated))
    for a, b in zip(one.differences, other.differences, strict=True):
        assert (a.quantity, a.least_p) == (b.quantity, b.least_p)
        assert (a.low, a.high, a.p_value) == pytest.approx((b.low, b.high, b.p_value))
    flips = [{row.quantity: row.p_value for row in own.tests if row.test == "sign-flip"} for own in (one, other)]
    assert flips[0] == flips[1]
