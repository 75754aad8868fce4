"""Writers that are killed, that find the disk full, or that meet each other: the old file or the new one remains."""

import errno
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tercet as tc
from tercet.io import read, write_table, write_text_atomically

ROWS = 40_000
WRITER = """
import sys
import numpy as np
from tercet.io import write_table, write_text_atomically
path, value, how = sys.argv[1], float(sys.argv[2]), sys.argv[3]
print("ready", flush=True)
while True:
    if how == "text":
        write_text_atomically(path, f"{value}\\n" * 400_000)
    else:
        write_table(path, {"score": np.full(40_000, value)}, format=how)
"""


def _writer(path: Path, value: float, how: str) -> subprocess.Popen[bytes]:
    arguments = [sys.executable, "-c", WRITER, str(path), str(value), how]
    process = subprocess.Popen(arguments, stdout=subprocess.PIPE)
    assert process.stdout is not None
    process.stdout.readline()
    return process


def _value(path: Path, how: str) -> float:
    """The one value that a whole file holds in all its rows."""
    if how == "text":
        lines = path.read_text().splitlines()
        assert len(lines) in (3, 400_000)
        assert len(set(lines)) == 1
        return float(lines[0])
    scores = read(path, format=how, memory=1 << 30).scores
    assert len(scores) in (3, ROWS)
    assert len(set(scores.tolist())) == 1
    return float(scores[0])


@pytest.mark.parametrize(("how", "suffix"), [("csv", ".csv"), ("parquet", ".parquet"), ("text", ".html")])
def test_a_writer_that_is_killed_leaves_the_old_file_or_the_new_one(tmp_path: Path, how: str, suffix: str):
    path = tmp_path / f"out{suffix}"
    rng = np.random.default_rng(7)
    if how == "text":
        path.write_text("0.0\n" * 3)
    else:
        write_table(path, {"score": np.zeros(3)})
    for value in (1.0, 2.0, 3.0):
        process = _writer(path, value, how)
        try:
            time.sleep(float(rng.uniform(0, 0.15)))
        finally:
            process.send_signal(signal.SIGKILL)
            process.wait()
            assert process.stdout is not None
            process.stdout.close()
        assert _value(path, how) in (0.0, 1.0, 2.0, 3.0)
    assert all(one.name == path.name or one.name.endswith(".part") for one in tmp_path.iterdir())


def test_eight_writers_of_one_file_leave_the_file_of_one_of_them(tmp_path: Path):
    path = tmp_path / "out.csv"
    processes = [_writer(path, float(k), "csv") for k in range(8)]
    try:
        end = time.monotonic() + 30
        while not path.exists() and time.monotonic() < end:
            time.sleep(0.01)
        for _ in range(10):
            assert _value(path, "csv") in range(8)
    finally:
        for process in processes:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


FAULTS = [OSError(errno.ENOSPC, "No space left on device"), OSError(errno.EIO, "Input/output error"), MemoryError()]
CALLS = ["os.fsync", "os.replace", "os.chmod", "tempfile.mkstemp", "os.fdopen"]


@pytest.mark.parametrize("fault", FAULTS, ids=["ENOSPC", "EIO", "MemoryError"])
@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_a_fault_at_any_call_leaves_the_old_file_and_nothing_beside_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException, call: str, suffix: str
):
    path = tmp_path / f"out{suffix}"
    write_table(path, {"score": np.zeros(3)})
    before = path.read_bytes()

    def broken(*_: object, **__: object) -> None:
        raise fault

    monkeypatch.setattr(f"tercet.io.write.{call}", broken)
    with pytest.raises((tc.InputError, MemoryError)) as caught:
        write_table(path, {"score": np.ones(3)})
    assert isinstance(caught.value, MemoryError) or "cannot be written" in str(caught.value)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize("nth", [1, 2, 3, 7])
def test_a_disk_that_fills_up_while_rows_are_written_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, nth: int
):
    path = tmp_path / "out.csv"
    path.write_text("score\n0\n")
    real = os.fdopen

    def filling(*given: object, **named: object) -> object:
        out = real(*given, **named)  # type: ignore[call-overload]
        return _Filling(out, nth)

    monkeypatch.setattr("tercet.io.write.os.fdopen", filling)
    with pytest.raises(tc.InputError, match="No space left"):
        write_table(path, {"score": np.ones(10 << 16)})
    assert path.read_text() == "score\n0\n"
    assert [one.name for one in tmp_path.iterdir()] == ["out.csv"]


class _Filling:
    """A file whose n-th write finds the disk full."""

    def __init__(self, out: object, nth: int) -> None:
        self.out, self.left = out, nth

    def __enter__(self) -> "_Filling":
        return self

    def __exit__(self, *_: object) -> None:
        self.out.close()  # type: ignore[attr-defined]

    def write(self, data: bytes) -> int:
        self.left -= 1
        if self.left <= 0:
            raise OSError(errno.ENOSPC, "No space left on device")
        return int(self.out.write(data))  # type: ignore[attr-defined]

    def flush(self) -> None:
        self.out.flush()  # type: ignore[attr-defined]

    def fileno(self) -> int:
        return int(self.out.fileno())  # type: ignore[attr-defined]


@pytest.mark.parametrize("fault", FAULTS, ids=["ENOSPC", "EIO", "MemoryError"])
@pytest.mark.parametrize("name", ["a.csv", "a.csv.gz", "a.parquet", "a.npy", "a.jsonl"])
@pytest.mark.parametrize("nth", [2, 3])  # the first asks the system how much memory there is
def test_a_fault_while_reading_is_said_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: BaseException, name: str, nth: int
):
    path = tmp_path / name
    if name == "a.npy":
        np.save(path, np.zeros(3))
    elif name == "a.jsonl":
        path.write_text('{"score": 1}\n')
    else:
        write_table(path, {"score": np.zeros(3)})
    real, calls = Path.open, [0]

    def counted(self: Path, *given: object, **named: object) -> object:
        calls[0] += 1
        if calls[0] == nth:
            raise fault
        return real(self, *given, **named)  # type: ignore[call-overload]

    monkeypatch.setattr(Path, "open", counted)
    with pytest.raises((tc.InputError, MemoryError)) as caught:
        read(path)
    assert isinstance(caught.value, MemoryError) or path.name in str(caught.value)


def test_text_is_written_whole_or_not_at_all(tmp_path: Path):
    with pytest.raises(tc.InputError, match="cannot be written"):
        write_text_atomically(tmp_path / "nowhere" / "a.txt", "x")
    assert list(tmp_path.iterdir()) == []
