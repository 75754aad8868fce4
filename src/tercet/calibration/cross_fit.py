"""Calibration and choice of a method on one set of trials: each trial is scored by a model that never saw it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tercet._numeric.validation import (
    chosen,
    column,
    flag,
    frozen,
    function,
    group_name,
    listed,
    names,
    seed_number,
    shown,
    whole,
)
from tercet._typing import JSON, Array, Facts
from tercet.application import Application, MulticlassApplication
from tercet.calibration.kernel_density import KernelDensity
from tercet.calibration.training import balanced_folds
from tercet.calibration.two_class import Gaussian, Isotonic, Threshold
from tercet.decision import confusion_of
from tercet.errors import CalibrationError, InputError
from tercet.metrics.confusion import Confusion
from tercet.metrics.costs import empirical_cross_entropy, log_loss
from tercet.metrics.min_risk import min_normalised_risk
from tercet.metrics.pairing import paired
from tercet.metrics.posteriors import check_every_class
from tercet.metrics.tally import Tally
from tercet.trials import Trials, as_trials

if TYPE_CHECKING:
    from tercet.calibration.fusion import Fusion
    from tercet.calibration.multiclass import Affine
    from tercet.calibration.two_class import Calibrator

Numbers = NDArray[np.intp]

SCHEMES = ("stratified", "plain", "interleaved")


Trained: TypeAlias = "Calibrator | Affine | Fusion"  # what a method's fit gives


class CrossFit(NamedTuple):
    """Scores given out of fold, the final model trained on everything, and each trial's fold.

    Attributes
    ----------
    scores : Trials
        The trials scored out of fold.
    model : calibrator
        The final model, trained on everything.
    folds : numpy.ndarray of int
        Each trial's fold.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_scores([-2.0, -2.0, 0.0, 0.0, 0.0, 0.0, 2.0, 2.0], [0, 0, 0, 0, 1, 1, 1, 1])
    >>> found = tc.cross_fit(tc.Gaussian, trials, folds=2, scheme="interleaved")
    >>> found.model([1.0]).tolist(), len(found.scores)
    ([2.0], 8)
    """

    scores: Trials
    model: Trained
    folds: Numbers


class TwoStep(NamedTuple):
    """A recognizer and its calibrator, both ready for new samples, and the calibrator's training scores.

    Attributes
    ----------
    recogniser : callable
        From samples to scores.
    calibrator : calibrator
        From scores to llrs or log-likelihoods.
    scores : Trials
        The scores that the calibrator was trained on.

    Examples
    --------
    >>> import numpy as np, tercet as tc
    >>> def train(samples, labels):
    ...     return lambda new: new[:, 0]
    >>> samples = np.array([[-2.0], [-2.0], [0.0], [0.0], [0.0], [0.0], [2.0], [2.0]])
    >>> both = tc.fit_recognizer_and_calibrator(train, tc.Gaussian, samples, [0, 0, 0, 0, 1, 1, 1, 1], folds=2)
    >>> both.calibrator(both.recogniser(np.array([[1.0]]))).tolist()
    [2.0]
    """

    recogniser: Callable[[Array], ArrayLike]
    calibrator: Calibrator | Affine
    scores: Trials


class Choice(NamedTuple):
    """One method at one training prior: its actual normalised cost and cross-entropy (bits) out of fold.

    Attributes
    ----------
    method : str
        The method's name.
    prior : float or None
        The training prior; None where it has none.
    dcf : float or None
        Actual normalised cost out of fold.
    cross_entropy : float or None
        Cross-entropy in bits, out of fold.
    reason : str or None
        Why it could not be trained or has no cross-entropy.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([-3.0, -1.0, 1.0, -1.0, 1.0, 3.0], [0, 0, 0, 1, 1, 1])
    >>> best = tc.select(trials, (0.5, 1, 1), methods=["gaussian"], folds=2, scheme="interleaved").best
    >>> best.method, round(best.dcf, 3)
    ('gaussian', 0.667)
    """

    method: str
    prior: object
    dcf: float | None
    cross_entropy: float | None
    reason: str | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Methods by actual cost at one application, the lowest first; those that could not be trained last.

    Attributes
    ----------
    rows : tuple of Choice
        The methods in order.
    min_dcf : float
        Minimum DCF of the scores as given.
    nested_dcf : float or None
        The cost of choosing in this way, by folds around the choice; None where it was not asked for or cannot be had.
    nested_reason : str or None
        Why it cannot be had.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([-3.0, -1.0, 1.0, -1.0, 1.0, 3.0], [0, 0, 0, 1, 1, 1])
    >>> ranking = tc.select(trials, (0.5, 1, 1), methods=["gaussian"], folds=2, scheme="interleaved")
    >>> len(ranking.rows), round(ranking.min_dcf, 3)
    (2, 0.667)
    """

    rows: tuple[Choice, ...]
    min_dcf: float
    nested_dcf: float | None = None  # the cost of choosing in this way; None where it was not asked for, or why not
    nested_reason: str | None = None

    @property
    def best(self) -> Choice:
        """The cheapest; its cost is too low by what the choice among the rows gains, `nested_dcf` is not."""
        return self.rows[0]

    def __str__(self) -> str:
        head = f"{'method':<16}{'prior':>10}{'dcf':>10}{'bits':>10}"
        body = [
            f"{shown(row.method)[1:-1]:<16}{_short(row.prior):>10}{_short(row.dcf):>10}{_short(row.cross_entropy):>10}"
            + (f"  {row.reason}" if row.reason else "")
            for row in self.rows
        ]
        nested = [] if self.nested_dcf is None else [f"{'(choice, nested)':<26}{_short(self.nested_dcf):>10}"]
        return "\n".join([head, *body, *nested, f"{'(minimum)':<26}{_short(self.min_dcf):>10}"])


