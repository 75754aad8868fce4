"""Bad input in memory: a typed error that names the argument, the place and the way out, or the right number."""

import json
import math
import re

import numpy as np
import pytest

import tercet as tc

NAN, INF = math.nan, math.inf
llr, raw, lr = tc.Trials.of_llr, tc.Trials.of_scores, tc.Trials.of_lr
posteriors, log_odds, logits = tc.Trials.of_posteriors, tc.Trials.of_log_odds, tc.Trials.of_logits
likelihoods, multiclass = tc.Trials.of_log_likelihoods, tc.Application.multiclass
ROWS = [[0.0, 1.0, 2.0], [1.0, 0.0, 0.5], [0.0, 0.0, 3.0], [2.0, 1.0, 0.0]]  # four samples, three classes


def refuses(make, *words, error=tc.InputError):
    """The error that make raises, checked for its kind and for the words that its message must hold."""
    with pytest.raises(error) as caught:
        make()
    message = str(caught.value)
    for word in words:
        assert word.lower() in message.lower(), f"{word!r} is not in: {message}"
    return message


def undefined(make, *words):
    return refuses(make, *words, error=tc.UndefinedError)


def curve_of(scores, labels, **more):
    return tc.Curve.of(tc.Tally.of(llr(scores, labels, **more)))


def facts(evaluation):
    """to_dict as strict JSON: it must survive without nan or infinity."""
    return json.loads(json.dumps(evaluation.to_dict(), allow_nan=False))


class Device:
    def __init__(self, kind):
        self.type = kind


class Tensor:
    """Behaves like a torch tensor where it matters: no numpy array off the CPU or under autograd."""

    def __init__(self, values, device="cpu", requires_grad=False):
        self.values, self.device, self.requires_grad = np.asarray(values), Device(device), requires_grad
        self.ndim, self.shape = self.values.ndim, self.values.shape

    def __len__(self):
        return len(self.values)

    def detach(self):
        return Tensor(self.values, self.device.type)

    def __array__(self, dtype=None, copy=None):
        if self.requires_grad:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad.")
        if self.device.type != "cpu":
            raise TypeError("can't convert cuda:0 device type tensor to numpy.")
        return self.values


# Missing values


def test_one_nan_score_is_refused_with_its_row_and_the_way_out():
    refuses(lambda: llr([1.0, 2.0, NAN], [1, 0, 1]), "scores", "NaN", "1 of 3", "row 2", "drop")


@pytest.mark.parametrize(
    "make",
    [
        lambda: raw([1.0, NAN], [1, 0]),
        lambda: lr([1.0, NAN], [1, 0]),
        lambda: tc.Trials.of_log10_llr([1.0, NAN], [1, 0]),
        lambda: log_odds([1.0, NAN], [1, 0], trained_prior=0.5),
        lambda: posteriors([0.1, NAN], [1, 0], trained_prior=0.5),
        lambda: posteriors([[0.1, 0.9], [NAN, 0.5], [0.5, 0.5]], [0, 1, 1], trained_prior=[0.5, 0.5]),
        lambda: likelihoods([[0.0, 1.0], [0.0, NAN], [0.0, 0.0]], [0, 1, 1]),
        lambda: logits([[0.0, 1.0], [0.0, NAN], [0.0, 0.0]], [0, 1, 1], trained_prior=[0.5, 0.5]),
        lambda: llr(np.array([1, NAN], np.float16), [1, 0]),
        lambda: llr(np.array([1, NAN], np.longdouble), [1, 0]),
        lambda: llr(np.array([1, NAN], object), [1, 0]),
    ],
)
def test_a_nan_score_is_refused_whatever_the_scores_mean_and_however_they_are_kept(make):
    refuses(make, "scores", "NaN", "row 1")


@pytest.mark.parametrize(
    "labels",
    [
        [1, 0, NAN],
        [1, 0, None],
        ["target", "nontarget", None],
        np.array(["target", "nontarget", NAN], object),
        np.array(["2020-01-01", "2020-01-02", "NaT"], "M8[D]"),
    ],
)
def test_a_missing_label_is_refused_with_its_row(labels):
    refuses(lambda: llr([1.0, 2.0, 3.0], labels), "labels", "missing", "row 2", "drop")


def test_a_nan_among_text_labels_is_missing_and_not_a_class_called_nan():
    refuses(lambda: llr([1.0, 2.0, 3.0], ["yes", NAN, "no"], target="yes"), "labels", "missing", "row 1")
    refuses(lambda: tc.Confusion.of(["a", NAN, "b"], ["a", "b", "b"]), "decisions", "missing", "row 1")
    refuses(lambda: tc.Confusion.of(["a", "b", "b"], ["a", NAN, "b"]), "labels", "missing", "row 1")
    refuses(lambda: llr([1.0, 2.0], [1, 0], ids=["a", NAN]), "ids", "missing", "row 1")


def test_the_text_nan_is_a_name_like_any_other():
    assert llr([1.0, 2.0], ["nan", "no"], target="nan").labels.tolist() == [True, False]


@pytest.mark.parametrize("weights", [[1.0, NAN, 1.0], np.array([1, NAN, 1], np.float32)])
def test_a_nan_weight_is_refused_with_its_row_and_a_way_out_that_fits_weights(weights):
    message = refuses(lambda: llr([1.0, 2.0, 3.0], [1, 0, 1], weights=weights), "weights", "NaN", "row 1")
    assert "score" not in message
    refuses(lambda: tc.Confusion.of([1, 0, 1], [1, 0, 1], weights=weights), "weights", "NaN", "row 1")


@pytest.mark.parametrize("name", ["ids", "groups"])
def test_a_missing_id_or_group_is_refused_with_its_row(name):
    column = ["a", None, "c"]
    more = {"ids": column} if name == "ids" else {"groups": {"speaker": column}}
    refuses(lambda: llr([1.0, 2.0, 3.0], [1, 0, 1], **more), name, "missing", "row 1")


def test_masked_entries_are_refused_with_their_row_and_an_empty_mask_is_fine():
    masked = np.ma.array([1.0, 2.0, 3.0], mask=[False, True, False])
    refuses(lambda: llr(masked, [1, 0, 1]), "scores", "masked", "row 1")
    refuses(lambda: llr([1.0, 2.0, 3.0], np.ma.array([1, 0, 1], mask=[0, 1, 0])), "labels", "masked", "row 1")
    whole = np.ma.array([1.0, 2.0, 3.0], mask=False)
    assert llr(whole, [1, 0, 1]).scores.tolist() == [1.0, 2.0, 3.0]


def test_a_masked_row_of_posteriors_is_refused():
    masked = np.ma.array([[0.1, 0.9], [0.2, 0.8], [0.5, 0.5]], mask=[[0, 0], [0, 1], [0, 0]])
    refuses(lambda: posteriors(masked, [0, 1, 1], trained_prior=[0.5, 0.5]), "scores", "masked", "row 1")


# pandas, polars, Arrow, tensors


def test_pandas_columns_with_different_indexes_are_refused_because_rows_go_by_position():
    pd = pytest.importorskip("pandas")
    scores = pd.Series([1.0, 2.0, 3.0])
    shuffled = pd.Series([1, 0, 1], index=[2, 1, 0])
    way_out = ("index", "to_numpy")
    refuses(lambda: llr(scores, shuffled), "scores", "labels", *way_out)
    refuses(lambda: llr(scores, [1, 0, 1], weights=shuffled), "weights", *way_out)
    refuses(lambda: llr(scores, [1, 0, 1], ids=shuffled), "ids", *way_out)
    refuses(lambda: llr(scores, [1, 0, 1], groups={"speaker": shuffled}), "speaker", *way_out)
    refuses(lambda: tc.Confusion.of(scores.astype(int), shuffled), "decisions", "labels", *way_out)
    frame = pd.DataFrame(ROWS)
    refuses(lambda: likelihoods(frame, pd.Series([0, 1, 2, 0], index=[3, 2, 1, 0])), "scores", "labels", *way_out)


