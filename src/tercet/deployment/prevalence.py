"""A changed prior: the share of targets among unlabelled scores, and the expected cost of decisions on them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from tercet._numeric.records import Record
from tercet._numeric.validation import chosen, number
from tercet._typing import Floats
from tercet.application import Application, sigmoid
from tercet.calibration.two_class import Logistic, check_meaning
from tercet.decision import decide, expected_costs
from tercet.errors import InputError, UndefinedError
from tercet.metrics.binomial import Interval, clopper_pearson
from tercet.metrics.curves import Curve
from tercet.metrics.mover import Share, mover
from tercet.trials import Trials, probability, two_class

Method = Literal["em", "rogan-gladen"]
ASSUMPTION = (
    "This assumes that only the share of targets has changed: the scores of targets, and those of non-targets, are "
    "distributed as in the labelled trials."
)
_FIXED = "the llrs are assumed to be perfectly calibrated, so the interval ignores the uncertainty of the calibration"
_FAR = 40.0  # log-odds beyond which a share is 0 or 1 in double precision
_HALVINGS = 60


@dataclass(frozen=True, slots=True)
class Prevalence(Record):
    """An estimated share of targets with its interval.

    Attributes
    ----------
    value, low, high : float
        The estimate and the ends of its interval, all within 0..1.
    level : float
        Level of the interval.
    method : str
        "em" or "rogan-gladen", and how the interval was made.
    trials : int
        How many unlabelled scores.
    notes : tuple of str
        What a reader needs to know, starting with the assumption.

    Examples
    --------
    >>> import tercet as tc
    >>> found = tc.estimate_prevalence(tc.Trials.of_llr([9.0] * 3 + [-9.0] * 7))
    >>> found.trials, round(found.value, 3)
    (10, 0.3)
    """

    value: float
    low: float
    high: float
    level: float
    method: str
    trials: int
    notes: tuple[str, ...]

    def application(self, cost_fn: float = 1.0, cost_fp: float = 1.0) -> Application:
        """The operating point at the estimated share, to evaluate and decide with.

        Parameters
        ----------
        cost_fn, cost_fp : float, default 1
            Costs of a miss and of a false alarm.

        Returns
        -------
        Application
            The operating point at `value`; there is none for a share of 0 or 1.
        """
        if not 0.0 < self.value < 1.0:
            raise UndefinedError(f"The estimated share of targets is {self.value:g}: no application has such a prior.")
        return Application(self.value, cost_fn, cost_fp)

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON.

        Returns
        -------
        dict
            Plain values.
        """
        return {
            "prevalence": self.value, "prevalence_ci": [self.low, self.high], "level": self.level,
            "method": self.method, "trials": self.trials, "notes": list(self.notes),
        }  # fmt: skip


def estimate_prevalence(
    trials: Trials,
    calibration: Trials | None = None,
    *,
    method: Method = "em",
    threshold: float | None = None,
    ci: float = 0.95,
) -> Prevalence:
    """The share of targets among unlabelled scores.

    Parameters
    ----------
    trials : Trials
        Scores without labels (labels are not looked at).
    calibration : Trials, optional
        Labelled trials with scores of the same kind, independent of `trials`. A logistic calibration is trained on
        them, and its sampling error is part of the interval. Without them, the scores must be llrs and are assumed to
        be perfectly calibrated, which makes the interval too narrow.
    method : {"em", "rogan-gladen"}, default "em"
        Maximum likelihood from the llrs, where the mean posterior equals the prior; or Rogan and Gladen's inversion
        (q - FPR) / (TPR - FPR) of the accepted share q at one threshold.
    threshold : float, optional
        For "rogan-gladen": accept scores above it, on the scale of the scores; where the trained llr is 0 unless given.
    ci : float, default 0.95
        Level of the interval. "em": inverted score test with the calibrator's covariance carried through; "rogan-
        gladen": Lang and Reiczigel's.

    Returns
    -------
    Prevalence
        With the estimate, its interval, and what was assumed.

    Raises
    ------
    UndefinedError
        For "rogan-gladen" where the interval of TPR - FPR includes 0: then the accepted share says nothing.

    References
    ----------
    Saerens, Latinne and Decaestecker (2002), doi:10.1162/089976602753284446. Rogan and Gladen (1978),
    doi:10.1093/oxfordjournals.aje.a112510. Lang and Reiczigel (2014), doi:10.1016/j.prevetmed.2013.09.015.

    Examples
    --------
    Certain llrs count themselves:

    >>> found = estimate_prevalence(Trials.of_llr([9.0] * 3 + [-9.0] * 7))
    >>> round(found.value, 3)
    0.3
    """
    own = two_class(trials)
    level = probability(ci, "ci")
    if len(own) == 0:
        raise UndefinedError("The share of targets is undefined: there are no scores.")
    if own.weights is not None:
        raise InputError("estimate_prevalence takes scores without weights: repeat rows instead.")
    if chosen(method, "method", ("em", "rogan-gladen")) == "rogan-gladen":
        return _rogan_gladen(own, calibration, threshold, level)
    if threshold is not None:
        raise InputError('threshold belongs to method="rogan-gladen".')
    return _maximum_likelihood(own, calibration, level)


