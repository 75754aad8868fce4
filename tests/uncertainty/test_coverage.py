"""A small version of benchmarks/coverage.py: nominal intervals hold the truth about as often as they say."""

import math
from statistics import NormalDist

import numpy as np
import pytest

import tercet as tc
from tercet.uncertainty import bootstrap

SETS = 100
NORMAL = NormalDist()


def simulated(seed, per_class, per_group):
    """Calibrated llrs with 10 % errors of each kind; a group's trials of one class share half of their variance."""
    rng = np.random.default_rng(seed)
    s = -2.0 * NORMAL.inv_cdf(0.1)
    labels, groups = np.repeat([1, 0], per_class), np.tile(np.arange(per_class), 2) // per_group
    shared = rng.normal(size=(2, groups.max() + 1))[labels, groups]
    noise = math.sqrt(0.5) * shared + math.sqrt(0.5) * rng.normal(size=2 * per_class)
    return tc.Trials.of_llr(np.where(labels == 1, 0.5, -0.5) * s * s + s * noise, labels, groups={"speaker": groups})


def covered(by, per_group, method="percentile"):
    truth = {"applications.0.dcf": 0.2, "auc": NORMAL.cdf(-NORMAL.inv_cdf(0.1) * math.sqrt(2.0))}
    hits = dict.fromkeys(truth, 0)
    for seed in range(SETS):
        found = bootstrap(
            simulated(seed, 400, per_group), [(0.5, 1, 1)], resamples=99, seed=seed, by=by, method=method,
            quantities=["dcf", "auc"], bayes_plot=None,
        )  # fmt: skip
        for name, value in truth.items():
            hits[name] += found[name].low <= value <= found[name].high
    return hits


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_intervals_of_independent_trials_cover(method):
    """95 of 100 are expected; 87 or fewer happen about once in 500 times."""
    for name, count in covered(None, 1, method).items():
        assert count >= 88, (name, count)


def test_intervals_by_group_cover_grouped_trials_and_those_by_trial_do_not():
    grouped, ungrouped = covered("speaker", 10), covered(None, 10)
    for name in grouped:
        assert grouped[name] >= 87, (name, grouped[name])
        assert ungrouped[name] <= 88, (name, ungrouped[name])


def test_of_twenty_groups_students_interval_holds_the_least_cost_and_bca_too_seldom():
    """Of 1,000 sets 96.5 and 87.5 % did (docs/uncertainty.md); of 100 fixed ones the order must be the same."""
    hits = dict.fromkeys(("student", "bca"), 0)
    for seed in range(SETS):
        trials = simulated(seed, 100, 5)
        for method in hits:
            options = {"resamples": 99, "seed": seed, "by": "speaker", "method": method, "bayes_plot": None}
            one = bootstrap(trials, [(0.5, 1, 1)], quantities=["min_dcf"], **options)["applications.0.min_dcf"]
            hits[method] += one.low <= 0.2 <= one.high
    assert hits["student"] >= 91
    assert hits["student"] > hits["bca"]