def test_pandas_columns_with_the_same_index_are_fine_whatever_it_is():
    pd = pytest.importorskip("pandas")
    index = ["c", "a", "b"]
    trials = llr(pd.Series([1.0, 2.0, 3.0], index=index), pd.Series([1, 0, 1], index=index))
    assert trials.labels.tolist() == [True, False, True]
    assert len(likelihoods(pd.DataFrame(ROWS), pd.Series([0, 1, 2, 0]))) == 4


@pytest.mark.parametrize("dtype", ["Float64", "Int64", "double[pyarrow]", "int64[pyarrow]"])
def test_nulls_of_pandas_are_refused_with_their_row(dtype):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    refuses(lambda: llr(pd.Series([1, None, 3], dtype=dtype), [1, 0, 1]), "scores", "row 1")
    refuses(lambda: llr([1.0, 2.0, 3.0], [1, 0, 1], weights=pd.Series([1, None, 3], dtype=dtype)), "weights", "row 1")
    assert llr(pd.Series([1, 2, 3], dtype=dtype), [1, 0, 1]).scores.tolist() == [1.0, 2.0, 3.0]


@pytest.mark.parametrize("dtype", ["boolean", "Int64", "category", "bool[pyarrow]"])
def test_missing_labels_of_pandas_are_refused_with_their_row(dtype):
    pd = pytest.importorskip("pandas")
    pytest.importorskip("pyarrow")
    refuses(lambda: llr([1.0, 2.0, 3.0], pd.Series([True, False, None], dtype=dtype)), "labels", "missing", "row 2")
    whole = llr([1.0, 2.0, 3.0], pd.Series([True, False, True], dtype=dtype))
    assert whole.labels.tolist() == [True, False, True]


def test_missing_text_labels_of_pandas_are_refused_with_their_row():
    pd = pytest.importorskip("pandas")
    for labels in (pd.Series(["target", None, "nontarget"]), pd.Series(["target", pd.NA, "nontarget"], dtype=object)):
        refuses(lambda labels=labels: llr([1.0, 2.0, 3.0], labels), "labels", "missing", "row 1")


def test_polars_columns_are_read_and_their_nulls_refused_with_their_row():
    pl = pytest.importorskip("polars")
    trials = llr(pl.Series([1.0, 2.0, 3.0]), pl.Series(["target", "nontarget", "target"]))
    assert (trials.scores.tolist(), trials.labels.tolist()) == ([1.0, 2.0, 3.0], [True, False, True])
    refuses(lambda: llr(pl.Series([1.0, None, 3.0]), [1, 0, 1]), "scores", "missing", "row 1")
    refuses(lambda: llr([1.0, 2.0, 3.0], pl.Series([1, 0, None])), "labels", "missing", "row 2")
    refuses(lambda: llr([1.0, 2.0, 3.0], [1, 0, 1], weights=pl.Series([1, None, 1])), "weights", "missing", "row 1")
    refuses(lambda: llr(pl.Series([1.0, NAN, 3.0]), [1, 0, 1]), "scores", "NaN", "row 1")


def test_a_polars_frame_of_scores_is_a_matrix():
    pl = pytest.importorskip("polars")
    trials = likelihoods(pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 5.0]}), [0, 1, 1])
    assert trials.scores.tolist() == [[1.0, 0.0], [2.0, 1.0], [3.0, 5.0]]
    refuses(lambda: likelihoods(pl.DataFrame({"a": [1.0, None, 3.0], "b": [0.0, 1.0, 5.0]}), [0, 1, 1]), "scores")


def test_arrow_columns_are_read_and_their_nulls_refused_with_their_row():
    pa = pytest.importorskip("pyarrow")
    for scores in (pa.array([1.0, 2.0, 3.0]), pa.chunked_array([[1.0], [2.0, 3.0]])):
        assert llr(scores, pa.array([True, False, True])).scores.tolist() == [1.0, 2.0, 3.0]
    for scores in (pa.array([1.0, None, 3.0]), pa.chunked_array([[1.0], [None, 3.0]])):
        refuses(lambda scores=scores: llr(scores, [1, 0, 1]), "scores", "missing", "row 1")
    for labels in (pa.array(["target", None, "target"]), pa.array(["target", None, "target"]).dictionary_encode()):
        refuses(lambda labels=labels: llr([1.0, 2.0, 3.0], labels), "labels", "missing", "row 1")


def test_an_arrow_table_of_scores_is_a_matrix():
    pa = pytest.importorskip("pyarrow")
    trials = likelihoods(pa.table({"a": [1.0, 2.0, 3.0], "b": [0.0, 1.0, 5.0]}), [0, 1, 1])
    assert trials.scores.tolist() == [[1.0, 0.0], [2.0, 1.0], [3.0, 5.0]]
    refuses(lambda: likelihoods(pa.table({"a": [1.0, None, 3.0], "b": [0.0, 1.0, 5.0]}), [0, 1, 1]), "scores", "row 1")


def test_a_tensor_on_the_cpu_is_read_even_under_autograd():
    assert llr(Tensor([1.0, 2.0], requires_grad=True), Tensor([1, 0])).scores.tolist() == [1.0, 2.0]
    assert likelihoods(Tensor(ROWS, requires_grad=True), Tensor([0, 1, 2, 0])).scores.shape == (4, 3)
    rows = Tensor([[0.1, 0.9], [0.5, 0.5], [1.0, 0.0]], requires_grad=True)
    assert posteriors(rows, Tensor([0, 1, 1]), trained_prior=[0.5, 0.5]).is_matrix


def test_a_tensor_on_another_device_is_refused_and_told_to_come_to_the_cpu():
    refuses(lambda: llr(Tensor([1.0, 2.0], "cuda"), [1, 0]), "scores", "cuda", ".cpu()")
    refuses(lambda: llr([1.0, 2.0], Tensor([1, 0], "mps")), "labels", "mps", ".cpu()")


# Things that are no columns of numbers


@pytest.mark.parametrize(
    ("scores", "words"),
    [
        (["1", "2"], ["text"]),
        ([True, False], ["true/false"]),
        ([1j, 2.0], ["complex"]),
        (np.array([b"1", b"2"]), ["bytes"]),
        (np.array(["2020-01-01", "2020-01-02"], "M8[D]"), ["numbers"]),
        (np.zeros(2, [("a", "f8")]), ["numbers"]),
        ([[1.0, 2.0], [3.0]], ["array"]),
        ([[1.0, 2.0]], ["dimension"]),
        (1.0, ["dimension"]),
        (np.array([1.0, None], object), ["entry 1", "None"]),
        (np.array([1.0, "x"], object), ["entry 1", "x"]),
        (np.array([1.0, True], object), ["entry 1", "True"]),
        (np.array([1.0, np.True_], object), ["entry 1", "True"]),
        (np.array([1.0, 1j], object), ["entry 1", "1j"]),
    ],
)
def test_scores_that_are_no_numbers_are_refused_and_named(scores, words):
    refuses(lambda: llr(scores, [1, 0]), "scores", *words)


@pytest.mark.parametrize(
    "make", [lambda: (s for s in [1.0, 2.0]), lambda: {1.0, 2.0}, lambda: {"a": 1.0}, lambda: None]
)
def test_generators_sets_and_mappings_are_refused_with_the_way_out(make):
    refuses(lambda: llr(make(), [1, 0]), "scores", "list")
    refuses(lambda: llr([1.0, 2.0], (label for label in [1, 0])), "labels", "list")


def test_a_generator_of_labels_for_a_matrix_is_refused():
    refuses(lambda: likelihoods(ROWS, (label for label in [0, 1, 2, 0])), "labels")
    refuses(lambda: likelihoods(ROWS, 1), "labels")


def test_ragged_rows_are_refused_whatever_they_mean():
    ragged = [[0.1, 0.9], [0.2]]
    refuses(lambda: likelihoods(ragged, [0, 1]), "scores")
    refuses(lambda: posteriors(ragged, [0, 1], trained_prior=[0.5, 0.5]), "scores")
    refuses(lambda: logits(ragged, [0, 1], trained_prior=[0.5, 0.5]), "scores")


