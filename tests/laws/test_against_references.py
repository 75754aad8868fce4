"""The fast road against the exact references of tercet.testing, on two thousand random sets with many ties."""

import functools
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

import tercet as tc
from tercet import testing as ref

from .helpers import DEFINITIONS, all_close, close, curve_of, tally_of

SETS = 2000
INF = math.inf
WORKING_POINTS = [
    (0.5, 1, 1),
    (0.1, 1, 1),
    (0.9, 1, 10),
    (0.01, 50, 1),
    (0.3, 2, 0.7),
    (1e-6, 1, 1),
    (1 - 1e-6, 1e3, 1),
]


@functools.cache
def random_sets():
    """(scores, labels, weights) of 2 to 30 rows: ties, continuous scores, infinities; weights of every kind."""
    rng = np.random.default_rng(20)
    return tuple(random_set(rng) for _ in range(SETS))


def random_set(rng):
    n = int(rng.integers(2, rng.choice([6, 12, 31])))
    labels = rng.integers(0, 2, n)
    labels[rng.choice(n, 2, replace=False)] = (0, 1)
    scores = rng.integers(-2, 3, n).astype(float)
    continuous = rng.random(n) < rng.choice([0.0, 0.5, 1.0])
    scores[continuous] = rng.normal(labels * 1.5, 2.0)[continuous].round(int(rng.choice([1, 15])))
    if rng.random() < 0.3:
        scores[rng.integers(0, n, 2)] = rng.choice([-INF, INF], 2)
    weights = {
        "none": None,
        "small": rng.integers(0, 4, n).astype(float),
        "even": 2.0 * rng.integers(1, 4, n),
        "large": rng.integers(2**28, 2**30, n).astype(float),  # products of two sums leave 53 bits
        "fractional": rng.uniform(0.01, 10.0, n),
        "tenths": rng.integers(1, 20, n) / 10,
    }[str(rng.choice(["none", "none", "none", "small", "even", "large", "fractional", "tenths"]))]
    if weights is not None and len(set(labels[weights > 0.0])) < 2:
        weights = None
    return scores.tolist(), labels.tolist(), None if weights is None else weights.tolist()


def counts_of(tally, counts):
    """Counts of a tally as exact weights."""
    return [Fraction(int(count)) * Fraction(2) ** tally.unit for count in counts]


def cases(every=1):
    for scores, labels, weights in random_sets()[::every]:
        yield scores, labels, weights, curve_of(scores, labels, weights)


def test_curve_points_are_those_of_the_definition():
    for scores, labels, weights, curve in cases():
        found = zip(
            curve.thresholds.tolist(),
            counts_of(curve.tally, curve.misses),
            counts_of(curve.tally, curve.false_alarms),
            strict=True,
        )
        assert list(found) == ref.points(scores, labels, weights)


def test_hull_vertices_and_isotonic_blocks_are_those_of_the_definitions():
    for scores, labels, weights, curve in cases():
        hull = curve.hull
        misses, alarms = (counts_of(curve.tally, counts) for counts in (hull.misses, hull.false_alarms))
        assert list(zip(hull.thresholds.tolist(), misses, alarms, strict=True)) == ref.hull(scores, labels, weights)
        blocks = [block[1:] for block in ref.pav(scores, labels, weights)]
        targets = [b - a for a, b in itertools.pairwise(misses)]
        others = [a - b for a, b in itertools.pairwise(alarms)]
        assert list(zip(hull.thresholds.tolist()[1:], targets, others, strict=True)) == blocks
        ratios = [float(r) for r in ref.hull_lrs(scores, labels, weights)]
        # ln of a ratio near 1 is small: its error is measured by the ratio's own ulp.
        expected = [math.log(r) if r > 0.0 else -INF for r in ratios]
        assert all_close(hull.llrs, expected, scale=1.0)


@pytest.mark.parametrize("definition", DEFINITIONS)
def test_the_equal_error_rate_is_that_of_its_definition(definition):
    for scores, labels, weights, curve in cases():
        value, threshold = ref.eer(scores, labels, definition, weights)
        found = curve.eer(definition)
        assert (found.value, found.threshold) == (float(value), threshold)


