"""Comparison where the data say little: no difference may be claimed that an exact test would not see."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tercet as tc
from tercet.metrics.binomial import delong, delong_test, sign_test
from tercet.uncertainty import bootstrap, compare, sample_size
from tercet.uncertainty._kernel.differences import reach

APPS = [(0.5, 1, 1)]


def right_and_wrong(count):
    labels = np.repeat([1, 0], count)
    scores = 2.0 * labels - 1.0
    return tc.Trials.of_llr(scores, labels, name="a"), tc.Trials.of_llr(-scores, labels, name="b")


def erring(name, count, errors):
    """Trials of which so many of each class are decided wrongly."""
    labels = np.repeat([1, 0], count)
    scores = 2.0 * labels - 1.0
    scores[:errors] *= -1.0
    scores[count : count + errors] *= -1.0
    return tc.Trials.of_llr(scores, labels, name=name)


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_handful_of_trials_shows_nothing_however_many_resamples_there_are(count):
    for resamples in (99, 999):
        found = compare(*right_and_wrong(count), APPS, resamples=resamples)
        for one in found.differences:
            assert one.p_value >= sign_test(2 * count, 0), one
            assert one.p_value > 0.05, one
            assert one.low < 0.0 < one.high, one
        dcf = found.of("applications.0.dcf")[0]
        assert -2.0 <= dcf.low <= dcf.high <= 2.0
        assert "no difference" in found.sentence


def test_cllr_without_spread_is_as_sure_as_a_sign_test_of_the_smaller_class():
    for count in (2, 6, 12):
        cllr = compare(*right_and_wrong(count), APPS, resamples=99, quantities=["cllr"]).of("cllr")[0]
        assert cllr.p_value == pytest.approx(sign_test(count, 0), rel=1e-6)


def test_many_trials_all_one_way_do_show_a_difference():
    found = compare(*right_and_wrong(40), APPS, resamples=99)
    assert found.of("applications.0.dcf")[0].p_value < 1e-6
    assert "a is better" in found.sentence


@pytest.mark.parametrize("turned", [False, True])
def test_two_right_answers_do_not_beat_a_large_set(turned):
    big, two = erring("big", 1000, 100), erring("two", 1, 0)
    found = compare(*((two, big) if turned else (big, two)), APPS, resamples=99, unpaired=True)
    for one in found.differences:
        assert one.low <= 0.0 <= one.high, one
        assert one.p_value > 0.5, one


def test_the_room_of_unpaired_sets_is_each_systems_own():
    big, two = erring("big", 1000, 0), erring("two", 1, 0)
    one, other = (
        compare(*pair, APPS, resamples=99, unpaired=True).of("applications.0.dcf")[0]
        for pair in ((big, two), (two, big))
    )
    assert (one.low, one.high) == (-other.high, -other.low)
    assert one.low < -1.9
    assert one.high < 0.01


def test_no_interval_of_a_separable_system_is_a_point():
    found = compare(erring("a", 20, 0), erring("b", 20, 0), APPS, resamples=99)
    named = ("eer", "auc", "min_cllr", *(f"applications.0.{n}" for n in ("fnr", "fpr", "dcf", "min_dcf", "dcf_u")))
    for name in named:
        one = found.of(name)[0]
        assert one.low < 0.0 < one.high, one
        assert one.p_value == 1.0
        for bound in found.values[name]:
            assert bound.low < bound.high, name


@pytest.mark.parametrize("name", ["eer", "applications.0.min_dcf"])
def test_guards_do_not_depend_on_which_quantities_are_asked_for(name):
    found = compare(erring("a", 20, 0), erring("b", 20, 0), APPS, resamples=99, quantities=[name.split(".")[-1]])
    assert found.quantities == (name,)
    assert found.of(name)[0].low < 0.0 < found.of(name)[0].high


def grouped(groups, seed, each=8):
    rng = np.random.default_rng(seed)
    group = np.repeat(np.arange(groups), 2 * each)
    labels = np.tile(np.repeat([1, 0], each), groups)
    return [
        tc.Trials.of_llr(
            3.0 * (labels - 0.5)
            + rng.normal(size=groups)[group] * np.where(labels, 1, -1)
            + rng.normal(size=len(labels)),
            labels,
            name=name,
            groups={"g": group.astype(str)},
        )
        for name in "ab"
    ]


@pytest.mark.parametrize("by", [None, "g"])
def test_systems_have_the_intervals_of_the_bootstrap(by):
    a, b = grouped(12, 3)
    found = compare(a, b, APPS, resamples=199, by=by)
    alone = bootstrap(a, APPS, resamples=199, by=by)
    for name in found.quantities:
        one, other = found.values[name][0], alone[name]
        assert one.value == pytest.approx(other.value, rel=1e-12)
        assert one.method == other.method
        assert one.low == pytest.approx(other.low, abs=0.3 * (other.high - other.low))  # other draws
        assert one.high == pytest.approx(other.high, abs=0.3 * (other.high - other.low))


@given(st.integers(0, 10**6), st.integers(2, 12), st.sampled_from([None, "g"]), st.sampled_from([39, 99, 200]))
@settings(max_examples=25, deadline=None)
def test_an_interval_leaves_out_no_difference_exactly_where_the_p_value_says_so(seed, groups, by, resamples):
    found = compare(*grouped(groups, seed, 3), APPS, resamples=resamples, seed=seed, by=by)
    for one in found.differences:
        assert (one.low > 0.0 or one.high < 0.0) == (one.p_value <= 0.05 + 1e-9), one


def test_few_groups_and_redrawn_resamples_are_told():
    found = compare(*grouped(4, 0), APPS, resamples=99, by="g")
    assert any("only 4 groups" in note for note in found.notes)
    assert "only 4 groups" in repr(found)
    assert json.loads(json.dumps(found.to_dict()))["notes"] == list(found.notes)


def test_ends_beyond_the_resamples_are_those_of_a_normal_distribution():
    ordered = np.linspace(1.0, 2.0, 99)
    low, high = reach(ordered, 1e-6)
    assert low < 1.0 < 2.0 < high
    assert low == pytest.approx(1.5 - 4.7534243 * ordered.std(ddof=1))
    assert reach(np.array([1.0, np.inf]), 1e-6) == (-np.inf, np.inf)


@pytest.mark.parametrize("asked", [[], "bayes_plot", ["risk"], ["contributions"]])
def test_quantities_that_compare_nothing_are_refused(asked):
    with pytest.raises(tc.InputError, match="nothing to compare"):
        compare(*right_and_wrong(5), APPS, quantities=asked)


def test_raw_scores_have_no_cost_to_compare():
    a, b = (tc.Trials.of_scores(t.scores, t.labels, name=t.name) for t in right_and_wrong(5))
    with pytest.raises(tc.InputError, match="nothing to compare"):
        compare(a, b, APPS, quantities=["dcf"])


def test_groups_that_disagree_are_refused():
    a, b = grouped(6, 0)
    other = tc.Trials.of_llr(b.scores, b.labels, name="b", groups={"g": b.groups["g"][::-1]})
    with pytest.raises(tc.InputError, match="Groups 'g' of 'a' and 'b' differ in 96 trials, the first in row 0"):
        compare(a, other, APPS, resamples=39, by="g")
    bare = tc.Trials.of_llr(b.scores, b.labels, name="b")
    assert compare(a, bare, APPS, resamples=39, by="g").by == ("g",)


@pytest.mark.parametrize(
    "wrong",
    [
        {"level": "a"}, {"level": None}, {"level": 95}, {"resamples": "x"}, {"resamples": float("nan")},
        {"resamples": float("inf")}, {"resamples": None}, {"resamples": 5}, {"seed": "a"}, {"seed": float("nan")},
        {"seed": None}, {"seed": -1}, {"threads": "x"}, {"threads": 0}, {"names": 3}, {"names": "ab"},
        {"by": 3}, {"by": ["a", 3]},
    ],
)  # fmt: skip
def test_arguments_that_are_no_numbers_are_refused_in_words(wrong):
    with pytest.raises(tc.InputError, match=next(iter(wrong))):
        compare(*right_and_wrong(5), APPS, **wrong)


# DeLong's test


@pytest.mark.parametrize("count", [2, 3])
def test_delongs_test_without_variance_shows_nothing_of_a_handful(count):
    a, b = right_and_wrong(count)
    flat = tc.Trials.of_llr(np.zeros(2 * count), a.labels)
    for one in (delong_test(a, b), delong_test(a, flat), delong_test(a, a)):
        assert one.low < 0.0 < one.high
        assert one.p_value > 0.05
        assert -1.0 <= one.low <= one.difference <= one.high <= 1.0


@pytest.mark.parametrize("count", [5, 10, 12, 40])
@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.999])
def test_delongs_interval_without_variance_and_its_p_value_agree(count, level):
    a, b = right_and_wrong(count)
    for other in (b, tc.Trials.of_llr(np.zeros(2 * count), a.labels)):
        one = delong_test(a, other, level)
        assert (one.low > 0.0) == (one.p_value < 1.0 - level)
    assert delong_test(*right_and_wrong(40)).p_value < 1e-5


def test_delong_takes_what_it_names():
    a, _ = right_and_wrong(5)
    with pytest.raises(tc.InputError, match="Tally"):
        delong(a)
    with pytest.raises(tc.InputError, match="Trials"):
        delong_test(tc.Tally.of(a), a)


@pytest.mark.parametrize(
    "wrong",
    [("a", 0.1, 0.02), (0.1, None, 0.02), (0.1, 0.1, "x"), (0.1, 0.1, 1e-200), (0.1, 0.1, 5e-324), (1e-320, 0.1, 0.02)],
)
def test_trials_needed_are_refused_where_they_cannot_be_counted(wrong):
    with pytest.raises(tc.InputError):
        sample_size(wrong[0], wrong[1], (0.5, 1, 1), wrong[2])
    with pytest.raises(tc.InputError, match="level"):
        sample_size(0.1, 0.1, (0.5, 1, 1), 0.02, level="a")