def test_a_bare_array_is_refused_until_its_meaning_is_said():
    refuses(lambda: tc.evaluate(np.array([1.0, 2.0])), "Trials", "of_llr")


def test_columns_of_different_lengths_are_refused_by_name():
    refuses(lambda: llr([1.0, 2.0, 3.0], [1, 0]), "labels", "2", "3")
    refuses(lambda: llr([1.0, 2.0, 3.0], [1, 0, 1], weights=[1.0]), "weights", "1", "3")
    refuses(lambda: llr([1.0, 2.0, 3.0], [1, 0, 1], ids=["a"]), "ids")
    refuses(lambda: llr([1.0, 2.0, 3.0], [1, 0, 1], groups={"speaker": ["a"]}), "speaker")
    refuses(lambda: likelihoods(ROWS, [0, 1, 2, 0, 1]), "labels", "5", "4")
    refuses(lambda: tc.Confusion.of([0, 1], [0, 1, 1]), "labels", "3", "2")
    refuses(lambda: tc.Confusion.of([0, 1], [0, 1], weights=[1]), "weights", "1", "2")


@pytest.mark.parametrize("name", ["labels", "weights", "scores", "ids", "length"])
def test_a_group_may_be_called_like_an_argument(name):
    trials = llr([1.0, 2.0], [1, 0], weights=[1, 1], ids=["x", "y"], groups={name: ["a", "b"]})
    assert trials.groups[name].tolist() == ["a", "b"]


def test_groups_that_are_not_named_columns_are_refused():
    refuses(lambda: llr([1.0, 2.0], [1, 0], groups=["a", "b"]), "groups")
    assert llr([1.0, 2.0], [1, 0], groups={1: ["a", "b"]}).groups[1].tolist() == ["a", "b"]


# Numbers that do not fit


@pytest.mark.parametrize(
    "scores",
    [
        np.array([2**53 + 1, 0]),
        np.array([-(2**53) - 1, 0]),
        np.array([2**63 - 1, 0]),
        np.array([2**64 - 1, 0], np.uint64),
        [2**70 + 1, 0],
        np.array([2**53 + 1, 0.5], object),
        [10**400, 0],
        np.array([1, 0], np.longdouble) / 3,
        np.array([np.longdouble(10) ** 400, 0]),
    ],
)
def test_numbers_that_a_double_would_merge_with_their_neighbours_are_refused(scores):
    if isinstance(scores, np.ndarray) and scores.dtype == np.longdouble and np.longdouble is np.float64:
        pytest.skip("long double is double here")
    refuses(lambda: llr(scores, [1, 0]), "scores")


def test_whole_numbers_and_long_doubles_that_fit_are_taken_exactly():
    assert llr(np.array([2**53, 2**60, -(2**62)]), [1, 0, 1]).scores.tolist() == [2.0**53, 2.0**60, -(2.0**62)]
    assert llr(np.array([1.5, INF], np.longdouble), [1, 0]).scores.tolist() == [1.5, INF]
    assert llr(np.array([2**70, 1], object), [1, 0]).scores.tolist() == [2.0**70, 1.0]


def test_half_and_single_precision_are_widened_without_change():
    for dtype in (np.float16, np.float32, np.int8, np.uint16):
        given = np.array([3, 1, 2], dtype)
        assert llr(given, [1, 0, 1]).scores.dtype == np.float64
        assert llr(given, [1, 0, 1]).scores.tolist() == given.tolist()


def test_minus_zero_is_zero():
    assert not np.signbit(llr([-0.0, 0.0], [1, 0]).scores).any()
    assert curve_of([-0.0, 0.0], [1, 0]).auc == 0.5


# Infinite, huge, tiny and tied scores: right numbers


def test_infinite_llrs_on_the_right_side_are_certain_and_free():
    ev = tc.evaluate(llr([INF, INF, -INF, -INF], [1, 1, 0, 0]), [(0.5, 1, 1), (0.001, 1, 1)])
    assert (ev.eer.value, ev.auc, ev.cllr, ev.min_cllr) == (0.0, 1.0, 0.0, 0.0)
    assert [app.dcf for app in ev.applications] == [0.0, 0.0]
    assert ev.applications[0].confusion == [[2, 0], [0, 2]]
    facts(ev)


def test_infinite_llrs_on_the_wrong_side_cost_inf_and_still_rank():
    ev = tc.evaluate(llr([INF, 1.0, -INF, -1.0, -INF], [0, 1, 1, 0, 0]), [(0.5, 1, 1)])
    assert ev.cllr == INF
    assert ev.auc == (0.0 + 1.0 + 1.0 + 0.0 + 0.0 + 0.5) / 6
    assert ev.applications[0].confusion == [[2, 1], [1, 1]]
    assert facts(ev)["cllr"] == "inf"


@pytest.mark.parametrize("value", [INF, -INF, 0.0, 3.0, 1.5e308, 5e-324])
@pytest.mark.parametrize("order", [1, -1])
def test_all_tied_scores_say_nothing_in_any_row_order(value, order):
    ev = tc.evaluate(llr([value] * 5, [1, 1, 0, 0, 0][::order]), [(0.5, 1, 1), (0.2, 1, 1)])
    assert (ev.eer.value, ev.auc, ev.min_cllr) == (0.5, 0.5, 1.0)
    assert [app.min_dcf for app in ev.applications] == [1.0, 1.0]
    assert [app.min_threshold for app in ev.applications] == [-INF, value] or value == -INF
    facts(ev)


def test_ties_across_classes_do_not_depend_on_row_order():
    scores, labels = np.array([1.0, 1, 1, 2, 2, 0, 0, 3]), np.array([1, 0, 0, 1, 0, 1, 0, 1])
    rng = np.random.default_rng(0)
    expected = facts(tc.evaluate(llr(scores, labels), [(0.5, 1, 1), (0.1, 1, 1)]))
    for _ in range(20):
        order = rng.permutation(8)
        assert facts(tc.evaluate(llr(scores[order], labels[order]), [(0.5, 1, 1), (0.1, 1, 1)])) == expected


def test_accepting_everything_accepts_minus_infinity_too():
    curve = curve_of([-INF, -INF, 0.0], [1, 0, 0])
    assert curve.thresholds.tolist() == [-INF, -INF, 0.0]
    assert curve.misses.tolist() == [0, 1, 1]
    assert curve.false_alarms.tolist() == [2, 1, 0]


def test_scores_near_the_end_of_the_doubles_give_right_numbers():
    ev = tc.evaluate(llr([1.5e308, 1.7e308, -1.5e308, -1.7e308], [1, 1, 0, 0]), [(0.5, 1, 1)])
    assert (ev.auc, ev.cllr, ev.eer.value, ev.applications[0].dcf) == (1.0, 0.0, 0.0, 0.0)
    facts(ev)
    wrong = tc.cllr(tc.Tally.of(llr([1.5e308, 1.5e308], [1, 0])))
    assert wrong == pytest.approx(0.75e308 / math.log(2), rel=1e-15)


def test_denormal_scores_rank_and_lie_on_the_right_side_of_zero():
    ev = tc.evaluate(llr([5e-324, 1e-310, 0.0, -5e-324], [1, 1, 0, 0]), [(0.5, 1, 1)])
    assert (ev.auc, ev.applications[0].dcf, ev.cllr) == (1.0, 0.0, 1.0)


def test_an_llr_of_800_neither_overflows_nor_saturates():
    ev = tc.evaluate(llr([800.0, 801.0, -800.0], [0, 1, 0]), [(0.5, 1, 1)])
    assert ev.auc == 1.0
    assert ev.cllr == pytest.approx(800 / math.log(2) / 2 / 2, rel=1e-14)
    assert tc.log_loss(llr([800.0, -800.0, 800.0], [0, 0, 1]), 0.5) == pytest.approx(200 / math.log(2), rel=1e-14)


