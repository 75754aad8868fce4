"""The three classes of a spoofing-robust task: their priors, costs, keys and error rates."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tercet._numeric.validation import (
    chosen,
    distinct,
    label_list,
    names,
    number,
    numbers,
    positive,
    same_length,
    shown,
    text,
)
from tercet._typing import Floats, Reals
from tercet.application import Application
from tercet.biometrics import group_column, species_rows
from tercet.errors import InputError, UndefinedError
from tercet.metrics.tally import Tally
from tercet.trials import NO_LLR, Trials, as_trials, probability, two_class_trials

CLASSES = ("target", "nontarget", "spoof")
_PLAN = "ASVspoof organisers' evaluation package"
# name -> priors of target, nontarget, spoof; costs of a miss, of accepting a nontarget, of accepting a spoof; source
_NAMED: dict[str, tuple[tuple[float, float, float], tuple[float, float, float], str]] = {
    "asvspoof2019": ((0.9405, 0.0095, 0.05), (1, 10, 10), f"ASVspoof 2019, t-DCF in its first form; {_PLAN}"),
    "asvspoof2021": ((0.9405, 0.0095, 0.05), (1, 10, 10), f"ASVspoof 2021, LA and PA, t-DCF; {_PLAN}"),
    "asvspoof5": ((0.9, 0.05, 0.05), (1, 10, 20), f"ASVspoof 5, track 2, a-DCF; {_PLAN}"),
    "asvspoof5-tandem": ((0.9405, 0.0095, 0.05), (1, 10, 10), f"ASVspoof 5, track 2, t-DCF; {_PLAN}"),
}


@dataclass(frozen=True, slots=True)
class SpoofingPoint:
    """Priors and costs of the three classes.

    Attributes
    ----------
    prior_target, prior_nontarget, prior_spoof : float
        How often each class comes; positive, summing to one.
    cost_miss, cost_nontarget, cost_spoof : float
        What rejecting a target, accepting a nontarget and accepting a spoof cost; positive.
    name : str or None
        The name of a public evaluation's point.

    Examples
    --------
    >>> point = SpoofingPoint.of("asvspoof5")
    >>> point.cost_of_acceptance, point.dummy_cost    # 0.05 x 10 + 0.05 x 20, against 0.9 x 1
    (1.5, 0.9)
    """

    prior_target: float
    prior_nontarget: float
    prior_spoof: float
    cost_miss: float = 1.0
    cost_nontarget: float = 1.0
    cost_spoof: float = 1.0
    name: str | None = None

    def __post_init__(self) -> None:
        for prior in ("prior_target", "prior_nontarget", "prior_spoof"):
            object.__setattr__(self, prior, probability(getattr(self, prior), prior))
        total = math.fsum((self.prior_target, self.prior_nontarget, self.prior_spoof))
        if abs(total - 1.0) > 1e-6:
            raise InputError(f"prior_target, prior_nontarget and prior_spoof must sum to 1, not to {total}.")
        for cost in ("cost_miss", "cost_nontarget", "cost_spoof"):
            object.__setattr__(self, cost, positive(getattr(self, cost), cost))
        if self.name is not None:
            object.__setattr__(self, "name", text(self.name, "name"))

    @classmethod
    def of(cls, value: object) -> SpoofingPoint:
        """A point from itself, from the name of a public evaluation's point, or from its six numbers.

        Parameters
        ----------
        value : SpoofingPoint, str or sequence of 6 numbers
            A name is "asvspoof2019", "asvspoof2021", "asvspoof5" or "asvspoof5-tandem"; the numbers are the three
            priors and the three costs.

        Returns
        -------
        SpoofingPoint
        """
        if isinstance(value, SpoofingPoint):
            return value
        if isinstance(value, str):
            if value not in _NAMED:
                raise InputError(f"point={shown(value)} is not a known point. Known: {', '.join(_NAMED)}.")
            priors, costs, _ = _NAMED[value]
            return cls(*priors, *costs, value)
        if isinstance(value, np.ndarray) and value.ndim == 1:
            value = value.tolist()
        if isinstance(value, list | tuple) and len(value) == 6:
            return cls(*value)
        raise InputError(
            f"point must be a name, a SpoofingPoint or six numbers (priors of target, nontarget and spoof, then the "
            f"costs of a miss, of accepting a nontarget and of accepting a spoof), not {shown(value)}."
        )

    @staticmethod
    def names() -> dict[str, str]:
        """Every named point with its source.

        Returns
        -------
        dict of str to str
            The source by name.
        """
        return {name: source for name, (*_, source) in _NAMED.items()}

    @property
    def cost_of_rejection(self) -> float:
        """prior_target x cost_miss: what rejecting everything costs."""
        return self.prior_target * self.cost_miss

    @property
    def cost_of_acceptance(self) -> float:
        """prior_nontarget x cost_nontarget + prior_spoof x cost_spoof: what accepting everything costs."""
        return self.prior_nontarget * self.cost_nontarget + self.prior_spoof * self.cost_spoof

    @property
    def dummy_cost(self) -> float:
        """The lower of the two: what the cost is divided by."""
        return min(self.cost_of_rejection, self.cost_of_acceptance)

    @property
    def threshold(self) -> float:
        """The Bayes threshold of an llr of the target against the mixture of nontargets and spoofs."""
        return 0.0 - self.application.log_odds

    @property
    def application(self) -> Application:
        """The two-class operating point with these costs of rejection and acceptance."""
        return Application(0.5, self.cost_of_rejection, self.cost_of_acceptance)

    def cost(self, miss: float, nontarget: float, spoof: float) -> float:
        """The normalised cost of three error rates.

        Parameters
        ----------
        miss : float
            Share of targets rejected.
        nontarget : float
            Share of nontargets accepted.
        spoof : float
            Share of spoofs accepted.

        Returns
        -------
        float
            The cost divided by that of the better of accepting and rejecting everything.
        """
        miss, nontarget, spoof = number(miss, "miss"), number(nontarget, "nontarget"), number(spoof, "spoof")
        return float(normalised_cost(self, miss, nontarget, spoof))


def normalised_cost(point: SpoofingPoint, miss: Reals, nontarget: Reals, spoof: Reals) -> Reals:
    """The normalised cost of three error rates, of one threshold or of many."""
    total = point.cost_of_rejection * miss + point.prior_nontarget * point.cost_nontarget * nontarget
    return (total + point.prior_spoof * point.cost_spoof * spoof) / point.dummy_cost


def of_key(
    scores: ArrayLike,
    key: ArrayLike,
    *,
    meaning: Literal["raw", "llr"] = "raw",
    classes: tuple[object, object, object] = CLASSES,
    attacks: ArrayLike | None = None,
    ids: ArrayLike | None = None,
    name: str | None = None,
) -> Trials:
    """Trials from scores and a key with three classes; the class of each trial is kept as the group "class".

    Parameters
    ----------
    scores : array_like of shape (n,)
        Higher for targets.
    key : array_like of shape (n,)
        The class of each trial.
    meaning : {"raw", "llr"}, optional
        What the scores mean; "llr" is against the mixture of nontargets and spoofs.
    classes : tuple of three values, optional
        What the key calls target, nontarget and spoof.
    attacks : array_like of shape (n,), optional
        The attack of each spoof, kept as the group "attack"; ignored for other trials.
    ids : array_like of shape (n,), optional
        Trial ids.
    name : str, optional
        Name of the system.

    Returns
    -------
    Trials
        Two-class trials: targets against nontargets and spoofs.

    Examples
    --------
    >>> of_key([2.0, 1.0, 0.0], ["target", "nontarget", "spoof"])
    Trials: 3 trials (1 target, 2 nontarget), meaning raw
    """
    given = names(key, "key")
    three = label_list(classes, "classes")
    if len(three) != 3 or len(set(three)) < 3:
        raise InputError(
            f"classes must be three different names, of target, nontarget and spoof, not {shown(classes)}."
        )
    places = dict(zip(three, CLASSES, strict=True))
    unknown = [value for value in distinct(given) if value not in places]
    if unknown:
        count = sum(value in unknown for value in given.tolist())
        raise InputError(
            f"key holds {shown(unknown[0])}, which is not one of {', '.join(map(shown, three))}: {count} of "
            f"{len(given)} trials. Name the classes with classes=(target, nontarget, spoof)."
        )
    kinds = np.array([places[value] for value in given.tolist()], "U9")
    groups: dict[str, ArrayLike] = {"class": kinds} | ({} if attacks is None else {"attack": attacks})
    chosen(meaning, "meaning", ("raw", "llr"))
    return two_class_trials(meaning, scores, kinds == "target", ids=ids, groups=groups, name=name)


def mixture_llr(nontarget_llr: ArrayLike, spoof_llr: ArrayLike, point: object = "asvspoof5") -> Floats:
    """The llr of the target against the mixture of nontargets and spoofs, from the llrs against each.

    -ln(w e^-a + (1 - w) e^-b) with w = prior_nontarget cost_nontarget / (that + prior_spoof cost_spoof): the weights
    with which the two kinds of false acceptances cost.

    Parameters
    ----------
    nontarget_llr : array_like of shape (n,)
        ln p(data | target) / p(data | nontarget).
    spoof_llr : array_like of shape (n,)
        ln p(data | target) / p(data | spoof).
    point : SpoofingPoint, str or sequence, optional
        Priors and costs.

    Returns
    -------
    numpy.ndarray of shape (n,)
        One llr per trial.

    Examples
    --------
    >>> mixture_llr([1.0], [1.0]).round(12).tolist()    # the same against both: the same against the mixture
    [1.0]
    """
    at, first, second = (
        SpoofingPoint.of(point),
        numbers(nontarget_llr, "nontarget_llr"),
        numbers(spoof_llr, "spoof_llr"),
    )
    same_length(len(first), {"spoof_llr": second})
    parts = (at.prior_nontarget * at.cost_nontarget, at.prior_spoof * at.cost_spoof)
    logs = [math.log(part / at.cost_of_acceptance) for part in parts]
    return np.asarray(0.0 - np.logaddexp(logs[0] - first, logs[1] - second))


def three_classes(trials: Trials, key: str) -> dict[str, NDArray[np.bool_]]:
    """The rows of each class; all three must be there, and the targets must be the trials' targets."""
    column = group_column(as_trials(trials), key, "key").astype(str)
    labels = trials.known_labels().astype(np.bool_)
    rows = {name: np.asarray(column == name) for name in CLASSES}
    unknown = np.flatnonzero(~np.logical_or.reduce(list(rows.values())))
    if len(unknown):
        raise InputError(
            f"key={shown(key)} holds {shown(str(column[unknown[0]]))} in {len(unknown)} of {len(column)} trials, the "
            f"first in row {unknown[0]} (counting from 0): the classes are target, nontarget and spoof."
        )
    if not np.array_equal(rows["target"], labels):
        raise InputError(f"key={shown(key)} and the labels disagree about which trials are targets.")
    counts = {name: int(own.sum()) for name, own in rows.items()}
    missing = [name for name, count in counts.items() if count == 0]
    if missing:
        told = ", ".join(f"{count} {name}" for name, count in counts.items())
        raise UndefinedError(
            f"There are no {missing[0]} trials in this key ({told}): a cost of three classes needs all of them. "
            f"Without spoofs, use a two-class operating point."
        )
    return rows


