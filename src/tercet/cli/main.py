"""The `tercet` command: parses the command line and hands over to tercet.cli.commands.

It stands beside the package, not inside it, so that `tercet --help` needs neither numpy nor duckdb.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

_WORDS = """\b
llr          natural log of how much more probable the data are if the target hypothesis is true
prior        how frequent targets are where the scores will be used, not in the test set
application  a prior with the cost of a miss and of a false alarm: PRIOR,COST_OF_A_MISS,COST_OF_A_FALSE_ALARM
"""
_MEANINGS = [
    "llr", "lr", "log10-llr", "log-odds", "posterior", "raw", "log-likelihoods", "logits", "posteriors", "decisions",
]  # fmt: skip


class _Commands(click.Group):
    """A group whose errors are sentences and whose exit codes are the documented ones."""

    def main(self, *args: Any, **kwargs: Any) -> Any:
        kwargs["standalone_mode"] = False  # so that errors come here
        try:
            result = super().main(*args, **kwargs)
        except click.exceptions.Exit as stop:
            sys.exit(stop.exit_code)
        except click.UsageError as error:
            error.show()
            sys.exit(2)
        except click.ClickException as error:
            error.show()
            sys.exit(1)
        except (KeyboardInterrupt, click.Abort):
            click.echo("tercet: interrupted", err=True)
            sys.exit(130)
        except BrokenPipeError:
            sys.stderr.close()  # the reader has gone; say nothing more
            sys.exit(1)
        except Exception as error:
            if "--debug" in sys.argv or not _expected(error):
                raise
            click.echo(f"tercet: {error}", err=True)
            sys.exit(1)
        sys.exit(result if isinstance(result, int) else 0)


def _expected(error: Exception) -> bool:
    """Whether the error is one that the input explains."""
    from tercet.errors import TercetError

    return isinstance(error, TercetError | OSError | MemoryError)


def _options(*options: Callable[[F], F]) -> Callable[[F], F]:
    def add(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return add


_source_options = _options(
    click.option("--labels", "labels", metavar="FILE", help="Labels in a file of their own (npy, csv)."),
    click.option("--key", metavar="FILE", help="A trial list with labels, joined by trial id."),
    click.option("--key-format", "format", metavar="NAME", help="The trial lists' format, if the file does not tell."),
    click.option("--separator", metavar="CHAR", help="Column separator; else by the file's ending."),
    click.option("--columns", metavar="NAME,...", help="Names of the columns of a file without a header."),
    click.option("--score-column", default="score", show_default=True, metavar="NAME"),
    click.option("--label-column", default="label", show_default=True, metavar="NAME"),
    click.option("--class-columns", metavar="NAME,...", help="The columns of a multiclass file, in order."),
    click.option("--weight-column", metavar="NAME"),
    click.option("--group-column", "group_columns", multiple=True, metavar="NAME", help="Speaker, patient ..."),
    click.option("--id-column", metavar="NAME", help="The trial's name, copied into decisions."),
    click.option("--target", metavar="LABEL", help="The target's label, unless 0/1, false/true, nontarget/target."),
    click.option("--meaning", type=click.Choice(_MEANINGS), default="llr", show_default=True, help="Of the scores."),
    click.option("--trained-prior", metavar="P[,P...]", help="The prior of log-odds, posteriors or logits."),
    click.option("--missing", type=click.Choice(["error", "drop", "reject"]), default="error", show_default=True,
                 help="Trials of the key without a score."),
)  # fmt: skip
_application_options = _options(
    click.option(
        "--app", "apps", multiple=True, metavar="PRIOR,CFN,CFP", help="A working point, or its name; repeat it."
    ),
    click.option("--priors", metavar="P0,P1,...", help="Class priors of a multiclass application."),
    click.option(
        "--costs", metavar='"0,1;1,0"', help='Its costs, rows = decision, columns = class; or "0-1", "ordinal".'
    ),
    click.option("--actions", metavar="NAME,...", help="Names of the rows of --costs, where they are not the classes."),
)
_engine_options = _options(
    click.option(
        "--engine", type=click.Choice(["local", "dask"]), help="All files are one system, read in bounded memory."
    ),
    click.option("--scheduler", metavar="ADDRESS", help="A running dask cluster, for --engine dask."),
    click.option("--memory-limit", default="1GB", show_default=True, metavar="SIZE", help="For --engine."),
    click.option("--resume", metavar="DIR", help="For --engine: keep finished parts here, and go on from those there."),
)
_METHODS = ["logistic", "isotonic", "gaussian", "gaussian-own-variances", "affine", "temperature", "matrix"]
_debug = click.option("--debug", is_flag=True, help="Show a traceback.")


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
             epilog="""\b
