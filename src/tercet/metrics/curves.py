"""Curve: how misses and false alarms trade as the threshold moves; its convex hull is the PAV algorithm."""

from __future__ import annotations

import itertools
import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import UNIT, exact_dot, exact_sum, log_ratio, quotients, ratio, shifted
from tercet._numeric.order import ranks_and_ties, sorted_ranks
from tercet._numeric.parallel import over_parts
from tercet._numeric.records import Record, computed
from tercet._numeric.validation import chosen, frozen, listed, mapping, number, numbers, shown
from tercet._numeric.wide import INT64_BITS, Column, Wide, steps_of, take, whole_dot
from tercet._typing import Array, Counts, EerDefinition, Floats
from tercet.application import Application, normalised_dcf
from tercet.errors import InputError, UndefinedError
from tercet.metrics.confusion import Confusion
from tercet.metrics.tally import Ranked, Tally
from tercet.trials import Trials

_SAMPLE = 64  # every 64th point gives a hull that most others lie above
_FEW = 32  # up to this many points, a loop is faster than comparing arrays
_NEIGHBOURS = np.array([-1, 0, 1])
EER_DEFINITIONS: tuple[EerDefinition, ...] = ("rocch", "interpolated", "nearest")


class Eer(NamedTuple):
    """An equal error rate, the rate at which misses and false alarms are equally frequent.

    Attributes
    ----------
    value : float
        The rate, 0 to 1.
    threshold : float
        The threshold at the crossing, or the next lower one where it lies between two.
    definition : str
        "rocch", "interpolated" or "nearest"; the three differ, so the name belongs beside the number.
    randomisation : float
        The probability with which the next higher threshold of the hull or curve is used instead, to reach the rate.

    Examples
    --------
    >>> from tercet import Trials
    >>> Curve.of(Trials.of_llr([3., 1., 0., -2.], [1, 0, 1, 0])).eer().value
    0.25
    """

    value: float
    threshold: float
    definition: str
    randomisation: float = 0.0


class Minimum(NamedTuple):
    """The least normalised cost over all thresholds.

    Attributes
    ----------
    dcf : float
        The minimum DCF, at most 1.
    threshold : float
        The lowest threshold that reaches it; -inf for accepting everything.
    misses, false_alarms : number
        The errors there, in the caller's weights.

    Examples
    --------
    >>> from tercet import Trials
    >>> Curve.of(Trials.of_llr([3., 1., 0., -2.], [1, 0, 1, 0])).min_dcf(0.5).dcf
    0.5
    """

    dcf: float
    threshold: float
    misses: int | float
    false_alarms: int | float


