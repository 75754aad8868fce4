"""Sensitivity analyses: a prior and costs that are not known exactly, labels that are wrong, trials never verified."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from tercet._numeric.plain import plain
from tercet._numeric.validation import listed, number, numbers, probability, shown, whole
from tercet._typing import JSON, Floats
from tercet.application import Application, sigmoid
from tercet.decision import confusion_of, decide
from tercet.errors import InputError, UndefinedError
from tercet.metrics.binomial import clopper_pearson, normal_quantile
from tercet.metrics.curves import Curve
from tercet.metrics.mover import Sum
from tercet.trials import Trials, two_class
from tercet.uncertainty._clusters import grouping
from tercet.uncertainty._limits import Estimate, mapped
from tercet.uncertainty._two_class import Points, RatePair, TwoClassSample, area
from tercet.uncertainty.intervals import Bound

_MOST_ROWS = 10_000  # of a grid of shares of wrong labels


class Uncertain(NamedTuple):
    """An input that is known as a range.

    Attributes
    ----------
    low, high : float
        The range; of a distribution, the quantiles that leave out half of 1 - level on either side.
    mean : float
        The mean: of a bare range its middle.
    """

    low: float
    mean: float
    high: float


class RobustThreshold(NamedTuple):
    """One threshold and what it costs while prior and costs stay uncertain; costs are un-normalised.

    Attributes
    ----------
    criterion : str
        By which it was chosen.
    threshold : float
        On the scale of the scores; exactly the scores above it are accepted, and -inf accepts everything.
    fnr, fpr : float
        Its error rates.
    expected : float
        Its cost at the mean inputs, which is the expected cost of independent inputs.
    worst : float
        Its highest cost within the ranges.
    worst_at : tuple of three float
        The prior, cost of a miss and cost of a false alarm where it is reached.
    regret : float
        How much more it costs, at most, than the threshold that is best for the true inputs.
    regret_at : tuple of three float
        Where that is.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> row = tc.robust_thresholds(trials, (0.2, 0.8))["worst case"]
    >>> row.threshold, round(row.worst, 3)    # 0.8 x 1 x 1/3
    (-1.0, 0.267)
    """

    criterion: str
    threshold: float
    fnr: float
    fpr: float
    expected: float
    worst: float
    worst_at: tuple[float, float, float]
    regret: float
    regret_at: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class RobustThresholds:
    """The thresholds of least expected cost, least worst cost and least regret.

    Attributes
    ----------
    prior, cost_fn, cost_fp : Uncertain
        The inputs.
    rows : tuple of RobustThreshold
        One for each criterion; of llrs also the Bayes threshold at the mean inputs.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> found = tc.robust_thresholds(trials, (0.2, 0.8))
    >>> [(row.criterion, row.threshold) for row in found.rows]
    [('expected cost', -1.0), ('worst case', -1.0), ('regret', -1.0), ('Bayes at the means', 0.0)]
    """

    prior: Uncertain
    cost_fn: Uncertain
    cost_fp: Uncertain
    rows: tuple[RobustThreshold, ...]

    def __getitem__(self, criterion: str) -> RobustThreshold:
        for row in self.rows:
            if row.criterion == criterion:
                return row
        known = ", ".join(shown(row.criterion) for row in self.rows)
        raise InputError(f"criterion {shown(criterion)} is not among {known}.")

    def to_dict(self) -> JSON:
        """Plain values for JSON.

        Returns
        -------
        dict
            Plain values.
        """
        inputs = {name: getattr(self, name)._asdict() for name in ("prior", "cost_fn", "cost_fp")}
        found: JSON = plain({"inputs": inputs, "thresholds": [row._asdict() for row in self.rows]})
        return found


def robust_thresholds(
    trials: Trials, prior: object, cost_fn: object = 1.0, cost_fp: object = 1.0, *, level: float = 0.95
) -> RobustThresholds:
    """Which threshold to use if the prior and the costs are known only as ranges or distributions.

    The cost pi C_fn FNR + (1 - pi) C_fp FPR is linear in each input. So only the means of independent inputs matter for
    the expected cost, and the highest cost and the highest regret lie at the ends of the ranges.

    Parameters
    ----------
    trials : Trials
        Labelled two-class trials; raw scores are accepted too.
    prior, cost_fn, cost_fp : float, pair of float, or distribution
        A number; a range (low, high), whose mean is its middle; or a distribution with `mean()` and `ppf(q)`, such as
        `scipy.stats.beta(2, 50)`.
    level : float, default 0.95
        For a distribution: the share between the two quantiles that count as the ends for the worst case.

    Returns
    -------
    RobustThresholds
        Rows "expected cost", "worst case", "regret", and of llrs "Bayes at the means".

    References
    ----------
    Savage (1951), The theory of statistical decision, doi:10.1080/01621459.1951.10500768 (regret).

    Examples
    --------
    >>> trials = Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> found = robust_thresholds(trials, (0.2, 0.8))
    >>> row = found["worst case"]
    >>> row.threshold, round(row.fnr, 3), round(row.fpr, 3), round(row.worst, 3)
    (-1.0, 0.0, 0.333, 0.267)
    """
    flat, share = two_class(trials), probability(level, "level")
    chance, miss, alarm = (
        _uncertain(value, name, share) for name, value in (("prior", prior), ("cost_fn", cost_fn), ("cost_fp", cost_fp))
    )
    curve = Curve.of(flat)
    points = np.stack((curve.fnr, curve.fpr))
    ends = [sorted({one.low, one.high}) for one in (chance, miss, alarm)]
    corners = [Application(p, c_fn, c_fp) for p, c_fn, c_fp in product(*ends)]
    judged = _Judged(corners, Application(chance.mean, miss.mean, alarm.mean), points)
    rows = [
        judged.row(name, float(curve.thresholds[place]), points[:, place])
        for name, place in (
            ("expected cost", int(judged.expected(points).argmin())),
            ("worst case", int(judged.costs(points).max(axis=0).argmin())),
            ("regret", int(judged.regrets(points).max(axis=0).argmin())),
        )
    ]
    if flat.meaning != "raw":
        table = confusion_of(flat, judged.middle)
        rates = np.array([table.fnr, table.fpr])
        same = int(np.abs(points - rates[:, None]).sum(axis=0).argmin())  # the point with the same decisions
        threshold = judged.middle.threshold if flat.meaning == "llr" else float(curve.thresholds[same])
        rows.append(judged.row("Bayes at the means", threshold, rates))
    return RobustThresholds(chance, miss, alarm, tuple(rows))


@dataclass(frozen=True, slots=True)
class _Judged:
    """The inputs at the ends of the ranges and in the middle, and the attainable rates."""

    corners: Sequence[Application]
    middle: Application
    points: Floats

    def expected(self, points: Floats) -> Floats:
        return _cost(self.middle, points)

    def costs(self, points: Floats) -> Floats:
        """[corner, point]."""
        return np.array([_cost(app, points) for app in self.corners])

    def regrets(self, points: Floats) -> Floats:
        """[corner, point]: above the least cost there."""
        least = self.costs(self.points).min(axis=1)
        return np.asarray(self.costs(points) - least[:, None])

    def row(self, criterion: str, threshold: float, rates: Floats) -> RobustThreshold:
        at = rates[:, None]
        costs, regrets = self.costs(at)[:, 0], self.regrets(at)[:, 0]
        where = [_inputs(self.corners[int(one.argmax())]) for one in (costs, regrets)]
        return RobustThreshold(
            criterion, threshold, float(rates[0]), float(rates[1]), float(self.expected(at)[0]),
            float(costs.max()), where[0], float(regrets.max()), where[1],
        )  # fmt: skip


def _cost(app: Application, points: Floats) -> Floats:
    return np.asarray(app.prior * app.cost_fn * points[0] + (1.0 - app.prior) * app.cost_fp * points[1])


def _inputs(app: Application) -> tuple[float, float, float]:
    return app.prior, app.cost_fn, app.cost_fp


def _uncertain(value: object, name: str, level: float) -> Uncertain:
    """A number, a range or a distribution: of a prior between 0 and 1, of a cost not negative."""
    tail = (1.0 - level) / 2.0
    quantile, mean = getattr(value, "ppf", None), getattr(value, "mean", None)
    if callable(quantile) and callable(mean):
        try:
            low, middle, high = (number(one, name) for one in (quantile(tail), mean(), quantile(1.0 - tail)))
        except (TypeError, ValueError) as error:
            raise InputError(f"{name} is not a distribution with mean() and ppf(q): {error}") from error
    elif isinstance(value, tuple | list | np.ndarray) and getattr(value, "ndim", 1) > 0:
        ends = numbers(value, name).tolist()
        if len(ends) != 2 or ends[0] > ends[1]:
            raise InputError(f"{name} must be a number, a range (low, high) or a distribution, not {shown(value)}.")
        low, high = ends
        middle = low / 2.0 + high / 2.0
    else:
        low = middle = high = number(value, name)
    found = Uncertain(low, middle, high)
    if name == "prior" and not all(0.0 < one < 1.0 for one in found):
        raise InputError(f"prior must lie strictly between 0 and 1, not {shown(value)}.")
    if not all(0.0 <= one < math.inf for one in found):
        raise InputError(f"{name} must be finite and not negative, not {shown(value)}.")
    return found


class NoisyLabels(NamedTuple):
    """The numbers that trials would have had without wrong labels, if these shares of them are wrong.

    Attributes
    ----------
    wrong_targets, wrong_nontargets : float
        Shares of the labelled targets that are non-targets, and of the labelled non-targets that are targets.
    fnr, fpr, dcf, auc : Bound
        Corrected numbers with their intervals; `dcf` is None where no normalised cost exists.
    possible : bool
        Whether the trials allow for this many wrong labels: no corrected rate lies below 0 with its whole interval.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([2.0, 1.0, -0.5, -0.3, -1.0, -2.0], [1, 1, 1, 1, 0, 0])
    >>> row = tc.label_noise(trials, 0.5, wrong_targets=0.25)[0]
    >>> row.wrong_targets, round(row.fnr.value, 3)
    (0.25, 0.333)
    """

    wrong_targets: float
    wrong_nontargets: float
    fnr: Bound
    fpr: Bound
    dcf: Bound | None
    auc: Bound
    possible: bool


def label_noise(
    trials: Trials,
    application: object,
    *,
    wrong_targets: ArrayLike = 0.0,
    wrong_nontargets: ArrayLike = 0.0,
    level: float = 0.95,
    by: str | tuple[str, str] | None = None,
) -> tuple[NoisyLabels, ...]:
    """What the rates, the cost and the AUC would be if some labels were wrong, independently of the score.

    With a share e of the labelled targets being non-targets, and d of the labelled non-targets being targets, m and a
    the measured rates of rejecting and accepting them: FNR = ((1 - d)(m - e) + e (a - d)) / (1 - d - e), FPR likewise,
    AUC = (measured - (d + e) / 2) / (1 - d - e). Intervals are MOVER's and DeLong's of the measured numbers, carried
    over. Labels that are wrong more often for difficult trials are not covered.

    Parameters
    ----------
    trials : Trials
        Labelled two-class trials of llrs.
    application : Application, triple, prior or name
        The operating point.
    wrong_targets, wrong_nontargets : float or array_like
        Shares of wrong labels; every combination is tried.
    level : float, default 0.95
        Level of the intervals.
    by : str or tuple of two str, optional
        Group column(s) whose groups vary as a whole.

    Returns
    -------
    tuple of NoisyLabels
        One for each combination.

    References
    ----------
    Menon, van Rooyen, Ong and Williamson (2015), Learning from corrupted binary labels via class-probability
    estimation, ICML.

    Examples
    --------
    Half of the labelled targets are rejected; if a quarter of them are in truth non-targets, a third are:

    >>> trials = Trials.of_llr([2.0, 1.0, -0.5, -0.3, -1.0, -2.0], [1, 1, 1, 1, 0, 0])
    >>> round(label_noise(trials, 0.5, wrong_targets=0.25)[0].fnr.value, 3)
    0.333
    """
    flat, app, share = two_class(trials), Application.of(application), probability(level, "level")
    grid = [_shares(value, name) for name, value in (("wrong_targets", wrong_targets),
            ("wrong_nontargets", wrong_nontargets))]  # fmt: skip
    if len(grid[0]) * len(grid[1]) > _MOST_ROWS:
        raise InputError(f"wrong_targets and wrong_nontargets make more than {_MOST_ROWS} combinations.")
    sample = TwoClassSample.of(flat, grouping(by))
    measured = sample.actual_rates(Points.of([app]))
    if measured is None:
        raise InputError("trials must be llrs, not raw scores: calibrate first.")
    known = area(sample)
    return tuple(_denoised(measured, known, app, e, d, share) for e, d in product(*grid))


def _shares(value: object, name: str) -> list[float]:
    several = isinstance(value, Iterable) and not isinstance(value, str) and getattr(value, "ndim", 1) != 0
    found = numbers(value, name).tolist() if several else [number(value, name)]
    if not found or not all(0.0 <= one < 0.5 for one in found):
        raise InputError(f"{name} must be shares from 0 to below 0.5, not {shown(value)}.")
    return [float(one) for one in found]


def _denoised(pair: RatePair, measured: Estimate, app: Application, e: float, d: float, level: float) -> NoisyLabels:
    """The rates are linear in the measured ones, so that their intervals are those of a sum."""
    left = 1.0 - d - e
    miss = ((1.0 - d) / left, e / left, -((1.0 - d) * e + e * d) / left)
    alarm = (d / left, (1.0 - e) / left, -((1.0 - e) * d + d * e) / left)
    points = Points.of([app])
    prices = (float(points.miss[0]), float(points.alarm[0]))
    mixed = [prices[0] * m + prices[1] * a for m, a in zip(miss, alarm, strict=True)]
    parts = [_linear(pair, miss, level, 1.0), _linear(pair, alarm, level, 1.0)]
    free = app.dummy_is_free or not math.isfinite(app.factor)
    cost = None if free else _linear(pair, mixed, level, math.inf)
    shift = mapped(measured, lambda x: np.clip((x - (d + e) / 2.0) / left, 0.0, 1.0))
    low, high = shift.limits(level)
    possible = all(found for _, found in parts)
    curve = Bound(float(shift.value), float(low), float(high), measured.method(level))
    return NoisyLabels(e, d, parts[0][0], parts[1][0], None if cost is None else cost[0], curve, possible)


def _linear(pair: RatePair, factors: Sequence[float], level: float, most: float) -> tuple[Bound, bool]:
    """m x FNR + a x FPR + constant, cut to its possible range, and whether its interval reaches above 0."""
    m, a, constant = factors
    cost = pair.cost(m, a)
    found = Sum(cost.parts, cost.factors, cost.correlations)
    value, (low, high) = found.value, found.limits(level)
    one, less, more = (float(np.ravel(x)[0]) + constant for x in (value, low, high))
    one, less, high = (min(max(x, 0.0), most) for x in (one, less, more))
    return Bound(one, less, high, found.method(level)), more >= 0.0


class VerificationBias(NamedTuple):
    """Error rates where only some decisions were verified.

    Attributes
    ----------
    fnr, fpr : Bound
        Corrected rates: verification may depend on the decision, not on the truth.
    measured_fnr, measured_fpr : float
        The rates among verified cases only; nan if none of the class was verified.
    fnr_range, fpr_range : tuple of two float
        What the rates can be, whatever the unverified cases are.
    prevalence : float
        The corrected share of targets.

    Examples
    --------
    >>> import tercet as tc
    >>> found = tc.verification_bias(accepted=(80, 20, 0), rejected=(2, 98, 900))
    >>> round(found.measured_fnr, 3), round(found.fnr.value, 3)    # 2 / 82, and 20 / 100
    (0.024, 0.2)
    """

    fnr: Bound
    fpr: Bound
    measured_fnr: float
    measured_fpr: float
    fnr_range: tuple[float, float]
    fpr_range: tuple[float, float]
    prevalence: float


class _Verified(NamedTuple):
    targets: int
    nontargets: int
    unverified: int

    @classmethod
    def of(cls, counts: object, name: str) -> _Verified:
        given = listed(counts, name)
        if len(given) != 3:
            raise InputError(f"{name} must be (targets, non-targets, unverified), not {shown(counts)}.")
        found = cls(*(whole(one, f"{name}[{k}]", 0, 2**53) for k, one in enumerate(given)))
        if found.targets + found.nontargets == 0:
            raise UndefinedError(f"{name} has no verified case: nothing is known about such decisions.")
        return found

    @property
    def verified(self) -> int:
        return self.targets + self.nontargets


def verification_bias(accepted: object, rejected: object, *, level: float = 0.95) -> VerificationBias:
    """Error rates corrected for cases that were never verified, by Begg and Greenes.

    Where only some of the rejected cases are looked at again, rates among verified cases are biased. If verification
    depends on the decision but not on the truth, the share of targets among verified cases of each decision holds for
    all cases of that decision.

    Parameters
    ----------
    accepted, rejected : sequence of three int
        Of each decision: verified targets, verified non-targets, and cases without verification.
    level : float, default 0.95
        Level of the intervals.

    Returns
    -------
    VerificationBias
        Corrected and measured rates, and the range that holds without any assumption.

    References
    ----------
    Begg and Greenes (1983), Assessment of diagnostic tests when disease verification is subject to selection bias,
    doi:10.2307/2530820.

    Examples
    --------
    All 100 alarms were verified, and 100 of 1,000 rejections: the 2 misses found stand for 20.

    >>> found = verification_bias((80, 20, 0), (2, 98, 900))
    >>> round(found.measured_fnr, 3), round(found.fnr.value, 3)
    (0.024, 0.2)
    """
    yes, no = _Verified.of(accepted, "accepted"), _Verified.of(rejected, "rejected")
    share = probability(level, "level")
    totals = [one.verified + one.unverified for one in (yes, no)]
    hits, misses = (n * one.targets / one.verified for n, one in zip(totals, (yes, no), strict=True))
    alarms, rests = (n * one.nontargets / one.verified for n, one in zip(totals, (yes, no), strict=True))
    if hits + misses == 0.0 or alarms + rests == 0.0:
        raise UndefinedError("accepted and rejected hold one class only among verified cases: a rate is undefined.")
    fnr = _corrected((misses, hits), (no.targets, no.verified), (yes.targets, yes.verified), totals[::-1], share)
    fpr = _corrected((alarms, rests), (yes.nontargets, yes.verified), (no.nontargets, no.verified), totals, share)
    return VerificationBias(
        fnr, fpr, _quotient(no.targets, yes.targets), _quotient(yes.nontargets, no.nontargets),
        _range(no.targets, no.unverified, yes.targets, yes.unverified),
        _range(yes.nontargets, yes.unverified, no.nontargets, no.unverified),
        (hits + misses) / sum(totals),
    )  # fmt: skip


def verification_bias_of(
    verified: Trials, unverified: Trials, application: object, *, level: float = 0.95
) -> VerificationBias:
    """The same from scores: Bayes decisions on verified trials with labels, and on trials.

    Parameters
    ----------
    verified : Trials
        Labelled two-class trials.
    unverified : Trials
        The other trials of the same stream; labels are ignored.
    application : Application, triple, prior or name
        The operating point.
    level : float, default 0.95
        Level of the intervals.

    Returns
    -------
    VerificationBias
        As of `verification_bias`.

    Examples
    --------
    >>> seen = Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> round(verification_bias_of(seen, Trials.of_llr([-1.0, -2.0, -3.0]), 0.5).fnr.value, 3)
    0.5
    """
    table = confusion_of(two_class(verified, "verified"), Application.of(application))
    if table.unit < 0:
        raise InputError("verified must have integer weights: fractional ones are not binomial.")
    rest = two_class(unverified, "unverified")
    if rest.weights is not None:
        raise InputError("unverified takes trials without weights: repeat rows instead.")
    above = int(np.asarray(decide(rest, Application.of(application))).sum())
    return verification_bias((table.tp, table.fp, above), (table.fn, table.tn, len(rest) - above), level=level)


def _corrected(
    masses: tuple[float, float], errors: tuple[int, int], rights: tuple[int, int], totals: Sequence[int], level: float
) -> Bound:
    """A rate errors / (errors + rights) of estimated masses: its logit has the variance of independent logs."""
    wrong, right = masses
    value = wrong / (wrong + right)
    if errors[0] > 0 and rights[0] > 0:
        spread = sum((out_of - count) / (count * out_of) for count, out_of in (errors, rights))
        spread += sum(totals) / (totals[0] * totals[1])
        half = normal_quantile(level) * math.sqrt(spread)
        odds = math.log(wrong) - math.log(right)
        return Bound(value, sigmoid(odds - half), sigmoid(odds + half), "Begg-Greenes, normal on the logit scale")
    half = (1.0 + level) / 2.0  # both shares at their ends, each at half the error
    (least, most), (least_right, most_right) = (_exact(*counts, half) for counts in (errors, rights))
    low = totals[0] * least / (totals[0] * least + totals[1] * most_right)
    high = totals[0] * most / (totals[0] * most + totals[1] * least_right)
    return Bound(value, min(low, value), max(high, value), "Begg-Greenes, Clopper-Pearson by Bonferroni")


def _exact(count: int, out_of: int, level: float) -> tuple[float, float]:
    found = clopper_pearson(count, out_of, level)
    return found.low, found.high


def _quotient(wrong: int, right: int) -> float:
    return wrong / (wrong + right) if wrong + right else math.nan


def _range(wrong: int, maybe_wrong: int, right: int, maybe_right: int) -> tuple[float, float]:
    """The lowest and the highest rate that the unverified cases allow."""
    low = wrong / (wrong + right + maybe_right) if wrong + right + maybe_right else 0.0
    high = (wrong + maybe_wrong) / (wrong + maybe_wrong + right) if wrong + maybe_wrong + right else 1.0
    return low, high
