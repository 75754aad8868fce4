"""Every number that Python computes has a name for --metrics or a command, and the JSON holds the same number."""

import json

import numpy as np
import pytest
from click.testing import CliRunner

import tercet as tc
from tercet.cli.main import main
from tercet.report.quantities import FAMILIES, QUANTITIES

# Metrics whose results carry intervals, and which therefore stand above tercet.metrics.
WITH_INTERVALS = ("deployment.decision_curves", "uncertainty.case_costs")
# Public names of tercet.metrics and of these: a quantity of `tercet metrics`, or the command that prints it.
REACHED = {
    "Interval": "evaluate --ci", "clopper_pearson": "count", "delong": "evaluate --ci", "delong_test": "compare",
    "enough_errors": "sample-size", "interval": "count", "k_sigma": "count", "mcnemar": "compare", "wilson": "count",
    "CaseCostEvaluation": "evaluate --cost-fn-column", "CaseCosts": "evaluate --cost-fn-column",
    "CaseCostColumns": "evaluate --cost-fn-column",
    "CaseCostCurve": "evaluate --plots", "case_cost_curve": "evaluate --plots",
    "evaluate_case_costs": "evaluate --cost-fn-column", "CaseCostLoss": "evaluate --cost-fn-column",
    "case_cost_calibration_loss": "evaluate --cost-fn-column", "ClassificationReport": "count",
    "classification_report": "count", "hand_till_auc": "hand_till_auc", "log_loss_as_given": "log_loss_as_given",
    "one_vs_rest_auc": "one_vs_rest_auc", "Confusion": "count", "BayesPlot": "evaluate --bayes-plot",
    "bayes_error": "evaluate --bayes-plot", "brier": "brier", "brier_parts": "brier_miscalibration", "cllr": "cllr",
    "empirical_cross_entropy": "cross_entropy", "log_loss": "log_loss", "log_loss_parts": "log_loss_miscalibration",
    "min_cllr": "min_cllr", "min_cross_entropy": "min_cross_entropy", "perplexity": "perplexity",
    "normalised_cross_entropy": "normalised_cross_entropy", "top_k_accuracy": "top_k_accuracy",
    "useful_priors": "evaluate", "CountReport": "count", "count": "count", "count_report": "count",
    "rates_report": "count", "Curve": "evaluate", "Hull": "evaluate", "best_rules": "select",
    "min_risk": "evaluate --min-risk", "DecisionCurve": "evaluate --decision-curve",
    "compare_net_benefit": "compare --thresholds",
    "decision_curve": "evaluate --decision-curve", "net_benefit": "evaluate --decision-curve",
    "posteriors": "decide", "Tally": "evaluate",
}  # fmt: skip
# Functions of distributions and not of trials: what a page of theory computes.
OF_DISTRIBUTIONS = {"entropy", "cross_entropy_of_truth"}

# Numbers of a curve and of a table of counts that go by another name, or that are an argument of something named.
SYNONYMS = {
    "Curve": {"targets", "nontargets", "fnr", "fpr", "tpr", "tnr", "misses", "false_alarms", "thresholds", "tally"},
    "Confusion": {
        "matrix", "classes", "actions", "target", "unit", "size", "cells", "counts", "rates", "normalised", "per_class",
        "empirical_prior", "tp", "tn", "fp", "fn", "fields",
        "false_alarm_rate", "miss_rate", "hit_rate", "detection_rate", "sensitivity", "recall", "power", "precision",
        "specificity", "type_1_error_rate", "type_2_error_rate", "false_discovery_rate", "false_omission_rate",
        "positive_predictive_value", "negative_predictive_value", "false_acceptance_rate", "false_rejection_rate",
        "far", "frr", "fmr", "fnmr", "gar", "correct_classification_rate",
    },
}  # fmt: skip
NOT_NUMBERS = {
    "auc_bracket", "confusion", "det", "hull", "of", "precision_recall", "against_rest", "for_target", "matched",
    "ordered", "proportion", "contributions", "pair_costs", "average", "risk", "normalised_risk",
}  # fmt: skip


def known(name):
    return name in QUANTITIES or name in FAMILIES


def test_every_public_name_of_the_metrics_is_reached_on_the_command_line():
    modules = [name for name in tc._PUBLIC if name.startswith("metrics.")] + list(WITH_INTERVALS)
    public = {name for module in modules for name in tc._PUBLIC[module].split()}
    assert public - OF_DISTRIBUTIONS == set(REACHED)
    for name, way in REACHED.items():
        if not known(way):
            words = way.split()
            command = main.get_command(None, words[0])
            assert command is not None, name
            options = {opt for one in command.params for opt in one.opts}
            assert set(words[1:]) <= options, name


