"""Costs: of decisions (DCF, Bayes risk), and of scores before any decision (Cllr, log-loss)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial, reduce
from typing import NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import UNIT, Term, exact_dot, exact_dot_steps, exact_sum, quotients, ratio
from tercet._numeric.matrices import check_posteriors, whole_weights
from tercet._numeric.parallel import over_parts
from tercet._numeric.records import checked_tuple
from tercet._numeric.validation import frozen, instance, listed, number, numbers, shown, whole
from tercet._numeric.wide import take
from tercet._typing import Array, Counts, Floats
from tercet.application import ApplicationMean, normalised_dcf
from tercet.errors import InputError, UndefinedError
from tercet.metrics.curves import Curve
from tercet.metrics.posteriors import Likelihoods, class_sum, first_marked, joint, over_blocks, prior_of
from tercet.metrics.tally import Ranked, Tally
from tercet.trials import Trials, as_trials, logit, probability, to_llr


@checked_tuple
class BayesPlot(NamedTuple):
    """Normalised costs against the prior log-odds; the best decision without scores costs 1 everywhere.

    Attributes
    ----------
    log_odds : ndarray of float
        Log-odds of the effective prior.
    dcf : ndarray of float or None
        The actual DCF; None for raw scores, which have no Bayes threshold.
    min_dcf : ndarray of float
        The minimum DCF.

    Examples
    --------
    >>> import tercet as tc
    >>> found = tc.bayes_error(tc.Trials.of_llr([3.0, 1.0, 0.0, -2.0], [1, 0, 1, 0]), [0.0])
    >>> found.dcf.tolist(), found.min_dcf.tolist()
    ([1.0], [0.5])
    """

    log_odds: Floats
    dcf: Floats | None
    min_dcf: Floats


class Span(NamedTuple):
    """A range of effective-prior log-odds, ends included or not as the rounding has it.

    Attributes
    ----------
    low, high : float
        Its ends.

    Examples
    --------
    >>> import tercet as tc
    >>> span = tc.useful_priors(tc.Trials.of_llr([1.0, -1.0], [1, 0]))[0]
    >>> span.low, span.high
    (-1.0, 1.0)
    """

    low: float
    high: float


Source = Curve | Tally | Trials

_SIGN = np.int64(-(1 << 63))
_ZEROS = frozen(np.zeros(1 << 16))  # as many as are compared at a time in sums


def _tally(source: Source) -> Tally:
    return source.tally if isinstance(source, Curve) else Tally.of(source)


def actual_dcf(source: Source, log_odds: Floats) -> Floats:
    """Normalised cost of the Bayes decisions llr > -tau, for each tau."""
    llr = _tally(source).as_llr()
    misses, alarms = llr.at(0.0 - np.asarray(log_odds, np.float64))
    fnr, fpr = quotients(misses, llr.targets.total), quotients(alarms, llr.nontargets.total)
    return np.asarray(normalised_dcf(log_odds, fnr, fpr), np.float64)


def bayes_error(source: Source, log_odds: object, llr: Tally | None = None) -> BayesPlot:
    """Actual and minimum normalised cost for each prior log-odds; raw scores have the minimum only.

    Parameters
    ----------
    source : Trials, Tally or Curve
        Labelled two-class trials, their tally or their curve.
    log_odds : array_like of float
        Log-odds of the effective prior, finite.
    llr : Tally, optional
        The tally of the llrs, where it is at hand already.

    Returns
    -------
    BayesPlot
        The costs, one entry per log-odds.

    References
    ----------
    van Leeuwen and Brümmer (2007), An introduction to application-independent evaluation of speaker recognition
    systems, in Speaker Classification I, LNCS 4343, 330-353. Brümmer and de Villiers (2013), The BOSARIS Toolkit:
    theory, algorithms and code, arXiv:1304.2865.

    Examples
    --------
    >>> from tercet import Trials
    >>> plot = bayes_error(Curve.of(Tally.of(Trials.of_llr([3., 1., 0., -2.], [1, 0, 1, 0]))), [0.0])
    >>> plot.dcf.tolist(), plot.min_dcf.tolist()
    ([1.0], [0.5])
    """
    curve, grid = Curve.of(source), numbers(log_odds, "log_odds")
    if not np.isfinite(grid).all():
        raise InputError("log_odds must be finite.")
    actual = None
    if curve.tally.meaning != "raw":
        actual = actual_dcf(curve.tally.as_llr() if llr is None else instance(llr, Tally, "llr"), grid)
    columns = (np.array(grid), actual, curve.hull.minimum(grid)[0])
    return BayesPlot(*(None if column is None else frozen(column) for column in columns))  # type: ignore[arg-type]


def cllr(source: Source) -> float:
    """Cost of the log-likelihood ratios in bits: 1 when they say nothing, inf for a certain wrong answer.

    (mean_T log2(1 + e^-llr) + mean_F log2(1 + e^llr)) / 2

    Parameters
    ----------
    source : Trials, Tally or Curve
        Labelled two-class trials, their tally or their curve.

    Returns
    -------
    float
        Bits, 0 for certain right answers.

    References
    ----------
    Brümmer and du Preez (2006), Application-independent evaluation of speaker detection, Computer Speech and
    Language 20, doi:10.1016/j.csl.2005.08.001.

    Examples
    --------
    >>> from tercet import Trials
    >>> cllr(Tally.of(Trials.of_llr([0., 0.], [1, 0])))
    1.0
    """
    return empirical_cross_entropy(source, 0.5)


def empirical_cross_entropy(source: Source, prior: float) -> float:
    """Bits needed to name the class when targets have this prior and the llrs are taken at face value.

    pi mean_T log2(1 + e^-(llr + logit pi)) + (1 - pi) mean_F log2(1 + e^(llr + logit pi))

    Parameters
    ----------
    source : Trials, Tally or Curve
        Labelled two-class trials, their tally or their curve.
    prior : float
        The prior of the target, strictly between 0 and 1.

    Returns
    -------
    float
        Bits; at prior 1/2 it is Cllr.

    Examples
    --------
    >>> from tercet import Trials
    >>> empirical_cross_entropy(Trials.of_llr([0., 0.], [1, 0]), 0.5)
    1.0
    """
    share, tau = probability(prior, "prior"), logit(probability(prior, "prior"))
    if isinstance(source, Trials) and source.weights is None and not source.is_matrix:
        sums = _unsorted_sums(source, tau)
    else:
        llr = _tally(source).as_llr()
        sides = ((llr.targets, -1.0), (llr.nontargets, 1.0))
        sums = [(*softplus_sum(side, sign, tau), side.total) for side, sign in sides]
    for (_, _, weight), called in zip(sums, ("targets", "non-targets"), strict=True):
        if weight == 0:
            raise UndefinedError(f"This cost is undefined: there are no {called} among the trials.")
    target, nontarget = (math.inf if infinite else ratio(total, weight, UNIT) for total, infinite, weight in sums)
    return (share * target + (1.0 - share) * nontarget) / math.log(2.0)


_ROWS = 1 << 16  # at a time, so that they stay in the cache


def _unsorted_sums(trials: Trials, shift: float) -> list[tuple[int, int, int]]:
    """For targets and non-targets what softplus_sum gives, and their number, block by block: sums need no order."""
    labels = trials.known_labels()

    def part_sums(part: slice) -> Counts:
        found = np.zeros((2, 3), np.object_)
        for start in range(part.start, part.stop, _ROWS):
            rows = slice(start, min(start + _ROWS, part.stop))
            own, odds = labels[rows], to_llr(trials.scores[rows], trials.meaning, trials.trained_prior)
            odds = odds if shift == 0.0 else odds + shift
            odds = np.where(own, -odds, odds)
            lost = [0, 0]
            if odds.max() == math.inf:  # counted apart, and here nothing
                infinite = odds == math.inf
                lost = [int(np.count_nonzero(infinite & own)), int(np.count_nonzero(infinite))]
                odds[infinite] = -math.inf
            costs = softplus(odds)
            targets = costs.compress(own)  # far quicker than costs[own]
            found[0] += (exact_sum(targets), lost[0], len(targets))
            found[1] += (exact_sum(costs), lost[1], len(costs))
        return found

    targets, everything = np.add.reduce(over_parts(part_sums, len(trials)))
    return [tuple(targets), tuple(everything - targets)]


def min_cllr(source: Source) -> float:
    """Cllr after the best monotone recalibration of the same scores (PAV, ties pooled): what ranks are worth.

    Parameters
    ----------
    source : Trials, Tally or Curve
        Labelled two-class trials, their tally or their curve.

    Returns
    -------
    float
        Bits, never above Cllr nor above 1; 0 where the classes do not overlap.

    Examples
    --------
    >>> from tercet import Trials
    >>> min_cllr(Trials.of_llr([1., -1.], [1, 0]))
    0.0
    """
    return min_cross_entropy(source, 0.5)


def min_cross_entropy(source: Source, prior: float) -> float:
    """Empirical cross-entropy at a prior after the best monotone recalibration of the same scores.

    Parameters
    ----------
    source : Trials, Tally or Curve
        Labelled two-class trials, their tally or their curve.
    prior : float
        The prior of the target, strictly between 0 and 1.

    Returns
    -------
    float
        Bits; at prior 1/2 it is the minimum Cllr.

    Examples
    --------
    >>> from tercet import Trials
    >>> min_cross_entropy(Trials.of_llr([0., 0.], [1, 0]), 0.5)
    1.0
    """
    share = probability(prior, "prior")
    tau = logit(share)
    hull = Curve.of(source).hull
    targets, nontargets = hull.shares
    llrs = hull.llrs + tau
    # Blocks of one class cost nothing: their llr is infinite on the right side. As llrs ascend, they are at the ends.
    mixed = slice(int(llrs[0] == -math.inf), len(llrs) - int(llrs[-1] == math.inf))
    llrs = llrs[mixed]
    less = np.log1p(np.exp(-np.abs(llrs)))  # the softplus of -|llr|
    miss, alarm = less - np.minimum(llrs, 0.0), less + np.maximum(llrs, 0.0)
    miss *= targets[mixed]
    alarm *= nontargets[mixed]
    return (share * math.fsum(miss.tolist()) + (1.0 - share) * math.fsum(alarm.tolist())) / math.log(2.0)


def softplus(x: Floats, out: Floats | None = None, *, own: bool = False) -> Floats:
    """ln(1 + e^x), without overflow; `own` says that x may be overwritten, which saves fresh memory, as `out` does."""
    positive = np.minimum.reduce(x, initial=math.inf) >= 0.0
    mixed = not positive and np.maximum.reduce(x) > 0.0
    result = np.empty_like(x) if out is None else out
    if mixed:  # -|x|: setting the bit of the sign takes a quarter of the time of np.copysign
        np.bitwise_or(x.view(np.int64), _SIGN, out=result.view(np.int64))
    np.exp(result if mixed else np.negative(x, out=result) if positive else x, out=result)
    np.log1p(result, out=result)
    if positive or mixed:
        result += _above_zero(x, x if own else None) if mixed else x
    return result


def _above_zero(x: Floats, out: Floats | None) -> Floats:
    """The larger of x and 0; numpy compares two arrays in half the time that it takes with a number."""
    return np.asarray(np.maximum(x, _ZEROS[: len(x)] if x.ndim == 1 and len(x) <= len(_ZEROS) else 0.0, out=out))


def softplus_sum(side: Ranked, sign: float, shift: float = 0.0) -> tuple[int, int]:
    """Sum of ln(1 + e^(sign (llr + shift))) where it is finite, in units of 2**-1074, and the weight where it is not.

    Sums add: those of two sets of llrs give that of both together, to the bit.
    """
    end = side.scores.dtype.type(sign * math.inf)  # of another type, all scores would be converted to find it
    split = int(side.scores.searchsorted(end, "right" if sign < 0.0 else "left"))
    finite = slice(split, len(side.scores)) if sign < 0.0 else slice(0, split)

    rest = side.weight_of_lowest(split) if sign < 0.0 else side.total - side.weight_of_lowest(split)
    return _sum(side, finite, partial(_softplus_of, sign=sign, shift=shift)), int(rest)


def _softplus_of(llrs: Floats, out: Floats, spare: Floats, sign: float, shift: float = 0.0) -> Floats:
    """ln(1 + e^(sign (llr + shift))) of each llr."""
    odds = np.multiply(llrs, sign, out=spare, dtype=np.float64)
    return softplus(odds if shift == 0.0 else np.add(odds, sign * shift, out=odds), out, own=True)


def softplus_total(columns: Iterable[Array], sign: float) -> tuple[int, int]:
    """The same sum and weight for columns of unweighted llrs in any order."""
    total = infinite = 0
    for llrs in columns:
        beyond = llrs == sign * math.inf
        if beyond.any():
            infinite += int(np.count_nonzero(beyond))
            llrs = llrs[~beyond]
        total += exact_sum(llrs, partial(_softplus_of, sign=sign))
    return total, infinite


def useful_priors(source: Source) -> tuple[Span, ...]:
    """Where Bayes decisions on these llrs cost less than the best dummy: ranges of effective-prior log-odds.

    At threshold t = -tau the actual cost is below 1 iff t < ln(TPR / FPR) for t >= 0, and iff
    t > ln(FNR / TNR) for t < 0; the rates are constant from one score to the next.

    Parameters
    ----------
    source : Trials, Tally or Curve
        Labelled two-class trials, their tally or their curve.

    Returns
    -------
    tuple of Span
        Ascending ranges; none where the decisions never pay.

    Examples
    --------
    >>> from tercet import Trials
    >>> [(span.low, span.high) for span in useful_priors(Trials.of_llr([1., -1.], [1, 0]))]
    [(-1.0, 1.0)]
    """
    llr = Curve.of(_tally(source).as_llr())
    starts, ends = llr.thresholds, np.append(llr.thresholds[1:], math.inf)
    with np.errstate(divide="ignore", invalid="ignore"):
        highest = np.log(llr.tpr) - np.log(llr.fpr)
        lowest = np.log(llr.fnr) - np.log(llr.tnr)
    highest, lowest = np.where(np.isnan(highest), -math.inf, highest), np.where(np.isnan(lowest), math.inf, lowest)
    low = np.concatenate((np.maximum(starts, lowest), np.maximum(starts, 0.0)))
    high = np.concatenate((np.minimum(ends, 0.0), np.minimum(ends, highest)))
    useful = low < high
    return tuple(Span(0.0 - high, 0.0 - low) for low, high in reversed(_joined(low[useful], high[useful])))


def _joined(low: Floats, high: Floats) -> list[tuple[float, float]]:
    """Ascending spans, touching ones made one."""
    if len(low) == 0:
        return []
    new = np.flatnonzero(low[1:] > high[:-1]) + 1
    first, last = np.concatenate(([0], new)), np.concatenate((new - 1, [len(low) - 1]))
    return list(zip(low[first].tolist(), high[last].tolist(), strict=True))


class Parts(NamedTuple):
    """A proper score and its split: score = miscalibration - discrimination + uncertainty.

    Attributes
    ----------
    score : float
        The score itself.
    miscalibration : float
        What isotonic recalibration on the same data would save.
    discrimination : float
        What the recalibrated scores save compared with knowing only the prior.
    uncertainty : float
        The score of knowing only the prior.

    References
    ----------
    Dimitriadis, Gneiting and Jordan (2021), Stable reliability diagrams for probabilistic classifiers, PNAS 118,
    doi:10.1073/pnas.2016191118.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_posteriors([0.4, 0.3, 0.2, 0.1, 0.5, 0.9], [0, 0, 0, 1, 1, 1], trained_prior=0.5)
    >>> parts = tc.brier_parts(trials)
    >>> round(parts.miscalibration - parts.discrimination + parts.uncertainty - parts.score, 12), parts.uncertainty
    (0.0, 0.25)
    """

    score: float
    miscalibration: float
    discrimination: float
    uncertainty: float


def log_loss_parts(source: Source, prior: float | None = None) -> Parts:
    """Empirical cross-entropy in bits, split by isotonic recalibration.

    Parameters
    ----------
    source : Trials, Tally or Curve
        Labelled two-class trials, their tally or their curve.
    prior : float, optional
        The prior of the target; its frequency in the data unless given.

    Returns
    -------
    Parts
        Score, miscalibration, discrimination and uncertainty.

    Examples
    --------
    >>> from tercet import Trials
    >>> log_loss_parts(Trials.of_llr([0., 0.], [1, 0])).uncertainty
    1.0
    """
    curve = Curve.of(source)
    share = _share(curve, prior)
    tau = np.array([logit(share)])  # the score of an uninformative forecast, in the same form
    nothing = float((share * softplus(-tau) + (1.0 - share) * softplus(tau))[0]) / math.log(2.0)
    best, score = min_cross_entropy(curve, share), empirical_cross_entropy(curve.tally, share)
    return Parts(score, score - best, nothing - best, nothing)


def brier_parts(source: Source, prior: float | None = None) -> Parts:
    """Two-class Brier score pi mean_T (1 - p)^2 + (1 - pi) mean_F p^2, split by isotonic recalibration.

    Parameters
    ----------
    source : Trials, Tally or Curve
        Labelled two-class trials, their tally or their curve.
    prior : float, optional
        The prior of the target; its frequency in the data unless given.

    Returns
    -------
    Parts
        Score, miscalibration, discrimination and uncertainty.

    Examples
    --------
    >>> from tercet import Trials
    >>> p = Trials.of_posteriors([.4, .3, .2, .1, .5, .9], [0, 0, 0, 1, 1, 1], trained_prior=.5)
    >>> [round(part, 7) for part in brier_parts(Curve.of(Tally.of(p)))[1:]]
    [0.1016667, 0.125, 0.25]
    """
    curve = Curve.of(source)
    share = _share(curve, prior)
    tau = logit(share)
    llr = curve.tally.as_llr()
    score = share * _mean(llr.targets, lambda s, *_: _sigmoid(-(s + tau)) ** 2)
    score += (1.0 - share) * _mean(llr.nontargets, lambda s, *_: _sigmoid(s + tau) ** 2)
    hull = curve.hull
    posterior = _sigmoid(hull.llrs + tau)
    targets, nontargets = hull.shares
    best = math.fsum(share * targets * (1.0 - posterior) ** 2 + (1.0 - share) * nontargets * posterior**2)
    nothing = share * (1.0 - share)
    return Parts(score, score - best, nothing - best, nothing)


def _share(curve: Curve, prior: float | None) -> float:
    if prior is None:
        return probability(curve.targets / (curve.targets + curve.nontargets), "the data's own prior, as a double,")
    return probability(prior, "prior")


def _sigmoid(x: Floats) -> Floats:
    """1 / (1 + e^-x), without overflow."""
    small = np.exp(-np.abs(x))
    return np.asarray(np.where(x >= 0.0, 1.0, small) / (1.0 + small))


def entropy(distribution: object, base: float = 2.0) -> float:
    """The entropy of a distribution, -sum p log p with 0 log 0 = 0.

    Parameters
    ----------
    distribution : array_like of float
        Probabilities that sum to one.
    base : float, default 2
        Base of the logarithm: 2 for bits, math.e for nats.

    Returns
    -------
    float
        0 where one outcome is certain.

    Examples
    --------
    >>> entropy([.5, .25, .25])
    1.5
    """
    p = numbers(distribution, "distribution")
    if (p < 0.0).any() or abs(math.fsum(p) - 1.0) > 1e-6:
        raise InputError("distribution must not be negative and must sum to 1.")
    return math.fsum(-p[p > 0.0] * np.log(p[p > 0.0])) / _log_base(base)


def _log_base(base: float) -> float:
    if not 1.0 < number(base, "base") < math.inf:
        raise InputError(f"base must be above 1, not {base}.")
    return math.log(base)


def log_loss(trials: Trials, prior: object = None, *, base: float = 2.0) -> float:
    """Mean of -log p(class | trial), with the classes weighted by the prior (by default their frequencies in the data).

    The posteriors are those at the same prior. In bits unless another base is given; a wrong answer given with
    certainty costs inf.

    Parameters
    ----------
    trials : Trials
        Labelled trials of any number of classes whose scores are, or stand for, likelihoods.
    prior : float or sequence of float, optional
        One prior per class, or the target's; the frequencies of the labels unless given.
    base : float, default 2
        Base of the logarithm: 2 for bits, math.e for nats.

    Returns
    -------
    float
        0 for certain right answers.

    Examples
    --------
    >>> p = [[.2, .7, .1], [.6, .2, .2], [.6, .1, .3]]
    >>> round(log_loss(Trials.of_posteriors(p, [1, 0, 2], trained_prior=[1/3, 1/3, 1/3]), base=math.e), 7)
    0.6904911
    """
    share = class_prior(as_trials(trials), prior, absent=True)
    return _class_means(trials, share, surprise) / _log_base(base)


class JudgedRows(NamedTuple):
    """A block of rows at a prior, beside the true class of each: ln(prior x likelihood), the largest of a row made 0.

    The true class is kept apart from the others, so that small sums of the others lose nothing beside its 1.
    """

    labels: NDArray[np.intp]
    logs: Floats  # classes x rows
    own_log: Floats  # of the true class
    own: Floats  # e to the power of it
    shares: Floats  # e to the power of the logs, 0 for the true class
    others: Floats  # their sum

    @classmethod
    def of(cls, logs: Floats, labels: NDArray[np.intp]) -> JudgedRows:
        """Of joint logarithms and class numbers."""
        shares = np.exp(logs, order="C")  # so that it is written to in place below
        places = labels * len(labels)
        places += np.arange(len(labels))
        own_log, own = logs.ravel().take(places), shares.ravel().take(places)
        shares.ravel()[places] = 0.0
        return cls(labels, logs, own_log, own, shares, class_sum(shares))


def right(rows: JudgedRows) -> NDArray[np.bool_]:
    """Whether the most probable class, the first of those that tie, is the true one."""
    return np.asarray(first_marked(rows.logs == 0.0) == rows.labels)


def surprise(rows: JudgedRows) -> Floats:
    """-ln posterior of the true class; ln(1 + rest) keeps what a sum close to 1 would round away."""
    rest = rows.own - 1.0  # 0 where the true class is the most probable
    rest += rows.others
    np.log1p(rest, out=rest)
    rest -= rows.own_log
    return rest


def perplexity(trials: Trials, prior: object = None) -> float:
    """2 to the power of the log-loss in bits: the number of equally likely classes that would be as uncertain.

    Parameters
    ----------
    trials : Trials
        Labelled trials of any number of classes whose scores are, or stand for, likelihoods.
    prior : float or sequence of float, optional
        One prior per class, or the target's; the frequencies of the labels unless given.

    Returns
    -------
    float
        At least 1.

    Examples
    --------
    >>> from tercet import Trials
    >>> perplexity(Trials.of_llr([0., 0.], [1, 0]))
    2.0
    """
    with np.errstate(over="ignore"):
        return float(np.exp2(log_loss(trials, prior)))


def normalised_cross_entropy(trials: Trials, prior: object = None) -> float:
    """Log-loss divided by the prior's entropy: 1 is what knowing only the prior costs.

    Parameters
    ----------
    trials : Trials
        Labelled trials of any number of classes whose scores are, or stand for, likelihoods.
    prior : float or sequence of float, optional
        One prior per class, or the target's; the frequencies of the labels unless given.

    Returns
    -------
    float
        Below 1 if the scores are useful.

    Examples
    --------
    >>> from tercet import Trials
    >>> normalised_cross_entropy(Trials.of_llr([0., 0.], [1, 0]))
    1.0
    """
    share = class_prior(as_trials(trials), prior, absent=True)
    return over_entropy(_class_means(trials, share, surprise) / math.log(2.0), share)


def over_entropy(bits: float, share: Floats) -> float:
    """A cross-entropy in bits over that of the prior alone."""
    if (nothing := entropy(share)) == 0.0:
        raise UndefinedError(
            "One class has nearly all of the weight, so that the entropy of the class frequencies is 0 in double "
            "precision, and nothing can be divided by it."
        )
    return bits / nothing


def brier(trials: Trials, prior: object = None) -> float:
    """Mean over trials of the squared distance between posteriors and truth.

    Two-class scores: (p - y)^2, 0 to 1; a matrix: the sum over its classes, 0 to 2.

    Parameters
    ----------
    trials : Trials
        Labelled trials of any number of classes whose scores are, or stand for, likelihoods.
    prior : float or sequence of float, optional
        One prior per class, or the target's; the frequencies of the labels unless given.

    Returns
    -------
    float
        0 for certain right answers.

    References
    ----------
    Brier (1950), Verification of forecasts expressed in terms of probability, Monthly Weather Review 78,
    doi:10.1175/1520-0493(1950)078<0001:VOFEIT>2.0.CO;2.

    Examples
    --------
    >>> from tercet import Trials
    >>> brier(Trials.of_llr([0., 0.], [1, 0]))
    0.25
    """
    share = class_prior(as_trials(trials), prior, absent=True)
    return _class_means(trials, share, squared_distance) / (1.0 if trials.is_matrix else 2.0)


def squared_distance(rows: JudgedRows) -> Floats:
    """Squared distance of the posteriors from the truth, that of the true class being the sum of the others."""
    total = rows.own + rows.others
    distance = rows.others * rows.others
    distance += class_sum(rows.shares * rows.shares)
    distance /= total * total
    return np.asarray(distance)


def top_k_accuracy(trials: Trials, k: int, prior: object = None) -> float:
    """How often the true class is among the k most probable, averaged over the orders of tied classes.

    Parameters
    ----------
    trials : Trials
        Labelled trials of any number of classes.
    k : int
        How many classes may be named, from 1 to all.
    prior : float or sequence of float, optional
        The prior that the posteriors are at and that the classes are weighed by; the labels' frequencies unless given.

    Returns
    -------
    float
        0 to 1.

    Examples
    --------
    >>> from tercet import Trials
    >>> top_k_accuracy(Trials.of_llr([1., -1., 2., -2.], [1, 0, 0, 1]), 1)
    0.5
    """
    if whole(k, "k", 1) > len(as_trials(trials).classes):
        raise InputError(f"k must lie between 1 and the {len(trials.classes)} classes, not {k}.")

    def found(rows: JudgedRows) -> Floats:
        room = k - (rows.logs > rows.own_log).sum(axis=0)  # places left for the true class and those tied with it
        return np.asarray(np.clip(room / (rows.logs == rows.own_log).sum(axis=0), 0.0, 1.0))

    return _class_means(trials, class_prior(trials, prior, absent=True), found)


def class_prior(trials: Trials, prior: object = None, *, absent: bool = False) -> Floats:
    """The given prior, one entry per class, or the frequencies of the labels (0 for an absent class, if allowed)."""
    if prior is not None:
        return prior_of(prior, len(trials.classes))
    labels = trials.known_labels().astype(np.intp)
    sizes, *_ = whole_class_weights(labels, trials.weights, len(trials.classes))
    return class_prior_of(sizes, trials.classes, absent=absent)


def class_prior_of(sizes: list[int], classes: tuple[str, ...], *, absent: bool = True) -> Floats:
    """The frequencies of classes of these sizes."""
    empty = [name for size, name in zip(sizes, classes, strict=True) if size == 0]
    if empty and not (absent and len(empty) < len(sizes) - 1):
        raise UndefinedError(f"The data's own prior is 0 for class {shown(empty[0])}: give a prior, or drop the class.")
    total = sum(sizes)
    return np.array([size / total for size in sizes])


def whole_class_weights(
    labels: NDArray[np.intp], weights: Floats | None, classes: int
) -> tuple[list[int], Counts | None, int]:
    """The total weight of each class and each row's, as whole multiples of 2**unit, and the unit."""
    if weights is None:
        return np.bincount(labels, minlength=classes).tolist(), None, 0
    rows, unit = whole_weights(weights)
    sums: Counts = np.zeros(classes, rows.dtype)
    np.add.at(sums, labels, rows)
    return [int(value) for value in sums], rows, unit


