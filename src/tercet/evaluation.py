"""Evaluation: the usual quantities of a system, as plain facts under the names of the JSON."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal, NamedTuple, TypedDict, Unpack, overload

import numpy as np

from tercet._numeric.exact import quotients
from tercet._numeric.plain import plain
from tercet._numeric.records import Record, computed, derived
from tercet._numeric.validation import chosen, flag, frozen, numbers, probability, shown, text
from tercet._numeric.validation import listed as entries
from tercet._typing import JSON, Counts, EerDefinition, Floats
from tercet._views import EvaluationViews, Shown
from tercet.application import (
    NO_NORMALISER,
    Application,
    MulticlassApplication,
    TwoClass,
    listed,
    normalised_dcf,
)
from tercet.decision import ClassRows, class_summary, confusion_of
from tercet.errors import InputError, UndefinedError
from tercet.metrics.binomial import ENOUGH, enough_errors
from tercet.metrics.confusion import Confusion, as_matrix
from tercet.metrics.costs import (
    BayesPlot,
    MeanCost,
    class_prior,
    log_odds_grid,
    mean_cost,
    min_cllr,
    over_entropy,
    without_means,
)
from tercet.metrics.curve_summary import histogram, thinned
from tercet.metrics.curves import EER_DEFINITIONS, Curve, Eer, Minimum
from tercet.metrics.summary import ClassSummary, HasSummary, Summary
from tercet.metrics.tally import Tally, as_llr, on_score_scale
from tercet.trials import MATRIX_MEANINGS, NO_LLR, Trials, as_trials
from tercet.uncertainty._clusters import grouping, needs_level
from tercet.uncertainty._limits import Estimate
from tercet.uncertainty._two_class import NotEstimable
from tercet.uncertainty.intervals import (
    AskedIntervals,
    CalibrationLosses,
    Intervals,
    Sampling,
    beside,
    counted_intervals,
)

_NEED_LLR = ("confusion", "fnr", "fpr", "dcf_u")
_NEED_NORMALISER = ("dcf", "min_dcf", "calibration_loss", "actual_minus_min")
NO_ROWS = "calibration out of fold needs the trials in memory"
NOT_ASKED = "computed when it is asked for: `calibration_loss` of the result, or evaluate(..., ci=0.95)"


@dataclass(frozen=True, slots=True)
class Result(Shown):
    """A two-class system at one operating point; a number that does not exist is None, with its reason."""

    prior: float
    cost_fn: float
    cost_fp: float
    name: str | None
    effective_prior: float
    threshold: float
    confusion: list[list[int | float]] | None
    fnr: float | None
    fpr: float | None
    dcf_u: float | None
    dcf: float | None
    min_dcf: float | None
    min_dcf_u: float
    min_threshold: float
    actual_minus_min: float | None  # apparent: a minimum on the same trials is optimistic
    threshold_score: float | None = None  # `threshold` is an llr; this is the same on the scores' own scale
    min_threshold_llr: float | None = None  # `min_threshold` is on the scores' own scale; this is the same as an llr
    reasons: dict[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()  # what rests on too few errors
    _losses: CalibrationLosses | None = field(default=None, repr=False, compare=False)

    @property
    def calibration_loss(self) -> float | None:
        """Actual DCF minus the DCF after logistic calibration out of fold (5 folds); computed when first asked for."""
        loss = self._loss
        return None if loss is None or isinstance(loss, NotEstimable) else float(loss.value)

    @property
    def _loss(self) -> Estimate | NotEstimable | None:
        if self._losses is None or self.dcf is None:
            return None
        return self._losses.at(Application(self.prior, self.cost_fn, self.cost_fp))

    @property
    def table(self) -> Confusion:
        """The confusion matrix with all its rates."""
        if self.confusion is None:
            raise UndefinedError(self.reasons["confusion"])
        return Confusion(self.confusion, classes=["nontarget", "target"], target="target")

    def to_dict(self) -> JSON:
        """The entry under "applications" in the JSON."""
        found = dict(plain(self))
        losses, point = self._losses, (self.prior, self.cost_fn, self.cost_fp)
        if losses is not None and self.dcf is not None and point not in losses.known:
            why = NOT_ASKED  # five fits per operating point are not part of every evaluation
        else:
            found["calibration_loss"] = plain(self.calibration_loss)
            why = self._loss.reason if isinstance(self._loss, NotEstimable) else NO_ROWS
        if found.setdefault("calibration_loss", None) is None and "calibration_loss" not in self.reasons:
            found["reasons"] = {**self.reasons, "calibration_loss": why}
        return found


USUAL_NAMES = ("nontarget", "target")  # of two classes whose labels are 0/1 or False/True


@dataclass(frozen=True, eq=False, repr=False)
class Evaluation(EvaluationViews, Record):
    """Results of a two-class system; the attributes are the keys of the JSON.

    A number that does not exist is None, and `reasons` says why.

    Attributes
    ----------
    name : str or None
        The system's name.
    meaning : str
        What the scores mean.
    input : dict
        Numbers of trials, targets and non-targets, and what was read.
    eer : Eer
        Equal error rate, with its threshold and definition.
    auc : float
        Area under the ROC: the Mann-Whitney statistic, ties count one half.
    cllr : float or None
        Cllr in bits.
    min_cllr : float
        Cllr after isotonic recalibration on the same trials.
    applications : tuple of Result
        Errors and costs at each operating point.
    bayes_plot : BayesPlot
        Actual and minimum DCF over a range of log-odds.
    curve : Curve
        The ROC, for every further question about errors.
    reasons : dict of str to str
        Why a number is None.
    brackets : dict of str to tuple
        Lower and upper bound of a number that a scan in bounded memory cannot determine exactly; the number itself is
        then their mean.
    intervals : Intervals or None
        Confidence intervals, if `ci` was given.
    means : tuple of MeanCost
        The mean of the costs over the points of each `Application.mean` that was asked for.
    class_names : tuple of str
        What the labels call non-target and target; in the JSON where they are called otherwise.

    Examples
    --------
    >>> found = evaluate(Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0], [1, 1, 1, 0, 0]), [0.5])
    >>> found.applications[0].fpr, round(found.auc, 4)
    (0.5, 0.8333)
    """

    name: str | None
    meaning: str
    input: JSON
    eer: Eer
    auc: float
    cllr: float | None
    min_cllr: float
    applications: tuple[Result, ...]
    bayes_plot: BayesPlot
    curve: Curve
    reasons: dict[str, str] = field(default_factory=dict)
    brackets: dict[str, tuple[float, float]] = field(default_factory=dict)
    intervals: Intervals | None = None
    means: tuple[MeanCost, ...] = ()
    class_names: tuple[str, ...] = USUAL_NAMES

    @cached_property
    def histogram(self) -> JSON:
        """Scores by class in 200 bins over their middle 99.9 %, the rest counted beside."""
        return histogram(self.curve.tally)

    def to_dict(self, *, curves: bool = True) -> JSON:
        """One entry of "systems" in the JSON: plain lists, numbers and strings; infinities as text.

        Parameters
        ----------
        curves : bool, default True
            Whether the points of the curve and the histogram are included. Without them nothing of the two is
            computed, which is quicker where only the numbers are wanted.

        Returns
        -------
        dict
            What `json.dumps` takes as it is.

        Examples
        --------
        >>> trials = Trials.of_llr([2.0, 1.0, -0.5, 0.3], [1, 1, 0, 0])
        >>> facts = evaluate(trials).to_dict(curves=False)
        >>> facts["auc"], "curve" in facts
        (1.0, False)
        """
        result = dict(plain(self, leave_out=("curve", "applications", "intervals", "means", "class_names")))
        result["applications"] = [row.to_dict() for row in self.applications]
        if self.class_names != USUAL_NAMES:
            result["class_names"] = list(self.class_names)
        if self.means:
            result["means"] = [plain(one) for one in self.means]
        if flag(curves, "curves"):
            result["curve"] = thinned(self.curve)
            result["histogram"] = self.histogram
        return result if self.intervals is None else beside(result, self.intervals)

    def _headline(self) -> str:
        targets, others = (_size(self.input[side]) for side in ("targets", "nontargets"))
        return (
            f"{_title(self.name)}: {targets} targets, {others} non-targets, "
            f"EER {self.eer.value:.4f} ({self.eer.definition}), AUC {self._auc()}, "
            f"Cllr {_short(self.cllr)}, min Cllr {self.min_cllr:.4f}"
        )

    def _auc(self) -> str:
        low, high = self.brackets.get("auc", (self.auc, self.auc))
        return f"{low:.4f}" if low == high else f"between {low!r} and {high!r}"

    def __repr__(self) -> str:
        rows = (
            f"  ({row.prior:g}, {row.cost_fn:g}, {row.cost_fp:g}): DCF {_short(row.dcf)}, "
            f"min {_short(row.min_dcf)}, {_threshold(row, self.meaning)}"
            for row in self.applications
        )
        means = (
            f"  mean of {len(one.places)} operating points{f' ({one.name})' if one.name else ''}: "
            f"DCF {_short(one.dcf)}, min {_short(one.min_dcf)}"
            for one in self.means
        )
        return "\n".join([self._headline(), *rows, *means])


class MulticlassResult(NamedTuple):
    """A K-class system at one application: rows of `confusion` and `costs` are decisions, columns classes."""

    priors: list[float]
    costs: list[list[float]]
    actions: list[str]
    confusion: list[list[int | float]]
    risk: float | None
    dcf: float | None
    dummy_cost: float
    dummy_action: str
    contributions: list[float] | None
    reasons: dict[str, str]
    warnings: tuple[str, ...] = ()

    def _repr_html_(self) -> str:
        from tercet.report.cards import card

        return card(self)


@dataclass(frozen=True, eq=False, repr=False)
class MulticlassEvaluation(EvaluationViews, Record):
    """Results of a K-class system.

    Log-loss, Brier score and accuracy are at the data's own class frequencies.

    Attributes
    ----------
    name : str or None
        The system's name.
    meaning : str
        What the scores mean.
    input : dict
        Numbers of trials, in all and per class, and what was read.
    classes : tuple of str
        Class names.
    accuracy : float or None
        Share of trials whose largest posterior is that of the true class.
    log_loss : float or None
        Mean of -log2 of the true class's posterior.
    normalised_cross_entropy : float or None
        The log-loss divided by the entropy of the class frequencies.
    brier : float or None
        Sum over classes of the squared error of the posterior, 0 to 2.
    applications : tuple of MulticlassResult
        Decisions and risk at each operating point.
    versus : tuple of Evaluation
        Each class against the rest, if `one_vs_rest` was given.
    reasons : dict of str to str
        Why a number is None.
    intervals : Intervals or None
        Confidence intervals, if `ci` was given.
    trials : Trials or None
        The evaluated trials, for every further question; None after a scan.

    Examples
    --------
    >>> rows = [[0.0, 1.0, 2.0], [1.0, 0.0, 0.5], [0.0, 0.0, 3.0], [2.0, 1.0, 0.0]]
    >>> evaluate(Trials.of_log_likelihoods(rows, [0, 1, 2, 0])).accuracy
    0.5
    """

    name: str | None
    meaning: str
    input: JSON
    classes: tuple[str, ...]
    accuracy: float | None
    log_loss: float | None
    normalised_cross_entropy: float | None
    brier: float | None
    applications: tuple[MulticlassResult, ...]
    versus: tuple[Evaluation, ...] = ()
    reasons: dict[str, str] = field(default_factory=dict)
    intervals: Intervals | None = None
    trials: Trials | None = None

    def to_dict(self, *, curves: bool = True) -> JSON:
        """One entry of "systems" in the JSON.

        Parameters
        ----------
        curves : bool, default True
            Whether the evaluations of one class against the rest include their curves and histograms.

        Returns
        -------
        dict
            What `json.dumps` takes as it is.
        """
        result, curves = dict(plain(self, leave_out=("versus", "intervals", "trials"))), flag(curves, "curves")
        if self.intervals is not None:
            result = beside(result, self.intervals)
        return result | ({"versus": [one.to_dict(curves=curves) for one in self.versus]} if self.versus else {})

    def _headline(self) -> str:
        return (
            f"{_title(self.name)}: {_size(self.input['trials'])} trials of {len(self.classes)} classes, accuracy "
            f"{_short(self.accuracy)}, log-loss {_short(self.log_loss)} bits"
        )

    def __repr__(self) -> str:
        rows = (f"  risk {_short(row.risk)}, DCF {_short(row.dcf)}" for row in self.applications)
        return "\n".join([self._headline(), *rows])


class EvaluateOptions(TypedDict, total=False):
    """The keywords of `evaluate`, for functions that hand them on."""

    bayes_plot: tuple[float, float, int]
    eer: EerDefinition
    name: str | None
    one_vs_rest: bool
    ci: float | None
    by: str | tuple[str, str] | None
    method: Literal["percentile", "bca", "jeffreys", "uniform"] | None
    resamples: int | None
    seed: int
    sampling: Sampling | None


@overload
def evaluate(
    trials: Tally, applications: Iterable[TwoClass] = (), **options: Unpack[EvaluateOptions]
) -> Evaluation: ...
@overload
def evaluate(
    trials: Trials | HasSummary, applications: Iterable[TwoClass], **options: Unpack[EvaluateOptions]
) -> Evaluation: ...
@overload
def evaluate(
    trials: Trials | HasSummary, applications: Iterable[MulticlassApplication], **options: Unpack[EvaluateOptions]
) -> MulticlassEvaluation: ...
@overload
def evaluate(
    trials: Trials | HasSummary | Tally, applications: Iterable[object] = (), **options: Unpack[EvaluateOptions]
) -> Evaluation | MulticlassEvaluation: ...
def evaluate(
    trials: Trials | Tally | HasSummary,
    applications: Iterable[object] = (),
    *,
    bayes_plot: tuple[float, float, int] = (-3.0, 3.0, 21),
    eer: EerDefinition = "rocch",
    name: str | None = None,
    one_vs_rest: bool = False,
    ci: float | None = None,
    by: str | tuple[str, str] | None = None,
    method: Literal["percentile", "bca", "jeffreys", "uniform"] | None = None,
    resamples: int | None = None,
    seed: int = 0,
    sampling: Sampling | None = None,
) -> Evaluation | MulticlassEvaluation:
    """Evaluate labelled trials for any number of applications.

    Parameters
    ----------
    trials : Trials, Scan or Tally
        Labelled trials, in memory or in files, or the counts of two-class ones.
    applications : iterable
        Triples (prior, cost_fn, cost_fp), names ("sre08"), Application objects, or multiclass ones. Every point of an
        `Application.mean` is a row, and `.means` has the mean of their costs.
    bayes_plot : tuple (low, high, points), default (-3, 3, 21)
        Log-odds of the Bayes error plot.
    eer : {"rocch", "interpolated", "nearest"}, default "rocch"
        Definition of the equal error rate.
    name : str, optional
        The system's name; the trials' own by default.
    one_vs_rest : bool, default False
        Whether each class of a multiclass task is evaluated against the rest as well.
    ci : float, optional
        Level of the intervals, such as 0.95; they are in `.intervals`, the JSON, the tables and the page. A scan of two
        classes has intervals for the rates and costs of the decisions; those of other numbers need the trials in
        memory.
    by : str or tuple of two str, optional
        Group column, such as speaker or patient, whose groups are the unit of the intervals; or two crossed ones.
    method : {"percentile", "bca", "jeffreys", "uniform"}, optional
        Bootstrap intervals instead of closed forms; with `resamples` given, "percentile". Or credible intervals of
        rates and costs, by Beta and Dirichlet posteriors under Jeffreys' or a uniform prior.
    resamples, seed : int, optional
        Number of resamples and seed of the bootstrap; the same seed gives the same bits for any number of threads.
    sampling : {"stratified", "natural"}, optional
        Class counts fixed or random. By default, accuracy, log-loss and Brier score follow natural sampling; for the
        closed forms of other numbers it makes no difference.

    Returns
    -------
    Evaluation or MulticlassEvaluation
        The numbers under the names of the JSON.

    Examples
    --------
    >>> trials = Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0, -2.0], [1, 1, 1, 0, 0, 0])
    >>> evaluate(trials, [(0.5, 1, 1)])
    Evaluation: 3 targets, 3 non-targets, EER 0.1667 (rocch), AUC 0.8889, Cllr 0.6513, min Cllr 0.3333
      (0.5, 1, 1): DCF 0.6667, min 0.3333, llr threshold 0
    >>> found = evaluate(trials, [Application.mean([(0.5, 1, 1), (0.5, 1, 2)])]).means[0]
    >>> round(found.dcf, 4), round(found.min_dcf, 4)    # (2/3 + 1/3) / 2 and (1/3 + 1/3) / 2
    (0.5, 0.3333)
    """
    asked, means = without_means(listed(applications))
    if means:
        more: JSON = {"ci": ci, "by": by, "method": method, "resamples": resamples, "seed": seed}
        found = evaluate(
            trials, asked, bayes_plot=bayes_plot, eer=eer, name=name, one_vs_rest=one_vs_rest, sampling=sampling, **more
        )
        if not isinstance(found, Evaluation):
            raise InputError("A mean of operating points is for two classes.")
        return derived(found, means=tuple(mean_cost(*one, found.applications) for one in means))
    chosen(eer, "eer", EER_DEFINITIONS)
    flag(one_vs_rest, "one_vs_rest")
    if name is not None:
        text(name, "name")
    if not isinstance(trials, Trials | Tally) and isinstance(trials, HasSummary):
        _check_scanned(one_vs_rest, ci, {"by": by, "method": method, "resamples": resamples, "sampling": sampling})
        return _evaluate_source(trials, asked, bayes_plot, eer, name, ci)
    held = trials if isinstance(trials, Tally) else as_trials(trials)
    limits = AskedIntervals.of(ci, by, method, resamples, seed, sampling, bayes_plot, eer)
    several = any(isinstance(app, MulticlassApplication) for app in asked)
    if isinstance(held, Trials) and (several or len(held.classes) > 2):
        found = _evaluate_classes(held, asked, name or held.name, one_vs_rest)
        return found if limits is None else derived(found, intervals=limits.intervals(held, asked, held))
    return _evaluate_two(held, [Application.of(app) for app in asked], bayes_plot, eer, name, grouping(by), limits)


def _evaluate_two(
    trials: Trials | Tally, apps: Sequence[Application], bayes_plot: tuple[float, float, int], eer: EerDefinition,
    name: str | None, by: tuple[str, ...], limits: AskedIntervals | None,
) -> Evaluation:  # fmt: skip
    """Two classes, from trials or their tally."""
    grid = log_odds_grid(bayes_plot)
    summary = Summary.of(trials if isinstance(trials, Tally) else Tally.of(trials), asked_thresholds(apps, grid))
    losses = CalibrationLosses(trials, by, summary.curve)
    called = trials.name if name is None and isinstance(trials, Trials) else name
    classes = trials.classes if isinstance(trials, Trials) else USUAL_NAMES
    two = evaluation_of(summary, apps, grid, eer, called, losses, classes)
    return two if limits is None else derived(two, intervals=limits.intervals(trials, apps, losses))


_IN_MEMORY = "{} needs trials in memory: read them (tercet.read), or leave it out of a scan."
_TWO_COLUMNS = "A scan of two columns answers cost matrices only: use tercet.read, or one column of llrs."


def _check_scanned(one_vs_rest: bool, ci: float | None, given: JSON) -> None:
    """Refuses what a scan cannot answer."""
    needs_level(ci, given)
    for name, value in {"one_vs_rest": one_vs_rest or None, **given}.items():
        if value is not None:
            raise InputError(_IN_MEMORY.format(name))


def _evaluate_source(
    source: HasSummary,
    asked: Sequence[object],
    plot: tuple[float, float, int],
    eer: EerDefinition,
    name: str | None,
    ci: float | None,
) -> Evaluation | MulticlassEvaluation:
    """The evaluation of trials that are not in memory; arguments are validated before anything is read."""
    if source.several or any(isinstance(app, MulticlassApplication) for app in asked):
        if ci is not None:
            raise InputError(_IN_MEMORY.format("ci= of several classes"))
        matrices = [as_matrix(app) for app in asked]
        found_classes, more = source._class_summary(matrices)
        if len(found_classes.classes) == 2 and not any(isinstance(app, MulticlassApplication) for app in asked):
            raise InputError(_TWO_COLUMNS)
        called = name if name is not None else source.name
        many = multiclass_evaluation_of(found_classes, source.meaning, matrices, called)
        return derived(many, input={**many.input, **more})
    apps, grid = [Application.of(app) for app in asked], log_odds_grid(plot)
    summary, facts = source._summary(asked_thresholds(apps, grid), eer)
    found = evaluation_of(summary, apps, grid, eer, name if name is not None else source.name)
    limits = None if ci is None else counted_intervals(summary, apps, grid, probability(ci, "ci"))
    return derived(found, input={**found.input, **facts}, intervals=limits)


def evaluation_of(
    summary: Summary, apps: Sequence[Application], grid: Floats, eer: EerDefinition, name: str | None,
    losses: CalibrationLosses | None = None, classes: tuple[str, ...] = USUAL_NAMES,
) -> Evaluation:  # fmt: skip
    """The one way from counts to an Evaluation, for trials in memory and for scans."""
    curve, weight, known = summary.curve, summary.curve.tally.weight, summary.means_llr
    low, high = curve.auc_bracket
    at_points = _AtPoints.of(summary, apps, grid)
    counts = {"trials": curve.targets + curve.nontargets, "targets": curve.targets, "nontargets": curve.nontargets}
    return computed(
        Evaluation,
        name=name,
        meaning=curve.tally.meaning,
        input={key: weight(count) for key, count in counts.items()},
        eer=curve.eer(eer),
        auc=low if low == high else (low + high) / 2.0,
        cllr=summary.cllr if known else None,
        min_cllr=min_cllr(curve),
        applications=at_points.results(curve, apps, losses),
        bayes_plot=at_points.bayes_plot(grid),
        curve=curve,
        reasons={} if known else {"cllr": NO_LLR, "bayes_plot.dcf": NO_LLR},
        brackets={} if low == high else {"auc": (low, high)},
        intervals=None,
        means=(),
        class_names=classes,
    )


def asked_thresholds(apps: Sequence[Application], grid: Floats) -> Floats:
    """The llr thresholds of the applications and of the Bayes error plot."""
    return 0.0 - np.concatenate((np.array([app.log_odds for app in apps], np.float64), grid))


class _AtPoints(NamedTuple):
    """Actual and minimum costs at the operating points and then along the Bayes error plot, computed at once."""

    misses: list[int] | None  # of the Bayes decisions; raw scores have none
    alarms: list[int] | None
    dcf: Floats | None
    least: tuple[Floats, Floats, Counts, Counts]

    @classmethod
    def of(cls, summary: Summary, apps: Sequence[Application], grid: Floats) -> _AtPoints:
        thresholds = asked_thresholds(apps, grid)
        log_odds = 0.0 - thresholds
        factors = np.concatenate((np.array([app.factor for app in apps], np.float64), np.exp(np.abs(grid))))
        least = summary.curve.hull.minimum(log_odds, factors)
        if not summary.means_llr:
            return cls(None, None, None, least)
        misses, alarms = summary.errors(thresholds)
        fnr, fpr = quotients(misses, summary.curve.targets), quotients(alarms, summary.curve.nontargets)
        costs = normalised_dcf(log_odds, fnr, fpr, factors)
        return cls(misses[: len(apps)].tolist(), alarms[: len(apps)].tolist(), costs, least)

    def bayes_plot(self, grid: Floats) -> BayesPlot:
        """The costs for each prior log-odds; raw scores have the minimum only."""
        actual, least = self.dcf, self.least[0][-len(grid) :]
        columns = (frozen(grid), None if actual is None else frozen(actual[-len(grid) :]), frozen(least))
        return BayesPlot._make(columns)  # what was computed needs no check

    def results(
        self, curve: Curve, apps: Sequence[Application], losses: CalibrationLosses | None
    ) -> tuple[Result, ...]:
        """The system at each operating point; without llrs only the minimum is known."""
        least = zip(*(column[: len(apps)].tolist() for column in self.least), strict=True)
        actual: Iterable[tuple[int, int, float] | None] = [None] * len(apps)
        if self.misses is not None and self.alarms is not None and self.dcf is not None:
            actual = zip(self.misses, self.alarms, self.dcf[: len(apps)].tolist(), strict=True)
        return tuple(
            _result(curve, app, errors, Minimum(*minimum), losses)
            for app, errors, minimum in zip(apps, actual, least, strict=True)
        )


def _result(
    curve: Curve, app: Application, actual: tuple[int, int, float] | None, least: Minimum,
    losses: CalibrationLosses | None,
) -> Result:  # fmt: skip
    targets, nontargets, weight = curve.targets, curve.nontargets, curve.tally.weight
    reasons: dict[str, str] = {}
    table = fnr = fpr = dcf_u = dcf = None
    min_dcf: float | None = least.dcf
    if actual is None:
        reasons |= dict.fromkeys((*_NEED_LLR, *_NEED_NORMALISER), NO_LLR)
        del reasons["min_dcf"]
    else:
        misses, alarms, dcf = actual
        table = [[weight(nontargets - alarms), weight(misses)], [weight(alarms), weight(targets - misses)]]
        fnr, fpr = misses / targets, alarms / nontargets
        dcf_u = app._cost(fnr, fpr)
    if app.dummy_is_free:
        dcf = min_dcf = None
        reasons |= dict.fromkeys(_NEED_NORMALISER, NO_NORMALISER)
    return Result(
        prior=app.prior, cost_fn=app.cost_fn, cost_fp=app.cost_fp, name=app.name,
        effective_prior=app.effective_prior, threshold=app.threshold,
        confusion=table, fnr=fnr, fpr=fpr, dcf_u=dcf_u, dcf=dcf,
        min_dcf=min_dcf, min_threshold=least.threshold,
        min_dcf_u=app._cost(least.misses / targets, least.false_alarms / nontargets),
        actual_minus_min=None if dcf is None else max(dcf - least.dcf, 0.0), reasons=reasons,
        warnings=() if table is None else _few_of_two(table[0][1], table[1][0]),
        threshold_score=on_score_scale(app.threshold, curve.tally),
        min_threshold_llr=as_llr(least.threshold, curve.tally),
        _losses=losses,
    )  # fmt: skip


def _few_of_two(misses: float, alarms: float) -> tuple[str, ...]:
    """A warning where misses or false alarms are fewer than the rule of 30 asks for."""
    kinds = (("fnr", "misses", misses), ("fpr", "false alarms", alarms))
    few = [(name, f"{count:g} {kind}") for name, kind, count in kinds if count < ENOUGH]
    told, names = " and ".join(words for _, words in few), ", ".join(name for name, _ in few)
    return (f"{told}, fewer than {ENOUGH}: {names} and dcf are unreliable",) if few else ()


def _evaluate_classes(
    trials: Trials, asked: Sequence[object], name: str | None, one_vs_rest: bool
) -> MulticlassEvaluation:
    if len(trials) == 0:
        raise UndefinedError("There is nothing to evaluate: there are no trials.")
    share, why, apps = None, "", [as_matrix(app) for app in asked]
    try:
        share = class_prior(trials, absent=True)
    except UndefinedError as error:
        why = str(error)
    found = multiclass_evaluation_of(class_summary(ClassRows.of(trials), share, apps, why), trials.meaning, apps, name)
    found = derived(found, trials=trials)
    if not one_vs_rest:
        return found
    return derived(found, versus=tuple(_against_rest(trials, label) for label in trials.classes))


def multiclass_evaluation_of(
    summary: ClassSummary, meaning: str, apps: Sequence[MulticlassApplication], name: str | None
) -> MulticlassEvaluation:
    """The one way from counts to an evaluation of K classes, for trials in memory and for scans."""
    reasons: dict[str, str] = {}

    def known(key: str, compute: Callable[[], float]) -> float | None:
        try:
            return compute()
        except UndefinedError as error:
            reasons[key] = str(error)
            return None

    classes = summary.classes
    bits = known("log_loss", lambda: summary.mean_log_loss() / math.log(2.0))
    ratio = None if bits is None else known("normalised_cross_entropy", partial(over_entropy, bits, summary.share()))
    sizes = Confusion._made(np.array([summary.sizes], np.object_), classes, ("any",), None, summary.unit).matrix[0]
    return MulticlassEvaluation(
        name=name,
        meaning=meaning,
        input={"trials": sum(sizes), "classes": dict(zip(classes, sizes, strict=True))},
        classes=classes,
        accuracy=known("accuracy", summary.accuracy),
        log_loss=bits,
        normalised_cross_entropy=ratio,
        brier=known("brier", lambda: summary.mean_brier() / (1.0 if meaning in MATRIX_MEANINGS else 2.0)),
        applications=tuple(_class_result(summary, place, app) for place, app in enumerate(apps)),
        reasons=reasons,
    )


def _against_rest(trials: Trials, label: str) -> Evaluation:
    """One class against the others, mixed by the frequencies of the data."""
    task = trials.versus(label, prior=class_prior(trials).tolist())
    return evaluate(task, (), name=f"{label} against the rest")


def _class_result(summary: ClassSummary, place: int, app: MulticlassApplication) -> MulticlassResult:
    named = app.renamed(summary.classes)
    table = summary.table(place, named.actions)
    reasons: dict[str, str] = {}
    parts = risk = dcf = None
    try:
        parts = table.contributions(app).tolist()
        risk = table.risk(app)
        dcf = table.normalised_risk(app)
    except UndefinedError as error:
        reasons = {key: str(error) for key, v in (("contributions", parts), ("risk", risk), ("dcf", dcf)) if v is None}
    return MulticlassResult(
        app.prior.tolist(), app.costs.tolist(), list(table.actions), table.matrix,
        risk, dcf, app.dummy_cost, named.dummy_action, parts, reasons, _few_of_classes(table),
    )  # fmt: skip


def _few_of_classes(table: Confusion) -> tuple[str, ...]:
    """A warning where decisions for another class than the true one are fewer than 30."""
    rows = zip(table.actions, table.matrix, strict=True)
    errors = sum(
        count for action, row in rows for name, count in zip(table.classes, row, strict=True) if action != name
    )
    return () if enough_errors(errors) else (f"{errors:g} errors, fewer than {ENOUGH}: risk and dcf are unreliable",)


class RiskPath(NamedTuple):
    """Risk of a K-class system for one application after another.

    Attributes
    ----------
    risk : numpy.ndarray of float
        Bayes risk.
    dcf : numpy.ndarray of float
        Risk divided by that of the best dummy.
    dummy : numpy.ndarray of float
        Risk of the best action without the scores.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0], [1, 1, 1, 0, 0])
    >>> tc.risk_path(trials, [0.5]).risk.round(4).tolist()    # (1/3 + 1/2) / 2
    [0.4167]
    """

    risk: Floats
    dcf: Floats
    dummy: Floats


class RiskCurve(NamedTuple):
    """A risk path along the log-odds of one class's prior.

    Attributes
    ----------
    log_odds : numpy.ndarray of float
        Log-odds of the class's prior.
    risk : numpy.ndarray of float
        Bayes risk.
    dcf : numpy.ndarray of float
        Risk divided by that of the best dummy.
    dummy : numpy.ndarray of float
        Risk of the best dummy.

    Examples
    --------
    >>> import tercet as tc
    >>> rows = [[0.0, 1.0, 2.0], [1.0, 0.0, 0.5], [0.0, 0.0, 3.0], [2.0, 1.0, 0.0]]
    >>> trials = tc.Trials.of_log_likelihoods(rows, [0, 1, 2, 0])
    >>> found = tc.risk_curve(trials, tc.Application.multiclass([1 / 3] * 3), 0, [0.0])
    >>> found.risk.round(4).tolist(), found.dummy.round(4).tolist()
    ([0.5], [0.5])
    """

    log_odds: Floats
    risk: Floats
    dcf: Floats
    dummy: Floats


def risk_path(trials: Trials, applications: Iterable[object]) -> RiskPath:
    """What the Bayes decisions of each application cost, along a path of priors, costs or both.

    Parameters
    ----------
    trials : Trials
        Labelled trials.
    applications : iterable
        Operating points, for instance from `MulticlassApplication.path_to`.

    Returns
    -------
    RiskPath
        Risk, normalised risk and dummy cost of each.

    Examples
    --------
    >>> trials = Trials.of_llr([2.0, 1.0, -0.5, 0.3, -1.0], [1, 1, 1, 0, 0])
    >>> risk_path(trials, [0.5]).risk.round(4).tolist()
    [0.4167]
    """
    path = [as_matrix(app) for app in entries(applications, "applications")]
    risks = np.array([confusion_of(trials, step).risk(step) for step in path])
    dummy = np.array([step.dummy_cost for step in path])
    if not dummy.all():
        raise UndefinedError("A normalised risk does not exist where the best dummy costs 0.")
    return RiskPath(risks, risks / dummy, dummy)


def risk_curve(trials: Trials, application: object, label: object, log_odds: object = None) -> RiskCurve:
    """Bayes risk of a K-class task as the prior of one class varies and the others keep their proportions.

    Parameters
    ----------
    trials : Trials
        Labelled trials.
    application : MulticlassApplication
        Priors and costs; the priors give the proportions of the other classes.
    label : object
        The class whose prior varies, by name or number.
    log_odds : array_like of float, optional
        The log-odds of that prior; by default a grid around 0.

    Returns
    -------
    RiskCurve
        Risk, normalised risk and dummy cost at each log-odds.

    Examples
    --------
    >>> from tercet import Application
    >>> rows = [[0.0, 1.0, 2.0], [1.0, 0.0, 0.5], [0.0, 0.0, 3.0], [2.0, 1.0, 0.0]]
    >>> trials = Trials.of_log_likelihoods(rows, [0, 1, 2, 0])
    >>> found = risk_curve(trials, Application.multiclass([1 / 3] * 3), 0, [0.0])
    >>> found.log_odds.tolist(), found.risk.round(4).tolist()
    ([0.0], [0.5])
    """
    app = as_matrix(application)
    trials = as_trials(trials)
    grid = np.linspace(-3.0, 3.0, 21) if log_odds is None else numbers(log_odds, "log_odds")
    place = trials.class_number(label)
    return RiskCurve(grid, *risk_path(trials, [app.with_log_odds(place, value) for value in grid.tolist()]))


def _threshold(row: Result, meaning: str) -> str:
    """The threshold with its scale: the llr, and the scores' own where that is another."""
    if row.threshold_score is None:
        return "no threshold"
    own = "" if meaning == "llr" else f", {meaning} {row.threshold_score:.4g}"
    return f"llr threshold {row.threshold:.4g}{own}"


def _size(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.10g}"  # a sum of weights


def _short(value: float | None) -> str:
    return "undefined" if value is None else f"{value:.4f}" if abs(value) < 1e4 else f"{value:.4g}"


def _title(name: str | None) -> str:
    return f"Evaluation of {shown(name)[1:-1]}" if name else "Evaluation"
