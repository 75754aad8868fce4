"""The page as a text: its parts, what is escaped, and how it is written."""

import base64
import hashlib
import html.parser
import json
import os
import re

import numpy as np
import pytest

import tercet as tc
from tercet.errors import InputError
from tercet.report import evidence, markup, report, sections
from tercet.report.language import Words
from tercet.report.page import document_of, iframe, page

EN = Words("en")

HOSTILE = "</script><img src=x onerror=alert(1)>&\u2028\u2029\u202e{{data}}\"'"


def evaluation(name="a system", seed=0, count=400):
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 2 == 0
    trials = tc.Trials.of_llr(rng.normal(size=count) * 2 + np.where(labels, 2, -2), labels, name=name)
    return tc.evaluate(trials, ["sre08", (0.5, 1, 1), (0.5, 0, 1)])


def several(name="three classes"):
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 3, 200)
    scores = rng.normal(size=(200, 3)) + 2 * np.eye(3)[labels]
    trials = tc.Trials.of_log_likelihoods(scores, labels, name=name)
    ordinal = tc.Application.multiclass([0.2, 0.3, 0.5], "ordinal")
    return tc.evaluate(trials, [tc.Application.multiclass([1 / 3] * 3), ordinal])


class Skeleton(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found, self.texts = [], []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, tuple(sorted(name for name, _ in attrs))))

    def handle_data(self, data):
        self.texts.append(data)


