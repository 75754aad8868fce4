"""Comparison: is one system better than another on the same trials, and by how much?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet.application import Application, MulticlassApplication, normalised_dcf
from tercet.arrays import shown
from tercet.confusion import as_matrix
from tercet.decide import decide
from tercet.errors import InputError
from tercet.evaluate import listed, plain
from tercet.intervals import clopper_pearson, delong_test, sign_test
from tercet.resample.bootstrap import QUANTITIES, planned, wanted_of
from tercet.resample.classes import ManyClasses
from tercet.resample.draws import Design
from tercet.resample.ends import Bound, bound, order_statistic, p_of, tail_of
from tercet.resample.engine import Progress, Settings, System, replicates
from tercet.resample.pairs import matched, shared_rows
from tercet.resample.rows import several
from tercet.resample.two import TwoClass
from tercet.trials import Trials

Floats = NDArray[np.float64]

HIGHER_IS_BETTER = {"auc", "accuracy"}
_COMPARED = tuple(name for name in QUANTITIES if name not in ("bayes_plot", "contributions"))
_TOLD = {"dcf", "min_dcf", "risk", "eer", "auc", "cllr", "accuracy", "log_loss"}  # the differences of a first look
_WORDS = {"dcf": "DCF", "min_dcf": "min DCF", "auc": "AUC", "eer": "EER", "cllr": "Cllr", "risk": "Bayes risk"}
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
    redrawn: int
    points: tuple[str, ...] = ()  # the applications, in words

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
            if one.adjusted < 1.0 - self.level:
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
        return "\n".join([*lines, *_aligned([["difference in", "of", "value", "interval", "p", "p (Holm)"], *rows])])

    def to_dict(self) -> dict[str, Any]:
        """The comparison as JSON knows it."""
        kept = ("names", "level", "resamples", "seed", "by", "paired", "redrawn", "points")
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
    threads: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compares systems on the same trials: compare(a, b, applications), or more than two.

    Each resample draws trials once for all systems. p-value: twice the smaller share of resamples on either side of no
    difference (the normal tail where none lies there); Holm's correction is over the pairs of systems of each
    quantity. Different trials are refused unless `unpaired`.

    >>> a = Trials.of_llr([3.0, 2.0, 1.0, -1.0, -2.0, 0.5], [1, 1, 1, 0, 0, 0], name="a")
    >>> b = Trials.of_llr([3.0, -2.0, 1.0, -1.0, 2.0, 0.5], [1, 1, 1, 0, 0, 0], name="b")
    >>> one = compare(a, b, [(0.5, 1, 1)], resamples=199).of("applications.0.dcf")[0]
    >>> round(one.value, 3), one.p_value > 0.05
    (-0.667, True)
    """
    settings = Settings.of(level, resamples, seed, by, "percentile", threads)
    trials, apps = _arguments(systems, applications)
    called = _names(trials, names)
    wanted = wanted_of(_COMPARED if quantities is None else quantities)
    designs, made = _prepared(trials, called, apps, wanted, settings, unpaired)
    raw, redrawn = replicates(designs, made, settings, progress)
    values, differences = _compared(
        called, designs, made, raw, settings, wanted, _slack(trials[0], apps, designs, level)
    )
    exact = () if unpaired or settings.by else _exact_tests(matched(trials, called), called, apps)
    return Comparison(
        called, MappingProxyType(values), tuple(differences), exact, settings.level, settings.resamples, settings.seed,
        settings.by, not unpaired, redrawn, tuple(_point(app) for app in apps),
    )  # fmt: skip


def _compared(
    names: Sequence[str], designs: Sequence[Design], systems: Sequence[System], raw: Sequence[Floats],
    settings: Settings, wanted: frozenset[str], slack: Mapping[str, float],
) -> tuple[dict[str, tuple[Bound, ...]], list[Difference]]:  # fmt: skip
    """Each system's numbers with their intervals, and the differences of those that all systems have."""
    bases = [design.base() for design in designs] * (1 if len(designs) > 1 else len(systems))
    points = [one.named(one.statistics(base)[None]) for one, base in zip(systems, bases, strict=True)]
    columns = [one.named(rows) for one, rows in zip(systems, raw, strict=True)]
    shared = [
        name
        for name, value in points[0].items()
        if value.ndim == 1 and name.split(".")[-1] in wanted and all(name in other for other in points)
    ]
    tail = max(min(tail_of(design, settings.level) for design in designs), 1.0 / (settings.resamples + 1))
    values = {
        name: tuple(bound(p[name][0], c[name], settings, tail) for p, c in zip(points, columns, strict=True))
        for name in shared
    }
    fewest = min(designs, key=lambda design: min(design.units()))
    return values, [
        one for name in shared for one in _differences(name, names, points, columns, tail, slack.get(name, 0.0), fewest)
    ]


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
    called = tuple(names) if names is not None else tuple(t.name or f"system {k + 1}" for k, t in enumerate(trials))
    if len(called) != len(trials) or len(set(called)) < len(called):
        if names is not None:
            raise InputError(f"names must be distinct, one for each of the {len(trials)} systems.")
        called = tuple(f"{name} ({k + 1})" for k, name in enumerate(called))
    return called


