"""What an evaluation costs, as ratios measured in one run: python benchmarks/core.py [--rows N] [--peers].

Every timed number is first compared with a reference that is written differently; the exit code is 1 if one
disagrees and 0 otherwise, met bars or not. Repetitions are interleaved and the best of each is kept, so that
a noisy moment hits floor and candidate alike.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tercet as tc

GRID = np.linspace(-3.0, 3.0, 21)  # the prior log-odds of evaluate's Bayes error plot
CLASSES = 10
Job = Callable[[], Any]


class Row(NamedTuple):
    """A line of the table; `met` is None where no bar is set."""

    what: str
    measured: str
    bar: str
    met: bool | None


# Data


def two_class(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Log-likelihood ratios with 10 % targets."""
    rng = np.random.default_rng(0)
    labels = rng.random(rows) < 0.1
    return rng.normal(size=rows) * 2 + np.where(labels, 2.0, -2.0), labels


def many_class(rows: int) -> tuple[np.ndarray, np.ndarray, tc.MulticlassApplication, tc.MulticlassApplication]:
    """Log-likelihoods of ten classes, and an application of 0-1 costs and one of a full cost matrix."""
    rng = np.random.default_rng(1)
    labels = rng.integers(0, CLASSES, rows)
    scores = rng.normal(size=(rows, CLASSES))
    scores[np.arange(rows), labels] += 2.0
    prior = np.arange(1, CLASSES + 1) / 55.0
    costs = rng.random((CLASSES, CLASSES)) * (1.0 - np.eye(CLASSES))
    return scores, labels, tc.Application.multiclass(prior), tc.Application.multiclass(prior, costs)


# What is timed


def evaluated(scores: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None) -> dict[str, Any]:
    """From arrays to facts: EER, AUC, actual and minimum DCF at 21 priors, Cllr and min Cllr."""
    return tc.evaluate(tc.Trials.of_llr(scores, labels, weights=weights)).to_dict()


def risk(scores: np.ndarray, labels: np.ndarray, app: tc.MulticlassApplication) -> tuple[tc.Confusion, float]:
    """From arrays to decisions, their confusion matrix and its risk."""
    table = tc.confusion_of(tc.Trials.of_log_likelihoods(scores, labels), app)
    return table, table.risk(app)


def sklearn_evaluation(scores: np.ndarray, labels: np.ndarray) -> tuple[Any, ...]:
    """The same questions put to scikit-learn's parts; its EER is the nearest point's, and min Cllr is left out."""
    from sklearn.metrics import roc_curve

    fpr, tpr, _ = roc_curve(labels, scores, drop_intermediate=False)
    fnr = 1 - tpr
    nearest = np.nanargmin(np.abs(fnr - fpr))
    costs = []
    for log_odds in GRID:
        prior = 1 / (1 + np.exp(-log_odds))
        dummy, accepted = min(prior, 1 - prior), scores > -log_odds
        actual = prior * (~accepted[labels]).mean() + (1 - prior) * accepted[~labels].mean()
        costs.append((actual / dummy, (prior * fnr + (1 - prior) * fpr).min() / dummy))
    cllr = (np.logaddexp(0, -scores[labels]).mean() + np.logaddexp(0, scores[~labels]).mean()) / 2 / np.log(2)
    return np.trapezoid(tpr, fpr), fpr[nearest], costs, cllr


# References


