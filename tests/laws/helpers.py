"""What the laws share: one meaning of "equal", sets of trials with and without weights, and every fact about them."""

import math

import numpy as np
from hypothesis import strategies as st

import tercet as tc
from tercet.testing import labelled_scores, weights_for

DEFINITIONS = ("rocch", "interpolated", "nearest")
POINTS = ((0.5, 1, 1), (0.1, 1, 1), (0.9, 1, 10), (0.01, 50, 1))


def close(a, b, ulps=4.0, scale=0.0):
    """Within 4 ulp of the larger one (or of `scale`); infinities only equal themselves."""
    if a == b:
        return True
    if not (math.isfinite(a) and math.isfinite(b)):
        return False
    return abs(a - b) <= ulps * math.ulp(max(abs(a), abs(b), scale))


def all_close(a, b, ulps=4.0, scale=0.0):
    a, b = np.ravel(a).tolist(), np.ravel(b).tolist()
    return len(a) == len(b) and all(close(x, y, ulps, scale) for x, y in zip(a, b, strict=True))


def at_most(a, b, ulps=4.0):
    return a <= b or close(a, b, ulps)


def cost_ulps(prior, cost_fn, cost_fp):
    """How many ulp a cost may be off that goes through e^tau.

    An error of tau becomes a relative error of e^tau: the logarithms that tau is added up from are each right to an
    ulp of their own size, so the allowance grows with them.
    """
    logs = (math.log(prior), math.log1p(-prior), math.log(cost_fn), math.log(cost_fp))
    return 4.0 + 2.0 * sum(map(abs, logs))


def tally_of(scores, labels, weights=None):
    return tc.Tally.of(tc.Trials.of_llr(scores, labels, weights=weights))


def curve_of(scores, labels, weights=None):
    return tc.Curve.of(tally_of(scores, labels, weights))


@st.composite
def sets(draw, kinds=(None, "integer", "fractional"), **more):
    """(scores, labels, weights): both classes there, many ties, weights absent, whole or fractional."""
    scores, labels = draw(labelled_scores(**more))
    kind = draw(st.sampled_from(kinds))
    return scores, labels, None if kind is None else draw(weights_for(len(labels), kind))


def rates(tally, points=POINTS):
    """Everything about a tally that is no count: it may not depend on how the trials came in."""
    curve = tc.Curve.of(tally)
    plot = tc.bayes_error(curve, np.linspace(-4.0, 4.0, 9))
    facts = {
        "eer": [curve.eer(definition) for definition in DEFINITIONS],
        "areas": [curve.auc, curve.hull_auc, curve.average_precision, curve.partial_auc(fpr=(0.1, 0.6))],
        "entropies": [tc.cllr(tally), tc.min_cllr(curve), tc.empirical_cross_entropy(tally, 0.1)],
        "points": [column.tolist() for column in (curve.thresholds, curve.fnr, curve.fpr, curve.tpr, curve.tnr)],
        "hull": [column.tolist() for column in (curve.hull.thresholds, curve.hull.fnr, curve.hull.fpr)],
        "llrs": curve.hull.llrs.tolist(),
        "plot": [plot.dcf.tolist(), plot.min_dcf.tolist()],
        "parts": [tc.log_loss_parts(curve, 0.2), tc.brier_parts(curve, 0.2)],
        "worth": tc.useful_priors(curve),
        "rule": tc.neyman_pearson(curve, 0.3),
    }
    for point, row in zip(points, tc.evaluate(tally, points).applications, strict=True):
        facts[point] = [row.fnr, row.fpr, row.dcf, row.dcf_u, row.min_dcf, row.min_dcf_u, row.min_threshold]
    return facts


def facts(tally, points=POINTS):
    """The rates, and the counts in the caller's weights."""
    curve = tc.Curve.of(tally)
    tables = [row.confusion for row in tc.evaluate(tally, points).applications]
    counts = [[tally.weight(c) for c in column.tolist()] for column in (curve.misses, curve.false_alarms)]
    return {**rates(tally, points), "tables": tables, "counts": counts}


def same_bits(a, b):
    """Equal to the last bit, signs of zero included."""
    return a == b and repr(a) == repr(b)


def numbers_in(value):
    """Every number of nested facts, in order."""
    if isinstance(value, dict):
        return [x for item in value.values() for x in numbers_in(item)]
    if isinstance(value, list | tuple):
        return [x for item in value for x in numbers_in(item)]
    if isinstance(value, tc.RandomisedRule):
        return [value.upper, value.probability, value.fpr, value.tpr]
    return [value] if isinstance(value, int | float) else []
