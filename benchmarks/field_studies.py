"""Simulated coverage of guarantees, of prevalence intervals, of spoofing costs and of the forensic validation sheet.

    python benchmarks/field_studies.py guarantees|prevalence|spoofing|sheet [--sets N] [--minutes M]

Each study stops after this many sets or minutes, whichever comes first, and prints the number of sets it made.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from statistics import NormalDist

import numpy as np
from scipy.optimize import fsolve, minimize_scalar
from scipy.special import ndtr

import tercet as tc
from tercet import spoofing
from tercet.forensics import _sheet

NORMAL = NormalDist()
SEED = 20


def until(sets: int, minutes: float) -> Iterator[int]:
    """The numbers of the sets, as long as there is time."""
    end = time.monotonic() + 60.0 * minutes
    for number in range(sets):
        if time.monotonic() > end:
            return
        yield number


def guarantees(sets: int, minutes: float) -> None:
    """How often a guaranteed false alarm rate is exceeded, and which share of the true threshold's power is kept."""
    print("guarantee, 95 % confidence | d' | broken | power kept | sets")
    labels = np.r_[np.ones(200, bool), np.zeros(2000, bool)]
    for rate in (0.05, 0.01):
        for distance in (1.0, 2.0):
            rng, broken, power, made = np.random.default_rng(SEED), 0, 0.0, 0
            full = 1.0 - NORMAL.cdf(NORMAL.inv_cdf(1.0 - rate) - distance)
            for _ in until(sets, minutes / 4.0):
                scores = rng.normal(labels * distance)
                at = tc.Rule.fit(tc.Trials.of_scores(scores, labels), fpr_at_most=rate, confidence=0.95).threshold
                broken += 1.0 - NORMAL.cdf(at) > rate
                power += (1.0 - NORMAL.cdf(at - distance)) / full
                made += 1
            print(f"FPR at most {rate:.0%} | {distance:g} | {broken / made:.1%} | {power / made:.1%} | {made}")


def prevalence(sets: int, minutes: float) -> None:
    """Coverage of 95 % intervals: 5,000 unlabelled scores, 5 % targets, d' = 2, calibrated on two sizes of sets."""
    print("labelled per class | method | covered | mean width | sets")
    methods = {"em": {}, "em, calibrator held fixed": {}, "rogan-gladen": {"method": "rogan-gladen"}}
    for size in (1000, 100):
        rng, covered, wide, made = (
            np.random.default_rng(SEED),
            dict.fromkeys(methods, 0),
            dict.fromkeys(methods, 0.0),
            0,
        )
        for _ in until(sets, minutes / 2.0):
            hidden = rng.random(5000) < 0.05
            new = tc.Trials.of_scores(rng.normal(2.0 * hidden))
            known = np.r_[np.ones(size, bool), np.zeros(size, bool)]
            labelled = tc.Trials.of_scores(rng.normal(2.0 * known), known)
            for name, asked in methods.items():
                if "fixed" in name:
                    found = tc.estimate_prevalence(tc.Logistic.fit(labelled, 0.5)(new))
                else:
                    found = tc.estimate_prevalence(new, labelled, **asked)
                covered[name] += found.low <= 0.05 <= found.high
                wide[name] += found.high - found.low
            made += 1
        for name in methods:
            print(f"{size} + {size} | {name} | {covered[name] / made:.1%} | {wide[name] / made:.4f} | {made}")


# Verification scores are normal with these means and deviation 1; so are the countermeasure's, spoofs about 0.
MEANS = {"target": 3.0, "nontarget": 0.0, "spoof": 1.5}
BONA_FIDE = 2.0
ASV_THRESHOLD, CM_THRESHOLD, THRESHOLD = 1.5, 1.0, 1.8


def true_values() -> dict[str, float]:
    """The population values of what `spoofing` estimates below."""
    at = spoofing.SpoofingPoint.of("asvspoof5")
    weights = {
        "target": at.prior_target * at.cost_miss,
        "nontarget": at.prior_nontarget * at.cost_nontarget,
        "spoof": at.prior_spoof * at.cost_spoof,
    }

    def a_cost(cut: float) -> float:
        alarms = sum(weights[name] * ndtr(MEANS[name] - cut) for name in ("nontarget", "spoof"))
        return (weights["target"] * ndtr(cut - MEANS["target"]) + alarms) / min(
            weights["target"], weights["nontarget"] + weights["spoof"]
        )

    rates = spoofing.AsvRates(
        ndtr(ASV_THRESHOLD - MEANS["target"]), ndtr(MEANS["nontarget"] - ASV_THRESHOLD),
        ndtr(MEANS["spoof"] - ASV_THRESHOLD),
    )  # fmt: skip
    there = spoofing.SpoofingPoint.of("asvspoof2021")
    b = (
        there.prior_target * there.cost_miss * rates.miss
        + there.prior_nontarget * there.cost_nontarget * rates.false_alarm
    )
    c1, c2 = there.prior_target * there.cost_miss - b, there.prior_spoof * there.cost_spoof * rates.spoof_false_alarm

    def t_cost(cut: float) -> float:
        return (b + c1 * ndtr(cut - BONA_FIDE) + c2 * ndtr(-cut)) / (b + min(c1, c2))

    def apart(cuts: np.ndarray) -> list[float]:
        asv, cm = cuts
        missed = ndtr(cm - BONA_FIDE)
        misses = missed + (1.0 - missed) * ndtr(asv - MEANS["target"])
        nontarget, spoof = (1.0 - missed) * ndtr(MEANS["nontarget"] - asv), ndtr(-cm) * ndtr(MEANS["spoof"] - asv)
        return [misses - nontarget, misses - spoof, misses]

    both = fsolve(lambda cuts: apart(cuts)[:2], [1.3, 0.5])
    bounds = {"bounds": (-3.0, 6.0), "method": "bounded", "options": {"xatol": 1e-10}}
    return {
        "a-DCF, minimum": minimize_scalar(a_cost, **bounds).fun, "a-DCF, actual": a_cost(THRESHOLD),
        "t-DCF, minimum": minimize_scalar(t_cost, **bounds).fun, "t-DCF, actual": t_cost(CM_THRESHOLD),
        "t-EER, concurrent": apart(both)[2],
    }  # fmt: skip


