"""Student's interval on a scale of its own, rates by name, bands and equalised costs."""

import itertools
import json
import math

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import t as student_t

import tercet as tc
from tercet.uncertainty import bands, bootstrap, by_condition, drawn, roc_band, with_bands
from tercet.uncertainty._kernel.draws import Design
from tercet.uncertainty._kernel.ends import tail_of
from tercet.uncertainty._kernel.student import scale_of, shrinks, student_ends
from tercet.uncertainty.bootstrap import equalised

from .helpers import gaussian, same, three_classes

APPS = [(0.5, 1, 1), (0.1, 1, 1)]
THREE = tc.Application.multiclass([0.3, 0.3, 0.4])


def test_on_its_scale_the_interval_is_the_textbooks():
    """exp(log x +- t s) where the resamples' logarithms are normal around log x."""
    count = 4999
    z = ndtri(np.arange(1, count + 1) / (count + 1))
    groups = Design((20, 20), (None, None), ((np.arange(20), np.arange(20)),), (20,))
    tail = tail_of(groups, 0.95)
    low, high = student_ends(0.1, 0.1 * np.exp(0.3 * z), tail, "log", 1.0)
    reach = 0.3 * math.sqrt(20 / 19) * student_t.ppf(0.975, 19)
    assert abs(math.log(low / 0.1) + reach) < 0.002
    assert abs(math.log(high / 0.1) - reach) < 0.002
    shifted = student_ends(0.1, 0.1 * np.exp(0.3 * z - 0.2), tail, "log", 1.0)
    assert np.allclose(shifted, (low * math.exp(0.2), high * math.exp(0.2)), rtol=0.01)  # a bias is turned round


@pytest.mark.parametrize("scale", ["log", "odds"])
def test_ends_hold_the_number_and_stay_inside_its_range(scale):
    rng = np.random.default_rng(0)
    for value in (0.0, 0.02, 0.5, 0.999, 1.0):
        samples = np.sort(rng.binomial(50, value, 399) / 50)
        low, high = student_ends(value, samples, 0.01, scale, 1.0)
        if samples[64] == samples[334]:  # the middle is one number: no standard error
            assert np.isnan(low)
            continue
        assert 0.0 <= low <= value <= high
        assert scale == "log" or high <= 1.0


def test_every_scale_is_of_a_known_name():
    assert {scale_of(name) for name in ("eer", "auc", "roc.fnr", "bayes_plot.min_dcf", "a.0.macro f1")} == {"odds"}
    assert {scale_of(name) for name in ("cllr", "applications.3.dcf", "applications.0.contributions")} == {"log"}
    assert {scale_of(name) for name in ("applications.0.calibration_loss", "mine", "applications.0.mcc")} == {""}


def test_groups_are_read_by_student_and_trials_by_bca_unless_named():
    trials = gaussian(speakers=25)
    assert bootstrap(trials, APPS, resamples=39, by="speaker")["auc"].method == "student"
    assert bootstrap(trials, APPS, resamples=39)["auc"].method == "bca"
    assert bootstrap(trials, APPS, resamples=39, method="student")["auc"].method == "student"
    assert bootstrap(trials, APPS, resamples=39, by="speaker", method="bca")["auc"].method == "bca"
    assert bootstrap(trials, APPS, resamples=39, by="speaker")["applications.0.calibration_loss"].method == "bca"


def test_crossed_resamples_shrink_to_the_variance_of_both_groupings_less_that_by_trial():
    """For a rate all variances are sums over the rows: V1 + V2 - V12 against V1 + V2 + V12."""
    rng = np.random.default_rng(1)
    one, other = np.repeat(np.arange(12), 12), np.tile(np.arange(12), 12)
    labels = (one + other) % 2
    scores = (labels - 0.5) * 2 + rng.normal(size=12)[one] + rng.normal(size=144)
    trials = tc.Trials.of_llr(scores, labels, groups={"a": one, "b": other})
    from tercet.uncertainty._kernel.engine import Settings
    from tercet.uncertainty.bootstrap import _two_classes, planned, wanted_of

    by = ("a", "b")
    design, system = _two_classes(trials, planned([tc.Application(0.5)], wanted_of(["fnr"]), None), by)
    settings = Settings.of(0.95, 39, 0, by, "student", 1)
    found = float(shrinks(design, system, settings)["applications.0.fnr"])
    wrong = (scores <= 0.0)[labels == 1].astype(float)

    def jackknife(codes):
        left = [np.mean(wrong[codes != k]) for k in np.unique(codes)]
        return (len(left) - 1) * np.var(left)

    a, b, each = (jackknife(codes[labels == 1]) for codes in (one, other, np.arange(144)))
    assert found == pytest.approx(math.sqrt(max(a, b, a + b - each) / (a + b + each)), rel=1e-9)
    assert shrinks(Design((5, 5), (None, None)), system, settings) == {}


