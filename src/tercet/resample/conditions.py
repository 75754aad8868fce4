"""Enough data? And results by condition: any column of groups, with pooled and equalised costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet.application import Application, normalised_dcf
from tercet.arrays import frozen, shown
from tercet.errors import InputError, UndefinedError
from tercet.evaluate import Evaluation, MulticlassEvaluation, evaluate
from tercet.intervals import enough_errors
from tercet.trials import Trials

ENOUGH = 30


class Needed(NamedTuple):
    """Trials of each class, and which rule asked for them: the half-width or at least 30 expected errors."""

    targets: int
    nontargets: int
    targets_for: str
    nontargets_for: str


def needed(fnr: float, fpr: float, application: object, half_width: float, level: float = 0.95) -> Needed:
    """How many independent trials give the normalised DCF an interval of +- half_width, at the least total.

    n_T = A (A + B) (z / h)^2 and n_F = B (A + B) (z / h)^2, A and B the standard deviations that one target and one
    non-target bring into the cost; and by the rule of 30 at least 30 expected errors of each kind.

    >>> needed(0.1, 0.1, (0.5, 1, 1), 0.02)[:2]
    (1729, 1729)
    """
    from scipy.special import ndtri

    app = Application.of(application)
    app.check_normaliser()
    for name, rate in (("fnr", fnr), ("fpr", fpr)):
        if not 0.0 < rate < 1.0:
            raise InputError(f"{name} must be the error rate you expect, strictly between 0 and 1, not {rate}.")
    if not 0.0 < half_width < math.inf or not 0.0 < level < 1.0:
        raise InputError(f"half_width must be positive and level between 0 and 1, not {half_width} and {level}.")
    spread = (math.sqrt(fnr * (1.0 - fnr)), math.sqrt(fpr * (1.0 - fpr)))
    a, b = float(normalised_dcf(app.log_odds, spread[0], 0.0)), float(normalised_dcf(app.log_odds, 0.0, spread[1]))
    scale = (a + b) * (float(ndtri((1.0 + level) / 2.0)) / half_width) ** 2
    sizes = [(math.ceil(part * scale), math.ceil(ENOUGH / rate)) for part, rate in ((a, fnr), (b, fpr))]
    words = ["half-width" if width >= rule else "rule of 30" for width, rule in sizes]
    return Needed(max(sizes[0]), max(sizes[1]), words[0], words[1])


def too_few_errors(evaluation: Evaluation | MulticlassEvaluation) -> tuple[str, ...]:
    """A warning for each number that rests on fewer than 30 errors: it may be off by more than 30 %.

    >>> trials = Trials.of_llr([2.0, -1.0], [1, 0])
    >>> too_few_errors(evaluate(trials, [(0.5, 1, 1)]))[0]
    'applications.0: 0 misses and 0 false alarms, fewer than 30: fnr, fpr and dcf are badly known'
    """
    warnings = []
    rows: tuple[Any, ...] = evaluation.applications
    for k, row in enumerate(rows):
        if isinstance(evaluation, MulticlassEvaluation):
            errors = _wrong(row.confusion, row.actions, evaluation.classes)
            if not enough_errors(errors):
                warnings.append(
                    f"applications.{k}: {errors:g} errors, fewer than {ENOUGH}: risk and dcf are badly known"
                )
            continue
        if row.confusion is None:
            continue
        counts = {"misses": row.confusion[0][1], "false alarms": row.confusion[1][0]}
        few = [f"{count:g} {kind}" for kind, count in counts.items() if not enough_errors(count)]
        names = [name for name, kind in (("fnr", "misses"), ("fpr", "false alarms")) if not enough_errors(counts[kind])]
        if few:
            known = f"{', '.join(names)} and dcf are badly known"
            warnings.append(f"applications.{k}: {' and '.join(few)}, fewer than {ENOUGH}: {known}")
    return tuple(warnings)


def _wrong(confusion: Any, actions: Any, classes: Any) -> Any:
    """Decisions for a class that is not the true one."""
    return sum(
        count
        for action, row in zip(actions, confusion, strict=True)
        for name, count in zip(classes, row, strict=True)
        if action != name
    )


@dataclass(frozen=True, eq=False, repr=False)
class Conditions:
    """Evaluations by condition; of everything pooled; and equalised, every condition weighing the same.

    A condition without a class has no evaluation; `undefined` says why. The equalised one leaves it out.
    """

    column: str
    results: Mapping[str, Any]
    undefined: Mapping[str, str]
    pooled: Any
    equalised: Any

    def to_dict(self) -> dict[str, Any]:
        """The conditions as JSON knows them."""
        return {
            "column": self.column,
            "conditions": {name: one.to_dict() for name, one in self.results.items()},
            "undefined": dict(self.undefined),
            "pooled": self.pooled.to_dict(),
            "equalised": None if self.equalised is None else self.equalised.to_dict(),
        }

    def __repr__(self) -> str:
        rows = [f"{self.column} = {shown(name)[1:-1]}: {one}" for name, one in self.results.items()]
        rows += [f"{self.column} = {shown(name)[1:-1]}: undefined, {why}" for name, why in self.undefined.items()]
        return "\n".join([*rows, f"pooled: {self.pooled}", f"equalised: {self.equalised}"])


def by_condition(trials: Trials, column: str, applications: Iterable[object] = (), **options: Any) -> Conditions:
    """Results for each value of a group column, pooled, and equalised.

    Equalised: each condition's trials of a class share one weight, so that its error rates are means over conditions.

    >>> trials = Trials.of_llr([1., -1., 1., 1., 2.], [1, 1, 0, 1, 1], groups={"site": list("aaabb")})
    >>> found = by_condition(trials, "site", [(0.5, 1, 1)])
    >>> found.results["a"].applications[0].fnr, found.undefined["b"]
    (0.5, 'There is no curve, EER, AUC or cost: there are no non-targets among the trials.')
    """
    if column not in trials.groups:
        known = ", ".join(map(shown, trials.groups)) or "none"
        raise InputError(f"column={shown(column)} is not among the groups of these trials ({known}).")
    apps = list(applications) if not isinstance(applications, str) else [applications]
    values = trials.groups[column].astype(str)
    results: dict[str, Any] = {}
    undefined: dict[str, str] = {}
    for name in np.unique(values).tolist():
        part = trials.select(values == name)
        try:
            _need_every_class(part)
            results[name] = evaluate(part, apps, **options)
        except UndefinedError as error:
            undefined[name] = str(error)
    equalised = evaluate(_equalised(trials, values, list(results)), apps, **options) if results else None
    return Conditions(
        column, MappingProxyType(results), MappingProxyType(undefined), evaluate(trials, apps, **options), equalised
    )


def _need_every_class(part: Trials) -> None:
    """K-class evaluations say what is undefined inside; a missing class makes them no condition to average."""
    sizes = np.bincount(part.known_labels(), minlength=len(part.classes))
    if len(part.classes) > 2 and (sizes == 0).any():
        raise UndefinedError(f"there are no trials of class {shown(part.classes[int(sizes.argmin())])}.")


def _equalised(trials: Trials, values: NDArray[Any], names: list[str]) -> Trials:
    """The trials of these conditions, weighted so that each has the same weight in each class.

    Whole multiples of a power of two, as fine as 64-bit sums allow.
    """
    kept = trials.select(np.isin(values, names))
    codes = np.unique(values[np.isin(values, names)], return_inverse=True)[1]
    cells = codes * len(kept.classes) + kept.known_labels().astype(np.intp)
    own = np.ones(len(kept)) if kept.weights is None else kept.weights
    sums = np.bincount(cells, own)
    share = own * (sums.max() / sums[cells])
    grid = 2.0 ** min(60 - math.ceil(math.log2(max(share.sum(), 2.0))), 40)
    return replace(kept, weights=frozen(np.rint(share * grid) / grid))
