"""Biometric verification and presentation attacks in the words of ISO/IEC 19795-1 and ISO/IEC 30107-3.

Genuine comparisons (mated, bona fide) are the targets, impostor comparisons (zero-effort, or attacks) the non-targets.
A comparison is accepted if and only if its score is above the threshold. FMR is the false-alarm rate, FNMR the miss
rate; nothing here counts a second time what `Tally` and `Curve` count.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tercet._numeric.records import PlainRecord, ReadOnly, Record, checked_tuple
from tercet._numeric.validation import chosen, column, group_name, number, shown
from tercet._typing import Array
from tercet.errors import InputError, UndefinedError
from tercet.metrics.binomial import ENOUGH, FEW, Interval, clopper_pearson, enough_errors, wilson
from tercet.metrics.curves import Curve
from tercet.metrics.mover import Proportion
from tercet.metrics.tally import Tally
from tercet.trials import Trials, as_trials, probability
from tercet.uncertainty._clusters import Clusters, group_codes, grouping, names_cross
from tercet.uncertainty._limits import effective_size

__all__ = [
    "BpcerAt", "FnmrAtFmr", "NeededComparisons", "PresentationAttacks", "Rate", "SpeciesRate", "VerificationRates",
    "comparisons_needed", "fnmr_at_fmr", "presentation_attacks", "rates_by", "threshold_at_fmr", "verification_rates",
]  # fmt: skip

FALSE_MATCH_RATES = (1e-2, 1e-3, 1e-4, 1e-5, 1e-6)
Method = Literal["clopper-pearson", "wilson"]
_METHODS: dict[Method, Callable[[int, int, float], Interval]] = {"clopper-pearson": clopper_pearson, "wilson": wilson}
_MOST_EQUAL = 18  # a power of a decimal below 1 has at least as many decimals as its exponent, and a double at most 17
_BOUNDS = {"bpcer10": 10, "bpcer20": 20, "bpcer100": 100}


@checked_tuple
class Rate(NamedTuple):
    """An error rate with the counts behind it and its interval.

    Attributes
    ----------
    value : float
        errors / trials.
    errors : float
        How many went wrong, or their weight.
    trials : float
        Out of how many, or their weight.
    interval : Interval or None
        Both ends and the method; None for fractional weights, whose sampling distribution is unknown.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_scores([9.0, 8.0, 3.0, 1.0, 2.0, 4.0, 5.0], [1, 1, 1, 0, 0, 0, 0])
    >>> rate = tc.biometrics.fnmr_at_fmr(trials, [0.25])[0].fmr
    >>> rate.errors, rate.trials, rate.value
    (1, 4, 0.25)
    """

    value: float
    errors: int | float
    trials: int | float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class FnmrAtFmr(PlainRecord):
    """The false non-match rate at one requested false match rate.

    Attributes
    ----------
    requested_fmr : float
        The false match rate that was asked for.
    threshold : float or None
        The lowest threshold whose FMR does not exceed it, on the trials that chose it.
    fmr, fnmr : Rate or None
        Both error rates at that threshold, on the trials that are judged.
    reason : str or None
        Why there is no answer, such as too few impostor comparisons.
    warnings : tuple of str
        What rests on fewer than 30 errors.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_scores([9.0, 8.0, 3.0, 1.0, 2.0, 4.0, 5.0], [1, 1, 1, 0, 0, 0, 0])
    >>> row = tc.biometrics.fnmr_at_fmr(trials, [0.25])[0]
    >>> row.threshold, round(row.fnmr.value, 3)    # one genuine comparison of three lies below
    (4.0, 0.333)
    """

    requested_fmr: float
    threshold: float | None
    fmr: Rate | None
    fnmr: Rate | None
    reason: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class VerificationRates(PlainRecord):
    """Error rates of one threshold under their biometric names; a rate of an absent class is None.

    Attributes
    ----------
    threshold : float
        Comparisons with a score above it are accepted.
    fmr, fnmr : Rate or None
        False match rate (impostors accepted) and false non-match rate (genuine rejected), of comparisons.
    far, frr : float or None
        False accept and false reject rate of transactions of one attempt: FAR = FMR (1 - FTA), FRR = FTA + FNMR (1 -
        FTA), with FTA the failure-to-acquire rate.
    gar : float or None
        Genuine accept rate, 1 - FRR.
    hter : float or None
        Half total error rate, (FAR + FRR) / 2.
    failure_to_acquire : float
        FTA, the share of attempts that gave no sample to compare.
    reasons : mapping of str to str
        Why a rate is None.
    intervals : mapping of str to Interval
        Of "far", "frr", "gar" and "hter", where they exist; FTA is taken as known.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_scores([9.0, 3.0, 1.0, 5.0], [1, 1, 0, 0], groups={"sensor": ["a"] * 4})
    >>> rates = tc.biometrics.rates_by(trials, "sensor", 4.0)["a"]
    >>> rates.fmr.value, rates.fnmr.value, rates.hter
    (0.5, 0.5, 0.5)
    """

    threshold: float
    fmr: Rate | None
    fnmr: Rate | None
    far: float | None
    frr: float | None
    gar: float | None
    hter: float | None
    failure_to_acquire: float
    reasons: Mapping[str, str]
    intervals: Mapping[str, Interval] = field(default_factory=dict)


def threshold_at_fmr(trials: Trials, fmr: float) -> float:
    """The lowest threshold whose false match rate does not exceed a bound.

    Parameters
    ----------
    trials : Trials
        Labelled comparisons; only the impostor scores decide.
    fmr : float
        The bound, strictly between 0 and 1. It is compared with false matches / impostors as a double, so that a
        bound of 0.3 admits 3 of 10.

    Returns
    -------
    float
        Accept scores above it.

    Raises
    ------
    UndefinedError
        If the bound is below 1 / impostors: with so few impostor comparisons it cannot be told from 0.

    Examples
    --------
    >>> trials = Trials.of_scores([9., 8., 3., 1., 2., 4., 5.], [1, 1, 1, 0, 0, 0, 0])
    >>> threshold_at_fmr(trials, 0.25)    # one of the four impostors, the 5, is above 4
    4.0
    """
    curve, bound = _curve_of(trials), probability(fmr, "fmr")
    if (reason := _not_measurable(curve, bound)) is not None:
        raise UndefinedError(f"An FMR of {bound:g} is {reason}.")
    return _threshold(curve, bound)


def fnmr_at_fmr(
    trials: Trials,
    fmr: ArrayLike = FALSE_MATCH_RATES,
    *,
    development: Trials | None = None,
    ci: float = 0.95,
    method: Method = "clopper-pearson",
    by: str | tuple[str, str] | None = None,
) -> tuple[FnmrAtFmr, ...]:
    """False non-match rates at requested false match rates (FNMR @ FMR, ISO/IEC 19795-1).

    For each requested FMR, the threshold is the lowest one whose measured FMR does not exceed it. An FMR below 1 / n
    cannot be measured with n impostor comparisons; its row says so instead of giving a number.

    Parameters
    ----------
    trials : Trials
        Labelled comparisons, genuine = target, that are judged.
    fmr : array_like of float, optional
        Requested false match rates, each strictly between 0 and 1; 1e-2 to 1e-6 by default.
    development : Trials, optional
        Comparisons with scores of the same meaning, on which the thresholds are chosen. By default they are chosen on
        the evaluated trials themselves, which makes the result optimistic.
    ci : float, optional
        Level of the intervals, 0.95 by default.
    method : {"clopper-pearson", "wilson"}, optional
        How the intervals are made where comparisons are independent.
    by : str or tuple of two str, optional
        Name of a group column (person, subject), or of two crossed ones: whole groups are then the unit of the
        intervals.

    Returns
    -------
    tuple of FnmrAtFmr
        One row for each requested rate, in their order.

    Examples
    --------
    >>> trials = Trials.of_scores([9., 8., 3., 1., 2., 4., 5.], [1, 1, 1, 0, 0, 0, 0])
    >>> rows = fnmr_at_fmr(trials, [0.25, 0.01])
    >>> rows[0].threshold, rows[0].fmr.value, round(rows[0].fnmr.value, 4)
    (4.0, 0.25, 0.3333)
    >>> rows[1].reason
    'not measurable with 4 impostor comparisons: the least FMR above 0 is 1/4'
    """
    bounds = [probability(value, "fmr") for value in np.atleast_1d(column(fmr, "fmr")).tolist()]
    level, how, judged = probability(ci, "ci"), chosen(method, "method", _METHODS), _curve_of(trials)
    choosing = judged if development is None else _curve_of(as_trials(development, "development"))
    _check_same_meaning(judged, choosing)
    rows = []
    for bound in bounds:
        reason = _not_measurable(choosing, bound)
        if reason is not None:
            rows.append(FnmrAtFmr(bound, None, None, None, reason))
            continue
        threshold = _threshold(choosing, bound)
        impostor, genuine = _both_rates(judged.tally, threshold, level, how)
        impostor, genuine = _over_groups(trials, threshold, level, by, (impostor, genuine))
        assert impostor is not None
        assert genuine is not None
        rows.append(FnmrAtFmr(bound, threshold, impostor, genuine, None, _few(impostor, genuine)))
    return tuple(rows)


def verification_rates(
    trials: Trials,
    threshold: float,
    *,
    failure_to_acquire: float = 0.0,
    ci: float = 0.95,
    method: Method = "clopper-pearson",
    by: str | tuple[str, str] | None = None,
) -> VerificationRates:
    """FMR, FNMR, FAR, FRR, GAR and HTER of one threshold; sets of one class have the rates of that class.

    Parameters
    ----------
    trials : Trials
        Labelled comparisons, genuine = target.
    threshold : float
        Scores above it are accepted.
    failure_to_acquire : float, optional
        FTA, between 0 and 1 (1 excluded): the share of attempts that gave nothing to compare. FAR and FRR count them.
    ci : float, optional
        Level of the intervals.
    method : {"clopper-pearson", "wilson"}, optional
        How those of FMR and FNMR are made; that of HTER is MOVER from them.
    by : str or tuple of two str, optional
        Group columns (person) that are the unit of the intervals.

    Returns
    -------
    VerificationRates
        The rates; None where a class is missing, and `reasons` says why.

    Examples
    --------
    >>> trials = Trials.of_scores([9., 8., 3., 1., 2., 4., 5.], [1, 1, 1, 0, 0, 0, 0])
    >>> found = verification_rates(trials, 4.5, failure_to_acquire=0.1)
    >>> found.fmr.value, round(found.far, 3), round(found.frr, 3), round(found.hter, 4)
    (0.25, 0.225, 0.4, 0.3125)
    """
    cut, share = number(threshold, "threshold"), number(failure_to_acquire, "failure_to_acquire")
    if not 0.0 <= share < 1.0:
        raise InputError(f"failure_to_acquire must be a rate, at least 0 and below 1, not {share}.")
    tally = Tally.of(as_trials(trials))
    level = probability(ci, "ci")
    how = chosen(method, "method", _METHODS)
    fmr, fnmr = _over_groups(trials, cut, level, by, _both_rates(tally, cut, level, how))
    reasons = {}
    if fmr is None:
        reasons["fmr"] = "there are no impostor comparisons"
    if fnmr is None:
        reasons["fnmr"] = "there are no genuine comparisons"
    far = None if fmr is None else fmr.value * (1.0 - share)
    frr = None if fnmr is None else share + fnmr.value * (1.0 - share)
    gar = None if fnmr is None else (fnmr.trials - fnmr.errors) / fnmr.trials * (1.0 - share)
    hter = None if far is None or frr is None else (far + frr) / 2.0
    ends = ReadOnly(_transaction_intervals(fmr, fnmr, share))
    return VerificationRates(cut, fmr, fnmr, far, frr, gar, hter, share, ReadOnly(reasons), ends)


def _transaction_intervals(fmr: Rate | None, fnmr: Rate | None, share: float) -> dict[str, Interval]:
    """The intervals of FAR, FRR, GAR and HTER, from those of FMR and FNMR."""
    found: dict[str, Interval] = {}
    far, frr = (None if rate is None else rate.interval for rate in (fmr, fnmr))
    rest = 1.0 - share
    if far is not None:
        found["far"] = far._replace(low=far.low * rest, high=far.high * rest)
    if frr is not None:
        found["frr"] = frr._replace(low=share + frr.low * rest, high=share + frr.high * rest)
        found["gar"] = frr._replace(low=(1.0 - frr.high) * rest, high=(1.0 - frr.low) * rest)
    if fmr is not None and fnmr is not None and far is not None and frr is not None:
        down = math.hypot(fmr.value - far.low, fnmr.value - frr.low)
        up = math.hypot(far.high - fmr.value, frr.high - fnmr.value)
        middle = fmr.value + fnmr.value
        ends = ((share + (middle - down) * rest) / 2.0, (share + (middle + up) * rest) / 2.0)
        found["hter"] = Interval(*ends, f"mover ({far.method})")
    return found


def rates_by(
    trials: Trials,
    column: str,
    threshold: float,
    *,
    ci: float = 0.95,
    method: Method = "clopper-pearson",
    by: str | tuple[str, str] | None = None,
) -> Mapping[str, VerificationRates]:
    """Error rates of one threshold for each value of a group column; a value may hold one class only.

    Parameters
    ----------
    trials : Trials
        Labelled comparisons.
    column : str
        Name of a group column: sensor, sex, kind of attack.
    threshold : float
        Scores above it are accepted.
    ci : float, optional
        Level of the intervals.
    method : {"clopper-pearson", "wilson"}, optional
        How the intervals are made.
    by : str or tuple of two str, optional
        Group columns (person) that are the unit of the intervals.

    Returns
    -------
    mapping of str to VerificationRates
        In the order of the names.

    Examples
    --------
    >>> trials = Trials.of_scores([9., 1., 5.], [1, 0, 0], groups={"sensor": ["a", "a", "b"]})
    >>> found = rates_by(trials, "sensor", 4.0)
    >>> found["a"].fmr.value, found["b"].fmr.value, found["b"].reasons["fnmr"]
    (0.0, 1.0, 'there are no genuine comparisons')
    """
    values = group_column(as_trials(trials), column, "column").astype(str)
    return ReadOnly(
        {
            name: verification_rates(trials.select(values == name), threshold, ci=ci, method=method, by=by)
            for name in np.unique(values).tolist()
        }
    )


@checked_tuple
class NeededComparisons(NamedTuple):
    """Independent comparisons that a claim about an error rate needs.

    Attributes
    ----------
    without_errors : int
        The least n for which no error in n comparisons shows the claim at the level: (1 - rate)^n <= 1 - level.
    rule_of_3 : int
        3 / rate, the usual approximation of it at 95 %.
    rule_of_30 : int
        30 / rate: then 30 errors are expected, and the true rate lies within 30 % of the measured one, at 90 %
        confidence.

    Examples
    --------
    >>> import tercet as tc
    >>> tc.biometrics.comparisons_needed(0.01).rule_of_30    # 30 / 0.01
    3000
    """

    without_errors: int
    rule_of_3: int
    rule_of_30: int


def comparisons_needed(rate: float, *, ci: float = 0.95) -> NeededComparisons:
    """How many independent comparisons show an FMR (or any error rate) of at most `rate`.

    Comparisons that share a person are not independent: the numbers then apply to people, not to comparisons.

    Parameters
    ----------
    rate : float
        The claimed error rate, strictly between 0 and 1.
    ci : float, optional
        Confidence of the claim without errors, 0.95 by default, one-sided.

    Returns
    -------
    NeededComparisons
        The numbers by the exact bound without errors, the rule of 3 and the rule of 30.

    Examples
    --------
    >>> comparisons_needed(0.01)
    NeededComparisons(without_errors=299, rule_of_3=300, rule_of_30=3000)
    """
    claimed, level = probability(rate, "rate"), probability(ci, "ci")
    exact = math.ceil(math.log1p(-level) / math.log1p(-claimed))
    if exact > 1 and _shows(claimed, level, exact - 1):
        exact -= 1
    above, below = claimed.as_integer_ratio()
    return NeededComparisons(exact, _thirds(3, above, below), _thirds(30, above, below))


def _shows(rate: float, level: float, count: int) -> bool:
    """Whether (1 - rate)^count = 1 - level in the decimals that were written: logarithms may round to either side."""
    if count > _MOST_EQUAL:
        return False
    missed, left = (1 - Fraction(repr(value)) for value in (rate, level))
    return missed**count <= left


def _thirds(times: int, above: int, below: int) -> int:
    """times / rate, rounded up, the rate's decimals taken as they were written."""
    return math.ceil(round(times * below / above, 6))


