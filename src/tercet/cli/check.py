"""`tercet check`: a gate for pipelines."""

from __future__ import annotations

import sys

import click

from tercet._typing import Value
from tercet.cli._command import new_command, option
from tercet.cli._output import complain, out
from tercet.report.terminal import print_lines, width


def _condition(words: str, flag: str) -> str:
    """A condition that can be read."""
    from tercet.report.gates import Condition

    Condition.of(words)
    return words


@new_command(epilog=None)
@click.argument("result")
@option("--fail-if", "conditions", multiple=True, required=True, metavar="CONDITION", parse=_condition,
        help="Such as 'dcf>0.3', 'auc<0.9', 'dcf.high>0.3' (the end of an interval) or, with --baseline, "
             "'dcf > baseline + 0.01'; any quantity that `tercet metrics` lists; of costs per case cost, min_cost, "
             "savings, relative_savings and cost_per_1000; repeat it.")  # fmt: skip
@option("--system", "systems", multiple=True, metavar="NAME", help="Check this system only; repeat it.")
@option("--baseline", metavar="RESULT.json", reads=True, help="A result that conditions may compare with.")
@option("--other-trials", is_flag=True, needs=("baseline",), help="The baseline was evaluated on other trials.")
@option("--junit", metavar="FILE.xml", writes=True, help="Also write what passed and failed as JUnit XML.")
@option("--github", is_flag=True, help="Also print annotations for GitHub Actions.")
def command(result: str, conditions: tuple[str, ...], **options: Value) -> int:
    """A gate for pipelines: exit code 3 if a condition holds.

    RESULT is what `tercet evaluate --json` or `tercet compare --json` printed; of a comparison the numbers are
    differences, first minus second. Each condition is checked for every system and at every operating point. A number
    that is undefined fails, and so does a system that lacks it.
    """
    from tercet.report.gates import check

    relative = any("baseline" in words for words in conditions)
    if relative and options["baseline"] is None:
        raise click.UsageError("a condition on the baseline needs --baseline RESULT.json.")
    if options["baseline"] is not None and not relative:
        raise click.UsageError("--baseline has no effect: no condition mentions it, such as 'dcf > baseline + 0.01'.")
    asked = {name: options[name] for name in ("baseline", "systems", "other_trials")}
    found = check(result, conditions, **asked)
    for one in found.verdicts:
        told = f"{one.place}: {one.words}"
        if sys.stdout.isatty() and not one.failed:
            print_lines([told], width())
        else:
            (complain if one.failed else out)(told)
    if options["github"] and not found.passed:
        out(found.to_github())
    if options["junit"] is not None:
        from tercet.io import write_text_atomically

        write_text_atomically(options["junit"], found.to_junit())
    return 0 if found.passed else 3
