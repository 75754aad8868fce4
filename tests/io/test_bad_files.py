"""Bad files: each is refused with its name, the place, the value and the way out, and shows no other column."""

import contextlib
import gzip
import io
import os
import struct
import zipfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

import tercet as tc
from tercet.io import read, write_table

SECRET = "patient-4711"


def refused(path: Path, **more) -> str:
    with pytest.raises(tc.InputError) as caught:
        read(path, **more)
    message = str(caught.value)
    assert SECRET not in message
    assert "\n" not in message
    return message


# name: (bytes of the file, words the refusal must hold)
TEXTS = {
    "short row": (b"score,label,who\n1,1,a\n2,0\n", ["line 3", "has 2 columns where 3", "'score'"]),
    "long row": (b"score,label,who\n1,1,a\n2,0,b,patient-4711\n", ["line 3", "has 4 columns where 3"]),
    "row that ends in a separator": (b"score,label\n1,1\n2,0,\n", ["line 3", "has 3 columns where 2"]),
    "truncated last row": (b"score,label,who\n1,1,patient-4711\n2,", ["line 3", "has 2 columns where 3", "cut off"]),
    "truncated last cell": (b"score,label\n1,1\n2,", ["line 3", "no line end", "cut off"]),
    "truncated last number": (b"label,score\n1,3.5\n0,-1", ["line 3", "no line end", "cut off", "echo >> FILE"]),
    "whole numbers beyond 2^53": (
        b"score,label\n9007199254740992,1\n9007199254740993,0\n",
        ["line 3", "'9007199254740993'", "merge"],
    ),
    "whole numbers beyond all doubles": (b"score,label\n1,1\n1" + b"0" * 400 + b",0\n", ["line 3", "too large"]),
    "a long last line": (b"score,label,c\n1,1,x\n2,0," + b"y" * (33 << 20) + b"\n", ["line of more than 2000000"]),
    "open quote": (b'score,label,who\n1,1,a\n2,0,"patient-4711\n3,1,c\n', ["line 3", "never closed"]),
    "text after a quote": (b'score,label,who\n1,1,"patient-4711"x\n', ["line 2", "after a closing quote"]),
    "decimal comma in quotes": (b'score,label\n"1,5",1\n2,0\n', ["line 2", "'score'", "'1,5'", "decimal point"]),
    "decimal comma": (b"score,label\n1,5,1\n2,0\n", ["line 2", "has 3 columns", "decimal comma"]),
    "latin-1": (
        "score,label,who\n1,1,x\n2,0,Jos\xe9\n".encode("latin-1"),
        ["line 3", "'who'", "UTF-8", "iconv -f LATIN1"],
    ),
    "latin-1 header": ("score,label,pa\xefs\n1,1,x\n".encode("latin-1"), ["line 1", "UTF-8", "iconv"]),
    "UTF-16": ("score,label\n1,1\n".encode("utf-16"), ["UTF-16", "iconv -f UTF-16"]),
    "UTF-16 without a mark": ("score,label\n1,1\n".encode("utf-16-be"), ["UTF-16", "iconv -f UTF-16"]),
    "NUL byte": (b"score,label\n1,1\n2\0,0\n", ["line 3", "NUL"]),
    "header only": (b"score,label\n", ["header", "no rows"]),
    "header only, no line end": (b"score,label", ["header", "no rows"]),
    "blank": (b"\n\n \n", ["blank"]),
    "empty": (b"", ["empty"]),
    "missing column": (b"Score,label,who\n1,1,patient-4711\n", ["no column 'score'", "'Score', 'label', 'who'"]),
    "doubled column": (b"score,score,label\n1,2,1\n", ["'score'", "2 times"]),
    "another separator": (b"score;label\n1;1\n", ["no column 'score'", "separator="]),
    "no header": (b"1.5,1\n2.5,0\n", ["no column 'score'", "columns=["]),
    "NaN": (
        b"score,label,who\n1,1,a\nnan,0,patient-4711\nNaN,1,c\n",
        ["line 3", "'score'", "'nan'", "NaN", "-inf", "2"],
    ),
    "words": (b"score,label,who\n1,1,a\nhigh,0,patient-4711\n", ["line 3", "column 'score'", "'high'", "not a number"]),
    "underscore": (b"score,label\n1_000,1\n", ["line 2", "'1_000'"]),
    "hexadecimal": (b"score,label\n0x10,1\n", ["line 2", "'0x10'"]),
    "other digits": ("score,label\n\u0661,1\n".encode(), ["line 2", "not a number"]),
    "too large": (b"score,label\n1,1\n-1e400,0\ninf,1\n", ["line 3", "'-1e400'", "too large"]),
    "missing score": (b"score,label,who\n,1,patient-4711\n2,0,b\n", ["line 2", "'score'", "missing"]),
    "missing label": (b"score,label,who\n1,1,a\n2,,patient-4711\n", ["line 3", "'label'", "missing"]),
    "after a blank line": (b"score,label\n\n1,1\n\nx,0\n", ["line 5", "'x'"]),
    "after a cell of two lines": (b'score,label,who\n1,1,"a\nb"\nx,0,c\n', ["line 4", "'x'"]),
    "terminal codes": (b"score,label\n\x1b[31mred,1\n", ["line 2", r"\x1b[31mred"]),
    "too wide": (b"score," + b",".join(b"c%d" % n for n in range(20000)) + b"\n", ["20001 columns", "16384"]),
}


