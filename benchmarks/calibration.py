"""Calibrating ten million scores, in one run: ratios to scikit-learn's fits and to np.sort, with their bars.

    python benchmarks/calibration.py [--rows 10000000] [--repeat 3]

Exit code 1 when a bar is missed. Every time is the best of the repeats, which are interleaved.
"""

import argparse
import math
import sys
import time

import numpy as np

import tercet as tc
from tercet.calibration.two_class import Gaussian, Isotonic, Logistic


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    scores, labels = made(options.rows)
    trials = tc.Trials.of_scores(scores, labels)
    found = best(
        {
            "theirs isotonic": lambda: their_isotonic(scores, labels),
            "theirs logistic": lambda: their_logistic(scores, labels),
            "isotonic": lambda: Isotonic.fit(trials),
            "logistic": lambda: Logistic.fit(trials),
            "gaussian": lambda: Gaussian.fit(trials),
        },
        options.repeat,
    )
    step_map, affine_map = found["isotonic"][1], found["logistic"][1]
    applied = {"sort": lambda: np.sort(scores), "step": lambda: step_map(trials), "line": lambda: affine_map(trials)}
    found |= best(applied, 5 * options.repeat)
    sort, stepped, lined, isotonic, logistic, gaussian, theirs_isotonic, theirs_logistic = (
        found[name][0] for name in (*applied, "isotonic", "logistic", "gaussian", "theirs isotonic", "theirs logistic")
    )
    their_model = found["theirs logistic"][1]
    prior = labels.mean()
    at_data = Logistic.fit(trials, prior)
    ours = gradient(at_data.slope, at_data.offset + math.log(prior / (1 - prior)), scores, labels)
    other = gradient(their_model.coef_[0, 0], their_model.intercept_[0], scores, labels)
    rows = [
        ("Isotonic.fit", isotonic, "sklearn / ours", theirs_isotonic / isotonic, ">= 5"),
        ("Logistic.fit", logistic, "sklearn / ours", theirs_logistic / logistic, ">= 5"),
        ("Gaussian.fit", gaussian, "ours / np.sort", gaussian / sort, ""),
        ("apply Isotonic", stepped, "ours / np.sort", stepped / sort, "<= 1"),
        ("apply Logistic", lined, "ours / np.sort", lined / sort, "<= 1"),
        ("gradient norm", ours, "ours / sklearn", ours / other, "<= 1"),
    ]
    print(f"{options.rows:,} scores; np.sort {sort:.3f} s, IsotonicRegression.fit {theirs_isotonic:.2f} s, "
          f"LogisticRegression(C=inf).fit {theirs_logistic:.2f} s (gradient norm {other:.1e})")  # fmt: skip
    met = True
    for name, value, what, ratio, bar in rows:
        good = not bar or (ratio >= 5 if bar.startswith(">") else ratio <= 1)
        met &= good
        shown = f"{value:9.3f} s" if name != "gradient norm" else f"{value:11.1e}"
        print(f"{name:<16}{shown}   {what:<16}{ratio:10.3g}   {bar:<6}{'' if good else 'MISSED'}")
    return 0 if met else 1


def made(rows):
    rng = np.random.default_rng(0)
    labels = rng.random(rows) < 0.5
    return rng.normal(size=rows) + np.where(labels, 1.5, -0.5), labels


def best(jobs, repeat):
    """The shortest time of each job and its result; the rounds are interleaved, so that noise hits all alike."""
    times, results = {name: [] for name in jobs}, {}
    for _ in range(repeat):
        for name, job in jobs.items():
            start = time.perf_counter()
            results[name] = job()
            times[name].append(time.perf_counter() - start)
    return {name: (min(times[name]), results[name]) for name in jobs}


def their_isotonic(scores, labels):
    from sklearn.isotonic import IsotonicRegression

    return IsotonicRegression(out_of_bounds="clip").fit(scores, labels)


def their_logistic(scores, labels):
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(C=np.inf).fit(scores[:, None], labels)


def gradient(slope, offset, scores, labels):
    """The gradient norm of the mean log-loss, on standardised scores."""
    mean, deviation = scores.mean(), scores.std()
    wrong = 1.0 / (1.0 + np.exp(-(slope * scores + offset))) - labels
    return float(np.hypot(np.mean(wrong * (scores - mean) / deviation), wrong.mean()))


if __name__ == "__main__":
    sys.exit(main())
