"""Names from strangers are escaped, and cut, wherever they are shown."""

import numpy as np
import pytest

import tercet as tc

from .helpers import ROWS, likelihoods, llr, multiclass, refuses

# Names from strangers, shown


HOSTILE = "\x1b[31m<script>alert(1)</script>\n\u202e\x00!"


def shown_forms():
    two = llr([1.0, 2.0, 0.0], [HOSTILE, "x", "x"], target=HOSTILE, name=HOSTILE)
    names = [HOSTILE, "b", "c"]
    three = likelihoods(ROWS, [HOSTILE, "b", "c", "b"], classes=names, name=HOSTILE)
    app = multiclass([0.2, 0.3, 0.5], classes=names)
    return {
        "trials": two,
        "matrix trials": three,
        "evaluation": tc.evaluate(two, [0.5]),
        "renamed evaluation": tc.evaluate(two, [0.5], name=HOSTILE),
        "multiclass evaluation": tc.evaluate(three, [app]),
        "application": tc.Application(0.5, name=HOSTILE),
        "multiclass application": app,
        "confusion": tc.confusion_of(three, app),
        "curve": tc.Curve.of(tc.Tally.of(two)),
    }


@pytest.mark.parametrize("what", shown_forms())
def test_a_hostile_name_is_escaped_in_a_terminal(what):
    text = repr(shown_forms()[what])
    assert not set(text) & set("\x1b\x00\u202e")
    assert "</script>\n" not in text


@pytest.mark.parametrize("what", shown_forms())
def test_a_hostile_name_is_text_in_a_notebook(what):
    value = shown_forms()[what]
    if not hasattr(value, "_repr_html_"):
        pytest.skip("shown as plain text in a notebook")
    page = value._repr_html_()
    assert "<script" not in page.lower()
    assert not set(page) & set("\x1b\x00\u202e")
    assert "EER" in page or "risk" in page or "evaluation" not in what
    assert "<p" in page


def test_a_long_name_is_cut_where_it_is_shown():
    long = "n" * 100_000
    trials = likelihoods(ROWS, [long, "b", "c", "b"], classes=[long, "b", "c"], name=long)
    app = multiclass([0.2, 0.3, 0.5])
    for text in (repr(trials), repr(tc.evaluate(trials, [app])), repr(tc.confusion_of(trials, app))):
        assert len(text) < 2000
    message = refuses(lambda: tc.decide(trials, multiclass([0.2, 0.3, 0.5], classes=["x", "y", "z"])))
    assert len(message) < 2000


@pytest.mark.parametrize(
    "make",
    [
        lambda: llr([1.0, 2.0], [HOSTILE, "x"]),
        lambda: llr([1.0, 2.0], ["a", "x"], target=HOSTILE),
        lambda: likelihoods(ROWS, ["a", "b", "c", HOSTILE], classes=["a", "b", "c"]),
        lambda: likelihoods(ROWS, classes=[HOSTILE, HOSTILE, "c"]),
        lambda: tc.Application.named(HOSTILE),
        lambda: tc.Confusion([[1, 2], [3, 4]]).average("tpr", HOSTILE),
        lambda: tc.Confusion([[1, 2], [3, 4]]).per_class(HOSTILE),
        lambda: tc.Confusion([[1, 2], [3, 4]], target=HOSTILE),
        lambda: tc.interval(tc.Confusion([[1, 2], [3, 4]]), HOSTILE),
        lambda: llr([1.0, 2.0], [1, 0], groups={HOSTILE: ["a"]}),
        lambda: llr([1.0, 2.0], [1, 0], groups={HOSTILE: ["a", None]}),
        lambda: tc.best_rules({HOSTILE: (2, 2)}),
        lambda: llr(np.array([1.0, HOSTILE], object), [1, 0]),
    ],
)
def test_error_messages_escape_what_they_quote(make):
    message = refuses(make)
    assert not set(message) & set("\x1b\x00\u202e\n")


@pytest.mark.parametrize("name", ["détecté", "欺诈", "мошенник", "απάτη", "أصلي"])
def test_letters_of_any_language_are_readable_in_a_message(name):
    assert f"'{name}'" in refuses(lambda: llr([1.0, 2.0], [name, "7"], target="3"))


@pytest.mark.parametrize("name", ["e\u0301te", "fr\u0430ud", "\u202eabc", "\uff11", "a\u200bb", "x\u2028"])
def test_what_looks_like_other_letters_or_harms_a_terminal_is_escaped(name):
    assert ascii(name) in refuses(lambda: llr([1.0, 2.0], [name, "7"], target="3"))
