"""The laboratory's tables: Dante's tercets under two pseudo-counts, to the digits that the text prints."""

import numpy as np
import pytest

import tercet as tc

POINTS = [(0.5, 1, 1), (0.8, 1, 1), (0.5, 10, 1), (0.8, 1, 10)]
TABLES = [
    [[293, 96], [109, 304]],
    [[271, 80], [131, 320]],
    [[257, 75], [145, 325]],
    [[302, 113], [100, 287]],
]
DCF_U = [0.256, 0.225, 1.118, 0.724]
DCF = {"": [0.511, 1.126, 2.236, 0.904], "_eps1": [0.396, 0.748, 1.053, 0.658]}
MIN_DCF = {"": [0.506, 0.752, 0.842, 0.709], "_eps1": [0.386, 0.695, 0.839, 0.604]}
PRIORS, ORDINAL = [0.3, 0.4, 0.3], [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
EPS = ["", "_eps1"]


def two_class(lab_data, eps):
    lab = lab_data / "lab"
    return tc.Trials.of_llr(
        np.load(lab / f"commedia_llr_infpar{eps}.npy"), np.load(lab / f"commedia_labels_infpar{eps}.npy")
    )


def three_class(lab_data, eps):
    lab = lab_data / "lab"
    return tc.Trials.of_log_likelihoods(
        np.load(lab / f"commedia_ll{eps}.npy"), np.load(lab / f"commedia_labels{eps}.npy")
    )


def rounded(values):
    return [round(value, 3) for value in values]


def test_the_decisions_of_the_four_operating_points_give_the_printed_confusion_matrices(lab_data):
    ev = tc.evaluate(two_class(lab_data, ""), POINTS)
    assert [app.confusion for app in ev.applications] == TABLES


def test_the_un_normalised_costs_are_the_printed_ones(lab_data):
    ev = tc.evaluate(two_class(lab_data, ""), POINTS)
    assert rounded(app.dcf_u for app in ev.applications) == DCF_U


@pytest.mark.parametrize("eps", EPS)
def test_actual_and_minimum_costs_are_the_printed_ones(lab_data, eps):
    ev = tc.evaluate(two_class(lab_data, eps), POINTS)
    assert rounded(app.dcf for app in ev.applications) == DCF[eps]
    assert rounded(app.min_dcf for app in ev.applications) == MIN_DCF[eps]


@pytest.mark.parametrize("eps", EPS)
@pytest.mark.parametrize("point", POINTS)
def test_the_minimum_cost_is_the_least_over_every_threshold_tried_one_by_one(lab_data, eps, point):
    trials = two_class(lab_data, eps)
    app = tc.Application(*point)
    thresholds = np.r_[-np.inf, trials.scores]
    costs = []
    for threshold in thresholds:
        accepted = trials.scores > threshold
        costs.append(app.dcf(fnr=(~accepted[trials.labels]).mean(), fpr=accepted[~trials.labels].mean()))
    found = tc.evaluate(trials, [point]).applications[0]
    assert found.min_dcf == pytest.approx(min(costs), rel=1e-12)
    at_minimum = thresholds[np.isclose(costs, min(costs), rtol=1e-12)]
    assert found.min_threshold == at_minimum.min()


@pytest.mark.parametrize("eps", EPS)
def test_every_way_to_the_same_number_gives_the_same_number(lab_data, eps):
    trials = two_class(lab_data, eps)
    curve = tc.Curve.of(tc.Tally.of(trials))
    for point, result in zip(POINTS, tc.evaluate(trials, POINTS).applications, strict=True):
        app, table = tc.Application(*point), tc.confusion_of(trials, point)
        assert table.matrix == result.confusion == tc.Confusion.of(tc.decide(trials, app), trials.labels).matrix
        assert result.table.matrix == result.confusion
        assert (result.fnr, result.fpr) == (table.fnr, table.fpr)
        assert result.dcf_u == app.dcf_u(fnr=table.fnr, fpr=table.fpr)
        assert result.dcf == app.dcf(fnr=table.fnr, fpr=table.fpr)
        assert result.dcf == pytest.approx(result.dcf_u / app.dummy_cost, rel=1e-13)
        assert result.dcf_u == pytest.approx(table.risk(app), rel=1e-13)
        assert result.min_dcf == curve.min_dcf(app).dcf
        assert result.min_threshold == curve.min_dcf(app).threshold
        assert result.actual_minus_min == pytest.approx(result.dcf - result.min_dcf, abs=1e-15)


@pytest.mark.parametrize("eps", EPS)
def test_the_bayes_error_plot_has_the_labs_grid_and_prices_each_effective_prior(lab_data, eps):
    trials = two_class(lab_data, eps)
    plot = tc.evaluate(trials).bayes_plot
    np.testing.assert_array_equal(plot.log_odds, np.linspace(-3, 3, 21))
    for log_odds, dcf, least in zip(plot.log_odds, plot.dcf, plot.min_dcf, strict=True):
        result = tc.evaluate(trials, [(1 / (1 + np.exp(-log_odds)), 1, 1)]).applications[0]
        assert dcf == pytest.approx(result.dcf, rel=1e-12)
        assert least == pytest.approx(result.min_dcf, rel=1e-12)
    assert (plot.min_dcf <= plot.dcf + 1e-12).all()
    assert (plot.min_dcf <= 1.0).all()


def test_the_larger_pseudo_count_is_cheaper_and_better_calibrated(lab_data):
    small, large = (tc.evaluate(two_class(lab_data, eps), POINTS) for eps in EPS)
    for one, other in zip(small.applications, large.applications, strict=True):
        assert other.dcf < one.dcf
        assert other.min_dcf < one.min_dcf
    assert large.eer.value < small.eer.value
    assert large.cllr < small.cllr
    assert large.auc > small.auc


@pytest.mark.parametrize(
    ("eps", "table", "risk", "dcf"),
    [("", [[210, 113, 61], [137, 191, 111], [53, 98, 230]], 0.476, 0.714), ("_eps1", None, 0.415, 0.623)],
)
def test_three_classes_with_uniform_priors_and_costs(lab_data, eps, table, risk, dcf):
    app = tc.Application.multiclass([1 / 3, 1 / 3, 1 / 3])
    result = tc.evaluate(three_class(lab_data, eps), [app]).applications[0]
    assert table is None or result.confusion == table
    assert rounded((result.risk, result.dcf)) == [risk, dcf]


@pytest.mark.parametrize(
    ("eps", "table", "risk", "dcf"),
    [
        ("", [[205, 111, 56], [145, 199, 121], [50, 92, 225]], 0.560, 0.933),
        ("_eps1", [[216, 77, 31], [146, 236, 143], [38, 89, 228]], 0.485, 0.808),
    ],
)
def test_three_classes_where_hell_for_heaven_costs_double(lab_data, eps, table, risk, dcf):
    app = tc.Application.multiclass(PRIORS, ORDINAL)
    trials = three_class(lab_data, eps)
    result = tc.evaluate(trials, [app]).applications[0]
    assert result.confusion == table
    assert rounded((result.risk, result.dcf)) == [risk, dcf]
    assert result.dcf == pytest.approx(result.risk / 0.6, rel=1e-12)
    assert sum(result.contributions) == pytest.approx(result.risk, rel=1e-14)
    assert tc.confusion_of(trials, app).matrix == table


def test_the_matrix_may_come_either_way_round_with_class_names(lab_data):
    lab = lab_data / "lab"
    scores, labels = np.load(lab / "commedia_ll.npy"), np.load(lab / "commedia_labels.npy")
    names = np.array(["inferno", "purgatorio", "paradiso"])
    app = tc.Application.multiclass(PRIORS, ORDINAL, classes=names)
    lying = tc.Trials.of_log_likelihoods(scores, names[labels.astype(int)], classes=names)
    upright = tc.Trials.of_log_likelihoods(scores.T, names[labels.astype(int)], classes=names)
    for trials in (lying, upright):
        assert tc.evaluate(trials, [app]).applications[0].confusion[2] == [50, 92, 225]


def test_the_two_class_task_can_be_cut_out_of_the_three_class_scores(lab_data):
    full = three_class(lab_data, "")
    cut = full.versus("0", "2")  # inferno against paradiso
    given = two_class(lab_data, "")
    assert (len(cut), cut.labels.sum()) == (len(given), given.labels.sum())
    for one, other in zip(tc.evaluate(cut, POINTS).applications, tc.evaluate(given, POINTS).applications, strict=True):
        assert one.confusion == other.confusion


def test_five_lines_suffice(lab_data, monkeypatch):
    monkeypatch.chdir(lab_data / "lab")
    trials = tc.Trials.of_llr(np.load("commedia_llr_infpar.npy"), np.load("commedia_labels_infpar.npy"))
    ev = tc.evaluate(trials, [(0.5, 1, 1), (0.8, 1, 10)])
    first = ev.applications[0]
    assert first.confusion == [[293, 96], [109, 304]]
    assert rounded((first.dcf, first.min_dcf)) == [0.511, 0.506]
    assert (ev.input["trials"], ev.input["targets"]) == (802, 400)
    assert ev.eer.definition == "rocch"
    assert 0.2 < ev.eer.value < 0.3
    assert ev.to_dict()["applications"][1]["confusion"] == [[302, 113], [100, 287]]
