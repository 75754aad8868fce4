"""Trials: a recogniser's scores, what they mean and, where known, the truth. Input is judged here and nowhere else."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from types import MappingProxyType
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from tercet._numeric.frames import columns_of, frame_names
from tercet._numeric.parallel import over_parts
from tercet._numeric.validation import (
    TINY,
    chosen,
    class_codes,
    class_place,
    column,
    frozen,
    identifiers,
    is_target,
    label_list,
    listed,
    names,
    number,
    numbers,
    row_numbers,
    same_index,
    same_length,
    shown,
    text,
)
from tercet._typing import JSON, Array, Facts, Floats
from tercet._views import Shown
from tercet.errors import InputError

NO_LLR = (
    "Raw scores are not log-likelihood ratios, so no actual cost or Bayes decision exists for them: "
    "calibrate them first. Curves, EER, AUC and minimum costs need no calibration."
)
NEEDS_PRIOR = (
    "trained_prior is needed with {}: the prior that these scores were made with, so that it can be taken out."
)
Orientation: TypeAlias = Literal["samples x classes", "classes x samples"]
TWO_CLASS_MEANINGS = ("llr", "lr", "log10-llr", "log-odds", "posterior", "raw")
_RANGES = {"lr": (0.0, math.inf), "posterior": (0.0, 1.0)}
MATRIX_MEANINGS = ("log-likelihoods", "logits", "posteriors")


_SUM_TOLERANCE = 1e-6  # posteriors kept in float32 sum to one within this; more than this is another mistake


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Trials(Shown):
    """Scores with their meaning; optional labels, weights, ids and named groups, all matched by position.

    Two classes: one score per trial, higher for the target. K classes: one row per sample, one column per class.
    Made by the `of_...` functions, which check everything; nothing after them does.

    Attributes
    ----------
    scores : ndarray of shape (n,) or (n, K)
        The scores as given, in float64.
    meaning : str
        "llr", "lr", "log10-llr", "log-odds", "posterior", "raw", "log-likelihoods", "logits" or "posteriors".
    labels : ndarray of shape (n,) or None
        Whether each trial is a target; for K classes the number of its class.
    classes : tuple of str
        Names of the classes; of two, the target is the last.
    trained_prior : float, tuple of float or None
        The prior that log-odds, posteriors and logits were made with.
    weights, ids : ndarray of shape (n,) or None
        The trials' weights and names.
    groups : mapping of str to ndarray
        Named columns.
    name : str or None
        The system's name.

    Examples
    --------
    >>> Trials.of_llr([2.0, -1.0, 0.5], [1, 0, 0])
    Trials: 3 trials (1 target, 2 nontarget), meaning llr
    """

    scores: Floats
    meaning: str
    labels: Array | None
    classes: tuple[str, ...]
    trained_prior: float | tuple[float, ...] | None
    weights: Floats | None
    ids: Array | None
    groups: Mapping[str, Array]
    name: str | None

    @classmethod
    def of_llr(
        cls,
        llr: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        target: object = None,
        weights: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        groups: Mapping[str, ArrayLike] | None = None,
        name: str | None = None,
    ) -> Trials:
        """Trials whose scores are natural-log likelihood ratios.

        Parameters
        ----------
        llr : array_like of shape (n,)
            Natural logarithm of p(data | target) / p(data | non-target). Infinite values are allowed, NaN is not.
        labels : array_like of shape (n,), optional
            True classes: 0/1, False/True, "nontarget"/"target", or any values if `target` names one of them.
        target : optional
            The label of the target; every other label is a non-target.
        weights : array_like of shape (n,), optional
            Finite weights of the trials, not negative. Weight 0 drops a trial.
        ids : array_like of shape (n,) or (n, columns), optional
            Names of the trials, by which systems are paired.
        groups : mapping of str to array_like, optional
            Named columns such as {"speaker": speakers}, to resample or report by.
        name : str, optional
            The system's name in tables and figures.

        Returns
        -------
        Trials
            The trials, checked and frozen.

        Examples
        --------
        >>> Trials.of_llr([2.0, -1.0, 0.5], [1, 0, 0]).llr.tolist()
        [2.0, -1.0, 0.5]
        """
        return _two_class(
            "llr", llr, labels, target=target, weights=weights, ids=ids, groups=groups, name=name,
        )  # fmt: skip

    @classmethod
    def of_lr(
        cls,
        lr: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        target: object = None,
        weights: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        groups: Mapping[str, ArrayLike] | None = None,
        name: str | None = None,
    ) -> Trials:
        """Trials whose scores are likelihood ratios, from 0 to infinity: llr = ln lr.

        Parameters
        ----------
        lr : array_like of shape (n,)
            p(data | target) / p(data | non-target), not negative.
        labels : array_like of shape (n,), optional
            True classes: 0/1, False/True, "nontarget"/"target", or any values if `target` names one of them.
        target : optional
            The label of the target; every other label is a non-target.
        weights : array_like of shape (n,), optional
            Finite weights of the trials, not negative. Weight 0 drops a trial.
        ids : array_like of shape (n,) or (n, columns), optional
            Names of the trials, by which systems are paired.
        groups : mapping of str to array_like, optional
            Named columns such as {"speaker": speakers}, to resample or report by.
        name : str, optional
            The system's name in tables and figures.

        Returns
        -------
        Trials
            The trials, checked and frozen.

        Examples
        --------
        >>> Trials.of_lr([1.0, 0.0], [1, 0]).llr.tolist()
        [0.0, -inf]
        """
        return _two_class(
            "lr", lr, labels, target=target, weights=weights, ids=ids, groups=groups, name=name,
        )  # fmt: skip

    @classmethod
    def of_log10_llr(
        cls,
        log10_llr: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        target: object = None,
        weights: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        groups: Mapping[str, ArrayLike] | None = None,
        name: str | None = None,
    ) -> Trials:
        """Trials whose scores are decimal logarithms of likelihood ratios, as in forensics: llr = ln(10) x score.

        Parameters
        ----------
        log10_llr : array_like of shape (n,)
            Base-10 logarithm of p(data | target) / p(data | non-target).
        labels : array_like of shape (n,), optional
            True classes: 0/1, False/True, "nontarget"/"target", or any values if `target` names one of them.
        target : optional
            The label of the target; every other label is a non-target.
        weights : array_like of shape (n,), optional
            Finite weights of the trials, not negative. Weight 0 drops a trial.
        ids : array_like of shape (n,) or (n, columns), optional
            Names of the trials, by which systems are paired.
        groups : mapping of str to array_like, optional
            Named columns such as {"speaker": speakers}, to resample or report by.
        name : str, optional
            The system's name in tables and figures.

        Returns
        -------
        Trials
            The trials, checked and frozen.

        Examples
        --------
        >>> round(float(Trials.of_log10_llr([1.0], [1]).llr[0]), 4)
        2.3026
        """
        return _two_class(
            "log10-llr", log10_llr, labels, target=target, weights=weights, ids=ids, groups=groups, name=name,
        )  # fmt: skip

    @classmethod
    def of_log_odds(
        cls,
        log_odds: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        trained_prior: float | None = None,
        target: object = None,
        weights: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        groups: Mapping[str, ArrayLike] | None = None,
        name: str | None = None,
    ) -> Trials:
        """Trials whose scores are posterior log-odds of the target: llr = score - logit(trained_prior).

        Parameters
        ----------
        log_odds : array_like of shape (n,)
            Natural logarithm of p(target | data) / p(non-target | data).
        labels : array_like of shape (n,), optional
            True classes: 0/1, False/True, "nontarget"/"target", or any values if `target` names one of them.
        trained_prior : float
            The prior of the target that the scores were made with; it is taken out.
        target : optional
            The label of the target; every other label is a non-target.
        weights : array_like of shape (n,), optional
            Finite weights of the trials, not negative. Weight 0 drops a trial.
        ids : array_like of shape (n,) or (n, columns), optional
            Names of the trials, by which systems are paired.
        groups : mapping of str to array_like, optional
            Named columns such as {"speaker": speakers}, to resample or report by.
        name : str, optional
            The system's name in tables and figures.

        Returns
        -------
        Trials
            The trials, checked and frozen.

        Examples
        --------
        >>> Trials.of_log_odds([0.0, 1.0], [0, 1], trained_prior=0.5).llr.tolist()
        [0.0, 1.0]
        """
        return _two_class(
            "log-odds", log_odds, labels, trained_prior=trained_prior, target=target, weights=weights, ids=ids,
            groups=groups, name=name,
        )  # fmt: skip

    @classmethod
    def of_scores(
        cls,
        scores: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        target: object = None,
        weights: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        groups: Mapping[str, ArrayLike] | None = None,
        name: str | None = None,
    ) -> Trials:
        """Trials whose scores mean nothing more than "higher for the target": they rank, and can be calibrated.

        Parameters
        ----------
        scores : array_like of shape (n,)
            Raw scores, higher for the target.
        labels : array_like of shape (n,), optional
            True classes: 0/1, False/True, "nontarget"/"target", or any values if `target` names one of them.
        target : optional
            The label of the target; every other label is a non-target.
        weights : array_like of shape (n,), optional
            Finite weights of the trials, not negative. Weight 0 drops a trial.
        ids : array_like of shape (n,) or (n, columns), optional
            Names of the trials, by which systems are paired.
        groups : mapping of str to array_like, optional
            Named columns such as {"speaker": speakers}, to resample or report by.
        name : str, optional
            The system's name in tables and figures.

        Returns
        -------
        Trials
            The trials, checked and frozen.

        Examples
        --------
        >>> Trials.of_scores([0.3, 0.9], [0, 1]).meaning
        'raw'
        """
        return _two_class(
            "raw", scores, labels, target=target, weights=weights, ids=ids, groups=groups, name=name,
        )  # fmt: skip

    @classmethod
    def of_posteriors(
        cls,
        posteriors: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        trained_prior: ArrayLike | None = None,
        target: object = None,
        classes: Iterable[object] | None = None,
        orientation: Orientation | None = None,
        weights: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        groups: Mapping[str, ArrayLike] | None = None,
        name: str | None = None,
    ) -> Trials:
        """Trials whose scores are posterior probabilities: one of the target per trial, or a row of K per trial.

        llr = logit(p) - logit(trained_prior); rows of K columns must sum to one.

        Parameters
        ----------
        posteriors : array_like of shape (n,) or (n, K)
            Posterior probabilities.
        labels : array_like of shape (n,), optional
            True classes, as in `of_llr` for one column and as in `of_logits` for K.
        trained_prior : float or array_like of shape (K,)
            The prior of the target, or of each class, that the posteriors were made with; it is taken out.
        target : optional
            The label of the target, for one column.
        classes : iterable, optional
            Names of the K classes in the order of the columns, for K columns.
        orientation : {"samples x classes", "classes x samples"}, optional
            Which way round the table is, for K columns.
        weights : array_like of shape (n,), optional
            Finite weights of the trials, not negative. Weight 0 drops a trial.
        ids : array_like of shape (n,) or (n, columns), optional
            Names of the trials, by which systems are paired.
        groups : mapping of str to array_like, optional
            Named columns such as {"speaker": speakers}, to resample or report by.
        name : str, optional
            The system's name in tables and figures.

        Returns
        -------
        Trials
            The trials, checked and frozen.

        Examples
        --------
        >>> Trials.of_posteriors([0.5, 0.5], [0, 1], trained_prior=0.5).llr.tolist()
        [0.0, 0.0]
        """
        if column(posteriors, "scores").ndim == 2:
            if target is not None:
                raise InputError("target belongs to one column of posteriors: with K columns name the classes.")
            return _matrix(
                "posteriors", posteriors, labels, trained_prior=trained_prior, classes=classes,
                orientation=orientation, weights=weights, ids=ids, groups=groups, name=name,
            )  # fmt: skip
        if classes is not None or orientation is not None:
            raise InputError("classes and orientation belong to K columns of posteriors: with one column name target.")
        return _two_class(
            "posterior", posteriors, labels, trained_prior=trained_prior, target=target, weights=weights, ids=ids,
            groups=groups, name=name,
        )  # fmt: skip

    @classmethod
    def of_log_likelihoods(
        cls,
        log_likelihoods: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        classes: Iterable[object] | None = None,
        orientation: Orientation | None = None,
        weights: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        groups: Mapping[str, ArrayLike] | None = None,
        name: str | None = None,
    ) -> Trials:
        """Trials of K classes whose scores are class-conditional log-likelihoods, one row per sample.

        Parameters
        ----------
        log_likelihoods : array_like of shape (n, K)
            ln p(data | class), up to a constant per row. -inf rules a class out.
        labels : array_like of shape (n,), optional
            True classes: numbers 0..K-1, or the names in `classes`.
        classes : iterable, optional
            Names of the K classes in the order of the columns; priors and costs follow this order.
        orientation : {"samples x classes", "classes x samples"}, optional
            Which way round the table is, where its shape leaves it open.
        weights : array_like of shape (n,), optional
            Finite weights of the trials, not negative. Weight 0 drops a trial.
        ids : array_like of shape (n,) or (n, columns), optional
            Names of the trials, by which systems are paired.
        groups : mapping of str to array_like, optional
            Named columns such as {"speaker": speakers}, to resample or report by.
        name : str, optional
            The system's name in tables and figures.

        Returns
        -------
        Trials
            The trials, checked and frozen.

        Examples
        --------
        >>> Trials.of_log_likelihoods([[0.0, -1.0, -2.0]], [0]).classes
        ('0', '1', '2')
        """
        return _matrix(
            "log-likelihoods", log_likelihoods, labels, classes=classes, orientation=orientation, weights=weights,
            ids=ids, groups=groups, name=name,
        )  # fmt: skip

    @classmethod
    def of_logits(
        cls,
        logits: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        trained_prior: ArrayLike | None = None,
        classes: Iterable[object] | None = None,
        orientation: Orientation | None = None,
        weights: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        groups: Mapping[str, ArrayLike] | None = None,
        name: str | None = None,
    ) -> Trials:
        """Trials of K classes whose scores are log-posteriors up to a constant per row.

        Parameters
        ----------
        logits : array_like of shape (n, K)
            ln p(class | data), up to a constant per row.
        labels : array_like of shape (n,), optional
            True classes: numbers 0..K-1, or the names in `classes`.
        trained_prior : array_like of shape (K,)
            The class priors that the scores were made with; they are taken out.
        classes : iterable, optional
            Names of the K classes in the order of the columns; priors and costs follow this order.
        orientation : {"samples x classes", "classes x samples"}, optional
            Which way round the table is, where its shape leaves it open.
        weights : array_like of shape (n,), optional
            Finite weights of the trials, not negative. Weight 0 drops a trial.
        ids : array_like of shape (n,) or (n, columns), optional
            Names of the trials, by which systems are paired.
        groups : mapping of str to array_like, optional
            Named columns such as {"speaker": speakers}, to resample or report by.
        name : str, optional
            The system's name in tables and figures.

        Returns
        -------
        Trials
            The trials, checked and frozen.

        Examples
        --------
        >>> Trials.of_logits([[0.0, 0.0, 0.0]], [0], trained_prior=[0.25, 0.25, 0.5]).log_likelihoods.round(3).tolist()
        [[1.386, 1.386, 0.693]]
        """
        return _matrix(
            "logits", logits, labels, trained_prior=trained_prior, classes=classes, orientation=orientation,
            weights=weights, ids=ids, groups=groups, name=name,
        )  # fmt: skip

    @classmethod
    def from_frame(
        cls,
        frame: object,
        *,
        score: str | Sequence[str] = "score",
        label: str | None = None,
        weight: str | None = None,
        groups: str | Sequence[str] = (),
        ids: str | Sequence[str] | None = None,
        meaning: str = "llr",
        target: object = None,
        trained_prior: ArrayLike | None = None,
        name: str | None = None,
    ) -> Trials:
        """Trials from the columns of a data frame, in the order of its rows.

        Parameters
        ----------
        frame : data frame
            Of pandas or polars, an Arrow table, a duckdb relation, or a mapping of names to columns.
        score : str or sequence of str, default "score"
            The column of scores; for several classes one column per class, whose names the labels hold.
        label : str, optional
            The column of true classes; "label" if the frame has such a column, unless given.
        weight : str, optional
            The column of weights.
        groups : str or sequence of str, optional
            Columns such as speaker or patient, kept under their names.
        ids : str or sequence of str, optional
            The column, or columns, that name a trial.
        meaning : str, default "llr"
            What the scores mean: "llr", "lr", "log10-llr", "log-odds", "posterior", "raw", or for several columns
            "log-likelihoods", "logits" or "posteriors".
        target : optional
            The label of the target, for one column of scores.
        trained_prior : float or array_like of shape (K,), optional
            The prior that log-odds, posteriors and logits were made with.
        name : str, optional
            The system's name in tables and figures.

        Returns
        -------
        Trials
            The trials, checked and frozen. Categories that no row has do not count; missing values are refused.

        Examples
        --------
        >>> table = {"p": [0.5, 0.9], "y": ["ok", "fraud"], "shop": ["a", "b"]}
        >>> trials = Trials.from_frame(
        ...     table, score="p", label="y", groups="shop", meaning="posterior", trained_prior=0.5, target="fraud"
        ... )
        >>> trials.labels.tolist(), list(trials.groups)
        ([False, True], ['shop'])
        """
        scores = (
            [text(score, "score")] if isinstance(score, str) else [text(one, "score") for one in listed(score, "score")]
        )
        if not scores:
            raise InputError("score must name at least one column.")
        grouped, keys = _column_names(groups, "groups"), _column_names(ids, "ids")
        known = frame_names(frame)
        label = ("label" if "label" in known else None) if label is None else text(label, "label")
        single = [one for one in (label, None if weight is None else text(weight, "weight")) if one is not None]
        got = columns_of(frame, [*scores, *single, *grouped, *keys], label)
        more: JSON = {
            "labels": None if label is None else got[label],
            "weights": None if weight is None else got[weight],
            "ids": _joined([got[one] for one in keys]),
            "groups": {one: got[one] for one in grouped},
            "name": name,
        }
        return _framed(got, scores, isinstance(score, str), meaning, target, trained_prior, more)

    @classmethod
    def of_estimator(
        cls,
        estimator: object,
        X: object,
        y: ArrayLike | None = None,
        *,
        target: object = None,
        trained_prior: object = None,
        classes: Iterable[object] | None = None,
        weights: ArrayLike | None = None,
        ids: ArrayLike | None = None,
        groups: Mapping[str, ArrayLike] | None = None,
        name: str | None = None,
    ) -> Trials:
        """Trials of a trained classifier in scikit-learn's manner: its probabilities, or else its raw scores.

        Parameters
        ----------
        estimator : classifier
            With `classes_`, and with predict_proba or (two classes) decision_function.
        X : array_like
            Samples, as the estimator takes them.
        y : array_like of shape (n,), optional
            True classes.
        target : optional
            The label of the target where there are two classes; not needed for 0/1 and False/True.
        trained_prior : float, array_like or "balanced", optional
            The prior that the probabilities were made with: the target's, or one number per class in the order of the
            columns of the trials; "balanced" for equal classes, as class_weight="balanced" makes them. The estimators
            of `tercet.sklearn` know theirs. Without effect on raw scores, and then refused.
        classes : iterable, optional
            The labels of more than two classes in the order that priors and costs follow; sorted by default.
        weights : array_like of shape (n,), optional
            Finite weights of the trials, not negative. Weight 0 drops a trial.
        ids : array_like of shape (n,) or (n, columns), optional
            Names of the trials, by which systems are paired.
        groups : mapping of str to array_like, optional
            Named columns such as {"speaker": speakers}, to resample or report by.
        name : str, optional
            The system's name in tables and figures.

        Returns
        -------
        Trials
            Posteriors with one column per class, of two the target's last; or raw scores.

        Examples
        --------
        >>> class Model:
        ...     classes_ = np.array(["fraud", "ok"])
        ...     def predict_proba(self, X):
        ...         return np.array([[0.5, 0.5]] * len(X))
        >>> trials = Trials.of_estimator(Model(), [[1.0]], ["ok"], target="fraud", trained_prior=0.5)
        >>> trials.classes, trials.scores.tolist()
        (('ok', 'fraud'), [[0.5, 0.5]])
        """
        labels, order = _estimator_classes(estimator, target, classes)
        more: JSON = {"weights": weights, "ids": ids, "groups": groups, "name": name}
        ask = getattr(estimator, "predict_proba", None)
        if not callable(ask):
            if trained_prior is not None:
                raise InputError("trained_prior belongs to probabilities, and the estimator has no predict_proba.")
            scores = _margins(estimator, X, order)
            return _two_class("raw", scores, y, target=None if y is None else labels[order[1]], **more)
        shares = column(_asked(ask, X), "predict_proba")
        prior = _estimator_prior(estimator, trained_prior, order)
        return _matrix(
            "posteriors", shares[:, order], y, trained_prior=prior, classes=[labels[place] for place in order],
            orientation="samples x classes", **more,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.scores)

    def __reduce__(self) -> tuple[object, ...]:
        values = [getattr(self, field.name) for field in fields(self)]
        return _rebuilt, tuple(dict(value) if isinstance(value, MappingProxyType) else value for value in values)

    def __repr__(self) -> str:
        count = f"{len(self)} trials"
        if self.labels is not None:
            sizes = np.bincount(self.labels, minlength=len(self.classes))
            parts = [
                f"{n} {'of class ' if c.isdigit() else ''}{shown(c)[1:-1]}"
                for n, c in zip(sizes[::-1][:4], self.classes[::-1][:4], strict=True)
            ]
            count += f" ({', '.join(parts if not self.is_matrix else parts[::-1])})"
        return f"Trials: {count}, meaning {self.meaning}"

    @property
    def is_matrix(self) -> bool:
        """Whether the scores are one row per sample and one column per class."""
        return self.scores.ndim == 2

    @property
    def llr(self) -> Floats:
        """The two-class scores as natural log-likelihood ratios; raw scores have none."""
        return frozen(to_llr(self.scores, self.meaning, self.trained_prior))

    @property
    def log_likelihoods(self) -> Floats:
        """The score matrix as log-likelihoods, each row up to a constant."""
        if not self.is_matrix:
            raise InputError(f"log-likelihoods need one column per class, not two-class scores ({self.meaning}).")
        if self.meaning == "log-likelihoods":
            return self.scores
        assert isinstance(self.trained_prior, tuple)
        log_prior = np.log(np.array(self.trained_prior))
        with np.errstate(divide="ignore", over="ignore"):
            log_posteriors = np.log(self.scores) if self.meaning == "posteriors" else self.scores
        return frozen(log_posteriors - log_prior)

    def known_labels(self) -> Array:
        """The labels, or an error that says they are needed.

        Returns
        -------
        numpy.ndarray of shape (n,)
            The labels.

        Raises
        ------
        InputError
            If the trials have no labels.
        """
        if self.labels is None:
            raise InputError("These trials have no labels: they can be decided and calibrated, not evaluated.")
        return self.labels

    def select(self, rows: ArrayLike | slice) -> Trials:
        """The trials of a mask, a slice or an array of row numbers.

        Parameters
        ----------
        rows : ndarray or slice
            Which rows to keep, and in which order.

        Returns
        -------
        Trials
            These rows of every column.

        Examples
        --------
        >>> Trials.of_llr([2.0, -1.0, 0.5]).select([2, 0]).scores.tolist()
        [0.5, 2.0]
        """
        rows = rows if isinstance(rows, slice) else row_numbers(rows, len(self))

        def of(column: Array | None) -> Any:
            return None if column is None else frozen(np.array(column[rows]))

        groups = MappingProxyType({key: of(group) for key, group in self.groups.items()})
        return replace(
            self,
            scores=of(self.scores),
            labels=of(self.labels),
            weights=of(self.weights),
            ids=of(self.ids),
            groups=groups,
        )

    def versus(self, target: object, against: object = None, *, prior: ArrayLike | None = None) -> Trials:
        """The two-class task cut out of K: one class against another, or against the rest.

        The rest's likelihoods are mixed by their priors (equal unless `prior` gives one per class):
        llr = l_t - ln(sum_j pi_j e^l_j / sum_j pi_j), j over the rest.

        Parameters
        ----------
        target : object
            The class that becomes the target, by its name.
        against : object, optional
            The class that it stands against; all others by default.
        prior : array_like of shape (K,), optional
            Priors that mix the others.

        Returns
        -------
        Trials
            Two-class trials with llrs; labelled ones of third classes are left out.

        Examples
        --------
        >>> Trials.of_log_likelihoods([[0.0, -1.0, -3.0]]).versus(0, 1).llr.tolist()
        [1.0]
        """
        likelihoods = self.log_likelihoods
        index = class_place(target, self.classes, "target")
        others = [j for j in range(len(self.classes)) if j != index]
        if against is not None:
            others = [class_place(against, self.classes, "against")]
        if index in others:
            raise InputError(f"target and against are the same class, {shown(self.classes[index])}.")
        trials, likelihoods = (
            (self, likelihoods) if against is None or self.labels is None else self._only([index, *others], likelihoods)
        )
        weights = np.ones(len(self.classes)) if prior is None else prior_vector(prior, len(self.classes), "prior")
        with np.errstate(invalid="ignore", over="ignore"):
            llr = likelihoods[:, index] - _mixed(likelihoods[:, others], weights[others])
        bad = np.flatnonzero(np.isnan(llr))
        if len(bad):
            raise InputError(f"versus: row {bad[0]} gives neither side any likelihood (both -inf).")
        rest = self.classes[others[0]] if len(others) == 1 else f"not {self.classes[index]}"
        return replace(
            trials,
            scores=frozen(llr + 0.0),
            meaning="llr",
            trained_prior=None,
            classes=(rest, self.classes[index]),
            labels=None if trials.labels is None else frozen(trials.labels == index),
        )

    def to_columns(
        self,
        *,
        score_column: str = "score",
        label_column: str = "label",
        weight_column: str = "weight",
        id_column: str | Sequence[str] = "trial",
    ) -> dict[str, Array]:
        """The trials as named columns, which every data frame library takes: pandas.DataFrame(trials.to_columns()).

        Parameters
        ----------
        score_column, label_column, weight_column : str
            Names of these columns; several classes have one column of scores each, under the class's name.
        id_column : str or sequence of str
            The name of the ids' column, or one per part where an id has several.

        Returns
        -------
        dict of ndarray
            Ids, groups, weights, labels (as class names) and scores, as far as the trials have them.

        Examples
        --------
        >>> trials = Trials.of_llr([2.0, -1.0], [1, 0], ids=["a", "b"])
        >>> {name: values.tolist() for name, values in trials.to_columns().items()}
        {'trial': ['a', 'b'], 'label': ['target', 'nontarget'], 'score': [2.0, -1.0]}
        """
        called = {
            name: text(value, f"{name}_column")
            for name, value in (("score", score_column), ("label", label_column), ("weight", weight_column))
        }
        found: dict[str, Array] = _id_columns(self.ids, _column_names(id_column, "id_column"))
        found |= {key: np.asarray(group) for key, group in self.groups.items()}
        if self.weights is not None:
            found[called["weight"]] = self.weights
        if self.labels is not None:
            found[called["label"]] = np.array(self.classes, np.object_)[self.labels.astype(np.intp)]
        if not self.is_matrix:
            return found | {called["score"]: self.scores}
        return found | {name: self.scores[:, place] for place, name in enumerate(self.classes)}

    def class_number(self, label: object) -> int:
        """The column of a class, by its name.

        Parameters
        ----------
        label : object
            The class's name.

        Returns
        -------
        int
            Its number, from 0.
        """
        return class_place(label, self.classes, "label")

    def _only(self, classes: list[int], likelihoods: Floats) -> tuple[Trials, Floats]:
        rows = np.isin(self.known_labels(), classes)
        return self.select(rows), likelihoods[rows]


def _column_names(given: object, name: str) -> list[str]:
    """Names of columns: none, one or several."""
    if given is None:
        return []
    return [text(one, name) for one in ([given] if isinstance(given, str) else listed(given, name))]


def _id_columns(ids: Array | None, called: list[str]) -> dict[str, Array]:
    """Ids as columns: one, or one per part."""
    if ids is None:
        return {}
    first = ids[0] if len(ids) else None
    if not isinstance(first, tuple):
        if len(called) != 1:
            raise InputError(f"id_column must be one name, not {len(called)}: the ids have one part.")
        return {called[0]: np.asarray(ids)}
    parts = [np.array(part) for part in zip(*ids.tolist(), strict=True)]
    names = called if len(called) > 1 else [f"{called[0]}_{place + 1}" for place in range(len(parts))]
    if len(names) != len(parts):
        raise InputError(f"id_column must be {len(parts)} names, not {len(names)}: the ids have {len(parts)} parts.")
    return dict(zip(names, parts, strict=True))


def _joined(columns: Sequence[object]) -> object:
    """One column of ids as it is; of several, one tuple per row."""
    if len(columns) < 2:
        return columns[0] if columns else None
    return list(zip(*(column(one, "ids").tolist() for one in columns), strict=True))


def _framed(
    got: Facts, scores: list[str], one: bool, meaning: str, target: object, prior: object,
    more: JSON,
) -> Trials:  # fmt: skip
    """Trials of columns: one score per trial, or one column per class."""
    chosen(meaning, "meaning", TWO_CLASS_MEANINGS if one else MATRIX_MEANINGS)
    if prior is not None and meaning not in ("log-odds", "posterior", "logits", "posteriors"):
        raise InputError(f"trained_prior does not go with meaning={meaning!r}.")
    if one:
        return _two_class(meaning, got[scores[0]], trained_prior=prior, target=target, **more)
    if target is not None:
        raise InputError("target is for one column of scores: with one column per class the labels are their names.")
    table = np.stack([numbers(got[name], f"score {name!r}") for name in scores], axis=1)
    more["labels"] = None if more["labels"] is None else [str(value) for value in names(more["labels"], "labels")]
    return _matrix(
        meaning, table, trained_prior=prior, classes=scores, orientation="samples x classes", **more
    )  # fmt: skip


def _estimator_classes(estimator: object, target: object, classes: object) -> tuple[list[Hashable], list[int]]:
    """An estimator's labels, and the order in which trials have them: of two the target last."""
    found = getattr(estimator, "classes_", None)
    if found is None or np.ndim(found) != 1:
        raise InputError(f"estimator must be a trained classifier with classes_, not {shown(estimator)}.")
    labels = np.asarray(found).tolist()
    if len(labels) == 2:
        if classes is not None:
            raise InputError("classes is for more than two classes: name the target (target=...).")
        mask, _ = is_target(np.asarray(found), target)
        return labels, [int(mask.argmin()), int(mask.argmax())]
    if target is not None:
        raise InputError(f"target is for two classes, and the estimator has {len(labels)}: name them by classes=.")
    if classes is None:
        return labels, list(range(len(labels)))
    wanted = label_list(classes, "classes")
    if len(wanted) != len(labels) or set(wanted) != set(labels):
        raise InputError(f"classes must be the estimator's, in any order: {', '.join(map(shown, labels[:6]))}.")
    return labels, [labels.index(label) for label in wanted]


