"""Rates by name inside the resample: precision, f1, kappa and their like, by class or averaged over the classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from tercet._numeric.validation import shown
from tercet._typing import Array, Counts, Floats
from tercet.decision import decide
from tercet.errors import InputError, UndefinedError
from tercet.metrics.confusion import Confusion, as_matrix
from tercet.trials import Trials
from tercet.uncertainty._kernel.drawn_runs import RunCounts
from tercet.uncertainty._kernel.engine import System

AVERAGES = ("macro", "micro", "weighted")
_OF_ALL = ("accuracy", "error_rate", "kappa", "mcc", "balanced_accuracy")  # one number for all classes


class Decided(NamedTuple):
    """The decisions of one application on the rows of each class."""

    actions: tuple[str, ...]
    chosen: tuple[Array, ...]


class Rated:
    """A system of which rates are asked by name beside its own numbers; decisions are taken once.

    Two classes: the target's rate. K classes: each class's rate against the rest, or "macro f1", "micro precision",
    "weighted recall". A rate that a resample leaves undefined is nan there.
    """

    def __init__(self, system: System, parts: Sequence[Trials], apps: Sequence[object], names: Sequence[str]) -> None:
        self.system, self.names, self.classes = system, tuple(names), parts[0].classes
        self.decided = [_decided(parts, app) for app in apps]
        for name in self.names:
            self._of(_diagonal(self.classes), name)  # refuses an unknown name before any resample is drawn

    def statistics(self, weights: Sequence[Counts | RunCounts]) -> Floats:
        """The system's own numbers, then the rates of each application's decisions."""
        rows = [one.rows() if isinstance(one, RunCounts) else one for one in weights]
        rates = [self._of(table, name) for table in self.tables(rows) for name in self.names]
        return np.concatenate([self.system.statistics(weights), *rates])

    def named(self, raw: Floats) -> dict[str, Floats]:
        """The columns by name: "applications.0.precision", "applications.0.macro f1"."""
        widths = [len(self._of(_diagonal(self.classes), name)) for name in self.names]
        used = raw.shape[1] - sum(widths) * len(self.decided)
        found = self.system.named(raw[:, :used])
        for k in range(len(self.decided)):
            for name, width in zip(self.names, widths, strict=True):
                columns = raw[:, used : used + width]
                found[f"applications.{k}.{name}"] = columns if len(self.classes) > 2 and width > 1 else columns[:, 0]
                used += width
        return found

    def tables(self, weights: Sequence[Counts]) -> list[Confusion]:
        """The confusion matrix of each application's decisions."""
        found = []
        for actions, chosen in self.decided:
            counts = [np.bincount(own, rows, len(actions)) for own, rows in zip(chosen, weights, strict=True)]
            found.append(Confusion(np.array(counts).T, classes=self.classes, actions=actions, target=self._target()))
        return found

    def _target(self) -> str | None:
        return self.classes[1] if len(self.classes) == 2 else None

    def _of(self, table: Confusion, name: str) -> Floats:
        how, _, rest = name.partition(" ")
        try:
            if how in AVERAGES and rest:
                return np.array([table.average(rest, how)])
            if len(self.classes) > 2 and name not in _OF_ALL:
                values = table.per_class(name).values()
                return np.array([np.nan if value is None else value for value in values])
            if name.startswith("_") or not isinstance(value := getattr(table, name, None), float):
                raise InputError(f"rates holds {shown(name)}, which is no rate of a confusion matrix.")
            return np.array([value])
        except UndefinedError:
            return np.array([np.nan])


def _decided(parts: Sequence[Trials], app: object) -> Decided:
    matrix = as_matrix(app).renamed(parts[0].classes)
    return Decided(tuple(matrix.actions), tuple(np.asarray(decide(part, app), np.intp) for part in parts))


def _diagonal(classes: Sequence[str]) -> Confusion:
    return Confusion(np.eye(len(classes)) + 1.0, classes=classes, target=classes[1] if len(classes) == 2 else None)


def defined(columns: Mapping[str, Floats], points: Mapping[str, Floats]) -> tuple[list[str], list[str]]:
    """The names whose number exists in the sample, and those it leaves undefined."""
    whole = {name: points[name].ndim > 1 or not np.isnan(points[name]).any() for name in columns}
    return [name for name in columns if whole[name]], [name for name in columns if not whole[name]]
