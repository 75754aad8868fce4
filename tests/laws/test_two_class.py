"""The laws of two classes, each as a property of every set of trials, weighted or not; numbers are those of the list.

"Equal" is within 4 ulp, or to the bit where the law says so; what allows more says why.
"""

import itertools
import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

import tercet as tc
from tercet.testing import auc as pairs_won
from tercet.testing import clopper_pearson as exact_clopper_pearson
from tercet.testing import operating_points

from .helpers import (
    POINTS,
    all_close,
    at_most,
    close,
    cost_ulps,
    curve_of,
    facts,
    numbers_in,
    rates,
    same_bits,
    sets,
    tally_of,
)

INF = math.inf
thresholds = st.floats(allow_nan=False)
dyadic_priors = st.integers(1, 1023).map(lambda i: i / 1024)  # 1 - p and 1 - (1 - p) are exact


def sigmoid(x):
    return 1.0 / (1.0 + math.exp(-x)) if x > -700.0 else 0.0


def dcf_at(tally, threshold, app):
    misses, alarms = tally.at(threshold)
    return app.dcf(fnr=int(misses) / tally.targets.total, fpr=int(alarms) / tally.nontargets.total)


def swapped(scores, labels):
    return [-s for s in scores], [1 - y for y in labels]


# --- Minimum and actual costs ---


@given(sets(), operating_points(), st.data())
def test_the_minimum_cost_is_at_most_the_cost_at_any_threshold(rows, point, data):
    """Law 1."""
    tally, app = tally_of(*rows), tc.Application(*point)
    threshold = data.draw(st.one_of(thresholds, st.sampled_from(rows[0])))
    assert at_most(tc.Curve.of(tally).min_dcf(app).dcf, dcf_at(tally, threshold, app))


@given(sets(), operating_points())
def test_the_normalised_minimum_cost_is_at_most_one(rows, point):
    """Law 2: not by an ulp above it either, because both dummies are candidates and cost exactly 1 or more."""
    assert 0.0 <= curve_of(*rows).min_dcf(point).dcf <= 1.0


@given(sets(), operating_points())
def test_prior_and_costs_act_through_their_log_odds_alone(rows, point):
    """Law 3; a bare tau is rounded, and e^tau with it, where an application knows its priors and costs."""
    tally, app = tally_of(*rows), tc.Application(*point)
    row = tc.evaluate(tally, [app]).applications[0]
    plot = tc.bayes_error(tc.Curve.of(tally), [app.log_odds])
    assert close(plot.dcf[0], row.dcf, cost_ulps(*point))
    assert close(plot.min_dcf[0], row.min_dcf, cost_ulps(*point))


@given(sets(), operating_points())
def test_the_effective_prior_with_equal_costs_gives_the_same_normalised_costs(rows, point):
    """Law 3: the effective prior is itself rounded, which near 1 costs e^tau ulp of its distance from 1."""
    tally, app = tally_of(*rows), tc.Application(*point)
    assume(app.log_odds < 20.0)
    same = app.equivalent()
    ulps = 4.0 + 2.0 * math.exp(app.log_odds)
    assert (same.cost_fn, same.cost_fp) == (1.0, 1.0)
    assert close(same.prior, app.effective_prior)
    one, other = (tc.evaluate(tally, [a]).applications[0] for a in (app, same))
    assert close(one.min_dcf, other.min_dcf, ulps)
    assume(not any(min(app.threshold, same.threshold) <= s <= max(app.threshold, same.threshold) for s in rows[0]))
    assert close(one.dcf, other.dcf, ulps)


