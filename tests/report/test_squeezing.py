"""Spaces that no parser needs are left out of the page's scripts, and nothing else is."""

import re

import pytest

from tercet.report.page import _SCRIPTS, _part, _script, squeezed


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        ('const a = "b = c", d = e ? "{ , }" : 1', 'const a="b = c",d=e?"{ , }":1'),
        ('k => `f ${g ? ` (${h}) ` : ""} i, j`;', 'k=>`f ${g?` (${h}) `:""} i, j`;'),
        ("x.replace(/^[ ,;] = $/g, y) && /a , b/.test(z)", "x.replace(/^[ ,;] = $/g,y)&&/a , b/.test(z)"),
        ("a + +b - -c / d / e", "a + +b - -c / d / e"),
        ("`${ {k: [1, 2]}.k } %`", "`${{k:[1,2]}.k} %`"),
        ("if (m) return n;\nelse return void 0;", "if(m) return n;\nelse return void 0;"),
        ('"\\" , " , `\\` , ${o, p}`', '"\\" , ",`\\` , ${o,p}`'),
    ],
)  # fmt: skip
def test_texts_patterns_and_words_of_templates_stay(given, wanted):
    assert squeezed(given) == wanted


def test_the_page_script_differs_in_spaces_only():
    parts = "\n".join(_part(f"{name}.js") for name in _SCRIPTS)
    assert re.sub(" ", "", parts) in re.sub(" ", "", _script(True))
    assert len(_script(True)) < 0.93 * len(parts)
