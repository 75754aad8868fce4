"""`tercet select`: calibrators ranked by held-out cost."""

from __future__ import annotations

from functools import partial
from typing import Any

import click

from tercet._numeric.validation import whole
from tercet._typing import Value
from tercet.calibration.methods import METHODS, PENALISED, method_of, select
from tercet.calibration.two_class import non_negative
from tercet.cli import _options as shared
from tercet.cli._command import new_command, option
from tercet.cli._models import refuse_other_groups
from tercet.cli._options import SEVERAL, TWO_CLASS
from tercet.cli._output import Facts, out, print_json, save, say, working
from tercet.cli._systems import read_trials
from tercet.cli._values import applications, prior
from tercet.errors import InputError
from tercet.report import tables
from tercet.report.terminal import print_lines, print_one, width
from tercet.report.text import number, short

_COLUMNS = ("method", "prior", "dcf", "cross_entropy")


@new_command()
@click.argument("scores")
@shared.source_options((*TWO_CLASS, *SEVERAL), groups=("by",), ids=("key",))
@shared.application_options()
@option("--method", "methods", multiple=True, type=click.Choice(METHODS),
        help="A calibrator to try; repeat it. [default: logistic, isotonic, gaussian, or the three of several "
             "classes]")  # fmt: skip
@option("--prior", "priors_to_try", multiple=True, metavar="P[,P...]", parse=prior,
        help="A prior to train for; repeat it. [default: that of the operating point]")  # fmt: skip
@option("--folds", type=int, parse=partial(whole, least=2), default=5, show_default=True,
        help="Folds by which a calibrator is evaluated.")  # fmt: skip
@option("--by", metavar="GROUP", help="A --group-column that is never on both sides of a fold.")
@option("--scheme", type=click.Choice(["stratified", "plain", "interleaved"]), default="stratified",
        show_default=True, help="How trials are assigned to folds.")  # fmt: skip
@shared.seed_option("Seed of the random assignment to folds.")
@option("--nested/--no-nested", default=True, show_default=True, help="Also estimate the cost of the whole selection.")
@option("--penalty", type=float, metavar="L", parse=non_negative,
        help="Penalty of the methods that are regressions. [default: 0]")  # fmt: skip
@option("-o", "--out", writes=True, metavar="FILE.json", help="Save the best calibrator, trained on all trials.")
@option("--json", "as_json", is_flag=True, excludes=("output",), help="The same as --format json.")
@option("--format", "output", type=click.Choice(["table", "tsv", "json"]), help="[default: table, tsv in a pipe]")
def command(scores: str, source: Facts, output: str, **options: Value) -> None:
    """Ranks calibrators and training priors by their held-out cost at one operating point."""
    apps = applications(options)
    if len(apps) != 1:
        raise click.UsageError("select takes exactly one operating point: --app, or --priors and --costs.")
    refuse_other_groups(source, options)
    trials = read_trials(scores, source)
    dealt = {name: options[name] for name in ("folds", "by", "scheme", "seed", "penalty", "nested")}
    tried: Facts = {"methods": options["methods"] or None, "priors": list(options["priors_to_try"]) or None}
    with working("calibrating"):
        found = select(trials, apps[0], **tried, **dealt)
    _show(found, output)
    if options["out"] is not None:
        _save(found.rows, trials, dealt, options["out"])


def _save(rows: Any, trials: Any, dealt: Facts, path: str) -> None:
    """Trains the best calibrator on everything, and saves it."""
    trained = [row for row in rows if row.method != "as given" and row.dcf is not None]
    if not trained:
        raise InputError("no calibrator could be trained, so there is none to save.")
    best = trained[0]
    if rows[0] is not best:
        say("the scores are cheapest as given.")
    maker, settings = method_of(best.method)
    if dealt["penalty"] is not None and best.method in PENALISED:
        settings["penalty"] = dealt["penalty"]
    model = maker.fit(trials, **({} if best.prior is None else {"prior": best.prior}), **settings)
    save(path, model.to_json(), f"{best.method}, trained on all {len(trials)} trials,")


def _show(found: Any, output: str) -> None:
    unknown = f"the cost of the choice itself is not known: {found.nested_reason}."
    rows = [
        {"method": one.method, "prior": one.prior, "dcf": one.dcf, "cross_entropy": one.cross_entropy}
        | ({} if one.reason is None else {"reason": one.reason})
        for one in found.rows
    ]
    if output == "json":
        costs = {"min_dcf": found.min_dcf, "nested_dcf": found.nested_dcf}
        why = {} if found.nested_reason is None else {"nested_reason": found.nested_reason}
        print_json({"rows": rows} | costs | why)
    elif output == "tsv":
        out("method\tprior\tdcf\tcross_entropy")
        for row in rows:
            out("\t".join("" if row[key] is None else str(row[key]) for key in _COLUMNS))
        if found.nested_dcf is not None:
            out(f"(nested choice)\t\t{found.nested_dcf}\t")
        elif found.nested_reason is not None:
            say(unknown)
    else:
        head = ("method", "prior", "actual DCF", "cross-entropy, bits")
        cells = [[row["method"], _prior(row["prior"]), short(row["dcf"]), short(row["cross_entropy"])] for row in rows]
        print_one(tables.of_words(head, cells), width())
        lines = [f"minimum DCF {short(found.min_dcf)}; costs are out of fold."]
        if found.nested_dcf is not None:
            lines.append(f"the whole selection costs {short(found.nested_dcf)} (nested folds).")
        elif found.nested_reason is not None:
            lines.append(unknown)
        print_lines(lines, width())


def _prior(value: Value) -> str:
    return "" if value is None else ", ".join(map(number, value)) if isinstance(value, list) else number(value)
