"""Comparison: is one system better than another on the same trials, and by how much?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from tercet._numeric.plain import plain
from tercet._numeric.validation import shown
from tercet._typing import Floats
from tercet.application import Application, MulticlassApplication, listed
from tercet.decision import decide
from tercet.errors import InputError
from tercet.metrics.binomial import delong_test, sign_test
from tercet.metrics.confusion import as_matrix
from tercet.metrics.pairing import PairBy, Paired, paired
from tercet.trials import Trials
from tercet.uncertainty._kernel.classes import ManyClasses
from tercet.uncertainty._kernel.differences import Measured, difference
from tercet.uncertainty._kernel.draws import Design
from tercet.uncertainty._kernel.ends import Bound
from tercet.uncertainty._kernel.engine import Progress, Settings, System, replicates
from tercet.uncertainty._kernel.pairs import shared_rows
from tercet.uncertainty._kernel.two import TwoClass
from tercet.uncertainty._rows import several
from tercet.uncertainty.bootstrap import QUANTITIES, planned, summed_up, wanted_of

HIGHER_IS_BETTER = {"auc", "accuracy"}
_COMPARED = tuple(name for name in QUANTITIES if name not in ("bayes_plot", "contributions"))
_TOLD = {"dcf", "min_dcf", "risk", "eer", "auc", "cllr", "accuracy", "log_loss"}  # the differences of a first look
_WORDS = {"dcf": "DCF", "min_dcf": "min DCF", "auc": "AUC", "eer": "EER", "cllr": "Cllr", "risk": "Bayes risk"}
_HAIR = 1e-9  # a p-value of the level itself is found by halving, and rounded
_WAY_OUT = "If they are independent sets of trials, say unpaired=True."
_HEADLINES = ("applications.0.dcf", "applications.0.risk", "applications.0.min_dcf", "auc", "accuracy")


class Difference(NamedTuple):
    """First minus second: its interval, the p-value of no difference, and that after Holm's correction."""

    quantity: str
    first: str
    second: str
    value: float
    low: float
    high: float
    p_value: float
    adjusted: float
    method: str


class Rank(NamedTuple):
    """A system's place: 1 + the number of systems shown to be better. Equal places are ties."""

    rank: int
    system: str
    value: float
    low: float
    high: float
    tied: bool


class ExactTest(NamedTuple):
    """A closed-form test beside the bootstrap: DeLong for the AUC, McNemar for the decisions of an application."""

    test: str
    quantity: str
    first: str
    second: str
    p_value: float


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Two or more systems side by side, every difference with its interval and p-value."""

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

    @property
    def quantities(self) -> tuple[str, ...]:
        """What was compared, by the names of the JSON."""
        return tuple(self.values)

    def of(self, quantity: str) -> tuple[Difference, ...]:
        """The differences of one quantity, one for each pair of systems."""
        if quantity not in self.values:
            raise InputError(f"{shown(quantity)} was not compared; there are: {', '.join(self.values)}.")
        return tuple(one for one in self.differences if one.quantity == quantity)

    def ranks(self, quantity: str | None = None) -> tuple[Rank, ...]:
        """The systems from best to worst; those that cannot be told apart share a place."""
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
        spoken = f"{self._spoken(name)} ({100 * self.level:g} % intervals, {self.resamples} resamples)"
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
        return "\n".join([*lines, *table, *(f"  note: {note}" for note in self.notes)])

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON knows it."""
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
        facts["ranks"] = {name: [_with_ci(row._asdict()) for row in self.ranks(name)] for name in self.values}
        found: dict[str, Any] = plain(facts)
        return found


