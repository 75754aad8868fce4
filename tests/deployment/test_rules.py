"""Rules: each criterion against a search over every threshold, guarantees by simulation, saving, judging, refusals."""

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tercet as tc
from tercet.deployment.rules import allowed_errors
from tercet.testing import labelled_scores, points

BOUNDS = ["fpr_at_most", "fnr_at_most", "recall_at_least", "specificity_at_least", "precision_at_least"]


def every_point(scores, labels):
    """(threshold, rates) of each point, from the definition, thresholds ascending."""
    positives = sum(map(bool, labels))
    negatives = len(labels) - positives
    for threshold, misses, alarms in points(scores, labels):
        hits = positives - misses
        rates = {
            "fpr": float(alarms / negatives), "fnr": float(misses / positives), "recall": float(hits / positives),
            "specificity": float((negatives - alarms) / negatives),
            "precision": float(hits / (hits + alarms)) if hits + alarms else None,
            "f2": float(5 * hits / (5 * hits + 4 * misses + alarms)),
            "youden": hits / positives - alarms / negatives,
            "unequal": abs(misses / positives - alarms / negatives),
        }  # fmt: skip
        yield threshold, rates


@settings(max_examples=300)
@given(labelled_scores(max_size=25), st.sampled_from(BOUNDS), st.integers(0, 10))
def test_a_bound_is_kept_by_the_threshold_that_gives_away_least(data, name, tenths):
    scores, labels = data
    rate, _, how = name.partition("_at_")
    bound = tenths / 10
    within = [
        threshold
        for threshold, rates in every_point(scores, labels)
        if rates[rate] is not None and (rates[rate] <= bound if how == "most" else rates[rate] >= bound)
    ]
    trials = tc.Trials.of_scores(scores, labels)
    if not within:
        with pytest.raises(tc.UndefinedError, match="precision"):
            tc.Rule.fit(trials, **{name: bound})
        return
    rule = tc.Rule.fit(trials, **{name: bound})
    assert rule.threshold == (within[-1] if rate in ("fnr", "recall") else within[0])
    reached = rule.rates()["tpr" if rate == "recall" else rate].value
    assert reached <= bound if how == "most" else reached >= bound
    assert rule.judge(trials).kept
    assert rule.judge(trials).regret == 0.0


@settings(max_examples=200)
@given(labelled_scores(max_size=25))
def test_the_best_threshold_by_a_criterion_is_the_first_of_the_best(data):
    scores, labels = data
    trials, found = tc.Trials.of_scores(scores, labels), list(every_point(scores, labels))
    for fitted, key, sign in (
        (tc.Rule.fit(trials, f_beta=2.0), "f2", 1),
        (tc.Rule.fit(trials, best="youden"), "youden", 1),
        (tc.Rule.fit(trials, best="eer"), "unequal", -1),
    ):
        best = max(sign * rates[key] for _, rates in found)
        first = next(threshold for threshold, rates in found if sign * rates[key] == best)
        assert fitted.threshold == first, key
    corner = tc.Rule.fit(trials, best="corner")
    at = math.hypot(corner.rates()["fnr"].value, corner.rates()["fpr"].value)
    assert at == pytest.approx(min(math.hypot(rates["fnr"], rates["fpr"]) for _, rates in found))


@given(labelled_scores(max_size=25), st.floats(0.05, 0.95), st.floats(0.1, 10.0))
def test_least_cost_is_the_minimum_dcf_and_judges_with_no_regret_at_home(data, prior, cost_fn):
    trials = tc.Trials.of_scores(*data)
    rule = tc.Rule.fit(trials, least_cost=(prior, cost_fn, 1.0))
    least = tc.Curve.of(trials).min_dcf((prior, cost_fn, 1.0))
    assert rule.threshold == least.threshold
    table = rule.confusion
    assert (table.fn, table.fp) == (least.misses, least.false_alarms)
    assert rule.regret(trials) == 0.0
    assert (rule(trials) == tc.Threshold.fit(trials, (prior, cost_fn, 1.0))(trials)).all()


@given(labelled_scores(max_size=25), st.sampled_from(["least_cost", "youden", "f_beta"]), labelled_scores(max_size=25))
def test_nothing_beats_the_choice_in_hindsight(data, name, other):
    asked = {"least_cost": {"least_cost": (0.3, 2, 1)}, "youden": {"best": "youden"}, "f_beta": {"f_beta": 1.0}}[name]
    rule = tc.Rule.fit(tc.Trials.of_scores(*data), **asked)
    assert rule.regret(tc.Trials.of_scores(*other)) >= -1e-15


