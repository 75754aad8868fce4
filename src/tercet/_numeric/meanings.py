"""What scores can mean, and what must hold of scores, classes, labels and the prior they were made with."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from tercet._numeric.matrices import check_matrix, prior_vector
from tercet._numeric.validation import chosen, class_codes, is_target, probability
from tercet._typing import Array, Floats
from tercet.errors import InputError

TWO_CLASS_MEANINGS = ("llr", "lr", "log10-llr", "log-odds", "posterior", "raw")
MATRIX_MEANINGS = ("log-likelihoods", "logits", "posteriors")
MEANINGS = TWO_CLASS_MEANINGS + MATRIX_MEANINGS
WITH_PRIOR = ("log-odds", "posterior", "logits", "posteriors")  # which it must be taken out of
RANGES = {"lr": (0.0, math.inf), "posterior": (0.0, 1.0)}


def check_meaning(meaning: str, meanings: Sequence[str], trained_prior: object) -> None:
    """Refuses a meaning that is not among these, and a prior that is missing or that nothing would take out."""
    if isinstance(meaning, str) and meaning == "decisions":
        raise InputError("meaning='decisions' is not one of scores: read decided labels with tercet.io.read_decisions.")
    chosen(meaning, "meaning", meanings)
    if meaning in WITH_PRIOR and trained_prior is None:
        raise InputError(
            f"trained_prior is needed with {meaning}: the prior that these scores were made with, so that it can be "
            f"removed."
        )
    if meaning not in WITH_PRIOR and trained_prior is not None:
        raise InputError(f"trained_prior cannot be combined with meaning={meaning!r}.")


def check_scores(
    scores: Floats, meaning: str, classes: tuple[str, ...], labels: Array | None, trained_prior: object
) -> Array | None:
    """Refuses what does not belong together; gives the labels: true for a target, or the number of the class."""
    check_meaning(meaning, MEANINGS, trained_prior)
    several = meaning in MATRIX_MEANINGS
    if scores.ndim != 1 + several:
        wanted = "one column per class" if several else "one number per trial"
        raise InputError(f"scores that are {meaning} need {wanted}, not the shape {scores.shape}.")
    count = scores.shape[1] if several else 2
    if len(classes) != count or count < 2:
        raise InputError(f"classes has {len(classes)} names where {count} are needed.")
    if several:
        check_matrix(scores, meaning)
    else:
        way_out = " If they mean something else, say so: llr (of_llr), log-odds (of_log_odds) or raw (of_scores)."
        check_range(scores, meaning, way_out)
    if trained_prior is not None:
        prior_vector(trained_prior, count, "trained_prior") if several else probability(trained_prior, "trained_prior")
    if labels is None or (not several and labels.dtype == np.bool_):
        return labels
    if not several:
        return is_target(labels, None)[0]
    known = labels.dtype == np.intp and 0 <= labels.min(initial=0) <= labels.max(initial=0) < count
    return labels if known else class_codes(labels, classes, None)


def check_range(scores: Floats, meaning: str, way_out: str = "") -> None:
    """Refuses scores that cannot be posteriors or likelihood ratios."""
    if meaning not in RANGES:
        return
    low, high = RANGES[meaning]
    if scores.min(initial=high) < low or scores.max(initial=low) > high:
        outside = np.flatnonzero((scores < low) | (scores > high))
        if meaning == "posterior" and scores.min() >= 0.0 and scores.max() <= 100.0:
            way_out = f" If they are percentages, divide them by 100.{way_out}"
        raise InputError(
            f"scores that are {meaning} must lie in {low:g}..{high:g}: {len(outside)} of {len(scores)} rows, the first "
            f"in row {outside[0]} (counting from 0) holds {scores[outside[0]]}.{way_out}"
        )
