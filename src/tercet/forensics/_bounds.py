"""The lowest and the highest likelihood ratio that a set of validation data supports."""

from __future__ import annotations

import math
from typing import Literal, NamedTuple

import numpy as np

from tercet._numeric.records import checked_tuple
from tercet._numeric.validation import chosen, shown, whole
from tercet._typing import Floats
from tercet.calibration.bounded import Bounded
from tercet.calibration.two_class import Calibrator
from tercet.errors import InputError
from tercet.metrics.curves import Curve
from tercet.metrics.tally import Tally
from tercet.trials import Trials, as_trials

METHODS = ("elub", "iv")


@checked_tuple
class LrBounds(NamedTuple):
    """Bounds of the likelihood ratios (not of their logarithms) that the data support.

    Attributes
    ----------
    lower : float
        At most 1; 1 says that no LR below 1 is supported.
    upper : float
        At least 1; 1 says that no LR above 1 is supported.
    method : str
        "elub" or "iv".

    Examples
    --------
    >>> import tercet as tc
    >>> lrs = tc.Trials.of_lr([100.0, 100.0, 100.0, 0.01, 0.01, 0.01], [1, 1, 1, 0, 0, 0])
    >>> tc.forensics.elub(lrs).upper    # (3/4) / (1/4)
    3.0
    """

    lower: float
    upper: float
    method: str


def elub(trials: Trials, *, misleading: int = 1) -> LrBounds:
    """Empirical lower and upper bounds (ELUB) of the likelihood ratios that these data support.

    `misleading` hypothetical LRs of the most misleading kind are added to each class. An LR threshold t is supported if
    decisions at it then cost no more than those of a system that always says LR = 1: FNR + t FPR <= min(1, t). The
    upper bound is where, going up from 1, this first fails; the lower bound where it first fails going down. Here the
    bounds are exact; other tools search a grid of thresholds.

    Parameters
    ----------
    trials : Trials
        Labelled trials that are likelihood ratios: same source = target. LRs of 0 and infinity are allowed.
    misleading : int, optional
        How many misleading LRs are imagined in each class, 1 by default.

    Returns
    -------
    LrBounds
        Lower and upper bound.

    References
    ----------
    Vergeer, van Es, de Jongh, Alberink and Stoel (2016), "Numerical likelihood ratios outputted by LR systems are often
    based on extrapolation: When to stop extrapolating?", Science and Justice 56, 482-491.

    Examples
    --------
    >>> elub(Trials.of_lr([100., 100., 100., 0.01, 0.01, 0.01], [1, 1, 1, 0, 0, 0]))    # (3/4) / (1/4) and its inverse
    LrBounds(lower=0.3333333333333333, upper=3.0, method='elub')
    """
    added = whole(misleading, "misleading", 0)
    steps = _Steps.of(trials)
    targets, nontargets = steps.targets + added, steps.nontargets + added
    # TPR / FPR and FNR / TNR with one rounding, so that a ratio that equals an LR is seen to.
    top = _ratio((steps.targets - steps.misses) * nontargets, (steps.alarms + added) * targets, math.inf)
    bottom = _ratio((steps.misses + added) * nontargets, (steps.nontargets - steps.alarms) * targets, 0.0)
    above, below = np.maximum(np.maximum(steps.starts, top), 1.0), np.minimum(np.minimum(steps.ends, bottom), 1.0)
    upper = above[above < steps.ends].min(initial=max(steps.starts[-1], 1.0))
    lower = below[below > steps.starts].max(initial=min(steps.ends[0], 1.0))
    return LrBounds(float(lower), float(upper), "elub")