@dataclass(frozen=True, eq=False, repr=False)
class Curve(Record):
    """Errors when exactly the scores > threshold are accepted.

    Points ascend by threshold: first accepting everything (its threshold is written -inf, and it accepts even
    -inf), then one point per distinct score. Tied scores are one point. Counts are in the tally's unit.

    Parameters
    ----------
    tally : Tally
        The sorted scores of both classes; `Curve.of` makes it from trials.

    Examples
    --------
    >>> from tercet import Trials
    >>> curve = Curve.of(Tally.of(Trials.of_llr([3., 1., 0., -2.], [1, 0, 1, 0])))
    >>> curve.auc, curve.eer().value
    (0.75, 0.25)
    """

    tally: Tally

    @classmethod
    def of(cls, source: Curve | Tally | Trials) -> Curve:
        """The curve of trials, or of their tally, that hold both classes.

        Parameters
        ----------
        source : Trials, Tally or Curve
            Labelled two-class trials, their tally, or a curve, which is returned as it is.

        Returns
        -------
        Curve
            Only the scores are sorted at this point; the points and the hull are computed when they are first needed.

        Raises
        ------
        UndefinedError
            If a class has no trials.
        """
        if isinstance(source, Curve):
            return source
        tally = Tally.of(source)
        for side, called in ((tally.targets, "targets"), (tally.nontargets, "non-targets")):
            if side.total == 0:
                raise UndefinedError(f"There is no curve, EER, AUC or cost: there are no {called} among the trials.")
        return computed(cls, tally=tally)

    def __repr__(self) -> str:
        return f"Curve: {self.tally.weight(self.targets)} targets, {self.tally.weight(self.nontargets)} non-targets"

    @property
    def targets(self) -> int:
        """All targets."""
        return self.tally.targets.total

    @property
    def nontargets(self) -> int:
        """All non-targets."""
        return self.tally.nontargets.total

    @cached_property
    def _points(self) -> tuple[Floats, Counts, Counts]:
        thresholds, misses, rejected = self._meeting.points()
        return frozen(thresholds), frozen(misses), frozen(self.nontargets - rejected)

    @property
    def thresholds(self) -> Floats:
        """-inf for accepting everything, then the distinct scores."""
        return self._points[0]

    @property
    def misses(self) -> Counts:
        """Targets rejected at each point."""
        return self._points[1]

    @property
    def false_alarms(self) -> Counts:
        """Non-targets accepted at each point."""
        return self._points[2]

    @property
    def fnr(self) -> Floats:
        """Miss rate at each point."""
        return quotients(self.misses, self.targets)

    @property
    def tpr(self) -> Floats:
        """Detection rate at each point."""
        return quotients(self.targets - self.misses, self.targets)

    @property
    def fpr(self) -> Floats:
        """False-alarm rate at each point."""
        return quotients(self.false_alarms, self.nontargets)

    @property
    def tnr(self) -> Floats:
        """Correct-rejection rate at each point."""
        return quotients(self.nontargets - self.false_alarms, self.nontargets)

    def det(self) -> tuple[Floats, Floats]:
        """The detection error trade-off: the probits of the error rates, point by point.

        Returns
        -------
        fpr, fnr : ndarray of float
            The normal quantiles of FPR and FNR, in the order of `thresholds`; rates of 0 and 1 lie at -inf and inf.

        References
        ----------
        Martin, Doddington, Kamm, Ordowski and Przybocki (1997), The DET curve in assessment of detection task
        performance, Eurospeech.

        Examples
        --------
        >>> from tercet import Trials
        >>> Curve.of(Trials.of_llr([3., 1., 0., -2.], [1, 0, 1, 0])).det()[0].tolist()
        [inf, 0.0, 0.0, -inf, -inf]
        """
        return _probits(self.false_alarms, self.nontargets), _probits(self.misses, self.targets)

    def precision_recall(self) -> tuple[Floats, Floats]:
        """Precision and recall at each point that accepts something: rejecting everything has no precision.

        Returns
        -------
        precision, recall : ndarray of float
            One entry per point but the last, thresholds ascending.

        Examples
        --------
        >>> from tercet import Trials
        >>> precision, recall = Curve.of(Trials.of_llr([3., 1., 0., -2.], [1, 0, 1, 0])).precision_recall()
        >>> precision.tolist()[1], recall.tolist()[-1]
        (0.6666666666666666, 0.5)
        """
        hits = (self.targets - self.misses)[:-1]
        accepted = hits + self.false_alarms[:-1]
        return quotients(hits, accepted), quotients(hits, self.targets)

    @cached_property
    def _meeting(self) -> _Meeting:
        return _Meeting.of(self.tally.targets, self.tally.nontargets)

    @property
    def auc(self) -> float:
        """The Mann-Whitney statistic: how often a target scores above a non-target, ties counting one half."""
        low, high = self.auc_bracket
        if low < high:
            raise InputError(f"The AUC is only known to lie between {low!r} and {high!r}: raise memory_limit.")
        return low

    @property
    def auc_bracket(self) -> tuple[float, float]:
        """Lower and upper bound of the AUC; they are equal unless the trials were scanned in bounded memory."""
        wins, pairs = self._meeting.half_wins(), 2 * self.targets * self.nontargets
        unknown = 0 if self.tally.gaps is None else self.tally.gaps.pairs
        return ratio(wins - unknown, pairs), ratio(wins + unknown, pairs)

    @cached_property
    def hull(self) -> Hull:
        """The ROC convex hull, strict vertices only: its segments are the blocks of isotonic regression."""
        misses, rejected = self._meeting.corners()
        kept = convex_vertices(rejected, misses, self.targets * self.nontargets)
        misses, rejected = misses[kept], rejected[kept]
        thresholds = np.maximum(self.tally.targets.highest(misses), self.tally.nontargets.highest(rejected))
        alarms = self.nontargets - rejected
        return computed(
            Hull, thresholds=frozen(thresholds), misses=frozen(misses), false_alarms=frozen(alarms),
            targets=self.targets, nontargets=self.nontargets,
        )  # fmt: skip

    @property
    def hull_auc(self) -> float:
        """The area under the hull: what randomising between thresholds could reach."""
        return self.hull.area

    def eer(self, definition: EerDefinition = "rocch") -> Eer:
        """The equal error rate, where FPR = FNR.

        Parameters
        ----------
        definition : {"rocch", "interpolated", "nearest"}
            On the ROC convex hull; on the segments of the curve itself; or the mean of the two rates where they are
            closest, at the lowest such threshold.

        Returns
        -------
        Eer
            The rate with its threshold and the name of the definition.

        References
        ----------
        Brümmer and de Villiers (2013), The BOSARIS Toolkit: theory, algorithms and code, arXiv:1304.2865 ("rocch").

        Examples
        --------
        >>> from tercet import Trials
        >>> curve = Curve.of(Trials.of_llr([3., 1., 0., -2.], [1, 0, 1, 0]))
        >>> curve.eer().value, curve.eer("nearest").value
        (0.25, 0.5)
        """
        chosen(definition, "definition", EER_DEFINITIONS)
        if definition == "rocch":
            return _crossing(self.hull.thresholds, self.hull.misses, self.hull.false_alarms, self, definition)
        if definition in EER_DEFINITIONS and self.tally.gaps is not None:
            self._check_crossing(self.tally.gaps.next)
        if definition == "interpolated":
            return _crossing(*self._around_crossing(), self, definition)
        if definition == "nearest":
            return self._nearest()
        raise InputError(f"An EER is {', '.join(EER_DEFINITIONS)}, not {shown(definition)}.")

    def _around_crossing(self) -> tuple[Floats, Counts, Counts]:
        """The last point with FNR < FPR and the one after it (thresholds, misses, false alarms), found by halving."""
        sides = (self.tally.targets, self.tally.nontargets)

        def crossed(threshold: float) -> bool:
            rejected = self.nontargets - int(self.tally.nontargets.upto(threshold))
            return int(self.tally.targets.upto(threshold)) * self.nontargets >= rejected * self.targets

        found = [bisect_left(side.scores, True, key=crossed) for side in sides]
        after = min(
            float(side.scores[place]) for side, place in zip(sides, found, strict=True) if place < len(side.scores)
        )
        before = [side.scores[: np.searchsorted(side.scores, after)][-1:] for side in sides]
        thresholds = np.append(np.max(np.concatenate(before), initial=-math.inf), after)
        misses, rejected = (side.upto(thresholds) for side in sides)
        if not any(map(len, before)):  # accepting everything, -inf too
            misses[0] = rejected[0] = 0
        return thresholds, misses, self.nontargets - rejected

    def _check_crossing(self, following: Floats) -> None:
        """Refuses an EER of the curve's own segments where rows are hidden in the one that crosses FPR = FNR."""
        misses, alarms = self._scaled_errors(self.misses, self.false_alarms)
        place = max(int(np.searchsorted(misses - alarms, 0)), 1)
        if following[place - 1] < self.thresholds[place]:
            self.tally._need_every_score("An EER of another definition than the one that was asked for")

    def _nearest(self) -> Eer:
        thresholds, misses, alarms = self._around_crossing()
        scaled_misses, scaled_alarms = self._scaled_errors(misses, alarms)
        place = int(np.abs(scaled_misses - scaled_alarms).argmin())
        value = ratio(int(scaled_misses[place]) + int(scaled_alarms[place]), 2 * self.targets * self.nontargets)
        return Eer(value, float(thresholds[place]), "nearest")

    def _scaled_errors(self, misses: Counts, alarms: Counts) -> tuple[Counts, Counts]:
        """Both error counts over the common denominator targets x nontargets."""
        wide = _wide(self.targets * self.nontargets, misses, alarms)
        return wide[0] * self.nontargets, wide[1] * self.targets

    def min_dcf(self, application: object) -> Minimum:
        """The least normalised DCF over all thresholds for one operating point.

        Parameters
        ----------
        application : Application, (prior, cost_fn, cost_fp), prior or name
            The prior of the target and the costs of a miss and of a false alarm.

        Returns
        -------
        Minimum
            The cost, at most 1, with the lowest threshold that reaches it and the errors there.

        Examples
        --------
        >>> from tercet import Trials
        >>> curve = Curve.of(Trials.of_llr([3., 1., 0., -2.], [1, 0, 1, 0]))
        >>> curve.min_dcf((0.5, 1, 1)).dcf
        0.5
        """
        app = Application.of(application)
        app.check_normaliser()
        found = self.hull.minimum(np.array([app.log_odds]), np.array([app.factor]))
        least, threshold, misses, alarms = found
        weight = self.tally.weight
        return Minimum(least.item(), threshold.item(), weight(misses.item()), weight(alarms.item()))

    def confusion(self, threshold: float) -> Confusion:
        """The confusion matrix when exactly the scores > threshold are accepted.

        Parameters
        ----------
        threshold : float
            Scores above it are accepted.

        Returns
        -------
        Confusion
            The table; the target is class 1.

        Examples
        --------
        >>> from tercet import Trials
        >>> Curve.of(Tally.of(Trials.of_llr([3., 1., 0., -2.], [1, 0, 1, 0]))).confusion(0.5).matrix
        [[1, 1], [1, 1]]
        """
        misses, alarms = (int(count) for count in self.tally.at(number(threshold, "threshold")))
        cells = np.array([self.nontargets - alarms, misses, alarms, self.targets - misses], np.object_)
        names = ("nontarget", "target")
        return Confusion._made(shifted(cells, 0).reshape(2, 2), names, names, "target", self.tally.unit)

    def partial_auc(self, *, fpr: tuple[float, float] | None = None, tpr: tuple[float, float] | None = None) -> float:
        """The area under a part of the ROC.

        It is not divided by the width: a perfect system reaches the width of the range.

        Parameters
        ----------
        fpr : tuple of float, optional
            Two false-alarm rates: the area under the curve between them.
        tpr : tuple of float, optional
            Two true positive rates: the area to the right of the curve between them.

        Returns
        -------
        float
            The area.

        Examples
        --------
        >>> from tercet import Trials
        >>> Curve.of(Tally.of(Trials.of_llr([3.0, 1.0, 0.0, -2.0], [1, 0, 1, 0]))).partial_auc(fpr=(0.0, 0.5))
        0.25
        """
        if (fpr is None) == (tpr is None):
            raise InputError("partial_auc takes a range of either fpr or tpr.")
        self.tally._need_every_score("A partial AUC")
        if fpr is not None:
            return _area(self.fpr[::-1], self.tpr[::-1], fpr, "fpr")
        assert tpr is not None
        return _area(self.tpr[::-1], self.tnr[::-1], tpr, "tpr")

    def corrected_partial_auc(self, fpr: tuple[float, float]) -> float:
        """McClish's correction of the partial AUC: 1/2 for scores that say nothing, 1 for a perfect system.

        (1 + (A - a) / (b - a)) / 2, A the partial AUC, a that of chance and b the width of the range.

        Parameters
        ----------
        fpr : tuple of float
            The range of false-alarm rates.

        Returns
        -------
        float
            At most 1; below 1/2 where the system is worse than chance in the range.

        References
        ----------
        McClish (1989), Analyzing a portion of the ROC curve, doi:10.1177/0272989X8900900307.

        Examples
        --------
        >>> from tercet import Trials
        >>> Curve.of(Tally.of(Trials.of_llr([3., 1., 0., -2.], [1, 0, 1, 0]))).corrected_partial_auc((0.0, 0.5))
        0.6666666666666666
        """
        area, (low, high) = self.partial_auc(fpr=fpr), fpr
        chance, width = (high * high - low * low) / 2.0, high - low
        return (1.0 + (area - chance) / (width - chance)) / 2.0

    @property
    def break_even(self) -> float:
        """Precision-recall break-even: both rates when as many trials are accepted as there are targets, ties averaged.

        >>> from tercet import Trials
        >>> Curve.of(Tally.of(Trials.of_llr([3., 1., 0., -2.], [1, 0, 1, 0]))).break_even
        0.5
        """
        return self.precision_at(self.tally.weight(self.targets))

    @property
    def average_precision(self) -> float:
        """Average precision: the mean over the targets of the precision at their score, ties pooled."""
        self.tally._need_every_score("The average precision")
        scores, running = self.tally.targets.distinct()
        others = self.tally.nontargets
        hits = self.targets - running[:-1]
        alarms = self.nontargets - others.weight_of_lowest(sorted_ranks(others.scores, scores))
        precision = quotients(hits, hits + alarms)
        each = self.targets == len(scores)  # every target has a score of its own, and weighs one
        return ratio(exact_sum(precision) if each else exact_dot(precision, np.diff(running)), self.targets, UNIT)

    def precision_at_recalled(self, k: float) -> float:
        """Precision when the k-th target has been recalled, ties pooled: the course's average precision at K.

        Parameters
        ----------
        k : float
            The number (or weight) of recalled targets, from 1 to all of them.

        Returns
        -------
        float
            Targets over all trials that score at least as high as the k-th target.

        Examples
        --------
        >>> from tercet import Trials
        >>> curve = Curve.of(Trials.of_llr([3., 1., 0., -2.], [1, 0, 1, 0]))
        >>> curve.precision_at_recalled(2)
        0.6666666666666666
        """
        self.tally._need_every_score("A precision at a rank")
        above, below = self._units(k, self.targets, "targets")
        scores, running = self.tally.targets.distinct()
        place = int(np.searchsorted(running, (self.targets * below - above) // below, "right")) - 1
        hits = self.targets - int(running[place])
        return ratio(hits, hits + self.nontargets - int(self.tally.nontargets.below(scores[place])))

    def precision_at(self, k: float) -> float:
        """Precision among the k highest scores, averaged over the orders of tied ones.

        Parameters
        ----------
        k : float
            The number (or weight) of trials that are accepted.

        Returns
        -------
        float
            The part of these trials that are targets.

        Examples
        --------
        >>> from tercet import Trials
        >>> curve = Curve.of(Trials.of_llr([3., 1., 0., -2.], [1, 0, 1, 0]))
        >>> curve.precision_at(2)
        0.5
        """
        hits, of = self._top(k)
        above, below = self._units(k, self.targets + self.nontargets, "trials")
        return ratio(hits * below, of * above)

    def recall_at(self, k: float) -> float:
        """The part of the targets among the k highest scores, averaged over the orders of tied ones.

        Parameters
        ----------
        k : float
            The number (or weight) of trials that are accepted.

        Returns
        -------
        float
            Targets among these trials over all targets.

        Examples
        --------
        >>> from tercet import Trials
        >>> curve = Curve.of(Trials.of_llr([3., 1., 0., -2.], [1, 0, 1, 0]))
        >>> curve.recall_at(3)
        1.0
        """
        hits, of = self._top(k)
        return ratio(hits, of * self.targets)

    def _top(self, k: float) -> tuple[int, int]:
        """Targets expected among the k highest scores, as a fraction."""
        self.tally._need_every_score("A precision or recall at a rank")
        above, below = self._units(k, self.targets + self.nontargets, "trials")
        hits = self.targets - self.misses
        accepted = hits + self.false_alarms  # falls from everything to nothing
        place = int(np.searchsorted(-accepted, -above // below, "right")) - 1  # the last that accepts k or more
        (high, most), (low, least) = ((int(accepted[i]), int(hits[i])) for i in (place, place + 1))
        return least * (high - low) * below + (most - least) * (above - low * below), (high - low) * below

    def _units(self, k: float, most: int, what: str) -> tuple[int, int]:
        """A number of rows (or their weight) in the tally's unit, as a fraction."""
        found = number(k, "k")
        above, below = found.as_integer_ratio() if math.isfinite(found) else (0, 1)
        above, below = above << max(-self.tally.unit, 0), below << max(self.tally.unit, 0)
        if not 0 < above <= most * below:
            raise InputError(f"k must lie between 1 and the {self.tally.weight(most)} {what}, not {k}.")
        return above, below


@dataclass(frozen=True, eq=False, repr=False)
class Hull(Record):
    """Vertices of the ROC convex hull, thresholds ascending: from accepting to rejecting everything.

    Attributes
    ----------
    thresholds : ndarray of float
        A score per vertex; -inf for accepting everything.
    misses, false_alarms : ndarray of int
        The errors at each vertex, in the tally's unit.
    targets, nontargets : int
        The totals of both classes.

    References
    ----------
    Provost and Fawcett (2001), Robust classification for imprecise environments, Machine Learning 42,
    doi:10.1023/A:1007601015854.

    Examples
    --------
    >>> from tercet import Trials
    >>> hull = Curve.of(Trials.of_llr([3., 1., 0., -2.], [1, 0, 1, 0])).hull
    >>> hull.misses.tolist(), hull.false_alarms.tolist()
    ([0, 0, 1, 2], [2, 1, 0, 0])
    """

    thresholds: Floats
    misses: Counts
    false_alarms: Counts
    targets: int
    nontargets: int

    def __repr__(self) -> str:
        return f"Hull: {len(self.thresholds)} vertices"

    @cached_property
    def llrs(self) -> Floats:
        """Each segment's log-likelihood ratio, strictly ascending: what its scores are worth.

        ln((misses / targets) / (non-targets / all non-targets)) of the scores between two vertices.
        """
        blocks = zip(*(counts.tolist() for counts in self._blocks), strict=True)
        return frozen(np.array([log_ratio(t * self.nontargets, n * self.targets) for t, n in blocks]))

    @cached_property
    def _blocks(self) -> tuple[Counts, Counts]:
        """Targets and non-targets of each segment."""
        return self.misses[1:] - self.misses[:-1], self.false_alarms[:-1] - self.false_alarms[1:]

    @property
    def shares(self) -> tuple[Floats, Floats]:
        """The part of all targets, and of all non-targets, in each segment."""
        return quotients(self._blocks[0], self.targets), quotients(self._blocks[1], self.nontargets)

    @property
    def fnr(self) -> Floats:
        """Miss rate at each vertex."""
        return quotients(self.misses, self.targets)

    @property
    def fpr(self) -> Floats:
        """False-alarm rate at each vertex."""
        return quotients(self.false_alarms, self.nontargets)

    @property
    def area(self) -> float:
        """The area under the hull."""
        misses, alarms = self.misses.astype(object), self.false_alarms.astype(object)
        twice = ((alarms[:-1] - alarms[1:]) * (2 * self.targets - misses[:-1] - misses[1:])).sum()
        return ratio(twice, 2 * self.targets * self.nontargets)

    def minimum(self, log_odds: Floats, factors: Floats | None = None) -> tuple[Floats, Floats, Counts, Counts]:
        """The least normalised cost at each log-odds tau, at the lowest threshold on ties.

        Raising the threshold past a segment lowers the cost while the llr of the segment is below -tau; neighbours are
        compared because logarithms are rounded.

        Parameters
        ----------
        log_odds : numpy.ndarray of float
            tau of each operating point.
        factors : numpy.ndarray of float, optional
            exp(abs(tau)) rounded once; by default computed from tau.

        Returns
        -------
        tuple of numpy.ndarray
            DCF, threshold, misses and false alarms of each.
        """
        best = self.llrs.searchsorted(-log_odds)
        near = best[:, None] + _NEIGHBOURS
        misses, alarms = self.misses.take(near, mode="clip"), self.false_alarms.take(near, mode="clip")
        fnr, fpr = quotients(misses, self.targets), quotients(alarms, self.nontargets)
        column = None if factors is None else factors[:, None]
        costs = normalised_dcf(log_odds[:, None], fnr, fpr, column)
        least = costs.min(axis=1)
        pick = (costs <= least[:, None] * (1.0 + 2.0**-50)).argmax(axis=1)  # equal but for rounding: the lowest
        place = np.minimum(np.maximum(best + _NEIGHBOURS[pick], 0), len(self.misses) - 1)
        return least, self.thresholds[place], self.misses[place], self.false_alarms[place]


def _probits(counts: Counts, total: int) -> Floats:
    """The normal quantile of count / total; counts follow each other, and equal neighbours are computed once."""
    from scipy.special import ndtri

    starts = np.flatnonzero(np.append(True, _moves(counts)))
    rates = quotients(counts[starts], total)
    probits = np.concatenate(over_parts(lambda part: ndtri(rates[part]), len(rates)))
    return np.repeat(probits, np.diff(np.append(starts, len(counts))))


class _Meeting(NamedTuple):
    """Where the scores of the smaller class fall among those of the larger one.

    That is enough for ranks and hull: a vertex of the hull lies between two scores of different classes.
    """

    targets: Ranked
    nontargets: Ranked
    of_targets: bool  # whether the smaller class is the targets
    scores: Floats  # the distinct scores of the smaller class
    totals: Column  # their running weights, with 0 twice in front and the last of them twice
    lows: NDArray[np.intp]  # number of scores of the larger class < each of these; 0 in front, and all at the end
    highs: NDArray[np.intp]  # and <= each; the same array where there are no ties

    @classmethod
    def of(cls, targets: Ranked, nontargets: Ranked) -> _Meeting:
        of_targets = len(targets.scores) <= len(nontargets.scores)
        few, many = (targets, nontargets) if of_targets else (nontargets, targets)
        scores, totals = few.enclosed_groups()
        lows, tied = ranks_and_ties(many.scores, scores)
        highs = lows
        if len(tied):
            highs = lows.copy()
            highs[1:-1][tied] = sorted_ranks(many.scores, scores[tied], "right")
        return cls(targets, nontargets, of_targets, scores, totals, lows, highs)

    @property
    def running(self) -> Column:
        """The running weights of the smaller class, 0 in front."""
        return take(self.totals, slice(1, -1))

    @property
    def low(self) -> NDArray[np.intp]:
        """The number of scores of the larger class < each score of the smaller one."""
        return self.lows[1:-1]

    @property
    def tied(self) -> bool:
        """Whether the classes share a score."""
        return self.highs is not self.lows

    @property
    def _larger(self) -> Ranked:
        return self.nontargets if self.of_targets else self.targets

    def _weight(self, places: NDArray[np.intp]) -> Column:
        """The weight of this many of the lowest scores of the larger class."""
        running = self._larger.cumulative
        return places if running is None else take(running, places)

    def points(self) -> tuple[Floats, Counts, Counts]:
        """(thresholds, misses, rejected non-targets) at accepting everything, and at each distinct score."""
        larger = self._larger
        count = 1 + len(larger.scores) + len(self.scores)
        few, thresholds = np.zeros(count, np.bool_), np.empty(count)
        places = self.highs[1:-1] + np.arange(1, len(self.scores) + 1)
        few[places] = True
        smaller = few.cumsum()
        few[0] = True  # the first point has no score, so it is not the larger class's either
        thresholds[0], thresholds[places], thresholds[~few] = -math.inf, self.scores, larger.scores
        rest = np.arange(len(smaller)) - smaller
        differ = thresholds[2:] != thresholds[1:-1]
        if not differ.all():  # of equal scores the last, which counts them all
            kept = np.flatnonzero(np.concatenate(([True], differ, [True])))
            thresholds, smaller, rest = thresholds[kept], smaller[kept], rest[kept]
        counts = (self.running[smaller], larger.weight_of_lowest(rest))
        return thresholds, *(counts if self.of_targets else counts[::-1])

    def half_wins(self) -> int:
        """Twice the pairs in which the target is higher, tied pairs counting once."""
        pairs = 2 * self.targets.total * self.nontargets.total
        wins = _dot(self.running, self._weight(self.low), pairs)
        wins += _dot(self.running, self._weight(self.highs[1:-1]), pairs) if self.tied else wins
        return wins if self.of_targets else pairs - wins

    def corners(self) -> tuple[Column, Column]:
        """(misses, rejected non-targets) of the points that can be vertices of the hull, both ends included."""
        if self.of_targets:
            return take(self.totals, slice(0, -1)), self._weight(self.lows)
        return self._weight(self.highs), take(self.totals, slice(1, None))


def _dot(running: Column, counts: Column, largest: int) -> int:
    """Sum of weight x count, of which no total is above the largest, for running totals of the weights."""
    if largest < 2**62 and not isinstance(running, Wide) and not isinstance(counts, Wide):
        every_one = int(running[-1]) == len(counts)  # the weights are whole and above 0
        return int(counts.sum() if every_one else np.dot(np.diff(running), counts))
    return whole_dot(steps_of(running), counts)


def _wide(largest: int, *columns: Counts) -> tuple[Counts, ...]:
    """Python's integers where products could leave 64 bits."""
    return columns if largest < 2**62 else tuple(column.astype(object) for column in columns)


def convex_vertices(x: Column, y: Column, largest: int) -> NDArray[np.intp]:
    """The places of the strict vertices of the lower convex hull of points that ascend in both coordinates.

    A point on or above the chord of two other points is not a vertex. The chords of a sample's hull exclude nearly
    all points, neighbours' chords most of the rest, and a walk the last. Slopes are compared as integers, never
    divided; where their products could exceed 64 bits, doubles exclude what is above a chord by more than their
    rounding, and Python's integers walk along the rest.
    """
    new = _moves(x) | _moves(y)
    if not new.all():  # of equal points, one
        places = np.flatnonzero(np.append(True, new))
        return np.asarray(places[convex_vertices(take(x, places), take(y, places), largest)])
    places = _survivors(_Plane.of(x, y, largest))
    return places[_chain(x[places].tolist(), y[places].tolist())]


def _moves(column: Column) -> NDArray[np.bool_]:
    """Whether each entry differs from the one before it."""
    if isinstance(column, Wide):
        return _moves(column.high) | _moves(column.low)
    return np.asarray(column[1:] != column[:-1], np.bool_)


class _Plane(NamedTuple):
    """Points as int64, or as doubles whose differences are off by less than an eighth of the slack.

    A double is off by at most 2**-51 of the largest, X or Y; a difference therefore by less than 2**-49 of it, and a
    product of differences dx dy by less than 2**-49 (X dy + Y dx) + 2**-98 X Y, with its own rounding 2**-48 (...).
    """

    x: Array
    y: Array
    slack: tuple[float, float] | None = None  # 2**-46 of X and of Y

    @classmethod
    def of(cls, x: Column, y: Column, largest: int) -> _Plane:
        if largest < 2**INT64_BITS and not isinstance(x, Wide) and not isinstance(y, Wide):
            return cls(x, y)
        one, other = _doubles(x), _doubles(y)
        return cls(one, other, (2.0**-46 * float(one[-1]), 2.0**-46 * float(other[-1])))

    def at(self, places: Array) -> _Plane:
        """Some of the points."""
        return _Plane(self.x[places], self.y[places], self.slack)

    def may_be_below(self, start: slice | int, places: slice, end: slice | int) -> NDArray[np.bool_]:
        """Which points are strictly below the chord from start to end, or too close to it for doubles to tell."""
        dx, dy = self.x[places] - self.x[start], self.y[places] - self.y[start]
        wide, high = self.x[end] - self.x[start], self.y[end] - self.y[start]
        if self.slack is None:
            return np.asarray(dx * high > dy * wide)
        off_x, off_y = self.slack
        return np.asarray(dx * high > dy * wide - (off_x * (dy + high) + off_y * (dx + wide) + off_x * off_y))


def _doubles(column: Column) -> Floats:
    """Whole numbers in proportion, off by at most 2**-51 of the last and largest."""
    if isinstance(column, Wide):
        return column.floats()
    if column.dtype != np.object_:
        return column.astype(np.float64)
    return np.asarray(column >> max(int(column[-1]).bit_length() - 128, 0), np.float64)


def _survivors(plane: _Plane) -> NDArray[np.intp]:
    """The places of all vertices and of few other points."""
    last = len(plane.x) - 1
    if last < _SAMPLE**2:
        places = np.arange(last + 1)
    else:
        sample = np.append(np.arange(0, last, _SAMPLE), last)
        ends = sample[_survivors(plane.at(sample))]
        ends = ends[_chain(plane.x[ends].tolist(), plane.y[ends].tolist())]
        places = _below_chords(plane, ends)
        plane = plane.at(places)
    while len(places) > _FEW:
        convex = np.zeros(len(places), np.bool_)
        convex[0] = convex[-1] = True
        convex[1:-1] = plane.may_be_below(slice(0, -2), slice(1, -1), slice(2, None))
        before, places, plane = len(places), places[convex], plane.at(convex)
        if len(places) > 0.9 * before:
            break
    return places


def _below_chords(plane: _Plane, ends: NDArray[np.intp]) -> NDArray[np.intp]:
    """The chords' ends and the places of all points that may be below the chord over them."""
    kept = [ends]
    for start, end in itertools.pairwise(ends.tolist()):
        below = plane.may_be_below(start, slice(start + 1, end), end)
        kept.append(np.flatnonzero(below) + (start + 1))
    return np.sort(np.concatenate(kept))


def _chain(x: list[int], y: list[int]) -> list[int]:
    """The lower hull by walking along the points and stepping back where it would bend the wrong way."""
    kept, steps = [0], [(0, 0)]  # the vertices so far, and the step from the one before to each
    last_x, last_y = x[0], y[0]
    for i in range(1, len(x)):
        dx, dy = x[i] - last_x, y[i] - last_y
        if dx == dy == 0:
            continue
        while len(kept) > 1:
            wide, high = steps[-1]
            if wide * dy > dx * high:
                break
            kept.pop()
            steps.pop()
            dx, dy = dx + wide, dy + high
        kept.append(i)
        steps.append((dx, dy))
        last_x, last_y = x[i], y[i]
    return kept


def _crossing(thresholds: Floats, misses: Counts, alarms: Counts, curve: Curve, definition: str) -> Eer:
    """Where the segments of a curve meet FPR = FNR, in whole numbers until the last division."""
    scaled_misses, scaled_alarms = curve._scaled_errors(misses, alarms)
    gap = scaled_misses - scaled_alarms  # ascends from below 0 to above it
    place = int(gap.searchsorted(0))
    if gap[place] == 0:
        return Eer(ratio(int(misses[place]), curve.targets), float(thresholds[place]), definition)
    below, above = -int(gap[place - 1]), int(gap[place])
    mixed = int(misses[place - 1]) * above + int(misses[place]) * below
    value = ratio(mixed, (below + above) * curve.targets)
    return Eer(value, float(thresholds[place - 1]), definition, ratio(below, below + above))


def _area(x: Floats, y: Floats, limits: tuple[float, float], name: str) -> float:
    """The area below a piecewise linear curve between two x."""
    ends = numbers(limits, name).tolist()
    low, high = ends if len(ends) == 2 else (0.0, 0.0)
    if not 0.0 <= low < high <= 1.0:
        raise InputError(f"{name} must be a range of rates, two of them that ascend within 0..1, not {shown(limits)}.")
    left, right = np.clip(x[:-1], low, high), np.clip(x[1:], low, high)
    width = x[1:] - x[:-1]
    steep = np.divide(y[1:] - y[:-1], width, out=np.zeros_like(width), where=width > 0.0)
    middle = y[:-1] + steep * ((left + right) / 2.0 - x[:-1])
    return math.fsum((right - left) * middle)


class BestRule(NamedTuple):
    """A decision rule on the joint hull, with the range of effective-prior log-odds where it is cheapest.

    Attributes
    ----------
    name : str
        The system or table that it belongs to, or one of the two trivial rules.
    threshold : float or None
        The threshold on that system's scores; None for rules that are not a threshold on scores.
    fpr, fnr : float
        Its error rates.
    log_odds : tuple of float
        The range of effective-prior log-odds in which no other rule costs less.

    Examples
    --------
    >>> import tercet as tc
    >>> rule = tc.best_rules({"a": (0.1, 0.6), "b": (0.5, 0.7)})[1]
    >>> rule.name, rule.fpr, round(rule.log_odds[0], 2)
    ('a', 0.1, -1.79)
    """

    name: str
    threshold: float | None
    fpr: float
    fnr: float
    log_odds: tuple[float, float]


def best_rules(rules: Mapping[str, Curve | Confusion | tuple[float, float]]) -> tuple[BestRule, ...]:
    """Which rule to use at which prior: the convex hull over several systems, tables or bare (FPR, TPR) pairs.

    The two trivial rules are always included. Randomising between two neighbours reaches every point between them.

    Parameters
    ----------
    rules : mapping from a name to a Curve, Confusion or (FPR, TPR)
        What is to be chosen from.

    Returns
    -------
    tuple of BestRule
        The rules on the joint hull, from the lowest priors to the highest.

    Examples
    --------
    >>> [(r.name, round(r.log_odds[0], 2)) for r in best_rules({"a": (.1, .6), "b": (.5, .7)})]
    [('always reject', -inf), ('a', -1.79), ('always accept', 0.81)]
    """
    points = [_Rule(0.0, 0.0, 1.0, "always reject", None), _Rule(1.0, 1.0, 0.0, "always accept", None)]
    for name, rule in mapping(rules, "rules").items():
        points += _rule_points(name, rule)
    kept = _upper_hull(sorted(points, key=lambda point: (point.fpr, -point.tpr)))
    tips = [_trade(a, b) for a, b in itertools.pairwise(kept)]
    ranges = itertools.pairwise([-math.inf, *tips, math.inf])
    return tuple(BestRule(p.name, p.threshold, p.fpr, p.fnr, span) for p, span in zip(kept, ranges, strict=True))


class _Rule(NamedTuple):
    fpr: float
    tpr: float
    fnr: float
    name: str
    threshold: float | None


def _rule_points(name: str, rule: Curve | Confusion | tuple[float, float]) -> list[_Rule]:
    if isinstance(rule, Curve):
        hull = rule.hull
        hits = quotients(hull.targets - hull.misses, hull.targets)
        columns = (hull.fpr, hits, hull.fnr, hull.thresholds)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return [_Rule(fpr, tpr, fnr, name, threshold) for fpr, tpr, fnr, threshold in rows][1:-1]
    if isinstance(rule, Confusion):
        return [_Rule(rule.fpr, rule.tpr, rule.fnr, name, None)]
    pair = listed(rule, f"rules[{shown(name)}]")
    if len(pair) != 2:
        raise InputError(f"rules[{shown(name)}] must be a curve, a confusion matrix or a pair (fpr, tpr).")
    fpr, tpr = (number(value, f"rules[{shown(name)}]") for value in pair)
    for called, value in (("fpr", fpr), ("tpr", tpr)):
        if not 0.0 <= value <= 1.0:
            raise InputError(f"The rule {shown(name)} has {called} = {value}, which is not a rate.")
    return [_Rule(float(fpr), float(tpr), 1.0 - float(tpr), name, None)]


def _upper_hull(points: Sequence[_Rule]) -> list[_Rule]:
    """Strict vertices, compared as exact fractions of the given rates."""
    from fractions import Fraction

    kept: list[_Rule] = []
    exact: list[tuple[Fraction, Fraction]] = []
    for point in points:
        x, y = Fraction(point.fpr), Fraction(point.tpr)
        if exact and y <= exact[-1][1]:  # at no fewer false alarms it detects no more
            continue
        while len(exact) > 1:
            (xa, ya), (xb, yb) = exact[-2], exact[-1]
            if (yb - ya) * (x - xb) > (y - yb) * (xb - xa):
                break
            kept.pop()
            exact.pop()
        kept.append(point)
        exact.append((x, y))
    return kept


def _trade(a: _Rule, b: _Rule) -> float:
    """The log-odds tau at which two rules cost the same: e^tau (FNR_a - FNR_b) = FPR_b - FPR_a."""
    wide, high = b.fpr - a.fpr, (a.fnr - b.fnr if a.fnr <= 0.5 else b.tpr - a.tpr)
    return math.log(wide) - math.log(high) if wide > 0.0 else -math.inf