def test_single_precision_logits_from_20_to_60_rank_right():
    scores = np.linspace(20, 60, 401).astype(np.float32)
    labels = np.arange(401) > 200
    for trials in (llr(scores, labels), log_odds(scores, labels, trained_prior=0.1), raw(scores, labels)):
        assert tc.evaluate(trials).auc == 1.0
    assert len(curve_of(scores, labels).thresholds) == 402
    rows = np.stack((np.zeros(401), scores), axis=1).astype(np.float32)
    assert tc.evaluate(logits(rows, labels.astype(int), trained_prior=[0.5, 0.5])).auc == 1.0


def test_huge_log_likelihoods_are_decided_right_and_quietly():
    rows = [[1.5e308, -1.5e308, 0.0], [0.0, 1.7e308, -1.7e308], [-1.7e308, -1.7e308, -1.6e308], [1.0, 2.0, 3.0]]
    trials = likelihoods(rows, [0, 1, 2, 2])
    assert tc.decide(trials, multiclass([0.2, 0.3, 0.5])).tolist() == [0, 1, 2, 2]
    assert tc.decide(trials, multiclass([0.2, 0.3, 0.5], "ordinal")).tolist() == [0, 1, 2, 2]
    assert tc.evaluate(trials, [multiclass([0.2, 0.3, 0.5])]).applications[0].risk == 0.0
    two = likelihoods([[1.5e308, -1.5e308], [-1.5e308, 1.7e308], [0.0, 0.0]], [0, 1, 1])
    assert tc.evaluate(two, [(0.5, 1, 1)]).applications[0].confusion == [[1, 1], [0, 1]]
    assert tc.log_loss(two, 0.5) == 0.25


def test_decimal_logs_too_large_for_a_natural_log_become_infinite_quietly():
    ev = tc.evaluate(tc.Trials.of_log10_llr([1.5e308, -1.5e308], [1, 0]), [(0.5, 1, 1)])
    assert (ev.auc, ev.cllr, ev.applications[0].dcf) == (1.0, 0.0, 0.0)


def test_the_perplexity_of_a_hopeless_system_is_infinite():
    assert tc.perplexity(likelihoods([[0.0, -INF], [-INF, 0.0], [0.0, 0.0]], [1, 0, 1])) == INF
    assert tc.perplexity(likelihoods([[0.0, -4000.0], [-4000.0, 0.0], [0.0, 0.0]], [1, 0, 1])) == INF


def test_certain_posteriors_are_infinite_llrs():
    trials = posteriors([1.0, 0.0, 0.5], [1, 0, 1], trained_prior=0.5)
    assert trials.llr.tolist() == [INF, -INF, 0.0]
    assert tc.evaluate(trials).cllr == 0.25
    assert tc.posteriors(llr([INF, -INF, 0.0]), 0.5).tolist() == [[0.0, 1.0], [1.0, 0.0], [0.5, 0.5]]


# One class, nothing, no labels


@pytest.mark.parametrize(("labels", "missing"), [([1, 1], "non-targets"), ([0, 0], "targets")])
def test_one_class_alone_has_no_curve_no_cost_and_no_evaluation(labels, missing):
    trials = llr([1.0, 2.0], labels)
    undefined(lambda: tc.evaluate(trials), missing)
    undefined(lambda: tc.Curve.of(tc.Tally.of(trials)), missing)
    undefined(lambda: tc.cllr(tc.Tally.of(trials)), missing)
    undefined(lambda: tc.log_loss(trials), "prior")
    undefined(lambda: tc.brier(trials, 0.5), "no trials")


def test_a_class_of_weight_zero_is_not_there():
    undefined(lambda: tc.evaluate(llr([1.0, 2.0, 3.0], [1, 0, 0], weights=[0, 1, 1])), "targets")
    undefined(lambda: tc.evaluate(llr([1.0, 2.0], [1, 0], weights=[0, 0])), "targets")


def test_no_trials_may_be_made_and_decided_but_not_evaluated():
    empty = llr([], [])
    assert len(empty) == 0
    assert tc.decide(empty, 0.5).tolist() == []
    undefined(lambda: tc.evaluate(empty), "no")
    undefined(lambda: tc.log_loss(empty), "prior")
    nothing = likelihoods(np.zeros((0, 3)), [])
    undefined(lambda: tc.evaluate(nothing, [multiclass([0.2, 0.3, 0.5])]), "no trials")


def test_trials_without_labels_may_be_decided_but_not_evaluated():
    assert tc.decide(llr([1.0, -1.0]), 0.5).tolist() == [1, 0]
    refuses(lambda: tc.evaluate(llr([1.0, -1.0])), "labels")
    refuses(lambda: tc.confusion_of(likelihoods(ROWS), multiclass([0.2, 0.3, 0.5])), "labels")


def test_a_class_without_trials_leaves_the_risk_undefined_with_a_reason():
    ev = tc.evaluate(likelihoods(ROWS, [0, 1, 0, 1]), [multiclass([0.2, 0.3, 0.5])])
    result = ev.applications[0]
    assert (result.risk, result.dcf) == (None, None)
    assert "'2'" in result.reasons["risk"]
    assert ev.log_loss == pytest.approx(tc.log_loss(likelihoods(np.array(ROWS)[:, :2], [0, 1, 0, 1])))
    assert sum(map(sum, result.confusion)) == 4
    assert facts(ev)["applications"][0]["risk"] is None
    assert "risk" in facts(ev)["applications"][0]["reasons"]


def test_raw_scores_have_minima_but_no_actual_cost_and_say_why():
    trials = raw([1.0, 2.0, 0.5], [0, 1, 1])
    ev = tc.evaluate(trials, [(0.5, 1, 1)])
    assert (ev.cllr, ev.bayes_plot.dcf, ev.applications[0].dcf, ev.applications[0].confusion) == (None,) * 4
    assert ev.applications[0].min_dcf == 0.5
    assert "calibrate" in ev.reasons["cllr"]
    assert "calibrate" in ev.applications[0].reasons["dcf"]
    undefined(lambda: ev.applications[0].table, "calibrate")
    plain = facts(ev)
    assert plain["cllr"] is None
    assert "calibrate" in plain["reasons"]["cllr"]
    for act in (lambda: tc.decide(trials, 0.5), lambda: tc.cllr(tc.Tally.of(trials)), lambda: trials.llr):
        refuses(act, "calibrate")


@pytest.mark.parametrize(
    ("matrix", "rates", "why"),
    [
        ([[3, 0], [1, 0]], "tpr fnr lr_plus lr_minus", "no targets"),
        ([[0, 2], [0, 1]], "fpr tnr", "no non-targets"),
        ([[1, 1], [0, 0]], "ppv fdr", "nothing was accepted"),
        ([[0, 0], [1, 1]], "npv for_", "nothing was rejected"),
        ([[0, 0], [0, 0]], "accuracy error_rate prevalence", "no trials"),
        ([[1, 1], [0, 0]], "mcc", "only one"),
        ([[1, 0], [0, 0]], "kappa f1", "undefined"),
        ([[0, 2], [0, 1]], "dor balanced_accuracy", "undefined"),
        ([[1, 1], [0, 0]], "lr_plus", "0 / 0"),
    ],
)
def test_rates_of_nothing_are_undefined_and_say_why(matrix, rates, why):
    table = tc.Confusion(matrix)
    for name in rates.split():
        undefined(lambda name=name: getattr(table, name), why)


def test_an_undefined_rate_of_one_class_does_not_hide_in_an_average():
    table = tc.Confusion([[1, 0, 1], [1, 0, 1], [0, 0, 0]])
    assert table.per_class("recall") == {"0": 0.5, "1": None, "2": 0.0}
    undefined(lambda: table.average("recall", "macro"), "undefined")
    undefined(lambda: table.rates, "'1'")
    undefined(lambda: table.risk(multiclass([0.2, 0.3, 0.5])), "'1'")


