"""Weights that are any doubles: intervals and comparisons exist, and only the ratios of weights count."""

import numpy as np
import pytest

import tercet as tc

APP = tc.Application(0.01, 1, 1)
NAMES = ("applications.0.dcf", "applications.0.min_dcf", "applications.0.calibration_loss", "eer", "auc")


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(0)
    labels = np.arange(2000) % 10 == 0
    return 1.5 * rng.normal(size=2000) + np.where(labels, 2, -2), labels, rng.random(2000) + 0.2


def ends(scores, labels, weights, **options):
    trials = tc.Trials.of_llr(scores, labels, weights=weights, groups={"speaker": np.arange(2000) % 40})
    found = tc.evaluate(trials, [APP], ci=0.95, **options).intervals
    return np.array([[found[name].low, found[name].value, found[name].high] for name in NAMES])


@pytest.mark.parametrize("by", [None, "speaker"])
def test_weights_of_53_bits_have_the_intervals_of_weights_rounded_to_20(drawn, by):
    scores, labels, weights = drawn
    found = ends(scores, labels, weights, by=by)
    assert np.isfinite(found).all()
    assert (found[:, 0] < found[:, 2]).all()
    np.testing.assert_allclose(found, ends(scores, labels, np.round(weights * 2**20) / 2**20, by=by), atol=1e-4)


@pytest.mark.parametrize("scale", [2.0**-700, 2.0**40, 1e-3])
def test_intervals_do_not_depend_on_the_scale_of_the_weights(drawn, scale):
    scores, labels, weights = drawn
    np.testing.assert_allclose(ends(scores, labels, weights * scale), ends(scores, labels, weights), rtol=1e-6)


def test_whole_weights_that_no_count_can_hold_are_refused(drawn):
    scores, labels, weights = drawn
    with pytest.raises(tc.UndefinedError, match="or more trials have no interval"):
        ends(scores, labels, weights * 2.0**700)


def test_systems_are_compared_with_weights_of_53_bits(drawn):
    scores, labels, weights = drawn
    noise = np.random.default_rng(1).normal(size=2000)
    better, worse = (
        tc.Trials.of_llr(own, labels, weights=weights, name=name)
        for own, name in ((scores, "a"), (scores + noise, "b"))
    )
    found = tc.compare(better, worse, applications=[APP])
    rounded = [tc.Trials.of_llr(one.scores, labels, weights=np.round(weights * 256) / 256) for one in (better, worse)]
    near = tc.compare(*rounded, applications=[APP])
    for one, other in zip(found.differences, near.differences, strict=True):
        assert one.low <= one.value <= one.high
        np.testing.assert_allclose([one.low, one.high], [other.low, other.high], atol=0.02)
