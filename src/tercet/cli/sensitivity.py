"""`tercet sensitivity`: uncertain priors and costs, wrong labels, cases never verified."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import click
from click.core import ParameterSource

from tercet._numeric.plain import plain
from tercet._numeric.validation import not_negative, probability, shown
from tercet._typing import Value
from tercet.application import Application
from tercet.cli import _options as shared
from tercet.cli._command import new_command, option
from tercet.cli._options import TWO_CLASS
from tercet.cli._output import Facts, Row, both_ends, ends, print_rows, working
from tercet.cli._systems import read_trials
from tercet.cli._values import each, grouping, level, numbers, ranged
from tercet.errors import InputError

_RANGE = "VALUE|LOW:HIGH|beta:A:B|lognormal:MEDIAN:SIGMA"


def _uncertain(check: Callable[[float, str], float], words: str, flag: str) -> Value:
    """A number, a range or a named distribution."""
    name, *rest = words.split(":")
    if name not in ("beta", "lognormal"):
        values = [check(numbers(word, flag, 1)[0], flag) for word in words.split(":")]
        if len(values) > 2 or values[0] > values[-1]:
            raise InputError(f"{flag} is a number or a range LOW:HIGH with LOW <= HIGH, not {shown(words)}.")
        return values[0] if len(values) == 1 else tuple(values)
    if len(rest) != 2:
        raise InputError(f"{flag} {name} takes two numbers: {name}:A:B.")
    first, second = (numbers(word, flag, 1)[0] for word in rest)
    if not (first > 0.0 and second > 0.0):
        raise InputError(f"{flag} {name} takes two positive numbers, not {first:g} and {second:g}.")
    from scipy import stats

    return stats.beta(first, second) if name == "beta" else stats.lognorm(second, scale=first)


_shares = each(ranged("shares from 0 to below 0.5", lambda share: 0.0 <= share < 0.5))


def _counts(words: str, flag: str) -> list[float]:
    """Targets, non-targets and unverified cases."""
    return [int(value) if value.is_integer() else value for value in numbers(words, flag, 3)]


@click.group()
def command() -> None:
    """What changes if prior and costs are uncertain, labels are wrong, or cases were never verified."""


@new_command("inputs", group=command)
@click.argument("scores")
@shared.source_options(TWO_CLASS, groups=None, ids=("key",))
@option("--prior", required=True, metavar=_RANGE, parse=partial(_uncertain, probability),
        help="The share of targets, as far as it is known.")  # fmt: skip
@option("--cost-fn", default="1", show_default=True, metavar="RANGE", parse=partial(_uncertain, not_negative),
        help="The cost of a miss, in the same form.")  # fmt: skip
@option("--cost-fp", default="1", show_default=True, metavar="RANGE", parse=partial(_uncertain, not_negative),
        help="The same for a false alarm.")  # fmt: skip
@option("--ci", type=float, default=95.0, show_default=True, metavar="LEVEL", parse=level,
        help="For distributions: the central share, in per cent, over which the worst case is taken.")  # fmt: skip
@shared.format_options
def inputs(scores: str, source: Facts, ci: float, output: str, **known: Value) -> None:
    """Thresholds with the lowest expected cost, worst-case cost and regret."""
    from tercet.uncertainty import robust_thresholds

    typed = click.get_current_context().get_parameter_source("ci") is ParameterSource.COMMANDLINE
    if typed and all(isinstance(one, float | tuple) for one in known.values()):
        raise click.UsageError("--ci has no effect without a distribution, such as --prior beta:2:18: leave it out.")
    trials = read_trials(scores, source)
    with working("searching for thresholds"):
        found = robust_thresholds(trials, **known, level=ci)
    rows: list[Row] = []
    for one in found.rows:
        row: Row = dict(one._asdict())
        for name in ("worst_at", "regret_at"):
            row[name] = ",".join(f"{value:g}" for value in row[name])
        rows.append(row)
    print_rows(rows, output, found.to_dict())


@new_command("labels", group=command)
@click.argument("scores")
@shared.source_options(TWO_CLASS, ids=("key",))
@shared.point_option
@option("--wrong-targets", default="0", show_default=True, metavar="S,...", parse=_shares,
        help="Shares of the trials labelled target that are non-targets.")  # fmt: skip
@option("--wrong-nontargets", default="0", show_default=True, metavar="S,...", parse=_shares,
        help="Shares of the trials labelled non-target that are targets.")  # fmt: skip
@shared.ci_option
@shared.format_options  # fmt: skip
def labels(scores: str, source: Facts, app: Application, ci: float, output: str, **shares: Value) -> None:
    """Rates, cost and AUC if some labels were wrong, independently of the score."""
    from tercet.uncertainty import label_noise

    by, trials = grouping(source), read_trials(scores, source)
    with working("correcting for wrong labels"):
        found = label_noise(trials, app, **shares, level=ci, by=by)
    rows: list[Row] = []
    for one in found:
        row: Row = {"wrong_targets": one.wrong_targets, "wrong_nontargets": one.wrong_nontargets}
        for name in ("fnr", "fpr", "dcf", "auc"):
            bound = getattr(one, name)
            row |= {name: None if bound is None else bound.value} | both_ends(bound, name)
        rows.append(row | {"possible": one.possible})
    print_rows(rows, output)


@new_command("verification", group=command, epilog=None)
@option("--accepted", required=True, metavar="T,N,U", parse=_counts,
        help="Accepted: verified targets, non-targets, unverified.")  # fmt: skip
@option("--rejected", required=True, metavar="T,N,U", parse=_counts,
        help="Among rejected cases: the same three numbers.")  # fmt: skip
@shared.ci_option
@shared.format_options
def verification(accepted: list[float], rejected: list[float], ci: float, output: str) -> None:
    """Error rates corrected for cases that were never verified (Begg and Greenes)."""
    from tercet.uncertainty import verification_bias

    found = verification_bias(accepted, rejected, level=ci)
    rows: list[Row] = []
    for name in ("fnr", "fpr"):
        bound, reach = getattr(found, name), getattr(found, f"{name}_range")
        row: Row = {"rate": name, "measured": plain(getattr(found, f"measured_{name}")), "corrected": bound.value}
        rows.append(row | ends(bound) | {"least": reach[0], "most": reach[1], "method": bound.method})
    print_rows(rows, output, {"rates": rows, "prevalence": found.prevalence})
