"""What the page must reach in a browser: saved drawings, paper, access for everyone, size, bad input, languages."""

import base64
import io
import json
import re
import shutil
import subprocess
import tarfile
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import tercet as tc
from tercet.application import normalised_dcf
from tercet.cli.main import main
from tercet.metrics.curve_summary import interpolated
from tercet.report import report
from tercet.report.fitting import LIMIT, coarser, halved, thinner
from tercet.report.packing import kept_rows
from tercet.report.page import document_of, page
from tercet.report.privacy import private

SVG = "{http://www.w3.org/2000/svg}"
PAPERS = {"A4": (8.27, 11.69), "Letter": (8.5, 11.0)}
WIDTHS = (375, 768, 1024, 1440)


def systems_of(count=2, trials=900, names=None, ci=0.95, **more):
    """Systems tried on the same trials, as the evaluations and their comparison."""
    rng = np.random.default_rng(4)
    labels = np.arange(trials) % 3 == 0
    shared = rng.normal(size=trials)
    made = [
        tc.Trials.of_llr(
            1.5 * (shared + rng.normal(size=trials)) + np.where(labels, 1.5 + 0.2 * k, -1.5), labels,
            name=(names or "ABCDEFGH")[k], **more,
        )
        for k in range(count)
    ]  # fmt: skip
    points = [(0.01, 10, 1), (0.5, 1, 1)]
    found = [tc.evaluate(one, points, ci=ci) for one in made]
    return found, tc.compare(*made, applications=points) if count > 1 else None


@pytest.fixture(scope="module")
def two(tmp_path_factory):
    found, comparison = systems_of()
    path = report(found, tmp_path_factory.mktemp("two") / "page.html", "Two systems", comparison=comparison)
    return f"file://{path}"


