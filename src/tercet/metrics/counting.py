"""Every quantity that follows from a confusion matrix alone, or from two rates."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from tercet._numeric.exact import shifted
from tercet._numeric.plain import plain
from tercet._numeric.records import Record
from tercet._numeric.validation import instance, listed, rate
from tercet._typing import Floats
from tercet.application import MulticlassApplication
from tercet.errors import InputError
from tercet.metrics.binomial import Interval, check_exact, normal_quantile, rate_interval, wilson
from tercet.metrics.classification import ClassificationReport, classification_report
from tercet.metrics.confusion import RATES, Confusion, defined
from tercet.metrics.mover import MeanLoss, Share, Sum, cost_scale, mean_loss, mover
from tercet.trials import probability

_OF_A_CLASS = ("tpr", "fnr", "fpr", "tnr")  # rates that do not depend on how frequent targets are
_DERIVED = (
    "lr_plus", "lr_minus", "dor", "f1", "jaccard", "mcc", "kappa", "balanced_accuracy", "adjusted_balanced_accuracy",
)  # fmt: skip
_OF_RATES = ("lr_plus", "lr_minus", "dor", "balanced_accuracy", "adjusted_balanced_accuracy")


class Rate(NamedTuple):
    """A number with all its names.

    Attributes
    ----------
    name : str
        The name that tercet uses.
    also : tuple of str
        Other names of the same number.
    value : float or None
        The number; None where it is undefined.
    interval : Interval or None
        Its confidence limits, where they exist.
    reason : str or None
        Why it is undefined.
    """

    name: str
    also: tuple[str, ...]
    value: float | None
    interval: Interval | None
    reason: str | None = None

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON; infinities as text."""
        found: dict[str, object] = {"name": self.name, "also": list(self.also), "value": plain(self.value)}
        if self.interval is not None:
            found |= {"ci": plain(self.interval[:2]), "method": self.interval.method}
        return found | ({} if self.reason is None else {"reason": self.reason})


@dataclass(frozen=True, slots=True)
class CountReport(Record):
    """Every rate of a confusion matrix, under all of its names, with intervals and at another prevalence.

    Attributes
    ----------
    confusion : Confusion
        The matrix; for bare rates, the shares that they represent.
    rates : tuple of Rate
        Proportions and numbers derived from them; those of the target for a two-class matrix, otherwise accuracy and
        the like.
    at_prevalence : tuple of Rate
        PPV, NPV and error rate at that prevalence; empty without `prevalence`.
    cost : tuple of Rate
        Risk and normalised risk at the application; empty without one.
    dummy_action, dummy_cost : str and float, or None
        The best action without the scores at the application, and its cost.
    report : ClassificationReport
        Each class against the rest, with averages.
    prevalence, level : float
        The prevalence of `at_prevalence`, and the level of the intervals.

    Examples
    --------
    >>> import tercet as tc
    >>> found = tc.count([[8, 1], [2, 9]])
    >>> {rate.name: rate.value for rate in found.rates}["tpr"]    # 9 / 10
    0.9
    """

    confusion: Confusion
    rates: tuple[Rate, ...]
    at_prevalence: tuple[Rate, ...]
    cost: tuple[Rate, ...]
    dummy_action: str | None
    dummy_cost: float | None
    report: ClassificationReport | None
    prevalence: float | None
    level: float

    def __getitem__(self, name: str) -> Rate:
        """A rate by any of its names."""
        for one in (*self.rates, *self.at_prevalence, *self.cost):
            if name == one.name or name in one.also:
                return one
        raise InputError(f"{name!r} is not in this report: it has {', '.join(one.name for one in self.rates)}.")

    def to_dict(self) -> dict[str, object]:
        """Plain values for JSON.

        Returns
        -------
        dict
            Plain values; None where a number is undefined.
        """
        found: dict[str, object] = {
            "confusion": self.confusion.matrix, "rows": "decision", "columns": "class",
            "classes": list(self.confusion.classes), "actions": list(self.confusion.actions),
            "target": self.confusion.target, "level": self.level, "rates": [one.to_dict() for one in self.rates],
        }  # fmt: skip
        if self.report is None:
            found.pop("confusion")
        else:
            found["report"] = self.report.to_dict()
        if self.at_prevalence:
            found |= {"prevalence": self.prevalence, "at_prevalence": [one.to_dict() for one in self.at_prevalence]}
        if self.cost:
            found |= {"cost": [one.to_dict() for one in self.cost]}
            found |= {"dummy_action": self.dummy_action, "dummy_cost": self.dummy_cost}
        return found


