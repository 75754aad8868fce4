"""Multiclass calibration, its minimum cost, and fusion."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tercet import Application, Curve, Tally, Trials, confusion_of, decide, log_loss, posteriors
from tercet.calibration._designs import contrasts
from tercet.calibration.fusion import Fusion, load_model
from tercet.calibration.multiclass import KINDS, Affine
from tercet.calibration.two_class import Logistic
from tercet.errors import CalibrationError, InputError
from tercet.metrics.min_risk import min_risk
from tercet.testing import cost_matrices, labelled_scores, operating_points, priors, score_matrices


def noisy(n=90, classes=3, seed=0, scale=1.0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    return rng.normal(size=(n, classes)) + scale * np.eye(classes)[labels], labels


def rows_of(matrix, labels, **more):
    return Trials.of_log_likelihoods(matrix, labels, orientation="samples x classes", **more)


# Affine calibration


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("prior", [None, [0.7, 0.2, 0.1]])
def test_the_gradient_of_the_cross_entropy_vanishes_in_every_direction(kind, prior):
    matrix, labels = noisy()
    trials = rows_of(matrix, labels)
    model = Affine.fit(trials, prior, kind=kind)
    share = [1 / 3] * 3 if prior is None else prior
    assert model.training["gradient_norm"] < 1e-9
    here = log_loss(model(trials), share)
    assert here <= log_loss(trials, share) + 1e-12
    if kind != "temperature":  # whose posteriors tend to uniform ones, not to the prior
        assert here <= -sum(p * math.log2(p) for p in share) + 1e-12
    rng = np.random.default_rng(1)
    for _ in range(10):
        weights = model.weights + 1e-3 * rng.normal(size=model.weights.shape)
        offsets = model.offsets + (1e-3 * rng.normal(size=3) if kind in ("offsets", "matrix") else 0.0)
        offsets = (weights[0, 0] - 1.0) * np.log(share) if kind == "temperature" else offsets
        moved = Affine(kind, model.classes, weights, offsets, model.training)
        assert log_loss(moved(trials), share) >= here - 1e-13


@pytest.mark.parametrize("kind", ["offsets", "matrix"])
def test_two_classes_through_the_multiclass_road_are_logistic(kind):
    rng = np.random.default_rng(2)
    target = np.arange(60) % 2 == 1
    scores = rng.normal(size=60) + target
    one = Logistic.fit(Trials.of_scores(scores, target), 0.2)(scores)
    model = Affine.fit(rows_of(np.stack((0 * scores, scores), 1), target.astype(int)), [0.8, 0.2], kind=kind)
    two = model(np.stack((0 * scores, scores), 1))
    assert np.allclose(two[:, 1] - two[:, 0], one, rtol=1e-9, atol=1e-9)
    llr = Affine.fit(Trials.of_llr(scores, target), 0.2, kind=kind)(Trials.of_llr(scores, target))
    assert np.allclose(llr.llr, one, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_a_constant_added_to_a_row_changes_nothing(kind):
    matrix, labels = noisy()
    shift = np.arange(len(matrix))[:, None] * 4.0
    one, other = (Affine.fit(rows_of(m, labels), kind=kind)(m) for m in (matrix, matrix + shift))
    assert np.allclose(one - one[:, :1], other - other[:, :1], atol=1e-7)


def test_repeated_rows_are_weights():
    matrix, labels = noisy()
    weights = np.arange(len(labels)) % 3 + 1
    heavy = Affine.fit(rows_of(matrix, labels, weights=weights))
    repeated = Affine.fit(rows_of(np.repeat(matrix, weights, axis=0), np.repeat(labels, weights)))
    assert np.allclose(heavy(matrix), repeated(matrix), atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_separable_classes_are_refused_unless_a_penalty_is_given(kind):
    matrix, labels = noisy(30, scale=50.0)
    with pytest.raises(CalibrationError, match=r"separable.*penalty"):
        Affine.fit(rows_of(matrix, labels), kind=kind)
    assert Affine.fit(rows_of(matrix, labels), kind=kind, penalty=1e-3).training["gradient_norm"] < 1e-9


def test_columns_that_say_nothing_more_get_the_least_norm():
    matrix, labels = noisy()
    matrix[:, 2] = 0.5 * (matrix[:, 0] + matrix[:, 1])
    model = Affine.fit(rows_of(matrix, labels), kind="matrix")
    assert np.abs(model.weights).max() < 10


def test_bad_multiclass_input_is_refused():
    matrix, labels = noisy()
    with pytest.raises(InputError, match="kind must be"):
        Affine.fit(rows_of(matrix, labels), kind="vector")
    with pytest.raises(CalibrationError, match="no trials of class"):
        Affine.fit(rows_of(matrix, labels % 2))
    with pytest.raises(CalibrationError, match="variance"):
        Affine.fit(rows_of(np.zeros((6, 3)), [0, 1, 2, 0, 1, 2]))
    ruled_out = matrix.copy()
    ruled_out[4, 1] = -math.inf
    with pytest.raises(CalibrationError, match="row 4"):
        Affine.fit(rows_of(ruled_out, labels))
    model = Affine.fit(rows_of(matrix, labels))
    assert model(ruled_out)[4, 1] == -math.inf
    with pytest.raises(InputError, match="cannot take -inf"):
        Affine.fit(rows_of(matrix, labels), kind="matrix")(ruled_out)
    with pytest.raises(InputError, match="3 classes"):
        model(matrix[:, :2])
    wide, many = noisy(300, 30)
    with pytest.raises(InputError, match="more than 600"):
        Affine.fit(rows_of(wide, many), kind="matrix")


def test_contrasts_are_orthonormal_and_sum_to_zero():
    for k in (2, 3, 7):
        basis = contrasts(k)
        assert np.allclose(basis.T @ basis, np.eye(k - 1))
        assert np.allclose(basis.sum(axis=0), 0)


# The multiclass minimum


def brute_force(matrix, labels, app):
    """The least risk over all cells of offsets: one inner point per cell of the arrangement, for 0-1 costs, K = 3.

    Breakpoints of o_1 - o_0, o_2 - o_0 and o_2 - o_1 cut the plane; points beside every crossing of two lines, and far
    out along each, meet every cell.
    """
    joint = np.asarray(matrix) + np.log(app.prior)
    labels = np.asarray(labels)
    weights = np.array([app.prior[c] / np.sum(labels == c) for c in labels])
    lines = [np.unique(joint[:, j] - joint[:, k]) for j, k in ((0, 1), (0, 2), (1, 2))]
    points = [(a, b) for a, b in itertools.product(lines[0], lines[1])]
    points += [(a, a + c) for a, c in itertools.product(lines[0], lines[2])]
    points += [(b - c, b) for b, c in itertools.product(lines[1], lines[2])]
    nudges = [(1e-6 * math.cos(t), 1e-6 * math.sin(t)) for t in np.arange(12) * math.pi / 6 + 0.1]
    around = [(x + dx, y + dy) for (x, y) in points for dx, dy in nudges]
    far = [(x, y) for x in (-99.0, 99.0) for y in (-99.0, 99.0, -199.0, 199.0)]
    offsets = np.array([(0.0, x, y) for x, y in around + far])
    decided = (joint[None] + offsets[:, None]).argmax(axis=2)
    risks = (app.costs[decided, labels[None]] * weights).sum(axis=1)
    return min(float(risks.min()), app.dummy_cost)


@settings(max_examples=60)
@given(st.integers(3, 12), st.integers(0, 10_000), st.booleans(), priors(3))
def test_the_multiclass_minimum_is_that_of_all_offset_cells(n, seed, ties, prior):
    assume(min(prior) > 1e-3)
    rng = np.random.default_rng(seed)
    labels = np.concatenate((np.arange(3), rng.integers(0, 3, n - 3)))
    matrix = rng.integers(-2, 3, size=(n, 3)).astype(float) if ties else rng.normal(size=(n, 3)) * 2
    app = Application.multiclass(prior)
    least = min_risk(rows_of(matrix, labels), app)
    assert least.exact
    assert least.risk == pytest.approx(brute_force(matrix, labels, app), abs=1e-12)


@settings(max_examples=25)
@given(score_matrices(max_size=10, infinities=False), cost_matrices(3), st.integers(0, 99))
def test_no_offsets_beat_the_minimum_at_any_costs(rows, costs, seed):
    matrix, labels = np.array(rows[0]), np.array(rows[1])
    app = Application.multiclass([0.5, 0.3, 0.2], costs)
    trials = rows_of(matrix, labels)
    least = min_risk(trials, app)
    assert least.risk <= confusion_of(trials, app).risk(app) * (1 + 1e-9) + 1e-12
    assert least.risk <= app.dummy_cost * (1 + 1e-12)
    assert least.lower_bound <= least.risk
    for offsets in np.random.default_rng(seed).normal(scale=3, size=(40, 3)):
        shifted = confusion_of(rows_of(matrix + offsets, labels), app).risk(app)
        assert least.risk <= shifted * (1 + 1e-9) + 1e-12


@given(labelled_scores(), operating_points())
def test_for_two_classes_it_is_min_dcf_times_the_dummy(rows, point):
    trials, app = Trials.of_llr(*rows), Application(*point)
    assert min_risk(trials, app).risk == Curve.of(Tally.of(trials)).min_dcf(app).dcf * app.dummy_cost


@given(st.lists(st.integers(-30, 30), min_size=2, max_size=12), st.floats(0.05, 0.95), st.floats(0.1, 10.0))
def test_the_offsets_of_two_classes_reach_the_risk_whatever_the_rounding(tenths, prior, cost):
    scores = np.array(tenths) / 10.0
    trials, app = Trials.of_llr(scores, np.arange(len(scores)) % 2), Application(prior, cost, 1.0)
    least = min_risk(trials, app)
    if least.offsets is None:
        assert least.risk == pytest.approx(app.dummy_cost)
    else:
        moved = Trials.of_llr(trials.llr + least.offsets[1], trials.labels)
        assert confusion_of(moved, app).risk(app) == pytest.approx(least.risk, rel=1e-9, abs=1e-12)


def test_rejecting_everything_is_named_whatever_the_unit_of_the_weights():
    trials = Trials.of_llr([-2.0, -2.0], [0, 1], weights=[2.0, 2.0])
    assert min_risk(trials, (0.3, 1, 1)).always == "0"


def test_priors_and_costs_in_another_order_of_the_classes_are_refused():
    app = Application.multiclass([0.1, 0.9], [[0, 1], [5, 0]], classes=["b", "a"])
    rows = rows_of([[0.0, 1.0], [1.0, 0.0], [2.0, 0.0]], ["a", "b", "a"], classes=["a", "b"])
    ratios = Trials.of_llr([1.0, -1.0, -2.0], ["a", "b", "a"], target="b")
    several = Trials.of_llr([1.0, -1.0, -2.0], ["a", "b", "c"], target="b")
    for trials in (rows, ratios, several):
        for ask in (min_risk, confusion_of, decide):
            with pytest.raises(InputError, match="classes"):
                ask(trials, app)
    same = Application.multiclass([0.9, 0.1], [[0, 5], [1, 0]], classes=["a", "b"])
    unnamed = Trials.of_llr([1.0, -1.0, -2.0], [0, 1, 0])
    assert min_risk(ratios, same).risk == min_risk(rows, same).risk == min_risk(unnamed, same).risk


@pytest.mark.parametrize(
    ("labels", "target", "classes"),
    [
        ([0, 1, 0], None, ["1", "0"]),
        ([False, True, False], None, ["True", "False"]),
        (["0", "1", "0"], "1", ["1", "0"]),
        (["a", "b", "c"], "b", ["a", "c"]),
    ],
)
def test_an_application_that_calls_another_class_the_target_is_refused(labels, target, classes):
    trials = Trials.of_llr([1.0, -1.0, -2.0], labels, target=target)
    app = Application.multiclass([0.1, 0.9], [[0, 1], [5, 0]], classes=classes)
    for ask in (min_risk, confusion_of, decide):
        with pytest.raises(InputError, match="classes"):
            ask(trials, app)


def test_numbered_classes_in_another_order_are_refused():
    app = Application.multiclass([0.2, 0.3, 0.5], classes=["2", "1", "0"])
    with pytest.raises(InputError, match="in this order"):
        app.check_classes(("0", "1", "2"))


def test_a_cell_that_only_the_tolerance_of_the_programme_leaves_open_is_empty():
    matrix = np.zeros((5, 3))
    matrix[3, 2] = -16.0
    trials = rows_of(matrix, np.array([0, 1, 2, 1, 0]))
    app = Application.multiclass([0.5, 0.3, 0.2], [[0.0, 1.0, 1.0], [0.0, 2.0, 0.0], [1.0, 0.0, 0.0]])
    least = min_risk(trials, app)
    assert np.isfinite(least.offsets).all()
    reached = confusion_of(rows_of(matrix + least.offsets, np.array([0, 1, 2, 1, 0])), app).risk(app)
    assert reached == pytest.approx(least.risk, rel=1e-12)


def test_the_offsets_reach_the_risk_and_the_bound_is_proved_on_more_rows():
    matrix, labels = noisy(150, seed=4)
    for costs in ("0-1", "ordinal", [[0, 5, 1], [1, 0, 4], [2, 1, 0], [0.5, 0.5, 0.5]]):
        actions = ["a", "b", "c", "abstain"][: len(costs) if not isinstance(costs, str) else 3]
        app = Application.multiclass([0.2, 0.5, 0.3], costs, actions=actions)
        least = min_risk(rows_of(matrix, labels), app)
        reached = confusion_of(rows_of(matrix + least.offsets, labels), app).risk(app)
        assert reached == pytest.approx(least.risk, rel=1e-9)
        assert least.risk <= confusion_of(rows_of(matrix, labels), app).risk(app)
        assert 0.8 * least.risk <= least.lower_bound <= least.risk
        assert least.normalised == pytest.approx(least.risk / app.dummy_cost)


# Fusion


def systems(n=80, seed=0, count=2):
    rng = np.random.default_rng(seed)
    target = np.arange(n) % 2 == 1
    return [rng.normal(size=n) + (k + 1) * 0.7 * target for k in range(count)], target


@given(st.integers(0, 1000), st.sampled_from([0.5, 0.1, 0.9]))
def test_fusing_one_system_is_calibrating_it(seed, prior):
    (scores,), target = systems(30, seed, 1)
    trials = Trials.of_scores(scores, target)
    try:
        alone = Logistic.fit(trials, prior)
    except CalibrationError:
        assume(False)
    assert np.allclose(Fusion.fit([trials], prior)([scores]), alone(scores), rtol=1e-9, atol=1e-9)


def test_a_system_given_twice_changes_no_output():
    (a, b), target = systems()
    one, two = Trials.of_scores(a, target), Trials.of_scores(b, target)
    plain = Fusion.fit([one, two], 0.3)([a, b])
    assert np.allclose(Fusion.fit([one, two, one], 0.3)([a, b, a]), plain, rtol=1e-10, atol=1e-10)
    scaled = Trials.of_scores(3 * a - 2 * b + 1, target)
    assert np.allclose(Fusion.fit([one, two, scaled], 0.3)([a, b, 3 * a - 2 * b + 1]), plain, rtol=1e-8, atol=1e-8)


def test_fusion_lowers_the_cross_entropy_of_each_system():
    (a, b), target = systems()
    from tercet import empirical_cross_entropy

    trials = [Trials.of_scores(s, target) for s in (a, b)]
    fused = empirical_cross_entropy(Tally.of(Fusion.fit(trials, 0.3)(trials)), 0.3)
    for one in trials:
        assert fused <= empirical_cross_entropy(Tally.of(Logistic.fit(one, 0.3)(one)), 0.3)


def test_temperature_scaling_keeps_the_largest_posterior_at_the_prior_of_the_scores():
    rng = np.random.default_rng(4)
    prior = [0.7, 0.2, 0.1]
    labels = rng.choice(3, 400, p=prior)
    logits = 3.0 * (rng.normal(size=(400, 3)) + 1.5 * np.eye(3)[labels] + np.log(prior))
    trials = Trials.of_logits(logits, labels, trained_prior=prior)
    model = Affine.fit(trials, kind="temperature")
    before, after = posteriors(trials, prior), posteriors(model(trials), prior)
    assert np.array_equal(before.argmax(axis=1), after.argmax(axis=1))
    heat = float(model.weights[0, 0])
    by_hand = np.exp(heat * logits) / np.exp(heat * logits).sum(axis=1, keepdims=True)
    assert np.allclose(after, by_hand)
    assert log_loss(model(trials), prior) < log_loss(trials, prior)
    other = Affine.fit(trials, prior, kind="scale")
    assert not np.array_equal(before.argmax(axis=1), posteriors(other(trials), prior).argmax(axis=1))


def test_trials_are_matched_by_id():
    (a, b), target = systems()
    ids = [f"t{k}" for k in range(len(a))]
    order = np.random.default_rng(9).permutation(len(a))
    first = Trials.of_scores(a, target, ids=ids)
    second = Trials.of_scores(b[order], target[order], ids=np.array(ids)[order])
    model = Fusion.fit([first, second])
    assert np.array_equal(model([first, second]).scores, model([a, b]))
    assert model([first, second]).ids.tolist() == ids
    with pytest.raises(InputError, match="3 missing, 0 extra"):
        model([first, second.select(slice(3, None))])
    with pytest.raises(InputError, match="0 missing, 3 extra"):
        model([first.select(slice(3, None)), second])
    with pytest.raises(InputError, match="not distinct"):
        model([first, Trials.of_scores(b, target, ids=["x"] * len(b))])
    with pytest.raises(InputError, match="ids"):
        model([first, Trials.of_scores(b, target)])


def test_mismatched_systems_are_refused():
    (a, b), target = systems()
    one, two = Trials.of_scores(a, target), Trials.of_scores(b, target)
    model = Fusion.fit([one, two])
    with pytest.raises(InputError, match="trained on 2 systems and got 3"):
        model([a, b, a])
    with pytest.raises(InputError, match="by position"):
        Fusion.fit([one, two.select(slice(1, None))])
    with pytest.raises(InputError, match="labels of system 1 differ"):
        Fusion.fit([one, Trials.of_scores(b, ~target)])
    with pytest.raises(InputError, match="differ in shape"):
        model([a, b[1:]])
    with pytest.raises(InputError, match="list of Trials"):
        Fusion.fit(one)
    with pytest.raises(CalibrationError, match="zero variance"):
        Fusion.fit([one, Trials.of_scores(np.ones(len(a)), target)])
    with pytest.raises(CalibrationError, match="finite"):
        Fusion.fit([one, Trials.of_scores(np.where(np.arange(len(b)) == 3, math.inf, b), target)])
    contradicting = np.array([math.inf]), np.array([-math.inf])
    with pytest.raises(InputError, match="contradict"):
        model(contradicting)


def test_a_separating_plane_is_found_where_no_single_system_separates():
    rng = np.random.default_rng(3)
    target = np.arange(40) % 2 == 1
    a = rng.normal(size=40) * 3
    b = np.where(target, 1.0, -1.0) - a
    with pytest.raises(CalibrationError, match="separable"):
        Fusion.fit([Trials.of_scores(a, target), Trials.of_scores(b, target)])
    touching = [Trials.of_scores(s, [0, 1, 1, 1]) for s in ([0, 0, 1, 2.0], [0, 0, 0, 1.0])]
    with pytest.raises(CalibrationError, match="separable"):
        Fusion.fit(touching)


def test_quality_measures_are_further_columns():
    (a, b, q), target = systems(count=3)
    one, two = Trials.of_scores(a, target), Trials.of_scores(b, target)
    model = Fusion.fit([one, two], 0.5, quality=q)
    as_system = Fusion.fit([one, two, Trials.of_scores(q, target)], 0.5)
    assert np.allclose(model.weights, as_system.weights)
    assert np.allclose(model([a, b], quality=q), as_system([a, b, q]))
    with pytest.raises(InputError, match="1 quality measures and got 0"):
        model([a, b])
    with pytest.raises(InputError, match="quality has"):
        model([a, b], quality=q[1:])


def test_multiclass_fusion_is_no_worse_than_its_best_system():
    (one, labels), (two, _) = noisy(120, seed=1), noisy(120, seed=2)
    trials = [rows_of(m, labels) for m in (one, two)]
    model = Fusion.fit(trials, [0.5, 0.25, 0.25])
    fused = log_loss(model(trials), [0.5, 0.25, 0.25])
    assert fused <= min(log_loss(Affine.fit(t, [0.5, 0.25, 0.25])(t), [0.5, 0.25, 0.25]) for t in trials)
    alone = Fusion.fit(trials[:1])(trials[:1]).scores
    assert np.allclose(alone, Affine.fit(trials[0])(one), atol=1e-8)


def test_systems_in_another_order_than_that_of_the_training_are_refused():
    (a, b), target = systems()
    one, two = Trials.of_scores(a, target, name="a"), Trials.of_scores(b, target, name="b")
    model = load_model(Fusion.fit([one, two], 0.5).to_json())
    assert model([one, two]).name == "a + b"
    with pytest.raises(InputError, match="trained on 'a', 'b' and got 'b', 'a'"):
        model([two, one])
    with pytest.raises(InputError, match="trained on 'a', 'b' and got 'b', 'c'"):
        model([two, Trials.of_scores(a, target, name="c")])
    unknown = Trials.of_scores(a, target, name="dev"), Trials.of_scores(b, target)
    assert np.array_equal(model(unknown).scores, model([one, two]).scores)
    assert model(unknown).name is None


def test_a_fusion_takes_scores_of_the_meaning_it_was_trained_on():
    (a, b), target = systems()
    odds = [Trials.of_log_odds(x, target, trained_prior=0.5) for x in (a, b)]
    model = Fusion.fit([Trials.of_posteriors(1 / (1 + np.exp(-x)), target, trained_prior=0.5) for x in (a, b)], 0.5)
    with pytest.raises(InputError, match=r"posterior \(trained prior 0\.5\), these are log-odds"):
        model(odds)
    with pytest.raises(InputError, match="these are llr: convert"):
        model([Trials.of_llr(x, target) for x in (a, b)])


def test_a_fusion_of_three_classes_does_not_take_scores_of_two():
    matrix, labels = noisy()
    model = Fusion.fit([rows_of(matrix, labels)])
    with pytest.raises(InputError, match="3 classes, the scores have 2"):
        model([Trials.of_scores([1.0, -1.0], [1, 0])])
