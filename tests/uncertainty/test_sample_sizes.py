"""Sample sizes reach what they promise in simulated sets; precision and F1 have closed forms."""

import math

import numpy as np
import pytest
import scipy.stats

import tercet as tc
from tercet.metrics.binomial import proportion_limits
from tercet.uncertainty.intervals import closed_form_intervals

RNG = np.random.default_rng(8)


def arms(low, value, high):
    return max(value - low, high - value)


def longer_arms(errors, size):
    """Of the default intervals of rates."""
    low, high = proportion_limits(errors.astype(float), np.full(len(errors), float(size)), 0.95)
    return np.maximum(high - errors / size, errors / size - low)


@pytest.mark.parametrize(("rate", "width"), [(0.05, 0.02), (0.001, 0.005), (0.01, 0.02), (0.01, 0.05), (0.3, 0.1)])
def test_the_rate_sample_reaches_its_half_width_as_often_as_assured(rate, width):
    """Summed over the binomial: with the normal law of the errors it was 72 to 87 %."""
    size = tc.sample_size_for_rate(rate, width)
    errors = np.arange(size + 1)
    short = longer_arms(errors, size) <= width
    assert scipy.stats.binom.pmf(errors, size, rate)[short].sum() >= 0.8


@pytest.mark.parametrize(
    ("fnr", "fpr", "app", "width"), [(0.3, 0.002, 0.01, 0.05), (0.01, 0.2, 0.9, 0.03), (0.1, 0.1, 0.5, 0.02)]
)
def test_the_cost_sample_reaches_its_half_width_as_often_as_assured(fnr, fpr, app, width):
    """With the errors at the quantile of the cost instead of the arm it was 77 and 79 %."""
    size = tc.sample_size(fnr, fpr, app, width)
    rng = np.random.default_rng(1)
    odds = app / (1 - app)
    costs = (1.0, 1.0 / odds) if odds <= 1.0 else (odds, 1.0)
    squares = np.zeros(20000)
    for rate, count, cost in zip((fnr, fpr), size[:2], costs, strict=True):
        errors = rng.binomial(count, rate, 20000)
        _, high = proportion_limits(errors.astype(float), np.full(20000, float(count)), 0.95)
        squares += (cost * (high - errors / count)) ** 2  # few errors: the upper arm is the longer one
    short = np.mean(np.sqrt(squares) <= width)
    assert 0.79 <= short <= 0.85


def test_the_rate_sample_grows_with_what_is_asked():
    assert tc.sample_size_for_rate(0.1, 0.01) > tc.sample_size_for_rate(0.1, 0.02)
    assert tc.sample_size_for_rate(0.1, 0.02, assurance=0.9) > tc.sample_size_for_rate(0.1, 0.02, assurance=0.5)
    single = tc.sample_size_for_rate(0.1, 0.02)
    assert tc.sample_size_for_rate(0.1, 0.02, design_effect=2.0) == pytest.approx(2 * single, abs=2)


def test_the_area_sample_gives_short_enough_intervals():
    size = tc.sample_size_for_auc(0.9, 0.05)
    labels, shift, short = np.repeat([1, 0], size[:2]), math.sqrt(2.0) * 1.2815515655446004, 0
    for _ in range(60):
        scores = RNG.normal(size=len(labels)) + shift * labels
        found = tc.delong(tc.Tally.of(tc.Trials.of_scores(scores, labels)))
        short += arms(found.low, found.value, found.high) <= 0.055
    assert short >= 42


def test_the_sample_for_a_difference_has_its_power():
    def drawn(labels, rng):
        signs, shared = np.where(labels == 1, 1.0, -1.0), rng.normal(size=len(labels))
        return [tc.Trials.of_llr(d * signs + shared + 0.7 * rng.normal(size=len(labels)), labels) for d in (1.6, 1.3)]

    rng = np.random.default_rng(3)
    pilot = drawn(np.repeat([1, 0], [4000, 4000]), rng)
    gap = tc.compare(*pilot, [0.5], names=["a", "b"], quantities=["dcf"]).differences[0].value
    size = tc.sample_size_for_difference(*pilot, 0.5, gap)
    labels = np.repeat([1, 0], size[:2])
    found = [
        tc.compare(*drawn(labels, rng), [0.5], names=["a", "b"], quantities=["dcf"]).differences[0].p_value <= 0.05
        for _ in range(40)
    ]
    assert 0.6 <= np.mean(found) <= 0.97


