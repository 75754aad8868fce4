"""The rows of paired systems, in an order that depends on scores and groups alone."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.validation import shown
from tercet.errors import UndefinedError
from tercet.trials import Trials
from tercet.uncertainty._rows import canonical

Places = NDArray[np.intp]


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
