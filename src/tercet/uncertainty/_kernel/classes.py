"""K classes: risks, accuracy and proper scores from the weights of the rows; decisions are taken once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._typing import Counts, Floats
from tercet.application import Application, MulticlassApplication
from tercet.decision import decide
from tercet.metrics.costs import squared_distance, surprise
from tercet.metrics.posteriors import joint, likelihoods_of
from tercet.trials import Trials

Places = NDArray[np.intp]


class Rows(NamedTuple):
    """What each row of a class costs at one class prior: errors, nats and squared distance."""

    wrong: Floats
    nats: Floats
    squares: Floats


@dataclass(frozen=True, slots=True, eq=False)
class ManyClasses:
    """A K-class system with its decisions taken; `statistics` answers for any weights of its rows."""

    parts: tuple[Trials, ...]  # the trials of each class
    applications: tuple[MulticlassApplication, ...]
    charges: tuple[tuple[Floats, ...], ...]  # for each application and class, the cost of each row's decision
    fixed: tuple[Floats, tuple[Rows, ...]] | None  # the class prior of every resample, where it is always the same

    @classmethod
    def of(
        cls,
        trials: Trials,
        rows: Sequence[Places],
        apps: Sequence[MulticlassApplication],
        sizes: Sequence[float] | None,
    ) -> ManyClasses:
        """Takes the decisions; `sizes` are the class weights where resampling never changes them."""
        parts = tuple(trials.select(places) for places in rows)
        charges = tuple(
            tuple(app.costs[decide(part, app.renamed(trials.classes)), j] for j, part in enumerate(parts))
            for app in apps
        )
        share = None if sizes is None else np.array(sizes, np.float64) / math.fsum(sizes)
        fixed = None if share is None else (share, tuple(_row_costs(part, j, share) for j, part in enumerate(parts)))
        return cls(parts, tuple(apps), charges, fixed)

    def statistics(self, weights: Sequence[Counts]) -> Floats:
        """The numbers of one resample, given the weights of each class's rows."""
        totals = np.array([float(rows.sum()) for rows in weights])
        if self.fixed is None:
            share = totals / math.fsum(totals)
            costs = tuple(_row_costs(part, j, share) for j, part in enumerate(self.parts))
        else:
            share, costs = self.fixed
        found = [
            math.fsum(
                pi * _mean(rows, getattr(cost, name)) for pi, rows, cost in zip(share, weights, costs, strict=True)
            )
            for name in Rows._fields
        ]
        bits = found[1] / math.log(2.0)
        surprise = -math.fsum(share * np.log2(share))
        parts = [
            pi * _mean(rows, charge)
            for app, charged in zip(self.applications, self.charges, strict=True)
            for pi, rows, charge in zip(app.prior, weights, charged, strict=True)
        ]
        return np.array([1.0 - found[0], bits, bits / surprise, found[2], *parts])

    def named(self, raw: Floats) -> dict[str, Floats]:
        """The columns of many resamples under the names of the MulticlassEvaluation."""
        names = ("accuracy", "log_loss", "normalised_cross_entropy", "brier")
        found = {name: raw[:, place] for place, name in enumerate(names)}
        used, count = len(names), len(self.parts)
        for k, app in enumerate(self.applications):
            parts = raw[:, used : used + count]
            used += count
            risk = parts.sum(axis=1)
            found |= {f"applications.{k}.contributions": parts, f"applications.{k}.risk": risk}
            if app.dummy_cost > 0.0:
                found[f"applications.{k}.dcf"] = risk / app.dummy_cost
        return found


def _row_costs(part: Trials, label: int, share: Floats) -> Rows:
    """What the rows of one class cost when the classes have these priors."""
    app = Application.multiclass(share, classes=part.classes)
    logs = joint(likelihoods_of(part), np.log(share))
    labels = np.full(len(part), label, np.intp)
    squares = squared_distance(logs, labels) / (1.0 if part.is_matrix else 2.0)
    return Rows((decide(part, app) != label).astype(np.float64), surprise(logs, labels), squares)


def _mean(weights: Counts, values: Floats) -> float:
    endless = np.isinf(values)
    if endless.any():
        if weights[endless].any():
            return math.inf
        values = np.where(endless, 0.0, values)
    return float((weights / weights.sum() * values).sum())
