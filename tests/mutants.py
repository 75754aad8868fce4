"""Ten wrong programs, and whether the laws notice: python tests/mutants.py [--today] [word of a mutant's name ...]

Each mutant is a textual patch on a copy of the package. It must apply (else the patch is out of date) and a test must
fail (else the suite is too weak); if not, this exits with 1. --today takes every fourth mutant, others each day.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
TWO, CLASSES = ("tests/laws/test_two_class.py",), ("tests/laws/test_classes.py",)
REFERENCES = ("tests/laws/test_against_references.py",)
# Only square matrices can be turned round unnoticed; others would fail by their shape, whatever the laws say.
TURNED = "(app.costs.T if app.costs.shape[0] == app.costs.shape[1] else app.costs)"


class Mutant(NamedTuple):
    """A wrong program: its name and what to replace, as (file, right, wrong), each found exactly once."""

    name: str
    patches: tuple[tuple[str, str, str], ...]
    tests: tuple[str, ...] = TWO


MUTANTS = (
    Mutant(
        "accept on >=, in curves and costs",
        (
            (
                "metrics/tally.py",
                'self.scores.searchsorted(thresholds, "right")',
                'self.scores.searchsorted(thresholds, "left")',
            ),
        ),
    ),
    Mutant("accept on >=, in decisions", (("decision.py", ".llr > threshold)", ".llr >= threshold)"),)),
    Mutant(
        "ties split by row order, in the area",
        (
            (
                "metrics/curves.py",
                "pairs) if self.tied else wins",
                "pairs) if False else wins",
            ),
        ),
    ),
    Mutant(
        "ties split by row order, in the hull",
        (
            (
                "metrics/curves.py",
                "return take(self.totals, slice(0, -1)), self._weight(self.lows)",
                "return take(self.totals, slice(0, -1)), self._weight(self.highs)",
            ),
        ),
    ),
    Mutant(
        "accept-all left out, of the curve",
        (
            (
                "metrics/curves.py",
                "rejected = self._meeting.points()",
                "rejected = (column[1:] for column in self._meeting.points())",
            ),
        ),
    ),
    Mutant(
        "accept-all left out, of the hull",
        (
            (
                "metrics/curves.py",
                "kept = convex_vertices(rejected, misses, ",
                "kept = 1 + convex_vertices(rejected[1:], misses[1:], ",
            ),
        ),
    ),
    Mutant(
        "cost matrix transposed, in expected costs",
        (("decision.py", "priced(app.costs, shares[rows].T)", f"priced({TURNED}, shares[rows].T)"),),
        CLASSES,
    ),
    Mutant(
        "cost matrix transposed, in decisions",
        (("metrics/posteriors.py", "costs = np.ldexp(app.costs, ", f"costs = np.ldexp({TURNED}, "),),
        CLASSES,
    ),
    Mutant(
        "priors on the decision axis",
        (
            (
                "metrics/confusion.py",
                "zip(app.prior, self.rates.T, app.costs.T, strict",
                f"zip(app.prior, {TURNED.replace('app.costs', 'self.rates')}.T, {TURNED}.T, strict",
            ),
        ),
        CLASSES,
    ),
    Mutant(
        "FNR and FPR swapped in DCF",
        (
            (
                "application.py",
                "log_odds, fnr, fpr = np.asarray(log_odds), np.asarray(fnr), np.asarray(fpr)",
                "log_odds, fpr, fnr = np.asarray(log_odds), np.asarray(fnr), np.asarray(fpr)",
            ),
        ),
    ),
    Mutant(
        "normaliser max for min",
        (
            (
                "application.py",
                "return cheap + factor * costly",
                "return cheap / factor + costly",
            ),
        ),
    ),
    Mutant(
        "empirical prior used for the application's",
        (
            (
                "metrics/confusion.py",
                "for pi, r, c in zip(app.prior, ",
                "for pi, r, c in zip(self.counts.sum(axis=0) / self.counts.sum(), ",
            ),
        ),
        CLASSES,
    ),
    Mutant(
        "hull by float division, of rates",
        (
            (
                "metrics/curves.py",
                "    places = _survivors(_Plane.of(x, y, largest))",
                "    x, y = x / x[-1], y / y[-1]\n    places = _survivors(_Plane.of(x, y, largest))",
            ),
        ),
    ),
    Mutant(
        "hull by float division, of slopes",
        (
            (
                "metrics/curves.py",
                "if wide * dy > dx * high:",
                "if (dy / dx if dx else math.inf) > (high / wide if wide else math.inf):",
            ),
        ),
        REFERENCES,
    ),
    Mutant(
        "a sigmoid applied before ranking",
        (
            (
                "metrics/tally.py",
                "_of_class(trials.scores, labels",
                "_of_class(np.tanh(trials.scores / 2), labels",
            ),
        ),
    ),
)


RIGHT = Mutant("the right program", (), TWO + CLASSES + REFERENCES)


def main(words: list[str]) -> int:
    pool_of_today = MUTANTS[date.today().toordinal() % 4 :: 4] if "--today" in words else MUTANTS
    words = [word for word in words if word != "--today"]
    chosen = [mutant for mutant in pool_of_today if all(word in mutant.name for word in words)]
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        control, *verdicts = pool.map(verdict, [RIGHT, *chosen])
    if control[0] != "survived":  # then the others were perhaps not killed for what is wrong with them
        print(f"the tests fail on the right program: {control[1]}")
        return 1
    if not chosen:
        sys.exit(f"no mutant is called like that; there are: {', '.join(mutant.name for mutant in MUTANTS)}")
    width = max(len(mutant.name) for mutant in chosen)
    for mutant, (word, detail) in zip(chosen, verdicts, strict=True):
        print(f"{mutant.name.ljust(width)}  {word.ljust(8)}  {detail}")
    alive = sum(word != "killed" for word, _ in verdicts)
    print(f"{len(chosen) - alive} of {len(chosen)} killed")
    return 1 if alive else 0


def verdict(mutant: Mutant) -> tuple[str, str]:
    """("killed", by which test), ("survived", ...) or ("stale", which patch no longer applies)."""
    with tempfile.TemporaryDirectory() as folder:
        package = Path(folder) / "tercet"
        shutil.copytree(ROOT / "src" / "tercet", package, ignore=shutil.ignore_patterns("__pycache__"))
        for file, right, wrong in mutant.patches:
            text = (package / file).read_text(encoding="utf-8")
            if text.count(right) != 1:
                return "stale", f"{file} holds {right!r} {text.count(right)} times"
            (package / file).write_text(text.replace(right, wrong), encoding="utf-8")
        return tried(mutant.tests, folder)


def tried(tests: tuple[str, ...], folder: str) -> tuple[str, str]:
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "--tb=no"]
    run = subprocess.run(
        [*command, "--hypothesis-profile=mutants", *tests],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    failed = re.search(r"^FAILED \S*::(\S+)", run.stdout, re.MULTILINE)
    if run.returncode == 1 and failed:
        return "killed", f"by {failed[1]}"
    return ("survived", "") if run.returncode == 0 else ("broken", (run.stdout + run.stderr).strip()[-300:])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