@pytest.mark.parametrize("name", TEXTS)
@pytest.mark.parametrize("packing", ["", ".gz", ".zst"])
def test_a_bad_text_is_refused_by_place_value_and_way_out(tmp_path: Path, name: str, packing: str):
    data, words = TEXTS[name]
    pack = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}[packing]
    path = tmp_path / f"bad.csv{packing}"
    path.write_bytes(pack(data))
    message = refused(path)
    if name != "empty" or not packing:
        assert all(word in message for word in ["bad.csv", *words]), message


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('{"score": 1, "label": 1}\n{"score": 2, "label": 0\n', ["line 2", "character", "not JSON"]),
        ('{"score": 1, "label": 1}\n\n{"label": 0, "who": "patient-4711"}\n', ["line 3", "'score'", "missing"]),
        ('{"score": 1, "label": 1}\n{"score": NaN, "label": 0}\n', ["line 2", "'NaN'"]),
        ('{"score": 1, "label": 1}\n{"score": true, "label": 0}\n', ["line 2", "'true'", "not a number"]),
        ('{"score": 1, "label": 1}\n[1, 2]\n', ["line 2", "not a JSON object"]),
        ('{"score": 1, "label": 1}\n{"score": [1], "label": 0}\n', ["line 2", "not a number"]),
        ('{"scores": 1, "label": 1}\n', ["no column 'score'", "'scores'"]),
        ("[" * 100000 + "\n", ["line 1", "nested"]),
        ("{}\n", ["JSON object"]),
    ],
)
def test_bad_json_lines(tmp_path: Path, text: str, words: list[str]):
    (tmp_path / "bad.jsonl").write_text(text)
    message = refused(tmp_path / "bad.jsonl")
    assert all(word in message for word in ["bad.jsonl", *words]), message


def test_what_is_no_file(tmp_path: Path):
    assert "no such file" in refused(tmp_path / "nothing.csv")
    assert "is a folder" in refused(tmp_path)
    assert "no such file" in refused(tmp_path / "a\x1b[31m.csv")
    (tmp_path / "x").write_text("score\n1\n")
    assert "cannot be opened" in refused(tmp_path / "x" / "y.csv")


