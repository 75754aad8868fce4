"""`tercet count`: everything that a bare confusion matrix, two bare rates or decided labels can say."""

from __future__ import annotations

import click

from tercet._typing import Value
from tercet.cli._command import new_command, option
from tercet.cli._options import WORDS, application_options, figure_option, row_format_options
from tercet.cli._output import Facts, chosen_format, say
from tercet.cli._rows import Row, print_rows
from tercet.cli._values import applications, level, numbers, without_settings
from tercet.metrics.confusion import Confusion
from tercet.metrics.counting import CountReport, Rate, count


@new_command(epilog=WORDS)
@click.argument("decided", required=False)
@option("--matrix", metavar='"TN,FN;FP,TP"', excludes=("rates",), help="Counts, rows = decision, columns = class.")
@option("--transposed", is_flag=True, needs=("matrix",), help="Rows are classes, as in scikit-learn.")
@option("--classes", metavar="NAME,...", needs=("matrix",), help="Names of the matrix's classes, in order.")
@option("--rates", metavar="TPR,FPR", help="Two rates without counts; there are then no intervals.")
@option("--prevalence", type=float, metavar="P", help="Also PPV, NPV and error rate at this prevalence.")
@option("--ci", type=float, default=95.0, show_default=True, metavar="LEVEL", help="Interval level in per cent.")
@option(
    "--decision-column",
    default="decision",
    show_default=True,
    metavar="NAME",
    needs=("decided",),
    help="Decisions of DECIDED.",
)
@option(
    "--label-column", default="label", show_default=True, metavar="NAME", needs=("decided",), help="Labels of DECIDED."
)
@option("--weight-column", metavar="NAME", needs=("decided",), help="Weights of DECIDED.")
@option("--labels", metavar="FILE", reads=True, needs=("decided",), help="Labels of DECIDED in a file of their own.")
@option(
    "--separator",
    metavar="CHAR",
    needs=("decided",),
    help="Column separator of DECIDED. [default: by the file's ending]",
)
@option("--target", metavar="LABEL", help="The target's label, unless 0/1, false/true, nontarget/target.")
@application_options
@figure_option
@row_format_options
def command(decided: str | None, ci: float, **options: Value) -> int:
    """Every rate of a matrix, two rates or decided labels, under all its names, with intervals and costs.

    DECIDED is a file with a column of decided labels beside the true ones.
    """
    output, prevalence = chosen_format(options.pop("as_json"), options.pop("output")), options.pop("prevalence")
    if len(options["apps"]) > 1:
        without_settings(options, "apps")
    if decided is None and options["classes"] is None:
        without_settings(options, "target")
    apps = applications(options)
    if len(apps) > 1:
        raise click.UsageError("count takes one operating point.")
    app = apps[0] if apps else None
    if [decided, options["matrix"], options["rates"]].count(None) != 2:
        raise click.UsageError("count takes exactly one of DECIDED, --matrix and --rates.")
    if options["rates"] is not None:
        tpr, fpr = numbers(options["rates"], "--rates", 2)
        found = count(rates=(tpr, fpr), prevalence=prevalence, application=app)
    else:
        table = _matrix(options) if decided is None else _read(decided, options)
        found = count(table, prevalence=prevalence, application=app, ci=level(ci))
    print_rows([_row(one) for one in (*found.rates, *found.at_prevalence, *found.cost)], output, found.to_dict())
    _say_rest(found, output)
    if options["figure"] is not None:
        from tercet.report.plots import plot

        plot(found, "count", path=options["figure"])
    return 0


def _matrix(options: Facts) -> Confusion:
    rows = [numbers(row, "--matrix") for row in options["matrix"].split(";")]
    names = None if options["classes"] is None else options["classes"].split(",")
    return Confusion(rows, classes=names, target=options["target"], transposed=options["transposed"])


def _read(path: str, options: Facts) -> Confusion:
    from tercet.io import read_decisions

    names = ("decision_column", "label_column", "weight_column", "labels", "separator", "target")
    return read_decisions(path, notes=say, **{name: options[name] for name in names if options[name] is not None})


def _row(one: Rate) -> Row:
    ends = one.interval
    row: Row = {"rate": one.name, "value": one.value, "low": None if ends is None else ends.low}
    row |= {"high": None if ends is None else ends.high, "also": ", ".join(one.also)}
    return row | {"method": "" if ends is None else ends.method, "undefined": one.reason or ""}


def _say_rest(found: CountReport, output: str) -> None:
    """The dummy action, and for several classes the report of each."""
    if found.dummy_action is not None:
        say(f"without the scores: always decide {found.dummy_action!a}, at a cost of {found.dummy_cost:.6g}.")
    if output in ("table", "md") and found.report is not None and len(found.confusion.classes) > 2:
        print()
        print(found.report)
