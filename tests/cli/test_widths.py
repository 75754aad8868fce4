"""At 60, 80 and 120 columns no command splits a word or a number of its result."""

import re

import click
import click.testing
import numpy as np
import pytest
from click.testing import CliRunner

from tercet.cli.main import main

CALLS = {
    "demo": ("demo", "--out", "demo"),
    "evaluate": ("evaluate", "a.csv", "long_name_of_a_system_that_needs_room.csv", "--app", "0.01,10,1", "--ci", "95"),
    "rule fit": ("rule", "fit", "a.csv", "--fpr-at-most", "0.1", "-o", "rule.json"),
    "rule judge": ("rule", "judge", "rule.json", "b.csv"),
    "count": ("count", "--matrix", "2680,23;72,28", "--prevalence", "0.1"),
    "coverage": ("coverage", "a.csv", "--app", "0.3,1,1", "--price", "0.1"),
    "prevalence": ("prevalence", "b.csv", "--calibrate-on", "a.csv"),
    "gaps": ("gaps", "a.csv", "--app", "0.3,1,1", "--between", "sex"),
    "calibration": ("calibration", "a.csv", "--bootstrap", "19"),
    "calibrate fit": ("calibrate", "fit", "a.csv", "-o", "model.json"),
    "fuse": ("fuse", "a.csv", "b.csv", "-o", "fusion.json"),
    "select": ("select", "a.csv", "--app", "0.1"),
    "compare": ("compare", "a.csv", "b.csv", "--app", "0.1,1,1"),
    "compare resampled": ("compare", "a.csv", "b.csv", "--app", "0.1,1,1", "--bootstrap", "99"),
    "sample-size": ("sample-size", "--app", "0.1,1,1", "--fnr", "0.1", "--fpr", "0.1", "--half-width", "0.1"),
    "sensitivity inputs": ("sensitivity", "inputs", "a.csv", "--prior", "0.05:0.2"),
    "primary": ("primary", "a.csv", "--points", "sre16"),
    "biometrics fnmr": ("biometrics", "fnmr", "a.csv", "--fmr", "0.1"),
    "biometrics rates": ("biometrics", "rates", "a.csv", "--threshold", "1"),
    "biometrics plan": ("biometrics", "plan", "--rate", "0.01"),
    "spoofing a-dcf": ("spoofing", "a-dcf", "sasv.csv"),
    "forensics bounds": ("forensics", "bounds", "a.csv"),
    "forensics bounded": ("forensics", "bounded", "model.json", "b.csv", "-o", "bounded.json"),
    "forensics interval": ("forensics", "interval", "a.csv", "--calibrate-on", "b.csv", "--bootstrap", "39"),
    "sweep": ("sweep", "a.csv", "b.csv"),
    "points": ("points",),
    "metrics": ("metrics",),
    "decide": ("decide", "a.csv", "--app", "0.1,1,1", "-o", "decided.csv"),
    "calibrate apply": ("calibrate", "apply", "model.json", "a.csv", "-o", "calibrated.csv"),
    "rule apply": ("rule", "apply", "rule.json", "a.csv", "-o", "accepted.csv"),
    "card": ("card", "result.json", "-o", "card.md"),
    "report": ("report", "result.json", "-o", "page.html"),
    "plot": ("plot", "a.csv", "b.csv", "-o", "figure.svg"),
    "assemble": ("assemble", "a.csv", "-o", "whole.csv"),
    "check": ("check", "result.json", "--fail-if", "dcf>9"),
    "forensics report": ("forensics", "report", "a.csv", "--bootstrap", "39"),
    "biometrics attacks": ("biometrics", "attacks", "pad.csv", "--target", "bonafide"),
    "spoofing t-dcf": ("spoofing", "t-dcf", "cm.csv", "--asv", "sasv.csv", "--target", "bonafide"),
    "spoofing t-eer": ("spoofing", "t-eer", "sasv.csv", "cm.csv", "--target", "bonafide"),
    "sensitivity labels": ("sensitivity", "labels", "a.csv", "--app", "0.1,1,1"),
    "sensitivity verification": ("sensitivity", "verification", "--accepted", "28,23,5", "--rejected", "2,68,300"),
}  # fmt: skip


