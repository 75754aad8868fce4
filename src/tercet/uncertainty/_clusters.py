"""Clusters: means over classes whose rows vary together, and how much the means vary.

One grouping: the delete-one-group jackknife. Two that cross: the jackknives of both, minus that of their cells
(Cameron, Gelbach and Miller 2011; MacKinnon, Nielsen and Webb 2024), or, where the same names occur on both sides, the
dyadic form of Aronow, Samii and Assenova (2015). Real weights: each row is a group. Degrees of freedom are those of
Bell and McCaffrey (2002), which are fewer the more the groups differ in size.

Rows, too: the trials of each class in an order that depends on the scores, not on the order of the input.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.validation import group_name, shown
from tercet._typing import Array, Facts, Floats
from tercet.application import MulticlassApplication
from tercet.errors import InputError, TercetError, UndefinedError
from tercet.metrics.tally import Tally
from tercet.trials import Trials, two_class

Places = NDArray[np.intp]
ONE_GROUP = "all trials of a class are in one group, so the variation between groups cannot be estimated"
_CORRELATED = 4  # the fewest groups with which Fisher's z of a correlation has a variance
_MODERATE = 300  # exponents of weights whose squares, and their sums, are doubles


class Way(NamedTuple):
    """One way of grouping the rows: group numbers of each class's rows, added or taken off the variance."""

    codes: tuple[tuple[Places, ...], ...]  # [class][membership]: a row of a pair belongs to two groups
    groups: int
    sign: float

    def sums(self, place: int, values: Floats, rows: slice = slice(None)) -> Floats:
        """The sum of the values over each group, of some rows of one class."""
        total = np.zeros(self.groups)
        for codes in self.codes[place]:
            total += np.bincount(codes[rows], values, self.groups)[: self.groups]  # numbers beyond belong to no group
        return total


class Moments(NamedTuple):
    """Means, their covariance matrix, and the number of groups that it comes from."""

    means: Floats
    covariance: Floats
    groups: int
    by_grouping: tuple[Floats, ...] = ()  # the covariance by each of two groupings that cross

    def variance_of_sum(self) -> float:
        """The variance of the sum of all means; with two groupings that cross, not below that of either."""
        return max(float(one.sum()) for one in (self.covariance, *self.by_grouping))

    def correlations(self) -> Floats:
        """0 where a mean has no variance, and from fewer than four groups: two always correlate fully."""
        if self.groups < _CORRELATED:
            return np.eye(len(self.means))
        spread = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        with np.errstate(divide="ignore", invalid="ignore"):
            found = self.covariance / np.outer(spread, spread)
        return np.asarray(np.clip(np.nan_to_num(found, nan=0.0, posinf=0.0, neginf=0.0), -1.0, 1.0))


