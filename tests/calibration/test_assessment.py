"""Is it calibrated? Errors against plain loops, slope and intercept, tests that hold their size, what is refused."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tercet as tc


def two_class(seed, size=60, stretch=1.0):
    rng = np.random.default_rng(seed)
    odds = np.round(rng.normal(0.0, 1.5, size), 1)
    seen = rng.random(size) < 1.0 / (1.0 + np.exp(-odds))
    seen[:2] = [True, False]
    return tc.Trials.of_posteriors(1.0 / (1.0 + np.exp(-stretch * odds)), seen, trained_prior=0.5), seen


def looped(forecast, seen, edges):
    """sum over bins of |sum of forecasts - sum of targets| / n."""
    total = 0.0
    for low, high in itertools.pairwise(edges):
        rows = [i for i, p in enumerate(forecast) if low <= p < high or (p == high == edges[-1])]
        total += abs(sum(forecast[i] for i in rows) - sum(seen[i] for i in rows))
    return total / len(forecast)


seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=100)
@given(seeds, st.integers(1, 20))
def test_the_error_of_equal_widths_is_that_of_a_plain_loop(seed, bins):
    trials, seen = two_class(seed)
    found = tc.expected_calibration_error(trials, bins=bins, as_given=True)
    edges = [k / bins for k in range(bins + 1)]
    assert found.value == pytest.approx(looped(trials.scores.tolist(), seen, edges), abs=1e-12)
    assert found.definition == f"expected calibration error of the target, {bins} equal-width bins, mean absolute"
    assert "above 0 on average" in found.note
    assert sum(one.rows for one in found.bins["target"]) == len(trials)


@settings(max_examples=50)
@given(seeds)
def test_equal_mass_bins_keep_tied_forecasts_together(seed):
    trials, _ = two_class(seed, 200)
    found = tc.expected_calibration_error(trials, bins=5, binning="equal-mass", as_given=True).bins["target"]
    assert sum(one.rows for one in found) == 200
    assert all(25 <= one.rows <= 70 for one in found)


def test_the_debiased_error_of_calibrated_forecasts_is_near_0_where_the_plain_one_is_not():
    plain, fair = [], []
    for seed in range(60):
        trials, _ = two_class(seed, 300)
        plain.append(tc.expected_calibration_error(trials, as_given=True).value)
        fair.append(tc.expected_calibration_error(trials, as_given=True, debiased=True).value ** 2)
    assert np.mean(plain) > 0.04
    assert np.mean(fair) < 0.002


def test_several_classes_have_top_label_and_class_wise_errors():
    rng = np.random.default_rng(1)
    logits = rng.normal(size=(500, 3))
    shares = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    labels = np.array([rng.choice(3, p=row) for row in shares])
    trials = tc.Trials.of_posteriors(shares, labels, trained_prior=[1 / 3] * 3)
    top = tc.expected_calibration_error(trials, as_given=True, bins=10)
    right = shares.argmax(axis=1) == labels
    assert top.value == pytest.approx(looped(shares.max(axis=1).tolist(), right, [k / 10 for k in range(11)]))
    assert "top label" in top.definition
    each = tc.expected_calibration_error(trials, kind="class-wise", as_given=True, bins=10)
    own = [looped(shares[:, k].tolist(), labels == k, [i / 10 for i in range(11)]) for k in range(3)]
    assert each.value == pytest.approx(np.mean(own))
    assert set(each.bins) == {"0", "1", "2"}


@pytest.mark.parametrize("stretch", [1.0, 2.0])
def test_the_slope_undoes_a_stretch(stretch):
    trials, seen = two_class(2, 20_000, stretch)
    line = tc.calibration_line(trials, as_given=True)
    assert line.slope == pytest.approx(1.0 / stretch, rel=0.05)
    assert line.slope_ci.low <= 1.0 / stretch <= line.slope_ci.high
    assert line.intercept_ci.low <= 0.0 <= line.intercept_ci.high
    assert line.observed_expected == pytest.approx(seen.mean() / trials.scores.mean())


def test_the_line_is_the_maximum_of_the_likelihood():
    trials, seen = two_class(4, 400, 1.7)
    line = tc.calibration_line(trials, as_given=True)
    odds = np.log(trials.scores) - np.log1p(-trials.scores)
    sign = np.where(seen, 1.0, -1.0)

    def loss(slope, intercept):
        return np.logaddexp(0.0, -sign * (slope * odds + intercept)).sum()

    best = loss(line.slope, line.intercept)
    for step in (-1e-3, 1e-3):
        assert loss(line.slope + step, line.intercept) > best
        assert loss(line.slope, line.intercept + step) > best
        assert loss(1.0, line.in_the_large + step) > loss(1.0, line.in_the_large)


def test_tests_of_calibration_reject_calibrated_forecasts_about_as_often_as_they_say():
    z = [tc.spiegelhalter_test(two_class(seed, 200)[0], as_given=True).p_value for seed in range(400)]
    assert 0.02 <= np.mean(np.array(z) < 0.05) <= 0.09
    corp = [tc.corp_diagram(two_class(seed, 60)[0], as_given=True, resamples=79).test.p_value for seed in range(80)]
    assert np.mean(np.array(corp) <= 0.05) <= 0.12


def test_stretched_forecasts_are_found_out():
    trials, _ = two_class(5, 1000, 3.0)
    assert tc.spiegelhalter_test(trials, as_given=True).p_value < 0.001
    found = tc.corp_diagram(trials, as_given=True, resamples=199)
    assert found.test.p_value <= 0.005
    assert ((found.recalibrated < found.low) | (found.recalibrated > found.high)).any()


@settings(max_examples=30)
@given(seeds)
def test_the_diagram_splits_the_brier_score_as_brier_parts_does(seed):
    trials, seen = two_class(seed, 40)
    own = tc.Trials.of_posteriors(trials.scores, seen, trained_prior=float(seen.mean()))
    found, parts = tc.corp_diagram(own, resamples=19), tc.brier_parts(own)
    assert found.miscalibration == pytest.approx(parts.miscalibration, abs=1e-9)
    assert found.discrimination == pytest.approx(parts.discrimination, abs=1e-9)
    assert found.uncertainty == pytest.approx(parts.uncertainty)
    assert (np.diff(found.recalibrated) >= 0.0).all()
    assert (found.low <= found.high).all()


def test_posteriors_are_moved_to_the_frequencies_of_the_trials_unless_taken_as_given():
    rng = np.random.default_rng(0)
    llrs = rng.normal(np.where(np.arange(20_000) % 10 == 0, 2.0, -2.0), 2.0)  # calibrated, one in ten a target
    seen = np.arange(20_000) % 10 == 0
    halves = tc.Trials.of_posteriors(1 / (1 + np.exp(-llrs)), seen, trained_prior=0.5)
    assert tc.expected_calibration_error(halves).value < 0.02
    assert tc.expected_calibration_error(halves, as_given=True).value > 0.05


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda t: tc.expected_calibration_error(t, bins=0), tc.InputError),
        (lambda t: tc.expected_calibration_error(t, binning="wide"), tc.InputError),
        (lambda t: tc.expected_calibration_error(t, kind="best"), tc.InputError),
        (lambda t: tc.expected_calibration_error(tc.Trials.of_llr([1.0], [1]), as_given=True), tc.InputError),
        (lambda t: tc.expected_calibration_error(tc.Trials.of_scores([1.0, 2.0], [1, 0])), tc.InputError),
        (lambda t: tc.expected_calibration_error(tc.Trials.of_llr([], [])), tc.UndefinedError),
        (lambda t: tc.expected_calibration_error(tc.Trials.of_llr([1.0, 2.0], [1, 0], weights=[1, 2])), tc.InputError),
        (lambda t: tc.calibration_line(tc.Trials.of_posteriors([1.0, 0.5], [1, 0], trained_prior=0.5), as_given=True),
         tc.InputError),
        (lambda t: tc.spiegelhalter_test(tc.Trials.of_posteriors([0.5, 0.5], [1, 0], trained_prior=0.5)),
         tc.UndefinedError),
        (lambda t: tc.corp_diagram(t, resamples=3), tc.InputError),
        (lambda t: tc.corp_diagram(t, level=95), tc.InputError),
        (lambda t: tc.spiegelhalter_test(tc.Trials.of_log_likelihoods([[0.0, 1.0, 2.0]] * 3, [0, 1, 2])),
         tc.InputError),
    ],
)  # fmt: skip
def test_what_cannot_be_assessed_is_refused(call, error):
    with pytest.raises(error):
        call(two_class(1)[0])


def test_certainty_is_not_clipped():
    trials = tc.Trials.of_posteriors([0.0, 1.0, 0.5], [0, 1, 1], trained_prior=0.5)
    assert tc.expected_calibration_error(trials, as_given=True, bins=2).value == pytest.approx(0.5 / 3)
    assert math.isfinite(tc.corp_diagram(trials, as_given=True, resamples=19).miscalibration)


def test_several_classes_have_a_diagram_of_the_top_label_and_of_each_class():
    rng = np.random.default_rng(31)
    labels = rng.integers(0, 3, 600)
    logs = rng.normal(size=(600, 3)) + 2.0 * np.eye(3)[labels]
    trials = tc.Trials.of_log_likelihoods(2.0 * logs, np.array(["x", "y", "z"])[labels], classes=["x", "y", "z"])
    top, own = tc.corp_diagram(trials, resamples=99), tc.corp_diagram(trials, of="y", resamples=99)
    posteriors = tc.posteriors(trials, np.bincount(labels) / 600)
    assert top.forecast[-1] == pytest.approx(posteriors.max())
    assert own.uncertainty == pytest.approx(np.mean(labels == 1) * np.mean(labels != 1))
    assert top.forecast[0] > 1.0 / 3.0
    with pytest.raises(tc.InputError, match="of must be one of"):
        tc.corp_diagram(trials, of="w")


def forecasts(rng, size, sureness):
    """Posteriors whose log-odds are stretched by a factor, and outcomes of the unstretched ones."""
    odds = 1.5 * rng.normal(size=size)
    seen = rng.random(size) < 1.0 / (1.0 + np.exp(-odds))
    return tc.Trials.of_posteriors(1.0 / (1.0 + np.exp(-sureness * odds)), seen, trained_prior=0.5)


@pytest.mark.parametrize(("sureness", "truth"), [(1.0, 0.0), (1.8, 0.0943)])
def test_the_interval_of_the_debiased_error_covers_it(sureness, truth):
    """500 sets of 500 rows, calibrated and overconfident; the truth is that of 4 million rows."""
    rng, asked = np.random.default_rng(8), {"binning": "equal-mass", "debiased": True, "as_given": True}
    found = [tc.expected_calibration_error(forecasts(rng, 500, sureness), **asked).interval for _ in range(500)]
    covered = np.mean([ends.low <= truth <= ends.high for ends in found])
    assert 0.93 <= covered <= (1.0 if truth == 0.0 else 0.98)
    if truth == 0.0:
        assert np.mean([ends.low == 0.0 for ends in found]) > 0.95


def test_only_the_debiased_error_has_an_interval_and_the_others_say_why():
    rng = np.random.default_rng(9)
    trials = forecasts(rng, 300, 1.5)
    plain = tc.expected_calibration_error(trials, as_given=True)
    assert plain.interval is None
    assert "no interval" in plain.note
    wide, narrow = (tc.expected_calibration_error(trials, debiased=True, ci=ci) for ci in (0.99, 0.8))
    assert wide.interval.low <= narrow.interval.low <= narrow.value <= narrow.interval.high < wide.interval.high
    scores = rng.normal(size=(90, 3))
    classes = tc.Trials.of_log_likelihoods(scores, np.arange(90) % 3)
    assert tc.expected_calibration_error(classes, debiased=True).interval is not None
    each = tc.expected_calibration_error(classes, debiased=True, kind="class-wise")
    assert each.interval is None
    assert "no interval" in each.note
    with pytest.raises(tc.InputError, match="ci"):
        tc.expected_calibration_error(trials, debiased=True, ci=95)


def test_the_interval_of_the_debiased_error_covers_it_where_targets_are_rare():
    """300 sets of 500 and of 2,000 rows with 0.7 % targets, forecasts too high; the truth is that of 2 million rows."""
    rng, truth = np.random.default_rng(10), 0.0157
    for size in (500, 2000):
        covered = []
        for _ in range(300):
            odds = rng.normal(-4.5, 1.0, size)
            seen = rng.random(size) < 1.0 / (1.0 + np.exp(1.0 - odds))
            seen[0] = True
            trials = tc.Trials.of_posteriors(1.0 / (1.0 + np.exp(-odds)), seen, trained_prior=0.5)
            found = tc.expected_calibration_error(trials, binning="equal-mass", debiased=True, as_given=True).interval
            covered.append(found.low <= truth <= found.high)
        assert np.mean(covered) >= 0.93


def test_few_rows_do_not_make_a_certain_debiased_error():
    wrong = tc.Trials.of_posteriors([0.1] * 5 + [0.9] * 5, [1] * 5 + [0] * 5, trained_prior=0.5)
    found = tc.expected_calibration_error(wrong, debiased=True, as_given=True).interval
    assert found.high - found.low > 0.2
    alone = tc.Trials.of_posteriors(np.linspace(0.05, 0.95, 10), [0, 1] * 5, trained_prior=0.5)
    with pytest.raises(tc.UndefinedError, match="no bin has two rows"):
        tc.expected_calibration_error(alone, binning="equal-mass", debiased=True)


@pytest.mark.parametrize(("labels", "why"), [([1, 1], "no non-targets"), ([0, 0], "no targets"), ([0, 1], "separates")])
def test_a_calibration_line_that_does_not_exist_says_why(labels, why):
    trials = tc.Trials.of_posteriors([0.2, 0.3], labels, trained_prior=0.5)
    with pytest.raises(tc.UndefinedError, match=why):
        tc.calibration_line(trials, as_given=True)
