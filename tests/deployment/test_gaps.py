"""Gaps between groups: rates by hand, intervals that cover, Holm, groups that lack a class, refusals."""

import math

import numpy as np
import pytest

import tercet as tc


def trials_of(rows, **groups):
    llrs, labels = zip(*rows, strict=True)
    return tc.Trials.of_llr(llrs, labels, groups=groups)


ROWS = [(1, 1), (-1, 1), (-1, 0), (1, 0), (1, 1), (1, 1), (-1, 0), (-1, 0)]


def test_rates_and_costs_are_those_of_each_group_alone():
    trials = trials_of(ROWS, site=list("aaaabbbb"))
    found = tc.group_gaps(trials, "site", (0.2, 5, 1))
    for row in found.groups:
        part = trials.select(trials.groups["site"] == row.group)
        own = tc.evaluate(part, [(0.2, 5, 1)]).applications[0]
        assert (row.values["fnr"], row.values["fpr"]) == (own.fnr, own.fpr)
        assert row.values["dcf_u"] == pytest.approx(own.dcf_u)
        bound = tc.evaluate(part, [(0.2, 5, 1)], ci=0.95).intervals["applications.0.fnr"]
        assert row.intervals["fnr"][:2] == pytest.approx((bound.low, bound.high))
    gap = found.of("dcf_u")[0]
    assert gap.difference == pytest.approx(0.2 * 5 * 0.5 + 0.8 * 0.5)
    assert found.worst == {"fnr": "a", "fpr": "a", "acceptance_rate": "a", "dcf_u": "a"}


def test_a_group_without_a_class_is_reported_for_what_exists_there():
    trials = trials_of([*ROWS, (1, 1), (-1, 1)], site=[*"aaaabbbb", "c", "c"])
    found = tc.group_gaps(trials, "site", 0.5)
    lonely = found.groups[2]
    assert lonely.values["fnr"] == 0.5
    assert lonely.values["fpr"] is lonely.values["dcf_u"] is None
    assert "no non-targets in c" in lonely.reasons["fpr"]
    assert {(gap.first, gap.second) for gap in found.of("fpr")} == {("a", "b")}
    assert len(found.of("fnr")) == 3
    assert lonely.values["acceptance_rate"] == 0.5  # needs no class
    assert len(found.of("acceptance_rate")) == 3
    assert set(lonely.reasons) == {"fpr", "dcf_u"}


def test_a_reference_is_compared_with_every_other_group():
    trials = trials_of(ROWS * 2, site=[*"aaaabbbb", *"ccccdddd"])
    found = tc.group_gaps(trials, "site", 0.5, reference="b")
    assert [(gap.first, gap.second) for gap in found.of("fnr")] == [("a", "b"), ("c", "b"), ("d", "b")]
    assert found.of("fnr")[0].ratio is None
    assert found.of("fnr")[0].ratio_ci.high == math.inf
    assert found.to_dict()["gaps"][0]["ratio_ci"][1] == "inf"


def test_the_p_value_and_the_interval_agree_and_holm_only_raises():
    rng = np.random.default_rng(0)
    labels = rng.random(600) < 0.5
    trials = tc.Trials.of_llr(
        rng.normal(np.where(labels, 1, -1), 1.4), labels, groups={"site": rng.choice(list("xyz"), 600)}
    )
    found = tc.group_gaps(trials, "site", 0.5)
    for gap in found.gaps:
        out = gap.difference_ci.low > 0.0 or gap.difference_ci.high < 0.0
        assert out == (gap.p_value < 0.05)
        assert gap.adjusted >= gap.p_value
    ordered = sorted(found.gaps, key=lambda gap: gap.p_value)
    assert ordered[0].adjusted == pytest.approx(min(1.0, ordered[0].p_value * len(ordered)))