def reference(scores: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None) -> dict[str, Any]:
    """The facts by one argsort and every threshold tried."""
    from scipy.optimize import isotonic_regression

    weights = np.ones(len(scores)) if weights is None else weights.astype(np.float64)
    order = np.argsort(scores, kind="stable")
    ranked, truth = scores[order], labels[order]
    starts = np.flatnonzero(np.r_[True, ranked[1:] != ranked[:-1]])
    targets = np.add.reduceat(np.where(truth, weights[order], 0.0), starts)
    others = np.add.reduceat(np.where(truth, 0.0, weights[order]), starts)
    fnr = np.r_[0.0, np.cumsum(targets)] / targets.sum()
    tnr = np.r_[0.0, np.cumsum(others)] / others.sum()
    fpr = 1.0 - tnr

    def mean(costs: np.ndarray, side: np.ndarray) -> float:
        return float(np.average(costs[side], weights=weights[side]))

    def cross_entropy(llr: np.ndarray) -> float:
        with np.errstate(invalid="ignore"):
            miss, alarm = targets * np.logaddexp(0.0, -llr), others * np.logaddexp(0.0, llr)
        return (np.nansum(miss) / targets.sum() + np.nansum(alarm) / others.sum()) / 2 / np.log(2)

    pooled = isotonic_regression(targets / (targets + others), weights=targets + others).x
    with np.errstate(divide="ignore"):
        pav = np.log(pooled) - np.log1p(-pooled) - np.log(targets.sum() / others.sum())
    priors = 1 / (1 + np.exp(-GRID))
    dummies = np.minimum(priors, 1 - priors)
    actual = [
        (p * mean(scores <= -tau, labels) + (1 - p) * mean(scores > -tau, ~labels)) / dummy
        for p, tau, dummy in zip(priors, GRID, dummies, strict=True)
    ]
    least = [(p * fnr + (1 - p) * fpr).min() / dummy for p, dummy in zip(priors, dummies, strict=True)]
    softplus = np.logaddexp(0.0, np.where(labels, -scores, scores))
    return {
        "eer": _largest(lambda p: (p * fnr + (1 - p) * fpr).min()),
        "auc": float((targets / targets.sum() * (tnr[1:] + tnr[:-1]) / 2).sum()),
        "cllr": (mean(softplus, labels) + mean(softplus, ~labels)) / 2 / np.log(2),
        "min_cllr": cross_entropy(pav),
        "dcf": actual,
        "min_dcf": least,
    }


def _largest(concave: Callable[[float], float]) -> float:
    """The maximum of a concave function on 0..1; the hull's EER is the worst that the best threshold can do."""
    low, high = 0.0, 1.0
    golden = (5**0.5 - 1) / 2
    left, right = high - golden * (high - low), low + golden * (high - low)
    at_left, at_right = concave(left), concave(right)
    for _ in range(40):
        if at_left < at_right:
            low, left, at_left = left, right, at_right
            right = low + golden * (high - low)
            at_right = concave(right)
        else:
            high, right, at_right = right, left, at_left
            left = high - golden * (high - low)
            at_left = concave(left)
    return max(at_left, at_right)


def compare(facts: dict[str, Any], expected: dict[str, Any], what: str) -> list[str]:
    """The numbers that disagree."""
    found = {
        "eer": facts["eer"]["value"],
        **{key: facts[key] for key in ("auc", "cllr", "min_cllr")},
        **{key: facts["bayes_plot"][key] for key in ("dcf", "min_dcf")},
    }
    # The golden section stops within 1e-7 of the EER; everything else differs by rounding only.
    tolerance = dict.fromkeys(found, 1e-9) | {"eer": 1e-6, "min_cllr": 1e-8}
    return [
        f"{what}: {key} is {found[key]}, the reference says {expected[key]}"
        for key in found
        if not np.allclose(found[key], expected[key], rtol=tolerance[key], atol=0.0)
    ]


def compare_risk(scores: np.ndarray, labels: np.ndarray, app: tc.MulticlassApplication, what: str) -> list[str]:
    """Disagreements of the confusion matrix and the risk with their definitions."""
    table, found = risk(scores, labels, app)
    joint = np.exp(scores - scores.max(axis=1, keepdims=True)) * app.prior
    decided = (joint @ app.costs.T).argmin(axis=1)
    counts = np.zeros((CLASSES, CLASSES), np.int64)
    np.add.at(counts, (decided, labels), 1)
    expected = float((app.prior * (counts / counts.sum(axis=0)) * app.costs).sum())
    wrong = [] if np.array_equal(table.matrix, counts) else [f"{what}: the confusion matrices differ"]
    return wrong + ([] if np.isclose(found, expected, rtol=1e-12) else [f"{what}: risk {found}, not {expected}"])


