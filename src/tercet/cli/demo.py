"""The demonstration: from raw measurements to decisions and what they cost, on built-in data."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import click
import numpy as np

import tercet
from tercet._typing import Floats
from tercet.application import Application
from tercet.calibration.cross_fit import fit_recognizer_and_calibrator
from tercet.calibration.two_class import Logistic
from tercet.cli._command import new_command, option
from tercet.cli._output import out as show
from tercet.datasets import EXAMPLES, example, screening
from tercet.evaluation import Evaluation
from tercet.io import write_table
from tercet.recognizers import GaussianRecognizer, every_nth
from tercet.report import text
from tercet.report.terminal import print_command, print_lines, print_table, width
from tercet.trials import Trials

WARD = Application(0.5, 10, 1, "ward")
SCREENING = Application(0.01, 10, 1, "screening")

_OPENING = (
    "A model scores {scored} breast masses. Which of them should go to biopsy?",
    "",
    "That depends on where the model is used: in screening, 1 mass in 100 is malignant; on a ward, 1 in 2. And it "
    "depends on what mistakes cost: here a missed cancer is ten times as bad as an unnecessary biopsy. tercet finds "
    "the right threshold for each place, tells you what the decisions cost there, and how much of that cost better "
    "calibration would save.",
    "",
)
_SCORES = (
    "1. The scores. A simple Gaussian model was trained on half of {masses} masses and scored the other half. Each "
    "score is a log-likelihood ratio (llr): the natural logarithm of how many times more probable the measurements are "
    "if the mass is malignant.",
    "",
)
_READING = (
    "",
    "2. How to read this. The actual DCF is the cost of the decisions; 1 is the cost of deciding without the model, so "
    "less than 1 is a gain. The minimum DCF is what the best threshold would have cost on these masses.",
    "",
)
_CALIBRATION = (
    "",
    "3. These llrs are overconfident, so the thresholds are in the wrong place. A calibrator, trained by folds on the "
    "model's own half, corrects them:",
    "",
)


@new_command(epilog=None)
@option("--out", default="tercet-demo", show_default=True, metavar="DIR", folder=True, help="Where the files go.")
@option("--files", type=click.Choice(list(EXAMPLES)), help="Only write the simulated files of a tutorial.")
def command(out: str, files: str | None) -> None:
    """A complete example on built-in data: table, decisions, calibration, and what to try next."""
    os.makedirs(out, exist_ok=True)
    if files is None:
        tell(Path(out))
    else:
        write_files(files, Path(out))


def write_files(name: str, folder: Path) -> None:
    """The files that a tutorial uses."""
    for called, columns in example(name).items():
        write_table(folder / called, columns)
        print(f"{folder / called}: {len(next(iter(columns.values()))):,} rows, {', '.join(columns)}")


def tell(folder: Path) -> None:
    """Trains a recogniser, computes the cost of its decisions for two uses, calibrates it, and writes files to try."""
    scores, calibrated = recognised()
    print_lines((line.format(scored=len(scores)) for line in _OPENING), width(), indent="")
    print_lines((line.format(masses=len(screening())) for line in _SCORES), width(), indent="   ")
    before = _priced(scores, "as scored")
    print_table([before.to_dict()])
    uses = [_use(before, 0, "In screening"), _use(before, 1, "On the ward")]
    print_lines([*_READING, *uses, ""], width(), indent="   ")
    show("\n".join(text.block_plot(before.to_dict()["bayes_plot"], width())))
    after = _priced(calibrated, "calibrated")
    print_lines(_CALIBRATION, width(), indent="   ")
    print_table([before.to_dict(), after.to_dict()])
    uses = [_use(after, 0, "Now in screening"), _use(after, 1, "Now on the ward")]
    print_lines(["", *uses, ""], width(), indent="   ")
    _leave(folder, scores, [before, after])


def _priced(trials: Trials, name: str) -> Evaluation:
    """The scores at both operating points, with the calibration losses that the tables show."""
    found: Evaluation = tercet.evaluate(trials, [SCREENING, WARD], name=name)
    for row in found.applications:
        row.calibration_loss  # computed when it is asked for  # noqa: B018
    return found


def recognised() -> tuple[Trials, Trials]:
    """One half of the masses scored by a recogniser trained on the other half, before and after calibration.

    The calibrator is trained on scores that each fold's recogniser gave to masses it had not seen.
    """
    table = screening()
    train, test = every_nth(len(table), 2)
    both = fit_recognizer_and_calibrator(_trained, Logistic, table.samples[train], table.labels[train], 0.5, folds=10)
    llr, labels = both.recogniser(table.samples[test]), np.array(table.classes, np.object_)[table.labels[test]]
    raw = Trials.of_scores(llr, labels, target="malignant")
    return Trials.of_llr(llr, labels, target="malignant"), both.calibrator(raw)


def _trained(samples: Floats, labels: Floats) -> Callable[[Floats], Floats]:
    model = GaussianRecognizer.fit(samples, labels, covariance="diagonal")
    return lambda new: np.asarray(np.subtract(*model.log_likelihoods(new).T[::-1]))


def _use(ev: Evaluation, place: int, where: str) -> str:
    row = ev.applications[place]
    assert row.dcf is not None
    harm = ", more than doing without it" if row.dcf > 1.0 else ""
    cost = f"the decisions cost {row.dcf:.3f} times as much as deciding without the model{harm}"
    return f"   {where} {cost}; the minimum is {row.min_dcf:.3f}."


def _leave(folder: Path, scores: Trials, found: list[Evaluation]) -> None:
    """The page, the scores as a file, and three commands to try on it."""
    page = tercet.report(found, folder / "report.html", "Breast masses")
    print_lines([f"4. A page on which you can set the prior and the costs yourself: {page}", ""], width())
    path = folder / "scores.csv"
    labels = np.array(screening().classes, np.object_)[scores.known_labels().astype(np.intp)]
    write_table(path, {"score": scores.scores, "label": labels})
    print_lines(["5. Try next:", ""], width())
    for words in (
        f"evaluate {path} --target malignant --app 0.01,10,1",
        f"calibrate fit {path} --target malignant -o {folder / 'calibrator.json'}",
        f"decide {path} --calibrator {folder / 'calibrator.json'} --target malignant --app 0.01,10,1",
    ):
        line = f"  tercet {words}"
        print_command(line, width() if sys.stdout.isatty() else len(line) + 2)  # in a pipe on one line
