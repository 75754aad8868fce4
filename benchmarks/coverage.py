"""Coverage of the default intervals: simulated sets from known populations, and how often an interval holds the truth.

    python benchmarks/coverage.py --minutes 60                                  # resumes where it stopped
    python benchmarks/coverage.py --quantities auc,eer --only speakers --first 1000 --sets 10000    # further sets
    python benchmarks/coverage.py --table coverage.jsonl                        # the table, as Markdown
    python benchmarks/coverage.py --check coverage.jsonl                        # cells that miss their bar, or may
    python benchmarks/coverage.py --quick                                       # 20 sets of each design
    python benchmarks/coverage.py --blame --out blame.jsonl      # how often calibrated scores are blamed
    python benchmarks/coverage.py --null --out null.jsonl        # how often equal systems are told apart at 5 %
    python benchmarks/coverage.py --discordant                   # the same of rates and costs, by counts

Each population is drawn and judged apart from tercet: draws by numpy, truths by scipy's distributions and quadrature.
Rates and costs of independent trials are not simulated: errors are binomial, so that their coverage is a sum.
The calibration loss is judged against the population's cost of the five calibrations that were fitted (the k-fold test
error of Bayle, Bayle, Janson and Mackey 2020), and "limit" against that of the calibration of unlimited data.
Scores with Gaussian noise are perfectly calibrated llrs with an EER of 5 %; with Student-t(3) noise the EER is 5 % too.
Speakers add a shift of their own to all their scores, which leaves the marginal distributions as they are.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
from scipy import integrate, optimize, stats

import tercet as tc
from tercet.metrics.mover import Proportion, Sum
from tercet.uncertainty._clusters import grouping
from tercet.uncertainty._two_class import NotEstimable, RatePair
from tercet.uncertainty.intervals import CalibrationLosses, closed_form_intervals

PRIORS = (0.5, 0.05, 0.01)
Z = stats.norm.ppf(0.95)
T3 = stats.t(3)
T_SLOPE = 1.2  # llr = slope x score for Student's noise: about right in the middle, too bold in the tails
SHARE = 0.2  # of the variance that a speaker's shift makes up


@dataclass(frozen=True)
class Design:
    """How many trials and groups, and which noise."""

    name: str
    targets: int
    nontargets: int
    noise: str = "gaussian"
    groups: int = 0
    kind: str = ""  # equal, unequal, one-class, crossed, same-names
    chosen_on: bool = True  # whether methods were chosen with it


SIZES = ((25, 25), (3, 47), (250, 250), (25, 475), (2500, 2500), (250, 4750))
DESIGNS = [
    *(Design(f"{t}+{n} {noise}", t, n, noise) for noise in ("gaussian", "t3") for t, n in SIZES),
    *(
        Design(f"{count} speakers, {kind}", 10 * count, 10 * count, "gaussian", count, kind)
        for count in (20, 100)
        for kind in ("equal", "unequal", "one-class")
    ),
    Design("30 x 30 crossed", 300, 600, "gaussian", 30, "crossed"),
    Design("30 speakers on both sides", 90, 810, "gaussian", 30, "same-names"),
]
# Chosen after the methods were frozen.
FURTHER = [
    Design("60+600 gaussian", 60, 600, chosen_on=False),
    Design("1000+100 t3", 1000, 100, "t3", chosen_on=False),
    Design("40 speakers, unequal", 400, 400, "gaussian", 40, "unequal", chosen_on=False),
    Design("20 x 20 crossed", 150, 300, "gaussian", 20, "crossed", chosen_on=False),
]


def law(noise: str):
    """Location, scale and standard distribution of the targets' llrs; the non-targets' are mirrored."""
    if noise == "gaussian":
        return 2.0 * Z * Z, 2.0 * Z, stats.norm
    return T_SLOPE * T3.ppf(0.95), T_SLOPE, T3


@cache
def truth(noise: str) -> dict[str, float]:
    """Every number of the population."""
    place, scale, kind = law(noise)

    def fnr(t):
        return kind.cdf((t - place) / scale)

    def fpr(t):
        return kind.sf((t + place) / scale)

    found = {"eer": float(kind.sf(place / scale))}
    density = lambda x: kind.pdf((x - place) / scale) / scale  # noqa: E731
    found["auc"] = integrate.quad(lambda x: density(x) * (1.0 - fpr(x)), -400, 400, limit=2000, points=[0, place])[0]
    found["cllr"] = integrate.quad(
        lambda x: density(x) * np.logaddexp(0.0, -x), -400, 400, limit=2000, points=[0, place]
    )[0] / math.log(2.0)
    if noise == "gaussian":
        found["min_cllr"] = found["cllr"]
    grid = np.concatenate((-np.geomspace(1e4, 30, 400), np.linspace(-30, 30, 60001), np.geomspace(30, 1e4, 400)))
    for k, prior in enumerate(PRIORS):
        tau = math.log(prior) - math.log1p(-prior)
        miss, alarm = (1.0, math.exp(-tau)) if tau <= 0 else (math.exp(tau), 1.0)

        def cost(t, miss=miss, alarm=alarm):
            return miss * fnr(t) + alarm * fpr(t)

        rates = {"fnr": fnr(-tau), "fpr": fpr(-tau), "dcf": cost(-tau), "min_dcf": min(1.0, cost(grid).min())}
        rates["limit"] = rates["dcf"] - calibrated_cost(noise, prior, *line(noise, prior))
        found |= {f"applications.{k}.{name}": float(value) for name, value in rates.items()}
    return found


def calibrated_cost(noise: str, prior: float, slope: float, offset: float) -> float:
    """The population's normalised cost when llrs slope x score + offset are decided at a prior; slope > 0."""
    place, scale, kind = law(noise)
    tau = math.log(prior) - math.log1p(-prior)
    miss, alarm = (1.0, math.exp(-tau)) if tau <= 0 else (math.exp(tau), 1.0)
    if slope <= 0.0:
        raise ValueError("the calibration turns the order round")
    t = (-tau - offset) / slope
    return float(miss * kind.cdf((t - place) / scale) + alarm * kind.sf((t + place) / scale))


