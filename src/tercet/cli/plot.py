"""`tercet plot`: one figure of one system or of several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import click

from tercet._numeric.validation import positive, shown
from tercet._typing import Value
from tercet.cli import _options as shared
from tercet.cli._command import new_command, option
from tercet.cli._options import TWO_CLASS
from tercet.cli._output import Facts, draw, working
from tercet.cli._systems import distinct_names, named, read_trials
from tercet.cli._values import application, grouping
from tercet.errors import did_you_mean
from tercet.evaluation import Evaluation, evaluate
from tercet.trials import Trials

_BANDED = ("kind=roc", "kind=det", "kind=bayes-error", "kind=reliability", "kind=decision-curve")
_AT_ONCE = ("roc", "det", "decision-curve")  # figures with a band that holds at all points at once
_LEVEL = 0.95
_OF_OTHER_RESULTS = ("decision-curve", "risk-coverage", "corp")  # which this command computes
_WITHOUT_POINTS = ("decision-curve", "corp")


@new_command()
@click.argument("scores", nargs=-1, required=True)
@shared.source_options(TWO_CLASS, groups=("bands=pointwise",), ids=("key",))
@option("--app", "apps", multiple=True, metavar="PRIOR,CFN,CFP", parse=application,
        help="An operating point to mark; repeat it.")  # fmt: skip
@option("--kind", default="det", show_default=True, metavar="NAME", help="Figure: roc, det, bayes-error, ...")
@option("--size", type=click.Choice(["column", "page"]), help="Width of a journal's column or page.")
@option("--log", is_flag=True, needs=("kind=roc", "kind=det", "kind=histogram"), help="Logarithmic axes.")
@option("--bands", type=click.Choice(["pointwise", "simultaneous"]), needs=_BANDED, excludes=("log",),
        help="A 95 % band: at each point, or at all points at once.")  # fmt: skip
@option("--sigma", type=float, metavar="K", parse=positive, needs=("kind=roc", "kind=det"), excludes=("log",),
        help="Boxes of K standard deviations around the decisions.")  # fmt: skip
@shared.names_option
@option("--title", metavar="WORDS", help="Title of the figure.")
@option("-o", "--out", required=True, writes=True, metavar="FILE", help="Where the figure goes (png, svg or pdf).")
def command(scores: tuple[str, ...], source: Facts, kind: str, out: str, **options: Value) -> None:  # fmt: skip
    """One figure of one system, or of several in one figure."""
    points = options["apps"]
    _check_kind(kind, len(scores), len(points), options["bands"])
    names, bands = named(scores, options["names"]) or distinct_names(scores), options["bands"]
    by, trials = grouping(source), [read_trials(path, source) for path in scores]
    with working("evaluating"):
        drawn = [_drawable(kind, one, points, name, bands, by) for one, name in zip(trials, names, strict=True)]
        around = [_band(kind, one, bands, by) for one in trials] if bands is not None else []
    style = {key: options[key] for key in ("size", "title", "sigma")} | {"log": options["log"] or None}
    if options["names"]:
        style["labels"] = names
    draw(out, drawn, kind, bands=around if around and around[0] is not None else None, **style)


def _check_kind(kind: str, systems: int, points: int, bands: str | None) -> None:
    """Refuses a figure that this command does not draw, and what does not go with it, before anything is read."""
    from tercet.report.plots import KINDS

    drawn = [name for name, one in KINDS.items() if one.of is Evaluation or name in _OF_OTHER_RESULTS]
    if kind not in drawn:
        hint = did_you_mean(kind, drawn)
        raise click.UsageError(f"--kind must be one of {', '.join(drawn)}, not {shown(kind)}.{hint}")
    if systems > 1 and not KINDS[kind].overlaid:
        several = ", ".join(name for name in drawn if KINDS[name].overlaid)
        raise click.UsageError(f"{kind} shows one system; several can be drawn as {several}.")
    if points and kind in _WITHOUT_POINTS:
        raise click.UsageError(f"--app has no effect with --kind {kind}: leave it out.")
    if points > 1 and kind == "risk-coverage":
        raise click.UsageError("risk-coverage takes one operating point.")
    if bands == "simultaneous" and kind not in _AT_ONCE:
        raise click.UsageError(f"--bands simultaneous is for {', '.join(_AT_ONCE)}, not with {kind}.")


def _drawable(kind: str, trials: Trials, points: Sequence[Value], name: str, bands: str | None, by: Value) -> Value:
    """What the figure draws: an evaluation, unless it is of another result."""
    if kind == "decision-curve":
        from tercet.deployment.decision_curves import decision_curve

        return replace(decision_curve(trials, ci=_LEVEL if bands == "pointwise" else None, by=by), name=name)
    if kind == "risk-coverage":
        from tercet.deployment.abstention import risk_coverage

        return replace(risk_coverage(trials, points[0] if points else None), name=name)
    if kind == "corp":
        from tercet.calibration.assessment import corp_diagram

        return corp_diagram(trials)
    return evaluate(trials, points, name=name)


def _band(kind: str, trials: Trials, how: str, by: Value) -> Value:
    """The band of a system; a decision curve brings pointwise ones itself."""
    from tercet.uncertainty import bands, net_benefit_band, roc_band

    if kind == "decision-curve":
        return None if how == "pointwise" else net_benefit_band(trials, level=_LEVEL)
    if how == "simultaneous":
        return roc_band(trials, simultaneous=True, ci=_LEVEL)
    return bands(trials, ci=_LEVEL, by=by)