RowCost: TypeAlias = Callable[[JudgedRows], Floats]


def _class_means(trials: Trials, share: Floats, cost: RowCost) -> float:
    """sum_j pi_j mean of cost over class j, each mean exact but for the cost's own rounding."""
    labels = trials.known_labels().astype(np.intp)
    likelihoods, costs = Likelihoods.of(trials), np.empty(len(labels))
    judged = judge(likelihoods, labels, share)

    def fill(rows: slice) -> None:
        costs[rows] = cost(judged(likelihoods.block(rows), rows))

    over_blocks(fill, *likelihoods.shape)
    sizes, weights, _ = whole_class_weights(labels, trials.weights, len(share))
    (sums,), means = class_sums(labels, len(share), weights, costs), []
    for pi, (total, infinite), size, name in zip(share.tolist(), sums, sizes, trials.classes, strict=True):
        if pi > 0.0 and size == 0:
            raise UndefinedError(f"This cost is undefined: there are no trials of class {shown(name)}.")
        if pi > 0.0:
            means.append(pi * (math.inf if infinite else ratio(total, size, UNIT)))
    return math.fsum(means)


def judge(likelihoods: Likelihoods, labels: NDArray[np.intp], share: Floats) -> Callable[[Floats, slice], JudgedRows]:
    """What judges a block of log-likelihoods, which it may overwrite, at a prior; no class of prior 0 takes part."""
    present = share > 0.0
    log_prior = np.log(share[present])
    if present.all():
        return lambda block, rows: JudgedRows.of(joint(block, log_prior), labels[rows])
    if (row := ruled_out(likelihoods, share)) is not None:
        raise UndefinedError(no_posteriors(row))
    some, columns = likelihoods.of_classes(present), (np.cumsum(present) - 1)[labels]
    return lambda _, rows: JudgedRows.of(joint(some.block(rows), log_prior), columns[rows])


