"""Calibration inside the resample, on the same trials or on a calibration set that is resampled along."""

import numpy as np
import pytest

import tercet as tc
from tercet.calibration.multiclass import Affine
from tercet.calibration.two_class import Gaussian, Isotonic, Logistic
from tercet.uncertainty import bands, bootstrap, reliability
from tercet.uncertainty._clusters import class_rows
from tercet.uncertainty._kernel.draws import Design
from tercet.uncertainty._kernel.refit import TwoSets

from .helpers import gaussian, same, three_classes

APPS = [(0.5, 1, 1), (0.1, 1, 1)]


def drawn_by(design, rows, count, number, seed, stream):
    """The rows of one resample, repeated as often as they were drawn."""
    weights = np.zeros(count, np.int64)
    for places, own in zip(rows, design.draw(seed, number, stream).rows(), strict=True):
        weights[places] = own
    return np.repeat(np.arange(count), weights)


@pytest.mark.parametrize("calibrator", [Logistic, Isotonic, Gaussian])
@pytest.mark.parametrize("by", [None, "speaker"])
def test_a_calibration_set_is_drawn_fitted_and_applied_in_each_resample(calibrator, by):
    """Written from the definition: two sets of rows, repeated; a calibrator fitted on one; costs of the other."""
    trials, training = gaussian(60, 80, seed=1, speakers=12), gaussian(50, 40, seed=2, speakers=10)
    training = tc.Trials.of_llr(training.scores, training.labels, groups={"speaker": training.groups["speaker"] + 100})
    found = bootstrap(trials, APPS, resamples=39, by=by, calibrate=calibrator, calibration_trials=training, seed=5)
    names = () if by is None else (by,)
    assert by is None or "only 10 groups in 'speaker' of the calibration set" in found.notes[0]
    sides = []
    for one in (trials, training):
        rows = class_rows(one, names)
        sides.append((one, rows, Design.of(one, rows, names)))
    for number in range(8):
        repeated = [
            one.select(drawn_by(design, rows, len(one), number, 5, 3 * place))
            for place, (one, rows, design) in enumerate(sides)
        ]
        plain = tc.evaluate(calibrator.fit(repeated[1])(repeated[0]), APPS)
        for name, value in {
            "cllr": plain.cllr, "auc": plain.auc, "applications.1.dcf": plain.applications[1].dcf,
            "applications.0.min_dcf": plain.applications[0].min_dcf,
        }.items():  # fmt: skip
            assert same(found.samples[name][number], value, 1e-9), (name, number)
    assert found["cllr"].value == pytest.approx(tc.evaluate(calibrator.fit(training)(trials)).cllr, abs=1e-9)


def test_groups_that_sit_in_both_sets_are_drawn_once_for_both():
    trials, training = gaussian(60, 80, seed=1, speakers=12), gaussian(60, 80, seed=2, speakers=12)
    seen = []

    class Spy:
        @staticmethod
        def fit(resample):
            seen.append(resample)
            return lambda given: seen.append(given) or given

    bootstrap(trials, APPS, resamples=39, by="speaker", calibrate=Spy, calibration_trials=training, method="percentile")
    for fitted, used in zip(seen[0::2], seen[1::2], strict=True):
        counts = [
            dict(zip(one.groups["speaker"].tolist(), one.weights.tolist(), strict=True)) for one in (fitted, used)
        ]
        assert counts[0] == counts[1]


def test_the_calibration_set_adds_its_own_uncertainty():
    """The smaller the calibration set, the less is known of the actual cost; ranks do not move."""
    trials = gaussian(400, 400, seed=1)
    trials = tc.Trials.of_scores(trials.scores * 3 + 2, trials.labels)
    errors = {}
    for size in (30, 3000):
        other = gaussian(size, size, seed=3)
        training = tc.Trials.of_scores(other.scores * 3 + 2, other.labels)
        found = bootstrap(trials, APPS, resamples=99, calibrate=Logistic, calibration_trials=training)
        errors[size] = (found["applications.1.dcf"].standard_error, found["auc"].standard_error)
    assert errors[30][0] > 1.3 * errors[3000][0]
    assert 0.7 < errors[30][1] / errors[3000][1] < 1.4


