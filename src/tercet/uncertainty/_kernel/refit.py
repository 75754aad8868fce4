"""Calibration inside the resample: fitted anew on each one, or on each resample of a calibration set of its own.

A model fitted to finite data is itself uncertain. Only if it is fitted again on every resample does the interval of a
cost include that uncertainty.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.records import derived
from tercet._numeric.validation import frozen, id_words, shown
from tercet._typing import Counts, Floats, Reals
from tercet.errors import CalibrationError, InputError
from tercet.metrics.tally import Tally
from tercet.trials import Trials
from tercet.uncertainty._clusters import class_rows, flattened
from tercet.uncertainty._kernel.drawn_runs import RunCounts
from tercet.uncertainty._kernel.draws import Design, Draw, row_weights
from tercet.uncertainty._out_of_fold import PENALTY

Places = NDArray[np.intp]
Extra = Mapping[str, Callable[[Trials], float]]

_OWN_STREAM = 3  # added to the evaluation set's even streams, so that the calibration set's draws differ


class Rows(NamedTuple):
    """Trials with the row numbers of each class."""

    trials: Trials
    places: tuple[Places, ...]

    @classmethod
    def of(cls, trials: Trials, apps: Sequence[object], by: Sequence[str]) -> Rows:
        """Two-class trials as one column of scores."""
        flat = flattened(trials, apps)
        return cls(flat, class_rows(flat, by))

    def weighing(self, weights: Sequence[Counts]) -> Trials:
        """The trials with the weights of a resample."""
        heavy = np.zeros(len(self.trials))
        for places, rows in zip(self.places, weights, strict=True):
            heavy[places] = rows
        return derived(self.trials, weights=frozen(heavy))


Measure = Callable[[Trials], dict[str, Reals]]


class Refitted:
    """A system that is calibrated on each resample, or measured by the caller's functions."""

    def __init__(self, rows: Rows, calibration: Rows | None, fit: Fit | None, measure: Measure, extra: Extra) -> None:
        self.rows, self.calibration, self.fit, self.measure, self.extra = rows, calibration, fit, measure, extra

    def statistics(self, weights: Sequence[Counts]) -> dict[str, Reals]:
        """Gives the trials the weights, calibrates, measures; the calibration set's weights come last."""
        count = len(self.rows.places)
        trials = self.rows.weighing(weights[:count])
        if self.fit is not None:
            trained = trials if self.calibration is None else self.calibration.weighing(weights[count:])
            trials = self.fit(trained)(trials)
        found = self.measure(trials)
        if self.extra:
            rows = repeated(trials)
            found |= {name: np.float64(function(rows)) for name, function in self.extra.items()}
        return found

    def named(self, stacked: dict[str, Floats]) -> dict[str, Floats]:
        """The names are those of the Evaluation already, the caller's own last."""
        return stacked


def repeated(trials: Trials) -> Trials:
    """A resample as repeated rows, for functions that do not use weights."""
    whole = row_weights(trials)
    if whole is None or whole.dtype.kind == "f":
        return trials
    return derived(trials.select(np.repeat(np.arange(len(trials)), whole)), weights=None)


def refitted(
    trials: Trials | Tally, by: tuple[str, ...], apps: Sequence[object], calibration: Trials | None, fit: Fit | None,
    measure: Measure, extra: Extra,
) -> tuple[Design, Refitted]:  # fmt: skip
    """The design and the system of a bootstrap that calibrates inside the resample."""
    if isinstance(trials, Tally) or isinstance(calibration, Tally):
        raise InputError("Calibrating inside the resample needs the Trials, not a Tally.")
    if calibration is not None and fit is None:
        raise InputError("calibration_trials needs calibrate=: the calibrator to fit on them.")
    rows = Rows.of(trials, apps, by)
    design = Design.of(rows.trials, rows.places, by)
    if calibration is None:
        return design, Refitted(rows, None, fit, measure, extra)
    _check_apart(trials, calibration)
    other = Rows.of(calibration, apps, by)
    return _joined(rows, other, design, by), Refitted(rows, other, fit, measure, extra)


