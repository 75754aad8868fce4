"""The laboratory's llrs and real systems' outputs, before and after calibration."""

import numpy as np
import pytest

from tercet import (
    Application,
    Trials,
    confusion_of,
    evaluate,
    normalised_cross_entropy,
)
from tercet.calibration.cross_fit import cross_fit
from tercet.calibration.multiclass import Affine
from tercet.calibration.two_class import Logistic
from tercet.metrics.costs import class_prior
from tercet.metrics.min_risk import min_risk

APPLICATIONS = [(0.5, 1, 1), (0.8, 1, 1), (0.5, 10, 1), (0.8, 1, 10)]
SYSTEMS = {  # normalised cost at the data's own frequencies, cross-entropy over the prior's entropy
    "cifar10_resnet-20": (0.082, 0.122),
    "agnews_gpt2": (0.780, 0.814),
    "pneumoniamnist_resnet50": (0.278, 0.802),
}


def llrs(folder, suffix):
    return Trials.of_llr(
        np.load(folder / "lab" / f"commedia_llr_infpar{suffix}.npy"),
        np.load(folder / "lab" / f"commedia_labels_infpar{suffix}.npy"),
    )


@pytest.mark.parametrize("suffix", ["", "_eps1"])
@pytest.mark.parametrize("point", APPLICATIONS)
def test_calibration_brings_the_laboratory_within_reach_of_its_minimum(lab_data, suffix, point):
    trials = llrs(lab_data, suffix)
    prior = Application(*point).effective_prior
    calibrated = cross_fit(Logistic, trials, prior, scheme="interleaved").scores
    before, after = (evaluate(one, [point]).applications[0] for one in (trials, calibrated))
    assert after.dcf - before.min_dcf < 0.07
    assert after.dcf < before.dcf + 0.011
    assert after.dcf < 1.0


def real(folder, name):
    scores = np.load(folder / "scores" / name / "scores.npy")
    labels = np.load(folder / "scores" / name / "targets.npy")
    sizes = np.bincount(labels, minlength=scores.shape[1])
    return Trials.of_logits(scores, labels, trained_prior=sizes / sizes.sum(), orientation="samples x classes")


@pytest.mark.parametrize("name", SYSTEMS)
def test_calibration_lowers_the_costs_of_real_systems(lab_data, name):
    trials = real(lab_data, name)
    prior = class_prior(trials)
    app = Application.multiclass(prior)
    cost, entropy = SYSTEMS[name]
    assert confusion_of(trials, app).normalised_risk(app) == pytest.approx(cost, abs=6e-4)
    assert normalised_cross_entropy(trials) == pytest.approx(entropy, abs=6e-4)
    after = cross_fit(Affine, trials, prior).scores
    assert normalised_cross_entropy(after) < 0.9 * entropy
    assert confusion_of(after, app).normalised_risk(app) < cost + 0.005


@pytest.mark.parametrize("suffix", ["", "_eps1"])
def test_the_three_canticles_have_a_proved_minimum(lab_data, suffix):
    trials = Trials.of_log_likelihoods(
        np.load(lab_data / "lab" / f"commedia_ll{suffix}.npy"),
        np.load(lab_data / "lab" / f"commedia_labels{suffix}.npy"),
    )
    app = Application.multiclass([1 / 3] * 3)
    least = min_risk(trials, app)
    assert least.exact
    assert least.risk <= confusion_of(trials, app).risk(app)
