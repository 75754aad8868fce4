"""MOVER over counts: one set of limits for a rate wherever it is shown, which holds with few errors too."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import tercet as tc
from tercet.metrics.mover import Proportion, Share, Sum, mover


@pytest.mark.parametrize("expected", [0.05, 0.16, 0.5, 2.0])
@pytest.mark.parametrize("price", [1.0, 19.0])
def test_a_cost_of_rare_errors_is_covered_in_at_least_93_per_cent(expected, price):
    """Summed over both binomials; from Wilson's limits it was 85 % at 0.16 expected false alarms and no misses."""
    size, rates = 100, (1e-6, expected / 100)
    chances = [scipy.stats.binom.pmf(np.arange(13), size, rate) for rate in rates]
    truth, covered = rates[0] + price * rates[1], 0.0
    for misses, alarms in itertools.product(range(2), range(13)):
        low, high, _ = mover([[Share(1.0, misses, size)], [Share(price, alarms, size)]])
        covered += float(chances[0][misses] * chances[1][alarms]) * (low <= truth <= high)
    assert covered >= 0.93


@pytest.mark.parametrize("level", [0.8, 0.9, 0.95, 0.99])
@pytest.mark.parametrize(
    "expected", [(0.3, 0.3), (0.31, 0.25), (0.5, 0.2), (0.1, 1.0), (1.0, 1.0), (3.0, 0.3), (9.0, 9.0)]
)
def test_a_cost_of_few_errors_of_both_kinds_is_covered_to_2_points_at_every_level(expected, level):
    """Summed over both binomials. MOVER alone covered 92.4 % of (0.3, 0.3) at 95 and at 99 %.

    The lower end of one miss and one false alarm could not be below 0.59 of an error.
    """
    size, counts = 50, np.arange(40.0)
    chances = [scipy.stats.binom.pmf(counts, size, own / size) for own in expected]
    misses, alarms = np.meshgrid(counts, counts, indexing="ij")
    rates = Proportion(misses / size, float(size)), Proportion(alarms / size, float(size))
    low, high = Sum(rates, (1.0, 1.0), None, (0.0, np.inf)).limits(level)
    truth = sum(expected) / size
    assert np.multiply.outer(*chances)[(low <= truth) & (truth <= high)].sum() >= level - 0.02


@pytest.mark.parametrize(("classes", "expected"), [(10, 0.3), (10, 1.0), (20, 0.5), (50, 0.2), (50, 1.0)])
def test_a_risk_of_many_classes_with_few_errors_each_is_covered_in_at_least_93_per_cent(classes, expected):
    """MOVER alone covered 87 to 92 %: one error in each of many classes counted as one standard error of their sum."""
    size, rng = 20, np.random.default_rng(3)
    errors = rng.binomial(size, expected / size, (2000, classes)).astype(float)
    parts = [Proportion(own / size, float(size)) for own in errors.T]
    low, high = Sum(parts, (1.0 / classes,) * classes, None, (0.0, np.inf)).limits(0.95)
    assert np.mean((low <= expected / size) & (expected / size <= high)) >= 0.93


@given(st.integers(0, 40), st.integers(0, 40), st.sampled_from([0.5, 0.05]))
def test_a_rate_and_a_cost_have_the_same_interval_from_counts_as_from_trials(misses, alarms, prior):
    llr = np.r_[np.where(np.arange(40) < misses, -9.0, 9.0), np.where(np.arange(40) < alarms, 9.0, -9.0)]
    labels = np.repeat([1, 0], 40)
    found = tc.evaluate(tc.Trials.of_llr(llr, labels), [prior], ci=0.95).intervals
    table = tc.Confusion([[40 - alarms, misses], [alarms, 40 - misses]], classes=["no", "yes"], target="yes")
    report = tc.count_report(table, application=prior)
    for name, at in (("fnr", "fnr"), ("fpr", "fpr"), ("risk", "dcf_u")):
        bound = found[f"applications.0.{at}"]
        assert report[name].interval[:2] == pytest.approx((bound.low, bound.high), abs=1e-12)


PRICES = (1.0, 2.0, 3.0, 5.0, 8.0, 13.0)


