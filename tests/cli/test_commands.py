"""The commands as their users type them: what is printed where, and with which exit code."""

import gzip
import json
import os
import re
import signal
import struct
import subprocess
import sys
import time

import numpy as np
import pytest
from click.testing import CliRunner

import tercet as tc
from tercet.cli.main import main
from tercet.io import write_table

LABORATORY = [(0.5, 1, 1), (0.8, 1, 1), (0.5, 10, 1), (0.8, 1, 10)]
MATRICES = [[[293, 96], [109, 304]], [[271, 80], [131, 320]], [[257, 75], [145, 325]], [[302, 113], [100, 287]]]


def run(*words, stdin=None):
    """(exit code, stdout, stderr) of one command."""
    result = CliRunner().invoke(main, [str(word) for word in words], input=stdin)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result.exit_code, result.stdout, result.stderr


def result_of(*words, stdin=None):
    code, out, err = run("evaluate", *words, "--json", stdin=stdin)
    assert code == 0, err
    return json.loads(out)


@pytest.fixture
def scores(tmp_path):
    """A thousand trials as CSV, with the arrays they came from."""
    rng = np.random.default_rng(5)
    labels = rng.random(1000) < 0.3
    llr = np.round(rng.normal(np.where(labels, 2.0, -2.0), 2.0) * 2.0, 3)
    path = tmp_path / "scores.csv"
    path.write_text("score,label\n" + "".join(f"{s!r},{int(y)}\n" for s, y in zip(llr.tolist(), labels, strict=True)))
    return path, llr, labels


def test_the_laboratory_comes_out_of_one_command(lab_data):
    lab = lab_data / "lab"
    apps = [word for app in LABORATORY for word in ("--app", ",".join(map(str, app)))]
    labels = lab / "commedia_labels_infpar.npy"
    document = result_of(lab / "commedia_llr_infpar.npy", "--labels", labels, *apps)
    (system,) = document["systems"]
    assert document["schema_version"] == 1
    assert [row["confusion"] for row in system["applications"]] == MATRICES
    assert [round(row["dcf"], 3) for row in system["applications"]] == [0.511, 1.126, 2.236, 0.904]
    assert [round(row["min_dcf"], 3) for row in system["applications"]] == [0.506, 0.752, 0.842, 0.709]
    assert {file["name"] for file in system["input"]["files"]} == {"commedia_llr_infpar.npy", labels.name}


def test_the_multiclass_laboratory_comes_out_of_one_command(lab_data):
    lab = lab_data / "lab"
    words = ["--meaning", "log-likelihoods", "--priors", ".3,.4,.3", "--costs", "0,1,2;1,0,1;2,1,0"]
    document = result_of(lab / "commedia_ll.npy", "--labels", lab / "commedia_labels.npy", *words)
    (row,) = document["systems"][0]["applications"]
    assert row["confusion"] == [[205, 111, 56], [145, 199, 121], [50, 92, 225]]
    assert (round(row["risk"], 3), round(row["dcf"], 3)) == (0.560, 0.933)


def test_the_json_is_what_python_gives(scores):
    path, llr, labels = scores
    (system,) = result_of(path, "--app", "0.01,10,1", "--app", "sre10")["systems"]
    found = tc.evaluate(tc.Trials.of_llr(llr, labels, name="scores"), [(0.01, 10, 1), "sre10"])
    assert None not in [row.calibration_loss for row in found.applications]  # computed when it is asked for
    expected = found.to_dict()
    files = system["input"].pop("files")
    assert system == json.loads(json.dumps(expected))
    assert [file["name"] for file in files] == ["scores.csv"]


def test_every_file_format_gives_the_same_result(scores, tmp_path):
    path, llr, labels = scores
    text = path.read_text()
    (tmp_path / "a.tsv").write_text(text.replace(",", "\t"))
    with gzip.open(tmp_path / "a.csv.gz", "wt") as packed:
        packed.write(text)
    np.save(tmp_path / "a.npy", llr)
    np.save(tmp_path / "labels.npy", labels)
    write_table(tmp_path / "a.parquet", {"score": llr, "label": labels})
    ways = [
        [tmp_path / "a.tsv"], [tmp_path / "a.csv.gz"], [tmp_path / "a.npy", "--labels", tmp_path / "labels.npy"],
        [tmp_path / "a.parquet"],
    ]  # fmt: skip
    expected = nameless(result_of(path, "--app", "0.1,1,1"))
    for way in ways:
        assert nameless(result_of(*way, "--app", "0.1,1,1")) == expected
    assert nameless(result_of("-", "--app", "0.1,1,1", stdin=text)) == expected


