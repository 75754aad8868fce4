"""The process itself: interrupts, terminals that cannot show everything, missing extras, files that are both ends."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import click.testing
import pytest
from click.testing import CliRunner

from tercet.cli import _output as output
from tercet.cli.main import main

ROWS = "score,label\n" + "".join(f"{(i % 7) - 3 + (i % 2) * 1.5},{i % 2}\n" for i in range(200))
COMMAND = [sys.executable, "-m", "tercet"]


@pytest.fixture
def scores(tmp_path):
    path = tmp_path / "scores.csv"
    path.write_text(ROWS)
    return path


def run(*words):
    return CliRunner().invoke(main, [str(word) for word in words])


def started(*words, **more):
    return subprocess.run([*COMMAND, *map(str, words)], capture_output=True, timeout=60, **more)


def test_the_module_runs_as_the_command_does(scores):
    found = started("evaluate", scores, "--app", "0.5,1,1", "--json", text=True)
    assert found.returncode == 0, found.stderr
    assert json.loads(found.stdout)["systems"][0]["name"] == "scores"


STARTING = "import tercet.cli.entry as entry; print('started', flush=True); entry.main()"


@pytest.mark.parametrize("wait", [0.0, 0.03, 0.08, 0.15, 0.3, 0.6])
def test_an_interrupt_ends_with_130_at_any_moment(wait):
    reader, writer = os.pipe()  # stdin that never ends keeps the command running
    with subprocess.Popen(
        [sys.executable, "-c", STARTING, "evaluate", "-"],
        stdin=reader, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        os.close(reader)
        assert process.stdout.readline() == "started\n"
        time.sleep(0.005 + wait)
        process.send_signal(signal.SIGINT)
        try:
            assert process.wait(20) == 130
        finally:
            process.kill()  # without this a failure would wait for ever
            os.close(writer)
        assert "Traceback" not in process.stderr.read()


SWALLOWING = """
import sys, time, tercet.cli.entry as entry, tercet.cli.main as module

def run(prog_name):
    try:
        print("started", flush=True)
        time.sleep(20)
    except KeyboardInterrupt:
        {}

