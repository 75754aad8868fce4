"""The result of a comparison: differences with intervals and p-values, ranks, tests against a margin, words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import NamedTuple

from tercet._numeric.plain import plain
from tercet._numeric.validation import not_negative, shown
from tercet._typing import JSON
from tercet._views import Shown
from tercet.errors import InputError
from tercet.metrics.pairing import PairBy
from tercet.uncertainty._limits import Estimate, p_value
from tercet.uncertainty.bayes import Probability
from tercet.uncertainty.intervals import Bound

HIGHER_IS_BETTER = {"auc", "accuracy", "net_benefit"}
# The differences that are shown first.
TOLD = {"cost", "dcf", "min_dcf", "risk", "eer", "auc", "cllr", "accuracy", "log_loss", "net_benefit"}
_WORDS = {"dcf": "DCF", "min_dcf": "min DCF", "auc": "AUC", "eer": "EER", "cllr": "Cllr"}
_WORDS |= {"risk": "Bayes risk", "cost": "cost per case"}
_HAIR = 1e-9  # a p-value of the level itself is found by halving, and rounded
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

    Examples
    --------
    >>> import tercet as tc
    >>> a = tc.Trials.of_llr([3.0, 2.0, 1.0, -1.0, -2.0, 0.5], [1, 1, 1, 0, 0, 0], name="a")
    >>> b = tc.Trials.of_llr([3.0, -2.0, 1.0, -1.0, 2.0, 0.5], [1, 1, 1, 0, 0, 0], name="b")
    >>> one = tc.compare(a, b, [(0.5, 1, 1)]).of("applications.0.fnr")[0]
    >>> one.first, one.second, round(one.value, 3)    # 0 of 3, and 1 of 3
    ('a', 'b', -0.333)
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

    Examples
    --------
    >>> import tercet as tc
    >>> a = tc.Trials.of_llr([3.0, 2.0, 1.0, -1.0, -2.0, 0.5], [1, 1, 1, 0, 0, 0], name="a")
    >>> b = tc.Trials.of_llr([3.0, -2.0, 1.0, -1.0, 2.0, 0.5], [1, 1, 1, 0, 0, 0], name="b")
    >>> found = tc.compare(a, b, [(0.5, 1, 1)]).non_inferior("applications.0.dcf", "a", "b", 0.1)
    >>> found.margin, found.shown
    (0.1, False)
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

    Examples
    --------
    >>> import tercet as tc
    >>> a = tc.Trials.of_llr([3.0, 2.0, 1.0, -1.0, -2.0, 0.5], [1, 1, 1, 0, 0, 0], name="a")
    >>> b = tc.Trials.of_llr([3.0, -2.0, 1.0, -1.0, 2.0, 0.5], [1, 1, 1, 0, 0, 0], name="b")
    >>> ranks = tc.compare(a, b, [(0.5, 1, 1)]).ranks("applications.0.dcf")
    >>> [(row.rank, row.system, round(row.value, 3)) for row in ranks]    # too few trials to tell them apart
    [(1, 'a', 0.333), (1, 'b', 1.0)]
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

    Examples
    --------
    >>> import tercet as tc
    >>> a = tc.Trials.of_llr([3.0, 2.0, 1.0, -1.0, -2.0, 0.5], [1, 1, 1, 0, 0, 0], name="a")
    >>> b = tc.Trials.of_llr([3.0, -2.0, 1.0, -1.0, 2.0, 0.5], [1, 1, 1, 0, 0, 0], name="b")
    >>> found = tc.compare(a, b, [(0.5, 1, 1)])
    >>> found.names, round(found.of("applications.0.dcf")[0].value, 3)
    (('a', 'b'), -0.667)
    """

    names: tuple[str, ...]
    values: Mapping[str, tuple[Bound, ...]]  # for each quantity one per system
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
    notes: tuple[str, ...] = ()  # notes for the reader
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
            raise InputError(f"{shown(quantity)} was not compared; the quantities are: {', '.join(self.values)}.")
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
        return self._one_sided("non-inferiority", quantity, (first, second), not_negative(margin, "margin"))

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
        return self._one_sided("superiority", quantity, (first, second), -not_negative(margin, "margin"))

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
            For each cost ("dcf", "risk" of several classes, "cost" where costs differ by case) or net benefit, both
            directions of the one-sided tests.
        """
        held = {name.split(".")[-1] for name in self.values}
        last = next((name for name in ("risk", "cost", "net_benefit") if name in held), "dcf")
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
        edge = not_negative(margin, "margin")
        p = max(p_value(estimate, -edge, "greater"), p_value(estimate, edge, "less"))
        return MarginTest("equivalence", quantity, first, second, edge, p, p <= (1.0 - self.level) / 2.0 + _HAIR)

    def _estimate(self, quantity: str, first: str, second: str) -> tuple[Estimate, float]:
        """The estimate of a difference, and -1 where its sign is reversed."""
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
            The quantity to rank by; by default the first.

        Returns
        -------
        tuple of Rank
            One per system.
        """
        name = self.headline if quantity is None else quantity
        sign = -1.0 if name.split(".")[-1] in HIGHER_IS_BETTER else 1.0
        beaten = dict.fromkeys(self.names, 0)
        for one in self.of(name):
            if one.adjusted <= 1.0 - self.level + _HAIR:
                beaten[one.second if sign * one.value < 0.0 else one.first] += 1
        places = list(beaten.values())
        rows = [
            Rank(1 + count, system, float(b.value), float(b.low), float(b.high), places.count(count) > 1)
            for (system, count), b in zip(beaten.items(), self.values[name], strict=True)
        ]
        return tuple(sorted(rows, key=lambda row: (row.rank, sign * row.value)))

    @property
    def sentence(self) -> str:
        """The answer in words, for the first application's cost (or the AUC)."""
        name = self.headline
        table = self.ranks(name)
        best = [row for row in table if row.rank == 1]
        drawn = f", {self.resamples} resamples" if self.resamples else ""
        spoken = f"{self.spoken(name)} ({100 * self.level:g} % intervals{drawn})"
        if len(self.names) > 2:
            told = " and ".join(f"{row.system} ({row.value:.4g})" for row in best)
            verb = "is best" if len(best) == 1 else "cannot be told apart at the top"
            worse = ", ".join(f"{row.system} ({row.value:.4g})" for row in table if row.rank > 1)
            return f"By {spoken}, {told} {verb}" + (f"; shown to be worse: {worse}." if worse else ".")
        one = self.of(name)[0]
        said = f"p = {self._p(one.p_value)}".replace("= <", "<")
        facts = (
            f"{one.first} {self.values[name][0].value:.4g}, {one.second} {self.values[name][1].value:.4g}, difference "
            f"{one.value:+.4g} ({one.low:+.4g} to {one.high:+.4g}, {said})"
        )
        if len(best) > 1:
            return f"By {spoken}, no difference between {one.first} and {one.second} can be shown: {facts}."
        return f"By {spoken}, {best[0].system} is better: {facts}."

    @property
    def headline(self) -> str:
        """The quantity of the answer: the first operating point's cost, else the AUC or accuracy."""
        return next((name for name in _HEADLINES if name in self.values), next(iter(self.values)))

    def spoken(self, name: str) -> str:
        """A quantity's name as one says it.

        Parameters
        ----------
        name : str
            The name in the JSON, such as "applications.0.dcf".

        Returns
        -------
        str
            Such as "DCF at prior 0.5, costs 1 : 1".
        """
        *_, last = name.split(".")
        if not name.startswith("applications"):
            return _WORDS.get(last, last.replace("_", " "))
        place = int(name.split(".")[1])
        where = self.points[place] if place < len(self.points) else f"application {place + 1}"
        return f"{_WORDS.get(last, last.replace('_', ' '))} at {where}"

    def _p(self, value: float) -> str:
        """A p-value, not below what the resamples can show."""
        least = 2.0 / (self.resamples + 1) if self.resamples else 0.0
        return f"< {least:.2g}" if value <= least * (1.0 + _HAIR) else f"{value:.2g}"

    @property
    def chances(self) -> tuple[str, ...]:
        """How probably one system is cheaper, in words; empty unless `bayes` asked for it."""
        return tuple(
            f"{100 * one.probability:.4g} % probable that {one.first} is cheaper than {one.second} in "
            f"{self.spoken(one.quantity)}: {one.value:+.4g} ({one.low:+.4g} to {one.high:+.4g}), {one.method}"
            for one in self.probabilities
        )

    def __repr__(self) -> str:
        name = self.headline
        ranks = [
            [f"{row.rank}{'=' if row.tied else ''}", row.system, f"{row.value:.4f}", f"{row.low:.4f} to {row.high:.4f}"]
            for row in self.ranks()
        ]
        lines = [self.sentence, "", *_aligned([["rank", "system", self.spoken(name), "interval"], *ranks]), ""]
        told = [one for one in self.differences if one.quantity.split(".")[-1] in TOLD]
        rows = [
            [self.spoken(one.quantity), f"{one.first} - {one.second}", f"{one.value:+.4f}",
             f"{one.low:+.4f} to {one.high:+.4f}", self._p(one.p_value), self._p(one.adjusted)]
            for one in told
        ]  # fmt: skip
        table = _aligned([["difference in", "of", "value", "interval", "p", "p (Holm)"], *rows])
        remarks = (*self.chances, *(f"note: {note}" for note in self.notes))
        return "\n".join([*lines, *table, *(f"  {line}" for line in remarks)])

    def to_dict(self) -> JSON:
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
        facts: JSON = {key: getattr(self, key) for key in kept} | {"values": values, "sentence": self.sentence}
        facts["differences"] = [_with_ci(one._asdict()) for one in self.differences]
        facts["tests"] = [one._asdict() for one in self.tests]
        if self.probabilities:
            facts["probabilities"] = [_with_ci(one._asdict()) for one in self.probabilities]
        facts["ranks"] = {name: [_with_ci(row._asdict()) for row in self.ranks(name)] for name in self.values}
        found: JSON = plain(facts)
        return found


def _aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows of words in columns."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = ("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in rows)
    return [f"  {line.rstrip()}" for line in lines]


def _with_ci(row: JSON) -> JSON:
    return {key: value for key, value in row.items() if key not in ("low", "high")} | {
        "value_ci": [row["low"], row["high"]]
    }
