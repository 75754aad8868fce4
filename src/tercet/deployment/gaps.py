"""Gaps between groups at an operating point: differences and ratios of rates and costs, with intervals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.validation import chosen, group_name, names, shown, words_of
from tercet._typing import Floats
from tercet.application import Application
from tercet.calibration.training import one_column
from tercet.decision import decide
from tercet.errors import InputError, UndefinedError
from tercet.metrics.binomial import Interval, wilson
from tercet.metrics.counting import ratio_interval
from tercet.metrics.mover import Share, mover
from tercet.trials import Trials, as_trials, probability

QUANTITIES = ("fnr", "fpr", "acceptance_rate", "dcf_u")
_NEEDS = {"fnr": (1,), "fpr": (0,), "acceptance_rate": (0, 1), "dcf_u": (0, 1)}
_CALLED = ("non-targets", "targets")
_MANY = 20  # groups beyond which all pairs are more than anyone reads


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
        Its interval; None for costs and where trials are grouped.
    p_value, adjusted : float
        Of no difference: one minus the largest level whose interval leaves out 0; and after Holm's correction over
        all gaps of the report.

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
class GroupGaps:
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
        Of the intervals.

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
            "column": self.column, "level": self.level, "worst": self.worst,
            "groups": [
                {**one._asdict(), "intervals": {key: list(ends[:2]) for key, ends in one.intervals.items()}}
                for one in self.groups
            ],
            "gaps": [
                {**gap._asdict(), "difference_ci": list(gap.difference_ci[:2]),
                 "ratio_ci": None if gap.ratio_ci is None else [_plain(end) for end in gap.ratio_ci[:2]],
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
        groups: intervals then come from the sums over these groups (linearisation, Student's t).
    ci : float, default 0.95
        Level of the intervals: MOVER with Wilson's for differences, MOVER-R for ratios.

    Returns
    -------
    GroupGaps
        A group without targets or without non-targets is reported for the quantities that exist there.

    Examples
    --------
    One of two targets is missed at site a, none at b:

    >>> trials = Trials.of_llr([1.0, -1.0, -1.0, 1.0, 1.0, -1.0], [1, 1, 0, 1, 1, 0], groups={"site": list("aaabbb")})
    >>> gap = group_gaps(trials, "site", (0.5, 1, 1)).of("fnr")[0]
    >>> gap.first, gap.second, gap.difference
    ('a', 'b', 0.5)
    """
    own, app, level = one_column(as_trials(trials)), Application.of(application), probability(ci, "ci")
    if own.weights is not None:
        raise InputError("Gaps are taken of trials without weights: repeat rows instead.")
    values, clusters = _groups(own, column, "column"), None if by is None else _groups(own, by, "by")
    cells = _Cells(own.known_labels().astype(np.bool_), decide(own, app).astype(np.bool_), values, clusters, app)
    found: list[str] = np.unique(values).tolist()
    if len(found) < 2:
        raise InputError(f"{column} has one group only: gaps need at least two.")
    rows = tuple(_rates(cells, name, level) for name in found)
    pairs = _pairs(found, reference)
    gaps = [
        _gap(cells, quantity, first, second, level)
        for quantity in QUANTITIES
        for first, second in pairs
        if cells.exists(quantity, first) and cells.exists(quantity, second)
    ]
    worst = {}
    for quantity in QUANTITIES:
        known = [(row.values[quantity], row.group) for row in rows if row.values[quantity] is not None]
        if known:
            worst[quantity] = max(known, key=lambda one: one[0] or 0.0)[1]
    return GroupGaps(column, app, rows, _holm(gaps), worst, level)


class _Cells(NamedTuple):
    """Labels, decisions and groups of every trial."""

    labels: NDArray[np.bool_]
    accepted: NDArray[np.bool_]
    groups: NDArray[np.str_]
    clusters: NDArray[np.str_] | None
    app: Application

    def exists(self, quantity: str, group: str) -> bool:
        """Whether the group holds the classes that a quantity divides by."""
        own = self.labels[self.groups == group]
        return all(bool((own == bool(kind)).any()) for kind in _NEEDS[quantity])

    def shares(self, quantity: str, group: str, sign: float) -> list[list[Share]]:
        """The quantity as a weighted sum of rates."""
        own = self.groups == group
        counts = {
            kind: (int((own & self.accepted & (self.labels == kind)).sum()), int((own & (self.labels == kind)).sum()))
            for kind in (True, False)
        }
        (hits, targets), (alarms, nontargets) = counts[True], counts[False]
        if quantity == "fnr":
            return [[Share(sign, targets - hits, targets)]]
        if quantity == "fpr":
            return [[Share(sign, alarms, nontargets)]]
        if quantity == "acceptance_rate":
            return [[Share(sign, hits + alarms, targets + nontargets)]]
        miss, alarm = self.app.prior * self.app.cost_fn, (1.0 - self.app.prior) * self.app.cost_fp
        return [[Share(sign * miss, targets - hits, targets)], [Share(sign * alarm, alarms, nontargets)]]

    def moves(self, quantity: str, group: str) -> Floats:
        """Each trial's influence on the quantity of a group."""
        total = np.zeros(len(self.labels))
        own = self.groups == group
        parts = {
            "fnr": [(own & self.labels, ~self.accepted, 1.0)],
            "fpr": [(own & ~self.labels, self.accepted, 1.0)],
            "acceptance_rate": [(own, self.accepted, 1.0)],
            "dcf_u": [(own & self.labels, ~self.accepted, self.app.prior * self.app.cost_fn),
                      (own & ~self.labels, self.accepted, (1.0 - self.app.prior) * self.app.cost_fp)],
        }[quantity]  # fmt: skip
        for rows, event, weight in parts:
            total[rows] += weight * (event[rows] - event[rows].mean()) / rows.sum()
        return total


