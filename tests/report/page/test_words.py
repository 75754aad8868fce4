"""What the page says: thresholds on one scale, verdicts, refused entries, percentages that are no certainties."""

import csv
import math
import re

import numpy as np
import pytest

import tercet as tc
from tercet.report import evidence, report, verdict
from tercet.report.language import Words
from tercet.report.numbers import percent, short
from tercet.report.page import document_of

EN = Words("en")


@pytest.fixture
def opened(browser, tmp_path):
    """Writes a page, opens it at an address, and gives its address."""

    def at(evaluations, words="", name="page"):
        url = f"file://{report(evaluations, tmp_path / f'{name}.html')}"
        browser.get("about:blank")
        browser.get(url + words)
        browser.execute_script("window.requestAnimationFrame = draw => draw()")
        return url

    return at


@pytest.fixture
def shown(browser):
    """The text, or the exact value, of an element."""
    return lambda name, key="textContent": browser.execute_script(
        "const [id, key] = arguments, n = document.getElementById(id);"
        "return key === 'value' ? n.dataset.value : n[key]",
        name, key,
    )  # fmt: skip


def normal(count=1000, seed=3):
    rng = np.random.default_rng(seed)
    labels = np.arange(count) < count // 2
    return rng.normal(size=count) + np.where(labels, 1, -1), labels


MADE = {
    "llr": lambda s, y: tc.Trials.of_llr(s, y, name="one"),
    "lr": lambda s, y: tc.Trials.of_lr(np.exp(s), y, name="one"),
    "log10-llr": lambda s, y: tc.Trials.of_log10_llr(s / math.log(10), y, name="one"),
    "log-odds": lambda s, y: tc.Trials.of_log_odds(s, y, trained_prior=0.1, name="one"),
    "posterior": lambda s, y: tc.Trials.of_posteriors(1 / (1 + np.exp(-s)), y, trained_prior=0.1, name="one"),
}  # fmt: skip
SHIFT = math.log(0.1 / 0.9)
SCORE = {
    "llr": lambda v: v,
    "lr": math.exp,
    "log10-llr": lambda v: v / math.log(10),
    "log-odds": lambda v: v + SHIFT,
    "posterior": lambda v: 1 / (1 + math.exp(-v - SHIFT)),
}
SAVED = (
    "const done = arguments[0]; URL.createObjectURL = blob => { blob.text().then(done); return '#'; };"
    "HTMLAnchorElement.prototype.click = () => {}; document.getElementById('save-csv').click();"
)
SLIDER = "return document.querySelector('#f-scores [role=slider]')"


# One scale


@pytest.mark.parametrize("meaning", MADE)
@pytest.mark.parametrize("count", [1000, 6000])
def test_every_threshold_is_a_score_with_its_llr_beside(browser, opened, shown, type_over, meaning, count):
    evaluation = tc.evaluate(MADE[meaning](*normal(count)), [(0.3, 1, 1)])
    opened(evaluation)
    row = evaluation.applications[0]
    score = float(shown("n-threshold", "value"))
    near = {"rel": 1e-12 if count <= 1000 else 1e-3}  # a thinned curve has a kept score that decides alike
    assert score == pytest.approx(SCORE[meaning](row.threshold), **near)
    assert float(shown("l-threshold", "value")) == row.threshold
    assert shown("l-threshold") == ("" if meaning == "llr" else "llr 0.847")
    label = browser.execute_script(SLIDER + ".querySelector('text').textContent")
    assert label.startswith(f"accept above {shown('n-threshold')}")
    assert ("(llr 0.847)" in label) == (meaning != "llr")
    assert float(browser.execute_script(SLIDER + ".getAttribute('aria-valuenow')")) == score
    assert browser.execute_script(SLIDER + ".getAttribute('aria-valuetext')") in label
    # The line stands at the label's number on the axis that is drawn below it.
    ticks = browser.execute_script(
        "return [...document.querySelectorAll('#f-scores svg > text.soft.mid')]"
        "  .map(n => [n.textContent, n.getAttribute('x')])"
    )
    (low, left), *_, (high, right) = [(float(words.replace("−", "-")), float(x)) for words, x in ticks]
    place = float(browser.execute_script(SLIDER + ".getAttribute('transform')").split("(")[1].split()[0])
    assert low + (place - left) / (right - left) * (high - low) == pytest.approx(score, abs=0.01 * (high - low))
    # By hand the same number does the same, and the best threshold gives the cost at best.
    browser.execute_script("document.querySelector('input[value=manual]').click()")
    errors = [shown(name, "value") for name in ("k-miss", "k-alarm")]
    type_over("manual", repr(score))
    if count <= 1000:
        assert [shown(name, "value") for name in ("k-miss", "k-alarm")] == errors
        assert float(shown("n-dcf", "value")) == pytest.approx(row.dcf, rel=1e-12)
    assert float(shown("n-dcf", "value")) == pytest.approx(row.dcf, abs=2e-3)
    type_over("manual", shown("n-best", "value"))
    assert float(shown("n-dcf", "value")) == pytest.approx(row.min_dcf, rel=1e-12)
    assert shown("n-dcf") == shown("n-min")
    saved = next(csv.DictReader(browser.execute_async_script(SAVED).splitlines()))
    assert float(saved["threshold_score"]) == float(shown("n-best", "value"))
    assert SCORE[meaning](float(saved["threshold_llr"])) == pytest.approx(float(saved["threshold_score"]), **near)


