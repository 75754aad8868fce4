"""Each law is shown a wrong answer and must refuse it: a law that nothing breaks proves nothing."""

import math
from random import Random

import numpy as np
import pytest

import tercet as tc
from tercet.metrics.curves import _Meeting

from . import test_classes as classes
from . import test_two_class as two
from .helpers import all_close, at_most, close, same_bits


def minimum_without_dummies(self, point, right=tc.Curve.min_dcf):
    """The least cost of the points strictly between accepting and rejecting everything, where there are any."""
    inner = zip(self.fnr[1:-1], self.fpr[1:-1], strict=True)
    costs = [tc.Application(*point).dcf(fnr=fnr, fpr=fpr) for fnr, fpr in inner]
    return right(self, point)._replace(dcf=min(costs, default=1.0))


def empirical_risk(self, application):
    """The classes' frequencies in the data, where the application's priors belong."""
    return float((self.counts * application.costs).sum() / self.counts.sum())


def points_that_accept_on_the_threshold(self, right=_Meeting.points):
    """What lies below each threshold, where what lies below or on it is rejected."""
    thresholds, *rejected = right(self)
    return thresholds, *(np.concatenate((counts[:1], counts[:-1])) for counts in rejected)


accept_on_the_threshold = (_Meeting, "points", points_that_accept_on_the_threshold)
forgets_what_is_added = (tc.Tally, "__add__", lambda self, other: self)
area_of_the_hull_for_that_of_the_pairs = (tc.Curve, "auc", property(lambda self: self.hull.area))
area_below_that_of_the_pairs = (tc.Curve, "hull_auc", property(lambda self: math.nextafter(self.auc, -1.0)))
axes_swapped = (tc.Curve, "det", lambda self, right=tc.Curve.det: right(self)[::-1])
recalibrates_nothing = (tc, "min_cllr", lambda curve: tc.cllr(curve.tally))
natural_logarithms = (tc, "cllr", lambda tally, right=tc.cllr: right(tally) * math.log(2.0))
no_dummies = (tc.Curve, "min_dcf", minimum_without_dummies)
nearest_point_for_the_hull = (tc.Curve, "eer", lambda self, definition="", right=tc.Curve.eer: right(self, "nearest"))
ignores_the_costs = (tc, "decide", lambda trials, app: tc.posteriors(trials, app.prior).argmax(axis=1))
shares_of_the_largest = (
    tc,
    "posteriors",
    lambda trials, prior, right=tc.posteriors: right(trials, prior) / right(trials, prior).max(axis=1, keepdims=True),
)
wilson_for_the_exact_interval = (tc, "clopper_pearson", tc.wilson)


@pytest.mark.parametrize(
    ("law", "wrong"),
    [
        (two.test_the_curve_is_monotone_with_both_ends_and_one_point_per_distinct_score, accept_on_the_threshold),
        (two.test_any_chunking_gives_the_same_bits, forgets_what_is_added),
        (two.test_adding_tallies_is_associative_and_commutative_and_has_an_identity, forgets_what_is_added),
        (two.test_the_area_under_the_curve_is_the_share_of_pairs_won, area_of_the_hull_for_that_of_the_pairs),
        (
            two.test_negating_the_scores_or_flipping_the_labels_turns_the_area_over,
            area_of_the_hull_for_that_of_the_pairs,
        ),
        (two.test_the_area_under_the_hull_is_at_least_that_under_the_curve, area_below_that_of_the_pairs),
        (two.test_the_det_curve_is_the_probit_of_the_roc_in_its_order, axes_swapped),
        (two.test_the_minimum_cllr_is_zero_exactly_when_the_classes_are_separable, recalibrates_nothing),
        (two.test_the_cllr_of_llrs_that_say_nothing_is_one, natural_logarithms),
        (two.test_the_cllr_is_the_integral_of_the_cost_over_the_log_odds, natural_logarithms),
        (two.test_the_normalised_minimum_cost_is_at_most_one, no_dummies),
        (two.test_the_equal_error_rate_is_the_largest_minimum_error_rate_over_priors, nearest_point_for_the_hull),
        (two.test_clopper_pearson_covers_at_least_its_level, wilson_for_the_exact_interval),
        (classes.test_decisions_are_those_of_the_exact_expected_costs, ignores_the_costs),
        (classes.test_posteriors_sum_to_one, shares_of_the_largest),
        (classes.test_risk_and_confusion_are_those_of_the_exact_references, (tc.Confusion, "risk", empirical_risk)),
    ],
    ids=lambda value: getattr(value, "__name__", "")[5:],
)
def test_a_law_refuses_a_wrong_answer(law, wrong, monkeypatch):
    monkeypatch.setattr(*wrong)
    with pytest.raises((AssertionError, tc.TercetError)):
        without_shrinking(law)


def without_shrinking(law, examples=2000):
    """Runs a law on random examples; its first failure is enough here, the smallest is not looked for."""
    random = Random(1)
    for _ in range(examples):
        law.hypothesis.fuzz_one_input(random.randbytes(4096))


@pytest.mark.parametrize(
    "law", [two.test_the_normalised_minimum_cost_is_at_most_one, classes.test_posteriors_sum_to_one]
)
def test_a_law_takes_the_right_answer(law):
    without_shrinking(law, examples=100)


def test_equal_is_four_ulp_and_no_more():
    ulp = math.ulp(1.0)
    assert close(1.0, 1.0 + 4 * ulp)
    assert not close(1.0, 1.0 + 5 * ulp)
    assert at_most(1.0 + 4 * ulp, 1.0)
    assert not at_most(1.0 + 5 * ulp, 1.0)
    assert not close(0.0, 5 * math.ulp(0.0))
    assert not close(math.inf, -math.inf)
    assert not close(math.nan, math.nan)
    assert not all_close([1.0, 2.0], [1.0])


def test_the_same_bits_know_the_sign_of_zero():
    assert same_bits([0.0], [0.0])
    assert not same_bits([0.0], [-0.0])
    assert not same_bits([0.1 + 0.2], [0.3])
