"""`tercet calibrate fit --engine`: the parts of one system, trained in bounded memory."""

import numpy as np
import pytest
from click.testing import CliRunner

import tercet as tc
from tercet.calibration.two_class import Gaussian, Isotonic, Logistic
from tercet.cli.main import main


@pytest.fixture
def files(tmp_path):
    """Two CSV files that are parts of one system, and the trials of both."""
    rng = np.random.default_rng(7)
    labels = rng.random(600) < 0.4
    scores = np.round(rng.normal(size=600) * 2 + labels, 3)
    paths = []
    for place, rows in enumerate((slice(0, 200), slice(200, 600))):
        lines = (f"{s!r},{int(y)}\n" for s, y in zip(scores[rows].tolist(), labels[rows], strict=True))
        paths.append(tmp_path / f"part-{place}.csv")
        paths[-1].write_text("score,label\n" + "".join(lines))
    return paths, tc.Trials.of_llr(scores, labels)


def fitted(tmp_path, *words):
    """(exit code, stderr) of one fit into model.json."""
    words = ["calibrate", "fit", *map(str, words), "-o", str(tmp_path / "model.json")]
    result = CliRunner().invoke(main, words)
    return result.exit_code, result.stderr


@pytest.mark.parametrize(
    ("name", "method", "more"),
    [
        ("isotonic", Isotonic, {}),
        ("gaussian", Gaussian, {}),
        ("gaussian-own-variances", Gaussian, {"shared_variance": False}),
    ],
)
def test_parts_of_one_system_give_the_model_of_all_trials(tmp_path, files, name, method, more):
    paths, trials = files
    code, err = fitted(tmp_path, *paths, "--engine", "local", "--method", name, "--memory-limit", "300MB")
    assert code == 0, err
    assert "all 600 trials and not evaluated by folds" in err
    assert (tmp_path / "model.json").read_text() == method.fit(trials, **more).to_json()


def test_a_pattern_and_a_prior_are_taken(tmp_path, files):
    _, trials = files
    code, err = fitted(tmp_path, tmp_path / "part-*.csv", "--engine", "local", "--prior", "0.1")
    assert code == 0, err
    found, truth = tc.load_model((tmp_path / "model.json").read_text()), Logistic.fit(trials, 0.1)
    assert found.slope == pytest.approx(truth.slope, rel=1e-12)
    assert found.offset == pytest.approx(truth.offset, rel=1e-12)
    assert found.training["prior"] == 0.1
    assert found.training["meaning"] == "llr"


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "was given 2 files"),
        (("--engine", "local", "--folds", "3"), "--folds cannot be combined with --engine"),
        (("--engine", "local", "--by", "speaker"), "--by cannot be combined with --engine"),
        (("--engine", "local", "--method", "kernel-density"), "Kernel densities cannot be trained on a scan"),
        (("--engine", "local", "--weight-column", "w"), "has no column 'w'"),
        (("--engine", "local", "--group-column", "g"), "--group-column has no effect without --by"),
        (("--engine", "local", "--memory-limit", "1MB"), "too small to work with"),
        (("--engine", "dask", "--scheduler", "tcp://127.0.0.1:9"), "other engines than 'local' read only these"),
    ],
)
def test_what_does_not_go_together_is_refused_and_nothing_is_written(tmp_path, files, words, says):
    code, err = fitted(tmp_path, *files[0], *words)
    assert code in (1, 2)
    assert says in err
    assert not (tmp_path / "model.json").exists()


@pytest.mark.parametrize("size", ["1GB", "300MB"])
def test_evaluate_takes_the_road_that_fits_under_the_limit_and_says_the_same(tmp_path, files, monkeypatch, size):
    monkeypatch.setattr("tercet.outofcore.scan.IN_MEMORY_ROW", 10**6)  # so that 200 rows take 600 MB
    words = ["evaluate", str(files[0][0]), "--app", "0.1,1,1", "--format", "tsv"]
    found = CliRunner().invoke(main, [*words, "--memory-limit", size, "--verbose"])
    truth = CliRunner().invoke(main, [*words, "--memory-limit", "9GB"])
    assert (found.exit_code, truth.exit_code) == (0, 0), found.stderr
    rows = [[line.split("\t") for line in one.stdout.splitlines()] for one in (found, truth)]
    place = rows[0][0].index("calibration_loss")  # out-of-fold fits need the rows in memory
    for row in (*rows[0], *rows[1]):
        row.pop(place)
    assert rows[0] == rows[1]
    assert ("in bounded memory" in found.stderr) == (size == "300MB")
    refused = CliRunner().invoke(main, [*words, "--memory-limit", size, "--ci", "95"])
    assert refused.exit_code == (1 if size == "300MB" else 0)
    assert size == "1GB" or "--ci would take about" in refused.stderr
