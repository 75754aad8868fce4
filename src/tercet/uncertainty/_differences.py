"""Differences of two systems on the same trials, from the loss of each trial under both."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from tercet._typing import Facts, Floats
from tercet.application import Application, MulticlassApplication
from tercet.calibration.two_class import Isotonic
from tercet.metrics.costs import class_prior, entropy, min_cllr, softplus
from tercet.metrics.curves import Curve
from tercet.metrics.mover import Proportion, Sum, excluding
from tercet.trials import Trials
from tercet.uncertainty._clusters import Places, SampledRows, Way
from tercet.uncertainty._kernel.classes import RowCosts, charges
from tercet.uncertainty._limits import Derived, Estimate, Mean, effective_size, mapped, named, smallest_p, wider
from tercet.uncertainty._two_class import (
    Points,
    TwoClassSample,
    held_out_isotonic_losses,
    least_favourable,
    placed,
)

_ROUNDING = 1e-12  # standard errors below this are those of sums in another order
_FLIPS = 9999
_ENUMERATED = 13  # units whose sign flips are all tried


@dataclass(frozen=True, eq=False)
class Losses:
    """What each trial adds to one number of one system: sum over classes of factor x mean loss."""

    classes: tuple[int, ...]
    factors: tuple[float, ...]
    columns: tuple[Floats, ...]
    value: float | None = None  # where it is not the sum of the means
    is_rate: bool = False  # losses are errors (0 or 1), or costs between 0 and 1: limits come from discordant trials
    most: float | None = None  # that the number can be, where it is not the sum of the factors

    @property
    def bound(self) -> float:
        """What two systems can differ by at most."""
        return sum(self.factors) if self.most is None else self.most


class PairedTrials(SampledRows):
    """The rows of each class in the order common to all systems, and what two systems differ by on them."""

    def difference(self, first: Losses, second: Losses) -> Estimate:
        """First minus second.

        Rates and costs of grouped trials take the wider of two intervals: limits of discordant errors alone are too
        short where the errors cluster strongly, and Student's t alone where there are few of them. No limit is beyond
        what numbers with a bound can differ by.
        """
        found = self._unbounded(first, second)
        return mapped(found, partial(np.clip, a_min=-first.bound, a_max=first.bound))

    def _unbounded(self, first: Losses, second: Losses) -> Estimate:
        if not first.is_rate:
            return self._jackknifed(first, second)
        discordant = self._of_discordant(first, second)
        spread = self._jackknifed(first, second) if self.grouped else None
        return wider(discordant, spread) if isinstance(spread, Mean) else discordant

    def _jackknifed(self, first: Losses, second: Losses) -> Mean | Derived:
        """The mean difference per trial, and how much it varies from trial to trial or from group to group."""
        with np.errstate(invalid="ignore"):  # two infinite losses
            gaps = [
                factor * one - other_factor * other
                for factor, other_factor, one, other in zip(
                    first.factors, second.factors, first.columns, second.columns, strict=True
                )
            ]
        if not all(np.isfinite(gap).all() for gap in gaps):
            return _alike(0.0, 0.0)
        found = self.moments(list(zip(first.classes, gaps, strict=True)))
        value, variance = float(sum(found.means)), found.variance_of_sum()
        if first.value is not None and second.value is not None:
            value = first.value - second.value
        if variance <= _ROUNDING**2:
            units = min(self.clusters.units[place] for place in first.classes)
            return _alike(value, units if first.bound <= 1.0 else 0.0)
        freedom = min(self.clusters.freedoms[place] for place in first.classes) if self.grouped else math.inf
        return Mean(value, math.sqrt(variance), "", freedom, "paired jackknife, Student's t")

    def _of_discordant(self, first: Losses, second: Losses) -> Sum:
        """MOVER over the rates of trials that only one of the systems gets wrong, or gets more wrong."""
        parts, factors, columns = [], [], []
        for place, factor, one, other in zip(first.classes, first.factors, first.columns, second.columns, strict=True):
            for sign in (1.0, -1.0):
                columns.append((place, np.maximum(sign * (one - other), 0.0)))
                factors.append(sign * factor)
        moments = self.clusters.means(columns) if self.grouped else None
        for k, (place, more) in enumerate(columns):
            heavy, size = self.weights[place], self.clusters.rows[place]
            value = float((heavy * more).sum()) / float(heavy.sum())
            if moments is None:
                parts.append(Proportion(value, size))
                continue
            # Without a discordance of one kind, those of the other kind show how similar the trials of a group are.
            pair = np.ix_((k, k ^ 1), (k, k ^ 1))
            either, spread = moments.means[[k, k ^ 1]].sum(), moments.covariance[pair].sum()
            unseen = effective_size(either, spread, self.clusters.units[place], size)
            own = effective_size(value, moments.covariance[k, k], unseen, size)
            parts.append(Proportion(value, own, self.clusters.freedoms[place], True))
        linked = excluding(parts, [place for place, _ in columns]) if moments is None else moments.correlations()
        return Sum(tuple(parts), tuple(factors), linked)

    def influence(self, first: Losses, second: Losses) -> Floats:
        """What each trial, or each group of the first grouping, adds to the difference."""
        units = np.zeros(self.clusters.ways[0].groups)
        for place, factor, one, other in zip(first.classes, first.factors, first.columns, second.columns, strict=True):
            heavy = self.weights[place]
            gap = one - other
            mean = float((heavy * gap).sum() / heavy.sum())
            units += self.clusters.ways[0].sums(place, factor * heavy * (gap - mean) / float(heavy.sum()))
        return units

    def least_p(self, first: Losses, second: Losses) -> float:
        """The smallest p-value that these trials can show: all units that differ fall on one side by chance.

        Of two groupings that cross, the one with fewer groups that differ decides.
        """
        found = [self._units(first, second, way) for way in self.clusters.ways if way.sign > 0.0]
        return smallest_p(min(int(counts[units != 0.0].sum()) for units, counts in found))

    def _units(self, first: Losses, second: Losses, way: Way) -> tuple[Floats, Floats]:
        """What each trial, or each group, adds to the difference of the means, and how many trials are alike.

        Whole weights count trials; of groups each is one.
        """
        units = np.zeros(way.groups)
        for place, factor, other_factor, one, other in zip(
            first.classes, first.factors, second.factors, first.columns, second.columns, strict=True
        ):
            heavy = self.weights[place]
            with np.errstate(invalid="ignore"):  # two infinite losses
                gap = (factor * one - other_factor * other) / float(heavy.sum())
            units += way.sums(place, heavy * gap if self.grouped else gap)
        if self.grouped:
            return units, np.ones(way.groups)
        return units, np.sum([way.sums(place, self.weights[place]) for place in set(first.classes)], axis=0)

    def sign_flip(self, first: Losses, second: Losses, seed: int = 0) -> float:
        """The p-value of a sign-flip test: without a difference, the sign of each trial (or group) is arbitrary.

        All flips of up to 13 units are tried; of more, 9,999 at random. The p-value is never below one in the number
        of flips. Two groupings that cross have no units whose signs are arbitrary one by one, and so no such test.
        """
        units, every = self._units(first, second, self.clusters.ways[0])
        seen = abs(float((units * every).sum())) * (1.0 - 1e-9)
        sizes, alike = np.unique(np.abs(units[units != 0.0]), return_inverse=True)
        counts = np.bincount(alike, every[units != 0.0]).astype(np.int64)
        if len(sizes) == 0:
            return 1.0
        if counts.sum() <= _ENUMERATED:
            each = np.repeat(sizes, counts)
            signs = 1.0 - 2.0 * ((np.arange(1 << len(each))[:, None] >> np.arange(len(each))) & 1)
            return float((np.abs(signs @ each) >= seen).mean())
        rng, extreme = np.random.default_rng(seed), 0
        for _ in range(_FLIPS // 99):
            kept = rng.binomial(counts, 0.5, (99, len(sizes)))
            extreme += int((np.abs((2.0 * kept - counts) @ sizes) >= seen).sum())
        return (1 + extreme) / (1 + _FLIPS)


def _alike(value: float, units: float) -> Derived:
    """A difference that is the same on every trial: unseen trials may differ by anything from -1 to 1.

    Units of 0: the loss has no bound.
    """
    method = named("Clopper-Pearson of unseen trials (all trials differ alike)")
    return Derived(value, method, partial(_limits_if_alike, value, units))


def _limits_if_alike(value: float, units: float, level: float) -> tuple[float, float]:
    """Seen trials are at least the share tail^(1 / units) of all."""
    if units == 0.0:
        return -math.inf, math.inf
    share = ((1.0 - level) / 2.0) ** (1.0 / units)
    return value * share - (1.0 - share), value * share + (1.0 - share)


def independent(first: Estimate, second: Estimate) -> Derived:
    """A difference of two numbers from independent trials: MOVER from the limits of both."""
    value = float(first.value) - float(second.value)
    return Derived(value, named("MOVER ({})", first), partial(_independent_limits, first, second))


def _independent_limits(first: Estimate, second: Estimate, level: float) -> tuple[float, float]:
    """Distances to the opposite limits, added in squares."""
    (a, b), (c, d) = first.limits(level), second.limits(level)
    one, other = float(first.value), float(second.value)
    return one - other - math.hypot(one - a, d - other), one - other + math.hypot(b - one, other - c)


def two_class_losses(
    trials: Trials, rows: Sequence[Places], apps: Sequence[Application], by: tuple[str, ...] = ()
) -> dict[str, Losses]:
    """The losses behind each number of a two-class system, rows in the common order."""
    curve = Curve.of(trials)
    scores = [trials.scores[own] for own in rows]
    found = {"auc": _area(curve, scores), "eer": _equal_error(curve, scores)}
    found["min_cllr"] = _min_log_costs(curve, trials, scores, by)
    llrs = None if trials.meaning == "raw" else [trials.llr[own] for own in rows]
    if llrs is not None:
        found["cllr"] = _log_costs(llrs[0], llrs[1])
    for k, app in enumerate(apps):
        at = f"applications.{k}."
        points = Points.of([app])
        miss, alarm = float(points.miss[0]), float(points.alarm[0])
        free = app.dummy_is_free or not math.isfinite(app.factor)
        if llrs is not None:
            missed, accepted = _ones(llrs[1] <= app.threshold), _ones(llrs[0] > app.threshold)
            found[f"{at}fnr"], found[f"{at}fpr"] = _rate(1, missed), _rate(0, accepted)
            prices = (app.prior * app.cost_fn, (1.0 - app.prior) * app.cost_fp)
            found[f"{at}dcf_u"] = _cost(missed, accepted, *prices)
            if not free:
                found[f"{at}dcf"] = _cost(missed, accepted, miss, alarm)
        if not free:
            threshold = curve.min_dcf(app).threshold
            kept = [np.asarray((own > threshold) | (threshold == -math.inf)) for own in scores]
            found[f"{at}min_dcf"] = _cost(_ones(~kept[1]), _ones(kept[0]), miss, alarm, 1.0)
    return found


def _ones(errors: NDArray[np.bool_]) -> Floats:
    return errors.astype(np.float64)


def _rate(place: int, errors: Floats) -> Losses:
    return Losses((place,), (1.0,), (errors,), is_rate=True)


def _cost(missed: Floats, accepted: Floats, miss: float, alarm: float, most: float | None = None) -> Losses:
    return Losses((1, 0), (miss, alarm), (missed, accepted), is_rate=True, most=most)


def _log_costs(nontargets: Floats, targets: Floats) -> Losses:
    bits = 0.5 / math.log(2.0)
    columns = (softplus(0.0 - targets), softplus(nontargets))
    return Losses((1, 0), (bits, bits), columns, most=math.inf)


def _min_log_costs(curve: Curve, trials: Trials, scores: Sequence[Floats], by: tuple[str, ...]) -> Losses:
    """The apparent minimum, which varies as the losses of isotonic calibration out of fold do.

    The apparent losses vary less than the minimum: they rejected 8 to 12 % of true null hypotheses at 5 %.
    """
    sample = TwoClassSample.of(trials, by)
    if sample.folds.count < 2:
        best = Isotonic._of_hull(curve.hull, {}, raw=True)
        return _log_costs(best(scores[0]), best(scores[1]))
    columns = []
    for own, ascending, losses in zip(scores, sample.folds.scores, held_out_isotonic_losses(sample), strict=True):
        starts = np.flatnonzero(np.concatenate(([True], ascending[1:] != ascending[:-1])))
        means = np.add.reduceat(losses, starts) / np.diff(np.append(starts, len(ascending)))  # equal for tied rows
        columns.append(means[np.searchsorted(ascending[starts], own)])
    bits = 0.5 / math.log(2.0)
    return Losses((1, 0), (bits, bits), (columns[1], columns[0]), min_cllr(curve), most=math.inf)


def _area(curve: Curve, scores: Sequence[Floats]) -> Losses:
    t, n = curve.tally.targets, curve.tally.nontargets
    above, under = placed(n, scores[1]), 1.0 - placed(t, scores[0])
    return Losses((1, 0), (1.0, 1.0), (above, under), curve.auc, most=1.0)


def _equal_error(curve: Curve, scores: Sequence[Floats]) -> Losses:
    """The cost at the least favourable prior, thresholds mixed as on the hull's edge."""
    _, share, rejected = least_favourable(curve.hull)
    columns = (rejected(scores[1]), 1.0 - rejected(scores[0]))
    return Losses((1, 0), (share, 1.0 - share), columns, curve.eer().value, most=0.5)


