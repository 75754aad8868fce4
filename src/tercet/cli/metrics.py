"""`tercet metrics`: the quantities that --metrics and check know."""

from __future__ import annotations

from tercet.cli._command import new_command
from tercet.report.quantities import QUANTITIES
from tercet.report.terminal import print_lines, width


@new_command()
def command() -> int:
    """Lists every quantity with its definition."""
    wide = width()
    for level in ("system", "operating point"):
        print_lines([f"Per {level}:"], wide)
        print_lines([f"  {one.name}: {one.definition}" for one in QUANTITIES.values() if one.level == level], wide)
    return 0
