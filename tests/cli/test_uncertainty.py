"""What the command line says about uncertainty: intervals, bands, conditions, calibration sets, comparison, data."""

import csv
import json

import numpy as np
import pytest
from click.testing import CliRunner

import tercet as tc
from tercet.calibration.two_class import Logistic
from tercet.cli.main import main
from tercet.uncertainty import bootstrap

COLUMNS = ("score", "label", "speaker", "channel")


def write(path, count=240, seed=0, shift=0.0, channels=("phone", "mic")):
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 2
    speakers, places = np.arange(count) // 2 % 30, np.array(channels)[np.arange(count) // 7 % len(channels)]
    scores = (labels - 0.5) * 2.5 + shift + rng.normal(size=count)
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(COLUMNS)
        rows.writerows(zip(scores.tolist(), labels.tolist(), speakers.tolist(), places.tolist(), strict=True))
    return path


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def result_of(*words):
    found = run("evaluate", *words, "--json")
    assert found.exit_code == 0, found.stderr
    return json.loads(found.stdout)


def read(path):
    return tc.read(path, group_columns=["speaker", "channel"])


QUICK = ("--app", "0.5,1,1", "--ci", 95, "--bootstrap", 39)


def test_each_number_gains_its_interval_and_the_eer_beside_it(tmp_path):
    path = write(tmp_path / "a.csv")
    (system,) = result_of(path, *QUICK, "--group-column", "speaker")["systems"]
    expected = bootstrap(read(path), [(0.5, 1, 1)], resamples=39, by="speaker")
    assert system["eer_ci"] == [expected["eer"].low, expected["eer"].high]
    assert set(system["eer"]) == {"value", "threshold", "definition", "randomisation"}
    assert system["applications"][0]["dcf_ci"] == list(expected["applications.0.dcf"][1:3])
    assert "bands" not in system


def test_bands_are_there_when_asked_for_or_when_something_is_drawn(tmp_path):
    path = write(tmp_path / "a.csv")
    (system,) = result_of(path, *QUICK, "--bands")["systems"]
    assert set(system["bands"]) == {"level", "roc", "reliability"}
    (system,) = result_of(path, *QUICK, "--report", tmp_path / "page.html")["systems"]
    assert "bands" in system
    (system,) = result_of(path, *QUICK, "--report", tmp_path / "page.html", "--no-bands")["systems"]
    assert "bands" not in system


def test_figures_are_drawn_with_bands_and_boxes(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'tercet[plot]'")
    path = write(tmp_path / "a.csv")
    found = run("evaluate", path, *QUICK, "--plots", tmp_path / "p", "--sigma", 2)
    assert found.exit_code == 0, found.stderr
    assert (tmp_path / "p" / "1-a-roc.png").exists()


def test_figures_come_in_the_formats_asked_for(tmp_path):
    pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'tercet[plot]'")
    asked = ["--plots", tmp_path / "p", "--plot-format", "svg", "--plot-format", "pdf"]
    found = run("evaluate", write(tmp_path / "a.csv"), *asked)
    assert found.exit_code == 0, found.stderr
    assert (tmp_path / "p" / "1-a-roc.svg").read_bytes()[:5] == b"<?xml"
    assert (tmp_path / "p" / "1-a-roc.pdf").read_bytes()[:4] == b"%PDF"
    assert not list((tmp_path / "p").glob("*.png"))


@pytest.mark.parametrize("output", ["table", "md", "tsv"])
def test_conditions_stand_in_every_form_and_an_undefined_one_says_why(output, tmp_path):
    path = write(tmp_path / "a.csv")
    with path.open("a") as file:
        file.write("1.5,1,3,radio\n0.5,1,4,radio\n")
    found = run("evaluate", path, *QUICK, "--condition-column", "channel", "--format", output)
    assert found.exit_code == 0, found.stderr
    for word in ("phone", "mic", "radio", "(pooled)", "(equalised)"):
        assert word in found.stdout
    assert "there are no non-targets" in found.stdout + found.stderr


def test_conditions_in_the_json_are_those_of_python(tmp_path):
    from tercet.conditions import by_condition

    path = write(tmp_path / "a.csv")
    document = result_of(path, *QUICK, "--condition-column", "channel", "--condition-column", "speaker")
    one, other = document["conditions"]
    assert (one["system"], one["column"], other["column"]) == ("a", "channel", "speaker")
    expected = by_condition(read(path), "channel", [(0.5, 1, 1)], ci=0.95, resamples=39).to_dict()
    del one["system"]
    assert one == json.loads(json.dumps(expected))
    assert "curve" not in one["pooled"]
    assert len(other["rows"]) == 30


def test_a_calibration_set_is_fitted_applied_and_resampled(tmp_path):
    path, training = write(tmp_path / "a.csv", shift=2.0), write(tmp_path / "c.csv", count=60, seed=1, shift=2.0)
    (system,) = result_of(path, *QUICK, "--calibrate-on", training)["systems"]
    trials, other = read(path), read(training)
    expected = tc.evaluate(Logistic.fit(other)(trials), [(0.5, 1, 1)])
    assert system["applications"][0]["dcf"] == expected.applications[0].dcf
    found = bootstrap(trials, [(0.5, 1, 1)], resamples=39, calibrate=Logistic, calibration_trials=other)
    assert system["applications"][0]["dcf_ci"] == list(found["applications.0.dcf"][1:3])
    assert system["calibration"]["method"] == "logistic"
    assert [file["name"] for file in system["calibration"]["files"]] == ["c.csv"]


def test_few_errors_are_told_beside_the_cost(tmp_path):
    path = write(tmp_path / "a.csv")
    found = run("evaluate", path, "--app", "0.5,1,1", "--format", "table")
    assert "few errors" in found.stdout
    (system,) = result_of(path, "--app", "0.5,1,1")["systems"]
    assert "fewer than 30" in system["applications"][0]["warnings"][0]
    many = write(tmp_path / "many.csv", count=4000)
    (system,) = result_of(many, "--app", "0.5,1,1")["systems"]
    assert "warnings" not in system["applications"][0]


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["--ci", "0.95"], 2, "per cent"),
        (["--ci", "100"], 2, "per cent"),
        (["--bands"], 2, "--bands has no effect without --ci"),
        (["--sigma", "2"], 2, "--sigma has no effect without --plots"),
        (["--ci", "95", "--engine", "local", "--condition-column", "one"], 1, "--ci with --condition-column needs"),
        (["--condition-column", "nowhere"], 1, "nowhere"),
        (["--calibrate-prior", "0.5"], 2, "has no effect without --calibrate-on"),
        (["--ci", "95", "--group-column", "one"], 1, "one group"),
    ],
)
def test_what_cannot_be_answered_is_refused_in_words(words, code, message, tmp_path):
    path = write(tmp_path / "a.csv")
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0] + ",one", *(line + ",x" for line in lines[1:]), ""]))
    found = run("evaluate", path, *words)
    assert found.exit_code == code
    assert message in found.stderr
    assert found.stdout == ""