# Rates by name


@pytest.mark.parametrize("by", [None, "speaker"])
def test_rates_of_the_fast_bootstrap_are_those_of_repeated_rows(by):
    trials = gaussian(80, 90, speakers=15)
    names = ["precision", "f1", "mcc", "npv", "accuracy"]
    found = bootstrap(trials, APPS, resamples=39, by=by, rates=names, quantities=["dcf"])
    for number, k in itertools.product(range(6), range(2)):
        rows = np.repeat(np.arange(len(trials)), drawn(trials, number, by=by))
        table = tc.confusion_of(trials.select(rows), APPS[k])
        for name in names:
            value = getattr(tc.Confusion(table.matrix), name)
            assert same(found.samples[f"applications.{k}.{name}"][number], value), name


def test_rates_and_averages_of_several_classes():
    trials = three_classes(120, speakers=20)
    names = ["precision", "macro f1", "micro recall", "weighted precision", "kappa"]
    found = bootstrap(trials, [THREE], resamples=39, rates=names)
    rows = np.repeat(np.arange(len(trials)), drawn(trials, 3))
    table = tc.confusion_of(trials.select(rows), THREE)
    assert same(found.samples["applications.0.precision"][3], list(table.per_class("precision").values()))
    assert same(found.samples["applications.0.macro f1"][3], table.average("f1", "macro"))
    assert same(found.samples["applications.0.weighted precision"][3], table.average("precision", "weighted"))
    assert same(found.samples["applications.0.kappa"][3], table.kappa)
    one = found["applications.0.precision"]
    assert one.value.shape == (3,)
    assert ((one.low <= one.value) & (one.value <= one.high)).all()


def test_a_rate_that_never_erred_is_not_certain():
    trials = tc.Trials.of_llr(np.r_[np.linspace(1, 3, 40), np.linspace(-3, -1, 60)], np.repeat([1, 0], [40, 60]))
    found = bootstrap(trials, [(0.5, 1, 1)], resamples=39, rates=["precision", "recall", "mcc", "f1"])
    for name in ("precision", "recall", "mcc", "f1"):
        one = found[f"applications.0.{name}"]
        assert one.value == one.high == 1.0
        assert 0.6 < one.low < 0.97, name
        assert "clopper-pearson" in one.method
    assert found["applications.0.recall"].low == pytest.approx(1 - tc.clopper_pearson(0, 40).high)


def test_a_rate_that_some_resamples_lack_is_read_from_the_others():
    """Two accepted trials of forty: now and then a resample accepts none, and precision is undefined there."""
    scores = np.r_[[1.0, 1.0], np.full(38, -1.0)]
    trials = tc.Trials.of_llr(scores, np.r_[1, 0, np.arange(38) % 2])
    found = bootstrap(trials, [(0.5, 1, 1)], resamples=199, rates=["precision"])
    assert np.isnan(found.samples["applications.0.precision"]).any()
    one = found["applications.0.precision"]
    assert (one.low, one.high) == (0.0, 1.0)
    assert "in which it exists" in one.method
    nobody = tc.Trials.of_llr(np.full(40, -1.0), np.arange(40) % 2)
    rest = bootstrap(nobody, [(0.5, 1, 1)], resamples=39, rates=["precision"])
    assert "applications.0.precision" not in rest
    assert any("applications.0.precision is undefined" in note for note in rest.notes)


@pytest.mark.parametrize("name", ["nonsense", "macro nonsense", "_counts", "classes"])
def test_a_rate_that_is_none_is_refused(name):
    for trials, app in ((gaussian(), (0.5, 1, 1)), (three_classes(), THREE)):
        with pytest.raises(tc.InputError):
            bootstrap(trials, [app], resamples=39, rates=[name])


# Bands and conditions


def test_bands_come_out_of_one_run_and_into_the_json():
    trials = gaussian(200, 300)
    found = bands(trials, APPS, resamples=99, quantities=None)
    alone = bootstrap(trials, APPS, resamples=99)
    assert found.intervals["auc"] == alone["auc"]
    assert np.array_equal(found.bayes_plot.least.low, alone["bayes_plot.min_dcf"].low)
    assert np.all(np.diff(found.roc.low) <= 0.0)
    assert np.all(np.diff(found.roc.high) <= 0.0)
    facts = with_bands(tc.evaluate(trials, APPS).to_dict(), found)
    json.dumps(facts, allow_nan=False)
    assert set(facts["bands"]) == {"level", "roc", "reliability"}
    assert facts["bands"]["reliability"]["prior"] == 0.4
    assert "eer_ci" in facts


