"""`tercet evaluate`: what decisions on these scores cost."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace

import click

import tercet
from tercet._numeric.plain import plain
from tercet._typing import Value
from tercet.application import Application
from tercet.cli import _decided, _resampling
from tercet.cli._classes import equal_classes, least_risk_lines, with_least_risk
from tercet.cli._command import new_command, option, options
from tercet.cli._decision_facts import (
    check_cost_columns,
    cost_columns,
    cost_facts,
    curve_options,
    decision_options,
    draw_decision_facts,
    in_columns,
    print_decision_facts,
    with_decision_facts,
)
from tercet.cli._hints import hints_about
from tercet.cli._options import (
    MEANINGS,
    METHODS,
    SCORES,
    SEVERAL,
    TWO_CLASS,
    WORDS,
    application_options,
    engine_options,
    resampling_options,
    result_options,
    source_options,
)
from tercet.cli._output import Facts, Style, document, log, out, say, show, working, write_page
from tercet.cli._parts import choose_road, limits_of, scanned
from tercet.cli._systems import System, arranged, local_files, name_of, named, read_systems, with_files
from tercet.cli._values import (
    DEFAULT_PRIORS,
    Means,
    grouping,
    level,
    log_odds_grid,
    points_and_means,
    reading,
    with_columns,
)
from tercet.conditions import Conditions, by_condition
from tercet.errors import InputError, TercetError
from tercet.evaluation import Evaluation
from tercet.metrics.costs import useful_priors
from tercet.metrics.mean_cost import mean_cost
from tercet.report import tables, text
from tercet.report.quantities import with_quantities
from tercet.report.terminal import print_command, print_lines, width

_OPTIONS = options(
    option("--bayes-plot", default="-3,3,21", show_default=True, metavar="LO,HI,N", meanings=TWO_CLASS,
           needs=("output=json", "output=table&apps=", "report", "plots"), help="Prior log-odds to plot."),
    option("--eer", default="rocch", show_default=True, meanings=TWO_CLASS,
           type=click.Choice(["rocch", "interpolated", "nearest"]), help="Which definition of the EER to use."),
    resampling_options(excludes=("engine",), seeds=("with_posteriors",),
                       bayes_excludes=("resamples", "group_columns", "calibrate_on", "condition_columns")),
    option("--bands/--no-bands", default=None, meanings=TWO_CLASS, needs=("ci&output=json", "ci&report", "ci&plots"),
           help="Intervals along ROC, DET, Bayes error and reliability. [default: with --plots or --report]"),
    option("--sigma", type=float, metavar="K", needs=("plots",), meanings=TWO_CLASS,
           help="Draw boxes of K standard deviations on ROC and DET."),
    option("--condition-column", "condition_columns", multiple=True, metavar="NAME", meanings=SCORES,
           excludes=("metrics",), help="Also results by gender, channel, site, ..., pooled and equalised."),
    option("--one-vs-rest", is_flag=True, meanings=SEVERAL, excludes=("metrics",),
           needs=("output=json", "output=table", "report"), help="Also evaluate each class against the others."),
    option("--calibrate-on", multiple=True, metavar="FILE", reads=True, meanings=SCORES, excludes=("engine",),
           help="Calibrate first, on these scores; one file per system. --ci then resamples them too."),
    option("--calibrate-with", type=click.Choice(METHODS), default="logistic", show_default=True,
           needs=("calibrate_on",), help="The calibrator."),
    option("--calibrate-prior", metavar="P[,P...]", needs=("calibrate_on",), help="Its training prior."),
    option("--calibrate-labels", metavar="FILE", reads=True, needs=("calibrate_on",), excludes=("calibrate_key",),
           help="Labels of --calibrate-on, if they are in a file of their own."),
    option("--calibrate-key", metavar="FILE", reads=True, needs=("calibrate_on",), help="Trials of --calibrate-on."),
    option("--min-risk", is_flag=True, meanings=SEVERAL, excludes=("engine",),
           help="Also the lowest risk that per-class offsets could reach on these trials; slow with many classes."),
    decision_options,
    engine_options,
    option("--report", metavar="FILE.html", writes=True, meanings=SCORES, help="Also write the interactive page."),
    option("--open", "open_page", is_flag=True, needs=("report",), help="Open the page in a browser."),
    option("--private", is_flag=True, meanings=SCORES, needs=("report", "output=json"),
           excludes=("with_posteriors", "weight_column"),
           help="Page and JSON with a coarser curve, from which no score can be read back; its error is stated."),
    option("--language", type=click.Choice(["en", "it"]), default="en", show_default=True, needs=("report",),
           help="Language of the page."),
    option("--plots", metavar="DIR", meanings=SCORES, help="Also write every figure (needs the extra `plot`)."),
    option("--plot-format", "plot_formats", multiple=True, type=click.Choice(["png", "svg", "pdf"]), default=["png"],
           show_default=True, needs=("plots",), help="Format of the figures; repeat it for several."),
    option("--with-posteriors", is_flag=True, meanings=SEVERAL, needs=("output=json", "report"),
           help="Put up to 2,000 rows into page and JSON, so that priors and costs can be edited on the page."),
    option("--name", "names", multiple=True, metavar="NAME", help="A system's name; repeat it, in the order of files."),
    option("--sort", metavar="QUANTITY", help="Order the systems by this quantity, the best first."),
    result_options,
)  # fmt: skip


@new_command(epilog=WORDS)
@click.argument("scores", nargs=-1, required=True)
@source_options(MEANINGS, groups=("ci",), ids=("key",), scans=True)
@application_options
@_OPTIONS
def command(scores: tuple[str, ...], **options: Value) -> int:
    """Shows what decisions on these scores cost at each operating point.

    One system per file; "-" is stdin.
    """
    (apps, means), source = points_and_means(options), reading(options)
    style = Style.of(options, by_default=not apps and source["meaning"] in TWO_CLASS)
    options["bayes_plot"] = log_odds_grid(options["bayes_plot"])
    options["names"] = named(scores, options["names"], together=options["engine"] is not None)
    if source["meaning"] == "decisions":
        systems = [_with_wanted(one, style) for one in _decided.systems(scores, options["names"], apps, source)]
        _check_wanted(systems, style)
        show([one.known() for one in arranged(systems, options["sort"])], style)
        return 0
    check_cost_columns(options, apps)
    with local_files(scores) as files:
        choose_road(files, source, options, [*options["condition_columns"], *cost_columns(options).values()])
        bounded = options["engine"] is not None
        asked: list[Value] = [*apps]
        if not apps:
            several = source["meaning"] in SEVERAL
            asked = equal_classes(files, source) if several else [*map(Application, DEFAULT_PRIORS)]
        systems, conditions = (_in_parts if bounded else _in_memory)(files, asked, source, options, style)
    systems = [_with_means(one, means) for one in systems]
    _check_wanted(systems, style)
    for one in systems:
        for hint in hints_about(one):
            say(hint)
    _deliver(arranged(systems, options["sort"]), conditions, asked, options, style)
    if not apps and style.output == "table" and not style.wanted and isinstance(systems[0].evaluation, Evaluation):
        _first_minute(systems[0], not bounded)
    return 0


def _in_parts(
    files: Sequence[str], asked: Sequence[Application], source: Facts, options: Facts, style: Style
) -> tuple[list[System], list[Facts]]:
    """All files as the parts of one system, in bounded memory, and the results by condition."""
    columns, asked_curve, eer = cost_columns(options), curve_options(options), options["eer"]
    if columns and options["engine"] == "dask":
        raise InputError("Costs per case are read on this machine: take --engine local.")
    curve, costs = None, []
    with in_columns(columns), scanned(files, source, **limits_of(options)) as trials:
        found = tercet.evaluate(trials, asked, bayes_plot=options["bayes_plot"], eer=eer)
        if columns:
            given = [{"cost_fn": app.cost_fn, "cost_fp": app.cost_fp} | columns for app in asked]
            costs = [tercet.scan_case_costs(trials, app.prior, **one) for app, one in zip(asked, given, strict=True)]
        if asked_curve is not None:
            curve = tercet.decision_curve(trials, **asked_curve)
        conditions = [tercet.by_condition(trials, name, asked, eer=eer) for name in options["condition_columns"]]
    name = options["names"][0] if options["names"] else name_of(files[0]) if len(files) == 1 else found.name
    facts = {**found.to_dict(), "name": name}
    if costs:
        facts["case_costs"] = [cost_facts(app, columns, row) for app, row in zip(asked, costs, strict=True)]
    if curve is not None:
        facts["decision_curve"] = curve.to_dict()
    system = _with_wanted(System(files[0], name or "system", None, None, found, facts, curve=curve), style)
    return [system], [_condition_facts(system, one) for one in conditions]


def _in_memory(
    files: Sequence[str], asked: Sequence[object], source: Facts, options: Facts, style: Style
) -> tuple[list[System], list[Facts]]:
    """The systems, read whole, calibrated and evaluated, and the results by condition."""
    columns = options["condition_columns"]
    draws, calibration = _resampling.Resampling.of(options, source), _resampling.Calibration.of(options, source)
    split = with_columns(source, [*columns, *cost_columns(options).values()])
    rest = options["one_vs_rest"] or (options["report"] is not None and source["meaning"] in SEVERAL)
    settings: Facts = {"bayes_plot": options["bayes_plot"], "eer": options["eer"]}
    systems = read_systems(files, split, options["names"])
    if calibration is not None:
        systems = calibration.applied(systems)
    carried = settings | ({} if draws is None or calibration is not None else draws.asked)
    systems = [_evaluated(one, asked, source, carried | {"one_vs_rest": rest}, style) for one in systems]
    if calibration is not None:
        systems = calibration.named(systems)
    if draws is not None:
        drawn = options["report"] is not None or options["plots"] is not None
        bands = drawn if options["bands"] is None else options["bands"]
        systems = _resampling.with_intervals(systems, asked, draws, bands, calibration, settings)
    systems = [with_decision_facts(one, asked, options, grouping(source)) for one in systems]
    if options["min_risk"]:
        systems = [with_least_risk(one, asked) for one in systems]
    if options["with_posteriors"]:
        from tercet.report.embedded_rows import with_rows

        systems = [replace(one, facts=with_rows(one.known(), one.used(), seed=options["seed"])) for one in systems]
    by_name: Facts = {"eer": options["eer"], **({} if draws is None else draws.asked)}
    conditions = [
        _condition_facts(one, by_condition(one.used(), column, asked, **by_name))
        for one in systems
        for column in columns
    ]
    return systems, conditions


def _evaluated(one: System, asked: Sequence[object], source: Facts, settings: Facts, style: Style) -> System:
    log(f"evaluating {one.name}: {len(one.used())} trials, in memory.")
    with working(f"evaluating {one.name}"):
        found = tercet.evaluate(one.used(), asked, name=one.name, **settings)
        if isinstance(found, Evaluation):
            for row in found.applications:
                row.calibration_loss  # computed when it is asked for; tables and JSON show it  # noqa: B018
        facts = found.to_dict()
    return _with_wanted(replace(one, evaluation=found, facts=with_files(facts, one.path, source)), style)


def _condition_facts(one: System, found: Conditions) -> Facts:
    """An entry of "conditions" in the JSON."""
    return {"system": str(one.known().get("name") or "system"), **found.to_dict()}


def _with_wanted(one: System, style: Style) -> System:
    """The system with the quantities of --metrics among its facts."""
    return replace(one, facts=with_quantities(one.known(), one.evaluation, style.wanted))


def _with_means(one: System, means: Means) -> System:
    """The system with the mean of its costs over the points of each evaluation that was named."""
    if not means:
        return one
    found = tuple(mean_cost(*own, one.evaluation.applications) for own in means)
    return one.with_facts(means=[plain(own) for own in found])


def _check_wanted(systems: Sequence[System], style: Style) -> None:
    """Refuses quantities that none of the systems has."""
    for one in style.wanted:
        held = [facts for system in systems for facts in (system.known(), *system.known()["applications"])]
        if not any(one.name in facts for facts in held):
            raise InputError(f"--metrics {one.name} does not exist for these scores.")


def _deliver(
    systems: Sequence[System], conditions: Sequence[Facts], asked: Sequence[Value], options: Facts, style: Style
) -> None:
    """Prints the result, and writes the page and the figures that were asked for."""
    facts = [one.known() for one in systems]
    if options["private"]:
        from tercet.report.privacy import private

        facts = private({"systems": facts})["systems"]
    if style.output == "tsv":  # the other forms say it themselves
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
        say(f"{len(made)} figures are in {text.harmless(options['plots'], 400)}.")
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
    names, groups = [one.name for one in found], found[0].known().get("intervals", {}).get("by") or ()
    by = None if not groups else groups[0] if len(groups) == 1 else (groups[0], groups[1])
    try:
        made = tercet.compare(
            *(one.used() for one in found), applications=apps, names=names, ci=level(options["ci"]), by=by
        )
    except TercetError as error:
        say(f"the page has no paired differences: {error}")
        return {}
    return {"comparison": made.to_dict()}


def _first_minute(one: System, in_memory: bool) -> None:
    """Without an application: the Bayes error plot, where the system is worth using, and what to type next."""
    ev: Evaluation = one.evaluation
    wide = width()
    out("\n" + "\n".join(text.block_plot(ev.to_dict()["bayes_plot"], wide)) + "\n")
    if ev.meaning == "raw":
        lines = ["These are raw scores: they rank, but no threshold comes with them. Calibrate them first."]
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
        return f"What calibration would save could not be judged by 5 folds: {error}"
    after = tercet.evaluate(fitted, [Application(prior) for prior in DEFAULT_PRIORS]).applications
    before = one.evaluation.applications
    pairs = [(1.0 if old.dcf is None else old.dcf, new) for old, new in zip(before, after, strict=True)]
    gains = [min(cost, 1.0) - (new.dcf or 0.0) for cost, new in pairs]  # llrs have a cost
    cost, best = pairs[gains.index(max(gains))]
    if max(gains) < 0.01:
        return "Calibration (logistic, judged by 5 folds) would make these scores no more useful at these priors."
    old = "the dummy's 1.000" if one.used().meaning == "raw" else f"{cost:.3f}"
    where = text.frequency(best.prior)
    return f"Calibration (logistic, judged by 5 folds) would bring the DCF at {where} from {old} to {best.dcf:.3f}."