@pytest.fixture(scope="module")
def ten(tmp_path_factory):
    """A page of ten classes with rows, of at most 250 kB."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 10, 6000)
    trials = tc.Trials.of_log_likelihoods(rng.normal(size=(6000, 10)) + 2 * np.eye(10)[labels], labels, name="ten")
    found = tc.evaluate(trials, [tc.Application.multiclass([0.1] * 10)], one_vs_rest=True, ci=0.95)
    path = report(found, tmp_path_factory.mktemp("ten") / "page.html", posteriors=trials)
    assert path.stat().st_size <= LIMIT
    return f"file://{path}"


def settle(browser):
    browser.execute_async_script("setTimeout(arguments[0], 350)")


# Saved drawings


FIGURES = ("scores", "curve", "bayes", "reliability", "icons", "costs", "decision", "differences")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_saved_drawing_has_the_text_and_the_pixels_of_the_screen(browser, two, tmp_path, scheme):
    image = pytest.importorskip("PIL.Image", reason="Pillow is not installed: pip install pillow")
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    browser.get(two)
    settle(browser)
    shots, saved = {}, {}
    for figure in FIGURES:
        box = browser.execute_script(
            "const svg = document.querySelector(`#f-${arguments[0]} svg`), paper = getComputedStyle(document.body);"
            "Object.assign(svg.style, {position: 'fixed', left: 0, top: 0, margin: 0, zIndex: 99, maxWidth: 'none',"
            "  background: paper.backgroundColor}); scrollTo(0, 0);"
            "return {x: 0, y: 0, width: Number(svg.getAttribute('width')), height: Number(svg.getAttribute('height'))}",
            figure,
        )
        clip = {**box, "scale": 1}
        shots[figure] = browser.execute_cdp_cmd("Page.captureScreenshot", {"clip": clip})["data"]
        browser.execute_script("document.querySelector(`#f-${arguments[0]} svg`).removeAttribute('style')", figure)
        words = browser.execute_script(
            "return [...document.querySelectorAll(`#f-${arguments[0]} svg text`)].map(n => n.textContent)", figure
        )
        saved[figure] = (words, browser.execute_async_script(
            "const [name, done] = arguments; URL.createObjectURL = blob => { blob.text().then(done); return '#'; };"
            "HTMLAnchorElement.prototype.click = () => {};"
            "document.querySelector(`#f-${name} [data-as=svg]`).click();", figure,
        ))  # fmt: skip
    for figure, (words, text) in saved.items():
        root = ElementTree.fromstring(text)
        written = [node.text or "" for node in root.iter(f"{SVG}text")]
        assert written[: len(words)] == words  # then come the title and the operating point
        assert len(written) == len(words) + 2
        assert "prior 1 %" in written[-1]
        (tmp_path / "alone.svg").write_text(text, encoding="utf-8")
        browser.get(f"file://{tmp_path / 'alone.svg'}")
        alone = browser.execute_cdp_cmd("Page.captureScreenshot", {
            "clip": {"x": 0, "y": 44, "width": float(root.get("width")), "height": float(root.get("height")) - 44,
                     "scale": 1}, "captureBeyondViewport": True})["data"]  # fmt: skip
        pixels = [
            np.asarray(image.open(io.BytesIO(base64.b64decode(one))).convert("RGB"), np.int16)
            for one in (shots[figure], alone)
        ]
        height, width = (min(one.shape[axis] for one in pixels) for axis in (0, 1))
        off = np.abs(pixels[0][:height, :width] - pixels[1][:height, :width]).max(axis=2) > 40
        assert off.mean() <= 0.01, (figure, off.mean())


def test_drawings_are_saved_as_png_and_csv_and_the_verdict_as_text(browser, two):
    caught = (
        "const [path, done] = arguments; URL.createObjectURL = blob => { const read = new FileReader();"
        "read.onload = () => done(read.result); read.readAsDataURL(blob); return '#'; };"
        "HTMLAnchorElement.prototype.click = () => {}; document.querySelector(path).click();"
    )
    browser.get(two)
    settle(browser)
    kind, data = browser.execute_async_script(caught, "#f-bayes [data-as=png]").split(",", 1)
    assert kind == "data:image/png;base64"
    assert base64.b64decode(data)[:4] == b"\x89PNG"
    for figure in FIGURES:
        text = base64.b64decode(
            browser.execute_async_script(caught, f"#f-{figure} [data-as=csv]").split(",", 1)[1]
        ).decode()
        assert text.count("\r\n") > 1
    tables = browser.execute_script("return document.querySelectorAll('main .get-table').length")
    assert tables >= 3
    text = base64.b64decode(browser.execute_async_script(caught, "#save-text").split(",", 1)[1]).decode()
    assert text.startswith("Two systems\n")
    assert "In 100,000 cases with 1,000 targets, A finds" in text
    assert "Use threshold 2.29 (llr) for A" in text
    assert re.search(r"costs [\d.]+ less than [AB] \(|The data cannot tell whether", text)


# Paper


@pytest.fixture(scope="module")
def split(tmp_path_factory):
    """An Italian page, whose words are longer, of two systems in groups with their results in four conditions."""
    rng = np.random.default_rng(4)
    labels = np.arange(800) % 4 == 0
    groups = {
        "speaker": np.arange(800) // 16,
        "site": np.array(["Torino", "Roma", "Oslo", "Lisbona"])[np.arange(800) // 200],
    }
    made = [
        tc.Trials.of_llr(2 * rng.normal(size=800) + np.where(labels, 2.0, -2.0), labels, groups=groups, name=name)
        for name in ("first", "second")
    ]
    points = [(0.01, 10, 1), (0.5, 1, 1)]
    found = [tc.evaluate(one, points, ci=0.95, by="speaker") for one in made]
    document = document_of(found, comparison=tc.compare(*made, applications=points))
    document["conditions"] = [
        {"system": one.name, **tc.by_condition(one, "site", points, ci=0.95).to_dict()} for one in made
    ]
    path = tmp_path_factory.mktemp("split") / "page.html"
    path.write_text(page(document, language="it"), encoding="utf-8")
    return f"file://{path}"


@pytest.mark.parametrize("paper", PAPERS)
def test_conditions_and_longer_words_still_print_on_five_pages(browser, split, tmp_path, paper):
    browser.get(split)
    settle(browser)
    width, height = PAPERS[paper]
    options = {"paperWidth": width, "paperHeight": height, "printBackground": True}
    printed = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", options)["data"])
    assert len(re.findall(rb"/Type\s*/Page\b", printed)) <= 5


def test_each_condition_with_few_errors_is_named_under_data_quality(browser, split):
    browser.get(split)
    told = browser.execute_script("return document.querySelector('.quality').textContent")
    assert "first: per site, i costi si basano su meno di 30 mancati allarmi o falsi allarmi" in told
    assert "Torino" in told


@pytest.mark.parametrize("width", [375, 768, 1440])
def test_nothing_of_a_drawing_by_condition_is_cut(browser, window, split, width):
    window(width, 900)
    browser.get(split)
    settle(browser)
    cut = browser.execute_script(
        "return [...document.querySelectorAll('figure > svg text')].filter(node => {"
        "  const box = node.getBoundingClientRect(), frame = node.ownerSVGElement.getBoundingClientRect();"
        "  const out = box.left < frame.left - 1 || box.right > frame.right + 1 || box.bottom > frame.bottom + 2;"
        "  return box.width && out; }).map(node => node.textContent)"
    )
    assert cut == []


@pytest.mark.parametrize("paper", PAPERS)
def test_two_systems_print_on_five_pages_with_all_their_numbers(browser, two, tmp_path, paper):
    browser.get(two)
    settle(browser)
    width, height = PAPERS[paper]
    numbers = browser.execute_script("return [...document.querySelectorAll('#numbers dd')].map(n => n.textContent)")
    options = {"paperWidth": width, "paperHeight": height, "printBackground": True}
    printed = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", options)["data"])
    assert 2 <= len(re.findall(rb"/Type\s*/Page\b", printed)) <= 5
    # The numbers are all there, nothing asks for a hand, nothing is wider than its box, and nothing scrolls.
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    pixels = int((width - 28 / 25.4) * 96)
    browser.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {"width": pixels, "height": 1000, "deviceScaleFactor": 1, "mobile": False},
    )
    browser.execute_script("dispatchEvent(new Event('beforeprint'))")
    plain = re.sub(r"\s+", " ", browser.execute_script("return document.body.innerText"))
    assert [number for number in numbers if number and number not in plain] == []
    assert "If 1 case in 100 is a target" in plain
    assert re.findall("Drag|Click|save CSV", plain) == []
    cut = browser.execute_script(
        "return [...document.querySelectorAll('main *')].filter(n => n.checkVisibility() && !n.closest('.unseen') && ("
        "  n.getBoundingClientRect().right > innerWidth + 1"
        "  || ['auto', 'scroll'].includes(getComputedStyle(n).overflowX)))"
        ".map(n => `${n.tagName} ${n.id} ${n.textContent.slice(0, 30)}`)"
    )
    browser.execute_script("dispatchEvent(new Event('afterprint'))")
    assert cut == []


# Everyone


@pytest.fixture(scope="module")
def axe(tmp_path_factory):
    """axe-core from the npm registry, in a temporary folder."""
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed, so axe-core cannot be had.")
    folder = tmp_path_factory.mktemp("axe")
    try:
        subprocess.run(
            ["npm", "pack", "axe-core@4", "--silent"], cwd=folder, check=True, timeout=60, capture_output=True
        )
    except (subprocess.SubprocessError, OSError):
        pytest.skip("axe-core cannot be had from the npm registry.")
    with tarfile.open(next(folder.glob("*.tgz"))) as packed:
        return packed.extractfile("package/axe.min.js").read().decode()


def violations(browser, axe):
    browser.execute_script(axe)
    found = browser.execute_async_script(
        "const done = arguments[0]; axe.run(document, {resultTypes: ['violations']}).then(r => done(r.violations.map("
        "v => `${v.id}: ${v.nodes.slice(0, 3).map(n => n.target.join(' ')).join('; ')}`)))"
    )
    return [one for one in found if not one.startswith("color-contrast-enhanced")]


@pytest.mark.parametrize("page", ["two", "ten"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_at_any_width(browser, window, request, axe, scheme, page):
    browser.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    )
    for width in WIDTHS:
        window(width, 900)
        browser.get("about:blank")
        browser.get(request.getfixturevalue(page))
        settle(browser)
        assert violations(browser, axe) == [], width
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width


def test_every_chart_has_a_description_that_follows_and_a_table(browser, two):
    browser.get(two)
    settle(browser)
    read = (
        "return Object.fromEntries([...document.querySelectorAll('figure > svg')].filter(n => n.checkVisibility())"
        ".map(n => [n.parentNode.id, document.getElementById(n.getAttribute('aria-describedby')).textContent]))"
    )
    before = browser.execute_script(read)
    assert set(before) == {f"f-{name}" for name in FIGURES}
    assert all(len(words) > 20 for words in before.values())
    browser.execute_script("location.hash = 'p=0.3'; dispatchEvent(new HashChangeEvent('hashchange'))")
    settle(browser)
    after = browser.execute_script(read)
    assert [key for key in ("f-scores", "f-curve", "f-bayes", "f-icons", "f-costs") if before[key] == after[key]] == []
    rows = browser.execute_async_script(
        "document.querySelectorAll('details.data').forEach(n => { n.open = true; });"
        "setTimeout(() => arguments[0]([...document.querySelectorAll('details.data')].filter(n => n.checkVisibility())"
        ".map(n => n.querySelectorAll('tbody tr').length)), 300)"
    )
    assert len(rows) == len(FIGURES)
    assert min(rows) >= 1


@pytest.mark.parametrize("zoom", [2, 4])
def test_the_page_works_at_200_and_400_per_cent(browser, window, two, zoom):
    window(1280 // zoom, 1024 // zoom)
    browser.get(two)
    settle(browser)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 1280 // zoom
    panel = browser.execute_script(
        "return document.getElementById('controls').getBoundingClientRect().height / innerHeight"
    )
    assert panel <= 0.46


def test_forced_colours_leave_every_line_and_word(browser, two):
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "forced-colors", "value": "active"}]})
    browser.get(two)
    settle(browser)
    lost = browser.execute_script(
        "const paper = getComputedStyle(document.body).backgroundColor;"
        "return [...document.querySelectorAll('svg .curve, svg .here, svg .outline')].filter(n =>"
        "  getComputedStyle(n).stroke === paper).length"
    )
    assert lost == 0


def test_readouts_answer_to_the_keyboard(browser, two):
    from selenium.webdriver import ActionChains, Keys

    browser.get(two)
    for figure in ("curve", "bayes", "costs", "decision"):
        settle(browser)
        browser.execute_script("document.querySelector(`#f-${arguments[0]} rect[role=slider]`).focus()", figure)
        ActionChains(browser).send_keys(Keys.ARROW_RIGHT, Keys.ARROW_RIGHT).perform()
        told = browser.execute_script(
            "const f = document.querySelector(`#f-${arguments[0]}`);"
            "return [f.querySelector('.readout').textContent, f.querySelector('rect[role=slider]').ariaValueText]",
            figure,
        )
        assert told[0]
        assert told[0] == told[1]


# Size


def test_eight_systems_with_intervals_fit_and_say_how_far_they_are_off(browser, tmp_path):
    found, comparison = systems_of(8, 3000)
    path = report(found, tmp_path / "page.html", comparison=comparison)
    assert path.stat().st_size <= LIMIT
    browser.get(f"file://{path}")
    told = browser.execute_script("return document.querySelector('.method').textContent")
    assert "Numbers at the operating points evaluated are exact." in told
    dashes = browser.execute_script(
        "return [...document.querySelectorAll('svg.key path')].map(n => getComputedStyle(n).strokeDasharray)"
    )
    assert len(set(dashes)) == len(dashes) == 8  # told apart without colours too
    row = found[0].applications[0]
    assert float(browser.execute_script("return document.getElementById('n-dcf').dataset.value")) == row.dcf


def test_ten_classes_with_rows_fit(browser, ten):
    browser.get(ten)
    cells = "return [...document.querySelectorAll('.task .heat td')].map(n => n.textContent)"
    exact = browser.execute_script(cells)
    assert not any("about" in cell for cell in exact)
    browser.execute_script(
        'window.requestAnimationFrame = draw => draw(); const n = document.querySelector(".edit input[type=number]");'
        "n.focus(); n.value = '30'; n.dispatchEvent(new Event('input'))"
    )
    assert all(re.match(r"about [\d,]+ ± [\d,]+$", cell) for cell in browser.execute_script(cells) if cell)


def test_half_of_the_rows_weigh_as_much_as_all():
    rng = np.random.default_rng(0)
    labels = np.repeat([0, 1, 2], [40, 7, 1])
    for weights in (None, rng.random(48)):
        trials = tc.Trials.of_log_likelihoods(rng.normal(size=(48, 3)), labels, weights=weights)
        kept = kept_rows(trials)
        less = halved(kept)
        assert (less["kept"], less["of"], less["seed"]) == (25, 48, 0)
        assert np.bincount(less["labels"]).tolist() == [20, 4, 1]
        assert all(row in kept["log_likelihoods"] for row in less["log_likelihoods"])
        whole = np.bincount(labels, weights)
        np.testing.assert_allclose(np.bincount(less["labels"], less["weights"]), whole, rtol=1e-12)


def test_a_private_page_of_few_trials_has_no_bins_to_draw_and_is_written(tmp_path):
    found, _ = systems_of(1, 60)
    document = private(document_of(found))
    histogram = document["systems"][0]["histogram"]
    for side in ("targets", "nontargets"):
        histogram[side]["bins"] = [0] * len(histogram[side]["bins"])
    assert "<figure" in page(document)
    told = page(document, language="it")
    assert "I punteggi non si possono ricostruire" in told
    assert "cannot be read back" not in told


def test_a_thinner_curve_states_how_far_costs_are_off():
    (found,), _ = systems_of(1, 3000)
    curve = found.to_dict()["curve"]
    before = len(curve["thresholds"])
    sizes = []
    for tolerance in (1e-3, 1e-2):
        less = thinner(curve, tolerance)
        sizes.append(len(less["thresholds"]))
        assert less["hull"] == curve["hull"]
        for app in (tc.Application(p) for p in (0.06, 0.3, 0.5, 0.8)):
            misses, alarms = (int(n) for n in found.curve.tally.at(app.threshold))
            fnr, fpr = misses / curve["targets"], alarms / curve["nontargets"]
            read = [float(interpolated(less, key, np.array([app.threshold]))[0]) for key in ("misses", "false_alarms")]
            rates = read[0] / curve["targets"], read[1] / curve["nontargets"]
            exact, near = (float(normalised_dcf(app.log_odds, *pair)) for pair in ((fnr, fpr), rates))
            assert abs(exact - near) <= less["within"] + 1e-4
    assert before > sizes[0] > sizes[1]


@pytest.mark.parametrize("decimals", [8, 6])
def test_llrs_to_fewer_decimals_leave_every_cost_as_it_is(decimals):
    (found,), _ = systems_of(1, 3000)
    curve = found.to_dict()["curve"]
    less = coarser(curve, decimals)
    assert less["thresholds"] != curve["thresholds"]
    assert {key: one for key, one in less.items() if key != "thresholds"} == {
        key: one for key, one in curve.items() if key != "thresholds"
    }
    at = np.random.default_rng(0).uniform(-4, 4, 500)
    for key in ("misses", "false_alarms"):
        different = interpolated(curve, key, at) != interpolated(less, key, at)
        assert np.count_nonzero(different) <= (0 if decimals == 8 else 2)


def test_llrs_that_fewer_decimals_would_merge_stay_as_they_are():
    rng = np.random.default_rng(0)
    labels = np.arange(200) % 2
    close = tc.evaluate(tc.Trials.of_llr(1e-9 * (rng.normal(size=200) + labels), labels)).to_dict()["curve"]
    assert coarser(close, 8) is close


# What was done, in words


def test_calibration_groups_levels_and_seeds_are_told_and_no_path_is(tmp_path, capsys, monkeypatch):
    rng = np.random.default_rng(0)
    for name, count in (("a", 400), ("c", 300)):
        labels = np.arange(count) % 2
        rows = [f"t{i},{labels[i]},{2 * rng.normal() + 3 * labels[i] - 1.5:.4f},s{i % 40}" for i in range(count)]
        (tmp_path / f"{name}.csv").write_text("\n".join(["id,label,score,speaker", *rows]) + "\n")
    out = tmp_path / "page.html"
    words = ["evaluate", str(tmp_path / "a.csv"), "--app", "0.1,1,1", "--ci", "90", "--bootstrap", "39", "--seed", "7",
             "--group-column", "speaker", "--calibrate-on", str(tmp_path / "c.csv"), "--report", str(out)]  # fmt: skip
    monkeypatch.setattr("sys.argv", ["tercet", *words])
    with pytest.raises(SystemExit) as stop:
        main(words)
    assert stop.value.code == 0
    text = out.read_text().replace("\u00a0", " ")
    assert "calibrated (logistic, on 300 other trials); 90 % intervals by speaker" in text
    assert "39 resamples, seed 7" in text
    assert re.search(r"misses, false alarms[^:;]*: [^;]*percentile bootstrap", text)  # which quantity by which method
    assert text.count("sha256 ") >= 2
    assert str(tmp_path) not in text


def test_without_an_operating_point_the_page_opens_at_the_datas_own_share(browser, tmp_path, monkeypatch, capsys):
    scores, labels = np.linspace(-3, 3, 80), np.arange(80) % 4 == 3
    rows = [f"{int(y)},{x:.4f}" for x, y in zip(scores, labels, strict=True)]
    (tmp_path / "a.csv").write_text("\n".join(["label,score", *rows]) + "\n")
    with pytest.raises(SystemExit):
        main(["evaluate", str(tmp_path / "a.csv"), "--report", str(tmp_path / "page.html"), "--json"])
    assert json.loads(capsys.readouterr().out)["default_applications"] is True
    browser.get(f"file://{tmp_path / 'page.html'}")
    told = browser.execute_script("return document.getElementById('verdict').textContent")
    assert told.startswith("If 1 case in 4 is a target (as in these data), and a miss and a false alarm cost the same:")


def test_an_italian_page_has_italian_words_and_numbers(browser, tmp_path):
    found, comparison = systems_of()
    path = report(found, tmp_path / "page.html", comparison=comparison, language="it")
    browser.get(f"file://{path}")
    settle(browser)
    told = browser.execute_script("return document.getElementById('verdict').textContent")
    assert told.startswith("Se 1 caso su 100 è un target, e un mancato allarme costa 10 volte un falso allarme:")
    assert "In 100.000 casi con 1.000 target" in told
    assert re.search(r"Usa la soglia 2,29 \(llr\)", told)
    everything = browser.execute_script("return document.body.innerText")
    english = re.findall(r"\b(?:the|scores|threshold|misses|false alarms|deciding)\b", everything)
    assert english == []
    with pytest.raises(tc.InputError, match="language"):
        page(document_of(found), language="fr")


def test_sentences_of_results_are_told_in_the_pages_language():
    from tercet.application import NO_NORMALISER
    from tercet.metrics.curves import Curve
    from tercet.report.language import Words
    from tercet.trials import NO_LLR
    from tercet.uncertainty.intervals import group_notes

    words = Words("it")
    with pytest.raises(tc.UndefinedError) as nothing:
        Curve.of(tc.Trials.of_llr([1.0, 2.0], [1, 1]))
    known = [NO_LLR, NO_NORMALISER, str(nothing.value), *group_notes(["speaker"], [4.0], [5]), "jazz against the rest"]
    known += group_notes(["speaker"], [4.0], [30])
    known += ["prior 0.01, costs 10 : 1", "7 errors, fewer than 30: risk and dcf are unreliable"]
    assert [one for one in known if "(in inglese)" in words.core(one)] == []
    assert words.core("prior 0.01, costs 10 : 1") == "prior 0,01, costi 10 : 1"
    assert words.core("only 5 groups contain one of the classes: intervals from so few may be too narrow").startswith(
        "solo 5"
    )
    assert words.core("Something new.") == "Something new. (in inglese)"
    assert Words("en").core("Something new.") == "Something new."


def test_results_by_condition_are_shortened_where_a_page_would_be_too_large():
    from tercet.report.fitting import fitted
    from tercet.report.schema import faults, schema

    rng = np.random.default_rng(0)
    labels = np.arange(300) % 3 == 0
    trials = tc.Trials.of_llr(rng.normal(size=300) + labels, labels, groups={"site": np.arange(300) % 2})
    document = document_of(tc.evaluate(trials, [(0.1, 1, 1)], ci=0.95))
    document["conditions"] = [{"system": None, **tc.by_condition(trials, "site", [(0.1, 1, 1)], ci=0.95).to_dict()}]
    seen = []

    def written(facts, systems):
        seen.append(facts)
        return "x" * LIMIT if len(seen) > 1 else "x" * (LIMIT + 1)

    fitted(document, document["systems"], written)
    before, after = (one["conditions"][0]["rows"][0] for one in seen)
    assert len(json.dumps(after)) < 0.7 * len(json.dumps(before))
    assert after["applications"][0]["dcf"] == pytest.approx(before["applications"][0]["dcf"], rel=1e-5)
    assert after["applications"][0]["confusion"] == before["applications"][0]["confusion"]
    assert list(faults(seen[1], schema("result"))) == list(faults(seen[0], schema("result")))


def test_italian_articles_lose_their_vowel_before_8_and_11(browser, tmp_path):
    from tercet.report.language import Words

    words = Words("it")
    for n, article in (
        ("8,3 %", "l'"),
        ("11 %", "l'"),
        ("80 %", "l'"),
        ("110 %", "il "),
        ("18 %", "il "),
        ("1 %", "il "),
    ):
        assert f"Costa {article}<b>{n}</b> in meno" in words.rich("v.less", n=n)
        assert f"costa {article}{n} in meno" in words("line.less", n=n)
    scores = np.r_[np.full(92, -1.0), np.full(8, 1.0), np.full(100, 1.0)]
    found = tc.evaluate(tc.Trials.of_llr(scores, np.arange(200) >= 100), [(0.5, 1, 1)])
    browser.get(f"file://{report(found, tmp_path / 'page.html', language='it')}")
    settle(browser)
    told = browser.execute_script("return document.querySelector('#verdict p:nth-child(2)').innerHTML")
    assert "Costa il <b>92" in told
    assert "l'<b>8 %" in words.rich("r.blame", n="8 %", ends="")
    assert browser.execute_script("return document.getElementById('r-alarm').textContent").startswith("da ")


def test_every_string_has_the_same_slots_in_every_language():
    from tercet.report.language import LANGUAGES, _table

    for key, both in _table().items():
        assert len(both) == len(LANGUAGES), key
        assert len({tuple(sorted(re.findall(r"\{\*?(\w+)\}", words))) for words in both}) == 1, key


# Bad input


def odd_documents():
    few = tc.evaluate(tc.Trials.of_llr([2.0, 1, -1, 1, -1], [1, 1, 1, 0, 0], name="five"), [(0.5, 1, 1)])
    apart = tc.evaluate(
        tc.Trials.of_llr(np.r_[np.arange(1, 60), -np.arange(1, 60)], np.arange(118) < 59), [(0.1, 1, 1)]
    )
    rng = np.random.default_rng(1)
    labels = np.arange(200) % 2 == 0
    weighted = tc.Trials.of_llr(rng.normal(size=200) + labels, labels, weights=rng.random(200), name="weighted")
    many = tc.Trials.of_llr(rng.normal(size=200) + labels, labels, weights=np.full(200, 5e6), name="a billion")
    truth = rng.integers(0, 3, 90)
    names = ["x" * 10_000, "</script>", "\u202eabc"]
    classes = tc.Trials.of_log_likelihoods(
        rng.normal(size=(90, 3)) + 2 * np.eye(3)[truth], np.array(names, object)[truth], classes=names
    )
    other = document_of(few)
    older = {key: one for key, one in other["systems"][0].items() if key not in ("auc", "histogram", "bayes_plot")}
    twins = [tc.Trials.of_llr(rng.normal(size=200) + labels, labels, name=name * 10_000) for name in "yz"]
    return {
        "five trials": document_of(few),
        "perfect separation": document_of(apart),
        "fractional weights": document_of(tc.evaluate(weighted, [(0.1, 1, 1)])),
        "a billion trials": document_of(tc.evaluate(many, [(0.1, 1, 1)])),
        "a class name of 10,000 letters": document_of(
            tc.evaluate(classes, [tc.Application.multiclass([1 / 3] * 3)], one_vs_rest=True)
        ),
        "a system's name of 10,000 letters": document_of([tc.evaluate(named, [(0.1, 1, 1)]) for named in twins]),
        "another version": {**other, "tercet": "9.9.9", "systems": [older]},
    }


SAID = {
    "five trials": "a rate is unreliable", "perfect separation": "the classes are separated without error",
    "fractional weights": "trials are weighted", "a billion trials": "1,000,000,000", "another version": "tercet 9.9.9",
    "a class name of 10,000 letters": "x" * 40, "a system's name of 10,000 letters": "y" * 63 + "…",
}  # fmt: skip


def test_odd_input_opens_says_what_it_cannot_show_and_shows_the_rest(browser, window, tmp_path):
    for name, document in odd_documents().items():
        path = tmp_path / "page.html"
        path.write_text(page(document), encoding="utf-8")
        assert path.stat().st_size <= LIMIT
        window(375, 900)
        browser.get("about:blank")
        browser.get(f"file://{path}")
        settle(browser)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 375, name
        window(1280, 900)
        settle(browser)
        assert [entry["message"] for entry in browser.get_log("browser")] == [], name
        assert SAID[name] in browser.execute_script("return document.querySelector('body').innerText"), name
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 1280, name
        assert browser.execute_script("return document.querySelectorAll('#why svg').length") >= 4, name


def test_a_page_of_many_conditions_keeps_every_step_and_drops_what_it_does_not_show():
    rng = np.random.default_rng(0)
    labels = np.arange(1600) % 2 == 0
    scores = np.round(rng.normal(size=1600) + labels, 4)
    trials = tc.Trials.of_llr(scores, labels, groups={"site": np.arange(1600) % 40})
    document = document_of(tc.evaluate(trials, [(0.1, 1, 1)]))
    entry = {"system": None, **tc.by_condition(trials, "site", [(0.1, 1, 1)]).to_dict()}
    for copies, small in ((1, True), (60, False)):
        made = page({**document, "conditions": [{**entry, "column": f"site {k}"} for k in range(copies)]})
        found = json.loads(re.search(r'id="data">(.*?)</script>', made, re.S)[1])
        assert (len(made.encode()) <= LIMIT) == small
        assert "within" not in found["systems"][0]["curve"]  # thinner curves would not have helped


def test_numbers_of_few_decimals_are_kept_as_they_are():
    curve = document_of(tc.evaluate(tc.Trials.of_llr([4.8535, 1.1, 2.2, -3.3], [1, 0, 1, 0])))["systems"][0]["curve"]
    assert all(coarser(curve, decimals)["thresholds"] == curve["thresholds"] for decimals in (8, 6, 4))


# The model card


def test_the_model_card_says_what_the_page_says(tmp_path, capsys):
    found, comparison = systems_of(names=("A *star* <i>", "B"))
    card = tc.model_card(found, "A card", comparison=comparison)
    assert card.startswith("# Model card: A card\n")
    assert "In 100,000 cases with 1,000 targets, **A \\*star\\* \\<i\\>** finds **" in card
    assert "## How these numbers were obtained" in card
    (tmp_path / "result.json").write_text(json.dumps(document_of(found)))
    with pytest.raises(SystemExit) as stop:
        main(["card", str(tmp_path / "result.json"), "-o", str(tmp_path / "card.md"), "--title", "A card"])
    assert stop.value.code == 0
    assert (tmp_path / "card.md").read_text().splitlines()[4:7] == card.splitlines()[4:7]


def test_a_model_card_of_two_classes_and_of_three_has_a_table_of_each():
    rng = np.random.default_rng(5)
    two = tc.evaluate(tc.Trials.of_llr(rng.normal(size=90), rng.integers(0, 2, 90)), [0.5], name="pair")
    three = tc.Trials.of_log_likelihoods(rng.normal(size=(90, 3)), rng.integers(0, 3, 90))
    card = tc.model_card([two, tc.evaluate(three, [tc.Application.multiclass([0.2, 0.3, 0.5])], name="triple")])
    assert re.search(r"^\| pair \|", card, re.M)
    assert re.search(r"^\| triple \|", card, re.M)
