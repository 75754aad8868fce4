"""The site's pictures by name, each drawn by tercet from simulated scores whose truth is known."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import tercet as tc

APPLICATIONS = [(0.1, 1, 1), (0.01, 10, 1)]


@cache
def calibrated() -> tc.Evaluation:
    """A system whose llrs are right by construction."""
    return tc.evaluate(tc.datasets.detection(4000, prior=0.3, mean=2.0, seed=3).trials, APPLICATIONS, name="calibrated")


@cache
def overconfident() -> tc.Evaluation:
    """The same ranking with llrs that claim too much."""
    task = tc.datasets.detection(4000, prior=0.3, mean=2.0, seed=3)
    return tc.evaluate(task.miscalibrated(scale=2.5, shift=1.0), APPLICATIONS, name="overconfident")


def _one(kind: str, system: Callable[[], tc.Evaluation] = calibrated) -> Callable[[Path], None]:
    def draw(path: Path) -> None:
        tc.plot(system(), kind, path=path)

    return draw


def _both(path: Path) -> None:
    tc.plot([calibrated(), overconfident()], "bayes-error", path=path)


PICTURES: dict[str, Callable[[Path], None]] = {
    "histogram": _one("histogram"),
    "roc": _one("roc"),
    "det": _one("det"),
    "bayes-error": _both,
    "calibration-map": _one("calibration-map", overconfident),
    "reliability": _one("reliability", overconfident),
    "cost-by-threshold": _one("cost-by-threshold"),
}
