"""Results by condition: any column of groups, with pooled and equalised costs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Protocol

import numpy as np

from tercet._numeric.plain import plain
from tercet._numeric.records import ReadOnly
from tercet._numeric.validation import frozen, group_name, probability, shown, text
from tercet._typing import JSON, Array, Counts, EerDefinition, Facts, Floats
from tercet.application import Application, listed
from tercet.errors import InputError, UndefinedError
from tercet.evaluation import Evaluation, MulticlassEvaluation, MulticlassResult, Result, evaluate
from tercet.metrics.binomial import Interval, clopper_pearson
from tercet.metrics.costs import without_means
from tercet.metrics.tally import Tally
from tercet.outofcore.conditions import parted
from tercet.outofcore.scan import Scan
from tercet.trials import Trials, as_trials
from tercet.uncertainty._clusters import group_codes, grouping, needs_level
from tercet.uncertainty._kernel.engine import Settings
from tercet.uncertainty.bootstrap import Method

POOLED, EQUALISED = "pooled", "equalised"
_LONG = ("curve", "histogram", "bayes_plot", "versus")


def too_few_errors(evaluation: Evaluation | MulticlassEvaluation) -> tuple[str, ...]:
    """A warning for each number that rests on fewer than 30 errors: it may be off by more than 30 %.

    Parameters
    ----------
    evaluation : Evaluation or MulticlassEvaluation
        What `evaluate` returned.

    Returns
    -------
    tuple of str
        One sentence per number that rests on too few errors.

    Examples
    --------
    >>> trials = Trials.of_llr([2.0, -1.0], [1, 0])
    >>> too_few_errors(evaluate(trials, [(0.5, 1, 1)]))[0]
    'applications.0: 0 misses and 0 false alarms, fewer than 30: fnr, fpr and dcf are unreliable'
    """
    rows = getattr(evaluation, "applications", None)
    if not isinstance(rows, tuple):
        raise InputError(f"evaluation must be what tercet.evaluate returns, not {shown(evaluation)}.")
    return tuple(f"applications.{k}: {words}" for k, row in enumerate(rows) for words in row.warnings)


@dataclass(frozen=True, slots=True)
class OneClassRate:
    """The error rate that exists at an operating point where a condition holds one class only.

    Attributes
    ----------
    application : Application
        The operating point.
    threshold : float
        Its llr threshold.
    fnr, fpr : float or None
        The miss rate of targets, or the false-alarm rate of non-targets; None for the class that is absent.
    interval : Interval or None
        Clopper-Pearson limits of that rate where a level was given and trials are neither grouped nor weighted.
    """

    application: Application
    threshold: float
    fnr: float | None
    fpr: float | None
    interval: Interval | None = None

    def to_dict(self) -> JSON:
        """The row under "applications" in the JSON; what needs both classes is null."""
        app, named = self.application, "fnr" if self.fpr is None else "fpr"
        row: JSON = {"prior": app.prior, "cost_fn": app.cost_fn, "cost_fp": app.cost_fp, "name": app.name}
        row |= {"threshold": self.threshold, "fnr": self.fnr, "fpr": self.fpr}
        row |= dict.fromkeys(("dcf", "min_dcf", "min_threshold"))
        row |= {} if self.interval is None else {f"{named}_ci": [self.interval.low, self.interval.high]}
        absent = "non-targets" if named == "fnr" else "targets"
        return dict(plain(row)) | {"reasons": {"dcf": f"there are no {absent} among the trials"}}


@dataclass(frozen=True, eq=False, repr=False)
class Conditions:
    """Evaluations by condition, of everything pooled, and equalised with every condition weighing the same.

    A condition without a class has no evaluation. The equalised one leaves it out. Where `ci` was given each
    evaluation carries its intervals.

    Attributes
    ----------
    column : str
        The group column.
    sizes : mapping
        Numbers of trials by condition.
    results : mapping
        The evaluation of each condition.
    undefined : mapping of str to str
        Why a condition has no evaluation.
    pooled : Evaluation or MulticlassEvaluation
        All trials.
    equalised : Evaluation, MulticlassEvaluation or None
        Every condition weighing the same.
    counted : Evaluation, MulticlassEvaluation or None
        The trials of the equalised one, each weighing one.
    without_intervals : mapping of str to str
        Why "column = value", "pooled" or "equalised" has no intervals.
    rates : mapping of str to tuple of OneClassRate
        The error rate at each operating point of a condition that holds one class only.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([1.0, -1.0, 1.0, 1.0, -2.0], [1, 1, 0, 1, 0], groups={"site": list("aaabb")})
    >>> found = tc.by_condition(trials, "site", [(0.5, 1, 1)])
    >>> {site: result.applications[0].fnr for site, result in found.results.items()}
    {'a': 0.5, 'b': 0.0}
    """

    column: str
    sizes: Mapping[str, Mapping[str, int]]
    results: Facts
    undefined: Mapping[str, str]
    pooled: Evaluation | MulticlassEvaluation
    equalised: Evaluation | MulticlassEvaluation | None
    counted: Evaluation | MulticlassEvaluation | None  # the trials of the equalised one as they are, each weighing one
    without_intervals: Mapping[str, str]
    rates: Mapping[str, tuple[OneClassRate, ...]] = field(default_factory=dict)

    def to_dict(self) -> JSON:
        """One entry of "conditions" in the JSON; curves and histograms are left out.

        Returns
        -------
        dict
            Plain values.
        """
        rows = [
            {
                "value": name,
                "input": dict(self.sizes[name]),
                "applications": [one.to_dict() for one in self.rates.get(name, ())],
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

    def _facts(
        self,
        name: str,
        one: Evaluation | MulticlassEvaluation,
        counted: Evaluation | MulticlassEvaluation | None = None,
    ) -> JSON:
        facts = one.to_dict()
        if counted is not None:  # sums of weights are not counts of trials or errors
            facts["input"] = counted.input
            counted_rows: Sequence[Result | MulticlassResult] = counted.applications
            for row, own in zip(facts["applications"], counted_rows, strict=True):
                row["warnings"] = list(own.warnings)
        if name in self.without_intervals:
            facts["reasons"] = facts.get("reasons", {}) | {"intervals": self.without_intervals[name]}
        return {key: value for key, value in facts.items() if key not in _LONG}

    def __repr__(self) -> str:
        rows = [f"{self.column} = {shown(name)[1:-1]}: {one}" for name, one in self.results.items()]
        rows += [f"{self.column} = {shown(name)[1:-1]}: undefined, {why}" for name, why in self.undefined.items()]
        return "\n".join([*rows, f"pooled: {self.pooled}", f"equalised: {self.equalised}"])


def by_condition(
    trials: Trials | Scan,
    column: str,
    applications: Iterable[object] = (),
    *,
    ci: float | None = None,
    by: str | tuple[str, str] | None = None,
    method: Method | None = None,
    resamples: int | None = None,
    seed: int = 0,
    eer: EerDefinition = "rocch",
    bayes_plot: tuple[float, float, int] = (-3.0, 3.0, 21),
) -> Conditions:
    """Results for each value of a group column, pooled, and equalised; with `ci`, all of them have intervals.

    Equalised: each condition's trials of a class share one weight, so that its error rates are means over conditions.

    Parameters
    ----------
    trials : Trials or Scan
        Labelled trials with group columns; or a scan of files that have the column, whose rows are split by it into
        files in the temporary folder, so that memory stays bounded.
    column : str
        The group column whose values are the conditions.
    applications : iterable, default ()
        Operating points, as `evaluate` takes them.
    ci : float, optional
        Level of confidence intervals; none without it. They need the trials in memory.
    by : str or tuple of str, optional
        Group column whose groups are the unit of the intervals, or two crossed ones.
    method : str, optional
        The interval's method, as `evaluate` takes it.
    resamples : int, optional
        Number of resamples.
    seed : int, default 0
        Seed of the resampling.
    eer : {"rocch", "interpolated", "nearest"}, default "rocch"
        The definition of the EER.
    bayes_plot : tuple, default (-3.0, 3.0, 21)
        Lowest and highest log-odds and number of points of the Bayes error plot.

    Returns
    -------
    Conditions
        An evaluation for each value, the pooled and the equalised one.

    Examples
    --------
    >>> trials = Trials.of_llr([1., -1., 1., 1., 2.], [1, 1, 0, 1, 1], groups={"site": list("aaabb")})
    >>> found = by_condition(trials, "site", [(0.5, 1, 1)])
    >>> found.results["a"].applications[0].fnr, found.undefined["b"]
    (0.5, 'There is no curve, EER, AUC or cost: there are no non-targets among the trials.')
    >>> found.rates["b"][0].fnr    # what exists there: neither target of site b is missed
    0.0
    """
    needs_level(ci, {"by": by, "method": method, "resamples": resamples})
    with _parted(trials, column, ci) as parts:
        if ci is not None:
            Settings.of(ci, 1000 if resamples is None else resamples, seed, by, method)
            for name in grouping(by):
                group_codes(as_trials(trials), name)
        bare: JSON = {"eer": eer, "bayes_plot": bayes_plot}
        asked = {**bare, "ci": ci, "by": by, "method": method, "resamples": resamples, "seed": seed}
        return _conditions(trials, column, parts, listed(applications), bare, None if ci is None else asked)


def _conditions(
    trials: Trials | Scan, column: str, parts: _Parts, apps: Sequence[object], bare: JSON, asked: JSON | None
) -> Conditions:
    """The evaluation of each value, and of all of them together."""
    without: dict[str, str] = {}

    def evaluated(name: str, part: Trials | Scan) -> Evaluation | MulticlassEvaluation:
        """With intervals if they exist, else without them and with the reason."""
        if asked is not None:
            try:
                return evaluate(part, apps, **asked)
            except (InputError, UndefinedError) as error:
                without[name] = str(error)
        return evaluate(part, apps, **bare)

    results: JSON = {}
    undefined: dict[str, str] = {}
    rates: dict[str, tuple[OneClassRate, ...]] = {}
    for name in sorted(parts.counts):
        try:
            counts = parts.counts[name]
            if len(parts.classes) > 2 and (counts == 0).any():  # K-class evaluations of fewer classes are not averaged
                raise UndefinedError(f"there are no trials of class {shown(parts.classes[int(counts.argmin())])}.")
            results[name] = evaluated(f"{column} = {name}", parts.rows_of([name]))
        except UndefinedError as error:
            undefined[name] = str(error)
            without.pop(f"{column} = {name}", None)
            ci = None if asked is None or asked["by"] else asked["ci"]
            rates[name] = _one_class_rates(parts.pieces(name), parts.counts[name], apps, ci)
    weighted = counted = None
    if results:
        factors, grid = equal_factors({name: parts.sums[name] for name in results})
        weighted = evaluated(EQUALISED, parts.weighted(factors, grid))
        counted = evaluate(parts.rows_of(list(results)), apps, **bare)
    sizes = {name: _sizes(parts.sums[name], parts.classes) for name in sorted(parts.counts)}
    return Conditions(
        column, ReadOnly(sizes), ReadOnly(results), ReadOnly(undefined),
        evaluated(POOLED, trials), weighted, counted, ReadOnly(without), ReadOnly(rates),
    )  # fmt: skip


class _Parts(Protocol):
    """Trials by the values of a column, in memory or not."""

    @property
    def classes(self) -> tuple[str, ...]: ...
    @property
    def counts(self) -> Mapping[str, Counts]: ...
    @property
    def sums(self) -> Mapping[str, Floats]: ...
    def pieces(self, name: str) -> Iterable[Trials]: ...
    def rows_of(self, names: Sequence[str]) -> Trials | Scan: ...
    def weighted(self, factors: Mapping[str, Floats], grid: float) -> Trials | Scan: ...


@dataclass(frozen=True, slots=True, eq=False)
class PartedTrials:
    """Trials in memory by the values of a column."""

    trials: Trials
    values: Array
    counts: Mapping[str, Counts]  # rows by class
    sums: Mapping[str, Floats]  # weights by class

    @classmethod
    def of(cls, trials: Trials, column: str) -> PartedTrials:
        """The trials, their values counted."""
        values, size = trials.groups[column].astype(str), len(trials.classes)
        names, codes = np.unique(values, return_inverse=True)
        cells = codes * size + trials.known_labels().astype(np.intp)
        tables = [np.bincount(cells, own, len(names) * size).reshape(-1, size) for own in (None, trials.weights)]
        counts, sums = (dict(zip(names.tolist(), table, strict=True)) for table in tables)
        return cls(trials, values, counts, sums)

    @property
    def classes(self) -> tuple[str, ...]:
        """The names of the classes."""
        return self.trials.classes

    def pieces(self, name: str) -> list[Trials]:
        """The trials of one value."""
        return [self.rows_of([name])]

    def rows_of(self, names: Sequence[str]) -> Trials:
        """The trials of some values."""
        return self.trials.select(np.isin(self.values, names))

    def weighted(self, factors: Mapping[str, Floats], grid: float) -> Trials:
        """The trials of some values, weights times a factor of their value and class, as multiples of 1 / grid."""
        kept, values = self.rows_of(list(factors)), self.values[np.isin(self.values, list(factors))]
        places = np.unique(values, return_inverse=True)[1]
        table = np.array([factors[name] for name in sorted(factors)])
        own = np.ones(len(kept)) if kept.weights is None else kept.weights
        share = own * table[places, kept.known_labels().astype(np.intp)]
        return replace(kept, weights=frozen(np.rint(share * grid) / grid))


@contextmanager
def _parted(trials: Trials | Scan, column: str, ci: float | None) -> Iterator[_Parts]:
    """The trials by the values of the column; those of a scan are stored in the temporary folder."""
    if not isinstance(trials, Scan):
        column = group_name(column, as_trials(trials).groups, "column")
        yield PartedTrials.of(trials, column)
        return
    if ci is not None:
        raise InputError("Intervals need the trials in memory: read them with tercet.read, or leave ci= out.")
    with parted(trials, text(column, "column")) as parts:
        if not parts.counts:
            raise UndefinedError("There is nothing to evaluate: there are no trials.")
        yield parts


def _one_class_rates(
    pieces: Iterable[Trials], counts: Counts, apps: Sequence[object], ci: float | None
) -> tuple[OneClassRate, ...]:
    """The error rate of the only class at each operating point; none for raw scores and several classes."""
    points = (
        [*map(Application.of, without_means(apps)[0])] if np.count_nonzero(counts) == 1 and len(counts) == 2 else []
    )
    targets, whole = bool(counts[1:].any()), True
    errors, total = [Fraction(0)] * len(points), Fraction(0)
    for piece in pieces if points else ():
        if piece.is_matrix or piece.meaning == "raw":
            return ()
        tally = Tally.of(piece).as_llr()
        unit, whole = Fraction(2) ** tally.unit, whole and piece.weights is None
        total += unit * (tally.targets if targets else tally.nontargets).total
        for place, app in enumerate(points):
            errors[place] += unit * int(tally.at(app.threshold)[0 if targets else 1])
    found = []
    for app, wrong in zip(points, errors, strict=True):
        rate = float(wrong / total)
        ends = clopper_pearson(int(wrong), int(total), probability(ci, "ci")) if ci is not None and whole else None
        found.append(OneClassRate(app, app.threshold, rate if targets else None, None if targets else rate, ends))
    return tuple(found)


def _sizes(heavy: Floats, classes: Sequence[str]) -> JSON:
    """How many trials of each class, as "input" in the JSON says it."""
    sizes = [int(size) if size == int(size) else float(size) for size in heavy.tolist()]
    if len(sizes) == 2:
        return {"trials": sum(sizes), "targets": sizes[1], "nontargets": sizes[0]}
    return {"trials": sum(sizes), "classes": dict(zip(classes, sizes, strict=True))}


def equal_factors(sums: Mapping[str, Floats]) -> tuple[dict[str, Floats], float]:
    """Factors by value and class that give each value the same weight in each class, and the grid of the products.

    Weights are whole multiples of 1 / grid, a power of two as fine as 64-bit sums allow.
    """
    most = max(float(own.max()) for own in sums.values())
    cells = sum(int(np.count_nonzero(own)) for own in sums.values())
    grid = 2.0 ** min(60 - math.ceil(math.log2(max(most * cells, 2.0))), 40)
    with np.errstate(divide="ignore"):
        return {name: most / own for name, own in sums.items()}, grid


def equalised_trials(kept: Trials, column: str) -> Trials:
    """The trials weighted so that each condition has the same weight in each class."""
    parts = PartedTrials.of(kept, column)
    return parts.weighted(*equal_factors(parts.sums))
