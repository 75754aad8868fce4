"""Fusion: several systems' scores for the same trials become one calibrated score."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import ClassVar, TypeAlias, cast, overload

import numpy as np

from tercet._numeric.serialization import Model, damaged, read, reals, words
from tercet._numeric.validation import column, frozen, listed, numbers, shown
from tercet._typing import Facts, Floats
from tercet.calibration._designs import both_sides, check_size
from tercet.calibration._linear import HeldRows, Regression, check_finite_matrix
from tercet.calibration.multiclass import Affine
from tercet.calibration.training import HasTrainingData, one_column
from tercet.calibration.two_class import (
    Bounded,
    Calibrator,
    Gaussian,
    Isotonic,
    Logistic,
    Threshold,
    check_meaning,
    non_negative,
)
from tercet.errors import CalibrationError, InputError
from tercet.metrics.pairing import PairBy, paired
from tercet.metrics.posteriors import class_weights, prior_of
from tercet.trials import Trials

_EACH_SYSTEM = ("names", "meanings", "trained_priors")  # lists of one entry per system


@dataclass(frozen=True, slots=True, eq=False)
class Fusion(Model):
    """Linear logistic fusion: one weight per system and one offset per class.

    Two classes: llr = sum_k weight_k x score_k + offset, trained like Logistic; quality measures are additional
    columns. K classes: log-likelihoods = sum_k weight_k x log-likelihoods_k + offsets. Systems that are linear
    combinations of each other get the weights of least norm on the standardised scores, so including a system twice
    does not change the output.

    Attributes
    ----------
    classes : tuple of str
        Class names.
    weights : numpy.ndarray of float
        One weight per system, then one per quality measure.
    offsets : numpy.ndarray of float
        One offset per class; a single one for two classes.
    training : mapping
        What it was trained on: trials, systems with their names and what their scores mean, prior, penalty, how trials
        were matched, iterations.

    Examples
    --------
    >>> a = Trials.of_scores([0., 1., 1., 2., 0., 2.], [0, 1, 0, 1, 1, 0])
    >>> b = Trials.of_scores([0., 1., 1., 2., 2., 0.], [0, 1, 0, 1, 1, 0])
    >>> fused = Fusion.fit([a, b], prior=0.5, penalty=0.1)
    >>> fused.weights.round(2).tolist()    # the first system says nothing
    [0.0, 2.13]
    """

    method = "fusion"
    _parameters: ClassVar = {"classes": words, "weights": reals, "offsets": reals}
    _facts = (
        "trials",
        "systems",
        "quality_measures",
        "prior",
        "penalty",
        "paired_by",
        "gradient_norm",
        "iterations",
        *_EACH_SYSTEM,
    )

    classes: tuple[str, ...]
    weights: Floats
    offsets: Floats
    training: Facts = field(repr=False, hash=False)

    def _check(self) -> None:
        wanted = (1,) if len(self.classes) == 2 else (len(self.classes),)
        training = self._known_training()
        counts = training["systems"], training["quality_measures"]
        if any(not isinstance(count, int) or isinstance(count, bool) or count < 0 for count in counts):
            raise damaged("systems and quality_measures of training must be counts")
        if self.offsets.shape != wanted or len(self.weights) != sum(counts) or counts[0] < 1 or len(self.classes) < 2:
            raise damaged("classes, weights and offsets of a fusion do not fit each other")
        if not (np.isfinite(self.weights).all() and np.isfinite(self.offsets).all()):
            raise damaged("weights and offsets must be finite")
        for name in _EACH_SYSTEM:
            if not isinstance(training[name], list | tuple) or len(training[name]) != counts[0]:
                raise damaged(f"{name} of training must have one entry per system")

    @classmethod
    def fit(
        cls,
        systems: Sequence[Trials],
        prior: object = None,
        *,
        quality: object = None,
        penalty: float = 0.0,
        pair_by: PairBy | None = None,
    ) -> Fusion:
        """Train on the same labelled trials scored by each system.

        Trials are matched by id if they have ids, otherwise by position if labels agree; pair_by="id" or "position"
        forces one of the two.

        Parameters
        ----------
        systems : sequence of Trials
            One per system, of the same trials.
        prior : float or array_like, optional
            The training prior; by default uniform.
        quality : array_like of shape (n, m), optional
            Quality measures, one column each, in the order of the first system's trials (two classes only).
        penalty : float, default 0.0
            Factor of half the squared norm of the weights on standardised scores.
        pair_by : {"id", "position"}, optional
            How trials are matched; by id where they have ids, else by position if labels agree.

        Returns
        -------
        Fusion
            The trained fusion.
        """
        _refuse_scans(systems)
        pairing = paired(systems, by=pair_by)
        single = [_as_fused(one) for one in pairing.systems]
        first, scores = single[0], [_columns_of(one) for one in single]
        further = quality_columns(quality, len(first), first.is_matrix)
        count = len(first.classes)
        share = prior_of(np.full(count, 1.0 / count) if prior is None else prior, count)
        labels, xi = class_weights(first, share)
        columns = [*scores, *(both_sides(measure) for measure in further.T)]
        for place, scored in enumerate(columns):
            check_finite_matrix(scored, f"Fusion (column {place})")
        check_size(len(columns) + count - 1, "fuse fewer systems, or fewer classes")
        ridge = non_negative(penalty, "penalty")
        rows = HeldRows.of(columns, "offsets", labels, xi, np.log(share))
        found = Regression(rows, ridge, "Fusion").solve()
        weights, offsets = rows.design.back(found.parameters)
        facts = {
            "trials": len(first),
            "systems": len(scores),
            "quality_measures": further.shape[1],
            "prior": share.tolist(),
            "penalty": ridge,
            "paired_by": pairing.by,
            "gradient_norm": found.gradient_norm,
            "iterations": found.iterations,
            "names": [one.name for one in pairing.systems],
            "meanings": [one.meaning for one in single],
            "trained_priors": [one.trained_prior for one in single],
        }
        constants = offsets if first.is_matrix else offsets[1:] - offsets[:1]
        return cls(first.classes, frozen(weights), frozen(constants), facts)

    @overload
    def __call__(  # type: ignore[overload-overlap]
        self, systems: Sequence[Trials], *, quality: object = None, pair_by: PairBy | None = None
    ) -> Trials: ...
    @overload
    def __call__(self, systems: object, *, quality: object = None, pair_by: PairBy | None = None) -> Floats: ...
    def __call__(self, systems: object, *, quality: object = None, pair_by: PairBy | None = None) -> Trials | Floats:
        """The fused score: Trials in the order of the first system's, or an array from arrays.

        Trials whose names or meanings show that they are not the systems of the training in its order are refused.
        """
        columns = listed(systems, "systems")
        self._check_count(len(columns))
        if not all(isinstance(one, Trials) for one in columns):
            arrays = [numbers(one, "scores", ndim=min(len(self.offsets), 2)) for one in columns]
            if len({array.shape for array in arrays}) > 1:
                raise InputError(f"The systems' scores differ in shape: {', '.join(str(a.shape) for a in arrays)}.")
            return self._fused(arrays, quality)
        trials = paired(columns, by=pair_by).systems
        self._check_order([one.name for one in trials])
        single = [_as_fused(one) for one in trials]
        for one, *trained in zip(single, self.training["meanings"], self.training["trained_priors"], strict=True):
            check_meaning(one, dict(zip(("meaning", "trained_prior"), trained, strict=True)))
        meaning = "log-likelihoods" if single[0].is_matrix else "llr"
        fused = frozen(self._fused([one.scores for one in single], quality))
        return replace(single[0], scores=fused, meaning=meaning, trained_prior=None, name=_joined_names(trials))

    def _check_order(self, names: list[str | None]) -> None:
        """Refuses systems in another order than that of the training, as far as their names tell."""
        trained = self.training["names"]
        if len(set(trained)) < len(trained) or len(set(names)) < len(names):
            return
        for place, name in enumerate(names):
            if name is not None and name in trained and trained[place] != name:
                raise InputError(
                    f"This fusion was trained on {', '.join(map(shown, trained))} and got "
                    f"{', '.join(map(shown, names))}: give the systems in the order of the training."
                )

    def _check_count(self, given: int) -> None:
        if given != self.training["systems"]:
            raise InputError(
                f"This fusion was trained on {self.training['systems']} systems and got {given}: give one list of "
                f"scores per system, in the order of the training."
            )

    def _fused(self, scores: list[Floats], quality: object) -> Floats:
        further = quality_columns(quality, len(scores[0]), scores[0].ndim == 2)
        if further.shape[1] != self.training["quality_measures"]:
            raise InputError(
                f"This fusion was trained with {self.training['quality_measures']} quality measures and got "
                f"{further.shape[1]}: give one column per measure (quality=...)."
            )
        count = scores[0].shape[1] if scores[0].ndim == 2 else 2
        if count != len(self.classes):
            raise InputError(f"This fusion has {len(self.classes)} classes, the scores have {count}.")
        total = np.zeros(scores[0].shape) + (self.offsets if scores[0].ndim == 2 else self.offsets[0])
        with np.errstate(invalid="ignore", over="ignore"):
            for weight, one in zip(self.weights.tolist(), [*scores, *further.T], strict=True):
                total += weight * one if weight != 0.0 else 0.0
        if np.isnan(total).any():
            row = int(np.flatnonzero(np.isnan(total).reshape(len(total), -1).any(axis=1))[0])
            raise InputError(f"Row {row} holds infinite scores that contradict each other: leave the row out.")
        return total


Saved: TypeAlias = Calibrator | Threshold | Affine | Fusion  # what `load_model` reads


def load_model(text: str | bytes) -> Saved:
    """Read any saved model from its JSON text: calibrators, multiclass maps and fusions.

    Parameters
    ----------
    text : str or bytes
        What `to_json` wrote.

    Returns
    -------
    Model
        The model, of the class that wrote it.

    Examples
    --------
    >>> from tercet.calibration.two_class import Gaussian
    >>> pair = Gaussian.fit(Trials.of_scores([-2.0, 0.0, 0.0, 2.0], [0, 0, 1, 1]))
    >>> load_model(pair.to_json())([1.0]).tolist()
    [2.0]
    """
    from tercet.calibration.beta import Beta, Offset
    from tercet.calibration.kernel_density import KernelDensity

    every = (Logistic, Isotonic, Gaussian, Beta, Offset, KernelDensity, Threshold, Affine, Fusion, Bounded)
    models = {m.method: m for m in every}
    method = read(text)["method"]
    if not isinstance(method, str) or method not in models:
        raise InputError(f"The saved model's method {shown(method)} is not one of {', '.join(models)}.")
    return cast("Saved", models[method].from_json(text))


def _refuse_scans(systems: object) -> None:
    if isinstance(systems, list | tuple) and any(isinstance(one, HasTrainingData) for one in systems):
        raise InputError(
            "A fusion cannot be trained on scans: it matches the trials of all systems row by row, which takes them in "
            "memory. Read them, or a sample of trials with the same ids."
        )


def _as_fused(trials: Trials) -> Trials:
    """Trials as a fusion takes them: llrs, raw scores and the like as they are, several classes as log-likelihoods."""
    if len(trials.classes) == 2:
        return one_column(trials)
    return replace(trials, scores=trials.log_likelihoods, meaning="log-likelihoods", trained_prior=None)


def _columns_of(trials: Trials) -> Floats:
    return trials.scores if trials.is_matrix else both_sides(trials.scores)


def _joined_names(systems: Sequence[Trials]) -> str | None:
    """The name of fused trials: those of the systems, if all have one."""
    names = [one.name for one in systems if one.name is not None]
    return " + ".join(names) if len(names) == len(systems) else None


def quality_columns(quality: object, rows: int, is_matrix: bool) -> Floats:
    """Quality measures as one finite column each; none give no column."""
    if quality is None:
        return np.empty((rows, 0))
    if is_matrix:
        raise InputError("Quality measures are for two-class scores only: leave them out with more classes.")
    columns = numbers(quality, "quality", ndim=min(column(quality, "quality").ndim, 2) or 1)
    columns = columns.reshape(len(columns), columns.size // max(len(columns), 1))
    if len(columns) != rows:
        raise InputError(f"quality has {len(columns)} rows for {rows} trials.")
    if not np.isfinite(columns).all():
        raise CalibrationError("quality must be finite: fill in the missing values, or leave these trials out.")
    return columns


__all__ = ["Fusion", "load_model"]
