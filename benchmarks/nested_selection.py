"""Whether `nested_dcf` tells what a selected calibrator costs: python benchmarks/nested_selection.py

Sets are drawn from known populations, a calibrator is selected on each, trained on the whole set and judged on 200,000
fresh trials. Printed are the means over the sets of three normalised costs: the lowest one of the ranking, the nested
one, and that on the fresh trials; and how far the first two are off on average, with two standard errors.
"""

from __future__ import annotations

import argparse
import sys
from itertools import product

import numpy as np

import tercet as tc

METHODS = {one.method: one for one in (tc.Logistic, tc.Isotonic, tc.Gaussian)}
TRAINED_AT = (0.1, 0.5)
FRESH = 100_000  # trials of each class
SIZES, PRIORS = (50, 250), (0.5, 0.1)  # trials of each class; operating points
NOISES = ("gaussian", "unequal", "t3")


def drawn(rng: np.random.Generator, noise: str, size: int) -> tc.Trials:
    """Raw scores with an EER of about 10 %: normal, normal with targets that vary more, or Student's t(3)."""
    labels = np.repeat([1, 0], size)
    scores = rng.standard_t(3, 2 * size) if noise == "t3" else rng.standard_normal(2 * size)
    if noise == "unequal":
        scores = np.where(labels == 1, 1.6, 0.7) * scores
    return tc.Trials.of_scores(scores + np.where(labels == 1, 1.0, -1.0) * (1.64 if noise == "t3" else 1.28), labels)


def costs(trials: tc.Trials, fresh: tc.Trials, prior: float) -> tuple[float, float, float] | None:
    """The lowest cost of the ranking, the nested one and that on fresh trials; None where there is no ranking."""
    ranking = tc.select_calibrator(list(METHODS.values()), list(TRAINED_AT), trials, prior)
    best = ranking.best
    if best.dcf is None or ranking.nested_dcf is None:
        return None
    trained_at = {} if best.prior is None else {"prior": best.prior}
    model = METHODS[best.method].fit(trials, **trained_at)
    return best.dcf, ranking.nested_dcf, tc.evaluate(model(fresh), [prior]).applications[0].dcf


def main() -> None:
    """Prints one row per population, size and prior."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=200, help="of each population, size and prior")
    parser.add_argument("--only", default="", help="a population whose name holds this")
    given = parser.parse_args()
    print("| scores | per class | prior | lowest | nested | true | lowest - true | nested - true | sets |")
    print("|---" * 9 + "|")
    for noise, size, prior in product((one for one in NOISES if given.only in one), SIZES, PRIORS):
        fresh = drawn(np.random.default_rng([1, NOISES.index(noise)]), noise, FRESH)
        rngs = (np.random.default_rng([2, NOISES.index(noise), size, seed]) for seed in range(given.sets))
        found = [costs(drawn(rng, noise, size), fresh, prior) for rng in rngs]
        table = np.array([one for one in found if one is not None])
        gaps = table[:, :2] - table[:, 2:]
        spread = 2.0 * gaps.std(axis=0, ddof=1) / np.sqrt(len(table))
        told = [f"{mean:.3f}" for mean in table.mean(axis=0)]
        told += [f"{gap:+.3f} ± {own:.3f}" for gap, own in zip(gaps.mean(axis=0), spread, strict=True)]
        print(f"| {noise} | {size} | {prior:g} | {' | '.join(told)} | {len(table)} |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
