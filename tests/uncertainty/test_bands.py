"""Bands of reliability diagrams and curves: what they count, and what they refuse."""

import numpy as np
import pytest

import tercet as tc
from tercet.metrics.binomial import clopper_pearson
from tercet.uncertainty import bands, reliability, roc_band

from .helpers import three_classes

LABELS = np.repeat([1, 0], 10)
SCORES = np.where(LABELS == 1, 3.0, -3.0)


def test_a_bin_of_one_class_counts_groups_where_groups_are_drawn():
    groups = {"site": np.tile(list("abcd"), 50)}
    trials = tc.Trials.of_llr(np.repeat(SCORES, 10), np.repeat(LABELS, 10), groups=groups)
    found = reliability(trials, bins=2, resamples=39, by="site")
    assert found.high[0] == pytest.approx(clopper_pearson(0, 4).high)
    assert found.low[1] == pytest.approx(1 - clopper_pearson(0, 4).high)


@pytest.mark.parametrize("heavy", [(10, 10), (1, 100), (7, 2)])
def test_whole_weights_are_repeated_rows_in_a_bin_of_one_class(heavy):
    weights = np.where(LABELS == 1, *heavy)
    one = reliability(tc.Trials.of_llr(SCORES, LABELS, weights=weights.astype(float)), bins=2, resamples=39)
    other = reliability(tc.Trials.of_llr(np.repeat(SCORES, weights), np.repeat(LABELS, weights)), bins=2, resamples=39)
    assert (*one.low, *one.high) == pytest.approx((*other.low, *other.high))


def test_a_row_with_a_real_weight_is_one_row():
    plain = reliability(tc.Trials.of_llr(SCORES, LABELS), bins=2, resamples=39)
    real = reliability(tc.Trials.of_llr(SCORES, LABELS, weights=np.full(20, 2.5)), bins=2, resamples=39)
    assert (*real.low, *real.high) == pytest.approx((*plain.low, *plain.high))


@pytest.mark.parametrize("band", [bands, reliability, roc_band])
def test_bands_of_several_classes_are_refused_in_words(band):
    with pytest.raises(tc.InputError, match="versus"):
        band(three_classes(), resamples=39)


def test_raw_scores_without_a_calibrator_have_no_reliability():
    raw = tc.Trials.of_scores(SCORES, LABELS)
    with pytest.raises(tc.InputError, match="calibrate them first"):
        reliability(raw, calibrate=None)
    assert bands(raw, resamples=39, calibrate=None).reliability is None


@pytest.mark.parametrize("bins", ["x", None, 1, 2.5, np.nan, True])
def test_bins_that_are_no_number_of_bins_are_refused(bins):
    with pytest.raises(tc.InputError, match="bins"):
        reliability(tc.Trials.of_llr(SCORES, LABELS), bins=bins)


def test_the_band_of_costs_has_the_intervals_of_evaluate_and_keeps_its_width_without_errors():
    """No target scores below -3, so resamples hold no miss there, and their band ended at 0.84."""
    rng = np.random.default_rng(1)
    labels = np.arange(400) % 3 == 0
    trials = tc.Trials.of_llr(np.maximum(rng.normal(size=400) + 2.4 * labels - 1.2, -2.9), labels)
    band, own = bands(trials, resamples=99).bayes_plot, tc.evaluate(trials, [], ci=0.95).intervals
    for bound, name in ((band.actual, "bayes_plot.dcf"), (band.least, "bayes_plot.min_dcf")):
        assert bound.low.tolist() == own[name].low.tolist()
        assert bound.high.tolist() == own[name].high.tolist()
    assert band.actual.high[-1] > 1.05 * band.actual.value[-1]


def test_resampled_bands_of_costs_are_drawn_where_they_are_asked_for():
    trials = tc.Trials.of_llr(SCORES + np.arange(20) / 5 - 2, LABELS)
    found = bands(trials, resamples=39, method="percentile")
    assert found.bayes_plot.actual.method == "percentile bootstrap"
    assert bands(trials, resamples=39, calibrate=tc.Isotonic).bayes_plot.actual.method == "BCa bootstrap"
