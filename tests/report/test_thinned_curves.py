"""What is kept of many scores: every cost between -9 and 9 within its promise, whatever the scores are like."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tercet as tc
from tercet.application import normalised_dcf
from tercet.metrics.curve_summary import interpolated, thinned
from tercet.report.page import document_of, page


def drawn(count, share=0.5, separation=2.0, scale=1.0, digits=None, seed=0):
    rng = np.random.default_rng(seed)
    labels = rng.random(count) < share
    scores = (rng.normal(size=count) * math.sqrt(2 * separation) + np.where(labels, separation, -separation)) * scale
    return (scores if digits is None else np.round(scores, digits)), labels


def odd(kind):
    scores, labels = drawn(40_000, 0.3)
    rng = np.random.default_rng(5)
    if kind == "posterior":
        return tc.Trials.of_posteriors(1 / (1 + np.exp(-scores)), labels, trained_prior=0.3)
    if kind == "lr":
        return tc.Trials.of_lr(np.exp(scores), labels)
    if kind == "infinite":
        return tc.Trials.of_llr(np.where(rng.random(40_000) < 0.01, np.inf * np.sign(scores), scores), labels)
    if kind == "weighted":
        return tc.Trials.of_llr(scores, labels, weights=rng.random(40_000))
    if kind == "two lumps":
        return tc.Trials.of_llr(np.where(scores > 0, 1.0, -1.0), labels)
    return tc.Trials.of_llr(np.exp(scores) - 3.0, labels)  # a long tail


SHAPES = {
    "small": lambda: tc.Trials.of_llr(*drawn(900)),
    "just thinned": lambda: tc.Trials.of_llr(*drawn(1500)),
    "ten thousand a class": lambda: tc.Trials.of_llr(*drawn(20_000)),
    "few targets": lambda: tc.Trials.of_llr(*drawn(300_000, 0.01)),
    "overconfident": lambda: tc.Trials.of_llr(*drawn(100_000, 0.5, 2.0, 3.0)),
    "timid": lambda: tc.Trials.of_llr(*drawn(100_000, 0.5, 1.0, 0.3)),
    "sign-flipped": lambda: tc.Trials.of_llr(*drawn(30_000, 0.3, 3.0, -1.0)),
    "rounded": lambda: tc.Trials.of_llr(*drawn(200_000, 0.2, 4.0, 1.0, 1)),
    "finely rounded": lambda: tc.Trials.of_llr(*drawn(500_000, 0.2, 6.0, 1.0, 3)),
    "a million": lambda: tc.Trials.of_llr(*drawn(1_000_000, 0.1)),
    **{
        kind: (lambda kind=kind: odd(kind))
        for kind in ("posterior", "lr", "infinite", "weighted", "two lumps", "long tail")
    },
}


def read_off(curve, kept, log_odds):
    """Normalised costs from the kept points alone."""
    misses, alarms = (interpolated(kept, key, 0.0 - log_odds) for key in ("misses", "false_alarms"))
    return normalised_dcf(log_odds, misses / curve.targets, alarms / curve.nontargets)


def attacked(curve, kept, seed=1, count=3000):
    """Log-odds whose thresholds lie on scores and on kept points, just beside both, between scores, and anywhere."""
    llr, rng = curve.tally.as_llr(), np.random.default_rng(seed)
    near = np.concatenate((llr.targets.scores, llr.nontargets.scores))
    near = near[np.abs(near) <= 9.0]
    near = rng.choice(near, min(count, len(near)), replace=False) if len(near) else near
    marks = np.array([float(value) for value in kept.get("llrs", kept["thresholds"])])
    marks = marks[np.abs(marks) <= 9.0]
    apart = np.unique(near)
    spots = np.concatenate((near, marks, (apart[1:] + apart[:-1]) / 2, rng.uniform(-9, 9, 2 * count), [-9.0, 0.0, 9.0]))
    spots = np.concatenate((spots, np.nextafter(spots, -10.0), np.nextafter(spots, 10.0)))
    return 0.0 - spots[np.abs(spots) <= 9.0]


def furthest(curve, kept, log_odds):
    """How far the costs are off, in parts of what is promised."""
    llr = curve.tally.as_llr()
    misses, alarms = llr.at(0.0 - log_odds)
    exact = normalised_dcf(log_odds, misses / curve.targets, alarms / curve.nontargets)
    return float(np.max(np.abs(read_off(curve, kept, log_odds) - exact) / (1e-4 * np.maximum(exact, 1.0))))


@pytest.mark.parametrize("shape", SHAPES)
def test_costs_read_off_the_kept_points_keep_the_promise(shape):
    curve = tc.Curve.of(tc.Tally.of(SHAPES[shape]()))
    kept = thinned(curve)
    assert furthest(curve, kept, attacked(curve, kept)) <= 1.0
    plain = thinned(curve, rounded=False)
    assert furthest(curve, plain, attacked(curve, plain, 2)) <= 1.0


@st.composite
def many_trials(draw):
    """Thousands of trials: any balance, spread, shift and rounding, infinities, weights, and any meaning."""
    seed, count = draw(st.integers(0, 2**32)), draw(st.integers(1001, 20_000))
    rng = np.random.default_rng(seed)
    labels = rng.random(count) < draw(st.sampled_from([0.0, 0.001, 0.03, 0.3, 0.5, 0.9, 1.0]))
    labels[:2] = True, False
    separation, scale = (
        draw(st.sampled_from([0.0, 0.5, 2.0, 6.0])),
        draw(st.sampled_from([-1.0, 0.01, 0.4, 1.0, 3.0, 30.0])),
    )
    noise = rng.standard_t(2, count) if draw(st.booleans()) else rng.normal(size=count)
    scores = (noise * 2.0 + np.where(labels, separation, -separation)) * scale + draw(
        st.sampled_from([0.0, 3.0, -20.0])
    )
    digits = draw(st.sampled_from([None, None, 0, 1, 2, 3]))
    scores = scores if digits is None else np.round(scores, digits)
    if draw(st.booleans()):
        scores = scores.astype(np.float32).astype(np.float64)
    for end in draw(st.lists(st.sampled_from([np.inf, -np.inf, 9.0, -9.0, 0.0]), max_size=3)):
        scores[rng.random(count) < draw(st.sampled_from([0.0005, 0.01, 0.3]))] = end
    weights = draw(st.sampled_from([None, None, "whole", "parts"]))
    if weights is not None:
        weights = rng.integers(0, 4, count) if weights == "whole" else rng.random(count) ** 3
        weights[:2] = 1
    make = draw(st.sampled_from(["llr", "llr", "posterior", "lr", "log10", "log-odds"]))
    if make == "posterior":
        with np.errstate(over="ignore"):
            return tc.Trials.of_posteriors(1 / (1 + np.exp(-scores)), labels, trained_prior=0.2, weights=weights)
    if make == "lr":
        with np.errstate(over="ignore"):
            return tc.Trials.of_lr(np.exp(scores), labels, weights=weights)
    if make == "log10":
        return tc.Trials.of_log10_llr(scores, labels, weights=weights)
    if make == "log-odds":
        return tc.Trials.of_log_odds(scores, labels, trained_prior=0.01, weights=weights)
    return tc.Trials.of_llr(scores, labels, weights=weights)


@settings(max_examples=60, deadline=None)
@given(many_trials())
def test_the_promise_withstands_an_attack(trials):
    curve = tc.Curve.of(tc.Tally.of(trials))
    kept = json.loads(json.dumps(thinned(curve), allow_nan=False))
    assert furthest(curve, kept, attacked(curve, kept)) <= 1.0
    thresholds = np.array([float(value) for value in kept["thresholds"]])
    misses, alarms = curve.tally.at(thresholds[1:])
    assert (kept["misses"], kept["false_alarms"]) == ([0, *misses.tolist()], [curve.nontargets, *alarms.tolist()])
    assert (np.diff(thresholds[1:]) > 0.0).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_every_kept_point_is_exact_and_the_hull_is_whole(shape):
    curve = tc.Curve.of(tc.Tally.of(SHAPES[shape]()))
    kept = json.loads(json.dumps(thinned(curve), allow_nan=False))
    thresholds = np.array([float(value) for value in kept["thresholds"]])
    assert (np.diff(thresholds[1:]) > 0).all()
    misses, alarms = curve.tally.at(thresholds[1:])
    assert kept["misses"] == [0, *misses.tolist()]
    assert kept["false_alarms"] == [curve.nontargets, *alarms.tolist()]
    assert (kept["misses"][-1], kept["false_alarms"][-1]) == (curve.targets, 0)
    assert kept["hull"]["misses"] == curve.hull.misses.tolist()


def test_distinct_scores_of_one_llr_are_one_place():
    rng = np.random.default_rng(3)
    odds = np.concatenate((rng.uniform(0, 1e-17, 3000), rng.normal(size=3000)))  # less log-odds of 1e-9, one number
    curve = tc.Curve.of(tc.Tally.of(tc.Trials.of_log_odds(odds, rng.random(6000) < 0.5, trained_prior=1e-9)))
    shifted = tc.Curve.of(tc.Tally.of(tc.Trials.of_log_odds(odds, rng.random(6000) < 0.5, trained_prior=0.3)))
    for one in (curve, shifted):
        kept = thinned(one)
        assert furthest(one, kept, attacked(one, kept)) <= 1.0


@pytest.mark.parametrize("score", [0.0, 9.0, -9.0, 30.0, np.inf, -np.inf])
def test_one_score_for_all_is_kept(score):
    labels = np.arange(2000) % 3 == 0
    for extra in ([], [1.0], [np.inf, -np.inf, 9.0]):
        scores = np.full(2000, score)
        scores[: len(extra)] = extra
        curve = tc.Curve.of(tc.Tally.of(tc.Trials.of_llr(scores, labels)))
        kept = thinned(curve)
        assert [float(v) for v in kept["thresholds"][1:]] == sorted({score, *extra})
        assert furthest(curve, kept, attacked(curve, kept)) <= 1.0


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-306, 1e300, 3e307])
def test_scores_as_close_or_as_far_apart_as_doubles_are_kept_without_warnings(scale):
    labels = np.arange(3000) % 2 == 0
    spread = 1000.0 if scale == 5e-324 else 1.0
    scores = (
        np.rint(np.clip(np.random.default_rng(0).normal(size=3000) + labels, -5, 5) * spread * 2**20) / 2**20 * scale
    )
    curve = tc.Curve.of(tc.Tally.of(tc.Trials.of_llr(scores, labels)))
    kept = thinned(curve)
    assert furthest(curve, kept, attacked(curve, kept)) <= 1.0


def test_the_promise_would_be_broken_with_fewer_points():
    curve = tc.Curve.of(tc.Tally.of(SHAPES["a million"]()))
    kept = thinned(curve)
    log_odds = attacked(curve, kept)
    for key in ("thresholds", "misses", "false_alarms"):
        kept[key] = kept[key][::2]
    kept["path"] = kept["path"][::2]
    assert furthest(curve, kept, log_odds) > 1.0


@pytest.mark.parametrize("scale", [2.0, 3.0])
def test_a_page_about_a_million_overconfident_trials_is_small(scale):
    evaluation = tc.evaluate(tc.Trials.of_llr(*drawn(1_000_000, 0.1, 2.0, scale)), ["sre08"])
    assert len(page(document_of(evaluation)).encode()) <= 250_000
