"""NIST's speaker recognition evaluations: the primary cost as a mean over operating points, pooled and equalised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.plain import plain
from tercet._numeric.validation import frozen, group_name, listed
from tercet._typing import JSON
from tercet.application import Application, ApplicationMean
from tercet.conditions import equalised_trials
from tercet.errors import UndefinedError
from tercet.evaluation import evaluate
from tercet.metrics.binomial import Interval
from tercet.trials import Trials, as_trials, probability
from tercet.uncertainty.bootstrap import bootstrap
from tercet.uncertainty.several_sets import percentile_intervals

__all__ = ["Primary", "c_primary"]


@dataclass(frozen=True, slots=True)
class PointCost:
    """The cost at one of the averaged operating points.

    Attributes
    ----------
    application : Application
        The operating point.
    actual : float or None
        Normalised cost of the Bayes decisions; None for raw scores.
    minimum : float
        The least normalised cost over all thresholds.
    """

    application: Application
    actual: float | None
    minimum: float


@dataclass(frozen=True, slots=True)
class Primary:
    """C_primary: the mean of normalised costs over several operating points.

    Attributes
    ----------
    actual : float or None
        The mean of the actual costs; None for raw scores.
    minimum : float
        The mean of the separate minima: each point has a threshold of its own.
    points : tuple of PointCost
        What was averaged.
    partitions : tuple of str
        Group columns whose values weigh the same in each class; empty when trials are pooled.
    actual_interval, minimum_interval : Interval or None
        By resampling, where a level was given.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([9.0, 5.0, -9.0, -9.0, -9.0, 5.2], [1, 1, 0, 0, 0, 0])
    >>> found = tc.nist.c_primary(trials, "sre16")
    >>> len(found.points), round(found.minimum, 4)
    (2, 0.5)
    """

    actual: float | None
    minimum: float
    points: tuple[PointCost, ...]
    partitions: tuple[str, ...] = ()
    actual_interval: Interval | None = None
    minimum_interval: Interval | None = None

    def to_dict(self) -> JSON:
        """Everything as plain numbers and text.

        Returns
        -------
        dict
            Plain values.
        """
        return dict(plain(self))


def c_primary(
    trials: Trials,
    points: ApplicationMean | Sequence[object] | str,
    *,
    partitions: str | Sequence[str] = (),
    ci: float | None = None,
    by: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Primary:
    """The mean of normalised costs over several operating points, actual and minimum.

    With partitions each of their values (or combination of values) weighs the same within each class, so that error
    rates are means over the partitions that hold the class, as the official scorers equalise them. A partition may hold
    one class only.

    Parameters
    ----------
    trials : Trials
        Labelled trials.
    points : ApplicationMean, sequence or str
        What `Application.mean` takes: operating points, or "sre12", "sre16", "sre18-cmn2", "sre21".
    partitions : str or sequence of str, optional
        Group columns, such as sex, language, number of enrolment cuts.
    ci : float, optional
        Level of intervals by resampling; none without it. With partitions, trials are resampled within each cell of
        partition and class.
    by : str, optional
        Name of the group column (speaker) that is resampled as a whole.
    resamples : int, optional
        How many resamples.
    seed : int, optional
        Seed of the resampling.

    Returns
    -------
    Primary
        Actual and minimum, the mean and each point's, with intervals where asked for.

    Examples
    --------
    >>> trials = Trials.of_llr([9., 5., -9., -9., -9., 5.2], [1, 1, 0, 0, 0, 0])
    >>> found = c_primary(trials, "sre16")    # thresholds 4.6 and 5.3
    >>> [round(one.actual, 4) for one in found.points], [round(one.minimum, 4) for one in found.points]
    ([24.75, 0.5], [0.5, 0.5])
    >>> round(found.actual, 4), round(found.minimum, 4)
    (12.625, 0.5)
    """
    mean = points if isinstance(points, ApplicationMean) else Application.mean(points)
    columns = (partitions,) if isinstance(partitions, str) else tuple(listed(partitions, "partitions"))
    found = _costs(as_trials(trials), mean, columns)
    if ci is None:
        return found
    if columns:
        return _with_equalised_intervals(found, trials, mean, ci=ci, by=by, resamples=resamples, seed=seed)
    level, wanted = probability(ci, "ci"), {"minimum": "min_dcf"} | ({} if found.actual is None else {"actual": "dcf"})
    intervals: dict[str, Interval] = {}
    for name, key in wanted.items():
        draws = bootstrap(
            trials, mean.applications, ci=level, by=by, resamples=resamples, seed=seed, quantities=(key,),
            bayes_plot=None, method="percentile",
        )  # fmt: skip
        every = [draws.samples[f"applications.{place}.{key}"] for place in range(len(mean.applications))]
        drawn = np.mean([np.ravel(one) for one in every], axis=0)
        ends = np.quantile(drawn, ((1.0 - level) / 2.0, (1.0 + level) / 2.0)).tolist()
        intervals[name] = Interval(ends[0], ends[1], "percentile")
    return replace(found, actual_interval=intervals.get("actual"), minimum_interval=intervals["minimum"])


def _with_equalised_intervals(found: Primary, trials: Trials, mean: ApplicationMean, **draws: Any) -> Primary:
    """Percentile intervals of equalised costs, each cell of partition and class keeping its size."""
    cells = _cells(trials, found.partitions) * 2 + trials.known_labels().astype(np.intp)

    def drawn(sets: Sequence[Trials]) -> dict[str, float]:
        one = _costs(sets[0], mean, found.partitions)
        return {"minimum": one.minimum} | ({} if one.actual is None else {"actual": one.actual})

    ends = percentile_intervals(drawn, [trials], [cells], **draws)
    return replace(found, actual_interval=ends.get("actual"), minimum_interval=ends["minimum"])


def _costs(trials: Trials, mean: ApplicationMean, columns: tuple[str, ...]) -> Primary:
    kept = _equalised(trials, columns) if columns else trials
    rows = evaluate(kept, mean.applications).applications
    costs = []
    for app, row in zip(mean.applications, rows, strict=True):
        if row.min_dcf is None:
            raise UndefinedError("C_primary is undefined: at one of the points one kind of error is free.")
        costs.append(PointCost(app, row.dcf, row.min_dcf))
    known = [one.actual for one in costs if one.actual is not None]
    actual = sum(known) / len(known) if known else None
    return Primary(actual, sum(one.minimum for one in costs) / len(costs), tuple(costs), columns)


def _equalised(trials: Trials, columns: tuple[str, ...]) -> Trials:
    """The trials weighted so that each combination of values weighs the same in each class."""
    columns = tuple(group_name(name, trials.groups, "partitions") for name in columns)
    joined = MappingProxyType({**trials.groups, "partition": frozen(_cells(trials, columns))})
    return equalised_trials(replace(trials, groups=joined), "partition")


def _cells(trials: Trials, columns: tuple[str, ...]) -> NDArray[np.intp]:
    """The number of each trial's combination of values."""
    values = np.stack([trials.groups[name].astype(str) for name in columns])
    return np.asarray(np.unique(values, axis=1, return_inverse=True)[1], np.intp).ravel().copy()
