"""Which intervals an evaluation is asked for, and the one call that makes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tercet._numeric.validation import chosen, probability, seed_number, shown
from tercet._typing import JSON, EerDefinition
from tercet.errors import InputError
from tercet.metrics.costs import log_odds_grid
from tercet.metrics.tally import Tally
from tercet.trials import Trials
from tercet.uncertainty._rows import needs_level
from tercet.uncertainty.intervals import CalibrationLosses, Intervals, closed_form_intervals


@dataclass(frozen=True, slots=True)
class AskedIntervals:
    """Which intervals an evaluation carries."""

    level: float
    options: JSON
    drawn: JSON | None  # of a bootstrap; None: closed forms
    grid: tuple[float, float, int]

    @classmethod
    def of(
        cls, ci: float | None, by: object, method: str | None, resamples: int | None, seed: int, sampling: object,
        grid: tuple[float, float, int], eer: EerDefinition,
    ) -> AskedIntervals | None:  # fmt: skip
        """None without a level, which every other option needs."""
        given = {"by": by, "method": method, "resamples": resamples, "sampling": sampling}
        needs_level(ci, given)
        if ci is None:
            return None
        drawn = None
        if method is not None:
            chosen(method, "method", ("percentile", "bca", "jeffreys", "uniform"))
        if sampling is not None:
            chosen(sampling, "sampling", ("stratified", "natural"))
        if method in ("jeffreys", "uniform"):
            if resamples is not None or sampling is not None:
                raise InputError(f"method={shown(method)} takes neither resamples= nor sampling=.")
            drawn = {"prior": method, "seed": seed_number(seed)}
        elif method is not None or resamples is not None:
            count = 1000 if resamples is None else resamples
            drawn = {"method": method or "percentile", "resamples": count, "seed": seed}
        return cls(probability(ci, "ci"), {"by": by, "sampling": sampling, "eer": eer}, drawn, grid)

    def intervals(
        self, trials: Trials | Tally, apps: Sequence[object], source: Trials | Tally | CalibrationLosses
    ) -> Intervals:
        """The intervals of the numbers of these trials."""
        if self.drawn is None:
            grid = log_odds_grid(self.grid)
            return closed_form_intervals(source, apps, level=self.level, grid=grid, **self.options)
        if "prior" in self.drawn:
            from tercet.uncertainty.bayes import posterior_intervals

            return posterior_intervals(trials, apps, level=self.level, by=self.options["by"], **self.drawn)
        from tercet.uncertainty.bootstrap import bootstrap

        more = self.options | {"sampling": self.options["sampling"] or "stratified"}
        return bootstrap(trials, apps, ci=self.level, bayes_plot=self.grid, **self.drawn, **more)
