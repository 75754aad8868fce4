"""`tercet metrics`: the quantities that --metrics and check accept."""

from __future__ import annotations

from tercet.cli._command import new_command
from tercet.report.quantities import Level, definitions
from tercet.report.terminal import print_lines, width


@new_command(epilog=None)
def command() -> None:
    """Lists every quantity with its definition."""
    wide = width()
    levels: tuple[Level, ...] = ("system", "operating point")
    for level in levels:
        print_lines([f"Per {level}:"], wide)
        print_lines([f"  {name}: {definition}" for name, definition in definitions(level)], wide)