def leaves(command, before=()):
    """Every command by its words."""
    if not isinstance(command, click.Group):
        return [" ".join(before)]
    context = click.Context(command)
    names = command.list_commands(context)
    return [leaf for name in names for leaf in leaves(command.get_command(context, name), (*before, name))]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("widths")
    rng = np.random.default_rng(0)
    labels = np.arange(120) % 2
    for name, shift in (("a", 2.0), ("b", 1.5), ("long_name_of_a_system_that_needs_room", 1.0)):
        rows = [
            f"{float(s)!r},{y},{'fm'[k % 3 == 0]}"
            for k, (s, y) in enumerate(zip(rng.normal(size=120) + shift * labels - 1, labels, strict=True))
        ]
        (path / f"{name}.csv").write_text("score,label,sex\n" + "\n".join(rows) + "\n")
    classes = ["target", "nontarget", "spoof"]
    rows = [f"{float(rng.normal() + 2 * (k % 3 == 0))!r},{classes[k % 3]}" for k in range(120)]
    (path / "sasv.csv").write_text("score,label\n" + "\n".join(rows) + "\n")
    kinds = ["bonafide", "print", "video"]
    rows = [f"{float(rng.normal() + 3 * (k % 3 == 0))!r},{kinds[k % 3]},{kinds[k % 3]}" for k in range(90)]
    (path / "pad.csv").write_text("score,label,pai\n" + "\n".join(rows) + "\n")
    rows = [f"{float(rng.normal() + 3 * (k % 2))!r},{['spoof', 'bonafide'][k % 2]}" for k in range(90)]
    (path / "cm.csv").write_text("score,label\n" + "\n".join(rows) + "\n")
    scores = str(path / "a.csv")
    result = CliRunner().invoke(main, ["evaluate", scores, "--app", "0.1", "--json"])
    (path / "result.json").write_text(result.stdout)
    for words in (("calibrate", "fit", scores, "-o"), ("rule", "fit", scores, "--fpr-at-most", "0.1", "-o")):
        name = "model.json" if words[0] == "calibrate" else "rule.json"
        assert CliRunner().invoke(main, [*words, str(path / name)]).exit_code == 0
    return path


def printed(folder, words, columns, monkeypatch):
    """What a terminal of this many columns shows."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(click.testing._NamedTextIOWrapper, "isatty", lambda self: True)
    found = CliRunner().invoke(main, list(words))
    assert found.exit_code == 0, found.stderr
    return re.sub(r"\x1b\[[0-9;]*m", "", found.stdout)


def test_every_command_is_tried_or_named():
    tried = {name.removesuffix(" resampled") for name in CALLS}
    assert tried == set(leaves(main))


@pytest.mark.parametrize("called", CALLS)
def test_no_word_or_number_is_split_from_60_to_200_columns(called, folder, monkeypatch):
    wide = printed(folder, CALLS[called], 300, monkeypatch)
    words = {word.strip("().,;:") for word in re.findall(r"\S+", wide)}
    numbers = {word for word in words if re.fullmatch(r"[-+−]?[\d,]*\.?\d+(e[-+]\d+)?", word)}
    for columns in (60, 80, 120, 200):
        narrow = printed(folder, CALLS[called], columns, monkeypatch)
        longest = max(narrow.splitlines(), key=len, default="")
        assert len(longest) <= columns, longest
        found = {word.strip("().,;:") for word in re.findall(r"\S+", narrow)}
        assert numbers - found == set(), columns
        own = {word for word in found if word.isalpha() and len(word) > 3}
        assert own - words <= {"few"}, (columns, own - words)  # a part of a word would be a new word


def test_p_values_are_not_below_what_the_resamples_can_show(folder, monkeypatch):
    assert "< 0.02" in printed(folder, CALLS["compare resampled"], 120, monkeypatch)


def test_columns_of_words_are_broken_over_lines_before_a_table_is_given_up(folder, monkeypatch):
    lines = printed(folder, CALLS["count"], 120, monkeypatch).splitlines()
    assert re.match(r"rate +value +low +high +also +method", lines[0])
    assert re.match(r"tpr +[\d.]+ +[\d.]+ +[\d.]+  sensitivity, recall, hit_rate", lines[1])


def test_a_block_of_lines_that_begins_with_a_number_says_what_it_is(folder, monkeypatch):
    assert printed(folder, CALLS["sensitivity labels"], 60, monkeypatch).startswith("wrong_targets 0\n")
