"""Calibrators: maps from two-class scores to log-likelihood ratios, trained once, saved, and used for any application.

`Logistic`, `Isotonic` and `Gaussian` give llrs; `Threshold` only decides, for one application, and is the baseline
that they must beat. All are trained on the scores as given, whatever their meaning, and weights count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.exact import log_ratio, ratio
from tercet._numeric.matrices import check_posteriors, prior_vector
from tercet._numeric.newton import check_converged
from tercet._numeric.parallel import over_parts
from tercet._numeric.serialization import Model, damaged, finite, flag, real, reals, word
from tercet._numeric.validation import chosen, column, frozen, number, numbers, shown, text, whole
from tercet._numeric.validation import flag as truth
from tercet._typing import Counts, Facts, Floats
from tercet.application import Application
from tercet.calibration._logistic_sums import Ends, Moments, Standard
from tercet.calibration.training import (
    FACTS,
    HasTrainingData,
    check_finite,
    check_overlap,
    one_column,
    training_data,
    training_prior,
    two_classes,
)
from tercet.errors import CalibrationError, InputError
from tercet.metrics.curves import Hull, convex_vertices
from tercet.trials import Trials, logit, probability

Interpolation = Literal["step", "linear"]
_ROWS = 1 << 14  # rows at a time when a map is applied
_BUCKETS = 1 << 14  # of the table that finds a score's block


class Calibrator(Model):
    """A map from two-class scores to llrs: an array gives an array, Trials give Trials that mean llr.

    Examples
    --------
    >>> trials = Trials.of_scores([-2.0, -2.0, 0.0, 0.0, 0.0, 0.0, 2.0, 2.0], [0, 0, 0, 0, 1, 1, 1, 1])
    >>> calibrator = Gaussian.fit(trials)
    >>> isinstance(calibrator, Calibrator), calibrator([1.0]).tolist()    # llr = 2 s
    (True, [2.0])
    """

    __slots__ = ()

    @overload
    def __call__(self, scores: Trials) -> Trials: ...  # type: ignore[overload-overlap]
    @overload
    def __call__(self, scores: object) -> Floats: ...
    def __call__(self, scores: object) -> Trials | Floats:
        """The llrs of these scores; labels, weights, ids and groups are carried along."""
        if not isinstance(scores, Trials):
            return self._llr(numbers(scores, "scores"))
        trials = one_column(scores)
        check_meaning(trials, self.training)
        return replace(trials, scores=frozen(self._llr(trials.scores)), meaning="llr", trained_prior=None)

    def _llr(self, scores: Floats) -> Floats:
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Logistic(Calibrator):
    """Prior-weighted logistic regression: llr = slope x score + offset.

    Minimises sum_i xi_i ln(1 + e^(-z_i (a s_i + b))), xi = prior / targets or (1 - prior) / non-targets, z = +-1, and
    subtracts logit(prior) from b. The penalty, when given, adds penalty / 2 x (slope on standardised scores)^2.

    Attributes
    ----------
    slope : float
        Factor of the score.
    offset : float
        Added to slope x score.
    training : mapping
        What it was trained on: trials, prior, penalty, gradient norm, iterations.

    References
    ----------
    .. [1] N. Brümmer and J. du Preez, "Application-independent evaluation of speaker detection", Computer Speech and
       Language 20, 2006, 230-275, doi:10.1016/j.csl.2005.08.001.

    Examples
    --------
    >>> calibrator = Logistic.fit(Trials.of_scores([0., 0., 0., 0., 1., 1., 1., 1.], [0, 0, 0, 1, 0, 1, 1, 1]))
    >>> calibrator([0.0, 1.0]).round(4).tolist()    # three of four are right: -ln 3 and ln 3
    [-1.0986, 1.0986]
    """

    method = "logistic"
    _parameters: ClassVar = {"slope": finite, "offset": finite}
    _facts = (*FACTS, "prior", "penalty", "gradient_norm", "iterations")

    slope: float
    offset: float
    training: Facts = field(repr=False, hash=False)

    @classmethod
    def fit(cls, trials: Trials | HasTrainingData, prior: float = 0.5, *, penalty: float = 0.0) -> Logistic:
        """Trains on labelled two-class trials; separable ones have no finite solution without a penalty.

        Parameters
        ----------
        trials : Trials or Scan
            Labelled scores of two classes, of any meaning, finite.
        prior : float, optional
            The prior of the targets at which the cross-entropy is minimised.
        penalty : float, optional
            Ridge on the slope of the standardised scores.

        Returns
        -------
        Logistic
            The trained map.
        """
        share, ridge = training_prior(trials, prior), non_negative(penalty, "penalty")
        with training_data(trials) as data:
            check_finite(data.ends, "Logistic")
            standard = Standard.of(Moments.sum(data.moments()), data.ends.factor)
            if ridge == 0.0:
                check_overlap(data.ends)
            best = data.logistic_optimum(standard, share, ridge)
            facts = data.facts
        check_converged(best, "Logistic calibration")
        slope, offset = standard.back(*best.point)
        found = {"gradient_norm": best.gradient_norm, "iterations": best.iterations}
        return cls(slope, offset - logit(share), {**facts, "prior": share, "penalty": ridge, **found})

    def _llr(self, scores: Floats) -> Floats:
        return affine(scores, self.slope, self.offset)


@dataclass(frozen=True, slots=True, eq=False)
class Isotonic(Calibrator):
    """Pool adjacent violators: a step function of the score, the best of all monotone maps on the training trials.

    A score takes the llr of its block; between two blocks that of the upper one (block k holds the scores in
    (thresholds[k-1], thresholds[k]]), or with linear interpolation a value on the line from the end of the lower block
    to the start of the upper one. Outside the range of the training scores the map is constant. To keep every llr
    finite, `pseudo_errors` targets below all scores and as many non-targets above all scores are added; raw=True leaves
    them out.

    Attributes
    ----------
    thresholds : numpy.ndarray of float
        The largest score of each block but the last.
    llrs : numpy.ndarray of float
        The llr of each block.
    starts : numpy.ndarray of float
        The lowest score of each block but the first, for interpolation; empty for steps.
    training : mapping
        What it was trained on.

    References
    ----------
    .. [1] M. Ayer, H. D. Brunk, G. M. Ewing, W. T. Reid and E. Silverman, "An empirical distribution function for
       sampling with incomplete information", Annals of Mathematical Statistics 26, 1955, 641-647,
       doi:10.1214/aoms/1177728423.
    .. [2] B. Zadrozny and C. Elkan, "Transforming classifier scores into accurate multiclass probability estimates",
       Proc. KDD, 2002, 694-699, doi:10.1145/775047.775151.

    Examples
    --------
    >>> trials = Trials.of_scores([1., 2., 3., 4.], [0, 1, 0, 1])
    >>> Isotonic.fit(trials, raw=True)([0.0, 2.5, 9.0]).tolist()
    [-inf, 0.0, inf]
    >>> Isotonic.fit(trials)([0.0, 2.5, 9.0]).round(3).tolist()    # (1/3) / (1/3) everywhere
    [0.0, 0.0, 0.0]
    >>> steps = Trials.of_scores([0., 0., 0., 0., 1., 1., 1., 1.], [0, 0, 0, 1, 0, 1, 1, 1])
    >>> Isotonic.fit(steps, interpolation="linear")([0.0, 0.75, 1.0]).round(4).tolist()    # ends: +-ln((3/5) / (2/5))
    [-0.4055, 0.2027, 0.4055]
    """

    method = "isotonic"
    _parameters: ClassVar = {"thresholds": reals, "llrs": reals, "starts": reals}
    _facts = (*FACTS, "smoothing", "interpolation")

    thresholds: Floats
    llrs: Floats
    starts: Floats  # the lowest score of each block but the first, for interpolation; empty for steps
    training: Facts = field(repr=False, hash=False)

    def _check(self) -> None:
        if len(self.llrs) != len(self.thresholds) + 1:
            raise damaged("an isotonic map has one llr more than thresholds")
        if any((values[1:] <= values[:-1]).any() for values in (self.thresholds, self.llrs)):
            raise damaged("thresholds and llrs of an isotonic map must ascend")
        if len(self.starts) and (len(self.starts) != len(self.thresholds) or not _interpolable(self)):
            raise damaged(
                "an interpolated isotonic map needs one finite start per threshold, above it, and finite llrs"
            )

    @classmethod
    def fit(
        cls,
        trials: Trials | HasTrainingData,
        prior: float = 0.5,
        *,
        raw: bool = False,
        pseudo_errors: int = 1,
        interpolation: Interpolation = "step",
    ) -> Isotonic:
        """Trains on labelled two-class trials, infinite scores included; the map is the same for every prior.

        Parameters
        ----------
        trials : Trials or Scan
            Labelled scores of two classes, of any meaning.
        prior : float, optional
            Validated, but without effect on the map.
        raw : bool, optional
            Leave the ends as they are: the lowest and the highest llr may then be infinite. The same as
            `pseudo_errors=0`.
        pseudo_errors : int, optional
            How many targets below all scores, and non-targets above all scores, are added.
        interpolation : {"step", "linear"}, optional
            The map between two blocks: the llr of the upper one, or a line. Lines need trials in memory, finite scores
            and finite llrs.

        Returns
        -------
        Isotonic
            The trained map.
        """
        training_prior(trials, prior)
        errors = 0 if truth(raw, "raw") else whole(pseudo_errors, "pseudo_errors", 0, 1_000_000_000)
        linear = chosen(interpolation, "interpolation", ("step", "linear")) == "linear"
        with training_data(trials) as data:
            hull, unit = data.hull()
            steps = cls._of_hull(hull, data.facts, pseudo_errors=errors, unit=unit)
        return _with_lines(steps, trials) if linear else steps

    @classmethod
    def _of_hull(
        cls, hull: Hull, facts: Facts, *, raw: bool = False, pseudo_errors: int = 1, unit: int = 0
    ) -> Isotonic:
        """The map of a hull, whose segments are the blocks; its counts are in units of 2**unit trials."""
        thresholds, llrs, made_up = hull.thresholds, hull.llrs, 0 if raw else pseudo_errors
        if made_up:
            rejected = hull.nontargets - hull.false_alarms
            thresholds, llrs = _smoothed(thresholds, hull.misses, rejected, unit, made_up)
        known = {**facts, "smoothing": _smoothing(made_up), "interpolation": "step"}
        return cls(frozen(thresholds[1:-1].copy()), frozen(llrs), frozen(np.zeros(0)), known)

    def _llr(self, scores: Floats) -> Floats:
        if len(self.starts) == 0:
            return _stepped(self.thresholds, self.llrs, scores)
        places = np.stack((self.thresholds, self.starts), axis=1).ravel()
        return np.interp(scores, places, np.repeat(self.llrs, 2)[1:-1])


@dataclass(frozen=True, slots=True)
class Gaussian(Calibrator):
    """One Gaussian per class, by maximum likelihood: llr = ln N(s; target) - ln N(s; non-target).

    A shared variance makes the map affine. Separate variances make it quadratic: it turns at `turning_point`, beyond
    which the llr falls again as the score rises.

    Attributes
    ----------
    target_mean : float
        Mean of the targets.
    target_deviation : float
        Standard deviation of the targets.
    nontarget_mean : float
        Mean of the non-targets.
    nontarget_deviation : float
        Standard deviation of the non-targets.
    training : mapping
        What it was trained on.

    References
    ----------
    .. [1] D. A. van Leeuwen and N. Brümmer, "The distribution of calibrated likelihood-ratios in speaker recognition",
       Proc. Interspeech, 2013, 1619-1623.

    Examples
    --------
    >>> pair = Gaussian.fit(Trials.of_scores([-2., 0., 0., 2.], [0, 0, 1, 1]))
    >>> pair([0.0, 1.0]).tolist()    # means -1 and 1, variance 1: llr = 2 s
    [0.0, 2.0]
    """

    method = "gaussian"
    _parameters: ClassVar = {
        "target_mean": finite,
        "target_deviation": finite,
        "nontarget_mean": finite,
        "nontarget_deviation": finite,
    }
    _facts = (*FACTS, "shared_variance")

    target_mean: float
    target_deviation: float
    nontarget_mean: float
    nontarget_deviation: float
    training: Facts = field(repr=False, hash=False)

    def _check(self) -> None:
        if not (self.target_deviation > 0.0 and self.nontarget_deviation > 0.0):
            raise damaged("target_deviation and nontarget_deviation must be positive")
        (_, less), (more, at) = factors = self._factors
        if not np.isfinite([*factors[0], *factors[1], less * more, less * at]).all():
            raise CalibrationError(
                "The slope for Gaussians of such means and deviations is not a double: rescale the scores to ordinary "
                "numbers first."
            )

    @classmethod
    def fit(cls, trials: Trials | HasTrainingData, prior: float = 0.5, *, shared_variance: bool = True) -> Gaussian:
        """Trains on labelled two-class trials with finite scores; the map is the same for every prior.

        Parameters
        ----------
        trials : Trials or Scan
            Labelled scores of two classes, of any meaning, finite.
        prior : float, optional
            Validated, but without effect on the map.
        shared_variance : bool, optional
            One variance for both classes, which makes the map affine.

        Returns
        -------
        Gaussian
            The trained map.
        """
        training_prior(trials, prior)
        with training_data(trials) as data:
            check_finite(data.ends, "Gaussian")
            pair, factor, facts = data.moments(), data.ends.factor, data.facts
        shared_variance = truth(shared_variance, "shared_variance")
        variances = [one.variance for one in pair]
        if shared_variance:
            excess = max(max(one.weight for one in pair).bit_length() - 1000, 0)  # beyond the range of doubles
            weights = [ratio(one.weight, 1, excess) for one in pair]
            variances = [(weights[0] * variances[0] + weights[1] * variances[1]) / math.fsum(weights)] * 2
        deviations = [math.sqrt(variance) / factor for variance in variances]
        if not min(deviations) > 0.0:
            way_out = "use another method" if shared_variance else "share the variance (shared_variance=True)"
            raise CalibrationError(
                f"Gaussian calibration needs a positive variance (zero variance found), and within "
                f"{'each class' if shared_variance else 'a class'} all scores are equal: {way_out}."
            )
        known = {**facts, "shared_variance": bool(shared_variance)}
        return cls(pair[0].mean / factor, deviations[0], pair[1].mean / factor, deviations[1], known)

    @property
    def turning_point(self) -> float | None:
        """The score at which the map turns; None where it is affine."""
        (less, less_at), (more, more_at) = self._factors
        return None if less == 0.0 else -0.5 * (less_at / less + more_at / more)

    @property
    def _factors(self) -> tuple[tuple[float, float], tuple[float, float]]:
        """(z_F - z_T) and (z_F + z_T) as affine functions of the score, z = (s - mean) / deviation."""
        rise_t, rise_f = 1.0 / self.target_deviation, 1.0 / self.nontarget_deviation
        at_t, at_f = -self.target_mean * rise_t, -self.nontarget_mean * rise_f
        return (rise_f - rise_t, at_f - at_t), (rise_f + rise_t, at_f + at_t)

    def _llr(self, scores: Floats) -> Floats:
        # The difference of squares as a product: it neither cancels nor turns inf - inf.
        less, more = self._factors
        level = math.log(self.nontarget_deviation) - math.log(self.target_deviation)
        if less[0] == 0.0:
            return affine(scores, 0.5 * less[1] * more[0], 0.5 * less[1] * more[1])
        with np.errstate(over="ignore"):
            return np.asarray(0.5 * affine(scores, *less) * affine(scores, *more) + level)


@dataclass(frozen=True, slots=True)
class Threshold(Model):
    """The empirical minimum-cost threshold of one application; it gives decisions, but no llrs.

    Attributes
    ----------
    threshold : float
        Scores above it are accepted.
    accept_all : bool
        Whether everything is accepted, -inf too.
    training : mapping
        What it was trained on, and for which application.

    Examples
    --------
    >>> rule = Threshold.fit(Trials.of_scores([1., 2., 3., 4.], [0, 1, 0, 1]), (0.5, 1, 1))
    >>> rule.threshold, rule([1.0, 1.5]).tolist()
    (1.0, [0, 1])
    """

    method = "threshold"
    _parameters: ClassVar = {"threshold": real, "accept_all": flag}
    _facts = (*FACTS, "application")

    threshold: float
    accept_all: bool
    training: Facts = field(repr=False, hash=False)

    @classmethod
    def fit(cls, trials: Trials | HasTrainingData, application: object) -> Threshold:
        """The lowest threshold of least cost on labelled two-class trials, infinite scores included.

        Parameters
        ----------
        trials : Trials or Scan
            Labelled two-class trials.
        application : Application, tuple, float or str
            The operating point.

        Returns
        -------
        Threshold
            The lowest threshold of least cost.

        Examples
        --------
        >>> Threshold.fit(Trials.of_scores([1.0, 2.0, 3.0], [0, 1, 1]), 0.5).threshold
        1.0
        """
        app = Application.of(application)
        app.check_normaliser()
        with training_data(trials) as data:
            hull, _ = data.hull()
            facts = data.facts | {"application": [app.prior, app.cost_fn, app.cost_fp]}
        _, threshold, misses, alarms = hull.minimum(np.array([app.log_odds]), np.array([app.factor]))
        everything = misses.item() == 0 and alarms.item() == hull.nontargets
        return cls(threshold.item(), everything, facts)

    def __call__(self, scores: object) -> NDArray[np.int8]:
        """1 where the score is above the threshold, else 0."""
        if isinstance(scores, Trials):
            check_meaning(one_column(scores), self.training)
            scores = one_column(scores).scores
        return ((numbers(scores, "scores") > self.threshold) | self.accept_all).astype(np.int8)


def shift_prior(values: object, from_prior: object, to_prior: object, *, meaning: str) -> Floats:
    """Posteriors or log-odds as they would be at another prior.

    logit(to) - logit(from) is added to log-odds; posteriors are multiplied by to / from, class by class, and normalised
    to sum to one. Posteriors may be those of the target alone, or one column per class.

    Parameters
    ----------
    values : array_like of shape (n,) or (n, K)
        Posteriors of the target, posteriors with one column per class, or log-odds.
    from_prior : float or array_like of shape (K,)
        The prior that they were made with.
    to_prior : float or array_like of shape (K,)
        The prior to move to.
    meaning : {"posterior", "log-odds"}
        What the values are.

    Returns
    -------
    numpy.ndarray of float
        The moved values, of the same shape.

    Examples
    --------
    >>> shift_prior([0.5], 0.5, 0.1, meaning="posterior").tolist()
    [0.1]
    >>> shift_prior([[0.2, 0.8]], [0.5, 0.5], [0.8, 0.2], meaning="posterior").tolist()
    [[0.5, 0.5]]
    """
    chosen(meaning, "meaning", ("posterior", "log-odds"))
    array = numbers(values, "values", ndim=2 if meaning == "posterior" and column(from_prior, "from_prior").ndim else 1)
    if array.ndim == 2:
        return _shift_rows(array, *(prior_vector(p, array.shape[1], n) for p, n in _named(from_prior, to_prior)))
    before, after = (probability(p, n) for p, n in _named(from_prior, to_prior))
    if meaning == "log-odds":
        return array + (logit(after) - logit(before))
    if len(bad := np.flatnonzero((array < 0.0) | (array > 1.0))):
        raise InputError(f"values that are posteriors must lie in 0..1: row {bad[0]} holds {array[bad[0]]}.")
    pairs = _shift_rows(np.stack((1.0 - array, array), axis=1), *(np.array([1.0 - p, p]) for p in (before, after)))
    return np.ascontiguousarray(pairs[:, 1])


def _named(from_prior: object, to_prior: object) -> tuple[tuple[object, str], tuple[object, str]]:
    return (from_prior, "from_prior"), (to_prior, "to_prior")


def _shift_rows(rows: Floats, before: Floats, after: Floats) -> Floats:
    check_posteriors(rows)
    moved: Floats = rows * (after / before)
    return np.asarray(moved / moved.sum(axis=1, keepdims=True))


# --- What every fit asks of its trials ---


def check_meaning(trials: Trials, training: Facts) -> None:
    """Refuses scores of another known meaning than the model was trained on; raw fits anything."""
    trained = (training["meaning"], training["trained_prior"])
    given = (trials.meaning, trials.trained_prior)
    if "raw" not in (trained[0], given[0]) and trained != given:
        raise InputError(
            f"The model was trained on scores that are {_meant(*trained)}, these are {_meant(*given)}: convert them "
            f"first, or pass them as raw scores."
        )


def _meant(meaning: object, trained_prior: object) -> str:
    return f"{meaning}" if trained_prior is None else f"{meaning} (trained prior {trained_prior})"


def non_negative(value: object, name: str) -> float:
    """A number that is not negative, and so small that its products with sums of squares are finite."""
    found = number(value, name)
    if not 0.0 <= found <= 1e100:
        raise InputError(f"{name} must be a number from 0 to 1e100, not {found}.")
    return found


# --- Applying ---


def affine(scores: Floats, slope: float, offset: float) -> Floats:
    """slope x score + offset; a slope of 0 gives every score the same llr, infinite ones too."""
    if slope == 0.0:
        return np.full(len(scores), offset)
    result = np.empty(len(scores))

    def fill(part: slice) -> None:
        with np.errstate(over="ignore"):  # set here, because a thread does not inherit the caller's settings
            for start in range(part.start, part.stop, _ROWS):
                rows = slice(start, min(start + _ROWS, part.stop))
                np.multiply(scores[rows], slope, out=result[rows])
                result[rows] += offset

    over_parts(fill, len(scores))
    return result


def _smoothing(errors: int) -> str:
    return {0: "none", 1: "one added error per class"}.get(errors, f"{errors} added errors per class")


def _interpolable(steps: Isotonic) -> bool:
    """Whether lines can be drawn: every start lies above its threshold, at most at the next, and all is finite."""
    ends, starts = steps.thresholds, steps.starts
    finite_all = all(np.isfinite(values).all() for values in (ends, starts, steps.llrs))
    return bool(finite_all and (starts > ends).all() and (starts[:-1] <= ends[1:]).all())


def _with_lines(steps: Isotonic, trials: object) -> Isotonic:
    """The same blocks, with a line from the end of each to the start of the next."""
    if not isinstance(trials, Trials):
        raise InputError("interpolation='linear' needs the scores in memory: read them, or use interpolation='step'.")
    tally = two_classes(trials)
    check_finite(Ends.of(tally), "Interpolated isotonic")
    if not np.isfinite(steps.llrs).all():
        raise CalibrationError(
            "Lines cannot be drawn to infinite llrs: add errors at the ends (pseudo_errors=1), or use "
            "interpolation='step'."
        )
    nexts = [next_above(side.scores, steps.thresholds) for side in (tally.targets, tally.nontargets)]
    known = {**steps.training, "interpolation": "linear"}
    return replace(steps, starts=frozen(np.minimum(*nexts)), training=known)


def next_above(scores: Floats, thresholds: Floats) -> Floats:
    """The lowest score above each threshold; inf where there is none."""
    return np.append(scores, math.inf)[np.searchsorted(scores, thresholds, "right")]


def _smoothed(
    thresholds: Floats, misses: Counts, rejected: Counts, unit: int, errors: int = 1
) -> tuple[Floats, Floats]:
    """The hull with targets below and non-targets above all scores: its vertices' thresholds and its llrs.

    Blocks of PAV stay together when trials are added at the ends, so the hull of the hull is enough.
    """
    one, scale = errors << max(-unit, 0), 1 << max(unit, 0)  # the errors, in the tally's unit or a finer one
    y, x = (column.astype(object) * scale for column in (misses, rejected))
    y = np.concatenate(([0], y + one, [y[-1] + one]))
    x = np.concatenate(([0], x, [x[-1] + one]))
    kept = convex_vertices(x, y, int(x[-1] * y[-1]) + 2**62)  # so large that Python's integers are used
    blocks = zip(np.diff(y[kept]), np.diff(x[kept]), strict=True)
    llrs = np.array([log_ratio(t * x[-1], n * y[-1]) for t, n in blocks])
    return np.concatenate(([-math.inf], thresholds, [math.inf]))[kept], llrs


def _stepped(thresholds: Floats, llrs: Floats, scores: Floats) -> Floats:
    """llrs[k], k = the number of thresholds below the score, by a table over equal buckets of scores.

    A threshold in a lower bucket is below the score, one in a higher bucket is not; in the score's own bucket it is
    compared. Scores in buckets with several thresholds are searched.
    """
    ends = thresholds[np.isfinite(thresholds)]
    width = float(ends[-1] - ends[0]) if len(ends) > 1 else 0.0
    if len(scores) < _ROWS or not 0.0 < width < math.inf or not math.isfinite(_BUCKETS / width):
        return np.asarray(llrs[np.searchsorted(thresholds, scores)])
    low, rise = float(ends[0]), (_BUCKETS - 1) / width
    edges = np.searchsorted(_buckets(thresholds, low, rise), np.arange(_BUCKETS + 1))
    first, several = edges[:-1], np.diff(edges) > 1
    border = np.append(thresholds, math.inf)[first]
    sides = np.stack((llrs[first], llrs[np.minimum(first + 1, len(thresholds))]), axis=1)
    sides[several] = math.nan  # to be searched
    table, result = sides.ravel(), np.empty(len(scores))

    def fill(part: slice) -> None:
        for start in range(part.start, part.stop, _ROWS):
            rows = slice(start, min(start + _ROWS, part.stop))
            score, found = scores[rows], result[rows]
            bucket = _buckets(score, low, rise)
            above = score > border.take(bucket)
            bucket += bucket
            bucket += above
            table.take(bucket, out=found, mode="clip")
            again = np.flatnonzero(np.isnan(found))
            if len(again):
                found[again] = llrs[np.searchsorted(thresholds, score[again])]

    over_parts(fill, len(scores))
    return result


def _buckets(scores: Floats, low: float, rise: float) -> NDArray[np.intp]:
    """A number from 0 to _BUCKETS - 1 that never falls as the score rises."""
    with np.errstate(over="ignore"):
        scaled = scores - low
        scaled *= rise
    np.clip(scaled, 0.0, _BUCKETS - 1.0, out=scaled)
    return scaled.astype(np.intp)


@dataclass(frozen=True, slots=True)
class Bounded(Calibrator):
    """A calibrator's llrs, held between the logarithms of a lower and an upper likelihood ratio.

    Attributes
    ----------
    calibrator : str
        The calibrator, as its JSON text.
    lower, upper : float
        Bounds of the likelihood ratio, 0 < lower <= 1 <= upper.
    bounds_method : str
        How they were found: "elub", "iv", or "given".
    training : mapping
        Facts of the calibrator's training.

    Examples
    --------
    >>> from tercet import Trials
    >>> from tercet.calibration.two_class import Gaussian
    >>> pair = Gaussian.fit(Trials.of_scores([-2., 0., 0., 2.], [0, 0, 1, 1]))    # llr = 2 s
    >>> Bounded.of(pair, 0.1, 100)([-5.0, 1.0, 5.0]).round(4).tolist()    # ln 0.1 and ln 100
    [-2.3026, 2.0, 4.6052]
    """

    method = "bounded"
    _parameters: ClassVar = {"calibrator": word, "lower": finite, "upper": finite, "bounds_method": word}
    _facts = FACTS

    calibrator: str = field(repr=False)
    lower: float
    upper: float
    bounds_method: str
    training: Facts = field(repr=False, hash=False)

    @classmethod
    def of(cls, calibrator: Calibrator, lower: float, upper: float, bounds_method: str = "given") -> Bounded:
        """A trained calibrator with bounds of its likelihood ratios.

        Parameters
        ----------
        calibrator : Calibrator
            The map whose llrs are held.
        lower, upper : float
            Bounds of the likelihood ratio, positive and finite, lower <= 1 <= upper.
        bounds_method : str, optional
            How they were found.

        Returns
        -------
        Bounded
        """
        if not isinstance(calibrator, Model) or "targets" not in calibrator.training:
            raise InputError(f"calibrator must be a trained two-class calibrator, not {shown(calibrator)}.")
        text(bounds_method, "bounds_method")
        low, high = number(lower, "lower"), number(upper, "upper")
        if not 0.0 < low <= 1.0 <= high < math.inf:
            raise InputError(f"lower and upper must be LRs with 0 < lower <= 1 <= upper < inf, not {low} and {high}.")
        return cls(
            calibrator.to_json(), low, high, bounds_method, {key: calibrator.training[key] for key in cls._facts}
        )

    def _check(self) -> None:
        if not 0.0 < self.lower <= 1.0 <= self.upper < math.inf:
            raise damaged("bounds must be positive, the lower at most 1 and the upper at least 1")

    def _llr(self, scores: Floats) -> Floats:
        from tercet.calibration.fusion import load_model

        inner = load_model(self.calibrator)
        return np.asarray(np.clip(inner(scores), math.log(self.lower), math.log(self.upper)))


__all__ = ["Bounded", "Calibrator", "Gaussian", "Isotonic", "Logistic", "Threshold", "shift_prior"]
