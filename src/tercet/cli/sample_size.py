"""`tercet sample-size`: how many trials a wanted half-width takes."""

from __future__ import annotations

import math

import click

from tercet._numeric.validation import positive
from tercet._typing import JSON, Value
from tercet.application import Application
from tercet.cli import _options as shared
from tercet.cli._command import new_command, option
from tercet.cli._output import Row, print_rows
from tercet.cli._values import application, level, ranged
from tercet.errors import InputError
from tercet.report import text
from tercet.report.schema import read_result

_expected = ranged("the error rate you expect, strictly between 0 and 1", lambda rate: 0.0 < rate < 1.0)


@new_command()
@click.argument("result", required=False)
@option("--app", "apps", multiple=True, metavar="PRIOR,CFN,CFP", parse=application, needs=("fnr", "fpr"),
        help="An operating point, or its name; repeat it.")  # fmt: skip
@option("--fnr", type=float, metavar="RATE", needs=("apps",), parse=_expected,
        help="The miss rate that you expect there.")  # fmt: skip
@option("--fpr", type=float, metavar="RATE", needs=("apps",), parse=_expected,
        help="The false-alarm rate that you expect there.")  # fmt: skip
@option("--rate", type=float, metavar="RATE", excludes=("apps", "auc"), parse=_expected,
        help="Instead: for the interval of this rate.")  # fmt: skip
@option("--auc", type=float, metavar="AUC", excludes=("apps",), help="Instead: for the interval of this AUC.",
        parse=ranged("the area you expect, strictly between 0.5 and 1", lambda area: 0.5 < area < 1.0))  # fmt: skip
@option("--assurance", type=float, default=80.0, show_default=True, metavar="LEVEL", parse=level,
        help="How likely the interval is to be that short, in per cent.")  # fmt: skip
@option("--design-effect", type=float, default=1.0, show_default=True, metavar="D",
        parse=ranged("1 or more and finite", lambda effect: 1.0 <= effect < math.inf),
        help="Factor by which groups increase the variance of independent trials.")  # fmt: skip
@option("--half-width", type=float, parse=positive, required=True, metavar="H",
        help="Half-width of the interval of the DCF.")  # fmt: skip
@shared.ci_option
@shared.format_options
def command(result: str | None, half_width: float, ci: float, output: str, **options: Value) -> None:
    """How many targets and non-targets an interval of a given half-width needs.

    For expected rates (--app, --fnr, --fpr), or for those of a saved result.
    """
    from tercet.uncertainty import sample_size

    plan = {name: options[name] for name in ("assurance", "design_effect")}
    if result is None and (options["rate"] is not None or options["auc"] is not None):
        print_rows([_single(options["rate"], options["auc"], half_width, ci, plan)], output)
        return
    rates = [("as expected", app, options["fnr"], options["fpr"]) for app in options["apps"]]
    if rates and (options["fnr"] is None or options["fpr"] is None):
        raise click.UsageError("--app needs both --fnr and --fpr: the rates that you expect there.")
    rates += [] if result is None else _saved_rates(result)
    if options["rate"] is not None or options["auc"] is not None:
        raise click.UsageError("--rate and --auc do not take RESULT.json.")
    if not rates:
        raise click.UsageError(
            "sample-size takes RESULT.json, or the operating point and expected rates: --app, --fnr and --fpr."
        )
    rows: list[Row] = []
    for name, app, miss, alarm in rates:
        point = Application.of(app)
        if miss is None or alarm is None:
            raise InputError(f"{name} has no error rates at prior {point.prior:g}: calibrate its scores first.")
        found = sample_size(miss, alarm, point, half_width, ci, **plan)
        row: Row = {"system": name, "prior": point.prior, "cost_fn": point.cost_fn, "cost_fp": point.cost_fp}
        rows.append(row | {"fnr": miss, "fpr": alarm} | found._asdict())
    print_rows(rows, output)


def _single(rate: float | None, auc: float | None, half_width: float, share: float, plan: JSON) -> Row:
    """The trials that one rate or one area takes."""
    from tercet.uncertainty import sample_size_for_auc, sample_size_for_rate

    if rate is not None:
        return {"rate": rate, "trials": sample_size_for_rate(rate, half_width, share, **plan)}
    assert auc is not None
    found = sample_size_for_auc(auc, half_width, share, **plan)
    return {"auc": auc, "targets": found.targets, "nontargets": found.nontargets}


def _saved_rates(path: str) -> list[tuple[str, Value, Value, Value]]:
    """Name, operating point and error rates of every system and application in a saved result."""
    systems = read_result(path)["systems"]
    if any("classes" in system for system in systems):
        raise InputError("sample-size is for two classes: the result holds systems of several classes.")
    return [
        (text.harmless(system.get("name") or "system"), (app["prior"], app["cost_fn"], app["cost_fp"]),
         app.get("fnr"), app.get("fpr"))
        for system in systems
        for app in system["applications"]
    ]  # fmt: skip
