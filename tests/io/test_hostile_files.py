"""Files that say one thing twice, names that no terminal should see, and a database that reaches nothing else."""

import json
import os
import zipfile
from contextlib import ExitStack
from io import BytesIO
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

import tercet as tc
from tercet.io import read, write_table
from tercet.io._plain_files import plain_file
from tercet.io.columns import Store
from tercet.io.source import open_source


def refused(path, **options) -> str:
    with pytest.raises(tc.InputError) as caught:
        read(path, **options)
    return str(caught.value)


@pytest.mark.parametrize("label", ["a\x01b", "\x7f", "a\x1b[31mb", "é", "a\u2028b"])
@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
def test_a_label_is_the_same_packed_and_plain(tmp_path: Path, label: str, suffix: str):
    import gzip

    raw = f"score,label\n1,{label}\n2,c\n".encode()
    packed = {"": bytes, ".gz": gzip.compress, ".zst": zstandard.compress}[suffix](raw)
    (tmp_path / f"a.csv{suffix}").write_bytes(packed)
    assert read(tmp_path / f"a.csv{suffix}", target="c").classes == (label, "c")


@pytest.mark.parametrize("line", [1, 2])
def test_a_key_that_is_in_an_object_twice_is_refused(tmp_path: Path, line: int):
    lines = ['{"score": 1, "label": 1}', '{"score": 2, "label": 0}']
    lines[line - 1] = '{"score": 1, "label": 1, "score": 3}'
    (tmp_path / "a.jsonl").write_text("\n".join(lines))
    assert f"line {line} has the key 'score' twice" in refused(tmp_path / "a.jsonl")


@pytest.mark.parametrize(
    ("line", "word"),
    [
        (b'{"score": 1, "label": 1,}', "not JSON"),
        (b'{"score": inf, "label": 1}', "not JSON"),
        (b'{"score": nan, "label": 1}', "not JSON"),
        (b'{"score": 1, "label": "\\u0000"}', "not text"),
        (b'{"score": 1, "label": "\\ud800"}', "not text"),
        (b'{"score": 1, "label": 1}{"score": 1, "label": 1}', "not JSON"),
        (b'{"score": 1, "label": "\xff"}', "not UTF-8"),
        (b"[1]", "not a JSON object"),
        (b'{"score": 1', "not JSON"),
        (b'{"score": 9007199254740993, "label": 1}', "merge"),
        (b'{"score": 1e400, "label": 1}', "too large"),
        (b'{"score": NaN, "label": 1}', "NaN"),
        (b'{"label": 1}', "missing"),
        (b'{"score": null, "label": 1}', "missing"),
        (b'{"score": [1], "label": 1}', "not a number"),
    ],
)
def test_a_bad_object_is_refused_by_its_line(tmp_path: Path, line: bytes, word: str):
    (tmp_path / "a.jsonl").write_bytes(b'{"score": 1, "label": 1}\n\n{"score": 2, "label": 0}\n' + line + b"\n")
    message = refused(tmp_path / "a.jsonl")
    assert "line 4" in message
    assert word in message


def test_odd_keys_and_values_are_read_as_they_are(tmp_path: Path):
    rows = [{'a "b"': 1.5, "label": ", }"}, {'a "b"': float("inf"), "label": "inf ]"}]
    (tmp_path / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    trials = read(tmp_path / "a.jsonl", score_column='a "b"', target=", }")
    assert trials.scores.tolist() == [1.5, np.inf]
    assert trials.classes == ("inf ]", ", }")


def test_an_array_that_is_in_a_zip_twice_is_refused(tmp_path: Path):
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        for value in (1.0, 2.0):
            raw = BytesIO()
            np.save(raw, np.array([value, 0.0]))
            with pytest.warns(UserWarning, match="Duplicate") if value == 2 else ExitStack():
                archive.writestr("score.npy", raw.getvalue())
    assert "'score' twice" in refused(tmp_path / "a.npz")


@pytest.mark.parametrize(("one", "other"), [("score", "score"), ("score", "Score"), ("SCORE", "score")])
def test_columns_that_duckdb_does_not_tell_apart_are_refused(tmp_path: Path, one: str, other: str):
    table = pa.Table.from_arrays([pa.array([1.0, 2.0]), pa.array([3.0, 4.0])], names=[one, other])
    pq.write_table(table, tmp_path / "a.parquet")
    assert "Rename one of them" in refused(tmp_path / "a.parquet")


@pytest.mark.parametrize("raw", [b"a\xff.csv", b"\xe9t\xe9.csv.gz", b"a\xff.parquet", b"a\xff.jsonl", b"a\xff.npy"])
def test_a_file_whose_name_is_not_utf8_is_read_and_written(tmp_path: Path, raw: bytes):
    path = Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + raw))
    if path.suffix == ".jsonl":
        path.write_text('{"score": 1.0}\n{"score": 2.0}\n')
    elif path.suffix == ".npy":
        np.save(path, [1.0, 2.0])
    else:
        write_table(path, {"score": [1.0, 2.0]})
    trials = read(path)
    assert trials.scores.tolist() == [1.0, 2.0]
    assert trials.name is not None
    trials.name.encode()
    with open_source(path) as source:
        assert source.trials(1, 2).scores.tolist() == [2.0]
    path.write_bytes(b"")
    message = refused(path)
    message.encode()
    assert "empty" in message