def test_the_policy_names_the_inline_parts_by_their_hashes_and_nothing_else():
    text = page(document_of(evaluation()))
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    for part, directive in (("style", "style-src"), ("script", "script-src")):
        inline = re.search(rf"<{part}>(.*?)</{part}>", text, re.S)[1]
        digest = base64.b64encode(hashlib.sha256(inline.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")
    assert not re.search(r"unsafe|https?:|\*", policy)


def test_nothing_in_the_page_names_another_address():
    text = page(document_of([evaluation(), several()]))
    assert set(re.findall(r"https?://[^\s\"'<]*", text)) == {"http://www.w3.org/2000/svg"}  # a name, not an address
    assert not re.search(r"<(link|script|img|iframe)[^>]*(src|href)=\"(?!data:)", text)


def test_a_hostile_name_is_text_everywhere():
    calm, wild = (page(document_of([evaluation(n), several(n)]), n) for n in ("a name", HOSTILE))
    assert Skeleton(wild).found == Skeleton(calm).found
    data = re.search(r'id="data">(.*?)</script>', wild, re.S)[1]
    assert not re.search("[<>&\u2028\u2029]", data)
    assert json.loads(data)["systems"][0]["name"] == HOSTILE


def test_every_term_that_is_linked_is_explained():
    text = page(document_of(evaluation()))
    linked = set(re.findall(r'href="#g-(\w+)"', text))
    assert linked
    assert linked <= set(re.findall(r'id="g-(\w+)"', text))


def test_a_saved_result_makes_the_same_page():
    document = document_of([evaluation(), several()])
    again = json.loads(json.dumps(document, allow_nan=False))
    undated = [re.sub(r"on \d{4}-\d\d-\d\d \d\d:\d\d UTC", "", page(one)) for one in (document, again)]
    assert undated[0] == undated[1]


def test_the_static_page_says_the_verdict_and_shows_several_classes():
    words = " ".join(Skeleton(page(document_of([evaluation(), several()]))).texts)
    assert "If 1 case in 100 is a target, and a miss costs 10 times a false alarm:" in re.sub(r"\s+", " ", words)
    assert "In 100,000 cases with 1,000 targets" in words
    assert "rows: decision, columns: true class" in words
    assert "part of the risk" in words


def test_a_class_against_the_rest_is_a_system_of_its_own():
    document = document_of(several())
    document["systems"][0]["versus"] = [evaluation("one against the rest").to_dict()]
    assert "one against the rest" in page(document)
    assert "three classes: one against the rest" not in page(document)
    two = {**document, "systems": document["systems"] * 2}
    assert "three classes: one against the rest" in page(two)


def test_a_class_against_the_rest_is_not_counted_as_a_system():
    document = document_of(several())
    document["systems"][0]["versus"] = [evaluation("one against the rest").to_dict()] * 3
    found = Skeleton(page(document)).texts
    assert "three classes" in found
    assert not any("systems" in text for text in found[: found.index("Systems compared")] if "{" not in text)


def test_what_looks_wrong_is_told():
    labels = np.arange(100) % 2 == 0
    flipped = tc.evaluate(tc.Trials.of_llr(np.where(labels, -3.0, 3.0), labels), [(0.5, 1, 1)]).to_dict()
    told = " ".join(evidence.warnings(flipped, EN))
    assert "flipped" in told
    assert "Cllr above 1" in told
    assert "tied" in told
    endless = tc.evaluate(tc.Trials.of_llr([np.inf, 1.0, -1.0, -np.inf], [1, 0, 1, 0]), [(0.5, 1, 1)]).to_dict()
    assert "infinite" in " ".join(evidence.warnings(endless, EN))
    assert "fewer than 30 errors" in " ".join(evidence.warnings(evaluation().to_dict(), EN))


def test_the_page_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    assert report(evaluation(), path) == path
    before = path.read_bytes()

    def broken(*_):
        raise OSError("the disk is full")

    monkeypatch.setattr(os, "fsync", broken)
    with pytest.raises(InputError, match="full"):
        report(evaluation(seed=1), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]


def test_a_report_of_nothing_is_refused(tmp_path):
    with pytest.raises(tc.InputError, match="at least one"):
        report([], tmp_path / "page.html")


def test_a_notebook_gets_a_frame_that_holds_the_whole_page():
    frame = Skeleton(iframe(evaluation(HOSTILE)))
    assert frame.found == [("div", ()), ("iframe", ("frameborder", "height", "sandbox", "srcdoc", "width"))]


@pytest.mark.parametrize(
    "trials",
    [
        tc.Trials.of_llr([np.inf, -np.inf, np.inf, -np.inf], [1, 1, 0, 0]),
        tc.Trials.of_scores([2.0, 1.0, -0.5], [1, 0, 0]),
        tc.Trials.of_lr([0.0, 1.0, np.inf], [1, 0, 0], weights=[0.5, 0.25, 3]),
        tc.Trials.of_llr([5.0, 5.0], [1, 0]),
        tc.Trials.of_llr([1e308, -1e308], [1, 0]),
        tc.Trials.of_llr([1.0, 2.0, 3.0, 0.5], [1, 0, 1, 0], weights=[1e300, 1e-300, 1.0, 1e-5]),
    ],
)
def test_odd_trials_have_a_page_too(trials):
    assert "</html>" in page(document_of(tc.evaluate(trials, [(0.5, 1, 1), (0.5, 0, 1), (1e-300, 1, 1)])))
    assert "</html>" in page(document_of(tc.evaluate(trials)))


# Intervals


def with_ends(name, seed, applications=("sre08", (0.5, 1, 1))):
    rng = np.random.default_rng(seed)
    labels = np.arange(900) % 3 == 0
    trials = tc.Trials.of_llr(rng.normal(size=900) * 2 + np.where(labels, 1.5, -1.5), labels, name=name)
    return tc.evaluate(trials, list(applications), ci=0.95).to_dict()


def test_intervals_stand_below_their_numbers():
    systems = [with_ends("one", 1), with_ends("two", 2)]
    text = sections.comparison(systems, EN)
    assert text.count("<small>") == 8  # EER, AUC, Cllr and min Cllr of two systems
    assert "95 % intervals" in text
    low, high = systems[0]["auc_ci"]
    assert f"<small>{EN.number(low)} to {EN.number(high)}</small>" in text
    assert sections.applications([systems[0]], EN).count("<small>") == 10  # five numbers of two operating points


def test_without_intervals_asked_for_the_tables_have_none():
    systems = [evaluation().to_dict(), evaluation("b", 1).to_dict()]
    assert "<small>" not in sections.comparison(systems, EN) + sections.applications(systems, EN)


def test_bands_are_drawn_where_the_result_holds_them():
    system = with_ends("one", 1)
    assert markup.roc_drawing([system], EN).count('class="band') == 0
    assert markup.bayes_drawing([system], EN).count('class="band') == 1
    rates = [0.0, 0.1, 0.5, 1.0]
    system["bands"] = {"level": 0.95, "roc": {"fpr": rates, "fnr": [0.9, 0.4, 0.1, 0.0], "low": [0.8, 0.3, 0.0, 0.0],
                                              "high": [1.0, 0.5, 0.2, 0.0]}}  # fmt: skip
    assert markup.roc_drawing([system], EN).count('class="band') == 1
    assert "</html>" in page({"schema_version": 1, "systems": [system]})


def test_systems_of_several_classes_are_compared_too():
    words = Skeleton(page(document_of([several("one"), several("two")]))).texts
    assert "Systems of several classes compared" in words
    assert "Systems of several classes compared" not in Skeleton(page(document_of(several()))).texts


@pytest.mark.parametrize(
    "key", ["curve", "auc", "cllr", "min_cllr", "bayes_plot", "histogram", "confusion", "fnr", "fpr", "dcf_u"]
)
def test_what_an_older_result_lacks_is_said_and_the_rest_is_shown(key):
    labels = np.arange(400) % 4 == 0
    scores = np.random.default_rng(0).normal(size=400) + 2 * labels
    document = document_of(tc.evaluate(tc.Trials.of_llr(scores, labels, name="old"), [(0.1, 2, 1)], ci=0.95))
    (whole,) = document["systems"]
    part = {name: one for name, one in whole.items() if name != key}
    part["applications"] = [
        {name: one for name, one in app.items() if name != key} for app in whole["applications"]
    ]  # fmt: skip
    made = page({**document, "systems": [part]})
    assert f"not in the result: {key}. What needs it" in made
    answer = [re.search(r'id="verdict".*?</section>', one, re.DOTALL)[0] for one in (page(document), made)]
    if key == "curve":  # a sentence for the operating point evaluated is left
        assert "In 100,000 cases with 10,000 targets" in answer[1]
    else:
        assert answer[0] == answer[1]


def test_several_classes_without_names_of_decisions_are_decided_by_their_own():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 60)
    trials = tc.Trials.of_log_likelihoods(rng.normal(size=(60, 3)) + 2 * np.eye(3)[labels], labels)
    document = document_of(tc.evaluate(trials, [tc.Application.multiclass([1 / 3] * 3)]), posteriors=trials)
    (system,) = document["systems"]
    for app in system["applications"]:
        del app["actions"], app["contributions"]
    for key in ("weights", "kept", "of", "seed"):
        del system["posteriors"][key]
    assert "not in the result: actions, contributions." in page(document)


def test_results_by_condition_are_a_table_with_what_has_no_result_and_why():
    app = {"prior": 0.01, "cost_fn": 10.0, "cost_fp": 1.0, "dcf": 0.4, "min_dcf": 0.3, "dcf_ci": [0.3, 0.5],
           "warnings": ["3 misses, fewer than 30: unreliable"]}  # fmt: skip
    facts = {"meaning": "llr", "input": {"trials": 30, "targets": 10, "nontargets": 20}, "eer": {"value": 0.1},
             "eer_ci": [0.05, None], "applications": [app]}  # fmt: skip
    lonely = {"value": "Turin", "input": {"trials": 5, "targets": 0, "nontargets": 5}, "applications": [],
              "reasons": {"applications": "there are no targets"}}  # fmt: skip
    one = {"column": "site", "system": "a system", "rows": [{**facts, "value": HOSTILE}, lonely], "pooled": facts,
           "equalised": None}  # fmt: skip
    text = page({**document_of(evaluation()), "conditions": [one]})
    words = Skeleton(text).texts
    assert "a system by site" in words
    assert "DCF at 0.01, 10\u00a0:\u00a01" in words
    assert "Turin: there are no targets" in words
    assert "all together" in words
    assert "each condition equally" not in words
    assert "0.300 to 0.500" in words or "0.3 to 0.5" in words
    assert "* 0.4" in words
    assert "* unreliable: fewer than 30 misses or false alarms" in words
    assert "<img" not in text
    assert json.loads(re.search(r'id="data">(.*?)</script>', text, re.S)[1])["conditions"] == [one]
    classes = {"meaning": "log-likelihoods", "input": {"trials": 9, "classes": {"a": 4, "b": 5}}, "accuracy": 0.5,
               "applications": [{"priors": [0.5, 0.5], "risk": 0.2, "dcf": 0.4}]}  # fmt: skip
    split = {
        "column": "site",
        "system": "K",
        "rows": [{**classes, "value": "x"}],
        "pooled": classes,
        "equalised": classes,
    }
    assert "DCF at 0.5, 0.5" in Skeleton(page({**document_of(several()), "conditions": [split]})).texts


def test_an_interval_without_an_end_is_none_and_notes_on_intervals_are_told():
    system = with_ends("one", 1)
    system["auc_ci"] = [0.5, None]
    system["bayes_plot"]["dcf_ci"][0][3] = None
    system["intervals"]["notes"] = ["only 9 groups in 'speaker': the intervals are too narrow"]
    text = page({"schema_version": 1, "systems": [system]})
    assert "only 9 groups" in " ".join(Skeleton(text).texts)
    assert sections.comparison([system], EN).count("<small>") == 3


def test_the_static_bayes_plot_leaves_through_the_frame_where_the_cost_is_above_it():
    labels = np.arange(400) % 2 == 0
    scores = 20.0 * (np.random.default_rng(0).normal(size=400) + np.where(labels, 1, -1))
    system = tc.evaluate(tc.Trials.of_llr(scores, labels)).to_dict()
    assert max(system["bayes_plot"]["dcf"]) > 3.0
    solid = re.findall(r'<path class="curve c0" d="([^"]*)"', markup.bayes_drawing([system], EN))
    heights = [[float(point.split()[1]) for point in path.lstrip("M").split("L")] for path in solid]
    top = min(map(min, heights))
    assert sum(path.count(top) for path in heights) <= 2 * len(heights)  # each stretch touches the frame at its ends


def test_every_word_of_the_static_drawings_lies_inside_its_frame():
    drawings = re.findall(r'<svg viewBox="0 0 420 280".*?</svg>', page(document_of([evaluation(), evaluation("b", 1)])))
    assert len(drawings) == 4
    for drawing in drawings:
        heights = [float(y) for y in re.findall(r'<text[^>]* y="([^"]*)"', drawing)]
        assert min(heights) >= 10.0  # the height of the letters
        assert max(heights) <= 280.0