# Labels


@pytest.mark.parametrize("labels", [[1, 2, 1], [0, 1, 2], ["yes", "no", "yes"], [-1, 1, 1], [0, 0.5, 1], [2, 2, 2]])
def test_labels_that_do_not_say_which_is_the_target_are_refused_until_it_is_named(labels):
    refuses(lambda: llr([1.0, 2.0, 3.0], labels), "labels", "target=", repr(labels[1]))
    assert llr([1.0, 2.0, 3.0], labels, target=labels[0]).labels.tolist() == [label == labels[0] for label in labels]


@pytest.mark.parametrize(
    "labels",
    [
        [1, 0],
        [1.0, 0.0],
        [True, False],
        ["1", "0"],
        ["true", "false"],
        ["True", "False"],
        ["target", "nontarget"],
        np.array([1, 0], np.uint8),
        np.array([1, 0], object),
    ],
)
def test_labels_that_say_it_themselves_need_no_target(labels):
    assert llr([1.0, 2.0], labels).labels.tolist() == [True, False]


def test_a_target_that_is_not_among_the_labels_is_refused():
    refuses(lambda: llr([1.0, 2.0], ["yes", "no"], target="maybe"), "target", "'maybe'", "'yes'")
    refuses(lambda: llr([1.0, 2.0], [1, 0], target="1"), "target", "'1'")


@pytest.mark.parametrize("label", [3, -1, 10**9, 2**62])
def test_a_class_number_without_a_column_is_refused_with_its_row(label):
    refuses(lambda: likelihoods(ROWS, [0, 1, 2, label]), "labels", "row 3", str(label), "classes=")


def test_a_label_unseen_among_the_class_names_is_refused():
    refuses(lambda: likelihoods(ROWS, ["a", "b", "c", "z"], classes=["a", "b", "c"]), "labels", "'z'", "'a'")
    refuses(lambda: likelihoods(ROWS, ["a", "b", "c", "a"]), "labels", "classes=")
    refuses(lambda: likelihoods(ROWS, [0, 1, 2, 0.5]), "labels", "classes=")
    refuses(lambda: tc.Confusion.of([0, 1, 2], [0, 1, 1], classes=[0, 1]), "decisions", "2")
    refuses(lambda: tc.Confusion.of([0, 1, 1], [0, 1, 5], classes=[0, 1]), "labels", "5")
    refuses(lambda: tc.Confusion.of(["0", "1"], [0, 1]), "classes=")


def test_duplicate_class_names_are_refused():
    refuses(lambda: likelihoods(ROWS, classes=["a", "b", "b"]), "classes", "'b'", "twice")
    refuses(lambda: likelihoods(ROWS, classes=["a", 1, "1"]), "classes", "'1'", "twice")
    refuses(lambda: multiclass([0.5, 0.5], classes=["a", "a"]), "classes", "'a'")
    refuses(lambda: multiclass([0.5, 0.5], [[0, 1], [1, 0], [2, 2]], actions=["a", "b", "b"]), "actions", "'b'")
    refuses(lambda: tc.Confusion([[1, 2], [3, 4]], classes=["a", "a"]), "classes", "'a'")


def test_the_wrong_number_of_class_names_is_refused():
    refuses(lambda: likelihoods(ROWS, [0, 1, 2, 0], classes=["a", "b"]), "classes")
    refuses(lambda: multiclass([0.5, 0.5], classes=["a"]), "classes")
    refuses(lambda: tc.Confusion([[1, 2], [3, 4]], classes=["a"]), "classes")


@pytest.mark.parametrize("pair", [("NA", "None"), ("null", "nan"), ("007", "7"), ("", " "), ("1e3", "1000")])
def test_class_names_are_kept_as_text(pair):
    one, other = pair
    trials = llr([1.0, 2.0, 3.0], [one, other, one], target=one)
    assert trials.classes == (other, one)
    assert trials.labels.tolist() == [True, False, True]
    table = tc.Confusion.of([one, other, other], [one, other, one])
    assert set(table.classes) == {one, other}
    assert table.for_target(one).tpr == 0.5
    three = likelihoods(ROWS, [one, other, "z", one], classes=[one, other, "z"])
    assert three.labels.tolist() == [0, 1, 2, 0]


# Many classes


def test_a_label_of_a_thousand_million_takes_no_table_of_that_size():
    table = tc.Confusion.of([0, 1, 10**9], [0, 10**9, 10**9])
    assert table.classes == ("0", "1", "1000000000")
    assert table.accuracy == 2 / 3


def test_a_million_classes_are_refused_by_a_stated_cap_and_not_allocated():
    million = np.arange(10**6)
    refuses(lambda: tc.Confusion.of(million, million), "1000000", "cap")
    refuses(lambda: multiclass(np.full(10**6, 1e-6)), "cap")
    ev = tc.evaluate(likelihoods(np.zeros((2, 10**6)), [0, 10**5]))
    assert (ev.accuracy, ev.log_loss) == (0.5, 1.0)  # most classes have no trial, and the data's prior rules them out


# Matrices of scores


def test_posteriors_that_do_not_sum_to_one_say_how_far_off_where_and_what_to_do():
    rows = [[0.5, 0.5], [0.5, 0.4], [0.2, 0.2]]
    message = refuses(
        lambda: posteriors(rows, [0, 1, 1], trained_prior=[0.5, 0.5]), "sum to one", "0.6", "2 of 3", "row 1"
    )
    assert re.search(r"divide|normalis|of_logits|of_log_likelihoods|of_scores", message)
    refuses(lambda: tc.cross_entropy_of_truth([[0.5, 0.5]], [[0.5, 0.4]]), "sum to one", "row 0")


def test_posteriors_of_single_precision_may_be_off_by_its_rounding():
    rng = np.random.default_rng(0)
    scores = np.exp(rng.normal(size=(50, 1000)).astype(np.float32))
    rows = scores / scores.sum(axis=1, keepdims=True)
    assert len(posteriors(rows, trained_prior=np.full(1000, 1e-3))) == 50


@pytest.mark.parametrize("bad", [1.5, -0.1, INF, -INF])
def test_posteriors_outside_0_to_1_are_refused_with_their_row(bad):
    refuses(lambda: posteriors([0.5, bad], [1, 0], trained_prior=0.5), "posterior", "row 1", "0..1")
    refuses(lambda: posteriors([[0.5, 0.5], [bad, 1 - bad], [1, 0]], trained_prior=[0.5, 0.5]), "row 1", "0..1")


def test_negative_likelihood_ratios_are_refused_with_their_row():
    refuses(lambda: lr([1.0, -2.0], [1, 0]), "lr", "row 1", "-2.0", "of_llr")


def test_a_row_of_log_likelihoods_that_are_all_minus_infinity_is_refused_with_the_way_out():
    rows = [[0.0, 1.0, 2.0], [-INF, -INF, -INF], [0.0, 0.0, 0.0], [1.0, 1.0, 1.0]]
    message = refuses(lambda: likelihoods(rows, [0, 1, 2, 1]), "-inf", "every class", "row 1")
    assert re.search(r"drop|floor|pseudo|smooth", message, re.IGNORECASE)
    refuses(lambda: logits(rows, [0, 1, 2, 1], trained_prior=[0.2, 0.3, 0.5]), "-inf", "row 1")


def test_a_log_likelihood_of_plus_infinity_is_refused_and_a_single_minus_infinity_is_fine():
    refuses(lambda: likelihoods([[0.0, 1.0], [0.0, INF], [0.0, 0.0]], [0, 1, 1]), "+inf", "row 1")
    trials = likelihoods([[0.0, -INF], [-INF, 0.0], [0.0, 0.0]], [0, 1, 1])
    assert tc.decide(trials, multiclass([0.5, 0.5])).tolist() == [0, 1, 0]
    assert trials.versus("1").scores.tolist() == [-INF, INF, 0.0]