@dataclass(frozen=True, slots=True)
class SpeciesRate(Record):
    """The attack presentation classification error rate of one species of attack instrument.

    Attributes
    ----------
    species : str
        Its name.
    apcer : Rate
        Attacks of this species taken for bona fide, with its own interval.
    limits : Interval or None
        Limits that hold for all species together at the level (Bonferroni, Clopper-Pearson).

    Examples
    --------
    >>> import tercet as tc
    >>> kinds = ["", "", "print", "print", "mask", "mask"]
    >>> trials = tc.Trials.of_scores([9.0, 7.0, 1.0, 5.0, 3.0, 4.0], [1, 1, 0, 0, 0, 0], groups={"pai": kinds})
    >>> found = tc.biometrics.presentation_attacks(trials, threshold=4.5)
    >>> {row.species: row.apcer.value for row in found.species}
    {'mask': 0.0, 'print': 0.5}
    """

    species: str
    apcer: Rate
    limits: Interval | None


@dataclass(frozen=True, slots=True)
class BpcerAt(Record):
    """The least BPCER at which no species' APCER exceeds a bound.

    Attributes
    ----------
    apcer_at_most : float
        The bound, such as 1/20 for BPCER20.
    threshold : float
        The lowest threshold that keeps it.
    bpcer : Rate
        Bona fide presentations rejected there.
    apcer : float
        The worst species' APCER there.
    warnings : tuple of str
        Species with fewer attacks than 1 / bound: for them the bound allows no error at all.

    Examples
    --------
    >>> import tercet as tc
    >>> kinds = ["", "", "print", "print", "mask", "mask"]
    >>> trials = tc.Trials.of_scores([9.0, 4.5, 1.0, 5.0, 3.0, 4.0], [1, 1, 0, 0, 0, 0], groups={"pai": kinds})
    >>> found = tc.biometrics.presentation_attacks(trials, threshold=4.5).bpcer10
    >>> found.threshold, found.bpcer.value    # above every attack, which rejects one bona fide presentation of two
    (5.0, 0.5)
    """

    apcer_at_most: float
    threshold: float
    bpcer: Rate
    apcer: float
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PresentationAttacks(PlainRecord):
    """What a presentation attack detector gets wrong, by species (ISO/IEC 30107-3).

    Attributes
    ----------
    threshold : float or None
        Scores above it are taken for bona fide; None if only BPCER10, 20 and 100 were asked for.
    species : tuple of SpeciesRate
        One row for each species, by name; empty without a threshold.
    worst : SpeciesRate or None
        The species with the largest APCER; its limits enclose the largest true APCER of all species.
    bpcer : Rate or None
        Bona fide presentations taken for attacks.
    acer : float or None
        (largest APCER + BPCER) / 2.
    acer_limits : Interval or None
        Limits of it from those of all species and of the BPCER together (Bonferroni).
    bpcer10, bpcer20, bpcer100 : BpcerAt
        The least BPCER with every species' APCER at most 1/10, 1/20 and 1/100.

    Examples
    --------
    >>> import tercet as tc
    >>> kinds = ["", "", "", "", "print", "print", "mask", "mask"]
    >>> scores, labels = [9.0, 7.0, 6.0, 2.0, 1.0, 5.0, 3.0, 4.0], [1, 1, 1, 1, 0, 0, 0, 0]
    >>> trials = tc.Trials.of_scores(scores, labels, groups={"pai": kinds})
    >>> found = tc.biometrics.presentation_attacks(trials, threshold=4.5)
    >>> found.bpcer.value, found.acer    # (0.5 + 0.25) / 2
    (0.25, 0.375)
    """

    threshold: float | None
    species: tuple[SpeciesRate, ...]
    worst: SpeciesRate | None
    bpcer: Rate | None
    acer: float | None
    acer_limits: Interval | None
    bpcer10: BpcerAt
    bpcer20: BpcerAt
    bpcer100: BpcerAt


