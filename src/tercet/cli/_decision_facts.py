"""What stands beside an evaluation: decision curves, costs per case, and the least risk that offsets reach."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import click

from tercet._numeric.plain import plain
from tercet._numeric.validation import not_negative, probability, shown
from tercet._typing import JSON, Value
from tercet.application import Application
from tercet.cli._command import option, options
from tercet.cli._options import TWO_CLASS
from tercet.cli._output import Facts, Row, print_rows, working
from tercet.cli._systems import System
from tercet.cli._values import each, points_of
from tercet.deployment.decision_curves import decision_curve
from tercet.errors import InputError, TercetError
from tercet.io._trial_columns import group_numbers
from tercet.metrics.case_costs import CaseCostColumns, CaseCosts
from tercet.outofcore.scan import Scan
from tercet.report.tables import name_of, point
from tercet.report.text import short
from tercet.trials import Trials
from tercet.uncertainty.case_costs import case_cost_calibration_loss, case_cost_curve, evaluate_case_costs

_By = str | tuple[str, str] | None
_COSTS = ("cost_fn", "cost_fp", "cost_tp")
case_cost_options = options(
    option("--cost-fn-column", metavar="NAME", meanings=TWO_CLASS, help="Each case's own cost of a miss."),
    option("--cost-fp-column", metavar="NAME", meanings=TWO_CLASS, help="Each case's own cost of a false alarm."),
    option("--cost-tp-column", metavar="NAME", meanings=TWO_CLASS, needs=("cost_fn_column", "cost_fp_column"),
           help="Each case's own cost of a hit, such as a fee."),
)  # fmt: skip
decision_options = options(
    option("--decision-curve", is_flag=True, meanings=TWO_CLASS,
           help="Also show net benefit against the threshold probability; with --ci, as bands."),
    option("--thresholds", metavar="T,...", needs=("decision_curve",), parse=each(probability),
           help="Threshold probabilities of the decision curve. [default: 0.01, 0.02, ..., 0.99]"),
    option("--prevalence", type=float, metavar="P", needs=("decision_curve",), parse=probability,
           help="Prevalence for the decision curve. [default: that of the trials]"),
    option("--harm", type=float, default=0.0, metavar="H", needs=("decision_curve",), parse=not_negative,
           help="What obtaining the scores costs per case, in net benefit."),
    case_cost_options,
)  # fmt: skip


def cost_columns(options: Facts, apps: Sequence[Value]) -> dict[str, str]:
    """The columns of costs that were named (cost -> column); they need an operating point with a prior."""
    named = {name: options[f"{name}_column"] for name in _COSTS}
    found = {name: column for name, column in named.items() if column is not None}
    if found and not apps:
        raise click.UsageError("--cost-fn-column and --cost-fp-column need --app: its prior, and the other cost.")
    if found and not all(isinstance(app, Application) for app in points_of(apps)):
        raise click.UsageError("Costs per case go with a two-class operating point (--app).")
    return found


def case_costs(trials: Trials, app: object, columns: dict[str, str]) -> CaseCosts:
    """The application with the costs of its cases; a cost without a column is the application's own."""
    assert isinstance(app, Application)  # cost_columns refuses others
    costs: JSON = {"cost_fn": app.cost_fn, "cost_fp": app.cost_fp}
    for name, column in columns.items():
        costs[name] = group_numbers(trials, column, "costs")
    with in_columns(columns):
        return CaseCosts(app.prior, **costs)


@contextmanager
def in_columns(columns: dict[str, str]) -> Iterator[None]:
    """Names the option and its column where Python names an argument of costs."""
    try:
        yield
    except InputError as error:
        words = str(error)
        for name, column in columns.items():
            given = rf"\b{name}\b(={re.escape(shown(column))})?"
            words = re.sub(given, f"--{name.replace('_', '-')}-column {shown(column)}", words)
        raise InputError(words) from None


def with_decision_facts(one: System, apps: Sequence[Value], options: Facts, by: _By) -> System:
    """The system with its decision curve and costs per case, where they were asked for."""
    ci = options["ci"]
    if options["decision_curve"]:
        asked = {name: options[name] for name in ("thresholds", "prevalence", "harm")}
        curve = decision_curve(one.source(), ci=ci, by=None if ci is None else by, **asked)
        one = replace(one.with_facts(decision_curve=curve.to_dict()), curve=curve)
    if options["costs"]:
        rows = [
            {"prior": app.prior, "columns": options["costs"], **_priced(one.source(), app, options["costs"], ci, by)}
            for app in apps
        ]
        one = one.with_facts(case_costs=rows)
    return one


def _priced(trials: Trials | Scan, app: Application, columns: dict[str, str], ci: float | None, by: _By) -> Facts:
    """The costs per case of one operating point; in memory with the calibration loss."""
    if isinstance(trials, Scan):
        given: JSON = {"cost_fn": app.cost_fn, "cost_fp": app.cost_fp, **columns}
        return evaluate_case_costs(trials, CaseCostColumns(app.prior, **given), ci=ci).to_dict()
    costs = case_costs(trials, app, columns)
    groups = None if ci is None else by  # without intervals, groups deal the folds of the loss only
    return evaluate_case_costs(trials, costs, ci=ci, by=groups).to_dict() | _loss(trials, costs, ci, by)


