"""Runs: drawing neighbours together, and parting them later, is drawing rows."""

import math
from itertools import islice

import numpy as np
import pytest

import tercet as tc
from tercet.uncertainty import bootstrap, drawn
from tercet.uncertainty._kernel import drawn_runs
from tercet.uncertainty._kernel.drawn_runs import AllRuns, Spots
from tercet.uncertainty._kernel.draws import Design, generator
from tercet.uncertainty.bootstrap import _single, planned, wanted_of

from .helpers import gaussian, same


def bounds(sizes):
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.intp)


def one_class(sizes):
    return AllRuns.of([bounds(sizes)])


APPS = (tc.Application(0.5, 1, 1), tc.Application(0.1, 1, 1))
SIZES = np.r_[np.tile([1, 2, 3, 1, 7, 1, 30, 24], 150), 4000, 1, 500]


def test_rows_of_a_resample_add_up_to_its_runs():
    runs = one_class(SIZES)
    for number in range(5):
        drawn_runs = runs.draw(generator(0, 0, number, 0))[0]
        rows = drawn_runs.rows()
        assert rows.sum() == len(rows) == SIZES.sum()
        assert np.array_equal(np.add.reduceat(rows, drawn_runs.runs.bounds[:-1]), np.diff(drawn_runs.totals.flat()))


def test_a_place_inside_a_run_counts_the_very_rows_that_the_whole_resample_has():
    runs = one_class(SIZES)
    places = np.unique(np.random.default_rng(0).integers(0, SIZES.sum() + 1, 400))
    spots = Spots.of(places, bounds(SIZES))
    for number in range(5):
        drawn_runs = runs.draw(generator(1, 0, number, 0))[0]
        total = np.concatenate(([0], np.cumsum(drawn_runs.rows())))
        assert np.array_equal(drawn_runs.at(spots), total[places])


@pytest.mark.parametrize("rows", [slice(0, 1), slice(-501, None), slice(-4501, -501), slice(100, 3000)])
def test_any_set_of_rows_is_drawn_binomially(rows):
    """Mean n p and variance n p (1 - p), at 4 standard errors."""
    runs = one_class(SIZES)
    n = int(SIZES.sum())
    p = len(range(*rows.indices(n))) / n
    totals = np.array([runs.draw(generator(2, 0, k, 0))[0].rows()[rows].sum() for k in range(600)])
    spread = math.sqrt(n * p * (1 - p))
    assert abs(totals.mean() - n * p) < 4 * spread / math.sqrt(600)
    assert abs(totals.std() / spread - 1) < 4 * max(1.0, 1 / math.sqrt(n * p)) / math.sqrt(1200)


def test_sums_over_a_resample_are_those_of_its_rows_and_infinite_ones_count_where_they_are_drawn():
    runs, values = one_class(SIZES), np.random.default_rng(3).normal(size=SIZES.sum())
    values[-4501:-501], values[-500:] = 2.0, -1.0  # runs longer than the tables are ties
    endless = values.copy()
    endless[5] = np.inf
    found = [runs.draw(generator(7, 0, number, 0))[0] for number in range(8)]
    for one in found:
        rows = one.rows()
        assert same(one.sum(values), (rows * values).sum())
        assert one.sum(endless) == (np.inf if rows[5] else one.sum(values))
    assert 0 < sum(bool(one.rows()[5]) for one in found) < 8


