"""`tercet coverage`: error and cost of answering only the surest cases."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import click

from tercet._numeric.validation import not_negative, rate
from tercet._typing import Value
from tercet.cli import _options as shared
from tercet.cli._command import VERBOSITY, new_command, option
from tercet.cli._output import Facts, Row, draw, ends, print_rows, say, working
from tercet.cli._systems import System, read_systems
from tercet.cli._values import at_most_one, each, one_group, ranged
from tercet.deployment.abstention import RiskCoverage, compare_risk_coverage, risk_coverage


@new_command()
@click.argument("scores", nargs=-1, required=True)
@shared.source_options(groups=("paired",), ids=("key", "paired"))
@shared.application_options()
@option("--at", "wanted", metavar="C,...", default="0.5,0.8,0.9,1", show_default=True,
        parse=each(ranged("above 0 and at most 1", lambda share: 0.0 < share <= 1.0)),
        help="The coverages to show.")  # fmt: skip
@option("--error-at-most", type=float, metavar="X", parse=rate,
        help="Also the largest coverage whose error is at most this.")  # fmt: skip
@option("--price", "prices", metavar="P,...", parse=each(not_negative),
        help="Also the cost per case when an abstention costs this.")  # fmt: skip
@option("--compare", "paired", is_flag=True, help="Also show the paired difference of areas for each pair of systems.")
@shared.ci_option
@shared.figure_option
@shared.format_options
def command(scores: tuple[str, ...], source: Facts, ci: float, output: str, **options: Value) -> None:
    """Error and cost of answering only the surest cases: risk, coverage and the area under their curve.

    Means are over the cases as they are; the prior of --app decides, and does not weight them.
    """
    app = at_most_one(options, "coverage")
    if options["paired"] and len(scores) < 2:
        raise click.UsageError("--compare takes at least two files of scores.")
    if options["prices"] and output != "json" and click.get_current_context().meta[VERBOSITY] < 0:
        raise click.UsageError("--price prints on stderr, which --quiet silences: add --json.")
    systems = read_systems(scores, source)
    with working("evaluating"):
        curves = {one.name: risk_coverage(one.used(), app, ci=ci) for one in systems}
    facts = [_facts(name, curve, options) for name, curve in curves.items()]
    document: Facts = {"systems": facts}
    if options["paired"]:
        with working("comparing"):
            document["comparisons"] = _differences(systems, app, ci, one_group(source))
    draw(options["figure"], curves, "risk-coverage")
    print_rows([row for one in facts for row in one["points"]], output, document)
    if options["paired"] and output != "json":
        print()
        print_rows(document["comparisons"], output)


def _facts(name: str, found: RiskCoverage, options: Facts) -> Facts:
    """One system's curve, the points asked for, and its cost at each price of abstaining."""
    points = [found.at(coverage=share) for share in options["wanted"]]
    if options["error_at_most"] is not None:
        points.append(found.at(error_at_most=options["error_at_most"]))
    area = {"system": name, "aurc": found.aurc} | ends(found.aurc_ci, "aurc") | {"excess_aurc": found.excess_aurc}
    rows: list[Row] = []
    for point in points:
        error = {"coverage": point.coverage, "error": point.error} | ends(point.error_ci, "error")
        rows.append(area | error | {"cost": point.cost, "threshold": point.threshold})
    facts: Facts = {"name": name, "risk_coverage": found.to_dict(), "points": rows}
    if prices := options["prices"]:
        costs = found.abstention_costs(prices)
        facts["abstention"] = {key: value.tolist() for key, value in costs._asdict().items()}
        for price, cost, share in zip(prices, costs.cost.tolist(), costs.coverage.tolist(), strict=True):
            say(f"{name}: at a price of {price:g}, {100 * share:.1f} % answered, cost per case {cost:.6g}.")
    return facts


def _differences(systems: Sequence[System], app: object, share: float, by: str | None) -> list[Row]:
    """The paired difference of the areas of each two systems."""
    rows: list[Row] = []
    for first, second in combinations(systems, 2):
        found = compare_risk_coverage(first.used(), second.used(), app, ci=share, by=by)
        rows.append({
            "first": first.name, "second": second.name, "aurc_difference": found.value, **ends(found),
            "p_value": found.p_value, "method": found.method,
        })  # fmt: skip
    return rows
