"""How long a command takes to start and to answer, as ratios in one run: python benchmarks/command_line.py"""

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROUNDS = 9
COMMAND = [str(Path(sys.executable).with_name("tercet"))]
if not Path(COMMAND[0]).exists():
    COMMAND = [sys.executable, "-c", "from tercet.cli.main import main; main()"]


def write_scores(path, rows=1000):
    rng = np.random.default_rng(0)
    labels = rng.random(rows) < 0.3
    scores = rng.normal(np.where(labels, 2.0, -2.0), 2.0)
    lines = [f"{score!r},{int(label)}\n" for score, label in zip(scores.tolist(), labels, strict=True)]
    path.write_text("score,label\n" + "".join(lines))


def medians(commands):
    """Median seconds of each command; the rounds are interleaved, so that noise hits all alike."""
    taken = {name: [] for name in commands}
    for _ in range(ROUNDS):
        for name, words in commands.items():
            start = time.perf_counter()
            subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            taken[name].append(time.perf_counter() - start)
    return {name: float(np.median(times)) for name, times in taken.items()}


def main():
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    with tempfile.TemporaryDirectory() as folder:
        csv = Path(folder) / "scores.csv"
        write_scores(csv)
        found = medians({
            "python -c pass": [sys.executable, "-c", "pass"],
            "import numpy": [sys.executable, "-c", "import numpy"],
            "tercet --help": [*COMMAND, "--help"],
            "tercet evaluate, 1,000 rows": [*COMMAND, "evaluate", str(csv), "--app", "0.1,1,1", "--json"],
        })  # fmt: skip
    rows = [
        ("tercet --help", found["tercet --help"] / found["python -c pass"], 8.0, "x python -c pass"),
        (
            "tercet evaluate, 1,000 rows",
            found["tercet evaluate, 1,000 rows"] / (3.0 * found["import numpy"] + 0.2),
            1.0,
            "x (3 x import numpy + 0.2 s)",
        ),
    ]
    for name, seconds in found.items():
        print(f"{name:32s} {seconds * 1e3:8.1f} ms")
    print()
    for name, ratio, bar, unit in rows:
        print(f"{name:32s} {ratio:6.2f} {unit:32s} bar {bar:g}: {'met' if ratio <= bar else 'NOT met'}")


if __name__ == "__main__":
    main()
