"""`tercet forensics`: validation of likelihood ratios."""

from __future__ import annotations

from typing import Any

import click

from tercet._typing import Value
from tercet.cli._command import new_command, option
from tercet.cli._options import WORDS, source_options
from tercet.cli._output import chosen_format, say, working
from tercet.cli._rows import Row, print_rows, rows_options
from tercet.cli._systems import name_of, read_trials
from tercet.cli._values import level, one_group, reading

_MEANINGS = ("llr", "lr", "log10-llr", "log-odds", "posterior")


@click.group()
def command() -> None:
    """Validation of forensic likelihood ratios: a sheet of measures and figures, supported LRs."""


@new_command("report", epilog=WORDS)
@click.argument("scores")
@source_options(_MEANINGS, ids=("key",))
@option("-o", "--out", writes=True, metavar="FILE.html", help="Where the sheet with its figures goes.")
@option("--title", metavar="WORDS", needs=("out",), help="Title of the sheet.")
@option("--ci", type=float, default=95.0, show_default=True, metavar="LEVEL", help="Level in per cent.")
@option("--bootstrap", "resamples", type=int, default=500, show_default=True, help="Number of resamples.")
@option("--seed", type=int, default=0, show_default=True, help="Seed of the random draws.")
@rows_options
def report(scores: str, out: str | None, title: str | None, ci: float, **options: Value) -> int:
    """The validation sheet: Cllr, devPAV, misleading evidence, bounds; --group-column resamples whole sources."""
    from tercet.forensics import validation
    from tercet.io import write_text_atomically

    output, source = chosen_format(options.pop("as_json"), options.pop("output")), reading(options)
    by = one_group(source)
    trials, draws = read_trials(scores, source), {"resamples": options["resamples"], "seed": options["seed"]}
    with working(f"validating {name_of(scores)}"):
        found = validation(trials, name=name_of(scores), ci=level(ci), by=by, **draws)
    if out is not None:
        write_text_atomically(out, found.to_html(title))
        say(f"the sheet is in {out}.")
    rows: list[Row] = [
        {"measure": one.name, "value": one.value} | _ends(one.interval) | {"note": one.note} for one in found.measures
    ]
    for row in found.misleading.rows:
        for name, rate in (("same source, LR below 1/", row.targets), ("different source, LR above ", row.nontargets)):
            rows.append({"measure": f"{name}{row.strength:g}", "value": rate.value} | _ends(rate.interval))
    for bounds in found.bounds:
        for name, side in (("lowest", "lower"), ("highest", "upper")):
            ends = found.bound_intervals.get(f"{bounds.method} {side}")
            words = f"{name} supported LR ({bounds.method})"
            rows.append({"measure": words, "value": getattr(bounds, side)} | _ends(ends))
    print_rows(rows, output, {"validation": found.to_dict()})
    return 0


@new_command("bounds", epilog=WORDS)
@click.argument("scores")
@source_options(_MEANINGS, groups=None, ids=("key",))
@rows_options
def bounds(scores: str, **options: Value) -> int:
    """The lowest and highest LR that the data support, by ELUB and by invariance verification."""
    from tercet.forensics import elub, iv_bounds

    output, source = chosen_format(options.pop("as_json"), options.pop("output")), reading(options)
    trials = read_trials(scores, source)
    with working(f"validating {name_of(scores)}"):
        rows = [one._asdict() for one in (elub(trials), iv_bounds(trials))]
    print_rows(rows, output)
    return 0


def _ends(interval: Any) -> Row:
    return {} if interval is None else {"low": interval.low, "high": interval.high, "method": interval.method}


for _one in (report, bounds):
    command.add_command(_one)
