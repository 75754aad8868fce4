"""What comes in is judged as in memory: chunks, labels, edges, limits, saved parts; refused in a sentence or right."""

import warnings
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tercet as tc
from tercet import Gaussian
from tercet.cli._values import size_in_bytes
from tercet.io._database import connected
from tercet.outofcore.chunks import Arrays
from tercet.outofcore.limits import Budget
from tercet.outofcore.plain_data import save_plain

from .helpers import APPS, TINY, assert_same_bits, evaluated, fitted, in_memory

ROWS = 2000
LARGE = 2**53


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(Budget, "of", lambda *_, **__: Budget(kept=300, edges=64, part=20, at_once=0))


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(0)
    labels = rng.random(ROWS) < 0.3
    return rng.normal(size=ROWS) * 2 + labels * 2, labels


def write(path, scores, labels):
    pq.write_table(pa.table({"score": scores, "label": labels}), path, row_group_size=20)
    return path


class Fixed:
    def __init__(self, *pairs):
        self.pairs = pairs

    def chunks(self):
        return iter(self.pairs)


MARKS = np.array([True, False, True, False])
MASK = [False, True, False, False]


@pytest.mark.parametrize(
    ("scores", "labels", "says"),
    [
        (np.ma.array([1.0, 2.0, 3.0, 4.0], mask=MASK), MARKS, "scores has masked entries"),
        (np.arange(4.0), np.ma.array(MARKS, mask=MASK), "labels has masked entries"),
        (np.array([LARGE, LARGE + 1, 3, 4]), MARKS, "without merging neighbours"),
        (np.array([1, 1 + np.finfo(np.longdouble).eps, 3, 4], np.longdouble), MARKS, "without merging neighbours"),
        (np.arange(5.0), MARKS, "labels has 4 entries for 5 rows"),
        (np.ones((4, 2)), MARKS, "scores must be 1-dimensional"),
        (np.array(["1", "2", "3", "4"]), MARKS, "scores must be numbers, not text"),
        (MARKS, MARKS, "scores must be numbers, not true/false"),
        (np.arange(4.0), MARKS.reshape(2, 2), "labels must be one-dimensional"),
        (np.arange(4.0), [True, None, False, True], "labels must not be missing"),
    ],
)
@pytest.mark.parametrize("place", [0, 1])
def test_a_chunk_goes_through_the_door_for_arrays(scores, labels, says, place):
    sound = (np.arange(4.0), MARKS)
    source = Fixed(*[sound] * place, (scores, labels))
    with pytest.raises(tc.InputError, match=f"Chunk {place}: .*{says}"):
        evaluated(source, APPS, budget=TINY)
    with pytest.raises(tc.InputError, match=f"Chunk {place}: .*{says}"):
        fitted(Gaussian, source)


def test_arrays_keep_their_masks():
    with pytest.raises(tc.InputError, match="masked entries"):
        evaluated(Arrays(np.ma.array(np.arange(4.0), mask=MASK), MARKS), APPS, budget=TINY)
    with pytest.raises(tc.InputError, match="rows must be a whole number"):
        evaluated(Arrays(np.arange(4.0), MARKS, rows=0), APPS, budget=TINY)


@pytest.mark.parametrize("source", [[(np.arange(4.0), MARKS)], None, 3])
def test_a_source_that_is_neither_files_nor_chunks_is_refused(source):
    with pytest.raises(tc.InputError, match="source must be the name of a file"):
        evaluated(source, APPS, budget=TINY)


def test_options_of_files_are_refused_with_chunks():
    with pytest.raises(tc.InputError, match="weight_column= is for files"):
        tc.scan(Fixed((np.arange(4.0), MARKS)), weight_column="w")


@pytest.mark.parametrize("kind", [list, np.float32, ">f4", np.int32])
def test_other_columns_are_read_as_in_memory(trials, kind):
    scores = (trials[0] * 100).astype(np.int32).astype(np.float64)
    given = scores.tolist() if kind is list else scores.astype(kind)
    found = evaluated(Fixed((given, trials[1])), APPS, budget=TINY)
    assert_same_bits(found, in_memory(scores, trials[1]))


@pytest.mark.parametrize("kind", ["parquet", "npy"])
@pytest.mark.parametrize("target", [LARGE + 1, str(LARGE + 1), np.int64(LARGE + 1)])
def test_large_whole_labels_are_told_apart(tmp_path, trials, small, kind, target):
    scores, labels = trials
    ids = np.where(labels, LARGE + 1, LARGE)
    if kind == "npy":
        table = np.zeros(ROWS, [("score", "f8"), ("label", "i8")])
        table["score"], table["label"] = scores, ids
        np.save(tmp_path / "a.npy", table)
    else:
        write(tmp_path / "a.parquet", scores, ids)
    found = evaluated(tmp_path / f"a.{kind}", APPS, target=target)
    assert_same_bits(found, in_memory(scores, labels))


def test_a_target_that_is_not_among_the_labels_is_refused_as_in_memory(tmp_path, trials, small):
    path = write(tmp_path / "a.parquet", trials[0], np.where(trials[1], float(LARGE), 0.0))
    for target in (LARGE + 1, 10**400, 0.5, "nan", "yes"):
        for run in (
            lambda target=target: evaluated(path, APPS, target=target),
            lambda target=target: tc.read(path, target=target),
        ):
            with pytest.raises(tc.InputError, match="is not among the labels"):
                run()
    assert_same_bits(evaluated(path, APPS, target=LARGE), in_memory(*trials))