class DeployedCost(NamedTuple):
    """The expected cost per case of decisions without labels, as the llrs see it.

    Attributes
    ----------
    expected : float
        Mean over the cases of the expected cost of the chosen action.
    interval : Interval
        Of that mean over cases like these ("normal"), the llrs taken as calibrated.
    accepted : float
        Share of cases accepted.
    reference_expected, reference_actual : float or None
        The same expectation on labelled reference trials weighted to the application's prior, and what the decisions
        really cost there (DCF_u): where they differ the llrs are not calibrated and neither number can be trusted.

    Examples
    --------
    >>> import tercet as tc
    >>> found = tc.deployed_cost(tc.Trials.of_llr([0.0, float("inf"), float("-inf"), 0.0]), (0.5, 1, 1))
    >>> found.accepted, found.expected    # two cases of four cost 1/2 each
    (0.25, 0.25)
    """

    expected: float
    interval: Interval
    accepted: float
    reference_expected: float | None
    reference_actual: float | None


def deployed_cost(
    trials: Trials, application: object, *, reference: Trials | None = None, ci: float = 0.95
) -> DeployedCost:
    """The expected cost of Bayes decisions on unlabelled llrs, compared with that on a labelled reference set.

    Parameters
    ----------
    trials : Trials
        Scores without labels that are llrs or can be converted to them.
    application : Application, triple or name
        Prior and costs; the prior may come from `estimate_prevalence`.
    reference : Trials, optional
        Labelled trials of the same recogniser.
    ci : float, default 0.95
        Level of the interval.

    Returns
    -------
    DeployedCost
        The expected cost per case, its interval, and the reference's expected and actual cost.

    Examples
    --------
    At llr 0 and prior 1/2 the posterior is 1/2, and rejecting costs 1/2; at llr +-inf nothing:

    >>> deployed_cost(Trials.of_llr([0.0, float("inf"), float("-inf"), 0.0]), (0.5, 1, 1)).expected
    0.25
    """
    from scipy.special import ndtri

    app, level = Application.of(application), probability(ci, "ci")
    own = two_class(trials)
    if len(own) < 2:
        raise UndefinedError("The expected cost and its interval need at least two cases.")
    if own.weights is not None:
        raise InputError("deployed_cost takes scores without weights: repeat rows instead.")
    costs, actions = _chosen_costs(own, app)
    mean = math.fsum(costs) / len(costs)
    half = float(ndtri((1.0 + level) / 2.0)) * float(costs.std(ddof=1)) / math.sqrt(len(costs))
    ends = Interval(max(mean - half, 0.0), mean + half, "normal")
    seen, actual = (None, None) if reference is None else _reference(reference, app)
    return DeployedCost(mean, ends, float(actions.mean()), seen, actual)


def _chosen_costs(trials: Trials, app: Application) -> tuple[Floats, Floats]:
    """Each case's expected cost of the action taken, and the actions."""
    actions = decide(trials, app)
    costs = expected_costs(trials, app)
    return costs[np.arange(len(costs)), actions], actions.astype(np.float64)


def _reference(reference: Trials, app: Application) -> tuple[float, float]:
    """Expected and actual cost on labelled trials, the classes weighted by the application's prior."""
    own = two_class(reference, "reference")
    labels = own.known_labels().astype(np.bool_)
    costs, _ = _chosen_costs(own, app)
    curve = Curve.of(own)
    weights = np.ones(len(own)) if own.weights is None else own.weights
    parts = [float(np.average(costs[rows], weights=weights[rows])) for rows in (labels, ~labels)]
    misses, alarms = (int(count) for count in curve.tally.as_llr().at(app.threshold))
    actual = app.dcf_u(fnr=misses / curve.targets, fpr=alarms / curve.nontargets)
    return app.prior * parts[0] + (1.0 - app.prior) * parts[1], actual


# --- Maximum likelihood ---


