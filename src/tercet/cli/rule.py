"""`tercet rule`: a threshold chosen by a named criterion, saved, applied and judged on held-out trials."""

from __future__ import annotations

from typing import Any

import click

from tercet._numeric.validation import not_negative, positive, probability
from tercet._typing import Value
from tercet.cli import _options as shared
from tercet.cli._command import new_command, option, options
from tercet.cli._models import loaded
from tercet.cli._options import TWO_CLASS
from tercet.cli._output import Facts, Row, both_ends, draw, print_rows, say, working
from tercet.cli._systems import names_of, read_trials, write_decided
from tercet.cli._values import application, level, one_group, ranged
from tercet.deployment.rules import Reached, Rule
from tercet.errors import TercetError
from tercet.evaluation import evaluate

_CRITERIA = (
    "fpr_at_most", "fnr_at_most", "recall_at_least", "specificity_at_least", "precision_at_least", "alarms_at_most",
    "least_cost", "f_beta", "best",
)  # fmt: skip
_rate = ranged("a rate between 0 and 1 (one per cent is 0.01)", lambda rate: 0.0 <= rate <= 1.0)
_criteria = options(
    option("--fpr-at-most", type=float, metavar="X", parse=_rate,
           help="The threshold with at most this false-alarm rate."),
    option("--fnr-at-most", type=float, metavar="X", parse=_rate,
           help="The threshold with at most this miss rate."),
    option("--recall-at-least", type=float, metavar="X", parse=_rate,
           help="The threshold with at least this true positive rate."),
    option("--specificity-at-least", type=float, metavar="X", parse=_rate,
           help="The threshold for this true negative rate."),
    option("--precision-at-least", type=float, metavar="X", parse=_rate, help="At least this precision on the trials."),
    option("--alarms-at-most", type=float, metavar="N", parse=not_negative,
           help="The threshold with at most this many alarms per day."),
    option("--cases-per-day", type=float, metavar="N", needs=("alarms_at_most",), parse=positive,
           help="Cases that come in per day."),
    option("--prevalence", type=float, metavar="P", needs=("alarms_at_most",), parse=probability,
           help="Share of targets in them."),
    option("--least-cost", metavar="PRIOR,CFN,CFP", parse=application,
           help="Least cost at this operating point (or name)."),
    option("--f-beta", type=float, metavar="B", parse=positive,
           help="The threshold with the largest F-beta score; 1 for F1."),
    option("--best", type=click.Choice(["youden", "corner", "eer"]), help="Largest TPR - FPR; nearest corner; EER."),
    option("--confidence", type=float, metavar="LEVEL", parse=level,
           help="Guarantee the bound on false alarms or misses with this confidence in per cent, such as 95."),
)  # fmt: skip


@click.group()
def command() -> None:
    """Chooses a threshold by a criterion, saves it, applies it, and judges it on held-out trials."""


@new_command("fit", group=command)
@click.argument("scores")
@shared.source_options(TWO_CLASS)
@_criteria
@option("-o", "--out", required=True, writes=True, metavar="RULE.json", help="Where the rule goes.")
@shared.figure_option
@shared.format_options
def fit(scores: str, source: Facts, out: str, figure: str | None, output: str, **options: Value) -> None:
    """Chooses the threshold on labelled scores by exactly one criterion, and saves it."""
    from tercet.io import write_text_atomically

    if len([name for name in _CRITERIA if options[name] is not None]) != 1:
        raise click.UsageError("rule fit takes exactly one criterion, such as --fpr-at-most 0.01.")
    by, trials = one_group(source), read_trials(scores, source)
    rule = Rule.fit(trials, by=by, **options)
    write_text_atomically(out, rule.to_json())
    rows: list[Row] = [{"criterion": rule.criterion, "threshold": rule.threshold} | _rates(rule.rates())]
    facts = rule.to_dict()
    try:
        with working("choosing thresholds by folds"):
            held = rule.out_of_fold(trials, by=by)
        rows.append({"criterion": "out of fold", "threshold": None} | _rates(held))
        facts["out_of_fold"] = {name: _fact(one) for name, one in held.items()}
    except TercetError as error:  # too few trials, or a fold on which no threshold keeps the bound
        say(f"there are no out-of-fold rates: {error}")
    print_rows(rows, output, facts)
    if figure is not None:
        draw(figure, evaluate(trials), "histogram", rule=rule)
    if rule.guarantee is not None:
        say(f"guaranteed: {rule.guarantee}.")
    say(f"the rule is in {out}. The first row is apparent: these trials chose it. Next: tercet rule judge {out} NEW")


@new_command("apply", group=command)
@click.argument("rule")
@click.argument("scores")
@shared.source_options(TWO_CLASS, labels=None)
@shared.layout_option
@shared.table_option
def apply(rule: str, scores: str, source: Facts, out: str, layout: Value) -> None:
    """Decides new scores by a saved rule; the same as `tercet decide --rule`."""
    saved, trials = saved_rule(rule), read_trials(scores, source)
    write_decided(out, trials, {"decision": names_of(saved(trials), trials.classes)}, layout, source)


@new_command("judge", group=command)
@click.argument("rule")
@click.argument("scores")
@shared.source_options(TWO_CLASS, groups=None, ids=("key",))
@shared.ci_option
@shared.format_options
def judge(rule: str, scores: str, source: Facts, ci: float, output: str) -> None:
    """A saved rule on held-out labelled scores, beside the best choice in hindsight."""
    saved = saved_rule(rule)
    found = saved.judge(read_trials(scores, source), ci=ci)
    row: Row = {"criterion": saved.criterion, "threshold": saved.threshold}
    row |= {"kept": "-" if found.kept is None else "yes" if found.kept else "no"}
    row |= _rates(found.rates)
    row |= {"quantity": found.quantity, "value": found.value, "in_hindsight": found.in_hindsight}
    row |= {"regret": found.regret, "hindsight_threshold": found.hindsight.threshold}
    facts: Facts = {
        "rule": saved.to_dict(), "confusion": found.confusion.matrix, "kept": found.kept, "quantity": found.quantity,
        "value": found.value, "in_hindsight": found.in_hindsight, "regret": found.regret,
        "rates": {name: _fact(one) for name, one in found.rates.items()}, "hindsight": found.hindsight.to_dict(),
    }  # fmt: skip
    print_rows([row], output, facts)


def saved_rule(path: str) -> Rule:
    """A rule out of a file."""
    return loaded(path, Rule.from_json, "rule")


def _rates(rates: Any) -> Row:
    row: Row = {}
    for name, one in rates.items():
        row |= {name: one.value} | both_ends(one.interval, name)
    return row


def _fact(one: Reached) -> Facts:
    return {"value": one.value, "ci": None if one.interval is None else list(one.interval[:2])}