@pytest.mark.parametrize("kind", [tc.Curve, tc.Confusion])
def test_every_number_of_a_curve_and_of_a_table_of_counts_has_a_name(kind):
    names = {name for name in dir(kind) if not name.startswith("_")} - SYNONYMS[kind.__name__] - NOT_NUMBERS
    lost = {name for name in names if not known({"for_": "for"}.get(name, name))}
    assert {name for name in lost if not known(f"{name}_linear")} == set()


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path, rng = tmp_path_factory.mktemp("reach"), np.random.default_rng(0)
    labels = np.arange(60) % 2
    odds = rng.normal(size=60) + 2 * labels - 1
    rows = [f"{float(1 / (1 + np.exp(-one)))!r},{label}" for one, label in zip(odds, labels, strict=True)]
    (path / "two.csv").write_text("score,label\n" + "\n".join(rows) + "\n")
    labels = np.arange(60) % 3
    scores = rng.normal(size=(60, 3)) + 2 * np.eye(3)[labels]
    rows = [",".join([*(repr(float(one)) for one in row), "abc"[k]]) for row, k in zip(scores, labels, strict=True)]
    (path / "three.csv").write_text("a,b,c,label\n" + "\n".join(rows) + "\n")
    return path


VALUES = {"BASE": "10", "FPR": "0.1", "TPR": "0.5", "PRIOR": "0.2", "K": "2", "BETA": "2"}
OPTIONS = {
    "two": ("--meaning", "posterior", "--trained-prior", "0.5", "--app", "0.3"),
    "three": ("--meaning", "log-likelihoods", "--class-columns", "a,b,c", "--priors", "0.2,0.3,0.5"),
}


def every_name():
    return [*QUANTITIES, *(f"{name}:{VALUES[one.parameter]}" for name, one in FAMILIES.items())]


def numbers_of(document):
    (system,) = document["systems"]
    return system, {**system, **system["applications"][0]}


def test_every_quantity_can_be_had_in_the_json_of_two_or_of_several_classes(folder):
    held = set()
    for name, options in OPTIONS.items():
        for wanted in every_name():
            found = CliRunner().invoke(
                main, ["evaluate", str(folder / f"{name}.csv"), *options, "--metrics", wanted, "--json"]
            )
            if found.exit_code == 0 and numbers_of(json.loads(found.stdout))[1].get(wanted) is not None:
                held.add(wanted)
    assert held == set(every_name())


def test_what_the_command_line_prints_is_what_python_computes(folder):
    words = "hand_till_auc,one_vs_rest_auc,one_vs_rest_auc_weighted,top_k_accuracy:2"
    found = CliRunner().invoke(
        main, ["evaluate", str(folder / "three.csv"), *OPTIONS["three"], "--metrics", words, "--json"]
    )
    system, _ = numbers_of(json.loads(found.stdout))
    trials = tc.read(folder / "three.csv", meaning="log-likelihoods", class_columns=["a", "b", "c"])
    assert system["hand_till_auc"] == tc.hand_till_auc(trials).value
    assert system["one_vs_rest_auc"] == tc.one_vs_rest_auc(trials).value
    assert system["one_vs_rest_auc_weighted"] == tc.one_vs_rest_auc(trials, "weighted").value
    assert system["top_k_accuracy:2"] == tc.top_k_accuracy(trials, 2)
    assert tc.evaluate(trials).metrics(["hand_till_auc"]) == {"hand_till_auc": tc.hand_till_auc(trials).value}


def test_the_log_loss_as_given_is_that_of_the_trials_with_and_without_weights():
    posteriors, labels = np.array([0.2, 0.7, 0.7, 0.9, 0.4]), [0, 1, 0, 1, 1]
    for weights in (None, [1.0, 2.0, 0.5, 1.0, 3.0]):
        trials = tc.Trials.of_posteriors(posteriors, labels, trained_prior=0.3, weights=weights)
        found = tc.evaluate(trials).metrics(["log_loss_as_given"])
        assert found == {"log_loss_as_given": tc.log_loss_as_given(trials)}


def test_the_parts_of_a_score_add_up():
    trials = tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    found = tc.evaluate(trials).metrics()
    for name in ("brier", "log_loss"):
        parts = (found[f"{name}_{part}"] for part in ("miscalibration", "discrimination", "uncertainty"))
        miscalibration, discrimination, uncertainty = parts
        assert found[name] == pytest.approx(miscalibration - discrimination + uncertainty)


def test_class_names_are_in_the_evaluation_and_in_its_json_where_they_are_not_the_usual_ones():
    trials = tc.Trials.of_llr([1.0, -1.0], ["fraud", "ok"], target="fraud")
    assert tc.evaluate(trials).to_dict()["class_names"] == ["ok", "fraud"]
    assert "class_names" not in tc.evaluate(tc.Trials.of_llr([1.0, -1.0], [1, 0])).to_dict()
