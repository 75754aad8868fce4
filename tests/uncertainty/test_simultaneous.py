"""Simultaneous bands, one-sided tests and unpaired DeLong: what they must hold and what they may not say."""

import json
import math

import numpy as np
import pytest
from click.testing import CliRunner
from scipy import stats

import tercet as tc
from tercet.cli.main import main
from tercet.uncertainty import roc_band

RNG = np.random.default_rng(4)
LABELS = np.repeat([1, 0], [150, 250])
SIGNS = np.where(LABELS == 1, 1.0, -1.0)
GOOD = tc.Trials.of_llr(3.0 * SIGNS + 2.0 * RNG.normal(size=400), LABELS, name="good")
BAD = tc.Trials.of_llr(0.4 * SIGNS + 0.9 * RNG.normal(size=400), LABELS, name="bad")


def test_the_simultaneous_roc_band_holds_the_whole_true_curve():
    rates = np.array([0.0, 0.01, 0.05, 0.1, 0.3, 0.6, 0.9, 1.0])
    truth = stats.norm.cdf(stats.norm.isf(rates) - 2.0)
    held = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        labels = np.repeat([1, 0], [60, 80])
        band = roc_band(tc.Trials.of_scores(rng.normal(size=140) + 2.0 * labels, labels), rates, simultaneous=True)
        assert (band.low <= band.fnr).all()
        assert (band.fnr <= band.high).all()
        held += bool(((band.low <= truth + 1e-12) & (truth <= band.high + 1e-12)).all())
    assert held >= 57


def test_a_simultaneous_band_takes_no_resampling_options():
    with pytest.raises(tc.InputError, match="ci"):
        roc_band(GOOD, simultaneous=True, resamples=10)
    with pytest.raises(tc.InputError, match="simultaneous"):
        roc_band(GOOD, simultaneous="yes")


def test_the_net_benefit_band_contains_its_curve_and_widens_with_the_level():
    wide, narrow = (tc.net_benefit_band(GOOD, level=level) for level in (0.99, 0.8))
    assert ((wide.low <= narrow.low) & (narrow.high <= wide.high)).all()
    assert ((narrow.low <= narrow.curve.net_benefit) & (narrow.curve.net_benefit <= narrow.high)).all()


def test_the_difference_band_has_compares_values_and_is_wider():
    found = tc.difference_band(GOOD, BAD, (-2.0, 2.0, 5))
    for place, odds in enumerate(found.log_odds):
        prior = 1.0 / (1.0 + math.exp(-odds))
        row = tc.compare(GOOD, BAD, [prior], quantities=["dcf"]).of("applications.0.dcf")[0]
        assert found.value[place] == pytest.approx(row.value)
        assert found.low[place] <= row.low + 1e-9
        assert found.high[place] >= row.high - 1e-9
    assert found.critical > 1.96
    assert "good is cheaper" in found.sentence


def test_the_difference_band_of_equal_systems_rarely_leaves_out_zero_anywhere():
    wrong = 0
    for seed in range(60):
        rng = np.random.default_rng([7, seed])
        shared = rng.normal(size=400)
        systems = [tc.Trials.of_llr(2.0 * SIGNS + 1.4 * shared + 1.4 * rng.normal(size=400), LABELS) for _ in range(2)]
        found = tc.difference_band(*systems, (-2.0, 2.0, 9))
        wrong += bool(((found.low > 0.0) | (found.high < 0.0)).any())
    assert wrong <= 8  # 5 % of 60 are 3; 9 or more have a probability below 0.005


def test_one_point_needs_no_wider_band():
    found = tc.difference_band(GOOD, GOOD, (-1.0, 1.0, 3))
    assert found.critical == pytest.approx(1.96, abs=0.01)
    assert (found.value == 0.0).all()


def test_superiority_is_half_of_the_two_sided_p_value():
    found = tc.compare(GOOD, BAD, [0.5])
    row = found.of("applications.0.dcf")[0]
    better = found.superior("applications.0.dcf", "good", "bad")
    assert better.shown
    assert better.p_value == pytest.approx(row.p_value / 2.0, rel=1e-6)
    assert not found.superior("applications.0.dcf", "bad", "good").shown
    assert not found.superior("applications.0.dcf", "good", "bad", margin=0.9).shown
    assert {one.test for one in found.margin_tests(0.05)} == {"superiority", "non-inferiority", "equivalence"}


def test_a_p_value_is_never_below_what_the_discordant_trials_can_show():
    llr = np.where(LABELS == 1, 1.0, -1.0)
    other = llr.copy()
    other[:6] *= -1.0
    found = tc.compare(
        tc.Trials.of_llr(llr, LABELS), tc.Trials.of_llr(other, LABELS), [0.5], names=["a", "b"], quantities=["dcf"]
    ).differences[0]
    assert found.least_p == 2.0**-5
    assert found.p_value >= found.least_p


def test_unpaired_delong_adds_the_variances():
    first, second = tc.delong(tc.Tally.of(GOOD)), tc.delong(tc.Tally.of(BAD))
    found = tc.delong_test(GOOD, BAD, unpaired=True)
    assert found.difference == pytest.approx(first.value - second.value)
    assert found.standard_error == pytest.approx(math.hypot(math.sqrt(first.variance), math.sqrt(second.variance)))
    assert found.paired_by is None
    rows = tc.compare(GOOD, BAD, [0.5], unpaired=True).tests
    assert [(row.test, row.p_value) for row in rows] == [("DeLong", found.p_value)]
    with pytest.raises(tc.InputError, match="pair_by"):
        tc.delong_test(GOOD, BAD, unpaired=True, pair_by="position")


def test_unpaired_delong_of_two_separable_sets_shows_nothing():
    apart = tc.Trials.of_llr([2.0, 3.0, 4.0, -1.0, -2.0], [1, 1, 1, 0, 0])
    found = tc.delong_test(apart, apart, unpaired=True)
    assert found.p_value == pytest.approx(1.0)
    assert found.low < 0.0 < found.high


def test_mcnemar_has_the_odds_as_effect_size():
    rows = [one for one in tc.compare(GOOD, BAD, [0.5]).tests if one.test == "McNemar"]
    right = LABELS
    wrong, also = (tc.decide(one, 0.5) != right for one in (GOOD, BAD))
    assert rows[0].effect == pytest.approx((wrong & ~also).sum() / (also & ~wrong).sum())


def test_the_command_line_has_margins_bands_and_the_correction(tmp_path):
    for one in (GOOD, BAD):
        rows = [f"{s},{y}" for s, y in zip(one.scores, LABELS, strict=True)]
        (tmp_path / f"{one.name}.csv").write_text("score,label\n" + "\n".join(rows) + "\n")
    words = ["compare", str(tmp_path / "good.csv"), str(tmp_path / "bad.csv"), "--app", "0.5,1,1"]
    more = ["--margin", "0.05", "--band", "-1,1,3", "--correction", "all"]
    told = json.loads(CliRunner().invoke(main, [*words, *more, "--json"]).stdout)
    known = tc.compare(GOOD, BAD, [(0.5, 1, 1)], correction="all")
    assert [one["p_value"] for one in told["margin_tests"]] == [one.p_value for one in known.margin_tests(0.05)]
    assert told["bands"][0]["low"] == tc.difference_band(GOOD, BAD, (-1.0, 1.0, 3)).low.tolist()
    assert [one["adjusted"] for one in told["differences"]] == [one.adjusted for one in known.differences]
    shown = CliRunner().invoke(main, [*words, *more]).stdout
    assert "equivalence" in shown
    assert "simultaneously" in shown
