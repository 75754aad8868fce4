"""Rows in a page: only when asked for by name, few, and standing for all."""

import json
import re

import numpy as np
import pytest
from click.testing import CliRunner

import tercet as tc
from tercet.cli.main import main
from tercet.errors import InputError
from tercet.io import write_table
from tercet.report.packing import kept_rows, with_rows
from tercet.report.page import document_of, page


def several(count=300, classes=3, seed=0, **more):
    rng = np.random.default_rng(seed)
    labels = rng.choice(classes, count, p=np.arange(1, classes + 1) / np.arange(1, classes + 1).sum())
    labels[:classes] = np.arange(classes)
    scores = rng.normal(size=(count, classes)) + 2 * np.eye(classes)[labels] + 12345.678
    return tc.Trials.of_log_likelihoods(scores, labels, **{"name": "several", **more})


def evaluated(trials, **more):
    return tc.evaluate(trials, [tc.Application.multiclass([1 / 3] * 3)], **more)


def embedded(text):
    return json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])


def test_unless_asked_for_nothing_of_the_rows_is_in_the_page():
    trials = several(ids=[f"person {i}" for i in range(300)])
    text = page(document_of(evaluated(trials)))
    assert "posteriors" not in embedded(text)["systems"][0]
    assert "log_likelihoods" not in json.dumps(embedded(text))
    asked = page(document_of(evaluated(trials), trials))
    assert len(embedded(asked)["systems"][0]["posteriors"]["labels"]) == 300
    assert "person" not in asked  # no id even then
    assert len(text) < len(asked)


def test_a_small_set_is_kept_whole_and_each_row_up_to_a_constant():
    trials = several()
    kept = kept_rows(trials)
    assert (kept["kept"], kept["of"], kept["seed"], kept["weights"]) == (300, 300, None, None)
    assert kept["labels"] == trials.labels.tolist()
    rows = np.array(kept["log_likelihoods"])
    assert (rows.max(axis=1) == 0.0).all()
    np.testing.assert_allclose(rows, trials.scores - trials.scores.max(axis=1, keepdims=True), rtol=0, atol=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
def test_of_a_large_set_each_class_gives_as_many_and_weighs_as_before(weighted):
    weights = np.random.default_rng(1).random(20_000) if weighted else None
    if weighted:
        weights[::3] = 0.0
    trials = several(20_000, 4, weights=weights)
    kept = kept_rows(trials, most=1000, seed=3)
    labels = np.array(kept["labels"])
    assert (kept["kept"], kept["of"], kept["seed"]) == (1000, 20_000, 3)
    assert np.bincount(labels).tolist() == [250] * 4
    own = np.ones(20_000) if weights is None else weights
    np.testing.assert_allclose(np.bincount(labels, kept["weights"]), np.bincount(trials.labels, own), rtol=1e-12)
    assert kept == kept_rows(trials, most=1000, seed=3)
    assert kept["log_likelihoods"] != kept_rows(trials, most=1000, seed=4)["log_likelihoods"]


def test_what_a_rare_class_leaves_free_goes_to_the_others():
    labels = np.repeat([0, 1, 2], [10, 3000, 5000])
    trials = tc.Trials.of_log_likelihoods(np.zeros((8010, 3)), labels)
    assert np.bincount(kept_rows(trials)["labels"]).tolist() == [10, 995, 995]


def test_its_size_is_bounded_whatever_the_number_of_classes():
    trials = several(5000, 30)
    kept = kept_rows(trials)
    assert 30 * kept["kept"] <= 20_000
    with pytest.raises(InputError, match="at most 30 classes, not of 31"):
        kept_rows(several(400, 31))


def test_what_does_not_fit_is_refused_with_a_sentence():
    trials = several()
    two = tc.Trials.of_llr([1.0, -1.0], [1, 0])
    with pytest.raises(InputError, match="one column per class"):
        kept_rows(two)
    with pytest.raises(InputError, match="no labels"):
        kept_rows(tc.Trials.of_log_likelihoods([[0.0, 1.0, 2.0]]))
    with pytest.raises(InputError, match="at least one for each"):
        kept_rows(trials, most=2)
    with pytest.raises(InputError, match="two classes the page needs none"):
        with_rows(tc.evaluate(two).to_dict(), trials)
    with pytest.raises(InputError, match="not the trials that were evaluated"):
        document_of(evaluated(trials), several(seed=1))
    with pytest.raises(InputError, match="0 systems have several classes"):
        document_of(tc.evaluate(two), trials)
    with pytest.raises(InputError, match="'other'"):
        document_of(evaluated(trials), {"other": trials})
    with pytest.raises(InputError, match="2 systems have several classes"):
        document_of([evaluated(trials), evaluated(trials)], trials)


def test_the_command_line_asks_for_rows_by_name(tmp_path):
    trials = several(200)
    names = ["a", "b", "c"]
    columns = {name: trials.scores[:, place] for place, name in enumerate(names)}
    write_table(tmp_path / "scores.csv", {**columns, "label": np.array(names)[trials.labels]})
    asked = [
        "evaluate",
        "scores.csv",
        "--meaning",
        "log-likelihoods",
        "--class-columns",
        "a,b,c",
        "--priors",
        "0.2,0.3,0.5",
    ]

    def run(*words):
        return CliRunner().invoke(
            main, [str(tmp_path / word) if re.search(r"\.[a-z]+$", word) else word for word in words]
        )

    without = json.loads(run(*asked, "--json").stdout)
    assert "posteriors" not in without["systems"][0]
    result = run(*asked, "--with-posteriors", "--json", "--report", "page.html")
    found = json.loads(result.stdout)["systems"][0]["posteriors"]
    assert (found["kept"], found["of"]) == (200, 200)
    (tmp_path / "result.json").write_text(result.stdout)
    assert run("report", "result.json", "-o", "again.html").exit_code == 0
    kept = [embedded((tmp_path / name).read_text())["systems"][0]["posteriors"] for name in ("page.html", "again.html")]
    assert kept[0] == kept[1]
    write_table(tmp_path / "two.csv", {"score": np.array([1.0, -1.0]), "label": np.array([1, 0])})
    refused = run("evaluate", "two.csv", "--with-posteriors")
    assert refused.exit_code == 2
    assert "cannot be combined with --meaning llr; it is for log-likelihoods" in refused.stderr


@pytest.mark.parametrize(("count", "words"), [(2000, "2,000 rows: exact"), (2001, "2,000 of 2,001 rows")])
def test_rows_that_are_kept_as_doubles_are_counted_exactly(count, words):
    trials = several(count)
    assert words in page(document_of(evaluated(trials), trials))


def test_the_page_says_where_rows_are_kept_in_16_bits():
    trials = several(2000, 4)  # 8,000 numbers
    found = tc.evaluate(trials, [tc.Application.multiclass([1 / 4] * 4)])
    assert "2,000 rows, kept in 16 bits: approximate" in page(document_of(found, trials))