def test_a_file_without_labels_or_rows_is_refused_by_its_name(tmp_path, trials, small):
    scores, labels = trials
    write(tmp_path / "b.parquet", scores, np.where(labels, "target", "nontarget"))
    write(tmp_path / "a.parquet", np.zeros(7), pa.array([None] * 7, pa.string()))
    with pytest.raises(tc.InputError, match=r"a\.parquet: .*(labels|missing)"):
        evaluated(tmp_path / "*.parquet", APPS)
    write(tmp_path / "a.parquet", np.zeros(0), pa.array([], pa.string()))
    with pytest.raises(tc.InputError, match=r"a\.parquet holds no rows"):
        evaluated(tmp_path / "*.parquet", APPS)


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"memory_limit": "1GB"}, "memory_limit must be a number"),
        ({"memory_limit": None}, "memory_limit must be a number"),
        ({"memory_limit": float("nan")}, "memory_limit must be a number"),
        ({"memory_limit": float("inf")}, "memory_limit must be a whole number"),
        ({"workers": -1}, "workers must be a whole number, at least 1"),
        ({"workers": 0}, "workers must be a whole number, at least 1"),
        ({"workers": 2.5}, "workers must be a whole number"),
        ({"workers": "x"}, "workers must be a number"),
        ({"source": None}, "source must be the name of a file"),
        ({"source": [3]}, "source must be the name of a file"),
        ({"source": b"a.parquet"}, "source must be the name of a file"),
    ],
)
def test_a_wrong_kind_of_argument_is_refused(tmp_path, trials, more, says):
    given = {"source": write(tmp_path / "a.parquet", *trials)} | more
    for run in (
        lambda source, **all_: evaluated(source, APPS, **all_),
        lambda source, **all_: fitted(Gaussian, source, **all_),
    ):
        with pytest.raises(tc.InputError, match=says):
            run(**given)


@pytest.mark.parametrize("words", ["1.2.3GB", ".", "GB", "1e9", ""])
def test_a_limit_that_is_no_size_is_refused(words):
    with pytest.raises(tc.InputError, match="--memory-limit is a size such as"):
        size_in_bytes(words, "--memory-limit")


def test_sizes_count_in_thousands_or_in_1024():
    sizes = [size_in_bytes(words, "--memory-limit") for words in ("1GB", "1.5 MB", "1GiB", ".5k")]
    assert sizes == [10**9, 1_500_000, 2**30, 500]


@pytest.mark.parametrize(("first", "then"), [(2, 1), (1, 2)])
def test_a_run_is_resumed_with_other_workers(tmp_path, trials, small, first, then):
    path, folder = write(tmp_path / "a.parquet", *trials), tmp_path / "saved"
    evaluated(path, APPS, resume=folder, workers=first)
    assert_same_bits(evaluated(path, APPS, resume=folder, workers=then), in_memory(*trials))


def test_saved_parts_that_are_others_are_counted_again(tmp_path, trials, small):
    path, folder = write(tmp_path / "a.parquet", *trials), tmp_path / "saved"
    evaluated(path, APPS, resume=folder)
    saved = sorted(folder.iterdir())
    saved[1].write_bytes(saved[0].read_bytes())
    save_plain({"hello": np.arange(3)}, saved[2])
    assert_same_bits(evaluated(path, APPS, resume=folder), in_memory(*trials))


def test_what_is_evaluated_at_once_has_empty_brackets(tmp_path, trials):
    found = evaluated(write(tmp_path / "a.parquet", *trials), APPS)
    assert (found.brackets, found.input["revisited"], found.input["passes"]) == ({}, 0, 1)
    assert "brackets" not in found.to_dict()
    assert found.curve.average_precision == in_memory(*trials).curve.average_precision


@pytest.mark.parametrize(("says", "raised"), [("Query interrupted", KeyboardInterrupt), ("another", RuntimeError)])
def test_an_interrupted_query_is_an_interrupt(says, raised):
    with pytest.raises(raised), connected():
        raise RuntimeError(says)


@pytest.mark.parametrize("name", ["a.csv", "a.parquet"])
def test_a_file_without_bytes_is_called_empty(tmp_path, name):
    (tmp_path / name).touch()
    with pytest.raises(tc.InputError, match=r"is empty \(0 bytes\)"):
        evaluated(tmp_path / name, APPS)


def test_a_score_with_an_underscore_is_no_number(tmp_path):
    (tmp_path / "a.csv").write_text("score,label\n1_0,1\n2,0\n")
    with pytest.raises(tc.InputError, match=r"a\.csv: line 2, column 'score' is '1_0': not a number"):
        evaluated(tmp_path / "a.csv", APPS)


@pytest.mark.parametrize("kind", ["600 orders of magnitude", "one tiny", "sums above the doubles"])
def test_weights_whose_sums_no_double_holds_give_the_bits_of_memory(tmp_path, trials, small, kind):
    scores, labels = trials
    weights = 10.0 ** np.random.default_rng(1).uniform(-300, 300, ROWS)
    if kind != "600 orders of magnitude":
        weights = np.full(ROWS, 1.0 if kind == "one tiny" else 1.7e308)
        weights[7] = 5e-324 if kind == "one tiny" else 1.0
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"score": scores, "label": labels, "w": weights}), path, row_group_size=20)
    found, truth = evaluated(path, APPS, weight_column="w"), tc.read(path, weight_column="w")
    assert_same_bits(found, tc.evaluate(truth, APPS))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert len(found.to_dict()["curve"]["thresholds"]) > 2
    for shared in (False, True):
        one = fitted(Gaussian, path, weight_column="w", shared_variance=shared)
        assert one == Gaussian.fit(replace(truth, meaning="raw"), shared_variance=shared)