@pytest.mark.skipif(os.name != "posix" or os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(tmp_path: Path):
    (tmp_path / "a.csv").write_text("score\n1\n")
    (tmp_path / "a.csv").chmod(0)
    assert "permission" in refused(tmp_path / "a.csv")


def test_permission_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (tmp_path / "a.csv").write_text("score\n1\n")
    monkeypatch.setattr(os, "access", lambda *_: False)
    assert "permission" in refused(tmp_path / "a.csv")


@pytest.mark.parametrize("suffix", ["parquet", "npy", "npz", "csv.gz", "csv.zst"])
def test_a_name_that_lies_about_its_bytes(tmp_path: Path, suffix: str):
    (tmp_path / f"a.{suffix}").write_text("score,label\n1,1\n")
    assert f"a.{suffix}" in refused(tmp_path / f"a.{suffix}")


def test_pickles_of_any_kind_are_refused(tmp_path: Path):
    import pickle

    class Bomb:
        def __reduce__(self):
            return (os.mkdir, (str(tmp_path / "executed"),))

    np.save(tmp_path / "o.npy", np.array([Bomb()], object), allow_pickle=True)
    np.savez(tmp_path / "o.npz", score=np.array([Bomb()], object))
    (tmp_path / "p.csv").write_bytes(pickle.dumps(Bomb()))
    (tmp_path / "p.pkl").write_bytes(pickle.dumps(Bomb(), protocol=2))
    for name in ("o.npy", "o.npz", "p.csv", "p.pkl"):
        assert "pickle" in refused(tmp_path / name)
    assert not (tmp_path / "executed").exists()


def npy(shape: str, descr: str = "'<f8'", data: bytes = b"\0" * 16) -> bytes:
    header = f"{{'descr': {descr}, 'fortran_order': False, 'shape': {shape}, }}".encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + data


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (npy("(1000000000000,)"), "says it holds"),
        (npy("(1000000000000, 1000000000000)"), "says it holds"),
        (npy("(3,)"), "says it holds"),
        (npy("(1,)"), "says it holds"),
        (npy("(-2,)"), "damaged npy header"),
        (npy("(2,)", "[('a', '<f8')]"), "'score'"),
        (npy("(2,)", "[('score', '<c8')]"), "values of type"),
        (npy("(2,)", "'<c8'"), "values of type"),
        (npy("(2,)", "'<M8[s]'"), "values of type"),
        (npy("__import__('os').getcwd()"), "damaged npy header"),
        (b"\x93NUMPY\x01\x00\xff\xff{", "damaged npy header"),
        (b"\x93NUMPY", "damaged npy header"),
        (npy("(2,)", data=struct.pack("<dd", 1.0, float("nan"))), "NaN"),
        (npy("()", data=b"\0" * 8), "one or two dimensions"),
        (npy("(2,)", "'<U2'"), "must be numbers"),
    ],
)
def test_npy_headers_are_not_believed(tmp_path: Path, data: bytes, word: str):
    (tmp_path / "a.npy").write_bytes(data)
    message = refused(tmp_path / "a.npy")
    assert "a.npy" in message
    assert word in message
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("score.npy", data)
    assert word in refused(tmp_path / "a.npz")


def test_npz_members(tmp_path: Path):
    np.savez(tmp_path / "a.npz", llr=np.zeros(3))
    assert "no array 'score'; its arrays are 'llr'" in refused(tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "b.npz", "w") as archive:
        archive.writestr("sheet.xml", "x")
    assert "without numpy arrays" in refused(tmp_path / "b.npz")
    (tmp_path / "c.npz").write_bytes((tmp_path / "a.npz").read_bytes()[:-30])
    assert "not a complete npz" in refused(tmp_path / "c.npz")
    data = bytearray((tmp_path / "a.npz").read_bytes())
    data[150] ^= 1
    (tmp_path / "d.npz").write_bytes(data)
    assert "d.npz" in refused(tmp_path / "d.npz", score_column="llr")


