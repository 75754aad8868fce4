"""Gaussian classes: means and covariances by maximum likelihood, summed alike on any number of cores."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, NamedTuple

import numpy as np

from tercet._numeric import serialization as saved
from tercet._numeric.parallel import over_parts, together
from tercet._numeric.serialization import Model
from tercet._numeric.validation import chosen, column, frozen, numbers, rate, same_index, shown
from tercet._typing import Facts, Floats
from tercet.errors import InputError
from tercet.recognizers._classes import (
    Ints,
    Readers,
    as_trials,
    check_classes,
    check_size,
    labelled,
    refuse_infinite,
    sample_table,
)
from tercet.trials import Trials

COVARIANCES = ("full", "tied", "diagonal", "tied-diagonal")
_GATHERED = 1 << 17  # doubles of one class summed at a time: they stay in the cache
_SCORED = 1 << 15  # doubles scored at a time
_GROUPS = 8  # sums are grouped alike on any number of cores, so that they round alike
_CONSTANT = 8 * np.finfo(np.float64).eps  # a spread this far below the mean is rounding
_DEPENDENT = 1e-12  # the unexplained part of a feature's variance below which it repeats the others


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class GaussianRecognizer(Model):
    """One Gaussian per class, fitted by maximum likelihood: ln N(x; mean, covariance) for each sample and class.

    The covariances are "full" (one per class), "tied" (the mean of the classes', by their sizes), "diagonal" (features
    independent within a class) or "tied-diagonal".

    Attributes
    ----------
    classes : tuple of str
        Class names.
    covariance : {"full", "tied", "diagonal", "tied-diagonal"}
        Which covariances it has.
    means : numpy.ndarray of shape (K, D)
        Class means.
    covariances : numpy.ndarray
        K x D x D, D x D, K x D or D, by the kind of covariance.
    shrinkage : float
        Share of the mean variance in the covariances.
    training : mapping
        "samples": how many of each class.

    Examples
    --------
    >>> model = GaussianRecognizer.fit([[-1.0], [1.0], [3.0], [7.0]], ["a", "a", "b", "b"])
    >>> model.means.ravel().tolist(), model.covariances.ravel().tolist()
    ([0.0, 5.0], [1.0, 4.0])
    >>> model.log_likelihoods([[0.0]]).round(4).tolist()  # -ln(2 pi)/2 and -ln(2 pi 4)/2 - 25/8
    [[-0.9189, -4.7371]]
    """

    method = "gaussian-recognizer"
    _parameters: ClassVar[Readers] = {
        "classes": saved.words,
        "covariance": saved.word,
        "means": saved.matrix,
        "covariances": lambda value, name: _stored(value, name),
        "shrinkage": saved.finite,
    }
    _facts = ("samples",)

    classes: tuple[str, ...]
    covariance: str
    means: Floats
    covariances: Floats
    shrinkage: float
    training: Facts  # samples: how many of each class
    _whitening: _Whitening = field(init=False)

    def _check(self) -> None:
        chosen(self.covariance, "covariance", COVARIANCES)
        rate(self.shrinkage, "shrinkage")
        k, d = self.means.shape
        check_classes(self.classes, k)
        if d == 0 or self.covariances.shape != (shape := _shape(self.covariance, k, d)):
            raise saved.damaged(
                f"covariances have the shape {self.covariances.shape}, means ask for {shape if d else 'any'}"
            )
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
        """Estimate class means and covariances from labelled samples.

        Sums are divided by the number of samples, not by one less. Another order of the rows changes the sums by
        rounding only; the number of cores changes nothing.

        Parameters
        ----------
        samples : array_like of shape (n, D)
            One row per sample, one column per feature.
        labels : array_like of shape (n,)
            The class of each sample.
        covariance : {"full", "tied", "diagonal", "tied-diagonal"}, default "full"
            Which covariances to estimate.
        classes : sequence, optional
            The order of the classes; by default sorted.
        shrinkage : float, default 0.0
            With s each covariance S becomes (1 - s) S + s (tr S / D) I.

        Returns
        -------
        GaussianRecognizer
            The recognizer.

        Examples
        --------
        >>> GaussianRecognizer.fit([[-1.0], [1.0], [3.0], [7.0]], ["a", "a", "b", "b"], "tied").covariances.tolist()
        [[2.5]]
        """
        kind = chosen(covariance, "covariance", COVARIANCES)
        share = rate(shrinkage, "shrinkage")
        same_index({"samples": samples, "labels": labels})
        table = sample_table(samples)
        named, codes, sizes = labelled(len(table), labels, classes)
        check_size(math.prod(_shape(kind, len(named), table.shape[1])), "the covariances")
        means, scatter = _moments(table, codes, sizes, kind)
        spread = scatter / (len(codes) if kind.startswith("tied") else sizes.reshape(-1, *[1] * (scatter.ndim - 1)))
        if share == 0.0:
            _check_spread(spread, means, sizes, named, kind)
        return cls(named, kind, means, _shrunk(spread, share, kind), share, {"samples": sizes.tolist()})

    def __repr__(self) -> str:
        return f"GaussianRecognizer: {len(self.classes)} classes, {self.means.shape[1]} features, {self.covariance}"

    def log_likelihoods(self, samples: object) -> Floats:
        """ln N(x; mean_k, S_k) = -(D ln 2 pi + ln det S_k + (x - mean_k)' S_k^-1 (x - mean_k)) / 2.

        Parameters
        ----------
        samples : array_like of shape (n, D)
            One row per sample.

        Returns
        -------
        numpy.ndarray of shape (n, K)
            One column per class.
        """
        table = sample_table(samples, self.means.shape[1])
        result = np.empty((len(table), len(self.classes)))
        if not all(over_parts(lambda rows: _score(table[rows], self._whitening, result[rows]), len(table))):
            refuse_infinite(table)
        return result

    def trials(self, samples: object, labels: object = None) -> Trials:
        """The log-likelihoods as Trials, with labels where they are known.

        Parameters
        ----------
        samples : array_like of shape (n, D)
            One row per sample.
        labels : array_like of shape (n,), optional
            The class of each sample.

        Returns
        -------
        Trials
            K-class trials of log-likelihoods.
        """
        same_index({"samples": samples, "labels": labels})
        return as_trials(self.log_likelihoods(samples), labels, self.classes)


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
    """Maps W with W S W' = I, and ln |S|, by Cholesky factors of the correlations: scales do not matter."""
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
    """The Cholesky factor of a correlation matrix; its squared pivots: what earlier features leave unexplained."""
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
    round differently, and no sample's score may depend on its neighbours.
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

    Pieces of one class at a time, their means corrected in a second step, merged by Chan's formula.
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
        refuse_infinite(table)
        raise InputError("samples are too large: their squares overflow. Divide the features by their usual size.")
    return _merged(pieces, means, scatter, slots, sizes, kind)


def _pieces(sizes: Ints, rows: int) -> Ints:
    """(class, start, stop) of runs of at most this many samples, in an order sorted by class."""
    ends = np.cumsum(sizes).tolist()
    spans = [(k, end - size, end) for k, (end, size) in enumerate(zip(ends, sizes.tolist(), strict=True))]
    return np.array([(k, at, min(at + rows, end)) for k, start, end in spans for at in range(start, end, rows)])


def _slots(pieces: Ints, groups: list[Ints], kind: str) -> Ints:
    """Where each piece adds its scatter: one place per group and, unless tied, per class, so that cores share none."""
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
    """Refuses samples whose covariance cannot have full rank, with the simplest reason."""
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


def _stored(value: object, name: str) -> Floats:
    """Finite numbers in any number of dimensions."""
    array = column(value, name)
    table = numbers(array, name, ndim=array.ndim)
    if not isinstance(value, list) or not np.isfinite(table).all():
        raise InputError(f"{name} must be finite numbers.")
    return table
