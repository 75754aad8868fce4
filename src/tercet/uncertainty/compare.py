"""Comparison: is one system better than another on the same trials, and by how much?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np

from tercet._numeric.records import ReadOnly
from tercet._numeric.validation import callback, chosen, flag, label_list, probability, seed_number, shown
from tercet._typing import Reals
from tercet.application import Application, MulticlassApplication, listed
from tercet.decision import decide
from tercet.errors import InputError
from tercet.metrics.binomial import delong_test, sign_test
from tercet.metrics.case_costs import CaseCosts
from tercet.metrics.confusion import as_matrix
from tercet.metrics.pairing import PairBy, paired
from tercet.trials import Trials
from tercet.uncertainty._clusters import SampledRows, flattened, grouping, several
from tercet.uncertainty._differences import (
    Losses,
    PairedTrials,
    independent,
    many_class_losses,
    shared_names,
    two_class_losses,
)
from tercet.uncertainty._kernel.engine import Progress, Settings, replicates
from tercet.uncertainty._kernel.percentiles import order_statistic, tail_of
from tercet.uncertainty._limits import Estimate, p_value
from tercet.uncertainty._multiclass import many_class_estimates
from tercet.uncertainty._two_class import Found, NotEstimable
from tercet.uncertainty.bayes import PRIORS, Prior, Probability, probabilities
from tercet.uncertainty.bootstrap import Method, on_same_rows, planned, summed_up
from tercet.uncertainty.case_costs import case_cost_estimates, ends
from tercet.uncertainty.comparison import Comparison, Difference, ExactTest
from tercet.uncertainty.intervals import (
    QUANTITIES,
    Bound,
    CalibrationLosses,
    Intervals,
    bounded,
    is_asked,
    two_class_estimates,
    wanted_of,
)

_COMPARED = tuple(
    name
    for name in QUANTITIES
    if name
    not in ("bayes_plot", "contributions", "calibration_loss", "actual_minus_min", "cross_fitted_min_dcf", "ppv", "f1")
)
_WAY_OUT = "If they are independent sets of trials, say unpaired=True."


def compare(
    *systems: object,
    applications: Iterable[object] | None = None,
    names: Sequence[str] | None = None,
    ci: float = 0.95,
    by: str | tuple[str, str] | None = None,
    method: Method | None = None,
    resamples: int | None = None,
    seed: int = 0,
    quantities: Iterable[str] | None = None,
    correction: Literal["pairs", "all"] = "pairs",
    unpaired: bool = False,
    pair_by: PairBy | None = None,
    bayes: Prior | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare systems on the same trials: compare(a, b, applications), or more than two.

    Differences in rates and costs are bounded by MOVER over the trials that only one system gets wrong, other
    differences by a paired jackknife with Student's t; rates and costs by group take the wider of both. The p-value
    is one minus the largest level whose interval excludes 0. The numbers of each system have the intervals of
    evaluate(..., ci=ci, by=by).

    Parameters
    ----------
    *systems : Trials
        Two or more systems; the applications may follow them as the last argument.
    applications : iterable, optional
        Operating points, as evaluate takes them; or CaseCosts, whose rows are those of the first system.
    names : sequence of str, optional
        What to call the systems; the names of the trials by default.
    ci : float, default 0.95
        Level of the intervals.
    by : str or tuple of two str, optional
        Group column(s) whose groups vary as a whole.
    method : {"percentile", "bca"}, optional
        Bootstrap intervals instead of closed forms; with `resamples` given, "percentile".
    resamples, seed : int, optional
        Number of resamples and seed, for the bootstrap and for the sign-flip test.
    quantities : iterable of str, optional
        Names of the numbers to compare.
    correction : {"pairs", "all"}, default "pairs"
        Whether Holm's correction (1979) is over the pairs of systems in each number, or over all numbers as well.
    unpaired : bool, default False
        Whether the systems were evaluated on independent sets of trials.
    pair_by : {"id", "position"}, optional
        How trials are matched; by id whenever there are ids.
    bayes : {"jeffreys", "uniform"}, optional
        Also compute the probability that one system is cheaper than another, under this prior (`.probabilities`).
    threads : int, optional
        Threads of a bootstrap.
    progress : callable, optional
        Called with (resamples done, all resamples).

    Returns
    -------
    Comparison
        Values, differences, tests and ranks.

    Examples
    --------
    >>> a = Trials.of_llr([3.0, 2.0, 1.0, -1.0, -2.0, 0.5], [1, 1, 1, 0, 0, 0], name="a")
    >>> b = Trials.of_llr([3.0, -2.0, 1.0, -1.0, 2.0, 0.5], [1, 1, 1, 0, 0, 0], name="b")
    >>> one = compare(a, b, [(0.5, 1, 1)]).of("applications.0.dcf")[0]
    >>> round(one.value, 3), one.p_value > 0.05
    (-0.667, True)
    """
    level, groups = probability(ci, "ci"), grouping(by)
    _check_how(correction, progress)
    trials, apps = _arguments(systems, applications)
    called = names_of(trials, names)
    if any(isinstance(app, CaseCosts) for app in apps):
        _check_by_case({"method": method, "resamples": resamples, "bayes": bayes, "quantities": quantities}, unpaired)
        return _compared_by_case(trials, called, apps, level, groups, correction, pair_by)
    wanted = wanted_of(_COMPARED if quantities is None else quantities)
    same, matched = _matched(trials, called, apps, groups, pair_by, flag(unpaired, "unpaired"))
    losses = [] if matched is None else _losses(same, apps, groups)
    if method is None and resamples is None:
        found = _in_closed_form(same, called, apps, wanted, level, groups, losses)
    else:
        settings = _bootstrap_settings(level, resamples, seed, by, method, threads)
        found = _resampled(same, called, apps, wanted, settings, matched is not None, progress)
    exact = _exact_tests(same, called, apps, groups, seed, losses)
    beliefs = () if bayes is None else _beliefs(same, called, apps, level, bayes, groups, matched is not None, seed)
    drawn = found.intervals[0]
    return Comparison(
        called, found.values(), _corrected(found.differences, correction), exact, level, drawn.resamples, seed, groups,
        not unpaired, matched, drawn.redrawn, tuple(_point(app) for app in apps), found.notes(matched),
        ReadOnly(found.estimates), beliefs,
    )  # fmt: skip


