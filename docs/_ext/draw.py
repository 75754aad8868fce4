"""The site's pictures by name, each drawn by tercet from simulated scores whose truth is known."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import tercet as tc

APPLICATIONS = [(0.5, 1, 1), (0.01, 10, 1)]


def calibrated_trials() -> tc.Trials:
    """Trials whose llrs are right by construction."""
    return tc.datasets.detection(4000, prior=0.3, mean=2.0, seed=3).trials


@cache
def calibrated() -> tc.Evaluation:
    """The evaluation of these trials."""
    return tc.evaluate(calibrated_trials(), APPLICATIONS, name="calibrated")


@cache
def overconfident() -> tc.Evaluation:
    """The same ranking with llrs that claim too much."""
    task = tc.datasets.detection(4000, prior=0.3, mean=2.0, seed=3)
    return tc.evaluate(task.miscalibrated(scale=2.5, shift=1.0), APPLICATIONS, name="overconfident")


def _one(kind: str, system: Callable[[], tc.Evaluation] = calibrated, **options: Any) -> Callable[[Path], None]:
    def draw(path: Path) -> None:
        tc.plot(system(), kind, path=path, **options)

    return draw


def _both(kind: str) -> Callable[[Path], None]:
    def draw(path: Path) -> None:
        tc.plot([calibrated(), overconfident()], kind, path=path)

    return draw


def _roc_band(path: Path) -> None:
    trials = tc.datasets.detection(500, prior=0.3, mean=2.0, seed=3).trials
    bands = tc.uncertainty.bands(trials, resamples=200, quantities=["auc"])
    tc.plot(tc.evaluate(trials, APPLICATIONS, name="500 trials"), "roc", bands=bands, sigma=2, path=path)


def _forest(path: Path) -> None:
    task = tc.datasets.detection(2000, prior=0.3, mean=2.0, seed=3)
    systems = [task.trials, task.miscalibrated(scale=2.5, shift=1.0), task.miscalibrated(scale=0.5)]
    names = ["calibrated", "overconfident", "cautious"]
    tc.plot(tc.compare(*systems, [APPLICATIONS[0]], names=names), "forest", path=path)


def _maps(path: Path) -> None:
    task = tc.datasets.detection(2000, prior=0.3, mean=2.0, seed=3)
    scores = tc.Trials.of_scores(task.miscalibrated(scale=2.5, shift=1.0).scores, task.labels)
    maps = [tc.Logistic.fit(scores), tc.Isotonic.fit(scores), tc.Gaussian.fit(scores)]
    tc.plot(maps, "score-to-llr", path=path)


def _neyman_pearson(path: Path) -> None:
    rule = tc.Rule.fit(calibrated_trials(), fpr_at_most=0.05, confidence=0.95)
    tc.plot(calibrated(), "histogram", rule=rule, path=path)


def _fusion(path: Path) -> None:
    """Two systems with independent errors, 1.5 standard deviations apart, and their fusion on other trials."""

    def systems(seed: int) -> list[tc.Trials]:
        random, labels = np.random.default_rng(seed), np.arange(4000) % 2
        return [tc.Trials.of_scores(1.5 * labels + random.normal(size=4000), labels) for _ in range(2)]

    first, second = systems(2)
    fused = tc.Fusion.fit(systems(1), prior=0.5)([first, second])
    drawn = {"first": tc.evaluate(first), "second": tc.evaluate(second), "fusion": tc.evaluate(fused)}
    tc.plot(drawn, "det", path=path)


def _own_axes(path: Path) -> None:
    """The figure of docs/howto/figure.md."""
    from matplotlib import pyplot as plt

    files = tc.datasets.example("speech")
    systems = {}
    for name in "abc":
        columns = files[f"eval-{name}.csv"]
        systems[name] = tc.evaluate(tc.Trials.of_scores(columns["score"], columns["label"], target="target"), [0.05])
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.5), layout="constrained")
    tc.plot(systems, "det", ax=left)
    tc.plot(systems, "roc", ax=right)
    figure.savefig(path)
    plt.close(figure)


PICTURES: dict[str, Callable[[Path], None]] = {
    "histogram": _one("histogram"),
    "posteriors": _one("posteriors", application=1),
    "roc": _one("roc"),
    "det": _one("det"),
    "bayes-error": _both("bayes-error"),
    "cost-parts": _one("bayes-error", overconfident, parts=True),
    "brier-curve": _both("brier-curve"),
    "cross-entropy": _one("cross-entropy", overconfident),
    "calibration-map": _one("calibration-map", overconfident),
    "reliability": _both("reliability"),
    "cost-by-threshold": _one("cost-by-threshold"),
    "score-to-llr": _maps,
    "neyman-pearson": _neyman_pearson,
    "fusion": _fusion,
    "roc-band": _roc_band,
    "forest": _forest,
    "own-axes": _own_axes,
}
