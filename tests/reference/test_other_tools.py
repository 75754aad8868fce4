"""Numbers that other tools and published tables give for the same data."""

import math

import numpy as np
import pytest

import tercet as tc

# Sepal lengths in cm of Fisher's irises (R. A. Fisher, 1936, "The use of multiple measurements in taxonomic problems").
SETOSA = [
    5.1, 4.9, 4.7, 4.6, 5.0, 5.4, 4.6, 5.0, 4.4, 4.9, 5.4, 4.8, 4.8, 4.3, 5.8, 5.7, 5.4, 5.1, 5.7, 5.1, 5.4, 5.1, 4.6,
    5.1, 4.8, 5.0, 5.0, 5.2, 5.2, 4.7, 4.8, 5.4, 5.2, 5.5, 4.9, 5.0, 5.5, 4.9, 4.4, 5.1, 5.0, 4.5, 4.4, 5.0, 5.1, 4.8,
    5.1, 4.6, 5.3, 5.0,
]  # fmt: skip
VERSICOLOR = [
    7.0, 6.4, 6.9, 5.5, 6.5, 5.7, 6.3, 4.9, 6.6, 5.2, 5.0, 5.9, 6.0, 6.1, 5.6, 6.7, 5.6, 5.8, 6.2, 5.6, 5.9, 6.1, 6.3,
    6.1, 6.4, 6.6, 6.8, 6.7, 6.0, 5.7, 5.5, 5.5, 5.8, 6.0, 5.4, 6.0, 6.7, 6.3, 5.6, 5.5, 5.5, 6.1, 5.8, 5.0, 5.6, 5.7,
    5.7, 6.2, 5.1, 5.7,
]  # fmt: skip


def tally_of(targets, nontargets):
    return tc.Tally.of(tc.Trials.of_llr([*targets, *nontargets], [1] * len(targets) + [0] * len(nontargets)))


@pytest.fixture(scope="module")
def iris():
    return tally_of(VERSICOLOR, SETOSA)


def approx(expected, digits=12):
    return pytest.approx(expected, rel=10.0**-digits, abs=10.0**-digits)


# Iris sepal length


def test_the_hull_of_the_sepal_lengths(iris):
    hull = tc.Curve.of(iris).hull
    np.testing.assert_array_equal(hull.fpr, [1, 0.68, 0.28, 0.1, 0.06, 0, 0])
    np.testing.assert_array_equal(hull.fnr, [0, 0, 0.08, 0.12, 0.22, 0.48, 1])


def test_the_three_equal_error_rates_of_the_sepal_lengths_differ(iris):
    curve = tc.Curve.of(iris)
    assert curve.eer().value == approx(0.116363636363636, 13)
    assert curve.eer("rocch").value == approx(6.4 / 55)
    assert round(curve.eer("interpolated").value, 4) == 0.1167
    assert round(curve.eer("nearest").value, 2) == 0.11
    assert [curve.eer(name).definition for name in ("rocch", "interpolated", "nearest")] == [
        "rocch",
        "interpolated",
        "nearest",
    ]


def test_the_randomisation_at_the_equal_error_rate_really_reaches_it(iris):
    curve = tc.Curve.of(iris)
    value, threshold, _, share = curve.eer()
    place = list(curve.hull.thresholds).index(threshold)
    for rates in (curve.hull.fnr, curve.hull.fpr):
        assert (1 - share) * rates[place] + share * rates[place + 1] == approx(value)


def test_the_area_under_the_curve_of_the_sepal_lengths(iris):
    assert tc.Curve.of(iris).auc == 0.9326


def test_cllr_and_min_cllr_of_the_sepal_lengths(iris):
    assert round(tc.cllr(iris), 5) == 3.61833
    assert tc.min_cllr(tc.Curve.of(iris)) == approx(0.403062010535587, 13)


def test_evaluate_says_the_same_of_the_sepal_lengths(iris):
    ev = tc.evaluate(iris)
    assert (ev.auc, round(ev.cllr, 5)) == (0.9326, 3.61833)
    assert ev.min_cllr == approx(0.403062010535587, 13)
    assert ev.eer.value == approx(0.116363636363636, 13)


def test_separable_scores_leave_no_rank_error():
    curve = tc.Curve.of(tally_of([1, 2, 5, 7], [-7, -5, -2, -1]))
    assert (curve.eer().value, curve.auc, tc.min_cllr(curve)) == (0.0, 1.0, 0.0)
    assert [curve.eer(name).value for name in ("interpolated", "nearest")] == [0.0, 0.0]
    assert [curve.min_dcf(prior).dcf for prior in (0.01, 0.5, 0.99)] == [0.0, 0.0, 0.0]


