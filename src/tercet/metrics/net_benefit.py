"""Net benefit and decision curves: detection costs in the units of clinical statistics."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tercet._numeric.exact import quotients
from tercet._numeric.records import Record
from tercet._numeric.validation import frozen, not_negative, number, numbers, positive
from tercet._typing import Counts, Floats
from tercet._views import Shown
from tercet.application import Application
from tercet.errors import InputError
from tercet.metrics.curves import Curve
from tercet.metrics.tally import Tally
from tercet.trials import NO_LLR, Trials, as_trials, probability

DEFAULT_THRESHOLDS = frozen(np.arange(1, 100) / 100.0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DecisionCurve(Shown, Record):
    """Net benefit of a system against the threshold probability, compared with treating everyone and treating no one.

    Attributes
    ----------
    threshold : ndarray
        Threshold probabilities t: a case is accepted if and only if its probability is above t.
    net_benefit : ndarray
        TPR x prevalence - FPR x (1 - prevalence) x t / (1 - t) - harm.
    treat_all, treat_none : ndarray
        Net benefit of accepting everyone and of accepting no one (0).
    best_apparent : ndarray
        The largest net benefit that any threshold on these scores reaches on the same trials, from the minimum DCF. It
        is apparent: the threshold is chosen and evaluated on the same data.
    tpr, fpr : ndarray
        True and false positive rate of the decisions at each t.
    prevalence : float
        The share of targets that the net benefit refers to.
    harm : float
        What obtaining the scores costs per case, in net benefit.
    level : float or None
        Level of the pointwise intervals; None if there are none.
    low, high : ndarray or None
        Ends of the pointwise intervals of `net_benefit`.
    method : str or None
        How the intervals were made.
    name : str or None
        The system's name.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_posteriors([0.9, 0.4, 0.6, 0.1], [1, 1, 0, 0], trained_prior=0.5)
    >>> curve = tc.decision_curve(trials, [0.2])
    >>> curve.net_benefit.round(4).tolist(), curve.treat_all.round(4).tolist()    # 1/2 - 1/4 x 1/4 and 1/2 - 1/2 x 1/4
    ([0.4375], [0.375])
    """

    threshold: Floats
    net_benefit: Floats
    treat_all: Floats
    treat_none: Floats
    best_apparent: Floats
    tpr: Floats
    fpr: Floats
    prevalence: float
    harm: float
    level: float | None = None
    low: Floats | None = None
    high: Floats | None = None
    method: str | None = None
    name: str | None = None

    @property
    def standardised(self) -> Floats:
        """Net benefit divided by the prevalence: 1 for a perfect system without harm."""
        return frozen(self.net_benefit / self.prevalence)

    def interventions_avoided(self, per: float = 100.0) -> Floats:
        """Interventions avoided compared with treating everyone, after accounting for the targets that are missed.

        (net benefit - net benefit of treating everyone) x (1 - t) / t, for that many cases.

        Parameters
        ----------
        per : float, default 100
            The number of cases that the answer refers to.

        Returns
        -------
        ndarray
            One number per threshold; negative where treating everyone is better.

        Examples
        --------
        At t = 0.5 a system with 1 of 2 targets and 0 of 2 others accepted is worth 0.25, treating everyone 0:

        >>> from tercet import decision_curve
        >>> trials = Trials.of_posteriors([0.9, 0.4, 0.2, 0.1], [1, 1, 0, 0], trained_prior=0.5)
        >>> decision_curve(trials, [0.5]).interventions_avoided(per=100).tolist()
        [25.0]
        """
        cases = positive(per, "per")
        return frozen((self.net_benefit - self.treat_all) * ((1.0 - self.threshold) / self.threshold) * cases)

    @property
    def applications(self) -> tuple[Application, ...]:
        """The operating points (prevalence, 1 - t, t), to use with `evaluate` and `compare`."""
        return tuple(operating_point(self.prevalence, t) for t in self.threshold.tolist())

    def to_dict(self) -> dict[str, object]:
        """The entry "decision_curve" in the JSON.

        Returns
        -------
        dict
            Plain values.
        """
        columns = ("threshold", "net_benefit", "treat_all", "treat_none", "best_apparent", "standardised")
        facts: dict[str, object] = {
            "prevalence": self.prevalence,
            "harm": self.harm,
            "accepts": "probability > threshold",
        }
        facts |= {key: getattr(self, key).tolist() for key in columns}
        facts["interventions_avoided_per_100"] = self.interventions_avoided().tolist()
        if self.low is not None and self.high is not None:
            ends = np.column_stack((self.low, self.high)).tolist()
            facts |= {"net_benefit_ci": ends, "level": self.level, "method": self.method}
        return facts

    def __repr__(self) -> str:
        few = "1 threshold" if len(self.threshold) == 1 else f"{len(self.threshold)} thresholds"
        return (
            f"DecisionCurve: {few} from {self.threshold[0]:g} to {self.threshold[-1]:g}, prevalence {self.prevalence:g}"
        )


def net_benefit(trials: Trials, threshold: float, *, prevalence: float | None = None) -> float:
    """Net benefit of accepting the cases whose probability is above a threshold.

    NB(t) = TPR x prevalence - FPR x (1 - prevalence) x t / (1 - t)
    = prevalence - DCF_u / (1 - t) at Application(prevalence, 1 - t, t).

    Parameters
    ----------
    trials : Trials
        Labelled two-class trials that are not raw scores. Their probabilities are those at the given prevalence:
        posteriors that were made with exactly this prior are compared with t directly, all other scores are converted
        to llrs and compared with ln(t / (1 - t)) - logit(prevalence). To evaluate posteriors as they are, give the
        share of targets in these trials as their `trained_prior`.
    threshold : float
        Threshold probability t, strictly between 0 and 1: a false positive counts t / (1 - t) of a true positive.
        Probabilities equal to t are rejected (R's dcurves accepts them).
    prevalence : float, optional
        The share of targets that the net benefit refers to; that of the trials unless given.

    Returns
    -------
    float
        At most the prevalence; 0 for accepting no one.

    References
    ----------
    Vickers and Elkin (2006), Decision curve analysis, doi:10.1177/0272989X06295361.

    Examples
    --------
    One of two targets and one of two others are above 0.2, so 1/4 - 1/4 x 0.2 / 0.8:

    >>> trials = Trials.of_posteriors([0.9, 0.2, 0.6, 0.1], [1, 1, 0, 0], trained_prior=0.5)
    >>> net_benefit(trials, 0.2)
    0.1875
    """
    curve, _ = net_benefits(trials, [number(threshold, "threshold")], prevalence)
    return float(curve.net_benefit[0])


class Errors(NamedTuple):
    """Misses and false alarms at each threshold probability, in units of 2**unit trials."""

    misses: Counts
    alarms: Counts
    targets: int
    nontargets: int
    unit: int


def net_benefits(
    trials: Trials, thresholds: ArrayLike | None = None, prevalence: float | None = None, harm: float = 0.0
) -> tuple[DecisionCurve, Errors]:
    """The decision curve of trials in memory, and the errors behind it."""
    own = of_target(as_trials(trials))
    curve, grid = Curve.of(own), threshold_grid(thresholds)
    share = curve.targets / (curve.targets + curve.nontargets) if prevalence is None else prevalence
    share = probability(share, "prevalence")
    errors = Errors(*_errors_at(curve.tally, grid, share), curve.targets, curve.nontargets, curve.tally.unit)
    misses, alarms = _least_errors(curve, grid, share)
    least = errors._replace(misses=misses, alarms=alarms)
    return curve_of(grid, share, harm, errors, _benefit(*_rates(least), grid, share), trials.name), errors


def curve_of(
    grid: Floats, prevalence: float, harm: float, errors: Errors, best: Floats, name: str | None
) -> DecisionCurve:
    """The curve of these errors, beside the best net benefit of any threshold before harm."""
    cost = not_negative(harm, "harm")
    tpr, fpr = _rates(errors)
    return DecisionCurve(
        threshold=grid, net_benefit=frozen(_benefit(tpr, fpr, grid, prevalence) - cost),
        treat_all=frozen(_benefit(np.ones(1), np.ones(1), grid, prevalence)), treat_none=frozen(np.zeros(len(grid))),
        best_apparent=frozen(best - cost), tpr=frozen(tpr), fpr=frozen(fpr), prevalence=prevalence, harm=cost,
        name=name,
    )  # fmt: skip


def _rates(errors: Errors) -> tuple[Floats, Floats]:
    """True and false positive rates."""
    hits = errors.targets - errors.misses
    return quotients(hits, errors.targets), quotients(errors.alarms, errors.nontargets)


def _benefit(tpr: Floats, fpr: Floats, threshold: Floats, prevalence: float) -> Floats:
    """TPR x prevalence - FPR x (1 - prevalence) x t / (1 - t): the one place where rates become a net benefit."""
    return np.asarray(tpr * prevalence - fpr * (1.0 - prevalence) * (threshold / (1.0 - threshold)))


def operating_point(prevalence: float, threshold: float) -> Application:
    """Where a false alarm costs t / (1 - t) times as much as a miss."""
    return Application(prevalence, 1.0 - threshold, threshold)


def of_target(trials: Trials) -> Trials:
    """Two columns of posteriors as those of the target, so that they, not their llrs, are compared."""
    if trials.meaning == "raw":
        raise InputError(NO_LLR)
    if trials.meaning != "posteriors" or len(trials.classes) != 2:
        return trials
    assert isinstance(trials.trained_prior, tuple)
    labels = None if trials.labels is None else frozen(trials.labels == 1)
    scores = frozen(np.ascontiguousarray(trials.scores[:, 1]))
    return replace(trials, scores=scores, meaning="posterior", trained_prior=trials.trained_prior[1], labels=labels)


def threshold_grid(thresholds: ArrayLike | None) -> Floats:
    """Threshold probabilities, validated."""
    grid = DEFAULT_THRESHOLDS if thresholds is None else numbers(thresholds, "thresholds")
    outside = np.flatnonzero(~((grid > 0.0) & (grid < 1.0)))
    if len(outside):
        raise InputError(
            f"thresholds must be probabilities strictly between 0 and 1: {len(outside)} of {len(grid)} are not, the "
            f"first is {grid[outside[0]]:g} (entry {outside[0]}). A threshold on llrs belongs to an operating point."
        )
    if len(grid) == 0:
        raise InputError("thresholds must hold at least one probability.")
    return grid


def _on_own_scale(trials: Trials | Tally, prevalence: float) -> bool:
    """Whether probabilities are compared with the threshold themselves: posteriors made with this prevalence."""
    return trials.meaning == "posterior" and trials.trained_prior == prevalence


def _errors_at(tally: Tally, grid: Floats, prevalence: float) -> tuple[Counts, Counts]:
    """Misses and false alarms at each threshold, on the scale given by the convention and the meaning of the scores."""
    if _on_own_scale(tally, prevalence):
        return tally.at(grid)
    return tally.as_llr().at(np.array([operating_point(prevalence, t).threshold for t in grid.tolist()]))


def accepts(trials: Trials, threshold: float, prevalence: float) -> NDArray[np.bool_]:
    """Which trials are accepted at a threshold probability."""
    if _on_own_scale(trials, prevalence):
        return np.asarray(trials.scores > threshold)
    return np.asarray(trials.llr > operating_point(prevalence, threshold).threshold)


def _least_errors(curve: Curve, grid: Floats, prevalence: float) -> tuple[Counts, Counts]:
    """Misses and false alarms where the cost at each threshold probability is least."""
    apps = [operating_point(prevalence, t) for t in grid.tolist()]
    log_odds, factors = np.array([app.log_odds for app in apps]), np.array([app.factor for app in apps])
    return curve.hull.minimum(log_odds, factors)[2:]
