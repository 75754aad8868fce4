"""What recognisers share: labels as class numbers, their sizes, and log-likelihoods as trials."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tercet._numeric import serialization as saved
from tercet._numeric.coded import codes_among, occurring
from tercet._numeric.matrices import class_names
from tercet._numeric.validation import column, label_list, names, numbers, same_length, shown, some
from tercet._typing import Floats
from tercet.errors import InputError
from tercet.trials import Trials

Ints = NDArray[np.intp]
Readers = Mapping[str, Callable[[object, str], object]]

_CAP = 1 << 27  # numbers in one model: 1 GiB


def check_size(cells: int, what: str) -> None:
    """Refuses a model too large to hold."""
    if cells > _CAP:
        raise InputError(f"The model would hold {cells} numbers ({what}), above the cap of {_CAP}: merge or drop some.")


def sample_table(samples: object, width: int | None = None) -> Floats:
    """A matrix of features, one row per sample, as wide as the model's where it is known; doubles are not copied."""
    array = column(samples, "samples")
    if array.ndim != 2 or array.shape[1] == 0:
        raise InputError(
            f"samples must be a matrix, one row per sample and one column per feature, not an array of shape "
            f"{array.shape}. A single sample is [[...]], a single feature samples[:, None]."
        )
    if width is not None and array.shape[1] != width:
        raise InputError(f"samples have {array.shape[1]} features, the training samples had {width}.")
    return array if array.dtype == np.float64 else numbers(array, "samples", ndim=2)


def refuse_infinite(table: Floats) -> None:
    """Refuses samples of which some feature is infinite or NaN."""
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        rows = len(np.unique(bad[:, 0]))
        row, feature = bad[0].tolist()
        raise InputError(
            f"samples must be finite: {rows} of {len(table)} rows are not, the first is row {row}, feature {feature} "
            f"(counting from 0), which holds {table[row, feature]}. Drop these rows, or fill them in on purpose."
        )


def labelled(rows: int, labels: object, classes: Sequence[object] | None) -> tuple[tuple[str, ...], Ints, Ints]:
    """Class names, the class number of every row, and how many rows each class has."""
    named, codes = coded(labels, classes)
    same_length(rows, {"labels": codes})
    return named, codes, _sizes(codes, named)


def coded(labels: object, classes: Sequence[object] | None) -> tuple[tuple[str, ...], Ints]:
    """Class names, and each label as its class's number."""
    array = names(labels, "labels")
    if array.dtype.kind == "S":
        raise InputError("labels are bytes: decode them first.")
    if array.dtype.kind == "f":
        whole = np.array_equal(array, np.floor(array)) and bool(np.all(np.abs(array) < 2.0**53))
        array = array.astype(np.int64) if whole else array + 0.0  # -0.0 becomes 0.0
    values = sorted(occurring(array), key=None if array.dtype.kind in "iuf" else str)  # type: ignore[arg-type,type-var]
    codes = codes_among(array, values)
    found = class_names(values, len(values))
    if classes is None:
        return found, codes
    given = label_list(classes, "classes")
    named = class_names(given, len(given))
    place = {name: code for code, name in enumerate(named)}
    unknown = next((name for name in found if name not in place), None)
    if unknown is not None:
        raise InputError(f"labels hold {shown(unknown)}, which is not among the classes {some(named)}.")
    return named, np.array([place[name] for name in found], np.intp)[codes] if len(codes) else codes


def _sizes(codes: Ints, classes: tuple[str, ...]) -> Ints:
    """Samples of each class: at least two classes, none of them empty."""
    sizes = np.bincount(codes, minlength=len(classes))
    if len(classes) < 2:
        raise InputError(f"labels must name at least two classes, not {len(classes)}.")
    empty = np.flatnonzero(sizes == 0)
    if len(empty):
        raise InputError(f"Class {shown(classes[empty[0]])} has no training samples: leave it out of classes.")
    return sizes


def as_trials(log_likelihoods: Floats, labels: object, classes: tuple[str, ...]) -> Trials:
    """Log-likelihoods, and labels where there are any, as trials of these classes."""
    codes = None if labels is None else coded(labels, classes)[1]
    trials = Trials.of_log_likelihoods(log_likelihoods, codes, orientation="samples x classes")
    return replace(trials, classes=classes)


def check_classes(classes: tuple[str, ...], count: int) -> None:
    """Refuses a saved model whose names do not fit its numbers."""
    if len(class_names(classes, count)) < 2:
        raise saved.damaged("there must be at least two classes")
