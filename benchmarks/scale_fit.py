"""Calibrating from files in bounded memory against reading them whole: python benchmarks/scale_fit.py [--rows N].

Every fit runs in a process of its own; time is of reading and training together, best of the repeats, memory the peak
of the process. Exit code 1 if a map is not the one of memory, or memory passes the limit.
"""

import argparse
import json
import math
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from scale import make

LIMIT = 10**9
SMALL = 3 * 10**8


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--task", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.task:
        print(json.dumps(task(*options.task)))
        return 0
    wrong = False
    with tempfile.TemporaryDirectory() as folder:
        for kind in ("float64", "float32"):
            path = Path(folder) / f"{kind}.parquet"
            make(path, options.rows, kind)
            print(f"{options.rows:,} rows of {kind}, {path.stat().st_size / 1e6:.0f} MB of Parquet")
            for method in ("Logistic", "Isotonic", "Gaussian"):
                wrong |= compared(method, path, options.repeat)
    return int(wrong)


def compared(method, path, repeat):
    """Prints one method's figures; true if something is wrong."""
    limits = {"memory": 0, f"{LIMIT // 10**6} MB": LIMIT, f"{SMALL // 10**6} MB": SMALL}
    runs = {name: [] for name in limits}
    for _ in range(repeat):
        for name, limit in limits.items():
            command = [sys.executable, __file__, "--task", method, str(path), str(limit)]
            runs[name].append(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))
    truth, wrong = runs["memory"][0]["model"], False
    for name, limit in limits.items():
        least = min(run["seconds"] for run in runs[name])
        peak = max(run["peak"] for run in runs[name])
        good = all(same(run["model"], truth) for run in runs[name])
        wrong |= not good or (limit > 0 and peak > limit)
        print(f"  {method:<9} {name:>8}: {least:6.2f} s  {peak / 1e6:5.0f} MB  {'same' if good else 'ANOTHER'} map")
    return wrong


def same(model, truth):
    """To the bit; of the logistic map, whose sums in memory are rounded, within 1e-12."""
    mine, others = model["parameters"], truth["parameters"]
    if model["method"] != "logistic":
        return mine == others
    return all(math.isclose(mine[name], others[name], rel_tol=1e-12, abs_tol=1e-12) for name in mine)


def task(method, path, limit):
    """Trains once, and says how long that took and how much memory."""
    import tercet as tc

    maker = getattr(tc, method)
    start = time.perf_counter()
    if int(limit):
        model = maker.fit(tc.scan(path, meaning="raw", memory_limit=int(limit)))
    else:
        model = maker.fit(tc.read(path, meaning="raw"))
    seconds = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return {"seconds": seconds, "peak": peak, "model": json.loads(model.to_json())}


if __name__ == "__main__":
    sys.exit(main())