def _asked(method: Callable[[object], object], X: object) -> object:
    """What an estimator says of samples; what it cannot take is refused in its own words."""
    try:
        return method(X)
    except Exception as error:  # an estimator of somebody else's may raise anything
        raise InputError(f"X is refused by the estimator: {error}") from error


def _margins(estimator: object, X: object, order: list[int]) -> Array:
    """decision_function, higher for the target."""
    ask = getattr(estimator, "decision_function", None)
    if not callable(ask) or len(order) != 2:
        raise InputError("estimator must have predict_proba, or decision_function where there are two classes.")
    found = numbers(_asked(ask, X), "decision_function")
    return found if order == [0, 1] else 0.0 - found


def _estimator_prior(estimator: object, given: object, order: list[int]) -> object:
    """The prior of an estimator's probabilities, in the order of the trials."""
    if given is None:
        last = getattr(estimator, "best_estimator_", estimator)
        last = last.steps[-1][1] if hasattr(last, "steps") else last
        own = getattr(last, "prior_", None) if type(last).__module__.startswith("tercet.") else None
        if own is None:
            raise InputError(
                "trained_prior is needed: the prior that the estimator's probabilities were made with, such as the "
                "shares of the classes it was trained on, or 'balanced' after class_weight='balanced'."
            )
        return np.asarray(own)[order]
    if isinstance(given, str):
        chosen(given, "trained_prior", ("balanced",))
        return [1.0 / len(order)] * len(order)
    if len(order) == 2 and column(given, "trained_prior").ndim == 0:
        target = probability(given, "trained_prior")
        return [1.0 - target, target]
    return given


