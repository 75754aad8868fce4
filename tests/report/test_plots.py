"""Every figure is drawn, names its axes, takes any name as text, and nothing in it overlaps or leaves the canvas."""

import dataclasses
import sys

import matplotlib.text
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

import tercet as tc
from tercet.calibration.assessment import CorpDiagram
from tercet.deployment.abstention import RiskCoverage
from tercet.deployment.sweeping import Sweep
from tercet.metrics.net_benefit import DecisionCurve
from tercet.report import plots
from tercet.report.plots._canvas import Canvas
from tercet.report.plots._style import COLOURS, short_names

OVERLAID = [name for name, kind in plots.KINDS.items() if kind.overlaid and kind.of is tc.Evaluation]
BANDED = [name for name, kind in plots.KINDS.items() if "bands" in kind.options]
OTHERS = {DecisionCurve: tc.decision_curve, RiskCoverage: tc.risk_coverage, CorpDiagram: tc.corp_diagram}
TWO_CLASS = [name for name, kind in plots.KINDS.items() if kind.of not in (*OTHERS, Sweep)]
HOSTILE = [r"$\frac{$", "_hidden", "x" * 100_000, "a\nb\x1b[31m", "<b>&", "$$", "\u202eabc", "%s{}", ""]


def evaluation(name="a system", count=300, meaning="llr", seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 2 == 0
    scores = rng.normal(size=count) * 2 + np.where(labels, 2, -2)
    make = tc.Trials.of_llr if meaning == "llr" else tc.Trials.of_scores
    return tc.evaluate(make(scores, labels, name=name), ["sre08", (0.5, 1, 1)])


def drawable(kind, result):
    """What the kind draws: an evaluation, a grid of models, or what a function makes of trials."""
    if plots.KINDS[kind].of is Sweep:
        labels = np.arange(200) % 2
        systems = {f"s{k}": np.random.default_rng(k).normal(size=200) + k * labels for k in (1, 2, 3)}
        return tc.sweep_trials({name: tc.Trials.of_llr(scores, labels) for name, scores in systems.items()})
    if plots.KINDS[kind].of not in OTHERS:
        return result
    scores = np.random.default_rng(0).normal(size=200) + np.arange(200) % 2
    more = {"resamples": 19} if kind == "corp" else {}
    found = OTHERS[plots.KINDS[kind].of](tc.Trials.of_llr(scores, np.arange(200) % 2), **more)
    return dataclasses.replace(found, name=result.name)


def several(names=("one", "two", "three")):
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, 100)
    scores = rng.normal(size=(100, 3)) + 2 * np.eye(3)[labels]
    trials = tc.Trials.of_log_likelihoods(scores, [names[k] for k in labels], classes=list(names))
    return tc.evaluate(trials, [tc.Application.multiclass([0.2, 0.3, 0.5])])


@pytest.mark.parametrize("count", [4, 300, 20_000])
@pytest.mark.parametrize("kind", plots.KINDS)
def test_every_figure_is_drawn_with_labelled_axes(kind, count, tmp_path):
    path = tmp_path / "figure.png"
    figure = plots.plot(drawable(kind, evaluation(count=count)), kind, path=path)
    axes = figure.ax_
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    assert len(axes.lines) + len(axes.patches) + len(axes.images) > 0
    assert path.stat().st_size > 5000
    assert len(figure.data["x"]) == len(figure.data["y"]) == len(figure.data["series"]) > 0


def harmful():
    """Llrs forty times too sure, the targets' beyond any usual frame."""
    labels = np.arange(400) % 2 == 0
    scores = 40.0 * (np.random.default_rng(0).normal(size=400) + np.where(labels, 1, -1))
    return tc.evaluate(tc.Trials.of_llr(scores, labels))


def test_a_tippett_plot_reaches_to_where_the_scores_are():
    axes = plots.plot(harmful(), "tippett").ax_
    targets = axes.lines[0].get_ydata()
    assert targets[0] > 0.98
    assert targets[-1] < 0.02


def test_a_cross_entropy_above_the_frame_is_said():
    axes = plots.plot(harmful(), "cross-entropy").ax_
    top = max(axes.lines[0].get_ydata())
    assert top > axes.get_ylim()[1]
    assert f"maximum {top:.3g}" in axes.get_ylabel()


def test_a_reliability_figure_names_its_prior():
    assert "prior 0.5" in plots.plot(evaluation(), "reliability").ax_.get_xlabel()


