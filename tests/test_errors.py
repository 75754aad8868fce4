"""Hints at the end of messages."""

import pytest

import tercet as tc
from tercet._numeric.validation import shown_path, some
from tercet.errors import did_you_mean


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("minDCF", " Did you mean min_dcf?"),
        ("min-dcf", " Did you mean min_dcf?"),
        ("EER", " Did you mean eer?"),
        ("zzzz", ""),
    ],
)
def test_case_and_separators_do_not_hide_a_near_name(typed, hint):
    assert did_you_mean(typed, ["eer", "min_dcf", "auc"], 1) == hint


def test_the_order_of_the_known_names_changes_nothing():
    assert did_you_mean("dfc", ["dcf_u", "dcf"]) == did_you_mean("dfc", ["dcf", "dcf_u"])


def test_every_word_that_is_refused_comes_with_the_near_one():
    with pytest.raises(tc.InputError, match="Did you mean rocch"):
        tc.evaluate(tc.Trials.of_llr([1.0, -1.0], [1, 0]), eer="ROCCH")


def test_a_metric_as_the_field_spells_it_is_answered_with_ours():
    found = tc.evaluate(tc.Trials.of_llr([1.0, -1.0], [1, 0]), [0.5])
    with pytest.raises(tc.InputError, match="Did you mean min_dcf"):
        tc.table([found], metrics=["minDCF"])


def test_a_long_path_keeps_its_end():
    path = "/" + "folder/" * 40 + "purgatorio.txt"
    assert shown_path(path).endswith("folder/purgatorio.txt'")
    assert len(shown_path(path)) < 130
    assert shown_path("short.txt") == "'short.txt'"


def test_a_list_that_is_cut_says_so():
    costs = [[float(i != j) for j in range(9)] for i in range(9)]
    nine = tc.Application.multiclass([1 / 9] * 9, costs, classes=list("abcdefghi"))
    with pytest.raises(tc.InputError, match=r"'a', 'b', 'c', 'd', \.\.\."):
        nine.check_classes(tuple("ihgfedcba"))
    assert some("abc", 3) == "'a', 'b', 'c'"
