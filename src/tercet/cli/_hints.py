"""Hints where scores look as if they had another meaning: printed to stderr, never acted upon."""

from __future__ import annotations

import math
from collections.abc import Iterator

from tercet._numeric.validation import STANDARD_PAIRS, shown
from tercet.cli._output import Facts, say
from tercet.cli._systems import name_of, read_trials
from tercet.evaluation import Evaluation
from tercet.trials import Trials

_LARGE = 50.0  # an llr above this claims odds of 10^21 to 1
_LOW_AUC = 0.4


def read_as_llrs(path: str, source: Facts) -> Trials:
    """The trials of a file, with what suggests that scores taken as llrs are something else."""
    trials = read_trials(path, source)
    say_hints(name_of(path), trials, source)
    return trials


def say_hints(name: str, trials: Trials, source: Facts) -> None:
    """Says what suggests that scores taken as llrs are something else."""
    for hint in hints_about(name, trials, source):
        say(hint)


def hints_about(name: str, trials: object, source: Facts, found: object = None) -> Iterator[str]:
    """What suggests that a two-class system's scores have another meaning, or, where they are evaluated, target."""
    if found is not None and not isinstance(found, Evaluation):
        return
    if found is not None and found.auc is not None and found.auc < _LOW_AUC:
        yield (
            f"{name}: hint: AUC {found.auc:.3f}, so targets score lower than non-targets. Is --target the right "
            f"label, and do higher scores support it?"
        )
    if not isinstance(trials, Trials):
        return
    if found is not None and trials.classes[0] == f"not {trials.classes[-1]}":
        yield (
            f"{name}: hint: there are several labels beside the target {shown(trials.classes[-1])}, and all of "
            f"them were taken as non-targets. Drop rows whose class is not known."
        )
    given = source.get("class_columns") or source.get("classes")
    if trials.is_matrix and not given and tuple(map(str.lower, trials.classes)) not in STANDARD_PAIRS:
        yield (
            f"{name}: hint: of the two classes, the second, {shown(trials.classes[1])}, was taken as the target. If "
            f"{shown(trials.classes[0])} is, give --class-columns and the priors in the other order."
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
