"""The documentation site as a newcomer uses it: opened from disk in a real browser."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

import check_site

SITE = Path(os.environ.get("TERCET_SITE", "."))
pytestmark = pytest.mark.skipif("TERCET_SITE" not in os.environ, reason="`nox -s docs` builds the site and names it")


@pytest.fixture
def visit(chromium):
    """Opens a page of the site; afterwards nothing may have been asked of a network."""
    chromium.set_window_size(1280, 900)
    chromium.get_log("performance")

    def opened(page):
        chromium.get((SITE / page).resolve().as_uri())
        return chromium

    yield opened
    sent = [entry["message"] for entry in chromium.get_log("performance")]
    assert not [one for one in sent if "requestWillBeSent" in one and '"url":"http' in one]


def clicked(browser, selector):
    """The element, scrolled into view and clicked."""
    found = browser.find_element("css selector", selector)
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", found)
    found.click()
    return found


@pytest.mark.parametrize(("task", "page", "words"), check_site.TASKS, ids=[task for task, _, _ in check_site.TASKS])
def test_the_start_page_leads_to_each_task_with_one_click(visit, task, page, words):
    browser = visit("index.html")
    clicked(browser, f"article table a[href='{page}']")
    assert browser.current_url == (SITE / page).resolve().as_uri()
    assert words in browser.find_element("css selector", "article").text


def test_a_search_finds_pages_without_a_network(visit):
    from selenium.webdriver.support.wait import WebDriverWait

    browser = visit("search.html")
    browser.get(f"{browser.current_url}?q=effective+prior")
    script = "return [...document.querySelectorAll('#search-results li a')].map(link => link.textContent)"
    WebDriverWait(browser, 20).until(lambda _: "What decisions cost" in browser.execute_script(script))


def test_a_copied_example_has_no_prompts(visit):
    browser = visit("start/index.html")
    clicked(browser, "button.copybtn")
    script = (
        "const box = document.createElement('textarea'); document.querySelector('article').prepend(box); box.focus()"
    )
    browser.execute_script(script)
    browser.find_element("css selector", "article > textarea").send_keys("\ue009v")  # control and v
    pasted = browser.execute_script("return document.querySelector('article > textarea').value")
    assert pasted.startswith("import tercet as tc\ntask = ")
    assert ">>>" not in pasted


def test_formulas_have_a_size_and_no_command_is_left_in_them(visit):
    browser = visit("theory/decisions.html")
    script = (
        "return [...document.querySelectorAll('math')].map(one => [one.getBoundingClientRect().width, one.textContent])"
    )
    found = browser.execute_script(script)
    assert len(found) > 20
    assert all(width > 0 and "\\" not in text for width, text in found)


def test_the_page_turns_dark_and_its_pictures_load(visit):
    browser = visit("theory/curves.html")
    colour = "return getComputedStyle(document.body).backgroundColor"
    browser.execute_script("document.documentElement.dataset.theme = 'light'")
    light = browser.execute_script(colour)
    browser.execute_script("document.documentElement.dataset.theme = 'dark'")
    assert browser.execute_script(colour) != light
    pictures = browser.execute_script("return [...document.images].map(one => one.naturalWidth)")
    assert len(pictures) >= 4
    assert min(pictures) > 0
