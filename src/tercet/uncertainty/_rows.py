"""Rows: the trials of each class in an order that depends on the scores, not on the order of the input."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from tercet._numeric.validation import group_name, shown
from tercet._typing import Array, Facts, Floats
from tercet.application import MulticlassApplication
from tercet.errors import InputError, UndefinedError
from tercet.metrics.tally import Tally
from tercet.trials import Trials, two_class
from tercet.uncertainty._clusters import Clusters, Moments, Places, check_groups, is_fractional


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
