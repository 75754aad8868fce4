"""The laws of K classes, each as a property; numbers are those of the list.

Decisions are compared where no two expected costs tie within rounding. "Equal" is within 4 ulp, or to the bit where
the law says so; what allows more says why.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import tercet as tc
from tercet import testing as ref
from tercet.testing import cost_matrices, operating_points, priors, score_matrices, weights_for

from .helpers import all_close, at_most, close, cost_ulps, curve_of, same_bits, sets

CLASSES = st.integers(2, 4)


@st.composite
def tasks(draw, actions=0, infinities=True):
    """(trials, prior, costs) of 2 to 4 classes, with weights or without; up to `actions` more rows than classes."""
    count = draw(CLASSES)
    matrix, labels = draw(score_matrices(count, infinities=infinities))
    weights = draw(st.one_of(st.none(), weights_for(len(labels), "integer"), weights_for(len(labels), "fractional")))
    costs = draw(cost_matrices(count, count + draw(st.integers(0, actions))))
    return trials_of(matrix, labels, weights), draw(priors(count)), costs


def trials_of(matrix, labels, weights=None):
    return tc.Trials.of_log_likelihoods(matrix, labels, weights=weights, orientation="samples x classes")


def application(prior, costs):
    return tc.Application.multiclass(prior, costs, actions=[str(i) for i in range(len(costs))])


def no_ties(trials, *apps):
    """Assumes that the best action is better than the next by more than rounding, in every row.

    Not by the margin of the decisions: that of a wrong one is 0, and no law would ever see it.
    """
    for app in apps:
        least, second = np.sort(tc.expected_costs(trials, app), axis=1)[:, :2].T
        scale = tc.posteriors(trials, app.prior) @ app.costs.max(axis=0)
        assume(bool(np.all(second - least > 1e-9 * scale)))


@given(tasks(), st.data())
def test_a_constant_on_a_column_of_costs_shifts_the_risk_and_changes_no_decision(task, data):
    """Law 26; the shifted risk is the larger number, so its ulp is the measure."""
    trials, prior, costs = task
    j = data.draw(st.integers(0, len(prior) - 1))
    constant = data.draw(st.one_of(st.integers(0, 10), st.floats(0.01, 100)))
    moved = [[c + constant * (col == j) for col, c in enumerate(row)] for row in costs]
    app, shifted = application(prior, costs), application(prior, moved)
    no_ties(trials, app, shifted)
    assert tc.decide(trials, app).tolist() == tc.decide(trials, shifted).tolist()
    before, after = tc.confusion_of(trials, app).risk(app), tc.confusion_of(trials, shifted).risk(shifted)
    assert close(after, before + app.prior[j] * constant, 8)  # C + k rounds, and so do three products and a sum


@given(tasks(), st.randoms(use_true_random=False))
def test_permuting_the_classes_permutes_everything(task, random):
    """Law 27."""
    trials, prior, costs = task
    order = list(range(len(prior)))
    random.shuffle(order)
    place = np.argsort(order)  # old class -> new class
    turned = trials_of(trials.scores[:, order], place[trials.labels], trials.weights)
    app = application(prior, costs)
    new = application([prior[j] for j in order], np.array(costs)[np.ix_(order, order)])
    assert all_close(tc.posteriors(turned, new.prior), tc.posteriors(trials, app.prior)[:, order])
    assert all_close(tc.expected_costs(turned, new), tc.expected_costs(trials, app)[:, order])
    assert close(tc.log_loss(turned, new.prior), tc.log_loss(trials, app.prior))
    assert close(tc.brier(turned, new.prior), tc.brier(trials, app.prior), scale=1.0)
    assert close(new.dummy_cost, app.dummy_cost)
    no_ties(trials, app)
    table, same = tc.confusion_of(trials, app), tc.confusion_of(turned, new)
    assert tc.decide(turned, new).tolist() == place[tc.decide(trials, app)].tolist()
    assert same.matrix == np.array(table.matrix, dtype=object)[np.ix_(order, order)].tolist()
    assert all_close(same.contributions(new), table.contributions(app)[order])
    assert close(same.risk(new), table.risk(app))
    assert [same.per_class("tpr")[str(place[j])] for j in range(len(order))] == list(table.per_class("tpr").values())


@given(tasks(), st.data())
def test_an_extra_action_never_raises_the_expected_cost(task, data):
    """Law 28."""
    trials, prior, costs = task
    extra = data.draw(st.lists(st.floats(0, 100), min_size=len(prior), max_size=len(prior)))
    before = tc.decisions(trials, application(prior, costs)).expected_cost
    after = tc.decisions(trials, application(prior, [*costs, extra])).expected_cost
    assert all(at_most(a, b) for a, b in zip(after, before, strict=True))


@given(tasks(actions=1))
def test_the_expected_cost_is_at_most_that_of_any_fixed_action(task):
    """Law 29, row by row and on average."""
    trials, prior, costs = task
    app = application(prior, costs)
    every, chosen = tc.expected_costs(trials, app), tc.decisions(trials, app).expected_cost
    for action in range(len(costs)):
        assert all(at_most(a, b) for a, b in zip(chosen, every[:, action], strict=True))
        assert at_most(math.fsum(chosen), math.fsum(every[:, action]))


@given(tasks(actions=1))
def test_expected_costs_are_costs_times_posteriors(task):
    """Convention 1: rows of the cost matrix are decisions; a sum of products of positive numbers, so 4 ulp."""
    trials, prior, costs = task
    app = application(prior, costs)
    shares = tc.posteriors(trials, app.prior).tolist()
    exact = [
        [float(sum(Fraction(c) * Fraction(p) for c, p in zip(row, share, strict=True))) for row in costs]
        for share in shares
    ]
    assert all_close(tc.expected_costs(trials, app), exact)


@given(tasks(actions=1))
def test_decisions_are_those_of_the_exact_expected_costs(task):
    """The decision of convention 2, by exact arithmetic on the posteriors."""
    trials, prior, costs = task
    app = application(prior, costs)
    no_ties(trials, app)
    exact = [ref.bayes_decision(row, costs) for row in tc.posteriors(trials, app.prior).tolist()]
    assert tc.decide(trials, app).tolist() == exact


@given(tasks(actions=1))
def test_risk_and_confusion_are_those_of_the_exact_references(task):
    """Convention 6: the application's priors go with the classes, whatever the classes' frequencies in the data."""
    trials, prior, costs = task
    app = application(prior, costs)
    table = tc.confusion_of(trials, app)
    weights = None if trials.weights is None else trials.weights.tolist()
    exact = ref.confusion(tc.decide(trials, app).tolist(), trials.labels.tolist(), len(costs), len(prior), weights)
    counts = [[count * Fraction(2) ** table.unit for count in row] for row in table.counts.tolist()]
    assert counts == exact
    risk = ref.bayes_risk(exact, app.prior.tolist(), costs)
    dummy = ref.dummy_risk(app.prior.tolist(), costs)
    assert close(table.risk(app), float(risk))
    assert close(app.dummy_cost, float(dummy))
    assert close(table.normalised_risk(app), float(risk / dummy), 8)  # a quotient of two such numbers


@given(tasks())
def test_log_loss_and_brier_are_those_of_the_exact_references(task):
    """Convention 13, at the data's own frequencies; the references start from the rounded posteriors."""
    trials, _, _ = task
    weights = None if trials.weights is None else trials.weights.tolist()
    frequencies = np.bincount(trials.labels, weights)
    share = tc.posteriors(trials, frequencies / frequencies.sum())
    exact = ref.brier(share.tolist(), trials.labels.tolist(), weights)
    assert math.isclose(tc.brier(trials), float(exact), rel_tol=1e-13, abs_tol=1e-15)
    if np.all(share[np.arange(len(share)), trials.labels] > 1e-300):
        exact = ref.log_loss(share.tolist(), trials.labels.tolist(), weights)
        assert math.isclose(tc.log_loss(trials), exact, rel_tol=1e-11, abs_tol=1e-14)


