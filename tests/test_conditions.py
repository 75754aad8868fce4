"""Results by condition, and whether there are data enough."""

import json
import math

import numpy as np
import pytest

import tercet as tc
from tercet.conditions import by_condition, too_few_errors
from tercet.metrics.mover import Proportion, Sum
from tercet.uncertainty import sample_size
from tests.uncertainty.helpers import gaussian, same, three_classes

APPS = [(0.5, 1, 1), (0.1, 1, 1)]


def test_each_condition_is_evaluated_on_its_own_trials():
    trials = gaussian(100, 150, sites=3)
    found = by_condition(trials, "site", APPS)
    assert list(found.results) == ["0", "1", "2"]
    for name, one in found.results.items():
        alone = tc.evaluate(trials.select(trials.groups["site"] == int(name)), APPS)
        assert one.to_dict() == alone.to_dict()
    assert found.pooled.to_dict() == tc.evaluate(trials, APPS).to_dict()


def test_equalised_rates_are_means_over_conditions():
    found = by_condition(gaussian(100, 150, sites=3), "site", APPS)
    for k in range(2):
        rows = [one.applications[k] for one in found.results.values()]
        for name in ("fnr", "fpr", "dcf"):
            mean = sum(getattr(row, name) for row in rows) / 3
            assert same(getattr(found.equalised.applications[k], name), mean, 1e-10), name
        assert found.equalised.applications[k].min_dcf <= found.equalised.applications[k].dcf + 1e-12


def test_a_condition_with_one_class_is_undefined_and_the_rest_goes_on():
    labels = np.r_[np.tile([1, 0], 20), np.ones(5, int)]
    groups = {"channel": ["phone"] * 40 + ["radio"] * 5}
    trials = tc.Trials.of_llr(np.linspace(-1, 1, 45), labels, groups=groups)
    found = by_condition(trials, "channel", APPS)
    assert list(found.results) == ["phone"]
    assert "no non-targets" in found.undefined["radio"]
    assert "undefined" in repr(found)
    assert found.equalised.input["trials"] == 40
    json.dumps(found.to_dict(), allow_nan=False)


def test_where_no_condition_has_both_classes_there_is_no_equalised_cost():
    trials = tc.Trials.of_llr([1.0, 2.0, -1.0, 0.0], [1, 1, 0, 0], groups={"site": list("aabb")})
    found = by_condition(trials, "site", APPS)
    assert found.equalised is None
    assert set(found.undefined) == {"a", "b"}
    json.dumps(found.to_dict(), allow_nan=False)


def test_three_classes_by_condition():
    trials = three_classes(speakers=2)
    found = by_condition(trials, "speaker", [tc.Application.multiclass([0.3, 0.3, 0.4])])
    risks = [one.applications[0].risk for one in found.results.values()]
    assert same(found.equalised.applications[0].risk, sum(risks) / 2, 1e-10)


@pytest.mark.parametrize(
    ("ci", "options"),
    [(95, {}), ("a", {}), (0.95, {"resamples": 5}), (0.95, {"seed": -1}), (0.95, {"method": "x"}), (0.95, {"by": "x"})],
)
def test_wrong_options_are_refused_and_no_reason_of_one_condition(ci, options):
    with pytest.raises(tc.InputError):
        by_condition(gaussian(sites=2), "site", APPS, ci=ci, **options)


def test_conditions_carry_intervals_of_their_own():
    found = by_condition(gaussian(100, 150, sites=3), "site", APPS, ci=0.95)
    for one in (*found.results.values(), found.pooled, found.equalised):
        bound = one.intervals["applications.0.dcf"]
        assert bound.low < bound.value < bound.high
    assert "dcf_ci" in found.to_dict()["equalised"]["applications"][0]


def test_an_unknown_column_is_refused():
    with pytest.raises(tc.InputError, match="'site'"):
        by_condition(gaussian(sites=2), "gender", APPS)