def test_a_scan_has_the_intervals_of_decisions_that_trials_in_memory_have(tmp_path):
    path = write(tmp_path / "a.csv", count=400)
    (scanned,) = result_of(path, "--app", "0.1,1,1", "--ci", "90", "--engine", "local")["systems"]
    (held,) = result_of(path, "--app", "0.1,1,1", "--ci", "90")["systems"]
    for key in ("fnr_ci", "fpr_ci", "dcf_u_ci", "dcf_ci"):
        assert scanned["applications"][0][key] == held["applications"][0][key]
    assert "min_dcf_ci" not in scanned["applications"][0]


@pytest.mark.parametrize("more", [[], ["--thresholds", "0.1"]])
def test_a_file_that_is_compared_with_itself_needs_names(tmp_path, more):
    path = write(tmp_path / "a.csv")
    refused = run("compare", path, path, *more)
    assert refused.exit_code == 2
    assert "a.csv was given twice" in refused.stderr
    assert "--name A --name B" in refused.stderr
    found = run("compare", path, path, "--name", "first", "--name", "second", "--json", *more)
    assert json.loads(found.stdout)["names"] == ["first", "second"]
    assert "two systems have the same name" in run("compare", path, path, "--name", "x", "--name", "x", *more).stderr


def test_systems_on_different_trials_are_refused_unless_asked(tmp_path):
    a, b = write(tmp_path / "a.csv"), write(tmp_path / "b.csv", count=200, seed=1)
    refused = run("compare", a, b, "--bootstrap", 39)
    assert refused.exit_code == 1
    assert "--unpaired" in refused.stderr
    assert run("compare", a, b, "--bootstrap", 39, "--unpaired").exit_code == 0


def test_compare_says_a_sentence_then_ranks_and_differences(tmp_path):
    a, b = write(tmp_path / "a.csv"), write(tmp_path / "b.csv", seed=1, shift=3.0)
    found = run("compare", a, b, "--app", "0.5,1,1", "--bootstrap", 99)
    assert found.exit_code == 0, found.stderr
    assert found.stdout.startswith("By DCF at prior 0.5, costs 1 : 1 (95 % intervals, 99 resamples), a is better")
    assert "rank" in found.stdout
    assert "(Holm)" in found.stdout


def test_needed_answers_for_expected_rates_and_for_a_saved_result(tmp_path):
    from tercet.uncertainty import sample_size

    found = run("sample-size", "--app", "0.5,1,1", "--fnr", 0.1, "--fpr", 0.1, "--half-width", 0.02)
    assert found.exit_code == 0, found.stderr
    cells = dict(zip(*(line.split("\t") for line in found.stdout.splitlines()), strict=True))
    assert (cells["targets"], cells["nontargets"]) == ("2001", "2001")
    path = write(tmp_path / "a.csv")
    result = tmp_path / "result.json"
    result.write_text(json.dumps(result_of(path, "--app", "0.5,1,1")))
    row = tc.evaluate(read(path), [(0.5, 1, 1)]).applications[0]
    found = run("sample-size", result, "--half-width", 0.02)
    expected = sample_size(row.fnr, row.fpr, (0.5, 1, 1), 0.02)
    cells = dict(zip(*(line.split("\t") for line in found.stdout.splitlines()), strict=True))
    assert (int(cells["targets"]), int(cells["nontargets"])) == expected[:2]
    assert run("sample-size", "--half-width", 0.1).exit_code == 2
    assert "--fnr" in run("sample-size", "--app", "0.5,1,1", "--half-width", 0.1).stderr


@pytest.mark.parametrize("sampling", ["stratified", "natural"])
def test_class_counts_are_fixed_or_random_as_asked(sampling, tmp_path):
    path = write(tmp_path / "a.csv")
    (system,) = result_of(path, *QUICK, "--sampling", sampling)["systems"]
    expected = tc.evaluate(read(path), [(0.5, 1, 1)], ci=0.95, resamples=39, sampling=sampling).to_dict()
    assert system["intervals"]["sampling"] == sampling
    assert system["auc_ci"] == expected["auc_ci"]
    other = "natural" if sampling == "stratified" else "stratified"
    assert system["auc_ci"] != result_of(path, *QUICK, "--sampling", other)["systems"][0]["auc_ci"]
