"""Priors, costs and operating points: right, or refused by name."""

import numpy as np
import pytest

import tercet as tc

from .helpers import (
    INF,
    NAN,
    ROWS,
    curve_of,
    facts,
    likelihoods,
    llr,
    log_odds,
    multiclass,
    raw,
    refuses,
    undefined,
)

# Priors, costs and rates


@pytest.mark.parametrize("prior", [0, 1, NAN, -0.1, 1.1, INF, -INF, "a", None, True, [0.5]])
def test_a_prior_that_is_no_probability_is_refused(prior):
    refuses(lambda: tc.Application(prior), "prior")
    refuses(lambda: tc.evaluate(llr([1.0, 2.0], [1, 0]), [(prior, 1, 1)]), "prior")
    refuses(lambda: tc.Confusion([[1, 2], [3, 4]]).error_rate_at(prior), "prior")
    refuses(lambda: tc.empirical_cross_entropy(tc.Tally.of(llr([1.0, 2.0], [1, 0])), prior), "prior")


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        ([0.0, 1.0], ["entry 0", "0.0"]),
        ([1.3, -0.3], ["entry 1", "-0.3"]),
        ([0.3, 0.3], ["sum", "0.6"]),
        ([0.5, NAN], ["NaN"]),
        ([0.5, INF], ["entry 1", "inf"]),
        ([], ["prior"]),
        (["a", "b"], ["text"]),
    ],
)
def test_priors_of_several_classes_that_are_no_distribution_are_refused(prior, words):
    message = refuses(lambda: multiclass(prior), "prior", *words)
    assert "score" not in message


@pytest.mark.parametrize("cost", [-1, NAN, INF, "x", None, True])
@pytest.mark.parametrize("name", ["cost_fn", "cost_fp"])
def test_a_cost_that_is_no_cost_is_refused(cost, name):
    refuses(lambda: tc.Application(0.5, **{name: cost}), name)


def test_costs_that_are_all_zero_are_refused():
    refuses(lambda: tc.Application(0.5, 0, 0), "cost_fn", "cost_fp")
    refuses(lambda: multiclass([0.5, 0.5], [[0, 0], [0, 0]]), "costs", "0")


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ([[0, -1], [1, 0]], ["negative", "-1", "costs_from_utilities"]),
        ([[0, INF], [1, 0]], ["finite"]),
        ([[0, NAN], [1, 0]], ["NaN"]),
        ([[0, 1, 1], [1, 0, 1]], ["2 classes", "(2, 3)", "rows = decision"]),
        ([0, 1], ["dimension"]),
        (np.zeros((0, 2)), ["(0, 2)"]),
        ([[0, 1], [1, 0], [2, 2]], ["3 rows", "actions="]),
        ("quadratic", ["0-1", "ordinal"]),
    ],
)
def test_a_cost_matrix_of_the_wrong_shape_or_sign_is_refused(costs, words):
    refuses(lambda: multiclass([0.5, 0.5], costs), "costs", *words)


def test_a_free_error_has_no_normalised_cost_and_says_so():
    app = tc.Application(0.5, cost_fn=1, cost_fp=0)
    assert app.dcf_u(fnr=0.1, fpr=1.0) == 0.05
    undefined(lambda: app.dcf(fnr=0.1, fpr=1.0), "normalised", "dcf_u")
    undefined(lambda: curve_of([1.0, 2.0], [1, 0]).min_dcf(app), "normalised")
    ev = tc.evaluate(llr([1.0, 2.0, 0.0], [1, 0, 0]), [app])
    result = ev.applications[0]
    assert (result.dcf, result.min_dcf) == (None, None)
    assert {"dcf", "min_dcf"} <= set(result.reasons)
    assert (result.dcf_u, result.min_dcf_u, result.threshold) == (0.0, 0.0, -INF)
    assert facts(ev)["applications"][0]["threshold"] == "-inf"
    undefined(lambda: tc.Confusion([[1, 2], [3, 4]]).normalised_risk(multiclass([0.5, 0.5], [[0, 0], [1, 1]])), "dummy")


@pytest.mark.parametrize("rate", [NAN, -0.1, 1.1, "a", None])
def test_a_rate_that_is_no_rate_is_refused(rate):
    app = tc.Application(0.5)
    refuses(lambda: app.dcf(fnr=rate, fpr=0.1), "fnr")
    refuses(lambda: app.dcf_u(fnr=0.1, fpr=rate), "fpr")


