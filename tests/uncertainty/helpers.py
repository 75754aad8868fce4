"""A bootstrap written from the definition, and sets of trials to resample."""

import math

import numpy as np

import tercet as tc
from tercet import testing
from tercet.uncertainty import drawn

POINTS = ((0.5, 1, 1), (0.1, 1, 1), (0.9, 1, 10), (0.01, 50, 1))


def plain_numbers(llrs, labels, points=POINTS):
    """Every number of a set of rows, one after the other, by the slow references in exact fractions."""
    llrs, labels = list(llrs), list(labels)
    found = {
        "eer": float(testing.eer(llrs, labels)[0]),
        "auc": float(testing.auc(llrs, labels)),
        "cllr": testing.cllr(llrs, labels),
        "min_cllr": testing.min_cllr(llrs, labels),
    }
    for k, (prior, cost_fn, cost_fp) in enumerate(points):
        app = tc.Application(prior, cost_fn, cost_fp)
        fnr, fpr = testing.rates_at(llrs, labels, app.threshold)
        here = {
            "fnr": float(fnr),
            "fpr": float(fpr),
            "dcf": float(testing.dcf(fnr, fpr, prior, cost_fn, cost_fp)),
            "dcf_u": float(testing.dcf_u(fnr, fpr, prior, cost_fn, cost_fp)),
            "min_dcf": float(testing.min_dcf(llrs, labels, prior, cost_fn, cost_fp)[0]),
        }
        here["actual_minus_min"] = max(here["dcf"] - here["min_dcf"], 0.0)
        found |= {f"applications.{k}.{name}": value for name, value in here.items()}
    return found


def bootstrap_plain(trials, resamples, *, seed=0, by=None, points=POINTS):
    """The numbers of each resample: rows repeated as often as they were drawn, then everything from scratch."""
    rows = []
    for number in range(resamples):
        repeated = np.repeat(np.arange(len(trials)), drawn(trials, number, seed=seed, by=by))
        rows.append(plain_numbers(trials.llr[repeated].tolist(), trials.labels[repeated].tolist(), points))
    return {name: np.array([row[name] for row in rows]) for name in rows[0]}


def same(a, b, tolerance=1e-12):
    """Whether two columns agree to 1e-12, relative where numbers are large; infinities only equal themselves."""
    return all(
        x == y or (math.isfinite(x) and math.isfinite(y) and abs(x - y) <= tolerance * max(1.0, abs(x), abs(y)))
        for x, y in zip(np.ravel(a).tolist(), np.ravel(b).tolist(), strict=True)
    )


def gaussian(targets=60, nontargets=90, *, distance=1.5, seed=0, speakers=0, sites=0, digits=None):
    """Trials of two Gaussian classes, perhaps rounded so that scores tie, perhaps with groups."""
    rng = np.random.default_rng(seed)
    labels = np.repeat([1, 0], [targets, nontargets])
    scores = distance * (labels - 0.5) + rng.normal(size=len(labels))
    groups = {}
    if speakers:
        groups["speaker"] = rng.integers(0, speakers, len(labels))
    if sites:
        groups["site"] = rng.integers(0, sites, len(labels))
    return tc.Trials.of_llr(scores if digits is None else scores.round(digits), labels, groups=groups)


def three_classes(count=90, *, noise=1.0, seed=0, speakers=0, name=None):
    """Trials of three classes with equal frequencies."""
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 3
    groups = {"speaker": rng.integers(0, speakers, count)} if speakers else None
    scores = 2.0 * np.eye(3)[labels] + rng.normal(0, noise, (count, 3))
    return tc.Trials.of_log_likelihoods(scores, labels, groups=groups, name=name)


def freedom_of_traces(sizes):
    """2 E(V)^2 / Var(V) of V = r' A r, r the groups' sums minus their shares of the total, rows independent."""
    sizes = sizes[sizes > 0.0]
    shares = sizes / sizes.sum()
    weights = np.diag((1.0 - shares) ** -2.0)
    covariance = np.diag(sizes) - np.outer(sizes, sizes) / sizes.sum()
    product = weights @ covariance
    return np.trace(product) ** 2 / np.trace(product @ product)
