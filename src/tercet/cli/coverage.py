"""`tercet coverage`: error and cost of answering only the surest cases."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import click

from tercet._typing import Value
from tercet.cli._command import VERBOSITY, new_command, option
from tercet.cli._options import WORDS, application_options, row_format_options, source_options
from tercet.cli._output import Facts, chosen_format, say, working
from tercet.cli._rows import Row, print_rows
from tercet.cli._systems import System, read_systems
from tercet.cli._values import applications, level, numbers, one_group, reading, without_settings
from tercet.deployment.abstention import RiskCoverage, compare_risk_coverage, risk_coverage


@new_command(epilog=WORDS)
@click.argument("scores", nargs=-1, required=True)
@source_options(groups=("paired",), ids=("key", "paired"))
@application_options
@option("--at", "wanted", metavar="C,...", default="0.5,0.8,0.9,1", show_default=True, help="The coverages to show.")
@option("--error-at-most", type=float, metavar="X", help="Also the largest coverage whose error is at most this.")
@option("--price", "prices", metavar="P,...", help="Also the cost per case when an abstention costs this.")
@option("--compare", "paired", is_flag=True, help="Also the paired difference of the areas of each two systems.")
@option("--ci", type=float, default=95.0, show_default=True, metavar="LEVEL", help="Interval level in per cent.")
@option("--plot", "figure", metavar="FILE", writes=True, help="Also draw the curves (png, svg or pdf).")
@row_format_options
def command(scores: tuple[str, ...], wanted: str, ci: float, figure: str | None, **options: Value) -> int:
    """Error and cost of answering only the surest cases: risk, coverage and the area under their curve."""
    if len(options["apps"]) > 1:
        without_settings(options, "apps")
    output, apps = chosen_format(options.pop("as_json"), options.pop("output")), applications(options)
    if len(apps) > 1:
        raise click.UsageError("coverage takes one operating point.")
    if options["paired"] and len(scores) < 2:
        raise click.UsageError("--compare takes at least two files of scores.")
    source, app = reading(options), apps[0] if apps else None
    shares = numbers(wanted, "--at")
    prices = [] if options["prices"] is None else numbers(options["prices"], "--price")
    if prices and output != "json" and click.get_current_context().meta[VERBOSITY] < 0:
        raise click.UsageError("--price is answered on stderr, which --quiet leaves empty: add --json.")
    systems = read_systems(scores, source)
    with working("evaluating"):
        curves = {one.name: risk_coverage(one.used(), app, ci=level(ci)) for one in systems}
    facts = [_facts(name, curve, shares, options["error_at_most"], prices) for name, curve in curves.items()]
    document: Facts = {"systems": facts}
    if options["paired"]:
        with working("comparing"):
            document["comparisons"] = _differences(systems, app, level(ci), one_group(source))
    if figure is not None:
        from tercet.report.plots import plot

        plot(curves, "risk-coverage", path=figure)
    print_rows([row for one in facts for row in one["points"]], output, document)
    if options["paired"] and output != "json":
        print()
        print_rows(document["comparisons"], output)
    return 0


def _facts(
    name: str, found: RiskCoverage, shares: Sequence[float], bound: float | None, prices: Sequence[float]
) -> Facts:
    """One system's curve, the points asked for, and its cost at each price of abstaining."""
    points = [found.at(coverage=share) for share in shares]
    if bound is not None:
        points.append(found.at(error_at_most=bound))
    ends = {} if found.aurc_ci is None else {"aurc_low": found.aurc_ci.low, "aurc_high": found.aurc_ci.high}
    rows: list[Row] = []
    for point in points:
        row: Row = {"system": name, "aurc": found.aurc, **ends, "excess_aurc": found.excess_aurc}
        row |= {"coverage": point.coverage, "error": point.error, "error_low": point.error_ci.low}
        row |= {"error_high": point.error_ci.high, "cost": point.cost, "threshold": point.threshold}
        rows.append(row)
    facts: Facts = {"name": name, "risk_coverage": found.to_dict(), "points": rows}
    if prices:
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
            "first": first.name, "second": second.name, "aurc_difference": found.value, "low": found.low,
            "high": found.high, "p_value": found.p_value, "method": found.method,
        })  # fmt: skip
    return rows