@given(tasks(), st.randoms(use_true_random=False))
def test_the_order_of_the_samples_never_matters(task, random):
    """Law 6 for K classes, to the bit."""
    trials, prior, costs = task
    order = list(range(len(trials)))
    random.shuffle(order)
    app = application(prior, costs)

    def seen(rows):
        table = tc.confusion_of(rows, app)
        return [table.matrix, table.risk(app), tc.log_loss(rows), tc.log_loss(rows, prior), tc.brier(rows)]

    assert same_bits(seen(trials), seen(trials.select(np.array(order))))


@pytest.mark.parametrize("costs", ["0-1", "ordinal"])
def test_many_samples_are_decided_as_in_pieces(costs):
    """Law 35: blocks and threads may not show, to the bit."""
    rng = np.random.default_rng(7)
    labels = rng.integers(0, 5, 70_000)
    trials = trials_of(rng.normal(0.0, 3.0, (len(labels), 5)) + 2.0 * np.eye(5)[labels], labels)
    app = tc.Application.multiclass([0.1, 0.2, 0.3, 0.25, 0.15], costs)
    pieces = [trials.select(slice(start, start + 999)) for start in range(0, len(labels), 999)]
    whole = tc.decisions(trials, app)
    for column in range(3):
        joined = np.concatenate([tc.decisions(piece, app)[column] for piece in pieces])
        assert same_bits(joined.tolist(), whole[column].tolist())
    total = tc.confusion_of(pieces[0], app)
    for piece in pieces[1:]:
        total = total + tc.confusion_of(piece, app)
    assert total == tc.confusion_of(trials, app)


