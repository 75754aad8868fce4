"""Which road is taken: memory where the trials fit, a scan where they do not; the same numbers either way."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tercet as tc
from tercet.outofcore import open_source
from tercet.outofcore.limits import IN_MEMORY_ROW, PROCESS, Budget
from tercet.outofcore.scan import memory_needed

from .helpers import APPS, assert_same_bits, evaluated

ROWS = 1500


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(0)
    labels = rng.random(ROWS) < 0.3
    return np.round(rng.normal(size=ROWS) * 2 + labels * 2, 3), labels, rng.integers(1, 9, ROWS) / 4.0


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(Budget, "of", lambda *_, **__: Budget(kept=300, edges=64, part=400, at_once=0))


def lines(trials, cut=","):
    rows = zip(trials[0].tolist(), trials[1].astype(int), trials[2].tolist(), strict=True)
    return cut.join(["score", "label", "w"]) + "\n" + "".join(f"{s!r}{cut}{y}{cut}{w!r}\n" for s, y, w in rows)


def csv(folder, trials):
    (folder / "a.csv").write_text(lines(trials))
    return folder / "a.csv", {}


def packed(folder, trials):
    (folder / "a.tsv.gz").write_bytes(gzip.compress(lines(trials, "\t").encode()))
    return folder / "a.tsv.gz", {}


def json_lines(folder, trials):
    rows = zip(trials[0].tolist(), trials[1].tolist(), trials[2].tolist(), strict=True)
    text = "".join(json.dumps({"score": s, "label": y, "w": w}) + "\n" for s, y, w in rows)
    (folder / "a.jsonl").write_text(text)
    return folder / "a.jsonl", {}


def parquet(folder, trials):
    table = pa.table({"score": trials[0], "label": trials[1], "w": trials[2]})
    pq.write_table(table, folder / "a.parquet", row_group_size=250)
    return folder / "a.parquet", {}


def npz(folder, trials):
    np.savez(folder / "a.npz", score=trials[0], label=trials[1], w=trials[2])
    return folder / "a.npz", {}


def npy_pair(folder, trials):
    np.save(folder / "s.npy", trials[0])
    np.save(folder / "l.npy", trials[1])
    return folder / "s.npy", {"labels": folder / "l.npy"}


def trial_list(folder, trials):
    order = np.random.default_rng(1).permutation(ROWS)
    scores = "".join(f"m{k} t{k} {s!r}\n" for k, s in enumerate(trials[0].tolist()))
    key = "".join(f"m{k} t{k} {'target' if trials[1][k] else 'nontarget'}\n" for k in order)
    (folder / "scores.txt").write_text(scores)
    (folder / "key.txt").write_text(key)
    return folder / "scores.txt", {"key": folder / "key.txt"}


FORMATS = [csv, packed, json_lines, parquet, npz, npy_pair, trial_list]


@pytest.mark.parametrize("write", FORMATS)
def test_every_format_gives_the_bits_of_memory(tmp_path, trials, small, write):
    path, more = write(tmp_path, trials)
    assert_same_bits(evaluated(path, APPS, **more), tc.evaluate(tc.read(path, **more), APPS))


@pytest.mark.parametrize("write", FORMATS[:5])
def test_every_format_with_weights_gives_the_bits_of_memory(tmp_path, trials, small, write):
    path, _ = write(tmp_path, trials)
    truth = tc.read(path, weight_column="w")
    assert truth.weights is not None
    assert_same_bits(evaluated(path, APPS, weight_column="w"), tc.evaluate(truth, APPS))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("score,label\n1.0,1\n,0\n", "line 3, column 'score'"),
        ("score,label\n1.0,1\n1e400,0\n", "too large for a 64-bit number"),
        ("score,label\n1.0,1\nnan,0\n", "line 3, column 'score'"),
        ("score,label\n1.0,1\n2.0,\n", "line 3, column 'label'"),
        ("score,label\n", "no rows"),
    ],
)
def test_both_roads_refuse_the_same_files_in_the_same_words(tmp_path, text, says):
    (tmp_path / "a.csv").write_text(text)
    words = []
    for ask in (lambda: tc.read(tmp_path / "a.csv"), lambda: evaluated(tmp_path / "a.csv", APPS)):
        with pytest.raises(tc.InputError, match=says) as caught:
            ask()
        words.append(str(caught.value))
    assert words[0] == words[1]


def test_size_decides_which_road_is_taken(tmp_path, trials):
    path, _ = parquet(tmp_path, trials)
    needed = memory_needed(path)
    assert needed == PROCESS + ROWS * IN_MEMORY_ROW
    assert isinstance(open_source(path, memory_limit=10**9), tc.Trials)
    limit = needed - 1 if needed > 250 << 20 else 10**9
    found = open_source([path], memory_limit=limit, engine="local")
    assert isinstance(found, tc.Scan)
    assert_same_bits(tc.evaluate(found, APPS), tc.evaluate(tc.read(path), APPS))


def test_a_file_that_is_too_large_for_memory_is_scanned(tmp_path, trials, monkeypatch):
    monkeypatch.setattr("tercet.outofcore.scan.IN_MEMORY_ROW", 10**6)
    path, _ = parquet(tmp_path, trials)
    assert isinstance(open_source(path), tc.Scan)
    with pytest.raises(
        tc.InputError, match=r"--ci needs every row of one file in memory, about 1\.73 GB here, .* 1 GB"
    ):
        open_source(path, needs_rows="--ci")
    assert isinstance(open_source(path, memory_limit=2 * 10**9, needs_rows="--ci"), tc.Trials)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"labels": "l.npy"}, "labels= and key= go with one file"),
        ({"target": "yes"}, "target='yes' is not among the labels"),
        ({"weight_column": "weight"}, "has no column 'weight'"),
        ({"label_column": "truth"}, "has no column 'truth'"),
    ],
)
def test_what_cannot_be_answered_is_refused_with_the_way_out(tmp_path, trials, more, says):
    path, _ = parquet(tmp_path, trials)
    (tmp_path / "b.parquet").write_bytes(path.read_bytes())
    with pytest.raises(tc.InputError, match=says):
        evaluated([path, tmp_path / "b.parquet"], APPS, **more)


def test_files_without_labels_are_refused(tmp_path, trials):
    pq.write_table(pa.table({"score": trials[0]}), tmp_path / "a.parquet")
    with pytest.raises(tc.InputError, match="has no labels: they come from a column"):
        evaluated(tmp_path / "a.parquet", APPS)
