"""Evaluations at the edges: infinite, huge, tiny and tied scores, one class or none, raw scores."""

import math

import numpy as np
import pytest

import tercet as tc

from .helpers import (
    INF,
    ROWS,
    curve_of,
    facts,
    likelihoods,
    llr,
    log_odds,
    logits,
    multiclass,
    posteriors,
    raw,
    refuses,
    undefined,
)

# Infinite, huge, tiny and tied scores: right numbers


def test_infinite_llrs_on_the_right_side_are_certain_and_free():
    ev = tc.evaluate(llr([INF, INF, -INF, -INF], [1, 1, 0, 0]), [(0.5, 1, 1), (0.001, 1, 1)])
    assert (ev.eer.value, ev.auc, ev.cllr, ev.min_cllr) == (0.0, 1.0, 0.0, 0.0)
    assert [app.dcf for app in ev.applications] == [0.0, 0.0]
    assert ev.applications[0].confusion == [[2, 0], [0, 2]]
    facts(ev)


def test_infinite_llrs_on_the_wrong_side_cost_inf_and_still_rank():
    ev = tc.evaluate(llr([INF, 1.0, -INF, -1.0, -INF], [0, 1, 1, 0, 0]), [(0.5, 1, 1)])
    assert ev.cllr == INF
    assert ev.auc == (0.0 + 1.0 + 1.0 + 0.0 + 0.0 + 0.5) / 6
    assert ev.applications[0].confusion == [[2, 1], [1, 1]]
    assert facts(ev)["cllr"] == "inf"


@pytest.mark.parametrize("value", [INF, -INF, 0.0, 3.0, 1.5e308, 5e-324])
@pytest.mark.parametrize("order", [1, -1])
def test_all_tied_scores_say_nothing_in_any_row_order(value, order):
    ev = tc.evaluate(llr([value] * 5, [1, 1, 0, 0, 0][::order]), [(0.5, 1, 1), (0.2, 1, 1)])
    assert (ev.eer.value, ev.auc, ev.min_cllr) == (0.5, 0.5, 1.0)
    assert [app.min_dcf for app in ev.applications] == [1.0, 1.0]
    assert [app.min_threshold for app in ev.applications] == [-INF, value] or value == -INF
    facts(ev)


def test_ties_across_classes_do_not_depend_on_row_order():
    scores, labels = np.array([1.0, 1, 1, 2, 2, 0, 0, 3]), np.array([1, 0, 0, 1, 0, 1, 0, 1])
    rng = np.random.default_rng(0)
    expected = facts(tc.evaluate(llr(scores, labels), [(0.5, 1, 1), (0.1, 1, 1)]))
    for _ in range(20):
        order = rng.permutation(8)
        assert facts(tc.evaluate(llr(scores[order], labels[order]), [(0.5, 1, 1), (0.1, 1, 1)])) == expected


def test_accepting_everything_accepts_minus_infinity_too():
    curve = curve_of([-INF, -INF, 0.0], [1, 0, 0])
    assert curve.thresholds.tolist() == [-INF, -INF, 0.0]
    assert curve.misses.tolist() == [0, 1, 1]
    assert curve.false_alarms.tolist() == [2, 1, 0]


def test_scores_near_the_end_of_the_doubles_give_right_numbers():
    ev = tc.evaluate(llr([1.5e308, 1.7e308, -1.5e308, -1.7e308], [1, 1, 0, 0]), [(0.5, 1, 1)])
    assert (ev.auc, ev.cllr, ev.eer.value, ev.applications[0].dcf) == (1.0, 0.0, 0.0, 0.0)
    facts(ev)
    wrong = tc.cllr(tc.Tally.of(llr([1.5e308, 1.5e308], [1, 0])))
    assert wrong == pytest.approx(0.75e308 / math.log(2), rel=1e-15)


def test_denormal_scores_rank_and_lie_on_the_right_side_of_zero():
    ev = tc.evaluate(llr([5e-324, 1e-310, 0.0, -5e-324], [1, 1, 0, 0]), [(0.5, 1, 1)])
    assert (ev.auc, ev.applications[0].dcf, ev.cllr) == (1.0, 0.0, 1.0)