def _prepared(
    trials: Sequence[Trials], names: Sequence[str], apps: list[Any], wanted: frozenset[str], settings: Settings,
    unpaired: bool,
) -> tuple[list[Design], list[System]]:  # fmt: skip
    """One design for all systems, or one each, and the systems ready to be resampled."""
    if unpaired:
        parts = [
            _prepared([one], [name], apps, wanted, settings, False) for one, name in zip(trials, names, strict=True)
        ]
        return [design for designs, _ in parts for design in designs], [one for _, made in parts for one in made]
    same = matched([_flat(one, apps) for one in trials], names)
    grouped = _with_groups(same, settings.by)
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


def _with_groups(systems: Sequence[Trials], by: Sequence[str]) -> Trials:
    """The first system that knows the groups."""
    return next((one for one in systems if all(name in one.groups for name in by)), systems[0])


def _differences(
    name: str,
    names: Sequence[str],
    points: Sequence[Any],
    columns: Sequence[Any],
    tail: float,
    slack: float,
    design: Design,
) -> list[Difference]:
    """Every pair's difference in one quantity, with p-values corrected over the pairs."""
    found = []
    for i, j in combinations(range(len(names)), 2):
        with np.errstate(invalid="ignore"):
            value, samples = float(points[i][name][0] - points[j][name][0]), columns[i][name] - columns[j][name]
        ordered = np.sort(samples[~np.isnan(samples)])
        if len(ordered) < len(samples):  # inf - inf: both certain and wrong
            found.append(Difference(name, names[i], names[j], math.nan, math.nan, math.nan, 1.0, 1.0, "undefined"))
            continue
        low, high = (float(order_statistic(ordered, t, down=d)) for t, d in ((tail, True), (1.0 - tail, False)))
        method = "percentile"
        if ordered[0] == ordered[-1]:
            low, high, method = low - slack, high + slack, "percentile (all resamples equal)"
            method = "clopper-pearson (no trial told them apart)" if slack else method
        found.append(Difference(name, names[i], names[j], value, low, high, p_of(beyond(ordered), design), 1.0, method))
    corrected = holm([one.p_value for one in found])
    return [one._replace(adjusted=p) for one, p in zip(found, corrected, strict=True)]


def beyond(differences: Floats) -> float:
    """The smaller share of resamples at or beyond no difference, the sample itself counted in.

    Where no resample reaches it, the normal tail with the resamples' mean and standard error says how far off it is:
    1 / (resamples + 1) alone could not be small enough for many pairs.

    >>> beyond(np.array([1.0] * 99))
    0.01
    """
    from scipy.special import ndtr

    least = min(int((differences <= 0.0).sum()), int((differences >= 0.0).sum()))
    share = (1 + least) / (len(differences) + 1)
    spread = float(differences.std(ddof=1)) if least == 0 and np.isfinite(differences).all() else 0.0
    return min(share, float(ndtr(-abs(float(differences.mean())) / spread))) if spread > 0.0 else share


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


def _slack(trials: Trials, apps: Sequence[object], designs: Sequence[Design], level: float) -> dict[str, float]:
    """How far rates and costs of two classes may lie apart though no trial showed it."""
    if several(trials, apps):
        return {}
    alarm, miss = (clopper_pearson(0, n, level).high for n in designs[0].units())
    found: dict[str, float] = {}
    for k, app in enumerate(map(Application.of, apps)):
        found |= {f"applications.{k}.fnr": miss, f"applications.{k}.fpr": alarm}
        found[f"applications.{k}.dcf_u"] = app.dcf_u(fnr=miss, fpr=alarm)
        if not app.dummy_is_free:
            found[f"applications.{k}.dcf"] = float(normalised_dcf(app.log_odds, miss, alarm))
    return found


def _exact_tests(systems: Sequence[Trials], names: Sequence[str], apps: Sequence[object]) -> tuple[ExactTest, ...]:
    """DeLong and McNemar for every pair of unweighted systems; they take trials to be independent."""
    if any(one.weights is not None for one in systems):
        return ()
    flat = [_flat(one, apps) for one in systems]
    found = []
    for i, j in combinations(range(len(flat)), 2):
        if not several(flat[i], apps) and min(np.bincount(flat[i].known_labels(), minlength=2)) > 1:
            p = delong_test(flat[i], flat[j]).p_value
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
