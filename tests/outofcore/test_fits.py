"""Calibrators from parts: the bits of no cut, order, thread or engine, and the answers of the fits in memory."""

import json
import math
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

import tercet as tc
from tercet._numeric.exact import GRID, exact_square_sum, exact_sum, grid_sum
from tercet.calibration._logistic_sums import Moments
from tercet.calibration.two_class import Gaussian, Isotonic, Logistic, Threshold
from tercet.metrics.tally import Ranked
from tercet.outofcore.executors import Threads
from tercet.outofcore.limits import Budget

from .helpers import TINY, Pieces, fitted, hard_sets

ROWS = 3000
METHODS = [
    (Logistic, {}),
    (Logistic, {"penalty": 0.01}),
    (Isotonic, {}),
    (Isotonic, {"raw": True}),
    (Gaussian, {}),
    (Gaussian, {"shared_variance": False}),
    (Threshold, {}),  # its second argument is the operating point, here a prior
]
IDS = [f"{method.method}-{'-'.join(more) or 'plain'}" for method, more in METHODS]


@pytest.fixture(scope="module")
def trials():
    rng = np.random.default_rng(0)
    labels = rng.random(ROWS) < 0.3
    return np.round(rng.normal(size=ROWS) * 2 + labels * 2, 2), labels


@pytest.fixture
def small(monkeypatch):
    """Budgets so small that a few thousand rows take bins, several parts and splits, and some parts wait."""
    monkeypatch.setattr(Budget, "of", lambda *_, **__: Budget(kept=300, edges=128, part=400, at_once=0, spare=8000))


def write(path, scores, labels, **more):
    pq.write_table(pa.table({"score": scores, "label": labels}), path, **{"row_group_size": 250, **more})
    return path


def in_memory(method, scores, labels, prior=0.2, **more):
    return method.fit(tc.Trials.of_scores(np.asarray(scores, np.float64), labels), prior, **more)


def assert_same_map(found, truth, tolerance=1e-12):
    """To the bit, but for the logistic map, whose sums in memory are rounded."""
    if not isinstance(found, Logistic):
        assert found.to_json() == truth.to_json()
        return
    mine, others = (json.loads(one.to_json()) for one in (found, truth))
    assert found.slope == pytest.approx(truth.slope, rel=tolerance)
    assert found.offset == pytest.approx(truth.offset, rel=tolerance, abs=tolerance)
    for facts in (mine["training"], others["training"]):
        assert facts.pop("gradient_norm") < 1e-9
        facts.pop("iterations")
    assert mine["training"] == others["training"]


# Chunks


@pytest.mark.parametrize(("method", "more"), METHODS, ids=IDS)
def test_chunks_and_the_order_of_rows_change_no_bit(trials, method, more):
    scores, labels = trials
    order = np.random.default_rng(1).permutation(ROWS)
    cuts = [(), (1500,), (1, 2, 700, 701, 1500, 2999)]
    found = [fitted(method, Pieces(scores, labels, cut), 0.2, budget=TINY, **more) for cut in cuts]
    found.append(fitted(method, Pieces(scores[order], labels[order], (1000,)), 0.2, budget=TINY, **more))
    assert len({one.to_json() for one in found}) == 1
    assert_same_map(found[0], in_memory(method, scores, labels, **more))


@settings(max_examples=60, deadline=None)
@given(hard_sets(), st.lists(st.integers(0, 200), max_size=6).map(sorted), st.integers(0, 2**31), st.data())
def test_hard_sets_give_the_bits_of_one_chunk_and_the_answer_or_error_of_memory(rows, cuts, seed, data):
    scores, labels = rows
    method, more = data.draw(st.sampled_from(METHODS))
    order = np.random.default_rng(seed).permutation(len(scores))
    sources = Pieces(scores, labels), Pieces(scores[order], labels[order], [cut for cut in cuts if cut < len(scores)])
    found = [answer(lambda source=source: fitted(method, source, 0.2, budget=TINY, **more)) for source in sources]
    truth = answer(lambda: in_memory(method, scores, labels, **more))
    assert found[0] == found[1]
    texts = [one for one in (found[0], truth) if one.startswith("Logistic calibration did not converge")]
    if texts:  # scores over hundreds of orders of magnitude: where Newton's steps end is a matter of rounding
        return
    if method is not Logistic or not truth.startswith("{"):
        assert found[0] == truth
        return
    mine, others = tc.load_model(found[0]), tc.load_model(truth)
    assert max(mine.training["gradient_norm"], others.training["gradient_norm"]) < 1e-9
    if (least := curvature(others, scores, labels)) > 1e-6:
        assert np.allclose(mine(scores), others(scores), rtol=1e-13 / least, atol=1e-13 / least)


