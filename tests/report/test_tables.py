"""Tables of results: what they say in every form, and that a terminal of any width splits no word."""

import re

import numpy as np
import pytest

import tercet as tc
from tercet.report import tables
from tercet.report.quantities import QUANTITIES, chosen, facts_of, with_quantities
from tercet.report.terminal import print_table
from tercet.report.text import short

NAMES = ["short", "a_rather_long_name_of_a_system_with_sixty_four_letters_in_all_okay", "third"]


def facts(name="short", meaning="llr", apps=((0.01, 10, 1), (0.5, 1, 1)), count=2000, **more):
    rng = np.random.default_rng(3)
    labels = rng.random(count) < 0.3
    llr = rng.normal(np.where(labels, 2.0, -2.0), 2.5)
    trials = {
        "llr": lambda: tc.Trials.of_llr(llr, labels),
        "raw": lambda: tc.Trials.of_scores(llr, labels),
        "posterior": lambda: tc.Trials.of_posteriors(1 / (1 + np.exp(-llr)), labels, trained_prior=0.5),
    }[meaning]()
    ev = tc.evaluate(trials, apps, name=name)
    assert len([row.calibration_loss for row in ev.applications]) == len(apps)  # computed when it is asked for
    found = ev.to_dict()
    if more.get("ci"):
        found["intervals"] = {"level": 0.95, "notes": []}
        for app in found["applications"]:
            for key in ("dcf", "min_dcf", "calibration_loss"):
                app[f"{key}_ci"] = [app[key] * 0.9, app[key] * 1.1]
    return found


def words_of(printed):
    return re.findall(r"\S+", printed)


@pytest.mark.parametrize("ci", [False, True])
@pytest.mark.parametrize("systems", [1, 3])
@pytest.mark.parametrize("wide", [60, 80, 120, 200])
def test_no_word_or_number_is_split(wide, systems, ci, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(wide))
    print_table([facts(name, ci=ci) for name in NAMES[:systems]])
    printed = capsys.readouterr().out
    assert max(map(len, printed.splitlines())) <= wide
    numbers = [tables.short(app[key]) for app in facts(ci=ci)["applications"] for key in ("dcf", "min_dcf")]
    for number in numbers:
        assert number in words_of(printed)
    for word in ("targets,", "non-targets,", "threshold", "minimum", "calibration", "nontarget"):
        assert word in words_of(printed)


@pytest.mark.parametrize("wide", [60, 80, 200])
def test_a_condition_with_trials_of_one_class_is_shown_at_any_width(wide, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(wide))
    labels = np.arange(100) % 2
    sites = np.where((labels == 1) & (np.arange(100) < 30), "Oslo", "Rome")
    trials = tc.Trials.of_llr(4.0 * labels - 2.0 + np.sin(np.arange(100.0)), labels, groups={"site": sites}, name="a")
    entry = {"system": "a", **tc.by_condition(trials, "site", [(0.5, 1, 1)]).to_dict()}
    print_table([tc.evaluate(trials, [(0.5, 1, 1)]).to_dict()], [entry])
    assert re.search(r"FNR\s0\.000", capsys.readouterr().out)


def test_every_column_has_a_heading_and_remarks_only_where_there_are_some():
    few, many = tables.costs([facts(count=300)]), tables.costs([facts(count=20_000, apps=[(0.5, 1, 1)])])
    assert few.head[-1] == "remark"
    assert all("few errors" in row[-1].words for row in few.rows)
    assert many.head[-1] == "calibration loss"
    printed = tables.latex_table(few)
    assert r"\begin{tabular}{lrrrrrrrl}" in printed
    assert re.search(r"& remark \\\\$", printed, re.M)


def test_a_long_name_gets_a_key(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "80")
    print_table([facts(name) for name in NAMES])
    printed = capsys.readouterr().out
    assert f"B = {NAMES[1][:40]}" in printed
    assert re.search(r"^C +1 in 100", printed, re.M)


