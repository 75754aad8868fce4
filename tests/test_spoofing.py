"""Costs of three classes against slow references in fractions."""

import json
import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

import tercet as tc
from tercet import spoofing

SETS = 1000
POINT = spoofing.SpoofingPoint.of("asvspoof5")


def random_key(rng, most=14):
    size = int(rng.integers(3, most))
    kinds = np.array(spoofing._classes.CLASSES)[rng.integers(0, 3, size)]
    kinds[:3] = spoofing._classes.CLASSES
    scores = rng.integers(-3, 4, size).astype(float)
    scores[rng.random(size) < 0.05] = rng.choice([-math.inf, math.inf])
    return scores, kinds


def random_point(rng):
    shares = rng.integers(1, 9, 3)
    priors = [float(share / shares.sum()) for share in shares]
    return spoofing.SpoofingPoint(*priors, *(float(cost) for cost in rng.integers(1, 21, 3)))


def rates(scores, kinds, accepted):
    """Shares of rejected targets, accepted nontargets and accepted spoofs."""
    found = []
    for name in ("target", "nontarget", "spoof"):
        own = [accepted(score) for score, kind in zip(scores.tolist(), kinds.tolist(), strict=True) if kind == name]
        taken = Fraction(sum(own), len(own))
        found.append(1 - taken if name == "target" else taken)
    return found


def cost(point, found):
    parts = (
        Fraction(point.prior_target) * Fraction(point.cost_miss),
        Fraction(point.prior_nontarget) * Fraction(point.cost_nontarget),
        Fraction(point.prior_spoof) * Fraction(point.cost_spoof),
    )
    total = sum(part * rate for part, rate in zip(parts, found, strict=True))
    return total / min(parts[0], parts[1] + parts[2])


def rules(scores):
    """Accept everything, and everything above each score."""
    return [lambda score: True, *(lambda score, cut=cut: score > cut for cut in sorted(set(scores.tolist())))]


def test_the_minimum_a_dcf_is_the_least_over_all_thresholds_on_random_keys():
    rng = np.random.default_rng(0)
    for _ in range(SETS):
        scores, kinds = random_key(rng)
        point = random_point(rng)
        found = spoofing.a_dcf(spoofing.of_key(scores, kinds), point)
        least = min(cost(point, rates(scores, kinds, rule)) for rule in rules(scores))
        assert found.minimum == pytest.approx(float(least), rel=1e-14, abs=1e-15)
        assert found.actual is None
        assert "threshold in use" in found.reason


def test_the_actual_a_dcf_is_the_reference_on_random_keys():
    rng = np.random.default_rng(1)
    for _ in range(SETS):
        scores, kinds = random_key(rng)
        point, cut = random_point(rng), float(rng.integers(-4, 5))
        found = spoofing.a_dcf(spoofing.of_key(scores, kinds), point, threshold=cut)
        expected = rates(scores, kinds, lambda score, cut=cut: score > cut)
        assert (found.miss, found.nontarget, found.spoof) == tuple(map(float, expected))
        assert found.actual == pytest.approx(float(cost(point, expected)), rel=1e-14, abs=1e-15)
        assert found.minimum <= found.actual * (1 + 1e-14)


def test_the_minimum_a_dcf_is_the_two_class_minimum_with_weights():
    """Law 57: weights prior x cost / class size on the negatives, in plain floats."""
    rng = np.random.default_rng(2)
    for _ in range(SETS):
        scores, kinds = random_key(rng)
        point = random_point(rng)
        sizes = {name: int((kinds == name).sum()) for name in set(kinds.tolist())}
        weights = np.ones(len(kinds))
        weights[kinds == "nontarget"] = point.prior_nontarget * point.cost_nontarget / sizes["nontarget"]
        weights[kinds == "spoof"] = point.prior_spoof * point.cost_spoof / sizes["spoof"]
        two = tc.Curve.of(tc.Trials.of_scores(scores, kinds == "target", weights=weights))
        app = tc.Application(0.5, point.cost_of_rejection, point.cost_of_acceptance)
        expected = two.min_dcf(app).dcf
        found = spoofing.a_dcf(spoofing.of_key(scores, kinds), point).minimum
        assert abs(found - expected) <= 16 * math.ulp(max(found, expected, 1e-3))


