"""`tercet calibration`: are the probabilities right?"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from itertools import product
from typing import Any

import click

from tercet._numeric.validation import whole
from tercet._typing import Value
from tercet.calibration.assessment import (
    CalibrationTest,
    CorpDiagram,
    calibration_line,
    corp_diagram,
    expected_calibration_error,
    full_name,
    observed_expected,
    spiegelhalter_test,
)
from tercet.cli import _options as shared
from tercet.cli._command import new_command, option
from tercet.cli._options import SCORES, SEVERAL
from tercet.cli._output import Facts, Row, draw, ends, print_rows, working
from tercet.cli._systems import name_of, read_trials
from tercet.errors import InputError, UndefinedError
from tercet.trials import Trials


@new_command()
@click.argument("scores", nargs=-1, required=True)
@shared.source_options(SCORES, groups=None, ids=("key",))
@option("--bins", type=int, default=15, show_default=True, metavar="N", parse=partial(whole, least=1),
        help="Number of bins.")  # fmt: skip
@option("--as-given", is_flag=True, meanings=("posterior", "posteriors"),
        help="Take posteriors as they are, not moved to the class frequencies.")  # fmt: skip
@option("--bootstrap", "resamples", type=int, default=1000, show_default=True, parse=partial(whole, least=19),
        help="Number of draws for the CORP test.")  # fmt: skip
@shared.seed_option("Seed of the draws.")
@shared.ci_option
@option("--plot", "figure", metavar="FILE", writes=True,
        help="Also draw the isotonic reliability diagram of the first system (of several classes, of the top "
             "label).")  # fmt: skip
@shared.format_options
def command(scores: tuple[str, ...], source: Facts, figure: str | None, output: str, **options: Value) -> None:
    """Are the probabilities right? Calibration errors, slope and intercept, and tests."""
    rows: list[Row] = []
    for place, path in enumerate(scores):
        trials = read_trials(path, source)
        with working(f"evaluating {name_of(path)}"):
            found = _errors(trials, options)
            if source["meaning"] not in SEVERAL:
                found += _two_class(trials, options)
            diagrams = _diagrams(trials, name_of(path), options)
        found += [_test(one.test, name if len(diagrams) > 1 else None) for name, one in diagrams.items()]
        if place == 0:
            draw(figure, dict([next(iter(diagrams.items()))]), "corp")
        rows += [{"system": name_of(path), **row} for row in found]
    print_rows(rows, output)


def _errors(trials: Trials, options: Facts) -> list[Row]:
    """Every calibration error by its full name."""
    kinds: list[Any] = ["target"] if len(trials.classes) == 2 else ["top-label", "class-wise"]
    ways: list[tuple[Any, bool]] = [("equal-width", False), ("equal-mass", False), ("equal-mass", True)]
    rows: list[Row] = []
    for kind, (binning, debiased) in product(kinds, ways):
        asked = {"bins": options["bins"], "binning": binning, "kind": kind, "debiased": debiased}
        try:
            one = expected_calibration_error(trials, **asked, as_given=options["as_given"], ci=options["ci"])
        except UndefinedError as error:
            rows += _undefined([full_name(**asked)], error)
            continue
        rows.append({"quantity": one.definition, "value": one.value} | ends(one.interval) | {"note": one.note})
    return rows


def _two_class(trials: Trials, options: Facts) -> list[Row]:
    """Slope, intercepts, observed over expected, and Spiegelhalter's test; where one has no value, the reason."""
    given = {"as_given": options["as_given"]}
    names = {name: name.replace("_", " ") for name in ("slope", "intercept", "in_the_large")}
    try:
        line = calibration_line(trials, ci=options["ci"], **given)
        rows: list[Row] = [
            {"quantity": words, "value": getattr(line, name)} | ends(getattr(line, f"{name}_ci"))
            for name, words in names.items()
        ]
    except (InputError, UndefinedError) as error:  # certain forecasts, separable classes
        rows = _undefined(names.values(), error)
    try:
        ratio, around = observed_expected(trials, ci=options["ci"], **given)
        rows.append({"quantity": "observed expected", "value": ratio} | ends(around))
    except UndefinedError as error:  # every forecast is 0
        rows += _undefined(["observed expected"], error)
    try:
        return [*rows, _test(spiegelhalter_test(trials, **given))]
    except UndefinedError as error:
        return [*rows, *_undefined(["spiegelhalter"], error)]


def _undefined(names: Iterable[str], error: Exception) -> list[Row]:
    return [{"quantity": name, "value": None, "note": str(error)} for name in names]


def _diagrams(trials: Trials, name: str, options: Facts) -> dict[str, CorpDiagram]:
    """The isotonic diagram of the target, or of several classes those of the top label and of each class."""
    several = len(trials.classes) > 2
    asked = {"top label": None, **{one: one for one in trials.classes}} if several else {name: None}
    draws = {name: options[name] for name in ("resamples", "seed", "as_given")}
    return {called: corp_diagram(trials, of=one, level=options["ci"], **draws) for called, one in asked.items()}


def _test(test: CalibrationTest, of: str | None = None) -> Row:
    name = test.method if of is None else f"{of}: {test.method}"
    return {"quantity": name, "value": test.statistic, "p_value": test.p_value}