def _short(value: object) -> str:
    return "-" if value is None else f"{value:.4f}" if isinstance(value, float) else "given"


def cross_fit(
    method: object,
    trials: Trials | Sequence[Trials],
    prior: object = None,
    *,
    folds: int = 5,
    by: str | None = None,
    scheme: str = "stratified",
    seed: int = 0,
    **options: object,
) -> CrossFit:
    """Calibrate each fold with a model trained on the others, and train the final model on everything.

    Parameters
    ----------
    method : calibrator class or callable
        Logistic, Isotonic, Gaussian, Beta, Offset, KernelDensity, Affine, Fusion (with a list of Trials), or any
        function(trials, prior=...) that returns a map.
    trials : Trials or sequence of Trials
        Labelled trials; one per system for Fusion.
    prior : float or array_like, optional
        The training prior, for methods that have one.
    folds : int, default 5
        Number of folds.
    by : str, optional
        A group, such as a speaker or patient, that is never on both sides.
    scheme : {"stratified", "plain", "interleaved"}, default "stratified"
        "stratified" distributes each class evenly over the folds, "plain" distributes all rows, both after a shuffle
        with the seed; "interleaved" uses the row number modulo the number of folds.
    seed : int, default 0
        Seed of the shuffle.
    **options
        Passed to the method's fit.

    Returns
    -------
    CrossFit
        `scores`: trials scored out of fold; `model`: trained on everything; `folds`: each trial's fold.

    Examples
    --------
    >>> from tercet.calibration.two_class import Gaussian
    >>> trials = Trials.of_scores([-2., -2., 0., 0., 0., 0., 2., 2.], [0, 0, 0, 0, 1, 1, 1, 1])
    >>> cross_fit(Gaussian, trials, folds=2, scheme="interleaved").scores.llr.tolist()    # llr = 2 s in either half
    [-4.0, -4.0, 0.0, 0.0, 0.0, 0.0, 4.0, 4.0]
    """
    systems = [trials] if isinstance(trials, Trials) else list(paired(listed(trials, "trials")).systems)
    numbers = fold_numbers(systems[0], folds, by=by, scheme=scheme, seed=seed)
    quality = options.pop("quality", None)
    measures = None if quality is None else column(quality, "quality")
    fit = _fitter(method, prior, options)

    def part(rows: Array | slice) -> tuple[Trials | list[Trials], JSON]:
        chosen = [one.select(rows) for one in systems]
        extra = {} if measures is None else {"quality": measures[rows]}
        return (chosen[0] if isinstance(trials, Trials) else chosen), extra

    outputs = []
    for fold in range(int(numbers.max()) + 1):
        given, extra = part(numbers != fold)
        model = fit(given, **extra)
        held, extra = part(numbers == fold)
        outputs.append(model(held, **extra))
    everything, extra = part(slice(None))
    return CrossFit(_pooled(systems[0], outputs, numbers), fit(everything, **extra), numbers)