def test_the_randomisation_of_an_equal_error_rate_reaches_it():
    for _, _, _, curve in cases(4):
        for definition, line in (("rocch", curve.hull), ("interpolated", curve)):
            found = curve.eer(definition)
            # Accept-all comes first, so of two points at -inf the later one is that of a score.
            ends = list(zip(line.fnr, line.fpr, strict=True))
            mixes = [
                (a[0] + found.randomisation * (b[0] - a[0]), a[1] + found.randomisation * (b[1] - a[1]))
                for t, a, b in zip(line.thresholds, ends, [*ends[1:], ends[-1]], strict=True)
                if t == found.threshold
            ]
            assert any(all_close(mix, [found.value] * 2, scale=1.0) for mix in mixes)


def test_areas_are_those_of_all_pairs_and_of_the_hull():
    for scores, labels, weights, curve in cases():
        assert curve.auc == float(ref.auc(scores, labels, weights))
        assert curve.hull_auc == float(ref.hull_auc(scores, labels, weights))


def test_partial_areas_are_those_of_the_definition():
    rng = np.random.default_rng(21)
    for scores, labels, weights, curve in cases():
        low, high = sorted(rng.random(2).round(int(rng.integers(1, 4))))
        if low == high:
            low, high = 0.0, 1.0
        for axis in ("fpr", "tpr"):
            exact = ref.partial_auc(scores, labels, low, high, axis, weights)
            # The ends of a range meet rounded rates, so the width between them is right to an ulp of 1.
            assert close(curve.partial_auc(**{axis: (low, high)}), float(exact), scale=1.0)


def test_minimum_costs_are_the_least_of_all_points_and_their_thresholds_the_lowest():
    for place, (scores, labels, weights, curve) in enumerate(cases()):
        point = WORKING_POINTS[place % len(WORKING_POINTS)]
        exact, threshold = ref.min_dcf(scores, labels, *point, weights)
        found = curve.min_dcf(point)
        assert close(found.dcf, float(exact))
        targets, others = counts_of(curve.tally, (curve.targets, curve.nontargets))
        fnr, fpr = Fraction(found.misses) / targets, Fraction(found.false_alarms) / others
        assert close(float(ref.dcf(fnr, fpr, *point)), float(exact))
        if found.threshold != threshold:
            assert not unique_minimum(scores, labels, weights, point)


def unique_minimum(scores, labels, weights, point):
    """Whether the second best point is worse by more than rounding."""
    curve = ref.points(scores, labels, weights)
    targets, others = curve[-1][1], curve[0][2]
    costs = sorted(ref.dcf(misses / targets, alarms / others, *point) for _, misses, alarms in curve)
    return costs[1] > costs[0] * (1 + Fraction(1, 10**12))


def test_actual_costs_and_their_tables_are_those_of_the_decisions_above_the_threshold():
    for place, (scores, labels, weights, curve) in enumerate(cases()):
        point = WORKING_POINTS[place % len(WORKING_POINTS)]
        app = tc.Application(*point)
        row = tc.evaluate(curve.tally, [app]).applications[0]
        fnr, fpr = ref.rates_at(scores, labels, app.threshold, weights)
        assert (row.fnr, row.fpr) == (float(fnr), float(fpr))
        assert close(row.dcf, float(ref.dcf(fnr, fpr, *point)))
        assert close(row.dcf_u, float(ref.dcf_u(fnr, fpr, *point)))
        exact = ref.confusion([s > app.threshold for s in scores], labels, 2, 2, weights)
        assert row.confusion == [[float(cell) for cell in line] for line in exact]
        assert tc.confusion_of(tc.Trials.of_llr(scores, labels, weights=weights), app).matrix == row.confusion


def test_a_score_on_the_threshold_is_rejected():
    for prior, cost_fn, cost_fp in WORKING_POINTS:
        app = tc.Application(prior, cost_fn, cost_fp)
        on, above = app.threshold, math.nextafter(app.threshold, INF)
        assert tc.decide(tc.Trials.of_llr([on, above]), app).tolist() == [0, 1]
        row = tc.evaluate(tc.Trials.of_llr([on, above, on, above], [1, 1, 0, 0]), [app]).applications[0]
        assert row.confusion == [[1, 1], [1, 1]]


