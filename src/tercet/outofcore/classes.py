"""Several classes by passes over all rows: first the sizes of the classes, then decisions and costs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from tercet.application import MulticlassApplication
from tercet.decision import class_summary
from tercet.errors import InputError, UndefinedError
from tercet.metrics.costs import class_prior_of
from tercet.metrics.summary import ClassSummary
from tercet.outofcore.plain_data import Plain, PlainState
from tercet.outofcore.runner import CHANGED, Passes

if TYPE_CHECKING:
    from tercet.outofcore.runner import Part


@dataclass(frozen=True, slots=True, eq=False)
class ClassTotals(ClassSummary, PlainState):
    """The summary of some parts."""

    @classmethod
    def of_part(cls, part: Part, job: Plain) -> ClassTotals:
        """The summary of one part, in blocks of rows, because each row has one number per class."""
        if job["labels_only"] and (sizes := part.class_sizes()) is not None:
            return cls.of_sizes(*sizes)
        share = None if job["share"] is None else np.array(job["share"])
        apps = [
            MulticlassApplication(np.array(prior), np.array(costs), tuple(classes), tuple(actions))
            for prior, costs, classes, actions in job["applications"]
        ]
        found = reduce(add, (class_summary(rows, share, apps, job["why"]) for rows in part.class_rows()))
        return cls(**{field.name: getattr(found, field.name) for field in fields(found)})

    @classmethod
    def of_sizes(cls, sizes: list[int], classes: tuple[str, ...]) -> ClassTotals:
        """The summary of rows without weights of which only the labels are known."""
        nothing = ((0, 0),) * len(sizes)
        return cls(tuple(sizes), 0, (), 0, nothing, nothing, "", classes)


def scanned_classes(passes: Passes, applications: Sequence[MulticlassApplication]) -> tuple[ClassTotals, int]:
    """The summary of all rows, and how many passes it took: one, or two where the labels had to be counted first."""
    plain = [[app.prior.tolist(), app.costs.tolist(), list(app.classes), list(app.actions)] for app in applications]
    known, counted = passes.class_sizes(), 0
    sizes: ClassTotals | None = None if known is None else ClassTotals.of_sizes(*known)
    if sizes is None:
        sizes, counted = passes.total(ClassTotals, share=None, applications=[], why="", labels_only=True), 1
    if sizes is None or not any(sizes.sizes):
        raise UndefinedError("There is nothing to evaluate: there are no trials.")
    why, share = "", None
    try:
        share = class_prior_of(list(sizes.sizes), sizes.classes).tolist()
    except UndefinedError as error:
        why = str(error)
    found: ClassTotals = passes.total(ClassTotals, share=share, applications=plain, why=why, labels_only=False)
    if found.sizes != sizes.sizes or found.unit != sizes.unit:
        raise InputError(CHANGED)
    return found, 1 + counted
