"""Calibrators by name, and the steps of the command line as functions: calibrate, fuse and select."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from tercet._numeric.validation import chosen, listed, text
from tercet._typing import JSON
from tercet.application import Application, MulticlassApplication
from tercet.calibration.beta import Beta, Offset
from tercet.calibration.cross_fit import CrossFit, Ranking, cross_fit, select_calibrator
from tercet.calibration.fusion import Fusion
from tercet.calibration.kernel_density import KernelDensity
from tercet.calibration.multiclass import Affine
from tercet.calibration.two_class import Gaussian, Isotonic, Logistic
from tercet.errors import InputError
from tercet.trials import Trials, as_trials

_METHODS: dict[str, tuple[Any, JSON]] = {
    "logistic": (Logistic, {}),
    "isotonic": (Isotonic, {}),
    "isotonic-linear": (Isotonic, {"interpolation": "linear"}),
    "gaussian": (Gaussian, {"shared_variance": True}),
    "gaussian-own-variances": (Gaussian, {"shared_variance": False}),
    "beta": (Beta, {}),
    "offset": (Offset, {}),
    "kernel-density": (KernelDensity, {}),
    "affine": (Affine, {"kind": "offsets"}),
    "temperature": (Affine, {"kind": "temperature"}),
    "scale": (Affine, {"kind": "scale"}),
    "matrix": (Affine, {"kind": "matrix"}),
}
METHODS = tuple(_METHODS)
CLASS_METHODS = tuple(name for name, (maker, _) in _METHODS.items() if maker is Affine)
TWO_CLASS_METHODS = tuple(name for name in METHODS if name not in CLASS_METHODS)
DEFAULT_METHODS = ("logistic", "isotonic", "gaussian")  # which select tries
DEFAULT_CLASS_METHODS = ("affine", "temperature", "matrix")
PRIOR_FREE = tuple(name for name, (maker, _) in _METHODS.items() if maker in (Isotonic, Gaussian, KernelDensity))
PENALISED = ("logistic", "beta", *CLASS_METHODS)


def method_of(name: object, known: tuple[str, ...] = METHODS) -> tuple[Any, JSON]:
    """A calibrator's class and its settings, by its name.

    >>> method_of("temperature")[1]
    {'kind': 'temperature'}
    """
    maker, settings = _METHODS[chosen(name, "method", known)]
    return maker, dict(settings)


def _settings(name: str, penalty: float | None, known: tuple[str, ...] = METHODS) -> tuple[Any, JSON]:
    """A calibrator's class and settings, with a penalty where it takes one."""
    maker, settings = method_of(name, known)
    if penalty is None:
        return maker, settings
    if name not in PENALISED:
        raise InputError(f"penalty= cannot be combined with method={name!r}; it is for {', '.join(PENALISED)}.")
    return maker, settings | {"penalty": penalty}


def calibrate(
    trials: Trials,
    method: str = "logistic",
    prior: object = None,
    *,
    penalty: float | None = None,
    folds: int = 5,
    by: str | None = None,
    scheme: str = "stratified",
    seed: int = 0,
) -> CrossFit:
    """Train a calibrator by name, and score every trial with one that was trained without it: `tercet calibrate fit`.

    Parameters
    ----------
    trials : Trials
        Labelled trials.
    method : str, default "logistic"
        "logistic", "isotonic", "isotonic-linear", "gaussian", "gaussian-own-variances", "beta", "offset" and
        "kernel-density" for two classes; "affine", "temperature", "scale" and "matrix" for any number.
    prior : float or array_like, optional
        The prior to train for; 0.5, or equal class priors, unless given.
    penalty : float, optional
        Penalty of the methods that are regressions.
    folds : int, default 5
        Number of folds.
    by : str, optional
        A group that is never on both sides of a fold.
    scheme : {"stratified", "plain", "interleaved"}, default "stratified"
        How trials are assigned to folds, as in `cross_fit`.
    seed : int, default 0
        Seed of the shuffle.

    Returns
    -------
    CrossFit
        `model`: trained on everything; `scores`: calibrated out of fold; `folds`: each trial's fold.

    Examples
    --------
    >>> trials = Trials.of_scores([-2., -2., 0., 0., 0., 0., 2., 2.], [0, 0, 0, 0, 1, 1, 1, 1])
    >>> calibrate(trials, "gaussian", folds=2, scheme="interleaved").model([1.0]).tolist()    # llr = 2 s
    [2.0]
    """
    maker, settings = _settings(method, penalty)
    return cross_fit(maker, as_trials(trials), prior, folds=folds, by=by, scheme=scheme, seed=seed, **settings)


