"""No end lies where the number cannot be, and no interval is a point: what resamples cannot show is left open."""

import json

import numpy as np
import pytest

import tercet as tc
from tercet.uncertainty import bootstrap, by_condition, with_intervals
from tercet.uncertainty._kernel.guards import two_block_cllr

APPS = [(0.5, 1, 1), (0.01, 1, 1), (0.9, 1, 10), (0.3, 5, 2)]


def noisy_groups(count, seed=0):
    """Six trials of each group; what sets groups apart is nearly as large as what sets classes apart."""
    rng = np.random.default_rng(seed)
    groups, labels = np.repeat(np.arange(count), 6), np.tile([1, 1, 1, 0, 0, 0], count)
    offset = rng.normal(0, 0.7, count)[groups] * np.where(labels, 1, -1)
    return tc.Trials.of_llr(rng.normal(0.6 * (labels - 0.5) + offset, 1), labels, groups={"speaker": groups})


def separable(count, sign=1.0):
    labels = np.repeat([1, 0], count)
    return tc.Trials.of_llr(sign * (2.0 * labels - 1.0), labels)


@pytest.mark.parametrize("groups", [2, 3, 5, 12, 30])
@pytest.mark.parametrize("method", ["student", "bca", "percentile"])
def test_ends_stay_where_the_number_can_be(groups, method):
    found = bootstrap(noisy_groups(groups), APPS, by="speaker", resamples=99, method=method)
    most = {"eer": 0.5, "auc": 1.0, "min_cllr": 1.0}
    for k, (prior, cost_fn, cost_fp) in enumerate(APPS):
        parts = (prior * cost_fn, (1 - prior) * cost_fp)
        most |= {
            f"applications.{k}.fnr": 1.0, f"applications.{k}.fpr": 1.0, f"applications.{k}.min_dcf": 1.0,
            f"applications.{k}.dcf_u": sum(parts), f"applications.{k}.min_dcf_u": min(parts),
            f"applications.{k}.dcf": sum(parts) / min(parts),
            f"applications.{k}.calibration_loss": sum(parts) / min(parts),
        }  # fmt: skip
    for name, end in most.items():
        assert 0.0 <= found[name].low <= found[name].value <= found[name].high <= end * (1 + 1e-12), name
    grid = np.linspace(-3, 3, 21)
    assert (found["bayes_plot.dcf"].high <= (1 + np.exp(np.abs(grid))) * (1 + 1e-12)).all()


@pytest.mark.parametrize("groups", [3, 12])
def test_costs_with_and_without_normaliser_are_one_number(groups):
    found = bootstrap(noisy_groups(groups), APPS, by="speaker", resamples=99)
    for k, (prior, cost_fn, cost_fp) in enumerate(APPS):
        dummy = min(prior * cost_fn, (1 - prior) * cost_fp)
        for name in ("dcf", "min_dcf"):
            bare, normal = found[f"applications.{k}.{name}_u"], found[f"applications.{k}.{name}"]
            assert (bare.low, bare.high) == pytest.approx((dummy * normal.low, dummy * normal.high), rel=1e-9)
            assert bare.method == normal.method


def test_risks_of_three_classes_stay_below_the_worst_decisions():
    rng = np.random.default_rng(4)
    labels, groups = np.tile([0, 1, 2], 12), np.repeat([0, 1, 2], 12)
    app = tc.Application.multiclass([0.2, 0.3, 0.5], [[0, 1, 4], [1, 0, 1], [2, 3, 0]])
    trials = tc.Trials.of_log_likelihoods(rng.normal(0, 2, (36, 3)), labels, groups={"speaker": groups})
    found = bootstrap(trials, [app], by="speaker", resamples=99)
    worst = 0.2 * 2 + 0.3 * 3 + 0.5 * 4
    assert found["applications.0.risk"].high <= worst + 1e-12
    assert found["applications.0.dcf"].high <= worst / app.dummy_cost + 1e-12
    assert found["brier"].high <= 2.0


@pytest.mark.parametrize(("groups", "words"), [(2, "hardly anything"), (3, "hardly anything"), (5, "too short")])
def test_few_groups_are_noted_for_what_they_are(groups, words):
    assert words in bootstrap(noisy_groups(groups), by="speaker", resamples=39).notes[0]


