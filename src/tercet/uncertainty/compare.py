"""Comparison: is one system better than another on the same trials, and by how much?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from types import MappingProxyType
from typing import Any, Literal, NamedTuple

import numpy as np

from tercet._numeric.plain import plain
from tercet._numeric.validation import callback, chosen, flag, label_list, number, seed_number, shown
from tercet._views import Shown
from tercet.application import Application, MulticlassApplication, listed
from tercet.decision import decide
from tercet.errors import InputError
from tercet.metrics.binomial import delong_test, sign_test
from tercet.metrics.case_costs import CaseCosts
from tercet.metrics.confusion import as_matrix
from tercet.metrics.pairing import PairBy, Paired, paired
from tercet.trials import Trials
from tercet.uncertainty._differences import (
    Independent,
    Losses,
    PairedTrials,
    many_class_losses,
    shared_names,
    two_class_losses,
)
from tercet.uncertainty._kernel.classes import ManyClasses
from tercet.uncertainty._kernel.draws import Design
from tercet.uncertainty._kernel.engine import Progress, Settings, System, replicates
from tercet.uncertainty._kernel.pairs import shared_rows
from tercet.uncertainty._kernel.percentiles import order_statistic, tail_of
from tercet.uncertainty._kernel.two import TwoClass
from tercet.uncertainty._limits import Estimate, p_value
from tercet.uncertainty._multiclass import ManyClassSample, many_class_estimates
from tercet.uncertainty._rows import grouping, several
from tercet.uncertainty._two_class import Found, NotEstimable
from tercet.uncertainty.bayes import PRIORS, Prior, Probability, probabilities
from tercet.uncertainty.bootstrap import Method, planned, settings_of, summed_up
from tercet.uncertainty.case_costs import case_cost_estimates
from tercet.uncertainty.intervals import (
    QUANTITIES,
    Bound,
    CalibrationLosses,
    Intervals,
    bounded,
    checked_level,
    is_asked,
    two_class_estimates,
    wanted_of,
)

HIGHER_IS_BETTER = {"auc", "accuracy"}
_COMPARED = tuple(
    name
    for name in QUANTITIES
    if name
    not in ("bayes_plot", "contributions", "calibration_loss", "actual_minus_min", "cross_fitted_min_dcf", "ppv", "f1")
)
_TOLD = {
    "cost",
    "dcf",
    "min_dcf",
    "risk",
    "eer",
    "auc",
    "cllr",
    "accuracy",
    "log_loss",
}  # the differences of a first look
_WORDS = {
    "dcf": "DCF",
    "min_dcf": "min DCF",
    "auc": "AUC",
    "eer": "EER",
    "cllr": "Cllr",
    "risk": "Bayes risk",
    "cost": "cost per case",
}
_HAIR = 1e-9  # a p-value of the level itself is found by halving, and rounded
_WAY_OUT = "If they are independent sets of trials, say unpaired=True."
_HEADLINES = ("applications.0.dcf", "applications.0.risk", "applications.0.min_dcf", "auc", "accuracy")


class Difference(NamedTuple):
    """First minus second: its interval, the p-value of no difference, and that after Holm's correction.

    Attributes
    ----------
    quantity : str
        What is compared.
    first : str
        The first system.
    second : str
        The second system.
    value : float
        First minus second.
    low : float
        Lower end.
    high : float
        Upper end.
    p_value : float
        p-value of no difference.
    adjusted : float
        The p-value after Holm's correction.
    method : str
        How the interval was made.
    relative : float or None
        The difference as a share of the second system's number.
    least_p : float
        The smallest p-value that these trials could show: all that differ fall on one side; 0 where it is not known.
    """

    quantity: str
    first: str
    second: str
    value: float
    low: float
    high: float
    p_value: float
    adjusted: float
    method: str
    relative: float | None = None
    least_p: float = 0.0


class MarginTest(NamedTuple):
    """A one-sided test of a difference against a margin, or two of them (equivalence).

    Attributes
    ----------
    test : str
        Which test.
    quantity : str
        What is compared.
    first : str
        The first system.
    second : str
        The second system.
    margin : float
        The margin.
    p_value : float
        The p-value.
    shown : bool
        Whether it holds at the comparison's level.
    """

    test: str
    quantity: str
    first: str
    second: str
    margin: float
    p_value: float
    shown: bool  # whether it holds at the comparison's level


class Rank(NamedTuple):
    """A system's rank: 1 + the number of systems shown to be better; equal ranks are ties.

    Attributes
    ----------
    rank : int
        The rank.
    system : str
        The system.
    value : float
        Its number.
    low : float
        Lower end.
    high : float
        Upper end.
    tied : bool
        Whether another system has the same rank.
    """

    rank: int
    system: str
    value: float
    low: float
    high: float
    tied: bool


class ExactTest(NamedTuple):
    """A test beside the intervals: DeLong for the AUC, McNemar for the decisions, sign flips for the costs.

    Attributes
    ----------
    test : str
        "DeLong", "McNemar" or "sign-flip".
    quantity : str
        What is compared.
    first : str
        The first system.
    second : str
        The second system.
    p_value : float
        Two-sided p-value.
    effect : float or None
        The effect size: of McNemar the odds that a trial only one system got wrong was the first's; of DeLong and of
        sign flips the difference. None where it is undefined.
    """

    test: str
    quantity: str
    first: str
    second: str
    p_value: float
    effect: float | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(Shown):
    """Two or more systems side by side, every difference with its interval and p-value.

    Attributes
    ----------
    names : tuple of str
        The systems.
    values : mapping of str to tuple of Bound
        Each quantity's value per system.
    differences : tuple of Difference
        One per quantity and pair of systems.
    tests : tuple of ExactTest
        Exact tests, where they apply.
    level : float
        Confidence level.
    resamples : int
        Number of resamples.
    seed : int
        Seed of the resampling.
    by : tuple of str
        Group columns resampled as a whole.
    paired : bool
        Whether the systems were compared on the same trials.
    paired_by : {"id", "position"} or None
        How trials were matched; None where they were not.
    redrawn : int
        Resamples drawn again because a number was undefined.
    points : tuple of str
        The applications, in words.
    notes : tuple of str
        What a reader must know.
    estimates : mapping
        Estimates of the closed forms.
    probabilities : tuple of Probability
        That one system costs less, where `bayes` asked for them.
    """

    names: tuple[str, ...]
    values: Mapping[str, tuple[Bound, ...]]  # for each quantity one a system
    differences: tuple[Difference, ...]
    tests: tuple[ExactTest, ...]
    level: float
    resamples: int
    seed: int
    by: tuple[str, ...]
    paired: bool
    paired_by: PairBy | None  # how the systems' trials were matched; None where they were not
    redrawn: int
    points: tuple[str, ...] = ()  # the applications, in words
    notes: tuple[str, ...] = ()  # what a reader must know
    estimates: Mapping[tuple[str, str, str], Estimate] = field(default_factory=dict)  # of the closed forms
    probabilities: tuple[Probability, ...] = ()  # that one system is cheaper, where bayes= asked for them

    @property
    def quantities(self) -> tuple[str, ...]:
        """What was compared, by the names of the JSON."""
        return tuple(self.values)

    def of(self, quantity: str) -> tuple[Difference, ...]:
        """The differences of one quantity, one for each pair of systems.

        Parameters
        ----------
        quantity : str
            A quantity's name, such as "auc".

        Returns
        -------
        tuple of Difference
            The differences.
        """
        if quantity not in self.values:
            raise InputError(f"{shown(quantity)} was not compared; there are: {', '.join(self.values)}.")
        return tuple(one for one in self.differences if one.quantity == quantity)

    def non_inferior(self, quantity: str, first: str, second: str, margin: float) -> MarginTest:
        """Whether the first system is worse than the second by less than a margin (one-sided).

        Parameters
        ----------
        quantity : str
            The name of a number, such as "applications.0.dcf".
        first, second : str
            Names of two compared systems.
        margin : float
            How much worse is still acceptable, in the number's own unit; 0 tests superiority.

        Returns
        -------
        MarginTest
            The one-sided p-value at half of one minus the level, and whether it is shown.
        """
        return self._one_sided("non-inferiority", quantity, (first, second), _margin(margin))

    def superior(self, quantity: str, first: str, second: str, margin: float = 0.0) -> MarginTest:
        """Whether the first system is better than the second by more than a margin (one-sided).

        Parameters
        ----------
        quantity : str
            The name of a number, such as "applications.0.dcf".
        first, second : str
            Names of two compared systems.
        margin : float, default 0
            How much better it must be at least, in the number's own unit.

        Returns
        -------
        MarginTest
            The one-sided p-value, and whether it is at most (1 - level) / 2.
        """
        return self._one_sided("superiority", quantity, (first, second), -_margin(margin))

    def _one_sided(self, test: str, quantity: str, systems: tuple[str, str], edge: float) -> MarginTest:
        """Whether the first is worse by less than the edge; below 0 it must be better."""
        estimate, sign = self._estimate(quantity, *systems)
        higher = quantity.split(".")[-1] in HIGHER_IS_BETTER
        null = -edge if higher else edge
        side = "greater" if higher == (sign > 0.0) else "less"
        p = max(p_value(estimate, sign * null, side), self._least_p(quantity, systems) / 2.0)
        return MarginTest(test, quantity, *systems, abs(edge), p, p <= (1.0 - self.level) / 2.0 + _HAIR)

    def _least_p(self, quantity: str, systems: tuple[str, str]) -> float:
        """The smallest two-sided p-value that the trials could show."""
        return next((one.least_p for one in self.of(quantity) if {one.first, one.second} == set(systems)), 0.0)

    def margin_tests(self, margin: float) -> tuple[MarginTest, ...]:
        """Superiority without, non-inferiority and equivalence with a margin, for every cost and pair of systems.

        Parameters
        ----------
        margin : float
            The largest difference in cost that does not matter.

        Returns
        -------
        tuple of MarginTest
            For each cost ("dcf", or "risk" of several classes), both directions of the one-sided tests.
        """
        last = "risk" if any(name.endswith(".risk") for name in self.values) else "dcf"
        found = []
        for quantity in (name for name in self.values if name.split(".")[-1] == last):
            for one, other in combinations(self.names, 2):
                for first, second in ((one, other), (other, one)):
                    found.append(self.superior(quantity, first, second))
                    found.append(self.non_inferior(quantity, first, second, margin))
                found.append(self.equivalent(quantity, one, other, margin))
        return tuple(found)

    def equivalent(self, quantity: str, first: str, second: str, margin: float) -> MarginTest:
        """Whether two systems differ by less than a margin either way: two one-sided tests (TOST).

        Parameters
        ----------
        quantity : str
            The name of a number, such as "applications.0.dcf".
        first, second : str
            Names of two compared systems.
        margin : float
            The largest difference that does not matter, in the number's own unit.

        Returns
        -------
        MarginTest
            The larger of both one-sided p-values, and whether it is at most (1 - level) / 2.
        """
        estimate, _ = self._estimate(quantity, first, second)
        edge = _margin(margin)
        p = max(p_value(estimate, -edge, "greater"), p_value(estimate, edge, "less"))
        return MarginTest("equivalence", quantity, first, second, edge, p, p <= (1.0 - self.level) / 2.0 + _HAIR)

    def _estimate(self, quantity: str, first: str, second: str) -> tuple[Estimate, float]:
        """The estimate of a difference, and -1 where it is the other way round."""
        self.of(quantity)
        for key, sign in (((quantity, first, second), 1.0), ((quantity, second, first), -1.0)):
            if key in self.estimates:
                return self.estimates[key], sign
        raise InputError(
            f"There is no closed-form difference of {shown(first)} and {shown(second)} in {shown(quantity)}: the "
            f"systems are {', '.join(map(shown, self.names))}, and a bootstrap has none."
        )

    def ranks(self, quantity: str | None = None) -> tuple[Rank, ...]:
        """The systems from best to worst; those that cannot be distinguished share a rank.

        Parameters
        ----------
        quantity : str, optional
            The quantity to rank by; the first without.

        Returns
        -------
        tuple of Rank
            One per system.
        """
        name = self._headline() if quantity is None else quantity
        sign = -1.0 if name.split(".")[-1] in HIGHER_IS_BETTER else 1.0
        beaten = dict.fromkeys(self.names, 0)
        for one in self.of(name):
            if one.adjusted <= 1.0 - self.level + _HAIR:
                beaten[one.second if sign * one.value < 0.0 else one.first] += 1
        places = list(beaten.values())
        rows = [
            Rank(1 + beaten[system], system, b.value, b.low, b.high, places.count(beaten[system]) > 1)
            for system, b in zip(self.names, self.values[name], strict=True)
        ]
        return tuple(sorted(rows, key=lambda row: (row.rank, sign * row.value)))

    @property
    def sentence(self) -> str:
        """The answer in words, for the first application's cost (or the AUC)."""
        name = self._headline()
        table = self.ranks(name)
        best = [row for row in table if row.rank == 1]
        drawn = f", {self.resamples} resamples" if self.resamples else ""
        spoken = f"{self._spoken(name)} ({100 * self.level:g} % intervals{drawn})"
        if len(self.names) > 2:
            told = " and ".join(f"{row.system} ({row.value:.4g})" for row in best)
            verb = "is best" if len(best) == 1 else "cannot be told apart at the top"
            worse = ", ".join(f"{row.system} ({row.value:.4g})" for row in table if row.rank > 1)
            return f"By {spoken}, {told} {verb}" + (f"; shown to be worse: {worse}." if worse else ".")
        one = self.of(name)[0]
        facts = (
            f"{one.first} {self.values[name][0].value:.4g}, {one.second} {self.values[name][1].value:.4g}, difference "
            f"{one.value:+.4g} ({one.low:+.4g} to {one.high:+.4g}, p = {one.p_value:.2g})"
        )
        if len(best) > 1:
            return f"By {spoken}, no difference between {one.first} and {one.second} can be shown: {facts}."
        return f"By {spoken}, {best[0].system} is better: {facts}."

    def _headline(self) -> str:
        return next((name for name in _HEADLINES if name in self.values), next(iter(self.values)))

    def _spoken(self, name: str) -> str:
        """A quantity's name as one says it."""
        *_, last = name.split(".")
        if not name.startswith("applications"):
            return _WORDS.get(last, last.replace("_", " "))
        place = int(name.split(".")[1])
        where = self.points[place] if place < len(self.points) else f"application {place + 1}"
        return f"{_WORDS.get(last, last.replace('_', ' '))} at {where}"

    def __repr__(self) -> str:
        name = self._headline()
        ranks = [
            [f"{row.rank}{'=' if row.tied else ''}", row.system, f"{row.value:.4f}", f"{row.low:.4f} to {row.high:.4f}"]
            for row in self.ranks()
        ]
        lines = [self.sentence, "", *_aligned([["rank", "system", self._spoken(name), "interval"], *ranks]), ""]
        told = [one for one in self.differences if one.quantity.split(".")[-1] in _TOLD]
        rows = [
            [self._spoken(one.quantity), f"{one.first} - {one.second}", f"{one.value:+.4f}",
             f"{one.low:+.4f} to {one.high:+.4f}", f"{one.p_value:.2g}", f"{one.adjusted:.2g}"]
            for one in told
        ]  # fmt: skip
        table = _aligned([["difference in", "of", "value", "interval", "p", "p (Holm)"], *rows])
        chances = [
            f"  {100 * one.probability:.4g} % probable that {one.first} is cheaper than {one.second} in "
            f"{self._spoken(one.quantity)}: {one.value:+.4g} ({one.low:+.4g} to {one.high:+.4g}), {one.method}"
            for one in self.probabilities
        ]
        return "\n".join([*lines, *table, *chances, *(f"  note: {note}" for note in self.notes)])

    def to_dict(self) -> dict[str, Any]:
        """The comparison as plain values for JSON.

        Returns
        -------
        dict
            Plain values.
        """
        kept = ("names", "level", "resamples", "seed", "by", "paired", "paired_by", "redrawn", "points", "notes")
        values = {
            name: [{"value": b.value, "value_ci": [b.low, b.high], "method": b.method} for b in row]
            for name, row in self.values.items()
        }
        facts: dict[str, Any] = {key: getattr(self, key) for key in kept} | {
            "values": values,
            "sentence": self.sentence,
        }
        facts["differences"] = [_with_ci(one._asdict()) for one in self.differences]
        facts["tests"] = [one._asdict() for one in self.tests]
        if self.probabilities:
            facts["probabilities"] = [_with_ci(one._asdict()) for one in self.probabilities]
        facts["ranks"] = {name: [_with_ci(row._asdict()) for row in self.ranks(name)] for name in self.values}
        found: dict[str, Any] = plain(facts)
        return found