# --- Two classes by either road ---


@given(sets(), operating_points())
def test_two_classes_by_the_road_of_many_are_two_classes(rows, point):
    """Law 37, Brier excepted: twice."""
    llr, labels, weights = rows
    two = tc.Trials.of_llr(llr, labels, weights=weights)
    pairs = [(-s, 0.0) if s > 0.0 else (0.0, s) for s in llr]
    many = trials_of(pairs, labels, weights)
    app = tc.Application(*point)
    wide = tc.Application.multiclass([1.0 - app.prior, app.prior], [[0, app.cost_fn], [app.cost_fp, 0]])
    ulps = cost_ulps(*point)
    assert all_close(tc.posteriors(many, wide.prior), tc.posteriors(two, app.prior))
    assert close(tc.log_loss(many, wide.prior), tc.log_loss(two, app.prior))
    assert close(tc.log_loss(many, wide.prior), tc.empirical_cross_entropy(tc.Tally.of(two), app.prior), ulps)
    assert close(tc.brier(many, wide.prior), 2.0 * tc.brier(two, app.prior))
    near = 1e-9 * max(1.0, abs(app.threshold))
    assume(not any(abs(s - app.threshold) <= near for s in llr))
    assert tc.decide(many, wide).tolist() == tc.decide(two, app).tolist() == tc.decide(many, app).tolist()
    table, same = tc.confusion_of(two, app), tc.confusion_of(many, wide)
    assert same.matrix == table.matrix == tc.confusion_of(many, app).matrix
    result = tc.evaluate(two, [app]).applications[0]
    assert close(same.risk(wide), result.dcf_u)
    assert close(same.normalised_risk(wide), result.dcf)
    assert tc.evaluate(many, [wide]).applications[0].confusion == result.confusion


@given(sets(infinities=False), st.floats(-5, 5))
def test_two_columns_are_their_difference(rows, constant):
    """Law 37 for whatever two log-likelihoods differ by the llr."""
    scores, labels, weights = rows
    scores = [min(max(s, -50.0), 50.0) for s in scores]
    trials = trials_of([(constant, constant + s) for s in scores], labels, weights)
    llr = [(constant + s) - constant for s in scores]
    assert same_bits(trials.versus("1", "0").scores.tolist(), [x + 0.0 for x in llr])
    assert tc.Curve.of(tc.Tally.of(trials)).auc == curve_of(llr, labels, weights).auc


# --- Posteriors ---