def answer(fit):
    """The saved model, or the words of the error."""
    try:
        return fit().to_json()
    except tc.CalibrationError as error:
        return str(error)


def curvature(model, scores, labels, prior=0.2):
    """The least curvature of the cross-entropy at a map, on standard scores: how well its optimum can be known."""
    scores = np.asarray(scores, np.float64)
    z = np.exp(-np.abs(model(scores) + math.log(prior / (1 - prior))))
    x = scores / np.abs(scores).max()
    x = (x - x.mean()) / x.std()
    xi = np.where(labels, prior / labels.sum(), (1 - prior) / (~labels).sum()) * z / (1 + z) ** 2
    return float(np.linalg.eigvalsh([[xi @ (x * x), xi @ x], [xi @ x, xi.sum()]])[0])


def test_ninety_per_cent_in_one_score_and_ranges_too_narrow_for_leading_bits():
    rng = np.random.default_rng(3)
    labels = rng.random(4000) < 0.4
    plain = rng.normal(size=4000) + labels
    piled = np.where(rng.random(4000) < 0.9, 0.25, plain)
    for scores in (piled, 1.0 + 1e-9 * plain, 1e6 + plain, 1e300 * plain, 1e-290 * plain, plain.astype(np.float32)):
        for method, more in METHODS:
            found = fitted(method, Pieces(scores, labels, (17, 1000)), 0.2, budget=TINY, **more)
            # A map through 1e6 + x, in doubles, is known to 1e6 ulp only: so is its in-memory twin.
            assert_same_map(found, in_memory(method, scores, labels, **more), 1e-9)


def test_the_start_from_leading_bits_leaves_two_passes_over_all_rows(trials):
    asked = []

    class Watched(Pieces):
        def chunks(self):
            asked.append(1)
            return super().chunks()

    rng = np.random.default_rng(5)
    labels = rng.random(50_000) < 0.5
    model = fitted(Logistic, Watched(rng.normal(size=50_000) + labels, labels))
    assert len(asked) == 3  # the summary, and the sums at two points
    assert model.training["iterations"] == 1


@given(hard_sets())
@settings(max_examples=30, deadline=None)
def test_a_penalty_always_has_an_answer_and_it_is_the_one_of_memory(rows):
    scores, labels = rows
    assume(np.isfinite(scores).all() and scores.min() < scores.max() and float(np.abs(scores).max()) < 1e100)
    assume(0 < labels.sum() < len(labels))
    found = fitted(Logistic, Pieces(scores, labels, (1,)), 0.3, penalty=1.0)
    truth = in_memory(Logistic, scores, labels, 0.3, penalty=1.0)
    assert np.allclose(found(scores), truth(scores), rtol=1e-9, atol=1e-9)


# Files


@pytest.mark.parametrize(("method", "more"), METHODS, ids=IDS)
@pytest.mark.parametrize("kind", [np.float64, np.float32])
def test_files_threads_and_row_groups_give_the_map_of_memory(tmp_path, trials, small, method, more, kind):
    scores, labels = trials[0].astype(kind), trials[1]
    order = np.random.default_rng(2).permutation(ROWS)
    for place, rows in enumerate(np.array_split(order, 7)):
        write(tmp_path / f"part-{place}.parquet", scores[rows], labels[rows], row_group_size=100)
    whole = write(tmp_path / "whole.parquet", scores, labels, row_group_size=1300)
    found = [
        fitted(method, str(tmp_path / "part-*.parquet"), 0.2, **more),
        fitted(method, whole, 0.2, workers=1, **more),
        fitted(method, whole, 0.2, workers=4, **more),
    ]
    assert len({one.to_json() for one in found}) == 1
    assert_same_map(found[0], in_memory(method, scores, labels, **more))


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_two_dask_workers_give_the_same_bits(tmp_path, trials, small):
    distributed = pytest.importorskip("distributed")
    path = write(tmp_path / "a.parquet", *trials)
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0, silence_logs=50
    ) as cluster:
        for method, more in METHODS[::2]:
            where = {"engine": "dask", "scheduler": cluster.scheduler_address}
            assert fitted(method, path, **where, **more).to_json() == fitted(method, path, **more).to_json()