def nameless(document):
    (system,) = document["systems"]
    return {key: value for key, value in system.items() if key not in ("name", "input")} | {
        key: value for key, value in system["input"].items() if key != "files"
    }


def test_systems_stay_in_order_unless_sorted(scores, tmp_path):
    path, llr, labels = scores
    rows = zip((llr / 4.0).tolist(), labels, strict=True)
    (tmp_path / "better.csv").write_text("score,label\n" + "".join(f"{s!r},{int(y)}\n" for s, y in rows))
    given = result_of(path, tmp_path / "better.csv", "--app", "0.01,1,1")
    assert [system["name"] for system in given["systems"]] == ["scores", "better"]
    document = result_of(path, tmp_path / "better.csv", "--app", "0.01,1,1", "--sort", "dcf")
    assert [system["name"] for system in document["systems"]] == ["better", "scores"]
    assert run("evaluate", path, "--sort", "dcf")[0] == 2
    assert run("evaluate", path, path, "--name", "a", "--name", "b", "--sort", "nonsense")[0] == 2


def test_systems_are_called_as_asked(scores):
    document = result_of(scores[0], scores[0], "--name", "one", "--name", "other", "--title", "A title")
    assert [system["name"] for system in document["systems"]] == ["one", "other"]
    assert document["title"] == "A title"
    assert run("evaluate", scores[0], scores[0], "--name", "one")[0] == 2
    assert run("evaluate", scores[0], scores[0], "--name", "one", "--name", "one")[0] == 2


def test_without_an_application_a_person_gets_costs_a_plot_and_sentences(scores):
    code, out, _ = run("evaluate", scores[0], "--format", "table")
    assert code == 0
    for words in ("1 in 1,000", "1 in 100", "1 in 10", "1 in 2", "harmful", "█", "░"):
        assert words in out
    assert "At equal costs, worth using when" in out
    assert "5-fold cross-validated" in out
    assert "tercet calibrate fit" in out


def test_the_worth_using_sentence_is_true(scores):
    _, llr, labels = scores
    curve = tc.Curve.of(tc.Tally.of(tc.Trials.of_llr(llr, labels)))
    for low, high in tc.useful_priors(curve):
        inside = np.linspace(max(low, -30.0), min(high, 30.0), 7)[1:-1]
        assert (tc.bayes_error(curve, inside).dcf < 1.0).all()
    grid = np.linspace(-8.0, 8.0, 400)
    useful = [any(low < x < high for low, high in tc.useful_priors(curve)) for x in grid]
    assert (np.array(useful) == (tc.bayes_error(curve, grid).dcf < 1.0)).all()


def test_a_pipe_gets_tsv_with_every_digit(scores):
    path, llr, labels = scores
    code, out, _ = run("evaluate", path, "--app", "0.1,1,1")
    head, row = (line.split("\t") for line in out.splitlines())
    expected = tc.evaluate(tc.Trials.of_llr(llr, labels), [(0.1, 1, 1)])
    assert code == 0
    assert float(row[head.index("dcf")]) == expected.applications[0].dcf
    assert float(row[head.index("auc")]) == expected.auc


def test_markdown_has_a_table(scores):
    code, out, _ = run("evaluate", scores[0], "--app", "0.1,1,1", "--format", "md")
    assert code == 0
    assert out.splitlines()[1].startswith("| --- |")


def test_raw_scores_have_a_minimum_and_a_reason(scores):
    (system,) = result_of(scores[0], "--meaning", "raw", "--app", "0.1,1,1")["systems"]
    (row,) = system["applications"]
    assert row["dcf"] is None
    assert "calibrate" in row["reasons"]["dcf"]
    assert 0.0 < row["min_dcf"] < 1.0
    _, table, _ = run("evaluate", scores[0], "--meaning", "raw", "--app", "0.1,1,1", "--format", "table")
    assert "Cllr undefined, minimum Cllr" in " ".join(table.split())


def test_decisions_instead_of_scores_are_counted_and_priced(tmp_path):
    path = tmp_path / "decided.csv"
    path.write_text("decision,label\n1,1\n1,0\n0,0\n0,0\n0,1\n")
    document = result_of(path, "--meaning", "decisions", "--app", "0.5,1,1")
    (system,) = document["systems"]
    assert system["confusion"] == [[2, 1], [1, 1]]
    assert system["applications"][0]["dcf"] == pytest.approx(0.5 + 1 / 3)


