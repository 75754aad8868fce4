"""Passes over rows that a Python object yields in chunks, the same at every call."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add as plus
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tercet._numeric.matrices import prior_vector, weight_column
from tercet._numeric.validation import (
    check_spellings,
    column,
    distinct,
    equal_to,
    is_target,
    names,
    numbers,
    same_index,
    same_length,
    shown,
    some,
    whole,
)
from tercet._typing import Array, Floats, Value
from tercet.decision import ClassRows
from tercet.errors import InputError
from tercet.io._trial_columns import TARGET_OF_TWO
from tercet.metrics.tally import Tally
from tercet.outofcore.limits import Budget
from tercet.outofcore.plain_data import Plain
from tercet.outofcore.reading import sorted_classes
from tercet.outofcore.runner import CHANGED, State, thinned_sample
from tercet.trials import MATRIX_MEANINGS, Trials


@runtime_checkable
class Chunks(Protocol):
    """A source that can be read again and again, each chunk small enough for memory.

    Examples
    --------
    >>> import tercet as tc
    >>> class Halves:
    ...     def chunks(self):
    ...         yield [2.0, 1.0, -0.5], [1, 1, 1]
    ...         yield [0.3, -1.0], [0, 0]
    >>> round(tc.evaluate(tc.scan(Halves()), [(0.5, 1, 1)]).applications[0].fnr, 4)
    0.3333
    """

    def chunks(self) -> Iterable[Trials | tuple[ArrayLike, ...]]:
        """The trials in parts, the same rows at every call.

        Returns
        -------
        iterable
            Trials, or tuples (scores, labels) or (scores, labels, weights).
        """


@dataclass(frozen=True, slots=True, eq=False)
class Arrays:
    """Two columns that numpy can slice, such as memory-mapped files, as a source of chunks.

    Parameters
    ----------
    scores, labels : array_like
        Columns of one length.
    rows : int, optional
        Rows per chunk.

    Examples
    --------
    >>> import numpy as np
    >>> from tercet.outofcore import Arrays
    >>> source = Arrays(np.array([2.0, 1.0, -0.5, 0.3, -1.0]), np.array([1, 1, 1, 0, 0]), rows=2)
    >>> [len(scores) for scores, labels in source.chunks()]
    [2, 2, 1]
    """

    scores: Array
    labels: Array
    rows: int = 1 << 20

    def __post_init__(self) -> None:
        for name in ("scores", "labels"):
            values = column(getattr(self, name), name)  # a view of a mapped file, which is read chunk by chunk
            if values.ndim == 0 or values.dtype.kind not in "biufUSTO":
                raise InputError(f"{name} must be a column of numbers or names, not {shown(getattr(self, name))}.")
            object.__setattr__(self, name, values)
        same_length(len(self.scores), {"labels": self.labels})
        object.__setattr__(self, "rows", whole(self.rows, "rows", 1))

    def chunks(self) -> Iterator[tuple[Array, Array]]:
        """The columns in slices of `rows` rows.

        Yields
        ------
        tuple of two arrays
            Scores and labels of consecutive rows.
        """
        for start in range(0, len(self.scores), self.rows):
            yield self.scores[start : start + self.rows], self.labels[start : start + self.rows]


@dataclass(frozen=True, slots=True)
class _Chunk:
    """One chunk, validated like arrays in memory."""

    number: int
    scores: Array
    labels: Array  # which are targets, or class numbers
    weights: Floats | None
    how: Plain
    given: Trials | None = None

    def tally(self) -> Tally:
        """The chunk's two classes, sorted."""
        if self.given is not None:
            return Tally.of(self.given)
        if self.weights is None:
            pieces = [(0, self.scores, self.labels)]
            return sorted_classes(pieces, f"Chunk {self.number}", **self.how)
        return Tally.of(next(self.trials()))

    def class_scores(self) -> list[tuple[Array, Array]]:
        """The scores of targets and of non-targets."""
        tally = self.tally()
        return [(tally.targets.scores, tally.nontargets.scores)]

    def trials(self) -> Iterator[Trials]:
        """The chunk as it was given."""
        if self.given is None and self.how["meaning"] in MATRIX_MEANINGS:
            raise InputError(f"Chunk {self.number}: several classes come as Trials, such as Trials.of_logits(...).")
        if self.given is not None:
            yield self.given
        else:
            yield replace(Trials.of_scores(self.scores, self.labels, weights=self.weights), **self.how)

    def class_rows(self) -> Iterator[ClassRows]:
        """The chunk as it was given."""
        return (ClassRows.of(trials).within(self.number, 0, f"Chunk {self.number}: ") for trials in self.trials())

    def class_sizes(self) -> None:
        """The sizes of the classes; labels cannot be read without the rest of a chunk."""


