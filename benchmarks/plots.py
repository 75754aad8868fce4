"""How long each figure takes beside the evaluation it draws: python benchmarks/plots.py [--rows N] [--repeat R].

Three times for each kind, each as 1 + time / time of the evaluation (sorting included), best of R, in one run: `plot`
is tc.plot alone; `written` is the same with a png of 300 dpi; `by size` is `written` less the figure of 100 trials,
which matplotlib takes for any figure. The bar is 1.2.
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
    few = tc.evaluate(two_class(100), POINTS)
    whole = best(lambda: tc.evaluate(trials, POINTS), given.repeat)
    print(f"evaluate {given.rows:,} trials: {whole:.2f} s")
    print(f"{'kind':20} {'plot':>8} {'written':>8} {'by size':>8}")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figure.png"
        for kind in plots.kinds_of(few):
            fixed = min(measured(few, kind, path) for _ in range(given.repeat + 1))[1]  # the first run imports
            found = [measured(tc.evaluate(trials, POINTS), kind, path) for _ in range(given.repeat)]
            drawn, written = (min(times) for times in zip(*found, strict=True))
            ratios = [1.0 + seconds / whole for seconds in (drawn, written, max(written - fixed, 0.0))]
            print(f"{kind:20} " + " ".join(f"{ratio:8.2f}" for ratio in ratios), flush=True)


def measured(result: tc.Evaluation, kind: str, path: Path) -> tuple[float, float]:
    """Seconds of drawing a fresh evaluation, which keeps what a figure computes, and with writing it."""
    start = time.perf_counter()
    drawn = plots.plot(result, kind)
    middle = time.perf_counter()
    drawn.save(path)
    return middle - start, time.perf_counter() - start


if __name__ == "__main__":
    main()
