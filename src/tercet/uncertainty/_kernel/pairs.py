"""Pairing: the same trials of several systems, brought into one order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.validation import shown
from tercet.errors import InputError, UndefinedError
from tercet.trials import Trials
from tercet.uncertainty._rows import canonical

Places = NDArray[np.intp]
_WAY_OUT = "Give both the same trials, or say that they are independent sets (unpaired=True, --unpaired)."


def matched(systems: Sequence[Trials], names: Sequence[str]) -> list[Trials]:
    """Every system's trials in the order of the first one's: matched by ids, else by position when labels agree."""
    first = systems[0]
    found = [first]
    for trials, name in zip(systems[1:], names[1:], strict=True):
        other = trials if first.ids is None and trials.ids is None else _by_ids(first, trials, names[0], name)
        _check_same(first, other, names[0], name)
        found.append(other)
    return found


def _by_ids(first: Trials, second: Trials, name: str, other: str) -> Trials:
    if first.ids is None or second.ids is None:
        without = name if first.ids is None else other
        raise InputError(f"Trials cannot be matched: {shown(without)} has no ids and the other system has. {_WAY_OUT}")
    ours, theirs = first.ids.astype(str), second.ids.astype(str)
    order = np.argsort(theirs, kind="stable")
    for ids, called in ((np.sort(ours), name), (theirs[order], other)):
        if (ids[1:] == ids[:-1]).any():
            raise InputError(f"ids of {shown(called)} are not distinct, so trials cannot be matched by them.")
    place = np.searchsorted(theirs[order], ours)
    there = theirs[order][np.minimum(place, len(theirs) - 1)] == ours if len(theirs) else np.zeros(len(ours), np.bool_)
    lacking = np.flatnonzero(~there)
    if len(lacking) or len(ours) != len(theirs):
        raise InputError(
            f"Systems are compared on the same trials: {len(lacking)} of the {len(ours)} trials of {shown(name)}"
            f"{f' (the first in row {lacking[0]})' if len(lacking) else ''} are not among the {len(theirs)} of "
            f"{shown(other)}. {_WAY_OUT}"
        )
    return second.select(order[place])


def _check_same(first: Trials, second: Trials, name: str, other: str) -> None:
    if len(first) != len(second):
        raise InputError(
            f"Systems are compared on the same trials: {shown(name)} has {len(first)}, {shown(other)} {len(second)}. "
            f"{_WAY_OUT}"
        )
    if len(first.classes) != len(second.classes):
        raise InputError(f"{shown(name)} and {shown(other)} have different numbers of classes.")
    differ = np.flatnonzero(first.known_labels() != second.known_labels())
    if len(differ):
        raise InputError(
            f"Labels of {shown(name)} and {shown(other)} differ in {len(differ)} trials, the first in row {differ[0]}: "
            f"they are not the same trials in the same order. Give ids to match by."
        )
    heavy = [trials.weights if trials.weights is not None else np.ones(len(trials)) for trials in (first, second)]
    if not np.array_equal(heavy[0], heavy[1]):
        raise InputError(f"Weights of {shown(name)} and {shown(other)} differ, and a trial has only one.")


def shared_rows(systems: Sequence[Trials], groups: Trials, by: Sequence[str]) -> tuple[Places, ...]:
    """The row numbers of each class, in an order that depends on scores and groups alone; weight 0 is left out."""
    first = systems[0]
    labels = first.known_labels().astype(np.intp)
    kept = np.ones(len(labels), np.bool_) if first.weights is None else first.weights > 0.0
    table = np.concatenate([trials.scores.reshape(len(trials), -1) for trials in systems], axis=1)
    rows = []
    for j, called in enumerate(first.classes):
        places = np.flatnonzero((labels == j) & kept)
        if len(places) == 0:
            raise UndefinedError(f"There is nothing to compare: there are no trials of class {shown(called)}.")
        rows.append(canonical(table, groups, places, by))
    return tuple(rows)
