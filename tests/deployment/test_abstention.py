"""Abstaining: the curve and its area against plain loops and all orders of ties, prices, wanted points, refusals."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tercet as tc

PRIOR = [0.5, 0.5]


def tied(seed, size=None, classes=3):
    """Posteriors in tenths, so that confidences tie; rows sum to one exactly enough."""
    rng = np.random.default_rng(seed)
    size = int(rng.integers(2, 7)) if size is None else size
    parts = rng.multinomial(10, np.full(classes, 1 / classes), size=size)
    labels = np.r_[np.arange(classes), rng.integers(0, classes, max(size - classes, 0))][:size]
    return tc.Trials.of_posteriors(parts / 10, labels, trained_prior=np.full(classes, 1 / classes),
                                   orientation="samples x classes")  # fmt: skip


def area_of(losses):
    return sum(sum(losses[:k]) / k for k in range(1, len(losses) + 1)) / len(losses)


seeds = st.integers(0, 2**32 - 1)


@settings(max_examples=200)
@given(seeds, st.sampled_from(["0-1", "ordinal"]))
def test_the_area_is_the_mean_over_all_orders_of_tied_cases(seed, costs):
    trials = tied(seed)
    app = tc.Application.multiclass([1 / 3] * 3, costs)
    found = tc.risk_coverage(trials, app)
    chosen = tc.decisions(trials, app)
    losses = [float(app.costs[a, y]) for a, y in zip(chosen.actions, trials.labels, strict=True)]
    surest = np.round(chosen.expected_cost, 9)  # posteriors in tenths: what differs less is rounding
    orders = [
        order
        for order in itertools.permutations(range(len(losses)))
        if all(surest[a] <= surest[b] for a, b in itertools.pairwise(order))
    ]
    assert found.aurc == pytest.approx(np.mean([area_of([losses[i] for i in order]) for order in orders]), abs=1e-12)
    assert found.best_aurc == pytest.approx(area_of(sorted(losses)), abs=1e-12)
    assert found.excess_aurc >= -1e-12


@settings(max_examples=200)
@given(seeds)
def test_every_point_answers_exactly_the_cases_above_its_threshold(seed):
    trials = tied(seed, size=25)
    app = tc.Application.multiclass([1 / 3] * 3, "ordinal")
    found, chosen = tc.risk_coverage(trials, app), tc.decisions(trials, app)
    losses = app.costs[chosen.actions, trials.labels]
    wrong = chosen.actions != trials.labels
    assert found.coverage[-1] == 1.0
    assert (np.diff(found.coverage) > 0.0).all()
    for place, threshold in enumerate(found.threshold):
        answered = -chosen.expected_cost > threshold
        assert found.coverage[place] == answered.mean()
        assert found.cost[place] == pytest.approx(losses[answered].mean())
        assert found.error[place] == pytest.approx(wrong[answered].mean())


@settings(max_examples=100)
@given(seeds, st.floats(0.0, 2.0))
def test_a_price_of_abstaining_is_an_extra_action(seed, price):
    trials = tied(seed, size=25)
    plain = tc.Application.multiclass([1 / 3] * 3, "ordinal")
    costs = [*plain.costs.tolist(), [price] * 3]
    app = tc.Application.multiclass([1 / 3] * 3, costs, actions=["0", "1", "2", "abstain"])
    actions = tc.decide(trials, app)
    paid = app.costs[actions, trials.labels].mean()
    found = tc.risk_coverage(trials, plain).abstention_costs([price])
    margin = np.abs(tc.decisions(trials, plain).expected_cost - price)
    if margin.min() > 1e-9:  # a tie with the price may fall either way by rounding
        assert found.cost[0] == pytest.approx(paid)
        assert found.coverage[0] == np.mean(actions != 3)
    assert found.best_apparent[0] <= found.cost[0]
    assert found.best_apparent[0] <= min(price, tc.risk_coverage(trials, plain).cost[-1]) + 1e-12


@given(seeds)
def test_whole_weights_repeat_cases_and_row_order_changes_no_bit(seed):
    trials = tied(seed, size=12)
    rng = np.random.default_rng(seed)
    weights, order = rng.integers(1, 4, 12), rng.permutation(12)
    one, app = trials.scores, tc.Application.multiclass([1 / 3] * 3, "ordinal")

    def made(rows, **more):
        return tc.risk_coverage(
            tc.Trials.of_posteriors(one[rows], trials.labels[rows], trained_prior=[1 / 3] * 3,
                                    orientation="samples x classes", **more), app,
        )  # fmt: skip

    weighted, repeated = made(np.arange(12), weights=weights.astype(float)), made(np.repeat(np.arange(12), weights))
    assert weighted.to_dict() == repeated.to_dict()
    assert made(order).to_dict() == made(np.arange(12)).to_dict()


def test_the_interval_of_a_point_has_the_level_asked_for():
    trials = tied(0, 40)
    wide, narrow = (tc.risk_coverage(trials, ci=level).at(coverage=1.0).error_ci for level in (0.95, 0.5))
    assert wide.low < narrow.low < narrow.high < wide.high


def test_two_classes_go_the_same_way_as_two_columns():
    scores, labels = [0.9, 0.7, 0.4, 0.2, 0.55], [1, 0, 1, 0, 1]
    one = tc.Trials.of_posteriors(scores, labels, trained_prior=0.6)
    two = tc.Trials.of_posteriors([[1 - p, p] for p in scores], labels, trained_prior=[0.4, 0.6])
    assert tc.risk_coverage(one).aurc == pytest.approx(tc.risk_coverage(two).aurc)
    point = tc.risk_coverage(one).at(coverage=0.4)
    assert (point.answered, point.error) == (2, 0.0)
    assert tc.risk_coverage(one, (0.6, 5, 1)).cost[-1] == pytest.approx((0 + 1 + 0 + 1 + 0) / 5)  # 0.2 is above 1/6


def test_the_interval_of_the_area_covers_about_as_often_as_it_says():
    rng = np.random.default_rng(6)

    def found(size):
        labels = rng.random(size) < 0.5
        return tc.risk_coverage(
            tc.Trials.of_llr(rng.normal(np.where(labels, 1, -1), math.sqrt(2)), labels), (0.5, 1, 1)
        )

    true = found(300_000).aurc
    sets = [found(400) for _ in range(200)]
    assert 0.91 <= np.mean([one.aurc_ci.low <= true <= one.aurc_ci.high for one in sets]) <= 0.985


@pytest.mark.parametrize(
    ("call", "error"),
    [
        (lambda curve: curve.at(), tc.InputError),
        (lambda curve: curve.at(coverage=0.5, error_at_most=0.1), tc.InputError),
        (lambda curve: curve.at(coverage=0.0), tc.InputError),
        (lambda curve: curve.at(error_at_most=2.0), tc.InputError),
        (lambda curve: curve.abstention_costs([-1.0]), tc.InputError),
        (lambda curve: curve.abstention_costs(0.3), tc.InputError),
        (lambda _: tc.risk_coverage(tc.Trials.of_scores([1.0], [1])), tc.TercetError),
        (lambda _: tc.risk_coverage(tc.Trials.of_llr([1.0, 2.0], [1, 0], weights=[0.5, 1.0])), tc.InputError),
        (lambda _: tc.risk_coverage(tc.Trials.of_llr([], [])), tc.UndefinedError),
        (lambda _: tc.risk_coverage([0.1]), tc.InputError),
        (lambda _: tc.risk_coverage(tc.Trials.of_llr([9.0], [0]), 0.5).at(error_at_most=0.0), tc.UndefinedError),
    ],
)
def test_what_cannot_be_asked_is_refused(call, error):
    curve = tc.risk_coverage(tc.Trials.of_llr([1.0, -1.0], [1, 0]))
    with pytest.raises(error):
        call(curve)


def two_systems(seed, size=400):
    rng = np.random.default_rng(seed)
    labels = rng.random(size) < 0.5
    signal = rng.normal(size=size) + 2.0 * labels - 1.0
    return [tc.Trials.of_llr(2 * (signal + 0.5 * rng.normal(size=size)), labels) for _ in range(2)]


def test_the_paired_difference_of_areas_is_that_of_the_curves_and_covers_its_level():
    kept = 0
    for seed in range(200):
        one, other = two_systems(seed)
        found = tc.compare_risk_coverage(one, other, (0.5, 1, 1))
        areas = [tc.risk_coverage(each, (0.5, 1, 1)).aurc for each in (one, other)]
        assert found.value == pytest.approx(areas[0] - areas[1], abs=1e-15)
        kept += found.low <= 0.0 <= found.high  # both systems are equally good
    assert 0.90 <= kept / 200 <= 0.99


def test_compared_areas_are_matched_by_id_and_refuse_weights():
    one, other = two_systems(1)
    named = [tc.Trials.of_llr(each.llr, each.labels, ids=[f"t{k}" for k in range(400)]) for each in (one, other)]
    order = np.random.default_rng(0).permutation(400)
    found = tc.compare_risk_coverage(named[0], named[1].select(order))
    assert found.value == pytest.approx(tc.compare_risk_coverage(one, other).value, abs=1e-15)
    weighted = tc.Trials.of_llr(one.llr, one.labels, weights=np.ones(400))
    with pytest.raises(tc.InputError, match="without weights"):
        tc.compare_risk_coverage(weighted, other)


def test_confidences_that_differ_by_rounding_alone_are_tied():
    """A posterior of p and one of 1 - p are equally sure at even odds, whichever of them floating point rounds."""
    rng = np.random.default_rng(4)
    for _ in range(20):
        tenths = rng.integers(1, 10, 40)
        labels = np.r_[0, 1, rng.random(38) < 0.5].astype(int)
        found = tc.risk_coverage(tc.Trials.of_posteriors(tenths / 10.0, labels, trained_prior=0.5), (0.5, 1, 1))
        doubt, wrong = np.minimum(tenths, 10 - tenths), (tenths > 5) != labels
        coverage = [np.mean(doubt <= value) for value in np.unique(doubt)]
        assert found.coverage.tolist() == coverage
        means = []
        for size in range(1, 41):  # the k surest cases: those that are surer, and a share of the tied ones
            last = np.sort(doubt)[size - 1]
            surer, tied = doubt < last, doubt == last
            means.append((wrong[surer].sum() + wrong[tied].mean() * (size - surer.sum())) / size)
        assert found.aurc == pytest.approx(np.mean(means), abs=1e-12)
        costs = found.abstention_costs([0.1, 0.2, 0.3, 0.4]).coverage
        assert costs.tolist() == [np.mean(doubt <= value) for value in (1, 2, 3, 4)]