def as_trials(trials: object, name: str = "trials") -> Trials:
    """Trials as they are; a bare array is refused, because what its numbers mean is never guessed."""
    if not isinstance(trials, Trials):
        if hasattr(trials, "_training_data"):
            raise InputError("Trials are needed, not a Scan: read them into memory (its read()), where they fit.")
        raise InputError(
            f"{name} must be Trials, not {shown(type(trials).__name__)}: say what the scores mean, for instance "
            f"tercet.Trials.of_llr(scores, labels)."
        )
    return trials


def two_class(trials: object, name: str = "trials") -> Trials:
    """Two-class trials with one score each; a matrix of two columns becomes one, more classes are refused."""
    given = as_trials(trials, name)
    if not given.is_matrix:
        return given
    if len(given.classes) != 2:
        raise InputError(f"{name} must be of two classes, not {len(given.classes)}: cut out two with versus().")
    return given.versus(given.classes[1], given.classes[0])


def _rebuilt(*values: object) -> Trials:
    """Trials from the fields that were pickled or copied, frozen again."""
    kept: list[Any] = [MappingProxyType(value) if isinstance(value, dict) else value for value in values]
    for value in kept:
        if isinstance(value, np.ndarray):
            frozen(value)
    return Trials(*kept)


def to_llr(scores: Floats, meaning: str, trained_prior: float | tuple[float, ...] | None) -> Floats:
    """Two-class scores of a known meaning as natural log-likelihood ratios."""
    if meaning == "raw":
        raise InputError(NO_LLR)
    odds = log_odds(scores, meaning)
    if meaning in ("log-odds", "posterior"):
        assert isinstance(trained_prior, float)
        return odds - logit(trained_prior)
    return odds


