"""Net benefit: the identity with the detection cost, a reference by counting, ties, and what is refused."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tercet as tc

TIED_LLRS = [-2.0, -1.0, -0.5, 0.0, 0.25, 0.5, 1.0, 3.0, -math.inf, math.inf]


@st.composite
def tied_trials(draw):
    size = draw(st.integers(2, 30))
    labels = [1, 0, *draw(st.lists(st.integers(0, 1), min_size=size - 2, max_size=size - 2))]
    llrs = draw(st.lists(st.sampled_from(TIED_LLRS), min_size=size, max_size=size))
    weights = draw(st.none() | st.lists(st.integers(1, 3).map(float), min_size=size, max_size=size))
    return llrs, labels, weights


thresholds = st.floats(0.01, 0.99)
prevalences = st.none() | st.floats(0.01, 0.99)


def counted(scores, labels, weights, cut, odds, prevalence):
    """Net benefit from the definition: true and false positives counted one by one."""
    weights = weights or [1.0] * len(labels)
    rows = list(zip(scores, labels, map(Fraction, weights), strict=True))
    size = {kind: sum(w for _, y, w in rows if y == kind) for kind in (0, 1)}
    found = {kind: sum(w for s, y, w in rows if y == kind and s > cut) for kind in (0, 1)}
    share = size[1] / (size[0] + size[1]) if prevalence is None else Fraction(prevalence)
    return float(share * found[1] / size[1] - (1 - share) * found[0] / size[0] * Fraction(odds))


@settings(max_examples=1000)
@given(tied_trials(), thresholds, prevalences)
def test_net_benefit_is_prevalence_minus_the_cost_over_one_minus_t(data, t, prevalence):
    llrs, labels, weights = data
    trials = tc.Trials.of_llr(llrs, labels, weights=weights)
    share = np.average(labels, weights=weights) if prevalence is None else prevalence
    found = tc.net_benefit(trials, t, prevalence=prevalence)
    cost = tc.evaluate(trials, [(share, 1.0 - t, t)]).applications[0].dcf_u
    assert found == pytest.approx(share - cost / (1.0 - t), abs=1e-12, rel=1e-12)
    cut = tc.Application(float(share), 1.0 - t, t).threshold
    assert found == pytest.approx(counted(llrs, labels, weights, cut, t / (1.0 - t), prevalence), abs=1e-12, rel=1e-12)


@settings(max_examples=300)
@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), max_size=30), st.integers(1, 19))
def test_posteriors_made_at_the_prevalence_are_compared_themselves(rows, step):
    rows = [(7, True), (3, False), *rows]
    scores, labels = [place / 20 for place, _ in rows], [int(y) for _, y in rows]
    share, t = sum(labels) / len(labels), step / 20
    one = tc.Trials.of_posteriors(scores, labels, trained_prior=share)
    two = tc.Trials.of_posteriors(
        np.column_stack((1.0 - np.array(scores), scores)), labels, trained_prior=[1.0 - share, share],
        orientation="samples x classes",
    )  # fmt: skip
    expected = counted(scores, labels, None, t, t / (1.0 - t), None)
    assert tc.net_benefit(one, t) == pytest.approx(expected, abs=1e-12, rel=1e-12)
    if two.trained_prior[1] == share:
        assert tc.net_benefit(two, t) == tc.net_benefit(one, t)


def test_a_probability_equal_to_the_threshold_is_rejected():
    trials = tc.Trials.of_posteriors([0.3, 0.1], [1, 0], trained_prior=0.5)
    assert tc.net_benefit(trials, 0.3) == 0.0
    assert tc.net_benefit(trials, 0.29) == 0.5


@given(tied_trials(), st.lists(thresholds, min_size=1, max_size=5), prevalences)
def test_the_best_is_above_the_system_treating_all_and_treating_none(data, grid, prevalence):
    llrs, labels, weights = data
    found = tc.decision_curve(tc.Trials.of_llr(llrs, labels, weights=weights), grid, prevalence=prevalence)
    for other in (found.net_benefit, found.treat_all, found.treat_none):
        assert (found.best_apparent >= other - 1e-12 * (1.0 + np.abs(other))).all()
    least = [tc.Curve.of(tc.Trials.of_llr(llrs, labels, weights=weights)).min_dcf(app) for app in found.applications]
    for t, app, one, best in zip(grid, found.applications, least, found.best_apparent, strict=True):
        bound = found.prevalence - one.dcf * app.dummy_cost / (1.0 - t)
        assert best == pytest.approx(bound, abs=1e-12, rel=1e-9)


def test_harm_is_taken_off_the_system_and_not_off_the_references():
    trials = tc.Trials.of_llr([2.0, -1.0, 1.0, -3.0], [1, 1, 0, 0])
    free, costly = tc.decision_curve(trials), tc.decision_curve(trials, harm=0.01)
    assert np.allclose(free.net_benefit - costly.net_benefit, 0.01, rtol=0, atol=1e-15)
    assert (free.treat_all == costly.treat_all).all()
    assert (costly.treat_none == 0.0).all()
    assert len(free.threshold) == 99


def test_a_perfect_system_has_standardised_net_benefit_one():
    found = tc.decision_curve(tc.Trials.of_llr([math.inf, math.inf, -math.inf], [1, 1, 0]))
    assert found.standardised == pytest.approx(1.0)


def test_intervals_hold_the_value_and_widen_with_the_level():
    rng = np.random.default_rng(1)
    labels = np.arange(300) % 5 == 0
    trials = tc.Trials.of_llr(rng.normal(labels * 2.0 - 1.0), labels)
    for prevalence in (None, 0.1):
        narrow, wide = (tc.decision_curve(trials, prevalence=prevalence, ci=level) for level in (0.8, 0.95))
        assert (wide.low <= narrow.low).all()
        assert (narrow.low <= narrow.net_benefit).all()
        assert (narrow.net_benefit <= narrow.high).all()
        assert (narrow.high <= wide.high).all()
        assert wide.to_dict()["net_benefit_ci"][3] == [wide.low[3], wide.high[3]]


@pytest.mark.parametrize("natural", [True, False])
def test_intervals_cover_the_true_net_benefit_about_as_often_as_they_say(natural):
    rng, held, sets, t, share = np.random.default_rng(3), 0, 400, 0.2, 0.3
    cut = tc.Application(share, 1 - t, t).threshold
    tpr, fpr = (0.5 * math.erfc((cut - mean) / 2.0) for mean in (1.0, -1.0))  # llr of two normals, variance 2
    true = share * tpr - (1 - share) * fpr * t / (1 - t)
    for _ in range(sets):
        labels = rng.random(200) < share if natural else np.arange(200) % 2 == 0
        scores = rng.normal(np.where(labels, 1.0, -1.0), math.sqrt(2.0))
        own = tc.Trials.of_posteriors(1 / (1 + np.exp(-scores - math.log(share / (1 - share)))), labels,
                                      trained_prior=share)  # fmt: skip
        found = tc.decision_curve(own, [t], prevalence=None if natural else share, ci=0.95)
        held += found.low[0] <= true <= found.high[0]
    assert 0.92 <= held / sets <= 0.985


@pytest.mark.parametrize("t", [0.0, 1.0, -0.1, 1.5, math.nan, math.inf, "0.2", None, True])
def test_a_threshold_that_is_no_probability_is_refused(t):
    trials = tc.Trials.of_llr([1.0, 0.0], [1, 0])
    with pytest.raises(tc.InputError, match="threshold"):
        tc.net_benefit(trials, t)


@pytest.mark.parametrize(
    ("trials", "words"),
    [
        (tc.Trials.of_scores([1.0, 0.0], [1, 0]), "calibrate"),
        (tc.Trials.of_llr([1.0, 0.0]), "labels"),
        ([0.2, 0.7], "Trials"),
        (tc.Trials.of_log_likelihoods([[0.0, 1.0, 2.0]], [1]), "two classes"),
    ],
)
def test_trials_without_a_decision_curve_are_refused_in_words(trials, words):
    with pytest.raises(tc.InputError, match=words):
        tc.decision_curve(trials)


def test_a_missing_class_is_undefined_and_bad_options_are_refused():
    with pytest.raises(tc.UndefinedError, match="non-targets"):
        tc.decision_curve(tc.Trials.of_llr([1.0, 0.0], [1, 1]))
    trials = tc.Trials.of_llr([1.0, 0.0], [1, 0])
    for options in ({"harm": -1.0}, {"harm": math.inf}, {"prevalence": 0.0}, {"ci": 95}, {"thresholds": []}):
        with pytest.raises(tc.InputError):
            tc.decision_curve(trials, **options)
    with pytest.raises(tc.InputError, match="per"):
        tc.decision_curve(trials).interventions_avoided(per=0)


# Groups, weights and scans


def clustered(rng, groups, each=4):
    """Patients with several trials each, whose scores share the patient's own shift."""
    sick = np.repeat(rng.random(groups) < 0.3, each)
    shared = np.repeat(rng.normal(0.0, 1.0, groups), each)
    llrs = rng.normal(np.where(sick, 1.0, -1.0) + shared, 1.0)
    return tc.Trials.of_llr(llrs, sick, groups={"patient": np.repeat(np.arange(groups), each)})