def threshold_in_use(trials: Trials, threshold: float | str | None, bayes: Callable[[], float]) -> float | None:
    """The threshold that was given, on the scores' own scale; "bayes" is that of llrs, others have none."""
    if threshold is None:
        return None
    if not (isinstance(threshold, str) and threshold == "bayes"):
        return number(threshold, "threshold")
    if trials.meaning != "llr":
        raise InputError(f'threshold="bayes" needs scores that are llrs, not {trials.meaning}. {NO_LLR}')
    return bayes()


def rates_of_three(
    trials: Trials, sides: Mapping[str, NDArray[np.bool_]], threshold: float
) -> tuple[float, float, float]:
    """Misses, accepted nontargets and accepted spoofs."""
    tallies = [Tally.of(trials.select(sides["target"] | sides[other])) for other in ("nontarget", "spoof")]
    pairs = [both_rates(tally, threshold) for tally in tallies]
    return pairs[0][0], pairs[0][1], pairs[1][1]


def finite_thresholds(thresholds: Floats) -> NDArray[np.bool_]:
    """Which thresholds can be drawn; scores that are all infinite have none."""
    finite = np.isfinite(thresholds)
    if not finite.any():
        raise UndefinedError("Every score is infinite: there is no threshold along which anything could be drawn.")
    return finite


def both_rates(tally: Tally, threshold: float) -> tuple[float, float]:
    """(miss rate, false-alarm rate) of a threshold."""
    misses, alarms = tally.at(threshold)
    return int(misses) / tally.targets.total, int(alarms) / tally.nontargets.total


def attack_rows(trials: Trials, spoofs: NDArray[np.bool_], column: str) -> dict[str, NDArray[np.bool_]]:
    """For each attack the rows of everything but the other attacks' spoofs."""
    return {name: ~spoofs | rows for name, rows in species_rows(trials, ~spoofs, column).items()}
