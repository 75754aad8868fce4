"""Uncertain priors and costs, wrong labels, unverified cases: against brute force and simulated truth."""

import itertools
import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import tercet as tc
from tercet.cli.main import main

RNG = np.random.default_rng(1)
LABELS = np.repeat([1, 0], [40, 60])
TRIALS = tc.Trials.of_llr(np.where(LABELS == 1, 1.0, -1.0) + 1.4 * RNG.normal(size=100), LABELS)
ranges = st.tuples(st.floats(0.01, 0.99), st.floats(0.01, 0.99)).map(lambda pair: tuple(sorted(pair)))
costs = st.tuples(st.floats(0.1, 20), st.floats(0.1, 20)).map(lambda pair: tuple(sorted(pair)))


def cost(prior, cost_fn, cost_fp, fnr, fpr):
    return prior * cost_fn * fnr + (1 - prior) * cost_fp * fpr


@settings(max_examples=40, deadline=None)
@given(ranges, costs, costs)
def test_worst_case_and_regret_hold_over_the_whole_box(prior, cost_fn, cost_fp):
    found = tc.robust_thresholds(TRIALS, prior, cost_fn, cost_fp)
    curve = tc.Curve.of(TRIALS)
    rng = np.random.default_rng(0)
    inputs = [tuple(rng.uniform(*one) for one in (prior, cost_fn, cost_fp)) for _ in range(200)]
    for row in found.rows:
        for one in inputs:
            least = cost(*one, curve.fnr, curve.fpr).min()
            assert cost(*one, row.fnr, row.fpr) <= row.worst + 1e-9
            assert cost(*one, row.fnr, row.fpr) - least <= row.regret + 1e-9
        assert cost(*row.worst_at, row.fnr, row.fpr) == pytest.approx(row.worst)
    expected = [cost(*(sum(one) / 2 for one in (prior, cost_fn, cost_fp)), row.fnr, row.fpr) for row in found.rows]
    assert found["expected cost"].expected == pytest.approx(min(expected))
    assert found["worst case"].worst == min(row.worst for row in found.rows)
    assert found["regret"].regret == min(row.regret for row in found.rows)


def test_known_inputs_give_the_minimum_cost_without_regret():
    found = tc.robust_thresholds(TRIALS, 0.3, 2.0, 1.0)
    least = tc.Curve.of(TRIALS).min_dcf((0.3, 2.0, 1.0))
    for name in ("expected cost", "worst case", "regret"):
        assert found[name].threshold == least.threshold
        assert found[name].regret == 0.0


def test_a_distribution_enters_by_its_mean_and_its_quantiles():
    law = stats.beta(2, 18)
    found = tc.robust_thresholds(TRIALS, law, 5.0, level=0.9)
    assert found.prior == pytest.approx((law.ppf(0.05), 0.1, law.ppf(0.95)))
    draws = law.rvs(20_000, random_state=0)
    row = found["expected cost"]
    assert np.mean(cost(draws, 5.0, 1.0, row.fnr, row.fpr)) == pytest.approx(row.expected, rel=0.02)


def test_raw_scores_have_no_bayes_row_and_llrs_do():
    raw = tc.Trials.of_scores(TRIALS.scores, LABELS)
    assert [row.criterion for row in tc.robust_thresholds(raw, (0.1, 0.2)).rows][-1] == "regret"
    row = tc.robust_thresholds(TRIALS, (0.1, 0.3))["Bayes at the means"]
    assert row.threshold == pytest.approx(-math.log(0.2 / 0.8))


def test_label_noise_is_inverted_exactly_in_a_large_population():
    rng = np.random.default_rng(5)
    size = 200_000
    truth = np.repeat([1, 0], size)
    scores = np.where(truth == 1, 1.0, -1.0) + rng.normal(size=2 * size)
    clean = tc.evaluate(tc.Trials.of_llr(scores, truth), [(0.2, 5, 1)])
    labels = truth.copy()
    labels[:size][rng.random(size) < 0.1] = 0  # misses of the labelling: 10 % of the targets
    labels[size:][rng.random(size) < 0.04] = 1
    wrong = ((truth == 0) & (labels == 1)).sum() / (labels == 1).sum()
    other = ((truth == 1) & (labels == 0)).sum() / (labels == 0).sum()
    noisy = tc.Trials.of_llr(scores, labels)
    found = tc.label_noise(noisy, (0.2, 5, 1), wrong_targets=wrong, wrong_nontargets=other)[0]
    row = clean.applications[0]
    for name, value in (("fnr", row.fnr), ("fpr", row.fpr), ("dcf", row.dcf), ("auc", clean.auc)):
        bound = getattr(found, name)
        assert bound.value == pytest.approx(value, abs=0.004), name
        assert bound.low <= value <= bound.high
    assert found.possible


