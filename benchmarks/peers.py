"""The commonest jobs against the fastest public tool for each: python benchmarks/peers.py [--rows N] [--write].

Every job runs in turns with its peers, five times; a turn's ratio is the time of tercet over that of the fastest peer
in the same turn. Short jobs are repeated for 0.3 s and the best counts, of tercet and of each peer: a system that keeps
a program on one core until that has been busy for a while would otherwise be measured too. tercet and its peers run in
processes of their own: in one, each would find the memory that the other has freed, and tercet makes the C library keep
it, which speeds its peers up too.
The table shows the median ratio with the least and the largest. Before anything is timed, the results are compared:
the exit code is 1 if one disagrees. --write puts the table into docs/benchmarks.md.

The peers are scikit-learn, scipy, polars and plain numpy written as well as we can; what PYLLR does (the ROC convex
hull by isotonic regression) is written from its definition on scipy. torchmetrics, netcal and ConfidenceIntervals
take part where they are installed: they are no dependencies of the project.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import platform
import statistics
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from functools import partial
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import isotonic_regression, minimize
from scipy.special import expit, ndtri
from scipy.stats import mannwhitneyu
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import (
    average_precision_score,
    confusion_matrix,
    det_curve,
    roc_auc_score,
    roc_curve,
)
from sklearn.metrics import log_loss as sklearn_log_loss

import tercet as tc
from tercet._numeric import parallel

PRIOR = 0.01
CLASSES = 10
BOOTSTRAPS = 1000
ENOUGH = 0.3  # seconds for which a job is repeated
Run = Callable[[], Any]
Statistic = Callable[[np.ndarray, np.ndarray], float]


class Job(NamedTuple):
    """A question, tercet's answer to it, those of its peers, and how close they have to be."""

    name: str
    ours: Run
    peers: dict[str, Run]
    tolerance: float = 1e-9
    scale: dict[str, float] = {}  # noqa: RUF012 - how often a peer's work would have to be done; read only


def optional(name: str) -> Any:
    """A package that need not be there, or None."""
    try:
        return import_module(name)
    except ImportError:
        return None


def torch_peers(function: str, scores: np.ndarray, labels: np.ndarray, **more: Any) -> dict[str, Run]:
    """A function of torchmetrics, in double precision, if it is installed."""
    metrics, torch = optional("torchmetrics.functional.classification"), optional("torch")
    if metrics is None or torch is None:
        return {}
    torch.set_default_dtype(torch.float64)
    given = torch.from_numpy(scores), torch.from_numpy(labels.astype(np.int64))
    return {"torchmetrics": lambda: np.asarray(getattr(metrics, function)(*given, **more))}


# Two classes


