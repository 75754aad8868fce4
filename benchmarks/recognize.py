"""Recognisers against scikit-learn: fit and score the same rows, best of a few alternating runs, as ratios.

    python benchmarks/recognize.py [--rows 1000000] [--texts ../shared/data/lab] [--repeat 3]

One line a task: tercet's seconds, scikit-learn's, their ratio and the bar. Exit 1 if a bar is missed.

Other jobs on the machine do not slow both alike: the threads of scikit-learn's matrix products wait for each other, so
that beside two busy processes its quadratic analysis took 20 s instead of 3.4 while tercet hardly changed. Ratios are
therefore only good on an idle machine; a line says so where it was not, and OPENBLAS_NUM_THREADS=1 compares one core.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis, QuadraticDiscriminantAnalysis
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from tercet.recognizers import GaussianRecognizer, TextRecognizer, every_nth, read_texts

FEATURES, CLASSES = 20, 10
CANTICHE = ("inferno", "purgatorio", "paradiso")


def seconds(job: Callable[[], object]) -> float:
    start = time.perf_counter()
    job()
    return time.perf_counter() - start


def compare(name: str, bar: float, ours: Callable[[], object], theirs: Callable[[], object], repeat: int) -> bool:
    """Both in turn; the best time of each counts."""
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(repeat)]
    mine, other = (min(times) for times in zip(*pairs, strict=True))
    ratio = mine / other
    print(f"{name:<44} tercet {mine:8.4f} s   scikit-learn {other:8.4f} s   ratio {ratio:.3f}   bar {bar:g}")
    return ratio <= bar


def simulated(rows: int) -> tuple[np.ndarray, np.ndarray]:
    """Well-conditioned Gaussian classes, and their labels."""
    random = np.random.default_rng(0)
    labels = random.integers(0, CLASSES, rows)
    mixing = np.eye(FEATURES) + random.standard_normal((CLASSES, FEATURES, FEATURES)) / 15
    means = random.standard_normal((CLASSES, FEATURES))
    samples = random.standard_normal((rows, FEATURES))
    for k in range(CLASSES):
        samples[labels == k] = samples[labels == k] @ mixing[k] + means[k]
    return samples, labels


def gaussian(rows: int, repeat: int) -> bool:
    samples, labels = simulated(rows)
    size = f"{rows} x {FEATURES}, {CLASSES} classes"
    rivals = {"full": QuadraticDiscriminantAnalysis, "tied": LinearDiscriminantAnalysis}
    met = True
    for kind, rival in rivals.items():
        met &= compare(
            f"{kind}, {size}",
            1.0,
            lambda kind=kind: GaussianRecognizer.fit(samples, labels, kind).log_likelihoods(samples),
            lambda rival=rival: rival().fit(samples, labels).predict_log_proba(samples),
            repeat,
        )
    return met


def text(folder: Path, repeat: int) -> bool:
    parts = [read_texts(folder / f"{name}.txt", "latin-1") for name in CANTICHE]
    splits = [every_nth(len(part), 4) for part in parts]
    train = [part[i] for part, split in zip(parts, splits, strict=True) for i in split.train]
    test = [part[i] for part, split in zip(parts, splits, strict=True) for i in split.test]
    labels = np.repeat(CANTICHE, [len(split.train) for split in splits])

    def theirs() -> object:
        counter = CountVectorizer(lowercase=False, token_pattern=r"\S+")
        model = MultinomialNB(alpha=0.001).fit(counter.fit_transform(train), labels)
        return model.predict_joint_log_proba(counter.transform(test))

    def ours() -> object:
        return TextRecognizer.fit(train, labels, 0.001).log_likelihoods(test)

    return compare(f"text, {len(train) + len(test)} tercets", 0.5, ours, theirs, 5 * repeat)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--texts", type=Path, default=Path(__file__).parents[2] / "shared" / "data" / "lab")
    args = parser.parse_args()
    load, cores = os.getloadavg()[0], os.cpu_count()
    busy = " - BUSY: do not quote these ratios, they flatter tercet" if load > 0.5 else ""
    print(f"load {load:.2f} on {cores} cores before the start{busy}")
    met = gaussian(args.rows, args.repeat)
    if args.texts.is_dir():
        met &= text(args.texts, args.repeat)
    else:
        print(f"text: skipped, {args.texts} is not there (--texts FOLDER)")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
