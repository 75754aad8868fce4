"""Whether the page blames perfectly calibrated scores just where the study of coverage does: at most 5 in 100 runs.

`benchmarks/coverage.py --blame` counts how often the 95 % interval of the cross-fitted calibration loss lies above 0,
in 1,000 sets of each size; its table is in docs/uncertainty.md. This one writes the sentence of the page for some of
the same sets and counts where the two differ.

    python benchmarks/blame.py [RUNS] [SECONDS]
"""

from __future__ import annotations

import sys
import time

from coverage import BLAME_PRIORS, BLAME_SIZES, blamed, calibrated

import tercet as tc
from tercet.report.language import Words
from tercet.report.page import document_of
from tercet.report.verdict import Point, advice


def blamed_by_page(size: int, seed: int) -> dict[str, int]:
    """Whether the page's advice goes on beyond the threshold to use, which is all it says of calibrated scores."""
    words = Words("en")
    evaluation = tc.evaluate(calibrated(size, seed), list(BLAME_PRIORS), ci=0.95)
    (system,) = document_of(evaluation)["systems"]
    begins = words.strings["r.blame"].split("{")[0].strip()
    told = {prior: advice(system, Point(prior, 1.0, 1.0), words, several=False) for prior in BLAME_PRIORS}
    return {f"prior {prior:g}": int(begins in sentence) for prior, sentence in told.items()}


def main(runs: int = 300, seconds: float = 600.0) -> None:
    """Prints for each size how many sets there were time for, how many were blamed, and where page and study differ."""
    end = time.monotonic() + seconds
    done, found, differ = (dict.fromkeys(BLAME_SIZES, 0) for _ in range(3))
    for seed in range(runs):
        if time.monotonic() > end:
            break
        for size in BLAME_SIZES:
            page, study = blamed_by_page(size, seed), blamed(size, seed)
            done[size] += 1
            found[size] += sum(page.values())
            differ[size] += sum(page[key] != max(study[key], 0) for key in page)
    print(f"trials per class   sets   blamed at one of {len(BLAME_PRIORS)} priors   page and study differ")
    for size in BLAME_SIZES:
        print(f"{size:16d}  {done[size]:5d}  {found[size]:28d}  {differ[size]:22d}")


if __name__ == "__main__":
    main(*(kind(word) for kind, word in zip((int, float), sys.argv[1:], strict=False)))