def test_alarms_per_day_count_both_classes_at_the_prevalence():
    trials = tc.Trials.of_scores([5.0, 4.0, 3.0, 2.0, 1.0, 0.0], [1, 0, 1, 0, 0, 0])
    rule = tc.Rule.fit(trials, alarms_at_most=400, cases_per_day=1000, prevalence=0.01)
    # accepting > 2: 10 hits and 990 x 1/4 false alarms, 257.5; accepting > 1: 10 + 495
    assert rule.threshold == 2.0
    assert rule.judge(trials).kept
    assert tc.Rule.fit(trials, alarms_at_most=500, cases_per_day=1000).threshold == 2.0


@given(labelled_scores(max_size=25), st.integers(0, 25))
def test_alarms_at_the_trials_own_prevalence_are_counted_without_rounding(data, most):
    scores, labels = data
    rule = tc.Rule.fit(tc.Trials.of_scores(scores, labels), alarms_at_most=most, cases_per_day=len(scores))
    positives = sum(map(bool, labels))
    counted = [(at, positives - misses + alarms) for at, misses, alarms in points(scores, labels)]
    assert rule.threshold == next(at for at, accepted in counted if accepted <= most)


def test_three_alarms_of_ten_cases_are_within_three():
    scores, labels = [0.0, 4.0, 1.0, 0.0, 4.0, 4.0, 3.0, 5.0, 7.0, 6.0], [1, 0, 0, 0, 1, 1, 1, 1, 0, 0]
    trials = tc.Trials.of_scores(scores, labels)
    rule = tc.Rule.fit(trials, alarms_at_most=3, cases_per_day=10)
    assert rule.threshold == 4.0
    assert rule.judge(trials).kept


@pytest.mark.parametrize("weight", [0.1, 0.7, 1 / 3, 3.0])
def test_three_alarms_of_ten_cases_of_any_one_weight_are_within_three(weight):
    trials = tc.Trials.of_scores(range(10), [0, 1] * 5, weights=[weight] * 10)
    rule = tc.Rule.fit(trials, alarms_at_most=3, cases_per_day=10)
    assert rule.threshold == 6.0
    assert rule.judge(trials).kept


@pytest.mark.parametrize("weight", [0.1, 0.7, 1 / 3])
def test_a_bound_that_chose_a_threshold_is_kept_on_the_same_weighted_trials(weight):
    trials = tc.Trials.of_scores(range(20), [0, 1] * 10, weights=[weight] * 20)
    for criterion in BOUNDS[:4]:
        assert tc.Rule.fit(trials, **{criterion: 0.3}).judge(trials).kept, criterion


@given(labelled_scores(infinities=False), st.floats(1e-3, 1e3), st.sampled_from([None, 0.1, 0.3]), st.data())
def test_alarms_are_the_exact_number_rounded_once(data, cases, prevalence, draw):
    scores, labels = data
    heavy = draw.draw(st.lists(st.sampled_from([0.1, 0.3, 2.0]), min_size=len(scores), max_size=len(scores)))
    trials = tc.Trials.of_scores(scores, labels, weights=heavy)
    sums = [sum(Fraction(w) for w, label in zip(heavy, labels, strict=True) if label == side) for side in (0, 1)]
    share = sums[1] / sum(sums) if prevalence is None else Fraction(prevalence)

    def alarms(threshold):
        own = [
            sum(Fraction(w) for x, y, w in zip(scores, labels, heavy, strict=True) if y == side and x > threshold)
            for side in (0, 1)
        ]
        return float(Fraction(cases) * (share * own[1] / sums[1] + (1 - share) * own[0] / sums[0]))

    places = [-math.inf, *sorted(set(scores))]
    most = alarms(draw.draw(st.sampled_from(places)))
    rule = tc.Rule.fit(trials, alarms_at_most=most, cases_per_day=cases, prevalence=prevalence)
    assert rule.threshold == next(at for at in places if alarms(at) <= most)
    assert rule.judge(trials).kept


def test_of_two_points_as_near_to_the_corner_the_lower_threshold_is_taken():
    # 5 of 7 false alarms and no miss, and 3 of 7 and 4 misses of 7: 25/49 both
    scores = [-2.0, 0.0, 0.0, -1.0, 0.5, 2.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 4.0, 3.0]
    labels = [0, 0, 0, 0, 1, 0, 1, 1, 1, 1, 1, 1, 0, 0]
    assert tc.Rule.fit(tc.Trials.of_scores(scores, labels), best="corner").threshold == -1.0


