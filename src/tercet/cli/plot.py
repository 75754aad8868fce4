"""`tercet plot`: one figure of one system or of several."""

from __future__ import annotations

import click

from tercet._typing import Value
from tercet.cli._command import new_command, option
from tercet.cli._options import TWO_CLASS, WORDS, source_options
from tercet.cli._output import say
from tercet.cli._systems import distinct_names, read_trials
from tercet.cli._values import applications, reading


@new_command(epilog=WORDS)
@click.argument("scores", nargs=-1, required=True)
@source_options(TWO_CLASS, groups=None, ids=("key",))
@option("--app", "apps", multiple=True, metavar="PRIOR,CFN,CFP", help="An operating point to mark; repeat it.")
@option("--kind", default="det", show_default=True, metavar="NAME", help="Figure: roc, det, bayes-error, ...")
@option("--size", type=click.Choice(["column", "page"]), help="Width of a journal's column or page.")
@option("--log", is_flag=True, needs=("kind=roc", "kind=det", "kind=histogram"), help="Logarithmic axes.")
@option("-o", "--out", required=True, writes=True, metavar="FILE", help="Where the figure goes (png, svg or pdf).")
def command(scores: tuple[str, ...], kind: str, size: Value, log: bool, out: str, **options: object) -> int:
    """One figure of one system, or of several in one figure."""
    from tercet.evaluation import evaluate
    from tercet.report.plots import plot

    points, source = applications(options), reading(options)
    names = distinct_names(scores)
    found = [evaluate(read_trials(path, source), points, name=name) for path, name in zip(scores, names, strict=True)]
    plot(found, kind, size=size, path=out, log=log or None)
    say(f"the figure is in {out}.")
    return 0
