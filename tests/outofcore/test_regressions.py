"""Beta, Offset and Affine from parts: the bits of no cut, file or engine, and the maps and errors of memory."""

import json
import math
import os
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import tercet as tc
from tercet._numeric.exact import exact_gram
from tercet.cli.main import main
from tercet.outofcore.limits import Budget

from .helpers import TINY, hard_sets

ROWS, NAMES = 900, ["dog", "cat", "cow", "emu"]
KINDS = ["offsets", "temperature", "scale", "matrix"]
PRIOR = (0.1, 0.2, 0.3, 0.4)


class Pieces:
    """Trials cut at given places."""

    def __init__(self, trials, cuts=()):
        self.trials, self.cuts, self.passes = trials, [0, *sorted(cuts), len(trials)], 0

    def chunks(self):
        self.passes += 1
        for start, stop in zip(self.cuts, self.cuts[1:], strict=False):
            yield self.trials.select(slice(start, stop))


def scanned(source, trials=None, **options):
    """A scan of chunks or files in tiny parts, read as the trials are."""
    if trials is not None:
        options |= {"meaning": trials.meaning, "trained_prior": trials.trained_prior}
    return replace(tc.scan(source, **options), budget=TINY)


def logits(seed, rows=ROWS, weighted=None, shift=1.5):
    """Scores of four classes with ties, and weights."""
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, rows)
    scores = np.round(rng.normal(size=(rows, 4)) * 2.0, 1)
    scores[np.arange(rows), labels] += shift
    weights = {None: None, "whole": rng.integers(0, 4, rows).astype(float), "any": rng.random(rows)}[weighted]
    return tc.Trials.of_logits(scores, labels, weights=weights, trained_prior=PRIOR)


def llrs(seed, rows=ROWS, weighted=None, falling=False):
    """Tied llrs of two classes; falling ones have a best slope below 0 at one end."""
    rng = np.random.default_rng(seed)
    labels = rng.random(rows) < 0.4
    scores = np.round(rng.normal(size=rows) * 1.5 + labels, 2)
    scores = np.where(labels, 0.3 * scores, 2.0 * scores) if falling else scores
    weights = {None: None, "whole": rng.integers(0, 4, rows).astype(float), "any": rng.random(rows)}[weighted]
    return tc.Trials.of_llr(scores, labels, weights=weights)


def numbers_of(model):
    """What a map computes with."""
    if isinstance(model, tc.Affine):
        return np.concatenate((model.weights.ravel(), model.offsets))
    return np.array([model.a, model.b, model.c] if isinstance(model, tc.Beta) else [model.offset])


def assert_same_map(found, truth, tolerance=1e-12):
    assert numbers_of(found) == pytest.approx(numbers_of(truth), rel=tolerance, abs=tolerance)
    searched = ("gradient_norm", "iterations")
    mine, others = ({k: v for k, v in one.training.items() if k not in searched} for one in (found, truth))
    assert mine == others
    assert found.training.get("gradient_norm", 0.0) < 1e-9


def assert_cuts_change_nothing(fit, trials, cuts):
    """One model from every cut and order of the rows, and that of memory."""
    order = np.random.default_rng(1).permutation(len(trials))
    sources = [Pieces(trials), Pieces(trials, cuts), Pieces(trials.select(order), cuts)]
    found = [fit(scanned(source, trials)) for source in sources]
    assert len({one.to_json() for one in found}) == 1
    assert_same_map(found[0], fit(trials))
    return sources[0].passes


# Chunks


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("weighted", [None, "whole", "any"])
@pytest.mark.parametrize("more", [{}, {"penalty": 0.01}, {"prior": (0.4, 0.3, 0.2, 0.1)}])
def test_affine_maps_of_any_chunks_are_those_of_memory(kind, weighted, more):
    trials = logits(3, weighted=weighted)
    passes = assert_cuts_change_nothing(lambda source: tc.Affine.fit(source, kind=kind, **more), trials, (1, 300, 301))
    assert passes <= 12


@pytest.mark.parametrize("falling", [False, True])
@pytest.mark.parametrize("weighted", [None, "whole", "any"])
@pytest.mark.parametrize("more", [{}, {"penalty": 0.01}, {"prior": 0.05}])
def test_beta_maps_of_any_chunks_are_those_of_memory(falling, weighted, more):
    trials = llrs(4, weighted=weighted, falling=falling)
    assert_cuts_change_nothing(lambda source: tc.Beta.fit(source, **more), trials, (1, 300, 301))
    assert (tc.Beta.fit(trials, **more).b == 0.0) == falling


