"""Cases by class: how far each llr is above its threshold, and what both decisions cost."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import as_integers, exact_dot, exact_sum
from tercet._numeric.parallel import over_parts
from tercet._typing import Counts, Floats
from tercet.application import Application
from tercet.trials import Trials

if TYPE_CHECKING:
    from tercet.metrics.case_costs import CaseCosts

Flags = NDArray[np.bool_]
BLOCK = 1 << 14  # rows at a time, so that they stay in the cache
ALL = slice(None)


class Side(NamedTuple):
    """One class's cases: how far the llr is above its threshold, costs of both decisions, weights as whole numbers."""

    margins: Floats  # llr - threshold: its sign is that of the comparison
    blind: Flags  # accepted without the score
    open: Flags | bool  # can be accepted at all
    accept: Floats | float
    reject: Floats | float
    weights: Counts | None
    size: int

    @classmethod
    def of(cls, columns: list[Any]) -> Side:
        """The cases of these columns, in the order of the fields."""
        margins, blind, can, accept, reject, weights = columns
        size = len(margins) if weights is None else int(weights.sum())
        return cls(margins, blind, can, accept, reject, weights, size)

    def paid(self, accepted: Flags) -> int:
        """What decisions cost in all, in units of 2**-1074."""
        return self.total(self.accept, accepted) + self.total(self.reject, ~accepted)

    def total(self, costs: Floats | float, rows: Flags | slice = ALL) -> int:
        """The exact sum of a cost over some cases."""
        if isinstance(costs, float):
            if costs == 0.0:
                return 0
            some = self.size if isinstance(rows, slice) else int(rows.sum())
            count = some if self.weights is None else int(self.weights[rows].sum())
            return count * exact_sum(np.array([costs]))
        places = rows if isinstance(rows, slice) else np.flatnonzero(rows)
        return exact_sum(costs[places]) if self.weights is None else exact_dot(costs[places], self.weights[places])

    def accepted_by_all(self) -> Flags:
        """Accepting every case that can be accepted."""
        return np.broadcast_to(np.asarray(self.open), self.margins.shape)

    def prices(self, rows: slice = ALL) -> Floats:
        """What an error costs more than the right decision; 0 where there is no choice."""
        accept, reject = (one[rows] if isinstance(one, np.ndarray) else one for one in (self.accept, self.reject))
        free = isinstance(reject, float) and reject == 0.0
        price = np.broadcast_to(accept if free else np.abs(np.asarray(reject) - accept), self.margins[rows].shape)
        if self.open is not True:
            price = np.where(self.open[rows] if isinstance(self.open, np.ndarray) else self.open, price, 0.0)
        return np.asarray(price)

    def total_price(self) -> int:
        """The sum of all prices, in units of 2**-1074."""
        free = any(isinstance(cost, float) and cost == 0.0 for cost in (self.accept, self.reject))
        if self.open is True and free:
            return self.total(self.accept) + self.total(self.reject)
        return self.total(self.prices())


class Split(NamedTuple):
    """Cases by class, and the prior that joins the classes' means."""

    targets: Side
    nontargets: Side
    prior: float
    unit: int

    @classmethod
    def of(cls, trials: Trials, costs: CaseCosts, same: Application | None = None) -> Split:
        """The cases by class; `same` is the ordinary application that the costs of all cases are, if they are one."""
        labels, llr = trials.known_labels().astype(np.bool_, copy=False), trials.llr
        weights, unit = _row_weights(trials)
        limits = costs._limits() if same is None else lambda rows: np.float64(same.threshold)
        all_open = same is not None or bool(np.all(costs._net_miss() > 0.0))

        def own(values: object, rows: slice) -> Any:
            return values[rows] if isinstance(values, np.ndarray) else values

        def columns(rows: slice) -> list[list[Any]]:
            limit = np.broadcast_to(limits(rows), llr[rows].shape)
            judged = [_margins(llr[rows], limit), limit < 0.0, all_open or limit < math.inf]
            accept_reject = ((costs.cost_tp, costs.cost_fn), (costs.cost_fp, 0.0))
            return [[*judged, *(own(values, rows) for values in (*pair, weights))] for pair in accept_reject]

        targets, nontargets = (Side.of(one) for one in _parted(labels, columns))
        return cls(targets, nontargets, costs.prior, unit)

    @property
    def sides(self) -> tuple[Side, Side]:
        """Targets and non-targets."""
        return self.targets, self.nontargets

    def accepted(self, shift: float = 0.0) -> tuple[Flags, Flags]:
        """Decisions when every threshold is shifted; -inf accepts all that can be accepted."""
        if shift == -math.inf:
            return self.targets.accepted_by_all(), self.nontargets.accepted_by_all()
        return self.targets.margins > shift, self.nontargets.margins > shift

    def paid(self, accepted: tuple[Flags, Flags]) -> tuple[Floats, Floats]:
        """What decisions on each case cost."""
        target, nontarget = (
            np.where(mask, side.accept, side.reject) for side, mask in zip(self.sides, accepted, strict=True)
        )
        return target, nontarget


def _margins(llr: Floats, limits: Floats) -> Floats:
    """llr - threshold; a case that is always rejected, or where both are infinite alike, has none: -inf."""
    with np.errstate(invalid="ignore", over="ignore"):
        found = llr - limits
    lost = np.isnan(found)
    if lost.any():
        found[lost] = -math.inf
    return found


def blocks(part: slice, size: int = BLOCK) -> Iterator[slice]:
    """Blocks of rows, small enough for their results to stay in the cache."""
    for first in range(part.start, part.stop, size):
        yield slice(first, min(first + size, part.stop))


def _parted(labels: Flags, columns: Callable[[slice], list[list[Any]]]) -> list[list[Any]]:
    """The columns of targets and of non-targets, made from blocks of rows; what is not an array stays as it is."""
    count = int(labels.sum())
    made = [
        [np.empty(size, one.dtype) if isinstance(one, np.ndarray) else one for one in of]
        for size, of in zip((count, len(labels) - count), columns(slice(0, 0)), strict=True)
    ]

    def fill(part: slice) -> None:
        before = int(labels[: part.start].sum())
        ends = [before, part.start - before]
        for rows in blocks(part):
            mask = labels[rows]
            for place, (chosen, of) in enumerate(zip((mask, ~mask), columns(rows), strict=True)):
                found = np.flatnonzero(chosen)
                into = slice(ends[place], ends[place] + len(found))
                for room, values in zip(made[place], of, strict=True):
                    if isinstance(room, np.ndarray):
                        room[into] = values[found]
                ends[place] = into.stop

    over_parts(fill, len(labels))
    return made


def _row_weights(trials: Trials) -> tuple[Counts | None, int]:
    """Weights as whole multiples of 2**unit, rows of weight 0 included."""
    if trials.weights is None:
        return None, 0
    kept = trials.weights > 0.0
    integers, unit = as_integers(trials.weights[kept])
    rows: Counts = np.zeros(len(kept), integers.dtype)
    rows[kept] = integers
    return rows, unit