class _Mixture(NamedTuple):
    """Unlabelled llrs, and how they move with the calibrator's slope and offset."""

    llr: Floats
    small: Floats  # e^-|llr|
    scores: Floats
    covariance: Floats | None

    def excess(self, log_odds: float) -> float:
        """The likelihood's slope along the prior, per case: above 0 where the prior is too small."""
        return float(np.mean(self._slopes(log_odds)[0]))

    def score(self, log_odds: float) -> float:
        """The slope in standard errors: that of the mean over these scores, and that of the calibrator."""
        slopes, steep = self._slopes(log_odds)
        gap = float(np.mean(slopes))
        variance = float(np.var(slopes)) / len(slopes)
        if self.covariance is not None:
            gradient = np.array([np.mean(steep * self.scores), np.mean(steep)])
            variance += float(gradient @ self.covariance @ gradient)
        return gap / math.sqrt(variance) if variance > 0.0 else math.copysign(math.inf, gap) if gap else 0.0

    def _slopes(self, log_odds: float) -> tuple[Floats, Floats]:
        """(e^l - 1) / (1 + prior (e^l - 1)) and its derivative by l, without overflow."""
        prior, rest = sigmoid(log_odds), sigmoid(-log_odds)
        positive = self.llr > 0.0
        mixed = np.where(positive, rest * self.small + prior, rest + prior * self.small)
        gain = 1.0 - self.small
        return np.where(positive, gain, -gain) / mixed, self.small / (mixed * mixed)


def _maximum_likelihood(trials: Trials, calibration: Trials | None, level: float) -> Prevalence:
    from scipy.special import ndtri

    mixture, notes = _mixture(trials, calibration)
    if not mixture.llr.any():
        raise UndefinedError(
            "The share of targets is undefined: every llr is 0, so each share is as likely as another."
        )
    found = _crossing(mixture.excess, 0.0, -_FAR, _FAR)
    reach = float(ndtri((1.0 + level) / 2.0))
    low = _end(mixture.score, reach, found, -1.0)
    high = _end(mixture.score, -reach, found, 1.0)
    value, low, high = (0.0 if at <= -_FAR else 1.0 if at >= _FAR else sigmoid(at) for at in (found, low, high))
    low, high = _no_shorter_than_labels(value, (low, high), len(trials), level)
    method = "em; inverted score test" + ("" if calibration is None else " with the calibrator's covariance")
    return Prevalence(value, low, high, level, method, len(trials), (ASSUMPTION, *notes))


def _no_shorter_than_labels(value: float, ends: tuple[float, float], cases: int, level: float) -> tuple[float, float]:
    """An interval at 0 or 1 that is at least that of labels of all cases, of which none (or every one) is a target."""
    if value not in (0.0, 1.0):
        return ends
    labelled = clopper_pearson(round(value * cases), cases, level)
    return min(ends[0], labelled.low), max(ends[1], labelled.high)


def _end(score: Callable[[float], float], reach: float, start: float, step: float) -> float:
    """The nearest log-odds beyond which the score exceeds its limit; far out, where little is known, it may return."""
    inner, width = start, 0.05
    while step * inner < _FAR:
        outer = min(max(inner + step * width, -_FAR), _FAR)
        if step * (score(outer) - reach) < 0.0:
            return _crossing(score, reach, min(inner, outer), max(inner, outer))
        inner, width = outer, width * 1.2
    return inner


def _crossing(function: Callable[[float], float], wanted: float, low: float, high: float) -> float:
    """Where a falling function passes a value; the end where it never does."""
    if not function(low) > wanted:
        return low
    if not function(high) < wanted:
        return high
    for _ in range(_HALVINGS):
        middle = (low + high) / 2.0
        low, high = (middle, high) if function(middle) > wanted else (low, middle)
    return (low + high) / 2.0


def _mixture(trials: Trials, calibration: Trials | None) -> tuple[_Mixture, tuple[str, ...]]:
    """The llrs to mix, and the covariance of the calibration that made them."""
    if calibration is None:
        llr = trials.llr
        return _Mixture(llr, np.exp(-np.abs(llr)), trials.scores, None), (_FIXED,)
    labelled = two_class(calibration, "calibration")
    if labelled.weights is not None:
        raise InputError("The calibration trials must have no weights: repeat rows instead.")
    model = Logistic.fit(labelled, 0.5)
    check_meaning(trials, model.training)
    if not np.isfinite(trials.scores).all():
        raise InputError("estimate_prevalence needs finite scores: leave the infinite ones out, and report it.")
    note = f"logistic calibration trained on {model.training['targets']} + {model.training['nontargets']} trials"
    llr = model.slope * trials.scores + model.offset
    middle = float(np.median(labelled.scores))
    with np.errstate(over="ignore"):
        unit = float(np.abs(labelled.scores - middle).max())
    covariance = _covariance(labelled, model, (labelled.scores - middle) / unit)
    return _Mixture(llr, np.exp(-np.abs(llr)), (trials.scores - middle) / unit, covariance), (note,)