def compare(
    *systems: Any,
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
    differences by a paired jackknife with Student's t. The p-value is one minus the largest level whose interval leaves
    out 0. The numbers of each system have the intervals of evaluate(..., ci=ci, by=by).

    Parameters
    ----------
    *systems : Trials
        Two or more systems; the applications may stand last.
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
        Of the bootstrap, and of the sign-flip test.
    quantities : iterable of str, optional
        Names of the numbers to compare.
    correction : {"pairs", "all"}, default "pairs"
        Whether Holm's correction (1979) is over the pairs of systems in each number, or over all numbers as well.
    unpaired : bool, default False
        Whether the systems were tried on independent sets of trials.
    pair_by : {"id", "position"}, optional
        How trials are matched; by id whenever there are ids.
    bayes : {"jeffreys", "uniform"}, optional
        Also the probability that one system is cheaper than another, under this prior (`.probabilities`).
    threads : int, optional
        Threads of a bootstrap.
    progress : callable, optional
        Called with (resamples done, all resamples).

    Returns
    -------
    Comparison
        Values, differences, exact tests and ranks.

    Examples
    --------
    >>> a = Trials.of_llr([3.0, 2.0, 1.0, -1.0, -2.0, 0.5], [1, 1, 1, 0, 0, 0], name="a")
    >>> b = Trials.of_llr([3.0, -2.0, 1.0, -1.0, 2.0, 0.5], [1, 1, 1, 0, 0, 0], name="b")
    >>> one = compare(a, b, [(0.5, 1, 1)]).of("applications.0.dcf")[0]
    >>> round(one.value, 3), one.p_value > 0.05
    (-0.667, True)
    """
    level, groups = checked_level(ci), grouping(by)
    chosen(correction, "correction", ("pairs", "all"))
    callback(progress, "progress")
    trials, apps = _arguments(systems, applications)
    called = _names(trials, names)
    if any(isinstance(app, CaseCosts) for app in apps):
        if method is not None or resamples is not None or unpaired or bayes is not None or quantities is not None:
            raise InputError("Costs per case are compared in closed form on the same cases: leave method=, resamples=, "
                             "unpaired=, bayes= and quantities= out.")  # fmt: skip
        return _compared_by_case(trials, called, apps, level, groups, correction, pair_by)
    wanted = wanted_of(_COMPARED if quantities is None else quantities)
    pairing = None if flag(unpaired, "unpaired") else _paired(trials, called, apps, pair_by)
    same = list(pairing.systems) if pairing is not None else [_flat(one, apps) for one in trials]
    if groups and pairing is not None:
        same = [_grouped_alike(one, _with_groups(same, called, groups)) for one in same]
    if method is not None or resamples is not None:
        count = 1000 if resamples is None else resamples
        settings = settings_of(level, count, seed, by, "percentile" if method is None else method, threads)
        found = _resampled(same, called, apps, wanted, settings, pairing is not None, progress)
    else:
        found = _in_closed_form(same, called, apps, wanted, level, groups, pairing is not None)
    if pairing is not None:
        exact = _exact_tests(same, called, apps, groups, seed)
    else:
        exact = () if groups else _unpaired_tests(same, called, apps)
    beliefs = () if bayes is None else _beliefs(same, called, apps, level, bayes, groups, pairing is not None, seed)
    notes = [note for one in found.intervals for note in one.notes]
    notes += ["paired by position"] if pairing is not None and pairing.by == "position" else []
    drawn = found.intervals[0]
    return Comparison(
        called, MappingProxyType({name: tuple(one[name] for one in found.intervals) for name in found.shared}),
        _corrected(found.differences, correction), exact, level, drawn.resamples, seed, groups, not unpaired,
        None if pairing is None else pairing.by, drawn.redrawn, tuple(_point(app) for app in apps),
        tuple(dict.fromkeys(notes)), MappingProxyType(found.estimates), beliefs,
    )  # fmt: skip


def _compared_by_case(
    trials: Sequence[Trials], names: tuple[str, ...], every: Sequence[Any], level: float, groups: tuple[str, ...],
    correction: str, pair_by: PairBy | None,
) -> Comparison:  # fmt: skip
    """Costs per case, in the order of the first system's trials: values, paired differences, ranks."""
    if not all(isinstance(app, CaseCosts) for app in every) or len(groups) > 1:
        raise InputError("Costs per case are compared by themselves, and by one group column at most.")
    pairing = paired(trials, by=pair_by)
    by = groups[0] if groups else None
    same = list(pairing.systems)
    if by is not None:
        same = [_grouped_alike(one, _with_groups(same, names, groups)) for one in same]
    found = case_cost_estimates(same, every, by)
    values = {
        name: tuple(Bound(one.value, *one.limits(level), one.method) for one in row)
        for name, row in found.alone.items()
    }
    rows, estimates = [], {}
    for (name, i, j), one in found.differences.items():
        low, high = one.limits(level)
        base = found.alone[name][j].value
        share = one.value / base if base > 0.0 else None
        p = p_value(one)
        rows.append(Difference(name, names[i], names[j], one.value, low, high, p, p, one.method, share))
        estimates[name, names[i], names[j]] = one
    notes = ("paired by position",) if pairing.by == "position" else ()
    points = tuple(f"prior {costs.prior:g}, costs per case" for costs in every)
    return Comparison(
        names, MappingProxyType(values), _corrected(rows, correction), (), level, 0, 0, groups, True, pairing.by, 0,
        points, notes, MappingProxyType(estimates),
    )  # fmt: skip


def _beliefs(
    systems: Sequence[Trials], names: Sequence[str], apps: Sequence[Any], level: float, prior: Prior,
    groups: tuple[str, ...], paired_trials: bool, seed: int,
) -> tuple[Probability, ...]:  # fmt: skip
    """How probable it is that one system is cheaper; posteriors take trials as independent."""
    known = chosen(prior, "bayes", PRIORS)
    if groups:
        raise InputError("bayes= takes trials as independent: leave by= out, or bayes=.")
    return probabilities(systems, names, apps, level, known, paired_trials, seed_number(seed))


class _Compared(NamedTuple):
    intervals: list[Intervals]
    shared: list[str]
    differences: list[Difference]
    estimates: dict[tuple[str, str, str], Estimate]


def _in_closed_form(
    systems: Sequence[Trials], names: Sequence[str], apps: Sequence[Any], wanted: frozenset[str], level: float,
    by: tuple[str, ...], paired_trials: bool,
) -> _Compared:  # fmt: skip
    """Every system's intervals, and every pair's difference."""
    alone = [_estimates(one, apps, by, wanted) for one in systems]
    intervals = [bounded(one, level, wanted, by) for one in alone]
    pairs = _paired_differences(systems, apps, by) if paired_trials else {}
    both = [{n: b for n, b in one.bounds.items() if not pairs or (n, 0, 1) in pairs} for one in intervals]
    shared = _asked(both, wanted)
    estimates: dict[tuple[str, str, str], Estimate] = {}
    rows = []
    for name in shared:
        for i, j in combinations(range(len(names)), 2):
            one, other = alone[i][name], alone[j][name]
            assert not isinstance(one, NotEstimable)
            assert not isinstance(other, NotEstimable)
            known, least = pairs[name, i, j] if paired_trials else (Independent(one, other), 0.0)
            estimates[name, names[i], names[j]] = known
            low, high = known.limits(level)
            ends = (float(low), float(high), max(p_value(known), least))
            row = _difference((name, names[i], names[j]), intervals[i], intervals[j], ends, known.method)
            rows.append(row._replace(least_p=least))
    return _Compared(intervals, shared, rows, estimates)


def _difference(
    called: tuple[str, str, str], first: Intervals, second: Intervals, known: tuple[float, float, float], method: str
) -> Difference:
    """A row of the table: both ends and the p-value are known, and the interval holds the difference itself."""
    low, high, p = known
    base = second[called[0]].value
    value = first[called[0]].value - base
    return Difference(*called, value, min(low, value), max(high, value), p, p, method, value / base if base else None)


def _estimates(trials: Trials, apps: Sequence[Any], by: tuple[str, ...], wanted: frozenset[str]) -> Found:
    if several(trials, apps):
        return many_class_estimates(ManyClassSample.of(trials, by), [as_matrix(app) for app in apps])
    points = [Application.of(app) for app in apps]
    return two_class_estimates(CalibrationLosses(trials, by), points, wanted=wanted)


def _paired_differences(
    systems: Sequence[Trials], apps: Sequence[Any], by: tuple[str, ...]
) -> dict[tuple[str, int, int], tuple[Estimate, float]]:
    """The difference of every pair of systems in every number that has losses, and the least p-value it can have."""
    found: dict[tuple[str, int, int], tuple[Estimate, float]] = {}
    for rows, losses in _losses(systems, apps, by):
        for name in shared_names(losses):
            for i, j in combinations(range(len(systems)), 2):
                pair = losses[i][name], losses[j][name]
                found[name, i, j] = rows.difference(*pair), rows.least_p(*pair)
    return found


def _losses(
    systems: Sequence[Trials], apps: Sequence[Any], by: tuple[str, ...]
) -> list[tuple[PairedTrials, list[dict[str, Losses]]]]:
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
    systems: Sequence[Trials], names: Sequence[str], apps: list[Any], wanted: frozenset[str], settings: Settings,
    paired_trials: bool, progress: Progress | None,
) -> _Compared:  # fmt: skip
    """The same by the bootstrap: percentile intervals of the differences over shared draws."""
    if paired_trials:
        designs, made = _prepared(systems, names, apps, wanted, settings)
    else:
        parts = [_prepared([one], [""], apps, wanted, settings) for one in systems]
        designs, made = [own[0][0] for own in parts], [own[1][0] for own in parts]
    each = designs if len(designs) > 1 else designs * len(made)
    raw, redrawn = replicates(designs, made, settings, progress)
    columns = [one.named(rows) for one, rows in zip(made, raw, strict=True)]
    intervals = [summed_up(*one, redrawn, settings, wanted) for one in zip(each, made, raw, strict=True)]
    shared, tail, rows = _asked([one.bounds for one in intervals], wanted), tail_of(each[0], settings.level), []
    for name in shared:
        for i, j in combinations(range(len(names)), 2):
            gaps = np.sort(columns[i][name] - columns[j][name])
            ends = (float(order_statistic(gaps, tail, down=True)), float(order_statistic(gaps, 1.0 - tail, down=False)))
            least = min(int((gaps <= 0.0).sum()), int((gaps >= 0.0).sum()))
            p = min(1.0, 2.0 * (1 + least) / (1 + len(gaps)))
            names_of_row = (name, names[i], names[j])
            rows.append(_difference(names_of_row, intervals[i], intervals[j], (*ends, p), "percentile bootstrap"))
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


