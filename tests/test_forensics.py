"""Forensic validation against slow references in fractions."""

import html
import json
import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from matplotlib.figure import Figure

import tercet as tc
from tercet import forensics, testing
from tercet.forensics import _page

SETS = 1000


def random_lrs(rng, most=12, extremes=True):
    """LRs that are exact fractions, many tied, some 0 or infinite."""
    size = int(rng.integers(2, most))
    labels = rng.random(size) < 0.5
    labels[:2] = True, False
    lrs = 2.0 ** rng.integers(-4, 5, size) * rng.choice([1.0, 1.5], size)
    lrs = np.where(labels, lrs * rng.choice([1.0, 4.0], size), lrs)
    if extremes:
        lrs[rng.random(size) < 0.05] = math.inf
        lrs[rng.random(size) < 0.05] = 0.0
    return lrs, labels


def sides(lrs, labels):
    """The LRs of same-source and of different-source trials as fractions; infinity stays."""
    exact = [value if math.isinf(value) else Fraction(value) for value in lrs.tolist()]
    same = [value for value, label in zip(exact, labels.tolist(), strict=True) if label]
    different = [value for value, label in zip(exact, labels.tolist(), strict=True) if not label]
    return same, different


def count(values, test):
    return sum(1 for value in values if test(value))


def segments(points, low, high):
    """The given points and the middles between them, within a range."""
    kept = sorted({low, high, *(point for point in points if low <= point <= high)})
    return kept, [(a, (a + b) / 2, b) for a, b in pairwise(kept)]


# ELUB


def fails_elub(t, same, different, added):
    miss = Fraction(count(same, lambda lr: lr <= t) + added, len(same) + added)
    alarm = Fraction(count(different, lambda lr: lr > t) + added, len(different) + added)
    return miss + t * alarm > min(1, t)


def reference_elub(same, different, added=1):
    """First failure going up and going down from 1, looked for at every LR, every ratio and between them."""
    finite = [value for value in (*same, *different) if not math.isinf(value)]
    first, second = len(same) + added, len(different) + added
    ratios = set()
    for misses in range(len(same) + 1):
        for alarms in range(len(different) + 1):
            ratios.add(Fraction(len(same) - misses, first) / Fraction(alarms + added, second))
            if alarms < len(different):
                ratios.add(Fraction(misses + added, first) / Fraction(len(different) - alarms, second))
    top = max([*(finite or [Fraction(1)]), Fraction(1)]) if max((*same, *different)) != math.inf else Fraction(10**6)
    bottom = min([*(finite or [Fraction(1)]), Fraction(1)]) if min((*same, *different)) != 0 else Fraction(0)
    points = [*finite, *ratios]
    _, up = segments(points, Fraction(1), top)
    _, down = segments(points, bottom, Fraction(1))
    upper = next((a for a, middle, _ in up if fails_elub(middle, same, different, added)), top)
    lower = next((b for _, middle, b in reversed(down) if fails_elub(middle, same, different, added)), bottom)
    return lower, upper


def test_elub_is_the_reference_on_random_sets():
    rng = np.random.default_rng(0)
    for _ in range(SETS):
        lrs, labels = random_lrs(rng, 10)
        found = forensics.elub(tc.Trials.of_lr(lrs, labels))
        lower, upper = reference_elub(*sides(lrs, labels))
        assert (found.lower, found.upper) == pytest.approx((float(lower), float(upper)), rel=1e-12), (lrs, labels)


def test_elub_between_its_bounds_never_costs_more_than_saying_nothing():
    rng = np.random.default_rng(1)
    for _ in range(SETS):
        lrs, labels = random_lrs(rng, 40)
        found = forensics.elub(tc.Trials.of_lr(lrs, labels))
        assert 0.0 < found.lower <= 1.0 <= found.upper < math.inf
        same, different = sides(lrs, labels)
        for t in [Fraction(found.lower), *(lr for lr in same + different if found.lower < lr < found.upper)]:
            near = t * (1 + Fraction(1, 10**9))
            if near < Fraction(found.upper):
                assert not fails_elub(near, same, different, 1) or near == t


def test_llrs_and_lrs_give_the_same_bounds():
    rng = np.random.default_rng(2)
    for _ in range(200):
        lrs, labels = random_lrs(rng, 30, extremes=False)
        as_lr, as_llr = tc.Trials.of_lr(lrs, labels), tc.Trials.of_llr(np.log(lrs), labels)
        for bounds in (forensics.elub, forensics.iv_bounds):
            assert bounds(as_lr)[:2] == pytest.approx(bounds(as_llr)[:2], rel=1e-12)


