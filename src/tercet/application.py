"""Application: one use of the scores, described by its priors and costs. The decision threshold is defined here."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from numbers import Real
from typing import Any, TypeAlias

import numpy as np

from tercet._numeric.matrices import class_names, prior_vector
from tercet._numeric.records import Record, check_fields, derived
from tercet._numeric.validation import (
    frozen,
    instance,
    label_list,
    not_negative,
    number,
    numbers,
    rate,
    shown,
    some,
    text,
    whole,
)
from tercet._numeric.validation import listed as entries
from tercet._typing import Floats, Reals
from tercet._views import Shown
from tercet.errors import InputError, UndefinedError
from tercet.trials import logit, probability

MAX_CELLS = 25_000_000  # 5,000 classes squared, 200 MB; beyond it a dense table is a mistake
NO_NORMALISER = (
    "A normalised cost does not exist when one kind of error is free: the best dummy costs 0. "
    "Use the un-normalised dcf_u."
)

# Operating points of public evaluations: name -> (prior, C_fn, C_fp, source). An evaluation with two points
# averages their normalised costs.
_NAMED: dict[str, tuple[float, float, float, str]] = {
    "sre08": (0.01, 10, 1, "NIST speaker recognition evaluations 1998-2008"),
    "sre10": (0.001, 1, 1, "NIST SRE 2010, core condition"),
    "sre12-a": (0.01, 1, 1, "NIST SRE 2012, first of two points"),
    "sre12-b": (0.001, 1, 1, "NIST SRE 2012, second of two points"),
    "sre16-a": (0.01, 1, 1, "NIST SRE 2016, first of two points"),
    "sre16-b": (0.005, 1, 1, "NIST SRE 2016, second of two points"),
    "sre18-cmn2-a": (0.01, 1, 1, "NIST SRE 2018, telephone (CMN2) trials, first of two points"),
    "sre18-cmn2-b": (0.005, 1, 1, "NIST SRE 2018, telephone (CMN2) trials, second of two points"),
    "sre18-vast": (0.05, 1, 1, "NIST SRE 2018, video (VAST) trials"),
    "sre19-av": (0.05, 1, 1, "NIST SRE 2019, audio-visual part"),
    "sre21-a": (0.01, 1, 1, "NIST SRE 2021, first of two points, as in the Hyperion toolkit's recipe"),
    "sre21-b": (0.05, 1, 1, "NIST SRE 2021, second of two points, as in the Hyperion toolkit's recipe"),
    "voxsrc": (0.05, 1, 1, "VoxCeleb Speaker Recognition Challenge 2020-2023"),
    "voxceleb": (0.01, 1, 1, "VoxCeleb papers, by custom"),
    "asvspoof5-track1": (0.95, 1, 10, "ASVspoof 5, track 1; bona fide speech is the target; organisers' package"),
}

# Evaluations whose primary cost is the mean over several points.
_MEANS: dict[str, tuple[str, ...]] = {
    "sre12": ("sre12-a", "sre12-b"),
    "sre16": ("sre16-a", "sre16-b"),
    "sre18-cmn2": ("sre18-cmn2-a", "sre18-cmn2-b"),
    "sre21": ("sre21-a", "sre21-b"),
}


@dataclass(frozen=True, slots=True)
class Application(Shown):
    """A two-class operating point: prior of the target, cost of a miss, cost of a false alarm.

    Decide the target if and only if llr > threshold = -tau, tau = logit(prior) + ln C_fn - ln C_fp.

    Parameters
    ----------
    prior : float
        Probability of the target, above 0 and below 1.
    cost_fn : float, default 1.0
        Cost of a miss (a target rejected): finite and not negative.
    cost_fp : float, default 1.0
        Cost of a false alarm (a non-target accepted): finite and not negative.
    name : str, optional
        A name to print in tables.

    References
    ----------
    .. [1] N. Brümmer and J. du Preez, "Application-independent evaluation of speaker detection", Computer Speech and
       Language 20, 2006, 230-275, doi:10.1016/j.csl.2005.08.001.

    Examples
    --------
    >>> Application(0.01, 50, 1).effective_prior
    0.33557046979865773
    """

    prior: float
    cost_fn: float = 1.0
    cost_fp: float = 1.0
    name: str | None = None

    def __post_init__(self) -> None:
        if self.name is not None:
            text(self.name, "name")
        object.__setattr__(self, "prior", probability(self.prior, "prior"))
        for cost in ("cost_fn", "cost_fp"):
            object.__setattr__(self, cost, _one_cost(getattr(self, cost), cost))
        if self.cost_fn == 0.0 and self.cost_fp == 0.0:
            raise InputError("cost_fn and cost_fp are both 0: then every decision is free and none is better.")

    @classmethod
    def of(cls, value: object) -> Application:
        """Take an application in any of its forms.

        Parameters
        ----------
        value : Application, tuple, float or str
            An application, a triple (prior, cost_fn, cost_fp), a bare prior or the name of a public operating point.

        Returns
        -------
        Application
            The operating point.

        Examples
        --------
        >>> Application.of(0.5).threshold, Application.of("sre08").cost_fn
        (0.0, 10.0)
        """
        if isinstance(value, Application):
            return value
        if isinstance(value, str):
            return cls.named(value)
        row = isinstance(value, tuple | list) or (isinstance(value, np.ndarray) and value.ndim == 1)
        if row and len(value) == 3:  # type: ignore[arg-type]
            return cls(*value)  # type: ignore[misc]
        if isinstance(value, Real | Decimal) and not isinstance(value, bool | np.bool_):
            return cls(value)  # type: ignore[arg-type]
        raise InputError(
            f"application must be (prior, cost_fn, cost_fp), a name, a prior or an Application, not {shown(value)}."
        )

    @classmethod
    def named(cls, name: str) -> Application:
        """An operating point of a public evaluation.

        Parameters
        ----------
        name : str
            One of `Application.names()`.

        Returns
        -------
        Application
            The operating point, with its name.

        Examples
        --------
        >>> Application.named("sre08")
        Application(prior=0.01, cost_fn=10.0, cost_fp=1.0, name='sre08')
        """
        if not isinstance(name, str) or name not in _NAMED:
            raise InputError(f"name={shown(name)} is not a known operating point. Known: {', '.join(_NAMED)}.")
        prior, cost_fn, cost_fp, _ = _NAMED[name]
        return cls(prior, cost_fn, cost_fp, name)

    @staticmethod
    def names() -> dict[str, str]:
        """Every named operating point with its source.

        Returns
        -------
        dict of str to str
            The source by name.

        Examples
        --------
        >>> len(Application.names()["sre08"]) > 0
        True
        """
        return {name: source for name, (*_, source) in _NAMED.items()}

    @classmethod
    def mean(cls, applications: Sequence[object] | str, name: str | None = None) -> ApplicationMean:
        """Several operating points whose normalised costs are averaged, as NIST's C_primary is.

        Parameters
        ----------
        applications : sequence, or str
            Operating points in any form that `of` takes, or the name of an evaluation that averages: "sre12", "sre16",
            "sre18-cmn2", "sre21".
        name : str, optional
            A name for the mean.

        Returns
        -------
        ApplicationMean
            The operating points, in order.

        Examples
        --------
        >>> [app.prior for app in Application.mean("sre16").applications]
        [0.01, 0.005]
        """
        if isinstance(applications, str):
            if applications not in _MEANS:
                raise InputError(f"applications={shown(applications)} is not a known mean. Known: {', '.join(_MEANS)}.")
            return ApplicationMean(tuple(map(cls.named, _MEANS[applications])), applications)
        points = tuple(map(cls.of, entries(applications, "applications")))
        if not points:
            raise InputError("A mean needs at least one operating point.")
        return ApplicationMean(points, None if name is None else text(name, "name"))

    @staticmethod
    def means() -> dict[str, tuple[str, ...]]:
        """Evaluations whose primary cost is a mean, with the names of its points.

        Returns
        -------
        dict of str to tuple
            The names of the operating points by the name of the mean.

        Examples
        --------
        >>> len(Application.means()["sre16"])
        2
        """
        return dict(_MEANS)

    @classmethod
    def multiclass(
        cls,
        prior: object,
        costs: object = "0-1",
        *,
        classes: Sequence[object] | None = None,
        actions: Sequence[object] | None = None,
    ) -> MulticlassApplication:
        """Priors of K classes with any cost matrix: rows = decision, columns = true class.

        Parameters
        ----------
        prior : array_like of shape (K,)
            Class priors; they sum to one.
        costs : array_like of shape (D, K) or {"0-1", "ordinal"}, default "0-1"
            Cost of each action when each class is true. "0-1": every error costs 1; "ordinal": the distance of the
            class numbers.
        classes : sequence, optional
            Class names in the order of the priors; by default "0", "1", ...
        actions : sequence, optional
            Action names in the order of the rows; the classes' names without. Rows beyond the classes are further
            actions, such as abstaining.

        Returns
        -------
        MulticlassApplication
            The priors and costs, checked.

        Examples
        --------
        >>> Application.multiclass([0.5, 0.25, 0.25]).dummy_cost
        0.5
        """
        return MulticlassApplication.of(prior, costs, classes=classes, actions=actions)

    @property
    def log_odds(self) -> float:
        """tau: the log-odds of the effective prior."""
        return tau(self.prior, self.cost_fn, self.cost_fp)

    @property
    def factor(self) -> float:
        """exp(abs(tau)): the ratio of pi C_fn to (1 - pi) C_fp, the larger over the smaller, rounded once."""
        above, below = _odds(self.prior, self.cost_fn, self.cost_fp)
        return _big_ratio(max(above, below), min(above, below))

    @property
    def threshold(self) -> float:
        """The Bayes threshold -tau on a log-likelihood ratio."""
        return 0.0 - self.log_odds

    @property
    def effective_prior(self) -> float:
        """pi C_fn / (pi C_fn + (1 - pi) C_fp): the prior that, with equal costs, asks for the same decisions."""
        largest = max(self.cost_fn, self.cost_fp)
        miss, alarm = self.prior * (self.cost_fn / largest), (1.0 - self.prior) * (self.cost_fp / largest)
        return miss / (miss + alarm)

    @property
    def dummy_cost(self) -> float:
        """min(pi C_fn, (1 - pi) C_fp): what the better of always rejecting and always accepting costs."""
        return min(self.prior * self.cost_fn, (1.0 - self.prior) * self.cost_fp)

    def equivalent(self, prior: float | None = None) -> Application:
        """An application with the same decisions and normalised costs at another prior.

        Without a prior it is (effective prior, 1, 1). Otherwise the costs absorb the difference, and the larger cost
        stays the same.

        Parameters
        ----------
        prior : float, optional
            The other prior, above 0 and below 1.

        Returns
        -------
        Application
            The equivalent operating point.

        Examples
        --------
        >>> round(Application(0.01, 50, 1).equivalent().prior, 5)
        0.33557
        """
        if prior is None:
            return Application(probability(self.effective_prior, "the effective prior"))
        share = self.log_odds - logit(probability(prior, "prior"))  # ln C_fn - ln C_fp at the other prior
        larger = max(self.cost_fn, self.cost_fp)
        cost_fn, cost_fp = (larger * math.exp(min(sign * share, 0.0)) for sign in (1.0, -1.0))
        return Application(prior, cost_fn, cost_fp)

    def dcf_u(self, *, fnr: float, fpr: float) -> float:
        """Un-normalised detection cost of bare error rates: pi C_fn FNR + (1 - pi) C_fp FPR.

        Parameters
        ----------
        fnr : float
            Miss rate, from 0 to 1.
        fpr : float
            False-alarm rate, from 0 to 1.

        Returns
        -------
        float
            The expected cost of one decision.

        Examples
        --------
        >>> Application(0.001, 1, 10).dcf_u(fnr=.02, fpr=.001)
        0.01001
        """
        return float(self._cost(rate(fnr, "fnr"), rate(fpr, "fpr")))

    def dcf(self, *, fnr: float, fpr: float) -> float:
        """Detection cost divided by the cost of the best decision without scores; above 1 the system does harm.

        Parameters
        ----------
        fnr : float
            Miss rate, from 0 to 1.
        fpr : float
            False-alarm rate, from 0 to 1.

        Returns
        -------
        float
            DCF_u / min(pi C_fn, (1 - pi) C_fp).

        Raises
        ------
        UndefinedError
            If one kind of error costs nothing.

        Examples
        --------
        >>> round(Application(0.001, 1, 10).dcf(fnr=.02, fpr=.001), 2)
        10.01
        """
        self.check_normaliser()
        return float(normalised_dcf(self.log_odds, rate(fnr, "fnr"), rate(fpr, "fpr"), self.factor))

    def _cost(self, fnr: float, fpr: float) -> float:
        return self.prior * self.cost_fn * fnr + (1.0 - self.prior) * self.cost_fp * fpr

    @property
    def dummy_is_free(self) -> bool:
        """Whether one kind of error costs nothing, so that no normalised cost exists."""
        return self.cost_fn == 0.0 or self.cost_fp == 0.0

    def check_normaliser(self) -> None:
        """Raise an error where one kind of error is free, so that no normalised cost exists."""
        if self.dummy_is_free:
            raise UndefinedError(NO_NORMALISER)


@dataclass(frozen=True, slots=True)
class ApplicationMean(Record):
    """Operating points whose normalised costs are averaged; made by `Application.mean`.

    Attributes
    ----------
    applications : tuple of Application
        The points.
    name : str or None
        The evaluation.

    Examples
    --------
    >>> import tercet as tc
    >>> mean = tc.Application.mean([(0.5, 1, 1), (0.1, 1, 1)])
    >>> [round(app.threshold, 3) for app in mean.applications]    # 0 and ln 9
    [0.0, 2.197]
    """

    applications: tuple[Application, ...]
    name: str | None = None


def _one_cost(value: object, name: str) -> float:
    """A cost that holds for every case."""
    try:
        return not_negative(value, name)
    except InputError as error:
        if isinstance(value, list | tuple | np.ndarray) or type(value).__name__ == "Series":
            raise InputError(f"{error} Costs that differ from case to case belong to CaseCosts.") from None
        raise


@lru_cache(maxsize=1024)  # every property of an operating point asks for it
def tau(prior: float, cost_fn: float, cost_fp: float) -> float:
    """logit(prior) + ln C_fn - ln C_fp: the one place where an operating point becomes a threshold."""
    if cost_fn == 0.0 or cost_fp == 0.0:
        return math.inf if cost_fp == 0.0 else -math.inf
    rough = logit(prior) + (math.log(cost_fn) - math.log(cost_fp))
    if abs(rough) > _CANCELS:
        return rough
    above, below = _odds(prior, cost_fn, cost_fp)  # the logs cancel: what is left of them is taken from whole numbers
    return math.log1p((above - below) / below)


_CANCELS = 0.01


def _odds(prior: float, cost_fn: float, cost_fp: float) -> tuple[int, int]:
    """pi C_fn and (1 - pi) C_fp as whole numbers in the same proportion, exactly."""
    (p, q), (m, n), (a, b) = (x.as_integer_ratio() for x in (prior, cost_fn, cost_fp))
    return p * m * b, (q - p) * a * n


def normalised_dcf(log_odds: object, fnr: object, fpr: object, factor: Reals | None = None) -> Floats:
    """FNR + e^-tau FPR for tau <= 0, FPR + e^tau FNR otherwise; a rate of zero adds nothing.

    The one cost function of actual and minimum costs, for numbers and arrays alike. factor is e^|tau| where it is
    known exactly, as for an Application; else it is taken from the log-odds.
    """
    log_odds, fnr, fpr = np.asarray(log_odds), np.asarray(fnr), np.asarray(fpr)
    low = log_odds <= 0.0
    cheap, costly = np.where(low, fnr, fpr), np.where(low, fpr, fnr)  # the factor of the cheap error is 1
    if factor is None:
        with np.errstate(over="ignore"):
            factor = np.exp(np.abs(log_odds))
    infinite = np.isinf(factor)
    if not infinite.any():
        return cheap + factor * costly
    with np.errstate(over="ignore", invalid="ignore"):
        root = np.exp(np.abs(log_odds) / 2.0)  # beyond |tau| = 709 a small rate may still have a finite cost
        priced = np.where(infinite, root * costly * root, factor * costly)
        return cheap + np.where(costly == 0.0, 0.0, priced)


def _big_ratio(above: int, below: int) -> float:
    try:
        return above / below if below else math.inf
    except OverflowError:
        return math.inf


def sigmoid(log_odds: float) -> float:
    """1 / (1 + e^-x), without overflow: the probability of these log-odds."""
    small = math.exp(-abs(log_odds))
    return (1.0 if log_odds >= 0.0 else small) / (1.0 + small)


@dataclass(frozen=True, slots=True, eq=False)
class MulticlassApplication(Shown):
    """Priors of K classes and the cost of each action when each class is true; actions may outnumber classes.

    Attributes
    ----------
    prior : numpy.ndarray of shape (K,)
        Class priors.
    costs : numpy.ndarray of shape (D, K)
        Cost of each action (row) when each class (column) is true.
    classes : tuple of str
        Class names.
    actions : tuple of str
        Action names.

    Examples
    --------
    >>> app = Application.multiclass([.3, .4, .3], [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    >>> app.dummy_cost, app.dummy_action
    (0.6, '1')
    """

    prior: Floats
    costs: Floats
    classes: tuple[str, ...]
    actions: tuple[str, ...]

    def __post_init__(self) -> None:
        check_fields(self)
        prior_vector(self.prior, len(self.prior), "prior")  # kept as it is: to scale it twice would change its bits
        _check_costs(self.costs, len(self.prior))
        class_names(self.classes, len(self.prior))
        class_names(self.actions, len(self.costs), "actions")

    @classmethod
    def of(
        cls, prior: object, costs: object, *, classes: Sequence[object] | None, actions: Sequence[object] | None
    ) -> MulticlassApplication:
        """Check priors and costs; `Application.multiclass` is the usual way here.

        Parameters
        ----------
        prior : array_like of shape (K,)
            Class priors; they sum to one.
        costs : array_like of shape (D, K) or {"0-1", "ordinal"}
            Cost of each action when each class is true.
        classes : sequence or None
            Class names in the order of the priors.
        actions : sequence or None
            Action names in the order of the rows.

        Returns
        -------
        MulticlassApplication
            The priors and costs, checked.

        Examples
        --------
        >>> MulticlassApplication.of([0.5, 0.5], "0-1", classes=["a", "b"], actions=None).actions
        ('a', 'b')
        """
        count = len(numbers(prior, "prior"))
        vector = prior_vector(prior, count, "prior")
        called = class_names(None if classes is None else label_list(classes, "classes"), count)
        matrix = _named_costs(costs, count) if isinstance(costs, str) else numbers(costs, "costs", ndim=2)
        _check_costs(matrix, count)  # before the actions, which are named by its rows
        return cls(frozen(np.array(vector)), matrix, called, action_names(actions, called, len(matrix), "costs"))

    @property
    def fixed_costs(self) -> Floats:
        """What each action costs when it is always taken: C pi."""
        return np.array([math.fsum(row * self.prior) for row in self.costs])

    @property
    def dummy_cost(self) -> float:
        """The least cost of an action that is always taken."""
        return float(self.fixed_costs.min())

    @property
    def dummy_action(self) -> str:
        """The action to take without the scores; the first of equals."""
        return self.actions[int(self.fixed_costs.argmin())]

    def path_to(self, other: MulticlassApplication, steps: int) -> list[MulticlassApplication]:
        """Applications in equal steps from this one to another, priors and costs mixed in proportion.

        Parameters
        ----------
        other : MulticlassApplication
            Where the path ends; costs of the same shape.
        steps : int
            How many applications, both ends included: at least 2.

        Returns
        -------
        list of MulticlassApplication
            The applications in order.

        Examples
        --------
        >>> first, last = (Application.multiclass([p, 1 - p]) for p in (0.5, 0.25))
        >>> [app.prior.tolist() for app in first.path_to(last, 3)][1]
        [0.375, 0.625]
        """
        if instance(other, MulticlassApplication, "other").costs.shape != self.costs.shape:
            raise InputError("other must be an application of the same shape.")
        count = whole(steps, "steps", 2, 1_000_000)
        shares = (step / (count - 1) for step in range(count))
        return [
            derived(
                self,
                prior=frozen((1.0 - share) * self.prior + share * other.prior),
                costs=frozen((1.0 - share) * self.costs + share * other.costs),
            )
            for share in shares
        ]

    def with_log_odds(self, place: int, log_odds: float) -> MulticlassApplication:
        """The same costs with one class's prior at these log-odds, the others keeping their proportions.

        Parameters
        ----------
        place : int
            The class's number.
        log_odds : float
            Natural logarithm of prior / (1 - prior) for that class.

        Returns
        -------
        MulticlassApplication
            The application with the new priors.

        Examples
        --------
        >>> Application.multiclass([0.2, 0.4, 0.4]).with_log_odds(0, 0.0).prior.tolist()
        [0.5, 0.25, 0.25]
        """
        odds = number(log_odds, "log_odds")
        share = probability(sigmoid(odds), f"the prior at log_odds {odds}")
        index = whole(place, "place", 0, len(self.prior) - 1)
        prior = self.prior * (sigmoid(-odds) / (1.0 - self.prior[index]))
        prior[index] = share
        return derived(self, prior=frozen(prior))

    def renamed(self, classes: tuple[str, ...]) -> MulticlassApplication:
        """The same application with the classes, and the actions called like them, under other names.

        Parameters
        ----------
        classes : sequence of str
            The new class names, in order.

        Returns
        -------
        MulticlassApplication
            The same priors and costs.

        Examples
        --------
        >>> Application.multiclass([0.5, 0.5]).renamed(("a", "b")).actions
        ('a', 'b')
        """
        names = class_names(label_list(classes, "classes"), len(self.classes))
        called = dict(zip(self.classes, names, strict=True))
        return derived(self, classes=names, actions=tuple(called.get(action, action) for action in self.actions))

    def check_classes(self, classes: tuple[str, ...]) -> None:
        """Raise an error if the number of classes differs or, where both are named, their names or order.

        Parameters
        ----------
        classes : sequence of str
            The class names to compare with.

        Raises
        ------
        InputError
            If they are not the application's.

        Examples
        --------
        >>> Application.multiclass([0.5, 0.5], classes=["a", "b"]).check_classes(("a", "b"))
        """
        if not isinstance(classes, tuple):
            classes = tuple(map(str, label_list(classes, "classes")))
        if len(classes) != len(self.classes):
            raise InputError(f"The application has {len(self.classes)} classes, not {len(classes)}.")
        numbered = tuple(map(str, range(len(classes))))
        unnamed = numbered in (classes, self.classes) and set(classes) != set(self.classes)  # the same: another order
        if classes != self.classes and not unnamed:
            raise InputError(
                f"The application's classes ({some(self.classes, 4)}) are not these, in this order: {some(classes, 4)}."
            )

    @property
    def is_symmetric(self) -> bool:
        """Whether the classes' order does not matter: equal priors, and every error costs the same."""
        return self.largest_decides and bool((self.prior == self.prior[0]).all())

    @property
    def largest_decides(self) -> bool:
        """Whether the largest posterior decides: wrong decisions all cost the same, right ones nothing."""
        square = self.costs.shape[0] == self.costs.shape[1]
        return square and bool((self.costs == self.costs[1, 0] * (1.0 - np.eye(len(self.costs)))).all())


def check_cells(rows: int, columns: int) -> None:
    """Refuses implausibly large tables."""
    if rows * columns > MAX_CELLS:
        raise InputError(
            f"A table of {rows} x {columns} cells is beyond the cap of {MAX_CELLS}: group rare classes first, or cut "
            f"out the classes of interest with versus()."
        )


def _named_costs(name: str, count: int) -> Floats:
    check_cells(count, count)
    if name == "0-1":
        return frozen(1.0 - np.eye(count))
    if name == "ordinal":
        return frozen(np.abs(np.subtract.outer(np.arange(count), np.arange(count))).astype(np.float64))
    raise InputError(f'costs are a matrix, "0-1" or "ordinal", not {shown(name)}.')


def _check_costs(costs: Floats, count: int) -> None:
    """Refuses costs that do not fit so many classes, are negative, infinite or all 0."""
    if costs.ndim != 2 or costs.shape[1] != count or costs.shape[0] < 1:
        raise InputError(
            f"costs must have one column for each of the {count} classes (rows = decision, columns = class), "
            f"not the shape {costs.shape}."
        )
    bad = np.argwhere(~((costs >= 0.0) & (costs < math.inf)))
    if len(bad):
        row, col = bad[0]
        raise InputError(
            f"costs must be finite and not negative: deciding {row} when {col} is true costs {costs[row, col]}."
            f" Gains are turned into costs by tercet.costs_from_utilities."
        )
    if not costs.any():
        raise InputError("costs are all 0: then every decision is free and none is better.")


def action_names(actions: Sequence[object] | None, classes: tuple[str, ...], count: int, what: str) -> tuple[str, ...]:
    """The class names, and for further rows the given names."""
    if actions is not None:
        return class_names(label_list(actions, "actions"), count, "actions")
    if count != len(classes):
        raise InputError(f"{what} with {count} rows for {len(classes)} classes: name the actions (actions=...).")
    return classes


def costs_from_utilities(utilities: object) -> Floats:
    """Costs that lead to the same decisions as these gains: the best gain of each column minus each gain.

    Parameters
    ----------
    utilities : array_like of shape (D, K)
        The gain of each action (row) when each class (column) is true.

    Returns
    -------
    numpy.ndarray of shape (D, K)
        Costs: finite and not negative, 0 for the best action of each class.

    Examples
    --------
    >>> costs_from_utilities([[10, -50], [0, 5]])
    array([[ 0., 55.],
           [10.,  0.]])
    """
    gains = numbers(utilities, "utilities", ndim=2)
    if not np.isfinite(gains).all():
        raise InputError("utilities must be finite.")
    if not gains.size:
        raise InputError("utilities must have at least one row and one column.")
    costs: Floats = gains.max(axis=0) - gains
    return costs


TwoClass: TypeAlias = Application | Sequence[float] | float | str  # an operating point in any form


def listed(applications: object) -> list[Any]:
    """The applications as a list; a single one is accepted as a list of one."""
    if isinstance(applications, str | int | float | Application | ApplicationMean | MulticlassApplication):
        return [applications]
    if isinstance(applications, np.ndarray) and applications.ndim == 0:
        return [applications[()]]
    found = entries(applications, "applications")
    if isinstance(applications, tuple | np.ndarray) and len(found) == 3 and all(map(np.isscalar, found)):
        return [tuple(found)]  # one triple; a list of three numbers is three priors
    return found
