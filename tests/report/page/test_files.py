"""What is saved from the page, as files on the disk; and the page inside another document."""

import csv
import json
import time
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import tercet as tc
from tercet.application import normalised_dcf
from tercet.cli.main import main
from tercet.report import report
from tercet.report.page import document_of, iframe, page

SVG = "{http://www.w3.org/2000/svg}"


def evaluations(names=("one", "two", "=three")):
    rng = np.random.default_rng(11)
    labels = rng.random(900) < 0.4
    return [
        tc.evaluate(
            tc.Trials.of_llr(rng.normal(np.where(labels, 2.0, -2.0), 2.0 + place), labels, name=name), ["sre08"]
        )
        for place, name in enumerate(names)
    ]


@pytest.fixture
def saved(browser, tmp_path):
    """Presses a button, and gives the file that the browser then writes."""
    folder = tmp_path / "saved"
    folder.mkdir()
    browser.execute_cdp_cmd("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})

    def press(button):
        browser.execute_script(button + ".click()")
        for _ in range(100):
            found = [path for path in folder.iterdir() if path.suffix != ".crdownload"]
            if found and found[0].stat().st_size:
                text = found[0].read_bytes().decode("utf-8")
                found[0].unlink()
                return found[0].name, text
            time.sleep(0.05)
        raise AssertionError("nothing was saved")

    return press


def test_the_saved_json_is_the_result_and_makes_the_same_page(browser, tmp_path, saved):
    found = evaluations()
    browser.get(f"file://{report(found, tmp_path / 'page.html', 'A title')}")
    name, text = saved("document.getElementById('save-json')")
    assert name == "tercet.json"
    assert json.loads(text) == json.loads(json.dumps(document_of(found)))
    (tmp_path / name).write_text(text)
    again = tmp_path / "again.html"
    with pytest.raises(SystemExit) as stop:
        main(["report", str(tmp_path / name), "-o", str(again), "--title", "A title"])
    assert stop.value.code == 0
    pages = [one.read_text() for one in (tmp_path / "page.html", again)]
    data = [json.loads(one.split('id="data">')[1].split("</script>")[0]) for one in pages]
    assert data[0] == data[1]


def test_every_score_comes_back_to_the_bit(browser, tmp_path, saved):
    rng = np.random.default_rng(2)
    scores = np.concatenate((
        [np.inf, -np.inf, 1e308, -1e308, 5e-324, -5e-324, 0.0, 2.0**53, -(2.0**53), 2.0**53 - 1, 1e-300, 0.1, 1 / 3],
        rng.normal(size=200) * 10.0 ** rng.integers(-300, 300, 200), np.round(rng.normal(size=200), 2),
        rng.integers(-9, 9, 50).astype(float), rng.integers(-(2**52), 2**52, 50).astype(float), rng.normal(size=100),
    ))  # fmt: skip
    found = tc.evaluate(tc.Trials.of_llr(scores, np.arange(len(scores)) % 3 == 0, name="odd"))
    browser.get(f"file://{report(found, tmp_path / 'page.html')}")
    _, text = saved("document.getElementById('save-json')")
    # JavaScript writes large numbers without a point, which Python would read as integers.
    shown, true = (json.loads(words, parse_int=float) for words in (text, json.dumps(found.to_dict())))
    assert shown["systems"][0]["curve"] == true["curve"]


@pytest.mark.parametrize("point", [(0.01, 10.0, 1.0), (0.37, 2.5, 3.0)])
def test_the_saved_csv_holds_pythons_numbers(browser, tmp_path, saved, point):
    found = evaluations()
    url = f"file://{report(found, tmp_path / 'page.html')}"
    browser.get(url + "#s=0&p={!r}&fn={!r}&fp={!r}&r=bayes".format(*point))
    name, text = saved("document.getElementById('save-csv')")
    assert name == "tercet.csv"
    rows = list(csv.DictReader(text.splitlines()))
    assert [row["system"] for row in rows] == ["one", "two", "'=three"]  # no cell begins a spreadsheet's formula
    app = tc.Application(*point)
    for row, evaluation in zip(rows, found, strict=True):
        curve = evaluation.curve
        misses, alarms = (int(n) for n in curve.tally.at(app.threshold))
        rates = misses / curve.targets, alarms / curve.nontargets
        least = curve.min_dcf(app).dcf
        dcf = float(normalised_dcf(app.log_odds, *rates))
        hits, wrong = app.prior * (1 - rates[0]), (1 - app.prior) * rates[1]
        expected = {
            "prior": point[0], "cost_fn": point[1], "cost_fp": point[2], "threshold_score": app.threshold,
            "threshold_llr": app.threshold, "fnr": rates[0],
            "fpr": rates[1], "dcf_u": app.dcf_u(fnr=rates[0], fpr=rates[1]), "dcf": dcf, "min_dcf": least,
            "actual_minus_min": max(dcf - least, 0.0), "ppv": hits / (hits + wrong), "eer": evaluation.eer.value,
            "auc": evaluation.auc, "cllr": evaluation.cllr, "min_cllr": evaluation.min_cllr,
        }  # fmt: skip
        ends = {f"{key}_{end}" for key in ("fnr", "fpr", "dcf_u", "dcf") for end in ("low", "high")}
        assert set(row) == {"system", "rule", *expected, *ends}
        assert float(row["dcf_low"]) < dcf < float(row["dcf_high"])
        assert {key: float(row[key]) for key in expected} == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("figure", ["scores", "curve", "bayes", "reliability", "icons", "costs", "decision"])
def test_each_figure_is_saved_as_a_drawing_that_stands_alone(browser, tmp_path, saved, figure):
    found = evaluations(("a & b <i>", "two"))
    browser.get(f"file://{report(found, tmp_path / 'page.html')}")
    name, text = saved(f"document.querySelector('#f-{figure} .get [data-as=svg]')")
    assert name == f"{figure}.svg"
    root = ElementTree.fromstring(text)
    assert root.tag == f"{SVG}svg"
    nodes = list(root.iter())
    assert not any("class" in node.attrib for node in nodes)  # no style sheet is needed
    paths = [node for node in nodes if node.tag == f"{SVG}path"]
    assert len(paths) > 3
    assert all(node.get("stroke") for node in paths)
    if figure == "costs":
        assert "a & b <i>" in "".join(root.itertext())
    if figure == "scores":
        words = " ".join(root.itertext())
        assert f"{found[0].curve.targets} targets" in words
        assert "accept above 2.29" in words
    # It is drawn by a browser as it is by the page.
    (tmp_path / "alone.svg").write_text(text, encoding="utf-8")
    browser.get(f"file://{tmp_path / 'alone.svg'}")
    assert browser.execute_script("return document.documentElement.getBBox().width") > 300


HOST = "<!doctype html><meta charset=utf-8><title>host</title><p id=host>a notebook</p>{}<p id=g-dcf>after</p>"


def in_host(browser, tmp_path, frame):
    path = tmp_path / "host.html"
    path.write_text(HOST.format(frame), encoding="utf-8")
    browser.get(f"file://{path}#cell-7")
    browser.switch_to.frame(0)


def test_the_page_works_inside_a_notebook_and_touches_nothing_around_it(browser, tmp_path):
    (evaluation,) = evaluations(("in a notebook",))
    in_host(browser, tmp_path, iframe(evaluation))
    try:
        before = browser.execute_script("return document.getElementById('n-dcf').dataset.value")
        assert float(before) == evaluation.applications[0].dcf
        after = browser.execute_async_script(
            "const done = arguments[0], box = document.getElementById('prior-box'), seen = [];"
            "addEventListener('securitypolicyviolation', e => seen.push(e.effectiveDirective));"
            "box.value = '20'; box.dispatchEvent(new Event('input'));"
            "document.querySelector(\"#numbers a[href='#g-dcf']\").click();"
            "const s = document.createElement('script'); s.textContent = 'window.foreign = 1'; document.body.append(s);"
            "fetch('http://127.0.0.1:9/').catch(() => 0);"
            "let reached = 'nothing'; try { reached = parent.document.title; } catch (e) { reached = e.name; }"
            "const dcf = document.getElementById('n-dcf').dataset;"
            "setTimeout(() => done([dcf.value, seen.sort(), window.foreign ?? null, reached,"
            "  document.activeElement.id]), 500)"
        )
        curve, app = evaluation.curve, tc.Application(0.2, 10, 1)
        misses, alarms = curve.tally.at(app.threshold)
        expected = float(normalised_dcf(app.log_odds, misses / curve.targets, alarms / curve.nontargets))
        assert float(after[0]) == pytest.approx(expected, rel=1e-12)
        assert after[1:] == [["connect-src", "script-src-elem"], None, "SecurityError", "g-dcf"]
    finally:
        browser.switch_to.default_content()
    assert browser.current_url.endswith("host.html#cell-7")
    assert browser.execute_script("return [document.title, document.getElementById('host').textContent]") == [
        "host", "a notebook",
    ]  # fmt: skip
    told = [entry["message"] for entry in browser.get_log("browser")]
    assert all("Content Security Policy" in line or "parent" in line for line in told), told  # the refusals were wanted


def test_a_frame_that_is_shown_later_has_its_controls(browser, tmp_path):
    hidden = f"<div id=cell style='display:none'>{iframe(evaluations(('in a notebook',)))}</div>"
    in_host(browser, tmp_path, hidden)
    browser.switch_to.default_content()
    browser.execute_script("document.getElementById('cell').style.display = 'block'")
    browser.switch_to.frame(0)
    try:
        found = browser.execute_async_script(
            "const done = arguments[0]; setTimeout(() => done([document.getElementById('prior').checkVisibility(),"
            "document.querySelector('#f-scores svg').viewBox.baseVal.width > 500]), 300)"
        )
    finally:
        browser.switch_to.default_content()
    assert found == [True, True]


def test_a_figure_can_be_saved_from_inside_a_notebook(browser, tmp_path, saved):
    in_host(browser, tmp_path, iframe(evaluations(("in a notebook",))))
    try:
        name, text = saved("document.getElementById('save-csv')")
    finally:
        browser.switch_to.default_content()
    assert name == "tercet.csv"
    assert "in a notebook" in text


def test_the_frame_holds_the_page_byte_for_byte(browser, tmp_path):
    (evaluation,) = evaluations(("\u2028 <b>&amp;",))
    in_host(browser, tmp_path, iframe(evaluation))
    try:
        data = browser.execute_script("return document.getElementById('data').textContent")
    finally:
        browser.switch_to.default_content()
    assert data == page(document_of(evaluation)).split('id="data">')[1].split("</script>")[0]
