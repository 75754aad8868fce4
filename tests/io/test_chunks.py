"""Tables of any length in pieces: the trials of the whole, errors at the whole's rows, and one file out."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tercet as tc
from tercet import io as sources
from tercet.io import read, read_chunks, write_table, write_tables

ROWS = 1000


@pytest.fixture(params=["parquet", "csv", "csv.gz", "jsonl"])
def table(request, tmp_path):
    """A table of scores, labels in words, ids and groups in one of the formats."""
    rng = np.random.default_rng(4)
    labels = np.where(np.arange(ROWS) < 600, "spoof", "bona fide")  # the first pieces hold one class only
    columns = {
        "score": rng.normal(size=ROWS),
        "label": labels.astype(object),
        "id": np.array([f"t{k}" for k in range(ROWS)], object),
        "speaker": np.array([f"s{k % 7}" for k in range(ROWS)], object),
    }
    path = tmp_path / f"scores.{request.param}"
    if request.param == "jsonl":
        rows = zip(*(values.tolist() for values in columns.values()), strict=True)
        lines = ('{{"score": {!r}, "label": "{}", "id": "{}", "speaker": "{}"}}\n'.format(*row) for row in rows)
        path.write_text("".join(lines))
    else:
        write_table(path, columns)
    return path


@pytest.mark.parametrize("rows", [1, 333, 1000, 5000])
def test_the_pieces_are_the_whole(table, rows):
    if rows == 1 and table.suffix != ".parquet":
        rows = 170
    options = {"target": "bona fide", "id_column": "id", "group_columns": ["speaker"], "meaning": "raw"}
    whole = read(table, **options)
    pieces = list(read_chunks(table, rows, **options))
    assert [len(piece) for piece in pieces] == [min(rows, ROWS - start) for start in range(0, ROWS, rows)]
    for name in ("scores", "labels", "ids"):
        assert np.array_equal(np.concatenate([getattr(piece, name) for piece in pieces]), getattr(whole, name))
    assert np.array_equal(np.concatenate([p.groups["speaker"] for p in pieces]), whole.groups["speaker"])
    assert {piece.classes for piece in pieces} == {whole.classes}
    assert {piece.name for piece in pieces} == {"scores"}


def test_an_error_names_the_row_of_the_whole(tmp_path):
    scores = np.zeros(ROWS)
    scores[777] = np.nan
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"score": scores}), path, row_group_size=100)
    pieces = read_chunks(path, 100)
    assert [len(next(pieces)) for _ in range(7)] == [100] * 7
    with pytest.raises(tc.InputError, match=r"a\.parquet: row 778, column 'score'.*NaN|row 778"):
        next(pieces)
    text = tmp_path / "a.csv"
    text.write_text("score\n" + "".join("x\n" if k == 777 else "1.5\n" for k in range(ROWS)))
    with pytest.raises(tc.InputError, match=r"a\.csv: line 779, column 'score' is 'x': not a number"):
        list(read_chunks(text, 100))


def test_the_number_of_rows_is_no_matter(tmp_path):
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"score": np.zeros(ROWS)}), path)
    with pytest.raises(tc.InputError, match="more than the limit"):
        read(path, memory=4000)
    assert sum(len(piece) for piece in read_chunks(path, 100, memory=4000)) == ROWS
    np.save(tmp_path / "a.npy", np.zeros(ROWS))
    assert [len(piece) for piece in read_chunks(tmp_path / "a.npy", 100, memory=4000)] == [100] * 10


def test_wrong_options_are_refused(tmp_path):
    with pytest.raises(TypeError, match="colour"):
        read_chunks(tmp_path / "a.csv", colour="red")
    (tmp_path / "a.csv").write_text("score\n")
    with pytest.raises(tc.InputError, match="no rows of data"):
        list(read_chunks(tmp_path / "a.csv"))


@pytest.mark.parametrize("suffix", ["parquet", "csv", "tsv.gz"])
def test_tables_written_one_after_the_other_are_the_table(tmp_path, suffix):
    columns = {
        "trial": np.arange(ROWS),
        "score": np.linspace(-1, 1, ROWS),
        "label": np.array(["a", "=b"] * 500, object),
    }
    whole, pieces = tmp_path / f"whole.{suffix}", tmp_path / f"pieces.{suffix}"
    write_table(whole, columns)
    cut = ({name: values[start : start + 300] for name, values in columns.items()} for start in range(0, ROWS, 300))
    write_tables(pieces, cut)
    if suffix == "parquet":  # its row groups are the pieces
        assert pq.read_table(pieces).equals(pq.read_table(whole))
        assert pq.ParquetFile(pieces, page_checksum_verification=True).num_row_groups == 4
    else:
        assert pieces.read_bytes() == whole.read_bytes()


def test_a_piece_that_fails_leaves_the_old_file(tmp_path):
    path = tmp_path / "out.csv"
    path.write_text("old")

    def tables():
        yield {"score": np.zeros(3)}
        raise tc.InputError("no more")

    with pytest.raises(tc.InputError, match="no more"):
        write_tables(path, tables())
    with pytest.raises(tc.InputError, match="same columns"):
        write_tables(path, [{"score": np.zeros(3)}, {"llr": np.zeros(3)}])
    assert path.read_text() == "old"
    assert [one.name for one in tmp_path.iterdir()] == ["out.csv"]


def test_a_calibrator_is_applied_piece_by_piece(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from tercet.cli.main import main

    rng = np.random.default_rng(9)
    labels = rng.random(ROWS) < 0.5
    scores = rng.normal(size=ROWS) + labels
    path, model = tmp_path / "a.parquet", tmp_path / "model.json"
    pq.write_table(pa.table({"score": scores, "label": labels}), path)
    calibrator = tc.Isotonic.fit(tc.Trials.of_llr(scores, labels))
    model.write_text(calibrator.to_json())
    asked = []

    def in_hundreds(file, **options):
        for piece in read_chunks(file, 100, **options):
            asked.append(len(piece))
            yield piece

    monkeypatch.setattr(sources, "read_chunks", in_hundreds)
    for name in ("out.parquet", "out.csv"):
        result = CliRunner().invoke(main, ["calibrate", "apply", str(model), str(path), "-o", str(tmp_path / name)])
        assert result.exit_code == 0, result.output
        found = tc.read(tmp_path / name, id_column="trial")
        assert np.array_equal(found.scores, calibrator(scores))
        assert np.array_equal(found.labels, labels)
        assert found.ids.tolist() == [str(k) for k in range(ROWS)]
    assert asked == [100] * 20