def log_odds(scores: Floats, meaning: str) -> Floats:
    """Two-class scores on a logarithmic scale: llrs and log-odds as they are, ratios and posteriors as their logs."""
    with np.errstate(divide="ignore", over="ignore"):
        if meaning == "log10-llr":
            return scores * math.log(10.0)
        if meaning == "lr":
            return np.log(scores)
        if meaning == "posterior":
            return np.asarray(np.log(scores) - np.log1p(-scores))
    if meaning in ("llr", "log-odds", "raw"):
        return scores
    raise InputError(f"Scores that are {meaning} have one column per class: cut out two classes with versus().")


def logit(probability: float) -> float:
    """ln(p / (1 - p))."""
    return math.log(probability) - math.log1p(-probability)


def probability(value: object, name: str) -> float:
    """A number strictly between 0 and 1, and above the subnormal numbers, whose reciprocals overflow."""
    found = number(value, name)
    if not 0.0 < found < 1.0:
        raise InputError(f"{name} must lie strictly between 0 and 1, not {found}.")
    if found < TINY:
        raise InputError(f"{name} must be at least {TINY:.3g}, not {found}.")
    return found


def prior_vector(prior: object, classes: int, name: str) -> Floats:
    """One prior per class, positive and summing to one within 1e-6; scaled to sum to one."""
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


