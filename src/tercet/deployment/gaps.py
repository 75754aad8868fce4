"""Gaps between groups at an operating point: differences and ratios of rates and costs, with intervals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.plain import plain
from tercet._numeric.records import Record
from tercet._numeric.validation import chosen, group_name, names, shown, some, whole, words_of
from tercet._typing import Floats
from tercet.application import Application
from tercet.decision import decide
from tercet.errors import InputError
from tercet.metrics.binomial import Interval, rate_interval
from tercet.metrics.counting import mover_ratio
from tercet.metrics.mover import Share, mover
from tercet.trials import Trials, probability, two_class
from tercet.uncertainty._kernel.engine import enough_resamples
from tercet.uncertainty._limits import Mean
from tercet.uncertainty.compare import holm

Flags = NDArray[np.bool_]
QUANTITIES = ("fnr", "fpr", "acceptance_rate", "dcf_u")
_NEEDS = {"fnr": (1,), "fpr": (0,), "acceptance_rate": (), "dcf_u": (0, 1)}
_CALLED = ("non-targets", "targets")
_MOST_UNDEFINED = 0.5  # of the resamples
_MANY = 20  # with more groups, all pairs would be too many to read


class GroupRates(NamedTuple):
    """One group at the operating point; a quantity that does not exist there is None, with its reason.

    Attributes
    ----------
    group : str
        The group's name.
    targets, nontargets : int
        Its trials.
    values : dict
        "fnr", "fpr", "acceptance_rate" (accepted share of its trials) and "dcf_u" at the application.
    intervals : dict
        Their intervals, for those that exist.
    reasons : dict
        Why the others do not.
    """

    group: str
    targets: int
    nontargets: int
    values: dict[str, float | None]
    intervals: dict[str, Interval]
    reasons: dict[str, str]


class Gap(NamedTuple):
    """One group minus another, in one quantity.

    Attributes
    ----------
    quantity, first, second : str
        What is compared.
    difference : float
        First minus second.
    difference_ci : Interval
        Its interval.
    ratio : float or None
        First over second; None where the second is 0.
    ratio_ci : Interval or None
        Its interval; None if neither group has errors. For costs, and with `by`, None if one of the two groups has
        none.
    p_value, adjusted : float
        p-value of no difference: one minus the largest level whose interval excludes 0; and the same after Holm's
        correction over all gaps of the report.

    Examples
    --------
    >>> import tercet as tc
    >>> sites = {"site": list("aaabbb")}
    >>> trials = tc.Trials.of_llr([1.0, -1.0, -1.0, 1.0, 1.0, -1.0], [1, 1, 0, 1, 1, 0], groups=sites)
    >>> gap = tc.group_gaps(trials, "site", (0.5, 1, 1)).of("fnr")[0]
    >>> gap.first, gap.second, gap.difference
    ('a', 'b', 0.5)
    """

    quantity: str
    first: str
    second: str
    difference: float
    difference_ci: Interval
    ratio: float | None
    ratio_ci: Interval | None
    p_value: float
    adjusted: float


@dataclass(frozen=True, slots=True)
class GroupGaps(Record):
    """Rates and costs of every group, their gaps, and the worst group in each quantity.

    Attributes
    ----------
    column : str
        The column of groups.
    application : Application
        The operating point.
    groups : tuple of GroupRates
        One entry per group.
    gaps : tuple of Gap
        Every pair of groups, or each against the reference.
    worst : dict
        For each quantity the group where it is highest. Apparent: with many small groups the worst is worst by chance.
    level : float
        Level of the intervals.
    worst_in : dict
        In which share of the joint resamples each `worst` group is the worst again; empty without resamples.

    Examples
    --------
    >>> import tercet as tc
    >>> sites = {"site": list("aaabbb")}
    >>> trials = tc.Trials.of_llr([1.0, -1.0, -1.0, 1.0, 1.0, -1.0], [1, 1, 0, 1, 1, 0], groups=sites)
    >>> found = tc.group_gaps(trials, "site", (0.5, 1, 1))
    >>> len(found.gaps), found.of("fnr")[0].difference
    (4, 0.5)
    """

    column: str
    application: Application
    groups: tuple[GroupRates, ...]
    gaps: tuple[Gap, ...]
    worst: dict[str, str]
    level: float
    worst_in: dict[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        rows = [
            f"  {gap.quantity}: {shown(gap.first)} - {shown(gap.second)} {gap.difference:+.4f} "
            f"({gap.difference_ci.low:+.4f} to {gap.difference_ci.high:+.4f}), adjusted p = {gap.adjusted:.2g}"
            for gap in self.gaps
        ]
        return "\n".join([f"GroupGaps: {shown(self.column)}, {100 * self.level:g} % intervals", *rows])

    def of(self, quantity: str) -> tuple[Gap, ...]:
        """The gaps in one quantity.

        Parameters
        ----------
        quantity : str
            A quantity's name, such as "fnr".

        Returns
        -------
        tuple of Gap
            The gaps, one per pair of groups.
        """
        chosen(quantity, "quantity", QUANTITIES)
        return tuple(gap for gap in self.gaps if gap.quantity == quantity)

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON.

        Returns
        -------
        dict
            Plain values.
        """
        return {
            "column": self.column, "level": self.level, "worst": self.worst, "worst_in": self.worst_in,
            "groups": [
                {**one._asdict(), "intervals": {key: list(ends[:2]) for key, ends in one.intervals.items()}}
                for one in self.groups
            ],
            "gaps": [
                {**gap._asdict(), "difference_ci": list(gap.difference_ci[:2]),
                 "ratio_ci": None if gap.ratio_ci is None else plain(list(gap.ratio_ci[:2])),
                 "method": gap.difference_ci.method}
                for gap in self.gaps
            ],
        }  # fmt: skip