@pytest.mark.parametrize("grouped", [False, True])
def test_intervals_of_differences_cover_about_as_often_as_they_say(grouped):
    rng, held, sets = np.random.default_rng(1), 0, 300 if grouped else 80
    for _ in range(sets):
        speakers = np.repeat(np.arange(50), 8)
        shared = rng.normal(size=50)[speakers] * grouped
        labels = np.arange(400) % 2 == 0
        llrs = np.where(labels, 1.0, -1.0) + shared + rng.normal(size=400)
        trials = tc.Trials.of_llr(llrs, labels, groups={"site": np.arange(400) // 2 % 2, "speaker": speakers})
        gap = tc.group_gaps(trials, "site", 0.5, by="speaker" if grouped else None).of("fnr")[0]
        held += gap.difference_ci.low <= 0.0 <= gap.difference_ci.high
    assert 0.9 <= held / sets <= 0.99


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"column": "town"}, "column='town'"),
        ({"reference": "z"}, "reference='z'"),
        ({"by": "speaker"}, "by='speaker'"),
        ({"ci": 95}, "ci"),
        ({"column": "one"}, "at least two"),
    ],
)
def test_what_cannot_be_compared_is_refused(change, words):
    trials = trials_of(ROWS, site=list("aaaabbbb"), one=list("aaaaaaaa"))
    with pytest.raises(tc.InputError, match=words):
        tc.group_gaps(trials, **{"column": "site", "application": 0.5, **change})


def test_weights_many_groups_and_raw_scores_are_refused():
    with pytest.raises(tc.InputError, match="weights"):
        tc.group_gaps(tc.Trials.of_llr([1.0, 2.0], [1, 0], weights=[1, 2], groups={"g": ["a", "b"]}), "g", 0.5)
    with pytest.raises(tc.InputError, match="calibrate"):
        tc.group_gaps(tc.Trials.of_scores([1.0, 2.0], [1, 0], groups={"g": ["a", "b"]}), "g", 0.5)
    many = tc.Trials.of_llr(np.arange(30.0), np.arange(30) % 2, groups={"g": [f"{i}" for i in range(30)]})
    with pytest.raises(tc.InputError, match="reference"):
        tc.group_gaps(many, "g", 0.5)
    with pytest.raises(tc.InputError, match="quantity"):
        tc.group_gaps(trials_of(ROWS, site=list("aaaabbbb")), "site", 0.5).of("eer")


