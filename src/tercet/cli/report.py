"""`tercet report`: the page from a saved result."""

from __future__ import annotations

import click

from tercet._numeric.validation import shown, shown_path
from tercet.cli._command import new_command, option
from tercet.cli._output import write_page
from tercet.errors import InputError, TercetError
from tercet.report.schema import read_comparison, read_result

_DAMAGE = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)  # numbers that contradict each other


@new_command()
@click.argument("result")
@option("-o", "--out", required=True, writes=True, metavar="FILE.html", help="Where the page goes.")
@option("--title", metavar="WORDS", help="Title of the page.")
@option("--private", is_flag=True, help="A coarser curve, from which no score can be read back; its error is stated.")
@option("--open", "open_page", is_flag=True, help="Open the page in a browser.")
@option("--comparison", metavar="FILE", reads=True, help="Paired differences: a result of `tercet compare --json`.")
@option("--language", type=click.Choice(["en", "it"]), default="en", show_default=True, help="Language of the page.")
def command(
    result: str,
    out: str,
    title: str | None,
    private: bool,
    open_page: bool,
    comparison: str | None,
    language: str,
) -> int:
    """The page from a saved result of `tercet evaluate --json`."""
    facts = read_result(result)
    if comparison is not None:
        facts["comparison"] = read_comparison(comparison)
    if any(system["meaning"] == "decisions" for system in facts["systems"]):
        raise InputError("no page can be made from decided labels: it is about scores and their thresholds.")
    try:
        if private:
            from tercet.report.privacy import private as coarser

            facts = coarser(facts)
        write_page(facts, out, title, open_page, language)
    except (TercetError, OSError):
        raise
    except _DAMAGE as error:
        raise InputError(
            f"{shown_path(result)[1:-1]} is damaged: no page can be made of it ({shown(str(error))})."
        ) from error
    return 0
