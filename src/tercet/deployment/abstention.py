"""Abstaining: error and cost of the cases that are answered, against how many are."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tercet._numeric.records import Record, checked_tuple
from tercet._numeric.validation import frozen, number, numbers, rate
from tercet._typing import Floats
from tercet.application import Application, MulticlassApplication
from tercet.decision import decisions
from tercet.errors import InputError, UndefinedError
from tercet.metrics.binomial import Interval, rate_interval
from tercet.metrics.confusion import matrix_for
from tercet.metrics.costs import class_prior
from tercet.metrics.pairing import paired
from tercet.trials import Trials, as_trials, probability
from tercet.uncertainty._clusters import group_codes
from tercet.uncertainty._limits import Mean, p_value

_ROUNDING = 2.0**-40  # of an expected cost: 1 - p is off by up to 2**-53, so by this share of a cost above 1e-4


class SelectivePoint(NamedTuple):
    """Answering only the cases whose confidence is above a threshold.

    Attributes
    ----------
    threshold : float
        On the confidence, which is minus the expected cost of the chosen action; -inf answers every case.
    coverage : float
        Share of cases answered.
    answered : int
        How many.
    error : float
        Share of wrong decisions among them.
    error_ci : Interval
        95 % interval of that share: Clopper-Pearson's below 13 errors, else Wilson's.
    cost : float
        Mean cost of them.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_posteriors([0.9, 0.8, 0.6, 0.1], [1, 0, 1, 0], trained_prior=0.5)
    >>> point = tc.risk_coverage(trials).at(error_at_most=0.0)
    >>> point.answered, point.coverage
    (2, 0.5)
    """

    threshold: float
    coverage: float
    answered: int
    error: float
    error_ci: Interval
    cost: float


class AbstentionCosts(NamedTuple):
    """Cost per case against the price of abstaining: abstain where answering is expected to cost more.

    Attributes
    ----------
    price : ndarray
        What an abstention costs.
    cost : ndarray
        Mean over all cases: that of the answers, or the price.
    coverage : ndarray
        Share of cases answered.
    best_apparent : ndarray
        The least mean cost over all thresholds on the confidence, chosen on the same cases.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_posteriors([0.9, 0.6], [1, 0], trained_prior=0.5)
    >>> tc.risk_coverage(trials).abstention_costs([0.3]).coverage.tolist()    # the case at 0.6 is left open
    [0.5]
    """

    price: Floats
    cost: Floats
    coverage: Floats
    best_apparent: Floats


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RiskCoverage(Record):
    """The risk-coverage curve: one point per distinct confidence, from the surest cases to all of them.

    Attributes
    ----------
    threshold : ndarray
        Answer the cases whose confidence is above it; the last is -inf.
    coverage : ndarray
        Share of cases answered, ascending to 1.
    error : ndarray
        Share of wrong decisions among those answered.
    cost : ndarray
        Mean cost of those answered.
    aurc : float
        Area under the curve of `cost`: the mean over k = 1..n of the mean cost of the k surest cases, where tied cases
        are averaged over their orders. Posteriors 0.9 and 0.1 of two classes are tied, although 1 - 0.9 is not 0.1 in
        floating point.
    aurc_ci : Interval or None
        Its interval, from the influence function; None for fewer than two cases.
    best_aurc : float
        The area for the best possible order of the same cases, with the costly ones last.
    cases : int
        How many.
    name : str or None
        The system's name.

    Examples
    --------
    >>> import tercet as tc
    >>> found = tc.risk_coverage(tc.Trials.of_posteriors([0.9, 0.6], [1, 0], trained_prior=0.5))
    >>> found.coverage.tolist(), found.error.tolist(), found.aurc
    ([0.5, 1.0], [0.0, 0.5], 0.25)
    """

    threshold: Floats
    coverage: Floats
    error: Floats
    cost: Floats
    aurc: float
    aurc_ci: Interval | None
    best_aurc: float
    cases: int
    _confidence: Floats
    _losses: Floats
    name: str | None = None
    _level: float = 0.95

    @property
    def excess_aurc(self) -> float:
        """aurc - best_aurc: what a better order of the same decisions would save."""
        return self.aurc - self.best_aurc

    def at(self, *, coverage: float | None = None, error_at_most: float | None = None) -> SelectivePoint:
        """The point for a requested coverage, or for a bound on the error among the cases answered.

        Parameters
        ----------
        coverage : float, optional
            The highest threshold that answers at least this share.
        error_at_most : float, optional
            The largest coverage whose error on these cases is at most this. It is apparent: the same cases choose it.

        Returns
        -------
        SelectivePoint
            Threshold, coverage, error with its interval, and cost.

        Examples
        --------
        >>> trials = Trials.of_posteriors([0.9, 0.8, 0.6, 0.1], [1, 0, 1, 0], trained_prior=0.5)
        >>> risk_coverage(trials).at(error_at_most=0.0).coverage
        0.5
        """
        if (coverage is None) == (error_at_most is None):
            raise InputError("at takes either coverage or error_at_most.")
        if coverage is not None:
            wanted = number(coverage, "coverage")
            if not 0.0 < wanted <= 1.0:
                raise InputError(f"coverage must be above 0 and at most 1, not {wanted}.")
            return self._point(int((self.coverage >= wanted).argmax()))
        bound = rate(error_at_most, "error_at_most")
        within = np.flatnonzero(self.error <= bound)
        if len(within) == 0:
            raise UndefinedError(f"No threshold keeps the error at {bound:g}: the least is {self.error.min():.4g}.")
        return self._point(int(within[-1]))

    def _point(self, place: int) -> SelectivePoint:
        answered = round(self.coverage[place] * self.cases)
        wrong = round(self.error[place] * answered)
        return SelectivePoint(
            float(self.threshold[place]), float(self.coverage[place]), answered, float(self.error[place]),
            rate_interval(wrong, answered, self._level), float(self.cost[place]),
        )  # fmt: skip

    def abstention_costs(self, prices: ArrayLike) -> AbstentionCosts:
        """Cost per case for each price of abstaining: a case is answered if its expected cost is at most the price.

        Parameters
        ----------
        prices : array_like
            What an abstention costs; finite and not negative.

        Returns
        -------
        AbstentionCosts
            Cost, coverage, and the least cost of any threshold on these cases.

        Examples
        --------
        Answering a case at posterior 0.9 is expected to cost 0.1, one at 0.6 costs 0.4 and is left out at 0.3:

        >>> trials = Trials.of_posteriors([0.9, 0.6], [1, 0], trained_prior=0.5)
        >>> risk_coverage(trials).abstention_costs([0.3]).cost.tolist()
        [0.15]
        """
        grid = numbers(prices, "prices")
        if not ((grid >= 0.0) & (grid < math.inf)).all():
            raise InputError("prices must be finite and not negative.")
        order = np.argsort(-self._confidence, kind="stable")
        answered = np.searchsorted(
            -self._confidence[order], grid * (1.0 + _ROUNDING), "right"
        )  # expected cost <= price
        paid = np.concatenate(([0.0], np.cumsum(self._losses[order])))
        points = np.concatenate(([0], np.rint(self.coverage * self.cases).astype(np.intp)))
        totals = (paid[points][None, :] + grid[:, None] * (self.cases - points)[None, :]).min(axis=1)
        cost = (paid[answered] + grid * (self.cases - answered)) / self.cases
        return AbstentionCosts(
            grid, frozen(cost), frozen(answered / self.cases), frozen(np.minimum(totals / self.cases, cost))
        )

    def to_dict(self) -> dict[str, object]:
        """The entry "risk_coverage" in the JSON, at most 201 points of the curve.

        Returns
        -------
        dict
            Plain values.
        """
        places = np.unique(np.linspace(0, len(self.coverage) - 1, min(len(self.coverage), 201)).astype(np.intp))
        facts: dict[str, object] = {
            "aurc": self.aurc, "best_aurc": self.best_aurc, "excess_aurc": self.excess_aurc, "cases": self.cases,
        }  # fmt: skip
        if self.aurc_ci is not None:
            facts["aurc_ci"] = list(self.aurc_ci[:2])
        facts |= {key: getattr(self, key)[places].tolist() for key in ("coverage", "error", "cost")}
        facts["threshold"] = [one if math.isfinite(one) else "-inf" for one in self.threshold[places].tolist()]
        return facts

    def __repr__(self) -> str:
        return f"RiskCoverage: {self.cases} cases, AURC {self.aurc:.4g}, excess {self.excess_aurc:.4g}"


def risk_coverage(trials: Trials, application: object = None, *, ci: float = 0.95) -> RiskCoverage:
    """Error and cost of answering only the surest cases, two classes or more.

    The confidence in a case is the negative of the expected cost of the action chosen for it; with 0-1 costs this is
    its largest posterior minus one. Means are over the cases as they are.

    Parameters
    ----------
    trials : Trials
        Labelled trials with llrs, log-likelihoods, logits or posteriors; integer weights repeat a case.
    application : optional
        Prior and costs that decide; 0-1 costs at the class frequencies of the trials unless given.
    ci : float, default 0.95
        Level of the interval of the area.

    Returns
    -------
    RiskCoverage
        The curve, its area and excess area.

    References
    ----------
    Geifman and El-Yaniv (2017), Selective classification for deep neural networks, arXiv:1705.08500.
    Geifman, Uziel and El-Yaniv (2019), Bias-reduced uncertainty estimation, arXiv:1805.08206 (excess AURC).

    Examples
    --------
    The surest case is right, the second wrong: mean of 0/1 and 1/2; the best order is the same:

    >>> found = risk_coverage(Trials.of_posteriors([0.9, 0.6], [1, 0], trained_prior=0.5))
    >>> found.aurc, found.excess_aurc
    (0.25, 0.0)
    """
    own = as_trials(trials)
    labels = own.known_labels().astype(np.intp)
    if len(labels) == 0:
        raise UndefinedError("There is no risk-coverage curve: there are no trials.")
    app = _application(own, application)
    chosen = decisions(own, app)
    losses = app.costs[chosen.actions, labels]
    rows = _repeated(own)
    right = np.array([[action == name for name in app.classes] for action in app.actions])
    wrong = ~right[chosen.actions, labels]
    return _curve(-chosen.expected_cost[rows], losses[rows], wrong[rows], probability(ci, "ci"), own.name)


@checked_tuple
class AurcDifference(NamedTuple):
    """The area under the risk-coverage curve of one system minus that of another, on the same cases.

    Attributes
    ----------
    value : float
        First minus second; negative where the first is better.
    low, high : float
        Its interval.
    p_value : float
        p-value of the test that there is no difference.
    first, second : float
        Both areas.
    level : float
        Level of the interval.
    method : str
        The method of the interval.

    Examples
    --------
    >>> import tercet as tc
    >>> first = tc.Trials.of_posteriors([0.9, 0.8, 0.7, 0.6], [1, 1, 1, 0], trained_prior=0.5)
    >>> second = tc.Trials.of_posteriors([0.6, 0.7, 0.8, 0.9], [1, 1, 1, 0], trained_prior=0.5)
    >>> round(tc.compare_risk_coverage(first, second, (0.5, 1, 1)).value, 3)    # 0.0625 - 0.5208
    -0.458
    """

    value: float
    low: float
    high: float
    p_value: float
    first: float
    second: float
    level: float
    method: str


def compare_risk_coverage(
    first: Trials, second: Trials, application: object = None, *, ci: float = 0.95, by: str | None = None
) -> AurcDifference:
    """The paired difference of two areas under risk-coverage curves.

    Parameters
    ----------
    first, second : Trials
        The same labelled cases scored by two systems, matched by id where they have ids; without weights.
    application : optional
        As `risk_coverage` takes it.
    ci : float, default 0.95
        Level of the interval: Student's t over the difference of each case's influence on the two areas.
    by : str, optional
        A column of groups, which vary as a whole.

    Returns
    -------
    AurcDifference
        The difference with its interval and p-value, and both areas.

    Examples
    --------
    The first system is sure of its right answers, the second of its wrong one:

    >>> labels = [1, 1, 1, 0]
    >>> first = Trials.of_posteriors([0.9, 0.8, 0.7, 0.6], labels, trained_prior=0.5)
    >>> second = Trials.of_posteriors([0.6, 0.7, 0.8, 0.9], labels, trained_prior=0.5)
    >>> found = compare_risk_coverage(first, second, (0.5, 1, 1))
    >>> round(found.first, 4), round(found.second, 4), found.value < 0.0    # 1/16 and (1 + 1/2 + 1/3 + 1/4) / 4
    (0.0625, 0.5208, True)
    """
    level = probability(ci, "ci")
    one, other = paired([as_trials(first, "first"), as_trials(second, "second")]).systems
    if one.weights is not None or other.weights is not None:
        raise InputError("Risk-coverage curves are compared on cases without weights: repeat rows instead.")
    curves = [risk_coverage(own, application, ci=level) for own in (one, other)]
    moves = np.subtract(*(_influence_of(own, application) for own in (one, other)))
    value = curves[0].aurc - curves[1].aurc
    sums, over = moves - moves.mean(), "" if by is None else " over groups"
    if by is not None:
        sums = np.bincount(group_codes(one, by), sums)
    if len(sums) < 2:
        raise UndefinedError("An interval needs at least two cases (or groups).")
    error = math.sqrt(float((sums**2).sum()) * len(sums) / (len(sums) - 1)) / len(moves)
    known = Mean(value, error, freedom=float(len(sums) - 1), how=f"influence function, paired by case{over}")
    low, high = known.limits(level)
    return AurcDifference(value, low, high, p_value(known), curves[0].aurc, curves[1].aurc, level, known.method(level))


def _influence_of(trials: Trials, application: object) -> Floats:
    """Each case's influence on the area, in the order of the trials."""
    app, labels = _application(trials, application), trials.known_labels().astype(np.intp)
    chosen = decisions(trials, app)
    losses, confidence = app.costs[chosen.actions, labels], -chosen.expected_cost
    order = np.lexsort((losses, -confidence))
    found = np.empty(len(order))
    found[order] = _influence(losses[order], _block_ends(confidence[order]))
    return found