def _mixed(columns: Floats, weights: Floats) -> Floats:
    """ln of the weighted mean of e^column over the columns, stably."""
    if columns.shape[1] == 1:
        return columns[:, 0]
    top = columns.max(axis=1)
    shift = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore"):
        mixed: Floats = np.log(np.exp(columns - shift[:, None]) @ (weights / math.fsum(weights))) + shift
    return mixed


def _two_class(
    meaning: str,
    scores: object,
    labels: object,
    *,
    target: object = None,
    trained_prior: object = None,
    weights: object = None,
    ids: object = None,
    groups: Mapping[str, object] | None = None,
    name: str | None = None,
) -> Trials:
    same_index({"scores": scores, "labels": labels, "weights": weights, "ids": ids, **_group_columns(groups)})
    values = numbers(scores, "scores")
    if meaning in ("log-odds", "posterior") and trained_prior is None:
        raise InputError(NEEDS_PRIOR.format(meaning))
    low, high = _RANGES.get(meaning, (-math.inf, math.inf))
    outside = np.flatnonzero((values < low) | (values > high)) if meaning in _RANGES else values[:0]
    if len(outside):
        row = int(outside[0])
        raise InputError(
            f"scores that are {meaning} must lie in {low:g}..{high:g}: row {row} holds {values[row]}. "
            f"Say what they mean instead: llr (of_llr), log-odds (of_log_odds) or raw (of_scores)."
        )
    mask, classes = (None, ("nontarget", "target")) if labels is None else is_target(labels, target)
    return _assembled(
        values,
        meaning,
        mask,
        classes,
        None if trained_prior is None else probability(trained_prior, "trained_prior"),
        weights,
        ids,
        groups,
        name,
    )


