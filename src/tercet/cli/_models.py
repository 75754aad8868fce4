"""Saved models: reading them, training them, and what training does to the costs."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

import click
import numpy as np

import tercet
from tercet._numeric.records import ReadOnly
from tercet._typing import Array
from tercet.application import Application
from tercet.cli._output import Facts, save, say, working
from tercet.cli._systems import System, names_in
from tercet.cli._values import DEFAULT_PRIORS
from tercet.errors import InputError
from tercet.io._trial_columns import group_numbers
from tercet.report import tables
from tercet.report.terminal import print_table
from tercet.trials import Trials

Saved = TypeVar("Saved")


def loaded(path: str, read: Callable[[str], Saved], kind: str) -> Saved:
    """What a saved file of this kind holds."""
    try:
        return read(Path(path).read_text(encoding="utf-8"))
    except (InputError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not a tercet {kind} file: {error}") from error


def saved_model(path: str) -> Any:
    """A calibrator or fusion out of a file."""
    from tercet.calibration.fusion import load_model

    return loaded(path, load_model, "model")


def fit_and_save(
    systems: Sequence[System], given: Any, maker: Any, settings: Facts, source: Facts, options: Facts, out: str
) -> None:
    """Trains a model on trials in memory, prints by folds what it does to the costs, and saves it."""
    from tercet.calibration.cross_fit import cross_fit
    from tercet.io import write_like

    folds = 5 if options["folds"] is None else options["folds"]
    dealt = {"folds": folds, "by": options["by"], "scheme": options["scheme"], "seed": options["seed"]}
    points = options["apps"] or [Application(prior) for prior in DEFAULT_PRIORS]
    with working("calibrating"):
        fitted = cross_fit(maker, given, **dealt, **settings)
    _print_before_and_after(systems, fitted.scores, points)
    save(out, fitted.model.to_json(), f"the model, trained on all {len(systems[0].used())} trials,")
    if options["out_of_fold"] is not None:
        facts = score_columns(fitted.scores) | {"fold": fitted.folds}
        write_like(options["out_of_fold"], [(fitted.scores, facts)], **names_in(source))
        say(f"scores out of fold are in {options['out_of_fold']}.")


def refuse_other_groups(source: Facts, options: Facts) -> None:
    """Refuses groups that are neither kept together by the folds nor written beside scores out of fold."""
    for name in source.get("group_columns", ()):
        if name != options["by"] and options.get("out_of_fold") is None:
            raise click.UsageError(f"The group {name!a} has no effect: --by names {options['by']!a}; leave one out.")


def score_columns(result: Trials) -> Facts:
    """The scores of trials as columns: one, or one per class."""
    if result.is_matrix:
        return {name: result.scores[:, place] for place, name in enumerate(result.classes)}
    return {"score": result.scores}


def quality_of(trials: Trials, columns: Sequence[str]) -> tuple[Array | None, Trials]:
    """The measures in these columns, one row per trial, and the trials without them."""
    if not columns:
        return None, trials
    measures = [group_numbers(trials, name, "quality measures") for name in columns]
    groups = {name: values for name, values in trials.groups.items() if name not in columns}
    return np.stack(measures, axis=1), replace(trials, groups=ReadOnly(groups))


def _print_before_and_after(systems: Sequence[System], after: Trials, points: Sequence[Application]) -> None:
    """The costs of the systems as given and of the new scores, each from a model of another fold."""
    apps = [] if len(after.classes) > 2 else points
    named = [(one.used(), one.name) for one in systems] + [(after, "cross-validated")]
    found = [tercet.evaluate(trials, apps, name=name).to_dict() for trials, name in named]
    if len(after.classes) > 2:
        print("\n".join(tables.summaries(found)))
    elif sys.stdout.isatty():
        print_table(found)
    else:
        print(tables.tsv(found))
