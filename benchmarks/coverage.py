"""How often nominal 95 % intervals hold the truth, on tasks whose truth is known.

Scores are calibrated llrs: targets N(s^2 / 2, s^2), non-targets N(-s^2 / 2, s^2), so that DCF, minimum DCF, EER and AUC
are known. Groups add to each class an offset that all trials of a group share; the scores' distribution stays the same.

    python benchmarks/coverage.py [--sets 1000] [--resamples 399] [--jobs 2] > table.md
"""

import argparse
import math
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, ndtri

import tercet as tc
from tercet.metrics.binomial import delong
from tercet.uncertainty._kernel.engine import METHODS, Settings, replicates
from tercet.uncertainty.bootstrap import _two_classes, planned, summed_up, wanted_of

ERROR_RATE = 0.05  # of each kind, at equal priors and costs
SHARED = 0.5  # share of the variance that groups explain, half each where two cross
SPREAD = -2.0 * ndtri(ERROR_RATE)  # the s of the scores
TRUTH = {
    "applications.0.dcf": 2.0 * ERROR_RATE,
    "applications.0.min_dcf": 2.0 * ERROR_RATE,
    "eer": ERROR_RATE,
    "auc": ndtr(SPREAD / math.sqrt(2)),
}
SHORT = {"applications.0.dcf": "DCF", "applications.0.min_dcf": "min DCF", "eer": "EER", "auc": "AUC"}


class Cell(NamedTuple):
    """A kind of data and how it is resampled; seeds follow from the number, so that cells can be added."""

    name: str
    number: int
    groups: int  # of each grouping
    per_group: int  # trials of each class in a group
    by: tuple[str, ...] = ()
    shared: float = SHARED
    crossed: bool = False

    @property
    def errors(self):
        """Misses and false alarms together, as expected."""
        return round(2 * ERROR_RATE * self.groups * self.per_group)


CELLS = [
    Cell("independent trials, by trial", 0, 100, 1, shared=0.0),
    Cell("independent trials, by trial", 1, 1000, 1, shared=0.0),
    Cell("20 groups of 5 + 5, by group", 2, 20, 5, ("enrol",)),
    Cell("100 groups of 10 + 10, by group", 3, 100, 10, ("enrol",)),
    Cell("20 groups of 5 + 5, by trial", 4, 20, 5),
    Cell("100 groups of 10 + 10, by trial", 5, 100, 10),
    Cell("100 groups of 1 + 1, by group", 6, 100, 1, ("enrol",)),
    Cell("20 groups of 50 + 50, by group", 7, 20, 50, ("enrol",)),
    Cell("20 x 20 groups, 5 + 5 in each, crossed", 8, 20, 5, ("enrol", "test"), crossed=True),
    Cell("100 x 100 groups, 10 + 10 in each, crossed", 9, 100, 10, ("enrol", "test"), crossed=True),
    Cell("100 x 100 groups, 10 + 10 in each, by one grouping", 10, 100, 10, ("enrol",), crossed=True),
]


def simulated(cell, seed):
    """Group g meets each class's trials in turn; crossed, it meets the groups that follow it in the other grouping."""
    rng = np.random.default_rng(seed)
    one = np.repeat(np.arange(cell.groups), 2 * cell.per_group)
    turn = np.tile(np.arange(2 * cell.per_group), cell.groups)
    other, labels = (one + turn) % cell.groups, turn % 2
    sides = (one, other) if cell.crossed else (one,)
    noise = math.sqrt(1.0 - cell.shared) * rng.normal(size=len(one))
    for side in sides:
        noise += math.sqrt(cell.shared / len(sides)) * rng.normal(size=(2, cell.groups))[labels, side]
    llr = np.where(labels == 1, 0.5, -0.5) * SPREAD**2 + SPREAD * noise
    return tc.Trials.of_llr(llr, labels, groups={"enrol": one, "test": other})


def one_set(job):
    """Each quantity's value, and both its ends by each method, from the same resamples; DeLong's ends."""
    cell, resamples, seed = job
    trials = simulated(cell, seed)
    wanted = wanted_of(["dcf", "min_dcf", "eer", "auc"])
    settings = Settings.of(0.95, resamples, seed, cell.by or None, "bca", 1)
    design, system = _two_classes(trials, planned([tc.Application(0.5)], wanted, None), settings.by)
    raw, redrawn = replicates([design], [system], settings)
    found = [summed_up(design, system, raw[0], redrawn, replace(settings, method=method), wanted) for method in METHODS]
    rows = [[found[0][name].value] + [end for one in found for end in one[name][1:3]] for name in TRUTH]
    exact = delong(tc.Tally.of(trials))
    return rows, (exact.low, exact.high)


def lines(cell, results):
    """The table's lines: coverage by each method, how the default misses, bias and spread of the number itself."""
    default = METHODS.index("student" if cell.by else "bca")
    values = np.array([rows for rows, _ in results])
    for place, (name, true) in enumerate(TRUTH.items()):
        number, ends = values[:, place, 0], values[:, place, 1:].reshape(len(values), -1, 2)
        above, below = ends[:, :, 0] > true, ends[:, :, 1] < true
        covered = [f"{100 * float(np.mean(~above[:, k] & ~below[:, k])):.1f} %" for k in range(len(METHODS))]
        covered[default] = f"**{covered[default]}**"
        missed = f"{100 * above[:, default].mean():.1f} / {100 * below[:, default].mean():.1f}"
        yield [SHORT[name], *covered, missed, f"{number.mean() - true:+.4f}", f"{number.std():.4f}"]
    low, high = np.array([exact for _, exact in results]).T
    held = 100 * np.mean((low <= TRUTH["auc"]) & (TRUTH["auc"] <= high))
    yield ["AUC, DeLong", "", "", "", f"({held:.1f} %)", "", ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=399)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cells", type=int, nargs="*", default=range(len(CELLS)))
    options = parser.parse_args()
    head = ("data, resampled", "errors", "quantity", *METHODS, "above / below", "bias", "sd")
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    with ProcessPoolExecutor(options.jobs) as pool:
        for cell in (CELLS[place] for place in options.cells):
            start = time.perf_counter()
            jobs = [(cell, options.resamples, 1_000_000 * (cell.number + 20) + k) for k in range(options.sets)]
            for line in lines(cell, list(pool.map(one_set, jobs, chunksize=20))):
                print(f"| {' | '.join([cell.name, str(cell.errors), *line])} |", flush=True)
            print(
                f"{cell.name}, {cell.errors} errors: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True
            )


if __name__ == "__main__":
    main()
