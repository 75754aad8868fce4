"""Joining scores with a key: every trial once, or a refusal that counts."""

from pathlib import Path

import numpy as np
import pytest

import tercet as tc
from tercet.io import read
from tercet.io._database import connected

KEY = "a x target\na y nontarget\nb x nontarget\nb y target\n"
SCORES = "b y 4\na x 3\nb x -2\na y -1\n"


def files(tmp_path: Path, scores: str, key: str) -> tuple[Path, Path]:
    (tmp_path / "s.txt").write_text(scores)
    (tmp_path / "k.txt").write_text(key)
    return tmp_path / "s.txt", tmp_path / "k.txt"


def refusal(tmp_path: Path, scores: str, key: str, **more) -> str:
    path, trials = files(tmp_path, scores, key)
    with pytest.raises(tc.InputError) as caught:
        read(path, key=trials, **more)
    return str(caught.value)


def test_the_order_is_that_of_the_scores_and_their_ids_come_along(tmp_path: Path):
    path, key = files(tmp_path, SCORES, KEY)
    trials = read(path, key=key)
    assert trials.scores.tolist() == [4, 3, -2, -1]
    assert trials.labels.tolist() == [True, True, False, False]
    assert trials.ids.tolist() == [("b", "y"), ("a", "x"), ("b", "x"), ("a", "y")]
    assert read(path, key=key, keep_ids=False).ids is None


def test_missing_and_extra_trials_are_counted_and_placed(tmp_path: Path):
    message = refusal(tmp_path, "b y 4\nq q 1\na x 3\nr r 1\n", KEY)
    assert "2 of 4 trials of k.txt have no score (the first: line 2)" in message
    assert "2 of 4 scores of s.txt are not in the key (the first: line 2)" in message
    assert "missing='drop'" in message
    assert "missing='reject'" in message
    assert "q" not in message.replace("query", "")


def test_drop_leaves_both_out_and_says_so(tmp_path: Path):
    path, key = files(tmp_path, "b y 4\nq q 1\na x 3\n", KEY)
    said: list[str] = []
    trials = read(path, key=key, missing="drop", notes=said.append, keep_ids=True)
    assert trials.scores.tolist() == [4, 3]
    assert trials.ids.tolist() == [("b", "y"), ("a", "x")]
    assert len(said) == 1
    assert "2 of 4 trials" in said[0]
    assert "1 of 3 scores" in said[0]


def test_reject_counts_a_trial_without_score_as_rejected(tmp_path: Path):
    path, key = files(tmp_path, "b y 4\na x 3\n", KEY)
    trials = read(path, key=key, missing="reject", keep_ids=True)
    assert trials.scores.tolist() == [4, 3, -np.inf, -np.inf]
    assert trials.labels.tolist() == [True, True, False, False]
    assert trials.ids.tolist() == [("b", "y"), ("a", "x"), ("a", "y"), ("b", "x")]
    assert read(path, key=key, missing="reject", meaning="lr").scores.tolist() == [4, 3, 0, 0]
    assert "not in the key" in refusal(tmp_path, SCORES + "q q 1\n", KEY, missing="reject")


@pytest.mark.parametrize("missing", ["error", "drop", "reject"])
def test_duplicates_are_refused_whatever_missing_says(tmp_path: Path, missing: str):
    for scores, key, where in [
        (SCORES + "a x 9\n", KEY, "s.txt holds 1 duplicate trial (the first again at line 5)"),
        (SCORES, KEY + "b x target\nb x target\n", "k.txt holds 2 duplicate trials (the first again at line 5)"),
        (SCORES + "q q 1\nq q 1\n", KEY, "s.txt holds 1 duplicate"),
        (SCORES + "a x 9\n", KEY + "a x target\n", "s.txt holds 1 duplicate"),
        ("a x 3\na x 3\nb x -2\na y -1\n", KEY, "s.txt holds 1 duplicate"),  # as many as there should be
    ]:
        assert where in refusal(tmp_path, scores, key, missing=missing)


def test_a_thousand_copies_of_one_trial_do_not_explode(tmp_path: Path):
    message = refusal(tmp_path, "a x 1\n" * 100_000, "a x target\n" * 100_000)
    assert "99999 duplicate" in message


def test_ids_of_several_fields_do_not_run_together(tmp_path: Path):
    (tmp_path / "s.csv").write_text("i,j,score\na b,c,1\na,b c,2\n")
    (tmp_path / "k.csv").write_text("i,j,label\na,b c,1\na b,c,0\n")
    trials = read(tmp_path / "s.csv", key=tmp_path / "k.csv", id_column=["i", "j"])
    assert trials.labels.tolist() == [False, True]


