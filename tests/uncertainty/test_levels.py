"""Groups describe intervals: without a level they have no effect, and are refused."""

import inspect

import numpy as np
import pytest

import tercet as tc

TRIALS = tc.Trials.of_llr([1.0, -1.0, 0.5, -2.0], [1, 0, 1, 0], groups={"speaker": list("aabb")})
COSTS = tc.CaseCosts(0.2, np.ones(4), np.arange(1.0, 5.0))
CALLS = {
    "evaluate": (TRIALS, [0.5]),
    "by_condition": (TRIALS, "speaker", [0.5]),
    "decision_curve": (TRIALS, [0.2]),
    "evaluate_case_costs": (TRIALS, COSTS),
    "case_cost_curve": (TRIALS, COSTS),
    "sweep_trials": ({"a": TRIALS},),
}


def test_every_function_whose_level_may_be_left_out_is_tried():
    found = set()
    for name in tc.__all__:
        thing = getattr(tc, name)
        parameters = inspect.signature(thing).parameters if inspect.isfunction(thing) else {}
        if "by" in parameters and "ci" in parameters and parameters["ci"].default is None:
            found.add(name)
    assert found == set(CALLS)


@pytest.mark.parametrize("name", CALLS)
def test_groups_without_a_level_are_refused(name):
    with pytest.raises(tc.InputError, match="by= describes intervals"):
        getattr(tc, name)(*CALLS[name], by="speaker")