def presentation_attacks(
    trials: Trials,
    species: str = "pai",
    *,
    threshold: float | None = None,
    ci: float = 0.95,
    by: str | tuple[str, str] | None = None,
) -> PresentationAttacks:
    """APCER by species, BPCER, ACER, and BPCER10, BPCER20 and BPCER100 (ISO/IEC 30107-3).

    APCER is the share of the attacks of one species that are taken for bona fide, BPCER the share of bona fide
    presentations that are taken for attacks. A system is as good as its worst species.

    Parameters
    ----------
    trials : Trials
        Labelled presentations, bona fide = target, higher scores for bona fide.
    species : str, optional
        Name of the group column with the species of each attack ("pai" by default); what it holds for bona fide
        presentations is not read.
    threshold : float, optional
        Scores above it are taken for bona fide. Without it only BPCER10, 20 and 100 are given.
    ci : float, optional
        Level of all intervals and limits.
    by : str or tuple of two str, optional
        Group columns (person, instrument) that are the unit of the intervals.

    Returns
    -------
    PresentationAttacks
        APCER by species and of the worst one, BPCER and ACER with intervals, and BPCER10, 20 and 100.

    Raises
    ------
    InputError
        If a species is spelt in two cases, or the column is missing or empty.

    Examples
    --------
    >>> kinds = ["", "", "", "", "print", "print", "mask", "mask"]
    >>> trials = Trials.of_scores([9., 7., 6., 2., 1., 5., 3., 4.], [1, 1, 1, 1, 0, 0, 0, 0], groups={"pai": kinds})
    >>> found = presentation_attacks(trials, threshold=4.5)
    >>> found.worst.species, found.worst.apcer.value, found.bpcer.value, found.acer
    ('print', 0.5, 0.25, 0.375)
    >>> found.bpcer10.threshold, found.bpcer10.bpcer.value
    (5.0, 0.25)
    """
    labels = as_trials(trials).known_labels().astype(np.bool_)
    level = probability(ci, "ci")
    names = species_rows(trials, labels, species)
    parts = {name: trials.select(labels | own) for name, own in names.items()}
    curves = {name: Curve.of(part) for name, part in parts.items()}

    def rates(name: str, cut: float, at: float) -> tuple[Rate, Rate]:
        found = _both_rates(curves[name].tally, cut, at, "clopper-pearson")
        attack, bona_fide = _over_groups(parts[name], cut, at, by, found)
        assert attack is not None
        assert bona_fide is not None
        return attack, bona_fide

    least = {key: _bpcer_at(curves, rates, 1.0 / times, level) for key, times in _BOUNDS.items()}
    if threshold is None:
        return PresentationAttacks(None, (), None, None, None, None, **least)
    cut = number(threshold, "threshold")
    shared = 1.0 - (1.0 - level) / len(curves)
    rows = tuple(SpeciesRate(name, rates(name, cut, level)[0], rates(name, cut, shared)[0].interval) for name in curves)
    worst, bona_fide = _worst(rows), rates(next(iter(curves)), cut, level)[1]
    acer = (worst.apcer.value + bona_fide.value) / 2.0
    limits = _acer_limits([rates(name, cut, 1.0 - (1.0 - level) / (len(rows) + 1)) for name in curves])
    return PresentationAttacks(cut, rows, worst, bona_fide, acer, limits, **least)


