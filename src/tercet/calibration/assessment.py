"""Are the probabilities right? Calibration errors by their full names, slope and intercept, tests of calibration."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.validation import chosen, flag, frozen, whole
from tercet._typing import Floats
from tercet.calibration.two_class import Logistic
from tercet.errors import CalibrationError, InputError, UndefinedError
from tercet.metrics.binomial import Interval, wilson
from tercet.metrics.costs import class_prior
from tercet.metrics.curves import convex_vertices
from tercet.metrics.posteriors import posteriors
from tercet.trials import Trials, as_trials, logit, probability

Binning = Literal["equal-width", "equal-mass"]
Kind = Literal["target", "top-label", "class-wise"]
_BIAS = (
    "a binned estimate: it depends on the bins, and is above 0 on average even for perfectly calibrated scores, the "
    "more so the fewer rows a bin has"
)
_NO_INTERVAL = "no interval: near 0 it exceeds the population's error by more than it varies; see the debiased error"
_NO_MEAN_INTERVAL = "no interval: the errors of the classes depend on each other; that of the top label has one"
_DEBIASED = "debiased: the sampling variance of each bin is subtracted, so the mean square can be below 0 (shown as 0)"
_MOST_RESAMPLES = 100_000  # each is kept at every point that is shown
_MOST_BINS = 1_000_000
_MOST_POINTS = 400  # of a band
_CALLED = ("non-targets", "targets")


class ReliabilityBin(NamedTuple):
    """Rows whose forecast falls in one bin.

    Attributes
    ----------
    forecast, observed : float
        The mean forecast, and the share of targets.
    low, high : float
        The Wilson interval of that share.
    rows : int
        How many rows there are.
    """

    forecast: float
    observed: float
    low: float
    high: float
    rows: int


class CalibrationErrorEstimate(NamedTuple):
    """A binned calibration error with its full name.

    Attributes
    ----------
    value : float
        The error.
    definition : str
        Its full name: what is binned, how, into how many bins, and which norm.
    note : str
        Its known bias, and why there is no interval where there is none.
    bins : mapping
        The reliability bins of each class (or of the target, or of the top label).
    interval : Interval or None
        Of the debiased root mean square of the target or of the top label, in the population's own bins.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_posteriors([0.2] * 4 + [0.9] * 2, [1, 0, 0, 0, 1, 0], trained_prior=0.5)
    >>> found = tc.expected_calibration_error(trials, bins=2, as_given=True)
    >>> round(found.value, 3)    # (4 x |0.2 - 1/4| + 2 x |0.9 - 1/2|) / 6
    0.167
    """

    value: float
    definition: str
    note: str
    bins: dict[str, tuple[ReliabilityBin, ...]]
    interval: Interval | None = None


def expected_calibration_error(
    trials: Trials,
    *,
    bins: int = 15,
    binning: Binning = "equal-width",
    kind: Kind | None = None,
    debiased: bool = False,
    as_given: bool = False,
    ci: float = 0.95,
) -> CalibrationErrorEstimate:
    """Expected calibration error: mean distance between forecast and observed frequency over bins of the forecast.

    sum_b n_b / n abs(mean forecast_b - observed share_b); debiased: the root of sum_b n_b / n ((mean forecast_b -
    observed share_b)^2 - observed (1 - observed) / (n_b - 1)), where n_b > 1. Not to be confused with the empirical
    cross-entropy, which has the same initials.

    Parameters
    ----------
    trials : Trials
        Labelled trials that are not raw scores.
    bins : int, default 15
        How many.
    binning : {"equal-width", "equal-mass"}, default "equal-width"
        Bins of the same width, or of the same number of rows (tied forecasts stay together).
    kind : {"target", "top-label", "class-wise"}, optional
        Two classes: the target's posterior. Several: the largest posterior compared with how often its class is the
        true one ("top-label", the default), or the mean of the errors of all classes ("class-wise").
    debiased : bool, default False
        The root mean square with the sampling variance subtracted.
    as_given : bool, default False
        Take posteriors as they are; else they are moved to the class frequencies of the trials.
    ci : float, default 0.95
        Level of the interval, which the debiased error of the target and of the top label has: normal limits of the
        mean square, whose variance is sum_b (n_b / n)^2 (4 d_b^2 s_b + 2 s_b^2) with d_b^2 the debiased squared
        distance and s_b the variance of the observed share (Agresti and Coull's, not 0 in a bin without targets), then
        the root of both ends. Simulated coverage of the 95 % interval, 15 equal-mass bins, 2,000 sets each of 500 and
        2,000 rows: 100.0 and 99.9 % for calibrated forecasts (the lower end is then 0), 99.3 and 97.7 % at an error of
        0.03, 96.8 and 94.7 % at 0.09; where targets are 3.7 % of the rows and the error is 0.027, 100.0 and 93.9 %.

    Returns
    -------
    CalibrationErrorEstimate
        The value, its full name, its known bias, the bins and the interval.

    References
    ----------
    Naeini, Cooper and Hauskrecht (2015), doi:10.1609/aaai.v29i1.9602. Guo et al. (2017), arXiv:1706.04599.
    Broecker (2012), Estimating reliability and resolution of probability forecasts, doi:10.1007/s00382-011-1191-1.
    Sun, Chaudhari, Barnett and Dobriban (2024), A confidence interval for the l2 expected calibration error,
    arXiv:2408.08998.

    Examples
    --------
    Two bins: forecasts 0.2 of which 1 of 4 are targets, and 0.9 of which 1 of 2 are; 4/6 x 0.05 + 2/6 x 0.4:

    >>> rows = Trials.of_posteriors([0.2] * 4 + [0.9] * 2, [1, 0, 0, 0, 1, 0], trained_prior=0.5)
    >>> round(expected_calibration_error(rows, bins=2, as_given=True).value, 6)
    0.166667
    """
    count = whole(bins, "bins", 1, _MOST_BINS)
    chosen(binning, "binning", ("equal-width", "equal-mass"))
    level = probability(ci, "ci")
    flag(debiased, "debiased")
    columns, kind = _columns(trials, kind, as_given)
    found = {name: _binned(forecast, seen, count, binning) for name, (forecast, seen) in columns.items()}
    values = [_error(rows, debiased) for rows in found.values()]
    definition = full_name(kind, count, binning, debiased)
    note, ends = f"{_NO_INTERVAL}; {_BIAS}", None
    if debiased and kind == "class-wise":
        note = f"{_NO_MEAN_INTERVAL}; {_DEBIASED}"
    elif debiased:
        note, ends = _DEBIASED, _root_interval(next(iter(found.values())), level)
    return CalibrationErrorEstimate(math.fsum(values) / len(values), definition, note, found, ends)


def full_name(kind: Kind, bins: int, binning: Binning, debiased: bool) -> str:
    """What is binned, how, into how many bins, and which norm."""
    norm = "debiased root mean square" if debiased else "mean absolute"
    names = {"target": "of the target", "top-label": "of the top label", "class-wise": "class-wise"}
    return f"expected calibration error {names[kind]}, {bins} {binning} bins, {norm}"


class CalibrationLine(NamedTuple):
    """Logistic regression of the class on the forecast's log-odds, with Wald intervals.

    Attributes
    ----------
    slope, slope_ci : float and Interval
        1 for calibrated forecasts; below 1 they are too extreme.
    intercept, intercept_ci : float and Interval
        0 for calibrated forecasts, fitted together with the slope.
    in_the_large, in_the_large_ci : float and Interval
        The intercept with the slope held at 1: above 0 the forecasts are too low on average.
    observed_expected, observed_expected_ci : float and Interval
        Targets seen over targets forecast; the interval is Wilson's for the targets seen.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_posteriors([0.25] * 4 + [0.75] * 4, [1, 0, 0, 0, 1, 1, 1, 0], trained_prior=0.5)
    >>> round(tc.calibration_line(trials).slope, 6)    # 1 of 4 and 3 of 4, as forecast
    1.0
    """

    slope: float
    slope_ci: Interval
    intercept: float
    intercept_ci: Interval
    in_the_large: float
    in_the_large_ci: Interval
    observed_expected: float
    observed_expected_ci: Interval


def calibration_line(trials: Trials, *, ci: float = 0.95, as_given: bool = False) -> CalibrationLine:
    """Calibration slope and intercept, calibration in the large, and observed over expected.

    Parameters
    ----------
    trials : Trials
        Labelled two-class trials that are not raw scores, none of them certain.
    ci : float, default 0.95
        Level of the intervals.
    as_given : bool, default False
        Take posteriors as they are; else they are moved to the share of targets of the trials.

    Returns
    -------
    CalibrationLine
        Slope, intercepts and ratio, each with its interval.

    References
    ----------
    Cox (1958), Two further applications of a model for binary regression, doi:10.1093/biomet/45.3-4.562.
    Van Calster et al. (2019), Calibration: the Achilles heel of predictive analytics, doi:10.1186/s12916-019-1466-7.

    Examples
    --------
    Forecasts 1/4 and 3/4 that come true as often are a line of slope 1 through 0:

    >>> rows = Trials.of_posteriors([0.25] * 4 + [0.75] * 4, [1, 0, 0, 0, 1, 1, 1, 0], trained_prior=0.5)
    >>> line = calibration_line(rows)
    >>> round(line.slope, 6), round(abs(line.intercept), 6), round(line.observed_expected, 6)
    (1.0, 0.0, 1.0)
    """
    from scipy.special import ndtri

    forecast, seen = _columns(trials, "target", as_given)[0]["target"]
    level = probability(ci, "ci")
    if ((forecast <= 0.0) | (forecast >= 1.0)).any():
        raise InputError("A calibration line needs forecasts strictly between 0 and 1: certain ones have no log-odds.")
    odds = np.log(forecast) - np.log1p(-forecast)
    share, reach = float(seen.mean()), float(ndtri((1.0 + level) / 2.0))
    if share in (0.0, 1.0):
        raise UndefinedError(f"A calibration line needs both classes: there are no {_CALLED[share == 0.0]}.")
    try:
        model = Logistic.fit(Trials.of_scores(odds, seen), share)
    except CalibrationError:
        raise UndefinedError("The calibration slope is undefined: a threshold separates the classes.") from None
    intercept = model.offset + logit(share)
    errors = _standard_errors(odds, model.slope * odds + intercept)
    shift = _in_the_large(odds, share)
    alone = 1.0 / math.sqrt(float(_steepness(odds + shift).sum()))

    def wald(value: float, error: float) -> Interval:
        return Interval(value - reach * error, value + reach * error, "wald")

    return CalibrationLine(
        model.slope, wald(model.slope, errors[0]), intercept, wald(intercept, errors[1]), shift, wald(shift, alone),
        *_observed_expected(forecast, seen, level),
    )  # fmt: skip


def observed_expected(trials: Trials, *, ci: float = 0.95, as_given: bool = False) -> tuple[float, Interval]:
    """The share of targets over the mean forecast, with its interval; it exists for certain forecasts too.

    Examples
    --------
    >>> observed_expected(Trials.of_posteriors([0.0, 0.5, 0.5, 0.5], [0, 1, 1, 1], trained_prior=0.5), as_given=True)[0]
    2.0
    """
    forecast, seen = _columns(trials, "target", as_given)[0]["target"]
    return _observed_expected(forecast, seen, probability(ci, "ci"))


def _observed_expected(forecast: Floats, seen: Floats, level: float) -> tuple[float, Interval]:
    expected, ends = math.fsum(forecast) / len(forecast), wilson(int(seen.sum()), len(seen), level)
    if expected == 0.0:
        raise UndefinedError("Observed over expected is undefined: every forecast is 0.")
    return float(seen.mean()) / expected, Interval(ends.low / expected, ends.high / expected, "wilson / expected")


class CalibrationTest(NamedTuple):
    """A test of the hypothesis that forecasts are calibrated: statistic, p-value and method.

    Attributes
    ----------
    statistic : float
        The test's statistic.
    p_value : float
        Two-sided p-value.
    method : str
        Which test.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_posteriors([0.25] * 4, [1, 0, 0, 0], trained_prior=0.5)
    >>> tc.spiegelhalter_test(trials, as_given=True).p_value
    1.0
    """

    statistic: float
    p_value: float
    method: str


def spiegelhalter_test(trials: Trials, *, as_given: bool = False) -> CalibrationTest:
    """Spiegelhalter's test of whether the Brier score is what calibrated forecasts would give.

    z = sum (y - p)(1 - 2p) / sqrt(sum (1 - 2p)^2 p (1 - p)), standard normal under calibration.

    Parameters
    ----------
    trials : Trials
        Labelled two-class trials that are not raw scores.
    as_given : bool, default False
        Take posteriors as they are; else they are moved to the share of targets of the trials.

    Returns
    -------
    CalibrationTest
        z and its two-sided p-value.

    References
    ----------
    Spiegelhalter (1986), Probabilistic prediction in patient management and clinical trials,
    doi:10.1002/sim.4780050506.

    Examples
    --------
    Forecasts 1/4 that come true once in four times are just right:

    >>> rows = Trials.of_posteriors([0.25] * 4, [1, 0, 0, 0], trained_prior=0.5)
    >>> spiegelhalter_test(rows, as_given=True).statistic
    0.0
    """
    from scipy.special import ndtr

    forecast, seen = _columns(trials, "target", as_given)[0]["target"]
    lean = 1.0 - 2.0 * forecast
    variance = math.fsum(lean**2 * forecast * (1.0 - forecast))
    if variance == 0.0:
        raise UndefinedError("Spiegelhalter's test is undefined: every forecast is 0, 1/2 or 1.")
    z = math.fsum((seen - forecast) * lean) / math.sqrt(variance)
    return CalibrationTest(z, 2.0 * float(ndtr(-abs(z))), "spiegelhalter")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CorpDiagram:
    """The isotonic reliability diagram with a consistency band and a test of calibration.

    Attributes
    ----------
    forecast : ndarray
        Distinct forecasts, ascending (at most 400 of them).
    recalibrated : ndarray
        Observed share by isotonic regression at each forecast: the diagram.
    low, high : ndarray
        Consistency band: where the diagram of calibrated forecasts lies, pointwise.
    miscalibration, discrimination, uncertainty : float
        Parts of the Brier score: score = miscalibration - discrimination + uncertainty.
    test : CalibrationTest
        The miscalibration against that of outcomes drawn from the forecasts themselves.
    level : float
        Level of the band.
    name : str or None
        The system's name.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_posteriors([0.2, 0.4, 0.6, 0.8], [1, 1, 0, 0], trained_prior=0.5)
    >>> tc.corp_diagram(trials, resamples=99, as_given=True).discrimination    # the ranking is worth nothing
    0.0
    """

    forecast: Floats
    recalibrated: Floats
    low: Floats
    high: Floats
    miscalibration: float
    discrimination: float
    uncertainty: float
    test: CalibrationTest
    level: float
    name: str | None = None

    def __repr__(self) -> str:
        return f"CorpDiagram: miscalibration {self.miscalibration:.4g}, p = {self.test.p_value:.3g}"


def corp_diagram(
    trials: Trials,
    *,
    of: str | None = None,
    level: float = 0.95,
    resamples: int = 1000,
    seed: int = 0,
    as_given: bool = False,
) -> CorpDiagram:
    """The isotonic (CORP) reliability diagram, its consistency band, and a test of calibration from the same draws.

    Parameters
    ----------
    trials : Trials
        Labelled trials that are not raw scores.
    of : str, optional
        The class whose probability is assessed; without it the target, or of several classes the most probable one
        ("top label").
    level : float, default 0.95
        Level of the pointwise band.
    resamples : int, default 1000
        How often outcomes are drawn from the forecasts.
    seed : int, default 0
        Seed of the draws.
    as_given : bool, default False
        Take posteriors as they are; else they are moved to the share of targets of the trials.

    Returns
    -------
    CorpDiagram
        The diagram, the band and the test.

    References
    ----------
    Dimitriadis, Gneiting and Jordan (2021), Stable reliability diagrams for probabilistic classifiers,
    doi:10.1073/pnas.2016191118.

    Examples
    --------
    Forecasts that fall as outcomes rise are pooled into one block, 2 of 4:

    >>> rows = Trials.of_posteriors([0.2, 0.4, 0.6, 0.8], [1, 1, 0, 0], trained_prior=0.5)
    >>> corp_diagram(rows, resamples=99, as_given=True).recalibrated.tolist()
    [0.5, 0.5, 0.5, 0.5]
    """
    forecast, seen = _assessed(trials, of, as_given)
    share = probability(level, "level")
    draws = whole(resamples, "resamples", 19, _MOST_RESAMPLES)
    generator = np.random.default_rng(whole(seed, "seed", 0))
    values, place, rows = np.unique(forecast, return_inverse=True, return_counts=True)
    hits = np.bincount(place, seen, len(values)).astype(np.int64)
    shown_at = np.unique(np.linspace(0, len(values) - 1, min(len(values), _MOST_POINTS)).astype(np.intp))
    fitted = _isotonic(hits, rows)
    gap = _miscalibration(values, fitted, hits, rows)
    gaps, fits = np.empty(draws), np.empty((draws, len(shown_at)))
    for number in range(draws):
        drawn = generator.binomial(rows, values)
        again = _isotonic(drawn, rows)
        gaps[number], fits[number] = _miscalibration(values, again, drawn, rows), again[shown_at]
    tail = (1.0 - share) / 2.0
    low, high = np.quantile(fits, [tail, 1.0 - tail], axis=0)
    p_value = (1.0 + float((gaps >= gap - 1e-15).sum())) / (draws + 1.0)
    base = float(seen.mean())
    spread = base * (1.0 - base)
    sharpness = spread - math.fsum((fitted * (1.0 - fitted)) * rows) / len(seen)
    test = CalibrationTest(gap, p_value, f"corp, {draws} draws of outcomes from the forecasts")
    at, calibrated, least, most = (frozen(line) for line in (values[shown_at], fitted[shown_at], low, high))
    return CorpDiagram(at, calibrated, least, most, gap, sharpness, spread, test, share, trials.name)


# --- Forecasts and outcomes ---


def _columns(trials: Trials, kind: str | None, as_given: bool) -> tuple[dict[str, tuple[Floats, Floats]], Kind]:
    """For each curve of the kind its forecasts and outcomes (0 or 1), row by row."""
    own = as_trials(trials)
    labels = own.known_labels().astype(np.intp)
    if own.weights is not None:
        raise InputError("Calibration is assessed without weights: repeat rows instead.")
    if len(labels) == 0:
        raise UndefinedError("There is nothing to assess: there are no trials.")
    if flag(as_given, "as_given") and own.meaning not in ("posterior", "posteriors"):
        raise InputError(f"as_given takes posteriors, not scores that are {own.meaning}.")
    several = len(own.classes) > 2
    if kind is None:
        kind = "top-label" if several else "target"
    kind = chosen(kind, "kind", ("target", "top-label", "class-wise"))
    if kind == "target" and several:
        raise InputError('Several classes have no single target: kind is "top-label" or "class-wise".')
    shares = _as_given(own) if as_given else posteriors(own, class_prior(own))
    if kind == "target":
        return {"target": (shares[:, 1], (labels == 1).astype(np.float64))}, "target"
    if kind == "top-label":
        top = shares.argmax(axis=1)
        return {"top label": (shares.max(axis=1), (top == labels).astype(np.float64))}, "top-label"
    return {
        name: (shares[:, place], (labels == place).astype(np.float64)) for place, name in enumerate(own.classes)
    }, "class-wise"


def _assessed(trials: Trials, of: str | None, as_given: bool) -> tuple[Floats, Floats]:
    """Forecasts and outcomes of one class, or of the target or the top label."""
    if of is None:
        return next(iter(_columns(trials, None, as_given)[0].values()))
    return _columns(trials, "class-wise", as_given)[0][chosen(of, "of", as_trials(trials).classes)]


def _as_given(trials: Trials) -> Floats:
    return trials.scores if trials.is_matrix else np.stack((1.0 - trials.scores, trials.scores), axis=1)


def _binned(forecast: Floats, seen: Floats, count: int, binning: str) -> tuple[ReliabilityBin, ...]:
    """The bins that hold rows."""
    if binning == "equal-width":
        places = np.clip((forecast * count).astype(np.intp), 0, count - 1)
    else:
        ordered = np.sort(forecast)
        cuts = ordered[[len(ordered) * k // count for k in range(1, count)]]
        places = np.searchsorted(np.unique(cuts), forecast, "right")
    rows = np.bincount(places)
    sums, hits = np.bincount(places, forecast), np.bincount(places, seen)
    found = []
    for size, total, right in zip(rows.tolist(), sums.tolist(), hits.tolist(), strict=True):
        if size:
            ends = wilson(int(right), size)
            found.append(ReliabilityBin(total / size, right / size, ends.low, ends.high, size))
    return tuple(found)


def _error(rows: tuple[ReliabilityBin, ...], debiased: bool) -> float:
    total = sum(one.rows for one in rows)
    if not debiased:
        return math.fsum(one.rows / total * abs(one.forecast - one.observed) for one in rows)
    known = [one for one in rows if one.rows > 1]  # a single row has no variance estimate
    if not known:
        raise UndefinedError("The debiased error is undefined: no bin has two rows. Take fewer bins.")
    return math.sqrt(max(math.fsum(one.rows / total * _debiased_square(one) for one in known), 0.0))


def _debiased_square(one: ReliabilityBin) -> float:
    """The squared distance of forecast and observed share of a bin, less the sampling variance of that share."""
    return (one.forecast - one.observed) ** 2 - one.observed * (1.0 - one.observed) / (one.rows - 1)


def _root_interval(rows: tuple[ReliabilityBin, ...], level: float) -> Interval:
    """Normal limits of the debiased mean square, from the binomial variances of the bins, and their roots.

    A bin in which nothing or everything came true shows no variance but has one, so the shares behind the variances are
    those of Agresti and Coull (1998), with z^2 / 2 rows added on either side.
    """
    from scipy.special import ndtri

    z, total = -float(ndtri((1.0 - level) / 2.0)), sum(one.rows for one in rows)
    value, spread = 0.0, 0.0
    for one in rows:
        if one.rows > 1:
            square, moved = _debiased_square(one), (one.observed * one.rows + z * z / 2.0) / (one.rows + z * z)
            own, share = moved * (1.0 - moved) / one.rows, one.rows / total
            value += share * square
            spread += share**2 * (4.0 * max(square, 0.0) * own + 2.0 * own**2)
    reach = z * math.sqrt(spread)
    low, high = (math.sqrt(max(value + sign * reach, 0.0)) for sign in (-1.0, 1.0))
    return Interval(low, high, "normal, of the debiased mean square")


# --- The line ---


def _steepness(odds: Floats) -> Floats:
    small = np.exp(-np.abs(odds))
    return np.asarray(small / (1.0 + small) ** 2)


def _standard_errors(odds: Floats, fitted: Floats) -> tuple[float, float]:
    """Standard errors of slope and intercept: the inverse of the information."""
    steep = _steepness(fitted)
    design = np.stack((odds, np.ones(len(odds))), axis=1)
    inverse = np.linalg.inv((design * steep[:, None]).T @ design)
    return math.sqrt(inverse[0, 0]), math.sqrt(inverse[1, 1])


def _in_the_large(odds: Floats, share: float) -> float:
    """The shift of all log-odds after which the mean forecast is the share of targets seen."""
    low, high = -50.0 - float(np.abs(odds).max()), 50.0 + float(np.abs(odds).max())
    for _ in range(100):
        middle = (low + high) / 2.0
        moved = odds + middle
        small = np.exp(-np.abs(moved))
        mean = float(np.mean(np.where(moved >= 0.0, 1.0, small) / (1.0 + small)))
        low, high = (middle, high) if mean < share else (low, middle)
    return (low + high) / 2.0


# --- Isotonic regression ---


def _isotonic(hits: NDArray[np.int64], rows: NDArray[np.int64]) -> Floats:
    """Isotonic shares at each distinct forecast: slopes of the lower convex hull of the running counts."""
    x, y = (np.concatenate(([0], np.cumsum(column))) for column in (rows, hits))
    corners = convex_vertices(x, y, int(x[-1]) ** 2)
    slopes = np.diff(y[corners]) / np.diff(x[corners])
    return np.asarray(np.repeat(slopes, np.diff(corners)), np.float64)


def _miscalibration(values: Floats, fitted: Floats, hits: NDArray[np.int64], rows: NDArray[np.int64]) -> float:
    """Brier score of the forecasts minus that of the isotonic shares: both from counts per distinct forecast."""
    misses = rows - hits
    before = hits * (1.0 - values) ** 2 + misses * values**2
    after = hits * (1.0 - fitted) ** 2 + misses * fitted**2
    return max(math.fsum(before - after) / int(rows.sum()), 0.0)


__all__ = [
    "CalibrationErrorEstimate", "CalibrationLine", "CalibrationTest", "CorpDiagram", "ReliabilityBin",
    "calibration_line", "corp_diagram", "expected_calibration_error", "spiegelhalter_test",
]  # fmt: skip
