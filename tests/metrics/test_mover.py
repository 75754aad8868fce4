"""MOVER over counts: one set of limits for a rate wherever it is shown, which holds with few errors too."""

import itertools

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st

import tercet as tc
from tercet.metrics.mover import Share, mover


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
