"""`tercet check`: a gate for pipelines."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from typing import Any

import click

from tercet._numeric.validation import shown
from tercet.cli._command import new_command, option
from tercet.cli._output import Facts, saved_document, say
from tercet.errors import InputError
from tercet.report import text

_CONDITION = re.compile(r"\s*([a-z_]+)\s*(<=|>=|<|>|==)\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|[-+]?inf)\s*")
_COMPARE: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "==": operator.eq,
}  # fmt: skip


@new_command()
@click.argument("result")
@option("--fail-if", "conditions", multiple=True, required=True, metavar="'NAME OP NUMBER'",
        help="Such as 'dcf>0.3' or 'auc<0.9'; repeat it.")  # fmt: skip
def command(result: str, conditions: tuple[str, ...]) -> int:
    """A gate for pipelines: exit code 3 if a condition holds.

    It is looked for in every system and at every operating point; a number that is undefined fails.
    """
    facts = saved_document(result)
    failed = [line for condition in conditions for line in _violations(facts, condition)]
    for line in failed:
        say(line)
    return 3 if failed else 0


def _violations(result: Facts, condition: str) -> list[str]:
    parsed = _CONDITION.fullmatch(condition)
    if parsed is None:
        raise InputError(f"A condition is NAME OP NUMBER, such as dcf>0.3, not {shown(condition)}.")
    key, sign, bound = parsed.groups()
    found = _values(result, key)
    if not found:
        raise InputError(f"No system in the result has a number called {shown(key)}.")
    return [
        f"{where}: {key} is {'undefined' if value is None else value}, so {condition.strip()} fails the check."
        for where, value in found
        if value is None or _COMPARE[sign](float(value), float(bound))
    ]


def _values(result: Facts, key: str) -> list[tuple[str, Any]]:
    """Every number of that name: of a system, or of its applications."""
    found = []
    for system in result["systems"]:
        name = text.harmless(system.get("name", "system"))
        value = system.get(key, "")
        value = value.get("value", "") if isinstance(value, dict) else value
        if _is_number(value):
            found.append((name, value))
        for place, app in enumerate(system.get("applications", [])):
            if _is_number(app.get(key, "")):
                found.append((f"{name}, application {place}", app[key]))
    return found


def _is_number(value: object) -> bool:
    return value is None or value in ("inf", "-inf") or (isinstance(value, int | float) and not isinstance(value, bool))