def test_bombs_are_refused_before_they_are_allocated(tmp_path: Path):
    few = 1 << 20
    np.save(tmp_path / "a.npy", np.zeros(1 << 18))
    np.savez_compressed(tmp_path / "a.npz", score=np.zeros(1 << 18))
    pq.write_table(pa.table({"score": np.zeros(1 << 18)}), tmp_path / "a.parquet")
    (tmp_path / "a.csv").write_text("score\n" + "0\n" * (1 << 18))
    text = b"score\n" + b"0\n" * (1 << 21)
    (tmp_path / "b.csv.gz").write_bytes(gzip.compress(text))
    (tmp_path / "b.csv.zst").write_bytes(zstandard.compress(text))
    for name in ("a.npy", "a.npz", "a.parquet", "a.csv", "b.csv.gz", "b.csv.zst"):
        message = refused(tmp_path / name, memory=few)
        assert name in message
        assert "memory=" in message
    assert len(read(tmp_path / "a.csv")) == 1 << 18


@pytest.mark.parametrize("packing", ["gz", "zst"])
def test_a_packed_line_without_end_is_refused_while_it_is_unpacked(tmp_path: Path, packing: str):
    pack = gzip.compress if packing == "gz" else zstandard.compress
    (tmp_path / f"a.csv.{packing}").write_bytes(pack(b"a" * (1 << 25)))
    message = refused(tmp_path / f"a.csv.{packing}")
    assert "line" in message


def test_damaged_packing(tmp_path: Path):
    data = gzip.compress(b"score,label\n" + os.urandom(500).hex().encode())
    (tmp_path / "a.csv.gz").write_bytes(data[:-20])
    assert "damaged gzip" in refused(tmp_path / "a.csv.gz")
    packed = zstandard.compress(os.urandom(500).hex().encode())
    (tmp_path / "a.csv.zst").write_bytes(packed[:-20])
    assert "zstd" in refused(tmp_path / "a.csv.zst")
    (tmp_path / "a.npy.gz").write_bytes(gzip.compress(npy("(2,)")))
    assert "only text may be compressed" in refused(tmp_path / "a.npy.gz")


def test_bad_parquet(tmp_path: Path):
    path = tmp_path / "a.parquet"
    table = pa.table({"score": [1.0, None], "label": [True, False], "who": [SECRET] * 2, "list": [[1], [2]]})
    pq.write_table(table, path)
    message = refused(path)
    assert "row 2" in message
    assert "'score'" in message
    assert "no column 'llr'; its columns are 'score', 'label', 'who', 'list'" in refused(path, score_column="llr")
    assert "not numbers" in refused(path, score_column="list")
    assert "not numbers" in refused(path, score_column="label")
    assert "row 1" in refused(path, score_column="who")
    data = path.read_bytes()
    for cut in (10, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:cut])
        assert "a.parquet" in refused(path)
    path.write_bytes(b"PAR1" + b"\xff\xff\xff\x7fPAR1")
    assert "a.parquet" in refused(path)
    pq.write_table(table.slice(0, 0), path)
    assert "no rows" in refused(path)


@pytest.mark.parametrize("writer", ["tercet", "pyarrow"])
def test_a_flipped_bit_in_a_page_with_a_checksum_is_found(tmp_path: Path, writer: str):
    rng = np.random.default_rng(1)
    columns = {"score": rng.normal(size=1000), "label": rng.random(1000) < 0.5}
    path = tmp_path / "a.parquet"
    if writer == "tercet":
        write_table(path, columns)
    else:
        pq.write_table(pa.table(columns), path, write_page_checksum=True, row_group_size=300)
    data = path.read_bytes()
    footer = len(data) - 8 - struct.unpack("<I", data[-8:-4])[0]
    right = read(path).scores
    found = 0
    for at in rng.integers(60, footer, 60).tolist():
        flipped = bytearray(data)
        flipped[at] ^= 1 << (at % 8)
        path.write_bytes(flipped)
        try:
            found += np.array_equal(read(path).scores, right)  # the bit was in a page header's statistics
        except tc.InputError:
            found += 1
    assert found >= (60 if writer == "tercet" else 58)  # pyarrow's page headers are longer, and no checksum covers them