def drawn(rng: np.random.Generator, sizes: dict[str, int]) -> tuple[tc.Trials, tc.Trials]:
    """Verification and countermeasure scores of independent trials."""
    key = np.repeat(list(sizes), list(sizes.values()))
    asv = spoofing.of_key(rng.normal([MEANS[name] for name in key]), key)
    bona_fide = key != "spoof"
    return asv, tc.Trials.of_scores(rng.normal(BONA_FIDE * bona_fide), bona_fide)


def spoofing_costs(sets: int, minutes: float) -> None:
    """Coverage of 95 % percentile intervals of a-DCF, t-DCF and t-EER, 300 targets, 600 nontargets, 600 spoofs."""
    truth = true_values()
    sizes, draws = {"target": 300, "nontarget": 600, "spoof": 600}, {"ci": 0.95, "resamples": 200}
    below, above, made = dict.fromkeys(truth, 0), dict.fromkeys(truth, 0), 0
    rng = np.random.default_rng(SEED)
    for number in until(sets, minutes):
        asv, countermeasure = drawn(rng, sizes)
        a = spoofing.a_dcf(asv, threshold=THRESHOLD, **draws, seed=number)
        t = spoofing.t_dcf(
            countermeasure, asv, threshold=CM_THRESHOLD, asv_threshold=ASV_THRESHOLD, **draws, seed=number
        )
        e = spoofing.t_eer(asv, countermeasure, **draws, seed=number)
        ends = [a.minimum_interval, a.actual_interval, t.minimum_interval, t.actual_interval, e.interval]
        for name, interval in zip(truth, ends, strict=True):
            below[name] += interval.high < truth[name]
            above[name] += interval.low > truth[name]
        made += 1
    print("quantity | true value | covered | interval below | interval above | sets")
    for name, value in truth.items():
        covered = 1.0 - (below[name] + above[name]) / made
        print(f"{name} | {value:.4f} | {covered:.1%} | {below[name] / made:.1%} | {above[name] / made:.1%} | {made}")


SPREAD = 2.0  # of Gaussian llrs, whose means are then -2 and 2 if they are calibrated


def true_cllr(shift: float) -> float:
    """Cllr of calibrated Gaussian llrs with a shift."""
    grid = np.linspace(-30.0, 30.0, 200_001)
    costs = []
    for sign in (1.0, -1.0):
        density = np.exp(-0.5 * ((grid - sign * SPREAD**2 / 2.0) / SPREAD) ** 2) / (SPREAD * np.sqrt(2.0 * np.pi))
        costs.append(np.trapezoid(density * np.logaddexp(0.0, -sign * (grid + shift)), grid))
    return float(np.mean(costs) / np.log(2.0))


def sheet(sets: int, minutes: float) -> None:
    """Coverage of the 95 % intervals of Cllr cal and devPAV: calibrated LRs, and LRs that are all twice too large."""
    print("trials | LRs times | quantity | true value | mean value | covered | interval above | sets")
    designs = [(sizes, off) for sizes in ((60, 60), (100, 300), (300, 900), (1000, 1000)) for off in (1.0, 2.0)]
    for (same, different), off in designs:
        shift = float(np.log(off))
        truth = {"Cllr cal (bits)": true_cllr(shift) - true_cllr(0.0), "devPAV": shift / np.log(10.0)}
        rng, labels = np.random.default_rng(SEED), np.r_[np.ones(same), np.zeros(different)]
        tables = {name: [] for name in truth}
        for number in until(sets, minutes / len(designs)):
            trials = tc.Trials.of_llr(rng.normal((labels - 0.5) * SPREAD**2, SPREAD) + shift, labels)
            draws = {"ci": 0.95, "by": None, "resamples": 100, "seed": number, "bayes_plot": None}
            known = tc.evaluate(trials, [], ci=0.95).intervals
            for one in (_sheet._cllr_cal(trials, draws, known), _sheet._dev_pav(trials, tc.Tally.of(trials), draws)):
                if one.interval is not None:
                    tables[one.name].append((one.value, one.interval.low, one.interval.high))
        for name, rows in tables.items():
            if rows:
                value, low, high = np.array(rows).T
                inside = np.mean((low <= truth[name]) & (truth[name] <= high))
                means = f"{truth[name]:.4f} | {value.mean():.4f} | {inside:.1%} | {np.mean(low > truth[name]):.1%}"
                print(f"{same} + {different} | {off:g} | {name} | {means} | {len(rows)}", flush=True)


STUDIES = {"guarantees": guarantees, "prevalence": prevalence, "spoofing": spoofing_costs, "sheet": sheet}


def main() -> None:
    """Runs one study."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("study", choices=STUDIES)
    asked.add_argument("--sets", type=int, default=2000)
    asked.add_argument("--minutes", type=float, default=10.0)
    options = asked.parse_args()
    STUDIES[options.study](options.sets, options.minutes)


if __name__ == "__main__":
    main()
