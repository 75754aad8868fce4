"""Posteriors: a prior and the likelihoods of each trial's classes, joined by Bayes' rule."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from tercet.trials import Trials, prior_vector, probability

Floats = NDArray[np.float64]
_ROWS = 1 << 14  # rows at a time, so that a block and its products stay in the cache


def posteriors(trials: Trials, prior: object) -> Floats:
    """Class posteriors for any prior, one row a trial: proportional to prior x likelihood.

    >>> posteriors(Trials.of_log_likelihoods([[0.0, 0.0, 0.0]]), [.5, .25, .25]).tolist()
    [[0.5, 0.25, 0.25]]
    """
    likelihoods = likelihoods_of(trials)
    logs = np.log(prior_of(prior, likelihoods.shape[1]))
    result = np.empty(likelihoods.shape)
    for rows in blocks(len(result)):
        scaled = unnormalised(likelihoods[rows], logs)
        np.divide(scaled, scaled.sum(axis=1, keepdims=True), out=result[rows])
    return result


def log_posteriors(trials: Trials, prior: Floats) -> Floats:
    """Natural logs of the posteriors, exact even where a posterior is too small for a double."""
    joint = likelihoods_of(trials) + np.log(prior)
    joint -= joint.max(axis=1, keepdims=True)
    return np.asarray(joint - np.log(np.exp(joint).sum(axis=1, keepdims=True)))


def unnormalised(likelihoods: Floats, log_prior: Floats) -> Floats:
    """Posteriors up to a factor a row, the largest made 1."""
    scaled: Floats = likelihoods + log_prior
    scaled -= scaled.max(axis=1, keepdims=True)
    return np.exp(scaled, out=scaled)


def likelihoods_of(trials: Trials) -> Floats:
    """Log-likelihoods, one column a class; a two-class llr stands for (0, llr), or (-llr, 0) where it is positive."""
    if trials.is_matrix:
        return trials.log_likelihoods
    llr = trials.llr
    return np.stack((np.where(llr > 0.0, 0.0 - llr, 0.0), np.where(llr > 0.0, 0.0, llr)), axis=1)


def prior_of(prior: object, classes: int) -> Floats:
    """A prior vector; for two classes a single number is the target's."""
    if classes == 2 and np.ndim(prior) == 0:  # type: ignore[arg-type]
        share = probability(prior, "prior")
        return np.array([1.0 - share, share])
    return prior_vector(prior, classes, "prior")


def blocks(length: int) -> Iterator[slice]:
    """Slices that cover a range a cache-full at a time."""
    return (slice(start, min(start + _ROWS, length)) for start in range(0, length, _ROWS))
