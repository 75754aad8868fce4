"""Usual reports of classifiers: the classification report, areas for several classes, log-loss as given."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import numpy as np

from tercet._numeric.exact import UNIT, as_integers, exact_dot, exact_sum, ratio
from tercet._numeric.parallel import over_parts
from tercet._numeric.records import Record
from tercet._numeric.validation import chosen, frozen, instance, number, shown
from tercet._typing import Floats
from tercet.errors import InputError, UndefinedError
from tercet.metrics.binomial import Interval, wilson
from tercet.metrics.confusion import Confusion, defined
from tercet.metrics.costs import class_prior
from tercet.metrics.curves import Curve
from tercet.metrics.posteriors import prior_of
from tercet.trials import Trials, as_trials, probability

Average = Literal["macro", "weighted"]
_RATES = ("precision", "recall", "f1")
_AVERAGES = ("macro", "weighted", "micro")
_ROUNDING = 1e-12  # of an llr, or of 1: what the logarithms of sums of exponentials may be off by, and more


class ClassRow(NamedTuple):
    """One class of a classification report; None where a rate does not exist."""

    name: str
    precision: float | None
    precision_ci: Interval | None
    recall: float | None
    recall_ci: Interval | None
    f1: float | None
    support: float


@dataclass(frozen=True, slots=True)
class ClassificationReport(Record):
    """Precision, recall and F1 of every class, their averages, and the numbers about all classes.

    Attributes
    ----------
    classes : tuple of ClassRow
        One row per class, with Wilson intervals of precision and recall.
    averages : dict
        "macro", "weighted" and "micro" averages of each rate; None where a class has none.
    overall : dict
        Accuracy, balanced accuracy, adjusted balanced accuracy, kappa and MCC; None where undefined.
    accuracy_ci : Interval or None
        Wilson interval of the accuracy.
    trials : float
        How many trials, or their weight.
    level : float
        Level of the intervals.
    reasons : dict
        Why a number is None.

    Examples
    --------
    >>> import tercet as tc
    >>> found = tc.classification_report(tc.Confusion.of([1, 0, 1, 1], [1, 0, 0, 1]))
    >>> round(found.classes[1].precision, 4), found.overall["accuracy"]
    (0.6667, 0.75)
    """

    classes: tuple[ClassRow, ...]
    averages: dict[str, dict[str, float | None]]
    overall: dict[str, float | None]
    accuracy_ci: Interval | None
    trials: float
    level: float
    reasons: dict[str, str]

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON.

        Returns
        -------
        dict
            Plain values; None where a number is undefined, and "reasons" says why.
        """
        rows = [
            {key: (list(value[:2]) if isinstance(value, Interval) else value) for key, value in row._asdict().items()}
            for row in self.classes
        ]
        found: dict[str, object] = {"classes": rows, "averages": self.averages, **self.overall, "trials": self.trials}
        if self.accuracy_ci is not None:
            found["accuracy_ci"] = list(self.accuracy_ci[:2])
        return found | {"level": self.level} | ({"reasons": self.reasons} if self.reasons else {})

    def __str__(self) -> str:
        lines = [["", "precision", "recall", "F1", "support"]]
        lines += [
            [shown(row.name)[1:-1], *(_told(getattr(row, name)) for name in _RATES), f"{row.support:g}"]
            for row in self.classes
        ]
        lines += [
            [f"{how} average", *(_told(self.averages[how][name]) for name in _RATES), f"{self.trials:g}"]
            for how in _AVERAGES
        ]
        lines += [[name.replace("_", " "), "", "", _told(value), ""] for name, value in self.overall.items()]
        wide = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
        return "\n".join("  ".join(cell.rjust(width) for cell, width in zip(row, wide, strict=True)) for row in lines)