Examples:
  tercet demo
  tercet evaluate scores.csv --app 0.01,10,1
  tercet evaluate a.npy b.npy --labels labels.npy --app sre08 --json > result.json
  tercet decide scores.csv --app 0.005,200,5 -o decisions.csv
  tercet calibrate fit scores.csv --method logistic -o calibrator.json
  tercet calibrate apply calibrator.json new.csv -o calibrated.csv
  tercet fuse a.csv b.csv -o fusion.json
  tercet compare a.csv b.csv --app 0.01,10,1
  tercet sample-size --app 0.01,10,1 --fnr 0.05 --fpr 0.01 --half-width 0.05
  tercet report result.json -o report.html
  tercet check result.json --fail-if 'dcf>0.3'""")  # fmt: skip
@click.version_option(package_name="tercet", message="%(prog)s %(version)s")
def main() -> None:
    """Turns a classifier's scores into decisions and says what they cost."""


@main.command(epilog=_WORDS)
@click.argument("scores", nargs=-1, required=True)
@_source_options
@_application_options
@click.option("--bayes-plot", default="-3,3,21", show_default=True, metavar="LO,HI,N", help="Grid of prior log-odds.")
@click.option("--eer", default="rocch", show_default=True, type=click.Choice(["rocch", "interpolated", "nearest"]))
@click.option("--ci", type=float, metavar="LEVEL", help="Intervals of this level in per cent, by resampling: 95.")
@click.option("--bootstrap", "resamples", type=int, default=1000, show_default=True, help="Resamples for --ci.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the resamples, and of rows drawn.")
@click.option(
    "--bands/--no-bands",
    default=None,
    help="With --ci: intervals along ROC, DET, Bayes error and reliability. [default: with --plots or --report]",
)
@click.option("--sigma", type=float, metavar="K", help="With --plots: boxes of K standard deviations on ROC and DET.")
@click.option(
    "--condition-column",
    "condition_columns",
    multiple=True,
    metavar="NAME",
    help="Also results by gender, channel, site ..., pooled and equalised; repeat it.",
)
@click.option(
    "--calibrate-on",
    "calibrate_on",
    multiple=True,
    metavar="FILE",
    help="Calibrate first, on these scores; one file a system. --ci then resamples them too.",
)
@click.option("--calibrate-with", type=click.Choice(_METHODS), default="logistic", show_default=True)
@click.option("--calibrate-prior", metavar="P[,P...]", help="The prior to train for.")
@click.option("--calibrate-labels", metavar="FILE", help="Labels of --calibrate-on, if apart.")
@click.option("--calibrate-key", metavar="FILE", help="The trial list of --calibrate-on.")
@_engine_options
@click.option("--report", metavar="FILE.html", help="Also write the page where one moves the prior.")
@click.option("--open", "open_page", is_flag=True, help="Open the page in a browser.")
@click.option("--plots", metavar="DIR", help="Also write every figure (needs the extra `plot`).")
@click.option("--plot-format", "plot_formats", multiple=True, type=click.Choice(["png", "svg", "pdf"]),
              default=["png"], show_default=True, help="Of the figures; repeat it for several.")  # fmt: skip
@click.option("--with-posteriors", is_flag=True, help="Several classes: up to 2,000 rows go into page and JSON, and "
              "the page can edit priors and costs.")  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="The same as --format json.")
@click.option(
    "--format", "output", type=click.Choice(["table", "tsv", "json", "md"]), help="[default: table, tsv in a pipe]"
)
@_debug
def evaluate(scores: tuple[str, ...], as_json: bool, output: str | None, debug: bool, **options: Any) -> int:
    """What decisions on these scores cost, for each application; one system per file, "-" is stdin."""
    from tercet.cli import commands as cli

    return cli.evaluate(scores, "json" if as_json else output, **options)


