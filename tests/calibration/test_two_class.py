"""Logistic, Isotonic, Gaussian and Threshold: the laws of calibration, and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from tercet import Application, Curve, Tally, Trials, cllr, confusion_of, empirical_cross_entropy, entropy, min_cllr
from tercet.calibration.two_class import Gaussian, Isotonic, Logistic, Threshold, shift_prior
from tercet.errors import CalibrationError, InputError, TercetError
from tercet.metrics.costs import bayes_error, min_cross_entropy
from tercet.testing import labelled_scores, operating_points, pav, weights_for

PRIORS = st.sampled_from([0.5, 0.1, 0.9, 0.01, 0.99])


@st.composite
def overlapping(draw, max_size=30):
    """Ordinary scores whose classes overlap, so that logistic regression has an answer."""
    labels = [0, 0, 1, 1, *draw(st.lists(st.integers(0, 1), max_size=max_size - 4))]
    values = draw(st.lists(st.one_of(st.integers(-3, 3), st.floats(-8, 8)), min_size=len(labels), max_size=len(labels)))
    scores = np.array(values, float)
    scores = np.where(np.abs(scores) < 1e-6, 0.0, scores)
    target = np.array(labels) == 1
    t, f = scores[target], scores[~target]
    spread = scores.max() - scores.min()
    assume(f.max() > t.min() + 1e-3 * spread and t.max() > f.min() + 1e-3 * spread and spread > 1e-3)
    return scores, target


def gradient(model, scores, target, prior, weights=None):
    """The gradient of the prior-weighted objective in (slope, offset) on standardised scores, from its definition."""
    w = np.ones(len(scores)) if weights is None else np.asarray(weights, float)
    mean = np.average(scores, weights=w)
    deviation = math.sqrt(np.average((scores - mean) ** 2, weights=w))
    x = (scores - mean) / deviation
    eta = model(scores) + math.log(prior) - math.log1p(-prior)
    z = np.where(target, 1.0, -1.0)
    xi = w * np.where(target, prior / w[target].sum(), (1 - prior) / w[~target].sum())
    slack = -z * xi / (1 + np.exp(np.minimum(z * eta, 700)))
    return np.array([slack @ x, slack.sum()])


@given(overlapping(), PRIORS)
def test_the_gradient_at_the_logistic_answer_is_zero(rows, prior):
    scores, target = rows
    model = Logistic.fit(Trials.of_scores(scores, target), prior)
    assert model.training["gradient_norm"] < 1e-9
    assert np.linalg.norm(gradient(model, scores, target, prior)) < 1e-9


def test_the_gradient_test_notices_a_wrong_slope():
    rng = np.random.default_rng(0)
    target = np.arange(40) % 2 == 1
    scores = rng.normal(size=40) + target
    model = Logistic.fit(Trials.of_scores(scores, target), 0.3)
    wrong = Logistic(model.slope * 1.001, model.offset, model.training)
    assert np.linalg.norm(gradient(wrong, scores, target, 0.3)) > 1e-6


@given(overlapping(), PRIORS, st.sampled_from([2.0, -0.5, 1e3, -1e-4]), st.sampled_from([0.0, 1.0, -30.0]))
def test_logistic_is_affine_equivariant(rows, prior, scale, shift):
    scores, target = rows
    plain = Logistic.fit(Trials.of_scores(scores, target), prior)(scores)
    moved = scores * scale + shift
    assert np.allclose(Logistic.fit(Trials.of_scores(moved, target), prior)(moved), plain, rtol=1e-6, atol=1e-6)


@given(overlapping(), PRIORS)
def test_logistic_never_raises_the_cross_entropy_at_its_own_prior(rows, prior):
    scores, target = rows
    trials = Trials.of_llr(scores, target)
    after = empirical_cross_entropy(Tally.of(Logistic.fit(trials, prior)(trials)), prior)
    assert after <= empirical_cross_entropy(Tally.of(trials), prior) + 1e-9
    assert after <= entropy([prior, 1 - prior]) + 1e-9


@given(overlapping())
def test_the_slope_has_the_sign_of_the_difference_of_means_and_then_min_cllr_is_below(rows):
    scores, target = rows
    trials = Trials.of_scores(scores, target)
    apart = scores[target].mean() - scores[~target].mean()
    assume(abs(apart) > 1e-6)
    model = Logistic.fit(trials)
    assert (model.slope > 0) == (apart > 0)
    if apart > 0:
        assert min_cllr(Curve.of(Tally.of(trials))) <= cllr(Tally.of(model(trials))) + 1e-12


@given(overlapping(), PRIORS, st.data())
def test_integer_weights_are_repeated_rows_and_zero_weights_are_dropped_rows(rows, prior, data):
    scores, target = rows
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(scores), max_size=len(scores))))
    heavy = Logistic.fit(Trials.of_scores(scores, target, weights=weights), prior)
    repeated = Logistic.fit(Trials.of_scores(np.repeat(scores, weights), np.repeat(target, weights)), prior)
    assert np.allclose(heavy(scores), repeated(scores), rtol=1e-8, atol=1e-8)
    more = np.append(scores, 5.0), np.append(target, True), np.append(weights, 0)
    assert Logistic.fit(Trials.of_scores(more[0], more[1], weights=more[2]), prior).slope == heavy.slope


@given(labelled_scores(min_each=1), st.data())
def test_isotonic_weights_are_repeated_rows(rows, data):
    scores, labels = np.array(rows[0]), np.array(rows[1])
    weights = np.array(data.draw(st.lists(st.integers(1, 3), min_size=len(scores), max_size=len(scores))))
    for raw in (True, False):
        heavy = Isotonic.fit(Trials.of_scores(scores, labels, weights=weights), raw=raw)
        repeated = Isotonic.fit(Trials.of_scores(np.repeat(scores, weights), np.repeat(labels, weights)), raw=raw)
        assert np.array_equal(heavy.thresholds, repeated.thresholds)
        assert np.array_equal(heavy.llrs, repeated.llrs)


@given(overlapping(), st.integers(0, 2**32 - 1))
def test_no_fit_depends_on_the_order_of_the_rows(rows, seed):
    scores, target = rows
    order = np.random.default_rng(seed).permutation(len(scores))
    for method in (Logistic, Isotonic, Gaussian):
        one, other = (method.fit(Trials.of_scores(s, t)) for s, t in ((scores, target), (scores[order], target[order])))
        assert one.to_json() == other.to_json()


@given(labelled_scores(), operating_points())
def test_after_the_raw_pav_map_the_actual_cost_is_the_minimum(rows, point):
    trials = Trials.of_scores(*rows)
    app = Application(*point)
    mapped = Isotonic.fit(trials, raw=True)(trials)
    least = Curve.of(Tally.of(trials)).min_dcf(app).dcf
    assert confusion_of(mapped, app).normalised_risk(app) == pytest.approx(least, rel=1e-12)
    grid = np.linspace(-6, 6, 25)
    plot = bayes_error(Curve.of(Tally.of(mapped)), grid)
    assert np.allclose(plot.dcf, plot.min_dcf, rtol=1e-12)


@given(labelled_scores())
def test_pav_is_idempotent_and_its_llrs_strictly_rise(rows):
    trials = Trials.of_scores(*rows)
    model = Isotonic.fit(trials, raw=True)
    assert (np.diff(model.llrs) > 0).all() or not np.isfinite(np.diff(model.llrs)).all()
    assert (model.llrs[1:] > model.llrs[:-1]).all()
    once = model(trials)
    assert np.allclose(Isotonic.fit(once, raw=True)(once).scores, once.scores, rtol=1e-14, equal_nan=False)


@given(labelled_scores())
def test_the_isotonic_blocks_are_those_of_pooling_adjacent_violators(rows):
    blocks = pav(*rows)
    model = Isotonic.fit(Trials.of_scores(*rows), raw=True)
    assert model.thresholds.tolist() == [high for _, high, _, _ in blocks[:-1]]
    assert len(model.llrs) == len(blocks)


@given(labelled_scores(), st.data())
def test_smoothed_isotonic_is_pav_with_one_made_up_error_per_class(rows, data):
    scores, labels = list(rows[0]), list(rows[1])
    assume(np.isfinite(scores).all())
    model = Isotonic.fit(Trials.of_scores(scores, labels))
    assert np.isfinite(model.llrs).all()
    more = Isotonic.fit(Trials.of_scores([*scores, -math.inf, math.inf], [*labels, 1, 0]), raw=True)
    assert np.array_equal(model(np.array(scores)), more(np.array(scores)))


@given(labelled_scores(max_size=20))
def test_an_isotonic_map_is_monotone_and_constant_outside(rows):
    model = Isotonic.fit(Trials.of_scores(*rows))
    probe = np.sort(np.concatenate((rows[0], [-math.inf, math.inf, -1e300, 1e300, 0.0])))
    mapped = model(probe)
    assert (np.diff(mapped) >= 0).all()
    assert (mapped[0], mapped[-1]) == (model.llrs[0], model.llrs[-1])


def test_a_score_between_two_blocks_takes_the_upper_llr():
    model = Isotonic.fit(Trials.of_scores([0.0, 1.0, 1.0, 4.0, 4.0, 5.0], [0, 0, 1, 0, 1, 1]), raw=True)
    assert model.thresholds.tolist() == [0.0, 4.0]
    assert model([0.0, 0.5, 1.0, 4.0, 4.5]).tolist() == [-math.inf, 0.0, 0.0, 0.0, math.inf] or model.llrs[1] != 0.0
    assert model([0.5])[0] == model.llrs[1]
    assert model([4.5])[0] == model.llrs[2]


@pytest.mark.parametrize("kind", ["normal", "cauchy", "ties", "huge"])
def test_many_scores_are_mapped_by_table_as_by_search(kind):
    rng = np.random.default_rng(3)
    n = 300_000
    target = rng.random(n) < 0.3
    scores = {
        "normal": rng.normal(size=n) + target,
        "cauchy": rng.standard_cauchy(size=n) + target,
        "ties": np.round(rng.normal(size=n) + target, 2),
        "huge": (rng.normal(size=n) + target) * 1e307,
    }[kind]
    scores[:2] = [math.inf, -math.inf]
    model = Isotonic.fit(Trials.of_scores(scores, target))
    assert np.array_equal(model(scores), model.llrs[np.searchsorted(model.thresholds, scores)])


def test_a_long_logistic_fit_reaches_the_same_bound():
    rng = np.random.default_rng(4)
    target = rng.random(700_000) < 0.1
    scores = 3 * (rng.normal(size=700_000) + target)
    model = Logistic.fit(Trials.of_scores(scores, target), 0.01)
    assert model.training["gradient_norm"] < 1e-9
    assert np.linalg.norm(gradient(model, scores, target, 0.01)) < 1e-10
    weights = rng.integers(0, 3, size=700_000)
    heavy = Logistic.fit(Trials.of_scores(scores, target, weights=weights), 0.01)
    assert np.linalg.norm(gradient(heavy, scores, target, 0.01, weights)) < 1e-10


@given(overlapping(), st.booleans())
def test_the_gaussian_llr_is_the_difference_of_log_densities(rows, shared):
    scores, target = rows
    t, f = scores[target], scores[~target]
    assume(t.std() > 1e-2 and f.std() > 1e-2)
    model = Gaussian.fit(Trials.of_scores(scores, target), shared_variance=shared)
    vt, vf = t.var(), f.var()
    if shared:
        vt = vf = (vt * len(t) + vf * len(f)) / len(scores)
    logs = [-0.5 * (np.log(v) + (scores - m) ** 2 / v) for m, v in ((t.mean(), vt), (f.mean(), vf))]
    assert np.allclose(model(scores), logs[0] - logs[1], rtol=1e-6, atol=1e-6)


def test_the_quadratic_map_turns_where_it_says():
    rng = np.random.default_rng(5)
    target = np.arange(1000) % 2 == 1
    model = Gaussian.fit(Trials.of_scores(rng.normal(size=1000) * (1 + target) + target, target), shared_variance=False)
    turn = model.turning_point
    at = model([turn - 1e-3, turn, turn + 1e-3])
    assert at[1] < min(at[0], at[2])
    assert model([math.inf, -math.inf]).tolist() == [math.inf, math.inf]
    assert Gaussian.fit(Trials.of_scores([-2, 0, 0, 2], [0, 0, 1, 1])).turning_point is None


@given(labelled_scores(), operating_points())
def test_a_threshold_costs_the_minimum_on_its_own_trials(rows, point):
    trials, app = Trials.of_scores(*rows), Application(*point)
    decided = Threshold.fit(trials, app)(trials)
    labels = np.array(rows[1])
    fnr, fpr = np.mean(decided[labels == 1] == 0), np.mean(decided[labels == 0] == 1)
    assert app.dcf(fnr=fnr, fpr=fpr) == pytest.approx(Curve.of(Tally.of(trials)).min_dcf(app).dcf, rel=1e-12)


@given(overlapping(), st.sampled_from([0.25, 3.0, 1e4]), st.sampled_from([0.0, 7.0]))
def test_increasing_affine_maps_leave_ranks_and_minima_alone(rows, scale, shift):
    scores, target = rows
    scores = np.round(scores * 64) / 64  # so that the map neither merges nor splits
    before = Curve.of(Tally.of(Trials.of_scores(scores, target)))
    after = Curve.of(Tally.of(Trials.of_scores(scores * scale + shift, target)))
    assert (before.auc, before.eer().value, before.min_dcf(0.1).dcf) == (
        after.auc,
        after.eer().value,
        after.min_dcf(0.1).dcf,
    )


def test_calibrated_trials_keep_labels_ids_weights_and_groups():
    trials = Trials.of_scores(
        [0.0, 1.0, 1.0, 2.0, 0.5],
        [0, 1, 0, 1, 1],
        weights=[1, 2, 1, 1, 1],
        ids=list("abcde"),
        groups={"s": [1, 1, 2, 2, 3]},
    )
    for method in (Logistic, Isotonic, Gaussian):
        out = method.fit(trials)(trials)
        assert out.meaning == "llr"
        assert out.ids.tolist() == list("abcde")
        assert out.weights.tolist() == [1, 2, 1, 1, 1]
        assert out.groups["s"].tolist() == [1, 1, 2, 2, 3]
        assert out.labels.tolist() == [False, True, False, True, True]
        assert not out.scores.flags.writeable
        assert np.array_equal(out.scores, method.fit(trials)(trials.scores))
    unlabelled = Trials.of_scores([0.3, 0.7])
    assert Logistic.fit(trials)(unlabelled).labels is None


def test_the_iris_numbers():
    from sklearn.datasets import load_iris

    data = load_iris()
    trials = Trials.of_scores(data.data[:100, 0], data.target[:100])
    model = Logistic.fit(trials, prior=0.5)
    assert model.slope == pytest.approx(5.140336, abs=5e-7)
    assert model.offset == pytest.approx(-27.831451, abs=5e-7)
    assert cllr(Tally.of(model(trials))) == pytest.approx(0.463186, abs=5e-7)
    raw = Isotonic.fit(trials, raw=True)(trials)
    assert cllr(Tally.of(raw)) == pytest.approx(0.403062010535587, abs=1e-12)
    assert min_cross_entropy(Curve.of(Tally.of(trials)), 0.5) == pytest.approx(cllr(Tally.of(raw)), rel=1e-14)


def test_separable_scores_are_refused_and_a_penalty_is_offered():
    trials = Trials.of_scores([1, 2, 5, 7, -7, -5, -2, -1], [1] * 4 + [0] * 4)
    with pytest.raises(CalibrationError, match=r"separable.*penalty=1e-3"):
        Logistic.fit(trials)
    model = Logistic.fit(trials, penalty=1e-3)
    assert model.training["penalty"] == 1e-3
    assert model.slope > 0
    for scores, labels in (([0, 1, 1, 2], [0, 0, 1, 1]), ([2, 1, 1, 0], [0, 0, 1, 1]), ([0, 1, 2], [0, 1, 0])):
        expected = pytest.raises(CalibrationError) if scores != [0, 1, 2] else None
        if expected:
            with expected:
                Logistic.fit(Trials.of_scores(scores, labels))
        else:
            assert Logistic.fit(Trials.of_scores(scores, labels)).training["gradient_norm"] < 1e-9
    weighted = Trials.of_scores([0, 1, 2, 3], [0, 0, 1, 0], weights=[1, 1, 1, 0])
    with pytest.raises(CalibrationError, match="separable"):
        Logistic.fit(weighted)


@pytest.mark.parametrize("method", [Logistic, Isotonic, Gaussian])
def test_one_class_is_refused(method):
    with pytest.raises(CalibrationError, match="no non-targets"):
        method.fit(Trials.of_scores([1.0, 2.0], [1, 1]))
    with pytest.raises(InputError, match="no labels"):
        method.fit(Trials.of_scores([1.0, 2.0]))


def test_zero_variance_is_refused():
    tied = Trials.of_scores([0.1] * 4, [0, 1, 0, 1])
    for method in (Logistic, Gaussian):
        with pytest.raises(CalibrationError, match="variance"):
            method.fit(tied)
    assert Isotonic.fit(tied)([0.1, 9.0]).tolist() == [0.0, 0.0]
    with pytest.raises(CalibrationError, match="shared_variance"):
        Gaussian.fit(Trials.of_scores([0, 1, 5, 5], [0, 0, 1, 1]), shared_variance=False)


def test_infinite_scores_in_a_fit_are_refused_or_ranked():
    trials = Trials.of_scores([0, 1, math.inf, -math.inf, 2, 0.5], [0, 0, 1, 0, 1, 1])
    for method in (Logistic, Gaussian):
        with pytest.raises(CalibrationError, match="Isotonic"):
            method.fit(trials)
    assert np.isfinite(Isotonic.fit(trials)(trials.scores)).all()
    finite = trials.select(np.isfinite(trials.scores))
    assert Logistic.fit(finite)([math.inf, -math.inf]).tolist() == [math.inf, -math.inf]
    assert Logistic(0.0, 1.0, {}).slope == 0.0
    assert Logistic(0.0, 1.0, {})([math.inf]).tolist() == [1.0]


@pytest.mark.parametrize("scale", [1e-300, 1e150, 1e307])
def test_scores_of_any_size_are_calibrated_alike(scale):
    base, labels = np.array([0.0, 1.0, 1.0, 2.0, 1.5, 0.5]), [0, 1, 0, 1, 0, 1]
    for method in (Logistic, Gaussian):
        plain = method.fit(Trials.of_scores(base, labels))(base)
        assert np.allclose(
            method.fit(Trials.of_scores(base * scale, labels))(base * scale), plain, rtol=1e-9, atol=1e-9
        )


@given(labelled_scores(infinities=False), PRIORS)
def test_whatever_the_scores_a_fit_answers_or_says_why_not(rows, prior):
    trials = Trials.of_scores(*rows)
    for method in (Logistic, Isotonic, Gaussian):
        try:
            model = method.fit(trials, prior)
        except TercetError:
            continue
        assert not np.isnan(model(trials.scores)).any()


@pytest.mark.parametrize("prior", [0.0, 1.0, math.nan, -1, "x", True])
def test_bad_priors_are_refused(prior):
    trials = Trials.of_scores([0, 1, 1, 2], [0, 1, 0, 1])
    for method in (Logistic, Isotonic, Gaussian):
        with pytest.raises(InputError, match="prior"):
            method.fit(trials, prior)


@pytest.mark.parametrize("penalty", [-1.0, math.nan, math.inf, "x"])
def test_bad_penalties_are_refused(penalty):
    with pytest.raises(InputError, match="penalty"):
        Logistic.fit(Trials.of_scores([0, 1, 1, 2], [0, 1, 0, 1]), penalty=penalty)


def test_scores_of_another_meaning_are_refused():
    model = Isotonic.fit(Trials.of_posteriors([0.2, 0.6, 0.4, 0.9], [0, 1, 0, 1], trained_prior=0.5))
    with pytest.raises(InputError, match="trained on scores that are posterior"):
        model(Trials.of_llr([0.2]))
    assert len(model(Trials.of_scores([0.2]))) == 1
    with pytest.raises(InputError, match="NaN"):
        model([math.nan])
    with pytest.raises(InputError, match=r"two classes, not 3: .*Affine"):
        Logistic.fit(Trials.of_log_likelihoods(np.zeros((4, 3)), [0, 1, 2, 0]))


@given(st.lists(st.floats(-700, 700), min_size=1, max_size=9), PRIORS, PRIORS)
def test_moving_log_odds_there_and_back_is_exact_within_rounding(odds, before, after):
    there = shift_prior(odds, before, after, meaning="log-odds")
    assert np.allclose(shift_prior(there, after, before, meaning="log-odds"), odds, rtol=1e-13, atol=1e-13)


@given(st.lists(st.floats(1e-9, 1 - 1e-9), min_size=1, max_size=9), PRIORS, PRIORS)
def test_posteriors_and_log_odds_move_alike(posteriors, before, after):
    p = np.array(posteriors)
    moved = shift_prior(p, before, after, meaning="posterior")
    odds = shift_prior(np.log(p) - np.log1p(-p), before, after, meaning="log-odds")
    assert np.allclose(moved, 1 / (1 + np.exp(-odds)), rtol=1e-9)
    rows = shift_prior(np.stack((1 - p, p), 1), [1 - before, before], [1 - after, after], meaning="posterior")
    assert np.allclose(rows[:, 1], moved, rtol=1e-14)


def test_certain_posteriors_stay_certain_and_bad_ones_are_refused():
    assert shift_prior([0.0, 1.0], 0.5, 0.01, meaning="posterior").tolist() == [0.0, 1.0]
    for call in (
        lambda: shift_prior([0.5], 0.5, 0.1, meaning="llr"),
        lambda: shift_prior([1.5], 0.5, 0.1, meaning="posterior"),
        lambda: shift_prior([[0.5, 0.6]], [0.5, 0.5], [0.1, 0.9], meaning="posterior"),
        lambda: shift_prior([0.5], 0.0, 0.1, meaning="posterior"),
        lambda: shift_prior([[0.5, 0.5]], [0.5, 0.5], [0.2, 0.3, 0.5], meaning="posterior"),
    ):
        with pytest.raises(InputError):
            call()


def test_weights_of_any_unit_give_the_same_raw_map():
    @given(labelled_scores(), st.data())
    def same(rows, data):
        weights = np.array(data.draw(weights_for(len(rows[0]), "fractional")))
        one, other = (Isotonic.fit(Trials.of_scores(*rows, weights=w), raw=True) for w in (weights, weights * 8))
        assert np.array_equal(one.llrs, other.llrs)

    same()


def test_a_threshold_that_accepts_everything_takes_rejections_too_whatever_the_weights():
    for weights in (None, [0.5, 0.5, 0.25]):
        rule = Threshold.fit(Trials.of_scores([1.0, 2.0, 0.0], [1, 1, 0], weights=weights), (0.999, 1, 1))
        assert rule.accept_all == (rule.threshold == -math.inf)
    rule = Threshold.fit(Trials.of_scores([1.0, 0.0, 2.0], [1, 1, 0], weights=[0.5, 0.5, 0.25]), (0.999, 1, 1))
    assert rule.accept_all
    assert rule([-math.inf]).tolist() == [1]