def group_gaps(
    trials: Trials,
    column: str,
    application: object,
    *,
    reference: object = None,
    by: str | None = None,
    ci: float = 0.95,
    resamples: int = 0,
    seed: int = 0,
) -> GroupGaps:
    """Differences and ratios of error rates, acceptance rates and costs between groups at an operating point.

    Parameters
    ----------
    trials : Trials
        Labelled two-class trials that are not raw scores, with the column among their groups.
    column : str
        The groups to compare: gender, site, channel.
    application : Application, triple or name
        The operating point whose Bayes decisions are judged.
    reference : optional
        The group that all others are compared with; every pair unless given.
    by : str, optional
        Another column of groups whose trials depend on each other (speakers, patients), also across the compared
        groups: intervals then come from the sums over these groups (linearisation, Student's t), and are never
        narrower than those of independent trials. Each compared group needs at least two of them.
    ci : float, default 0.95
        Level of the intervals: MOVER for differences and MOVER-R for ratios; with `by` Student's t, of ratios on the
        log scale.
    resamples : int, default 0
        If above 0, differences and ratios have percentile intervals from this many joint resamples: trials are drawn
        within each compared group, or whole groups of `by` across all of them. If more than half of the resamples lack
        a class that a number needs, its closed form is used.
    seed : int, default 0
        Seed of the resamples.

    Returns
    -------
    GroupGaps
        The rates, costs and gaps. For a group without targets or without non-targets, the quantities that exist are
        reported; the acceptance rate always exists.

    Examples
    --------
    One of two targets is missed at site a, none at b:

    >>> trials = Trials.of_llr([1.0, -1.0, -1.0, 1.0, 1.0, -1.0], [1, 1, 0, 1, 1, 0], groups={"site": list("aaabbb")})
    >>> gap = group_gaps(trials, "site", (0.5, 1, 1)).of("fnr")[0]
    >>> gap.first, gap.second, gap.difference
    ('a', 'b', 0.5)
    """
    own, app, level = two_class(trials), Application.of(application), probability(ci, "ci")
    if own.weights is not None:
        raise InputError("Gaps need trials without weights: repeat rows instead.")
    values, clusters = _groups(own, column, "column"), None if by is None else _groups(own, by, "by")
    counts = _Counts.of(own.known_labels().astype(np.bool_), decide(own, app).astype(np.bool_), values, clusters, app)
    _check_groups(counts, column, by)
    rows = tuple(_rates(counts, place, level) for place in range(len(counts.names)))
    draws = whole(resamples, "resamples", 0) and enough_resamples(resamples, level, "resamples")
    drawn = counts.resampled(draws, whole(seed, "seed", 0)) if draws else None
    pairs = _pairs(counts.names, reference)
    gaps = [
        _gap(counts, quantity, pair, level, drawn)
        for quantity in QUANTITIES
        for pair in pairs
        if all(counts.exists(quantity, place) for place in pair)
    ]
    worst, again = {}, {}
    for quantity in QUANTITIES:
        known = [place for place in range(len(rows)) if counts.exists(quantity, place)]
        if known:
            top = max(known, key=lambda place: rows[place].values[quantity] or 0.0)
            worst[quantity] = rows[top].group
            if drawn is not None:
                found = np.nan_to_num(drawn.values(quantity)[:, known], nan=-math.inf)
                again[quantity] = float((found.argmax(axis=1) == known.index(top)).mean())
    adjusted = holm([gap.p_value for gap in gaps])
    every = tuple(gap._replace(adjusted=p_value) for gap, p_value in zip(gaps, adjusted, strict=True))
    return GroupGaps(column, app, rows, every, worst, level, again)