def test_without_a_finite_llr_the_threshold_shown_is_a_score_that_decides_alike(opened, shown):
    trials = tc.Trials.of_posteriors([0.0, 1, 1, 0, 1, 0], [1, 1, 1, 0, 0, 0], trained_prior=0.2)
    evaluation = tc.evaluate(trials, [(0.3, 1, 1)])
    opened(evaluation)
    assert [shown("n-threshold"), shown("l-threshold")] == ["0", "llr 0.847"]
    counted = [int(n) for n in evaluation.curve.tally.at(0.0)]
    assert [int(shown(name, "value")) for name in ("k-miss", "k-alarm")] == counted


@pytest.mark.parametrize("meaning", ["posterior", "lr"])
def test_every_score_typed_by_hand_gives_the_counts_of_python(browser, opened, shown, meaning):
    trials = MADE[meaning](*normal(400))
    tally = tc.evaluate(trials, [(0.3, 1, 1)]).curve.tally
    opened(tc.evaluate(trials, [(0.3, 1, 1)]))
    counts = browser.execute_script(
        "const box = document.getElementById('manual'), read = id => Number(document.getElementById(id).dataset.value);"
        "document.querySelector('input[value=manual]').click();"
        "return arguments[0].map(t => { box.value = t; box.dispatchEvent(new Event('input'));"
        "  return [read('k-miss'), read('k-alarm')]; })",
        [repr(score) for score in trials.scores.tolist()],
    )
    assert counts == [[int(n) for n in tally.at(score)] for score in trials.scores.tolist()]


def test_a_threshold_by_hand_moves_only_the_chosen_system(browser, opened, shown):
    scores, labels = normal()
    both = [
        tc.Trials.of_llr(scores, labels, name="first"),
        tc.Trials.of_posteriors(1 / (1 + np.exp(-scores)), labels, trained_prior=0.5, name="other"),
    ]
    systems = [tc.evaluate(trials, [(0.3, 1, 1)]) for trials in both]
    opened(systems, "#r=manual&t=2.5")
    cells = "return [...document.querySelectorAll('#compare tbody td:nth-child(2)')].map(n => Number(n.title))"
    first, other = browser.execute_script(cells)
    assert first == float(shown("n-dcf", "value"))
    assert first != pytest.approx(systems[0].applications[0].dcf, abs=0.01)
    assert other == systems[1].applications[0].dcf
    assert "first at your threshold finds" in shown("verdict")
    assert "other with the Bayes threshold finds" in shown("verdict")


def test_raw_scores_have_no_cost_beside_decisions_that_are_made(browser, opened, shown):
    scores, labels = normal()
    systems = [
        tc.evaluate(tc.Trials.of_scores(3 * scores, labels, name="raw"), ["sre08"]),
        tc.evaluate(tc.Trials.of_llr(scores, labels, name="used"), ["sre08"]),
        tc.evaluate(tc.Trials.of_llr(2 * scores, labels, name="worse"), ["sre08"]),
    ]
    opened(systems)
    rows = (
        "return [...document.querySelectorAll('#compare tbody tr')].map(r => [...r.children].map(c => c.textContent))"
    )
    raw = browser.execute_script(rows)[0]
    assert raw[:4] == ["raw", "minimum only", short(systems[0].applications[0].min_dcf), "undefined"]
    assert shown("n-loss") == "undefined"
    assert shown("n-dcf").endswith(" minimum")
    for _ in range(2):  # sorted either way, what decides nothing comes last
        browser.execute_script("document.querySelectorAll('#compare thead button')[1].click()")
        assert browser.execute_script(rows)[2][0] == "raw"


