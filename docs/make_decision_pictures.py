"""Makes the pictures of docs/decisions.md and docs/biometrics.md from simulated scores."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import tercet as tc

PICTURES = Path(__file__).parent / "pictures"


def simulated(seed: int, size: int = 2000, share: float = 0.3, distance: float = 2.0) -> tc.Trials:
    """Calibrated llrs of two normal classes, at three sites of which the last is harder."""
    rng = np.random.default_rng(seed)
    labels = rng.random(size) < share
    sites = np.array(["north", "south", "west"])[rng.integers(0, 3, size)]
    shift = np.where(sites == "west", 0.6, 1.0) * distance / 2.0
    scores = rng.normal(size=size) + np.where(labels, shift, -shift)
    return tc.Trials.of_llr(distance * scores, labels, name=f"system {seed}", groups={"site": sites})


def main() -> None:
    """Writes the pictures."""
    PICTURES.mkdir(exist_ok=True)
    one, other = simulated(1), simulated(2, distance=1.5)
    found = tc.evaluate(one, [(0.3, 1, 1)])
    rule = tc.Rule.fit(one, fpr_at_most=0.05, confidence=0.95)
    shares = {"April": 0.05, "May": 0.08, "June": 0.15}
    moved = {name: tc.estimate_prevalence(simulated(9, share=share), one) for name, share in shares.items()}
    curves = [tc.decision_curve(trials, ci=0.95) for trials in (one, other)]
    drawn = {
        "decision-curve": lambda path: tc.plot(curves, "decision-curve", labels=["A", "B"], path=path),
        "rule": lambda path: tc.plot(found, "histogram", rule=rule, path=path),
        "coverage": lambda path: tc.plot([tc.risk_coverage(one), tc.risk_coverage(other)], "risk-coverage", path=path),
        "prevalence": lambda path: tc.plot(moved, "prevalence", path=path),
        "gaps": lambda path: tc.plot(tc.group_gaps(one, "site", (0.3, 1, 1)), "forest", quantity="fnr", path=path),
        "corp": lambda path: tc.plot(tc.corp_diagram(one, resamples=200), "corp", path=path),
        "count": lambda path: tc.plot(tc.count_report(tc.confusion_of(one, (0.3, 1, 1))), "count", path=path),
        "log-det": lambda path: tc.plot([found, tc.evaluate(other)], "det", log=True, path=path),
    }
    for name, draw in drawn.items():
        draw(PICTURES / f"{name}.png")


if __name__ == "__main__":
    main()