def _application(trials: Trials, application: object) -> MulticlassApplication:
    if application is None:
        return Application.multiclass(class_prior(trials), "0-1", classes=trials.classes)
    return matrix_for(trials, application).renamed(trials.classes)


def _repeated(trials: Trials) -> NDArray[np.intp]:
    """Row numbers, each as often as its weight says."""
    if trials.weights is None:
        return np.arange(len(trials))
    if (trials.weights != np.floor(trials.weights)).any():
        raise InputError("A risk-coverage curve needs integer weights, which count repeated cases.")
    if not trials.weights.any():
        raise UndefinedError("There is no risk-coverage curve: every weight is 0.")
    return np.repeat(np.arange(len(trials)), trials.weights.astype(np.intp))


def _curve(
    confidence: Floats, losses: Floats, wrong: NDArray[np.bool_], level: float, name: str | None
) -> RiskCoverage:
    order = np.lexsort((losses, -confidence))  # ties by cost, so that sums do not depend on the order of rows
    confidence, losses, wrong = confidence[order], losses[order], wrong[order]
    size = len(losses)
    ends = _block_ends(confidence)
    paid, errors = np.cumsum(losses), np.cumsum(wrong)
    return RiskCoverage(
        threshold=frozen(np.append(confidence[ends[:-1]], -math.inf)), coverage=frozen(ends / size),
        error=frozen(errors[ends - 1] / ends), cost=frozen(paid[ends - 1] / ends), aurc=_area(losses, ends),
        aurc_ci=_area_interval(losses, ends, level) if size > 1 else None,
        best_aurc=_area(np.sort(losses), np.arange(1, size + 1)), cases=size, _confidence=frozen(confidence),
        _losses=frozen(losses), name=name, _level=level,
    )  # fmt: skip