@given(st.data())
def test_a_constant_on_all_log_likelihoods_of_a_sample_changes_nothing(data):
    """Law 38, to the bit when the additions are exact: whole numbers here."""
    count = data.draw(CLASSES)
    whole = st.lists(st.integers(-50, 50).map(float), min_size=count, max_size=count)
    matrix = np.array(data.draw(st.lists(whole, min_size=count, max_size=12)))
    labels = [i % count for i in range(len(matrix))]
    constants = data.draw(st.lists(st.integers(-(2**20), 2**20), min_size=len(matrix), max_size=len(matrix)))
    app = application(data.draw(priors(count)), data.draw(cost_matrices(count)))
    one, other = trials_of(matrix, labels), trials_of(matrix + np.array(constants, float)[:, None], labels)

    def seen(trials):
        return [
            tc.posteriors(trials, app.prior).tolist(),
            tc.expected_costs(trials, app).tolist(),
            tc.decide(trials, app).tolist(),
            tc.decide(trials, tc.Application.multiclass(app.prior)).tolist(),
            tc.log_loss(trials, app.prior),
            tc.brier(trials, app.prior),
            trials.versus("0", "1").scores.tolist(),
        ]

    assert same_bits(seen(one), seen(other))


@given(st.integers(2, 12).flatmap(lambda k: st.tuples(score_matrices(k, min_each=0), priors(k))))
def test_posteriors_sum_to_one(case):
    """Law 39."""
    (matrix, labels), prior = case
    share = tc.posteriors(trials_of(matrix, labels), prior)
    assert np.all((share >= 0.0) & (share <= 1.0))
    assert all(close(math.fsum(row), 1.0) for row in share.tolist())


# --- Proper scores and their parts ---


def own_prior(labels, weights):
    heavy = [1] * len(labels) if weights is None else weights
    targets = sum(Fraction(w) for w, y in zip(heavy, labels, strict=True) if y)
    return float(targets / sum(map(Fraction, heavy)))


@given(sets(infinities=False), st.one_of(st.none(), st.floats(0.01, 0.99)))
def test_a_proper_score_is_miscalibration_less_discrimination_plus_uncertainty(rows, prior):
    """Law 48; the parts are differences, so they are measured by the largest number in them."""
    scores, labels, weights = rows
    scores = [min(max(s, -30.0), 30.0) for s in scores]
    trials = tc.Trials.of_llr(scores, labels, weights=weights)
    curve = curve_of(scores, labels, weights)
    share = own_prior(labels, weights) if prior is None else prior
    best = recalibrated_costs(scores, labels, weights, share)
    uncertain = {"log": -share * log2(Fraction(share)) - (1 - share) * log2(1 - Fraction(share))}
    uncertain["brier"] = share * (1 - share)
    for kind, parts, score in (
        ("log", tc.log_loss_parts(curve, prior), tc.log_loss(trials, share)),
        ("brier", tc.brier_parts(curve, prior), tc.brier(trials, share)),
    ):
        scale = max(score, uncertain[kind])
        # Through e^(llr + tau): an ulp of a log-odds of 30 is 16 ulp of its exponential. Beside that brier takes 1 - p
        # from a rounded p, which costs an ulp of 1 in the root of the score.
        assert close(parts.score, score, 40, math.sqrt(score) if kind == "brier" else 0.0)
        assert close(parts.uncertainty, uncertain[kind])
        assert close(parts.miscalibration, parts.score - best[kind], 40, scale)
        assert close(parts.discrimination, uncertain[kind] - best[kind], 40, scale)
        assert close(parts.miscalibration - parts.discrimination + parts.uncertainty, parts.score, 4, scale)
        assert parts.miscalibration >= -4 * math.ulp(scale)
        assert parts.discrimination >= -4 * math.ulp(scale)


def recalibrated_costs(scores, labels, weights, prior):
    """Log-loss (bits) and Brier score after exact isotonic regression, at a prior."""
    blocks = ref.pav(scores, labels, weights)
    targets, others = (sum(block[i] for block in blocks) for i in (2, 3))
    log, brier, p = 0.0, Fraction(0), Fraction(prior)
    for _, _, t, n in blocks:
        hit, miss = p * t / targets, (1 - p) * n / others
        share = hit / (hit + miss)
        brier += hit * (1 - share) ** 2 + miss * share**2
        log -= sum(float(x) * log2(x / (hit + miss)) for x in (hit, miss) if x)
    return {"log": log, "brier": float(brier)}


def log2(x):
    """Of an exact fraction, to an ulp even where it is almost 1."""
    return (math.log1p(-float(1 - x)) if 2 * x > 1 else math.log(float(x))) / math.log(2.0)
