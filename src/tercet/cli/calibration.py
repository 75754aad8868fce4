"""`tercet calibration`: are the probabilities right?"""

from __future__ import annotations

from typing import Any

import click

from tercet._typing import Value
from tercet.calibration.assessment import (
    CalibrationTest,
    CorpDiagram,
    calibration_line,
    corp_diagram,
    expected_calibration_error,
    spiegelhalter_test,
)
from tercet.cli._command import new_command, option
from tercet.cli._options import SCORES, SEVERAL, WORDS, row_format_options, source_options
from tercet.cli._output import chosen_format, working
from tercet.cli._rows import Row, print_rows
from tercet.cli._systems import name_of, read_trials
from tercet.cli._values import level, reading
from tercet.trials import Trials


@new_command(epilog=WORDS)
@click.argument("scores", nargs=-1, required=True)
@source_options(SCORES, groups=None, ids=("key",))
@option("--bins", type=int, default=15, show_default=True, metavar="N", help="Number of bins.")
@option(
    "--as-given",
    is_flag=True,
    meanings=("posterior", "posteriors"),
    help="Take posteriors as they are, not moved to the class frequencies.",
)
@option(
    "--bootstrap",
    "resamples",
    type=int,
    default=1000,
    show_default=True,
    help="Number of draws for the CORP test.",
)
@option("--seed", type=int, default=0, show_default=True, help="Seed of the draws.")
@option("--ci", type=float, default=95.0, show_default=True, metavar="LEVEL", help="Interval level in per cent.")
@option(
    "--plot",
    "figure",
    metavar="FILE",
    writes=True,
    help="Also draw the isotonic reliability diagram of the first system (of several classes, of the top label).",
)
@row_format_options
def command(scores: tuple[str, ...], ci: float, figure: str | None, **options: Value) -> int:
    """Are the probabilities right? Calibration errors, slope and intercept, and tests."""
    output, source = chosen_format(options.pop("as_json"), options.pop("output")), reading(options)
    rows: list[Row] = []
    for place, path in enumerate(scores):
        trials = read_trials(path, source)
        with working(f"evaluating {name_of(path)}"):
            found = _errors(trials, options)
            if source["meaning"] not in SEVERAL:
                found += _two_class(trials, options, level(ci))
            diagrams = _diagrams(trials, name_of(path), options, level(ci))
        found += [_test(one.test, name if len(diagrams) > 1 else None) for name, one in diagrams.items()]
        if figure is not None and place == 0:
            from tercet.report.plots import plot

            plot(dict([next(iter(diagrams.items()))]), "corp", path=figure)
        rows += [{"system": name_of(path), **row} for row in found]
    print_rows(rows, output)
    return 0


def _errors(trials: Trials, options: Value) -> list[Row]:
    """Every calibration error by its full name."""
    kinds: list[Any] = ["target"] if len(trials.classes) == 2 else ["top-label", "class-wise"]
    rows: list[Row] = []
    for kind in kinds:
        ways: list[tuple[Any, bool]] = [("equal-width", False), ("equal-mass", False), ("equal-mass", True)]
        for binning, debiased in ways:
            one = expected_calibration_error(
                trials, bins=options["bins"], binning=binning, kind=kind, debiased=debiased,
                as_given=options["as_given"],
            )  # fmt: skip
            rows.append({"quantity": one.definition, "value": one.value, "note": one.note})
    return rows


def _two_class(trials: Trials, options: Value, ci: float) -> list[Row]:
    """Slope, intercepts, observed over expected, and Spiegelhalter's test."""
    given = {"as_given": options["as_given"]}
    line = calibration_line(trials, ci=ci, **given)
    rows: list[Row] = [
        {"quantity": name.replace("_", " "), "value": getattr(line, name), "low": getattr(line, f"{name}_ci").low,
         "high": getattr(line, f"{name}_ci").high}
        for name in ("slope", "intercept", "in_the_large", "observed_expected")
    ]  # fmt: skip
    return [*rows, _test(spiegelhalter_test(trials, **given))]


def _diagrams(trials: Trials, name: str, options: Value, ci: float) -> dict[str, CorpDiagram]:
    """The isotonic diagram of the target, or of several classes those of the top label and of each class."""
    several = len(trials.classes) > 2
    asked = {"top label": None, **{one: one for one in trials.classes}} if several else {name: None}
    draws = {"level": ci, "resamples": options["resamples"], "seed": options["seed"], "as_given": options["as_given"]}
    return {called: corp_diagram(trials, of=one, **draws) for called, one in asked.items()}


def _test(test: CalibrationTest, of: str | None = None) -> Row:
    name = test.method if of is None else f"{of}: {test.method}"
    return {"quantity": name, "value": test.statistic, "p_value": test.p_value}