def test_without_spoofs_costs_of_three_classes_are_refused_with_counts():
    trials = tc.Trials.of_scores([1.0, 0.0], [1, 0], groups={"class": ["target", "nontarget"]})
    with pytest.raises(tc.UndefinedError, match=r"no spoof trials in this key .1 target, 1 nontarget, 0 spoof"):
        spoofing.a_dcf(trials)


def test_the_bayes_threshold_needs_llrs_and_is_that_of_the_mixture():
    raw = spoofing.of_key([1.0, 0.0, -1.0], ["target", "nontarget", "spoof"])
    with pytest.raises(tc.InputError, match="calibrate them first"):
        spoofing.a_dcf(raw, threshold="bayes")
    llr = spoofing.of_key([1.0, 0.0, -1.0], ["target", "nontarget", "spoof"], meaning="llr")
    found = spoofing.a_dcf(llr, threshold="bayes")
    assert found.threshold == pytest.approx(math.log(1.5 / 0.9))
    assert found.actual == 0.0  # 1.0 is above it, 0.0 below


def test_the_mixture_llr_decides_as_the_expected_costs_do():
    rng = np.random.default_rng(3)
    for _ in range(SETS):
        point = random_point(rng)
        target, nontarget, spoof = rng.integers(1, 50, 3).tolist()  # likelihoods
        llr = spoofing.mixture_llr([math.log(target / nontarget)], [math.log(target / spoof)], point)[0]
        accept = Fraction(point.prior_nontarget) * Fraction(point.cost_nontarget) * nontarget
        accept += Fraction(point.prior_spoof) * Fraction(point.cost_spoof) * spoof
        reject = Fraction(point.prior_target) * Fraction(point.cost_miss) * target
        if abs(accept / reject - 1) > 1e-12:
            assert (llr > point.threshold) == (accept < reject)


# t-DCF


def reference_t_dcf(scores, labels, asv, point, form):
    """The least normalised cost over all thresholds, and the coefficients."""
    exact = [Fraction(value) for value in (point.prior_target, point.prior_nontarget, point.prior_spoof)]
    miss, nontarget, spoof = (Fraction(value) for value in (point.cost_miss, point.cost_nontarget, point.cost_spoof))
    behind = exact[0] * miss * Fraction(asv.miss) + exact[1] * nontarget * Fraction(asv.false_alarm)
    c0, c1 = (behind if form == "2021" else 0), exact[0] * miss - behind
    c2 = exact[2] * spoof * Fraction(asv.spoof_false_alarm)
    if c1 < 0 or c2 == 0 or (form == "2019" and c1 == 0):
        return None
    costs = []
    for rule in rules(scores):
        taken = [[rule(s) for s, y in zip(scores.tolist(), labels.tolist(), strict=True) if y == own] for own in (1, 0)]
        misses, alarms = 1 - Fraction(sum(taken[0]), len(taken[0])), Fraction(sum(taken[1]), len(taken[1]))
        costs.append(c0 + c1 * misses + c2 * alarms)
    return min(costs), min(costs) / (c0 + min(c1, c2))


@pytest.mark.parametrize("form", ["2021", "2019"])
def test_the_minimum_t_dcf_is_the_least_over_all_thresholds_on_random_sets(form):
    rng = np.random.default_rng(4)
    refused = 0
    for _ in range(SETS):
        size = int(rng.integers(2, 12))
        labels = (rng.random(size) < 0.5).astype(int)
        labels[:2] = 1, 0
        scores = rng.integers(-3, 4, size).astype(float)
        point = random_point(rng)
        asv = spoofing.AsvRates(*(float(k) / 8 for k in rng.integers(0, 9, 3)))
        trials = tc.Trials.of_scores(scores, labels)
        expected = reference_t_dcf(scores, labels, asv, point, form)
        if expected is None:
            refused += 1
            with pytest.raises(tc.UndefinedError, match=r"c1 = |c2 = 0"):
                spoofing.t_dcf(trials, asv, point, form=form)
            continue
        found = spoofing.t_dcf(trials, asv, point, form=form)
        assert found.minimum_u == pytest.approx(float(expected[0]), rel=1e-13, abs=1e-15)
        assert found.minimum == pytest.approx(float(expected[1]), rel=1e-13, abs=1e-15)
        assert found.minimum <= 1 + 1e-14
    assert 0 < refused < SETS


