"""Trials from columns in memory: a typed error that names argument, place and way out, or the right number."""

import re

import numpy as np
import pytest

import tercet as tc
from tercet.uncertainty import bands, roc_band

from .helpers import (
    INF,
    NAN,
    ROWS,
    curve_of,
    facts,
    likelihoods,
    llr,
    log_odds,
    logits,
    lr,
    multiclass,
    posteriors,
    raw,
    refuses,
)


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


def test_a_target_names_the_classes_of_trials_without_labels():
    assert llr([1.0, 2.0]).classes == ("nontarget", "target")
    assert llr([1.0, 2.0], target="fraud").classes == llr([1.0], ["fraud"], target="fraud").classes
    assert llr([1.0, 2.0], target="fraud").classes == ("not fraud", "fraud")
    refuses(lambda: llr([1.0, 2.0], target=NAN), "labels", "missing")


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


@pytest.mark.parametrize("slip", ["Fraud", "fraud ", " FRAUD"])
def test_a_label_spelt_almost_like_the_target_is_no_silent_non_target(slip):
    for labels in (["fraud", "ok", slip], np.array(["fraud", "ok", slip], object)):
        refuses(lambda labels=labels: llr([1.0, 0.0, 2.0], labels, target="fraud"), "'fraud'", repr(slip), "blanks")
    assert llr([1.0, 2.0], ["fraud", slip], target="fraud").classes == (slip, "fraud")  # two labels are two classes
    assert llr([1.0, 0.0, 2.0], ["fraud", "ok", "frauds"], target="fraud").classes == ("not fraud", "fraud")


def test_a_blank_label_beside_two_others_is_missing():
    refuses(lambda: llr([1.0, 0.0, 2.0], ["yes", "no", ""], target="yes"), "labels", "missing", "''")


def test_a_target_of_another_type_or_case_is_suggested():
    refuses(lambda: llr([1.0, 0.0], [1, 2], target="2"), "target='2'", "name it as 2")
    refuses(lambda: llr([1.0, 0.0], ["yes", "no"], target="Yes"), "Did you mean 'yes'")


def test_text_in_the_place_of_scores_is_named():
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"y": ["yes", "no"], "p": [0.5, 0.2]})
    refuses(lambda: tc.read(frame, score="y", label="y", target="yes"), "scores must be numbers", "'yes'")


def test_percentages_are_not_probabilities():
    refuses(lambda: posteriors([20.0, 0.5], [1, 0], trained_prior=0.2), "0..1", "percentages", "100")
    message = refuses(lambda: posteriors([-20.0, 0.5], [1, 0], trained_prior=0.2), "0..1", "of_llr")
    assert "percentages" not in message


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


# Weights


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


@pytest.mark.parametrize(
    "use",
    [
        lambda trials: tc.rule(trials, fpr_at_most=0.1),
        tc.estimate_prevalence,
        lambda trials: tc.group_gaps(trials, "site", 0.5),
        lambda trials: tc.Tally.of(trials),
        lambda trials: tc.Logistic.fit(trials),
        bands,
        roc_band,
    ],
)
def test_three_classes_are_refused_in_the_same_words_wherever_two_are_needed(use):
    three = tc.Trials.of_logits(np.eye(4)[:, :3], [0, 1, 2, 0], trained_prior=[1 / 3] * 3)
    with pytest.raises(tc.InputError, match=r"trials must be of two classes, not 3: (select|take)"):
        use(three)
    with pytest.raises(tc.InputError, match="trials must be Trials"):
        use([1.0, -1.0])


def test_one_prior_for_several_classes_is_refused_in_words():
    rows = [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]
    refuses(lambda: posteriors(rows, [0, 1], trained_prior=0.5), "trained_prior", "one number per class", "3", "0.5")
    refuses(lambda: logits(rows, [0, 1], trained_prior=0.5), "trained_prior", "one number per class", "3", "0.5")


def test_labels_of_numpys_variable_length_text_are_compared_with_the_target():
    text = np.dtypes.StringDType()
    labels = np.array(["spoof", "bona fide", "bona fide", "spoof"], text)
    found = tc.Trials.of_llr([1.0, 2.0, 3.0, -1.0], labels, target="bona fide", ids=labels, groups={"g": labels})
    assert found.labels.tolist() == [False, True, True, False]
    assert found.classes == ("spoof", "bona fide")
    assert found.ids.tolist() == found.groups["g"].tolist() == labels.tolist()
    missing = np.array(["spoof", "bona fide", np.nan], np.dtypes.StringDType(na_object=np.nan))
    refuses(lambda: tc.Trials.of_llr([1.0, 2.0, 3.0], missing, target="spoof"), "labels must not be missing", "row 2")


@pytest.mark.parametrize("meaning", ["log-likelihoods", "posteriors"])
def test_a_reversed_view_of_frozen_scores_has_the_bits_of_its_copy(meaning):
    shares = np.random.default_rng(0).random((4000, 10)) + 0.01
    shares /= shares.sum(axis=1, keepdims=True)
    shares.flags.writeable = False
    prior = None if meaning == "log-likelihoods" else (0.1,) * 10
    classes, labels = tuple("abcdefghij"), np.arange(4000) % 10
    found = [
        tc.Trials(scores, meaning, labels, classes, prior, None, None, {}, None)
        for scores in (shares[::-1, ::-1], shares[::-1, ::-1].copy())
    ]
    assert np.array_equal(found[0].log_likelihoods, found[1].log_likelihoods)
    assert tc.evaluate(found[0]).to_dict() == tc.evaluate(found[1]).to_dict()


def test_a_read_only_view_of_memory_that_can_be_changed_is_copied():
    scores, labels = np.array([1.0, -1.0, 0.5]), np.array([True, False, False])
    groups = np.array(["a", "b", "b"])
    columns = [column.view() for column in (scores, labels, groups)]
    for column in columns:
        column.flags.writeable = False
    trials = tc.Trials(
        columns[0], "llr", columns[1], ("nontarget", "target"), None, None, None, {"speaker": columns[2]}, None
    )
    before = tc.evaluate(trials).to_dict()
    scores[0], labels[1], groups[0] = -5.0, True, "c"
    assert tc.evaluate(trials).to_dict() == before
    assert trials.groups["speaker"].tolist() == ["a", "b", "b"]
    assert not np.shares_memory(trials.scores, scores)
    assert tc.Trials(*(getattr(trials, name) for name in trials.__dataclass_fields__)).scores is trials.scores