# Proper scores


def test_log_loss_and_brier_of_three_posteriors():
    rows = [[0.2, 0.7, 0.1], [0.6, 0.2, 0.2], [0.6, 0.1, 0.3]]
    trials = tc.Trials.of_posteriors(rows, [1, 0, 2], trained_prior=[1 / 3] * 3)
    assert round(tc.log_loss(trials, base=math.e), 7) == 0.6904911
    assert tc.log_loss(trials, base=math.e) == approx(-math.log(0.7 * 0.6 * 0.3) / 3)
    assert tc.brier(trials) == approx(0.41333333333333333)


def test_the_brier_score_splits_into_miscalibration_discrimination_and_uncertainty():
    trials = tc.Trials.of_posteriors([0.4, 0.3, 0.2, 0.1, 0.5, 0.9], [0, 0, 0, 1, 1, 1], trained_prior=0.5)
    score, miscalibration, discrimination, uncertainty = tc.brier_parts(tc.Curve.of(tc.Tally.of(trials)))
    assert (round(miscalibration, 7), round(discrimination, 7), round(uncertainty, 7)) == (0.1016667, 0.125, 0.25)
    assert score == approx(tc.brier(trials))
    assert score == approx(miscalibration - discrimination + uncertainty)


def test_the_log_loss_splits_the_same_way():
    trials = tc.Trials.of_posteriors([0.4, 0.3, 0.2, 0.1, 0.5, 0.9], [0, 0, 0, 1, 1, 1], trained_prior=0.5)
    curve = tc.Curve.of(tc.Tally.of(trials))
    score, miscalibration, discrimination, uncertainty = tc.log_loss_parts(curve)
    assert score == approx(tc.log_loss(trials))
    assert score == approx(miscalibration - discrimination + uncertainty)
    assert uncertainty == 1.0
    assert min(miscalibration, discrimination) > 0


def test_cllr_is_the_cross_entropy_at_prior_one_half(iris):
    assert tc.empirical_cross_entropy(iris, 0.5) == tc.cllr(iris)
    assert tc.cllr(tally_of([0, 0], [0])) == 1.0


# Tables and intervals


def test_finleys_tornado_forecasts():
    table = tc.Confusion([[2680, 23], [72, 28]])
    assert (table.tp, table.fp, table.fn, table.tn) == (28, 72, 23, 2680)
    assert round(table.lr_plus, 5) == 20.98475
    assert round(table.lr_minus, 7) == 0.4630963
    assert round(table.dor, 5) == 45.31401
    assert round(table.mcc, 7) == 0.3767637
    assert table.dor == approx(table.lr_plus / table.lr_minus)


def test_wilsons_interval_of_finleys_detection_rate():
    table = tc.Confusion([[2680, 23], [72, 28]])
    low, high, method = tc.wilson(28, 51, z=1.96)
    assert (round(low, 7), round(high, 7), method) == (0.4138447, 0.6773269, "wilson")
    low, high, method = tc.interval(table, "tpr", "wilson")
    assert (round(low, 4), round(high, 4), method) == (0.4138, 0.6773, "wilson")


def test_no_error_in_300_trials_leaves_up_to_1_22_percent():
    low, high, _ = tc.clopper_pearson(0, 300)
    assert (low, round(high, 4)) == (0.0, 0.0122)
    assert high == approx(1 - 0.025 ** (1 / 300))


def test_clopper_pearsons_ends_leave_a_fortieth_in_each_tail():
    stats = pytest.importorskip("scipy.stats")
    low, high, _ = tc.clopper_pearson(28, 51)
    assert stats.binom.sf(27, 51, low) == approx(0.025, 9)
    assert stats.binom.cdf(28, 51, high) == approx(0.025, 9)


# Large log-likelihood ratios


def test_a_misleading_llr_of_800_costs_800_over_ln_2_bits():
    tally = tally_of([-800.0], [-800.0])  # the non-target's own cost is 0
    assert tc.cllr(tally) == approx(800 / math.log(2) / 2, 15)
    assert tc.cllr(tally_of([800.0], [800.0])) == approx(800 / math.log(2) / 2, 15)


def test_a_certain_wrong_answer_costs_infinitely_many_bits_and_a_certain_right_one_none():
    assert tc.cllr(tally_of([-math.inf, 5.0], [-3.0])) == math.inf
    assert tc.cllr(tally_of([math.inf], [-math.inf])) == 0.0


# Real systems' outputs


