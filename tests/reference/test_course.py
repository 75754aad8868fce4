"""The worked examples of the course texts, digit by digit."""

import math

import numpy as np
import pytest

import tercet as tc

ORDINAL = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
PRIORS = [0.3, 0.4, 0.3]
TERCETS = [[205, 111, 56], [145, 199, 121], [50, 92, 225]]
R1 = tc.Confusion([[980, 60], [20, 940]])  # rows: predicted negative, predicted positive
R2 = tc.Confusion([[960, 20], [40, 980]])


def close(value, expected, digits=12):
    return value == pytest.approx(expected, rel=10.0**-digits, abs=10.0**-digits)


def curve_of(scores, labels):
    return tc.Curve.of(tc.Tally.of(tc.Trials.of_llr(scores, labels)))


# Accuracy and what is wrong with it


def test_the_rain_forecast_is_less_accurate_than_always_saying_clear():
    rain = tc.Confusion([[15, 30], [20, 300]], classes=["rain", "clear"])
    always_clear = tc.Confusion([[0, 0], [35, 330]], classes=["rain", "clear"])
    assert rain.accuracy == 315 / 365
    assert always_clear.accuracy == 330 / 365
    assert rain.error_rate == 50 / 365


def test_two_in_three_rain_forecasts_are_false_and_20_of_35_rainy_days_are_missed():
    rain = tc.Confusion([[15, 30], [20, 300]], classes=["rain", "clear"], target="rain")
    assert (rain.tp, rain.fp, rain.fn, rain.tn) == (15, 30, 20, 300)
    assert rain.fdr == 30 / 45
    assert rain.fnr == 20 / 35


def test_the_second_diagnosis_is_better_on_balanced_data():
    assert (R1.accuracy, R2.accuracy) == (0.96, 0.97)
    assert (R1.error_rate, R2.error_rate) == (0.04, 0.03)
    assert (R1.fpr, R2.fpr, R1.fnr, R2.fnr) == (0.02, 0.04, 0.06, 0.02)
    assert R1.prevalence == R2.prevalence == 0.5


def test_the_first_diagnosis_is_better_when_one_in_a_hundred_is_ill():
    assert close(R1.error_rate_at(0.01), 0.0204)
    assert close(R2.error_rate_at(0.01), 0.0398)


def test_the_second_diagnosis_is_cheaper_again_when_a_miss_costs_enough():
    app = tc.Application(0.01, cost_fn=100, cost_fp=1)
    assert app.dcf_u(fnr=R2.fnr, fpr=R2.fpr) < app.dcf_u(fnr=R1.fnr, fpr=R1.fpr)


@pytest.mark.parametrize("table", [R1, R2, tc.Confusion([[300, 20], [30, 15]]), tc.Confusion([[7, 1], [2, 13]])])
def test_the_error_rate_is_the_detection_cost_at_the_empirical_prior(table):
    app = tc.Application(table.empirical_prior, 1, 1)
    assert close(app.dcf_u(fnr=table.fnr, fpr=table.fpr), table.error_rate)
    assert close(table.error_rate_at(table.empirical_prior), table.error_rate)
    assert close(table.risk(app), table.error_rate)


@pytest.mark.parametrize("table", [R1, R2, tc.Confusion([[300, 20], [30, 15]])])
def test_the_weighted_error_rate_is_the_application_of_even_prior_and_costs(table):
    even = tc.Application(0.5, 1, 1)
    assert close(even.dcf_u(fnr=table.fnr, fpr=table.fpr), (table.fnr + table.fpr) / 2)
    assert close(1.0 - table.balanced_accuracy, (table.fnr + table.fpr) / 2)


# Bayes risk and detection cost


def test_the_three_classes_contribute_to_the_risk_as_on_the_slide():
    table = tc.Confusion(TERCETS)
    app = tc.Application.multiclass(PRIORS, ORDINAL)
    first, second, third = table.contributions(app)
    assert close(first, 0.18375)
    assert close(second, 0.4 / 402 * (111 + 92))
    assert close(third, 0.3 / 402 * (2 * 56 + 121))
    assert [round(part, 5) for part in (first, second, third)] == [0.18375, 0.20199, 0.17388]
    assert round(table.risk(app), 5) == 0.55962
    assert round(table.normalised_risk(app), 3) == 0.933
    assert app.dummy_cost == pytest.approx(0.6, rel=1e-15)
    assert app.dummy_action == "1"


