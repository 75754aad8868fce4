"""Any chunking, any bins: the same bits as in memory."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tercet as tc
from tercet.outofcore.bins import BinCounts, RangeRows
from tercet.outofcore.chunks import Arrays
from tercet.outofcore.limits import Budget
from tercet.outofcore.refinement import Points, resolved

from .helpers import APPS, TINY, Pieces, assert_same_bits, evaluated, hard_sets, in_memory

MEANINGS = {
    "llr": (tc.Trials.of_llr, {}),
    "lr": (tc.Trials.of_lr, {}),
    "log10-llr": (tc.Trials.of_log10_llr, {}),
    "log-odds": (tc.Trials.of_log_odds, {"trained_prior": 0.2}),
    "posterior": (tc.Trials.of_posteriors, {"trained_prior": 0.2}),
    "raw": (tc.Trials.of_scores, {}),
}


@given(
    hard_sets(),
    st.lists(st.integers(0, 200), max_size=6),
    st.sampled_from(["rocch", "interpolated", "nearest"]),
    st.integers(0, 60),
    st.integers(2, 40),
)
@settings(max_examples=200, deadline=None)
def test_any_chunking_and_any_budget_gives_the_bits_of_memory(trials, cuts, eer, kept, edges):
    scores, labels = trials
    budget = Budget(kept, edges, 64, 0)
    truth = in_memory(scores, labels, eer=eer)
    found = evaluated(Pieces(scores, labels, sorted(cuts)), APPS, eer=eer, budget=budget)
    assert_same_bits(found, truth)
    low, high = found.curve.auc_bracket
    assert low <= truth.auc <= high
    assert found.input["revisited"] <= max(kept, 0)


@given(hard_sets(), st.randoms(use_true_random=False))
@settings(max_examples=30, deadline=None)
def test_row_order_never_matters(trials, random):
    scores, labels = trials
    order = list(range(len(scores)))
    random.shuffle(order)
    one = evaluated(Pieces(scores, labels, [10]), APPS, budget=TINY)
    two = evaluated(Pieces(scores[order], labels[order], [3, 90]), APPS, budget=TINY)
    assert_same_bits(one, two)


@pytest.mark.parametrize("meaning", MEANINGS)
def test_every_meaning_gives_the_bits_of_memory(meaning):
    make, more = MEANINGS[meaning]
    rng = np.random.default_rng(5)
    labels = rng.random(5000) < 0.3
    scores = rng.normal(size=5000) + labels
    if meaning == "lr":
        scores = np.exp(scores)
    if meaning == "posterior":
        scores = 1.0 / (1.0 + np.exp(-4 * scores))
        scores[:50] = 1.0
        scores[50:60] = 0.0
    truth = tc.evaluate(make(scores, labels, **more), APPS)
    found = evaluated(Pieces(scores, labels, [1000, 1001]), APPS, meaning=meaning, budget=TINY, **more)
    assert_same_bits(found, truth)
    assert found.meaning == meaning
    assert found.reasons == truth.reasons


def test_a_first_chunk_that_tells_nothing_costs_passes_and_no_bits():
    rng = np.random.default_rng(1)
    scores = np.sort(rng.normal(size=20_000))
    labels = rng.random(20_000) < 1 / (1 + np.exp(-2 * scores))
    budget = Budget(kept=200, edges=64, part=64, at_once=0)
    found = evaluated(Pieces(scores, labels, range(1000, 20_000, 1000)), APPS, budget=budget)
    assert_same_bits(found, in_memory(scores, labels))
    assert found.input["passes"] > 2


def test_ninety_percent_in_one_value_need_no_room():
    rng = np.random.default_rng(1)
    scores = np.where(rng.random(20_000) < 0.9, 0.125, rng.normal(size=20_000))
    labels = rng.random(20_000) < 0.5
    found = evaluated(Pieces(scores, labels, [7000]), APPS, budget=Budget(100, 64, 64, 0))
    assert_same_bits(found, in_memory(scores, labels))


def test_ninety_percent_in_one_narrow_bin_are_split_until_they_fit():
    rng = np.random.default_rng(1)
    labels = rng.random(20_000) < 0.5
    dense = 1.0 + 2.0**-40 * (rng.normal(size=20_000) + labels)
    scores = np.where(rng.random(20_000) < 0.9, dense, rng.normal(size=20_000) * 50)
    source = Pieces(scores, labels, [7000])
    found = evaluated(source, APPS, budget=Budget(300, 16, 64, 0))
    assert_same_bits(found, in_memory(scores, labels))
    assert found.input["revisited"] <= 300


def test_the_auc_is_exact_where_the_rows_can_be_held():
    rng = np.random.default_rng(2)
    labels = rng.random(3000) < 0.5
    scores = rng.normal(size=3000) + labels
    truth = in_memory(scores, labels)
    found = evaluated(Pieces(scores, labels), APPS, budget=Budget(3000, 64, 64, 0))
    assert found.auc == truth.auc
    assert found.brackets == {}
    assert "brackets" not in found.to_dict()


def test_an_auc_that_is_a_bracket_says_so():
    rng = np.random.default_rng(2)
    labels = rng.random(30_000) < 0.5
    scores = rng.normal(size=30_000) + labels
    found = evaluated(Pieces(scores, labels), APPS, budget=Budget(1000, 64, 64, 0))
    low, high = found.brackets["auc"]
    assert low < in_memory(scores, labels).auc < high
    assert low <= found.auc <= high
    assert found.to_dict()["brackets"] == {"auc": [low, high]}
    assert repr(low) in repr(found)
    assert repr(high) in repr(found)
    with pytest.raises(tc.InputError, match="raise memory_limit"):
        _ = found.curve.auc


def test_what_needs_every_score_is_refused_not_guessed():
    rng = np.random.default_rng(2)
    labels = rng.random(3000) < 0.5
    found = evaluated(Pieces(rng.normal(size=3000) + labels, labels), APPS, budget=TINY)
    for ask in (
        lambda: found.curve.average_precision,
        lambda: found.curve.partial_auc(fpr=(0, 0.1)),
        lambda: found.curve.precision_at(5),
        lambda: found.curve.precision_at_recalled(5),
        lambda: tc.useful_priors(found.curve),
        lambda: tc.cllr(found.curve.tally),
    ):
        with pytest.raises(tc.InputError):
            ask()


def test_errors_at_a_threshold_are_exact_or_refused():
    rng = np.random.default_rng(2)
    labels = rng.random(3000) < 0.5
    scores = rng.normal(size=3000) + labels
    found = evaluated(Pieces(scores, labels), APPS, budget=TINY)
    truth = in_memory(scores, labels).curve.tally
    known = 0
    for threshold in [-np.inf, np.inf, *found.curve.hull.thresholds, *rng.normal(size=50)]:
        try:
            assert found.curve.tally.at(threshold) == truth.at(threshold)
            known += 1
        except tc.InputError:
            pass
    assert known >= 2 + len(found.curve.hull.thresholds)


def test_the_thinned_curve_and_the_histogram_are_true_points():
    rng = np.random.default_rng(2)
    labels = rng.random(30_000) < 0.3
    scores = rng.normal(size=30_000) + labels
    scores[:5] = np.inf, -np.inf, np.inf, -np.inf, -np.inf
    found = evaluated(Pieces(scores, labels), APPS, budget=Budget(3000, 512, 64, 0)).to_dict()
    truth = in_memory(scores, labels)
    assert set(truth.to_dict()) <= set(found)
    curve = found["curve"]
    thresholds = np.array([float(value) for value in curve["thresholds"][1:]])
    misses, alarms = truth.curve.tally.at(thresholds)
    assert curve["misses"][1:] == misses.tolist()
    assert curve["false_alarms"][1:] == alarms.tolist()
    histogram = found["histogram"]
    edges = np.array(histogram["edges"])
    for key, side in (("targets", truth.curve.tally.targets), ("nontargets", truth.curve.tally.nontargets)):
        counts = [*side.below(edges[:-1]), side.upto(edges[-1])]
        assert histogram[key]["below"] == counts[0]
        assert histogram[key]["bins"] == np.diff(counts).tolist()
        assert histogram[key]["above"] == side.total - counts[-1]


def test_arrays_are_a_source_of_chunks():
    rng = np.random.default_rng(3)
    labels = rng.integers(0, 2, 1000)
    scores = rng.normal(size=1000) + labels
    found = evaluated(Arrays(scores, labels, rows=300), APPS, budget=TINY)
    assert_same_bits(found, in_memory(scores, labels))
    with pytest.raises(tc.InputError, match="999 entries"):
        evaluated(Arrays(scores, labels[1:]), APPS)


@given(hard_sets(), st.lists(st.integers(0, 200), max_size=4), st.sampled_from(["whole", "halves", "any", "huge"]))
@settings(max_examples=60, deadline=None)
def test_weights_give_the_bits_of_memory(trials, cuts, kind):
    scores, labels = trials
    rng = np.random.default_rng(len(scores))
    weights = {
        "whole": rng.integers(0, 5, len(scores)).astype(float),
        "halves": rng.integers(0, 9, len(scores)) / 8.0,
        "any": rng.random(len(scores)),
        "huge": 10.0 ** rng.uniform(-30, 30, len(scores)),
    }[kind]
    weights[:2] = 1.0
    truth = tc.evaluate(tc.Trials.of_llr(scores, labels, weights=weights), APPS)

    class Weighted:
        def chunks(self):
            yield from zip(*(np.split(column, sorted(cuts)) for column in (scores, labels, weights)), strict=True)

    found = evaluated(Weighted(), APPS, budget=TINY)
    assert_same_bits(found, truth)
    low, high = found.curve.auc_bracket
    assert low <= truth.auc <= high


@pytest.mark.parametrize("unit", [0.125, 1.0, 4.0, 1e-200])
def test_chunks_with_and_without_weights_give_the_bits_of_memory(unit):
    rng = np.random.default_rng(0)
    labels = rng.random(600) < 0.4
    scores, weights = rng.normal(size=600) + labels, np.where(np.arange(600) < 300, 1.0, unit * rng.integers(1, 9, 600))

    class Mixed:
        def chunks(self):
            yield scores[:100], labels[:100]
            yield scores[100:400], labels[100:400], weights[100:400]
            yield tc.Trials.of_llr(scores[400:], labels[400:], weights=weights[400:])

    truth = tc.evaluate(tc.Trials.of_llr(scores, labels, weights=weights), APPS)
    for budget in (TINY, Budget(10**6, 16, 64, 0)):
        assert_same_bits(evaluated(Mixed(), APPS, budget=budget), truth)


def test_trials_are_chunks_too():
    rng = np.random.default_rng(0)
    labels = rng.random(500) < 0.5
    trials = tc.Trials.of_lr(np.exp(rng.normal(size=500) + labels), labels)

    class Two:
        def chunks(self):
            yield trials.select(slice(0, 200))
            yield trials.select(slice(200, 500))

    assert_same_bits(evaluated(Two(), APPS, meaning="lr", budget=TINY), tc.evaluate(trials, APPS))
    with pytest.raises(tc.InputError, match=r"Chunk 0: trials are lr .*but the scan has meaning='llr'"):
        evaluated(Two(), APPS)


@pytest.mark.parametrize("chunk", [np.arange(3.0), (np.arange(3.0),), "ab", None])
def test_a_chunk_of_another_kind_is_refused(chunk):
    class Odd:
        def chunks(self):
            yield chunk

    with pytest.raises(tc.InputError, match="Chunk 0: a chunk is Trials"):
        evaluated(Odd(), APPS, budget=TINY)


def test_a_source_that_changes_between_passes_is_found():
    rng = np.random.default_rng(3)
    labels = rng.random(3000) < 0.5

    class Restless:
        def chunks(self):
            scores = rng.normal(size=3000) + labels
            yield scores[:1500], labels[:1500]
            yield scores[1500:], labels[1500:]

    with pytest.raises(tc.InputError, match="changed while they were read"):
        evaluated(Restless(), APPS, budget=Budget(200, 64, 64, 0))


def test_a_source_that_loses_a_chunk_is_found():
    rng = np.random.default_rng(3)
    labels = rng.random(3000) < 0.5
    scores = rng.normal(size=3000) + labels

    class Forgetful:
        calls = 0

        def chunks(self):
            self.calls += 1
            yield scores[:1500], labels[:1500]
            if self.calls < 3:
                yield scores[1500:], labels[1500:]

    with pytest.raises(tc.InputError, match=r"not counted|changed"):
        evaluated(Forgetful(), APPS, budget=Budget(200, 64, 64, 0))


def test_a_class_without_trials_is_undefined():
    with pytest.raises(tc.UndefinedError, match="no targets"):
        evaluated(Pieces(np.arange(9.0), np.zeros(9, bool)), APPS, budget=TINY)
    with pytest.raises(tc.UndefinedError):
        evaluated(Pieces(np.empty(0), np.zeros(0, bool)), APPS, budget=TINY)
    nothing = Pieces(np.empty(0), np.zeros(0, bool))
    nothing.pieces = []
    with pytest.raises(tc.UndefinedError, match="no targets"):
        evaluated(nothing, APPS, meaning="posterior", trained_prior=0.3, budget=TINY)


def test_a_nan_in_a_chunk_is_named():
    scores = np.arange(100.0)
    scores[73] = np.nan
    with pytest.raises(tc.InputError, match=r"Chunk 2: row 13 .*NaN"):
        evaluated(Pieces(scores, np.arange(100) % 2 == 0, [30, 60]), APPS, budget=TINY)


def test_labels_that_are_not_marks_are_read_as_everywhere():
    scores, words = np.arange(6.0), np.array(["no", "yes"] * 3)
    with pytest.raises(tc.InputError, match="name the one that is the target"):
        evaluated(Pieces(scores, words), APPS, budget=TINY)
    found = evaluated(Pieces(scores, words), APPS, target="yes", budget=TINY)
    assert_same_bits(found, in_memory(scores, words == "yes"))


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"meaning": "nonsense"}, "meaning must be one of"),
        ({"eer": "nonsense"}, "eer must be"),
        ({"meaning": "posterior"}, "trained_prior is needed"),
        ({"bayes_plot": (3, -3, 5)}, "bayes_plot must be"),
        ({"memory_limit": 10**6}, "memory_limit of 1 MB is too small to work with"),
    ],
)
def test_a_wrong_question_is_refused_before_anything_is_read(more, says):
    class Unread:
        def chunks(self):
            raise AssertionError

    with pytest.raises(tc.InputError, match=says):
        evaluated(Unread(), APPS, **more)


def test_counts_beyond_64_bit_products_keep_the_hull_exact():
    """Each row stands for 2**40: products of counts need 80 bits."""
    rng = np.random.default_rng(4)
    labels = rng.random(400) < 0.5
    scores = rng.normal(size=400) + labels
    state = BinCounts.of_tally(tc.Tally.of(tc.Trials.of_llr(scores, labels)), np.linspace(-1, 2, 9))
    heavy = replace(state, targets=state.targets << 40, nontargets=state.nontargets << 40)
    small, large = Points.of(state), Points.of(heavy)
    for eer in ("rocch", "nearest"):
        assert np.array_equal(*(points.must_be_seen(eer, np.empty(0)) for points in (small, large)))
    curves = []
    for points in (small, large):
        none = points.ranges(np.zeros(len(points.keys) - 1, bool))
        curves.append(tc.Curve.of(resolved(points, none, RangeRows.sum(()).tally("llr", None))))
    assert curves[0].eer() == curves[1].eer()
    assert curves[0].auc_bracket == curves[1].auc_bracket
