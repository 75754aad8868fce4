"""Decision curves with intervals: trials in memory, groups of trials, and scans; differences of net benefit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tercet._numeric.validation import chosen, frozen
from tercet.errors import InputError
from tercet.evaluation import evaluate
from tercet.metrics.mover import Proportion, Share, Sum, mover
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
from tercet.metrics.pairing import PairBy, paired
from tercet.outofcore.scan import Scan
from tercet.trials import NO_LLR, Trials, as_trials, probability
from tercet.uncertainty._clusters import Clusters, canonical, grouping, needs_level, numbered_groups
from tercet.uncertainty._differences import Losses, PairedTrials
from tercet.uncertainty._limits import effective_size
from tercet.uncertainty.compare import names_of, paired_comparison, sharing_groups
from tercet.uncertainty.comparison import Comparison
from tercet.uncertainty.intervals import Bound


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
        Labelled two-class trials that are not raw scores; see `net_benefit` for how they become probabilities. For a
        scan without `prevalence`, the targets in the files are counted first.
    thresholds : array_like, optional
        Threshold probabilities, strictly between 0 and 1; 0.01, 0.02, ..., 0.99 unless given.
    prevalence : float, optional
        The share of targets that the net benefit refers to; that of the trials unless given.
    harm : float, default 0
        What obtaining the scores costs per case, in units of net benefit. It is subtracted from the net benefit of the
        system, but not from those of treating everyone and no one.
    ci : float, optional
        Level of the pointwise intervals, such as 0.95. At the trials' own prevalence, the share of targets is treated
        as random too ("natural"); at a given one, the class sizes are fixed ("stratified"). Trials are assumed to be
        independent.
    by : str or tuple of two str, optional
        One or two columns of groups, such as patients, whose trials vary together; intervals then treat the group as
        the unit.

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
            f"not do: read the trials, or give another prevalence."
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
    kind = "mover, class sizes " + ("sampled" if natural else "fixed")
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


def compare_net_benefit(
    *systems: Trials,
    thresholds: ArrayLike,
    prevalence: float | None = None,
    names: Sequence[str] | None = None,
    ci: float = 0.95,
    by: str | tuple[str, str] | None = None,
    correction: Literal["pairs", "all"] = "all",
    pair_by: PairBy | None = None,
) -> Comparison:
    """Paired differences of net benefit between systems at threshold probabilities.

    NB_A - NB_B = -(DCF_u,A - DCF_u,B) / (1 - t) at Application(prevalence, 1 - t, t). Intervals are MOVER over the
    trials that only one system decides wrongly, as `compare` makes them for costs.

    Parameters
    ----------
    *systems : Trials
        Two or more systems on the same labelled two-class trials, not raw scores; see `net_benefit`.
    thresholds : array_like
        Threshold probabilities, strictly between 0 and 1.
    prevalence : float, optional
        The share of targets that the net benefit refers to; the class sizes are then fixed. By default it is that of
        the trials, and the class sizes are random.
    names : sequence of str, optional
        What to call the systems; the names of the trials by default.
    ci : float, default 0.95
        Level of the intervals.
    by : str or tuple of two str, optional
        Group column(s) whose groups vary as a whole.
    correction : {"pairs", "all"}, default "all"
        Whether Holm's correction (1979) is over the pairs of systems at each threshold, or over all thresholds too.
    pair_by : {"id", "position"}, optional
        How trials are matched; by id whenever there are ids.

    Returns
    -------
    Comparison
        With the quantities "applications.0.net_benefit", ..., one per threshold. A positive difference favours the
        first system.

    Examples
    --------
    At t = 0.2 the first system misses one of two targets less, 1/4, and has one false alarm more, 1/4 x 0.2 / 0.8:

    >>> labels = [1, 1, 0, 0]
    >>> a = Trials.of_posteriors([0.9, 0.4, 0.6, 0.1], labels, trained_prior=0.5, name="a")
    >>> b = Trials.of_posteriors([0.9, 0.1, 0.1, 0.1], labels, trained_prior=0.5, name="b")
    >>> found = compare_net_benefit(a, b, thresholds=[0.2])
    >>> round(found.of("applications.0.net_benefit")[0].value, 4)    # 1/4 - 1/16
    0.1875
    """
    level, groups, grid = probability(ci, "ci"), grouping(by), threshold_grid(thresholds)
    chosen(correction, "correction", ("pairs", "all"))
    if len(systems) < 2:
        raise InputError(f"compare_net_benefit needs at least two systems, not {len(systems)}.")
    called = names_of([as_trials(one) for one in systems], names)
    matched = paired([of_target(one) for one in systems], by=pair_by, names=called)
    same = sharing_groups(matched.systems, called, groups)
    curves = [decision_curve(one, grid, prevalence=prevalence, ci=level, by=by) for one in same]
    rows = PairedTrials.of(same[0], groups, together=prevalence is None)
    values, differences = {}, {}
    for k, t in enumerate(grid.tolist()):
        name = f"applications.{k}.net_benefit"
        values[name] = tuple(_bound_at(curve, k) for curve in curves)
        losses = [_lost_benefit(one, rows, t, curves[0].prevalence) for one in same]
        for i, j in combinations(range(len(same)), 2):
            pair = losses[j], losses[i]  # the second's loss minus the first's is the first's benefit
            differences[name, i, j] = rows.difference(*pair), rows.least_p(*pair)
    points = tuple(f"threshold {t:g}, prevalence {curves[0].prevalence:.4g}" for t in grid.tolist())
    return paired_comparison(called, values, differences, level, groups, correction, matched.by, points)


def _bound_at(curve: DecisionCurve, place: int) -> Bound:
    """One point of a curve with its interval."""
    assert curve.low is not None
    assert curve.high is not None
    assert curve.method is not None
    value, low, high = (float(column[place]) for column in (curve.net_benefit, curve.low, curve.high))
    return Bound(value, low, high, curve.method)


def _lost_benefit(trials: Trials, rows: PairedTrials, threshold: float, prevalence: float) -> Losses:
    """What each trial takes off the net benefit: a miss 1, a false alarm t / (1 - t), over all trials or by class."""
    accepted, targets = accepts(trials, threshold, prevalence), trials.known_labels().astype(np.bool_)
    missed, alarmed = (column.astype(np.float64) for column in (targets & ~accepted, accepted & ~targets))
    price = threshold / (1.0 - threshold)
    if len(rows.rows) == 1:
        everyone = rows.rows[0]
        return Losses((0, 0), (1.0, price), (missed[everyone], alarmed[everyone]), is_rate=True)
    nontargets, own = rows.rows
    factors = prevalence, (1.0 - prevalence) * price
    return Losses((1, 0), factors, (missed[own], alarmed[nontargets]), is_rate=True)


__all__ = ["compare_net_benefit", "decision_curve"]