def iv_bounds(trials: Trials) -> LrBounds:
    """Bounds by invariance verification: "the LR of the LR is the LR", checked on the tails.

    The share of same-source LRs at or above t should be at least t times that of different-source LRs, and the share of
    same-source LRs below t at most t times that of different-source LRs; shares are (count + 1/2) / (n + 1). The upper
    bound is where, going up from 1, the first fails; the lower bound where the second first fails going down. Where
    nothing fails, the highest same-source and the lowest different-source LR are the bounds.

    Parameters
    ----------
    trials : Trials
        Labelled trials that are likelihood ratios: same source = target.

    Returns
    -------
    LrBounds
        Lower and upper bound.

    References
    ----------
    Alberink, Leegwater, Malmborg, Nordgaard, Sjerps and van der Ham, "A transparent method to determine limit values
    for Likelihood Ratio systems" (submitted 2025), as the LiR toolkit of the Netherlands Forensic Institute implements
    it.

    Examples
    --------
    >>> iv_bounds(Trials.of_lr([100., 100., 100., 0.01, 0.01, 0.01], [1, 1, 1, 0, 0, 0])).upper    # (3.5/4) / (0.5/4)
    7.0
    """
    steps = _Steps.of(trials)
    targets, nontargets = steps.targets + 1.0, steps.nontargets + 1.0
    top = ((steps.targets - steps.misses + 0.5) * nontargets) / ((steps.alarms + 0.5) * targets)
    bottom = ((steps.misses + 0.5) * nontargets) / ((steps.nontargets - steps.alarms + 0.5) * targets)
    above = np.maximum(np.maximum(steps.starts, top), 1.0)[:-1]  # thresholds above all LRs say nothing
    fails = above[above < steps.ends[:-1]]
    upper = fails.min() if len(fails) else max(steps.highest_target, 1.0)
    below = np.minimum(np.minimum(steps.ends, bottom), 1.0)
    held = below > steps.starts
    held[0] = bottom[0] > steps.ends[0]  # of the thresholds below all LRs only the lowest LR itself
    below[0] = min(steps.ends[0], 1.0)
    lower = below[held].max() if held.any() else min(steps.lowest_nontarget, 1.0)
    return LrBounds(float(lower), float(upper), "iv")


def bounded(calibrator: Calibrator, trials: Trials, *, method: Literal["elub", "iv"] = "elub") -> Bounded:
    """A calibrator whose likelihood ratios stay within the bounds that validation data support.

    Parameters
    ----------
    calibrator : Calibrator
        A trained map from scores to llrs.
    trials : Trials
        Labelled trials of the scores that the calibrator takes, not those that it was trained on.
    method : {"elub", "iv"}, optional
        How the bounds are found.

    Returns
    -------
    Bounded
        Called like the calibrator; it can be saved and loaded.

    Examples
    --------
    >>> from tercet.calibration.two_class import Gaussian
    >>> calibrator = Gaussian.fit(Trials.of_scores([-2., 0., 0., 2.], [0, 0, 1, 1]))    # llr = 2 s
    >>> held = Trials.of_scores([-3., -3., -3., 3., 3., 3.], [0, 0, 0, 1, 1, 1])
    >>> safe = bounded(calibrator, held)
    >>> safe([-9.0, 0.0, 9.0]).round(4).tolist()    # no LR beyond 3 or 1/3
    [-1.0986, 0.0, 1.0986]
    """
    if not isinstance(calibrator, Calibrator):
        raise InputError(f"calibrator must be a trained calibrator, not {shown(type(calibrator).__name__)}.")
    find = {"elub": elub, "iv": iv_bounds}[chosen(method, "method", METHODS)]
    found = find(calibrator(as_trials(trials)))
    return Bounded.of(calibrator, found.lower, found.upper, method)


class _Steps(NamedTuple):
    """Counts between one LR and the next: from `starts` to `ends` both error counts stay the same."""

    starts: Floats
    ends: Floats
    misses: Floats
    alarms: Floats
    targets: float
    nontargets: float
    highest_target: float
    lowest_nontarget: float

    @classmethod
    def of(cls, trials: Trials) -> _Steps:
        tally = Tally.of(as_trials(trials))
        tally = tally if tally.meaning == "lr" else tally.as_llr()
        curve, scale = Curve.of(tally), 2.0**tally.unit
        misses, alarms = (np.asarray(counts, np.float64) * scale for counts in (curve.misses, curve.false_alarms))
        ends = np.array([tally.targets.scores[-1], tally.nontargets.scores[0]])
        lrs = curve.thresholds[1:]
        if tally.meaning == "llr":
            with np.errstate(over="ignore"):
                lrs, ends = np.exp(lrs), np.exp(ends)
        return cls(
            np.concatenate(([0.0], lrs)), np.concatenate((lrs, [math.inf])), misses, alarms, curve.targets * scale,
            curve.nontargets * scale, *ends.tolist(),
        )  # fmt: skip


def _ratio(above: Floats, below: Floats, neither: float) -> Floats:
    """above / below; infinite where only below is 0, `neither` where both are."""
    nothing = np.where(above > 0.0, math.inf, neither)
    return np.asarray(np.where(below > 0.0, above / np.where(below > 0.0, below, 1.0), nothing))
