"""K classes: the estimate behind each number of a MulticlassEvaluation, without resampling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tercet._typing import Floats
from tercet.application import MulticlassApplication
from tercet.metrics.costs import class_prior, entropy
from tercet.trials import Trials
from tercet.uncertainty._kernel.classes import RowCosts, charges
from tercet.uncertainty._limits import Estimate, Mapped, Mean, MeanLoss, Proportion, Sum, effective_size
from tercet.uncertainty._rows import SampledRows
from tercet.uncertainty._two_class import JACKKNIFE, LEAST_FOR_CLLR, Found, NotEstimable


def many_class_estimates(
    trials: Trials, rows: SampledRows, by: tuple[str, ...], apps: Sequence[MulticlassApplication], sampling: str
) -> Found:
    """Every number of a MulticlassEvaluation with its estimate, or why it has none."""
    whole = SampledRows.of(trials, by, together=True)
    prior = class_prior(trials)
    costs = RowCosts.of(trials.select(whole.rows[0]), prior)
    loss = _over_all(whole, costs.nats / math.log(2.0), LEAST_FOR_CLLR)
    own = entropy(prior)
    found: Found = {
        "accuracy": _share(rows, whole, 1.0 - costs.wrong, sampling),
        "log_loss": loss,
        "normalised_cross_entropy": loss if isinstance(loss, NotEstimable) else Mapped(loss, lambda x: x / own),
        "brier": _over_all(whole, costs.squares),
    }
    for k, app in enumerate(apps):
        charged = charges(trials, rows.rows, app)
        found |= {f"applications.{k}.{name}": one for name, one in _costs(rows, charged, app).items()}
    return found


def _rate(rows: SampledRows, place: int, losses: Floats, counted: bool = True) -> Proportion | MeanLoss:
    """The mean loss of one class, each loss between 0 and 1; `counted`: no loss is anything else than 0 or 1."""
    own, size = rows.clusters, float(rows.weights[place].sum())
    found = rows.moments([(place, losses)])
    mean, variance = float(found.means[0]), float(found.covariance[0, 0])
    if rows.grouped:
        effective = effective_size(mean, variance, own.units[place], own.rows[place])
        return Proportion(mean, effective, own.freedoms[place], True)
    return Proportion(mean, size) if counted else MeanLoss(mean, (size - 1.0) * variance, size, 1.0, (1.0, 1.0))


def _over_all(whole: SampledRows, losses: Floats, least: float = 0.0) -> Estimate | NotEstimable:
    """The mean over all rows, classes at their own frequencies, counts of classes at random."""
    total = float(whole.weights[0].sum())
    if total < least or not np.isfinite(losses).all():
        return NotEstimable(f"not estimable from {total:g} trials, or infinite")
    found = whole.moments([(0, losses)])
    mean, variance = float(found.means[0]), float(found.covariance[0, 0])
    if mean <= 0.0 or variance <= 0.0:
        return NotEstimable("not estimable: every trial has the same loss")
    how, freedom = (JACKKNIFE, whole.clusters.freedoms[0]) if whole.grouped else ("normal", math.inf)
    return Mean(mean, math.sqrt(variance), "log", freedom, how)


def _share(rows: SampledRows, whole: SampledRows, right: Floats, sampling: str) -> Estimate:
    """The share of right decisions: of all trials, or at these class counts."""
    if sampling == "natural":
        return _rate(whole, 0, right)
    sizes = [float(own.sum()) for own in rows.weights]
    ends = np.cumsum([len(own) for own in rows.rows])
    parts = [_rate(rows, j, own) for j, own in enumerate(np.split(right, ends[:-1]))]
    return Sum(tuple(parts), tuple(size / math.fsum(sizes) for size in sizes), None, (0.0, 1.0))


def _costs(rows: SampledRows, charged: Sequence[Floats], app: MulticlassApplication) -> Found:
    """Risk, normalised risk and each class's contribution: MOVER over the columns' mean costs."""
    most = [float(column.max()) for column in app.costs.T]
    counted = [bool(np.isin(column, (0.0, top)).all()) for column, top in zip(app.costs.T, most, strict=True)]
    parts = tuple(_rate(rows, j, own / (most[j] or 1.0), counted[j]) for j, own in enumerate(charged))
    factors = tuple(float(prior) * top for prior, top in zip(app.prior, most, strict=True))
    linked = rows.moments(list(enumerate(charged))).correlations() if rows.grouped else None
    risk = Sum(parts, factors, linked, (0.0, math.inf))
    found: Found = {"risk": risk, "contributions": _Several(parts, factors)}
    return found | ({"dcf": Mapped(risk, lambda x: x / app.dummy_cost)} if app.dummy_cost > 0.0 else {})


@dataclass(frozen=True, eq=False)
class _Several:
    """Several rates, each times its factor, side by side."""

    parts: Sequence[Proportion | MeanLoss]
    factors: tuple[float, ...]

    @property
    def value(self) -> Floats:
        return np.array([f * part.value for f, part in zip(self.factors, self.parts, strict=True)])

    @property
    def method(self) -> str:
        return " / ".join(dict.fromkeys(part.method for part in self.parts))

    def limits(self, level: float) -> tuple[Floats, Floats]:
        ends = [part.limits(level) for part in self.parts]
        low, high = (np.array([f * float(end[k]) for f, end in zip(self.factors, ends, strict=True)]) for k in (0, 1))
        return low, high
