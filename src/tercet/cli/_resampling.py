"""Intervals, bands, conditions, and a calibration set that is resampled along with the scores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

from tercet._typing import Value
from tercet.cli._output import Facts
from tercet.cli._systems import System, read_trials
from tercet.cli._values import grouping, level, method, training_prior
from tercet.errors import InputError
from tercet.evaluation import Evaluation
from tercet.trials import Trials
from tercet.uncertainty import bands, bootstrap, progress_bar
from tercet.uncertainty.intervals import beside


@dataclass(frozen=True, slots=True)
class Resampling:
    """The level of the intervals, and how resamples are drawn."""

    level: float
    resamples: int | None
    seed: int
    by: Value
    bayes: str | None = None

    @classmethod
    def of(cls, options: Facts, source: Facts) -> Resampling | None:
        """What --ci, --bootstrap, --seed and --group-column ask for; None without --ci."""
        if options["ci"] is None:
            return None
        return cls(level(options["ci"]), options["resamples"], options["seed"], grouping(source), options["bayes"])

    @property
    def asked(self) -> Facts:
        """As evaluate takes them: closed forms unless a number of resamples is given."""
        return {
            "ci": self.level,
            "resamples": self.resamples,
            "seed": self.seed,
            "by": self.by,
            "method": self.bayes,
        }

    @property
    def drawn(self) -> Facts:
        """As bootstrap takes them; the bar is drawn anew for each run."""
        count = self.resamples or 1000
        return self.asked | {"method": None, "resamples": count, "progress": progress_bar()}


@dataclass(frozen=True, slots=True)
class Calibration:
    """A calibrator with its settings, and the trials of each system that it is trained on."""

    called: str
    maker: Any
    settings: Facts
    prior: Value
    files: Sequence[Sequence[str]]  # per system: its scores, and labels or key if apart
    trials: Sequence[Trials]

    @classmethod
    def of(cls, options: Facts, source: Facts) -> Calibration | None:
        """What --calibrate-on and its companions ask for; the sets are read like the scores, with their own labels."""
        paths = options["calibrate_on"]
        if not paths:
            return None
        beside = {key: options[f"calibrate_{key}"] for key in ("labels", "key")}
        beside = {key: value for key, value in beside.items() if value is not None}
        own = {key: value for key, value in source.items() if key not in ("labels", "key")} | beside
        maker, settings = method(options["calibrate_with"])
        files = [[path, *beside.values()] for path in paths]
        at = training_prior(options["calibrate_prior"], options["calibrate_with"], "--calibrate-prior")
        return cls(options["calibrate_with"], maker, settings, at, files, [read_trials(path, own) for path in paths])

    def options(self, place: int) -> Facts:
        """As bootstrap takes them, for one system."""
        calibrator = SimpleNamespace(fit=partial(self.maker.fit, **self.settings))
        return {"calibrate": calibrator, "calibration_trials": self.trials[place], "prior": self.prior}

    def applied(self, systems: Sequence[System]) -> list[System]:
        """Every system's trials, calibrated on its own calibration set."""
        if len(self.trials) != len(systems):
            raise InputError(
                f"--calibrate-on takes one file per system, in the order of the scores: {len(systems)}, not "
                f"{len(self.trials)}."
            )
        at = {} if self.prior is None else {"prior": self.prior}
        return [
            replace(one, trials=self.maker.fit(trained, **at, **self.settings)(one.used()))
            for trained, one in zip(self.trials, systems, strict=True)
        ]

    def named(self, systems: Sequence[System]) -> list[System]:
        """Every system with how its scores were calibrated: by which method, on which files."""
        from tercet.io import fingerprint

        return [
            one.with_facts(
                calibration={
                    "method": self.called,
                    "files": [fingerprint(file) for file in files],
                    "trials": len(trained),
                }
            )
            for one, files, trained in zip(systems, self.files, self.trials, strict=True)
        ]


def with_intervals(
    systems: Sequence[System], asked: Sequence[object], draws: Resampling, drawn_bands: bool,
    calibration: Calibration | None, settings: Facts,
) -> list[System]:  # fmt: skip
    """The systems with bands where they have curves; a calibration set is resampled along with the scores."""
    found = []
    for place, one in enumerate(systems):
        assert one.read is not None
        options = draws.drawn | settings | ({} if calibration is None else calibration.options(place))
        facts, own = one.known(), None
        if calibration is not None:
            facts = beside(facts, bootstrap(one.read, asked, **options))
        if drawn_bands and isinstance(one.evaluation, Evaluation):
            own = bands(one.read, asked, **options)
            facts = facts | {"bands": own.to_dict()}
        found.append(replace(one, facts=facts, bands=own))
    return found
