"""Bayesian intervals by name: Beta and Dirichlet posteriors of rates, costs and comparisons.

The decisions on the trials of one class are a sample from a multinomial law. Its conjugate prior adds the same mass to
every action: 1/2 (Jeffreys) or 1 (uniform). Trials are taken as independent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from tercet._numeric.records import ReadOnly, check_fields
from tercet._numeric.validation import chosen, positive, probability, rate, shown, whole
from tercet._typing import Floats
from tercet.application import MulticlassApplication
from tercet.decision import confusion_of, decide
from tercet.errors import InputError, UndefinedError
from tercet.metrics.confusion import as_matrix
from tercet.trials import Trials
from tercet.uncertainty._clusters import is_fractional
from tercet.uncertainty.intervals import Bound, Intervals

Prior = Literal["jeffreys", "uniform"]
PRIORS: dict[Prior, float] = {"jeffreys": 0.5, "uniform": 1.0}
DRAWS = 100_000  # of a cost; a probability is then known to about 0.003
_DECISIONS_ONLY = "only rates and costs of decisions have a Beta or Dirichlet posterior"
_WHOLE = "A posterior of rates needs integer counts: fractional weights are not multinomial."


@dataclass(frozen=True, slots=True)
class BetaPosterior:
    """The posterior distribution of a rate after counting: a Beta distribution.

    Attributes
    ----------
    a, b : float
        Its parameters: the count and the rest, each plus the prior's mass.
    prior : str
        "jeffreys" or "uniform".

    Examples
    --------
    >>> import tercet as tc
    >>> found = tc.rate_posterior(0, 100)
    >>> found.a, found.b, round(found.mean, 4)    # (0 + 1/2) / (100 + 1)
    (0.5, 100.5, 0.005)
    """

    a: float
    b: float
    prior: str

    def __post_init__(self) -> None:
        check_fields(self)
        chosen(self.prior, "prior", PRIORS)
        for name in ("a", "b"):
            positive(getattr(self, name), name)

    @property
    def mean(self) -> float:
        """a / (a + b)."""
        return self.a / (self.a + self.b)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """The equal-tailed interval.

        Parameters
        ----------
        level : float, default 0.95
            The probability that the rate lies inside.

        Returns
        -------
        tuple of two float
            Both ends.
        """
        from scipy.special import betainccinv, betaincinv

        tail = (1.0 - probability(level, "level")) / 2.0
        return float(betaincinv(self.a, self.b, tail)), float(betainccinv(self.a, self.b, tail))

    def probability_below(self, bound: float) -> float:
        """How probable it is that the rate lies below a bound.

        Parameters
        ----------
        bound : float
            Between 0 and 1.

        Returns
        -------
        float
            The probability.
        """
        from scipy.special import betainc

        return float(betainc(self.a, self.b, rate(bound, "bound")))


def rate_posterior(count: int, out_of: int, prior: Prior = "jeffreys") -> BetaPosterior:
    """The posterior of a rate after `count` events among `out_of` cases.

    Parameters
    ----------
    count, out_of : int
        How many, of how many.
    prior : {"jeffreys", "uniform"}, default "jeffreys"
        Beta(1/2, 1/2) or Beta(1, 1).

    Returns
    -------
    BetaPosterior
        Beta(count + m, out_of - count + m), m the prior's mass.

    References
    ----------
    Brown, Cai and DasGupta (2001), Interval estimation for a binomial proportion, doi:10.1214/ss/1009213286.

    Examples
    --------
    With no error in 100 trials the rate is below 1 % with a probability of 84 %:

    >>> round(rate_posterior(0, 100).probability_below(0.01), 2)
    0.84
    """
    mass = PRIORS[chosen(prior, "prior", PRIORS)]
    every = whole(out_of, "out_of", 0)
    some = whole(count, "count", 0)
    if some > every:
        raise InputError(f"count must be at most out_of, not {some} of {every}.")
    return BetaPosterior(some + mass, every - some + mass, prior)


class Probability(NamedTuple):
    """What is believed of the difference of two systems' costs: first minus second.

    Attributes
    ----------
    quantity : str
        The cost, by its name in the JSON.
    first, second : str
        Names of the systems.
    value, low, high : float
        Posterior mean and equal-tailed interval of the difference.
    probability : float
        That the first system is cheaper.
    method : str
        The model and its prior.

    Examples
    --------
    >>> import tercet as tc
    >>> a = tc.Trials.of_llr([3.0, 2.0, 1.0, -1.0, -2.0, 0.5], [1, 1, 1, 0, 0, 0], name="a")
    >>> b = tc.Trials.of_llr([3.0, -2.0, 1.0, -1.0, 2.0, 0.5], [1, 1, 1, 0, 0, 0], name="b")
    >>> found = tc.compare(a, b, [(0.5, 1, 1)], bayes="jeffreys").probabilities[0]
    >>> found.first, found.second, round(found.probability, 1)
    ('a', 'b', 0.9)
    """

    quantity: str
    first: str
    second: str
    value: float
    low: float
    high: float
    probability: float
    method: str


def posterior_intervals(
    trials: object, apps: Sequence[object], *, level: float, prior: Prior, by: object = None, seed: int = 0
) -> Intervals:
    """Credible intervals of the rates and costs of Bayes decisions, as evaluate(..., method="jeffreys") carries them.

    The ends are moved to include the measured number where it lies outside, as with no errors.
    """
    if not isinstance(trials, Trials):
        raise InputError(f"method={shown(prior)} needs the Trials, not their counts.")
    if by is not None:
        raise InputError(f"method={shown(prior)} assumes independent trials: leave by= out, or the method.")
    bounds: dict[str, Bound] = {}
    missing = dict.fromkeys(("eer", "auc", "cllr", "min_cllr"), _DECISIONS_ONLY)
    for k, app in enumerate(apps):
        try:
            found = _at(trials, app, level, prior, seed)
        except UndefinedError as error:
            missing[f"applications.{k}"] = str(error)
            continue
        bounds |= {f"applications.{k}.{name}": one for name, one in found.items()}
    return Intervals(ReadOnly(bounds), level, (), "stratified", ReadOnly(missing))


def _at(trials: Trials, app: object, level: float, prior: Prior, seed: int) -> dict[str, Bound]:
    """Rates of two classes, and the cost of any number, at one application."""
    table, matrix = confusion_of(trials, app), _renamed(app, trials)
    if table.unit < 0:
        raise UndefinedError(_WHOLE)
    counts = np.array(table.matrix, np.float64)
    found: dict[str, Bound] = {}
    two = not isinstance(app, MulticlassApplication)
    for name, (row, column) in ({"fnr": (0, 1), "fpr": (1, 0)} if two else {}).items():
        count, every = int(counts[row, column]), int(counts[:, column].sum())
        if every:
            ends = rate_posterior(count, every, prior).interval(level)
            found[name] = _holding(count / every, *ends, f"Beta posterior, {prior} prior")
    _check_columns(counts, trials.classes)
    costs = _drawn_costs([counts[:, j] for j in range(counts.shape[1])], matrix.costs.T, matrix.prior, prior, seed)
    method = f"Dirichlet posterior, {prior} prior, {DRAWS} draws"
    ends = _ends(costs, level)
    risk = table.risk(app)
    found["dcf_u" if two else "risk"] = _holding(risk, *ends, method)
    if (dummy := matrix.dummy_cost) > 0.0:
        found["dcf"] = _holding(table.normalised_risk(app), ends[0] / dummy, ends[1] / dummy, method)
    return found


def _renamed(app: object, trials: Trials) -> MulticlassApplication:
    return as_matrix(app).renamed(trials.classes)


def _check_columns(counts: Floats, classes: Sequence[str]) -> None:
    for j, called in enumerate(classes):
        if not counts[:, j].any():
            raise UndefinedError(f"the cost has no posterior: there are no trials of class {shown(called)}")


def _holding(value: float, low: float, high: float, method: str) -> Bound:
    return Bound(value, min(low, value), max(high, value), method)


def _ends(draws: Floats, level: float) -> tuple[float, float]:
    low, high = np.quantile(draws, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return float(low), float(high)


def _drawn_costs(
    counts: Sequence[Floats], costs: Floats | Sequence[Floats], class_prior: Floats, prior: Prior, seed: int,
    mass: float | None = None,
) -> Floats:  # fmt: skip
    """Draws of sum_j pi_j sum_i C_ij R_ij, the actions' rates R of each class from its Dirichlet posterior.

    Actions of equal cost are one cell of their summed mass, which is exact for a Dirichlet distribution.
    """
    rng, total = np.random.default_rng(seed), np.zeros(DRAWS)
    each = PRIORS[prior] if mass is None else mass
    for own, prices, share in zip(counts, costs, class_prior.tolist(), strict=True):
        distinct, cell = np.unique(prices, return_inverse=True)
        if len(distinct) == 1:
            total += share * distinct[0]
            continue
        alpha = np.bincount(cell, own + each, len(distinct))
        total += share * (rng.dirichlet(alpha, DRAWS) @ distinct)
    return total


def probabilities(
    systems: Sequence[Trials], names: Sequence[str], apps: Sequence[object], level: float, prior: Prior, paired: bool,
    seed: int = 0,
) -> tuple[Probability, ...]:  # fmt: skip
    """How probable it is that one system is cheaper than another, for every pair and application.

    Paired systems: a Dirichlet posterior of the pairs of decisions on the same trials, in which each system's own rates
    keep the named prior (its mass is spread evenly over the other system's decisions). Unpaired: one for each.
    """
    found = []
    for k, app in enumerate(apps):
        matrix = _renamed(app, systems[0])
        name = f"applications.{k}.{'risk' if isinstance(app, MulticlassApplication) else 'dcf_u'}"
        for i, j in combinations(range(len(systems)), 2):
            if "raw" in (systems[i].meaning, systems[j].meaning):
                continue
            both = (systems[i], systems[j])
            gaps = (_paired_gaps if paired else _unpaired_gaps)(both, app, matrix, prior, seed)
            share = (float((gaps < 0.0).sum()) + 0.5 * float((gaps == 0.0).sum()) + 0.5) / (DRAWS + 1.0)
            how = f"Dirichlet posterior of {'paired ' if paired else ''}decisions, {prior} prior, {DRAWS} draws"
            found.append(Probability(name, names[i], names[j], float(gaps.mean()), *_ends(gaps, level), share, how))
    return tuple(found)


def _paired_gaps(
    systems: tuple[Trials, Trials], app: object, matrix: MulticlassApplication, prior: Prior, seed: int
) -> Floats:
    actions, classes = matrix.costs.shape
    first, second = (np.asarray(decide(one, app)).astype(np.intp) for one in systems)
    labels, heavy = systems[0].known_labels().astype(np.intp), _whole_weights(systems[0])
    cells = np.bincount((labels * actions + first) * actions + second, heavy, classes * actions * actions)
    counts = cells.reshape(classes, actions * actions).astype(np.float64)
    _check_columns(counts.T, systems[0].classes)
    prices = [np.subtract.outer(own, own).ravel() for own in matrix.costs.T]
    return _drawn_costs(list(counts), prices, matrix.prior, prior, seed, PRIORS[prior] / actions)


def _unpaired_gaps(
    systems: tuple[Trials, Trials], app: object, matrix: MulticlassApplication, prior: Prior, seed: int
) -> Floats:
    costs = []
    for place, one in enumerate(systems):
        table = confusion_of(one, app)
        if table.unit < 0:
            raise InputError(_WHOLE)
        counts = np.array(table.matrix, np.float64)
        _check_columns(counts, one.classes)
        costs.append(_drawn_costs(list(counts.T), matrix.costs.T, matrix.prior, prior, seed + place))
    return np.asarray(costs[0] - costs[1])


def _whole_weights(trials: Trials) -> NDArray[np.float64] | None:
    if trials.weights is not None and is_fractional(trials.weights):
        raise InputError(_WHOLE)
    return trials.weights
