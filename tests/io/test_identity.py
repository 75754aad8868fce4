"""The same data in any format is the same Trials, bit for bit."""

import csv
import gzip
import io
import json
import re
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tercet.errors import InputError
from tercet.io import read, write_table

rng = np.random.default_rng(45)
SCORES = np.concatenate(
    [rng.normal(size=500) * 10.0 ** rng.integers(-300, 300, 500), [np.inf, -np.inf, 5e-324, 1.7976931348623157e308]]
)
LABELS = rng.random(len(SCORES)) < 0.3
WEIGHTS = rng.random(len(SCORES))
SITES = np.array([f"site {n % 7}" for n in range(len(SCORES))], object)


def text(separator: str) -> str:
    rows = zip(SCORES.tolist(), LABELS.tolist(), WEIGHTS.tolist(), SITES, strict=True)
    body = (separator.join([repr(s), "1" if one else "0", repr(w), site]) for s, one, w, site in rows)
    return "\n".join([separator.join(["score", "label", "weight", "site"]), *body]) + "\n"


def json_lines() -> str:
    rows = zip(SCORES.tolist(), LABELS.tolist(), WEIGHTS.tolist(), SITES, strict=True)
    objects = ({"site": site, "score": s, "label": int(one), "weight": w} for s, one, w, site in rows)
    return "".join(json.dumps(one) + "\n" for one in objects)


def parquet() -> bytes:
    out = io.BytesIO()
    table = {"label": LABELS, "site": SITES.tolist(), "score": SCORES, "weight": WEIGHTS, "nested": [[1]] * len(SCORES)}
    pq.write_table(pa.table(table), out, row_group_size=100)
    return out.getvalue()


def npz() -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, score=SCORES, label=LABELS.astype(int), weight=WEIGHTS, site=SITES.astype(str))
    return out.getvalue()


def own_parquet(tmp_path: Path) -> bytes:
    write_table(tmp_path / "own.parquet", {"score": SCORES, "label": LABELS, "weight": WEIGHTS, "site": SITES})
    return (tmp_path / "own.parquet").read_bytes()


FILES = {
    "a.csv": lambda _: text(",").encode(),
    "bom.csv": lambda _: b"\xef\xbb\xbf" + text(",").encode(),
    "crlf.csv": lambda _: text(",").replace("\n", "\r\n").encode(),
    "a.tsv": lambda _: text("\t").encode(),
    "a.txt": lambda _: text(";").encode(),
    "glob[1]*?.csv": lambda _: text(",").encode(),
    "it's.csv": lambda _: text(",").encode(),
    "a.csv.gz": lambda _: gzip.compress(text(",").encode()),
    "two members.csv.gz": lambda _: gzip.compress(text(",")[:999].encode()) + gzip.compress(text(",")[999:].encode()),
    "a.tsv.zst": lambda _: zstandard.compress(text("\t").encode()),
    "a.jsonl": lambda _: json_lines().encode(),
    "a.jsonl.gz": lambda _: gzip.compress(json_lines().encode()),
    "a.parquet": lambda _: parquet(),
    "a.npz": lambda _: npz(),
    "own.parquet": own_parquet,
}


def same(trials, name):
    assert trials.name == name
    assert trials.scores.tobytes() == (SCORES + 0.0).tobytes()
    assert trials.labels.dtype == np.bool_
    assert trials.labels.tobytes() == LABELS.tobytes()
    assert trials.weights.tobytes() == WEIGHTS.tobytes()
    assert trials.groups["site"].tolist() == SITES.tolist()
    assert trials.classes == ("nontarget", "target")
    assert trials.meaning == "llr"


@pytest.mark.parametrize("name", FILES)
def test_every_format_holds_the_same_bits(tmp_path: Path, name: str):
    (tmp_path / name).write_bytes(FILES[name](tmp_path))
    stem = name.removesuffix(".gz").removesuffix(".zst").rpartition(".")[0]
    same(read(tmp_path / name, weight_column="weight", group_columns=["site"]), stem)


@pytest.mark.parametrize("name", ["a.csv", "a.tsv.zst", "a.csv.gz", "a.jsonl", "a.parquet", "a.npz"])
def test_standard_input_holds_the_same_bits(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(FILES[name](tmp_path))))
    same(read("-", weight_column="weight", group_columns=["site"]), "stdin")


