"""What comes in is judged as in memory: chunks, labels, edges, limits, saved parts; refused in a sentence or right."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tercet as tc
from tercet import Gaussian
from tercet.cli._values import size_in_bytes
from tercet.io._database import connected
from tercet.outofcore import scan as scale
from tercet.outofcore.counts import Binned, save_plain
from tercet.outofcore.fit import fit_chunks, fit_files

from .helpers import APPS, TINY, assert_same_bits, in_memory

ROWS = 2000
LARGE = 2**53


@pytest.fixture
def small(monkeypatch):
    monkeypatch.setattr(scale, "budget_of", lambda *_: scale.Budget(kept=300, edges=64, part=20, at_once=0))


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
        scale.evaluate_chunks(source, APPS, budget=TINY)
    with pytest.raises(tc.InputError, match=f"Chunk {place}: .*{says}"):
        fit_chunks(Gaussian, source)


def test_arrays_keep_their_masks():
    with pytest.raises(tc.InputError, match="masked entries"):
        scale.evaluate_chunks(scale.Arrays(np.ma.array(np.arange(4.0), mask=MASK), MARKS), APPS, budget=TINY)
    with pytest.raises(tc.InputError, match="rows must be a whole number"):
        scale.evaluate_chunks(scale.Arrays(np.arange(4.0), MARKS, rows=0), APPS, budget=TINY)


@pytest.mark.parametrize("source", [[(np.arange(4.0), MARKS)], None, "chunks"])
def test_a_source_without_chunks_is_refused(source):
    with pytest.raises(tc.InputError, match=r"has a method chunks\(\)"):
        scale.evaluate_chunks(source, APPS, budget=TINY)


@pytest.mark.parametrize("kind", [list, np.float32, ">f4", np.int32])
def test_other_columns_are_read_as_in_memory(trials, kind):
    scores = (trials[0] * 100).astype(np.int32).astype(np.float64)
    given = scores.tolist() if kind is list else scores.astype(kind)
    found = scale.evaluate_chunks(Fixed((given, trials[1])), APPS, budget=TINY)
    assert_same_bits(found, in_memory(scores, trials[1]))


@pytest.mark.parametrize("kind", ["parquet", "npy"])
@pytest.mark.parametrize("target", [LARGE + 1, str(LARGE + 1), np.int64(LARGE + 1), f"{LARGE + 1}.0"])
def test_large_whole_labels_are_told_apart(tmp_path, trials, small, kind, target):
    scores, labels = trials
    ids = np.where(labels, LARGE + 1, LARGE)
    if kind == "npy":
        table = np.zeros(ROWS, [("score", "f8"), ("label", "i8")])
        table["score"], table["label"] = scores, ids
        np.save(tmp_path / "a.npy", table)
    else:
        write(tmp_path / "a.parquet", scores, ids)
    found = scale.evaluate_files(tmp_path / f"a.{kind}", APPS, target=target)
    assert_same_bits(found, in_memory(scores, labels))


def test_a_target_that_no_label_can_equal_has_no_trials(tmp_path, trials, small):
    path = write(tmp_path / "a.parquet", trials[0], np.where(trials[1], float(LARGE), 0.0))
    for target in (LARGE + 1, 10**400, 0.5):
        with pytest.raises(tc.UndefinedError, match="no targets"):
            scale.evaluate_files(path, APPS, target=target)
    assert_same_bits(scale.evaluate_files(path, APPS, target=LARGE), in_memory(*trials))
    for target in ("nan", float("inf"), "yes"):
        with pytest.raises(tc.InputError, match="labels, which are numbers"):
            scale.evaluate_files(path, APPS, target=target)


@pytest.mark.parametrize("first", [[], [None] * 7])
def test_a_first_file_without_labels_tells_nothing_about_the_others(tmp_path, trials, small, first):
    scores, labels = trials
    write(tmp_path / "a.parquet", np.zeros(len(first)), pa.array(first, pa.string()))
    write(tmp_path / "b.parquet", scores, np.where(labels, "target", "nontarget"))
    if first:
        with pytest.raises(tc.InputError, match=r"a\.parquet, row group 0, row 0 .* nontarget and target"):
            scale.evaluate_files(tmp_path / "*.parquet", APPS)
    else:
        assert_same_bits(scale.evaluate_files(tmp_path / "*.parquet", APPS), in_memory(scores, labels))


@pytest.mark.parametrize("what", ["edges", "thresholds"])
@pytest.mark.parametrize(
    ("values", "says"),
    [([2.0, 1.0], "must ascend"), ([np.nan], "NaN"), (["a"], "not text"), (3.0, "1-dim")],
)
def test_edges_and_thresholds_ascend(what, values, says):
    given = {"edges": [0.0], "thresholds": [0.0]} | {what: values}
    with pytest.raises(tc.InputError, match=f"{what} must .*{says}|{says}"):
        Binned.of(np.arange(4.0), MARKS, given["edges"], thresholds=given["thresholds"])


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
        ({"paths": None}, "named by text or paths"),
        ({"paths": [3]}, "named by text or paths"),
        ({"paths": b"a.parquet"}, "named by text or paths"),
    ],
)
def test_a_wrong_kind_of_argument_is_refused(tmp_path, trials, more, says):
    given = {"paths": write(tmp_path / "a.parquet", *trials)} | more
    for run in (
        lambda **all_: scale.evaluate_files(applications=APPS, **all_),
        lambda **all_: fit_files(Gaussian, **all_),
    ):
        with pytest.raises(tc.InputError, match=says):
            run(**given)


@pytest.mark.parametrize("words", ["1.2.3GB", ".", "GB", "1e9", ""])
def test_a_limit_that_is_no_size_is_refused(words):
    with pytest.raises(tc.InputError, match="is a size such as"):
        size_in_bytes(words)


def test_sizes_count_in_thousands_or_in_1024():
    assert [size_in_bytes(words) for words in ("1GB", "1.5 MB", "1GiB", ".5k")] == [10**9, 1_500_000, 2**30, 500]


@pytest.mark.parametrize(("first", "then"), [(2, 1), (1, 2)])
def test_a_run_is_resumed_with_other_workers(tmp_path, trials, small, first, then):
    path, folder = write(tmp_path / "a.parquet", *trials), tmp_path / "saved"
    scale.evaluate_files(path, APPS, resume=folder, workers=first)
    assert_same_bits(scale.evaluate_files(path, APPS, resume=folder, workers=then), in_memory(*trials))


def test_saved_parts_that_are_others_are_counted_again(tmp_path, trials, small):
    path, folder = write(tmp_path / "a.parquet", *trials), tmp_path / "saved"
    scale.evaluate_files(path, APPS, resume=folder)
    saved = sorted(folder.iterdir())
    saved[1].write_bytes(saved[0].read_bytes())
    save_plain({"hello": np.arange(3)}, saved[2])
    assert_same_bits(scale.evaluate_files(path, APPS, resume=folder), in_memory(*trials))


def test_what_is_evaluated_at_once_has_empty_brackets(tmp_path, trials):
    found = scale.evaluate_files(write(tmp_path / "a.parquet", *trials), APPS)
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
        scale.evaluate_files(tmp_path / name, APPS)


def test_a_score_with_an_underscore_is_no_number(tmp_path):
    (tmp_path / "a.csv").write_text("score,label\n1_0,1\n2,0\n")
    with pytest.raises(tc.InputError, match="underscore"):
        scale.evaluate_files(tmp_path / "a.csv", APPS)


def test_a_state_saved_below_a_file_is_refused(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(tc.InputError, match="cannot be written"):
        Binned.empty().save(tmp_path / "file" / "a.npz")