def _covariance(trials: Trials, model: Logistic, standard: Floats) -> Floats:
    """Sandwich covariance of slope and offset, targets and non-targets sampled apart.

    The slope is that along the standard scores, so that neither their size nor a shift costs any digits.
    """
    labels = trials.known_labels().astype(np.bool_)
    if min(labels.sum(), (~labels).sum()) < 2:
        raise UndefinedError("The sampling error of the calibration is undefined: it needs two trials of each class.")
    odds = model.slope * trials.scores + model.offset
    share = 1.0 / (1.0 + np.exp(-np.clip(odds, -700.0, 700.0)))
    design = np.stack((standard, np.ones(len(odds))), axis=1)
    hessian, spread = np.zeros((2, 2)), np.zeros((2, 2))
    for rows, residual in ((labels, 1.0 - share), (~labels, share)):
        count = int(rows.sum())
        own = design[rows]
        steep = (share * (1.0 - share))[rows]
        hessian += 0.5 * (own * steep[:, None]).T @ own / count
        spread += 0.25 * np.cov(own * residual[rows][:, None], rowvar=False) / count
    try:
        with np.errstate(all="ignore"):
            inverse = np.linalg.inv(hessian)
            found = np.asarray(inverse @ spread @ inverse)
    except np.linalg.LinAlgError:
        found = np.full((2, 2), math.nan)
    if not np.isfinite(found).all():
        raise UndefinedError(
            "The sampling error of the calibration is undefined: a few labelled scores are far too large."
        )
    return found


# --- Rogan and Gladen ---


def _rogan_gladen(trials: Trials, calibration: Trials | None, threshold: float | None, level: float) -> Prevalence:
    if calibration is None:
        raise InputError('method="rogan-gladen" needs labelled trials (calibration=...) to estimate TPR and FPR.')
    labelled = two_class(calibration, "calibration")
    if (labelled.meaning, labelled.trained_prior) != (trials.meaning, trials.trained_prior):
        raise InputError("The calibration trials must have scores of the same meaning as the unlabelled ones.")
    at = _zero_of(labelled) if threshold is None else number(threshold, "threshold")
    table = Curve.of(labelled).confusion(at)
    hits, targets = table.proportion("tpr")
    rejected, nontargets = table.proportion("tnr")
    youden = mover([[Share(1.0, hits, targets)], [Share(-1.0, nontargets - rejected, nontargets)]], level)
    if youden.low <= 0.0:
        raise UndefinedError(
            f"The accepted share says nothing about the share of targets: TPR - FPR at the threshold {at:g} lies in "
            f"{youden.low:.3g} to {youden.high:.3g}, which includes 0. Take another threshold or more labelled trials."
        )
    accepted = int((trials.scores > at).sum())
    value = (accepted / len(trials) + rejected / nontargets - 1.0) / (hits / targets + rejected / nontargets - 1.0)
    low, high = _lang_reiczigel(accepted, len(trials), (hits, targets), (rejected, nontargets), level)
    note = f"TPR and FPR at the threshold {at:g} from {targets} + {nontargets} labelled trials"
    value, low, high = (min(max(one, 0.0), 1.0) for one in (value, low, high))
    low, high = _no_shorter_than_labels(value, (low, high), len(trials), level)
    method = "rogan-gladen; Lang and Reiczigel's interval"
    return Prevalence(value, low, high, level, method, len(trials), (ASSUMPTION, note))


def _zero_of(labelled: Trials) -> float:
    """The score at which a logistic calibration gives llr 0."""
    model = Logistic.fit(labelled, 0.5)
    if not model.slope > 0.0:
        raise UndefinedError("Higher scores are not more often targets: choose the threshold yourself (threshold=...).")
    return -model.offset / model.slope


def _lang_reiczigel(
    accepted: int, trials: int, sensitive: tuple[int, int], specific: tuple[int, int], level: float
) -> tuple[float, float]:
    """Interval of a share adjusted for estimated sensitivity and specificity, from counts with a few added."""
    from scipy.special import ndtri

    z = float(ndtri((1.0 + level) / 2.0))
    share, size = (accepted + z * z / 2.0) / (trials + z * z), trials + z * z
    se, sp = ((count + 1.0) / (out_of + 2.0) for count, out_of in (sensitive, specific))
    se_spread, sp_spread = se * (1.0 - se) / (sensitive[1] + 2.0), sp * (1.0 - sp) / (specific[1] + 2.0)
    found = (share + sp - 1.0) / (se + sp - 1.0)
    shift = 2.0 * z * z * (found * se_spread - (1.0 - found) * sp_spread)  # their equation 17
    variance = share * (1.0 - share) / size + found**2 * se_spread + (1.0 - found) ** 2 * sp_spread
    half = z * math.sqrt(variance) / (se + sp - 1.0)
    return found + shift - half, found + shift + half


__all__ = ["DeployedCost", "Prevalence", "deployed_cost", "estimate_prevalence"]