def test_the_bound_is_compared_with_the_rounded_quotient_that_is_shown():
    trials = tc.Trials.of_scores(np.arange(11.0), [0] * 10 + [1])
    assert tc.Rule.fit(trials, fpr_at_most=0.3).training["false_alarms"] == 3


# Guarantees


@given(st.integers(1, 400), st.floats(0.001, 0.999), st.floats(0.01, 0.999))
def test_the_allowed_errors_are_the_last_whose_binomial_tail_is_small_enough(size, rate, confidence):
    tail, allowed, tied = 0.0, -1, False
    for k in range(size + 1):
        log = math.lgamma(size + 1) - math.lgamma(k + 1) - math.lgamma(size - k + 1)
        tail += math.exp(log + k * math.log(rate) + (size - k) * math.log1p(-rate))
        tied = tied or math.isclose(tail, 1.0 - confidence, rel_tol=1e-6)  # rounding decides: one either way
        if tail > (1.0 - confidence) * (1.0 + 1e-9):
            break
        allowed = k
    assert abs(allowed_errors(size, rate, confidence) - allowed) <= tied


@pytest.mark.parametrize("side", ["fpr_at_most", "fnr_at_most"])
def test_a_promise_of_five_per_cent_is_broken_in_at_most_five_and_a_half_per_cent_of_2000_sets(side):
    rng, broken, power, sets = np.random.default_rng(7), 0, 0.0, 2000
    normal, cut = NormalDist(), NormalDist().inv_cdf(0.95)
    labels = np.r_[np.ones(200, bool), np.zeros(2000, bool)]
    sign = 1.0 if side == "fpr_at_most" else -1.0  # misses of 2,000 targets are the mirror image
    for _ in range(sets):
        scores = np.r_[rng.normal(2.0, size=200), rng.normal(0.0, size=2000)]
        trials = tc.Trials.of_scores(sign * scores, labels if sign > 0 else ~labels)
        at = sign * tc.Rule.fit(trials, confidence=0.95, **{side: 0.05}).threshold
        broken += 1.0 - normal.cdf(at) > 0.05
        power += (1.0 - normal.cdf(at - 2.0)) / (1.0 - normal.cdf(cut - 2.0)) / sets
    assert broken / sets <= 0.055
    assert power >= 0.8


def test_a_promise_holds_for_tied_scores_too():
    rng, broken = np.random.default_rng(8), 0
    for _ in range(1000):
        scores = rng.integers(0, 12, 400)  # twelve values: FPR of "accept > v" is (11 - v) / 12
        at = tc.Rule.fit(tc.Trials.of_scores(np.r_[scores, 20], [0] * 400 + [1]), fpr_at_most=0.2,
                         confidence=0.9).threshold  # fmt: skip
        broken += (11 - at) / 12 > 0.2
    assert broken / 1000 <= 0.11


def test_a_promise_that_no_threshold_can_keep_says_what_can_be_promised():
    trials = tc.Trials.of_scores(np.arange(301.0), [0] * 300 + [1])
    with pytest.raises(tc.InputError, match=r"300 non-targets can guarantee at best FPR 0\.994 %.*at least 598"):
        tc.Rule.fit(trials, fpr_at_most=0.005, confidence=0.95)
    with pytest.raises(tc.InputError, match=r"1 targets can guarantee at best recall 5 %"):
        tc.Rule.fit(trials, recall_at_least=0.9, confidence=0.95)
    assert tc.Rule.fit(trials, fpr_at_most=0.01, confidence=0.95).training["false_alarms"] == 0


def test_out_of_fold_rates_are_those_of_rules_with_the_promise():
    rng = np.random.default_rng(9)
    trials = tc.Trials.of_scores(rng.normal(np.repeat([0.0, 2.0], 500)), np.repeat([0, 1], 500))
    rule = tc.Rule.fit(trials, fpr_at_most=0.05, confidence=0.95)
    plain = tc.Rule.fit(trials, fpr_at_most=0.05).out_of_fold(trials)["fpr"].value
    kept = rule.out_of_fold(trials)["fpr"].value
    assert kept < plain
    assert abs(kept - rule.rates()["fpr"].value) < 0.01
    few = tc.Trials.of_scores(np.arange(118.0), [0, 1] * 59)  # 59 non-targets give the promise, four fifths do not
    with pytest.raises(tc.InputError, match=r"at least 59 non-targets"):
        tc.Rule.fit(few, fpr_at_most=0.05, confidence=0.95).out_of_fold(few)