def _matrix(
    meaning: str,
    scores: object,
    labels: object,
    *,
    classes: Iterable[object] | None = None,
    orientation: str | None = None,
    trained_prior: object = None,
    weights: object = None,
    ids: object = None,
    groups: Mapping[str, object] | None = None,
    name: str | None = None,
) -> Trials:
    same_index({"scores": scores, "labels": labels, "weights": weights, "ids": ids, **_group_columns(groups)})
    given = None if classes is None else label_list(classes, "classes")
    labels = None if labels is None else names(labels, "labels")
    if meaning != "log-likelihoods" and trained_prior is None:
        raise InputError(NEEDS_PRIOR.format(meaning))
    values = _upright(numbers(scores, "scores", ndim=2), labels, given, orientation)
    count = values.shape[1]
    if count < 2:
        raise InputError(f"scores must have one column per class, at least two, not {count}.")
    called = class_names(given, count)
    _check_matrix(values, meaning)
    return _assembled(
        values,
        meaning,
        None if labels is None else class_codes(labels, called, given),
        called,
        None if trained_prior is None else tuple(prior_vector(trained_prior, count, "trained_prior").tolist()),
        weights,
        ids,
        groups,
        name,
    )


def class_names(given: Sequence[object] | None, count: int, what: str = "classes") -> tuple[str, ...]:
    """Distinct names, one for each class (or action); the numbers 0..K-1 where none are given."""
    called = tuple(str(value) for value in (range(count) if given is None else given))
    if len(called) != count:
        raise InputError(f"{what} has {len(called)} names where {count} are needed.")
    if len(set(called)) < count:
        ordered = sorted(called)
        twice = next(one for one, other in itertools.pairwise(ordered) if one == other)
        raise InputError(f"{what} must be distinct: {shown(twice)} is there twice.")
    return called


