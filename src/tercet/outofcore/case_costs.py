"""Costs per case of files that are read in passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from tercet._numeric.validation import shown, shown_path
from tercet._typing import Facts
from tercet.errors import InputError
from tercet.io._trial_columns import group_numbers
from tercet.io.read import read_chunks
from tercet.metrics.case_costs import CaseCostColumns, CaseCosts, Parts
from tercet.trials import Trials

_ROW = 512  # bytes that a row may take while its part is read and split by class
_MOST_ROWS = 1 << 20  # at a time


def case_parts(files: Sequence[Path], options: Facts, memory: int, costs: CaseCostColumns) -> Parts:
    """The cases of files with their costs, part by part as often as they are asked for."""
    asked, columns = costs.costs, costs.columns
    rows = max(min(memory // _ROW, _MOST_ROWS), 1)

    def parts() -> Iterator[tuple[Trials, CaseCosts]]:
        for file in files:
            first = 0
            for part in _named(read_chunks(file, rows, **{**options, "group_columns": columns}), asked):
                yield part, _part(part, costs, file, first)
                first += len(part)

    return parts


def _part(part: Trials, costs: CaseCostColumns, file: object, first: int) -> CaseCosts:
    """The costs of some rows of a file; invalid ones are refused with the number of the first of these rows."""
    try:
        own = {
            name: group_numbers(part, one, "costs") if isinstance(one, str) else one
            for name, one in costs.costs.items()
        }
        return CaseCosts._part(costs.prior, **own)
    except InputError as error:
        raise InputError(f"{shown_path(file)}, rows from {first} on: {error}") from None


def _named(parts: Iterator[Trials], asked: Mapping[str, str | float]) -> Iterator[Trials]:
    """The parts; for a missing column the error names the argument."""
    try:
        yield from parts
    except InputError as error:
        for name, column in asked.items():
            if isinstance(column, str) and f"no column {shown(column)[:8]}" in str(error):
                raise InputError(f"{name}={shown(column)} must be a column or a number: {error}") from None
        raise