def class_sums(
    labels: NDArray[np.intp], classes: int, weights: Counts | None, *costs: Floats
) -> list[tuple[tuple[int, int], ...]]:
    """Columns of costs summed over each class: (the finite part in units of 2**-1074, the weight where it is infinite).

    Sums of parts add up to those of the whole, to the bit.
    """
    order = np.argsort(labels.astype(np.uint16 if classes <= 1 << 16 else np.int64), kind="stable")
    ends = np.cumsum(np.bincount(labels, minlength=classes))[:-1]
    heavy = [None] * classes if weights is None else np.split(weights[order], ends)
    return [tuple(map(_class_sum, np.split(one.take(order), ends), heavy)) for one in costs]


def ruled_out(likelihoods: Likelihoods, share: Floats) -> int | None:
    """The first row that rules out every class of a prior above 0, if there is one."""
    present = share > 0.0
    if present.all():
        return None
    never = 0.0 if likelihoods.posteriors else -math.inf
    rows = np.flatnonzero(reduce(np.maximum, likelihoods.of_classes(present).columns) == never)
    return int(rows[0]) if len(rows) else None


def no_posteriors(row: int, called: str = "") -> str:
    """Why there are no posteriors at the data's own prior; `called` names what the row belongs to."""
    return (
        f"{called}{'row' if called else 'Row'} {row} rules out every class that is among the labels, so it has no "
        f"posteriors at the data's own prior: give a prior."
    )