@cache
def line(noise: str, prior: float) -> tuple[float, float]:
    """The population's logistic calibration at a prior."""
    if noise == "gaussian":
        return 1.0, 0.0
    place, scale, kind = law(noise)
    x = place + scale * kind.ppf((np.arange(200000) + 0.5) / 200000)
    odds = math.log(prior) - math.log1p(-prior)

    def loss(p):
        return (
            prior * np.logaddexp(0.0, -(p[0] * x + p[1] + odds)).mean()
            + (1 - prior) * np.logaddexp(0.0, -p[0] * x + p[1] + odds).mean()
        )

    return tuple(optimize.minimize(loss, [1.0, 0.0], method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-12}).x)


def drawn(design: Design, seed: int) -> tuple[tc.Trials, object]:
    """One simulated set, and the groups to name."""
    rng = np.random.default_rng([seed, *design.name.encode()])
    place, scale, _ = law(design.noise)
    labels = np.r_[np.ones(design.targets, int), np.zeros(design.nontargets, int)]
    count = len(labels)
    signs = np.where(labels == 1, place, -place)
    if not design.groups:
        noise = rng.standard_normal(count) if design.noise == "gaussian" else rng.standard_t(3, count)
        return tc.Trials.of_llr(signs + scale * noise, labels), None
    shift, groups, by = shifts(design, labels, rng)
    noise = math.sqrt(SHARE) * shift + math.sqrt(1.0 - SHARE) * rng.standard_normal(count)
    return tc.Trials.of_llr(signs + scale * noise, labels, groups=groups), by


