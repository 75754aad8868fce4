"""`tercet card`: a model card from a saved result."""

from __future__ import annotations

import click

from tercet.cli._command import new_command, option
from tercet.cli._output import out, say
from tercet.errors import InputError
from tercet.report import text
from tercet.report.schema import read_result


@new_command()
@click.argument("result")
@option("-o", "--out", "path", writes=True, metavar="FILE.md", help="Where the card goes. [default: stdout]")
@option("--title", metavar="WORDS", help="Title of the card.")
@option("--language", type=click.Choice(["en", "it"]), default="en", show_default=True, help="Language of the card.")
def command(result: str, path: str | None, title: str | None, language: str) -> int:
    """A model card in Markdown from a saved result of `tercet evaluate --json`."""
    from tercet.io import write_text_atomically
    from tercet.report.language import Words
    from tercet.report.model_card import card_of

    facts = read_result(result)
    if any(system["meaning"] == "decisions" for system in facts["systems"]):
        raise InputError("no card can be made from decided labels: it is about scores and their thresholds.")
    try:
        card = card_of(facts, title, Words(language))
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise InputError(f"{text.harmless(result)} is damaged: no card can be made of it ({error}).") from error
    if path is None:
        out(card.rstrip("\n"))
    else:
        write_text_atomically(path, card)
        say(f"the card is in {text.harmless(path, 400)}.")
    return 0