def species_rows(trials: Trials, labels: NDArray[np.bool_], column: str) -> dict[str, NDArray[np.bool_]]:
    """The rows of each species among the attacks; names that differ only in case or outer blanks are refused."""
    values = group_column(trials, column, "species").astype(str)
    if labels.all() or not labels.any():
        missing = "attacks" if labels.all() else "bona fide presentations"
        raise UndefinedError(f"There are no {missing} among the {len(labels)} presentations.")
    blank = np.flatnonzero(~labels & (np.char.strip(values) == ""))
    if len(blank):
        raise InputError(
            f"species={shown(column)} is empty for {len(blank)} of {int((~labels).sum())} attacks, the first in row "
            f"{blank[0]} (counting from 0): name the species of every attack."
        )
    found, counts = np.unique(values[~labels], return_counts=True)
    alike: dict[str, list[str]] = {}
    for name in found.tolist():
        alike.setdefault(name.strip().casefold(), []).append(name)
    twice = next((spellings for spellings in alike.values() if len(spellings) > 1), None)
    if twice is not None:
        sizes = dict(zip(found.tolist(), counts.tolist(), strict=True))
        told = " and ".join(f"{shown(name)} ({sizes[name]} attacks)" for name in twice)
        raise InputError(f"species={shown(column)} holds one name in several spellings: {told}. Spell it in one way.")
    return {name: ~labels & (values == name) for name in found.tolist()}


