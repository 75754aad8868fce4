"""Files are written whole or not at all."""

import csv
import gzip
import hashlib
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

import tercet as tc
from tercet.io import fingerprint, read, stdin_file, write_like, write_table, write_text_atomically

COLUMNS = {
    "score": np.array([1.5, -0.0, np.inf, 5e-324]),
    "label": np.array([True, False, True, False]),
    "count": np.array([1, -2, 3, 2**62]),
    "name": np.array(["plain", 'quo"te', "a,b\nc", "né"], object),
}


@pytest.mark.parametrize("name", ["a.csv", "a.tsv", "a.csv.gz", "a.tsv.gz"])
def test_text_tables_come_back(tmp_path: Path, name: str):
    write_table(tmp_path / name, COLUMNS)
    data = (tmp_path / name).read_bytes()
    text = (gzip.decompress(data) if name.endswith("gz") else data).decode()
    rows = list(csv.reader(text.splitlines(keepends=True), delimiter="\t" if ".tsv" in name else ","))
    assert rows[0] == list(COLUMNS)
    assert [float(row[0]) for row in rows[1:]] == COLUMNS["score"].tolist()
    assert [row[1] for row in rows[1:]] == ["true", "false", "true", "false"]
    assert [int(row[2]) for row in rows[1:]] == COLUMNS["count"].tolist()
    assert [row[3] for row in rows[1:]] == COLUMNS["name"].tolist()
    assert os.listdir(tmp_path) == [name]


def test_parquet_is_read_by_others_with_its_checksums_verified(tmp_path: Path):
    import polars

    write_table(tmp_path / "a.parquet", COLUMNS)
    table = pq.read_table(tmp_path / "a.parquet", page_checksum_verification=True)
    assert {name: table[name].to_pylist() for name in table.column_names} == {k: v.tolist() for k, v in COLUMNS.items()}
    assert polars.read_parquet(tmp_path / "a.parquet")["name"].to_list() == COLUMNS["name"].tolist()
    many = {"score": np.arange(300_000) / 3, "id": np.array([f"i{n}" for n in range(300_000)])}
    write_table(tmp_path / "b.parquet", many)
    table = pq.read_table(tmp_path / "b.parquet", page_checksum_verification=True)
    assert np.array_equal(table["score"].to_numpy(), many["score"])
    assert table["id"].to_pylist()[::999] == many["id"].tolist()[::999]
    assert read(tmp_path / "b.parquet", id_column="id").ids[-1] == "i299999"
    write_table(tmp_path / "c.parquet", {"score": np.zeros(0)})
    assert pq.read_table(tmp_path / "c.parquet").num_rows == 0


def test_formulas_are_guarded_in_text_and_numbers_are_not(tmp_path: Path):
    names = ["=HYPERLINK(1)", "+1+1", "-a", "@x", "\tx", "\rx", "-1.5", "plain", "+inf"]
    write_table(tmp_path / "a.csv", {"=x": np.array(names, object), "score": np.full(len(names), -1.0)})
    with (tmp_path / "a.csv").open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["'=x", "score"]
    assert [row[0] for row in rows[1:]] == [*("'" + name for name in names[:6]), *names[6:]]
    assert {row[1] for row in rows[1:]} == {"-1.0"}
    write_table(tmp_path / "a.parquet", {"x": np.array(names, object)})
    assert pq.read_table(tmp_path / "a.parquet")["x"].to_pylist() == names  # no spreadsheet runs a Parquet file


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes]):
    write_table("-", {"a": np.array([1, 2])})
    write_text_atomically("-", "x\n")
    assert capfdbinary.readouterr().out == b"a\n1\n2\nx\n"


def test_what_cannot_be_written_is_said_and_nothing_is_left(tmp_path: Path):
    with pytest.raises(tc.InputError, match="No such file or directory"):
        write_table(tmp_path / "none" / "a.csv", COLUMNS)
    with pytest.raises(tc.InputError, match="folder"):
        write_text_atomically(tmp_path, "x")
    with pytest.raises(tc.InputError, match=r"\.csv"):
        write_table(tmp_path / "a.xlsx", COLUMNS)
    with pytest.raises(tc.InputError, match="different lengths"):
        write_table(tmp_path / "a.csv", {"a": [1], "b": [1, 2]})
    assert os.listdir(tmp_path) == []


def test_an_error_halfway_leaves_the_old_file(tmp_path: Path):
    class Bad:
        def __str__(self) -> str:
            raise KeyboardInterrupt

    write_text_atomically(tmp_path / "a.csv", "old\n")
    (tmp_path / "a.csv").chmod(0o640)
    with pytest.raises(KeyboardInterrupt):
        write_table(tmp_path / "a.csv", {"a": np.array(["x", Bad()], object)})
    assert (tmp_path / "a.csv").read_text() == "old\n"
    assert os.listdir(tmp_path) == ["a.csv"]
    write_text_atomically(tmp_path / "a.csv", "new\n")
    assert (tmp_path / "a.csv").stat().st_mode & 0o777 == 0o640