# Confusion matrices


@pytest.mark.parametrize("bad", [[[1, -1], [0, 0]], [[1, NAN], [0, 0]], [[1, INF], [0, 0]], [["a", "b"], ["c", "d"]]])
def test_a_matrix_that_holds_no_counts_is_refused(bad):
    message = refuses(lambda: tc.Confusion(bad), "matrix")
    assert "score" not in message


def test_a_matrix_of_the_wrong_shape_is_refused():
    refuses(lambda: tc.Confusion([[1, 2, 3], [4, 5, 6]]), "matrix", "actions")
    refuses(lambda: tc.Confusion([1, 2]), "matrix", "dimension")
    refuses(lambda: tc.Confusion([[1, 2], [3, 4]], target="2"), "target", "'2'")


# Applications and other questions


@pytest.mark.parametrize("application", [(0.5, 1), "sre99", {"prior": 0.5}, (0.5, 1, 1, 1), object()])
def test_an_application_that_is_none_is_refused(application):
    refuses(lambda: tc.evaluate(llr([1.0, 2.0], [1, 0]), [application]))


@pytest.mark.parametrize("applications", [None, object()])
def test_applications_that_are_no_list_are_refused(applications):
    refuses(lambda: tc.evaluate(llr([1.0, 2.0], [1, 0]), applications), "application")


def test_one_triple_one_prior_or_one_name_may_stand_without_a_list_and_a_generator_is_a_list():
    trials = llr([1.0, 2.0], [1, 0])
    for applications in ((0.5, 1, 1), 0.5, "sre08", ["sre08"], (app for app in ["sre08"])):
        assert len(tc.evaluate(trials, applications).applications) == 1


def test_an_application_with_the_wrong_number_of_classes_is_refused():
    trials, two = likelihoods(ROWS, [0, 1, 2, 0]), multiclass([0.5, 0.5])
    for act in (tc.evaluate, tc.decide, tc.decisions, tc.confusion_of, tc.expected_costs):
        refuses(lambda act=act: act(trials, [two] if act is tc.evaluate else two), "2 classes", "3")
    refuses(lambda: tc.evaluate(trials, [(0.5, 1, 1)]), "classes")
    refuses(lambda: tc.Confusion([[1, 2], [3, 4]]).risk(multiclass([0.2, 0.3, 0.5])), "3", "2")
    refuses(lambda: tc.posteriors(trials, [0.5, 0.5]), "prior", "2", "3")


def test_an_application_with_other_class_names_is_refused():
    trials = likelihoods(ROWS, ["a", "b", "c", "a"], classes=["a", "b", "c"])
    refuses(lambda: tc.decide(trials, multiclass([0.2, 0.3, 0.5], classes=["x", "y", "z"])), "classes", "'x'", "'a'")


@pytest.mark.parametrize(
    "make",
    [
        lambda curve: curve.eer("middle"),
        lambda curve: curve.precision_at(0),
        lambda curve: curve.precision_at(3),
        lambda curve: curve.recall_at(NAN),
        lambda curve: curve.precision_at_recalled(2),
        lambda curve: curve.partial_auc(),
        lambda curve: curve.partial_auc(fpr=(0.5, 0.1)),
        lambda curve: curve.partial_auc(tpr=(NAN, 1.0)),
        lambda curve: tc.neyman_pearson(curve, NAN),
        lambda curve: tc.neyman_pearson(curve, -0.1),
        lambda curve: tc.hull_rule(curve, 1.5),
        lambda curve: tc.bayes_error(curve, [0.0, NAN]),
        lambda curve: tc.bayes_error(curve, [INF]),
        lambda curve: tc.evaluate(curve.tally, bayes_plot=(3, -3, 21)),
        lambda curve: tc.evaluate(curve.tally, bayes_plot=(-3, NAN, 21)),
        lambda curve: tc.evaluate(curve.tally, bayes_plot=(-3, 3, 1)),
        lambda curve: tc.evaluate(curve.tally, eer="middle"),
        lambda curve: curve.tally.at(NAN),
        lambda curve: curve.tally.at([0.0, NAN]),
        lambda curve: tc.best_rules({"a": (0.1, NAN)}),
        lambda curve: tc.best_rules({"a": (-0.1, 0.5)}),
        lambda curve: tc.neyman_pearson(curve, 0.5)([1.0, NAN], seed=0),
        lambda curve: tc.costs_from_utilities([[1.0, NAN]]),
        lambda curve: tc.costs_from_utilities([[1.0, INF]]),
    ],
)
def test_questions_without_an_answer_are_refused(make):
    refuses(lambda: make(curve_of([1.0, 2.0], [1, 0])))