def _check_how(correction: object, progress: object) -> None:
    chosen(correction, "correction", ("pairs", "all"))
    callback(progress, "progress")


def _bootstrap_settings(
    level: float, resamples: int | None, seed: int, by: object, method: Method | None, threads: int | None
) -> Settings:
    """1,000 resamples and percentiles unless said otherwise."""
    count = 1000 if resamples is None else resamples
    return Settings.of(level, count, seed, by, "percentile" if method is None else method, threads)


def _check_by_case(given: dict[str, object], unpaired: object) -> None:
    """Refuses options that do not apply to costs per case."""
    if unpaired or any(value is not None for value in given.values()):
        raise InputError(
            "Costs per case are compared in closed form on the same cases: leave method=, resamples=, unpaired=, "
            "bayes= and quantities= out."
        )


def _compared_by_case(
    trials: Sequence[Trials], names: tuple[str, ...], every: Sequence[object], level: float, groups: tuple[str, ...],
    correction: str, pair_by: PairBy | None,
) -> Comparison:  # fmt: skip
    """Costs per case, in the order of the first system's trials: values, paired differences, ranks."""
    costs = [app for app in every if isinstance(app, CaseCosts)]
    if len(costs) < len(every):
        raise InputError("Costs per case are compared on their own, not together with other applications.")
    pairing = paired(trials, by=pair_by)
    same = sharing_groups(pairing.systems, names, groups)
    found = case_cost_estimates(same, costs, groups)
    values = {
        name: tuple(Bound(float(one.value), *ends(one, level), one.method(level)) for one in row)
        for name, row in found.alone.items()
    }
    points = tuple(f"prior {one.prior:g}, costs per case" for one in costs)
    return paired_comparison(names, values, found.differences, level, groups, correction, pairing.by, points)


