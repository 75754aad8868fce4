"""Files of any number of rows: the same bits from every cut, and errors that name file and row group."""

import hashlib
import itertools
import os
import resource
import shutil
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tercet as tc
from tercet.io.formats.parquet import plain_columns
from tercet.outofcore import reading, runner
from tercet.outofcore.files import cut_into_parts, pieces_of
from tercet.outofcore.limits import KEPT_ROW, Budget
from tercet.outofcore.plain_data import load_plain
from tercet.outofcore.reading import Reader, planned

from .helpers import APPS, TINY, assert_same_bits, evaluated, in_memory

ROWS = 3000


@pytest.fixture
def small(monkeypatch):
    """Budgets so small that a few thousand rows take bins, several parts and splits."""
    monkeypatch.setattr(Budget, "of", lambda *_, **__: Budget(kept=300, edges=128, part=400, at_once=0, spare=8000))


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(0)
    labels = rng.random(ROWS) < 0.3
    scores = np.round(rng.normal(size=ROWS) * 2 + labels * 2, 3)
    scores[:4] = np.inf, -np.inf, np.inf, -np.inf
    return scores, labels


def write(path, scores, labels, **more):
    pq.write_table(pa.table({"score": scores, "label": labels}), path, **{"row_group_size": 250, **more})
    return path


@pytest.mark.parametrize("workers", [1, 2, 4])
@pytest.mark.parametrize("groups", [100, 250, 3000])
def test_threads_and_row_groups_change_nothing(tmp_path, trials, small, workers, groups):
    scores, labels = trials
    path = write(tmp_path / "a.parquet", scores, labels, row_group_size=groups)
    found = evaluated(path, APPS, workers=workers)
    assert_same_bits(found, in_memory(scores, labels))
    assert found.input["passes"] >= 2


def test_any_number_of_files_in_any_order_of_rows(tmp_path, trials, small):
    scores, labels = trials
    order = np.random.default_rng(1).permutation(ROWS)
    for place, rows in enumerate(np.array_split(order, 7)):
        write(tmp_path / f"part-{place}.parquet", scores[rows], labels[rows])
    found = evaluated(str(tmp_path / "*.parquet"), APPS)
    assert_same_bits(found, in_memory(scores, labels))
    assert [file["name"] for file in found.input["files"]] == [f"part-{place}.parquet" for place in range(7)]


@pytest.mark.parametrize("kind", [np.float32, np.float16, np.int32, np.int64])
def test_narrow_scores_equal_their_widening(tmp_path, trials, small, kind):
    scores, labels = np.clip(trials[0] * 10, -90, 90).astype(kind), trials[1]
    if kind is np.float16:
        scores = scores.astype(np.float32)  # Parquet's half floats are for duckdb to learn
    found = evaluated(write(tmp_path / "a.parquet", scores, labels), APPS)
    assert_same_bits(found, in_memory(scores.astype(np.float64), labels))


@pytest.mark.parametrize(
    "make",
    [
        lambda labels: labels.astype(np.int8),
        lambda labels: labels.astype(np.int64),
        lambda labels: labels.astype(np.float64),
        lambda labels: np.where(labels, "target", "nontarget"),
        lambda labels: np.where(labels, "TRUE", "False"),
        lambda labels: np.where(labels, "1", "0"),
        lambda labels: pa.array(np.where(labels, "target", "nontarget")).dictionary_encode(),
    ],
)
def test_labels_of_every_kind(tmp_path, trials, small, make):
    scores, labels = trials
    found = evaluated(write(tmp_path / "a.parquet", scores, make(labels)), APPS)
    assert_same_bits(found, in_memory(scores, labels))


@pytest.mark.parametrize(
    ("make", "target"),
    [
        (lambda labels: np.where(labels, 2, 1), 2),
        (lambda labels: np.where(labels, 2, 1), "2"),
        (lambda labels: np.where(labels, "yes", "it's no"), "yes"),
        (lambda labels: ~labels, False),
    ],
)
def test_a_named_target(tmp_path, trials, small, make, target):
    scores, labels = trials
    found = evaluated(write(tmp_path / "a.parquet", scores, make(labels)), APPS, target=target)
    assert_same_bits(found, in_memory(scores, labels))