@pytest.mark.parametrize("prevalence", [None, 0.3])
def test_intervals_over_groups_cover_the_true_net_benefit_and_those_of_single_trials_do_not(prevalence):
    rng, held, sets = np.random.default_rng(5), {"patient": 0, None: 0}, 300
    big = tc.decision_curve(clustered(rng, 200_000), [0.2], prevalence=0.3)
    true = float(big.net_benefit[0])
    for _ in range(sets):
        trials = clustered(rng, 80)
        for by in held:
            found = tc.decision_curve(trials, [0.2], prevalence=prevalence, ci=0.95, by=by)
            held[by] += found.low[0] <= true <= found.high[0]
    assert 0.92 <= held["patient"] / sets <= 0.99
    assert held[None] / sets < 0.9


def test_the_order_of_rows_changes_no_bit_of_an_interval_over_groups():
    rng = np.random.default_rng(6)
    trials = clustered(rng, 30)
    shuffled = trials.select(rng.permutation(len(trials)))
    one, other = (tc.decision_curve(own, [0.1, 0.4], ci=0.95, by="patient") for own in (trials, shuffled))
    assert (one.low.tolist(), one.high.tolist()) == (other.low.tolist(), other.high.tolist())


def test_fractional_weights_vary_as_their_effective_number_does():
    rng = np.random.default_rng(7)
    labels = np.arange(400) % 4 == 0
    llrs = rng.normal(labels * 2.0 - 1.0)
    plain = tc.decision_curve(tc.Trials.of_llr(llrs, labels), [0.2], ci=0.95)
    halves = tc.decision_curve(tc.Trials.of_llr(llrs, labels, weights=np.full(400, 0.5)), [0.2], ci=0.95)
    assert halves.net_benefit == plain.net_benefit
    assert np.allclose([halves.low, halves.high], [plain.low, plain.high], atol=0.003)