def compare(
    *systems: Any,
    applications: Iterable[object] | None = None,
    names: Sequence[str] | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    by: str | tuple[str, str] | None = None,
    quantities: Iterable[str] | None = None,
    unpaired: bool = False,
    pair_by: PairBy | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compares systems on the same trials: compare(a, b, applications), or more than two.

    Each resample draws trials once for all systems. p-value: twice the smaller share of resamples on either side of no
    difference (the normal tail where none lies there), never more than the interval shows: where resamples cannot
    spread, exact bounds make room. Holm's correction is over the pairs of systems of each quantity. Trials are matched
    by id where they have ids, else by position if labels agree (`pair_by` asks for one of them by name); different
    trials are refused unless `unpaired`.

    >>> a = Trials.of_llr([3.0, 2.0, 1.0, -1.0, -2.0, 0.5], [1, 1, 1, 0, 0, 0], name="a")
    >>> b = Trials.of_llr([3.0, -2.0, 1.0, -1.0, 2.0, 0.5], [1, 1, 1, 0, 0, 0], name="b")
    >>> one = compare(a, b, [(0.5, 1, 1)], resamples=199).of("applications.0.dcf")[0]
    >>> round(one.value, 3), one.p_value > 0.05
    (-0.667, True)
    """
    settings = Settings.of(level, resamples, seed, by, "bca" if by is None else "student", threads)
    trials, apps = _arguments(systems, applications)
    called = _names(trials, names)
    wanted = wanted_of(_COMPARED if quantities is None else quantities)
    pairing = None if unpaired else _paired(trials, called, apps, pair_by)
    if pairing is None:
        designs, made = _independent(trials, apps, wanted, settings)
    else:
        designs, made = _prepared(pairing.systems, called, apps, wanted, settings)
    each = designs if len(designs) > 1 else designs * len(made)
    points = [one.named(one.statistics(design.base())[None]) for design, one in zip(each, made, strict=True)]
    shared = _shared(points, wanted)
    raw, redrawn = replicates(designs, made, settings, progress)
    columns = [one.named(rows) for one, rows in zip(made, raw, strict=True)]
    parts = [Measured(*one) for one in zip(each, made, points, columns, strict=True)]
    known = [summed_up(*one, redrawn, settings, wanted) for one in zip(each, made, raw, strict=True)]
    exact = () if pairing is None or settings.by else _exact_tests(pairing.systems, called, apps)
    notes = [note for one in known for note in one.notes]
    notes += ["paired by position"] if pairing is not None and pairing.by == "position" else []
    return Comparison(
        called, MappingProxyType({name: tuple(one[name] for one in known) for name in shared}),
        tuple(_compared(called, parts, shared, settings.level)), exact, settings.level, settings.resamples,
        settings.seed, settings.by, not unpaired, None if pairing is None else pairing.by, redrawn,
        tuple(_point(app) for app in apps), tuple(dict.fromkeys(notes)),
    )  # fmt: skip


def _compared(
    names: Sequence[str], systems: Sequence[Measured], shared: Sequence[str], level: float
) -> list[Difference]:
    """Every pair's difference in each number, with p-values corrected over the pairs."""
    found = []
    for name in shared:
        pairs = [
            (names[i], names[j], difference(name, systems[i], systems[j], level))
            for i, j in combinations(range(len(names)), 2)
        ]
        corrected = holm([known.p_value for *_, known in pairs])
        found += [
            Difference(name, first, second, k.value, k.low, k.high, k.p_value, p, k.method)
            for (first, second, k), p in zip(pairs, corrected, strict=True)
        ]
    return found


def _shared(points: Sequence[Mapping[str, Floats]], wanted: frozenset[str]) -> list[str]:
    """The numbers asked for that all systems have."""
    found = [
        name
        for name, value in points[0].items()
        if value.ndim == 1 and name.split(".")[-1] in wanted and all(name in other for other in points)
    ]
    if not found:
        raise InputError(
            f"There is nothing to compare: none of the quantities asked for ({', '.join(sorted(wanted)) or 'none'}) is "
            f"a single number that all systems have at these applications."
        )
    return found


def _arguments(systems: Sequence[Any], applications: Any) -> tuple[list[Trials], list[Any]]:
    """The systems, and the applications, which may stand last among the arguments."""
    given = list(systems)
    if given and not isinstance(given[-1], Trials) and applications is None:
        applications = given.pop()
    for place, trials in enumerate(given):
        if not isinstance(trials, Trials):
            raise InputError(
                f"compare takes Trials, then applications: argument {place} is {shown(type(trials).__name__)}."
            )
    if len(given) < 2:
        raise InputError(f"compare needs at least two systems, not {len(given)}.")
    return given, listed(() if applications is None else applications)


def _names(trials: Sequence[Trials], names: Sequence[str] | None) -> tuple[str, ...]:
    if names is not None and (isinstance(names, str) or not isinstance(names, Iterable)):
        raise InputError(f"names must be a list, one for each of the {len(trials)} systems, not {shown(names)}.")
    called = (
        tuple(map(str, names))
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


def _independent(
    trials: Sequence[Trials], apps: list[Any], wanted: frozenset[str], settings: Settings
) -> tuple[list[Design], list[System]]:
    """One design for each system."""
    parts = [_prepared([_flat(one, apps)], [""], apps, wanted, settings) for one in trials]
    return [design for designs, _ in parts for design in designs], [one for _, made in parts for one in made]


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
    plan = planned([Application.of(app) for app in apps], wanted | {"auc"}, None)  # whose guards tell separable classes
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


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's step-down correction: the k-th smallest of m times (m - k + 1), never falling, at most 1.

    >>> [round(p, 3) for p in holm([0.01, 0.04, 0.03])]
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    found, least = [0.0] * len(p_values), 0.0
    for k, place in enumerate(order.tolist()):
        least = max(least, min(1.0, (len(order) - k) * p_values[place]))
        found[place] = least
    return found


def _exact_tests(systems: Sequence[Trials], names: Sequence[str], apps: Sequence[object]) -> tuple[ExactTest, ...]:
    """DeLong and McNemar for every pair of unweighted systems; they take trials to be independent."""
    if any(one.weights is not None for one in systems):
        return ()
    flat, found = systems, []
    for i, j in combinations(range(len(flat)), 2):
        if not several(flat[i], apps) and min(np.bincount(flat[i].known_labels(), minlength=2)) > 1:
            p = delong_test(flat[i], flat[j], pair_by="position").p_value  # they are in one order
            found.append(ExactTest("DeLong", "auc", names[i], names[j], p))
        for k, app in enumerate(apps):
            if "raw" not in (flat[i].meaning, flat[j].meaning):
                p = _mcnemar(flat[i], flat[j], app)
                found.append(ExactTest("McNemar", f"applications.{k}.confusion", names[i], names[j], p))
    return tuple(found)


def _mcnemar(first: Trials, second: Trials, app: object) -> float:
    right = first.known_labels().astype(np.intp)
    wrong, also = (decide(one, app) != right for one in (first, second))
    return sign_test(int((wrong & ~also).sum()), int((also & ~wrong).sum()))


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
