"""A countermeasure in front of a verification system: what it costs (t-DCF), and where errors are equal (t-EER)."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.records import PlainRecord, ReadOnly, checked_tuple
from tercet._numeric.validation import chosen, frozen, instance, number, shown
from tercet._typing import Floats, Reals
from tercet.application import Application, tau
from tercet.errors import InputError, UndefinedError
from tercet.metrics.binomial import Interval
from tercet.metrics.curves import Curve, Minimum
from tercet.metrics.spoofing_curve import SpoofingCurve, TandemEerCurve
from tercet.metrics.tally import Tally
from tercet.spoofing._classes import (
    SpoofingPoint,
    attack_rows,
    both_rates,
    finite_thresholds,
    rates_of_three,
    three_classes,
    threshold_in_use,
)
from tercet.trials import Trials, as_trials
from tercet.uncertainty.simultaneous import Least, percentile_intervals

_NO_THRESHOLD = 'The actual t-DCF needs the countermeasure\'s threshold, or llrs and threshold="bayes".'


@checked_tuple
class AsvRates(NamedTuple):
    """Error rates of the verification system behind a countermeasure.

    Attributes
    ----------
    miss : float
        Targets rejected.
    false_alarm : float
        Nontargets accepted.
    spoof_false_alarm : float
        Spoofs accepted.
    threshold : float or None
        The threshold they were measured at.

    Examples
    --------
    >>> import tercet as tc
    >>> key = ["target", "target", "nontarget", "nontarget", "spoof"]
    >>> rates = tc.spoofing.asv_rates(tc.spoofing.of_key([3.0, 1.0, 2.0, 0.0, 2.5], key))
    >>> rates.miss, rates.false_alarm, rates.spoof_false_alarm
    (0.5, 0.5, 1.0)
    """

    miss: float
    false_alarm: float
    spoof_false_alarm: float
    threshold: float | None = None


def asv_rates(trials: Trials, threshold: float | None = None, *, key: str = "class") -> AsvRates:
    """Error rates of a verification system on a key with three classes.

    Parameters
    ----------
    trials : Trials
        Verification scores with a group `key`, as `of_key` makes them.
    threshold : float, optional
        Scores above it are accepted; by default the threshold of the equal error rate of targets and nontargets,
        definition "nearest", as ASVspoof fixes it.
    key : str, optional
        Name of the group column with the classes.

    Returns
    -------
    AsvRates
        Miss, false-alarm and spoof acceptance rates, and the threshold.

    Examples
    --------
    >>> from tercet.spoofing import of_key
    >>> asv_rates(of_key([3., 1., 2., 0., 2.5], ["target", "target", "nontarget", "nontarget", "spoof"]))
    AsvRates(miss=0.5, false_alarm=0.5, spoof_false_alarm=1.0, threshold=1.0)
    """
    sides = three_classes(trials, key)
    cut = number(threshold, "threshold") if threshold is not None else None
    if cut is None:
        cut = Curve.of(trials.select(sides["target"] | sides["nontarget"])).eer("nearest").threshold
    return AsvRates(*rates_of_three(trials, sides, cut), cut)


@dataclass(frozen=True, slots=True)
class TDcf(PlainRecord):
    """The tandem detection cost of a countermeasure in front of a fixed verification system.

    Attributes
    ----------
    point : SpoofingPoint
        Priors and costs.
    form : str
        "2021" or "2019".
    asv : AsvRates
        The verification system.
    c0, c1, c2 : float
        t-DCF = c0 + c1 P_miss,cm + c2 P_fa,cm, before normalisation.
    normaliser : float
        c0 + min(c1, c2) in the form of 2021, min(c1, c2) in that of 2019.
    minimum, minimum_u : float
        The least cost over all thresholds of the countermeasure, normalised and not.
    min_threshold : float
        Where it is reached.
    actual, actual_u : float or None
        The cost at the threshold in use, normalised and not.
    threshold : float or None
        That threshold.
    reason : str or None
        Why the actual cost is None.
    minimum_interval, actual_interval : Interval or None
        Of the normalised costs, by resampling, where a level was given.

    Examples
    --------
    >>> import tercet as tc
    >>> countermeasure = tc.Trials.of_scores([3.0, 1.0, 2.0, 0.0], [1, 1, 0, 0])
    >>> found = tc.spoofing.t_dcf(countermeasure, tc.spoofing.AsvRates(0.0, 0.0, 1.0), (0.5, 0.25, 0.25, 1, 1, 2))
    >>> found.c1, found.c2, found.minimum_u
    (0.5, 0.5, 0.25)
    """

    point: SpoofingPoint
    form: str
    asv: AsvRates
    c0: float
    c1: float
    c2: float
    normaliser: float
    minimum: float
    minimum_u: float
    min_threshold: float
    actual: float | None
    actual_u: float | None
    threshold: float | None
    reason: str | None = None
    minimum_interval: Interval | None = None
    actual_interval: Interval | None = None


def t_dcf(
    countermeasure: Trials,
    asv: Trials | AsvRates,
    point: object = "asvspoof2021",
    *,
    form: Literal["2021", "2019"] = "2021",
    threshold: float | Literal["bayes"] | None = None,
    asv_threshold: float | None = None,
    key: str = "class",
    ci: float | None = None,
    by: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> TDcf:
    """Tandem detection cost (t-DCF) of a countermeasure, minimum and actual.

    c0 + c1 P_miss,cm + c2 P_fa,cm with b = prior_target C_miss P_miss,asv + prior_nontarget C_nontarget P_fa,asv, c1 =
    prior_target C_miss - b and c2 = prior_spoof C_spoof P_fa,spoof,asv. Form "2021" (the revised one) has c0 = b and
    divides by c0 + min(c1, c2); form "2019" has c0 = 0 and divides by min(c1, c2).

    Parameters
    ----------
    countermeasure : Trials
        Scores of the countermeasure, bona fide = target.
    asv : Trials or AsvRates
        Verification scores with three classes, or their error rates.
    point : SpoofingPoint, str or sequence, optional
        Priors and costs; "asvspoof2021" by default.
    form : {"2021", "2019"}, optional
        Which form.
    threshold : float or "bayes", optional
        The countermeasure's threshold in use; "bayes" takes -ln(c1 / c2) on scores that are llrs.
    asv_threshold : float, optional
        The verification threshold; by default that of the equal error rate.
    key : str, optional
        Name of the group column with the classes of `asv`.
    ci : float, optional
        Level of percentile intervals: the countermeasure's trials and, where they are given, the verification trials
        are resampled within their classes; thresholds in use, the verification threshold among them, are held fixed.
    by : str, optional
        Group column, in both sets, whose groups are drawn as a whole.
    resamples, seed : int, optional
        Number of resamples, and the seed of the draws.

    Returns
    -------
    TDcf
        Minimum and actual cost, normalised and not, with thresholds and the constants c0, c1 and c2.

    Raises
    ------
    UndefinedError
        If c1 < 0 (the verification system costs more than rejecting everyone) or c2 = 0 (it accepts no spoof).

    Examples
    --------
    >>> bona_fide = Trials.of_scores([3., 1., 2., 0.], [1, 1, 0, 0])
    >>> found = t_dcf(bona_fide, AsvRates(0.0, 0.0, 1.0), (0.5, 0.25, 0.25, 1, 1, 2))
    >>> found.c1, found.c2, found.minimum_u    # half the spoofs (0.25 x 2 x 1/2), or half the targets
    (0.5, 0.5, 0.25)
    """
    at, rates = SpoofingPoint.of(point), _asv(asv, asv_threshold, key)
    found = _costs(
        as_trials(countermeasure, "countermeasure"), rates, at, chosen(form, "form", ("2021", "2019")), threshold
    )
    if ci is None:
        return found
    fixed = None if found.threshold is None else float(found.threshold)

    whole = Tally.of(countermeasure)

    def drawn(sets: Sequence[Trials]) -> dict[str, float | Least]:
        behind = rates if len(sets) == 1 else asv_rates(sets[1], rates.threshold, key=key)
        one = _costs(sets[0], behind, at, form, fixed)
        kept = float(_normalised(one, *both_rates(Tally.of(sets[0]), found.min_threshold)))
        least = Least(one.minimum, kept, float(_normalised(found, *both_rates(whole, one.min_threshold))))
        return {"minimum": least} | ({} if one.actual is None else {"actual": one.actual})

    sets, strata = [countermeasure], [countermeasure.known_labels().astype(np.intp)]
    if isinstance(asv, Trials):
        sides = three_classes(asv, key)
        sets, strata = [*sets, asv], [*strata, sides["target"] + 2 * sides["spoof"].astype(np.intp)]
    ends = percentile_intervals(drawn, sets, strata, ci=ci, by=by, resamples=resamples, seed=seed)
    return replace(found, minimum_interval=ends["minimum"], actual_interval=ends.get("actual"))


def t_dcf_curve(countermeasure: Trials, found: TDcf) -> SpoofingCurve:
    """The normalised t-DCF at every threshold of the countermeasure, for `tercet.plot(curve, "t-dcf")`.

    Parameters
    ----------
    countermeasure : Trials
        The scores that `found` was computed of.
    found : TDcf
        What `t_dcf` gave: its constants price the error rates, its minimum and actual cost are marked.

    Returns
    -------
    SpoofingCurve
        Thresholds and costs.

    Examples
    --------
    >>> bona_fide = Trials.of_scores([3., 1., 2., 0.], [1, 1, 0, 0])
    >>> found = t_dcf(bona_fide, AsvRates(0.0, 0.0, 1.0), (0.5, 0.25, 0.25, 1, 1, 2))
    >>> curve = t_dcf_curve(bona_fide, found)
    >>> curve.threshold.tolist(), curve.cost.tolist()    # rejecting up to 0 leaves one of two spoofs, a half
    ([0.0, 1.0, 2.0, 3.0], [0.5, 1.0, 0.5, 1.0])
    """
    own, given = Curve.of(as_trials(countermeasure, "countermeasure")), instance(found, TDcf, "found", "See t_dcf.")
    finite = finite_thresholds(own.thresholds)
    cost = np.asarray(_normalised(given, own.fnr[finite], own.fpr[finite]))
    return SpoofingCurve(
        "t-DCF", frozen(own.thresholds[finite]), frozen(cost), given.minimum, given.min_threshold, given.actual,
        given.threshold, given.minimum_interval, given.actual_interval, given.c0 / given.normaliser,
        countermeasure.name,
    )  # fmt: skip


def _normalised(found: TDcf, misses: Reals, alarms: Reals) -> Reals:
    """The cost of these error rates."""
    return (found.c0 + found.c1 * misses + found.c2 * alarms) / found.normaliser


def _costs(
    countermeasure: Trials, rates: AsvRates, at: SpoofingPoint, form: str, threshold: float | str | None
) -> TDcf:
    """Minimum and actual cost before verification with these error rates."""
    c0, c1, c2 = _coefficients(at, rates, form)
    curve = Curve.of(countermeasure)
    least = _least(curve, c1, c2)
    normaliser = c0 + min(c1, c2)

    def cost(misses: float, alarms: float) -> float:
        return c0 + c1 * misses + c2 * alarms

    low = cost(
        least.misses / curve.tally.weight(curve.targets), least.false_alarms / curve.tally.weight(curve.nontargets)
    )
    cut = threshold_in_use(countermeasure, threshold, lambda: 0.0 - tau(0.5, c1, c2))
    actual = None if cut is None else cost(*both_rates(curve.tally, cut))
    return TDcf(
        at, form, rates, c0, c1, c2, normaliser, low / normaliser, low, least.threshold,
        None if actual is None else actual / normaliser, actual, cut,
        _NO_THRESHOLD if cut is None else None,
    )  # fmt: skip


def t_dcf_by_attack(
    countermeasure: Trials,
    asv: Trials | AsvRates,
    point: object = "asvspoof2021",
    *,
    form: Literal["2021", "2019"] = "2021",
    threshold: float | Literal["bayes"] | None = None,
    asv_threshold: float | None = None,
    key: str = "class",
    attack: str = "attack",
    ci: float | None = None,
    by: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> Mapping[str, TDcf | str]:
    """t-DCF with the spoofs of one attack at a time, of the countermeasure and, where it has scores, of the ASV.

    Parameters
    ----------
    countermeasure : Trials
        Scores of the countermeasure, bona fide = target, with a group `attack`.
    asv : Trials or AsvRates
        Verification scores with three classes, or their error rates; the threshold is fixed on all trials.
    point : SpoofingPoint, str or sequence, default "asvspoof2021"
        Priors and costs.
    form : {"2021", "2019"}, default "2021"
        Which form, as for `t_dcf`.
    threshold : float or "bayes", optional
        The countermeasure's threshold in use.
    asv_threshold : float, optional
        The verification threshold; by default that of the equal error rate.
    key : str, default "class"
        Name of the group column with the classes of `asv`.
    attack : str, default "attack"
        Name of the group column with the attacks, in both sets of trials.
    ci : float, optional
        Level of percentile intervals of each attack, as for `t_dcf`; they do not hold for all attacks together.
    by : str, optional
        Group column, in both sets, whose groups are drawn as a whole.
    resamples, seed : int, optional
        Number of resamples, and the seed of the draws.

    Returns
    -------
    mapping of str to TDcf or str
        By the name of the attack; a sentence where it is undefined.

    Examples
    --------
    >>> trials = Trials.of_scores([3., 2., 1., 4.], [1, 1, 0, 0], groups={"attack": ["", "", "tts", "vc"]})
    >>> found = t_dcf_by_attack(trials, AsvRates(0.0, 0.0, 1.0))
    >>> found["tts"].minimum, found["vc"].minimum
    (0.0, 1.0)
    """
    labels = as_trials(countermeasure, "countermeasure").known_labels().astype(np.bool_)
    own = attack_rows(countermeasure, ~labels, attack)
    fixed = _asv(asv, asv_threshold, key)
    theirs = {} if isinstance(asv, AsvRates) else attack_rows(asv, three_classes(asv, key)["spoof"], attack)
    found: dict[str, TDcf | str] = {}
    for name, rows in own.items():
        behind = asv.select(theirs[name]) if name in theirs and isinstance(asv, Trials) else asv
        try:
            found[name] = t_dcf(
                countermeasure.select(rows), behind, point, form=form, threshold=threshold, key=key,
                asv_threshold=fixed.threshold, ci=ci, by=by, resamples=resamples, seed=seed,
            )  # fmt: skip
        except UndefinedError as error:
            found[name] = str(error)
    return ReadOnly(found)


def _asv(asv: object, threshold: float | None, key: str) -> AsvRates:
    if isinstance(asv, Trials):
        return asv_rates(asv, None if threshold is None else number(threshold, "asv_threshold"), key=key)
    if not isinstance(asv, AsvRates):
        raise InputError(
            f"asv takes verification Trials with three classes, or AsvRates, not {shown(type(asv).__name__)}."
        )
    for name in ("miss", "false_alarm", "spoof_false_alarm"):
        if not 0.0 <= number(getattr(asv, name), name) <= 1.0:
            raise InputError(f"{name} must be a rate between 0 and 1, not {getattr(asv, name)}.")
    return asv


def _coefficients(point: SpoofingPoint, asv: AsvRates, form: str) -> tuple[float, float, float]:
    """c0, c1 and c2, each rounded once, so that a c1 of 0 is seen as such."""
    rejection = Fraction(point.prior_target) * Fraction(point.cost_miss)
    acceptance = Fraction(point.prior_nontarget) * Fraction(point.cost_nontarget)
    behind = rejection * Fraction(asv.miss) + acceptance * Fraction(asv.false_alarm)
    c0, c1 = (float(behind) if form == "2021" else 0.0), float(rejection - behind)
    c2 = point.prior_spoof * point.cost_spoof * asv.spoof_false_alarm
    if c1 < 0.0 or (c1 == 0.0 and form == "2019"):
        raise UndefinedError(
            f"t-DCF is undefined: c1 = {c1:g}, because the verification system alone (miss {asv.miss:g}, false alarm "
            f"{asv.false_alarm:g}) costs no less than rejecting everyone. Choose another verification threshold."
        )
    if c2 == 0.0:
        raise UndefinedError(
            "t-DCF is undefined: c2 = 0, because the verification system accepts no spoof, so a countermeasure has "
            "nothing to add. Choose another verification threshold, or other attacks."
        )
    return c0, c1, c2


def _least(curve: Curve, c1: float, c2: float) -> Minimum:
    """Where c1 P_miss + c2 P_fa is least; with misses free, at the lowest threshold that accepts no spoof."""
    if c1 > 0.0:
        return curve.min_dcf(Application(0.5, c1, c2))
    place = int(np.argmax(curve.fpr == 0.0))
    return Minimum(0.0, float(curve.thresholds[place]), curve.tally.weight(curve.misses[place]), 0)


# t-EER: where misses and false alarms of both systems in tandem are equal


_ROUNDING = 1e-12  # rates closer than this are taken as equal


@dataclass(frozen=True, slots=True)
class TEer(PlainRecord):
    """A tandem equal error rate.

    Attributes
    ----------
    value : float
        Half-way between the largest and the smallest of the rates that should be equal.
    miss : float
        Tandem miss rate.
    nontarget, spoof : float
        Tandem false-alarm rates of nontargets and of spoofs.
    asv_threshold, cm_threshold : float
        Where they are reached.
    prevalence : float or None
        The share of spoofs among impostors; None for the concurrent t-EER, which is the same for every share.
    interval : Interval or None
        Of the value, by resampling, where a level was given.

    Examples
    --------
    >>> import tercet as tc
    >>> asv = tc.spoofing.of_key([3.0, 2.0, 1.0, 0.0, 3.0], ["target", "target", "nontarget", "nontarget", "spoof"])
    >>> tc.spoofing.t_eer(asv, tc.Trials.of_scores([3.0, 2.0, 1.0], [1, 1, 0])).value
    0.0
    """

    value: float
    miss: float
    nontarget: float
    spoof: float
    asv_threshold: float
    cm_threshold: float
    prevalence: float | None
    interval: Interval | None = None


def t_eer(
    asv: Trials,
    countermeasure: Trials,
    *,
    prevalence: float | None = None,
    key: str = "class",
    ci: float | None = None,
    by: str | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> TEer:
    """Tandem equal error rate of a countermeasure followed by a verification system.

    A trial is accepted if both systems accept it; the two are assumed to be independent within each class. With P for
    the rates of the countermeasure and p for those of the verification system: miss = P_miss + (1 - P_miss) p_miss,
    nontarget = (1 - P_miss) p_fa, spoof = P_fa p_fa,spoof. For each verification threshold the two countermeasure
    thresholds around miss = (1 - prevalence) nontarget + prevalence spoof are considered. At a given prevalence, the
    t-EER is the lowest equal error rate along this path. Without one it is the concurrent t-EER: on the path at
    prevalence 1/2, the pair of thresholds whose three rates lie closest together.

    Parameters
    ----------
    asv : Trials
        Verification scores with three classes, as `of_key` makes them.
    countermeasure : Trials
        Countermeasure scores, bona fide = target.
    prevalence : float, optional
        The share of spoofs among impostors, 0 to 1; the concurrent t-EER without it.
    key : str, optional
        Name of the group column with the classes of `asv`.
    ci : float, optional
        Level of a percentile interval; both sets of trials are resampled within their classes.
    by : str, optional
        Group column, in both sets, whose groups are drawn as a whole.
    resamples, seed : int, optional
        Number of resamples, and the seed of the draws.

    Returns
    -------
    TEer
        The equal error rate, its three error rates and both thresholds.

    Examples
    --------
    >>> from tercet.spoofing import of_key
    >>> asv = of_key([3., 2., 1., 0., 3.], ["target", "target", "nontarget", "nontarget", "spoof"])
    >>> t_eer(asv, Trials.of_scores([3., 2., 1.], [1, 1, 0])).value
    0.0
    """
    share = 0.5 if prevalence is None else number(prevalence, "prevalence")
    if not 0.0 <= share <= 1.0:
        raise InputError(f"prevalence must be a share between 0 and 1, not {share}.")
    found = _found(as_trials(asv, "asv"), as_trials(countermeasure, "countermeasure"), share, prevalence, key)
    if ci is None:
        return found
    sides = three_classes(asv, key)
    strata = [
        sides["target"] + 2 * sides["spoof"].astype(np.intp),
        countermeasure.known_labels().astype(np.intp),
    ]

    def drawn(sets: Sequence[Trials]) -> dict[str, float]:
        return {"value": _found(sets[0], sets[1], share, prevalence, key).value}

    ends = percentile_intervals(
        drawn, [asv, countermeasure], strata, ci=ci, by=by, resamples=resamples, seed=seed
    )  # fmt: skip
    return replace(found, interval=ends["value"])


def t_eer_curve(asv: Trials, countermeasure: Trials, found: TEer, *, key: str = "class") -> TandemEerCurve:
    """The tandem equal error rate along the verification threshold, for `tercet.plot(curve, "t-eer")`.

    Parameters
    ----------
    asv : Trials
        The verification scores that `found` was computed of.
    countermeasure : Trials
        The countermeasure scores that it was computed of.
    found : TEer
        What `t_eer` gave; it is marked. The concurrent t-EER has lines for shares of spoofs of 0, 1/2 and 1, which meet
        there; one at a given prevalence has the line of that prevalence.
    key : str, optional
        Name of the group column with the classes of `asv`.

    Returns
    -------
    TandemEerCurve
        Thresholds and rates.

    Examples
    --------
    >>> from tercet.spoofing import of_key
    >>> asv = of_key([3., 2., 1., 0., 3.], ["target", "target", "nontarget", "nontarget", "spoof"])
    >>> front = Trials.of_scores([3., 2., 1.], [1, 1, 0])
    >>> t_eer_curve(asv, front, t_eer(asv, front, prevalence=0.0)).rate.tolist()    # accepting above 0, 1, 2 and 3
    [[0.375, 0.0, 0.25, 0.5]]
    """
    given = instance(found, TEer, "found", "See t_eer.")
    rates = _Tandem.of(as_trials(asv, "asv"), as_trials(countermeasure, "countermeasure"), key)
    finite = finite_thresholds(rates.threshold)
    shares = np.array([0.0, 0.5, 1.0] if given.prevalence is None else [given.prevalence])
    lines = np.stack([_equal_rates(rates, share)[finite] for share in shares.tolist()])
    return TandemEerCurve(
        frozen(rates.threshold[finite]), frozen(shares), frozen(lines), given.value, given.asv_threshold,
        given.interval, given.prevalence is None, asv.name,
    )  # fmt: skip


def _found(asv: Trials, countermeasure: Trials, share: float, prevalence: float | None, key: str) -> TEer:
    """The tandem equal error rate of these trials."""
    rates = _Tandem.of(asv, countermeasure, key)
    cm, row = _path(rates, share)
    values = rates.at(cm, row)
    if prevalence is None:
        best = _first_least(values.max(axis=0) - values.min(axis=0), row)
        value = float(values[:, best].max() + values[:, best].min()) / 2.0
    else:
        nearer, mean = _nearer(values, share)
        best = int(nearer[_first_least(mean[nearer], nearer)])
        value = float(mean[best])
    miss, nontarget, spoof = values[:, best].tolist()
    cuts = float(rates.threshold[row[best]]), float(rates.cm_threshold[cm[best]])
    return TEer(value, miss, nontarget, spoof, *cuts, prevalence)


class _Tandem(NamedTuple):
    """Rates of the countermeasure at its thresholds, and of the verification system at its own."""

    cm_threshold: Floats
    cm_miss: Floats
    cm_alarm: Floats
    threshold: Floats
    miss: Floats
    nontarget: Floats
    spoof: Floats

    @classmethod
    def of(cls, asv: Trials, countermeasure: Trials, key: str) -> _Tandem:
        """The rates of these trials."""
        sides, front = three_classes(asv, key), Curve.of(countermeasure)
        behind = [Tally.of(asv.select(sides["target"] | sides[other])) for other in ("nontarget", "spoof")]
        scores = np.unique(np.concatenate((behind[0].targets.scores, *(tally.nontargets.scores for tally in behind))))
        cuts = np.concatenate(([-math.inf], scores))  # first everything is accepted, scores of -inf too
        miss = np.concatenate(([0.0], behind[0].at(scores)[0] / behind[0].targets.total))
        alarms = [np.concatenate(([1.0], tally.at(scores)[1] / tally.nontargets.total)) for tally in behind]
        return cls(front.thresholds, front.fnr, front.fpr, cuts, miss, *alarms)

    def at(self, cm: NDArray[np.intp], row: NDArray[np.intp]) -> Floats:
        """Tandem rates (miss, nontarget, spoof) of pairs of thresholds."""
        blocked = self.cm_miss[cm]
        return np.stack(
            (
                blocked + (1.0 - blocked) * self.miss[row],
                (1.0 - blocked) * self.nontarget[row],
                self.cm_alarm[cm] * self.spoof[row],
            )
        )


def _equal_rates(rates: _Tandem, share: float) -> Floats:
    """The equal error rate at each verification threshold."""
    nearer, mean = _nearer(rates.at(*_path(rates, share)), share)
    return mean[nearer]


def _path(rates: _Tandem, share: float) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """For each verification threshold the countermeasure thresholds just below and at the crossing, by bisection.

    miss - false alarms never falls as the countermeasure's threshold rises.
    """
    rows = np.arange(len(rates.miss))
    low, high = np.zeros(len(rows), np.intp), np.full(len(rows), len(rates.cm_miss) - 1)
    while (low < high).any():
        middle = (low + high) // 2
        miss, nontarget, spoof = rates.at(middle, rows)
        above = miss >= (1.0 - share) * nontarget + share * spoof - _ROUNDING
        low, high = np.where(above, low, np.minimum(middle + 1, high)), np.where(above, middle, high)
    return np.concatenate((np.maximum(high - 1, 0), high)), np.concatenate((rows, rows))


def _nearer(values: Floats, share: float) -> tuple[NDArray[np.intp], Floats]:
    """The nearer to equality of each verification threshold's two pairs, and the mean of both rates of every pair."""
    totals = (1.0 - share) * values[1] + share * values[2]
    gaps, half = np.abs(values[0] - totals), len(totals) // 2
    nearer = np.where(gaps[:half] <= gaps[half:] + _ROUNDING, np.arange(half), np.arange(half) + half)
    return nearer, (values[0] + totals) / 2.0


def _first_least(values: Floats, row: NDArray[np.intp]) -> int:
    """The place of the least value; of values equal but for rounding, that of the lowest threshold."""
    least = np.flatnonzero(values <= values.min() + _ROUNDING)
    return int(least[row[least].argmin()])