def test_an_llr_of_800_neither_overflows_nor_saturates():
    ev = tc.evaluate(llr([800.0, 801.0, -800.0], [0, 1, 0]), [(0.5, 1, 1)])
    assert ev.auc == 1.0
    assert ev.cllr == pytest.approx(800 / math.log(2) / 2 / 2, rel=1e-14)
    assert tc.log_loss(llr([800.0, -800.0, 800.0], [0, 0, 1]), 0.5) == pytest.approx(200 / math.log(2), rel=1e-14)


def test_single_precision_logits_from_20_to_60_rank_right():
    scores = np.linspace(20, 60, 401).astype(np.float32)
    labels = np.arange(401) > 200
    for trials in (llr(scores, labels), log_odds(scores, labels, trained_prior=0.1), raw(scores, labels)):
        assert tc.evaluate(trials).auc == 1.0
    assert len(curve_of(scores, labels).thresholds) == 402
    rows = np.stack((np.zeros(401), scores), axis=1).astype(np.float32)
    assert tc.evaluate(logits(rows, labels.astype(int), trained_prior=[0.5, 0.5])).auc == 1.0


def test_huge_log_likelihoods_are_decided_right_and_quietly():
    rows = [[1.5e308, -1.5e308, 0.0], [0.0, 1.7e308, -1.7e308], [-1.7e308, -1.7e308, -1.6e308], [1.0, 2.0, 3.0]]
    trials = likelihoods(rows, [0, 1, 2, 2])
    assert tc.decide(trials, multiclass([0.2, 0.3, 0.5])).tolist() == [0, 1, 2, 2]
    assert tc.decide(trials, multiclass([0.2, 0.3, 0.5], "ordinal")).tolist() == [0, 1, 2, 2]
    assert tc.evaluate(trials, [multiclass([0.2, 0.3, 0.5])]).applications[0].risk == 0.0
    two = likelihoods([[1.5e308, -1.5e308], [-1.5e308, 1.7e308], [0.0, 0.0]], [0, 1, 1])
    assert tc.evaluate(two, [(0.5, 1, 1)]).applications[0].confusion == [[1, 1], [0, 1]]
    assert tc.log_loss(two, 0.5) == 0.25


def test_decimal_logs_too_large_for_a_natural_log_become_infinite_quietly():
    ev = tc.evaluate(tc.Trials.of_log10_llr([1.5e308, -1.5e308], [1, 0]), [(0.5, 1, 1)])
    assert (ev.auc, ev.cllr, ev.applications[0].dcf) == (1.0, 0.0, 0.0)


def test_the_perplexity_of_a_hopeless_system_is_infinite():
    assert tc.perplexity(likelihoods([[0.0, -INF], [-INF, 0.0], [0.0, 0.0]], [1, 0, 1])) == INF
    assert tc.perplexity(likelihoods([[0.0, -4000.0], [-4000.0, 0.0], [0.0, 0.0]], [1, 0, 1])) == INF


