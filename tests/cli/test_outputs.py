"""What commands print: no word split at any width, and JSON that follows the published schemas."""

import json
import re

import click
import pytest
from click.testing import CliRunner

from tercet.calibration.methods import CLASS_METHODS, METHODS, PENALISED
from tercet.cli.main import COMMANDS, main
from tercet.report.schema import faults, published

CALLS = {
    "evaluate": ("evaluate", "a.csv", "b.csv", "--format", "table"),
    "posterior": ("evaluate", "p.csv", "--meaning", "posterior", "--trained-prior", "0.5", "--format", "table"),
    "classes": ("evaluate", "m.csv", "--meaning", "log-likelihoods", "--class-columns", "x,y,z", "--priors", ".3,.4,.3",
                "--one-vs-rest", "--format", "table"),
    "decisions": ("evaluate", "d.csv", "--meaning", "decisions", "--target", "y", "--app", "0.1", "--format", "table"),
    "metrics of": ("evaluate", "a.csv", "--app", "0.1", "--metrics", "ppv,f1,auc", "--format", "table"),
    "select": ("select", "a.csv", "--app", "0.1", "--format", "table"),
    "metrics": ("metrics",),
    "check": ("check", "result.json", "--fail-if", "auc<0.1"),
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("outputs")
    for name, shift in (("a", 1.5), ("b", 1.0)):
        rows = [f"{((i * 37) % 23) / 5 - 2.2 + (i % 2) * shift:.4f},{i % 2}" for i in range(90)]
        (path / f"{name}.csv").write_text("score,label\n" + "\n".join(rows) + "\n")
    rows = [f"{((i * 7) % 11) / 25 + 0.1 + 0.4 * (i % 2):.4f},{i % 2}" for i in range(90)]
    (path / "p.csv").write_text("score,label\n" + "\n".join(rows) + "\n")
    rows = [
        ",".join(f"{((i * (k + 3)) % 7) / 3 + (k == i % 3):.4f}" for k in range(3)) + f",{'xyz'[i % 3]}"
        for i in range(90)
    ]
    (path / "m.csv").write_text("x,y,z,label\n" + "\n".join(rows) + "\n")
    (path / "d.csv").write_text("decision,label\n" + "".join(f"{'xy'[i % 5 < 2]},{'xy'[i % 2]}\n" for i in range(90)))
    return path


def run(folder, *words, columns=120, monkeypatch):
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", str(columns))
    return CliRunner().invoke(main, list(words))


@pytest.mark.parametrize("called", CALLS)
def test_no_word_of_a_result_is_split_at_any_width(called, folder, monkeypatch):
    result = run(folder, "evaluate", "a.csv", "--app", "0.1", "--json", monkeypatch=monkeypatch)
    (folder / "result.json").write_text(result.stdout)
    wide = run(folder, *CALLS[called], columns=200, monkeypatch=monkeypatch)
    assert wide.exit_code == 0, wide.stderr
    numbers = set(re.findall(r"(?<!\S)\d+\.\d+(?!\S)", wide.stdout))
    for columns in (60, 80, 120):
        found = run(folder, *CALLS[called], columns=columns, monkeypatch=monkeypatch)
        assert max(map(len, found.stdout.splitlines())) <= columns or called == "check"
        assert numbers <= set(re.findall(r"\d+\.\d+", found.stdout)), columns


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("result", ("evaluate", "a.csv", "b.csv", "--app", "0.1", "--json")),
        ("result", ("evaluate", "a.csv", "--meaning", "raw", "--app", "0.1", "--json")),
        ("result", (*CALLS["posterior"][:-2], "--json")),
        ("result", (*CALLS["classes"][:-2], "--json")),
        ("result", (*CALLS["decisions"][:-2], "--json")),
        ("comparison", ("compare", "a.csv", "b.csv", "--bootstrap", "39", "--json")),
    ],
)
def test_json_follows_the_published_schema(name, words, folder, monkeypatch):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed: pip install jsonschema")
    found = run(folder, *words, monkeypatch=monkeypatch)
    assert found.exit_code == 0, found.stderr
    document = json.loads(found.stdout)
    jsonschema.Draft202012Validator(published()[name]).validate(document)
    assert list(faults(document, published()[name])) == []


@pytest.mark.parametrize("method", METHODS)
def test_a_saved_model_follows_the_published_schema(method, folder, monkeypatch):
    several = ("m.csv", "--meaning", "log-likelihoods", "--class-columns", "x,y,z")
    two = ("p.csv", "--meaning", "posterior", "--trained-prior", "0.5")
    words = several if method in CLASS_METHODS else two
    more = ("--penalty", "0.1") if method in PENALISED else ()
    found = run(folder, "calibrate", "fit", *words, "--method", method, *more, "-o", "m.json", monkeypatch=monkeypatch)
    assert found.exit_code == 0, found.stderr
    assert list(faults(json.loads((folder / "m.json").read_text()), published()["model"])) == []


