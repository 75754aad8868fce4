"""What is kept of many scores: every cost between -9 and 9 within its promise, whatever the scores are like."""

import json
import math

import numpy as np
import pytest

import tercet as tc
from tercet.application import normalised_dcf
from tercet.thin import interpolated, thinned


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


def _between(scores):
    """Log-odds whose thresholds lie between two scores."""
    apart = np.unique(scores)
    return -(apart[1:] + apart[:-1]) / 2


def costs(curve, kept, log_odds):
    x = np.array([float(value) for value in kept.get("llrs", kept["thresholds"])])
    if kept["complete"]:
        places = np.searchsorted(x, -log_odds, "right") - 1
        misses, alarms = (np.array(kept[key], float)[places] for key in ("misses", "false_alarms"))
    else:
        misses, alarms = (interpolated(x, np.array(kept[key]), -log_odds) for key in ("misses", "false_alarms"))
    return normalised_dcf(log_odds, misses / curve.targets, alarms / curve.nontargets)


@pytest.mark.parametrize("shape", SHAPES)
def test_costs_read_off_the_kept_points_keep_the_promise(shape):
    curve = tc.Curve.of(tc.Tally.of(SHAPES[shape]()))
    kept = thinned(curve)
    llr = curve.tally.as_llr()
    rng = np.random.default_rng(1)
    near = np.concatenate((llr.targets.scores, llr.nontargets.scores))
    near = rng.choice(near[np.abs(near) <= 9.0], 3000)
    log_odds = np.concatenate(
        (rng.uniform(-9, 9, 10_000), -near, np.nextafter(-near, 9.0), _between(near), [-9.0, 0.0, 9.0])
    )
    misses, alarms = llr.at(-log_odds)
    exact = normalised_dcf(log_odds, misses / curve.targets, alarms / curve.nontargets)
    off = np.abs(costs(curve, kept, log_odds) - exact)
    assert (off <= 1e-4 * np.maximum(exact, 1.0)).all(), (off.max(), log_odds[off.argmax()])


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


def test_the_promise_would_be_broken_with_an_eighth_of_the_points():
    curve = tc.Curve.of(tc.Tally.of(SHAPES["a million"]()))
    kept = thinned(curve)
    for key in ("thresholds", "misses", "false_alarms"):
        kept[key] = kept[key][::8]
    log_odds = np.linspace(-9, 9, 5001)
    misses, alarms = curve.tally.at(-log_odds)
    exact = normalised_dcf(log_odds, misses / curve.targets, alarms / curve.nontargets)
    assert (np.abs(costs(curve, kept, log_odds) - exact) > 1e-4 * np.maximum(exact, 1.0)).any()
