"""tc.table and data frames: the same numbers in every format, the best marked, every name escaped."""

import re
import shutil
import subprocess
import sys

import numpy as np
import pytest

import tercet as tc
from tercet.report import tables

FORMATS = ("text", "markdown", "latex", "html", "tsv")
HOSTILE = [r"$\frac{$ & 50 % of a_b ~^#", "<script>", "\x1b[31mred", "x" * 10_000, "\u202eabc", "a|b\tc\nd", "عربي"]
APPS = [(0.01, 10, 1), (0.5, 1, 1)]


def system(separation, name=None, apps=APPS, ci=None, seed=0, meaning="llr"):
    rng = np.random.default_rng(seed)
    labels = rng.random(800) < 0.3
    llr = rng.normal(np.where(labels, separation, -separation), np.sqrt(2 * separation))
    make = tc.Trials.of_llr if meaning == "llr" else tc.Trials.of_scores
    return tc.evaluate(make(llr, labels, name=name), apps, ci=ci)


@pytest.mark.parametrize("format", FORMATS)
def test_every_system_and_every_metric_is_in_the_table(format):
    found = {"good": system(2.5), "poor": system(1.0)}
    printed = tc.table(found, format, metrics=["auc", "min_dcf", "ppv"])
    assert "good" in printed
    for one in found.values():
        for value in one.metrics(["auc", "min_dcf", "ppv"]).values():
            assert (repr(value) if format == "tsv" else f"{value:.3f}") in printed


@pytest.mark.parametrize(("format", "best"), [("text", "{}*"), ("markdown", "**{}**"), ("latex", r"\textbf{{{}}}"),
                                              ("html", "<b>{}</b>")])  # fmt: skip
def test_the_best_of_each_column_is_marked_and_no_other(format, best):
    found = {"good": system(2.5), "poor": system(1.0)}
    printed = tc.table(found, format, metrics=["auc", "cllr"])
    for name in ("auc", "cllr"):
        assert best.format(f"{found['good'].metrics([name])[name]:.3f}") in printed
        assert best.format(f"{found['poor'].metrics([name])[name]:.3f}") not in printed
    assert "*" not in tc.table(found["good"], metrics=["auc"])  # one system has nothing to be compared with


def test_a_tie_by_interval_is_said():
    near = {"a": system(2.0, ci=0.95), "b": system(1.9, ci=0.95), "far": system(0.5, ci=0.95)}
    printed = tc.table(near, metrics=["auc"])
    assert "†: the interval contains the best value" in printed
    rows = {line.split()[0]: line for line in printed.splitlines()}
    marks = {name: ("*" in rows[name], "†" in rows[name]) for name in near}
    assert sorted((marks["a"], marks["b"])) == [(False, True), (True, False)]
    assert marks["far"] == (False, False)


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("format", FORMATS)
def test_any_name_is_shown_as_text(name, format):
    printed = tc.table([system(1.0, name), system(2.0, "other")], format)
    assert "\x1b" not in printed or format == "tsv"
    assert "\u202e" not in printed or format == "tsv"
    assert "<script>" not in printed or format != "html"
    longest = max(map(len, printed.splitlines()))
    assert longest < 1000 or format in ("html", "tsv")
    if format == "tsv":
        assert {line.count("\t") for line in printed.splitlines()} == {printed.splitlines()[0].count("\t")}


def test_latex_is_a_tabular_of_booktabs_with_as_many_cells_as_columns(tmp_path):
    printed = tc.table(
        [system(1.0, HOSTILE[0], ci=0.9), system(1.0, "b", ci=0.9, seed=1)], "latex", title="50 % & more"
    )
    (columns,) = re.findall(r"\\begin\{tabular\}\{([lr]+)\}", printed)
    body = printed[printed.index(r"\toprule") : printed.index(r"\bottomrule")]
    lines = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert len(lines) == 3
    assert {len(re.findall(r"(?<!\\)&", line)) for line in lines} == {len(columns) - 1}
    assert printed.count(r"\begin{") == printed.count(r"\end{")
    bare = re.sub(r"\\textbackslash\{\}|\\text\w+\{\}|\\[&%$#_{}]", "", body)
    assert not re.search(r"[%$#_~^]", bare.replace(r"\textsuperscript", ""))
    assert bare.count("{") == bare.count("}")
    if shutil.which("pdflatex"):
        (tmp_path / "t.tex").write_text(
            r"\documentclass{article}\usepackage{booktabs}\begin{document}" + printed + r"\end{document}"
        )
        subprocess.run(["pdflatex", "-halt-on-error", "t.tex"], cwd=tmp_path, check=True, capture_output=True)


def test_a_latex_row_keeps_a_bracket_or_a_star_at_its_beginning():
    printed = tc.table([system(1.0, "[best]"), system(2.0, "*star"), system(3.0, "plain")], "latex")
    rows = printed[printed.index(r"\toprule") : printed.index(r"\bottomrule")].splitlines()
    firsts = [row.split(" & ")[0] for row in rows if " & " in row]
    assert firsts == ["system", "{}[best]", "{}*star", "plain"]


