"""`tercet compare`: paired differences between systems."""

from __future__ import annotations

import json
from typing import Any

import click

from tercet.application import Application
from tercet.cli._command import new_command, option
from tercet.cli._options import SEVERAL, WORDS, application_options, resampling_options, source_options
from tercet.cli._output import out, stamp
from tercet.cli._systems import read_systems
from tercet.cli._values import applications, grouping, level, reading
from tercet.report import text


@new_command(epilog=WORDS)
@click.argument("scores", nargs=-1, required=True)
@source_options()
@application_options
@resampling_options(95.0, bayes_excludes=("group_columns",), bayes_help="Also how probably one is cheaper,")
@option("--unpaired", is_flag=True, help="The systems were tried on different trials.")
@option("--json", "as_json", is_flag=True, help="Print JSON.")
def command(scores: tuple[str, ...], as_json: bool, unpaired: bool, **options: Any) -> int:
    """Is one system better than another? Paired differences with intervals."""
    from tercet.uncertainty import compare, progress_bar

    if len(scores) < 2:
        raise click.UsageError("compare takes at least two files of scores.")
    if options["apps"] and options["priors"]:
        raise click.UsageError("compare takes --app (two classes) or --priors (several), not both.")
    apps, source = applications(options), reading(options)
    systems = read_systems(scores, source)
    asked = apps or ([] if source["meaning"] in SEVERAL else [Application(0.5)])
    found = compare(
        *(one.used() for one in systems), applications=asked, names=[one.name for one in systems],
        ci=level(options["ci"]), resamples=options["resamples"], seed=options["seed"], by=grouping(source),
        unpaired=unpaired, bayes=options["bayes"], progress=progress_bar(),
    )  # fmt: skip
    if as_json:
        print(json.dumps(stamp() | found.to_dict(), allow_nan=False))
    else:
        out(text.harmless_lines(repr(found)))
    return 0
