"""Files of several classes as people have them: odd row groups, labels, options and faults, scanned and read."""

import os
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import tercet as tc
from tercet.outofcore import reading

NAMES = ["A", "B", "C"]
APP = tc.Application.multiclass([0.2, 0.3, 0.5])
LIKELIHOODS = {"meaning": "log-likelihoods", "class_columns": NAMES}
NEVER = -np.inf


@pytest.fixture(params=[1, 1 << 30], ids=["through pyarrow", "through duckdb"], autouse=True)
def road(request, monkeypatch):
    monkeypatch.setattr(reading, "_FAST", request.param)


def table(scores, labels, names=NAMES):
    return pa.table({**{name: scores[:, k] for k, name in enumerate(names)}, "label": labels})


def drawn(rows, seed=0, classes=3):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, rows)
    scores = rng.normal(size=(rows, 3))
    scores[np.arange(rows), labels] += 2.0
    return scores, np.array(NAMES)[labels]


def scanned(path, **options):
    return tc.evaluate(tc.scan(path, **{**LIKELIHOODS, **options}), [APP])


def in_memory(path, **options):
    return tc.evaluate(tc.read(path, **{**LIKELIHOODS, **options}), [APP])


def test_row_groups_without_rows_are_passed_over(tmp_path):
    whole = table(*drawn(5000))
    with pq.ParquetWriter(tmp_path / "a.parquet", whole.schema) as out:
        out.write_table(whole.slice(0, 0))
        out.write_table(whole)
        out.write_table(whole.slice(0, 0))
        out.write_table(whole.slice(0, 0))
    assert scanned(tmp_path / "a.parquet").log_loss == in_memory(tmp_path / "a.parquet").log_loss


def test_a_file_that_was_replaced_is_read_anew_even_if_its_time_was_not(tmp_path):
    path = tmp_path / "a.parquet"
    options = {"compression": "none", "use_dictionary": False, "write_statistics": False}
    scores, labels = drawn(3000)
    contents = []
    for names in (NAMES, ["B", "A", "C"]):
        order = [NAMES.index(name) for name in names]
        pq.write_table(table(scores[:, order], labels, names), path, **options)
        contents.append(path.read_bytes())
    expected = None
    for content in contents:
        with path.open("r+b") as file:
            file.write(content)
        os.utime(path, (1e9, 1e9))
        found = scanned(path).log_loss
        expected = in_memory(path).log_loss if expected is None else expected
        assert found == expected  # the columns have changed places, not names


def test_the_first_row_without_posteriors_is_named_whatever_the_parts(tmp_path):
    scores, labels = drawn(30_000, classes=2)  # nobody is a C
    for row in (6000, 12_000, 21_000):
        scores[row] = [NEVER, NEVER, 0.0]
    for name in ("a", "b"):
        pq.write_table(table(scores, labels), tmp_path / f"{name}.parquet", row_group_size=5000)
    reason = in_memory(tmp_path / "a.parquet").reasons["log_loss"]
    assert reason.startswith("Row 6000 rules out")
    for _ in range(3):
        assert scanned(tmp_path / "a.parquet").reasons["log_loss"] == reason
    both = scanned([tmp_path / "b.parquet", tmp_path / "a.parquet"])
    assert both.reasons["log_loss"] == f"b.parquet: r{reason[1:]}"


def test_a_bad_row_is_numbered_as_in_its_file_and_the_files_name_stays(tmp_path):
    rng = np.random.default_rng(1)
    posteriors = rng.dirichlet([1, 1, 1], 3000)
    posteriors[2500] *= 2.0
    path = tmp_path / "row 5.parquet"
    pq.write_table(table(posteriors, drawn(3000)[1]), path, row_group_size=500)
    with pytest.raises(tc.InputError, match=r"^row 5\.parquet: posteriors must .*: row 2500 \(counting from 0\) with"):
        scanned(path, meaning="posteriors", trained_prior=[0.3, 0.3, 0.4])


def test_a_target_is_refused_where_there_are_several_classes(tmp_path):
    pq.write_table(table(*drawn(100)), tmp_path / "a.parquet")
    for way in (scanned, in_memory):
        with pytest.raises(tc.InputError, match="target belongs to two classes"):
            way(tmp_path / "a.parquet", target="A")


def test_labels_that_are_numbers_name_columns_that_are_numbers(tmp_path):
    scores, labels = drawn(200)
    names = ["0", "1", "2"]
    for kept in (np.int64, np.float64):
        numbers = np.array([NAMES.index(label) for label in labels], kept)
        pq.write_table(table(scores, numbers, names), tmp_path / "a.parquet")
        found = [way(tmp_path / "a.parquet", class_columns=names) for way in (scanned, in_memory)]
        assert found[0].log_loss == found[1].log_loss == tc.evaluate(
            tc.Trials.of_log_likelihoods(scores, numbers.astype(int)), [APP]
        ).log_loss  # fmt: skip


