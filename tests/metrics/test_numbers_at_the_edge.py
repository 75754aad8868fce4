"""Numbers of odd types and sizes: widened, exact or refused, never rounded in silence."""

import json
import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import tercet as tc
from tercet.metrics.min_risk import min_normalised_risk


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.int8, Fraction, Decimal])
def test_counts_of_any_type_give_the_interval_of_the_whole_numbers(kind):
    assert tc.wilson(kind(3), kind(100)) == tc.wilson(3, 100)
    assert tc.k_sigma(kind(3), kind(100)) == tc.k_sigma(3, 100)


@pytest.mark.parametrize(
    "value", [1j, np.complex128(0.5), np.datetime64("2020-01-01"), np.timedelta64(1), Decimal("1e400"), "0.5", True]
)
def test_what_is_no_double_is_refused_by_name(value):
    with pytest.raises(tc.InputError, match="prior"):
        tc.Application(value)
    with pytest.raises(tc.InputError, match="scores"):
        tc.Trials.of_llr(np.array([value, 1.0], object))


def test_clopper_pearson_is_refused_where_its_quantiles_lose_digits():
    with pytest.raises(tc.InputError, match="out_of"):
        tc.clopper_pearson(5, 10**18)
    assert tc.wilson(5, 10**18).high < 2e-17


def test_a_threshold_is_right_where_the_logarithms_cancel():
    app = tc.Application(0.25, 3.0, 1.0)
    assert app.threshold == 0.0
    nearly = tc.Application(0.25, 3.0 + 4.4408920985006262e-16, 1.0)
    assert nearly.threshold == pytest.approx(-4.4408920985006262e-16 / 3.0, rel=1e-12)


def test_a_cost_beyond_the_range_of_the_exponential_is_finite_where_it_is():
    app = tc.Application(1e-300, 1e-9, 1.0)
    expected = Fraction(1 - 1e-300) * Fraction(1e-9) ** -1 / Fraction(1e-300) * Fraction(1e-3)
    assert math.isinf(app.factor)
    assert app.dcf(fnr=0.0, fpr=1e-3) == pytest.approx(float(expected), rel=1e-12)


def test_weights_over_six_hundred_orders_of_magnitude_give_numbers_or_a_sentence():
    rng = np.random.default_rng(0)
    weights, labels = 10.0 ** rng.uniform(-300, 300, 1500), np.arange(1500) % 2
    trials = tc.Trials.of_llr(rng.normal(size=1500), labels, weights=weights)
    ev = tc.evaluate(trials, [(0.5, 1, 1)])
    assert json.loads(json.dumps(ev.to_dict()))["auc"] == ev.auc
    with pytest.raises(tc.InputError, match="weights must lie within 150 orders"):
        tc.bootstrap(trials, [(0.5, 1, 1)], resamples=39, ci=0.9)


@pytest.mark.filterwarnings("error")
def test_resampling_does_not_depend_on_the_unit_of_the_weights():
    rng = np.random.default_rng(1)
    scores, labels, weights = rng.normal(size=60), np.arange(60) % 2, rng.uniform(1, 3, 60)
    found = []
    for unit in (1.0, 2.0**800, 2.0**-800):
        trials = tc.Trials.of_llr(scores, labels, weights=weights * unit)
        found.append(tc.bootstrap(trials, [(0.5, 1, 1)], resamples=39, ci=0.9))
    for name in ("auc", "min_cllr", "applications.0.dcf"):
        ends = {(one[name].value, one[name].low, one[name].high) for one in found}
        assert len(ends) == 1


@pytest.mark.parametrize("z", [1e150, 1e154, 1e155, 1e308])
def test_an_interval_of_any_number_of_standard_errors_has_both_ends(z):
    low, high, _ = tc.wilson(3, 10, z=z)
    assert 0.0 <= low <= 1e-15
    assert high == pytest.approx(1.0)


def test_the_least_risk_has_no_normalised_form_where_the_dummy_costs_nothing():
    rows = [[2.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 1.0, 3.0], [0.0, 0.0, 4.0]]
    trials = tc.Trials.of_log_likelihoods(rows, [0, 0, 1, 2])
    costs = [[0, 1, 1], [1, 0, 1], [1, 1, 0], [0, 0, 0]]
    free = tc.Application.multiclass([1 / 3] * 3, costs, actions=["0", "1", "2", "wait"])
    found = tc.min_risk(trials, free)
    assert (found.risk, found.always, found.normalised) == (0.0, "wait", None)
    with pytest.raises(tc.UndefinedError, match="the best dummy costs 0"):
        min_normalised_risk(trials, free)


def many_heavy(extra):
    rng = np.random.default_rng(0)
    labels = np.arange(200) % 3 == 0
    weights = np.where(np.arange(200) % 5 == 0, extra, (rng.random(200) + 0.5) * 2.0**1023)
    return tc.Trials.of_llr(rng.normal(size=200) + labels, labels, weights=weights)


@pytest.mark.parametrize("extra", [0.3, 2.0**1023])
def test_weights_whose_sum_no_double_holds_are_counted_in_whole_numbers(extra, tmp_path):
    trials = many_heavy(extra)
    found = tc.evaluate(trials, [(0.5, 1, 1)])
    for name, marks in (("targets", trials.labels), ("nontargets", ~trials.labels)):
        assert found.input[name] == math.floor(sum(map(Fraction, trials.weights[marks].tolist())))
    assert json.loads(json.dumps(found.to_dict()))["input"] == found.input
    with pytest.raises(tc.InputError, match="divide them"):
        tc.report(found, tmp_path / "page.html")
    with pytest.raises(tc.UndefinedError, match="divide the weights"):
        tc.evaluate(trials, [(0.5, 1, 1)], ci=0.95)


@pytest.mark.parametrize("method", ["Logistic", "Isotonic", "Gaussian", "Beta", "Offset", "Affine"])
def test_calibration_does_not_depend_on_the_unit_of_the_weights(method):
    rng = np.random.default_rng(0)
    labels = np.arange(200) % 3 == 0
    scores, weights = rng.normal(size=200) + labels, rng.integers(1, 8, 200) * 1.0
    found = [
        getattr(tc, method).fit(tc.Trials.of_llr(scores, labels, weights=weights * unit))._parameters
        for unit in (1.0, 2.0**1020, 2.0**-1074)
    ]
    assert found[0] == found[1] == found[2]


def test_gaussian_calibration_takes_weights_of_all_sizes():
    rng = np.random.default_rng(0)
    labels = np.arange(200) % 3 == 0
    scores, weights = rng.normal(size=200) + labels, 10.0 ** rng.uniform(-300, 300, 200)
    model = tc.Gaussian.fit(tc.Trials.of_llr(scores, labels, weights=weights))
    assert 0.0 < model.target_deviation == model.nontarget_deviation < 10.0