def _fitter(method: object, prior: object, options: JSON) -> Callable[..., Any]:
    """The method's fit with its prior and options bound."""
    fit = getattr(method, "fit", method)
    if not callable(fit) or (isinstance(fit, type) and fit is method):
        raise InputError(f"method must be a calibrator class or a function that trains one, not {shown(method)}.")
    fixed = {} if prior is None else {"prior": prior}
    return lambda trials, **extra: function(fit(trials, **fixed, **options, **extra), "what method trains")


def _pooled(trials: Trials, outputs: list[Any], numbers: Numbers) -> Trials:
    """The folds' scores in the order of the trials."""
    if not all(isinstance(one, Trials) for one in outputs):
        raise InputError("cross_fit pools scores, and this method gives none: use select_calibrator for Threshold.")
    scores = np.empty((len(trials), *outputs[0].scores.shape[1:]))
    for fold, one in enumerate(outputs):
        scores[numbers == fold] = one.scores
    first = outputs[0]
    labels = trials.labels if first.is_matrix or trials.labels is None else frozen(trials.labels.astype(np.bool_))
    return replace(
        trials,
        scores=frozen(scores),
        labels=labels,
        meaning=first.meaning,
        classes=first.classes,
        trained_prior=first.trained_prior,
    )


def fold_numbers(
    trials: Trials, folds: int, *, by: str | None = None, scheme: str = "stratified", seed: int = 0
) -> Numbers:
    """Each trial's fold, 0 to folds - 1; every class is left in every training part.

    >>> fold_numbers(Trials.of_scores([1., 2., 3., 4.], [0, 1, 0, 1]), 3, scheme="interleaved").tolist()
    [0, 1, 2, 0]
    """
    labels = as_trials(trials).known_labels().astype(np.intp)
    folds = whole(folds, "folds", 2, 1_000_000)
    chosen(scheme, "scheme", SCHEMES)
    rng = np.random.default_rng(seed_number(seed))
    if by is not None:
        numbers = _by_group(trials, labels, int(folds), by, scheme, rng)
    else:
        if len(labels) < folds:
            raise InputError(f"There are {len(labels)} trials for {folds} folds: use fewer folds.")
        numbers = _dealt(labels, int(folds), scheme, rng)
    _check_training_parts(trials, labels, numbers, int(folds))
    return frozen(numbers)


def _dealt(labels: Numbers, folds: int, scheme: str, rng: np.random.Generator) -> Numbers:
    if scheme == "interleaved":
        return np.arange(len(labels)) % folds
    order = rng.permutation(len(labels))
    if scheme == "stratified":
        order = order[np.argsort(labels[order], kind="stable")]
    numbers = np.empty(len(labels), np.intp)
    numbers[order] = np.arange(len(labels)) % folds
    return numbers


def _by_group(trials: Trials, labels: Numbers, folds: int, by: str, scheme: str, rng: np.random.Generator) -> Numbers:
    values = trials.groups[group_name(by, trials.groups, "by")].tolist()
    ids = {value: number for number, value in enumerate(dict.fromkeys(values))}
    members = np.fromiter((ids[value] for value in values), np.intp, len(labels))
    if len(ids) < folds:
        raise InputError(f"There are {len(ids)} groups {shown(by)} for {folds} folds: use fewer folds.")
    if scheme == "interleaved":
        return members % folds
    if scheme == "plain":
        return rng.permutation(len(ids))[members] % folds
    counts = np.zeros((len(ids), len(trials.classes)))
    np.add.at(counts, (members, labels), 1.0)
    return balanced_folds(counts, folds, rng)[members]


def _check_training_parts(trials: Trials, labels: Numbers, numbers: Numbers, folds: int) -> None:
    table = np.zeros((folds, len(trials.classes)), np.intp)
    np.add.at(table, (numbers, labels), 1)
    check_every_class(table.sum(axis=0).tolist(), trials.classes)
    left = table.sum(axis=0) - table
    for fold, code in np.argwhere(left == 0):
        raise CalibrationError(
            f"Without fold {fold} there are no trials of class {shown(trials.classes[code])} to train on: use fewer "
            f"folds, or more trials or groups of that class."
        )
    if (empty := np.flatnonzero(table.sum(axis=1) == 0)).size:
        raise InputError(f"Fold {empty[0]} is empty: use fewer folds.")