def _class_sum(costs: Floats, heavy: Counts | None) -> tuple[int, int]:
    """The sum of the finite values of a class, and the weight of the infinite ones."""
    infinite, lost = np.isinf(costs), 0
    if infinite.any():
        lost = int(np.count_nonzero(infinite)) if heavy is None else int(heavy[infinite].sum())
        costs, heavy = costs[~infinite], None if heavy is None else heavy[~infinite]
    return (exact_sum(costs) if heavy is None else exact_dot(costs, heavy)), lost


class KnownTruth(NamedTuple):
    """Cross-entropy against known posteriors = conditional entropy + divergence, all in the same base.

    Attributes
    ----------
    cross_entropy : float
        What the model's posteriors cost.
    conditional_entropy : float
        What the true posteriors would cost.
    divergence : float
        The difference, never negative.

    Examples
    --------
    >>> import tercet as tc
    >>> found = tc.cross_entropy_of_truth([[0.5, 0.5]], [[0.25, 0.75]])
    >>> found.conditional_entropy, round(found.divergence, 4)    # 1 bit, and 1 - log2(3) / 2
    (1.0, 0.2075)
    """

    cross_entropy: float
    conditional_entropy: float
    divergence: float


def cross_entropy_of_truth(true: object, model: object, *, base: float = 2.0) -> KnownTruth:
    """The cross-entropy of a model's posteriors when the true posteriors are known, row by row.

    Parameters
    ----------
    true, model : array_like of shape (n, K)
        Posteriors, one row per trial, each summing to one.
    base : float, default 2
        Base of the logarithm: 2 for bits, math.e for nats.

    Returns
    -------
    KnownTruth
        Means over the rows.

    Examples
    --------
    >>> parts = cross_entropy_of_truth([[.5, .5]], [[.25, .75]])
    >>> parts.conditional_entropy, round(parts.cross_entropy - parts.divergence, 12)
    (1.0, 1.0)
    """
    q, p = numbers(true, "true", ndim=2), numbers(model, "model", ndim=2)
    if q.shape != p.shape or len(q) == 0:
        raise InputError(f"true and model must have the same shape and rows, not {q.shape} and {p.shape}.")
    check_posteriors(q)
    check_posteriors(p)
    with np.errstate(divide="ignore", invalid="ignore"):
        own = np.where(q > 0.0, -q * np.log(q), 0.0).sum(axis=1)
        excess = np.where(q > 0.0, q * (np.log(q) - np.log(p)), 0.0).sum(axis=1)
    scale = len(q) * _log_base(base)
    conditional, divergence = math.fsum(own) / scale, max(math.fsum(excess) / scale, 0.0)
    return KnownTruth(conditional + divergence, conditional, divergence)