# Invariance verification


def fails_iv_up(t, same, different):
    first = Fraction(2 * count(same, lambda lr: lr >= t) + 1, 2 * len(same) + 2)
    second = Fraction(2 * count(different, lambda lr: lr >= t) + 1, 2 * len(different) + 2)
    return first / second < t


def fails_iv_down(t, same, different):
    first = Fraction(2 * count(same, lambda lr: lr < t) + 1, 2 * len(same) + 2)
    second = Fraction(2 * count(different, lambda lr: lr < t) + 1, 2 * len(different) + 2)
    return first / second > t


def reference_iv(same, different):
    every = sorted({*same, *different})
    ratios = {
        Fraction(2 * a + 1, 2 * len(same) + 2) / Fraction(2 * b + 1, 2 * len(different) + 2)
        for a in range(len(same) + 1)
        for b in range(len(different) + 1)
    }
    points = [*every, *ratios]
    top, bottom = max(every[-1], Fraction(1)), min(every[0], Fraction(1))
    _, up = segments(points, Fraction(1), top)
    _, down = segments(points, bottom, Fraction(1))
    upper = next((a for a, middle, _ in up if fails_iv_up(middle, same, different)), None)
    lower = next((b for _, middle, b in reversed(down) if fails_iv_down(middle, same, different)), None)
    if lower is None and fails_iv_down(bottom, same, different):
        lower = bottom
    return (
        min(min(different), Fraction(1)) if lower is None else lower,
        max(max(same), Fraction(1)) if upper is None else upper,
    )


def test_iv_bounds_are_the_reference_on_random_sets():
    rng = np.random.default_rng(3)
    for _ in range(SETS):
        lrs, labels = random_lrs(rng, 12, extremes=False)
        found = forensics.iv_bounds(tc.Trials.of_lr(lrs, labels))
        lower, upper = reference_iv(*sides(lrs, labels))
        assert (found.lower, found.upper) == pytest.approx((float(lower), float(upper)), rel=1e-12), (lrs, labels)


def test_data_without_support_say_lr_one():
    useless = tc.Trials.of_lr([0.5, 2.0, 0.5, 2.0], [1, 1, 0, 0])
    reversed_ = tc.Trials.of_lr([0.1, 0.1, 10.0, 10.0], [1, 1, 0, 0])
    for trials in (useless, reversed_):
        assert forensics.elub(trials)[:2] == (1.0, 1.0)
    assert forensics.iv_bounds(reversed_)[:2] == (1.0, 1.0)


# devPAV


def reference_dev_pav(llrs, labels):
    """The area between the joined PAV points and the identity, by cutting each piece where it crosses."""
    blocks = testing.pav(llrs, labels)
    targets, nontargets = sum(block[2] for block in blocks), sum(block[3] for block in blocks)
    points = []
    for low, high, t, n in blocks:
        if t and n:
            y = math.log10(Fraction(t * nontargets, n * targets))
            points += [(low / math.log(10), y), (high / math.log(10), y)]
    if not points:
        return None
    if any(math.isinf(x) for x, _ in points):
        return math.inf
    if points[0][0] == points[-1][0]:
        return abs(points[0][1] - points[0][0])
    area = 0.0
    for (x1, y1), (x2, y2) in pairwise(points):
        steps = [x1, x2]
        if (y1 - x1) * (y2 - x2) < 0:
            slope = (y2 - y1) / (x2 - x1)
            steps.insert(1, (y1 - slope * x1) / (1 - slope))
        for a, b in pairwise(steps):
            middle = (a + b) / 2
            y = y1 if x1 == x2 else y1 + (y2 - y1) * (middle - x1) / (x2 - x1)
            area += (b - a) * abs(y - middle)
    return area / (points[-1][0] - points[0][0])


def test_dev_pav_is_the_reference_on_random_sets():
    rng = np.random.default_rng(4)
    undefined = 0
    for _ in range(SETS):
        lrs, labels = random_lrs(rng)
        with np.errstate(divide="ignore"):
            llrs = np.log(lrs)
        trials = tc.Trials.of_llr(llrs, labels)
        expected = reference_dev_pav(llrs.tolist(), labels.tolist())
        if expected is None:
            undefined += 1
            with pytest.raises(tc.UndefinedError, match="do not overlap"):
                forensics.dev_pav(trials)
        else:
            assert forensics.dev_pav(trials).value == pytest.approx(expected, rel=1e-9, abs=1e-12), (llrs, labels)
    assert 0 < undefined < SETS


