"""Every figure is drawn, says its axes in words, and takes any name as text."""

import sys

import numpy as np
import pytest

import tercet as tc
from tercet.report import plots

pytest.importorskip("matplotlib", reason="matplotlib is not installed: pip install 'tercet[plot]'")
HOSTILE = [r"$\frac{$", "_hidden", "x" * 100_000, "a\nb\x1b[31m", "<b>&", "$$", "\u202eabc", "%s{}", ""]


def evaluation(name="a system", count=300, meaning="llr", seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 2 == 0
    scores = rng.normal(size=count) * 2 + np.where(labels, 2, -2)
    make = tc.Trials.of_llr if meaning == "llr" else tc.Trials.of_scores
    return tc.evaluate(make(scores, labels, name=name), ["sre08", (0.5, 1, 1)])


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
    figure = plots.plot(evaluation(count=count), kind, path)
    axes = figure.axes[0]
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    assert len(axes.lines) + len(axes.patches) + len(axes.images) > 0
    pixels = np.asarray(figure.canvas.buffer_rgba()) if hasattr(figure.canvas, "buffer_rgba") else None
    assert path.stat().st_size > 5000
    assert pixels is None or pixels.std() > 1


def harmful():
    """Llrs forty times too sure, the targets' beyond any usual frame."""
    labels = np.arange(400) % 2 == 0
    scores = 40.0 * (np.random.default_rng(0).normal(size=400) + np.where(labels, 1, -1))
    return tc.evaluate(tc.Trials.of_llr(scores, labels))


def test_a_tippett_plot_reaches_to_where_the_scores_are():
    axes = plots.plot(harmful(), "tippett").axes[0]
    targets = axes.lines[0].get_ydata()
    assert targets[0] > 0.98
    assert targets[-1] < 0.02


def test_a_cross_entropy_above_the_frame_is_said():
    axes = plots.plot(harmful(), "cross-entropy").axes[0]
    top = max(axes.lines[0].get_ydata())
    assert top > axes.get_ylim()[1]
    assert f"it reaches {top:.3g}" in axes.get_title(loc="left")


def test_a_reliability_figure_names_its_prior():
    assert "at a prior of 0.5" in plots.plot(evaluation(), "reliability").axes[0].get_title(loc="left")


@pytest.mark.parametrize("ending", plots.FORMATS)
def test_a_figure_is_saved_in_each_format_and_twice_the_same(ending, tmp_path):
    made = [plots.save(plots.plot(evaluation(), "roc"), tmp_path / f"{i}.{ending}").read_bytes() for i in (0, 1)]
    assert made[0][:4] in (b"\x89PNG", b"<?xm", b"%PDF")
    assert made[0] == made[1]


@pytest.mark.parametrize("kind", plots._OVERLAID)
def test_hostile_names_are_text(kind, tmp_path):
    figure = plots.plot([evaluation(name) for name in HOSTILE], kind, tmp_path / "figure.svg")
    told = " ".join(text.get_text() for text in figure.axes[0].get_legend().get_texts())
    assert r"$\frac{$" in told
    assert "x" * 65 not in told


def test_hostile_class_names_are_text_and_cut(tmp_path):
    figure = plots.plot(several((r"$\frac{$", "x" * 5000, "_a")), "confusion", tmp_path / "figure.png")
    words = [text.get_text() for text in figure.axes[0].get_xticklabels()]
    assert words[0] == r"$\frac{$"
    assert max(map(len, words)) <= 64


def test_several_systems_share_one_figure_and_its_legend_names_them():
    figure = plots.plot([evaluation("first"), evaluation("_second", seed=1)], "bayes-error")
    told = [text.get_text().strip() for text in figure.axes[0].get_legend().get_texts()]
    assert told == ["first: as used", "first: at best", "_second: as used", "_second: at best"]


def test_the_bayes_error_plot_has_the_laboratorys_frame():
    axes = plots.plot(evaluation(), "bayes-error").axes[0]
    assert (axes.get_xlim(), axes.get_ylim()) == ((-3.0, 3.0), (0.0, 1.1))


def test_a_drawing_function_only_draws():
    result = evaluation()
    before = repr(result.to_dict())
    for kind, draw in plots.KINDS.items():
        axes = plots._figure().add_subplot()
        assert draw(axes, result) is None, kind
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
    with pytest.raises(tc.InputError, match="one of roc"):
        plots.plot(evaluation(), "pie")
    with pytest.raises(tc.InputError, match="png, svg, pdf"):
        plots.plot(evaluation(), "roc", tmp_path / "figure.exe")
    with pytest.raises(tc.InputError, match="one system"):
        plots.plot([evaluation(), evaluation()], "histogram")


def test_a_folder_gets_every_figure_under_harmless_file_names(tmp_path):
    made = plots.save_all([evaluation("../../x"), evaluation("b", seed=1), several()], tmp_path / "new", ["png"])
    assert {path.parent for path in made} == {tmp_path / "new"}
    assert len(made) == len(set(made)) == 2 * len(plots.KINDS) + 1 + len(plots._OVERLAID)
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


@pytest.mark.parametrize("kind", plots.BANDED)
def test_a_band_adds_to_the_figure_and_the_title_names_its_level(kind, tmp_path):
    result, around = banded()
    without, figure = plots.plot(result, kind), plots.plot(result, kind, tmp_path / "figure.png", bands=around)
    assert "95 %" in figure.axes[0].get_title(loc="left")
    assert len(figure.axes[0].get_children()) > len(without.axes[0].get_children())


def test_the_roc_band_is_drawn_where_the_numbers_say():
    result, around = banded()
    (fill,) = plots.plot(result, "roc", bands=around).axes[0].collections
    corners = fill.get_paths()[0].vertices
    assert {round(y, 9) for y in corners[:, 1]} >= {round(1.0 - y, 9) for y in around.roc.low}
    assert corners[:, 0].max() == 1.0


def test_sigma_boxes_are_those_of_the_closed_form():
    from tercet.metrics.binomial import sigma_box

    result, _ = banded()
    boxes = plots.plot(result, "roc", sigma=2).axes[0].patches
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
    assert plots.plot(result, "roc", sigma=2).axes[0].patches[:] == []


def test_several_systems_take_a_band_each(tmp_path):
    (first, a), (second, b) = banded("first"), banded("second", seed=1)
    figure = plots.plot([first, second], "roc", bands=[a, b])
    assert len(figure.axes[0].collections) == 2
    made = plots.save_all([first, second], tmp_path, bands=[a, b], sigma=1)
    assert tmp_path / "all-roc.png" in made


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        ("tippett", {"bands": True}, "bands= goes with"),
        ("bayes-error", {"sigma": 2}, "sigma= goes with"),
        ("roc", {"bands": "95 %"}, "tercet.uncertainty.bands"),
        ("roc", {"bands": []}, "one for each"),
    ],
)
def test_what_a_figure_cannot_show_is_refused(kind, given, message):
    with pytest.raises(tc.InputError, match=message):
        plots.plot(evaluation(), kind, **given)