def split(
    trials: Trials, shares: Sequence[int] = (2, 1), *, by: str | None = None, scheme: str = "stratified", seed: int = 0
) -> tuple[Trials, ...]:
    """Split trials into parts: (2, 1) to train and test, (2, 1, 1) to train, validate and test.

    The number of folds, made as in cross_fit, is the sum of the shares, and each part takes its share of them.

    Parameters
    ----------
    trials : Trials
        The trials.
    shares : sequence of int, default (2, 1)
        The share of each part; the number of folds is their sum.
    by : str, optional
        A group that is never in two parts.
    scheme : {"stratified", "plain", "interleaved"}, default "stratified"
        How folds are assigned, as in `cross_fit`.
    seed : int, default 0
        Seed of the shuffle.

    Returns
    -------
    tuple of Trials
        One part per share.

    Examples
    --------
    >>> parts = split(Trials.of_scores([1., 2., 3., 4., 5.], [0, 1, 0, 1, 0]), (2, 1), scheme="interleaved")
    >>> [part.scores.tolist() for part in parts]
    [[1.0, 2.0, 4.0, 5.0], [3.0]]
    """
    parts = [whole(share, "shares", 1, 1_000_000) for share in listed(shares, "shares")]
    if len(parts) < 2:
        raise InputError(f"shares must be whole numbers, two or more, such as (2, 1), not {shown(shares)}.")
    if sum(parts) > len(as_trials(trials)):
        raise InputError(f"shares={shown(shares)} sum to more than the {len(trials)} trials: use smaller ones.")
    numbers = fold_numbers(trials, sum(parts), by=by, scheme=scheme, seed=seed)
    ends = np.cumsum(parts)
    return tuple(
        trials.select((numbers >= end - share) & (numbers < end)) for end, share in zip(ends, parts, strict=True)
    )


def fit_recognizer_and_calibrator(
    train: Callable[[Array, Array], Callable[[Array], ArrayLike]],
    method: object,
    samples: ArrayLike,
    labels: object,
    prior: object = None,
    *,
    folds: int = 5,
    groups: object = None,
    scheme: str = "stratified",
    seed: int = 0,
    target: object = None,
    classes: Iterable[object] | None = None,
    **options: object,
) -> TwoStep:
    """Train a recognizer and a calibrator on one set of samples.

    Every sample is scored by a recognizer that did not see it (nor its group); the calibrator is trained on these
    pooled scores, the final recognizer on all samples.

    Parameters
    ----------
    train : callable
        ``train(samples, labels)`` returns a function from samples to scores: one number per sample for two classes, or
        log-likelihoods with one column per class.
    method : calibrator class or callable
        As `cross_fit` takes it.
    samples : array_like of shape (n, ...)
        One row per sample.
    labels : array_like of shape (n,)
        The class of each sample.
    prior : float or array_like, optional
        The calibrator's training prior.
    folds : int, default 5
        Number of folds.
    groups : array_like of shape (n,), optional
        The group of each sample; a group is never on both sides.
    scheme : {"stratified", "plain", "interleaved"}, default "stratified"
        How folds are assigned, as in `cross_fit`.
    seed : int, default 0
        Seed of the shuffle.
    target : object, optional
        The label of the target, for two classes.
    classes : iterable, optional
        Class names in the order of the columns, for log-likelihoods.
    **options
        Passed to the method's fit.

    Returns
    -------
    TwoStep
        `recogniser` and `calibrator` for new samples, and the `scores` that the calibrator was trained on.

    Examples
    --------
    >>> from tercet.calibration.two_class import Gaussian
    >>> def train(samples, labels):
    ...     return lambda new: new[:, 0]
    >>> samples = np.array([[-2.0], [-2.0], [0.0], [0.0], [0.0], [0.0], [2.0], [2.0]])
    >>> labels = [0, 0, 0, 0, 1, 1, 1, 1]
    >>> fit_recognizer_and_calibrator(train, Gaussian, samples, labels, folds=2).calibrator([1.0]).tolist()
    [2.0]
    """
    function(train, "train")
    rows = names(labels, "labels")
    texts = isinstance(samples, list | tuple) and all(isinstance(one, str) for one in samples)
    data = np.array(samples, object) if texts else column(samples, "samples")
    if data.ndim == 0 or len(data) != len(rows):
        raise InputError(f"samples has {data.size if data.ndim == 0 else len(data)} entries for {len(rows)} labels.")
    named = None if groups is None else {"group": groups}
    more: JSON = {"groups": named}
    final = function(train(data, rows), "what train returns")
    probe = column(final(data[:1]), "what train returns gives scores that")
    make: Callable[..., Trials] = Trials.of_log_likelihoods if probe.ndim == 2 else Trials.of_scores
    if probe.ndim == 2:
        more |= {"classes": classes, "orientation": "samples x classes"}
    elif classes is not None:
        raise InputError("classes names columns of log-likelihoods, and this recogniser gives one score: name target=.")
    else:
        more["target"] = target
    blank = make(np.zeros((len(rows), *probe.shape[1:])), labels, **more)
    numbers = fold_numbers(blank, folds, by=None if groups is None else "group", scheme=scheme, seed=seed)
    scores = np.empty(blank.scores.shape)
    for fold in range(int(numbers.max()) + 1):
        recogniser = train(data[numbers != fold], rows[numbers != fold])
        scores[numbers == fold] = recogniser(data[numbers == fold])
    pooled = make(scores, labels, **more)
    return TwoStep(final, _fitter(method, prior, options)(pooled), pooled)


