"""A source of trials gives any range of rows of any format: the same bits as those rows of the whole."""

import gzip
import json
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tercet as tc
from tercet.io import read, read_chunks, write_table
from tercet.io.source import open_source

ROWS = 500
RNG = np.random.default_rng(21)
SCORES = RNG.normal(size=ROWS)
WORDS = np.where(np.arange(ROWS) < 300, "spoof", "bona fide").astype(object)  # the first ranges hold one class only
BITS = (RNG.random(ROWS) < 0.3).astype(int)
IDS = np.array([f"t{k}" for k in range(ROWS)], object)
WEIGHTS = RNG.integers(1, 5, ROWS).astype(float)
COLUMNS = {"score": SCORES, "label": WORDS, "id": IDS, "speaker": np.array([f"s{k % 7}" for k in range(ROWS)], object)}


def _csv(folder, **more):
    write_table(folder / "a.csv", {**COLUMNS, **more})
    return folder / "a.csv"


def _lines(folder, name, rows):
    (folder / name).write_text("".join(" ".join(map(str, row)) + "\n" for row in rows))
    return folder / name


def csv(folder):
    return _csv(folder), {"target": "spoof", "id_column": "id", "group_columns": ["speaker"]}


def tsv_gz(folder):
    write_table(folder / "a.tsv.gz", COLUMNS)
    return folder / "a.tsv.gz", {"target": "spoof"}


def jsonl(folder):
    rows = zip(*(values.tolist() for values in COLUMNS.values()), strict=True)
    lines = (json.dumps(dict(zip(COLUMNS, row, strict=True))) for row in rows)
    (folder / "a.jsonl").write_text("\n".join(lines) + "\n")
    return folder / "a.jsonl", {"target": "spoof", "id_column": "id"}


def packed_jsonl(folder):
    path, options = jsonl(folder)
    (folder / "a.jsonl.gz").write_bytes(gzip.compress(path.read_bytes()))
    return folder / "a.jsonl.gz", options


def parquet(folder):
    pq.write_table(pa.table({**COLUMNS, "weight": WEIGHTS}), folder / "a.parquet", row_group_size=120)
    return folder / "a.parquet", {"target": "spoof", "weight_column": "weight", "id_column": "id"}


def parquet_of_numbers(folder):
    labels = np.where(BITS == 1, 7, 3)
    pq.write_table(
        pa.table({"score": SCORES.astype(np.float32), "label": labels}), folder / "b.parquet", row_group_size=9
    )
    return folder / "b.parquet", {"target": 7}


def npy_with_labels(folder):
    np.save(folder / "a.npy", SCORES)
    np.save(folder / "l.npy", BITS)
    return folder / "a.npy", {"labels": folder / "l.npy"}


def npy_with_text_labels(folder):
    np.save(folder / "a.npy", SCORES)
    (folder / "l.csv").write_text("label\n" + "\n".join(WORDS) + "\n")
    return folder / "a.npy", {"labels": folder / "l.csv", "target": "spoof"}


def npy_of_fields(folder):
    table = np.zeros(ROWS, [("score", "<f8"), ("label", "<U9")])
    table["score"], table["label"] = SCORES, WORDS
    np.save(folder / "f.npy", table)
    return folder / "f.npy", {"target": "spoof"}


def npz(folder):
    np.savez_compressed(folder / "a.npz", score=SCORES, label=WORDS.astype(str), w=WEIGHTS, id=IDS.astype(str))
    return folder / "a.npz", {"target": "spoof", "weight_column": "w", "id_column": "id"}


def matrix(folder):
    np.save(folder / "m.npy", np.asfortranarray(RNG.normal(size=(3, ROWS))))
    np.save(folder / "l.npy", np.arange(ROWS) % 3)
    return folder / "m.npy", {"labels": folder / "l.npy", "meaning": "log-likelihoods"}


def matrix_by_rows(folder):
    np.save(folder / "m.npy", RNG.normal(size=(ROWS, 3)))
    np.save(folder / "l.npy", np.arange(ROWS) % 3)
    return folder / "m.npy", {"labels": folder / "l.npy", "meaning": "log-likelihoods"}


def matrix_csv(folder):
    path = folder / "m.csv"
    write_table(path, {"a": SCORES, "b": -SCORES, "c": SCORES * 2, "label": np.array(list("abcab") * 100, object)})
    return path, {"meaning": "log-likelihoods"}


def list_with_key(folder):
    order = RNG.permutation(ROWS)
    key = _lines(folder, "key.txt", [(BITS[k], f"m{k % 9}", f"u{k}") for k in range(ROWS)])
    return _lines(folder, "s.txt", [(f"m{k % 9}", f"u{k}", SCORES[k]) for k in order]), {"key": key, "keep_ids": True}


def list_with_longer_key(folder):
    path, options = list_with_key(folder)
    with options["key"].open("a") as key:
        key.write("1 m0 new\n0 m1 new\n")
    return path, {**options, "missing": "reject"}