def _worst(rows: tuple[SpeciesRate, ...]) -> SpeciesRate:
    """The largest APCER; where all species' limits hold, the largest true APCER lies between the largest ends."""
    worst = max(rows, key=lambda row: row.apcer.value)
    limits = [row.limits for row in rows if row.limits is not None]
    if len(limits) < len(rows):
        return worst
    ends = Interval(
        max(one.low for one in limits), max(one.high for one in limits), _simultaneous(limits[0].method, len(rows))
    )
    return replace(worst, limits=ends)


def _acer_limits(rates: Sequence[tuple[Rate, Rate]]) -> Interval | None:
    """Limits that hold where those of every species and of the BPCER do."""
    attacks, own = [attack.interval for attack, _ in rates], rates[0][1].interval
    known = [one for one in attacks if one is not None]
    if own is None or len(known) < len(attacks):
        return None
    low, high = max(one.low for one in known), max(one.high for one in known)
    return Interval((low + own.low) / 2.0, (high + own.high) / 2.0, _simultaneous(own.method, len(rates) + 1))


def _simultaneous(method: str, count: int) -> str:
    return f"{method}, bonferroni over {count}"


def _bpcer_at(
    curves: Mapping[str, Curve], rates: Callable[[str, float, float], tuple[Rate, Rate]], bound: float, level: float
) -> BpcerAt:
    threshold = max(_threshold(curve, bound) for curve in curves.values())
    found = [rates(name, threshold, level) for name in curves]
    bona_fide, worst = found[0][1], max(attack.value for attack, _ in found)
    few = tuple(
        f"{name}: {curve.tally.weight(curve.nontargets):g} attacks, fewer than {1.0 / bound:g}: at most 1 in "
        f"{1.0 / bound:g} then means none"
        for name, curve in curves.items()
        if curve.tally.weight(curve.nontargets) * bound < 1.0
    )
    return BpcerAt(bound, threshold, bona_fide, worst, few)