def classification_report(confusion: Confusion, *, ci: float = 0.95) -> ClassificationReport:
    """Precision, recall and F1 of every class with intervals, their averages and the numbers about all classes.

    Parameters
    ----------
    confusion : Confusion
        Counts of decisions, from `Confusion.of(decisions, labels)` or `confusion_of(trials, application)`.
    ci : float, default 0.95
        Level of the Wilson intervals of precision, recall and accuracy; fractional weights have none.

    Returns
    -------
    ClassificationReport
        Its text is the table; `to_dict` gives plain values.

    Examples
    --------
    >>> report = classification_report(Confusion.of([1, 0, 1, 1], [1, 0, 0, 1]))
    >>> report.classes[1].precision, report.classes[1].recall, report.overall["accuracy"]
    (0.6666666666666666, 1.0, 0.75)
    """
    instance(confusion, Confusion, "confusion", "Make it by Confusion.of(decisions, labels).")
    level, reasons = probability(ci, "ci"), dict[str, str]()

    def known(key: str, compute: Callable[[], float]) -> float | None:
        value, why = defined(compute)
        reasons.update({} if why is None else {key: why})
        return value

    rows = tuple(_class_row(confusion, name, level, known) for name in confusion.classes)
    averages = {
        how: {rate: known(f"{how}.{rate}", lambda rate=rate, how=how: confusion.average(rate, how)) for rate in _RATES}  # type: ignore[misc]
        for how in _AVERAGES
    }
    names = ("accuracy", "balanced_accuracy", "adjusted_balanced_accuracy", "kappa", "mcc")
    overall = {name: known(name, lambda name=name: getattr(confusion, name)) for name in names}  # type: ignore[misc]
    ends = (
        None if overall["accuracy"] is None or confusion.unit < 0 else wilson(*confusion.proportion("accuracy"), level)
    )
    total = math.fsum(map(math.fsum, confusion.matrix))
    return ClassificationReport(rows, averages, overall, ends, total, level, reasons)


def _class_row(confusion: Confusion, name: str, level: float, known: Callable[..., float | None]) -> ClassRow:
    own = confusion.for_target(name)
    values = {rate: known(f"{name}.{rate}", lambda rate=rate: getattr(own, rate)) for rate in _RATES}
    ends = {
        rate: None if values[rate] is None or own.unit < 0 else wilson(*own.proportion(rate), level)
        for rate in ("precision", "recall")
    }
    return ClassRow(
        name, values["precision"], ends["precision"], values["recall"], ends["recall"], values["f1"], own.tp + own.fn
    )


class MulticlassAuc(NamedTuple):
    """An area under the ROC for several classes, and the prior of the posteriors that were ranked.

    Attributes
    ----------
    value : float
        The mean of the parts.
    definition : str
        How classes are compared.
    prior : tuple of float
        The prior of the posteriors that were ranked.
    parts : dict of str to float
        The area of each class or pair of classes.

    Examples
    --------
    >>> import tercet as tc
    >>> rows = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7], [0.4, 0.3, 0.3]]
    >>> found = tc.hand_till_auc(tc.Trials.of_posteriors(rows, [0, 1, 2, 2], trained_prior=[1 / 3, 1 / 3, 1 / 3]))
    >>> found.value, found.parts["1 and 2"]
    (1.0, 1.0)
    """

    value: float
    definition: str
    prior: tuple[float, ...]
    parts: dict[str, float]


def one_vs_rest_auc(trials: Trials, average: Average = "macro", *, prior: object = None) -> MulticlassAuc:
    """The area under the ROC of each class's posterior against the rest, averaged.

    Parameters
    ----------
    trials : Trials
        Labelled trials with one column per class.
    average : {"macro", "weighted"}, default "macro"
        The plain mean over the classes, or weighted by their frequency in the data.
    prior : array_like, optional
        The prior of the posteriors that are ranked: ranks against the rest depend on it. Unless given, the prior that
        the scores were made with, or the class frequencies for log-likelihoods.

    Returns
    -------
    MulticlassAuc
        Value, definition, prior, and the area of each class.

    Examples
    --------
    >>> rows = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7], [0.3, 0.4, 0.3]]
    >>> found = one_vs_rest_auc(Trials.of_posteriors(rows, [0, 1, 2, 2], trained_prior=[1/3, 1/3, 1/3]))
    >>> round(found.value, 4), found.parts
    (1.0, {'0': 1.0, '1': 1.0, '2': 1.0})
    """
    chosen(average, "average", ("macro", "weighted"))
    share = _ranked_prior(trials, prior)
    parts = {name: Curve.of(_against_rest(trials, name, share)).auc for name in trials.classes}
    weights = class_prior(trials) if average == "weighted" else np.full(len(parts), 1.0 / len(parts))
    value = math.fsum(weight * area for weight, area in zip(weights.tolist(), parts.values(), strict=True))
    return MulticlassAuc(value, f"{average} one-vs-rest", tuple(share.tolist()), parts)


