"""Matrices of scores and what belongs to their columns: their form, names of classes, priors, weights."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from tercet._numeric.exact import as_integers
from tercet._numeric.parallel import extremes, over_parts
from tercet._numeric.validation import chosen, frozen, numbers, shown
from tercet._typing import Array, Counts, Floats
from tercet.errors import InputError

Orientation: TypeAlias = Literal["samples x classes", "classes x samples"]
_SUM_TOLERANCE = 1e-6  # posteriors kept in float32 sum to one within this; more than this is another mistake


def class_names(given: Sequence[object] | None, count: int, what: str = "classes") -> tuple[str, ...]:
    """Distinct names, one for each class (or action); the numbers 0..K-1 where none are given."""
    called = tuple(str(value) for value in (range(count) if given is None else given))
    if len(called) != count:
        raise InputError(f"{what} has {len(called)} names where {count} are needed.")
    if len(set(called)) < count:
        ordered = sorted(called)
        twice = next(one for one, other in itertools.pairwise(ordered) if one == other)
        raise InputError(f"{what} must be distinct: {shown(twice)} occurs twice.")
    return called


def prior_vector(prior: object, classes: int, name: str) -> Floats:
    """One prior per class, positive and summing to one within 1e-6; scaled to sum to one."""
    if isinstance(prior, int | float):
        raise InputError(f"{name} must be one number per class, of which there are {classes}, not {shown(prior)}.")
    vector = numbers(prior, name)
    if len(vector) != classes:
        raise InputError(f"{name} has {len(vector)} entries for {classes} classes.")
    bad = np.flatnonzero(~(vector > 0.0) | ~np.isfinite(vector))
    if len(bad):
        raise InputError(f"{name} must be positive: entry {bad[0]} is {vector[bad[0]]}.")
    total = math.fsum(vector)
    if abs(total - 1.0) > _SUM_TOLERANCE:
        raise InputError(f"{name} must sum to 1, not to {total}.")
    return vector if total == 1.0 else vector / total


def weight_column(weights: object) -> Floats:
    """Weights that are finite and not negative."""
    heavy = numbers(weights, "weights")
    check_weights(heavy)
    return heavy


def check_weights(heavy: Floats) -> None:
    """Refuses a column of weights of which one is negative or infinite."""
    least, most = extremes(heavy)
    if least < 0.0 or most == math.inf:
        bad = np.flatnonzero((heavy < 0.0) | (heavy == math.inf))
        raise InputError(
            f"weights must be finite and not negative: row {bad[0]} holds {heavy[bad[0]]}. Weight 0 drops a row."
        )


def whole_weights(weights: Floats) -> tuple[Counts, int]:
    """Weights as whole multiples of 2**unit, and the unit; a weight of 0 stays 0."""
    kept = weights > 0.0
    integers, unit = as_integers(weights[kept])
    rows: Counts = np.zeros(len(weights), integers.dtype)
    rows[kept] = integers
    return rows, unit


def upright(values: Floats, labels: Array | None, given: list[object] | None, orientation: str | None) -> Floats:
    """Samples x classes; turned when asked for, or when only that fits the number of labels or class names."""
    layouts: tuple[Orientation, ...] = ("samples x classes", "classes x samples")
    if orientation is None:
        fits = [_fits(values.shape, labels, given), _fits(values.T.shape, labels, given)]
        square = values.shape[0] == values.shape[1] > 1 and labels is not None
        if square and np.all(np.abs(values.sum(axis=1) - 1.0) <= _SUM_TOLERANCE) and values.min() >= 0.0:
            square = bool(np.all(np.abs(values.sum(axis=0) - 1.0) <= _SUM_TOLERANCE))  # rows are distributions
        if square and all(fits):
            raise InputError(
                f"scores of shape {values.shape} could be either way round: give orientation={layouts[0]!r} "
                f"or {layouts[1]!r}."
            )
        orientation = layouts[1] if fits == [False, True] else layouts[0]
    way = chosen(orientation, "orientation", layouts)
    return values if way == layouts[0] else frozen(np.ascontiguousarray(values.T))


def _fits(shape: tuple[int, ...], labels: Array | None, given: list[object] | None) -> bool:
    """Whether rows match the labels and columns the class names, as far as they are known."""
    return (labels is None or shape[0] == len(labels)) and (given is None or shape[1] == len(given))


def check_matrix(values: Floats, meaning: str) -> None:
    """Refuses posteriors that are not distributions, and rows of likelihoods or logits that are impossible."""
    if meaning == "posteriors":
        check_posteriors(values)
        return
    ends = over_parts(lambda part: (values[part].min(initial=0.0), values[part].max(initial=0.0)), len(values))
    if any(high == math.inf for _, high in ends):
        way_out = "Write -inf for the classes that are ruled out."
        _refuse(values, values.max(axis=1) == math.inf, f"{meaning} must not be +inf", way_out)
    if any(low == -math.inf for low, _ in ends):
        way_out = "Drop such rows: no class could have made them."
        _refuse(values, values.max(axis=1) == -math.inf, f"{meaning} must not be -inf for every class", way_out)


def check_posteriors(values: Floats) -> None:
    """Refuses rows that are not distributions over the classes."""
    outside = np.any((values < 0.0) | (values > 1.0), axis=1)
    way_out = "Say what they are, of_logits or of_log_likelihoods, or divide each row by its sum."
    _refuse(values, outside, "posteriors must lie in 0..1", way_out)
    off: Array = np.abs(values.sum(axis=1) - 1.0)
    worst = f"posteriors must sum to one (off by up to {off.max(initial=0.0):.3g})"
    _refuse(values, np.asarray(off > _SUM_TOLERANCE), worst, way_out)


def _refuse(values: Floats, bad: Array, rule: str, way_out: str) -> None:
    rows = np.flatnonzero(bad)
    if len(rows):
        raise InputError(
            f"{rule}: {len(rows)} of {len(values)} rows, the first is row {rows[0]} (counting from 0) "
            f"with {shown(values[rows[0]].tolist())}. {way_out}"
        )


def log_mean(columns: Floats, weights: Floats) -> Floats:
    """ln of the weighted mean of e^column over the columns, stably."""
    if columns.shape[1] == 1:
        return columns[:, 0]
    top = columns.max(axis=1)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        mixed: Floats = np.log(np.exp(columns - shift[:, None]) @ (weights / math.fsum(weights))) + shift
    return mixed
