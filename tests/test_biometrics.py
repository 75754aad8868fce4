"""Biometric error rates against slow references in whole numbers and fractions."""

import json
import math
from fractions import Fraction

import numpy as np
import pytest

import tercet as tc
from tercet import biometrics

SETS = 1000


def random_set(rng, most=12):
    """Few scores with many ties, both classes there."""
    size = int(rng.integers(2, most))
    labels = rng.random(size) < 0.5
    labels[:2] = True, False
    scores = rng.integers(-3, 4, size).astype(float)
    scores[rng.random(size) < 0.05] = math.inf
    scores[rng.random(size) < 0.05] = -math.inf
    return scores, labels


def share(scores, chosen, accepted):
    """The share of the chosen rows that are accepted."""
    rows = [score for score, kept in zip(scores.tolist(), chosen.tolist(), strict=True) if kept]
    return Fraction(sum(1 for score in rows if accepted(score)), len(rows))


def lowest(scores, chosen, bound):
    """The lowest of -inf (accept all) and the scores at which the share above it does not exceed the bound."""
    for threshold in sorted(set(scores.tolist())):
        if share(scores, chosen, lambda score, cut=threshold: score > cut) <= bound:
            return threshold
    raise AssertionError("rejecting everything keeps every bound")


def test_fnmr_at_fmr_is_the_reference_on_random_sets():
    rng = np.random.default_rng(0)
    for _ in range(SETS):
        scores, labels = random_set(rng)
        impostors = int((~labels).sum())
        wanted = Fraction(int(rng.integers(1, 40)), 40)
        if wanted == 1:
            continue
        row = biometrics.fnmr_at_fmr(tc.Trials.of_scores(scores, labels), [float(wanted)])[0]
        if wanted < Fraction(1, impostors):
            assert (row.threshold, row.fmr, row.fnmr) == (None, None, None)
            assert row.reason.startswith(f"not measurable with {impostors} impostor")
            continue
        threshold = lowest(scores, ~labels, wanted)
        assert row.threshold == threshold
        assert row.fmr.value == float(share(scores, ~labels, lambda score, cut=threshold: score > cut))
        assert row.fnmr.value == float(share(scores, labels, lambda score, cut=threshold: score <= cut))
        assert row.fnmr.interval.low <= row.fnmr.value <= row.fnmr.interval.high


def test_rates_of_a_threshold_are_the_reference_on_random_sets():
    rng = np.random.default_rng(1)
    for _ in range(SETS):
        scores, labels = random_set(rng)
        cut, fta = float(rng.integers(-4, 5)), Fraction(int(rng.integers(0, 8)), 8)
        fmr = share(scores, ~labels, lambda score, cut=cut: score > cut)
        fnmr = share(scores, labels, lambda score, cut=cut: score <= cut)
        found = biometrics.verification_rates(tc.Trials.of_scores(scores, labels), cut, failure_to_acquire=float(fta))
        far, frr = fmr * (1 - fta), fta + fnmr * (1 - fta)
        expected = [float(value) for value in (fmr, fnmr, far, frr, 1 - frr, (far + frr) / 2)]
        values = [found.fmr.value, found.fnmr.value, found.far, found.frr, found.gar, found.hter]
        assert values == pytest.approx(expected, rel=1e-15, abs=1e-15)


def presented(rng):
    scores, labels = random_set(rng, 16)
    kinds = np.array(["mask", "print", "video"])[rng.integers(0, 3, len(labels))]
    return scores, labels, kinds


def test_presentation_attacks_are_the_reference_on_random_sets():
    rng = np.random.default_rng(2)
    for _ in range(SETS):
        scores, labels, kinds = presented(rng)
        cut = float(rng.integers(-4, 5))
        trials = tc.Trials.of_scores(scores, labels, groups={"pai": np.where(labels, "-", kinds)})
        found = biometrics.presentation_attacks(trials, threshold=cut)
        own = {kind: ~labels & (kinds == kind) for kind in sorted(set(kinds[~labels].tolist()))}
        apcer = {kind: share(scores, rows, lambda score, cut=cut: score > cut) for kind, rows in own.items()}
        assert {row.species: row.apcer.value for row in found.species} == {k: float(v) for k, v in apcer.items()}
        bpcer = share(scores, labels, lambda score, cut=cut: score <= cut)
        assert found.worst.apcer.value == float(max(apcer.values()))
        assert found.bpcer.value == float(bpcer)
        assert found.acer == pytest.approx(float((max(apcer.values()) + bpcer) / 2), rel=1e-15)
        for key, times in (("bpcer10", 10), ("bpcer20", 20), ("bpcer100", 100)):
            least = reference_bpcer(scores, labels, own, Fraction(1, times))
            assert getattr(found, key).bpcer.value == float(least), key


