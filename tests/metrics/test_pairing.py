"""Pairing: the same trials of several systems are matched by id, and by position only when that can be trusted."""

from dataclasses import replace

import numpy as np
import pytest

import tercet as tc
from tercet.metrics.pairing import paired

RNG = np.random.default_rng(5)
LABELS = np.repeat([1, 0], 40)
FIRST = RNG.normal(size=80) + LABELS
SECOND = FIRST + RNG.normal(size=80)
IDS = np.array([f"t{k:02d}" for k in range(80)])
ORDER = np.concatenate((RNG.permutation(40), 40 + RNG.permutation(40)))  # shuffled within each class


def system(scores, rows=slice(None), **more):
    return tc.Trials.of_llr(scores[rows], LABELS[rows], **{key: value[rows] for key, value in more.items()})


FUNCTIONS = {
    "fusion": lambda a, b: tc.Fusion.fit([a, b]).weights.tolist(),
    "cross_fit": lambda a, b: tc.cross_fit(tc.Fusion, [a, b], folds=2).scores.scores.tolist(),
    "compare": lambda a, b: tc.compare(a, b, [(0.5, 1, 1)], resamples=39).differences,
    "delong": tc.delong_test,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_shuffling_one_input_with_ids_changes_nothing(name):
    ask = FUNCTIONS[name]
    first, second = system(FIRST, ids=IDS), system(SECOND, ids=IDS)
    assert ask(first, second) == ask(first, system(SECOND, ORDER, ids=IDS))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_ids_of_two_fields_are_matched_as_ids_of_one_field_are(name):
    ask = FUNCTIONS[name]
    fields = np.array([(f"m{k % 7}", f"t{k:02d}") for k in range(80)])
    first, second = system(FIRST, ids=fields), system(SECOND, ORDER, ids=fields)
    assert ask(first, second) == ask(first, system(SECOND, ids=fields))


def test_intervals_of_trials_with_ids_of_two_fields_do_not_depend_on_their_order():
    fields = np.array([(f"m{k % 7}", f"t{k:02d}") for k in range(80)])
    one, other = (
        tc.evaluate(system(FIRST, rows, ids=fields), [(0.5, 1, 1)], ci=0.9).to_dict() for rows in (slice(None), ORDER)
    )
    assert one["applications"] == other["applications"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_ids_that_contradict_the_position_are_not_paired_by_position(name):
    others = np.array([f"u{k:02d}" for k in range(80)])
    with pytest.raises(tc.InputError, match="80 missing, 80 extra"):
        FUNCTIONS[name](system(FIRST, ids=IDS), system(SECOND, ids=others))


@pytest.mark.parametrize("name", FUNCTIONS)
def test_ids_on_one_side_only_are_refused(name):
    with pytest.raises(tc.InputError, match="no ids"):
        FUNCTIONS[name](system(FIRST, ids=IDS), system(SECOND))


def test_without_ids_the_result_says_paired_by_position():
    first, second = system(FIRST), system(SECOND)
    assert paired([first, second]).by == "position"
    assert tc.Fusion.fit([first, second]).training["paired_by"] == "position"
    assert tc.delong_test(first, second).paired_by == "position"
    found = tc.compare(first, second, [(0.5, 1, 1)], resamples=39)
    assert found.to_dict()["paired_by"] == "position"
    assert "paired by position" in repr(found)
    with_ids = system(FIRST, ids=IDS), system(SECOND, ids=IDS)
    found = tc.compare(*with_ids, [(0.5, 1, 1)], resamples=39)
    assert found.paired_by == "id"
    assert "paired by position" not in repr(found)


def test_position_against_ids_must_be_asked_for_by_name():
    first, second = system(FIRST, ids=IDS), system(SECOND, ORDER, ids=IDS)
    asked = paired([first, second], by="position")
    assert asked.by == "position"
    assert asked.systems[1] is second
    with pytest.raises(tc.InputError, match="pair_by"):
        paired([first, second], by="rank")
    with pytest.raises(tc.InputError, match="no ids"):
        paired([system(FIRST), system(SECOND)], by="id")


def test_unlabelled_trials_without_ids_are_paired_only_when_asked():
    plain = [tc.Trials.of_scores(FIRST), tc.Trials.of_scores(SECOND)]
    with pytest.raises(tc.InputError, match="neither ids nor labels"):
        paired(plain)
    assert paired(plain, by="position").by == "position"
    model = tc.Fusion.fit([system(FIRST), system(SECOND)])
    assert np.array_equal(model(plain, pair_by="position").scores, model([FIRST, SECOND]))


def test_composite_ids_are_kept_and_matched():
    table = [(f"m{k % 8}", f"u{k // 8}") for k in range(80)]
    first = tc.Trials.of_llr(FIRST, LABELS, ids=table)
    second = tc.Trials.of_llr(SECOND[ORDER], LABELS[ORDER], ids=np.array(table)[ORDER])
    assert first.ids[9] == ("m1", "u1")
    assert np.array_equal(paired([first, second]).systems[1].scores, SECOND)
    with pytest.raises(tc.InputError, match=r"ids \(column 1\)"):
        tc.Trials.of_llr([1.0, 2.0], ids=[("a", "b"), ("c", None)])
    with pytest.raises(tc.InputError, match="number of columns"):
        tc.Trials.of_llr([1.0, 2.0], ids=[("a", "b"), ("c",)])


def test_duplicate_ids_are_counted_and_named():
    again = IDS.copy()
    again[3] = again[7] = "t00"
    with pytest.raises(tc.InputError, match=r"Repeated in 2 of \d+ rows: 't00', 't00'\."):
        paired([system(FIRST, ids=IDS), system(SECOND, ids=again)])


def test_systems_are_called_by_their_names_where_these_tell_them_apart():
    other = np.append(IDS[:-1], "elsewhere")
    for names, called in ((("mlp", "gmm"), "'gmm' do not match those of 'mlp'"), (("a", "a"), "system 1 do not match")):
        one, two = (
            replace(system(scores, ids=ids), name=name)
            for scores, ids, name in ((FIRST, IDS, names[0]), (SECOND, other, names[1]))
        )
        with pytest.raises(tc.InputError, match=called):
            paired([one, two])


def test_text_is_never_equal_to_a_number():
    numbers = np.arange(80)
    with pytest.raises(tc.InputError, match="text is never equal to a number"):
        paired([system(FIRST, ids=numbers), system(SECOND, ids=numbers.astype(str))])
    with pytest.raises(tc.InputError, match=r"first holds text and labels holds no text"):
        tc.mcnemar(["1", "0"], ["1", "1"], [1, 0])


def test_weights_of_one_system_only_are_refused():
    with pytest.raises(tc.InputError, match="weights of system 1"):
        paired([system(FIRST), tc.Trials.of_llr(SECOND, LABELS, weights=np.arange(80.0))])


def test_classes_in_another_order_are_refused():
    scores = RNG.normal(size=(6, 3))
    first, second = (
        tc.Trials.of_log_likelihoods(scores, list("abcabc"), classes=order) for order in (list("abc"), list("bac"))
    )
    with pytest.raises(tc.InputError, match="other classes"):
        paired([first, second])


def test_mcnemar_matches_decisions_by_id():
    first, second, labels = {"a": 1, "b": 0, "c": 1}, {"c": 0, "b": 0, "a": 1}, {"b": 0, "a": 1, "c": 0}
    found = tc.mcnemar(first, second, labels)
    assert (found.first_only, found.second_only, found.paired_by) == (1, 0, "id")
    assert tc.mcnemar([1, 0], [1, 1], [1, 0]).paired_by == "position"
    for other in ([1, 0, 1], {"a": 1, "b": 0}, {**first, "d": 1}):
        with pytest.raises(tc.InputError, match="second"):
            tc.mcnemar(first, other, labels)