def test_the_laws_of_the_halves_are_binomial_and_their_tables_agree_with_them():
    from scipy.stats import binom

    coarse, sums = drawn_runs._tables()
    sums, coarse = sums.reshape(-1, 256, drawn_runs.MOST), coarse.reshape(-1, 256, 256)
    for size in (2, 3, 13, 31, 32):
        shape = size // 2 if size % 2 else 0
        for count in (0, 1, 2, 7, 33, drawn_runs.MOST - 1):
            law = binom.cdf(np.arange(drawn_runs.MOST), count, (size + 1) // 2 / size)
            assert np.allclose(sums[shape, count], law, rtol=0, atol=1e-13)
            for cell, marked in enumerate(coarse[shape, count].tolist()):
                low, high = (int((sums[shape, count] <= end / 256).sum()) for end in (cell, cell + 1 - 1e-9))
                assert (marked & 127, marked >= 128) == (low, low < high)


def test_halves_of_one_run_share_its_draws_evenly():
    runs = one_class([1, 20_000, 1])
    halves = np.array([runs.draw(generator(3, 0, k, 0))[0].rows()[1:10_001].sum() for k in range(400)])
    assert abs(halves.mean() - 10_000) < 4 * math.sqrt(5000 / 400)
    assert abs(halves.std() / math.sqrt(20_002 * 0.25) - 1) < 0.15


def chi_square(found, probabilities):
    """How unlikely counts of outcomes are under their probabilities; the rarest outcomes are counted together."""
    from scipy.stats import chi2

    draws = sum(found.values())
    often = [key for key, p in probabilities.items() if p * draws >= 5]
    cells = [(found.get(key, 0), draws * probabilities[key]) for key in often]
    rest = 1.0 - sum(probabilities[key] for key in often)
    cells += [(draws - sum(seen for seen, _ in cells), draws * rest)] if rest * draws >= 1e-9 else []
    return chi2.sf(sum((seen - expected) ** 2 / expected for seen, expected in cells), len(cells) - 1)


@pytest.mark.parametrize("sizes", [[1, 1, 1], [3, 1, 0, 2], [0, 2, 2], [1, 5]])
@pytest.mark.parametrize("by_row", [False, True])
def test_a_whole_resample_is_multinomial(sizes, by_row):
    """Every outcome of few rows as often as n! / (c1! c2! ...) p1^c1 p2^c2 ... says."""
    from collections import Counter
    from itertools import product

    runs, n = one_class(sizes), sum(sizes)
    cells = [1] * n if by_row else sizes
    found = Counter()
    for number in range(2000):
        one = runs.draw(generator(4, 0, number, 0))[0]
        found[tuple((one.rows() if by_row else np.diff(one.totals.flat())).tolist())] += 1
    probabilities = {
        counts: math.factorial(n)
        * math.prod((k / n) ** c / math.factorial(c) for k, c in zip(cells, counts, strict=True))
        for counts in product(range(n + 1), repeat=len(cells))
        if sum(counts) == n
    }
    assert abs(sum(probabilities.values()) - 1) < 1e-12
    assert chi_square(found, probabilities) > 1e-3


def test_runs_covary_as_multinomial_counts_do():
    """Any weighted sum of counts has variance n (sum p a^2 - (sum p a)^2): all variances and covariances at once."""
    sizes = np.resize(SIZES[:-3], 4096)
    runs, n = one_class(sizes), int(sizes.sum())
    rng = np.random.default_rng(5)
    some = np.concatenate((rng.normal(size=(20, 4096)), np.repeat(rng.normal(size=(20, 16)), 256, axis=1)))
    sums = np.array([some @ np.diff(runs.draw(generator(6, 0, k, 0))[0].totals.flat()) for k in range(1000)])
    p = sizes / n
    mean, variance = n * some @ p, n * ((some**2) @ p - (some @ p) ** 2)
    assert np.all(np.abs(sums.mean(axis=0) - mean) < 4 * np.sqrt(variance / 1000))
    assert np.all(np.abs(sums.var(axis=0) / variance - 1) < 4.5 * math.sqrt(2 / 1000))


def test_what_is_asked_does_not_change_what_is_drawn():
    trials = gaussian(9000, 12_000, digits=3)
    one = bootstrap(trials, [(0.5, 1, 1)], resamples=5, ci=0.5, quantities=["auc", "dcf"], bayes_plot=None)
    more = bootstrap(trials, ["sre08", (0.5, 1, 1)], resamples=5, ci=0.5)
    assert np.array_equal(one.samples["auc"], more.samples["auc"])
    assert np.array_equal(one.samples["applications.0.dcf"], more.samples["applications.1.dcf"])
    heavy = tc.Trials.of_llr(trials.scores, trials.labels, weights=drawn(trials, 4))
    assert same(more.samples["cllr"][4], tc.evaluate(heavy).cllr)
    assert same(more.samples["min_cllr"][4], tc.evaluate(heavy).min_cllr)


@pytest.mark.parametrize("digits", [None, 4, 2])
def test_resamples_evaluated_together_have_the_bits_of_each_alone(digits):
    plan = planned(APPS, wanted_of(None), (-3.0, 3.0, 21))
    design, system = _single(gaussian(9000, 12_000, digits=digits), APPS, plan, ())
    draws = [design.draw(0, number).weights for number in range(5)]
    for together, weights in zip(system.several(draws), draws, strict=True):
        alone = system.statistics(weights)
        assert together.keys() == alone.keys()
        assert all(np.array_equal(together[name], alone[name]) for name in alone)


@pytest.mark.parametrize("digits", [None, 2])
def test_leaving_rows_out_run_by_run_is_leaving_them_out(digits):
    plan = planned(APPS, wanted_of(None), None)
    design, system = _single(gaussian(9000, 12_000, digits=digits), APPS, plan, ())
    by_rows = Design(design.sizes, design.weights)
    assert design.runs
    for some, same_ones in zip(design.left_out(3), by_rows.left_out(3), strict=True):
        for runs, rows in islice(zip(some, same_ones, strict=True), 4):
            assert all(np.array_equal(a.rows(), b) for a, b in zip(runs, rows, strict=True))
            found, known = system.statistics(runs), system.statistics(rows)
            assert all(same(found[name], known[name]) for name in known)
