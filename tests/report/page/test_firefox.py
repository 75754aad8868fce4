"""The essentials of the page in another browser: it opens, follows, says the same and is saved whole."""

import importlib.util
import re
from pathlib import Path

import numpy as np
import pytest

import tercet as tc
from tercet.report import report

_SPEC = importlib.util.spec_from_file_location("firefox", Path(__file__).parents[1] / "firefox.py")
firefox_module = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(firefox_module)

SETTLED = "new Promise(done => setTimeout(done, 400))"


@pytest.fixture(scope="module")
def firefox(tmp_path_factory):
    reason = firefox_module.missing()
    if reason is not None:
        pytest.skip(f"There is no Firefox to test the page in: {reason}.")
    driver = firefox_module.Firefox(str(tmp_path_factory.mktemp("profile")))
    yield driver
    driver.close()


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    rng = np.random.default_rng(4)
    labels = np.arange(600) % 3 == 0
    scores = 1.5 * rng.normal(size=(2, 600)) + np.where(labels, 1.5, -1.5)
    trials = [tc.Trials.of_llr(own, labels, name=name) for own, name in zip(scores, "AB", strict=True)]
    points = [(0.01, 10, 1), (0.5, 1, 1)]
    found = [tc.evaluate(one, points, ci=0.95) for one in trials]
    path = report(
        found, tmp_path_factory.mktemp("made") / "page.html", comparison=tc.compare(*trials, applications=points)
    )
    return path, trials


@pytest.mark.parametrize("width", [375, 1280])
def test_the_page_opens_without_a_complaint_and_stays_in_its_window(firefox, made, width):
    firefox.errors.clear()
    firefox.open(f"file://{made[0]}", width, 900)
    firefox.evaluate(SETTLED)
    assert firefox.errors == []
    assert firefox.evaluate("document.documentElement.scrollWidth") <= width
    assert firefox.evaluate("document.querySelectorAll('figure > svg').length") >= 8
    told = firefox.evaluate("document.getElementById('verdict').textContent")
    static = re.search(r'<section class="verdict".*?</section>', made[0].read_text(encoding="utf-8"))[0]
    for sentence in re.findall(r"<p.*?>(In 100,000.*?)</p>", static):
        assert re.sub("<.*?>", "", sentence).strip() in told


def test_live_numbers_are_pythons_at_other_operating_points(firefox, made):
    path, trials = made
    for prior, miss, alarm in [(0.2, 3, 1), (0.03, 1, 2), (0.9, 1, 7)]:
        firefox.open("about:blank", 1280, 900)
        firefox.open(f"file://{path}#p={prior}&fn={miss}&fp={alarm}", 1280, 900)
        row = tc.evaluate(trials[0], [(prior, miss, alarm)]).applications[0]
        shown = firefox.evaluate(
            "Object.fromEntries(['dcf', 'min', 'fnr', 'fpr', 'threshold'].map("
            "key => [key, Number(document.getElementById(`n-${key}`).dataset.value)]))"
        )
        expected = {"dcf": row.dcf, "min": row.min_dcf, "fnr": row.fnr, "fpr": row.fpr, "threshold": row.threshold}
        assert shown == pytest.approx(expected, abs=1e-9)


def test_a_typed_prior_is_read_and_refused_as_elsewhere(firefox, made):
    firefox.open("about:blank", 1280, 900)
    firefox.open(f"file://{made[0]}", 1280, 900)
    typed = (
        "(async () => {{ const box = document.getElementById('prior-box'); box.focus(); box.value = '{}';"
        "box.dispatchEvent(new Event('input')); await new Promise(done => setTimeout(done, 200));"
        "return [document.getElementById('n-effective').dataset.value, box.getAttribute('aria-invalid')]; }})()"
    )
    read = {text: firefox.evaluate(typed.format(text)) for text in ("0,5 %", "1/100", "1 in 100", "two")}
    assert read["0,5 %"][1] is None
    assert read["1/100"] == read["1 in 100"]
    assert float(read["1/100"][0]) == pytest.approx(0.01 * 10 / (0.01 * 10 + 0.99))
    assert read["two"][1] == "true"


def test_a_drawing_is_saved_with_the_words_of_the_screen(firefox, made):
    firefox.open("about:blank", 1280, 900)
    firefox.open(f"file://{made[0]}", 1280, 900)
    saved, words = firefox.evaluate(
        "new Promise(done => { URL.createObjectURL = blob => { blob.text().then(text => done([text,"
        "  [...document.querySelectorAll('#f-bayes svg text')].map(node => node.textContent)])); return '#'; };"
        "HTMLAnchorElement.prototype.click = () => {}; document.querySelector('#f-bayes [data-as=svg]').click(); })"
    )
    assert all(f">{text}<" in saved for text in words if text and "&" not in text)
    assert "paint-order" in saved
