"""`tercet biometrics`: error rates in the words of ISO/IEC 19795-1 and ISO/IEC 30107-3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tercet._numeric.validation import number, probability
from tercet.cli import _options as shared
from tercet.cli._command import new_command, option
from tercet.cli._options import TWO_CLASS
from tercet.cli._output import Facts, Row, both_ends, draw, print_rows, say, working
from tercet.cli._systems import name_of, read_trials
from tercet.cli._values import each, grouping, ranged, with_columns
from tercet.evaluation import evaluate

if TYPE_CHECKING:
    from tercet.biometrics import Rate


@click.group()
def command() -> None:
    """Biometric error rates: FNMR at given FMRs, presentation attacks, and trials that a claim needs."""


@new_command("fnmr", group=command)
@click.argument("scores", nargs=-1, required=True)
@shared.source_options(TWO_CLASS, ids=("key",))
@option("--fmr", default="1e-2,1e-3,1e-4,1e-5,1e-6", show_default=True, metavar="RATE,...", parse=each(probability),
        help="The FMRs to report.")  # fmt: skip
@option("--development", reads=True, metavar="FILE", help="Scores that choose the thresholds, read like SCORES.")
@shared.ci_option
@shared.format_options
def fnmr(
    scores: tuple[str, ...], source: Facts, fmr: list[float], development: str | None, ci: float, output: str
) -> None:
    """FNMR at requested FMRs, with intervals; --group-column resamples whole persons."""
    from tercet.biometrics import fnmr_at_fmr

    by = grouping(source)
    chosen = None if development is None else read_trials(development, source)
    rows: list[Row] = []
    facts: list[Facts] = []
    for path in scores:
        trials = read_trials(path, source)
        with working(f"evaluating {name_of(path)}"):
            found = fnmr_at_fmr(trials, fmr, development=chosen, ci=ci, by=by)
        for one in found:
            row = {"system": name_of(path), "requested_fmr": one.requested_fmr, "threshold": one.threshold}
            rows.append(row | _rate("fmr", one.fmr) | _rate("fnmr", one.fnmr) | {"note": one.reason})
            for words in one.warnings:
                say(f"{name_of(path)} at FMR {one.requested_fmr:g}: {words}.")
        facts.append({"name": name_of(path), "fnmr_at_fmr": [one.to_dict() for one in found]})
    print_rows(rows, output, {"systems": facts})


@new_command("rates", group=command)
@click.argument("scores")
@shared.source_options(TWO_CLASS, ids=("key",))
@option("--threshold", type=float, parse=number, required=True, metavar="T", help="Scores above this are accepted.")
@option("--failure-to-acquire", type=float, default=0.0, show_default=True, metavar="RATE", help="FTA rate.",
        parse=ranged("a rate, at least 0 and below 1", lambda rate: 0.0 <= rate < 1.0))  # fmt: skip
@option("--by", metavar="COLUMN", excludes=("failure_to_acquire",),
        help="One row for each value of a group column; one class may be missing.")  # fmt: skip
@shared.ci_option
@shared.format_options
def rates(
    scores: str, source: Facts, threshold: float, failure_to_acquire: float, by: str | None, ci: float, output: str
) -> None:
    """FMR, FNMR, FAR, FRR, GAR and HTER of one threshold; --group-column takes whole persons as the unit."""
    from tercet.biometrics import rates_by, verification_rates

    settings: Facts = {"ci": ci, "by": grouping(source)}
    trials = read_trials(scores, source if by is None else with_columns(source, [by]))
    whole = verification_rates(trials, threshold, failure_to_acquire=failure_to_acquire, **settings)
    found = {name_of(scores): whole} if by is None else dict(rates_by(trials, by, threshold, **settings))
    rows: list[Row] = []
    for name, one in found.items():
        row: Row = {"of": name} | _rate("fmr", one.fmr) | _rate("fnmr", one.fnmr)
        for key in ("far", "frr", "gar", "hter"):
            row |= {key: getattr(one, key)} | both_ends(one.intervals.get(key), key)
        rows.append(row | {"note": "; ".join(one.reasons.values())})
    print_rows(rows, output, {"rates": {name: one.to_dict() for name, one in found.items()}})


@new_command("attacks", group=command)
@click.argument("scores")
@shared.source_options(TWO_CLASS, ids=("key",))
@option("--species", default="pai", show_default=True, metavar="COLUMN", help="The species of each attack.")
@option("--threshold", type=float, parse=number, metavar="T", help="Scores above this are classified as bona fide.")
@shared.ci_option
@shared.figure_option
@shared.format_options
def attacks(
    scores: str, source: Facts, species: str, threshold: float | None, ci: float, figure: str | None, output: str
) -> None:
    """APCER by species, BPCER, ACER, BPCER10, 20 and 100; --group-column takes whole persons as the unit."""
    from tercet.biometrics import presentation_attacks, species_rows

    trials = read_trials(scores, with_columns(source, [species]))
    found = presentation_attacks(trials, species, threshold=threshold, ci=ci, by=grouping(source))
    if figure is not None:
        labels = trials.known_labels().astype(bool)
        own = {name: trials.select(labels | rows) for name, rows in species_rows(trials, labels, species).items()}
        evaluated = {name: evaluate(part, []) for name, part in own.items()}
        draw(figure, evaluated, "det", rates=("APCER", "BPCER"))
    rows = [_quantity("APCER", one.species, threshold) | _rate("rate", one.apcer) for one in found.species]
    if found.worst is not None and found.bpcer is not None:
        worst = _quantity("APCER", f"worst: {found.worst.species}", threshold)
        rows += [
            worst | _rate("rate", found.worst.apcer) | both_ends(found.worst.limits, "rate"),
            _quantity("BPCER", "bona fide", threshold) | _rate("rate", found.bpcer),
            _quantity("ACER", "", threshold) | {"rate": found.acer} | both_ends(found.acer_limits, "rate"),
        ]
    for name, least in (("BPCER10", found.bpcer10), ("BPCER20", found.bpcer20), ("BPCER100", found.bpcer100)):
        rows.append(_quantity(name, "bona fide", least.threshold) | _rate("rate", least.bpcer))
        for words in least.warnings:
            say(f"{name}: {words}.")
    print_rows(rows, output, {"presentation_attacks": found.to_dict()})


def _quantity(name: str, of: str, threshold: float | None) -> Row:
    return {"quantity": name, "of": of, "threshold": threshold}


@new_command("plan", group=command)
@option("--rate", type=float, parse=probability, required=True, metavar="RATE",
        help="The error rate that is claimed, such as an FMR.")  # fmt: skip
@shared.ci_option
@shared.format_options
def plan(rate: float, ci: float, output: str) -> None:
    """How many independent comparisons a claimed error rate needs: without errors, rule of 3, rule of 30."""
    from tercet.biometrics import comparisons_needed

    print_rows([{"rate": rate} | comparisons_needed(rate, ci=ci)._asdict()], output)


def _rate(name: str, rate: Rate | None) -> Row:
    """A rate as columns: value, ends, errors and trials; empty ones keep the columns in order where there is none."""
    row: Row = {name: None if rate is None else rate.value} | both_ends(None if rate is None else rate.interval, name)
    return row | {f"{name}_{key}": None if rate is None else getattr(rate, key) for key in ("errors", "trials")}
