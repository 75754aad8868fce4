"""K classes: risks, accuracy and proper scores from the weights of the rows; decisions are taken once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._typing import Counts, Floats, Reals
from tercet.application import Application, MulticlassApplication
from tercet.decision import decide
from tercet.metrics.costs import JudgedRows, squared_distance, surprise
from tercet.metrics.posteriors import Likelihoods, joint
from tercet.trials import Trials

Places = NDArray[np.intp]


class RowCosts(NamedTuple):
    """What each row costs at one class prior: errors, nats and squared distance."""

    wrong: Floats
    nats: Floats
    squares: Floats

    @classmethod
    def of(cls, trials: Trials, share: Floats) -> RowCosts:
        """Of labelled trials when the classes have these priors."""
        labels = trials.known_labels().astype(np.intp)
        logs = joint(Likelihoods.of(trials).block(slice(None)), np.log(share))
        judged = JudgedRows.of(logs, labels)
        wrong = decide(trials, Application.multiclass(share, classes=trials.classes)) != labels
        squares = squared_distance(judged) / (1.0 if trials.is_matrix else 2.0)
        return cls(wrong.astype(np.float64), surprise(judged), squares)


def charges(trials: Trials, rows: Sequence[Places], app: MulticlassApplication) -> tuple[Floats, ...]:
    """For each class the costs of its rows' decisions."""
    chosen = decide(trials, app.renamed(trials.classes))
    return tuple(app.costs[chosen[places], j] for j, places in enumerate(rows))


@dataclass(frozen=True, slots=True, eq=False)
class ManyClasses:
    """A K-class system with its decisions taken; `statistics` answers for any weights of its rows."""

    parts: tuple[Trials, ...]  # the trials of each class
    applications: tuple[MulticlassApplication, ...]
    charges: tuple[tuple[Floats, ...], ...]  # for each application and class, the cost of each row's decision
    fixed: tuple[Floats, tuple[RowCosts, ...]] | None  # the class prior of every resample, where it is always the same

    @classmethod
    def of(
        cls,
        trials: Trials,
        rows: Sequence[Places],
        apps: Sequence[MulticlassApplication],
        sizes: Sequence[float] | None,
    ) -> ManyClasses:
        """Takes the decisions; `sizes` are the class weights where resampling never changes them."""
        parts, fixed = tuple(trials.select(places) for places in rows), None
        if sizes is not None:
            share = np.array(sizes, np.float64) / math.fsum(sizes)
            fixed = share, tuple(RowCosts.of(part, share) for part in parts)
        return cls(parts, tuple(apps), tuple(charges(trials, rows, app) for app in apps), fixed)

    def statistics(self, weights: Sequence[Counts]) -> dict[str, Reals]:
        """The numbers of one resample, given the weights of each class's rows."""
        if self.fixed is None:
            totals = np.array([float(rows.sum()) for rows in weights])
            share = totals / math.fsum(totals)
            costs = tuple(RowCosts.of(part, share) for part in self.parts)
        else:
            share, costs = self.fixed
        wrong, nats, squares = (
            math.fsum(pi * _mean(rows, own) for pi, rows, own in zip(share, weights, column, strict=True))
            for column in zip(*costs, strict=True)
        )
        bits = nats / math.log(2.0)
        cross_entropy = bits / -math.fsum(share * np.log2(share))
        found: dict[str, Reals] = {
            "accuracy": 1.0 - wrong, "log_loss": bits, "normalised_cross_entropy": cross_entropy, "brier": squares
        }  # fmt: skip
        for k, (app, charged) in enumerate(zip(self.applications, self.charges, strict=True)):
            parts = [pi * _mean(rows, own) for pi, rows, own in zip(app.prior, weights, charged, strict=True)]
            found[f"applications.{k}.contributions"] = np.array(parts)
        return found

    def named(self, stacked: dict[str, Floats]) -> dict[str, Floats]:
        """The numbers of many resamples under the names of the MulticlassEvaluation."""
        found = dict(stacked)
        for k, app in enumerate(self.applications):
            at = f"applications.{k}."
            parts = found.pop(f"{at}contributions")
            risk = parts.sum(axis=1)
            found |= {f"{at}contributions": parts, f"{at}risk": risk}
            if app.dummy_cost > 0.0:
                found[f"{at}dcf"] = risk / app.dummy_cost
        return found


def _mean(weights: Counts, values: Floats) -> float:
    endless = np.isinf(values)
    if endless.any():
        if weights[endless].any():
            return math.inf
        values = np.where(endless, 0.0, values)
    return float((weights / weights.sum() * values).sum())
