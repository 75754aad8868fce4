"""Enough data? And results by condition: any column of groups, with pooled and equalised costs."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from tercet._numeric.validation import frozen, number, shown
from tercet.application import Application, listed, normalised_dcf
from tercet.errors import InputError, UndefinedError
from tercet.evaluation import Evaluation, MulticlassEvaluation, evaluate
from tercet.metrics.binomial import ENOUGH
from tercet.trials import Trials
from tercet.uncertainty._kernel.engine import Settings
from tercet.uncertainty._rows import group_codes
from tercet.uncertainty.bootstrap import Intervals, bootstrap, equalised, with_intervals

POOLED, EQUALISED = "pooled", "equalised"
_UNCOUNTABLE = 2.0**53  # numbers of trials from here on are not all whole in floating point
_LONG = ("curve", "histogram", "bayes_plot", "versus")


class SampleSize(NamedTuple):
    """Trials of each class, and which rule asked for them: the half-width or at least 30 expected errors."""

    targets: int
    nontargets: int
    targets_for: str
    nontargets_for: str


def sample_size(fnr: float, fpr: float, application: object, half_width: float, level: float = 0.95) -> SampleSize:
    """How many independent trials give the normalised DCF an interval of +- half_width, at the least total.

    n_T = A (A + B) (z / h)^2 and n_F = B (A + B) (z / h)^2, A and B the standard deviations that one target and one
    non-target bring into the cost; and by the rule of 30 at least 30 expected errors of each kind.

    >>> sample_size(0.1, 0.1, (0.5, 1, 1), 0.02)[:2]
    (1729, 1729)
    """
    from scipy.special import ndtri

    app = Application.of(application)
    app.check_normaliser()
    fnr, fpr, width = number(fnr, "fnr"), number(fpr, "fpr"), number(half_width, "half_width")
    for name, rate in (("fnr", fnr), ("fpr", fpr)):
        if not 0.0 < rate < 1.0:
            raise InputError(f"{name} must be the error rate you expect, strictly between 0 and 1, not {rate}.")
    if not 0.0 < width < math.inf or not 0.0 < number(level, "level") < 1.0:
        raise InputError(f"half_width must be positive and level between 0 and 1, not {half_width} and {level}.")
    spread = (math.sqrt(fnr * (1.0 - fnr)), math.sqrt(fpr * (1.0 - fpr)))
    a, b = float(normalised_dcf(app.log_odds, spread[0], 0.0)), float(normalised_dcf(app.log_odds, 0.0, spread[1]))
    reach = float(ndtri((1.0 + level) / 2.0)) / width
    counts = [(part * (a + b) * reach * reach, ENOUGH / rate) for part, rate in ((a, fnr), (b, fpr))]
    if not max(map(max, counts)) < _UNCOUNTABLE:
        raise InputError(
            f"A half-width of {width:g} at rates of {fnr:g} and {fpr:g} asks for more trials than can be counted: ask "
            f"for a wider interval."
        )
    sizes = [(math.ceil(width), math.ceil(rule)) for width, rule in counts]
    words = ["half-width" if width >= rule else "rule of 30" for width, rule in sizes]
    return SampleSize(max(sizes[0]), max(sizes[1]), words[0], words[1])


def too_few_errors(evaluation: Evaluation | MulticlassEvaluation) -> tuple[str, ...]:
    """A warning for each number that rests on fewer than 30 errors: it may be off by more than 30 %.

    >>> trials = Trials.of_llr([2.0, -1.0], [1, 0])
    >>> too_few_errors(evaluate(trials, [(0.5, 1, 1)]))[0]
    'applications.0: 0 misses and 0 false alarms, fewer than 30: fnr, fpr and dcf are badly known'
    """
    rows: tuple[Any, ...] = evaluation.applications
    return tuple(f"applications.{k}: {words}" for k, row in enumerate(rows) for words in row.warnings)


@dataclass(frozen=True, eq=False, repr=False)
class Conditions:
    """Evaluations by condition; of everything pooled; and equalised, every condition weighing the same.

    A condition without a class has no evaluation; `undefined` says why. The equalised one leaves it out. `intervals`
    holds those of "column = value", "pooled" and "equalised" where a level was given; `doubts` says why one lacks them.
    """

    column: str
    sizes: Mapping[str, Mapping[str, int]]
    results: Mapping[str, Any]
    undefined: Mapping[str, str]
    pooled: Any
    equalised: Any
    counted: Any  # the trials of the equalised one as they are, each weighing one
    intervals: Mapping[str, Intervals]
    doubts: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """One entry of "conditions" in the JSON; curves and histograms are left out."""
        rows = [
            {
                "value": name,
                "input": dict(self.sizes[name]),
                "applications": [],
                "reasons": {"applications": self.undefined[name]},
            }
            if name in self.undefined
            else {"value": name} | self._facts(f"{self.column} = {name}", self.results[name])
            for name in self.sizes
        ]
        return {
            "column": self.column,
            "rows": rows,
            "pooled": self._facts(POOLED, self.pooled),
            "equalised": None if self.equalised is None else self._facts(EQUALISED, self.equalised, self.counted),
        }

    def _facts(self, name: str, one: Any, counted: Any = None) -> dict[str, Any]:
        facts = one.to_dict()
        if counted is not None:  # weights are no numbers of trials, nor of errors
            facts["input"] = counted.input
            for row, own in zip(facts["applications"], counted.applications, strict=True):
                row["warnings"] = list(own.warnings)
        if name in self.intervals:
            facts = with_intervals(facts, self.intervals[name])
        if name in self.doubts:
            facts["reasons"] = facts.get("reasons", {}) | {"intervals": self.doubts[name]}
        return {key: value for key, value in facts.items() if key not in _LONG}

    def __repr__(self) -> str:
        rows = [f"{self.column} = {shown(name)[1:-1]}: {one}" for name, one in self.results.items()]
        rows += [f"{self.column} = {shown(name)[1:-1]}: undefined, {why}" for name, why in self.undefined.items()]
        return "\n".join([*rows, f"pooled: {self.pooled}", f"equalised: {self.equalised}"])


def by_condition(
    trials: Trials,
    column: str,
    applications: Iterable[object] = (),
    *,
    level: float | None = None,
    draws: Mapping[str, Any] | None = None,
    **options: Any,
) -> Conditions:
    """Results for each value of a group column, pooled, and equalised; with a level also intervals of all of them.

    Equalised: each condition's trials of a class share one weight, so that its error rates are means over conditions.
    `draws` are further options of bootstrap (resamples, seed, by, progress), the others those of evaluate.

    >>> trials = Trials.of_llr([1., -1., 1., 1., 2.], [1, 1, 0, 1, 1], groups={"site": list("aaabb")})
    >>> found = by_condition(trials, "site", [(0.5, 1, 1)])
    >>> found.results["a"].applications[0].fnr, found.undefined["b"]
    (0.5, 'There is no curve, EER, AUC or cost: there are no non-targets among the trials.')
    """
    if column not in trials.groups:
        known = ", ".join(map(shown, trials.groups)) or "none"
        raise InputError(f"column={shown(column)} is not among the groups of these trials ({known}).")
    apps = listed(applications)
    values = trials.groups[column].astype(str)
    parts = {name: trials.select(values == name) for name in np.unique(values).tolist()}
    results: dict[str, Any] = {}
    undefined: dict[str, str] = {}
    for name, part in parts.items():
        try:
            _need_every_class(part)
            results[name] = evaluate(part, apps, **options)
        except UndefinedError as error:
            undefined[name] = str(error)
    kept = trials.select(np.isin(values, list(results)))
    jobs: dict[str, Callable[..., Intervals]] = {}
    if level is not None:
        more = {
            "level": level,
            "bayes_plot": None,
            **({"eer": options["eer"]} if "eer" in options else {}),
            **(draws or {}),
        }
        _check_draws(trials, more)
        jobs |= {f"{column} = {name}": partial(bootstrap, parts[name], apps, **more) for name in results}
        jobs[POOLED] = partial(bootstrap, trials, apps, **more)
        jobs |= {EQUALISED: partial(equalised, kept, column, apps, **more)} if results else {}
    intervals, doubts = _resampled(jobs)
    weighted = evaluate(equalised_trials(kept, column), apps, **options) if results else None
    counted = evaluate(kept, apps, **options) if results else None
    return Conditions(
        column, MappingProxyType({name: _sizes(part) for name, part in parts.items()}), MappingProxyType(results),
        MappingProxyType(undefined), evaluate(trials, apps, **options), weighted, counted, intervals, doubts,
    )  # fmt: skip


def _check_draws(trials: Trials, more: Mapping[str, Any]) -> None:
    """Refuses what no condition could be resampled with; what one alone cannot is said beside it."""
    settings = Settings.of(
        more["level"], more.get("resamples", 1000), more.get("seed", 0), more.get("by"), more.get("method") or "bca",
        more.get("threads"),
    )  # fmt: skip
    for name in settings.by:
        group_codes(trials, name)


def _resampled(jobs: Mapping[str, Callable[..., Intervals]]) -> tuple[Mapping[str, Intervals], Mapping[str, str]]:
    """The intervals that can be had, and why the others cannot."""
    found: dict[str, Intervals] = {}
    doubts: dict[str, str] = {}
    for name, job in jobs.items():
        try:
            found[name] = job()
        except (InputError, UndefinedError) as error:
            doubts[name] = str(error)
    return MappingProxyType(found), MappingProxyType(doubts)


def _sizes(part: Trials) -> dict[str, Any]:
    """How many trials of each class, as "input" in the JSON says it."""
    heavy = np.bincount(part.known_labels(), part.weights, len(part.classes))
    sizes = [int(size) if size == int(size) else float(size) for size in heavy.tolist()]
    if len(sizes) == 2:
        return {"trials": sum(sizes), "targets": sizes[1], "nontargets": sizes[0]}
    return {"trials": sum(sizes), "classes": dict(zip(part.classes, sizes, strict=True))}


def _need_every_class(part: Trials) -> None:
    """K-class evaluations say what is undefined inside; a missing class makes them no condition to average."""
    sizes = np.bincount(part.known_labels(), minlength=len(part.classes))
    if len(part.classes) > 2 and (sizes == 0).any():
        raise UndefinedError(f"there are no trials of class {shown(part.classes[int(sizes.argmin())])}.")


def equalised_trials(kept: Trials, column: str) -> Trials:
    """The trials weighted so that each condition has the same weight in each class.

    Whole multiples of a power of two, as fine as 64-bit sums allow.
    """
    codes = np.unique(kept.groups[column].astype(str), return_inverse=True)[1]
    cells = codes * len(kept.classes) + kept.known_labels().astype(np.intp)
    own = np.ones(len(kept)) if kept.weights is None else kept.weights
    sums = np.bincount(cells, own)
    share = own * (sums.max() / sums[cells])
    grid = 2.0 ** min(60 - math.ceil(math.log2(max(share.sum(), 2.0))), 40)
    return replace(kept, weights=frozen(np.rint(share * grid) / grid))