def test_no_label_noise_is_the_measured_number_and_its_interval():
    found = tc.label_noise(TRIALS, (0.2, 5, 1))[0]
    known = tc.evaluate(TRIALS, [(0.2, 5, 1)], ci=0.95).intervals
    for name in ("fnr", "fpr", "dcf"):
        assert getattr(found, name)[:3] == pytest.approx(known[f"applications.0.{name}"][:3], abs=1e-12)


def test_more_wrong_labels_than_errors_allow_are_called_impossible():
    clean = tc.Trials.of_llr([5.0] * 200 + [-5.0] * 200, [1] * 200 + [0] * 200)
    few, many = tc.label_noise(clean, 0.5, wrong_targets=[0.001, 0.2])
    assert few.possible
    assert not many.possible
    assert many.fnr.value == 0.0


@given(st.lists(st.integers(0, 30), min_size=6, max_size=6))
def test_verification_bias_stays_within_its_range(counts):
    yes, no = counts[:3], counts[3:]
    try:
        found = tc.verification_bias(yes, no)
    except tc.UndefinedError:
        return
    for bound, reach in ((found.fnr, found.fnr_range), (found.fpr, found.fpr_range)):
        assert reach[0] - 1e-12 <= bound.value <= reach[1] + 1e-12
        assert 0.0 <= bound.low <= bound.value <= bound.high <= 1.0


def test_full_verification_needs_no_correction():
    found = tc.verification_bias((80, 20, 0), (10, 90, 0))
    assert found.fnr.value == found.measured_fnr == pytest.approx(10 / 90)
    assert found.fnr_range == pytest.approx((10 / 90, 10 / 90))


def test_begg_and_greenes_recovers_the_rate_that_partial_verification_hides():
    rng, held = np.random.default_rng(3), 0
    for _ in range(200):
        truth = rng.random(2000) < 0.1
        accepted = rng.random(2000) < np.where(truth, 0.8, 0.1)
        seen = rng.random(2000) < np.where(accepted, 0.9, 0.2)
        cells = [
            [(seen & (accepted == yes) & truth).sum(), (seen & (accepted == yes) & ~truth).sum(),
             (~seen & (accepted == yes)).sum()]
            for yes in (True, False)
        ]  # fmt: skip
        found = tc.verification_bias(*cells)
        held += found.fnr.low <= 0.2 <= found.fnr.high
    assert held >= 180


def test_scores_and_counts_give_the_same_correction():
    rest = tc.Trials.of_llr(RNG.normal(size=50))
    table, above = tc.confusion_of(TRIALS, 0.5), int(tc.decide(rest, 0.5).sum())
    counts = tc.verification_bias((table.tp, table.fp, above), (table.fn, table.tn, 50 - above))
    assert tc.verification_bias_of(TRIALS, rest, 0.5) == counts


def test_without_a_miss_among_the_verified_the_interval_is_still_honest():
    found = tc.verification_bias((50, 50, 0), (0, 20, 1000))
    assert found.fnr.value == 0.0 < found.fnr.high
    assert found.fnr.high > 0.4
    assert "Clopper-Pearson" in found.fnr.method


@pytest.mark.parametrize("bad", [(), (1, 2), (1, 2, 3), "x", (0.5, 0.2), (math.nan, 1.0), None, (-1.0, 0.5)])
def test_a_bad_range_is_refused_by_name(bad):
    with pytest.raises(tc.InputError, match="prior"):
        tc.robust_thresholds(TRIALS, bad)


def test_the_command_line_tells_the_same(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("score,label\n" + "\n".join(f"{s},{y}" for s, y in zip(TRIALS.scores, LABELS, strict=True)) + "\n")

    def told(*words):
        done = CliRunner().invoke(main, ["sensitivity", *words, "--json"])
        assert done.exit_code == 0, done.stderr
        return json.loads(done.stdout)

    found = told("inputs", str(path), "--prior", "0.1:0.3", "--cost-fn", "lognormal:5:0.3")
    known = tc.robust_thresholds(TRIALS, (0.1, 0.3), stats.lognorm(0.3, scale=5.0))
    assert [row["worst"] for row in found["thresholds"]] == [row.worst for row in known.rows]
    rows = told("labels", str(path), "--app", "0.2,5,1", "--wrong-targets", "0,0.05")["rows"]
    assert [row["fnr"] for row in rows] == [
        one.fnr.value for one in tc.label_noise(TRIALS, (0.2, 5, 1), wrong_targets=[0, 0.05])
    ]
    rows = told("verification", "--accepted", "80,20,0", "--rejected", "2,98,900")["rates"]
    assert rows[0]["corrected"] == tc.verification_bias((80, 20, 0), (2, 98, 900)).fnr.value


def test_every_combination_of_shares_is_tried():
    found = tc.label_noise(TRIALS, 0.5, wrong_targets=[0.0, 0.1], wrong_nontargets=[0.0, 0.05, 0.1])
    pairs = [(one.wrong_targets, one.wrong_nontargets) for one in found]
    assert pairs == list(itertools.product([0.0, 0.1], [0.0, 0.05, 0.1]))
