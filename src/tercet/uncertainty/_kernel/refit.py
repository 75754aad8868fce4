"""Calibration inside the resample: fitted anew on each one, or on each resample of a calibration set of its own.

What is fitted on finite data is itself uncertain. Only when it is fitted again on every resample does the interval of a
cost hold that uncertainty too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import Counts
from tercet._numeric.validation import frozen, shown
from tercet._typing import Floats
from tercet.errors import InputError
from tercet.evaluation import Evaluation, evaluate
from tercet.metrics.curves import Curve
from tercet.metrics.tally import Tally
from tercet.trials import Trials
from tercet.uncertainty._kernel.draws import Design, Draw
from tercet.uncertainty._rows import class_rows, one_column, several

Places = NDArray[np.intp]
Extra = Mapping[str, Callable[[Trials], float]]

_OWN_STREAM = 3  # added to the evaluation set's even streams, so that the calibration set's draws are others


class Asked(NamedTuple):
    """What is computed of each resample: applications, the Bayes error plot's grid, bands, the caller's functions."""

    apps: Sequence[Any]
    plot: tuple[float, float, int] | None
    eer: str
    roc: Floats
    bins: Floats
    extra: Extra


class Rows(NamedTuple):
    """Trials with the row numbers of each class."""

    trials: Trials
    places: tuple[Places, ...]

    @classmethod
    def of(cls, trials: Trials, apps: Sequence[object], by: Sequence[str]) -> Rows:
        """Two-class trials as one column of scores."""
        flat = trials if several(trials, apps) else one_column(trials)
        return cls(flat, class_rows(flat, by))

    def weighing(self, weights: Sequence[Counts]) -> Trials:
        """The trials with the weights of a resample."""
        heavy = np.zeros(len(self.trials))
        for places, rows in zip(self.places, weights, strict=True):
            heavy[places] = rows
        return replace(self.trials, weights=frozen(heavy))


class Refitted:
    """A system that is calibrated on each resample, or asked by functions of the caller: evaluated as a whole."""

    def __init__(self, rows: Rows, calibration: Rows | None, fit: Any, asked: Asked) -> None:
        self.rows, self.calibration, self.fit, self.asked = rows, calibration, fit, asked
        self.names = dict[str, int]()

    def statistics(self, weights: Sequence[Counts]) -> Floats:
        """Gives the trials the weights, calibrates, evaluates; the calibration set's weights come last."""
        count = len(self.rows.places)
        trials = self.rows.weighing(weights[:count])
        if self.fit is not None:
            trained = trials if self.calibration is None else self.calibration.weighing(weights[count:])
            trials = self.fit(trained)(trials)
        found = _numbers(trials, self.asked)
        found |= {name: np.atleast_1d(np.float64(function(trials))) for name, function in self.asked.extra.items()}
        self.names = {name: len(values) for name, values in found.items()}
        return np.concatenate(list(found.values()))

    def named(self, raw: Floats) -> dict[str, Floats]:
        """The columns by the names of the Evaluation, the caller's own last."""
        found, used = {}, 0
        for name, count in self.names.items():
            columns = raw[:, used : used + count]
            is_curve = name.startswith(("bayes_plot", "roc.", "bins.")) or name.endswith("contributions")
            found[name] = columns if is_curve else columns[:, 0]
            used += count
        return found


def refitted(
    trials: Trials | Tally, by: tuple[str, ...], calibrator: Any, calibration: Trials | None, prior: Any, asked: Asked
) -> tuple[Design, Refitted]:
    """The design and the system of a bootstrap that calibrates inside the resample."""
    if isinstance(trials, Tally) or isinstance(calibration, Tally):
        raise InputError("Calibrating inside the resample needs the Trials, not a Tally.")
    if calibration is not None and calibrator is None:
        raise InputError("calibration_trials needs calibrate=: the calibrator to fit on them.")
    rows = Rows.of(trials, asked.apps, by)
    design = Design.of(rows.trials, rows.places, by)
    fit = None if calibrator is None else fitting(calibrator, prior)
    if calibration is None:
        return design, Refitted(rows, None, fit, asked)
    _check_apart(trials, calibration)
    other = Rows.of(calibration, asked.apps, by)
    return _joined(rows, other, design, by), Refitted(rows, other, fit, asked)


def fitting(calibrator: Any, prior: Any) -> Callable[[Trials], Any]:
    """How a calibrator, or the one of this name, is fitted: with its own default prior unless one is given."""
    if isinstance(calibrator, str):
        calibrator = _named(calibrator)
    if not callable(getattr(calibrator, "fit", None)):
        raise InputError(f"calibrate= needs a calibrator with fit, or its name, not {shown(calibrator)}.")
    return calibrator.fit if prior is None else lambda trials: calibrator.fit(trials, prior=prior)


def _named(name: str) -> Any:
    """The calibrators that have a name."""
    from tercet.calibration.multiclass import Affine
    from tercet.calibration.two_class import Gaussian, Isotonic, Logistic

    known = {one.__name__.lower(): one for one in (Logistic, Isotonic, Gaussian, Affine)}
    if name.lower() not in known:
        raise InputError(f"calibrate={shown(name)} is not among {', '.join(known)}.")
    return known[name.lower()]