NAMES = [
    "it's.csv",
    'a"b.csv',
    "a;b.csv",
    "$(x).csv",
    "*.csv",
    "[a].csv",
    "a\nb.csv",
    "-rf.csv",
    "a\x1b[31m.csv",
    " .csv",
]


@pytest.mark.parametrize("name", NAMES)
def test_hostile_names_of_files_and_columns_are_names_and_nothing_else(tmp_path: Path, name: str):
    column = name.removesuffix(".csv") + "'; DROP TABLE s0; --"
    (tmp_path / "other.csv").write_text("score\n9\n")
    header = column.replace('"', '""')
    (tmp_path / name).write_text(f'"{header}",label\n1,x\n2,y\n')
    assert read(tmp_path / name, score_column=column.strip(), target="x").scores.tolist() == [1.0, 2.0]
    message = refused(tmp_path / name, score_column="missing")
    assert message.isprintable()
    pq.write_table(pa.table({column: [1.0], "label": [True]}), tmp_path / "p.parquet")
    assert read(tmp_path / "p.parquet", score_column=column).scores.tolist() == [1.0]


SETTINGS = {
    "enable_external_access": "false",
    "lock_configuration": "true",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "allow_unsigned_extensions": "false",
    "python_enable_replacements": "false",
}


def test_the_database_reaches_the_files_it_was_given_and_nothing_else(tmp_path: Path):
    write_table(tmp_path / "a.parquet", {"score": [1.0]})
    write_table(tmp_path / "b.parquet", {"score": [1.0]})
    with ExitStack() as stack:
        file = stack.enter_context(plain_file(tmp_path / "a.parquet", 1 << 30))
        con = Store(stack, 1 << 30, 1 << 30, None, [file]).con
        asked = ", ".join(f"'{name}'" for name in SETTINGS)
        found = dict(con.execute(f"SELECT name, value FROM duckdb_settings() WHERE name IN ({asked})").fetchall())
        assert found == SETTINGS
        assert con.execute(f"SELECT count(*) FROM read_parquet('{file.path}')").fetchall() == [(1,)]
        for query in (
            f"SELECT * FROM read_parquet('{tmp_path}/b.parquet')",
            f"SELECT * FROM read_csv('{tmp_path}/*')",
            f"COPY (SELECT 1) TO '{tmp_path}/c.csv'",
            f"ATTACH '{tmp_path}/d.db'",
            "SET memory_limit = '1TB'",
            "SET enable_external_access = true",
            "INSTALL httpfs",
            "LOAD httpfs",
        ):
            with pytest.raises(duckdb.Error):
                con.execute(query)
    assert sorted(one.name for one in tmp_path.iterdir()) == ["a.parquet", "b.parquet"]


@pytest.mark.parametrize("option", ["score_column", "label_column", "weight_column", "group_columns", "id_column"])
@pytest.mark.parametrize("value", [5, 1.5, b"score", [b"score"], [None], object()])
def test_columns_are_named_by_text(tmp_path: Path, option: str, value: object):
    (tmp_path / "a.csv").write_text("score,label\n1,1\n")
    assert option in refused(tmp_path / "a.csv", **{option: value})


@pytest.mark.parametrize("path", [5, None, b"a.csv", 1.5, ["a.csv"]])
def test_files_are_named_by_text_or_paths(path: object):
    assert "path must be the name of a file" in refused(path)
