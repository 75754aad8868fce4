"""`tercet fuse`: one score out of several systems' scores."""

from __future__ import annotations

from typing import Any

import click

from tercet.cli._command import new_command
from tercet.cli._models import fit_and_save
from tercet.cli._options import WORDS, fit_options, source_options
from tercet.cli._systems import read_systems
from tercet.cli._values import method, prior, reading


@new_command(epilog=WORDS)
@click.argument("scores", nargs=-1, required=True)
@source_options(groups=("by",))
@fit_options()
def command(scores: tuple[str, ...], out: str, **options: Any) -> int:
    """Trains one score out of several systems' scores for the same trials, and saves the model."""
    source, (maker, settings) = reading(options), method("fusion")
    systems = read_systems(scores, source)
    asked = {"folds": options["folds"], "by": options["by"], "prior": prior(options["prior"])}
    fit_and_save(systems, [one.used() for one in systems], maker, settings, asked, out)
    return 0