def test_a_scan_has_the_curve_of_the_rows_in_memory(tmp_path):
    rng = np.random.default_rng(8)
    labels = rng.random(5000) < 0.2
    llrs = rng.normal(labels * 2.0 - 1.0).round(1)
    path = tmp_path / "rows.csv"
    path.write_text("score,label\n" + "".join(f"{a!r},{int(y)}\n" for a, y in zip(llrs.tolist(), labels, strict=True)))
    for prevalence in (None, 0.05):
        memory = tc.decision_curve(tc.read(path), prevalence=prevalence, harm=0.01, ci=0.95)
        scanned = tc.decision_curve(tc.scan(path), prevalence=prevalence, harm=0.01, ci=0.95)
        for name in ("threshold", "net_benefit", "treat_all", "tpr", "fpr", "low", "high"):
            assert getattr(scanned, name).tolist() == getattr(memory, name).tolist()
        assert np.allclose(scanned.best_apparent, memory.best_apparent, rtol=0, atol=1e-15)
    with pytest.raises(tc.InputError, match="read them"):
        tc.decision_curve(tc.scan(path), ci=0.95, by="patient")
    with pytest.raises(tc.InputError, match="calibrate"):
        tc.decision_curve(tc.scan(path, meaning="raw"))


def test_posteriors_of_a_scan_are_refused_where_they_would_be_compared_themselves(tmp_path):
    path = tmp_path / "rows.csv"
    path.write_text("score,label\n0.2,1\n0.9,1\n0.6,0\n0.1,0\n")
    scan = tc.scan(path, meaning="posterior", trained_prior=0.5)
    with pytest.raises(tc.InputError, match="themselves compared"):
        tc.decision_curve(scan, [0.2])
    assert tc.decision_curve(scan, [0.25], prevalence=0.4).prevalence == 0.4


def two_systems(seed, prior=0.3, size=300):
    rng = np.random.default_rng(seed)
    labels = rng.random(size) < prior
    speakers = rng.integers(0, 40, size)
    scores = [2.0 * (labels - 0.5) + rng.normal(size=size), (labels - 0.5) + rng.normal(size=size)]
    made = [tc.Trials.of_llr(np.round(one, 1), labels, groups={"speaker": speakers}) for one in scores]
    return made, labels