def priced(size):
    """A cost matrix of this many classes whose errors have six distinct costs."""
    costs, errors = np.zeros((size, size)), ~np.eye(size, dtype=bool)
    costs[errors] = np.resize(PRICES, errors.sum())
    return costs


def tables(size):
    """Tables of this many classes by name: errors everywhere, a class without errors, and one of errors alone."""
    plain = np.random.default_rng(size).integers(1, 9, (size, size)) + np.diag(np.full(size, 20))
    perfect, hopeless = plain.copy(), plain.copy()
    perfect[:, 0] = [40] + [0] * (size - 1)
    hopeless[0, 0] = 0
    worst = plain.copy()
    worst[:, 1] = np.where(np.arange(size) == priced(size)[:, 1].argmax(), 40, 0)
    return {"plain": plain, "no errors": perfect, "only errors": hopeless, "only the costliest errors": worst}


@pytest.mark.parametrize("name", tables(3))
@pytest.mark.parametrize("size", [3, 5])
def test_a_risk_of_several_classes_has_the_same_interval_from_counts_as_from_trials(size, name):
    table = tables(size)[name]
    decisions, labels = (np.repeat(places.ravel(), table.ravel()) for places in np.indices(table.shape))
    rows = np.where(np.arange(size) == decisions[:, None], 0.0, -40.0)
    prior = np.arange(1.0, size + 1.0) / np.arange(1.0, size + 1.0).sum()
    app = tc.Application.multiclass(prior, priced(size))
    found = tc.evaluate(tc.Trials.of_log_likelihoods(rows, labels), [app], ci=0.9).intervals
    report = tc.count_report(tc.Confusion(table), application=app, ci=0.9)
    for key, at in (("risk", "risk"), ("normalised_risk", "dcf")):
        bound = found[f"applications.0.{at}"]
        assert report[key].value == pytest.approx(bound.value, rel=1e-12)
        assert report[key].interval[:2] == pytest.approx((bound.low, bound.high), rel=1e-9, abs=1e-12)
    assert report["risk"].interval.method == "mover (Tiwari-Clegg-Zou)"


def test_a_risk_with_many_distinct_costs_is_covered_in_at_least_93_per_cent():
    """7 classes of 40 trials, 5 % errors: MOVER over the cells covered 91 %, 45 of 500 lower ends being too high."""
    size, sets = 7, 500
    chances = np.full((size, size), 0.05 / (size - 1))
    np.fill_diagonal(chances, 0.95)
    rng = np.random.default_rng(1)
    drawn = np.stack([rng.multinomial(40, own, sets) for own in chances.T], axis=-1)
    app = tc.Application.multiclass([1.0 / size] * size, priced(size))
    truth = float((chances * app.costs).sum()) / size
    ends = np.array([tc.count_report(tc.Confusion(own), application=app)["risk"].interval[:2] for own in drawn])
    assert np.mean((ends[:, 0] <= truth) & (truth <= ends[:, 1])) >= 0.93


@pytest.mark.parametrize("size", [45, 46, 90, 93])
def test_13_errors_have_the_same_limits_from_trials_as_from_counts_whatever_the_number_of_trials(size):
    """13 / 45 x 45 is below 13 in floating point, which made the limits of trials Clopper and Pearson's."""
    llr = np.where(np.arange(2 * size) % size < 13, -9.0, 9.0) * np.repeat([1.0, -1.0], size)
    found = tc.evaluate(tc.Trials.of_llr(llr, np.repeat([1, 0], size)), [0.5], ci=0.95).intervals
    for name in ("fnr", "fpr"):
        bound = found[f"applications.0.{name}"]
        assert (bound.low, bound.high) == pytest.approx(tc.wilson(13, size)[:2], rel=1e-12)
        assert bound.method == "Wilson"


def test_a_sum_of_rates_refuses_as_many_trials_as_a_rate_does():
    with pytest.raises(tc.InputError, match="at most 1e"):
        mover([[Share(1.0, 12, 10**18)]])
    with pytest.raises(tc.InputError, match="at most 1e"):
        tc.count_report(
            tc.Confusion(np.full((3, 3), 10**17)), application=tc.Application.multiclass([1 / 3] * 3, priced(3))
        )
