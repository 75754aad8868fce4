"""Rules: a threshold chosen by a named criterion, with a guarantee if asked, to be saved, applied and judged later."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any, ClassVar, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import quotients, shifted
from tercet._numeric.plain import plain
from tercet._numeric.serialization import Model, flag, real
from tercet._numeric.validation import chosen, group_name, not_negative, numbers, positive, rate, shown, text
from tercet._typing import Facts, Floats
from tercet.application import Application
from tercet.calibration.cross_fit import fold_numbers
from tercet.calibration.two_class import check_meaning
from tercet.errors import InputError, UndefinedError
from tercet.metrics.binomial import Interval
from tercet.metrics.confusion import CELLS, Confusion
from tercet.metrics.counting import proportion_rate
from tercet.metrics.curves import Curve
from tercet.trials import Trials, probability, two_class

Best = Literal["youden", "corner", "eer"]
RATES = ("fpr", "fnr", "tpr", "specificity", "precision")
_BOUNDS = (
    "fpr_at_most", "fnr_at_most", "recall_at_least", "specificity_at_least", "precision_at_least", "alarms_at_most",
)  # fmt: skip
CRITERIA = (*_BOUNDS, "least_cost", "f_beta")  # those that take a value
_GUARANTEED = {  # criterion -> (whose order statistics, the rate that is guaranteed)
    "fpr_at_most": ("nontargets", "FPR"),
    "specificity_at_least": ("nontargets", "specificity"),
    "fnr_at_most": ("targets", "FNR"),
    "recall_at_least": ("targets", "recall"),
}
_NO_GUARANTEE = {
    "precision_at_least": "precision does not rise with the threshold, so no order statistic bounds it",
    "alarms_at_most": "alarms depend on both classes and on the share of targets",
    "least_cost": "a cost depends on both classes",
    "f_beta": "an F score depends on both classes",
    "youden": "it bounds no rate",
    "corner": "it bounds no rate",
    "eer": "it bounds no rate",
}


class Reached(NamedTuple):
    """A rate with its interval; None where it does not exist, such as the precision where nothing was accepted.

    Attributes
    ----------
    value : float or None
        The rate.
    interval : Interval or None
        Its interval.

    Examples
    --------
    >>> import tercet as tc
    >>> rule = tc.Rule.fit(tc.Trials.of_scores([3.0, 2.0, 1.0, 0.0], [1, 0, 1, 0]), best="youden")
    >>> rule.rates()["fpr"].value
    0.5
    """

    value: float | None
    interval: Interval | None


class Judgement(NamedTuple):
    """A rule on held-out trials, beside the best that the same criterion finds there in hindsight.

    Attributes
    ----------
    confusion : Confusion
        Decisions of the rule on the held-out trials.
    rates : mapping
        Each rate reached there, with its interval.
    kept : bool or None
        Whether the rule's bound holds on these trials as measured; None where the criterion has no bound.
    quantity : str
        What the criterion optimises.
    value, in_hindsight : float
        That quantity for the rule, and for the best threshold chosen on the held-out trials themselves.
    regret : float
        How much worse the rule is than the choice in hindsight. Negative only where the rule breaks its bound.
    hindsight : Rule
        The rule that the same criterion, without its guarantee, finds on the held-out trials.

    Examples
    --------
    >>> import tercet as tc
    >>> rule = tc.Rule.fit(tc.Trials.of_scores([4.0, 3.0, 2.0, 1.0], [1, 1, 0, 0]), least_cost=(0.5, 1, 1))
    >>> found = rule.judge(tc.Trials.of_scores([4.0, 3.0, 2.5, 1.0], [1, 1, 0, 0]))
    >>> found.value, found.in_hindsight, found.regret
    (0.25, 0.0, 0.25)
    """

    confusion: Confusion
    rates: Mapping[str, Reached]
    kept: bool | None
    quantity: str
    value: float
    in_hindsight: float
    regret: float
    hindsight: Rule


@dataclass(frozen=True, slots=True)
class Rule(Model):
    """A threshold chosen by a named criterion: accept exactly the scores above it.

    Make one with `Rule.fit`, save it with `to_json`, load it with `Rule.from_json`, apply it by calling it, and
    evaluate it with `judge`.

    Attributes
    ----------
    threshold : float
        On the scale of the scores that the rule was fitted on; -inf with `accept_all` accepts everything.
    accept_all : bool
        Whether everything is accepted, scores of -inf too.
    training : mapping
        The criterion, its value and confidence, the class sizes and the errors reached on the trials it was fitted on.

    Examples
    --------
    >>> trials = Trials.of_scores([0.9, 0.7, 0.4, 0.8, 0.3, 0.2, 0.1], [1, 1, 1, 0, 0, 0, 0])
    >>> rule = Rule.fit(trials, fpr_at_most=0.25)
    >>> rule.threshold, rule.rates()["tpr"].value
    (0.3, 1.0)
    >>> rule([0.3, 0.5]).tolist()
    [0, 1]
    """

    method = "rule"
    _parameters: ClassVar = {"threshold": real, "accept_all": flag}
    _facts = (
        "trials", "targets", "nontargets", "meaning", "trained_prior", "criterion", "value", "confidence",
        "cases_per_day", "prevalence", "misses", "false_alarms",
    )  # fmt: skip

    threshold: float
    accept_all: bool
    training: Facts = field(repr=False, hash=False)

    @classmethod
    def fit(
        cls,
        trials: Trials,
        *,
        fpr_at_most: float | None = None,
        fnr_at_most: float | None = None,
        recall_at_least: float | None = None,
        specificity_at_least: float | None = None,
        precision_at_least: float | None = None,
        alarms_at_most: float | None = None,
        least_cost: object = None,
        f_beta: float | None = None,
        best: Best | None = None,
        confidence: float | None = None,
        by: str | None = None,
        cases_per_day: float | None = None,
        prevalence: float | None = None,
    ) -> Rule:
        """Chooses the threshold on labelled trials by exactly one criterion.

        Parameters
        ----------
        trials : Trials
            Labelled two-class trials; scores of any meaning, raw ones too.
        fpr_at_most : float, optional
            Bound on the false-alarm rate: the lowest threshold that keeps it, which finds most targets.
        fnr_at_most : float, optional
            Bound on the miss rate: the highest threshold that keeps it, which raises fewest false alarms.
        recall_at_least : float, optional
            The same as fnr_at_most = 1 - this.
        specificity_at_least : float, optional
            The same as fpr_at_most = 1 - this.
        precision_at_least : float, optional
            The lowest threshold whose precision on these trials is at least this.
        alarms_at_most : float, optional
            The lowest threshold with at most this many alarms per day, out of `cases_per_day`.
        least_cost : Application, triple or name, optional
            The lowest threshold of least DCF.
        f_beta : float, optional
            The lowest threshold of the largest F score with this beta; 1 for F1.
        best : {"youden", "corner", "eer"}, optional
            Largest TPR - FPR; nearest to (FPR, FNR) = (0, 0); FPR and FNR as equal as possible.
        confidence : float, optional
            Makes a bound on false alarms or misses a guarantee: with this confidence (0.95) the bound holds for new,
            independent trials of the class, by the exact binomial bound at an order statistic of its scores.
        by : str, optional
            A column of groups whose trials depend on each other; asking for a guarantee is then an error.
        cases_per_day : float, optional
            How many cases come in per day, for `alarms_at_most`.
        prevalence : float, optional
            Share of targets among these cases; that of the trials unless given.

        Returns
        -------
        Rule
            The threshold, and the rates that it reaches on these trials (apparent: the same trials chose it).

        Raises
        ------
        InputError
            If no criterion or more than one is given, a guarantee cannot be made, or no threshold gives it.
        UndefinedError
            If a class is missing, or no threshold reaches the requested precision.

        References
        ----------
        Wilks (1941), Determination of sample sizes for setting tolerance limits, doi:10.1214/aoms/1177731788.

        Examples
        --------
        "FPR at most 5 % with 95 % confidence" lets no false alarm happen on 59 non-targets, 0.95^59 = 0.0485:

        >>> trials = Trials.of_scores(range(118), [0, 1] * 59)
        >>> rule = Rule.fit(trials, fpr_at_most=0.05, confidence=0.95)
        >>> rule.threshold, rule.training["false_alarms"]
        (116.0, 0)
        """
        asked = Criterion.of(
            {"fpr_at_most": fpr_at_most, "fnr_at_most": fnr_at_most, "recall_at_least": recall_at_least,
             "specificity_at_least": specificity_at_least, "precision_at_least": precision_at_least,
             "alarms_at_most": alarms_at_most, "least_cost": least_cost, "f_beta": f_beta, "best": best},
            confidence, by, cases_per_day, prevalence,
        )  # fmt: skip
        own = two_class(trials)
        if by is not None:
            group_name(by, own.groups, "by")
        return _fitted(Curve.of(own), own, asked)

    @property
    def criterion(self) -> str:
        """What the threshold was chosen by, in words: "FPR at most 0.01"."""
        name, value = self.training["criterion"], self.training["value"]
        words = str(name).replace("fpr", "FPR").replace("fnr", "FNR").replace("_", " ")
        return words if value is None else f"{words} {_told(value)}"

    @property
    def guarantee(self) -> str | None:
        """What is guaranteed for new trials, and how; None without `confidence`."""
        confidence, name = self.training["confidence"], self.training["criterion"]
        if confidence is None:
            return None
        side = _GUARANTEED[name][0]
        return (
            f"{self.criterion} with {100.0 * confidence:g} % confidence, for new trials drawn independently and like "
            f"these {self.training[side]} {side.replace('nontargets', 'non-targets')} (exact binomial bound at an "
            f"order statistic)"
        )

    @property
    def confusion(self) -> Confusion:
        """Decisions on the trials that the rule was fitted on."""
        return _table(*(self.training[key] for key in ("targets", "nontargets", "misses", "false_alarms")))

    def rates(self, ci: float = 0.95) -> Mapping[str, Reached]:
        """The rates reached on the trials that the rule was fitted on, with their intervals.

        They are apparent: the same trials chose the threshold.

        Parameters
        ----------
        ci : float, default 0.95
            Level of the intervals.

        Returns
        -------
        mapping
            "fpr", "fnr", "tpr", "specificity" and "precision", each a `Reached`.

        Examples
        --------
        >>> rule = Rule.fit(Trials.of_scores([3.0, 2.0, 1.0, 0.0], [1, 0, 1, 0]), best="youden")
        >>> rule.threshold, rule.rates()["fpr"].value
        (0.0, 0.5)
        """
        return _rates(self.confusion, ci)

    def __call__(self, scores: object) -> NDArray[np.int8]:
        """1 where the score is above the threshold, else 0.

        Parameters
        ----------
        scores : Trials or array_like
            Scores of the kind that the rule was fitted on; Trials of another meaning are refused.

        Returns
        -------
        ndarray of int8
            One decision per score.
        """
        if isinstance(scores, Trials):
            own = two_class(scores)
            check_meaning(own, self.training)
            scores = own.scores
        return ((numbers(scores, "scores") > self.threshold) | self.accept_all).astype(np.int8)

    def judge(self, trials: Trials, *, ci: float = 0.95) -> Judgement:
        """Evaluate the rule on held-out trials, and compare it with the best choice in hindsight.

        Parameters
        ----------
        trials : Trials
            Labelled two-class trials that had no part in choosing the threshold.
        ci : float, default 0.95
            Level of the intervals.

        Returns
        -------
        Judgement
            Rates with intervals, whether the bound held, and the regret.

        Examples
        --------
        A threshold learnt on one set costs 0.25 on another where 0 could be had:

        >>> rule = Rule.fit(Trials.of_scores([4.0, 3.0, 2.0, 1.0], [1, 1, 0, 0]), least_cost=(0.5, 1, 1))
        >>> rule.judge(Trials.of_scores([4.0, 3.0, 2.5, 1.0], [1, 1, 0, 0])).regret
        0.25
        """
        own = two_class(trials)
        check_meaning(own, self.training)
        curve = Curve.of(own)
        asked = Criterion.saved(self.training)
        hindsight = _fitted(curve, own, asked._replace(confidence=None))
        table = _decided(curve, self)
        quantity, value, sign = asked.objective(table)
        best = asked.objective(_decided(curve, hindsight))[1]
        return Judgement(
            table, _rates(table, ci), asked.kept(table), quantity, value, best, sign * (value - best), hindsight
        )

    def out_of_fold(
        self, trials: Trials, *, folds: int = 5, by: str | None = None, seed: int = 0, ci: float = 0.95
    ) -> Mapping[str, Reached]:
        """The rates of choosing a threshold in this way: each fold is decided by a rule fitted on the others.

        A guarantee is part of the way: where the other folds are too few trials to give it, there are no such rates.

        Parameters
        ----------
        trials : Trials
            The labelled trials that the rule was fitted on.
        folds : int, default 5
            Number of folds, assigned evenly within each class.
        by : str, optional
            A group that is never on both sides.
        seed : int, default 0
            Seed of the shuffle.
        ci : float, default 0.95
            Level of the intervals.

        Returns
        -------
        mapping
            As in `rates`, but without the optimism of choosing the threshold on the same trials.

        Examples
        --------
        >>> trials = Trials.of_scores([4.0, 3.0, 2.0, 1.0], [1, 1, 0, 0])
        >>> rule = Rule.fit(trials, best="youden")
        >>> rule.rates()["fpr"].value, rule.out_of_fold(trials, folds=2)["fpr"].value
        (0.0, 0.5)
        """
        own = two_class(trials)
        check_meaning(own, self.training)
        asked, decided = Criterion.saved(self.training), np.zeros(len(own), np.int8)
        numbers = fold_numbers(own, folds, by=by, seed=seed)
        for fold in range(int(numbers.max()) + 1):
            rest, held = own.select(numbers != fold), own.select(numbers == fold)
            decided[numbers == fold] = _fitted(Curve.of(rest), rest, asked)(held)
        table = Confusion._counted(decided, own.known_labels(), own.classes, own.classes, own.classes[1], own.weights)
        return _rates(table, ci)

    def regret(self, trials: Trials) -> float:
        """How much worse the rule is on held-out trials than the same criterion in hindsight; see `judge`.

        Parameters
        ----------
        trials : Trials
            Labelled two-class trials that had no part in choosing the threshold.

        Returns
        -------
        float
            In the quantity that the criterion optimises: DCF_u for `least_cost`, TPR for a bound on false alarms.
        """
        return self.judge(trials).regret

    def to_dict(self) -> dict[str, object]:
        """The rule and what it reached as plain values for JSON.

        Returns
        -------
        dict
            Plain values.
        """
        rates = {name: _plain(one) for name, one in self.rates().items()}
        return {
            "criterion": self.criterion, "guarantee": self.guarantee, "threshold": plain(self.threshold),
            "accept_all": self.accept_all, "meaning": self.training["meaning"], "rates": rates,
        }  # fmt: skip


rule = Rule.fit  # `tercet rule fit` as a function


class Criterion(NamedTuple):
    """What a threshold is chosen by."""

    name: str
    value: Any
    confidence: float | None = None
    cases_per_day: float | None = None
    prevalence: float | None = None

    @classmethod
    def of(
        cls,
        given: Mapping[str, object],
        confidence: float | None,
        by: str | None,
        cases_per_day: float | None,
        prevalence: float | None,
    ) -> Criterion:
        """The one criterion that was given, its value checked."""
        asked = {name: value for name, value in given.items() if value is not None}
        if len(asked) != 1:
            found = ", ".join(asked) or "none"
            raise InputError(f"A rule has exactly one criterion, not {found}. There are: {', '.join(given)}.")
        name, value = next(iter(asked.items()))
        if name == "best":
            name, value = chosen(value, "best", get_args(Best)), None
        elif name == "least_cost":
            app = Application.of(value)
            value = [app.prior, app.cost_fn, app.cost_fp]
        else:
            value = {"f_beta": positive, "alarms_at_most": not_negative}.get(name, rate)(value, name)
        daily = _cases(name, cases_per_day)
        share = None if prevalence is None else probability(prevalence, "prevalence")
        return cls(name, value, _confidence(name, value, confidence, by), daily, share)

    @classmethod
    def saved(cls, training: Facts) -> Criterion:
        """The criterion of a saved rule."""
        keys = ("value", "confidence", "cases_per_day", "prevalence")
        return cls(training["criterion"], *(training[key] for key in keys))

    def objective(self, table: Confusion) -> tuple[str, float, float]:
        """What the criterion optimises: its name, its value, and 1 where less is better, -1 where more is."""
        if self.name == "least_cost":
            return "dcf_u", Application(*self.value).dcf_u(fnr=table.fnr, fpr=table.fpr), 1.0
        if self.name in ("fnr_at_most", "recall_at_least"):
            return "fpr", table.fpr, 1.0
        if self.name == "f_beta":
            return f"f_beta({self.value:g})", table.f_beta(self.value), -1.0
        if self.name == "youden":
            return "tpr - fpr", table.tpr - table.fpr, -1.0
        if self.name == "corner":
            return "distance to the corner", math.hypot(table.fnr, table.fpr), 1.0
        if self.name == "eer":
            return "mean of fnr and fpr", (table.fnr + table.fpr) / 2.0, 1.0
        return "tpr", table.tpr, -1.0

    def kept(self, table: Confusion) -> bool | None:
        """Whether a bound holds in a table, compared with the rounded quotient that is shown."""
        if self.name not in _BOUNDS:
            return None
        if self.name == "alarms_at_most":
            tp, fn, fp, tn = (table.cells[cell] for cell in CELLS)
            return bool(self.alarms(tp, tp + fn, fp, fp + tn) <= self.value)
        if self.name == "precision_at_least" and table.tp + table.fp == 0:
            return None
        found = getattr(table, self.name.removesuffix("_at_most").removesuffix("_at_least"))
        return bool(found <= self.value if self.name.endswith("_at_most") else found >= self.value)

    def alarms(self, hits: int, targets: int, false: int, nontargets: int) -> float:
        """Expected alarms per day, rounded once; without a prevalence, at the trials' own share of targets."""
        assert self.cases_per_day is not None
        whole = targets + nontargets
        share = Fraction(targets, whole) if self.prevalence is None else Fraction(self.prevalence)
        rate = share * Fraction(hits, targets) + (1 - share) * Fraction(false, nontargets)
        return float(Fraction(self.cases_per_day) * rate)

    def place(self, curve: Curve) -> int:
        """The curve's point that the criterion chooses."""
        if self.confidence is not None:
            return _guaranteed_place(curve, self)
        if self.name in _BOUNDS:
            return self._bounded_place(curve)
        if self.name == "f_beta":
            return int(_f_scores(curve, self.value).argmax())
        if self.name in ("corner", "eer"):  # on whole numbers, so that equal points tie
            fnr, fpr = curve.misses.astype(object) * curve.nontargets, curve.false_alarms.astype(object) * curve.targets
            return int((fnr**2 + fpr**2 if self.name == "corner" else np.abs(fnr - fpr)).argmin())
        return _cheapest_place(curve, Application(*self.value) if self.name == "least_cost" else Application(0.5))

    def _few_alarms(self, curve: Curve) -> int:
        """The first point with few enough alarms; they become fewer from point to point."""
        misses, false = curve.misses, curve.false_alarms

        def is_within(place: int) -> bool:
            hits = curve.targets - int(misses[place])
            return bool(self.alarms(hits, curve.targets, int(false[place]), curve.nontargets) <= self.value)

        return bisect_left(range(len(misses)), True, key=is_within)

    def _bounded_place(self, curve: Curve) -> int:
        """The threshold within a bound that sacrifices least: the lowest for false alarms, the highest for misses."""
        if self.name == "precision_at_least":
            return _precise_place(curve, self.value)
        if self.name == "alarms_at_most":
            return self._few_alarms(curve)
        if self.name in ("fpr_at_most", "specificity_at_least"):
            within = curve.fpr <= self.value if self.name == "fpr_at_most" else curve.tnr >= self.value
            return int(within.argmax())
        within = curve.fnr <= self.value if self.name == "fnr_at_most" else curve.tpr >= self.value
        return int(np.flatnonzero(within)[-1])