def test_a_saved_fusion_and_a_saved_rule_follow_the_schema_of_models(folder, monkeypatch):
    for words in (("fuse", "a.csv", "b.csv", "--penalty", "0.1"), ("rule", "fit", "a.csv", "--fpr-at-most", "0.2")):
        found = run(folder, *words, "-o", "m.json", monkeypatch=monkeypatch)
        assert found.exit_code == 0, found.stderr
        assert list(faults(json.loads((folder / "m.json").read_text()), published()["model"])) == []


@pytest.mark.parametrize(
    ("rows", "hint"),
    [
        ("0.9,1\n0.2,0\n0.7,1\n0.4,0\n", "lie in 0..1"),
        ("9,1\n2,0\n7,1\n4,0\n", "no score is negative"),
        ("-3,1\n2,0\n-1,1\n4,0\n", "score lower than non-targets"),
        ("90,1\n-2,0\n7,1\n-4,0\n", "claim near certainty"),
    ],
)
def test_scores_that_look_otherwise_give_a_hint(rows, hint, tmp_path, monkeypatch):
    (tmp_path / "s.csv").write_text("score,label\n" + rows)
    found = run(tmp_path, "evaluate", "s.csv", "--app", "0.5", monkeypatch=monkeypatch)
    assert found.exit_code == 0, found.stderr
    assert hint in found.stderr
    assert hint not in found.stdout
    quiet = run(tmp_path, "evaluate", "s.csv", "--app", "0.5", "--quiet", monkeypatch=monkeypatch)
    assert quiet.stderr == ""
    assert quiet.stdout == found.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("decide", "s.csv", "--app", "0.5", "-o", "d.csv"),
        ("compare", "s.csv", "t.csv", "--app", "0.5"),
        ("gaps", "s.csv", "--app", "0.5", "--between", "site"),
        ("primary", "s.csv", "--points", "sre16"),
        ("forensics", "report", "s.csv", "--bootstrap", "39"),
    ],
)
def test_every_command_that_needs_llrs_hints_at_probabilities(words, tmp_path, monkeypatch):
    for name in "st":
        rows = [f"{((i * 7) % 11) / 25 + 0.1 + 0.2 * (i % 2):.4f},{i % 2},{'xy'[i % 3 == 0]}" for i in range(90)]
        (tmp_path / f"{name}.csv").write_text("score,label,site\n" + "\n".join(rows) + "\n")
    found = run(tmp_path, *words, monkeypatch=monkeypatch)
    assert found.exit_code == 0, found.stderr
    assert "s: hint: all scores lie in 0..1 and were taken as llrs" in found.stderr


@pytest.mark.parametrize("command", [("evaluate",), ("decide", "-o", "d.csv"), ("compare", "t.csv")])
def test_the_second_of_two_columns_is_the_target_and_a_hint_says_so(command, tmp_path, monkeypatch):
    """Alphabetical order, which scikit-learn gives its columns, made "ok" the target and turned the costs round."""
    rows = [f"{0.2 + 0.4 * (i % 2) + (i * 7 % 11) / 50:.4f},{'ok' if i % 3 else 'fraud'}" for i in range(90)]
    for name in "st":
        lines = [f"{p},{1 - float(p):.4f},{label}" for p, label in (row.split(",") for row in rows)]
        (tmp_path / f"{name}.csv").write_text("fraud,ok,label\n" + "\n".join(lines) + "\n")
    words = (command[0], "s.csv", *command[1:], "--meaning", "posteriors", "--app", "0.005,200,5")
    found = run(tmp_path, *words, "--trained-prior", "0.3,0.7", monkeypatch=monkeypatch)
    assert found.exit_code == 0, found.stderr
    assert "the second, 'ok', was taken as the target. If 'fraud' is, give --class-columns" in found.stderr
    ordered = (*words, "--trained-prior", "0.7,0.3", "--class-columns", "ok,fraud")
    assert "was taken as the target" not in run(tmp_path, *ordered, monkeypatch=monkeypatch).stderr


# Every JSON has its schema