def _mean(side: Ranked, cost: Term) -> float:
    """Mean of a finite cost over one class, exact but for the cost's own rounding."""
    return ratio(_sum(side, slice(0, len(side.scores)), cost), side.total, UNIT)


_PIECES = 4  # per core: a core that has something else to do leaves more of them to the others


def _sum(side: Ranked, rows: slice, cost: Term) -> int:
    """Sum of weight x cost over some scores of a class, in units of 2**-1074."""
    scores, running = side.scores[rows], side.cumulative
    if running is None:
        return sum(over_parts(lambda part: exact_sum(scores[part], cost), len(scores), pieces=_PIECES))
    totals = take(running, slice(rows.start, rows.stop + 1))

    def part_sum(part: slice) -> int:
        return exact_dot_steps(scores[part], take(totals, slice(part.start, part.stop + 1)), cost)

    return sum(over_parts(part_sum, len(scores), pieces=_PIECES))


_MOST_POINTS = 1_000_000  # of a Bayes error plot


def log_odds_grid(plot: tuple[float, float, int]) -> Floats:
    """The log-odds of a Bayes error plot: from, to, how many."""
    if type(plot) is tuple and tuple(map(type, plot)) == (float, float, int):
        return _known_grid(plot)
    return _grid(plot)


def _grid(plot: tuple[float, float, int]) -> Floats:
    ends = listed(plot, "bayes_plot")
    low, high, count = numbers(ends, "bayes_plot").tolist() if len(ends) == 3 else (0.0, 0.0, 0.0)
    if not (-math.inf < low < high < math.inf) or not count.is_integer() or not 2.0 <= count <= _MOST_POINTS:
        raise InputError(f"bayes_plot must be (low, high, number of points) with low < high, not {shown(plot)}.")
    return frozen(np.linspace(low, high, int(count)))