def test_negative_numbers_have_a_minus_sign_in_latex():
    cells = tables.of_words(["system", "loss"], [["a-1", tables.Cell("-0.005", "-0.037 to 0.025")]])
    assert r"a-1 & $-$0.005 ($-$0.037 to 0.025) \\" in tables.latex_table(cells)


def test_one_system_without_llrs_beside_others():
    printed = tc.table([system(1.0, "raw", meaning="raw"), system(2.0, "llr")])
    (line,) = [line for line in printed.splitlines() if line.startswith("raw")]
    assert line.count("undefined") == 3  # two actual DCFs and Cllr
    assert "system 2" in tc.table([system(1.0), system(2.0)])


def test_systems_at_different_operating_points_have_a_row_for_each():
    printed = tc.table([system(1.0, "a", [(0.5, 1, 1)]), system(2.0, "b", [(0.1, 1, 1)])])
    assert "operating point" in printed
    assert "1 in 10, costs 1 : 1" in printed


def test_several_classes_have_their_own_columns():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 90)
    trials = tc.Trials.of_log_likelihoods(rng.normal(size=(90, 3)) + np.eye(3)[labels], labels)
    printed = tc.table(tc.evaluate(trials, [tc.Application.multiclass([0.2, 0.3, 0.5])], name="three"))
    assert "log_loss" in printed
    assert "risk" in printed


@pytest.mark.parametrize(
    ("given", "options", "message"),
    [
        ([], {}, "at least one"),
        (3, {}, "evaluations"),
        ([3], {}, "evaluations must be"),
        ("system", {"format": "xls"}, "format"),
        ("system", {"metrics": ["mindcf"]}, "Did you mean min_dcf"),
        ("system", {"metrics": ["risk"]}, "does not exist"),
        ("system", {"metrics": "eer"}, "metrics must be a list"),
        ("system", {"title": 3}, "title"),
    ],
)
def test_what_cannot_be_a_table_is_refused(given, options, message):
    with pytest.raises(tc.InputError, match=message):
        tc.table(system(1.0) if given == "system" else given, **options)


def test_a_notebook_shows_the_table_as_html():
    found = tc.table([system(1.0, "a"), system(2.0, "b")])
    assert "<table>" in found._repr_html_()
    assert repr(found) == str(found)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_a_frame_has_one_row_per_operating_point_and_the_numbers_of_the_json(library):
    pytest.importorskip(library)
    ev = system(2.0, "a", ci=0.9)
    frame = ev.to_frame(library)
    columns = frame.to_pydict() if library == "pyarrow" else {name: list(frame[name]) for name in frame.columns}
    assert columns["system"] == ["a", "a"]
    assert columns["dcf"] == [row.dcf for row in ev.applications]
    assert columns["dcf_low"][0] < columns["dcf"][0] < columns["dcf_high"][0]
    assert columns["min_dcf"] == [row.min_dcf for row in ev.applications]


def test_infinities_are_floats_in_a_frame():
    ev = tc.evaluate(tc.Trials.of_llr([np.inf, -np.inf, 1.0], [0, 1, 1]), [(0.5, 1, 1)])
    assert ev.to_frame()["cllr"].tolist() == [np.inf]


def test_a_frame_needs_a_library(monkeypatch):
    monkeypatch.setattr("tercet.report.system_table.find_spec", lambda name: None)
    with pytest.raises(tc.InputError, match="pip install pandas"):
        system(1.0).to_frame()
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(tc.InputError, match="polars' is not installed"):
        system(1.0).to_frame("polars")
    with pytest.raises(tc.InputError, match="library"):
        system(1.0).to_frame("excel")


def test_a_table_without_operating_points_has_the_quantities_that_need_none():
    import tercet as tc

    trials = tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3], [1, 1, 0, 0])
    assert str(tc.table(tc.evaluate(trials), "tsv")).split("\n")[0].split("\t")[3:] == ["eer", "cllr"]
    classes = tc.Trials.of_log_likelihoods(
        [[0.0, 1.0, 2.0], [3.0, 0.0, 1.0], [0.0, 1.0, 0.0], [0.0, 2.0, 0.0]], [2, 0, 1, 1]
    )
    assert "accuracy" in str(tc.table(tc.evaluate(classes), "markdown"))


def test_a_model_card_does_not_speak_of_the_page():
    import tercet as tc

    ev = tc.evaluate(tc.Trials.of_llr([2.0, 1.0, -0.5, 0.3], [1, 1, 0, 0]), [(0.5, 1, 1)])
    assert "page" not in tc.model_card(ev)
    assert "pagina" not in tc.model_card(ev, language="it")


def test_an_interval_of_the_system_never_stands_beside_a_rate_of_an_operating_point():
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 60)
    app = tc.Application.multiclass([0.2, 0.3, 0.5], [[0, 1, 9], [1, 0, 1], [1, 1, 0]])
    found = {}
    for name, apart in (("good", 2.0), ("poor", 1.0)):
        rows = rng.normal(size=(60, 3)) + apart * np.eye(3)[labels]
        trials = tc.Trials.of_log_likelihoods(rows, labels)
        found[name] = tc.evaluate(trials, [app], ci=0.9, method="percentile", resamples=60)
    assert " to " not in tc.table(found, metrics=["accuracy"])  # the only intervals are those of another accuracy
    assert " to " in tc.table(found, metrics=["log_loss"])