def shifts(design: Design, labels, rng):
    """The standardised shift of each trial, its groups and their columns."""
    g, count = design.groups, len(labels)
    if design.kind == "crossed":
        a, b = rng.integers(0, g, count), rng.integers(0, g, count)
        shift = (rng.standard_normal(g)[a] + rng.standard_normal(g)[b]) / math.sqrt(2.0)
        return shift, {"a": np.char.add("m", a.astype(str)), "b": np.char.add("s", b.astype(str))}, ("a", "b")
    if design.kind == "same-names":
        own = rng.standard_normal(g)
        a = rng.integers(0, g, count)
        b = np.where(labels == 1, a, (a + rng.integers(1, g, count)) % g)
        shift = np.where(a == b, own[a], (own[a] + own[b]) / math.sqrt(2.0))
        return shift, {"a": a.astype(str), "b": b.astype(str)}, ("a", "b")
    if design.kind == "one-class":
        codes = np.where(labels == 1, rng.integers(0, g // 2, count), rng.integers(g // 2, g, count))
    elif design.kind == "unequal":
        sizes = np.geomspace(1.0, 10.0, g)
        codes = rng.choice(g, count, p=sizes / sizes.sum())
    else:
        codes = np.r_[np.arange(design.targets) % g, np.arange(design.nontargets) % g]
    return rng.standard_normal(g)[codes], {"speaker": codes}, "speaker"


RATES = ("fnr", "fpr", "dcf")
SIMULATED = ("eer", "auc", "cllr", "min_cllr", "min_dcf", *RATES, "calibration_loss")


def judged(design: Design, seed: int, names: frozenset[str]) -> dict[str, int]:
    """1 where the interval holds the truth, 0 where not, -1 where there is none; and who was blamed."""
    trials, by = drawn(design, seed)
    losses = CalibrationLosses(trials, grouping(by))
    found = closed_form_intervals(losses, list(PRIORS), level=0.95, by=by, wanted=names)
    result = {}
    truths = {name: value for name, value in truth(design.noise).items() if name.split(".")[-1] in names}
    truths |= fitted_losses(design.noise, losses) if "calibration_loss" in names else {}
    for name, value in truths.items():
        if name not in found:
            result[name] = -1
            continue
        bound = found[name]
        result[name] = int(bound.low <= value + 1e-12 and value - 1e-12 <= bound.high)
        if name.endswith("calibration_loss"):
            result[name.replace("calibration_loss", "blamed")] = int(bound.low > 0.0)
            limit = truth(design.noise)[name.replace("calibration_loss", "limit")]
            result[name.replace("calibration_loss", "limit")] = int(bound.low <= limit <= bound.high)
    return result


def exact(design: Design, prior: float) -> tuple[float, float, float]:
    """The coverage of FNR, FPR and DCF of independent trials: a sum over the errors of both binomials."""
    place = f"applications.{PRIORS.index(prior)}."
    tau, known = math.log(prior) - math.log1p(-prior), truth(design.noise)
    costs = (1.0, math.exp(-tau)) if tau <= 0 else (math.exp(tau), 1.0)
    rates, chances, found = [], [], []
    for name, size in (("fnr", design.targets), ("fpr", design.nontargets)):
        chance = stats.binom.pmf(np.arange(size + 1), size, known[place + name])
        kept = np.flatnonzero(chance > 1e-12)
        rates.append(Proportion(kept / size, float(size)))
        chances.append(chance[kept])
        found.append(_held(rates[-1], chances[-1], known[place + name]))
    grids = np.meshgrid(*(one.value for one in rates), indexing="ij")
    pair = RatePair(Proportion(grids[0], float(design.targets)), Proportion(grids[1], float(design.nontargets)), None)
    return found[0], found[1], _held(pair.cost(*costs), np.multiply.outer(*chances), known[place + "dcf"])


def _held(estimate, chances, value: float) -> float:
    low, high = estimate.limits(0.95)
    return float(chances[(low <= value + 1e-12) & (value - 1e-12 <= high)].sum())


def fitted_losses(noise: str, losses: CalibrationLosses) -> dict[str, float]:
    """The population's loss against the calibrations that were fitted, each weighing as its fold does."""
    found = {}
    folds = losses.sample.folds
    for k, prior in enumerate(PRIORS):
        lines = folds.lines(tc.Application(prior))
        if any(one.slope <= 0.0 for one in lines):
            continue
        costs = [calibrated_cost(noise, prior, *one) for one in lines]
        shares = np.mean([np.bincount(own, minlength=folds.count) / len(own) for own in folds.numbers], axis=0)
        found[f"applications.{k}.calibration_loss"] = truth(noise)[f"applications.{k}.dcf"] - float(
            np.dot(shares, costs)
        )
    return found


BLAME_SIZES = (50, 200, 2000)
BLAME_PRIORS = (0.5, 0.1, 0.01)


def calibrated(size: int, seed: int) -> tc.Trials:
    """Calibrated Gaussian llrs with d' = 1.5, this many of each class."""
    rng = np.random.default_rng([seed, size])
    labels = np.repeat([1, 0], size)
    return tc.Trials.of_llr(1.5**2 * np.where(labels == 1, 0.5, -0.5) + 1.5 * rng.standard_normal(2 * size), labels)


def blamed(size: int, seed: int) -> dict[str, int]:
    """Whether calibrated Gaussian llrs with d' = 1.5 are blamed for a calibration loss, at each prior."""
    losses = CalibrationLosses(calibrated(size, seed))
    found = {}
    for prior in BLAME_PRIORS:
        one = losses.at(tc.Application(prior))
        found[f"prior {prior:g}"] = -1 if isinstance(one, NotEstimable) else int(float(one.limits(0.95)[0]) > 0.0)
    return found


NULL_SIZES = ((25, 25), (250, 250), (250, 4750), (2500, 2500))
SHARED = 0.7  # the correlation of two equally good systems' scores
COUNTED = 100_000  # draws of the trials that only one of them gets wrong


def told_apart(size: tuple[int, int], seed: int) -> dict[str, int]:
    """Whether two equally good systems are told apart at 5 % in numbers that are no rates at a given threshold."""
    rng = np.random.default_rng([seed, *size])
    labels = np.repeat([1, 0], size)
    place, scale, _ = law("gaussian")
    shared, signs = rng.standard_normal(len(labels)), np.where(labels == 1, place, -place)
    systems = [
        tc.Trials.of_llr(
            signs + scale * (math.sqrt(SHARED) * shared + math.sqrt(1 - SHARED) * rng.standard_normal(len(labels))),
            labels,
        )
        for _ in range(2)
    ]
    rows = tc.compare(
        *systems, applications=list(PRIORS), names=["a", "b"], quantities=["eer", "auc", "cllr", "min_dcf"]
    )
    found = {one.quantity: int(one.p_value <= 0.05) for one in rows.differences}
    return found | {f"{one.test} {one.quantity}": int(one.p_value <= 0.05) for one in rows.tests}


def told_apart_by_counts(size: tuple[int, int]) -> dict[str, list[int]]:
    """The same for rates and costs, which rest on the trials that only one system gets wrong: drawn as multinomials.

    The difference is MOVER's over their four rates; k of them have no p-value below 2^(1 - k).
    """
    rng, found = np.random.default_rng(size), {}
    bivariate = stats.multivariate_normal([0.0, 0.0], [[1.0, SHARED], [SHARED, 1.0]])
    for k, prior in enumerate(PRIORS):
        at, known = f"applications.{k}.", truth("gaussian")
        tau = math.log(prior) - math.log1p(-prior)
        costs = (1.0, math.exp(-tau)) if tau <= 0 else (math.exp(tau), 1.0)
        parts, differing = [], []
        for name, count in zip(("fnr", "fpr"), size, strict=True):
            edge = stats.norm.ppf(known[at + name])
            only = known[at + name] - float(bivariate.cdf([edge, edge]))
            drawn_counts = rng.multinomial(count, [only, only, 1.0 - 2.0 * only], COUNTED)[:, :2].T
            parts.append([Proportion(own / count, float(count)) for own in drawn_counts])
            differing.append(drawn_counts.sum(axis=0))
        both = [-np.sqrt(a.value * b.value / ((1.0 - a.value) * (1.0 - b.value))) for a, b in parts]
        pair = [[[1.0, own], [own, 1.0]] for own in both]
        four = [[*pair[0][0], 0, 0], [*pair[0][1], 0, 0], [0, 0, *pair[1][0]], [0, 0, *pair[1][1]]]
        sums = {
            "fnr": (Sum(tuple(parts[0]), (1.0, -1.0), pair[0]), differing[0]),
            "fpr": (Sum(tuple(parts[1]), (1.0, -1.0), pair[1]), differing[1]),
            "dcf": (Sum((*parts[0], *parts[1]), (costs[0], -costs[0], costs[1], -costs[1]), four), sum(differing)),
        }
        for name, (estimate, trials) in sums.items():
            low, high = estimate.limits(0.95)
            shown = int(((low > 0.0) | (high < 0.0))[2.0 ** (1.0 - trials) <= 0.05].sum())
            found[at + name] = [shown, COUNTED - shown, 0]
    return found


def rejections(name: str, cases, one, sets: int, minutes: float, out: Path) -> None:
    """Adds sets to the file, 20 at a time; resumes where it stopped."""
    done: dict[str, int] = {}
    if out.exists():
        for row in map(json.loads, out.read_text().splitlines()):
            done[row["design"]] = done.get(row["design"], 0) + row["sets"]
    end, step = time.monotonic() + 60.0 * minutes, 20
    for start in range(0, sets, step):
        for case in cases:
            called = f"{name} {case}"
            if done.get(called, 0) > start or time.monotonic() > end:
                continue
            counts: dict[str, list[int]] = {}
            for seed in range(start, start + step):
                for key, hit in one(case, seed).items():
                    counts.setdefault(key, [0, 0, 0])[{1: 0, 0: 1, -1: 2}[hit]] += 1
            with out.open("a") as file:
                file.write(json.dumps({"design": called, "sets": step, "counts": counts}) + "\n")


def rejection_table(total: dict[str, dict[str, list[int]]]) -> str:
    """The share of sets, in percent, one row per quantity and one column per design."""
    names = list(dict.fromkeys(name for own in total.values() for name in own))
    sets = {design: max(sum(counts) for counts in own.values()) for design, own in total.items()}
    lines = ["| | " + " | ".join(f"{design} ({sets[design]:,} sets)" for design in total) + " |"]
    lines.append("|---" * (1 + len(total)) + "|")
    for name in names:
        cells = [own.get(name, [0, 0, 0]) for own in total.values()]
        shown = ["-" if held + missed == 0 else f"{100.0 * held / (held + missed):.1f}" for held, missed, _ in cells]
        lines.append(f"| {name} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def run(designs, names: frozenset[str], first: int, sets: int, minutes: float, out: Path) -> None:
    """Adds sets to the file until each design has enough or the time is over."""
    asked, done = sorted(names), set()
    if out.exists():
        rows = map(json.loads, out.read_text().splitlines())
        done = {(row["design"], row["first"]) for row in rows if row["quantities"] == asked}
    end, step = time.monotonic() + 60.0 * minutes, 20
    for start in range(first, sets, step):
        for design in designs:
            own = names if design.groups else names - set(RATES)
            if (design.name, start) in done or not own:
                continue
            if time.monotonic() > end:
                return
            counts: dict[str, list[int]] = {}
            for seed in range(start, min(start + step, sets)):
                for name, held in judged(design, seed, own).items():
                    counts.setdefault(name, [0, 0, 0])[{1: 0, 0: 1, -1: 2}[held]] += 1
            row = {"design": design.name, "first": start, "quantities": asked, "counts": counts}
            with out.open("a") as file:
                file.write(json.dumps(row) + "\n")


COLUMNS = (*RATES, "min_dcf", "calibration_loss", "limit", "blamed")
ALONE = ("auc", "eer", "cllr", "min_cllr")
USUAL = 1000  # sets; cells of more say how many


def table(path: Path, designs) -> str:
    """Coverage in percent, one row per design; "r" marks the share of sets without an interval."""
    total = totals(path)
    seen = {name.split(".")[-1] for own in total.values() for name in own}
    columns = [name for name in COLUMNS if name in seen | set(RATES)]
    lines = [f"| design | AUC | EER | Cllr | min Cllr | {' | '.join(columns)} |", "|---" * (5 + len(columns)) + "|"]
    for design in (one for one in designs if one.name in total):
        own, known = total[design.name], ["", "", ""]
        if not design.groups:
            values = np.array([exact(design, prior) for prior in PRIORS]).T
            known = [" ".join(f"{100 * one:.1f}" for one in column) for column in values]
        cells = [_cell(own.get(name)) for name in ALONE]
        for name in columns:
            given = known[RATES.index(name)] if name in RATES else ""
            cells.append(given or " ".join(_cell(own.get(f"applications.{k}.{name}")) for k in range(3)))
        lines.append(f"| {design.name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def bar(design: Design, name: str) -> tuple[float, float]:
    """The least and the most that a cell may be, in percent."""
    last, known = name.split(".")[-1], truth(design.noise)
    if last in ("calibration_loss", "limit", "min_cllr"):
        return 0.0, 100.0
    if last == "blamed":
        return (0.0, 5.0) if design.noise == "gaussian" else (0.0, 100.0)
    if last == "cllr" and (design.noise != "gaussian" or min(design.targets, design.nontargets) < 250):
        return 0.0, 100.0
    if last in ("auc", "eer") and min(design.targets, design.nontargets) < 10:
        return 0.0, 100.0
    most = 100.0
    if last in RATES:
        at = name[: -len(last)]
        errors = {"fnr": design.targets * known[at + "fnr"], "fpr": design.nontargets * known[at + "fpr"]}
        most = 98.0 if min(errors.values() if last == "dcf" else [errors[last]]) >= 10.0 else 100.0
    return (92.0 if design.groups else 93.0), most


def check(path: Path, designs) -> str:
    """The cells whose 99.9 % interval lies outside their band (they fail), or lies on its edge (they are doubtful)."""
    found = []
    for design in designs:
        for name, (held, missed, _) in totals(path).get(design.name, {}).items():
            sets, (least, most) = held + missed, bar(design, name)
            if sets == 0:
                continue
            low = 100.0 * stats.beta.ppf(0.0005, held, missed + 1) if held else 0.0
            high = 100.0 * stats.beta.ppf(0.9995, held + 1, missed) if missed else 100.0
            told = (
                f"{design.name}: {name} {100.0 * held / sets:.2f} of {sets} ({low:.1f} to {high:.1f}), {least}-{most}"
            )
            if high < least or low > most:
                found.append(f"FAILS {told}")
            elif low < least or high > most:
                found.append(f"doubtful {told}")
        if not design.groups:
            for k, prior in enumerate(PRIORS):
                for name, value in zip(RATES, exact(design, prior), strict=True):
                    least, most = bar(design, f"applications.{k}.{name}")
                    if not least <= 100.0 * value <= most:
                        found.append(
                            f"FAILS {design.name}: applications.{k}.{name} {100.0 * value:.2f}, {least}-{most}"
                        )
    return "\n".join(found)


def totals(path: Path) -> dict[str, dict[str, list[int]]]:
    """The counts of all rows of a file, by design and name."""
    total: dict[str, dict[str, list[int]]] = {}
    for row in map(json.loads, path.read_text().splitlines()):
        own = total.setdefault(row["design"], {})
        for name, counts in row["counts"].items():
            own[name] = [a + b for a, b in zip(own.get(name, [0, 0, 0]), counts, strict=True)]
    return total


def _cell(counts: list[int] | None) -> str:
    if counts is None or sum(counts) == 0:
        return "-"
    held, missed, refused = counts
    shown = "-" if held + missed == 0 else f"{100.0 * held / (held + missed):.1f}"
    shown += f" ({sum(counts):,})" if sum(counts) != USUAL else ""
    return shown + (f" r{100.0 * refused / sum(counts):.0f}" if refused else "")


def write(page: Path, name: str, rows: str) -> None:
    """Puts a table between its marks on the page."""
    start, end = f"<!-- {name}: written by benchmarks/coverage.py -->", f"<!-- end of {name} -->"
    before, rest = page.read_text().split(start)
    page.write_text(f"{before}{start}\n\n{rows}\n\n{end}{rest.split(end)[1]}")


def main() -> None:
    """Runs, or prints the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="number of the first set")
    parser.add_argument("--sets", type=int, default=USUAL, help="number of the last set")
    parser.add_argument("--quantities", default=",".join(SIMULATED))
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--out", type=Path, default=Path("coverage.jsonl"))
    parser.add_argument("--table", type=Path)
    parser.add_argument("--check", type=Path)
    parser.add_argument("--only", default="", help="designs whose name holds one of these, with commas between")
    parser.add_argument("--further", action="store_true", help="the designs chosen after the methods were frozen")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--blame", action="store_true", help="how often calibrated scores are blamed")
    parser.add_argument("--null", action="store_true", help="how often equal systems are told apart")
    parser.add_argument("--discordant", action="store_true", help="the same of rates and costs, by counts")
    parser.add_argument("--write", type=Path, help="put the table on this page instead of printing it")
    given = parser.parse_args()
    if given.blame or given.null:
        name, cases, one = ("d' 1.5", BLAME_SIZES, blamed) if given.blame else ("equal", NULL_SIZES, told_apart)
        rejections(name, cases, one, 0 if given.table else given.sets, given.minutes, given.table or given.out)
        told = rejection_table(totals(given.table or given.out))
        print(told) if given.write is None else write(given.write, "blame" if given.blame else "null", told)
        return
    if given.discordant:
        told = rejection_table({f"equal {size}": told_apart_by_counts(size) for size in NULL_SIZES})
        print(told) if given.write is None else write(given.write, "discordant", told)
        return
    every = FURTHER if given.further else DESIGNS
    designs = [one for one in every if any(part in one.name for part in given.only.split(","))]
    if given.check is not None:
        print(check(given.check, designs))
        return
    if given.table is None:
        names = frozenset(given.quantities.split(","))
        run(designs, names, given.first, 20 if given.quick else given.sets, given.minutes, given.out)
    told = table(given.table or given.out, designs)
    print(told) if given.write is None else write(given.write, "further" if given.further else "designs", told)


if __name__ == "__main__":
    main()