@given(sets(), operating_points(), st.one_of(st.integers(-20, 20).map(lambda i: 2.0**i), st.floats(1e-3, 1e3)))
def test_scaling_both_costs_scales_the_cost_and_leaves_the_normalised_one(rows, point, k):
    """Law 4."""
    prior, cost_fn, cost_fp = point
    app, scaled = tc.Application(*point), tc.Application(prior, k * cost_fn, k * cost_fp)
    assume(not any(min(app.threshold, scaled.threshold) <= s <= max(app.threshold, scaled.threshold) for s in rows[0]))
    one, other = tc.evaluate(tally_of(*rows), [app, scaled]).applications
    assert one.confusion == other.confusion
    assert close(k * one.dcf_u, other.dcf_u, 6)  # three products of either side round
    assert close(one.dcf, other.dcf)
    assert close(one.min_dcf, other.min_dcf)


@given(sets(), operating_points(), st.data())
def test_a_strictly_increasing_map_of_the_scores_changes_no_rank_quantity(rows, point, data):
    """Law 5, to the bit."""
    scores, labels, weights = rows
    found = sorted(set(scores))
    images = data.draw(st.lists(thresholds, min_size=len(found), max_size=len(found), unique=True).map(sorted))
    image = dict(zip(found, images, strict=True))
    one, other = curve_of(*rows), curve_of([image[s] for s in scores], labels, weights)

    def ranks(curve):
        eers = [curve.eer(definition)[0] for definition in ("rocch", "interpolated", "nearest")]
        return [curve.min_dcf(point)[0], curve.auc, curve.hull_auc, *eers, tc.min_cllr(curve), curve.average_precision]

    assert same_bits(ranks(one), ranks(other))


@given(sets(), operating_points())
def test_the_minimum_on_the_hull_is_the_minimum_on_the_curve(rows, point):
    """Law 11."""
    curve, app = curve_of(*rows), tc.Application(*point)
    everywhere = min(app.dcf(fnr=fnr, fpr=fpr) for fnr, fpr in zip(curve.fnr, curve.fpr, strict=True))
    least = curve.min_dcf(app)
    assert close(least.dcf, everywhere)
    targets, others = (curve.tally.weight(count) for count in (curve.targets, curve.nontargets))
    assert close(least.dcf, app.dcf(fnr=least.misses / targets, fpr=least.false_alarms / others))


def least_error(curve, log_odds):
    """The minimum error rate at the prior sigmoid(log_odds)."""
    return min(sigmoid(log_odds), sigmoid(-log_odds)) * float(tc.bayes_error(curve, [log_odds]).min_dcf[0])


@given(sets(), st.floats(-30, 30))
def test_the_equal_error_rate_is_the_largest_minimum_error_rate_over_priors(rows, log_odds):
    """Law 12; e^tau is right to |tau| ulp, because tau is right to one of its own."""
    curve = curve_of(*rows)
    eer = curve.eer().value
    assert eer <= 0.5
    assert at_most(least_error(curve, log_odds), eer, 4 + abs(log_odds))
    corners = [0.0, *(-curve.hull.llrs[np.isfinite(curve.hull.llrs)]).tolist()]
    worst = max(corners, key=lambda tau: least_error(curve, tau))
    assert close(least_error(curve, worst), eer, 4 + 2 * abs(worst))


@given(sets(), st.lists(st.floats(1e-6, 1 - 1e-6), min_size=3, max_size=3, unique=True).map(sorted))
def test_the_minimum_error_rate_is_concave_in_the_prior(rows, priors):
    """Law 13."""
    results = tc.evaluate(tally_of(*rows), [(p, 1, 1) for p in priors]).applications
    low, middle, high = map(Fraction, priors)
    left, here, right = (Fraction(row.min_dcf_u) for row in results)
    chord = ((high - middle) * left + (middle - low) * right) / (high - low)
    assert at_most(float(chord), float(here), 6)  # the vertex is chosen by rounded costs, each right to an ulp or two


@given(sets(), dyadic_priors, operating_points())
def test_swapping_the_classes_keeps_the_minimum_cost(rows, prior, point):
    """Law 14."""
    scores, labels, weights = rows
    _, cost_fn, cost_fp = point
    one = curve_of(*rows).min_dcf((prior, cost_fn, cost_fp)).dcf
    other = curve_of(*swapped(scores, labels), weights).min_dcf((1 - prior, cost_fp, cost_fn)).dcf
    assert close(one, other)


