"""What a notebook shows of each object: a sentence, a table, a picture; well formed, without script, names escaped."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

import tercet as tc
from tercet.calibration.beta import Beta, Offset
from tercet.calibration.kernel_density import KernelDensity
from tercet.report.cards import calibration_line

BAD = '<script>alert(1)</script> " & \u202e'
RNG = np.random.default_rng(0)
LABELS = np.arange(300) % 3 == 0
SCORES = RNG.normal(size=300) + 2.0 * LABELS
TRIALS = tc.Trials.of_llr(SCORES, LABELS, name=BAD, groups={BAD: LABELS}, weights=np.ones(300))
OTHER = tc.Trials.of_llr(SCORES + RNG.normal(size=300), LABELS, name="other")
ROWS = tc.Trials.of_log_likelihoods(RNG.normal(size=(60, 3)), np.array(["a", BAD, "c"] * 20), classes=["a", BAD, "c"])
THREE = tc.Application.multiclass([0.2, 0.3, 0.5], classes=["a", BAD, "c"])


def made():
    two = tc.evaluate(TRIALS, [(0.1, 1, 1), "sre08"], ci=0.9)
    several = tc.evaluate(ROWS, [THREE])
    raw = tc.evaluate(tc.Trials.of_scores(SCORES, LABELS), [(0.5, 1, 1)])
    return {
        "trials": TRIALS, "rows": ROWS, "raw trials": tc.Trials.of_scores([1.0]),
        "one score": tc.Trials.of_llr([1.0, 1.0], [0, 1]), "infinite": tc.Trials.of_llr([np.inf, -np.inf], [1, 0]),
        "application": tc.Application(0.01, 50, 1, name=BAD), "free": tc.Application(0.5, 1, 0), "classes": THREE,
        "confusion": tc.Confusion([[3, 1], [2, 9]], classes=[BAD, "other"]),
        "large confusion": tc.Confusion(np.eye(40)), "result": two.applications[0], "raw result": raw.applications[0],
        "class result": several.applications[0], "evaluation": two, "several": several, "raw": raw,
        "bare": tc.evaluate(TRIALS), "intervals": two.intervals, "comparison": tc.compare(TRIALS, OTHER),
        "logistic": tc.Logistic.fit(TRIALS), "isotonic": tc.Isotonic.fit(TRIALS),
        "raw isotonic": tc.Isotonic.fit(TRIALS, raw=True), "gaussian": tc.Gaussian.fit(TRIALS),
        "kernel": KernelDensity.fit(TRIALS), "offset": Offset.fit(TRIALS), "threshold": tc.Threshold.fit(TRIALS, 0.1),
        "fusion": tc.Fusion.fit([TRIALS, OTHER]), "affine": tc.Affine.fit(ROWS, kind="scale"),
        "decision curve": tc.decision_curve(TRIALS), "rule": tc.Rule.fit(TRIALS, fpr_at_most=0.1, confidence=0.9),
    }  # fmt: skip


MADE = made()


@pytest.mark.parametrize("name", MADE)
def test_a_card_is_well_formed_has_no_script_and_escapes_every_name(name):
    html = MADE[name]._repr_html_()
    tree = ElementTree.fromstring(html.replace("<br>", "<br/>"))
    assert {element.tag for element in tree.iter()} <= {
        "div", "p", "b", "small", "br", "table", "tr", "th", "td", "svg", "path", "polyline", "rect", "circle", "text",
    }  # fmt: skip
    assert "nan" not in html.split("style=")[-1]
    assert len(html) < 30_000
    assert "\u202e" not in html
    for element in tree.iter("polyline"):
        places = [tuple(map(float, point.split(","))) for point in element.get("points").split()]
        assert all(-1 <= x <= 221 and -1 <= y <= 97 for x, y in places)


@pytest.mark.parametrize("name", ["evaluation", "trials", "comparison", "intervals", "logistic", "decision curve"])
def test_a_card_has_a_sentence_a_table_and_a_picture(name):
    html = MADE[name]._repr_html_()
    assert "<p" in html
    assert "<table" in html
    assert "<svg" in html
    assert "currentColor" in html or "#" in html


def test_the_cards_of_evaluations_say_what_the_decisions_cost():
    html = MADE["evaluation"]._repr_html_()
    row = MADE["evaluation"].applications[0]
    assert "deciding without the scores" in html
    assert f"{row.dcf:.3f}" in html


def test_a_rules_card_says_what_is_accepted_and_promised_and_a_class_results_names_the_classes():
    html = MADE["rule"]._repr_html_()
    assert f"Accept the scores above {MADE['rule'].threshold:.3g}: FPR at most 0.1 with 90 % confidence" in html
    assert "polyline" not in html
    assert ">a 0.2<" in MADE["class result"]._repr_html_()


@pytest.mark.parametrize("name", ["logistic", "isotonic", "gaussian", "kernel", "offset"])
def test_a_calibrators_line_is_its_map(name):
    grid, llrs = calibration_line(MADE[name])
    assert llrs.tolist() == np.asarray(MADE[name](grid)).tolist()
    assert grid[0] < grid[-1]


def test_beta_maps_are_drawn_between_zero_and_one():
    chance = 1 / (1 + np.exp(-SCORES))
    model = Beta.fit(tc.Trials.of_posteriors(chance, LABELS, trained_prior=0.5))
    grid, _ = calibration_line(model)
    assert 0.0 < grid[0] < grid[-1] < 1.0
    assert "<svg" in model._repr_html_()


def test_an_evaluation_is_plotted_and_shown_as_a_page(tmp_path):
    found = MADE["evaluation"]
    assert found.plot("roc").ax_.get_ylabel() == "True positive rate"
    page = found.page(height=500)
    assert 'height="500"' in page._repr_html_()
    assert page._repr_html_().startswith("<div><iframe srcdoc=")
    assert page.save(tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!")
    assert ".save(path)" in repr(page)
    with pytest.raises(tc.InputError, match="height"):
        found.page(height="high")
