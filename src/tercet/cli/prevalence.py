"""`tercet prevalence`: the share of targets among unlabelled scores."""

from __future__ import annotations

import click

from tercet._numeric.validation import not_negative, number
from tercet._typing import Value
from tercet.cli import _options as shared
from tercet.cli._command import new_command, option
from tercet.cli._options import TWO_CLASS
from tercet.cli._output import Facts, Row, draw, ends, print_rows, say, working
from tercet.cli._systems import name_of, read_trials
from tercet.cli._values import each
from tercet.deployment.prevalence import deployed_cost, estimate_prevalence


@new_command()
@click.argument("scores")
@shared.source_options(TWO_CLASS, groups=None, ids=("key",), truth=("calibrate_on",))
@option("--calibrate-on", metavar="FILE", reads=True, help="Labelled scores of the same kind.")
@option("--method", type=click.Choice(["em", "rogan-gladen"]), default="em", show_default=True,
        help="Maximum likelihood, or inverting the confusion matrix.")  # fmt: skip
@option("--threshold", type=float, metavar="T", needs=("method=rogan-gladen",), parse=number,
        help="Scores above this are accepted.")  # fmt: skip
@option("--cost", metavar="CFN,CFP", parse=each(not_negative, count=2),
        help="Also the expected cost of Bayes decisions at the estimate; for llrs.")  # fmt: skip
@shared.ci_option
@shared.figure_option
@shared.format_options
def command(scores: str, source: Facts, ci: float, output: str, **options: Value) -> None:
    """The share of targets among unlabelled scores, with its interval and what decisions there cost."""
    unlabelled = {key: value for key, value in source.items() if key not in ("labels", "key", "target", "missing")}
    trials = read_trials(scores, {**unlabelled, "labelled": False})
    labelled = None if options["calibrate_on"] is None else read_trials(options["calibrate_on"], source)
    how = {"method": options["method"], "threshold": options["threshold"]}
    with working("estimating the share of targets"):
        found = estimate_prevalence(trials, labelled, **how, ci=ci)
    row: Row = {"system": name_of(scores), "prevalence": found.value} | ends(found) | {"method": found.method}
    facts = found.to_dict()
    if options["cost"] is not None:
        cost = deployed_cost(trials, found.application(*options["cost"]), ci=ci)
        row |= {"expected_cost": cost.expected, "accepted": cost.accepted}
        facts |= {"expected_cost": cost.expected, "expected_cost_ci": list(cost.interval[:2])}
        facts["accepted"] = cost.accepted
    for note in found.notes:
        say(note)
    print_rows([row], output, facts)
    draw(options["figure"], {name_of(scores): found}, "prevalence")