def test_precisions_and_recalls_are_those_of_the_definitions():
    rng = np.random.default_rng(22)
    for scores, labels, weights, curve in cases():
        assert close(curve.average_precision, float(ref.average_precision(scores, labels, weights)))
        targets, everything = counts_of(curve.tally, (curve.targets, curve.targets + curve.nontargets))
        k = some_number(targets, rng)
        assert curve.precision_at_recalled(k) == float(ref.precision_at_recalled(scores, labels, k, weights))
        k = some_number(everything, rng)
        assert close(curve.precision_at(k), float(ref.precision_at(scores, labels, k, weights)))
        assert close(curve.recall_at(k), float(ref.recall_at(scores, labels, k, weights)))


def some_number(most, rng):
    """A whole number from 1 to an exact weight, or half of a weight below 1."""
    return int(rng.integers(1, math.floor(most) + 1)) if most >= 1 else float(most) / 2


def test_neyman_pearson_rules_reach_the_largest_detection_rate_under_the_bound():
    rng = np.random.default_rng(23)
    for scores, labels, weights, curve in cases():
        bound = float(rng.choice([0.0, 0.1, 0.25, 0.5, 1.0, rng.random()]))
        _, _, tpr = ref.neyman_pearson(scores, labels, bound, weights)
        rule = tc.neyman_pearson(curve, bound)
        assert rule.tpr == float(tpr)
        assert rule.fpr <= bound
        heavy = [1.0] * len(scores) if weights is None else weights
        for target, rate in ((1, rule.tpr), (0, rule.fpr)):
            own = [(s, Fraction(w)) for s, y, w in zip(scores, labels, heavy, strict=True) if y == target]
            sure = sum(w for s, w in own if s > rule.upper)
            drawn = sum(w for s, w in own if s <= rule.upper and (rule.lower is None or s > rule.lower))
            chance = (sure + Fraction(rule.probability) * drawn) / sum(w for _, w in own)
            assert close(float(chance), rate)


def test_cllr_and_its_minimum_are_those_of_fifty_digits():
    for scores, labels, weights, curve in cases():
        assert close(tc.cllr(curve.tally), ref.cllr(scores, labels, weights))
        assert close(tc.min_cllr(curve), ref.min_cllr(scores, labels, weights))


@pytest.mark.parametrize("prior", [0.01, 0.3, 0.9])
def test_cross_entropies_at_other_priors_are_those_of_fifty_digits(prior):
    for scores, labels, weights, curve in cases(3):
        exact = ref.empirical_cross_entropy(scores, labels, prior, weights)
        # llr + logit(prior) rounds at its own size, below 16 here, which e^x makes 8 ulp of a small cost.
        assert close(tc.empirical_cross_entropy(curve.tally, prior), exact, 12)


def test_the_sets_hold_every_kind_of_case():
    """The references say nothing where the sets do not go."""
    sets = random_sets()
    assert len(sets) == SETS
    assert sum(weights is None for _, _, weights in sets) > 500
    assert sum(weights is not None and any(w != int(w) for w in weights) for _, _, weights in sets) > 200
    assert sum(weights is not None and 0 in weights for _, _, weights in sets) > 50
    assert sum(len(set(scores)) < len(scores) for scores, _, _ in sets) > 1000
    assert sum(INF in scores for scores, _, _ in sets) > 100
    assert sum(-INF in scores for scores, _, _ in sets) > 100
    assert sum(len(set(scores)) == 1 for scores, _, _ in sets) > 10
    assert {len(scores) for scores, _, _ in sets} == set(range(2, 31))
    assert any(tally_of(*rows).unit > 0 for rows in sets)


# Segments whose slopes are one double but different fractions: only whole numbers tell them apart.
NEAR = [(2**30 + 1, 2**30), (2**30 + 2, 2**30 + 1), (2**30 + 3, 2**30 + 2)]


@pytest.mark.parametrize("order", [NEAR, NEAR[::-1]])
def test_hull_slopes_that_no_double_tells_apart_are_told_apart(order):
    scores, labels, weights = zip(
        *[(float(i), y, w) for i, (t, n) in enumerate(order) for y, w in ((1, t), (0, n))], strict=True
    )
    assert len({t / n for t, n in order}) == 1
    hull = curve_of(scores, labels, weights).hull
    assert hull.thresholds.tolist() == [t for t, _, _ in ref.hull(scores, labels, weights)]
    assert len(hull.thresholds) == (2 if order == NEAR else 4)


