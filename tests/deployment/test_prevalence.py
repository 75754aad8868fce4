"""The share of targets among unlabelled scores: maximum of the likelihood, coverage, 0 and 1; the deployed cost."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tercet as tc
from tercet.deployment.prevalence import _lang_reiczigel


def simulated(rng, share, size, labelled, distance=2.0):
    unlabelled = tc.Trials.of_scores(rng.normal(distance * (rng.random(size) < share)))
    labels = np.r_[np.ones(labelled, bool), np.zeros(labelled, bool)]
    return unlabelled, tc.Trials.of_scores(rng.normal(distance * labels), labels)


def likelihood(llrs, share):
    return sum(math.log(share * math.exp(llr) + 1.0 - share) for llr in llrs)


@settings(max_examples=100)
@given(st.lists(st.floats(-6.0, 6.0), min_size=1, max_size=30).filter(any))
def test_the_estimate_is_the_maximum_of_the_likelihood(llrs):
    found = tc.estimate_prevalence(tc.Trials.of_llr(llrs)).value
    best = max(likelihood(llrs, share) for share in np.linspace(0.0, 1.0, 201))
    assert likelihood(llrs, found) >= best - 1e-9 * (1.0 + abs(best))


def expectation_maximisation(llrs, rounds=2000):
    share = 0.5
    for _ in range(rounds):
        odds = share * np.exp(llrs)
        share = float(np.mean(odds / (odds + 1.0 - share)))
    return share


def test_the_estimate_is_where_expectation_maximisation_ends():
    rng = np.random.default_rng(1)
    llrs = rng.normal(np.where(rng.random(500) < 0.2, 2.0, -2.0), 2.0)
    assert tc.estimate_prevalence(tc.Trials.of_llr(llrs)).value == pytest.approx(
        expectation_maximisation(llrs), abs=1e-9
    )


@pytest.mark.parametrize("labelled", [1000, 100])
def test_intervals_cover_with_the_calibrators_sampling_error_inside(labelled):
    rng, held, fixed, sets = np.random.default_rng(labelled), 0, 0, 60
    for _ in range(sets):
        unlabelled, calibration = simulated(rng, 0.05, 2000, labelled)
        found = tc.estimate_prevalence(unlabelled, calibration)
        held += found.low <= 0.05 <= found.high
        alone = tc.estimate_prevalence(tc.Logistic.fit(calibration)(unlabelled))
        fixed += alone.low <= 0.05 <= alone.high
    assert held / sets >= 0.89
    if labelled == 100:
        assert fixed / sets < 0.8  # holding the calibrator fixed is far too short


def test_rogan_gladen_covers_too():
    rng, held, sets = np.random.default_rng(9), 0, 100
    for _ in range(sets):
        found = tc.estimate_prevalence(*simulated(rng, 0.05, 2000, 200), method="rogan-gladen", threshold=1.0)
        held += found.low <= 0.05 <= found.high
    assert held / sets >= 0.9


@pytest.mark.parametrize("share", [0.0, 1.0])
@pytest.mark.parametrize("method", ["em", "rogan-gladen"])
def test_none_and_all_are_shares_too(share, method):
    rng = np.random.default_rng(3)
    found = [tc.estimate_prevalence(*simulated(rng, share, 1000, 300), method=method) for _ in range(20)]
    assert all(0.0 <= one.low <= one.value <= one.high <= 1.0 for one in found)
    assert np.mean([one.low <= share <= one.high for one in found]) >= 0.8
    assert any(one.value == share for one in found)


def test_a_share_can_be_priced_and_its_assumption_is_said():
    rng = np.random.default_rng(3)
    found = tc.estimate_prevalence(*simulated(rng, 0.2, 1000, 300))
    assert found.application(10, 1) == tc.Application(found.value, 10, 1)
    assert "share of targets has changed" in found.notes[0]
    assert "300 + 300" in found.notes[1]
    assert found.to_dict()["prevalence_ci"] == [found.low, found.high]
    none = tc.estimate_prevalence(tc.Trials.of_llr([-9.0, -9.0]))
    with pytest.raises(tc.UndefinedError, match="no application"):
        none.application()
    assert "perfectly calibrated" in none.notes[1]


def test_rogan_gladen_is_refused_where_the_threshold_separates_nothing():
    rng = np.random.default_rng(4)
    unlabelled, calibration = simulated(rng, 0.2, 500, 50, distance=0.05)
    with pytest.raises(tc.UndefinedError, match="includes 0"):
        tc.estimate_prevalence(unlabelled, calibration, method="rogan-gladen", threshold=0.0)


@pytest.mark.parametrize("labelled", [100, 1000])
def test_lang_and_reiczigels_interval_covers_its_level_with_few_labelled_trials(labelled):
    rng = np.random.default_rng(labelled)
    rate, share, kept = 0.841344746, 0.05, 0  # TPR and TNR of normal scores with d' = 2
    accepted = share * rate + (1.0 - share) * (1.0 - rate)
    for hits, rejected, count in zip(
        rng.binomial(labelled, rate, 3000),
        rng.binomial(labelled, rate, 3000),
        rng.binomial(5000, accepted, 3000),
        strict=True,
    ):
        low, high = _lang_reiczigel(count, 5000, (hits, labelled), (rejected, labelled), 0.95)
        kept += low <= share <= high
    assert 0.935 <= kept / 3000 <= 0.97


def test_rogan_gladen_inverts_the_confusion_matrix():
    labelled = tc.Trials.of_scores([1.0] * 8 + [0.0] * 2 + [1.0] * 1 + [0.0] * 9, [1] * 10 + [0] * 10)
    unlabelled = tc.Trials.of_scores([1.0] * 38 + [0.0] * 62)
    found = tc.estimate_prevalence(unlabelled, labelled, method="rogan-gladen", threshold=0.5)
    assert found.value == pytest.approx((0.38 - 0.1) / (0.8 - 0.1))


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda u, c: tc.estimate_prevalence(u), tc.InputError),  # raw scores without calibration
        (lambda u, c: tc.estimate_prevalence(u, c, method="guess"), tc.InputError),
        (lambda u, c: tc.estimate_prevalence(u, c, threshold=1.0), tc.InputError),
        (lambda u, c: tc.estimate_prevalence(u, method="rogan-gladen"), tc.InputError),
        (lambda u, c: tc.estimate_prevalence(u, u), tc.InputError),
        (lambda u, c: tc.estimate_prevalence(u, c, ci=95), tc.InputError),
        (lambda u, c: tc.estimate_prevalence(tc.Trials.of_llr([1.0]), tc.Trials.of_lr([1.0, 2.0, 1.5, 3.0], [0, 1, 1, 0])), tc.InputError),  # noqa: E501
        (lambda u, c: tc.estimate_prevalence(tc.Trials.of_scores([math.inf]), c), tc.InputError),
        (lambda u, c: tc.estimate_prevalence(tc.Trials.of_llr([]), None), tc.UndefinedError),
        (lambda u, c: tc.estimate_prevalence(tc.Trials.of_llr([1.0], weights=[2.0])), tc.InputError),
        (lambda u, c: tc.estimate_prevalence([1.0]), tc.InputError),
        (lambda u, c: tc.deployed_cost(u, 0.5), tc.InputError),
        (lambda u, c: tc.deployed_cost(tc.Trials.of_llr([1.0]), 0.5), tc.UndefinedError),
    ],
)  # fmt: skip
def test_what_cannot_be_estimated_is_refused(call, error):
    with pytest.raises(error):
        call(*simulated(np.random.default_rng(0), 0.1, 50, 50))


def test_the_expected_cost_of_calibrated_llrs_is_the_actual_cost():
    rng = np.random.default_rng(8)
    labels = rng.random(40_000) < 0.1
    llrs = rng.normal(np.where(labels, 2.0, -2.0), 2.0)  # calibrated: mean = variance / 2
    found = tc.deployed_cost(tc.Trials.of_llr(llrs), (0.1, 5, 1), reference=tc.Trials.of_llr(llrs, labels))
    assert found.interval.low <= found.expected <= found.interval.high
    assert found.expected == pytest.approx(found.reference_actual, rel=0.05)
    assert found.reference_expected == pytest.approx(found.reference_actual, rel=0.05)
    assert found.accepted == pytest.approx(np.mean(llrs > tc.Application(0.1, 5, 1).threshold))


def test_a_share_of_none_or_all_is_known_no_better_than_labels_would_tell():
    none, every = (tc.estimate_prevalence(tc.Trials.of_llr([llr] * 50)) for llr in (-20.0, 20.0))
    ends = tc.clopper_pearson(0, 50, 0.95)
    assert (none.value, none.low, none.high) == (0.0, 0.0, ends.high)
    assert (every.value, every.low, every.high) == (1.0, pytest.approx(1.0 - ends.high, abs=1e-12), 1.0)


@pytest.mark.parametrize(("share", "distance"), [(0.05, 1.0), (0.95, 1.0), (0.05, 0.5)])
def test_intervals_of_estimates_at_0_and_1_cover(share, distance):
    rng, held, at_the_end, sets = np.random.default_rng(3), 0, 0, 80
    for _ in range(sets):
        unlabelled, calibration = simulated(rng, share, 200, 100, distance)
        found = tc.estimate_prevalence(unlabelled, calibration)
        held += found.low <= share <= found.high
        at_the_end += found.value in (0.0, 1.0)
    assert at_the_end > 10
    assert held / sets >= 0.9


def test_scores_that_separate_nothing_leave_every_share_possible():
    rng = np.random.default_rng(0)
    noise = tc.Trials.of_scores(rng.normal(size=100), [0, 1] * 50)
    found = tc.estimate_prevalence(tc.Trials.of_scores(rng.normal(size=50)), noise)
    assert (found.low, found.high) == (0.0, 1.0)
    with pytest.raises(tc.UndefinedError, match="every llr is 0"):
        tc.estimate_prevalence(tc.Trials.of_llr([0.0, 0.0, 0.0]))


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_rogan_gladen_at_0_and_1_has_an_interval_too(sign):
    rng = np.random.default_rng(0)
    _, calibration = simulated(rng, 0.5, 10, 100)
    found = tc.estimate_prevalence(
        tc.Trials.of_scores(rng.normal(9.0 * sign, size=50)), calibration, method="rogan-gladen"
    )
    assert found.value == (sign > 0.0)
    assert found.high - found.low == pytest.approx(tc.clopper_pearson(0, 50).high)


def test_the_deployed_cost_refuses_weights_instead_of_leaving_them_out():
    with pytest.raises(tc.InputError, match="without weights"):
        tc.deployed_cost(tc.Trials.of_llr([0.0, 5.0, -5.0], weights=[100, 1, 1]), (0.5, 1, 1))


def test_one_labelled_trial_of_a_class_gives_no_interval():
    labelled = tc.Trials.of_scores([2.0, 0.0, -1.0, 3.0, 1.0, 1.0, 2.0, -2.0], [0, 0, 0, 0, 0, 0, 1, 0])
    with pytest.raises(tc.UndefinedError, match="two trials of each class"):
        tc.estimate_prevalence(tc.Trials.of_scores([1.0, 0.0, 2.0]), labelled)


@pytest.mark.parametrize(("scale", "shift"), [(1.0, 1e9), (1e-9, 0.0), (2.0**900, 0.0), (-1.0, 3.0)])
def test_the_interval_does_not_depend_on_the_size_of_the_scores(scale, shift):
    rng = np.random.default_rng(3)
    labels = np.repeat([True, False], 60)
    scores, new = np.round(rng.normal(labels * 2.0), 2), np.round(rng.normal((rng.random(80) < 0.3) * 2.0), 2)
    plain, moved = (
        tc.estimate_prevalence(tc.Trials.of_scores(a * new + b), tc.Trials.of_scores(a * scores + b, labels))
        for a, b in ((1.0, 0.0), (scale, shift))
    )
    assert (moved.value, moved.low, moved.high) == pytest.approx((plain.value, plain.low, plain.high), abs=1e-5)
    assert plain.low < plain.value < plain.high


def test_labelled_scores_far_beyond_the_others_give_no_interval():
    labelled = tc.Trials.of_scores([1.0, 2.0, 1.0, 1e300, -2.0, 0.0, 1e300], [0, 0, 1, 1, 1, 0, 1])
    with pytest.raises(tc.UndefinedError, match="far too large"):
        tc.estimate_prevalence(labelled, labelled)