@pytest.mark.parametrize("weighted", [None, "whole", "any"])
@pytest.mark.parametrize("prior", [0.5, 0.02])
def test_offsets_of_any_chunks_are_those_of_memory_in_four_passes(weighted, prior):
    trials = llrs(5, weighted=weighted)
    assert assert_cuts_change_nothing(lambda source: tc.Offset.fit(source, prior), trials, (1, 300, 301)) <= 4


@given(st.integers(0, 10**6), st.lists(st.integers(0, 60), max_size=4), st.sampled_from([None, "whole", "any"]))
@settings(max_examples=25, deadline=None)
def test_few_rows_in_any_chunks_give_the_map_or_the_error_of_memory(seed, cuts, weighted):
    for trials, method in ((logits(seed, 60, weighted, 0.5), tc.Affine), (llrs(seed, 60, weighted), tc.Beta)):
        answers = []
        for source in (trials, scanned(Pieces(trials), trials), scanned(Pieces(trials, cuts), trials)):
            try:
                answers.append(method.fit(source))
            except tc.CalibrationError as error:
                answers.append(str(error))
        if isinstance(answers[0], str):
            assert answers[1] == answers[2]
            assert isinstance(answers[1], str)
        else:
            assert answers[1].to_json() == answers[2].to_json()
            assert_same_map(answers[1], answers[0], 1e-9)


@pytest.mark.parametrize("make", [
    lambda scores, labels: tc.Trials.of_posteriors(1 / (1 + np.exp(-scores)), labels, trained_prior=0.3),
    lambda scores, labels: tc.Trials.of_scores(1 / (1 + np.exp(-scores)), labels),
    lambda scores, labels: tc.Trials.of_log_odds(scores, labels, trained_prior=0.3),
    lambda scores, labels: tc.Trials.of_lr(np.exp(scores), labels),
])  # fmt: skip
def test_every_meaning_gives_the_map_of_memory(make):
    given_llrs = llrs(6)
    trials = make(given_llrs.scores, given_llrs.known_labels())
    for method in (tc.Beta, tc.Offset):
        assert_cuts_change_nothing(method.fit, trials, (200,))
    if trials.meaning != "raw":
        assert_cuts_change_nothing(lambda source: tc.Affine.fit(source, kind="temperature"), trials, (200,))


@given(hard_sets(), st.lists(st.integers(0, 200), max_size=6))
@settings(max_examples=60, deadline=None)
def test_offsets_of_hard_sets_are_those_of_memory(rows, cuts):
    trials = tc.Trials.of_llr(np.asarray(rows[0], np.float64), rows[1])
    found = []
    for source in (trials, scanned(Pieces(trials), trials), scanned(Pieces(trials, cuts), trials)):
        try:
            found.append(tc.Offset.fit(source).offset)
        except tc.CalibrationError as error:
            found.append(str(error))
    assert found[1] == found[2]
    if isinstance(found[0], str):
        assert found[1] == found[0]
    elif np.abs(trials.scores).max() < 1e6:  # beyond that the derivative may be 0 in a wide range
        assert found[1] == pytest.approx(found[0], rel=1e-9, abs=1e-9)


def test_columns_that_depend_on_each_other_get_the_weights_of_least_norm():
    rng = np.random.default_rng(7)
    labels = rng.integers(0, 3, ROWS)
    scores = rng.normal(size=(ROWS, 3))
    scores[np.arange(ROWS), labels] += 1.0
    scores[:, 2] = 0.5 * (scores[:, 0] + scores[:, 1])  # so one contrast of the scores never changes
    trials = tc.Trials.of_log_likelihoods(scores, labels)
    assert_cuts_change_nothing(lambda source: tc.Affine.fit(source, kind="matrix"), trials, (400,))


def test_tuples_of_two_classes_are_rows_too():
    trials = llrs(8, weighted="any")

    class Tuples:
        def chunks(self):
            columns = trials.scores, trials.known_labels(), trials.weights
            yield from zip(*(np.array_split(column, 3) for column in columns), strict=True)

    for fit in (tc.Beta.fit, tc.Offset.fit, tc.Affine.fit):
        assert_same_map(fit(scanned(Tuples())), fit(trials))


# Files


@pytest.fixture
def small(monkeypatch):
    """Parts of 150 rows."""
    monkeypatch.setattr(Budget, "of", lambda *_, **__: Budget(kept=300, edges=128, part=150, at_once=0, spare=4000))