def reference_bpcer(scores, labels, own, bound):
    """The least BPCER over all thresholds at which no species' APCER exceeds the bound."""
    kept = [
        cut
        for cut in [-math.inf, *scores.tolist(), math.inf]
        if all(share(scores, rows, lambda score, cut=cut: score > cut) <= bound for rows in own.values())
    ]
    return min(share(scores, labels, lambda score, cut=cut: score <= cut) for cut in kept)


def test_a_threshold_chosen_on_development_data_is_judged_on_evaluation_data():
    development = tc.Trials.of_scores([1.0, 2.0, 3.0, 4.0, 9.0], [0, 0, 0, 0, 1])
    evaluation = tc.Trials.of_scores([3.5, 3.5, 5.0, 0.0], [0, 1, 1, 0])
    row = biometrics.fnmr_at_fmr(evaluation, [0.25], development=development)[0]
    assert (row.threshold, row.fmr.value, row.fnmr.value) == (3.0, 0.5, 0.0)
    with pytest.raises(tc.InputError, match="same meaning"):
        biometrics.fnmr_at_fmr(evaluation, [0.25], development=tc.Trials.of_llr([1.0, 2.0], [0, 1]))


def test_an_fmr_below_one_impostor_is_refused_with_counts_where_one_number_is_asked():
    trials = tc.Trials.of_scores([1.0, 2.0, 3.0], [0, 0, 1])
    with pytest.raises(tc.UndefinedError, match=r"FMR of 0.1 is not measurable with 2 impostor comparisons"):
        biometrics.threshold_at_fmr(trials, 0.1)


@pytest.mark.parametrize("bad", [0.0, 1.0, -0.1, math.nan, "x", [0.5, None]])
def test_a_requested_fmr_that_is_no_rate_is_refused(bad):
    with pytest.raises(tc.InputError, match="fmr"):
        biometrics.fnmr_at_fmr(tc.Trials.of_scores([1.0, 2.0], [0, 1]), bad)


def test_groups_widen_the_interval_and_keep_the_rates():
    rng = np.random.default_rng(3)
    people = np.repeat(np.arange(20), 20)
    labels = np.tile(np.arange(20) % 2, 20)
    scores = rng.normal(size=400) + 2 * labels + np.repeat(rng.normal(size=20), 20)
    trials = tc.Trials.of_scores(scores, labels, groups={"person": people})
    alone, grouped = (biometrics.fnmr_at_fmr(trials, [0.1], by=by)[0] for by in (None, "person"))
    assert alone.fnmr[:3] == grouped.fnmr[:3]
    widths = [row.fnmr.interval.high - row.fnmr.interval.low for row in (alone, grouped)]
    assert widths[1] > widths[0]


def test_a_condition_of_one_class_has_the_rate_of_that_class():
    trials = tc.Trials.of_scores([1.0, 2.0, 3.0], [0, 0, 1], groups={"site": ["a", "a", "b"]})
    found = biometrics.rates_by(trials, "site", 1.5)
    assert (found["a"].fmr.value, found["a"].fnmr, found["a"].hter) == (0.5, None, None)
    assert (found["b"].fnmr.value, found["b"].fmr) == (0.0, None)
    assert json.loads(json.dumps(found["a"].to_dict()))["reasons"] == {"fnmr": "there are no genuine comparisons"}


def test_fractional_weights_have_no_interval():
    trials = tc.Trials.of_scores([1.0, 2.0, 3.0], [0, 0, 1], weights=[0.5, 1.25, 1.0])
    assert biometrics.verification_rates(trials, 1.5).fmr.interval is None
    assert biometrics.verification_rates(trials, 1.5).fmr.value == 1.25 / 1.75


def test_species_in_two_cases_are_refused_with_their_counts():
    trials = tc.Trials.of_scores([5.0, 1.0, 2.0, 3.0], [1, 0, 0, 0], groups={"pai": ["", "Print", "print", "print"]})
    with pytest.raises(tc.InputError, match=r"'Print' \(1 attacks\) and 'print' \(2 attacks\)"):
        biometrics.presentation_attacks(trials)


def test_an_attack_without_species_is_refused_by_row():
    trials = tc.Trials.of_scores([5.0, 1.0, 2.0], [1, 0, 0], groups={"pai": ["", "print", " "]})
    with pytest.raises(tc.InputError, match=r"1 of 2 attacks, the first in row 2"):
        biometrics.presentation_attacks(trials)


@pytest.mark.parametrize(("labels", "missing"), [([1, 1], "attacks"), ([0, 0], "bona fide")])
def test_attacks_and_bona_fide_presentations_must_both_be_there(labels, missing):
    trials = tc.Trials.of_scores([1.0, 2.0], labels, groups={"pai": ["a", "b"]})
    with pytest.raises(tc.UndefinedError, match=missing):
        biometrics.presentation_attacks(trials)


def test_an_unknown_column_names_the_known_ones():
    trials = tc.Trials.of_scores([1.0, 2.0], [0, 1], groups={"kind": ["a", "b"]})
    with pytest.raises(tc.InputError, match=r"'pai' is not among the groups of these trials .'kind'"):
        biometrics.presentation_attacks(trials)