# Verdicts


def static_of(evaluation):
    """What the page says without a script: the setting, the first sentence and the recommendation."""
    document = document_of(evaluation)
    system = document["systems"][0]
    point = verdict.opening(document, [system])
    told = [verdict.setting(point, EN), verdict.sentence(system, point, EN), verdict.advice(system, point, EN, False)]
    return [re.sub("</?(?:b|code)>", "", words).strip() for words in told]


LIVE = "return [...document.querySelectorAll('#verdict p')].slice(0, 3).map(p => p.textContent.trim())"


def test_an_infinite_cost_is_told_in_words(browser, opened, shown):
    trials = tc.Trials.of_llr([np.inf, 1, -1, np.inf, -1.0, -2], [1, 1, 1, 0, 0, 0], name="sure")
    evaluation = tc.evaluate(trials, [(1e-300, 1e-300, 1)])
    assert evaluation.applications[0].dcf == math.inf
    words = "costs infinitely more than deciding without the scores: it does harm here."
    opened(evaluation)
    assert words in shown("verdict")
    assert [shown(f"n-{key}") for key in ("dcf", "loss")] == ["∞", "∞"]
    assert words in static_of(evaluation)[1]


CASES = {
    "useful": (lambda s: s, " less than deciding without the scores ("),
    "harmful": (lambda s: -s, " more than deciding without the scores ("),
    "much harm": (lambda s: -9 * s, " times as much as deciding without the scores ("),
    "nothing": (lambda s: 0 * s, "That costs just as much as deciding without the scores."),
    "unsure": (lambda s: s - 1, "the data cannot tell whether it helps."),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("meaning", ["llr", "posterior", "raw"])
def test_the_verdict_is_the_same_with_and_without_a_script(browser, opened, shown, case, meaning):
    scores, labels = normal(1000 if case != "unsure" else 40)
    made = CASES[case][0](scores)
    trials = tc.Trials.of_scores(made, labels, name="one") if meaning == "raw" else MADE[meaning](made, labels)
    evaluation = tc.evaluate(trials, [(0.1, 2, 1)])
    opened(evaluation)
    if meaning == "llr":
        assert CASES[case][1] in shown("verdict")
    assert browser.execute_script(LIVE) == static_of(evaluation)


def test_calibration_is_blamed_only_where_its_loss_is_above_0_beyond_doubt(opened, shown):
    scores, labels = normal(2000)
    for shift, blamed in ((0.0, False), (3.0, True)):
        trials = tc.Trials.of_llr(2 * scores + shift, labels, name="one")
        evaluation = tc.evaluate(trials, [(0.5, 1, 1)], ci=0.95)
        low = evaluation.to_dict()["applications"][0]["calibration_loss_ci"][0]
        assert (low > 0) == blamed
        opened(evaluation)
        assert ("Poor calibration adds" in shown("verdict")) == blamed
        assert ("tercet calibrate fit" in shown("verdict")) == blamed
        assert ("Poor calibration adds" in static_of(evaluation)[2]) == blamed


@pytest.mark.parametrize("prior", [0.9999, 1 - 1e-6, 1 - 1e-9, 1e-300, 1e-7, 0.3, 0.05, 0.123, 1 / 3, 0.95, 0.007])
def test_how_many_cases_are_targets_is_said_alike(browser, opened, shown, prior):
    scores, labels = normal(300)
    evaluation = tc.evaluate(tc.Trials.of_llr(scores, labels, name="x"), [(prior, 1, 1)])
    opened(evaluation)
    opening = shown("verdict").split(", and a miss")[0]
    assert opening == f"If {EN.share(prior, 'cases')}"
    assert "100 cases in 100" not in opening
    assert len(opening) < 80


def test_an_application_without_a_cost_to_compare_with_is_told_at_the_top(browser, opened, shown):
    scores, labels = normal(300)
    opened(tc.evaluate(tc.Trials.of_llr(scores, labels, name="x"), [(0.3, 0, 1)]))
    assert "At 0.3, 0 : 1 (prior, costs) deciding without the scores costs nothing" in shown("verdict")
    assert "The page opens at the share of targets in these data" in shown("verdict")


# Entries


REFUSED = [("prior-box", "100"), ("prior-box", "150"), ("prior-box", "0"), ("prior-box", "-1"), ("cost-fn-box", "0"),
           ("cost-fp-box", "-3"), ("cost-fp-box", "1e999")]  # fmt: skip


@pytest.mark.parametrize(("box", "text"), REFUSED)
def test_a_refused_entry_says_why_and_the_view_stays_as_it_was(browser, opened, shown, type_over, box, text):
    from selenium.webdriver import Keys

    scores, labels = normal(300)
    opened(tc.evaluate(tc.Trials.of_llr(scores, labels, name="x"), [(0.1, 10, 1)]))
    state = "return [document.getElementById('verdict').textContent, document.getElementById('n-dcf').dataset.value]"

    def typed():
        return float(browser.execute_script("return document.getElementById(arguments[0]).value", box))

    before, stood = browser.execute_script(state), typed()
    node = type_over(box, text)
    assert browser.execute_script(state) == before
    assert node.get_attribute("aria-invalid") == "true"
    told = shown(node.get_attribute("aria-describedby"))
    assert "is not accepted: a " in told
    assert f"{stood:g} is kept" in told
    node.send_keys(Keys.TAB)
    assert typed() == stood
    assert node.get_attribute("aria-invalid") is None
    type_over(box, "5")
    assert browser.execute_script(state) != before
    assert shown(f"{box}-told") == ""


def test_a_typed_per_cent_is_the_double_nearest_to_its_hundredth(browser, opened, shown, type_over):
    scores, labels = normal(300)
    evaluation = tc.evaluate(tc.Trials.of_llr(scores, labels, name="x"), [(0.5, 1, 1), (0.007, 1, 1)])
    opened(evaluation)
    type_over("prior-box", "0.7")
    assert float(shown("n-dcf", "value")) == evaluation.applications[1].dcf
    assert shown("points", "value") is None
    assert browser.execute_script("return document.getElementById('points').selectedIndex") == 2
    for text, prior in (("70e-2", 0.007), ("7e-1", 0.007), (".7", 0.007), ("50", 0.5)):
        type_over("prior-box", text)
        assert f"p={prior}&" in browser.execute_async_script("setTimeout(() => arguments[0](location.hash), 300)")


def test_an_address_without_keys_shows_the_start(browser, opened, shown):
    scores, labels = normal(300)
    opened(tc.evaluate(tc.Trials.of_llr(scores, labels, name="x"), [(0.1, 10, 1)]))
    start = shown("verdict")
    go = "location.hash = arguments[0]; window.dispatchEvent(new HashChangeEvent('hashchange'))"
    browser.execute_script(go, "p=0.4&fn=3&r=min")
    assert shown("verdict") != start
    browser.execute_script(go, "")
    assert shown("verdict") == start


# Certainty


@pytest.mark.parametrize("rate", [0.9995, 0.99988, 0.9999, 0.999999, 1 - 1e-12, 1 - 2**-53, 1e-9, 0.0, 1.0])
def test_only_a_certainty_is_called_one(browser, opened, shown, rate):
    scores, labels = normal(300)
    evaluation = tc.evaluate(tc.Trials.of_llr(scores, labels, name="x"), [(0.5, 1, 1)])
    if 0 < rate < 1:
        opened(evaluation, f"#p={rate!r}&r=manual&t=-99")
        assert shown("n-effective") not in ("100 %", "0 %")
        assert shown("n-ppv") not in ("100 %", "0 %")
    assert (percent(rate) == "100 %") == (rate == 1.0)
    assert (percent(rate) == "0 %") == (rate == 0.0)


def test_weights_are_called_weights_and_are_no_counts(browser, opened, shown):
    scores, labels = normal()
    for weight in (0.05, 1000.0):
        evaluation = tc.evaluate(tc.Trials.of_llr(scores, labels, weights=np.full(1000, weight), name="x"), ["sre08"])
        opened(evaluation)
        assert "Counted in the data" not in shown("few")
        assert "sums of weights" in shown("few")
        assert shown("k-miss").startswith("weight ")
        body = browser.execute_script("return document.querySelector('main').textContent + document.title")
        assert "fewer than 30 errors a rate" not in body
        assert "weighted trials" in browser.execute_script("return document.querySelector('header').textContent")
        assert "fewer than 30" not in browser.execute_script("return document.querySelector('main').innerText")
    odd = tc.evaluate(tc.Trials.of_llr(scores, labels, weights=np.random.default_rng(1).random(1000)), ["sre08"])
    assert len(evidence.sizes_of(odd.to_dict(), EN)) < 80


def test_few_errors_are_counted_in_good_grammar(browser, opened, shown):
    opened(tc.evaluate(tc.Trials.of_llr([2.0, 1, -1, 1, -1, -2], [1, 1, 1, 0, 0, 0]), [(0.5, 1, 1)]))
    assert shown("few").startswith("Counted in the data: 1 miss and 1 false alarm.")
    assert "only 1 miss and 1 false alarm at" in browser.execute_script("return document.body.textContent")
    assert browser.title == "1 system evaluated"


@pytest.mark.parametrize("definition", ["rocch", "nearest", "interpolated"])
def test_the_definition_of_the_eer_that_was_used_is_named(opened, shown, definition):
    scores, labels = normal(300)
    opened(tc.evaluate(tc.Trials.of_llr(scores, labels), ["sre08"], eer=definition))
    assert f"({definition})" in shown("g-eer")
    assert ("convex hull" in shown("g-eer")) == (definition == "rocch")


def test_equal_costs_take_the_lowest_threshold_as_the_api_does(opened, shown):
    scores, labels = normal()
    trials = tc.Trials.of_llr(np.round(scores, 1), labels)
    for hundredth in range(2, 99, 7):
        point = (hundredth / 100, 1.0, 1.0)
        evaluation = tc.evaluate(trials, [(0.5, 3, 1)])
        least = evaluation.curve.min_dcf(point)
        opened(evaluation, f"#p={point[0]!r}&fn=1&fp=1&r=min")
        assert float(shown("n-threshold", "value").replace("Infinity", "inf")) == least.threshold
        assert [float(shown(name, "value")) for name in ("k-miss", "k-alarm")] == [least.misses, least.false_alarms]


def test_the_chosen_system_is_drawn_on_top_and_words_keep_off_the_cursor(browser, opened):
    scores, labels = normal()
    systems = [tc.evaluate(tc.Trials.of_llr(scores, labels, name=name), ["sre08"]) for name in ("a", "b")]
    for chosen in (0, 1):
        opened(systems, f"#s={chosen}&p=0.5&fn=1&fp=1")
        classes = browser.execute_script(
            "return ['#f-bayes path.curve[clip-path]', '#f-curve g.lines path.curve']"
            "  .map(path => [...document.querySelectorAll(path)].at(-1).getAttribute('class'))"
        )
        assert all(f"c{chosen}" in words.split() for words in classes)
    for prior in (0.002, 0.3, 0.5, 0.7, 0.99):
        opened(systems, f"#p={prior}&fn=1&fp=1")
        clear = browser.execute_script(
            "const texts = [...document.querySelectorAll('#f-bayes text')], box = n => n.getBoundingClientRect();"
            "const find = end => box(texts.find(n => n.textContent.endsWith(end)));"
            "const [actual, minimum] = ['actual', 'minimum'].map(find);"
            "const line = box(document.querySelector('#f-bayes path.here')).left;"
            "const beside = (a, b) => a.right < b.left || b.right < a.left;"
            "const apart = (a, b) => beside(a, b) || a.bottom <= b.top + 2 || b.bottom <= a.top + 2;"
            "return [apart(actual, minimum), ...[actual, minimum].map(one => one.right < line || one.left > line)]"
        )
        assert clear == [True, True, True], prior


def test_what_is_inside_the_file_is_told(opened, shown):
    scores, labels = normal()
    opened(tc.evaluate(tc.Trials.of_llr(scores, labels), ["sre08"]))
    assert "every score with the counts of its class" in shown("origin")
    more = tc.evaluate(tc.Trials.of_llr(*normal(6000)), ["sre08"])
    opened(more)
    assert "at some of the scores" in shown("origin")
    assert "every score" not in shown("origin")
