"""Mean costs that are not only 0 and 1: limits that leave room for a costly error that was not seen."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import tercet as tc
from tercet.metrics.binomial import clopper_pearson
from tercet.metrics.mover import MeanLoss


def limits(costs, most, level=0.95):
    """Of the mean of these costs, an error costing the most."""
    own = np.asarray(costs, float)
    return MeanLoss(own.mean(), own.var(), float(len(own)), most, (most, most**2)).limits(level)


@given(st.integers(0, 60), st.integers(0, 60), st.sampled_from([0.5, 0.95, 0.999]))
def test_costs_of_0_and_1_have_the_limits_of_clopper_and_pearson(errors, others, level):
    if errors + others < 2:
        return
    expected = clopper_pearson(errors, errors + others, level)
    assert limits([1.0] * errors + [0.0] * others, 1.0, level) == pytest.approx(expected[:2], rel=1e-9, abs=1e-12)


@given(st.lists(st.sampled_from([0.0, 1.0, 4.0, 20.0]), min_size=2, max_size=40), st.data())
def test_one_error_more_of_the_highest_cost_never_lowers_the_upper_end(costs, data):
    place = data.draw(st.integers(0, len(costs) - 1))
    before, after = limits(costs, 20.0), limits([*costs[:place], 20.0, *costs[place + 1 :]], 20.0)
    assert after[1] >= before[1] - 1e-9


@given(st.lists(st.sampled_from([0.0, 1.0, 4.0, 20.0]), min_size=2, max_size=40), st.sampled_from([1.0, 4.0]))
def test_a_cheap_error_more_lowers_the_upper_end_by_less_than_a_fifth_of_what_it_costs(costs, cheap):
    before, after = limits([*costs, 0.0], 20.0), limits([*costs, cheap], 20.0)
    assert after[1] >= before[1] - 0.2 * cheap / (len(costs) + 1)


@pytest.mark.parametrize(
    ("chances", "costs"),
    [
        ((0.79, 0.2, 0.01), (0.0, 1.0, 100.0)),
        ((0.79, 0.2, 0.01), (0.0, 1.0, 20.0)),
        ((0.9, 0.08, 0.02), (0.0, 1.0, 4.0)),
        ((0.2, 0.3, 0.5), (0.0, 1.0, 2.0)),
        ((0.02, 0.18, 0.8), (0.0, 1.0, 2.0)),
    ],
)
def test_the_limits_of_a_mean_cost_hold_the_truth_in_at_least_93_per_cent(chances, costs):
    """Summed over all tables of 60 trials; a normal law held the first in 45 %."""
    size, covered = 60, 0.0
    truth = float(np.dot(chances, costs))
    for cheap, costly in itertools.product(range(size + 1), repeat=2):
        if cheap + costly > size:
            continue
        table = np.array([size - cheap - costly, cheap, costly])
        mean = float(table @ costs) / size
        spread = float(table @ np.square(costs)) / size - mean**2
        low, high = MeanLoss(mean, spread, float(size), costs[2], (costs[2], costs[2] ** 2)).limits(0.95)
        if low <= truth <= high:
            covered += float(scipy.stats.multinomial.pmf(table, size, chances))
    assert covered >= 0.93


def decided(table):
    """K-class trials with these numbers of decisions (rows) in each class (columns)."""
    decisions, labels = np.concatenate([[(i, j)] * int(n) for (i, j), n in np.ndenumerate(table) if n]).T
    rows = np.full((len(labels), len(table)), -40.0)
    rows[np.arange(len(labels)), decisions] = 0.0
    return tc.Trials.of_log_likelihoods(rows, labels)


def test_the_risk_of_unequal_costs_has_room_for_a_costly_error_that_was_not_seen():
    """40 cheap errors say nothing of the one that costs 100: none of 200 may still be 1.8 % of them."""
    trials = decided(np.array([[160, 0, 0], [40, 200, 0], [0, 0, 200]]))
    app = tc.Application.multiclass([1 / 3] * 3, [[0, 1, 1], [1, 0, 1], [100, 1, 0]])
    found = tc.evaluate(trials, [app], ci=0.95).intervals["applications.0.risk"]
    assert found.value == pytest.approx(0.2 / 3)
    assert found.high > 100.0 * clopper_pearson(0, 200).high / 3
    assert found.method == "MOVER (Tiwari-Clegg-Zou / Wilson, Clopper-Pearson below 13 errors)"


def test_a_class_that_is_always_decided_wrongly_in_the_costliest_way_has_a_lower_limit():
    trials = decided(np.array([[50, 0, 0], [0, 50, 0], [0, 0, 0]]) + np.array([[0, 0, 50], [0, 0, 0], [0, 0, 0]]))
    app = tc.Application.multiclass([1 / 3] * 3, [[0, 1, 4], [1, 0, 1], [1, 1, 0]])
    found = tc.evaluate(trials, [app], ci=0.95).intervals["applications.0.contributions"]
    assert found.high[2] == pytest.approx(4 / 3)
    assert found.low[2] == pytest.approx(4 / 3 * clopper_pearson(50, 50).low)
