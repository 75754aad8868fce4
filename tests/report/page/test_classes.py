"""Several classes in a real browser: edited priors and costs against Python's decisions."""

import json
import math

import numpy as np
import pytest

import tercet as tc
from tercet.report import report
from tercet.report.packing import kept_rows
from tercet.report.page import document_of

READ = """
window.requestAnimationFrame = draw => draw();
return arguments[0].map(words => {
  location.hash = words; window.dispatchEvent(new HashChangeEvent("hashchange"));
  const task = document.querySelector(".task"), told = task.querySelector(".told").dataset;
  const rows = [...task.querySelectorAll(".heat tbody tr")];
  return {matrix: rows.map(row => [...row.querySelectorAll("td")].map(cell => Number(cell.dataset.value))), ...told};
});
"""


def trials_of(count, classes=3, seed=0, **more):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, count)
    scores = rng.normal(size=(count, classes)) * 1.5 + 1.5 * np.eye(classes)[labels]
    scores[: count // 5] = np.round(scores[: count // 5])  # some classes tie
    scores[count // 5 : count // 4] = 0.0  # all of them
    scores[-5:, 0] = -np.inf
    scores[-2:, 1] = -np.inf
    names = np.array([f"class {code}" for code in range(classes)])
    return tc.Trials.of_log_likelihoods(scores, names[labels], name="several", classes=names.tolist(), **more)


def random_tasks(count, width, height, seed):
    """Priors and cost matrices: smooth ones, whole numbers where expected costs tie, and equal priors."""
    rng = np.random.default_rng(seed)
    for place in range(count):
        prior = (
            np.full(width, 1 / width) if place % 5 == 0 else rng.dirichlet(np.full(width, 0.7)) * 0.98 + 0.02 / width
        )
        costs = (
            rng.exponential(size=(height, width)) if place % 2 else rng.integers(0, 4, (height, width)).astype(float)
        )
        if height == width and place % 3:
            np.fill_diagonal(costs, 0.0)
        if place % 7 == 0 and height == width:
            costs = float(rng.integers(1, 9)) * (1.0 - np.eye(width))
        costs[0, -1] += not costs.any()
        yield prior / math.fsum(prior), costs


def hashed(prior, costs, choice=0):
    return f"m0={choice}~{','.join(map(repr, prior.tolist()))}~{','.join(map(repr, costs.ravel().tolist()))}"


def shown_at(browser, url, tasks):
    """What the page shows for each task; a browser takes only so many addresses at a time."""
    found = []
    for start in range(0, len(tasks), 100):
        browser.get("about:blank")
        browser.get(url)
        found += browser.execute_script(READ, [hashed(*task) for task in tasks[start : start + 100]])
    return found


def written(trials, apps, path, **more):
    evaluation = tc.evaluate(trials, apps)
    report(evaluation, path, "Several classes", posteriors=trials, **more)
    return f"file://{path}"


CASES = {
    "three classes": lambda: (trials_of(600), None),
    "seven classes": lambda: (trials_of(500, 7, seed=1), None),
    "with an action that is no class": lambda: (trials_of(400, 4, seed=2), [*trials_of(400, 4).classes, "ask"]),
    "weighted": lambda: (trials_of(300, seed=3, weights=np.arange(300) % 7 + 1), None),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_edited_priors_and_costs_give_pythons_confusion_matrix_and_risk(browser, tmp_path, case):
    trials, actions = CASES[case]()
    width = len(trials.classes)
    height = width if actions is None else len(actions)
    first = tc.Application.multiclass(
        [1 / width] * width, 1.0 - np.eye(height, width), classes=trials.classes, actions=actions
    )
    tasks = list(random_tasks(250, width, height, 5))
    url = written(trials, [first], tmp_path / "page.html")
    for (prior, costs), shown in zip(tasks, shown_at(browser, url, tasks), strict=True):
        app = tc.Application.multiclass(prior, costs, classes=trials.classes, actions=actions)
        table = tc.confusion_of(trials, app)
        assert shown["matrix"] == table.matrix, (prior, costs)
        assert float(shown["risk"]) == pytest.approx(table.risk(app), rel=1e-12)
        assert float(shown["blind"]) == pytest.approx(app.dummy_cost, rel=1e-12)
        assert shown["action"] == app.renamed(trials.classes).dummy_action
        if app.dummy_cost > 0:
            assert float(shown["dcf"]) == pytest.approx(table.normalised_risk(app), rel=1e-12)
        else:
            assert shown["dcf"] == "null"


def test_costs_that_underflow_are_compared_in_logs(browser, tmp_path):
    scores = [[0.0, -800.0, -790.0], [0.0, -750.0, -760.0], [0.0, -np.inf, -900.0], [-700.0, 0.0, -720.0]]
    trials = tc.Trials.of_log_likelihoods(scores, [0, 1, 2, 1])
    app = tc.Application.multiclass([0.2, 0.3, 0.5])
    free = np.array([[0.0, 1.0, 3.0], [0.0, 2.0, 1.0], [1.0, 0.0, 5.0]])  # deciding 0 or 1 is right for class 0
    browser.get(written(trials, [app], tmp_path / "page.html"))
    shown = browser.execute_script(READ, [hashed(app.prior, free)])[0]
    assert shown["matrix"] == tc.confusion_of(trials, tc.Application.multiclass(app.prior, free)).matrix


def test_a_drawn_few_stand_for_their_classes_and_say_so(browser, tmp_path):
    trials = trials_of(30_000, seed=4)
    app = tc.Application.multiclass([1 / 3] * 3)
    url = written(trials, [app], tmp_path / "page.html")
    assert (tmp_path / "page.html").stat().st_size <= 250_000
    tasks = list(random_tasks(60, 3, 3, 6))
    kept = kept_rows(trials)
    assert kept["kept"] == 2000
    few = tc.Trials.of_log_likelihoods(
        [[float(v) for v in row] for row in kept["log_likelihoods"]], kept["labels"], weights=kept["weights"]
    )
    for (prior, costs), shown in zip(tasks, shown_at(browser, url, tasks), strict=True):
        one = tc.Application.multiclass(prior, costs)
        np.testing.assert_allclose(shown["matrix"], tc.confusion_of(few, one).matrix, rtol=1e-9)
        assert np.sum(shown["matrix"]) == pytest.approx(30_000, rel=1e-12)
        assert float(shown["risk"]) == pytest.approx(tc.confusion_of(trials, one).risk(one), abs=0.12 * costs.max())
    words = browser.execute_script(
        "return [document.querySelector('.kept').textContent, document.querySelector('.told').textContent]"
    )
    assert "2,000 of 30,000 rows" in words[0]
    assert "approximate" in words[0]
    assert "costs about" in words[1]
    # The applications that were evaluated show the exact numbers of all rows.
    start = browser.execute_script(READ, ["m0=0~" + ",".join(["0.3333333333333333"] * 3) + "~0,1,1,1,0,1,1,1,0"])[0]
    assert start["matrix"] == tc.confusion_of(trials, app).matrix


def test_hands_edit_priors_and_costs_and_a_reload_keeps_them(browser, tmp_path, type_over):
    from selenium.webdriver.common.by import By

    trials = trials_of(600)
    url = written(trials, [tc.Application.multiclass([1 / 3] * 3, classes=trials.classes)], tmp_path / "page.html")
    browser.get(url)
    browser.execute_script("window.requestAnimationFrame = draw => draw()")
    type_over("prior of class 1 in per cent", "50")
    type_over("cost of deciding class 0 when class 2 is true", "7")
    told = browser.find_element(By.CSS_SELECTOR, ".told")
    prior = [float(p) for p in told.get_attribute("data-prior").split(",")]
    assert prior == pytest.approx([0.25, 0.5, 0.25], rel=1e-12)
    app = tc.Application.multiclass(prior, [[0, 1, 7], [1, 0, 1], [1, 1, 0]], classes=trials.classes)
    assert float(told.get_attribute("data-risk")) == pytest.approx(tc.confusion_of(trials, app).risk(app), rel=1e-12)
    browser.execute_async_script("setTimeout(arguments[0], 500)")
    link, risk = browser.current_url, told.get_attribute("data-risk")
    assert "announce" in browser.page_source
    assert "costs" in browser.execute_script("return document.getElementById('announce').textContent")
    browser.get("about:blank")
    browser.get(link)
    assert browser.find_element(By.CSS_SELECTOR, ".told").get_attribute("data-risk") == risk
    # What the address says is taken only if it is a sound task.
    for bad in (
        "0~0.5,0.5~0,1,1,0",
        "0~0.5,0.4,0.3~0,1,1,1,0,1,1,1,0",
        "0~0.4,0.3,0.3~0,0,0,0,0,0,0,0,0",
        "9~1~1",
        "x",
    ):
        browser.get("about:blank")
        browser.get(f"{url}#m0={bad}")
        assert browser.find_element(By.CSS_SELECTOR, ".told").get_attribute("data-prior").startswith("0.333")


def test_a_refused_prior_or_cost_says_why_and_changes_nothing(browser, tmp_path, type_over):
    from selenium.webdriver import Keys

    trials = trials_of(200)
    browser.get(written(trials, [tc.Application.multiclass([1 / 3] * 3, classes=trials.classes)], tmp_path / "a.html"))
    browser.execute_script("window.requestAnimationFrame = draw => draw()")
    state = "const d = document.querySelector('.told').dataset; return [d.prior, d.risk]"
    before = browser.execute_script(state)
    for box, text in (("prior of class 1 in per cent", "150"), ("cost of deciding class 0 when class 2 is true", "-2")):
        node = type_over(box, text)
        stood = browser.execute_script("return document.getElementById('several-told-0').textContent")
        assert "is not accepted: a " in stood
        assert node.get_attribute("aria-invalid") == "true"
        node.send_keys(Keys.TAB)
        assert node.get_property("value") in ("33.333", "1")
        assert browser.execute_script(state) == before
    type_over("prior of class 1 in per cent", "50")
    assert browser.execute_script(state) != before
    browser.execute_script("location.hash = ''; window.dispatchEvent(new HashChangeEvent('hashchange'))")
    assert browser.execute_script(state) == before


def test_the_saved_json_holds_the_rows_and_the_classes_against_the_rest(browser, tmp_path):
    trials = trials_of(80)
    app = tc.Application.multiclass([1 / 3] * 3, classes=trials.classes)
    evaluation = tc.evaluate(trials, [app], one_vs_rest=True)
    report(evaluation, tmp_path / "page.html", posteriors={"several": trials})
    browser.get(f"file://{tmp_path / 'page.html'}")
    saved = browser.execute_async_script(
        "const done = arguments[0]; URL.createObjectURL = blob => { blob.text().then(done); return '#'; };"
        "HTMLAnchorElement.prototype.click = () => {}; document.getElementById('save-json').click();"
    )
    assert json.loads(saved) == json.loads(json.dumps(document_of(evaluation, trials)))