def paired_comparison(
    names: tuple[str, ...], values: Mapping[str, tuple[Bound, ...]],
    differences: Mapping[tuple[str, int, int], tuple[Estimate, float]], level: float, groups: tuple[str, ...],
    correction: str, pair_by: PairBy, points: tuple[str, ...],
) -> Comparison:  # fmt: skip
    """The comparison of known values, each difference by its closed form and the least p-value it can have."""
    rows, estimates = [], {}
    for (name, i, j), (one, least) in differences.items():
        called = name, names[i], names[j]
        base, p = float(values[name][j].value), max(p_value(one), least)
        rows.append(_difference(called, float(one.value), base, one.limits(level), p, one.method(level), least))
        estimates[called] = one
    return Comparison(
        names, ReadOnly(values), _corrected(rows, correction), (), level, 0, 0, groups, True, pair_by, 0,
        points, _matching_notes(pair_by), ReadOnly(estimates),
    )  # fmt: skip


def _beliefs(
    systems: Sequence[Trials], names: Sequence[str], apps: Sequence[object], level: float, prior: Prior,
    groups: tuple[str, ...], paired_trials: bool, seed: int,
) -> tuple[Probability, ...]:  # fmt: skip
    """How probable it is that one system is cheaper; posteriors take trials as independent."""
    known = chosen(prior, "bayes", PRIORS)
    if groups:
        raise InputError("bayes= assumes independent trials: leave by= out, or bayes=.")
    return probabilities(systems, names, apps, level, known, paired_trials, seed_number(seed))


class _Compared(NamedTuple):
    intervals: list[Intervals]
    shared: list[str]
    differences: list[Difference]
    estimates: dict[tuple[str, str, str], Estimate]

    def values(self) -> Mapping[str, tuple[Bound, ...]]:
        """Each number that all systems have, of every system."""
        return ReadOnly({name: tuple(one[name] for one in self.intervals) for name in self.shared})

    def notes(self, matched: PairBy | None) -> tuple[str, ...]:
        """The notes, each once."""
        found = [note for one in self.intervals for note in one.notes]
        return tuple(dict.fromkeys([*found, *_matching_notes(matched)]))


def _in_closed_form(
    systems: Sequence[Trials], names: Sequence[str], apps: Sequence[object], wanted: frozenset[str], level: float,
    by: tuple[str, ...], losses: Sequence[PairedLosses],
) -> _Compared:  # fmt: skip
    """Every system's intervals, and every pair's difference; without losses, the systems are independent."""
    alone = [_estimates(one, apps, by, wanted) for one in systems]
    intervals = [bounded(one, level, wanted, by) for one in alone]
    pairs = _paired_differences(losses)
    units = [] if pairs else [_units(one, by) for one in systems]
    both = [{n: b for n, b in one.bounds.items() if not pairs or (n, 0, 1) in pairs} for one in intervals]
    shared = _asked(both, wanted)
    estimates: dict[tuple[str, str, str], Estimate] = {}
    rows = []
    for name in shared:
        for i, j in combinations(range(len(names)), 2):
            one, other = alone[i][name], alone[j][name]
            assert not isinstance(one, NotEstimable)
            assert not isinstance(other, NotEstimable)
            known, least = pairs[name, i, j] if pairs else (independent(one, other), _least_p(units[i], units[j], name))
            called = name, names[i], names[j]
            base, p = float(intervals[j][name].value), max(p_value(known), least)
            value = float(intervals[i][name].value) - base
            rows.append(_difference(called, value, base, known.limits(level), p, known.method(level), least))
            estimates[called] = known
    return _Compared(intervals, shared, rows, estimates)


def _units(trials: Trials, by: tuple[str, ...]) -> tuple[int, ...]:
    """How many trials, or groups, of each class could as well have been tried on another system."""
    rows = SampledRows.of(trials, by)
    return rows.clusters.groups if rows.grouped else tuple(int(own.sum()) for own in rows.weights)


