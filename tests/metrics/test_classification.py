"""The classification report, areas for several classes and rates of a matrix, against scikit-learn and by hand."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tercet as tc
from tercet.metrics.counting import _derived

metrics = pytest.importorskip("sklearn.metrics")


def decided(seed, classes=3, size=40):
    rng = np.random.default_rng(seed)
    labels = np.r_[np.arange(classes), rng.integers(0, classes, size)]
    return np.where(rng.random(len(labels)) < 0.6, labels, rng.integers(0, classes, len(labels))), labels


def scored(seed, classes=3, size=40):
    rng = np.random.default_rng(seed)
    labels = np.r_[np.arange(classes), rng.integers(0, classes, size)]
    logits = np.round(rng.normal(size=(len(labels), classes)) + 1.5 * np.eye(classes)[labels], 1)
    posteriors = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    prior = np.full(classes, 1 / classes)
    return tc.Trials.of_posteriors(posteriors, labels, trained_prior=prior), posteriors, labels


seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=50)
@given(seeds)
def test_the_report_gives_scikit_learns_numbers(seed):
    found, labels = decided(seed)
    report = tc.classification_report(tc.Confusion.of(found, labels))
    theirs = metrics.classification_report(labels, found, output_dict=True, zero_division=math.nan)
    for row in report.classes:
        own = theirs[row.name]
        assert row.support == own["support"]
        for mine, name in ((row.precision, "precision"), (row.recall, "recall"), (row.f1, "f1-score")):
            assert (math.isnan(own[name]) and mine is None) or mine == pytest.approx(own[name])
    assert report.overall["accuracy"] == pytest.approx(theirs["accuracy"])
    if not report.reasons:
        for how in ("macro", "weighted"):
            assert report.averages[how]["f1"] == pytest.approx(theirs[f"{how} avg"]["f1-score"])
    assert report.accuracy_ci.low <= report.overall["accuracy"] <= report.accuracy_ci.high


@settings(max_examples=50)
@given(seeds)
def test_rates_of_a_matrix_are_scikit_learns(seed):
    found, labels = decided(seed)
    table = tc.Confusion.of(found, labels)
    for kind in ("linear", "quadratic"):
        assert table.weighted_kappa(kind) == pytest.approx(metrics.cohen_kappa_score(labels, found, weights=kind))
    assert table.adjusted_balanced_accuracy == pytest.approx(
        metrics.balanced_accuracy_score(labels, found, adjusted=True)
    )
    theirs = metrics.jaccard_score(labels, found, average=None)
    assert list(table.per_class("jaccard").values()) == pytest.approx(list(theirs))
    assert table.average("jaccard", "macro") == pytest.approx(metrics.jaccard_score(labels, found, average="macro"))
    for mine, kind in (("class", "true"), ("decision", "pred"), ("all", "all")):
        if mine != "decision" or table.counts.any(axis=1).all():
            assert pytest.approx(metrics.confusion_matrix(labels, found, normalize=kind)) == table.normalised(mine).T


@settings(max_examples=50)
@given(seeds)
def test_areas_of_several_classes_are_scikit_learns(seed):
    trials, posteriors, labels = scored(seed)
    for average in ("macro", "weighted"):
        theirs = metrics.roc_auc_score(labels, posteriors, multi_class="ovr", average=average)
        found = tc.one_vs_rest_auc(trials, average)
        assert found.value == pytest.approx(theirs)
        assert found.prior == pytest.approx((1 / 3, 1 / 3, 1 / 3))
    theirs = metrics.roc_auc_score(labels, posteriors, multi_class="ovo", average="macro")
    assert tc.hand_till_auc(trials).value == pytest.approx(theirs)
    assert tc.log_loss_as_given(trials, base=math.e) == pytest.approx(metrics.log_loss(labels, posteriors))


@settings(max_examples=50)
@given(seeds, st.floats(0.1, 0.9))
def test_the_corrected_partial_area_is_scikit_learns(seed, most):
    rng = np.random.default_rng(seed)
    labels = np.r_[0, 1, rng.integers(0, 2, 40)]
    scores = np.round(rng.normal(labels), 1)
    found = tc.Curve.of(tc.Trials.of_scores(scores, labels)).corrected_partial_auc((0.0, most))
    assert found == pytest.approx(metrics.roc_auc_score(labels, scores, max_fpr=most))


def test_the_area_of_a_class_against_the_rest_depends_on_the_prior_that_is_named():
    trials, _, _ = scored(3)
    other = tc.one_vs_rest_auc(trials, prior=[0.98, 0.01, 0.01])
    assert other.prior == (0.98, 0.01, 0.01)
    assert other.value != tc.one_vs_rest_auc(trials).value
    likelihoods = tc.Trials.of_log_likelihoods(trials.log_likelihoods, trials.labels)
    assert tc.hand_till_auc(likelihoods).prior == tuple(np.bincount(trials.labels) / len(trials))


def test_the_break_even_is_the_precision_among_as_many_as_there_are_targets():
    trials = tc.Trials.of_scores([5.0, 4.0, 3.0, 3.0, 1.0], [1, 0, 1, 0, 1])
    assert tc.Curve.of(trials).break_even == pytest.approx((1 + 0.5) / 3)  # ties share the third place


def test_log_loss_as_given_takes_no_prior_out_and_counts_weights():
    two = tc.Trials.of_posteriors([0.5, 0.75, 0.1], [1, 0, 1], trained_prior=0.01, weights=[1.0, 3.0, 0.0])
    assert tc.log_loss_as_given(two) == pytest.approx((1 + 3 * 2) / 4)
    assert tc.log_loss_as_given(tc.Trials.of_posteriors([0.0], [1], trained_prior=0.5)) == math.inf
    for trials, words in ((tc.Trials.of_llr([0.0], [1]), "posteriors"), ([0.5], "Trials")):
        with pytest.raises(tc.InputError, match=words):
            tc.log_loss_as_given(trials)
    with pytest.raises(tc.InputError, match="base"):
        tc.log_loss_as_given(two, base=1.0)
    with pytest.raises(tc.UndefinedError):
        tc.log_loss_as_given(tc.Trials.of_posteriors([], [], trained_prior=0.5))


def test_what_does_not_exist_is_none_with_its_reason_and_undefined_in_the_table():
    report = tc.classification_report(tc.Confusion.of([0, 0], [0, 1], classes=[0, 1]))
    assert report.classes[1].precision is None
    assert "accepted" in report.reasons["1.precision"]
    assert report.averages["macro"]["precision"] is None
    assert "undefined" in str(report)
    assert report.to_dict()["classes"][1]["precision"] is None


@pytest.mark.parametrize(
    "call",
    [
        lambda: tc.classification_report([[1, 2], [3, 4]]),
        lambda: tc.Confusion([[1, 2], [3, 4]]).weighted_kappa("cubic"),
        lambda: tc.Confusion([[1, 2], [3, 4]]).normalised("rows"),
        lambda: tc.one_vs_rest_auc(tc.Trials.of_llr([1.0], [1])),
        lambda: tc.one_vs_rest_auc(scored(1)[0], "micro"),
        lambda: tc.hand_till_auc(scored(1)[0], prior=[0.5, 0.5]),
    ],
)
def test_wrong_arguments_are_refused(call):
    with pytest.raises(tc.InputError):
        call()


# Counting


def test_a_count_report_knows_every_rate_by_all_its_names():
    report = tc.count_report(tc.Confusion([[2680, 23], [72, 28]]), prevalence=0.1, application=(0.1, 5, 1))
    table = report.confusion
    for name in ("sensitivity", "recall", "tpr", "precision", "npv", "false_alarm_rate", "error_rate"):
        assert report[name].value == getattr(table, name)
        assert report[name].interval.low <= report[name].value <= report[name].interval.high
    assert report["ppv_at"].value == table.ppv_at(0.1)
    assert report["error_rate_at"].value == table.error_rate_at(0.1)
    assert report["risk"].value == pytest.approx(tc.Application(0.1, 5, 1).dcf_u(fnr=table.fnr, fpr=table.fpr))
    assert report["dcf"].value == pytest.approx(report["risk"].value / 0.5)
    assert (report.dummy_action, report.dummy_cost) == ("0", 0.5)
    for name in ("ppv_at", "npv_at", "error_rate_at", "risk"):
        assert report[name].interval.low < report[name].value < report[name].interval.high
    assert report.to_dict()["rates"][0]["name"] == "tpr"
    with pytest.raises(tc.InputError, match="not in this report"):
        report["rainfall"]


def test_bare_rates_say_what_does_not_need_counts():
    report = tc.rates_report(0.8, 0.1)
    assert report["lr_plus"].value == pytest.approx(8.0)
    with pytest.raises(tc.InputError):
        report["ppv"]
    full = tc.rates_report(0.8, 0.1, prevalence=0.5, application=(0.5, 1, 1))
    assert full["ppv"].value == pytest.approx(8 / 9)
    assert full["accuracy"].value == pytest.approx(0.85)
    assert full["dcf"].value == pytest.approx(0.3)
    assert full["tpr"].interval is None
    with pytest.raises(tc.InputError, match="tpr"):
        tc.rates_report(1.2, 0.1)


def test_several_classes_are_counted_with_their_averages():
    report = tc.count_report(tc.Confusion([[8, 1, 0], [2, 6, 1], [0, 3, 9]]),
                             application=tc.Application.multiclass([0.3, 0.4, 0.3], "ordinal"))  # fmt: skip
    assert report["accuracy"].value == pytest.approx(23 / 30)
    assert report.report.averages["macro"]["precision"] == pytest.approx(0.7685, abs=1e-4)
    assert report["risk"].interval.low < report["risk"].value < report["risk"].interval.high
    with pytest.raises(tc.InputError, match="target"):
        tc.count_report(report.confusion, prevalence=0.1)


@pytest.mark.parametrize("share", [0.02, 0.3])
def test_intervals_at_a_prevalence_cover_about_as_often_as_they_say(share):
    rng, held, sets = np.random.default_rng(4), [0, 0, 0], 500
    tpr, fpr = 0.8, 0.1
    true = (
        share * tpr / (share * tpr + (1 - share) * fpr),
        (1 - share) * (1 - fpr) / ((1 - share) * (1 - fpr) + share * (1 - tpr)),
        share * (1 - tpr) + (1 - share) * fpr,
    )
    for _ in range(sets):
        tp, fp = rng.binomial(100, tpr), rng.binomial(150, fpr)
        report = tc.count_report(tc.Confusion([[150 - fp, 100 - tp], [fp, tp]]), prevalence=share)
        for place, name in enumerate(("ppv_at", "npv_at", "error_rate_at")):
            ends = report[name].interval
            held[place] += ends.low <= true[place] <= ends.high
    assert all(0.92 <= one / sets <= 0.985 for one in held), held


@pytest.mark.parametrize(
    "name",
    ["lr_plus", "lr_minus", "dor", "f1", "jaccard", "mcc", "kappa", "balanced_accuracy", "adjusted_balanced_accuracy"],
)
def test_numbers_made_of_rates_have_intervals_that_cover(name):
    rng, held, sets = np.random.default_rng(12), 0, 400
    shares = np.array([0.55, 0.06, 0.09, 0.30])  # tn, fn, fp, tp
    true = getattr(tc.Confusion(shares.reshape(2, 2), classes=["n", "t"], target="t"), name)
    for _ in range(sets):
        counts = rng.multinomial(400, shares).reshape(2, 2)
        ends = tc.count_report(tc.Confusion(counts, classes=["n", "t"], target="t"))[name].interval
        held += ends.low <= true <= ends.high
    assert 0.92 <= held / sets <= 0.985


def test_balanced_accuracy_of_several_classes_has_an_interval_and_an_empty_cell_none_of_the_odds_ratio():
    report = tc.count_report(tc.Confusion([[5, 1, 0], [1, 7, 2], [0, 1, 9]], classes=list("abc")))
    assert report["balanced_accuracy"].interval.low < report["balanced_accuracy"].value
    two = tc.count_report(tc.Confusion([[5, 0], [2, 7]], classes=["n", "t"], target="t"))
    assert two["dor"].interval is None
    assert two["kappa"].interval.high <= 1.0


CLASSES = {
    "three alike": ([[28, 3, 4], [4, 24, 5], [2, 5, 25]], 200),
    "four unequal": ([[40, 7, 4, 2], [8, 9, 2, 1], [6, 3, 6, 1], [5, 2, 1, 3]], 300),
}


@pytest.mark.parametrize("design", CLASSES)
def test_kappa_and_mcc_of_several_classes_have_intervals_that_cover(design):
    """1,000 sets of each design: 93 % is three standard errors below 95 %."""
    shares, size = CLASSES[design]
    shares, rng = np.array(shares) / np.sum(shares), np.random.default_rng(4)
    true = tc.Confusion(shares)
    held = {"kappa": 0, "mcc": 0}
    for counts in rng.multinomial(size, shares.ravel(), 1000):
        table = tc.Confusion(counts.reshape(shares.shape))
        for name in held:
            ends = _derived(table, (name,), 0.95)[0].interval
            held[name] += ends.low <= getattr(true, name) <= ends.high
    assert all(0.93 <= one / 1000 <= 0.975 for one in held.values()), held


@pytest.mark.parametrize("name", ["kappa", "mcc"])
def test_the_error_of_kappa_and_mcc_is_that_of_numerical_derivatives(name):
    counts = np.array([[30.0, 4.0, 1.0], [5.0, 20.0, 6.0], [2.0, 3.0, 29.0]])
    size, slopes = counts.sum(), np.zeros((3, 3))
    for place in np.ndindex(3, 3):
        step = np.zeros((3, 3))
        step[place] = 1e-6
        ends = [getattr(tc.Confusion(counts / size + sign * step), name) for sign in (1, -1)]
        slopes[place] = (ends[0] - ends[1]) / 2e-6
    spread = (counts * (slopes - (counts * slopes).sum() / size) ** 2).sum() / size**2
    value = getattr(tc.Confusion(counts), name)
    found = tc.count_report(tc.Confusion(counts))[name].interval
    reach = 1.959963984540054 * np.sqrt(spread) / (1.0 - value**2)
    assert found.low == pytest.approx(np.tanh(np.arctanh(value) - reach), abs=1e-6)
    assert found.high == pytest.approx(np.tanh(np.arctanh(value) + reach), abs=1e-6)


def test_kappa_and_mcc_of_decisions_that_are_all_right_have_no_interval():
    report = tc.count_report(tc.Confusion(np.diag([4, 5, 6])))
    assert report["kappa"].value == report["mcc"].value == 1.0
    assert report["kappa"].interval is report["mcc"].interval is None


@pytest.mark.parametrize("area", [tc.one_vs_rest_auc, tc.hand_till_auc])
def test_a_constant_added_to_a_row_of_logits_changes_no_area(area):
    rng = np.random.default_rng(11)
    logits, labels = rng.integers(-6, 7, (400, 3)) / 4.0, np.arange(400) % 3
    prior = [0.2, 0.3, 0.5]
    plain = area(tc.Trials.of_logits(logits, labels, trained_prior=prior))
    for shifts in (rng.integers(-40, 41, (400, 1)) / 4.0, rng.normal(0.0, 20.0, (400, 1))):
        assert area(tc.Trials.of_logits(logits + shifts, labels, trained_prior=prior)).parts == plain.parts


def test_infinite_logits_stay_apart_from_finite_ones():
    logits = [[-np.inf, 0.0, 1.0], [3.0, -np.inf, -np.inf], [1e300, 0.0, 0.0], [0.5, 0.5, 0.0]]
    found = tc.one_vs_rest_auc(tc.Trials.of_logits(logits, [2, 0, 0, 1], trained_prior=[1 / 3] * 3))
    assert found.parts["0"] == 1.0
