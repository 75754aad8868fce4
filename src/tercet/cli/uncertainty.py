"""What the commands say about uncertainty: intervals, bands, conditions, a calibration set that is resampled along."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from types import SimpleNamespace
from typing import Any, NamedTuple

from tercet.errors import InputError
from tercet.evaluation import Evaluation
from tercet.trials import Trials
from tercet.uncertainty import bands, bootstrap, by_condition, progress_bar, with_bands, with_intervals
from tercet.uncertainty.bands import Bands

Facts = dict[str, Any]


class Resampling(NamedTuple):
    """How sure the numbers are to be told: the level of the intervals, and how resamples are drawn."""

    level: float
    resamples: int
    seed: int
    by: Any

    @property
    def options(self) -> Facts:
        """As bootstrap takes them; the bar is drawn anew for each run."""
        return self._asdict() | {"progress": progress_bar()}


class Calibration(NamedTuple):
    """A calibrator with its settings, and the trials of each system that it is trained on."""

    maker: Any
    settings: Facts
    prior: Any
    trials: Sequence[Trials]

    def calibrator(self) -> Any:
        """Something that fits: the calibrator with its settings."""
        return SimpleNamespace(fit=partial(self.maker.fit, **self.settings))

    def options(self, place: int) -> Facts:
        """As bootstrap takes them, for one system."""
        return {"calibrate": self.calibrator(), "calibration_trials": self.trials[place], "prior": self.prior}

    def applied(self, loaded: Sequence[Trials]) -> list[Trials]:
        """Every system's trials, calibrated on its own calibration set."""
        if len(self.trials) != len(loaded):
            raise InputError(
                f"--calibrate-on takes one file a system, in the order of the scores: {len(loaded)}, not "
                f"{len(self.trials)}."
            )
        at = {} if self.prior is None else {"prior": self.prior}
        return [
            self.maker.fit(trained, **at, **self.settings)(trials)
            for trained, trials in zip(self.trials, loaded, strict=True)
        ]


def with_doubts(
    systems: list[Facts],
    found: Sequence[Any],
    loaded: Sequence[Trials],
    asked: Sequence[Any],
    draws: Resampling,
    *,
    drawn_bands: bool,
    calibration: Calibration | None,
    bayes_plot: tuple[float, float, int],
    eer: str,
) -> tuple[list[Facts], list[Bands | None]]:
    """The systems with intervals beside their numbers, and the bands of those that have curves."""
    results: list[Facts] = []
    curves: list[Bands | None] = []
    for place, (system, ev, trials) in enumerate(zip(systems, found, loaded, strict=True)):
        options = draws.options | {"bayes_plot": bayes_plot, "eer": eer}
        options |= {} if calibration is None else calibration.options(place)
        own: Bands | None = None
        if drawn_bands and isinstance(ev, Evaluation):
            own = bands(trials, asked, quantities=None, **options)
        results.append(
            with_intervals(system, bootstrap(trials, asked, **options)) if own is None else with_bands(system, own)
        )
        curves.append(own)
    return results, curves


def conditions_of(
    loaded: Sequence[Trials], names: Sequence[str], columns: Sequence[str], asked: Sequence[Any],
    draws: Resampling | None, eer: str,
) -> list[Facts]:  # fmt: skip
    """The entries of "conditions" in the JSON: one for each system and column."""
    entries = []
    for trials, name in zip(loaded, names, strict=True):
        for column in columns:
            options: Facts = {} if draws is None else draws.options
            level = options.pop("level", None)
            one = by_condition(trials, column, asked, level=level, draws=options, eer=eer)
            entries.append({"system": name, **one.to_dict()})
    return entries
