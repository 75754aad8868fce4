"""Draws: which rows a resample holds, as whole weights, and the same ones for the same seed and number.

Rows are drawn within their class, or whole groups are. Every resample has its own generator, made from the seed and
the resample's number, so that neither the order of the work nor the number of threads can change it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.validation import shown
from tercet._typing import Array, Counts
from tercet.errors import InputError
from tercet.trials import Trials
from tercet.uncertainty._clusters import check_groups, group_codes
from tercet.uncertainty._kernel.drawn_runs import AllRuns, Kinds, RunCounts, poisson_laws, random_bytes

Places = NDArray[np.intp]

MOST_REDRAWS = 1000  # this many resamples in a row without a class: the data cannot be resampled this way
LARGE = 1 << 14  # rows above which counts are drawn row by row instead of draw by draw
_BLOCKS = 200  # parts of a class (or of the groups) that are left out in turn


class Draw(NamedTuple):
    """The weight of every row of each class in one resample, and how many were discarded before it."""

    weights: tuple[Counts | RunCounts, ...]  # counts of rows, or RunCounts
    redrawn: int

    def rows(self) -> tuple[Counts, ...]:
        """The weights row by row."""
        return tuple(one.rows() if isinstance(one, RunCounts) else one for one in self.weights)


@dataclass(frozen=True, slots=True, eq=False)
class Design:
    """What is drawn: rows within each class, or whole groups, or the product of two crossed groupings."""

    sizes: tuple[int, ...]  # rows of each class
    weights: tuple[Counts | None, ...]  # their own weights; None is one each
    groups: tuple[tuple[Places, ...], ...] = ()  # for each grouping the group number of each class's rows
    counts: tuple[int, ...] = ()  # groups in each grouping
    runs: AllRuns | None = None  # where rows are drawn run by run
    natural: bool = False  # class counts are drawn too, instead of being fixed

    @classmethod
    def of(cls, trials: Trials, rows: Sequence[Places], by: Sequence[str]) -> Design:
        """The design of these rows of each class; `by` names the grouping columns, if any."""
        own = row_weights(trials)
        weights = tuple(None if own is None else own[places] for places in rows)
        codes = [group_codes(trials, name) for name in by]
        for name, code in zip(by, codes, strict=True):
            _check_groups(trials, name, code, rows)
        groups = tuple(tuple(code[places] for places in rows) for code in codes)
        return cls(tuple(map(len, rows)), weights, groups, tuple(int(code.max()) + 1 for code in codes))

    def base(self) -> tuple[Counts, ...]:
        """The weights of the sample itself."""
        return tuple(
            np.ones(size, np.int64) if weights is None else weights
            for size, weights in zip(self.sizes, self.weights, strict=True)
        )

    def draw(self, seed: int, number: int, stream: int = 0) -> Draw:
        """Resample `number` of a seed; one that lacks a class is discarded and drawn again."""
        for attempt in range(MOST_REDRAWS):
            rng = generator(seed, stream, number, attempt)
            weights = self._by_groups(rng) if self.groups else self._by_class(rng)
            if not (self.groups or self.natural) or all(bool(rows.any()) for rows in weights):
                return Draw(weights, attempt)
        raise InputError(
            f"Resampling whole groups gave {MOST_REDRAWS} sets in a row that lack a class: the class occurs in too few "
            f"groups. Resample trials within class instead (by=None), or merge groups."
        )

    def _by_class(self, rng: np.random.Generator) -> tuple[Counts | RunCounts, ...]:
        if self.natural:
            return self._by_all(rng)
        if self.runs:
            return self.runs.draw(rng)
        return tuple(_class_counts(rng, size, own) for size, own in zip(self.sizes, self.weights, strict=True))

    def _by_all(self, rng: np.random.Generator) -> tuple[Counts, ...]:
        """Rows of all classes drawn together, so that class counts vary as in natural sampling."""
        base = self.base()
        heavy = np.concatenate([np.ones(len(own), np.int64) if own.dtype.kind == "f" else own for own in base])
        total = int(heavy.sum())
        drawn = np.split(rng.multinomial(total, heavy / total), np.cumsum(self.sizes)[:-1])
        return tuple(counts * own if own.dtype.kind == "f" else counts for counts, own in zip(drawn, base, strict=True))

    def _by_groups(self, rng: np.random.Generator) -> tuple[Counts, ...]:
        drawn = [uniform_counts(rng, count).astype(np.int64) for count in self.counts]
        return self._spread(drawn)

    def _spread(self, drawn: Sequence[Counts]) -> tuple[Counts, ...]:
        """The weights of rows from those of their groups: the product over the groupings, times the row's own."""
        rows = []
        for place, own in enumerate(self.weights):
            weights = drawn[0][self.groups[0][place]]
            for counts, codes in zip(drawn[1:], self.groups[1:], strict=True):
                weights = weights * counts[codes[place]]
            rows.append(weights if own is None else weights * own)
        return tuple(rows)

    def fixed_sizes(self) -> list[float] | None:
        """The weight of each class, where resampling never changes it."""
        real = any(own is not None and own.dtype.kind == "f" for own in self.weights)
        return None if self.groups or real or self.natural else [float(own.sum()) for own in self.base()]

    def units(self) -> tuple[int, ...]:
        """The number of independent units in each class: rows (whole weights count), or groups."""
        if self.groups:
            return tuple(min(len(np.unique(codes[j])) for codes in self.groups) for j in range(len(self.sizes)))
        return tuple(
            size if own is None or own.dtype.kind == "f" else int(own.sum())
            for size, own in zip(self.sizes, self.weights, strict=True)
        )

    def left_out(self, seed: int) -> Iterator[Iterator[tuple[Counts | RunCounts, ...]]]:
        """For each stratum the sample's weights without one part of it, part by part, made one at a time."""
        rng = generator(seed, 1, 0, 0)
        strata = self.counts if self.groups else self.sizes
        return (self._without(place, _parts(rng, size)) for place, size in enumerate(strata))

    def _without(self, place: int, parts: Array) -> Iterator[tuple[Counts | RunCounts, ...]]:
        if self.runs:
            whole = [runs.without(np.empty(0, np.intp)) for runs in self.runs.classes]
            for part in range(int(parts.max()) + 1):
                kept = self.runs.classes[place].without(np.flatnonzero(parts == part))
                yield (*whole[:place], kept, *whole[place + 1 :])
            return
        base, ones = self.base(), [np.ones(n, np.int64) for n in self.counts]
        for part in range(int(parts.max()) + 1):
            keep = (parts != part).astype(np.int64)
            if self.groups:
                yield self._spread([*ones[:place], keep, *ones[place + 1 :]])
            else:
                yield (*base[:place], base[place] * keep, *base[place + 1 :])