def test_groups_in_the_pilot_ask_for_more_trials():
    rng, labels = np.random.default_rng(5), np.tile([1, 0], 300)
    speaker = np.repeat(np.arange(30), 20)
    shift = 1.5 * rng.normal(size=30)[speaker]
    signs = np.where(labels == 1, 1.0, -1.0)
    first = tc.Trials.of_llr(signs + shift + rng.normal(size=600), labels, groups={"speaker": speaker})
    second = tc.Trials.of_llr(signs + rng.normal(size=600), labels)
    alone = tc.sample_size_for_difference(first, second, 0.5, 0.05)
    assert tc.sample_size_for_difference(first, second, 0.5, 0.05, by="speaker").targets > alone.targets


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("rate", lambda: tc.sample_size_for_rate(0.0, 0.1)),
        ("half_width", lambda: tc.sample_size_for_rate(0.1, 0.0)),
        ("assurance", lambda: tc.sample_size_for_rate(0.1, 0.1, assurance=2)),
        ("design_effect", lambda: tc.sample_size_for_auc(0.9, 0.1, design_effect=0.5)),
        ("auc", lambda: tc.sample_size_for_auc(0.4, 0.1)),
        ("wider", lambda: tc.sample_size_for_rate(0.5, 1e-12)),
    ],
)
def test_what_cannot_be_planned_is_refused_by_name(name, call):
    with pytest.raises(tc.InputError, match=name):
        call()


def test_precision_and_f1_are_binomial_given_what_matters():
    labels = np.repeat([1, 0], [40, 960])
    trials = tc.Trials.of_llr(2.0 * labels - 1.0 + RNG.normal(size=1000), labels)
    table = tc.confusion_of(trials, 0.5)
    found = tc.evaluate(trials, [0.5], ci=0.95).intervals
    ends = tc.wilson(table.tp, table.tp + table.fp)
    assert found["applications.0.ppv"][:3] == pytest.approx((table.ppv, ends.low, ends.high))
    index = tc.wilson(table.tp, table.tp + table.fp + table.fn)
    expected = (table.f1, *(2 * q / (1 + q) for q in index[:2]))
    assert found["applications.0.f1"][:3] == pytest.approx(expected)


def test_precision_and_f1_cover_at_random_class_counts():
    rng, held = np.random.default_rng(11), np.zeros(2)
    truth_tpr, truth_fpr, share = 0.8413447460685429, 0.15865525393145707, 0.05
    ppv = share * truth_tpr / (share * truth_tpr + (1 - share) * truth_fpr)
    f1 = 2 * share * truth_tpr / (share * truth_tpr + (1 - share) * truth_fpr + share)
    for _ in range(150):
        labels = (rng.random(500) < share).astype(int)
        trials = tc.Trials.of_llr(2.0 * labels - 1.0 + rng.normal(size=500), labels)
        found = closed_form_intervals(trials, [0.5], level=0.95, wanted=frozenset(["ppv", "f1"]))
        for place, (name, truth) in enumerate((("ppv", ppv), ("f1", f1))):
            bound = found[f"applications.0.{name}"]
            held[place] += bound.low <= truth <= bound.high
    assert (held >= 135).all()


def test_precision_of_nothing_accepted_and_of_groups_is_words():
    none = tc.Trials.of_llr([-3.0, -2.0, -4.0, -5.0], [1, 1, 0, 0], groups={"g": list("abab")})
    assert "nothing is accepted" in tc.evaluate(none, [0.5], ci=0.95).intervals.missing["applications.0.ppv"]
    assert "bootstrap" in tc.evaluate(none, [0.5], ci=0.95, by="g").intervals.missing["applications.0.f1"]


@pytest.mark.parametrize("size", [tc.sample_size_for_rate, tc.sample_size_for_auc])
def test_a_half_width_in_per_cent_is_refused(size):
    """It gave 1 trial of a rate, and 6 of an AUC."""
    with pytest.raises(tc.InputError, match=r"half_width must lie strictly between 0 and 1, not 5\.0\. 5 % is 0\.05"):
        size(0.8, 5)