def write(path, trials):
    """Two or four columns of scores, with labels and weights."""
    scores = trials.scores.T if trials.is_matrix else [trials.scores]
    names = NAMES if trials.is_matrix else ["score"]
    labels = np.array(NAMES)[trials.known_labels()] if trials.is_matrix else trials.known_labels()
    columns = {**dict(zip(names, scores, strict=True)), "label": labels}
    if trials.weights is not None:
        columns["w"] = trials.weights
    pq.write_table(pa.table(columns), path, row_group_size=100)
    return path


def reading(trials):
    options = {"meaning": trials.meaning, "weight_column": None if trials.weights is None else "w"}
    return options | ({"class_columns": NAMES, "trained_prior": PRIOR} if trials.is_matrix else {})


@pytest.mark.parametrize("weighted", [None, "any"])
def test_files_and_threads_give_the_maps_of_memory(tmp_path, small, weighted):
    for trials, fits in (
        (logits(9, weighted=weighted), (tc.Affine.fit, lambda one: tc.Affine.fit(one, kind="matrix"))),
        (llrs(9, weighted=weighted), (tc.Beta.fit, tc.Offset.fit)),
    ):
        folder, options = tmp_path / trials.meaning, reading(trials)
        folder.mkdir()
        whole = write(folder / "whole.parquet", trials)
        for place, rows in enumerate(np.array_split(np.random.default_rng(2).permutation(ROWS), 3)):
            write(folder / f"part-{place}.parquet", trials.select(rows))
        for fit in fits:
            found = [fit(tc.scan(whole, workers=count, **options)) for count in (1, 3)]
            found.append(fit(tc.scan(str(folder / "part-*.parquet"), **options)))
            assert len({one.to_json() for one in found}) == 1
            truth = fit(tc.read(whole, **options))
            assert_same_map(found[0], truth)
            assert not isinstance(truth, tc.Affine) or found[0].classes == truth.classes


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_dask_workers_and_saved_parts_give_the_same_bits(tmp_path, small):
    distributed = pytest.importorskip("distributed")
    for place, (trials, fit) in enumerate(((logits(10), tc.Affine.fit), (llrs(10), tc.Beta.fit))):
        path, options = write(tmp_path / f"{place}.parquet", trials), reading(trials)
        truth = fit(tc.scan(path, **options)).to_json()
        for _ in range(2):
            assert fit(tc.scan(path, resume=tmp_path / "parts", **options)).to_json() == truth
        with distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", memory_limit=0, silence_logs=50
        ) as cluster:
            where = {"engine": "dask", "scheduler": cluster.scheduler_address}
            assert fit(tc.scan(path, **where, **options)).to_json() == truth


@pytest.mark.parametrize("method", [tc.Beta, tc.Offset, tc.Affine])
def test_a_nan_is_named_by_its_row(tmp_path, small, method):
    trials = logits(11) if method is tc.Affine else llrs(11)
    scores = trials.scores.copy()
    scores[345] = np.nan
    columns = dict(zip(NAMES, scores.T, strict=True)) if method is tc.Affine else {"score": scores}
    labels = np.array(NAMES)[trials.known_labels()] if method is tc.Affine else trials.known_labels()
    pq.write_table(pa.table({**columns, "label": labels}), tmp_path / "bad.parquet")
    with pytest.raises(tc.InputError, match=r"bad\.parquet: row 346, column"):
        method.fit(tc.scan(tmp_path / "bad.parquet", **reading(trials)))


@pytest.mark.parametrize("method", [tc.Beta, tc.Offset, tc.Affine])
def test_rows_that_change_between_passes_are_found(tmp_path, small, method):
    trials = logits(12) if method is tc.Affine else llrs(12)

    class Growing(Pieces):
        def chunks(self):
            self.passes += 1
            yield self.trials.select(slice(0, ROWS - 10 + self.passes))

    with pytest.raises(tc.InputError, match="changed while they were read"):
        method.fit(scanned(Growing(trials), trials))
    path = write(tmp_path / "a.parquet", trials)
    size = path.stat().st_size

    def touch(done, _):
        if done >= size:  # the first pass is over
            os.utime(path, ns=(1, 1))

    with pytest.raises(tc.InputError, match="was written to while it was read"):
        method.fit(tc.scan(path, progress=touch, **reading(trials)))


# What has no answer


def words(fit, source):
    with pytest.raises((tc.CalibrationError, tc.InputError)) as caught:
        fit(source)
    return type(caught.value), str(caught.value)


def apart(seed, gap):
    """Scores of four classes that are separable if the gap is positive."""
    rng = np.random.default_rng(seed)
    labels = np.arange(80) % 4
    scores = rng.random((80, 4))
    scores[np.arange(80), labels] += 1.0 + gap
    return tc.Trials.of_log_likelihoods(scores, labels)


