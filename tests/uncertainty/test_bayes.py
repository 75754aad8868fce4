"""Beta and Dirichlet posteriors: exact where a closed form exists, and what they must say about comparisons."""

import json

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import tercet as tc
from tercet.cli.main import main
from tercet.uncertainty.bayes import DRAWS

RNG = np.random.default_rng(0)
LABELS = np.repeat([1, 0], 100)
GOOD = tc.Trials.of_llr(np.where(LABELS == 1, 2.0, -2.0) + RNG.normal(size=200), LABELS, name="good")
BAD = tc.Trials.of_llr(np.where(LABELS == 1, 0.5, -0.5) + RNG.normal(size=200), LABELS, name="bad")
THREE = tc.Trials.of_log_likelihoods(RNG.normal(size=(90, 3)) + 2.0 * np.eye(3)[np.arange(90) % 3], np.arange(90) % 3)


@given(st.integers(0, 40), st.integers(0, 40), st.sampled_from(["jeffreys", "uniform"]))
def test_a_rate_posterior_is_scipys_beta(count, rest, prior):
    found = tc.rate_posterior(count, count + rest, prior)
    mass = {"jeffreys": 0.5, "uniform": 1.0}[prior]
    law = stats.beta(count + mass, rest + mass)
    assert found.interval(0.9) == pytest.approx(law.interval(0.9))
    assert found.probability_below(0.3) == pytest.approx(law.cdf(0.3))
    assert found.mean == pytest.approx(law.mean())


@pytest.mark.parametrize("method", ["jeffreys", "uniform"])
def test_credible_intervals_of_rates_are_beta_and_of_costs_agree_with_the_closed_mean(method):
    found = tc.evaluate(BAD, [(0.2, 5, 1)], ci=0.9, method=method)
    row, intervals = found.applications[0], found.intervals
    misses = round(row.fnr * 100)
    ends = tc.rate_posterior(misses, 100, method).interval(0.9)
    assert intervals["applications.0.fnr"][1:3] == pytest.approx(ends)
    cost = intervals["applications.0.dcf_u"]
    assert cost.low < row.dcf_u < cost.high
    normalised = intervals["applications.0.dcf"]
    assert normalised.high == pytest.approx(cost.high / tc.Application(0.2, 5, 1).dummy_cost)
    assert method in cost.method


def test_without_errors_the_interval_still_holds_the_measured_number():
    clean = tc.Trials.of_llr([5.0] * 20 + [-5.0] * 20, [1] * 20 + [0] * 20)
    bound = tc.evaluate(clean, [0.5], ci=0.95, method="jeffreys").intervals["applications.0.dcf"]
    assert bound.low == 0.0 < bound.high


def test_costs_of_one_error_kind_have_the_betas_quantiles():
    bound = tc.evaluate(BAD, [(0.5, 1, 0)], ci=0.9, method="jeffreys").intervals["applications.0.dcf_u"]
    alarms = tc.confusion_of(BAD, (0.5, 1, 0)).fn
    assert bound.high == pytest.approx(0.5 * tc.rate_posterior(alarms, 100).interval(0.9)[1], rel=0.02)


def test_several_classes_have_a_posterior_of_the_risk():
    app = tc.Application.multiclass([0.2, 0.3, 0.5], [[0, 1, 2], [1, 0, 1], [2, 1, 0]])
    found = tc.evaluate(THREE, [app], ci=0.95, method="jeffreys")
    bound = found.intervals["applications.0.risk"]
    assert bound.low < found.applications[0].risk < bound.high


@pytest.mark.parametrize("unpaired", [False, True])
def test_the_better_system_is_probably_cheaper_and_never_certainly(unpaired):
    found = tc.compare(GOOD, BAD, [(0.5, 1, 1)], bayes="jeffreys", unpaired=unpaired).probabilities[0]
    assert 0.99 < found.probability <= (DRAWS + 0.5) / (DRAWS + 1.0)
    assert found.low < found.value < found.high < 0.0


def test_a_system_is_cheaper_than_itself_with_probability_one_half():
    found = tc.compare(GOOD, GOOD, [(0.5, 1, 1)], names=["a", "b"], bayes="jeffreys").probabilities[0]
    assert found.probability == pytest.approx(0.5, abs=0.01)


def test_the_paired_posterior_uses_the_pairs():
    paired = tc.compare(BAD, GOOD, [0.5], bayes="jeffreys").probabilities[0]
    alone = tc.compare(BAD, GOOD, [0.5], bayes="jeffreys", unpaired=True).probabilities[0]
    assert paired.value == pytest.approx(alone.value, abs=0.01)


def test_paired_differences_match_the_dirichlet_by_brute_force():
    first, second = tc.decide(BAD, 0.5), tc.decide(GOOD, 0.5)
    rng, total = np.random.default_rng(9), np.zeros(50_000)
    for label in (0, 1):
        own = label == LABELS
        wrong, also = first[own] != label, second[own] != label
        cells = [(wrong & also).sum(), (wrong & ~also).sum(), (~wrong & also).sum(), (~wrong & ~also).sum()]
        shares = rng.dirichlet(np.array(cells) + 0.25, 50_000)
        total += 0.5 * (shares[:, 1] - shares[:, 2])
    found = tc.compare(BAD, GOOD, [0.5], bayes="jeffreys").probabilities[0]
    assert (found.low, found.high) == pytest.approx(np.quantile(total, [0.025, 0.975]), abs=0.003)


def test_what_has_no_posterior_is_refused_in_words():
    grouped = tc.Trials.of_llr([1.0, -1.0, 2.0, -2.0], [1, 0, 1, 0], groups={"speaker": list("aabb")})
    with pytest.raises(tc.InputError, match="independent"):
        tc.evaluate(grouped, [0.5], ci=0.95, method="jeffreys", by="speaker")
    with pytest.raises(tc.InputError, match="Trials"):
        tc.evaluate(tc.Tally.of(GOOD), [0.5], ci=0.95, method="jeffreys")
    heavy = tc.Trials.of_llr([1.0, -1.0], [1, 0], weights=[0.5, 1.0])
    assert "integer counts" in tc.evaluate(heavy, [0.5], ci=0.95, method="uniform").intervals.missing["applications.0"]
    with pytest.raises(tc.InputError, match="bayes"):
        tc.compare(GOOD, BAD, [0.5], bayes="flat")


def test_the_command_line_tells_the_same(tmp_path):
    for one in (GOOD, BAD):
        rows = [f"{s},{y}" for s, y in zip(one.scores, LABELS, strict=True)]
        (tmp_path / f"{one.name}.csv").write_text("score,label\n" + "\n".join(rows) + "\n")
    files = [str(tmp_path / "good.csv"), str(tmp_path / "bad.csv")]
    done = CliRunner().invoke(main, ["compare", *files, "--app", "0.5,1,1", "--bayes", "jeffreys", "--json"])
    told = json.loads(done.stdout)["probabilities"][0]
    assert told["probability"] == tc.compare(GOOD, BAD, [(0.5, 1, 1)], bayes="jeffreys").probabilities[0].probability
    done = CliRunner().invoke(
        main, ["evaluate", files[0], "--app", "0.5,1,1", "--ci", "95", "--bayes", "uniform", "--json"]
    )
    row = json.loads(done.stdout)["systems"][0]
    known = tc.evaluate(GOOD, [(0.5, 1, 1)], ci=0.95, method="uniform").intervals["applications.0.fnr"]
    assert row["applications"][0]["fnr_ci"] == [known.low, known.high]
    assert "uniform prior" in row["intervals"]["methods"]["applications.0.dcf"]
