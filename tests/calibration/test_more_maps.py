"""Beta, Offset, KernelDensity and isotonic maps with lines and pseudo-errors: laws, references and what is refused."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tercet import Tally, Trials, cllr, cross_fit, empirical_cross_entropy, load_model, select_calibrator
from tercet.calibration.beta import Beta, Offset
from tercet.calibration.kernel_density import KernelDensity
from tercet.calibration.two_class import Isotonic, Logistic
from tercet.errors import CalibrationError, InputError, TercetError

SOME = st.integers(0, 10**6)


def made(seed, count=60, slope=1.0):
    """Llrs of two overlapping classes."""
    rng = np.random.default_rng(seed)
    labels = np.arange(count) % 2
    return slope * (rng.normal(size=count) + 1.2 * labels - 0.6), labels


def posterior(odds):
    return 1.0 / (1.0 + np.exp(-odds))


def entropy_of(llrs, labels, prior):
    return empirical_cross_entropy(Tally.of(Trials.of_llr(llrs, labels)), prior)


@given(SOME, st.sampled_from([0.5, 0.1, 0.9]))
def test_no_neighbour_of_the_beta_map_has_less_cross_entropy(seed, prior):
    llrs, labels = made(seed, slope=2.0)
    p = posterior(llrs)
    found = Beta.fit(Trials.of_posteriors(p, labels, trained_prior=0.5), prior)
    best = entropy_of(found(p), labels, prior)
    for da, db, dc in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0), (0, 0, 1), (0, 0, -1), (1, -1, 0)):
        a, b, c = found.a + 0.01 * da, found.b + 0.01 * db, found.c + 0.01 * dc
        if min(a, b) >= 0.0:
            assert entropy_of(a * np.log(p) - b * np.log1p(-p) + c, labels, prior) >= best - 1e-12


@given(SOME)
def test_a_beta_map_never_falls(seed):
    llrs, labels = made(seed, count=14)
    try:
        found = Beta.fit(Trials.of_llr(llrs, labels), penalty=1e-3)
    except CalibrationError:
        return
    assert found.a >= 0.0 <= found.b
    assert (np.diff(found(np.linspace(-20.0, 20.0, 101))) >= 0.0).all()


def test_beta_scores_of_beta_distributed_probabilities_are_their_llrs():
    rng = np.random.default_rng(3)
    p = np.concatenate((rng.beta(5, 2, 100_000), rng.beta(2, 3, 100_000)))
    found = Beta.fit(Trials.of_posteriors(p, np.arange(200_000) < 100_000, trained_prior=0.5))
    level = math.log(30.0 / 12.0)  # of the reciprocal beta functions B(5, 2) = 1/30 and B(2, 3) = 1/12
    assert found.a == pytest.approx(3.0, abs=0.05)
    assert found.b == pytest.approx(1.0, abs=0.05)
    assert found([0.5])[0] == pytest.approx(2.0 * math.log(0.5) + level, abs=0.02)


def test_classes_inside_an_interval_of_the_other_are_still_calibrated():
    # A falling and a rising slope would separate these classes; a map that never falls does not.
    trials = Trials.of_posteriors([0.4, 0.5, 0.6, 0.1, 0.2, 0.8, 0.9], [1, 1, 1, 0, 0, 0, 0], trained_prior=0.5)
    found = Beta.fit(trials)
    assert min(found.a, found.b) == 0.0


@given(SOME)
def test_meanings_of_the_same_scores_give_the_same_beta_map(seed):
    llrs, labels = made(seed)
    try:
        one = Beta.fit(Trials.of_llr(llrs, labels))
    except CalibrationError:
        return
    for other in (
        Trials.of_posteriors(posterior(llrs), labels, trained_prior=0.3),
        Trials.of_scores(posterior(llrs), labels),
    ):
        again = Beta.fit(other)
        assert again.a == pytest.approx(one.a, rel=1e-6, abs=1e-6)
        assert again(other.scores) == pytest.approx(one(llrs), rel=1e-6, abs=1e-6)


@given(SOME, st.permutations(range(20)))
def test_the_order_of_the_rows_changes_no_bit(seed, order):
    llrs, labels = made(seed, count=20)
    for method in (Beta, Offset, KernelDensity):
        try:
            one = method.fit(Trials.of_llr(llrs, labels))
        except CalibrationError:
            continue
        assert method.fit(Trials.of_llr(llrs[list(order)], labels[list(order)])).to_json() == one.to_json()


@pytest.mark.parametrize("method", [Beta, Offset, KernelDensity])
def test_weights_count_as_repeated_trials(method):
    llrs, labels = made(5)
    counts = np.arange(60) % 3 + 1
    weighted = method.fit(Trials.of_llr(llrs, labels, weights=counts))
    repeated = method.fit(Trials.of_llr(np.repeat(llrs, counts), np.repeat(labels, counts)))
    assert weighted(llrs) == pytest.approx(repeated(llrs), abs=1e-9)


@given(SOME, st.sampled_from([0.5, 0.02, 0.9]))
def test_the_derivative_at_the_offset_is_zero(seed, prior):
    llrs, labels = made(seed, slope=3.0)
    found = Offset.fit(Trials.of_llr(llrs, labels), prior)
    eta = llrs + found.offset + math.log(prior) - math.log1p(-prior)
    share = 1.0 / (1.0 + np.exp(-eta))
    slope = (1 - prior) * share[labels == 0].mean() - prior * (1.0 - share[labels == 1]).mean()
    assert abs(slope) < 1e-12


def test_an_offset_exists_for_separable_and_far_apart_classes():
    found = Offset.fit(Trials.of_scores([0.0, 0.0, 0.0, 2000.0, 0.0, 2000.0], [1, 1, 1, 1, 0, 0]))
    assert found.offset == pytest.approx(-math.log(4.0), abs=1e-12)  # half the sum over F is 3/4 of that over T
    assert math.isfinite(Offset.fit(Trials.of_scores([1.0, 2.0], [0, 1])).offset)


def test_an_offset_undoes_a_wrong_prior():
    llrs, labels = made(1, count=4000)
    found = Offset.fit(Trials.of_log_odds(llrs + 2.0, labels, trained_prior=0.5))
    assert found.offset == pytest.approx(Offset.fit(Trials.of_llr(llrs, labels)).offset - 2.0, abs=1e-9)


@given(SOME, st.one_of(st.none(), st.floats(0.05, 5.0)))
def test_kernel_densities_are_sums_over_all_scores(seed, bandwidth):
    llrs, labels = made(seed, count=30)
    found = KernelDensity.fit(Trials.of_scores(llrs, labels), bandwidth=bandwidth)
    for s in np.linspace(llrs.min(), llrs.max(), 5):
        densities = []
        for code in (1, 0):
            x = llrs[labels == code]
            width = bandwidth or (4 / 3) ** 0.2 * x.std() * len(x) ** -0.2
            densities.append(math.fsum(np.exp(-0.5 * ((s - x) / width) ** 2)) / len(x) / width)
        if min(densities) > 1e-250:
            assert found([s])[0] == pytest.approx(math.log(densities[0] / densities[1]), abs=1e-9)


def test_kernel_densities_are_constant_beyond_their_scores():
    found = KernelDensity.fit(Trials.of_scores([0.0, 1.0, 2.0, 3.0], [0, 0, 1, 1]))
    assert found([3.0, 4.0, math.inf]).tolist() == [found([3.0])[0]] * 3
    assert found([-math.inf])[0] == found([0.0])[0]


@given(SOME, st.integers(0, 6))
def test_pseudo_errors_are_trials_at_the_ends(seed, errors):
    llrs, labels = made(seed, count=25)
    found = Isotonic.fit(Trials.of_scores(llrs, labels), pseudo_errors=errors)
    more = np.concatenate((llrs, np.full(errors, llrs.min() - 1.0), np.full(errors, llrs.max() + 1.0)))
    truth = np.concatenate((labels, np.ones(errors, int), np.zeros(errors, int)))
    assert found(llrs) == pytest.approx(Isotonic.fit(Trials.of_scores(more, truth), raw=True)(llrs), abs=1e-12)


@given(SOME)
def test_lines_leave_the_training_scores_and_never_fall(seed):
    llrs, labels = made(seed, count=40)
    llrs = np.round(llrs, 1)
    steps, lines = (Isotonic.fit(Trials.of_scores(llrs, labels), interpolation=how) for how in ("step", "linear"))
    assert lines(llrs).tolist() == steps(llrs).tolist()
    grid = np.linspace(-4.0, 4.0, 500)
    assert (np.diff(lines(grid)) >= -1e-12).all()
    assert (lines(grid) <= steps(grid) + 1e-12).all()  # between two blocks the step is that of the upper one


def test_many_pseudo_errors_shrink_the_llrs():
    llrs, labels = made(2)
    widest = [np.abs(Isotonic.fit(Trials.of_scores(llrs, labels), pseudo_errors=n)(llrs)).max() for n in (1, 5, 50)]
    assert widest[0] > widest[1] > widest[2]


@pytest.mark.parametrize(
    ("attempt", "message"),
    [
        (lambda: Beta.fit(Trials.of_scores([2.0, 0.5], [0, 1])), "must lie in 0..1: 1 of 2 rows"),
        (lambda: Beta.fit(Trials.of_posteriors([0.0, 1.0, 0.5], [0, 1, 0], trained_prior=0.5)), "above 0 and below 1"),
        (lambda: Beta.fit(Trials.of_llr([1.0, 2.0], [0, 1])), "Beta calibration has no finite solution"),
        (lambda: Beta.fit(Trials.of_llr([1.0, 2.0], [0, 1]), penalty=-1), "penalty must be"),
        (lambda: Offset.fit(Trials.of_llr([1.0, math.inf], [0, 1])), "needs finite scores"),
        (lambda: Offset.fit(Trials.of_llr([1.0, 2.0], [1, 1])), "no non-targets"),
        (lambda: KernelDensity.fit(Trials.of_llr([1.0, 2.0], [0, 1])), "zero variance"),
        (lambda: KernelDensity.fit(Trials.of_llr([1.0, 2.0], [0, 1]), bandwidth=0), "bandwidth must be"),
        (lambda: KernelDensity.fit(Trials.of_llr(np.arange(20_003.0), np.arange(20_003) < 2)), "at most 20000"),
        (lambda: Isotonic.fit(Trials.of_llr([1.0, 2.0], [0, 1]), interpolation="linear", raw=True), "infinite llrs"),
        (lambda: Isotonic.fit(Trials.of_llr([1.0, 2.0], [0, 1]), interpolation="spline"), "interpolation must be"),
        (lambda: Isotonic.fit(Trials.of_llr([1.0, 2.0], [0, 1]), pseudo_errors=-1), "pseudo_errors"),
    ],
)
def test_what_cannot_be_trained_is_refused(attempt, message):
    with pytest.raises(TercetError, match=message):
        attempt()


def test_probabilities_outside_their_range_are_refused_when_applied():
    llrs, labels = made(4)
    found = Beta.fit(Trials.of_posteriors(posterior(llrs), labels, trained_prior=0.5))
    with pytest.raises(InputError, match="lie in 0"):
        found([0.2, 1.5])
    assert found([0.0, 1.0]).tolist() == [-math.inf, math.inf] or 0.0 in (found.a, found.b)


def test_they_work_by_folds_and_in_a_ranking():
    llrs, labels = made(6, count=200, slope=3.0)
    trials = Trials.of_llr(llrs, labels)
    for method in (Beta, Offset, KernelDensity):
        fitted = cross_fit(method, trials, folds=4)
        assert load_model(fitted.model.to_json()).method == method.method
        assert math.isfinite(cllr(fitted.scores))
    found = select_calibrator([Logistic, Beta, Offset, KernelDensity], [0.1, 0.5], trials, (0.1, 1, 1))
    assert sum(row.method == "kernel-density" for row in found.rows) == 1
    assert sum(row.method == "beta" for row in found.rows) == 2