def generator(seed: int, stream: int, number: int, attempt: int) -> np.random.Generator:
    """The generator of one attempt at one resample."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=(stream, number, attempt))))


def row_weights(trials: Trials) -> Counts | None:
    """The rows' own weights: whole numbers as such (a row of weight 3 is three rows), else real ones."""
    if trials.weights is None:
        return None
    whole = bool((trials.weights == np.floor(trials.weights)).all()) and float(trials.weights.sum()) < 2.0**53
    return trials.weights.astype(np.int64) if whole else np.array(trials.weights)


def _class_counts(rng: np.random.Generator, size: int, own: Counts | None) -> Counts:
    """Multinomial weights of one class: as many draws as it has rows, whole weights standing for repeated rows."""
    if own is None:
        return uniform_counts(rng, size)
    if own.dtype.kind == "f":  # a real weight is not a count: its row is drawn and keeps its weight
        return uniform_counts(rng, size) * own
    total = int(own.sum())
    return rng.multinomial(total, own / total)


def uniform_counts(rng: np.random.Generator, size: int) -> Counts:
    """How often each of `size` rows is drawn in `size` draws with replacement: an exact multinomial.

    Many rows: independent Poisson counts of a rate just below 1 are multinomial given their sum, whatever it is; the
    few draws that are missing to `size` are drawn one by one.

    >>> [int(uniform_counts(np.random.default_rng(0), size).sum()) for size in (5, 99999)]
    [5, 99999]
    """
    if size < LARGE:
        return np.bincount(rng.integers(0, size, size), minlength=size)
    laws, kinds = poisson_laws((1.0 - 5.0 / math.sqrt(size),)), Kinds.alike(size)
    missing = -1
    while missing < 0:
        counts = laws.cells.take(random_bytes(rng, size))
        laws.hit(rng, counts, kinds)
        missing = size - int(counts.sum(dtype=np.int64))
    np.add.at(counts, rng.integers(0, size, missing), np.uint8(1))  # of the same type: numpy has a quick loop for that
    return counts


def _parts(rng: np.random.Generator, size: int) -> Array:
    """The part of each row: every row by itself, or 200 parts at random."""
    return np.arange(size) if size <= _BLOCKS else rng.permutation(size) % _BLOCKS


def _check_groups(trials: Trials, name: str, codes: Places, rows: Sequence[Places]) -> None:
    way_out = "Resample trials within class (by=None), which assumes that trials are independent."
    if len(codes) == 0 or int(codes.max()) == 0:
        raise InputError(f"by={shown(name)}: all trials are in one group, so nothing can be resampled. {way_out}")
    check_groups([codes[places] for places in rows], name, trials.classes, InputError, way_out)