def test_a_run_goes_on_from_saved_parts(tmp_path, trials, small, monkeypatch):
    path = write(tmp_path / "a.parquet", *trials)
    truth = fitted(Logistic, path).to_json()
    seen = []
    watched = fitted(Logistic, path, resume=tmp_path / "parts", progress=lambda *pair: seen.append(pair))
    assert watched.to_json() == truth
    passes, rest = divmod(seen[-1][0], path.stat().st_size)
    assert (rest, passes) == (0, watched.training["iterations"] + 2)  # the summary, the start, and each step
    assert [pair[0] for pair in seen] == sorted(pair[0] for pair in seen)
    saved = sorted((tmp_path / "parts").iterdir())
    assert len(saved) > 3
    saved[0].unlink()
    calls = []
    collect = Threads.collect
    monkeypatch.setattr(Threads, "collect", lambda *a: calls.append(len(a[3])) or collect(*a))
    assert fitted(Logistic, path, resume=tmp_path / "parts").to_json() == truth
    assert sum(calls) == 1  # all but the lost part were there


@pytest.mark.parametrize(
    ("fault", "says"),
    [(lambda results: results + results[:1], "counted twice"), (lambda results: results[1:], "was not counted")],
)
def test_a_result_delivered_twice_or_lost_is_an_error(tmp_path, trials, small, monkeypatch, fault, says):
    path = write(tmp_path / "a.parquet", *trials)
    collect = Threads.collect
    monkeypatch.setattr(Threads, "collect", lambda *a: iter(fault(list(collect(*a)))))
    with pytest.raises(tc.InputError, match=says):
        fitted(Gaussian, path)


def test_rows_that_change_between_passes_are_found(trials):
    scores, labels = trials

    class Growing:
        def __init__(self):
            self.rows = ROWS - 10

        def chunks(self):
            self.rows += 1
            yield scores[: self.rows], labels[: self.rows]

    with pytest.raises(tc.InputError, match="changed while they were read"):
        fitted(Logistic, Growing())


def test_the_meaning_is_kept_and_its_range_is_judged(tmp_path, trials, small):
    scores, labels = trials
    posteriors = 1.0 / (1.0 + np.exp(-scores))
    path = write(tmp_path / "a.parquet", posteriors, labels)
    for method in (Logistic, Isotonic, Gaussian):
        found = fitted(method, path, meaning="posterior", trained_prior=0.3)
        assert_same_map(found, method.fit(tc.Trials.of_posteriors(posteriors, labels, trained_prior=0.3)))
        with pytest.raises(tc.InputError, match="trained_prior"):
            fitted(method, path, meaning="posterior")
    posteriors[2345] = 1.5
    path = write(tmp_path / "bad.parquet", posteriors, labels)
    for method in (Logistic, Isotonic, Gaussian):
        with pytest.raises(tc.InputError, match=r"bad\.parquet: row 2345 .*0\.\.1, not 1\.5"):
            fitted(method, path, meaning="posterior", trained_prior=0.3)


def test_a_nan_is_named_by_its_place(tmp_path, trials, small):
    scores = trials[0].copy()
    scores[1234] = np.nan
    path = write(tmp_path / "bad.parquet", scores, trials[1])
    for method in (Logistic, Isotonic, Gaussian):
        with pytest.raises(tc.InputError, match=r"bad\.parquet: row 1235, column .score."):
            fitted(method, path)
        with pytest.raises(tc.InputError, match=r"Chunk 1: row 234 .*NaN"):
            fitted(method, Pieces(scores, trials[1], (1000, 2000)))


# What has no answer