def _least_p(one: Sequence[int], other: Sequence[int], quantity: str) -> float:
    """The smallest p-value that exchanging the trials of two independent sets can show, in the classes that count."""
    kept = {"fnr": slice(1, 2), "fpr": slice(0, 1)}.get(quantity.split(".")[-1], slice(None))
    ways = sum(
        math.lgamma(a + b + 1.0) - math.lgamma(a + 1.0) - math.lgamma(b + 1.0)
        for a, b in zip(one[kept], other[kept], strict=True)
    )
    return min(1.0, 2.0 * math.exp(-ways))


def _difference(
    called: tuple[str, str, str], value: float, base: float, ends: tuple[Reals, Reals], p: float, method: str,
    least: float = 0.0,
) -> Difference:  # fmt: skip
    """A row of the table; the interval holds the difference itself, which is told as a share of the second's number."""
    low, high = min(float(ends[0]), value), max(float(ends[1]), value)
    return Difference(*called, value, low, high, p, p, method, value / base if base > 0.0 else None, least)


def _estimates(trials: Trials, apps: Sequence[object], by: tuple[str, ...], wanted: frozenset[str]) -> Found:
    if several(trials, apps):
        rows, matrices = SampledRows.of(trials, by), [as_matrix(app) for app in apps]
        return many_class_estimates(trials, rows, by, matrices, "natural")
    points = [Application.of(app) for app in apps]
    return two_class_estimates(CalibrationLosses(trials, by), points, wanted=wanted)


PairedLosses = tuple[PairedTrials, list[dict[str, Losses]]]  # the common rows, and each system's losses on them


def _paired_differences(losses: Sequence[PairedLosses]) -> dict[tuple[str, int, int], tuple[Estimate, float]]:
    """The difference of every pair of systems in every number that has losses, and its smallest possible p-value."""
    found: dict[tuple[str, int, int], tuple[Estimate, float]] = {}
    for rows, systems in losses:
        for name in shared_names(systems):
            for i, j in combinations(range(len(systems)), 2):
                pair = systems[i][name], systems[j][name]
                found[name, i, j] = rows.difference(*pair), rows.least_p(*pair)
    return found


def _losses(systems: Sequence[Trials], apps: Sequence[object], by: tuple[str, ...]) -> list[PairedLosses]:
    """The losses of every system over the common rows: by class, and of K classes also over all trials."""
    rows = PairedTrials.of(systems[0], by)
    if not several(systems[0], apps):
        points = [Application.of(app) for app in apps]
        return [(rows, [two_class_losses(one, rows.rows, points, by) for one in systems])]
    matrices = [as_matrix(app) for app in apps]
    both = [many_class_losses(one, rows.rows, matrices) for one in systems]
    whole = PairedTrials.of(systems[0], by, together=True)
    return [(rows, [costs for costs, _ in both]), (whole, [over for _, over in both])]


def _resampled(
    systems: Sequence[Trials], names: Sequence[str], apps: Sequence[object], wanted: frozenset[str], settings: Settings,
    paired_trials: bool, progress: Progress | None,
) -> _Compared:  # fmt: skip
    """The same by the bootstrap: percentile intervals of the differences over shared draws."""
    plan = None
    if not several(systems[0], apps):
        plan = planned([Application.of(app) for app in apps], wanted, None)
    sets = [systems] if paired_trials else [[one] for one in systems]
    parts = [on_same_rows(own, apps, plan, settings.by) for own in sets]
    designs, made = [design for design, _ in parts], [system for _, own in parts for system in own]
    each = designs if len(designs) > 1 else designs * len(made)
    columns, redrawn = replicates(designs, made, settings, progress)
    intervals = [summed_up(*one, redrawn, settings, wanted) for one in zip(each, made, columns, strict=True)]
    shared, tail, rows = _asked([one.bounds for one in intervals], wanted), tail_of(each[0], settings.level), []
    for name in shared:
        for i, j in combinations(range(len(names)), 2):
            gaps = np.sort(columns[i][name] - columns[j][name])
            ends = order_statistic(gaps, tail, down=True), order_statistic(gaps, 1.0 - tail, down=False)
            least = min(int((gaps <= 0.0).sum()), int((gaps >= 0.0).sum()))
            p = min(1.0, 2.0 * (1 + least) / (1 + len(gaps)))
            base = float(intervals[j][name].value)
            value = float(intervals[i][name].value) - base
            rows.append(_difference((name, names[i], names[j]), value, base, ends, p, "percentile bootstrap"))
    return _Compared(intervals, shared, rows, {})


