"""What the tests of scale share: sets that are hard on bins, and the comparison bit for bit."""

from dataclasses import replace

import numpy as np
from hypothesis import strategies as st

import tercet as tc
from tercet.outofcore.limits import Budget

APPS = [(0.5, 1, 1), (0.001, 1, 1), (0.9, 1, 10), (0.5, 1, 0), (0.5, 0, 1)]
TINY = Budget(kept=40, edges=16, part=64, at_once=0)


@st.composite
def hard_sets(draw, most=200):
    """(scores, labels): ties, infinities, a pile-up of 90 %, a narrow range near 1, float32, or nothing special."""
    size = draw(st.integers(2, most))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    labels = rng.random(size) < draw(st.sampled_from([0.5, 0.1, 0.9]))
    labels[:2] = [True, False]
    scores = rng.normal(size=size) * 2.0 + 2.0 * labels
    kind = draw(st.sampled_from(["plain", "ties", "infinities", "pile", "near one", "float32", "wide"]))
    if kind == "ties":
        scores = np.round(scores)
    elif kind == "infinities":
        scores[rng.random(size) < 0.1] = np.inf
        scores[rng.random(size) < 0.1] = -np.inf
    elif kind == "pile":
        scores[rng.random(size) < 0.9] = 0.25
    elif kind == "near one":
        scores = 1.0 - 2.0**-53 * rng.integers(0, 60, size)
    elif kind == "float32":
        scores = scores.astype(np.float32)
    elif kind == "wide":
        scores = np.sign(scores) * 10.0 ** rng.uniform(-300, 300, size)
    return scores, labels


class Pieces:
    """A source of chunks: an array cut at given places."""

    def __init__(self, scores, labels, cuts=()):
        self.pieces = list(zip(np.split(scores, cuts), np.split(labels, cuts), strict=True))

    def chunks(self):
        return iter(self.pieces)


def assert_same_bits(one, other):
    """Everything but the AUC, which may be a bracket, is the same to the bit."""
    assert one.eer == other.eer
    assert one.cllr == other.cllr
    assert one.min_cllr == other.min_cllr
    assert one.applications == other.applications
    for mine, others in zip(one.bayes_plot, other.bayes_plot, strict=True):
        assert (mine is None and others is None) or np.array_equal(mine, others)
    for name in ("thresholds", "misses", "false_alarms", "llrs"):
        assert np.array_equal(getattr(one.curve.hull, name), getattr(other.curve.hull, name)), name
    for key in ("trials", "targets", "nontargets"):
        assert one.input[key] == other.input[key]


def in_memory(scores, labels, apps=APPS, **more):
    return tc.evaluate(tc.Trials.of_llr(scores, labels), apps, **more)


def evaluated(source, applications=(), *, budget=None, **options):
    """tc.evaluate of a scan; options are those of either."""
    asked = {key: options.pop(key) for key in ("eer", "bayes_plot", "name") if key in options}
    return tc.evaluate(replace(tc.scan(source, **options), budget=budget), applications, **asked)


def fitted(method, source, prior=0.5, *, budget=None, **options):
    """A calibrator's fit on a scan; options are those of either."""
    asked = {key: options.pop(key) for key in ("penalty", "raw", "shared_variance") if key in options}
    return method.fit(replace(tc.scan(source, **{"meaning": "raw", **options}), budget=budget), prior, **asked)
