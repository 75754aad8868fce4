"""Posteriors: a prior and the likelihoods of each trial's classes, joined by Bayes' rule."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.matrices import prior_vector
from tercet._numeric.parallel import over_parts
from tercet._numeric.validation import column, shown
from tercet._typing import Floats
from tercet.errors import CalibrationError
from tercet.trials import Trials, as_trials, probability

_CELLS = 1 << 16  # at a time, rows x classes, so that a block and its products stay in the cache


def posteriors(trials: Trials, prior: object) -> Floats:
    """Class posteriors for any prior, by Bayes' rule: proportional to prior x likelihood.

    Parameters
    ----------
    trials : Trials
        With or without labels. Two-class llrs are taken as the log-likelihoods (0, llr).
    prior : float or sequence of float
        One positive number per class that sum to one, or the target's prior where there are two.

    Returns
    -------
    ndarray of shape (n, K)
        One row per trial; each sums to one within rounding.

    Examples
    --------
    >>> posteriors(Trials.of_log_likelihoods([[0.0, 0.0, 0.0]]), [.5, .25, .25]).tolist()
    [[0.5, 0.25, 0.25]]
    """
    likelihoods = likelihoods_of(trials)
    logs = np.log(prior_of(prior, likelihoods.shape[1]))
    result = np.empty(likelihoods.shape)

    def fill(rows: slice) -> None:
        shares = np.exp(joint(likelihoods[rows], logs))
        shares /= class_sum(shares)
        result[rows] = shares.T

    over_blocks(fill, *likelihoods.shape)
    return result


def joint(likelihoods: Floats, log_prior: Floats) -> Floats:
    """ln(prior x likelihood), classes x rows, the largest of each row made 0."""
    logs = comparable(likelihoods, log_prior)
    logs -= logs.max(axis=0)
    return logs


def comparable(likelihoods: Floats, log_prior: Floats) -> Floats:
    """ln(prior x likelihood) up to a constant per row, classes x rows.

    Transposed, because numpy works along long rows much faster than along short ones. The largest likelihood is
    taken off before the prior is added, so that a constant added to a row changes nothing.
    """
    logs = np.array(likelihoods.T, order="C")
    with np.errstate(over="ignore"):
        logs -= logs.max(axis=0)
    logs += log_prior[:, None]
    return logs


def class_sum(columns: Floats) -> Floats:
    """The sum over the classes, added one after the other: numpy's own sum takes another order for a single row."""
    total: Floats = columns[0].copy()
    for one in columns[1:]:
        total += one
    return total


def priced(costs: Floats, shares: Floats) -> Floats:
    """C P, actions x rows, each sum in the order of the classes, so that a row's cost never depends on its neighbours.

    (A matrix product would be faster, but orders its sums by the shape of the block.)
    """
    if shares.shape[1] == 1:  # einsum, too, would take another order for a single row
        return priced(costs, np.repeat(shares, 2, axis=1))[:, :1]
    return np.asarray(np.einsum("ak,kr->ar", costs, np.ascontiguousarray(shares), optimize=False))


def over_blocks(function: Callable[[slice], object], rows: int, classes: int, /) -> None:
    """Calls function with slices that cover a range a cache-full at a time, on every core."""
    height = max(_CELLS // classes, 16)

    def walk(part: slice) -> None:
        for start in range(part.start, part.stop, height):
            function(slice(start, min(start + height, part.stop)))

    over_parts(walk, rows)


def likelihoods_of(trials: Trials) -> Floats:
    """Log-likelihoods, one column per class; a two-class llr stands for (0, llr), or (-llr, 0) where it is positive."""
    if as_trials(trials).is_matrix:
        return trials.log_likelihoods
    llr = trials.llr
    return np.stack((np.where(llr > 0.0, 0.0 - llr, 0.0), np.where(llr > 0.0, 0.0, llr)), axis=1)


def prior_of(prior: object, classes: int) -> Floats:
    """A prior vector; for two classes a single number is the target's."""
    if classes == 2 and column(prior, "prior").ndim == 0:
        share = probability(prior, "prior")
        return np.array([1.0 - share, share])
    return prior_vector(prior, classes, "prior")


def class_weights(trials: Trials, prior: Floats) -> tuple[NDArray[np.intp], Floats]:
    """Class numbers and xi = prior_y x weight / weight of class y; every class must be there."""
    labels = trials.known_labels().astype(np.intp)
    heavy = np.ones(len(labels)) if trials.weights is None else trials.weights
    totals = np.bincount(labels, heavy, minlength=len(prior))
    check_every_class(totals.tolist(), trials.classes)
    return labels, (prior / totals)[labels] * heavy


def check_every_class(totals: Sequence[float], classes: tuple[str, ...]) -> None:
    """Refuses classes without weight in a fit."""
    for total, name in zip(totals, classes, strict=True):
        if not total > 0.0:
            raise CalibrationError(f"There is nothing to calibrate: there are no trials of class {shown(name)}.")
