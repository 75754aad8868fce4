"""What reading files costs, as ratios measured in one run: python benchmarks/files.py [--rows N] [--rounds N].

Joins trial lines with a key of as many lines and evaluates them, against a plain Python dictionary that only
joins; reads and evaluates a Parquet file, against duckdb reading its two columns and one np.sort. Rounds are
interleaved and the best of each is kept. Results are first compared; the exit code is 1 if they disagree.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import duckdb
import numpy as np

import tercet as tc
from tercet.io import read

APPLICATION = [(0.05, 1, 1)]


def trials(rows: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    labels = rng.random(rows) < 0.1
    return rng.normal(np.where(labels, 2.0, -2.0), 2.0), labels


def write_lists(folder: Path, rows: int) -> tuple[Path, Path]:
    """A score file and a key of as many lines, in different orders; ids as in VoxCeleb's lists."""
    scores, labels = trials(rows)
    rng = np.random.default_rng(1)
    models = rng.integers(0, 5000, rows).tolist()
    ids = [
        f"id{10000 + m}/video{m % 97:02d}/{n % 1000:05d}.wav id{20000 + n // 1000}/{n:08d}.wav"
        for n, m in enumerate(models)
    ]
    with (folder / "scores.txt").open("w") as out:
        out.writelines(f"{one} {score!r}\n" for one, score in zip(ids, scores.tolist(), strict=True))
    with (folder / "key.txt").open("w") as out:
        out.writelines(f"{int(labels[n])} {ids[n]}\n" for n in rng.permutation(rows).tolist())
    return folder / "scores.txt", folder / "key.txt"


def by_dictionary(scores: Path, key: Path) -> tuple[list[float], list[bool]]:
    """What people write: a dictionary of the key, looked up line by line."""
    labels = {}
    with key.open() as lines:
        for line in lines:
            label, enrol, test = line.split()
            labels[enrol, test] = label == "1"
    values, found = [], []
    with scores.open() as lines:
        for line in lines:
            enrol, test, score = line.split()
            values.append(float(score))
            found.append(labels[enrol, test])
    return values, found


def write_parquet(folder: Path, rows: int) -> Path:
    scores, labels = trials(rows)
    path = folder / "scores.parquet"
    with duckdb.connect() as con:
        con.register("columns", {"score": scores, "label": labels})
        con.execute(f"COPY (SELECT * FROM columns) TO '{path}' (FORMAT parquet)")
    return path


def columns_and_sort(path: Path) -> np.ndarray:
    with duckdb.connect() as con:
        found = con.execute(f"SELECT score, label FROM read_parquet('{path}')").fetchnumpy()
    return np.sort(found["score"])


def best(jobs: dict[str, Callable[[], Any]], rounds: int) -> tuple[dict[str, float], dict[str, Any]]:
    taken: dict[str, float] = dict.fromkeys(jobs, float("inf"))
    results = {}
    for _ in range(rounds):
        for name, job in jobs.items():
            start = time.perf_counter()
            results[name] = job()
            taken[name] = min(taken[name], time.perf_counter() - start)
    return taken, results


def joined(folder: Path, rows: int, rounds: int) -> bool:
    scores, key = write_lists(folder, rows)
    taken, results = best(
        {
            "dictionary": lambda: by_dictionary(scores, key),
            "tercet": lambda: tc.evaluate(read(scores, key=key), APPLICATION),
        },
        rounds,
    )
    right = tc.evaluate(tc.Trials.of_llr(*map(np.array, results["dictionary"])), APPLICATION).to_dict()
    same = {k: v for k, v in right.items() if k != "name"} == {
        k: v for k, v in results["tercet"].to_dict().items() if k != "name"
    }
    ratio = taken["dictionary"] / taken["tercet"]
    print(
        f"join {rows} + {rows} lines: dictionary alone {taken['dictionary']:.2f} s, "
        f"tercet read + evaluate {taken['tercet']:.2f} s"
    )
    print(
        f"  {ratio:.2f} x faster (bar: at least 3) {'met' if ratio >= 3 else 'MISSED'}; "
        f"results {'agree' if same else 'DIFFER'}"
    )
    return same


def parquet(folder: Path, rows: int, rounds: int) -> bool:
    path = write_parquet(folder, rows)
    taken, results = best(
        {
            "floor": lambda: columns_and_sort(path),
            "read": lambda: read(path),
            "tercet": lambda: tc.evaluate(read(path), APPLICATION),
        },
        rounds,
    )
    same = np.array_equal(np.sort(results["read"].scores), results["floor"])
    ratio = taken["tercet"] / taken["floor"]
    print(
        f"parquet of {rows} rows: columns + np.sort {taken['floor']:.2f} s, tercet read {taken['read']:.2f} s, "
        f"read + evaluate {taken['tercet']:.2f} s"
    )
    print(
        f"  {ratio:.2f} x (bar: at most 3) {'met' if ratio <= 3 else 'MISSED'}; scores {'agree' if same else 'DIFFER'}"
    )
    return same


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, help="lines to join, and rows of Parquet (default 3 and 10 million)")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        same = joined(Path(folder), options.rows or 3_000_000, options.rounds)
        same &= parquet(Path(folder), options.rows or 10_000_000, options.rounds)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