def allowed_errors(size: int, rate: float, confidence: float) -> int:
    """The most errors on `size` independent trials that still guarantee a true rate of at most `rate`.

    The largest k with P(Binomial(size, rate) <= k) <= 1 - confidence, or -1: then not even zero errors guarantee it.

    Examples
    --------
    >>> allowed_errors(59, 0.05, 0.95), allowed_errors(58, 0.05, 0.95)
    (0, -1)
    """
    from scipy.special import bdtr

    low, high = -1, size  # the probability rises with k and is 1 at k = size
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if float(bdtr(middle, size, rate)) <= 1.0 - confidence else (low, middle)
    return low


def _fitted(curve: Curve, trials: Trials, asked: Criterion) -> Rule:
    place, weight = asked.place(curve), curve.tally.weight
    facts = {
        "trials": len(trials), "targets": weight(curve.targets), "nontargets": weight(curve.nontargets),
        "meaning": trials.meaning, "trained_prior": trials.trained_prior, "criterion": asked.name,
        "value": asked.value, "confidence": asked.confidence, "cases_per_day": asked.cases_per_day,
        "prevalence": asked.prevalence, "misses": weight(int(curve.misses[place])),
        "false_alarms": weight(int(curve.false_alarms[place])),
    }  # fmt: skip
    return Rule(float(curve.thresholds[place]), place == 0, facts)


