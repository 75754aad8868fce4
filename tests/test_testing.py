"""The references themselves, against numbers worked by hand, other tools' numbers, and each other."""

import doctest
import math
import os
import subprocess
import sys
from fractions import Fraction
from itertools import pairwise, permutations
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, find, given, settings
from hypothesis import strategies as st

from tercet import testing as ref

F, INF = Fraction, math.inf
TIED = [2, 2, 3, 1, 2], [1, 1, 1, 0, 0]  # targets 2, 2, 3; non-targets 1, 2
CROSSED = [2, 4, 1, 3], [1, 1, 0, 0]
SEPARABLE = [1, 2, 5, 7, -7, -5, -2, -1], [1, 1, 1, 1, 0, 0, 0, 0]
DEFINITIONS = "rocch", "interpolated", "nearest"

some = settings(max_examples=60, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
small = ref.labelled_scores(max_size=14)


@pytest.fixture(scope="module")
def iris():
    data, species = pytest.importorskip("sklearn.datasets").load_iris(return_X_y=True)
    return data[species < 2, 0].tolist(), species[species < 2].tolist()


@pytest.fixture(scope="module")
def lab():
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(os.environ.get("TERCET_LAB_DATA", beside)) / "lab"
    if not folder.is_dir():
        pytest.skip("the laboratory's files are neither at ../shared/data nor at $TERCET_LAB_DATA")
    return lambda name: np.load(folder / f"commedia_{name}.npy", allow_pickle=False).tolist()


def test_the_examples_in_the_docstrings_come_out():
    failed, tried = doctest.testmod(ref)
    assert failed == 0
    assert tried >= 25


# Curve points


def test_tied_scores_are_one_point():
    assert ref.points(*TIED) == [(-INF, 0, 2), (1, 0, 1), (2, 2, 0), (3, 3, 0)]


def test_accept_all_is_a_point_of_its_own_beside_a_score_of_minus_infinity():
    assert ref.points([-INF, 0], [1, 0]) == [(-INF, 0, 1), (-INF, 1, 1), (0, 1, 0)]


def test_both_zeros_are_one_score():
    curve = ref.points([-0.0, 0.0], [1, 0])
    assert curve == [(-INF, 0, 1), (0, 1, 0)]
    assert math.copysign(1, curve[1][0]) == 1


def test_a_tie_with_the_threshold_is_rejected():
    assert ref.rates_at(*TIED, 2) == (F(2, 3), 0)
    assert ref.rates_at(*TIED, math.nextafter(2, 0)) == (0, F(1, 2))


def test_weights_are_taken_exactly_and_zero_drops_the_row():
    assert ref.points([1, 2, 3], [0, 1, 1], [0.1, F(1, 3), 0]) == [
        (-INF, 0, F(0.1)),
        (1, 0, 0),
        (2, F(1, 3), 0),
    ]
    assert ref.points([1, 2], [0, 1], np.array([2**62, 2**62]))[-1][1] == 2**62


def test_a_class_without_weight_leaves_the_numbers_undefined():
    for function in (ref.auc, ref.hull_auc, ref.eer, ref.cllr, ref.min_cllr, ref.hull_lrs):
        for rows in ([1, 2], [0, 0], None), ([1, 2], [1, 1], None), ([1, 2], [0, 1], [1, 0]), ([], [], None):
            with pytest.raises(ZeroDivisionError):
                function(*rows[:2], weights=rows[2])


def test_nan_and_negative_weights_are_refused():
    with pytest.raises(ValueError, match="NaN"):
        ref.points([math.nan, 1], [0, 1])
    with pytest.raises(ValueError, match="negative"):
        ref.points([0, 1], [0, 1], [1, -1])
    with pytest.raises(ValueError, match="shorter"):
        ref.points([0, 1], [0, 1], [1])


@some
@given(small, st.data())
def test_every_point_after_the_first_has_the_rates_at_its_threshold(rows, data):
    weights = data.draw(ref.weights_for(len(rows[0]), "fractional"))
    (_, misses, alarms), *curve = ref.points(*rows, weights)
    assert (misses, alarms) == (0, sum(F(w) for w, y in zip(weights, rows[1], strict=True) if not y))
    targets = sum(F(w) for w, y in zip(weights, rows[1], strict=True) if y)
    for threshold, m, f in curve:
        assert (m / targets, f / alarms) == ref.rates_at(*rows, threshold, weights)


# Hull and isotonic regression


def test_the_hull_of_the_tied_set():
    assert ref.hull(*TIED) == ref.points(*TIED)
    assert ref.hull_lrs(*TIED) == [0, F(4, 3), INF]
    assert ref.hull_auc(*TIED) == F(5, 6)


def test_collinear_points_are_no_vertices():
    rows = [1, 1, 2, 2, 3, 3], [0, 1, 0, 1, 0, 1]
    assert ref.hull(*rows) == [(-INF, 0, 3), (3, 3, 0)]
    assert ref.pav(*rows) == [(1, 3, 3, 3)]


def test_the_hull_of_wrongly_ordered_scores_is_the_diagonal():
    assert ref.hull([1, 2], [1, 0]) == [(-INF, 0, 1), (2, 1, 0)]
    assert ref.hull_lrs([1, 2], [1, 0]) == [1]
    assert ref.hull_auc([1, 2], [1, 0]) == F(1, 2)


def test_the_hull_of_iris(iris):
    vertices = ref.hull(*iris)
    assert [float(f / 50) for _, _, f in vertices] == [1, 0.68, 0.28, 0.1, 0.06, 0, 0]
    assert [float(m / 50) for _, m, _ in vertices] == [0, 0, 0.08, 0.12, 0.22, 0.48, 1]


@some
@given(ref.labelled_scores(max_size=20), st.data())
def test_hull_and_pav_are_one_computation(rows, data):
    weights = data.draw(st.one_of(st.none(), ref.weights_for(len(rows[0]), "fractional")))
    vertices, blocks = ref.hull(*rows, weights), ref.pav(*rows, weights)
    assert [v for v, _, _ in vertices[1:]] == [high for _, high, _, _ in blocks]
    steps = [(b[1] - a[1], a[2] - b[2]) for a, b in pairwise(vertices)]
    assert steps == [(t, n) for _, _, t, n in blocks]
    llrs = ref.hull_lrs(*rows, weights)
    assert llrs == sorted(set(llrs))


@some
@given(small)
def test_pav_is_the_max_min_of_means(rows):
    """g_i = max over a <= i of min over b >= i of the share of targets in groups a..b."""
    values = sorted(set(rows[0]))
    share = {}
    for a in range(len(values)):
        for b in range(a, len(values)):
            inside = [y for s, y in zip(*rows, strict=True) if values[a] <= s <= values[b]]
            share[a, b] = F(sum(inside), len(inside))
    for i, v in enumerate(values):
        expected = max(min(share[a, b] for b in range(i, len(values))) for a in range(i + 1))
        (block,) = [block for block in ref.pav(*rows) if block[0] <= v <= block[1]]
        assert block[2] / (block[2] + block[3]) == expected


def test_the_share_of_targets_decides_the_pooling_not_the_count():
    assert ref.pav([1, 1, 1, 2], [1, 0, 0, 1]) == [(1, 1, 1, 2), (2, 2, 1, 0)]
    assert ref.pav([1, 2, 2, 3], [1, 1, 0, 0]) == [(1, 3, 2, 2)]


# Equal error rate


def test_three_definitions_of_the_equal_error_rate_on_tied_scores():
    assert ref.eer(*TIED, "rocch") == (F(2, 7), 1)
    assert ref.eer(*TIED, "interpolated") == (F(2, 7), 1)
    assert ref.eer(*TIED, "nearest") == (F(1, 4), 1)


def test_the_hull_cuts_the_corner_of_the_curve():
    assert ref.eer(*CROSSED, "rocch") == (F(1, 4), 1)
    assert ref.eer(*CROSSED, "interpolated") == (F(1, 2), 2)
    assert ref.eer(*CROSSED, "nearest") == (F(1, 2), 2)


def test_equally_near_points_give_the_lowest_threshold():
    # rates (FNR, FPR): (0, 1), (1/2, 1), (1/2, 0), (1, 0)
    assert ref.eer([1, 2, 3], [1, 0, 1], "nearest") == (F(3, 4), 1)
    assert ref.eer([1, 2, 3], [1, 0, 1], "interpolated") == (F(1, 2), 1)
    # hull: (0, 1), (1/2, 0), (1, 0)
    assert ref.eer([1, 2, 3], [1, 0, 1], "rocch") == (F(1, 3), -INF)


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_separable_scores_have_no_equal_error(definition):
    assert ref.eer(*SEPARABLE, definition) == (0, -1)


def test_an_unknown_definition_is_refused():
    with pytest.raises(ValueError, match="closest"):
        ref.eer(*TIED, "closest")


def test_the_equal_error_rates_of_iris(iris):
    value, threshold = ref.eer(*iris)
    assert float(value) == pytest.approx(0.116363636363636, abs=1e-15)
    assert (value, threshold) == (F(32, 275), 5.1)
    assert [f"{float(ref.eer(*iris, name)[0]):.4f}" for name in DEFINITIONS] == ["0.1164", "0.1167", "0.1100"]


@some
@given(small)
def test_the_rocch_eer_is_the_lowest_crossing_of_any_chord(rows):
    t, n = sum(rows[1]), len(rows[1]) - sum(rows[1])
    rates = [(m / t, f / n) for _, m, f in ref.points(*rows)]
    crossings = []
    for a in rates:
        for b in rates:
            before, after = a[1] - a[0], b[0] - b[1]
            if before >= 0 and after > 0:
                crossings.append((a[0] * after + b[0] * before) / (before + after))
    assert ref.eer(*rows)[0] == min(crossings)


@some
@given(small)
def test_the_rocch_eer_is_the_worst_minimum_error_rate(rows):
    value, _ = ref.eer(*rows)
    priors = [F(i, 8) for i in range(1, 8)]
    # The worst prior lies where two vertices of the hull cost the same: odds(prior) = 1 / likelihood ratio.
    priors += [1 / (1 + r) for r in ref.hull_lrs(*rows) if 0 < r < INF]
    least = [ref.min_dcf(*rows, p)[0] * min(p, 1 - p) for p in priors]
    assert max(least) <= value <= F(1, 2)
    assert value in least or value == 0


# Costs


def test_worked_costs_of_the_course():
    biometric = F("0.02"), F("0.001"), F("0.001"), 1, 10
    assert ref.dcf_u(*biometric) == F("0.01001")
    assert ref.dcf(*biometric) == F("10.01")
    assert ref.dcf_u(F("0.20"), F("0.15"), F("0.3")) == F("0.165")
    assert ref.dcf_u(F("0.25"), F("0.10"), F("0.3")) == F("0.145")


def test_floats_are_taken_exactly():
    assert ref.dcf_u(0, 1, 0.1) == 1 - F(0.1) != F(0.9)


def test_a_zero_normaliser_is_an_error():
    with pytest.raises(ZeroDivisionError):
        ref.dcf(0.1, 0.1, 0.5, 0, 1)


def test_minimum_cost_by_hand():
    # Normalised at (1/2, 1, 1) the cost is FNR + FPR: 1, 1/2, 2/3, 1.
    assert ref.min_dcf(*TIED, 0.5) == (F(1, 2), 1)
    # At prior 1/10 it is FNR + 9 FPR: 9, 9/2, 2/3, 1.
    assert ref.min_dcf(*TIED, F(1, 10)) == (F(2, 3), 2)
    # Where costs equal, the lowest threshold: FNR + FPR is 1/2 at 1 and at 3.
    assert ref.min_dcf(*CROSSED, 0.5) == (F(1, 2), 1)


def test_accept_all_and_reject_all_are_candidates():
    assert ref.min_dcf([-INF, 0], [1, 0], 0.9) == (1, -INF)
    assert ref.min_dcf([1, 2], [1, 0], 0.1) == (1, 2)


@some
@given(small, ref.operating_points())
def test_the_minimum_lies_on_the_hull_and_is_at_most_one(rows, working_point):
    value, threshold = ref.min_dcf(*rows, *working_point)
    t, n = sum(rows[1]), len(rows[1]) - sum(rows[1])
    costs = [(ref.dcf(m / t, f / n, *working_point), v) for v, m, f in ref.hull(*rows)]
    assert min(c for c, _ in costs) == value <= 1
    assert threshold <= min(v for c, v in costs if c == value)


def test_the_laboratory_costs(lab):
    llr, labels = lab("llr_infpar"), lab("labels_infpar")
    fnr, fpr = ref.rates_at(llr, labels, -math.log(4))
    assert (fnr, fpr) == (F(80, 400), F(131, 402))
    assert round(float(ref.dcf_u(fnr, fpr, 0.8)), 3) == 0.225
    assert round(float(ref.dcf(fnr, fpr, 0.8)), 3) == 1.126
    assert round(float(ref.min_dcf(llr, labels, 0.8)[0]), 3) == 0.752
    assert round(float(ref.min_dcf(llr, labels, 0.5, 10, 1)[0]), 3) == 0.842


# Neyman and Pearson


def test_the_best_test_of_a_given_size():
    assert ref.neyman_pearson(*TIED, 0) == (2, 0, F(1, 3))
    assert ref.neyman_pearson(*TIED, F(1, 4)) == (2, F(1, 2), F(2, 3))
    assert ref.neyman_pearson(*TIED, F(1, 2)) == (1, 0, 1)


def test_nothing_is_accepted_that_finds_no_target():
    assert ref.neyman_pearson(*TIED, 0.9) == ref.neyman_pearson(*TIED, 1) == (1, 0, 1)
    assert ref.neyman_pearson([1, 2], [1, 0], 0.5) == (2, 0, 0)
    assert ref.neyman_pearson([1, 2], [1, 0], 1) == (-INF, 1, 1)


def test_minus_infinity_may_be_accepted_by_chance():
    assert ref.neyman_pearson([-INF, -INF], [1, 0], 0.25) == (-INF, F(1, 4), F(1, 4))
    assert ref.neyman_pearson([-INF, -INF], [1, 0], 1) == (-INF, 1, 1)


@some
@given(small, st.fractions(0, 1, max_denominator=12))
def test_the_rule_keeps_its_size_and_no_rule_on_a_grid_beats_it(rows, alpha):
    def rates(threshold, gamma):
        def accepted(y):
            mine = [s for s, label in zip(*rows, strict=True) if label == y]
            return F(sum(1 if s > threshold else gamma if s == threshold else 0 for s in mine)) / len(mine)

        return accepted(1), accepted(0)

    threshold, gamma, tpr = ref.neyman_pearson(*rows, alpha)
    assert rates(threshold, gamma)[0] == tpr
    assert rates(threshold, gamma)[1] <= alpha
    grid = [(v, F(g, 12)) for v in {*rows[0], -INF} for g in range(13)]
    assert max((t for t, f in (rates(*rule) for rule in grid) if f <= alpha), default=0) <= tpr


# Areas and ranks


def test_areas_by_hand():
    assert ref.auc(*TIED) == F(5, 6)
    assert ref.auc(*CROSSED) == F(3, 4)
    assert ref.hull_auc(*CROSSED) == F(7, 8)
    assert ref.auc(*SEPARABLE) == ref.hull_auc(*SEPARABLE) == 1


def test_the_area_of_iris(iris):
    assert ref.auc(*iris) == F("0.9326")


def test_partial_areas_by_hand():
    # ROC (0, 0) (0, 1/2) (1/2, 1/2) (1/2, 1) (1, 1)
    assert ref.partial_auc(*CROSSED, 0, 0.5) == F(1, 4)
    assert ref.partial_auc(*CROSSED, 0.25, 0.75) == F(3, 8)
    assert ref.partial_auc(*CROSSED, 0, 0.5, "tpr") == F(1, 2)
    assert ref.partial_auc(*CROSSED, 0.5, 1, "tpr") == F(1, 4)
    # one tie: the diagonal
    assert ref.partial_auc([1, 1], [0, 1], 0, 0.5) == F(1, 8)
    assert ref.partial_auc([1, 1], [0, 1], 0, 0.5, "tpr") == F(3, 8)
    with pytest.raises(ValueError, match="fnr"):
        ref.partial_auc(*CROSSED, 0, 1, "fnr")


@some
@given(small, st.data(), st.floats(0, 1))
def test_partial_areas_add_up_to_the_pairs(rows, data, cut):
    weights = data.draw(ref.weights_for(len(rows[0]), "fractional"))
    whole = ref.auc(*rows, weights)
    for axis in "fpr", "tpr":
        parts = [ref.partial_auc(*rows, *ends, axis, weights) for ends in ((0, cut), (cut, 1))]
        assert sum(parts) == whole
    assert whole <= ref.hull_auc(*rows, weights)


def test_average_precision_by_hand():
    assert ref.average_precision(*TIED) == F(1, 3) + F(2, 3) * F(3, 4)
    assert ref.average_precision(*CROSSED) == F(1, 2) + F(1, 2) * F(2, 3)
    assert ref.average_precision([1, 1, 1], [1, 0, 0]) == F(1, 3)


def test_average_precision_is_scikit_learns(iris):
    metrics = pytest.importorskip("sklearn.metrics")
    for scores, labels in (iris, TIED, CROSSED):
        assert float(ref.average_precision(scores, labels)) == pytest.approx(
            metrics.average_precision_score(labels, scores), rel=1e-14
        )


def test_precision_at_the_kth_recalled_target():
    assert [ref.precision_at_recalled(*TIED, k) for k in (1, 2, 3)] == [1, F(3, 4), F(3, 4)]
    assert [ref.precision_at_recalled(*CROSSED, k) for k in (1, 2)] == [1, F(2, 3)]
    for k in 0, 4:
        with pytest.raises(ValueError, match="k must"):
            ref.precision_at_recalled(*TIED, k)


def test_precision_and_recall_in_the_top():
    assert [ref.precision_at(*TIED, k) for k in (1, 2, 3, 4, 5)] == [1, F(5, 6), F(7, 9), F(3, 4), F(3, 5)]
    assert [ref.recall_at(*TIED, k) for k in (1, 2, 5)] == [F(1, 3), F(5, 9), 1]
    for k in 0, 6:
        with pytest.raises(ValueError, match="k must"):
            ref.precision_at(*TIED, k)


@some
@given(ref.labelled_scores(max_size=6))
def test_the_top_is_the_mean_over_all_orders_of_the_rows(rows):
    n = len(rows[0])
    orders = [order for order in permutations(range(n)) if all(rows[0][i] >= rows[0][j] for i, j in pairwise(order))]
    for k in range(1, n + 1):
        found = F(sum(rows[1][i] for order in orders for i in order[:k]), len(orders))
        assert ref.precision_at(*rows, k) == found / k
        assert ref.recall_at(*rows, k) == found / sum(rows[1])


# Weights


@some
@given(small, st.data())
def test_an_integer_weight_repeats_the_row_and_zero_drops_it(rows, data):
    weights = [w % 4 for w in data.draw(ref.weights_for(len(rows[0]), zeros=True))]
    repeated = [[x for x, w in zip(column, weights, strict=True) for _ in range(w)] for column in rows]
    assume(0 < sum(repeated[1]) < len(repeated[1]))
    functions = [ref.points, ref.hull, ref.hull_lrs, ref.pav, ref.auc, ref.hull_auc, ref.average_precision]
    functions += [ref.cllr, ref.min_cllr]
    for function in functions:
        assert function(*rows, weights=weights) == function(*repeated)
    for definition in DEFINITIONS:
        assert ref.eer(*rows, definition, weights) == ref.eer(*repeated, definition)
    assert ref.min_dcf(*rows, 0.1, 1, 2, weights) == ref.min_dcf(*repeated, 0.1, 1, 2)
    assert ref.neyman_pearson(*rows, 0.3, weights) == ref.neyman_pearson(*repeated, 0.3)
    for k in range(1, len(repeated[0]) + 1):
        assert ref.precision_at(*rows, k, weights) == ref.precision_at(*repeated, k)


# Cross-entropies


def test_an_llr_of_zero_costs_one_bit():
    assert ref.cllr([0, 0, 0], [1, 0, 0]) == 1


def test_cllr_by_hand():
    # ln 3: targets log2(4/3), non-targets log2(4); ln 3 rounds, hence approx.
    expected = (math.log2(4 / 3) + 2) / 2
    assert ref.cllr([math.log(3), math.log(3)], [1, 0]) == pytest.approx(expected, rel=1e-15)


def test_a_misleading_llr_of_800_is_finite():
    assert ref.cllr([-800, -INF], [1, 0]) == 800 / math.log(2) / 2
    assert ref.cllr([INF, 1e308], [1, 0]) == pytest.approx(1e308 / math.log(2) / 2, rel=1e-15)


def test_a_tiny_cost_keeps_its_digits():
    assert ref.cllr([300, -INF], [1, 0]) == pytest.approx(math.exp(-300) / math.log(4), rel=1e-15, abs=0)


def test_a_wrong_certainty_costs_infinity_and_a_right_one_nothing():
    assert ref.cllr([INF, -INF], [1, 0]) == 0
    assert ref.cllr([-INF, -INF], [1, 0]) == INF
    assert ref.cllr([INF, INF], [1, 0]) == INF


def test_cross_entropy_by_hand():
    # Prior 1/5 and llr ln 4 give even odds: one bit.
    assert ref.empirical_cross_entropy([math.log(4)] * 2, [0, 1], F(1, 5)) == pytest.approx(1, rel=1e-15)
    entropy = -(0.2 * math.log2(0.2) + 0.8 * math.log2(0.8))
    assert ref.empirical_cross_entropy([0, 0, 0], [0, 1, 1], F(1, 5)) == pytest.approx(entropy, rel=1e-15)


def test_cllr_of_the_iris_lengths(iris):
    assert ref.cllr(*iris) == pytest.approx(3.61833, abs=5e-6)


def test_min_cllr_of_iris(iris):
    assert ref.min_cllr(*iris) == pytest.approx(0.403062010535587, abs=1e-15)


def test_min_cllr_by_hand():
    expected = (2 / 3 * math.log2(7 / 4) + 1 / 2 * math.log2(7 / 3)) / 2
    assert ref.min_cllr(*TIED) == pytest.approx(expected, rel=1e-15)
    assert ref.min_cllr(*SEPARABLE) == 0
    assert ref.min_cllr([1, 2], [1, 0]) == 1


@some
@given(small)
def test_min_cllr_is_the_cllr_of_the_recalibrated_scores(rows):
    t, n = sum(rows[1]), len(rows[1]) - sum(rows[1])

    def llr(score):
        ((a, b),) = [block[2:] for block in ref.pav(*rows) if block[0] <= score <= block[1]]
        return math.log((a * n) / (b * t)) if a and b else INF if a else -INF

    least = ref.min_cllr(*rows)
    assert least == pytest.approx(ref.cllr([llr(s) for s in rows[0]], rows[1]), rel=1e-13)
    assert 0 <= least <= min(1, ref.cllr(*rows))
    assert (least == 0) == (ref.auc(*rows) == 1)


# Many classes

COSTS = [[0, 1, 2], [1, 0, 1], [2, 1, 0]]
PRIOR = [F("0.3"), F("0.4"), F("0.3")]
TERCETS = [[205, 111, 56], [145, 199, 121], [50, 92, 225]]


def test_rows_are_decisions_and_columns_are_classes():
    assert ref.confusion([0, 0, 2], [0, 1, 1], 3, 2) == [[1, 1], [0, 0], [0, 1]]
    assert ref.confusion([0, 0], [0, 0], 1, 1, [0.5, F(1, 3)]) == [[F(5, 6)]]
    with pytest.raises(ValueError, match="outside 2 x 2"):
        ref.confusion([2], [0], 2, 2)


def test_the_risk_of_the_course():
    risk = ref.bayes_risk(TERCETS, PRIOR, COSTS)
    assert risk == F("0.3") * F(245, 400) + F("0.4") * F(203, 402) + F("0.3") * F(233, 402)
    assert float(risk) == pytest.approx(0.55962, abs=1e-5)
    assert ref.dummy_risk(PRIOR, COSTS) == F("0.6")
    assert round(float(risk / ref.dummy_risk(PRIOR, COSTS)), 3) == 0.933


def test_the_decision_of_the_course():
    assert ref.bayes_decision([0.40, 0.25, 0.35], COSTS) == 1
    assert ref.dummy_risk([F("0.40"), F("0.25"), F("0.35")], COSTS) == F("0.75")


def test_a_tied_decision_goes_to_the_lowest_index_and_abstaining_is_an_action():
    assert ref.bayes_decision([0.5, 0.5], [[0, 1], [1, 0], [0.5, 0.5]]) == 0
    assert ref.bayes_decision([0.5, 0.5], [[0, 1], [1, 0], [0.25, 0.25]]) == 2


def test_log_loss_and_brier_of_three_classes():
    posteriors, labels = [[0.2, 0.7, 0.1], [0.6, 0.2, 0.2], [0.6, 0.1, 0.3]], [1, 0, 2]
    assert ref.log_loss(posteriors, labels, base=math.e) == pytest.approx(0.6904911, abs=5e-8)
    assert float(ref.brier(posteriors, labels)) == pytest.approx(0.41333333, abs=5e-9)
    assert ref.log_loss(posteriors, labels, [0, 3, 0]) == pytest.approx(-math.log2(0.6), rel=1e-15)
    assert ref.brier(posteriors, labels, [0, 3, 0]) == (1 - F(0.6)) ** 2 + 2 * F(0.2) ** 2


def test_a_certain_wrong_answer_costs_infinity():
    assert ref.log_loss([[0, 1], [1, 0]], [0, 0]) == INF
    assert ref.log_loss([[0, 1], [1, 0]], [0, 0], [0, 1]) == 0
    assert ref.brier([[0, 1]], [0]) == 2


def test_the_laboratory_confusion(lab):
    columns = list(zip(*lab("ll"), strict=True))
    decisions = [column.index(max(column)) for column in columns]
    matrix = ref.confusion(decisions, lab("labels"), 3, 3)
    assert matrix == [[210, 113, 61], [137, 191, 111], [53, 98, 230]]
    uniform, zero_one = [F(1, 3)] * 3, [[0, 1, 1], [1, 0, 1], [1, 1, 0]]
    assert round(float(ref.bayes_risk(matrix, uniform, zero_one)), 3) == 0.476


# Intervals


def test_clopper_pearson_by_hand():
    assert ref.clopper_pearson(0, 300) == (0, pytest.approx(1 - 0.025 ** (1 / 300), rel=1e-13))
    assert ref.clopper_pearson(300, 300) == (pytest.approx(0.025 ** (1 / 300), rel=1e-13), 1)
    root = math.sqrt(0.75)
    assert ref.clopper_pearson(1, 2, 0.5) == pytest.approx((1 - root, root), rel=1e-15)
    with pytest.raises(ValueError, match="4 of 3"):
        ref.clopper_pearson(4, 3)


@pytest.mark.parametrize(("k", "n", "level"), [(1, 10, 0.95), (3, 1000, 0.9), (50, 100, 0.99), (28, 51, 0.6827)])
def test_clopper_pearson_is_the_quantile_of_a_beta(k, n, level):
    beta = pytest.importorskip("scipy.stats").beta
    expected = beta.ppf((1 - level) / 2, k, n - k + 1), beta.isf((1 - level) / 2, k + 1, n - k)
    assert ref.clopper_pearson(k, n, level) == pytest.approx(expected, rel=1e-11, abs=0)


@some
@given(st.integers(1, 25), st.data(), st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_the_exact_tails_at_the_bounds_are_what_is_left_of_the_level(n, data, level):
    k = data.draw(st.integers(0, n))
    low, high = (F(x) for x in ref.clopper_pearson(k, n, level))

    def chance(p, counts):
        return float(sum(math.comb(n, i) * p**i * (1 - p) ** (n - i) for i in counts))

    rest = (1 - level) / 2
    assert low <= F(k, n) <= high
    assert low == 0 if k == 0 else chance(low, range(k, n + 1)) == pytest.approx(rest, rel=1e-12)
    assert high == 1 if k == n else chance(high, range(k + 1)) == pytest.approx(rest, rel=1e-11)


def test_wilson_of_the_tornado_table():
    assert ref.wilson(28, 51, 1.96) == pytest.approx((0.4138447, 0.6773269), abs=5e-8)


def test_wilson_by_hand():
    # z = 2, k = 2 of 4: (2 + 2 -+ 2 sqrt(1 + 1)) / 8
    assert ref.wilson(2, 4, 2) == pytest.approx((0.5 - math.sqrt(0.125), 0.5 + math.sqrt(0.125)), rel=1e-15)
    assert ref.wilson(0, 4, 2) == (0, 0.5)
    assert ref.wilson(4, 4, 2) == (0.5, 1)


# Strategies


def test_the_references_load_without_hypothesis():
    code = (
        "import runpy, sys; sys.modules['hypothesis'] = None;"
        "print(runpy.run_path(sys.argv[1])['auc']([1, 2, 2], [0, 1, 0]))"
    )
    done = subprocess.run([sys.executable, "-B", "-c", code, ref.__file__], capture_output=True, text=True, check=True)
    assert done.stdout == "3/4\n"


@some
@given(st.integers(0, 4), st.booleans(), st.booleans(), st.data())
def test_labelled_scores_keep_their_promises(min_each, ties, infinities, data):
    scores, labels = data.draw(ref.labelled_scores(min_each, 12, ties, infinities))
    assert len(scores) == len(labels) <= 12
    assert min(labels.count(0), labels.count(1)) >= min_each
    assert set(labels) <= {0, 1}
    assert all(isinstance(s, float) and not math.isnan(s) for s in scores)
    assert ties or len(set(scores)) == len(scores)
    assert infinities or all(map(math.isfinite, scores))


@pytest.mark.parametrize(
    "wanted",
    [
        lambda s, y: len(set(s)) < len(s) / 2,
        lambda s, y: {INF, -INF} <= set(s),
        lambda s, y: any(x == 0 and math.copysign(1, x) < 0 for x in s),
        lambda s, y: any(0 < abs(x) < sys.float_info.min for x in s),
        lambda s, y: any(1e300 < abs(x) < INF for x in s),
        lambda s, y: any(a == b and i != j for a, i in zip(s, y, strict=True) for b, j in zip(s, y, strict=True)),
        lambda s, y: ref.auc(s, y) == 1,
        lambda s, y: -INF in s and y[s.index(-INF)],
    ],
    ids=[
        "ties",
        "infinities",
        "negative-zero",
        "denormal",
        "huge",
        "cross-ties",
        "separable",
        "wrong-certainty",
    ],
)
def test_labelled_scores_reach_the_corners(wanted):
    find(ref.labelled_scores(), lambda rows: bool(wanted(*rows)), settings=settings(some, max_examples=2000))


@some
@given(st.integers(1, 9), st.sampled_from(["integer", "fractional"]), st.booleans(), st.data())
def test_weights_keep_their_promises(n, kind, zeros, data):
    weights = data.draw(ref.weights_for(n, kind, zeros))
    assert len(weights) == n
    assert all(w > 0 or (zeros and w == 0) for w in weights)
    assert {type(w) for w in weights} == {int if kind == "integer" else float}


def test_an_unknown_kind_of_weights_is_refused():
    with pytest.raises(ValueError, match="real"):
        ref.weights_for(3, "real")


@some
@given(ref.operating_points())
def test_operating_points_keep_their_promises(working_point):
    prior, cost_fn, cost_fp = working_point
    assert 1e-9 <= prior <= 1 - 1e-9
    assert 1e-6 <= min(cost_fn, cost_fp) <= max(cost_fn, cost_fp) <= 1e6


@some
@given(st.integers(1, 4), st.integers(0, 3), st.booleans(), st.data())
def test_score_matrices_keep_their_promises(n_classes, min_each, infinities, data):
    matrix, labels = data.draw(ref.score_matrices(n_classes, min_each, 12, infinities))
    assert len(matrix) == len(labels) <= 12
    assert labels
    assert all(labels.count(j) >= min_each for j in range(n_classes))
    assert all(len(row) == n_classes and -INF < max(row) < INF for row in matrix)
    assert infinities or all(map(math.isfinite, (x for row in matrix for x in row)))


@some
@given(st.integers(1, 4), st.none() | st.integers(1, 5), st.data())
def test_costs_and_priors_give_a_positive_normaliser(n_classes, n_actions, data):
    costs, prior = data.draw(ref.cost_matrices(n_classes, n_actions)), data.draw(ref.priors(n_classes))
    assert len(costs) == (n_actions or n_classes)
    assert all(len(row) == n_classes and min(row) >= 0 for row in costs)
    assert len(prior) == n_classes
    assert min(prior) > 0
    assert math.fsum(prior) == pytest.approx(1, abs=1e-15)
    assert ref.dummy_risk(prior, costs) > 0
