"""`tercet card`: a model card from a saved result."""

from __future__ import annotations

import click

from tercet.cli import _options as shared
from tercet.cli._command import new_command, option
from tercet.cli._output import out, save, saved_result


@new_command(epilog=None)
@click.argument("result")
@option("-o", "--out", "path", writes=True, metavar="FILE.md", help="Where the card goes. [default: stdout]")
@option("--title", metavar="WORDS", help="Title of the card.")
@shared.language_option("Language of the card.")
def command(result: str, path: str | None, title: str | None, language: str) -> None:
    """A model card in Markdown from a saved result of `tercet evaluate --json`."""
    from tercet.report.language import Words
    from tercet.report.model_card import card_of

    with saved_result(result, "card") as facts:
        card = card_of(facts, title, Words(language))
    if path is None:
        out(card.rstrip("\n"))
    else:
        save(path, card, "the card")
