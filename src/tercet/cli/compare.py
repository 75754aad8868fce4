"""`tercet compare`: paired differences between systems."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any

import click

from tercet._numeric.validation import not_negative, probability
from tercet._typing import Value
from tercet.application import Application
from tercet.cli import _options as shared
from tercet.cli._command import new_command, option
from tercet.cli._decision_facts import case_cost_options, case_costs, cost_columns
from tercet.cli._hints import say_hints
from tercet.cli._options import SEVERAL, TWO_CLASS
from tercet.cli._output import Facts, draw, print_json, printable
from tercet.cli._systems import System, distinct_names, named, read_systems
from tercet.cli._values import applications, each, grouping, log_odds_grid, with_columns
from tercet.report import tables, text
from tercet.report.terminal import print_lines, print_one, width

if TYPE_CHECKING:
    from tercet.uncertainty.comparison import Comparison


_OTHER_COSTS = (
    "apps", "priors", "resamples", "bayes", "seed", "band", "unpaired", "cost_fn_column", "cost_fp_column",
)  # fmt: skip


@new_command()
@click.argument("scores", nargs=-1, required=True)
@shared.source_options()
@shared.application_options()
@shared.resampling_options(
    95.0, bayes_excludes=("group_columns",), bayes_help="Also the probability that one is cheaper,"
)
@option("--margin", type=float, parse=not_negative, excludes=("resamples",), metavar="M",
        help="Also superiority, and non-inferiority and equivalence with this margin in cost.")  # fmt: skip
@option("--correction", type=click.Choice(["all", "pairs"]),
        help="Holm's correction over the pairs of systems in each number, or over all numbers too. "
             "[default: pairs; all with --thresholds]")  # fmt: skip
@option("--band", metavar="LO,HI,N", parse=log_odds_grid, meanings=TWO_CLASS, excludes=("unpaired",),
        help="Also differences over prior log-odds from LO to HI, with a band that holds at all of them "
             "at once.")  # fmt: skip
@option("--thresholds", metavar="T,...", parse=each(probability), meanings=TWO_CLASS, excludes=_OTHER_COSTS,
        help="Compare net benefit at these threshold probabilities instead of costs.")  # fmt: skip
@option("--prevalence", type=float, metavar="P", needs=("thresholds",), parse=probability,
        help="Prevalence for the net benefit. [default: that of the trials]")  # fmt: skip
@case_cost_options
@shared.figure_option
@shared.names_option
@option("--unpaired", is_flag=True, help="The systems were evaluated on different trials.")
@option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(scores: tuple[str, ...], source: Facts, as_json: bool, **options: Value) -> None:
    """Is one system better than another? Paired differences with intervals."""
    if len(scores) < 2:
        raise click.UsageError("compare takes at least two files of scores.")
    if options["apps"] and options["priors"]:
        raise click.UsageError("compare takes --app (two classes) or --priors (several), not both.")
    apps = applications(options)
    columns = cost_columns(options, apps)
    names = named(scores, options["names"]) or distinct_names(scores)
    twice = next((path for path, name in zip(scores, names, strict=True) if names.count(name) > 1), None)
    if twice is not None:
        raise click.UsageError(
            f"{printable(twice)} was given twice: give another file, or name the systems (--name A --name B)."
        )
    systems = read_systems(scores, with_columns(source, columns.values()) if columns else source, names)
    asked: Sequence[object] = apps or ([] if source["meaning"] in SEVERAL else [Application(0.5)])
    if columns:
        asked = [case_costs(systems[0].used(), app, columns) for app in apps]
    two = source["meaning"] not in SEVERAL or (apps and isinstance(apps[0], Application))
    for system in systems if two else ():
        say_hints(system.name, system.used(), source)
    by = grouping(source)
    found = _compared(systems, asked, by, options)
    margins = () if options["margin"] is None else found.margin_tests(options["margin"])
    bands = _bands(systems, by, options)
    draw(options["figure"], bands or found, "cost-difference" if bands else "forest")
    if as_json:
        more: Facts = {"margin_tests": [one._asdict() for one in margins]} if margins else {}
        more |= {"bands": [one.to_dict() for one in bands]} if bands else {}
        print_json(found.to_dict() | more)
        return
    lines = []
    for one in margins:
        shown = "shown" if one.shown else "not shown"
        lines.append(
            f"{one.test} of {one.first} over {one.second} in {one.quantity}, margin {one.margin:g}: {shown}, "
            f"p = {one.p_value:.2g}"
        )
    lines += [one.sentence for one in bands]
    _print(found, lines)


def _compared(systems: Sequence[System], asked: Sequence[object], by: Value, options: Facts) -> Comparison:
    """The systems at the operating points asked for, or in net benefit."""
    from tercet.deployment.decision_curves import compare_net_benefit
    from tercet.uncertainty import compare, progress_bar

    trials = [one.used() for one in systems]
    same: Facts = {"names": [one.name for one in systems], "ci": options["ci"], "by": by}
    if options["correction"] is not None:
        same["correction"] = options["correction"]
    if options["thresholds"] is not None:
        return compare_net_benefit(*trials, thresholds=options["thresholds"], prevalence=options["prevalence"], **same)
    draws = {name: options[name] for name in ("resamples", "seed", "unpaired", "bayes")}
    return compare(*trials, applications=asked, **same, **draws, progress=progress_bar())


def _bands(systems: Sequence[System], by: Value, options: Facts) -> list[Any]:
    """The simultaneous band of every pair of systems, where one was asked for."""
    from tercet.uncertainty import difference_band

    if options["band"] is None:
        return []
    same: Facts = {"level": options["ci"], "by": by}
    return [
        difference_band(one.used(), other.used(), options["band"], names=(one.name, other.name), **same)
        for one, other in combinations(systems, 2)
    ]


def _print(found: Comparison, more: Sequence[str]) -> None:
    """The answer in a sentence, the systems in their order, the differences, and the notes."""
    wide, facts = width(), found.to_dict()
    print_lines([text.harmless(found.sentence, 2000), ""], wide)
    print_one(tables.ranks(facts, found.headline, found.spoken(found.headline)), wide)
    print_lines([""], wide)
    print_one(tables.comparison(facts, found.spoken), wide)
    remarks = (*found.chances, *(f"note: {note}" for note in found.notes), *more)
    print_lines([text.harmless(line, 600) for line in remarks], wide)