def _upright(values: Floats, labels: Array | None, given: list[object] | None, orientation: str | None) -> Floats:
    """Samples x classes; turned when asked for, or when only that fits the number of labels or class names."""
    layouts: tuple[Orientation, ...] = ("samples x classes", "classes x samples")
    if orientation is None:
        fits = [_fits(values.shape, labels, given), _fits(values.T.shape, labels, given)]
        square = values.shape[0] == values.shape[1] > 1 and labels is not None
        if square and np.all(np.abs(values.sum(axis=1) - 1.0) <= _SUM_TOLERANCE) and values.min() >= 0.0:
            square = bool(np.all(np.abs(values.sum(axis=0) - 1.0) <= _SUM_TOLERANCE))  # rows are distributions
        if square and all(fits):
            raise InputError(
                f"scores of shape {values.shape} could be either way round: say orientation={layouts[0]!r} "
                f"or {layouts[1]!r}."
            )
        orientation = layouts[1] if fits == [False, True] else layouts[0]
    way = chosen(orientation, "orientation", layouts)
    return values if way == layouts[0] else frozen(np.ascontiguousarray(values.T))


def _fits(shape: tuple[int, ...], labels: Array | None, given: list[object] | None) -> bool:
    """Whether rows match the labels and columns the class names, as far as they are known."""
    return (labels is None or shape[0] == len(labels)) and (given is None or shape[1] == len(given))


