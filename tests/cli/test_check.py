"""The gate: what it looks for, and that nothing it cannot see passes."""

import json
from xml.etree import ElementTree

import pytest
from click.testing import CliRunner

from tercet.cli.main import main


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture
def result(tmp_path):
    """Two systems at two operating points, with intervals."""
    for name, shift in (("a", 2.0), ("b", 0.5)):
        rows = "".join(f"{((i * 37) % 19) / 6 - 1.5 + (i % 2) * shift},{i % 2}\n" for i in range(200))
        (tmp_path / f"{name}.csv").write_text("score,label\n" + rows)
    words = ["--app", "0.1", "--app", "0.5", "--ci", "95", "--bootstrap", "39", "--json"]
    found = run("evaluate", tmp_path / "a.csv", tmp_path / "b.csv", *words)
    assert found.exit_code == 0, found.stderr
    path = tmp_path / "result.json"
    path.write_text(found.stdout)
    return path


def changed(path, change, name="changed.json"):
    document = json.loads(path.read_text())
    change(document)
    new = path.with_name(name)
    new.write_text(json.dumps(document))
    return new


def test_a_system_that_lacks_the_number_fails(result):
    assert run("check", result, "--fail-if", "auc<0").exit_code == 0
    path = changed(result, lambda document: document["systems"][1].pop("auc"))
    found = run("check", path, "--fail-if", "auc<0")
    assert found.exit_code == 3
    assert "it lacks auc" in found.stderr
    assert run("check", path, "--fail-if", "auc<0", "--system", "a").exit_code == 0


def test_nan_is_refused_and_null_fails(result):
    text = result.read_text()
    value = json.loads(text)["systems"][0]["auc"]
    result.write_text(text.replace(f'"auc": {value}', '"auc": NaN'))
    assert run("check", result, "--fail-if", "auc<0").exit_code == 1
    result.write_text(text.replace(f'"auc": {value}', '"auc": null'))
    assert run("check", result, "--fail-if", "auc<0").exit_code == 3


def test_a_bracketed_number_passes_only_if_both_ends_do(result):
    def bracketed(document):
        document["systems"][0]["brackets"] = {"auc": [0.5, 0.9]}

    path = changed(result, bracketed)
    assert run("check", path, "--fail-if", "auc<0.6", "--system", "a").exit_code == 3
    assert run("check", path, "--fail-if", "auc<0.4", "--system", "a").exit_code == 0
    assert run("check", path, "--fail-if", "auc>0.8", "--system", "a").exit_code == 3


def test_the_ends_of_an_interval_are_numbers_too(result):
    system = json.loads(result.read_text())["systems"][0]
    low, high = system["applications"][1]["dcf_ci"]
    middle = (system["applications"][1]["dcf"] + high) / 2
    assert low < middle < high
    words = ("--system", "a")
    assert run("check", result, "--fail-if", f"auc.low>{system['auc_ci'][1]}", *words).exit_code == 0
    assert run("check", result, "--fail-if", f"dcf.high>{middle}", *words).exit_code == 3
    path = changed(result, lambda document: [app.pop("dcf_ci") for app in document["systems"][0]["applications"]])
    found = run("check", path, "--fail-if", "dcf.high>100", *words)
    assert found.exit_code == 3
    assert "no interval" in found.stderr


def test_a_baseline_is_matched_by_name_and_operating_point(result):
    def better(document):
        for system in document["systems"]:
            for app in system["applications"]:
                app["dcf"] -= 0.05

    old = changed(result, better, "old.json")
    words = ("check", result, "--baseline", old)
    assert run(*words, "--fail-if", "dcf > baseline + 0.06").exit_code == 0
    assert run(*words, "--fail-if", "dcf > baseline + 0.04").exit_code == 3
    assert run(*words, "--fail-if", "dcf > 0.4").exit_code == 2
    assert run("check", result, "--fail-if", "dcf > baseline").exit_code == 2
    other = changed(result, lambda document: document["systems"][0]["input"].update(trials=7), "other.json")
    found = run("check", result, "--baseline", other, "--fail-if", "dcf > baseline")
    assert found.exit_code == 1
    assert "other trials" in found.stderr
    assert run("check", result, "--baseline", other, "--other-trials", "--fail-if", "dcf > baseline").exit_code == 0
    elsewhere = changed(result, lambda document: document["systems"][0]["applications"].pop(), "elsewhere.json")
    assert "not evaluated at" in run("check", result, "--baseline", elsewhere, "--fail-if", "dcf>baseline").stderr


def test_what_passed_is_said_and_written_for_machines(result, tmp_path):
    report = tmp_path / "junit.xml"
    found = run("check", result, "--fail-if", "auc<0", "--fail-if", "dcf>0", "--junit", report, "--github")
    assert found.exit_code == 3
    assert "so it passes (not auc<0" in found.stdout
    assert found.stdout.count("::error ") == 4
    suite = ElementTree.parse(report).getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("6", "4")


def test_near_and_known_names_are_offered(result):
    found = run("check", result, "--fail-if", "dfc>1")
    assert found.exit_code == 2
    assert "Did you mean dcf" in found.stderr
    assert "min_dcf" in found.stderr
    assert "holds 'a', 'b'" in run("check", result, "--fail-if", "dcf>1", "--system", "c").stderr
