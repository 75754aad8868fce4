"""C_primary: means of actual costs and of separate minima, pooled and equalised."""

from fractions import Fraction

import numpy as np
import pytest

import tercet as tc
from tercet import nist, testing

SETS = 1000


def test_c_primary_is_the_mean_of_the_references_on_random_sets():
    rng = np.random.default_rng(0)
    for _ in range(SETS):
        size = int(rng.integers(2, 14))
        labels = rng.random(size) < 0.5
        labels[:2] = True, False
        llrs = rng.integers(-7, 8, size).astype(float)
        points = [(0.5, 1, 1), (0.25, 1, 2)]
        found = nist.c_primary(tc.Trials.of_llr(llrs, labels), points)
        least, actual = [], []
        for point in points:
            app = tc.Application.of(point)
            rates = testing.rates_at(llrs.tolist(), labels.tolist(), app.threshold)
            actual.append(testing.dcf(*rates, *point))
            least.append(testing.min_dcf(llrs.tolist(), labels.tolist(), *point)[0])
        assert found.actual == pytest.approx(float(sum(map(Fraction, actual)) / 2), rel=1e-12, abs=1e-15)
        assert found.minimum == pytest.approx(float(sum(map(Fraction, least)) / 2), rel=1e-12, abs=1e-15)


def test_equalised_error_rates_are_means_over_the_partitions_that_hold_the_class():
    llrs = [1.0, -1.0, 1.0, 1.0, 1.0, -1.0, 1.0]
    labels = [1, 1, 1, 1, 1, 0, 0]
    sites = ["a", "a", "b", "b", "b", "a", "c"]  # b has targets only, c non-targets only
    trials = tc.Trials.of_llr(llrs, labels, groups={"site": sites})
    found = nist.c_primary(trials, [(0.5, 1, 1)], partitions="site")
    miss, alarm = (Fraction(1, 2) + 0) / 2, (Fraction(0) + 1) / 2
    assert found.actual == pytest.approx(float(miss + alarm))
    both = tc.Trials.of_llr(llrs, labels, groups={"site": sites, "sex": list("fmfmfmf")})
    assert nist.c_primary(both, [(0.5, 1, 1)], partitions=["site", "sex"]).partitions == ("site", "sex")


def test_raw_scores_have_the_minimum_only():
    found = nist.c_primary(tc.Trials.of_scores([1.0, 2.0, 3.0], [0, 1, 1]), "sre16")
    assert found.actual is None
    assert found.minimum == 0.0


def test_intervals_enclose_the_means():
    rng = np.random.default_rng(1)
    labels = np.arange(400) % 2
    trials = tc.Trials.of_llr(4 * labels - 2 + rng.normal(size=400), labels, groups={"speaker": np.arange(400) // 20})
    found = nist.c_primary(trials, [(0.5, 1, 1), (0.2, 1, 1)], ci=0.9)
    assert found.actual_interval.low <= found.actual <= found.actual_interval.high
    assert nist.c_primary(trials, "sre16", ci=0.9, by="speaker").minimum_interval is not None


def test_no_false_alarms_do_not_make_an_interval_of_misses_alone():
    rng = np.random.default_rng(0)
    labels = np.arange(2000) % 10 == 0
    trials = tc.Trials.of_llr(1.5 * rng.normal(size=2000) + np.where(labels, 2, -2), labels)
    found = nist.c_primary(trials, "sre16", ci=0.95)
    rows = tc.evaluate(trials, tc.Application.mean("sre16"), ci=0.95).intervals
    ends = [(rows[f"applications.{k}.dcf"].low, rows[f"applications.{k}.dcf"].high) for k in (0, 1)]
    assert found.actual_interval[:2] == pytest.approx(np.mean(ends, axis=0))
    assert found.actual_interval.high > 1.1


def test_named_means_and_bad_input():
    assert tc.Application.mean("sre12").name == "sre12"
    assert set(tc.Application.means()) == {"sre12", "sre16", "sre18-cmn2", "sre21"}
    for names in tc.Application.means().values():
        assert set(names) <= set(tc.Application.names())
    trials = tc.Trials.of_llr([1.0, -1.0], [1, 0])
    with pytest.raises(tc.InputError, match="Known: sre12"):
        nist.c_primary(trials, "sre08")
    with pytest.raises(tc.InputError, match="at least one"):
        nist.c_primary(trials, [])
    with pytest.raises(tc.InputError, match="not among the groups"):
        nist.c_primary(trials, "sre16", partitions="sex")
    with pytest.raises(tc.UndefinedError, match="free"):
        nist.c_primary(trials, [(0.5, 1, 0)])


def test_a_mean_of_points_is_evaluated_row_by_row_and_averaged():
    trials = tc.Trials.of_llr([9.0, 5.0, -9.0, -9.0, -9.0, 5.2], [1, 1, 0, 0, 0, 0])
    mean = tc.Application.mean("sre16")
    for asked in (mean, [mean], [0.5, mean, (0.1, 1, 10)]):
        found = tc.evaluate(trials, asked)
        rows = [found.applications[place] for place in found.means[0].places]
        assert [(row.prior, row.cost_fn) for row in rows] == [(0.01, 1.0), (0.005, 1.0)]
        assert found.means[0].dcf == sum(row.dcf for row in rows) / 2 == nist.c_primary(trials, "sre16").actual
        assert found.means[0].min_dcf == sum(row.min_dcf for row in rows) / 2
        assert found.to_dict(curves=False)["means"][0]["dcf"] == found.means[0].dcf
    raw = tc.evaluate(tc.Trials.of_scores(trials.scores, trials.labels), mean).means[0]
    assert raw.dcf is None
    assert raw.min_dcf == 0.5
    assert raw.reason is not None
    assert "means" not in tc.evaluate(trials, 0.5).to_dict(curves=False)


def test_equalised_costs_have_intervals_that_hold_them():
    rng = np.random.default_rng(1)
    labels = np.arange(400) % 2
    sexes = np.where(np.arange(400) % 5 < 2, "f", "m")
    trials = tc.Trials.of_llr(3 * rng.normal(size=400) + 5 * labels - 2, labels, groups={"sex": sexes})
    found = nist.c_primary(trials, [0.5, 0.2], partitions="sex", ci=0.9)
    assert found.actual_interval.low <= found.actual <= found.actual_interval.high
    assert found.minimum_interval.method.startswith("mean of the ends")
    assert found.minimum_interval.low < found.minimum_interval.high
    by = np.array([f"s{k // 10}" for k in range(400)])
    grouped = tc.Trials.of_llr(trials.scores, labels, groups={"sex": sexes, "speaker": by})
    whole = nist.c_primary(grouped, [0.5, 0.2], partitions="sex", ci=0.9, by="speaker")
    assert whole.actual == found.actual
    assert whole.actual_interval.low <= whole.actual <= whole.actual_interval.high