def _curve_of(trials: Trials) -> Curve:
    return Curve.of(as_trials(trials))


def _threshold(curve: Curve, bound: float) -> float:
    """The lowest threshold of the curve at which the FPR, as a double, does not exceed the bound."""
    return float(curve.thresholds[int(np.searchsorted(-curve.fpr, -bound))])


def _not_measurable(curve: Curve, bound: float) -> str | None:
    impostors = curve.tally.weight(curve.nontargets)
    if bound >= 1.0 / impostors:
        return None
    return f"not measurable with {impostors:g} impostor comparisons: the least FMR above 0 is 1/{impostors:g}"


def _both_rates(tally: Tally, threshold: float, level: float, method: Method) -> tuple[Rate | None, Rate | None]:
    """False match and false non-match rate at a threshold; None for a class that is not there."""
    misses, alarms = tally.at(threshold)
    sides = ((int(alarms), tally.nontargets.total), (int(misses), tally.targets.total))
    found = [None if total == 0 else rate_of(errors, total, tally, level, method) for errors, total in sides]
    return found[0], found[1]


def rate_of(errors: int, total: int, tally: Tally, level: float, method: Method) -> Rate:
    """A rate of internal counts of a tally, with its interval."""
    wrong, whole = tally.weight(errors), tally.weight(total)
    return Rate(errors / total, wrong, whole, _interval(wrong, whole, level, method))