def _guaranteed_place(curve: Curve, asked: Criterion) -> int:
    """The point at the order statistic of one class's scores that gives the guarantee."""
    if curve.tally.unit < 0:
        raise InputError("A guarantee needs integer counts: fractional weights are not binomial.")
    side, called = _GUARANTEED[asked.name]
    size = int(curve.tally.weight(curve.targets if side == "targets" else curve.nontargets))
    assert asked.confidence is not None
    allowed = allowed_errors(size, _rate_of(asked), asked.confidence)
    if allowed < 0:
        raise InputError(_too_few(size, side, called, asked))
    allowed >>= curve.tally.unit
    if side == "nontargets":
        return int((curve.false_alarms <= allowed).argmax())
    return int(np.flatnonzero(curve.misses <= allowed)[-1])


def _too_few(size: int, side: str, called: str, asked: Criterion) -> str:
    """What can be guaranteed at best: a rate of 1 - (1 - confidence)^(1/n), with no error among n."""
    assert asked.confidence is not None
    least = -math.expm1(math.log1p(-asked.confidence) / size)
    at_best = least if called in ("FPR", "FNR") else 1.0 - least
    needed = math.ceil(math.log1p(-asked.confidence) / math.log1p(-_rate_of(asked)))
    words = side.replace("nontargets", "non-targets")
    return (
        f"No threshold gives this guarantee: {size} {words} can guarantee at best {called} {100.0 * at_best:.3g} % "
        f"with {100.0 * asked.confidence:g} % confidence. {100.0 * asked.value:.3g} % needs at least {needed} {words}."
    )