def _loss(trials: Trials, costs: CaseCosts, ci: float | None, by: _By) -> Facts:
    """The cross-fitted calibration loss where intervals are asked for, or why there is none."""
    if ci is None:
        return {}
    try:
        found = case_cost_calibration_loss(trials, costs, ci=ci, by=by)
    except TercetError as error:
        return {"calibration_loss": None, "reasons": {"calibration_loss": str(error)}}
    return {"calibration_loss": found.value, "calibration_loss_ci": [found.low, found.high]}


def with_least_risk(one: System, asked: Sequence[object]) -> System:
    """A system of several classes with the least risk of each operating point beside its risk."""
    from tercet.metrics.confusion import FREE_DUMMY
    from tercet.metrics.min_risk import min_risk

    rows = []
    with working(f"searching for the least risk of {one.name}"):
        for app, facts in zip(asked, one.facts["applications"], strict=True):
            least = min_risk(one.used(), app)
            found = {"min_risk": least.risk, "min_dcf": least.normalised, "min_risk_bound": least.lower_bound}
            why = {"min_dcf": FREE_DUMMY} if least.normalised is None else {}
            reasons = {**facts.get("reasons", {}), **why}
            rows.append({**facts, **plain(found), **({"reasons": reasons} if reasons else {})})
    return one.with_facts(applications=rows)


def least_risk_lines(systems: Sequence[Facts]) -> list[str]:
    """The least risk of each operating point in words."""
    return [
        f"{name_of(system)}, {point(app)}: minimum risk {short(app['min_risk'])}, minimum DCF {short(app['min_dcf'])}"
        + ("" if app["min_risk"] == app["min_risk_bound"] else f" (at least {short(app['min_risk_bound'])})")
        for system in systems
        for app in system["applications"]
    ]


def draw_decision_facts(systems: Sequence[System], apps: Sequence[Value], options: Facts) -> list[Path]:
    """Decision curves and costs per case of all systems, one figure of each."""
    from tercet.report.plots import plot

    figures: dict[str, tuple[str, dict[str, Value]]] = {}
    if curves := {one.name: one.curve for one in systems if one.curve is not None}:
        figures["decision-curve"] = "decision-curve", curves
    columns, ci = options["costs"], options["ci"]
    in_memory = [one for one in systems if one.trials is not None]
    for place, app in enumerate(apps if columns and in_memory else ()):
        costs = {one.name: case_cost_curve(one.used(), case_costs(one.used(), app, columns), ci=ci) for one in systems}
        figures["case-costs" if place == 0 else f"case-costs-{place + 1}"] = "case-costs", costs
    made = []
    for name, (kind, drawn) in figures.items():
        figure = plot(drawn, kind)
        made += [figure.save(Path(options["plots"]) / f"{name}.{ending}") for ending in options["plot_formats"]]
    return made


def print_decision_facts(systems: Sequence[Facts], output: str) -> None:
    """Prints the tables that were asked for; JSON contains them already."""
    if output == "json":
        return
    costs = [_cost_row(one, row) for one in systems for row in one.get("case_costs", ())]
    curves = [row for one in systems if "decision_curve" in one for row in _curve_rows(one)]
    means = [_mean_row(one, mean) for one in systems for mean in one.get("means", ())]
    shares = dict.fromkeys(f"{one['decision_curve']['prevalence']:.4g}" for one in systems if "decision_curve" in one)
    benefit = f"net benefit at prevalence {' and '.join(shares)}"
    titles = ("means over operating points", "costs per case, in the unit of the columns", benefit)
    for title, rows in zip(titles, (means, costs, curves), strict=True):
        if rows:
            print()
            if output != "tsv":
                print({"latex": f"% {title}", "md": f"{title}\n"}.get(output, title))
            print_rows(rows, output)


def _mean_row(system: Facts, mean: Facts) -> Row:
    name = mean["name"] or f"{len(mean['places'])} points"
    return {"system": system.get("name"), "mean_of": name, "mean_dcf": mean["dcf"], "mean_min_dcf": mean["min_dcf"]}


def _cost_row(system: Facts, row: Facts) -> Row:
    keys = ("prior", "cost", "min_cost", "constant_cost", "constant_action", "own_cost", "savings", "cost_per_1000")
    found: Row = {"system": system.get("name"), **{key: row[key] for key in keys}}
    if "cost_ci" in row:
        found |= _ends(row, "cost") | _ends(row, "savings") | _ends(row, "min_cost")
        found |= {"calibration_loss": row.get("calibration_loss")} | _ends(row, "calibration_loss")
    return found


def _ends(row: Facts, name: str) -> Row:
    ends = row.get(f"{name}_ci")
    return {} if ends is None else {f"{name}_low": ends[0], f"{name}_high": ends[1]}


def _curve_rows(system: Facts) -> list[Row]:
    """Ten thresholds of the curve, or all where there are fewer."""
    curve = system["decision_curve"]
    count = len(curve["threshold"])
    places = range(count) if count <= 10 else [round((k + 0.5) * count / 10 - 0.5) for k in range(10)]
    keys = ("threshold", "net_benefit", "treat_all", "best_apparent", "standardised")
    rows: list[Row] = []
    for place in places:
        row: Row = {"system": system.get("name"), **{key: curve[key][place] for key in keys}}
        row["avoided_per_100"] = curve["interventions_avoided_per_100"][place]
        if "net_benefit_ci" in curve:
            low, high = curve["net_benefit_ci"][place]
            row |= {"low": low, "high": high}
        rows.append(row)
    return rows