class _Counts(NamedTuple):
    """Targets, misses, non-targets and false alarms of each compared group, of every cluster or of every resample."""

    names: list[str]
    cells: NDArray[np.int64]  # [cluster or resample, group, count]
    clustered: bool
    app: Application

    @classmethod
    def of(
        cls,
        labels: Flags,
        accepted: Flags,
        groups: NDArray[np.str_],
        clusters: NDArray[np.str_] | None,
        app: Application,
    ) -> _Counts:
        """The counts of trials; without clusters there is one."""
        names, group = np.unique(groups, return_inverse=True)
        units = np.zeros(len(group), np.intp) if clusters is None else np.unique(clusters, return_inverse=True)[1]
        place, size = units * len(names) + group, (int(units.max()) + 1) * len(names)
        events = (labels, labels & ~accepted, ~labels, ~labels & accepted)
        cells = np.stack([np.bincount(place[event], minlength=size) for event in events], axis=-1)
        return cls(names.tolist(), cells.reshape(-1, len(names), 4), clusters is not None, app)

    @property
    def totals(self) -> NDArray[np.int64]:
        """[group, count] over all clusters."""
        return np.asarray(self.cells.sum(axis=0))

    def exists(self, quantity: str, place: int) -> bool:
        """Whether a group holds the classes that a quantity divides by."""
        return all(self.totals[place, 0 if kind else 2] > 0 for kind in _NEEDS[quantity])

    def parts(
        self, quantity: str, cells: NDArray[np.int64]
    ) -> list[tuple[float, NDArray[np.int64], NDArray[np.int64]]]:
        """The quantity as a weighted sum of rates: (weight, counted, out of)."""
        targets, misses, nontargets, alarms = np.moveaxis(cells, -1, 0)
        if quantity == "acceptance_rate":
            return [(1.0, targets - misses + alarms, targets + nontargets)]
        both = ((self.app.prior * self.app.cost_fn, misses, targets),
                ((1.0 - self.app.prior) * self.app.cost_fp, alarms, nontargets))  # fmt: skip
        return [*both] if quantity == "dcf_u" else [(1.0, *both[quantity == "fpr"][1:])]

    def shares(self, quantity: str, place: int, sign: float = 1.0) -> list[list[Share]]:
        """The same as terms of MOVER, for one group."""
        parts = self.parts(quantity, self.totals[place])
        return [[Share(sign * weight, int(counted), int(out_of))] for weight, counted, out_of in parts]

    def value(self, quantity: str, place: int) -> float:
        """The quantity in one group."""
        parts = self.parts(quantity, self.totals[place])
        return math.fsum(weight * (int(counted) / int(out_of)) for weight, counted, out_of in parts)

    def interval(self, quantity: str, place: int, level: float) -> Interval:
        """The quantity's interval in one group of independent trials."""
        samples = self.shares(quantity, place)
        return rate_interval(*samples[0][0][1:], level) if quantity != "dcf_u" else mover(samples, level)

    def values(self, quantity: str) -> Floats:
        """The quantity in each resample and group; NaN where a class was not drawn."""
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = self.parts(quantity, self.cells)
            return np.asarray(sum(weight * (counted / out_of) for weight, counted, out_of in parts))

    def moves(self, quantity: str, place: int) -> Floats:
        """Each cluster's influence on the quantity of a group."""
        own = zip(self.parts(quantity, self.cells[:, place]), self.parts(quantity, self.totals[place]), strict=True)
        total = np.zeros(len(self.cells))
        for (weight, counted, out_of), (_, all_counted, all_of) in own:
            total += weight * (counted - all_counted / all_of * out_of) / all_of
        return total

    def resampled(self, draws: int, seed: int) -> _Counts:
        """Joint resamples: whole clusters, or trials within each compared group."""
        rng = np.random.default_rng(seed)
        if self.clustered:
            often = rng.multinomial(len(self.cells), np.full(len(self.cells), 1.0 / len(self.cells)), draws)
            return self._replace(cells=np.tensordot(often, self.cells, 1))
        found = []
        for targets, misses, nontargets, alarms in self.totals.tolist():
            kinds = np.array([misses, targets - misses, alarms, nontargets - alarms])
            drawn = rng.multinomial(kinds.sum(), kinds / kinds.sum(), draws)
            found.append(np.stack((drawn[:, :2].sum(1), drawn[:, 0], drawn[:, 2:].sum(1), drawn[:, 2]), axis=-1))
        return self._replace(cells=np.stack(found, axis=1))