@pytest.mark.parametrize("method", [Logistic, Isotonic, Gaussian])
@pytest.mark.parametrize(("label", "missing"), [(True, "non-targets"), (False, "targets")])
def test_one_class_is_refused_in_the_words_of_memory(tmp_path, method, label, missing):
    scores, labels = np.array([1.0, 2.0]), np.array([label, label])
    words = f"There is nothing to calibrate: there are no {missing} among the trials."
    for fit in (
        lambda: fitted(method, Pieces(scores, labels, (1,))),
        lambda: fitted(method, Pieces(scores, labels), budget=TINY),
        lambda: fitted(method, write(tmp_path / "a.parquet", scores, labels)),
        lambda: method.fit(tc.Trials.of_scores(scores, labels)),
    ):
        with pytest.raises(tc.CalibrationError) as caught:
            fit()
        assert str(caught.value) == words


@pytest.mark.parametrize("method", [Logistic, Isotonic, Gaussian])
def test_no_trials_at_all_are_refused(tmp_path, method):
    empty = np.empty(0), np.zeros(0, bool)
    with pytest.raises(tc.CalibrationError, match="there are no targets"):
        fitted(method, Pieces(*empty))
    with pytest.raises(tc.InputError, match="no rows"):
        fitted(method, write(tmp_path / "a.parquet", *empty))


@pytest.mark.parametrize(
    ("method", "scores"),
    [
        (Logistic, [0.0, 1.0, 1.0, 2.0]),
        (Logistic, [2.0, 1.0, 1.0, 0.0]),
        (Logistic, [3.0, 3.0, 3.0, 3.0]),
        (Gaussian, [3.0, 3.0, 3.0, 3.0]),
        (Gaussian, [1.0, 1.0, 3.0, 3.0]),
        (Logistic, [0.0, math.inf, 1.0, 2.0]),
        (Gaussian, [0.0, 1.0, -math.inf, 2.0]),
    ],
)
def test_what_has_no_answer_is_refused_in_the_words_of_memory(method, scores):
    labels = np.array([False, False, True, True])
    with pytest.raises(tc.CalibrationError) as truth:
        in_memory(method, scores, labels)
    with pytest.raises(tc.CalibrationError) as caught:
        fitted(method, Pieces(np.array(scores), labels, (1, 3)))
    assert str(caught.value) == str(truth.value)


def test_infinite_scores_are_ranked_by_isotonic(trials):
    scores, labels = trials[0].copy(), trials[1]
    scores[:6] = math.inf, -math.inf, math.inf, -math.inf, math.inf, -math.inf
    found = fitted(Isotonic, Pieces(scores, labels, (100,)), budget=TINY)
    assert found.to_json() == Isotonic.fit(tc.Trials.of_scores(scores, labels)).to_json()


@pytest.mark.parametrize(
    ("method", "more", "says"),
    [
        (Logistic, {"penalty": -1.0}, "penalty"),
        (Logistic, {"prior": 1.5}, "prior"),
        (Isotonic, {"prior": 0.0}, "prior"),
        (Gaussian, {"meaning": "guess"}, "meaning must be one of"),
        (Gaussian, {"engine": "flink"}, "engine is one of"),
        (Isotonic, {"engine": "flink"}, "engine is one of"),
        (Gaussian, {"scheduler": "tcp://127.0.0.1:9"}, "is for engine='dask' only"),
        (Logistic, {"memory_limit": 1000}, "is too small to work with"),
        (Logistic, {"score_column": "llr"}, "has no column 'llr'"),
    ],
)
def test_a_question_that_cannot_be_asked_is_refused(tmp_path, trials, method, more, says):
    path = write(tmp_path / "a.parquet", *trials)
    with pytest.raises(tc.InputError, match=says):
        fitted(method, path, **more)


def test_a_calibrator_that_cannot_be_scanned_says_what_it_needs(tmp_path, trials):
    source = tc.scan(write(tmp_path / "a.parquet", *trials))
    for ask in (lambda: tc.Tally.of(source), lambda: tc.decide(source, 0.5)):
        with pytest.raises(tc.InputError, match="Trials are needed, not a Scan"):
            ask()
    with pytest.raises(tc.InputError, match="keeps every distinct score of its trials, at most 20000 per class"):
        tc.KernelDensity.fit(source)
    with pytest.raises(tc.InputError, match="A fusion cannot be trained on scans"):
        tc.Fusion.fit([source, source])
    assert len(source.read()) == ROWS