_known_grid = lru_cache(1)(_grid)  # most evaluations ask for the same one


@dataclass(frozen=True, slots=True)
class MeanCost:
    """The mean of normalised costs over several operating points, such as NIST's C_primary.

    Attributes
    ----------
    name : str or None
        The evaluation whose primary cost it is.
    places : tuple of int
        Which rows of the evaluation's `applications` were averaged.
    dcf : float or None
        The mean of the actual costs; None for raw scores.
    min_dcf : float or None
        The mean of the separate minima: each point has a threshold of its own.
    reason : str or None
        Why a number is None.
    """

    name: str | None
    places: tuple[int, ...]
    dcf: float | None
    min_dcf: float | None
    reason: str | None = None


class _Row(Protocol):
    """What a mean needs of a result at one operating point."""

    @property
    def dcf(self) -> float | None:
        """The actual cost."""

    @property
    def min_dcf(self) -> float | None:
        """The minimum cost."""

    @property
    def reasons(self) -> Mapping[str, str]:
        """Why a number is None."""


def mean_cost(name: str | None, places: tuple[int, ...], rows: Sequence[_Row]) -> MeanCost:
    """The mean over some rows of an evaluation; undefined where one of them is."""
    own, means, reasons = [rows[place] for place in places], [], []
    for key in ("dcf", "min_dcf"):
        costs = [getattr(row, key) for row in own]
        reasons += [row.reasons.get(key) for row, cost in zip(own, costs, strict=True) if cost is None]
        means.append(None if None in costs else sum(costs) / len(costs))
    return MeanCost(name, places, means[0], means[1], reasons[0] if reasons else None)


def without_means(asked: Sequence[object]) -> tuple[list[object], list[tuple[str | None, tuple[int, ...]]]]:
    """The operating points with those of each mean in its place, and which of them belong to which mean."""
    points: list[object] = []
    means = []
    for one in asked:
        if isinstance(one, ApplicationMean):
            means.append((one.name, tuple(range(len(points), len(points) + len(one.applications)))))
            points += one.applications
        else:
            points.append(one)
    return points, means
