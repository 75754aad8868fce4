"""Equalised: every condition weighs the same in each class, in each resample too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import Counts
from tercet._numeric.validation import shown
from tercet._typing import Floats
from tercet.errors import InputError
from tercet.trials import Trials
from tercet.uncertainty._kernel.draws import Design, row_weights
from tercet.uncertainty._kernel.engine import System
from tercet.uncertainty._rows import group_codes

Places = NDArray[np.intp]


class Equalised:
    """A system whose rates are means over the conditions; weights come class by class, and in it by condition."""

    def __init__(self, system: System, cells: Sequence[Sequence[Places]]) -> None:
        self.system, self.cells = system, cells

    def statistics(self, weights: Sequence[Counts]) -> Floats:
        """Gives every condition the same share of its class, and asks the system."""
        rows, drawn = [], iter(weights)
        for cells in self.cells:
            size = sum(map(len, cells))
            shares = np.empty(size)
            for places in cells:
                own = next(drawn)
                shares[places] = own * (size / (len(cells) * float(own.sum())))
            rows.append(shares)
        return self.system.statistics(rows)

    def named(self, raw: Floats) -> dict[str, Floats]:
        """The system's own names."""
        return self.system.named(raw)

    def units(self, units: Sequence[int]) -> list[list[int]]:
        """The independent things of each class, condition by condition."""
        count = len(self.cells[0])
        return [list(units[k * count : (k + 1) * count]) for k in range(len(self.cells))]

    def conditions(self, weights: Sequence[Counts]) -> list[dict[str, Floats]]:
        """The numbers of each condition by itself."""
        count, found = len(self.cells[0]), []
        for place in range(count):
            rows = [np.zeros(sum(map(len, cells))) for cells in self.cells]
            for k, cells in enumerate(self.cells):
                rows[k][cells[place]] = weights[k * count + place]
            found.append(self.named(self.system.statistics(rows)[None]))
        return found


def by_cell(
    trials: Trials, rows: Sequence[Places], column: str, by: Sequence[str]
) -> tuple[Design, list[list[Places]]]:
    """A design that draws within each class and condition, and where each cell's rows stand in their class."""
    conditions = group_codes(trials, column)
    count = int(conditions.max()) + 1
    cells = [[np.flatnonzero(conditions[places] == k) for k in range(count)] for places in rows]
    strata = [places[cell] for places, own in zip(rows, cells, strict=True) for cell in own]
    heavy = row_weights(trials)
    weights = tuple(None if heavy is None else heavy[places] for places in strata)
    codes = [group_codes(trials, name) for name in by]
    for name, code in zip(by, codes, strict=True):
        if min(len(np.unique(code[places])) for places in strata) < 2:
            raise InputError(
                f"by={shown(name)}: in one {shown(column)} all trials of a class sit in one group, so how they vary "
                f"from group to group cannot be known."
            )
    groups: tuple[tuple[Any, ...], ...] = tuple(tuple(code[places] for places in strata) for code in codes)
    return Design(tuple(map(len, strata)), weights, groups, tuple(int(code.max()) + 1 for code in codes)), cells