@dataclass(frozen=True, eq=False)
class Clusters:
    """The rows of each class in one order, their weights, and the ways in which they are grouped."""

    ways: tuple[Way, ...]
    weights: tuple[Floats, ...]
    freedoms: tuple[float, ...]  # degrees of freedom, by class
    groups: tuple[int, ...]  # how many there are, by class
    units: tuple[float, ...]  # groups of each class, counted by weight (Kish)
    rows: tuple[float, ...]  # rows of each class, counted by weight

    @classmethod
    def of(cls, codes: Sequence[Sequence[Places]], weights: Sequence[Floats], dyadic: bool = False) -> Clusters:
        """codes[grouping][class]; without groupings every row is a group of its own."""
        weights = _moderate(weights)
        if not codes:
            starts = np.cumsum([0, *map(len, weights)])
            codes = [[np.arange(start, start + len(own)) for start, own in zip(starts[:-1], weights, strict=True)]]
        single = [Way(tuple((own,) for own in one), _count(one), 1.0) for one in codes]
        ways = single
        if len(codes) == 2:
            cells = _cells(codes[0], codes[1], dyadic)
            both = Way(tuple((own,) for own in cells), len(np.unique(np.concatenate(cells))), -1.0)
            ways = [_pairs(codes[0], codes[1]), both] if dyadic else [*single, both]
        kish = [[_kish(way.sums(place, own)) for way in single] for place, own in enumerate(weights)]
        sizes = [[len(np.unique(one[place])) for one in codes] for place in range(len(weights))]
        freedoms = [min(_freedom(way.sums(place, own)) for way in single) for place, own in enumerate(weights)]
        return cls(
            tuple(ways), tuple(weights), tuple(freedoms), tuple(map(min, sizes)), tuple(map(min, kish)),
            tuple(_kish(own) if is_fractional(own) else float(own.sum()) for own in weights),
        )  # fmt: skip

    def means(self, columns: Sequence[tuple[int, Floats]]) -> Moments:
        """The weighted means of columns of losses, each over the rows of one class."""
        sums = [[way.sums(place, self.weights[place] * loss) for way in self.ways] for place, loss in columns]
        values = np.array([float((self.weights[place] * loss).sum()) for place, loss in columns])
        return self._moments([place for place, _ in columns], values, sums)

    def below(self, places: Sequence[Places]) -> Iterator[Moments]:
        """For growing numbers of rows of each class, the shares of its weight among its first rows."""
        classes = range(len(places))
        sums = [[np.zeros(way.groups) for way in self.ways] for _ in classes]
        values, done = np.zeros(len(places)), [0] * len(places)
        for step in zip(*(own.tolist() for own in places), strict=True):
            for place, upto in enumerate(step):
                rows = slice(done[place], upto)
                own = self.weights[place][rows]
                values[place] += own.sum()
                for total, way in zip(sums[place], self.ways, strict=True):
                    total += way.sums(place, own, rows)
                done[place] = upto
            yield self._moments(list(classes), values, sums)

    def _moments(self, classes: Sequence[int], values: Floats, sums: Sequence[Sequence[Floats]]) -> Moments:
        """The means, and the covariance of all pairs: sum over ways of the groups' influences multiplied."""
        totals = np.array([self.weights[place].sum() for place in classes])
        means = values / totals
        covariance, single = np.zeros((len(classes), len(classes))), []
        for k, way in enumerate(self.ways):
            influence = np.array([
                self._influence(way, place, own[k], mean, total)
                for place, own, mean, total in zip(classes, sums, means, totals, strict=True)
            ])  # fmt: skip
            factor = way.groups / max(way.groups - 1.0, 1.0) if self._is_dyadic else (way.groups - 1.0) / way.groups
            part = factor * (influence @ influence.T)
            covariance += way.sign * part
            if way.sign > 0.0:
                single.append(part)
        # Differences of variances can fall below the larger of them: then that one is kept.
        most = np.max([np.diag(part) for part in (covariance, *single)], axis=0)
        np.fill_diagonal(covariance, most)
        both = () if len(single) == 1 else tuple(single)
        return Moments(means, covariance, min(way.groups for way in self.ways), both)

    @property
    def _is_dyadic(self) -> bool:
        """Whether the ways are those of pairs, and of their cells."""
        return len(self.ways) == 2

    def _influence(self, way: Way, place: int, sums: Floats, mean: float, total: float) -> Floats:
        """How much the mean moves without a group; to first order with pairs, of which a name may be in all."""
        heavy = way.sums(place, self.weights[place])
        left = total if self._is_dyadic else total - heavy
        if np.any(np.asarray(left) <= 0.0):
            raise UndefinedError(ONE_GROUP)
        return np.asarray((sums - mean * heavy) / left)


def _count(codes: Sequence[Places]) -> int:
    return max((int(own.max()) + 1 for own in codes if len(own)), default=0)


def _cells(first: Sequence[Places], second: Sequence[Places], dyadic: bool) -> list[Places]:
    """The number of each row's combination of two groups, in either order where pairs are unordered."""
    width = max(_count(first), _count(second))
    pairs = [
        np.minimum(a, b) * width + np.maximum(a, b) if dyadic else a * width + b
        for a, b in zip(first, second, strict=True)
    ]
    codes = np.unique(np.concatenate(pairs), return_inverse=True)[1].astype(np.intp)
    alone = np.concatenate([a == b for a, b in zip(first, second, strict=True)])
    if dyadic:  # such a row was counted once, under its one name
        codes[alone] = len(codes)
    return np.split(codes, np.cumsum([len(own) for own in pairs])[:-1])