@given(sets(), dyadic_priors, operating_points())
def test_swapping_the_classes_keeps_the_actual_cost_when_no_score_is_on_the_threshold(rows, prior, point):
    """Law 24."""
    scores, labels, weights = rows
    _, cost_fn, cost_fp = point
    app, mirror = tc.Application(prior, cost_fn, cost_fp), tc.Application(1 - prior, cost_fp, cost_fn)
    ends = sorted((app.threshold, -mirror.threshold))
    assume(not any(ends[0] <= s <= ends[1] for s in scores))
    one = tc.evaluate(tally_of(*rows), [app]).applications[0]
    other = tc.evaluate(tally_of(*swapped(scores, labels), weights), [mirror]).applications[0]
    assert (one.fnr, one.fpr) == (other.fpr, other.fnr)
    assert one.confusion == [row[::-1] for row in other.confusion[::-1]]
    assert close(one.dcf, other.dcf)
    assert close(one.dcf_u, other.dcf_u)


@given(sets(), st.floats(-1e6, 1e6), operating_points())
def test_adding_a_constant_never_lowers_the_minimum_cost(rows, constant, point):
    """Law 25: rounding may merge scores, never part them."""
    scores, labels, weights = rows
    with np.errstate(over="ignore"):
        moved = np.array(scores) + constant
    before, after = curve_of(*rows).min_dcf(point).dcf, curve_of(moved, labels, weights).min_dcf(point).dcf
    assert at_most(before, after)
    if len(set(moved.tolist())) == len(set(scores)):
        assert before == after


# --- Order, chunks, weights ---


@given(sets(), st.randoms(use_true_random=False))
def test_the_order_of_the_rows_never_matters(rows, random):
    """Law 6, to the bit."""
    order = list(range(len(rows[0])))
    random.shuffle(order)
    shuffled = [None if column is None else [column[i] for i in order] for column in rows]
    assert same_bits(facts(tally_of(*rows)), facts(tally_of(*shuffled)))


@st.composite
def chunked(draw):
    """A set and the same set cut into any number of pieces, some of them perhaps empty or of one class."""
    scores, labels, weights = draw(sets())
    cuts = sorted(draw(st.lists(st.integers(0, len(scores)), max_size=5)))
    ends = itertools.pairwise([0, *cuts, len(scores)])
    pieces = [(scores[a:b], labels[a:b], None if weights is None else weights[a:b]) for a, b in ends]
    return (scores, labels, weights), pieces


def piece_of(scores, labels, weights):
    return tally_of(
        np.array(scores, float), np.array(labels, int), None if weights is None else np.array(weights, float)
    )


# Counted together these weights need more than 62 bits with a reserve for their sum; piece by piece they fit.
BORDERLINE = (
    [1, 1, 2, 0, 2, 0, 1, 1],
    [1, 0, 1, 0, 1, 0, 1, 0],
    [
        *(34.68849099463631, 0.9163220738266988, 114.37429167927573, 0.619684721496476),
        *(30.023747692971263, 0.5292840174025972, 42.75574593746113, 0.5751397334474195),
    ],
)


@given(chunked())
@example((BORDERLINE, [tuple([column[i]] for column in BORDERLINE) for i in range(8)]))
def test_any_chunking_gives_the_same_bits(case):
    """Laws 7 and 35: adding tallies is concatenating, whatever the pieces and however they are grouped."""
    whole, pieces = case
    tallies = [piece_of(*piece) for piece in pieces]
    expected = facts(tally_of(*whole))
    forwards = sum(tallies, tc.Tally.empty())
    backwards = tc.Tally.empty()
    for tally in reversed(tallies):
        backwards = tally + backwards
    assert same_bits(facts(forwards), expected)
    assert same_bits(facts(backwards), expected)


