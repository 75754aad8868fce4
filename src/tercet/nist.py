"""NIST's speaker recognition evaluations: the primary cost as a mean over operating points, pooled and equalised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tercet._numeric.records import PlainRecord, ReadOnly
from tercet._numeric.validation import frozen, group_name, listed
from tercet.application import Application, ApplicationMean
from tercet.conditions import equalised_trials
from tercet.errors import UndefinedError
from tercet.evaluation import evaluate
from tercet.metrics.binomial import Interval
from tercet.trials import Trials, as_trials
from tercet.uncertainty.intervals import Intervals

__all__ = ["Primary", "c_primary"]

_KEYS = ("dcf", "min_dcf")


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
class Primary(PlainRecord):
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
        Group columns whose values have the same weight in each class; empty if trials are pooled.
    actual_interval, minimum_interval : Interval or None
        Their intervals, if a level was given.

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


def c_primary(
    trials: Trials,
    points: ApplicationMean | Sequence[object] | str,
    *,
    partitions: str | Sequence[str] = (),
    ci: float | None = None,
    by: str | None = None,
) -> Primary:
    """The mean of normalised costs over several operating points, actual and minimum.

    With partitions, each of their values (or combinations of values) has the same weight within each class, so that
    error rates are means over the partitions that contain the class, equalised as in the official scoring tools. A
    partition may contain only one class.

    Parameters
    ----------
    trials : Trials
        Labelled trials.
    points : ApplicationMean, sequence or str
        What `Application.mean` takes: operating points, or "sre12", "sre16", "sre18-cmn2", "sre21".
    partitions : str or sequence of str, optional
        Group columns, such as sex, language, number of enrolment cuts.
    ci : float, optional
        Level of the intervals; none by default. Each end is the mean of the ends at the operating points, as if their
        costs varied together, which makes the interval too wide rather than too narrow.
    by : str, optional
        Name of the group column (speaker) whose trials vary together.

    Returns
    -------
    Primary
        The mean actual and minimum cost and those of each point, with intervals if `ci` is given.

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
    kept = _equalised(as_trials(trials), columns) if columns else as_trials(trials)
    found = evaluate(kept, mean.applications, ci=ci, by=by)
    costs = []
    for app, row in zip(mean.applications, found.applications, strict=True):
        if row.min_dcf is None:
            raise UndefinedError("C_primary is undefined: at one of the points one kind of error is free.")
        costs.append(PointCost(app, row.dcf, row.min_dcf))
    known = [one.actual for one in costs if one.actual is not None]
    actual = sum(known) / len(known) if known else None
    ends = [None if found.intervals is None else _mean_of_ends(found.intervals, key, len(costs)) for key in _KEYS]
    return Primary(actual, sum(one.minimum for one in costs) / len(costs), tuple(costs), columns, ends[0], ends[1])


def _mean_of_ends(intervals: Intervals, key: str, count: int) -> Interval | None:
    """The mean of each end over the operating points; None where one of them has no interval."""
    names = [f"applications.{place}.{key}" for place in range(count)]
    if not all(name in intervals for name in names):
        return None
    own = [intervals[name] for name in names]
    low, high = (float(np.mean([getattr(one, end) for one in own])) for end in ("low", "high"))
    return Interval(low, high, f"mean of the ends at the operating points: {own[0].method}")


def _equalised(trials: Trials, columns: tuple[str, ...]) -> Trials:
    """The trials weighted so that each combination of values weighs the same in each class."""
    values = np.stack([trials.groups[group_name(name, trials.groups, "partitions")].astype(str) for name in columns])
    cells = np.asarray(np.unique(values, axis=1, return_inverse=True)[1], np.intp).ravel().copy()
    joined = ReadOnly({**trials.groups, "partition": frozen(cells)})
    return equalised_trials(replace(trials, groups=joined), "partition")
