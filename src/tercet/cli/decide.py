"""`tercet decide`: the decision of least expected cost for every trial."""

from __future__ import annotations

import click

from tercet._numeric.validation import rate
from tercet._typing import Value
from tercet.application import Application
from tercet.cli import _options as shared
from tercet.cli._command import new_command, option
from tercet.cli._decision_facts import case_cost_options, case_costs, cost_columns
from tercet.cli._hints import read_as_llrs
from tercet.cli._models import saved_model
from tercet.cli._output import Facts, say
from tercet.cli._systems import names_of, read_trials, write_decided
from tercet.cli._values import applications, with_columns, without_settings
from tercet.cli.rule import saved_rule
from tercet.decision import decisions, neyman_pearson
from tercet.metrics.case_costs import CaseCosts
from tercet.metrics.confusion import as_matrix
from tercet.metrics.curves import Curve
from tercet.metrics.tally import Tally
from tercet.trials import Trials


@new_command()
@click.argument("scores")
@shared.source_options(labels=("fpr_at_most",))
@shared.application_options()
@option("--fpr-at-most", type=float, metavar="X", parse=rate, excludes=("apps", "priors"),
        help="Decide by Neyman-Pearson instead; finding the threshold needs labels.")  # fmt: skip
@shared.seed_option("Seed of draws among tied scores.", needs=("fpr_at_most",))
@option("--rule", metavar="RULE.json", reads=True, excludes=("apps", "priors", "fpr_at_most"),
        help="Decide by a rule of `tercet rule fit` instead.")  # fmt: skip
@case_cost_options
@option("--calibrator", metavar="FILE", reads=True, help="Calibrate the scores first.")
@shared.layout_option
@shared.table_option
def command(scores: str, source: Facts, out: str, layout: Value, **options: Value) -> None:
    """The decision of least expected cost for every trial, with that cost."""
    if options["fpr_at_most"] is not None or options["rule"] is not None:
        without_settings(options, "apps", "priors", "costs")
    apps, bound = applications(options), options["fpr_at_most"]
    if len(apps) + (bound is not None) + (options["rule"] is not None) != 1:
        raise click.UsageError("decide takes exactly one operating point (--app or --priors), --fpr-at-most or --rule.")
    columns = cost_columns(options, apps)
    one = apps and isinstance(apps[0], Application)  # not of several classes
    read = read_as_llrs if one and options["calibrator"] is None else read_trials
    trials = read(scores, with_columns(source, columns.values()))
    if options["calibrator"] is not None:
        trials = saved_model(options["calibrator"])(trials)
    if options["rule"] is not None:
        found = {"decision": names_of(saved_rule(options["rule"])(trials), trials.classes)}
    elif bound is not None:
        found = _by_bound(trials, bound, options["seed"])
    else:
        found = _by_cost(trials, case_costs(trials, apps[0], columns) if columns else apps[0])
    write_decided(out, trials, found, layout, source)


def _by_cost(trials: Trials, app: object) -> Facts:
    chosen = decisions(trials, app)
    names = trials.classes if isinstance(app, CaseCosts) else as_matrix(app).renamed(trials.classes).actions
    return {
        "decision": names_of(chosen.actions, names),
        "expected_cost": chosen.expected_cost,
        "margin": chosen.margin,
    }


def _by_bound(trials: Trials, bound: float, seed: int) -> Facts:
    rule = neyman_pearson(Curve.of(Tally.of(trials)), bound)
    below = "everything below" if rule.lower is None else f"those in ({rule.lower!r}, {rule.upper!r}]"
    say(
        f"accepting scores above {rule.upper!r}, and {below} with probability {rule.probability:.6g}: "
        f"FPR {rule.fpr:.6g}, TPR {rule.tpr:.6g} on these trials."
    )
    return {"decision": names_of(rule(trials, seed=seed), trials.classes)}
