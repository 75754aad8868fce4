"""Bootstrap intervals: what is drawn, what is computed from it, and what is said where nothing can be known."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tercet as tc
from tercet.calibration.two_class import Logistic
from tercet.testing import labelled_scores
from tercet.uncertainty import bootstrap, drawn, reliability, roc_band
from tercet.uncertainty._kernel.draws import Design, generator, uniform_counts
from tercet.uncertainty._kernel.percentiles import bca_tails, order_statistic, tail_of

from .helpers import POINTS, bootstrap_plain, gaussian, same, three_classes

LEVELS = (0.5, 0.9)


def equal_bits(a, b):
    return list(a) == list(b) and all(np.array_equal(a.samples[name], b.samples[name]) for name in a)


# What is computed


@given(labelled_scores(max_size=16), st.integers(0, 5))
@settings(max_examples=25)
def test_the_fast_bootstrap_equals_the_plain_one_on_the_same_resamples(rows, seed):
    trials = tc.Trials.of_llr(*rows)
    plain = bootstrap_plain(trials, 5, seed=seed)
    fast = bootstrap(trials, POINTS, resamples=5, ci=0.5, seed=seed)
    search = bootstrap(trials, POINTS, resamples=5, ci=0.5, seed=seed, quantities=["eer", "min_dcf", "dcf"])
    for found in (fast, search):
        for name in found:
            if name in plain:
                assert same(found.samples[name], plain[name]), name
    assert set(plain) <= set(fast)


@pytest.mark.parametrize("by", ["speaker", ("speaker", "site")])
def test_whole_groups_equal_the_plain_bootstrap_too(by):
    trials = gaussian(12, 15, speakers=6, sites=5, digits=1)
    plain = bootstrap_plain(trials, 19, by=by)
    fast = bootstrap(trials, POINTS, resamples=19, ci=0.9, by=by)
    for name, values in plain.items():
        assert same(fast.samples[name], values), name


@pytest.mark.parametrize("digits", [None, 2])
@pytest.mark.parametrize("sizes", [(30_000, 20_000), (900, 40_000)])
def test_many_rows_take_another_road_to_the_same_numbers(sizes, digits):
    trials = gaussian(*sizes, digits=digits)
    asked = [(0.5, 1, 1), "sre08", (0.9, 1, 10), (0.5, 0, 1), (0.5, 1, 0), (1e-300, 1, 1)]
    searched = bootstrap(trials, asked, resamples=3, ci=0.5, quantities=["dcf", "min_dcf", "eer", "auc", "bayes_plot"])
    for number in range(3):
        heavy = tc.evaluate(replace(trials, weights=drawn(trials, number).astype(float)), asked)
        assert same(searched.samples["eer"][number], heavy.eer.value)
        assert same(searched.samples["auc"][number], heavy.auc)
        assert same(searched.samples["bayes_plot.dcf"][number], heavy.bayes_plot.dcf)
        assert same(searched.samples["bayes_plot.min_dcf"][number], heavy.bayes_plot.min_dcf)
        for k, row in enumerate(heavy.applications):
            if row.dcf is not None:
                assert same(searched.samples[f"applications.{k}.dcf"][number], row.dcf)
                assert same(searched.samples[f"applications.{k}.min_dcf"][number], row.min_dcf)


@pytest.mark.parametrize("by", [None, "speaker"])
def test_three_classes_equal_the_evaluation_of_the_weighted_trials(by):
    trials = three_classes(speakers=9)
    apps = [tc.Application.multiclass([0.3, 0.4, 0.3], "ordinal"), tc.Application.multiclass([0.1, 0.1, 0.8])]
    found = bootstrap(trials, apps, resamples=9, ci=0.5, by=by)
    for number in range(9):
        heavy = tc.evaluate(replace(trials, weights=drawn(trials, number, by=by).astype(float)), apps)
        for name in ("accuracy", "log_loss", "normalised_cross_entropy", "brier"):
            assert same(found.samples[name][number], getattr(heavy, name)), name
        for k, row in enumerate(heavy.applications):
            assert same(found.samples[f"applications.{k}.risk"][number], row.risk)
            assert same(found.samples[f"applications.{k}.dcf"][number], row.dcf)
            assert same(found.samples[f"applications.{k}.contributions"][number], row.contributions)


@pytest.mark.parametrize("definition", ["interpolated", "nearest"])
@pytest.mark.parametrize("fractional", [False, True])
def test_other_definitions_of_the_eer_are_resampled_as_they_are_defined(definition, fractional):
    trials = gaussian(20, 30, digits=1)
    if fractional:
        trials = replace(trials, weights=np.linspace(0.3, 2.0, 50))
    found = bootstrap(trials, resamples=9, ci=0.5, eer=definition)
    for number in range(9):
        heavy = replace(trials, weights=drawn(trials, number).astype(float))
        assert same(found.samples["eer"][number], tc.evaluate(heavy, eer=definition).eer.value, 1e-9)


@given(labelled_scores(max_size=14), st.integers(0, 3), st.booleans())
@settings(max_examples=25)
def test_real_and_whole_weights_are_resampled_like_the_evaluation_weighs_them(rows, seed, whole):
    rng = np.random.default_rng(seed)
    weights = rng.integers(1, 4, len(rows[0])) if whole else rng.random(len(rows[0])) + 0.1
    trials = tc.Trials.of_llr(*rows, weights=weights)
    found = bootstrap(trials, POINTS, resamples=5, ci=0.5, seed=seed)
    for number in range(5):
        heavy = replace(trials, weights=drawn(trials, number, seed=seed).astype(float))
        ev = tc.evaluate(heavy, POINTS)
        assert same(found.samples["auc"][number], ev.auc)
        assert same(found.samples["eer"][number], ev.eer.value)
        assert same(found.samples["cllr"][number], ev.cllr)
        assert same(found.samples["min_cllr"][number], ev.min_cllr, 1e-9)
        for k, row in enumerate(ev.applications):
            assert same(found.samples[f"applications.{k}.dcf"][number], row.dcf)
            assert same(found.samples[f"applications.{k}.min_dcf"][number], row.min_dcf)


@given(labelled_scores(max_size=20))
def test_the_number_beside_an_interval_is_the_evaluations(rows):
    trials = tc.Trials.of_llr(*rows)
    ev, found = tc.evaluate(trials, POINTS), bootstrap(trials, POINTS, resamples=3, ci=0.5)
    assert same(found["eer"].value, ev.eer.value)
    assert same(found["auc"].value, ev.auc)
    assert same(found["cllr"].value, ev.cllr)
    assert same(found["min_cllr"].value, ev.min_cllr)
    for k, row in enumerate(ev.applications):
        for name in ("fnr", "fpr", "dcf", "dcf_u", "min_dcf", "min_dcf_u", "actual_minus_min"):
            assert same(found[f"applications.{k}.{name}"].value, getattr(row, name)), name


def test_the_search_for_a_minimum_is_not_fooled_by_a_curve_with_two_dips():
    rng = np.random.default_rng(3)
    parts = [rng.normal(m, 0.3, 3000) for m in (-3, 1, -1, 3)]
    trials = tc.Trials.of_llr(np.concatenate(parts), np.repeat([0, 0, 1, 1], 3000))
    found = bootstrap(trials, [(0.5, 1, 1), (0.3, 1, 1)], resamples=5, ci=0.5, quantities=["min_dcf"])
    for number in range(5):
        heavy = tc.evaluate(replace(trials, weights=drawn(trials, number).astype(float)), [(0.5, 1, 1), (0.3, 1, 1)])
        for k in (0, 1):
            assert same(found.samples[f"applications.{k}.min_dcf"][number], heavy.applications[k].min_dcf)


# What is drawn


@pytest.mark.parametrize("threads", [2, 3])
def test_a_seeded_bootstrap_is_the_same_for_any_number_of_threads(threads):
    """Law 47: to the bit, within class and by groups, for two classes and for three."""
    for trials, by, apps in (
        (gaussian(300, 400, speakers=30), None, POINTS),
        (gaussian(300, 400, speakers=30), "speaker", POINTS),
        (gaussian(20_000, 20_000), None, POINTS[:1]),
        (three_classes(speakers=9), "speaker", [tc.Application.multiclass([0.3, 0.3, 0.4])]),
    ):
        one = bootstrap(trials, apps, resamples=40, ci=0.9, seed=7, by=by, method="bca", threads=1)
        many = bootstrap(trials, apps, resamples=40, ci=0.9, seed=7, by=by, method="bca", threads=threads)
        assert equal_bits(one, many)
        assert all(np.array_equal(a.low, b.low) for a, b in zip(one.values(), many.values(), strict=True))


def test_the_draws_of_a_resample_do_not_depend_on_how_many_are_asked_for():
    few = bootstrap(gaussian(), POINTS, resamples=19, ci=0.9)
    many = bootstrap(gaussian(), POINTS, resamples=50, ci=0.9)
    assert np.array_equal(few.samples["auc"], many.samples["auc"][:19])


def test_another_seed_gives_other_draws():
    a, b = (bootstrap(gaussian(), resamples=19, ci=0.9, seed=seed) for seed in (0, 1))
    assert not equal_bits(a, b)


@pytest.mark.parametrize("by", [None, "speaker"])
def test_row_order_never_matters(by):
    trials = gaussian(50, 60, speakers=12, digits=1)
    turned = trials.select(np.random.default_rng(5).permutation(110))
    assert equal_bits(*(bootstrap(t, POINTS, resamples=30, ci=0.9, by=by) for t in (trials, turned)))


def test_trials_and_their_tally_have_the_same_intervals():
    trials = gaussian(digits=1)
    assert equal_bits(*(bootstrap(t, POINTS, resamples=19, ci=0.9) for t in (trials, tc.Tally.of(trials))))


@pytest.mark.parametrize("unit", [0.5, 2.0, 2.0**60, 2.0**-1060, 2.0**1000])
def test_weighted_trials_and_their_tally_have_the_same_intervals(unit):
    trials = gaussian()
    trials = replace(trials, weights=np.random.default_rng(2).integers(1, 9, len(trials)) * unit)
    assert equal_bits(*(bootstrap(t, POINTS, resamples=19, ci=0.9) for t in (trials, tc.Tally.of(trials))))


def test_weights_too_far_apart_are_refused_in_a_tally_too():
    trials = tc.Trials.of_llr([2.0, -1.0, 0.5, 0.0], [1, 0, 1, 0], weights=[1e-200, 1.0, 3.0, 1e200])
    for source in (trials, tc.Tally.of(trials)):
        with pytest.raises(tc.InputError, match="within 150 orders of magnitude"):
            bootstrap(source, resamples=19, ci=0.9)


def test_each_class_keeps_its_size_when_trials_are_drawn():
    trials = gaussian(40, 70)
    for number in range(20):
        weights = drawn(trials, number)
        assert (weights[:40].sum(), weights[40:].sum()) == (40, 70)


def test_rows_of_a_group_are_drawn_together():
    trials = gaussian(40, 70, speakers=8)
    for number in range(20):
        weights = drawn(trials, number, by="speaker")
        per_group = [set(weights[trials.groups["speaker"] == g].tolist()) for g in range(8)]
        assert all(len(values) == 1 for values in per_group)
        assert sum(values.pop() for values in per_group) == 8


def test_crossed_groups_multiply_their_weights():
    trials = gaussian(40, 70, speakers=8, sites=6)
    enrol, test = trials.groups["speaker"], trials.groups["site"]
    weights = drawn(trials, 0, by=("speaker", "site"))
    table = np.zeros((8, 6))
    table[enrol, test] = weights
    assert np.linalg.matrix_rank(table[:, (table > 0).any(axis=0)]) >= 1
    rng = generator(0, 0, 0, 0)
    first, second = uniform_counts(rng, 8), uniform_counts(rng, 6)
    assert np.array_equal(weights, first[enrol] * second[test])


@pytest.mark.parametrize("size", [7, 20_000])
def test_draws_are_multinomial(size):
    """Mean 1, variance 1 - 1/n, covariance -1/n: here of the first half's total, at 4 standard errors."""
    totals = np.array([uniform_counts(generator(1, 0, k, 0), size)[: size // 2].sum(dtype=int) for k in range(2000)])
    p = (size // 2) / size
    spread = math.sqrt(size * p * (1 - p))
    assert abs(totals.mean() - size * p) < 4 * spread / math.sqrt(2000)
    assert abs(totals.std() / spread - 1) < 4 / math.sqrt(4000)


def test_the_counts_of_many_rows_are_poisson_like():
    counts = np.bincount(uniform_counts(generator(2, 0, 0, 0), 400_000), minlength=12)
    expected = [400_000 * math.exp(-1) / math.factorial(k) for k in range(7)]
    assert all(abs(n - e) < 5 * math.sqrt(e) for n, e in zip(counts.tolist(), expected, strict=False))


def test_whole_weights_are_drawn_like_repeated_rows():
    trials = tc.Trials.of_llr([1.0, 2.0, 0.0, -1.0], [1, 1, 0, 0], weights=[3, 2, 4, 1])
    for number in range(20):
        weights = drawn(trials, number)
        assert (weights[:2].sum(), weights[2:].sum()) == (5, 5)


def test_a_resample_that_lacks_a_class_is_redrawn_and_counted():
    labels = np.array([1, 1, 0, 0, 0, 0, 0, 0])
    trials = tc.Trials.of_llr(np.linspace(2, -2, 8), labels, groups={"speaker": list("abcdefgh")})
    found = bootstrap(trials, [(0.5, 1, 1)], resamples=200, by="speaker")
    assert found.redrawn > 5
    assert any("drawn again" in note for note in found.notes)
    assert all(np.isfinite(found.samples["auc"]))
    for number in range(50):
        weights = drawn(trials, number, by="speaker")
        assert weights[labels == 1].any()
        assert weights[labels == 0].any()


# The ends


def test_percentile_ends_are_order_statistics_of_the_resamples():
    found = bootstrap(gaussian(), POINTS, resamples=39, method="percentile")
    ordered = np.sort(found.samples["auc"])
    assert (found["auc"].low, found["auc"].high) == (ordered[0], ordered[-1])


def test_order_statistics_between_two_places_go_outwards():
    values = np.arange(1.0, 11.0)
    assert order_statistic(values, 0.2, down=True) == 2.0  # 0.2 x 11 = 2.2
    assert order_statistic(values, 0.8, down=False) == 9.0
    columns = np.stack((values, 10 * values), axis=1)
    assert order_statistic(columns, 0.2, down=True).tolist() == [2.0, 20.0]
    assert order_statistic(columns, np.array([0.2, 0.5]), down=True).tolist() == [2.0, 50.0]


def test_few_groups_widen_the_interval_as_students_t_does():
    trials = gaussian(40, 70, speakers=8)
    rows = (np.arange(40, 110), np.arange(40))
    tail = tail_of(Design.of(trials, rows, ("speaker",)), 0.95)
    assert tail == pytest.approx(0.5 * math.erfc(math.sqrt(8 / 7) * 2.3646 / math.sqrt(2)), rel=1e-3)
    assert tail_of(Design.of(trials, rows, ()), 0.95) == pytest.approx(0.025)


def test_bca_without_bias_and_skew_is_the_percentile_method():
    low, high = bca_tails(0.0, np.linspace(-1, 1, 1001), 0.0, 0.025)
    assert (round(float(low), 6), round(float(high), 6)) == (0.025, 0.975)


def test_bca_of_a_mean_has_the_textbook_acceleration():
    """For a mean a = skewness / (6 sqrt n); FNR is a mean of zeros and ones."""
    from tercet.uncertainty._kernel.engine import Settings
    from tercet.uncertainty._kernel.percentiles import accelerations
    from tercet.uncertainty.bootstrap import _single, planned, wanted_of

    llr = np.r_[np.full(8, -1.0), np.full(92, 1.0), np.full(50, -1.0)]
    trials = tc.Trials.of_llr(llr, np.repeat([1, 0], [100, 50]))
    apps = [tc.Application(0.5)]
    design, system = _single(trials, apps, planned(apps, wanted_of(None), None), ())
    a = accelerations(design, system, Settings.of(0.95, 99, 0, None, "bca", 1))["applications.0.fnr"]
    p = 0.08
    assert abs(float(a) - (1 - 2 * p) / math.sqrt(p * (1 - p)) / 6 / 10) < 1e-9


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_higher_levels_give_wider_intervals(method):
    narrow, wide = (bootstrap(gaussian(), POINTS, resamples=199, ci=level, method=method) for level in LEVELS)
    for name in narrow:
        assert np.all(wide[name].low <= narrow[name].low), name
        assert np.all(wide[name].high >= narrow[name].high), name


def test_the_bias_of_a_minimum_is_stated():
    found = bootstrap(gaussian(), POINTS, resamples=199)
    assert found["applications.0.min_dcf"].bias < 0.0
    assert abs(found["auc"].bias) < found["auc"].standard_error / 2


# No errors


# Calibration inside, functions of one's own


def test_calibration_is_refitted_on_each_resample():
    trials = tc.Trials.of_scores(gaussian(80, 80).scores * 3.0 + 1.0, gaussian(80, 80).labels)
    found = bootstrap(trials, [(0.5, 1, 1)], resamples=19, ci=0.9, calibrate=Logistic)
    for number in (0, 7):
        heavy = replace(trials, weights=drawn(trials, number).astype(float))
        expected = tc.evaluate(Logistic.fit(heavy, prior=0.5)(heavy), [(0.5, 1, 1)])
        assert same(found.samples["cllr"][number], expected.cllr)
        assert same(found.samples["applications.0.dcf"][number], expected.applications[0].dcf)


def test_separable_resamples_are_calibrated_with_a_stated_penalty():
    few = tc.Trials.of_scores([2.0, 1.0, 0.4, 0.5, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    found = bootstrap(few, [(0.5, 1, 1)], resamples=39, calibrate=Logistic)
    assert any("penalty=0.001" in note for note in found.notes)
    assert np.isfinite(found.samples["applications.0.dcf"]).all()


def test_an_infinitely_wrong_llr_gives_an_interval_up_to_infinity():
    trials = tc.Trials.of_llr([math.inf, 1.0, 0.5, -math.inf, -1.0, math.inf], [1, 1, 1, 0, 0, 0])
    assert bootstrap(trials, resamples=99)["cllr"].high == math.inf
    assert json.dumps(tc.evaluate(trials, ci=0.95, resamples=99).to_dict(), allow_nan=False)


def test_natural_sampling_lets_class_counts_vary():
    trials = gaussian(40, 60)
    fixed, random = (
        bootstrap(trials, [(0.5, 1, 1)], resamples=99, rates=["precision"], sampling=how)
        for how in ("stratified", "natural")
    )
    assert random["applications.0.precision"].standard_error > fixed["applications.0.precision"].standard_error
    assert random.sampling == "natural"


def test_functions_of_the_caller_see_repeated_rows():
    """A function that knows no weights has the interval of one that does."""
    trials = gaussian(40, 60)
    found = bootstrap(trials, [(0.5, 1, 1)], resamples=99, extra={"misses": lambda t: (t.llr[t.labels] <= 0.0).mean()})
    known = bootstrap(trials, [(0.5, 1, 1)], resamples=99)["applications.0.fnr"]
    assert (found["misses"].low, found["misses"].high) == pytest.approx((known.low, known.high))


def test_calibrators_have_names():
    trials = gaussian()
    named = bootstrap(trials, resamples=39, calibrate="logistic")
    assert named["cllr"] == bootstrap(trials, resamples=39, calibrate=Logistic)["cllr"]


def test_no_groups_are_no_groups():
    assert bootstrap(gaussian(), resamples=39, by=[])["auc"].method == "BCa bootstrap"


def test_any_function_of_trials_can_have_an_interval():
    trials, app = three_classes(), tc.Application.multiclass([1 / 3, 1 / 3, 1 / 3])
    found = bootstrap(
        trials, [app], resamples=39, extra={"macro_f1": lambda t: tc.confusion_of(t, app).average("f1", "macro")}
    )
    bound = found["macro_f1"]
    assert bound.low < bound.value < bound.high
    assert same(found["applications.0.risk"].value, tc.evaluate(trials, [app]).applications[0].risk)


# Bands


def test_a_roc_band_holds_the_curve_and_ends_at_no_misses():
    trials = gaussian(200, 300)
    band = roc_band(trials, resamples=199)
    assert np.all((band.low <= band.fnr) & (band.fnr <= band.high))
    assert np.all(np.diff(band.fnr) <= 0.0)
    assert band.fnr[-1] == 0.0
    assert 0.0 < band.high[-2] < 0.02
    assert (band.fpr[-1], band.high[-1]) == (1.0, 0.0)
    curve = tc.evaluate(trials).curve
    for rate, fnr in zip(band.fpr, band.fnr, strict=True):
        assert fnr == curve.fnr[curve.fpr <= rate * (1 + 1e-12)].min()
    assert np.isneginf(band.det()[0][0])


def test_reliability_of_calibrated_llrs_lies_near_the_diagonal_and_in_its_band():
    rng = np.random.default_rng(0)
    labels = np.repeat([1, 0], 3000)
    llr = np.where(labels == 1, 1.0, -1.0) + rng.normal(0, math.sqrt(2), 6000)
    found = reliability(tc.Trials.of_llr(llr, labels), prior=0.3, resamples=199)
    assert np.all(np.abs(found.observed - found.forecast) < 0.08)
    assert np.all((found.low <= found.observed) & (found.observed <= found.high))
    assert np.mean((found.low <= found.forecast) & (found.forecast <= found.high)) > 0.6
    assert found.rows.sum() == 6000


def test_a_reliability_bin_of_one_class_has_an_exact_bound_and_an_empty_one_is_undefined():
    trials = tc.Trials.of_llr([5.0, 5.0, 5.0, -5.0, -5.0], [1, 1, 1, 0, 0])
    found = reliability(trials, resamples=39)
    assert (found.observed[-1], found.high[-1]) == (1.0, 1.0)
    assert 0.2 < found.low[-1] < 0.6
    assert np.isnan(found.observed[5])
    assert np.isnan(found.low[5])


# JSON


def test_raw_scores_have_intervals_for_what_they_have():
    trials = tc.Trials.of_scores(gaussian().scores, gaussian().labels)
    found = bootstrap(trials, [(0.5, 1, 1)], resamples=39)
    assert "applications.0.min_dcf" in found
    assert "applications.0.dcf" not in found
    facts = tc.evaluate(trials, [(0.5, 1, 1)], ci=0.95, resamples=39).to_dict()
    assert "dcf_ci" not in facts["applications"][0]


# Bad input


def test_a_single_group_is_refused():
    trials = tc.Trials.of_llr([1.0, 2.0, -1.0, 0.0], [1, 1, 0, 0], groups={"speaker": ["a"] * 4})
    with pytest.raises(tc.InputError, match="one group"):
        bootstrap(trials, by="speaker")


def test_a_class_whose_trials_all_sit_in_one_group_is_refused():
    trials = tc.Trials.of_llr([1.0, 2.0, -1.0, 0.0], [1, 1, 0, 0], groups={"speaker": list("aaab")})
    with pytest.raises(tc.InputError, match="class 'target' are in one group"):
        bootstrap(trials, by="speaker")


def test_one_class_only_is_undefined():
    for labels in ([1, 1], [0, 0]):
        with pytest.raises(tc.UndefinedError):
            bootstrap(tc.Trials.of_llr([1.0, 2.0], labels))
        with pytest.raises(tc.UndefinedError):
            bootstrap(tc.Trials.of_llr([1.0, 2.0], labels, weights=[1, 2]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"ci": 95}, "0.95"),
        ({"ci": 0.0}, "ci"),
        ({"ci": "a"}, "ci"),
        ({"ci": None}, "ci"),
        ({"resamples": "x"}, "resamples"),
        ({"resamples": math.nan}, "resamples"),
        ({"resamples": math.inf}, "resamples"),
        ({"resamples": None}, "resamples"),
        ({"seed": "a"}, "seed"),
        ({"seed": math.nan}, "seed"),
        ({"seed": None}, "seed"),
        ({"seed": True}, "seed"),
        ({"by": 3}, "by is None"),
        ({"quantities": 3}, "quantities"),
        ({"rates": [3]}, "rates"),
        ({"extra": 3}, "extra"),
        ({"bins": [1, 0]}, "ascending"),
        ({"bins": "x"}, "bins"),
        ({"threads": "x"}, "threads"),
        ({"calibrate": "guess"}, "logistic, isotonic"),
        ({"calibrate": 3}, "calibrator with fit"),
        ({"resamples": 10}, "at least 39"),
        ({"resamples": 99.5}, "whole number"),
        ({"seed": -1}, "seed"),
        ({"method": "normal"}, "'percentile', 'bca'"),
        ({"by": "speaker"}, "not among the groups"),
        ({"by": ("a", "b", "c")}, "two different"),
        ({"quantities": ["f1"]}, "not among"),
        ({"quantities": ["f7"]}, "not among"),
        ({"threads": 0}, "threads"),
        ({"eer": "middle"}, "eer must be one of 'rocch'"),
        ({"bayes_plot": (3, -3, 21)}, "low < high"),
        ({"roc": [2.0]}, "between 0 and 1"),
    ],
)
def test_what_cannot_be_meant_is_refused(options, message):
    with pytest.raises(tc.InputError, match=message):
        bootstrap(gaussian(), **options)


def test_an_unknown_interval_is_named_with_the_known_ones():
    with pytest.raises(tc.InputError, match=r"there are: .*auc"):
        bootstrap(gaussian(), resamples=39)["f1"]


def test_progress_counts_up_to_the_end():
    seen = []
    bootstrap(gaussian(), resamples=50, ci=0.9, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (50, 50)
    assert seen == sorted(seen)


def test_the_bar_is_drawn_on_a_terminal_only():
    import io

    from tercet.uncertainty import progress_bar

    class Terminal(io.StringIO):
        def isatty(self):
            return True

    for stream, written in ((Terminal(), True), (io.StringIO(), False)):
        bar = progress_bar(stream)
        bar(5, 10)
        bar(10, 10)
        assert ("s left" in stream.getvalue()) is written


def test_the_design_counts_what_is_independent():
    trials = gaussian(40, 70, speakers=8)
    rows = (np.arange(40, 110), np.arange(40))
    assert Design.of(trials, rows, ()).units() == (70, 40)
    assert Design.of(trials, rows, ("speaker",)).units() == (8, 8)


@given(labelled_scores(max_size=12))
@settings(max_examples=20)
def test_intervals_hold_their_ends_in_order(rows):
    trials = tc.Trials.of_llr(*rows)
    assume(len(set(rows[0])) > 1)
    for method in ("percentile", "bca"):
        for name, bound in bootstrap(trials, POINTS[:2], resamples=39, method=method).items():
            assert np.all(np.asarray(bound.low) <= np.asarray(bound.high)), name