@pytest.mark.parametrize(
    ("fit", "trials"),
    [
        *((lambda source, kind=kind: tc.Affine.fit(source, kind=kind), apart(1, 0.1)) for kind in KINDS),
        (lambda source: tc.Affine.fit(source, kind="scale"),
         tc.Trials.of_log_likelihoods([[1.0, 1.0], [0.0, 1.0], [2.0, 2.0]], [0, 1, 1])),  # ties: no margin below 0
        (lambda source: tc.Affine.fit(source, kind="temperature"),
         tc.Trials.of_log_likelihoods(np.eye(2)[[1, 1, 1, 0, 0, 0, 0, 1]], [0, 0, 0, 0, 1, 1, 1, 1])),  # T < 0
        (tc.Beta.fit, tc.Trials.of_llr([1.0, 2.0, 2.0, 3.0], [0, 0, 1, 1])),
        (tc.Beta.fit, tc.Trials.of_llr([1.0, 2.0], [1, 1])),
        (tc.Offset.fit, tc.Trials.of_llr([1.0, 2.0], [1, 1])),
        (tc.Offset.fit, tc.Trials.of_llr([1.0, 2.0], [0, 0])),
        (tc.Affine.fit, tc.Trials.of_log_likelihoods(np.eye(3)[[0, 1, 1, 0]], [0, 1, 1, 0])),
        (tc.Affine.fit, tc.Trials.of_log_likelihoods(np.ones((4, 2)), [0, 1, 0, 1])),
        (lambda source: tc.Affine.fit(source, kind="matrix"),
         tc.Trials.of_log_likelihoods(np.ones((4, 2)), [0, 1, 0, 1])),
        (lambda source: tc.Affine.fit(source, [0.5, 0.6]), tc.Trials.of_llr([1.0, 2.0], [0, 1])),
        (lambda source: tc.Affine.fit(source, penalty=-1.0), tc.Trials.of_llr([1.0, 2.0], [0, 1])),
        (lambda source: tc.Affine.fit(source, kind="matrix"),
         tc.Trials.of_log_likelihoods(np.eye(30)[:29], np.arange(29))),  # more parameters than are taken
        (tc.Affine.fit, tc.Trials.of_log_likelihoods([[1e200, 0.0], [0.0, 1e200], [1.0, 2.0]], [0, 1, 0])),
        (tc.Beta.fit, tc.Trials.of_llr([1.0, math.inf, 0.5], [0, 1, 1])),
        (tc.Offset.fit, tc.Trials.of_llr([1.0, math.inf, 0.5], [0, 1, 1])),
        (tc.Offset.fit, tc.Trials.of_posteriors([0.5, 1.0, 0.2], [0, 1, 1], trained_prior=0.5)),
        (tc.Beta.fit, tc.Trials.of_posteriors([0.5, 0.0, 0.2], [0, 1, 1], trained_prior=0.5)),
        (tc.Offset.fit, tc.Trials.of_scores([1.7e308, -1.7e308, 0.2], [0, 1, 1])),
    ],
)  # fmt: skip
def test_what_has_no_answer_is_refused_in_the_words_of_memory(fit, trials):
    assert words(fit, scanned(Pieces(trials, (1,)), trials)) == words(fit, trials)


def test_ties_that_alone_separate_the_classes_are_refused_with_the_same_way_out():
    scores = [[0.0, 0.0, 5.0], [0.0, 0.0, 5.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 4.0]]
    trials = tc.Trials.of_log_likelihoods(scores, [0, 1, 0, 1, 2])
    for source in (trials, scanned(Pieces(trials, (2,)), trials)):
        kind, said = words(lambda one: tc.Affine.fit(one, kind="matrix"), source)
        assert kind is tc.CalibrationError
        assert "Give a penalty (penalty=1e-3" in said


def test_rows_of_minus_infinity_are_counted():
    scores = logits(13).log_likelihoods.copy()
    scores[[5, 700], 1] = -math.inf
    trials = tc.Trials.of_log_likelihoods(scores, logits(13).known_labels())
    kind, said = words(tc.Affine.fit, scanned(Pieces(trials, (300,)), trials))
    assert kind is tc.CalibrationError
    assert said.startswith(f"Affine calibration needs finite scores to train on: 2 of {ROWS} rows hold -inf")


