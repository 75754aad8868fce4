"""The checks of the built documentation site, on small sites that are right or wrong in one place."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "docs"))
sys.path.insert(0, str(Path(__file__).parents[1] / "docs" / "_ext"))

import check_site


@pytest.fixture
def site(tmp_path):
    (tmp_path / "howto").mkdir()
    start = "".join(f'<a href="{name}">x</a>' for _, name, _ in check_site.TASKS)
    (tmp_path / "index.html").write_text(f'<h1 id="top">tercet</h1>{start}', encoding="utf-8")
    for _, name, words in check_site.TASKS:
        back = "../index.html#top" if "/" in name else "index.html#top"
        (tmp_path / name).write_text(f'<a href="{back}">start</a> {words}', encoding="utf-8")
    return tmp_path


def problems(site):
    pages = check_site.read(site)
    return [*check_site.broken(pages), *check_site.lost(site, pages)]


def test_a_site_without_faults_passes(site):
    assert problems(site) == []


@pytest.mark.parametrize(
    ("added", "fault"),
    [
        ('<a href="gone.html">x</a>', "gone.html is not there"),
        ('<a href="#gone">x</a>', "no such anchor"),
        ('<a href="howto/large.html#gone">x</a>', "no such anchor"),
        ('<img src="gone.svg">', "gone.svg is not there"),
        ('<script src="https://example.org/x.js"></script>', "loads https://example.org/x.js"),
        ('<link rel="stylesheet" href="//example.org/x.css">', "loads //example.org/x.css"),
    ],
)
def test_a_fault_is_found(site, added, fault):
    page = site / "index.html"
    page.write_text(page.read_text(encoding="utf-8") + added, encoding="utf-8")
    (found,) = problems(site)
    assert fault in found


def test_links_to_other_sites_are_not_followed(site):
    page = site / "index.html"
    page.write_text(page.read_text(encoding="utf-8") + '<a href="https://example.org">x</a>', encoding="utf-8")
    assert problems(site) == []


def test_a_task_that_is_four_clicks_away_is_found(site):
    page = site / "index.html"
    text = page.read_text(encoding="utf-8").replace('<a href="howto/large.html">x</a>', '<a href="a.html">x</a>')
    page.write_text(text, encoding="utf-8")
    for here, there in (("a", "b.html"), ("b", "c.html"), ("c", "howto/large.html")):
        (site / f"{here}.html").write_text(f'<a href="{there}">x</a>', encoding="utf-8")
    assert problems(site) == ["100 million rows: howto/large.html is not within 3 clicks"]


def test_a_logarithm_stands_apart_from_its_argument():
    pytest.importorskip("latex2mathml")
    from mathml import rendered

    assert '<mi>ln</mi><mspace width="0.167em" /><mn>2</mn>' in rendered(r"\ln 2")
    assert "mspace" not in rendered(r"\log_2 (1 + x)")


def test_a_formula_with_an_unknown_command_is_an_error():
    pytest.importorskip("latex2mathml")
    from mathml import rendered

    with pytest.raises(Exception, match=r"\\nonsense in the formula"):
        rendered(r"\nonsense x")