def select_calibrator(
    methods: Facts | Sequence[object],
    priors: Sequence[object],
    trials: Trials,
    application: object,
    *,
    folds: int = 5,
    by: str | None = None,
    scheme: str = "stratified",
    seed: int = 0,
    nested: bool = True,
) -> Ranking:
    """Rank calibration methods by actual cost at an application under cross-fitting.

    The lowest of several estimated costs is biased downwards. `nested_dcf` estimates the cost of the whole selection:
    for each fold, the ranking is repeated on the others, and its best method decides the fold.

    Threshold is trained for the application itself; Isotonic, Gaussian and KernelDensity are the same for every prior
    and are listed once. Scores that are already llrs are ranked too, "as given".

    Parameters
    ----------
    methods : sequence of calibrator classes, or mapping
        Classes, or names with classes or training functions.
    priors : sequence of float
        Training priors to try.
    trials : Trials
        Labelled trials.
    application : Application, MulticlassApplication, tuple, float or str
        The operating point.
    folds : int, default 5
        Number of folds.
    by : str, optional
        A group that is never on both sides.
    scheme : {"stratified", "plain", "interleaved"}, default "stratified"
        How folds are assigned, as in `cross_fit`.
    seed : int, default 0
        Seed of the shuffle.
    nested : bool, default True
        Whether to estimate the cost of the selection with nested folds; this multiplies the time by the number of
        folds.

    Returns
    -------
    Ranking
        The methods with their costs, the lowest first, and the nested cost.

    References
    ----------
    Varma and Simon (2006), Bias in error estimation when using cross-validation for model selection,
    doi:10.1186/1471-2105-7-91.

    Examples
    --------
    >>> from tercet.calibration.two_class import Gaussian, Isotonic
    >>> trials = Trials.of_scores([-2.0, -2.0, 0.0, 0.0, 0.0, 0.0, 2.0, 2.0], [0, 0, 0, 0, 1, 1, 1, 1])
    >>> ranking = select_calibrator([Gaussian, Isotonic], [0.5], trials, 0.5, folds=2, scheme="interleaved")
    >>> len(ranking.rows), ranking.min_dcf
    (2, 0.5)
    """
    app = application if isinstance(application, MulticlassApplication) else Application.of(application)
    dealt = {"folds": folds, "by": by, "scheme": scheme, "seed": seed}
    candidates = _candidates(_named_methods(methods), listed(priors, "priors"))
    rows = _ranked(candidates, trials, app, dealt)
    least = min_normalised_risk(trials, app)
    if not flag(nested, "nested"):
        return Ranking(rows, least)
    try:
        return Ranking(rows, least, _nested_cost(candidates, trials, app, dealt))
    except (CalibrationError, InputError) as error:  # parts of parts may be too small
        return Ranking(rows, least, None, str(error).split(":")[0])


