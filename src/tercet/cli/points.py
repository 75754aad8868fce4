"""`tercet points`: the named operating points."""

from __future__ import annotations

from tercet.cli import _options as shared
from tercet.cli._command import new_command
from tercet.cli._output import Row, print_rows
from tercet.cli._values import application, own_points


@new_command()
@shared.format_options
def command(output: str) -> None:
    """The named operating points, with prior, costs, threshold and source."""
    from tercet.application import Application
    from tercet.spoofing import SpoofingPoint

    rows: list[Row] = []
    for name, source in (dict.fromkeys(own_points(), "tercet.toml") | Application.names()).items():
        app = application(name, "--app")
        rows.append(
            {"name": name, "prior": app.prior, "cost_fn": app.cost_fn, "cost_fp": app.cost_fp,
             "prior_spoof": None, "cost_spoof": None, "threshold": app.threshold, "source": source}
        )  # fmt: skip
    for name, parts in Application.means().items():
        rows.append({"name": name, "source": f"mean of {', '.join(parts)}"})
    for name, source in SpoofingPoint.names().items():
        point = SpoofingPoint.of(name)
        rows.append(
            {"name": name, "prior": point.prior_target, "cost_fn": point.cost_miss, "cost_fp": point.cost_nontarget,
             "prior_spoof": point.prior_spoof, "cost_spoof": point.cost_spoof, "threshold": point.threshold,
             "source": source}
        )  # fmt: skip
    print_rows(rows, output)