@pytest.mark.parametrize("ending", plots.FORMATS)
def test_a_figure_is_saved_in_each_format_and_twice_the_same(ending, tmp_path):
    made = [
        plots.save(plots.plot(evaluation(), "roc").figure_, tmp_path / f"{i}.{ending}").read_bytes() for i in (0, 1)
    ]
    assert made[0][:4] in (b"\x89PNG", b"<?xm", b"%PDF")
    assert made[0] == made[1]


@pytest.mark.parametrize("kind", OVERLAID)
def test_hostile_names_are_text(kind, tmp_path):
    figure = plots.plot([evaluation(name) for name in HOSTILE], kind, path=tmp_path / "figure.svg")
    told = " ".join(legend_of(figure))
    assert r"$\frac{$" in told
    assert "x" * 65 not in told


def test_hostile_class_names_are_text_and_cut(tmp_path):
    figure = plots.plot(several((r"$\frac{$", "x" * 5000, "_a")), "confusion", path=tmp_path / "figure.png")
    words = [text.get_text() for text in figure.ax_.get_xticklabels()]
    assert words[0] == r"$\frac{$"
    assert max(map(len, words)) <= 64


def test_several_systems_share_one_figure_and_its_legend_names_them():
    figure = plots.plot([evaluation("first"), evaluation("_second", seed=1)], "bayes-error")
    told = [text.strip() for text in legend_of(figure)]
    assert told == ["first: DCF", "first: minimum DCF", "_second: DCF", "_second: minimum DCF"]


def legend_of(drawn):
    box = drawn.ax_.get_legend() or drawn.figure_.legends[0]
    return [text.get_text() for text in box.get_texts()]


def test_the_bayes_error_plot_has_the_laboratorys_frame():
    axes = plots.plot(evaluation(), "bayes-error").ax_
    assert (axes.get_xlim(), axes.get_ylim()) == ((-3.0, 3.0), (0.0, 1.1))


def test_a_drawing_function_only_draws():
    result = evaluation()
    before = repr(result.to_dict())
    for kind in TWO_CLASS:
        axes = Figure().add_subplot()
        assert plots.KINDS[kind].draw(Canvas(axes, system="a"), result) is None, kind
    assert repr(result.to_dict()) == before


def test_raw_scores_have_the_figures_that_need_no_llr():
    kinds = plots.kinds_of(evaluation(meaning="raw"))
    assert "roc" in kinds
    assert "tippett" not in kinds
    for kind in kinds:
        plots.plot(evaluation(meaning="raw"), kind)
    with pytest.raises(tc.InputError, match="tippett"):
        plots.plot(evaluation(meaning="raw"), "tippett")


def test_unknown_kinds_and_endings_are_refused(tmp_path):
    with pytest.raises(tc.InputError, match=r"one of roc.*Did you mean"):
        plots.plot(evaluation(), "rok")
    with pytest.raises(tc.InputError, match=r"\.png, \.svg, \.pdf"):
        plots.plot(evaluation(), "roc", path=tmp_path / "figure.exe")
    with pytest.raises(tc.InputError, match="one system"):
        plots.plot([evaluation(), evaluation()], "histogram")


def test_a_folder_gets_every_figure_under_harmless_file_names(tmp_path):
    made = plots.save_all([evaluation("../../x"), evaluation("b", seed=1), several()], tmp_path / "new", ["png"])
    assert {path.parent for path in made} == {tmp_path / "new"}
    assert len(made) == len(set(made)) == 2 * len(TWO_CLASS) + 1 + len(OVERLAID)
    assert all(path.stat().st_size > 1000 for path in made)


def test_pyplot_is_never_loaded():
    plots.plot(evaluation(), "roc")
    assert "matplotlib.pyplot" not in sys.modules


def banded(name="a system", seed=0, meaning="llr"):
    from tercet.uncertainty import bands

    result = evaluation(name, seed=seed, meaning=meaning)
    rng = np.random.default_rng(seed)
    labels = np.arange(300) % 2 == 0
    scores = rng.normal(size=300) * 2 + np.where(labels, 2, -2)
    make = tc.Trials.of_llr if meaning == "llr" else tc.Trials.of_scores
    return result, bands(make(scores, labels), resamples=39)


@pytest.mark.parametrize("kind", BANDED)
def test_a_band_adds_to_the_figure(kind, tmp_path):
    result, around = banded()
    without, figure = plots.plot(result, kind), plots.plot(result, kind, path=tmp_path / "figure.png", bands=around)
    assert len(figure.ax_.get_children()) > len(without.ax_.get_children())


def test_the_roc_band_is_drawn_where_the_numbers_say():
    result, around = banded()
    (fill,) = plots.plot(result, "roc", bands=around).ax_.collections
    corners = fill.get_paths()[0].vertices
    assert {round(y, 9) for y in corners[:, 1]} >= {round(1.0 - y, 9) for y in around.roc.low}
    assert corners[:, 0].max() == 1.0


