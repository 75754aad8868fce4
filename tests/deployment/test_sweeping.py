"""Grids of models: what is chosen, by what, and what the choice never sees."""

import copy
import json
import pickle

import numpy as np
import pytest

import tercet as tc
from tercet.recognizers import GaussianRecognizer, LogisticRecognizer


def samples(seed, rows=200):
    rng = np.random.default_rng(seed)
    labels = np.arange(rows) % 2
    return rng.normal(size=(rows, 2)) * np.where(labels, 2.0, 1.0)[:, None], labels


def test_every_combination_is_a_row_with_the_costs_of_evaluate():
    train, validation = samples(0), samples(1)
    grid = {"penalty": [1e-3, 1.0], "expansion": ["linear", "quadratic"]}
    found = tc.sweep(LogisticRecognizer, grid, train, validation, (0.1, 1, 1), criterion="min_dcf")
    assert [tuple(row.parameters.values()) for row in found.rows] == [
        (1e-3, "linear"), (1e-3, "quadratic"), (1.0, "linear"), (1.0, "quadratic"),
    ]  # fmt: skip
    for row in found.rows:
        model = LogisticRecognizer.fit(*train, **row.parameters)
        result = tc.evaluate(model.trials(*validation), [(0.1, 1, 1)])
        assert (row.min_dcf, row.dcf, row.cllr) == (
            result.applications[0].min_dcf, result.applications[0].dcf, result.cllr,
        )  # fmt: skip
    assert found.chosen.min_dcf == min(row.min_dcf for row in found.rows)
    assert found.chosen.parameters["expansion"] == "quadratic"  # the classes differ in their spread only
    assert "<- chosen" in str(found)
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["rows"][0]["parameters"]["penalty"] == 1e-3


def test_held_out_data_do_not_change_the_choice():
    train, validation = samples(0), samples(1)
    grid = {"covariance": ["full", "tied", "diagonal"]}
    alone = tc.sweep(GaussianRecognizer, grid, train, validation)
    for seed in range(5):
        judged = tc.sweep(GaussianRecognizer, grid, train, validation, held_out=samples(seed + 10))
        assert judged.chosen.parameters == alone.chosen.parameters
        assert judged.chosen.held_out_dcf is not None
        assert judged.chosen.dcf == alone.chosen.dcf


def test_a_model_that_cannot_be_trained_keeps_its_reason():
    apart = ([[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1])
    found = tc.sweep(LogisticRecognizer, {"penalty": [0.0, 0.1]}, apart, apart)
    assert "penalty" in found.rows[0].reason
    assert found.chosen is found.rows[1]
    with pytest.raises(tc.InputError, match="No model of the grid"):
        tc.sweep(LogisticRecognizer, {"penalty": [0.0]}, apart, apart)


def test_functions_and_lists_of_parameters_are_taken_too():
    data = samples(3)

    def fit(rows, labels, slope):
        return lambda table: slope * np.abs(np.asarray(table)[:, 0])

    found = tc.sweep(fit, [{"slope": 1.0}, {"slope": -1.0}], data, data, criterion="min_dcf")
    assert found.chosen.parameters["slope"] == 1.0


def test_a_grid_of_arrays_has_its_choice_by_place_also_after_a_copy():
    data = samples(3)

    def fit(rows, labels, slopes):
        return lambda table: np.abs(np.asarray(table)) @ slopes

    grid = {"slopes": [np.array([-1.0, -1.0]), np.array([1.0, 1.0]), np.array([1.0, 1.0])]}
    found = tc.sweep(fit, grid, data, data, criterion="min_dcf")
    for one in (found, copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        kept = one.to_dict()
        assert kept["chosen"] == 1
        assert [row["min_dcf"] for row in kept["rows"]][1:] == [found.chosen.min_dcf] * 2
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False))["chosen"] == 1


def test_systems_that_are_scored_already_are_chosen_among():
    labels = np.arange(100) % 2
    rng = np.random.default_rng(4)
    noise = {name: rng.normal(size=100) * spread for name, spread in (("a", 3.0), ("b", 0.5))}
    systems = {name: tc.Trials.of_scores(labels + own, labels) for name, own in noise.items()}
    found = tc.sweep_trials(systems, criterion="min_dcf", held_out=systems)
    assert found.chosen.parameters["system"] == "b"
    assert found.chosen.held_out_min_dcf == found.chosen.min_dcf
    with pytest.raises(tc.InputError, match="calibrate first"):
        tc.sweep_trials(systems)
    with pytest.raises(tc.InputError, match=r"'b' .1 of 2 systems"):
        tc.sweep_trials(systems, held_out={"a": systems["a"]})


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"grid": {"penalty": 0.1}}, "list of values"),
        ({"grid": {"penalty": []}}, "at least one"),
        ({"criterion": "auc"}, "criterion"),
        ({"train": ([[1.0]],)}, "pair"),
        ({"recognizer": 3}, "recognizer"),
    ],
)
def test_bad_input_is_refused_in_words(more, words):
    data = samples(5, 20)
    usual = {"recognizer": LogisticRecognizer, "grid": {"penalty": [0.1]}, "train": data, "validation": data}
    with pytest.raises(tc.InputError, match=words):
        tc.sweep(**(usual | more))


def test_every_cost_has_the_interval_of_evaluate():
    rng = np.random.default_rng(8)
    labels = np.arange(600) % 2
    speakers = np.arange(600) // 10

    def make(shift):
        return tc.Trials.of_llr(rng.normal(4 * labels - 2 + shift, 2), labels, groups={"speaker": speakers})

    names = {"dcf": "applications.0.dcf", "min_dcf": "applications.0.min_dcf", "cllr": "cllr"}
    systems, held = {"a": make(0.0), "b": make(1.0)}, {"a": make(0.0), "b": make(1.0)}
    for by in (None, "speaker"):
        found = tc.sweep_trials(systems, 0.2, held_out=held, ci=0.9, by=by)
        for row in found.rows:
            for prefix, trials in (("", systems), ("held_out_", held)):
                known = tc.evaluate(trials[row.parameters["system"]], [0.2], ci=0.9, by=by).intervals
                for name, key in names.items():
                    assert row.intervals[prefix + name][:2] == (known[key].low, known[key].high)
    kept = found.to_dict()["rows"][0]["intervals"]["held_out_dcf"]
    assert kept["low"] < kept["high"]
    series = set(tc.plot(found, "sweep").data["series"].tolist())
    assert {"chosen, interval", "chosen, held out, interval"} <= series
    assert "intervals" not in tc.sweep_trials(systems).to_dict()["rows"][0]


def test_a_level_that_is_none_is_refused():
    data = ([[0.0], [0.0], [0.0], [1.0], [1.0], [1.0]], [0, 0, 1, 0, 1, 1])
    with pytest.raises(tc.InputError, match="ci"):
        tc.sweep(tc.recognizers.LogisticRecognizer, {"penalty": [0.1]}, data, data, ci=95)
    found = tc.sweep(tc.recognizers.LogisticRecognizer, {"penalty": [0.1]}, data, data, ci=0.9)
    assert found.chosen.intervals["dcf"].low <= found.chosen.dcf <= found.chosen.intervals["dcf"].high
