"""Posteriors, by Bayes' rule from a prior and the likelihoods of each trial's classes, and the cheapest actions."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.matrices import prior_vector
from tercet._numeric.parallel import over_parts
from tercet._numeric.validation import column, shown
from tercet._typing import Array, Floats
from tercet.application import MulticlassApplication
from tercet.errors import CalibrationError
from tercet.trials import Trials, as_trials, probability

_CELLS = 1 << 18  # at a time, rows x classes: few calls, and blocks that stay in the cache that cores share
Rule = Callable[[Floats], Array]  # the number of the chosen action for each row of a block


class Likelihoods(NamedTuple):
    """Log-likelihoods of some rows, made from their scores a block at a time.

    Blocks are classes x rows, because numpy works along long rows much faster than along short ones.

    >>> Likelihoods.of(Trials.of_logits([[3.0, 1.0]], [0], trained_prior=[0.5, 0.5])).block(slice(0, 1)).tolist()
    [[0.0], [-2.0]]
    """

    columns: Sequence[Array] | Floats  # of scores, one per class
    log_prior: Floats | None = None  # of the prior that logits and posteriors were trained with, which is taken off
    posteriors: bool = False  # whether the scores are posteriors

    @classmethod
    def of(cls, trials: Trials) -> Likelihoods:
        """Of the scores of trials."""
        if not trials.is_matrix or trials.meaning == "log-likelihoods":
            return cls(likelihoods_of(trials).T)
        return cls(trials.scores.T, np.log(np.array(trials.trained_prior)), trials.meaning == "posteriors")

    def of_classes(self, kept: NDArray[np.bool_]) -> Likelihoods:
        """Those of some of the classes."""
        columns = [self.columns[place] for place in np.flatnonzero(kept).tolist()]
        return Likelihoods(columns, None if self.log_prior is None else self.log_prior[kept], self.posteriors)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and classes."""
        return len(self.columns[0]), len(self.columns)

    def block(self, rows: slice | NDArray[np.intp]) -> Floats:
        """Classes x rows, in memory of its own, the largest of each row made 0: a constant on a row changes nothing."""
        if isinstance(self.columns, np.ndarray):
            logs = np.array(self.columns[:, rows], order="C")
        else:
            logs = np.array([column[rows] for column in self.columns], np.float64)
        with np.errstate(over="ignore", divide="ignore"):
            if self.posteriors:
                np.log(logs, out=logs)
            if self.log_prior is not None:
                logs -= self.log_prior[:, None]
            logs -= logs.max(axis=0)
        return logs


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
    likelihoods = Likelihoods.of(as_trials(trials))
    logs = np.log(prior_of(prior, likelihoods.shape[1]))
    result = np.empty(likelihoods.shape)

    def fill(rows: slice) -> None:
        shares = np.exp(joint(likelihoods.block(rows), logs))
        shares /= class_sum(shares)
        result[rows] = shares.T

    over_blocks(fill, *likelihoods.shape)
    return result


def joint(block: Floats, log_prior: Floats) -> Floats:
    """ln(prior x likelihood) of a block of log-likelihoods, which it overwrites, the largest of each row made 0."""
    if not _same(log_prior):
        block += log_prior[:, None]
        block -= block.max(axis=0)
    return block


def _same(prior: Floats) -> bool:
    """Whether all classes have the same prior: it then changes nothing, and adding it would only round."""
    return bool((prior == prior[0]).all())


def class_sum(columns: Floats) -> Floats:
    """The sum over the classes, one after the other, so that it never depends on a row's neighbours.

    numpy adds whole rows of a table in this order, but those of a single column in another.
    """
    if columns.shape[1] > 1 and columns.flags.c_contiguous:
        return np.asarray(np.add.reduce(columns, axis=0))
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
    largest = float(heavy.max(initial=0.0))
    heavy = np.ldexp(heavy, -math.frexp(largest)[1])  # only ratios matter, and sums could overflow
    totals = np.bincount(labels, heavy, minlength=len(prior))
    check_every_class(totals.tolist(), trials.classes)
    return labels, (prior / totals)[labels] * heavy


def check_every_class(totals: Sequence[float], classes: tuple[str, ...]) -> None:
    """Refuses classes without weight in a fit."""
    for total, name in zip(totals, classes, strict=True):
        if not total > 0.0:
            raise CalibrationError(f"There is nothing to calibrate: there are no trials of class {shown(name)}.")


# The action of least expected cost, in the time of a matrix product.
#
# A product in single precision decides where one action is cheaper than all others by more than its rounding; the
# other rows, few as a rule, are decided again in double precision, and by sums in the order of the classes where that
# leaves two actions too close to call. So no decision depends on a row's neighbours.
#
# The bound. With x = l - max l, a term of an expected cost is w e^x, w = cost x prior. Rounding x to 24 bits changes
# e^x by a factor within 1 +- 88 x 2**-24 while e^x >= 2**-126, the smallest normal number; exp itself is off by at
# most four units in the last place, w and the product by half of one each, and a sum of K positive terms, in any
# order, by K - 1 times half of one. Together an expected cost is off by less than a factor 1 +- g, g = (K + 100) x
# 2**-24. What underflow takes is below K x 2**-125, and counts for nothing where the least cost is above 2**-80 and
# no w but 0 is below 2**-40 of the largest. If one cost is computed as above (1 + 4 g) times another, it is truly the
# larger, by more than the rounding of double precision.