def test_fewer_separable_trials_never_tell_more():
    highs = [bootstrap(separable(count), resamples=39)["min_cllr"].high for count in (1, 2, 3, 5, 10, 50, 500)]
    assert highs == sorted(highs, reverse=True)
    assert highs[0] == 1.0
    assert highs[-1] < 0.1
    values = [two_block_cllr(p, p) for p in np.linspace(0.01, 0.99, 99)]
    assert values == sorted(values)


def test_classes_the_wrong_way_round_leave_room_below():
    """TPR (1 - FPR) is at most the area under the curve: what the AUC's own bound leaves to the others."""
    found = bootstrap(separable(4, -1.0), APPS, resamples=39)
    room = found["auc"].high
    assert 0.5 < room < 1.0
    assert found["eer"].low == pytest.approx((1 - room) / 2)
    assert found["eer"].high == 0.5
    for name in ("min_cllr", "applications.1.min_dcf"):
        assert found[name].low == pytest.approx(1 - room)
    assert found["applications.1.min_dcf_u"].low == pytest.approx(0.01 * (1 - room))


@pytest.mark.parametrize("area", [0.02, 0.3, 0.8])
def test_no_curve_over_a_small_area_has_a_lower_minimum(area):
    """Random monotone curves over this area at most: their hulls never pass the bounds used above."""
    rng = np.random.default_rng(1)
    for _ in range(200):
        steps = rng.dirichlet(np.full(6, 0.3), 2)
        fpr, tpr = (np.r_[0.0, np.cumsum(part)] for part in steps)
        under = float((np.diff(fpr) * tpr[:-1]).sum())  # the least area of a curve through these points
        if under <= area:
            assert (1 - tpr + fpr).min() >= 1 - area - 1e-12


def test_numbers_that_no_resample_moves_have_their_whole_range_and_say_so():
    labels = np.repeat([1, 0], 5)
    certain = tc.Trials.of_llr(np.where(labels, np.inf, -np.inf), labels)
    cllr = bootstrap(certain, resamples=39)["cllr"]
    assert (cllr.value, cllr.low, cllr.high) == (0.0, 0.0, np.inf)
    assert cllr.method.startswith("all resamples are equal")
    json.dumps(with_intervals(tc.evaluate(certain).to_dict(), bootstrap(certain, resamples=39)), allow_nan=False)
    sure = tc.Trials.of_log_likelihoods(
        np.where(np.eye(3), 0.0, -np.inf)[np.repeat([0, 1, 2], 4)], np.repeat([0, 1, 2], 4)
    )
    found = bootstrap(sure, [tc.Application.multiclass([0.2, 0.3, 0.5])], resamples=39)
    assert all(one.low < one.high for one in found.values() if np.ndim(one.value) == 0)
    assert found["brier"].high == 2.0
    constant = bootstrap(tc.Trials.of_llr(np.zeros(10), labels), [(0.5, 1, 1)], resamples=39, by=None)
    assert all(one.low < one.high for one in constant.values() if np.ndim(one.value) == 0)


def test_a_condition_without_errors_widens_the_equalised_cost():
    scores = [1, 1, 1, -1, 1, 1, 1, 1, -1, -1, -1, 1, -1, -1, -1, -1]
    site = np.tile(np.repeat(["u", "v"], 4), 2)
    trials = tc.Trials.of_llr(scores, np.repeat([1, 0], 8), groups={"site": site})
    found = by_condition(trials, "site", [(0.5, 1, 1)], level=0.95, draws={"resamples": 199}).intervals
    equal, pooled = found["equalised"]["applications.0.dcf"], found["pooled"]["applications.0.dcf"]
    assert equal.high > pooled.high
    alone = found["site = v"]["applications.0.fnr"].high  # none of 4, in one of two conditions
    drawn = np.sort(found["equalised"].samples["applications.0.fnr"])
    assert found["equalised"]["applications.0.fnr"].high >= drawn[len(drawn) // 2] + alone / 2
    assert "in some condition" in equal.method