def test_decide_writes_a_decision_an_expected_cost_and_a_margin(scores, tmp_path):
    path, llr, _ = scores
    out = tmp_path / "decisions.csv"
    code, _, _ = run("decide", path, "--app", "0.01,10,1", "-o", out)
    lines = out.read_text().splitlines()
    app = tc.Application(0.01, 10, 1)
    expected = np.where(llr > app.threshold, "target", "nontarget")
    assert code == 0
    assert lines[0] == "trial,decision,expected_cost,margin"
    assert [line.split(",")[1] for line in lines[1:]] == expected.tolist()


def test_decide_meets_a_bound_on_false_alarms(scores, tmp_path):
    path, _, labels = scores
    out = tmp_path / "decisions.csv"
    code, _, err = run("decide", path, "--fpr-at-most", "0.05", "-o", out)
    accepted = np.array([line.split(",")[1] == "target" for line in out.read_text().splitlines()[1:]])
    assert code == 0
    assert "FPR 0.05" in err
    rule = tc.neyman_pearson(tc.Curve.of(tc.Trials.of_llr(scores[1], labels)), 0.05)
    assert f"above {rule.upper!r}" in err  # as in the file, not with 17 digits
    assert accepted[~labels].mean() <= 0.05 + 1 / (~labels).sum()


def test_a_calibrator_is_trained_applied_and_used_by_decide(scores, tmp_path):
    path, llr, labels = scores
    model, new = tmp_path / "calibrator.json", tmp_path / "calibrated.csv"
    assert run("calibrate", "fit", path, "--prior", "0.1", "-o", model)[0] == 0
    assert run("calibrate", "apply", model, path, "-o", new)[0] == 0
    expected = tc.Logistic.fit(tc.Trials.of_llr(llr, labels), prior=0.1)(llr)
    written = np.array([float(line.split(",")[1]) for line in new.read_text().splitlines()[1:]])
    assert (written == expected).all()
    before, after = (result_of(p, "--app", "0.01,1,1")["systems"][0]["applications"][0] for p in (path, new))
    assert after["dcf"] < before["dcf"]
    code, out, _ = run("decide", path, "--calibrator", model, "--app", "0.5,1,1")
    decided = [line.split(",")[1] == "target" for line in out.splitlines()[1:]]
    assert code == 0
    assert decided == (expected > 0.0).tolist()


def test_two_systems_are_fused_and_the_fusion_applied(scores, tmp_path):
    path, llr, labels = scores
    noise = np.random.default_rng(1).normal(size=len(llr))
    rows = zip((llr + 3.0 * noise).tolist(), labels, strict=True)
    other, model, out = tmp_path / "other.csv", tmp_path / "fusion.json", tmp_path / "fused.csv"
    other.write_text("score,label\n" + "".join(f"{s!r},{int(y)}\n" for s, y in rows))
    assert run("fuse", path, other, "--prior", "0.5", "-o", model)[0] == 0
    assert run("calibrate", "apply", model, path, other, "-o", out)[0] == 0
    assert result_of(out, "--app", "0.5,1,1")["systems"][0]["applications"][0]["dcf"] < 1.0
    assert run("calibrate", "apply", model, path)[0] == 1


def test_the_gate_fails_on_what_it_is_told_to_fail_on(scores, tmp_path):
    result = tmp_path / "result.json"
    result.write_text(run("evaluate", scores[0], "--app", "0.5,1,1", "--json")[1])
    assert run("check", result, "--fail-if", "dcf>0.9")[0] == 0
    code, _, err = run("check", result, "--fail-if", "dcf > 0.01", "--fail-if", "auc<0.1")
    assert code == 3
    assert "dcf is 0." in err
    assert run("check", result, "--fail-if", "eer>=0")[0] == 3
    assert run("check", result, "--fail-if", "nonsense>1")[0] == 2
    assert run("check", result, "--fail-if", "dcf~1")[0] == 2


def test_an_undefined_number_fails_the_gate(scores, tmp_path):
    result = tmp_path / "result.json"
    result.write_text(run("evaluate", scores[0], "--meaning", "raw", "--app", "0.5,1,1", "--json")[1])
    assert run("check", result, "--fail-if", "dcf>100")[0] == 3


