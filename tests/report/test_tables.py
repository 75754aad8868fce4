"""Tables of results: what they say in every form, and that a terminal of any width splits no word."""

import re

import numpy as np
import pytest

import tercet as tc
from tercet.report import tables
from tercet.report.quantities import QUANTITIES, chosen, with_quantities
from tercet.report.terminal import print_table

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


def test_quantities_are_computed_by_name():
    rng = np.random.default_rng(0)
    labels = rng.random(300) < 0.5
    found = tc.evaluate(tc.Trials.of_llr(rng.normal(labels * 2.0 - 1.0), labels), [(0.5, 1, 1)])
    row = found.applications[0].table
    new = with_quantities(found.to_dict(), found, chosen("ppv,f1,average_precision,hull_auc"))
    assert new["applications"][0]["ppv"] == row.ppv
    assert new["applications"][0]["f1"] == row.f1
    assert new["average_precision"] == found.curve.average_precision
    assert new["hull_auc"] == found.curve.hull_auc


def test_every_quantity_is_there_when_asked_for():
    found = tc.evaluate(tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0], [1, 1, 1, 0, 0]), [(0.5, 1, 1)])
    new = with_quantities(found.to_dict(), found, tuple(QUANTITIES.values()))
    missing = [name for name in QUANTITIES if name not in new and name not in new["applications"][0]]
    assert missing == ["log_loss", "normalised_cross_entropy", "brier", "risk"]  # of several classes


def test_an_unknown_quantity_offers_near_names():
    with pytest.raises(tc.InputError, match=r"Did you mean .*min_dcf"):
        chosen("mindcf")
