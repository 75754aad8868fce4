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

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

import tercet as tc
from tercet.intervals import delong
from tercet.resample import bootstrap
from tercet.resample.ends import order_statistic

ERROR_RATE = 0.05  # of each kind, at equal priors and costs
SHARED = 0.5  # share of the variance that a group's trials have in common
QUANTITIES = ("applications.0.dcf", "applications.0.min_dcf", "eer", "auc")
SHORT = {"applications.0.dcf": "DCF", "applications.0.min_dcf": "min DCF", "eer": "EER", "auc": "AUC"}
# name, expected errors, trials of each class in a group (0: none), resampled by groups
CELLS = [
    ("independent trials, by trial", 10, 0, False),
    ("independent trials, by trial", 100, 0, False),
    ("grouped trials, by group", 10, 5, True),
    ("grouped trials, by group", 100, 10, True),
    ("grouped trials, by trial", 10, 5, False),
    ("grouped trials, by trial", 100, 10, False),
]


def truth():
    s = -2.0 * ndtri(ERROR_RATE)
    dcf = 2.0 * ERROR_RATE
    return {"applications.0.dcf": dcf, "applications.0.min_dcf": dcf, "eer": ERROR_RATE, "auc": ndtr(s / math.sqrt(2))}


def simulated(errors, per_group, seed):
    rng = np.random.default_rng(seed)
    count = round(errors / (2 * ERROR_RATE))  # trials of each class
    s = -2.0 * ndtri(ERROR_RATE)
    labels = np.repeat([1, 0], count)
    noise = rng.normal(size=2 * count)
    groups = np.tile(np.arange(count), 2) // max(per_group, 1)
    if per_group:
        offsets = rng.normal(size=(2, groups.max() + 1))
        noise = math.sqrt(SHARED) * offsets[labels, groups] + math.sqrt(1.0 - SHARED) * noise
    return tc.Trials.of_llr(np.where(labels == 1, 0.5, -0.5) * s * s + s * noise, labels, groups={"speaker": groups})


def one_set(job):
    errors, per_group, by_group, resamples, seed = job
    trials = simulated(errors, per_group, seed)
    found = bootstrap(
        trials, [(0.5, 1, 1)], resamples=resamples, seed=seed, by="speaker" if by_group else None, method="bca",
        quantities=["dcf", "min_dcf", "eer", "auc"], bayes_plot=None, threads=1,
    )  # fmt: skip
    groups = len(np.unique(trials.groups["speaker"]))
    tail = ndtr(math.sqrt(groups / (groups - 1)) * stdtrit(groups - 1, 0.025)) if by_group else 0.025
    rows = {}
    for name in QUANTITIES:
        ordered, b = np.sort(found.samples[name]), found[name]
        ends = (order_statistic(ordered, tail, down=True), order_statistic(ordered, 1.0 - tail, down=False))
        if "clopper" in b.method:  # the guard widens both methods alike
            ends = (min(ends[0], b.low), max(ends[1], b.high))
        rows[name] = (b.value, float(ends[0]), float(ends[1]), b.low, b.high)
    exact = delong(tc.Tally.of(trials))
    return rows, (exact.low, exact.high)


def cell(jobs, pool):
    results = list(pool.map(one_set, jobs, chunksize=20))
    true = truth()
    line = {}
    for name in QUANTITIES:
        values = np.array([rows[name] for rows, _ in results])
        t = true[name]
        covered = [float(np.mean((values[:, k] <= t) & (t <= values[:, k + 1]))) for k in (1, 3)]
        missed = [(float(np.mean(values[:, k] > t)), float(np.mean(values[:, k + 1] < t))) for k in (1, 3)]
        line[name] = (covered, missed, float(values[:, 0].mean() - t), float(values[:, 0].std()))
    ends = np.array([exact for _, exact in results])
    line["delong"] = float(np.mean((ends[:, 0] <= true["auc"]) & (true["auc"] <= ends[:, 1])))
    return line


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--sets", type=int, default=1000)
    parser.add_argument("--resamples", type=int, default=399)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cells", type=int, nargs="*", default=range(len(CELLS)))
    options = parser.parse_args()
    head = (
        "data, resampled",
        "errors",
        "quantity",
        "percentile",
        "above / below",
        "BCa",
        "above / below",
        "bias",
        "sd",
    )
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}")
    with ProcessPoolExecutor(options.jobs) as pool:
        for place in options.cells:
            name, errors, per_group, by_group = CELLS[place]
            start = time.perf_counter()
            jobs = [(errors, per_group, by_group, options.resamples, 1000 * place + k) for k in range(options.sets)]
            line = cell(jobs, pool)
            for quantity in QUANTITIES:
                (p, b), (mp, mb), bias, sd = line[quantity]
                print(
                    f"| {name} | {errors} | {SHORT[quantity]} | "
                    f"{100 * p:.1f} % | {100 * mp[0]:.1f} / {100 * mp[1]:.1f} | "
                    f"{100 * b:.1f} % | {100 * mb[0]:.1f} / {100 * mb[1]:.1f} | {bias:+.4f} | {sd:.4f} |",
                    flush=True,
                )
            print(f"| {name} | {errors} | AUC, DeLong | {100 * line['delong']:.1f} % | | | | | |", flush=True)
            print(f"{name}, {errors} errors: {time.perf_counter() - start:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