def test_certain_posteriors_are_infinite_llrs():
    trials = posteriors([1.0, 0.0, 0.5], [1, 0, 1], trained_prior=0.5)
    assert trials.llr.tolist() == [INF, -INF, 0.0]
    assert tc.evaluate(trials).cllr == 0.25
    assert tc.posteriors(llr([INF, -INF, 0.0]), 0.5).tolist() == [[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]


# One class, nothing, no labels


@pytest.mark.parametrize(("labels", "missing"), [([1, 1], "non-targets"), ([0, 0], "targets")])
def test_one_class_alone_has_no_curve_no_cost_and_no_evaluation(labels, missing):
    trials = llr([1.0, 2.0], labels)
    undefined(lambda: tc.evaluate(trials), missing)
    undefined(lambda: tc.Curve.of(tc.Tally.of(trials)), missing)
    undefined(lambda: tc.cllr(tc.Tally.of(trials)), missing)
    undefined(lambda: tc.log_loss(trials), "prior")
    undefined(lambda: tc.brier(trials, 0.5), "no trials")


def test_a_class_of_weight_zero_is_not_there():
    undefined(lambda: tc.evaluate(llr([1.0, 2.0, 3.0], [1, 0, 0], weights=[0, 1, 1])), "targets")
    undefined(lambda: tc.evaluate(llr([1.0, 2.0], [1, 0], weights=[0, 0])), "targets")


def test_no_trials_may_be_made_and_decided_but_not_evaluated():
    empty = llr([], [])
    assert len(empty) == 0
    assert tc.decide(empty, 0.5).tolist() == []
    undefined(lambda: tc.evaluate(empty), "no")
    undefined(lambda: tc.log_loss(empty), "prior")
    nothing = likelihoods(np.zeros((0, 3)), [])
    undefined(lambda: tc.evaluate(nothing, [multiclass([0.2, 0.3, 0.5])]), "no trials")


def test_trials_without_labels_may_be_decided_but_not_evaluated():
    assert tc.decide(llr([1.0, -1.0]), 0.5).tolist() == [1, 0]
    refuses(lambda: tc.evaluate(llr([1.0, -1.0])), "labels")
    refuses(lambda: tc.confusion_of(likelihoods(ROWS), multiclass([0.2, 0.3, 0.5])), "labels")


def test_a_class_without_trials_leaves_the_risk_undefined_with_a_reason():
    ev = tc.evaluate(likelihoods(ROWS, [0, 1, 0, 1]), [multiclass([0.2, 0.3, 0.5])])
    result = ev.applications[0]
    assert (result.risk, result.dcf) == (None, None)
    assert "'2'" in result.reasons["risk"]
    assert ev.log_loss == pytest.approx(tc.log_loss(likelihoods(np.array(ROWS)[:, :2], [0, 1, 0, 1])))
    assert sum(map(sum, result.confusion)) == 4
    assert facts(ev)["applications"][0]["risk"] is None
    assert "risk" in facts(ev)["applications"][0]["reasons"]


def test_raw_scores_have_minima_but_no_actual_cost_and_say_why():
    trials = raw([1.0, 2.0, 0.5], [0, 1, 1])
    ev = tc.evaluate(trials, [(0.5, 1, 1)])
    assert (ev.cllr, ev.bayes_plot.dcf, ev.applications[0].dcf, ev.applications[0].confusion) == (None,) * 4
    assert ev.applications[0].min_dcf == 0.5
    assert "calibrate" in ev.reasons["cllr"]
    assert "calibrate" in ev.applications[0].reasons["dcf"]
    undefined(lambda: ev.applications[0].table, "calibrate")
    plain = facts(ev)
    assert plain["cllr"] is None
    assert "calibrate" in plain["reasons"]["cllr"]
    for act in (lambda: tc.decide(trials, 0.5), lambda: tc.cllr(tc.Tally.of(trials)), lambda: trials.llr):
        refuses(act, "calibrate")


@pytest.mark.parametrize(
    ("matrix", "rates", "why"),
    [
        ([[3, 0], [1, 0]], "tpr fnr lr_plus lr_minus", "no targets"),
        ([[0, 2], [0, 1]], "fpr tnr", "no non-targets"),
        ([[1, 1], [0, 0]], "ppv fdr", "nothing was accepted"),
        ([[0, 0], [1, 1]], "npv for_", "nothing was rejected"),
        ([[0, 0], [0, 0]], "accuracy error_rate prevalence", "no trials"),
        ([[1, 1], [0, 0]], "mcc", "only one"),
        ([[1, 0], [0, 0]], "kappa f1", "undefined"),
        ([[0, 2], [0, 1]], "dor balanced_accuracy", "undefined"),
        ([[1, 1], [0, 0]], "lr_plus", "0 / 0"),
    ],
)
def test_rates_of_nothing_are_undefined_and_say_why(matrix, rates, why):
    table = tc.Confusion(matrix)
    for name in rates.split():
        undefined(lambda name=name: getattr(table, name), why)


def test_an_undefined_rate_of_one_class_does_not_hide_in_an_average():
    table = tc.Confusion([[1, 0, 1], [1, 0, 1], [0, 0, 0]])
    assert table.per_class("recall") == {"0": 0.5, "1": None, "2": 0.0}
    undefined(lambda: table.average("recall", "macro"), "undefined")
    undefined(lambda: table.rates, "'1'")
    undefined(lambda: table.risk(multiclass([0.2, 0.3, 0.5])), "'1'")


def test_a_sum_of_weights_is_shown_without_its_rounding():
    trials = tc.Trials.of_llr([1.0, 2.0, -1.0, -2.0], [1, 1, 0, 0], weights=[0.1, 0.2, 1.0, 0.5])
    assert "0.3 targets, 1.5 non-targets" in repr(tc.evaluate(trials))
