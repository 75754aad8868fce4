"""Writers that are killed at random moments: the old file or the new one is there, nothing between.

    python tests/io/test_kills.py 100

kills each kind of write this many times; CI kills each three times.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import tercet as tc
from tercet.io import write_like, write_text_atomically

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks here")
RNG = np.random.default_rng(3)
LABELS = np.arange(4000) % 2
TRIALS = tc.Trials.of_llr(RNG.normal(size=4000) + LABELS, LABELS, ids=[f"t{k}" for k in range(4000)], name="a")
RESULT = tc.evaluate(TRIALS, [(0.1, 1, 1)])
MODEL = tc.Isotonic.fit(TRIALS).to_json()
TABLE = json.dumps({"schema_version": 1, "systems": [RESULT.to_dict()]})
DECIDED = [(TRIALS, {"decision": LABELS})]


def page_is_whole(path: Path) -> bool:
    words = path.read_text(encoding="utf-8")
    return words.startswith("<!doctype html>") and words.rstrip().endswith("</html>")


def decisions_are_whole(path: Path) -> bool:
    lines = path.read_text().splitlines()
    return len(lines) == 4001 and lines[-1].startswith("t3999,")


Write = Callable[[Path], object]
KINDS: dict[str, tuple[str, Write, Callable[[Path], bool]]] = {
    "page": ("page.html", lambda path: tc.report(RESULT, path), page_is_whole),
    "json": ("result.json", lambda path: write_text_atomically(path, TABLE), lambda p: p.read_text() == TABLE),
    "decisions": ("decided.csv", lambda path: write_like(path, DECIDED), decisions_are_whole),
    "calibrator": ("model.json", lambda path: write_text_atomically(path, MODEL), lambda p: p.read_text() == MODEL),
}


def kill_once(write: Callable[[], object], seconds: float, finished: int = 0) -> None:
    """Lets a child write again and again, and kills it so long after this many writes were finished."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            while True:
                write()
                os.write(writer, b".")
        finally:
            os._exit(1)
    os.close(writer)
    with os.fdopen(reader, "rb", buffering=0) as ticks:
        while finished and (read := ticks.read(finished)):  # nothing: the child has ended
            finished -= len(read)
        time.sleep(seconds)
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    assert os.WIFSIGNALED(status), "the writer ended by itself"


def check_kind(kind: str, times: int, folder: Path, seed: int) -> int:
    """Kills writers of one kind in their first, second or third write; gives how many times a new file was there."""
    name, write, whole = KINDS[kind]
    path, rng, new = folder / name, np.random.default_rng(seed), 0
    began = time.monotonic()
    write(path)
    usual = time.monotonic() - began
    for _ in range(times):
        path.write_text("old")
        kill_once(lambda: write(path), float(rng.uniform(0, usual)), int(rng.integers(3)))
        old = path.read_bytes() == b"old"
        assert old or whole(path), f"{kind}: a file that is neither the old one nor the new one"
        new += not old
        assert all(
            one.name == name or one.name.startswith(".") or one.name.endswith(".part") for one in folder.iterdir()
        )
        for left in folder.iterdir():
            left.unlink() if left.name != name else None
    return new


def check_parts(times: int, folder: Path, seed: int) -> int:
    """Kills runs that keep their parts; what goes on from them gives the numbers of a run that was left alone."""
    rng, files = np.random.default_rng(seed), []
    for k in range(4):
        files.append(folder / f"part{k}.csv")
        rows = zip(TRIALS.scores[k::4].tolist(), LABELS[k::4].tolist(), strict=True)
        files[-1].write_text("score,label\n" + "".join(f"{score},{label}\n" for score, label in rows))
    kept = folder / "kept"

    def run() -> object:
        return tc.evaluate(tc.scan(files, resume=kept, workers=1), [(0.1, 1, 1)]).to_dict(curves=False)["applications"]

    began = time.monotonic()
    expected = run()
    usual = time.monotonic() - began
    for _ in range(times):
        shutil.rmtree(kept, ignore_errors=True)
        kill_once(run, float(rng.uniform(0, 1.5 * usual)))
        assert run() == expected
    return times


@pytest.mark.parametrize("kind", KINDS)
def test_a_killed_writer_leaves_the_old_file_or_the_new_one(kind: str, tmp_path: Path):
    check_kind(kind, 3, tmp_path, seed=7)


def test_a_killed_run_goes_on_from_its_parts_to_the_same_numbers(tmp_path: Path):
    check_parts(3, tmp_path, seed=7)


def main() -> None:
    """The long version."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    for kind in [*KINDS, "parts"]:
        with tempfile.TemporaryDirectory(prefix="tercet-kills-") as name:
            folder = Path(name)
            new = check_parts(times, folder, 1) if kind == "parts" else check_kind(kind, times, folder, 1)
        print(f"{kind}: killed {times} times, {new} with a new file, nothing between", flush=True)


if __name__ == "__main__":
    main()
