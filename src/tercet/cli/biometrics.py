"""`tercet biometrics`: error rates in the words of ISO/IEC 19795-1 and ISO/IEC 30107-3."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from tercet._typing import Value
from tercet.cli._command import new_command, option
from tercet.cli._options import TWO_CLASS, WORDS, figure_option, source_options
from tercet.cli._output import Facts, chosen_format, say, working
from tercet.cli._rows import Row, print_rows, rows_options
from tercet.cli._systems import name_of, read_trials
from tercet.cli._values import grouping, level, numbers, reading, with_group
from tercet.evaluation import evaluate

if TYPE_CHECKING:
    from tercet.biometrics import Rate

_LEVEL = option("--ci", type=float, default=95.0, show_default=True, metavar="LEVEL", help="Level in per cent.")


@click.group()
def command() -> None:
    """Biometric error rates: FNMR at given FMRs, presentation attacks, comparisons that a claim needs."""


@new_command("fnmr", epilog=WORDS)
@click.argument("scores", nargs=-1, required=True)
@source_options(TWO_CLASS, ids=("key",))
@option("--fmr", default="1e-2,1e-3,1e-4,1e-5,1e-6", show_default=True, metavar="RATE,...", help="The FMRs to report.")
@option("--development", metavar="FILE", help="Scores that choose the thresholds, read like SCORES.")
@_LEVEL
@rows_options
def fnmr(scores: tuple[str, ...], fmr: str, development: str | None, ci: float, **options: Value) -> int:
    """FNMR at requested FMRs, with intervals; --group-column resamples whole persons."""
    from tercet.biometrics import fnmr_at_fmr

    output, source = chosen_format(options.pop("as_json"), options.pop("output")), reading(options)
    by, rates = grouping(source), numbers(fmr, "--fmr")
    chosen = None if development is None else read_trials(development, source)
    rows: list[Row] = []
    facts: list[Facts] = []
    for path in scores:
        trials = read_trials(path, source)
        with working(f"evaluating {name_of(path)}"):
            found = fnmr_at_fmr(trials, rates, development=chosen, ci=level(ci), by=by)
        for one in found:
            row = {"system": name_of(path), "requested_fmr": one.requested_fmr, "threshold": one.threshold}
            rows.append(row | _rate("fmr", one.fmr) | _rate("fnmr", one.fnmr) | {"note": one.reason})
            for words in one.warnings:
                say(f"{name_of(path)} at FMR {one.requested_fmr:g}: {words}.")
        facts.append({"name": name_of(path), "fnmr_at_fmr": [one.to_dict() for one in found]})
    print_rows(rows, output, {"systems": facts})
    return 0


@new_command("rates", epilog=WORDS)
@click.argument("scores")
@source_options(TWO_CLASS, ids=("key",))
@option("--threshold", type=float, required=True, metavar="T", help="Scores above this are accepted.")
@option("--failure-to-acquire", type=float, default=0.0, show_default=True, metavar="RATE", help="FTA rate.")
@option("--by", metavar="COLUMN", excludes=("failure_to_acquire",),
        help="One row for each value of a group column; one class may be missing.")  # fmt: skip
@_LEVEL
@rows_options
def rates(scores: str, threshold: float, failure_to_acquire: float, by: str | None, ci: float, **options: Value) -> int:
    """FMR, FNMR, FAR, FRR, GAR and HTER of one threshold; --group-column takes whole persons as the unit."""
    from tercet.biometrics import rates_by, verification_rates

    output, source = chosen_format(options.pop("as_json"), options.pop("output")), reading(options)
    settings: Facts = {"ci": level(ci), "by": grouping(source)}
    trials = read_trials(scores, source if by is None else with_group(source, by, "--by"))
    whole = verification_rates(trials, threshold, failure_to_acquire=failure_to_acquire, **settings)
    found = {name_of(scores): whole} if by is None else dict(rates_by(trials, by, threshold, **settings))
    rows: list[Row] = []
    for name, one in found.items():
        row: Row = {"of": name} | _rate("fmr", one.fmr) | _rate("fnmr", one.fnmr)
        for key in ("far", "frr", "gar", "hter"):
            row[key] = getattr(one, key)
            if key in one.intervals:
                row |= {f"{key}_low": one.intervals[key].low, f"{key}_high": one.intervals[key].high}
        rows.append(row | {"note": "; ".join(one.reasons.values())})
    print_rows(rows, output, {"rates": {name: one.to_dict() for name, one in found.items()}})
    return 0


@new_command("attacks", epilog=WORDS)
@click.argument("scores")
@source_options(TWO_CLASS, ids=("key",))
@option("--species", default="pai", show_default=True, metavar="COLUMN", help="The species of each attack.")
@option("--threshold", type=float, metavar="T", help="Scores above this are taken for bona fide.")
@_LEVEL
@figure_option
@rows_options
def attacks(scores: str, species: str, threshold: float | None, ci: float, figure: str | None, **options: Value) -> int:
    """APCER by species, BPCER, ACER, and BPCER10, BPCER20 and BPCER100; the target is bona fide."""
    from tercet.biometrics import presentation_attacks, species_rows

    output, source = chosen_format(options.pop("as_json"), options.pop("output")), reading(options)
    trials = read_trials(scores, with_group(source, species, "--species"))
    found = presentation_attacks(trials, species, threshold=threshold, ci=level(ci), by=grouping(source))
    if figure is not None:
        from tercet.report.plots import plot

        labels = trials.known_labels().astype(bool)
        own = {name: trials.select(labels | rows) for name, rows in species_rows(trials, labels, species).items()}
        plot({name: evaluate(part, []) for name, part in own.items()}, "det", path=figure)
    rows: list[Row] = []
    for one in found.species:
        rows.append({"quantity": "APCER", "of": one.species, "threshold": threshold} | _rate("rate", one.apcer))
    if found.worst is not None and found.bpcer is not None:
        ends = found.worst.limits
        limits = {} if ends is None else {"rate_low": ends.low, "rate_high": ends.high}
        worst = {"quantity": "APCER", "of": f"worst: {found.worst.species}", "threshold": threshold}
        rows.append(worst | _rate("rate", found.worst.apcer) | limits)
        rows.append({"quantity": "BPCER", "of": "bona fide", "threshold": threshold} | _rate("rate", found.bpcer))
        ends = found.acer_limits
        limits = {} if ends is None else {"rate_low": ends.low, "rate_high": ends.high}
        rows.append({"quantity": "ACER", "of": "", "threshold": threshold, "rate": found.acer} | limits)
    for name, least in (("BPCER10", found.bpcer10), ("BPCER20", found.bpcer20), ("BPCER100", found.bpcer100)):
        rows.append({"quantity": name, "of": "bona fide", "threshold": least.threshold} | _rate("rate", least.bpcer))
        for words in least.warnings:
            say(f"{name}: {words}.")
    print_rows(rows, output, {"presentation_attacks": found.to_dict()})
    return 0


@new_command("plan", epilog=WORDS)
@option("--rate", type=float, required=True, metavar="RATE", help="The error rate that is claimed, such as an FMR.")
@_LEVEL
@rows_options
def plan(rate: float, ci: float, **options: Value) -> int:
    """How many independent comparisons a claimed error rate needs: without errors, rule of 3, rule of 30."""
    from tercet.biometrics import comparisons_needed

    found = comparisons_needed(rate, ci=level(ci))
    print_rows([{"rate": rate} | found._asdict()], chosen_format(options["as_json"], options["output"]))
    return 0


def _rate(name: str, rate: Rate | None) -> Row:
    """A rate as columns: value, ends, errors and trials."""
    if rate is None:
        return {}
    ends = {} if rate.interval is None else {f"{name}_low": rate.interval.low, f"{name}_high": rate.interval.high}
    return {name: rate.value} | ends | {f"{name}_errors": rate.errors, f"{name}_trials": rate.trials}


for _one in (fnmr, rates, attacks, plan):
    command.add_command(_one)
