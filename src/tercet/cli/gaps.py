"""`tercet gaps`: differences and ratios of rates and costs between groups."""

from __future__ import annotations

import click

from tercet._typing import Value
from tercet.application import Application
from tercet.cli import _options as shared
from tercet.cli._command import new_command, option
from tercet.cli._hints import read_as_llrs
from tercet.cli._options import TWO_CLASS
from tercet.cli._output import Facts, Row, both_ends, draw, print_rows, say, working
from tercet.cli._values import one_group, resamples, with_columns
from tercet.deployment.gaps import QUANTITIES, Gap, group_gaps
from tercet.report.numbers import percent


@new_command()
@click.argument("scores")
@shared.source_options(TWO_CLASS, ids=("key",))
@option("--between", required=True, metavar="COLUMN", help="The groups to compare: gender, site, channel.")
@shared.point_option
@option("--reference", metavar="GROUP", help="Compare every group with this one. [default: every pair]")
@shared.ci_option
@option("--bootstrap", "resamples", type=int, metavar="N", parse=resamples,
        help="Use percentile intervals from N joint resamples instead of closed forms.")  # fmt: skip
@shared.seed_option("Seed of the resamples.", needs=("resamples",))
@shared.figure_option
@option("--quantity", type=click.Choice(QUANTITIES), default="dcf_u", show_default=True, needs=("figure",),
        help="What the figure shows.")  # fmt: skip
@shared.format_options
def command(scores: str, source: Facts, between: str, app: Application, output: str, **options: Value) -> None:
    """Differences and ratios of error rates, acceptance rates and costs between groups."""
    by, asked = one_group(source), {key: options[key] for key in ("reference", "ci", "seed")}
    asked["resamples"] = options["resamples"] or 0
    trials = read_as_llrs(scores, with_columns(source, [between]))
    with working(f"comparing the groups of {between}"):
        found = group_gaps(trials, between, app, by=by, **asked)
    for group in found.groups:
        for reason in group.reasons.values():
            say(reason)
    for quantity, share in found.worst_in.items():
        say(f"{quantity}: {found.worst[quantity]} is the worst group, also in {percent(share)} of the resamples.")
    print_rows([_row(gap) for gap in found.gaps], output, found.to_dict())
    draw(options["figure"], found, "forest", quantity=options["quantity"])


def _row(gap: Gap) -> Row:
    row: Row = {"quantity": gap.quantity, "first": gap.first, "second": gap.second, "difference": gap.difference}
    row |= both_ends(gap.difference_ci) | {"ratio": gap.ratio} | both_ends(gap.ratio_ci, "ratio")
    return row | {"p_value": gap.p_value, "adjusted": gap.adjusted, "method": gap.difference_ci.method}
