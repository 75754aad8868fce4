"""`tercet evaluate`: what decisions on these scores cost."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from types import SimpleNamespace

import click

import tercet
from tercet._numeric.validation import positive
from tercet._typing import Value
from tercet.application import Application, MulticlassApplication
from tercet.calibration.methods import METHODS, method_of
from tercet.cli import _options as shared
from tercet.cli._command import new_command, option, options
from tercet.cli._decision_facts import (
    cost_columns,
    decision_options,
    draw_decision_facts,
    in_columns,
    least_risk_lines,
    print_decision_facts,
    with_decision_facts,
    with_least_risk,
)
from tercet.cli._hints import hints_about
from tercet.cli._options import MEANINGS, SCORES, SEVERAL, TWO_CLASS
from tercet.cli._output import Facts, Style, document, log, out, say, show, working, write_page
from tercet.cli._systems import (
    Calibration,
    System,
    arranged,
    check_order,
    choose_road,
    decided_systems,
    limits_of,
    local_files,
    name_of,
    named,
    read_systems,
    read_trials,
    scanned,
    with_files,
)
from tercet.cli._values import (
    DEFAULT_PRIORS,
    applications,
    grouping,
    log_odds_grid,
    points_of,
    prior,
    training_settings,
    with_columns,
)
from tercet.conditions import by_condition
from tercet.errors import InputError, TercetError
from tercet.evaluation import Evaluation
from tercet.metrics.costs import useful_priors
from tercet.report import tables, text
from tercet.report.quantities import chosen, is_held, with_quantities
from tercet.report.terminal import print_command, print_lines, width
from tercet.uncertainty import bands, bootstrap, progress_bar
from tercet.uncertainty.intervals import beside

_OPTIONS = options(
    option("--bayes-plot", default="-3,3,21", show_default=True, metavar="LO,HI,N", meanings=TWO_CLASS,
           parse=log_odds_grid, needs=("output=json", "output=table&apps=", "report", "plots"),
           help="Prior log-odds to plot."),
    option("--eer", default="rocch", show_default=True, meanings=TWO_CLASS,
           type=click.Choice(["rocch", "interpolated", "nearest"]), help="Which definition of the EER to use."),
    shared.resampling_options(excludes=("engine",), seeds=("with_posteriors",),
                       bayes_excludes=("resamples", "group_columns", "calibrate_on", "condition_columns")),
    option("--sampling", type=click.Choice(["stratified", "natural"]), meanings=SCORES, needs=("ci",),
           excludes=("engine", "bayes", "group_columns", "calibrate_on", "condition_columns"),
           help="Class counts fixed (stratified) or random (natural). [default: by quantity]"),
    option("--bands/--no-bands", default=None, meanings=TWO_CLASS, excludes=("engine",),
           needs=("ci&output=json", "ci&report", "ci&plots"),
           help="Intervals along ROC, DET, Bayes error and reliability. [default: with --plots or --report]"),
    option("--sigma", type=float, metavar="K", parse=positive, needs=("plots",), meanings=TWO_CLASS,
           help="Draw boxes of K standard deviations on ROC and DET."),
    option("--condition-column", "condition_columns", multiple=True, metavar="NAME", meanings=SCORES,
           excludes=("metrics",), help="Also show results by gender, channel, site, ..., pooled and equalised."),
    option("--one-vs-rest", is_flag=True, meanings=SEVERAL, excludes=("metrics",),
           needs=("output=json", "output=table", "report"), help="Also evaluate each class against the others."),
    option("--calibrate-on", multiple=True, metavar="FILE", reads=True, meanings=SCORES, excludes=("engine",),
           help="Calibrate first, on these scores; one file per system. --ci then resamples them too."),
    option("--calibrate-with", type=click.Choice(METHODS), default="logistic", show_default=True,
           needs=("calibrate_on",), help="The calibrator."),
    option("--calibrate-prior", metavar="P[,P...]", needs=("calibrate_on",), parse=prior,
           help="Its training prior."),
    option("--calibrate-labels", metavar="FILE", reads=True, needs=("calibrate_on",), excludes=("calibrate_key",),
           help="Labels of --calibrate-on, if they are in a separate file."),
    option("--calibrate-key", metavar="FILE", reads=True, needs=("calibrate_on",), help="Key of --calibrate-on."),
    option("--min-risk", is_flag=True, meanings=SEVERAL, excludes=("engine",),
           help="Also show the lowest risk that per-class offsets reach on these trials; slow with many classes."),
    decision_options,
    shared.engine_options,
    option("--report", metavar="FILE.html", writes=True, meanings=SCORES, help="Also write the interactive page."),
    option("--open", "open_page", is_flag=True, needs=("report",), help="Open the page in a browser."),
    option("--private", is_flag=True, meanings=SCORES, needs=("report", "output=json"),
           excludes=("with_posteriors", "weight_column"),
           help="Page and JSON with a coarser curve, from which no score can be read back; its error is stated."),
    shared.language_option("Language of the page.", needs=("report",)),
    option("--plots", metavar="DIR", folder=True, meanings=SCORES,
           help="Also write every figure (needs the extra `plot`)."),
    option("--plot-format", "plot_formats", multiple=True, type=click.Choice(["png", "svg", "pdf"]), default=["png"],
           show_default=True, needs=("plots",), help="Format of the figures; repeat it for several."),
    option("--with-posteriors", is_flag=True, meanings=SEVERAL, needs=("output=json", "report"),
           help="Put up to 2,000 rows into page and JSON, so that priors and costs can be edited on the page."),
    shared.names_option,
    option("--sort", metavar="QUANTITY", help="Order the systems by this quantity, the best first."),
    shared.result_options,
)  # fmt: skip


@new_command()
@click.argument("scores", nargs=-1, required=True)
@shared.source_options(MEANINGS, groups=("ci",), ids=("key",), scans=True)
@shared.application_options(means=True)
@_OPTIONS
def command(scores: tuple[str, ...], source: Facts, **options: Value) -> None:
    """Shows what decisions on these scores cost at each operating point.

    One system per file; "-" is stdin.
    """
    asked: list[Value] = [*applications(options)]
    by_default = not asked and source["meaning"] in TWO_CLASS
    style = Style(options["output"], options["title"], chosen(options["metrics"]), by_default)
    _check_eer(options, style)
    options["names"] = named(scores, options["names"], together=options["engine"] is not None)
    check_order(options["sort"], 1 if options["engine"] is not None else len(scores))
    conditions: list[Facts] = []
    if source["meaning"] == "decisions":
        systems = [_with_wanted(one, style) for one in decided_systems(scores, options["names"], asked, source)]
    else:
        options["costs"] = cost_columns(options, asked)
        with local_files(scores) as files:
            choose_road(files, source, options, [*options["condition_columns"], *options["costs"].values()])
            asked = asked or _usual_applications(files, source)
            way = _in_memory if options["engine"] is None else _in_parts
            systems, conditions = way(files, asked, source, options, style)
    _check_wanted(systems, style)
    for one in systems:
        for hint in hints_about(one.name, one.trials, source, one.evaluation):
            say(hint)
    _deliver(arranged(systems, options["sort"]), conditions, points_of(asked), options, style)
    if by_default and style.output == "table" and not style.wanted:
        _first_minute(systems[0], options["engine"] is None)


def _usual_applications(paths: Sequence[str], source: Facts) -> list[Application] | list[MulticlassApplication]:
    """Where no operating point is given: the usual priors, or equal costs and as many classes as the first file has."""
    from tercet.io import read_chunks

    if source["meaning"] not in SEVERAL:
        return [Application(prior) for prior in DEFAULT_PRIORS]
    names = source.get("class_columns")
    count = len(names) if names else len(next(iter(read_chunks(paths[0], 1, **source))).classes)
    return [Application.multiclass([1.0 / count] * count)]


def _in_parts(
    files: Sequence[str], asked: Sequence[Value], source: Facts, options: Facts, style: Style
) -> tuple[list[System], list[Facts]]:
    """All files as the parts of one system, in bounded memory, and the results by condition."""
    if options["costs"] and options["engine"] == "dask":
        raise InputError("Costs per case are read on this machine: use --engine local.")
    if options["ci"] is not None and options["condition_columns"]:
        raise InputError("--ci with --condition-column needs every row in memory: leave --engine or one of them out.")
    settings: Facts = {"bayes_plot": options["bayes_plot"], "eer": options["eer"]}
    name = options["names"][0] if options["names"] else name_of(files[0]) if len(files) == 1 else None
    with in_columns(options["costs"]), scanned(files, source, **limits_of(options)) as trials:
        found = tercet.evaluate(trials, asked, name=name, ci=options["ci"], **settings)
        facts = {**found.to_dict(), "name": name}
        one = System(files[0], name or "system", None, trials, evaluation=found, facts=facts)
        one = with_decision_facts(_with_wanted(one, style), points_of(asked), options, None)
        conditions = _by_condition([one], asked, options, {})
    return [replace(one, trials=None)], conditions


def _in_memory(
    files: Sequence[str], asked: Sequence[Value], source: Facts, options: Facts, style: Style
) -> tuple[list[System], list[Facts]]:
    """The systems, read whole, calibrated and evaluated, and the results by condition."""
    draws, points = {} if options["ci"] is None else _draws(options, source), points_of(asked)
    read = with_columns(source, [*options["condition_columns"], *options["costs"].values()])
    systems = read_systems(files, read, options["names"])
    if options["calibrate_on"]:
        systems = _calibrated(systems, options, source)
    rest = options["one_vs_rest"] or (options["report"] is not None and source["meaning"] in SEVERAL)
    settings: Facts = {"bayes_plot": options["bayes_plot"], "eer": options["eer"]}
    carried = settings | {"one_vs_rest": rest, "sampling": options["sampling"]}
    carried |= {} if options["calibrate_on"] else draws
    whole = style.output == "json" or options["report"] is not None  # only these show curves, and hashes of files
    systems = [_evaluated(one, asked, source, carried, whole) for one in systems]
    systems = [_with_wanted(one, style) for one in systems]
    if draws:
        drawn = options["report"] is not None or options["plots"] is not None
        with_bands = drawn if options["bands"] is None else options["bands"]
        systems = [_with_intervals(one, points, draws | settings, with_bands) for one in systems]
    if options["decision_curve"] or options["costs"]:
        systems = [with_decision_facts(one, points, options, grouping(source)) for one in systems]
    if options["min_risk"]:
        systems = [with_least_risk(one, points) for one in systems]
    if options["with_posteriors"]:
        from tercet.report.packing import with_rows

        systems = [replace(one, facts=with_rows(one.facts, one.used(), seed=options["seed"])) for one in systems]
    return systems, _by_condition(systems, asked, options, draws)


def _draws(options: Facts, source: Facts) -> Facts:
    """What --ci, --bootstrap, --bayes, --seed and --group-column ask `evaluate` for."""
    asked = {name: options[name] for name in ("ci", "resamples", "seed")}
    return asked | {"by": grouping(source), "method": options["bayes"]}


def _calibrated(systems: Sequence[System], options: Facts, source: Facts) -> list[System]:
    """The systems, each calibrated on its file of --calibrate-on, read like the scores but with labels of its own."""
    paths = options["calibrate_on"]
    if len(paths) != len(systems):
        raise InputError(
            f"--calibrate-on takes one file per system, in the order of the scores: {len(systems)}, not {len(paths)}."
        )
    labelled = {key: options[f"calibrate_{key}"] for key in ("labels", "key")}
    labelled = {key: value for key, value in labelled.items() if value is not None}
    own = {key: value for key, value in source.items() if key not in ("labels", "key")} | labelled
    called = options["calibrate_with"]
    maker, settings = method_of(called)
    at = training_settings(options["calibrate_prior"], called, "--calibrate-prior")
    found = []
    for one, path in zip(systems, paths, strict=True):
        fit = partial(maker.fit, **settings)
        calibration = Calibration(called, fit, at, [path, *labelled.values()], read_trials(path, own))
        found.append(replace(one, trials=calibration(one.used()), calibration=calibration))
    return found


def _with_intervals(one: System, asked: Sequence[object], draws: Facts, with_bands: bool) -> System:
    """The system with bands where it has curves; a calibration set is resampled along with the scores."""
    assert one.read is not None
    drawn = draws | {"method": None, "resamples": draws["resamples"] or 1000}
    facts, own = one.facts, None
    if one.calibration is not None:
        drawn |= {"calibrate": SimpleNamespace(fit=one.calibration.fit), "calibration_trials": one.calibration.trials}
        drawn |= {"prior": one.calibration.prior.get("prior")}
        facts = beside(facts, bootstrap(one.read, asked, progress=progress_bar(), **drawn))
    if with_bands and isinstance(one.evaluation, Evaluation):
        drawn["method"] = "percentile" if draws["resamples"] else None
        own = bands(one.read, asked, progress=progress_bar(), **drawn)
        facts = facts | {"bands": own.to_dict()}
    return replace(one, facts=facts, bands=own)


def _evaluated(one: System, asked: Sequence[Value], source: Facts, settings: Facts, whole: bool) -> System:
    log(f"evaluating {one.name}: {len(one.used())} trials, in memory.")
    with working(f"evaluating {one.name}"):
        found = tercet.evaluate(one.used(), asked, name=one.name, **settings)
        if isinstance(found, Evaluation):
            for row in found.applications:
                row.calibration_loss  # computed when it is asked for; tables and JSON show it  # noqa: B018
        facts = found.to_dict(curves=whole)
    done = replace(one, evaluation=found, facts=with_files(facts, one.path, source) if whole else facts)
    return done if one.calibration is None else done.with_facts(calibration=one.calibration.to_dict())


def _by_condition(systems: Sequence[System], asked: Sequence[Value], options: Facts, draws: Facts) -> list[Facts]:
    """The entries of "conditions" in the JSON."""
    return [
        {"system": str(one.facts.get("name") or "system")}
        | by_condition(one.source(), column, points_of(asked), eer=options["eer"], **draws).to_dict()
        for one in systems
        for column in options["condition_columns"]
    ]


def _with_wanted(one: System, style: Style) -> System:
    """The system with the quantities of --metrics among its facts."""
    return replace(one, facts=with_quantities(one.facts, one.evaluation, style.wanted))


def _check_eer(options: Facts, style: Style) -> None:
    """Refuses a definition of the EER where no EER is shown."""
    shown = style.output == "json" or options["report"] or options["plots"] or not style.wanted
    if options["eer"] != "rocch" and not shown and not any(one.name.startswith("eer") for one in style.wanted):
        raise click.UsageError("--eer has no effect on these --metrics: leave it out, or ask for eer too.")


def _check_wanted(systems: Sequence[System], style: Style) -> None:
    """Refuses quantities that none of the systems has."""
    for one in style.wanted:
        if not is_held([system.facts for system in systems], one.name):
            raise InputError(f"--metrics {one.name} does not exist for these scores.")


def _deliver(
    systems: Sequence[System], conditions: Sequence[Facts], asked: Sequence[Value], options: Facts, style: Style
) -> None:
    """Prints the result, and writes the page and the figures that were asked for."""
    facts = [one.facts for one in systems]
    if options["private"]:
        from tercet.report.privacy import private

        facts = private({"systems": facts})["systems"]
    if style.output == "tsv":  # the other formats include it
        for line in (line for entry in conditions for line in tables.reasons(entry)):
            say(line)
    if options["report"] is not None:
        whole = document(facts, conditions, style.title, by_default=style.by_default)
        whole |= _paired(systems, options)
        write_page(whole, options["report"], style.title, options["open_page"], options["language"])
    if options["plots"] is not None:
        from tercet.report.plots import save_all

        drawn = {"bands": [one.bands for one in systems], "sigma": options["sigma"]}
        found = [one.evaluation for one in systems]
        made = save_all(found, options["plots"], formats=options["plot_formats"], **drawn)
        made += draw_decision_facts(systems, asked, options)
        several = "figure is" if len(made) == 1 else "figures are"
        say(f"{len(made)} {several} in {text.harmless(options['plots'], 400)}.")
    show(facts, style, conditions)
    print_decision_facts(facts, style.output)
    if options["min_risk"] and style.output == "table":
        print_lines(["", *least_risk_lines(facts)], width())
    if options["one_vs_rest"] and style.output == "table":
        print_lines(["", *(line for one in facts for line in tables.summaries(one.get("versus", ())))], width())


def _paired(systems: Sequence[System], options: Facts) -> Facts:
    """The "comparison" of a page of several systems with intervals: paired differences, where trials pair."""
    found = [one for one in systems if isinstance(one.evaluation, Evaluation)]
    if options["ci"] is None or len(found) < 2 or options["engine"] is not None:
        return {}
    apps = [Application(row.prior, row.cost_fn, row.cost_fp) for row in found[0].evaluation.applications]
    names, groups = [one.name for one in found], found[0].facts.get("intervals", {}).get("by") or ()
    by = None if not groups else groups[0] if len(groups) == 1 else (groups[0], groups[1])
    try:
        made = tercet.compare(*(one.used() for one in found), applications=apps, names=names, ci=options["ci"], by=by)
    except TercetError as error:
        say(f"the page has no paired differences: {error}")
        return {}
    return {"comparison": made.to_dict()}


def _first_minute(one: System, in_memory: bool) -> None:
    """Without an application: the Bayes error plot, where the system is worth using, and what to type next."""
    ev: Evaluation = one.evaluation
    wide = width()
    out("\n" + "\n".join(text.block_plot(one.facts["bayes_plot"], wide)) + "\n")
    if ev.meaning == "raw":
        lines = ["These are raw scores: they rank trials, but no threshold follows from them. Calibrate them first."]
    else:
        lines = [text.worth_sentence(useful_priors(ev.curve))]
    lines += [_savings(one)] if in_memory else []
    asked = shlex.join(_without_format(sys.argv[2:]))
    print_lines([*lines, "To calibrate:"], wide)
    print_command(f"  tercet calibrate fit {text.harmless(asked, 400)} -o calibrator.json", wide)
    print_lines(["For your own operating point:"], wide)
    print_command(f"  tercet evaluate {text.harmless(asked, 400)} --app PRIOR,COST_OF_MISS,COST_OF_FALSE_ALARM", wide)


def _without_format(words: Sequence[str]) -> list[str]:
    """The words that were typed without those that choose the format."""
    found, skip = [], False
    for word in words:
        if skip or word == "--format":
            skip = not skip
        elif not word.startswith("--format="):
            found.append(word)
    return found


def _savings(one: System) -> str:
    """What logistic calibration would save where it saves most, judged by five folds."""
    from tercet.calibration.cross_fit import cross_fit
    from tercet.calibration.two_class import Logistic

    try:
        fitted = cross_fit(Logistic, one.used(), 0.5, folds=5).scores
    except TercetError as error:
        return f"What calibration would save could not be estimated by 5 folds: {error}"
    after = tercet.evaluate(fitted, [Application(prior) for prior in DEFAULT_PRIORS]).applications
    before = one.evaluation.applications
    pairs = [(1.0 if old.dcf is None else old.dcf, new) for old, new in zip(before, after, strict=True)]
    gains = [min(cost, 1.0) - (new.dcf or 0.0) for cost, new in pairs]  # only llrs have an actual cost
    cost, best = pairs[gains.index(max(gains))]
    if max(gains) < 0.01:
        return "Calibration (logistic, 5-fold cross-validated) would make these scores no more useful at these priors."
    old = "the dummy's 1.000" if one.used().meaning == "raw" else f"{cost:.3f}"
    where = text.frequency(best.prior)
    return (
        f"Calibration (logistic, 5-fold cross-validated) would lower the DCF at {where} from {old} to {best.dcf:.3f}."
    )
