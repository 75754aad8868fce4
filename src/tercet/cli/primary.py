"""`tercet primary`: NIST's C_primary, pooled and equalised over partitions."""

from __future__ import annotations

import click

from tercet.cli import _options as shared
from tercet.cli._command import new_command, option
from tercet.cli._hints import read_as_llrs
from tercet.cli._options import TWO_CLASS
from tercet.cli._output import Facts, Row, ends, print_rows, working
from tercet.cli._systems import name_of
from tercet.cli._values import mean_name, one_group, with_columns


@new_command()
@click.argument("scores", nargs=-1, required=True)
@shared.source_options(TWO_CLASS, groups=("ci",), ids=("key",))
@option("--points", required=True, metavar="NAME", parse=mean_name,
        help="sre12, sre16, sre18-cmn2, sre21: see `tercet points`.")  # fmt: skip
@option("--partition", "partitions", multiple=True, metavar="COLUMN", help="A column to equalise over; repeat it.")
@shared.limits_option
@shared.format_options
def command(
    scores: tuple[str, ...], source: Facts, points: str, partitions: tuple[str, ...], ci: float | None, output: str
) -> None:
    """NIST's primary cost: the mean over several operating points, pooled or equalised over partitions."""
    from tercet.nist import c_primary

    limits: Facts = {} if ci is None else {"ci": ci, "by": one_group(source)}
    rows: list[Row] = []
    facts: list[Facts] = []
    for path in scores:
        trials = read_as_llrs(path, with_columns(source, partitions))
        with working(f"evaluating {name_of(path)}"):
            found = c_primary(trials, points, partitions=partitions, **limits)
        row: Row = {"system": name_of(path), "c_primary": found.actual, "min_c_primary": found.minimum}
        row |= ends(found.actual_interval, "c_primary") | ends(found.minimum_interval, "min_c_primary")
        for one in found.points:
            row |= {f"dcf_{one.application.name}": one.actual, f"min_dcf_{one.application.name}": one.minimum}
        rows.append(row)
        facts.append({"name": name_of(path), "c_primary": found.to_dict()})
    print_rows(rows, output, {"systems": facts})