def _interval(errors: float, total: float, level: float, method: Method) -> Interval | None:
    """The closed-form interval of a proportion; fractional weights have none."""
    if isinstance(errors, float) or isinstance(total, float):
        return None
    return _METHODS[method](errors, total, level)


def _over_groups(
    trials: Trials, threshold: float, level: float, by: object, rates: tuple[Rate | None, Rate | None]
) -> tuple[Rate | None, Rate | None]:
    """Both rates with intervals whose unit is the whole group, where groups are named."""
    if by is None:
        return rates
    accepted = np.asarray(trials.scores > threshold)
    return grouped_rates(trials, accepted != trials.known_labels().astype(np.bool_), level, by, rates)


def grouped_rates(
    trials: Trials, wrong: NDArray[np.bool_], level: float, by: object, rates: tuple[Rate | None, Rate | None]
) -> tuple[Rate | None, Rate | None]:
    """The rates of impostors and of genuine trials that went wrong, with intervals whose unit is the group."""
    labels, names = trials.known_labels().astype(np.bool_), grouping(by)
    found: list[Rate | None] = []
    for rate, rows, sign in zip(rates, (~labels, labels), (-1.0, 1.0), strict=True):
        if rate is None:
            found.append(None)
            continue
        kept = np.flatnonzero(rows if trials.weights is None else rows & (trials.weights > 0.0))
        own = trials.select(kept)
        codes = [[group_codes(own, name, names if len(names) == 2 else ())] for name in names]
        heavy = np.ones(len(own)) if own.weights is None else own.weights
        ranks = np.argsort(sign * own.scores, kind="stable")
        clusters = Clusters.of(codes, [heavy], len(names) == 2 and names_cross(own, names))
        found.append(rate._replace(interval=_group_interval(clusters, wrong[kept], ranks, rate, level)))
    return found[0], found[1]


