"""`tercet count`: every quantity of a confusion matrix, of two rates or of decided labels."""

from __future__ import annotations

import click

from tercet._numeric.validation import probability, rate
from tercet._typing import Value
from tercet.cli import _options as shared
from tercet.cli._command import new_command, option
from tercet.cli._output import Facts, Row, both_ends, draw, print_rows, say
from tercet.cli._values import at_most_one, each, matrix, separator, without_settings, words_of
from tercet.errors import InputError
from tercet.metrics.confusion import Confusion
from tercet.metrics.counting import CountReport, Rate, count


@new_command()
@click.argument("decided", required=False)
@option("--matrix", metavar='"TN,FN;FP,TP"', excludes=("rates",), parse=matrix,
        help="Counts, rows = decision, columns = class.")  # fmt: skip
@option("--transposed", is_flag=True, needs=("matrix",), help="Rows are classes, as in scikit-learn.")
@option("--classes", metavar="NAME,...", needs=("matrix",), parse=words_of,
        help="Names of the matrix's classes, in order.")  # fmt: skip
@option("--rates", metavar="TPR,FPR", parse=each(rate, count=2),
        help="Two rates without counts; there are then no intervals.")  # fmt: skip
@option("--prevalence", type=float, metavar="P", parse=probability,
        help="Also PPV, NPV and error rate at this prevalence.")  # fmt: skip
@shared.ci_option
@option("--decision-column", default="decision", show_default=True, metavar="NAME", needs=("decided",),
        help="Decisions of DECIDED.")  # fmt: skip
@option(
    "--label-column", default="label", show_default=True, metavar="NAME", needs=("decided",), help="Labels of DECIDED."
)
@option("--weight-column", metavar="NAME", needs=("decided",), help="Weights of DECIDED.")
@option("--labels", metavar="FILE", reads=True, needs=("decided",), help="Labels of DECIDED, from a separate file.")
@option("--separator", metavar="CHAR", parse=separator, needs=("decided",),
        help="Column separator of DECIDED. [default: by the file's ending]")  # fmt: skip
@option("--target", metavar="LABEL", help="The target's label, unless 0/1, false/true, nontarget/target.")
@shared.application_options()
@shared.figure_option
@shared.format_options
def command(decided: str | None, output: str, **options: Value) -> None:
    """Every rate of a matrix, two rates or decided labels, under all its names, with intervals and costs.

    DECIDED is a file with a column of decided labels beside the true ones.
    """
    if decided is None and options["classes"] is None:
        without_settings(options, "target")
    asked: Facts = {"application": at_most_one(options, "count"), "prevalence": options["prevalence"]}
    if [decided, options["matrix"], options["rates"]].count(None) != 2:
        raise click.UsageError("count takes exactly one of DECIDED, --matrix and --rates.")
    if options["rates"] is not None:
        found = count(rates=tuple(options["rates"]), **asked)
    else:
        table = _matrix(options) if decided is None else _read(decided, options)
        found = count(table, ci=options["ci"], **asked)
    print_rows([_row(one) for one in (*found.rates, *found.at_prevalence, *found.cost)], output, found.to_dict())
    _say_rest(found, output)
    draw(options["figure"], found, "count")


def _matrix(options: Facts) -> Confusion:
    lengths = [len(row) for row in options["matrix"]]
    if len(set(lengths)) > 1:
        raise InputError(f"--matrix has rows of {', '.join(map(str, lengths))} numbers: all must have the same length.")
    named = {name: options[name] for name in ("classes", "target", "transposed")}
    return Confusion(options["matrix"], **named)


def _read(path: str, options: Facts) -> Confusion:
    from tercet.io import read_decisions

    names = ("decision_column", "label_column", "weight_column", "labels", "separator", "target")
    return read_decisions(path, notes=say, **{name: options[name] for name in names if options[name] is not None})


def _row(one: Rate) -> Row:
    row: Row = {"rate": one.name, "value": one.value} | both_ends(one.interval) | {"also": ", ".join(one.also)}
    return row | {"method": "" if one.interval is None else one.interval.method, "undefined": one.reason or ""}


def _say_rest(found: CountReport, output: str) -> None:
    """The dummy action, and for several classes the report of each."""
    if found.dummy_action is not None:
        say(f"without the scores: always decide {found.dummy_action!a}, at a cost of {found.dummy_cost:.6g}.")
    if output in ("table", "md") and found.report is not None and len(found.confusion.classes) > 2:
        print()
        print(found.report)
