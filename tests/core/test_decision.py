"""A bound on a rate is compared with the rate that is shown: the rounded quotient count / total."""

import numpy as np
import pytest

import tercet as tc
from tercet.decision import most_within


def test_three_of_ten_are_within_the_double_of_three_tenths():
    trials = tc.Trials.of_scores(np.arange(20.0), [0] * 7 + [1] * 10 + [0] * 3)
    rule = tc.neyman_pearson(tc.Curve.of(trials), 0.3)
    assert (rule.fpr, rule.tpr) == (0.3, 1.0)


@pytest.mark.parametrize("total", [1, 3, 7, 10, 49, 1000, 3_000_000_007, 10**17 + 3])
def test_the_largest_count_within_a_bound_by_its_definition(total):
    rng = np.random.default_rng(total % 2**32)
    for count in {0, 1, total, total // 3, *rng.integers(0, min(total, 2**62) + 1, 40).tolist()}:
        for bound in (count / total, np.nextafter(count / total, 0.0), np.nextafter(count / total, 1.0)):
            found = most_within(float(bound), total)
            assert found / total <= bound or found == 0
            assert found == total or (found + 1) / total > bound


def test_no_power_is_lost_where_the_bound_is_a_point_of_the_curve():
    rng = np.random.default_rng(7)
    for _ in range(300):
        size = int(rng.integers(5, 60))
        labels = np.append(rng.integers(0, 2, size), [0, 1])
        curve = tc.Curve.of(tc.Trials.of_scores(rng.integers(0, 40, size + 2) / 4.0, labels))
        for place in rng.integers(0, len(curve.fpr), 3).tolist():
            bound = float(curve.fpr[place])
            rule = tc.neyman_pearson(curve, bound)
            best = curve.tpr[curve.fpr <= bound].max()
            assert rule.fpr == bound
            assert rule.tpr == best
            assert tc.hull_rule(curve, bound).tpr >= best - 1e-15