def _rate_of(asked: Criterion) -> float:
    return float(asked.value if asked.name.endswith("_at_most") else 1.0 - asked.value)


def _cheapest_place(curve: Curve, app: Application) -> int:
    """The lowest threshold of least cost, as a point of the curve."""
    found = curve.hull.minimum(np.array([app.log_odds]), np.array([app.factor]))
    if int(found[2][0]) == 0 and int(found[3][0]) == curve.nontargets:
        return 0
    return 1 + int(np.searchsorted(curve.thresholds[1:], found[1][0]))


def _precise_place(curve: Curve, least: float) -> int:
    precision, _ = curve.precision_recall()
    within = precision >= least
    if not within.any():
        raise UndefinedError(
            f"No threshold reaches a precision of {least:g} on these trials: the highest is {precision.max():.4g}."
        )
    return int(within.argmax())


def _f_scores(curve: Curve, beta: float) -> Floats:
    """(1 + b^2) TP / ((1 + b^2) TP + b^2 FN + FP) at each point; there are targets, so it exists everywhere."""
    hits = 1.0 + beta * beta
    found = quotients(curve.targets - curve.misses, 1) * hits
    return np.asarray(found / (found + beta * beta * curve.misses + curve.false_alarms), np.float64)


def _table(targets: float, nontargets: float, misses: float, alarms: float) -> Confusion:
    cells = [[nontargets - alarms, misses], [alarms, targets - misses]]
    return Confusion(cells, classes=["nontarget", "target"], target="target")