def _block_ends(confidence: Floats) -> NDArray[np.intp]:
    """Where blocks of tied cases end, from the surest on; costs that differ by rounding alone (0.1 and 1 - 0.9) tie."""
    cost = -confidence
    return np.append(np.flatnonzero(np.diff(cost) > _ROUNDING * np.abs(cost[1:])) + 1, len(cost))


def _area(losses: Floats, ends: NDArray[np.intp]) -> float:
    """Mean over k of the mean cost of the k first cases, averaged over the orders within blocks that end at `ends`."""
    size = len(losses)
    paid = np.concatenate(([0.0], np.cumsum(losses)))
    places = np.arange(1, size + 1)
    expected = np.interp(places, np.append(0, ends), paid[np.append(0, ends)])  # linear within a block of ties
    return math.fsum(expected / places) / size


def _area_interval(losses: Floats, ends: NDArray[np.intp], level: float) -> Interval:
    """A normal interval of the area: the variance of each case's influence on E[loss x -ln(share at least as sure)]."""
    from scipy.special import ndtri

    size = len(losses)
    influence = _influence(losses, ends)
    half = float(ndtri((1.0 + level) / 2.0)) * float(influence.std(ddof=1)) / math.sqrt(size)
    value = _area(losses, ends)
    return Interval(max(value - half, 0.0), value + half, "normal (influence function)")


def _influence(losses: Floats, ends: NDArray[np.intp]) -> Floats:
    """Each case's influence on the area, in the order of confidence."""
    size = len(losses)
    share = np.repeat(ends, np.diff(np.append(0, ends))) / size  # of cases at least as sure, ties included
    direct = -losses * np.log(share)
    later = np.cumsum((losses / share)[::-1])[::-1] / size  # cases no surer than this one
    starts = np.repeat(np.append(0, ends[:-1]), np.diff(np.append(0, ends)))
    return np.asarray(direct - later[starts])


__all__ = [
    "AbstentionCosts", "AurcDifference", "RiskCoverage", "SelectivePoint", "compare_risk_coverage", "risk_coverage",
]  # fmt: skip