@pytest.mark.parametrize(
    ("system", "cost", "cross_entropy"),
    [
        ("cifar10_resnet-20", 0.082, 0.122),
        ("agnews_gpt2", 0.780, 0.814),
        ("pneumoniamnist_resnet50", 0.278, 0.802),
    ],
)
def test_the_costs_of_real_systems_at_their_own_class_frequencies(lab_data, system, cost, cross_entropy):
    folder = lab_data / "scores" / system
    scores, labels = np.load(folder / "scores.npy"), np.load(folder / "targets.npy")
    frequencies = np.bincount(labels) / len(labels)
    trials = tc.Trials.of_logits(scores, labels, trained_prior=frequencies)
    ev = tc.evaluate(trials, [tc.Application.multiclass(frequencies)])
    assert round(ev.applications[0].dcf, 3) == cost
    assert round(ev.normalised_cross_entropy, 3) == cross_entropy
    assert ev.accuracy == approx(1 - ev.applications[0].risk)
    assert ev.accuracy == approx(np.mean(scores.argmax(axis=1) == labels))


# scikit-learn, where its definitions are ours


@pytest.fixture(scope="module")
def metrics():
    return pytest.importorskip("sklearn.metrics")


def random_scores(seed, ties):
    rng = np.random.default_rng(seed)
    labels = rng.random(400) < 0.3
    labels[:2] = [True, False]
    scores = rng.normal(np.where(labels, 1.0, -1.0), 1.5)
    weights = rng.integers(0, 5, 400) / 4 + 0.25
    return (scores.round(1) if ties else scores), labels, weights


def random_decisions(seed, classes):
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, classes, 500)
    decided = np.where(rng.random(500) < 0.6, labels, rng.integers(0, classes, 500))
    return decided, labels, rng.integers(1, 9, 500) / 8


