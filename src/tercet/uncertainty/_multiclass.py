"""K classes: the estimate behind each number of a MulticlassEvaluation, without resampling."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from tercet._numeric.validation import shown
from tercet._typing import Floats
from tercet.application import Application, MulticlassApplication
from tercet.decision import decide
from tercet.errors import UndefinedError
from tercet.metrics.costs import class_prior, entropy, squared_distance, surprise
from tercet.metrics.posteriors import joint, likelihoods_of
from tercet.trials import Trials
from tercet.uncertainty._clusters import Clusters, Places
from tercet.uncertainty._limits import FEW, Estimate, Mapped, Mean, Proportion, Sum, effective_size
from tercet.uncertainty._rows import numbered_groups, rows_by_class
from tercet.uncertainty._two_class import LEAST_FOR_CLLR, Found, NotEstimable


@dataclass(frozen=True, eq=False)
class ManyClassSample:
    """Labelled trials of K classes: the rows of each class, and how they vary together."""

    trials: Trials
    rows: tuple[Places, ...]
    weights: tuple[Floats, ...]
    clusters: Clusters
    whole: Clusters  # all classes as one, for numbers at the data's own frequencies
    grouped: bool

    @classmethod
    def of(cls, trials: Trials, by: tuple[str, ...] = ()) -> ManyClassSample:
        """From labelled trials; classes without trials have no column."""
        rows, weights = rows_by_class(trials)
        for own, called in zip(rows, trials.classes, strict=True):
            if len(own) == 0:
                raise UndefinedError(f"There is no interval: there are no trials of class {shown(called)}.")
        codes, dyadic = numbered_groups(trials, by, rows, trials.classes)
        joined = [[np.concatenate(one)] for one in codes]
        grouped = bool(by) or any(bool((own != np.floor(own)).any()) for own in weights)
        whole = Clusters.of(joined, [np.concatenate(weights)], dyadic)
        return cls(trials, rows, weights, Clusters.of(codes, weights, dyadic), whole, grouped)

    def column(self, place: int, losses: Floats) -> Proportion:
        """The mean loss of one class, each loss between 0 and 1."""
        total, counted = float(self.weights[place].sum()), int((self.weights[place] * (losses > 0.0)).sum())
        if not self.grouped and bool(((losses == 0.0) | (losses == 1.0)).all()):
            return Proportion(float((self.weights[place] * losses).sum()) / total, total)
        found = self._moments(self.clusters, [(place, losses)], total)
        most = self.clusters.rows[place] if self.grouped or counted < FEW else math.inf
        size = effective_size(found[0], found[1], self.clusters.units[place], most)
        return Proportion(found[0], size, self.clusters.freedoms[place] if self.grouped else math.inf, self.grouped)

    def _moments(self, clusters: Clusters, columns: Sequence[tuple[int, Floats]], total: float) -> tuple[float, float]:
        """Mean and variance; whole weights without groups are repeated rows."""
        if self.grouped:
            found = clusters.means(columns)
            return float(found.means[0]), float(found.covariance[0, 0])
        (place, losses) = columns[0]
        heavy = clusters.weights[place]
        mean = float((heavy * losses).sum() / total)
        return mean, float((heavy * (losses - mean) ** 2).sum()) / (total * max(total - 1.0, 1.0))

    def over_all(self, losses: Floats, scale: str, least: float = 0.0) -> Estimate | NotEstimable:
        """The mean over all rows, classes at their own frequencies, counts of classes at random."""
        total = float(self.whole.weights[0].sum())
        if total < least or not np.isfinite(losses).all():
            return NotEstimable(f"not estimable from {total:g} trials, or infinite")
        mean, variance = self._moments(self.whole, [(0, losses)], total)
        if mean <= 0.0 or variance <= 0.0:
            return NotEstimable("not estimable: every trial has the same loss")
        how = "delete-one-group jackknife, Student's t" if self.grouped else "normal"
        return Mean(mean, math.sqrt(variance), scale, self.whole.freedoms[0] if self.grouped else math.inf, how)

    def share(self, right: Floats, sampling: str) -> Estimate:
        """The share of right decisions: of all trials, or at these class counts."""
        if sampling == "stratified":
            sizes = [float(own.sum()) for own in self.weights]
            ends = np.cumsum([len(own) for own in self.rows])
            parts = [self.column(j, own) for j, own in enumerate(np.split(right, ends[:-1]))]
            return Sum(tuple(parts), tuple(size / math.fsum(sizes) for size in sizes), None, (0.0, 1.0))
        total = float(self.whole.weights[0].sum())
        mean, variance = self._moments(self.whole, [(0, right)], total)
        if not self.grouped:
            return Proportion(mean, total)
        size = effective_size(mean, variance, self.whole.units[0], self.whole.rows[0])
        return Proportion(mean, size, self.whole.freedoms[0], True)


def many_class_estimates(
    sample: ManyClassSample, apps: Sequence[MulticlassApplication], sampling: str = "natural"
) -> Found:
    """Every number of a MulticlassEvaluation with its estimate, or why it has none."""
    trials = sample.trials
    order = np.concatenate(sample.rows)
    labels = trials.known_labels().astype(np.intp)[order]
    prior = class_prior(trials)
    part = trials.select(order)
    logs = joint(likelihoods_of(part), np.log(prior))
    bits = surprise(logs, labels) / math.log(2.0)
    squares = squared_distance(logs, labels) / (1.0 if trials.is_matrix else 2.0)
    chosen = decide(part, Application.multiclass(prior, classes=trials.classes))
    loss = sample.over_all(bits, "log", LEAST_FOR_CLLR)
    own = entropy(prior)
    found: Found = {
        "accuracy": sample.share((chosen == labels).astype(np.float64), sampling),
        "log_loss": loss,
        "normalised_cross_entropy": loss if isinstance(loss, NotEstimable) else Mapped(loss, lambda x: x / own),
        "brier": sample.over_all(squares, "log"),
    }
    for k, app in enumerate(apps):
        found |= {f"applications.{k}.{name}": one for name, one in _costs(sample, part, app).items()}
    return found


def _costs(sample: ManyClassSample, part: Trials, app: MulticlassApplication) -> Found:
    """Risk, normalised risk and each class's contribution: MOVER over the columns' mean costs."""
    chosen = decide(part, app.renamed(part.classes))
    ends = np.cumsum([len(own) for own in sample.rows])
    columns, factors = [], []
    for j, own in enumerate(np.split(chosen, ends[:-1])):
        most = float(app.costs[:, j].max())
        columns.append(sample.column(j, app.costs[own, j] / most if most > 0.0 else np.zeros(len(own))))
        factors.append(float(app.prior[j]) * most)
    linked = None
    if sample.grouped:
        losses = [(j, app.costs[own, j]) for j, own in enumerate(np.split(chosen, ends[:-1]))]
        linked = sample.clusters.means(losses).correlations()
    risk = Sum(tuple(columns), tuple(factors), linked, (0.0, math.inf))
    dummy = app.dummy_cost
    found: Found = {"risk": risk, "contributions": _Several(tuple(columns), tuple(factors))}
    return found | ({"dcf": Mapped(risk, lambda x: x / dummy)} if dummy > 0.0 else {})


@dataclass(frozen=True, eq=False)
class _Several:
    """Several rates, each times its factor, side by side."""

    parts: tuple[Proportion, ...]
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