module.main = run
entry.main()
"""


@pytest.mark.parametrize(
    ("then", "code"),
    [("raise ImportError('half a library')", 130), ("sys.exit(1)", 130), ("sys.exit(130)", 130), ("sys.exit(0)", 0)],
)
def test_an_interrupt_that_a_library_turns_into_an_error_still_ends_with_130(then, code):
    with subprocess.Popen(
        [sys.executable, "-c", SWALLOWING.format(then)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "started\n"
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == code
    assert "Traceback" not in errors


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1", "utf-8"])
def test_a_terminal_of_any_encoding_shows_the_table_and_the_plot(scores, encoding):
    found = started("evaluate", scores, "--format", "table", env={**os.environ, "PYTHONIOENCODING": encoding})
    assert found.returncode == 0, found.stderr
    shown = found.stdout.decode(encoding)
    assert "1 in 100" in shown
    assert "\\u" not in shown


@pytest.mark.parametrize("output", ["table", "json"])
def test_a_file_name_that_is_not_utf8_is_read_and_shown_escaped(scores, tmp_path, output):
    path = os.fsencode(tmp_path) + b"/sc\xffres.csv"
    with open(path, "wb") as file:
        file.write(scores.read_bytes())
    words = [b"evaluate", path, b"--app", b"0.5", b"--report", os.fsencode(tmp_path / "p.html"), b"--format"]
    found = subprocess.run([*map(os.fsencode, COMMAND), *words, output.encode()], capture_output=True)
    assert found.returncode == 0, found.stderr
    assert "sc\\xffres" in found.stdout.decode("utf-8").replace("\\\\", "\\")
    assert "sc\\xffres" in (tmp_path / "p.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("rows", "words", "code"),
    [
        ("score,label\n1,1\n2,0\n", ["--app", "0.5"], 0),  # a hint
        ("score,label\n1,1\n2", ["--app", "0.5"], 1),  # a file that is refused
        ("score,label\n1,1\n2,0\n", ["--meaning", "\x1b[2J"], 2),  # a wrong option
    ],
)
def test_a_name_cannot_steer_the_terminal(tmp_path, rows, words, code):
    path = tmp_path / "red\x1b[31m\u202e.csv"
    path.write_text(rows)
    found = run("evaluate", path, *words)
    assert found.exit_code == code
    assert all(one.isprintable() for one in found.stderr.split("\n"))
    assert "\x1b" not in found.stdout


def test_a_missing_extra_says_what_to_install(scores, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    found = run("evaluate", scores, "--plots", tmp_path / "plots")
    assert found.exit_code == 1
    assert "pip install 'tercet[plot]'" in found.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("evaluate", "SCORES", "--report", "SCORES"),
        ("evaluate", "SCORES", "--report", "LINK"),
        ("evaluate", "OTHER", "--labels", "SCORES", "--report", "HARD"),
        ("decide", "SCORES", "--app", "0.5,1,1", "-o", "SCORES"),
        ("calibrate", "fit", "SCORES", "-o", "HARD"),
        ("calibrate", "apply", "SCORES", "OTHER", "-o", "LINK"),
        ("fuse", "SCORES", "OTHER", "-o", "SCORES"),
        ("report", "SCORES", "-o", "SCORES"),
    ],
)
def test_an_output_that_is_an_input_is_refused(scores, tmp_path, words):
    files = {"SCORES": scores, "OTHER": tmp_path / "o.csv", "LINK": tmp_path / "link.csv", "HARD": tmp_path / "h.csv"}
    files["OTHER"].write_text(ROWS)
    files["LINK"].symlink_to(scores)
    os.link(scores, files["HARD"])
    found = run(*(files.get(word, word) for word in words))
    assert found.exit_code == 2
    assert "which is read" in found.stderr
    assert scores.read_text() == ROWS


def test_an_endless_grid_is_refused(scores):
    found = run("evaluate", scores, "--bayes-plot", "-3,3,1e9", "--json")
    assert found.exit_code == 2
    assert "100,000 points" in found.stderr


# What a person sees who waits


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["sensitivity", "labels", "SCORES", "--app", "0.5,1,1", "--wrong-targets", "0.05"], "correcting for wrong"),
        (["gaps", "SCORES", "--between", "site", "--app", "0.5,1,1"], "comparing the groups of site"),
        (["calibration", "SCORES"], "evaluating scores"),
        (["forensics", "bounds", "SCORES"], "validating scores"),
        (["coverage", "SCORES"], "evaluating"),
    ],
)
def test_what_takes_long_says_on_a_terminal_what_is_being_done(words, said, tmp_path, monkeypatch):
    path = tmp_path / "scores.csv"
    lines = [f"{(i % 7) - 3 + (i % 2) * 1.5},{i % 2},{'ab'[i % 3 == 0]}" for i in range(200)]
    path.write_text("\n".join(["score,label,site", *lines, ""]))
    monkeypatch.setattr(click.testing._NamedTextIOWrapper, "isatty", lambda self: True)
    monkeypatch.setenv("TERM", "xterm")
    words = [str(path) if word == "SCORES" else word for word in words]
    monkeypatch.setattr(output.threading, "Timer", AtOnce)
    assert said in run(*words).stderr
    assert said not in run(*words, "--quiet").stderr


class AtOnce:
    """A timer that does not wait."""

    def __init__(self, _, function):
        self.start = function

    def cancel(self):
        pass

    join = cancel


def test_every_command_that_reads_scores_says_that_it_is_working_or_is_quick():
    folder = Path(output.__file__).parent
    sources = {path.stem: path.read_text(encoding="utf-8") for path in folder.glob("[a-z]*.py")}
    reading = {name for name, text in sources.items() if "read_trials" in text or "read_systems" in text}
    waiting = {
        name for name, text in sources.items() if any(x in text for x in ("working(", "progress=", "fit_and_save"))
    }
    assert reading - waiting == {"assemble", "decide"}  # one pass over what is read, which has a bar of its own