def count_report(
    confusion: Confusion,
    *,
    prevalence: float | None = None,
    application: object = None,
    ci: float = 0.95,
) -> CountReport:
    """Every rate of a confusion matrix with its interval, and what it means at another prevalence or for costs.

    Parameters
    ----------
    confusion : Confusion
        Counts, rows = decision, columns = class: `Confusion([[tn, fn], [fp, tp]])`, `Confusion.of(decisions, labels)`.
    prevalence : float, optional
        Another share of targets: PPV, NPV and error rate there. Two classes only.
    application : optional
        Priors and costs: risk, normalised risk and the best action without the scores.
    ci : float, default 0.95
        Level of the intervals: for proportions, F1 and Jaccard's index Clopper-Pearson's below 13 counts and Wilson's
        from there on, MOVER for balanced accuracy, for the error rate at a prevalence and for the risk, MOVER-R for
        likelihood ratios and for PPV and NPV at a prevalence, Woolf's for the odds ratio, the delta method on the scale
        of Fisher's z for kappa (Fleiss, Cohen and Everitt 1969) and Matthews' correlation, all trials being one sample.
        The risk is summed over the mean cost of each class, as in `evaluate`: where errors of a class cost different
        amounts, its limits are those of Tiwari, Clegg and Zou (2006). Fractional counts have none.

    Returns
    -------
    CountReport
        Index it by any name of a rate: `report["sensitivity"]`.

    Examples
    --------
    >>> report = count_report(Confusion([[980, 60], [20, 940]]), prevalence=0.01)
    >>> report["recall"].value, round(report["ppv_at"].value, 4), report["error_rate_at"].value
    (0.94, 0.3219, 0.0204)
    """
    instance(confusion, Confusion, "confusion", "Make it by Confusion([[tn, fn], [fp, tp]]).")
    level = probability(ci, "ci")
    two = confusion.target is not None
    share = None if prevalence is None else probability(prevalence, "prevalence")
    if share is not None and not two:
        raise InputError("PPV and NPV at another prevalence refer to one class: name it (target=...).")
    app = None if application is None else confusion.matched(application)
    return CountReport(
        confusion,
        (*_proportions(confusion, level, two), *_derived(confusion, _DERIVED if two else _DERIVED[5:], level)),
        () if share is None else _at_prevalence(confusion, share, level), _costs(confusion, app, level),
        None if app is None else app.renamed(confusion.classes).dummy_action, None if app is None else app.dummy_cost,
        classification_report(confusion, ci=level), share, level,
    )  # fmt: skip


def count(
    confusion: object = None,
    *,
    rates: tuple[float, float] | None = None,
    prevalence: float | None = None,
    application: object = None,
    ci: float = 0.95,
) -> CountReport:
    """Everything that a confusion matrix, or two bare rates, can say: `tercet count`.

    Parameters
    ----------
    confusion : Confusion or matrix, optional
        Counts, rows = decision, columns = class; in a bare 2 x 2 matrix the second class is the target.
    rates : tuple (tpr, fpr), optional
        Two bare rates instead, which have no intervals.
    prevalence : float, optional
        Also gives PPV, NPV and error rate at this share of targets.
    application : optional
        Prior and costs: risk, normalised risk and the best action without the scores.
    ci : float, default 0.95
        Level of the intervals.

    Returns
    -------
    CountReport
        Every rate by all its names.

    Examples
    --------
    >>> {one.name: one.value for one in count([[8, 1], [2, 9]]).rates}["tpr"]
    0.9
    """
    if (confusion is None) == (rates is None):
        raise InputError("count takes either confusion or rates.")
    if rates is not None:
        pair = listed(rates, "rates")
        if len(pair) != 2:
            raise InputError(f"rates must be two numbers, TPR and FPR, not {len(pair)}.")
        return rates_report(pair[0], pair[1], prevalence=prevalence, application=application)
    table = confusion if isinstance(confusion, Confusion) else Confusion(confusion)
    return count_report(table, prevalence=prevalence, application=application, ci=ci)


