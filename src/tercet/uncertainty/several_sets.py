"""Percentile intervals of numbers that rest on several sets of trials, all of them resampled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._typing import Floats
from tercet.errors import InputError, UndefinedError
from tercet.metrics.binomial import Interval
from tercet.trials import Trials
from tercet.uncertainty._kernel.engine import Settings
from tercet.uncertainty._rows import group_codes

Rows = NDArray[np.intp]
_MOST_UNDEFINED = 0.05  # of the resamples that may be left out


class Least(NamedTuple):
    """The least normalised cost over all thresholds in one resample, and what tells its optimism.

    Attributes
    ----------
    minimum : float
        The cost in the resample at the threshold that is best there.
    kept : float
        The cost in the resample at the threshold that is best in the sample.
    moved : float
        The cost in the sample at the threshold that is best in the resample.

    Examples
    --------
    >>> Least(0.2, 0.25, 0.3).moved
    0.3
    """

    minimum: float
    kept: float
    moved: float


def percentile_intervals(
    statistics: Callable[[Sequence[Trials]], Mapping[str, float | Least]],
    sets: Sequence[Trials],
    strata: Sequence[NDArray[np.int_]],
    *,
    ci: float,
    by: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> dict[str, Interval]:
    """Percentile intervals of the statistics of resampled sets.

    Parameters
    ----------
    statistics : callable
        From resampled sets to numbers by name; UndefinedError leaves a resample out. A `Least` gives an interval of
        the population's minimum: a minimum is chosen on the same trials and so lies too low, more so in resamples. Its
        upper end is the percentile of the cost at the sample's own best threshold, raised by the bootstrap estimate of
        the optimism (the mean of moved - minimum), at most 1; its lower end is the percentile of the minima.
    sets : sequence of Trials
        What is resampled: rows within their strata, or whole groups, which are the same in every set.
    strata : sequence of ndarray of int
        The stratum of each row of each set: its class, for instance.
    ci : float
        Level of the intervals.
    by : str, optional
        Group column, in every set, whose groups are drawn as a whole; strata are then without effect.
    resamples, seed : int, optional
        How many, and the seed.

    Returns
    -------
    dict of str to Interval
        One per number.

    Raises
    ------
    UndefinedError
        If the numbers are undefined in more than 5 % of the resamples.

    References
    ----------
    Efron (1983), Estimating the error rate of a prediction rule, Journal of the American Statistical Association 78.

    Examples
    --------
    >>> trials = Trials.of_llr([1.0, 1.0, 1.0, 1.0], [0, 0, 1, 1])
    >>> mean = lambda drawn: {"mean": float(drawn[0].scores.mean())}
    >>> percentile_intervals(mean, [trials], [trials.known_labels()], ci=0.9, resamples=40)["mean"][:2]
    (1.0, 1.0)
    """
    settings = Settings.of(ci, resamples, seed, by, "percentile")
    draw = _by_stratum(strata) if by is None else _by_group(sets, by)
    rng, drawn, undefined = np.random.default_rng(settings.seed), list[Mapping[str, float | Least]](), 0
    for _ in range(settings.resamples):
        try:
            drawn.append(statistics([one.select(rows) for one, rows in zip(sets, draw(rng), strict=True)]))
        except (UndefinedError, InputError):
            undefined += 1
    if undefined > _MOST_UNDEFINED * settings.resamples:
        raise UndefinedError(
            f"The numbers are undefined in {undefined} of {settings.resamples} resamples, too many for an interval: "
            f"a class, or the errors of a class, are too few."
        )
    method = "percentile" if not undefined else f"percentile, without {undefined} undefined resamples"
    tail = (1.0 - settings.level) / 2.0
    return {name: _interval(np.array([one[name] for one in drawn]), tail, method) for name in drawn[0]}


def _interval(values: Floats, tail: float, method: str) -> Interval:
    """The interval of a number, or of a Least, which has three columns."""
    if values.ndim == 1:
        low, high = np.quantile(values, (tail, 1.0 - tail)).tolist()
        return Interval(low, high, method)
    minimum, kept, moved = values.T
    low, high = np.quantile(minimum, (tail, 1.0 - tail)).tolist()
    raised = float(np.quantile(kept, 1.0 - tail)) + max(float((moved - minimum).mean()), 0.0)
    return Interval(low, max(high, min(raised, 1.0)), f"{method}, upper end raised by the optimism")


def _by_stratum(strata: Sequence[NDArray[np.int_]]) -> Callable[[np.random.Generator], list[Rows]]:
    """Rows drawn with replacement within each stratum of each set."""
    parts = [[np.flatnonzero(codes == code) for code in np.unique(codes)] for codes in strata]

    def draw(rng: np.random.Generator) -> list[Rows]:
        return [np.concatenate([rng.choice(rows, len(rows)) for rows in own]) for own in parts]

    return draw


def _by_group(sets: Sequence[Trials], by: str) -> Callable[[np.random.Generator], list[Rows]]:
    """Whole groups drawn with replacement; a group that is in several sets is drawn in all of them."""
    for one in sets:
        group_codes(one, by)  # refuses a column that is not there
    every = np.unique(np.concatenate([one.groups[by].astype(str) for one in sets]))
    rows = [[np.flatnonzero(one.groups[by].astype(str) == name) for name in every] for one in sets]

    def draw(rng: np.random.Generator) -> list[Rows]:
        chosen = rng.integers(0, len(every), len(every))
        return [np.concatenate([own[place] for place in chosen]) for own in rows]

    return draw


__all__ = ["Least", "percentile_intervals"]