def _check_apart(trials: Trials, calibration: Trials) -> None:
    """Resampled by themselves, two sets must not hold the same trials."""
    named = trials.ids is not None and calibration.ids is not None
    same = calibration is trials or (not named and _same_rows(trials, calibration))
    if trials.ids is not None and calibration.ids is not None:
        both = np.intersect1d(trials.ids.astype(str), calibration.ids.astype(str))
        if len(both) and not same:
            raise InputError(
                f"calibration_trials holds {len(both)} trials that are evaluated too, such as {shown(str(both[0]))}: "
                f"two sets are resampled by themselves only if they share none. Leave them out of one."
            )
    if same:
        raise InputError(
            "calibration_trials are the very trials that are evaluated: leave calibration_trials out to fit the "
            "calibrator on each resample itself. If equal scores are of other trials, give both sets ids."
        )


def _same_rows(trials: Trials, calibration: Trials) -> bool:
    """Whether the sets have the same scores and labels, in any order."""
    if len(trials) != len(calibration) or np.shape(trials.scores) != np.shape(calibration.scores):
        return False
    one, other = (np.column_stack((own.scores, own.known_labels())) for own in (trials, calibration))
    return bool(np.array_equal(one[np.lexsort(one.T)], other[np.lexsort(other.T)]))


def _joined(rows: Rows, other: Rows, design: Design, by: Sequence[str]) -> Design:
    """Both sets drawn in each resample: by themselves, or group by group where they share groups."""
    second = Design.of(other.trials, other.places, by)
    names = [(one.trials.groups[name].astype(str) for one in (rows, other)) for name in by]
    columns = [np.unique(np.concatenate(list(both)), return_inverse=True)[1] for both in names]
    cut = len(rows.trials)
    if not any(np.intersect1d(codes[:cut], codes[cut:]).size for codes in columns):
        return TwoSets.joined(design, second)
    groups = tuple(
        tuple(part[places] for part, one in ((codes[:cut], rows), (codes[cut:], other)) for places in one.places)
        for codes in columns
    )
    counts = tuple(int(codes.max()) + 1 for codes in columns)
    return Design(design.sizes + second.sizes, design.weights + second.weights, groups, counts)


@dataclass(frozen=True, slots=True, eq=False)
class TwoSets(Design):
    """An evaluation and a calibration set, each drawn by itself; the second's classes follow those of the first."""

    parts: tuple[Design, ...] = ()

    @classmethod
    def joined(cls, first: Design, second: Design) -> TwoSets:
        """Joins two designs."""
        groups = tuple(a + b for a, b in zip(first.groups, second.groups, strict=True))
        counts = tuple(min(a, b) for a, b in zip(first.counts, second.counts, strict=True))
        return cls(first.sizes + second.sizes, first.weights + second.weights, groups, counts, (), (first, second))

    def draw(self, seed: int, number: int, stream: int = 0) -> Draw:
        """One resample of each set."""
        one, other = (part.draw(seed, number, stream + k * _OWN_STREAM) for k, part in enumerate(self.parts))
        return Draw(one.rows() + other.rows(), one.redrawn + other.redrawn)

    def left_out(self, seed: int) -> Iterator[Iterator[tuple[Counts, ...]]]:
        """The strata of both sets in turn, the other set whole."""
        first, second = self.parts
        before, after = first.base(), second.base()
        return chain(
            ((weights + after for weights in stratum) for stratum in first.left_out(seed)),
            ((before + weights for weights in stratum) for stratum in second.left_out(seed)),
        )


def _numbers(trials: Trials, asked: Asked) -> dict[str, Floats]:
    """Every number of an evaluation that exists, by its name in the JSON, and the bands' points."""
    evaluation = evaluate(trials, asked.apps, bayes_plot=asked.plot or (-1.0, 1.0, 2), eer=asked.eer)
    tops = ("auc", "cllr", "min_cllr", "accuracy", "log_loss", "normalised_cross_entropy", "brier")
    found: dict[str, Any] = {name: getattr(evaluation, name, None) for name in tops}
    if isinstance(evaluation, Evaluation):
        found["eer"] = evaluation.eer.value
        if asked.plot is not None:
            found |= {f"bayes_plot.{name}": getattr(evaluation.bayes_plot, name) for name in ("dcf", "min_dcf")}
        found |= _band_points(trials, evaluation.curve, asked)
    inner = ("fnr", "fpr", "dcf_u", "dcf", "min_dcf", "min_dcf_u", "calibration_loss", "risk", "contributions")
    for k, row in enumerate(evaluation.applications):
        found |= {f"applications.{k}.{name}": getattr(row, name, None) for name in inner}
    return {name: np.atleast_1d(np.asarray(v, np.float64)) for name, v in found.items() if v is not None}


def _band_points(trials: Trials, curve: Curve, asked: Asked) -> dict[str, Floats]:
    """The least miss rate at each false-alarm rate, and the shares of both classes in the bins of the llr."""
    found: dict[str, Floats] = {}
    if len(asked.roc):
        lowest = np.searchsorted(0.0 - curve.fpr, 0.0 - asked.roc * (1.0 + 1e-12))  # threshold that keeps the rate
        found["roc.fnr"] = curve.fnr[lowest]
    if len(asked.bins) and trials.meaning != "raw":
        heavy = np.ones(len(trials)) if trials.weights is None else trials.weights
        place, target = np.searchsorted(asked.bins, trials.llr), trials.known_labels().astype(np.bool_)
        for name, own in (("bins.targets", target), ("bins.nontargets", ~target)):
            sums = np.bincount(place[own], heavy[own], len(asked.bins) + 1)
            found[name] = sums / sums.sum()
    return found