Candidate = tuple[str, object, object]  # the method's name, the method, its training prior


def _candidates(named: Facts, priors: Sequence[object]) -> list[Candidate]:
    """Every method with every prior that makes a difference to it."""
    found: list[Candidate] = []
    for name, method in named.items():
        alone = method is Threshold or _without_prior(method)
        found += [(name, method, prior) for prior in ([None] if alone else priors)]
    return found


def _ranked(
    candidates: Sequence[Candidate], trials: Trials, app: Application | MulticlassApplication, dealt: JSON
) -> tuple[Choice, ...]:
    """The candidates by held-out cost, and the scores as given where they are llrs."""
    numbers = fold_numbers(trials, **dealt)
    rows = [] if trials.meaning == "raw" else [_judged("as given", None, trials, app)]
    for name, method, prior in candidates:
        if method is Threshold:
            decided = _over_folds(trials, numbers, partial(_decided, (name, method, prior), app=app))
            rows.append(Choice(name, None, decided.normalised_risk(app), None))
            continue
        try:
            rows.append(_judged(name, prior, cross_fit(method, trials, prior, **dealt).scores, app))
        except CalibrationError as error:
            rows.append(Choice(name, prior, None, None, str(error).split(":")[0]))
    rows.sort(key=lambda row: (row.dcf is None, row.dcf, row.cross_entropy is None, row.cross_entropy))
    return tuple(rows)


def _nested_cost(
    candidates: Sequence[Candidate], trials: Trials, app: Application | MulticlassApplication, dealt: JSON
) -> float:
    """The cost when each fold is decided by the method that was best on the others."""
    numbers = fold_numbers(trials, **dealt)

    def table(rest: Trials, held: Trials) -> Confusion:
        best = _ranked(candidates, rest, app, dealt)[0]
        if best.dcf is None:
            raise CalibrationError("no method can be trained on the other folds")
        chosen_one = next((one for one in candidates if (one[0], one[2]) == (best.method, best.prior)), None)
        return _decided(chosen_one, rest, held, app)

    return _over_folds(trials, numbers, table).normalised_risk(app)


def _over_folds(trials: Trials, numbers: Numbers, table: Callable[[Trials, Trials], Confusion]) -> Confusion:
    """The sum of the tables that the other folds and each fold give."""
    folds = range(int(numbers.max()) + 1)
    return reduce(add, (table(trials.select(numbers != fold), trials.select(numbers == fold)) for fold in folds))


def _decided(candidate: Candidate | None, rest: Trials, held: Trials, app: object) -> Confusion:
    """The decisions on held-out trials of a method trained on the rest; None takes the scores as given."""
    if candidate is None:
        return confusion_of(held, app)
    _, method, prior = candidate
    if method is Threshold:
        classes = held.classes
        decided = np.asarray(Threshold.fit(rest, app)(held), np.int8)
        return Confusion._counted(decided, held.known_labels(), classes, classes, classes[1], held.weights)
    scored: Trials = _fitter(method, prior, {})(rest)(held)
    return confusion_of(scored, app)


def _without_prior(method: object) -> bool:
    """Whether a method, or the fit that was bound to settings, gives the same map for every prior."""
    maker = getattr(getattr(method, "func", method), "__self__", method)
    return maker in (Isotonic, Gaussian, KernelDensity)


def _named_methods(methods: object) -> Facts:
    """Methods by their names: a mapping as it is, calibrator classes by the name of their method."""
    if isinstance(methods, Mapping):
        return methods
    found = listed(methods, "methods")
    for one in found:
        if not isinstance(getattr(one, "method", None), str):
            raise InputError(f"methods must be calibrator classes, or a mapping of names to them, not {shown(one)}.")
    return {one.method: one for one in found}


def _judged(name: str, prior: object, scores: Trials, app: Application | MulticlassApplication) -> Choice:
    dcf = confusion_of(scores, app).normalised_risk(app)
    if isinstance(app, MulticlassApplication):
        return Choice(name, prior, dcf, log_loss(scores, app.prior))
    return Choice(name, prior, dcf, empirical_cross_entropy(Tally.of(scores), app.prior))
