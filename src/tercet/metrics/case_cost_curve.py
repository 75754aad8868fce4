"""Costs per case along a common shift of all thresholds: what a figure of them draws."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tercet._numeric.validation import frozen
from tercet._typing import Floats
from tercet.metrics.case_costs import CaseCostEvaluation, CaseCosts, evaluate_case_costs, split_by_class
from tercet.trials import Trials

_REACH, _POINTS = 8.0, 321  # llrs to either side, and shifts


@dataclass(frozen=True, slots=True, eq=False)
class CaseCostCurve:
    """The cost per case when all thresholds are shifted by the same llr.

    Attributes
    ----------
    shift : numpy.ndarray of float
        The llr added to every threshold; 0 is the Bayes decision.
    cost : numpy.ndarray of float
        The mean cost per case at each shift.
    evaluation : CaseCostEvaluation
        The cost at shift 0, the minimum and the costs without scores.
    name : str or None
        The system's name.

    Examples
    --------
    >>> trials = Trials.of_llr([-3.0, 4.0, 2.0, -2.0], [1, 1, 0, 0])
    >>> found = case_cost_curve(trials, CaseCosts(0.5, cost_fn=[90, 50, 90, 50], cost_fp=10))
    >>> float(found.shift[160]), float(found.cost[160]), found.evaluation.min_cost
    (0.0, 25.0, 5.0)
    """

    shift: Floats
    cost: Floats
    evaluation: CaseCostEvaluation
    name: str | None = None


def case_cost_curve(trials: Trials, costs: CaseCosts, *, ci: float | None = None) -> CaseCostCurve:
    """The cost per case along a common shift of all thresholds, from llr -8 to 8.

    Parameters
    ----------
    trials : Trials
        Labelled two-class trials that are not raw scores, in the order of the costs.
    costs : CaseCosts
        Prior and costs.
    ci : float, optional
        Level of the interval of the cost at shift 0.

    Returns
    -------
    CaseCostCurve
        What `tercet.plot(curve, "case-costs")` draws.

    Examples
    --------
    >>> trials = Trials.of_llr([-3.0, 4.0, 2.0, -2.0], [1, 1, 0, 0])
    >>> found = case_cost_curve(trials, CaseCosts(0.5, cost_fn=[90, 50, 90, 50], cost_fp=10))
    >>> float(found.cost[160]), found.evaluation.cost
    (25.0, 25.0)
    """
    found = evaluate_case_costs(trials, costs, ci=ci)
    split = split_by_class(trials, costs)
    shift = np.linspace(-_REACH, _REACH, _POINTS)
    cost = np.full(_POINTS, split.cost(*split.accepted(-np.inf)))
    for side, share in ((split.targets, split.prior), (split.nontargets, split.prior - 1.0)):
        first = np.searchsorted(shift, side.margins, "left")  # from this shift on the case is rejected
        rejected = np.bincount(first, side.prices(), _POINTS + 1).cumsum()[:_POINTS]
        cost += share * rejected / side.size
    return CaseCostCurve(frozen(shift), frozen(cost), found, trials.name)
