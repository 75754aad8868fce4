"""The contract of everything public: hostile arguments give the right answer or a sentence that names the argument.

The full matrix is `python tests/contract/full.py [pattern]`; here every n-th call of it.
"""

from __future__ import annotations

import importlib.util
import pathlib
import sys

import pytest

import tercet as tc

pytest.importorskip("sklearn")
pytest.importorskip("matplotlib").use("Agg")

HERE = pathlib.Path(__file__).parent


def _loaded(name):
    if name not in sys.modules:
        spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
        sys.modules[name] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(sys.modules[name])
    return sys.modules[name]


_loaded("values")
harness = _loaded("harness")

# Callables without any raw exception over the full matrix; the list only grows.
SOUND = (
    "Affine.fit", "Affine.__call__", "Application", "Application.of", "Application.named", "Application.multiclass",
    "Application.equivalent", "Application.dcf", "Application.dcf_u", "Confusion", "Confusion.of", "Confusion.average",
    "Confusion.per_class", "Confusion.proportion", "Confusion.risk", "Confusion.f_beta", "Confusion.weighted_kappa",
    "Confusion.normalised", "Curve.eer", "Curve.min_dcf", "Curve.confusion", "Fusion.__call__", "Gaussian.fit",
    "Gaussian.__call__", "Isotonic.fit", "Isotonic.__call__", "Logistic.fit", "Logistic.__call__", "Logistic.from_json",
    "MulticlassApplication.of", "MulticlassApplication.path_to", "RandomisedRule.__call__", "Threshold.fit",
    "Threshold.__call__", "Trials.of_llr", "Trials.of_lr", "Trials.of_log10_llr", "Trials.of_log_odds",
    "Trials.of_scores", "Trials.of_posteriors", "Trials.of_log_likelihoods", "Trials.of_logits", "Trials.select",
    "Trials.versus", "confusion_of", "decide", "decisions", "expected_costs", "hull_rule", "neyman_pearson", "wilson",
    "k_sigma", "min_risk", "interval", "log_loss", "brier", "perplexity", "top_k_accuracy", "mcnemar", "delong_test",
    "load_model", "rate_posterior", "BetaPosterior.interval", "BetaPosterior.probability_below",
    "robust_thresholds", "label_noise", "difference_band", "net_benefit_band",
    "sample_size_for_rate", "sample_size_for_auc", "sample_size_for_difference",
    "verification_bias", "verification_bias_of",
)  # fmt: skip


@pytest.mark.parametrize("name", SOUND)
def test_hostile_arguments_give_an_answer_or_a_typed_error(name, tmp_path):
    found = [one for one in harness.targets(tmp_path) if one.name == name]
    assert found, f"{name} is not public any more"
    place, bad = 0, []
    for argument in found[0].clean:
        for called, value in harness.hostile_values().items():
            place += 1
            if place % 7 == len(name) % 7:
                outcome = harness.attempt(found[0], argument, called, value, tmp_path)
                bad += [str(outcome)] if outcome.kind in ("raw", "hang", "nan") else []
    assert bad == []


def test_every_public_callable_is_called(tmp_path):
    harness.targets(tmp_path)
    assert harness.WITHOUT_VALUES == {}


def test_every_clean_call_gives_an_answer(tmp_path):
    for target in harness.targets(tmp_path):
        harness.clean_call(target)


def test_a_raw_exception_is_found(tmp_path):
    broken = harness.Target("broken", lambda count: [1][count], {"count": 0})
    kinds = {harness.attempt(broken, "count", k, v, tmp_path).kind for k, v in harness.hostile_values().items()}
    assert "raw" in kinds
    unnamed = harness.Target("unnamed", lambda count: tc.Application("x"), {"count": 0})
    assert harness.attempt(unnamed, "count", "0", 0, tmp_path).kind == "unnamed"


@pytest.mark.parametrize(
    "path", ["../x", "/etc/passwd", "x", "~/x", b"/etc/x", 1, True, pathlib.Path("/home/x"), "a\0b"]
)
def test_the_guard_refuses_paths_outside_the_folder(path, tmp_path):
    assert not harness.harmless(path, tmp_path)


def test_the_guard_refuses_a_path_that_leaves_by_a_link(tmp_path):
    (tmp_path / "away").symlink_to("/tmp")
    assert not harness.harmless(tmp_path / "away" / "x", tmp_path)
    assert not harness.harmless(str(tmp_path / ".." / "x"), tmp_path)
    assert harness.harmless(tmp_path / "x.csv", tmp_path)
    assert harness.harmless([1, 2], tmp_path)