def _rates(counts: _Counts, place: int, level: float) -> GroupRates:
    values: dict[str, float | None] = {}
    intervals, reasons = {}, {}
    group, totals = counts.names[place], counts.totals[place]
    for quantity in QUANTITIES:
        if not counts.exists(quantity, place):
            missing = next(_CALLED[kind] for kind in _NEEDS[quantity] if totals[0 if kind else 2] == 0)
            values[quantity], reasons[quantity] = None, f"{quantity} is undefined: there are no {missing} in {group}."
            continue
        ends, values[quantity] = counts.interval(quantity, place, level), counts.value(quantity, place)
        if counts.clustered:
            ends = _wider(ends, _student(counts.moves(quantity, place), counts.value(quantity, place)), level)
        intervals[quantity] = ends._replace(low=max(ends.low, 0.0))
        if quantity != "dcf_u":
            intervals[quantity] = intervals[quantity]._replace(high=min(ends.high, 1.0))
    return GroupRates(group, int(totals[0]), int(totals[2]), values, intervals, reasons)


def _gap(counts: _Counts, quantity: str, pair: tuple[int, int], level: float, drawn: _Counts | None) -> Gap:
    first, second = pair
    value, under = (counts.value(quantity, place) for place in pair)
    samples = [*counts.shares(quantity, first), *counts.shares(quantity, second, -1.0)]
    ends, p_value = mover(samples, level), _p_value(lambda at: mover(samples, at)[:2])
    one, other = (counts.moves(quantity, place) for place in pair)
    if counts.clustered:
        found = _student(one - other, value - under)
        ends, p_value = _wider(ends, found, level), max(p_value, _two_sided(found))
    ratio = value / under if under > 0.0 else None
    ratio_ci = _ratio_interval(counts, quantity, pair, level)
    if drawn is not None:
        a, b = (drawn.values(quantity)[:, place] for place in pair)
        if np.isnan(a - b).mean() <= _MOST_UNDEFINED:
            ends, p_value = _percentiles(a - b, level), _draws_beyond(a - b)
            with np.errstate(divide="ignore", invalid="ignore"):
                ratio_ci = _percentiles(a / b, level) if value + under > 0.0 else None
    name = counts.names
    return Gap(quantity, name[first], name[second], value - under, ends, ratio, ratio_ci, p_value, p_value)


