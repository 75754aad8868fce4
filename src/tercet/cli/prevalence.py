"""`tercet prevalence`: the share of targets among unlabelled scores."""

from __future__ import annotations

import click

from tercet._typing import Value
from tercet.cli._command import new_command, option
from tercet.cli._options import TWO_CLASS, WORDS, figure_option, row_format_options, source_options
from tercet.cli._output import chosen_format, say, working
from tercet.cli._rows import Row, print_rows
from tercet.cli._systems import name_of, read_trials
from tercet.cli._values import level, numbers, reading
from tercet.deployment.prevalence import deployed_cost, estimate_prevalence


@new_command(epilog=WORDS)
@click.argument("scores")
@source_options(TWO_CLASS, groups=None, ids=("key",), truth=("calibrate_on",))
@option("--calibrate-on", metavar="FILE", reads=True, help="Labelled scores of the same kind.")
@option(
    "--method",
    type=click.Choice(["em", "rogan-gladen"]),
    default="em",
    show_default=True,
    help="Maximum likelihood, or inverting the confusion matrix.",
)
@option("--threshold", type=float, metavar="T", needs=("method=rogan-gladen",), help="Scores above this are accepted.")
@option("--cost", metavar="CFN,CFP", help="Also the expected cost of Bayes decisions at the estimate; for llrs.")
@option("--ci", type=float, default=95.0, show_default=True, metavar="LEVEL", help="Interval level in per cent.")
@figure_option
@row_format_options
def command(scores: str, ci: float, **options: Value) -> int:
    """The share of targets among unlabelled scores, with its interval and what decisions there cost."""
    output, source = chosen_format(options.pop("as_json"), options.pop("output")), reading(options)
    unlabelled = {key: value for key, value in source.items() if key not in ("labels", "key", "target", "missing")}
    trials = read_trials(scores, {**unlabelled, "labelled": False})
    labelled = None if options["calibrate_on"] is None else read_trials(options["calibrate_on"], source)
    how = {"method": options["method"], "threshold": options["threshold"]}
    with working("estimating the share of targets"):
        found = estimate_prevalence(trials, labelled, **how, ci=level(ci))
    row: Row = {"system": name_of(scores), "prevalence": found.value, "low": found.low, "high": found.high}
    row["method"] = found.method
    facts = found.to_dict()
    if options["cost"] is not None:
        miss, alarm = numbers(options["cost"], "--cost", 2)
        cost = deployed_cost(trials, found.application(miss, alarm), ci=level(ci))
        row |= {"expected_cost": cost.expected, "accepted": cost.accepted}
        facts |= {"expected_cost": cost.expected, "expected_cost_ci": list(cost.interval[:2])}
        facts["accepted"] = cost.accepted
    for note in found.notes:
        say(note)
    print_rows([row], output, facts)
    if options["figure"] is not None:
        from tercet.report.plots import plot

        plot({name_of(scores): found}, "prevalence", path=options["figure"])
    return 0
