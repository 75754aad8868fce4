"""Every figure is drawn, names its axes, takes any name as text, and nothing in it overlaps or leaves the canvas."""

import importlib.util
import itertools
import sys
from pathlib import Path

import numpy as np
import pytest
from matplotlib.figure import Figure

import tercet as tc
from tercet.report import plots
from tercet.report.plots._canvas import COLOURS, Canvas, short_names
from tercet.uncertainty import bands, roc_band

_spec = importlib.util.spec_from_file_location("gallery", Path(__file__).with_name("gallery.py"))
gallery = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(gallery)


def of(kind):
    """The types that a kind draws."""
    return kind.of if isinstance(kind.of, tuple) else (kind.of,)


OVERLAID = [name for name, kind in plots.KINDS.items() if kind.overlaid and kind.of is tc.Evaluation]
BANDED = [name for name, kind in plots.KINDS.items() if "bands" in kind.options and kind.of is tc.Evaluation]
TWO_CLASS = [name for name, kind in plots.KINDS.items() if kind.of is tc.Evaluation or tc.Evaluation in of(kind)]
HOSTILE = [r"$\frac{$", "_hidden", "x" * 100_000, "a\nb\x1b[31m", "<b>&", "$$", "\u202eabc", "%s{}", ""]


def evaluation(name="a system", count=300, meaning="llr", seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 2 == 0
    scores = rng.normal(size=count) * 2 + np.where(labels, 2, -2)
    make = tc.Trials.of_llr if meaning == "llr" else tc.Trials.of_scores
    return tc.evaluate(make(scores, labels, name=name), ["sre08", (0.5, 1, 1)])


def drawable(kind, result):
    """What the kind draws: an evaluation, or what another function makes."""
    return result if kind in TWO_CLASS else gallery.drawable(kind, "usual", 0)


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


@pytest.mark.parametrize("kind", [name for name in TWO_CLASS if name not in ("errors", "histogram", "calibration-map",
                                                                             "cost-by-threshold")])  # fmt: skip
@pytest.mark.parametrize("meaning", ["lr", "posteriors", "log_odds", "log10_llr"])
def test_a_figure_of_ratios_or_posteriors_is_that_of_their_llrs(kind, meaning):
    llrs, labels = np.array([-2.013, -1.017, 0.511, -0.507, 1.003, 2.019]), [0, 0, 0, 1, 1, 1]
    scale = {"lr": np.exp(llrs), "posteriors": 1.0 / (1.0 + np.exp(-llrs)), "log_odds": llrs}
    prior = {"trained_prior": 0.5} if meaning in ("posteriors", "log_odds") else {}
    made = getattr(tc.Trials, f"of_{meaning}")(scale.get(meaning, llrs / np.log(10.0)), labels, **prior)
    found = plots.plot(tc.evaluate(made, [(0.5, 1, 1)]), kind).data
    wanted = plots.plot(tc.evaluate(tc.Trials.of_llr(llrs, labels), [(0.5, 1, 1)]), kind).data
    for axis in ("x", "y"):
        np.testing.assert_allclose(found[axis], wanted[axis], atol=1e-9)


@pytest.mark.parametrize("ending", plots.FORMATS)
def test_a_figure_is_saved_in_each_format_and_twice_the_same(ending, tmp_path):
    made = [
        plots.save(plots.plot(evaluation(), "roc").figure_, tmp_path / f"{i}.{ending}").read_bytes() for i in (0, 1)
    ]
    assert made[0][:4] in (b"\x89PNG", b"<?xm", b"%PDF")
    assert made[0] == made[1]


def test_a_figure_that_cannot_be_written_is_refused_by_name_and_leaves_nothing(tmp_path):
    figure = plots.plot(evaluation(), "roc")
    (tmp_path / "taken.png").mkdir()
    for path, why in (("no/roc.png", "cannot be written into .*No such file"), ("taken.png", "is a folder")):
        with pytest.raises(tc.InputError, match=why):
            figure.save(tmp_path / path)
    assert [one.name for one in tmp_path.iterdir()] == ["taken.png"]


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


@pytest.mark.parametrize(
    ("kind", "keys"),
    [
        ("roc", ["thin: convex hull", "open: actual", "filled: minimum cost"]),
        ("det", ["thin: convex hull", "open: actual", "filled: minimum cost", "dotted: 30 errors"]),
        ("bayes-error", ["thin: minimum DCF"]),
        ("tippett", ["thin: non-targets"]),
        ("cross-entropy", ["thin: after PAV", "without the scores"]),
    ],
)
def test_the_legend_explains_lines_and_markers_once_after_the_systems(kind, keys):
    told = legend_of(plots.plot([evaluation(name) for name in ("first", "second", "third")], kind))
    assert [text.split(" (")[0] for text in told] == ["first", "second", "third", *keys]


def test_short_names_share_the_lines_of_a_legend_and_long_ones_do_not():
    short, long = (
        plots.plot([evaluation(f"{word}{k}") for k in range(4)], "reliability", size="column").figure_.legends[0]._ncols
        for word in ("s", "a very long name of a system that nobody will shorten ")
    )
    assert (short, long) == (4, 1)
    mixed = [evaluation(f"a system called {word}") for word in ("ECAPA", "WavLM")]
    assert plots.plot(mixed, "roc", size="column").figure_.legends[0]._ncols == 2  # columns as wide as they need


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
    made = plots.save_all([evaluation("../../x"), evaluation("b", seed=1), several()], tmp_path / "new", ["svg"])
    assert {path.parent for path in made} == {tmp_path / "new"}
    assert len(made) == len(set(made)) == 2 * len(TWO_CLASS) + 1 + len(OVERLAID)
    assert all(path.stat().st_size > 1000 for path in made)


def test_pyplot_is_never_loaded():
    plots.plot(evaluation(), "roc")
    assert "matplotlib.pyplot" not in sys.modules


def banded(name="a system", seed=0, meaning="llr"):
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


def test_the_size_of_a_sigma_box_is_any_positive_number():
    from fractions import Fraction

    result, _ = banded()

    drawn = [plots.plot(result, "roc", sigma=size).data for size in (Fraction(3, 2), 1.5)]
    assert drawn[0].keys() == drawn[1].keys()
    for wrong in (float("inf"), 0.0, -1.0):
        with pytest.raises(tc.InputError, match="sigma must be positive and finite"):
            plots.plot(result, "roc", sigma=wrong)


def test_bands_that_hold_at_all_points_at_once_are_drawn_and_wider_than_pointwise_ones():
    trials = gallery.trials("usual", 0)
    result, at_once = tc.evaluate(trials), roc_band(trials, simultaneous=True)
    for kind in ("roc", "det"):
        data = plots.plot(result, kind, bands=at_once).data
        assert (data["series"] == "band low").sum() == len(at_once.fpr)
    pointwise = bands(trials, resamples=99).roc
    assert (at_once.high - at_once.low).mean() > (pointwise.high - pointwise.low).mean()
    whole = tc.net_benefit_band(trials)
    data = plots.plot(tc.decision_curve(trials), "decision-curve", bands=whole).data
    assert data["y"][data["series"] == "band high"].tolist() == whole.high.tolist()
    with pytest.raises(tc.InputError, match="net_benefit_band"):
        plots.plot(tc.decision_curve(trials), "decision-curve", bands=at_once)
    with pytest.raises(tc.InputError, match=r"uncertainty\.bands"):
        plots.plot(result, "bayes-error", bands=at_once)


def test_class_names_are_those_of_the_labels():
    given = tc.Trials.of_llr([2.0, 1.0, -1.0, -2.0], ["fraud", "fraud", "ok", "ok"], target="fraud")
    result = tc.evaluate(given, [0.5])
    for kind in ("histogram", "tippett", "posteriors"):
        assert {"ok", "fraud"} <= set(legend_of(plots.plot(result, kind))), kind
    words = [text.get_text() for text in plots.plot(result, "confusion").ax_.get_xticklabels()]
    assert words == ["ok", "fraud"]


def test_costs_per_case_are_drawn_through_the_actual_and_the_minimum_cost():
    rng = np.random.default_rng(0)
    trials = gallery.trials("usual", 0)
    costs = tc.CaseCosts(0.1, rng.exponential(100.0, len(trials)), 5.0, rng.uniform(0.0, 20.0, len(trials)))
    curve = tc.case_cost_curve(trials, costs)
    found = curve.evaluation
    assert curve.cost[len(curve.cost) // 2] == pytest.approx(found.cost, rel=1e-12)
    assert curve.cost.min() >= found.min_cost - 1e-12
    data = plots.plot(curve, "case-costs").data
    assert data["y"][data["series"] == "minimum"].tolist() == [found.min_cost]
    for place in (40, 200, 300):
        shifted = tc.Trials.of_llr(trials.llr - curve.shift[place], trials.known_labels())
        assert curve.cost[place] == pytest.approx(tc.evaluate_case_costs(shifted, costs).cost)


def test_a_decision_curve_of_a_rare_class_ends_where_nothing_is_of_use():
    axes = plots.plot(gallery.drawable("decision-curve", "skewed", 0), "decision-curve").ax_
    assert axes.get_xlim()[1] < 0.2


def test_several_systems_take_a_band_each(tmp_path):
    (first, a), (second, b) = banded("first"), banded("second", seed=1)
    figure = plots.plot([first, second], "roc", bands=[a, b])
    assert len(figure.ax_.collections) == 2
    made = plots.save_all([first, second], tmp_path, ["svg"], bands=[a, b], sigma=1)
    assert tmp_path / "all-roc.svg" in made


@pytest.mark.parametrize(
    ("kind", "given", "message"),
    [
        ("tippett", {"bands": True}, "bands= goes with"),
        ("bayes-error", {"sigma": 2}, "sigma= goes with"),
        ("roc", {"sigma": 2, "log": True}, "sigma= cannot be combined with log=True"),
        ("det", {"bands": "these", "log": True}, "bands= cannot be combined with log=True"),
        ("roc", {"bands": "95 %"}, "tercet.uncertainty.bands"),
        ("roc", {"bands": []}, "one for each"),
        ("roc", {"sigma": -1}, "sigma must be positive"),
        ("roc", {"log": "yes"}, "log must be True or False"),
        ("bayes-error", {"parts": 1.5}, "parts must be True or False"),
        ("roc", {"bandz": 1}, "no keyword 'bandz'.*Did you mean bands"),
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
    assert [text.split(" (")[0] for text in legend_of(drawn)[:2]] == ["first", "second"]
    assert right.get_title(loc="left") == ""


def test_the_drawn_numbers_are_the_evaluations():
    result = evaluation()
    data = plots.plot(result, "bayes-error").data
    minimum = data["y"][data["series"] == "minimum DCF"]
    assert len(minimum) == 201
    assert minimum[::10].tolist() == result.bayes_plot.min_dcf.tolist()


def test_a_plot_shows_itself_in_a_notebook():
    html = plots.plot(evaluation(), "roc")._repr_html_()
    assert html.startswith("<img")
    assert "data:image/png;base64," in html


def test_systems_without_a_name_or_with_the_same_one_are_numbered():
    drawn = plots.plot([evaluation(None), evaluation("a", seed=1), evaluation("a", seed=2)], "reliability")
    assert legend_of(drawn) == ["system 1", "a", "a (3)"]
    assert set(drawn.data["system"].tolist()) == {"system 1", "a", "a (3)"}
    assert legend_of(plots.plot(evaluation(None), "reliability")) == ["this system"]


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
    assert shown._repr_html_().startswith("<img")
    assert plots.DetDisplay(shown.result)._repr_html_() is None  # nothing is drawn yet
    chance = model.predict_proba(samples)[:, 1]
    again = plots.BayesErrorDisplay.from_predictions(table.labels, chance, meaning="posterior", trained_prior=0.4)
    assert again.figure_ is not None
    axes = Figure().add_subplot()
    assert plots.RocDisplay.from_trials(tc.Trials.of_llr([1.0, -1.0], [1, 0]), ax=axes).ax_ is axes
    three = np.digitize(table.samples[:, 0], np.quantile(table.samples[:, 0], [0.3, 0.6]))
    several = LogisticRegression(max_iter=5000).fit(samples, three)
    equal = [tc.Application.multiclass([1 / 3] * 3)]
    matrix = plots.ConfusionDisplay.from_estimator(
        several, samples, three, trained_prior=[0.3, 0.3, 0.4], applications=equal
    )
    assert len(matrix.ax_.get_xticklabels()) == 3
    names = np.where(table.labels == 1, "malignant", "benign")
    with pytest.raises(tc.InputError, match="target"):
        plots.RocDisplay.from_predictions(names, table.samples[:, 0])


@pytest.mark.parametrize("meaning", ["raw", "llr"])
def test_a_display_refuses_a_prior_that_its_scores_were_not_made_with(meaning):
    with pytest.raises(tc.InputError, match="trained_prior cannot be combined with"):
        plots.RocDisplay.from_predictions([1, 0], [2.0, -1.0], meaning=meaning, trained_prior=0.4)
    with pytest.raises(tc.InputError, match="meaning must be one of 'raw', 'llr', 'posterior'"):
        plots.RocDisplay.from_predictions([1, 0], [2.0, -1.0], meaning="logits")


# What a reader sees: every system named, nothing cut off, no two texts on top of each other

JOBS = [(kind, shape, count) for kind in plots.KINDS for count in gallery.overlaid(kind) for shape in gallery.SIZES]


@pytest.mark.parametrize(("kind", "shape", "count"), JOBS)
def test_nothing_is_cut_off_no_texts_overlap_and_every_system_is_named(kind, shape, count):
    drawn, names = gallery.figure(kind, shape, count, "page" if count == 3 else "column")
    assert gallery.faults(drawn, names) == []
    assert len(set(drawn.data["system"].tolist())) == count


@pytest.mark.parametrize("name", gallery.EXTRA)
def test_nothing_is_cut_off_in_figures_with_options_and_panels(name):
    result, kind, options = gallery.EXTRA[name]()
    assert gallery.faults(plots.plot(result, kind, size="column", **options)) == []


def test_the_check_of_figures_finds_what_is_wrong():
    drawn = plots.plot(evaluation(), "roc", size="column")
    drawn.ax_.text(0.5, 0.5, "one")
    drawn.ax_.text(0.51, 0.5, "two")
    drawn.ax_.text(1.2, 0.5, "far away", in_layout=False)
    found = " ".join(gallery.faults(drawn, ["not there"]))
    assert "overlap: 'one' and 'two'" in found
    assert "outside: 'far away'" in found
    assert "not named: 'not there'" in found


def test_small_multiples_have_a_panel_each_and_need_their_own_figure():
    found = plots.plot(evaluation(), "confusion", application="all", normalise="all")
    assert len(found.figure_.axes) == 2
    assert len(set(found.data["system"].tolist())) == 2
    assert found.figure_.get_suptitle() == ""
    assert plots.plot(evaluation(), "confusion", application="all", title="mine $").figure_.get_suptitle() == "mine $"
    shares = found.data["y"][found.data["system"] == found.data["system"][0]]
    assert shares.sum() == pytest.approx(1.0)
    with pytest.raises(tc.InputError, match="leave ax out"):
        plots.plot(evaluation(), "confusion", application="all", ax=Figure().add_subplot())
    with pytest.raises(tc.InputError, match="application"):
        plots.plot(evaluation(), "confusion", application=7)


def test_several_classes_are_drawn_class_by_class():
    result = tc.evaluate(gallery.rows("usual", 3), one_vs_rest=True)
    panels = plots.plot(result, "histogram")
    assert len(panels.figure_.axes) == 3
    assert legend_of(panels) == ["other classes", "this class"]  # of every panel
    roc = plots.plot(result, "roc")
    assert set(roc.data["system"].tolist()) == {"0", "1", "2"}
    with pytest.raises(tc.InputError, match="roc cannot be drawn"):
        plots.plot(tc.evaluate(gallery.rows("usual", 3)), "roc")


def test_a_forest_plot_shows_the_differences_and_their_intervals():
    found = gallery.drawable("forest", "usual", 0)
    data = plots.plot(found, "forest").data
    expected = found.of("applications.0.dcf")
    points = [x for x, name in zip(data["x"], data["series"], strict=True) if not name.endswith("interval")]
    assert points == [one.value for one in expected]
    ends = [x for x, name in zip(data["x"], data["series"], strict=True) if name.endswith("interval")]
    assert ends == [end for one in expected for end in (one.low, one.high)]
    with pytest.raises(tc.InputError, match="not compared"):
        plots.plot(found, "forest", quantity="nonsense")


def test_the_numbers_below_a_forest_plot_do_not_touch():
    rng = np.random.default_rng(2)
    labels = rng.random(3000) < 0.2
    llr = rng.normal(np.where(labels, 1.0, -1.0), 1.4)
    first, second = (tc.Trials.of_llr(llr + noise * rng.normal(size=3000), labels) for noise in (0.0, 0.15))
    found = tc.compare_net_benefit(first, second, thresholds=[0.05, 0.1, 0.2], names=["laboratory", "calibrated"])
    drawn = plots.plot(found, "forest")
    drawn.figure_.canvas.draw()
    low, high = drawn.ax_.get_xlim()
    shown = [text for text in drawn.ax_.get_xticklabels() if low <= text.get_position()[0] <= high]
    boxes = [text.get_window_extent() for text in shown]
    assert len(boxes) >= 3
    assert all(one.x1 + 8.0 < other.x0 for one, other in itertools.pairwise(boxes))


def test_a_forest_plot_of_conditions_shows_the_worst_first_then_all_trials():
    found, kind, _ = gallery.EXTRA["forest of conditions"]()
    drawn = plots.plot(found, kind)
    names = [text.get_text() for text in drawn.ax_.get_yticklabels()]
    assert names[-2:] == ["pooled", "equalised"]
    costs = [found.results[name].applications[0].dcf for name in found.results]
    assert drawn.data["x"][0] == max(costs)
    assert plots.plot(found, kind, quantity="auc").ax_.get_xlabel() == "AUC"
    for wrong in ("applications.9.dcf", "curve", "nonsense"):
        with pytest.raises(tc.InputError, match="quantity"):
            plots.plot(found, kind, quantity=wrong)


def test_the_area_under_the_brier_curve_is_the_brier_score():
    result = evaluation(count=4000)
    data = plots.plot(result, "brier-curve").data
    loss = data["series"] == "loss"
    area = np.trapezoid(np.r_[0.0, data["y"][loss], 0.0], np.r_[0.0, data["x"][loss], 1.0])
    assert area == pytest.approx(tc.brier_parts(result.curve).score, abs=2e-3)


def test_a_density_integrates_to_the_share_inside_the_frame():
    for density in ("kernel", "gaussian"):
        data = plots.plot(evaluation(count=4000), "histogram", density=density).data
        own = data["series"] == f"{density} density of targets"
        assert np.trapezoid(data["y"][own], data["x"][own]) == pytest.approx(1.0, abs=0.03)
    with pytest.raises(tc.InputError, match="density must be"):
        plots.plot(evaluation(), "histogram", density="loess")


def test_decision_regions_change_at_the_threshold():
    result = evaluation()
    data = plots.plot(result, "posteriors", application=0).data
    accept = data["x"][data["series"] == "decide accept"]
    assert accept[0] == pytest.approx(result.applications[0].threshold, abs=0.05)
    model, kind, options = gallery.EXTRA["posteriors of classes"]()
    series = set(plots.plot(model, kind, **options).data["series"].tolist())
    assert {"decide a", "decide b", "decide c", "posterior of a"} <= series
    wide = tc.recognizers.GaussianRecognizer.fit(np.random.default_rng(0).normal(size=(9, 2)), ["a", "b", "c"] * 3)
    with pytest.raises(tc.InputError, match="one feature"):
        plots.plot(wide, "posteriors")


def test_the_legend_of_a_roc_has_the_interval_of_the_area():
    result, kind, _ = gallery.EXTRA["roc with intervals"]()
    one = result.intervals["auc"]
    assert f"{result.auc:.3f}, {one.low:.3f} to {one.high:.3f}" in legend_of(plots.plot(result, kind))[0]


def test_a_cross_entropy_drawn_from_quantiles_is_that_of_all_trials():
    result = evaluation(count=60_000)
    data = plots.plot(result, "cross-entropy").data
    drawn = data["y"][data["series"] == "actual"]
    exact = [tc.empirical_cross_entropy(result.curve, 1 / (1 + np.exp(-x))) for x in (-5.0, 0.0, 5.0)]
    assert drawn[[0, 20, 40]].tolist() == pytest.approx(exact, rel=3e-3)


def test_no_edge_of_a_band_is_a_solid_line_like_a_curve():
    task = tc.datasets.detection(200, prior=0.3, seed=1)
    curve = tc.decision_curve(task.trials, ci=0.95)
    figure = tc.plot(curve, "decision-curve")
    edges = [line for line in figure.ax_.lines if np.array_equal(line.get_ydata(), curve.high)]
    best = [line for line in figure.ax_.lines if np.array_equal(line.get_ydata(), curve.best_apparent)]
    assert [line.get_linestyle() for line in best] == ["-"]
    assert len(edges) == 1
    assert edges[0].get_linestyle() != "-"


@pytest.mark.parametrize("size", [None, "page", "column"])
@pytest.mark.parametrize("kind", ["errors", "histogram"])
def test_the_panels_of_ten_classes_can_be_read(kind, size):
    labels = np.arange(400) % 10
    scores = np.random.default_rng(0).normal(size=(400, 10)) + 3.0 * np.eye(10)[labels]
    drawn = plots.plot(tc.evaluate(tc.Trials.of_log_likelihoods(scores, labels), one_vs_rest=True), kind, size=size)
    assert len(drawn.figure_.axes) == 10
    assert not gallery.faults(drawn)


@pytest.mark.parametrize("size", [None, "page"])
@pytest.mark.parametrize("kind", list(plots.KINDS))
def test_no_words_of_a_larger_figure_overlap(kind, size):
    drawn, names = gallery.figure(kind, "usual", 1, size)
    assert not gallery.faults(drawn, names)


def test_a_confusion_matrix_names_its_operating_point_below_the_classes():
    assert plots.plot(evaluation(), "confusion").ax_.get_xlabel().startswith("True class\n")


def test_a_guide_that_all_systems_share_is_drawn_once():
    def dotted(count):
        drawn = plots.plot([evaluation(seed=seed) for seed in range(count)], "roc")
        return [line for line in drawn.ax_.lines if line.get_linestyle() == ":"]

    assert len(dotted(1)) == len(dotted(5)) == 1


def test_the_posteriors_of_a_recognizer_are_drawn_at_equal_priors_by_default():
    model = tc.recognizers.GaussianRecognizer.fit(np.r_[0.0, 1, 3, 4, 6, 8][:, None], ["a", "a", "b", "b", "c", "c"])
    equal = tc.Application.multiclass([1.0 / 3.0] * 3)
    found, wanted = plots.plot(model, "posteriors").data, plots.plot(model, "posteriors", application=equal).data
    assert all(np.array_equal(found[key], wanted[key]) for key in wanted)


@pytest.mark.parametrize(
    ("kind", "label"),
    [("precision-recall", "Precision (prevalence of each)"), ("reliability", "Forecast probability (prior of each)")],
)
def test_an_axis_names_no_prevalence_that_is_not_that_of_every_system(kind, label):
    """It named that of the last one, such as 0.259 of four classes of 0.244 to 0.259."""
    found = [
        tc.evaluate(tc.Trials.of_llr(np.r_[np.arange(k) + 2.5, np.arange(6.0)], [1] * k + [0] * 6, name=f"s{k}"))
        for k in (2, 3, 4)
    ]
    axes = plots.plot(found, kind).ax_
    assert label in (axes.get_xlabel(), axes.get_ylabel())
    alone = plots.plot(found[0], kind).ax_
    assert "0.25)" in alone.get_xlabel() + alone.get_ylabel()