# --- Many rows: threads, samples and blocks may not show ---


def many_rows(n, kind):
    rng = np.random.default_rng(n)
    labels = rng.random(n) < 0.3
    scores = rng.normal(labels * 2.0, 1.5)
    if kind == "tied":
        scores = scores.round(2)
    weights = rng.integers(1, 1000, n).astype(float) if kind == "weighted" else None
    return scores, labels, weights


def lower_hull(x, y):
    """Strict vertices of the lower hull by the textbook's walk, in Python's integers."""
    kept = []
    for point in zip(x, y, strict=True):
        while len(kept) > 1:
            (x0, y0), (x1, y1) = kept[-2:]
            if (x1 - x0) * (point[1] - y1) > (point[0] - x1) * (y1 - y0):
                break
            kept.pop()
        kept.append(point)
    return kept


@pytest.mark.parametrize("kind", ["continuous", "tied", "weighted"])
@pytest.mark.parametrize("n", [300, 5_000, 60_000, 600_000])
def test_many_rows_have_the_points_hull_and_area_of_a_plain_walk(n, kind):
    if n > 100_000 and kind == "weighted":
        n //= 2  # a walk over this many points of Python's integers is slow enough
    scores, labels, weights = many_rows(n, kind)
    curve = curve_of(scores, labels, weights)
    heavy = np.ones(n, int) if weights is None else weights.astype(int)
    distinct, inverse = np.unique(scores, return_inverse=True)
    missed = np.zeros(len(distinct) + 1, int)
    rejected = np.zeros(len(distinct) + 1, int)
    np.add.at(missed, inverse[labels] + 1, heavy[labels])
    np.add.at(rejected, inverse[~labels] + 1, heavy[~labels])
    missed, rejected = missed.cumsum(), rejected.cumsum()
    unit = 2**curve.tally.unit
    assert np.array_equal(curve.misses * unit, missed)
    assert np.array_equal(curve.false_alarms * unit, rejected[-1] - rejected)
    hull = lower_hull(rejected.tolist(), missed.tolist())
    found = zip((curve.nontargets - curve.hull.false_alarms) * unit, curve.hull.misses * unit, strict=True)
    assert [tuple(map(int, vertex)) for vertex in found] == hull
    assert curve.hull.thresholds[0] == -INF
    misses, alarms = curve.tally.at(curve.hull.thresholds[1:])
    assert np.array_equal(misses, curve.hull.misses[1:])
    assert np.array_equal(alarms, curve.hull.false_alarms[1:])
    twice = sum((r1 - r0) * (2 * m0 + (m1 - m0)) for r0, r1, m0, m1 in segments(rejected.tolist(), missed.tolist()))
    pairs = 2 * int(missed[-1]) * int(rejected[-1])
    assert curve.auc == (pairs - twice) / pairs


def segments(x, y):
    return zip(x, x[1:], y, y[1:], strict=False)


@pytest.mark.parametrize("kind", ["continuous", "tied", "weighted"])
def test_many_rows_cost_the_same_bits_in_pieces_and_what_their_sum_says(kind):
    scores, labels, weights = many_rows(600_000, kind)
    whole = tally_of(scores, labels, weights)
    pieces = tc.Tally.empty()
    for rows in np.array_split(np.arange(len(scores)), 7):
        pieces = pieces + tally_of(scores[rows], labels[rows], None if weights is None else weights[rows])
    assert tc.cllr(whole) == tc.cllr(pieces)
    assert tc.min_cllr(tc.Curve.of(whole)) == tc.min_cllr(tc.Curve.of(pieces))
    heavy = np.ones(len(scores)) if weights is None else weights
    means = [
        math.fsum(np.logaddexp(0.0, sign * scores[own]) * heavy[own]) / math.fsum(heavy[own])
        for sign, own in ((-1.0, labels), (1.0, ~labels))
    ]
    assert close(tc.cllr(whole), math.fsum(means) / (2.0 * math.log(2.0)))
