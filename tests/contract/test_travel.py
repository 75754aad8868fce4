"""Results travel between processes: whatever a public callable answers can be pickled and copied."""

from __future__ import annotations

import copy
import importlib.util
import pathlib
import pickle
import sys
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pytest

import tercet as tc
from tercet._numeric.records import ReadOnly, Record

pytest.importorskip("sklearn")
pytest.importorskip("matplotlib").use("Agg")

HERE = pathlib.Path(__file__).parent
# Answers that hold a function of the caller's own, which was written inside another function.
HOLDS_A_CLOSURE = {"fit_recognizer_and_calibrator"}
WAYS = {"pickle": lambda value: pickle.loads(pickle.dumps(value)), "deepcopy": copy.deepcopy, "copy": copy.copy}


def _loaded(name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


values = _loaded("values")
harness = _loaded("harness")


def lost(value):
    """What becomes of a value on its way, or nothing."""
    for how, travel in WAYS.items():
        try:
            twin = travel(value)
        except Exception as error:
            yield f"{how}: {type(value).__name__}: {error!r}"
            continue
        if type(twin) is not type(value) or not harness.same(value, twin) or repr(value) != repr(twin):
            yield f"{how}: {type(value).__name__} is another"
        elif callable(getattr(value, "to_dict", None)) and not harness.same(value.to_dict(), twin.to_dict()):
            yield f"{how}: {type(value).__name__}.to_dict is another"


def test_the_answer_of_every_public_callable_can_be_pickled_and_copied(tmp_path):
    found = {one.name: list(lost(harness.clean_call(one))) for one in harness.targets(tmp_path)}
    assert {name: words for name, words in found.items() if words and name not in HOLDS_A_CLOSURE} == {}


def test_every_instance_of_a_public_class_can_be_pickled_and_copied():
    assert {name: words for name, one in values.INSTANCES.items() if (words := list(lost(one)))} == {}


TWO, OTHER, THREE, APP = values.TRIALS, values.GROUPED, values.THREE, values.APP
SMALL = {"resamples": 100, "seed": 0}
FURTHER = {
    "intervals": lambda: tc.evaluate(TWO, [APP, "sre08"], ci=0.9),
    "intervals by group": lambda: tc.evaluate(TWO, [APP], ci=0.9, by="speaker"),
    "intervals of several classes": lambda: tc.evaluate(THREE, [tc.Application.multiclass([0.2, 0.3, 0.5])], ci=0.9),
    "bootstrap": lambda: tc.evaluate(TWO, [APP], ci=0.9, method="percentile", **SMALL),
    "operating point": lambda: tc.evaluate(TWO, [APP]).applications[0],
    "comparison": lambda: tc.compare(TWO, OTHER, [APP]),
    "unpaired comparison": lambda: tc.compare(TWO, OTHER, [APP], unpaired=True),
    "comparison of several classes": lambda: tc.compare(THREE, THREE, [tc.Application.multiclass([0.2, 0.3, 0.5])]),
    "conditions": lambda: tc.by_condition(values.SEXES, "sex", [APP], ci=0.9),
    "sweep": lambda: tc.sweep_trials({"a": TWO, "b": OTHER}, APP, ci=0.9),
}


@pytest.mark.parametrize("name", FURTHER)
def test_results_with_intervals_can_be_pickled_and_copied(name):
    assert list(lost(FURTHER[name]())) == []


def test_estimates_give_the_same_limits_after_the_journey():
    found = tc.compare(TWO, OTHER, [APP])
    twin = pickle.loads(pickle.dumps(found))
    assert found.estimates
    for key, one in found.estimates.items():
        assert twin.estimates[key].limits(0.8) == one.limits(0.8)


# The mapping itself


def test_a_read_only_mapping_is_equal_to_a_dict_and_shown_as_one():
    given = {"a": 1, "b": (2, 3)}
    made = ReadOnly(given)
    assert isinstance(made, Mapping)
    assert made == given
    assert given == made
    assert made != {"a": 1}
    assert repr(made) == repr(given)
    assert (list(made), len(made), {**made}, made | {"c": 4}) == (["a", "b"], 2, given, given | {"c": 4})
    assert {"c": 4, "a": 0} | made == {"c": 4, "a": 1, "b": (2, 3)}
    with pytest.raises(KeyError, match="'z'"):
        made["z"]


def test_a_read_only_mapping_cannot_be_changed_not_even_by_what_it_was_made_of():
    given = {"a": 1}
    made = ReadOnly(given)
    given["b"] = 2
    assert made == {"a": 1}
    with pytest.raises(TypeError):
        made["a"] = 2
    with pytest.raises(TypeError):
        del made["a"]
    for name in ("_items", "new"):
        with pytest.raises(AttributeError, match="read-only"):
            setattr(made, name, {})
    with pytest.raises(AttributeError, match="read-only"):
        del made._items


def test_a_deep_copy_of_a_read_only_mapping_has_its_own_values():
    made = ReadOnly({"a": np.array([1.0, 2.0])})
    twin = copy.deepcopy(made)
    assert type(twin) is ReadOnly
    assert not np.shares_memory(twin["a"], made["a"])


@dataclass(frozen=True)
class Counted(Record):
    counts: Mapping[str, int]


def test_the_contents_of_a_read_only_mapping_are_checked_by_every_record():
    assert Counted(ReadOnly({"a": 1})).counts == {"a": 1}
    with pytest.raises(tc.InputError, match="counts"):
        Counted(ReadOnly({"a": "x"}))