@pytest.mark.parametrize("ties", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_auc_and_average_precision_are_scikit_learns(metrics, seed, weighted, ties):
    scores, labels, weights = random_scores(seed, ties)
    given = weights if weighted else None
    curve = tc.Curve.of(tc.Tally.of(tc.Trials.of_scores(scores, labels, weights=given)))
    assert curve.auc == approx(metrics.roc_auc_score(labels, scores, sample_weight=given))
    assert curve.average_precision == approx(metrics.average_precision_score(labels, scores, sample_weight=given))


@pytest.mark.parametrize("seed", range(3))
def test_the_curve_holds_exactly_scikit_learns_points(metrics, seed):
    scores, labels, _ = random_scores(seed, ties=True)
    curve = tc.Curve.of(tc.Tally.of(tc.Trials.of_scores(scores, labels)))
    fpr, tpr, thresholds = metrics.roc_curve(labels, scores, drop_intermediate=False)
    np.testing.assert_allclose(curve.fpr[::-1], fpr, rtol=1e-14)
    np.testing.assert_allclose(curve.tpr[::-1], tpr, rtol=1e-14)
    # They accept scores >= threshold, we scores > threshold: their threshold is our next higher one.
    np.testing.assert_array_equal(curve.thresholds[1:], thresholds[1:][::-1])


@pytest.mark.parametrize("seed", range(3))
def test_precision_and_recall_are_scikit_learns(metrics, seed):
    scores, labels, _ = random_scores(seed, ties=True)
    curve = tc.Curve.of(tc.Tally.of(tc.Trials.of_scores(scores, labels)))
    precision, recall, _ = metrics.precision_recall_curve(labels, scores)
    ours = curve.precision_recall()
    np.testing.assert_allclose(ours[0], precision[:-1], rtol=1e-14)
    np.testing.assert_allclose(ours[1], recall[:-1], rtol=1e-14)


@pytest.mark.parametrize("seed", range(3))
def test_the_partial_area_is_scikit_learns_before_its_standardisation(metrics, seed):
    scores, labels, _ = random_scores(seed, ties=True)
    curve = tc.Curve.of(tc.Tally.of(tc.Trials.of_scores(scores, labels)))
    standardised = metrics.roc_auc_score(labels, scores, max_fpr=0.2)
    low, high = 0.2**2 / 2, 0.2
    assert curve.partial_auc(fpr=(0, 0.2)) == approx((2 * standardised - 1) * (high - low) + low)
    assert curve.partial_auc(fpr=(0, 1)) == approx(curve.auc)
    assert curve.partial_auc(tpr=(0, 1)) == approx(curve.auc)


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_confusion_matrix_is_scikit_learns_transposed(metrics, classes, weighted):
    decided, labels, weights = random_decisions(classes, classes)
    given = weights if weighted else None
    ours = tc.Confusion.of(decided, labels, weights=given)
    theirs = metrics.confusion_matrix(labels, decided, sample_weight=given)
    np.testing.assert_array_equal(ours.matrix, theirs.T)
    assert tc.Confusion(theirs, transposed=True).matrix == ours.matrix


@pytest.mark.parametrize("classes", [2, 3, 7])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_summaries_of_a_table_are_scikit_learns(metrics, classes, weighted):
    decided, labels, weights = random_decisions(classes, classes)
    given = weights if weighted else None
    table = tc.Confusion.of(decided, labels, weights=given)
    pair = {"y_true": labels, "y_pred": decided, "sample_weight": given}
    assert table.accuracy == approx(metrics.accuracy_score(**pair))
    assert table.mcc == approx(metrics.matthews_corrcoef(**pair))
    assert table.balanced_accuracy == approx(metrics.balanced_accuracy_score(**pair))
    assert table.kappa == approx(metrics.cohen_kappa_score(labels, decided, sample_weight=given))


@pytest.mark.parametrize("how", ["macro", "micro", "weighted"])
@pytest.mark.parametrize("classes", [2, 3, 7])
def test_the_averages_over_classes_are_scikit_learns(metrics, classes, how):
    decided, labels, _ = random_decisions(classes, classes)
    table = tc.Confusion.of(decided, labels)
    assert table.average("precision", how) == approx(metrics.precision_score(labels, decided, average=how))
    assert table.average("recall", how) == approx(metrics.recall_score(labels, decided, average=how))
    assert table.average("f1", how) == approx(metrics.f1_score(labels, decided, average=how))


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("beta", [0.5, 1.0, 2.0])
def test_f_beta_is_scikit_learns(metrics, beta, weighted):
    decided, labels, weights = random_decisions(11, 2)
    given = weights if weighted else None
    table = tc.Confusion.of(decided, labels, weights=given)
    assert table.f_beta(beta) == approx(metrics.fbeta_score(labels, decided, beta=beta, sample_weight=given))
    assert table.f1 == approx(metrics.f1_score(labels, decided, sample_weight=given))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("weighted", [False, True])
def test_two_class_log_loss_and_brier_are_scikit_learns_at_the_datas_own_prior(metrics, seed, weighted):
    scores, labels, weights = random_scores(seed, ties=False)
    given = weights if weighted else None
    posterior = 1 / (1 + np.exp(-scores))
    prior = float(np.average(labels, weights=given))
    trials = tc.Trials.of_posteriors(posterior, labels, trained_prior=prior, weights=given)
    assert tc.log_loss(trials, base=math.e) == approx(metrics.log_loss(labels, posterior, sample_weight=given), 11)
    assert tc.brier(trials) == approx(metrics.brier_score_loss(labels, posterior, sample_weight=given), 11)


@pytest.mark.parametrize("seed", range(3))
def test_many_class_log_loss_and_top_k_accuracy_are_scikit_learns_at_the_datas_own_prior(metrics, seed):
    rng = np.random.default_rng(seed)
    labels = np.r_[0:5, rng.integers(0, 5, 300)]
    rows = rng.dirichlet(np.ones(5), len(labels)) + 0.05 * np.eye(5)[labels]
    rows /= rows.sum(axis=1, keepdims=True)
    trials = tc.Trials.of_posteriors(rows, labels, trained_prior=np.bincount(labels) / len(labels))
    assert tc.log_loss(trials, base=math.e) == approx(metrics.log_loss(labels, rows), 11)
    truth = np.eye(5)[labels]
    assert tc.brier(trials) == approx(((rows - truth) ** 2).sum(axis=1).mean(), 11)
    for k in (1, 2, 3, 5):
        with np.errstate(all="ignore"):
            expected = metrics.top_k_accuracy_score(labels, rows, k=k) if k < 5 else 1.0
        assert tc.top_k_accuracy(trials, k) == approx(expected)


def test_the_blocks_of_the_hull_are_scikit_learns_isotonic_regression():
    isotonic = pytest.importorskip("sklearn.isotonic")
    scores, labels, _ = random_scores(1, ties=True)
    hull = tc.Curve.of(tc.Tally.of(tc.Trials.of_scores(scores, labels))).hull
    fitted = isotonic.IsotonicRegression().fit(scores, labels).predict(scores)
    odds = (hull.targets / hull.nontargets) * np.exp(hull.llrs)
    with np.errstate(invalid="ignore"):
        blocks = np.where(np.isinf(odds), 1.0, odds / (1 + odds))
    mine = blocks[np.searchsorted(hull.thresholds[1:], scores)]
    np.testing.assert_allclose(mine, fitted, atol=1e-9)