def test_the_needed_trials_give_the_wanted_half_width():
    found = sample_size(0.05, 0.02, (0.1, 1, 1), 0.1)
    app = tc.Application(0.1)
    spread = app.dcf(fnr=math.sqrt(0.05 * 0.95 / found.targets), fpr=0) ** 2
    spread += app.dcf(fnr=0, fpr=math.sqrt(0.02 * 0.98 / found.nontargets)) ** 2
    assert 1.959964 * math.sqrt(spread) <= 0.1
    assert sample_size(0.1, 0.1, 0.5, 0.02).targets == sample_size(0.1, 0.1, 0.5, 0.02).nontargets


def test_the_longer_arm_is_reached_with_the_assurance_asked_for():
    """Simulated: 0.80 here; a design effect multiplies the trials."""
    found = sample_size(0.1, 0.1, 0.5, 0.05)
    rng = np.random.default_rng(0)
    fnr, fpr = (rng.binomial(size, 0.1, 2000) / size for size in (found.targets, found.nontargets))
    cost = Sum((Proportion(fnr, found.targets), Proportion(fpr, found.nontargets)), (1.0, 1.0))
    low, high = cost.limits(0.95)
    assert 0.75 < (np.maximum(high - cost.value, cost.value - low) <= 0.05).mean() < 0.88
    assert sample_size(0.1, 0.1, 0.5, 0.05, design_effect=2.0).targets == pytest.approx(2 * found.targets, abs=1)


def test_no_fewer_than_thirty_errors_are_asked_for():
    found = sample_size(0.01, 0.01, 0.5, 0.9)
    assert (found.targets, found.targets_for) == (3000, "rule of 30")


@pytest.mark.parametrize(
    ("fnr", "fpr", "half"), [(0.0, 0.1, 0.1), (0.1, 1.0, 0.1), (0.1, 0.1, 0.0), (0.1, 0.1, math.nan)]
)
def test_needed_refuses_rates_that_are_none(fnr, fpr, half):
    with pytest.raises(tc.InputError):
        sample_size(fnr, fpr, 0.5, half)


def test_numbers_with_too_few_errors_carry_a_warning():
    trials = gaussian(2000, 2000)
    assert too_few_errors(tc.evaluate(trials, [(0.5, 1, 1)])) == ()
    warnings = too_few_errors(tc.evaluate(trials, [(0.5, 1, 1), (0.001, 1, 1)]))
    assert len(warnings) == 1
    assert warnings[0].startswith("applications.1: ")
    assert "false alarms" in warnings[0]
    many = too_few_errors(tc.evaluate(three_classes(), [tc.Application.multiclass([0.3, 0.3, 0.4])]))
    assert "errors, fewer than 30" in many[0]
    raw = tc.Trials.of_scores(trials.scores, trials.labels)
    assert too_few_errors(tc.evaluate(raw, [(0.5, 1, 1)])) == ()


def test_a_condition_with_one_class_has_the_rates_that_exist():
    sites = list("aaaabb") + list("ccc")
    trials = tc.Trials.of_llr(
        [1.0, -1.0, 1.0, -3.0, 1.0, -2.0, 2.0, -1.0, -2.0], [1, 1, 0, 0, 1, 1, 0, 0, 0], groups={"site": sites}
    )
    found = by_condition(trials, "site", [(0.5, 1, 1)], ci=0.95)
    only_targets, only_nontargets = found.rates["b"][0], found.rates["c"][0]
    assert (only_targets.fnr, only_targets.fpr) == (0.5, None)
    assert (only_nontargets.fnr, only_nontargets.fpr) == (None, 1 / 3)
    assert only_nontargets.interval == tc.clopper_pearson(1, 3, 0.95)
    rows = {row["value"]: row for row in found.to_dict()["rows"]}
    assert rows["b"]["applications"][0]["fnr"] == 0.5
    assert rows["b"]["applications"][0]["dcf"] is None
    assert rows["b"]["applications"][0]["reasons"]["dcf"] == "there are no non-targets among the trials"
    assert rows["c"]["applications"][0]["fpr_ci"] == list(only_nontargets.interval[:2])
    raw = by_condition(tc.Trials.of_scores(trials.scores, trials.labels, groups={"site": sites}), "site", [0.5])
    assert raw.rates["b"] == ()