def test_two_classes_that_are_both_impossible_cannot_be_compared():
    trials = likelihoods([[-INF, -INF, 0.0], [1.0, 1.0, 1.0], [0.0, 0.0, 0.0], [0.0, 1.0, 2.0]], [0, 1, 2, 0])
    refuses(lambda: trials.versus("0", "1"), "row 0", "-inf")
    assert trials.versus("0").scores[0] == -INF


def test_fewer_than_two_columns_are_no_classes():
    refuses(lambda: likelihoods([[0.0], [1.0]], [0, 0]), "column")
    refuses(lambda: likelihoods(np.zeros((3, 0))), "column")


def test_a_square_matrix_that_could_lie_either_way_is_refused_until_its_orientation_is_said():
    rows = [[0.0, 1.0], [2.0, 3.0]]
    refuses(lambda: likelihoods(rows, [0, 1]), "orientation", "samples x classes")
    refuses(lambda: likelihoods(rows, [0, 1], orientation="sideways"), "orientation", "'sideways'")
    upright = likelihoods(rows, [0, 1], orientation="samples x classes")
    assert upright.scores.tolist() == rows
    assert likelihoods(rows, [0, 1], orientation="classes x samples").scores.tolist() == [[0.0, 2.0], [1.0, 3.0]]


@pytest.mark.parametrize(
    "make",
    [
        lambda: posteriors([0.1, 0.9], [0, 1], trained_prior=None),
        lambda: posteriors([[0.1, 0.9], [0.5, 0.5], [1, 0]], [0, 1, 1], trained_prior=None),
        lambda: log_odds([0.1, 0.9], [0, 1], trained_prior=None),
        lambda: logits([[0.1, 0.9], [0.5, 0.5], [1, 0]], [0, 1, 1], trained_prior=None),
        lambda: posteriors([0.1, 0.9], [0, 1], trained_prior=[0.5, 0.5]),
        lambda: posteriors([[0.1, 0.9], [0.5, 0.5], [1, 0]], [0, 1, 1], trained_prior=[0.2, 0.3, 0.5]),
        lambda: log_odds([0.1, 0.9], [0, 1], trained_prior=1.0),
        lambda: logits([[0.1, 0.9], [0.5, 0.5], [1, 0]], [0, 1, 1], trained_prior=[0.5, 0.6]),
        lambda: logits([[0.1, 0.9], [0.5, 0.5], [1, 0]], [0, 1, 1], trained_prior=[0.0, 1.0]),
    ],
)
def test_posteriors_need_a_trained_prior_that_fits(make):
    refuses(make, "trained_prior")


# Priors, costs, rates, weights


@pytest.mark.parametrize("prior", [0, 1, NAN, -0.1, 1.1, INF, -INF, "a", None, True, [0.5]])
def test_a_prior_that_is_no_probability_is_refused(prior):
    refuses(lambda: tc.Application(prior), "prior")
    refuses(lambda: tc.evaluate(llr([1.0, 2.0], [1, 0]), [(prior, 1, 1)]), "prior")
    refuses(lambda: tc.Confusion([[1, 2], [3, 4]]).error_rate_at(prior), "prior")
    refuses(lambda: tc.empirical_cross_entropy(tc.Tally.of(llr([1.0, 2.0], [1, 0])), prior), "prior")


@pytest.mark.parametrize(
    ("prior", "words"),
    [
        ([0.0, 1.0], ["entry 0", "0.0"]),
        ([1.3, -0.3], ["entry 1", "-0.3"]),
        ([0.3, 0.3], ["sum", "0.6"]),
        ([0.5, NAN], ["NaN"]),
        ([0.5, INF], ["entry 1", "inf"]),
        ([], ["prior"]),
        (["a", "b"], ["text"]),
    ],
)
def test_priors_of_several_classes_that_are_no_distribution_are_refused(prior, words):
    message = refuses(lambda: multiclass(prior), "prior", *words)
    assert "score" not in message


@pytest.mark.parametrize("cost", [-1, NAN, INF, "x", None, True])
@pytest.mark.parametrize("name", ["cost_fn", "cost_fp"])
def test_a_cost_that_is_no_cost_is_refused(cost, name):
    refuses(lambda: tc.Application(0.5, **{name: cost}), name)


def test_costs_that_are_all_zero_are_refused():
    refuses(lambda: tc.Application(0.5, 0, 0), "cost_fn", "cost_fp")
    refuses(lambda: multiclass([0.5, 0.5], [[0, 0], [0, 0]]), "costs", "0")


@pytest.mark.parametrize(
    ("costs", "words"),
    [
        ([[0, -1], [1, 0]], ["negative", "-1", "costs_from_utilities"]),
        ([[0, INF], [1, 0]], ["finite"]),
        ([[0, NAN], [1, 0]], ["NaN"]),
        ([[0, 1, 1], [1, 0, 1]], ["2 classes", "(2, 3)", "rows = decision"]),
        ([0, 1], ["dimension"]),
        (np.zeros((0, 2)), ["(0, 2)"]),
        ([[0, 1], [1, 0], [2, 2]], ["3 rows", "actions="]),
        ("quadratic", ["0-1", "ordinal"]),
    ],
)
def test_a_cost_matrix_of_the_wrong_shape_or_sign_is_refused(costs, words):
    refuses(lambda: multiclass([0.5, 0.5], costs), "costs", *words)


def test_a_free_error_has_no_normalised_cost_and_says_so():
    app = tc.Application(0.5, cost_fn=1, cost_fp=0)
    assert app.dcf_u(fnr=0.1, fpr=1.0) == 0.05
    undefined(lambda: app.dcf(fnr=0.1, fpr=1.0), "normalised", "dcf_u")
    undefined(lambda: curve_of([1.0, 2.0], [1, 0]).min_dcf(app), "normalised")
    ev = tc.evaluate(llr([1.0, 2.0, 0.0], [1, 0, 0]), [app])
    result = ev.applications[0]
    assert (result.dcf, result.min_dcf) == (None, None)
    assert {"dcf", "min_dcf"} <= set(result.reasons)
    assert (result.dcf_u, result.min_dcf_u, result.threshold) == (0.0, 0.0, -INF)
    assert facts(ev)["applications"][0]["threshold"] == "-inf"
    undefined(lambda: tc.Confusion([[1, 2], [3, 4]]).normalised_risk(multiclass([0.5, 0.5], [[0, 0], [1, 1]])), "dummy")


@pytest.mark.parametrize("rate", [NAN, -0.1, 1.1, "a", None])
def test_a_rate_that_is_no_rate_is_refused(rate):
    app = tc.Application(0.5)
    refuses(lambda: app.dcf(fnr=rate, fpr=0.1), "fnr")
    refuses(lambda: app.dcf_u(fnr=0.1, fpr=rate), "fpr")


@pytest.mark.parametrize("bad", [-1.0, INF, -INF])
def test_a_bad_weight_is_refused_with_its_row(bad):
    refuses(lambda: llr([1.0, 2.0, 3.0], [1, 0, 1], weights=[1, bad, 1]), "weights", "row 1", str(bad))
    refuses(lambda: tc.Confusion.of([1, 0, 1], [1, 0, 1], weights=[1, bad, 1]), "weights", "row 1", str(bad))


def test_weights_that_are_no_numbers_are_refused():
    refuses(lambda: llr([1.0, 2.0], [1, 0], weights=["a", "b"]), "weights")
    refuses(lambda: llr([1.0, 2.0], [1, 0], weights="ab"), "weights")
    refuses(lambda: llr([1.0, 2.0], [1, 0], weights=[[1, 1]]), "weights")


@pytest.mark.parametrize("scale", [5e-324, 1e-300, 1.0, 3.0, 1e300, 1.7e308])
def test_weights_of_any_size_give_the_right_rates(scale):
    ev = tc.evaluate(llr([1.0, 2.0, 0.0, 3.0], [1, 0, 0, 1], weights=[scale] * 4), [(0.5, 1, 1)])
    assert (ev.auc, ev.applications[0].dcf) == (0.75, 0.5)