def test_a_flipped_bit_anywhere_in_a_parquet_file_of_tercet_is_refused(tmp_path: Path):
    path, rng = tmp_path / "a.parquet", np.random.default_rng(2)
    write_table(path, {"score": np.arange(6.0), "label": np.arange(6) % 2, "trial": [f"t{k}" for k in range(6)]})
    data = path.read_bytes()
    pages = data.index(b"\x15") + 40
    for bit in [*range(32, 8 * pages, 3), *rng.integers(8 * pages, 8 * len(data), 200).tolist()]:
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(flipped)
        try:
            found = read(path, id_column="trial")
        except tc.InputError:
            continue
        assert found.scores.tolist() == [0, 1, 2, 3, 4, 5], f"bit {bit}"
        assert [*found.labels, *found.ids] == [*(k % 2 == 1 for k in range(6)), *(f"t{k}" for k in range(6))]


def test_a_footer_that_places_pages_outside_the_file_is_refused(tmp_path: Path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"score": [1.0, 2.0], "label": [1, 0]}), path, compression="none")
    data = path.read_bytes()
    footer = len(data) - 8 - struct.unpack("<I", data[-8:-4])[0]
    for bit in range(8 * footer, 8 * (len(data) - 8), 5):
        flipped = bytearray(data)
        flipped[bit // 8] ^= 1 << (bit % 8)
        path.write_bytes(flipped)
        with contextlib.suppress(tc.InputError):  # nothing else may be raised
            read(path)


@pytest.mark.parametrize(
    "footer", [b"\x00", b"\xff" * 40, b"\x49\xfc\xff\xff\xff\x0f", b"\x1c" * 60, b"\x19\xf8" + b"\xff" * 9]
)
def test_a_footer_that_lies_about_its_lengths_is_refused_before_duckdb_believes_it(tmp_path: Path, footer: bytes):
    (tmp_path / "a.parquet").write_bytes(b"PAR1" + footer + struct.pack("<I", len(footer)) + b"PAR1")
    assert "a.parquet is not a complete Parquet file" in refused(tmp_path / "a.parquet")


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"meaning": "odds"}, "not 'odds'. Did you mean log-odds?"),
        ({"meaning": "decisions"}, "read_decisions"),
        ({"meaning": "posterior"}, "trained_prior"),
        ({"meaning": "posterior", "trained_prior": 0.5}, "0..1"),
        ({"format": "excel"}, "format='excel'"),
        ({"format": "parquet"}, "not parquet"),
        ({"missing": "ignore"}, "missing must be one of"),
        ({"separator": "ab"}, "separator="),
        ({"header": False}, "columns="),
        ({"labels": "l.csv", "key": "k.csv"}, "not from both"),
        ({"label_column": "truth"}, "no column 'truth'"),
        ({"weight_column": "w"}, "no column 'w'"),
        ({"group_columns": ["g"]}, "no column 'g'"),
        ({"class_columns": ["a"], "meaning": "logits", "trained_prior": [1]}, "no column 'a'"),
        ({"format": "bob"}, "bob"),
        ({"format": "sre"}, "modelid"),
        ({"target": "x"}, "target='x'"),
    ],
)
def test_wrong_use_is_refused(tmp_path: Path, more: dict, word: str):
    (tmp_path / "a.csv").write_text("score,label\n2,1\n-1,0\n")
    assert word in refused(tmp_path / "a.csv", **more)


def test_labels_of_another_length(tmp_path: Path):
    (tmp_path / "a.csv").write_text("score\n2\n1\n")
    (tmp_path / "l.csv").write_text("1\n0\n1\n")
    message = refused(tmp_path / "a.csv", labels=tmp_path / "l.csv")
    assert "l.csv holds 3 labels, and a.csv 2 scores" in message