def test_both_threshold_scales_are_shown_and_labelled():
    table = tables.costs([facts(meaning="posterior")])
    assert "llr threshold" in table.head
    assert "posterior threshold" in table.head
    first = dict(zip(table.head, map(str, table.rows[0]), strict=True))
    threshold = -np.log(0.01 / 0.99) - np.log(10)
    assert float(first["llr threshold"]) == pytest.approx(threshold, abs=1e-3)
    assert float(first["posterior threshold"]) == pytest.approx(1 / (1 + np.exp(-threshold)), abs=1e-3)


def test_raw_scores_have_no_threshold():
    table = tables.costs([facts(meaning="raw")])
    first = dict(zip(table.head, map(str, table.rows[0]), strict=True))
    assert first["llr threshold"] == "none"
    assert first["actual DCF"] == "undefined"


def test_classes_are_called_as_the_user_calls_them():
    found = facts() | {"class_names": ["ok", "fraud"]}
    matrix = tables.confusions([found])[0]
    assert matrix.head == ("decision", "ok", "fraud")
    assert str(matrix.rows[1][0]) == "fraud"


def test_counts_have_thousands_separators():
    assert "1,377 non-targets" in tables.summaries([facts()])[0]
    assert tables.count(22300) == "22,300"


def test_latex_escapes_names_and_is_one_tabular_per_table():
    printed = tables.latex([facts(r"50 % of a_b & \frac{$")])
    assert r"50 \% of a\_b \& \textbackslash{}frac\{\$" in printed
    assert printed.count(r"\begin{tabular}") == printed.count(r"\end{tabular}") == 3
    for tabular in printed.split(r"\begin{tabular}")[1:]:
        columns = re.match(r"\{([lr]+)\}", tabular)[1]
        lines = [line for line in tabular.splitlines() if line.endswith(r"\\")]
        assert {line.replace(r"\&", "").count("&") for line in lines} == {len(columns) - 1}


def test_a_p_value_is_not_below_what_the_resamples_can_show():
    assert tables.p_value(0.0, 1000) == "< 0.002"
    assert tables.p_value(0.5, 1000) == "0.5"
    assert tables.p_value(None, 1000) == "undefined"


def evaluation(count=300, apps=((0.5, 1, 1),), **more):
    rng = np.random.default_rng(0)
    labels = rng.random(count) < 0.5
    return tc.evaluate(tc.Trials.of_llr(rng.normal(labels * 2.0 - 1.0), labels), apps, **more)


def several_classes(**more):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 200)
    scores = rng.normal(size=(200, 3)) + 2.0 * np.eye(3)[labels]
    return tc.evaluate(
        tc.Trials.of_log_likelihoods(scores, labels), [tc.Application.multiclass([0.2, 0.3, 0.5])], **more
    )


def test_quantities_are_computed_by_name():
    found = evaluation()
    row = found.applications[0].table
    new = facts_of(found, chosen("ppv,f1,f_beta:2,average_precision,hull_auc,partial_auc:0.1,log_loss:e,brier"))
    first = new["applications"][0]
    assert (first["ppv"], first["f1"], first["f_beta:2"]) == (row.ppv, row.f1, row.f_beta(2.0))
    assert new["average_precision"] == found.curve.average_precision
    assert new["hull_auc"] == found.curve.hull_auc
    assert new["partial_auc:0.1"] == found.curve.partial_auc(fpr=(0.0, 0.1))
    trials = found.curve.tally
    prior = found.input["targets"] / found.input["trials"]
    assert new["log_loss:e"] == pytest.approx(tc.empirical_cross_entropy(trials, prior) * np.log(2))
    assert new["brier"] == tc.brier_parts(trials).score


@pytest.mark.parametrize("make", [evaluation, several_classes])
def test_every_quantity_is_there_when_asked_for(make):
    new = facts_of(make(), tuple(QUANTITIES.values()))
    missing = {name for name in QUANTITIES if name not in new and name not in new["applications"][0]}
    two_class = {"eer", "auc", "hull_auc", "average_precision", "break_even", "cllr", "min_cllr", "dcf_u", "min_dcf",
                 "min_dcf_u", "calibration_loss", "actual_minus_min"}  # fmt: skip
    parts = ("miscalibration", "discrimination", "uncertainty")
    two_class |= {f"{score}_{part}" for score in ("log_loss", "brier") for part in parts}
    several = {"risk", "hand_till_auc", "one_vs_rest_auc", "one_vs_rest_auc_weighted"}
    assert missing == (several if make is evaluation else two_class)


