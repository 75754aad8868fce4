"""Several classes by passes over all rows: first the sizes of the classes, then decisions and costs."""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import reduce
from operator import add
from typing import TYPE_CHECKING

import numpy as np

from tercet.application import MulticlassApplication
from tercet.decision import class_summary
from tercet.errors import UndefinedError
from tercet.metrics.class_summary import ClassSummary
from tercet.metrics.costs import class_prior_of
from tercet.outofcore.plain_data import Plain, PlainState
from tercet.outofcore.runner import Passes

if TYPE_CHECKING:
    from tercet.outofcore.runner import Part


@dataclass(frozen=True, slots=True, eq=False)
class ClassTotals(ClassSummary, PlainState):
    """The summary of some parts."""

    classes: tuple[str, ...] = ()

    @classmethod
    def of_part(cls, part: Part, job: Plain) -> ClassTotals:
        """The summary of one part, in blocks of rows, because each row has one number per class."""
        if job["labels_only"] and (sizes := part.class_sizes()) is not None:
            nothing = ((0, 0),) * len(sizes[0])
            return cls(tuple(sizes[0]), 0, (), (0, 0), nothing, nothing, ("", "", ""), sizes[1])
        share = None if job["share"] is None else np.array(job["share"])
        apps = [
            MulticlassApplication(np.array(prior), np.array(costs), tuple(classes), tuple(actions))
            for prior, costs, classes, actions in job["applications"]
        ]
        found, classes = [], tuple[str, ...]()
        for trials in part.trials():
            found.append(class_summary(trials, share, apps))
            classes = trials.classes
        return cls._named(reduce(add, found), classes)

    def __add__(self, other: ClassSummary) -> ClassTotals:
        return self._named(ClassSummary.__add__(self, other), self.classes)

    @classmethod
    def _named(cls, total: ClassSummary, classes: tuple[str, ...]) -> ClassTotals:
        return cls(**{field.name: getattr(total, field.name) for field in fields(ClassSummary)}, classes=classes)


def scanned_classes(
    passes: Passes, applications: list[MulticlassApplication]
) -> tuple[ClassTotals, str, dict[str, int]]:
    """The summary of all rows, why the class frequencies are undefined (else ""), and the passes that took."""
    plain = [[app.prior.tolist(), app.costs.tolist(), list(app.classes), list(app.actions)] for app in applications]
    sizes: ClassTotals | None = passes.total(ClassTotals, share=None, applications=[], labels_only=True)
    if sizes is None:
        raise UndefinedError("There is nothing to evaluate: no trials.")
    why, share = "", None
    try:
        share = class_prior_of(list(sizes.sizes), sizes.classes).tolist()
    except UndefinedError as error:
        why = str(error)
    found = passes.total(ClassTotals, share=share, applications=plain, labels_only=False)
    return found, why, {"passes": 2}