def test_npy_holds_the_same_bits(tmp_path: Path):
    np.save(tmp_path / "s.npy", SCORES)
    np.save(tmp_path / "l.npy", LABELS.astype(np.int8))
    trials = read(tmp_path / "s.npy", labels=tmp_path / "l.npy")
    assert trials.scores.tobytes() == (SCORES + 0.0).tobytes()
    assert trials.labels.tobytes() == LABELS.tobytes()


def test_a_target_given_as_text_is_found_among_numbers_and_true_false(tmp_path: Path):
    np.save(tmp_path / "s.npy", SCORES)
    for labels, target in ((LABELS + 1, "2"), (LABELS * 1.0, "1"), (LABELS, "true"), (np.where(LABELS, "y", "n"), "y")):
        np.save(tmp_path / "l.npy", labels)
        trials = read(tmp_path / "s.npy", labels=tmp_path / "l.npy", target=target)
        assert trials.labels.tobytes() == LABELS.tobytes()
        assert trials.classes[1] == target


def test_matrices_either_way_round(tmp_path: Path):
    matrix, labels = rng.normal(size=(50, 3)), rng.integers(0, 3, 50)
    np.save(tmp_path / "l.npy", labels)
    for one in (matrix, np.asfortranarray(matrix), np.ascontiguousarray(matrix.T)):
        np.save(tmp_path / "m.npy", one)
        trials = read(tmp_path / "m.npy", labels=tmp_path / "l.npy", meaning="log-likelihoods")
        assert trials.scores.tobytes() == (matrix + 0.0).tobytes()
        assert trials.labels.tolist() == labels.tolist()


numbers = st.one_of(
    st.floats(allow_nan=False).map(repr),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
    st.from_regex(r"\A[+-]?[0-9]{1,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,3})?\Z"),
    st.integers(0, 2**60).map(lambda n: f"{9007199254740992 + 2 * n + 1}.{'0' * (n % 9)}1"),  # next to a half-way point
)


@given(st.lists(numbers, min_size=1, max_size=50))
def test_text_is_rounded_to_the_nearest_double_as_python_does(tmp_path_factory, texts):
    texts = [one for one in texts if not np.isinf(float(one)) or "inf" in one.lower()] or ["1"]
    whole = re.compile("[+-]?[0-9]+")  # which are refused if a double cannot hold them
    texts = [f"{one}.0" if whole.fullmatch(one) else one for one in texts]
    path = tmp_path_factory.mktemp("n") / "n.csv"
    path.write_text("score\n" + "\n".join(texts) + "\n")
    assert read(path).scores.tobytes() == (np.array([float(one) for one in texts]) + 0.0).tobytes()


cells = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1, max_size=8)


@given(st.lists(st.tuples(cells, cells), min_size=1, max_size=20), st.sampled_from([",", "\t", ";"]))
def test_any_text_in_quotes_comes_back(tmp_path_factory, rows, separator):
    path = tmp_path_factory.mktemp("q") / "q.csv"
    with path.open("w", newline="", encoding="utf-8") as out:
        table = csv.writer(out, delimiter=separator, quoting=csv.QUOTE_ALL, lineterminator="\n")
        table.writerow(["who", "score", "site"])
        table.writerows([who, "1.5", site] for who, site in rows)
    trials = read(path, separator=separator, id_column="who", group_columns=["site"])
    assert trials.ids.tolist() == [who for who, _ in rows]
    assert trials.groups["site"].tolist() == [site for _, site in rows]


@given(st.text('ab1,"\n\r ', max_size=30))
def test_broken_text_is_read_as_python_reads_it_or_refused(tmp_path_factory, body):
    path = tmp_path_factory.mktemp("b") / "b.csv"
    path.write_bytes(("score,who\n" + body).encode())
    try:
        found = read(path, id_column="who")
    except InputError:
        return
    with path.open(newline="") as text:
        right = [row for row in csv.reader(text, strict=True) if row][1:]
    assert [len(row) for row in right] == [2] * len(right)
    assert found.scores.tolist() == [float(row[0]) for row in right]
    assert found.ids.tolist() == [row[1] for row in right]
