"""Each refusal of a command says in a sentence what is wrong; each less frequent option does what it says."""

import json
import re

import click
import pytest
from click.testing import CliRunner

from tercet.cli import _command
from tercet.cli.main import main


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Small files, each under a name of its own."""
    folder = tmp_path_factory.mktemp("refusals")
    rows = [(((i * 37) % 19) / 6 - 1.5 + (i % 2), i % 2, f"s{i % 5}", f"u{i}") for i in range(60)]
    text = "".join(f"{score},{label},{speaker},{speaker},{trial}\n" for score, label, speaker, trial in rows)
    for name in ("a.csv", "b.csv"):
        (folder / name).write_text("score,label,speaker,room,trial\n" + text)
    (folder / "map.txt").write_text("".join(f"{trial} {speaker}\n" for _, _, speaker, trial in rows))
    (folder / "lists.txt").write_text("s1 u1 target\ns2 u2 maybe\n")
    (folder / "scores.txt").write_text("s1 u1 1.5\ns2 u2 -0.5\n")
    (folder / "numbers.txt").write_text("1.0\n-1.0\n")
    (folder / "t.csv").write_text("x,y,label\n" + "".join(f"{i % 7},{(i * i) % 5},{i % 2}\n" for i in range(40)))
    (folder / "short.csv").write_text("x,y,label\n1,2,0\n1,0\n")
    (folder / "three.csv").write_text("x,y,label\n" + "".join(f"{i % 7},{(i * i) % 5},{i % 3}\n" for i in range(9)))
    (folder / "decided.csv").write_text("decision,label\n" + "1,1\n0,0\n1,0\n0,1\n" * 5)
    (folder / "no-model.json").write_text("{}")
    for name, words in {"raw.json": ("--meaning", "raw", "--app", "0.1"), "decided.json": ("--app", "0.5")}.items():
        how = ("decided.csv", "--meaning", "decisions") if name == "decided.json" else ("a.csv",)
        found = run("evaluate", folder / how[0], *how[1:], *words, "--json")
        assert found.exit_code == 0, found.stderr
        (folder / name).write_text(found.stdout)
    assert run("calibrate", "fit", folder / "a.csv", "-o", folder / "model.json").exit_code == 0
    return folder


REFUSED = [  # words, exit code, what the sentence holds
    ("plot a.csv --kind corp --app 0.1 -o f.png", 2, "--app has no effect with --kind corp"),
    ("plot a.csv --kind bayes-error --bands simultaneous -o f.png", 2, "--bands simultaneous is for"),
    ("plot a.csv --kind risk-coverage --app 0.1 --app 0.5 -o f.png", 2, "one operating point"),
    ("plot a.csv --kind rok -o f.png", 2, "--kind must be one of roc, det"),
    ("plot a.csv --kind forest -o f.png", 2, "--kind must be one of roc, det"),
    ("plot a.csv b.csv --kind corp -o f.png", 2, "corp shows one system; several can be drawn as roc, det"),
    ("plot a.csv --group-column speaker -o f.png", 2, "--group-column has no effect without --bands pointwise"),
    ("evaluate a.csv --label-column trial --target U1", 1, "Did you mean 'u1'?"),
    ("evaluate scores.txt", 1, "Labels come from --labels, from a column (--label-column) or from --key."),
    ("evaluate scores.txt --key lists.txt", 1, "the last holds 'maybe'"),
    ("evaluate a.csv --meaning posterior --trained-prior 0.5", 1, "If they mean something else, say so: llr, log-odds"),
    ("evaluate a.csv --app 0.1 --sort dcf", 2, "--sort has no effect on one system"),
    ("evaluate a.csv b.csv --app 0.1 --sort nothing", 2, "--sort: no quantity is called 'nothing'"),
    ("evaluate a.csv --priors 0.5,0.5 --cost-fn-column speaker", 2, "two-class operating point"),
    ("calibrate fit a.csv --method gaussian --prior 0.3 -o m.json", 2, "--prior has no effect on gaussian"),
    ("sample-size --app 0.1 --fnr 0.1 --half-width 0.1", 2, "--app needs both --fnr and --fpr"),
    ("sample-size raw.json --half-width 0.1", 1, "calibrate its scores first"),
    ("card decided.json", 1, "no card can be made from decided labels"),
    ("report decided.json -o page.html", 1, "no page can be made from decided labels"),
    ("calibrate apply no-model.json a.csv -o out.csv", 1, "is not a tercet model file"),
    ("calibrate apply model.json a.csv b.csv -o out.csv", 1, "calibrates one system and was given 2 files"),
    ("assemble numbers.txt numbers.txt --beside lists.txt -o out.csv", 2, "--beside takes one file"),
    ("count --matrix 3,1;1,3 --app 0.1 --app 0.5", 2, "count takes one operating point"),
    ("coverage a.csv --app 0.1 --app 0.5", 2, "coverage takes one operating point"),
    ("coverage a.csv --price 0.1 --quiet", 2, "add --json"),
    (
        "evaluate a.csv --app 0.1 --ci 95 --group-column speaker --group-column room --group-column trial",
        2,
        "At most two",
    ),
    ("gaps a.csv --between trial --app 0.5 --group-column speaker --group-column room", 2, "resamples by one group"),
    ("evaluate a.csv --priors 0.5,0.5 --costs 0-1 --costs 0-1", 2, "There are 2 --costs for 1 --priors"),
    ("evaluate a.csv --id-column trial --group-map map.txt --group-map map.txt --app 0.1 --ci 95", 2, "same name"),
    ("sensitivity inputs a.csv --prior beta:2 --cost-fn 1 --cost-fp 1", 2, "takes two numbers"),
    ("sensitivity inputs a.csv --prior beta:2:-1 --cost-fn 1 --cost-fp 1", 2, "takes two positive numbers"),
    ("sweep a.csv --app 0.1 --app 0.5", 2, "sweep takes one --app"),
    (
        "sweep --train t.csv --validation t.csv --held-out t.csv --held-out t.csv",
        2,
        "one file of samples",
    ),
    ("sweep --train t.csv --validation t.csv --score-column x", 2, "samples hold no scores"),
    ("sweep --train short.csv --validation t.csv", 1, "short.csv line 3 has 2 fields, the header 3"),
    ("sweep --train t.csv --validation t.csv --label-column z", 1, "needs a header with a column"),
    ("sweep --train three.csv --validation three.csv --target 1", 1, "must name one of two labels"),
    ("evaluate a.csv b.csv --app 0.1 --sort partial_auc:0.1", 1, "--metrics partial_auc:0.1 computes it"),
]


@pytest.mark.parametrize(("words", "code", "sentence"), REFUSED, ids=[words for words, _, _ in REFUSED])
def test_what_cannot_be_done_is_refused_in_a_sentence(files, monkeypatch, words, code, sentence):
    monkeypatch.chdir(files)
    found = run(*words.split())
    assert (found.exit_code, sentence in found.stderr) == (code, True), found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize("words", [words for words, code, _ in REFUSED if code == 2])
def test_wrong_use_is_refused_before_a_missing_file(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    assert run(*words.split()).exit_code == 2


@pytest.mark.parametrize("kind", ["decision-curve", "risk-coverage", "corp"])
def test_plot_draws_what_other_functions_compute(files, tmp_path, kind):
    found = run("plot", files / "a.csv", "--kind", kind, "-o", tmp_path / "f.svg")
    assert found.exit_code == 0, found.stderr
    assert (tmp_path / "f.svg").stat().st_size > 1000


def test_a_sample_size_for_an_area_has_both_classes():
    found = run("sample-size", "--auc", "0.9", "--half-width", "0.05", "--json")
    assert found.exit_code == 0, found.stderr
    (row,) = json.loads(found.stdout)["rows"]
    assert row["auc"] == 0.9
    assert min(row["targets"], row["nontargets"]) > 10


def test_a_card_goes_to_stdout_unless_a_file_is_named(files):
    found = run("card", files / "raw.json")
    assert found.exit_code == 0, found.stderr
    assert found.stdout.startswith("# ")


def test_rows_can_be_printed_as_latex():
    found = run("count", "--matrix", "90,2;10,8", "--target", "1", "--format", "latex")
    assert found.exit_code == 0, found.stderr
    assert r"\begin{tabular}" in found.stdout


def test_margins_are_tested_where_they_are_named(files):
    found = run("compare", files / "a.csv", files / "b.csv", "--app", "0.5", "--margin", "0.1")
    assert found.exit_code == 0, found.stderr
    assert re.search(
        r"equivalence of a over b in [^,]+, margin 0.1: (not )?shown, p = ", " ".join(found.stdout.split())
    )


def test_the_mean_over_an_evaluations_points_stands_beside_their_costs(files):
    found = run("evaluate", files / "a.csv", "--app", "sre16", "--json")
    assert found.exit_code == 0, found.stderr
    (system,) = json.loads(found.stdout)["systems"]
    (mean,) = system["means"]
    assert mean["dcf"] == pytest.approx(sum(row["dcf"] for row in system["applications"]) / 2)


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (FileNotFoundError(2, "No such file or directory", "x.csv"), "'x.csv': No such file or directory."),
        (OSError(28, "No space left on device"), "No space left on device."),
        (MemoryError(), "not enough memory."),
        (ModuleNotFoundError("no module", name="matplotlib"), "pip install 'tercet[plot]'"),
        (KeyError("k"), "a fault in tercet itself (KeyError: 'k'). Run it with --debug"),
    ],
)
def test_errors_of_other_kinds_are_sentences_and_come_back_whole_with_debug(monkeypatch, error, sentence):
    @_command.new_command("broken")
    def broken(**options):
        """Fails."""
        raise error

    found = CliRunner().invoke(broken, [])
    assert found.exit_code == 1
    assert sentence in found.stderr
    with pytest.raises(type(error)):
        CliRunner().invoke(broken, ["--debug"], catch_exceptions=False)
    assert isinstance(broken, click.Command)


def test_a_definition_of_the_eer_is_refused_where_no_eer_is_shown(files):
    words = ("evaluate", files / "a.csv", "--app", "0.1", "--eer", "nearest", "--metrics")
    found = run(*words, "auc,ppv")
    assert found.exit_code == 2
    assert "--eer has no effect on these --metrics" in found.stderr
    assert run(*words, "auc,eer").exit_code == 0
    assert run(*words, "auc,ppv", "--json").exit_code == 0


def test_bands_of_a_figure_can_be_by_speaker(files, tmp_path):
    words = ("plot", files / "a.csv", "--kind", "roc", "--bands", "pointwise")
    for name, more in {"plain.svg": (), "grouped.svg": ("--group-column", "speaker")}.items():
        found = run(*words, *more, "-o", tmp_path / name)
        assert found.exit_code == 0, found.stderr
    assert (tmp_path / "plain.svg").read_text() != (tmp_path / "grouped.svg").read_text()


def test_a_table_names_the_unit_of_its_intervals_and_the_prevalence_of_its_net_benefit(files):
    words = ("evaluate", files / "a.csv", "--app", "0.1", "--decision-curve", "--ci", "95", "--format", "table")
    grouped = run(*words, "--group-column", "speaker").stdout
    assert "its 95 % interval, by speaker." in grouped
    assert "net benefit at prevalence 0.5" in grouped
    assert "its 95 % interval." in run(*words).stdout


def test_several_labels_beside_the_target_are_said(files):
    said = run("evaluate", files / "a.csv", "--label-column", "speaker", "--target", "s1", "--app", "0.1").stderr
    assert "several labels beside the target 's1'" in said