def _margin(margin: object) -> float:
    edge = number(margin, "margin")
    if not 0.0 <= edge < math.inf:
        raise InputError(f"margin must be a finite number that is not negative, not {shown(margin)}.")
    return edge


def _arguments(systems: Sequence[Any], applications: Any) -> tuple[list[Trials], list[Any]]:
    """The systems, and the applications, which may stand last among the arguments."""
    given = list(systems)
    if given and not isinstance(given[-1], Trials) and applications is None:
        applications = given.pop()
    for place, trials in enumerate(given):
        if not isinstance(trials, Trials):
            raise InputError(
                f"systems must be Trials, then applications: argument {place} is {shown(type(trials).__name__)}."
            )
    if len(given) < 2:
        raise InputError(f"compare needs at least two systems, not {len(given)}.")
    if isinstance(applications, CaseCosts):
        applications = [applications]
    return given, listed(() if applications is None else applications)


def _names(trials: Sequence[Trials], names: Sequence[str] | None) -> tuple[str, ...]:
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


def _paired(trials: Sequence[Trials], names: Sequence[str], apps: Sequence[object], by: PairBy | None) -> Paired:
    """The systems' trials in one order, two-class ones as one column of scores."""
    for one in trials:
        one.known_labels()
    return paired([_flat(one, apps) for one in trials], by=by, names=names, way_out=_WAY_OUT)


