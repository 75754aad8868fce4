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
