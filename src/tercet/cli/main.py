"""The `tercet` command: finds the module of the command that was typed, and turns errors into exit codes."""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

import click

from tercet.errors import did_you_mean, visible

COMMANDS = {
    "demo": "A complete example on built-in data: table, decisions, calibration, and what to try next.",
    "evaluate": "Shows what decisions on these scores cost at each operating point.",
    "decide": "The decision of least expected cost for every trial, with that cost.",
    "calibrate": "Trains a map from scores to llrs, and applies it.",
    "rule": "Chooses a threshold by a criterion, saves it, applies it, and judges it on held-out trials.",
    "count": "Every rate of a matrix, two rates or decided labels, under all its names, with intervals and costs.",
    "coverage": "Error and cost of answering only the surest cases: risk, coverage and the area under their curve.",
    "prevalence": "The share of targets among unlabelled scores, with its interval and what decisions there cost.",
    "gaps": "Differences and ratios of error rates, acceptance rates and costs between groups.",
    "calibration": "Are the probabilities right? Calibration errors, slope and intercept, and tests.",
    "fuse": "Trains a fusion of several systems' scores for the same trials, and saves it.",
    "select": "Ranks calibrators and training priors by their held-out cost at one operating point.",
    "compare": "Is one system better than another? Paired differences with intervals.",
    "sample-size": "How many targets and non-targets an interval of a given half-width needs.",
    "sensitivity": "What changes if prior and costs are uncertain, labels are wrong, or cases were never verified.",
    "report": "The page from a saved result of `tercet evaluate --json`.",
    "card": "A model card in Markdown from a saved result of `tercet evaluate --json`.",
    "plot": "One figure of one system, or of several in one figure.",
    "primary": "NIST's primary cost: the mean over several operating points, pooled or equalised over partitions.",
    "biometrics": "Biometric error rates: FNMR at given FMRs, presentation attacks, and trials that a claim needs.",
    "spoofing": "Spoofing-robust verification: a-DCF, t-DCF and t-EER of keys with targets, nontargets and spoofs.",
    "forensics": "Validation of forensic likelihood ratios: a sheet of measures and figures, supported LRs.",
    "sweep": "Costs over a grid of models, the choice made on validation data, and its held-out cost.",
    "assemble": "One table of scores from files by class, numbers beside a trial list, speaker maps, several sets.",
    "points": "The named operating points, with prior, costs, threshold and source.",
    "check": "A gate for pipelines: exit code 3 if a condition holds.",
    "metrics": "Lists every quantity with its definition.",
}
_EXAMPLES = """\b
Examples:
  tercet demo
  tercet evaluate scores.csv --app 0.01,10,1
  tercet evaluate a.npy b.npy --labels labels.npy --app sre08 --json > result.json
  tercet decide scores.csv --app 0.005,200,5 -o decisions.csv
  tercet calibrate fit scores.csv --method logistic -o calibrator.json
  tercet calibrate apply calibrator.json new.csv -o calibrated.csv
  tercet fuse a.csv b.csv -o fusion.json
  tercet select scores.csv --app 0.01,10,1
  tercet compare a.csv b.csv --app 0.01,10,1
  tercet sample-size --app 0.01,10,1 --fnr 0.05 --fpr 0.01 --half-width 0.05
  tercet report result.json -o report.html
  tercet check result.json --fail-if 'dcf>0.3'
  tercet metrics"""


class Commands(click.Group):
    """A group that imports a command when it runs, and whose exit codes are the documented ones."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """The command of this name, its module imported now."""
        if name not in COMMANDS:
            return None
        found: click.Command = import_module(f"tercet.cli.{name.replace('-', '_')}").command
        return found

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list in --help, without importing any command."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """The command that was typed, or the ones with nearly that name."""
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"no such command: {args[0]!a}.{did_you_mean(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def main(self, *args: Any, **kwargs: Any) -> Any:
        """Runs a command and ends the process with its exit code."""
        kwargs["standalone_mode"] = False  # so that errors come here
        for stream in (sys.stdout, sys.stderr):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")  # a terminal that cannot show a character shows its code
        try:
            result = super().main(*args, **kwargs)
        except click.exceptions.Exit as stop:
            sys.exit(stop.exit_code)
        except click.ClickException as error:
            error.message = visible(error.message)  # type: ignore[misc]
            error.show()
            sys.exit(error.exit_code)
        except (KeyboardInterrupt, click.Abort):
            click.echo("tercet: interrupted", err=True)
            sys.exit(130)
        except BrokenPipeError:
            sys.stderr.close()  # the reader has closed the pipe: print nothing more
            sys.exit(1)
        sys.exit(result if isinstance(result, int) else 0)


@click.group(
    cls=Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110}, epilog=_EXAMPLES
)
@click.version_option(package_name="tercet", message="%(prog)s %(version)s")
def main() -> None:
    """Turns a classifier's scores into decisions and says what they cost."""
