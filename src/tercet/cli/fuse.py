"""`tercet fuse`: a fusion of several systems' scores."""

from __future__ import annotations

from dataclasses import replace

import click

from tercet._typing import Value
from tercet.calibration.two_class import non_negative
from tercet.cli import _options as shared
from tercet.cli._command import new_command, option
from tercet.cli._models import fit_and_save, quality_of, refuse_other_groups
from tercet.cli._output import Facts
from tercet.cli._systems import distinct_names, read_systems
from tercet.cli._values import with_columns


@new_command()
@click.argument("scores", nargs=-1, required=True)
@shared.source_options(groups=("by", "out_of_fold"))
@shared.quality_option
@option("--penalty", type=float, default=0.0, show_default=True, metavar="X", parse=non_negative,
        help="Ridge on the standardised weights.")  # fmt: skip
@shared.fit_options()
def command(
    scores: tuple[str, ...], source: Facts, out: str, quality: tuple[str, ...], penalty: float, **options: Value
) -> None:
    """Trains a fusion of several systems' scores for the same trials, and saves it."""
    from tercet.calibration.fusion import Fusion

    refuse_other_groups(source, options)
    names = distinct_names(scores)
    systems = read_systems(scores[:1], with_columns(source, quality), names[:1])
    measures, trials = quality_of(systems[0].used(), quality)
    systems = [replace(systems[0], trials=trials), *read_systems(scores[1:], source, names[1:])]
    settings: Facts = {"penalty": penalty, "prior": options["prior"]}
    settings |= {} if measures is None else {"quality": measures}
    fit_and_save(systems, [one.used() for one in systems], Fusion, settings, source, options, out)