def test_other_columns_and_names_that_look_like_patterns(tmp_path, trials, small):
    scores, labels = trials
    path = tmp_path / "odd [1] name's.parquet"
    pq.write_table(pa.table({'my "s"': scores, "l l": labels, "patient": ["x"] * ROWS}), path, row_group_size=700)
    found = evaluated(path, APPS, score_column='my "s"', label_column="l l")
    assert_same_bits(found, in_memory(scores, labels))


@pytest.mark.parametrize("suffix", [".csv", ".tsv"])
def test_text_tables_give_the_same_bits(tmp_path, trials, small, suffix):
    scores, labels = trials
    comma = "," if suffix == ".csv" else "\t"
    lines = [f"label{comma}id{comma}score"]
    lines += [f"{int(y)}{comma}{k}{comma}{s!r}" for k, (s, y) in enumerate(zip(scores.tolist(), labels, strict=True))]
    (tmp_path / f"a{suffix}").write_text("\n".join(lines) + "\n")
    assert_same_bits(evaluated(tmp_path / f"a{suffix}", APPS), in_memory(scores, labels))


@pytest.mark.parametrize("kind", ["?", "i1", "U9"])
def test_npy_with_named_fields(tmp_path, trials, small, kind):
    scores, labels = trials
    table = np.zeros(ROWS, [("score", "f8"), ("label", kind)])
    table["score"] = scores
    table["label"] = np.where(labels, "target", "nontarget") if kind == "U9" else labels
    np.save(tmp_path / "a.npy", table)
    assert_same_bits(evaluated(tmp_path / "a.npy", APPS), in_memory(scores, labels))


def test_what_fits_is_evaluated_at_once_with_everything_exact(tmp_path, trials):
    scores, labels = trials
    found = evaluated(write(tmp_path / "a.parquet", scores, labels), APPS)
    truth = in_memory(scores, labels)
    assert_same_bits(found, truth)
    assert found.auc == truth.auc
    assert found.to_dict()["curve"] == truth.to_dict()["curve"]


def test_progress_counts_bytes_up_to_all_of_them(tmp_path, trials, small):
    seen = []
    path = write(tmp_path / "a.parquet", *trials)
    found = evaluated(path, APPS, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] == found.input["passes"] * path.stat().st_size
    assert all(one[0] <= two[0] for one, two in itertools.pairwise(seen))


def test_the_files_are_left_alone(tmp_path, trials, small):
    path = write(tmp_path / "a.parquet", *trials)
    before = path.read_bytes()
    evaluated(path, APPS)
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["a.parquet"]


# Resuming


def test_an_interrupted_run_goes_on_from_its_saved_parts(tmp_path, trials, small, monkeypatch):
    scores, labels = trials
    path, folder = write(tmp_path / "a.parquet", scores, labels), tmp_path / "saved"
    calls = []
    monkeypatch.setattr(
        runner, "count_batch", lambda *a, real=runner.count_batch, **more: calls.append(1) or real(*a, **more)
    )

    def stop(done, total):
        if len(calls) >= 4:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        evaluated(path, APPS, resume=folder, progress=stop, workers=1)
    saved = sorted(one.name for one in folder.iterdir())
    assert saved
    assert all(name.endswith(".npz") for name in saved)
    calls.clear()
    found = evaluated(path, APPS, resume=folder)
    whole = len(calls) + len(saved)
    assert_same_bits(found, in_memory(scores, labels))
    calls.clear()
    assert_same_bits(evaluated(path, APPS, resume=folder), found)
    assert calls == []
    assert whole >= len(list(folder.iterdir()))


def test_another_question_finds_nothing_saved(tmp_path, trials, small):
    scores, labels = trials
    path, folder = write(tmp_path / "a.parquet", scores, labels), tmp_path / "saved"
    evaluated(path, APPS, resume=folder)
    write(path, scores[::-1] * 0.5, labels[::-1])
    assert_same_bits(evaluated(path, APPS, resume=folder), in_memory(scores * 0.5, labels))


def test_files_of_the_same_size_with_other_scores_find_nothing_saved(tmp_path, trials, small):
    scores, labels = trials
    plain = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    path, folder = write(tmp_path / "a.parquet", scores, labels, **plain), tmp_path / "saved"
    before = path.stat().st_size
    evaluated(path, APPS, resume=folder)
    assert write(path, scores * 0.5, labels, **plain).stat().st_size == before
    assert_same_bits(evaluated(path, APPS, resume=folder), in_memory(scores * 0.5, labels))