def test_rates_have_binomial_intervals_where_trials_are_independent():
    found = evaluation(ci=0.9)
    table = found.applications[0].table
    new = facts_of(found, chosen("ppv,f1,f_beta:2,fnr"))["applications"][0]
    assert new["ppv_ci"] == pytest.approx(tc.interval(table, "ppv", "clopper-pearson", 0.9)[:2], rel=1e-12)
    shares = tc.wilson(table.tp, table.tp + table.fn + table.fp, 0.9)[:2]
    assert new["f1_ci"] == pytest.approx([2.0 * share / (1.0 + share) for share in shares])
    assert "f_beta:2_ci" not in new
    by = {"level": 0.9, "by": ["speaker"]}
    assert (
        "ppv_ci"
        not in with_quantities(evaluation().to_dict() | {"intervals": by}, None, chosen("ppv"))["applications"][0]
    )


def test_metrics_are_a_flat_dictionary_of_floats_without_undefined_ones():
    found = evaluation(apps=["sre08", (0.5, 1, 1)], ci=0.95).metrics()
    assert all(type(value) is float for value in found.values())
    assert found["dcf_low/sre08"] <= found["dcf/sre08"] <= found["dcf_high/sre08"]
    assert {"eer", "auc", "cllr", "dcf/0.5_1_1", "f1/0.5_1_1"} <= set(found)
    raw = tc.evaluate(tc.Trials.of_scores([1.0, 0.0], [1, 0]), [(0.5, 1, 1)]).metrics()
    assert "min_dcf" in raw
    assert not {"dcf", "cllr", "log_loss", "ppv"} & set(raw)
    assert {"log_loss", "perplexity", "risk", "f1_macro", "kappa"} <= set(several_classes().metrics())


def test_metrics_of_the_same_operating_point_twice_keep_both():
    assert {"dcf/0.5_1_1", "dcf/0.5_1_1_1"} <= set(evaluation(apps=[(0.5, 1, 1)] * 2).metrics(["dcf"]))


def test_the_calibration_loss_is_computed_when_it_is_asked_for_by_name():
    assert "calibration_loss" not in evaluation().metrics()
    assert "calibration_loss" in evaluation().metrics(["calibration_loss"])


@pytest.mark.parametrize("words", ["mindcf", "min_dcff"])
def test_an_unknown_quantity_offers_near_names(words):
    with pytest.raises(tc.InputError, match=r"Did you mean .*min_dcf"):
        chosen(words)
    with pytest.raises(tc.InputError, match=r"Did you mean .*min_dcf"):
        evaluation().metrics([words])


@pytest.mark.parametrize("words", ["partial_auc:2", "partial_auc:x", "log_loss:1", "f_beta:-1", "f_beta:", "dcf:2"])
def test_a_parameter_out_of_range_is_refused(words):
    with pytest.raises(tc.InputError, match="--metrics"):
        chosen(words)


@pytest.mark.parametrize("wrong", ["eer", 3, [3]])
def test_metrics_must_be_a_list_of_names(wrong):
    with pytest.raises(tc.InputError, match="metrics"):
        evaluation().metrics(wrong)


def test_a_threshold_at_which_prior_and_costs_cancel_is_0_in_a_table():
    one = facts(apps=((0.1, 0.9, 0.1), (0.01, 10, 1)))
    assert one["applications"][0]["threshold"] != 0.0
    assert [str(row[4]) for row in tables.costs([one]).rows] == ["0", "2.293"]


def test_what_rounds_to_0_has_no_sign():
    assert [short(value) for value in (-0.0004, 0.0004, -0.0006, None)] == ["0.000", "0.000", "-0.001", "undefined"]