def speakers_of(rng, shared, size=400, speakers=40):
    owner = np.repeat(np.arange(speakers), size // speakers)
    labels = np.arange(size) % 2 == 0
    llrs = np.where(labels, 1.0, -1.0) + shared * rng.normal(size=speakers)[owner] + rng.normal(size=size)
    groups = {"site": np.arange(size) // 2 % 2, "speaker": owner}
    return tc.Trials.of_llr(llrs, labels, groups=groups)


def test_the_rates_of_a_group_cover_over_speakers_too():
    rng, held, sets = np.random.default_rng(3), {"speaker": 0, None: 0}, 300
    true = 0.5 * math.erfc(1.0 / math.sqrt(2.0 * 2.0))
    for _ in range(sets):
        trials = speakers_of(rng, 1.0)
        for by in held:
            ends = tc.group_gaps(trials, "site", 0.5, by=by).groups[0].intervals["fnr"]
            held[by] += ends.low <= true <= ends.high
    assert 0.92 <= held["speaker"] / sets <= 0.99
    assert held[None] / sets < 0.92


@pytest.mark.parametrize("by", [None, "speaker"])
def test_joint_resamples_agree_with_the_closed_forms(by):
    trials = speakers_of(np.random.default_rng(4), 0.7, 2000, 100)
    closed = tc.group_gaps(trials, "site", (0.2, 3, 1), by=by)
    drawn = tc.group_gaps(trials, "site", (0.2, 3, 1), by=by, resamples=4000, seed=1)
    for one, other in zip(closed.gaps, drawn.gaps, strict=True):
        assert (one.difference, one.ratio) == (other.difference, other.ratio)
        width = one.difference_ci.high - one.difference_ci.low
        assert abs(other.difference_ci.low - one.difference_ci.low) < 0.15 * width
        assert abs(other.difference_ci.high - one.difference_ci.high) < 0.15 * width
        assert abs(math.log(other.ratio_ci.high / one.ratio_ci.high)) < 0.1
        assert abs(math.log(other.ratio_ci.low / one.ratio_ci.low)) < 0.1
        assert "joint percentile bootstrap" in other.difference_ci.method
    assert drawn.worst == closed.worst
    assert closed.worst_in == {}
    assert all(0.5 < share <= 1.0 for share in drawn.worst_in.values())
    assert drawn == tc.group_gaps(trials, "site", (0.2, 3, 1), by=by, resamples=4000, seed=1)


def test_groups_that_differ_in_everything_are_not_certain_to():
    rows = [(-1, 1)] * 6 + [(1, 1)] * 6 + [(-1, 0)] * 12
    site, speaker = list("a" * 6 + "b" * 6 + "a" * 6 + "b" * 6), [k % 3 for k in range(24)]
    gap = tc.group_gaps(trials_of(rows, site=site, speaker=speaker), "site", 0.5, by="speaker").of("fnr")[0]
    assert gap.difference == 1.0
    assert gap.difference_ci.low < 1.0
    assert gap.p_value > 0.0


def test_numbers_that_most_resamples_lack_keep_their_closed_form():
    rows = [(1, 1), (-1, 0), (-1, 1), (1, 0), (1, 1), (1, 1), (-1, 0), (-1, 0)]
    trials = trials_of(rows, site=list("aabbbbbb"), speaker=list("xyuuvvww"))
    found = tc.group_gaps(trials, "site", 0.5, by="speaker", resamples=999)
    assert "bootstrap" in found.of("fnr")[0].difference_ci.method
    assert "student" in found.of("dcf_u")[0].difference_ci.method


@pytest.mark.parametrize("errors", [(0, 0), (0, 20), (3, 20)])
def test_a_ratio_of_costs_has_width_where_a_rate_is_0_or_1(errors):
    misses, alarms = errors
    rows = [(-1 if k < misses else 1, 1) for k in range(20)] + [(1 if k < alarms else -1, 0) for k in range(20)]
    rows[0], rows[20] = (-1, 1) if misses else rows[0], (1, 0)  # so that every cost is above 0
    found = tc.group_gaps(trials_of(rows * 2, site=["a"] * 40 + ["b"] * 40), "site", 0.5).of("dcf_u")[0]
    assert found.ratio == 1.0
    assert found.ratio_ci.low < 0.95
    assert found.ratio_ci.high > 1.05
    assert found.ratio_ci.low * found.ratio_ci.high == pytest.approx(1.0)  # the two groups are alike


def test_the_ratio_of_costs_covers_with_few_errors():
    rng, held, sets, true = np.random.default_rng(5), 0, 600, (0.6 * 0.05 + 0.4 * 0.02) / (0.6 * 0.1 + 0.4 * 0.02)
    labels, site = np.tile(np.repeat([1, 0], [20, 100]), 2), np.repeat(["a", "b"], 120)
    for _ in range(sets):
        wrong = rng.random(240) < np.where(labels == 0, 0.02, np.where(site == "a", 0.05, 0.1))
        trials = tc.Trials.of_llr(np.where(wrong, -1.0, 1.0) * (2 * labels - 1), labels, groups={"site": site})
        ends = tc.group_gaps(trials, "site", (0.5, 0.6, 0.4)).of("dcf_u")[0].ratio_ci
        held += ends is None or ends.low <= true <= ends.high
    assert held / sets >= 0.93


def test_intervals_over_groups_are_never_narrower_than_those_of_independent_trials():
    trials = speakers_of(np.random.default_rng(6), 0.0, 400, 40)
    alone, grouped = (tc.group_gaps(trials, "site", (0.2, 3, 1), by=by) for by in (None, "speaker"))
    for one, other in zip(alone.gaps, grouped.gaps, strict=True):
        for name in ("difference_ci", "ratio_ci"):
            assert getattr(other, name).low <= getattr(one, name).low
            assert getattr(other, name).high >= getattr(one, name).high


def test_a_compared_group_in_one_cluster_is_refused():
    trials = trials_of(ROWS, site=list("aaaabbbb"), region=list("nnnnsstt"), patient=list("ababcdcd"))
    for by in ("site", "region"):
        with pytest.raises(tc.InputError, match=f"by='{by}': all trials of 'a' are in one group"):
            tc.group_gaps(trials, "site", 0.5, by=by)
    assert tc.group_gaps(trials, "site", 0.5, by="patient", ci=0.99999).of("acceptance_rate")[0].ratio_ci.high > 1.0


def test_too_few_resamples_for_the_level_are_refused():
    trials = tc.Trials.of_llr([1.0, -1.0] * 6, [1, 0, 1, 1] * 3, groups={"site": ["a"] * 6 + ["b"] * 6})
    with pytest.raises(tc.InputError, match="resamples must be a whole number, at least 39 for intervals at 95 %"):
        tc.group_gaps(trials, "site", 0.5, resamples=3)
