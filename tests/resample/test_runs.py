"""Runs: drawing neighbours together, and parting them later, is drawing rows."""

import math

import numpy as np
import pytest

import tercet as tc
from tercet.resample import bootstrap, drawn
from tercet.resample.draws import generator
from tercet.resample.runs import Runs, Spots

from .helpers import gaussian, same


def bounds(sizes):
    return np.concatenate(([0], np.cumsum(sizes))).astype(np.intp)


SIZES = np.r_[np.tile([1, 2, 3, 1, 7, 1, 30, 24], 150), 4000, 1, 500]


def test_rows_of_a_resample_add_up_to_its_runs():
    runs = Runs.of(bounds(SIZES))
    for number in range(5):
        drawn_runs = runs.draw(generator(0, 0, number, 0))
        rows = drawn_runs.rows()
        assert rows.sum() == len(rows) == SIZES.sum()
        assert np.array_equal(np.add.reduceat(rows, runs.bounds[:-1]), drawn_runs.counts)


def test_a_place_inside_a_run_counts_the_very_rows_that_the_whole_resample_has():
    runs = Runs.of(bounds(SIZES))
    places = np.unique(np.random.default_rng(0).integers(0, SIZES.sum() + 1, 400))
    spots = Spots.of(places, runs.bounds)
    for number in range(5):
        drawn_runs = runs.draw(generator(1, 0, number, 0))
        total = np.concatenate(([0], np.cumsum(drawn_runs.rows())))
        assert np.array_equal(drawn_runs.at(spots), total[places])


@pytest.mark.parametrize("rows", [slice(0, 1), slice(-501, None), slice(-4501, -501), slice(100, 3000)])
def test_any_set_of_rows_is_drawn_binomially(rows):
    """Mean n p and variance n p (1 - p), at 4 standard errors."""
    runs = Runs.of(bounds(SIZES))
    n = int(SIZES.sum())
    p = len(range(*rows.indices(n))) / n
    totals = np.array([runs.draw(generator(2, 0, k, 0)).rows()[rows].sum() for k in range(600)])
    spread = math.sqrt(n * p * (1 - p))
    assert abs(totals.mean() - n * p) < 4 * spread / math.sqrt(600)
    assert abs(totals.std() / spread - 1) < 4 * max(1.0, 1 / math.sqrt(n * p)) / math.sqrt(1200)


def test_halves_of_one_run_share_its_draws_evenly():
    runs = Runs.of(bounds([1, 20_000, 1]))
    halves = np.array([runs.draw(generator(3, 0, k, 0)).rows()[1:10_001].sum() for k in range(400)])
    assert abs(halves.mean() - 10_000) < 4 * math.sqrt(5000 / 400)
    assert abs(halves.std() / math.sqrt(20_002 * 0.25) - 1) < 0.15


def test_what_is_asked_does_not_change_what_is_drawn():
    trials = gaussian(9000, 12_000, digits=3)
    one = bootstrap(trials, [(0.5, 1, 1)], resamples=5, level=0.5, quantities=["auc", "dcf"], bayes_plot=None)
    more = bootstrap(trials, ["sre08", (0.5, 1, 1)], resamples=5, level=0.5)
    assert np.array_equal(one.samples["auc"], more.samples["auc"])
    assert np.array_equal(one.samples["applications.0.dcf"], more.samples["applications.1.dcf"])
    heavy = tc.Trials.of_llr(trials.scores, trials.labels, weights=drawn(trials, 4))
    assert same(more.samples["cllr"][4], tc.evaluate(heavy).cllr)
    assert same(more.samples["min_cllr"][4], tc.evaluate(heavy).min_cllr)
