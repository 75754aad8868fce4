"""Decision curves with intervals: trials in memory, groups of trials, and scans."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tercet._numeric.validation import frozen
from tercet.errors import InputError
from tercet.evaluation import evaluate
from tercet.metrics.mover import Share, mover
from tercet.metrics.net_benefit import (
    DecisionCurve,
    Errors,
    accepts,
    curve_of,
    net_benefits,
    of_target,
    operating_point,
    threshold_grid,
)
from tercet.outofcore.scan import Scan
from tercet.trials import NO_LLR, Trials, probability
from tercet.uncertainty._clusters import Clusters
from tercet.uncertainty._limits import Proportion, Sum, effective_size
from tercet.uncertainty._rows import canonical, grouping, needs_level, numbered_groups


def decision_curve(
    trials: Trials | Scan,
    thresholds: ArrayLike | None = None,
    *,
    prevalence: float | None = None,
    harm: float = 0.0,
    ci: float | None = None,
    by: str | tuple[str, str] | None = None,
) -> DecisionCurve:
    """Net benefit along the threshold probability.

    Parameters
    ----------
    trials : Trials or Scan
        Labelled two-class trials that are not raw scores; see `net_benefit` for what their probabilities are. Of a scan
        without `prevalence` the files are first counted.
    thresholds : array_like, optional
        Threshold probabilities, strictly between 0 and 1; 0.01, 0.02, ..., 0.99 unless given.
    prevalence : float, optional
        The share of targets to speak of; that of the trials unless given.
    harm : float, default 0
        What obtaining the scores costs per case, in net benefit: taken off the system's, not off the references'.
    ci : float, optional
        Level of pointwise intervals, 0.95. At the trials' own prevalence the share of targets is taken as sampled too
        ("natural"); at a given one the class sizes are fixed ("stratified"). Trials are taken as independent.
    by : str or tuple of two str, optional
        One or two columns of groups (patients) whose trials vary together; then `ci` takes groups as the unit.

    Returns
    -------
    DecisionCurve
        With the fields threshold, net_benefit, treat_all, treat_none, best_apparent and standardised.

    Examples
    --------
    >>> trials = Trials.of_posteriors([0.9, 0.4, 0.6, 0.1], [1, 1, 0, 0], trained_prior=0.5)
    >>> found = decision_curve(trials, [0.2, 0.5])
    >>> found.net_benefit.round(4).tolist(), found.treat_all.round(4).tolist()
    ([0.4375, 0.0], [0.375, 0.0])
    """
    needs_level(ci, {"by": by})
    if isinstance(trials, Scan):
        found, errors = _scanned(trials, thresholds, prevalence, harm)
    else:
        found, errors = net_benefits(trials, thresholds, prevalence, harm)
    if ci is None:
        return found
    level, natural = probability(ci, "ci"), prevalence is None
    if grouping(by) or errors.unit < 0:
        if isinstance(trials, Scan):
            raise InputError("by= and fractional weights need trials in memory: read them, or leave ci= out.")
        return _over_groups(found, of_target(trials), grouping(by), natural, level)
    return _of_counts(found, errors, natural, level)


def _scanned(
    scan: Scan, thresholds: ArrayLike | None, prevalence: float | None, harm: float
) -> tuple[DecisionCurve, Errors]:
    """The curve of a scan, from its evaluation at the operating points of the thresholds."""
    grid = threshold_grid(thresholds)
    if prevalence is None:
        counts = evaluate(scan).input
        prevalence = counts["targets"] / (counts["targets"] + counts["nontargets"])
    share = probability(prevalence, "prevalence")
    if scan.meaning in ("posterior", "posteriors") and np.any(np.asarray(scan.options["trained_prior"]) == share):
        raise InputError(
            f"Posteriors made with the prior {share:g} are themselves compared with the threshold, which a scan does "
            f"not do: read the trials, or speak of another prevalence."
        )
    found = evaluate(scan, [operating_point(share, t) for t in grid.tolist()])
    if found.brackets:
        raise InputError("The scan is not exact within this memory_limit: raise it, or read the trials.")
    tables = [row.confusion for row in found.applications if row.confusion is not None]
    if len(tables) < len(grid):
        raise InputError(NO_LLR)
    cells = np.array(tables, np.int64)
    errors = Errors(cells[:, 0, 1], cells[:, 1, 0], int(cells[0, :, 1].sum()), int(cells[0, :, 0].sum()), 0)
    best = share - np.array([row.min_dcf_u for row in found.applications]) / (1.0 - grid)
    return curve_of(grid, share, harm, errors, best, scan.name), errors


def _of_counts(found: DecisionCurve, errors: Errors, natural: bool, level: float) -> DecisionCurve:
    """MOVER intervals at each point: one multinomial sample of all trials, or two binomial ones."""
    targets, nontargets = errors.targets << errors.unit, errors.nontargets << errors.unit
    odds = (found.threshold / (1.0 - found.threshold)).tolist()
    ends = []
    for missed, alarmed, price in zip(errors.misses.tolist(), errors.alarms.tolist(), odds, strict=True):
        hits, false = targets - (missed << errors.unit), alarmed << errors.unit
        if natural:
            samples = [[Share(1.0, hits, targets + nontargets), Share(-price, false, targets + nontargets)]]
        else:
            share = found.prevalence
            samples = [[Share(share, hits, targets)], [Share(-(1.0 - share) * price, false, nontargets)]]
        ends.append(mover(samples, level)[:2])
    kind = "mover-wilson, class sizes " + ("sampled" if natural else "fixed")
    return _with_ends(found, ends, level, kind)


def _over_groups(
    found: DecisionCurve, trials: Trials, by: tuple[str, ...], natural: bool, level: float
) -> DecisionCurve:
    """MOVER from rates whose effective sizes are those of groups, or of fractional weights."""
    order = canonical(trials.scores, trials, np.arange(len(trials)), by)
    own = trials.select(order if trials.weights is None else order[trials.weights[order] > 0.0])
    targets = own.known_labels().astype(np.bool_)
    sides = [targets | True] * 2 if natural else [targets, ~targets]
    clusters = _clusters(own, sides[:1] if natural else sides, by)
    ends = []
    for t in found.threshold.tolist():
        accepted = accepts(own, t, found.prevalence)
        events = (accepted & targets, accepted & ~targets)
        columns = [event[rows].astype(np.float64) for event, rows in zip(events, sides, strict=True)]
        places = (0, 0) if natural else (0, 1)
        moments = clusters.means(list(zip(places, columns, strict=True)))
        parts = []
        for k, place in enumerate(places):
            size = effective_size(
                moments.means[k], moments.covariance[k, k], clusters.units[place], clusters.rows[place]
            )
            parts.append(Proportion(moments.means[k], size, clusters.freedoms[place], True))
        factors = (1.0, -t / (1.0 - t))
        if not natural:
            factors = (found.prevalence, (1.0 - found.prevalence) * factors[1])
        low, high = Sum(tuple(parts), factors, moments.correlations()).limits(level)
        ends.append((float(low), float(high)))
    kind = "mover (Korn-Graubard), class sizes " + ("sampled" if natural else "fixed")
    return _with_ends(found, ends, level, kind + (" with the groups" if by else ""))


def _clusters(trials: Trials, sides: Sequence[NDArray[np.bool_]], by: tuple[str, ...]) -> Clusters:
    """The groups of the rows of each sample."""
    heavy = np.ones(len(trials)) if trials.weights is None else trials.weights
    places = [np.flatnonzero(rows) for rows in sides]
    codes, dyadic = numbered_groups(trials, by, places, trials.classes[::-1] if len(sides) == 2 else ("all",))
    return Clusters.of(codes, [heavy[rows] for rows in sides], dyadic)


def _with_ends(found: DecisionCurve, ends: Sequence[tuple[float, float]], level: float, method: str) -> DecisionCurve:
    low, high = (frozen(np.array(side) - found.harm) for side in zip(*ends, strict=True))
    return replace(found, level=level, low=low, high=high, method=method)


__all__ = ["decision_curve"]