def test_a_promise_says_what_is_promised():
    trials = tc.Trials.of_scores(range(118), [0, 1] * 59)
    rule = tc.Rule.fit(trials, specificity_at_least=0.9, confidence=0.95)
    assert rule.guarantee.startswith("specificity at least 0.9 with 95 % confidence, for new trials")
    assert "59 non-targets" in rule.guarantee
    assert tc.Rule.fit(trials, fpr_at_most=0.1).guarantee is None


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"precision_at_least": 0.5}, "does not rise"),
        ({"best": "youden"}, "bounds no rate"),
        ({"least_cost": (0.5, 1, 1)}, "both classes"),
        ({"fpr_at_most": 0.1, "by": "speaker"}, "independent"),
        ({"fpr_at_most": 0.0}, "strictly between"),
        ({"recall_at_least": 1.0}, "strictly between"),
        ({"fpr_at_most": 0.1, "confidence": 95}, "confidence"),
    ],
)
def test_a_promise_that_cannot_be_made_is_refused(asked, words):
    trials = tc.Trials.of_scores(range(118), [0, 1] * 59)
    with pytest.raises(tc.InputError, match=words):
        tc.Rule.fit(trials, **{"confidence": 0.95, **asked})


def test_fractional_weights_carry_no_promise():
    trials = tc.Trials.of_scores(range(118), [0, 1] * 59, weights=[0.5] * 118)
    with pytest.raises(tc.InputError, match="integer counts"):
        tc.Rule.fit(trials, fpr_at_most=0.1, confidence=0.95)
    doubled = tc.Trials.of_scores(range(118), [0, 1] * 59, weights=[2.0] * 118)
    twice = tc.Trials.of_scores(sorted([*range(118)] * 2), [0, 0, 1, 1] * 59)
    one, other = (tc.Rule.fit(t, fpr_at_most=0.1, confidence=0.95) for t in (doubled, twice))
    assert (one.threshold, one.training["false_alarms"]) == (other.threshold, other.training["false_alarms"])


# Saving and applying


@given(labelled_scores(max_size=20), st.sampled_from(BOUNDS[:4]), st.floats(0.0, 1.0))
def test_a_saved_rule_decides_the_same_to_the_bit(data, name, bound):
    trials = tc.Trials.of_llr(*data)
    rule = tc.Rule.fit(trials, **{name: bound})
    again = tc.Rule.from_json(rule.to_json())
    assert again == rule
    assert again.training == rule.training
    assert (again(trials) == rule(trials)).all()
    assert again.to_json() == rule.to_json()


def test_accepting_everything_takes_minus_infinity_too():
    trials = tc.Trials.of_llr([-math.inf, 1.0, 2.0], [1, 0, 1])
    rule = tc.Rule.fit(trials, recall_at_least=1.0)
    assert rule(trials).tolist() == [1, 1, 1]
    assert rule.judge(trials).confusion.matrix == [[0, 0], [1, 2]]
    assert rule.to_dict()["threshold"] == "-inf"


def test_scores_of_another_meaning_are_refused():
    rule = tc.Rule.fit(tc.Trials.of_llr([1.0, 0.0], [1, 0]), best="eer")
    with pytest.raises(tc.InputError, match="convert"):
        rule(tc.Trials.of_lr([1.0, 0.0]))


@pytest.mark.parametrize(
    "asked",
    [
        {}, {"fpr_at_most": 0.1, "best": "eer"}, {"best": "yuden"}, {"fpr_at_most": 1.1}, {"fpr_at_most": "x"},
        {"f_beta": 0.0}, {"alarms_at_most": 3}, {"alarms_at_most": 3, "cases_per_day": 0},
        {"fpr_at_most": 0.1, "cases_per_day": 9}, {"least_cost": "nowhere"}, {"recall_at_least": math.nan},
    ],
)  # fmt: skip
def test_a_rule_without_a_clear_criterion_is_refused(asked):
    with pytest.raises(tc.InputError):
        tc.Rule.fit(tc.Trials.of_llr([1.0, 0.0], [1, 0]), **asked)


def test_a_rule_needs_both_classes():
    with pytest.raises(tc.UndefinedError, match="no targets"):
        tc.Rule.fit(tc.Trials.of_llr([1.0, 0.0], [0, 0]), best="eer")


def test_a_column_of_groups_that_does_not_exist_is_refused_without_a_guarantee_too():
    with pytest.raises(tc.InputError, match="by='patient'"):
        tc.Rule.fit(tc.Trials.of_scores([2.0, 1.0], [1, 0]), fpr_at_most=0.5, by="patient")