def test_both_sets_are_left_out_in_turn_for_the_acceleration():
    first, second = Design((3, 4), (None, None)), Design((2, 5), (None, None))
    both = TwoSets.joined(first, second)
    strata = [list(stratum) for stratum in both.left_out(0)]
    assert [len(stratum) for stratum in strata] == [3, 4, 2, 5]
    assert [w.tolist() for w in strata[2][0]] == [[1] * 3, [1] * 4, [0, 1], [1] * 5]
    draws = both.draw(0, 0).rows()
    assert [rows.sum() for rows in draws] == [3, 4, 2, 5]


def test_the_same_trials_on_both_sides_are_refused():
    trials = tc.Trials.of_llr([1.0, 2.0, 0.0, -1.0], [1, 1, 0, 0], ids=list("abcd"))
    with pytest.raises(tc.InputError, match="leave calibration_trials out"):
        bootstrap(trials, calibrate=Logistic, calibration_trials=trials)
    other = tc.Trials.of_llr([1.0, -2.0, 0.5, -1.0], [1, 1, 0, 0], ids=list("wxyd"))
    with pytest.raises(tc.InputError, match="1 trials that are evaluated too, such as 'd'"):
        bootstrap(trials, calibrate=Logistic, calibration_trials=other)
    with pytest.raises(tc.InputError, match="needs calibrate="):
        bootstrap(trials, calibration_trials=other)
    with pytest.raises(tc.InputError, match="not a Tally"):
        bootstrap(tc.Tally.of(trials), calibrate=Logistic)
    with pytest.raises(tc.InputError, match="extra="):
        bootstrap(trials, APPS, calibrate=Logistic, rates=["precision"])


def test_a_copy_of_the_trials_is_no_calibration_set():
    trials = gaussian(20, 20, seed=1)
    copies = [trials.select(np.arange(40)), trials.select(np.random.default_rng(0).permutation(40))]
    for copy in copies:
        with pytest.raises(tc.InputError, match="give both sets ids"):
            bootstrap(trials, calibrate=Logistic, calibration_trials=copy)
    sets = [tc.Trials.of_llr(trials.scores, trials.labels, ids=np.arange(40) + start) for start in (0, 100)]
    assert "cllr" in bootstrap(sets[0], resamples=39, calibrate=Gaussian, calibration_trials=sets[1])


def test_several_classes_are_calibrated_inside_the_resample():
    trials, training = three_classes(120, seed=1), three_classes(90, seed=2)
    app = tc.Application.multiclass([0.2, 0.3, 0.5])
    found = bootstrap(trials, [app], resamples=39, calibrate=Affine, calibration_trials=training)
    assert found["applications.0.risk"].value == pytest.approx(
        tc.evaluate(Affine.fit(training)(trials), [app]).applications[0].risk
    )
    assert found["applications.0.risk"].low < found["applications.0.risk"].high


def test_bands_of_raw_scores_are_those_of_the_scores_calibrated_inside():
    trials, training = gaussian(200, 200, seed=1), gaussian(200, 200, seed=2)
    raw = [tc.Trials.of_scores(2.0 * one.scores + 1.0, one.labels) for one in (trials, training)]
    found = bands(raw[0], resamples=39, calibrate=Logistic, calibration_trials=raw[1])
    alone = bands(trials, resamples=39)
    assert np.allclose(found.roc.fnr, alone.roc.fnr)  # a line keeps the ranks
    assert found.reliability is not None
    expected = reliability(Logistic.fit(raw[1])(raw[0]), 0.5, resamples=39)
    assert np.allclose(found.reliability.forecast, expected.forecast, equal_nan=True)
    assert np.allclose(found.reliability.observed, expected.observed, equal_nan=True)
    assert bands(raw[0], resamples=39).reliability is None
    with pytest.raises(tc.InputError, match="calibrate them first"):
        reliability(raw[0])
