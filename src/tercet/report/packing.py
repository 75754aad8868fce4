"""Ascending numbers in few bytes, for the page: `numbers` in systems.js reads them back, to the bit.

They are bits, 32 in five digits of base 85. First the number of groups (32 bits). A group has the numbers with as many
decimals, so that steps are small; the reader sorts what it has read. It begins with how many numbers there are (32
bits), their decimals (4 bits; 15 for doubles) and the first of its whole numbers (64 bits), which are 2^63 +
10^decimals x the number, or the bits of a double made to ascend. Then comes what each next one adds, in blocks of 64: a
width (6 bits), and for each as many ones as it holds 2^width, a zero, and the rest in `width` bits.

Also the rows that a page holds, only where asked for by name, so that priors and costs of several classes can be
edited.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from tercet._typing import JSON, Array, Facts, Floats
from tercet.errors import InputError
from tercet.metrics.posteriors import Likelihoods
from tercet.trials import Trials, as_trials

ROWS = 2000
CLASSES = 30  # of which a page can show and edit a cost matrix
_NUMBERS = 20_000  # the most that a page holds


def kept_rows(trials: Trials, *, most: int = ROWS, seed: int = 0) -> JSON:
    """Log-likelihoods and classes of all trials, or of a random sample of each class, weighted to represent the others.

    Up to `most` rows (and 20,000 numbers) everything is kept, and what a page counts is exact. Beyond, each class
    gives the same number of rows, or all that it has. No id, group or name of a trial is kept.

    >>> trials = Trials.of_log_likelihoods([[0.0, 1.0, 2.0], [3.0, 0.0, 1.0]], [2, 0])
    >>> kept = kept_rows(trials)
    >>> kept["kept"], kept["of"], kept["labels"], kept["log_likelihoods"][1]
    (2, 2, [2, 0], [0.0, -3.0, -2.0])
    """
    trials, labels = as_trials(trials), trials.known_labels()
    count = len(trials.classes)
    if not trials.is_matrix:
        raise InputError("Rows are for trials with one column per class; for two classes the page needs none.")
    if count > CLASSES:
        raise InputError(f"A page can edit the costs of at most {CLASSES} classes, not of {count}.")
    if int(most) != most or most < count:
        raise InputError(f"most must be a whole number of rows, at least one for each of the {count} classes.")
    whole = len(trials) <= min(int(most), _NUMBERS // count)
    rows = np.arange(len(trials)) if whole else _drawn(trials, labels, min(int(most), _NUMBERS // count), seed)
    likelihoods = Likelihoods.of(trials).block(rows).T
    weights = _weights(trials, labels, rows)
    return {
        "kept": len(rows),
        "of": len(trials),
        "seed": None if whole else int(seed),
        "labels": labels[rows].tolist(),
        "log_likelihoods": [[value if value > -math.inf else "-inf" for value in row] for row in likelihoods.tolist()],
        "weights": None if weights is None else weights.tolist(),
    }


def with_rows(system: Facts, trials: Trials, *, most: int = ROWS, seed: int = 0) -> JSON:
    """One entry of "systems" in the JSON with rows of its trials under "posteriors"."""
    kept = kept_rows(trials, most=most, seed=seed)
    if "log_loss" not in system:
        raise InputError("Rows are for systems of several classes; for two classes the page needs none.")
    labels = trials.known_labels()
    totals = np.bincount(labels, trials.weights, len(trials.classes)).tolist()
    given = {name: float(total) for name, total in system["input"]["classes"].items()}
    same = [*given] == list(trials.classes) and all(
        math.isclose(one, other, rel_tol=1e-9) for one, other in zip(given.values(), totals, strict=True)
    )
    if not same:
        raise InputError("These are not the trials that were evaluated: their classes, or how many of each, differ.")
    return {**system, "posteriors": kept}


def _drawn(trials: Trials, labels: Array, most: int, seed: int) -> NDArray[np.intp]:
    """Row numbers, as many of each class as there is room for; what a small class leaves free goes to the others."""
    rng = np.random.default_rng(seed)
    weighing = np.ones(len(trials), np.bool_) if trials.weights is None else trials.weights > 0.0
    members = [np.flatnonzero((labels == code) & weighing) for code in range(len(trials.classes))]
    chosen, free = [], most
    for left, own in zip(range(len(members), 0, -1), sorted(members, key=len), strict=True):
        room = free // left
        chosen.append(own if len(own) <= room else rng.choice(own, room, replace=False))
        free -= len(chosen[-1])
    return np.sort(np.concatenate(chosen))


def _weights(trials: Trials, labels: Array, rows: NDArray[np.intp]) -> Floats | None:
    """The weight of each kept row: its own, times what its class has for each of its kept ones."""
    if len(rows) == len(trials):
        return trials.weights
    own = np.ones(len(trials)) if trials.weights is None else trials.weights
    count = len(trials.classes)
    whole = np.bincount(labels, own, count)
    kept = np.bincount(labels[rows], own[rows], count)
    share = np.divide(whole, kept, out=np.zeros(count), where=kept > 0.0)
    return np.asarray(own[rows] * share[labels[rows]])


Wholes = NDArray[np.uint64]
_BLOCK = 64
_DOUBLE = 15
_LONGEST = 10  # decimals, beyond which a double takes fewer bits
_WIDEST = 52  # what a double holds without rounding, so that the reader can take it at once
_TOP = np.uint64(1 << 63)
_SAFE = str.maketrans("&<>", ",./")  # digits of base 85 that HTML knows, and what stands for them


def packed(values: Iterable[float | str]) -> str:
    """Ascending numbers, infinities as texts or not, as text."""
    numbers = np.array([float(value) for value in values])
    digits = _decimals(numbers)
    groups = [_group(numbers[digits == code], code) for code in np.unique(digits).tolist()]
    bits = f"{len(groups):032b}" + "".join(groups)
    size = -(-len(bits) // 32)
    whole = int(bits.ljust(32 * size, "0"), 2).to_bytes(4 * size, "big")
    return base64.b85encode(whole).decode("ascii").translate(_SAFE)


def _decimals(numbers: NDArray[np.float64]) -> NDArray[np.intp]:
    """With how many decimals each number can be written; 15 where too many are needed."""
    found = np.full(len(numbers), _DOUBLE)
    for digits in range(_LONGEST, -1, -1):
        with np.errstate(over="ignore", invalid="ignore"):
            wholes = np.rint(numbers * 10.0**digits)
            same = (np.abs(wholes) < 2.0**53) & (wholes / 10.0**digits == numbers)
        found[same] = digits
    return found


def _group(numbers: NDArray[np.float64], code: int) -> str:
    wholes = _ascending(numbers) if code == _DOUBLE else _scaled(numbers, code)
    steps = np.diff(wholes)
    blocks = [_block(steps[start : start + _BLOCK]) for start in range(0, len(steps), _BLOCK)]
    return f"{len(wholes):032b}{code:04b}{int(wholes[0]):064b}" + "".join(blocks)


def _ascending(numbers: NDArray[np.float64]) -> Wholes:
    """The bits of doubles as whole numbers in the same order."""
    bits = numbers.view(np.uint64)
    return np.where(bits >= _TOP, ~bits, bits | _TOP)


def _scaled(numbers: NDArray[np.float64], digits: int) -> Wholes:
    return np.rint(numbers * 10.0**digits).astype(np.int64).view(np.uint64) ^ _TOP


def _block(steps: Wholes) -> str:
    width = _width(steps)
    return f"{width:06b}" + "".join(_step(step, width) for step in steps.tolist())


def _step(step: int, width: int) -> str:
    rest = f"{step & ((1 << width) - 1):0{width}b}" if width else ""
    return "1" * (step >> width) + "0" + rest


def _width(steps: Wholes) -> int:
    """The width with which steps take the fewest bits."""
    near = int(steps.astype(np.float64).mean()).bit_length()
    widths: Sequence[int] = range(max(min(near, _WIDEST) - 2, 0), min(near, _WIDEST) + 1)
    return min(widths, key=lambda width: len(steps) * width + int((steps >> np.uint64(width)).sum()))
