"""Decisions: the action of least expected cost, and randomised rules that meet a bound on false alarms exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import ratio
from tercet._numeric.records import check_fields, checked_tuple
from tercet._numeric.validation import numbers, rate, seed_number
from tercet._typing import Array, Counts, Floats
from tercet.application import Application, MulticlassApplication
from tercet.metrics.case_costs import CaseCosts, checked_cases
from tercet.metrics.confusion import Confusion, matched_to, matrix_for
from tercet.metrics.costs import (
    class_sums,
    judge,
    no_posteriors,
    right,
    ruled_out,
    squared_distance,
    surprise,
    whole_class_weights,
)
from tercet.metrics.curves import Curve
from tercet.metrics.posteriors import (
    Likelihoods,
    empty_actions,
    least_cost_actions,
    least_cost_rule,
    over_blocks,
    posteriors,
    priced,
)
from tercet.metrics.summary import ClassSummary
from tercet.trials import Trials, as_trials, two_class


@checked_tuple
class Decisions(NamedTuple):
    """The chosen actions, their expected costs, and how much more the second-best actions would cost.

    Attributes
    ----------
    actions : numpy.ndarray of int
        The chosen action's number per trial.
    expected_cost : numpy.ndarray of float
        What the chosen action is expected to cost.
    margin : numpy.ndarray of float
        How much more the second best action would cost.

    Examples
    --------
    >>> import tercet as tc
    >>> found = tc.decisions(tc.Trials.of_llr([2.0, -1.0]), (0.5, 1, 1))
    >>> found.actions.tolist(), found.expected_cost.round(3).tolist()    # 1 / (1 + e^2) and 1 / (1 + e)
    ([1, 0], [0.119, 0.269])
    """

    actions: Array
    expected_cost: Floats
    margin: Floats


def decide(trials: Trials, application: object) -> Array:
    """Bayes decisions, as action numbers.

    For two classes: 1 if llr > -tau, else 0. For a cost matrix: the action of least expected cost under the posteriors;
    on ties, the one with the lowest number.

    Parameters
    ----------
    trials : Trials
        Trials whose scores have a meaning; labels are not looked at.
    application : Application, MulticlassApplication, CaseCosts, tuple, float or str
        The operating point, or costs per case.

    Returns
    -------
    numpy.ndarray of int
        The action's number per trial.

    References
    ----------
    .. [1] C. Elkan, "The foundations of cost-sensitive learning", Proc. IJCAI, 2001, 973-978.

    Examples
    --------
    >>> decide(Trials.of_llr([1.0, -3.0, 0.0]), (0.5, 1, 1)).tolist()
    [1, 0, 0]
    """
    if isinstance(application, MulticlassApplication):
        return least_cost_actions(matrix_for(trials, application), Likelihoods.of(as_trials(trials)))
    if isinstance(application, CaseCosts):
        return application.accepted(trials).astype(np.int8)
    threshold = Application.of(application).threshold
    return (_as_two_class(trials).llr > threshold).astype(np.int8)


def decisions(trials: Trials, application: object) -> Decisions:
    """Decisions with their expected costs and margins.

    Parameters
    ----------
    trials : Trials
        Trials whose scores have a meaning.
    application : Application, MulticlassApplication, CaseCosts, tuple, float or str
        The operating point, or costs per case.

    Returns
    -------
    Decisions
        Actions, expected costs and margins per trial.

    Examples
    --------
    >>> app = Application.multiclass([1/3, 1/3, 1/3], "ordinal")
    >>> row = Trials.of_posteriors([[.40, .25, .35]], trained_prior=app.prior)
    >>> chosen = decisions(row, app)
    >>> chosen.actions.tolist(), chosen.expected_cost.round(2).tolist(), chosen.margin.round(2).tolist()
    ([1], [0.75], [0.2])
    """
    costs = expected_costs(trials, application)
    actions = decide(trials, application)
    rows = np.arange(len(costs))
    chosen = costs[rows, actions]
    others = costs.copy()
    others[rows, actions] = math.inf
    second = others.min(axis=1) if costs.shape[1] > 1 else chosen
    return Decisions(actions, chosen, np.maximum(second - chosen, 0.0))


def expected_costs(trials: Trials, application: object) -> Floats:
    """What each action is expected to cost, one row per trial: C P, P the posteriors.

    Parameters
    ----------
    trials : Trials
        Trials whose scores have a meaning.
    application : Application, MulticlassApplication, CaseCosts, tuple, float or str
        The operating point, or costs per case.

    Returns
    -------
    numpy.ndarray of shape (n, D)
        Expected costs, one column per action.

    Examples
    --------
    >>> expected_costs(Trials.of_llr([0.0]), (0.5, 1, 2)).tolist()
    [[0.5, 1.0]]
    >>> expected_costs(Trials.of_llr([0.0, 0.0]), CaseCosts(0.5, cost_fn=[90, 30], cost_fp=10)).tolist()
    [[45.0, 5.0], [15.0, 5.0]]
    """
    as_trials(trials)
    if isinstance(application, CaseCosts):
        return _case_costs(checked_cases(trials, application), application)
    app = matrix_for(trials, application)
    shares = posteriors(trials, app.prior)
    result = np.empty((len(shares), len(app.costs)))

    def fill(rows: slice) -> None:
        result[rows] = priced(app.costs, shares[rows].T).T

    over_blocks(fill, *shares.shape)
    return result


def _case_costs(trials: Trials, costs: CaseCosts) -> Floats:
    """What rejecting and accepting each case is expected to cost; equal costs are those of the ordinary application."""
    if (same := costs.common()) is not None:
        return expected_costs(trials, same)
    other, target = posteriors(trials, costs.prior).T
    return np.stack([target * costs.cost_fn, other * costs.cost_fp + target * costs.cost_tp], axis=1)


def confusion_of(trials: Trials, application: object) -> Confusion:
    """The confusion matrix of the Bayes decisions on labelled trials.

    Parameters
    ----------
    trials : Trials
        Labelled trials whose scores have a meaning.
    application : Application, MulticlassApplication, tuple, float or str
        The operating point.

    Returns
    -------
    Confusion
        Counts, rows = decision, columns = true class.

    Examples
    --------
    >>> confusion_of(Trials.of_llr([1.0, -3.0, 0.5], [1, 0, 0]), 0.5).matrix
    [[1, 0], [1, 1]]
    """
    labels = as_trials(trials).known_labels()
    if not isinstance(application, MulticlassApplication):
        two = _as_two_class(trials)
        return Confusion._counted(
            decide(two, application), two.known_labels(), two.classes, two.classes, two.classes[1], trials.weights
        )
    app = matrix_for(trials, application).renamed(trials.classes)
    target = trials.classes[1] if len(trials.classes) == 2 else None
    return Confusion._counted(decide(trials, app), labels, app.classes, app.actions, target, trials.weights)


class ClassRows(NamedTuple):
    """Labelled rows of several classes, as their summary reads them."""

    likelihoods: Likelihoods
    labels: NDArray[np.intp]
    classes: tuple[str, ...]
    weights: Floats | None = None
    one_score: bool = False  # per trial, of two classes
    file: int = 0  # the number of the file or chunk that they are from, of the first row in it, and a name for messages
    first: int = 0
    called: str = ""

    @classmethod
    def of(cls, trials: Trials) -> ClassRows:
        """Those of labelled trials."""
        labels = trials.known_labels().astype(np.intp, copy=False)
        return cls(Likelihoods.of(trials), labels, trials.classes, trials.weights, not trials.is_matrix)

    def within(self, file: int, first: int, called: str) -> ClassRows:
        """The same, as rows of a file of this number and name, from this row on."""
        return self._replace(file=file, first=first, called=called)


def class_summary(
    rows: ClassRows, share: Floats | None, applications: Sequence[MulticlassApplication], why: str = ""
) -> ClassSummary:
    """What rows of K classes leave behind for an evaluation; summaries of parts add up to that of the whole.

    Parameters
    ----------
    rows : ClassRows
        Labelled rows, of which `share` need not be the own class frequencies: they may be a part of more.
    share : ndarray of float or None
        The class frequencies of all trials; None where they are undefined, and so are accuracy, log-loss and Brier.
    applications : sequence of MulticlassApplication
        Whose decisions are counted.
    why : str
        Why the class frequencies are undefined.
    """
    count = len(rows.labels)
    apps = [matched_to(app, rows.classes, one_score=rows.one_score).renamed(rows.classes) for app in applications]
    rules = [(least_cost_rule(app), empty_actions(app, count)) for app in apps]
    hits, nats, squares = np.zeros(count, np.bool_), np.zeros(count), np.zeros(count)
    judged, at = None, (0, 0)
    if share is not None:
        if (bad := ruled_out(rows.likelihoods, share)) is None:
            judged = judge(rows.likelihoods, rows.labels, share)
        else:
            at = rows.file, rows.first + bad
            why = no_posteriors(at[1], rows.called)

    def fill(part: slice) -> None:
        block = rows.likelihoods.block(part)
        for rule, actions in rules:
            actions[part] = rule(block)
        if judged is not None:
            own = judged(block, part)
            hits[part], nats[part], squares[part] = right(own), surprise(own), squared_distance(own)

    over_blocks(fill, *rows.likelihoods.shape)
    tables = [
        Confusion._counted(actions, rows.labels, app.classes, app.actions, None, rows.weights).counts
        for app, (_, actions) in zip(apps, rules, strict=True)
    ]
    sizes, weights, unit = whole_class_weights(rows.labels, rows.weights, len(rows.classes))
    log_loss, brier = class_sums(rows.labels, len(rows.classes), weights, nats, squares)
    return ClassSummary(
        tuple(sizes), unit, tuple(tuple(int(n) for n in table.ravel()) for table in tables),
        int(np.count_nonzero(hits) if weights is None else weights[hits].sum()),
        log_loss, brier, why, rows.classes, at,
    )  # fmt: skip


def _as_two_class(trials: Trials) -> Trials:
    if as_trials(trials).is_matrix and len(trials.classes) == 2:
        return trials.versus(trials.classes[1], trials.classes[0])
    return trials


@dataclass(frozen=True, slots=True)
class RandomisedRule:
    """Accept scores above `upper` always, and scores in (lower, upper] with a probability.

    If the bound falls on tied scores, `lower` is the next score below them, so that only the tied scores are accepted
    at random. The rates are those on the trials that the rule was made from.

    Attributes
    ----------
    lower : float or None
        Scores at or below it are always rejected. None if there is no lower end, so that scores of -inf are accepted at
        random too.
    upper : float
        Scores above it are always accepted.
    probability : float
        The probability of accepting a score in (lower, upper].
    fpr : float
        Expected false-alarm rate.
    tpr : float
        Expected true positive rate.

    Examples
    --------
    >>> import tercet as tc
    >>> rule = tc.hull_rule(tc.Trials.of_llr([3.0, 1.0, 2.0, 0.0], [1, 1, 0, 0]), 0.25)
    >>> rule.lower, rule.upper, rule.fpr, rule.tpr
    (0.0, 2.0, 0.25, 0.75)
    """

    lower: float | None
    upper: float
    probability: float
    fpr: float
    tpr: float

    def __post_init__(self) -> None:
        check_fields(self)
        for name in ("probability", "fpr", "tpr"):
            rate(getattr(self, name), name)

    @property
    def threshold(self) -> float:
        """Scores above it are always accepted."""
        return self.upper

    def __call__(self, scores: Trials | Floats, *, seed: int) -> NDArray[np.int8]:
        """Decisions for scores of the same kind; the same seed gives the same draws."""
        values = two_class(scores).scores if isinstance(scores, Trials) else numbers(scores, "scores")
        drawn = np.random.default_rng(seed_number(seed)).random(len(values)) < self.probability
        between = values <= self.upper
        if self.lower is not None:
            between &= values > self.lower
        return ((values > self.upper) | (between & drawn)).astype(np.int8)


def neyman_pearson(curve: Curve, fpr_at_most: float) -> RandomisedRule:
    """The threshold rule with the largest TPR whose FPR is at most a bound, which it reaches by randomising among ties.

    Parameters
    ----------
    curve : Curve, Tally or Trials
        The scores to make the rule from.
    fpr_at_most : float
        The largest false-alarm rate allowed, from 0 to 1.

    Returns
    -------
    RandomisedRule
        The rule; accepting some scores at random lets it reach the bound exactly.

    Examples
    --------
    >>> from tercet import Tally
    >>> rule = neyman_pearson(Curve.of(Tally.of(Trials.of_llr([3., 1., 1., 0.], [1, 1, 0, 0]))), 0.25)
    >>> rule.threshold, rule.probability, rule.tpr
    (1.0, 0.5, 0.75)
    """
    known = Curve.of(curve)
    return _between(known, known.thresholds, known.misses, known.false_alarms, fpr_at_most, "fpr_at_most")


def hull_rule(curve: Curve, fpr: float) -> RandomisedRule:
    """The randomised rule on the convex hull at a false-alarm rate: no threshold rule on these scores does better.

    Parameters
    ----------
    curve : Curve, Tally or Trials
        The scores to make the rule from.
    fpr : float
        The false-alarm rate to reach, from 0 to 1.

    Returns
    -------
    RandomisedRule
        The rule between the two vertices of the hull.

    Examples
    --------
    >>> hull_rule(Trials.of_llr([3.0, 1.0, 2.0, 0.0], [1, 1, 0, 0]), 0.25).tpr
    0.75
    """
    known = Curve.of(curve)
    hull = known.hull
    return _between(known, hull.thresholds, hull.misses, hull.false_alarms, fpr, "fpr")


def most_within(bound: float, total: int) -> int:
    """The largest count whose rate, the rounded quotient count / total, is at most a bound.

    A rate is the double that is shown, and it is compared with the bound as given: 3 of 10 are within 0.3, although
    the double 0.3 lies below 3/10.

    >>> most_within(0.3, 10)
    3
    """
    above, below = bound.as_integer_ratio()
    count = above * total // below
    while count < total and (count + 1) / total <= bound:
        count += 1
    return count


def _between(
    curve: Curve, thresholds: Floats, misses: Counts, alarms: Counts, bound: object, name: str
) -> RandomisedRule:
    """The point of a piecewise linear curve at a false-alarm rate; of a vertical stretch, its top."""
    share = rate(bound, name)
    numerator, denominator = share.as_integer_ratio()
    allowed = numerator * curve.nontargets  # in units of 1 / denominator: whole numbers throughout
    within = most_within(share, curve.nontargets)
    place = int(np.searchsorted(-alarms, -within))  # the lowest threshold within the bound
    if place == 0:
        return RandomisedRule(None, -math.inf, 1.0, 1.0, 1.0)
    lower, upper = ((int(misses[i]), int(alarms[i])) for i in (place - 1, place))
    at_the_bound = upper[1] / curve.nontargets == share  # the rate as shown: then nothing is left to draw for
    spare = 0 if at_the_bound else allowed - upper[1] * denominator
    step = (lower[1] - upper[1]) * denominator
    gained = (upper[0] - lower[0]) * spare
    return RandomisedRule(
        None if place == 1 else float(thresholds[place - 1]),
        float(thresholds[place]),
        ratio(spare, step),
        ratio(upper[1] * step + (lower[1] - upper[1]) * spare, curve.nontargets * step),
        ratio((curve.targets - upper[0]) * step + gained, curve.targets * step),
    )