def test_weights_three_hundred_orders_apart_keep_their_smallest():
    curve = curve_of([1.0, 2.0, 0.0], [1, 0, 0], weights=[1e300, 1e-300, 5e-324])
    assert curve.auc == pytest.approx(5e-324 / 1e-300, rel=1e-12)


def test_a_weighted_row_is_the_row_written_that_often():
    scores, labels, weights = [1.0, 2.0, 0.5, 3.0], [1, 0, 0, 1], [3, 1, 2, 0]
    weighted = tc.evaluate(llr(scores, labels, weights=weights), [(0.2, 1, 1)])
    repeated = tc.evaluate(llr(np.repeat(scores, weights), np.repeat(labels, weights)), [(0.2, 1, 1)])
    mine, others = facts(weighted), facts(repeated)
    for one in (mine, others):
        one.pop("curve"), one.pop("histogram")
    assert mine == others


@pytest.mark.parametrize("bad", [[[1, -1], [0, 0]], [[1, NAN], [0, 0]], [[1, INF], [0, 0]], [["a", "b"], ["c", "d"]]])
def test_a_matrix_that_holds_no_counts_is_refused(bad):
    message = refuses(lambda: tc.Confusion(bad), "matrix")
    assert "score" not in message


def test_a_matrix_of_the_wrong_shape_is_refused():
    refuses(lambda: tc.Confusion([[1, 2, 3], [4, 5, 6]]), "matrix", "actions")
    refuses(lambda: tc.Confusion([1, 2]), "matrix", "dimension")
    refuses(lambda: tc.Confusion([[1, 2], [3, 4]], target="2"), "target", "'2'")


# Applications and other questions


@pytest.mark.parametrize("application", [(0.5, 1), "sre99", {"prior": 0.5}, (0.5, 1, 1, 1), object()])
def test_an_application_that_is_none_is_refused(application):
    refuses(lambda: tc.evaluate(llr([1.0, 2.0], [1, 0]), [application]))


@pytest.mark.parametrize("applications", [None, object()])
def test_applications_that_are_no_list_are_refused(applications):
    refuses(lambda: tc.evaluate(llr([1.0, 2.0], [1, 0]), applications), "application")


def test_one_triple_one_prior_or_one_name_may_stand_without_a_list_and_a_generator_is_a_list():
    trials = llr([1.0, 2.0], [1, 0])
    for applications in ((0.5, 1, 1), 0.5, "sre08", ["sre08"], (app for app in ["sre08"])):
        assert len(tc.evaluate(trials, applications).applications) == 1


def test_an_application_with_the_wrong_number_of_classes_is_refused():
    trials, two = likelihoods(ROWS, [0, 1, 2, 0]), multiclass([0.5, 0.5])
    for act in (tc.evaluate, tc.decide, tc.decisions, tc.confusion_of, tc.expected_costs):
        refuses(lambda act=act: act(trials, [two] if act is tc.evaluate else two), "2 classes", "3")
    refuses(lambda: tc.evaluate(trials, [(0.5, 1, 1)]), "classes")
    refuses(lambda: tc.Confusion([[1, 2], [3, 4]]).risk(multiclass([0.2, 0.3, 0.5])), "3", "2")
    refuses(lambda: tc.posteriors(trials, [0.5, 0.5]), "prior", "2", "3")


def test_an_application_with_other_class_names_is_refused():
    trials = likelihoods(ROWS, ["a", "b", "c", "a"], classes=["a", "b", "c"])
    refuses(lambda: tc.decide(trials, multiclass([0.2, 0.3, 0.5], classes=["x", "y", "z"])), "classes", "'x'", "'a'")


@pytest.mark.parametrize(
    "make",
    [
        lambda curve: curve.eer("middle"),
        lambda curve: curve.precision_at(0),
        lambda curve: curve.precision_at(3),
        lambda curve: curve.recall_at(NAN),
        lambda curve: curve.precision_at_recalled(2),
        lambda curve: curve.partial_auc(),
        lambda curve: curve.partial_auc(fpr=(0.5, 0.1)),
        lambda curve: curve.partial_auc(tpr=(NAN, 1.0)),
        lambda curve: tc.neyman_pearson(curve, NAN),
        lambda curve: tc.neyman_pearson(curve, -0.1),
        lambda curve: tc.hull_rule(curve, 1.5),
        lambda curve: tc.bayes_error(curve, [0.0, NAN]),
        lambda curve: tc.bayes_error(curve, [INF]),
        lambda curve: tc.evaluate(curve.tally, bayes_plot=(3, -3, 21)),
        lambda curve: tc.evaluate(curve.tally, bayes_plot=(-3, NAN, 21)),
        lambda curve: tc.evaluate(curve.tally, bayes_plot=(-3, 3, 1)),
        lambda curve: tc.evaluate(curve.tally, eer="middle"),
        lambda curve: curve.tally.at(NAN),
        lambda curve: curve.tally.at([0.0, NAN]),
        lambda curve: tc.best_rules({"a": (0.1, NAN)}),
        lambda curve: tc.best_rules({"a": (-0.1, 0.5)}),
        lambda curve: tc.neyman_pearson(curve, 0.5)([1.0, NAN], seed=0),
        lambda curve: tc.costs_from_utilities([[1.0, NAN]]),
        lambda curve: tc.costs_from_utilities([[1.0, INF]]),
    ],
)
def test_questions_without_an_answer_are_refused(make):
    refuses(lambda: make(curve_of([1.0, 2.0], [1, 0])))


@pytest.mark.parametrize(
    "make",
    [
        lambda: tc.k_sigma(NAN, 3),
        lambda: tc.k_sigma(1, INF),
        lambda: tc.k_sigma(4, 3),
        lambda: tc.k_sigma(-1, 3),
        lambda: tc.k_sigma(1.5, 3),
        lambda: tc.k_sigma(1, 3, k=NAN),
        lambda: tc.k_sigma(1, 3, k=0),
        lambda: tc.wilson(1, 3, 95),
        lambda: tc.wilson(1, 3, z=NAN),
        lambda: tc.wilson(1, 3, z=-1),
        lambda: tc.clopper_pearson(1, 3, 1.0),
        lambda: tc.clopper_pearson(1, 3, NAN),
        lambda: tc.interval(tc.Confusion([[1, 2], [3, 4]]), "f1"),
        lambda: tc.interval(tc.Confusion([[1, 2], [3, 4]]), "tpr", "guess"),
        lambda: tc.interval(tc.Confusion([[1.5, 2], [3, 4]]), "tpr"),
    ],
)
def test_an_interval_of_no_proportion_is_refused(make):
    refuses(make)


def test_an_interval_of_nothing_is_undefined():
    for make in (tc.k_sigma, tc.wilson, tc.clopper_pearson):
        undefined(lambda make=make: make(0, 0))
    undefined(lambda: tc.interval(tc.Confusion([[1, 0], [2, 0]]), "tpr"), "tpr")


@pytest.mark.parametrize("distribution", [[NAN, 0.5], [-1.0, 2.0], [0.5, 0.2], ["a"], [], [INF, 0.0]])
def test_the_entropy_of_no_distribution_is_refused(distribution):
    refuses(lambda: tc.entropy(distribution), "distribution")


@pytest.mark.parametrize("base", [1.0, 0.5, -2.0, NAN, INF])
def test_a_logarithm_has_a_base_above_1(base):
    trials = llr([1.0, 2.0], [1, 0])
    refuses(lambda: tc.log_loss(trials, base=base), "base")
    refuses(lambda: tc.entropy([0.5, 0.5], base=base), "base")


@pytest.mark.parametrize("k", [0, 4, 1.5, NAN])
def test_the_k_of_top_k_is_a_number_of_classes(k):
    refuses(lambda: tc.top_k_accuracy(likelihoods(ROWS, [0, 1, 2, 0]), k), "k must")