def test_a_link_stays_a_link_and_a_device_is_written_to(tmp_path: Path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_text_atomically(tmp_path / "link.txt", "new")
    assert (tmp_path / "link.txt").is_symlink()
    assert (tmp_path / "real.txt").read_text() == "new"
    write_text_atomically("/dev/null", "gone")


WRITER = """
import sys, numpy as np
from tercet.io import write_table
print("ready", flush=True)
for n in range(10**6):
    write_table(sys.argv[1], {"score": np.full(20000, float(n)), "label": np.arange(20000)})
"""


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(tc.__file__).parents[1])}


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_twenty_kills_leave_a_whole_file_each_time(tmp_path: Path, name: str):
    chance = random.Random(9)
    for _ in range(10):  # of each kind of file
        child = subprocess.Popen(
            [sys.executable, "-c", WRITER, str(tmp_path / name)], stdout=subprocess.PIPE, env=environment()
        )
        assert child.stdout is not None
        child.stdout.readline()
        deadline = time.monotonic() + 20
        while not (tmp_path / name).exists() and time.monotonic() < deadline:
            time.sleep(0.005)
        time.sleep(chance.random() * 0.1)
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
        trials = read(tmp_path / name, labelled=False)
        assert len(trials) == 20000
        assert len(set(trials.scores.tolist())) == 1


@pytest.mark.parametrize("name", ["a.csv", "a.parquet", "a.csv.gz"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, name: str):
    write_text_atomically(tmp_path / name, "old\n")
    once = (
        "import sys, numpy as np\nfrom tercet.io import write_table\nimport tercet as tc\n"
        "try: write_table(sys.argv[1], {'score': np.random.default_rng(0).normal(size=200000)})\n"
        "except tc.InputError as error: print(error); sys.exit(1)\n"
    )
    command = f'ulimit -f 100; exec {sys.executable} -c "$0" "$1"'
    done = subprocess.run(
        ["bash", "-c", command, once, str(tmp_path / name)],
        capture_output=True,
        text=True,
        env=environment(),
        check=False,
    )
    assert done.returncode == 1, done.stderr
    assert "File too large" in done.stdout
    assert (tmp_path / name).read_text() == "old\n"
    assert os.listdir(tmp_path) == [name]


def test_a_fingerprint_is_the_name_and_the_hash_of_the_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import io

    (tmp_path / "a.csv").write_bytes(b"score\n1\n")
    right = hashlib.sha256(b"score\n1\n").hexdigest()
    assert fingerprint(tmp_path / "a.csv") == {"name": "a.csv", "sha256": right}
    with pytest.raises(tc.InputError, match=r"b\.csv cannot be read"):
        fingerprint(tmp_path / "b.csv")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"score\n1\n")))
    with stdin_file() as path:
        assert fingerprint(path) == {"name": "stdin", "sha256": right}
        assert read(path).name == "stdin"


def test_progress_is_told_in_bytes(tmp_path: Path):
    (tmp_path / "a.csv.gz").write_bytes(gzip.compress(b"score\n" + b"1.25\n" * 100_000))
    told: list[tuple[int, int]] = []
    read(tmp_path / "a.csv.gz", progress=lambda done, total: told.append((done, total)))
    assert told
    assert all(0 <= done <= total for done, total in told)
    assert told[-1][0] == told[-1][1]


def test_what_was_read_is_written_back_in_its_layout(tmp_path: Path):
    (tmp_path / "s.csv").write_text("enrol,test,score,label,speaker,w\na b,c,1,1,x,2\na,b c,2,0,y,3\n")
    names = {"id_column": ["enrol", "test"], "weight_column": "w"}
    options = {**names, "group_columns": ["speaker"]}
    trials = read(tmp_path / "s.csv", **options)
    assert trials.ids.tolist() == [("a b", "c"), ("a", "b c")]
    write_like(tmp_path / "out.csv", [(trials, {"score": trials.scores * 2})], **names)
    assert (tmp_path / "out.csv").read_text().splitlines()[0] == "enrol,test,score,speaker,w,label"
    again = read(tmp_path / "out.csv", **options)
    assert again.scores.tolist() == [2, 4]
    for name in ("labels", "weights", "ids"):
        assert getattr(again, name).tolist() == getattr(trials, name).tolist()
    assert again.groups["speaker"].tolist() == ["x", "y"]


def test_pieces_are_numbered_on_where_there_are_no_ids(tmp_path: Path):
    trials = tc.Trials.of_llr([1.0, 2.0, 3.0])
    pieces = [(trials, {"score": trials.scores})] * 2
    write_like(tmp_path / "out.csv", pieces)
    assert (tmp_path / "out.csv").read_text() == "trial,score\n0,1.0\n1,2.0\n2,3.0\n3,1.0\n4,2.0\n5,3.0\n"


def test_a_list_of_the_field_keeps_its_ids(tmp_path: Path):
    (tmp_path / "s.txt").write_text("a x 1\nb y 2\n")
    trials = read(tmp_path / "s.txt")
    write_like(tmp_path / "out.tsv", [(trials, {"score": trials.scores})])
    assert (tmp_path / "out.tsv").read_text() == "enrol\ttest\tscore\na\tx\t1.0\nb\ty\t2.0\n"