def test_labelled_says_whether_labels_must_be_there(tmp_path: Path):
    (tmp_path / "a.csv").write_text("score,truth\n2,1\n")
    assert read(tmp_path / "a.csv").labels is None
    assert "no column 'label'; its columns are 'score', 'truth'" in refused(tmp_path / "a.csv", labelled=True)
    (tmp_path / "b.csv").write_text("score,label\n2,maybe\n")
    assert read(tmp_path / "b.csv", labelled=False).labels is None


def test_too_many_labels(tmp_path: Path):
    (tmp_path / "a.csv").write_text("score,label\n" + "".join(f"1,{n}\n" for n in range(100_001)))
    assert "more than 100000 different labels" in refused(tmp_path / "a.csv", target="5")


def test_nothing_is_left_in_the_temporary_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    import sys
    import tempfile

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    (tmp_path / "tmp").mkdir()
    for data in (b"score,label\n1,1\n", b"score,label\nx,1\n"):
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(gzip.compress(data))))
        with contextlib.suppress(tc.InputError):
            read("-")
    assert list((tmp_path / "tmp").iterdir()) == []


def test_a_pipe_is_read_like_a_file(tmp_path: Path):
    import threading

    os.mkfifo(tmp_path / "pipe")
    writer = threading.Thread(target=(tmp_path / "pipe").write_text, args=("score,label\n1,1\n0,0\n",))
    writer.start()
    assert len(read(tmp_path / "pipe", format="csv")) == 2
    writer.join()


@pytest.mark.parametrize("rows", [["1_000,0"], ["1.0,1"] * 60_000 + ["2.0,0", "1_000,0"]], ids=["soon", "late"])
@pytest.mark.parametrize("header", [["score,label"], ["the_score,label"], []], ids=["plain", "underscore", "none"])
def test_an_underscore_is_no_part_of_a_number(tmp_path, header, rows):
    path = tmp_path / "a.csv"
    path.write_text("\n".join([*header, *rows, "1.0,1"]) + "\n")
    more = {"score": header[0].partition(",")[0]} if header else {"columns": ["score", "label"]}
    with pytest.raises(tc.InputError, match=rf"line {len(header) + len(rows)}, column .* '1_000': not a number"):
        tc.read(path, **more)


def test_numbers_beyond_a_double_are_refused_and_infinities_are_not(tmp_path):
    path = tmp_path / "a.csv"
    for bad, said in (("1e999", "too large"), ("9007199254740993", "merge"), ("-9007199254740993", "merge")):
        path.write_text(f"score,label\n-inf,0\n1e20,1\n9007199254740992,1\n{bad},0\n")
        with pytest.raises(tc.InputError, match=rf"line 5, column 'score' is '{bad}': .*{said}"):
            tc.read(path)
    path.write_text("score,label,weight\n-inf,0,1e300\nInfinity,1,2\n9007199254740992,1,0.5\n-1e300,0,1\n")
    found = tc.read(path, weight="weight")
    assert found.scores.tolist() == [-np.inf, np.inf, 2.0**53, -1e300]
    assert found.weights.tolist() == [1e300, 2.0, 0.5, 1.0]


@pytest.mark.parametrize(("value", "said"), [(np.nan, "NaN is not a number"), (None, "the value is missing")])
def test_parquet_tells_nan_from_a_missing_value(tmp_path, value, said):
    columns = {"score": pa.array([1.0, value, 0.5]), "label": [True, False, True]}
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    with pytest.raises(tc.InputError, match=rf"row 2, column 'score': {said}"):
        tc.read(tmp_path / "a.parquet")


def test_a_surplus_separator_is_refused_even_if_a_blank_line_keeps_the_number_of_commas_right(tmp_path: Path):
    path = tmp_path / "a.csv"
    path.write_text("score,label\n1,1,\n\n2,0\n")  # as many commas as four lines of two columns have
    with pytest.raises(tc.InputError, match="line 2 has 3 columns where 2 are expected"):
        read(path)