def _asked(found: Sequence[Mapping[str, Bound]], wanted: frozenset[str]) -> list[str]:
    """The numbers asked for that all systems have."""
    shared = [
        name for name in shared_names(found) if np.ndim(found[0][name].value) == 0 and name.split(".")[-1] in wanted
        and name.split(".")[-1] != "min_dcf_u" and is_asked(name, wanted)
    ]  # fmt: skip
    if not shared:
        raise InputError(
            f"There is nothing to compare: none of the quantities asked for ({', '.join(sorted(wanted)) or 'none'}) is "
            f"a single number that all systems have at these applications."
        )
    return shared


def _corrected(rows: Sequence[Difference], correction: str) -> tuple[Difference, ...]:
    """P-values after Holm's correction over the pairs of systems in each number, or over everything."""
    families: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        families.setdefault("" if correction == "all" else row.quantity, []).append(place)
    found = list(rows)
    for places in families.values():
        for place, p in zip(places, holm([rows[k].p_value for k in places]), strict=True):
            found[place] = rows[place]._replace(adjusted=p)
    return tuple(found)


def _arguments(systems: Sequence[object], applications: object) -> tuple[list[Trials], list[object]]:
    """The systems, and the applications, which may stand last among the arguments."""
    given, checked = list(systems), list[Trials]()
    if given and isinstance(given[0], list | tuple):
        raise InputError("systems must be arguments of their own, not a list of Trials: compare(*systems).")
    if given and not isinstance(given[-1], Trials) and applications is None:
        applications = given.pop()
    for place, trials in enumerate(given):
        if not isinstance(trials, Trials):
            raise InputError(
                f"systems must be Trials, then applications: argument {place} is {shown(type(trials).__name__)}."
            )
        checked.append(trials)
    if len(given) < 2:
        raise InputError(f"compare needs at least two systems, not {len(given)}.")
    if isinstance(applications, CaseCosts):
        applications = [applications]
    return checked, listed(() if applications is None else applications)


def names_of(trials: Sequence[Trials], names: Sequence[str] | None) -> tuple[str, ...]:
    """What to call the systems: distinct names, given or their own."""
    called = (
        tuple(map(str, label_list(names, "names")))
        if names is not None
        else tuple(t.name or f"system {k + 1}" for k, t in enumerate(trials))
    )
    if len(called) != len(trials) or len(set(called)) < len(called):
        if names is not None:
            raise InputError(f"names must be distinct, one for each of the {len(trials)} systems.")
        called = tuple(f"{name} ({k + 1})" for k, name in enumerate(called))
    return called


def _matched(
    trials: Sequence[Trials], names: Sequence[str], apps: Sequence[object], groups: tuple[str, ...],
    pair_by: PairBy | None, unpaired: bool,
) -> tuple[list[Trials], PairBy | None]:  # fmt: skip
    """The systems' trials, two-class ones as one column; in one order unless unpaired, and how they were matched."""
    if unpaired:
        return [flattened(one, apps) for one in trials], None
    for one in trials:
        one.known_labels()
    found = paired([flattened(one, apps) for one in trials], by=pair_by, names=names, way_out=_WAY_OUT)
    return sharing_groups(found.systems, names, groups), found.by


def _matching_notes(matched: PairBy | None) -> tuple[str, ...]:
    return ("paired by position",) if matched == "position" else ()