def test_a_risk_curve_along_no_class_or_nan_is_refused():
    trials, app = likelihoods(ROWS, [0, 1, 2, 0]), multiclass([0.2, 0.3, 0.5])
    refuses(lambda: tc.risk_curve(trials, app, "z"), "'z'")
    refuses(lambda: tc.risk_curve(trials, app, "0", [0.0, NAN]), "log_odds")
    refuses(lambda: trials.versus("z"), "'z'")
    refuses(lambda: trials.versus("0", "0"), "'0'")


def test_summaries_of_different_things_do_not_add():
    refuses(lambda: tc.Confusion([[1, 2], [3, 4]]) + tc.Confusion([[1, 2], [3, 4]], classes=["a", "b"]), "classes")
    refuses(
        lambda: tc.Tally.of(llr([1.0, 2.0], [1, 0])) + tc.Tally.of(raw([1.0, 2.0], [1, 0])), "llr", "raw", "meaning"
    )
    refuses(
        lambda: (
            tc.Tally.of(log_odds([1.0, 2.0], [1, 0], trained_prior=0.5))
            + tc.Tally.of(log_odds([1.0, 2.0], [1, 0], trained_prior=0.6))
        ),
        "0.5",
        "0.6",
    )


# The caller's arrays


def test_input_is_never_modified():
    scores, labels = np.array([3.0, -0.0, 1.0, 2.0]), np.array([1, 0, 1, 0])
    weights, ids, group = np.array([1.0, 2.0, 0.0, 1.0]), np.array(list("abcd")), np.array(list("xxyy"))
    columns = (scores, labels, weights, ids, group)
    before = [column.tobytes() for column in columns]
    trials = llr(scores, labels, weights=weights, ids=ids, groups={"speaker": group})
    tc.evaluate(trials, ["sre08"]).to_dict()
    tc.confusion_of(trials, 0.5)
    assert [column.tobytes() for column in columns] == before
    assert all(column.flags.writeable for column in columns)


def test_matrix_input_is_never_modified():
    rows = np.array(ROWS)
    prior, costs = np.array([0.2, 0.3, 0.5]), np.array([[0.0, 1, 2], [1, 0, 1], [2, 1, 0]])
    before = (rows.tobytes(), prior.tobytes(), costs.tobytes())
    trials, app = likelihoods(rows, [0, 1, 2, 0]), multiclass(prior, costs)
    tc.evaluate(trials, [app]).to_dict()
    tc.decisions(trials, app)
    assert (rows.tobytes(), prior.tobytes(), costs.tobytes()) == before


def test_later_changes_to_the_callers_arrays_do_not_reach_the_trials():
    scores, weights = np.array([3.0, 0.0, 1.0]), np.array([1.0, 2.0, 1.0])
    labels, ids, group = np.array([True, False, True]), np.array(list("abc")), np.array(list("xxy"))
    groups = {"speaker": group}
    trials = llr(scores, labels, weights=weights, ids=ids, groups=groups)
    for column in (scores, weights, labels, ids, group):
        column[0] = column[1]
    groups["speaker"] = None
    assert trials.scores.tolist() == [3.0, 0.0, 1.0]
    assert trials.weights.tolist() == [1.0, 2.0, 1.0]
    assert trials.labels.tolist() == [True, False, True]
    assert trials.ids.tolist() == ["a", "b", "c"]
    assert trials.groups["speaker"].tolist() == ["x", "x", "y"]


@pytest.mark.parametrize("order", ["C", "F"])
def test_later_changes_to_a_matrix_do_not_reach_trials_application_or_confusion(order):
    rows = np.array(ROWS, order=order)
    lying = np.array(np.transpose(ROWS), order=order)
    prior, costs, counts = np.array([0.2, 0.3, 0.5]), np.ones((3, 3)) - np.eye(3), np.array([[1, 2], [3, 4]])
    made = [likelihoods(rows, [0, 1, 2, 0]), likelihoods(lying, [0, 1, 2, 0])]
    app, table = multiclass(prior, costs), tc.Confusion(counts)
    for array in (rows, lying, prior, costs, counts):
        array[...] = 7
    assert all(trials.scores.tolist() == ROWS for trials in made)
    assert app.prior.tolist() == [0.2, 0.3, 0.5]
    assert app.costs.tolist() == (np.ones((3, 3)) - np.eye(3)).tolist()
    assert table.matrix == [[1, 2], [3, 4]]


# Names from strangers, shown


HOSTILE = "\x1b[31m<script>alert(1)</script>\n\u202e\x00!"


def shown_forms():
    two = llr([1.0, 2.0, 0.0], [HOSTILE, "x", "x"], target=HOSTILE, name=HOSTILE)
    names = [HOSTILE, "b", "c"]
    three = likelihoods(ROWS, [HOSTILE, "b", "c", "b"], classes=names, name=HOSTILE)
    app = multiclass([0.2, 0.3, 0.5], classes=names)
    return {
        "trials": two,
        "matrix trials": three,
        "evaluation": tc.evaluate(two, [0.5]),
        "renamed evaluation": tc.evaluate(two, [0.5], name=HOSTILE),
        "multiclass evaluation": tc.evaluate(three, [app]),
        "application": tc.Application(0.5, name=HOSTILE),
        "multiclass application": app,
        "confusion": tc.confusion_of(three, app),
        "curve": tc.Curve.of(tc.Tally.of(two)),
    }


@pytest.mark.parametrize("what", shown_forms())
def test_a_hostile_name_is_escaped_in_a_terminal(what):
    text = repr(shown_forms()[what])
    assert not set(text) & set("\x1b\x00\u202e")
    assert "</script>\n" not in text


@pytest.mark.parametrize("what", shown_forms())
def test_a_hostile_name_is_text_in_a_notebook(what):
    value = shown_forms()[what]
    if not hasattr(value, "_repr_html_"):
        pytest.skip("shown as plain text in a notebook")
    page = value._repr_html_()
    assert "<script" not in page.lower()
    assert not set(page) & set("\x1b\x00\u202e")
    assert "EER" in page or "risk" in page or "evaluation" not in what
    assert "<p" in page


def test_a_long_name_is_cut_where_it_is_shown():
    long = "n" * 100_000
    trials = likelihoods(ROWS, [long, "b", "c", "b"], classes=[long, "b", "c"], name=long)
    app = multiclass([0.2, 0.3, 0.5])
    for text in (repr(trials), repr(tc.evaluate(trials, [app])), repr(tc.confusion_of(trials, app))):
        assert len(text) < 2000
    message = refuses(lambda: tc.decide(trials, multiclass([0.2, 0.3, 0.5], classes=["x", "y", "z"])))
    assert len(message) < 2000


@pytest.mark.parametrize(
    "make",
    [
        lambda: llr([1.0, 2.0], [HOSTILE, "x"]),
        lambda: llr([1.0, 2.0], ["a", "x"], target=HOSTILE),
        lambda: likelihoods(ROWS, ["a", "b", "c", HOSTILE], classes=["a", "b", "c"]),
        lambda: likelihoods(ROWS, classes=[HOSTILE, HOSTILE, "c"]),
        lambda: tc.Application.named(HOSTILE),
        lambda: tc.Confusion([[1, 2], [3, 4]]).average("tpr", HOSTILE),
        lambda: tc.Confusion([[1, 2], [3, 4]]).per_class(HOSTILE),
        lambda: tc.Confusion([[1, 2], [3, 4]], target=HOSTILE),
        lambda: tc.interval(tc.Confusion([[1, 2], [3, 4]]), HOSTILE),
        lambda: llr([1.0, 2.0], [1, 0], groups={HOSTILE: ["a"]}),
        lambda: llr([1.0, 2.0], [1, 0], groups={HOSTILE: ["a", None]}),
        lambda: tc.best_rules({HOSTILE: (2, 2)}),
        lambda: llr(np.array([1.0, HOSTILE], object), [1, 0]),
    ],
)
def test_error_messages_escape_what_they_quote(make):
    message = refuses(make)
    assert not set(message) & set("\x1b\x00\u202e\n")