def test_ids_are_text(tmp_path: Path):
    (tmp_path / "s.csv").write_text("id,score\n7,1\n007,2\nNA,3\n")
    (tmp_path / "k.csv").write_text("id,label\nNA,1\n007,0\n7,1\n")
    trials = read(tmp_path / "s.csv", key=tmp_path / "k.csv", id_column="id")
    assert trials.labels.tolist() == [True, False, True]


def test_a_missing_id_is_refused(tmp_path: Path):
    (tmp_path / "s.csv").write_text("id,score\na,1\n,2\n")
    (tmp_path / "k.csv").write_text("id,label\na,1\nb,0\n")
    with pytest.raises(tc.InputError, match=r"s.csv: line 3, column 'id': the id is missing"):
        read(tmp_path / "s.csv", key=tmp_path / "k.csv", id_column="id", missing="drop")


def test_unknown_ids_are_asked_for(tmp_path: Path):
    (tmp_path / "s.csv").write_text("id,score\na,1\n")
    (tmp_path / "k.csv").write_text("id,label\na,1\n")
    with pytest.raises(tc.InputError, match="id_column="):
        read(tmp_path / "s.csv", key=tmp_path / "k.csv")
    with pytest.raises(tc.InputError, match="no column 'nr'"):
        read(tmp_path / "s.csv", key=tmp_path / "k.csv", id_column="nr")


def test_arrays_cannot_be_joined(tmp_path: Path):
    np.save(tmp_path / "s.npy", np.zeros(4))
    (tmp_path / "k.txt").write_text(KEY)
    with pytest.raises(tc.InputError, match="no trial ids"):
        read(tmp_path / "s.npy", key=tmp_path / "k.txt")


def test_parquet_scores_join_with_a_text_key(tmp_path: Path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"enrol": ["b", "a"], "test": ["y", "x"], "score": [4.0, 3.0]}), tmp_path / "s.parquet")
    (tmp_path / "k.txt").write_text("a x target\nb y nontarget\n")
    trials = read(tmp_path / "s.parquet", key=tmp_path / "k.txt", id_column=["enrol", "test"], keep_ids=True)
    assert trials.labels.tolist() == [False, True]
    assert trials.ids.tolist() == [("b", "y"), ("a", "x")]


def test_the_join_agrees_with_a_dictionary(tmp_path: Path):
    rng = np.random.default_rng(7)
    pairs = [(f"m{i}", f"t{j}") for i in range(300) for j in range(100)]
    label = dict(zip(pairs, (rng.random(len(pairs)) < 0.1).tolist(), strict=True))
    order = rng.permutation(len(pairs)).tolist()
    path, key = files(
        tmp_path,
        "".join(f"{pairs[i][0]} {pairs[i][1]} {i / 7}\n" for i in order),
        "".join(f"{int(label[pair])} {pair[0]} {pair[1]}\n" for pair in pairs),
    )
    trials = read(path, key=key)
    assert trials.scores.tolist() == [i / 7 for i in order]
    assert trials.labels.tolist() == [label[pairs[i]] for i in order]


def test_names_whose_hashes_collide_are_told_apart(tmp_path: Path):
    """duckdb's hash() gives 24,240 of these 90,000 names the hash of another: only the names themselves may match."""
    rng = np.random.default_rng(13)
    names = np.array([f"spk{i:05d}_utt{j:04d}" for i in range(9000) for j in range(10)], object)
    numbers = np.arange(len(names))
    scores, key = rng.permutation(numbers), rng.permutation(numbers)
    (tmp_path / "s.csv").write_text("id,score\n" + "".join(f"{names[i]},{i}\n" for i in scores))
    (tmp_path / "k.csv").write_text("id,label\n" + "".join(f"{names[i]},{i % 3 % 2}\n" for i in key))
    trials = read(tmp_path / "s.csv", key=tmp_path / "k.csv", id_column="id", keep_ids=True)
    assert trials.scores.tolist() == scores.tolist()
    assert np.array_equal(trials.labels, scores % 3 % 2 == 1)
    assert trials.ids.tolist() == names[scores].tolist()


def test_a_trial_does_not_take_the_score_of_another_with_its_hash(tmp_path: Path):
    with connected() as con:
        ((same,),) = con.execute("SELECT hash('spk00000_utt0000') = hash('spk00009_utt0007')").fetchall()
    if not same:
        pytest.skip("this version of duckdb has another hash")
    (tmp_path / "s.csv").write_text("id,score\nspk00009_utt0007,1\nx,2\n")
    (tmp_path / "k.csv").write_text("id,label\nspk00000_utt0000,1\nx,0\n")
    with pytest.raises(tc.InputError, match=r"1 of 2 trials of k\.csv have no score"):
        read(tmp_path / "s.csv", key=tmp_path / "k.csv", id_column="id")
