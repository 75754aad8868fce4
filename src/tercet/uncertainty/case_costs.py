"""Costs per case: paired comparisons of systems, and what calibration out of fold would save."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.validation import id_words, instance
from tercet.application import Application
from tercet.calibration.two_class import Logistic
from tercet.errors import CalibrationError, UndefinedError
from tercet.metrics.case_costs import CaseCosts, payments
from tercet.metrics.tally import two_columns
from tercet.trials import Trials, as_trials, probability
from tercet.uncertainty._limits import Mean
from tercet.uncertainty._out_of_fold import PENALTY, deal_groups, deal_rows
from tercet.uncertainty._rows import group_codes


class CaseCostLoss(NamedTuple):
    """What calibration would save per case: the actual cost minus that after calibrating out of fold.

    Attributes
    ----------
    value : float
        The loss, in the currency of the costs per case; negative where calibration does harm.
    low, high : float
        Its interval.
    actual, calibrated : float
        Cost per case of the llrs as they are, and after logistic calibration by models that did not see the case.
    level : float
        Of the interval.
    method : str
        How it was made.

    Examples
    --------
    >>> import numpy as np, tercet as tc
    >>> shape = np.tile([-1.5, -0.5, 0.5, 1.5], 10)
    >>> trials = tc.Trials.of_llr(np.r_[shape + 1.0, shape - 1.0] + 3.0, np.repeat([1, 0], 40))    # llrs 3 too high
    >>> tc.case_cost_calibration_loss(trials, tc.CaseCosts(0.5, np.tile([1.0, 3.0], 40), 2.0)).actual
    0.75
    """

    value: float
    low: float
    high: float
    actual: float
    calibrated: float
    level: float
    method: str


def case_cost_calibration_loss(
    trials: Trials, costs: CaseCosts, *, ci: float = 0.95, by: str | None = None
) -> CaseCostLoss:
    """The calibration loss where every case brings its own costs, cross-fitted.

    Logistic calibration at the effective prior of the mean costs, in 5 folds dealt by group, else by id, else by the
    rank of the score within the class; the loss is the paired difference of what each case costs.

    Parameters
    ----------
    trials : Trials
        Labelled two-class trials that are not raw scores, in the order of the costs.
    costs : CaseCosts
        Prior and costs.
    ci : float, default 0.95
        Level of Welch's interval of the paired difference.
    by : str, optional
        A column of groups, which are never on both sides of a fold and vary as a whole.

    Returns
    -------
    CaseCostLoss
        The loss with its interval, and both costs.

    Examples
    --------
    Every llr is too high by 3, so that three of four non-targets are accepted at a cost of 2, 3/4 per case:

    >>> shape = np.tile([-1.5, -0.5, 0.5, 1.5], 10)
    >>> trials = Trials.of_llr(np.r_[shape + 1.0, shape - 1.0] + 3.0, np.repeat([1, 0], 40))
    >>> found = case_cost_calibration_loss(trials, CaseCosts(0.5, np.tile([1.0, 3.0], 40), 2.0))
    >>> found.actual, round(found.value, 2) > 0.3
    (0.75, True)
    """
    own = two_columns(as_trials(trials)) if as_trials(trials).is_matrix else as_trials(trials)
    level = probability(ci, "ci")
    instance(costs, CaseCosts, "costs")
    before = payments(own, costs, by)
    after = payments(_out_of_fold(own, costs, by), costs, by)
    value, error, freedom = before.minus(after).mean()
    low, high = Mean(value, error, freedom=freedom).limits(level) if error > 0.0 else (value, value)
    method = f"welch, paired{'' if by is None else ' over groups'}; logistic, 5 folds"
    return CaseCostLoss(value, low, high, before.mean()[0], after.mean()[0], level, method)


class CaseEstimates(NamedTuple):
    """Costs per case of several systems, and their paired differences.

    Attributes
    ----------
    alone : dict
        By the name of the number, one estimate per system.
    differences : dict
        By the name of the number and the places of two systems, the estimate of their difference.
    """

    alone: dict[str, list[Mean]]
    differences: dict[tuple[str, int, int], Mean]


def case_cost_estimates(systems: Sequence[Trials], every: Sequence[CaseCosts], by: str | None) -> CaseEstimates:
    """The cost per case of each system under each set of costs, and the differences on the same cases."""
    alone: dict[str, list[Mean]] = {}
    differences: dict[tuple[str, int, int], Mean] = {}
    how = "welch" if by is None else "welch over groups"
    for place, costs in enumerate(every):
        name = f"applications.{place}.cost"
        paid = [payments(one, costs, by) for one in systems]
        alone[name] = [_mean(one.mean(), how) for one in paid]
        for i, j in combinations(range(len(paid)), 2):
            differences[name, i, j] = _mean(paid[i].minus(paid[j]).mean(), f"{how}, paired by case")
    return CaseEstimates(alone, differences)


def _mean(found: tuple[float, float, float], how: str) -> Mean:
    value, error, freedom = found
    return Mean(value, error, freedom=freedom if error > 0.0 else 1.0, how=how)


def _out_of_fold(trials: Trials, costs: CaseCosts, by: str | None) -> Trials:
    """The trials with llrs of logistic calibrations that did not see them."""
    labels = trials.known_labels().astype(np.bool_)
    sides = [np.flatnonzero(~labels), np.flatnonzero(labels)]
    if min(map(len, sides)) < 2:
        raise UndefinedError("Calibration out of fold needs at least two trials of each class.")
    folds = np.empty(len(trials), np.intp)
    if by is not None:
        codes = group_codes(trials, by)
        numbers, count = deal_groups([codes[rows] for rows in sides])
    else:
        sides = [rows[_own_order(trials, costs, rows)] for rows in sides]
        numbers, count = deal_rows((len(sides[0]), len(sides[1])))
    for rows, own in zip(sides, numbers, strict=True):
        folds[rows] = own
    prior, llrs = _mean_application(costs).effective_prior, np.empty(len(trials))
    for fold in range(count):
        mine = folds == fold
        llrs[mine] = _calibrated(trials.select(~mine), prior)(trials.scores[mine])
    return Trials.of_llr(llrs, labels, weights=trials.weights, groups=dict(trials.groups))


def _own_order(trials: Trials, costs: CaseCosts, rows: NDArray[np.intp]) -> NDArray[np.intp]:
    """An order of the rows of one class that does not depend on how they came: by id, else by score and costs."""
    if trials.ids is not None:
        return np.argsort(id_words(trials.ids[rows]), kind="stable")
    keys = [np.broadcast_to(cost, len(trials))[rows] for cost in (costs.cost_tp, costs.cost_fp, costs.cost_fn)]
    return np.lexsort((*keys, trials.scores[rows]))


def _mean_application(costs: CaseCosts) -> Application:
    """The ordinary application of the mean costs."""
    miss = float(np.mean(np.maximum(np.asarray(costs.cost_fn) - costs.cost_tp, 0.0)))
    alarm = float(np.mean(costs.cost_fp))
    if not (miss > 0.0 and alarm > 0.0):
        raise UndefinedError("Calibration out of fold needs misses and false alarms that cost something on average.")
    return Application(costs.prior, miss, alarm)


def _calibrated(training: Trials, prior: float) -> Logistic:
    """A logistic calibration, with a small penalty where the classes are separable."""
    try:
        return Logistic.fit(training, prior)
    except CalibrationError:
        return Logistic.fit(training, prior, penalty=PENALTY)
