"""Rates by name inside the resample: precision, f1, kappa and their like, by class or averaged over the classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tercet._numeric.validation import shown
from tercet._typing import Array, Counts, Floats, Reals
from tercet.decision import decide
from tercet.errors import InputError, UndefinedError
from tercet.metrics.confusion import Confusion, as_matrix
from tercet.trials import Trials
from tercet.uncertainty._kernel.drawn_runs import RunCounts
from tercet.uncertainty._kernel.engine import System

AVERAGES = ("macro", "micro", "weighted")
_OF_ALL = ("accuracy", "error_rate", "kappa", "mcc", "balanced_accuracy")  # one number for all classes


class Rated:
    """A system with rates by name beside its own numbers; decisions are taken once.

    Two classes: the target's rate. K classes: each class's rate against the rest, or "macro f1", "micro precision",
    "weighted recall". A rate that a resample leaves undefined is nan there.
    """

    def __init__(self, system: System, parts: Sequence[Trials], apps: Sequence[object], names: Sequence[str]) -> None:
        self.system, self.names, self.classes = system, tuple(names), parts[0].classes
        self.decided = [
            (tuple(as_matrix(app).renamed(self.classes).actions), [decide(part, app) for part in parts]) for app in apps
        ]
        anything = self._table(np.eye(len(self.classes)) + 1.0)
        for name in self.names:
            self._of(anything, name)  # refuses an unknown name before any resample is drawn

    def statistics(self, weights: Sequence[Counts | RunCounts]) -> dict[str, Reals]:
        """The system's own numbers, and the rates: "applications.0.precision", "applications.0.macro f1"."""
        rows = [one.rows() if isinstance(one, RunCounts) else one for one in weights]
        found = self.system.statistics(weights)
        for k, (actions, chosen) in enumerate(self.decided):
            counts = [np.bincount(own, weight, len(actions)) for own, weight in zip(chosen, rows, strict=True)]
            table = self._table(np.array(counts).T, actions)
            found |= {f"applications.{k}.{name}": self._of(table, name) for name in self.names}
        return found

    def named(self, stacked: dict[str, Floats]) -> dict[str, Floats]:
        """The system's own numbers first."""
        own = [f"applications.{k}.{name}" for k in range(len(self.decided)) for name in self.names]
        found = self.system.named({name: values for name, values in stacked.items() if name not in own})
        return found | {name: stacked[name] for name in own}

    def _table(self, counts: Array, actions: tuple[str, ...] | None = None) -> Confusion:
        target = self.classes[1] if len(self.classes) == 2 else None
        return Confusion(counts, classes=self.classes, actions=actions, target=target)

    def _of(self, table: Confusion, name: str) -> Reals:
        how, _, rest = name.partition(" ")
        try:
            if how in AVERAGES and rest:
                return table.average(rest, how)
            if len(self.classes) > 2 and name not in _OF_ALL:
                values = table.per_class(name).values()
                return np.array([np.nan if value is None else value for value in values])
            if name.startswith("_") or not isinstance(value := getattr(table, name, None), float):
                raise InputError(f"rates holds {shown(name)}, which is not a rate of a confusion matrix.")
            return value
        except UndefinedError:
            return np.nan
