"""Gates: conditions on the numbers of a result or of a comparison, for pipelines and test suites."""

from __future__ import annotations

import json
import operator
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from xml.sax.saxutils import quoteattr

from tercet._numeric.records import Record
from tercet._numeric.validation import flag, listed, mapping, shown, some, text
from tercet._typing import JSON
from tercet.errors import InputError, WordError, did_you_mean
from tercet.report.quantities import FAMILIES, QUANTITIES, facts_of, named, with_quantities
from tercet.report.schema import read_document, sound_document
from tercet.report.tables import name_of, point

Facts = JSON
_NUMBER = r"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|inf)"
_CONDITION = re.compile(
    rf"\s*(?P<name>[a-z_0-9]+(?::[0-9.e]+)?)(?:\.(?P<end>low|high))?\s*(?P<sign><=|>=|<|>|==)\s*"
    rf"(?:(?P<bound>{_NUMBER})|(?P<baseline>baseline)\s*(?:(?P<more>[-+])\s*(?P<margin>{_NUMBER}))?)\s*"
)
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
}  # fmt: skip

_OF_CASES = ("cost", "min_cost", "savings", "relative_savings", "cost_per_1000")  # numbers of costs per case


@dataclass(frozen=True, slots=True)
class Verdict:
    """The verdict on one condition, for one system at one operating point.

    Attributes
    ----------
    place : str
        The system, and the operating point.
    condition : str
        The condition as it was given.
    failed : bool
        Whether it holds, or cannot be judged.
    words : str
        The same in a sentence.
    """

    place: str
    condition: str
    failed: bool
    words: str


@dataclass(frozen=True, slots=True)
class Condition:
    """NAME OP NUMBER, or NAME OP baseline + NUMBER; NAME.low and NAME.high are the ends of its interval."""

    words: str
    name: str
    end: str | None
    sign: str
    bound: float | None  # None: relative to the baseline
    margin: float

    @classmethod
    def of(cls, words: str) -> Condition:
        """The condition that these words state."""
        found = _CONDITION.fullmatch(words)
        if found is None:
            raise WordError(
                f"conditions must be NAME OP NUMBER or NAME OP baseline + NUMBER, such as dcf>0.3, dcf.high>0.3 or "
                f"'dcf > baseline + 0.01', not {shown(words)}."
            )
        bound = None if found["bound"] is None else float(found["bound"])
        margin = float((found["more"] or "+") + found["margin"]) if found["margin"] else 0.0
        return cls(words.strip(), found["name"], found["end"], found["sign"], bound, margin)

    @property
    def called(self) -> str:
        """The number's name, with the end of its interval."""
        return self.name if self.end is None else f"{self.name}.{self.end}"