@main.command(epilog=_WORDS)
@click.argument("scores")
@_source_options
@_application_options
@click.option(
    "--fpr-at-most", type=float, metavar="X", help="Neyman-Pearson instead: needs labels to find the threshold."
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draws among tied scores.")
@click.option("--calibrator", metavar="FILE", help="Calibrate the scores first.")
@click.option("-o", "--out", default="-", show_default=True, metavar="FILE", help="csv, tsv or parquet.")
@_debug
def decide(scores: str, out: str, debug: bool, **options: Any) -> int:
    """The decision of least expected cost for every trial, with that cost."""
    from tercet.cli import commands as cli

    return cli.decide(scores, out, **options)


@main.command()
@click.argument("result")
@click.option("--fail-if", "conditions", multiple=True, required=True, metavar="'NAME OP NUMBER'",
              help="Such as 'dcf>0.3' or 'auc<0.9'; repeat it.")  # fmt: skip
@_debug
def check(result: str, conditions: tuple[str, ...], debug: bool) -> int:
    """A gate for pipelines: exit code 3 if a condition holds for any system and application; undefined fails."""
    from tercet.cli import commands as cli

    return cli.check(result, conditions)


@main.group()
def calibrate() -> None:
    """Makes scores mean what they say: trains a map from scores to llrs, and applies it."""


_fit_options = _options(
    click.option("--prior", metavar="P[,P...]", help="The prior to train for. [default: 0.5, or equal classes]"),
    click.option("--folds", type=int, help="Folds by which the gain is judged. [default: 5]"),
    click.option("--by", metavar="GROUP", help="A --group-column that is never on both sides of a fold."),
    click.option("-o", "--out", required=True, metavar="FILE.json"),
)


@calibrate.command("fit", epilog=_WORDS)
@click.argument("scores", nargs=-1, required=True)
@_source_options
@click.option("--method", type=click.Choice(_METHODS), default="logistic", show_default=True,
              help="The last three are for several classes.")  # fmt: skip
@_fit_options
@_engine_options
@_debug
def calibrate_fit(scores: tuple[str, ...], out: str, debug: bool, **options: Any) -> int:
    """Trains a calibrator on labelled scores, says by folds what it does to the costs, and saves it."""
    from tercet.cli import commands as cli

    return cli.calibrate_fit(scores, out, **options)


@calibrate.command("apply", epilog=_WORDS)
@click.argument("calibrator")
@click.argument("scores", nargs=-1, required=True)
@_source_options
@click.option("-o", "--out", default="-", show_default=True, metavar="FILE", help="csv, tsv or parquet.")
@_debug
def calibrate_apply(calibrator: str, scores: tuple[str, ...], out: str, debug: bool, **options: Any) -> int:
    """Applies a saved calibrator, or a fusion to one file a system in the order of the training."""
    from tercet.cli import commands as cli

    return cli.calibrate_apply(calibrator, scores, out, **options)


@main.command(epilog=_WORDS)
@click.argument("scores", nargs=-1, required=True)
@_source_options
@_fit_options
@_debug
def fuse(scores: tuple[str, ...], out: str, debug: bool, **options: Any) -> int:
    """Trains one score out of several systems' scores for the same trials, and saves the recipe."""
    from tercet.cli import commands as cli

    return cli.calibrate_fit(scores, out, method="fusion", **options)


@main.command(epilog=_WORDS)
@click.argument("scores", nargs=-1, required=True)
@_source_options
@_application_options
@click.option(
    "--ci", type=float, default=95.0, show_default=True, metavar="LEVEL", help="Of the intervals, in per cent."
)
@click.option("--bootstrap", "resamples", type=int, default=1000, show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--unpaired", is_flag=True, help="The systems were tried on different trials.")
@click.option("--json", "as_json", is_flag=True)
@_debug
def compare(scores: tuple[str, ...], as_json: bool, debug: bool, **options: Any) -> int:
    """Is one system better than another? Paired differences with intervals, on the same trials."""
    from tercet.cli import commands as cli

    return cli.compare(scores, as_json, **options)


@main.command("sample-size", epilog=_WORDS)
@click.argument("result", required=False)
@click.option("--app", "apps", multiple=True, metavar="PRIOR,CFN,CFP", help="A working point, or its name; repeat it.")
@click.option("--fnr", type=float, metavar="RATE", help="The miss rate you expect there.")
@click.option("--fpr", type=float, metavar="RATE", help="The false-alarm rate you expect there.")
@click.option("--half-width", type=float, required=True, metavar="H", help="Wanted: normalised DCF +- H.")
@click.option("--ci", type=float, default=95.0, show_default=True, metavar="LEVEL", help="Its level, in per cent.")
@_debug
def sample_size(result: str | None, debug: bool, **options: Any) -> int:
    """How many targets and non-targets a wanted half-width takes: for expected rates, or those of a saved result."""
    from tercet.cli import commands as cli

    return cli.sample_size(result, **options)


@main.command()
@click.argument("result")
@click.option("-o", "--out", required=True, metavar="FILE.html")
@click.option("--title", metavar="WORDS")
@click.option("--open", "open_page", is_flag=True, help="Open the page in a browser.")
@_debug
def report(result: str, out: str, title: str | None, open_page: bool, debug: bool) -> int:
    """The page from a saved result of `tercet evaluate --json`."""
    from tercet.cli import commands as cli

    return cli.report(result, out, title, open_page)


@main.command()
@click.option("--out", default="tercet-demo", show_default=True, metavar="DIR", help="Where the story's files go.")
@_debug
def demo(out: str, debug: bool) -> int:
    """The whole story on built-in data: table, decisions, calibration and what to type next."""
    from tercet.cli.demo import tell

    return tell(out)