def test_the_limits_of_the_worst_species_enclose_those_of_every_species():
    labels = [1] * 50 + [0] * 100
    scores = [1.0] * 50 + [1.0] * 5 + [-1.0] * 95
    kinds = [""] * 50 + ["a"] * 50 + ["b"] * 50
    found = biometrics.presentation_attacks(tc.Trials.of_scores(scores, labels, groups={"pai": kinds}), threshold=0.0)
    assert found.worst.species == "a"
    assert found.worst.limits.high == max(row.limits.high for row in found.species)
    one = tc.clopper_pearson(5, 50, 0.975)  # 5 of 50 at a level shared by two species
    assert found.species[0].limits[:2] == one[:2]
    assert found.species[0].apcer.interval[:2] == tc.clopper_pearson(5, 50)[:2]
    assert found.acer_limits.low < found.acer < found.acer_limits.high
    json.dumps(found.to_dict(), allow_nan=False)


def test_the_planner_keeps_its_promise():
    for rate in (0.3, 0.01, 1e-3, 1e-6):
        needed = biometrics.comparisons_needed(rate)
        assert (1 - Fraction(rate)) ** min(needed.without_errors, 400) <= 1
        assert (1 - rate) ** needed.without_errors <= 0.05 * (1 + 1e-9)
        assert (1 - rate) ** (needed.without_errors - 1) > 0.05 * (1 - 1e-9)
        assert needed.rule_of_30 == 10 * needed.rule_of_3


def test_a_confusion_knows_the_biometric_names():
    table = tc.Confusion([[90, 3], [10, 7]])
    assert (table.fmr, table.far, table.fnmr, table.frr, table.gar) == (0.1, 0.1, 0.3, 0.3, 0.7)
    assert tc.interval(table, "fnmr") == tc.interval(table, "fnr")


def persons(rng, count=60, each=6, shared=1.0):
    """Comparisons of persons whose scores share the person's own shift."""
    genuine = np.arange(count * each) % 2 == 0
    own = np.repeat(rng.normal(0.0, shared, count), each)
    scores = np.where(genuine, 2.0, 0.0) + own + rng.normal(size=count * each)
    groups = {"person": np.repeat(np.arange(count), each), "pai": np.where(genuine, "none", "mask")}
    return tc.Trials.of_scores(scores, genuine, groups=groups)


def test_intervals_over_persons_cover_in_every_table():
    rng, sets = np.random.default_rng(9), 300
    true = 0.5 * math.erfc(1.0 / math.sqrt(2.0 * 2.0))  # both FMR and FNMR at the threshold 1
    held = dict.fromkeys(("rates", "hter", "by", "attacks"), 0)
    for _ in range(sets):
        trials = persons(rng)
        whole = biometrics.verification_rates(trials, 1.0, by="person")
        one_class = biometrics.rates_by(trials, "pai", 1.0, by="person")["mask"]
        attacks = biometrics.presentation_attacks(trials, threshold=1.0, by="person")
        ends = (whole.fnmr.interval, whole.intervals["hter"], one_class.fmr.interval, attacks.species[0].apcer.interval)
        for name, own in zip(held, ends, strict=True):
            held[name] += own.low <= true <= own.high
    for name in ("rates", "by", "attacks"):
        assert 0.92 <= held[name] / sets <= 0.99
    assert held["hter"] / sets >= 0.92


def test_rates_of_transactions_have_the_intervals_of_their_comparisons():
    trials = tc.Trials.of_scores([9.0, 8.0, 3.0, 1.0, 2.0, 4.0, 5.0], [1, 1, 1, 0, 0, 0, 0])
    found = biometrics.verification_rates(trials, 4.5, failure_to_acquire=0.1)
    fmr, fnmr = found.fmr.interval, found.fnmr.interval
    assert found.intervals["far"].high == pytest.approx(0.9 * fmr.high)
    assert found.intervals["frr"].low == pytest.approx(0.1 + 0.9 * fnmr.low)
    assert found.intervals["gar"].high == pytest.approx(1.0 - found.intervals["frr"].low)
    reach = math.hypot(fmr.high - found.fmr.value, fnmr.high - found.fnmr.value)
    assert found.intervals["hter"].high == pytest.approx(found.hter + 0.45 * reach)
    assert set(found.to_dict()["intervals"]) == {"far", "frr", "gar", "hter"}


@pytest.mark.parametrize(
    ("rate", "level", "needed"),
    [(0.3, 0.51, 2), (0.99, 0.9999, 2), (0.5, 0.75, 2), (0.1, 0.271, 3), (0.9, 0.999999, 6)],
)
def test_a_claim_that_holds_with_equality_needs_no_further_comparison(rate, level, needed):
    assert biometrics.comparisons_needed(rate, ci=level).without_errors == needed
