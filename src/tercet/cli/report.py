"""`tercet report`: the page from a saved result."""

from __future__ import annotations

import click

from tercet._typing import Value
from tercet.cli import _options as shared
from tercet.cli._command import new_command, option
from tercet.cli._output import saved_result, write_page
from tercet.report.schema import read_comparison


@new_command(epilog=None)
@click.argument("result")
@option("-o", "--out", required=True, writes=True, metavar="FILE.html", help="Where the page goes.")
@option("--title", metavar="WORDS", help="Title of the page.")
@option("--private", is_flag=True, help="A coarser curve, from which no score can be read back; its error is stated.")
@option("--open", "open_page", is_flag=True, help="Open the page in a browser.")
@option("--comparison", metavar="FILE", reads=True, help="Paired differences: a result of `tercet compare --json`.")
@shared.language_option("Language of the page.")
def command(result: str, out: str, comparison: str | None, private: bool, **options: Value) -> None:
    """The page from a saved result of `tercet evaluate --json`."""
    with saved_result(result, "page") as facts:
        if comparison is not None:
            facts["comparison"] = read_comparison(comparison)
        if private:
            from tercet.report.privacy import private as coarser

            facts = coarser(facts)
        write_page(facts, out, **options)