_ROUNDING = 1.0 + 1e-11  # sums of 5,000 positive terms in any order agree within this
_TINY = 1e-290  # two expected costs below this may differ by what underflow took
_SINGLE_TINY = 2.0**-80  # the same in single precision
_SINGLE_RANGE = 2.0**-40  # costs x priors that differ by more than this are not put into single precision
_ONE_THREAD = 1 << 18  # multiplications in one product: OpenBLAS starts threads of its own above this


def least_cost_actions(app: MulticlassApplication, likelihoods: Likelihoods) -> Array:
    """The number of the cheapest action for each row, the lowest on ties.

    >>> from tercet import Application
    >>> app = Application.multiclass([0.5, 0.5], [[0, 3], [1, 0]])
    >>> least_cost_actions(app, Likelihoods.of(Trials.of_log_likelihoods([[0.0, 1.0], [2.0, 0.0]]))).tolist()
    [1, 0]
    """
    rule, actions = least_cost_rule(app), empty_actions(app, likelihoods.shape[0])

    def fill(rows: slice) -> None:
        actions[rows] = rule(likelihoods.block(rows))

    over_blocks(fill, *likelihoods.shape)
    return actions


def empty_actions(app: MulticlassApplication, rows: int) -> Array:
    """An array for the numbers of the actions of some rows."""
    return np.empty(rows, np.int8 if len(app.costs) < 128 else np.int32)


def least_cost_rule(app: MulticlassApplication) -> Rule:
    """What finds the cheapest action for each row of a block of log-likelihoods, the lowest on ties."""
    logs = np.log(app.prior)
    if app.largest_decides:  # least expected cost = largest posterior, and no exponential is needed
        return lambda block: first_marked(joint(block if _same(logs) else block.copy(), logs) == 0.0)
    costs = np.ldexp(app.costs, -math.frexp(app.costs.max())[1])  # at most 1, so that no sum overflows
    single = _in_single_precision(costs * app.prior)

    def rule(block: Floats) -> Array:
        if single is None:
            return _least_cost(costs, block + logs[:, None])
        actions, unclear = _clear_least(single, block)
        if len(unclear):
            actions[unclear] = _least_cost(costs, block[:, unclear] + logs[:, None])
        return actions

    return rule


def _in_single_precision(weights: Floats) -> NDArray[np.float32] | None:
    """Costs x priors, the largest made 1; None where the smallest that is not 0 would be lost."""
    shares = weights / weights.max()
    if not (shares[shares > 0.0] > _SINGLE_RANGE).all():
        return None
    return np.asarray(shares, np.float32)


def _clear_least(weights: NDArray[np.float32], block: Floats) -> tuple[Array, NDArray[np.intp]]:
    """The cheapest action of each row, and the rows where another comes within the bound on the rounding."""
    with np.errstate(over="ignore"):
        shares = block.astype(np.float32)
    np.exp(shares, out=shares)
    prices = _product(weights, shares)
    least = prices.min(axis=0)
    bound = np.float32(1.0 + 4.0 * (weights.shape[1] + 100) * 2.0**-24)
    near = prices <= least * bound
    several = near.sum(axis=0, dtype=np.int8 if len(weights) < 128 else np.int32) > 1
    return first_marked(near), np.flatnonzero(several | (least < _SINGLE_TINY))


def _product(weights: Array, shares: Array) -> Array:
    """weights @ shares in parts that one thread works on: the rows have been dealt to all cores already."""
    prices = np.empty((len(weights), shares.shape[1]), shares.dtype)
    width = max(_ONE_THREAD // weights.size, 1)
    for start in range(0, shares.shape[1], width):
        rows = slice(start, start + width)
        np.matmul(weights, shares[:, rows], out=prices[:, rows])
    return prices


def _least_cost(costs: Floats, logs: Floats) -> Array:
    """The action of least expected cost for each column of logs.

    A matrix product finds it; where others come within its rounding, the sums are taken again in the order of the
    classes, so that no decision depends on the shape of the block, and in logs where exponentials vanish.
    """
    shares = np.exp(logs)
    prices = _product(costs, shares)
    least = prices.min(axis=0)
    near = prices <= least * _ROUNDING
    chosen = first_marked(near)
    unclear = np.flatnonzero((near.sum(axis=0, dtype=np.int32) > 1) | (least < _TINY))
    if len(unclear):
        prices = priced(costs, shares[:, unclear])
        chosen[unclear] = first_marked(prices == prices.min(axis=0))
        for row in unclear[(prices < _TINY).sum(axis=0) > 1]:
            with np.errstate(divide="ignore"):
                chosen[row] = np.logaddexp.reduce(np.log(costs) + logs[:, row], axis=1).argmin()
    return chosen


def first_marked(marks: NDArray[np.bool_]) -> Array:
    """The row number of each column's first mark (numpy's argmax is slow along short axes)."""
    count = len(marks)
    from_the_end = np.arange(count, 0, -1, dtype=np.int8 if count < 128 else np.int32)[:, None]
    return np.asarray(count - (marks * from_the_end).max(axis=0))
