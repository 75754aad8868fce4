"""Intervals, bands, and calibration sets that are resampled along with the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

from tercet.calibration.methods import method_of
from tercet.cli._output import Facts
from tercet.cli._systems import Calibration, System, read_trials
from tercet.cli._values import grouping, training_settings
from tercet.errors import InputError
from tercet.evaluation import Evaluation
from tercet.uncertainty import bands, bootstrap, progress_bar
from tercet.uncertainty.intervals import beside


def draws_of(options: Facts, source: Facts) -> Facts:
    """What --ci, --bootstrap, --bayes, --seed and --group-column ask `evaluate` for; nothing without --ci."""
    if options["ci"] is None:
        return {}
    return {
        "ci": options["ci"],
        "resamples": options["resamples"],
        "seed": options["seed"],
        "by": grouping(source),
        "method": options["bayes"],
    }


def calibrated(systems: Sequence[System], options: Facts, source: Facts) -> list[System]:
    """The systems, each calibrated on its file of --calibrate-on, read like the scores but with labels of its own."""
    paths = options["calibrate_on"]
    if not paths:
        return list(systems)
    if len(paths) != len(systems):
        raise InputError(
            f"--calibrate-on takes one file per system, in the order of the scores: {len(systems)}, not {len(paths)}."
        )
    beside = {key: options[f"calibrate_{key}"] for key in ("labels", "key")}
    beside = {key: value for key, value in beside.items() if value is not None}
    own = {key: value for key, value in source.items() if key not in ("labels", "key")} | beside
    called = options["calibrate_with"]
    maker, settings = method_of(called)
    at = training_settings(options["calibrate_prior"], called, "--calibrate-prior")
    found = []
    for one, path in zip(systems, paths, strict=True):
        fit = partial(maker.fit, **settings)
        calibration = Calibration(called, fit, at, [path, *beside.values()], read_trials(path, own))
        found.append(replace(one, trials=calibration(one.used()), calibration=calibration))
    return found


def with_intervals(one: System, asked: Sequence[object], draws: Facts, with_bands: bool) -> System:
    """The system with bands where it has curves; a calibration set is resampled along with the scores."""
    assert one.read is not None
    drawn = draws | {"method": None, "resamples": draws["resamples"] or 1000}
    facts, own = one.known(), None
    if one.calibration is not None:
        drawn |= {"calibrate": SimpleNamespace(fit=one.calibration.fit), "calibration_trials": one.calibration.trials}
        drawn |= {"prior": one.calibration.prior.get("prior")}
        facts = beside(facts, bootstrap(one.read, asked, progress=progress_bar(), **drawn))
    if with_bands and isinstance(one.evaluation, Evaluation):
        own = bands(one.read, asked, progress=progress_bar(), **drawn)
        facts = facts | {"bands": own.to_dict()}
    return replace(one, facts=facts, bands=own)
