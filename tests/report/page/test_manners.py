"""What hands and eyes meet on pages with intervals, several systems and several classes."""

import numpy as np
import pytest

import tercet as tc
from tercet.report import report

LONG = "a very long name that somebody took from the path of a file with many folders"


@pytest.fixture(scope="module")
def rich(tmp_path_factory):
    """Three systems with intervals and one of several classes with rows: everything that a page can hold."""
    rng = np.random.default_rng(3)
    labels, asked = rng.random(500) < 0.4, ["sre08", (0.5, 1, 1)]
    systems = []
    for place in range(3):
        trials = tc.Trials.of_llr(rng.normal(np.where(labels, 2, -2), 2 + place), labels, name=f"{LONG} {place}")
        systems.append(tc.evaluate(trials, asked, ci=0.95, resamples=99).to_dict())
    truth = rng.integers(0, 5, 300)
    names = [f"{LONG} {code}" for code in range(5)]
    several = tc.Trials.of_log_likelihoods(
        rng.normal(size=(300, 5)) + 2 * np.eye(5)[truth], np.array(names)[truth], classes=names, name="several"
    )
    app = tc.Application.multiclass([0.2] * 5, classes=names)
    path = tmp_path_factory.mktemp("rich") / "page.html"
    report([*systems, tc.evaluate(several, [app], one_vs_rest=True)], path, "Everything", posteriors=several)
    return f"file://{path}"


@pytest.mark.parametrize(("width", "height"), [(390, 844), (820, 1000), (1280, 900)])
def test_a_rich_page_stays_in_its_window_and_its_drawings_in_their_frames(browser, window, rich, width, height):
    window(width, height)
    browser.get(rich)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width
    cut = browser.execute_script(
        "return [...document.querySelectorAll('.figures svg text')].filter(node => {"
        "  const box = node.getBoundingClientRect(), frame = node.ownerSVGElement.getBoundingClientRect();"
        "  return box.width && (box.left < frame.left - 1 || box.right > frame.right + 1); })"
        ".map(node => node.textContent)"
    )
    assert cut == []


def test_new_numbers_are_announced_once_when_the_hand_rests(browser, rich):
    browser.get(rich)
    regions = browser.execute_script(
        "return [...document.querySelectorAll('[aria-live], [role=status]')].map(node => node.id)"
    )
    assert regions == ["announce"]
    said = browser.execute_async_script(
        "const done = arguments[0], seen = [], slider = document.getElementById('prior');"
        "new MutationObserver(() => seen.push(document.getElementById('announce').textContent))"
        "  .observe(document.getElementById('announce'), {childList: true, characterData: true, subtree: true});"
        "const end = () => done([seen, document.getElementById('n-dcf').textContent]);"
        "let v = -5; const timer = setInterval(() => {"
        "  slider.value = v += 0.1; slider.dispatchEvent(new Event('input'));"
        "  if (v > -3) { clearInterval(timer); setTimeout(end, 900); }"
        "}, 20)"
    )
    assert len(said[0]) == 1
    assert f"DCF {said[1]}" in said[0][0]
    assert "misses" in said[0][0]


def test_the_chosen_system_has_the_band_and_the_picker_changes_it(browser, rich):
    browser.get(rich)
    first = browser.execute_script("return document.querySelector('#f-bayes .band').getAttribute('class')")
    browser.execute_script(
        "window.requestAnimationFrame = draw => draw(); const pick = document.getElementById('system');"
        "pick.value = 2; pick.dispatchEvent(new Event('change'))"
    )
    second = browser.execute_script("return document.querySelector('#f-bayes .band').getAttribute('class')")
    assert (first, second) == ("band c0", "band c2")
    told = browser.execute_script(
        "return [...document.querySelectorAll('#compare tr.chosen small')].map(n => n.textContent)"
    )
    assert sum(" to " in words for words in told) == 8  # all columns but DCF - minimum have an interval


def test_without_javascript_intervals_are_there_too(browser, rich):
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(rich)
        root = browser.execute_cdp_cmd("DOM.getDocument", {"depth": -1})["root"]["nodeId"]

        def count(selector):
            return len(
                browser.execute_cdp_cmd("DOM.querySelectorAll", {"nodeId": root, "selector": selector})["nodeIds"]
            )

        assert count("#compare td small") >= 12  # EER, AUC, Cllr, min Cllr of three systems
        assert count("#static .band") == 3
        assert count(".heat tbody td") == 25
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