@pytest.mark.parametrize("labels", [[b"\xff"] * 50, [[1]] * 50, [{"a": 1}] * 50], ids=["bytes", "lists", "structs"])
def test_columns_that_hold_no_labels_are_refused_by_name(tmp_path, labels):
    pq.write_table(table(drawn(50)[0], pa.array(labels)), tmp_path / "a.parquet")
    for way in (scanned, in_memory):
        with pytest.raises(tc.InputError, match=r"a\.parquet: column 'label' holds .* values, not labels"):
            way(tmp_path / "a.parquet")


def test_class_columns_may_be_any_sequence_but_have_an_order(tmp_path):
    pq.write_table(table(*drawn(100)), tmp_path / "a.parquet")
    expected = in_memory(tmp_path / "a.parquet").log_loss
    for given in (np.array(NAMES), iter(NAMES), tuple(NAMES)):
        assert scanned(tmp_path / "a.parquet", class_columns=given).log_loss == expected
    for way in (scanned, in_memory):
        with pytest.raises(tc.InputError, match="class_columns must have an order"):
            way(tmp_path / "a.parquet", class_columns={"A", "B", "C"})


def test_two_columns_answer_cost_matrices_and_refuse_operating_points(tmp_path):
    scores, labels = drawn(200, classes=2)
    pq.write_table(table(scores[:, :2], labels, NAMES[:2]), tmp_path / "a.parquet")
    options = {"meaning": "log-likelihoods", "class_columns": NAMES[:2]}
    app = tc.Application.multiclass([0.3, 0.7])
    found = tc.evaluate(tc.scan(tmp_path / "a.parquet", **options), [app])
    assert found.log_loss == tc.evaluate(tc.read(tmp_path / "a.parquet", **options), [app]).log_loss
    for asked in ([(0.3, 1, 1)], []):
        with pytest.raises(tc.InputError, match="answers cost matrices only"):
            tc.evaluate(tc.scan(tmp_path / "a.parquet", **options), asked)


def test_intervals_of_several_classes_are_refused_in_a_sentence(tmp_path):
    pq.write_table(table(*drawn(100)), tmp_path / "a.parquet")
    with pytest.raises(tc.InputError, match="ci= of several classes needs trials in memory"):
        tc.evaluate(tc.scan(tmp_path / "a.parquet", **LIKELIHOODS), [APP], ci=0.95)


def test_a_file_that_is_replaced_while_it_is_opened_is_noticed(tmp_path, monkeypatch):
    scores, _ = drawn(300)
    rng = np.random.default_rng(2)
    for name, share in (("a", [0.8, 0.1, 0.1]), ("b", [0.1, 0.1, 0.8])):
        pq.write_table(table(scores, rng.choice(NAMES, 300, p=share)), tmp_path / f"{name}.parquet")
    real = reading.open_source

    @contextmanager
    def replacing(path, **options):
        with real(path, **options) as source:
            assert source.label_names  # they are counted
            if (tmp_path / "b.parquet").exists():
                os.replace(tmp_path / "b.parquet", tmp_path / "a.parquet")
            yield source

    monkeypatch.setattr(reading, "open_source", replacing)
    with pytest.raises(tc.InputError, match=r"a\.parquet was written to while it was read"):
        scanned(tmp_path / "a.parquet")


def test_a_failing_disk_is_reported_with_the_name_of_the_file(tmp_path, monkeypatch):
    pq.write_table(table(*drawn(100)), tmp_path / "a.parquet")

    def fails(self, start, stop):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tercet.io._row_ranges.TableRanges.columns", fails)
    with pytest.raises(tc.InputError, match=r"a\.parquet cannot be read: No space left on device"):
        scanned(tmp_path / "a.parquet")


def test_frequencies_without_entropy_leave_a_reason():
    scores = np.eye(3)[[0, 1, 2, 2]]
    weights = [1e-300, 1e-300, 1e300, 1.0]
    trials = tc.Trials.of_log_likelihoods(scores, ["A", "B", "C", "C"], weights=weights, classes=NAMES)
    found = tc.evaluate(trials, [APP])
    assert found.normalised_cross_entropy is None
    assert "entropy of the class frequencies is 0" in found.reasons["normalised_cross_entropy"]
    with pytest.raises(tc.UndefinedError, match="entropy of the class frequencies is 0"):
        tc.normalised_cross_entropy(trials)