def test_the_pair_costs_add_up_to_the_contributions():
    table, app = tc.Confusion(TERCETS), tc.Application.multiclass(PRIORS, ORDINAL)
    np.testing.assert_allclose(table.pair_costs(app).sum(axis=0), table.contributions(app), rtol=1e-14)
    assert close(table.pair_costs(app)[2, 0], 0.3 * 50 / 400 * 2)


def test_the_columns_of_the_rates_sum_to_one():
    np.testing.assert_allclose(tc.Confusion(TERCETS).rates.sum(axis=0), 1.0, rtol=1e-15)
    np.testing.assert_array_equal(tc.Confusion(TERCETS).rates[:, 0], [205 / 400, 145 / 400, 50 / 400])


def test_ordinal_costs_are_the_distance_of_the_class_numbers():
    np.testing.assert_array_equal(tc.Application.multiclass(PRIORS, "ordinal").costs, ORDINAL)


def test_the_least_probable_class_is_decided_when_it_is_the_safest():
    app = tc.Application.multiclass(PRIORS, ORDINAL)
    sample = tc.Trials.of_posteriors([[0.40, 0.25, 0.35]], trained_prior=PRIORS)
    np.testing.assert_allclose(tc.expected_costs(sample, app), [[0.95, 0.75, 1.05]], rtol=1e-14)
    assert tc.decide(sample, app).tolist() == [1]
    chosen = tc.decisions(sample, app)
    assert close(chosen.expected_cost[0], 0.75)
    assert close(chosen.margin[0], 0.20)
    np.testing.assert_allclose(tc.posteriors(sample, PRIORS), [[0.40, 0.25, 0.35]], rtol=1e-14)


def test_the_biometric_system_does_ten_times_the_harm_of_rejecting_everybody():
    app = tc.Application(0.001, cost_fn=1, cost_fp=10)
    assert close(app.dcf_u(fnr=0.02, fpr=0.001), 0.01001)
    assert close(app.dcf(fnr=0.02, fpr=0.001), 10.01)
    assert close(app.dummy_cost, 0.001)
    assert close(app.dcf_u(fnr=0, fpr=1), 9.99)
    assert close(app.dcf_u(fnr=1, fpr=0), 0.001)
    assert app.dcf(fnr=1, fpr=0) == 1.0
    assert round(app.effective_prior, 7) == 0.0001001
    assert close(app.effective_prior, 0.001 / (0.001 + 9.99))


def test_a_rare_disease_with_a_dear_miss_is_like_a_common_one_with_equal_costs():
    app = tc.Application(0.01, 50, 1)
    assert round(app.effective_prior, 5) == 0.33557
    assert close(app.effective_prior, 0.5 / 1.49)
    same = app.equivalent()
    assert (same.prior, same.cost_fn, same.cost_fp) == (app.effective_prior, 1.0, 1.0)
    assert close(same.threshold, app.threshold)
    assert close(same.dcf(fnr=0.2, fpr=0.1), app.dcf(fnr=0.2, fpr=0.1))


def test_the_prior_can_be_absorbed_into_the_costs_instead():
    app = tc.Application(0.01, 50, 1)
    even = app.equivalent(prior=0.5)
    assert even.prior == 0.5
    assert close(even.threshold, app.threshold)
    assert max(even.cost_fn, even.cost_fp) == 50.0
    assert close(even.cost_fn / even.cost_fp, 0.01 * 50 / 0.99)
    assert close(even.dcf(fnr=0.2, fpr=0.1), app.dcf(fnr=0.2, fpr=0.1))


def test_the_normalised_cost_does_not_change_when_both_costs_are_scaled():
    costs = [tc.Application(0.2, 3 * scale, 2 * scale).dcf(fnr=0.3, fpr=0.07) for scale in (1, 1e-6, 1e6, 1e300)]
    assert all(close(cost, costs[0]) for cost in costs)


