"""`tercet evaluate`: what decisions on these scores cost."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import click

import tercet
from tercet.application import Application
from tercet.cli import _decided, _resampling
from tercet.cli._command import new_command, option
from tercet.cli._options import (
    FORMATS,
    MEANINGS,
    METHODS,
    SCORES,
    SEVERAL,
    TWO_CLASS,
    WORDS,
    application_options,
    engine_options,
    resampling_options,
    source_options,
)
from tercet.cli._output import Facts, chosen_format, document, log, say, show, write_page
from tercet.cli._parts import evaluate_parts, limits_of
from tercet.cli._systems import System, local_files, read_systems, with_files
from tercet.cli._values import DEFAULT_PRIORS, applications, numbers, reading
from tercet.errors import TercetError
from tercet.evaluation import Evaluation
from tercet.metrics.costs import useful_priors
from tercet.report import text

__all__ = ["FORMATS", "command"]


@dataclass(frozen=True, slots=True)
class _Wanted:
    """What is to be delivered beside the table: a page, figures."""

    output: str
    report: str | None
    open_page: bool
    plots: str | None
    formats: Sequence[str] = ("png",)
    sigma: float | None = None

    @property
    def draws(self) -> bool:
        return self.report is not None or self.plots is not None


@new_command(epilog=WORDS)
@click.argument("scores", nargs=-1, required=True)
@source_options(MEANINGS)
@application_options
@option(
    "--bayes-plot",
    default="-3,3,21",
    show_default=True,
    metavar="LO,HI,N",
    meanings=TWO_CLASS,
    help="Grid of prior log-odds.",
)
@option(
    "--eer",
    default="rocch",
    show_default=True,
    meanings=TWO_CLASS,
    type=click.Choice(["rocch", "interpolated", "nearest"]),
    help="The definition of the EER.",
)
@resampling_options(excludes=("engine",), seeds=("with_posteriors",))
@option(
    "--bands/--no-bands",
    default=None,
    needs=("ci",),
    meanings=TWO_CLASS,
    help="Intervals along ROC, DET, Bayes error and reliability. [default: with --plots or --report]",
)
@option(
    "--sigma",
    type=float,
    metavar="K",
    needs=("plots",),
    meanings=TWO_CLASS,
    help="Boxes of K standard deviations on ROC and DET.",
)
@option(
    "--condition-column",
    "condition_columns",
    multiple=True,
    metavar="NAME",
    meanings=SCORES,
    excludes=("engine",),
    help="Also results by gender, channel, site ..., pooled and equalised; repeat it.",
)
@option(
    "--calibrate-on",
    multiple=True,
    metavar="FILE",
    meanings=SCORES,
    excludes=("engine",),
    help="Calibrate first, on these scores; one file per system. --ci then resamples them too.",
)
@option(
    "--calibrate-with",
    type=click.Choice(METHODS),
    default="logistic",
    show_default=True,
    needs=("calibrate_on",),
    help="The method.",
)
@option("--calibrate-prior", metavar="P[,P...]", needs=("calibrate_on",), help="The prior to train for.")
@option(
    "--calibrate-labels",
    metavar="FILE",
    needs=("calibrate_on",),
    excludes=("calibrate_key",),
    help="Labels of --calibrate-on, if apart.",
)
@option("--calibrate-key", metavar="FILE", needs=("calibrate_on",), help="The trial list of --calibrate-on.")
@engine_options
@option("--report", metavar="FILE.html", meanings=SCORES, help="Also write the page where one moves the prior.")
@option("--open", "open_page", is_flag=True, needs=("report",), help="Open the page in a browser.")
@option("--plots", metavar="DIR", meanings=SCORES, help="Also write every figure (needs the extra `plot`).")
@option(
    "--plot-format",
    "plot_formats",
    multiple=True,
    type=click.Choice(["png", "svg", "pdf"]),
    default=["png"],
    show_default=True,
    needs=("plots",),
    help="Of the figures; repeat it for several.",
)
@option(
    "--with-posteriors",
    is_flag=True,
    meanings=SEVERAL,
    help="Up to 2,000 rows go into page and JSON, and the page can edit priors and costs.",
)
@option("--json", "as_json", is_flag=True, excludes=("output",), help="The same as --format json.")
@option("--format", "output", type=click.Choice(FORMATS), help="[default: table, tsv in a pipe]")  # fmt: skip
def command(scores: tuple[str, ...], **options: Any) -> int:
    """What decisions on these scores cost, at each operating point.

    One system per file; "-" is stdin.
    """
    apps, source = applications(options), reading(options)
    low, high, count = numbers(options["bayes_plot"], "--bayes-plot", 3)
    grid = (low, high, int(count))
    wanted = _Wanted(
        chosen_format(options["as_json"], options["output"]), options["report"], options["open_page"],
        options["plots"], options["plot_formats"], options["sigma"],
    )  # fmt: skip
    if source["meaning"] == "decisions":
        return _decided.evaluate(scores, apps, wanted.output, source)
    asked = apps or ([] if source["meaning"] in SEVERAL else [Application(p) for p in DEFAULT_PRIORS])
    if options["engine"] is not None:
        found = evaluate_parts(scores, asked, source, bayes_plot=grid, eer=options["eer"], **limits_of(options))
        _deliver([found.to_dict()], [found], wanted)
        return 0
    systems, conditions = _in_memory(scores, asked, source, options, grid, wanted)
    _deliver([one.known() for one in systems], [one.evaluation for one in systems], wanted, conditions,
             [one.bands for one in systems])  # fmt: skip
    if not apps and wanted.output == "table" and isinstance(systems[0].evaluation, Evaluation):
        _first_minute(systems[0])
    return 0


def _in_memory(
    scores: Sequence[str], asked: Sequence[Any], source: Facts, options: Facts, grid: tuple[float, float, int],
    wanted: _Wanted,
) -> tuple[list[System], list[Facts]]:  # fmt: skip
    """The systems, read whole, calibrated and evaluated, the best first; and the results by condition."""
    columns = options["condition_columns"]
    draws = _resampling.Resampling.of(options, source)
    calibration = _resampling.Calibration.of(options, source)
    split = {**source, "group_columns": [*dict.fromkeys([*source.get("group_columns", ()), *columns])]}
    with local_files(scores) as files:
        systems = read_systems(files, split)
        if calibration is not None:
            systems = calibration.applied(systems)
        settings: Facts = {"bayes_plot": grid, "eer": options["eer"]}
        systems = [_evaluated(one, asked, source, settings, wanted.report is not None) for one in systems]
    if calibration is not None:
        systems = calibration.named(systems)
    if draws is not None:
        bands = options["bands"] if options["bands"] is not None else wanted.draws
        systems = _resampling.with_intervals(systems, asked, draws, bands, calibration, settings)
    if options["with_posteriors"]:
        from tercet.report.embedded_rows import with_rows

        systems = [replace(one, facts=with_rows(one.known(), one.trials, seed=options["seed"])) for one in systems]
    systems = sorted(systems, key=lambda one: one.cost)
    return systems, _resampling.conditions_of(systems, columns, asked, draws, options["eer"])


def _evaluated(one: System, asked: Sequence[Any], source: Facts, settings: Facts, one_vs_rest: bool) -> System:
    log(f"evaluating {one.name}: {len(one.trials)} trials, in memory.")
    found = tercet.evaluate(one.trials, asked, one_vs_rest=one_vs_rest, **settings)
    return replace(one, evaluation=found, facts=with_files(found.to_dict(), one.path, source))


def _deliver(
    systems: list[Facts], found: list[Any], wanted: _Wanted, conditions: Sequence[Facts] = (),
    bands: Sequence[Any] | None = None,
) -> None:  # fmt: skip
    """Prints the result, and writes the page and the figures that were asked for."""
    if wanted.output == "tsv":  # the other forms say it themselves
        for line in (line for entry in conditions for line in text.reasons(entry)):
            say(line)
    if wanted.report is not None:
        write_page(document(systems, conditions), wanted.report, None, wanted.open_page)
    if wanted.plots is not None:
        from tercet.report.plots import save_all

        made = save_all(found, wanted.plots, bands=bands, sigma=wanted.sigma, formats=wanted.formats)
        say(f"{len(made)} figures are in {wanted.plots}.")
    show(systems, wanted.output, conditions)


def _first_minute(one: System) -> None:
    """Without an application: the Bayes error plot, where the system is worth using, and what to type next."""
    ev: Evaluation = one.evaluation
    print("\n" + "\n".join(text.block_plot(ev.to_dict()["bayes_plot"])) + "\n")
    if one.trials.meaning == "raw":
        print("These are raw scores: they rank, but no threshold comes with them. Calibrate them first.")
    else:
        print(text.worth_sentence(useful_priors(ev.curve)))
    print(_savings(one))
    asked = " ".join(word for word in sys.argv[2:] if word not in ("--format", "table"))
    print(f"Calibrate:           tercet calibrate fit {asked} -o calibrator.json")
    print(f"Your own use:        tercet evaluate {asked} --app PRIOR,COST_OF_A_MISS,COST_OF_A_FALSE_ALARM")


def _savings(one: System) -> str:
    """What logistic calibration would save where it saves most, judged by five folds."""
    from tercet.calibration.cross_fit import cross_fit
    from tercet.calibration.two_class import Logistic

    try:
        fitted = cross_fit(Logistic, one.trials, 0.5, folds=5).scores
    except TercetError as error:
        return f"What calibration would save could not be judged by 5 folds: {error}"
    after = tercet.evaluate(fitted, [Application(prior) for prior in DEFAULT_PRIORS]).applications
    before = one.evaluation.applications
    pairs = [(1.0 if old.dcf is None else old.dcf, new) for old, new in zip(before, after, strict=True)]
    cost, best = max(pairs, key=lambda pair: min(pair[0], 1.0) - pair[1].dcf)
    if min(cost, 1.0) - best.dcf < 0.01:
        return "Calibration (logistic, judged by 5 folds) would make these scores no more useful at these priors."
    old = "the dummy's 1.000" if one.trials.meaning == "raw" else f"{cost:.3f}"
    where = text.frequency(best.prior)
    return f"Calibration (logistic, judged by 5 folds) would bring the cost at {where} from {old} to {best.dcf:.3f}."
