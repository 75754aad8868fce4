"""Single numbers that are none: refused in a sentence by whatever takes them, never a raw error of Python or numpy."""

import math

import pytest

import tercet as tc

TRIALS = tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
CURVE = tc.Curve.of(tc.Tally.of(TRIALS))
TABLE = tc.Confusion([[3, 1], [1, 3]])
THREE = tc.Application.multiclass([0.2, 0.3, 0.5])
TAKES_A_NUMBER = {
    "partial_auc": lambda value: CURVE.partial_auc(fpr=value),
    "precision_at": CURVE.precision_at,
    "recall_at": CURVE.recall_at,
    "precision_at_recalled": CURVE.precision_at_recalled,
    "neyman_pearson": lambda value: tc.neyman_pearson(CURVE, value),
    "hull_rule": lambda value: tc.hull_rule(CURVE, value),
    "prior": lambda value: tc.Application(value, 1, 1),
    "cost_fn": lambda value: tc.Application(0.5, value, 1),
    "fnr": lambda value: tc.Application(0.5, 1, 1).dcf(fnr=value, fpr=0.1),
    "steps": lambda value: THREE.path_to(THREE, value),
    "count": lambda value: tc.wilson(value, 10),
    "out_of": lambda value: tc.clopper_pearson(0, value),
    "level": lambda value: tc.wilson(1, 10, value),
    "z": lambda value: tc.wilson(1, 10, z=value),
    "k": lambda value: tc.k_sigma(1, 10, value),
    "top_k": lambda value: tc.top_k_accuracy(TRIALS, value),
    "beta": TABLE.f_beta,
    "bayes_plot": lambda value: tc.evaluate(TRIALS, bayes_plot=value),
}
NO_NUMBERS = ["a", "0.5", b"1", True, object(), [], [1, 2, 3, 4], {}, math.nan, -1, math.inf, 10**400, 1j]


@pytest.mark.parametrize("value", NO_NUMBERS, ids=lambda value: repr(value)[:12])
@pytest.mark.parametrize("takes", TAKES_A_NUMBER)
def test_what_is_no_number_is_refused_in_a_sentence(takes, value):
    with pytest.raises(tc.InputError) as caught:
        TAKES_A_NUMBER[takes](value)
    assert str(caught.value).endswith(".")


def test_a_very_wide_k_sigma_interval_of_no_errors_still_has_ends():
    narrow, wide, widest = (tc.k_sigma(0, 10, k).high for k in (8, 9, 40))
    assert narrow < wide < widest == 1.0
    assert wide == pytest.approx(1.0 - (math.erfc(9 / math.sqrt(2)) / 2) ** 0.1, rel=1e-12)