def test_sigma_boxes_are_those_of_the_closed_form():
    from tercet.metrics.binomial import sigma_box

    result, _ = banded()
    boxes = plots.plot(result, "roc", sigma=2).ax_.patches
    assert len(boxes) == len(result.applications)
    for box, row in zip(boxes, result.applications, strict=True):
        expected = sigma_box(row.table, 2)
        assert (box.get_x(), box.get_y()) == pytest.approx((expected.fpr.low, 1.0 - expected.fnr.high))
        assert box.get_width() == pytest.approx(expected.fpr.high - expected.fpr.low)
        assert box.get_height() == pytest.approx(expected.fnr.high - expected.fnr.low)


def test_raw_scores_have_bands_but_no_boxes_and_no_reliability():
    result, around = banded(meaning="raw")
    for kind in ("roc", "det", "bayes-error"):
        plots.plot(result, kind, bands=around)
    assert plots.plot(result, "roc", sigma=2).ax_.patches[:] == []


def test_several_systems_take_a_band_each(tmp_path):
    (first, a), (second, b) = banded("first"), banded("second", seed=1)
    figure = plots.plot([first, second], "roc", bands=[a, b])
    assert len(figure.ax_.collections) == 2
    made = plots.save_all([first, second], tmp_path, bands=[a, b], sigma=1)
    assert tmp_path / "all-roc.png" in made


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        ("tippett", {"bands": True}, "bands= goes with"),
        ("bayes-error", {"sigma": 2}, "sigma= goes with"),
        ("roc", {"bands": "95 %"}, "tercet.uncertainty.bands"),
        ("roc", {"bands": []}, "one for each"),
        ("roc", {"sigma": -1}, "sigma must be positive"),
        ("roc", {"bandz": 1}, "no keyword 'bandz'.*Did you mean 'bands'"),
        ("roc", {"ax": 3}, "ax must be matplotlib axes"),
        ("roc", {"ax": Figure().add_subplot(projection="polar")}, "projection 'polar'"),
        ("roc", {"size": "poster"}, '"column", "page"'),
        ("roc", {"size": (0, 3)}, "between 0.5 and 100"),
        ("roc", {"labels": ["a", "b"]}, "list of 1 names"),
        ("roc", {"labels": "a"}, "list of 1 names"),
        ("roc", {"labels": 5}, "list of 1 names"),
        ("roc", {"colors": 5}, "one per system"),
        ("roc", {"colors": ["no such"]}, "colours that matplotlib knows"),
        ("roc", {"colors": ["red", "blue"]}, "one per system"),
        ("roc", {"xlim": 3}, "xlim must be"),
        ("confusion", {"normalise": "rows"}, "normalise must be"),
    ],
)
def test_what_a_figure_cannot_show_is_refused(kind, given, message):
    with pytest.raises(tc.InputError, match=message):
        plots.plot(evaluation(), kind, **given)


@pytest.mark.parametrize("wrong", [[], 3, "a", tc.Trials.of_llr([1.0], [1])])
def test_what_is_no_evaluation_is_refused(wrong):
    with pytest.raises(tc.InputError, match="evaluations must"):
        plots.plot(wrong, "roc")


# What a reader sees: every system named, nothing cut off, no two texts on top of each other

SHAPES = {
    "tiny": lambda seed: evaluation(f"tiny-{seed}", count=4, seed=seed),
    "usual": lambda seed: evaluation(f"usual-{seed}", count=400, seed=seed),
    "perfect": lambda seed: tc.evaluate(
        tc.Trials.of_llr(
            np.r_[np.full(50, -3.0 - seed), np.full(50, 3.0)], np.arange(100) >= 50, name=f"perfect-{seed}"
        ),
        [(0.5, 1, 1)],
    ),
    "skewed": lambda seed: tc.evaluate(
        tc.Trials.of_llr(
            np.random.default_rng(seed).normal(size=3000) ** 3 + seed, np.arange(3000) % 300 == 0, name=f"skewed-{seed}"
        ),
        [(0.01, 10, 1)],
    ),
}


def boxes(figure):
    """Texts that are shown, with their boxes in pixels."""
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    hidden = set()
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            low, high = sorted(axis.get_view_interval())
            for tick in (*axis.get_major_ticks(), *axis.get_minor_ticks()):
                hidden |= {tick.label2} | (set() if low <= tick.get_loc() <= high else {tick.label1})
    texts = figure.findobj(lambda artist: isinstance(artist, matplotlib.text.Text) and artist not in hidden)
    return [
        (text.get_text(), text.get_window_extent(renderer))
        for text in texts
        if text.get_visible() and text.get_text().strip()
    ]