def fuse(
    systems: Sequence[Trials],
    prior: object = None,
    *,
    penalty: float = 0.0,
    folds: int = 5,
    by: str | None = None,
    scheme: str = "stratified",
    seed: int = 0,
) -> CrossFit:
    """Combine the scores of several systems for the same trials into one: `tercet fuse`.

    Parameters
    ----------
    systems : sequence of Trials
        The same labelled trials scored by each system, matched by id where they have ids.
    prior : float or array_like, optional
        The prior to train for; equal classes unless given.
    penalty : float, default 0
        Weight of the squared weights of the standardised scores.
    folds : int, default 5
        Number of folds.
    by : str, optional
        A group that is never on both sides of a fold.
    scheme : {"stratified", "plain", "interleaved"}, default "stratified"
        How trials are assigned to folds, as in `cross_fit`.
    seed : int, default 0
        Seed of the shuffle.

    Returns
    -------
    CrossFit
        `model`: the Fusion trained on everything; `scores`: fused out of fold; `folds`: each trial's fold.

    Examples
    --------
    >>> a = Trials.of_scores([0., 1., 1., 2., 0., 2., 1., 0.], [0, 1, 0, 1, 1, 0, 1, 0])
    >>> b = Trials.of_scores([0., 1., 1., 2., 2., 0., 1., 1.], [0, 1, 0, 1, 1, 0, 1, 0])
    >>> len(fuse([a, b], penalty=0.1, folds=2).model.weights)
    2
    """
    given = [as_trials(one, "systems") for one in listed(systems, "systems")]
    return cross_fit(Fusion, given, prior, folds=folds, by=by, scheme=scheme, seed=seed, penalty=penalty)


def select(
    trials: Trials,
    application: object,
    *,
    methods: Sequence[str] | None = None,
    priors: Sequence[object] | None = None,
    penalty: float | None = None,
    folds: int = 5,
    by: str | None = None,
    scheme: str = "stratified",
    seed: int = 0,
    nested: bool = True,
) -> Ranking:
    """Rank calibrators and training priors by their held-out cost at one operating point: `tercet select`.

    Parameters
    ----------
    trials : Trials
        Labelled trials.
    application : Application, triple, name or MulticlassApplication
        The operating point.
    methods : sequence of str, optional
        Names as in `calibrate`; "logistic", "isotonic" and "gaussian" for two classes and "affine", "temperature" and
        "matrix" for more unless given.
    priors : sequence, optional
        Priors to train for; that of the operating point unless given.
    penalty : float, optional
        Penalty of the methods that are regressions; the others are tried without one.
    folds : int, default 5
        Number of folds.
    by : str, optional
        A group that is never on both sides of a fold.
    scheme : {"stratified", "plain", "interleaved"}, default "stratified"
        How trials are assigned to folds, as in `cross_fit`.
    seed : int, default 0
        Seed of the shuffle.
    nested : bool, default True
        Whether to estimate the cost of the whole selection too, as in `select_calibrator`.

    Returns
    -------
    Ranking
        The cheapest first; `best` is the first row.

    Examples
    --------
    >>> trials = Trials.of_llr([-3., -1., 1., -1., 1., 3.], [0, 0, 0, 1, 1, 1])
    >>> best = select(trials, (0.5, 1, 1), methods=["gaussian"], folds=2, scheme="interleaved").best
    >>> best.method, round(best.dcf, 3)
    ('gaussian', 0.667)
    """
    app = application if isinstance(application, MulticlassApplication) else Application.of(application)
    usual = DEFAULT_CLASS_METHODS if as_trials(trials).is_matrix else DEFAULT_METHODS
    tried = {}
    for name in usual if methods is None else listed(methods, "methods"):
        maker, settings = _settings(name, penalty if text(name, "methods") in PENALISED else None)
        tried[name] = partial(maker.fit, **settings) if settings else maker
    own = [app.prior.tolist()] if isinstance(app, MulticlassApplication) else [app.effective_prior]
    training = own if priors is None else listed(priors, "priors")
    return select_calibrator(tried, training, trials, app, folds=folds, by=by, scheme=scheme, seed=seed, nested=nested)
