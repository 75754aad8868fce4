"""ClassSummary: all that an evaluation of K classes is built from, whether the trials were in memory or scanned."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Self

import numpy as np

from tercet._numeric.exact import UNIT, ratio, shifted
from tercet._typing import Floats, Value
from tercet.errors import UndefinedError
from tercet.metrics.confusion import Confusion

Sums = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True, eq=False)
class ClassSummary:
    """Sizes, decision counts and sums of costs of K classes, all whole numbers; adds exactly with +.

    Attributes
    ----------
    sizes : tuple of int
        The weight of each class, in units of 2**unit, like all weights here.
    tables : tuple of tuple of int
        For each application the counts of (action, class), row by row.
    hits : int
        Right decisions at the data's own class frequencies with 0-1 costs.
    log_loss, brier : tuple of (int, int)
        For each class the sum of the cost where it is finite, in units of 2**-1074, and the weight where it is not.
    problem : str
        Why accuracy, log-loss and Brier score are undefined; empty where they are not.
    classes : tuple of str
        The names of the classes.
    """

    sizes: tuple[int, ...]
    unit: int
    tables: tuple[tuple[int, ...], ...]
    hits: int
    log_loss: Sums
    brier: Sums
    problem: str
    classes: tuple[str, ...]

    def __add__(self, other: ClassSummary) -> Self:
        unit = min(self.unit, other.unit)
        mine, others = self.unit - unit, other.unit - unit

        def added(one: Value, another: Value) -> Value:
            if isinstance(one, tuple):
                return tuple(added(a, b) for a, b in zip(one, another, strict=True))
            return (one << mine) + (another << others)

        names = ("tables", "hits", "log_loss", "brier")
        tables, hits, log_loss, brier = (added(getattr(self, name), getattr(other, name)) for name in names)
        sizes = added(self.sizes, other.sizes)
        problem = self.problem or other.problem
        return type(self)(sizes, unit, tables, hits, log_loss, brier, problem, self.classes)

    def share(self) -> Floats:
        """The data's own class frequencies."""
        total = sum(self.sizes)
        return np.array([size / total for size in self.sizes])

    def accuracy(self) -> float:
        """How often the largest posterior at the data's own frequencies is the true class."""
        self._check()
        return self.hits / sum(self.sizes)

    def mean_log_loss(self) -> float:
        """Mean of -ln p(class | trial) at the data's own frequencies."""
        self._check()
        return self._mean(self.log_loss)

    def mean_brier(self) -> float:
        """Mean squared distance between posteriors and truth at the data's own frequencies."""
        self._check()
        return self._mean(self.brier)

    def _check(self) -> None:
        if self.problem:
            raise UndefinedError(self.problem)

    def _mean(self, sums: Sums) -> float:
        means = [
            math.inf if infinite else ratio(total, size, UNIT) if size else 0.0
            for (total, infinite), size in zip(sums, self.sizes, strict=True)
        ]
        return math.fsum(pi * mean for pi, mean in zip(self.share().tolist(), means, strict=True) if pi > 0.0)

    def table(self, place: int, actions: tuple[str, ...]) -> Confusion:
        """The confusion matrix of one application."""
        counts = shifted(np.array(self.tables[place], np.object_), 0).reshape(len(actions), -1)
        target = self.classes[1] if len(self.classes) == 2 else None
        return Confusion._made(counts, self.classes, actions, target, self.unit)