@pytest.mark.parametrize("prevalence", [0.05, 0.4])
@pytest.mark.parametrize("by", [None, "speaker"])
def test_a_difference_of_net_benefit_is_that_of_dcf_u_rescaled(prevalence, by):
    grid = [0.05, 0.2, 0.6]
    systems, _ = two_systems(3)
    found = tc.compare_net_benefit(*systems, thresholds=grid, prevalence=prevalence, by=by, ci=0.9)
    costs = [(prevalence, 1.0 - t, t) for t in grid]
    same = tc.compare(*systems, costs, quantities=["dcf_u"], by=by, ci=0.9)
    for k, t in enumerate(grid):
        one, cost = found.of(f"applications.{k}.net_benefit")[0], same.of(f"applications.{k}.dcf_u")[0]
        assert one.value == pytest.approx(-cost.value / (1.0 - t), abs=1e-12)
        assert (one.low, one.high) == pytest.approx((-cost.high / (1.0 - t), -cost.low / (1.0 - t)), abs=1e-12)
        assert one.p_value == pytest.approx(cost.p_value, rel=1e-6)
        curves = [tc.decision_curve(system, grid, prevalence=prevalence).net_benefit[k] for system in systems]
        assert one.value == pytest.approx(curves[0] - curves[1], abs=1e-12)


def test_differences_at_the_prevalence_of_the_trials_equal_those_of_the_curves():
    systems, labels = two_systems(4)
    found = tc.compare_net_benefit(*systems, thresholds=[0.1, 0.5])
    for k, t in enumerate((0.1, 0.5)):
        values = [tc.net_benefit(one, t) for one in systems]
        assert found.of(f"applications.{k}.net_benefit")[0].value == pytest.approx(values[0] - values[1], abs=1e-12)
    assert found.points[0] == f"threshold 0.1, prevalence {labels.mean():.4g}"


def test_posteriors_of_this_prevalence_are_compared_with_the_threshold_themselves():
    a = tc.Trials.of_posteriors([0.9, 0.3, 0.6, 0.1], [1, 1, 0, 0], trained_prior=0.3)
    b = tc.Trials.of_posteriors([0.9, 0.9, 0.6, 0.1], [1, 1, 0, 0], trained_prior=0.3)
    found = tc.compare_net_benefit(a, b, thresholds=[0.3], prevalence=0.3)
    assert found.of("applications.0.net_benefit")[0].value == pytest.approx(-0.15, abs=1e-12)  # 0.3 is not above 0.3


def test_holm_is_over_thresholds_and_pairs_unless_only_pairs_are_asked_for():
    systems, _ = two_systems(5)
    p = {}
    for correction in ("all", "pairs"):
        rows = tc.compare_net_benefit(*systems, thresholds=[0.2, 0.5], correction=correction).differences
        p[correction] = [row.adjusted for row in rows]
        raw = [row.p_value for row in rows]
    assert p["pairs"] == raw
    assert min(p["all"]) == pytest.approx(2 * min(raw))


def test_intervals_of_a_difference_cover_it_where_class_sizes_are_sampled():
    """Net benefits of the same decisions drawn again: 2 x 300 sets, so that 92 % is two standard errors below 95 %."""
    truth = np.mean([value_of(two_systems(seed, size=20_000)[0]) for seed in range(60_000, 60_020)])
    rows = [difference_of(two_systems(seed)[0]) for seed in range(600)]
    covered = np.mean([row.low <= truth <= row.high for row in rows])
    assert 0.925 <= covered <= 0.99


def difference_of(systems):
    return tc.compare_net_benefit(*systems, thresholds=[0.2]).differences[0]


def value_of(systems):
    return tc.net_benefit(systems[0], 0.2) - tc.net_benefit(systems[1], 0.2)


def test_the_better_system_ranks_first_and_is_shown_to_be_superior():
    systems, _ = two_systems(6, size=3000)
    found = tc.compare_net_benefit(*systems, thresholds=[0.3], names=["sharp", "blunt"])
    assert [row.system for row in found.ranks()] == ["sharp", "blunt"]
    assert found.superior("applications.0.net_benefit", "sharp", "blunt").shown
    assert not found.superior("applications.0.net_benefit", "blunt", "sharp").shown
    assert "net benefit" in found.sentence


@pytest.mark.parametrize(("asked", "words"), [
    ({"thresholds": [0.2, 1.0, 0.0]}, "2 of 3 are not, the first is 1 \\(entry 1\\)"),
    ({"thresholds": []}, "at least one"),
    ({"thresholds": [0.2], "prevalence": 1.5}, "prevalence"),
    ({"thresholds": [0.2], "correction": "some"}, "correction"),
])  # fmt: skip
def test_what_a_difference_of_net_benefit_refuses(asked, words):
    systems, _ = two_systems(7, size=20)
    with pytest.raises(tc.InputError, match=words):
        tc.compare_net_benefit(*systems, **asked)
    with pytest.raises(tc.InputError, match="two systems, not 1"):
        tc.compare_net_benefit(systems[0], **asked | {"thresholds": [0.2], "correction": "all"})
