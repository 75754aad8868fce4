"""`tercet gaps`: differences and ratios of rates and costs between groups."""

from __future__ import annotations

import click

from tercet._typing import Value
from tercet.cli._command import new_command, option
from tercet.cli._options import TWO_CLASS, WORDS, figure_option, row_format_options, source_options
from tercet.cli._output import chosen_format, say, working
from tercet.cli._rows import Row, print_rows
from tercet.cli._systems import read_trials
from tercet.cli._values import application, level, one_group, reading, with_columns
from tercet.deployment.gaps import QUANTITIES, Gap, group_gaps


@new_command(epilog=WORDS)
@click.argument("scores")
@source_options(TWO_CLASS, ids=("key",))
@option("--between", required=True, metavar="COLUMN", help="The groups to compare: gender, site, channel.")
@option("--app", required=True, metavar="PRIOR,CFN,CFP", help="The operating point, a prior alone, or a name.")
@option("--reference", metavar="GROUP", help="Compare every group with this one. [default: every pair]")
@option("--ci", type=float, default=95.0, show_default=True, metavar="LEVEL", help="Interval level in per cent.")
@option(
    "--bootstrap",
    "resamples",
    type=int,
    default=0,
    metavar="N",
    help="Use percentile intervals from N joint resamples instead of closed forms.",
)
@option("--seed", type=int, default=0, show_default=True, needs=("resamples",), help="Seed of the resamples.")
@figure_option
@option("--quantity", type=click.Choice(QUANTITIES), default="dcf_u", show_default=True, needs=("figure",),
        help="What the figure shows.")  # fmt: skip
@row_format_options
def command(scores: str, between: str, app: str, reference: str | None, ci: float, **options: Value) -> int:
    """Differences and ratios of error rates, acceptance rates and costs between groups."""
    output, source = chosen_format(options.pop("as_json"), options.pop("output")), reading(options)
    by, draws = one_group(source), {key: options.pop(key) for key in ("resamples", "seed")}
    trials = read_trials(scores, with_columns(source, [between]))
    with working(f"comparing the groups of {between}"):
        found = group_gaps(trials, between, application(app), reference=reference, by=by, ci=level(ci), **draws)
    for group in found.groups:
        for reason in group.reasons.values():
            say(reason)
    for quantity, share in found.worst_in.items():
        say(f"{quantity}: {found.worst[quantity]} is the worst group, and in {100.0 * share:.3g} % of the resamples.")
    print_rows([_row(gap) for gap in found.gaps], output, found.to_dict())
    if options["figure"] is not None:
        from tercet.report.plots import plot

        plot(found, "forest", quantity=options["quantity"], path=options["figure"])
    return 0


def _row(gap: Gap) -> Row:
    ends, ratio = gap.difference_ci, gap.ratio_ci
    row: Row = {"quantity": gap.quantity, "first": gap.first, "second": gap.second, "difference": gap.difference}
    row |= {"low": ends.low, "high": ends.high, "ratio": gap.ratio}
    row |= {"ratio_low": None if ratio is None else ratio.low, "ratio_high": None if ratio is None else ratio.high}
    return row | {"p_value": gap.p_value, "adjusted": gap.adjusted, "method": ends.method}