def test_behind_a_verification_system_that_only_spoofs_fool_t_dcf_is_the_countermeasures_own_cost():
    rng = np.random.default_rng(5)
    for _ in range(100):
        labels = np.r_[1, 0, rng.integers(0, 2, 10)]
        scores = rng.normal(size=12) + labels
        trials = tc.Trials.of_scores(scores, labels)
        found = spoofing.t_dcf(trials, spoofing.AsvRates(0.0, 0.0, 1.0), POINT, threshold=0.3)
        table = tc.Curve.of(trials).confusion(0.3)
        expected = 0.9 * 1 * table.fnr + 0.05 * 20 * table.fpr
        assert found.actual_u == pytest.approx(expected, rel=1e-15)


def test_the_verification_threshold_is_that_of_the_equal_error_rate():
    rng = np.random.default_rng(6)
    kinds = np.repeat(["target", "nontarget", "spoof"], 40)
    scores = rng.normal(size=120) + np.repeat([2.0, 0.0, 1.0], 40)
    asv = spoofing.asv_rates(spoofing.of_key(scores, kinds))
    two = tc.Curve.of(tc.Trials.of_scores(scores[:80], np.repeat([1, 0], 40)))
    assert asv.threshold == two.eer("nearest").threshold
    assert asv.spoof_false_alarm == float(np.mean(scores[80:] > asv.threshold))


def test_tables_by_attack_keep_everything_but_the_other_attacks():
    kinds = ["target"] * 3 + ["nontarget"] * 3 + ["spoof"] * 4
    attacks = [""] * 6 + ["a", "a", "b", "b"]
    scores = [4.0, 3.0, 2.0, 0.0, 1.0, 2.5, 0.5, 3.5, 5.0, 6.0]
    trials = spoofing.of_key(scores, kinds, attacks=attacks)
    table = spoofing.a_dcf_by_attack(trials, threshold=2.2)
    only = spoofing.of_key(scores[:8], kinds[:8])
    assert table["a"].to_dict() == spoofing.a_dcf(only, threshold=2.2).to_dict()
    assert table["b"].spoof == 1.0
    front = tc.Trials.of_scores([3.0, 2.0, 1.0, 4.0], [1, 1, 0, 0], groups={"attack": ["", "", "a", "b"]})
    tandem = spoofing.t_dcf_by_attack(front, trials, asv_threshold=2.2)
    assert tandem["a"].asv.spoof_false_alarm == 0.5
    assert tandem["b"].asv.spoof_false_alarm == 1.0
    assert spoofing.t_dcf_by_attack(front, trials, asv_threshold=3.7)["a"].startswith("t-DCF is undefined: c2 = 0")


# t-EER


def reference_t_eer(asv_scores, kinds, cm_scores, labels, prevalence):
    """The definition, pair by pair, in fractions."""
    share = Fraction(1, 2) if prevalence is None else Fraction(prevalence)
    front = []
    for rule in rules(cm_scores):
        taken = [
            [rule(s) for s, y in zip(cm_scores.tolist(), labels.tolist(), strict=True) if y == own] for own in (1, 0)
        ]
        front.append((1 - Fraction(sum(taken[0]), len(taken[0])), Fraction(sum(taken[1]), len(taken[1]))))
    best = None
    for rule in rules(asv_scores):
        miss, nontarget, spoof = rates(asv_scores, kinds, rule)
        rows = [(m + (1 - m) * miss, (1 - m) * nontarget, a * spoof) for m, a in front]
        gaps = [row[0] - ((1 - share) * row[1] + share * row[2]) for row in rows]
        crossing = next((place for place, gap in enumerate(gaps) if gap >= 0), len(rows) - 1)
        own = None
        for place in (max(crossing - 1, 0), crossing):
            row = rows[place]
            if prevalence is None:
                candidate = (max(row) - min(row), (max(row) + min(row)) / 2)
            else:
                candidate = (abs(gaps[place]), (row[0] + (1 - share) * row[1] + share * row[2]) / 2)
            if own is None or candidate[0] < own[0]:
                own = candidate
            if prevalence is None and (best is None or candidate[0] < best[0]):
                best = candidate
        if prevalence is not None and (best is None or own[1] < best[1]):
            best = own
    return best