def _value(samples: Sequence[Sequence[Share]]) -> float:
    return math.fsum(share.coefficient * (share.counted / share.out_of) for part in samples for share in part)


def _rates(cells: _Cells, group: str, level: float) -> GroupRates:
    own = cells.labels[cells.groups == group]
    values: dict[str, float | None] = {}
    intervals, reasons = {}, {}
    for quantity in QUANTITIES:
        if not cells.exists(quantity, group):
            missing = next(_CALLED[kind] for kind in _NEEDS[quantity] if not (own == bool(kind)).any())
            values[quantity], reasons[quantity] = None, f"{quantity} is undefined: there are no {missing} in {group}."
            continue
        samples = cells.shares(quantity, group, 1.0)
        values[quantity] = _value(samples)
        ends = (
            wilson(samples[0][0].counted, samples[0][0].out_of, level) if quantity != "dcf_u" else mover(samples, level)
        )
        intervals[quantity] = ends._replace(low=max(ends.low, 0.0))
    return GroupRates(group, int(own.sum()), int((~own).sum()), values, intervals, reasons)


def _gap(cells: _Cells, quantity: str, first: str, second: str, level: float) -> Gap:
    one, other = cells.shares(quantity, first, 1.0), cells.shares(quantity, second, 1.0)
    value, under = _value(one), _value(other)
    if cells.clusters is None:
        samples = [*one, *cells.shares(quantity, second, -1.0)]
        ends, p_value = mover(samples, level), _p_value(lambda at: mover(samples, at)[:2])
    else:
        ends, p_value = _over_clusters(cells, quantity, first, second, value - under, level)
    ratio = value / under if under > 0.0 else None
    ratio_ci = None
    if quantity != "dcf_u" and cells.clusters is None and value + under > 0.0:
        ratio_ci = ratio_interval(one[0][0][1:], other[0][0][1:], level)
    return Gap(quantity, first, second, value - under, ends, ratio, ratio_ci, p_value, p_value)


def _over_clusters(
    cells: _Cells, quantity: str, first: str, second: str, difference: float, level: float
) -> tuple[Interval, float]:
    """Student's interval from the sums of influence over groups of dependent trials."""
    from scipy.special import stdtr, stdtrit

    assert cells.clusters is not None
    moves = cells.moves(quantity, first) - cells.moves(quantity, second)
    codes = np.unique(cells.clusters, return_inverse=True)[1]
    used = np.unique(codes[(cells.groups == first) | (cells.groups == second)])
    sums = np.bincount(codes, moves)[used]
    if len(sums) < 2:
        raise UndefinedError("An interval over groups needs at least two of them.")
    error = math.sqrt(float((sums**2).sum()) * len(sums) / (len(sums) - 1))
    half = float(stdtrit(len(sums) - 1, (1.0 + level) / 2.0)) * error
    p_value = 2.0 * float(stdtr(len(sums) - 1, -abs(difference) / error)) if error > 0.0 else float(difference == 0.0)
    return Interval(difference - half, difference + half, f"student over {len(sums)} groups"), p_value


def _p_value(ends: Callable[[float], tuple[float, float]]) -> float:
    """One minus the largest level at which the interval leaves out 0."""
    low, high = 0.0, 1.0  # of the level: left out at low, held at high
    for _ in range(30):
        middle = (low + high) / 2.0
        if not 0.0 < middle < 1.0:
            break
        below, above = ends(middle)
        low, high = (middle, high) if below > 0.0 or above < 0.0 else (low, middle)
    return 1.0 - low


def _holm(gaps: list[Gap]) -> tuple[Gap, ...]:
    """Holm's correction: the k-th smallest of m p-values times m - k + 1, never falling."""
    order = sorted(range(len(gaps)), key=lambda place: gaps[place].p_value)
    largest, adjusted = 0.0, dict[int, float]()
    for rank, place in enumerate(order):
        largest = max(largest, min(1.0, gaps[place].p_value * (len(gaps) - rank)))
        adjusted[place] = largest
    return tuple(gap._replace(adjusted=adjusted[place]) for place, gap in enumerate(gaps))


def _pairs(found: list[str], reference: object) -> list[tuple[str, str]]:
    if reference is None:
        if len(found) > _MANY:
            raise InputError(f"{len(found)} groups make {len(found) * (len(found) - 1) // 2} pairs: name a reference=.")
        return list(itertools.combinations(found, 2))
    if words_of(reference) not in found:
        raise InputError(f"reference={shown(reference)} is not among the groups {', '.join(map(shown, found[:6]))}.")
    return [(name, str(reference)) for name in found if name != str(reference)]


def _groups(trials: Trials, column: str, name: str) -> NDArray[np.str_]:
    return np.asarray(names(trials.groups[group_name(column, trials.groups, name)], name).astype(str))


def _plain(value: float) -> object:
    return value if math.isfinite(value) else "inf"


__all__ = ["Gap", "GroupGaps", "GroupRates", "group_gaps"]
