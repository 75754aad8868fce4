"""What recognisers share: labels as class numbers, log-likelihoods as trials, and rows to train and to test on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric import serialization as saved
from tercet._numeric.coded import codes_among, occurring
from tercet._numeric.matrices import class_names
from tercet._numeric.records import checked_tuple
from tercet._numeric.validation import column, label_list, names, numbers, same_length, shown, some, whole
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


# Which rows train and which test: by a shuffle, by every nth, or in folds


@checked_tuple
class Split(NamedTuple):
    """Row numbers to train on and row numbers to test on.

    Attributes
    ----------
    train : numpy.ndarray of int
        Row numbers to train on.
    test : numpy.ndarray of int
        Row numbers to test on.

    Examples
    --------
    >>> import tercet as tc
    >>> split = tc.recognizers.every_nth(6, 4)
    >>> split.train.tolist(), split.test.tolist()
    ([1, 2, 3, 5], [0, 4])
    """

    train: Ints
    test: Ints


def split_2_to_1(n: int, seed: int = 0) -> Split:
    """The course's split: rows shuffled as numpy.random.seed(seed) does, two thirds to train, the rest to test.

    Parameters
    ----------
    n : int
        Number of rows.
    seed : int, default 0
        Seed of the shuffle.

    Returns
    -------
    Split
        Row numbers of both parts.

    Examples
    --------
    >>> [part.tolist() for part in split_2_to_1(6, seed=0)]
    [[5, 2, 1, 3], [0, 4]]
    """
    n = _count(n, "n", 2)
    order = _shuffled(n, seed)
    return Split(order[: 2 * n // 3], order[2 * n // 3 :])


def every_nth(n: int, k: int = 4, first: int = 0) -> Split:
    """Every k-th row, from `first`, is for testing and the others are for training.

    Parameters
    ----------
    n : int
        Number of rows.
    k : int, default 4
        Every k-th row is for testing.
    first : int, default 0
        The first row for testing.

    Returns
    -------
    Split
        Row numbers of both parts.

    Examples
    --------
    >>> [part.tolist() for part in every_nth(6, 4)]
    [[1, 2, 3, 5], [0, 4]]
    """
    n, k, first = _count(n, "n", 2), _count(k, "k", 2), whole(first, "first", 0)
    rows = np.arange(n)
    if not 0 <= first < min(k, n):
        raise InputError(f"first must lie in 0..{min(k, n) - 1}, not {shown(first)}.")
    tested = rows % k == first
    return Split(rows[~tested], rows[tested])


def k_folds(n: int, k: int, seed: int | None = None) -> tuple[Split, ...]:
    """K splits whose test parts are contiguous, differ by at most one row in size and cover every row once.

    With a seed the rows are shuffled first; with k = n one row is left out at a time.

    Parameters
    ----------
    n : int
        Number of rows.
    k : int
        Number of folds; with k = n one row is left out at a time.
    seed : int, optional
        Shuffle the rows by this seed first.

    Returns
    -------
    tuple of Split
        One split per fold.

    Examples
    --------
    >>> [fold.test.tolist() for fold in k_folds(5, 2)]
    [[0, 1, 2], [3, 4]]
    """
    n, k = _count(n, "n", 2), _count(k, "k", 2)
    if k > n:
        raise InputError(f"k must be at most n, the number of rows, not {k} of {n}.")
    order = np.arange(n) if seed is None else _shuffled(n, seed)
    parts = np.array_split(order, k)
    return tuple(Split(np.concatenate([*parts[:i], *parts[i + 1 :]]), parts[i]) for i in range(k))


def _shuffled(n: int, seed: int) -> Ints:
    """numpy.random.seed(seed); numpy.random.permutation(n), without touching the global state."""
    return np.random.RandomState(whole(seed, "seed", 0, 2**32 - 1)).permutation(n)  # the course's generator


def _count(value: object, name: str, least: int) -> int:
    if isinstance(value, float | np.floating):  # a count that was divided
        raise InputError(f"{name} must be a whole number, an int, not {shown(value)}.")
    return whole(value, name, least, 10**9)