@given(sets(), sets(), sets())
def test_adding_tallies_is_associative_and_commutative_and_has_an_identity(a, b, c):
    """Law 7, to the bit."""
    x, y, z = (tally_of(*rows) for rows in (a, b, c))
    assert same_bits(facts((x + y) + z), facts(x + (y + z)))
    assert same_bits(facts(x + y), facts(y + x))
    for same in (x + tc.Tally.empty(), tc.Tally.empty() + x):
        assert same_bits(facts(same), facts(x))


@given(chunked(), operating_points())
def test_confusion_matrices_of_the_chunks_add_up_to_the_whole(case, point):
    """Law 35."""
    whole, pieces = case
    tables = [
        tc.confusion_of(tc.Trials.of_llr(np.array(s, float), np.array(y, int), weights=w), point)
        for s, y, w in pieces
        if len(s)
    ]
    total = tables[0]
    for table in tables[1:]:
        total = total + table
    assert total == tc.confusion_of(tc.Trials.of_llr(whole[0], whole[1], weights=whole[2]), point)


@given(sets(kinds=(None, "integer")), st.integers(2, 5))
def test_every_row_several_times_leaves_all_rates(rows, k):
    """Law 15, to the bit while every count is a double; fractional weights count in finer units (next law)."""
    repeated = [None if column is None else column * k for column in rows]
    assert same_bits(rates(tally_of(*rows)), rates(tally_of(*repeated)))


@given(sets(kinds=("fractional",)), st.integers(2, 5))
def test_every_row_several_times_leaves_all_rates_under_fractional_weights(rows, k):
    """Law 15; sums of two and three times as many terms round differently, so equal is 4 ulp of 1."""
    repeated = [column * k for column in rows]
    one, other = (numbers_in(rates(tally_of(*columns))) for columns in (rows, repeated))
    assert all_close(one, other, scale=1.0)


@given(sets(), st.integers(0, 3), st.data())
def test_whole_weights_are_repeated_rows_and_weight_zero_is_a_dropped_row(rows, least, data):
    """Law 16, to the bit."""
    scores, labels, _ = rows
    few = st.lists(st.integers(0, 4), min_size=len(scores), max_size=len(scores))
    weights = [w * 2**least for w in data.draw(few)]
    assume({y for y, w in zip(labels, weights, strict=True) if w} == {0, 1})
    repeated = [(s, y) for s, y, w in zip(scores, labels, weights, strict=True) for _ in range(w)]
    assert same_bits(facts(tally_of(scores, labels, weights)), facts(tally_of(*zip(*repeated, strict=True))))


@given(sets(kinds=("integer",)), st.data())
def test_ranks_by_number_treat_whole_weights_as_repeated_rows(rows, data):
    """Law 16 for precision and recall among the k highest, to the bit."""
    scores, labels, _ = rows
    weights = data.draw(st.lists(st.sampled_from([2, 4]), min_size=len(scores), max_size=len(scores)))
    repeated = [(s, y) for s, y, w in zip(scores, labels, weights, strict=True) for _ in range(w)]
    one, other = curve_of(scores, labels, weights), curve_of(*zip(*repeated, strict=True))
    k = data.draw(st.integers(1, len(repeated)))
    assert close(one.precision_at(k), other.precision_at(k))
    assert close(one.recall_at(k), other.recall_at(k))
    if k <= sum(y for _, y in repeated):
        assert close(one.precision_at_recalled(k), other.precision_at_recalled(k))


@given(sets(kinds=("integer", "fractional")), st.integers(-60, 60))
def test_weights_times_a_power_of_two_give_the_same_bits(rows, k):
    """Law 40."""
    scores, labels, weights = rows
    scaled = [math.ldexp(w, k) for w in weights]
    assert same_bits(rates(tally_of(*rows)), rates(tally_of(scores, labels, scaled)))


@given(sets(), st.sampled_from([np.float16, np.float32]))
def test_narrow_floats_are_their_widening(rows, kind):
    """Law 36, to the bit, for scores and weights."""
    scores, labels, weights = rows
    with np.errstate(over="ignore"):
        narrow = np.array(scores).astype(kind)
        heavy = None if weights is None else np.array(weights, float).astype(np.float32)
    wide = None if heavy is None else heavy.astype(float)
    assert same_bits(facts(tally_of(narrow, labels, heavy)), facts(tally_of(narrow.astype(float), labels, wide)))


