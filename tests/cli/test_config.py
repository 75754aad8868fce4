"""tercet.toml: settings of a team, read by every command."""

import json

import pytest
from click.testing import CliRunner

from tercet.cli.main import main

ROWS = "points,y\n" + "".join(f"{(i % 7) - 3 + (i % 2) * 1.5},{['ok', 'fraud'][i % 2]}\n" for i in range(100))
SETTINGS = """
score-column = "points"
label-column = "y"
target = "fraud"
app = ["live", [0.5, 1, 1]]

[points]
live = [0.005, 200, 5]

[evaluate]
bayes-plot = [-2, 2, 5]
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scores.csv").write_text(ROWS)
    (tmp_path / "tercet.toml").write_text(SETTINGS)
    return tmp_path


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def test_the_file_is_read_by_itself_and_gives_what_would_be_typed(folder):
    found = run("evaluate", "scores.csv", "--json")
    assert found.exit_code == 0, found.stderr
    (system,) = json.loads(found.stdout)["systems"]
    assert [(app["prior"], app["cost_fn"], app["cost_fp"]) for app in system["applications"]] == [
        (0.005, 200.0, 5.0),
        (0.5, 1.0, 1.0),
    ]
    assert system["class_names"] == ["ok", "fraud"]
    assert system["bayes_plot"]["log_odds"] == [-2.0, -1.0, 0.0, 1.0, 2.0]


def test_what_is_typed_goes_before_the_file(folder):
    found = run("evaluate", "scores.csv", "--app", "0.1", "--json")
    assert [app["prior"] for app in json.loads(found.stdout)["systems"][0]["applications"]] == [0.1]
    named = run("evaluate", "scores.csv", "--app", "live", "--json")
    assert [app["prior"] for app in json.loads(named.stdout)["systems"][0]["applications"]] == [0.005]


def test_another_file_is_named_and_other_commands_read_it_too(folder):
    (folder / "tercet.toml").rename(folder / "other.toml")
    assert run("decide", "scores.csv", "--app", "0.5").exit_code == 1
    assert run("decide", "scores.csv", "--app", "live", "--config", "other.toml").exit_code == 0
    assert run("evaluate", "scores.csv", "--config", "missing.toml").exit_code == 1


def test_a_setting_that_does_not_apply_to_a_run_is_left_out(folder):
    (folder / "many.csv").write_text("a,b,c,y\n" + "".join(f"{i % 2},{i % 3},1,{'abc'[i % 3]}\n" for i in range(30)))
    words = ["--meaning", "log-likelihoods", "--class-columns", "a,b,c", "--priors", ".3,.4,.3"]
    settings = SETTINGS.replace("app =", "# app =")
    (folder / "tercet.toml").write_text(settings)
    found = run("evaluate", "many.csv", *words, "--json")
    assert found.exit_code == 0, found.stderr


def test_the_points_of_the_file_are_listed_and_named_in_results(folder):
    rows = json.loads(run("points", "--json").stdout)["rows"]
    (live,) = [row for row in rows if row["name"] == "live"]
    assert (live["prior"], live["cost_fn"], live["cost_fp"], live["source"]) == (0.005, 200.0, 5.0, "tercet.toml")
    found = json.loads(run("evaluate", "scores.csv", "--app", "live", "--json").stdout)
    assert found["systems"][0]["applications"][0]["name"] == "live"


def test_several_points_of_the_file_do_not_stop_a_command_that_takes_one_or_none(folder):
    for words in (
        ("count", "--matrix", "8,1;2,9"),
        ("coverage", "scores.csv"),
        ("decide", "scores.csv", "--fpr-at-most", "0.1"),
    ):
        found = run(*words)
        assert found.exit_code == 0, found.stderr


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ("targt = 1", "Did you mean target"),
        ("[evaluate]\nbayesplot = 1", "Did you mean bayes-plot"),
        ("target = {a = 1}", "cannot be"),
        ("nonsense", "is not TOML"),
        ("evaluate = 1", "must be a table"),
        ("[evaluate]\njson = 3", "true or false"),
        ("points = 3", "must be a table of operating points"),
        (
            'score-column = "points"\nlabel-column = "y"\ntarget = "fraud"\napp = "liev"\n[points]\nlive = 0.1',
            "'liev' is not a known operating point. Did you mean live",
        ),
        (
            'score-column = "points"\nlabel-column = "y"\ntarget = "fraud"\napp = "live"\n[points]\nlive = [1, 2]',
            "--app live takes 3 numbers",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(folder, settings, message):
    (folder / "tercet.toml").write_text(settings)
    found = run("evaluate", "scores.csv")
    assert found.exit_code == 1
    assert message in found.stderr