class Fit:
    """Fits a calibrator; trials that are separable, or nearly, are fitted with a stated penalty."""

    def __init__(self, calibrator: Any, prior: Any) -> None:
        if isinstance(calibrator, str):
            calibrator = _named(calibrator)
        if not callable(getattr(calibrator, "fit", None)):
            raise InputError(f"calibrate= needs a calibrator with fit, or its name, not {shown(calibrator)}.")
        self._train, self._options = calibrator.fit, {} if prior is None else {"prior": prior}
        self.penalised = list[str]()  # why, once for each resample that needed the penalty

    def __call__(self, trials: Trials) -> Any:
        """The map trained on these trials."""
        try:
            return self._train(trials, **self._options)
        except CalibrationError as error:
            try:
                found = self._train(trials, **self._options, penalty=PENALTY)
            except TypeError:
                raise error from None
            self.penalised.append(str(error))
            return found


def _named(name: str) -> Any:
    """The calibrators that have a name."""
    from tercet.calibration.beta import Beta, Offset
    from tercet.calibration.multiclass import Affine
    from tercet.calibration.two_class import Gaussian, Isotonic, Logistic

    known = {one.__name__.lower(): one for one in (Logistic, Isotonic, Gaussian, Beta, Offset, Affine)}
    if name.lower() not in known:
        raise InputError(f"calibrate={shown(name)} is not among {', '.join(known)}.")
    return known[name.lower()]


def _check_apart(trials: Trials, calibration: Trials) -> None:
    """Refuses two sets that share trials although they are resampled separately."""
    named = trials.ids is not None and calibration.ids is not None
    same = calibration is trials or (not named and _same_rows(trials, calibration))
    if trials.ids is not None and calibration.ids is not None:
        both = np.intersect1d(id_words(trials.ids), id_words(calibration.ids))
        if len(both) and not same:
            raise InputError(
                f"calibration_trials holds {len(both)} trials that are evaluated too, such as {shown(str(both[0]))}: "
                f"two sets can be resampled separately only if they share no trials. Leave them out of one."
            )
    if same:
        raise InputError(
            "calibration_trials are the trials that are evaluated: leave calibration_trials out to fit the "
            "calibrator on each resample itself. If these are different trials with equal scores, give both sets ids."
        )


def _same_rows(trials: Trials, calibration: Trials) -> bool:
    """Whether the sets have the same scores and labels, in any order."""
    if len(trials) != len(calibration) or np.shape(trials.scores) != np.shape(calibration.scores):
        return False
    one, other = (np.column_stack((own.scores, own.known_labels())) for own in (trials, calibration))
    return bool(np.array_equal(one[np.lexsort(one.T)], other[np.lexsort(other.T)]))


def _joined(rows: Rows, other: Rows, design: Design, by: Sequence[str]) -> Design:
    """Both sets drawn in each resample: separately, or group by group where they share groups."""
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
    """An evaluation set and a calibration set, drawn separately; the second's classes follow those of the first."""

    parts: tuple[Design, ...] = ()

    @classmethod
    def joined(cls, first: Design, second: Design) -> TwoSets:
        """Joins two designs."""
        groups = tuple(a + b for a, b in zip(first.groups, second.groups, strict=True))
        counts = tuple(min(a, b) for a, b in zip(first.counts, second.counts, strict=True))
        return cls(
            first.sizes + second.sizes, first.weights + second.weights, groups, counts, None, False, (first, second)
        )

    def draw(self, seed: int, number: int, stream: int = 0) -> Draw:
        """One resample of each set."""
        one, other = (part.draw(seed, number, stream + k * _OWN_STREAM) for k, part in enumerate(self.parts))
        return Draw(one.rows() + other.rows(), one.redrawn + other.redrawn)

    def left_out(self, seed: int) -> Iterator[Iterator[tuple[Counts | RunCounts, ...]]]:
        """The strata of both sets in turn, the other set whole."""
        first, second = self.parts
        before, after = first.base(), second.base()
        return chain(
            ((weights + after for weights in stratum) for stratum in first.left_out(seed)),
            ((before + weights for weights in stratum) for stratum in second.left_out(seed)),
        )