def ranked(scores: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """(misses, rejected non-targets) after each score in ascending order: plain numpy, for scores without ties."""
    order = np.argsort(scores)
    truth = labels[order] if weights is None else np.where(labels[order], weights[order], 0.0)
    others = ~labels[order] if weights is None else np.where(labels[order], 0.0, weights[order])
    return np.cumsum(truth), np.cumsum(others)


def numpy_auc(scores: np.ndarray, labels: np.ndarray, weights: np.ndarray | None = None) -> float:
    misses, rejected = ranked(scores, labels, weights)
    steps = np.diff(misses, prepend=0)
    return float(np.dot(steps, rejected.astype(np.float64)) / misses[-1] / rejected[-1])


def numpy_min_dcf(scores: np.ndarray, labels: np.ndarray) -> float:
    misses, rejected = ranked(scores, labels)
    costs = PRIOR * misses / misses[-1] + (1 - PRIOR) * (1 - rejected / rejected[-1])
    return float(min(costs.min(), 1 - PRIOR) / PRIOR)


def crossing(fnr: np.ndarray, fpr: np.ndarray) -> float:
    """Where a piecewise linear curve of ascending FNR meets FPR = FNR."""
    place = int(np.searchsorted(fnr - fpr, 0.0))
    below, above = fpr[place - 1] - fnr[place - 1], fnr[place] - fpr[place]
    return float((fnr[place - 1] * above + fnr[place] * below) / (above + below))


def numpy_eer(scores: np.ndarray, labels: np.ndarray) -> float:
    misses, rejected = ranked(scores, labels)
    return crossing(np.append(0, misses) / misses[-1], 1 - np.append(0, rejected) / rejected[-1])


def target_ranks(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, int]:
    """Of each target in ascending order the non-targets below it, and all non-targets: plain numpy, without ties."""
    others = np.sort(scores[~labels])
    return np.searchsorted(others, np.sort(scores[labels])), len(others)


def rank_auc(scores: np.ndarray, labels: np.ndarray) -> float:
    ranks, others = target_ranks(scores, labels)
    return float(ranks.mean() / others)


def rank_min_dcf(scores: np.ndarray, labels: np.ndarray) -> float:
    ranks, others = target_ranks(scores, labels)
    costs = PRIOR * np.arange(len(ranks)) / len(ranks) + (1 - PRIOR) * (1 - ranks / others)
    return float(min(costs.min(), PRIOR, 1 - PRIOR) / PRIOR)


def rank_eer(scores: np.ndarray, labels: np.ndarray) -> float:
    """The crossing on a stair: each step goes along one axis only."""
    ranks, others = target_ranks(scores, labels)
    place = int(np.searchsorted(np.arange(1, len(ranks) + 1) / len(ranks) + ranks / others, 1.0))
    return float(max(place / len(ranks), 1 - ranks[place] / others))


def rank_average_precision(scores: np.ndarray, labels: np.ndarray) -> float:
    ranks, others = target_ranks(scores, labels)
    hits = np.arange(len(ranks), 0, -1)
    return float((hits / (hits + (others - ranks))).mean())


def sklearn_eer(scores: np.ndarray, labels: np.ndarray) -> float:
    fpr, tpr, _ = roc_curve(labels, scores, drop_intermediate=False)
    return crossing(1 - tpr[::-1], fpr[::-1])


def pav_blocks(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(targets, non-targets) in each block of isotonic regression, as PYLLR finds the convex hull."""
    truth = labels[np.argsort(scores)].astype(np.float64)
    blocks = isotonic_regression(truth).blocks
    hits = np.diff(np.append(0.0, np.cumsum(truth))[blocks])
    return hits, np.diff(blocks) - hits


def pav_eer(scores: np.ndarray, labels: np.ndarray) -> float:
    targets, others = pav_blocks(scores, labels)
    return crossing(
        np.append(0, np.cumsum(targets)) / targets.sum(), 1 - np.append(0, np.cumsum(others)) / others.sum()
    )


def pav_min_cllr(scores: np.ndarray, labels: np.ndarray) -> float:
    targets, others = pav_blocks(scores, labels)
    with np.errstate(divide="ignore", invalid="ignore"):
        llr = np.log(targets / targets.sum()) - np.log(others / others.sum())
        miss = np.where(targets > 0, targets * np.logaddexp(0, -llr), 0.0).sum() / targets.sum()
        alarm = np.where(others > 0, others * np.logaddexp(0, llr), 0.0).sum() / others.sum()
    return float((miss + alarm) / 2 / np.log(2))


def numpy_cllr(scores: np.ndarray, labels: np.ndarray) -> float:
    miss, alarm = np.logaddexp(0, -scores[labels]).mean(), np.logaddexp(0, scores[~labels]).mean()
    return float((miss + alarm) / 2 / np.log(2))


def numpy_average_precision(scores: np.ndarray, labels: np.ndarray) -> float:
    truth = labels[np.argsort(scores)][::-1]
    hits = np.cumsum(truth)
    return float((hits[truth] / (np.flatnonzero(truth) + 1)).sum() / hits[-1])


def at_one_per_cent(fpr: np.ndarray, fnr: np.ndarray) -> np.ndarray:
    """The point of a DET curve (probits) with the largest false-alarm rate up to 1 %."""
    place = int(np.flatnonzero(fpr <= ndtri(0.01))[np.argmax(fpr[fpr <= ndtri(0.01)])])
    return np.array([fpr[place], fnr[place]])


def sklearn_det(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    fpr, fnr, _ = det_curve(labels, scores)
    return at_one_per_cent(ndtri(fpr), ndtri(fnr))


def numpy_det(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    misses, rejected = ranked(scores, labels)
    fnr, fpr = np.append(0, misses) / misses[-1], 1 - np.append(0, rejected) / rejected[-1]
    return at_one_per_cent(ndtri(fpr), ndtri(fnr))


def our_det(trials: tc.Trials) -> np.ndarray:
    return at_one_per_cent(*tc.Curve.of(trials).det())


def scipy_logistic(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Newton's method by scipy on the weighted cross-entropy at prior 1/2."""
    weights = np.where(labels, 0.5 / labels.sum(), 0.5 / (~labels).sum())

    def value(x: np.ndarray) -> tuple[float, np.ndarray]:
        odds = x[0] * scores + x[1]
        loss = np.logaddexp(0, np.where(labels, -odds, odds))
        slope = weights * (expit(odds) - labels)
        return float(weights @ loss), np.array([slope @ scores, slope.sum()])

    return np.asarray(minimize(value, np.array([1.0, 0.0]), jac=True, tol=1e-12).x)


def sklearn_logistic(scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    model = LogisticRegression(C=np.inf, class_weight="balanced", tol=1e-8).fit(scores[:, None], labels)
    return np.append(model.coef_, model.intercept_)


def our_logistic(trials: tc.Trials) -> np.ndarray:
    model = tc.Logistic.fit(trials)
    return np.array([model.slope, model.offset])


def our_isotonic(trials: tc.Trials, probes: np.ndarray) -> np.ndarray:
    """The llrs at a few scores, without the smoothing at the ends."""
    return np.asarray(tc.Isotonic.fit(trials, raw=True)(tc.Trials.of_scores(probes)).llr)


def scipy_isotonic(scores: np.ndarray, labels: np.ndarray, probes: np.ndarray) -> np.ndarray:
    order = np.argsort(scores)
    fitted = isotonic_regression(labels[order].astype(np.float64)).x
    return _block_llr(fitted[np.searchsorted(scores[order], probes)], labels)


def sklearn_isotonic(scores: np.ndarray, labels: np.ndarray, probes: np.ndarray) -> np.ndarray:
    return _block_llr(IsotonicRegression(out_of_bounds="clip").fit(scores, labels).predict(probes), labels)


def netcal_peers(scores: np.ndarray, labels: np.ndarray, probes: np.ndarray) -> dict[str, Run]:
    """netcal's isotonic regression, of posteriors, if it is installed."""
    if (netcal := optional("netcal.binning")) is None:
        return {}

    def fitted() -> np.ndarray:
        model = netcal.IsotonicRegression()
        model.fit(expit(scores), labels.astype(np.int64))
        return _block_llr(np.asarray(model.transform(expit(probes))), labels)

    return {"netcal": fitted}


def _block_llr(posterior: np.ndarray, labels: np.ndarray) -> np.ndarray:
    return np.log(posterior) - np.log1p(-posterior) - np.log(labels.sum() / (~labels).sum())


def two_class_jobs(rows: int) -> list[Job]:
    rng = np.random.default_rng(0)
    y = rng.random(rows) < 0.1
    s = rng.normal(size=rows) * 2 + np.where(y, 2.0, -2.0)
    w = rng.random(rows) + 0.01
    t = tc.Trials.of_llr(s, y)
    return [*error_jobs(t, s, y), *area_jobs(t, s, y, w), *llr_jobs(t, s, y), average_precision_job(t, s, y)]


def error_jobs(t: tc.Trials, s: np.ndarray, y: np.ndarray) -> list[Job]:
    """Equal error rates and the minimum cost."""
    curve = tc.Curve.of
    return [
        Job("EER (ROC convex hull)", lambda: curve(t).eer().value, {"PYLLR's method on scipy": lambda: pav_eer(s, y)}),
        Job(
            "EER (interpolated)",
            lambda: curve(t).eer("interpolated").value,
            {
                "scikit-learn roc_curve": lambda: sklearn_eer(s, y),
                "numpy argsort": lambda: numpy_eer(s, y),
                "numpy sort and searchsorted": lambda: rank_eer(s, y),
            },
        ),
        Job(
            "minimum DCF",
            lambda: curve(t).min_dcf(PRIOR).dcf,
            {
                "numpy argsort": lambda: numpy_min_dcf(s, y),
                "numpy sort and searchsorted": lambda: rank_min_dcf(s, y),
            },
        ),
    ]


def area_jobs(t: tc.Trials, s: np.ndarray, y: np.ndarray, w: np.ndarray) -> list[Job]:
    """Areas under the curve, and the curve itself."""
    curve, weighted = tc.Curve.of, tc.Trials.of_llr(s, y, weights=w)
    return [
        Job(
            "AUC",
            lambda: curve(t).auc,
            {
                "numpy argsort": lambda: numpy_auc(s, y),
                "numpy sort and searchsorted": lambda: rank_auc(s, y),
                "scikit-learn": lambda: float(roc_auc_score(y, s)),
                "scipy mannwhitneyu": lambda: (
                    mannwhitneyu(s[y], s[~y], method="asymptotic").statistic / (y.sum() * (~y).sum())
                ),
                **torch_peers("binary_auroc", s, y),
            },
        ),
        Job(
            "AUC with fractional weights",
            lambda: curve(weighted).auc,
            {
                "scikit-learn": lambda: float(roc_auc_score(y, s, sample_weight=w)),
                "numpy argsort": lambda: numpy_auc(s, y, w),
            },
        ),
        Job(
            "DET points",
            lambda: our_det(t),
            {"scikit-learn det_curve + ndtri": lambda: sklearn_det(s, y), "numpy argsort": lambda: numpy_det(s, y)},
            1e-6,
        ),
    ]


def llr_jobs(t: tc.Trials, s: np.ndarray, y: np.ndarray) -> list[Job]:
    """What llrs are worth, and calibration."""
    probes = s[np.argsort(np.abs(s))[:50]]  # where blocks hold both classes
    return [
        Job("Cllr", lambda: tc.cllr(t), {"numpy logaddexp": lambda: numpy_cllr(s, y)}),
        Job("minimum Cllr", lambda: tc.min_cllr(t), {"PYLLR's method on scipy": lambda: pav_min_cllr(s, y)}),
        Job(
            "isotonic calibration",
            lambda: our_isotonic(t, probes),
            {
                "scipy isotonic_regression": lambda: scipy_isotonic(s, y, probes),
                "scikit-learn IsotonicRegression": lambda: sklearn_isotonic(s, y, probes),
                **netcal_peers(s, y, probes),
            },
        ),
        Job(
            "logistic calibration",
            lambda: our_logistic(t),
            {"scikit-learn": lambda: sklearn_logistic(s, y), "scipy minimize": lambda: scipy_logistic(s, y)},
            1e-4,
        ),
    ]


def average_precision_job(t: tc.Trials, s: np.ndarray, y: np.ndarray) -> Job:
    return Job(
        "average precision",
        lambda: tc.Curve.of(t).average_precision,
        {
            "scikit-learn": lambda: float(average_precision_score(y, s)),
            "numpy argsort": lambda: numpy_average_precision(s, y),
            "numpy sort and searchsorted": lambda: rank_average_precision(s, y),
            **torch_peers("binary_average_precision", s, y),
        },
    )


# Several classes


def numpy_decisions(scores: np.ndarray, prior: np.ndarray, costs: np.ndarray) -> np.ndarray:
    shares = np.exp(scores - scores.max(axis=1, keepdims=True)) * prior
    return np.asarray((shares @ costs.T).argmin(axis=1))


def numpy_log_loss(scores: np.ndarray, labels: np.ndarray, prior: np.ndarray) -> float:
    joint = scores + np.log(prior)
    top = joint.max(axis=1)
    surprise = np.log(np.exp(joint - top[:, None]).sum(axis=1)) + top - joint[np.arange(len(labels)), labels]
    return float((prior * np.bincount(labels, surprise) / np.bincount(labels)).sum())


def numpy_log_loss_as_given(posteriors: np.ndarray, labels: np.ndarray) -> float:
    return float(-np.log(posteriors[np.arange(len(labels)), labels]).mean())


def class_jobs(rows: int) -> list[Job]:
    rng = np.random.default_rng(1)
    y = rng.integers(0, CLASSES, rows)
    scores = rng.normal(size=(rows, CLASSES))
    scores[np.arange(rows), y] += 2.0
    prior = np.arange(1, CLASSES + 1) / 55.0
    app = tc.Application.multiclass(prior, rng.random((CLASSES, CLASSES)) * (1.0 - np.eye(CLASSES)))
    trials = tc.Trials.of_log_likelihoods(scores, y)
    decided = np.asarray(tc.decide(trials, app), np.int64)
    posteriors = tc.posteriors(trials, prior)
    as_given = tc.Trials.of_posteriors(posteriors, y, trained_prior=prior)

    return [
        Job(
            "decisions under a full cost matrix",
            lambda: tc.decide(trials, app),
            {"numpy": lambda: numpy_decisions(scores, prior, app.costs)},
        ),
        Job(
            "confusion matrix of decided labels",
            lambda: np.array(tc.Confusion.of(decided, y).matrix).T,
            {
                "scikit-learn": lambda: confusion_matrix(y, decided),
                **torch_peers("multiclass_confusion_matrix", decided, y, num_classes=CLASSES),
            },
        ),
        Job(
            "log-loss at a prior",
            lambda: tc.log_loss(trials, prior, base=np.e),
            {"numpy": lambda: numpy_log_loss(scores, y, prior)},
        ),
        Job(
            "log-loss of posteriors as given",
            lambda: tc.log_loss_as_given(as_given, base=np.e),
            {
                "scikit-learn": lambda: float(sklearn_log_loss(y, posteriors)),
                "numpy": lambda: numpy_log_loss_as_given(posteriors, y),
            },
        ),
    ]


# Intervals


def our_bootstrap(trials: tc.Trials, quantity: str) -> np.ndarray:
    found = tc.bootstrap(trials, resamples=BOOTSTRAPS, method="percentile", quantities=[quantity], bayes_plot=None)
    return np.array([np.std(found.samples[quantity])])


class Resampled(NamedTuple):
    """Two-class trials whose resamples are drawn by hand: the standard deviation of a quantity over them."""

    scores: np.ndarray
    labels: np.ndarray
    rng: np.random.Generator
    resamples: int  # of the peer; its time is scaled

    def theirs(self, statistic: Statistic) -> np.ndarray:
        classes = (np.flatnonzero(self.labels), np.flatnonzero(~self.labels))
        values = []
        for _ in range(self.resamples):
            drawn = np.concatenate([places[self.rng.integers(0, len(places), len(places))] for places in classes])
            values.append(statistic(self.scores[drawn], self.labels[drawn]))
        return np.array([np.std(values)])

    def by_confidence_intervals(self, intervals: Any, statistic: Statistic) -> np.ndarray:
        """The same by ConfidenceIntervals, of which the limits are told: 3.92 standard deviations apart."""
        _, (low, high) = intervals.evaluate_with_conf_int(
            self.scores, lambda labels, scores: statistic(scores, labels), self.labels, num_bootstraps=self.resamples
        )
        return np.array([(high - low) / 3.92])


def bootstrap_jobs(rows: int) -> list[Job]:
    rng = np.random.default_rng(2)
    y = rng.random(rows) < 0.5
    s = rng.normal(size=rows) * 2 + np.where(y, 1.0, -1.0)
    trials, few = tc.Trials.of_llr(s, y), max(BOOTSTRAPS * 1000 // rows, 10)
    data, intervals = Resampled(s, y, rng, few), optional("confidence_intervals")
    by = {"auc": (numpy_auc, rank_auc), "eer": (numpy_eer, rank_eer)}
    names, other = ("numpy argsort", "numpy sort and searchsorted"), "ConfidenceIntervals with numpy"
    found = []
    for quantity, ways in by.items():
        peers: dict[str, Run] = {
            name: partial(data.theirs, statistic) for name, statistic in zip(names, ways, strict=True)
        }
        if intervals is not None:
            peers[other] = partial(data.by_confidence_intervals, intervals, ways[1])
        name = f"bootstrap of {quantity.upper()}, {BOOTSTRAPS:,} x {rows:,}"
        scale = dict.fromkeys((*names, other), BOOTSTRAPS / few)
        found.append(Job(name, partial(our_bootstrap, trials, quantity), peers, 0.9, scale))
    return found


# Files


def file_jobs(rows: int, folder: Path) -> list[Job]:
    import polars

    rng = np.random.default_rng(3)
    y = rng.random(rows) < 0.1
    s = rng.normal(size=rows) * 2 + np.where(y, 2.0, -2.0)
    table = polars.DataFrame({"score": s, "label": y.astype(np.int8)})
    table.write_csv(folder / "trials.csv")
    table.write_parquet(folder / "trials.parquet")

    def ours(name: str) -> np.ndarray:
        found = tc.evaluate(tc.read(folder / name))
        return np.array([found.auc, found.cllr])

    def theirs(read: Callable[[Path], Any], name: str) -> np.ndarray:
        columns = read(folder / name)
        scores, labels = columns["score"].to_numpy(), columns["label"].to_numpy().astype(np.bool_)
        return np.array([numpy_auc(scores, labels), numpy_cllr(scores, labels)])

    return [
        Job(
            f"read and evaluate {rows:,} rows of {kind}",
            lambda name=name: ours(name),
            {"polars + numpy": lambda read=read, name=name: theirs(read, name)},
        )
        for kind, name, read in (
            ("CSV", "trials.csv", polars.read_csv),
            ("Parquet", "trials.parquet", polars.read_parquet),
        )
    ]


# Measuring


class Line(NamedTuple):
    """What is shown of a job."""

    name: str
    peer: str
    ratio: float
    low: float
    high: float


def serve(ours: bool, rows: int, only: str, folder: str, line: Connection) -> None:
    """Answers job by job, then times as often as it is asked to: tercet in one process, its peers in another."""
    warnings.filterwarnings("ignore")
    if not ours:
        parallel.keep_freed_memory = lambda: None  # type: ignore[assignment]
    for job in jobs(rows, Path(tempfile.mkdtemp(dir=folder))):
        if only not in job.name:
            continue
        runs = {"tercet": job.ours} if ours else job.peers
        line.send((job.name, job.tolerance, {name: np.asarray(run(), np.float64) for name, run in runs.items()}))
        while line.recv():
            line.send({name: seconds(run) * (1.0 if ours else job.scale.get(name, 1.0)) for name, run in runs.items()})
    line.send(None)


def disagreements(name: str, tolerance: float, ours: np.ndarray, peers: dict[str, np.ndarray]) -> list[str]:
    """The peers whose result is another one."""
    return [
        f"{name}: tercet says {ours.ravel()[:4]}, {peer} {theirs.ravel()[:4]}"
        for peer, theirs in peers.items()
        if theirs.shape != ours.shape or not np.allclose(ours, theirs, rtol=tolerance, atol=1e-12)
    ]


def seconds(run: Run) -> float:
    """The shortest time of a run."""
    times: list[float] = []
    while sum(times) < ENOUGH:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def measured(name: str, lines: Sequence[Connection], repeats: int) -> Line:
    """The ratio to the fastest peer, turn by turn."""
    turns: list[dict[str, float]] = []
    for _ in range(repeats):
        times: dict[str, float] = {}
        for line in lines:
            line.send(True)
            times |= line.recv()
        turns.append(times)
    for line in lines:
        line.send(False)
    fastest = min(turns[0].keys() - {"tercet"}, key=lambda peer: statistics.median(turn[peer] for turn in turns))
    ratios = [turn["tercet"] / min(time for peer, time in turn.items() if peer != "tercet") for turn in turns]
    return Line(name, fastest, statistics.median(ratios), min(ratios), max(ratios))


def comparison(rows: int, only: str, repeats: int) -> tuple[list[Line], list[str]]:
    """A line for each job, shown as soon as it is known, and what disagrees."""
    found, wrong = [], []
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as folder:
        pipes = [spawn.Pipe() for _ in range(2)]
        sides = [
            spawn.Process(target=serve, args=(ours, rows, only, folder, far), daemon=True)
            for ours, (_, far) in zip((True, False), pipes, strict=True)
        ]
        for side in sides:
            side.start()
        lines = [near for near, _ in pipes]
        while (own := lines[0].recv()) is not None:
            (name, tolerance, ours), (_, _, peers) = own, lines[1].recv()
            wrong += disagreements(name, tolerance, ours["tercet"], peers)
            found.append(measured(name, lines, repeats))
            one = found[-1]
            print(f"{one.ratio:8.2f}  {one.low:6.2f} to {one.high:6.2f}  {name} ({one.peer})", flush=True)
        for side in sides:
            side.join()
    return found, wrong


def jobs(rows: int, folder: Path) -> Iterator[Job]:
    yield from two_class_jobs(rows)
    yield from class_jobs(rows)
    yield from bootstrap_jobs(max(rows // 100, 1000))
    yield from bootstrap_jobs(max(rows // 10, 1000))
    yield from file_jobs(rows * 10, folder)


def table(lines: list[Line]) -> str:
    head = ["| job | fastest peer | time of tercet / time of peer | smallest to largest |", "|---|---|---|---|"]
    rows = [f"| {line.name} | {line.peer} | {line.ratio:.2f} | {line.low:.2f} to {line.high:.2f} |" for line in lines]
    return "\n".join(head + rows)


def machine() -> str:
    """The processor and the system, as the system names them."""
    cpuinfo = Path("/proc/cpuinfo")
    lines = cpuinfo.read_text().splitlines() if cpuinfo.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return f"{names[0] if names else platform.machine()}, {platform.system()}, Python {platform.python_version()}"


def page(text: str, lines: list[Line], load: float) -> str:
    """docs/benchmarks.md with this table, and when and where it was measured, in place of what it had."""
    start, end = text.index("Measured on "), text.index("\n\n`benchmarks/core.py`")
    measured_on = (
        f"Measured on {datetime.now():%d %B %Y} with numpy {np.__version__} on {os.cpu_count()} cores ({machine()}).\n"
        f"The load average at the start of the run was {load:.1f}.\n\n"
    )
    return text[:start] + measured_on + table(lines) + text[end:]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--only", default="", help="jobs whose name holds this")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks.md")
    given = parser.parse_args()
    load = os.getloadavg()[0]
    lines, wrong = comparison(given.rows, given.only, given.repeat)
    above = sum(line.ratio > 0.8 for line in lines)
    print(f"{len(lines)} jobs, {above} above 0.8, {sum(line.ratio <= 0.5 for line in lines)} at most 0.5")
    if given.write:
        target = Path(__file__).parents[1] / "docs" / "benchmarks.md"
        target.write_text(page(target.read_text(encoding="utf-8"), lines, load), encoding="utf-8")
    for line in wrong:
        print(f"WRONG: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
