"""Steps and corners: blocks, bounds and cuts give the very numbers that looking at everything gives."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tercet as tc
from tercet import testing
from tercet.testing import labelled_scores
from tercet.uncertainty._kernel.score_steps import LONGEST, Steps, Totals
from tercet.uncertainty._kernel.two_class import Corners, lowest


def sides(scores, labels):
    scores, labels = np.asarray(scores, float), np.asarray(labels, bool)
    return np.sort(scores[~labels]), np.sort(scores[labels])


def drawn_corners(steps, rng, most=3):
    """Corners for random weights of the rows, and the weights."""
    weights = [rng.integers(0, most, bounds[-1]) for bounds in steps.bounds]
    running = [np.concatenate(([0], np.cumsum(own))) for own in weights]
    return Corners(*(Totals.between(sums[b]) for sums, b in zip(running, steps.bounds, strict=True))), weights


def many(kind, count=20_000):
    """Scores of two classes in many steps."""
    rng = np.random.default_rng(1)
    labels = rng.random(count) < 0.4
    scores = rng.normal(size=count)
    if kind == "apart":
        scores[labels] += 2.0
    elif kind == "ties":
        scores = (scores + labels).round(3)
    elif kind == "two dips":
        scores += np.where(labels, rng.choice([-1.0, 3.0], count), rng.choice([-3.0, 1.0], count))
    elif kind == "backwards":
        scores[labels] -= 1.0
    return sides(scores, labels)


KINDS = ("apart", "ties", "two dips", "backwards", "useless")


@given(labelled_scores(max_size=30))
def test_a_step_is_targets_then_higher_nontargets_or_one_score_of_both(rows):
    n, t = sides(*rows)
    steps = Steps.of(n, t)
    bounds_n, bounds_t = steps.bounds
    assert (bounds_n[0], bounds_n[-1], bounds_t[0], bounds_t[1], bounds_t[-1]) == (0, len(n), 0, 0, len(t))
    assert np.all(np.diff(bounds_n) >= 0)
    assert np.all(np.diff(bounds_t) >= 0)
    for step in range(len(bounds_n) - 1):
        own_n, own_t = n[bounds_n[step] : bounds_n[step + 1]], t[bounds_t[step] : bounds_t[step + 1]]
        below, above = n[: bounds_n[step]], t[bounds_t[step + 1] :]
        if step in steps.tied:
            assert len({*own_n, *own_t}) == 1
        else:
            assert max(own_t, default=-math.inf) < min(own_n, default=math.inf) or len(own_n) * len(own_t) == 0
        assert max(below, default=-math.inf) < min(own_t, default=math.inf) or len(below) * len(own_t) == 0
        assert max(own_n, default=-math.inf) < min(above, default=math.inf) or len(own_n) * len(above) == 0


def test_long_runs_are_cut_and_ties_are_not():
    n = np.r_[np.linspace(-9, -1, 1000), np.zeros(500)]
    t = np.r_[np.linspace(-0.9, -0.1, 100), np.zeros(300), np.linspace(1, 9, 777)]
    steps = Steps.of(n, t)
    sizes = [np.diff(bounds) for bounds in steps.bounds]
    assert [size[steps.tied].tolist() for size in sizes] == [[500], [300]]
    for size in sizes:
        assert np.delete(size, steps.tied).max() == LONGEST


@given(labelled_scores(max_size=20), st.integers(0, 9))
def test_weighted_corners_have_the_area_of_the_definition(rows, seed):
    n, t = sides(*rows)
    corners, (own_n, own_t) = drawn_corners(Steps.of(n, t), np.random.default_rng(seed))
    if own_n.any() and own_t.any():
        scores = np.r_[np.repeat(n, own_n), np.repeat(t, own_t)].tolist()
        labels = np.repeat([0, 1], [own_n.sum(), own_t.sum()]).tolist()
        tied = Steps.of(n, t).tied
        assert abs(corners.auc(tied) - float(testing.auc(scores, labels))) < 1e-12
        assert abs(corners.eer([]) - float(testing.eer(scores, labels)[0])) < 1e-12


@pytest.mark.parametrize("kind", KINDS)
def test_the_lowest_corner_of_blocks_is_the_lowest_of_all(kind):
    n, t = many(kind)
    steps, rng = Steps.of(n, t), np.random.default_rng(2)
    for most in (2, 4):
        corners, _ = drawn_corners(steps, rng, most)
        assert len(corners.t.each) > 1
        misses, rejected = corners.t.flat()[1:], corners.n.flat()[1:]
        shares = np.r_[np.linspace(0.001, 0.999, 41), 1e-12]
        found = lowest([corners], shares[None], 1.0 - shares[None])[0]
        for share, step in zip(shares.tolist(), found.tolist(), strict=True):
            costs = share * misses + (1.0 - share) * (rejected[-1] - rejected)
            assert costs[step] <= costs.min() * (1 + 1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_areas_and_equal_errors_of_blocks_are_those_of_the_weighted_trials(kind):
    n, t = many(kind)
    steps, rng = Steps.of(n, t), np.random.default_rng(3)
    corners, (own_n, own_t) = drawn_corners(steps, rng)
    trials = tc.Trials.of_scores(np.r_[n, t], np.repeat([0, 1], [len(n), len(t)]), weights=np.r_[own_n, own_t])
    heavy = tc.evaluate(trials)
    assert abs(corners.auc(steps.tied) - heavy.auc) < 1e-12
    assert abs(corners.min_cllr() - heavy.min_cllr) < 1e-12
    level = corners.level()
    for aside in (1.0, 1.05, 2.0, 1e6):
        shares = np.array([level * aside, level / aside])
        factors = shares[None] / corners.t.whole, np.full((1, 2), (1 - level) / corners.n.whole)
        known = lowest([corners], *factors)[0].tolist()
        assert abs(corners.eer(known) - heavy.eer.value) < 1e-12


def test_totals_of_drawn_counts_are_running_totals():
    counts = np.random.default_rng(0).integers(0, 9, 4096)
    for depth, dtype in ((1, np.float64), (16, np.float32)):
        totals = Totals.of(counts.reshape(-1, depth).T.astype(dtype))
        assert totals.flat().tolist() == [0, *np.cumsum(counts).tolist()]
        assert totals.at(np.array([0, 77, 4095])).tolist() == np.cumsum(counts)[[0, 77, 4095]].tolist()
        assert totals.whole == counts.sum()


def test_steps_of_weight_zero_do_not_break_the_hull():
    corners = Corners(Totals.between(np.array([0, 0, 1, 1, 2])), Totals.between(np.array([0, 0, 0, 1, 2])))
    misses, rejected = corners.hull()
    assert (misses[0], misses[-1], rejected[0], rejected[-1]) == (0, 2, 0, 2)
