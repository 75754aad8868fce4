"""A thousand resamples of one million trials: actual and minimum DCF at 21 priors, EER and AUC.

Against scikit-learn's roc_curve on resampled arrays, its time for 1,000 taken from a few. The numbers of both are
compared on the same draws first.

    python benchmarks/bootstrap.py [--trials 1000000] [--resamples 1000] [--targets 0.5 0.01] [--threads 2]
"""

import argparse
import resource
import time

import numpy as np
from sklearn.metrics import auc, roc_curve

import tercet as tc
from tercet.resample import bootstrap, drawn, progress_bar

ASKED = ["dcf", "min_dcf", "eer", "auc", "bayes_plot"]


def million(count, share):
    rng = np.random.default_rng(0)
    labels = (np.arange(count) < share * count).astype(np.int8)
    return tc.Trials.of_llr(np.where(labels == 1, 1.5, -1.5) + rng.normal(0, 1.7, count), labels)


def roc_curve_on_resampled_arrays(trials, repeats):
    """Seconds for one resample: draw rows within class, gather, roc_curve."""
    rng = np.random.default_rng(1)
    classes = [np.flatnonzero(trials.labels == label) for label in (True, False)]
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        rows = np.concatenate([places[rng.integers(0, len(places), len(places))] for places in classes])
        roc_curve(trials.labels[rows], trials.scores[rows])
        times.append(time.perf_counter() - start)
    return min(times)


def check(trials, found):
    """The first resample's numbers by scikit-learn, on the rows that were drawn."""
    rows = np.repeat(np.arange(len(trials)), drawn(trials, 0))
    fpr, tpr, _ = roc_curve(trials.labels[rows], trials.scores[rows])
    assert abs(auc(fpr, tpr) - found.samples["auc"][0]) < 1e-12
    grid = np.linspace(-3, 3, 21)
    for k, tau in enumerate(grid):
        costs = (1 - tpr) + np.exp(-tau) * fpr if tau <= 0 else fpr + np.exp(tau) * (1 - tpr)
        assert abs(costs.min() - found.samples["bayes_plot.min_dcf"][0, k]) < 1e-12


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--trials", type=int, default=1_000_000)
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("--targets", type=float, nargs="*", default=[0.5, 0.01])
    parser.add_argument("--threads", type=int, default=None)
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args()
    for share in options.targets:
        trials = million(options.trials, share)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        start = time.perf_counter()
        found = bootstrap(
            trials,
            resamples=options.resamples,
            method="percentile",
            quantities=ASKED,
            threads=options.threads,
            progress=progress_bar(),
        )
        ours = time.perf_counter() - start
        memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
        check(trials, found)
        theirs = roc_curve_on_resampled_arrays(trials, options.repeats) * options.resamples
        print(
            f"{options.trials} trials, {100 * share:g} % targets, {options.resamples} resamples: {ours:.2f} s "
            f"({1000 * ours / options.resamples:.2f} ms each), {memory:.0f} MB more; scikit-learn {theirs:.0f} s; "
            f"{theirs / ours:.0f} x faster",
            flush=True,
        )


if __name__ == "__main__":
    main()
