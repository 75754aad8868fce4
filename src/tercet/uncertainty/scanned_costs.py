"""Costs per case of trials in memory or of a scan, whose intervals come from sums that add over the parts."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, overload

import numpy as np

from tercet._typing import Floats
from tercet.errors import InputError, UndefinedError
from tercet.metrics._case_split import Side, Split
from tercet.metrics.case_costs import CaseCostColumns, CaseCostEvaluation, CaseCosts, Parts, case_costs_of_parts
from tercet.outofcore.case_costs import case_parts
from tercet.outofcore.scan import Scan
from tercet.trials import Trials, probability
from tercet.uncertainty.case_costs import (
    FEW,
    Moments,
    best_dummy,
    cases_in_memory,
    check_prices,
    hidden_errors,
    welch,
)


@overload
def evaluate_case_costs(
    trials: Trials, costs: CaseCosts, *, ci: float | None = None, by: str | tuple[str, str] | None = None
) -> CaseCostEvaluation: ...
@overload
def evaluate_case_costs(trials: Scan, costs: CaseCostColumns, *, ci: float | None = None) -> CaseCostEvaluation: ...
def evaluate_case_costs(
    trials: Trials | Scan,
    costs: CaseCosts | CaseCostColumns,
    *,
    ci: float | None = None,
    by: str | tuple[str, str] | None = None,
) -> CaseCostEvaluation:
    """What Bayes decisions cost when every case brings its own costs.

    risk = prior x mean over targets of (C_fn,i if missed, C_tp,i if hit)
    + (1 - prior) x mean over non-targets of (C_fp,i if accepted).

    A scan gives the same to the bit as its rows in memory. Its files are read four times: for the sums, for the costs
    by bucket of margins, for the cases of the few buckets in which the least cost may lie, and for the cost there. Held
    are one part of the rows and the cases of these buckets, 24 bytes each.

    Parameters
    ----------
    trials : Trials or Scan
        Labelled two-class trials that are not raw scores, in the order of the costs; or files of them, without weights.
    costs : CaseCosts or CaseCostColumns
        Prior and costs: arrays or numbers for trials, names of columns or numbers for a scan. Costs that are the same
        in every case give the bits of the ordinary application.
    ci : float, optional
        Level of the intervals, 0.95: Welch's for the two classes' mean costs; whole weights count cases. Where no
        target was missed, or no non-target accepted, the upper end allows for unseen errors (none among n) at
        the mean cost. The minimum's interval begins at the lower end of the apparent minimum and ends at the upper
        end of the cost of shifts chosen out of fold, so a scan, which is read once more for the others, has none.
    by : str or tuple of two str, optional
        One or two columns of groups; then groups, not cases, are independent, and their sums vary. Not of a scan.

    Returns
    -------
    CaseCostEvaluation
        The cost per case, the minimum over a common shift, two costs without scores, and the savings.

    Examples
    --------
    The miss of 90 happens and the false alarm of 10, at prior 1/2: (90 + 0)/2 x 1/2 + (10 + 0)/2 x 1/2:

    >>> trials = Trials.of_llr([-3.0, 4.0, 2.0, -2.0], [1, 1, 0, 0])
    >>> found = evaluate_case_costs(trials, CaseCosts(0.5, cost_fn=[90, 50, 90, 50], cost_fp=10))
    >>> found.cost, found.per(1000), found.constant_action, found.constant_cost
    (25.0, 25000.0, 'accept', 5.0)

    The same from a file:

    >>> import tempfile, pathlib, tercet as tc
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "cases.csv"
    >>> _ = file.write_text("score,label,amount\\n-3,1,90\\n4,1,50\\n2,0,90\\n-2,0,50\\n")
    >>> evaluate_case_costs(tc.scan(file), CaseCostColumns(0.5, cost_fn="amount", cost_fp=10)).cost
    25.0
    """
    if not isinstance(trials, Scan):
        if isinstance(costs, CaseCostColumns):
            raise InputError(
                "costs by column belong to a scan: give trials in memory CaseCosts with the columns themselves."
            )
        return cases_in_memory(trials, costs, ci, by)
    if not isinstance(costs, CaseCostColumns):
        raise InputError(
            "costs of a scan must be CaseCostColumns(prior, cost_fn=..., cost_fp=...): its columns by name."
        )
    if by is not None:
        raise InputError("by= needs trials in memory: read them (tercet.read), or leave it out of a scan.")
    parts, level = case_parts(trials, costs), None if ci is None else probability(ci, "ci")
    found = case_costs_of_parts(parts, costs.prior)
    return found if level is None else _with_intervals(found, parts, costs.prior, level)


class _Class(NamedTuple):
    """What one class's cases add up to."""

    paid: Moments
    saved: Moments
    wrong: int = 0
    price: float = 0.0  # the sum of what an error costs

    def plus(self, side: Side, paid: Floats, dummy: Floats, wrong: int) -> _Class:
        """With the cases of one more part."""
        if len(paid) == 0:
            return self
        price = float(np.sum(np.broadcast_to(np.abs(np.asarray(side.reject) - side.accept), paid.shape)))
        saved = self.saved.plus(Moments.of(dummy - paid))
        return _Class(self.paid.plus(Moments.of(paid)), saved, self.wrong + wrong, self.price + price)


def _with_intervals(found: CaseCostEvaluation, parts: Parts, prior: float, level: float) -> CaseCostEvaluation:
    """Intervals of the cost and of the savings, from one more pass."""
    empty = Moments(0.0, 0.0, 0.0)
    sums = [_Class(empty, empty), _Class(empty, empty)]
    for own, costs in parts():
        split = Split.of(own, costs)
        check_prices(split)
        accepted = split.accepted()
        wrong = (int((~accepted[0]).sum()), int(accepted[1].sum()))
        columns = zip(split.sides, split.paid(accepted), split.paid(best_dummy(found, split)), wrong, strict=True)
        sums = [one.plus(*column) for one, column in zip(sums, columns, strict=True)]
    if min(one.paid.size for one in sums) < 2.0:
        raise UndefinedError(FEW)
    low, high = welch(prior, [one.paid for one in sums], "welch").limits(level)
    least, most = welch(prior, [one.saved for one in sums], "welch").limits(level)
    errors = [(one.wrong, int(one.paid.size), one.price / one.paid.size) for one in sums]
    room, method = hidden_errors(prior, errors, level, "welch")
    return replace(
        found, cost_ci=(max(low, 0.0), high + room), savings_ci=(least - room, most), level=level, method=method
    )


__all__ = ["evaluate_case_costs"]
