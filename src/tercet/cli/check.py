"""`tercet check`: a gate for pipelines."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any
from xml.sax.saxutils import quoteattr

import click

from tercet._numeric.validation import shown
from tercet.cli._command import new_command, option
from tercet.cli._output import Facts, complain, out
from tercet.errors import InputError
from tercet.report.schema import read_result
from tercet.report.tables import name_of, point

_NUMBER = r"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|inf)"
_CONDITION = re.compile(
    rf"\s*(?P<name>[a-z_0-9]+(?::[0-9.e]+)?)(?:\.(?P<end>low|high))?\s*(?P<sign><=|>=|<|>|==)\s*"
    rf"(?:(?P<bound>{_NUMBER})|(?P<baseline>baseline)\s*(?:(?P<more>[-+])\s*(?P<margin>{_NUMBER}))?)\s*"
)
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of one condition at one place."""

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
            raise InputError(
                f"a condition is NAME OP NUMBER or NAME OP baseline + NUMBER, such as dcf>0.3, dcf.high>0.3 or "
                f"'dcf > baseline + 0.01', not {shown(words)}."
            )
        bound = None if found["bound"] is None else float(found["bound"])
        margin = float((found["more"] or "+") + found["margin"]) if found["margin"] else 0.0
        return cls(words.strip(), found["name"], found["end"], found["sign"], bound, margin)

    @property
    def called(self) -> str:
        """The number's name, with the end of its interval."""
        return self.name if self.end is None else f"{self.name}.{self.end}"


@new_command()
@click.argument("result")
@option(
    "--fail-if",
    "conditions",
    multiple=True,
    required=True,
    metavar="CONDITION",
    help="Such as 'dcf>0.3', 'auc<0.9', 'dcf.high>0.3' (the end of an interval) or, with --baseline, "
    "'dcf > baseline + 0.01'; repeat it.",
)
@option("--system", "systems", multiple=True, metavar="NAME", help="Judge this system only; repeat it.")
@option("--baseline", metavar="RESULT.json", reads=True, help="A result that conditions may compare with.")
@option("--other-trials", is_flag=True, needs=("baseline",), help="The baseline was evaluated on other trials.")
@option("--junit", metavar="FILE.xml", writes=True, help="Also write what passed and failed as JUnit XML.")
@option("--github", is_flag=True, help="Also print annotations for GitHub Actions.")  # fmt: skip
def command(result: str, conditions: tuple[str, ...], **options: Any) -> int:
    """A gate for pipelines: exit code 3 if a condition holds.

    It is looked for in every system and at every operating point. A number that is undefined fails, and so does a
    system that lacks it.
    """
    asked = [Condition.of(words) for words in conditions]
    systems = _chosen(read_result(result)["systems"], options["systems"])
    baseline = _baseline(systems, asked, options)
    verdicts = [one for condition in asked for one in _verdicts(systems, baseline, condition)]
    for one in verdicts:
        (complain if one.failed else out)(f"{one.place}: {one.words}")
    if options["github"]:
        for one in verdicts:
            if one.failed:
                out(f"::error title=tercet check::{_github(f'{one.place}: {one.words}')}")
    if options["junit"] is not None:
        from tercet.io import write_text_atomically

        write_text_atomically(options["junit"], _junit(verdicts))
    return 3 if any(one.failed for one in verdicts) else 0


def _chosen(systems: Sequence[Facts], names: Sequence[str]) -> list[Facts]:
    known = {str(system.get("name")) for system in systems}
    for name in names:
        if name not in known:
            raise InputError(f"--system {shown(name)} is not in the result, which holds {_listed(known)}.")
    return [system for system in systems if not names or system.get("name") in names]


def _baseline(systems: Sequence[Facts], asked: Sequence[Condition], options: Facts) -> list[Facts | None]:
    """The baseline's system for each system; the same name, or the only one."""
    relative = any(one.bound is None for one in asked)
    if options["baseline"] is None:
        if relative:
            raise click.UsageError("a condition that speaks of the baseline needs --baseline RESULT.json.")
        return [None] * len(systems)
    if not relative:
        raise click.UsageError("--baseline has no effect: no condition speaks of it, such as 'dcf > baseline + 0.01'.")
    held = read_result(options["baseline"])["systems"]
    found: list[Facts | None] = []
    for system in systems:
        same = [one for one in held if one.get("name") == system.get("name")] or (held if len(held) == 1 else [])
        if len(same) != 1:
            raise InputError(f"the baseline has no system called {shown(system.get('name'))}.")
        if _trials(same[0]) != _trials(system) and not options["other_trials"]:
            raise InputError(
                f"{name_of(system)}: the baseline was evaluated on other trials ({_trials(same[0])}, not "
                f"{_trials(system)}). Evaluate both on the same, or say --other-trials."
            )
        found.append(same[0])
    return found


def _trials(system: Facts) -> Facts:
    return {key: value for key, value in system["input"].items() if key != "files"}


def _verdicts(systems: Sequence[Facts], baseline: Sequence[Facts | None], condition: Condition) -> Iterator[Verdict]:
    places = [list(_places(system, condition.name)) for system in systems]
    if not any(places):
        known = sorted({name for system in systems for name in _names(system)})
        near = get_close_matches(condition.name, known, 3, 0.5)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise InputError(f"no number is called {shown(condition.name)}.{hint} Known: {', '.join(known)}.")
    for system, other, found in zip(systems, baseline, places, strict=True):
        if not found:
            yield Verdict(name_of(system), condition.words, True, f"it lacks {condition.name}, so the check fails.")
        for where, facts in found:
            old = None if other is None else _same_place(other, facts, condition.name)
            yield _judged(where, facts, old, condition)


def _places(system: Facts, name: str) -> Iterator[tuple[str, Facts]]:
    """Where a number of this name is: the system itself, its operating points."""
    if _is_number(system.get(name, "")):
        yield name_of(system), system
    for app in system["applications"]:
        if _is_number(app.get(name, "")):
            yield f"{name_of(system)}, {point(app)}", app


def _names(system: Facts) -> Iterator[str]:
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
    apps: list[Facts] = other["applications"]
    for app in apps:
        if all(app.get(key) == facts[key] for key in keys):
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
    words = f"so {condition.words} fails the check" if failed else f"passes {condition.words}"
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


def _github(words: str) -> str:
    return words.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _junit(verdicts: Sequence[Verdict]) -> str:
    failures = sum(one.failed for one in verdicts)
    lines = [
        '<?xml version="1.0" encoding="UTF-8"?>',
        f'<testsuite name="tercet check" tests="{len(verdicts)}" failures="{failures}">',
    ]
    for one in verdicts:
        case = f"  <testcase classname={quoteattr(one.place)} name={quoteattr(one.condition)}"
        lines.append(f"{case}><failure message={quoteattr(one.words)}/></testcase>" if one.failed else f"{case}/>")
    return "\n".join([*lines, "</testsuite>", ""])


def _listed(names: set[str]) -> str:
    return ", ".join(shown(name) for name in sorted(names)[:6]) + (", ..." if len(names) > 6 else "")