def test_text_is_resumed_too(tmp_path, trials, small):
    rows = (f"{score!r},{int(label)}\n" for score, label in zip(trials[0].tolist(), trials[1], strict=True))
    (tmp_path / "a.csv").write_text("score,label\n" + "".join(rows))
    one = evaluated(tmp_path / "a.csv", APPS, resume=tmp_path / "saved")
    saved = sorted((tmp_path / "saved").iterdir())
    assert_same_bits(evaluated(tmp_path / "a.csv", APPS, resume=tmp_path / "saved"), one)
    assert sorted((tmp_path / "saved").iterdir()) == saved


def test_a_file_that_is_written_to_while_it_is_read_is_refused(tmp_path, trials, small):
    path = write(tmp_path / "a.parquet", *trials)

    def touch(done, total):
        os.utime(path, ns=(0, 0))

    with pytest.raises(tc.InputError, match=r"a\.parquet was written to while it was read"):
        evaluated(path, APPS, progress=touch)


def test_a_damaged_saved_part_is_counted_again(tmp_path, trials, small):
    scores, labels = trials
    path, folder = write(tmp_path / "a.parquet", scores, labels), tmp_path / "saved"
    evaluated(path, APPS, resume=folder)
    for one in folder.iterdir():
        held = bytearray(one.read_bytes())
        held[len(held) // 2] ^= 1
        one.write_bytes(held)
    assert_same_bits(evaluated(path, APPS, resume=folder), in_memory(scores, labels))


# Bad input


def test_a_nan_is_named_by_file_row_group_and_row(tmp_path, trials, small):
    scores, labels = trials
    write(tmp_path / "a.parquet", scores, labels)
    bad = scores.copy()
    bad[2130] = np.nan
    write(tmp_path / "b.parquet", bad, labels)
    with pytest.raises(tc.InputError, match=r"b\.parquet: row 2131, column .score."):
        evaluated(tmp_path / "*.parquet", APPS)


@pytest.mark.parametrize("at_once", [False, True])
def test_a_nan_late_in_a_later_file_is_named(tmp_path, trials, small, monkeypatch, at_once):
    """Parts of several row groups, read a piece at a time: neither part nor piece begins where the file does."""
    scores, labels = trials
    found = Budget(10**6, 128, 1000, at_once=10**6) if at_once else Budget(300, 128, 1000, at_once=0)
    monkeypatch.setattr(Budget, "of", lambda *_, **__: found)
    monkeypatch.setattr(reading, "_PIECE", 250)
    monkeypatch.setattr(runner, "_SAMPLED_ROWS", 30)
    for name in "ab":
        write(tmp_path / f"{name}.parquet", scores, labels, row_group_size=120)
    bad = scores.copy()
    bad[2875] = np.nan
    write(tmp_path / "c.parquet", bad, labels, row_group_size=120)
    with pytest.raises(tc.InputError, match=r"c\.parquet: row 2876, column .score."):
        evaluated(tmp_path / "*.parquet", APPS)


@pytest.mark.parametrize(("rows", "groups", "piece"), [(400, 100, 250), (400, 3000, 150), (1000, 130, 131), (7, 3, 2)])
def test_pieces_are_the_part_and_begin_where_row_groups_do(rows, groups, piece):
    starts, seen = [*range(0, ROWS, groups), ROWS], 0
    for start, stop in cut_into_parts(starts, rows):
        assert start == seen
        assert 0 < stop - start <= rows
        assert groups > rows or start in starts
        for low, high in pieces_of(starts, start, stop, piece):
            assert low == seen
            assert 0 < high - low <= piece
            assert groups > piece or low in starts or low == start
            seen = high
        assert seen == stop
    assert seen == ROWS


@pytest.mark.parametrize("groups", [100, 3000])
def test_a_range_of_rows_is_read_as_it_was_written(tmp_path, trials, groups):
    scores, labels = trials
    path = write(tmp_path / "a.parquet", scores, labels, row_group_size=groups)
    with planned(path, {}, 400) as plan, Reader() as reader:
        for start, stop in ((0, 1), (99, 101), (1234, 2345), (0, ROWS)):
            found = next(reader.pieces(plan.files[0], start, stop))
            assert np.array_equal(found.scores, scores[start:stop])
            assert np.array_equal(found.labels, labels[start:stop])


def test_a_missing_score_or_label_is_named(tmp_path, trials, small):
    scores, labels = trials
    missing = [None if k == 777 else s for k, s in enumerate(scores.tolist())]
    with pytest.raises(tc.InputError, match=r"row 778, column .score..*missing"):
        evaluated(write(tmp_path / "a.parquet", missing, labels), APPS)
    marks = [None if k == 778 else bool(y) for k, y in enumerate(labels)]
    with pytest.raises(tc.InputError, match=r"row 779, column .label..*missing"):
        evaluated(write(tmp_path / "b.parquet", scores, marks), APPS)


def test_posteriors_outside_their_range_are_named(tmp_path, trials, small):
    scores, labels = np.linspace(0, 1, ROWS), trials[1]
    scores[5] = 1.5
    path = write(tmp_path / "a.parquet", scores, labels)
    with pytest.raises(tc.InputError, match=r"row 5 .*0\.\.1, not 1\.5"):
        evaluated(path, APPS, meaning="posterior", trained_prior=0.5)


@pytest.mark.parametrize("weight", [-1.0, np.inf, np.nan])
def test_a_weight_that_is_none_is_named_by_its_row_of_the_file_as_in_memory(tmp_path, trials, small, weight):
    scores, labels = trials
    path = tmp_path / "a.parquet"
    weights = np.where(np.arange(ROWS) == 2130, weight, 1.0)
    pq.write_table(pa.table({"score": scores, "label": labels, "w": weights}), path, row_group_size=250)
    with pytest.raises(tc.InputError, match=r"a\.parquet.* row 213[01]\b") as memory:
        tc.read(path, weight_column="w")
    with pytest.raises(tc.InputError) as scanned:
        evaluated(path, APPS, weight_column="w")
    assert str(scanned.value) == str(memory.value)


@pytest.mark.parametrize("what", ["columns", "first rows"])
def test_what_the_system_cannot_read_is_named(tmp_path, trials, small, monkeypatch, what):
    """Also a file that is deleted while a thread reads it."""
    path, real = write(tmp_path / "a.parquet", *trials), Reader.pieces

    def pieces(self, file, start, stop):
        if (what == "first rows") == (stop - start < 250):
            raise OSError(5, "Input/output error", str(path))
        return real(self, file, start, stop)

    monkeypatch.setattr(runner, "_SAMPLED_ROWS", 200)
    monkeypatch.setattr(Reader, "pieces", pieces)
    with pytest.raises(tc.InputError, match=r"a\.parquet cannot be read: Input/output error"):
        evaluated(path, APPS)


def test_a_part_that_cannot_be_read_is_named(tmp_path, trials, small):
    scores, labels = trials
    write(tmp_path / "a.parquet", scores, labels)
    bad = write(tmp_path / "b.parquet", scores, labels, compression="zstd")
    held = bytearray(bad.read_bytes())
    meta = pq.ParquetFile(bad).metadata.row_group(5).column(0)
    start = meta.dictionary_page_offset or meta.data_page_offset
    held[start : start + meta.total_compressed_size] = bytes(meta.total_compressed_size)
    bad.write_bytes(held)
    with pytest.raises(tc.InputError, match=r"b\.parquet.*(cannot be read|damaged)"):
        evaluated(tmp_path / "*.parquet", APPS)
    bad.write_bytes(held[:-100])
    with pytest.raises(tc.InputError, match=r"b\.parquet .*(Parquet|damaged|cannot)"):
        evaluated(tmp_path / "*.parquet", APPS)


def test_a_file_that_shrinks_while_it_is_read_is_found(tmp_path, trials, small):
    scores, labels = trials
    path = write(tmp_path / "a.parquet", scores, labels)

    def shrink(done, total):
        write(path, scores[:2900], labels[:2900])

    with pytest.raises(tc.InputError, match=r"changed|cannot be read|written to"):
        evaluated(path, APPS, progress=shrink, workers=1)


@pytest.mark.parametrize(
    ("second", "says"),
    [
        (
            lambda labels: np.where(labels, "target", "nontarget"),
            "labels are .nontarget., .target., but .false., .true. in a.parquet",
        ),
        (lambda labels: labels.astype(np.int8), "labels are .0., .1., but .false., .true. in a.parquet"),
    ],
)
def test_parts_with_other_labels_are_refused(tmp_path, trials, small, second, says):
    scores, labels = trials
    write(tmp_path / "a.parquet", scores, labels)
    write(tmp_path / "b.parquet", scores, second(labels))
    with pytest.raises(tc.InputError, match=says):
        evaluated(tmp_path / "*.parquet", APPS)


def test_parts_with_other_classes_are_refused(tmp_path, trials, small):
    scores, labels = trials
    write(tmp_path / "a.parquet", scores, np.where(labels, "target", "nontarget"))
    write(tmp_path / "b.parquet", scores, np.where(labels, "true", "false"))
    with pytest.raises(tc.InputError, match=r"b\.parquet: labels are .false., .true., but .nontarget., .target."):
        evaluated(tmp_path / "*.parquet", APPS)
    (tmp_path / "b.parquet").unlink()
    for labels_ in (np.where(labels, 2, 1), np.where(labels, "yes", "no")):
        with pytest.raises(tc.InputError, match="name the one that is the target"):
            evaluated(write(tmp_path / "c.parquet", scores, labels_), APPS)
    with pytest.raises(tc.InputError, match="target='maybe' is not among the labels"):
        evaluated(tmp_path / "c.parquet", APPS, target="maybe")


def test_a_target_that_only_one_of_two_files_holds_is_enough(tmp_path, trials, small):
    scores, labels = trials
    order = np.argsort(labels, kind="stable")
    words = np.where(labels, "yes", "no")[order]
    cut = int((~labels).sum())
    write(tmp_path / "a.parquet", scores[order][:cut], words[:cut])
    write(tmp_path / "b.parquet", scores[order][cut:], words[cut:])
    assert_same_bits(evaluated(tmp_path / "*.parquet", APPS, target="yes"), in_memory(scores, labels))


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"score_column": "llr"}, "has no column 'llr'"),
        ({"engine": "ray"}, "engine is one of local, dask, spark"),
        ({"scheduler": "tcp://there:1"}, "is for engine='dask'"),
        ({"label_column": "score", "score_column": "label"}, "holds boolean values, not numbers"),
        ({"memory_limit": 10**8}, r"100 MB is too small to work with: \d+ MB are needed"),
        ({"target": "maybe"}, "target='maybe' is not among the labels"),
    ],
)
def test_a_wrong_call_is_refused(tmp_path, trials, more, says):
    path = write(tmp_path / "a.parquet", *trials)
    with pytest.raises(tc.InputError, match=says):
        evaluated(path, APPS, **more)


