"""Numbers are written by one rule, in Python and on the page, and tables per N add up."""

import json
import math
import random
from importlib.resources import files

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tercet.report.language import LANGUAGES
from tercet.report.numbers import apportioned, percent, short


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (None, "undefined"), (math.nan, "undefined"), (math.inf, "∞"), (-math.inf, "−∞"), (0.0, "0"), (10.0, "10"),
        (0.5, "0.5"), (123.4, "123"), (999.4, "999"), (999.5, "1,000"), (39303.48, "39,303"), (12345678.0, "1.23e+07"),
        (0.00009999, "1.00e-04"), (0.1825, "0.182"), (0.99999, "0.99999"), (1.0000001, "> 1"), (-0.25, "−0.25"),
        (2.5, "2.5"), (1000.5, "1,000"), (1001.5, "1,002"),
    ],
)  # fmt: skip
def test_three_digits_are_shown_and_halves_go_to_the_even_one(value, words):
    assert short(value) == words


def test_a_rate_is_rounded_once_from_its_own_decimals():
    assert percent(73 / 400) == "18.2 %"  # 18.25 exactly: to the even digit
    assert percent(1.0) == "100 %"
    assert percent(0.99999) == "99.999 %"
    assert percent(0.0) == "0 %"
    assert percent(None) == "undefined"


@given(st.integers(0, 10**9), st.lists(st.integers(0, 10**6), min_size=1, max_size=6).filter(sum))
def test_cells_add_up_to_their_margin_and_are_next_to_their_share(total, parts):
    cells = apportioned(total, [float(part) for part in parts])
    assert sum(cells) == total
    assert all(abs(cell - total * part / sum(parts)) < 1.001 for cell, part in zip(cells, parts, strict=True))


def numbers():
    rng = random.Random(0)
    for _ in range(10_000):
        kind = rng.randrange(5)
        if kind == 0:
            yield rng.randrange(2000) / rng.randrange(1, 2000)
        elif kind == 1:
            yield math.exp(rng.uniform(-20, 25))
        elif kind == 2:
            yield rng.randrange(10**6) / 10 ** rng.randrange(9)
        elif kind == 3:
            yield 1 + rng.choice([-1, 1]) * math.exp(rng.uniform(-30, -1))
        else:
            yield -math.exp(rng.uniform(-5, 5))


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_page_writes_ten_thousand_numbers_as_python_does(browser, language):
    script = (files("tercet.report") / "page" / "numbers.js").read_text(encoding="utf-8")
    values = list(numbers())
    assert len(values) >= 10_000
    browser.get("about:blank")
    found = browser.execute_script(
        f"const LANG = '{language}';{script}\nreturn JSON.parse(arguments[0]).map(x => [short(x), percent(x)]);",
        json.dumps(values),
    )
    expected = [[short(value, language), percent(value, language)] for value in values]
    assert found == expected


def test_the_page_shares_out_cells_as_python_does(browser):
    script = (files("tercet.report") / "page" / "numbers.js").read_text(encoding="utf-8")
    rng = random.Random(1)
    cases = [(10 ** rng.randrange(2, 9), [rng.randrange(1000) for _ in range(2)]) for _ in range(500)]
    cases = [(total, parts) for total, parts in cases if sum(parts)]
    browser.get("about:blank")
    found = browser.execute_script(f"{script}\nreturn arguments[0].map(([n, parts]) => apportioned(n, parts));", cases)
    assert found == [apportioned(total, [float(part) for part in parts]) for total, parts in cases]


@pytest.mark.parametrize(
    ("typed", "share"),
    [("0,5", 0.005), ("0.5 %", 0.005), ("0,5 %", 0.005), ("1/100", 0.01), ("1 in 100", 0.01), ("25", 0.25)],
)
def test_a_share_is_read_as_people_type_it(browser, typed, share):
    script = (files("tercet.report") / "page" / "words.js").read_text(encoding="utf-8")
    start = script.index("function readShare")
    only = script[start : script.index("\n}\n", start) + 2]
    browser.get("about:blank")
    assert browser.execute_script(f"{only}\nreturn readShare(arguments[0]);", typed) == share
    for wrong in ("", "abc", "1//2", "1,000,5", "in 100", "0x10"):
        found = browser.execute_script(f"{only}\nreturn readShare(arguments[0]);", wrong)
        assert found is None or not 0 < found < 1 or math.isnan(found), wrong
