"""Rows: the trials of each class in an order that only the scores decide, whatever the order of the input."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tercet._numeric.validation import group_name, shown
from tercet._typing import Array, Facts, Floats
from tercet.application import MulticlassApplication
from tercet.errors import InputError, UndefinedError
from tercet.metrics.tally import Tally
from tercet.trials import Trials
from tercet.uncertainty._clusters import Places, check_groups


def several(trials: Trials | Tally, apps: Sequence[object]) -> bool:
    """Whether the question is about K classes."""
    if isinstance(trials, Tally):
        return False
    return len(trials.classes) > 2 or any(isinstance(app, MulticlassApplication) for app in apps)


def one_column(trials: Trials) -> Trials:
    """Two-class trials as one column of scores."""
    return trials.versus(trials.classes[1], trials.classes[0]) if trials.is_matrix else trials


def ranked_rows(trials: Trials, by: Sequence[str]) -> tuple[Places, Places]:
    """The row numbers of non-targets and of targets, by ascending score; rows of weight 0 are left out."""
    labels = trials.known_labels()
    kept = np.ones(len(labels), np.bool_) if trials.weights is None else trials.weights > 0.0
    rows = []
    for own, called in ((~labels.astype(np.bool_), "non-targets"), (labels.astype(np.bool_), "targets")):
        places = np.flatnonzero(own & kept)
        if len(places) == 0:
            raise UndefinedError(f"There is no interval: there are no {called} among the trials.")
        rows.append(canonical(trials.scores, trials, places, by))
    return rows[0], rows[1]


def class_rows(trials: Trials, by: Sequence[str]) -> tuple[Places, ...]:
    """The row numbers of each class, in an order that depends on the scores alone; weight 0 is left out."""
    labels = trials.known_labels().astype(np.intp)
    kept = np.ones(len(labels), np.bool_) if trials.weights is None else trials.weights > 0.0
    rows = []
    for j, called in enumerate(trials.classes):
        places = np.flatnonzero((labels == j) & kept)
        if len(places) == 0:
            raise UndefinedError(f"There is no interval: there are no trials of class {shown(called)}.")
        rows.append(canonical(trials.scores, trials, places, by))
    return tuple(rows)


def canonical(scores: Floats, trials: Trials, places: Places, by: Sequence[str]) -> Places:
    """These rows by ascending scores, then group and weight, so that only rows alike in all could change places."""
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
    """[grouping][class]: the group of each row, and whether the same names stand on both sides of a trial."""
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
    return rows, tuple(np.ones(len(own)) if trials.weights is None else trials.weights[own] for own in rows)


def needs_level(ci: float | None, given: Facts) -> None:
    """Refuses what describes intervals where no level asks for any."""
    for name, value in given.items():
        if ci is None and value is not None:
            raise InputError(f"{name}= describes intervals: give their level too, such as ci=0.95.")


def grouping(by: object) -> tuple[str, ...]:
    """The names of the grouping columns: none, one, or two that cross."""
    names = () if by is None else tuple(by) if isinstance(by, list | tuple) else (by,)
    if len(names) > 2 or not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        raise InputError(f"by is None, the name of a group column, or two different ones that cross, not {shown(by)}.")
    return names
