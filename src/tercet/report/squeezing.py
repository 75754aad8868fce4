"""The page's scripts in fewer bytes: without the spaces that no parser needs."""

from __future__ import annotations

import re

_LITERAL = re.compile(  # a string, or a regular expression where no division is possible
    r'"(?:\\.|[^"\\\n])*"|(?:(?<![\w)\] ])|(?<=[=&|?:] ))/(?! )(?:\\.|\[(?:\\.|[^\]\n])*\]|[^/\\\n])+/'
)
_SPACED = re.compile(
    r" ?(?:=>|[=!]==|[<>]=|&&|\|\||\?\?|[=?:,;<>*({]) ?| ?[)}]"
)  # what follows } may be text of a template
_WORDS = re.compile(r"(?:\\.|\$(?!\{)|[^`$\\])+|\$\{", re.DOTALL)


def squeezed(script: str) -> str:
    """JavaScript without the spaces around signs; strings, regular expressions and text of templates are kept.

    >>> squeezed('f(a, b) || `${a ? ` (${b})` : ""} , c`;')
    'f(a,b)||`${a?` (${b})`:""} , c`;'
    """
    parts: list[str] = []
    inside, at, in_words = list[int](), 0, False  # inside: the braces open in each ${ of a template
    while at < len(script):
        found = _WORDS.match(script, at) if in_words else _LITERAL.match(script, at) or _SPACED.match(script, at)
        piece = found[0] if found else script[at]
        sign = piece.strip(" ") if found and found.re is _SPACED else piece
        if sign == "`":
            in_words = not in_words
        elif in_words and sign == "${":
            in_words = False
            inside.append(0)
        elif inside and sign == "}" and inside[-1] == 0:
            in_words = True
            inside.pop()
        elif inside and sign in "{}":
            inside[-1] += 1 if sign == "{" else -1
        parts.append(sign)
        at += len(piece)
    return "".join(parts)