def overlap(a, b):
    return min(a.x1, b.x1) - max(a.x0, b.x0) > 1.0 and min(a.y1, b.y1) - max(a.y0, b.y0) > 1.0


def within(box, frame):
    across = box.x0 >= frame.x0 - 1 and box.x1 <= frame.x1 + 1
    return across and box.y0 >= frame.y0 - 1 and box.y1 <= frame.y1 + 1


@pytest.mark.parametrize("size", ["column", "page"])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", plots.KINDS)
def test_nothing_is_cut_off_and_no_two_texts_overlap(kind, shape, size):
    for count in (1, 3, 8) if plots.KINDS[kind].overlaid else (1,):
        systems = [drawable(kind, SHAPES[shape](seed)) for seed in range(count)]
        drawn = plots.plot(systems, kind, size=size)
        FigureCanvasAgg(drawn.figure_)
        found = boxes(drawn.figure_)
        for k, (text, box) in enumerate(found):
            assert within(box, drawn.figure_.bbox), (count, text, box)
            for other, place in found[k + 1 :]:
                assert not overlap(box, place), (count, text, other)
        if count > 1:
            told = " ".join(legend_of(drawn))
            assert all(name in told for name in short_names([one.name for one in systems])), told
            assert len(set(drawn.data["system"].tolist())) == count


def contrast(colour):
    """Contrast with white, as accessibility guidelines define it."""
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)


def test_every_colour_has_a_contrast_of_three_to_one_on_white():
    assert min(map(contrast, COLOURS)) >= 3.0
    assert contrast("#E69F00") < 3.0  # the test would notice


def test_too_many_systems_are_refused_and_none_is_left_out():
    with pytest.raises(tc.InputError, match="at most 24"):
        plots.plot([evaluation()] * 25, "roc")
    lines = plots.plot([evaluation(f"s{k:02d}", seed=k) for k in range(24)], "roc").ax_.lines
    looks = {(one.get_color(), str(one._dash_pattern)) for one in lines if not one.get_label().startswith("_")}
    assert len(looks) == 24


def test_a_figure_is_drawn_on_axes_of_the_users():
    figure = Figure()
    left, right = figure.subplots(1, 2)
    drawn = plots.plot({"first": evaluation("x"), "second": evaluation("y", seed=1)}, "det", ax=right)
    assert drawn.ax_ is right
    assert drawn.figure_ is figure
    assert not left.lines
    assert [text.split(" (")[0] for text in legend_of(drawn)] == ["first", "second"]
    assert right.get_title(loc="left") == ""


def test_the_drawn_numbers_are_the_evaluations():
    result = evaluation()
    data = plots.plot(result, "bayes-error").data
    minimum = data["y"][data["series"] == "minimum DCF"]
    assert minimum.tolist() == result.bayes_plot.min_dcf.tolist()


def test_a_plot_shows_itself_in_a_notebook():
    html = plots.plot(evaluation(), "roc")._repr_html_()
    assert html.startswith("<img")
    assert "data:image/png;base64," in html


def test_common_beginnings_of_names_are_left_out_where_enough_remains():
    assert short_names(["exp-2024-resnet", "exp-2024-ecapa"]) == ["resnet", "ecapa"]
    assert short_names(["run-1", "run-2"]) == ["run-1", "run-2"]
    assert short_names(["alone"]) == ["alone"]


def test_displays_are_made_from_trials_predictions_and_estimators():
    from sklearn.linear_model import LogisticRegression

    table = tc.datasets.screening()
    samples = table.samples / table.samples.max(axis=0)
    model = LogisticRegression(max_iter=5000).fit(samples, table.labels)
    shown = plots.DetDisplay.from_estimator(model, samples, table.labels)
    assert shown.ax_.get_xlabel() == "False positive rate (%)"
    chance = model.predict_proba(samples)[:, 1]
    again = plots.BayesErrorDisplay.from_predictions(table.labels, chance, meaning="posterior", trained_prior=0.4)
    assert again.figure_ is not None
    axes = Figure().add_subplot()
    assert plots.RocDisplay.from_trials(tc.Trials.of_llr([1.0, -1.0], [1, 0]), ax=axes).ax_ is axes
    names = np.where(table.labels == 1, "malignant", "benign")
    with pytest.raises(tc.InputError, match="target"):
        plots.RocDisplay.from_predictions(names, table.samples[:, 0])