def _prepared(
    same: Sequence[Trials], names: Sequence[str], apps: list[Any], wanted: frozenset[str], settings: Settings
) -> tuple[list[Design], list[System]]:
    """One design for paired systems, and the systems ready to be resampled."""
    grouped = _with_groups(same, names, settings.by)
    rows = shared_rows(same, grouped, settings.by)
    design = Design.of(grouped, rows, settings.by)
    if several(same[0], apps):
        real = any(own is not None and own.dtype.kind == "f" for own in design.weights)
        sizes = None if settings.by or real else [float(weights.sum()) for weights in design.base()]
        matrices = [as_matrix(app) for app in apps]
        return [design], [ManyClasses.of(one, rows, matrices, sizes) for one in same]
    plan = planned([Application.of(app) for app in apps], wanted, None)
    return [design], [TwoClass.of(one, rows, plan) for one in same]


def _flat(trials: Trials, apps: Sequence[object]) -> Trials:
    """Two-class trials as one column of scores."""
    if several(trials, apps) or not trials.is_matrix:
        return trials
    return trials.versus(trials.classes[1], trials.classes[0])


def _with_groups(systems: Sequence[Trials], names: Sequence[str], by: Sequence[str]) -> Trials:
    """The first system that knows the groups; others that know them must agree."""
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
    return next((one for one in systems if all(name in one.groups for name in by)), systems[0])