def test_dev_pav_of_calibrated_lrs_is_zero_and_says_what_it_left_out():
    labels = [0, 0, 1, 0, 0, 1, 1, 1]
    lrs = [0.1, 0.5, 0.5, 0.5, 2.0, 2.0, 2.0, 50.0]  # 1 in 3 of 0.5, 2 in 3 of 2: worth 0.5 and 2
    found = forensics.dev_pav(tc.Trials.of_lr(lrs, labels))
    assert found.value == pytest.approx(0.0, abs=1e-12)
    assert (found.left_out_below, found.left_out_above) == (1, 1)
    assert (found.low, found.high) == pytest.approx((math.log10(0.5), math.log10(2.0)))


def test_an_infinite_lr_with_a_finite_worth_makes_dev_pav_infinite():
    assert forensics.dev_pav(tc.Trials.of_lr([math.inf, math.inf, 1.0], [1, 0, 0])).value == math.inf
    assert forensics.dev_pav(tc.Trials.of_lr([0.0, 0.0, 1.0], [1, 0, 1])).value == math.inf


# The rest


def test_cllr_cal_is_the_difference_of_the_references_on_random_sets():
    rng = np.random.default_rng(5)
    for _ in range(SETS):
        lrs, labels = random_lrs(rng, 8, extremes=False)
        llrs = np.log(lrs)
        expected = testing.cllr(llrs.tolist(), labels.tolist()) - testing.min_cllr(llrs.tolist(), labels.tolist())
        assert forensics.cllr_cal(tc.Trials.of_llr(llrs, labels)) == pytest.approx(expected, abs=1e-12)


def test_misleading_evidence_is_counted_exactly_on_random_sets():
    rng = np.random.default_rng(6)
    for _ in range(SETS):
        lrs, labels = random_lrs(rng)
        same, different = sides(lrs, labels)
        found = forensics.misleading_evidence(tc.Trials.of_lr(lrs, labels), [1.0, 4.0])
        for row, strength in zip(found.rows, (1, 4), strict=True):
            wrong = (
                count(same, lambda lr, s=strength: lr < Fraction(1, s)),
                count(different, lambda lr, s=strength: lr > s),
            )
            assert (row.targets.errors, row.nontargets.errors) == wrong
            assert row.targets.value == wrong[0] / len(same)
        assert (found.lowest_target_lr, found.highest_nontarget_lr) == (float(min(same)), float(max(different)))


def test_an_lr_of_zero_has_no_geometric_mean():
    trials = tc.Trials.of_lr([0.0, 2.0, 3.0, 0.5], [1, 1, 1, 0])
    with pytest.raises(tc.InputError, match=r"1 of 3 same-source LRs are not, the first is 0"):
        forensics.geometric_mean_lr(trials)


def test_raw_scores_have_no_likelihood_ratios():
    trials = tc.Trials.of_scores([1.0, 2.0], [0, 1])
    for measure in (forensics.elub, forensics.iv_bounds, forensics.dev_pav, forensics.misleading_evidence):
        with pytest.raises(tc.InputError, match="calibrate them first"):
            measure(trials)


@pytest.mark.parametrize("measure", ["elub", "iv_bounds", "dev_pav", "misleading_evidence", "geometric_mean_lr"])
def test_a_missing_class_is_said(measure):
    with pytest.raises(tc.UndefinedError, match="no non-targets"):
        getattr(forensics, measure)(tc.Trials.of_lr([1.0, 2.0], [1, 1]))