def test_an_undefined_bin_is_null_in_the_json():
    trials = tc.Trials.of_llr([5.0, 5.0, 5.1, -5.0, -5.0, -5.1], [1, 1, 0, 0, 0, 1])
    facts = bands(trials, resamples=39).to_dict()
    assert facts["reliability"]["low"][4] is None
    assert "inf" not in json.dumps(facts["reliability"])


def test_bands_of_one_class_or_of_three_are_refused():
    with pytest.raises(tc.UndefinedError):
        bands(tc.Trials.of_llr([1.0, 2.0], [1, 1]))
    with pytest.raises(tc.InputError, match="versus"):
        bands(three_classes())


@pytest.mark.parametrize("by", [None, "speaker"])
def test_equalised_costs_are_means_over_conditions_in_each_resample(by):
    trials = gaussian(300, 400, sites=3, speakers=40)
    found = by_condition(trials, "site", APPS, level=0.95, draws={"resamples": 99, "by": by})
    alone = equalised(trials, "site", APPS, resamples=99, by=by)
    for k in range(2):
        row = found.equalised.applications[k]
        assert alone[f"applications.{k}.dcf"].value == pytest.approx(row.dcf, abs=1e-9)
        assert alone[f"applications.{k}.min_dcf"].value == pytest.approx(row.min_dcf, abs=1e-9)
        assert found.to_dict()["equalised"]["applications"][k]["dcf_ci"][0] < row.dcf
    spread = (
        np.sqrt(sum(found.intervals[f"site = {k}"]["applications.0.dcf"].standard_error ** 2 for k in range(3))) / 3
    )
    if by is None:  # conditions are drawn by themselves: variances of a mean add up
        assert alone["applications.0.dcf"].standard_error == pytest.approx(spread, rel=0.25)


def test_a_condition_that_cannot_be_resampled_says_so_and_the_rest_goes_on():
    trials = gaussian(100, 100, sites=2)
    speakers = np.where(trials.groups["site"] == 0, 0, np.arange(200) % 20)
    both = tc.Trials.of_llr(trials.scores, trials.labels, groups={"site": trials.groups["site"], "speaker": speakers})
    found = by_condition(both, "site", APPS, level=0.95, draws={"resamples": 39, "by": "speaker"})
    assert set(found.intervals) == {"site = 1", "pooled"}
    assert "one group" in found.doubts["site = 0"]
    assert "one group" in found.doubts["equalised"]
    facts = found.to_dict()
    assert "dcf_ci" not in facts["rows"][0]["applications"][0]
    assert "one group" in facts["rows"][0]["reasons"]["intervals"]
    json.dumps(facts, allow_nan=False)


def test_equalised_numbers_of_trials_and_errors_are_not_weights():
    labels = np.r_[np.tile([1, 0], 500), np.tile([1, 0], 20)]
    scores = np.where(labels == 1, 1.0, -1.0) * np.where(np.arange(1040) % 7 == 0, -1.0, 1.0)
    trials = tc.Trials.of_llr(scores, labels, groups={"site": ["a"] * 1000 + ["b"] * 40})
    facts = by_condition(trials, "site", [(0.5, 1, 1)]).to_dict()
    assert facts["equalised"]["input"] == {"trials": 1040, "targets": 520, "nontargets": 520}
    assert facts["rows"][1]["applications"][0]["warnings"]
    assert not facts["equalised"]["applications"][0]["warnings"]


def test_several_classes_equalised_in_each_resample():
    trials = three_classes(300, speakers=3)
    found = by_condition(trials, "speaker", [THREE], level=0.95, draws={"resamples": 39})
    one = found.intervals["equalised"]["accuracy"]
    assert one.value == pytest.approx(found.equalised.accuracy, abs=1e-9)
    assert one.low < one.value < one.high


def test_equal_real_weights_change_no_point_of_the_roc_band():
    trials, rates = gaussian(), [0.0, 0.05, 0.1, 0.3, 1.0]
    plain, heavy = (
        roc_band(tc.Trials.of_llr(trials.scores, trials.labels, weights=weights), rates, resamples=39).fnr
        for weights in (None, np.full(len(trials), 0.1))
    )
    assert same(plain, heavy)
