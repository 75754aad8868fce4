"""The built-in tables: their published facts, and the simulated task's known truth."""

import math
import time

import numpy as np
import pytest

import tercet as tc
from tercet import datasets
from tercet.datasets import detection, iris, screening


def test_iris_is_fishers_table():
    table = iris()
    assert table.samples.shape == (150, 4)
    assert np.bincount(table.labels).tolist() == [50, 50, 50]
    # Fisher's means, as printed in 1936.
    means = [table.samples[table.labels == k].mean(axis=0).round(3).tolist() for k in range(3)]
    assert means == [[5.006, 3.428, 1.462, 0.246], [5.936, 2.77, 4.26, 1.326], [6.588, 2.974, 5.552, 2.026]]
    # The two rows that some copies have wrong.
    assert table.samples[34].tolist() == [4.9, 3.1, 1.5, 0.2]
    assert table.samples[37].tolist() == [4.9, 3.6, 1.4, 0.1]


def test_iris_sepal_lengths_give_other_tools_numbers():
    table = iris()
    kept = table.labels < 2
    trials = tc.Trials.of_scores(table.samples[kept, 0], table.labels[kept])
    curve = tc.Curve.of(tc.Tally.of(trials))
    assert curve.eer().value == pytest.approx(0.116363636363636, abs=1e-14)
    assert curve.auc == pytest.approx(0.9326, abs=1e-12)


def test_both_tables_are_scikit_learns():
    from sklearn.datasets import load_breast_cancer, load_iris

    flowers, masses = load_iris(), load_breast_cancer()
    assert np.array_equal(iris().samples, flowers.data)
    assert np.array_equal(iris().labels, flowers.target)
    assert np.array_equal(screening().samples, masses.data)
    assert np.array_equal(screening().labels, 1 - masses.target)
    assert list(screening().features) == masses.feature_names.tolist()


def test_the_screening_table_has_its_published_counts_and_ranges():
    table = screening()
    assert table.classes == ("benign", "malignant")
    assert np.bincount(table.labels).tolist() == [357, 212]
    ranges = {"mean radius": (6.981, 28.11), "mean area": (143.5, 2501.0), "worst concavity": (0.0, 1.252)}
    for feature, (low, high) in ranges.items():
        column = table.samples[:, table.features.index(feature)]
        assert (column.min(), column.max()) == (low, high)


def test_the_screening_table_is_linearly_separable_as_published():
    """Its donors: "sets are linearly separable using all 30 input features"."""
    from scipy.optimize import linprog

    table = screening()
    scaled = (table.samples - table.samples.mean(axis=0)) / table.samples.std(axis=0)
    signs = 2.0 * table.labels - 1.0
    planes = -signs[:, None] * np.c_[scaled, np.ones(len(table))]
    found = linprog(np.zeros(31), A_ub=planes, b_ub=-np.ones(len(table)), bounds=(None, None))
    assert found.success
    few = planes[:, [0, 1, 30]]  # a plane through two features does not separate them
    assert not linprog(np.zeros(3), A_ub=few, b_ub=-np.ones(len(table)), bounds=(None, None)).success


@pytest.mark.parametrize("load", [iris, screening, detection])
def test_every_table_loads_in_milliseconds_and_cannot_be_changed(load):
    def fresh():
        start = time.perf_counter()
        table = getattr(load, "__wrapped__", load)()
        return table, time.perf_counter() - start

    table, seconds = min((fresh() for _ in range(5)), key=lambda pair: pair[1])
    assert seconds < 0.05
    assert len(table.samples) == len(table.labels) == len(table)
    assert len(table.features) == table.samples.shape[1]
    with pytest.raises(ValueError, match="read-only"):
        table.samples[0, 0] = 1.0
    with pytest.raises(AttributeError):
        table.labels = None


def test_the_licences_are_shipped_beside_the_data():
    from importlib.resources import files

    note = (files("tercet") / "data" / "LICENSES.md").read_text(encoding="utf-8")
    assert "CC BY 4.0" in note
    assert "public domain" in note
    assert "CC BY 4.0" in datasets.screening.__doc__


def test_the_simulated_llrs_are_calibrated_and_their_copies_are_not():
    task = detection(200_000, prior=0.3, mean=2.0, seed=1)
    right = tc.cllr(tc.Tally.of(task.trials))
    curve = tc.Curve.of(tc.Tally.of(task.trials))
    assert right - tc.min_cllr(curve) < 0.002
    for wrong in (task.miscalibrated(scale=2.0), task.miscalibrated(shift=1.5), task.miscalibrated(0.3, -1.0)):
        tally = tc.Tally.of(wrong)
        assert tc.cllr(tally) > right + 0.02
        assert tc.min_cllr(tc.Curve.of(tally)) == pytest.approx(tc.min_cllr(curve), abs=1e-9)


def test_the_simulated_errors_are_the_true_ones():
    task = detection(200_000, prior=0.5, mean=2.0, seed=2)
    curve = tc.Curve.of(tc.Tally.of(task.trials))
    assert task.true_eer == pytest.approx(0.15865525393145707)  # Phi(-1)
    assert curve.eer().value == pytest.approx(task.true_eer, abs=0.003)
    for threshold in (-1.0, 0.0, 2.5):
        misses, alarms = tc.Tally.of(task.trials).at(np.array([threshold]))
        fnr, fpr = task.true_rates(threshold)
        assert misses[0] / curve.targets == pytest.approx(fnr, abs=0.004)
        assert alarms[0] / curve.nontargets == pytest.approx(fpr, abs=0.004)
    assert task.true_rates(0.0) == (task.true_eer, task.true_eer)


def test_the_true_posteriors_are_the_frequencies_of_targets():
    task = detection(200_000, prior=0.2, mean=1.5, seed=3)
    assert task.posteriors.mean() == pytest.approx(0.2, abs=0.004)
    for low in np.arange(0.0, 1.0, 0.1):
        inside = (task.posteriors >= low) & (task.posteriors < low + 0.1)
        assert task.labels[inside].mean() == pytest.approx(task.posteriors[inside].mean(), abs=0.03)
    assert task.posteriors[0] == pytest.approx(1 / (1 + math.exp(-task.llr[0] - math.log(0.2 / 0.8))))


def test_the_same_seed_gives_the_same_task():
    assert detection(100, seed=7).samples.tobytes() == detection(100, seed=7).samples.tobytes()
    assert detection(100, seed=7).samples.tobytes() != detection(100, seed=8).samples.tobytes()
    assert repr(detection(10, 0.5, 1.0, 0)).startswith("Detection: 10 samples (")


@pytest.mark.parametrize(
    "change", [{"n": 0}, {"n": 2.5}, {"prior": 0.0}, {"prior": 1.0}, {"mean": 0.0}, {"mean": math.inf}, {"mean": "2"}]
)
def test_impossible_tasks_are_refused(change):
    with pytest.raises(tc.InputError):
        detection(**change)
    with pytest.raises(tc.InputError):
        detection(10).miscalibrated(scale=-1.0)