def test_paths_that_are_none(tmp_path, trials):
    path = write(tmp_path / "a.parquet", *trials)
    with pytest.raises(tc.InputError, match="no such file"):
        evaluated(tmp_path / "b.parquet", APPS)
    with pytest.raises(tc.InputError, match="matches no file"):
        evaluated(tmp_path / "*.npy", APPS)
    with pytest.raises(tc.InputError, match="is a folder"):
        evaluated(tmp_path, APPS)
    with pytest.raises(tc.InputError, match="named twice"):
        evaluated([path, tmp_path / "*.parquet"], APPS)
    with pytest.raises(tc.InputError, match="names no file"):
        evaluated([], APPS)
    (tmp_path / "c.bin").write_bytes(b"what is this")
    with pytest.raises(tc.InputError, match=r"c\.bin"):
        evaluated(tmp_path / "c.bin", APPS)
    np.save(tmp_path / "d.npy", np.array([{}], dtype=object), allow_pickle=True)
    with pytest.raises(tc.InputError, match=r"d\.npy"):
        evaluated(tmp_path / "d.npy", APPS)


def test_a_file_without_rows_is_refused(tmp_path, trials, small):
    scores, labels = trials
    write(tmp_path / "a.parquet", scores[:0], labels[:0])
    write(tmp_path / "b.parquet", scores, labels)
    with pytest.raises(tc.InputError, match=r"a\.parquet holds no rows"):
        evaluated(tmp_path / "*.parquet", APPS)


