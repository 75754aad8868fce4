"""Coverage of the default 95 % intervals in populations that played no part in choosing the methods.

    python benchmarks/other_populations.py                # 500 sets of each design, as a Markdown table
    python benchmarks/other_populations.py --sets 20      # a quick look

Scores are exponential, ratings of five levels, posteriors of a logistic model with random class counts, or Gaussian
llrs that are twice too bold; groups have shifts of their own in each class, or are all pairs of the same speakers.
Truths come from the distributions by scipy, never from tercet.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import integrate, optimize, special, stats

import tercet as tc
from tercet.uncertainty.intervals import closed_form_intervals

PRIORS = (0.5, 0.05, 0.01)
ASKED = frozenset(("auc", "eer", "cllr", "fnr", "fpr", "dcf", "min_dcf", "ppv", "f1"))


class Population(NamedTuple):
    """P(llr <= t | target), P(llr > t | non-target), the thresholds to search, AUC, Cllr, and the share of targets."""

    fnr: Callable
    fpr: Callable
    grid: np.ndarray
    auc: float
    cllr: float
    share: float | None = None

    def truths(self) -> dict[str, float]:
        """Every number that is judged."""
        misses, alarms = self.fnr(self.grid), self.fpr(self.grid)
        least = optimize.minimize_scalar(
            lambda p: -min(1.0 - p, p, (p * misses + (1.0 - p) * alarms).min()), bounds=(0.0, 1.0), method="bounded"
        )
        found = {"auc": self.auc, "cllr": self.cllr, "eer": -float(least.fun)}
        for k, prior in enumerate(PRIORS):
            at, threshold = f"applications.{k}.", math.log1p(-prior) - math.log(prior)
            miss, alarm = float(self.fnr(threshold)), float(self.fpr(threshold))
            odds = (1.0 - prior) / prior
            found |= {f"{at}fnr": miss, f"{at}fpr": alarm, f"{at}dcf": miss + odds * alarm}
            found[f"{at}min_dcf"] = min(1.0, float((misses + odds * alarms).min()))
            if self.share is not None:
                hits, false = self.share * (1.0 - miss), (1.0 - self.share) * alarm
                found |= {f"{at}ppv": hits / (hits + false), f"{at}f1": 2.0 * hits / (hits + false + self.share)}
        return found


def exponential() -> Population:
    """Targets with mean 5, non-targets with mean 1: llr = 0.8 x - log 5."""

    def score(t):
        return np.maximum((np.asarray(t) + math.log(5.0)) / 0.8, 0.0)

    def loss(x, sign):
        return np.logaddexp(0.0, sign * (0.8 * x - math.log(5.0)))

    parts = (
        integrate.quad(lambda x: np.exp(-x / 5.0) / 5.0 * loss(x, -1.0), 0, 300, limit=500)[0],
        integrate.quad(lambda x: np.exp(-x) * loss(x, 1.0), 0, 100, limit=500)[0],
    )
    return Population(
        lambda t: 1.0 - np.exp(-score(t) / 5.0), lambda t: np.exp(-score(t)), np.linspace(-3, 60, 200_001), 5.0 / 6.0,
        sum(parts) / math.log(4.0),
    )  # fmt: skip


RATED = np.array([0.05, 0.10, 0.15, 0.25, 0.45]), np.array([0.40, 0.30, 0.15, 0.10, 0.05])  # targets, non-targets


def ratings() -> Population:
    """Five levels of confidence, so that most scores are tied."""
    targets, others = RATED
    levels = np.log(targets / others)
    auc = sum(p * (others[:k].sum() + others[k] / 2.0) for k, p in enumerate(targets))
    loss = targets @ np.logaddexp(0.0, -levels) + others @ np.logaddexp(0.0, levels)
    return Population(
        lambda t: (np.less_equal.outer(levels, t).T * targets).sum(-1),
        lambda t: (np.greater.outer(levels, t).T * others).sum(-1),
        np.r_[-9.0, levels], float(auc), float(loss) / math.log(4.0),
    )  # fmt: skip


def gaussian(distance: float, boldness: float = 1.0) -> Population:
    """Calibrated llrs times `boldness`."""
    place, scale = distance**2 / 2.0 * boldness, distance * boldness
    loss = integrate.quad(
        lambda x: stats.norm.pdf(x, place, scale) * np.logaddexp(0.0, -x), place - 12 * scale, place + 12 * scale,
        limit=1000, points=[0],
    )[0]  # fmt: skip
    return Population(
        lambda t: stats.norm.cdf((t - place) / scale), lambda t: stats.norm.sf((t + place) / scale),
        np.linspace(-40, 40, 160_001) * max(boldness, 1.0), float(stats.norm.cdf(distance / math.sqrt(2.0))),
        loss / math.log(2.0),
    )  # fmt: skip


def logistic(offset: float) -> Population:
    """P(target | x) = expit(offset + 2 x), x standard normal."""
    x = np.linspace(-9.0, 9.0, 36_001)
    joint = stats.norm.pdf(x) * special.expit(offset + 2.0 * x), stats.norm.pdf(x) * special.expit(-offset - 2.0 * x)
    share = float(integrate.simpson(joint[0], x=x))
    upto = [integrate.cumulative_simpson(own, x=x, initial=0.0) for own in joint]
    below = [own / own[-1] for own in upto]
    llr = offset + 2.0 * x - special.logit(share)
    weights = [own / own.sum() for own in joint]
    loss = weights[0] @ np.logaddexp(0.0, -llr) + weights[1] @ np.logaddexp(0.0, llr)
    return Population(
        lambda t: np.interp(t, llr, below[0]), lambda t: 1.0 - np.interp(t, llr, below[1]), llr,
        float(weights[0] @ below[1]), float(loss) / math.log(4.0), share,
    )  # fmt: skip


def labels_of(targets: int, others: int) -> np.ndarray:
    return np.repeat([1, 0], [targets, others])


def draw_exponential(targets: int, others: int):
    """Independent trials."""

    def draw(rng):
        labels = labels_of(targets, others)
        return tc.Trials.of_llr(0.8 * rng.exponential(np.where(labels == 1, 5.0, 1.0)) - math.log(5.0), labels), None

    return draw


def draw_ratings(targets: int, others: int):
    """One row per level and class, its weight the number of trials."""

    def draw(rng):
        counts = np.r_[rng.multinomial(targets, RATED[0]), rng.multinomial(others, RATED[1])]
        llrs = np.tile(np.log(RATED[0] / RATED[1]), 2)
        return tc.Trials.of_llr(llrs, labels_of(5, 5), weights=counts.astype(float)), None

    return draw


def draw_gaussian(targets: int, others: int, distance: float, boldness: float):
    """Independent trials."""

    def draw(rng):
        labels = labels_of(targets, others)
        llr = distance**2 * (labels - 0.5) + distance * rng.standard_normal(len(labels))
        return tc.Trials.of_llr(boldness * llr, labels), None

    return draw


def draw_logistic(size: int, offset: float):
    """Class counts as they come."""
    share = logistic(offset).share

    def draw(rng):
        chance = special.expit(offset + 2.0 * rng.standard_normal(size))
        return tc.Trials.of_posteriors(chance, (rng.random(size) < chance).astype(int), trained_prior=share), None

    return draw


def draw_speakers(groups: int, targets: int, others: int, distance: float, part: float):
    """Each speaker shifts targets and non-targets by amounts that correlate by a half."""

    def draw(rng):
        own = np.r_[np.repeat(np.arange(groups), targets), np.repeat(np.arange(groups), others)]
        labels = labels_of(groups * targets, groups * others)
        shift = rng.standard_normal((groups, 2)) @ np.array([[1.0, 0.5], [0.0, math.sqrt(0.75)]])
        noise = math.sqrt(part) * shift[own, labels] + math.sqrt(1.0 - part) * rng.standard_normal(len(own))
        llr = distance**2 * (labels - 0.5) + distance * noise
        return tc.Trials.of_llr(llr, labels, groups={"speaker": own}), "speaker"

    return draw


def draw_all_pairs(speakers: int, distance: float, part: float):
    """Every speaker enrolled against every one, himself four times."""

    def draw(rng):
        ones = np.arange(speakers)
        enrolled = np.r_[np.repeat(ones, speakers), np.repeat(ones, 3)]
        tested = np.r_[np.tile(ones, speakers), np.repeat(ones, 3)]
        labels = (enrolled == tested).astype(int)
        shift = (rng.standard_normal(speakers)[enrolled] + rng.standard_normal(speakers)[tested]) / math.sqrt(2.0)
        noise = math.sqrt(part) * shift + math.sqrt(1.0 - part) * rng.standard_normal(len(labels))
        groups = {"enrolled": enrolled.astype(str), "tested": tested.astype(str)}
        llr = distance**2 * (labels - 0.5) + distance * noise
        return tc.Trials.of_llr(llr, labels, groups=groups), ("enrolled", "tested")

    return draw


DESIGNS = {
    "40+400 exponential": (exponential, draw_exponential(40, 400)),
    "300+400 exponential": (exponential, draw_exponential(300, 400)),
    "150+150 ratings of 5 levels": (ratings, draw_ratings(150, 150)),
    "300+300 llrs twice too bold": (lambda: gaussian(2.0, 2.0), draw_gaussian(300, 300, 2.0, 2.0)),
    "120 posteriors": (lambda: logistic(0.0), draw_logistic(120, 0.0)),
    "400 posteriors, 7 % targets": (lambda: logistic(-4.0), draw_logistic(400, -4.0)),
    "5 speakers, 20+40 each": (lambda: gaussian(2.0), draw_speakers(5, 20, 40, 2.0, 0.2)),
    "12 speakers, 5+20 each": (lambda: gaussian(3.0), draw_speakers(12, 5, 20, 3.0, 0.2)),
    "24 speakers, 5+20 each": (lambda: gaussian(2.5), draw_speakers(24, 5, 20, 2.5, 0.35)),
    "all pairs of 22 speakers": (lambda: gaussian(2.6), draw_all_pairs(22, 2.6, 0.2)),
}


def coverage(name: str, sets: int) -> dict[str, str]:
    """The share of sets, in percent, whose interval holds the truth; "-" where there was none."""
    population, draw = DESIGNS[name]
    truth, held = population().truths(), dict[str, list[bool]]()
    for seed in range(sets):
        trials, by = draw(np.random.default_rng([seed, *name.encode()]))
        found = closed_form_intervals(trials, list(PRIORS), level=0.95, by=by, wanted=ASKED)
        for number in truth.keys() & found.keys():
            bound = found[number]
            held.setdefault(number, []).append(bound.low - 1e-9 <= truth[number] <= bound.high + 1e-9)
    return {number: f"{100.0 * np.mean(held[number]):.1f}" if number in held else "-" for number in truth}


def main() -> None:
    """Writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=500)
    parser.add_argument("--only", default="")
    given = parser.parse_args()
    columns = ("fnr", "fpr", "dcf", "min_dcf", "ppv", "f1")
    print("| design | AUC | EER | Cllr | " + " | ".join(columns) + " |\n" + "|---" * (4 + len(columns)) + "|")
    for name in (one for one in DESIGNS if given.only in one):
        found = coverage(name, given.sets)
        cells = [found[number] for number in ("auc", "eer", "cllr")]
        for column in columns:
            own = [found.get(f"applications.{k}.{column}") for k in range(3)]
            cells.append(" ".join(own) if own[0] else "")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