@pytest.mark.parametrize("prevalence", [None, 0.0, 0.25, 1.0])
def test_the_t_eer_is_the_reference_on_random_sets(prevalence):
    rng = np.random.default_rng(7 if prevalence is None else int(100 * prevalence))
    for _ in range(SETS // 4):  # other sets for each prevalence: 1,000 in all
        scores, kinds = random_key(rng, 10)
        size = int(rng.integers(2, 9))
        labels = (rng.random(size) < 0.5).astype(int)
        labels[:2] = 1, 0
        front = rng.integers(-3, 4, size).astype(float)
        found = spoofing.t_eer(
            spoofing.of_key(scores, kinds), tc.Trials.of_scores(front, labels), prevalence=prevalence
        )
        gap, value = reference_t_eer(scores, kinds, front, labels, prevalence)
        if prevalence is None:
            three = (found.miss, found.nontarget, found.spoof)
            assert max(three) - min(three) == pytest.approx(float(gap), abs=1e-12)
        else:
            assert found.value == pytest.approx(float(value), abs=1e-12)


def test_a_large_overlap_free_tandem_has_no_equal_error():
    asv = spoofing.of_key([5.0, 4.0, 0.0, 1.0, 4.5], ["target", "target", "nontarget", "nontarget", "spoof"])
    found = spoofing.t_eer(asv, tc.Trials.of_scores([2.0, 3.0, 0.0, 1.0], [1, 1, 0, 0]))
    assert (found.value, found.miss, found.nontarget, found.spoof) == (0.0, 0.0, 0.0, 0.0)
    assert json.loads(json.dumps(found.to_dict()))["value"] == 0.0


# Bad input


@pytest.mark.parametrize(
    ("six", "words"),
    [
        ((0.5, 0.25, 0.2, 1, 1, 1), "sum to 1"),
        ((0.5, 0.25, 0.25, 0, 1, 1), "cost_miss must be positive"),
        ((1.0, 0.0, 0.0, 1, 1, 1), "prior_target"),
        ((0.5, 0.5), "six numbers"),
        ("asvspoof4", "Known: asvspoof2019"),
    ],
)
def test_points_that_make_no_sense_are_refused(six, words):
    with pytest.raises(tc.InputError, match=words):
        spoofing.SpoofingPoint.of(six)


def test_a_key_with_another_word_is_refused_with_counts():
    with pytest.raises(tc.InputError, match=r"key holds 'bonafide', .* 1 of 3"):
        spoofing.of_key([1.0, 2.0, 3.0], ["target", "bonafide", "spoof"])
    trials = tc.Trials.of_scores([1.0, 2.0], [1, 0], groups={"class": ["target", "attack"]})
    with pytest.raises(tc.InputError, match=r"'attack' in 1 of 2 trials, the first in row 1"):
        spoofing.a_dcf(trials)


def test_a_key_that_disagrees_with_the_labels_is_refused():
    trials = tc.Trials.of_scores([1.0, 2.0, 3.0], [0, 0, 1], groups={"class": ["target", "nontarget", "spoof"]})
    with pytest.raises(tc.InputError, match="disagree"):
        spoofing.a_dcf(trials)


def test_other_names_of_the_classes_can_be_given():
    trials = spoofing.of_key([3.0, 2.0, 1.0], [1, 0, -1], classes=(1, 0, -1))
    assert spoofing.a_dcf(trials).minimum == 0.0


def test_intervals_enclose_the_costs():
    rng = np.random.default_rng(8)
    kinds = np.repeat(["target", "nontarget", "spoof"], 60)
    scores = rng.normal(size=180) + np.repeat([2.0, 0.0, 1.0], 60)
    found = spoofing.a_dcf(spoofing.of_key(scores, kinds), threshold=1.0, ci=0.9, resamples=100)
    assert found.minimum_interval.low <= found.minimum <= found.minimum_interval.high * 1.5
    assert found.actual_interval.low <= found.actual <= found.actual_interval.high
    json.dumps(found.to_dict(), allow_nan=False)


def test_named_points_have_their_sources():
    assert set(spoofing.SpoofingPoint.names()) == {"asvspoof2019", "asvspoof2021", "asvspoof5", "asvspoof5-tandem"}
    for name in spoofing.SpoofingPoint.names():
        assert spoofing.SpoofingPoint.of(name).name == name


def tandem(seed, count=240):
    """Verification scores with three classes and countermeasure scores, both with speakers."""
    rng = np.random.default_rng(seed)
    kinds = np.array(["target", "nontarget", "spoof"])[np.arange(count) % 3]
    speakers = np.array([f"s{k // 12}" for k in range(count)])
    shift = np.select([kinds == "target", kinds == "spoof"], [3.0, 1.5], 0.0)
    asv = spoofing.of_key(rng.normal(size=count) + shift, kinds)
    asv = replace(asv, groups={**asv.groups, "speaker": speakers})
    genuine = kinds != "spoof"
    cm = tc.Trials.of_scores(rng.normal(size=count) + 2.0 * genuine, genuine, groups={"speaker": speakers})
    return asv, cm


@pytest.mark.parametrize("by", [None, "speaker"])
def test_intervals_of_tandem_costs_resample_both_sets(by):
    asv, cm = tandem(3)
    draws = {"ci": 0.9, "resamples": 60, "by": by, "seed": 4}
    found = spoofing.t_dcf(cm, asv, threshold=1.0, **draws)
    again = spoofing.t_dcf(cm, asv, threshold=1.0, **draws)
    assert found.actual_interval == again.actual_interval
    assert found.actual_interval.low <= found.actual <= found.actual_interval.high
    fixed = spoofing.t_dcf(cm, found.asv, threshold=1.0, **draws)
    width = found.actual_interval.high - found.actual_interval.low
    assert width > fixed.actual_interval.high - fixed.actual_interval.low > 0.0  # error rates held fixed vary less
    rate = spoofing.t_eer(asv, cm, **draws)
    assert rate.interval.low <= rate.value <= rate.interval.high
    assert rate.value == spoofing.t_eer(asv, cm).value


def test_an_interval_is_refused_where_the_cost_is_often_undefined():
    asv, cm = tandem(3, 60)
    with pytest.raises(tc.UndefinedError, match="resamples, too many"):
        spoofing.t_dcf(cm, asv, asv_threshold=3.4, ci=0.9, resamples=40)


def test_an_attack_has_the_interval_of_its_own_trials():
    key = ["target"] * 40 + ["nontarget"] * 40 + ["spoof"] * 40
    attacks = [""] * 80 + ["tts", "vc"] * 20
    scores = np.random.default_rng(1).normal(np.repeat([3.0, 0.0, 1.5], 40))
    trials, draws = spoofing.of_key(scores, key, attacks=attacks), {"ci": 0.9, "resamples": 60, "seed": 5}
    found = spoofing.a_dcf_by_attack(trials, threshold=1.0, **draws)["tts"]
    alone = spoofing.a_dcf(trials.select([kind != "vc" for kind in attacks]), threshold=1.0, **draws)
    assert found.minimum_interval == alone.minimum_interval
    assert found.actual_interval == alone.actual_interval


def test_the_tandem_curve_passes_through_its_minimum_and_the_actual_cost():
    rng = np.random.default_rng(2)
    labels = np.arange(60) % 2 == 0
    front = tc.Trials.of_scores(np.round(rng.normal(2.0 * labels), 1), labels, name="cm")
    for form in ("2021", "2019"):
        found = spoofing.t_dcf(front, spoofing.AsvRates(0.05, 0.02, 0.4), form=form, threshold=1.0)
        curve = spoofing.t_dcf_curve(front, found)
        assert curve.cost.min() == pytest.approx(found.minimum, abs=1e-12)
        assert curve.cost[curve.threshold == found.min_threshold] == pytest.approx(found.minimum)
        assert curve.cost[curve.threshold <= 1.0][-1] == pytest.approx(found.actual)
        assert curve.floor == pytest.approx(found.c0 / found.normaliser)
    data = tc.plot(curve, "t-dcf").data
    assert {"t-DCF", "minimum", "actual"} <= set(data["series"].tolist())
    with pytest.raises(tc.InputError, match="found"):
        spoofing.t_dcf_curve(front, 0.3)


def test_the_agnostic_curve_is_the_cost_at_every_threshold():
    rng = np.random.default_rng(3)
    for _ in range(200):
        scores, kinds = random_key(rng)
        if not np.isfinite(scores).any():
            continue
        point, trials = random_point(rng), spoofing.of_key(scores, kinds)
        curve = spoofing.a_dcf_curve(trials, spoofing.a_dcf(trials, point))
        expected = [cost(point, rates(scores, kinds, lambda score, cut=cut: score > cut)) for cut in curve.threshold]
        assert curve.cost.tolist() == pytest.approx([float(one) for one in expected], rel=1e-13, abs=1e-15)
        assert set(curve.threshold.tolist()) == {score for score in scores.tolist() if math.isfinite(score)}
    with pytest.raises(tc.InputError, match="found"):
        spoofing.a_dcf_curve(trials, 0.3)


def slow_equal_rate(scores, kinds, genuine, fake, cut, share):
    """The tandem equal error rate at one verification threshold, by trying every countermeasure threshold."""
    miss, nontarget, spoof = rates(scores, kinds, lambda score: score > cut)
    pairs = []
    for front in [None, *sorted({*genuine, *fake})]:
        passed = [Fraction(sum(front is None or one > front for one in side), len(side)) for side in (genuine, fake)]
        misses = 1 - passed[0] + passed[0] * miss
        alarms = (1 - share) * passed[0] * nontarget + share * passed[1] * spoof
        pairs.append((misses - alarms, (misses + alarms) / 2))
    above = next((place for place, (gap, _) in enumerate(pairs) if gap >= 0), len(pairs) - 1)
    return min((pairs[max(above - 1, 0)], pairs[above]), key=lambda pair: abs(pair[0]))[1]


def test_the_curve_of_the_tandem_equal_error_rate_is_the_slow_one():
    rng = np.random.default_rng(12)
    for _ in range(60):
        scores, kinds = random_key(rng)
        genuine, fake = ((rng.integers(-3, 4, rng.integers(1, 9)) / 2).tolist() for _ in range(2))
        front = tc.Trials.of_scores([*genuine, *fake], [True] * len(genuine) + [False] * len(fake))
        asv = spoofing.of_key(scores, kinds)
        if not np.isfinite(scores).any():
            continue
        for share in (None, 0.0, 0.25):
            found = spoofing.t_eer(asv, front, prevalence=share)
            curve = spoofing.t_eer_curve(asv, front, found)
            assert curve.prevalence.tolist() == ([0.0, 0.5, 1.0] if share is None else [share])
            assert set(curve.threshold.tolist()) == {score for score in scores.tolist() if math.isfinite(score)}
            for line, own in zip(curve.rate, curve.prevalence.tolist(), strict=True):
                slow = [slow_equal_rate(scores, kinds, genuine, fake, cut, Fraction(own)) for cut in curve.threshold]
                assert line.tolist() == pytest.approx([float(one) for one in slow], abs=1e-12)
            if share is not None and math.isfinite(found.asv_threshold):
                assert found.value == pytest.approx(curve.rate.min(), abs=1e-12)
    with pytest.raises(tc.InputError, match="found"):
        spoofing.t_eer_curve(asv, front, 0.3)


def test_the_figure_of_the_tandem_equal_error_rate_marks_it_with_its_interval():
    asv, cm = tandem(3)
    found = spoofing.t_eer(asv, cm, ci=0.9, resamples=39)
    data = tc.plot(spoofing.t_eer_curve(asv, cm, found), "t-eer").data
    marked = data["series"] == "t-EER"
    assert (data["x"][marked].item(), data["y"][marked].item()) == (found.asv_threshold, found.value)
    assert data["y"][data["series"] == "interval"].tolist() == [found.interval.low, found.interval.high]
    at = {
        share: data["y"][(data["series"] == share) & (data["x"] == found.asv_threshold)] for share in ("0", "0.5", "1")
    }
    assert all(rate == pytest.approx(found.value, abs=0.02) for rate in at.values())  # the lines meet there


def test_with_misses_free_the_lowest_of_the_best_thresholds_is_taken():
    front = tc.Trials.of_scores([3.0, 2.0, 0.0, 1.0, 0.5], [1, 1, 1, 0, 0])
    found = spoofing.t_dcf(front, spoofing.AsvRates(1.0, 0.0, 0.4))  # c1 = 0: verification rejects every target
    assert (found.c1, found.minimum, found.min_threshold) == (0.0, 1.0, 1.0)


def test_a_curve_is_drawn_as_what_it_is():
    asv, cm = tandem(3)
    curve = spoofing.a_dcf_curve(asv, spoofing.a_dcf(asv))
    with pytest.raises(tc.InputError, match='This curve is an a-DCF: draw it as "a-dcf"'):
        tc.plot(curve, "t-dcf")
    assert spoofing.t_dcf_curve(cm, spoofing.t_dcf(cm, asv)).measure == "t-DCF"


def test_scores_that_are_all_infinite_have_no_curve():
    front = tc.Trials.of_scores([math.inf, -math.inf], [1, 0])
    found = spoofing.t_dcf(front, spoofing.AsvRates(0.02, 0.02, 0.4))
    asv = spoofing.of_key([math.inf, -math.inf, -math.inf], ["target", "nontarget", "spoof"])
    for draw in (
        lambda: spoofing.t_dcf_curve(front, found),
        lambda: spoofing.t_eer_curve(asv, front, spoofing.t_eer(asv, front)),
    ):
        with pytest.raises(tc.UndefinedError, match="Every score is infinite"):
            draw()


def test_a_curve_of_one_threshold_that_costs_too_much_is_drawn():
    front = tc.Trials.of_scores([1.0, 1.0, 1.0], [1, 1, 0])
    found = spoofing.t_dcf(front, spoofing.AsvRates(0.02, 0.02, 0.4))
    low, high = tc.plot(spoofing.t_dcf_curve(front, found), "t-dcf").ax_.get_xlim()
    assert low < 1.0 < high


def test_every_attack_has_its_own_perfect_countermeasure():
    front = tc.Trials.of_scores([3.0, 2.0, 1.0, 2.5], [1, 1, 0, 0])
    curves = {
        name: spoofing.t_dcf_curve(front, spoofing.t_dcf(front, spoofing.AsvRates(0.02, 0.02, share)))
        for name, share in (("tts", 0.2), ("vc", 0.8))
    }
    data = tc.plot(curves, "t-dcf").data
    floors = data["y"][data["series"] == "perfect countermeasure"]
    assert sorted(set(floors.tolist())) == sorted(curve.floor for curve in curves.values())


def test_a_verification_system_may_accept_scores_of_minus_infinity():
    asv = spoofing.of_key([-math.inf, -math.inf, -math.inf], ["target", "nontarget", "spoof"])
    found = spoofing.t_eer(asv, tc.Trials.of_scores([1.0, 0.0], [1, 0]), prevalence=1.0)
    assert (found.value, found.miss, found.spoof) == (0.0, 0.0, 0.0)  # the countermeasure alone tells spoofs apart
