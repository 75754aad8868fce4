"""Two commits in one run: python benchmarks/regression.py [OLD] [NEW] [--rows N] [--repeat R].

The sources of both (OLD is HEAD unless named, NEW the files as they are) are put into folders of their own, and a
process of each answers in turns, so that other work on the machine hits both. The table shows the time of NEW over
that of OLD, the median of the turns with the least and the largest; in each turn short jobs are repeated for 0.2 s and
the best counts. The exit code is 1 where a median is above 1.05 and every turn was slower.
"""

from __future__ import annotations

import argparse
import io
import os
import statistics
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]

ANSWER = """
import sys, time
import numpy as np
import tercet as tc

rows = int(sys.argv[1])
rng = np.random.default_rng(0)
y = rng.random(rows) < 0.1
s = rng.normal(size=rows) * 2 + np.where(y, 2.0, -2.0)
whole, parts = rng.integers(1, 10, rows), rng.random(rows) + 0.01
few = slice(0, 1000)
k = rng.integers(0, 10, rows // 10)
scores = rng.normal(size=(rows // 10, 10))
app = tc.Application.multiclass(np.full(10, 0.1), rng.random((10, 10)))
trials, several = tc.Trials.of_llr(s, y), tc.Trials.of_log_likelihoods(scores, k)
decided = tc.decide(several, app).astype(np.int64)
jobs = {
    "evaluate": lambda: tc.evaluate(tc.Trials.of_llr(s, y)).to_dict(),
    "evaluate, whole weights": lambda: tc.evaluate(tc.Trials.of_llr(s, y, weights=whole)).to_dict(),
    "evaluate, fractional weights": lambda: tc.evaluate(tc.Trials.of_llr(s, y, weights=parts)).to_dict(),
    "evaluate 1,000 trials, 20 times": lambda: [
        tc.evaluate(tc.Trials.of_llr(s[few], y[few]), [0.01]).to_dict() for _ in range(20)
    ],
    "Cllr": lambda: tc.cllr(trials),
    "EER, interpolated": lambda: tc.Curve.of(trials).eer("interpolated"),
    "decisions of ten classes": lambda: tc.decide(several, app),
    "confusion of ten classes": lambda: tc.Confusion.of(decided, k),
    "log-loss of ten classes": lambda: tc.log_loss(several, app.prior),
    "logistic calibration": lambda: tc.Logistic.fit(trials),
    "isotonic calibration": lambda: tc.Isotonic.fit(trials),
    "bootstrap of AUC": lambda: tc.bootstrap(trials, resamples=50, quantities=["auc"], method="percentile"),
}
print("\\n".join(jobs), end="\\n\\n", flush=True)
for line in sys.stdin:
    times = []
    while sum(times) < 0.2:  # a system may keep a program on one core until that has been busy for a while
        start = time.perf_counter()
        jobs[line.strip()]()
        times.append(time.perf_counter() - start)
    print(min(times), flush=True)
"""


def unpacked(commit: str, folder: Path) -> Path:
    """The package of a commit, or the files as they are."""
    if commit == "files":
        return ROOT / "src"
    packed = subprocess.run(["git", "archive", commit, "src"], cwd=ROOT, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder / commit, filter="data")
    return folder / commit / "src"


class Answerer:
    """A process that runs jobs of one commit and says how long each took."""

    def __init__(self, source: Path, rows: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-c", ANSWER, str(rows)],
            env=os.environ | {"PYTHONPATH": str(source)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )  # fmt: skip
        assert self.process.stdout is not None
        self.jobs = []
        while name := self.process.stdout.readline().strip():
            self.jobs.append(name)

    def seconds(self, job: str) -> float:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(job + "\n")
        self.process.stdin.flush()
        return float(self.process.stdout.readline())

    def stop(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("old", nargs="?", default="HEAD")
    parser.add_argument("new", nargs="?", default="files")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    slower = 0
    with tempfile.TemporaryDirectory() as folder:
        old, new = (Answerer(unpacked(commit, Path(folder)), given.rows) for commit in (given.old, given.new))
        for job in old.jobs:
            old.seconds(job), new.seconds(job)  # what is imported lazily is imported now
            ratios = [new.seconds(job) / old.seconds(job) for _ in range(given.repeat)]
            middle, low, high = statistics.median(ratios), min(ratios), max(ratios)
            slower += middle > 1.05 and low > 1.0
            print(f"{middle:6.2f}  {low:6.2f} to {high:6.2f}  {job}", flush=True)
        old.stop(), new.stop()
    return 1 if slower else 0


if __name__ == "__main__":
    sys.exit(main())