def test_errors_are_one_paragraph_on_stderr_and_exit_1(tmp_path):
    path = tmp_path / "broken.csv"
    path.write_text("score,label\n1.5,1\nnan,0\n")
    code, out, err = run("evaluate", path, "--app", "0.5,1,1")
    assert (code, out) == (1, "")
    assert "broken.csv" in err
    assert "Traceback" not in err
    assert run("evaluate", tmp_path / "missing.csv")[0] == 1
    (tmp_path / "other.json").write_text("{}")
    assert run("check", tmp_path / "other.json", "--fail-if", "dcf>1")[0] == 1


def test_wrong_use_is_exit_2():
    assert run("evaluate")[0] == 2
    assert run("evaluate", "x.csv", "--meaning", "guess")[0] == 2
    assert run("no-such-command")[0] == 2


@pytest.mark.parametrize("app", ["0,1,1", "1.5,1,1", "0.5,-1,1", "0.5,1", "no-such-name", "0.5,one,1"])
def test_an_impossible_application_is_refused(scores, app):
    code, out, err = run("evaluate", scores[0], "--app", app)
    assert (code, out) == (2, "")
    assert "Error: --app" in err


def test_names_that_would_drive_a_terminal_are_shown_escaped(scores, tmp_path):
    evil = tmp_path / "\x1b[31mred\u202e.csv"
    evil.write_text(scores[0].read_text())
    for output in ("table", "md", "tsv", "latex"):
        code, out, _ = run("evaluate", evil, "--app", "0.5,1,1", "--format", output)
        assert code == 0
        assert "\x1b[31mred" not in out
        assert "\u202e" not in out


def test_help_explains_the_words_and_shows_an_example_for_every_command():
    _, out, _ = run("--help")
    for command in ("demo", "evaluate", "decide", "check", "calibrate fit", "calibrate apply", "fuse"):
        assert f"tercet {command}" in out
    _, out, _ = run("evaluate", "--help")
    for word in ("llr", "prior", "application"):
        assert f"\n  {word} " in out


def test_the_demonstration_tells_a_true_story(tmp_path):
    code, out, _ = run("demo", "--out", tmp_path / "demo")
    costs = [float(found) for found in re.findall(r"the decisions cost ([0-9.]+) times", out)]
    assert code == 0
    assert costs[2] < costs[0]
    assert costs[3] < costs[1]
    for line in out.splitlines():
        if line.strip().startswith("tercet "):
            assert run(*line.split()[1:])[0] == 0, line


def tercet(*words, **more):
    return subprocess.Popen(
        [sys.executable, "-c", "from tercet.cli.main import main; main()", *map(str, words)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more,
    )  # fmt: skip


def test_help_needs_neither_numpy_nor_duckdb():
    code = "import sys, tercet.cli.main; assert not {'numpy', 'duckdb', 'rich', 'scipy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_reader_that_goes_away_is_no_error_message(scores):
    with tercet("evaluate", scores[0], "--json") as process:
        process.stdout.close()
        assert process.stderr.read() == ""


def _bytes_waiting(pipe: int) -> int:
    import fcntl
    import termios

    (waiting,) = struct.unpack("i", fcntl.ioctl(pipe, termios.FIONREAD, bytes(4)))
    return int(waiting)


def test_an_interrupt_ends_with_130_and_leaves_the_old_file(scores, tmp_path):
    out = tmp_path / "decisions.csv"
    out.write_text("old")
    reader, writer = os.pipe()
    with tercet("decide", "-", "--app", "0.5,1,1", "-o", out, stdin=reader) as process:
        try:
            os.write(writer, b"score,label\n1,1\n")
            while _bytes_waiting(reader):  # until the command has read them, and waits for the rest
                assert process.poll() is None
                time.sleep(0.05)
            process.send_signal(signal.SIGINT)
            assert process.wait(20) == 130
        finally:
            process.kill()  # without this a failure would wait for ever
            os.close(reader)
            os.close(writer)
        assert "Traceback" not in process.stderr.read()
    assert out.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("decisions")] == ["decisions.csv"]


def test_intervals_stand_beside_the_numbers(scores, monkeypatch):
    monkeypatch.setenv("COLUMNS", "120")
    (system,) = result_of(scores[0], "--app", "0.1,1,1", "--ci", "95", "--bootstrap", "100")["systems"]
    (row,) = system["applications"]
    low, high = row["dcf_ci"]
    assert low < row["dcf"] < high
    code, out, _ = run(
        "evaluate", scores[0], "--app", "0.1,1,1", "--ci", "95", "--bootstrap", "100", "--format", "table"
    )
    assert code == 0
    assert f"{low:.3f} to {high:.3f}" in out


