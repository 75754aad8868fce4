"""`tercet forensics`: validation of likelihood ratios."""

from __future__ import annotations

from itertools import product
from typing import Any

import click

from tercet._numeric.validation import probability
from tercet._typing import Value
from tercet.calibration.methods import TWO_CLASS_METHODS, method_of
from tercet.cli import _options as shared
from tercet.cli._command import new_command, option
from tercet.cli._hints import read_as_llrs
from tercet.cli._models import saved_model
from tercet.cli._options import TWO_CLASS
from tercet.cli._output import Facts, Row, both_ends, print_rows, save, working
from tercet.cli._systems import name_of, read_trials
from tercet.cli._values import one_group

_MEANINGS = ("llr", "lr", "log10-llr", "log-odds", "posterior")


@click.group()
def command() -> None:
    """Validation of forensic likelihood ratios: a sheet of measures and figures, supported LRs."""


@new_command("report", group=command)
@click.argument("scores")
@shared.source_options(_MEANINGS, ids=("key",))
@option("-o", "--out", writes=True, metavar="FILE.html", help="Where the sheet with its figures goes.")
@option("--title", metavar="WORDS", needs=("out",), help="Title of the sheet.")
@shared.ci_option
@shared.resamples_option(500)
@shared.seed_option("Seed of the random draws.")
@shared.format_options
def report(scores: str, source: Facts, out: str | None, title: str | None, output: str, **draws: Value) -> None:
    """The validation sheet: Cllr, devPAV, misleading evidence, bounds; --group-column resamples whole sources."""
    from tercet.forensics import validation

    by, trials = one_group(source), read_as_llrs(scores, source)
    with working(f"validating {name_of(scores)}"):
        found = validation(trials, name=name_of(scores), by=by, **draws)
    if out is not None:
        save(out, found.to_html(title), "the sheet")
    rows = [_measure(one.name, one.value, one.interval) | {"note": one.note or None} for one in found.measures]
    for row in found.misleading.rows:
        below = "1" if row.strength == 1.0 else f"1/{row.strength:g}"
        rows.append(_measure(f"same source, LR below {below}", row.targets.value, row.targets.interval))
        words = f"different source, LR above {row.strength:g}"
        rows.append(_measure(words, row.nontargets.value, row.nontargets.interval))
    for bounds in found.bounds:
        for name, side in (("lowest", "lower"), ("highest", "upper")):
            limits = found.bound_intervals.get(f"{bounds.method} {side}")
            rows.append(_measure(f"{name} supported LR ({bounds.method})", getattr(bounds, side), limits))
    print_rows(rows, output, {"validation": found.to_dict()})


@new_command("bounds", group=command)
@click.argument("scores")
@shared.source_options(_MEANINGS, groups=("ci",), ids=("key",))
@shared.limits_option
@shared.resamples_option(500, needs=("ci",))
@shared.seed_option("Seed of the random draws.", needs=("ci",))
@shared.format_options
def bounds(scores: str, source: Facts, output: str, **draws: Value) -> None:
    """The lowest and highest LR that the data support, by ELUB and by invariance verification."""
    from tercet.forensics import elub, iv_bounds
    from tercet.forensics._sheet import bound_intervals

    trials = read_trials(scores, source)
    with working(f"validating {name_of(scores)}"):
        rows: list[Row] = [one._asdict() for one in (elub(trials), iv_bounds(trials))]
        if draws["ci"] is not None:
            found = bound_intervals(trials, draws | {"by": one_group(source), "bayes_plot": None})
            for row, side in product(rows, ("lower", "upper")):
                row |= both_ends(found.get(f"{row['method']} {side}"), side)
    print_rows(rows, output)


@new_command("bounded", group=command)
@click.argument("calibrator")
@click.argument("scores")
@shared.source_options(TWO_CLASS, groups=None, ids=("key",))
@option("--bounds", "kind", type=click.Choice(["elub", "iv"]), default="elub", show_default=True,
        help="How the bounds are found.")  # fmt: skip
@option("-o", "--out", required=True, writes=True, metavar="FILE.json", help="Where the bounded calibrator goes.")
def bounded_command(calibrator: str, scores: str, source: Facts, kind: Value, out: str) -> None:
    """Limits the LRs of a saved calibrator to what labelled SCORES that it was not trained on support."""
    from tercet.forensics import bounded

    model, trials = saved_model(calibrator), read_trials(scores, source)
    with working(f"validating {name_of(scores)}"):
        found = bounded(model, trials, method=kind)
    save(out, found.to_json(), f"LRs are kept between {found.lower:.4g} and {found.upper:.4g}; the calibrator")


@new_command("interval", group=command)
@click.argument("scores")
@shared.source_options(("llr", "raw"), labels=None)
@option("--calibrate-on", "training", required=True, reads=True, metavar="FILE",
        help="Labelled scores that train the calibrator, read like SCORES.")  # fmt: skip
@option("--calibrate-with", "method", type=click.Choice(TWO_CLASS_METHODS), default="logistic", show_default=True,
        help="The calibrator.")  # fmt: skip
@option("--prior", type=float, default=0.5, show_default=True, metavar="P", parse=probability,
        help="The prior to train for.")  # fmt: skip
@shared.ci_option
@shared.resamples_option(500)
@shared.seed_option("Seed of the random draws.")
@shared.format_options
def interval(scores: str, source: Facts, training: str, method: str, output: str, **draws: Value) -> None:
    """The calibrated LR of each score of a case with its interval; the calibrator is trained again on each resample."""
    from tercet.forensics import lr_interval

    maker, settings = method_of(method)
    of_case = {name: value for name, value in source.items() if name not in ("group_columns", "group_map")}
    trials, case = read_trials(training, source), read_trials(scores, of_case)
    with working(f"calibrating on {name_of(training)}"):
        found = lr_interval(case.scores, trials, calibrator=maker, options=settings, by=one_group(source), **draws)
    rows: list[Row] = [{"score": one.score, "lr": one.lr} | _ends(one.interval) for one in found]
    print_rows(rows, output, {"lr_intervals": rows})


def _measure(name: str, value: float | None, interval: Any) -> Row:
    return {"measure": name, "value": value} | _ends(interval)


def _ends(interval: Any) -> Row:
    """The ends and the method, also where there are none: the order of the columns does not depend on the first row."""
    return both_ends(interval) | {"method": None if interval is None else interval.method}