def _group_interval(
    clusters: Clusters, wrong: NDArray[np.bool_], ranks: NDArray[np.intp], rate: Rate, level: float
) -> Interval:
    """Korn and Graubard's interval. Fewer errors than ten show no clustering: then it is that of the ten worst trials.

    `ranks` are the rows from the worst score on; of fewer than twenty, groups are counted instead.
    """
    most, units = clusters.rows[0], clusters.units[0]

    def size_of(errors: NDArray[np.bool_]) -> float:
        found = clusters.means([(0, errors.astype(np.float64))])
        return float(effective_size(found.means[0], found.covariance[0, 0], units, most))

    size = size_of(wrong)
    if min(rate.errors, rate.trials - rate.errors) < FEW:
        worst = np.zeros(len(wrong), np.bool_)
        worst[ranks[: int(FEW)]] = True
        size = min(size if wrong.any() else most, size_of(worst) if len(wrong) >= 2 * FEW else units)
    found = Proportion(rate.value, size, clusters.freedoms[0], True)
    low, high = found.limits(level)
    return Interval(float(low), float(high), found.method(level))


def _few(impostor: Rate, genuine: Rate) -> tuple[str, ...]:
    kinds = (("fmr", "false matches", impostor), ("fnmr", "false non-matches", genuine))
    return tuple(
        f"{rate.errors:g} {called}, fewer than {ENOUGH}: {name} is unreliable"
        for name, called, rate in kinds
        if not enough_errors(rate.errors)
    )


def _check_same_meaning(judged: Curve, chosen: Curve) -> None:
    mine, other = ((curve.tally.meaning, curve.tally.trained_prior) for curve in (judged, chosen))
    if mine != other:
        raise InputError(
            f"development holds scores that are {other[0]}, the judged trials {mine[0]}: a threshold carries over "
            f"between scores of the same meaning only."
        )


def group_column(trials: Trials, name: str, argument: str) -> Array:
    """A group column by its name, or an error that lists the known ones."""
    return trials.groups[group_name(name, as_trials(trials).groups, argument)]
