"""The tables of docs/calibration.md: python examples/calibration_tables.py FOLDER

FOLDER holds lab/ (the laboratory's scores) and scores/ (outputs of real classifiers).
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

import tercet as tc
from tercet.calibration.cross_fit import cross_fit, select_calibrator
from tercet.calibration.multiclass import Affine
from tercet.calibration.two_class import Gaussian, Isotonic, Logistic, Threshold
from tercet.metrics.costs import class_prior
from tercet.metrics.min_risk import min_risk

POINTS = [(0.5, 1, 1), (0.8, 1, 1), (0.5, 10, 1), (0.8, 1, 10)]
SYSTEMS = ("agnews_gpt2", "cifar10_resnet-20", "pneumoniamnist_resnet50")


def main(folder: Path) -> None:
    print("Laboratory, inferno against paradiso: logistic by 5 interleaved folds, trained at the effective prior\n")
    print("| pseudo-count | (pi, C_fn, C_fp) | DCF as given | DCF calibrated | min DCF |\n|---|---|---|---|---|")
    for count, ending in (("0.001", ""), ("1", "_eps1")):
        for line in laboratory(folder / "lab", ending):
            print(f"| {count} | {line}")
    print("\nWhich method, at (0.8, 1, 10), pseudo-count 0.001, under the same folds\n")
    methods = [Logistic, Isotonic, Gaussian, Threshold]
    print(select_calibrator(methods, [0.2, 0.5, 0.8], llrs(folder / "lab", ""), (0.8, 1, 10), scheme="interleaved"))
    print("\nLaboratory, three cantiche at equal costs: actual risk and its minimum over offsets\n")
    print("| pseudo-count | risk | calibrated (5 folds) | minimum | proved |\n|---|---|---|---|---|")
    for count, ending in (("0.001", ""), ("1", "_eps1")):
        print(f"| {count} | {cantiche(folder / 'lab', ending)}")
    print("\nReal systems at their own class frequencies, 0-1 costs, 5 stratified folds\n")
    print("| system | map | cost before | cost after | cross-entropy before | after |\n|---|---|---|---|---|---|")
    for name in SYSTEMS:
        for line in real_system(folder / "scores" / name):
            print(f"| {name} | {line}")


def llrs(folder: Path, ending: str) -> tc.Trials:
    files = (folder / f"commedia_{kind}_infpar{ending}.npy" for kind in ("llr", "labels"))
    return tc.Trials.of_llr(*(np.load(file) for file in files))


def laboratory(folder: Path, ending: str) -> list[str]:
    trials, lines = llrs(folder, ending), []
    for point in POINTS:
        prior = tc.Application(*point).effective_prior
        calibrated = cross_fit(Logistic, trials, prior, folds=5, scheme="interleaved").scores
        before, after = (tc.evaluate(one, [point]).applications[0] for one in (trials, calibrated))
        lines.append(f"{point} | {before.dcf:.3f} | {after.dcf:.3f} | {before.min_dcf:.3f} |")
    return lines


def cantiche(folder: Path, ending: str) -> str:
    files = (folder / f"commedia_{kind}{ending}.npy" for kind in ("ll", "labels"))
    trials = tc.Trials.of_log_likelihoods(*(np.load(file) for file in files))
    app = tc.Application.multiclass([1 / 3] * 3)
    calibrated = cross_fit(Affine, trials, folds=5, scheme="interleaved").scores
    before, after = (tc.confusion_of(one, app).risk(app) for one in (trials, calibrated))
    least = min_risk(trials, app)
    return (
        f"{before:.3f} | {after:.3f} | {least.risk:.3f} | {'yes' if least.exact else f'>= {least.lower_bound:.3f}'} |"
    )


def real_system(folder: Path) -> list[str]:
    scores, labels = np.load(folder / "scores.npy"), np.load(folder / "targets.npy")
    sizes = np.bincount(labels, minlength=scores.shape[1])
    share = sizes / sizes.sum()
    trials = tc.Trials.of_logits(scores, labels, trained_prior=share, orientation="samples x classes")
    prior, lines = class_prior(trials), []
    app = tc.Application.multiclass(prior)
    for kind in ("temperature", "offsets"):
        calibrated = cross_fit(Affine, trials, prior, folds=5, kind=kind).scores
        costs = [tc.confusion_of(one, app).normalised_risk(app) for one in (trials, calibrated)]
        bits = [tc.normalised_cross_entropy(one, prior) for one in (trials, calibrated)]
        lines.append(f"{kind} | {costs[0]:.3f} | {costs[1]:.3f} | {bits[0]:.3f} | {bits[1]:.3f} |")
    return lines


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python examples/calibration_tables.py FOLDER")
    main(Path(sys.argv[1]))
