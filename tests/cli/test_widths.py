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
    "sweep": ("sweep", "a.csv", "b.csv"),
    "points": ("points",),
    "metrics": ("metrics",),
}  # fmt: skip
# Commands whose output is rows of trials, a file, or the sentences of another command above.
SILENT = {
    "decide", "calibrate apply", "rule apply", "card", "report", "plot", "assemble", "check", "example",
    "forensics report", "biometrics attacks", "spoofing t-dcf", "spoofing t-eer", "sensitivity labels",
    "sensitivity verification",
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
    return path


def printed(folder, words, columns, monkeypatch):
    """What a terminal of so many columns shows."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setattr(click.testing._NamedTextIOWrapper, "isatty", lambda self: True)
    found = CliRunner().invoke(main, list(words))
    assert found.exit_code == 0, found.stderr
    return re.sub(r"\x1b\[[0-9;]*m", "", found.stdout)


def test_every_command_is_tried_or_named():
    tried = {name.removesuffix(" resampled") for name in CALLS}
    assert set(leaves(main)) <= tried | SILENT


@pytest.mark.parametrize("called", CALLS)
def test_no_word_or_number_is_split_at_60_80_and_120_columns(called, folder, monkeypatch):
    wide = printed(folder, CALLS[called], 300, monkeypatch)
    words = {word.strip("().,;:") for word in re.findall(r"\S+", wide)}
    numbers = {word for word in words if re.fullmatch(r"[-+−]?[\d,]*\.?\d+(e[-+]\d+)?", word)}
    for columns in (60, 80, 120):
        narrow = printed(folder, CALLS[called], columns, monkeypatch)
        longest = max(narrow.splitlines(), key=len, default="")
        assert len(longest) <= columns, longest
        found = {word.strip("().,;:") for word in re.findall(r"\S+", narrow)}
        assert numbers - found == set(), columns
        own = {word for word in found if word.isalpha() and len(word) > 3}
        assert own - words <= {"few"}, (columns, own - words)  # a part of a word would be a new word


def test_p_values_are_not_below_what_the_resamples_can_show(folder, monkeypatch):
    assert "< 0.02" in printed(folder, CALLS["compare resampled"], 120, monkeypatch)
