"""Intervals in closed form: what they hold, when they grow, and what is said where nothing can be known."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
import scipy.special
import scipy.stats
from hypothesis import given, settings
from hypothesis import strategies as st

import tercet as tc
from tercet.metrics.binomial import clopper_pearson, proportion_limits, rate_interval, wilson
from tercet.metrics.mover import Proportion, Sum
from tercet.testing import labelled_scores
from tercet.uncertainty._clusters import Clusters
from tercet.uncertainty._limits import Mean, p_value
from tercet.uncertainty.intervals import closed_form_intervals

from .helpers import POINTS, freedom_of_traces, gaussian, three_classes

RATES = ("fnr", "fpr", "dcf_u", "dcf", "min_dcf", "min_dcf_u", "cross_fitted_min_dcf", "calibration_loss")


def decisions(misses, alarms, targets=100, nontargets=100):
    """Trials with this many errors at the threshold 0, scores otherwise alike."""
    llr = np.r_[np.where(np.arange(targets) < misses, -1.0, 1.0), np.where(np.arange(nontargets) < alarms, 1.0, -1.0)]
    return tc.Trials.of_llr(llr, np.repeat([1, 0], [targets, nontargets]))


def interval(trials, name, app=(0.5, 1, 1), **options):
    return tc.evaluate(trials, [app], ci=0.95, **options).intervals[f"applications.0.{name}"]


def rates(trials, app, level=0.95):
    """The intervals at one operating point without the calibration loss, which takes five fits."""
    return closed_form_intervals(
        trials, [app], level=level, wanted=frozenset(("fnr", "fpr", "dcf", "dcf_u", "min_dcf"))
    )


# Rates and costs


FEW_AT = {0.5: 150, 0.8: 150, 0.9: 44, 0.95: 13, 0.99: 13}


@given(st.integers(0, 200), st.integers(1, 200), st.sampled_from(list(FEW_AT)))
def test_a_rate_has_the_limits_of_clopper_and_pearson_below_13_errors_and_wilsons_above(count, more, level):
    """13 errors are enough from 95 % on; 90 and 80 % need more."""
    size = count + more
    low, high = proportion_limits(float(count), float(size), level)
    few = min(count, size - count) < FEW_AT[level]
    expected = clopper_pearson(count, size, level) if few else wilson(count, size, level)
    assert (float(low), float(high)) == pytest.approx((expected.low, expected.high), rel=1e-9, abs=1e-12)
    assert rate_interval(count, size, level) == (pytest.approx(float(low)), pytest.approx(float(high)), expected.method)
    assert Proportion(count / size, float(size)).method(level).lower() == expected.method


@given(st.integers(1, 400), st.floats(0.5, 0.995), st.floats(0.001, 0.4))
def test_a_higher_level_never_has_a_shorter_interval(size, level, more):
    """Or a p-value, which is found from levels, would depend on where it is looked for."""
    counts, sizes = np.arange(size + 1.0), np.full(size + 1, float(size))
    inner, outer = (proportion_limits(counts, sizes, one) for one in (level, min(level + more, 0.999)))
    assert (outer[0] <= inner[0] + 1e-12).all()
    assert (inner[1] <= outer[1] + 1e-12).all()


@pytest.mark.parametrize("size", [5, 13, 25, 26, 44, 60, 89, 101, 102, 150, 250, 600, 2500])
def test_the_interval_of_a_rate_covers_at_least_93_per_cent_whatever_the_rate(size):
    """The exact coverage is least where the rate passes a limit; with Wilson from 10 errors on it was 92.5 at 152."""
    counts = np.arange(size + 1.0)
    low, high = proportion_limits(counts, np.full(size + 1, float(size)), 0.95)
    ends = np.unique(np.r_[low[low > 0.0], high[high < 1.0]])
    rates = np.r_[ends - 1e-12, ends + 1e-12]
    first, last = np.searchsorted(high, rates), np.searchsorted(low, rates, "right") - 1
    covered = scipy.stats.binom.cdf(last, size, rates) - scipy.stats.binom.cdf(first - 1, size, rates)
    assert covered.min() >= 0.93


@pytest.mark.parametrize(("level", "least"), [(0.8, 0.78), (0.9, 0.88), (0.99, 0.98), (0.999, 0.996)])
@pytest.mark.parametrize("size", [13, 26, 39, 45, 107, 120, 133, 268, 322, 351, 600, 20000])
def test_the_interval_of_a_rate_covers_what_the_documentation_says_at_other_levels(size, level, least):
    counts = np.arange(size + 1.0)
    low, high = proportion_limits(counts, np.full(size + 1, float(size)), level)
    high = np.maximum.accumulate(high)
    ends = np.unique(np.r_[low[low > 0.0], high[high < 1.0]])
    rates = np.r_[ends - 1e-12, ends + 1e-12]
    first, last = np.searchsorted(high, rates), np.searchsorted(low, rates, "right") - 1
    covered = scipy.stats.binom.cdf(last, size, rates) - scipy.stats.binom.cdf(first - 1, size, rates)
    assert covered.min() >= least


@given(st.integers(1, 400), st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99]))
def test_no_error_more_lowers_an_end_of_a_rate_at_any_level_up_to_99_per_cent(size, level):
    """Law 56."""
    for ends in proportion_limits(np.arange(size + 1.0), np.full(size + 1, float(size)), level):
        assert np.diff(ends).min() >= 0.0


@pytest.mark.parametrize("size", [1, 2, 12, 13, 14, 25, 26, 27, 40])
@pytest.mark.parametrize("costs", [(1.0, 1.0), (1.0, 19.0), (99.0, 1.0)])
def test_no_error_more_lowers_the_upper_end_of_any_small_table(size, costs):
    """Law 56 for every number of misses and false alarms of so many targets and 1 to 40 non-targets."""
    for others in range(1, 41):
        misses, alarms = np.meshgrid(np.arange(size + 1.0), np.arange(others + 1.0), indexing="ij")
        parts = Proportion(misses / size, float(size)), Proportion(alarms / others, float(others))
        for estimate in (*parts, Sum(parts, costs)):
            upper = estimate.limits(0.95)[1]
            assert np.diff(upper, axis=0).min() >= -1e-12
            assert np.diff(upper, axis=1).min() >= -1e-12


@given(st.integers(0, 40), st.integers(0, 40), st.sampled_from(POINTS))
@settings(max_examples=30)
def test_one_error_more_never_lowers_the_upper_end(misses, alarms, app):
    """Law 56."""
    found = [rates(decisions(misses + m, alarms + a), app) for m, a in ((0, 0), (1, 0), (0, 1), (1, 1))]
    for name in ("fnr", "fpr", "dcf", "dcf_u"):
        ends = [one[f"applications.0.{name}"].high for one in found]
        assert ends[0] <= ends[1] + 1e-12
        assert ends[0] <= ends[2] + 1e-12
        assert max(ends) == pytest.approx(ends[3])


def test_a_cost_without_errors_of_one_kind_makes_room_for_them():
    """Ten false alarms and no miss of 100: the miss rate may still be 0.036."""
    found = interval(decisions(0, 10), "dcf")
    rate = interval(decisions(0, 10), "fpr")
    room = clopper_pearson(0, 100).high
    assert found.high == pytest.approx(0.1 + math.hypot(room, rate.high - 0.1))


def left_out(scores, labels, weights, kept):
    """The AUC of the kept rows by all pairs."""
    one, other = kept & (labels == 1), kept & (labels == 0)
    above = (scores[one][:, None] > scores[other]) + 0.5 * (scores[one][:, None] == scores[other])
    heavy = np.multiply.outer(weights[one], weights[other])
    return float((above * heavy).sum() / heavy.sum())


@pytest.mark.parametrize("kind", ["groups", "crossed", "both sides", "real weights"])
def test_the_area_of_groups_has_the_jackknife_of_its_logit(kind):
    """Each group is left out in turn, by all pairs; crossed groupings add theirs and take off that of the cells."""
    rng = np.random.default_rng(7)
    labels = np.arange(120) % 2
    scores = np.round(rng.normal(labels, 1.0), 1)  # with ties
    weights = rng.uniform(0.5, 2.0, 120) if kind == "real weights" else np.ones(120)
    a, b = rng.integers(0, 8, 120), rng.integers(0, 8, 120)
    names = {"a": np.char.add("a", a.astype(str)), "b": np.char.add("b", b.astype(str))}
    if kind == "both sides":
        names = {"a": a.astype(str), "b": b.astype(str)}
    cell = a * 8 + b
    without = {
        "groups": [(1.0, [a != g for g in range(8)])],
        "crossed": [(1.0, [a != g for g in range(8)]), (1.0, [b != g for g in range(8)]),
                    (-1.0, [cell != g for g in np.unique(cell)])],
        "both sides": [(1.0, [(a != g) & (b != g) for g in range(8)])],
        "real weights": [(1.0, [np.arange(120) != k for k in range(120)])],
    }[kind]  # fmt: skip
    logit = scipy.special.logit
    value = left_out(scores, labels, weights, np.ones(120, bool))
    parts = []
    for sign, masks in without:
        gaps = [logit(left_out(scores, labels, weights, kept)) - logit(value) for kept in masks]
        parts.append(sign * (len(masks) - 1) / len(masks) * float(np.square(gaps).sum()))
    codes = [np.arange(120)] if kind == "real weights" else [a] if kind == "groups" else [a, b]
    sizes = [np.bincount(own[labels == j], weights[labels == j]) for own in codes for j in (0, 1)]
    reach = math.sqrt(max(sum(parts), *parts)) * scipy.stats.t.ppf(0.975, min(map(freedom_of_traces, sizes)))
    by = {"groups": "a", "crossed": ("a", "b"), "both sides": ("a", "b"), "real weights": None}[kind]
    heavy = weights if kind == "real weights" else None
    found = tc.evaluate(tc.Trials.of_llr(scores, labels, groups=names, weights=heavy), ci=0.95, by=by).intervals["auc"]
    assert found.value == pytest.approx(value)
    ends = scipy.special.expit([logit(value) - reach, logit(value) + reach])
    assert (found.low, found.high) == pytest.approx(tuple(ends), rel=1e-9)


def test_an_area_that_one_group_alone_keeps_below_1_has_newcombes_interval():
    """Without that group the classes separate, so that the jackknife has no finite variance."""
    groups = np.repeat([0, 1, 2, 3, 4], 8)
    scores = np.where(np.arange(40) % 2 == 1, 1.0, -1.0) + np.arange(40) / 100
    scores[[0, 1]] = [3.0, -3.0]
    trials = tc.Trials.of_llr(scores, np.arange(40) % 2, groups={"speaker": groups})
    found = tc.evaluate(trials, ci=0.95, by="speaker").intervals["auc"]
    assert found.method == "Newcombe"
    assert 0.0 < found.low < found.value < found.high <= 1.0


def test_mover_of_one_rate_is_the_rate_itself():
    part = Proportion(0.3, 50.0)
    ends = tuple(map(float, part.limits(0.95)))
    assert tuple(map(float, Sum((part,), (1.0,)).limits(0.95))) == pytest.approx(ends)
    mirrored = tuple(map(float, Sum((part,), (-1.0,)).limits(0.95)))
    assert (-mirrored[1], -mirrored[0]) == pytest.approx(ends)


@given(labelled_scores(max_size=14))
@settings(max_examples=8)
def test_every_interval_holds_its_number_and_widens_with_its_level(rows):
    trials = tc.Trials.of_llr(*rows)
    narrow, wide = (tc.evaluate(trials, POINTS[:2], ci=level).intervals for level in (0.6, 0.95))
    for name, one in narrow.items():
        other = wide[name]
        assert np.all(other.low <= np.asarray(one.low) + 1e-12), name
        assert np.all(other.high >= np.asarray(one.high) - 1e-12), name
        assert np.all(one.low <= np.asarray(one.value) + 1e-12), name
        assert np.all(one.high >= np.asarray(one.value) - 1e-12), name


@given(labelled_scores(max_size=16), st.randoms())
@settings(max_examples=6)
def test_row_order_never_matters(rows, random):
    trials = tc.Trials.of_llr(*rows)
    order = list(range(len(trials)))
    random.shuffle(order)
    one, other = (tc.evaluate(t, POINTS[:1], ci=0.9).intervals for t in (trials, trials.select(np.array(order))))
    for name in one:
        assert np.array_equal(one[name].low, other[name].low), name
        assert np.array_equal(one[name].high, other[name].high), name


def test_whole_weights_are_repeated_rows():
    trials = gaussian(40, 60, digits=1)
    weights = np.random.default_rng(0).integers(1, 4, 100)
    heavy = replace(trials, weights=weights.astype(float))
    rows = trials.select(np.repeat(np.arange(100), weights))
    one, other = (tc.evaluate(t, POINTS, ci=0.95).intervals for t in (heavy, rows))
    assert set(one) == set(other)
    for name in one:
        assert np.allclose(one[name].low, other[name].low, atol=1e-12), name
        assert np.allclose(one[name].high, other[name].high, atol=1e-12), name


def test_the_numbers_beside_the_intervals_are_the_evaluations():
    trials = gaussian(300, 400)
    ev = tc.evaluate(trials, POINTS, ci=0.95)
    assert ev.intervals["auc"].value == ev.auc
    assert ev.intervals["eer"].value == ev.eer.value
    assert ev.intervals["cllr"].value == pytest.approx(ev.cllr, rel=1e-12)
    assert ev.intervals["min_cllr"].value == pytest.approx(ev.min_cllr, rel=1e-12)
    for k, row in enumerate(ev.applications):
        for name in ("fnr", "fpr", "dcf", "dcf_u", "min_dcf", "min_dcf_u", "calibration_loss"):
            assert ev.intervals[f"applications.{k}.{name}"].value == pytest.approx(getattr(row, name), abs=1e-12), name


# Minima, EER, AUC, Cllr


def test_a_population_minimum_reaches_from_the_apparent_one_to_the_out_of_fold_cost():
    found = tc.evaluate(gaussian(), POINTS, ci=0.95).intervals
    for k in range(len(POINTS)):
        least, chosen = found[f"applications.{k}.min_dcf"], found[f"applications.{k}.cross_fitted_min_dcf"]
        assert chosen.value >= least.value - 1e-12
        assert least.high == pytest.approx(min(1.0, max(chosen.high, least.value)))


def test_classes_that_separate_have_honest_intervals():
    trials = tc.Trials.of_llr(np.r_[np.linspace(1, 2, 50), np.linspace(-2, -1, 50)], np.repeat([1, 0], 50))
    found = tc.evaluate(trials, [0.5], ci=0.95).intervals
    assert (found["auc"].high, found["eer"].low) == (1.0, 0.0)
    assert 0.9 < found["auc"].low < 1.0
    assert 0.0 < found["eer"].high < 0.2
    assert "not estimable" in tc.evaluate(trials, ci=0.95).to_dict()["intervals"]["missing"]["cllr"]


def test_cllr_is_not_estimated_from_few_trials():
    assert "cllr" not in tc.evaluate(gaussian(249, 400), ci=0.95).intervals
    assert "cllr" in tc.evaluate(gaussian(250, 400), ci=0.95).intervals


def test_an_increasing_map_of_the_scores_keeps_rank_intervals():
    trials = gaussian(60, 90, digits=1)
    cubed = tc.Trials.of_scores(trials.scores**3, trials.labels)
    one, other = (tc.evaluate(t, POINTS, ci=0.95).intervals for t in (trials, cubed))
    for name in ("eer", "auc", "applications.1.min_dcf", "applications.3.cross_fitted_min_dcf"):
        assert one[name] == other[name], name


# Calibration loss


def test_calibrated_scores_are_not_blamed_and_shifted_ones_are():
    rng = np.random.default_rng(1)
    labels = np.repeat([1, 0], 500)
    llr = np.where(labels == 1, 2.0, -2.0) + rng.normal(0.0, 2.0, 1000)
    calibrated = interval(tc.Trials.of_llr(llr, labels), "calibration_loss", (0.2, 1, 1))
    shifted = interval(tc.Trials.of_llr(llr + 3.0, labels), "calibration_loss", (0.2, 1, 1))
    assert calibrated.low <= 0.0 <= calibrated.high
    assert shifted.low > 0.0
    assert abs(calibrated.value) < 0.05 < shifted.value


def test_the_json_has_the_cross_fitted_loss_and_the_apparent_difference():
    trials = gaussian(100, 100)
    assert tc.evaluate(trials, [0.5]).to_dict()["applications"][0]["calibration_loss"] is None  # not asked for
    row = tc.evaluate(trials, [0.5], ci=0.9).to_dict()["applications"][0]
    assert row["actual_minus_min"] == pytest.approx(row["dcf"] - row["min_dcf"])
    assert row["calibration_loss"] == tc.evaluate(trials, [0.5], ci=0.9).applications[0].calibration_loss
    raw = tc.evaluate(tc.Trials.of_scores(trials.scores, trials.labels), [0.5]).to_dict()["applications"][0]
    assert raw["calibration_loss"] is None
    assert "calibrate" in raw["reasons"]["calibration_loss"]


# Groups


def test_a_jackknife_over_groups_of_one_is_the_variance_of_a_mean():
    rng = np.random.default_rng(0)
    loss = rng.random(30)
    found = Clusters.of([[np.arange(30)]], [np.ones(30)]).means([(0, loss)])
    assert found.covariance[0, 0] == pytest.approx(loss.var(ddof=1) / 30)


def test_a_jackknife_leaves_out_whole_groups():
    """The definition, one group after the other."""
    rng = np.random.default_rng(0)
    loss, codes = rng.random(40), rng.integers(0, 7, 40)
    found = Clusters.of([[codes]], [np.ones(40)]).means([(0, loss)])
    without = np.array([loss[codes != g].mean() for g in range(7)])
    assert found.covariance[0, 0] == pytest.approx(6 / 7 * ((without - loss.mean()) ** 2).sum())


def test_crossed_groups_add_their_variances_and_take_off_that_of_the_cells():
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 6, 200), rng.integers(0, 5, 200)
    loss = rng.normal(size=6)[a] + rng.normal(size=5)[b] + rng.normal(size=200)
    found = Clusters.of([[a], [b]], [np.ones(200)]).means([(0, loss)]).covariance[0, 0]

    def way(codes):
        moved = [loss[codes != code].mean() - loss.mean() for code in np.unique(codes)]
        return (len(moved) - 1) / len(moved) * np.square(moved).sum()

    cells = np.unique(a * 5 + b, return_inverse=True)[1]
    assert found == pytest.approx(way(a) + way(b) - way(cells))


def test_errors_that_sit_together_say_less():
    llr = np.r_[np.repeat([-1.0, 1.0], [20, 180]), -np.ones(200)]
    labels = np.repeat([1, 0], 200)
    together = np.r_[np.repeat(np.arange(20), 10), np.repeat(np.arange(20), 10)]
    apart = np.r_[np.arange(200) % 20, np.arange(200) % 20]
    ends = [
        interval(tc.Trials.of_llr(llr, labels, groups={"g": codes}), "fnr", by="g").high for codes in (together, apart)
    ]
    assert ends[0] > ends[1]


def test_few_groups_and_one_group_are_said():
    trials = gaussian(40, 60, speakers=5)
    assert any("5 groups" in note for note in tc.evaluate(trials, [0.5], ci=0.95, by="speaker").intervals.notes)
    alone = tc.Trials.of_llr([1.0, 2.0, -1.0, 0.0], [1, 1, 0, 0], groups={"speaker": ["a"] * 4})
    with pytest.raises(tc.UndefinedError, match="one group"):
        tc.evaluate(alone, [0.5], ci=0.95, by="speaker")


def test_fractional_weights_have_intervals_by_their_effective_number():
    trials = gaussian(200, 300)
    heavy = replace(trials, weights=np.where(np.arange(500) % 2 == 0, 0.5, 1.5))
    one, other = (interval(t, "fpr") for t in (trials, heavy))
    assert other.high - other.low > one.high - one.low


# K classes


def test_three_classes_without_errors_have_bounds():
    trials = tc.Trials.of_log_likelihoods(20 * np.eye(3)[np.arange(60) % 3], np.arange(60) % 3)
    found = tc.evaluate(trials, [tc.Application.multiclass([0.3, 0.3, 0.4])], ci=0.95).intervals
    assert found["accuracy"].low == pytest.approx(clopper_pearson(60, 60).low)
    room = clopper_pearson(0, 20).high
    assert found["applications.0.risk"].high == pytest.approx(room * math.sqrt(0.3**2 + 0.3**2 + 0.4**2))


def test_two_classes_as_a_matrix_have_the_same_cost_interval():
    trials = gaussian(80, 120)
    matrix = tc.Trials.of_log_likelihoods(np.stack((np.zeros(200), trials.llr), axis=1), trials.labels.astype(int))
    app = tc.Application.multiclass([0.9, 0.1], [[0, 1], [1, 0]])
    one = interval(trials, "dcf_u", (0.1, 1, 1))
    other = tc.evaluate(matrix, [app], ci=0.95).intervals["applications.0.risk"]
    assert (one.low, one.high) == pytest.approx((other.low, other.high))


@pytest.mark.parametrize("by", [None, "speaker"])
def test_several_classes_hold_their_numbers(by):
    ev = tc.evaluate(
        three_classes(300, speakers=12), [tc.Application.multiclass([0.3, 0.3, 0.4], "ordinal")], ci=0.95, by=by
    )
    for name, one in ev.intervals.items():
        assert np.all(one.low <= np.asarray(one.value)), name
        assert np.all(one.value <= np.asarray(one.high)), name
    json.dumps(ev.to_dict(), allow_nan=False)
    assert "risk_ci" in ev.to_dict()["applications"][0]


# JSON and options


def test_every_number_of_the_json_gains_its_interval():
    facts = tc.evaluate(gaussian(260, 260), POINTS, ci=0.95).to_dict()
    json.dumps(facts, allow_nan=False)
    assert facts["eer_ci"][0] <= facts["eer"]["value"] <= facts["eer_ci"][1]
    for key in ("auc", "cllr", "min_cllr"):
        assert facts[f"{key}_ci"][0] <= facts[key] <= facts[f"{key}_ci"][1]
    for row in facts["applications"]:
        for key in RATES:
            assert len(row[f"{key}_ci"]) == 2, key
    assert len(facts["bayes_plot"]["dcf_ci"][0]) == len(facts["bayes_plot"]["dcf"])
    assert facts["intervals"]["methods"]["applications.0.fnr"] == "Wilson"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ci": 95}, "0.95"), ({"ci": "a"}, "ci"), ({"ci": 0.0}, "ci"), ({"by": "speaker"}, "ci="),
        ({"resamples": 99}, "ci="), ({"ci": 0.95, "by": "speaker"}, "not among the groups"),
        ({"ci": 0.95, "sampling": "random"}, "sampling"), ({"ci": 0.95, "method": "student"}, "percentile"),
        ({"ci": 0.95, "resamples": 3}, "at least 39"),
    ],
)  # fmt: skip
def test_options_that_cannot_be_meant_are_refused(options, message):
    with pytest.raises(tc.InputError, match=message):
        tc.evaluate(gaussian(), [0.5], **options)


def test_a_tally_has_the_same_intervals_and_no_groups():
    trials = gaussian(digits=1)
    one, other = (tc.evaluate(t, POINTS[:1], ci=0.95).intervals for t in (trials, tc.Tally.of(trials)))
    assert [one[name] for name in one if "bayes" not in name] == [other[name] for name in other if "bayes" not in name]
    with pytest.raises(tc.InputError, match="Only Trials have groups"):
        tc.evaluate(tc.Tally.of(trials), ci=0.95, by="speaker")


@given(st.floats(-3, 3), st.floats(0.1, 2), st.floats(-1, 1))
def test_p_values_and_limits_are_one_construction(value, error, null):
    estimate = Mean(value, error)
    p = p_value(estimate, null)
    if 1e-9 < p < 1.0 - 1e-9:
        low, high = estimate.limits(1.0 - p)
        assert min(abs(low - null), abs(high - null)) < 1e-6
    one, other = (p_value(estimate, null, side) for side in ("greater", "less"))
    assert one + other == pytest.approx(1.0)


def test_two_groups_show_no_correlation_of_the_rates():
    """Two groups always correlate fully: misses of one and false alarms of the other shortened the cost's interval."""
    labels, groups = np.tile([1, 0], 20), np.repeat([0, 1], 20)
    llr = np.where(labels == 1, 1.0, -1.0) * 2.0
    llr[[0, 2, 4]], llr[[21, 23]] = -2.0, 2.0  # the first group misses, the second accepts wrongly
    found = tc.evaluate(tc.Trials.of_llr(llr, labels, groups={"g": groups}), [(0.5, 1, 1)], ci=0.95, by="g").intervals
    rates = [found[f"applications.0.{name}"] for name in ("fnr", "fpr")]
    up = math.hypot(*(one.high - one.value for one in rates))
    assert found["applications.0.dcf"].high == pytest.approx(sum(one.value for one in rates) + up)
