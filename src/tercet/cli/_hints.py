"""Hints where scores look as if they had another meaning: printed to stderr, never acted upon."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tercet._numeric.validation import STANDARD_PAIRS, shown
from tercet.cli._output import Facts, say
from tercet.cli._systems import System, name_of, read_trials
from tercet.evaluation import Evaluation
from tercet.trials import Trials

_LARGE = 50.0  # an llr above this claims odds of 10^21 to 1
_LOW_AUC = 0.4


def hints_about(one: System, source: Facts) -> Iterator[str]:
    """What suggests that a two-class system's scores have another meaning or target."""
    found = one.evaluation
    if not isinstance(found, Evaluation):
        return
    if found.auc is not None and found.auc < _LOW_AUC:
        yield (
            f"{one.name}: hint: AUC {found.auc:.3f}, so targets score lower than non-targets. Is --target the right "
            f"label, and do higher scores support it?"
        )
    if isinstance(one.trials, Trials) and one.trials.classes[0] == f"not {one.trials.classes[-1]}":
        yield (
            f"{one.name}: hint: there are several labels beside the target {shown(one.trials.classes[-1])}, and all of "
            f"them were taken as non-targets. Drop rows whose class is not known."
        )
    if isinstance(one.trials, Trials):
        yield from _hints_about_llrs(one.name, one.trials, source)


def read_as_llrs(path: str, source: Facts) -> Trials:
    """The trials of a file, with what suggests that scores taken as llrs are something else."""
    trials = read_trials(path, source)
    say_if_not_llrs(name_of(path), trials, source)
    return trials


def say_if_not_llrs(name: str, trials: Trials, source: Facts) -> None:
    """Says what suggests that scores taken as llrs are something else."""
    for hint in _hints_about_llrs(name, trials, source):
        say(hint)


def _hints_about_llrs(name: str, trials: Trials, source: Facts) -> Iterator[str]:
    given = source.get("class_columns") or source.get("classes")
    if trials.is_matrix and not given and tuple(map(str.lower, trials.classes)) not in STANDARD_PAIRS:
        first, second = trials.classes
        yield (
            f"{name}: hint: of the two classes, the second, {shown(second)}, was taken as the target. If "
            f"{shown(first)} is, give --class-columns and the priors in the other order."
        )
    if trials.meaning != "llr" or not len(trials):
        return
    low, high = float(trials.scores.min()), float(trials.scores.max())
    if low >= 0.0 and high <= 1.0:
        yield (
            f"{name}: hint: all scores lie in 0..1 and were taken as llrs. If they are posteriors, use --meaning "
            f"posterior --trained-prior P."
        )
    elif low >= 0.0:
        yield (
            f"{name}: hint: no score is negative, and they were taken as llrs. If they are likelihood ratios, use "
            f"--meaning lr; if they are raw, --meaning raw."
        )
    largest = max((abs(value) for value in (low, high) if math.isfinite(value)), default=0.0)
    if largest > _LARGE:
        yield (
            f"{name}: hint: llrs as large as {largest:.3g} claim near certainty. If these are raw scores, use "
            f"--meaning raw, or calibrate them."
        )
