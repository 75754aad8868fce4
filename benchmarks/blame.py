"""How often the page blames perfectly calibrated scores for their calibration: the aim is at most 5 in 100 runs.

Normal scores with d' 1.5 that are their own llrs; 50, 200 and 2,000 trials of each class; priors 0.5, 0.1 and 0.01 at
equal costs. The page blames where the lower end of the 95 % interval of the cross-fitted calibration loss is above 0.

    python benchmarks/blame.py [RUNS] [SECONDS]
"""

from __future__ import annotations

import sys
import time

import numpy as np

import tercet as tc

SEPARATION = 1.5
SIZES = (50, 200, 2000)
PRIORS = (0.5, 0.1, 0.01)


def calibrated(size: int, rng: np.random.Generator) -> tc.Trials:
    """Scores x of N(0, 1) and N(d', 1), as llr d' x - d'^2 / 2."""
    labels = np.arange(2 * size) < size
    x = rng.normal(size=2 * size) + SEPARATION * labels
    return tc.Trials.of_llr(SEPARATION * x - SEPARATION**2 / 2, labels)


def blamed(size: int, rng: np.random.Generator) -> list[bool]:
    """Whether the page would blame the scores, at each prior."""
    rows = tc.evaluate(calibrated(size, rng), list(PRIORS), ci=0.95).to_dict()["applications"]
    ends = [row.get("calibration_loss_ci") for row in rows]
    return [pair is not None and pair[0] is not None and float(pair[0]) > 0.0 for pair in ends]


def main(runs: int = 1000, seconds: float = 600.0) -> None:
    """Prints the share of runs with blame for each size and prior, and how many runs there were time for."""
    rng, end = np.random.default_rng(0), time.monotonic() + seconds
    counts = {size: [np.zeros(len(PRIORS)), 0] for size in SIZES}
    for _ in range(runs):
        for size in SIZES:
            counts[size][0] += blamed(size, rng)
            counts[size][1] += 1
        if time.monotonic() > end:
            break
    print("trials per class  runs  " + "  ".join(f"prior {prior:g}" for prior in PRIORS))
    for size, (found, done) in counts.items():
        print(f"{size:16d}  {done:4d}  " + "  ".join(f"{100 * one / done:7.1f} %" for one in found))


if __name__ == "__main__":
    main(*(kind(word) for kind, word in zip((int, float), sys.argv[1:], strict=False)))