def test_the_threshold_of_effective_prior_point_3_and_the_price_of_bad_calibration():
    app = tc.Application(0.3)
    assert round(app.threshold, 4) == 0.8473
    assert close(app.threshold, -math.log(0.3 / 0.7))
    actual, least = app.dcf_u(fnr=0.20, fpr=0.15), app.dcf_u(fnr=0.25, fpr=0.10)
    assert close(actual, 0.165)
    assert close(least, 0.145)
    assert close(actual - least, 0.02)


@pytest.mark.parametrize(("prior", "sign"), [(0.5, 0), (0.9, -1), (0.1, 1)])
def test_the_threshold_is_0_for_even_priors_negative_above_and_positive_below(prior, sign):
    assert np.sign(tc.Application(prior).threshold) == sign


@pytest.mark.parametrize("triple", [(0.5, 1, 1), (0.8, 1, 1), (0.5, 10, 1), (0.8, 1, 10), (0.001, 1, 10)])
def test_the_threshold_is_minus_the_log_odds_of_prior_times_cost(triple):
    prior, cost_fn, cost_fp = triple
    app = tc.Application(*triple)
    assert close(app.threshold, -math.log(prior * cost_fn / ((1 - prior) * cost_fp)))
    assert app.log_odds == -app.threshold


@pytest.mark.parametrize("triple", [(0.5, 1, 1), (0.8, 1, 10), (0.001, 1, 10), (0.01, 50, 1)])
def test_the_better_dummy_costs_exactly_1(triple):
    app = tc.Application(*triple)
    accept, reject = app.dcf(fnr=0, fpr=1), app.dcf(fnr=1, fpr=0)
    assert min(accept, reject) == 1.0
    assert close(app.dummy_cost, min(app.dcf_u(fnr=0, fpr=1), app.dcf_u(fnr=1, fpr=0)))


def test_a_tie_with_the_threshold_is_rejected():
    app = tc.Application(0.8, 1, 10)
    trials = tc.Trials.of_llr([app.threshold, np.nextafter(app.threshold, np.inf)])
    assert tc.decide(trials, app).tolist() == [0, 1]


def test_tied_expected_costs_go_to_the_lowest_action():
    even = tc.Application.multiclass([0.25] * 4)
    assert tc.decide(tc.Trials.of_log_likelihoods([[0.0] * 4, [-1.0, 0.0, 0.0, -1.0]]), even).tolist() == [0, 1]


def test_a_two_class_application_is_the_cost_matrix_with_the_errors_off_the_diagonal():
    app = tc.Application.multiclass([0.2, 0.8], [[0, 1], [10, 0]])  # rows: decide H_F, decide H_T
    trials = tc.Trials.of_llr(np.linspace(-4, 4, 81), np.arange(81) % 2)
    two = tc.confusion_of(trials, (0.8, 1, 10))
    matrix = tc.confusion_of(trials, app)
    assert matrix.matrix == two.matrix
    assert close(matrix.risk(app), two.risk((0.8, 1, 10)))
    assert close(matrix.risk(app), tc.Application(0.8, 1, 10).dcf_u(fnr=two.fnr, fpr=two.fpr))


# Rates and their names


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("tpr sensitivity recall hit_rate detection_rate power", 28 / 51),
        ("fnr miss_rate false_rejection_rate type_2_error_rate", 23 / 51),
        ("fpr false_alarm_rate false_acceptance_rate type_1_error_rate size", 72 / 2752),
        ("tnr specificity", 2680 / 2752),
        ("ppv precision positive_predictive_value", 28 / 100),
        ("fdr false_discovery_rate", 72 / 100),
        ("npv negative_predictive_value", 2680 / 2703),
        ("for_ false_omission_rate", 23 / 2703),
        ("prevalence empirical_prior", 51 / 2803),
        ("accuracy correct_classification_rate", 2708 / 2803),
        ("error_rate", 95 / 2803),
    ],
)
def test_every_rate_goes_by_all_its_names(names, expected):
    table = tc.Confusion([[2680, 23], [72, 28]])
    for name in names.split():
        assert getattr(table, name) == expected, name