# Measuring


def best(jobs: dict[str, Job], repeat: int, clock: Callable[[], float] = time.perf_counter) -> dict[str, float]:
    """The shortest time of each job in seconds, the jobs taking turns."""
    times = dict.fromkeys(jobs, float("inf"))
    for _ in range(repeat):
        for name, job in jobs.items():
            start = clock()
            job()
            times[name] = min(times[name], clock() - start)
    return times


def child(code: str, *arguments: str) -> str:
    """What a fresh interpreter prints; it finds the same tercet."""
    paths = [str(Path(tc.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    env = os.environ | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=env, check=True)
    return done.stdout


def import_times(repeat: int) -> tuple[float, float]:
    """Median seconds of `import numpy` and `import tercet` in fresh interpreters that take turns."""
    code = "import time; t = time.perf_counter(); import {}; print(time.perf_counter() - t)"
    times: dict[str, list[float]] = {"numpy": [], "tercet": []}
    for _ in range(repeat):
        for name, kept in times.items():
            kept.append(float(child(code.format(name))))
    return statistics.median(times["numpy"]), statistics.median(times["tercet"])


MEMORY = """
import json, sys, pathlib
import numpy as np
sys.path.insert(0, sys.argv[2])
import core

def peak():
    status = pathlib.Path("/proc/self/status")
    if status.exists():  # the child's own high-water mark; ru_maxrss starts at its parent's
        return 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])
    import resource
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

folder = pathlib.Path(sys.argv[1])
kind = sys.argv[3]
scores, labels = np.load(folder / f"{kind}_scores.npy"), np.load(folder / f"{kind}_labels.npy")
if kind == "two":
    job, small = (lambda s, y: core.evaluated(s, y)), (scores[:1000].copy(), labels[:1000].copy())
else:
    applications = core.many_class(1000)[2:]
    job, small = (lambda s, y: [core.risk(s, y, app) for app in applications]), (scores[:1000], labels[:1000])
job(*small)  # whatever is loaded lazily is loaded now
before = peak()
job(scores, labels)
print(json.dumps((peak() - before) / scores.nbytes))
"""


def extra_memory(kind: str, scores: np.ndarray, labels: np.ndarray) -> float:
    """Peak memory beyond the loaded input, in units of the scores' size, measured in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        np.save(f"{folder}/{kind}_scores.npy", scores)
        np.save(f"{folder}/{kind}_labels.npy", labels)
        return float(json.loads(child(MEMORY, folder, str(Path(__file__).parent), kind)))


# The table


def at_most(what: str, value: float, bar: float | None, unit: str = "x") -> Row:
    return Row(
        what, f"{value:.2f} {unit}", "" if bar is None else f"<= {bar:g} {unit}", None if bar is None else value <= bar
    )


def at_least(what: str, value: float, bar: float) -> Row:
    return Row(what, f"{value:.1f} x", f">= {bar:g} x", value >= bar)


def two_class_rows(rows: int, repeat: int, peers: bool) -> tuple[list[Row], list[str]]:
    scores, labels = two_class(rows)
    rng = np.random.default_rng(2)
    whole, parts = rng.integers(1, 10, rows), rng.random(rows) + 0.01
    wrong = compare(evaluated(scores, labels), reference(scores, labels), "evaluate")
    wrong += compare(evaluated(scores, labels, whole), reference(scores, labels, whole), "whole weights")
    wrong += compare(evaluated(scores, labels, parts), reference(scores, labels, parts), "fractional weights")
    times = best(
        {
            "sort": lambda: np.sort(scores),
            "evaluate": lambda: evaluated(scores, labels),
            "sort again": lambda: np.sort(scores),
            "logaddexp": lambda: np.logaddexp(0.0, scores),
            "whole": lambda: evaluated(scores, labels, whole),
            "parts": lambda: evaluated(scores, labels, parts),
        },
        repeat,
    )
    sort = min(times["sort"], times["sort again"])
    # The time of all cores together, which says more on a machine that has other things to do.
    work = best(
        {"sort": lambda: np.sort(scores), "evaluate": lambda: evaluated(scores, labels)}, repeat, time.process_time
    )
    size = f"{rows:,} llrs"
    table = [
        Row(f"np.sort of {size}", f"{sort:.3f} s", "", None),
        at_most(f"evaluate {size}, over np.sort (aim 1.5)", times["evaluate"] / sort, 2.0),
        at_most("  processor time of both", work["evaluate"] / work["sort"], None),
        at_most("  over np.sort and one np.logaddexp", times["evaluate"] / (sort + times["logaddexp"]), 0.5),
        at_most("  with whole weights, over np.sort", times["whole"] / sort, 4.0),
        at_most("  with fractional weights, over np.sort", times["parts"] / sort, 6.0),
        at_most("  extra peak memory, over the scores", extra_memory("two", scores, labels), 2.0),
    ]
    if peers:
        auc, _, costs, cllr = sklearn_evaluation(scores, labels)
        facts = evaluated(scores, labels)
        theirs = [auc, cllr, *np.ravel(costs)]
        ours = [
            facts["auc"],
            facts["cllr"],
            *np.ravel(list(zip(*map(facts["bayes_plot"].get, ("dcf", "min_dcf")), strict=True))),
        ]
        wrong += [] if np.allclose(ours, theirs, rtol=1e-9) else ["evaluate: scikit-learn's parts say otherwise"]
        peer = best({"sklearn": lambda: sklearn_evaluation(scores, labels)}, 1)["sklearn"]
        table += [
            at_most("  the same by scikit-learn's parts, over np.sort", peer / sort, None),
            Row("  scikit-learn's parts, over evaluate", f"{peer / times['evaluate']:.1f} x", "", None),
        ]
    return table, wrong


def small_rows(repeat: int) -> list[Row]:
    scores, labels = two_class(1000)
    apps = [tc.Application(0.01)]

    def calls(then: Callable[[Any], object]) -> Job:
        def job() -> None:
            for _ in range(50):
                then(tc.evaluate(tc.Trials.of_llr(scores, labels), apps))

        return job

    jobs = {
        "1,000 trials, one application, per call": calls(lambda ev: None),
        "  with to_dict(curves=False)": calls(lambda ev: ev.to_dict(curves=False)),
        "  with to_dict()": calls(lambda ev: ev.to_dict()),
    }
    times = best(jobs, max(repeat, 5))
    bars = (None, None, 0.5)
    return [at_most(what, times[what] / 50 * 1e3, bar, "ms") for what, bar in zip(jobs, bars, strict=True)]


SIZES = (100_000, 1_000_000, 10_000_000, 100_000_000)


def growth_row(largest: int, repeat: int) -> Row:
    """The slope of log time over log rows from 10^5 to the largest size that is asked for."""
    sizes = [size for size in SIZES if size <= largest]
    times = []
    for size in sizes:
        scores, labels = two_class(size)
        found = best({"evaluate": lambda scores=scores, labels=labels: evaluated(scores, labels)}, repeat)
        times.append(found["evaluate"])
    slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    told = ", ".join(f"{time:.3g}" for time in times)
    return at_most(f"growth from {sizes[0]:,} to {sizes[-1]:,} rows ({told} s), exponent", slope, 1.05, "")


def numpy_decisions(scores: np.ndarray, app: tc.MulticlassApplication) -> np.ndarray:
    shares = np.exp(scores - scores.max(axis=1, keepdims=True)) * app.prior
    return np.asarray((shares @ app.costs.T).argmin(axis=1))


def import_row(repeat: int) -> Row:
    floor, ours = import_times(max(2 * repeat + 1, 7))
    return at_most(f"import tercet, over import numpy ({floor * 1e3:.0f} ms)", ours / floor, 1.5)


def many_class_rows(rows: int, repeat: int) -> tuple[list[Row], list[str]]:
    scores, labels, plain, full = many_class(rows)
    wrong = compare_risk(scores, labels, plain, "0-1 costs") + compare_risk(scores, labels, full, "full costs")
    jobs: dict[str, Job] = {
        "0-1": lambda: risk(scores, labels, plain),
        "full": lambda: risk(scores, labels, full),
    }
    try:
        from sklearn.metrics import confusion_matrix, log_loss
    except ImportError:
        log_loss = None
    else:
        posteriors = tc.posteriors(tc.Trials.of_log_likelihoods(scores), plain.prior)
        theirs = confusion_matrix(labels, posteriors.argmax(axis=1))
        if not np.array_equal(theirs.T, risk(scores, labels, plain)[0].matrix):
            wrong.append("0-1 costs: scikit-learn counts otherwise")
        jobs["sklearn"] = lambda: (
            log_loss(labels, posteriors),
            confusion_matrix(labels, posteriors.argmax(axis=1)),
        )
        decided = posteriors.argmax(axis=1)
        jobs["their table"] = lambda: confusion_matrix(labels, decided)
        jobs["our table"] = lambda: tc.Confusion.of(decided, labels)
    trials = tc.Trials.of_log_likelihoods(scores, labels)
    jobs["decide"] = lambda: tc.decide(trials, full)
    jobs["numpy"] = lambda: numpy_decisions(scores, full)
    times = best(jobs, repeat)
    size = f"{rows:,} x {CLASSES}"
    what = f"{size}: decisions with full costs, over numpy's shifted exp, product and argmin"
    table = [at_most(what, times["decide"] / times["numpy"], 0.5)]
    for kind in ("0-1", "full"):
        if log_loss is None:
            table.append(Row(f"{size}: confusion and risk, {kind} costs", f"{times[kind]:.3f} s", "", None))
        else:
            what = f"{size}: scikit-learn's log_loss + confusion_matrix, over confusion and risk, {kind} costs"
            table.append(at_least(what, times["sklearn"] / times[kind], 5.0))
    if log_loss is not None:
        what = f"{size}: confusion matrix of decided labels, over scikit-learn's"
        table.append(at_most(what, times["our table"] / times["their table"], 0.3))
    return [*table, at_most("  extra peak memory, over the scores", extra_memory("many", scores, labels), 2.0)], wrong


def printed(table: list[Row]) -> str:
    wide = [max(len(row[i]) for row in table) for i in range(3)]
    verdict = {None: "", True: "met", False: "NOT MET"}
    return "\n".join(
        f"{row.what:<{wide[0]}}  {row.measured:>{wide[1]}}  {row.bar:>{wide[2]}}  {verdict[row.met]}".rstrip()
        for row in table
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--rows", type=int, default=10_000_000, help="two-class trials; a tenth as many samples of ten classes"
    )
    parser.add_argument("--repeat", type=int, default=5, help="repetitions, of which the best counts")
    parser.add_argument("--peers", action="store_true", help="also time the evaluation by scikit-learn's parts (slow)")
    parser.add_argument(
        "--growth", type=int, default=10_000_000, metavar="ROWS",
        help="largest size for the exponent of growth: 100000000 takes 4 GB; 0 for none",
    )  # fmt: skip
    given = parser.parse_args()
    table, wrong = two_class_rows(given.rows, given.repeat, given.peers)
    table += small_rows(given.repeat)
    table.append(import_row(given.repeat))
    if given.growth:
        table.append(growth_row(given.growth, min(given.repeat, 3)))
    more, disagreements = many_class_rows(max(given.rows // 10, 1000), given.repeat)
    print(f"tercet {tc.__version__}, numpy {np.__version__}, {os.cpu_count()} cores")
    print(printed(table + more))
    for line in wrong + disagreements:
        print(f"WRONG: {line}", file=sys.stderr)
    return 1 if wrong or disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