def _grouped_alike(trials: Trials, knowing: Trials) -> Trials:
    """The trials with the groups of the system that knows them."""
    return trials if trials is knowing else replace(trials, groups=knowing.groups)


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
    systems: Sequence[Trials], names: Sequence[str], apps: Sequence[Any], by: tuple[str, ...], seed: int
) -> tuple[ExactTest, ...]:
    """Sign-flip tests of the costs for every pair; DeLong and McNemar where trials are independent and unweighted."""
    found = []
    alone = not by and all(one.weights is None for one in systems)
    many = several(systems[0], apps)
    rows, losses = _losses(systems, apps, by)[0]
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
            cost = f"applications.{k}.{'risk' if many else 'dcf_u'}"
            p = rows.sign_flip(losses[i][cost], losses[j][cost], seed)
            effect = float(rows.difference(losses[i][cost], losses[j][cost]).value)
            found.append(ExactTest("sign-flip", cost, *called, p, effect))
    return tuple(found)


def _unpaired_tests(systems: Sequence[Trials], names: Sequence[str], apps: Sequence[Any]) -> tuple[ExactTest, ...]:
    """DeLong's test of two-class systems on independent, unweighted trials."""
    if several(systems[0], apps) or any(one.weights is not None for one in systems):
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


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of words in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return [f"  {line.rstrip()}" for line in lines]


def _with_ci(row: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in row.items() if key not in ("low", "high")} | {
        "value_ci": [row["low"], row["high"]]
    }
