"""Percentile intervals of numbers that rest on several sets of trials, all of them resampled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from tercet._typing import Floats
from tercet.errors import InputError, UndefinedError
from tercet.metrics.binomial import Interval
from tercet.trials import Trials
from tercet.uncertainty._rows import group_codes
from tercet.uncertainty.bootstrap import settings_of

Rows = NDArray[np.intp]
_MOST_UNDEFINED = 0.05  # of the resamples that may be left out


def percentile_intervals(
    statistics: Callable[[Sequence[Trials]], Mapping[str, float]],
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
        From resampled sets to numbers by name; UndefinedError leaves a resample out.
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

    Examples
    --------
    >>> trials = Trials.of_llr([1.0, 1.0, 1.0, 1.0], [0, 0, 1, 1])
    >>> mean = lambda drawn: {"mean": float(drawn[0].scores.mean())}
    >>> percentile_intervals(mean, [trials], [trials.known_labels()], ci=0.9, resamples=40)["mean"][:2]
    (1.0, 1.0)
    """
    settings = settings_of(ci, resamples, seed, by, "percentile", None)
    draw = _by_stratum(strata) if by is None else _by_group(sets, by)
    rng, drawn, undefined = np.random.default_rng(seed), list[Mapping[str, float]](), 0
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
    tail = (1.0 - ci) / 2.0
    values: dict[str, Floats] = {name: np.array([one[name] for one in drawn]) for name in drawn[0]}
    found = {}
    for name, own in values.items():
        low, high = np.quantile(own, (tail, 1.0 - tail)).tolist()
        found[name] = Interval(low, high, method)
    return found


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


__all__ = ["percentile_intervals"]
