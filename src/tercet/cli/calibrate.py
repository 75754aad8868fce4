"""`tercet calibrate`: trains a map from scores to llrs, and applies it."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from tercet._numeric.validation import positive, whole
from tercet._typing import Value
from tercet.calibration.methods import METHODS, PENALISED, method_of
from tercet.calibration.two_class import non_negative
from tercet.cli import _options as shared
from tercet.cli._command import new_command, option
from tercet.cli._models import fit_and_save, quality_of, refuse_other_groups, saved_model, score_columns
from tercet.cli._output import Facts, save
from tercet.cli._systems import (
    choose_road,
    limits_of,
    local_files,
    names_in,
    read_pieces,
    read_systems,
    read_trials,
    scanned,
)
from tercet.cli._values import training_settings, with_columns
from tercet.errors import InputError
from tercet.trials import Trials

_SETTINGS = ("penalty", "pseudo_errors", "bandwidth")


@click.group()
def command() -> None:
    """Trains a map from scores to llrs, and applies it."""


@new_command("fit", group=command)
@click.argument("scores", nargs=-1, required=True)
@shared.source_options(groups=("by", "out_of_fold"), scans=True)
@option("--method", type=click.Choice(METHODS), default="logistic", show_default=True,
        help="The calibrator; the last four are for several classes.")  # fmt: skip
@option("--penalty", type=float, metavar="X", parse=non_negative, needs=tuple(f"method={one}" for one in PENALISED),
        help="Ridge penalty on the standardised slopes. [default: none]")  # fmt: skip
@option("--pseudo-errors", type=int, metavar="N", parse=partial(whole, least=0),
        needs=("method=isotonic", "method=isotonic-linear"),
        help="Errors added per class, so that llrs stay finite. [default: 1]")  # fmt: skip
@option("--bandwidth", type=float, metavar="X", parse=positive, needs=("method=kernel-density",),
        help="Bandwidth of the kernels. [default: normal reference rule]")  # fmt: skip
@shared.fit_options(excludes=("engine",))
@shared.engine_options
def fit(scores: tuple[str, ...], source: Facts, out: str, **options: Value) -> None:
    """Trains a calibrator on labelled scores, reports its effect on costs out of fold, and saves it."""
    maker, settings = method_of(options["method"])
    settings |= {name: options[name] for name in _SETTINGS if options[name] is not None}
    settings |= training_settings(options["prior"], options["method"], "--prior")
    with local_files(scores) as files:
        choose_road(files, source, options)
        if options["engine"] is not None:
            with scanned(files, source, **limits_of(options)) as trials:
                model = maker.fit(trials, **settings)
            words = f"the model, trained on all {model.training['trials']} trials and not evaluated by folds,"
            save(out, model.to_json(), words)
            return
        if len(scores) > 1:
            raise click.UsageError(
                f"calibrate fit was given {len(scores)} files: fuse combines systems, --engine takes the parts of one."
            )
        refuse_other_groups(source, options)
        systems = read_systems(files, source)
    fit_and_save(systems, systems[0].used(), maker, settings, source, options, out)


@new_command("apply", group=command)
@click.argument("calibrator")
@click.argument("scores", nargs=-1, required=True)
@shared.source_options()
@shared.quality_option
@shared.layout_option
@shared.table_option
def apply(
    calibrator: str, scores: tuple[str, ...], source: Facts, out: str, quality: tuple[str, ...], layout: Value
) -> None:
    """Applies a saved calibrator, or a fusion to one file per system in the order of the training."""
    from tercet.io import write_like
    from tercet.io.score_sets import merged, write_scores

    model, source = saved_model(calibrator), with_columns(source, quality)
    fusion = "systems" in model.training
    if quality and not fusion:
        raise click.UsageError("--quality-column is for a fusion that was trained with quality measures.")
    if not fusion and len(scores) > 1:
        raise InputError(f"{calibrator} calibrates one system and was given {len(scores)} files.")
    if fusion or out == "-":  # what was written to a pipe before an error cannot be withdrawn
        results = iter([_fused(model, scores, source, quality) if fusion else model(read_trials(scores[0], source))])
    else:
        results = map(model, read_pieces(scores[0], source))
    if layout == "table":
        write_like(out, ((result, score_columns(result)) for result in results), **names_in(source))
    else:
        write_scores(out, merged(results), layout)


def _fused(model: Any, scores: tuple[str, ...], source: Facts, quality: tuple[str, ...]) -> Trials:
    """The fused scores; quality measures stand in the first file."""
    first, *others = scores
    rest = {**source, "group_columns": [one for one in source.get("group_columns", ()) if one not in quality]}
    measures, trials = quality_of(read_trials(first, source), quality)
    fused: Trials = model([trials, *(read_trials(one, rest) for one in others)], quality=measures)
    return fused