@pytest.mark.parametrize(
    "make",
    [
        lambda: tc.k_sigma(NAN, 3),
        lambda: tc.k_sigma(1, INF),
        lambda: tc.k_sigma(4, 3),
        lambda: tc.k_sigma(-1, 3),
        lambda: tc.k_sigma(1.5, 3),
        lambda: tc.k_sigma(1, 3, k=NAN),
        lambda: tc.k_sigma(1, 3, k=0),
        lambda: tc.wilson(1, 3, 95),
        lambda: tc.wilson(1, 3, z=NAN),
        lambda: tc.wilson(1, 3, z=-1),
        lambda: tc.clopper_pearson(1, 3, 1.0),
        lambda: tc.clopper_pearson(1, 3, NAN),
        lambda: tc.interval(tc.Confusion([[1, 2], [3, 4]]), "f1"),
        lambda: tc.interval(tc.Confusion([[1, 2], [3, 4]]), "tpr", "guess"),
        lambda: tc.interval(tc.Confusion([[1.5, 2], [3, 4]]), "tpr"),
    ],
)
def test_an_interval_of_no_proportion_is_refused(make):
    refuses(make)


def test_an_interval_of_nothing_is_undefined():
    for make in (tc.k_sigma, tc.wilson, tc.clopper_pearson):
        undefined(lambda make=make: make(0, 0))
    undefined(lambda: tc.interval(tc.Confusion([[1, 0], [2, 0]]), "tpr"), "tpr")


@pytest.mark.parametrize("distribution", [[NAN, 0.5], [-1.0, 2.0], [0.5, 0.2], ["a"], [], [INF, 0.0]])
def test_the_entropy_of_no_distribution_is_refused(distribution):
    refuses(lambda: tc.entropy(distribution), "distribution")


@pytest.mark.parametrize("base", [1.0, 0.5, -2.0, NAN, INF])
def test_a_logarithm_has_a_base_above_1(base):
    trials = llr([1.0, 2.0], [1, 0])
    refuses(lambda: tc.log_loss(trials, base=base), "base")
    refuses(lambda: tc.entropy([0.5, 0.5], base=base), "base")


@pytest.mark.parametrize("k", [0, 4, 1.5, NAN])
def test_the_k_of_top_k_is_a_number_of_classes(k):
    refuses(lambda: tc.top_k_accuracy(likelihoods(ROWS, [0, 1, 2, 0]), k), "k must")


def test_a_risk_curve_along_no_class_or_nan_is_refused():
    trials, app = likelihoods(ROWS, [0, 1, 2, 0]), multiclass([0.2, 0.3, 0.5])
    refuses(lambda: tc.risk_curve(trials, app, "z"), "'z'")
    refuses(lambda: tc.risk_curve(trials, app, "0", [0.0, NAN]), "log_odds")
    refuses(lambda: trials.versus("z"), "'z'")
    refuses(lambda: trials.versus("0", "0"), "'0'")


def test_summaries_of_different_things_do_not_add():
    refuses(lambda: tc.Confusion([[1, 2], [3, 4]]) + tc.Confusion([[1, 2], [3, 4]], classes=["a", "b"]), "classes")
    refuses(
        lambda: tc.Tally.of(llr([1.0, 2.0], [1, 0])) + tc.Tally.of(raw([1.0, 2.0], [1, 0])), "llr", "raw", "meaning"
    )
    refuses(
        lambda: (
            tc.Tally.of(log_odds([1.0, 2.0], [1, 0], trained_prior=0.5))
            + tc.Tally.of(log_odds([1.0, 2.0], [1, 0], trained_prior=0.6))
        ),
        "0.5",
        "0.6",
    )


def test_costs_per_case_in_the_place_of_one_cost_are_shown_where_they_belong():
    refuses(lambda: tc.Application(0.5, cost_fn=[1.0, 2.0]), "cost_fn", "CaseCosts")