def _student(moves: Floats, value: float) -> Mean:
    """A number that varies by the sums of influence over clusters; those without influence do not count."""
    used = moves[moves != 0.0]
    count = max(len(used), 2)
    error = math.sqrt(float((used**2).sum()) * count / (count - 1))
    return Mean(value, error, freedom=count - 1.0, how=f"student over {count} groups")


def _wider(ends: Interval, found: Mean, level: float) -> Interval:
    """The interval over clusters, but never narrower than for independent trials."""
    low, high = found.limits(level)
    return Interval(min(low, ends.low), max(high, ends.high), f"{found.method(level)}, at least {ends.method}")


def _two_sided(found: Mean) -> float:
    from scipy.special import stdtr

    return 2.0 * float(stdtr(found.freedom, -abs(found.value) / found.error)) if found.error > 0.0 else 0.0


def _ratio_interval(counts: _Counts, quantity: str, pair: tuple[int, int], level: float) -> Interval | None:
    """MOVER-R for independent trials; over clusters Student's t of the log ratio, but never narrower."""
    value, under = (counts.value(quantity, place) for place in pair)
    if value + under == 0.0 or (counts.clustered and min(value, under) == 0.0):
        return None
    ends = mover_ratio(value, under, *(counts.interval(quantity, place, level) for place in pair))
    if not counts.clustered:
        return ends
    one, other = (counts.moves(quantity, place) for place in pair)
    found = _student(one / value - other / under, math.log(value / under))
    with np.errstate(over="ignore"):  # an end beyond every number is inf
        low, high = np.exp(found.limits(level)).tolist()
    method = f"{found.method(level)}, on the log scale, at least {ends.method}"
    return Interval(min(low, ends.low), max(high, ends.high), method)


def _percentiles(values: Floats, level: float) -> Interval:
    """Percentiles of the resamples in which the number exists."""
    known = values[~np.isnan(values)]
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(known, [tail, 1.0 - tail], method="closest_observation")
    return Interval(float(low), float(high), f"joint percentile bootstrap, {len(values)} resamples")


def _draws_beyond(values: Floats) -> float:
    """Twice the smaller share of resamples on one side of 0, one added."""
    known = values[~np.isnan(values)]
    sides = ((known <= 0.0).sum(), (known >= 0.0).sum())
    return min(1.0, 2.0 * (1.0 + float(min(sides))) / (1.0 + len(known)))


def _p_value(ends: Callable[[float], tuple[float, float]]) -> float:
    """One minus the largest level at which the interval excludes 0."""
    low, high = 0.0, 1.0  # of the level: at low the interval excludes 0, at high it includes it
    for _ in range(30):
        middle = (low + high) / 2.0
        below, above = ends(middle)
        low, high = (middle, high) if below > 0.0 or above < 0.0 else (low, middle)
    return 1.0 - low


def _pairs(found: list[str], reference: object) -> list[tuple[int, int]]:
    """The places of the groups that are compared: every pair, or each with the reference."""
    if reference is None:
        if len(found) > _MANY:
            raise InputError(f"{len(found)} groups make {len(found) * (len(found) - 1) // 2} pairs: name a reference=.")
        return list(itertools.combinations(range(len(found)), 2))
    if words_of(reference) not in found:
        raise InputError(f"reference={shown(reference)} is not among the groups {some(found)}.")
    base = found.index(str(reference))
    return [(place, base) for place in range(len(found)) if place != base]


def _check_groups(counts: _Counts, column: str, by: str | None) -> None:
    """Refuses a single group, and a compared group whose trials are all in one cluster."""
    if len(counts.names) < 2:
        raise InputError(f"{column} has one group only: gaps need at least two.")
    for name, clusters in zip(counts.names, counts.cells.any(axis=2).sum(axis=0).tolist(), strict=True):
        if counts.clustered and clusters < 2:
            raise InputError(
                f"by={shown(by)}: all trials of {shown(name)} are in one group, so the variation between groups cannot "
                f"be estimated. Leave these trials out, or leave by out."
            )


def _groups(trials: Trials, column: str, name: str) -> NDArray[np.str_]:
    return np.asarray(names(trials.groups[group_name(column, trials.groups, name)], name).astype(str))


__all__ = ["Gap", "GroupGaps", "GroupRates", "group_gaps"]
