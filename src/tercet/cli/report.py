"""`tercet report`: the page from a saved result."""

from __future__ import annotations

import click

from tercet.cli._command import new_command, option
from tercet.cli._output import saved_document, write_page


@new_command()
@click.argument("result")
@option("-o", "--out", required=True, metavar="FILE.html")
@option("--title", metavar="WORDS")
@option("--open", "open_page", is_flag=True, help="Open the page in a browser.")
def command(result: str, out: str, title: str | None, open_page: bool) -> int:
    """The page from a saved result of `tercet evaluate --json`."""
    write_page(saved_document(result), out, title, open_page)
    return 0