def rates_report(tpr: float, fpr: float, *, prevalence: float | None = None, application: object = None) -> CountReport:
    """What two bare rates say: likelihood ratios, and with a prevalence PPV, NPV, accuracy and cost. No intervals.

    Parameters
    ----------
    tpr, fpr : float
        True and false positive rate.
    prevalence : float, optional
        Share of targets; without it no number that depends on it is given.
    application : optional
        Prior and costs: risk, normalised risk and the best action without the scores.

    Returns
    -------
    CountReport
        Without counts, so without intervals.

    Examples
    --------
    >>> report = rates_report(0.94, 0.02, prevalence=0.01)
    >>> round(report["lr_plus"].value, 6), round(report["ppv"].value, 4)
    (47.0, 0.3219)
    """
    share = 0.5 if prevalence is None else probability(prevalence, "prevalence")
    table = _shares(rate(tpr, "tpr"), rate(fpr, "fpr"), share)
    rates = [one for one in _proportions(table, 0.95, True) if prevalence is not None or one.name in _OF_A_CLASS]
    app = None if application is None else table.matched(application)
    return CountReport(
        table, (*rates, *_derived(table, _OF_RATES if prevalence is None else _DERIVED)), (),
        _costs(table, app, None), None if app is None else app.renamed(table.classes).dummy_action,
        None if app is None else app.dummy_cost, None, prevalence, 0.95,
    )  # fmt: skip