def _pairs(first: Sequence[Places], second: Sequence[Places]) -> Way:
    """Every row belongs to both of its names; a row that pairs a name with itself belongs to it once."""
    count = max(_count(first), _count(second))
    members = []
    for a, b in zip(first, second, strict=True):
        members.append((a, np.where(a == b, count, b)))
    return Way(tuple(members), count, 1.0)


def _moderate(weights: Sequence[Floats]) -> Sequence[Floats]:
    """The weights, times a power of two where their squares would leave the range of doubles: only ratios count."""
    top = math.frexp(max((float(own.max()) for own in weights if len(own)), default=1.0))[1]
    return weights if abs(top) < _MODERATE else [np.ldexp(own, -top) for own in weights]


def _kish(weights: Floats) -> float:
    """The number of equal weights that vary as these do: (sum w)^2 / sum w^2."""
    return float(weights.sum() ** 2 / (weights * weights).sum())


def _freedom(weights: Floats) -> float:
    """The degrees of freedom of a jackknife variance over groups of these weights: Bell and McCaffrey (2002).

    E(V)^2 x 2 / Var(V) if a group's weighted sum is normal with a variance in proportion to its weight, as that of
    independent rows is; one less than the number of groups if they are of one size. Equal variances of rows with real
    weights would give fewer, and intervals that cover too much.

    >>> round(_freedom(np.ones(20)), 9), round(_freedom(np.r_[24.0, np.ones(24)]), 2)    # the latter: one has half
    (19.0, 2.21)
    """
    shares = weights / weights.sum()
    if (shares >= 1.0).any():
        return 0.0
    odds = shares / (1.0 - shares)
    squares = odds * odds
    return float(odds.sum() ** 2 / (squares.sum() + squares.sum() ** 2 - (squares * squares).sum()))


def is_fractional(weights: Floats) -> bool:
    """Whether a weight is no count of trials."""
    return bool((weights != np.floor(weights)).any())


def check_groups(
    codes: Sequence[Places], name: str, classes: Sequence[str],
    refusal: type[TercetError] = UndefinedError, way_out: str = "Leave by= out if the trials are independent.",
) -> None:  # fmt: skip
    """Refuses a grouping from which the variation between groups cannot be estimated."""
    for own, called in zip(codes, classes, strict=True):
        if len(np.unique(own)) < 2:
            raise refusal(
                f"by={shown(name)}: all trials of class {shown(called)} are in one group, so the variation between "
                f"groups cannot be estimated. {way_out}"
            )


def several(trials: Trials | Tally, apps: Sequence[object]) -> bool:
    """Whether the question is about K classes."""
    if isinstance(trials, Tally):
        return False
    return len(trials.classes) > 2 or any(isinstance(app, MulticlassApplication) for app in apps)


def flattened(trials: Trials, apps: Sequence[object]) -> Trials:
    """Trials as the question about them needs them: those of two classes as one column of scores."""
    return trials if several(trials, apps) else two_class(trials)


def class_rows(
    trials: Trials, by: Sequence[str] = (), scores: Floats | None = None, groups: Trials | None = None
) -> tuple[Places, ...]:
    """The row numbers of each class in canonical order; weight 0 is left out, a class without rows refused.

    The order is that of the trials' own scores and groups unless others are given.
    """
    rows, _ = rows_by_class(trials)
    own = trials.scores if scores is None else scores
    return tuple(canonical(own, groups or trials, places, by) for places in rows)


def canonical(scores: Floats, trials: Trials, places: Places, by: Sequence[str]) -> Places:
    """These rows by ascending scores, then group and weight, so that only identical rows could change places."""
    columns: list[Array] = list(scores[places].reshape(len(places), -1).T)
    columns += [group_codes(trials, name)[places] for name in by]
    columns += [] if trials.weights is None else [trials.weights[places]]
    return places[np.argsort(columns[0], kind="stable") if len(columns) == 1 else np.lexsort(columns[::-1])]