def test_two_systems_are_compared_in_a_sentence(scores, tmp_path):
    path, llr, labels = scores
    noise = np.random.default_rng(2).normal(size=len(llr))
    rows = zip((llr + 8.0 * noise).tolist(), labels, strict=True)
    (tmp_path / "worse.csv").write_text("score,label\n" + "".join(f"{s!r},{int(y)}\n" for s, y in rows))
    words = ["compare", path, tmp_path / "worse.csv", "--app", "0.5,1,1", "--bootstrap", "200"]
    code, out, _ = run(*words)
    assert code == 0
    assert "scores is better" in " ".join(out.split())
    assert json.loads(run(*words, "--json")[1])["names"] == ["scores", "worse"]
    assert run("compare", path)[0] == 2


def test_the_page_comes_from_an_evaluation_and_from_a_saved_result(scores, tmp_path):
    page, again, result = (tmp_path / name for name in ("page.html", "again.html", "result.json"))
    code, out, _ = run("evaluate", scores[0], "--app", "0.1,1,1", "--report", page, "--json")
    result.write_text(out)
    assert code == 0
    assert run("report", result, "-o", again, "--title", "A <title>")[0] == 0
    assert "Content-Security-Policy" in page.read_text()
    assert "A &lt;title&gt;" in again.read_text()
    assert run("evaluate", scores[0], "--open")[0] == 2


def test_files_too_large_for_memory_give_the_same_numbers(scores, tmp_path):
    path, llr, labels = scores
    for place, rows in enumerate((slice(0, 300), slice(300, None))):
        write_table(tmp_path / f"part{place}.parquet", {"score": llr[rows], "label": labels[rows]})
    (whole,) = result_of(path, "--app", "0.1,1,1")["systems"]
    (parts,) = result_of(tmp_path / "part*.parquet", "--app", "0.1,1,1", "--engine", "local")["systems"]
    for app in (*parts["applications"], *whole["applications"]):  # out-of-fold fits need the rows in memory
        app.pop("calibration_loss")
        app.setdefault("reasons", {}).pop("calibration_loss", None)
    for key in ("eer", "auc", "cllr", "min_cllr", "applications", "bayes_plot"):
        assert parts[key] == whole[key]
    assert run("evaluate", path, "--engine", "local", "--memory-limit", "much")[0] == 2


def test_a_run_is_resumed_from_the_parts_it_kept(scores, tmp_path):
    path, llr, labels = scores
    write_table(tmp_path / "a.parquet", {"score": llr, "label": labels})
    kept = tmp_path / "kept"
    asked = (tmp_path / "a.parquet", "--app", "0.1,1,1", "--engine", "local", "--resume", kept)
    one = result_of(*asked)["systems"]
    saved = {file: file.stat().st_mtime_ns for file in kept.iterdir()}
    assert saved
    assert result_of(*asked)["systems"] == one
    assert {file: file.stat().st_mtime_ns for file in kept.iterdir()} == saved
    code, _, err = run("evaluate", path, "--resume", kept)
    assert code == 2
    assert "--resume has no effect without --engine" in err


def test_several_classes_are_scanned_and_resumed_with_the_numbers_of_memory(tmp_path):
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, 600)
    logits = rng.normal(size=(600, 3)) + 2.0 * np.eye(3)[labels]
    columns = {name: logits[:, k] for k, name in enumerate("ABC")}
    write_table(tmp_path / "a.parquet", {**columns, "label": [("A", "B", "C")[k] for k in labels]})
    words = ("--meaning", "logits", "--trained-prior", ".3,.3,.4", "--class-columns", "A,B,C", "--priors", ".2,.3,.5")
    (whole,) = result_of(tmp_path / "a.parquet", *words)["systems"]
    for _ in range(2):  # the second run finds the parts of the first
        scan = ("--engine", "local", "--resume", tmp_path / "kept")
        (parts,) = result_of(tmp_path / "a.parquet", *words, *scan)["systems"]
        for key in ("accuracy", "log_loss", "brier", "applications"):
            assert parts[key] == whole[key]
    assert any((tmp_path / "kept").iterdir())