def test_f1_of_precision_1e_4_and_recall_1_is_2e_4_and_not_the_2e_3_of_the_slide():
    table = tc.Confusion([[0, 0], [9999, 1]])
    assert (table.precision, table.recall) == (1e-4, 1.0)
    assert round(table.f1, 8) == 0.00019998
    assert close(table.f1, 2 / 10001)


def test_macro_averages_the_rates_and_micro_pools_the_counts():
    counts = np.array([[8, 1, 0], [2, 6, 1], [0, 3, 9]])
    table = tc.Confusion(counts)
    tp, decided, true = counts.diagonal(), counts.sum(axis=1), counts.sum(axis=0)
    assert close(table.average("precision", "macro"), np.mean(tp / decided))
    assert close(table.average("precision", "micro"), tp.sum() / decided.sum())
    assert close(table.average("recall", "macro"), np.mean(tp / true))
    assert close(table.average("recall", "micro"), tp.sum() / true.sum())
    assert close(table.average("recall", "weighted"), np.sum(tp / true * true) / true.sum())
    fp, fn = decided - tp, true - tp
    assert close(table.average("fpr", "macro"), np.mean(fp / (counts.sum() - true)))
    assert close(table.average("fpr", "micro"), fp.sum() / (3 * counts.sum() - true.sum()))
    assert close(table.average("f1", "macro"), np.mean(2 * tp / (2 * tp + fp + fn)))
    assert close(table.average("f1", "micro"), table.accuracy)


def test_each_class_can_stand_against_the_rest():
    table = tc.Confusion(TERCETS, classes=["inferno", "purgatorio", "paradiso"])
    hell = table.for_target("inferno")
    assert (hell.tp, hell.fn, hell.fp, hell.tn) == (205, 195, 167, 637)
    assert table.per_class("recall")["paradiso"] == 225 / 402


def test_the_correct_classification_rate_of_many_classes_is_the_diagonal_over_everything():
    assert tc.Confusion(TERCETS).accuracy == (205 + 199 + 225) / 1204


# Intervals of the course: 1, 2 and 3 sigma


@pytest.mark.parametrize("k", [1, 2, 3])
def test_k_sigma_is_the_rate_plus_and_minus_k_standard_deviations(k):
    low, high, method = tc.k_sigma(940, 1000, k)
    sigma = math.sqrt(0.94 * 0.06 / 1000)
    assert close(low, 0.94 - k * sigma)
    assert close(high, 0.94 + k * sigma)
    assert method == "k-sigma"
    assert tc.interval(R1, "tpr", "k-sigma", k=k) == (low, high, method)


@pytest.mark.parametrize("count", [0, 300])
def test_without_any_error_k_sigma_says_that_it_is_clopper_pearson(count):
    low, high, method = tc.k_sigma(count, 300)
    assert method == "clopper-pearson"
    assert high - low > 0


# ROC, hull and likelihood ratio tests


def test_the_trivial_rules_lie_at_both_ends_of_every_curve():
    curve = curve_of([2.0, 1.0, 0.5, -1.0], [1, 0, 1, 0])
    assert (curve.fpr[0], curve.tpr[0]) == (1.0, 1.0)
    assert (curve.fpr[-1], curve.tpr[-1]) == (0.0, 0.0)


def test_the_trivial_rules_alone_trace_the_diagonal():
    rules = tc.best_rules({})
    assert [(rule.name, rule.fpr, 1 - rule.fnr) for rule in rules] == [
        ("always reject", 0.0, 0.0),
        ("always accept", 1.0, 1.0),
    ]
    assert rules[0].log_odds == (-math.inf, 0.0)
    assert rules[1].log_odds == (0.0, math.inf)


def test_randomising_between_the_trivial_rules_gives_equal_detection_and_false_alarms():
    curve = curve_of([0.0] * 10, [1] * 5 + [0] * 5)
    for share in (0.0, 0.25, 0.5, 1.0):
        rule = tc.hull_rule(curve, share)
        assert (rule.fpr, rule.tpr) == (share, share)
    assert curve.auc == curve.hull_auc == curve.eer().value == 0.5