def sharing_groups(systems: Sequence[Trials], names: Sequence[str], by: Sequence[str]) -> list[Trials]:
    """The trials of every system with the groups of the first that has them; others that have them must agree."""
    for column in by:
        knowing = [
            (one.groups[column].astype(str), name)
            for one, name in zip(systems, names, strict=True)
            if column in one.groups
        ]
        for groups, name in knowing[1:]:
            differ = np.flatnonzero(groups != knowing[0][0])
            if len(differ):
                raise InputError(
                    f"Groups {shown(column)} of {shown(knowing[0][1])} and {shown(name)} differ in {len(differ)} "
                    f"trials, the first in row {differ[0]}, and a trial has only one."
                )
    having = next((one for one in systems if all(name in one.groups for name in by)), systems[0])
    return [one if one is having or not by else replace(one, groups=having.groups) for one in systems]


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: the k-th smallest of m times (m - k + 1), never falling, at most 1.

    Parameters
    ----------
    p_values : sequence of float
        p-values of a family of tests.

    Returns
    -------
    list of float
        Adjusted p-values, in the same order.

    References
    ----------
    .. [1] S. Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6,
       1979, 65-70.

    Examples
    --------
    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    found, least = [0.0] * len(p_values), 0.0
    for k, place in enumerate(order.tolist()):
        least = max(least, min(1.0, (len(order) - k) * p_values[place]))
        found[place] = least
    return found


def _exact_tests(
    systems: Sequence[Trials], names: Sequence[str], apps: Sequence[object], by: tuple[str, ...], seed: int,
    every: Sequence[PairedLosses],
) -> tuple[ExactTest, ...]:  # fmt: skip
    """DeLong and McNemar where trials are independent and unweighted, sign flips of the costs unless groups cross."""
    if not every:
        return _unpaired_tests(systems, names, apps, by)
    found = []
    alone = not by and all(one.weights is None for one in systems)
    many = several(systems[0], apps)
    rows, losses = every[0]
    for i, j in combinations(range(len(systems)), 2):
        called = (names[i], names[j])
        if alone and not many and min(np.bincount(systems[i].known_labels(), minlength=2)) > 1:
            area = delong_test(systems[i], systems[j], pair_by="position")  # they are in one order
            found.append(ExactTest("DeLong", "auc", *called, area.p_value, area.difference))
        for k, app in enumerate(apps):
            if "raw" in (systems[i].meaning, systems[j].meaning):
                continue
            if alone:
                found.append(_mcnemar(systems[i], systems[j], app, (f"applications.{k}.confusion", *called)))
            if len(by) == 2:
                continue
            cost = f"applications.{k}.{'risk' if many else 'dcf_u'}"
            p = rows.sign_flip(losses[i][cost], losses[j][cost], seed)
            effect = float(rows.difference(losses[i][cost], losses[j][cost]).value)
            found.append(ExactTest("sign-flip", cost, *called, p, effect))
    return tuple(found)


def _unpaired_tests(
    systems: Sequence[Trials], names: Sequence[str], apps: Sequence[object], by: tuple[str, ...]
) -> tuple[ExactTest, ...]:
    """DeLong's test of two-class systems on independent, unweighted trials without groups."""
    if by or several(systems[0], apps) or any(one.weights is not None for one in systems):
        return ()
    if min(min(np.bincount(one.known_labels(), minlength=2)) for one in systems) < 2:
        return ()
    found = []
    for i, j in combinations(range(len(systems)), 2):
        area = delong_test(systems[i], systems[j], unpaired=True)
        found.append(ExactTest("DeLong", "auc", names[i], names[j], area.p_value, area.difference))
    return tuple(found)


def _mcnemar(first: Trials, second: Trials, app: object, called: tuple[str, str, str]) -> ExactTest:
    right = first.known_labels().astype(np.intp)
    wrong, also = (decide(one, app) != right for one in (first, second))
    only, lone = int((wrong & ~also).sum()), int((also & ~wrong).sum())
    return ExactTest("McNemar", *called, sign_test(only, lone), only / lone if lone else None)


def _point(app: object) -> str:
    """An application in words."""
    if isinstance(app, MulticlassApplication):
        return f"priors {', '.join(f'{prior:.4g}' for prior in app.prior[:6])}{' ...' if len(app.prior) > 6 else ''}"
    two = Application.of(app)
    return f"prior {two.prior:g}, costs {two.cost_fn:g} : {two.cost_fp:g}"