def test_raw_scores_outside_0_to_1_are_refused_by_beta():
    trials = tc.Trials.of_scores([0.5, 1.5, 0.2], [0, 1, 1])
    with pytest.raises(tc.InputError, match=r"must be probabilities for beta calibration.*from 0\.2 to 1\.5"):
        tc.Beta.fit(scanned(Pieces(trials), trials))


def test_no_rows_and_classes_without_scores_are_refused():
    empty = tc.Trials.of_log_likelihoods(np.empty((0, 3)), [])

    class Nothing:
        def chunks(self):
            return iter(())

    with pytest.raises(tc.CalibrationError, match="there are no trials"):
        tc.Affine.fit(scanned(Nothing(), meaning="log-likelihoods"))
    with pytest.raises(tc.CalibrationError, match="there are no trials of class '0'"):
        tc.Affine.fit(scanned(Pieces(empty), empty))
    for method in (tc.Beta, tc.Offset):
        with pytest.raises(tc.CalibrationError, match="there are no targets"):
            method.fit(scanned(Nothing()))


@pytest.mark.parametrize("size", [1e150, 1e300])
def test_an_offset_between_scores_of_any_size_is_found(size):
    trials = tc.Trials.of_scores([0.0, size, 1.0, 2.0, -size, 3.0], [1, 1, 1, 0, 0, 0])
    for source in (trials, scanned(Pieces(trials, (2,)), trials)):
        offset = tc.Offset.fit(source).offset  # that of the four scores between
        assert offset == pytest.approx(tc.Offset.fit(tc.Trials.of_scores([0.0, 1.0, 2.0, 3.0], [1, 1, 0, 0])).offset)


# The command


@pytest.mark.parametrize(("name", "method"), [("beta", tc.Beta), ("offset", tc.Offset), ("temperature", tc.Affine)])
def test_files_above_the_limit_are_scanned_by_the_command(tmp_path, monkeypatch, name, method):
    trials = logits(14) if method is tc.Affine else llrs(14)
    path, more = write(tmp_path / "a.parquet", trials), {"kind": name} if method is tc.Affine else {}
    monkeypatch.setattr("tercet.outofcore.scan.IN_MEMORY_ROW", 10**6)  # so that 900 rows take 900 MB and more
    asked = ["calibrate", "fit", path, "--method", name, "--memory-limit", "400MB", "--verbose"]
    if method is tc.Affine:
        asked += ["--class-columns", ",".join(NAMES), "--meaning", "logits", "--trained-prior", "0.1,0.2,0.3,0.4"]
    result = CliRunner().invoke(main, [*map(str, asked), "-o", str(tmp_path / "model.json")])
    assert result.exit_code == 0, result.stderr
    assert "in bounded memory" in result.stderr
    found = tc.load_model((tmp_path / "model.json").read_text())
    assert_same_map(found, method.fit(tc.read(path, **reading(trials)), **more))


# The sums underneath


@given(st.integers(1, 3), st.integers(1, 40), st.integers(0, 10**6))
def test_gram_sums_know_no_order_and_are_nearly_those_of_fractions(columns, rows, seed):
    rng = np.random.default_rng(seed)
    values = rng.uniform(-1.0, 1.0, (rows, columns)) * 10.0 ** rng.integers(-9, 1, (rows, columns))
    found = exact_gram(values)
    order = rng.permutation(rows)
    assert (exact_gram(values[order][: rows // 2]) + exact_gram(values[order][rows // 2 :]) == found).all()
    for a in range(columns):
        for b in range(columns):
            exact = sum(Fraction(x) * Fraction(y) for x, y in zip(values[:, a], values[:, b], strict=True))
            assert abs(Fraction(int(found[a, b]), 1 << 100) - exact) <= Fraction(rows, 1 << 59)


def test_many_equal_rows_add_up_to_a_sum_as_precise_as_one():
    values = np.full((1 << 12, 2), 2.0**-13 / 3.0)  # as small as standardised features of 10^8 rows
    exact = Fraction(values[0, 0]) ** 2 * (1 << 12)
    assert abs(Fraction(int(exact_gram(values)[0, 1]), 1 << 100) / exact - 1) < Fraction(1, 1 << 45)


def test_a_full_block_of_ones_does_not_overflow():
    assert exact_gram(np.ones((1 << 12, 2))).tolist() == [[1 << 112] * 2] * 2


def test_a_model_of_a_scan_is_saved_like_any_other():
    trials = logits(15)
    model = tc.Affine.fit(scanned(Pieces(trials), trials))
    assert tc.load_model(model.to_json()).to_json() == model.to_json()
    assert json.loads(model.to_json())["training"]["trials"] == ROWS
