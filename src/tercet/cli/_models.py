"""Saved models: reading them, training them, and what training does to the costs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import tercet
from tercet.application import Application
from tercet.cli._output import Facts, say
from tercet.cli._systems import System
from tercet.cli._values import DEFAULT_PRIORS
from tercet.errors import InputError
from tercet.report import tables
from tercet.report.terminal import print_table
from tercet.trials import Trials


def saved_model(path: str) -> Any:
    """A calibrator or fusion out of a file."""
    from tercet.calibration.fusion import load_model

    try:
        return load_model(Path(path).read_text(encoding="utf-8"))
    except (InputError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not a tercet model file: {error}") from error


def fit_and_save(systems: Sequence[System], given: Any, maker: Any, settings: Facts, options: Facts, out: str) -> None:
    """Trains a model on trials in memory, prints by folds what it does to the costs, and saves it."""
    from tercet.calibration.cross_fit import cross_fit
    from tercet.io import write_text_atomically

    folds = 5 if options["folds"] is None else options["folds"]
    fitted = cross_fit(maker, given, options["prior"], folds=folds, by=options["by"], **settings)
    _print_before_and_after(systems, fitted.scores)
    write_text_atomically(out, fitted.model.to_json())
    say(f"the model, trained on all {len(systems[0].used())} trials, is in {out}.")


def _print_before_and_after(systems: Sequence[System], after: Trials) -> None:
    """The costs of the systems as they came and of the new scores, which no fold's own model gave."""
    apps = [] if len(after.classes) > 2 else [Application(prior) for prior in DEFAULT_PRIORS]
    named = [(one.used(), one.name) for one in systems] + [(after, "after, by folds")]
    found = [tercet.evaluate(trials, apps, name=name).to_dict() for trials, name in named]
    if len(after.classes) > 2:
        print("\n".join(tables.summaries(found)))
    elif sys.stdout.isatty():
        print_table(found)
    else:
        print(tables.tsv(found))