@dataclass(frozen=True, slots=True)
class Checked(Record):
    """The verdicts on all conditions.

    Attributes
    ----------
    verdicts : tuple of Verdict
        One for each condition, system and operating point.

    Examples
    --------
    >>> import tercet as tc
    >>> ev = tc.evaluate(tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3], [1, 1, 0, 0]), [(0.5, 1, 1)])
    >>> found = tc.check(ev, ["dcf > 0.3", "auc < 0.9"])
    >>> found.passed, sum(verdict.failed for verdict in found.verdicts), len(found.verdicts)
    (False, 1, 2)
    """

    verdicts: tuple[Verdict, ...]

    @property
    def passed(self) -> bool:
        """Whether no condition failed."""
        return not any(one.failed for one in self.verdicts)

    def require(self) -> None:
        """Raise an AssertionError that says what failed, for test suites; do nothing if all conditions passed."""
        if not self.passed:
            raise AssertionError("\n".join(f"{one.place}: {one.words}" for one in self.verdicts if one.failed))

    def to_junit(self) -> str:
        """The verdicts as JUnit XML.

        Returns
        -------
        str
            One test case per verdict.
        """
        failures = sum(one.failed for one in self.verdicts)
        lines = [
            '<?xml version="1.0" encoding="UTF-8"?>',
            f'<testsuite name="tercet check" tests="{len(self.verdicts)}" failures="{failures}">',
        ]
        for one in self.verdicts:
            case = f"  <testcase classname={quoteattr(one.place)} name={quoteattr(one.condition)}"
            lines.append(f"{case}><failure message={quoteattr(one.words)}/></testcase>" if one.failed else f"{case}/>")
        return "\n".join([*lines, "</testsuite>", ""])

    def to_github(self) -> str:
        """The failures as annotations for GitHub Actions.

        Returns
        -------
        str
            One line per failure.
        """
        lines = [f"{one.place}: {one.words}" for one in self.verdicts if one.failed]
        safe = [line.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A") for line in lines]
        return "\n".join(f"::error title=tercet check::{line}" for line in safe)

    def __str__(self) -> str:
        return "\n".join(f"{one.place}: {one.words}" for one in self.verdicts)


def check(
    result: object,
    conditions: str | Iterable[str],
    *,
    baseline: object = None,
    systems: Iterable[str] = (),
    other_trials: bool = False,
) -> Checked:
    """Check the conditions under which a result fails, for every system and at every operating point.

    A number that is undefined fails, and so does a system that lacks it.

    Parameters
    ----------
    result : Evaluation, list of them, Comparison, path or dict
        What to check: evaluations, a comparison (its numbers are then differences, first minus second), or the JSON of
        `tercet evaluate --json` or `tercet compare --json`.
    conditions : str or iterable of str
        "dcf > 0.3", "auc < 0.9"; "dcf.high > 0.3" for the end of an interval; with a baseline "dcf > baseline + 0.01".
        Any quantity that `tercet metrics` lists.
    baseline : optional
        A result that conditions may compare with. If the trials of both are available, compare(new, old) with a
        condition on the upper end of the difference is more sensitive, because it pairs the trials.
    systems : iterable of str, optional
        Check only these systems.
    other_trials : bool, default False
        Whether the baseline may have been evaluated on other trials.

    Returns
    -------
    Checked
        What passed and what failed; `require()` raises for a test suite.

    Examples
    --------
    >>> from tercet import Trials, evaluate
    >>> ev = evaluate(Trials.of_llr([2.0, 1.0, -0.5, 0.3], [1, 1, 0, 0], name="new"), [(0.5, 1, 1)])
    >>> print(check(ev, ["dcf > 0.3", "auc < 0.9"]))
    new, 1 in 2, costs 1 : 1: dcf is 0.5, so dcf > 0.3 fails the check.
    new: auc is 1.0, so it passes (not auc < 0.9).
    """
    given = [conditions] if isinstance(conditions, str) else listed(conditions, "conditions")
    asked = [Condition.of(text(words, "conditions")) for words in given]
    if not asked:
        raise InputError("conditions are needed, such as 'dcf > 0.3'.")
    names = [text(name, "systems") for name in listed(systems, "systems")]
    found = _chosen(_systems(result, asked, "result"), names)
    old = _baseline(found, asked, baseline, flag(other_trials, "other_trials"))
    return Checked(tuple(one for condition in asked for one in _verdicts(found, old, condition)))


def _systems(given: object, asked: Sequence[Condition], name: str) -> list[Facts]:
    """The facts of every system, with the quantities that the conditions name."""
    wanted = [named(one.name, name) for one in asked if one.name.partition(":")[0] in QUANTITIES or ":" in one.name]
    if hasattr(given, "applications"):
        return [facts_of(given, wanted)]
    if isinstance(given, list | tuple):
        if not given or not all(hasattr(one, "applications") for one in given):
            raise InputError(f"{name} must be evaluations, not {shown(given)}.")
        return [facts_of(one, wanted) for one in given]
    if isinstance(given, str | PathLike):
        document = _read(given, name)
    elif hasattr(given, "differences") and hasattr(given, "to_dict"):
        document = given.to_dict()
    elif isinstance(given, dict):
        document = sound_document(json.loads(json.dumps(mapping(given, name))), name)
    else:
        raise InputError(f"{name} must be an evaluation, a comparison, a path or a dict, not {shown(given)}.")
    if "differences" in document:
        return _differences(document)
    return [with_quantities(system, None, wanted) for system in document["systems"]]


def _read(path: str | PathLike[str], name: str) -> Facts:
    """A saved document; what is wrong with it names the argument too."""
    try:
        return read_document(str(path))
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def _differences(document: Facts) -> list[Facts]:
    """A comparison as systems of one pair each, whose numbers are differences."""
    points = document.get("points", [])
    found: dict[tuple[str, str], Facts] = {}
    for row in document["differences"]:
        pair = row["first"], row["second"]
        empty = {"name": f"{pair[0]} minus {pair[1]}", "applications": [{"name": one} for one in points], "input": {}}
        facts = found.setdefault(pair, empty)
        place, _, name = row["quantity"].removeprefix("applications.").rpartition(".")
        inner = facts["applications"][int(place)] if place.isdigit() and int(place) < len(points) else facts
        inner[name] = row["value"]
        if "value_ci" in row:
            inner[f"{name}_ci"] = row["value_ci"]
    return list(found.values())


def _chosen(systems: Sequence[Facts], names: Sequence[str]) -> list[Facts]:
    known = {str(system.get("name")) for system in systems}
    for name in names:
        if name not in known:
            raise InputError(f"systems={shown(name)} is not in the result, which holds {some(sorted(known))}.")
    return [system for system in systems if not names or system.get("name") in names]


def _baseline(systems: Sequence[Facts], asked: Sequence[Condition], given: object, other: bool) -> list[Facts | None]:
    """The baseline's system for each system; the same name, or the only one."""
    relative = any(one.bound is None for one in asked)
    if given is None:
        if relative:
            raise InputError("a condition on the baseline needs baseline=.")
        return [None] * len(systems)
    if not relative:
        raise InputError("baseline= has no effect: no condition mentions it, such as 'dcf > baseline + 0.01'.")
    held = _systems(given, asked, "baseline")
    found: list[Facts | None] = []
    for system in systems:
        same = [one for one in held if one.get("name") == system.get("name")] or (held if len(held) == 1 else [])
        if len(same) != 1:
            raise InputError(f"the baseline has no system called {shown(system.get('name'))}.")
        if _trials(same[0]) != _trials(system) and not other:
            raise InputError(
                f"{name_of(system)}: the baseline was evaluated on other trials ({_counted(same[0])}, not "
                f"{_counted(system)}). Evaluate both on the same, or say that they differ (other_trials=)."
            )
        found.append(same[0])
    return found


def _trials(system: Facts) -> Facts:
    return {key: value for key, value in system["input"].items() if key != "files"}


def _counted(system: Facts) -> str:
    """The numbers of trials in words."""
    counts = {key: value for key, value in _trials(system).items() if isinstance(value, int | float)}
    return ", ".join(f"{value:,} {key}" for key, value in counts.items())


def _verdicts(systems: Sequence[Facts], baseline: Sequence[Facts | None], condition: Condition) -> Iterator[Verdict]:
    places = [list(_places(system, condition.name)) for system in systems]
    if not any(places):
        known = sorted({name for system in systems for name in _names(system)})
        hint = did_you_mean(condition.name, known)
        kind = InputError if condition.name.partition(":")[0] in {*QUANTITIES, *FAMILIES} else WordError
        words = f"no number is called {shown(condition.name)}.{hint} Known: {', '.join(known)}."
        raise kind(f"conditions={shown(condition.words)}: {words}")
    for system, other, found in zip(systems, baseline, places, strict=True):
        if not found:
            yield Verdict(name_of(system), condition.words, True, f"it lacks {condition.name}, so the check fails.")
        for where, facts in found:
            old = None if other is None else _same_place(other, facts, condition.name)
            yield _judged(where, facts, old, condition)


def _places(system: Facts, name: str) -> Iterator[tuple[str, Facts]]:
    """Where a number of this name is: the system itself, its operating points, their costs per case."""
    if _is_number(system.get(name, "")):
        yield name_of(system), system
    for app in system["applications"]:
        if _is_number(app.get(name, "")):
            yield f"{name_of(system)}, {point(app)}", app
    for row in _case_costs(system) if name in _OF_CASES else ():
        yield f"{name_of(system)}, prior {row['prior']:g}, costs per case", row


def _case_costs(system: Facts) -> list[Facts]:
    """The costs per case at each operating point, with the prior and the costs of the point."""
    return [app | row for app, row in zip(system["applications"], system.get("case_costs", ()), strict=False)]


def _names(system: Facts) -> Iterator[str]:
    if system.get("case_costs"):
        yield from _OF_CASES
    for facts in (system, *system["applications"]):
        yield from (name for name, value in facts.items() if _is_number(value) and not name.startswith("prior"))


def _is_number(value: object) -> bool:
    value = value.get("value", "") if isinstance(value, dict) else value
    return value is None or value in ("inf", "-inf") or (isinstance(value, int | float) and not isinstance(value, bool))


def _same_place(other: Facts, facts: Facts, name: str) -> Facts:
    """The baseline's facts at the same operating point."""
    if "applications" in facts:
        return other
    keys = ("prior", "cost_fn", "cost_fp") if "prior" in facts else ("priors", "costs")
    apps: list[Facts] = _case_costs(other) if name in _OF_CASES else other["applications"]
    for app in apps:
        if all(app.get(key) == facts[key] for key in keys) and app.get("columns") == facts.get("columns"):
            return app
    raise InputError(f"the baseline was not evaluated at {point(facts)}.")


def _judged(where: str, facts: Facts, old: Facts | None, condition: Condition) -> Verdict:
    values = _values(facts, condition)
    bound = condition.bound
    if bound is None and old is not None:
        against = _values(old, Condition("", condition.name, None, "<", 0.0, 0.0))
        bound = None if None in against else float(against[-1]) + condition.margin  # type: ignore[arg-type]
    if bound is None or None in values:
        why = "undefined" if None in values else "undefined in the baseline"
        end = " (no interval: evaluate with --ci)" if condition.end and f"{condition.name}_ci" not in facts else ""
        return Verdict(where, condition.words, True, f"{condition.called} is {why}{end}, so the check fails.")
    failed = any(_COMPARE[condition.sign](float(value), bound) for value in values)  # type: ignore[arg-type]
    said = " to ".join(f"{value}" for value in values)
    relative = f" (the bound is {bound:.6g})" if condition.bound is None else ""
    words = f"so {condition.words} fails the check" if failed else f"so it passes (not {condition.words})"
    return Verdict(where, condition.words, failed, f"{condition.called} is {said}{relative}, {words}.")


def _values(facts: Facts, condition: Condition) -> list[float | str | None]:
    """The number; both ends of the bracket that bounded memory leaves open; or an end of its interval."""
    if condition.end is not None:
        ends = facts.get(f"{condition.name}_ci")
        return [None if ends is None else ends[condition.end == "high"]]
    bracket = facts.get("brackets", {}).get(condition.name)
    if bracket is not None:
        return list(bracket)
    value = facts.get(condition.name)
    return [value.get("value") if isinstance(value, dict) else value]
