"""`tercet coverage`: error and cost of answering only the surest cases."""

from __future__ import annotations

from typing import Any

import click

from tercet.cli._command import new_command, option
from tercet.cli._options import WORDS, application_options, row_format_options, source_options
from tercet.cli._output import Facts, chosen_format, say
from tercet.cli._rows import Row, print_rows
from tercet.cli._systems import name_of, read_trials
from tercet.cli._values import applications, level, numbers, reading
from tercet.deployment.abstention import risk_coverage


@new_command(epilog=WORDS)
@click.argument("scores", nargs=-1, required=True)
@source_options(groups=None, ids=("key",))
@application_options
@option("--at", "wanted", metavar="C,...", default="0.5,0.8,0.9,1", show_default=True, help="The coverages to show.")
@option("--error-at-most", type=float, metavar="X", help="Also the largest coverage whose error is at most this.")
@option("--price", "prices", metavar="P,...", help="Also the cost per case when an abstention costs this.")
@option("--ci", type=float, default=95.0, show_default=True, metavar="LEVEL", help="Interval level in per cent.")
@option("--plot", "figure", metavar="FILE", writes=True, help="Also draw the curves (png, svg or pdf).")
@row_format_options
def command(scores: tuple[str, ...], wanted: str, ci: float, figure: str | None, **options: Any) -> int:
    """Error and cost of answering only the surest cases: risk, coverage and the area under their curve."""
    output, apps = chosen_format(options.pop("as_json"), options.pop("output")), applications(options)
    if len(apps) > 1:
        raise click.UsageError("coverage takes one operating point.")
    source = reading(options)
    shares = numbers(wanted, "--at")
    prices = [] if options["prices"] is None else numbers(options["prices"], "--price")
    rows: list[Row] = []
    facts: list[Facts] = []
    curves = {}
    for path in scores:
        found = risk_coverage(read_trials(path, source), apps[0] if apps else None, ci=level(ci))
        curves[name_of(path)] = found
        points = [found.at(coverage=share) for share in shares]
        if options["error_at_most"] is not None:
            points.append(found.at(error_at_most=options["error_at_most"]))
        for point in points:
            row: Row = {"system": name_of(path), "aurc": found.aurc, "excess_aurc": found.excess_aurc}
            row |= {"coverage": point.coverage, "error": point.error, "error_low": point.error_ci.low}
            row |= {"error_high": point.error_ci.high, "cost": point.cost, "threshold": point.threshold}
            rows.append(row)
        fact: Facts = {"name": name_of(path), "risk_coverage": found.to_dict()}
        fact["points"] = rows[-len(points) :]
        if prices:
            costs = found.abstention_costs(prices)
            fact["abstention"] = {key: value.tolist() for key, value in costs._asdict().items()}
            for price, cost, share in zip(prices, costs.cost.tolist(), costs.coverage.tolist(), strict=True):
                say(
                    f"{name_of(path)}: at a price of {price:g}, {100 * share:.1f} % answered, cost per case {cost:.6g}."
                )
        facts.append(fact)
    if figure is not None:
        from tercet.report.plots import plot

        plot(curves, "risk-coverage", path=figure)
    print_rows(rows, output, {"systems": facts})
    return 0