def test_a_full_temporary_folder_is_refused_and_left_empty(tmp_path, trials, monkeypatch):
    (tmp_path / "a.csv").write_text("score,label\n1.0,1\n0.5,0\n")
    (tmp_path / "tmp").mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
    full = shutil._ntuple_diskusage(10**9, 10**9, 10)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: full)
    with pytest.raises(tc.InputError, match="would fill the temporary folder"):
        evaluated(tmp_path / "a.csv", APPS)
    assert list((tmp_path / "tmp").iterdir()) == []


@contextmanager
def out_of_room(folder, how):
    """A folder that really runs out of room: a file system of 64 kB, or files of 10 kB at most."""
    folder.mkdir()
    if how == "files":
        before = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, before[1]))
        try:
            yield folder
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
        return
    mount = shutil.which("mount")
    if mount is None or subprocess.run([mount, "-t", "tmpfs", "-o", "size=64k", "tmpfs", folder]).returncode:
        pytest.skip("no right to mount")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True)


@pytest.mark.parametrize("how", ["file system", "files"])
def test_a_folder_for_parts_that_is_full_is_refused_with_nothing_half_written(tmp_path, trials, how, monkeypatch):
    scores, labels = np.tile(trials[0], 40) + np.arange(40 * ROWS) * 1e-9, np.tile(trials[1], 40)
    path = write(tmp_path / "a.parquet", scores, labels, row_group_size=6000)
    monkeypatch.setattr(Budget, "of", lambda *_, **__: Budget(60_000, 1 << 12, 6000, 0))
    with out_of_room(tmp_path / "full", how) as full:
        with pytest.raises(tc.InputError, match=r"cannot be written into .*(No space|too large).*Free space there"):
            evaluated(path, APPS, resume=full)
        assert [one.suffix for one in full.iterdir()] == [".npz"] * len(list(full.iterdir()))
        for one in full.iterdir():
            load_plain(one)