# --- Curves and areas ---


@given(sets())
def test_the_area_under_the_curve_is_the_share_of_pairs_won(rows):
    """Law 8, to the bit: both are rounded once."""
    assert curve_of(*rows).auc == float(pairs_won(*rows))


@given(sets())
def test_negating_the_scores_or_flipping_the_labels_turns_the_area_over(rows):
    """Law 9; 1 - x is within 4 ulp of 1, not of a small rest."""
    scores, labels, weights = rows
    straight = curve_of(*rows).auc
    negated = curve_of([-s for s in scores], labels, weights).auc
    assert negated == curve_of(scores, [1 - y for y in labels], weights).auc
    assert close(negated, 1.0 - straight, scale=1.0)


@given(sets())
def test_the_area_under_the_hull_is_at_least_that_under_the_curve(rows):
    """Law 10, exactly: rounding keeps the order."""
    curve = curve_of(*rows)
    assert curve.hull_auc >= curve.auc


@given(sets())
def test_the_curve_is_monotone_with_both_ends_and_one_point_per_distinct_score(rows):
    """Law 23."""
    curve = curve_of(*rows)
    misses, alarms, at = curve.misses.tolist(), curve.false_alarms.tolist(), curve.thresholds.tolist()
    assert (misses[0], alarms[0], at[0]) == (0, curve.nontargets, -INF)
    assert (misses[-1], alarms[-1], at[-1]) == (curve.targets, 0, max(rows[0]))
    assert misses == sorted(misses)
    assert alarms == sorted(alarms, reverse=True)
    assert at[1:] == sorted(set(rows[0]))
    assert np.all(np.diff(curve.fnr) >= 0.0)
    assert np.all(np.diff(curve.fpr) <= 0.0)


@given(sets())
def test_the_det_curve_is_the_probit_of_the_roc_in_its_order(rows):
    """Law 50."""
    curve = curve_of(*rows)
    horizontal, vertical = curve.det()
    assert np.all(horizontal[1:] <= horizontal[:-1])
    assert np.all(vertical[1:] >= vertical[:-1])
    for rate, probit in zip([*curve.fpr, *curve.fnr], [*horizontal, *vertical], strict=True):
        if rate in (0.0, 1.0):
            assert probit == (INF if rate else -INF)
        else:  # two independent approximations, each good to 1e-15 or so
            assert math.isclose(probit, NormalDist().inv_cdf(rate), rel_tol=1e-13, abs_tol=1e-15)


# --- Isotonic recalibration and cross-entropy ---


def recalibrated(scores, hull):
    """The raw PAV map: each score becomes the llr of its hull segment."""
    return hull.llrs[np.searchsorted(hull.thresholds[1:], np.array(scores) + 0.0)]


@given(sets(), st.lists(st.floats(-40, 40), min_size=1, max_size=4))
def test_after_the_raw_pav_map_the_actual_cost_is_the_minimum_at_every_prior(rows, grid):
    """Law 17; where a prior asks for a threshold on a block's llr both decisions cost the same within rounding."""
    scores, labels, weights = rows
    curve = curve_of(*rows)
    mapped = curve_of(recalibrated(scores, curve.hull), labels, weights)
    corners = curve.hull.llrs[np.isfinite(curve.hull.llrs)]
    taus = np.array([*grid, *-corners, *-np.nextafter(corners, INF), *-np.nextafter(corners, -INF)])
    plot = tc.bayes_error(mapped, taus)
    for tau, actual, least in zip(taus, plot.dcf, tc.bayes_error(curve, taus).min_dcf, strict=True):
        assert close(actual, least, 4 + 2 * abs(tau))