def hand_till_auc(trials: Trials, *, prior: object = None) -> MulticlassAuc:
    """Hand and Till's M: the mean over pairs of classes of the AUC between just these two.

    M = 2 / (K (K - 1)) sum_{i < j} (A(i | j) + A(j | i)) / 2, A(i | j) the area of the posterior of class i among the
    trials of classes i and j. Each pair has the same weight, so M does not depend on how frequent the classes are.

    Parameters
    ----------
    trials : Trials
        Labelled trials with one column per class.
    prior : array_like, optional
        The prior of the posteriors that are ranked; as in `one_vs_rest_auc`.

    Returns
    -------
    MulticlassAuc
        Value, definition, prior, and the area of each pair.

    References
    ----------
    Hand and Till (2001), A simple generalisation of the area under the ROC curve for multiple class classification
    problems, doi:10.1023/A:1010920819831.

    Examples
    --------
    >>> rows = [[0.8, 0.1, 0.1], [0.2, 0.7, 0.1], [0.1, 0.2, 0.7], [0.4, 0.3, 0.3]]
    >>> found = hand_till_auc(Trials.of_posteriors(rows, [0, 1, 2, 2], trained_prior=[1/3, 1/3, 1/3]))
    >>> found.value, found.parts["1 and 2"]
    (1.0, 1.0)
    """
    share = _ranked_prior(trials, prior)
    tasks = [_against_rest(trials, name, share) for name in trials.classes]
    labels = trials.known_labels()
    parts = {}
    for i, j in itertools.combinations(range(len(tasks)), 2):
        rows = (labels == i) | (labels == j)
        both = [Curve.of(tasks[place].select(rows)).auc for place in (i, j)]
        parts[f"{trials.classes[i]} and {trials.classes[j]}"] = math.fsum(both) / 2.0
    return MulticlassAuc(math.fsum(parts.values()) / len(parts), "hand-till", tuple(share.tolist()), parts)


def _ranked_prior(trials: Trials, prior: object) -> Floats:
    """The prior of the posteriors to rank: given, else that of the scores, else the class frequencies."""
    if not as_trials(trials).is_matrix:
        raise InputError("This area needs one column of scores per class; of two classes take Curve.of(trials).auc.")
    if prior is not None:
        return prior_of(prior, len(trials.classes))
    return class_prior(trials) if trials.trained_prior is None else np.array(trials.trained_prior)


def _against_rest(trials: Trials, name: str, share: Floats) -> Trials:
    """The scores that rank one class's posterior: as given where they are posteriors at this prior, else llrs."""
    if trials.meaning != "posteriors" or trials.trained_prior != tuple(share.tolist()):
        ranked = trials.versus(name, prior=share.tolist())
        return replace(ranked, scores=frozen(_without_rounding(ranked.scores)))
    place = trials.class_number(name)
    return replace(
        trials, scores=frozen(np.ascontiguousarray(trials.scores[:, place])), meaning="raw", trained_prior=None,
        classes=(f"not {name}", name), labels=frozen(trials.known_labels() == place),
    )  # fmt: skip


def _without_rounding(llrs: Floats) -> Floats:
    """Llrs that differ by rounding alone made one, so that rows of logits that are equal but for a constant tie."""
    distinct, places = np.unique(llrs, return_inverse=True)
    with np.errstate(over="ignore", invalid="ignore"):
        new = np.diff(distinct, prepend=-np.inf) > _ROUNDING * np.clip(np.abs(distinct), 1.0, 1e300)
    new[:1] = True
    return np.asarray(distinct[new][np.cumsum(new) - 1][places])