@pytest.mark.parametrize("how", ["file system", "files"])
def test_text_that_fills_the_temporary_folder_is_refused_and_it_is_left_empty(tmp_path, trials, how, monkeypatch):
    scores = np.tile(trials[0], 10) + np.arange(10 * ROWS) * 1e-9
    rows = (f"{score!r},{k % 2}\n" for k, score in enumerate(scores.tolist()))
    (tmp_path / "a.csv").write_text("score,label\n" + "".join(rows))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "full"))
    roomy = shutil._ntuple_diskusage(10**12, 0, 10**12)  # another process takes the room after the first look
    monkeypatch.setattr(shutil, "disk_usage", lambda _: roomy)
    with out_of_room(tmp_path / "full", how) as full:
        with pytest.raises(tc.InputError, match=r"a\.csv.*"):
            evaluated(tmp_path / "a.csv", APPS)
        assert list(full.iterdir()) == []


def test_a_reader_writes_nothing_to_the_temporary_folder(tmp_path, trials, monkeypatch):
    """So a worker that is killed leaves nothing behind."""
    path = write(tmp_path / "a.parquet", *trials)
    with planned(path, {}, 400) as plan, Reader() as reader:
        (tmp_path / "tmp").mkdir()
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "tmp"))
        next(reader.pieces(plan.files[0], 800, 1200))
        assert list((tmp_path / "tmp").iterdir()) == []


def test_files_are_named_with_their_hash_where_it_is_asked_for(tmp_path, trials, small):
    path = write(tmp_path / "a.parquet", *trials)
    size = path.stat().st_size
    plain = evaluated(path, APPS)
    assert plain.to_dict()["input"]["files"] == [{"name": "a.parquet", "sha256": None, "bytes": size}]
    hashed = evaluated(path, APPS, hashes=True)
    expected = hashlib.sha256(path.read_bytes()).hexdigest()
    assert hashed.to_dict()["input"]["files"] == [{"name": "a.parquet", "sha256": expected, "bytes": size}]


def test_a_broken_text_table_is_refused(tmp_path):
    (tmp_path / "a.csv").write_text("score,label\n1.0,1\nabc,0\n")
    with pytest.raises(tc.InputError, match=r"a\.csv: line 3, column .score. is .abc.: not a number"):
        evaluated(tmp_path / "a.csv", APPS)


def test_more_memory_means_more_rows_and_never_too_much():
    small, large = Budget.of(400_000_000, 2), Budget.of(4_000_000_000, 2)
    assert small.kept < large.kept
    assert small.part <= large.part
    assert TINY.kept < small.kept
    assert Budget.of(10**9, 2).kept * 8 < 10**9