def test_a_rule_below_the_diagonal_is_left_out_of_the_hull():
    assert [rule.name for rule in tc.best_rules({"bad": (0.6, 0.3)})] == ["always reject", "always accept"]


def test_the_hull_of_a_family_of_rules_keeps_only_those_that_some_prior_prefers():
    rules = tc.best_rules({"a": (0.1, 0.6), "b": (0.3, 0.65), "c": (0.4, 0.9)})
    assert [rule.name for rule in rules] == ["always reject", "a", "c", "always accept"]
    for rule in rules[1:-1]:
        low, high = rule.log_odds
        for other in rules:
            for log_odds in np.linspace(low, high, 5):
                app = tc.Application(1 / (1 + math.exp(-log_odds)))
                mine = app.dcf(fnr=rule.fnr, fpr=rule.fpr)
                assert mine <= app.dcf(fnr=other.fnr, fpr=other.fpr) + 1e-12


def test_the_hull_is_concave_above_the_diagonal_and_never_below_the_curve():
    rng = np.random.default_rng(5)
    curve = curve_of(np.r_[rng.normal(1, 1, 60), rng.normal(0, 1, 90)].round(1), [1] * 60 + [0] * 90)
    fpr, tpr = curve.hull.fpr[::-1], 1 - curve.hull.fnr[::-1]
    with np.errstate(divide="ignore"):
        slopes = np.diff(tpr) / np.diff(fpr)
    assert (np.diff(slopes) < 0).all()
    assert (tpr >= fpr).all()
    assert (np.interp(curve.fpr, fpr, tpr) >= curve.tpr - 1e-12).all()
    assert curve.hull_auc >= curve.auc


def test_the_slope_of_the_hull_is_the_likelihood_ratio_threshold():
    curve = curve_of([2.0, 2.0, 2.0, 1.0, 1.0, 1.0], [1, 1, 0, 1, 0, 0])
    hull = curve.hull
    slopes = np.diff(hull.fnr) / -np.diff(hull.fpr)
    np.testing.assert_allclose(np.exp(hull.llrs), slopes, rtol=1e-14)
    np.testing.assert_allclose(np.exp(hull.llrs), [0.5, 2.0], rtol=1e-14)


def test_a_huge_likelihood_ratio_threshold_decides_class_0_always_and_a_tiny_one_class_1():
    trials = tc.Trials.of_llr([-700.0, -3.0, 0.0, 3.0, 700.0])
    never = tc.Application(0.5, cost_fn=1e-308, cost_fp=1e300)  # eta = 1e608
    always = tc.Application(0.5, cost_fn=1e300, cost_fp=1e-308)
    assert never.threshold > 1000
    assert tc.decide(trials, never).tolist() == [0] * 5
    assert tc.decide(trials, always).tolist() == [1] * 5


def test_no_threshold_rule_of_the_same_size_is_more_powerful_than_neyman_pearsons():
    rng = np.random.default_rng(9)
    llr = np.r_[rng.normal(1, 1.4, 200), rng.normal(-1, 1.4, 300)].round(1)
    curve = curve_of(llr, [1] * 200 + [0] * 300)
    for bound in (0.0, 0.01, 0.05, 0.1, 0.333, 1.0):
        rule = tc.neyman_pearson(curve, bound)
        assert rule.fpr <= bound
        assert close(rule.fpr, bound)
        assert rule.tpr >= curve.tpr[curve.fpr <= bound].max() - 1e-12
        assert tc.hull_rule(curve, bound).tpr >= rule.tpr - 1e-12


def test_neyman_pearson_draws_only_among_the_tied_scores_at_the_bound():
    curve = curve_of([3.0, 1.0, 1.0, 1.0, 0.0, 0.0], [1, 1, 0, 0, 0, 0])
    rule = tc.neyman_pearson(curve, 0.25)
    assert (rule.fpr, rule.tpr, rule.probability) == (0.25, 0.75, 0.5)
    many = np.repeat([3.0, 1.0, 0.0], 20_000)
    accepted = rule(many, seed=1).reshape(3, -1).mean(axis=1)
    assert accepted[0] == 1.0
    assert accepted[2] == 0.0
    assert accepted[1] == pytest.approx(0.5, abs=0.02)
    np.testing.assert_array_equal(rule(many, seed=1), rule(many, seed=1))


