"""The target and the order of the classes are the user's; alphabetical order is nobody's."""

import numpy as np
import pytest

import tercet as tc

LABELS = ["clear", "rain", "rain", "clear", "rain", "rain"]
DECIDED = ["clear", "rain", "clear", "rain", "rain", "rain"]


def test_the_named_target_is_the_last_of_two_classes():
    table = tc.Confusion.of(DECIDED, LABELS, target="clear")
    assert table.classes == ("rain", "clear")
    app = table.matched((0.01, 10, 1))
    assert app.prior.tolist() == [0.99, 0.01]
    assert app.renamed(table.classes).dummy_action == "rain"  # 0.01 x 10 < 0.99 x 1: always reject the target


@pytest.mark.parametrize(("target", "other"), [("a", "b"), ("b", "a"), ("rain", "clear"), ("1", "0")])
def test_renaming_the_labels_with_the_target_named_changes_nothing_but_names(target, other):
    decided, labels = np.array([1, 0, 1, 1, 0, 0]), np.array([1, 0, 0, 1, 1, 0])
    words = np.array([other, target])
    table = tc.Confusion.of(words[decided], words[labels], target=target)
    plain = tc.Confusion.of(decided, labels)
    assert table.matrix == plain.matrix
    assert table.tpr == plain.tpr
    assert table.risk((0.1, 5, 1)) == plain.risk((0.1, 5, 1))


def test_priors_by_class_number_are_refused_while_the_classes_have_no_order():
    decided, labels = ["low", "mid", "high", "mid"], ["low", "high", "high", "mid"]
    ordinal = tc.Application.multiclass([0.5, 0.3, 0.2], "ordinal")
    with pytest.raises(tc.InputError, match="classes="):
        tc.Confusion.of(decided, labels).risk(ordinal)
    named = tc.Confusion.of(decided, labels, classes=["low", "mid", "high"])
    assert named.risk(ordinal) == pytest.approx(0.2 * 0.5)  # one of two high ones was called mid
    own = tc.Application.multiclass([0.2, 0.5, 0.3], "ordinal", classes=["high", "low", "mid"])
    tc.Confusion.of(decided, labels).risk(own)
    tc.Confusion.of(decided, labels).risk(tc.Application.multiclass([1 / 3] * 3))


def test_words_that_are_whole_numbers_are_in_the_order_of_the_numbers():
    table = tc.Confusion.of(["2", "10", "1"], ["10", "2", "1"])
    assert table.classes == ("1", "2", "10")
    table.risk(tc.Application.multiclass([0.5, 0.3, 0.2], "ordinal"))


def test_text_decisions_for_numbered_labels_are_refused():
    with pytest.raises(tc.InputError, match="text is never equal to a number"):
        tc.Confusion.of(["1", "0"], [1, 0])