def _check_matrix(values: Floats, meaning: str) -> None:
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


def _assembled(
    values: Floats,
    meaning: str,
    codes: Array | None,
    classes: tuple[str, ...],
    trained_prior: float | tuple[float, ...] | None,
    weights: object,
    ids: object,
    groups: Mapping[str, object] | None,
    name: str | None,
) -> Trials:
    if name is not None:
        name = text(name, "name")
    heavy = None if weights is None else weight_column(weights)
    keys = None if ids is None else identifiers(ids, "ids")
    grouped = {key: names(group, f"groups[{key!r}]") for key, group in (groups or {}).items()}
    same_length(len(values), {"labels": codes, "weights": heavy, "ids": keys, **_group_columns(grouped)})
    return Trials(values, meaning, codes, classes, trained_prior, heavy, keys, MappingProxyType(grouped), name)


def _group_columns(groups: Facts | None) -> JSON:
    """Groups under names that cannot be taken for another column's."""
    if groups is not None and not isinstance(groups, Mapping):
        raise InputError('groups must be a mapping from a name to a column, such as {"speaker": speakers}.')
    return {f"groups[{key!r}]": group for key, group in (groups or {}).items()}


def weight_column(weights: object) -> Floats:
    """Weights that are finite and not negative."""
    heavy = numbers(weights, "weights")
    bad = np.flatnonzero((heavy < 0.0) | (heavy == math.inf))
    if len(bad):
        raise InputError(
            f"weights must be finite and not negative: row {bad[0]} holds {heavy[bad[0]]}. Weight 0 drops a row."
        )
    return heavy
