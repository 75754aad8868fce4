"""Trials: a recogniser's scores, their meaning and, where known, the truth. Input is validated here only."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import ArrayLike

from tercet._numeric.estimators import asked, estimator_classes, estimator_prior, margins
from tercet._numeric.frames import column_names, columns_of, frame_names, id_columns, joined_ids
from tercet._numeric.matrices import (
    Orientation,
    check_weights,
    class_names,
    log_mean,
    prior_vector,
    upright,
)
from tercet._numeric.meanings import MATRIX_MEANINGS as MATRIX_MEANINGS
from tercet._numeric.meanings import TWO_CLASS_MEANINGS as TWO_CLASS_MEANINGS
from tercet._numeric.meanings import check_meaning, check_scores
from tercet._numeric.records import ReadOnly, check_fields, computed, derived
from tercet._numeric.validation import (
    class_codes,
    class_place,
    column,
    frozen,
    identifiers,
    is_target,
    label_list,
    names,
    numbers,
    row_numbers,
    same_index,
    same_length,
    shown,
    text,
    unchangeable,
    unlabelled_classes,
)
from tercet._numeric.validation import (
    probability as probability,
)
from tercet._typing import JSON, Array, Facts, Floats
from tercet._views import Shown
from tercet.errors import InputError

NO_LLR = (
    "Raw scores are not log-likelihood ratios, so no actual cost or Bayes decision exists for them: "
    "calibrate them first. Curves, EER, AUC and minimum costs need no calibration."
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Trials(Shown):
    """Scores with their meaning; optional labels, weights, ids and named groups, all matched by position.

    Two classes: one score per trial, higher for the target. K classes: one row per sample, one column per class. Use
    the `of_...` functions to make trials. Input is validated here, once, and nowhere else.

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

    def __post_init__(self) -> None:
        self._check()

    def _check(self, known: tuple[str, ...] = ()) -> None:
        """Judges the columns and what they have in common; `known` names those whose numbers have been looked at."""
        check_fields(self, known)
        _freeze(self)
        labels = check_scores(self.scores, self.meaning, self.classes, self.labels, self.trained_prior)
        object.__setattr__(self, "labels", labels)
        columns = {"labels": self.labels, "weights": self.weights, "ids": self.ids, **_group_columns(self.groups)}
        for name, values in columns.items():
            if values is not None and values.ndim != 1:
                raise InputError(f"{name} must be one-dimensional, not an array of shape {values.shape}.")
        same_length(len(self.scores), columns)
        if self.weights is not None:
            check_weights(self.weights)

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
        return two_class_trials(
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
        return two_class_trials(
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
        return two_class_trials(
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
        return two_class_trials(
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
        return two_class_trials(
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
            Names of the K classes in the order of the columns, for K columns; of two, the second is the target.
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
                raise InputError(
                    "target belongs to one column of posteriors: of two, give the target's own, posteriors[:, k]; of "
                    "more, name the classes (classes=...)."
                )
            return matrix_trials(
                "posteriors", posteriors, labels, trained_prior=trained_prior, classes=classes,
                orientation=orientation, weights=weights, ids=ids, groups=groups, name=name,
            )  # fmt: skip
        if classes is not None or orientation is not None:
            raise InputError("classes and orientation belong to K columns of posteriors: with one column name target.")
        return two_class_trials(
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
            Names of the K classes in the order of the columns; priors and costs follow this order. Of two, the second
            is the target.
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
        return matrix_trials(
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
            Names of the K classes in the order of the columns; priors and costs follow this order. Of two, the second
            is the target.
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
        return matrix_trials(
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
            The trials, checked and frozen. Categories that occur in no row are ignored; missing values are an error.

        Examples
        --------
        >>> table = {"p": [0.5, 0.9], "y": ["ok", "fraud"], "shop": ["a", "b"]}
        >>> trials = Trials.from_frame(
        ...     table, score="p", label="y", groups="shop", meaning="posterior", trained_prior=0.5, target="fraud"
        ... )
        >>> trials.labels.tolist(), list(trials.groups)
        ([False, True], ['shop'])
        """
        scores = column_names(score, "score")
        if not scores:
            raise InputError("score must name at least one column.")
        grouped, keys = column_names(groups, "groups"), column_names(ids, "ids")
        known = frame_names(frame)
        label = ("label" if "label" in known else None) if label is None else text(label, "label")
        single = [one for one in (label, None if weight is None else text(weight, "weight")) if one is not None]
        got = columns_of(frame, [*scores, *single, *grouped, *keys], label)
        more: JSON = {
            "labels": None if label is None else got[label],
            "weights": None if weight is None else got[weight],
            "ids": joined_ids([got[one] for one in keys]),
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
        """Trials from a trained scikit-learn classifier: its probabilities, or else its raw scores.

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
            of `tercet.sklearn` know theirs. For raw scores it is an error.
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
        labels, order = estimator_classes(estimator, target, classes)
        more: JSON = {"weights": weights, "ids": ids, "groups": groups, "name": name}
        ask = getattr(estimator, "predict_proba", None)
        if not callable(ask):
            if trained_prior is not None:
                raise InputError("trained_prior belongs to probabilities, and the estimator has no predict_proba.")
            scores = margins(estimator, X, order)
            return two_class_trials("raw", scores, y, target=None if y is None else labels[order[1]], **more)
        shares = column(asked(ask, X), "predict_proba")
        prior = estimator_prior(estimator, trained_prior, order)
        return matrix_trials(
            "posteriors", shares[:, order], y, trained_prior=prior, classes=[labels[place] for place in order],
            orientation="samples x classes", **more,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.scores)

    def __reduce__(self) -> tuple[object, ...]:
        return _rebuilt, tuple(getattr(self, field.name) for field in fields(self))

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
            raise InputError(
                "These trials have no labels: they can be decided and calibrated, not evaluated. Labels come from "
                "labels=, from a column (label_column) or from key=."
            )
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

        def of(column: Array | None) -> Array | None:
            return None if column is None else frozen(np.array(column[rows]))

        columns = {name: of(getattr(self, name)) for name in ("scores", "labels", "weights", "ids")}
        groups = ReadOnly({key: of(group) for key, group in self.groups.items()})
        return derived(self, **columns, groups=groups)

    def versus(self, target: object, against: object = None, *, prior: ArrayLike | None = None) -> Trials:
        """The two-class task cut out of K: one class against another, or against the rest.

        The rest's likelihoods are mixed by their priors (equal unless `prior` gives one per class):
        llr = l_t - ln(sum_j pi_j e^l_j / sum_j pi_j), j over the rest.

        Parameters
        ----------
        target : object
            The class that becomes the target, by its name.
        against : object, optional
            The class that it is compared with; all others by default.
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
        trials = self
        if against is not None and self.labels is not None:
            rows = np.isin(self.labels, [index, *others])
            trials, likelihoods = self.select(rows), likelihoods[rows]
        weights = np.ones(len(self.classes)) if prior is None else prior_vector(prior, len(self.classes), "prior")
        with np.errstate(invalid="ignore", over="ignore"):
            llr = likelihoods[:, index] - log_mean(likelihoods[:, others], weights[others])
        bad = np.flatnonzero(np.isnan(llr))
        if len(bad):
            raise InputError(f"versus: row {bad[0]} gives neither side any likelihood (both -inf).")
        rest = self.classes[others[0]] if len(others) == 1 else f"not {self.classes[index]}"
        return derived(
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
        """The trials as named columns, which every data frame library accepts: pandas.DataFrame(trials.to_columns()).

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
        found: dict[str, Array] = id_columns(self.ids, column_names(id_column, "id_column"))
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


def _framed(
    got: Facts, scores: tuple[str, ...], one: bool, meaning: str, target: object, prior: object, more: JSON
) -> Trials:
    """Trials of columns: one score per trial, or one column per class."""
    check_meaning(meaning, TWO_CLASS_MEANINGS if one else MATRIX_MEANINGS, prior)
    if one:
        return two_class_trials(meaning, got[scores[0]], trained_prior=prior, target=target, **more)
    if target is not None:
        raise InputError("target is for one column of scores: with one column per class the labels are their names.")
    table = np.stack([numbers(got[name], f"score {name!r}") for name in scores], axis=1)
    more["labels"] = None if more["labels"] is None else [str(value) for value in names(more["labels"], "labels")]
    return matrix_trials(meaning, table, trained_prior=prior, classes=scores, orientation="samples x classes", **more)


def as_trials(trials: object, name: str = "trials") -> Trials:
    """Trials as they are; a bare array is refused, because the meaning of its numbers is never guessed."""
    if not isinstance(trials, Trials):
        if hasattr(trials, "_training_data"):
            raise InputError("Trials are needed, not a Scan: read them into memory (its read()), where they fit.")
        raise InputError(
            f"{name} must be Trials, not {shown(type(trials).__name__)}: say what the scores mean, for instance "
            f"tercet.Trials.of_llr(scores, labels)."
        )
    return trials


def two_class(trials: object, name: str = "trials", way_out: str = "select two with versus()") -> Trials:
    """Two-class trials with one score each; a matrix of two columns becomes one, more classes are refused."""
    given = as_trials(trials, name)
    if not given.is_matrix:
        return given
    if len(given.classes) != 2:
        raise InputError(f"{name} must be of two classes, not {len(given.classes)}: {way_out}.")
    return given.versus(given.classes[1], given.classes[0])


def _rebuilt(*values: object) -> Trials:
    """Trials from the fields that were pickled or copied, frozen again."""
    for value in values:
        if isinstance(value, np.ndarray):
            frozen(value)
    return Trials(*values)  # type: ignore[arg-type]


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
    raise InputError(f"Scores that are {meaning} have one column per class: select two classes with versus().")


def logit(probability: float) -> float:
    """ln(p / (1 - p))."""
    return math.log(probability) - math.log1p(-probability)


def two_class_trials(
    meaning: str,
    scores: object,
    labels: object,
    *,
    target: object = None,
    classes: tuple[str, str] | None = None,
    trained_prior: object = None,
    weights: object = None,
    ids: object = None,
    groups: Mapping[str, object] | None = None,
    name: str | None = None,
) -> Trials:
    """Two-class trials of scores with this meaning; with `classes` the labels are a mask that was judged before."""
    same_index({"scores": scores, "labels": labels, "weights": weights, "ids": ids, **_group_columns(groups)})
    values = numbers(scores, "scores")
    if classes is not None:
        mask = None if labels is None else frozen(np.asarray(labels, np.bool_))
    elif labels is None:
        mask, classes = None, unlabelled_classes(target)
    else:
        mask, classes = is_target(labels, target)
    prior = None if trained_prior is None else probability(trained_prior, "trained_prior")
    return _assembled(values, meaning, mask, classes, prior, weights, ids, groups, name)


def matrix_trials(
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
    """Trials of one column of scores per class, with this meaning."""
    same_index({"scores": scores, "labels": labels, "weights": weights, "ids": ids, **_group_columns(groups)})
    given = None if classes is None else label_list(classes, "classes")
    labels = None if labels is None else names(labels, "labels")
    check_meaning(meaning, MATRIX_MEANINGS, trained_prior)
    values = upright(numbers(scores, "scores", ndim=2), labels, given, orientation)
    count = values.shape[1]
    if count < 2:
        raise InputError(f"scores must have one column per class, at least two, not {count}.")
    called = class_names(given, count)
    codes = None if labels is None else class_codes(labels, called, given)
    prior = None if trained_prior is None else tuple(prior_vector(trained_prior, count, "trained_prior").tolist())
    return _assembled(values, meaning, codes, called, prior, weights, ids, groups, name)


def _assembled(
    values: Floats, meaning: str, codes: Array | None, classes: tuple[str, ...],
    trained_prior: float | tuple[float, ...] | None, weights: object, ids: object, groups: Mapping[str, object] | None,
    name: str | None,
) -> Trials:  # fmt: skip
    heavy = None if weights is None else numbers(weights, "weights")
    keys = None if ids is None else identifiers(ids, "ids")
    grouped = {key: names(group, f"groups[{key!r}]") for key, group in (groups or {}).items()}
    made = computed(
        Trials, scores=values, meaning=meaning, labels=codes, classes=classes, trained_prior=trained_prior,
        weights=heavy, ids=keys, groups=grouped, name=name,
    )  # fmt: skip
    made._check(known=("scores", "weights"))
    return made


def _freeze(trials: Trials) -> None:
    """Columns that somebody could change are copied; those of the functions above are frozen already.

    So are columns with gaps or in reverse: numpy may round exp and log of them differently.
    """
    for name in ("scores", "labels", "weights", "ids"):
        values = getattr(trials, name)
        if values is not None and not (values.flags.forc and unchangeable(values)):
            object.__setattr__(trials, name, frozen(values.copy()))
    if type(trials.groups) is not ReadOnly or not all(map(unchangeable, trials.groups.values())):
        groups = {key: group if unchangeable(group) else frozen(group.copy()) for key, group in trials.groups.items()}
        object.__setattr__(trials, "groups", ReadOnly(groups))


def _group_columns(groups: Facts | None) -> JSON:
    """Groups under names that cannot be taken for another column's."""
    if groups is not None and not isinstance(groups, Mapping):
        raise InputError('groups must be a mapping from a name to a column, such as {"speaker": speakers}.')
    return {f"groups[{key!r}]": group for key, group in (groups or {}).items()}
