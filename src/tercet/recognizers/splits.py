"""Which rows train and which test: by a shuffle, by every nth, or in folds."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.records import checked_tuple
from tercet._numeric.validation import shown, whole
from tercet.errors import InputError

Ints = NDArray[np.intp]


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
