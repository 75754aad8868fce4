"""The files that were named, as they were when they were named: no folder, link or change in mid-run slips in."""

import os

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tercet as tc
from tercet import Gaussian, Isotonic, Logistic
from tercet.outofcore.limits import Budget

from .helpers import APPS, Pieces, assert_same_bits, evaluated, fitted, in_memory

ROWS = 3000


@pytest.fixture(autouse=True)
def small(monkeypatch):
    monkeypatch.setattr(Budget, "of", lambda *_, **__: Budget(kept=300, edges=64, part=400, at_once=0))


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(0)
    labels = rng.random(ROWS) < 0.3
    return rng.normal(size=ROWS) * 2 + labels * 2, labels


def write(path, scores, labels):
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"score": scores, "label": labels}), path, row_group_size=250)
    return path


def test_the_names_of_folders_are_no_columns(tmp_path, trials):
    scores, labels = trials
    write(tmp_path / "label=true" / "score=3" / "a.parquet", scores[:1000], labels[:1000])
    write(tmp_path / "label=false" / "score=4" / "a.parquet", scores[1000:], labels[1000:])
    found = evaluated(tmp_path / "*" / "*" / "a.parquet", APPS)
    assert_same_bits(found, in_memory(scores, labels))


def test_words_in_a_folder_like_a_column_stay_a_folder(tmp_path, trials):
    scores, labels = trials
    path = write(tmp_path / "label=x" / "a.parquet", scores, np.where(labels, "target", "nontarget"))
    assert_same_bits(evaluated(path, APPS), in_memory(scores, labels))


@pytest.mark.parametrize("link", [os.link, os.symlink])
def test_a_link_to_a_file_already_named_is_refused(tmp_path, trials, link):
    path = write(tmp_path / "a.parquet", *trials)
    link(path, tmp_path / "b.parquet")
    with pytest.raises(tc.InputError, match=r"b\.parquet is named twice"):
        evaluated(tmp_path / "*.parquet", APPS)


RUNS = [
    lambda path, progress: evaluated(path, APPS, progress=progress),
    *(
        lambda path, progress, method=method: fitted(method, path, progress=progress)
        for method in (Gaussian, Logistic, Isotonic)
    ),
]


@pytest.mark.parametrize("run", RUNS)
@pytest.mark.parametrize("when", [2, 5, 7])
def test_a_file_replaced_in_mid_run_is_refused(tmp_path, trials, run, when):
    scores, labels = trials
    path = write(tmp_path / "a.parquet", scores, labels)
    calls = []

    def replace(done, total):
        calls.append(done)
        if len(calls) == when:
            write(tmp_path / "b.parquet", scores - 1.0, labels).replace(path)

    with pytest.raises(tc.InputError, match=r"a\.parquet was written to while it was read"):
        run(path, replace)
    assert len(calls) >= when


def test_a_file_replaced_by_one_of_the_same_size_and_time_is_refused(tmp_path, trials):
    path = write(tmp_path / "a.parquet", *trials)
    copy = tmp_path / "copy"
    copy.write_bytes(path.read_bytes())
    before = path.stat()
    os.utime(copy, ns=(before.st_atime_ns, before.st_mtime_ns))

    def replace(done, total):
        if copy.exists():
            copy.replace(path)

    with pytest.raises(tc.InputError, match="was written to"):
        evaluated(path, APPS, progress=replace)


@pytest.mark.parametrize("seed", range(12))
def test_chunks_that_move_their_scores_are_refused(trials, seed):
    """Counts of the classes stay: what two passes cannot both have seen is refused, and nothing else is raised."""
    scores, labels = trials
    rng = np.random.default_rng(seed)

    class Moving(Pieces):
        def chunks(self):
            moved = scores[rng.permutation(ROWS)] if seed % 2 else scores + rng.normal()
            yield moved, labels

    with pytest.raises(tc.InputError, match="changed while they were read"):
        evaluated(Moving(scores, labels), APPS, budget=Budget(300, 64, 400, 0))
