"""One validation sheet: the numbers that a laboratory files about a set of likelihood ratios, and its figures' data."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np

from tercet._numeric.plain import plain
from tercet._numeric.validation import text, whole
from tercet._typing import JSON, Facts, Floats
from tercet.errors import InputError, UndefinedError
from tercet.forensics._bounds import LrBounds, elub, iv_bounds
from tercet.forensics._measures import (
    Ece,
    MisleadingEvidence,
    Tippett,
    cllr_cal,
    dev_pav,
    ece,
    misleading_evidence,
    pav_blocks,
    tippett,
)
from tercet.metrics.binomial import Interval
from tercet.metrics.costs import cllr, min_cllr
from tercet.metrics.curves import Curve
from tercet.metrics.tally import Tally
from tercet.trials import Trials, as_trials, probability
from tercet.uncertainty.bootstrap import bootstrap
from tercet.uncertainty.intervals import Bound


@dataclass(frozen=True, slots=True)
class Measure:
    """One number of the sheet.

    Attributes
    ----------
    name : str
        Its name, with the unit.
    value : float or None
        The number; None where it does not exist.
    interval : Interval or None
        Its interval, where one can be had.
    note : str
        Why something is missing, or what was left out.

    Examples
    --------
    >>> import tercet as tc
    >>> lrs = tc.Trials.of_lr([30.0, 8.0, 5.0, 0.5, 0.04, 0.1, 0.3, 2.0], [1, 1, 1, 1, 0, 0, 0, 0])
    >>> row = tc.forensics.validation(lrs, resamples=50).measures[0]
    >>> row.name, round(row.value, 3)
    ('Cllr (bits)', 0.528)
    """

    name: str
    value: float | None
    interval: Interval | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Validation:
    """A validation sheet's numbers and the data of its figures.

    Attributes
    ----------
    name : str
        The system.
    counts : mapping of str to float
        Same-source and different-source trials.
    level : float
        Level of all intervals.
    measures : tuple of Measure
        Cllr, its minimum and difference, EER, devPAV.
    misleading : MisleadingEvidence
        By strength.
    bounds : tuple of LrBounds
        ELUB and invariance verification.
    bound_intervals : mapping of str to Interval
        Percentile intervals of "elub lower", "elub upper", "iv lower" and "iv upper": how far the bounds move when the
        trials are drawn anew; empty where they cannot be drawn.
    ece : Ece
        Empirical cross-entropy with its range.
    tippett : tuple of Tippett
        Both kinds.
    pav : tuple of three ndarrays
        Where each PAV block begins and ends, and what it is worth, as log10 LRs.
    log10_lrs : mapping of str to ndarray
        The finite log10 LRs of both classes.

    Examples
    --------
    >>> import tercet as tc
    >>> lrs = tc.Trials.of_lr([30.0, 8.0, 5.0, 0.5, 0.04, 0.1, 0.3, 2.0], [1, 1, 1, 1, 0, 0, 0, 0])
    >>> tc.forensics.validation(lrs, resamples=50).misleading.rows[0].targets.value    # one of four is below 1
    0.25
    """

    name: str
    counts: Mapping[str, float]
    level: float
    measures: tuple[Measure, ...]
    misleading: MisleadingEvidence
    bounds: tuple[LrBounds, ...]
    ece: Ece
    tippett: tuple[Tippett, ...]
    pav: tuple[Floats, Floats, Floats]
    log10_lrs: Mapping[str, Floats]
    bound_intervals: Mapping[str, Interval] = field(default_factory=dict)

    def to_dict(self) -> JSON:
        """The numbers as plain values and text, without the figures' data.

        Returns
        -------
        dict
            Plain values.
        """
        kept = {"name": self.name, "counts": dict(self.counts), "level": self.level, "measures": self.measures}
        kept |= {"misleading": self.misleading, "bounds": self.bounds, "bound_intervals": dict(self.bound_intervals)}
        return dict(plain(kept))

    def to_html(self, title: str | None = None) -> str:
        """The sheet as one self-contained page: table and figures.

        Parameters
        ----------
        title : str, optional
            The page's title.

        Returns
        -------
        str
            The page's HTML.
        """
        from tercet.forensics._page import sheet

        return sheet(self, title)


def validation(
    trials: Trials,
    *,
    name: str | None = None,
    ci: float = 0.95,
    by: str | None = None,
    resamples: int = 500,
    seed: int = 0,
) -> Validation:
    """Everything that a validation sheet shows about a set of likelihood ratios.

    Parameters
    ----------
    trials : Trials
        Labelled trials that are likelihood ratios: same source = target.
    name : str, optional
        The system's name; else that of the trials.
    ci : float, optional
        Level of all intervals.
    by : str, optional
        Name of the group column (source, person) that is resampled as a whole.
    resamples : int, optional
        How many resamples.
    seed : int, optional
        Seed of the resampling.

    Returns
    -------
    Validation
        Measures with intervals, misleading evidence, bounds, and the figures' data.

    Examples
    --------
    >>> lrs = [30., 8., 5., 0.5, 0.04, 0.1, 0.3, 2.]
    >>> sheet = validation(Trials.of_lr(lrs, [1, 1, 1, 1, 0, 0, 0, 0]), resamples=50)
    >>> [row.name for row in sheet.measures][:2], sheet.misleading.rows[0].targets.value
    (['Cllr (bits)', 'min Cllr (bits)'], 0.25)
    """
    level = probability(ci, "ci")
    tally = Tally.of(as_trials(trials)).as_llr()
    curve = Curve.of(tally)
    resamples = whole(resamples, "resamples", 1)
    called = trials.name or "system" if name is None else text(name, "name")
    draws: JSON = {"ci": level, "by": by, "resamples": resamples, "seed": seed, "bayes_plot": None}
    counts = {"same_source": tally.weight(curve.targets), "different_source": tally.weight(curve.nontargets)}
    low, high, worth = pav_blocks(tally)
    finite = {
        key: side.scores[np.isfinite(side.scores)] / np.log(10.0)
        for key, side in (("same_source", tally.targets), ("different_source", tally.nontargets))
    }
    return Validation(
        called, MappingProxyType(counts), level, _measures(trials, curve, draws),
        misleading_evidence(trials, ci=level, by=by), (elub(trials), iv_bounds(trials)),
        ece(trials, np.linspace(-2.0, 2.0, 21), ci=level, by=by, resamples=min(resamples, 200), seed=seed),
        (tippett(trials), tippett(trials, kind="crossing")), (low, high, worth), MappingProxyType(finite),
        MappingProxyType(_bound_intervals(trials, draws)),
    )  # fmt: skip


def _bound_intervals(trials: Trials, draws: JSON) -> dict[str, Interval]:
    """Percentile intervals of the bounds, on the log scale, where trials can be drawn anew."""
    asked = {
        f"{method} {side}": (lambda drawn, find=find, side=side: float(np.log(getattr(find(drawn), side))))
        for method, find in (("elub", elub), ("iv", iv_bounds))
        for side in ("lower", "upper")
    }
    try:
        found = bootstrap(trials, quantities=(), extra=asked, method="percentile", **draws)
    except (InputError, UndefinedError):
        return {}
    ends = {name: (math.exp(float(found[name].low)), math.exp(float(found[name].high))) for name in asked}
    return {name: Interval(low, high, found[name].method) for name, (low, high) in ends.items()}


def _measures(trials: Trials, curve: Curve, draws: JSON) -> tuple[Measure, ...]:
    known: Facts = {}
    why = ""
    try:
        known = bootstrap(trials, quantities=("cllr", "min_cllr", "eer"), **draws)
    except (InputError, UndefinedError) as error:
        why = str(error)
    rows = [
        _measure("Cllr (bits)", cllr(curve.tally), known.get("cllr"), why),
        _measure("min Cllr (bits)", min_cllr(curve), known.get("min_cllr"), why),
        _extra("Cllr cal (bits)", trials, cllr_cal, draws),
        _measure("EER (rocch)", curve.eer().value, known.get("eer"), why),
    ]
    try:
        found = dev_pav(trials)
    except UndefinedError as error:
        return (*rows, Measure("devPAV", None, None, str(error)))
    left_out = found.left_out_below + found.left_out_above
    note = f"{left_out:g} trials beyond the range {found.low:.2f} to {found.high:.2f} left out" if left_out else ""
    own = _extra("devPAV", trials, lambda drawn: dev_pav(drawn).value, draws)
    return (*rows, Measure("devPAV", found.value, own.interval, "; ".join(filter(None, (note, own.note)))))


def _measure(name: str, value: float, ends: Bound | None, why: str) -> Measure:
    return Measure(name, value, None if ends is None else Interval(float(ends.low), float(ends.high), ends.method), why)


def _extra(name: str, trials: Trials, function: Callable[[Trials], float], draws: JSON) -> Measure:
    """A number of ours with a percentile interval; a resample where it does not exist leaves it without one."""
    value = function(trials)
    try:
        found = bootstrap(trials, quantities=(), extra={"own": function}, method="percentile", **draws)["own"]
    except (InputError, UndefinedError) as error:
        return Measure(name, value, None, f"no interval: {error}")
    return Measure(name, value, Interval(float(found.low), float(found.high), found.method))
