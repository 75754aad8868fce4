"""K classes: the estimate behind each number of a MulticlassEvaluation, without resampling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial

import numpy as np

from tercet._typing import Floats, Reals
from tercet.application import MulticlassApplication
from tercet.metrics.costs import class_prior, entropy
from tercet.metrics.mover import MeanLoss, Proportion, Sum, cost_scale, mean_loss
from tercet.trials import Trials
from tercet.uncertainty._clusters import SampledRows
from tercet.uncertainty._kernel.classes import RowCosts, charges
from tercet.uncertainty._limits import Derived, Estimate, Mean, effective_size, mapped
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
        "normalised_cross_entropy": loss if isinstance(loss, NotEstimable) else mapped(loss, partial(_divided, by=own)),
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
    return mean_loss(mean, (size - 1.0) * variance, size, counted)


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
    most, counted = cost_scale(app.costs)
    parts = tuple(_rate(rows, j, own / (most[j] or 1.0), counted[j]) for j, own in enumerate(charged))
    factors = tuple(float(prior) * top for prior, top in zip(app.prior, most, strict=True))
    linked = rows.moments(list(enumerate(charged))).correlations() if rows.grouped else None
    risk = Sum(parts, factors, linked, (0.0, math.inf))
    found: Found = {"risk": risk, "contributions": _contributions(parts, factors)}
    return found | ({"dcf": mapped(risk, partial(_divided, by=app.dummy_cost))} if app.dummy_cost > 0.0 else {})


def _contributions(parts: Sequence[Proportion | MeanLoss], factors: Sequence[float]) -> Derived:
    """Several rates, each times its factor, side by side."""
    value = _scaled(factors, [part.value for part in parts])
    return Derived(value, partial(_methods, parts), partial(_side_by_side, parts, factors))


def _methods(parts: Sequence[Proportion | MeanLoss], level: float) -> str:
    return " / ".join(dict.fromkeys(part.method(level) for part in parts))


def _side_by_side(
    parts: Sequence[Proportion | MeanLoss], factors: Sequence[float], level: float
) -> tuple[Floats, Floats]:
    low, high = zip(*(part.limits(level) for part in parts), strict=True)
    return _scaled(factors, low), _scaled(factors, high)


def _scaled(factors: Sequence[float], values: Sequence[Reals]) -> Floats:
    return np.array([factor * float(value) for factor, value in zip(factors, values, strict=True)])


def _divided(value: Reals, by: float) -> Reals:
    return value / by
