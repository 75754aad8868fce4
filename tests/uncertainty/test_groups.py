"""Variances and degrees of freedom of groups, against the definitions written out."""

import numpy as np
import pytest

import tercet as tc
from tercet.uncertainty._clusters import Clusters

from .helpers import freedom_of_traces


def left_out(values, codes):
    """The jackknife variance of a mean, each group left out in turn."""
    groups = np.unique(codes)
    means = np.array([values[codes != group].mean() for group in groups])
    return (len(groups) - 1) / len(groups) * ((means - values.mean()) ** 2).sum()


@pytest.mark.parametrize("sizes", [[5.0] * 8, [40.0, 3.0, 3.0, 2.0, 1.0], [100.0, 50.0, 33.0, 25.0, 20.0, 1.0]])
def test_degrees_of_freedom_are_those_of_bell_and_mccaffrey(sizes):
    codes = np.repeat(np.arange(len(sizes)), np.array(sizes, int))
    found = Clusters.of([[codes]], [np.ones(len(codes))])
    assert found.freedoms[0] == pytest.approx(freedom_of_traces(np.array(sizes)))
    assert found.groups == (len(sizes),)


def test_no_crossed_variance_is_below_that_of_either_grouping():
    """The first number varies with one grouping, the second with the other: neither variance replaces the other's."""
    rng = np.random.default_rng(4)
    first, second = np.arange(60) % 6, np.arange(60) // 10
    columns = [rng.normal(size=6)[first], rng.normal(size=6)[second]]
    columns = [own + 0.3 * rng.normal(size=60) for own in columns]
    clusters = Clusters.of([[first], [second]], [np.ones(60)])
    found = clusters.means([(0, own) for own in columns])
    for place, own in enumerate(columns):
        assert found.covariance[place, place] >= max(left_out(own, first), left_out(own, second)) * (1.0 - 1e-12)
    assert found.variance_of_sum() >= max(left_out(sum(columns), codes) for codes in (first, second)) * (1.0 - 1e-12)


def test_a_class_without_errors_has_an_interval_by_group():
    labels = np.arange(90) % 3
    decided = np.where((np.arange(90) % 10 == 0) & (labels > 0), 0, labels)  # class 0 is always right
    trials = tc.Trials.of_logits(
        5.0 * np.eye(3)[decided], labels, trained_prior=[1 / 3] * 3, groups={"g": np.arange(90) // 6}
    )
    found = tc.evaluate(trials, [tc.Application.multiclass([1 / 3] * 3)], ci=0.95, by="g").intervals
    contributions = found["applications.0.contributions"]
    assert contributions.value[0] == 0.0 < contributions.high[0] < 1.0 / 3.0


def test_groups_of_very_different_sizes_widen_the_interval_and_are_noted():
    rng = np.random.default_rng(5)
    wide = {}
    for name, sizes in (("equal", np.full(25, 40)), ("one has half", np.r_[500, np.full(24, 21)])):
        group = np.repeat(np.arange(25), sizes)
        labels = np.arange(len(group)) % 2
        llr = np.where(labels == 1, 1.0, -1.0) * np.where(rng.random(len(group)) < 0.2, -1.0, 1.0)
        found = tc.evaluate(tc.Trials.of_llr(llr, labels, groups={"g": group}), [0.5], ci=0.95, by="g").intervals
        wide[name] = found["applications.0.fnr"].high - found["applications.0.fnr"].low, found.notes
    assert wide["one has half"][0] > 1.5 * wide["equal"][0]
    assert wide["equal"][1] == ()
    assert "25 count as 3.2" in wide["one has half"][1][0]