def many_class_losses(
    trials: Trials, rows: Sequence[Places], apps: Sequence[MulticlassApplication]
) -> tuple[dict[str, Losses], dict[str, Losses]]:
    """The losses by class, and those over all trials (in the order of the classes' rows)."""
    prior = class_prior(trials)
    found = RowCosts.of(trials.select(np.concatenate(list(rows))), prior)
    bits = found.nats / math.log(2.0)
    whole = {
        name: Losses((0,), (factor,), (column,), None, name == "accuracy", most)
        for name, column, factor, most in (
            ("accuracy", 1.0 - found.wrong, 1.0, 1.0), ("log_loss", bits, 1.0, math.inf),
            ("normalised_cross_entropy", bits, 1.0 / entropy(prior), math.inf), ("brier", found.squares, 1.0, 2.0),
        )
    }  # fmt: skip
    costs: dict[str, Losses] = {}
    for k, app in enumerate(apps):
        most = [float(column.max()) or 1.0 for column in app.costs.T]
        columns = tuple(own / top for own, top in zip(charges(trials, rows, app), most, strict=True))
        for name, dummy in (("risk", 1.0), ("dcf", app.dummy_cost)):
            if dummy > 0.0:
                factors = tuple(float(prior) * top / dummy for prior, top in zip(app.prior, most, strict=True))
                costs[f"applications.{k}.{name}"] = Losses(tuple(range(len(rows))), factors, columns, None, True)
    return costs, whole


def shared_names(found: Sequence[Facts]) -> list[str]:
    """The numbers that all systems have."""
    return [name for name in found[0] if all(name in other for other in found)]