@pytest.fixture(scope="module")
def scored():
    rng = np.random.default_rng(7)
    labels = np.arange(400) % 2
    return tc.Trials.of_scores(rng.normal(size=400) + 2 * labels, labels, groups={"source": np.arange(400) // 8})


def test_a_bounded_calibrator_stays_within_its_bounds_and_can_be_saved(scored):
    train, held = tc.split(scored, (1, 1))
    for method in ("elub", "iv"):
        safe = forensics.bounded(tc.Logistic.fit(train), held, method=method)
        llrs = safe([-50.0, 0.0, 50.0])
        assert np.exp(llrs[[0, 2]]) == pytest.approx([safe.lower, safe.upper])
        again = tc.load_model(safe.to_json())
        assert again([-50.0, 0.3, 50.0]).tolist() == safe([-50.0, 0.3, 50.0]).tolist()
        assert forensics.elub(safe(held)).upper <= safe.upper * (1 + 1e-12) or method == "iv"
    assert safe(held).meaning == "llr"


@pytest.mark.parametrize(("lower", "upper"), [(0.0, 2.0), (1.5, 2.0), (0.5, 0.9), (0.5, math.inf)])
def test_bounds_on_the_wrong_side_of_one_are_refused(scored, lower, upper):
    with pytest.raises(tc.InputError, match="lower and upper"):
        forensics.Bounded.of(tc.Logistic.fit(scored), lower, upper)


def test_one_calibrated_lr_has_an_interval_that_narrows_with_data(scored):
    few, _ = tc.split(scored, (1, 3))
    widths = []
    for trials in (few, scored):
        found = forensics.lr_interval([1.0, 3.0], trials, resamples=60)
        assert all(one.interval.low < one.lr < one.interval.high for one in found)
        widths.append(math.log(found[1].interval.high / found[1].interval.low))
    assert widths[1] < widths[0]
    grouped = forensics.lr_interval([1.0], scored, resamples=60, by="source")[0]
    assert grouped.interval.low < grouped.lr < grouped.interval.high


def test_the_cross_entropy_lies_within_its_range(scored):
    llrs = tc.Logistic.fit(scored)(scored)
    found = forensics.ece(llrs, [-1.0, 0.0, 1.0], ci=0.9, resamples=100)
    assert (found.low <= found.actual).all()
    assert (found.actual <= found.high).all()
    assert (found.minimum <= found.actual + 1e-12).all()
    assert found.neutral[1] == 1.0
    assert found.actual[1] == pytest.approx(tc.cllr(llrs))


def test_tippett_lines_of_both_kinds(scored):
    llrs = tc.Logistic.fit(scored)(scored)
    both = [forensics.tippett(llrs, kind=kind) for kind in ("survival", "crossing")]
    assert np.allclose(both[0].targets, 1.0 - both[1].targets)
    assert np.array_equal(both[0].nontargets, both[1].nontargets)
    with pytest.raises(tc.InputError, match="kind"):
        forensics.tippett(llrs, kind="other")
    json.dumps(forensics.misleading_evidence(llrs).to_dict(), allow_nan=False)


def test_misleading_evidence_varies_by_source():
    rng, sets, held = np.random.default_rng(17), 300, {"source": 0, None: 0}
    true = 0.5 * math.erfc(1.0 / math.sqrt(2.0 * 2.0))
    for _ in range(sets):
        source = np.repeat(np.arange(50), 8)
        same = np.arange(400) % 2 == 0
        llrs = np.where(same, 1.0, -1.0) + rng.normal(size=50)[source] + rng.normal(size=400)
        trials = tc.Trials.of_llr(llrs, same, groups={"source": source})
        for by in held:
            ends = forensics.misleading_evidence(trials, [1.0], by=by).rows[0].targets.interval
            held[by] += ends.low <= true <= ends.high
    assert 0.92 <= held["source"] / sets <= 0.99
    assert held[None] / sets < 0.92


@pytest.mark.parametrize("meaning", ["of_lr", "of_log10_llr", "of_llr"])
def test_groups_of_one_trial_mislead_as_often_on_every_scale(meaning):
    lrs = np.array([100.0, 0.01, 10.0, 0.1, 1.0, 100.0, 10.0, 0.1])
    values = {"of_lr": lrs, "of_log10_llr": np.log10(lrs), "of_llr": np.log(lrs)}[meaning]
    trials = getattr(tc.Trials, meaning)(values, [1, 1, 1, 1, 0, 0, 0, 0], groups={"source": list("aabbccdd")})
    found = forensics.misleading_evidence(trials, [1.0, 10.0], by="source")
    assert [row.targets.errors for row in found.rows] == [2, 1]
    assert all(row.targets.interval.low <= row.targets.value <= row.targets.interval.high for row in found.rows)


def test_the_sheet_says_how_far_the_bounds_move(scored):
    found = forensics.validation(tc.Logistic.fit(scored)(scored), resamples=99, by="source")
    assert set(found.bound_intervals) == {"elub lower", "elub upper", "iv lower", "iv upper"}
    for bounds in found.bounds:
        low, high = (found.bound_intervals[f"{bounds.method} {side}"] for side in ("lower", "upper"))
        assert 0.0 < low.low < low.high <= 1.0 <= high.low < high.high
        assert low.low < 2.0 * bounds.lower
        assert high.high > 0.5 * bounds.upper
    assert found.to_dict()["bound_intervals"].keys() == found.bound_intervals.keys()


def calibrated(rng, same, different, spread=2.0):
    """LRs that are what they say: Gaussian llrs of this spread."""
    labels = np.r_[np.ones(same), np.zeros(different)]
    return tc.Trials.of_llr(rng.normal((2 * labels - 1) * spread**2 / 2, spread), labels)


def test_calibrated_lrs_are_not_blamed_for_their_calibration():
    rng, sheet = np.random.default_rng(11), forensics._sheet
    above = {"Cllr cal (bits)": 0, "devPAV": 0}
    for seed in range(30):
        trials = calibrated(rng, 300, 600)
        known = tc.evaluate(trials, [], ci=0.95).intervals
        draws = {"ci": 0.95, "by": None, "resamples": 59, "seed": seed, "bayes_plot": None}
        for one in (sheet._cllr_cal(trials, draws, known), sheet._dev_pav(trials, tc.Tally.of(trials), draws)):
            assert one.interval.low <= one.value <= one.interval.high
            above[one.name] += one.interval.low > 0.0
    assert max(above.values()) <= 3  # of 30, where 5 % are allowed


def test_lrs_that_are_off_are_blamed():
    trials = calibrated(np.random.default_rng(12), 1000, 1000)
    off = tc.Trials.of_llr(trials.llr + 2.0, trials.known_labels())
    ends = {one.name: one.interval for one in forensics.validation(off, resamples=99).measures}
    assert ends["Cllr cal (bits)"].low > 0.05
    assert ends["devPAV"].low < 2.0 / math.log(10.0) < ends["devPAV"].high
    assert ends["devPAV"].low > 0.4


def test_the_sheet_has_the_intervals_of_evaluate_and_says_where_there_are_none(scored):
    trials = tc.Logistic.fit(scored)(calibrated(np.random.default_rng(13), 300, 300))
    known = tc.evaluate(trials, [], ci=0.9).intervals
    sheet = {one.name: one for one in forensics.validation(trials, ci=0.9, resamples=39).measures}
    for name, key in (("Cllr (bits)", "cllr"), ("min Cllr (bits)", "min_cllr"), ("EER (rocch)", "eer")):
        assert sheet[name].interval == (known[key].low, known[key].high, known[key].method)
    few = forensics.validation(calibrated(np.random.default_rng(14), 30, 30), resamples=39).measures
    assert [one.interval is None for one in few[:3]] == [True] * 3
    assert "fewer than 250" in few[0].note
    assert all("no interval" in one.note for one in few[:3])


def test_the_sheet_says_how_its_intervals_were_made(scored):
    sheet = forensics.validation(tc.Logistic.fit(scored)(scored), resamples=39, by="source", seed=5)
    assert {key: sheet.to_dict()[key] for key in ("by", "resamples", "seed")} == {
        "by": "source",
        "resamples": 39,
        "seed": 5,
    }
    page = sheet.to_html()
    assert "all trials of one source" in page
    assert tc.__version__ in page


def test_the_sheet_of_extreme_lrs_says_what_there_is():
    apart = forensics.validation(tc.Trials.of_lr([10.0, 100.0, 0.1, 0.01], [1, 1, 0, 0]), resamples=39)
    assert "<td>strongest misleading LR</td><td class=n>none</td><td class=n>none</td>" in apart.to_html()
    lrs = tc.Trials.of_lr([0.0, 10.0, math.inf, 100.0, 0.0, 0.1, 5.0], [1, 1, 1, 1, 0, 0, 0])
    sheet = forensics.validation(lrs, resamples=39)
    page = sheet.to_html()
    assert "<td>strongest misleading LR</td><td class=n>0</td><td class=n>5</td>" in page
    for one in sheet.measures:
        assert html.escape(one.note) in page  # a reason is not cut off
    assert "LRs as given: infinite" in page


def test_a_pav_block_that_begins_at_an_lr_of_0_is_drawn_where_lrs_are_finite():
    lrs = tc.Trials.of_lr([0.0, 10.0, math.inf, 100.0, 0.0, 0.1, 5.0], [1, 1, 1, 1, 0, 0, 0])
    axes = Figure().add_subplot()
    _page.pav_plot(axes, forensics.validation(lrs, resamples=39))
    drawn = axes.lines[0].get_xydata()
    assert drawn.ravel() == pytest.approx([-1.0, math.log10(0.25), math.log10(5.0), math.log10(0.25)])
