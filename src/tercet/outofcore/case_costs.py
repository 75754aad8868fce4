"""Costs per case of files that are read in passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from tercet._numeric.validation import instance, number, shown, shown_path
from tercet._typing import Floats
from tercet.errors import InputError
from tercet.io.read import read_chunks
from tercet.metrics.case_costs import CaseCostEvaluation, CaseCosts, case_costs_of_parts
from tercet.outofcore.chunks import Chunks
from tercet.outofcore.files import listed_files
from tercet.outofcore.scan import Scan
from tercet.trials import Trials, probability

_ROW = 512  # bytes that a row may take while its part is read and split by class
_MOST_ROWS = 1 << 20  # at a time


def scan_case_costs(
    trials: Scan, prior: float, *, cost_fn: str | float, cost_fp: str | float, cost_tp: str | float = 0.0
) -> CaseCostEvaluation:
    """What Bayes decisions on a scan cost when every case brings its own costs in a column.

    The same to the bit as `evaluate_case_costs` of the rows in memory. The files are read four times: for the sums, for
    the costs by bucket of margins, for the cases of the few buckets in which the least cost may lie, and for the
    cost there. Held are one part of the rows and the cases of these buckets, 24 bytes each.

    Parameters
    ----------
    trials : Scan
        Files of labelled two-class scores that are not raw, without weights.
    prior : float
        Prior probability of the target.
    cost_fn, cost_fp : str or float
        Cost of a miss and of a false alarm: the name of a column, or one number.
    cost_tp : str or float, optional
        Cost of a hit.

    Returns
    -------
    CaseCostEvaluation
        Costs per case, without intervals.

    Examples
    --------
    >>> import tempfile, pathlib, tercet as tc
    >>> file = pathlib.Path(tempfile.mkdtemp()) / "cases.csv"
    >>> _ = file.write_text("score,label,amount\\n-3,1,90\\n4,1,50\\n2,0,90\\n-2,0,50\\n")
    >>> scan_case_costs(tc.scan(file), 0.5, cost_fn="amount", cost_fp=10).cost    # (90/2 + 10/2) / 2
    25.0
    """
    found = instance(trials, Scan, "trials", "Trials in memory go to evaluate_case_costs.")
    if isinstance(found.source, Chunks) or found.several:
        raise InputError("Costs per case are read from columns of files of two classes.")
    share = probability(prior, "prior")
    given = {"cost_fn": cost_fn, "cost_fp": cost_fp, "cost_tp": cost_tp}
    asked = {name: one if isinstance(one, str) else number(one, name) for name, one in given.items()}
    columns = list(dict.fromkeys(one for one in asked.values() if isinstance(one, str)))
    if not columns:
        raise InputError("cost_fn, cost_fp and cost_tp are all numbers: evaluate the scan at an Application instead.")
    files, rows = listed_files(found.source), max(min(found.memory_limit // _ROW, _MOST_ROWS), 1)

    def parts() -> Iterator[tuple[Trials, CaseCosts]]:
        for file in files:
            first = 0
            for part in _named(read_chunks(file, rows, **{**found.options, "group_columns": columns}), asked):
                own = {name: _numbers(part, one) if isinstance(one, str) else one for name, one in asked.items()}
                yield part, _part(share, own, file, first)
                first += len(part)

    return case_costs_of_parts(parts, share)


def _part(prior: float, costs: Mapping[str, float | Floats], file: object, first: int) -> CaseCosts:
    """The costs of some rows of a file; those that cannot be meant are refused with where these rows begin."""
    try:
        return CaseCosts._part(prior, **costs)
    except InputError as error:
        raise InputError(f"{shown_path(file)}, rows from {first} on: {error}") from None


def _named(parts: Iterator[Trials], asked: Mapping[str, str | float]) -> Iterator[Trials]:
    """The parts; a column that is not there is refused in the name of its argument."""
    try:
        yield from parts
    except InputError as error:
        for name, column in asked.items():
            if isinstance(column, str) and f"no column {shown(column)[:8]}" in str(error):
                raise InputError(f"{name}={shown(column)} must be a column or a number: {error}") from None
        raise


def _numbers(part: Trials, name: str) -> Floats:
    try:
        return part.groups[name].astype(np.float64)
    except ValueError as error:
        raise InputError(f"The column {name!a} of costs must hold numbers: {error}.") from None