def _shares(tpr: float, fpr: float, share: float) -> Confusion:
    """The table of two rates and a prevalence. Products of doubles are whole multiples of a power of two: exact."""
    (hits, targets), (alarms, nontargets), (some, whole) = (x.as_integer_ratio() for x in (tpr, fpr, share))
    parts = [
        ((whole - some) * (nontargets - alarms), nontargets), (some * (targets - hits), targets),
        ((whole - some) * alarms, nontargets), (some * hits, targets),
    ]  # fmt: skip
    unit = max(targets, nontargets)  # both are powers of two
    cells = np.array([above * (unit // below) for above, below in parts], np.object_)
    names = ("nontarget", "target")
    return Confusion._made(shifted(cells, 0).reshape(2, 2), names, names, "target", 1 - (unit * whole).bit_length())


def ratio_interval(above: tuple[int, int], below: tuple[int, int], level: float = 0.95) -> Interval:
    """The interval of a ratio of two independent proportions, MOVER-R with Wilson's intervals.

    Parameters
    ----------
    above, below : tuple of int
        (count, out of) of numerator and denominator.
    level : float, default 0.95
        Level of the two-sided interval.

    Returns
    -------
    Interval
        From 0 to inf, method "mover-r-wilson".

    References
    ----------
    Donner and Zou (2012), Closed-form confidence intervals for functions of the normal mean and standard deviation,
    Statistical Methods in Medical Research 21, 347-359.

    Examples
    --------
    >>> found = ratio_interval((40, 80), (20, 80))
    >>> round(found.low, 2), round(found.high, 2)
    (1.31, 3.1)
    """
    ends = wilson(*above, level), wilson(*below, level)
    return mover_ratio(above[0] / above[1], below[0] / below[1], *ends)


def mover_ratio(above: float, below: float, ends: Interval, under: Interval) -> Interval:
    """MOVER-R: the interval of a ratio of two independent numbers that are not negative, from their own intervals."""
    low = _ratio_end(above, below, max(ends.low, 0.0), under.high, -1.0) if above > 0.0 else 0.0
    high = _ratio_end(above, below, ends.high, max(under.low, 0.0), 1.0) if below > 0.0 else math.inf
    return Interval(max(low, 0.0), high, "mover-r-wilson")


def _ratio_end(t: float, f: float, other: float, under: float, sign: float) -> float:
    """(t f -+ sqrt((t f)^2 - other (2t - other) under (2f - under))) / (under (2f - under))."""
    product, scale = other * (2.0 * t - other), under * (2.0 * f - under)
    root = math.sqrt(max((t * f) ** 2 - product * scale, 0.0))
    if sign < 0.0:  # the same by the other form, which does not divide by what may be 0
        return product / (t * f + root)
    return (t * f + root) / scale if scale > 0.0 else math.inf


def proportion_rate(table: Confusion, name: str, level: float) -> Rate:
    """A proportion of counts with its binomial interval."""
    also = tuple(other for other, one in RATES.items() if one.name == name and other != name)
    return _rate(table, name, getattr, lambda *_: rate_interval(*table.proportion(name), level), also)


def _proportions(table: Confusion, level: float, two: bool) -> list[Rate]:
    wanted = dict.fromkeys(one.name for one in RATES.values()) if two else ("accuracy", "error_rate")
    return [proportion_rate(table, name, level) for name in wanted]


def _derived(table: Confusion, names: tuple[str, ...], level: float | None = None) -> list[Rate]:
    return [_rate(table, name, getattr, partial(_derived_interval, table, level=level)) for name in names]


def _rate(
    table: Confusion,
    name: str,
    compute: Callable[[Confusion, str], float],
    interval: Callable[[str, float], Interval | None],
    also: tuple[str, ...] = (),
) -> Rate:
    """A number of a table, if it is defined, and its interval, if the counts are whole."""
    value, why = defined(lambda: compute(table, name))
    return Rate(name, also, value, None if value is None or table.unit < 0 else interval(name, value), why)


def _derived_interval(table: Confusion, name: str, value: float, level: float | None) -> Interval | None:
    """The closed form of a number that is made of rates; None where there is none, or without a level."""
    if level is None:
        return None
    if name.endswith("balanced_accuracy"):
        right = [[int(table.counts[row, col]) << table.unit, int(table.counts[:, col].sum()) << table.unit]
                 for row, col in table._shared()]  # fmt: skip
        ends = mover([[Share(1.0 / len(right), *own)] for own in right], level)
        low, high = max(ends.low, 0.0), min(ends.high, 1.0)
        chance = 1.0 / len(right) if name.startswith("adjusted") else 0.0
        return Interval((low - chance) / (1.0 - chance), (high - chance) / (1.0 - chance), ends.method)
    if name in ("kappa", "mcc"):
        return _delta(table, name, value, level)
    if table.target is None:
        return None
    cells = {key: count << table.unit for key, count in table.cells.items()}
    tp, fp, fn, tn = (cells[key] for key in ("tp", "fp", "fn", "tn"))
    if name in ("lr_plus", "lr_minus"):
        above, below = (tp, fp) if name == "lr_plus" else (fn, tn)
        return ratio_interval((above, tp + fn), (below, fp + tn), level)
    if name in ("f1", "jaccard"):
        ends = rate_interval(tp, tp + fp + fn, level)
        return ends if name == "jaccard" else ends._replace(low=_f1_of(ends.low), high=_f1_of(ends.high))
    if name == "dor":
        if min(tp, fp, fn, tn) == 0:
            return None
        reach = normal_quantile(level) * math.sqrt(1 / tp + 1 / fp + 1 / fn + 1 / tn)
        return Interval(value * math.exp(-reach), value * math.exp(reach), "woolf")
    return None


def _f1_of(share: float) -> float:
    """F1 from the share of hits among hits, misses and false alarms."""
    return 2.0 * share / (1.0 + share)


def _delta(table: Confusion, name: str, value: float, level: float) -> Interval | None:
    """The delta method for kappa and Matthews' correlation of a multinomial sample, on the scale of Fisher's z.

    None where every decision agrees or disagrees with the class alike, so that no variance is seen.
    """
    if set(table.actions) != set(table.classes):
        return None
    cells = table.counts[[table.actions.index(one) for one in table.classes]].astype(np.float64) * 2.0**table.unit
    total = float(cells.sum())
    shares = cells / total
    slopes = (_kappa_slopes if name == "kappa" else _mcc_slopes)(shares)
    mean = float((shares * slopes).sum())
    error = math.sqrt(float((shares * (slopes - mean) ** 2).sum()) / total)
    if error == 0.0 or abs(value) >= 1.0:
        return None
    reach = normal_quantile(level) * error / (1.0 - value * value)
    return Interval(math.tanh(math.atanh(value) - reach), math.tanh(math.atanh(value) + reach), "delta, fisher-z")


def _kappa_slopes(shares: Floats) -> Floats:
    """Derivatives of Cohen's kappa by the share of each cell: the variance of Fleiss, Cohen and Everitt (1969)."""
    decided, true = shares.sum(axis=1), shares.sum(axis=0)
    right, chance = float(np.trace(shares)), float(decided @ true)
    by_chance = true[:, None] + decided[None, :]
    found: Floats = (np.eye(len(shares)) * (1.0 - chance) - by_chance * (1.0 - right)) / (1.0 - chance) ** 2
    return found


def _mcc_slopes(shares: Floats) -> Floats:
    """Derivatives of Matthews' correlation of K classes by the share of each cell."""
    decided, true = shares.sum(axis=1), shares.sum(axis=0)
    a, b = 1.0 - float(decided @ decided), 1.0 - float(true @ true)
    excess = float(np.trace(shares)) - float(decided @ true)
    rise = np.eye(len(shares)) - true[:, None] - decided[None, :]
    found: Floats = (rise + excess * (decided[:, None] / a + true[None, :] / b)) / math.sqrt(a * b)
    return found


def _at_prevalence(table: Confusion, share: float, level: float) -> tuple[Rate, ...]:
    """PPV, NPV and error rate at another prevalence: each a monotone function of a ratio or sum of rates."""
    cells = {name: count << max(table.unit, 0) for name, count in table.cells.items()}
    targets, nontargets = cells["tp"] + cells["fn"], cells["fp"] + cells["tn"]
    odds = share / (1.0 - share)

    def ends(name: str, _: float) -> Interval:
        if name == "error_rate_at":
            return mover([[Share(share, cells["fn"], targets)], [Share(1.0 - share, cells["fp"], nontargets)]], level)
        if name == "ppv_at":
            ratio, factor = ratio_interval((cells["tp"], targets), (cells["fp"], nontargets), level), odds
        else:
            ratio, factor = ratio_interval((cells["tn"], nontargets), (cells["fn"], targets), level), 1.0 / odds
        return Interval(_share_of(ratio.low * factor), _share_of(ratio.high * factor), ratio.method)

    names = ("ppv_at", "npv_at", "error_rate_at")
    return tuple(_rate(table, name, lambda one, of: getattr(one, of)(share), ends) for name in names)


def _share_of(odds: float) -> float:
    return 1.0 if odds == math.inf else odds / (1.0 + odds)


def _costs(table: Confusion, app: MulticlassApplication | None, level: float | None) -> tuple[Rate, ...]:
    """Risk with its interval, and the normalised risk, which divides it."""
    if app is None:
        return ()

    def interval(*_: object) -> Interval | None:
        return None if level is None else _risk_interval(table, app, level)

    risk = _rate(table, "risk", lambda one, _: one.risk(app), interval, ("dcf_u",))
    scaled, ends, dummy = risk._replace(name="normalised_risk", also=("dcf",)), risk.interval, app.dummy_cost
    if risk.value is None:
        return risk, scaled
    if dummy == 0.0:
        return risk, scaled._replace(value=None, interval=None, reason="the best dummy costs 0")
    over = None if ends is None else ends._replace(low=ends.low / dummy, high=ends.high / dummy)
    return risk, scaled._replace(value=risk.value / dummy, interval=over)


def _risk_interval(table: Confusion, app: MulticlassApplication, level: float) -> Interval:
    """MOVER over the mean cost of each class, each class one multinomial sample, as evaluations give it."""
    most, counted = cost_scale(app.costs)
    parts = []
    for counts, costs, top, same in zip(table.counts.T, app.costs.T, most, counted, strict=True):
        out_of = int(counts.sum()) << table.unit
        shares, losses = counts / int(counts.sum()), costs / (top or 1.0)
        mean = math.fsum(shares * losses)
        parts.append(mean_loss(mean, math.fsum(shares * (losses - mean) ** 2), float(out_of), same))
        if parts[-1].method(level) != "Wilson":
            check_exact(out_of)
    factors = tuple(float(pi) * top for pi, top in zip(app.prior, most, strict=True))
    low, high = Sum(parts, factors, None, (0.0, math.inf)).limits(level)
    unequal = any(isinstance(part, MeanLoss) for part in parts)
    return Interval(float(low), float(high), "mover (Tiwari-Clegg-Zou)" if unequal else "mover")


__all__ = ["CountReport", "Rate", "count_report", "rates_report", "ratio_interval"]