def test_a_perfect_classifier_hugs_the_axes():
    curve = curve_of([3.0, 2.0, -1.0, -2.0], [1, 1, 0, 0])
    assert (curve.auc, curve.eer().value) == (1.0, 0.0)
    assert curve.hull.fpr.tolist() == [1.0, 0.0, 0.0]
    assert curve.hull.fnr.tolist() == [0.0, 0.0, 1.0]


def test_the_error_probability_is_the_prior_weighted_sum_of_both_kinds():
    curve = curve_of([2.0, 1.0, 0.5, -1.0], [1, 0, 1, 0])
    for point in range(len(curve.thresholds)):
        fnr, fpr = curve.fnr[point], curve.fpr[point]
        assert close(tc.Application(0.3).dcf_u(fnr=fnr, fpr=fpr), 0.3 * (1 - curve.tpr[point]) + 0.7 * fpr)


def test_det_draws_both_errors_on_probit_axes():
    curve = curve_of([2.0, 1.0, 0.5, -1.0], [1, 0, 1, 0])
    fpr, fnr = curve.det()
    assert fpr[0] == math.inf
    assert fnr[0] == -math.inf
    middle = list(curve.fpr).index(0.5)
    assert fpr[middle] == 0.0


# Precision and recall


def test_precision_at_the_kth_recalled_target_is_the_courses_average_precision_at_k():
    curve = curve_of([9.0, 8.0, 7.0, 6.0, 5.0, 4.0], [1, 0, 1, 0, 0, 1])
    assert [curve.precision_at_recalled(k) for k in (1, 2, 3)] == [1.0, 2 / 3, 0.5]
    assert close(curve.average_precision, (1 + 2 / 3 + 0.5) / 3)
    assert [curve.precision_at(k) for k in (1, 2, 3, 6)] == [1.0, 0.5, 2 / 3, 0.5]
    assert [curve.recall_at(k) for k in (1, 2, 3, 6)] == [1 / 3, 1 / 3, 2 / 3, 1.0]


# Log-loss and perplexity


def test_perplexity_is_the_base_to_the_log_loss_and_k_for_a_uniform_guess():
    uniform = tc.Trials.of_log_likelihoods(np.zeros((4, 4)), [0, 1, 2, 3], orientation="samples x classes")
    assert tc.log_loss(uniform) == 2.0
    assert tc.perplexity(uniform) == 4.0
    assert close(tc.log_loss(uniform, base=math.e), math.log(4))
    assert close(math.e ** tc.log_loss(uniform, base=math.e), tc.perplexity(uniform))


def test_the_more_decisive_posterior_has_the_smaller_log_loss_though_both_decide_alike():
    def thrice(a, b, c):  # once for each class, so that every class has a trial
        rows = [[b, a, c], [a, b, c], [a, c, b]]
        return tc.Trials.of_posteriors(rows, [0, 1, 2], trained_prior=[1 / 3] * 3, orientation="samples x classes")

    flat, sharp = thrice(0.3, 0.4, 0.3), thrice(0.05, 0.9, 0.05)
    app = tc.Application.multiclass([1 / 3] * 3)
    assert tc.decide(flat, app).tolist() == tc.decide(sharp, app).tolist() == [0, 1, 2]
    assert close(tc.log_loss(flat), -math.log2(0.4))
    assert close(tc.log_loss(sharp), -math.log2(0.9))


def test_the_limit_of_the_log_loss_is_conditional_entropy_plus_divergence():
    q, p = np.array([[0.5, 0.5], [0.9, 0.1]]), np.array([[0.25, 0.75], [0.8, 0.2]])
    parts = tc.cross_entropy_of_truth(q, p)
    assert close(parts.cross_entropy, np.mean(-(q * np.log2(p)).sum(axis=1)))
    assert close(parts.conditional_entropy, np.mean(-(q * np.log2(q)).sum(axis=1)))
    assert close(parts.divergence, np.mean((q * np.log2(q / p)).sum(axis=1)))
    assert parts.divergence > 0
    assert tc.cross_entropy_of_truth(q, q).divergence == 0.0