@given(sets())
def test_pav_is_idempotent_and_its_blocks_strictly_rise(rows):
    """Law 18; the rise is strict in whole numbers, the rounded llrs of two close blocks may be one."""
    scores, labels, weights = rows
    hull = curve_of(*rows).hull
    blocks = list(zip(np.diff(hull.misses).tolist(), (-np.diff(hull.false_alarms)).tolist(), strict=True))
    assert all(t1 * n2 < t2 * n1 for (t1, n1), (t2, n2) in itertools.pairwise(blocks))
    assert np.all(np.diff(hull.llrs[np.isfinite(hull.llrs)]) >= 0.0)
    assume(len(set(hull.llrs.tolist())) == len(hull.llrs))
    again = curve_of(recalibrated(scores, hull), labels, weights).hull
    assert again.misses.tolist() == hull.misses.tolist()
    assert again.false_alarms.tolist() == hull.false_alarms.tolist()
    assert same_bits(again.llrs.tolist(), hull.llrs.tolist())


@given(sets(kinds=(None, "integer")))
def test_the_llrs_of_pav_blocks_strictly_rise_under_whole_weights(rows):
    """Law 18."""
    llrs = curve_of(*rows).hull.llrs.tolist()
    assert all(a < b for a, b in itertools.pairwise(llrs))


@given(sets())
def test_the_minimum_cllr_lies_between_zero_and_the_cllr_and_one(rows):
    """Law 19."""
    tally = tally_of(*rows)
    least = tc.min_cllr(tc.Curve.of(tally))
    assert least >= 0.0
    assert at_most(least, 1.0)
    assert at_most(least, tc.cllr(tally))


@given(sets())
def test_the_minimum_cllr_is_zero_exactly_when_the_classes_are_separable(rows):
    """Law 20."""
    scores, labels, _ = rows
    lowest_target = min(s for s, y in zip(scores, labels, strict=True) if y)
    separable = lowest_target > max(s for s, y in zip(scores, labels, strict=True) if not y)
    curve = curve_of(*rows)
    assert (tc.min_cllr(curve) == 0.0) == separable == (curve.auc == 1.0)


@given(sets())
def test_the_cllr_of_llrs_that_say_nothing_is_one(rows):
    """Law 21, to the bit."""
    _, labels, weights = rows
    assert tc.cllr(tally_of([0.0] * len(labels), labels, weights)) == 1.0


@given(sets(infinities=False))
def test_the_cllr_is_the_integral_of_the_cost_over_the_log_odds(rows):
    """Law 22; by Gauss-Legendre between the scores, so equal is 1e-12, the accuracy of the quadrature."""
    scores, labels, weights = rows
    scores = [min(max(s, -20.0), 20.0) for s in scores]
    tally = tally_of(scores, labels, weights)
    knots = np.unique([*np.linspace(-60.0, 60.0, 121), *(-np.array(scores))])
    nodes, shares = np.polynomial.legendre.leggauss(12)
    half = np.diff(knots)[:, None] / 2.0
    taus = (knots[:-1, None] + half + half * nodes).ravel()
    prior = 1.0 / (1.0 + np.exp(-np.abs(taus)))  # the larger of the two priors
    costs = tc.bayes_error(tc.Curve.of(tally), taus).dcf * prior * np.exp(-np.abs(taus))
    integral = math.fsum(costs * (half * shares).ravel()) / (2.0 * math.log(2.0))
    assert math.isclose(tc.cllr(tally), integral, rel_tol=1e-12)


# --- Counts, intervals, inputs ---


@given(sets(), operating_points())
def test_hits_and_misses_are_all_targets_and_the_rest_all_non_targets(rows, point):
    """Law 34, exactly."""
    scores, labels, weights = rows
    table = tc.confusion_of(tc.Trials.of_llr(scores, labels, weights=weights), point)
    cells = {name: count * Fraction(2) ** table.unit for name, count in table.cells.items()}
    heavy = [Fraction(1)] * len(labels) if weights is None else [Fraction(w) for w in weights]
    targets = sum(w for w, y in zip(heavy, labels, strict=True) if y)
    assert cells["tp"] + cells["fn"] == targets
    assert cells["fp"] + cells["tn"] == sum(heavy) - targets
    row = tc.evaluate(tally_of(*rows), [point]).applications[0]
    assert row.confusion == table.matrix
    assert (row.fnr, row.fpr) == (table.fnr, table.fpr)


