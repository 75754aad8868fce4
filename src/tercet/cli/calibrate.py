"""`tercet calibrate`: trains a map from scores to llrs, and applies it."""

from __future__ import annotations

from typing import Any

import click

from tercet.cli._command import new_command, option
from tercet.cli._models import fit_and_save, saved_model
from tercet.cli._options import METHODS, WORDS, engine_options, fit_options, source_options
from tercet.cli._output import Facts, say
from tercet.cli._parts import fit_parts, limits_of
from tercet.cli._systems import names_in, read_pieces, read_systems, read_trials
from tercet.cli._values import method, prior, reading
from tercet.errors import InputError
from tercet.trials import Trials


@click.group()
def command() -> None:
    """Trains a map from scores to llrs, and applies it."""


@new_command("fit", epilog=WORDS)
@click.argument("scores", nargs=-1, required=True)
@source_options(groups=("by",))
@option(
    "--method",
    type=click.Choice(METHODS),
    default="logistic",
    show_default=True,
    help="The calibrator; the last four are for several classes.",
)
@fit_options(excludes=("engine",))
@engine_options  # fmt: skip
def fit(scores: tuple[str, ...], out: str, **options: Any) -> int:
    """Trains a calibrator on labelled scores, says by folds what it does to the costs, and saves it."""
    from tercet.io import write_text_atomically

    source, (maker, settings) = reading(options), method(options["method"])
    options["prior"] = prior(options["prior"])
    if options["engine"] is not None:
        model = fit_parts(maker, scores, options["prior"], settings, source, **limits_of(options))
        write_text_atomically(out, model.to_json())
        say(f"the model, trained on all {model.training['trials']} trials and not judged by folds, is in {out}.")
        return 0
    if len(scores) > 1:
        raise click.UsageError(
            f"calibrate fit was given {len(scores)} files: fuse combines systems, --engine takes the parts of one."
        )
    systems = read_systems(scores, source)
    fit_and_save(systems, systems[0].used(), maker, settings, options, out)
    return 0


@new_command("apply", epilog=WORDS)
@click.argument("calibrator")
@click.argument("scores", nargs=-1, required=True)
@source_options()
@option("-o", "--out", default="-", show_default=True, writes=True, metavar="FILE", help="A csv, tsv or parquet file.")
def apply(calibrator: str, scores: tuple[str, ...], out: str, **options: Any) -> int:
    """Applies a saved calibrator, or a fusion to one file per system in the order of the training."""
    from tercet.io import write_like

    model, source = saved_model(calibrator), reading(options)
    fusion = "systems" in model.training
    if not fusion and len(scores) > 1:
        raise InputError(f"{calibrator} calibrates one system and was given {len(scores)} files.")
    if fusion or out == "-":  # a pipe cannot take back what was written before an error
        trials = [read_trials(one, source) for one in scores]
        results = iter([model(trials if fusion else trials[0])])
    else:
        results = map(model, read_pieces(scores[0], source))
    write_like(out, ((result, _scores(result)) for result in results), **names_in(source))
    return 0


def _scores(result: Trials) -> Facts:
    """The scores of trials as columns: one, or one per class."""
    if result.is_matrix:
        return {name: result.scores[:, place] for place, name in enumerate(result.classes)}
    return {"score": result.scores}


command.add_command(fit)
command.add_command(apply)