def _decided(curve: Curve, rule: Rule) -> Confusion:
    """The rule's decisions on the trials of a curve, in its unit: fractional weights are not rounded."""
    misses, alarms = map(int, (0, curve.nontargets) if rule.accept_all else curve.tally.at(rule.threshold))
    cells = np.array([curve.nontargets - alarms, misses, alarms, curve.targets - misses], np.object_)
    names = ("nontarget", "target")
    return Confusion._made(shifted(cells, 0).reshape(2, 2), names, names, "target", curve.tally.unit)


def _rates(table: Confusion, ci: float) -> dict[str, Reached]:
    level = probability(ci, "ci")
    found = {name: proportion_rate(table, name, level) for name in RATES}
    return {name: Reached(one.value, one.interval) for name, one in found.items()}


def _plain(one: Reached) -> object:
    return {"value": one.value} | ({} if one.interval is None else {"ci": [one.interval.low, one.interval.high]})


def _told(value: object) -> str:
    return f"at ({', '.join(f'{one:g}' for one in value)})" if isinstance(value, list) else f"{value:g}"


def _cases(name: str, cases_per_day: object) -> float | None:
    if name != "alarms_at_most":
        if cases_per_day is not None:
            raise InputError("cases_per_day belongs to alarms_at_most.")
        return None
    if cases_per_day is None:
        raise InputError("alarms_at_most counts alarms per day: say how many cases come in (cases_per_day=...).")
    return positive(cases_per_day, "cases_per_day")


def _confidence(name: str, value: object, confidence: object, by: str | None) -> float | None:
    if by is not None:
        text(by, "by")
    if confidence is None:
        return None
    if name in _NO_GUARANTEE:
        raise InputError(
            f"{name} cannot be guaranteed: {_NO_GUARANTEE[name]}. Guarantee fpr_at_most, specificity_at_least, "
            f"fnr_at_most or recall_at_least, or leave confidence out and read the interval of the rate."
        )
    if by is not None:
        raise InputError(
            f"A guarantee by the exact binomial bound needs independent trials, and those of one group of {shown(by)} "
            f"are not: leave confidence out and take an interval that resamples whole groups."
        )
    if not 0.0 < _rate_of(Criterion(name, value)) < 1.0:
        raise InputError(f"{name}={value:g} cannot be guaranteed: the rate must lie strictly between 0 and 1.")
    return probability(confidence, "confidence")
