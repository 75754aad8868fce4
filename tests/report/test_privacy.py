"""A private result: no score can be read back from it, and what it says about its error holds."""

import json
from itertools import pairwise

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import tercet as tc
from tercet.application import normalised_dcf
from tercet.cli.main import main
from tercet.metrics.curve_summary import interpolated
from tercet.report.page import document_of, page
from tercet.report.privacy import LEAST, private


def drawn(count, seed=0, meaning="llr"):
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 3 == 0
    scores = rng.normal(size=count) + 2.0 * labels
    if meaning == "posterior":
        return tc.Trials.of_posteriors(1 / (1 + np.exp(-scores)), labels, trained_prior=0.2)
    return tc.Trials.of_scores(scores, labels) if meaning == "raw" else tc.Trials.of_llr(scores, labels)


def coarse(trials):
    return private(document_of(tc.evaluate(trials, [(0.1, 1, 1), (0.5, 1, 1)])))["systems"][0]


@pytest.mark.parametrize("meaning", ["llr", "posterior", "raw"])
@pytest.mark.parametrize("count", [40, 500, 3000])
def test_no_score_can_be_read_back(count, meaning):
    trials = drawn(count, meaning=meaning)
    found = coarse(trials)
    curve = found["curve"]
    for steps in (np.diff(curve["misses"]), -np.diff(curve["false_alarms"])):
        assert all(step == 0 or step >= LEAST for step in steps)
    numbers = set(_numbers({key: found[key] for key in ("curve", "histogram", "eer", "applications")}))
    assert not numbers & set(trials.scores.tolist())
    bins = [one for key in ("targets", "nontargets") for one in found["histogram"][key]["bins"]]
    assert all(one == 0 or one >= LEAST for one in bins)


def _numbers(value):
    for one in value.values() if isinstance(value, dict) else value:
        if isinstance(one, dict | list | tuple):
            yield from _numbers(one)
        elif isinstance(one, float):
            yield one


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(30, 800))
def test_costs_read_off_are_within_the_error_that_is_stated(seed, count):
    trials = drawn(count, seed)
    found, exact = coarse(trials)["curve"], tc.Tally.of(trials)
    log_odds = np.random.default_rng(seed).uniform(-3, 3, 300)
    misses, alarms = exact.at(-log_odds)
    true = normalised_dcf(log_odds, misses / found["targets"], alarms / found["nontargets"])
    read = [interpolated(found, key, -log_odds) for key in ("misses", "false_alarms")]
    cost = normalised_dcf(log_odds, read[0] / found["targets"], read[1] / found["nontargets"])
    assert np.max(np.abs(true - cost)) <= found["private"]["cost_error"]


def test_the_hull_of_the_kept_points_is_convex_and_among_them():
    curve = coarse(drawn(500))["curve"]
    hull = curve["hull"]
    points = list(zip(hull["misses"], hull["false_alarms"], strict=True))
    assert set(points) <= set(zip(curve["misses"], curve["false_alarms"], strict=True))
    slopes = [(b[1] - a[1]) / (b[0] - a[0]) for a, b in pairwise(points) if b[0] > a[0]]
    assert slopes == sorted(slopes)


def test_the_page_says_whether_scores_can_be_read_back(tmp_path):
    trials = drawn(500)
    document = document_of(tc.evaluate(trials, [(0.1, 1, 1)]))
    assert "Every score with its label can be read back" in page(document)
    assert "Single scores with their labels can be read back" in page(document_of(tc.evaluate(drawn(5000))))
    closed = page(private(document))
    assert "Scores cannot be read back: at least 10 trials" in closed
    assert "normalised costs at prior log-odds in -3..3 by at most" in closed
    tc.report(tc.evaluate(trials, [(0.1, 1, 1)]), tmp_path / "page.html", private=True)
    assert "Scores cannot be read back" in (tmp_path / "page.html").read_text()


def test_the_command_line_writes_a_private_page_and_json(tmp_path):
    scores = tmp_path / "a.csv"
    trials = drawn(300)
    rows = "".join(f"{s},{y}\n" for s, y in zip(trials.scores, trials.labels.astype(int), strict=True))
    scores.write_text("score,label\n" + rows)
    plain = CliRunner().invoke(main, ["evaluate", str(scores), "--json", "--app", "0.1,1,1"])
    result = tmp_path / "result.json"
    result.write_text(plain.stdout)
    made = CliRunner().invoke(main, ["report", str(result), "-o", str(tmp_path / "p.html"), "--private"])
    assert made.exit_code == 0, made.stderr
    assert "Scores cannot be read back" in (tmp_path / "p.html").read_text()
    closed = CliRunner().invoke(main, ["evaluate", str(scores), "--json", "--app", "0.1,1,1", "--private"])
    facts = json.loads(closed.stdout)["systems"][0]
    assert facts["curve"]["private"]["cost_error"] > 0
    assert facts["applications"][0]["dcf"] == json.loads(plain.stdout)["systems"][0]["applications"][0]["dcf"]
    result.write_text(closed.stdout)
    assert CliRunner().invoke(main, ["report", str(result), "-o", str(tmp_path / "q.html")]).exit_code == 0
    refused = CliRunner().invoke(main, ["evaluate", str(scores), "--private", "--format", "table"])
    assert refused.exit_code == 2


def test_weights_and_rows_of_posteriors_are_refused():
    weighted = tc.Trials.of_llr([1.0, -1.0, 2.0], [1, 0, 0], weights=[1.0, 0.5, 1.0])
    with pytest.raises(tc.InputError, match="equal weight"):
        private(document_of(tc.evaluate(weighted)))
    with pytest.raises(tc.InputError, match="posteriors"):
        private({"systems": [{"posteriors": {}}]})