@dataclass(slots=True)
class ChunkPasses:
    """Passes over a source of chunks, in this process."""

    source: Chunks
    target: object
    how: Plain  # meaning and trained_prior
    budget: Budget
    rows: int | None = None
    row_count: int = 0  # known after the first pass
    plain: bool = False  # a later chunk may have weights
    _count: int | None = None  # of chunks
    _labels: dict[object, None] = field(default_factory=dict)  # that occurred, where the target is named
    _names: tuple[str, ...] | None = None  # of the classes of chunks that are Trials

    @property
    def matrix(self) -> bool:
        """Whether there is one column of scores per class."""
        return self.how["meaning"] in MATRIX_MEANINGS

    def class_sizes(self) -> None:
        """Only a pass over the chunks counts their labels."""

    def total(self, kind: type[Any], **job: Value) -> Any:
        """The state of all chunks."""
        found: list[State] = []
        chunks = rows = 0
        for chunk in self._chunks():
            one = self._said(chunk.number, lambda chunk=chunk: kind.of_part(chunk, {**job, **self.how}))
            found = [*found, one] if hasattr(kind, "sum") else [reduce(plus, [*found, one])]
            chunks, rows = chunks + 1, rows + len(chunk.scores)
        if self._count is not None and self._count != chunks:
            raise InputError(CHANGED)
        self._count, self.row_count = chunks, rows
        return kind.sum(found) if hasattr(kind, "sum") else found[0] if found else None

    def sample(self) -> tuple[Floats, NDArray[np.bool_]]:
        """Rows of the first chunk."""
        first = next(self._chunks(), None)
        if first is None:
            return np.empty(0), np.zeros(0, np.bool_)
        return thinned_sample(first.scores, first.labels)

    def _chunks(self) -> Iterator[_Chunk]:
        for number, chunk in enumerate(self.source.chunks()):
            yield self._said(number, lambda number=number, chunk=chunk: self._judged(number, chunk))

    def _said(self, number: int, make: Any) -> Any:
        """The result of `make`; its errors are raised with the number of the chunk."""
        try:
            return make()
        except InputError as error:
            said = str(error)
            raise InputError(said if said.startswith("Chunk ") else f"Chunk {number}: {said}") from None

    def _judged(self, number: int, chunk: object) -> _Chunk:
        if isinstance(chunk, Trials):
            prior = self.how["trained_prior"]
            if isinstance(prior, list):
                prior = tuple(prior_vector(prior, len(chunk.classes), "trained_prior").tolist())
            if (chunk.meaning, chunk.trained_prior) != (self.how["meaning"], prior):
                raise InputError(
                    f"trials are {chunk.meaning} (trained prior {chunk.trained_prior}), but the scan has meaning="
                    f"{self.how['meaning']!r} (trained prior {prior})."
                )
            labels = chunk.known_labels()
            self._check_names(chunk)
            return _Chunk(number, chunk.scores, labels, chunk.weights, self.how, chunk)
        if not isinstance(chunk, tuple) or len(chunk) not in (2, 3):
            raise InputError("a chunk is Trials, (scores, labels) or (scores, labels, weights).")
        scores, labels, weights = (*chunk, None)[:3]
        same_index({"scores": scores, "labels": labels, "weights": weights})
        values = column(scores, "scores")
        if values.ndim != 1 or values.dtype not in (np.float32, np.float64):
            values = numbers(values, "scores")
        # A chunk may have no target: whether there are any is asked of the whole.
        marks = is_target(labels, None)[0] if self.target is None else self._equal_to_target(labels)
        heavy = None if weights is None else weight_column(weights)
        same_length(len(values), {"labels": marks, "weights": heavy})
        return _Chunk(number, values, marks, heavy, self.how)

    def _check_names(self, chunk: Trials) -> None:
        """Refuses a chunk whose classes have other names or another order: they would be counted as those before."""
        if self.target is not None and chunk.is_matrix:
            raise InputError(TARGET_OF_TWO)
        if self.target is not None and chunk.classes[-1] != str(self.target):
            raise InputError(
                f"its target is {shown(chunk.classes[-1])}, not {shown(self.target)} (target=). Trials know their "
                f"target: leave out target=, or give scores and labels."
            )
        named = chunk.classes if chunk.is_matrix else chunk.classes[-1:]  # non-targets may be of several classes
        if self._names is None:
            self._names = named
        if named != self._names:
            what, those, verb = ("classes", "those", "are") if chunk.is_matrix else ("target", "that", "is")
            raise InputError(
                f"its {what} {verb} {some(named, 4)}, but {those} of the chunks before {verb} {some(self._names, 4)}. "
                f"Give all chunks the same names in the same order (classes=, target=)."
            )

    def _equal_to_target(self, labels: object) -> NDArray[np.bool_]:
        """Which labels are the target; those of all chunks so far are judged together."""
        column = names(labels, "labels")
        self._labels |= dict.fromkeys(distinct(column))
        check_spellings(self._labels, self.target)
        return equal_to(column, self.target)