def group_codes(trials: Trials, name: str, together: Sequence[str] = ()) -> Places:
    """The number of each row's group in a column, groups in the order of their names.

    `together` numbers the names of several columns as one list, so that a name has the same number in each.
    """
    own = _group_column(trials, name)
    if not together:
        plain = own if own.dtype.kind in "iuU" else own.astype(str)
        return np.unique(plain, return_inverse=True)[1].astype(np.intp)
    own = own.astype(str)
    every = np.unique(np.concatenate([_group_column(trials, other).astype(str) for other in together]))
    return np.searchsorted(every, own).astype(np.intp)


def _group_column(trials: Trials, name: str) -> Array:
    return trials.groups[group_name(name, trials.groups, "by")]


def names_cross(trials: Trials, by: Sequence[str]) -> bool:
    """Whether two groupings share names: the same speakers on both sides of a trial."""
    first, second = (np.unique(_group_column(trials, name).astype(str)) for name in by)
    return bool(np.intersect1d(first, second).size)


def numbered_groups(
    trials: Trials, by: tuple[str, ...], rows: Sequence[Places], classes: Sequence[str]
) -> tuple[list[list[Places]], bool]:
    """[grouping][class]: the group of each row, and whether the same names occur on both sides of a trial."""
    both = len(by) == 2 and names_cross(trials, by)
    found = []
    for name in by:
        own = group_codes(trials, name, by if both else ())
        found.append([own[places] for places in rows])
        check_groups(found[-1], name, classes)
    return found, both


def rows_by_class(trials: Trials) -> tuple[tuple[Places, ...], tuple[Floats, ...]]:
    """The rows of each class in the order of the input, and their weights; rows of weight 0 are left out."""
    labels = trials.known_labels().astype(np.intp)
    kept = np.ones(len(labels), np.bool_) if trials.weights is None else trials.weights > 0.0
    rows = tuple(np.flatnonzero((labels == j) & kept) for j in range(len(trials.classes)))
    for own, called in zip(rows, trials.classes, strict=True):
        if len(own) == 0:
            raise UndefinedError(f"There is no interval: there are no trials of class {shown(called)}.")
    return rows, tuple(np.ones(len(own)) if trials.weights is None else trials.weights[own] for own in rows)


@dataclass(frozen=True, eq=False)
class SampledRows:
    """The rows of each class, their weights, and how they vary together."""

    rows: tuple[Places, ...]
    weights: tuple[Floats, ...]
    clusters: Clusters
    grouped: bool  # by groups, or by fractional weights

    @classmethod
    def of(cls, trials: Trials, by: tuple[str, ...], together: bool = False) -> Self:
        """By class, or all classes `together` for numbers at the data's own frequencies."""
        rows, weights = rows_by_class(trials)
        if together:
            rows, weights = (np.concatenate(rows),), (np.concatenate(weights),)
        codes, dyadic = numbered_groups(trials, by, rows, ("all",) if together else trials.classes)
        grouped = bool(by) or any(map(is_fractional, weights))
        return cls(rows, weights, Clusters.of(codes, weights, dyadic), grouped)

    def moments(self, columns: Sequence[tuple[int, Floats]]) -> Moments:
        """The weighted means of losses of single classes; whole weights without groups are repeated rows."""
        if self.grouped:
            return self.clusters.means(columns)
        means, variances = [], []
        for place, losses in columns:
            heavy = self.weights[place]
            size = float(heavy.sum())
            means.append(float((heavy * losses).sum()) / size)
            spread = float((heavy * (losses - means[-1]) ** 2).sum())
            variances.append(spread / (size * max(size - 1.0, 1.0)))
        return Moments(np.array(means), np.diag(variances), self.clusters.ways[0].groups)


def needs_level(ci: float | None, given: Facts) -> None:
    """Refuses options of intervals where no level was given."""
    for name, value in given.items():
        if ci is None and value is not None:
            raise InputError(f"{name}= describes intervals: give their level too, such as ci=0.95.")


def grouping(by: object) -> tuple[str, ...]:
    """The names of the grouping columns: none, one, or two that cross."""
    names = () if by is None else tuple(by) if isinstance(by, list | tuple) else (by,)
    if len(names) > 2 or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise InputError(f"by is None, the name of a group column, or two different ones that cross, not {shown(by)}.")
    return names
