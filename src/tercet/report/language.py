"""The page's words: one table of strings for every language (page/strings.json), and numbers in the form of each."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Sequence
from functools import cache
from importlib.resources import files
from typing import Literal, TypeVar, get_args

from tercet._numeric.validation import chosen
from tercet.report import numbers
from tercet.report.markup import Facts, tag, text
from tercet.report.text import harmless

Language = Literal["en", "it"]
LANGUAGES: tuple[str, ...] = get_args(Language)
_SLOT = re.compile(r"\{(\*?)(\w+)\}")
_ARTICLE = re.compile(r"\b(il|al|del) (?=(?:<b>)?(?:8|11(?![\d.])))")
_ELIDED = {"il": "l'", "al": "all'", "del": "dell'"}
_FAMILIES = ("share.", "cases.", "how.", "ends.", "line.", "axis.", "count_of_", "weight_of_", "n_")  # put together


@cache
def _table() -> dict[str, list[str]]:
    found: dict[str, list[str]] = json.loads(
        (files("tercet.report") / "page" / "strings.json").read_text(encoding="utf-8")
    )
    return found


End = TypeVar("End")


@cache
def _patterns() -> tuple[tuple[str, re.Pattern[str]], ...]:
    """The sentences that results hold, each as what it looks like with its slots filled."""
    found = []
    for key, (english, *_) in _table().items():
        if key.startswith("core.") and key not in ("core.english", "core.targets", "core.nontargets"):
            parts = _SLOT.split(english)  # text, star, slot, text, star, slot, ..., text
            slots = [*(f"(?P<{slot}>.+?)" for slot in parts[2::3]), ""]
            pairs = zip(parts[::3], slots, strict=True)
            found.append((key, re.compile("".join(re.escape(text) + slot for text, slot in pairs), re.DOTALL)))
    return tuple(found)


def _code(words: str) -> str:
    """Own words as markup, those in backticks as code."""
    return re.sub("`(.+?)`", r"<code>\1</code>", text(words, 2000))


class Words:
    """Sentences and numbers in one language.

    >>> Words("it").number(1234.5), Words("en")("share.one", n=100)
    ('1.234', '1 in 100')
    """

    def __init__(self, language: str = "en") -> None:
        self.language: str = chosen(language, "language", LANGUAGES)
        place = LANGUAGES.index(self.language)
        self.strings = {key: both[place] for key, both in _table().items()}

    def __call__(self, key: str, **slots: object) -> str:
        """The sentence of a key with its slots filled."""
        return self._elided(_SLOT.sub(lambda slot: str(slots.get(slot[2], "")), self.strings[key]))

    def _elided(self, words: str) -> str:
        """Italian articles before 8 and 11 without their vowel: l'8 %, all'11 %."""
        return _ARTICLE.sub(lambda found: _ELIDED[found[1]], words) if self.language == "it" else words

    def called(self, system: Facts) -> str:
        """A system's name as it may be shown, or a substitute."""
        return self.named(system.get("name"))

    def named(self, name: object) -> str:
        """The same of a name."""
        return harmless(name, 64) if name else self("this_system")

    def rich(self, key: str, **slots: object) -> str:
        """The same as markup, slots escaped and those with a star in bold; what stands in backticks is code."""
        parts, last = [], 0
        sentence = self.strings[key]
        for slot in _SLOT.finditer(sentence):
            words = text(slots.get(slot[2], ""), 400)
            parts += [_code(sentence[last : slot.start()]), tag("b", words) if slot[1] and words else words]
            last = slot.end()
        return self._elided("".join([*parts, _code(sentence[last:])]))

    def method(self, name: str) -> str:
        """How an interval was found, as results name it in English, in this language: phrase by phrase.

        >>> Words("it").method("MOVER (Wilson, Clopper-Pearson below 13 errors)")
        'MOVER (Wilson, Clopper-Pearson sotto 13 errori)'
        """
        for key, (english, *_) in _table().items():
            if key.startswith("by."):
                name = name.replace(english, self.strings[key])
        return name

    def core(self, sentence: str) -> str:
        """A sentence of a result, which is English, in this language; one that the table lacks is marked as English.

        >>> Words("it").core("there are no targets among the trials")
        'fra le prove non ci sono target'
        """
        if self.language == LANGUAGES[0]:
            return sentence
        for key, pattern in _patterns():
            found = pattern.fullmatch(sentence)
            if found:
                return self(key, **{name: self._side(words) for name, words in found.groupdict().items()})
        return self("core.english", sentence=sentence)

    def _side(self, words: str) -> str:
        """What fills a slot: numbers and the names of the two classes in this language, anything else as it is."""
        if words in ("targets", "non-targets"):
            return self(f"core.{words.replace('-', '')}")
        return numbers.localised(words, self.language) if re.fullmatch(r"[\d.,e+-]+", words) else words

    def number(self, value: object) -> str:
        """Three significant digits."""
        return numbers.short(value, self.language)

    def percent(self, value: object) -> str:
        """A rate in per cent."""
        return numbers.percent(value, self.language)

    def whole(self, count: int) -> str:
        """A whole number with separators."""
        return numbers.localised(f"{count:,}", self.language)

    def to(self, ends: Sequence[End], said: Callable[[End], str]) -> str:
        """Both ends of an interval: "2.1 to 3.4 %"."""
        low, high = (said(end) for end in ends)
        return low if low == high else self("to", low=low.removesuffix(" %") if high.endswith(" %") else low, high=high)

    def brackets(self, ends: Sequence[End] | None, said: Callable[[End], str]) -> str:
        """The same in brackets, or nothing."""
        return "" if ends is None else f" ({self.to(ends, said)})"

    def share(self, p: float, kind: str = "share") -> str:
        """A prior in everyday words: "1 in 100", or with kind "cases" "1 case in 100 is a target"."""
        most = p > 0.99
        rest = 1.0 - p if most else p
        among = 1.0 / rest if rest > 0.0 else math.inf
        near = among == math.inf or abs(among - round(among)) < 1e-6 * among
        if not most and (p > 0.5 or (among < 9.5 and not near)):
            return self(f"{kind}.of", n=self.number(100 * p))
        size = self.whole(round(among)) if among < 1e7 else self.number(among)
        return self(f"{kind}.{'but' if most else 'one'}{'' if near else '_about'}", n=size)

    def costs(self, miss: float, alarm: float) -> str:
        """What one error costs against the other."""
        if miss == alarm:
            return self("cost.same")
        if not alarm or not miss:
            return self("cost.miss_free" if not miss else "cost.alarm_free")
        return self("cost.miss", n=self.number(miss / alarm)) if miss > alarm else self(
            "cost.alarm", n=self.number(alarm / miss)
        )  # fmt: skip

    def for_scripts(self, script: str) -> dict[str, str]:
        """The strings that a script names, or may put together."""
        named = set(re.findall(r"[\"'`]([\w.\-]+)[\"'`]", script))
        return {key: words for key, words in self.strings.items() if key in named or key.startswith(_FAMILIES)}
