"""How long each figure takes beside the evaluation it draws: python benchmarks/plots.py [--rows N] [--repeat R].

A figure counts with what it computes itself, and with drawing it and writing it as a png. Each line is the time of
the figure divided by that of the evaluation (sorting included), best of R, in one run; the bar is 1.2 for the
evaluation and its figure against the evaluation alone, which is 0.2 for the figure.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import tercet as tc
from tercet.report import plots

POINTS = [(0.01, 10, 1), (0.5, 1, 1)]
BAR = 1.2


def two_class(rows: int) -> tc.Trials:
    """Log-likelihood ratios with 10 % targets."""
    rng = np.random.default_rng(0)
    labels = rng.random(rows) < 0.1
    return tc.Trials.of_llr(rng.normal(size=rows) * 2 + np.where(labels, 2.0, -2.0), labels)


def best(job: Callable[[], object], repeat: int) -> float:
    """The shortest of some runs, in seconds."""
    found = []
    for _ in range(repeat):
        start = time.perf_counter()
        job()
        found.append(time.perf_counter() - start)
    return min(found)


def main() -> None:
    """Prints one line per kind."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--rows", type=int, default=10**7)
    parser.add_argument("--repeat", type=int, default=3)
    given = parser.parse_args()
    trials = two_class(given.rows)
    plots.plot(tc.evaluate(two_class(100), POINTS), "roc")  # imports matplotlib
    whole = best(lambda: tc.evaluate(trials, POINTS), given.repeat)
    print(f"evaluate {given.rows:,} trials: {whole:.2f} s")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figure.png"
        for kind in plots.kinds_of(tc.evaluate(two_class(100), POINTS)):
            seconds = []
            for _ in range(given.repeat):  # a fresh evaluation each time: it keeps what a figure computes
                result = tc.evaluate(trials, POINTS)
                seconds.append(best(lambda: plots.plot(result, kind, path=path), 1))  # noqa: B023
            ratio = 1.0 + min(seconds) / whole
            print(
                f"{kind:20} {min(seconds):6.2f} s   {ratio:5.2f} x   {'met' if ratio <= BAR else 'NOT MET'}", flush=True
            )


if __name__ == "__main__":
    main()
