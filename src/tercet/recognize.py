"""Recognisers: Gaussian classes and a multinomial text model, giving log-likelihoods and never just labels.

Priors and costs are the application's business, so every recogniser answers with the class-conditional
log-likelihoods of each sample (samples x classes), ready for `Trials.of_log_likelihoods`.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet import saved
from tercet.arrays import column, distinct, frozen, names, numbers, same_index, same_length, shown
from tercet.errors import InputError
from tercet.saved import Model
from tercet.threads import over_parts, together
from tercet.trials import Trials, class_names

__all__ = [
    "GaussianRecognizer",
    "Split",
    "TextRecognizer",
    "every_nth",
    "k_folds",
    "read_texts",
    "split_2_to_1",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Splitter = Callable[[str], Iterable[str]]
Readers = Mapping[str, Callable[[object, str], Any]]

COVARIANCES = ("full", "tied", "diagonal", "tied-diagonal")
_GATHERED = 1 << 17  # doubles of one class summed at a time: they stay in the cache
_SCORED = 1 << 15  # doubles scored at a time
_GROUPS = 8  # sums are grouped alike on any number of cores, so that they round alike
_TEXTS = 1 << 6  # texts cut into words at a time: the words stay in the cache
_CONSTANT = 8 * np.finfo(np.float64).eps  # a spread this far below the mean is rounding
_DEPENDENT = 1e-12  # the unexplained part of a feature's variance below which it repeats the others
_CAP = 1 << 27  # numbers in one model: 1 GiB


class Split(NamedTuple):
    """Row numbers to train on and row numbers to test on."""

    train: Ints
    test: Ints


def split_2_to_1(n: int, seed: int = 0) -> Split:
    """The course's split: rows shuffled as numpy.random.seed(seed) does, two thirds to train, the rest to test.

    >>> [part.tolist() for part in split_2_to_1(6, seed=0)]
    [[5, 2, 1, 3], [0, 4]]
    """
    order = _shuffled(_count(n, "n", 2), seed)
    return Split(order[: 2 * n // 3], order[2 * n // 3 :])


def every_nth(n: int, k: int = 4, first: int = 0) -> Split:
    """Every k-th row, from `first`, is for testing and the others are for training.

    >>> [part.tolist() for part in every_nth(6, 4)]
    [[1, 2, 3, 5], [0, 4]]
    """
    rows = np.arange(_count(n, "n", 2))
    _count(k, "k", 2)
    if not 0 <= first < min(k, n):
        raise InputError(f"first must lie in 0..{min(k, n) - 1}, not {shown(first)}.")
    tested = rows % k == first
    return Split(rows[~tested], rows[tested])


def k_folds(n: int, k: int, seed: int | None = None) -> tuple[Split, ...]:
    """K splits whose test parts are contiguous, differ by at most one row in size and cover everything once.

    With a seed the rows are shuffled first; with k = n one row is left out at a time.

    >>> [fold.test.tolist() for fold in k_folds(5, 2)]
    [[0, 1, 2], [3, 4]]
    """
    _count(k, "k", 2)
    if k > _count(n, "n", 2):
        raise InputError(f"k must not exceed the number of rows, {n}: not {k}.")
    order = np.arange(n) if seed is None else _shuffled(n, seed)
    parts = np.array_split(order, k)
    return tuple(Split(np.concatenate([*parts[:i], *parts[i + 1 :]]), parts[i]) for i in range(k))


def _shuffled(n: int, seed: int) -> Ints:
    """numpy.random.seed(seed); numpy.random.permutation(n), without touching the global state."""
    if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or not 0 <= seed < 2**32:
        raise InputError(f"seed must be a whole number in 0..2**32 - 1, not {shown(seed)}.")
    return np.random.RandomState(int(seed)).permutation(n)  # the course's generator


def _count(value: object, name: str, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {shown(value)}.")
    return int(value)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GaussianRecognizer(Model):
    """One Gaussian a class, fitted by maximum likelihood: ln N(x; mean, covariance) for each sample and class.

    covariance: "full" (one a class), "tied" (the mean of the classes', by their sizes), "diagonal" (features
    independent within a class) or "tied-diagonal". Arrays: means K x D; covariances K x D x D, D x D, K x D, D.

    >>> model = GaussianRecognizer.fit([[-1.0], [1.0], [3.0], [7.0]], ["a", "a", "b", "b"])
    >>> model.means.ravel().tolist(), model.covariances.ravel().tolist()
    ([0.0, 5.0], [1.0, 4.0])
    >>> model.log_likelihoods([[0.0]]).round(4).tolist()  # -ln(2 pi)/2 and -ln(2 pi 4)/2 - 25/8
    [[-0.9189, -4.7371]]
    """

    method: ClassVar[str] = "gaussian-recognizer"
    _parameters: ClassVar[Readers] = {
        "classes": saved.words,
        "covariance": saved.word,
        "means": saved.matrix,
        "covariances": lambda value, name: _stored(value, name),
        "shrinkage": saved.finite,
    }
    _facts: ClassVar[tuple[str, ...]] = ("samples",)

    classes: tuple[str, ...]
    covariance: str
    means: Floats
    covariances: Floats
    shrinkage: float
    training: Mapping[str, Any]  # samples: how many of each class
    _whitening: _Whitening = field(init=False)

    def _check(self) -> None:
        _one_of(self.covariance, COVARIANCES, "covariance")
        _fraction(self.shrinkage)
        k, d = self.means.shape
        _check_classes(self.classes, k)
        if d == 0 or self.covariances.shape != (shape := _shape(self.covariance, k, d)):
            raise saved.damaged(f"covariances have the shape {self.covariances.shape}, not {shape if d else 'any'}")
        if not np.array_equal(self.covariances, _transposed(self.covariances, self.covariance)):
            raise saved.damaged("covariances must be symmetric")
        frozen(self.means)
        frozen(self.covariances)
        object.__setattr__(self, "_whitening", _whitening(self))

    @classmethod
    def fit(
        cls,
        samples: object,
        labels: object,
        covariance: str = "full",
        classes: Sequence[object] | None = None,
        shrinkage: float = 0.0,
    ) -> GaussianRecognizer:
        """Class means and covariances of labelled samples (one row a sample, one column a feature).

        Divided by the number of samples, not by one less. Classes are sorted unless `classes` orders them. With
        shrinkage s each covariance S becomes (1 - s) S + s (tr S / D) I. Another order of the rows changes the
        sums by rounding only; the number of cores changes nothing.
        """
        kind = _one_of(covariance, COVARIANCES, "covariance")
        share = _fraction(shrinkage)
        same_index({"samples": samples, "labels": labels})
        table = _samples(samples)
        named, codes = _coded(labels, classes)
        same_length(len(table), {"labels": codes})
        sizes = _sizes(codes, named)
        _check_size(math.prod(_shape(kind, len(named), table.shape[1])), "the covariances")
        means, scatter = _moments(table, codes, sizes, kind)
        spread = scatter / (len(codes) if kind.startswith("tied") else sizes.reshape(-1, *[1] * (scatter.ndim - 1)))
        if share == 0.0:
            _check_spread(spread, means, sizes, named, kind)
        return cls(named, kind, means, _shrunk(spread, share, kind), share, {"samples": sizes.tolist()})

    def __repr__(self) -> str:
        return f"GaussianRecognizer: {len(self.classes)} classes, {self.means.shape[1]} features, {self.covariance}"

    def log_likelihoods(self, samples: object) -> Floats:
        """ln N(x; mean_k, covariance_k), samples x classes.

        -(D ln 2 pi + ln |S_k| + (x - mean_k)' S_k^-1 (x - mean_k)) / 2
        """
        table = _samples(samples, self.means.shape[1])
        result = np.empty((len(table), len(self.classes)))
        if not all(over_parts(lambda rows: _score(table[rows], self._whitening, result[rows]), len(table))):
            _refuse_infinite(table)
        return result

    def trials(self, samples: object, labels: object = None) -> Trials:
        """The log-likelihoods as Trials, with the truth where it is known."""
        same_index({"samples": samples, "labels": labels})
        return _as_trials(self.log_likelihoods(samples), labels, self.classes)


class _Whitening(NamedTuple):
    """What turns samples into vectors whose squared length is the Mahalanobis distance.

    A tied covariance whitens samples and means once (`common`); else each class has its own map (`own`). A map is
    a matrix, or a column of factors where features are independent.
    """

    centre: Floats
    common: Floats | None
    own: Floats | None
    means: Floats  # K x D x 1, centred, and whitened where the map is common
    constants: Floats


def _whitening(model: GaussianRecognizer) -> _Whitening:
    tied, full = model.covariance.startswith("tied"), model.covariance in ("full", "tied")
    covariances = model.covariances[None] if tied else model.covariances
    maps, log_dets = _inverse_roots(covariances, full, model.classes if not tied else None)
    centre = model.means.mean(axis=0)
    means = np.asarray(model.means - centre)[:, :, None]
    constants = -0.5 * (model.means.shape[1] * math.log(2.0 * math.pi) + log_dets)
    if not tied:
        return _Whitening(centre[:, None], None, maps, means, constants)
    return _Whitening(centre[:, None], maps[0], None, _mapped(maps[0], means), np.repeat(constants, len(model.classes)))


def _mapped(by: Floats, columns: Floats, out: Floats | None = None) -> Floats:
    """A whitening map applied to samples that stand as columns."""
    return np.multiply(by, columns, out=out) if by.shape[-1] == 1 != by.shape[-2] else np.matmul(by, columns, out=out)


def _inverse_roots(covariances: Floats, full: bool, classes: tuple[str, ...] | None) -> tuple[Floats, Floats]:
    """Maps W with W S W' = I, and ln |S|, by Cholesky factors of the correlations: scales cannot harm them."""
    variances = np.diagonal(covariances, axis1=1, axis2=2) if full else covariances
    bad = np.argwhere(~((variances > 0.0) & np.isfinite(variances)))
    if len(bad):
        row, feature = bad[0]
        raise _singular(f"feature {feature} has the variance {variances[row, feature]}", classes, row)
    scales = np.sqrt(variances)
    log_dets = 2.0 * np.log(scales).sum(axis=1)
    if not full:
        return 1.0 / scales[:, :, None], log_dets
    roots = [
        _root(c / np.outer(s, s), classes, row) for row, (c, s) in enumerate(zip(covariances, scales, strict=True))
    ]
    log_dets += [2.0 * np.log(np.diagonal(root)).sum() for root in roots]
    return np.stack([np.tril(np.linalg.inv(root)) / s for root, s in zip(roots, scales, strict=True)]), log_dets


def _root(correlation: Floats, classes: tuple[str, ...] | None, row: int) -> Floats:
    """The Cholesky factor of a correlation matrix; its squared pivots are the parts that earlier features miss."""
    try:
        root = np.asarray(np.linalg.cholesky(correlation), np.float64)
    except np.linalg.LinAlgError:
        raise _singular("a feature is a linear combination of others", classes, row) from None
    missed = np.diagonal(root) ** 2
    if missed.min() < _DEPENDENT:
        raise _singular(f"feature {missed.argmin()} is a linear combination of earlier ones", classes, row)
    return root


def _singular(reason: str, classes: tuple[str, ...] | None, row: int) -> InputError:
    whose = "The tied covariance" if classes is None else f"The covariance of class {shown(classes[row])}"
    return InputError(
        f"{whose} is singular: {reason} (counting from 0). Drop such features, take a simpler covariance "
        f'("tied", "diagonal", "tied-diagonal"), or ask for shrinkage, such as shrinkage=0.01.'
    )


def _score(table: Floats, whitening: _Whitening, result: Floats) -> bool:
    """Fills in the log-likelihoods, a cache-full of samples at a time; says whether every sample is finite.

    Blocks are always of the same width, a power of two, filled up with zeros: a matrix product of another shape may
    round otherwise, and no sample's score may depend on its neighbours.
    """
    width = table.shape[1]
    step = 1 << max((_SCORED // width).bit_length() - 1, 6)
    block, room, other = (np.empty((width, step)) for _ in range(3))
    distances = np.empty((len(whitening.means), step))
    good = True
    with np.errstate(over="ignore", invalid="ignore"):
        for start in range(0, len(table), step):
            rows = slice(start, min(start + step, len(table)))
            count = rows.stop - start
            np.subtract(table[rows].T, whitening.centre, out=block[:, :count])
            block[:, count:] = 0.0
            good = good and bool(np.isfinite(block).all())
            _distances(block, whitening, room, other, distances)
            np.subtract(whitening.constants, 0.5 * distances[:, :count].T, out=result[rows])
    return good


def _distances(block: Floats, whitening: _Whitening, room: Floats, other: Floats, out: Floats) -> None:
    """Squared Mahalanobis distances, classes x samples; what overflows is infinitely far."""
    if whitening.common is not None:
        block = _mapped(whitening.common, block)
    for k, mean in enumerate(whitening.means):
        apart = np.subtract(block, mean, out=room)
        if whitening.own is not None:
            apart = _mapped(whitening.own[k], apart, out=other)
        np.multiply(apart, apart, out=apart)
        apart.sum(axis=0, out=out[k])
    np.copyto(out, math.inf, where=np.isnan(out))


def _moments(table: Floats, codes: Ints, sizes: Ints, kind: str) -> tuple[Floats, Floats]:
    """Class means, and the scatter about them: of each class, or of all where it is tied.

    Pieces of one class at a time, their means corrected by a second look, merged by Chan's formula.
    """
    order = np.argsort(codes.astype(np.int16) if len(sizes) < 1 << 15 else codes, kind="stable")
    pieces = _pieces(sizes, max(_GATHERED // table.shape[1], 16))
    groups = np.array_split(np.arange(len(pieces)), min(len(pieces), _GROUPS))
    means, slots = np.empty((len(pieces), table.shape[1])), _slots(pieces, groups, kind)
    scatter = np.zeros((slots[-1] + 1, table.shape[1], *([table.shape[1]] if kind in ("full", "tied") else [])))

    def add_up(group: Ints) -> None:
        with np.errstate(over="ignore", invalid="ignore"):
            for p in group.tolist():
                rows = np.take(table, order[pieces[p, 1] : pieces[p, 2]], axis=0)
                means[p] = _add_piece(rows, scatter[slots[p]])

    together([lambda group=group: add_up(group) for group in groups], len(table))  # type: ignore[misc]
    if not (np.isfinite(means).all() and np.isfinite(scatter).all()):
        _refuse_infinite(table)
        raise InputError("samples are too large: their squares overflow. Divide the features by their usual size.")
    return _merged(pieces, means, scatter, slots, sizes, kind)


def _pieces(sizes: Ints, rows: int) -> Ints:
    """(class, start, stop) of runs of at most so many samples, in an order sorted by class."""
    ends = np.cumsum(sizes).tolist()
    spans = [(k, end - size, end) for k, (end, size) in enumerate(zip(ends, sizes.tolist(), strict=True))]
    return np.array([(k, at, min(at + rows, end)) for k, start, end in spans for at in range(start, end, rows)])


def _slots(pieces: Ints, groups: list[Ints], kind: str) -> Ints:
    """Where each piece adds its scatter: one place a group and, unless tied, a class, so that no two cores share."""
    group_of = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    new = np.diff(group_of) != 0
    if not kind.startswith("tied"):
        new |= np.diff(pieces[:, 0]) != 0
    return np.concatenate(([0], np.cumsum(new)))


def _add_piece(rows: Floats, scatter: Floats) -> Floats:
    """Adds the scatter of some rows about their own mean, and gives that mean."""
    mean = rows.mean(axis=0)
    rows -= mean
    rest = rows.mean(axis=0)  # what rounding left of the mean
    if scatter.ndim == 1:
        scatter += np.einsum("ij,ij->j", rows, rows) - len(rows) * rest * rest
    else:
        scatter += rows.T @ rows - len(rows) * np.outer(rest, rest)
    return np.asarray(mean + rest)


def _merged(pieces: Ints, means: Floats, scatter: Floats, slots: Ints, sizes: Ints, kind: str) -> tuple[Floats, Floats]:
    """Chan's formula: S = sum_p S_p + n_p (m_p - m) (m_p - m)'."""
    owner, counts = pieces[:, 0], (pieces[:, 2] - pieces[:, 1]).astype(np.float64)
    base = means[np.searchsorted(owner, np.arange(len(sizes)))]
    shift = np.zeros_like(base)
    np.add.at(shift, owner, counts[:, None] * (means - base[owner]))
    merged: Floats = base + shift / sizes[:, None]
    apart = np.sqrt(counts)[:, None] * (means - merged[owner])
    if kind.startswith("tied"):
        between = apart.T @ apart if scatter.ndim == 3 else (apart * apart).sum(axis=0)
        return merged, scatter.sum(axis=0) + between
    total = np.zeros((len(sizes), *scatter.shape[1:]))
    np.add.at(total, owner[np.searchsorted(slots, np.arange(len(scatter)))], scatter)
    for k, start, stop in _runs(owner):
        own = apart[start:stop]
        total[k] += own.T @ own if scatter.ndim == 3 else (own * own).sum(axis=0)
    return merged, total


def _runs(owner: Ints) -> Iterator[tuple[int, int, int]]:
    """(class, first piece, end) of each class that has more than one piece."""
    edges = np.flatnonzero(np.diff(owner, prepend=-1, append=-1)).tolist()
    return ((int(owner[a]), a, b) for a, b in itertools.pairwise(edges) if b - a > 1)


def _check_spread(spread: Floats, means: Floats, sizes: Ints, classes: tuple[str, ...], kind: str) -> None:
    """Refuses what cannot give a covariance of full rank, by its plainest reason."""
    tied, features = kind.startswith("tied"), means.shape[1]
    variances = np.diagonal(spread, axis1=-2, axis2=-1) if kind in ("full", "tied") else spread
    level = np.abs(means).max(axis=0) if tied else np.abs(means)
    for row, feature in np.argwhere(np.atleast_2d(np.sqrt(np.maximum(variances, 0.0)) <= _CONSTANT * level))[:1]:
        few = "" if tied or sizes[row] > 1 else " (the class has a single sample)"
        raise _singular(f"feature {feature} is constant{few}", None if tied else classes, row)
    few_of = int(sizes.argmin())
    if kind == "full" and sizes[few_of] <= features:
        reason = f"it has {sizes[few_of]} samples for {features} features, and needs at least {features + 1}"
        raise _singular(reason, classes, few_of)
    if kind == "tied" and sizes.sum() < features + len(sizes):
        reason = (
            f"{sizes.sum()} samples of {len(sizes)} classes for {features} features; {features + len(sizes)} needed"
        )
        raise _singular(reason, None, 0)


def _shrunk(spread: Floats, share: float, kind: str) -> Floats:
    """(1 - s) S + s (tr S / D) I."""
    if kind in ("full", "tied"):
        spread = (spread + np.swapaxes(spread, -1, -2)) / 2.0
        if share > 0.0:
            level = np.trace(spread, axis1=-2, axis2=-1) / spread.shape[-1]
            spread = (1.0 - share) * spread + share * np.asarray(level)[..., None, None] * np.eye(spread.shape[-1])
        return spread
    return (1.0 - share) * spread + share * spread.mean(axis=-1, keepdims=True) if share > 0.0 else spread


def _shape(kind: str, classes: int, features: int) -> tuple[int, ...]:
    """The shape of the covariances."""
    return {
        "full": (classes, features, features),
        "tied": (features, features),
        "diagonal": (classes, features),
        "tied-diagonal": (features,),
    }[kind]


def _transposed(covariances: Floats, kind: str) -> Floats:
    return np.swapaxes(covariances, -1, -2) if kind in ("full", "tied") else covariances


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TextRecognizer(Model):
    """Words drawn independently from one urn a class: ln P(text | class) up to a constant of the text.

    ln f_kw = ln(n_kw + e) - ln(n_k + e V): n_kw the times word w occurs in the training texts of class k, n_k all
    their words, V the words of the vocabulary (those of all training texts), e the pseudo-count. Counts are V x K.

    >>> model = TextRecognizer.fit(["a a b", "b"], ["x", "y"], pseudo_count=1)
    >>> model.vocabulary, model.counts.tolist()
    (('a', 'b'), [[2, 0], [1, 1]])
    >>> np.exp(model.log_likelihoods(["a", "b a", "unknown"])).round(4).tolist()  # 3/5, 1/3; 6/25, 2/9; 1, 1
    [[0.6, 0.3333], [0.24, 0.2222], [1.0, 1.0]]
    """

    method: ClassVar[str] = "text-recognizer"
    _parameters: ClassVar[Readers] = {
        "classes": saved.words,
        "vocabulary": saved.words,
        "counts": lambda value, name: _stored_counts(value, name),
        "pseudo_count": saved.finite,
    }
    _facts: ClassVar[tuple[str, ...]] = ("texts", "splitter")

    classes: tuple[str, ...]
    vocabulary: tuple[str, ...]
    counts: NDArray[np.int64]
    pseudo_count: float
    training: Mapping[str, Any]  # texts: how many of each class; splitter: "blanks" or "own"
    splitter: Splitter = str.split
    _codes: dict[str, int] = field(init=False)
    _logs: Floats = field(init=False)

    def _check(self) -> None:
        _pseudo_count(self.pseudo_count)
        _check_classes(self.classes, self.counts.shape[1])
        codes = dict(zip(self.vocabulary, range(len(self.vocabulary)), strict=True))
        if len(codes) < len(self.vocabulary) or len(codes) != len(self.counts):
            raise saved.damaged(f"vocabulary must be {len(self.counts)} distinct words, one a row of counts")
        _check_words(self.counts, self.classes)
        frozen(self.counts)
        unknown = np.zeros((1, len(self.classes)))  # the row of words outside the vocabulary: they add nothing
        object.__setattr__(self, "_codes", codes)
        object.__setattr__(self, "_logs", np.concatenate((self.log_frequencies, unknown)))

    def __reduce__(self) -> tuple[Any, ...]:
        stored = (self.classes, self.vocabulary, self.counts, self.pseudo_count, dict(self.training), self.splitter)
        return type(self), stored

    @classmethod
    def fit(
        cls,
        texts: Iterable[str],
        labels: object,
        pseudo_count: float = 0.001,
        splitter: Splitter = str.split,
        classes: Sequence[object] | None = None,
    ) -> TextRecognizer:
        """Counts the words of labelled texts; the splitter cuts a text into words (on blanks unless given).

        Classes are sorted unless `classes` orders them; the vocabulary is sorted. Without pseudo-count a word that
        a class never used makes a text impossible there (-inf).
        """
        extra = _pseudo_count(pseudo_count)
        same_index({"texts": texts, "labels": labels})
        values = _texts(texts)
        named, codes = _coded(labels, classes)
        same_length(len(values), {"labels": codes})
        sizes = _sizes(codes, named)
        rows = np.split(np.argsort(codes, kind="stable"), np.cumsum(sizes)[:-1])
        own = [_word_counts([values[i] for i in part.tolist()], splitter) for part in rows]
        vocabulary = tuple(sorted(set().union(*own)))
        _check_size(len(vocabulary) * len(named), "words x classes")
        counts = _count_table(own, vocabulary)
        facts = {"texts": sizes.tolist(), "splitter": "blanks" if splitter is str.split else "own"}
        return cls(named, vocabulary, counts, extra, facts, splitter)

    def __repr__(self) -> str:
        return f"TextRecognizer: {len(self.classes)} classes, {len(self.vocabulary)} words"

    @property
    def log_frequencies(self) -> Floats:
        """ln(n_kw + e) - ln(n_k + e V), words x classes."""
        with np.errstate(divide="ignore"):
            logs: Floats = np.log(self.counts + self.pseudo_count)
        totals = self.counts.sum(axis=0) + self.pseudo_count * len(self.vocabulary)
        return np.asarray(logs - np.log(totals))

    def log_likelihoods(self, texts: Iterable[str]) -> Floats:
        """Sum of ln f_kw over a text's known words, texts x classes.

        Unknown words are dropped; a text without a known word, or an empty one, says nothing: its log-likelihoods
        are all 0 (`known_words` tells which).
        """
        values = _texts(texts)
        result = np.empty((len(values), len(self.classes)))
        for start in range(0, len(values), _TEXTS):
            rows, codes = self._coded_words(values[start : start + _TEXTS])
            part = result[start : start + _TEXTS]
            for k in range(len(self.classes)):
                part[:, k] = np.bincount(rows, self._logs[codes, k], minlength=len(part))
        return result

    def known_words(self, texts: Iterable[str]) -> NDArray[np.int64]:
        """How many words of each text are in the vocabulary.

        >>> TextRecognizer.fit(["a a b", "b"], ["x", "y"]).known_words(["a z a", "", "z"]).tolist()
        [2, 0, 0]
        """
        values = _texts(texts)
        rows, codes = self._coded_words(values)
        return np.bincount(rows[codes < len(self.vocabulary)], minlength=len(values))

    def _coded_words(self, texts: list[str]) -> tuple[Ints, Ints]:
        """Each word's text and its place in the vocabulary (one past the end for unknown ones)."""
        words, lengths = _words(texts, self.splitter)
        found = map(self._codes.get, words, itertools.repeat(len(self.vocabulary)))
        return np.repeat(np.arange(len(texts)), lengths), np.fromiter(found, np.intp, len(words))

    def trials(self, texts: Iterable[str], labels: object = None) -> Trials:
        """The log-likelihoods as Trials, with the truth where it is known."""
        same_index({"texts": texts, "labels": labels})
        return _as_trials(self.log_likelihoods(texts), labels, self.classes)

    @classmethod
    def from_json(cls, text: str | bytes, splitter: Splitter | None = None) -> TextRecognizer:
        """The model that to_json wrote; one trained with a splitter of its own needs that splitter again."""
        model = super(TextRecognizer, cls).from_json(text)
        cut = _one_of(model.training["splitter"], ("blanks", "own"), "splitter")
        if (cut == "own") != (splitter is not None):
            how, wanted = ("its own", "give it again") if cut == "own" else ("the usual", "give no other one")
            raise InputError(f"The model was trained with {how} splitter: {wanted} (splitter=...).")
        return model if splitter is None else replace(model, splitter=splitter)


def read_texts(path: str | PathLike[str], encoding: str = "utf-8") -> list[str]:
    """The lines of a text file, without their ends; a file in another encoding is refused by its first odd byte."""
    data = Path(path).read_bytes()
    name = Path(path).name
    wide = data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data[:4096]
    if wide and not encoding.lower().replace("_", "-").startswith(("utf-16", "utf-32")):
        raise InputError(f"{name} looks like UTF-16, not {encoding}: say encoding='utf-16', or convert the file.")
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{name} is not {encoding}: line {line}, byte 0x{data[error.start]:02x} at {error.start}. Say its "
            f"encoding, such as encoding='latin-1', or convert it: iconv -f latin1 -t utf-8."
        ) from None
    except LookupError:
        raise InputError(f"encoding={shown(encoding)} is not known to Python.") from None
    lines = text.removeprefix("\ufeff").replace("\r\n", "\n").split("\n")
    return lines[:-1] if lines[-1] == "" else lines


def _texts(texts: object) -> list[str]:
    if isinstance(texts, str | bytes) or not isinstance(texts, Iterable):
        raise InputError(f"texts must be a sequence of strings, not {shown(texts)}: put a single text into a list.")
    listed = getattr(texts, "tolist", None) or getattr(texts, "to_list", None)
    values = listed() if listed is not None else list(texts)
    for place, kind in enumerate(map(type, values)):
        if kind is not str and not issubclass(kind, str):
            what = "bytes: decode them first" if kind is bytes else f"{kind.__name__}: drop it or write it as text"
            raise InputError(f"texts must be strings: entry {place} (counting from 0) is {what}.")
    return values


def _word_counts(texts: list[str], splitter: Splitter) -> Counter[str]:
    """How often each word occurs in some texts; on blanks, one cut for many texts is the same and faster."""
    counts: Counter[str] = Counter()
    for start in range(0, len(texts), _TEXTS):
        some = texts[start : start + _TEXTS]
        counts.update(" ".join(some).split() if splitter is str.split else _words(some, splitter)[0])
    return counts


def _count_table(own: list[Counter[str]], vocabulary: tuple[str, ...]) -> NDArray[np.int64]:
    """The classes' counts side by side, words x classes."""
    place = dict(zip(vocabulary, range(len(vocabulary)), strict=True))
    table = np.zeros((len(vocabulary), len(own)), np.int64)
    for k, counts in enumerate(own):
        rows = np.fromiter(map(place.__getitem__, counts), np.intp, len(counts))
        table[rows, k] = np.fromiter(counts.values(), np.int64, len(counts))
    return table


def _words(texts: list[str], splitter: Splitter) -> tuple[list[str], Ints]:
    """All words in a row, and how many each text has."""
    parts: list[Any] = list(map(splitter, texts))
    if splitter is not str.split:
        parts = [list(part) for part in parts]
    words = list(itertools.chain.from_iterable(parts))
    if splitter is not str.split and not _are_texts(words):
        raise InputError("splitter must cut a text into strings.")
    return words, np.fromiter(map(len, parts), np.intp, len(parts))


def _are_texts(values: object) -> bool:
    return isinstance(values, list) and all(issubclass(kind, str) for kind in set(map(type, values)))


def _check_words(counts: NDArray[np.int64], classes: tuple[str, ...]) -> None:
    empty = np.flatnonzero(counts.sum(axis=0) == 0)
    if len(empty):
        raise InputError(
            f"Class {shown(classes[empty[0]])} has no words in its training texts, so no frequencies: "
            f"give it texts, or leave the class out."
        )


def _pseudo_count(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0.0 <= float(value) < math.inf:
        raise InputError(f"pseudo_count must be a finite number of at least 0, not {shown(value)}.")
    return float(value)


def _fraction(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | np.number) or not 0.0 <= float(value) <= 1.0:
        raise InputError(f"shrinkage must lie in 0..1, not {shown(value)}.")
    return float(value)


def _one_of(value: object, known: tuple[str, ...], name: str) -> str:
    if not isinstance(value, str) or value not in known:
        raise InputError(f"{name} must be one of {', '.join(known)}, not {shown(value)}.")
    return value


def _check_size(cells: int, what: str) -> None:
    if cells > _CAP:
        raise InputError(f"The model would hold {cells} numbers ({what}), above the cap of {_CAP}: merge or drop some.")


def _samples(samples: object, width: int | None = None) -> Floats:
    """A matrix of features, one row a sample; doubles are not copied, and looked at when they are summed."""
    array = column(samples, "samples")
    if array.ndim != 2 or array.shape[1] == 0:
        raise InputError(
            f"samples must be a matrix, one row a sample and one column a feature, not an array of shape "
            f"{array.shape}. A single sample is [[...]], a single feature samples[:, None]."
        )
    if width is not None and array.shape[1] != width:
        raise InputError(f"samples have {array.shape[1]} features, the training samples had {width}.")
    return array if array.dtype == np.float64 else numbers(array, "samples", ndim=2)


def _refuse_infinite(table: Floats) -> None:
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        rows = len(np.unique(bad[:, 0]))
        row, feature = bad[0].tolist()
        raise InputError(
            f"samples must be finite: {rows} of {len(table)} rows are not, the first is row {row}, feature {feature} "
            f"(counting from 0), which holds {table[row, feature]}. Drop these rows, or fill them in on purpose."
        )


def _coded(labels: object, classes: Sequence[object] | None) -> tuple[tuple[str, ...], Ints]:
    """Class names, and each label as its class's number."""
    array = names(labels, "labels")
    values, codes = _distinct_numbers(array) if array.dtype.kind in "iuf" else _distinct_texts(array)
    found = class_names(values, len(values))
    if classes is None:
        return found, codes
    given = list(classes)
    named = class_names(given, len(given))
    place = {name: code for code, name in enumerate(named)}
    unknown = next((name for name in found if name not in place), None)
    if unknown is not None:
        raise InputError(
            f"labels hold {shown(unknown)}, which is not among the classes {', '.join(map(shown, named[:6]))}."
        )
    return named, np.array([place[name] for name in found], np.intp)[codes] if len(codes) else codes


def _distinct_numbers(array: NDArray[Any]) -> tuple[list[object], Ints]:
    """The numbers that occur, ascending, and each entry's place among them; whole doubles count as integers."""
    if array.dtype.kind == "f" and np.array_equal(array, np.floor(array)) and np.all(np.abs(array) < 2.0**53):
        array = array.astype(np.int64)
    if array.dtype.itemsize < 8 and array.dtype.kind != "f":
        array = array.astype(np.int64)  # so that differences cannot wrap around
    if array.dtype.kind != "f" and len(array):
        low = int(array.min())
        if int(array.max()) - low < 4 * len(array):
            offsets = (array - array.dtype.type(low)).astype(np.intp)
            present = np.bincount(offsets) > 0
            return [int(value) + low for value in np.flatnonzero(present)], (np.cumsum(present) - 1)[offsets]
    values, codes = np.unique(array, return_inverse=True)
    return values.tolist(), codes


def _distinct_texts(array: NDArray[Any]) -> tuple[list[object], Ints]:
    if array.dtype.kind == "S":
        raise InputError("labels are bytes: decode them first.")
    values = sorted(distinct(array), key=str)
    place = {value: code for code, value in enumerate(values)}
    return values, np.fromiter(map(place.__getitem__, array.tolist()), np.intp, len(array))


def _sizes(codes: Ints, classes: tuple[str, ...]) -> Ints:
    """Samples of each class: at least two classes, none of them empty."""
    sizes = np.bincount(codes, minlength=len(classes))
    if len(classes) < 2:
        raise InputError(f"labels must name at least two classes to tell apart, not {len(classes)}.")
    empty = np.flatnonzero(sizes == 0)
    if len(empty):
        raise InputError(f"Class {shown(classes[empty[0]])} has no training samples: leave it out of classes.")
    return sizes


def _as_trials(log_likelihoods: Floats, labels: object, classes: tuple[str, ...]) -> Trials:
    codes = None if labels is None else _coded(labels, classes)[1]
    trials = Trials.of_log_likelihoods(log_likelihoods, codes, orientation="samples x classes")
    return replace(trials, classes=classes)


def _check_classes(classes: tuple[str, ...], count: int) -> None:
    if len(class_names(classes, count)) < 2:
        raise saved.damaged("there must be at least two classes")


def _stored(value: object, name: str) -> Floats:
    """Finite numbers in any number of dimensions."""
    array = column(value, name)
    table = numbers(array, name, ndim=array.ndim)
    if not isinstance(value, list) or not np.isfinite(table).all():
        raise saved.damaged(f"{name} must be finite numbers")
    return table


def _stored_counts(value: object, name: str) -> NDArray[np.int64]:
    array = column(value, name)
    if array.ndim != 2 or array.dtype.kind != "i" or array.min(initial=0) < 0:
        raise saved.damaged(f"{name} must be whole numbers of at least 0, one row a word and one column a class")
    return array.astype(np.int64)