FIELD_CALLS = {
    "select": ("select", "a.csv", "--app", "0.1"),
    "count": ("count", "--matrix", "8,1;2,9"),
    "rule-fit": ("rule", "fit", "a.csv", "--fpr-at-most", "0.2", "-o", "rule.json"),
    "rule-judge": ("rule", "judge", "rule.json", "a.csv"),
    "coverage": ("coverage", "a.csv", "--app", "0.3,1,1"),
    "prevalence": ("prevalence", "a.csv", "--calibrate-on", "b.csv"),
    "gaps": ("gaps", "g.csv", "--between", "site", "--app", "0.5"),
    "calibration": ("calibration", "a.csv"),
    "sensitivity-inputs": (
        "sensitivity",
        "inputs",
        "a.csv",
        "--prior",
        "0.01:0.05",
        "--cost-fn",
        "5",
        "--cost-fp",
        "1",
    ),
    "sensitivity-labels": ("sensitivity", "labels", "a.csv", "--app", "0.1", "--wrong-targets", "0,0.05"),
    "sensitivity-verification": ("sensitivity", "verification", "--accepted", "20,5,10", "--rejected", "2,30,60"),
    "primary": ("primary", "a.csv", "--points", "sre16"),
    "biometrics-fnmr": ("biometrics", "fnmr", "a.csv", "--fmr", "0.1"),
    "biometrics-rates": ("biometrics", "rates", "a.csv", "--threshold", "0"),
    "biometrics-plan": ("biometrics", "plan", "--rate", "0.01"),
    "biometrics-attacks": ("biometrics", "attacks", "pad.csv", "--target", "bonafide", "--threshold", "0"),
    "spoofing-a-dcf": ("spoofing", "a-dcf", "sasv.csv", "--ci", "95", "--bootstrap", "39"),
    "spoofing-t-dcf": ("spoofing", "t-dcf", "cm.csv", "--asv", "sasv.csv", "--target", "bonafide"),
    "spoofing-t-eer": ("spoofing", "t-eer", "sasv.csv", "cm.csv", "--target", "bonafide"),
    "forensics-report": ("forensics", "report", "a.csv", "--bootstrap", "39"),
    "forensics-bounds": ("forensics", "bounds", "a.csv"),
    "forensics-interval": ("forensics", "interval", "a.csv", "--calibrate-on", "b.csv", "--bootstrap", "39"),
    "sweep": ("sweep", "a.csv", "b.csv", "--app", "0.1"),
    "sample-size": ("sample-size", "--rate", "0.1", "--half-width", "0.05"),
    "points": ("points",),
}


def test_every_command_with_json_has_a_published_schema():
    context, found = click.Context(main), set()
    for name in COMMANDS:
        command = main.get_command(context, name)
        inner = (
            {f"{name}-{one}": each for one, each in command.commands.items()} if hasattr(command, "commands") else {}
        )
        found |= {
            called for called, one in (inner or {name: command}).items() if any(p.name == "as_json" for p in one.params)
        }
    assert found - {"evaluate", "compare"} == set(published()) - {"result", "comparison", "model"}


def test_every_schema_has_a_real_output_that_is_held_to_it():
    assert {*FIELD_CALLS, "result", "comparison", "model"} == set(published())


@pytest.mark.parametrize("name", FIELD_CALLS)
def test_the_json_of_each_command_follows_its_schema(name, folder, monkeypatch):
    jsonschema = pytest.importorskip("jsonschema", reason="jsonschema is not installed: pip install jsonschema")
    rows = [f"{((i * 37) % 19) / 6 - 1.5 + (i % 2)},{i % 2},{'xy'[i % 3 == 0]}" for i in range(120)]
    (folder / "g.csv").write_text("score,label,site\n" + "\n".join(rows) + "\n")
    made = {
        "pad.csv": ("score,label,pai", lambda i: f"{i % 2},{('attack', 'bonafide')[i % 2]},{('print', '-')[i % 2]}"),
        "sasv.csv": ("score,label", lambda i: f"{(i % 3 == 0) * 2},{('target', 'nontarget', 'spoof')[i % 3]}"),
        "cm.csv": ("score,label", lambda i: f"{(i % 3 != 2) * 2},{('bonafide', 'bonafide', 'spoof')[i % 3]}"),
    }
    for file, (header, row) in made.items():
        lines = [
            f"{((i * 37) % 19) / 6 - 1.5 + float(row(i).split(',')[0])},{row(i).partition(',')[2]}" for i in range(120)
        ]
        (folder / file).write_text("\n".join([header, *lines]) + "\n")
    if name == "rule-judge":
        run(folder, *FIELD_CALLS["rule-fit"], monkeypatch=monkeypatch)
    found = run(folder, *FIELD_CALLS[name], "--json", monkeypatch=monkeypatch)
    assert found.exit_code == 0, found.stderr
    document = json.loads(found.stdout)
    assert list(document)[:2] == ["schema_version", "tercet"]
    jsonschema.Draft202012Validator(published()[name]).validate(document)
    assert list(faults(document, published()[name])) == []


def test_a_result_of_another_schema_is_refused_in_a_sentence(folder, monkeypatch):
    found = run(folder, "evaluate", "a.csv", "--app", "0.1", "--json", monkeypatch=monkeypatch)
    document = json.loads(found.stdout) | {"schema_version": 0}
    (folder / "old.json").write_text(json.dumps(document))
    for words in (("check", "old.json", "--fail-if", "dcf>1"), ("report", "old.json", "-o", "p.html")):
        refused = run(folder, *words, monkeypatch=monkeypatch)
        assert refused.exit_code == 1
        written = f"has schema version 0 (written by tercet {document['tercet']}); this tercet reads version 1"
        assert written in " ".join(refused.stderr.split())