def test_large_row_groups_take_their_room_from_the_limit(tmp_path, trials, monkeypatch):
    """The columns of a whole row group are held while a part of it is read."""
    scores, labels = trials
    path = write(tmp_path / "a.parquet", scores, labels, row_group_size=1500, compression="none", use_dictionary=False)
    monkeypatch.setattr(reading, "_SMALL", 0)
    with planned(path, {}, 400) as plan:
        assert plan.group == 1500 * 16
    roomy = Budget(2000, 128, 400, 0, spare=52_000)
    assert_same_bits(evaluated(path, APPS, budget=roomy), in_memory(scores, labels))
    left = Budget(2000, 128, 400, 1000, spare=64_000).beside(36_000, "Row groups")
    assert left == Budget(2000 - 36_000 // KEPT_ROW, 128, 400, 1000 - 36_000 // 60, spare=28_000)
    with pytest.raises(tc.InputError, match=r"Row groups that 2 workers read at once .* memory_limit is .* too small"):
        evaluated(path, APPS, workers=2, budget=Budget(300, 128, 400, 0, spare=8000))


@pytest.mark.parametrize("target", [None, False])
def test_the_quick_way_through_pyarrow_gives_the_same_bits_and_refusals(tmp_path, trials, small, monkeypatch, target):
    scores, labels = trials
    marks = labels if target is None else ~labels
    monkeypatch.setattr(reading, "_FAST", 1)
    seen = []
    real = reading.plain_columns
    monkeypatch.setattr(reading, "plain_columns", lambda *a: seen.append(real(*a)) or seen[-1])
    path = write(tmp_path / "a.parquet", scores, marks)
    assert_same_bits(evaluated(path, APPS, target=target), in_memory(scores, labels))
    assert any(one is not None for one in seen)
    for value in (np.nan, None):
        bad = [value if k == 777 else s for k, s in enumerate(scores.tolist())]
        with pytest.raises(tc.InputError, match=r"row 778, column .score."):
            evaluated(write(path, bad, marks), APPS, target=target)


@pytest.mark.parametrize("kind", ["int8", "uint16", "int64"])
def test_whole_labels_take_the_quick_way_too(tmp_path, trials, small, monkeypatch, kind):
    scores, labels = trials
    marks = np.where(labels, 7, 3).astype(kind)
    monkeypatch.setattr(reading, "_FAST", 1)
    seen, real = [], reading.plain_columns
    monkeypatch.setattr(reading, "plain_columns", lambda *a: seen.append(real(*a)) or seen[-1])
    path = write(tmp_path / "a.parquet", scores, marks)
    assert_same_bits(evaluated(path, APPS, target=7), in_memory(scores, labels))
    assert any(one is not None for one in seen)
    for target in (None, 5):
        with pytest.raises(tc.InputError, match=r"a\.parquet: .*(target|7)"):
            evaluated(path, APPS, target=target)
    several = np.where(np.arange(len(marks)) == 777, 5, marks).astype(kind)
    some = in_memory(scores, several == 7)
    assert_same_bits(evaluated(write(path, scores, several), APPS, target=7), some)
    missing = [None if k == 777 else int(mark) for k, mark in enumerate(marks)]
    with pytest.raises(tc.InputError, match=r"row 778, column .label."):
        evaluated(write(path, scores, missing), APPS, target=7)


@pytest.mark.parametrize("kind", ["float32", "float64", "bool"])
def test_columns_through_pyarrow_are_those_of_the_file_and_import_no_pandas(tmp_path, kind):
    values = np.floor(np.random.default_rng(3).normal(size=1003) * 2.0).clip(0.0).astype(kind)
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"x": values}), path, row_group_size=100)
    starts = [*range(0, 1003, 100), 1003]
    for start, stop in ((0, 1003), (100, 200), (900, 1003), (150, 200), (100, 150), (150, 250), (930, 1003)):
        (found,) = plain_columns(path, ["x"], starts, start, stop)
        assert found.dtype == values.dtype
        np.testing.assert_array_equal(found, values[start:stop])
    assert plain_columns(path, ["x"], starts, 100, 149) is None  # pyarrow would read twice as much and more
    code = (
        "import sys; from pathlib import Path; from tercet.io.formats.parquet import plain_columns; "
        f"assert plain_columns(Path({str(path)!r}), ['x'], {starts}, 0, 200) is not None; "
        "print('pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_a_flipped_bit_is_found_where_pages_have_checksums(tmp_path, trials, small):
    more = {"write_page_checksum": True, "use_dictionary": False, "compression": "none"}
    path = write(tmp_path / "a.parquet", *trials, **more)
    held = bytearray(path.read_bytes())
    meta = pq.ParquetFile(path).metadata.row_group(5).column(0)
    held[meta.data_page_offset + meta.total_compressed_size // 2] ^= 1
    path.write_bytes(held)
    with pytest.raises(tc.InputError, match=r"a\.parquet.*(checksum|damaged)"):
        evaluated(path, APPS)
