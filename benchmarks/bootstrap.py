"""A thousand resamples of one million trials: actual and minimum DCF at 21 priors, EER and AUC.

Against scikit-learn's roc_curve on resampled arrays, its time for 1,000 taken from a few. Both run in turns, so that
other work on the machine hits both, and the best turn of each counts, by the clock and by processor time; one turn is
all the resamples, ranking included, or ten roc_curves. The numbers of both are compared on the same draws. Cllr, which
needs every row and not only ranks, is timed by itself.

    python benchmarks/bootstrap.py [--trials 1000000] [--resamples 1000] [--targets 0.5 0.01] [--threads 2] [--turns 3]
"""

import argparse
import resource
import time
from functools import partial

import numpy as np
from sklearn.metrics import auc, roc_curve

import tercet as tc
from tercet.uncertainty import bootstrap, drawn, progress_bar

PEERS = 10  # roc_curves in a turn
ASKED = ("dcf", "min_dcf", "eer", "auc", "bayes_plot")


def million(count, share):
    rng = np.random.default_rng(0)
    labels = (np.arange(count) < share * count).astype(np.int8)
    return tc.Trials.of_llr(np.where(labels == 1, 1.5, -1.5) + rng.normal(0, 1.7, count), labels)


def roc_curves_on_resampled_arrays(trials, rng, count):
    """Resamples: draw rows within class, gather, roc_curve."""
    classes = [np.flatnonzero(trials.labels == label) for label in (True, False)]
    for _ in range(count):
        rows = np.concatenate([places[rng.integers(0, len(places), len(places))] for places in classes])
        roc_curve(trials.labels[rows], trials.scores[rows])


def timed(function):
    """(seconds by the clock, seconds of all processors, result)."""
    clock, work = time.perf_counter(), time.process_time()
    result = function()
    return time.perf_counter() - clock, time.process_time() - work, result


def resampled(trials, resamples, seed, threads, asked=ASKED):
    return bootstrap(
        trials, resamples=resamples, seed=seed, method="percentile", quantities=asked, threads=threads,
        progress=progress_bar(),
    )  # fmt: skip


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
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    for share in options.targets:
        trials, rng = million(options.trials, share), np.random.default_rng(1)
        ours, theirs, memory = [], [], 0.0
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for turn in range(options.turns):
            ours.append(timed(partial(resampled, trials, options.resamples, turn, options.threads)))
            memory = memory or (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
            theirs.append(timed(partial(roc_curves_on_resampled_arrays, trials, rng, PEERS)))
        check(trials, ours[0][2])
        best = [min(one[k] for one in ours) / options.resamples for k in (0, 1)]
        peers = [min(one[k] for one in theirs) / PEERS for k in (0, 1)]
        print(
            f"{options.trials} trials, {100 * share:g} % targets: {1000 * best[0]:.2f} ms a resample (processors "
            f"{1000 * best[1]:.2f} ms), so {1000 * best[0]:.1f} s for 1,000; {memory:.0f} MB more; scikit-learn "
            f"{1000 * peers[0]:.0f} ms ({1000 * peers[1]:.0f} ms): {peers[0] / best[0]:.0f} x faster by the clock, "
            f"{peers[1] / best[1]:.0f} x by processor time",
            flush=True,
        )
        alone = [timed(partial(resampled, trials, 200, turn, options.threads, ["cllr"])) for turn in range(3)]
        clock, work = (1000 * min(one[k] for one in alone) / 200 for k in (0, 1))
        print(f"    Cllr: {clock:.2f} ms a resample (processors {work:.2f} ms)", flush=True)


if __name__ == "__main__":
    main()