@given(st.integers(1, 60), st.data())
def test_clopper_pearson_contains_the_estimate_and_nests_by_level(n, data):
    """Law 33."""
    k = data.draw(st.integers(0, n))
    low, high = sorted(data.draw(st.lists(st.floats(0.01, 0.999), min_size=2, max_size=2, unique=True)))
    inner, outer = tc.clopper_pearson(k, n, low), tc.clopper_pearson(k, n, high)
    assert 0.0 <= outer.low <= inner.low <= k / n <= inner.high <= outer.high <= 1.0


@given(st.integers(1, 20), st.sampled_from([0.5, 0.8, 0.9, 0.95, 0.99]), st.data())
def test_clopper_pearson_covers_at_least_its_level(n, level, data):
    """Law 33, with exact binomial probabilities; its worst cases lie just outside an end of some interval."""
    intervals = [tc.clopper_pearson(k, n, level) for k in range(n + 1)]
    ends = [end for low, high, _ in intervals for end in (low * (1 - 1e-9), high * (1 + 1e-9)) if 0.0 < end < 1.0]
    p = data.draw(st.one_of(st.floats(0.0, 1.0), st.sampled_from(ends)))
    exact = Fraction(p)
    covered = [k for k, (low, high, _) in enumerate(intervals) if low <= p <= high]
    chance = sum(math.comb(n, k) * exact**k * (1 - exact) ** (n - k) for k in covered)
    assert chance >= level - 1e-13  # the ends are right to about 1e-14


@given(st.integers(1, 25), st.sampled_from([0.5, 0.9, 0.95, 0.99]), st.data())
def test_clopper_pearson_is_the_interval_of_its_definition(n, level, data):
    """Law 33; the inverse incomplete beta function is good to about 1e-14."""
    k = data.draw(st.integers(0, n))
    for end, exact in zip(tc.clopper_pearson(k, n, level)[:2], exact_clopper_pearson(k, n, level), strict=True):
        assert math.isclose(end, exact, rel_tol=1e-13)


@given(sets(), st.booleans())
def test_inputs_are_never_modified_nor_kept(rows, writeable):
    """Law 49: what goes in is neither changed nor frozen, and what comes out does not follow it."""
    columns = [None if column is None else np.array(column, float) for column in rows]
    for column in columns:
        if column is not None:
            column.setflags(write=writeable)
    before = [None if column is None else column.tobytes() for column in columns]
    trials = tc.Trials.of_llr(columns[0], columns[1], weights=columns[2])
    tally = tc.Tally.of(trials)
    expected = facts(tally)
    tc.evaluate(trials, POINTS).to_dict()
    tc.decisions(trials, POINTS[0])
    tc.log_loss(trials, 0.5)
    tc.brier(trials, 0.5)
    tc.Confusion.of(columns[1], columns[1], weights=columns[2])
    tc.neyman_pearson(tc.Curve.of(tally), 0.1)(columns[0], seed=1)
    assert [None if column is None else column.tobytes() for column in columns] == before
    assert all(column is None or column.flags.writeable == writeable for column in columns)
    if writeable:
        for column in columns:
            if column is not None:
                column[:] = 7.0
        assert same_bits(facts(tc.Tally.of(trials)), expected)


@given(sets())
def test_what_is_kept_cannot_be_written_to(rows):
    """Law 49, the other way round."""
    scores, labels, weights = rows
    trials = tc.Trials.of_llr(scores, labels, weights=weights)
    tally = tc.Tally.of(trials)
    for array in (trials.scores, trials.labels, trials.weights, tally.targets.scores, tally.nontargets.scores):
        if array is not None:
            with pytest.raises(ValueError, match="read-only"):
                array[0] = 1
