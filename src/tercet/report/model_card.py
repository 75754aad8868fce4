"""A model card in Markdown: the page's answer, tables, limits and evidence as a text for a repository."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from datetime import UTC, datetime

from tercet._numeric.validation import text as checked_text
from tercet.report import evidence, tables, verdict
from tercet.report.language import Words
from tercet.report.markup import Facts
from tercet.report.page import document_of, flat
from tercet.report.text import harmless


def model_card(
    evaluations: object, title: str | None = None, *, comparison: object = None, language: str = "en"
) -> str:
    """A model card: what the systems do, what they cost, how this was determined and where it is uncertain.

    Parameters
    ----------
    evaluations : Evaluation, MulticlassEvaluation, their to_dict(), or an iterable of them
        What the card is about.
    title : str, optional
        Of the card; the systems' name by default.
    comparison : Comparison, optional
        What `tercet.compare` found for the same systems.
    language : {"en", "it"}, default "en"
        Language of the words and numbers outside tables.

    Returns
    -------
    str
        Markdown, ending in a line break.

    Examples
    --------
    >>> import tercet as tc
    >>> trials = tc.Trials.of_llr([2.0, 1.0, -1.0, -2.0], [1, 1, 0, 0], name="A")
    >>> card = tc.model_card(tc.evaluate(trials, [(0.5, 1, 1)]))
    >>> card.splitlines()[0]
    '# Model card: A'
    >>> card[(start := card.index("**A** finds")) : start + 40]    # of 50,000 targets among 100,000 cases
    '**A** finds **50,000** (7,906 to 50,000)'
    """
    if title is not None:
        checked_text(title, "title")
    return card_of(document_of(evaluations, None, comparison), title, Words(language))


def card_of(document: Facts, title: str | None, words: Words) -> str:
    """The card of a result as `tercet evaluate --json` prints it."""
    systems, made = flat(document, words), datetime.now(UTC)
    called = title or document.get("title") or evidence.title(systems, words)
    parts = [
        f"# {_escaped(words('card.title', title=harmless(called, 120)))}",
        _sentences(evidence.what(systems, made, words)),
        f"## {words('answer')}", *_answer(document, systems, words),
        f"## {words('card.results')}", *_tables(document),
        f"## {words('card.limits')}", _bullets(_limits(systems, words) or [words("q.fine")]),
        f"## {words('method_title')}", _bullets(_method(document, systems, words)),
        f"## {words('origin_title')}", _bullets(evidence.origin_lines(document, systems, made, words)),
    ]  # fmt: skip
    return "\n\n".join(part for part in parts if part) + "\n"


def _answer(document: Facts, systems: Sequence[Facts], words: Words) -> list[str]:
    markup = verdict.verdicts(document, systems, words)
    return [_sentences(part) for part in re.findall(r"<p[^>]*>(.*?)</p>", markup, re.S)]


def _tables(document: Facts) -> list[str]:
    systems = document["systems"]
    several = [system for system in systems if tables.is_multiclass([system])]
    two = [system for system in systems if system not in several]
    found = [tables.markdown_table(tables.costs(own)) for own in (two, several) if own]
    found += [_escaped(one) for one in tables.summaries(systems)]
    for entry in document.get("conditions", ()):
        found += [f"### {_escaped(tables.condition_title(entry))}", tables.markdown_table(tables.conditions(entry))]
    return found


def _method(document: Facts, systems: Sequence[Facts], words: Words) -> list[str]:
    """How the numbers were obtained, without what only the interactive page computes."""
    page = {evidence.page_method(system, words) for system in systems if "curve" in system}
    return [line for line in evidence.method_lines(document, systems, words) if line not in page]


def _limits(systems: Sequence[Facts], words: Words) -> list[str]:
    return [f"{words.called(system)}: {warning}" for system in systems for warning in evidence.warnings(system, words)]


def _bullets(lines: Sequence[str]) -> str:
    return "\n".join(f"- {_escaped(harmless(line, 600))}" for line in lines)


def _sentences(markup: str) -> str:
    """Markup of the page, of which only bold words and code are elements, as Markdown."""
    signs = {"<b>": "**", "</b>": "**", "<code>": "`", "</code>": "`"}
    parts = re.split(r"(</?(?:b|code)>)", markup)
    return "".join(signs.get(part) or _escaped(html.unescape(part)) for part in parts).strip()


def _escaped(words: str) -> str:
    """Words with all Markdown and HTML syntax escaped."""
    return re.sub(r"([\\`*_\[\]<>#|])", r"\\\1", words)