def log_loss_as_given(trials: Trials, *, base: float = 2.0) -> float:
    """Mean of -log(posterior of the true class) over the rows, with posteriors and class frequencies as given.

    `log_loss` converts the posteriors to a prior and weights the classes by it. This function does neither, like
    scikit-learn's log_loss (which uses base e).

    Parameters
    ----------
    trials : Trials
        Labelled trials whose scores are posteriors: the target's, or one column per class.
    base : float, default 2
        Base of the logarithm: 2 for bits, math.e for nats.

    Returns
    -------
    float
        0 if every answer is right with certainty, inf if a wrong answer is given with certainty.

    Examples
    --------
    >>> log_loss_as_given(Trials.of_posteriors([0.5, 0.75], [1, 0], trained_prior=0.5))
    1.5
    """
    if as_trials(trials).meaning not in ("posterior", "posteriors"):
        raise InputError(f"log-loss as given needs posteriors, not scores that are {trials.meaning}: take log_loss.")
    unit = number(base, "base")
    if not (0.0 < unit < math.inf and unit != 1.0):
        raise InputError(f"base must be positive and not 1, not {unit}.")
    labels, scores = trials.known_labels(), trials.scores
    if len(labels) == 0:
        raise UndefinedError("log-loss is undefined: there are no trials.")
    weights = trials.weights

    def own(rows: slice) -> Floats:
        if not trials.is_matrix:
            return np.where(labels[rows], scores[rows], 1.0 - scores[rows])
        some = scores[rows]
        places = np.arange(0, some.size, some.shape[1])
        places += labels[rows]
        return some.ravel().take(places, mode="clip")  # clipping is faster than checking

    if weights is None:
        return _mean_log(own, len(labels)) / math.log(unit)
    kept = weights > 0.0
    if not kept.any():
        raise UndefinedError("log-loss is undefined: every weight is 0.")
    shares, (integers, _) = own(slice(0, len(labels)))[kept], as_integers(weights[kept])
    if not shares.all():
        return math.inf
    return ratio(exact_dot(-np.log(shares), integers), int(integers.sum()), UNIT) / math.log(unit)


def log_loss_of_ranked(curve: Curve) -> float:
    """The same in bits, of the sorted scores that a curve was made of."""
    tally = curve.tally
    tally._need_every_score("A log-loss as given")
    if tally.meaning != "posterior":
        raise InputError(f"log-loss as given needs posteriors, not scores that are {tally.meaning}: take log_loss.")
    sides = [side.distinct() for side in (tally.nontargets, tally.targets)]
    return log_loss_as_given(Trials.of_posteriors(
        np.concatenate([scores for scores, _ in sides]), np.repeat([0, 1], [len(scores) for scores, _ in sides]),
        weights=np.concatenate([np.diff(running).astype(float) for _, running in sides]),
        trained_prior=tally.trained_prior,
    ))  # fmt: skip


_ROWS = 1 << 16  # at a time, so that they stay in the cache


def _mean_log(own: Callable[[slice], Floats], count: int) -> float:
    """Mean of -ln share over this many rows, exact but for the logs; infinite where a share is 0."""

    def part_sum(part: slice) -> int | None:
        total = 0
        for start in range(part.start, part.stop, _ROWS):
            shares = own(slice(start, min(start + _ROWS, part.stop)))
            if not shares.all():
                return None
            total += exact_sum(shares, lambda some, out, _: np.negative(np.log(some, out=out), out=out))
        return total

    sums = over_parts(part_sum, count)
    finite = [one for one in sums if one is not None]
    return math.inf if len(finite) < len(sums) else ratio(sum(finite), count, UNIT)


def _told(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.3f}"


__all__ = [
    "ClassificationReport", "MulticlassAuc", "classification_report", "hand_till_auc", "log_loss_as_given",
    "one_vs_rest_auc",
]  # fmt: skip