def bob(folder):
    return _lines(folder, "bob.txt", [(k % 3, k % 2, f"p{k}", SCORES[k]) for k in range(ROWS)]), {"format": "bob"}


FORMATS = [
    csv, tsv_gz, jsonl, packed_jsonl, parquet, parquet_of_numbers, npy_with_labels, npy_with_text_labels, npy_of_fields,
    npz, matrix, matrix_by_rows, matrix_csv, list_with_key, list_with_longer_key, bob,
]  # fmt: skip


def same(part, whole, start, stop):
    assert np.array_equal(part.scores, whole.scores[start:stop])
    assert part.classes == whole.classes
    for name in ("labels", "weights", "ids"):
        ours, theirs = getattr(part, name), getattr(whole, name)
        assert (ours is None) == (theirs is None)
        assert ours is None or ours.tolist() == theirs[start:stop].tolist()
    assert {n: g.tolist() for n, g in part.groups.items()} == {
        n: g[start:stop].tolist() for n, g in whole.groups.items()
    }


@pytest.mark.parametrize("make", FORMATS, ids=lambda make: make.__name__)
def test_any_range_is_that_range_of_the_whole(make, tmp_path):
    path, options = make(tmp_path)
    whole = read(path, **options)
    assert whole.labels is not None
    with open_source(path, **{"keep_ids": True, **options}) as source:
        assert source.rows == len(whole)
        assert (source.starts[0], source.starts[-1]) == (0, source.rows)
        for start, stop in [(0, 1), (17, 18), (100, 353), (299, source.rows), (0, source.rows)]:
            same(source.trials(start, stop), whole, start, stop)
    start = 0
    for piece in read_chunks(path, 133, **options):
        same(piece, whole, start, start + len(piece))
        start += len(piece)
    assert start == len(whole)


@pytest.mark.parametrize("make", FORMATS, ids=lambda make: make.__name__)
def test_batches_number_their_rows_and_code_labels_alike(make, tmp_path):
    path, options = make(tmp_path)
    whole = read(path, **options)
    with open_source(path, **{"keep_ids": True, **options}) as source:
        names = source.label_names
        assert names is not None
        assert list(names) == sorted(names)
        batches = list(source.batches(64))
        assert [batch.start for batch in batches] == list(range(0, source.rows, 64))
        scores = np.concatenate([batch.scores for batch in batches])
        codes = np.concatenate([batch.labels for batch in batches])
    assert np.array_equal(scores, whole.scores)
    assert len(codes) == len(whole)
    for code in range(len(names)):  # a name has one class everywhere
        assert len(set(whole.labels[codes == code].tolist())) <= 1


def test_the_row_groups_of_parquet_are_where_reading_may_begin(tmp_path):
    path, options = parquet(tmp_path)
    with open_source(path, **{"keep_ids": True, **options}) as source:
        assert source.starts == (0, 120, 240, 360, 480, 500)


def test_threads_read_ranges_at_once(tmp_path):
    path, options = csv(tmp_path)
    whole = read(path, **options)
    failures = []
    with open_source(path, **{"keep_ids": True, **options}) as source:

        def job(start):
            try:
                same(source.trials(start, start + 25), whole, start, start + 25)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=job, args=(25 * k,)) for k in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert not failures


def test_a_damaged_page_is_refused_only_when_its_rows_are_read(tmp_path):
    path = tmp_path / "a.parquet"
    table = pa.table({"score": SCORES, "other": SCORES + 1})
    pq.write_table(table, path, row_group_size=100, write_page_checksum=True, compression="none", use_dictionary=False)
    raw = bytearray(path.read_bytes())
    raw[raw.index(SCORES[320].tobytes())] ^= 1
    path.write_bytes(raw)
    with pytest.raises(tc.InputError, match="checksum"):
        read(path)
    with open_source(path) as source:
        assert len(source.trials(0, 300)) == 300
        with pytest.raises(tc.InputError, match="checksum"):
            source.trials(250, 301)
        with pytest.raises(tc.InputError, match="checksum"):
            list(source.batches(50))
        assert len(source.trials(400, 500)) == 100


def test_a_range_is_refused_at_the_line_of_the_whole(tmp_path):
    lines = [f"a u{k} {'x' if k == 400 else k}\n" for k in range(ROWS)]
    (tmp_path / "s.txt").write_text("".join(lines))
    (tmp_path / "k.txt").write_text("".join(f"{k % 2} a u{k}\n" for k in reversed(range(ROWS))))
    with open_source(tmp_path / "s.txt", key=tmp_path / "k.txt", format="voxceleb") as source:
        assert len(source.trials(0, 400)) == 400
        with pytest.raises(tc.InputError, match=r"s\.txt: line 401, column 'score' is 'x'"):
            source.trials(400, 410)


def test_what_lies_in_temporary_files_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    for make in FORMATS:
        (tmp_path / make.__name__).mkdir()
        path, options = make(tmp_path / make.__name__)
        with open_source(path, **{"keep_ids": True, **options}) as source:
            source.trials(0, 10)
        assert list((tmp_path / "temporary").iterdir()) == []
