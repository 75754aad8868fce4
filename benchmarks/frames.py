"""What a data frame costs more than its arrays, as ratios measured in one run: python benchmarks/frames.py [--rows N].

A frame's two columns into Trials, against `Trials.of_llr` of the same columns as numpy arrays. A duckdb relation has no
columns until its query has run, so it is also compared with the query and the arrays together. Rounds are interleaved
and the best of each is kept. The trials are first compared; the exit code is 1 if they disagree.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import tercet as tc

BAR = 1.2


def best(jobs: dict[str, Callable[[], Any]], rounds: int) -> tuple[dict[str, float], dict[str, Any]]:
    taken: dict[str, float] = dict.fromkeys(jobs, float("inf"))
    results = {}
    for _ in range(rounds):
        for name, job in jobs.items():
            start = time.perf_counter()
            results[name] = job()
            taken[name] = min(taken[name], time.perf_counter() - start)
    return taken, results


def frames_of(scores: np.ndarray, labels: np.ndarray) -> dict[str, Any]:
    columns = {"score": scores, "label": labels}
    found: dict[str, Any] = {
        "pandas": pd.DataFrame(columns),
        "polars": pl.DataFrame(columns),
        "Arrow": pa.table(columns),
    }
    if labels.dtype.kind == "U":
        text = found["Arrow"]["label"]
        found["pandas, categories"] = pd.DataFrame({"score": scores, "label": pd.Categorical(labels)})
        found["polars, categories"] = found["polars"].with_columns(pl.col("label").cast(pl.Categorical))
        found["Arrow, categories"] = pa.table({"score": scores, "label": text.dictionary_encode()})
    return found


def compared(kind: str, scores: np.ndarray, labels: np.ndarray, rounds: int) -> bool:
    """Prints the ratios of one kind of labels, and says whether all trials agree."""
    named: dict[str, Any] = {"target": "fraud"} if labels.dtype.kind == "U" else {}
    frames = frames_of(scores, labels)
    relation = duckdb.from_arrow(frames["Arrow"])
    jobs: dict[str, Callable[[], Any]] = {"arrays": lambda: tc.Trials.of_llr(scores, labels, **named)}
    for name, frame in (frames | {"duckdb": relation}).items():
        jobs[name] = lambda frame=frame: tc.Trials.from_frame(frame, **named)
    taken, results = best(jobs | {"query": relation.to_arrow_table}, rounds)
    right = results["arrays"]
    print(
        f"{kind} labels, {len(scores)} rows: arrays {taken['arrays']:.3f} s, the query of duckdb {taken['query']:.3f} s"
    )
    same = True
    for name in [*frames, "duckdb"]:
        agree = np.array_equal(results[name].scores, right.scores) and np.array_equal(
            results[name].labels, right.labels
        )
        floor = taken["arrays"] + (taken["query"] if name == "duckdb" else 0.0)
        ratio, of = taken[name] / floor, " of the query and the arrays" if name == "duckdb" else ""
        met = f"(bar: at most {BAR}) {'met' if ratio <= BAR else 'MISSED'}"
        print(f"  {name}: {ratio:.2f} x{of} {met}{'' if agree else '; trials DIFFER'}")
        same &= agree
    return same


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    rng = np.random.default_rng(0)
    labels = rng.random(options.rows) < 0.1
    scores = rng.normal(np.where(labels, 2.0, -2.0), 2.0)
    kinds = {"boolean": labels, "integer": labels.astype(np.int64), "text": np.where(labels, "fraud", "ok")}
    same = [compared(kind, scores, one, options.rounds) for kind, one in kinds.items()]
    return 0 if all(same) else 1


if __name__ == "__main__":
    sys.exit(main())
