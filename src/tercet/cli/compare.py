"""`tercet compare`: paired differences between systems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import click

from tercet._numeric.plain import plain
from tercet._typing import Value
from tercet.application import Application
from tercet.cli._command import new_command, option
from tercet.cli._decision_facts import case_cost_options, case_costs, check_cost_columns, cost_columns
from tercet.cli._options import (
    SEVERAL,
    TWO_CLASS,
    WORDS,
    application_options,
    figure_option,
    resampling_options,
    source_options,
)
from tercet.cli._output import Facts, say, stamp
from tercet.cli._systems import read_systems
from tercet.cli._values import applications, grouping, level, log_odds_grid, reading, with_columns
from tercet.report import tables, text
from tercet.report.terminal import print_lines, print_one, width

if TYPE_CHECKING:
    from tercet.uncertainty.comparison import Comparison


@new_command(epilog=WORDS)
@click.argument("scores", nargs=-1, required=True)
@source_options()
@application_options
@resampling_options(95.0, bayes_excludes=("group_columns",), bayes_help="Also the probability that one is cheaper,")
@option(
    "--margin",
    type=float,
    excludes=("resamples",),
    metavar="M",
    help="Also superiority, and non-inferiority and equivalence with this margin in cost.",
)
@option(
    "--correction",
    type=click.Choice(["pairs", "all"]),
    default="pairs",
    show_default=True,
    help="Holm's correction over the pairs of systems in each number, or over all numbers too.",
)
@option(
    "--band",
    metavar="LO,HI,N",
    meanings=TWO_CLASS,
    excludes=("unpaired",),
    help="Also differences over prior log-odds from LO to HI, with a band that holds at all of them at once.",
)
@case_cost_options
@figure_option
@option("--unpaired", is_flag=True, help="The systems were evaluated on different trials.")
@option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(scores: tuple[str, ...], as_json: bool, unpaired: bool, **options: Value) -> int:
    """Is one system better than another? Paired differences with intervals."""
    from tercet.uncertainty import compare, progress_bar

    if len(scores) < 2:
        raise click.UsageError("compare takes at least two files of scores.")
    if options["apps"] and options["priors"]:
        raise click.UsageError("compare takes --app (two classes) or --priors (several), not both.")
    apps, source = applications(options), reading(options)
    check_cost_columns(options, apps)
    columns = cost_columns(options)
    systems = read_systems(scores, with_columns(source, columns.values()) if columns else source)
    asked: Sequence[object] = apps or ([] if source["meaning"] in SEVERAL else [Application(0.5)])
    if columns:
        asked = [case_costs(systems[0].used(), app, columns) for app in apps]
    found = compare(
        *(one.used() for one in systems), applications=asked, names=[one.name for one in systems],
        ci=level(options["ci"]), resamples=options["resamples"], seed=options["seed"], by=grouping(source),
        unpaired=unpaired, bayes=options["bayes"], correction=options["correction"], progress=progress_bar(),
    )  # fmt: skip
    margins = () if options["margin"] is None else found.margin_tests(options["margin"])
    bands = _bands(systems, options["band"], level(options["ci"]), grouping(source))
    if options["figure"] is not None:
        _draw(found, bands, options["figure"])
    if as_json:
        more: Facts = {"margin_tests": [plain(one._asdict()) for one in margins]} if margins else {}
        more |= {"bands": [one.to_dict() for one in bands]} if bands else {}
        print(json.dumps(stamp() | found.to_dict() | more, allow_nan=False))
        return 0
    lines = []
    for one in margins:
        shown = "shown" if one.shown else "not shown"
        lines.append(
            f"{one.test} of {one.first} over {one.second} in {one.quantity}, margin {one.margin:g}: {shown}, "
            f"p = {one.p_value:.2g}"
        )
    lines += [one.sentence for one in bands]
    _print(found, lines)
    return 0


def _draw(found: Comparison, bands: list[Any], path: str) -> None:
    """The differences with their intervals, or along the prior where a band was asked for."""
    from tercet.report.plots import plot

    if bands:
        plot(bands, "cost-difference", path=path)
    else:
        plot(found, "forest", path=path)
    say(f"the figure is in {path}.")


def _bands(systems: Sequence[Any], words: str | None, share: float, by: Value) -> list[Any]:
    """The simultaneous band of every pair of systems."""
    from tercet.uncertainty import difference_band

    if words is None:
        return []
    grid = log_odds_grid(words, "--band")
    return [
        difference_band(one.used(), other.used(), grid, level=share, by=by, names=(one.name, other.name))
        for one, other in combinations(systems, 2)
    ]


def _print(found: Comparison, more: Sequence[str]) -> None:
    """The answer in a sentence, the systems in their order, the differences, and what a reader must know."""
    wide, facts = width(), found.to_dict()
    print_lines([text.harmless(found.sentence, 2000), ""], wide)
    print_one(tables.ranks(facts, found.headline, found.spoken(found.headline)), wide)
    print_lines([""], wide)
    print_one(tables.comparison(facts, found.spoken), wide)
    remarks = (*found.chances, *(f"note: {note}" for note in found.notes), *more)
    print_lines([text.harmless(line, 600) for line in remarks], wide)