@given(hard_sets(), st.sampled_from(METHODS), st.sampled_from(["whole", "any"]))
@settings(max_examples=40, deadline=None)
def test_weights_give_the_map_of_memory(rows, how, kind):
    scores, labels = rows
    method, more = how
    rng = np.random.default_rng(len(scores))
    weights = rng.integers(0, 5, len(scores)).astype(float) if kind == "whole" else rng.random(len(scores))
    weights[:2] = 1.0

    class Weighted:
        def chunks(self):
            yield from zip(*(np.array_split(column, 3) for column in (scores, labels, weights)), strict=True)

    found = answer(lambda: fitted(method, Weighted(), 0.2, budget=TINY, **more))
    truth = answer(lambda: method.fit(tc.Trials.of_scores(scores, labels, weights=weights), 0.2, **more))
    if method is not Logistic or not truth.startswith("{"):
        assert found == truth or "did not converge" in found + truth
        return
    if found.startswith("{") and (least := curvature(tc.load_model(truth), scores, labels)) > 1e-4:
        assert np.allclose(
            tc.load_model(found)(scores), tc.load_model(truth)(scores), rtol=1e-12 / least, atol=1e-12 / least
        )


# The sums underneath


@given(st.lists(st.floats(-1e100, 1e100), max_size=40))
@example([1.0 + 2.0**-52] * 3)
def test_exact_square_sums_are_those_of_fractions(values):
    x = np.array(values, np.float64)
    x[np.abs(x) < 1e-100] = 0.0  # smaller squares leave the doubles
    total = sum((Fraction(value) ** 2 for value in x.tolist()), Fraction(0))
    assert Fraction(exact_square_sum(x), 1 << 1074) == total
    weights = np.arange(len(x)) * 1000
    weighted = sum((Fraction(v) ** 2 * w for v, w in zip(x.tolist(), weights.tolist(), strict=True)), Fraction(0))
    assert Fraction(exact_square_sum(x, weights), 1 << 1074) == weighted


@given(st.lists(st.floats(-4.0, 4.0), max_size=60), st.integers(2, 5), st.randoms())
def test_grid_sums_round_each_value_once_and_know_no_order(values, exponent, random):
    x = np.array(values, np.float64)
    unit = 2.0 ** (exponent - GRID)
    assert grid_sum(x, exponent) == sum(round(value / unit) for value in values)
    fine = unit * 2.0**-GRID
    assert grid_sum(x, exponent, 2) == sum(round(Fraction(value) / Fraction(fine)) for value in values)
    random.shuffle(values)
    assert grid_sum(np.array(values, np.float64), exponent) == grid_sum(x, exponent)


def test_a_full_block_of_the_largest_values_does_not_wrap_around():
    for value in (4.0, -4.0):
        assert grid_sum(np.full(1 << 13, value), 2) == int(value) << (13 + GRID - 2)
        assert grid_sum(np.full(1 << 13, value), 2, 2) == int(value) << (13 + 2 * GRID - 2)


@given(st.lists(st.integers(-1000, 1000), min_size=1, max_size=50), st.sampled_from([0.0, 1e9, 2.0**40 + 0.125]))
def test_moments_are_rounded_once(values, shift):
    x = np.sort(np.array(values) / 7.0 + shift)
    exact = [Fraction(value) for value in x.tolist()]
    mean = sum(exact) / len(exact)
    found = Moments.of(Ranked(x))
    assert found.mean == float(mean)
    assert found.variance == float(sum((value - mean) ** 2 for value in exact) / len(exact))
    assert found.first == exact_sum(x)


def test_isotonic_fits_scans_of_log_odds():
    rng = np.random.default_rng(0)
    labels = rng.random(2000) < 0.5
    scores = rng.normal(size=2000) + labels
    budget = Budget(kept=300, edges=64, part=1000, at_once=0)
    found = fitted(Isotonic, Pieces(scores, labels), meaning="log-odds", trained_prior=0.3, budget=budget)
    trials = tc.Trials.of_log_odds(scores, labels, trained_prior=0.3)
    assert np.array_equal(found.thresholds, Isotonic.fit(trials).thresholds)
