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


ROWS = tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0], groups={"site": list("aabbab")})
TRAINED_INTO_NOTHING = {
    "sweep": lambda fit: tc.sweep(fit, {"a": [1]}, ([1.0, 2.0], [0, 1]), ([1.0, 2.0], [0, 1])).chosen,
    "cross_fit": lambda fit: tc.cross_fit(fit, ROWS, folds=2),
    "fit_recognizer_and_calibrator": lambda fit: tc.fit_recognizer_and_calibrator(
        fit, tc.Logistic, [[1.0], [2.0], [3.0], [4.0]], [0, 1, 0, 1], folds=2
    ),
    "lr_interval": lambda fit: tc.forensics.lr_interval([1.0], ROWS, calibrator=fit, resamples=39),
}


@pytest.mark.parametrize("called", TRAINED_INTO_NOTHING)
def test_a_training_function_that_returns_nothing_is_named(called):
    with pytest.raises(tc.TercetError, match="must be a function, not None"):
        TRAINED_INTO_NOTHING[called](lambda *_, **__: None)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tc.Application(1e-320), "prior must be at least 2.23e-308"),
        (lambda: tc.sample_size(1e-320, 0.1, (0.5, 1, 1), 0.1), "fnr must be at least"),
        (lambda: tc.sample_size(0.1, 0.1, (0.5, 1, 1), 0.1, assurance=1e-320), "assurance must be at least"),
        (lambda: tc.biometrics.comparisons_needed(1e-320), "rate must be at least"),
        (lambda: tc.rates_report(0.5, 1e-320), "fpr must be 0 or at least"),
        (lambda: tc.Logistic.fit(ROWS, penalty=1e308), "penalty must be a number from 0 to 1e100"),
        (lambda: tc.expected_calibration_error(ROWS, bins=2**70), "bins must be a whole number, at most"),
        (lambda: tc.corp_diagram(ROWS, resamples=2**70), "resamples must be a whole number, at most"),
        (lambda: tc.forensics.tippett(ROWS, points=-1), "points must be a whole number, at least 2"),
        (lambda: tc.split(ROWS, (200, 100)), "shares"),
        (lambda: tc.recognizers.k_folds(2, 3), "k must be at most n"),
        (lambda: tc.rate_posterior(3, 2), "count must be at most out_of"),
        (lambda: tc.mcnemar({"a": 1}, [1], [1]), "first, second and labels"),
        (lambda: tc.Confusion([[1, 2], [3, 4]], actions=[1j, 2j]), "actions must be names"),
        (lambda: tc.forensics.lr_interval([1.0], ROWS, options={"a": 1}), "options=.* must name arguments"),
        (lambda: tc.CaseCosts(0.5, [2.0, 3.0], 1.0).select([]), "rows must select at least one case"),
        (lambda: tc.datasets.detection(10).miscalibrated(scale=1e308), "scale=1e\\+308"),
        (lambda: tc.io.write_text_atomically(None, "x"), "path must be the name of a file"),
        (lambda: tc.io.columns_like(ROWS, id_column=[1.5]), "id_column must be text"),
        (lambda: tc.by_condition(ROWS, "site", (0.5, 1, 1), ci=0.9, by={}), "by is None, the name"),
        (lambda: tc.Trials.of_posteriors([[0.4, 0.6]], target="a"), r"posteriors\[:, k\]; of more, name the classes"),
        (lambda: tc.report(TRIALS, "page.html"), "what tercet.evaluate returns, not Trials"),
        (lambda: tc.compare([TRIALS, TRIALS], applications=[0.1]), r"compare\(\*systems\)"),
        (lambda: tc.compare([TRIALS, TRIALS]), r"compare\(\*systems\)"),
    ],
)
def test_what_cannot_be_meant_is_refused_by_its_name(call, words):
    with pytest.raises(tc.InputError, match=words):
        call()


@pytest.mark.parametrize(
    "ask",
    [
        lambda: tc.evaluate(TRIALS, [0.1], ci=95),
        lambda: tc.bootstrap(TRIALS, [0.1], ci=95),
        lambda: tc.decision_curve(TRIALS, [0.1], ci=95),
        lambda: tc.compare_net_benefit(TRIALS, TRIALS, names=["a", "b"], thresholds=[0.1], ci=95),
    ],
)
def test_a_level_in_per_cent_is_refused_with_the_number_that_is_meant(ask):
    with pytest.raises(tc.InputError, match=r"ci must lie strictly between 0 and 1, not 95\.0\. 95 % is 0\.95\."):
        ask()


@pytest.mark.parametrize("method", [tc.Logistic, tc.Isotonic, tc.Gaussian, tc.Beta, tc.Offset, tc.KernelDensity])
def test_arrays_in_the_place_of_trials_are_named_and_not_the_prior(method):
    """Their labels stand where the prior does, as in scikit-learn's fit(X, y)."""
    with pytest.raises(tc.InputError, match="trials must be Trials, not 'list': say what the scores mean"):
        method.fit([1.0, 2.0, 0.0, -1.0], [1, 1, 0, 0])


def test_large_results_are_shown_in_a_few_lines():
    trials = tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0], groups={"site": list("aabbab")})
    gaps = repr(tc.group_gaps(trials, "site", (0.5, 1, 1))).splitlines()
    assert gaps[0] == "GroupGaps: 'site', 95 % intervals"
    assert gaps[1].startswith("  fnr: 'a' - 'b' -1.0000 (")
    sheet = repr(tc.forensics.validation(trials, resamples=39)).splitlines()
    assert sheet[0] == "Validation: 'system', 3 same-source, 3 different-source trials, 95 % intervals"
    assert sheet[1].startswith("  Cllr (bits): 0.")
    assert len(sheet) == 6
